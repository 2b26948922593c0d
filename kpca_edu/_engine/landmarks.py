"""Which samples stand for all: drawn evenly or by what they add, or centres of clusters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from .checks import data_matrix, is_number
from .inner_products import row_samples
from .kernel_algebra import Kernel
from .memory import room_for
from .new_samples import kernel_values
from .panels import map_rows
from .progress import with_progress

__all__ = [
    "LANDMARKS",
    "choose_landmarks",
    "landmark_count",
    "leverage_scores",
    "random_pivots",
    "rows_of",
    "spread_rows",
]

LANDMARKS = ("uniform", "kmeans", "leverage", "pivoted")
ROUNDS = 10  # of k-means: landmarks need no more
DIAGONAL_BLOCK = 16  # samples at a time whose κ(x, x) a callable is asked for


def rows_of(X: Any) -> Any:
    """Return samples as something with len() that an index array can pick from."""
    if hasattr(X, "tocsr"):
        return _Rows(row_samples(X))
    if isinstance(X, np.ndarray) or hasattr(X, "iloc"):
        return data_matrix(X)
    try:
        return data_matrix(X)
    except (ValueError, TypeError):  # texts, graphs: whatever the kernel compares
        items = _Items(X if isinstance(X, Iterable) and not isinstance(X, str | bytes) else [])
        if not items:
            raise
        return items


class _Items(list):
    """A list that an array of places can pick from."""

    def pick(self, places: NDArray) -> list:
        return [self[i] for i in places]


class _Rows:
    """A sparse matrix that has as many samples as rows."""

    def __init__(self, X: Any):
        self.X = X

    def __len__(self) -> int:
        return self.X.shape[0]

    def pick(self, places: NDArray) -> Any:
        return self.X[places]


def landmark_count(m: int, n: int) -> int:
    """Return m as a number of landmarks that n samples can give."""
    if not is_number(m, Integral) or not 1 <= m <= n:
        raise ValueError(
            f"m={m!r} landmarks asked of {n} samples: a whole number from 1 to {n} is needed."
        )
    return int(m)


def choose_landmarks(
    X: Any, m: int, kernel: Callable, how: str, rng: np.random.Generator, progress: bool = False
) -> Any:
    """Return m landmarks: rows of X, or centres of its clusters.

    "uniform" costs nothing; "kmeans" O(nmd) a round, dense rows only; "leverage" and "pivoted" nm
    kernel values and O(nm²) work, whatever the samples are.
    """
    rows = rows_of(row_samples(X) if isinstance(kernel, Kernel) else X)
    n = len(rows)
    room_for(m, m, "The Gram matrix of the landmarks", "take fewer landmarks m.")
    if how == "kmeans":
        return _centers(rows, m, rng, progress)
    if how == "uniform" or m == n:
        places = rng.choice(n, m, replace=False)
    elif how == "pivoted":
        places = random_pivots(kernel, rows, m, rng, progress)
    else:
        first = _picked(rows, rng.choice(n, m, replace=False))
        scores = leverage_scores(kernel, rows, first, progress)
        places = rng.choice(n, m, replace=False, p=scores / scores.sum())
    return _picked(rows, np.sort(places))


def _picked(rows: Any, places: NDArray) -> Any:
    return rows.pick(places) if hasattr(rows, "pick") else rows[places]


def _centers(rows: Any, m: int, rng: np.random.Generator, progress: bool = False) -> NDArray:
    if not isinstance(rows, np.ndarray):
        raise ValueError(
            'landmarks="kmeans" needs samples that have means, rows of numbers: choose "uniform" '
            'or "leverage" for others.'
        )
    if m == len(rows):
        return rows.copy()
    X = rows.astype(float, copy=False)
    centers = spread_rows(X, m, rng, progress)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty cluster keeps its centre, which serves as well
        for _ in with_progress(range(ROUNDS), progress, "k-means"):
            centers, _ = kmeans2(X, centers, iter=1, minit="matrix")
    return centers.astype(rows.dtype, copy=False)


def spread_rows(X: NDArray, m: int, rng: np.random.Generator, progress: bool = False) -> NDArray:
    """Return m rows, drawn one by one with chances ∝ the squared distance to those drawn before.

    The seeds of k-means++ in O(nmd); where all distances are zero, any row is taken.
    """
    chosen = [int(rng.integers(len(X)))]
    nearest = np.full(len(X), np.inf)
    for _ in with_progress(range(m - 1), progress, "first centres"):
        np.minimum(nearest, ((X - X[chosen[-1]]) ** 2).sum(axis=1), out=nearest)
        total = np.cumsum(nearest)
        place = np.searchsorted(total, rng.random() * total[-1], side="right")
        chosen.append(int(min(place, len(X) - 1)))
    return X[chosen]


def leverage_scores(kernel: Callable, rows: Any, first: Any, progress: bool = False) -> NDArray:
    """Return estimates of the ridge leverage φᵀ(C + λI)⁻¹φ ≤ 1 of all samples, (n,).

    C = Σφφᵀ is known on the span of the first choice of landmarks, and taken as zero beyond, so
    that a part of φ beyond it counts with 1/λ: large where the first choice explains a sample
    badly. λ is the mean of the eigenvalues beyond the m/2 largest, or a little more.
    """
    K_mm = kernel_values(kernel, first, first)
    lam, U = np.linalg.eigh((K_mm + K_mm.T) / 2)
    kept = lam > len(lam) * np.finfo(lam.dtype).eps * lam[-1]
    root, half = U[:, kept] / np.sqrt(lam[kept]), max(1, len(lam) // 2)

    def features(block: Any) -> NDArray:
        return kernel_values(kernel, block, first) @ root

    F = map_rows(features, _samples(rows), len(lam), progress)
    own = _diagonal(kernel, rows)
    rest = np.maximum(own - np.sum(F**2, axis=1), 0)
    mu, W = np.linalg.eigh(F.T @ F)
    tail = float(rest.sum() + np.maximum(mu[:-half], 0).sum())
    ridge = max(tail / half, float(np.finfo(float).eps * own.sum()), 1e-300)
    F = F @ (W / np.sqrt(np.maximum(mu, 0) + ridge))
    scores = np.einsum("ij,ij->i", F, F) + rest / ridge
    scores = np.minimum(scores, 1)
    return scores + 1e-3 * scores.mean() + 1e-300  # every sample keeps a chance


def random_pivots(
    kernel: Callable, rows: Any, m: int, rng: np.random.Generator, progress: bool = False
) -> NDArray:
    """Return the places of m samples, each drawn with chances ∝ what those before it leave over.

    Randomly pivoted Cholesky: the rest of κ(x, x) is updated after each choice, at n kernel
    values and O(nm) work. Once nothing is left over, any others are taken.
    """
    n = len(rows)
    rest, places = np.maximum(_diagonal(kernel, rows), 0), np.empty(m, int)
    nothing = 10 * n * np.finfo(float).eps * float(rest.max())
    room_for(n, m, "The kernel values of all samples and landmarks", "take fewer landmarks m.")
    F = np.zeros((m, n))  # so that what is read in each step lies in one piece
    for i in with_progress(range(m), progress, "pivots"):
        if (total := np.cumsum(rest))[-1] <= nothing:
            others = np.setdiff1d(np.arange(n), places[:i])
            places[i:] = rng.choice(others, m - i, replace=False)
            break
        j = int(min(np.searchsorted(total, rng.random() * total[-1], side="right"), n - 1))
        column = kernel_values(kernel, _samples(rows), _picked(rows, np.array([j])))[:, 0]
        column = column - F[:i, j] @ F[:i]
        F[i] = column / np.sqrt(max(column[j], rest[j]))
        rest, places[i] = np.maximum(rest - F[i] ** 2, 0), j
        rest[j] = 0
    return places


def _samples(rows: Any) -> Any:
    """Return what a kernel takes."""
    return getattr(rows, "X", rows)


def _diagonal(kernel: Callable, rows: Any) -> NDArray:
    """Return κ(x, x) of each sample."""
    if isinstance(kernel, Kernel):
        return np.asarray(kernel.diagonal(_samples(rows)), float)
    values = []
    for start in range(0, len(rows), DIAGONAL_BLOCK):
        block = _picked(rows, np.arange(start, min(start + DIAGONAL_BLOCK, len(rows))))
        values.append(kernel_values(kernel, block, block).diagonal())
    return np.concatenate(values)
