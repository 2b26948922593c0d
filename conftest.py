"""Every test worker, and every notebook that it starts, computes with one BLAS thread.

Workers already fill the cores; with more threads each, their pools fight, and the suite takes
several times as long. OMP_NUM_THREADS in the environment says otherwise. This stands at the top of
the tree so that it is read first, whatever part of the tests is run.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, os.environ.get("OMP_NUM_THREADS", "1"))

# Memory of large arrays is kept for the next ones (where glibc is): fetching it from the system
# anew takes a tenth of the time of a notebook.
for name in ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"):
    os.environ.setdefault(name, "1000000000")


def pytest_configure():
    """Try the same examples on every machine, in every run, and watch no clock."""
    from hypothesis import settings  # after the threads have been set

    settings.register_profile("everywhere", derandomize=True, deadline=None)
    settings.load_profile("everywhere")


def pytest_collectstart(collector):
    """Leave SVGs out of the comparison, as nbval leaves PNGs out: last digits in them differ."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += ("image/svg+xml",)
