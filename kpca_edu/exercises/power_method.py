"""Checkers for the exercises of chapter 2: the power method and its relatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..datasets import matrix_with_singular_values
from ..power_method import power_iteration
from ..svd import SVD, thin_svd
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


@exercise(
    "power-method-1",
    "Coordinate i is multiplied by λᵢ = sᵢ² in each step.",
    "After two steps the coordinates are in the proportion 81·1, 16·2, 1·2.",
)
def tangent_by_hand(answer: Any) -> None:
    expect_not(
        answer,
        np.hypot(8, 2) / 9,
        "You multiplied by the singular values: XᵀX has their squares.",
    )
    expect_not(answer, np.hypot(16, 1) / 81, "The start does not have equal coordinates.")
    expect_not(answer, 81 / np.hypot(32, 2), "That is the cotangent: turn it over.")
    expect_not(answer, np.hypot(32, 2) / np.hypot(81, np.hypot(32, 2)), "That is the sine.")
    expect_close(answer, np.hypot(32, 2) / 81, rtol=1e-3)


@exercise(
    "power-method-2",
    "The tangent falls by the factor λ₂/λ₁ a step, the error of the value by its square.",
    "Solve 0.9^t = 1/1000 for the vector, and 0.9^(2t) = 1/1000 for the value; round up.",
)
def steps_for_three_digits(answer: Any) -> None:
    given = as_array(answer, (2,))
    if np.array_equal(given, [33, 66]):
        raise WrongAnswer("Both numbers are right, in the other order.")
    if np.array_equal(given, [33, 17]):
        raise WrongAnswer("0.9 is already the ratio of eigenvalues: don't square it once more.")
    if np.array_equal(given, [65, 32]):
        raise WrongAnswer("Round up: one step fewer is not enough.")
    expect_close(given, [66, 33])


@exercise(
    "power-method-3",
    "One step is X.T @ (X @ v), divided by its length.",
    "Divide after each of the two products: then no number becomes larger than ‖X‖₂.",
    "Repeat t times: u = X @ v; u = u / norm(u); v = X.T @ u; v = v / norm(v).",
)
def powers_that_survive(answer: Any) -> None:
    steps_of = as_function(answer)
    for scale in (1.0, 1e100, 1e-100):
        X = matrix_with_singular_values([3.0, 2.5, 1.0], 6, 4, rng=1)
        v = np.array([0.5, 0.5, -0.5, 0.5])
        right = np.linalg.matrix_power(X.T @ X, 5) @ v
        right = right / np.linalg.norm(right)
        with np.errstate(all="ignore"):
            given = np.asarray(steps_of(scale * X, v.copy(), 5), float)
        if given.shape == (4,) and (not np.isfinite(given).all() or not given.any()):
            raise WrongAnswer(f"It breaks for entries of size {scale:g}: normalise every step.")
        given = as_array(given, (4,))
        if not np.isclose(np.linalg.norm(given), 1):
            raise WrongAnswer(f"Its length is {np.linalg.norm(given):.4g}: it should be 1.")
        expect_directions(given[:, None], right[:, None], "That is not the vector after 5 steps.")


@exercise(
    "power-method-4",
    "Write My = (v₁ + (1 − g)v₂)/√2. What is ρ = yᵀMy?",
    "ρ = 1 − g/2, so My − ρy = (g/2)(v₁ − v₂)/√2.",
)
def residual_at_45_degrees(answer: Any) -> None:
    residual = as_function(answer)
    for g in (0.5, 1e-2, 1e-4):
        given = as_number(residual(g))
        expect_not(given, g, "That is the gap itself. Compute ρ first: it is not 1.")
        expect_not(given, g / np.sqrt(2), "That is ‖My − y‖: ρ is not 1.")
        expect_not(given, g / (2 - g), "That is divided by ρ; the length itself is asked for.")
        expect_close(given, g / 2)


@exercise(
    "power-method-5",
    "Split y into its part p in the leading plane and the rest.",
    "Each step multiplies p by λ₁ exactly, and the rest by at most λ₃.",
    "The coordinates after two steps are in the proportion 16·1, 16·2, 1·2.",
)
def tangent_to_a_plane(answer: Any) -> None:
    expect_not(
        answer,
        np.hypot(32, 2) / 16,
        "That is the angle to v₁ alone: nothing singles it out in the plane.",
    )
    expect_not(answer, 1 / 16, "That is the factor by which the tangent fell.", rtol=1e-3)
    expect_close(answer, 2 / np.hypot(16, 32), rtol=1e-3)


@exercise(
    "power-method-6",
    "power_eigen(K) gives the first pair.",
    "Subtract the pair from K: the matrix K − λaaᵀ has the second eigenvalue on top.",
    "Give each run a start of its own, power_eigen(…, rng=i): think of a tie.",
)
def leading_eigenvalues_of_a_gram_matrix(answer: Any) -> None:
    largest_of = as_function(answer)
    for lam, k in (([5.0, 3.0, 1.0], 2), ([2.0, 2.0, 0.5], 2), ([6.0, 3.0, 3.0, 1.0], 3)):
        K = _with_eigenvalues(lam)
        given = np.sort(as_array(largest_of(K.copy(), k), (k,)))[::-1]
        distinct = sorted(set(lam), reverse=True)
        if len(distinct) < len(lam) and np.allclose(given, distinct[:k]):
            raise WrongAnswer(f"In a tie, {lam}, the second copy is missed: start anew.")
        if lam[0] != lam[1]:
            expect_not(given, [lam[0]] * k, "The same pair again and again: subtract it from K.")
        expect_not(given, np.sqrt(lam[:k]), "Those are square roots: eigenvalues are asked for.")
        expect_close(given, lam[:k], f"For eigenvalues {lam} it gives {given.round(4)}.", 1e-5)


@exercise(
    "power-method-7",
    "In the long run the residual falls by the factor λ₂/λ₁ in each step.",
    "Divide the last entry of run.history.residual by the one before.",
)
def ratio_from_the_history(answer: Any) -> None:
    ratio_of = as_function(answer)
    for ratio in (0.64, 0.81, 0.25):
        X = matrix_with_singular_values([2.0, 2 * np.sqrt(ratio), 0.1], 8, 6, rng=2)
        given = as_number(ratio_of(power_iteration(X, tol=1e-6)))
        expect_not(given, np.sqrt(ratio), "That is s₂/s₁: the ratio of its squares is asked.", 1e-2)
        expect_not(given, ratio**2, "The *value* converges at the square of the ratio.", 1e-2)
        expect_close(given, ratio, f"For λ₂/λ₁ = {ratio} it gives {given:.4f}.", 1e-2)


@exercise(
    "power-method-8",
    "Each product with X or with Xᵀ reads the whole matrix once.",
    "One product makes XΩ, two more belong to each power step, and one makes QᵀX.",
)
def passes_over_the_data(answer: Any) -> None:
    expect_not(answer, 3, "Each power step multiplies by X and by Xᵀ: two passes.")
    expect_not(answer, 6, "Those are the power steps; XΩ and QᵀX read X too.")
    expect_not(answer, 7, "One pass is still missing.")
    expect_close(answer, 8)


@exercise(
    "power-method-9",
    "The bound exceeds the optimum by the factor √(1 + k/(p − 1)).",
    "Solve 1 + 20/(p − 1) ≤ 1.21 for p, and round up.",
)
def columns_for_ten_percent(answer: Any) -> None:
    expect_not(answer, 201, "You forgot the square root: the factor is √(1 + k/(p − 1)).")
    expect_not(answer, 96, "Nearly: p − 1 must be at least 95.24.")
    expect_not(answer, 117, "That is k + p: the oversampling p alone is asked for.")
    expect_close(answer, 97)


@exercise(
    "power-method-10",
    "What do the found triplets leave over? Its largest singular value must not exceed s_k.",
    "deflate(X, svd) is the rest, and spectral_norm_bounds gives its norm from both sides.",
    "Compare the lower bound with svd.s[-1], with a little room for rounding.",
)
def was_one_missed(answer: Any) -> None:
    missed = as_function(answer)
    X = matrix_with_singular_values([5.0, 4.0, 4.0, 3.0, 1.0], 30, 20, rng=3)
    f = thin_svd(X)
    for columns in ([0, 1, 2], [0, 1, 3], [1, 2], [0, 1, 2, 3, 4], [0], [0, 2, 3], [3]):
        part = SVD(f.U[:, columns], f.s[columns], f.V[:, columns])
        given = missed(X.copy(), part)
        if not isinstance(given, bool | np.bool_):
            raise WrongAnswer(f"It should return True or False, and returns {given!r:.60}.")
        right = columns != list(range(len(columns)))
        if given != right:
            found, words = part.s.round(6).tolist(), "has" if right else "has not"
            raise WrongAnswer(
                f"For s = 5, 4, 4, 3, 1 and the found {found} one {words} been missed."
            )


@exercise(
    "power-method-11",
    "A page gives its rank to those it links to, in equal parts.",
    "Each step is r ← 0.85·(r @ P) + 0.15/n, where row i of P is L[i] divided by its sum.",
    "A page without links: let its row of P be 1/n everywhere.",
)
def ranks_of_pages(answer: Any) -> None:
    ranks = as_function(answer)
    ring = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 1, 0]], float)
    for links in (ring, np.vstack([ring[:3], np.zeros(4)])):
        given = as_array(ranks(links.copy()), (4,))
        if not np.isclose(given.sum(), 1, atol=1e-5):
            raise WrongAnswer(
                f"The ranks should add up to 1, and yours add up to {given.sum():.4f}."
            )
        expect_not(given, _page_rank(links.T), "You follow the links backwards.", 1e-4)
        expect_not(given, _page_rank(links, 1.0), "The random jumps are missing.", 1e-3)
        expect_close(given, _page_rank(links), rtol=1e-4)


@exercise(
    "power-method-12",
    "M − σI has the same eigenvectors; its eigenvalues are moved by σ, and |·| decides.",
    "The rate is max(|0.9 − σ|, |0.1 − σ|)/(1 − σ): choose σ in the middle of 0.1 and 0.9.",
)
def best_shift(answer: Any) -> None:
    given = as_array(answer, (2,))
    if np.allclose(given, [0.8, 0.5]):
        raise WrongAnswer("Both numbers are right, in the other order.")
    if np.isclose(given[0], 0.9) or np.isclose(given[0], 0.1):
        raise WrongAnswer("That removes one end of the interval, and the other end takes over.")
    expect_close(given, [0.5, 0.8])


def _with_eigenvalues(lam: list[float]) -> NDArray:
    Q = np.linalg.qr(np.random.default_rng(len(lam)).standard_normal((6, len(lam))))[0]
    return (Q * lam) @ Q.T


def _page_rank(links: NDArray, follow: float = 0.85) -> NDArray:
    """Solve r = follow · rP + (1 − follow)/n directly."""
    n = len(links)
    out = links.sum(axis=1, keepdims=True)
    P = np.where(out > 0, links / np.where(out > 0, out, 1), 1 / n)
    G = follow * P + (1 - follow) / n
    lam, vectors = np.linalg.eig(G.T)
    r = np.real(vectors[:, np.argmax(np.real(lam))])
    return r / r.sum()
