"""Searches for many rows at once: several starts, the best end of each row, blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .panels import row_blocks
from .progress import with_progress

__all__ = ["Ends", "best_ends", "in_blocks", "nearest_columns"]

LEAST_ROWS = 16


class Ends(NamedTuple):
    """Where the search of each row ended."""

    T: NDArray  # (m, d) the points
    value: NDArray  # (m,) what was to be made small, there
    converged: NDArray  # (m,) whether the search reached its goal
    n_iter: NDArray  # (m,) steps taken, over all starts


def best_ends(
    run: Callable[[NDArray, NDArray], Ends],
    starts: Iterable[Callable[[NDArray], NDArray]],
    m: int,
    only_failed: bool,
) -> Ends:
    """Search from one start after the other, and keep the best end of each of m rows.

    run(T, rows) searches from the points T, one for each of the rows (an array of indices);
    start(rows) gives such points. With ``only_failed=True`` a further start is tried only for rows
    that have not converged yet. An end replaces another if its value is smaller, or if it is equal
    up to rounding and has converged where the other has not. Costs what the runs cost.
    """
    rows, best = np.arange(m), None
    for start in starts:
        if best is None:
            best = run(start(rows), rows)
            continue
        if only_failed:
            rows = np.flatnonzero(~best.converged)
        if len(rows):
            best = _better(best, run(start(rows), rows), rows)
    assert best is not None
    return best


def _better(best: Ends, again: Ends, rows: NDArray) -> Ends:
    before = best.value[rows]
    equal = np.abs(again.value - before) <= 1e-9 * np.abs(before)
    tie = equal & again.converged & ~best.converged[rows]
    put = (again.value < before) | tie
    T, value, converged, n_iter = (field.copy() for field in best)
    T[rows[put]], value[rows[put]] = again.T[put], again.value[put]
    converged[rows[put]] = again.converged[put]
    n_iter[rows] += again.n_iter
    return Ends(T, value, converged, n_iter)


def in_blocks(
    solve: Callable[[slice], tuple[NDArray, ...]],
    m: int,
    width: int,
    progress: bool = False,
    title: str = "Pre-images",
    least: int = LEAST_ROWS,
) -> tuple[NDArray, ...]:
    """Solve for blocks of the m rows and join what comes: an m×width matrix need not exist.

    Blocks have a quarter of a million entries, so that the few matrices which a step goes through
    stay in the cache, and at least ``least`` rows: products with too few of them are slow.
    """
    blocks = [slice(start, stop) for start, stop in row_blocks(m, 4 * width, least=least)]
    parts = [solve(block) for block in with_progress(blocks, progress, title)]
    if len(parts) == 1:
        return parts[0]
    return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))


def nearest_columns(D2: NDArray, count: int) -> NDArray:
    """Return, for each row, the places of its ``count`` smallest entries, the smallest first.

    D2 : (m, n); the result is (m, count). A few passes over D2, which is not sorted as a whole.
    """
    if count == 1:
        return np.argmin(D2, axis=1)[:, None]
    near = np.argpartition(D2, count - 1, axis=1)[:, :count]
    order = np.argsort(np.take_along_axis(D2, near, axis=1), axis=1, kind="stable")
    return np.take_along_axis(near, order, axis=1)
