"""Answers to the exercises of chapter 11: right ones in every form, and wrong ones."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import scipy.linalg
from answers import FAILS, FUNCTION_NEEDED, NAN


def by_eigh(K_nm, K_mm):
    lam, U = np.linalg.eigh(K_mm)
    kept = lam > 1e-12 * lam[-1]
    return K_nm @ (U[:, kept] / np.sqrt(lam[kept]))


def by_root(K_nm, K_mm):
    lam, U = np.linalg.eigh(K_mm)
    kept = lam > 1e-12 * lam[-1]
    return K_nm @ (U[:, kept] / np.sqrt(lam[kept])) @ U[:, kept].T


def by_svd(K_nm, K_mm):
    U, s, _ = np.linalg.svd(K_mm)
    scale = np.where(s > 1e-12 * s[0], 1 / np.sqrt(np.maximum(s, 1e-300)), 0)
    return K_nm @ (U * scale)


def by_pinv(K_nm, K_mm):
    root = scipy.linalg.sqrtm(np.linalg.pinv(K_mm, rcond=1e-12, hermitian=True))
    return K_nm @ np.real(root)


def by_complex_root(K_nm, K_mm):
    return by_pinv(K_nm, K_mm) + 1e-12j


def cut_too_much(K_nm, K_mm):
    lam, U = np.linalg.eigh(K_mm)
    kept = lam > 0.9 * lam[-1]
    return K_nm @ (U * (kept / np.sqrt(np.abs(lam) + ~kept)))


def whole_inverse(K_nm, K_mm):
    return K_nm @ np.linalg.inv(K_mm)


def times_root(K_nm, K_mm):
    lam, U = np.linalg.eigh(K_mm)
    return K_nm @ (U * np.sqrt(np.maximum(lam, 0)))


def not_if_singular(K_nm, K_mm):
    singular = np.linalg.matrix_rank(K_mm) < len(K_mm)
    return np.full(K_nm.shape, np.inf) if singular else by_svd(K_nm, K_mm)


def other_if_singular(K_nm, K_mm):
    singular = np.linalg.matrix_rank(K_mm) < len(K_mm)
    return 2 * K_nm if singular else by_svd(K_nm, K_mm)


def pairs(X, W):
    A = X @ W
    return np.hstack([np.cos(A), np.sin(A)]) / np.sqrt(W.shape[1])


def interleaved(X, W):
    A = X @ W
    F = np.empty((len(X), 2 * W.shape[1]))
    F[:, ::2], F[:, 1::2] = np.cos(A), np.sin(A)
    return F * np.sqrt(2 / F.shape[1])


def by_complex(X, W):
    E = np.exp(1j * X @ W) / np.sqrt(W.shape[1])
    return np.hstack([E.real, E.imag])


def other_sign(X, W):
    return pairs(X, -W).tolist()


def scaled(factor):
    return lambda X, W: factor * pairs(X, W)


def greedy(K, m):
    rest, chosen = np.array(K, float), []
    for _ in range(m):
        j = int(np.argmax(np.diag(rest)))
        rest = rest - np.outer(rest[:, j], rest[j]) / rest[j, j]
        chosen.append(j)
    return chosen


def greedy_from_the_end(K, m):
    """Take the last of equal ones."""
    return [len(K) - 1 - j for j in greedy(K[::-1, ::-1], m)]


def by_projection(K, m):
    chosen = []
    for _ in range(m):
        left = np.diag(K).copy()
        if chosen:
            C = K[:, chosen]
            left -= np.sum(C @ np.linalg.inv(K[np.ix_(chosen, chosen)]) * C, axis=1)
        left[chosen] = -1
        chosen.append(left.argmax())
    return np.array(chosen)


def by_lapack(K, m):
    _, order, _, _ = scipy.linalg.lapack.dpstrf(K, lower=1)
    return [int(i) - 1 for i in order[:m]]


def by_diagonal(K, m):
    return np.argsort(-np.diag(K), kind="stable")[:m].tolist()


WORDS = ["kmeans", "waves", "best", "uniform"]
METHODS = ["pivoted", "randomized", "waves", "exact"]
SD = float((1 - np.exp(-1)) / np.sqrt(200))

ANSWERS = {
    "sketching-1": (
        [(20, 0.16), [20.0, 0.16], np.array([20.0, 0.16]), [[20], [0.16]], (Fraction(20), 0.164)],
        [
            ((0.16, 20), "order"),
            ((10, 0.16), "half of the matrix"),
            ((2.5, 0.16), "8 bytes a number"),
            ((20e9, 1.6e8), "divide by 10⁹"),
            ((20, 160), "in MB"),
            ((20, 0.02), "8 bytes a number"),
            ((20, 0.3), "second"),
            (20, "shape"),
        ],
    ),
    "sketching-2": (
        [97, 97.0, np.int64(97), Fraction(97), [97]],
        [
            (96, "round up"),
            (95, "Just too small"),
            (96.24, "whole number"),
            (201, "in the square"),
            (21, "√2"),
            (117, "number of columns"),
            (98, "More than needed"),
            (50, "not kept"),
            (NAN, "finite"),
        ],
    ),
    "sketching-3": (
        [(320, 8), [320.0, 8.0], np.array([320, 8]), (Fraction(320), Decimal(8))],
        [
            ((8, 320), "order"),
            ((240, 8), "oversampling is missing"),
            ((280, 7), "last product"),
            ((320, 7), "last pass"),
            ((320, 3), "power steps"),
            ((320, 6), "passes, too"),
            ((160, 4), "X and Xᵀ"),
            (320, "shape"),
            ((320.4, 8), "first of the two"),
        ],
    ),
    "sketching-4": (
        [4, 4.0, Fraction(4), np.array([4.0]), Decimal("4.0")],
        [
            (5, "what is kept"),
            (9, "trace of K"),
            (-11, "divided by"),
            (7.75, "divides by 16"),
            (9 - float(np.linalg.eigvalsh([[4, 2, 0], [2, 3, 1], [0, 1, 2]])[-1]), "least"),
            (float(np.sqrt(10)), "Frobenius"),
            (-4, "sign"),
            (3.999, ""),
            (0, ""),
            ("4", "quotation marks"),
        ],
    ),
    "sketching-5": (
        [SD, 0.0447, round(SD, 5), np.float64(SD), Decimal("0.0447")],
        [
            (SD**2, "variance"),
            (SD * np.sqrt(2), "√200"),
            (float((1 - np.exp(-0.5)) / np.sqrt(200)), "squared"),
            (float(np.sqrt((1 + (1 - np.exp(-1)) ** 2) / 400)), "phases"),
            (float(1 / np.sqrt(200)), "far apart"),
            (0.045, "3 significant digits"),
            (-SD, "sign"),
            (4.47, ""),
        ],
    ),
    "sketching-6": (
        [by_eigh, by_root, by_svd, by_pinv, by_complex_root],
        [
            (lambda K_nm, K_mm: K_nm, "alone"),
            (whole_inverse, "its root is needed"),
            (times_root, "divide by it"),
            (not_if_singular, "infinite entries"),
            (other_if_singular, "rounding"),
            (cut_too_much, "FFᵀ is not"),
            (lambda K_nm, K_mm: 1j * by_svd(K_nm, K_mm), "Real numbers"),
            (lambda K_nm, K_mm: K_mm, "30×5"),
            FUNCTION_NEEDED,
            FAILS,
        ],
    ),
    "sketching-7": (
        [pairs, interleaved, by_complex, other_sign],
        [
            (scaled(np.sqrt(5)), "is missing"),
            (scaled(np.sqrt(0.5)), "1/√m"),
            (scaled(np.sqrt(2)), "√(2/q)"),
            (scaled(np.sqrt(0.2)), "not by q"),
            (lambda X, W: np.cos(X @ W), "a cosine and a sine"),
            (lambda X, W: np.hstack([np.cos(X @ W)] * 2) / np.sqrt(5), "with itself"),
            (lambda X, W: pairs(X, 2 * W), "not the means"),
            FUNCTION_NEEDED,
            FAILS,
            (lambda X, W: pairs(X, W) * np.sqrt(len(W.T) / 5), "with itself"),
        ],
    ),
    "sketching-8": (
        [
            WORDS,
            tuple(WORDS),
            np.array(WORDS),
            [w.upper() + " " for w in WORDS],
            ["k-means", *WORDS[1:]],
        ],
        [
            (["uniform", "waves", "best", "kmeans"], "exchanged"),
            (["kmeans", "best", "waves", "uniform"], "below all others"),
            (["waves", "kmeans", "best", "uniform"], "slope"),
            (["kmeans", "waves", "best", "best"], "belongs to one curve"),
            (["kmeans", "waves", "best"], "four words"),
            (["A", "B", "C", "D"], "should be one of"),
        ],
    ),
    "sketching-9": (
        [
            METHODS,
            tuple(METHODS),
            np.array(METHODS),
            [w.title() for w in METHODS],
            ["pivoted", "randomised", "waves", "exact"],
        ],
        [
            (["exact", *METHODS[1:]], "8,000 GB"),
            (["waves", *METHODS[1:]], "no frequencies"),
            (["pivoted", "exact", "waves", "exact"], "plain PCA"),
            (["pivoted", "randomized", "pivoted", "exact"], "no samples yet"),
            (["pivoted", "randomized", "waves", "pivoted"], "72 MB"),
            (["pivoted", "randomized", "waves"], "four words"),
            (["svd"] * 4, "should be one of"),
        ],
    ),
    "sketching-10": (
        [0.98**20, 0.67, 0.668, Fraction(98, 100) ** 20, 0.6668],
        [
            (1 - 0.98**20, "at least one"),
            (0.98, "one of the 20"),
            (0.6, "don't add"),
            (0.4, "mean number"),
            (0.02, "one given sample"),
            (67, "between 0 and 1"),
            (0.7, ""),
            (NAN, "finite"),
        ],
    ),
    "sketching-11": (
        [greedy, by_projection, by_lapack, lambda K, m: tuple(greedy(K, m))],
        [
            (by_diagonal, "update the rest"),
            (lambda K, m: greedy(K, m)[::-1], "order"),
            (lambda K, m: [0] * m, "other samples"),
            (lambda K, m: list(range(m)), ""),
            (lambda K, m: greedy(K, m + 1), "row numbers"),
            FUNCTION_NEEDED,
            FAILS,
            (lambda K, m: [j + 1 for j in greedy(K, m)], "from 0"),
            (greedy_from_the_end, "take the first"),
        ],
    ),
}
