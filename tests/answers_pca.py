"""Answers to the exercises of chapter 3: right ones in every form, and wrong ones."""

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN

from kpca_edu import centered_operator

FIRST = np.array([1.0, 2.0]) / np.sqrt(5)
SAMPLES = np.array([[6.0, 5.0], [2.0, -3.0], [6.0, 0.0], [2.0, 2.0]])
THRESHOLD = 14.064


def wide(X, k, center=True, unit=True, order=-1):
    """PCA by the Gram matrix, with the mistakes that people make."""
    Xc = X - X.mean(axis=0) if center else X
    lam, a = np.linalg.eigh(Xc @ Xc.T)
    lam, a = (lam[::-1], a[:, ::-1]) if order < 0 else (lam[1:], a[:, 1:])
    scale = np.sqrt(lam[:k]) if unit else 1
    return Xc.T @ (a[:, :k] / scale)


def by_svd(X, k):
    return -np.linalg.svd(X - X.mean(axis=0))[2][:k].T


def scatter_times(X, v):
    mean = np.asarray(X.sum(axis=0)).ravel() / X.shape[0]
    y = X @ v - mean @ v
    return X.T @ y - mean * y.sum()


def by_operator(X, v):
    A = centered_operator(X)
    return A.T @ (A @ v)


def makes_dense(X, v):
    Xc = X.toarray() - X.mean(axis=0)
    return Xc.T @ (Xc @ v)


def white(X, turn=True, ddof=0, center=True):
    Xc = X - X.mean(axis=0) if center else X
    lam, V = np.linalg.eigh(np.cov(X.T, ddof=ddof))
    W = Xc @ V / np.sqrt(lam)
    return W @ V.T if turn else W


def by_root(X):
    lam, V = np.linalg.eigh(np.cov(X.T, ddof=0))
    return (X - X.mean(axis=0)) @ (V * lam**-0.5) @ V.T


E, D = np.array([[1.0], [2.0]]), np.array([[1.0, 2.0]]) / 5
UNCENTRED = np.linalg.svd(SAMPLES)[2][0]

# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "pca-1": (
        [4, 4.0, np.float64(4)],
        [(100 / 24, "n − 1"), (100, "divide by n"), (0.4, "Square"), (2, "standard deviation")]
        + [(9, "first one"), (-4, ""), (NAN, "finite"), ("four", "number is needed")],
    ),
    "pca-2": (
        [325 / 350, 0.92857, np.array(13 / 14)],
        [(25 / 30, "square them"), (25 / 350, "lost"), (92.857142857, "percentage")]
        + [(np.sqrt(13 / 14), "root"), (0.9, ""), (NAN, "finite")],
    ),
    "pca-3": (
        [FIRST, -FIRST, FIRST.tolist(), FIRST[:, None], [0.4472, 0.8944]],
        [([1, 2], "length one, and yours has 2.236"), ([2 / 5**0.5, -(5**-0.5)], "second")]
        + [(UNCENTRED, "not centred"), ([1, 0], ""), ([1, 2, 3], "shape"), ([NAN, 1], "NaN")],
    ),
    "pca-4": (
        [[5, 3], (5.0, 3.0), np.array([5, 3])],
        [([1, 2], "missing at the end"), ([2.2, 4.4], "encoding and when decoding")]
        + [([6.2, 5.4], "when encoding"), ([7, 2], "itself"), ([5, 3, 0], "shape"), (5, "shape")],
    ),
    "pca-5": (
        [(E, D), [2 * E, D / 2], (-E, -D), (E.tolist(), D.tolist())],
        [((FIRST[:, None], FIRST[None]), "length one"), ((E, D * 5), "loss is")]
        + [((2 * E, D), "loss is"), (E, "pair"), ((E, D.T), "shape"), ((E[::-1], D), "loss is")]
        + [((E * NAN, D), "NaN")],
    ),
    "pca-6": (
        [29, 29.0, np.int64(29)],
        [(30, "add up to zero"), (1000, "zero"), (999, "samples"), (28, ""), (NAN, "finite")],
    ),
    "pca-7": (
        [wide, by_svd, lambda X, k: wide(X, k) * [1] + 0],
        [(lambda X, k: wide(X, k, center=False), "not been centred"), FAILS, FUNCTION_NEEDED]
        + [(lambda X, k: wide(X, k, unit=False), "lengths")]
        + [(lambda X, k: wide(X, k, order=1), "smallest")]
        + [(lambda X, k: wide(X, k)[:, ::-1], "wrong order"), (lambda X, k: wide(X, k).T, "shape")]
        + [(lambda X, k: np.eye(X.shape[1], k), ""), (lambda X: X, "raised TypeError")],
    ),
    "pca-8": (
        [scatter_times, lambda X, v: scatter_times(X, v).tolist(), by_operator],
        [(makes_dense, "dense"), (lambda X, v: makes_dense(X.T, v), "dense")]
        + [(lambda X, v: X - X.mean(axis=0), "dense")]
        + [(lambda X, v: X.T @ (X @ v), "not been centred"), FAILS]
        + [(lambda X, v: scatter_times(X, v) / X.shape[0], "divide by n"), FUNCTION_NEEDED]
        + [(lambda X, v: np.asarray(X) @ v, "dense"), (lambda X, v: X @ v, "shape")]
        + [(lambda X, v: 2 * scatter_times(X, v), "")],
    ),
    "pca-9": (
        [THRESHOLD, 14.0642],
        [(32 / 3**0.5, "square matrices"), (THRESHOLD / 2, "shorter"), (35.16, "σ is missing")]
        + [(12, "edge"), (5.626, "σ²"), (14.051, "n − 1 rows"), (13.9, ""), (NAN, "finite")],
    ),
    "pca-10": (
        [100, 100.0],
        [(50, "each pair once"), (98, "i = j"), (2500, "n²"), (99, ""), (NAN, "finite")],
    ),
    "pca-11": (
        [white, by_root],
        [(lambda X: white(X, turn=False), "another turn"), (lambda X: X, "not white"), FAILS]
        + [(lambda X: white(X, ddof=1), "n − 1"), (lambda X: white(X)[:, :2], "shape")]
        + [(lambda X: -white(X), "another turn"), (lambda X: white(X, center=False), "not white")]
        + [FUNCTION_NEEDED],
    ),
}
