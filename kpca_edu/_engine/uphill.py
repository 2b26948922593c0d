"""Climb to a maximum from many points at once, by steps that are known to point uphill."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .searches import Ends

__all__ = ["climb_rows"]

AHEAD = 10  # so many steps at most are taken in one


def climb_rows(
    look: Callable[[NDArray, NDArray], tuple[NDArray, NDArray]],
    T: NDArray,
    data: NDArray,
    *,
    small: float,
    slack: NDArray,
    max_iter: int,
) -> Ends:
    """Climb from each row of T : (m, d); the heights never fall by more than ``slack`` : (m,).

    look(T, data) gives the height of each point and a step that points uphill there; NaN is no
    step at all. It gets the rows of data : (m, …) that belong to the points. The whole step is
    taken where it leads up, and half as much is tried where it doesn't. Where steps shrink, the
    next one goes to where they would end if they went on shrinking like that (a secant for each
    row, ten steps ahead at most); if that does not lead up, the plain step follows.

    A row has converged when its step is at most ``small`` long, or when no share of it leads up,
    as at the tip of a cone. It then drops out. Costs one look a step, at the rows that are still
    on their way. The value of an end is its height with a minus sign.
    """
    T, m = T.copy(), len(T)
    rows = np.arange(m)
    height, step = look(T, data)
    last_T, last_step = T.copy(), np.full_like(step, np.nan)
    share = np.ones(m, T.dtype)
    converged, n_iter = np.zeros(m, bool), np.zeros(m, int)
    for count in range(max_iter + 1):
        length = np.linalg.norm(step[rows], axis=1)
        at_tip = share[rows] <= 1e-9
        converged[rows] = (length <= small) | at_tip
        rows = rows[(length > small) & ~at_tip]  # who has no step, stays
        if not len(rows) or count == max_iter:
            break
        jump, move = _ahead(T[rows] - last_T[rows], step[rows], last_step[rows], share[rows])
        trial = T[rows] + move
        height_there, step_there = look(trial, data if len(rows) == m else data[rows])
        up = height_there >= height[rows] - slack[rows]
        factor = np.where(up, 2, np.where(jump, 1, 0.5))
        share[rows] = np.minimum(factor * share[rows], 1)
        last_T[rows], last_step[rows] = T[rows], np.where(up[:, None], step[rows], np.nan)
        moved = rows[up]
        T[moved], height[moved], step[moved] = trial[up], height_there[up], step_there[up]
        n_iter[rows] += 1
    return Ends(T, -height, converged, n_iter)


def _ahead(
    moved: NDArray, step: NDArray, last_step: NDArray, share: NDArray
) -> tuple[NDArray, NDArray]:
    """Return which rows jump ahead, and the move of every row: a jump, or its share of the step.

    Between the last point and this one the step has changed by ``change``. If it goes on changing
    like that, moving on by θ(moved + change) less takes away θ·change of it; θ leaves the least.
    """
    change = step - last_step
    with np.errstate(all="ignore"):  # no last step is NaN, and so is all that follows from it
        theta = np.sum(change * step, axis=1) / np.sum(change**2, axis=1)
        move = step - theta[:, None] * (moved + change)
        length, whole = np.linalg.norm(step, axis=1), np.linalg.norm(move, axis=1)
        move *= np.minimum(AHEAD * length / whole, 1)[:, None]
    jump = (length < np.linalg.norm(last_step, axis=1)) & (share == 1) & np.isfinite(whole)
    return jump, np.where(jump[:, None], move, share[:, None] * step)
