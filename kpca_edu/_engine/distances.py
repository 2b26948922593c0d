"""Tables of distances: their checks, and the positive part of the spectrum of −½JD²J."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .centering import center_in_place, gram
from .checks import data_matrix, tell
from .eigen import Eigenpairs

__all__ = [
    "PositivePart",
    "distances",
    "finite_distances",
    "new_squares",
    "positive_part",
    "squares",
]

ALL_EIGENVALUES = 3000  # up to this size all are computed if some are negative: a few seconds


def distances(D: ArrayLike, name: str) -> NDArray:
    """Return D as a symmetric matrix with zeros on the diagonal and no negative entry."""
    D = gram(D, name)
    slack = np.sqrt(np.finfo(D.dtype).eps) * np.abs(D).max()
    if D.min() < -slack:
        raise ValueError(f"{name} has a negative entry, {D.min():.3g}: distances are needed.")
    if np.abs(D.diagonal()).max() > slack:
        raise ValueError(
            f"The diagonal of {name} is not zero: each point has the distance 0 from itself. "
            f"If {name} holds similarities, it is a Gram matrix: use center_gram."
        )
    return D


def squares(D: ArrayLike, name: str) -> NDArray:
    """Return the squares of the distances D : (n, n), if sums of all of them are floats, too."""
    D = distances(D, name)
    limits = np.finfo(D.dtype)
    _check_range(D, name, np.sqrt(limits.tiny / limits.eps), np.sqrt(limits.max) / len(D))
    return D**2


def new_squares(D: ArrayLike, name: str) -> NDArray:
    """Return the squares of distances between new points and old ones, D : (m, n)."""
    D = data_matrix(D, name)
    if D.min() < 0:
        raise ValueError(f"{name} has a negative entry, {D.min():.3g}: distances are needed.")
    _check_range(D, name, 0.0, np.sqrt(np.finfo(D.dtype).max))
    return D**2


def finite_distances(D2: NDArray) -> NDArray:
    """Return D2 itself if no entry overflowed."""
    if not np.isfinite(D2).all():
        raise ValueError("The distances between the features overflow: scale K down first.")
    return D2


class PositivePart(NamedTuple):
    """The leading positive eigenvalues of −½JD²J, and sums over all of its eigenvalues."""

    lam: NDArray  # (k,) falling
    A: NDArray  # (n, k) unit eigenvectors, the columns
    lowest: float  # the smallest eigenvalue is at most this
    total: float  # the sum of all eigenvalues
    positive: float  # the sum of the positive ones; NaN if it is not known


def positive_part(K: NDArray, pairs: Eigenpairs) -> PositivePart:
    """Return those of the leading eigenpairs of JKJ that are positive; say if some are not.

    K : (n, n) is −½D². It is overwritten by JKJ if some eigenvalue is clearly negative and n is at
    most ALL_EIGENVALUES: then all of them are computed, in O(n³), for the sum of the positive
    ones. For larger n that is NaN. Without negative ones it is the trace.
    """
    lam, A, lowest = pairs
    n, k, eps = len(K), len(lam), float(np.finfo(K.dtype).eps)
    rounding = 8 * n * eps * float(np.abs(K).max())
    r = int(np.sum(lam > rounding))
    if r == 0:
        raise ValueError("All distances are zero: the points coincide, and no axis stands out.")
    total = -float(K.sum(dtype=float)) / n
    found, slack = float(lam[:r].sum(dtype=float)), max(rounding, np.sqrt(eps) * float(lam[0]))
    euclidean = lowest >= -slack and found <= total + n * slack
    if r < k:
        why = "the points lie in" if euclidean else "the distances are not Euclidean, and have"
        tell(f"k={k} coordinates asked, and {why} {r} dimensions: the others are dropped.")
    positive = max(total, found) if euclidean else _sum_of_positive(K)
    return PositivePart(lam[:r], A[:, :r], lowest, total, positive)


def _sum_of_positive(K: NDArray) -> float:
    if len(K) > ALL_EIGENVALUES:
        return np.nan
    values = np.linalg.eigvalsh(center_in_place(K)).astype(float)
    return float(values[values > 0].sum())


def _check_range(D: NDArray, name: str, low: float, high: float) -> None:
    largest = float(D.max())
    if largest and not low < largest < high:
        raise ValueError(
            f"The largest distance is {largest:.3g}, and its square is beyond the range of "
            f"{D.dtype}: divide {name} by it first. The points scale with the distances."
        )
