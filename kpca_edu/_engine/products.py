"""Products with anything that can be multiplied, and orthonormal bases of what comes out.

All of it stays in NumPy's own BLAS: in a loop that alternates NumPy and SciPy the threads of two
BLAS libraries fight for the cores.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from .checks import (
    component_count,
    data_matrix,
    generator,
    linear_map,
    orthonormal_columns,
    real_array,
    symmetric_map,
    times,
    whole_number,
)
from .memory import room_for

__all__ = [
    "Map",
    "MatrixLike",
    "NoisyOperator",
    "Rng",
    "as_map",
    "as_symmetric_map",
    "finite",
    "gaussian",
    "length",
    "noise",
    "orth",
    "orthonormal_block",
    "relative_residuals",
    "start_vector",
    "triplet_count",
    "triplets_of",
    "unit",
    "unit_vector",
    "without",
]

Rng = int | np.random.Generator
Product = Callable[[NDArray], NDArray]
NOT_FINITE = (
    "A product with X is not finite: the entries are too large, or the operator gives NaN. "
    "Divide X by its largest entry, or mend the operator."
)
TALL = 500  # rows from which the Gram matrix of a few columns is quicker than Householder's QR


class Map:
    """A matrix that has been checked and is only multiplied: ``X @ B`` and ``X.T @ B``.

    It has ``shape``, ``dtype`` (single or double precision) and ``noise``, the size of the
    rounding errors that its products are known to carry; 0 if nothing is known.
    """

    __array_ufunc__ = None  # so that NumPy leaves B @ X alone

    def __init__(self, A: Any, noise: float = 0.0):
        self.A, self.noise = A, noise
        self.shape: tuple[int, int] = A.shape
        self.dtype: np.dtype[np.float32] | np.dtype[np.float64] = (
            np.dtype(np.float32) if A.dtype == np.float32 else np.dtype(np.float64)
        )

    def __matmul__(self, B: NDArray) -> NDArray:
        if B.ndim == 2 and B.shape[1] == 0:  # operators can't
            return np.empty((self.shape[0], 0), self.dtype)
        if isinstance(self.A, np.ndarray) and B.ndim == 2:
            return _turned_product(self.A, B)
        return np.asarray(times(self.A, B), self.dtype)

    @cached_property
    def T(self) -> Map:
        return Map(self.A.T, self.noise)


MatrixLike = ArrayLike | sparse.sparray | sparse.spmatrix | LinearOperator | Map


def _turned_product(A: NDArray, B: NDArray) -> NDArray:
    """Return AB as (BᵀAᵀ)ᵀ: with few columns and AVX-512, BLAS takes about half of the time so.

    With AVX2 it takes a tenth more if two or three columns are left over from fours: columns of
    zeros fill them up.
    """
    columns = B.shape[1]
    if columns > 4 and columns % 4 > 1:
        B = np.pad(B, [(0, 0), (0, -columns % 4)])
    return (B.T @ A.T)[:columns].T


class NoisyOperator(LinearOperator):
    """An operator given by its products with X and Xᵀ, and the size of their rounding errors."""

    def __init__(self, X: Map, times: Product, transpose_times: Product, noise: float):
        super().__init__(X.dtype, X.shape)  # type: ignore[call-arg]
        self.times, self.transpose_times = times, transpose_times
        self.X, self.noise = X, max(noise, X.noise)

    def __matmul__(self, B: Any) -> Any:
        """Multiply arrays without further checks, all else as operators do."""
        return self.times(B) if isinstance(B, np.ndarray) else super().__matmul__(B)

    def _matvec(self, x: NDArray) -> NDArray:
        return self.times(np.ravel(x))

    def _matmat(self, B: NDArray) -> NDArray:
        return self.times(B)

    def _transpose(self) -> NoisyOperator:
        return NoisyOperator(self.X.T, self.transpose_times, self.times, self.noise)

    _adjoint = _transpose


def as_map(X: Any) -> Map:
    """Return X, checked, as a :class:`Map`; one that is a Map already comes back as it is."""
    return X if isinstance(X, Map) else Map(linear_map(X), getattr(X, "noise", 0.0))


def as_symmetric_map(K: Any) -> Map:
    """Return K as :func:`as_map` does, after a look at its symmetry."""
    return K if isinstance(K, Map) else Map(symmetric_map(K))


def length(x: NDArray) -> float:
    """Return ‖x‖₂ of a vector, without over- or underflow; refuse what is not finite."""
    with np.errstate(over="ignore"):
        square = float(np.dot(x, x))
    limits = np.finfo(x.dtype)
    if float(limits.tiny) / float(limits.eps) <= square <= float(limits.max):
        return math.sqrt(square)
    largest = float(np.abs(x).max(initial=0.0))
    if not math.isfinite(largest):
        raise ValueError(NOT_FINITE)
    x = x / (largest or 1.0)
    size = largest * math.sqrt(float(np.dot(x, x)))
    if size > float(limits.max):
        raise ValueError(NOT_FINITE)
    return size


def unit(x: NDArray) -> tuple[NDArray, float]:
    """Return x/‖x‖ and ‖x‖; the zero vector stays what it is."""
    size = length(x)
    return x / (size or 1.0), size


def orthonormal_block(Q: ArrayLike, X: Map, name: str) -> NDArray:
    """Return Q as orthonormal columns that X can be multiplied by."""
    Q = orthonormal_columns(Q, name)
    if len(Q) != X.shape[1]:
        raise ValueError(
            f"{name} has {len(Q)} rows, and X has {X.shape[1]} columns: "
            f"only if these agree can X be multiplied by {name}."
        )
    return Q.astype(X.dtype, copy=False)


def unit_vector(v: ArrayLike, X: Map, name: str = "v") -> NDArray:
    """Return v as a vector of length one that X can be multiplied by."""
    d = X.shape[1]
    if isinstance(v, np.ndarray) and v.shape == (d,) and v.dtype == X.dtype:
        square = float(np.dot(v, v))
        if abs(square - 1) <= 1e-5:  # the vectors of an iteration, without further ado
            return v
    row = data_matrix(np.atleast_2d(real_array(v, name)), name)
    if row.shape != (1, d) or not row.any():
        raise ValueError(f"{name} has shape {np.shape(v)}: {d} numbers, not all 0, are needed.")
    scaled = row[0] / np.abs(row).max()
    return (scaled / np.linalg.norm(scaled)).astype(X.dtype)


def start_vector(X: Map, start: ArrayLike | None, rng: Rng) -> NDArray:
    """Return the given start, or one that is uniform on the sphere, with length one."""
    if start is None:
        room_for(sum(X.shape), 1, "A pair of singular vectors", "take a part of X.")
        start = generator(rng).standard_normal(X.shape[1])
    return unit_vector(start, X, "start")


def gaussian(X: Map, size: int, rng: Rng) -> NDArray:
    """Return a d×size Gaussian matrix, with no more columns than X has rows or columns."""
    size = min(whole_number(size, "size", least=1), *X.shape)
    room_for(sum(X.shape), size, "What is multiplied by X, and the product", "take fewer columns.")
    return generator(rng).standard_normal((X.shape[1], size)).astype(X.dtype)


def without(V: NDArray, B: NDArray) -> NDArray:
    """Return (I − VVᵀ)B for orthonormal columns V; twice, as rounding leaves a little."""
    if V.shape[1] == 0:
        return B
    B = B - V @ (V.T @ B)
    return B - V @ (V.T @ B)


def orth(Y: NDArray, rough: bool = False) -> NDArray:
    """Return orthonormal columns with the span of those of Y; ``rough``: to four digits or more.

    Few long columns go through their Gram matrix, twice (once if rough), in a fraction of the time
    of Householder's QR. If they are too dependent for that, or too large or small to be squared,
    Householder's QR it is. Costs 8nl² operations for Y : (n, l), half of it if rough.
    """
    if len(Y) >= TALL and len(Y) >= 8 * Y.shape[1]:
        Q = _orth_by_gram(Y)
        if Q is not None and (rough or (Q := _orth_by_gram(Q)) is not None):
            return Q
    return np.linalg.qr(finite(Y))[0]


def finite(Y: NDArray) -> NDArray:
    """Return Y if the lengths of its columns are finite."""
    size = float(np.abs(Y).max(initial=0.0))
    if not size <= float(np.finfo(Y.dtype).max) / math.sqrt(max(len(Y), 1)):
        raise ValueError(NOT_FINITE)
    return Y


def _orth_by_gram(Y: NDArray) -> NDArray | None:
    """Return YL⁻ᵀ, where YᵀY = LLᵀ; None if the columns are too dependent to be squared."""
    with np.errstate(over="ignore", invalid="ignore"):
        G = Y.T @ Y
    limits = np.finfo(Y.dtype)
    size = np.diagonal(G)
    if not np.isfinite(G).all() or size.min(initial=1.0) <= limits.tiny / limits.eps:
        return None
    try:
        L = np.linalg.cholesky(G)
    except np.linalg.LinAlgError:
        return None
    inverse = np.linalg.inv(L)
    if np.linalg.norm(L) * np.linalg.norm(inverse) > 0.01 / math.sqrt(limits.eps):
        return None  # squared, small directions would drown
    return (inverse @ Y.T).T


def relative_residuals(W: NDArray, V: NDArray, s: NDArray, noise: float = 0.0) -> NDArray:
    """Return ‖Xᵀuᵢ − sᵢvᵢ‖ / sᵢ for all i, given W = XᵀU.

    Where sᵢ is at most ``noise``, it counts as 0, for which every vector is right.
    """
    scale = s.max(initial=0.0) or 1.0  # against overflow
    lengths = np.linalg.norm((W - V * s) / scale, axis=0)
    counts = s > noise
    return np.where(counts, lengths / np.where(counts, s / scale, 1.0), 0.0)


def noise(X: Map, s: NDArray | list[float]) -> float:
    """Return the size below which a singular value can't be told from rounding."""
    return float(4 * max(X.shape) * np.finfo(X.dtype).eps * max(s, default=0.0))


def triplets_of(found: Any, X: Map) -> tuple[NDArray, NDArray, NDArray]:
    """Return U, s and V of an SVD, or of a run with one triplet u, s, v, that fits X."""
    if all(hasattr(found, name) for name in "usv"):
        U, s, V = found.u[:, None], np.array([found.s], X.dtype), found.v[:, None]
    elif all(hasattr(found, name) for name in "UsV"):
        U, s, V = found.U, found.s, found.V
    else:
        raise ValueError(
            f"found is a {type(found).__name__}: triplets of X are needed, an SVD or a PowerRun. "
            f"Use SVD(U, s, V) for arrays, with the vectors as columns."
        )
    if X.shape != (n_d := (len(U), len(V))):
        raise ValueError(
            f"found has triplets of a {n_d[0]}×{n_d[1]} matrix, and X is "
            f"{X.shape[0]}×{X.shape[1]}: both must be of one size."
        )
    return U, s, V


def triplet_count(X: Map, k: int) -> int:
    """Return k as a number of singular triplets that a matrix of this shape can have."""
    n, d = X.shape
    k = component_count(k, min(n, d), f"a {n}×{d} matrix", least=1)
    room_for(n + d, k, "The singular vectors", "ask for fewer components.")
    return k
