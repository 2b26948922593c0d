"""Compare factorisations that are unique only up to sign or rotation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from ._engine.checks import data_matrix

__all__ = ["align_signs", "subspace_angles", "same_subspace", "fix_signs"]


def align_signs(U: ArrayLike, V: ArrayLike) -> NDArray:
    """Return V with each column flipped, where needed, to point the same way as that of U.

    U, V : (n, k). A column of V at a right angle to its partner is left as it is.

    >>> align_signs([[1.0, 0.0], [0.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]])
    array([[ 1.,  0.],
           [-0.,  1.]])
    """
    U, V = data_matrix(U, "U"), data_matrix(V, "V")
    if U.shape != V.shape:
        raise ValueError(
            f"U is {_size(U)} and V is {_size(V)}: columns can be matched only if the shapes agree."
        )
    same_way = np.sum(_unit_scale(U) * _unit_scale(V), axis=0) >= 0
    return np.where(same_way, V, -V)


def subspace_angles(U: ArrayLike, V: ArrayLike) -> NDArray:
    """Return the principal angles between the column spaces of U and V, largest first.

    U : (n, k), V : (n, l); the columns need not be orthonormal. With orthonormal bases Q, the
    cosines of the angles are the singular values of Q_UᵀQ_V, their sines those of what Q_V has
    outside the larger space. Both together keep the digits of small and of large angles.
    Angles are in radians.

    >>> subspace_angles([[1.0], [0.0]], [[1.0], [1.0]]).round(4)
    array([0.7854])
    """
    Q_U, Q_V = map(linalg.orth, _same_height(U, V))
    if Q_U.shape[1] < Q_V.shape[1]:
        Q_U, Q_V = Q_V, Q_U
    if Q_V.shape[1] == 0:  # the zero space makes no angle
        return np.empty(0)
    inside = Q_U.T @ Q_V
    cosines = linalg.svdvals(inside)[::-1]
    sines = linalg.svdvals(Q_V - Q_U @ inside)
    return np.arctan2(sines, cosines)


def same_subspace(U: ArrayLike, V: ArrayLike, tol: float = 1e-8) -> bool:
    """Tell whether U and V span the same subspace: equal dimension, no angle above tol radians.

    >>> same_subspace([[1.0], [0.0]], [[-3.0], [0.0]])
    True
    """
    Q_U, Q_V = map(linalg.orth, _same_height(U, V))
    if Q_U.shape != Q_V.shape:
        return False
    return Q_U.size == 0 or bool(np.all(subspace_angles(Q_U, Q_V) <= tol))


def fix_signs(V: NDArray, *partners: NDArray) -> tuple[NDArray, ...]:
    """Return V with the largest entry (in modulus) of each column positive, and partners to match.

    Entries that tie with the largest up to rounding count as equal, and the first one decides:
    otherwise (1, −1)/√2 would flip from machine to machine.

    >>> fix_signs(np.array([[0.6], [-0.8]]))
    (array([[-0.6],
           [ 0.8]]),)
    """
    signs = _signs_of_largest(V)
    return tuple(matrix * signs for matrix in (V, *partners))


def _signs_of_largest(V: NDArray) -> NDArray:
    size = np.abs(V)
    first = np.argmax(size >= (1 - 1e-6) * size.max(axis=0, initial=0.0), axis=0)
    return np.where(V[first, np.arange(V.shape[1])] < 0, -1, 1).astype(V.dtype)


def _same_height(U: ArrayLike, V: ArrayLike) -> tuple[NDArray, NDArray]:
    U, V = data_matrix(U, "U"), data_matrix(V, "V")
    if U.shape[0] != V.shape[0]:
        raise ValueError(
            f"U is {_size(U)} and V is {_size(V)}: their columns live in different spaces. "
            f"Both need the same number of rows."
        )
    return U, V


def _unit_scale(A: NDArray) -> NDArray:
    """Divide by the largest modulus, so that products neither over- nor underflow."""
    return A / (np.abs(A).max() or 1.0)


def _size(A: NDArray) -> str:
    return f"{A.shape[0]}×{A.shape[1]}"
