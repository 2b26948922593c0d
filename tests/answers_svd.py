"""Answers to the exercises of chapter 1, made with NumPy and SciPy: right ones and wrong ones."""

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN
from matrices import LAUCHLI, orthonormal
from scipy import linalg

ROOT = np.sqrt(2)


def thin(A, r=2):
    """Return the r leading singular triples of A, as columns."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    return U[:, :r], s[:r], Vt[:r].T


def terms(A):
    U, s, V = thin(A, np.linalg.matrix_rank(A))
    return np.einsum("ni,i,di->ind", U, s, V)


def terms_one_by_one(A):
    U, s, V = thin(A, np.linalg.matrix_rank(A))
    return [np.outer(-s[i] * U[:, i], -V[:, i]) for i in range(len(s))]


def without_smallest(A):
    U, s, V = thin(A, len(A))
    return (U[:, :-1] * s[:-1]) @ V[:, :-1].T


def without_largest(A):
    U, s, V = thin(A, len(A))
    return (U[:, 1:] * s[1:]) @ V[:, 1:].T


def longer_solution(A, b, rtol):
    inverse = np.linalg.pinv(A, rcond=rtol)
    return inverse @ b + (np.eye(A.shape[1]) - inverse @ A) @ np.ones(A.shape[1])


def ridge_solution(A, b, rtol):
    return np.linalg.solve(A.T @ A + 0.1 * np.eye(A.shape[1]), A.T @ b)


def polar_of(A):
    U, _, Vt = np.linalg.svd(A)
    return U @ Vt


def not_transposed(A):
    U, _, Vt = np.linalg.svd(A)
    return U @ Vt.T


def between(angle):
    """The best approximation of diag(2, 1, 1) that keeps one direction of the tied plane."""
    w = np.array([0.0, np.cos(angle), np.sin(angle)])
    return np.diag([2.0, 0.0, 0.0]) + np.outer(w, w)


V = np.array([[1.0, 1.0], [1.0, -1.0]]) / ROOT  # the right singular vectors of svd-3

# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "svd-1": (
        [5, 5.0, np.float64(5), np.array(5.0), 5 + 1e-9, np.linalg.norm([4, 3])],
        [(9, "sum"), (25, "square"), (4, "spectral"), (-5, ""), (5.001, ""), (NAN, "finite")]
        + [("five", "number is needed, not str"), ([5.0, 1.0], "number is needed"), (5j, "number")],
    ),
    "svd-2": (
        [255, 255.0, np.int64(255)],
        [(256, "more numbers"), (254, ""), (255.88, ""), (427, ""), (np.inf, "finite")],
    ),
    "svd-3": (
        [V, -V, V * [1, -1], V * [-1, 1], V.tolist(), V.round(8), V.round(3)],
        [(V[:, ::-1], "order"), (V * ROOT, "lengths"), (np.eye(2), "left"), (-np.eye(2), "left")]
        + [(V[0], "shape should be (2, 2)"), (V * NAN, "NaN"), (np.zeros((2, 2)), "lengths")]
        + [(orthonormal(2, 2), ""), (thin([[2, 2], [-1, 1]])[0], "left")],
    ),
    "svd-4": (
        [[[2, 2], [0, 0]], np.array([[2.0, 2.0], [0.0, 0.0]])],
        [([[0, 0], [-1, 1]], "leaves"), ([[1 / ROOT, 1 / ROOT], [0, 0]], "s₁ is missing")]
        + [
            ([[2, 2], [-1, 1]], ""),
            ([[2, 0], [2, 0]], ""),
            ([2, 2], "shape"),
            (np.zeros((2, 2)), ""),
        ],
    ),
    "svd-5": (
        [(3, 2), [3, 2], np.array([3, 2]), (3.0, 2.0)],
        [((2, 3), "other order"), ((3, 3), ""), ((2, 2), ""), (3, "shape"), ((3, 2, 1), "shape")]
        + [((NAN, 2), "NaN")],
    ),
    "svd-6": (
        [terms, terms_one_by_one, lambda A: terms(A).tolist()],
        [(lambda A: terms(A)[::-1], "first is not the leading"), FAILS, FUNCTION_NEEDED]
        + [(lambda A: np.array([A / len(terms(A))] * len(terms(A))), "first is not the leading")]
        + [(lambda A: terms(A)[:1].repeat(len(terms(A)), axis=0), "add up to A")]
        + [(lambda A: terms(A)[:2], "shape")]
        + [(lambda A: terms(A) / np.linalg.norm(terms(A), axis=(1, 2))[:, None, None], "s₁u₁v₁ᵀ")]
        + [(lambda A: np.zeros((min(A.shape), *A.shape)), "shape"), (lambda A: None, "shape")]
        + [(lambda A: terms(A) * NAN, "NaN"), (lambda A, B: A, "raised TypeError")]
        + [(terms(np.eye(3)), "function is needed")],
    ),
    "svd-7": (
        [between(0.3), between(np.pi / 4), between(-1.0), between(2.0)],
        [(between(0.0), "names"), (between(np.pi / 2), "names"), (np.diag([2, 1, 1]), "rank is 3")]
        + [(np.diag([2, 0.5, 0.5]), "rank is 3"), (np.diag([0, 1, 1]), "error is 2")]
        + [(np.diag([2, 0, 0]), "error is 1.4142"), (np.eye(2), "shape"), (between(NAN), "NaN")],
    ),
    "svd-8": (
        [np.linalg.svd(LAUCHLI * [[1], [1], [2]])[1][1], 1.5811e-9, 1.58114e-9],
        [(0, "small, not zero"), (0.0, "small"), (ROOT, "larger"), (2.5e-18, ""), (-1.5811e-9, "")]
        + [(1e-9, ""), (2e-9, ""), (1.6e-9, ""), (NAN, "finite"), ([1.4, 1.5811e-9], "number")],
    ),
    "svd-9": (
        [without_smallest, lambda A: without_smallest(A).tolist()],
        [(lambda A: A, "not singular"), (np.zeros_like, "nearer"), (without_largest, "nearer")]
        + [(lambda A: A[:-1], "shape"), (lambda A: A * NAN, "NaN"), FAILS, FUNCTION_NEEDED]
        + [(lambda A: A - A.min() * np.eye(len(A)), "not singular")],
    ),
    "svd-10": (
        [
            lambda A, b, rtol: np.linalg.pinv(A, rcond=rtol) @ b,
            lambda A, b, rtol: linalg.lstsq(A, b, cond=rtol, lapack_driver="gelsd")[0],
        ],
        [(longer_solution, "shorter"), (ridge_solution, "not orthogonal"), FAILS, FUNCTION_NEEDED]
        + [(lambda A, b, rtol: A.T @ b, "not orthogonal"), (lambda A, b, rtol: b, "")]
        + [(lambda A, b, rtol: np.linalg.pinv(A) @ b, "huge")]
        + [(lambda A, b, rtol: np.linalg.pinv(A, rtol) @ b[:, None], "shape")]
        + [(lambda A: A, "raised TypeError"), (lambda A, b, _: np.full(A.shape[1], NAN), "NaN")],
    ),
    "svd-11": (
        [np.diag([b, 0, 0]) for b in (1, 2.5, 4, 5)],
        [(np.diag([3, 0, 0]), "itself"), (np.zeros((3, 3)), "error is 3"), (np.eye(3), "rank is 3")]
        + [(np.diag([0.9, 0, 0]), "error is 2.1"), (np.diag([0, 2, 0]), "error is 3")]
        + [(np.diag([3, 1, 0]), "rank is 2"), ([3, 0, 0], "shape"), (np.full((3, 3), NAN), "NaN")],
    ),
    "svd-12": (
        [
            polar_of,
            lambda A: linalg.polar(A)[0],
            lambda A: linalg.orthogonal_procrustes(np.eye(len(A)), A)[0],
        ],
        [(lambda A: A, "not orthogonal"), (lambda A: np.eye(len(A)), "nearer"), FAILS]
        + [(lambda A: -polar_of(A), "nearer"), (not_transposed, "nearer"), FUNCTION_NEEDED]
        + [(lambda A: np.linalg.qr(A)[0], "nearer"), (lambda A: A[0], "shape")],
    ),
}
