"""What the factorisations of a matrix share: what counts as zero, and sizes that don't overflow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .memory import room_for

__all__ = [
    "across",
    "check_factors",
    "complement",
    "numerical_rank",
    "numpy_svd",
    "rescaled",
    "rounding",
    "tail_norms",
    "unit",
    "unit_scale",
]


def numpy_svd(A: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return U, s and V (not Vᵀ) of NumPy's SVD, with min(n, d) columns in U and V.

    Costs O(nd min(n, d)). A wide matrix is transposed first: LAPACK takes a third less time then.
    It works on a copy of A.
    """
    n, d = A.shape
    room_for(n, d, "A copy of the matrix", "randomized_svd(A, k) multiplies by A itself.")
    if n < d:
        V, s, Ut = np.linalg.svd(A.T, full_matrices=False)
        return Ut.T, s, V
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    return U, s, Vt.T


def rounding(A: NDArray) -> float:
    """Return the relative size of rounding noise in what LAPACK computes from A: max(n, d) · ε."""
    return max(A.shape) * float(np.finfo(A.dtype).eps)


def numerical_rank(falling: NDArray, rtol: float) -> int:
    """Count the values above rtol times the first one: the others can't be told from zero.

    An infinite first value is refused, as all others would count as zero beside it.
    """
    return int(np.sum(falling > rtol * max(_representable(falling)[0], 0.0)))


def unit_scale(A: NDArray) -> tuple[NDArray, float]:
    """Return A divided by its largest modulus, and that modulus (1 for A = 0).

    The squares of what is returned don't overflow, and the largest doesn't underflow.
    """
    scale = max(float(A.max()), -float(A.min())) or 1.0
    return A / A.dtype.type(scale), scale


def rescaled(values: NDArray, scale: float) -> NDArray:
    """Return scale · values, or say in a sentence that they are beyond the largest float."""
    with np.errstate(over="ignore"):
        return _representable(values * values.dtype.type(scale))


def tail_norms(s: NDArray) -> NDArray:
    """Return √(s²_{k+1} + … + s²_r) for k = 0 … r in doubles, added up from the smallest.

    No square is formed that could over- or underflow.
    """
    with np.errstate(over="ignore"):
        tails = np.hypot.accumulate(s[::-1].astype(float))[::-1]
    return np.append(_representable(tails), 0.0)


def complement(U: NDArray) -> NDArray:
    """Return n − r orthonormal columns, orthogonal to the r orthonormal ones of U. Costs O(n³)."""
    n, r = U.shape
    room_for(n, n, "A full basis", "thin_svd(A) has all that is not zero.")
    return np.linalg.qr(U, mode="complete")[0][:, r:] if r else np.eye(n, dtype=U.dtype)


def across(w: NDArray, v: NDArray) -> NDArray:
    """Return the part of w at right angles to the unit vector v."""
    return w - (v @ w) * v


def unit(v: NDArray) -> NDArray:
    """Return v at length one."""
    return v / np.linalg.norm(v)


def check_factors(A: NDArray, U: NDArray, s: NDArray, V: NDArray) -> None:
    """Refuse U and V that don't have the shapes of singular vectors of A, one for each value."""
    if U.shape != (A.shape[0], s.size) or V.shape != (A.shape[1], s.size):
        raise ValueError(
            f"U {U.shape} and V {V.shape} don't fit A {A.shape} with {s.size} singular values: "
            f"U needs shape {(A.shape[0], s.size)} and V {(A.shape[1], s.size)}, not transposed."
        )


def _representable(values: NDArray) -> NDArray:
    if np.isinf(values).any():
        raise ValueError(
            f"The result is larger than the largest number of type {values.dtype}: "
            f"divide the matrix by its largest entry first."
        )
    return values
