"""Answers to the exercises of chapter 18: right ones in every form, and wrong ones."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN
from scipy import linalg


def parts(W):
    return np.linalg.eigh(np.diag(W.sum(axis=1)) - W)


def eigenmap(W, k, power=0.5, first=1):
    lam, V = parts(W)
    return V[:, first : k + first] / np.abs(lam[first : k + first]) ** power


def rounded_early(W, k):
    return eigenmap(W, k).round(4)


def by_pseudo_inverse(W, k):
    lam, V = np.linalg.eigh(np.linalg.pinv(np.diag(W.sum(axis=1)) - W))
    return (V[:, ::-1] * np.sqrt(np.abs(lam[::-1])))[:, :k]


def by_scipy(W, k):
    lam, V = linalg.eigh(np.diag(W.sum(axis=1)) - W, subset_by_index=[1, k])
    return (-V / np.sqrt(lam)).tolist()


def by_svd(W, k):
    U, s, _ = np.linalg.svd(np.diag(W.sum(axis=1)) - W)
    return U[:, ::-1][:, 1 : k + 1] / np.sqrt(s[::-1][1 : k + 1])


def of_largest(W, k):
    lam, V = parts(W)
    return V[:, ::-1][:, :k] / np.sqrt(lam[::-1][:k])


def normalised(W, k):
    d = np.sqrt(W.sum(axis=1))
    return np.linalg.eigh((np.diag(d**2) - W) / np.outer(d, d))[1][:, 1 : k + 1] / d[:, None]


ANSWERS = {
    "relations-1": (
        [2.25, Fraction(9, 4), Decimal("2.25"), [2.25], np.float64(2.25)],
        [(4.5, "strong link"), (1.5, "square is asked"), (1 / 4.5, "side by side")]
        + [(4, "weights count"), (2, "second link"), (0.25, "first link"), (2.3, "3 significant")]
        + [(-2.25, "sign"), (NAN, "finite"), ("2.25", "quotation")],
    ),
    "relations-2": (
        [4, 4.0, [4], Fraction(4), np.int64(4)],
        [(1, "minimum"), (10, "hold"), (13, "best codes"), (9, "nothing is lost"), (2, "no root")]
        + [
            (5, "not two"),
            (4 / 3, "not averaged"),
            (2 / 7, "share"),
            (7, ""),
            (NAN, "finite"),
            (4.04, "whole"),
        ],
    ),
    "relations-3": (
        [6.12, 2.4**2 + 0.6**2, Fraction(153, 25), (6.12,), np.float64(6.1200001)],
        [(9, "cuts"), (18, "length of y"), (0.68, "not 1"), (2.474, "square is asked")]
        + [(3, "lengths"), (5.76, "not gone"), (6.1, "3 significant"), (2.04, "squares 9")]
        + [(1.53, "multiply by K"), (1.1, ""), (NAN, "finite")],
    ),
    "relations-4": (
        [3, 3.0, [3], np.int64(3), Fraction(3)],
        [(1, "connected"), (2, "drawn"), (0, "constant"), (27, "not zero"), (30, "would be zero")]
        + [(12, "number of pieces"), (5, ""), (NAN, "finite"), (3.04, "whole")],
    ),
    "relations-5": (
        [eigenmap, by_pseudo_inverse, by_scipy, by_svd],
        [(lambda W, k: eigenmap(W, k, 0), "root of its eigenvalue"), FAILS, FUNCTION_NEEDED]
        + [(lambda W, k: eigenmap(W, k, 1), "not by λ"), (of_largest, "largest")]
        + [(lambda W, k: eigenmap(W, k, -0.5), "multiplied")]
        + [(lambda W, k: eigenmap(W, k, 0, 0), "constant"), (normalised, "with weights")]
        + [(lambda W, k: eigenmap(W, k, 0.5, 0), "constant"), (rounded_early, "Close, but")]
        + [(lambda W, k: W[:, :k], ""), (lambda W, k: W, "shape")],
    ),
    "relations-6": (
        ["ce", "ec", "C, E", ["c", "e"], {"c", "e"}],
        [("ace", "a: each sample"), ("bce", "b: distances"), ("cde", "d: the axes")]
        + [("c", "One is missing"), ("e", "One is missing"), ("f", "a, b"), (3, "quotation")],
    ),
    "relations-7": (
        ["CTDSPI", "ctdspi", "C, T, D, S, P, I", list("CTDSPI"), np.array(list("CTDSPI"))],
        [("PTDSPI", "Task 1"), ("CPDSPI", "Task 2"), ("CTPSPI", "Task 3"), ("CTDTPI", "Task 4")]
        + [("CTDSTI", "Task 5"), ("CTDSPT", "Task 6"), ("CTDS", "Six letters"), (6, "quotation")]
        + [("XYZ", "Only the letters")],
    ),
    "relations-8": (
        [4, 4.0, [4], Fraction(4), np.float64(4)],
        [(5, "taken off"), (3.5, "leaves out the zero"), (2, "length"), (3, "mean of the other")]
        + [(1, "σ²"), (4.25, "n − k"), (16, "already"), (7, ""), (NAN, "finite"), (4.04, "whole")],
    ),
}
