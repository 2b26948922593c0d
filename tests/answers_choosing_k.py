"""Answers to the exercises of chapter 5: right ones in every form, and wrong ones."""

from fractions import Fraction

import numpy as np
from answers import FAILS, FUNCTION_NEEDED


def predictions(Y, V):
    return Y - (Y - Y @ V @ V.T) / (1 - np.sum(V**2, axis=1))


def predictions_by_gram(Y, V):
    H = V @ V.T
    h = np.diag(H)
    return (Y @ H - h * Y) / (1 - h)


def predictions_by_least_squares(Y, V):
    out = np.empty_like(Y)
    for j in range(len(V)):
        rest = np.arange(len(V)) != j
        Z = np.linalg.lstsq(V[rest], Y[:, rest].T, rcond=None)[0]
        out[:, j] = V[j] @ Z
    return out


def entry_by_entry(Y, V):
    return [predictions_by_least_squares(y[None], V)[0] for y in Y]


def predictions_row_by_row(Y, V):
    return [predictions(y[None], V)[0].tolist() for y in Y]


def reconstruction(Y, V):
    return Y @ V @ V.T


def lacks(Y, V):
    return Y - predictions(Y, V)


def with_root(Y, V):
    return Y - (Y - Y @ V @ V.T) / (1 - np.linalg.norm(V, axis=1))


def as_if_orthonormal(Y, V):
    H = V @ V.T
    return Y @ (H - np.diag(np.diag(H)))


WORDS = ["error", "parallel", "shrinkage", "factors"]

ANSWERS = {
    "choosing-k-1": (
        [(2, 4), [2, 4], np.array([2, 4]), (2.0, 4.0), (np.int64(2), Fraction(4))],
        [
            ((4, 2), "order"),
            ((2, 3), "78 %"),
            ((3, 4), "more than 1"),
            ((2, 5), "smallest k"),
            ((2, 2), "65 %"),
            ((2, 1), "80 % must be kept"),
            ((1, 4), "first number"),
            ((2, 6), "second number"),
            (2, "pair"),
            ((2.5, 4), "whole"),
            ("2, 4", "pair"),
        ],
    ),
    "choosing-k-2": (
        [20, 20.0, Fraction(20), np.float32(20), [20.0], 19.98],
        [
            (400, "square"),
            (40, "σ is missing"),
            (10, "σ² in place of σ"),
            (1.78, "edge of the squares"),
            (1.33, "units of √N σ"),
            (15, "1 + √β is missing"),
            (16.7, "1 + √β, not 1 + β"),
            (6.67, "longer side"),
            (15.2, "second root"),
            (-20, "sign"),
        ],
    ),
    "choosing-k-3": (
        [23.95, 23.952, 23.9525, np.array([23.9525])],
        [
            (34.64, "square tables"),
            (7.984, "shorter side"),
            (47.90, "σ is missing"),
            (11.98, "σ²"),
            (0.7984, "√N is missing"),
            (1.597, "alone"),
            (23.94, "not centred"),
            (20, "edge"),
            (24.0, "4 significant"),
        ],
    ),
    "choosing-k-4": (
        [15, 15.0, Fraction(15), [15.0], np.array([15.0])],
        [
            (1.5, "units"),
            (25, "whole value"),
            (0, "drops it"),
            (20, "planted"),
            (37.5, "divided by y"),
            (5, "Taking the edge off"),
            (23.1, "hard threshold"),
        ],
    ),
    "choosing-k-5": (
        [2**0.5, 1.414, 1.41421, np.sqrt([2.0])],
        [
            (2, "root"),
            (1, "edge"),
            (2.309, "square table"),
            (1.618, "something else"),
            (1.155, "Check the condition"),
            (1.41, "4 significant digits"),
            (-(2**0.5), "sign"),
        ],
    ),
    "choosing-k-6": (
        [predictions, predictions_by_gram, predictions_by_least_squares, predictions_row_by_row],
        [
            FUNCTION_NEEDED,
            FAILS,
            (reconstruction, "looked at the entry itself"),
            (lacks, "what the prediction lacks"),
            (lambda Y, V: -lacks(Y, V), "sign is turned"),
            (lambda Y, V: Y + lacks(Y, V), "minus"),
            (lambda Y, V: Y - Y @ V @ V.T, "helped to make it small"),
            (lambda Y, V: Y @ V @ V.T / (1 - np.sum(V**2, axis=1)), "not the reconstruction"),
            (with_root, "not its root"),
            (as_if_orthonormal, "no longer orthonormal"),
            (lambda Y, V: predictions(Y, V).T, "shape"),
            (entry_by_entry, "for each entry"),
        ],
    ),
    "choosing-k-7": (
        [WORDS, tuple(WORDS), np.array(WORDS), [word.upper() for word in WORDS], " ".join(WORDS)],
        [
            (["parallel", "error", "shrinkage", "factors"], "museum"),
            (["error", "factors", "shrinkage", "parallel"], "psychologist"),
            (["error", "parallel", "factors", "shrinkage"], "engineer"),
            (["error", "parallel", "shrinkage", "shrinkage"], "biologist"),
            (["error", "bic", "shrinkage", "factors"], "should be one of"),
            (["error"], "four words"),
            ([1, 2, 3, 4], "quotation marks"),
        ],
    ),
    "choosing-k-8": (
        [("c", 0), ["c", 0], ("C", 0.0), (" c ", np.int64(0)), ("(c)", 0)],
        [
            (("a", 0), "400 are enough"),
            (("b", 0), "normal"),
            (("d", 0), "drawn by itself"),
            (("c", 9), "standardise it first"),
            (("c", 1), "no column differs"),
            (("c", 5), "run it"),
            ("c", "pair"),
            (("e", 0), "letters"),
            ((0, "c"), "order is that of"),
        ],
    ),
    "choosing-k-9": (
        [(2, 4), [2, 4], np.array([2, 4]), (2.0, 4.0)],
        [
            ((4, 2), "order"),
            ((3, 4), "third has failed"),
            ((4, 4), "third dot"),
            ((2, 3), "fourth dot"),
            ((2, 2), "compares with 1"),
            ((3, 3), "each dot with its square"),
            ((1, 4), "first number"),
            (2, "pair"),
        ],
    ),
}
