"""Checkers for the exercises of chapter 16: digits, cleaned and read."""

from __future__ import annotations

from typing import Any

import numpy as np

from .checking import WrongAnswer, as_array, as_function, exercise, expect_number
from .kernels import letters


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
        y = np.repeat([2, 5, 7], [5, 9, 20])
        X = rng.standard_normal((34, 4)) * np.repeat([1, 2, 4], [5, 9, 20])[:, None]
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
    given = set(letters(answer, "abcde"))
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
    given = set(letters(answer, "abcde"))
    if "c" in given:
        raise WrongAnswer("c: the weighted mean is a mean of the clean training pictures.")
    if "d" in given:
        raise WrongAnswer("d: the cleaner sees no labels, and the same clean pictures.")
    if "e" in given:
        raise WrongAnswer("e: look at the lower panels of the figure.")
    if given != set("ab"):
        raise WrongAnswer("One is missing.")
