"""Checkers for the exercises of chapter 13: faces."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checking import (
    WrongAnswer,
    as_function,
    as_letters,
    as_number,
    as_pair,
    as_words,
    exercise,
    expect_choices,
    expect_number,
)

WAYS = ("pixels", "scores", "tail", "roughness")


@exercise(
    "faces-1",
    "Three things are stored: eigenfaces, mean, scores. An eigenface is as long as a picture.",
    "50·10,000 + 10,000 + 400·50 numbers, over 400·10,000.",
)
def what_must_be_stored(answer: Any) -> None:
    expect_number(
        answer,
        0.1325,
        3,
        {
            0.005: "That counts the scores alone: eigenfaces and mean are stored, too.",
            0.13: "Without the mean face it is 0.13. Or did you round? Three digits are asked for.",
            0.1275: "The scores are missing: 50 for each of 400 faces.",
            0.125: "That counts the eigenfaces alone: mean and scores are stored, too.",
            530_000: "That is how many numbers are stored: give the share of 4,000,000.",
            4 / 0.53: "That is how many times smaller it is: give the share.",
        },
        percent=True,
    )


@exercise(
    "faces-2",
    "By scores: dk products to encode, then kn. By pixels: dn.",
    "dk + kn < dn means n > dk/(d − k); the next whole number is the answer.",
)
def from_how_many_on(answer: Any) -> None:
    given = as_number(answer)
    if given == 27:
        return
    if given == 26:
        raise WrongAnswer("With 26 faces pixels still take fewer: 16,250 against 16,275.")
    if abs(given - 15_625 / 600) < 0.06:
        raise WrongAnswer("That is where the two are equal: give the next whole number.")
    if given in (25, 25.5):
        raise WrongAnswer("The comparisons by scores, kn products, are missing.")
    if given in (1, 2):
        raise WrongAnswer("The new picture must be encoded: dk products.")
    if given == 625:
        raise WrongAnswer("That is the number of pixels: compare dk + kn with dn.")
    raise WrongAnswer("")


@exercise(
    "faces-3",
    "Scores of pictures are (pictures − mean) @ V, for the known ones and for x alike.",
    "Subtract the scores of x from each row of scores, sum the squares over each row, argmin.",
)
def best_match(answer: Any) -> None:
    match = as_function(answer)
    rng = np.random.default_rng(0)
    given, right, mistakes = [], [], []
    for n, d, k in ((30, 12, 3), (50, 20, 4), (9, 40, 2), (20, 30, 3)):
        V = np.linalg.qr(rng.standard_normal((d, k)))[0]
        known = rng.standard_normal((n, d)) + 0.5
        mean, x = known.mean(axis=0), rng.standard_normal(d) + 0.5
        given.append(as_number(match(V.copy(), mean.copy(), known.copy(), x.copy())))
        Z, z = (known - mean) @ V, (x - mean) @ V
        right.append(_nearest(Z, z))
        mistakes.append(
            {
                "Python counts rows from 0.": right[-1] + 1,
                "That row is nearest in pixels.": _nearest(known, x),
                "That row is the farthest: argmin and not argmax.": np.argmax(
                    np.sum((Z - z) ** 2, axis=1)
                ),
                "The largest inner product is not the smallest distance.": np.argmax(Z @ z),
                "x needs the mean taken off.": _nearest(Z, x @ V),
                "The known faces need the mean taken off.": _nearest(known @ V, z),
            }
        )
    if given == right:
        return
    for diagnosis in mistakes[0]:
        if given == [rows[diagnosis] for rows in mistakes]:
            raise WrongAnswer(diagnosis)
    if any(place != int(place) for place in given):
        raise WrongAnswer("Is that a distance? Return the number of the row.")
    raise WrongAnswer("That is not the row with the nearest scores.")


def _nearest(rows: NDArray, x: NDArray) -> int:
    return int(np.argmin(np.sum((rows - x) ** 2, axis=1)))


@exercise(
    "faces-4",
    "The error is the outside distance. The distance from the mean face joins both.",
    "Its square is inside² + outside²: how far is each point from the corner?",
)
def read_two_distances(answer: Any) -> None:
    letters = as_letters(answer, "ABCD", 2).upper()
    if letters == "DC":
        raise WrongAnswer("The two letters are right, their order is not.")
    if letters[0] == "B":
        raise WrongAnswer("B is far inside; the error is the outside distance, the height.")
    if letters[0] != "C":
        raise WrongAnswer("The first is not right: the error is the outside distance.")
    if letters[1] in "BC":
        raise WrongAnswer("The second is largest in one part: the squares of both add up.")
    if letters[1] == "A":
        raise WrongAnswer("A is at 5 from the mean face, the nearest of the four.")


@exercise(
    "faces-5",
    "Which faces have been fitted, and which have been judged?",
    "fit_pca(faces[:60], 40), then auc of the errors of faces[60:] and others.",
)
def too_good(answer: Any) -> None:
    letter, value = as_pair(answer, "abcd", ("a", 0.75))
    if letter == "a":
        raise WrongAnswer('Against "a": try 90 eigenfaces on faces that were not fitted.')
    if letter == "c":
        raise WrongAnswer('Against "c": the model takes the mean off by itself.')
    if letter == "d":
        raise WrongAnswer('"d" is true, but it made the rule worse in the chapter, not better.')
    share = as_number(value)
    if abs(share - HONEST_AUC) <= 0.0051:
        return
    if abs(share - 1 + HONEST_AUC) <= 0.0051:
        raise WrongAnswer("Turned round: a face should get the smaller value.")
    if abs(share / 100 - HONEST_AUC) <= 0.0051:
        raise WrongAnswer("The letter is right; that is the percentage: give the share.")
    if share > 0.9:
        raise WrongAnswer("The letter is right; that AUC is of faces that were fitted.")
    raise WrongAnswer("The letter is right, the AUC is not: fit 60 faces, judge the other 40.")


HONEST_AUC = 0.398  # of 40 eigenfaces of the first 60 faces, on the last 40 and all non-faces


@exercise(
    "faces-6",
    "Ask of each: how many pictures are there, does the light change, what is to be told apart?",
    "Ten million need short vectors; the sun changes the first three scores; paper is smooth.",
)
def choose_a_method(answer: Any) -> None:
    words = as_words(answer, 4, WAYS)
    reasons = {
        (0, "scores"): "In 1 nothing should be fitted, and 80 comparisons are nothing.",
        (0, "tail"): "In 1 nothing should be fitted, and 80 comparisons are nothing.",
        (0, "roughness"): "In 1 roughness can't tell one member from another.",
        (1, "pixels"): "In 2 ten million long vectors take too much time.",
        (1, "tail"): "In 2 the light is the same, and the first scores help.",
        (1, "roughness"): "In 2 roughness can't tell one face from another.",
        (2, "pixels"): "In 3 the light changes all pixels.",
        (2, "scores"): "In 3 the light is just what the first scores tell.",
        (2, "roughness"): "In 3 roughness can't tell one face from another.",
        (3, "pixels"): "In 4 there is no picture to compare with: what is an empty page like?",
        (3, "scores"): "In 4 a smooth page is made well by a few eigenfaces.",
        (3, "tail"): "In 4 the tail of a smooth page is small, as that of a plain face.",
    }
    expect_choices(words, reasons)
