"""Checkers for the exercises of chapter 3: principal component analysis."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..choosing_k import hard_threshold_factor
from ..pca import encoder_decoder_loss, fit_pca
from .checking import (
    WrongAnswer,
    as_array,
    as_function,
    exercise,
    expect_close,
    expect_directions,
    expect_not,
)

FOUR_SAMPLES = np.array([[6.0, 5.0], [2.0, -3.0], [6.0, 0.0], [2.0, 2.0]])
FIRST = np.array([1.0, 2.0]) / np.sqrt(5)  # their first direction; the mean is (4, 1)


def _refuse(self: Any, *_: Any, **__: Any) -> None:
    raise WrongAnswer("Your function makes the sparse matrix dense: multiply with it instead.")


class _StaysSparseToo(sparse.csc_array):
    """The transpose of a sparse matrix that refuses to be made dense."""

    toarray = todense = __array__ = _refuse


class _StaysSparse(sparse.csr_array):
    """A sparse matrix that refuses to be made dense, and so does its transpose."""

    def transpose(self, *args: Any, **options: Any) -> sparse.csc_array:
        return _StaysSparseToo(super().transpose(*args, **options))

    toarray = todense = __array__ = _refuse


@exercise(
    "pca-1",
    "The scores are the columns of US: what is the squared length of the second one?",
    "The variance is s₂²/n.",
)
def variance_from_singular_value(answer: Any) -> None:
    expect_not(answer, 100 / 24, "That divides by n − 1; this book divides by n.")
    expect_not(answer, 100, "That is the squared length of the scores: divide by n.")
    expect_not(answer, 10 / 25, "Square the singular value before you divide by n.")
    expect_not(answer, 2, "That is the standard deviation.")
    expect_not(answer, 225 / 25, "That is the first one.")
    expect_close(answer, 4.0)


@exercise(
    "pca-2",
    "Variances are proportional to squared singular values.",
    "(s₁² + s₂²)/(s₁² + s₂² + s₃²).",
)
def share_of_two(answer: Any) -> None:
    expect_not(answer, 25 / 30, "That adds singular values: square them first.")
    expect_not(answer, 25 / 350, "That is the share that is lost.", rtol=1e-3)
    expect_not(answer, 325 / 3.5, "Right as a percentage: a number between 0 and 1 is asked for.")
    expect_not(answer, np.sqrt(325 / 350), "That is the root of the share.", rtol=1e-4)
    expect_close(answer, 325 / 350, rtol=1e-3)


@exercise(
    "pca-3",
    "Subtract the mean (4, 1) first: what remains is ±(2, 4) and ±(2, −1).",
    "XᵀX of the centred samples is [[16, 12], [12, 34]]; its eigenvalue 40 has which eigenvector?",
    "It points along (1, 2): give it length one.",
)
def first_direction_by_hand(answer: Any) -> None:
    given = as_array(np.asarray(answer, float).reshape(-1), (2,))
    length = np.linalg.norm(given)
    if not np.isclose(length, 1, rtol=1e-3):
        raise WrongAnswer(f"A direction has length one, and yours has {length:.4g}.")
    uncentred = fit_pca(FOUR_SAMPLES, 1, center=False).V[:, 0]
    for wrong, why in (
        (np.array([2.0, -1.0]) / np.sqrt(5), "That is the second direction."),
        (uncentred, "That is the first direction of the samples that were not centred."),
    ):
        if abs(given @ wrong) > 1 - 1e-6:
            raise WrongAnswer(why)
    expect_directions(given[:, None], FIRST[:, None], tol=1e-3)


@exercise(
    "pca-4",
    "Subtract the mean, take the inner product with the direction, multiply by it, add the mean.",
    "t − mean = (3, 1), and its score is √5.",
)
def reconstruct_a_new_sample(answer: Any) -> None:
    expect_not(answer, [1, 2], "The mean is missing at the end.")
    expect_not(answer, [2.2, 4.4], "The mean is missing, when encoding and when decoding.")
    expect_not(answer, [6.2, 5.4], "The mean is missing when encoding.")
    expect_not(answer, [7, 2], "That is the sample itself: it is not on the line.")
    expect_close(answer, [5, 3])


@exercise(
    "pca-5",
    "Only the product ED enters the loss.",
    "Multiply the encoder by a number and divide the decoder by it.",
)
def another_optimal_pair(answer: Any) -> None:
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise WrongAnswer("A pair (E, D) is needed.")
    E, D = as_array(answer[0], (2, 1)), as_array(answer[1], (1, 2))
    if np.isclose(np.linalg.norm(E), 1, rtol=1e-6):
        raise WrongAnswer("Your encoder has length one: the exercise asks for another.")
    loss = encoder_decoder_loss(FOUR_SAMPLES - FOUR_SAMPLES.mean(axis=0), E, D)
    if loss > 10 * (1 + 1e-6):
        raise WrongAnswer(f"Its loss is {loss:.4f}, and 10 can be had.")


@exercise(
    "pca-6",
    "They lie in the span of the centred samples. What is its largest dimension?",
    "The centred samples add up to zero, so one of them is a combination of the others.",
)
def how_many_directions(answer: Any) -> None:
    expect_not(answer, 30, "The 30 centred samples are not independent: they add up to zero.")
    expect_not(answer, 1000, "Most of the 1,000 eigenvalues are zero.")
    expect_not(answer, 999, "Count samples, not features.")
    expect_close(answer, 29)


@exercise(
    "pca-7",
    "Centre X, form K = XcXcᵀ, take its leading eigenvectors a, and combine the samples: Xcᵀa.",
    "‖Xcᵀa‖ is √λ̃ for a unit eigenvector a: divide by it.",
    "lam, a = np.linalg.eigh(Xc @ Xc.T), turned round; return Xc.T @ (a / np.sqrt(lam)).",
)
def directions_of_wide_data(answer: Any) -> None:
    directions = as_function(answer)
    for seed, (n, d, k) in enumerate([(6, 40, 2), (10, 300, 3)]):
        X = np.random.default_rng(seed).standard_normal((n, d)) * np.linspace(1, 3, n)[:, None] + 1
        given = as_array(directions(X.copy(), k), (d, k))
        lengths = np.linalg.norm(given, axis=0)
        if not np.allclose(lengths, 1):
            raise WrongAnswer(f"The columns have lengths {lengths.round(3)}: they should be 1.")
        for wrong, why in (
            (fit_pca(X, k, center=False).V, "The data have not been centred."),
            (
                fit_pca(X, n - 1).V[:, ::-1][:, :k],
                "Those have the smallest variances: turn the order.",
            ),
            (fit_pca(X, k).V[:, ::-1], "Right, in the wrong order: largest variance first."),
        ):
            if np.allclose(np.abs(np.sum(wrong * given, axis=0)), 1):
                raise WrongAnswer(why)
        expect_directions(given, fit_pca(X, k, solver="svd").V)


@exercise(
    "pca-8",
    "The mean of the rows is Xᵀ1/n, and Xc v = Xv − (x̄ᵀv)1.",
    "With y = Xc v, the product Xcᵀy is Xᵀy − x̄ (the sum of y).",
)
def multiply_with_centred_sparse(answer: Any) -> None:
    product = as_function(answer)
    for seed, (n, d) in enumerate([(30, 8), (8, 30)]):
        rng = np.random.default_rng(seed)
        dense = np.where(rng.random((n, d)) < 0.3, rng.standard_normal((n, d)) + 2, 0)
        v = rng.standard_normal(d)
        given = as_array(product(_StaysSparse(dense), v.copy()), (d,))
        Xc = dense - dense.mean(axis=0)
        expect_not(given, dense.T @ dense @ v, "That is XᵀXv: X has not been centred.")
        expect_not(given, Xc.T @ Xc @ v / n, "That is Cv: don't divide by n.")
        expect_close(given, Xc.T @ (Xc @ v))


@exercise(
    "pca-9",
    "The noise is known: τ = λ(β) √N σ, with β = 1/4.",
    "N is the longer side, 400; λ(1/4) = 1.7580.",
)
def threshold_for_a_tall_matrix(answer: Any) -> None:
    right = hard_threshold_factor(0.25) * 20 * 0.4
    centred = hard_threshold_factor(100 / 399) * np.sqrt(399) * 0.4
    expect_not(answer, 4 / np.sqrt(3) * 8, "4/√3 is for square matrices.", rtol=1e-3)
    expect_not(answer, right / 2, "That takes N from the shorter side.", rtol=1e-3)
    expect_not(answer, right / 0.4, "The factor σ is missing.", rtol=1e-3)
    expect_not(answer, right * 0.4, "That has σ² in place of σ.", rtol=1e-3)
    expect_not(answer, centred, "That counts n − 1 rows: this matrix is not centred.", rtol=2e-4)
    expect_not(answer, 12, "That is the edge of the noise: the threshold is above.", rtol=1e-3)
    expect_close(answer, right, rtol=2e-4)


@exercise(
    "pca-10",
    "Fix j and use the lemma on sums of squares about any point, with b = zⱼ.",
    "Σᵢ‖zᵢ − zⱼ‖² = ‖Z‖²_F + n‖zⱼ‖²; now add over j.",
)
def constant_of_pairwise_distances(answer: Any) -> None:
    expect_not(answer, 50, "That counts each pair once: ordered pairs count twice.")
    expect_not(answer, 98, "Pairs with i = j contribute nothing, but the constant is not 2(n − 1).")
    expect_not(answer, 2500, "That is n²: the sum over j of ‖Z‖²_F gives only one factor n.")
    expect_close(answer, 100)


@exercise(
    "pca-11",
    "Whiten the scores, then turn them back by Vᵀ.",
    "X_c V Λ^(−1/2) Vᵀ, with all d directions.",
)
def whitening_that_changes_least(answer: Any) -> None:
    whiten = as_function(answer)
    for seed, (n, d) in enumerate([(30, 3), (50, 5)]):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 3
        given = as_array(whiten(X.copy()), (n, d))
        covariance = given.T @ given / n
        if np.allclose(covariance * n / (n - 1), np.eye(d), rtol=1e-6):
            raise WrongAnswer("Its covariance is the identity with 1/(n − 1); take 1/n.")
        expect_close(covariance, np.eye(d), "What your function returns is not white.")
        U, _, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        right = np.sqrt(n) * U @ Vt
        expect_close(given, right, "It is white, but another turn of it is nearer to the data.")
