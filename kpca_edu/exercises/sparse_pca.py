"""Checkers for the exercises of chapter 8, sparse PCA."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..datasets import pitprops
from ..sparse_pca import adjusted_variances, best_subset, simple_threshold, sparse_direction
from .checking import (
    WrongAnswer,
    as_array,
    as_function,
    exercise,
    expect_close,
    expect_directions,
    expect_not,
)

THREE = np.array([[3.0, 0.0, 2.0], [0.0, 4.0, 1.0], [2.0, 1.0, 3.0]])


def _random_covariance(seed: int, d: int) -> NDArray:
    X = np.random.default_rng(seed).standard_normal((5 * d, d)) * np.linspace(2, 1, d)
    X = X + 0.7 * np.roll(X, 1, axis=1)
    return X.T @ X / len(X)


@exercise(
    "sparse-pca-1",
    "The ridge of the score of an eigenvector v is a multiple of v. Which one?",
    "The factor is λ/(λ + ridge).",
)
def length_of_a_ridge_direction(answer: Any) -> None:
    expect_not(answer, 0.3, "That is ridge/(λ + ridge): what is lost, not what is left.")
    expect_not(answer, 7 / 3, "That is λ/ridge.")
    expect_not(answer, 1, "It is parallel to v, but shorter.")
    expect_not(answer, 49 / 52, "λ is already the square of a singular value: don't square again.")
    expect_not(answer, np.sqrt(0.7), "No square root: the factor itself is asked for.", rtol=1e-4)
    expect_close(answer, 0.7, rtol=1e-3)


@exercise(
    "sparse-pca-2",
    "Every entry moves towards zero by half the penalty, and stops there.",
    "Half the penalty is 1: 2.5 becomes 1.5, and −0.9 becomes 0.",
)
def soft_threshold_by_hand(answer: Any) -> None:
    expect_not(answer, [0.5, 0, -2, 0], "That moves by l1: the criterion gives l1/2.")
    expect_not(answer, [2.5, 0, -4, 0], "That cuts, and leaves the others: they move as well.")
    expect_not(answer, [1.5, 0, 3, 0], "The signs stay as they are.")
    expect_not(answer, [1.5, -1.9, -5, -0.4], "Move towards zero, and not down.")
    expect_close(answer, [1.5, 0, -3, 0])


@exercise(
    "sparse-pca-3",
    "There are three pairs of features. Take the larger eigenvalue of each 2×2 block.",
    "For [[a, c], [c, b]] it is (a + b)/2 + √((a − b)²/4 + c²).",
)
def best_pair_by_hand(answer: Any) -> None:
    expect_not(answer, 4, "That is the pair without covariance: another one has more.")
    expect_not(answer, 7, "That is a sum of two variances: take the largest eigenvalue.")
    expect_not(answer, (7 + np.sqrt(5)) / 2, "That is the second-best pair.", rtol=1e-3)
    expect_not(answer, np.linalg.eigvalsh(THREE)[-1], "That uses all three features.", rtol=1e-3)
    expect_not(answer, [0, 2], "Those are the features: the variance is asked for.")
    expect_close(answer, 5, rtol=1e-4)


@exercise(
    "sparse-pca-4",
    "All loadings are zero if zero fulfils the conditions: |2Ca| ≤ l1 in every entry.",
    "Ca = (3.4, 0.8, 3.6).",
)
def largest_useful_penalty(answer: Any) -> None:
    expect_not(answer, 3.6, "The slope of the square brings a factor 2.")
    expect_not(answer, 6.8, "Another entry of Ca is larger.")
    expect_not(answer, 2 * np.linalg.norm([3.4, 0.8, 3.6]), "Take the largest entry.", rtol=1e-3)
    expect_not(answer, 1.6, "At that penalty only the second loading is sure to be zero.")
    expect_not(answer, 2 * 7.8, "Take the largest entry, not the sum.")
    expect_close(answer, 7.2, rtol=1e-4)


@exercise(
    "sparse-pca-5",
    "Go through the coordinates again and again. For one, all others are held.",
    "rest = c[j] − Σ_{i≠j} C[j, i] b[i] with c = Ca.",
    "b[j] is the soft threshold of rest at l1/2, divided by C[j, j] + ridge.",
)
def elastic_net_by_coordinates(answer: Any) -> None:
    solve = as_function(answer)
    for seed, d in enumerate((3, 6)):
        C = _random_covariance(seed, d)
        a, l1, ridge = np.linalg.eigh(C)[1][:, -1], 0.6, 0.3
        given = as_array(solve(C.copy(), a.copy(), l1, ridge), (d,))
        doubled = sparse_direction(C, a, 2 * l1, ridge)
        expect_not(given, doubled, "Your threshold is twice too large: it is l1/2.", rtol=1e-5)
        halved = sparse_direction(C, a, l1 / 2, ridge)
        expect_not(given, halved, "Your threshold is too small by two: it is l1/2.", rtol=1e-5)
        without = sparse_direction(C, a, l1, 0.0)
        expect_not(given, without, "The ridge is missing in the denominator.", rtol=1e-5)
        expect_not(given, sparse_direction(C, a, 0, ridge), "There is no threshold.", rtol=1e-5)
        expect_close(given, sparse_direction(C, a, l1, ridge), "Have you iterated enough?", 1e-5)


@exercise(
    "sparse-pca-6",
    "Multiply by C first, then look for the m largest moduli.",
    "Set the others to zero and divide by the length.",
)
def one_truncated_step(answer: Any) -> None:
    step = as_function(answer)
    for seed, (d, m) in enumerate(((5, 2), (8, 3))):
        C = _random_covariance(seed + 10, d)
        x = np.ones(d) / np.sqrt(d)
        x[::2] *= -1
        given = as_array(step(C.copy(), x.copy(), m), (d,))
        if np.count_nonzero(given) != m:
            raise WrongAnswer(f"{np.count_nonzero(given)} entries are non-zero, and {m} are asked.")
        length = np.linalg.norm(given)
        if not np.isclose(length, 1):
            raise WrongAnswer(f"It has the length {length:.4g}: normalise at the end.")
        right = simple_threshold((C @ x)[:, None], m)
        if np.allclose(np.abs(given), np.abs(simple_threshold(x[:, None], m)[:, 0])):
            raise WrongAnswer("That truncates x itself: multiply by C first.")
        signed = np.argsort(-(C @ x), kind="stable")[:m]
        if set(np.flatnonzero(given)) == set(signed) != set(np.flatnonzero(right)):
            raise WrongAnswer("That keeps the largest entries: take the largest moduli.")
        expect_directions(given[:, None], right)


@exercise(
    "sparse-pca-7",
    "QR of the scores: the second column of Q is what is new in the second score.",
    "Centre X, scale the columns of B to length one, Z = X_c B, and square the diagonal of R.",
    "np.diag(np.linalg.qr(Z)[1])**2 / n",
)
def adjusted_by_qr(answer: Any) -> None:
    adjusted = as_function(answer)
    for seed, (n, d, k) in enumerate(((20, 4, 2), (30, 6, 3))):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 2
        B = simple_threshold(rng.standard_normal((d, k)), 3)
        given = as_array(adjusted(X.copy(), B.copy()), (k,))
        right, Z = adjusted_variances(X, B), (X - X.mean(axis=0)) @ B
        expect_not(given, np.var(Z, axis=0), "Those are plain variances: shared parts count twice.")
        expect_not(given, right * n / (n - 1), "That divides by n − 1; this book divides by n.")
        expect_not(given, right * n, "Divide by n.")
        expect_not(given, np.sqrt(right), "Square the diagonal of R.")
        raw = np.diag(np.linalg.qr(X @ B)[1]) ** 2 / n
        expect_not(given, raw, "The data have not been centred.")
        expect_close(given, right)


@exercise(
    "sparse-pca-8",
    "What remains of the second score after a regression on the first?",
    "The share 1 − r² of its variance, with the correlation r.",
)
def adjusted_from_correlation(answer: Any) -> None:
    expect_not(answer, 9, "That is the plain variance: a part of it was counted before.")
    expect_not(answer, 5.4, "That is 9(1 − r): square the correlation.")
    expect_not(answer, 1.44, "That is the part that the first score explains.")
    expect_not(answer, 5, "Variances don't subtract like that.")
    expect_not(answer, 4 * 0.84, "That is the first one, adjusted for the second.")
    expect_close(answer, 9 * (1 - 0.4**2), rtol=1e-4)


@exercise(
    "sparse-pca-9",
    "Subtract (bᵀCb) bbᵀ with b = (1, 0): only the upper left entry changes.",
    "[[0, 2], [2, 3]] has the determinant −4 and the trace 3.",
)
def hotelling_by_hand(answer: Any) -> None:
    expect_not(answer, 0, "That is projection deflation.")
    expect_not(answer, 4, "That is the largest one.")
    expect_not(answer, 1, "That is the smallest one before the deflation.")
    expect_not(answer, 5 / 3, "That is the Schur complement.", rtol=1e-3)
    expect_not(answer, -4, "That is the determinant.")
    expect_close(answer, -1)


@exercise(
    "sparse-pca-10",
    "For each k compare the supports: np.flatnonzero of both directions.",
    "best_subset(C, k).support, and simple_threshold(v, k) with v as a 13×1 matrix.",
)
def where_thresholding_fails(answer: Any) -> None:
    try:
        given = sorted(float(k) for k in answer)
    except (TypeError, ValueError, OverflowError):
        raise WrongAnswer("A list of whole numbers is needed.") from None
    C, _ = pitprops()
    v = np.linalg.eigh(C)[1][:, -1:]
    supports = {k: set(np.flatnonzero(simple_threshold(v, k))) for k in range(1, 14)}
    fails = [k for k in supports if supports[k] != set(best_subset(C, k).support)]
    if given == sorted(set(range(1, 14)) - set(fails)):
        raise WrongAnswer("That is where it finds the best support: the others are asked for.")
    if given == list(range(2, 13)):
        raise WrongAnswer("There the *values* differ, for the loadings do: compare supports.")
    if given != fails:
        raise WrongAnswer("")
