"""What pre-images ask of a model and of points: checks with their sentences, and small helpers.

A model is anything with the fields of kernel PCA: ``X``, ``kernel``, ``n`` and ``as_samples``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .checks import ConvergenceWarning, check_scores, data_matrix, real_array, tell
from .inner_products import middle, sample_count, squared_norms
from .kernel_algebra import Kernel, RadialKernel
from .new_samples import checked_kernel

__all__ = [
    "all_inverted",
    "kernel_of_distance",
    "length",
    "numeric_samples",
    "places_and_distances",
    "points_and_scores",
    "points_and_weights",
    "rows_of",
    "samples_and_kernel",
    "self_products",
    "spread_and_size",
    "start_points",
    "told_if_too_far",
    "vectors_and_kernel",
    "vectors_and_profile",
]

KernelLike = Callable[[Any, Any], NDArray]


def samples_and_kernel(model: Any) -> tuple[Any, KernelLike]:
    """Return the training samples, whatever they are, and the kernel; a Gram matrix has none."""
    if model.X is None:
        raise ValueError(
            "The model was fitted on a Gram matrix and knows no samples to go back to: "
            "fit it on the samples with fit_kernel_pca(X, k, kernel)."
        )
    return model.X, checked_kernel(model.kernel)


def vectors_and_kernel(model: Any, what: str) -> tuple[NDArray, Kernel]:
    """Return the training samples (n, d) and the kernel, if it has a gradient."""
    samples, kernel = samples_and_kernel(model)
    if not isinstance(kernel, Kernel):
        raise ValueError(
            f"{what} needs a kernel of kpca_edu.kernels, which knows its gradient; of a callable "
            f'only values are known. Use method="nearest", or method="ridge" for samples that '
            f"are rows of numbers."
        )
    if sparse.issparse(samples):
        raise ValueError(
            f"{what} makes dense points, and the model was fitted on a sparse matrix: use "
            f'method="nearest", or fit the model on X.toarray() if that fits in memory.'
        )
    return samples, kernel


def vectors_and_profile(model: Any, what: str) -> tuple[NDArray, RadialKernel]:
    """Return the training samples (n, d) and the kernel, if it is a profile g(‖x − y‖²)."""
    samples, kernel = vectors_and_kernel(model, what)
    if not isinstance(kernel, RadialKernel):
        raise ValueError(
            f"{what} needs a radial kernel g(‖x − y‖²), such as rbf(sigma) or laplacian(sigma): "
            f'the fixed point is derived from g. Use method="gradient" for other kernels.'
        )
    return samples, kernel


def kernel_of_distance(model: Any) -> RadialKernel:
    """Return the model's kernel if distances of inputs can be had from it."""
    if not isinstance(model.kernel, RadialKernel):
        raise ValueError(
            'method="mds" needs a kernel of the distance, such as rbf(sigma), or the linear one: '
            'others do not tell distances of inputs. Use method="gradient".'
        )
    return model.kernel


def numeric_samples(model: Any, what: str) -> NDArray:
    """Return the training samples as an (n, d) array of doubles, whatever the kernel is."""
    samples, _ = samples_and_kernel(model)
    if sparse.issparse(samples):
        return vectors_and_kernel(model, what)[0]
    try:
        return data_matrix(samples).astype(float)
    except (ValueError, TypeError):
        raise ValueError(
            f"{what} learns numbers, and the samples are no rows of numbers: "
            f'use method="nearest", which gives back one of the samples.'
        ) from None


def points_and_weights(model: Any, T: Any, gamma: ArrayLike) -> tuple[Any, NDArray]:
    """Return points, as the model's kernel takes them, and weights (m, n), a row for each point."""
    samples_and_kernel(model)
    if isinstance(model.kernel, Kernel):
        T = model.as_samples(T)
    gamma, m = data_matrix(gamma, "gamma"), sample_count(T, "T")
    if gamma.shape[1] != model.n:
        raise ValueError(
            f"gamma has {gamma.shape[1]} columns and the model {model.n} training samples: "
            f"a weight for each is needed, as model.weights(Z) gives them."
        )
    if len(gamma) != m:
        raise ValueError(
            f"{m} points and {len(gamma)} rows of weights: each point is compared with one φ̂. "
            f"Repeat rows with np.repeat where one φ̂ has several points."
        )
    return T, gamma


def points_and_scores(model: Any, T: Any, Z: ArrayLike) -> tuple[Any, NDArray]:
    """Return points, as the model's kernel takes them, and scores (m, k), a row for each point."""
    samples_and_kernel(model)
    T = model.as_samples(T, "X_hat") if isinstance(model.kernel, Kernel) else T
    Z, m = check_scores(Z, model.k), sample_count(T, "X_hat")
    if len(Z) != m:
        raise ValueError(
            f"{m} points and {len(Z)} rows of scores: each point is compared with one φ̂. "
            f"Repeat rows with np.repeat where one φ̂ has several points."
        )
    return T, Z


def start_points(model: Any, X0: ArrayLike | None, m: int) -> NDArray | None:
    """Return the starts as an (m, d) array; None if there are none."""
    if X0 is None:
        return None
    starts = model.as_samples(X0, "X0")
    if starts.shape[0] != m:
        raise ValueError(
            f"X0 has {starts.shape[0]} rows and Z has {m}: a start for each row is needed."
        )
    return starts.toarray() if hasattr(starts, "toarray") else starts


def places_and_distances(neighbors: ArrayLike, D2: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return known points (m, q, d) and squared distances (m, q) that belong together."""
    P, D2 = real_array(neighbors, "neighbors"), real_array(D2, "D2")
    if P.ndim != 3 or 0 in P.shape:
        raise ValueError(
            f"neighbors has shape {P.shape}: (m, q, d) is needed, q known points in d dimensions "
            f"for each of m places. Use neighbors[None] and D2[None] if there is one place."
        )
    if D2.shape != P.shape[:2]:
        raise ValueError(
            f"D2 has shape {D2.shape}: {P.shape[:2]} is needed, a squared distance to each of "
            f"the {P.shape[1]} neighbours."
        )
    if not (np.isfinite(P).all() and np.isfinite(D2).all()):
        raise ValueError("neighbors or D2 holds NaN or infinity: finite numbers are needed.")
    largest, limits = np.abs(P).max(), np.finfo(P.dtype)
    if largest > 1e-3 * np.sqrt(limits.max) or 0 < largest < limits.tiny:
        raise ValueError(
            f"neighbors are of size {largest:.1g}, and their squares are out of the range of "
            f"floats: divide the points by that first."
        )
    if np.any(D2 < 0):
        raise ValueError(f"D2 holds {D2.min():.4g}: squared distances are not negative.")
    return P, D2


def self_products(kernel: KernelLike, T: Any) -> NDArray:
    """Return κ(t, t) of each sample; a callable is asked for small squares on the diagonal."""
    if isinstance(kernel, Kernel):
        return kernel.diagonal(T)
    m, size = sample_count(T, "T"), 16
    parts = [T[start : start + size] for start in range(0, m, size)]
    return np.concatenate([np.diagonal(kernel(part, part)) for part in parts])


def spread_and_size(X: NDArray, kernel: Kernel) -> tuple[float, float]:
    """Return the spread of the samples and the largest |κ(x, x)| among them.

    The spread is √(Σ variances), but at most three times the median distance from the middle: a
    few far samples would else make every step of the others look small.
    """
    spread = np.sqrt(squared_norms(X - X.mean(axis=0)).mean(dtype=float))
    usual = np.sqrt(np.median(squared_norms(X - middle(X))))
    spread = min(spread, 3 * usual) if usual > 0 else spread
    return float(spread), float(np.abs(kernel.diagonal(X)).max())


def all_inverted(inverse: Callable[[NDArray], ArrayLike], inner: NDArray) -> NDArray:
    """Return what an inverse function makes of inner products, if all of it are finite numbers."""
    if not callable(inverse):
        raise ValueError(
            f"inverse is {type(inverse).__name__}: a function of an array is needed, such as "
            f"np.cbrt for κ(x, y) = (xᵀy)³."
        )
    T = real_array(inverse(inner), "inverse(…)")
    if T.shape != inner.shape or not np.isfinite(T).all():
        raise ValueError(
            "inverse(…) gave no finite number for some inner products: f⁻¹ must take every "
            "real number, as that of an odd power does (np.cbrt, not np.sqrt)."
        )
    return T


def told_if_too_far(known: NDArray) -> NDArray:
    """Return which rows have distances that could be translated; warn if some have not."""
    if failed := int(np.sum(~known)):
        tell(
            f"{failed} of {len(known)} rows are farther from samples in feature space than any two "
            f"inputs can be: those distances were cut off, and .converged tells which rows they "
            f'are in. Such scores belong to no input; method="nearest" gives a sample.',
            ConvergenceWarning,
        )
    return known


def length(model: Any, squared: NDArray) -> NDArray:
    """Return roots of squared lengths in feature space.

    Rounding may leave a negative number for zero. An indefinite kernel has true negative ones, and
    no lengths: NaN.
    """
    indefinite = np.isnan(model.total_variance) or model.clipped is not None
    roots = np.sqrt(np.maximum(squared, 0))
    return np.where(squared < 0, np.nan, roots) if indefinite else roots


def rows_of(samples: Any, places: NDArray) -> Any:
    """Return some of the samples, of the same kind: rows of a matrix or a table, or a list."""
    if hasattr(samples, "iloc"):
        return samples.iloc[places]
    if hasattr(samples, "tocsr"):
        return samples.tocsr()[places]
    if isinstance(samples, np.ndarray):
        return samples[places]
    return [samples[place] for place in places]
