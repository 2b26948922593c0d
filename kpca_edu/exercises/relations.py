"""Checkers for the exercises of chapter 18: relations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compare import align_signs
from .checking import (
    WrongAnswer,
    as_array,
    as_function,
    as_letters,
    exercise,
    expect_close,
    expect_number,
    expect_whole,
)


@exercise(
    "relations-1",
    "A link with weight w is a wire with resistance 1/w.",
    "Wires in a row: their resistances add up.",
)
def two_wires(answer: Any) -> None:
    mistakes = {
        4.5: "Those are the weights added up: a strong link is a short way.",
        1.5: "That is the distance: its square is asked for.",
        0.222: "That is the reciprocal of the sum of weights, as for wires side by side.",
        4.0: "That is the squared number of links: the weights count.",
        2.0: "That is the second link alone, or the number of links.",
        0.25: "That is the first link alone.",
        4.0625: "The resistances add up, not their roots or squares.",
    }
    expect_number(answer, 2.25, 3, mistakes)


@exercise(
    "relations-2",
    "What a code does not hold is lost.",
    "The variance along the direction that is missing.",
)
def saddle(answer: Any) -> None:
    mistakes = {
        1: "That is the loss at the minimum, where directions 1 and 2 are held.",
        10: "That is what the codes hold, not what they lose.",
        13: "That is what the best codes hold.",
        9: "Direction 1 is held: nothing is lost along it.",
        5: "One direction is missing, not two.",
        2: "The variance is the mean of the squares already: no root.",
        4 / 3: "Summed over the features, not averaged.",
        4 / 14: "That is the share of the variance.",
    }
    expect_whole(answer, 4, mistakes)


@exercise(
    "relations-3",
    "Each eigenvector gets its own factor: λ/(λ + ρ).",
    "The factors are 0.8 and 0.2, and y has the coefficient 3 along each.",
)
def shrunk(answer: Any) -> None:
    mistakes = {
        9: "That cuts the second component off, as kernel PCA with k = 1 would.",
        18: "That is the squared length of y.",
        0.68: "The coefficients of y are 3, not 1.",
        2.04: "The coefficients of y are 3: their squares 9.",
        np.sqrt(6.12): "That is the length: its square is asked for.",
        3.0: "Squares add up, not lengths.",
        5.76: "The second component is shrunk, not gone.",
        1.53: "Those are the weights (K + ρI)⁻¹y: multiply by K.",
    }
    expect_number(answer, 6.12, 3, mistakes)


@exercise(
    "relations-4",
    "For which vectors is the sum of w(yᵢ − yⱼ)² zero?",
    "For those that are constant on each piece: one number for each piece.",
)
def pieces(answer: Any) -> None:
    mistakes = {
        1.0: "One is right for a connected graph.",
        2.0: "Those are the columns that were drawn: the constant belongs to zero, too.",
        0.0: "The constant vector always belongs to the eigenvalue zero.",
        27.0: "Those are the eigenvalues that are not zero.",
        30.0: "Then L would be zero.",
        12.0: "Not the size of a piece counts, but the number of pieces.",
    }
    expect_whole(answer, 3, mistakes)


@exercise(
    "relations-5",
    "L = np.diag(W.sum(axis=1)) - W, then np.linalg.eigh: eigenvalues come in rising order.",
    "The first column is constant and left out; the others are divided by the roots of theirs.",
)
def write_the_map(answer: Any) -> None:
    function = as_function(answer)
    for seed, k in ((0, 2), (1, 3)):
        rng = np.random.default_rng(seed)
        W = rng.random((9, 9))
        W = W + W.T
        np.fill_diagonal(W, 0.0)
        sums = W.sum(axis=1)
        lam, V = np.linalg.eigh(np.diag(sums) - W)
        right = V[:, 1 : k + 1] / np.sqrt(lam[1 : k + 1])
        scaled = np.linalg.eigh((np.diag(sums) - W) / np.sqrt(np.outer(sums, sums)))
        given = as_array(function(W.copy(), k), right.shape)
        mistakes = (
            (V[:, 1 : k + 1], "Divide each column by the root of its eigenvalue."),
            (right / np.sqrt(lam[1 : k + 1]), "Divide by the root of λ, not by λ."),
            (right * lam[1 : k + 1], "Divide by the root of λ; yours is multiplied."),
            (V[:, :k], "The first column is constant: leave it out."),
            (V[:, ::-1][:, :k] / np.sqrt(lam[::-1][:k]), "Those are the largest λ of L."),
            (V[:, ::-1][:, :k], "Those are the largest λ of L."),
            (scaled[1][:, 1 : k + 1], "That is the normalised Laplacian, and its unit vectors."),
            (
                scaled[1][:, 1 : k + 1] / np.sqrt(scaled[0][1 : k + 1]),
                "That is the normalised Laplacian.",
            ),
            (
                scaled[1][:, 1 : k + 1] / np.sqrt(sums)[:, None],
                "Those are Laplacian eigenmaps with weights.",
            ),
        )
        for wrong, diagnosis in mistakes:
            if np.allclose(align_signs(wrong, given), wrong, rtol=0, atol=1e-6 * abs(wrong).max()):
                raise WrongAnswer(diagnosis)
        if np.allclose(align_signs(right[:, :-1], given[:, 1:]), right[:, :-1], atol=1e-6):
            raise WrongAnswer("The first column is constant: leave it out.")
        expect_close(align_signs(right, given), right)


@exercise(
    "relations-6",
    "What does t-SNE keep, and what does it not? The left panel shows the same groups.",
    "It keeps neighbours. Its criterion sees distances between points of the map only.",
)
def read_the_islands(answer: Any) -> None:
    given = set(as_letters(answer, "abcde"))
    if "a" in given:
        raise WrongAnswer("a: each sample has a width of its own, so sizes are not kept.")
    if "b" in given:
        raise WrongAnswer("b: distances between islands are not kept.")
    if "d" in given:
        raise WrongAnswer("d: the axes of the map mean nothing.")
    if given != set("ce"):
        raise WrongAnswer("One is missing.")


@exercise(
    "relations-7",
    "Ask each time what must survive: independence, neighbours, labels, links, variance, paths.",
    "1 asks for independent sources, 2 for neighbours, 3 has labels, 4 has links only.",
)
def which_method(answer: Any) -> None:
    given = as_letters(answer, "PISDCT", 6)
    reasons = (
        ("c", "Task 1: sources are to be told apart that mix and are not normal."),
        ("t", "Task 2: neighbours, for the eye."),
        ("d", "Task 3: there are labels, and they are the aim."),
        ("s", "Task 4: there are links only, and groups are wanted."),
        ("p", "Task 5: the least squared error is what one method has."),
        ("i", "Task 6: lengths along a curve are wanted."),
    )
    for letter, (right, why) in zip(given, reasons, strict=True):
        if letter != right:
            raise WrongAnswer(why)


@exercise(
    "relations-8",
    "It is the theorem of probabilistic PCA with the columns as samples: n variances.",
    "σ² is the mean of the n − k eigenvalues that are left, and the squared length is λ₁ − σ².",
)
def turned_over(answer: Any) -> None:
    mistakes = {
        5: "The noise σ² has to be taken off.",
        3.5: "That leaves out the zero: the model has n = 4 variances.",
        2: "That is the length, or λ₁ minus all the others: the mean of the others is σ².",
        3: "σ² is the mean of the other three, not the second eigenvalue.",
        1: "That is σ².",
        4.25: "The mean is over the n − k = 3 others, not over n.",
        16: "5 is the squared length of a column already.",
    }
    expect_whole(answer, 4, mistakes)
