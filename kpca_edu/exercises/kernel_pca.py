"""Checkers for the exercises of chapter 5: kernels and kernel PCA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..centering import center_gram
from .checking import (
    WrongAnswer,
    as_array,
    as_function,
    as_number,
    exercise,
    expect_close,
    expect_directions,
    expect_not,
    expect_number,
)


def _samples(n: int, seed: int) -> NDArray:
    return np.random.default_rng(seed).standard_normal((n, 3)) * [2.0, 1.3, 0.6] + 0.5


def _quadratic(X: NDArray, Y: NDArray) -> NDArray:
    return (X @ Y.T + 1) ** 2


def _eigenpairs(K: NDArray, k: int) -> tuple[NDArray, NDArray]:
    lam, a = np.linalg.eigh(K)
    return lam[::-1][:k], a[:, ::-1][:, :k]


@exercise(
    "kernel-pca-1",
    "First the inner product of x and y, then the constant, then the square.",
    "xᵀy = 1·2 + 2·1 = 4.",
)
def kernel_value(answer: Any) -> None:
    mistakes: dict[float, str] = {
        16: "The constant 1 is missing.",
        5: "The square is missing.",
        10: "The square is missing: 5 is multiplied by itself, not by 2.",
        17: "The constant is added before the square is taken.",
        4: "That is the inner product alone.",
        9: "The inner product is 1·2 + 2·1.",
        36: "The constant is added once, not to each product.",
        26: "The constant is added before the square, and not again after it.",
    }
    expect_number(answer, 25, 4, mistakes)


@exercise(
    "kernel-pca-2",
    "Count the monomials of degree at most 3 in 10 variables.",
    "Stars and bars: C(d + p, p) with d = 10 and p = 3.",
)
def feature_count(answer: Any) -> None:
    mistakes: dict[float, str] = {
        220: "Those have degree exactly 3: the constant gives lower degrees too.",
        120: "That counts products of three different variables only.",
        1000: "That counts x₁x₂ and x₂x₁ as two.",
        1331: "That counts the order of the factors: x₁x₂ and x₂x₁ are one feature.",
        285: "The constant feature counts too.",
        66: "That is degree 2.",
        1001: "That is degree 4.",
        364: "That is C(14, 3), and d + p is 13.",
    }
    expect_number(answer, 286, 4, mistakes)


@exercise(
    "kernel-pca-3",
    "Write the squared distance by kernel values: κ(x, x) − 2κ(x, y) + κ(y, y).",
    "It is 2 − 2κ(x, y), and κ is positive.",
)
def largest_distance(answer: Any) -> None:
    if isinstance(answer, float | int) and answer == np.inf:
        raise WrongAnswer("Features have length one: two of them can't be far apart.")
    mistakes: dict[float, str] = {
        2: "That is the bound of the squared distance: take the root.",
        4: "That would be the square for opposite features, and κ is never negative.",
        1: "That is the length of one feature.",
        0: "They are equal only for x = y.",
        1 / np.sqrt(2): "That is half of it: the distance from the point half-way.",
    }
    expect_number(answer, np.sqrt(2), 3, mistakes)


@exercise(
    "kernel-pca-4",
    "For two samples K̃ is a multiple of [[1, −1], [−1, 1]]. Which one?",
    "The squared distance of the two features is 5 − 2·1 + 3 = 6; the mean is half-way.",
    "K̃ = 6/4 · [[1, −1], [−1, 1]], and that matrix has the eigenvalue 2.",
)
def eigenvalue_of_two_samples(answer: Any) -> None:
    mistakes: dict[float, str] = {
        4 + np.sqrt(2): "That is an eigenvalue of K: centre it first.",
        4 - np.sqrt(2): "That is an eigenvalue of K: centre it first.",
        1.5: "That is an entry of K̃, and the variance λ̃/n: λ̃ is asked for.",
        6: "That is the squared distance of the two features.",
        0: "That is the other eigenvalue: the non-zero one is asked for.",
        8: "That is the trace of K, without centring.",
        np.sqrt(3): "That is √λ̃: the eigenvalue itself is asked for.",
        3.5: "The mixed entry counts twice: 5 − 2·1 + 3.",
    }
    expect_number(answer, 3, 3, mistakes)


@exercise(
    "kernel-pca-5",
    "The scores are K̃α = √λ̃ a with the unit eigenvector a.",
    "a = (1, −1)/√2 and λ̃ = 3.",
)
def score_of_two_samples(answer: Any) -> None:
    root = np.sqrt(2)
    mistakes: dict[float, str] = {
        1 / root: "That is the entry of the unit eigenvector.",
        3 / root: "That is K̃a with a unit a: divide by √λ̃.",
        1 / np.sqrt(6): "That is α: multiply by λ̃.",
        np.sqrt(3): "That is √λ̃: multiply by the entry of a.",
        1.5: "That is the square of it.",
        np.sqrt(6): "That is the distance of the two scores: each is half of it from the mean.",
        np.sqrt(3) / 2: "a has length one, so its entries are ±1/√2, not ±1/2.",
    }
    expect_number(abs(as_number(answer)), np.sqrt(1.5), 3, mistakes)


@exercise(
    "kernel-pca-6",
    "Divide by the trace of K̃, not of K.",
    "tr K̃ = tr K − (sum of all entries)/n.",
)
def share_from_three_numbers(answer: Any) -> None:
    mistakes: dict[float, str] = {
        12 / 40: "That divides by the trace of K: centring takes something off.",
        0.04: "That divides by n once too often: the n's cancel.",
        4: "That divides the trace by n and not the eigenvalue: the n's cancel.",
        -0.2: "The sum of all entries has to be divided by n.",
        12 / 39: "Divide the sum of entries by n, not by n².",
        12 / 100: "The trace of K̃ is 40 less something: 100 is the sum of all entries of K.",
        30: "That is the trace of K̃: which share of it is 12?",
    }
    expect_number(answer, 0.4, 3, mistakes, percent=True)


@exercise(
    "kernel-pca-7",
    "min(x, y) counts something: how many of the numbers 1, …, 20 are at most x and at most y?",
    "Give each j from 1 to 20 a feature that is 1 or 0.",
    "φ(x)_j = 1 if j ≤ x, else 0.",
)
def features_of_the_minimum(answer: Any) -> None:
    features = as_function(answer)
    x, y = np.arange(21), np.array([3, 20, 0, 7, 7, 12])
    of_x, of_y, again = (_rows_of(features, numbers) for numbers in (x, y, x[y]))
    _expect_minima(of_x @ of_x.T, x, x)
    _expect_minima(of_y @ of_y.T, y, y)
    if of_x.shape[1] != of_y.shape[1]:
        raise WrongAnswer(
            f"With {len(x)} numbers there are {of_x.shape[1]} features and with {len(y)} there are "
            f"{of_y.shape[1]}: a feature map gives every number the same features."
        )
    whole = "φ(x) may depend on x alone, not on the other numbers that come with it"
    if not np.allclose(of_y, again) or not np.allclose(of_x[y], of_y):
        raise WrongAnswer(f"{whole}: the same number has got two different rows.")
    expect_close(of_x @ of_y.T, np.minimum.outer(x, y), f"{whole}.")


def _rows_of(features: Callable, x: NDArray) -> NDArray:
    """Return the reader's features of some numbers, if there is a row for each."""
    given = np.asarray(features(x.copy()), float)
    if given.ndim != 2 or len(given) != len(x):
        raise WrongAnswer(
            f"A row for each of the {len(x)} numbers is needed, and yours has the shape "
            f"{given.shape}."
        )
    if not np.isfinite(given).all():
        raise WrongAnswer("There are NaN or infinite entries in it.")
    return given


def _expect_minima(gram: NDArray, x: NDArray, y: NDArray) -> None:
    right = np.minimum.outer(x, y)
    expect_not(gram, right + 1, "All are too large by one: is j = 0 there?")
    expect_not(gram, np.maximum.outer(x, y), "Those are the larger numbers.")
    expect_not(gram, np.outer(x, y), "Those are the products xᵢxⱼ.")
    same = np.allclose(gram.diagonal(), x)
    wrong = "The inner products are not the smaller numbers"
    expect_close(gram, right, wrong + (", but φ(x)ᵀφ(x) = x is right." if same else "."))


@exercise(
    "kernel-pca-8",
    "A kernel has κ(x, x) = ‖φ(x)‖² ≥ 0.",
    "Find an x with tanh(xᵀx − 1) < 0.",
)
def samples_without_features(answer: Any) -> None:
    X = np.asarray(answer, float)
    if X.ndim != 2 or X.size == 0:
        raise WrongAnswer("An n×d array of samples is needed, such as [[1.0, 2.0]] for one.")
    X = as_array(X, X.shape)
    if np.linalg.eigvalsh(np.tanh(X @ X.T - 1))[0] > -1e-9:
        raise WrongAnswer("Their Gram matrix has no negative eigenvalue.")


@exercise(
    "kernel-pca-9",
    "Centre: K̃ = JKJ with J = I − 11ᵀ/n. Then eigenvectors, largest eigenvalue first.",
    "With a unit eigenvector a the column of scores is √λ̃ a.",
)
def scores_from_scratch(answer: Any) -> None:
    scores = as_function(answer)
    for n, k in ((12, 2), (20, 4)):
        X = _samples(n, seed=n)
        K = _quadratic(X, X)
        given = as_array(scores(K.copy(), k), (n, k))
        lam, a = _eigenpairs(center_gram(K), k)
        raw_lam, raw = _eigenpairs(K, k)
        if np.linalg.norm(center_gram(K) @ given) <= 1e-3 * lam[k - 1] * np.linalg.norm(given):
            raise WrongAnswer("Those have the smallest eigenvalues: turn the order.")
        for wrong, why in (
            (raw * np.sqrt(raw_lam), "K has not been centred."),
            (raw * raw_lam, "K has not been centred, and a has to be divided by √λ̃."),
            (a, "Those are the unit eigenvectors: multiply by √λ̃."),
            (a * lam, "That is K̃a with unit a: each column is too long by √λ̃."),
            (a / np.sqrt(lam), "Those are the weights α: the scores are K̃α."),
            (a * np.sqrt(lam / n), "Those are divided by √n."),
            (a * np.sqrt(lam * n), "Those are √n times too long."),
            ((a * np.sqrt(lam))[:, ::-1], "Right, in the wrong order: largest eigenvalue first."),
        ):
            size = np.linalg.norm(given, axis=0)
            if np.allclose(size, np.linalg.norm(wrong, axis=0), rtol=1e-6):
                cosines = np.abs(np.sum(given * wrong, axis=0)) / size**2
                if np.allclose(cosines, 1, atol=1e-6):
                    raise WrongAnswer(why)
        right = a * np.sqrt(lam)
        expect_directions(given, right, tol=1e-6 * np.abs(right).max())


@exercise(
    "kernel-pca-10",
    "Of the four terms of the centred kernel, which ones vanish against weights that sum to zero?",
    "Subtract from each column of K_test the mean of that column's sample over the training set.",
    "(K_test − K.mean(axis=1)) @ alpha.",
)
def scores_of_new_samples(answer: Any) -> None:
    encode = as_function(answer)
    for n, m, k in ((12, 5, 2), (9, 1, 3)):
        X, T = _samples(n, seed=n), _samples(m, seed=99)
        K, K_test = _quadratic(X, X), _quadratic(T, X)
        lam, a = _eigenpairs(center_gram(K), k)
        alpha = a / np.sqrt(lam)
        given = as_array(encode(K_test.copy(), K.copy(), alpha.copy()), (m, k))
        expect_not(given, K_test @ alpha, "The mean feature has not been subtracted.")
        own = (K_test - K_test.mean(axis=0)) @ alpha
        expect_not(given, own, "Those means are over the new samples: take the training samples'.")
        expect_not(given, (K_test - K.sum(axis=1)) @ alpha, "Divide the sums of K by n.")
        expect_close(given, (K_test - K.mean(axis=1)) @ alpha)


@exercise(
    "kernel-pca-11",
    "There are two conditions. With q = R² each becomes a quadratic inequality.",
    "E[r²] = (3 + q)/4, E[r⁴] = (3 + q²)/4, Var(r²) = 3(q − 1)²/16.",
    "The first is q² − 6q − 3 > 0, the second 3q² − 14q − 21 > 0: both must hold.",
)
def how_far_out(answer: Any) -> None:
    q = 3 + 2 * np.sqrt(3)
    second = (7 + 4 * np.sqrt(7)) / 3
    mistakes: dict[float, str] = {
        q: "That is R²: take the root.",
        np.sqrt(second): "That is the second condition alone.",
        second: "That is R², and of the second condition alone.",
        q**2: "That squares instead of taking the root.",
        1: "At R = 1 the radius does not vary at all.",
    }
    expect_number(answer, np.sqrt(q), 4, mistakes)
