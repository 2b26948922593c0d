"""What the rules that choose k share: checks, units, and sums over folds."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import component_count, data_matrix, is_number, orthonormal_columns, row_folds
from .factors import rescaled
from .memory import room_for
from .progress import with_progress
from .tables import centred_table

__all__ = [
    "at_a_time",
    "components_of_table",
    "in_squared_units",
    "largest_k",
    "of_drawn",
    "over_folds",
    "rows_and_axes",
    "squared_lacks",
    "tried",
    "two_columns",
]

CACHED = 2**16  # entries of the tables that are worked on at a time


def two_columns(X: ArrayLike) -> tuple[NDArray, float]:
    """Return the centred table in a unit of its own, and the unit; refuse a single column."""
    Xc, unit, _ = centred_table(X)
    if Xc.shape[1] < 2:
        raise ValueError("X has one column: at least two are needed, or nothing predicts an entry.")
    return Xc, unit


def over_folds(
    X: NDArray,
    folds: int,
    rng: int | np.random.Generator,
    progress: bool,
    curve: Callable[[NDArray, NDArray], NDArray],
) -> NDArray:
    """Deal the rows of X : (n, d) into folds, and add up curve(the others, the fold) over them.

    A curve has one value for each k = 0, 1, …; those of small folds may end earlier, and the sum
    ends with the shortest.
    """
    parts = with_progress(row_folds(len(X), folds, rng), progress, "folds")
    curves = [curve(np.delete(X, rows, axis=0), X[rows]) for rows in parts]
    shortest = min(map(len, curves))
    return np.sum([values[:shortest] for values in curves], axis=0)


def at_a_time(count: int, entries: int, left: int = 0) -> list[NDArray]:
    """Split 0, 1, … count − 1 into runs: so many tables of so many entries stay in a cache.

    left : so many numbers are kept of each table.
    """
    room_for(count, left + 1, "What is kept of each table", "ask for fewer of them.")
    size = max(1, CACHED // entries)
    return np.split(np.arange(count), range(size, count, size))


def components_of_table(X: ArrayLike, k: int) -> int:
    """Return k as a number of components, from 1 up, that a table X can have."""
    n, d = np.shape(X)
    return component_count(k, min(n, d), f"a {n}×{d} matrix", least=1)


def of_drawn(prepare: Callable[[NDArray], NDArray], rows: NDArray) -> NDArray:
    """Return prepare(rows) of a table that was drawn, or say that this table is what is wrong."""
    try:
        return prepare(rows)
    except ValueError as error:
        raise ValueError(
            f"In a table drawn from the rows of X: {error} Such columns have too few different "
            f"values in X for scale=True."
        ) from None


def largest_k(max_k: int | None, most: int, of: str) -> int:
    """Return max_k, which may be ``most`` and is so by default; −1 says that none is left."""
    if most < 0:
        raise ValueError(
            "When one part of the rows is held out, the others are all the same: they have no "
            "variance. Take more folds, or drop repeated rows."
        )
    return most if max_k is None else component_count(max_k, most, of, name="max_k")


def tried(max_k: int | None, most: int) -> range:
    """Return 0, 1, … max_k, or … most if there are no more; of a wrong max_k, too.

    :func:`largest_k` refuses the wrong ones, when it is known for all folds how many there are.
    """
    if max_k is None or not is_number(max_k, Integral):
        return range(most + 1)
    return range(most + 1 if max_k < 0 else min(max_k, most) + 1)


def rows_and_axes(Y: ArrayLike, V: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return Y : (m, d) and V : (d, k) as matrices of floats; the columns of V are orthonormal."""
    Y, V = data_matrix(Y, "Y"), orthonormal_columns(V, "V")
    if Y.shape[1] != V.shape[0]:
        raise ValueError(
            f"Y has {Y.shape[1]} columns and V {V.shape[0]} rows: one row of V is needed for each "
            f"column of Y."
        )
    return Y, V


def squared_lacks(Y: NDArray, V: NDArray, alone: float) -> NDArray:
    """Return the sum of squares of what k directions lack of each entry, for k = 0 … r: (r + 1,).

    Y : (m, d) rows less the mean, V : (d, r) orthonormal columns. Plainly, it is
    ``[np.sum(held_out_residuals(Y, V[:, :k]) ** 2) for k in range(r + 1)]``. Here each direction
    is taken off the rest of those before: O(md) a direction, and memory for one table more.
    """
    lacks, rest, free = [np.vdot(Y, Y)], Y.copy(), np.ones(len(V))
    whole = np.einsum("ij,ij->j", Y, Y)
    for z, v in zip((Y @ V).T, V.T, strict=True):
        rest -= np.outer(z, v)
        free -= v**2  # 1 − leverage
        squares, told = np.einsum("ij,ij->j", rest, rest), free > alone
        lacks.append(np.sum(np.where(told, squares / np.where(told, free, 1.0) ** 2, whole)))
    return np.array(lacks)


def in_squared_units(values: NDArray, unit: float) -> NDArray:
    """Return unit² · values, multiplied twice: the square alone might overflow."""
    return rescaled(rescaled(values, unit), unit)
