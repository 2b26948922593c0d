"""Checkers for the exercises of chapter 5: how many components?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..choosing_k import hard_threshold_factor, held_out_residuals
from .checking import (
    WrongAnswer,
    as_array,
    as_function,
    as_numbers,
    as_pair,
    exercise,
    expect_advice,
    expect_close,
    expect_not,
    expect_number,
    expect_whole,
    in_order,
    linear_algebra,
    most_systems,
    shape_of,
)

Pair = tuple[int, int]


@exercise(
    "choosing-k-1",
    "Kaiser's rule counts variances above 1. For the other, add up until 80 % of the total is met.",
    "The total is 6, and 80 % of it is 4.8. The sums are 2.6, 3.9, 4.7, 5.3, …",
)
def folk_rules_by_hand(answer: Any) -> None:
    mistakes = {
        (4, 2): "The order: Kaiser's rule first.",
        (2, 3): "Three components carry 4.7 of 6, which is 78 %: not enough.",
        (3, 4): "Kaiser's rule asks for more than 1, and the third has 0.8.",
        (2, 1): "The lost share is bounded by 20 %, so 80 % must be kept.",
        (2, 5): "Four components carry 5.3 of 6, which is enough: take the smallest k.",
        (2, 2): "Two components carry 3.9 of 6, which is 65 %.",
        (6, 4): "Not all variances are above 1.",
    }
    _expect_pair(answer, (2, 4), mistakes)


@exercise(
    "choosing-k-2",
    "The edge of the squared values, over Nσ², is b = (1 + √β)².",
    "β = 100/900, so 1 + √β = 4/3; multiply by √N σ = 30 · 0.5.",
)
def edge_of_noise(answer: Any) -> None:
    mistakes = {
        400.0: "That is the square of the edge: the singular value itself is wanted.",
        40.0: "The factor σ is missing.",
        10.0: "That has σ² in place of σ, or the edge at the lower end: 1 − √β.",
        16 / 9: "That is b: the edge of the squares, in units of Nσ².",
        4 / 3: "That is the edge in units of √N σ.",
        15.0: "That is √N σ: the factor 1 + √β is missing.",
        20 / 3: "N is the longer side.",
        15 * (1 + 1 / 9): "The edge is 1 + √β, not 1 + β.",
        (30 + np.sqrt(1 / 9)) * 0.5: "The second root is that of the other side: √(βN).",
    }
    expect_number(answer, 20.0, 3, mistakes)


@exercise(
    "choosing-k-3",
    "The noise is known: τ = τ_β √N σ, with β = 1/9 and N = 900.",
    "ρ = √(1/81 + 14/9 + 1) = 1.6025, and τ_β = 1.597.",
)
def threshold_of_a_long_table(answer: Any) -> None:
    factor = hard_threshold_factor(1 / 9)
    right = factor * 15
    mistakes = {
        4 / np.sqrt(3) * 15: "4/√3 is for square tables.",
        right / 3: "That takes N from the shorter side.",
        right / 0.5: "The factor σ is missing.",
        right * 0.5: "That has σ² in place of σ.",
        right / 30: "The factor √N is missing.",
        factor: "That is τ_β alone: multiply by √N σ.",
        hard_threshold_factor(100 / 899)
        * np.sqrt(899)
        * 0.5: "That counts n − 1 rows: this table is not centred.",
        20.0: "That is the edge of the noise: the threshold stands back from it.",
    }
    expect_number(answer, right, 4, mistakes)


@exercise(
    "choosing-k-4",
    "Measure in units of √N σ = 10: y = 2.5, and β = 1, a = 0, b = 4.",
    "η(2.5) = √(6.25 · 2.25)/2.5; go back to the units of the table.",
)
def shrink_one_value(answer: Any) -> None:
    mistakes = {
        1.5: "That is in units of √N σ: the table's own units are wanted.",
        25.0: "That keeps the whole value: noise has made it larger than it was.",
        0.0: "That drops it: it lies beyond the edge, 20.",
        20.0: "That is the planted x from which 25 came; crooked directions ask for less.",
        37.5: "The root has to be divided by y.",
        225.0: "Take the root, and divide by y.",
        5.0: "Taking the edge off is not what loses least.",
        40 / np.sqrt(3): "That is the hard threshold.",
    }
    expect_number(answer, 15.0, 3, mistakes)


@exercise(
    "choosing-k-5",
    "a and b both tend to 1, so the root in η(y) can be taken.",
    "η(y) = (y² − 1)/y. Keeping pays if y < 2η(y).",
    "y² < 2(y² − 1), so y² > 2.",
)
def threshold_of_endless_rows(answer: Any) -> None:
    mistakes = {
        2.0: "That is y²: the answer is its root.",
        1.0: "That is the edge. Beyond it η is positive, but keeping *all* of y doesn't pay yet.",
        4 / np.sqrt(3): "That is β = 1, a square table.",
        (1 + np.sqrt(5)) / 2: "You compared y with something else than 2η(y) = 2(y² − 1)/y.",
        2 / np.sqrt(3): "Check the condition: y < 2η(y) is y² < 2(y² − 1).",
        np.sqrt(1.5): "Check the condition: y < 2η(y) is y² < 2(y² − 1).",
    }
    expect_number(answer, float(np.sqrt(2)), 4, mistakes)


@exercise(
    "choosing-k-6",
    "The residual of the reconstruction, over 1 − leverage, is what the prediction lacks.",
    "The leverage of column j is the sum of squares of row j of V.",
    "Y − (Y − Y @ V @ V.T) / (1 − np.sum(V**2, axis=1))",
)
def entries_from_the_rest(answer: Any) -> None:
    predict = as_function(answer)
    for seed, (m, d, k) in enumerate([(4, 6, 2), (5, 5, 3), (3, 8, 1)]):
        rng = np.random.default_rng(seed)
        Y, V = rng.standard_normal((m, d)), np.linalg.qr(rng.standard_normal((d, k)))[0]
        lacks = held_out_residuals(Y, V)
        with linear_algebra() as calls:
            given = predict(Y.copy(), V.copy())
        given = as_array(given, (m, d))
        _say_what_it_is(given, Y, V, lacks)
        expect_close(given, Y - lacks)
        if most_systems(calls) >= m * d:
            raise WrongAnswer(
                "The predictions are right, but there is a least-squares problem for each entry "
                "in it: one formula for all of them is enough."
            )


def _say_what_it_is(given: NDArray, Y: NDArray, V: NDArray, lacks: NDArray) -> None:
    """Recognise what is computed in place of the prediction."""
    seen, h = Y @ V @ V.T, np.sum(V**2, axis=1)
    expect_not(given, seen, "That is the reconstruction: it has looked at the entry itself.")
    expect_not(given, lacks, "That is what the prediction lacks: subtract it from Y.")
    expect_not(given, -lacks, "That is an error and not a prediction, and its sign is turned.")
    expect_not(given, Y + lacks, "The sign: the prediction is Y *minus* what it lacks.")
    expect_not(given, Y - seen, "That is the residual, and the entry has helped to make it small.")
    expect_not(given, seen / (1 - h), "Divide the residual by 1 − h, not the reconstruction.")
    expect_not(given, Y - (Y - seen) / (1 - np.sqrt(h)), "The leverage is h, not its root.")
    expect_not(given, Y - (Y - seen) / h, "Divide by 1 − h, not by h.")
    without = np.array([[_rest_of(y, V, j) for j in range(len(V))] for y in Y])
    expect_not(
        given, without, "With row j taken out, the columns of V are no longer orthonormal: solve."
    )


def _rest_of(y: NDArray, V: NDArray, j: int) -> float:
    """Return the prediction of entry j as if V without row j were still orthonormal."""
    rest = np.arange(len(V)) != j
    return float(V[j] @ (V[rest].T @ y[rest]))


ADVICE = ("error", "parallel", "shrinkage", "factors")
WHY = (
    "The museum states what it may lose: nothing else has to be known.",
    "The psychologist asks for structure, the columns are standardised, and their noise differs.",
    "The engineer's noise is equal and known, and squared error is what counts.",
    "The biologist wants a density, and each column has an error of its own size.",
)


@exercise(
    "choosing-k-7",
    "Who states what may be lost? Who has noise of one known size? Who needs a density?",
    "Shrinkage needs equal noise and gives the least squared error; shuffling forgives unequal "
    "noise; factor analysis is a density with a noise for each column.",
)
def choose_a_rule(answer: Any) -> None:
    expect_advice(answer, ADVICE, WHY)


@exercise(
    "choosing-k-8",
    "Make the table again without the second line, so that all columns have one size.",
    "400 normal rows of equal columns give 0. What does standardising do to these columns?",
)
def why_bic_says_nine(answer: Any) -> None:
    innocent = {
        "a": "Draw 400 rows with equal columns: BIC says 0, so 400 are enough.",
        "b": "The entries are normal: these tails are not heavy.",
        "d": "Each row is drawn by itself, without a look at the others.",
    }
    letter, k = as_pair(answer, "abcd", ("a", 7))
    if letter in innocent:
        raise WrongAnswer(innocent[letter])
    mistakes = {
        9.0: "The cause is right. But that is BIC of the table as it is: standardise it first.",
        10.0: "The cause is right. But k is at most d − 1 = 9 here.",
        1.0: "The cause is right. Standardised, no column differs from the others in size.",
    }
    expect_whole(k, 0, mistakes, "The cause is right, the number is not: run it.")


@exercise(
    "choosing-k-9",
    "Go from left to right. Where does the first dot lie below its square?",
    "It stops at the first failure: what comes after doesn't count, even if it lies above.",
)
def read_a_scree_plot(answer: Any) -> None:
    mistakes = {
        (4, 2): "The order: parallel analysis first.",
        (3, 4): "The fourth dot lies above its square, but the third has failed before it: stop.",
        (4, 4): "Look at the third dot again: it lies below its square.",
        (2, 3): "Look at the fourth dot again: it lies above 1, if only just.",
        (2, 2): "Kaiser's rule compares with 1, not with the squares.",
        (3, 3): "Parallel analysis compares each dot with its square, Kaiser's rule with 1.",
        (2, 8): "Kaiser's rule counts the dots above 1.",
    }
    _expect_pair(answer, (2, 4), mistakes)


def _expect_pair(answer: Any, right: Pair, mistakes: Mapping[Pair, str]) -> None:
    """Accept two whole numbers, and say what is wrong with the usual mistakes."""
    if isinstance(answer, Mapping):
        answer = in_order(answer)
    if shape_of(answer) not in ((2,), (1, 2), (2, 1)):
        raise WrongAnswer("A pair of whole numbers is needed, such as (1, 3).")
    first, second = as_numbers(answer, 2)
    if first != round(first) or second != round(second):
        raise WrongAnswer("A number of components is whole.")
    if (pair := (int(first), int(second))) != right:
        which = "second" if pair[0] == right[0] else "first"
        raise WrongAnswer(mistakes.get(pair, f"The {which} number is not right."))
