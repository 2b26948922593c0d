"""Learning the way back: ridge regression from scores to inputs (chapter 9, method 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.checks import check_scores, generator, whole_number
from ._engine.kernel_ridge import (
    chosen_pair,
    fewer_columns,
    kernel_list,
    positive_ridges,
    regression_data,
    scores_and_inputs,
)
from ._engine.model import Frozen
from ._engine.progress import with_progress
from .kernel_pca import KernelPCA, kernel_model
from .kernels import Kernel, median_sigma, rbf

__all__ = ["ScoreRegression", "fit_score_regression", "leave_one_out_errors"]


# The model


@dataclass(frozen=True, eq=False, repr=False)
class ScoreRegression(Frozen):
    """Ridge regression from scores to inputs: the prediction at z is mean + Σⱼ ℓ(z, zⱼ) bⱼ."""

    scores: NDArray  # (n, k) scores z of the training samples, or of dirty copies of them
    mean: NDArray  # (d,) mean of the training samples, kept out of the penalty
    coefficients: NDArray  # (n, d) rows b
    kernel: Kernel  # ℓ, on scores; not the kernel of the model
    ridge: float  # ρ, the weight of the penalty
    errors: NDArray  # (kernels, ridges) mean squared errors of leaving one out

    def predict(self, Z: ArrayLike) -> NDArray:
        """Return the input that belongs to each row of scores Z : (m, k), as (m, d)."""
        Z = check_scores(Z, self.scores.shape[1])
        X = self.mean + self.kernel(Z.astype(float), self.scores) @ self.coefficients
        return X.astype(Z.dtype, copy=False)

    def __repr__(self) -> str:
        (n, k), d = self.scores.shape, len(self.mean)
        return (
            f"ScoreRegression({k} scores to {d} features, n={n}, {self.kernel}, "
            f"ridge={self.ridge:.3g}, leave-one-out error {self.errors.min():.3g})"
        )


# The fit


def fit_score_regression(
    model: KernelPCA,
    kernel: Kernel | Sequence[Kernel] | None = None,
    *,
    ridge: float | Sequence[float] | None = None,
    noisy: ArrayLike | None = None,
    max_samples: int = 500,
    rng: int | np.random.Generator = 0,
    progress: bool = False,
) -> ScoreRegression:
    """Learn inputs from scores by kernel ridge regression :eq:`eq-pre-ridge`.

    Of several kernels on the scores and several ridges the pair with the least
    error of leaving one sample out :eq:`eq-pre-loo` is taken. If none are given:
    RBF of 1/2 to 8 times the median distance, and 10⁻⁸ to 10. More than
    ``max_samples`` samples are thinned out for the choice, not for the fit.

    noisy : (n, d) dirty copies of the training samples, if there are any. Then
    their scores are learned from, and the result is a denoiser for such dirt.
    """
    scores, X = scores_and_inputs(kernel_model(model), noisy)
    kernels = _widths(scores) if kernel is None else kernel_list(kernel)
    ridges = positive_ridges(np.logspace(-8, 1, 10) if ridge is None else ridge)
    few = generator(rng).permutation(len(X))[: whole_number(max_samples, "max_samples", least=2)]
    Y = fewer_columns(X[few] - X[few].mean(axis=0))  # the errors stay as they are
    tried = with_progress(kernels, progress, "Leaving one out")
    errors = np.array([leave_one_out_errors(ell(scores[few]), Y, ridges) for ell in tried])
    i, j = chosen_pair(errors, ridges)
    mean, L = X.mean(axis=0), kernels[i](scores)
    L_ridge = L + positive_ridges(ridges[j], felt_by=L) * np.eye(len(L))
    B = np.linalg.solve(L_ridge, X - mean)
    return ScoreRegression(scores, mean, B, kernels[i], float(ridges[j]), errors)


def leave_one_out_errors(L: ArrayLike, Y: ArrayLike, ridges: ArrayLike) -> NDArray:
    """Return the mean squared error of leaving one out, for each ridge ρ :eq:`eq-pre-loo`.

    L : (n, n) Gram matrix, Y : (n, d) values, ridges : (r,) positive numbers. One
    decomposition L = QΛQᵀ serves them all, since I − H = Q ρ/(Λ + ρ) Qᵀ.
    """
    L, Y, ridges = regression_data(L, Y, ridges)
    lam, Q = np.linalg.eigh(L)
    rotated, Q2 = Q.T @ Y, Q**2
    errors = []
    for ridge in ridges:
        kept = ridge / (np.maximum(lam, 0) + ridge)  # eigenvalues of I − H
        residuals = Q @ (kept[:, None] * rotated)  # (I − H)Y
        errors.append(np.mean((residuals / (Q2 @ kept)[:, None]) ** 2))
    return np.array(errors)


def _widths(scores: NDArray) -> list[Kernel]:
    """Return the kernels to try: as wide as the scores are apart, half as wide, and wider."""
    sigma = median_sigma(scores)
    return [rbf(factor * sigma) for factor in (0.5, 1, 2, 4, 8)]
