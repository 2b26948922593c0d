"""What spans library and book: the equation ledger, the notebooks as stored, the exercises."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import nbformat
import pytest
from chapter_map import AT_WORK
from ledger import book_pages, read_ledger
from notebooks import (
    HERO,
    chapter_notebooks,
    hero_picture,
    install_cell,
    repository_address,
)
from plain_notebooks import plain_markdown

import kpca_edu
from kpca_edu.exercises import exercise_ids

ROOT = Path(__file__).parents[1]
NOTEBOOKS = chapter_notebooks()
EQUATIONS, UNKNOWN = read_ledger()
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(path: Path) -> list[dict]:
    cells = json.loads(path.read_text("utf8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def tags(cell: dict) -> set[str]:
    return set(cell["metadata"].get("tags", []))


def printed(cell: dict) -> str:
    """Return all text that a cell has put out."""
    pieces = []
    for output in cell["outputs"]:
        pieces += output.get("text", []) or output.get("data", {}).get("text/plain", [])
    return "".join(pieces)


class TestLedger:
    def test_cited_equations_exist(self):
        assert UNKNOWN == {}

    def test_labels_are_unique(self):
        labels = [
            label
            for page in book_pages()
            for label in re.findall(r"\$\$\s*\((eq-[\w-]+)\)", page.read_text("utf8"))
        ]
        assert len(labels) == len(set(labels)) == len(EQUATIONS) > 0

    @pytest.mark.parametrize("equation", EQUATIONS, ids=lambda equation: equation.label)
    def test_equation_is_run(self, equation):
        """A numbered equation is a function or is checked in a cell, and a test guards it."""
        assert equation.functions or equation.checks, "no function and no check cites it"
        assert equation.tests, "no test names it in its docstring"

    def test_a_stray_label_is_found(self, tmp_path):
        """The ledger notices a citation of an equation that is not there."""
        (tmp_path / "book").mkdir()
        (tmp_path / "kpca_edu").mkdir()
        (tmp_path / "book/page.md").write_text("$$a = b$$ (eq-there)\n", "utf8")
        module = 'def f():\n    """Return a :eq:`eq-there` or :eq:`eq-gone`."""\n'
        (tmp_path / "kpca_edu/m.py").write_text(module, "utf8")
        equations, unknown = read_ledger(tmp_path)
        assert [equation.functions for equation in equations] == [["kpca_edu.m.f"]]
        assert unknown == {"eq-gone": {"kpca_edu.m.f"}}


@each_notebook
class TestStoredNotebook:
    def test_executed_in_order(self, path):
        """nbval passes a notebook without outputs in silence, so refuse one here."""
        counts = [cell["execution_count"] for cell in code_cells(path)]
        assert counts == list(range(1, len(counts) + 1)), "run `make notebooks`"

    def test_installs_the_library_first(self, path):
        assert "".join(code_cells(path)[0]["source"]) == install_cell(repository_address())

    def test_prints_no_warning(self, path):
        streams = [o.get("name") for cell in code_cells(path) for o in cell["outputs"]]
        assert "stderr" not in streams

    def test_figures_have_alt_text(self, path):
        for cell in code_cells(path):
            if any("image/png" in output.get("data", {}) for output in cell["outputs"]):
                alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
                assert len(alt) > 60, "".join(cell["source"])

    def test_visible_cells_are_short(self, path):
        for cell in code_cells(path):
            if not tags(cell) & {"hide-input", "hide-cell", "remove-cell", "setup"}:  # folded
                assert len(cell["source"]) <= 25, "".join(cell["source"])

    def test_listings_are_public_and_short(self, path):
        """What the book shows is what readers can call, and fits one glance: 25 lines in all."""
        for cell in code_cells(path):
            if "show_source(" not in "".join(cell["source"]):
                continue
            for output in cell["outputs"]:
                listing = "".join(output.get("data", {}).get("text/markdown", ""))
                lines = listing.strip("`\n").splitlines()[1:]
                assert len(lines) <= 25, f"{len(lines)} lines: {lines[:3]}"
                names = re.findall(r"^ *(?:def|class) (\w+)", listing, re.M)
                assert not [n for n in names[:1] if n.startswith("_")], names

    def test_directives_survive_plain_jupyter(self, path):
        """Backtick-fenced directives show raw TeX in Jupyter: only colon fences are used."""
        for cell in json.loads(path.read_text("utf8"))["cells"]:
            if cell["cell_type"] == "markdown":
                assert "```{" not in "".join(cell["source"])

    def test_holds_nothing_of_the_machine(self, path):
        text = path.read_text("utf8")
        assert not re.search(r"/(home|root|tmp|work|Users)/", text)
        assert '"execution":' not in text


def is_exercise(cell: dict) -> bool:
    return "{exercise}" in "".join(cell["source"]) and cell["cell_type"] == "markdown"


class TestExercises:
    CELLS = [cell for path in NOTEBOOKS for cell in code_cells(path)]

    def asked(self, cells: list[dict]) -> list[str]:
        sources = "\n".join("".join(cell["source"]) for cell in cells)
        return re.findall(r'check\("([\w-]+)"', sources)

    def test_each_has_a_place_and_a_solution(self):
        """Each exercise stands once as a question and once as a solution, in the same order."""
        questions = self.asked([cell for cell in self.CELLS if "solution" not in tags(cell)])
        solutions = self.asked([cell for cell in self.CELLS if "solution" in tags(cell)])
        assert questions == solutions == exercise_ids()

    def test_solutions_are_right_and_questions_open(self):
        for cell in self.CELLS:
            for name in self.asked([cell]):
                wanted = f"✓ {name}: right." if "solution" in tags(cell) else f"○ {name}: not yet"
                assert wanted in printed(cell)

    def test_each_says_what_it_takes(self):
        """Paper or code, one of the four levels that the first page explains, and the kind."""
        begin = re.compile(
            r":label: ([\w-]+)\n\n(?:✍|⌨|✍ ⌨) (warm-up|medium|hard|research)"
            r"(?:, (?:a proof|a picture to read|a choice to make|a failure to explain))?\. "
        )
        cells = [c for path in NOTEBOOKS for c in json.loads(path.read_text("utf8"))["cells"]]
        found = [begin.search("".join(c["source"])) for c in cells if is_exercise(c)]
        assert [match and match[1] for match in found] == exercise_ids()
        home = (ROOT / "book/index.md").read_text("utf8")
        for word in {match[2] for match in found if match}:
            assert f"*{word}*" in home, word

    def test_each_chapter_has_enough(self):
        chapters = [path.stem for path in NOTEBOOKS if path.stem[0].isdigit()]
        for chapter in chapters:
            name = chapter.split("_", 1)[1].replace("_", "-")
            least = 4 if chapter in AT_WORK else 8
            assert sum(i.rsplit("-", 1)[0] == name for i in exercise_ids()) >= least, chapter


class TestPlainNotebooks:
    """The notebooks that readers download hold ordinary Markdown."""

    def test_directives_and_roles(self):
        text = (
            "(here)=\nBy {eq}`eq-a` and {prf:ref}`thm-b`:\n\n"
            ":::{prf:theorem} Name\n:label: thm-b\n\n$$x = y$$ (eq-a)\n:::\n\n"
            ":::{prf:proof}\nDone.\n:::\n"
        )
        shown = {("eq", "eq-a"): "(1.1)", ("prf:ref", "thm-b"): "Theorem 1.2"}
        plain = plain_markdown(text, lambda role, target: shown[role, target])
        assert plain.strip() == (
            "By (1.1) and Theorem 1.2:\n\n**Theorem 1.2 (Name).**\n\n"
            "$$x = y \\tag{1.1}$$\n\n*Proof.*\n\nDone."
        )

    def test_built_copies(self):
        copies = sorted((ROOT / "_build/html/_sources").rglob("*.ipynb"))
        if not copies:
            pytest.skip("The book has not been built: run `make book` first.")
        assert len(copies) == len(NOTEBOOKS)
        for copy in copies:
            for cell in nbformat.read(copy, as_version=4).cells:
                if cell.cell_type == "markdown":
                    assert not re.search(r":::|\{[\w:]+\}`|\(eq-", cell.source), cell.source


class TestProject:
    def test_hero_is_the_notebooks_own_figure(self):
        pictures = [hero_picture(nbformat.read(path, as_version=4)) for path in NOTEBOOKS]
        assert HERO.read_bytes() in pictures, "run `make notebooks`"

    def test_every_notebook_is_in_the_contents(self):
        contents = (ROOT / "_toc.yml").read_text("utf8")
        for path in NOTEBOOKS:
            assert path.relative_to(ROOT).with_suffix("").as_posix() in contents

    def test_readme_lists_every_chapter(self):
        readme = (ROOT / "README.md").read_text("utf8")
        for path in NOTEBOOKS:
            assert f"book/{path.relative_to(ROOT / 'book')}" in readme

    def test_every_module_has_its_api_page(self):
        pages = "".join(p.read_text("utf8") for p in (ROOT / "book/api").glob("*.md"))
        for module in (ROOT / "kpca_edu").glob("*.py"):
            if not module.stem.startswith("_"):
                assert f"automodule:: kpca_edu.{module.stem}\n" in pages, module.stem

    def test_public_names_can_be_imported_from_the_top(self):
        for name in kpca_edu.__all__:
            assert getattr(kpca_edu, name)
        assert len(set(kpca_edu.__all__)) == len(kpca_edu.__all__), "two modules share a name"

    def test_requirements_cover_the_extras(self):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
        wanted = project["dependencies"] + sum(project["optional-dependencies"].values(), [])
        requirements = (ROOT / "requirements.txt").read_text("utf8").splitlines()
        named = {re.split(r"[<>=\[]", line)[0] for line in requirements}
        assert {re.split(r"[<>=\[]", line)[0] for line in wanted} <= named

    def test_address_is_kept_in_one_place(self):
        """Only _config.yml holds the repository's address; no other file knows or invents one."""
        pages = [ROOT / "README.md", ROOT / "CITATION.cff", *(ROOT / "book").glob("**/*.md")]
        for path in pages:
            assert "github.com" not in path.read_text("utf8"), path
