"""L-BFGS for many small problems at once: every row of a matrix walks downhill on its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .searches import Ends

__all__ = ["minimize_rows"]

ValueAndSlope = Callable[[NDArray, NDArray], tuple[NDArray, NDArray]]


def minimize_rows(
    value_and_slope: ValueAndSlope,
    T: NDArray,
    data: NDArray,
    *,
    length: float,
    flat: NDArray,
    max_iter: int,
    memory: int = 8,
) -> Ends:
    """Minimise a function of each row of T : (m, d), every row with its own steps.

    value_and_slope(T, data) gives the values and the gradients at the points T; it gets the rows
    of data : (m, …) that belong to them. ``length`` is a step worth trying first. A row has
    converged, and drops out, when its gradient is at most ``flat`` : (m,) long. A row whose value
    can't be made smaller even along the gradient stays where it is, not converged. Values never
    rise, up to rounding, and what happens to a row does not depend on the others.

    Each step costs one call for the rows on their way, a few where steps have to be halved, and
    4·memory products of vectors a row; 2·memory copies of T are kept.
    """
    T, m = T.copy(), len(T)
    rows = np.arange(m)
    F, G = value_and_slope(T, data)
    S, Y = np.zeros((2, memory, *T.shape), T.dtype)
    R = np.zeros((memory, m), T.dtype)  # 1/sᵀy of each step s and change of slope y; 0 is none
    converged, n_iter = np.zeros(m, bool), np.zeros(m, int)
    least = max(1e-12 * length, 4 * np.finfo(T.dtype).eps * np.abs(T).max())  # or tips have no end
    for count in range(max_iter + 1):
        converged[rows] = np.linalg.norm(G[rows], axis=1) <= flat[rows]
        rows = rows[~converged[rows]]
        if not len(rows) or count == max_iter:
            break
        fresh = ~R[:, rows].any(axis=0)  # no memory: steepest descent
        own = rows if len(rows) < m else slice(None)  # no copies while all are on their way
        P = _quasi_newton(G[rows], S[:, own], Y[:, own], R[:, own], count, length)
        moved, T_new, F_new, G_new = _backtrack(value_and_slope, data, T, F, G, P, rows, least)
        here, n_iter[rows] = rows[moved], n_iter[rows] + 1
        R[:, rows[~moved]] = 0  # forget what led astray
        s, y, place = T_new - T[here], G_new - G[here], count % memory
        S[place, here], Y[place, here], R[place, here] = s, y, _bend(s, y)
        T[here], F[here], G[here] = T_new, F_new, G_new
        rows = rows[moved | ~fresh]  # who can't descend even along the gradient, stays
    return Ends(T, F, converged, n_iter)


def _bend(s: NDArray, y: NDArray) -> NDArray:
    """Return 1/sᵀy for each row, 0 where the slope did not turn upwards along the step."""
    bend = np.sum(s * y, axis=1)
    useful = bend > 1e-10 * np.linalg.norm(s, axis=1) * np.linalg.norm(y, axis=1)
    return np.where(useful, 1 / np.where(useful, bend, 1), 0)


def _quasi_newton(
    G: NDArray, S: NDArray, Y: NDArray, R: NDArray, count: int, length: float
) -> NDArray:
    """Return −HG with the inverse Hessian H that the last steps S and slopes Y suggest."""
    memory = len(S)
    order = [(count - 1 - i) % memory for i in range(min(memory, count))]  # newest first
    P, A = G.copy(), np.empty_like(R)
    scale = np.zeros(len(G), G.dtype)
    for i in order:
        A[i] = R[i] * np.vecdot(S[i], P)
        P -= A[i][:, None] * Y[i]
        newest = (scale == 0) & (R[i] > 0)
        bend = np.where(newest, R[i] * np.vecdot(Y[i], Y[i]), 1)
        scale = np.where(newest, 1 / bend, scale)
    P *= np.where(scale > 0, scale, 0.1 * length / np.linalg.norm(G, axis=1))[:, None]
    for i in reversed(order):
        P += (A[i] - R[i] * np.vecdot(Y[i], P))[:, None] * S[i]
    return -P


def _backtrack(
    value_and_slope: ValueAndSlope,
    data: NDArray,
    T: NDArray,
    F: NDArray,
    G: NDArray,
    P: NDArray,
    rows: NDArray,
    least: float,
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Halve each row's step until its value falls enough; return who moved, and where to.

    A step shorter than ``least`` is none.
    """
    T_new, F_new, G_new = T[rows], F[rows], G[rows]
    gain = np.sum(P * G_new, axis=1)
    slack = 16 * np.finfo(T.dtype).eps * np.abs(F_new)
    share, open_ = np.ones(len(rows), T.dtype), gain < 0
    size, moved = np.linalg.norm(P, axis=1), np.zeros(len(rows), bool)
    for _ in range(40):
        open_ &= share * size >= least
        at = np.flatnonzero(open_)
        if not len(at):
            break
        trial = T[rows[at]] + share[at, None] * P[at]
        value, slope = value_and_slope(trial, data[rows[at]])
        enough = value <= F[rows[at]] + 1e-4 * share[at] * gain[at] + slack[at]
        done = at[enough]
        T_new[done], F_new[done], G_new[done] = trial[enough], value[enough], slope[enough]
        moved[done], open_[done] = True, False
        share[at] /= 2
    return moved, T_new[moved], F_new[moved], G_new[moved]
