"""One archive to run the book: all notebooks in plain Markdown, the library's wheel, how to start.

The wheel is built beside the pages, from a copy of the sources, with the setuptools that is
installed: no network, no file left in the tree. Notebooks and wheel lie in one folder, where each
notebook's first cell looks for the library.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from contents import ROOT, chapters, is_whole_book
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
NAME = "principal-components"
BUILD = (
    "from setuptools import build_meta; print(build_meta.build_wheel('dist'))"
)
README = """Principal components, from the SVD to kernel PCA: the notebooks

With Python 3.11 or newer, in this folder:

    python3 -m venv .venv
    . .venv/bin/activate                     (on Windows: .venv\\Scripts\\activate)
    pip install jupyterlab "./{wheel}[book]"
    jupyter lab {first}

In Colab or in a Jupyter of your own, upload a notebook and {wheel} into one folder. The notebook's
first cell installs the library where it is missing.
"""


def build_wheel(folder: Path) -> subprocess.Popen:
    """Start building the wheel in a folder outside of the tree; it ends up in ``folder/dist``."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "kpca_edu", folder / "kpca_edu", ignore=ignored)
    (folder / "dist").mkdir()
    return subprocess.Popen(
        [sys.executable, "-c", BUILD],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def start(app) -> None:
    app.wheel_build = None
    if app.builder.name == "html" and is_whole_book(app):
        app.wheel_folder = Path(tempfile.mkdtemp(prefix="kpca_edu-wheel-"))
        app.wheel_build = build_wheel(app.wheel_folder)


def finish(app, exception) -> None:
    """Pack the archive when the plain notebooks have been written."""
    build, app.wheel_build = app.wheel_build, None
    if build is None:
        return
    _, errors = build.communicate()
    try:
        if exception:
            return
        if build.returncode:
            LOGGER.warning("The wheel could not be built: %s", errors)
            return
        (wheel,) = (app.wheel_folder / "dist").glob("*.whl")
        notebooks = [
            path
            for page in sorted(app.env.found_docs)
            if (path := Path(app.outdir, "_sources", f"{page}.ipynb")).exists()
        ]
        target = Path(app.outdir, "_static", f"{NAME}.zip")
        write_archive(target, notebooks, wheel)
    finally:
        shutil.rmtree(app.wheel_folder, ignore_errors=True)


def write_archive(target: Path, notebooks: list[Path], wheel: Path) -> None:
    """Write the archive: one folder with all of them and a README."""
    first = f"{chapters()[0].stem}.ipynb"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        readme = README.format(wheel=wheel.name, first=first)
        archive.writestr(f"{NAME}/README.txt", readme)
        for path in [wheel, *notebooks]:
            archive.write(path, f"{NAME}/{path.name}")


def setup(app):
    app.connect("builder-inited", start)
    app.connect("build-finished", finish, priority=900)
    return {"version": "1", "parallel_read_safe": True}
