"""Answers to the exercises of chapter 1, made with NumPy and SciPy: right ones and wrong ones."""

from fractions import Fraction

import numpy as np
from answers import FAILS, FUNCTION_NEEDED, NAN
from matrices import orthonormal
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


def terms_by_peeling(A):
    """Take the leading term off, again and again."""
    found = []
    while np.linalg.norm(A) > 1e-9:
        U, s, V = thin(A, 1)
        found.append((U * s) @ V.T)
        A = A - found[-1]
    return np.stack(found)


def swapped_terms(A):
    T = terms(A)
    return T[[0, 2, 1]] if len(T) == 3 else T


def first_and_rest(A):
    T = terms(A)
    return np.stack([T[0], 0 * A, A - T[0]]) if len(T) == 3 else T


def terms_of_columns_of_vh(A):
    r = np.linalg.matrix_rank(A)
    U, s, Vh = np.linalg.svd(A)
    return [s[i] * np.outer(U[:, i], Vh[:, i]) for i in range(r)]


def terms_with_zeros(A):
    U, s, V = thin(A, min(A.shape))
    return np.einsum("ni,i,di->ind", U, s, V)


def without_smallest(A):
    U, s, V = thin(A, len(A))
    return (U[:, :-1] * s[:-1]) @ V[:, :-1].T


def less_the_last_term(A):
    U, s, Vt = np.linalg.svd(A)
    return A - s[-1] * np.outer(U[:, -1], Vt[-1])


def project_last_away(A):
    v = np.linalg.eigh(A.T @ A)[1][:, 0]  # the direction that A shrinks most
    return A - A @ np.outer(v, v)


def without_largest(A):
    U, s, V = thin(A, len(A))
    return (U[:, 1:] * s[1:]) @ V[:, 1:].T


def without_smallest_eigenvalue(A):
    lam, W = np.linalg.eigh((A + A.T) / 2)
    lam[np.abs(lam).argmin()] = 0
    return (W * lam) @ W.T


def first_row_twice(A):
    return np.vstack([A[:-1], A[0]])


def term_by_term(A, b, rtol):
    U, s, V = thin(A, min(A.shape))
    return sum((U[:, i] @ b) / s[i] * V[:, i] for i in range(len(s)) if s[i] > rtol * s[0])


def by_normal_equations(A, b, rtol):
    lam, V = np.linalg.eigh(A.T @ A)
    keep = lam > rtol**2 * lam[-1]
    keep &= lam > 1e-13 * lam[-1]  # what AᵀA can tell from zero
    return V[:, keep] @ (V[:, keep].T @ (A.T @ b) / lam[keep])


def absolute_cut(A, b, rtol):
    U, s, V = thin(A, min(A.shape))
    keep = s > rtol
    return V[:, keep] @ (U[:, keep].T @ b / s[keep])


def cut_by_frobenius(A, b, rtol):
    U, s, V = thin(A, min(A.shape))
    keep = s > rtol * np.linalg.norm(A)
    return V[:, keep] @ (U[:, keep].T @ b / s[keep])


def cut_by_squares(A, b, rtol):
    U, s, V = thin(A, min(A.shape))
    keep = s**2 > rtol * s[0] ** 2
    return V[:, keep] @ (U[:, keep].T @ b / s[keep])


def not_inverted(A, b, rtol):
    U, s, V = thin(A, min(A.shape))
    keep = s > rtol * s[0]
    return V[:, keep] @ (U[:, keep].T @ b * s[keep])


def longer_solution(A, b, rtol):
    inverse = np.linalg.pinv(A, rcond=rtol)
    return inverse @ b + (np.eye(A.shape[1]) - inverse @ A) @ np.ones(A.shape[1])


def ridge_solution(A, b, rtol):
    return np.linalg.solve(A.T @ A + 0.1 * np.eye(A.shape[1]), A.T @ b)


def polar_of(A):
    U, _, Vt = np.linalg.svd(A)
    return U @ Vt


def polar_by_newton(A):
    """Average Q with its inverse transpose: Higham's iteration, for an invertible A nearby."""
    U, s, Vt = np.linalg.svd(A)
    Q = (U * np.maximum(s, 1e-3 * s[0])) @ Vt
    for _ in range(60):
        Q = (Q + np.linalg.inv(Q).T) / 2
    return Q


def thin_polar(A):
    U, _, V = thin(A, np.linalg.matrix_rank(A))
    return U @ V.T


def not_transposed(A):
    U, _, Vt = np.linalg.svd(A)
    return U @ Vt.T


def between(angle):
    """The best approximation of diag(2, 1, 1) that keeps one direction of the tied plane."""
    w = np.array([0.0, np.cos(angle), np.sin(angle)])
    return np.diag([2.0, 0.0, 0.0]) + np.outer(w, w)


A = np.array([[3.0, 2.0, 2.0], [2.0, 3.0, -2.0]])  # the matrix of svd-3 and svd-4
V = np.array([[1.0, 1.0, 0.0], [1.0, -1.0, 4.0]]).T / np.sqrt([2, 18])
ONE = np.array([[2.5, 2.5, 0.0], [2.5, 2.5, 0.0]])  # its best approximation of rank one

# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "svd-1": (
        [
            5,
            5.0,
            np.float64(5),
            np.array([5.0]),
            [5],
            Fraction(5),
            5.004,
            5 + 0j,
            np.linalg.norm([4, 3]),
        ],
        [(9, "sum"), (25, "square"), (4, "spectral"), (3, "squares under the root"), (-5, "sign")]
        + [(5.02, "Close, but"), (NAN, "finite"), ("five", "number is needed, not str")]
        + [
            ([5.0, 1.0], "number is needed"),
            (5j, "number"),
            (np.complex64(5 + 1j), "number is needed"),
        ],
    ),
    "svd-2": (
        [255, 255.0, np.int64(255), [255], Fraction(255)],
        [(256, "more numbers"), (254, "not the largest"), (255.88, "whole"), (427, "largest rank")]
        + [(640, "more numbers"), (-255, "positive"), (0, "positive"), (np.inf, "finite")],
    ),
    "svd-3": (
        [V, -V, V * [1, -1], V * [-1, 1], V.tolist(), tuple(map(tuple, V)), V.round(3), thin(A)[2]],
        [(V[:, ::-1], "order"), (V * [ROOT, 1], "lengths"), (V * [1, 3], "lengths")]
        + [(V.T, "rows of length 3"), ([V[:, 0], V[:, 1]], "rows of length 3")]
        + [(np.linalg.svd(A)[2], "2 singular values"), (np.linalg.svd(A)[2].T, "2 singular values")]
        + [(np.linalg.svd(A)[2][:, :2], "its rows are"), (-np.linalg.svd(A)[2][:, :2], "of Vᵀ")]
        + [(thin(A)[0], "left"), (V[0], "shape should be (3, 2)"), (V * NAN, "NaN")]
        + [(np.zeros((3, 2)), "lengths"), (orthonormal(3, 2), "no right singular vector")]
        + [(V.round(2), "Close: three"), (np.roll(V, 1, axis=0), "no right singular vector")],
    ),
    "svd-4": (
        [ONE, ONE.tolist(), tuple(map(tuple, ONE)), ONE + 1e-4, [[Fraction(5, 2)] * 2 + [0]] * 2],
        [(A - ONE, "leaves"), (ONE / 5, "s₁ is missing"), (ONE * 5, "not its square")]
        + [
            (A, "A itself"),
            (ONE.T, "shape of Aᵀ"),
            (A[:1], "shape"),
            (np.zeros((2, 3)), "error is 5.8"),
        ]
        + [
            ([[3, 2, 2], [0, 0, 0]], "error is 4.1"),
            (ONE * NAN, "NaN"),
            (-ONE, "error is 10"),
            ([[2.5, 2.5, 0], [2.4, 2.5, 0]], "rank is 2"),
            (ONE + [[0, 0, 0.02]] * 2, "Close, but"),
        ],
    ),
    "svd-5": (
        [(3, 2), [3, 2], np.array([3, 2]), (3.0, 2.0), np.array([3, 2], np.uint8)],
        [((2, 3), "other order"), ((3, 3), "the share has squares"), ((2, 2), "take the root")]
        + [((4, 3), "relative error, is wrong"), ((3, 1), "lost share, is wrong"), ((2, 1), "root")]
        + [
            (3, "shape"),
            ((3, 2, 1), "shape"),
            ((NAN, 2), "NaN"),
            ((0.05, 0.05), "wrong"),
            ((3.5, 2), "relative error, is wrong"),
            (["3", "2"], "quotation marks"),
        ],
    ),
    "svd-6": (
        [terms, terms_one_by_one, terms_by_peeling, lambda A: terms(A).tolist()],
        [(lambda A: terms(A)[::-1], "first is not the leading"), FAILS, FUNCTION_NEEDED]
        + [(swapped_terms, "Term 2 is not"), (first_and_rest, "Term 2 is not")]
        + [(lambda A: np.cumsum(terms(A), axis=0), "the terms before, too")]
        + [(terms_with_zeros, "of rank 1 came: leave out"), (terms_of_columns_of_vh, "its rows")]
        + [(lambda A: np.array([A / len(terms(A))] * len(terms(A))), "not enough")]
        + [(lambda A: terms(A)[:1].repeat(len(terms(A)), axis=0), "Term 2 is not")]
        + [(lambda A: terms(A).transpose(2, 1, 0), "shape should be (1, 5, 3)")]
        + [(lambda A: terms(A)[:2], "shape"), (lambda A: -terms(A), "Term 1 is not")]
        + [(lambda A: terms(A) / np.linalg.norm(terms(A), axis=(1, 2))[:, None, None], "s₁u₁v₁ᵀ")]
        + [(lambda A: np.zeros((9, *A.shape)), "shape"), (lambda A: None, "shape")]
        + [(lambda A: terms(A) * NAN, "NaN"), (lambda A, B: A, "raised TypeError")]
        + [(terms(np.eye(3)), "function is needed")],
    ),
    "svd-7": (
        [between(0.3), between(np.pi / 4), between(-1.0), between(2.0), between(0.011)]
        + [between(0.3).round(3), between(1.2).tolist()],
        [(between(0.0), "names"), (between(np.pi / 2), "names"), (np.diag([2, 1, 1]), "rank is 3")]
        + [(np.diag([2.0005, 1, 0]), "within 0.01"), (between(0.005), "within 0.01")]
        + [(np.diag([2, 0.5, 0.5]), "rank is 3"), (np.diag([0, 1, 1]), "error is 2")]
        + [(between(0.3) * 0.995, "Close"), (np.diag([2, 0.98, 0]), "Close")]
        + [(between(0.3) * [1, 1.5, 1], "error is 1."), (np.zeros((3, 3)), "error is 2.4")]
        + [(np.diag([2, 0, 0]), "error is 1.4142"), (np.eye(2), "shape"), (between(NAN), "NaN")],
    ),
    "svd-8": (
        [["gram", "svd", "partial", "svd"], ("gram", "svd", "partial", "svd")]
        + [np.array(["gram", "svd", "partial", "svd"]), [" Gram", "SVD", "partial", "svd "]]
        + ["gram, svd, partial, svd"],
        [(["svd"] * 4, "Number 1: it works"), (["partial", "svd", "partial", "svd"], "Number 1")]
        + [(["gram", "gram", "partial", "svd"], "can't tell"), (["gram"] * 4, "Number 2")]
        + [(["gram", "partial", "partial", "svd"], "not the smallest")]
        + [
            (["gram", "svd", "svd", "svd"], "80 GB"),
            (["gram", "svd", "gram", "svd"], "less sparse"),
        ]
        + [(["gram", "svd", "partial", "gram"], "16 digits")]
        + [(["gram", "svd", "partial", "partial"], "small singular values")]
        + [(["gram", "svd", "partial"], "four words"), ("gram", "four words")]
        + [(["gram", "svd", "arpack", "svd"], "one of"), ([1, 2, 3, 2], "marks")],
    ),
    "svd-9": (
        [without_smallest, less_the_last_term, project_last_away]
        + [lambda A: without_smallest(A).tolist()],
        [(lambda A: A, "not singular"), (np.zeros_like, "nearer"), (without_largest, "largest")]
        + [(without_smallest_eigenvalue, "nearer"), (first_row_twice, "nearer")]
        + [(lambda A: A[:-1], "shape"), (lambda A: A * NAN, "NaN"), FAILS, FUNCTION_NEEDED]
        + [(lambda A: A - A.min() * np.eye(len(A)), "not singular")],
    ),
    "svd-10": (
        [
            lambda A, b, rtol: np.linalg.pinv(A, rcond=rtol) @ b,
            lambda A, b, rtol: linalg.lstsq(A, b, cond=rtol, lapack_driver="gelsd")[0],
            term_by_term,
            by_normal_equations,
        ],
        [(longer_solution, "shorter"), (ridge_solution, "not orthogonal"), FAILS, FUNCTION_NEEDED]
        + [(absolute_cut, "times a matrix that went well"), (cut_by_squares, "Too much was cut")]
        + [(cut_by_frobenius, "Too much was cut")]
        + [(not_inverted, "not orthogonal"), (lambda A, b, rtol: 0 * A[0], "Too much was cut")]
        + [(lambda A, b, rtol: A.T @ b, "not orthogonal"), (lambda A, b, rtol: b, "")]
        + [(lambda A, b, rtol: np.linalg.pinv(A) @ b, "huge")]
        + [(lambda A, b, rtol: np.linalg.pinv(A, rtol) @ b[:, None], "shape")]
        + [
            (lambda A: A, "raised TypeError"),
            (lambda A, b, _: np.full(A.shape[1], NAN), "NaN"),
            (lambda A, b, rtol: np.linalg.pinv(A, rcond=rtol**2) @ b, "huge"),
            (lambda A, b, rtol: 1.0001 * term_by_term(A, b, rtol), "Close"),
        ],
    ),
    "svd-11": (
        [np.diag([b, 0, 0]) for b in (1, 2.5, 4, 5)] + [[[2, 0, 0], [0, 0, 0], [0, 0, 0]]],
        [(np.diag([3, 0, 0]), "itself"), (np.diag([3.004, 0, 0]), "within 0.01")]
        + [(np.zeros((3, 3)), "error is 3"), (np.eye(3), "rank is 3")]
        + [(np.diag([0.9, 0, 0]), "error is 2.1"), (np.diag([0, 2, 0]), "error is 3")]
        + [(np.diag([5.5, 0, 0]), "error is 2.5"), (np.diag([3, 2, 1]), "rank is 3")]
        + [(np.diag([3, 1, 0]), "rank is 2"), ([3, 0, 0], "shape"), (np.full((3, 3), NAN), "NaN")],
    ),
    "svd-12": (
        [
            polar_of,
            polar_by_newton,
            lambda A: linalg.polar(A)[0],
            lambda A: linalg.orthogonal_procrustes(np.eye(len(A)), A)[0],
            lambda A: polar_of(A).tolist(),
        ],
        [(lambda A: A, "not orthogonal"), (lambda A: np.eye(len(A)), "nearer"), FAILS]
        + [(thin_polar, "needs the full SVD"), (lambda A: polar_of(A).T, "transpose")]
        + [(lambda A: -polar_of(A), "nearer"), (not_transposed, "nearer"), FUNCTION_NEEDED]
        + [(lambda A: A / np.linalg.norm(A, axis=0), "not orthogonal")]
        + [(lambda A: np.linalg.qr(A)[0], "nearer"), (lambda A: A[0], "shape")],
    ),
    "svd-13": (
        [(5, 0.02), [5, 0.0195], np.array([5.0, 0.0215]), (Fraction(5), Fraction(1, 50))]
        + [(5, 0.38 / 19)],
        [((5, 0.37), "where the noise begins"), ((5, 0.036), "one of the roots alone")]
        + [
            ((5, 0.04), "one of the roots alone"),
            ((5, 0.0041), "Frobenius"),
            ((5, 0.001), "square"),
        ]
        + [((4, 0.02), "More values"), ((81, 0.02), "stand apart"), ((6, 0.02), "stand apart")]
        + [((0, 0.02), "stand apart"), ((5, 1.2), "to 15 %"), ((5, 0.0), "to 15 %")]
        + [((5, -0.02), "to 15 %"), (5, "shape"), ((5, NAN), "NaN"), ((0.02, 5), "stand apart")],
    ),
    "svd-14": (
        [(2, 8.5), [2, 8.457], (2, 8.46), np.array([2.0, 8.4566]), (2.0, Fraction(17, 2))],
        [((1, 8.5), "smaller than"), ((3, 6.4), "smaller k"), ((2, 0.147), "sine")]
        + [((2, 0.1476), "or radians"), ((2, 7.4), "subtracted"), ((2, 7.37), "subtracted")]
        + [((2, 3.4), "s₂ − s₃ = 3.9, not"), ((2, 60), "angle is not"), ((4, 8.5), "1, 2 or 3")]
        + [((8.5, 2), "1, 2 or 3"), (8.5, "shape"), ((2, NAN), "NaN"), ((2, -8.5), "sign")],
    ),
}
