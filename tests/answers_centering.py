"""Answers to the exercises of chapter 6: right ones in every form, and wrong ones."""

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN

K3 = np.array([[9.0, 3.0, 0.0], [3.0, 5.0, 1.0], [0.0, 1.0, 5.0]])
J3 = np.eye(3) - 1 / 3
R3 = K3.mean(axis=1, keepdims=True)
TRIANGLE = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
B3 = -J3 @ TRIANGLE**2 @ J3 / 2


def times(K, x):
    y = K @ (x - x.mean())
    return y - y.mean()


def times_by_sums(K, x):
    n = len(x)
    r = K @ np.ones(n) / n
    return K @ x - r * x.sum() - (r @ x) + r.mean() * x.sum()


def scores(K_test, K_train, alpha):
    return K_test @ alpha - K_train.mean(axis=0) @ alpha


def scores_in_full(K_test, K_train, alpha):
    new = K_test.mean(axis=1, keepdims=True)
    return (K_test - K_train.mean(axis=0) - new + K_train.mean()) @ alpha


def mds(D, k, half=0.5, root=True, order=-1, square=True):
    J = np.eye(len(D)) - 1 / len(D)
    lam, A = np.linalg.eigh(-half * J @ (D**2 if square else D) @ J)
    lam, A = lam[::order], A[:, ::order]
    return A[:, :k] * (np.sqrt(np.abs(lam[:k])) if root else 1)


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


# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "centering-1": (
        [J3 @ K3 @ J3, [[4, -1, -3], [-1, 2, -1], [-3, -1, 4]]],
        [(K3, "K itself"), (K3 - R3 - R3.T, "added once"), (K3 - R3, "columns still")]
        + [(K3 - R3.T, "rows still"), (K3 - 3, "from each"), (K3 - R3 - R3.T - 3, "not taken away")]
        + [(K3[:2], "shape"), (NAN * K3, "NaN")],
    ),
    "centering-2": (
        [[2, 0, -2], np.array([[2.0, 0.0, -2.0]]), (2, 0, -2)],
        [([0, 0, 0], "not by itself"), ([3, 1, -1], "enough for scores"), ([3, 0, -3], "alone")]
        + [([-1, -3, -5], "has to be added"), ([6, 4, 2], "new row is still"), ([7, 4, 1], "")]
        + [([2, 0], "shape"), (NAN, "shape")],
    ),
    "centering-3": (
        [11, 11.0],
        [(12, "smaller"), (2, "not limited"), (1, "is lost"), (10, "Only one"), (13, "")]
        + [(NAN, "finite")],
    ),
    "centering-4": (
        [0.65, np.float64(0.65)],
        [(0.35, "how much does it leave"), (1, "before centring"), (26, "divide by n")]
        + [(39.65, "not once"), (np.sqrt(0.65), "root"), ("0.65", "number is needed")],
    ),
    "centering-5": (
        [times, times_by_sums, lambda K, x: times(K, x)],
        [(lambda K, x: K @ x, "not centred"), (lambda K, x: K @ x - (K @ x).mean(), "on the right")]
        + [(lambda K, x: K @ (x - x.mean()), "on the left"), (lambda K, x: x, "")]
        + [(lambda K, x: times(K, x)[:2], "shape"), FUNCTION_NEEDED, FAILS],
    ),
    "centering-6": (
        [scores, scores_in_full, lambda T, K, a: (T - K.mean(axis=1)) @ a],
        [(lambda T, K, a: T @ a, "one constant")]
        + [(lambda T, K, a: (T - T.mean(axis=0)) @ a, "their own mean")]
        + [(lambda T, K, a: T @ a - K.sum(axis=0) @ a / len(T), "number of old samples")]
        + [(lambda T, K, a: T @ a + K.mean(axis=0) @ a, "sign")]
        + [(lambda T, K, a: T, "shape"), FUNCTION_NEEDED, FAILS],
    ),
    "centering-7": (
        [B3[0], [25 / 9, -2 / 9, -23 / 9], [2.7778, -0.2222, -2.5556], B3[:1]],
        [(-2 * B3[0], "factor −½"), (-B3[0], "sign"), (2 * B3[0], "factor ½")]
        + [(-(J3 @ TRIANGLE @ J3)[0] / 2, "Square"), ([0, -4.5, -8], "not centred")]
        + [(B3[1], ""), (25 / 9, "shape")],
    ),
    "centering-8": (
        [mds, mds_at_a_corner, lambda D, k: -mds(D, k), lambda D, k: mds(D, k) + 5],
        [
            (lambda D, k: mds(D, k, half=1), "1.414 times"),
            (lambda D, k: mds(D, k, root=False), "one"),
        ]
        + [(lambda D, k: mds(D, k, order=1)[:, :k] * 1e-6, "smallest")]
        + [(lambda D, k: mds(D, k, square=False), "should be"), (lambda D, k: D, "shape")]
        + [FUNCTION_NEEDED, FAILS],
    ),
    "centering-9": (
        [4, 4.0],
        [(-3, "κ itself"), (-4, "sign"), (-10, "negative itself"), (10, "first term")]
        + [(2, "twice"), (7, ""), (NAN, "finite")],
    ),
    "centering-10": (
        [-96, np.array(-96.0)],
        [
            (96, "minus"),
            (-48, "twice"),
            (-16, "binomial"),
            (-24, "square"),
            (0, "(x − y)²"),
            (NAN, "finite"),
        ],
    ),
    "centering-11": (
        [update, update_by_list],
        [
            (lambda *a: update(*a, size=0), "one sample more"),
            (lambda *a: update(*a, own=False), "new"),
        ]
        + [(lambda r, m, k, s: (np.append(r, k.mean()), m), "old rows")]
        + [(lambda *a: (update(*a)[0], a[1]), "mean of all"), (lambda *a: update(*a)[0], "pair")]
        + [(lambda *a: (a[0], a[1]), "shape"), FUNCTION_NEEDED, FAILS],
    ),
}
