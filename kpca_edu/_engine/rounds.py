"""The rounds of an iteration: counted, recorded, shown as a bar, stopped, and warned about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import (
    ConvergenceWarning,
    choice,
    flag,
    generator,
    number,
    real_array,
    tell,
    tolerance,
    whole_number,
)
from .model import Frozen
from .products import Map, NoisyOperator, Rng, noise, triplet_count
from .progress import tqdm_class

__all__ = [
    "PowerHistory",
    "Rounds",
    "Run",
    "Search",
    "eigen_ratio",
    "largest",
    "refuse_indefinite",
    "start_tangent",
    "step_counts",
    "story",
]

PATIENCE = 100  # rounds without halving, at the level of rounding, after which to give up
FIRST = 5  # rounds before a tiny value is believed: a random start sees little of it

Numbers = float | NDArray
_silent: ContextVar[bool] = ContextVar("silent", default=False)  # while a run is part of another


@dataclass(frozen=True, eq=False, repr=False)
class PowerHistory(Frozen):
    """What was seen at v₀, v₁, …, v_T in a run of T steps; k columns for a block of k vectors."""

    s: NDArray  # (T + 1,) ‖Xvₜ‖, the estimate of the singular value (the eigenvalue of K)
    residual: NDArray  # (T + 1,) ‖XᵀXvₜ − sₜ²vₜ‖/sₜ², for the matrix that was iterated
    step: NDArray  # (T + 1,) ‖vₜ₊₁ − vₜ‖; for a block the sine of the angle it turned by last

    def __repr__(self) -> str:
        steps, reached = len(self.s) - 1, largest(self.residual[-1])
        return f"PowerHistory({steps} steps, to residual {reached:.1e})"


class Run(Frozen):
    """What the outcomes for one vector share; they hold a ``history``."""

    history: PowerHistory

    @property
    def residual(self) -> float:
        """‖Xᵀu − sv‖/s of what is returned; of a Gram matrix ‖Ka − λa‖/λ."""
        return float(self.history.residual[-1])


class Rounds:
    """Looks at the vectors v₀, v₁, … of an iteration that makes at most ``max_iter`` steps.

    Use it as ``for _ in rounds: …; if rounds.done(s, residual, change): break``. The look at vₜ
    comes before step t + 1. It is the last one if the residual (with ``stop="step"`` the change)
    is at most ``tol``, if max_iter steps have been made, or if rounding allows no progress. Unless
    the goal was met, or ``tol`` is 0, a :class:`ConvergenceWarning` says so.
    """

    def __init__(
        self,
        X: Map,
        tol: float | None,
        max_iter: int,
        *,
        stop: str = "residual",
        progress: bool = False,
    ):
        self.X, self.stop = X, choice(stop, "stop", ["residual", "step"])
        self.tol = _tolerance_of(X, tol)
        self.max_iter = whole_number(max_iter, "max_iter")
        self.progress = flag(progress, "progress")
        self.converged = False
        self._rows: list[tuple[Numbers, Numbers, float]] = []
        self._block: NDArray | None = None
        self._best, self._best_at = np.inf, 0

    @property
    def n_iter(self) -> int:
        """The number of steps that were made."""
        return len(self._rows) - 1

    @property
    def history(self) -> PowerHistory:
        """What was seen in each look: s, residual and change."""
        return PowerHistory(*(np.array(column) for column in zip(*self._rows, strict=True)))

    def __iter__(self) -> Iterator[int]:
        if not self.progress:
            yield from range(self.max_iter + 1)
            return
        with tqdm_class()(total=self.max_iter, desc="power steps", leave=False) as bar:
            for t in range(self.max_iter + 1):
                yield t
                bar.set_postfix_str(f"residual {largest(self._rows[-1][1]):.1e}", refresh=False)
                bar.update()

    def done(self, s: Numbers, residual: Numbers, change: float) -> bool:
        """Record a look at v: its s and residual, and how far the next step would go."""
        self._rows.append((s, residual, change))
        reached = change if self.stop == "step" else largest(residual)
        self.converged = reached <= self.tol
        if self.converged:
            return True
        stuck = self.tol > 0 and self._stuck(s, residual)
        if not stuck and self.n_iter < self.max_iter:
            return False
        _warn(self.stop, reached, self.tol, None if stuck else self.n_iter)
        return True

    def turned(self, V: NDArray) -> float:
        """Return the sine of the largest angle between the span of V and that of the last one.

        V : (d, k), orthonormal columns. The first time it is 1.
        """
        before, self._block = self._block, V
        if before is None:
            return 1.0
        return float(np.linalg.norm(V - before @ (before.T @ V), 2))

    def _stuck(self, s: Numbers, residual: Numbers) -> bool:
        """Tell whether nothing but rounding is left: no value above it, or no progress."""
        top = abs(largest(s))
        if self.n_iter >= FIRST and top <= self.X.noise:
            return True
        missing = largest(s * residual)
        if missing < self._best / 2:
            self._best, self._best_at = missing, self.n_iter
        if self.n_iter - self._best_at < PATIENCE:
            return False
        return missing <= max(self.X.noise, noise(self.X, [top]))


class Outcome(Protocol):
    """What a run of an iteration tells about itself."""

    @property
    def n_iter(self) -> int: ...

    @property
    def converged(self) -> bool: ...

    @property
    def residual(self) -> Numbers: ...

    @property
    def history(self) -> Any: ...


R = TypeVar("R", bound=Outcome)


class Search(Generic[R]):
    """Runs of an iteration one after the other, each from a fresh start and without a warning.

    Each is √k times as exact as ``tol`` asks, because a tie mixes up to k vectors in the end.
    """

    def __init__(
        self,
        iterate: Callable[..., R],
        X: Map,
        k: int,
        tol: float | None,
        max_iter: int,
        rng: Rng,
        progress: bool,
    ):
        self.iterate, self.X, self.k = iterate, X, triplet_count(X, k)
        self.tol = _tolerance_of(X, tol)
        steps = whole_number(max_iter, "max_iter", least=1)
        self.options = {"max_iter": steps, "rng": generator(rng), "progress": progress}
        self.runs: list[R] = []

    @property
    def n_iter(self) -> int:
        """The number of steps that all runs have made."""
        return sum(run.n_iter for run in self.runs)

    @property
    def history(self) -> tuple[PowerHistory, ...]:
        """What each run has seen."""
        return tuple(run.history for run in self.runs)

    def __call__(self, rest: NoisyOperator | Map) -> R | None:
        """Return the run on what is left of X, or None if that is nothing but rounding."""
        before = _silent.set(True)
        try:
            run = self.iterate(rest, tol=self.tol / np.sqrt(self.k), **self.options)
        finally:
            _silent.reset(before)
        if float(run.history.s[-1]) <= rest.noise:
            return None
        self.runs.append(run)
        return run

    def judge(self, s: NDArray, residual: NDArray) -> bool:
        """Tell whether the residuals, those of X itself, are at most tol, and warn if not."""
        if largest(residual) > self.tol:
            missing = np.where(residual > self.tol, s * residual, 0.0)
            stuck = largest(missing) <= noise(self.X, s)
            _warn("residual", largest(residual), self.tol, None if stuck else self.n_iter)
        return largest(residual) <= self.tol


def refuse_indefinite(lam: float, size: float) -> None:
    """Refuse a K for which aᵀKa = lam is negative beyond rounding; size is ‖Ka‖, ‖a‖ = 1."""
    if lam < -1e-8 * size:
        raise ValueError(
            f"K is indefinite: aᵀKa = {lam:.3g} for some a. A Gram matrix has no negative "
            f"eigenvalue; check the kernel, or add a multiple of the identity."
        )


def start_tangent(n: int, failure: float) -> float:
    """Return what the tangent of a random start exceeds with probability ``failure`` at most."""
    failure = number(failure, "failure", 0.0, 0.5, open_low=True, hint=": it is a chance")
    return float(np.sqrt(2 * whole_number(n, "n", least=1) / np.pi) / failure)


def eigen_ratio(ratio: float, gap: bool = False) -> float:
    """Return λ₂/λ₁ as a number from 0 to 1; with ``gap=True`` refuse a tie."""
    ratio = number(ratio, "ratio", 0.0, 1.0, hint=" for λ₂/λ₁; perhaps it is upside down")
    if gap and ratio == 1:
        raise ValueError(f"ratio={ratio}: no number of steps is enough unless λ₂ < λ₁.")
    return ratio


def step_counts(t: ArrayLike, least: int = 0) -> NDArray:
    """Return one or many numbers of steps as floats."""
    steps = real_array(t, "t").astype(float)
    if not np.all(steps >= least):
        raise ValueError(f"t={t!r:.60}: numbers of steps from {least} up are needed.")
    return steps


def largest(x: Numbers) -> float:
    """Return the largest of some numbers that are not negative, 0 if there is none."""
    return x if isinstance(x, float) else float(np.max(x, initial=0.0))


def story(run: Outcome) -> str:
    """Say in a few words how a run went."""
    ending = "converged" if run.converged else "not converged"
    return f"residual {largest(run.residual):.1e} after {run.n_iter} steps, {ending}"


def _tolerance_of(X: Map, tol: float | None) -> float:
    """Return tol, checked; unless given it is √ε, 1.5e-8 in double precision."""
    return float(np.sqrt(np.finfo(X.dtype).eps)) if tol is None else tolerance(tol)


def _warn(what: str, reached: float, tol: float, steps: int | None) -> None:
    """Warn that the goal was missed after so many steps (None: by rounding), and what to do."""
    if tol == 0 or _silent.get():
        return
    why, advice = f"after {steps} steps", "Raise max_iter or tol, or take a block with more columns"
    if steps is None:
        why, advice = "and rounding allows no less", "Raise tol"
    tell(
        f"Not converged: the {what} is {reached:.1e}, above tol={tol:.1e}, {why}. {advice}.",
        ConvergenceWarning,
    )
