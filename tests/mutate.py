"""Break the library on purpose, one operator or constant at a time, and see whether a test fails.

    .venv/bin/python tests/mutate.py [--sample N --seed S] [--only pca] [--jobs 2] [--log FILE]

One process imports the library and collects the tests. A first run, kept in _build/, notes which
test reaches which line and how long it takes. Then each mutant gets a forked process, which
changes the library's functions in memory and runs the tests that reach the line, until one fails.
What runs at import (constants, fields of dataclasses) is tried in a copy of the tree, in a process
from scratch. What a test file computes while it is imported meets the sound library.

tests/equivalent_mutants.txt lists mutants that change nothing a user could complain of. Nothing
here is collected by pytest.
"""

import argparse
import ast
import collections
import contextlib
import gc
import hashlib
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
os.chdir(ROOT)
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
os.environ["OMP_NUM_THREADS"] = "1"
RECORD = ROOT / "_build" / "mutate.json"
THIS = Path(__file__).resolve()
FILES = [*ROOT.glob("kpca_edu/**/*.py"), *ROOT.glob("tests/*.py"), ROOT / "conftest.py"]
FILES = {path: path.read_bytes() for path in FILES}  # as they were when they were imported
EQUIVALENT = ROOT / "tests" / "equivalent_mutants.txt"
BUILT = {"book", "browser", "pages", "live", "page_answers"}  # these tests need the built book
NO_LIBRARY = {"exercises", "notes", "errata", "package"}  # these look at other things
LEFT_OUT = {"figures", "_version", "__init__"}  # no mathematics
OPTIONS = ["-o", "addopts=", "--doctest-modules", "--tb=no", "-q", "-s"]
OPTIONS += ["-k", "not TestCluster"]  # its workers are other processes, which no patch reaches
OPTIONS += [f"-pno:{name}" for name in ("cacheprovider", "xdist", "nbval")]
ROOM = 8 * 2**30  # bytes of memory that a mutant may take
SWAPS = {
    **{ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">")},
    **{ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not")},
    **{ast.IsNot: ("is not", "is"), ast.And: ("and", "or"), ast.Or: ("or", "and")},
    **{ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*")},
    **{ast.Pow: ("**", "*"), ast.FloorDiv: ("//", "*")},
}


@dataclass(frozen=True)
class Mutant:
    """A change of the bytes start:stop of a file, and the lines that a test must reach to see it.

    No lines means that it acts at import; `default`, that it is a default of a function.
    """

    path: Path
    whole: bytes
    line: int
    code: str
    start: int
    stop: int
    new: str
    which: int  # of the same changes of lines that read the same
    lines: range | None
    default: bool

    @property
    def name(self):
        return str(self.path.relative_to(ROOT))

    @property
    def words(self):
        """The path, line of code and change, as equivalent_mutants.txt writes them."""
        old = self.whole[self.start : self.stop].decode().strip()
        which = f" #{self.which}" if self.which > 1 else ""
        return f"{self.name} | {self.code} | {old} → {self.new}{which}"

    def source(self):
        return self.whole[: self.start] + self.new.encode() + self.whole[self.stop :]


def places(source):
    """Yield (line, start, stop, new text, lines, default) for each place that can be broken."""
    raw = source.encode()
    starts = [0]
    for line in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def span(node):
        ends = (node.end_lineno, node.end_col_offset)
        return starts[node.lineno - 1] + node.col_offset, starts[ends[0] - 1] + ends[1]

    def between(left, right, old, new):
        begin, end = span(left)[1], span(right)[0]
        text = raw[begin:end].decode()
        found = re.search(rf"(?<![\w*/<>=]){re.escape(old)}(?![\w*/<>=])", text)
        if found and "#" not in text:
            at = begin + len(text[: found.start()].encode())
            yield left.end_lineno, at, at + len(old), new

    def changes(node):
        if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
            pair = (node.left, node.right) if isinstance(node, ast.BinOp) else node.values[:2]
            yield from between(*pair, *SWAPS[type(node.op)])
        if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            yield from between(node.left, node.comparators[0], *SWAPS[type(node.ops[0])])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            at = span(node)[0]
            yield node.lineno, at, at + (4 if isinstance(node.op, ast.Not) else 1), ""
        if isinstance(node, ast.Constant) and type(node.value) in (bool, int):
            new = str(not node.value if type(node.value) is bool else node.value + 1)
            yield node.lineno, *span(node), new

    def walk(node, inside, lines, default):
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert):
            return
        if isinstance(node, ast.FunctionDef) and node.name in ("__repr__", "_written"):
            return
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "tell":
            return
        if inside and isinstance(node, ast.stmt):  # of a compound statement, the header alone
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno
            lines = range(node.lineno, last + 1)
        for change in changes(node):
            yield *change, lines, default
        is_function = isinstance(node, ast.FunctionDef)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            below = (inside or (is_function and name == "body"), lines, default)
            if is_function and name == "args" and not inside:
                below = (False, range(node.body[0].lineno, node.end_lineno + 1), True)
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from walk(child, *below)

    yield from walk(ast.parse(source), False, None, False)


def mutants():
    """Return every mutant of the library."""
    found = []
    for path, whole in sorted(FILES.items()):
        if path.parent.name not in ("kpca_edu", "_engine") or path.stem in LEFT_OUT:
            continue
        seen = collections.Counter()
        source = whole.decode()
        code = source.splitlines()
        for line, start, stop, new, *rest in sorted(places(source), key=lambda p: p[:3]):
            text = code[line - 1].strip()
            key = (text, whole[start:stop], new)
            seen[key] += 1
            found.append(Mutant(path, whole, line, text, start, stop, new, seen[key], *rest))
    return found


def test_files():
    """Return what pytest is to collect: the library's examples and its tests."""
    left_out = {f"test_{name}.py" for name in BUILT | NO_LIBRARY}
    tests = [p for p in sorted(ROOT.glob("tests/test_*.py")) if p.name not in left_out]
    return ["kpca_edu", *(str(p.relative_to(ROOT)) for p in tests)]


def key_of(file, part):
    """Return a text that changes with a file of tests, its helpers and what it reaches."""
    helpers = {p for p in FILES if p.parent.name == "tests" and p.name[:5] != "test_"}
    reached = {ROOT / name for name in part["reached"]}
    used = helpers | reached | {ROOT / file, ROOT / "conftest.py"}
    return hashlib.sha256(b"".join(FILES[p] for p in sorted(used - {THIS}))).hexdigest()


class Bench:
    """A plugin of pytest that tries mutants where pytest would run the tests."""

    def __init__(self, asked, drawn, equivalent):
        self.asked, self.drawn, self.equivalent = asked, drawn, equivalent
        self.failed = False
        self.killers = collections.defaultdict(collections.Counter)  # by module

    def pytest_runtest_logreport(self, report):
        self.failed |= report.failed

    def pytest_runtestloop(self, session):
        if session.testsfailed:
            sys.exit("The tests cannot be collected: mend that first.")
        self.items = {item.nodeid: item for item in session.items}
        self.functions = collections.defaultdict(dict)  # by file, then by name and line
        for thing in gc.get_objects():
            if isinstance(thing, types.FunctionType):
                code = thing.__code__
                key = (code.co_qualname, code.co_firstlineno)
                self.functions[code.co_filename][key] = thing
        gc.freeze()  # what is found after this, a child has made
        self.reached, self.seconds = self.record()
        if self.asked.control:
            self.control()
        else:
            self.try_all()
        return True

    # ── Which test reaches which line ──

    def record(self):
        """Return {file: {line: {tests}}} and the seconds of each test; _build/ keeps both."""
        by_file = collections.defaultdict(list)
        for item in self.items.values():
            by_file[item.nodeid.split("::")[0]].append(item)
        kept = json.loads(RECORD.read_text()) if RECORD.exists() else {}
        kept = {file: part for file, part in kept.items() if part["key"] == key_of(file, part)}
        missing = [file for file in by_file if file not in kept]
        print(
            f"Noting which of {len(self.items)} tests reaches what, {len(missing)} files",
            flush=True,
        )
        for file, text in self.forked({f: (self.record_file, by_file[f]) for f in missing}):
            part = json.loads(text or '{"failed": "something"}')
            if "failed" in part:  # it would count every mutant as killed
                sys.exit(f"{part['failed']} in {file} fails without any mutant: mend that first.")
            kept[file] = {"key": key_of(file, part), **part}
            RECORD.parent.mkdir(exist_ok=True)
            beside = RECORD.with_suffix(f".{os.getpid()}")
            beside.write_text(json.dumps(kept))
            beside.replace(RECORD)
        reached, seconds = collections.defaultdict(lambda: collections.defaultdict(set)), {}
        for part in (kept[file] for file in by_file):
            seconds.update(part["seconds"])
            for path, lines in part["reached"].items():
                for line, tests in lines.items():
                    reached[path][int(line)].update(tests)
        return reached, seconds

    def record_file(self, items):
        import coverage

        found = coverage.Coverage(data_file=None, config_file=False, include=["kpca_edu/*"])
        found.start()
        seconds = {}
        for item, after in zip(items, [*items[1:], None], strict=True):
            begin = time.process_time()
            found.switch_context(item.nodeid)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            seconds[item.nodeid] = round(time.process_time() - begin, 4)
            if self.failed:
                return json.dumps({"failed": item.nodeid})
        found.stop()
        data = found.get_data()
        reached = {
            str(Path(path).relative_to(ROOT)): {
                line: [test for test in tests if test]
                for line, tests in data.contexts_by_lineno(path).items()
            }
            for path in data.measured_files()
        }
        return json.dumps({"seconds": seconds, "reached": reached})

    def tests_of(self, mutant):
        """Return the tests that reach a mutant: first what killed others, then the quickest."""
        if mutant.lines is None:  # those that reach a line with a name that is bound here
            names = set(re.findall(r"\w+", mutant.code.split("=")[0].split(":")[0]))
            tests = set()
            for name, lines in self.reached.items():
                code = FILES[ROOT / name].decode().splitlines()
                for line, more in lines.items():
                    if names & set(re.findall(r"\w+", code[line - 1])):
                        tests |= more
        else:
            tests = set().union(*(self.reached[mutant.name][line] for line in mutant.lines))
        if mutant.default or mutant.lines is None:  # these tests look at signatures without a call
            tests.update(test for test in self.items if "/test_contract.py:" in test)
        killers = self.killers[mutant.path]
        order = sorted(tests, key=lambda t: (-killers[t], self.seconds[t]))
        spent = itertools.accumulate(self.seconds[test] for test in order)
        chosen = zip(order, spent, strict=True)
        return [self.items[t] for t, until in chosen if until - self.seconds[t] < self.asked.budget]

    # ── Processes ──

    def forked(self, tasks):
        """Run {name: (function, argument)} in processes of their own; yield (name, its text)."""
        waiting, running = list(tasks.items()), {}
        while waiting or running:
            while waiting and len(running) < self.asked.jobs:
                name, (function, argument) = waiting.pop(0)
                out = tempfile.TemporaryFile("w+")  # noqa: SIM115
                if (child := os.fork()) == 0:
                    null = os.open(os.devnull, os.O_RDWR)
                    for stream in range(3):
                        os.dup2(null, stream)
                    with contextlib.suppress(BaseException):
                        out.write(function(argument))
                        out.flush()
                    os._exit(0)
                running[child] = (name, out)
            name, out = running.pop(os.wait()[0])
            out.seek(0)
            yield name, out.read()
            out.close()

    def passes(self, items):
        """Run tests up to the first that fails; return its name, or the word SURVIVED."""
        resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
        for item, after in zip(items, [*items[1:], None], strict=True):
            signal.alarm(1800)  # ends the process: it sleeps
            signal.setitimer(signal.ITIMER_PROF, 10 + 10 * self.seconds[item.nodeid])  # it hangs
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.failed:
                return item.nodeid
        return "SURVIVED"

    def patched(self, mutant):
        """Change the functions of a module in memory, and run the tests that reach the place."""
        self.patch(mutant.path, mutant.source(), mutant.default)
        return self.passes(self.tests_of(mutant))

    def patch(self, path, source, default):
        name = str(path.relative_to(ROOT).with_suffix("")).replace("/", ".")
        sound = vars(sys.modules[name])
        space = {key: sound[key] for key in sound if key.startswith("__")}
        exec(compile(source, str(path), "exec"), space)
        for made in gc.get_objects():
            if isinstance(made, types.FunctionType) and made.__code__.co_filename == str(path):
                key = (made.__code__.co_qualname, made.__code__.co_firstlineno)
                old = self.functions[str(path)].get(key)
                if old is None or made.__globals__ is not space:
                    continue
                old.__code__ = made.__code__
                if default:  # objects stay as they are: they may be compared by identity
                    plain = (int, float, str, tuple)
                    pairs = zip(made.__defaults__ or (), old.__defaults__ or (), strict=True)
                    merged = tuple(new if isinstance(new, plain) else was for new, was in pairs)
                    old.__defaults__ = merged or None
                    for word, new in (made.__kwdefaults__ or {}).items():
                        if isinstance(new, plain):
                            old.__kwdefaults__[word] = new

    def from_scratch(self, mutant):
        """Run the same tests in a copy of the tree, in a new process."""
        signal.alarm(3600)
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "tree"
            skip = shutil.ignore_patterns(".git", ".venv", "_build", "__pycache__", "*.ipynb")
            shutil.copytree(ROOT, copy, ignore=skip)
            (copy / mutant.name).write_bytes(mutant.source())
            tests = copy / "chosen.txt"
            tests.write_text("\n".join(item.nodeid for item in self.tests_of(mutant)))
            command = [sys.executable, "-m", "pytest", "-x", *OPTIONS, f"@{tests}"]
            path = os.pathsep.join([str(copy), str(copy / "tests")])
            run = subprocess.run(command, cwd=copy, env={**os.environ, "PYTHONPATH": path})
        return "SURVIVED" if run.returncode == 0 else "from scratch"

    # ── What is asked for ──

    def try_all(self):
        """Try the mutants, print and log a verdict each, and a table at the end."""
        table = collections.defaultdict(collections.Counter)
        for mutant in self.drawn:
            table[mutant.name]["mutants"] += 1
            table[mutant.name]["equivalent"] += mutant.words in self.equivalent
        left = [m for m in self.drawn if m.words not in self.equivalent]
        tasks = {
            m: (self.from_scratch if m.lines is None or self.asked.slow else self.patched, m)
            for m in left
        }
        begin = time.time()
        for number, (mutant, text) in enumerate(self.forked(tasks), 1):
            alive = text == "SURVIVED"
            if not alive:
                table[mutant.name]["killed"] += 1
                self.killers[mutant.path][text] += 1
            word = "SURVIVED" if alive else "killed"
            minutes = (time.time() - begin) / number * (len(left) - number) / 60
            report = f"{word} {mutant.line} | {mutant.words} | {text or 'hangs or crashes'}"
            print(f"{number}/{len(left)}, {minutes:.0f} min left: {report}", flush=True)
            if self.asked.log:
                with self.asked.log.open("a") as log:
                    log.write(report + "\n")
        total = sum(table.values(), collections.Counter())
        print(f"\n{'mutants':>8}{'killed':>8}{'equivalent':>12}{'open':>6}")
        for name, row in [*sorted(table.items()), ("all", total)]:
            open_ = row["mutants"] - row["killed"] - row["equivalent"]
            print(f"{row['mutants']:8}{row['killed']:8}{row['equivalent']:12}{open_:6}  {name}")
        share = 100 * total["killed"] / max(total["mutants"], 1)
        print(f"{total['killed']} of {total['mutants']} killed ({share:.1f} %), ", end="")
        print(f"{total['equivalent']} shown equivalent, {time.time() - begin:.0f} s")

    def control(self):
        """Patch each module with its own source: every test must pass still."""

        def whole(path):
            self.patch(path, FILES[path], True)
            tests = set().union(*self.reached[str(path.relative_to(ROOT))].values())
            order = sorted(tests, key=self.seconds.get)[:400]
            return self.passes([self.items[test] for test in order])

        for path, text in self.forked({m.path: (whole, m.path) for m in self.drawn}):
            print(
                f"{path.relative_to(ROOT)}: {'as before' if text == 'SURVIVED' else text}",
                flush=True,
            )


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--sample", type=int, help="so many mutants at random (default: all)")
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--only", default="", help="modules whose path holds this text")
    words.add_argument("--again", type=Path, help="only the survivors of this log")
    words.add_argument("--jobs", type=int, default=1, help="processes at a time")
    words.add_argument("--budget", type=float, default=60, help="seconds of tests for a mutant")
    words.add_argument("--log", type=Path, help="a file to write one line a mutant to")
    words.add_argument("--slow", action="store_true", help="all in a copy, from scratch")
    words.add_argument("--control", action="store_true", help="no mutants: do sound ones pass?")
    asked = words.parse_args()
    import pytest

    drawn = mutants()
    equivalent = {}
    if EQUIVALENT.exists():
        lines = EQUIVALENT.read_text("utf8").splitlines()
        equivalent = dict(s.rsplit(" | ", 1) for s in lines if s and not s.startswith("#"))
    for stale in set(equivalent) - {m.words for m in drawn}:
        print(f"Matches no mutant any more: {stale}")
    drawn = [m for m in drawn if asked.only in m.name]
    if asked.again:
        lines = asked.again.read_text("utf8").splitlines()
        again = {s.split(" | ", 1)[1].rsplit(" | ", 1)[0] for s in lines if s[:8] == "SURVIVED"}
        drawn = [m for m in drawn if m.words in again]
    random.Random(asked.seed).shuffle(drawn)
    bench = Bench(asked, drawn[: asked.sample], equivalent)
    return pytest.main([*OPTIONS, *test_files()], plugins=[bench])


if __name__ == "__main__":
    sys.exit(main())
