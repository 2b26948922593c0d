"""Checkers for the exercises of chapter 1: SVD and Eckart–Young."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..datasets import matrix_with_singular_values
from ..svd import frobenius_norm, low_rank, thin_svd
from .checking import (
    WrongAnswer,
    as_array,
    as_function,
    as_number,
    exercise,
    expect_close,
    expect_directions,
    expect_not,
)

SHAPES = [(5, 3), (3, 5), (5, 5)]  # tall, wide, square
TWO_BY_TWO = np.array([[2.0, 2.0], [-1.0, 1.0]])


@exercise(
    "svd-1",
    "The Frobenius norm depends on the singular values only.",
    "Square them, add, take the root.",
)
def norm_from_singular_values(answer: Any) -> None:
    expect_not(answer, 9.0, "That is the sum of the singular values: square them first.")
    expect_not(answer, 25.0, "That is the square of the norm: take the root.")
    expect_not(answer, 4.0, "That is the spectral norm.")
    expect_close(answer, 5.0)


@exercise(
    "svd-2",
    "One term uᵢ, sᵢ, vᵢ takes n + 1 + d numbers; the picture takes n·d.",
    "Find the largest whole k with k(n + d + 1) < n·d, for n = 427 and d = 640.",
)
def largest_rank_that_saves(answer: Any) -> None:
    if as_number(answer) % 1:
        raise WrongAnswer("A number of terms is a whole number.")
    expect_not(answer, 256, "At 256 the factors already take more numbers than the picture.")
    expect_close(answer, 255)


@exercise(
    "svd-3",
    "The right singular vectors are eigenvectors of AᵀA.",
    "AᵀA = [[5, 3], [3, 5]]: its eigenvectors point along (1, 1) and (1, −1).",
    "Give them length one and put them into the columns of a 2×2 array, larger eigenvalue first.",
)
def right_vectors_by_hand(answer: Any) -> None:
    right = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2)
    given = as_array(answer, (2, 2))
    lengths = np.linalg.norm(given, axis=0)
    if np.abs(lengths - 1).max() > 2e-3:
        raise WrongAnswer(f"The columns have lengths {lengths.round(3)}: they should be 1.")
    if np.allclose(np.abs(given), np.eye(2)):
        raise WrongAnswer("Those are the left singular vectors.")
    if np.abs(given[0] - given[1]).argmin() == 1:  # (1, 1) stands in the second column
        raise WrongAnswer("The order is wrong: the larger singular value comes first.")
    expect_directions(given, right, tol=2e-3)


@exercise(
    "svd-4",
    "Keep one term of the sum s₁u₁v₁ᵀ + s₂u₂v₂ᵀ.",
    "s₁ = 2√2, u₁ = (1, 0) and v₁ = (1, 1)/√2.",
)
def rank_one_by_hand(answer: Any) -> None:
    svd = thin_svd(TWO_BY_TWO)
    leading = np.outer(svd.U[:, 0], svd.V[:, 0])
    expect_not(answer, leading, "That is u₁v₁ᵀ: the factor s₁ is missing.")
    expect_not(
        answer,
        TWO_BY_TWO - low_rank(TWO_BY_TWO, 1),
        "That is what the best one leaves.",
    )
    expect_close(answer, low_rank(TWO_BY_TWO, 1))


@exercise(
    "svd-5",
    "What a kept term contributes to ‖A‖²_F is sᵢ²; the rest is lost.",
    "For k = 2 the lost share is (1² + 0.5²)/(10² + 3² + 1² + 0.5²) = 0.0113, its root 0.106.",
)
def two_meanings_of_five_percent(answer: Any) -> None:
    given = as_array(answer, (2,))
    if np.array_equal(given, [2, 3]):
        raise WrongAnswer("Both numbers are right, in the other order.")
    expect_close(given, [3, 2])


@exercise(
    "svd-6",
    "Term i is np.outer(s[i] * U[:, i], V[:, i]).",
    "Make a list of the terms and stack them along the first axis with np.stack.",
    "np.einsum('ni,i,di->ind', U, s, V) makes all of them at once.",
)
def rank_one_terms(answer: Any) -> None:
    terms_of = as_function(answer)
    for r, (n, d) in enumerate(SHAPES, 1):
        A = matrix_with_singular_values([3.0, 2.0, 1.0][:r], n, d, r)
        terms = as_array(terms_of(A.copy()), (r, n, d))
        if np.allclose(terms.sum(axis=0), A) and not np.allclose(terms[0], low_rank(A, 1)):
            raise WrongAnswer("The terms add up to A, but the first is not the leading one.")
        expect_close(terms[0], low_rank(A, 1), "The first term should be s₁u₁v₁ᵀ.")
        expect_close(terms.sum(axis=0), A, "The terms should add up to A.")


@exercise(
    "svd-7",
    "The second and third axes have the same singular value: any direction in their plane serves.",
    "Keep the first axis and add the term w wᵀ for a unit vector w between the second and third.",
)
def another_best_approximation(answer: Any) -> None:
    B = as_array(answer, (3, 3))
    rank = np.linalg.matrix_rank(B, tol=1e-3)
    if rank > 2:
        raise WrongAnswer(f"Its rank is {rank}: at most 2 is wanted.")
    # A best B keeps the first axis and projects the plane of the tie on to a line in it.
    line = B[1:, 1:]
    off = [B[0] - [2, 0, 0], B[:, 0] - [2, 0, 0], line - line.T, line @ line - line]
    if max(np.abs(part).max() for part in off) > 2e-3 or abs(np.trace(line) - 1) > 2e-3:
        error = frobenius_norm(np.diag([2.0, 1.0, 1.0]) - B)
        raise WrongAnswer(f"Its error is {error:.6f}, and 1 can be had.")
    if any(np.allclose(B, np.diag(known), atol=0.01) for known in ([2, 1, 0], [2, 0, 1])):
        raise WrongAnswer("It is one of the two that the exercise names: find a third.")


@exercise(
    "svd-8",
    "AᵀA would hold 1 + 1e−18, which rounds to 1.",
    "thin_svd(A).s holds both singular values, and never forms AᵀA.",
)
def small_value_next_to_a_large_one(answer: Any) -> None:
    if as_number(answer) == 0:
        raise WrongAnswer("That is what AᵀA leaves of it: the value is small, not zero.")
    expect_not(answer, np.sqrt(2), "That is the larger one.", rtol=1e-3)
    expect_close(answer, np.sqrt(2.5) * 1e-9, rtol=1e-4)


@exercise(
    "svd-9",
    "A d×d matrix is singular if its rank is at most d − 1. What is nearest among those?",
    "Set the smallest singular value to zero and multiply the factors.",
)
def nearest_singular_matrix(answer: Any) -> None:
    nearest = as_function(answer)
    for seed, s in enumerate([(3.0, 2.0, 0.5), (1.0, 0.9)]):
        A = matrix_with_singular_values(s, len(s), len(s), seed)
        B = as_array(nearest(A.copy()), A.shape)
        if np.linalg.matrix_rank(B, tol=1e-8) == len(s):
            raise WrongAnswer("What your function returns is not singular.")
        expect_close(B, low_rank(A, len(s) - 1), "It is singular, but a nearer one exists.")


@exercise(
    "svd-10",
    "Least squares: project b on to the columns of U, divide by s, expand in V.",
    "thin_svd takes rtol; then x = V diag(1/s) Uᵀb with the values that it keeps.",
)
def least_squares_with_a_cut(answer: Any) -> None:
    solve = as_function(answer)
    for kept, (n, d) in enumerate(SHAPES, 1):
        whole = matrix_with_singular_values([3.0, 2.0, 1.0][:kept] + [1e-7], n, d, kept)
        A = low_rank(whole, kept)  # what is left when values up to 1e-5 · s₁ are dropped
        b = np.random.default_rng(kept).standard_normal(n)
        x = as_array(solve(whole.copy(), b.copy(), 1e-5), (d,))
        if np.linalg.norm(x) > 1e4:
            raise WrongAnswer("It is huge: a tiny singular value was inverted. Use rtol.")
        unexplained = A.T @ (b - A @ x)
        expect_close(unexplained, np.zeros(d), "b − Ax is not orthogonal to A's columns.")
        right = np.linalg.lstsq(A, b, rcond=1e-10)[0]
        expect_close(x, right, "It fits as well as can be, but a shorter x does the same.")


@exercise(
    "svd-11",
    "The spectral norm looks at the largest part of the error only: here it can't go below 2.",
    "Change the entry 3 of A₁ a little: as long as that error stays below 2, nobody notices.",
)
def spectral_norm_is_blind(answer: Any) -> None:
    A = np.diag([3.0, 2.0, 1.0])
    B = as_array(answer, (3, 3))
    rank = np.linalg.matrix_rank(B, tol=1e-5)
    if rank > 1:
        raise WrongAnswer(f"Its rank is {rank}: 1 is wanted.")
    error = np.linalg.norm(A - B, 2)
    if error > 2 + 1e-6:
        raise WrongAnswer(f"Its spectral error is {error:.4f}, and 2 can be had.")
    expect_not(B, np.diag([3.0, 0.0, 0.0]), "That is A₁ itself: find another.")


@exercise(
    "svd-12",
    "Write ‖A − Q‖²_F = ‖A‖²_F − 2 tr(QᵀA) + d: which orthogonal Q makes the trace largest?",
    "With A = U diag(s) Vᵀ it is Σ sᵢWᵢᵢ, W = VᵀQᵀU orthogonal: no entry of W exceeds 1.",
    "So W = I, that is Q = UVᵀ.",
)
def nearest_orthogonal_matrix(answer: Any) -> None:
    nearest = as_function(answer)
    mirror = np.diag([1.0, 1.0, -1.0])  # turns a positive determinant into a negative one
    rotated = matrix_with_singular_values([3.0, 2.0, 0.5], 3, 3)
    for A in (rotated, rotated @ mirror, matrix_with_singular_values([1.2, 0.9], 2, 2)):
        Q = as_array(nearest(A.copy()), A.shape)
        expect_close(Q.T @ Q, np.eye(len(A)), "What your function returns is not orthogonal.")
        svd = thin_svd(A)
        expect_close(Q, svd.U @ svd.V.T, "It is orthogonal, but a nearer one exists.")
