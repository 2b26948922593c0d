"""Answers to the exercises of chapter 12: right ones in every form, and wrong ones."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import scipy.linalg
from answers import FAILS, FUNCTION_NEEDED, NAN

from kpca_edu.streaming import Moments, merge, summarize


def add_row(n, mean, scatter, x, factor=None, by=1):
    delta = x - mean
    factor = n / (n + 1) if factor is None else factor
    return n + 1, mean + delta / (n + by), scatter + factor * np.outer(delta, delta)


def by_merge(n, mean, scatter, x):
    return merge(Moments(n, mean, scatter), summarize(x[None]))


def by_welford(n, mean, scatter, x):
    new = mean + (x - mean) / (n + 1)
    return [n + 1, new, scatter + np.outer(x - mean, x - new)]


def by_sums(n, mean, scatter, x):
    squares = scatter + n * np.outer(mean, mean) + np.outer(x, x)
    new = (n * mean + x) / (n + 1)
    return np.int64(n + 1), new.tolist(), squares - (n + 1) * np.outer(new, new)


def new_mean_twice(n, mean, scatter, x):
    new = mean + (x - mean) / (n + 1)
    return n + 1, new, scatter + np.outer(x - new, x - new)


def only_diagonal(n, mean, scatter, x):
    d = x - mean
    return n + 1, mean + d / (n + 1), scatter + np.diag(n / (n + 1) * d**2)


def without(total, part, gap=True, sign=-1):
    n = total.n - part.n
    mean = (total.n * total.mean - part.n * part.mean) / n
    delta = part.mean - mean
    term = n * part.n / total.n * np.outer(delta, delta) if gap else 0
    return Moments(n, mean, total.scatter - part.scatter + sign * term)


def by_negative_counts(total, part):
    n = total.n - part.n
    gap = part.mean - total.mean
    mean = total.mean - gap * part.n / n
    return Moments(
        n,
        mean,
        total.scatter - part.scatter - np.outer(gap, gap) * (total.n * part.n / n),
    )


def by_raw_sums(total, part):
    def raw(m):
        return m.scatter + m.n * np.outer(m.mean, m.mean)

    n = total.n - part.n
    mean = (total.n * total.mean - part.n * part.mean) / n
    return Moments(n, mean, raw(total) - raw(part) - n * np.outer(mean, mean))


def lower(total, part):
    m = without(total, part)
    return Moments(int(m.n), m.mean.copy(), (m.scatter + m.scatter.T) / 2)


def stacked(Ra, Rb):
    return np.linalg.qr(np.vstack([Ra, Rb]), mode="r")


def by_svd(Ra, Rb):
    _, s, Vt = np.linalg.svd(np.vstack([Rb, Ra]), full_matrices=False)
    return s[:, None] * Vt


def by_cholesky(Ra, Rb):
    square = Ra.T @ Ra + Rb.T @ Rb
    return np.linalg.cholesky(square + 1e-15 * np.eye(12)).T


def by_eigenvectors(Ra, Rb):
    lam, V = np.linalg.eigh(Ra.T @ Ra + Rb.T @ Rb)
    return np.sqrt(np.maximum(lam, 0))[:, None] * V.T


LIMIT = 3.75 + 2.5 / 3

ANSWERS = {
    "streaming-1": (
        [5, 5.0, Fraction(200, 40), [5.0], np.float64(5), Decimal(5)],
        [
            (2, "leaves out the gap"),
            (200, "divide by n"),
            (5.13, "n − 1"),
            (2.75, "squared"),
            (122, "divide by 40"),
            (2.4, "needs its factor"),
            (10, "half of n"),
            ("5", "quotation marks"),
        ],
    ),
    "streaming-2": (
        [add_row, by_merge, by_welford, by_sums],
        [
            (lambda *a: add_row(*a, factor=1), "n/(n + 1) is missing"),
            (lambda *a: add_row(*a, by=0), "divide by the new count"),
            (new_mean_twice, "new mean"),
            (only_diagonal, "outer product"),
            (lambda n, mean, scatter, x: (n, mean, scatter), "the count is"),
            (lambda *a: add_row(*a, factor=0), "has not changed"),
            (lambda *a: add_row(*a)[:2], "three things"),
            FUNCTION_NEEDED,
            FAILS,
        ],
    ),
    "streaming-3": (
        [4, 4.0, Fraction(4), np.int64(4), -np.log10(1e-16 * 1e12), [4]],
        [
            (10, "squared"),
            (6, "0.1 and not 1"),
            (12, "are lost"),
            (-4, "how many digits"),
            (16, "before anything"),
            (4.5, "whole number"),
            (3, ""),
            (NAN, "finite number"),
        ],
    ),
    "streaming-4": (
        [100, 100.15, 100.2, 20_000 * 0.04 / 8 + 0.15, np.float64(100.14), Decimal("100.15")],
        [
            (800, "there are eight"),
            (300, "one after the other"),
            (125, "levels of the tree"),
            (6400, "divide by 8"),
            (5e9, "files, and not rows"),
            (99, "Close"),
            ([1, 2], "number is needed"),
        ],
    ),
    "streaming-5": (
        [89, 88.9, Fraction(800, 9), 90, 88, np.int64(89)],
        [
            (80, "begins"),
            (81, "begins"),
            (98, "half-way"),
            (9, "count from the start"),
            (50, ""),
            ("89", "quotation marks"),
            (None, "number is needed"),
        ],
    ),
    "streaming-6": (
        [(5, 81), [5.0, 81.0], np.array([5, 81]), [[5], [81]], (Fraction(5), 81)],
        [
            ((4, 81), "all 100 blocks"),
            ((5, 80), "block 81 has variance"),
            ((5, 5), "kept from block to block"),
            ((5, 1), "collected so far"),
            ((5, 100), "look at block 81"),
            ((81, 5), "their order is not"),
            ((0.2, 81), "inverse"),
            ((7, 81), "first of the two"),
            (5, "shape"),
            ((5, 81.4), "second of the two"),
            ((5.04, 81), "first of the two"),
        ],
    ),
    "streaming-7": (
        [without, by_negative_counts, by_raw_sums, lower],
        [
            (lambda t, p: without(t, p, gap=False), "still in the scatter"),
            (lambda t, p: without(t, p, sign=1), "added, or too large"),
            (
                lambda t, p: Moments(t.n - p.n, t.mean - p.mean, t.scatter - p.scatter),
                "Means don't subtract",
            ),
            (lambda t, p: Moments(t.n - p.n, t.mean, t.scatter), "The mean is not right"),
            (merge, "without"),
            (lambda t, p: (t.n - p.n, t.mean, t.scatter), "return Moments"),
            FUNCTION_NEEDED,
            FAILS,
        ],
    ),
    "streaming-8": (
        [
            ["moments", "frequent", "oja", "qr"],
            ("moments", "frequent", "oja", "qr"),
            ["Moments", "Frequent ", "Oja", "QR"],
            ["moments", "frequent directions", "oja", "qr"],
            np.array(["moments", "frequent", "oja", "qr"]),
        ],
        [
            (["qr", "frequent", "oja", "qr"], "extra cost"),
            (["oja", "frequent", "oja", "qr"], "2,500 numbers"),
            (["moments", "oja", "oja", "qr"], "not independent"),
            (["moments", "moments", "oja", "qr"], "1,280 GB"),
            (["moments", "frequent", "frequent", "qr"], "no room"),
            (["moments", "frequent", "oja", "moments"], "below 1e-8"),
            (["moments", "frequent", "oja", "svd"], "one of moments, oja"),
            ("moments", "four words"),
            ([1, 2, 3, 4], "quotation marks"),
        ],
    ),
    "streaming-9": (
        [(4, np.sqrt(7)), [4, 2.65], np.array([4, 2.6458]), [[4.0], [2.65]]],
        [
            ((2, 1), "Subtract squares"),
            ((16, 7), "take roots"),
            ((5, 4), "cutting, and not shrinking"),
            ((3, 0), "not that of the second"),
            ((np.sqrt(21), np.sqrt(12)), "fourth"),
            ((2.65, 4), "their order is not"),
            ((4, 0), "16 − 9"),
            ((4, 2.6), "close"),
            (4, "shape"),
        ],
    ),
    "streaming-10": (
        [(0.25, LIMIT), [0.25, 4.58], np.array([0.25, 4.583]), (Fraction(1, 4), Fraction(55, 12))],
        [
            ((0.5, LIMIT), "factor 2"),
            ((0.1, LIMIT), "λ₁ − λ₂ = 2"),
            ((0.125, LIMIT), "smallest gap"),
            ((4, LIMIT), "inverse"),
            ((0.25, 3.75), "all other directions"),
            ((0.25, 4.17), "two directions"),
            ((0.25, 4.375), "best rate"),
            ((0.25, 9.17), "c is squared"),
            ((LIMIT, 0.25), "their order is not"),
        ],
    ),
    "streaming-11": (
        [
            stacked,
            by_svd,
            lambda a, b: -stacked(b, a),
            lambda a, b: scipy.linalg.qr(np.vstack([a, b]), mode="economic")[1],
        ],
        [
            (by_cholesky, "small singular values are lost"),
            (by_eigenvectors, "small singular values are lost"),
            (lambda a, b: a + b, "don't add"),
            (lambda a, b: a.T @ a + b.T @ b, "return R itself"),
            (lambda a, b: a, "large singular values"),
            (lambda a, b: np.diag(np.linalg.svd(np.vstack([a, b]))[1]), "RᵀR is not the sum"),
            (lambda a, b: np.vstack([a, b]), "shape should be (12, 12)"),
            FUNCTION_NEEDED,
            FAILS,
        ],
    ),
}
