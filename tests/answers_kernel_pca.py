"""Answers to the exercises of chapter 5: right ones in every form, and wrong ones."""

from fractions import Fraction

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN

from kpca_edu import center_cross_gram, fit_kernel_pca_gram


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


def by_svd(K, k):
    J = np.eye(len(K)) - 1 / len(K)
    U, s, _ = np.linalg.svd(J @ K @ J)
    return U[:, :k] * np.sqrt(s[:k])


def scratch(K, k, center=True, power=0.5, turn=True, factor=1.0):
    """Kernel PCA with the mistakes that people make."""
    n = len(K)
    J = np.eye(n) - center / n
    lam, a = np.linalg.eigh(J @ K @ J)
    if turn:
        lam, a = lam[::-1], a[:, ::-1]
    return factor * a[:, :k] * np.abs(lam[:k]) ** power


def full(K_test, K, alpha):
    rows = K_test.mean(axis=1, keepdims=True)
    return (K_test - rows - K.mean(axis=1) + K.mean()) @ alpha


# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "kernel-pca-1": (
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
        ],
    ),
    "kernel-pca-2": (
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
        ],
    ),
    "kernel-pca-3": (
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
    "kernel-pca-4": (
        [3, 3.0, [3], Fraction(6, 2), np.float32(3)],
        [
            (5.414, "centre it first"),
            (4 - np.sqrt(2), "centre it first"),
            (1.5, "variance λ̃/n"),
            (6, "squared distance"),
            (0, "non-zero one"),
            (8, "without centring"),
            (1.73, "eigenvalue itself"),
            (3.5, "counts twice"),
            (-3, "sign"),
        ],
    ),
    "kernel-pca-5": (
        [np.sqrt(1.5), -1.2247, 1.22, -1.22, [1.225], 1.2247],
        [
            (0.707, "unit eigenvector"),
            (-3 / np.sqrt(2), "divide by √λ̃"),
            (0.408, "That is α"),
            (1.73, "multiply by the entry"),
            (1.5, "square of it"),
            (2.45, "distance of the two scores"),
            (0.866, "not ±1/2"),
            (1.2, "3 significant digits"),
            (0.1, ""),
        ],
    ),
    "kernel-pca-6": (
        [0.4, 2 / 5, Fraction(2, 5), [0.4], np.float32(0.4)],
        [
            (0.3, "trace of K"),
            (0.04, "cancel"),
            (4, "cancel"),
            (-0.2, "divided by n"),
            (12 / 39, "not by n²"),
            (0.12, "sum of all entries"),
            (30, "which share of it"),
            (40, "percentage"),
            ("40 %", "A number is needed"),
            (0.5, ""),
        ],
    ),
    "kernel-pca-7": (
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
    "kernel-pca-8": (
        [[[0.0]], [[0.0, 0.5]], np.array([[0.1], [2.0]]), [[1.0], [3.0]], ((0, 0),)],
        [
            ([[2.0]], "no negative eigenvalue"),
            ([[1.5, 0.0]], "no negative eigenvalue"),
            ([0.0], "n×d array"),
            (0.0, "n×d array"),
            ([[2.0, 0.0], [0.0, 2.0]], "no negative eigenvalue"),
            ([[NAN]], "NaN"),
            ([[]], "n×d array"),
        ],
    ),
    "kernel-pca-9": (
        [
            scratch,
            lambda K, k: -scratch(K, k),
            lambda K, k: fit_kernel_pca_gram(K, k).scores,
            lambda K, k: scratch(K, k).tolist(),
            by_svd,
        ],
        [
            (lambda K, k: scratch(K, k, center=False), "has not been centred"),
            (lambda K, k: scratch(K, k, center=False, power=1), "not been centred, and"),
            (lambda K, k: scratch(K, k, power=0), "unit eigenvectors"),
            (lambda K, k: scratch(K, k, power=1), "too long by √λ̃"),
            (lambda K, k: scratch(K, k, power=-0.5), "weights α"),
            (lambda K, k: scratch(K, k, factor=len(K) ** -0.5), "divided by √n"),
            (lambda K, k: scratch(K, k, factor=len(K) ** 0.5), "√n times too long"),
            (lambda K, k: scratch(K, k)[:, ::-1], "wrong order"),
            (lambda K, k: scratch(K, k, power=0, turn=False), "smallest eigenvalues"),
            (lambda K, k: scratch(K, k).T, "shape"),
            FUNCTION_NEEDED,
            FAILS,
        ],
    ),
    "kernel-pca-10": (
        [
            full,
            lambda K_test, K, alpha: (K_test - K.mean(axis=1)) @ alpha,
            lambda K_test, K, alpha: K_test @ alpha - K.mean(axis=0) @ alpha,
            lambda K_test, K, alpha: center_cross_gram(K_test, K) @ alpha,
        ],
        [
            (lambda K_test, K, alpha: K_test @ alpha, "mean feature has not been subtracted"),
            (
                lambda K_test, K, alpha: (K_test - K_test.mean(axis=1, keepdims=True)) @ alpha,
                "mean feature has not been subtracted",
            ),
            (
                lambda K_test, K, alpha: (K_test - K_test.mean(axis=0)) @ alpha,
                "means are over the new samples",
            ),
            (lambda K_test, K, alpha: (K_test - K.sum(axis=1)) @ alpha, "sums of K by n"),
            (lambda K_test, K, alpha: (K_test @ alpha).T, "shape"),
            FUNCTION_NEEDED,
            FAILS,
        ],
    ),
    "kernel-pca-11": (
        [np.sqrt(3 + 2 * np.sqrt(3)), 2.542, 2.5425, [2.54246], np.float32(2.5424598)],
        [
            (2.543, "4 significant digits"),
            (2.54, "4 significant digits"),
            (-2.542, "sign"),
            (6.464, "take the root"),
            (2.421, "second condition alone"),
            (5.861, "second condition alone"),
            (41.78, "instead of taking the root"),
            (1, "does not vary"),
            (4, ""),
        ],
    ),
}
