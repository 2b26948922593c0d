"""Say what was measured: a Markdown table for people, JSON for programs."""

from __future__ import annotations

import json
import math
import platform
from pathlib import Path

import numpy
import scipy
import sklearn
import threadpoolctl

import kpca_edu

from .harness import Measurement, Result

__all__ = ["environment", "markdown", "write_json"]

FOOTNOTE = """\
Times are medians, with smallest and largest in brackets. Ratios are ours ÷ theirs: below 1 we need
less; times that differ by less than the spread are equal. Peak MB is what Python and NumPy
allocated beyond the input, result included (tracemalloc); ≥ marks contenders whose LAPACK work
arrays it can't see, so that their ratio is only a bound."""

MISSING = "—"


def environment() -> dict:
    """Return what the numbers depend on: versions, BLAS and its threads, the processor."""
    blas = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
    return {
        "kpca_edu": kpca_edu.__version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "blas": [
            {
                "library": pool["internal_api"],
                "version": pool["version"],
                "threads": pool["num_threads"],
                "used_by": Path(pool["filepath"]).parent.name,  # numpy.libs, scipy.libs, …
            }
            for pool in blas
        ],
        "cpu": _cpu_name(),
        "system": platform.platform(),
    }


def markdown(results: list[Result], machine: dict, threads: list[int]) -> str:
    """Return the table of all results, what its errors mean, and where they were measured."""
    columns = [*(f"s, {t} thread{'s' * (t > 1)}" for t in threads), "error", "peak MB"]
    columns += [*(f"time ratio, {t}" for t in threads), "memory ratio"]
    header = "| task | contender | " + " | ".join(columns) + " |"
    header += "\n| --- | --- |" + " ---: |" * len(columns)
    rows = [_row(result, name, threads) for result in results for name in result.measurements]
    tasks = [
        f"- `{r.task.name}`: {r.task.description}. Error: {r.task.error_means}." for r in results
    ]
    failures = [
        f"- FAILED: `{r.task.name}`, {name}: {m.failure}"
        for r in results
        for name, m in r.measurements.items()
        if m.failure
    ]
    table = "\n".join([header, *rows])
    parts = [table, FOOTNOTE, "\n".join(tasks + failures), _machine_line(machine)]
    return "\n\n".join(parts)


def write_json(
    path: Path, results: list[Result], machine: dict, settings: dict, costs: list[dict]
) -> None:
    """Write every number that was measured, the single times included."""
    tasks = [
        {
            "task": result.task.name,
            "description": result.task.description,
            "error_means": result.task.error_means,
            "contenders": {
                name: _numbers(m, result.ours) for name, m in result.measurements.items()
            },
        }
        for result in results
    ]
    content = {"environment": machine, "settings": settings, "results": tasks, "curves": costs}
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _row(result: Result, name: str, threads: list[int]) -> str:
    m, ours = result.measurements[name], result.ours
    if m.failure:
        measured = [*[MISSING] * len(threads), "failed", MISSING]
    else:
        peak = ("≥ " if m.peak_is_lower_bound else "") + _digits(m.peak_mb)
        measured = [*(_spread(m, t) for t in threads), f"{m.error:.1e}", peak]
    if m is ours:
        ratios = [MISSING] * (len(threads) + 1)
    else:
        pairs = [(ours.median_seconds(t), m.median_seconds(t)) for t in threads]
        ratios = [*(_digits(_ratio(*pair)) for pair in pairs), _memory_ratio(ours, m)]
    return "| " + " | ".join([f"`{result.task.name}`", name, *measured, *ratios]) + " |"


def _spread(m: Measurement, threads: int) -> str:
    times = m.seconds[threads]
    return f"{_digits(m.median_seconds(threads))} ({_digits(min(times))}–{_digits(max(times))})"


def _memory_ratio(ours: Measurement, theirs: Measurement) -> str:
    """Return the ratio of the peaks, marked as a bound if one of them is one."""
    if ours.peak_is_lower_bound and theirs.peak_is_lower_bound:
        return MISSING  # neither is known
    ratio = _digits(_ratio(ours.peak_mb, theirs.peak_mb))
    if ratio == MISSING:
        return MISSING
    bound = "≥ " if ours.peak_is_lower_bound else "≤ " if theirs.peak_is_lower_bound else ""
    return bound + ratio


def _numbers(m: Measurement, ours: Measurement) -> dict:
    finite_error = m.error is not None and math.isfinite(m.error)
    return {
        "seconds": m.seconds,  # {threads: times}
        "error": m.error if finite_error else None,  # JSON has no NaN
        "peak_mb": m.peak_mb,
        "peak_is_lower_bound": m.peak_is_lower_bound,
        "time_ratio": {
            t: _ratio(ours.median_seconds(t), m.median_seconds(t)) for t in ours.seconds
        },
        "memory_ratio": _ratio(ours.peak_mb, m.peak_mb),
        "failure": m.failure,
    }


def _ratio(ours: float | None, theirs: float | None) -> float | None:
    return ours / theirs if ours is not None and theirs else None


def _digits(value: float | None) -> str:
    """Return the value with three significant digits and never in powers of ten."""
    if value is None:
        return MISSING
    decimals = 2 - math.floor(math.log10(value)) if value > 0 else 0
    return f"{value:.{min(max(decimals, 0), 6)}f}"


def _machine_line(machine: dict) -> str:
    versions = [f"{name} {machine[name]}" for name in ("python", "numpy", "scipy", "scikit-learn")]
    blas = [
        f"{b['library']} {b['version']} ({b['used_by']}, threads: {b['threads']})"
        for b in machine["blas"]
    ]
    return ", ".join([*versions, *blas, machine["cpu"]]) + "."


def _cpu_name() -> str:
    """Return the processor's name; Linux keeps it where the platform module doesn't look."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
