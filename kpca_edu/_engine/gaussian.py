"""What a Gaussian model is made of: checked parameters, and one SVD of complete data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import component_count, data_matrix, real_array
from .sums import column_means

__all__ = [
    "centred_svd",
    "complete_matrix",
    "count_that_leaves_noise",
    "in_range",
    "parameters",
    "refuse_out_of_range",
    "span",
]


def parameters(mean: Any, W: Any, sigma2: Any) -> dict[str, NDArray | float]:
    """Return mean, (d,), W, (d, k), and the noise σ² ≥ 0, if they make a model."""
    W, mean, noise = real_array(W, "W"), real_array(mean, "mean"), real_array(sigma2, "sigma2")
    fit = W.ndim == 2 and mean.shape == W.shape[:1] and noise.ndim == 0
    finite = np.isfinite(W).all() and np.isfinite(mean).all()
    if not (fit and finite and 0 <= noise < np.inf):
        raise ValueError(
            f"mean {mean.shape}, W {W.shape} and sigma2={sigma2!r} make no model: shapes (d,) and "
            f"(d, k) and a number sigma2 ≥ 0 are needed, all finite."
        )
    return {"mean": mean, "W": W, "sigma2": float(noise)}


def span(W: NDArray) -> NDArray:
    """Return orthonormal columns with the span of those of W, of which some may be zero."""
    U, s, _ = np.linalg.svd(W.astype(float), full_matrices=False)
    eps = max(W.shape) * float(np.finfo(W.dtype).eps)
    return U[:, s > eps * s.max(initial=0.0)]


def complete_matrix(X: ArrayLike) -> NDArray:
    """Return X as a matrix without gaps, or point to EM."""
    X = data_matrix(X, missing=True)
    if gaps := int(np.isnan(X).sum()):
        raise ValueError(
            f"X holds NaN, {gaps} in all: the closed form needs every value. "
            f"fit_ppca_em takes NaN as missing."
        )
    return X


def centred_svd(X: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return x̄, (d,), and of X − 1x̄ᵀ the singular values, (r,) in doubles, and V, (d, r).

    A singular value that rounding in X itself can cause counts as zero. Costs O(nd·min(n, d))
    operations and memory for three more matrices like X.
    """
    mean = column_means(X)
    Xc = X - mean
    scale = float(np.abs(Xc).max()) or 1.0
    size = float(np.abs(X).max()) or 1.0
    Xc /= X.dtype.type(scale)
    rounding = float(np.finfo(X.dtype).eps) * np.linalg.norm(X / X.dtype.type(size)) * size
    if len(Xc) > Xc.shape[1]:
        Xc = np.linalg.qr(Xc, mode="r")  # the same s and V in d rows
    _, s, Vt = np.linalg.svd(Xc, full_matrices=False)
    s = s.astype(float) * scale
    rank = int(np.sum(s > 4 * rounding))
    if rank:
        refuse_out_of_range(scale)
    return mean, s[:rank], Vt[:rank].T


def refuse_out_of_range(largest: float) -> None:
    """Refuse data whose variances would over- or underflow, by their largest deviation."""
    if not 1e-152 < largest < 1e152:
        raise ValueError(
            f"X varies by up to {largest:.1g}, and the square of that is out of the range of "
            f"floats: give X in other units, such as X / {largest:.0e}."
        )


def in_range(logs: NDArray) -> NDArray:
    """Return log densities, if none of the rows is so far away that it has none."""
    if not np.isfinite(logs).all():
        raise ValueError(
            f"Row {int(np.argmin(np.isfinite(logs)))} of X is so far from the mean that the "
            f"logarithm of its density overflows: are its units those of the model?"
        )
    return logs


def count_that_leaves_noise(k: int, n: int, d: int, rank: int) -> int:
    """Return k as a number of directions that leaves some of the variance to the noise."""
    k = component_count(k, d, f"a {n}×{d} matrix")
    if rank == 0:
        raise ValueError(
            "X has zero variance: all rows are the same, and the likelihood grows without "
            "bound as σ² → 0. Rows that differ are needed."
        )
    if rank <= min(k, d - 1):
        raise ValueError(
            f"k={k} components asked of centred rows that span only {rank} dimensions of {d}: "
            f"nothing is left for the noise, and the likelihood grows without bound as σ² → 0. "
            f"Ask for at most k={rank - 1}, or use PCA, which needs no noise."
        )
    return k
