"""Checkers for the exercises of chapter 12: PCA in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..streaming import Moments, merge, summarize
from .checking import (
    WrongAnswer,
    agrees,
    as_array,
    as_function,
    as_number,
    as_words,
    exercise,
    expect_choices,
    expect_number,
    expect_pair,
    tolerance,
)

METHODS = ("moments", "oja", "frequent", "qr")


@exercise(
    "streaming-1",
    "The two scatters add, and one term more: the gap between the means.",
    "The term is 30·10/40 times the square of 6 − 2. Divide the sum by 40.",
)
def merge_by_hand(answer: Any) -> None:
    mistakes = {
        80 / 40: "That leaves out the gap between the two means.",
        200: "That is the scatter of all: divide by n.",
        200 / 39: "That divides by n − 1; this book divides by n.",
        (80 + 7.5 * 4) / 40: "The gap has to be squared.",
        (80 + 300 * 16) / 40: "The factor of the gap is n_a n_b / n: divide by 40.",
        (80 + 16) / 40: "The square of the gap needs its factor, n_a n_b / n.",
        (80 + 20 * 16) / 40: "The factor of the gap is n_a n_b / n, and not half of n.",
    }
    expect_number(answer, 5.0, 3, mistakes)


@exercise(
    "streaming-2",
    "With n_b = 1 the block b has scatter zero and the mean x.",
    "δ = x − mean; the new mean is mean + δ/(n + 1).",
    "The scatter grows by n/(n + 1) times the outer product of δ with itself.",
)
def one_more_row(answer: Any) -> None:
    add = as_function(answer)
    rng = np.random.default_rng(0)
    for n, d in ((1, 3), (4, 2), (30, 5)):
        X = rng.standard_normal((n + 1, d)) + 3
        old, right = summarize(X[:-1]), summarize(X)
        n_new, mean, scatter = _three(add(n, old.mean.copy(), old.scatter.copy(), X[-1].copy()), d)
        if n_new != right.n:
            raise WrongAnswer(f"With one row more than {n} the count is {n + 1}.")
        if np.abs(mean - right.mean).max() > tolerance(right.mean, 10):
            if np.allclose(mean, old.mean + (X[-1] - old.mean) / n):
                raise WrongAnswer("The mean moves by δ/(n + 1): divide by the new count.")
            raise WrongAnswer("The mean is not right.")
        delta, more = X[-1] - old.mean, scatter - old.scatter
        _diagnose_growth(
            more, delta, X[-1] - right.mean, right.scatter - old.scatter, right.scatter
        )


def _three(result: Any, d: int) -> tuple[float, NDArray, NDArray]:
    if isinstance(result, Moments):
        return result.n, result.mean, result.scatter
    if not isinstance(result, tuple | list) or len(result) != 3:
        raise WrongAnswer("Return three things: n, mean and scatter.")
    return as_number(result[0]), as_array(result[1], (d,)), as_array(result[2], (d, d))


def _diagnose_growth(
    more: NDArray, delta: NDArray, left: NDArray, right: NDArray, total: NDArray
) -> None:
    if np.abs(more - right).max() <= tolerance(total, 10):
        return
    if np.allclose(more, np.outer(delta, delta)):
        raise WrongAnswer("The scatter grows by too much: the factor n/(n + 1) is missing.")
    if np.allclose(more, np.outer(left, left)):
        raise WrongAnswer("Both factors use the new mean: the distance to the old one is needed.")
    if np.allclose(more, np.diag(np.diag(right))):
        raise WrongAnswer("Only the diagonal grows: an outer product is needed.")
    if np.allclose(more, 0):
        raise WrongAnswer("The scatter has not changed.")
    raise WrongAnswer("The scatter is not right.")


@exercise(
    "streaming-3",
    "The relative error is about ε(mean/σ)².",
    "mean/σ is 10⁶, its square 10¹².",
)
def digits_of_a_barometer(answer: Any) -> None:
    given = as_number(answer)
    if abs(given - 4) <= 0.05:
        return
    for value, diagnosis in {
        10: "That takes the ratio mean/σ once: it is squared.",
        6: "That forgets the standard deviation, which is 0.1 and not 1.",
        12: "That is how many are lost.",
        -4: "The error is 10 to that power: how many digits are left?",
        16: "That is what doubles have before anything is lost.",
        11: "The mean enters as mean/σ, and squared.",
    }.items():
        if abs(given - value) <= 0.05:
            raise WrongAnswer(diagnosis)
    raise WrongAnswer("A whole number is asked for." if given % 1 else "")


@exercise(
    "streaming-4",
    "How many files are there? Each worker does an eighth of them.",
    "20,000 · 0.04 / 8 seconds, and 0.01 for each level of the tree.",
    "A tree over 20,000 summaries has ⌈log₂ 20,000⌉ = 15 levels.",
)
def a_billion_rows(answer: Any) -> None:
    mistakes = {
        800.15: "That is one worker: there are eight.",
        800.0: "That is one worker: there are eight.",
        100 + 199.99: "That does the merges one after the other: those of a level run together.",
        100 + 19999 * 0.01 / 8: "Count the levels of the tree, and not all merges.",
        5e9: "Count files, and not rows.",
        6400: "More workers take less time: divide by 8.",
    }
    if agrees(as_number(answer), 100.15, 5) or agrees(as_number(answer), 100.0, 4):
        return  # the merges are 0.15 s of it
    expect_number(answer, 100.15, 3, mistakes)


@exercise(
    "streaming-5",
    "The plane turns when the new pattern has collected as much scatter as the second one.",
    "After t blocks the second has t units, the new one 10(t − 80).",
)
def read_the_turn(answer: Any) -> None:
    given = as_number(answer)
    if abs(given - 800 / 9) <= 2:
        return
    for low, high, diagnosis in (
        (80, 82, "There the new pattern begins; the plane turns later."),
        (94, 100, "There it has turned nearly all the way: look where it is half-way."),
        (8, 9.5, "That counts from block 80 on: count from the start."),
    ):
        if low <= given <= high:
            raise WrongAnswer(diagnosis)
    raise WrongAnswer("")


@exercise(
    "streaming-6",
    "Count scatter in units of one block: over all rows, and when block 81 has just come.",
    "(a) compares 100 with 20a.",
    "(b) compares 80 + 1, what has been kept and the new block's own, with a.",
)
def why_it_never_came_back(answer: Any) -> None:
    expect_pair(
        answer,
        (5, 81),
        6,
        {
            (0, 4): "In (a) the first direction has variance in all 100 blocks, also the last 20.",
            (0, 1): "In (a) compare what all 100 blocks have, and not a single block.",
            (0, 0.2): "That is the inverse of (a).",
            (1, 80): "Close, in (b): block 81 has variance in the first direction, too.",
            (1, 5): "In (b) nothing of the second direction is kept from block to block.",
            (1, 1): "In (b) the first direction competes with what it has collected so far.",
            (1, 100): "In (b) look at block 81: what has been collected by then?",
            (1, 82): "In (b) that is the second chance: look at block 81.",
        },
    )


@exercise(
    "streaming-7",
    "Solve the equations of the merge for the block that remains.",
    "mean = total.mean + (total.mean − part.mean)·part.n/n, with n = total.n − part.n.",
    "Take part.scatter and the gap's term n·part.n/total.n δδᵀ off total.scatter.",
)
def take_a_block_out(answer: Any) -> None:
    without = as_function(answer)
    rng = np.random.default_rng(1)
    for sizes in ((20, 5), (3, 40), (1, 9)):
        a, b = (summarize(rng.standard_normal((n, 3)) + n / 10) for n in sizes)
        total = merge(a, b)
        rest = without(total, b)
        if not isinstance(rest, Moments):
            raise WrongAnswer("The function should return Moments(n, mean, scatter).")
        if rest.n != a.n:
            raise WrongAnswer(f"{total.n} rows without {b.n} are {a.n}, and not {rest.n}.")
        _judge_rest(rest, a, b, total)


def _judge_rest(rest: Moments, a: Moments, b: Moments, total: Moments) -> None:
    mean, scatter = as_array(rest.mean, (3,)), as_array(rest.scatter, (3, 3))
    if not np.allclose(mean, a.mean, rtol=5e-6, atol=5e-6):
        if np.allclose(mean, total.mean - b.mean):
            raise WrongAnswer("Means don't subtract: n times the mean, the sum of rows, does.")
        raise WrongAnswer("The mean is not right.")
    size = 5e-6 * max(np.abs(total.scatter).max(), 1.0)
    if np.abs(scatter - a.scatter).max() > size:
        if np.allclose(scatter, total.scatter - b.scatter):
            raise WrongAnswer("The gap between the means is still in the scatter.")
        if np.abs(scatter - a.scatter).max() > np.abs(total.scatter - b.scatter - a.scatter).max():
            raise WrongAnswer("The scatter is not right: is the gap's term added, or too large?")
        raise WrongAnswer("The scatter is not right.")


@exercise(
    "streaming-8",
    "Ask first whether d² numbers fit; then whether the rows are independent and how much room "
    "there is; then whether squares lose what is wanted.",
    "Only one of the methods has a bound for every order of the rows without d² numbers.",
    "Only one of them keeps singular values below 1e-8 of the largest.",
)
def which_method(answer: Any) -> None:
    words = as_words(answer, 4, METHODS, {"frequentdirections": "frequent"})
    reasons = {
        (0, "qr"): "In 1 it would be right, but leading directions don't need its extra cost.",
        (0, "oja"): "In 1 nothing has to be forgotten: d² is only 2,500 numbers.",
        (0, "frequent"): "In 1 nothing has to be forgotten: d² is only 2,500 numbers.",
        (1, "moments"): "In 2 d² numbers are 1,280 GB.",
        (1, "qr"): "In 2 the triangular factor has d² numbers as well.",
        (1, "oja"): "In 2 the rows are not independent, and a bound is wanted in any case.",
        (2, "moments"): "In 3 d² numbers are 1,280 GB.",
        (2, "qr"): "In 3 the triangular factor has d² numbers as well.",
        (2, "frequent"): "In 3 there is no room for a sketch, and the rows are independent.",
        (3, "moments"): "In 4 forming squares loses what is below 1e-8.",
        (3, "frequent"): "In 4 the sketch gives up just the small directions.",
        (3, "oja"): "In 4 the rule looks for the largest directions.",
    }
    expect_choices(words, reasons)


@exercise(
    "streaming-9",
    "All squares lose the third: 25, 16, 9 and 4.",
    "The squares of the sketch are 25 − 9 and 16 − 9.",
)
def shrink_by_hand(answer: Any) -> None:
    expect_pair(
        answer,
        (4.0, float(np.sqrt(7))),
        3,
        {
            (0, 2): "Subtract squares, and not singular values.",
            (0, 16): "Those are the squares: take roots.",
            (0, 5): "Nothing has been taken off the first: this is cutting, and not shrinking.",
            (0, 3): "Take off the square of the third, ℓ + 1 = 3, and not that of the second.",
            (0, np.sqrt(21)): "Take off the square of the third, and not that of the fourth.",
            (1, 0): "The second keeps 16 − 9: the third is the first that vanishes.",
            (1, 7): "Those are the squares: take roots.",
        },
    )


@exercise(
    "streaming-10",
    "The condition is 2c(λ₁ − λ₂) > 1.",
    "(b) has three terms, with λ_j = 3, 1 and 1; the first is (1/4)·5·3/(2 − 1).",
)
def the_least_rate(answer: Any) -> None:
    expect_pair(
        answer,
        (0.25, 3.75 + 2 * 1.25 / 3),
        3,
        {
            (0, 0.5): "In (a) the factor 2 of the condition is missing.",
            (0, 0.1): "In (a) the gap is λ₁ − λ₂ = 2, and not λ₁.",
            (0, 0.125): "In (a) the smallest gap counts, λ₁ − λ₂.",
            (0, 4): "That is the inverse of (a).",
            (1, 3.75): "In (b) all other directions count, also those with λ = 1.",
            (1, 3.75 + 1.25 / 3): "In (b) two directions have λ = 1.",
            (1, 15 / 4 + 2 * 5 / 16): "That is the error at the best rate of each, c = 1/gap.",
            (1, 2 * (3.75 + 2 * 1.25 / 3)): "In (b) c is squared.",
        },
    )


@exercise(
    "streaming-11",
    "Stack the two matrices: what is the product of the stack's transpose with the stack?",
    "np.linalg.qr(np.vstack([Ra, Rb]), mode='r').",
)
def merge_without_squares(answer: Any) -> None:
    join = as_function(answer)
    rng = np.random.default_rng(2)
    values = 10.0 ** -np.arange(12)
    U = np.linalg.qr(rng.standard_normal((60, 12)))[0]
    X = (U * values) @ np.linalg.qr(rng.standard_normal((12, 12)))[0].T
    Ra, Rb = (np.linalg.qr(part)[1] for part in (X[:25], X[25:]))
    R = as_array(join(Ra.copy(), Rb.copy()), (12, 12))
    s = np.linalg.svd(R, compute_uv=False)
    if not np.allclose(s[:4], values[:4], rtol=1e-6):
        if np.allclose(R, Ra + Rb):
            raise WrongAnswer("Factors don't add: their squares do.")
        if np.allclose(np.sort(s[:4]), np.sort(values[:4] ** 2), rtol=1e-3):
            raise WrongAnswer("That is RᵀR, the square: return R itself.")
        raise WrongAnswer("The large singular values are not right.")
    if not np.allclose(R.T @ R, X.T @ X, rtol=0, atol=1e-6):
        raise WrongAnswer("The singular values are right, but RᵀR is not the sum.")
    if not np.allclose(s, values, rtol=1e-2, atol=0):
        raise WrongAnswer("The small singular values are lost: was a square formed on the way?")
