"""Break the library on purpose, one operator or constant at a time, and see whether a test fails.

    .venv/bin/python tests/mutate.py 150 --seed 0 [--only pca] [--general] [--log FILE]

A random sample of mutants is drawn from kpca_edu. Each is tried in a copy of the tree, in a process
of its own, against the test file of its module (for the engine: those of the modules that use it).
With --general, what survives meets the tests of all functions, too: contract, bad input, hardening.
Nothing here is collected by pytest.
"""

import argparse
import ast
import importlib
import os
import random
import re
import shutil
import signal
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
GENERAL = ["test_contract.py", "test_hardening.py", "test_bad_input.py"]
LEFT_OUT = {"figures", "_version", "__init__"}  # no mathematics
MOST = 3  # test files for a part of the engine that many modules use
SPECIAL = {
    "model": ["test_contract.py"],
    "uphill": ["test_preimages.py"],
    "memory": ["test_hardening.py"],
}
LIMIT = 600  # seconds after which a mutant counts as killed: it hangs
SWAPS = {
    **{ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">")},
    **{ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not")},
    **{ast.IsNot: ("is not", "is"), ast.And: ("and", "or"), ast.Or: ("or", "and")},
    **{ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*")},
    **{ast.Pow: ("**", "*"), ast.FloorDiv: ("//", "*")},
}
CONSTANTS = {True: "False", False: "True"}


def mutants_of(source):
    """Yield (line, start, stop, new text) for each place where the source can be broken."""
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(row, column):
        return starts[row - 1] + column

    def between(left, right, old, new):
        begin, end = (
            place(left.end_lineno, left.end_col_offset),
            place(right.lineno, right.col_offset),
        )
        text = source.encode()[begin:end].decode()
        found = re.search(rf"(?<![\w*/<>=]){re.escape(old)}(?![\w*/<>=])", text)
        if found and "#" not in text:
            at = begin + len(text[: found.start()].encode())
            yield left.end_lineno, at, at + len(old), new

    def walk(node):
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert):
            return
        if isinstance(node, ast.FunctionDef) and node.name in ("__repr__", "_written"):
            return
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "tell":
            return
        if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
            pair = (node.left, node.right) if isinstance(node, ast.BinOp) else node.values[:2]
            yield from between(*pair, *SWAPS[type(node.op)])
        if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            yield from between(node.left, node.comparators[0], *SWAPS[type(node.ops[0])])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            at = place(node.lineno, node.col_offset)
            yield node.lineno, at, at + (4 if isinstance(node.op, ast.Not) else 1), ""
        if isinstance(node, ast.Constant) and type(node.value) in (bool, int):
            at, end = (
                place(node.lineno, node.col_offset),
                place(node.end_lineno, node.end_col_offset),
            )
            new = str(not node.value if type(node.value) is bool else node.value + 1)
            yield node.lineno, at, end, new
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from walk(child)

    yield from walk(ast.parse(source))


def modules():
    """Return the modules of the library and the test files that each must satisfy."""
    package, tests = ROOT / "kpca_edu", ROOT / "tests"
    chapters = [p for p in sorted(package.glob("*.py")) if p.stem not in LEFT_OUT]
    own = {
        "sparse_search": "sparse_pca",
        "score_regression": "preimages",
        "feature_pca": "sketching",
    }
    files = {p: [f"test_{own.get(p.stem, p.stem)}.py"] for p in chapters}
    files[package / "datasets.py"] = ["test_package.py", "test_svd.py"]
    for engine in sorted((package / "_engine").glob("*.py")):
        users = [
            p for p in chapters if re.search(rf"_engine[. ].*\b{engine.stem}\b", p.read_text())
        ]
        used = [f"test_{engine.stem}.py", *(name for p in users for name in files[p])]
        files[engine] = [name for name in dict.fromkeys(used) if (tests / name).exists()]
        files[engine] = SPECIAL.get(engine.stem) or files[engine][:MOST]
    return {path: names for path, names in files.items() if path.stem not in LEFT_OUT}


def survives(copy, names):
    """Run test files in the copy, in a forked process; tell whether all of them pass."""
    if (child := os.fork()) == 0:
        signal.alarm(LIMIT)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1), os.dup2(null, 2)
        os.chdir(copy)
        sys.path[:0] = [str(copy), str(copy / "tests"), str(copy / "book" / "_ext")]
        import pytest

        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts="]
        os._exit(int(pytest.main([*options, *(f"tests/{name}" for name in names)])))
    return os.waitpid(child, 0)[1] == 0


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("count", type=int)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--only", default="", help="modules whose name holds this text")
    words.add_argument("--general", action="store_true", help="try the general tests, too")
    words.add_argument("--log", type=Path, help="a file to write one line a mutant to")
    asked = words.parse_args()
    for heavy in ("hypothesis", "pandas", "pytest", "scipy.linalg", "sklearn.decomposition"):
        importlib.import_module(heavy)  # once, before the processes part

    files = modules()
    drawn = [(path, m) for path in files for m in mutants_of(path.read_text("utf8"))]
    drawn = [(path, m) for path, m in drawn if asked.only in path.stem]
    drawn = random.Random(asked.seed).sample(drawn, min(asked.count, len(drawn)))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        skip = shutil.ignore_patterns(".git", ".venv", "_build", "__pycache__", "*.ipynb")
        shutil.copytree(ROOT, copy, ignore=skip)
        for name in sorted({name for path, _ in drawn for name in files[path]}):
            if not survives(copy, [name]):  # it would count every mutant as killed
                sys.exit(f"{name} fails without any mutant: mend that first.")
        killed = 0
        for number, (path, (line, start, stop, new)) in enumerate(drawn, 1):
            there = copy / path.relative_to(ROOT)
            source = there.read_bytes()  # of the copy: the tree may change meanwhile
            there.write_bytes(source[:start] + new.encode() + source[stop:])
            alive = survives(copy, files[path]) and not (
                asked.general and not survives(copy, GENERAL)
            )
            there.write_bytes(source)
            killed += not alive
            code = source.decode().splitlines()[line - 1].strip()
            old = source[start:stop].decode() or "−"
            verdict = "SURVIVED" if alive else "killed"
            text = f"{verdict} {path.relative_to(ROOT)}:{line}: {old!r} → {new!r} in {code}"
            print(f"{number}/{len(drawn)} {text}", flush=True)
            if asked.log:
                with asked.log.open("a") as log:
                    log.write(text + "\n")
    print(f"{killed} of {len(drawn)} killed, {100 * killed / max(len(drawn), 1):.0f} %")


if __name__ == "__main__":
    main()
