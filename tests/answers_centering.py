"""Answers to the exercises of chapter 8: right ones in every form, and wrong ones."""

from fractions import Fraction

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN

K3 = np.array([[9.0, 3.0, 0.0], [3.0, 5.0, 1.0], [0.0, 1.0, 5.0]])
J3 = np.eye(3) - 1 / 3
R3 = K3.mean(axis=1, keepdims=True)
TRIANGLE = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
K3_REST = [[-1, 2, -1], [-3, -1, 4]]
B3 = -J3 @ TRIANGLE**2 @ J3 / 2


def times(K, x):
    y = K @ (x - x.mean())
    return y - y.mean()


def times_by_sums(K, x):
    n = len(x)
    r = K @ np.ones(n) / n
    return K @ x - r * x.sum() - (r @ x) + r.mean() * x.sum()


def times_by_matrix(K, x):
    J = np.eye(len(x)) - 1 / len(x)
    return J @ (K @ (J @ x))


def scores(K_test, K_train, alpha):
    return K_test @ alpha - K_train.mean(axis=0) @ alpha


def scores_in_full(K_test, K_train, alpha):
    new = K_test.mean(axis=1, keepdims=True)
    return (K_test - K_train.mean(axis=0) - new + K_train.mean()) @ alpha


def mds(D, k, factor=-0.5, scale=np.sqrt, order=-1, square=np.square):
    J = np.eye(len(D)) - 1 / len(D)
    lam, A = np.linalg.eigh(factor * J @ square(D) @ J)
    lam, A = lam[::order], A[:, ::order]
    return A[:, :k] * scale(np.maximum(lam[:k], 0))


def over_n(D, k):
    return mds(D, k, factor=-0.5 / len(D))


def mds_by_svd(D, k):
    r = (D**2).mean(axis=0)
    U, s, _ = np.linalg.svd((r[:, None] + r - r.mean() - D**2) / 2)
    return U[:, :k] * np.sqrt(s[:k])


def wrong_mds(**changes):
    return lambda D, k: mds(D, k, **changes)


def mds_at_a_corner(D, k):
    """Origin on the first point: other coordinates, the same distances."""
    G = (D[:1] ** 2 + D[:, :1] ** 2 - D**2) / 2
    lam, A = np.linalg.eigh(G)
    return A[:, -k:] * np.sqrt(lam[-k:])


def update(r, mean, k, k_self, size=1, own=True):
    n = len(r)
    last = (k.sum() + k_self * own) / (n + size)
    rows = np.append((n * r + k) / (n + size), last)
    return rows, rows.mean()


def update_by_list(r, mean, k, k_self):
    n = len(r)
    rows = [(n * a + b) / (n + 1) for a, b in zip(r, k, strict=True)]
    rows.append((sum(k) + k_self) / (n + 1))
    return [rows, (n * n * mean + 2 * sum(k) + k_self) / (n + 1) ** 2]


def update_by_loops(row_means, mean, k_new, k_self):
    n = len(row_means)
    rows = np.empty(n + 1)
    for i in range(n):
        rows[i] = row_means[i] + (k_new[i] - row_means[i]) / (n + 1)
    rows[n] = (np.sum(k_new) + k_self) / (n + 1)
    return rows, float(np.mean(rows))


def update_by_weights(r, mean, k, k_self):
    old, new = len(r) / (len(r) + 1), 1 / (len(r) + 1)
    return (
        np.concatenate([old * r + new * k, [old * k.mean() + new * k_self]]),
        old**2 * mean + 2 * old * new * k.mean() + new**2 * k_self,
    )


def seen_once(r, mean, k, k_self):
    n = len(r)
    return (n * n * mean + k.sum() + k_self) / (n + 1) ** 2


def roots_or_nan(lam):
    with np.errstate(invalid="ignore"):
        return np.sqrt(lam - 1e-12)


# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "centering-1": (
        [J3 @ K3 @ J3, [[4, -1, -3], [-1, 2, -1], [-3, -1, 4]], (J3 @ K3 @ J3).astype(np.float32)]
        + [
            tuple(map(tuple, (J3 @ K3 @ J3).round(9))),
            [[Fraction(4), -1, -3], [-1, 2, -1], [-3, -1, 4]],
        ],
        [(K3, "K itself"), (K3 - R3 - R3.T, "added once"), (K3 - R3, "columns still")]
        + [(K3 - R3.T, "rows still"), (K3 - 3, "from each"), (K3 - R3 - R3.T - 3, "not taken away")]
        + [(-J3 @ K3 @ J3, "sign"), (K3[:2], "shape"), (NAN * K3, "NaN")],
    ),
    "centering-2": (
        [[2, 0, -2], np.array([[2.0, 0.0, -2.0]]), (2, 0, -2), np.array([[2], [0], [-2]])]
        + [[Fraction(2), 0, Fraction(-2)]],
        [([0, 0, 0], "not by itself"), ([3, 1, -1], "enough for scores"), ([3, 0, -3], "alone")]
        + [([-1, -3, -5], "has to be added"), ([6, 4, 2], "new row is still")]
        + [([7, 4, 1], "as it came"), ([2, 0], "shape"), (NAN, "shape"), ("2, 0, -2", "marks")],
    ),
    "centering-3": (
        [11, 11.0, [11], np.int64(11), Fraction(11)],
        [(12, "smaller"), (2, "not limited"), (1, "is lost"), (10, "Only one"), (0, "different")]
        + [(11.4, ""), (13, ""), (NAN, "finite"), (11.04, "whole")],
    ),
    "centering-4": (
        ["BCDA", "bcda", "B, C, D, A", list("BCDA"), "1B 2C 3D 4A"],
        [("ABCD", "positive values only"), ("BCAD", "nowhere positive"), ("BDCA", "is symmetric")]
        + [("BCD", "letters are needed"), ("BBCA", "Four different"), ("BCDE", "Only the letters")]
        + [(None, "Letters are needed")],
    ),
    "centering-5": (
        ["C", "c", ["C"], "C.", ("c",)],
        [("A", "stay as it is"), ("B", "as they should be"), ("D", "once K_new is right")]
        + [("CD", "One letter"), ("E", "Only the letters"), ("", "Only the letters")]
        + [(3, "Letters are needed")],
    ),
    "centering-6": (
        [B3[0], [25 / 9, -2 / 9, -23 / 9], [2.7778, -0.2222, -2.5556], B3[:1], (2.78, -0.22, -2.56)]
        + [[Fraction(25, 9), Fraction(-2, 9), Fraction(-23, 9)], [2.78, -0.222, -2.56]],
        [(-2 * B3[0], "factor −½"), (-B3[0], "sign"), (2 * B3[0], "factor ½")]
        + [([5.56, -0.44, -5.11], "factor ½"), (B3[2], "third row"), (B3, "first row alone")]
        + [(-(J3 @ TRIANGLE @ J3)[0] / 2, "Square"), ([0, -4.5, -8], "not centred")]
        + [(-(J3 @ TRIANGLE @ TRIANGLE @ J3)[0] / 2, "each entry"), (B3[1], "second row")]
        + [
            (-(J3 @ TRIANGLE**2)[0] / 2, "on the right"),
            (-(TRIANGLE**2 @ J3)[0] / 2, "on the left"),
        ]
        + [(B3[0] + 50 / 9, "should sum to 0"), ([2.8, -0.2, -2.6], "3 significant digits")]
        + [([1, 2, 3], ""), (25 / 9, "shape"), ("25/9", "quotation marks")],
    ),
    "centering-7": (
        ["NGTDN", "ngtdn", list("NGTDN"), "N, G, T, D, N", tuple("ngtdn")],
        [("GGTDN", "Task 1"), ("NNTDN", "Task 2"), ("NGGDN", "Task 3"), ("NGNDN", "Task 3")]
        + [("NGTGN", "Task 4"), ("NGTDG", "Task 5"), ("NGTD", "Five letters")]
        + [("NGTDX", "Only the letters"), (5, "Letters are needed")],
    ),
    "centering-8": (
        [times, times_by_sums, lambda K, x: times(K, x), times_by_matrix],
        [(lambda K, x: K @ x, "not centred"), (lambda K, x: K @ x - (K @ x).mean(), "on the right")]
        + [(lambda K, x: K @ (x - x.mean()), "on the left"), (lambda K, x: x - x.mean(), "K is")]
        + [(lambda K, x: x, ""), (lambda K, x: K[0, 0] * x, "raised TypeError")]
        + [(lambda K, x: times(K, x)[:2], "shape"), FUNCTION_NEEDED, FAILS],
    ),
    "centering-9": (
        [scores, scores_in_full, lambda T, K, a: (T - K.mean(axis=1)) @ a]
        + [lambda T, K, a: [t @ a - K.sum(axis=0) @ a / len(K) for t in T]],
        [(lambda T, K, a: T @ a, "one constant")]
        + [(lambda T, K, a: (T - T.mean(axis=0)) @ a, "their own mean")]
        + [(lambda T, K, a: T @ a - K.sum(axis=0) @ a / len(T), "number of old samples")]
        + [(lambda T, K, a: T @ a - K.sum(axis=0) @ a, "take their means")]
        + [(lambda T, K, a: T @ a + K.mean(axis=0) @ a, "sign")]
        + [(lambda T, K, a: T, "shape"), FUNCTION_NEEDED, FAILS],
    ),
    "centering-10": (
        [mds, mds_at_a_corner, mds_by_svd, lambda D, k: -mds(D, k), lambda D, k: mds(D, k) + 5],
        [(wrong_mds(factor=-1.0), "1.4142 times"), (over_n, "divided by n")]
        + [(wrong_mds(scale=np.ones_like), "length one")]
        + [(wrong_mds(order=1), "smallest eigenvalues")]
        + [(wrong_mds(scale=lambda lam: lam), "take their roots")]
        + [(wrong_mds(scale=lambda lam: 1 / np.sqrt(lam)), "multiply by them")]
        + [(wrong_mds(square=lambda D: D), "Square the distances")]
        + [(wrong_mds(square=lambda D: D @ D), "D @ D is another matrix")]
        + [(wrong_mds(square=lambda D: D @ D, scale=roots_or_nan), "D @ D is another matrix")]
        + [(wrong_mds(factor=0.5), "No eigenvalue"), (lambda D, k: D[:, :k], "should be")]
        + [(lambda D, k: D, "shape"), FUNCTION_NEEDED, FAILS],
    ),
    "centering-11": (
        [(3, 4), [3, 4], np.array([3, 4]), (3.0, Fraction(4)), [[3], [4]]],
        [((4, 3), "other way round"), ((3, 3), "not in the column space"), ((4, 4), "first case")]
        + [((9, 9), "largest possible"), ((2, 4), "Only one"), ((7, 6), "null spaces")]
        + [((6, 6), "null spaces"), (3, "shape"), ("3, 4", "quotation marks"), ((3, NAN), "NaN")],
    ),
    "centering-12": (
        [np.sqrt(1.5), 1.22, 1.2247, [1.225], np.sqrt(6) / 2],
        [(1, "table says"), (1.15, "middle of a triangle"), (1.34, "adds a constant")]
        + [(1.5, "squared"), (0.612, "not 1"), (1.73, "scale it"), (-0.4, "eigenvalue")]
        + [(2, "between towns"), (1.2, "Close"), (1.41, "flips"), ("1.22", "number is needed")]
        + [(NAN, "finite")],
    ),
    "centering-13": (
        [4, 4.0, [4], np.array(4), Fraction(4)],
        [(-3, "κ itself"), (-4, "sign"), (-10, "negative itself"), (10, "first term")]
        + [(2, "twice"), (-1, "Both"), (7, ""), (4.2, ""), (NAN, "finite")],
    ),
    "centering-14": (
        [-96, np.array(-96.0), (-96,), Fraction(-96)],
        [(96, "minus"), (-48, "twice"), (-16, "binomial"), (-24, "square"), (0, "(x − y)²")]
        + [(4, "s = "), (-96.4, ""), (NAN, "finite")],
    ),
    "centering-15": (
        [update, update_by_list, update_by_loops, update_by_weights],
        [
            (lambda *a: update(*a, size=0), "one sample more"),
            (lambda *a: update(*a, own=False), "new row"),
            (lambda r, m, k, s: (np.append(len(r) * r + k, k.sum() + s), m), "divide by n + 1"),
            (lambda r, m, k, s: (update(r, m, k, s)[0], seen_once(r, m, k, s)), "stand in K twice"),
        ]
        + [(lambda r, m, k, s: (np.append(r, k.mean()), m), "old rows")]
        + [
            (lambda *a: (update(*a)[0], a[1]), "still the old one"),
            (lambda *a: update(*a)[0], "pair"),
        ]
        + [(lambda *a: (a[0], a[1]), "shape"), FUNCTION_NEEDED, FAILS],
    ),
}
