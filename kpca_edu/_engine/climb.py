"""An iteration that climbs: when to stop, what to return, and whether that is the top."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from .checks import ConvergenceWarning, flag, tell, tolerance, whole_number
from .progress import with_progress

__all__ = ["Climb"]

EPS = float(np.finfo(float).eps)
State = TypeVar("State")


class Climb(Generic[State]):
    """Follow an iteration whose value, a sum of ``terms``, should never fall; keep the best state.

    It has settled when the gain that is still to come, estimated from the last gains, is at most
    ``tol`` a term, or so small that rounding hides it. ``tol=0`` asks for all the steps. A value
    that falls by more than rounding ends the climb, and that is no convergence.
    """

    def __init__(self, title: str, terms: int, tol: float, max_iter: int, progress: bool = False):
        self.terms = terms
        self.tol = tolerance(tol)
        self.max_iter = whole_number(max_iter, "max_iter", least=1)
        self.converged = self.fell = False
        self.title = title
        self._progress = flag(progress, "progress")
        self._values: list[float] = []
        self._last: State | None = None
        self._best: State | None = None

    def rounds(self) -> Iterator[int]:
        """Count the looks at a state: one at the start and one after each of max_iter steps."""
        yield from with_progress(range(self.max_iter + 1), self._progress, self.title)

    def settled(self, value: float, state: State) -> bool:
        """Take note of the state and its value; tell whether it is time to stop."""
        gain = value - self._values[-1] if self._values else np.inf
        if value > max(self._values, default=-np.inf):
            self._best = state
        self._values.append(value)
        self._last = state
        self.fell = bool(gain < -1e6 * EPS * self.terms)
        if self.fell or self.tol == 0:
            return self.fell
        hidden = gain <= 8 * EPS * max(abs(value), self.terms)
        self.converged = bool(hidden or self._to_come() <= self.tol * self.terms)
        return self.converged

    def _to_come(self) -> float:
        """Estimate the gains to come, as if they fell geometrically.

        After g₁ and g₂ = c·g₁ there follow c·g₂ + c²·g₂ + … = g₂·c/(1 − c).
        """
        if len(self._values) < 3:
            return np.inf
        before, gain = np.diff(self._values[-3:])
        return float(gain * gain / (before - gain)) if before > gain else np.inf

    def tell_unless_converged(self, advice: str) -> None:
        """Warn if the climb ended before the top, unless all the steps were asked for."""
        steps, gain = len(self._values) - 1, np.diff(self._values)[-1]
        if self.fell:
            problem = f"stopped after {steps} steps, as rounding errors have begun to lower it"
        elif not self.converged and self.tol > 0:
            problem = f"made max_iter={self.max_iter} steps, and the last one still gained"
            problem += f" {gain:.2g}: raise max_iter or tol, or go on from start=model"
        else:
            return
        tell(f"{self.title} {problem}. {advice}", ConvergenceWarning)

    @property
    def best(self) -> State:
        """The first state with the largest value."""
        return self._seen(self._best)

    @property
    def last(self) -> State:
        """The state that was looked at last."""
        return self._seen(self._last)

    @staticmethod
    def _seen(state: State | None) -> State:
        if state is None:
            raise RuntimeError("No state has been looked at yet.")
        return state

    @property
    def history(self) -> NDArray:
        """The values from the start to the best state."""
        values = np.array(self._values)
        return values[: int(np.argmax(values)) + 1]
