"""Measure several solutions of one task side by side: seconds, error, peak memory.

Contenders run in turn in one process (ours, peer 1, peer 2, ours, …), so that a busy or throttled
machine slows all of them alike and the *ratio* of their times stays meaningful. Everything is timed
twice: with one BLAS thread, and with as many as the machine takes by default, as users run it.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

__all__ = ["Task", "Measurement", "Result", "default_threads", "peak_mb", "run", "seconds"]

Problem = Any  # whatever the task's make_problem returns
Solver = Callable[[Problem], Any]

# If BLAS has several threads, they spin for some 25 ms after a call. NumPy and SciPy each bring
# their own OpenBLAS, so without a rest the idle threads of one contender take the cores of the
# next: a small SVD took four times as long.
REST_SECONDS = 0.1


@dataclass(frozen=True)
class Task:
    """One problem and the implementations that solve it."""

    name: str  # as typed on the command line
    description: str  # what is solved, with its full size
    error_means: str  # what the numbers of `error` say, in a few words
    make_problem: Callable[[np.random.Generator, bool], Problem]  # (rng, quick); quick is small
    contenders: dict[str, Solver]  # ours first; all must return the same kind of result
    error: Callable[[Any, Problem], float]  # (result, problem); 0 is perfect
    memory_partly_seen: tuple[str, ...] = ()  # contenders with work arrays hidden from tracemalloc
    most_rounds: int = 100  # a limit on timed rounds, for tasks that take minutes
    slow: tuple[str, ...] = ()  # contenders that take minutes: left out unless asked for


@dataclass(frozen=True)
class Measurement:
    """What one contender needed and what it reached."""

    seconds: dict[int, list[float]] = field(default_factory=dict)  # threads: one a repeat
    error: float | None = None
    peak_mb: float | None = None  # largest sum of Python and NumPy allocations beyond the input
    peak_is_lower_bound: bool = False
    failure: str | None = None  # the exception, if it raised one

    def median_seconds(self, threads: int) -> float | None:
        """Return the middle one of the times: a single slow run does not move it."""
        return median(self.seconds[threads]) if self.seconds.get(threads) else None


@dataclass(frozen=True)
class Result:
    """The measurements of one task, ours first."""

    task: Task
    measurements: dict[str, Measurement]

    @property
    def ours(self) -> Measurement:
        """The measurement that the peers are compared with."""
        return next(iter(self.measurements.values()))


def default_threads() -> int:
    """Return how many threads BLAS takes unless it is told otherwise."""
    return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")


def run(
    task: Task,
    repeats: int,
    quick: bool,
    threads: Sequence[int],
    full: bool,
    show: Callable[[str], None],
) -> Result:
    """Measure every contender of the task; `show` is told what is going on."""
    show(f"{task.name}: making the problem")
    problem = task.make_problem(np.random.default_rng(0), quick)
    chosen = {name: s for name, s in task.contenders.items() if full or name not in task.slow}
    judged = {}
    for name in chosen:
        show(f"{task.name}: warm-up and memory, {name}")
        judged[name] = _judge(task, name, problem)
    runnable = {name: chosen[name] for name, m in judged.items() if m.failure is None}
    rounds = min(repeats, task.most_rounds)
    timed: dict[str, dict[int, list[float]]] = {name: {} for name in chosen}
    for count in threads:
        with threadpool_limits(count, user_api="blas"):
            say = partial(_say, show, f"{task.name}, threads: {count}")
            times = _time_in_turn(runnable, problem, rounds, say)
        for name, values in times.items():
            timed[name][count] = values
    return Result(task, {name: replace(m, seconds=timed[name]) for name, m in judged.items()})


def _say(show: Callable[[str], None], title: str, step: str) -> None:
    show(f"{title}, {step}")


def _judge(task: Task, name: str, problem: Problem) -> Measurement:
    """Run a contender untimed: once to warm up and measure its error, once for its memory."""
    solve = task.contenders[name]
    try:
        error = float(task.error(solve(problem), problem))
        peak = peak_mb(solve, problem)
    except Exception as failure:  # whatever a peer raises, the others are still worth measuring
        return Measurement(failure=f"{type(failure).__name__}: {failure}")
    lower_bound = name in task.memory_partly_seen
    return Measurement(error=error, peak_mb=peak, peak_is_lower_bound=lower_bound)


def peak_mb(solve: Solver, problem: Problem) -> float:
    """Return the peak of traced allocations in MB; the input was there before and doesn't count.

    tracemalloc sees Python and NumPy arrays, hence also the work arrays that SciPy hands to LAPACK.
    It doesn't see what C code takes from malloc: the work arrays and the copy of the input inside
    numpy.linalg (a 1000×1000 SVD: 16 MB traced, 64 MB in the resident memory of the process;
    SciPy's: 48 and 49 MB), nor the buffers of BLAS.
    """
    tracemalloc.start()
    try:
        solve(problem)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def _time_in_turn(
    contenders: dict[str, Solver],
    problem: Problem,
    repeats: int,
    show: Callable[[str], None],
) -> dict[str, list[float]]:
    """Return the seconds of each contender's repeats, one round of all contenders at a time."""
    timed: dict[str, list[float]] = {name: [] for name in contenders}
    for repeat in range(repeats):
        for name, solve in contenders.items():
            show(f"round {repeat + 1} of {repeats}, {name}")
            timed[name].append(seconds(solve, problem))
    return timed


def seconds(solve: Solver, problem: Problem) -> float:
    """Time one call, without the release of its result."""
    time.sleep(REST_SECONDS)
    start = time.perf_counter()
    result = solve(problem)
    elapsed = time.perf_counter() - start
    del result
    return elapsed
