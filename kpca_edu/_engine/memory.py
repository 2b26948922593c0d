"""What would not fit in memory is refused before it is allocated."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

__all__ = ["available_memory", "refuse_beyond_memory", "room_for"]

SMALL = 2.0**28  # bytes that are there on every machine, without a look
BLAS = 2.0**26  # bytes that linear algebra takes for itself; where it can't, the process ends


def available_memory() -> float:
    """Return how many bytes can still be had; infinity where the system does not tell.

    Linux tells what is free, and what a container or a process (ulimit -v) may take; elsewhere it
    is all memory that is there.
    """
    limits = [_container_limit(), _process_limit()]
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(line for line in lines if line.startswith("MemAvailable"))
        limits.append(1024.0 * int(free.split()[1]))
    except (OSError, StopIteration):
        with suppress(AttributeError, OSError, ValueError):  # Windows has no sysconf
            limits.append(float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")))
    return min(limits)


def refuse_beyond_memory(size: float, what: str, way_out: str) -> None:
    """Raise a MemoryError with the size and the way out if so many bytes can't be had."""
    free = available_memory()
    if size > free:
        raise MemoryError(
            f"{what} takes {_written(size)}, and {_written(free)} of memory are free: {way_out}"
        )


def room_for(rows: int, columns: int, what: str, way_out: str, dtype: DTypeLike = float) -> None:
    """Refuse a matrix of numbers of this type that would not fit, before it is allocated."""
    size = float(np.dtype(dtype).itemsize) * rows * columns
    if size > SMALL:
        refuse_beyond_memory(size, f"{what}, {rows:,}×{columns:,},", way_out)


def _container_limit() -> float:
    """Return what a container may still take; files that were read and can be dropped don't count.

    Infinity if there is no container, or no limit ("max").
    """
    group = Path("/sys/fs/cgroup")
    try:
        limit, used = (float((group / f"memory.{name}").read_text()) for name in ("max", "current"))
        lines = (group / "memory.stat").read_text().splitlines()
        dropped = next(line for line in lines if line.startswith("inactive_file"))
        return limit - used + float(dropped.split()[1])
    except (OSError, ValueError, StopIteration):
        return float("inf")


def _process_limit() -> float:
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return float("inf")
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return limit - pages * resource.getpagesize() - BLAS
    except (ImportError, OSError, ValueError):  # Windows has no such limit
        return float("inf")


def _written(size: float) -> str:
    """Return a number of bytes for people: 3.2 GB.

    >>> _written(4e12), _written(3.2e9), _written(4e5)
    ('4.0 TB', '3.2 GB', '0.4 MB')
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size / 1e6:.1f} MB"
