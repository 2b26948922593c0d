"""Compare factorisations that are unique only up to sign or rotation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.checks import data_matrix, real_array, tolerance

__all__ = ["align_signs", "subspace_angles", "same_subspace", "fix_signs"]

TIE = 1e-6  # entries that are equal up to this count as equal: rounding decides no sign


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
    same_way = np.sum(_unit_columns(U) * _unit_columns(V), axis=0) >= 0
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
    Q_U, Q_V = _bases(U, V)
    if Q_U.shape[1] < Q_V.shape[1]:
        Q_U, Q_V = Q_V, Q_U
    if Q_V.shape[1] == 0:  # the zero space makes no angle
        return np.empty(0)
    inside = Q_U.T @ Q_V
    cosines = np.linalg.svd(inside, compute_uv=False)[::-1]
    sines = np.linalg.svd(Q_V - Q_U @ inside, compute_uv=False)
    return np.arctan2(sines, cosines)


def same_subspace(U: ArrayLike, V: ArrayLike, tol: float = 1e-8) -> bool:
    """Tell whether U and V span the same subspace: equal dimension, no angle above tol radians.

    Of single precision no less than 1e-5 can be asked, and so much is allowed.

    >>> same_subspace([[1.0], [0.0]], [[-3.0], [0.0]])
    True
    """
    (Q_U, Q_V), single = _bases(U, V), np.float32 in (np.asarray(U).dtype, np.asarray(V).dtype)
    tol = max(tolerance(tol), 1e-5 if single else 0.0)
    if Q_U.shape != Q_V.shape:
        return False
    return Q_U.size == 0 or bool(np.all(subspace_angles(Q_U, Q_V) <= tol))


def fix_signs(V: ArrayLike, *partners: ArrayLike) -> tuple[NDArray, ...]:
    """Return V with the largest entry (in modulus) of each column positive, and partners to match.

    V : (n, k), and partners of any height with k columns. Entries that tie with the largest up to
    rounding count as equal, and the first one decides: otherwise (1, −1)/√2 would flip from
    machine to machine.

    >>> fix_signs([[0.6], [-0.8]])
    (array([[-0.6],
           [ 0.8]]),)
    """
    V = _columns(V, "V")
    matrices = [V, *(_columns(A, f"partners[{i}]", V) for i, A in enumerate(partners))]
    size = np.abs(V)
    first = np.argmax(size >= (1 - TIE) * size.max(axis=0, initial=0.0), axis=0)
    negative = V[first, np.arange(V.shape[1])] < 0
    return tuple(A * np.where(negative, -1, 1).astype(A.dtype) for A in matrices)


def _bases(U: ArrayLike, V: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return orthonormal bases of two column spaces, dependent columns left out."""
    U, V = data_matrix(U, "U"), data_matrix(V, "V")
    if U.shape[0] != V.shape[0]:
        raise ValueError(
            f"U is {_size(U)} and V is {_size(V)}: their columns live in different spaces. "
            f"Both need the same number of rows."
        )
    return _basis(U), _basis(V)


def _basis(A: NDArray) -> NDArray:
    Q, s, _ = np.linalg.svd(A.astype(float), full_matrices=False)
    return Q[:, s > max(A.shape) * np.finfo(A.dtype).eps * s[0]]


def _columns(A: ArrayLike, name: str, like: NDArray | None = None) -> NDArray:
    """Return A as a finite matrix, which may have no columns, or as many as ``like`` has."""
    array = real_array(A, name)
    if array.ndim != 2 or array.shape[1] > 0:
        array = data_matrix(A, name)
    if like is not None and array.shape[1] != like.shape[1]:
        raise ValueError(
            f"V has {like.shape[1]} columns and {name} has {array.shape[1]}: each column of V "
            f"needs one that is flipped with it."
        )
    return array


def _unit_columns(A: NDArray) -> NDArray:
    """Divide columns by their largest modulus, so that products neither over- nor underflow."""
    largest = np.abs(A).max(axis=0)
    return A / np.where(largest > 0, largest, 1)


def _size(A: NDArray) -> str:
    return f"{A.shape[0]}×{A.shape[1]}"
