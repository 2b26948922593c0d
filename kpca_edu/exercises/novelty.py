"""Checkers for the exercises of chapter 17: novelty."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checking import WrongAnswer, as_function, as_letters, as_number, exercise, expect_number


@exercise(
    "novelty-1",
    "The least that can be promised has j = 1.",
    "Solve 1/(m + 1) ≤ 1/200 for m.",
)
def how_many_held_out(answer: Any) -> None:
    given = as_number(answer)
    if given == 199:
        return
    for value, diagnosis in {
        200: "Nearly: there are m + 1 ranks, the new sample's own among them.",
        201: "There are m + 1 ranks: more than m, and not fewer.",
        198: "One too few: 1/199 is more than 1/200.",
        0.005: "That is the rate: how many samples does it take?",
        399: "That is for j = 2: the largest error, j = 1, is enough.",
        20: "That belongs to one false alarm in twenty.",
        19: "That belongs to one false alarm in twenty.",
        39: "That is the number in the chapter, for 2 in 40.",
    }.items():
        if given == value:
            raise WrongAnswer(diagnosis)
    raise WrongAnswer("A whole number is asked for." if given % 1 else "")


@exercise(
    "novelty-2",
    "κ(t, t) of a Gaussian kernel is 1, also far away. What are the κ(t, xᵢ)?",
    "1 − 2·0 + 0.25, less the squares of the two scores.",
)
def end_of_the_world(answer: Any) -> None:
    mistakes = {
        1.25: "That is the distance from the mean: take the squared scores off.",
        0.9: "The mean of the Gram matrix is missing.",
        1.0: "A far sample lies at the origin of feature space, and the mean does not.",
        0.85: "The scores have to be squared.",
        1.35: "What the components hold is taken off, and not added.",
        0.65: "Far away κ(t, xᵢ) is 0: the middle term vanishes.",
        0.15: "κ(t, t) = 1, also far away.",
        1.0 + 0.25 - 0.16: "Square each score, and not their sum.",
        1.15**0.5: "e is the squared error: no root.",
    }
    expect_number(answer, 1.15, 3, mistakes)


def _area(normal: NDArray, novel: NDArray) -> float:
    gap = novel[:, None] - normal
    return float(np.mean(gap > 0) + np.mean(gap == 0) / 2)


@exercise(
    "novelty-3",
    "Compare every novelty with every normal sample.",
    "The mean of novel[:, None] > normal, and half of the mean of ==.",
)
def area_by_counting(answer: Any) -> None:
    measure = as_function(answer)
    rng = np.random.default_rng(0)
    for n, m in ((4, 3), (30, 50)):
        normal = np.round(rng.standard_normal(n), 1 if n > 4 else 3)
        novel = np.round(rng.standard_normal(m) + 0.8, 1 if n > 4 else 3)
        novel[0] = normal[0]  # a tie
        right = _area(normal, novel)
        given = as_number(measure(normal.copy(), novel.copy()))
        if abs(given - right) <= 1e-9:
            continue
        gap = novel[:, None] - normal
        mistakes: list[tuple[float, str]] = [
            (1 - right, "It is turned round: novelties should have the higher scores."),
            (float(np.mean(gap > 0)), "A tie counts one half, and here it counts nothing."),
            (float(np.mean(gap >= 0)), "A tie counts one half, and here it counts one."),
            (right * n * m, "That is the number of pairs: divide by all pairs."),
            (
                float(np.mean(gap)),
                "That is the mean difference: count the pairs that are in order.",
            ),
            (100 * right, "That is the percentage: give the share."),
        ]
        for value, diagnosis in mistakes:
            if abs(given - value) <= 1e-9 * max(abs(value), 1):
                raise WrongAnswer(diagnosis)
        raise WrongAnswer(f"For {n} normal and {m} novel scores it gives {given:.4g}.")


@exercise(
    "novelty-4",
    "Which panel has a straight band? Which follows each single sample?",
    "A wide kernel with one component sees one crowd; 20 components follow the moons.",
)
def read_the_contours(answer: Any) -> None:
    letters = as_letters(answer, "ABCD", 4)
    if letters == "cbad":
        return
    if len(set(letters)) < 4:
        raise WrongAnswer("Each letter belongs to one line.")
    if letters[2] != "a":
        raise WrongAnswer("Line 3 is PCA: its boundary is straight.")
    if letters[1] != "b":
        raise WrongAnswer("Line 2 has a narrow kernel: it sees each sample by itself.")
    raise WrongAnswer("Lines 1 and 4 are exchanged: a wide kernel doesn't follow the moons.")


@exercise(
    "novelty-5",
    "The strangers are rebuilt well. Which change takes that away?",
    "Three of the four keep the strangers in the training set, with a say in the components.",
)
def rebuilt_strangers(answer: Any) -> None:
    letter = as_letters(answer, "abcd", 1)
    wrong = {
        "a": "More components rebuild the strangers better, too.",
        "b": "With a narrow kernel each stranger in training protects its surroundings.",
        "d": "The threshold moves along the ROC curve: the curve stays as bad.",
    }
    if letter in wrong:
        raise WrongAnswer(wrong[letter])


@exercise(
    "novelty-6",
    "Which normal samples fill a plane? Which a bent curve with gaps between samples?",
    "Ask of the third how large a Gram matrix would be.",
)
def which_detector(answer: Any) -> None:
    letters = as_letters(answer, "NPK", 3)
    for given, right, why in zip(
        letters,
        "pkn",
        (
            "Task 1: mixtures fill a plane, and strange is what sticks out of it.",
            "Task 2: the curve is bent, and between samples the nearest one is some way off.",
            "Task 3: with ten million samples the nearest is near, and nothing is to be tuned.",
        ),
        strict=True,
    ):
        if given != right:
            raise WrongAnswer(why)
