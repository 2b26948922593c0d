"""Which samples stand for all: drawn evenly or by what they add, or centres of clusters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from .checks import data_matrix, is_number, tell
from .inner_products import row_samples, sample_count
from .kernel_algebra import Kernel
from .memory import room_for
from .new_samples import checked_kernel
from .panels import map_rows
from .progress import with_progress
from .way_back import rows_of, self_products

__all__ = [
    "LANDMARKS",
    "choose_landmarks",
    "landmark_count",
    "leverage_scores",
    "positive_spectrum",
    "random_pivots",
    "spread_rows",
]

LANDMARKS = ("uniform", "kmeans", "leverage", "pivoted")
ROUNDS = 10  # of k-means: landmarks need no more


def whole_samples(X: Any) -> Any:
    """Return samples as rows of numbers, dense or sparse, else as a list of what they are."""
    if hasattr(X, "tocsr"):
        return row_samples(X)
    if isinstance(X, np.ndarray) or hasattr(X, "iloc"):
        return data_matrix(X)
    try:
        return data_matrix(X)
    except (ValueError, TypeError):  # texts, graphs: whatever the kernel compares
        items = list(X) if isinstance(X, Iterable) and not isinstance(X, str | bytes) else []
        if not items:
            raise
        return items


def landmark_count(m: int, X: Any) -> int:
    """Return m as a number of landmarks that samples can give."""
    n = sample_count(whole_samples(X))
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
    X = whole_samples(row_samples(X) if isinstance(kernel, Kernel) else X)
    kernel, n = checked_kernel(kernel), sample_count(X)
    room_for(m, m, "The Gram matrix of the landmarks", "take fewer landmarks m.")
    if how == "kmeans":
        return _centers(X, m, rng, progress)
    if how == "uniform" or m == n:
        places = rng.choice(n, m, replace=False)
    elif how == "pivoted":
        places = random_pivots(kernel, X, m, rng, progress)
    else:
        first = rows_of(X, rng.choice(n, m, replace=False))
        scores = leverage_scores(kernel, X, first, progress)
        places = rng.choice(n, m, replace=False, p=scores / scores.sum())
    return rows_of(X, np.sort(places))


def _centers(X: Any, m: int, rng: np.random.Generator, progress: bool = False) -> NDArray:
    if not isinstance(X, np.ndarray):
        raise ValueError(
            'landmarks="kmeans" needs samples that have means, rows of numbers: choose "uniform" '
            'or "leverage" for others.'
        )
    if m == len(X):
        return X.copy()
    dtype, X = X.dtype, X.astype(float, copy=False)
    centers = spread_rows(X, m, rng, progress)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty cluster keeps its centre, which serves as well
        for _ in with_progress(range(ROUNDS), progress, "k-means"):
            centers, _ = kmeans2(X, centers, iter=1, minit="matrix")
    return centers.astype(dtype, copy=False)


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


def leverage_scores(kernel: Callable, X: Any, first: Any, progress: bool = False) -> NDArray:
    """Return estimates of the ridge leverage φᵀ(C + λI)⁻¹φ ≤ 1 of all samples, (n,).

    C = Σφφᵀ is known on the span of the first choice of landmarks, and taken as zero beyond, so
    that a part of φ beyond it counts with 1/λ: large where the first choice explains a sample
    badly. λ is the mean of the eigenvalues beyond the m/2 largest, or a little more.
    """
    K_mm = kernel(first, first)
    lam, U = positive_spectrum(K_mm, quiet=True)  # nystrom will speak
    root, half = U / np.sqrt(lam), max(1, len(K_mm) // 2)
    F = map_rows(lambda some: kernel(some, first) @ root, X, len(lam), progress)
    own = self_products(kernel, X).astype(float)
    rest = np.maximum(own - np.sum(F**2, axis=1), 0)
    mu, W = np.linalg.eigh(F.T @ F)
    tail = float(rest.sum() + np.maximum(mu[:-half], 0).sum())
    ridge = max(tail / half, float(np.finfo(float).eps * own.sum()), 1e-300)
    F = F @ (W / np.sqrt(np.maximum(mu, 0) + ridge))
    scores = np.einsum("ij,ij->i", F, F) + rest / ridge
    scores = np.minimum(scores, 1)
    return scores + 1e-3 * scores.mean() + 1e-300  # every sample keeps a chance


def positive_spectrum(K_mm: NDArray, *, quiet: bool = False) -> tuple[NDArray, NDArray]:
    """Return the positive eigenvalues, rising, and eigenvectors; others are rounding, or no kernel.

    An indefinite matrix gets a warning: its negative eigenvalues belong to no feature map.
    """
    lam, U = np.linalg.eigh((K_mm + K_mm.T) / 2)
    eps = float(np.finfo(lam.dtype).eps)
    if lam[0] < -np.sqrt(eps) * max(lam[-1], 0) and not quiet:
        tell(
            f"The kernel is not positive semidefinite: the Gram matrix of the landmarks has the "
            f"eigenvalue {lam[0]:.2g} beside {lam[-1]:.2g}. Negative ones count as zero, and inner "
            f"products of the features don't approximate the kernel."
        )
    kept = lam > len(lam) * eps * max(lam[-1], 0)
    return lam[kept], U[:, kept]


def random_pivots(
    kernel: Callable, X: Any, m: int, rng: np.random.Generator, progress: bool = False
) -> NDArray:
    """Return the places of m samples, each drawn with chances ∝ what those before it leave over.

    Randomly pivoted Cholesky: the rest of κ(x, x) is updated after each choice, at n kernel
    values and O(nm) work. Once nothing is left over, any others are taken.
    """
    n = sample_count(X)
    rest, places = np.maximum(self_products(kernel, X).astype(float), 0), np.empty(m, int)
    nothing = 10 * n * np.finfo(float).eps * float(rest.max())
    room_for(n, m, "The kernel values of all samples and landmarks", "take fewer landmarks m.")
    F = np.zeros((m, n))  # so that what is read in each step lies in one piece
    for i in with_progress(range(m), progress, "pivots"):
        if (total := np.cumsum(rest))[-1] <= nothing:
            others = np.setdiff1d(np.arange(n), places[:i])
            places[i:] = rng.choice(others, m - i, replace=False)
            break
        j = int(min(np.searchsorted(total, rng.random() * total[-1], side="right"), n - 1))
        column = kernel(X, rows_of(X, np.array([j])))[:, 0]
        column = column - F[:i, j] @ F[:i]
        F[i] = column / np.sqrt(max(column[j], rest[j]))
        rest, places[i] = np.maximum(rest - F[i] ** 2, 0), j
        rest[j] = 0
    return places
