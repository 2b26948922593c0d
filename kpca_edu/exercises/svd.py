"""Checkers for the exercises of chapter 1: SVD and Eckart–Young."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compare import align_signs
from ..datasets import matrix_with_singular_values
from ..svd import frobenius_norm, low_rank, thin_svd
from .checking import (
    WrongAnswer,
    as_array,
    as_function,
    as_number,
    as_numbers,
    as_words,
    exercise,
    expect_choices,
    expect_close,
    expect_not,
    expect_number,
    expect_numbers,
    shape_of,
    tolerance,
)

SHAPES = [(5, 3), (3, 5), (5, 5)]  # tall, wide, square
TWO_BY_THREE = np.array([[3.0, 2.0, 2.0], [2.0, 3.0, -2.0]])  # s = 5, 3
COLUMNS_OF_VH = np.linalg.svd(TWO_BY_THREE)[2][:, :2]  # the trap of the chapter
THREE_DIGITS = 6e-4  # half a unit of the third digit of numbers up to 1, and a little


@exercise(
    "svd-1",
    "The Frobenius norm depends on the singular values only.",
    "Square them, add, take the root.",
)
def norm_from_singular_values(answer: Any) -> None:
    mistakes = {
        9.0: "That is the sum of the singular values: square them first.",
        3.0: "That is the root of their sum: the squares under the root are missing.",
        25.0: "That is the square of the norm: take the root.",
        4.0: "That is the spectral norm.",
    }
    expect_number(answer, 5.0, 3, mistakes)


@exercise(
    "svd-2",
    "One term uᵢ, sᵢ, vᵢ takes n + 1 + d numbers; the picture takes n·d.",
    "Find the largest whole k with k(n + d + 1) < n·d, for n = 427 and d = 640.",
)
def largest_rank_that_saves(answer: Any) -> None:
    k = as_number(answer)
    if k == 255:
        return
    if k % 1:
        raise WrongAnswer("A number of terms is a whole number.")
    if k == 427:
        raise WrongAnswer("That is the largest rank: its factors take more than the picture.")
    if k > 255:
        raise WrongAnswer("With so many terms the factors take more numbers than the picture.")
    if k > 0:
        raise WrongAnswer("That saves, but it is not the largest k that does.")
    raise WrongAnswer("A number of terms is positive.")


@exercise(
    "svd-3",
    "The smaller Gram matrix is AAᵀ. Its eigenvectors are the left singular vectors uᵢ.",
    "AAᵀ = [[17, 8], [8, 17]] has the eigenvalues 25 and 9; then vᵢ = Aᵀuᵢ/sᵢ.",
    "v₁ points along (1, 1, 0), v₂ along (1, −1, 4). Give them length one and put them into the "
    "columns of a 3×2 array.",
)
def right_vectors_by_hand(answer: Any) -> None:
    right = np.array([[1.0, 1.0, 0.0], [1.0, -1.0, 4.0]]).T / np.sqrt([2.0, 18.0])
    shape = shape_of(answer)
    if shape == (2, 3):
        raise WrongAnswer("These are 2 rows of length 3: put the vectors into columns.")
    if shape == (2, 2):
        raise WrongAnswer("Vectors with 2 entries are left singular vectors.")
    if shape == (3, 3):
        raise WrongAnswer("There are 2 singular values above zero, so 2 right singular vectors.")
    given = as_array(answer, (3, 2))
    lengths = np.linalg.norm(given, axis=0)
    if np.abs(lengths - 1).max() > 0.02:
        raise WrongAnswer(f"The columns have lengths {lengths.round(3)}: they should be 1.")
    if np.abs(np.abs(given) - np.abs(COLUMNS_OF_VH)).max() <= 5e-3:
        raise WrongAnswer("These are columns of Vᵀ, which NumPy returns: its rows are the vectors.")
    if _off_by(given[:, ::-1], right) <= 5e-3:
        raise WrongAnswer("The order is wrong: the larger singular value comes first.")
    if _off_by(given, right) > 5e-3:
        raise WrongAnswer("At least one column is no right singular vector.")
    if _off_by(given, right) > THREE_DIGITS:
        raise WrongAnswer("Close: three digits are asked for.")


def _off_by(given: NDArray, right: NDArray) -> float:
    """Return the largest difference, each column at the sign that fits better."""
    return float(np.abs(align_signs(right, given) - right).max())


@exercise(
    "svd-4",
    "Keep one term of the sum s₁u₁v₁ᵀ + s₂u₂v₂ᵀ.",
    "s₁ = 5, u₁ = (1, 1)/√2 and v₁ = (1, 1, 0)/√2.",
)
def rank_one_by_hand(answer: Any) -> None:
    right = low_rank(TWO_BY_THREE, 1)
    mistakes = [
        (TWO_BY_THREE, "That is A itself, of rank 2."),
        (right / 5, "That is u₁v₁ᵀ: the factor s₁ is missing."),
        (right * 5, "The factor is s₁, not its square."),
        (TWO_BY_THREE - right, "That is what the best one leaves: the second term."),
    ]
    if shape_of(answer) == (3, 2):
        raise WrongAnswer("That has the shape of Aᵀ: the term is u₁v₁ᵀ, not v₁u₁ᵀ.")
    for wrong, why in mistakes:
        expect_not(answer, wrong, why, digits=3)
    error = frobenius_norm(TWO_BY_THREE - as_array(answer, (2, 3)))
    why = f"Its error is {error:.4g}, and 3 can be had with rank one."
    expect_numbers(answer, right, 3, why if error >= 3 else "Its rank is 2: one is wanted.")


@exercise(
    "svd-5",
    "What a kept term contributes to ‖A‖²_F is sᵢ²; the rest is lost.",
    "For k = 2 the lost share is (1² + 0.5²)/(10² + 3² + 1² + 0.5²) = 0.0113, its root 0.106.",
)
def two_meanings_of_five_percent(answer: Any) -> None:
    first, second = as_numbers(answer, 2)
    if (first, second) == (2, 3):
        raise WrongAnswer("Both numbers are right, in the other order.")
    if first != 3:
        of_two = " 2 is the answer for the lost share: take the root." if first == 2 else ""
        raise WrongAnswer(f"The first number, for the relative error, is wrong.{of_two}")
    if second != 2:
        of_three = " 3 is the answer for its root: the share has squares." if second == 3 else ""
        raise WrongAnswer(f"The second number, for the lost share, is wrong.{of_three}")


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
        truncations = np.array([low_rank(A, i + 1) for i in range(r)])
        right = np.diff(truncations, axis=0, prepend=np.zeros((1, n, d)))
        terms = terms_of(A.copy())
        if r < min(n, d) and shape_of(terms) == (min(n, d), n, d):
            raise WrongAnswer(f"A {n}×{d} matrix of rank {r} came: leave out terms that are 0.")
        given = as_array(terms, (r, n, d))
        U, s, Vh = np.linalg.svd(A)
        trap = np.einsum("ni,i,di->ind", U[:, :r], s[:r], Vh[:, :r])
        expect_not(given, trap, "Those have columns of Vᵀ, as NumPy returns it: take its rows.")
        _judge_terms(given, right, truncations)


def _judge_terms(terms: NDArray, right: NDArray, truncations: NDArray) -> None:
    """Compare each term with its own: the sum alone says little."""
    if len(right) > 1:
        expect_not(terms, truncations, "Those are A₁, A₂, …: each holds the terms before, too.")
        expect_not(terms[::-1], right, "The order is wrong: the first is not the leading term.")
    s = np.linalg.norm(right, axis=(1, 2), keepdims=True)
    expect_not(terms, right / s, "Those are uᵢvᵢᵀ: the factors sᵢ are missing, as in s₁u₁v₁ᵀ.")
    adds_up = np.allclose(terms.sum(axis=0), right.sum(axis=0))
    for i, (term, wanted) in enumerate(zip(terms, right, strict=True), 1):
        gap = " Your terms add up to A, but that is not enough." if adds_up else ""
        if np.abs(term - wanted).max() > tolerance(right, 6):
            raise WrongAnswer(f"Term {i} is not sᵢuᵢvᵢᵀ with i = {i}.{gap}")


@exercise(
    "svd-7",
    "The second and third axes have the same singular value: any direction in their plane serves.",
    "Keep the first axis and add the term w wᵀ for a unit vector w between the second and third.",
)
def another_best_approximation(answer: Any) -> None:
    B = as_array(answer, (3, 3))
    rank = np.linalg.matrix_rank(B, tol=2e-3)
    if rank > 2:
        raise WrongAnswer(f"Its rank is {rank}: at most 2 is wanted.")
    if any(np.abs(B - np.diag(known)).max() < 0.01 for known in ([2, 1, 0], [2, 0, 1])):
        raise WrongAnswer(
            "It is one of the two that the exercise names, or within 0.01 of it: find a third."
        )
    # A best B keeps the first axis and projects the plane of the tie on to a line in it.
    w = np.linalg.eigh(B[1:, 1:] + B[1:, 1:].T)[1][:, -1]
    nearest = np.diag([2.0, 0.0, 0.0])
    nearest[1:, 1:] = np.outer(w, w)
    error, off = frobenius_norm(np.diag([2.0, 1.0, 1.0]) - B), np.abs(B - nearest).max()
    if error > 1.001:
        raise WrongAnswer(f"Its error is {error:.4f}, and 1 can be had.")
    if off > 2 * THREE_DIGITS:
        raise WrongAnswer(f"Close: a best one differs from it by {off:.2g} in one entry.")


@exercise(
    "svd-8",
    "How small are the singular values that you need, and how many of them?",
    "Via AᵀA the relative error of sᵢ is about ε(s₁/sᵢ)². And cond(AᵀA) = cond(A)².",
)
def which_route(answer: Any) -> None:
    words = as_words(answer, 4, ("svd", "gram", "partial"))
    expect_choices(words, WHY_NOT)


WHY_NOT = {
    (0, "svd"): "Number 1: it works, with twice the operations. Are its digits needed?",
    (
        0,
        "partial",
    ): "Number 1: with 50 columns, many of them wanted, there is nothing partial about it.",
    (1, "gram"): "Number 2: 10⁻¹⁰ squared is 10⁻²⁰, below the rounding of AᵀA: it can't tell.",
    (1, "partial"): "Number 2: products with A find large singular values, not the smallest.",
    (2, "svd"): "Number 3: as a dense array the matrix takes 80 GB.",
    (2, "gram"): "Number 3: AᵀA is as large as A and less sparse: 80 GB as a dense array.",
    (3, "gram"): "Number 4: cond(AᵀA) = 10¹⁸, and doubles have 16 digits.",
    (3, "partial"): "Number 4: least squares needs the small singular values, too.",
}


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
        if np.linalg.matrix_rank(B, tol=1e-5) == len(s):
            raise WrongAnswer("What your function returns is not singular.")
        expect_not(B, A - low_rank(A, 1), "You dropped the largest singular value.")
        expect_close(B, low_rank(A, len(s) - 1), "It is singular, but a nearer one exists.")


@exercise(
    "svd-10",
    "Least squares: project b on to the columns of U, divide by s, expand in V.",
    "thin_svd takes rtol; then x = V diag(1/s) Uᵀb with the values that it keeps.",
)
def least_squares_with_a_cut(answer: Any) -> None:
    solve = as_function(answer)
    for kept, (n, d) in enumerate(SHAPES, 1):
        for unit in (1.0, 1e4, 1e-6):  # what is small is small beside s₁ only
            s = unit * np.array([3.0, 2.0, 1e-3][:kept] + [1e-7])
            A = matrix_with_singular_values(s, n, d, kept)
            b = np.random.default_rng(kept).standard_normal(n)
            x = as_array(solve(A.copy(), b.copy(), 1e-5), (d,))
            _judge_solution(unit * x, A / unit, b, 1e-5, unit)
    A, b = matrix_with_singular_values([3.0, 2.9, 1.0, 0.8], 6, 5, 4), np.arange(1.0, 7.0)
    _judge_solution(as_array(solve(A.copy(), b.copy(), 0.3), (5,)), A, b, 0.3)  # s₁, not ‖A‖_F


def _judge_solution(x: NDArray, A: NDArray, b: NDArray, rtol: float, unit: float = 1.0) -> None:
    """Compare x with the solution for A cut at rtol · s₁, the unit of A taken off."""
    where = "" if unit == 1.0 else f" (A was {unit:g} times a matrix that went well.)"
    f = thin_svd(A, rtol=rtol)
    right = f.V @ (f.U.T @ b / f.s)
    if np.abs(x - right).max() <= tolerance(right, 6):
        return
    if np.abs(x - right).max() <= tolerance(right, 3):
        raise WrongAnswer("Close, but not right to six digits.")
    if np.linalg.norm(x) > 100 * np.linalg.norm(right):
        raise WrongAnswer(f"It is huge: a tiny singular value was inverted. Use rtol · s₁.{where}")
    unexplained = f.matrix().T @ (b - f.matrix() @ x)
    if np.abs(unexplained).max() > 1e-6:
        fewer = [g.V @ (g.U.T @ b / g.s) for g in map(f.truncate, range(f.rank))]
        if any(np.allclose(x, other) for other in fewer):
            raise WrongAnswer(f"Too much was cut: keep each s > rtol · s₁.{where}")
        raise WrongAnswer(f"b − Ax is not orthogonal to A's columns.{where}")
    why = f"It fits as well as can be, but a shorter x does the same.{where}"
    expect_close(x, right, why)


@exercise(
    "svd-11",
    "The spectral norm looks at the largest part of the error only: here it can't go below 2.",
    "Change the entry 3 of A₁ a little: as long as that error stays below 2, nobody notices.",
)
def spectral_norm_is_blind(answer: Any) -> None:
    A = np.diag([3.0, 2.0, 1.0])
    B = as_array(answer, (3, 3))
    rank = np.linalg.matrix_rank(B, tol=2e-3)
    if rank > 1:
        raise WrongAnswer(f"Its rank is {rank}: 1 is wanted.")
    if np.abs(B - np.diag([3.0, 0.0, 0.0])).max() < 0.01:
        raise WrongAnswer("That is A₁ itself, or within 0.01 of it: find another.")
    error = np.linalg.norm(A - B, 2)
    if error > 2 + 2 * THREE_DIGITS:
        raise WrongAnswer(f"Its spectral error is {error:.4f}, and 2 can be had.")


@exercise(
    "svd-12",
    "Write ‖A − Q‖²_F = ‖A‖²_F − 2 tr(QᵀA) + d: which orthogonal Q makes the trace largest?",
    "With A = U diag(s) Vᵀ it is Σ sᵢWᵢᵢ, W = VᵀQᵀU orthogonal: no entry of W exceeds 1.",
    "So W = I, that is Q = UVᵀ, with the square factors of a full SVD.",
)
def nearest_orthogonal_matrix(answer: Any) -> None:
    nearest = as_function(answer)
    mirror = np.diag([1.0, 1.0, -1.0])  # turns a positive determinant into a negative one
    rotated = matrix_with_singular_values([3.0, 2.0, 0.5], 3, 3)
    small = matrix_with_singular_values([1.2, 0.9], 2, 2)
    singular = [matrix_with_singular_values(s, 3, 3, 1) for s in ([3.0, 1.0], [2.0])]
    for A in (rotated, rotated @ mirror, small, *singular):
        _judge_orthogonal(as_array(nearest(A.copy()), A.shape), A)


def _judge_orthogonal(Q: NDArray, A: NDArray) -> None:
    """Q is nearest if QᵀA = V diag(s) Vᵀ; for a singular A several are."""
    f = thin_svd(A)
    if f.rank < len(A):
        thin = "For a singular A what it returns is not orthogonal: UVᵀ needs the full SVD."
        expect_not(Q, f.U @ f.V.T, thin)
    expect_close(Q.T @ Q, np.eye(len(A)), "What your function returns is not orthogonal.")
    if np.allclose(Q.T @ A, (f.V * f.s) @ f.V.T, atol=1e-6):
        return
    expect_not(Q, f.V @ f.U.T, "That is VUᵀ, the transpose of the nearest one.")
    raise WrongAnswer("It is orthogonal, but a nearer one exists.")


@exercise(
    "svd-13",
    "The noise is the smooth curve. What stands apart from it is L.",
    "The largest singular value of the noise is about σ(√n + √d), and √100 + √81 = 19.",
)
def rank_and_noise_from_a_picture(answer: Any) -> None:
    rank, sigma = as_numbers(answer, 2)
    if rank != 5:
        if rank < 1 or rank > 5:
            raise WrongAnswer("The rank is how many values stand apart from the smooth curve.")
        raise WrongAnswer("More values than that stand apart from the smooth curve.")
    if 0.017 <= sigma <= 0.023:
        return
    readings = {
        0.36: "That is where the noise begins: divide by √n + √d.",
        0.36 / 9.5: "For σ divide by √n + √d, not by one of the roots alone.",
        0.36 / 90: "σ√(nd) is the Frobenius norm of the noise: here divide by √n + √d.",
        0.36 / 19**2: "Divide by √n + √d, not by its square.",
    }
    for value, diagnosis in readings.items():
        if abs(sigma / value - 1) < 0.15:
            raise WrongAnswer(f"The rank is right, σ is not. {diagnosis}")
    raise WrongAnswer("The rank is right, σ is not: it is wanted to 15 %.")


@exercise(
    "svd-14",
    "Where is the gap larger than ‖E‖₂ = 0.5?",
    "For k = 2 the gap is 9.9 − 6 = 3.9. Subtract ‖E‖₂ below the fraction.",
    "sin θ ≤ 0.5/(3.9 − 0.5): take the arc sine, in degrees.",
)
def two_laboratories(answer: Any) -> None:
    k, angle = as_numbers(answer, 2)
    if k == 1:
        raise WrongAnswer("The first gap, 0.1, is smaller than ‖E‖₂: nothing is promised there.")
    if k == 3:
        raise WrongAnswer("Its gap is large enough, but a smaller k has one, too.")
    if k != 2:
        raise WrongAnswer("k is 1, 2 or 3: below the last singular value there is no gap.")
    sine = 0.5 / (9.9 - 6 - 0.5)
    mistakes = {
        sine: "k is right. That is the sine of the angle, or radians: give degrees.",
        np.degrees(np.arcsin(0.5 / 3.9)): "k is right. Below the fraction ‖E‖₂ is subtracted.",
        np.degrees(np.arcsin(0.5 / 8.4)): "k is right. The gap is s₂ − s₃ = 3.9, not s₂ − s₄.",
    }
    why = "k is right, the angle is not: it follows from the gap s₂ − s₃ and ‖E‖₂ = 0.5."
    expect_number(angle, np.degrees(np.arcsin(sine)), 2, mistakes, why)
