"""Kernel PCA as linear PCA of features that approximate the kernel (chapters 11 and 12)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._engine.model import Frozen
from ._engine.panels import map_rows
from ._engine.stream import features_of
from .pca import PCA, fit_pca

__all__ = ["FeaturePCA", "fit_kernel_pca_features"]


@dataclass(frozen=True, eq=False, repr=False)
class FeaturePCA(Frozen):
    """Approximate kernel PCA: a feature map, and the linear PCA of what it gives."""

    features: Callable[[Any], NDArray]  # φ̂, with φ̂(x)ᵀφ̂(y) ≈ κ(x, y)
    pca: PCA  # of the features of the training samples; its mean is the mean feature
    scores: NDArray | None = None  # (n, k) of the training samples; None if they came in blocks

    @property
    def k(self) -> int:
        """The number of components."""
        return self.pca.k

    @property
    def variances(self) -> NDArray:
        """The variance of each column of scores, near λ̃/n of kernel PCA."""
        return self.pca.variances

    @property
    def explained_ratio(self) -> NDArray:
        """The share of the variance of the features in each direction."""
        return self.pca.explained_ratio

    def encode(self, T: Any) -> NDArray:
        """Return the scores of samples, (m, k), some rows of features in memory at a time."""
        return map_rows(
            lambda rows: self.pca.encode(features_of(rows, self.features)), T, self.pca.mean.size
        )

    def __repr__(self) -> str:
        share = 100 * float(np.sum(self.explained_ratio))
        return (
            f"FeaturePCA(k={self.k} of {self.pca.mean.size} features, n={self.pca.n}, "
            f"{share:.3g} % of the variance)"
        )


def fit_kernel_pca_features(X: Any, k: int, features: Callable[[Any], NDArray]) -> FeaturePCA:
    """Approximate kernel PCA by linear PCA of explicit features :eq:`eq-feature-pca`.

    X : (n, d); features : a map whose inner products are near κ(x, y), such as
    ``nystrom(X, m, kernel)`` or ``fourier_features(d, m, sigma)``. The mean
    feature is subtracted there, which centres the approximate Gram matrix.
    Costs O(nm²) time and O(nm) memory, where the Gram matrix would take O(n²).
    """
    F = features_of(X, features)
    pca = fit_pca(F, k)
    return FeaturePCA(features, pca, map_rows(pca.encode, F, F.shape[1]))
