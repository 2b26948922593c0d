"""K̃ = JKJ in the memory of K, and checks of Gram matrices, in memory or on a disk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import data_matrix, real_array, symmetric_map, whole_number
from .panels import row_blocks
from .progress import with_progress

__all__ = [
    "blocks_of_rows",
    "center_in_place",
    "check_equal_sums",
    "check_room",
    "check_writable",
    "gram",
    "normalized_weights",
    "rounding_of",
    "row_means",
    "sliced_rows",
    "size_of",
    "squared_mean_feature",
    "subtract_sums",
    "training_means",
]

CACHED_ENTRIES = 2**15  # a block of entries that stays in a core's own cache


def gram(K: ArrayLike, name: str = "K") -> NDArray:
    """Return K as a finite symmetric matrix of floats; it is not copied if it is one."""
    return np.asarray(symmetric_map(data_matrix(K, name, check_finite=False), name))


def row_means(K: NDArray) -> NDArray:
    """Return the mean of each row of K : (n, n), in doubles.

    What is not finite shows in the means, so that looking for it costs nothing.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        means = K.mean(axis=1, dtype=float)
        finite = np.isfinite(means.sum())
    if not finite:
        data_matrix(K, "K")
        raise ValueError("The sums of the rows of K overflow: scale K down first.")
    return means


def subtract_sums(K: NDArray, q: NDArray) -> NDArray:
    """Replace K_ij by K_ij − (q_i + q_j) in place, and return K : (n, n), symmetric.

    A few rows at a time are done, so that they stay in the cache: one pass over K, no second
    matrix. q_i + q_j and q_j + q_i are the same number to the last bit, so K stays symmetric.
    """
    rows = K if K.flags.c_contiguous else K.T  # K = Kᵀ: go along its memory
    step = max(1, CACHED_ENTRIES // len(K))
    for start in range(0, len(K), step):
        rows[start : start + step] -= q[start : start + step, None] + q
    return K


def center_in_place(K: NDArray) -> NDArray:
    """Turn the array K, (n, n) floats and symmetric, into JKJ, and return it: two passes over K."""
    means = row_means(K if K.flags.c_contiguous else K.T)
    return subtract_sums(K, means - means.mean() / 2)


def rounding_of(K: NDArray) -> float:
    """Return how far from zero rounding may move an eigenvalue of JKJ, K : (n, n) floats."""
    return float(8 * len(K) * np.finfo(K.dtype).eps * np.abs(K).max())


def squared_mean_feature(K: NDArray) -> float:
    """Return ‖φ̄‖², the mean of all entries of K : (n, n), unless it is zero up to rounding."""
    mean = float(row_means(K).mean())
    if mean <= len(K) * np.finfo(K.dtype).eps * np.abs(K).max():
        raise ValueError(
            f"The mean of all entries of K is {mean:.3g}: the mean feature is zero up to "
            f"rounding, and no direction has an angle with it. K may be centred already."
        )
    return mean


def check_equal_sums(rows: NDArray, columns: NDArray, size: float, dtype: Any) -> None:
    """Refuse sums of rows and of columns, (n,) each, that no symmetric matrix has.

    ``size`` is the largest entry of the matrix, ``dtype`` its type.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(rows.sum() + columns.sum()):
            raise ValueError("The sums of the rows of K overflow: scale K down first.")
    gap = np.abs(rows - columns).max() / len(rows)
    if gap > np.sqrt(np.finfo(dtype).eps) * size:
        raise ValueError(
            f"K is not symmetric: means of rows and columns differ by up to {gap:.2g}. "
            f"For new samples use center_cross_gram_by_means."
        )


def check_writable(K: Any) -> None:
    """Refuse what can't be overwritten by K̃: lists, integers, read-only or no square arrays."""
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
    size_of(K)


def size_of(K: Any) -> int:
    """Return n for anything that is n×n, such as a file of rows."""
    shape = _shape(K)
    if shape is None or len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        what = "no array" if shape is None else f"of shape {shape}"
        raise ValueError(
            f"K is {what}: a square array is needed whose rows can be sliced, such as np.memmap."
        )
    return int(shape[0])


def sliced_rows(K: Any, start: int, stop: int) -> NDArray:
    """Return the rows start, …, stop − 1 of anything whose rows can be sliced."""
    try:
        rows = K[start:stop]
    except Exception:  # each kind of matrix has an error of its own
        raise ValueError(
            f"K is {type(K).__name__}, whose rows can't be sliced: take an array, such as "
            f"np.memmap, or a sparse matrix by K.toarray()."
        ) from None
    return data_matrix(rows, f"K[{start}:{stop}]")


def _shape(array: Any) -> tuple[int, ...] | None:
    """Return the shape of anything that has one; None for all else."""
    shape = getattr(array, "shape", None)
    return tuple(shape) if isinstance(shape, tuple | list) else None


def check_room(out: Any, n: int) -> None:
    """Refuse an array ``out`` that n×n numbers can't be written to without being cut off."""
    shape, dtype = _shape(out), getattr(out, "dtype", None)
    if shape != (n, n):
        what = f"a {type(out).__name__}" if shape is None else f"of shape {shape}"
        raise ValueError(f"out is {what}: an array with room for {n}×{n} entries is needed.")
    if np.dtype(dtype).kind != "f":
        raise ValueError(
            f"out is an array of {dtype}: centred entries are no whole numbers, and would be cut "
            f"off. Floats are needed."
        )
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise ValueError("out is read-only: an array that can be written to is needed.")


def blocks_of_rows(
    n: int, block_rows: int | None, progress: bool, title: str
) -> Iterable[tuple[int, int]]:
    """Yield the first row of each block and the one after its last: about a million entries."""
    if block_rows is None:
        blocks = list(row_blocks(n, n))
    else:
        step = whole_number(block_rows, "block_rows", least=1)
        blocks = [(start, min(start + step, n)) for start in range(0, n, step)]
    return with_progress(blocks, progress, title)


def training_means(means: ArrayLike, K_test: NDArray) -> NDArray:
    """Return the means of the training rows, one for each column of K_test : (m, n)."""
    means, (m, n) = real_array(means, "row_means"), K_test.shape
    if means.shape != (n,):
        raise ValueError(
            f"K_test is {m}×{n}, and there are {means.size} training samples, by K_train or "
            f"row_means: "
            f"K_test needs a row for each new sample and a column for each training sample."
        )
    return data_matrix(means[None], "row_means")[0]


def normalized_weights(weights: ArrayLike, n: int) -> NDArray:
    """Return n weights with the sum 1, from any that are not negative."""
    w = real_array(weights, "weights").astype(float)
    if w.shape != (n,):
        raise ValueError(f"weights has shape {w.shape}: one for each of the {n} samples is needed.")
    if not np.isfinite(w).all() or w.min() < 0 or w.max() == 0:
        raise ValueError(
            "weights must be finite and not negative, with at least one that is positive."
        )
    return w / w.max() / np.sum(w / w.max())
