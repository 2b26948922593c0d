"""The package as others get it: its layers, its wheel, its one version, its needs."""

import ast
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import architecture
import numpy
import pytest
import scipy

import kpca_edu

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "kpca_edu"


def test_the_engine_imports_no_chapter():
    """Data flow one way: chapters call the engine, and never the other way round."""
    for name, needs in architecture.imports().items():
        if name.startswith("_engine."):
            assert all(need.startswith("_engine") for need in needs), (name, needs)


def test_there_are_no_circles():
    """layers() would not end on a circle: go round the graph once, with a limit."""
    graph = architecture.imports()

    def visit(name, path):
        assert name not in path, " → ".join([*path, name])
        for need in graph[name]:
            visit(need, [*path, name])

    for name in graph:
        visit(name, [])


def test_arrows_that_others_imply_are_left_out():
    graph = {"a": set(), "b": {"a"}, "c": {"a", "b"}}
    assert architecture.reduced(graph) == {"a": set(), "b": {"a"}, "c": {"b"}}
    assert architecture.layers(graph) == {"a": 0, "b": 1, "c": 2}


def test_every_routine_of_the_engine_says_what_it_does():
    """Each public function and class of the engine has a docstring."""
    for path in PACKAGE.glob("_engine/*.py"):
        for node in ast.parse(path.read_text("utf8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_":
                assert ast.get_docstring(node), f"{path.name}: {node.name}"


def test_the_version_stands_in_one_place():
    for name in ("pyproject.toml", "CITATION.cff", "README.md", "kpca_edu/__init__.py"):
        assert kpca_edu.__version__ not in (ROOT / name).read_text("utf8"), name


def test_about_seventy_names_at_the_top():
    assert 60 <= len(kpca_edu.__all__) <= 80


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from a copy of the sources, so that the tree stays clean."""
    home = tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, home)
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(PACKAGE, home / "kpca_edu", ignore=ignored)
    command = [sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "-q", "-w", "dist"], cwd=home, check=True, capture_output=True)
    (built,) = (home / "dist").glob("*.whl")
    return built


def test_the_wheel_holds_the_package_and_its_data(wheel):
    """All modules, the tables, the marker of types, and nothing else."""
    names = set(zipfile.ZipFile(wheel).namelist())
    info = f"kpca_edu-{kpca_edu.__version__}.dist-info/"
    held = {name for name in names if not name.startswith(info)}
    kinds = ("*.py", "*.csv", "py.typed")
    wanted = {p.relative_to(ROOT).as_posix() for kind in kinds for p in PACKAGE.rglob(kind)}
    assert held == wanted


def test_the_wheel_needs_numpy_and_scipy_alone(wheel, tmp_path):
    """In an environment that holds nothing else, fits work and extras are missed with a word."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    site = Path(numpy.__file__).parents[1]
    for name in ("numpy", "numpy.libs", "scipy", "scipy.libs"):
        if (site / name).exists():
            os.symlink(site / name, tmp_path / name)
    assert Path(scipy.__file__).parents[1] == site
    script = """
import sys
sys.path = [p for p in sys.path if "site-packages" not in p] + [HERE]
import numpy as np, kpca_edu
from kpca_edu.datasets import pitprops
from kpca_edu.exercises import check
X = np.random.default_rng(0).standard_normal((50, 4))
for name in ("matplotlib", "sklearn", "tqdm", "pandas"):
    assert name not in sys.modules, name
print(kpca_edu.fit_pca(X, 2).k, kpca_edu.fit_kernel_pca(X, 2, kpca_edu.rbf(1.0)).k)
print(pitprops()[0].shape if isinstance(pitprops(), tuple) else pitprops().shape)
print(check("svd-1", 5))
try:
    kpca_edu.fit_kernel_pca(X, 2, kpca_edu.rbf(1.0), progress=True)
except ImportError as error:
    print(error)
""".replace("HERE", repr(str(tmp_path)))
    command = [sys.executable, "-I", "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("2 2\n(13, 13)\n✓ svd-1: right.\n")
    assert "pip install 'kpca_edu[book]'" in run.stdout
