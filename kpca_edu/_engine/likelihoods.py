"""The likelihood of Gaussian models with k directions and equal noise, for all k at once."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .panels import row_blocks

__all__ = ["judged", "log_likelihoods", "parameter_counts"]


class _Spectrum(Protocol):
    """What is needed of a fit: mean, variances and directions."""

    @property
    def mean(self) -> NDArray: ...  # (d,)

    @property
    def lam(self) -> NDArray: ...  # (d,)

    @property
    def V(self) -> NDArray: ...  # (d, r)


def judged(fit: _Spectrum, rows: NDArray) -> NDArray:
    """Return the log-likelihood of the rows, (m, d), for k = 0 … r − 1 directions of the fit."""
    return log_likelihoods(fit.lam, fit.V, rows - fit.mean)


def log_likelihoods(lam: NDArray, V: NDArray, R: NDArray) -> NDArray:
    """Return the log-likelihood of the rows R for k = 0 … r − 1 directions: (r,).

    lam : (d,) and V : (d, r) are the variances and directions of the data that were fitted, R the
    rows to judge, less their mean. The model with k directions has the variances λ₁ … λ_k and, in
    all other directions, the mean of the rest, so the squared scores of the rows are all that
    is needed: one product R V for all k, where a model each would take r of them.
    """
    lam, V, R = lam.astype(float), V.astype(float), R.astype(float, copy=False)
    (n, d), r = R.shape, V.shape[1]
    along, outside = np.zeros(r), 0.0
    for start, stop in row_blocks(n, d):
        Z = R[start:stop] @ V
        along += np.sum(Z**2, axis=0)
        outside += float(np.sum((R[start:stop] - Z @ V.T) ** 2))
    k = np.arange(r)
    sigma2 = np.cumsum(lam[::-1])[::-1][:r] / (d - k)
    log_det = _sums_before(np.log(lam[:r])) + (d - k) * np.log(sigma2)
    rest = np.cumsum(along[::-1])[::-1] + outside
    quadratic = _sums_before(along / lam[:r]) + rest / sigma2
    return -0.5 * (n * (d * np.log(2 * np.pi) + log_det) + quadratic)


def parameter_counts(d: int, r: int) -> NDArray:
    """Return the free parameters of mean, directions and noise for k = 0 … r − 1 < d: (r,)."""
    k = np.arange(r)
    return d + d * k - k * (k - 1) // 2 + 1


def _sums_before(terms: NDArray) -> NDArray:
    """Return 0, t₁, t₁ + t₂, …, without the last term."""
    return np.append(0.0, np.cumsum(terms))[:-1]
