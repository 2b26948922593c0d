"""Answers to the exercises of chapter 6: right ones in every form, and wrong ones."""

from fractions import Fraction

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN

from kpca_edu.kernels import rbf


def staircase(x, first=1):
    return (np.arange(first, 21) <= np.asarray(x)[:, None]).astype(float)


def by_root(x):
    """Another map with the same kernel: a Cholesky-like root of the matrix of all 21 numbers."""
    lam, A = np.linalg.eigh(np.minimum.outer(np.arange(21.0), np.arange(21.0)))
    return (A * np.sqrt(np.maximum(lam, 0)))[np.asarray(x)]


def by_batch(x):
    """No map: a root of the matrix of these very numbers, which changes with the company."""
    lam, A = np.linalg.eigh(np.minimum.outer(x, x).astype(float))
    return A * np.sqrt(np.maximum(lam, 0))


def turned_by_batch(x):
    """No map: each batch is turned by an angle of its own, which its inner products don't show."""
    c, s = np.cos(len(x)), np.sin(len(x))
    rows = staircase(x)
    rows[:, :2] = rows[:, :2] @ np.array([[c, s], [-s, c]])
    return rows


def gaussian(X, Y, sigma, factor=2.0, power=2.0, sign=-1.0):
    """The Gaussian kernel with the mistakes that people make."""
    gap = np.sqrt(np.sum((X[:, None] - Y[None]) ** 2, axis=2))
    return np.exp(sign * gap**power / (factor * sigma**2))


def between(a, b):
    """Angles between directions in degrees, from 0 to 180."""
    return np.abs((np.subtract.outer(a, b) + 180) % 360 - 180)


def cosine_of(a, b):
    return np.cos(np.radians(np.subtract.outer(a, b)))


# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "kernels-1": (
        [25, 25.0, np.float64(25), [25], Fraction(25)],
        [
            (16, "constant 1 is missing"),
            (5, "square is missing"),
            (10, "not by 2"),
            (17, "before the square"),
            (4, "inner product alone"),
            (9, "1·2 + 2·1"),
            (36, "not to each product"),
            (26, "not again after it"),
            (-25, "sign"),
            ("25", "leave out the quotation marks"),
            (NAN, "finite number"),
            (24, ""),
            (25.004, "whole"),
        ],
    ),
    "kernels-2": (
        [286, 286.0, np.int64(286), (286,), Fraction(286)],
        [
            (220, "degree exactly 3"),
            (120, "three different variables"),
            (1000, "as two"),
            (1331, "order of the factors"),
            (285, "constant feature"),
            (66, "degree 2"),
            (1001, "degree 4"),
            (364, "d + p is 13"),
            (3, ""),
            (286.04, "whole"),
        ],
    ),
    "kernels-3": (
        [np.sqrt(2), 1.41, 1.4142, [1.414], np.array(1.41421)],
        [
            (2, "squared distance"),
            (4, "never negative"),
            (1, "length of one feature"),
            (0, "only for x = y"),
            (0.7071, "half of it"),
            (1.4, "3 significant digits"),
            (1.42, "3 significant digits"),
            (float("inf"), "can't be far apart"),
            (np.inf * np.ones(1), "finite number"),
            (NAN, "finite number"),
            (3, ""),
        ],
    ),
    "kernels-4": (
        [4.75, Fraction(19, 4), [4.75], np.float32(4.75), np.array(4.75)],
        [
            (2.18, "That is the distance"),
            (4.25, "is missing in the last sum"),
            (4.5, "counts twice"),
            (5.75, "middle term is missing"),
            (3, "length of its own"),
            (6.5, "divided by 4, not by 2"),
            (10, "divided by 4"),
            (3.75, "not twice that"),
            (5.25, "not half of it"),
            (2.11, "mean of all three"),
            (4.7, "3 significant digits"),
            (1, ""),
        ],
    ),
    "kernels-5": (
        [
            gaussian,
            lambda X, Y, sigma: rbf(sigma)(X, Y),
            lambda X, Y, sigma: gaussian(X, Y, sigma).tolist(),
            lambda X, Y, s: [[np.exp(-((x - y) @ (x - y)) / 2 / s / s) for y in Y] for x in X],
        ],
        [
            (lambda X, Y, s: gaussian(X, Y, s, sign=1), "minus sign"),
            (lambda X, Y, s: gaussian(X, Y, s, factor=1), "2σ², not by σ²"),
            (lambda X, Y, s: gaussian(X, Y, s, power=1), "has to be squared"),
            (lambda X, Y, s: gaussian(X, Y, np.sqrt(s)), "σ has to be squared"),
            (lambda X, Y, s: gaussian(X, Y, 1.0), "the width is not used"),
            (lambda X, Y, s: gaussian(X, Y, (2 * s) ** -0.5), "not a rate"),
            (lambda X, Y, s: -2 * np.log(gaussian(X, Y, 1.0)), "exponential is missing"),
            (lambda X, Y, s: gaussian(Y, X, s), "shape"),
            (lambda X, Y, s: gaussian(X, X, s), "shape"),
            FUNCTION_NEEDED,
            FAILS,
        ],
    ),
    "kernels-6": (
        ["ace", "ACE", "a, c, e", ["a", "c", "e"], ("e", "c", "a"), {"a", "c", "e"}],
        [
            ("abce", "b is none"),
            ("acde", "d is none"),
            ("acef", "f is none"),
            ("ac", "not found all"),
            ("e", "not found all"),
            ("aace", "twice"),
            ("ag", "Only the letters"),
            (3, "Letters are needed"),
            ([1, 3, 5], "Letters are needed"),
            ("", "Only the letters"),
        ],
    ),
    "kernels-7": (
        [
            staircase,
            by_root,
            lambda x: staircase(x)[:, ::-1],
            lambda x: np.pad(staircase(x), ((0, 0), (0, 5))),
            lambda x: [[float(j < n) for j in range(20)] for n in x],
        ],
        [
            (by_batch, "a feature map gives every number the same features"),
            (lambda x: np.pad(by_batch(x), ((0, 0), (0, 30 - len(x)))), "on x alone"),
            (turned_by_batch, "the same number has got two different rows"),
            (lambda x: staircase(x)[:, : x.max()], "a feature map gives every number the same"),
            (lambda x: staircase(x, 0), "too large by one"),
            (lambda x: np.asarray(x)[:, None], "products"),
            (lambda x: np.sqrt(np.asarray(x, float))[:, None], "φ(x)ᵀφ(x) = x is right"),
            (lambda x: np.asarray(x), "row for each"),
            (lambda x: np.full((len(x), 2), NAN), "NaN"),
            (lambda x: staircase(x)[:, :10], "not the smaller numbers."),
            (np.minimum, "raised"),
            FUNCTION_NEEDED,
            FAILS,
        ],
    ),
    "kernels-8": (
        [[[0.0]], [[0.0, 0.5]], np.array([[0.1], [2.0]]), [[1.0], [3.0]], ((0, 0),)],
        [
            ([[2.0]], "no negative eigenvalue"),
            ([[1.5, 0.0]], "no negative eigenvalue"),
            ([0.0], "n×d array"),
            (0.0, "n×d array"),
            ([[2.0, 0.0], [0.0, 2.0]], "no negative eigenvalue"),
            ([[NAN]], "NaN"),
            ([[]], "n×d array"),
            ([["a"]], "quotation marks"),
            (np.ones((3000, 2)), "a few are"),
        ],
    ),
    "kernels-9": (
        [1 / (8 * np.sqrt(2)), 0.0884, 0.08839, [0.0884], np.sqrt(2) / 16],
        [
            (1 / (8 * np.sqrt(6)), "divides by √m!"),
            (1 / 8, "factorials are missing"),
            (1 / 16, "root of 2!·1!"),
            (1 / 48, "root of the factorials"),
            (0.177, "divide by σ³"),
            (0.01105, "gets its root"),
            (11.3, "Divide by that"),
            (0.707, "σ^−m is missing"),
            (0.2165, "also divides by m!"),
            (0.088, "3 significant digits"),
            (1, ""),
        ],
    ),
    "kernels-10": (
        [5 - 4 * np.exp(-0.5), 2.57, 2.5739, [2.574], np.float32(2.5738773)],
        [
            (1.604, "That is ‖f‖"),
            (5, "mixed term is missing"),
            (5 - 2 * np.exp(-0.5), "comes twice"),
            (7.43, "different signs"),
            (3.53, "divided by 2σ²"),
            (1, "at one place"),
            (1.79, "weights are squared"),
            (2.6, "3 significant digits"),
            (-2.57, "sign"),
            (0, ""),
        ],
    ),
    "kernels-11": (
        ["DBAC", "dbac", "D, B, A, C", ["D", "B", "A", "C"], "1=D, 2=B, 3=A, 4=C"],
        [
            ("ABCD", "square is never negative"),
            ("ABDC", "the cosine is 1 or −1"),
            ("DABC", "except for neighbours"),
            ("DBCA", "square is never negative"),
            ("DBA", "letters are needed"),
            ("DDBA", "Four different letters"),
            ("DBAE", "Only the letters"),
            (4, "Letters are needed"),
        ],
    ),
    "kernels-12": (
        [np.sqrt(500 / np.log(2)), 26.9, 26.86, [26.858], np.float32(26.8578)],
        [
            (721, "take the root"),
            (37.98, "not by σ²"),
            (18.99, "not 1"),
            (31.6, "typical distance"),
            (22.4, "e^(−1)"),
            (40.75, "natural logarithm"),
            (27, "3 significant digits"),
            (-26.9, "sign"),
            (1, ""),
        ],
    ),
    "kernels-13": (
        [
            cosine_of,
            lambda a, b: np.exp(cosine_of(a, b) - 1),
            lambda a, b: (1 + cosine_of(a, b)) / 2,
            lambda a, b: np.exp(-between(a, b) / 40),
            lambda a, b: np.exp(8 * (cosine_of(a, b) - 1)).tolist(),
            lambda a, b: cosine_of(a, b).astype(object),
        ],
        [
            (lambda a, b: np.exp(-(np.subtract.outer(a, b) ** 2) / 2 / 40**2), "359° and 1°"),
            (lambda a, b: np.exp(-(between(a, b) ** 2) / 2 / 90**2), "shorter arc is no kernel"),
            (lambda a, b: np.exp(-(between(a, b) ** 2) / 2 / 20**2), "shorter arc is no kernel"),
            (lambda a, b: 1 - between(a, b) ** 2 / 180**2, "negative eigenvalues"),
            (lambda a, b: np.ones((len(a), len(b))), "should fall"),
            (lambda a, b: cosine_of(a, b) ** 2, "should fall"),
            (lambda a, b: np.cos(np.subtract.outer(a, b)), "359° and 1°"),
            (lambda a, b: 2 * cosine_of(a, b), "should be 1"),
            (lambda a, b: np.exp(-np.subtract.outer(a, b) / 90), "not symmetric"),
            (lambda a, b: cosine_of(b, a)[:2], "shape"),
            FUNCTION_NEEDED,
            FAILS,
            (lambda a, b: cosine_of(a, b) / (1 + (len(a) < len(b) > 20)), "two angles alone"),
        ],
    ),
}
