"""Inner products, lengths and distances of samples, dense or sparse: what kernels are made of."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform

from .checks import data_matrix, linear_map
from .memory import room_for
from .panels import row_blocks

__all__ = [
    "Samples",
    "SamplesLike",
    "distances",
    "inner_products",
    "middle",
    "neighbor_spacing",
    "pair_distances",
    "pairs_of_rows",
    "refuse_far",
    "room_for_pairs",
    "row_samples",
    "sample_count",
    "squared_distances",
    "squared_norms",
    "unit_rows",
]

Samples = NDArray | sparse.csr_array  # what row_samples returns: rows are samples
SamplesLike = ArrayLike | sparse.sparray | sparse.spmatrix  # what it takes


def row_samples(X: SamplesLike, name: str = "X") -> Samples:
    """Return samples as a matrix of single or double precision: dense, or CSR if X is sparse."""
    if not isinstance(X, sparse.sparray | sparse.spmatrix):
        return data_matrix(X, name)
    return cast(sparse.csr_array, linear_map(X, name))


def sample_count(X: Any, name: str = "X") -> int:
    """Return how many samples X holds, whatever they are: rows, texts, graphs."""
    if isinstance(X, str | bytes):
        raise ValueError(f"{name} is one text: a list of texts is needed, a sample each.")
    if shape := getattr(X, "shape", None):
        return int(shape[0])
    try:
        return len(X)
    except TypeError:
        raise ValueError(
            f"{name} is {type(X).__name__}, which has no length: samples are the rows of a matrix, "
            f"or the entries of a list."
        ) from None


def pairs_of_rows(X: SamplesLike, Y: SamplesLike) -> tuple[Samples, Samples]:
    """Return X and Y as samples that have the same features."""
    first, second = row_samples(X), row_samples(Y, "Y")
    if first.shape[1] != second.shape[1]:
        raise ValueError(
            f"X has {first.shape[1]} columns and Y has {second.shape[1]}: "
            f"a kernel compares samples with the same features."
        )
    return first, second


def room_for_pairs(X: Samples, Y: Samples, what: str, way_out: str) -> None:
    """Refuse a matrix with a number for each pair of samples that would not fit."""
    room_for(X.shape[0], Y.shape[0], what, way_out, np.result_type(X.dtype, Y.dtype))


def inner_products(X: Samples, Y: Samples) -> NDArray:
    """Return the dense matrix XYᵀ in memory of its own."""
    P = X @ Y.T
    return P if isinstance(P, np.ndarray) else P.toarray()


def squared_norms(X: Samples) -> NDArray:
    """Return ‖x‖² of each row, as (n,)."""
    if isinstance(X, np.ndarray):
        return np.einsum("ij,ij->i", X, X)
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()


def squared_distances(X: Samples, Y: Samples) -> NDArray:
    """Return the matrix of ‖xᵢ − yⱼ‖², by one matrix product.

    ‖x − y‖² = ‖x‖² + ‖y‖² − 2xᵀy cancels badly far from the origin: dense samples are moved there
    first, by medians, since one far sample would take a mean away from all others. Sparse ones
    stay where they are, or their zeros would go.
    """
    if isinstance(X, np.ndarray) and isinstance(Y, np.ndarray):
        origin = middle(Y)
        X, Y = X - origin, Y - origin
    D2 = inner_products(-2 * X, Y)
    D2 += squared_norms(X)[:, None]
    D2 += squared_norms(Y)
    return np.clip(D2, 0, np.inf, out=D2)  # np.maximum takes four times as long


def middle(X: NDArray) -> NDArray:
    """Return medians of the columns, (d,): of a few rows, which tell where the others are."""
    some = np.sort(X[:: 1 + len(X) // 16], axis=0)
    return some[len(some) // 2]


def distances(X: Samples, Y: Samples) -> NDArray:
    """Return the matrix of ‖xᵢ − yⱼ‖ of dense samples, to full precision also for near ones."""
    if not (isinstance(X, np.ndarray) and isinstance(Y, np.ndarray)):
        raise ValueError(
            "The Laplacian kernel works on dense arrays, since it takes distances one by one: "
            "use X.toarray() if it fits in memory, or rbf(sigma), which takes sparse matrices."
        )
    return cdist(X, Y).astype(np.result_type(X, Y), copy=False)


def pair_distances(X: Samples) -> NDArray:
    """Return the distances between all pairs of different rows, as (n(n − 1)/2,)."""
    if isinstance(X, np.ndarray):
        return pdist(X)
    return np.sqrt(squareform(squared_distances(X, X), checks=False))


def refuse_far(largest: float) -> None:
    """Say so if the squares of distances left the floats."""
    if not np.isfinite(largest):
        raise ValueError("The squares of the distances overflow: divide X by a number first.")


def neighbor_spacing(X: NDArray) -> float:
    """Return the deviation of noise that moves a sample as far as its nearest neighbour is away.

    That is the median distance of nearest neighbours over √d. Of many samples, some 2000 are asked
    for their neighbours among all; duplicates don't count.
    """
    every = 1 + X.shape[0] // 2000
    with np.errstate(over="ignore", invalid="ignore"):  # refused just below
        size = squared_norms(X - middle(X))  # squared distances are rounded by a part of it
    refuse_far(4 * float(size.max()))
    some, room = X[::every], 1e3 * np.finfo(size.dtype).eps * size
    nearest = []
    for start, stop in row_blocks(some.shape[0], X.shape[0]):
        D2 = squared_distances(some[start:stop], X)
        zero = room[::every][start:stop, None] + room  # that of a sample to itself
        nearest.append(np.where(zero < D2, D2, np.inf).min(axis=1))
    distances2 = np.concatenate(nearest)
    distances2 = distances2[np.isfinite(distances2)]
    if not len(distances2):
        raise ValueError("All samples are equal: there is no distance between neighbours.")
    return float(np.sqrt(np.median(distances2) / X.shape[1]))


def unit_rows(X: Samples, name: str) -> tuple[Samples, NDArray]:
    """Return x/‖x‖ for each row, and the lengths; a row of zeros has no direction."""
    largest = np.asarray(abs(X).max(axis=1).toarray() if sparse.issparse(X) else np.abs(X).max(1))
    unit = np.where(largest > 0, largest, 1).ravel()  # so that no square over- or underflows
    scaled = X.multiply(1 / unit[:, None]).tocsr() if sparse.issparse(X) else X / unit[:, None]
    size = unit * np.sqrt(squared_norms(scaled))
    if not size.all():
        raise ValueError(
            f"Row {int(np.argmin(size))} of {name} is zero and has no direction: the cosine of "
            f"its angle to others does not exist. Drop such rows."
        )
    if isinstance(X, np.ndarray):
        return X / size[:, None], size
    return X.multiply(1 / size[:, None]).tocsr(), size
