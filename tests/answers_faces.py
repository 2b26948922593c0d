"""Answers to the exercises of chapter 13: right ones in every form, and wrong ones."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN
from scipy.spatial.distance import cdist

from kpca_edu.exercises.faces import HONEST_AUC


def match(V, mean, known, x):
    return np.argmin(np.sum(((known - mean) @ V - (x - mean) @ V) ** 2, axis=1))


def by_cdist(V, mean, known, x):
    return int(cdist((known - mean) @ V, [(x - mean) @ V]).argmin())


def by_loop(V, mean, known, x):
    return min(range(len(known)), key=lambda i: np.linalg.norm(V.T @ (known[i] - x)))


def without_mean(V, mean, known, x):
    return [np.linalg.norm(known @ V - x @ V, axis=1).argmin()]  # the mean cancels


ANSWERS = {
    "faces-1": (
        [0.1325, Fraction(53, 400), 0.1325001, [0.1325], Decimal("0.1325"), 530 / 4000],
        [
            (0.005, "scores alone"),
            (0.13, "Without the mean face"),
            (0.1275, "scores are missing"),
            (0.125, "eigenfaces alone"),
            (13.25, "percentage"),
            (530_000, "share of 4,000,000"),
            (7.55, "times smaller"),
            ("0.1325", "quotation marks"),
        ],
    ),
    "faces-2": (
        [27, 27.0, np.int64(27), [27], Fraction(27)],
        [
            (26, "still take fewer"),
            (26.04, "next whole number"),
            (25, "kn products"),
            (1, "must be encoded"),
            (625, "number of pixels"),
            (30, ""),
            (NAN, "finite number"),
        ],
    ),
    "faces-3": (
        [match, by_cdist, by_loop, without_mean],
        [
            (lambda *a: match(*a) + 1, "from 0"),
            (lambda V, m, K, x: cdist(K, [x]).argmin(), "nearest in pixels"),
            (lambda V, m, K, x: cdist((K - m) @ V, [(x - m) @ V]).argmax(), "farthest"),
            (lambda V, m, K, x: np.argmax((K - m) @ V @ V.T @ (x - m)), "inner product"),
            (lambda V, m, K, x: cdist((K - m) @ V, [x @ V]).argmin(), "x needs the mean"),
            (lambda V, m, K, x: cdist(K @ V, [(x - m) @ V]).argmin(), "known faces need"),
            (lambda V, m, K, x: cdist((K - m) @ V, [(x - m) @ V]).min() ** 2, "distance"),
            FUNCTION_NEEDED,
            FAILS,
        ],
    ),
    "faces-4": (
        [("C", "D"), ["c", "d"], np.array(["C", "D"]), "CD", "C, D", ("C ", " D")],
        [
            (("D", "C"), "their order"),
            (("B", "D"), "the height"),
            (("A", "D"), "The first is not right"),
            (("C", "B"), "squares of both"),
            (("C", "C"), "squares of both"),
            (("C", "A"), "at 5"),
            (("C", "E"), "Only the letters"),
            ("C", "Two letters"),
        ],
    ),
    "faces-5": (
        [
            ("b", HONEST_AUC),
            ["B", round(HONEST_AUC, 2)],
            ("b ", np.float64(HONEST_AUC)),
            np.array(["b", round(HONEST_AUC, 2)], object),
            ("b", Fraction(round(HONEST_AUC, 2)).limit_denominator(100)),
        ],
        [
            (("a", 0.99), "90 eigenfaces"),
            (("c", 0.5), "by itself"),
            (("d", 0.5), "worse in the chapter"),
            (("b", 1 - HONEST_AUC), "Turned round"),
            (("b", 0.99), "were fitted"),
            (("b", 0.7), "judge the other 40"),
            (("b", 100 * HONEST_AUC), "percentage"),
            (("e", 0.7), "one of the letters"),
            ("b", "A pair is needed"),
        ],
    ),
    "faces-6": (
        [
            ["pixels", "scores", "tail", "roughness"],
            ("pixels", "scores", "tail", "roughness"),
            ["Pixels", " scores", "TAIL", "roughness "],
            np.array(["pixels", "scores", "tail", "roughness"]),
            "pixels, scores, tail, roughness",
        ],
        [
            (["scores", "pixels", "tail", "roughness"], "80 comparisons"),
            (["pixels", "tail", "scores", "roughness"], "light is the same"),
            (["pixels", "scores", "roughness", "tail"], "roughness can't tell"),
            (["pixels", "pixels", "tail", "roughness"], "too much time"),
            (["pixels", "scores", "scores", "roughness"], "first scores tell"),
            (["pixels", "scores", "tail", "scores"], "smooth page"),
            (["pixels", "scores", "tail", "pca"], "should be one of"),
            ("pixels", "four words"),
        ],
    ),
}
