"""By what the estimators are judged: the density of a Gaussian plane, and the noise left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .estimating import Transformer

__all__ = [
    "GaussianPlane",
    "MeanScore",
    "gaussian_scores",
    "mean_of_rest",
    "noise_left",
    "plane_covariance",
]


class MeanScore(Transformer):
    """Estimators that are judged by a log-density."""

    def score_samples(self, X: Any) -> NDArray:
        """Return the log-density of each sample."""
        raise NotImplementedError

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-density of the samples."""
        return float(np.mean(self.score_samples(X)))


class GaussianPlane(MeanScore):
    """What scikit-learn's PCA tells of the Gaussian with its variances and equal noise."""

    explained_variance_: NDArray
    mean_: NDArray
    noise_variance_: float

    def get_covariance(self) -> NDArray:
        """Return the covariance of the model: its directions, and equal noise in all others."""
        return plane_covariance(self._model.V, self.explained_variance_, self.noise_variance_)

    def get_precision(self) -> NDArray:
        """Return the inverse of :meth:`get_covariance`, within its plane if it is singular."""
        return np.linalg.pinv(self.get_covariance(), hermitian=True)

    def score_samples(self, X: Any) -> NDArray:
        """Return the log-density of each sample under the Gaussian with that covariance."""
        X = self._samples(X)
        X = X.toarray() if hasattr(X, "toarray") else X
        return gaussian_scores(X - self.mean_, self.get_covariance())


def mean_of_rest(total: float, kept: NDArray, most: int) -> float:
    """Return the mean of the variances that were not kept, of ``most`` in all; 0 if none is."""
    left = most - len(kept)
    return max(total - float(kept.sum()), 0.0) / left if left else 0.0


def plane_covariance(V: NDArray, variances: NDArray, noise: float) -> NDArray:
    """Return the covariance with these variances along V's columns, and noise in all others."""
    excess = np.maximum(variances - noise, 0.0)
    C = (V * excess) @ V.T
    C[np.diag_indices_from(C)] += noise
    return C


def gaussian_scores(R: NDArray, C: NDArray) -> NDArray:
    """Return log N(r; 0, C) of each row r; of a singular C the density in its own plane."""
    lam, V = np.linalg.eigh(C)
    kept = lam > len(lam) * np.finfo(lam.dtype).eps * max(float(lam[-1]), 0.0)
    Z = R @ V
    size = np.sqrt(np.finfo(Z.dtype).eps) * np.linalg.norm(R, axis=1)
    outside = np.linalg.norm(Z[:, ~kept], axis=1) > size  # off the plane of a singular Gaussian
    quadratic = np.sum(Z[:, kept] ** 2 / lam[kept], axis=1)
    count = int(kept.sum())
    logs = -0.5 * (quadratic + count * np.log(2 * np.pi) + np.sum(np.log(lam[kept])))
    return np.where(outside, -np.inf, logs)


def noise_left(
    clean: Callable[[NDArray], NDArray], X: NDArray, noise: float, rng: np.random.Generator
) -> float:
    """Return Σ‖clean(x + ε) − x‖² / Σ‖ε‖², with ε of that deviation added to each row x."""
    dirt = noise * rng.standard_normal(X.shape)
    return float(np.sum((clean(X + dirt) - X) ** 2) / np.sum(dirt**2))
