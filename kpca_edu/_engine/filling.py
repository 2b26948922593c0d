"""Filling the holes of a table: the nearest table of rank k, and an iteration that settles fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import ConvergenceWarning, data_matrix, finite_array, tell
from .memory import room_for
from .tables import power_of_two

__all__ = ["KnownPart", "known_part", "nearest_of_rank", "settle"]

STILL = 1e-3  # values stand still when they change by this part of their spread
STEPS = 500  # as many are tried; a few dozen are usual
FAR = 1e9  # values beyond this drown the known entries in rounding


class KnownPart(NamedTuple):
    """What is known of a table X = mean + unit · T, with entries of T up to two, for m masks."""

    T: NDArray  # (m, n, d) doubles, zero where X is not known
    mean: NDArray  # (m, 1, d) of the known entries of each column
    unit: NDArray  # (m, 1, 1) powers of two
    spread: NDArray  # (m,) the root of the mean square of the known entries of T
    unknown: NDArray  # (m, n, d) booleans
    shape: tuple[int, ...]  # of what was given as unknown: (n, d) or (m, n, d)

    def values(self, X: ArrayLike) -> NDArray:
        """Return T with the unknown entries of other tables X, which have the shape of unknown."""
        X = (data_matrix if len(self.shape) == 2 else finite_array)(X, "start")
        if X.shape != self.shape:
            raise ValueError(
                f"start has shape {X.shape}: a table like X, of shape {self.shape}, is needed."
            )
        T = np.where(self.unknown, (X - self.mean) / self.unit, self.T)
        if np.abs(T).max(initial=0.0) > FAR:
            raise ValueError(f"start is more than {FAR:g} times as far from the means as X.")
        return T

    def filled(self, X: ArrayLike, T: NDArray) -> NDArray:
        """Return X with the unknown entries of T, in the unit of X."""
        X = np.asarray(X, float)
        return np.where(self.unknown, self.mean + self.unit * T, X).reshape(self.shape)


def known_part(X: ArrayLike, unknown: ArrayLike) -> KnownPart:
    """Centre the known entries of X : (n, d); what stands in the others, NaN say, is not read.

    unknown : (n, d), or (m, n, d) for m masks of the same table.
    """
    X, unknown = data_matrix(X, missing=True), np.asarray(unknown)
    fits = unknown.shape[-2:] == X.shape and unknown.ndim < 4 and unknown.size
    if unknown.dtype != bool or not fits:
        raise ValueError(
            f"unknown is an array of {unknown.dtype} with shape {unknown.shape}: True or False "
            f"is needed for each entry of X, which has shape {X.shape}."
        )
    room_for(unknown.size, 2, "What is known of the tables", "give fewer masks at a time.")
    shape, unknown = unknown.shape, unknown.reshape(-1, *X.shape)
    X = data_matrix(np.where(unknown.all(axis=0), 0.0, X).astype(float))
    X = np.where(unknown, 0.0, X)
    known = np.sum(~unknown, axis=1, keepdims=True)
    if not known.all():
        raise ValueError(
            f"Column {int(np.argmin(known.min(axis=(0, 1))))} of X has no known entry: nothing "
            f"says what belongs there. Drop it."
        )
    mean = X.sum(axis=1, keepdims=True) / known
    T = np.where(unknown, 0.0, X - mean)
    unit = np.array([power_of_two(table) for table in T])[:, None, None]
    T /= unit
    spread = np.sqrt(np.sum(T**2, axis=(1, 2)) / known.sum(axis=(1, 2)))
    return KnownPart(T, mean, unit, spread, unknown, shape)


def nearest_of_rank(A: NDArray, k: int) -> NDArray:
    """Return the nearest matrix of rank k to A : (n, d), or to each of m, with half of the digits.

    It projects on the leading eigenvectors of the smaller Gram matrix, which takes a third of the
    time of an SVD: O(nd min(n, d)). Entries of A should not be far from one.
    """
    n, d = A.shape[-2:]
    if d <= n:
        V = np.linalg.eigh(A.mT @ A)[1][..., d - k :]
        return A @ V @ V.mT
    U = np.linalg.eigh(A @ A.mT)[1][..., n - k :]
    return U @ (U.mT @ A)


def settle(
    refill: Callable[[NDArray], NDArray],
    start: NDArray,
    unknown: NDArray,
    scale: NDArray,
    tol: float = STILL,
    max_iter: int = STEPS,
) -> NDArray:
    """Replace the unknown entries of start by those of refill(start), again and again.

    start, unknown : (m, n, d) are m tables, each of which moves as it would alone, until its
    change is at most tol, beside its scale, (m,), or the unknown entries themselves; all are
    measured by the roots of their mean squares. Each step starts somewhat beyond the last result,
    in the direction of the last change (Nesterov's momentum), which saves two thirds of the steps
    where changes are slow; when a change grows, the momentum starts again from zero. Warns if
    max_iter steps were too few.
    """
    T, found, moving = start.copy(), start.copy(), np.arange(len(start))
    holes, table, count = _holes(unknown)
    last = ahead = T.take(holes)
    t, smallest = np.ones(len(T)), np.full(len(T), np.inf)
    for _ in range(max_iter):
        T.reshape(-1)[holes] = ahead
        new = refill(T).take(holes)
        change = np.sqrt(np.bincount(table, (new - ahead) ** 2, len(T)) / count)
        size = np.sqrt(np.bincount(table, new**2, len(T)) / count)
        allowed = tol * np.maximum(scale, size)
        t = np.where(change > smallest, 1.0, t)
        smallest = change
        t_next = (1 + np.sqrt(1 + 4 * t**2)) / 2
        ahead = new + ((t - 1) / t_next)[table] * (new - last)
        last, t = new, t_next
        if (still := change <= allowed).any():
            T.reshape(-1)[holes] = new
            found[moving] = T
            if still.all():
                return found
            last, ahead = last[~still[table]], ahead[~still[table]]
            T, unknown, moving, scale = (part[~still] for part in (T, unknown, moving, scale))
            t, smallest, change, allowed = (part[~still] for part in (t, smallest, change, allowed))
            holes, table, count = _holes(unknown)
    tell(
        f"After {max_iter} steps the values still change by {np.max(change / allowed):.2g} times "
        f"what is allowed: take fewer components, or fewer holes.",
        ConvergenceWarning,
    )
    T.reshape(-1)[holes] = last
    found[moving] = T
    return found


def _holes(unknown: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return the unknown places of m flattened tables, the table of each, and how many each has.

    A table without any counts one, as it is divided by.
    """
    counts = unknown.sum(axis=(1, 2))
    return np.flatnonzero(unknown), np.repeat(np.arange(len(counts)), counts), np.maximum(counts, 1)
