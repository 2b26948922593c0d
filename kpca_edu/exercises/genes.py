"""Checkers for the exercises of chapter 15: genes and geography."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checking import (
    WrongAnswer,
    agrees,
    as_function,
    as_letters,
    as_number,
    as_numbers,
    exercise,
    expect_number,
)


@exercise(
    "genes-1",
    "How many components are left after centring, and do any of them differ?",
    "With very many markers, the n − 1 components have equal variances.",
)
def share_of_noise(answer: Any) -> None:
    mistakes = {
        1 / 201: "Nearly: centring takes one component away, so there are n − 1.",
        0: "Noise has variance, too, and it is shared out among the components.",
        1: "That would be all of the variance.",
        200: "That is the number of components: what is the share of each?",
        1 / np.sqrt(200): "No root: the variance itself is shared out.",
        2 / 200: "All components are alike: the first has no double share.",
    }
    expect_number(answer, 1 / 200, 3, mistakes, percent=True)


@exercise(
    "genes-2",
    "Everybody has two copies: of how many copies is this one?",
    "f = 1/1000; the entry is (1 − 2f)/√(2f(1 − f)).",
)
def one_carrier(answer: Any) -> None:
    def entry(f: float, x: float = 1) -> float:
        return float((x - 2 * f) / np.sqrt(2 * f * (1 - f)))

    mistakes = {
        entry(1 / 500): "There are 1,000 copies, two of each person: f = 1/1000.",
        1 / np.sqrt(0.001998): "The mean 2f has to be taken off.",
        (1 - 0.002) / np.sqrt(0.000999): "The variance of two coins is 2f(1 − f).",
        (1 - 0.002) / 0.001998: "Divide by the standard deviation, and not by the variance.",
        entry(1 / 1000, 2): "The person carries one copy, and not two.",
        1 - 0.002: "That is centred only: divide by the deviation of two coins.",
    }
    expect_number(answer, entry(1 / 1000), 4, mistakes)


@exercise(
    "genes-3",
    "A trace needs m > n/θ².",
    "First n = 1000 and θ = 0.5, then n = 2000 and θ = 1.",
)
def smaller_budget(answer: Any) -> None:
    first, second = as_numbers(answer, 2)
    if agrees(first, 4000, 2) and agrees(second, 2000, 2):
        return
    if agrees(first, 2000, 2) and agrees(second, 4000, 2):
        raise WrongAnswer("The two numbers are right, their order is not.")
    if agrees(first, 2000, 2):
        raise WrongAnswer("In the first, θ has to be squared.")
    if agrees(first, 250, 2):
        raise WrongAnswer("A weaker component needs more markers: divide by θ².")
    if agrees(first, 4, 2):
        raise WrongAnswer("The number of people is missing.")
    if not agrees(first, 4000, 2):
        raise WrongAnswer("The first of the two is not right.")
    if agrees(second, 8000, 2):
        raise WrongAnswer("In the second, θ has doubled, too.")
    if agrees(second, 1000, 2):
        raise WrongAnswer("In the second, there are 2,000 people now.")
    raise WrongAnswer("The second of the two is not right.")


def _correlation(Z: NDArray, P: NDArray) -> float:
    Z, P = Z - Z.mean(axis=0), P - P.mean(axis=0)
    s = np.linalg.svd(Z.T @ P, compute_uv=False)
    return float(s.sum() / (np.linalg.norm(Z) * np.linalg.norm(P)))


def _mistakes(Z: NDArray, P: NDArray) -> dict[str, float]:
    """Return what typical errors would compute, with their diagnoses."""
    Zc, Pc = Z - Z.mean(axis=0), P - P.mean(axis=0)
    M, size = Zc.T @ Pc, np.linalg.norm(Zc) * np.linalg.norm(Pc)
    s = np.linalg.svd(M, compute_uv=False)
    raw = np.linalg.svd(Z.T @ P, compute_uv=False).sum()
    return {
        "It does not turn the map: take the singular values of the product.": np.trace(M) / size,
        "It does not mirror: reflections are allowed.": (
            (s[0] + np.sign(np.linalg.det(M)) * s[1]) / size
        ),
        "It always mirrors: rotations are allowed.": (
            (s[0] - np.sign(np.linalg.det(M)) * s[1]) / size
        ),
        "Centre both first.": raw / (np.linalg.norm(Z) * np.linalg.norm(P)),
        "It uses one singular value: add both.": s[0] / size,
        "That is r squared.": (s.sum() / size) ** 2,
        "It has no norms: divide by the sizes of both.": s.sum(),
        "That is what is lost, 1 − r².": 1 - (s.sum() / size) ** 2,
        "Add the singular values; the Frobenius norm adds their squares.": (
            np.linalg.norm(s) / size
        ),
    }


@exercise(
    "genes-4",
    "Centre both, and take the singular values of the 2×2 matrix ZᵀP.",
    "r is the sum of the two singular values, over the product of the Frobenius norms.",
)
def map_correlation(answer: Any) -> None:
    measure = as_function(answer)
    rng = np.random.default_rng(0)
    mirror, turn = np.array([[0.6, -0.8], [-0.8, -0.6]]), np.array([[0.6, -0.8], [0.8, 0.6]])
    for n, change in ((5, mirror), (40, mirror), (20, turn)):
        P = rng.standard_normal((n, 2)) * (2, 1) + (3, -1)
        Z = 7 * P @ change + 4 * rng.standard_normal((n, 2)) + 5
        right, given = _correlation(Z, P), as_number(measure(Z.copy(), P.copy()))
        if abs(given - right) <= 1e-6:
            continue
        for diagnosis, value in _mistakes(Z, P).items():
            if abs(given - value) <= 1e-6 * max(abs(value), 1):
                raise WrongAnswer(diagnosis)
        raise WrongAnswer(f"For one map it gives {given:.4g}, and r is {right:.4f}.")


@exercise(
    "genes-5",
    "Where are all colours mixed? Where is one colour much more frequent than the others?",
    "200 markers show the first axis and hardly the second.",
)
def read_the_maps(answer: Any) -> None:
    letters = as_letters(answer, "ABCD", 4)
    if letters == "dacb":
        return
    if letters == "bdca":
        raise WrongAnswer("That says which line belongs to A, B, C and D: turn it round.")
    if len(set(letters)) < 4:
        raise WrongAnswer("Each letter belongs to one line.")
    if letters[3] != "b":
        raise WrongAnswer("Line 4 has no structure: on its map no colour has a place of its own.")
    if letters[2] != "c":
        raise WrongAnswer("Line 3 has a crowd of one colour, that of the south-west.")
    raise WrongAnswer("Lines 1 and 2 are exchanged: few markers blur north and south.")


WHY_NOT = (
    "Claim 1: smoothness alone makes waves.",
    "Claim 2: compare the share with that of noise, 1/2999.",
    "Claim 3: those who are many get the room on the map.",
    "Claim 4: relatives make a component of their own.",
    "Claim 5: an arch comes from smoothness alone, too.",
)


@exercise(
    "genes-6",
    "Ask of each claim whether it would also be seen in a land with no history at all.",
    "Two of the five stand: one compares with noise, one asks before it interprets.",
)
def what_may_be_said(answer: Any) -> None:
    if isinstance(answer, np.ndarray):
        answer = answer.ravel().tolist()
    if isinstance(answer, list | tuple) and all(isinstance(x, bool | np.bool_) for x in answer):
        answer = ["y" if x else "n" for x in answer]
    letters = as_letters(answer, "yn", 5)
    for given, right, why in zip(letters, "nynyn", WHY_NOT, strict=True):
        if given != right:
            raise WrongAnswer(why)
