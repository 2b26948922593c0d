"""Answers to the exercises of chapter 10: right ones in every form, and wrong ones."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN

SOFT = "soft"


def enet(C, a, l1, ridge, factor=0.5, weight=1.0, rounds=200, kind=SOFT, own=True, times=True):
    """The elastic net by coordinate descent, with the mistakes that people make."""
    c, b = C @ a if times else a, np.zeros(len(C))
    for _ in range(rounds):
        for j in range(len(C)):
            rest = c[j] - C[j] @ b + C[j, j] * b[j] * own
            if kind == SOFT:
                shrunk = np.sign(rest) * max(abs(rest) - factor * l1, 0)
            else:
                shrunk = rest if abs(rest) > factor * l1 else 0.0
            b[j] = shrunk / (C[j, j] + weight * ridge)
    return b


def net(**mistake):
    return lambda *problem: enet(*problem, **mistake)


def by_gradient(C, a, l1, ridge):
    """The same by proximal gradient steps."""
    step, b = 1 / (np.linalg.eigvalsh(C)[-1] + ridge), np.zeros(len(C))
    for _ in range(1000):
        b = b + step * (C @ (a - b) - ridge * b)
        b = np.sign(b) * np.maximum(np.abs(b) - step * l1 / 2, 0)
    return b


def until_it_stands(C, a, l1, ridge):
    """The same backwards, with the gradient kept up to date, until nothing moves."""
    b, g, moved = [0.0] * len(C), C @ a, 1.0  # g = C(a − b)
    while moved > 1e-7:
        moved = 0.0
        for j in reversed(range(len(C))):
            rest = g[j] + C[j, j] * b[j]
            new = max(rest - l1 / 2, 0) + min(rest + l1 / 2, 0)
            new /= C[j, j] + ridge
            g = g - C[:, j] * (new - b[j])
            moved, b[j] = max(moved, abs(new - b[j])), new
    return b


def by_all_signs(C, a, l1, ridge):
    """The same by trying all supports and signs."""
    Q, c, best, least = C + ridge * np.eye(len(C)), C @ a, np.zeros(len(C)), 0.0
    for signs in np.ndindex(*(3,) * len(C)):
        s = np.array(signs) - 1.0
        T = np.flatnonzero(s)
        b = np.zeros(len(C))
        b[T] = np.linalg.solve(Q[np.ix_(T, T)], c[T] - l1 / 2 * s[T])
        value = b @ Q @ b - 2 * c @ b + l1 * np.abs(b).sum()
        if np.all(b * s >= 0) and value < least:
            best, least = b, value
    return best[:, None]


def ridge_only(C, a, l1, ridge):
    return np.linalg.solve(C + ridge * np.eye(len(C)), C @ a)


def ridge_cut(C, a, l1, ridge):
    b = ridge_only(C, a, l1, ridge)
    return np.where(np.abs(b) > np.median(np.abs(b)), b, 0)


def unit_net(C, a, l1, ridge):
    b = enet(C, a, l1, ridge)
    return b / (np.linalg.norm(b) or 1)


def after_dividing(C, a, l1, ridge):
    b = np.zeros(len(C))
    for _ in range(200):
        for j in range(len(C)):
            new = (C[j] @ a - C[j] @ b + C[j, j] * b[j]) / (C[j, j] + ridge)
            b[j] = np.sign(new) * max(abs(new) - l1 / 2, 0)
    return b


def truncated(C, x, m, multiply=True, unit=True, modulus=True):
    y = C @ x if multiply else x
    keep = np.argsort(-np.abs(y) if modulus else -y, kind="stable")[:m]
    out = np.zeros(len(y))
    out[keep] = y[keep]
    return out / np.linalg.norm(out) if unit else out


def truncated_by_partition(C, x, m):
    y = x @ C
    y[np.argpartition(np.abs(y), -m)[:-m]] = 0
    return list(y / np.sqrt(y @ y))


def truncated_by_level(C, x, m):
    y = C @ x
    y = np.where(np.abs(y) >= np.sort(np.abs(y))[-m], y, 0)
    return (y / np.linalg.norm(y))[:, None]


def truncated_in_plain_python(C, x, m):
    y = [sum(c * e for c, e in zip(row, x, strict=True)) for row in C]
    level = sorted(map(abs, y))[-m]
    length = sum(e * e for e in y if abs(e) >= level) ** 0.5
    return tuple(e / length if abs(e) >= level else 0.0 for e in y)


def unit_then_cut(C, x, m):
    return truncated(C, x, m, unit=False) / np.linalg.norm(C @ x)


def two_steps(C, x, m):
    return truncated(C, truncated(C, x, m), m)


def soft_step(C, x, m):
    y = C @ x
    y = np.sign(y) * np.maximum(np.abs(y) - np.sort(np.abs(y))[-m - 1], 0)
    return y / np.linalg.norm(y)


def adjusted(X, B, center=True, ddof=0):
    Z = (X - X.mean(axis=0) if center else X) @ B
    return np.diag(np.linalg.qr(Z)[1]) ** 2 / (len(X) - ddof)


def by_cholesky(X, B):
    return np.diag(np.linalg.cholesky(B.T @ np.cov(X.T, ddof=0) @ B)) ** 2


def by_regression(X, B):
    Z = (X - X.mean(axis=0)) @ B
    rests = [z - Z[:, :j] @ np.linalg.lstsq(Z[:, :j], z)[0] for j, z in enumerate(Z.T)]
    return [float(rest @ rest / len(X)) for rest in rests]


def by_determinants(X, B):
    M = B.T @ np.cov(X.T, bias=True) @ B
    minors = [np.linalg.det(M[:j, :j]) for j in range(len(M) + 1)]
    return tuple(high / low for low, high in zip(minors, minors[1:], strict=False))


def shares(X, B):
    return adjusted(X, B) / np.var(X, axis=0).sum()


def thirteen(*others):
    return [m for m in range(2, 14) if m not in others]


WORDS = ["exact", "power", "joint", "threshold"]
FULL = np.linalg.eigvalsh([[3, 0, 2], [0, 4, 1], [2, 1, 3]])[-1]


def without_the_last(C, a, l1, ridge):
    """Hold the last loading at zero, as a loop that ends too early does."""
    b = np.zeros(len(C))
    b[:-1] = enet_of(C[:-1, :-1], (C @ a)[:-1], l1, ridge)
    return b


def enet_of(C, c, l1, ridge):
    b = np.zeros(len(c))
    for _ in range(2000):
        for j in range(len(c)):
            rest = c[j] - C[j] @ b + C[j, j] * b[j]
            b[j] = np.sign(rest) * max(abs(rest) - l1 / 2, 0) / (C[j, j] + ridge)
    return b


# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "sparse-pca-1": (
        [0.7, 7 / (7 + 3), Fraction(7, 10), np.array(0.7), [0.7], Decimal("0.700"), 0.7004],
        [(0.3, "what is lost"), (7 / 3, "λ/ridge"), (1, "shorter"), (49 / 52, "square again")]
        + [(0.837, "square root"), (0.49, "Don't square"), (0.845, "not squared"), (70, "percent")]
        + [(0.786, "the length is squared"), (Fraction(10, 7), "turn the fraction"), (-0.7, "sign")]
        + [(0.538, "counts once"), (4.9, "length 7"), (0.5, ""), (NAN, "finite")]
        + [(0.71, ""), (0.702, "Close"), ("0.7", "quotation marks")],
    ),
    "sparse-pca-2": (
        [[1.5, 0, -3, 0], (1.5, 0.0, -3.0, 0.0), np.array([1.5, -0.0, -3, 0])]
        + [[Fraction(3, 2), 0, -3, 0], np.array([[1.5], [0], [-3], [0]]), [1.5, 1e-9, -3, 0]],
        [([0.5, 0, -2, 0], "l1/2"), ([2.5, 0, -4, 0], "cuts"), ([1.5, 0, 3, 0], "signs")]
        + [([1.5, -1.9, -5, -0.4], "towards zero"), ([1.5, 0, -3], "shape"), (3, "shape")]
        + [([2, -0.4, -3.5, 0.1], "l1/4"), ([-1.5, 0, 3, 0], "turned round"), ([0, 0, 0, 0], "")]
        + [([1.5, 0.1, -3, -0.4], "Stop at zero"), ([3.5, -1.9, -5, 1.6], "away")]
        + [
            ([0.447, 0, -0.894, 0], "scale"),
            ([1.51, 0, -3, 0], "Close"),
            ([1.5, 0, NAN, 0], "NaN"),
        ],
    ),
    "sparse-pca-3": (
        [5, 5.0, np.float64(5), Fraction(5), [5], np.array([5.0]), 4.9999999],
        [(4, "without covariance"), (7, "sum of two"), ((7 + 5**0.5) / 2, "second-best")]
        + [(4.62, "second-best"), (FULL, "all three"), (round(FULL, 2), "all three"), (5.6, "")]
        + [([0, 2], "features"), ((1, 3), "features"), ([0.71, 0, 0.71], "direction")]
        + [(1, "smallest"), (2.24, "standard deviation"), (10, "length one"), (3, "one feature")]
        + [(NAN, "finite"), (-5, "sign"), (5.02, "Close")],
    ),
    "sparse-pca-4": (
        [7.2, 2 * 3.6, Fraction(36, 5), [7.2], np.float32(7.2), Decimal("7.20")],
        [(3.6, "factor 2"), (6.8, "Another entry"), (10.0, "not the length"), (1.6, "second")]
        + [(2 * np.hypot(3.4, np.hypot(0.8, 3.6)), "not the length"), (15.6, "not the sum")]
        + [(7.8, "not the sum"), (1.8, "don't divide"), (7, ""), ([6.8, 1.6, 7.2], "One number")]
        + [(7.22, "Close"), (NAN, "finite")],
    ),
    "sparse-pca-5": (
        [enet, by_gradient, until_it_stands, by_all_signs, lambda *p: tuple(enet(*p).round(6))],
        [(net(kind="hard"), "hard threshold"), (net(kind="hard", factor=1), "hard threshold")]
        + [(net(kind="hard", factor=0.7), "leaves the others"), (ridge_cut, "ridge solution, cut")]
        + [(net(factor=1), "twice too large"), (net(factor=0.25), "too small")]
        + [(net(weight=0), "ridge is missing"), (ridge_only, "no threshold")]
        + [(net(factor=0), "no threshold"), (net(rounds=1), "round 1: go on")]
        + [(net(rounds=3), "round 3: go on"), (net(own=False), "add C[j, j] b[j] back")]
        + [(net(times=False), "Ca, not a"), (net(weight=2), "counts once")]
        + [(net(weight=0.5), "counts whole"), (after_dividing, "then divide")]
        + [(unit_net, "length one"), (lambda *p: -enet(*p), "sign")]
        + [
            (lambda C, a, l1, ridge: a, "no minimum"),
            (lambda C, *_: np.zeros(len(C)), "no minimum"),
        ]
        + [(lambda *p: enet(*p).round(3), ""), (lambda *p: enet(*p)[:2], "shape")]
        + [FUNCTION_NEEDED, FAILS, (without_the_last, "no minimum")],
    ),
    "sparse-pca-6": (
        [truncated, truncated_by_partition, truncated_by_level, truncated_in_plain_python],
        [(lambda C, x, m: -truncated(C, x, m), "sign is turned round"), FUNCTION_NEEDED, FAILS]
        + [(lambda C, x, m: np.abs(truncated(C, x, m)), "signs are lost")]
        + [(lambda C, x, m: truncated(C, x, m, unit=False), "normalise")]
        + [(unit_then_cut, "after the cut"), (two_steps, "two steps"), (soft_step, "soft")]
        + [(lambda C, x, m: C @ x / np.linalg.norm(C @ x), "non-zero")]
        + [(lambda C, x, m: truncated(C, x, m, multiply=False), "multiply by C first")]
        + [(lambda C, x, m: truncated(C, x, m, modulus=False), "moduli")]
        + [(lambda C, x, m: truncated(C, x, m + 1), "one entry too many")]
        + [(lambda C, x, m: truncated(C, x, len(x) - m), "keep m")]
        + [(lambda C, x, m: truncated(C, x, m) * 2, "length 2")]
        + [(lambda C, x, m: np.ones(len(x)), "are non-zero")]
        + [(lambda C, x, m: truncated(C, np.linalg.eigh(C)[1][:, -1], m), "")]
        + [
            (lambda C, x, m: truncated(C, x, m)[:2], "shape"),
            (lambda C, x, m: truncated(C, x, m).round(5), "Close"),
        ],
    ),
    "sparse-pca-7": (
        [adjusted, by_cholesky, by_regression, by_determinants],
        [(lambda X, B: np.var(X @ B, axis=0), "plain"), FUNCTION_NEEDED, FAILS]
        + [(lambda X, B: adjusted(X, B, ddof=1), "n − 1")]
        + [(lambda X, B: adjusted(X, B)[:1], "shape")]
        + [(lambda X, B: adjusted(X, B) * len(X), "Divide by n")]
        + [(lambda X, B: np.sqrt(adjusted(X, B)), "Square")]
        + [(lambda X, B: -np.sqrt(adjusted(X, B) * len(X)), "Square")]
        + [(lambda X, B: adjusted(X, B, center=False), "centred")]
        + [(lambda X, B: adjusted(X, B[:, ::-1])[::-1], "those before")]
        + [(lambda X, B: adjusted(X, B)[::-1], "reversed")]
        + [(lambda X, B: np.cumsum(adjusted(X, B)), "sums"), (shares, "shares")]
        + [(lambda X, B: 100 * shares(X, B), "percentages")]
        + [(lambda X, B: -adjusted(X, B), "never negative")]
        + [(lambda X, B: adjusted(X, B) * 1.000005, "Close")],
    ),
    "sparse-pca-8": (
        [7.56, 9 * (1 - 0.16), Fraction(189, 25), np.array([7.56]), (7.56,), 7.5601],
        [(9, "plain"), (5.4, "square"), (1.44, "explains"), (5, "subtract"), (3.36, "first one")]
        + [(0.84, "share"), (84, "percentage"), (2.52, "root"), (2.75, "standard deviation")]
        + [(8.25, "No root"), (11.56, "sum of both"), (4, "first one"), (10.44, "Subtract r²")]
        + [([4, 7.56], "One number"), (7.6, "Close"), (7, ""), (NAN, "finite")],
    ),
    "sparse-pca-9": (
        [-1, -1.0, np.int64(-1), [-1], Fraction(-1), np.linalg.eigvalsh([[0, 2], [2, 3]])[0]],
        [(0, "projection"), (4, "largest"), (1, "before"), (5 / 3, "Schur"), (-4, "determinant")]
        + [(5, "before"), (3, "trace"), (0.438, "not bbᵀ"), (-2.7, "no eigenvector")]
        + [([-1, 4], "One number"), (-1.02, "Close"), (2, ""), (NAN, "finite")],
    ),
    "sparse-pca-10": (
        [[3, 4], (3.0, 4.0), np.array([4, 3]), {3, 4}, range(3, 5), np.array([[3], [4]])],
        [(thirteen(3, 4), "finds the best"), ([1, *thirteen(3, 4)], "finds the best")]
        + [([1, 3, 4], "all features tie"), (list(range(2, 13)), "compare supports")]
        + [(list(range(1, 13)), "compare supports"), ([2, 3], "places"), ([1, 2], "places")]
        + [([6, 8], "features"), ([3], "missing"), ([3, 4, 5], "too many"), ([], "compare")]
        + [(3, "list"), ("3, 4", "list"), (["3", "4"], "quotation marks"), ([3, 4.5], "whole")]
        + [([3, 4, 10, 11, 12], "moduli"), (range(3, 13), "small to large")]
        + [([NAN], "finite"), ([7, 11], "")],
    ),
    "sparse-pca-11": (
        [WORDS, tuple(WORDS), np.array(WORDS), [word.upper() for word in WORDS], " ".join(WORDS)]
        + [dict(enumerate(WORDS)), ", ".join(WORDS)],
        [(["power", "exact", "joint", "threshold"], "lawyer"), (["exact"], "four words")]
        + [(["exact", "exact", "joint", "threshold"], "geneticist"), (4, "four words")]
        + [(["exact", "power", "threshold", "joint"], "psychologist")]
        + [(["exact", "power", "joint", "joint"], "engineer")]
        + [(["exact", "power", "lasso", "threshold"], "should be one of")]
        + [([1, 2, 3, 4], "quotation marks")],
    ),
    "sparse-pca-12": (
        [("c", 33.4), ["c", 33.45], ("C", 33.44516), (" c ", np.float64(33.4)), ("c", [33.4])],
        [(("a", 33.4), "norm"), (("b", 33.4), "eigvalsh"), (("d", 33.4), "sixteenth")]
        + [(("c", 122), "plain"), (("c", 121.8), "plain"), (("c", 0.334), "per cent")]
        + [(("c", 4.35), "divide by the total"), (("c", 87.0), "PCA's"), (("c", 66.6), "left over")]
        + [(("c", 50), "see the hints"), (33.4, "pair"), ("c", "pair"), (("e", 33.4), "letters")]
        + [((33.4, "c"), "order"), (("c", NAN), "finite"), (("c", "33"), "marks")],
    ),
    "sparse-pca-13": (
        [(3, 2, 10), [3, 2, 10], np.array([3, 2, 10]), (3.0, 2.0, 9.96), np.array([[3, 2, 10]])],
        [((2, 3, 10), "order"), ((2, 2, 10), "b₁ is small"), ((3, 3, 10), "back at zero")]
        + [((3, 4, 10), "don't count"), ((4, 4, 10), "don't count"), ((1, 2, 10), "others")]
        + [((3, 2, 11), "axis"), ((3, 2, 5), "second loading"), ((3, 2, 0), "other end")]
        + [((3, 2, 8), "penalty is not right"), ((3, 5, 10), "number at ℓ = 2")]
        + [((3, 2), "shape"), (3, "shape"), ((3, 2, NAN), "NaN"), ((2, 4, 10), "Neither")],
    ),
}
