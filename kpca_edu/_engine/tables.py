"""Complete tables of data: their checks, centred in a unit of their own, and folds of entries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import data_matrix, generator, whole_number
from .memory import room_for
from .sums import column_means

__all__ = [
    "CentredTable",
    "centred_table",
    "complete_table",
    "entry_folds",
    "power_of_two",
    "scaled_table",
]


class CentredTable(NamedTuple):
    """X = unit · Xc + 1x̄ᵀ, with entries of Xc up to two."""

    Xc: NDArray  # (n, d) doubles, or (m, n, d) for m such tables
    unit: float  # a power of two, so that dividing by it rounds nothing
    rounding: float  # singular values of Xc up to this may come from rounding in X alone

    def singular_values(self) -> NDArray:
        """Return all min(n, d) singular values of Xc, zero where they can't be told from it."""
        s = np.linalg.svd(self.Xc, compute_uv=False)
        eps = max(self.Xc.shape[-2:]) * np.finfo(float).eps
        floor = np.maximum(self.rounding, eps * s[..., :1])
        return np.where(s > floor, s, 0.0)


def complete_table(X: ArrayLike) -> NDArray:
    """Return X as a matrix of floats; NaN, a value that is missing, gets a sentence of its own."""
    X = data_matrix(X, missing=True)
    with np.errstate(all="ignore"):
        missing = 0 if np.isfinite(X.sum()) else int(np.isnan(X).sum())
    if missing:
        raise ValueError(
            f"X holds NaN: {missing} of its {X.size} values are missing, and a rule that chooses k "
            f"needs a complete table. Fill them in first, with fit_ppca_em(X, k).impute(X), or "
            f"drop those rows."
        )
    return X


def centred_table(X: ArrayLike, center: bool = True) -> CentredTable:
    """Return X less the means of its columns, in a unit of its own; refuse a table of equal rows.

    What is the same for X and for cX + 1mᵀ is computed from this without a thought about c and m.
    A column that is constant up to rounding becomes zero. With ``center=False`` only the unit is
    chosen.
    """
    X = complete_table(X)
    room_for(len(X), 2 * X.shape[1], "A centred copy of X, and its squares", "take fewer rows.")
    eps = 4 * float(np.finfo(X.dtype).eps)
    size = power_of_two(X)
    Xc = np.divide(X, size, dtype=float)  # so that squares neither overflow nor vanish
    lengths = np.linalg.norm(Xc, axis=0)
    if center:
        Xc -= column_means(Xc)
    varying = np.linalg.norm(Xc, axis=0) > eps * lengths
    if not varying.any():
        raise ValueError(
            f"{'All rows of X are the same up to rounding' if center else 'X is zero'}: "
            f"there is no variance, and no number of components to choose."
        )
    Xc[:, ~varying] = 0.0
    unit = power_of_two(Xc)
    rounding = eps * float(np.linalg.norm(lengths[varying])) / unit
    Xc /= unit
    return CentredTable(Xc, size * unit, rounding)


def scaled_table(X: ArrayLike) -> tuple[NDArray, float]:
    """Return X / unit, with entries up to two, and the unit; refuse a table of equal rows."""
    X = complete_table(X)
    centred_table(X)
    unit = power_of_two(X)
    return X / X.dtype.type(unit), unit


def power_of_two(A: NDArray) -> float:
    """Return the largest power of two up to the largest modulus in A; 1 if A is zero."""
    largest = max(float(A.max()), -float(A.min()))
    return float(2.0 ** (np.frexp(largest)[1] - 1)) if largest else 1.0


def entry_folds(n: int, d: int, folds: int, rng: int | np.random.Generator) -> NDArray:
    """Deal the entries of an n×d table into folds at random: (n, d), the fold of each entry.

    Folds have equal size up to one, also within every column: no column is held out as a whole.
    """
    folds = whole_number(folds, "folds", least=2)
    if folds > n * d:
        raise ValueError(f"folds={folds} of {n * d} entries: at most {n * d} parts can be made.")
    dealt = (np.arange(n * d) % folds).reshape(d, n)
    return generator(rng).permuted(dealt, axis=1).T
