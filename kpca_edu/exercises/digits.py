"""Checkers for the exercises of chapter 16: digits, cleaned and read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checking import (
    WrongAnswer,
    as_array,
    as_function,
    as_letters,
    as_real,
    as_words,
    exercise,
    expect_choices,
    expect_close,
    expect_not,
    expect_number,
)


@exercise(
    "digits-1",
    "The difference of two independent noises has twice the variance of one.",
    "64 pixels, each with the variance 2 · 0.35².",
)
def how_far(answer: Any) -> None:
    mistakes = {
        7.84: "That is the distance of a dirty copy from the clean one: both copies are dirty.",
        np.sqrt(15.68): "That is the root: the squared distance is asked for.",
        44.8: "The variance is the square of 0.35.",
        0.245: "That is one pixel: there are 64.",
        31.36: "The variances add up: twice 0.35², not (2 · 0.35)².",
        22.4: "The variance is the square of 0.35, and both copies are dirty.",
        2.8: "That is the root, and for one dirty copy.",
    }
    expect_number(answer, 15.68, 3, mistakes)


@exercise(
    "digits-2",
    "For each label that occurs in y, take the mean of its rows of X.",
    "np.unique(y) gives the labels; the argmin of the squared distances is an index into them.",
)
def four_lines(answer: Any) -> None:
    read = as_function(answer)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.repeat([2, 5, 7], [5, 9, 20]))
        X = rng.standard_normal((34, 4)) * np.choose(y // 3, [1, 2, 4])[:, None]
        T = 2 * rng.standard_normal((60, 4))
        means = np.array([X[y == c].mean(axis=0) for c in (2, 5, 7)])
        place = np.linalg.norm(T[:, None] - means, axis=2).argmin(axis=1)
        neighbor = y[np.linalg.norm(T[:, None] - X, axis=2).argmin(axis=1)]
        farthest = np.linalg.norm(T[:, None] - means, axis=2).argmax(axis=1)
        products = (T @ means.T).argmax(axis=1)
        classes = np.array([2, 5, 7])
        given = as_array(read(X.copy(), y.copy(), T.copy()), (60,))
        if np.array_equal(given, classes[place]):
            continue
        mistakes = (
            (place, "Those are places 0, 1, 2: return the labels that stand there."),
            (neighbor, "That is the nearest sample, not the nearest mean."),
            (classes[farthest], "That is the mean that is farthest away."),
            (classes[products], "That is the largest inner product: means differ in length."),
        )
        for wrong, diagnosis in mistakes:
            if np.array_equal(given, wrong):
                raise WrongAnswer(diagnosis)
        if not set(given) <= {2, 5, 7}:
            raise WrongAnswer("There are labels in it that do not occur in y.")
        raise WrongAnswer(f"{np.sum(given != classes[place])} of 60 names differ.")


@exercise(
    "digits-3",
    "Who chooses the settings, and does the rival get the same choice?",
    "Test pictures must not choose anything, nor be part of what the cleaner is fitted to.",
)
def fair(answer: Any) -> None:
    given = set(as_letters(answer, "abcde"))
    if "a" in given:
        raise WrongAnswer("a: there the test pictures choose the setting.")
    if "c" in given:
        raise WrongAnswer("c: there the raw pictures get a setting that was chosen for others.")
    if "e" in given:
        raise WrongAnswer("e: there the cleaner has seen the clean test pictures.")
    if given != set("bd"):
        raise WrongAnswer("One is missing.")


@exercise(
    "digits-4",
    "Which column of the table has 74, and what stands to its left?",
    "What is the cleaner made of? Could the reader have learned from the same pictures?",
)
def sixteen_points(answer: Any) -> None:
    given = set(as_letters(answer, "abcde"))
    if "c" in given:
        raise WrongAnswer("c: the weighted mean is a mean of the clean training pictures.")
    if "d" in given:
        raise WrongAnswer("d: the cleaner sees no labels, and the same clean pictures.")
    if "e" in given:
        raise WrongAnswer("e: look at the lower panels of the figure.")
    if given != set("ab"):
        raise WrongAnswer("One is missing.")


def _weighted_means(known: NDArray, T: NDArray, h: float, power: int = 2) -> NDArray:
    """Return the weighted means of the chapter, or those of distances that were not squared."""
    D2 = np.linalg.norm(T[:, None] - known, axis=2) ** power
    W = np.exp(-(D2 - D2.min(axis=1, keepdims=True)) / (2 * h**2))
    return W @ known / W.sum(axis=1, keepdims=True)


@exercise(
    "digits-5",
    "A weight exp(−‖t − x‖²/2h²) for each known picture; divide by the sum of the weights.",
    "Take the smallest squared distance of each row off before the exponential: it cancels.",
)
def clean_by_a_mean(answer: Any) -> None:
    clean = as_function(answer)
    rng = np.random.default_rng(0)
    known, T, h = rng.standard_normal((30, 5)), rng.standard_normal((8, 5)), 0.7
    given = as_array(clean(known.copy(), T.copy(), h), (8, 5))
    D2 = np.sum((T[:, None] - known) ** 2, axis=2)
    weights = np.exp(-D2 / (2 * h**2))
    mistakes = (
        (known[D2.argmin(axis=1)], "That is the nearest picture: all of them count."),
        (np.tile(known.mean(axis=0), (8, 1)), "That is the plain mean: the weights are missing."),
        (weights @ known, "Divide by the sum of the weights."),
        (_weighted_means(known, T, h / np.sqrt(2)), "The exponent is divided by 2h², not by h²."),
        (_weighted_means(known, T, np.sqrt(h)), "The width is squared: 2h², not 2h."),
        (_weighted_means(known, T, h, power=1), "The distances are squared."),
    )
    for wrong, diagnosis in mistakes:
        expect_not(given, wrong, diagnosis)
    expect_close(given, _weighted_means(known, T, h))
    with np.errstate(all="ignore"):
        far = as_real(clean(known.copy(), 100 + T, h))
    if far.shape != (8, 5) or not np.isfinite(far).all():
        raise WrongAnswer("Near the known pictures it is right; far away all weights round to 0.")
    expect_close(far, _weighted_means(known, 100 + T, h), "Far from all pictures it is not right.")


@exercise(
    "digits-6",
    "Ask of each: are the training pictures clean, and is there a digit on every scan?",
    "A vote with clean training pictures gains nothing by cleaning; a cleaner sees digits in all.",
)
def three_offices(answer: Any) -> None:
    words = as_words(answer, 3, ("raw", "clean", "flag"))
    reasons = {
        (0, "clean"): "In 1 the training pictures are clean: the vote gains nothing.",
        (0, "flag"): "In 1 every scan shows a digit.",
        (1, "raw"): "In 2 the vote would learn from dirt, which costs it most.",
        (1, "flag"): "In 2 every scan shows a digit; it is the training set that is dirty.",
        (2, "raw"): "In 3 the vote would name the stains.",
        (2, "clean"): "In 3 a cleaner makes digits of stains.",
    }
    expect_choices(words, reasons)
