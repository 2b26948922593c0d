"""Products with anything that can be multiplied, and orthonormal bases of what comes out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from .checks import component_count, generator, whole_number

__all__ = [
    "NOT_FINITE",
    "Map",
    "all_finite",
    "gaussian",
    "noise",
    "orthonormal",
    "product",
    "triplet_count",
    "working_dtype",
]

Map = NDArray | LinearOperator  # what linear_map returns: shape, dtype, @ and .T
NOT_FINITE = (
    "A product with X is not finite: the entries are too large, or the operator gives NaN. "
    "Divide X by its largest entry, or mend the operator."
)


def gaussian(A: Map, size: int, rng: int | np.random.Generator) -> NDArray:
    """Return a d×size Gaussian matrix, with no more columns than X has rows or columns."""
    size = min(whole_number(size, "size", least=1), *A.shape)
    return generator(rng).standard_normal((A.shape[1], size)).astype(working_dtype(A))


def product(A: Map, B: NDArray) -> NDArray:
    """Return AB. With few columns BLAS is quicker the other way round: (BᵀAᵀ)ᵀ."""
    return (B.T @ A.T).T if isinstance(A, np.ndarray) else A @ B


def orthonormal(Y: NDArray) -> NDArray:
    """Return Q of Y = QR: orthonormal columns with the span of those of Y."""
    return np.linalg.qr(all_finite(Y))[0]


def all_finite(Y: NDArray) -> NDArray:
    if not np.isfinite(Y).all():
        raise ValueError(NOT_FINITE)
    return Y


def noise(A: Map, s: NDArray) -> float:
    """Return the size below which a singular value can't be told from rounding."""
    return float(4 * max(A.shape) * np.finfo(working_dtype(A)).eps * s.max(initial=0.0))


def working_dtype(A: Map) -> np.dtype:
    """Return the precision to work in: that of X if it is made of floats."""
    return A.dtype if A.dtype is not None and A.dtype.kind == "f" else np.dtype(float)


def triplet_count(A: Map, k: int) -> int:
    n, d = A.shape
    return component_count(k, min(n, d), f"a {n}×{d} matrix", least=1)
