"""Answers to the exercises of chapter 7: right ones in every form, and wrong ones."""

from fractions import Fraction

import numpy as np
from answers import FAILS, FUNCTION_NEEDED

from kpca_edu import fit_kernel_pca_gram, thin_svd


def scratch(K, k, center=True, power=-0.5, turn=True, factor=1.0):
    """The weights of kernel PCA with the mistakes that people make."""
    n = len(K)
    J = np.eye(n) - center / n
    lam, a = np.linalg.eigh(J @ K @ J)
    if turn:
        lam, a = lam[::-1], a[:, ::-1]
    return factor * a[:, :k] * np.abs(lam[:k]) ** power


def by_svd(K, k):
    J = np.eye(len(K)) - 1 / len(K)
    U, s, _ = np.linalg.svd(J @ K @ J)
    return U[:, :k] / np.sqrt(s[:k])


def by_thin_svd(K, k):
    J = np.eye(len(K)) - 1 / len(K)
    svd = thin_svd(J @ K @ J).truncate(k)
    return -svd.U / np.sqrt(svd.s)


# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "kernel-pca-1": (
        [3, 3.0, [3], Fraction(6, 2), np.float32(3)],
        [
            (5.414, "centre it first"),
            (4 - np.sqrt(2), "centre it first"),
            (1.5, "and the variance"),
            (6, "squared distance"),
            (0, "non-zero one"),
            (8, "without centring"),
            (1.73, "eigenvalue itself"),
            (3.5, "counts twice"),
            (-3, "sign"),
            (3.004, "whole"),
        ],
    ),
    "kernel-pca-2": (
        [np.sqrt(1.5), -1.2247, 1.22, -1.22, [1.225], 1.2247],
        [
            (0.707, "unit eigenvector"),
            (-3 / np.sqrt(2), "divide by √lam"),
            (0.408, "That is α"),
            (1.73, "multiply by the entry"),
            (1.5, "square of it"),
            (2.45, "distance of the two scores"),
            (0.866, "not ±1/2"),
            (1.2, "3 significant digits"),
            (0.1, ""),
        ],
    ),
    "kernel-pca-3": (
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
            (0.4004, ""),
        ],
    ),
    "kernel-pca-4": (
        [26, 26.0, [26], Fraction(26), np.int64(26)],
        [
            (25, "comes on top"),
            (24, "drops out by centring"),
            (1, "more solutions"),
            (5, "rank of K_c"),
            (6, "Those are the features"),
            (30, "Not every α"),
            (29, "five eigenvalues"),
            (28, "six features, not two"),
            (2, "whole null space"),
            (7, ""),
            (26.04, "whole"),
        ],
    ),
    "kernel-pca-5": (
        [0.34, 0.34000001, [0.34], Fraction(17, 50), np.float32(0.34)],
        [
            (0.6, "squared distance from the mean"),
            (0.74, "mean feature is missing"),
            (0, "squared before"),
            (0.64, "comes twice"),
            (0.14, "mean of K is added"),
            (-0.06, "not subtracted"),
            (0.583, "That is the distance"),
            (0.35, "Both scores count"),
            (0.86, "not added"),
            (0.26, "Those are the squared scores"),
            (0.3, "2 significant digits"),
            (2, ""),
        ],
    ),
    "kernel-pca-6": (
        [0.6, Fraction(3, 5), [0.6], np.float32(0.6), 6 / 10],
        [
            (0.75, "before clipping"),
            (0.5, "sum of the moduli"),
            (6, "That is the eigenvalue"),
            (2 / 3, "divides by 9"),
            (10, "trace of the clipped"),
            (0.8, "takes nothing off"),
            (60, "percentage"),
            (1.2, "divides by n"),
            (0.1, ""),
        ],
    ),
    "kernel-pca-7": (
        [
            scratch,
            lambda K, k: -scratch(K, k),
            lambda K, k: fit_kernel_pca_gram(K, k).alpha,
            lambda K, k: scratch(K, k).tolist(),
            by_svd,
            by_thin_svd,
        ],
        [
            (lambda K, k: scratch(K, k, center=False), "has not been centred"),
            (lambda K, k: scratch(K, k, center=False, power=0), "not been centred, and"),
            (lambda K, k: scratch(K, k, power=0), "unit eigenvectors"),
            (lambda K, k: scratch(K, k, power=-1), "not by lam"),
            (lambda K, k: scratch(K, k, power=0.5), "Those are the scores"),
            (lambda K, k: scratch(K, k, factor=len(K) ** 0.5), "directions of length √n"),
            (lambda K, k: scratch(K, k, factor=len(K) ** -0.5), "there is no n in it"),
            (lambda K, k: scratch(K, k)[:, ::-1], "wrong order"),
            (lambda K, k: scratch(K, k, power=0, turn=False), "smallest eigenvalues"),
            (lambda K, k: scratch(K, k).T, "shape"),
            FUNCTION_NEEDED,
            FAILS,
        ],
    ),
    "kernel-pca-8": (
        [0.01, 4 / 400, Fraction(1, 100), [0.01], np.float32(0.01)],
        [
            (4, "variance of linear PCA"),
            (0.2, "σ is squared"),
            (0.1, "ratio of deviations"),
            (0.005, "without a factor 2"),
            (1600, "don't multiply"),
            (0.8, "share of the variance"),
            (0.0025, "4, not 1"),
            (-0.01, "sign"),
            (7, ""),
        ],
    ),
    "kernel-pca-9": (
        [0.2, 0.18, 0.22, [0.21], np.float32(0.19), Fraction(1, 5)],
        [
            (0.1, "too narrow"),
            (0.05, "each moon falls into pieces"),
            (0.4, "too wide"),
            (1.16, "it sees a slope"),
            (1e9, "too wide"),
            (1e-3, "strangers"),
            (-0.2, "positive"),
            (0, "positive"),
            ([0.2, 0.3], "A number is needed"),
        ],
    ),
    "kernel-pca-10": (
        ["CDBA", "cdba", "C, D, B, A", ["C", "D", "B", "A"], "2: D, 1: C, 4: A, 3: B"],
        [
            ("ABCD", "straight and parallel"),
            ("CABD", "one sign in the middle"),
            ("CDAB", "bumps on single places"),
            ("CBDA", "bumps on single places"),
            ("CDB", "letters are needed"),
            ("CCBA", "Four different letters"),
            ("CDBE", "Only the letters"),
            (None, "Letters are needed"),
        ],
    ),
    "kernel-pca-11": (
        [2, 2.0, [2], np.int64(2), Fraction(2)],
        [
            (3, "constant one has no variance"),
            (6, "zero up to rounding"),
            (1, "There is another"),
            (5, "in the plane"),
            (4, "is zero, whatever its sign"),
            (29, "its rank"),
            (30, "its rank"),
            (0, "leading columns are right"),
            (-2, "sign"),
            (2.04, "whole"),
            (1.6, "whole"),
        ],
    ),
    "kernel-pca-12": (
        ["FKPKI", "fkpki", list("FKPKI"), "F, K, P, K, I", tuple("fkpki")],
        [
            ("KKPKI", "Task 1"),
            ("PKPKI", "Task 1"),
            ("FPPKI", "Task 2"),
            ("FKKKI", "Task 3"),
            ("FKPPI", "Task 4"),
            ("FKPKK", "Task 5"),
            ("FKPK", "Five letters"),
            ("FKPKX", "Only the letters"),
            (5, "Letters are needed"),
        ],
    ),
    "kernel-pca-13": (
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
