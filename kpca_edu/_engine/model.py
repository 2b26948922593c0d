"""Results that can't change: models own their arrays, and nobody can write to them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Frozen", "read_only", "read_only_sparse"]


class Frozen:
    """Base of every frozen dataclass that holds arrays.

    An array or sparse matrix that somebody could still write to is copied, so that ``A *= 2`` after
    a fit changes no model; the model's own arrays are read-only, also after pickle and copy.
    """

    def __post_init__(self) -> None:
        self._freeze()

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        self._freeze()

    def _freeze(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, read_only(value))
            elif hasattr(value, "tocsr"):
                object.__setattr__(self, name, read_only_sparse(value))


def read_only(array: NDArray) -> NDArray:
    """Return the array if nobody can write to its memory, else a read-only copy."""
    owner = array
    while isinstance(owner, np.ndarray) and not owner.flags.writeable and owner.base is not None:
        owner = owner.base
    if isinstance(owner, np.ndarray) and not owner.flags.writeable:
        return array
    array = np.array(array, order="K", copy=True)
    array.flags.writeable = False
    return array


def read_only_sparse(matrix: Any) -> Any:
    """Return the sparse matrix if the arrays that it is made of are read-only, else such a copy."""
    if any(part.flags.writeable for part in _parts(matrix)):
        matrix = matrix.copy()
        for part in _parts(matrix):
            part.flags.writeable = False
    return matrix


def _parts(matrix: Any) -> list[NDArray]:
    parts = [getattr(matrix, name, None) for name in ("data", "indices", "indptr")]
    return [part for part in parts if isinstance(part, np.ndarray)]
