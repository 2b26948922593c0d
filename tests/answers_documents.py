"""Answers to the exercises of chapter 14: right ones in every form, and wrong ones."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN
from scipy.spatial.distance import cosine

WEIGHT = (1 + np.log(3)) * np.log(100)


def likeness(V, x, y):
    a, b = x @ V, y @ V
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


def by_projector(V, x, y):
    P = V @ V.T
    return x @ P @ y / np.sqrt((x @ P @ x) * (y @ P @ y))


def by_units(V, x, y):
    a, b = V.T @ x, V.T @ y
    return [np.sum(a / np.linalg.norm(a) * (b / np.linalg.norm(b)))]


def inner(V, x, y):
    return x @ V @ V.T @ y


def lengths(*vectors):
    return np.prod([np.linalg.norm(vector) for vector in vectors])


ANSWERS = {
    "documents-1": (
        [9.66, WEIGHT, np.float64(9.664), [9.66], Decimal("9.66"), Fraction(966, 100)],
        [
            (3 * np.log(100), "1 + log 3, and not as 3"),
            (np.log(3) * np.log(100), "1 before"),
            (np.log(100), "rarity alone"),
            (2.0986, "count alone"),
            (2.954, "base 10"),
            (17.17, "base 2"),
            (11.76, "scikit-learn"),
            (12.19, "documents that have it"),
            (209.86, "needs its logarithm"),
            (9.7, "significant digits"),
        ],
    ),
    "documents-2": (
        [1 / 18, 0.0556, Fraction(1, 18), [0.05556], Decimal("0.0556")],
        [
            (0.2357, "one entry"),
            (0.2222, "tea and cup"),
            (0.8889, "cup with itself"),
            (1 / 6, "example of the chapter"),
            (1, "length one"),
            (0, "the link is not"),
            (-1 / 18, "sign"),
            (5.556, "percentage"),
            (NAN, "finite number"),
        ],
    ),
    "documents-3": (
        [likeness, by_projector, by_units, lambda V, x, y: 1 - cosine(x @ V, y @ V)],
        [
            (inner, "divide by their lengths"),
            (lambda V, x, y: x @ y / lengths(x, y), "V is not used"),
            (lambda V, x, y: inner(V, x, y) / lengths(x, y), "not by those of x and y"),
            (lambda V, x, y: np.linalg.norm(x @ V - y @ V), "distance of the scores"),
            (lambda V, x, y: cosine(x @ V, y @ V), "one minus"),
            (lambda V, x, y: inner(V, x, y) / lengths(x @ V, y @ V) ** 2, "squares"),
            (lambda V, x, y: np.corrcoef(x @ V, y @ V)[0, 1], "centred"),
            (lambda V, x, y: 0.5, "not the cosine"),
            FUNCTION_NEEDED,
            FAILS,
            (lambda V, x, y: abs(likeness(V, x, y)), "has a sign"),
        ],
    ),
    "documents-4": (
        [(40, 80), [40, 80], np.array([40.0, 80.0]), [[40], [80]], (Fraction(40), 80)],
        [
            ((80, 40), "their order"),
            ((20, 80), "still below"),
            ((320, 80), "the smallest is asked for"),
            ((10, 80), "first above the line"),
            ((40, 320), "not the best"),
            ((40, 160), "the highest"),
            (40, "shape"),
        ],
    ),
    "documents-5": (
        [("b", 39), ["B", 39.0], ("b ", np.int64(39)), np.array(["b", 39], object)],
        [
            (("a", 39), "related texts"),
            (("c", 39), "centring"),
            (("d", 39), "signs cancel"),
            (("b", 40), "nothing changes"),
            (("b", 99), "not 100"),
            (("b", 1), "the smallest"),
            (("b", 20), "the number is not"),
            (("e", 39), "one of the letters"),
            ("b", "A pair is needed"),
        ],
    ),
    "documents-6": (
        [
            ["words", "scores", "neither"],
            ("words", "scores", "neither"),
            ["Words", " scores ", "NEITHER"],
            np.array(["words", "scores", "neither"]),
            "words, scores, neither",
        ],
        [
            (["scores", "words", "neither"], "links blur"),
            (["neither", "scores", "words"], "very words are known"),
            (["words", "words", "neither"], "other words"),
            (["words", "neither", "scores"], "keep company"),
            (["words", "scores", "scores"], "no text links"),
            (["words", "scores", "words"], "no word in common"),
            (["words", "scores", "lsa"], "should be one of"),
            ("words", "three words"),
        ],
    ),
}
