"""Centring in feature space, by the Gram matrix alone (chapter 6)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from ._engine.checks import (
    component_count,
    data_matrix,
    real_array,
    symmetric_map,
    whole_number,
)
from ._engine.eigen import top_eigenpairs
from ._engine.progress import with_progress
from .compare import fix_signs

__all__ = [
    "centering_matrix",
    "center_gram_by_matrix",
    "center_gram",
    "center_gram_in_place",
    "gram_means",
    "center_cross_gram",
    "center_cross_gram_by_means",
    "cosine_with_mean",
    "center_gram_weighted",
    "squared_distances_of_gram",
    "double_center",
    "ClassicalMDS",
    "classical_mds",
    "is_conditionally_psd",
    "gram_means_by_blocks",
    "center_gram_by_blocks",
]

CACHED_ENTRIES = 2**15  # a block of entries that stays in a core's own cache
BLOCK_ENTRIES = 2**22  # a block that is read from a disk at a time


# The centred Gram matrix, in three forms


def centering_matrix(n: int) -> NDArray:
    """Return J = I − 11ᵀ/n : (n, n) :eq:`eq-center-j`.

    From the left it takes the mean from every column, from the right
    from every row.

    >>> centering_matrix(2)
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    n = whole_number(n, "n", least=1)
    return np.eye(n) - 1 / n


def center_gram_by_matrix(K: ArrayLike) -> NDArray:
    """Return K̃ = JKJ by two matrix products :eq:`eq-center-matrix`.

    K : (n, n), symmetric. This is the definition; it takes n³ steps.
    """
    K = _gram(K, "K")
    J = centering_matrix(len(K)).astype(K.dtype)
    return J @ K @ J


def center_gram(K: ArrayLike) -> NDArray:
    """Return K̃ = JKJ by sums :eq:`eq-center-sums`, in n² steps.

    K : (n, n), symmetric. K̃ is the Gram matrix of the centred features.

    >>> center_gram([[4.0, 2.0], [2.0, 2.0]])
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    K = _gram(K, "K")
    return center_gram_in_place(K.copy())


def center_gram_in_place(K: NDArray) -> NDArray:
    """Turn the array K itself into K̃ = JKJ :eq:`eq-center-shift`.

    K : (n, n) floats, symmetric (this is not checked). No second n×n
    array is made, and K̃ is symmetric to the last digit if K is.
    """
    _check_writable(K)
    rows = K if K.flags.c_contiguous else K.T  # K = Kᵀ: go along its memory
    row_means = _finite_means(rows)
    q = row_means - row_means.mean() / 2
    for start, stop in _blocks(len(K), CACHED_ENTRIES // len(K)):
        rows[start:stop] -= q[start:stop, None] + q
    return K


def gram_means(K: ArrayLike) -> tuple[NDArray, float]:
    """Return rᵢ, the mean of row i of K, and the mean of all entries.

    K : (n, n). Sums are taken in double precision :eq:`eq-center-means`.

    >>> gram_means(np.array([[4.0, 2.0], [2.0, 2.0]]))
    (array([3., 2.]), 2.5)
    """
    K = data_matrix(K, "K", check_finite=False)
    row_means = _finite_means(K)
    return row_means.astype(K.dtype, copy=False), float(row_means.mean())


# New samples


def center_cross_gram(K_test: ArrayLike, K_train: ArrayLike) -> NDArray:
    """Return the inner products of centred new and old features.

    K_test : (m, n), new samples in rows, training samples in columns;
    K_train : (n, n), not centred. Both sides are centred by the mean of
    the *training* features :eq:`eq-center-cross`.
    """
    K_train = _gram(K_train, "K_train")
    return center_cross_gram_by_means(K_test, *gram_means(K_train))


def center_cross_gram_by_means(
    K_test: ArrayLike,
    row_means: ArrayLike,
    mean: float,
) -> NDArray:
    """Do what center_cross_gram does, from the means of K_train alone.

    K_test : (m, n); row_means : (n,) and mean are those of
    :func:`gram_means` :eq:`eq-center-cross`.
    """
    K_test = data_matrix(K_test, "K_test")
    row_means = real_array(row_means, "row_means")
    _check_columns(K_test, row_means)
    new_means = K_test.mean(axis=1, dtype=float)
    K_centered = K_test - row_means - new_means[:, None] + mean
    return K_centered.astype(K_test.dtype, copy=False)


# Without centring


def cosine_with_mean(K: ArrayLike) -> float:
    """Return the cosine between φ̄ and the first uncentred direction, ≥ 0.

    K : (n, n), positive semidefinite, not zero and with a mean feature
    φ̄ that is not zero :eq:`eq-center-cosine`.

    >>> round(cosine_with_mean([[1.0, 0.9], [0.9, 1.0]]), 3)
    1.0
    """
    K = _gram(K, "K")
    n = len(K)
    mean = gram_means(K)[1]
    if mean <= n * np.finfo(K.dtype).eps * np.abs(K).max():
        raise ValueError(
            f"The mean of all entries of K is {mean:.3g}: the mean feature is zero up to "
            f"rounding, and no direction has an angle with it. K may be centred already."
        )
    (lam,), a = linalg.eigh(K, subset_by_index=[n - 1, n - 1])
    return float(min(1.0, np.sqrt(lam / mean) * abs(a.sum()) / n))


# Weights


def center_gram_weighted(K: ArrayLike, weights: ArrayLike) -> NDArray:
    """Return the Gram matrix of φ(xᵢ) − Σⱼ wⱼ φ(xⱼ).

    K : (n, n), symmetric; weights : (n,), none negative, scaled here to
    the sum 1 :eq:`eq-center-weighted`. Equal weights give center_gram(K).

    >>> center_gram_weighted([[4.0, 2.0], [2.0, 2.0]], [0, 1])
    array([[2., 0.],
           [0., 0.]])
    """
    K = _gram(K, "K")
    w = _weights(weights, len(K))
    row_means = K @ w  # in doubles
    q = row_means - (w @ row_means) / 2
    return (K - (q[:, None] + q)).astype(K.dtype, copy=False)


# Distances


def squared_distances_of_gram(K: ArrayLike) -> NDArray:
    """Return ‖φ(xᵢ) − φ(xⱼ)‖² : (n, n) :eq:`eq-center-distances`.

    K : (n, n), a Gram matrix, centred or not: the distances are the same.
    """
    K = _gram(K, "K")
    diagonal = K.diagonal()
    return (diagonal[:, None] + diagonal) - 2 * K


def double_center(D2: ArrayLike) -> NDArray:
    """Return −½JD²J, the centred Gram matrix of points with these distances.

    D2 : (n, n), *squared* distances :eq:`eq-center-double`.

    >>> double_center([[0.0, 4.0], [4.0, 0.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    D2 = _distances(D2, "D2")
    return center_gram_in_place(-D2 / 2)


@dataclass(frozen=True, eq=False)
class ClassicalMDS:
    """Points whose distances are those given, or the first coordinates of such points."""

    Z: NDArray  # (n, k) the points: centred, the columns orthogonal
    lam: NDArray  # (k,) leading eigenvalues of −½JD²J, falling: squared lengths of the columns
    lowest: float  # the smallest eigenvalue is at most this; below 0: no points fit
    total: float  # the sum of all eigenvalues, Σᵢⱼ Dᵢⱼ²/2n

    @property
    def explained_ratio(self) -> NDArray:
        """The share of each coordinate in the sum of squared distances.

        If there are negative eigenvalues, the shares can add up to more than one.
        """
        return self.lam / self.total


def classical_mds(D: ArrayLike, k: int) -> ClassicalMDS:
    """Find n points in k dimensions from their distances D : (n, n).

    They are the scores of kernel PCA with −½D² (each entry squared) as
    Gram matrix :eq:`eq-center-mds`.
    """
    D2 = _distances(D, "D") ** 2
    n = len(D2)
    k = component_count(k, n - 1, f"distances between {n} points", least=1)
    total = float(D2.sum(dtype=float)) / (2 * n)
    floor = 8 * n * np.finfo(D2.dtype).eps * float(D2.max())  # rounding
    lam, A, lowest = top_eigenpairs(D2 / -2, k, center=True, overwrite=True)
    r = _positive_count(lam, lowest, floor)
    (Z,) = fix_signs(A[:, :r] * np.sqrt(lam[:r]))
    return ClassicalMDS(Z, lam[:r], float(lowest), total)


def _positive_count(lam: NDArray, lowest: float, floor: float) -> int:
    """Return how many eigenvalues are positive beyond rounding; warn if some are not."""
    k, r = len(lam), int(np.sum(lam > floor))
    if r == 0:
        raise ValueError("All distances are zero: the points coincide, and no axis stands out.")
    if r < k:
        euclidean = lowest >= -max(floor, np.sqrt(np.finfo(lam.dtype).eps) * lam[0])
        why = "the points lie in" if euclidean else "the distances are not Euclidean, and have"
        warnings.warn(
            f"k={k} coordinates asked, and {why} {r} dimensions: the others are dropped.",
            stacklevel=3,
        )
    return r


# Kernels that only centring makes positive


def is_conditionally_psd(K: ArrayLike) -> bool:
    """Tell whether cᵀKc ≥ 0 for all c with sum 0, up to rounding.

    K : (n, n), symmetric. By :eq:`eq-center-cpd` the eigenvalues of K̃
    tell.

    >>> is_conditionally_psd([[0.0, -1.0], [-1.0, 0.0]])
    True
    """
    K = _gram(K, "K")
    lowest = linalg.eigvalsh(center_gram(K), subset_by_index=[0, 0])[0]
    return bool(lowest >= -8 * len(K) * np.finfo(K.dtype).eps * np.abs(K).max())


# Gram matrices larger than memory


def gram_means_by_blocks(
    K: NDArray, *, block_rows: int | None = None, progress: bool = False
) -> tuple[NDArray, float]:
    """Return what gram_means does, reading K a block of rows at a time.

    K : (n, n), symmetric, anything whose rows can be sliced, such as
    ``np.memmap`` :eq:`eq-center-means`.
    """
    n = _square_size(K)
    row_sums, column_sums, size = np.empty(n), np.zeros(n), 0.0
    for start, stop in _row_blocks(n, block_rows, progress, "means"):
        block = data_matrix(K[start:stop], f"K[{start}:{stop}]")
        row_sums[start:stop] = block.sum(axis=1, dtype=float)
        column_sums += block.sum(axis=0, dtype=float)
        size = max(size, float(np.abs(block).max()))
    gap = np.abs(row_sums - column_sums).max() / n
    if gap > np.sqrt(np.finfo(block.dtype).eps) * size:
        raise ValueError(
            f"K is not symmetric: means of rows and columns differ by up to {gap:.2g}. "
            f"For new samples use center_cross_gram_by_means."
        )
    return row_sums / n, float(row_sums.sum()) / n**2


def center_gram_by_blocks(
    K: NDArray,
    out: NDArray,
    *,
    block_rows: int | None = None,
    progress: bool = False,
) -> NDArray:
    """Write K̃ = JKJ to out, a block of rows at a time :eq:`eq-center-shift`.

    K and out : (n, n), each anything whose rows can be sliced, such as
    ``np.memmap``; out may be K itself. Two passes are made over K.
    """
    n = _square_size(K)
    if tuple(out.shape) != (n, n):
        raise ValueError(f"out has shape {out.shape}: room for {n}×{n} entries is needed.")
    row_means, mean = gram_means_by_blocks(K, block_rows=block_rows, progress=progress)
    q = row_means - mean / 2
    for start, stop in _row_blocks(n, block_rows, progress, "centring"):
        out[start:stop] = K[start:stop] - (q[start:stop, None] + q)
    return out


# Helpers


def _gram(K: ArrayLike, name: str) -> NDArray:
    return symmetric_map(data_matrix(K, name, check_finite=False), name)


def _blocks(n: int, step: int) -> Iterator[tuple[int, int]]:
    step = max(1, step)
    return ((start, min(start + step, n)) for start in range(0, n, step))


def _row_blocks(n: int, block_rows: int | None, progress: bool, title: str):
    if block_rows is None:
        block_rows = max(1, BLOCK_ENTRIES // n)
    block_rows = whole_number(block_rows, "block_rows", least=1)
    return with_progress(list(_blocks(n, block_rows)), progress, title)


def _square_size(K: NDArray) -> int:
    shape = getattr(K, "shape", None)
    if shape is None or len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        what = "no array" if shape is None else f"of shape {tuple(shape)}"
        raise ValueError(
            f"K is {what}: a square array is needed whose rows can be sliced, such as np.memmap."
        )
    return int(shape[0])


def _check_writable(K: NDArray) -> None:
    if not isinstance(K, np.ndarray):
        what = f"a {type(K).__name__}"
    elif K.dtype.kind != "f":
        what = f"an array of {K.dtype}"
    else:
        what = "" if K.flags.writeable else "read-only"
    if what:
        raise ValueError(
            f"K is {what}: to be overwritten it must be a writable array of floats. "
            f"center_gram(K) returns a new one."
        )
    _square_size(K)


def _check_columns(K_test: NDArray, row_means: NDArray) -> None:
    m, n = K_test.shape
    if row_means.shape != (n,):
        raise ValueError(
            f"K_test is {m}×{n}, and there are {row_means.size} training samples: "
            f"K_test needs a row for each new sample and a column for each training sample."
        )


def _finite_means(K: NDArray) -> NDArray:
    """Return the mean of each row, in doubles; what is not finite shows in them at no cost."""
    row_means = K.mean(axis=1, dtype=float)
    if not np.isfinite(row_means.sum()):
        data_matrix(K, "K")
        raise ValueError("The sums of the rows of K overflow: scale K down first.")
    return row_means


def _weights(weights: ArrayLike, n: int) -> NDArray:
    w = real_array(weights, "weights").astype(float)
    if w.shape != (n,):
        raise ValueError(f"weights has shape {w.shape}: one for each of the {n} samples is needed.")
    if not np.isfinite(w).all() or w.min() < 0 or w.max() == 0:
        raise ValueError(
            "weights must be finite and not negative, with at least one that is positive."
        )
    return w / w.max() / np.sum(w / w.max())


def _distances(D: ArrayLike, name: str) -> NDArray:
    D = _gram(D, name)
    slack = np.sqrt(np.finfo(D.dtype).eps) * np.abs(D).max()
    if D.min() < -slack:
        raise ValueError(f"{name} has a negative entry, {D.min():.3g}: distances are needed.")
    if np.abs(D.diagonal()).max() > slack:
        raise ValueError(
            f"The diagonal of {name} is not zero: each point has the distance 0 from itself. "
            f"If {name} holds similarities, it is a Gram matrix: use center_gram."
        )
    return D
