"""How sparse, and how strong a penalty: what a user may say, checked; and what a run tells."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import ConvergenceWarning, number, real_array, tell, tolerance, whole_number
from .progress import with_progress

__all__ = [
    "Each",
    "Rounds",
    "check_loadings",
    "counts_of",
    "listed",
    "penalties_of",
    "penalty_below_one",
    "ridge_of",
]

Each = ArrayLike | None  # one for all components, or one for each


class Rounds:
    """The rounds of an iteration: ``for _ in rounds``, until ``rounds.settled(moved)`` ends it.

    If max_iter rounds were not enough, the user is told; not with tol = 0, which asks for all.
    """

    def __init__(self, what: str, tol: float, max_iter: int, progress: bool):
        self.what, self.tol = what, tolerance(tol)
        self.max_iter, self.progress = whole_number(max_iter, "max_iter", 1), progress
        self.converged = False

    def __iter__(self) -> Iterator[int]:
        for i in with_progress(range(self.max_iter), self.progress, self.what):
            yield i
            if self.converged:
                return
        if self.tol > 0:
            tell(
                f"The {self.what} moved by more than tol={self.tol:g} still after max_iter="
                f"{self.max_iter} rounds: give a larger max_iter or tol.",
                ConvergenceWarning,
            )

    def settled(self, moved: float) -> None:
        """Take note of how far the last round moved."""
        self.converged = bool(moved <= self.tol)


def ridge_of(value: float) -> float:
    """Return the ridge penalty: a number from 0 up, or infinity."""
    infinite = isinstance(value, float | np.floating) and value == np.inf
    return np.inf if infinite else number(value, "ridge", 0.0, hint=", or np.inf")


def penalties_of(l1: ArrayLike, k: int) -> NDArray:
    """Return a penalty from 0 up for each of k components."""
    values = _no_flags(l1, "l1")
    if values.shape not in ((), (k,)):
        raise ValueError(f"l1 has shape {values.shape}: a number, or one for each of {k}.")
    return np.array([number(float(x), "l1", 0.0) for x in np.broadcast_to(values, k)])


def counts_of(nonzeros: ArrayLike, d: int, k: int) -> NDArray:
    """Return a count from 1 to d for each of k components."""
    values = _no_flags(nonzeros, "nonzeros")
    if values.shape not in ((), (k,)):
        raise ValueError(f"nonzeros has shape {values.shape}: a count, or one for each of {k}.")
    values = np.broadcast_to(values, k)
    bad = ~((values >= 1) & (values <= d) & (values == np.rint(values)))
    if bad.any():
        raise ValueError(
            f"nonzeros={values[bad][0]:g}: a whole number from 1 to {d}, the number of features, "
            f"is needed."
        )
    return values.astype(int)


def _no_flags(given: ArrayLike, name: str) -> NDArray:
    """Return an array of numbers; True is none, though NumPy would take it for 1."""
    values = real_array(given, name)
    if np.asarray(given).dtype == bool:
        raise ValueError(f"{name}={given!r}: a number is needed, or one for each component.")
    return values


def check_loadings(B: NDArray, d: int) -> None:
    """Refuse directions that don't have a loading for each of d features."""
    if B.shape[0] != d:
        raise ValueError(
            f"B has {B.shape[0]} rows for {d} features: a loading for each feature is needed."
        )


def penalty_below_one(penalty: float) -> float:
    """Return a penalty that is a share of the largest useful one."""
    if number(penalty, "penalty", 0.0) >= 1:
        raise ValueError(
            f"penalty={penalty!r}: at 1 or above every loading is zero. "
            f"Give a number from 0 to below 1."
        )
    return float(penalty)


def listed(numbers: NDArray) -> str:
    """Return the first numbers, as a person would list them."""
    shown = ", ".join(str(x) for x in numbers[:6])
    return f"{shown}, …" if numbers.size > 6 else shown
