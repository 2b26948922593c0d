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

SHAPES = [(5, 3), (3, 5), (4, 4)]  # tall, wide, square
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
    if not np.allclose(lengths, 1):
        raise WrongAnswer(f"The columns have lengths {lengths.round(3)}: they should be 1.")
    if np.allclose(np.abs(given), np.eye(2)):
        raise WrongAnswer("Those are the left singular vectors.")
    expect_directions(given, right)


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
    "Use broadcasting: the columns of U times s, against the columns of V.",
    "Term i is np.outer(s[i] * U[:, i], V[:, i]); stack the terms along the first axis.",
    "np.einsum('ni,i,di->ind', U, s, V) makes all of them at once.",
)
def rank_one_terms(answer: Any) -> None:
    terms_of = as_function(answer)
    for seed, (n, d) in enumerate(SHAPES):
        A = matrix_with_singular_values([3.0, 2.0], n, d, seed)
        terms = as_array(terms_of(A), (2, n, d))
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
    A = np.diag([2.0, 1.0, 1.0])
    B = as_array(answer, (3, 3))
    if np.linalg.matrix_rank(B, tol=1e-8) > 2:
        raise WrongAnswer(f"Its rank is {np.linalg.matrix_rank(B, tol=1e-8)}: at most 2 is wanted.")
    if frobenius_norm(A - B) > 1 + 1e-6:
        raise WrongAnswer(f"Its error is {frobenius_norm(A - B):.4f}, and 1 can be had.")
    if any(np.allclose(B, np.diag(known)) for known in ([2, 1, 0], [2, 0, 1])):
        raise WrongAnswer("It is one of the two that the exercise names: find a third.")


@exercise(
    "svd-8",
    "AᵀA would hold 1 + 1e−18, which rounds to 1. Don't form it.",
    "thin_svd(A).s holds both singular values; you want the second.",
)
def small_value_of_lauchli(answer: Any) -> None:
    if as_number(answer) == 0:
        raise WrongAnswer("That is what AᵀA leaves of it: the value is small, not zero.")
    expect_not(answer, np.sqrt(2), "That is the larger one.", rtol=1e-3)
    expect_close(answer, 1e-9, rtol=1e-4)


@exercise(
    "svd-9",
    "Which matrix of rank n − 1 is nearest? Eckart–Young answers.",
    "Set the smallest singular value to zero and multiply the factors.",
)
def nearest_singular_matrix(answer: Any) -> None:
    nearest = as_function(answer)
    for seed, s in enumerate([(3.0, 2.0, 0.5), (1.0, 0.9)]):
        A = matrix_with_singular_values(s, len(s), len(s), seed)
        B = as_array(nearest(A), A.shape)
        if np.linalg.matrix_rank(B, tol=1e-8) == len(s):
            raise WrongAnswer("What your function returns is not singular.")
        expect_close(frobenius_norm(A - B), s[-1], "It is singular, but a nearer one exists.")


@exercise(
    "svd-10",
    "Least squares: project b on to the columns of U, divide by s, expand in V.",
    "x = V diag(1/s) Uᵀb, with the positive singular values only.",
)
def minimum_norm_solution(answer: Any) -> None:
    solve = as_function(answer)
    for seed, (n, d) in enumerate(SHAPES):
        A = matrix_with_singular_values([3.0, 1.0], n, d, seed)
        b = np.random.default_rng(seed).standard_normal(n)
        x = as_array(solve(A, b), (d,))
        expect_close(
            A.T @ (A @ x),
            A.T @ b,
            "The residual b − Ax is not orthogonal to A's columns.",
        )
        right = np.linalg.lstsq(A, b, rcond=None)[0]
        expect_close(x, right, "It fits as well as can be, but a shorter x does the same.")


@exercise(
    "svd-11",
    "The spectral norm looks at the largest part of the error only: here it can't go below 2.",
    "Change the entry 3 a little as well: as long as that error stays below 2, nobody notices.",
)
def spectral_norm_is_blind(answer: Any) -> None:
    A = np.diag([3.0, 2.0, 1.0])
    B = as_array(answer, (3, 3))
    if np.linalg.matrix_rank(B, tol=1e-8) > 1:
        raise WrongAnswer(f"Its rank is {np.linalg.matrix_rank(B, tol=1e-8)}: 1 is wanted.")
    error = np.linalg.norm(A - B, 2)
    if error > 2 + 1e-6:
        raise WrongAnswer(f"Its spectral error is {error:.4f}, and 2 can be had.")
    expect_not(B, np.diag([3.0, 0.0, 0.0]), "That is A₁ itself: find another.")


@exercise(
    "svd-12",
    "Write ‖A − Q‖²_F = ‖A‖²_F − 2 tr(QᵀA) + d: which orthogonal Q makes the trace largest?",
    "With A = U diag(s) Vᵀ the trace is Σ sᵢ(UᵀQV)ᵢᵢ, and no diagonal entry can exceed 1.",
    "So UᵀQV = I, that is Q = UVᵀ.",
)
def nearest_orthogonal_matrix(answer: Any) -> None:
    nearest = as_function(answer)
    for seed, s in enumerate([(3.0, 2.0, 0.5), (1.2, 0.9)]):
        A = matrix_with_singular_values(s, len(s), len(s), seed)
        Q = as_array(nearest(A), A.shape)
        expect_close(Q.T @ Q, np.eye(len(s)), "What your function returns is not orthogonal.")
        distance = np.sqrt(np.sum((np.array(s) - 1) ** 2))
        expect_close(
            frobenius_norm(A - Q),
            distance,
            "It is orthogonal, but a nearer one exists.",
        )
