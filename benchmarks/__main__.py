"""The command line: python -m benchmarks [name …] [--quick] [--full] [--repeats N] …"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from . import (
    centering,
    curves,
    kernel_pca,
    large_data,
    pca,
    power_method,
    preimages,
    sparse_pca,
    svd,
)
from .harness import default_threads, run
from .report import environment, markdown, write_json

TASKS = [
    *svd.TASKS,
    *power_method.TASKS,
    *pca.TASKS,
    *kernel_pca.TASKS,
    *centering.TASKS,
    *preimages.TASKS,
    *sparse_pca.TASKS,
    *large_data.TASKS,
]  # a chapter's tasks are added here


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen tasks, print the table, write the JSON; 1 if a contender failed."""
    options = _parse(arguments)
    tasks = [task for task in TASKS if not options.names or task.name in options.names]
    repeats = options.repeats or (2 if options.quick else 5)
    threads = sorted({1, default_threads()})
    results = [
        run(task, repeats, options.quick, threads, options.full, _progress(f"[{i}/{len(tasks)}] "))
        for i, task in enumerate(tasks, start=1)
    ]
    costs = [] if options.names else curves.measure(3, options.quick, _progress("[curves] "))
    machine = environment()
    _clear_progress()
    settings = {
        "quick": options.quick,
        "repeats": repeats,
        "threads": threads,
        "tasks": [t.name for t in tasks],
    }
    if options.quick:
        print("Quick run: sizes are a tenth of those named, and the ratios mean nothing.\n")
    print(markdown(results, machine, threads))
    write_json(options.json, results, machine, settings, costs)
    return int(any(m.failure for result in results for m in result.measurements.values()))


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Compare kpca_edu with its peers: time, accuracy, memory.",
        epilog="Tasks: " + "; ".join(f"{task.name} ({task.description})" for task in TASKS),
    )
    parser.add_argument("names", nargs="*", metavar="name", help="tasks to run (default: all)")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run at all?")
    parser.add_argument("--repeats", type=int, help="timed rounds (default: 5, quick: 2)")
    parser.add_argument("--full", action="store_true", help="also the peers that take minutes")
    parser.add_argument(
        "--json",
        type=Path,
        default=Path(__file__).with_name("results.json"),
        help="where to write all numbers (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    unknown = set(options.names) - {task.name for task in TASKS}
    if unknown:
        known = ", ".join(task.name for task in TASKS)
        parser.error(f"no task named {', '.join(sorted(unknown))}: choose from {known}")
    if options.repeats is not None and options.repeats < 1:
        parser.error(f"--repeats {options.repeats}: at least 1 is needed")
    if not options.json.parent.is_dir():
        parser.error(f"--json {options.json}: there is no folder {options.json.parent}")
    return options


def _progress(prefix: str) -> Callable[[str], None]:
    """Return a function that shows a message: on one updating line if a terminal reads it."""

    def show(message: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\033[K{prefix}{message}", end="", file=sys.stderr, flush=True)
        else:
            print(f"{prefix}{message}", file=sys.stderr, flush=True)

    return show


def _clear_progress() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
