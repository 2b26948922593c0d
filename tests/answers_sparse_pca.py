"""Answers to the exercises of chapter 8: right ones in every form, and wrong ones."""

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN


def enet(C, a, l1, ridge, factor=0.5, ridged=True, rounds=3000):
    """The elastic net by coordinate descent, with the mistakes that people make."""
    c, b = C @ a, np.zeros(len(C))
    for _ in range(rounds):
        for j in range(len(C)):
            rest = c[j] - C[j] @ b + C[j, j] * b[j]
            shrunk = np.sign(rest) * max(abs(rest) - factor * l1, 0)
            b[j] = shrunk / (C[j, j] + ridge * ridged)
    return b


def by_gradient(C, a, l1, ridge):
    """The same by proximal gradient steps."""
    step, b = 1 / (np.linalg.eigvalsh(C)[-1] + ridge), np.zeros(len(C))
    for _ in range(20_000):
        b = b + step * (C @ (a - b) - ridge * b)
        b = np.sign(b) * np.maximum(np.abs(b) - step * l1 / 2, 0)
    return b


def truncated(C, x, m, multiply=True, unit=True, modulus=True):
    y = C @ x if multiply else x
    keep = np.argsort(-np.abs(y) if modulus else -y, kind="stable")[:m]
    out = np.zeros(len(y))
    out[keep] = y[keep]
    return out / np.linalg.norm(out) if unit else out


def adjusted(X, B, center=True, ddof=0):
    Z = (X - X.mean(axis=0) if center else X) @ B
    return np.diag(np.linalg.qr(Z)[1]) ** 2 / (len(X) - ddof)


def by_cholesky(X, B):
    return np.diag(np.linalg.cholesky(B.T @ np.cov(X.T, ddof=0) @ B)) ** 2


# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "sparse-pca-1": (
        [0.7, 7 / 10, np.array(0.7)],
        [(0.3, "what is lost"), (7 / 3, "λ/ridge"), (1, "shorter"), (49 / 52, "square again")]
        + [(np.sqrt(0.7), "square root"), (0.5, ""), (NAN, "finite")],
    ),
    "sparse-pca-2": (
        [[1.5, 0, -3, 0], (1.5, 0.0, -3.0, 0.0), np.array([1.5, -0.0, -3, 0])],
        [([0.5, 0, -2, 0], "l1/2"), ([2.5, 0, -4, 0], "cuts"), ([1.5, 0, 3, 0], "signs")]
        + [([1.5, -1.9, -5, -0.4], "towards zero"), ([1.5, 0, -3], "shape"), (3, "shape")],
    ),
    "sparse-pca-3": (
        [5, 5.0, np.float64(5)],
        [(4, "without covariance"), (7, "sum of two"), ((7 + 5**0.5) / 2, "second-best")]
        + [(5.618, ""), ([0, 2], "features"), (NAN, "finite")],
    ),
    "sparse-pca-4": (
        [7.2, 2 * 3.6],
        [
            (3.6, "factor 2"),
            (6.8, "Another entry"),
            (2 * np.hypot(3.4, np.hypot(0.8, 3.6)), "entry"),
        ]
        + [(1.6, "second loading"), (15.6, "not the sum"), (7, "")],
    ),
    "sparse-pca-5": (
        [enet, by_gradient],
        [(lambda *p: enet(*p, factor=1), "twice too large"), FUNCTION_NEEDED, FAILS]
        + [(lambda *p: enet(*p, factor=0.25), "too small"), (lambda *p: enet(*p)[:2], "shape")]
        + [(lambda *p: enet(*p, ridged=False), "ridge is missing")]
        + [(lambda *p: enet(*p, factor=0), "no threshold")]
        + [(lambda *p: enet(*p, rounds=1), "enough")],
    ),
    "sparse-pca-6": (
        [truncated, lambda C, x, m: -truncated(C, x, m)],
        [(lambda C, x, m: truncated(C, x, m, unit=False), "normalise"), FUNCTION_NEEDED, FAILS]
        + [(lambda C, x, m: C @ x / np.linalg.norm(C @ x), "non-zero")]
        + [(lambda C, x, m: truncated(C, x, m, multiply=False), "multiply by C first")]
        + [(lambda C, x, m: truncated(C, x, m, modulus=False), "moduli")]
        + [(lambda C, x, m: truncated(C, x, m)[:2], "shape")],
    ),
    "sparse-pca-7": (
        [adjusted, by_cholesky],
        [(lambda X, B: np.var(X @ B, axis=0), "plain"), FUNCTION_NEEDED, FAILS]
        + [
            (lambda X, B: adjusted(X, B, ddof=1), "n − 1"),
            (lambda X, B: adjusted(X, B)[:1], "shape"),
        ]
        + [(lambda X, B: adjusted(X, B) * len(X), "Divide by n")]
        + [(lambda X, B: np.sqrt(adjusted(X, B)), "Square")]
        + [(lambda X, B: adjusted(X, B, center=False), "centred")],
    ),
    "sparse-pca-8": (
        [7.56, 9 * (1 - 0.16)],
        [(9, "plain"), (5.4, "square"), (1.44, "explains"), (5, "subtract"), (3.36, "first one")]
        + [(7, ""), (NAN, "finite")],
    ),
    "sparse-pca-9": (
        [-1, -1.0, np.int64(-1)],
        [(0, "projection"), (4, "largest"), (1, "before"), (5 / 3, "Schur"), (-4, "determinant")]
        + [(2, ""), (NAN, "finite")],
    ),
    "sparse-pca-10": (
        [[3, 4], (3.0, 4.0), np.array([4, 3])],
        [([k for k in range(1, 14) if k not in (3, 4)], "where it finds")]
        + [(list(range(2, 13)), "compare supports"), ([3], ""), ([], ""), (3, "list")]
        + [(["a"], "list"), ([3, 4, 5.5], "")],
    ),
}
