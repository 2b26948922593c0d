"""L-BFGS for many small problems at once: every row of a matrix walks downhill on its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

__all__ = ["minimize_rows"]


def minimize_rows(
    value_and_slope: Callable[[NDArray, NDArray], tuple[NDArray, NDArray]],
    T: NDArray,
    length: float,
    flat: NDArray,
    max_iter: int,
    memory: int = 8,
) -> tuple[NDArray, NDArray, NDArray]:
    """Minimise a function of each row, every row with its own steps; rows that are done drop out.

    length is a step worth trying first, flat : (m,) the gradient that counts as none.
    """
    T, m = T.copy(), len(T)
    rows = np.arange(m)
    F, G = value_and_slope(T, rows)
    S, Y = np.zeros((2, memory, *T.shape), T.dtype)
    R = np.zeros((memory, m), T.dtype)  # 1/sᵀy of each step s and change of slope y; 0 is none
    converged, n_iter = np.zeros(m, bool), np.zeros(m, int)
    for count in range(max_iter + 1):
        converged[rows] = linalg.norm(G[rows], axis=1) <= flat[rows]
        rows = rows[~converged[rows]]
        if not len(rows):
            break
        fresh = ~R[:, rows].any(axis=0)  # no memory: steepest descent
        P = _quasi_newton(G[rows], S[:, rows], Y[:, rows], R[:, rows], count, length)
        moved, T_new, F_new, G_new = _backtrack(value_and_slope, T, F, G, P, rows)
        place, gone = count % memory, rows[~moved]
        R[:, gone] = 0  # forget; who can't descend even by steepest descent stays where it is
        n_iter[rows] += 1
        s, y = T_new - T[rows[moved]], G_new - G[rows[moved]]
        bend = np.sum(s * y, axis=1)
        useful = bend > 1e-10 * linalg.norm(s, axis=1) * linalg.norm(y, axis=1)
        here = rows[moved]
        S[place, here], Y[place, here] = s, y
        R[place, here] = np.where(useful, 1 / np.where(useful, bend, 1), 0)
        T[here], F[here], G[here] = T_new, F_new, G_new
        rows = rows[moved | ~fresh]
    return T, converged, n_iter


def _quasi_newton(
    G: NDArray, S: NDArray, Y: NDArray, R: NDArray, count: int, length: float
) -> NDArray:
    """Return −HG with the inverse Hessian H that the last steps S and slopes Y suggest."""
    memory = len(S)
    order = [(count - 1 - i) % memory for i in range(memory)]  # newest first
    P, A = G.copy(), np.empty_like(R)
    scale = np.zeros(len(G), G.dtype)
    for i in order:
        A[i] = R[i] * np.sum(S[i] * P, axis=1)
        P -= A[i][:, None] * Y[i]
        newest = (scale == 0) & (R[i] > 0)
        bend = np.where(newest, R[i] * np.sum(Y[i] ** 2, axis=1), 1)
        scale = np.where(newest, 1 / bend, scale)
    P *= np.where(scale > 0, scale, 0.1 * length / linalg.norm(G, axis=1))[:, None]
    for i in reversed(order):
        P += (A[i] - R[i] * np.sum(Y[i] * P, axis=1))[:, None] * S[i]
    return -P


def _backtrack(value_and_slope: Callable, T, F, G, P, rows: NDArray) -> tuple:
    """Halve each row's step until its value falls enough; return who moved, and where to."""
    T_new, F_new, G_new = T[rows], F[rows], G[rows]
    gain = np.sum(P * G_new, axis=1)
    slack = 16 * np.finfo(T.dtype).eps * np.abs(F_new)
    share, open_ = np.ones(len(rows), T.dtype), gain < 0
    moved = np.zeros(len(rows), bool)
    for _ in range(40):
        at = np.flatnonzero(open_)
        if not len(at):
            break
        trial = T[rows[at]] + share[at, None] * P[at]
        value, slope = value_and_slope(trial, rows[at])
        enough = value <= F[rows[at]] + 1e-4 * share[at] * gain[at] + slack[at]
        done = at[enough]
        T_new[done], F_new[done], G_new[done] = trial[enough], value[enough], slope[enough]
        moved[done], open_[done] = True, False
        share[at] /= 2
    return moved, T_new[moved], F_new[moved], G_new[moved]
