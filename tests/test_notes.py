"""The tables for who comes from the notes: nothing is left out, and every link has an end.

The same holds for the other pages that only point: errata, glossary, questions, summary sheet.

The five notes were read once and listed: 147 items, each a definition, theorem, equation, example
or claim, and the slips in them. The lists below are those numbers; the pages must hold them all.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from contents import read_contents
from ledger import book_pages, cells

import kpca_edu
from kpca_edu import kernels

ROOT = Path(__file__).parents[1]
MAP = (ROOT / "book/coming_from_the_notes.md").read_text("utf8")
ERRATA = (ROOT / "book/errata.md").read_text("utf8")
ITEMS = range(1, 148)
SLIPS = {"e0": 10, "e1": 18, "e2": 38, "e3": 35, "e4": 12}  # how many in each note, from 1
NUMBERED = {  # what the notes number themselves
    "Wu": {"equation": [1], "Figure": [1]},
    "Chan": {"Equation": [1]},
    "Handbook": {"Fig.": [97, 100]},
    "Worrell": {
        "Equation": [*range(1, 9)],
        "Theorem": [2, 4, 5],
        "Proposition": [3, 6],
        "Lemma": [7],
        "Example": [1],
        "Figure": [1, 2],
        "footnote": [*range(1, 6)],
    },
    "Welling": {"Equation": [*range(1, 19)]},
}
SECTIONS = {
    "Worrell": "1.1, 1.2, 2, 2.1, 2.2, 3.1, 3.2, 3.3, 3.4, 4, 4.1, 4.2, 5, 6, 7",
    "Welling": "1, 2",
}
LINKED = ("coming_from_the_notes", "errata", "glossary", "questions", "summary_sheet")
ROLE = re.compile(r"\{(doc|eq|numref|ref|prf:ref)\}`(?:[^`<]*<)?([^`<>]+)>?`")


def table(name: str) -> str:
    """Return the part of the page that is headed by the note's author."""
    return next(part for part in MAP.split("\n## ") if part.startswith(name))


def rows(text: str = MAP) -> list[str]:
    """Return the rows of the tables, without their heads."""
    found = [line for line in text.splitlines() if line.startswith("| ")]
    return [row for row in found if not row.startswith(("| in the note", "| ---"))]


def slips() -> dict[str, str]:
    """Return {label: the entry of the errata page that it stands before}."""
    found = {}
    blocks = ERRATA.split("\n\n")
    for block, following in zip(blocks, blocks[1:], strict=False):
        for label in re.findall(r"^\((slip-[\w-]+)\)=$", block, re.MULTILINE):
            assert label not in found, f"{label} stands twice"
            found[label] = following
    return found


def ends() -> dict[str, set[str]]:
    """Return what each role may point to, read from the book's sources."""
    found = {role: set() for role in ("doc", "eq", "numref", "ref", "prf:ref")}
    for page in book_pages():
        found["doc"].add(page.relative_to(ROOT / "book").with_suffix("").as_posix())
        for text in cells(page, "markdown"):
            found["eq"].update(re.findall(r"\$\$\s*\((eq-[\w-]+)\)", text))
            found["ref"].update(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))
            found["prf:ref"].update(re.findall(r"^:label:[ \t]*(\S+)", text, re.MULTILINE))
        names = re.findall(r'"name": "(fig-[\w-]+)"|:name: (fig-[\w-]+)', page.read_text("utf8"))
        found["numref"].update(name for pair in names for name in pair if name)
    return found


ENDS = ends()


def test_every_item_has_its_row():
    listed = {int(n) for note in re.findall(r"<!-- items([ \d]*)-->", MAP) for n in note.split()}
    assert listed == set(ITEMS)


def test_every_row_has_its_mark_and_leads_somewhere():
    """A row says what it is about, by a hidden mark, and has a link at least."""
    for row in rows():
        assert row.count("<!-- items") == 1, row
        assert ROLE.search(row), row
        assert row.count("|") == 4, row


@pytest.mark.parametrize("note", NUMBERED)
def test_what_the_notes_number_is_there(note):
    first = "\n".join(row.split(" | ")[0] for row in rows(table(note)))
    for kind, numbers in NUMBERED[note].items():
        found = set()
        for tail in re.findall(rf"(?i){re.escape(kind)}s? (\(?\d[\d(), –]*)", first):
            found.update(int(n) for n in re.findall(r"\d+", tail))
        assert set(numbers) <= found, (kind, set(numbers) - found)


@pytest.mark.parametrize("note", SECTIONS)
def test_sections_in_order(note):
    sections = re.findall(r"^\| \*\*([\d.]+)\*\*", table(note), re.MULTILINE)
    assert ", ".join(sections) == SECTIONS[note]


def test_every_slip_is_on_the_errata_page():
    expected = {f"slip-{note}-{i}" for note, n in SLIPS.items() for i in range(1, n + 1)}
    assert expected <= set(slips()), sorted(expected - set(slips()))


def test_labels_stand_before_entries():
    for label, entry in slips().items():
        assert entry.startswith("**"), label


def test_every_entry_has_a_label_and_is_linked():
    """Who comes from a note meets every slip of it in the table."""
    linked = set(re.findall(r"<(slip-[\w-]+)>", MAP))
    entries: dict[str, set[str]] = {}
    for label, entry in slips().items():
        entries.setdefault(entry, set()).add(label)
    for block in ERRATA.split("\n\n"):
        if block.startswith("**"):
            assert block in entries, block[:60]
    missed = [labels for labels in entries.values() if not labels & linked]
    assert not missed


def test_slips_stand_in_the_table_of_their_note():
    """A slip that only one note has is linked from that note's table, and not from others."""
    notes = dict(zip(("e0", "e1", "e2", "e3", "e4"), MAP.split("\n## ")[1:], strict=True))
    shared = {"slip-e2-16", "slip-e0-6"}  # finite features, and no normalisation: two notes each
    for note, text in notes.items():
        for label in re.findall(r"<(slip-e\d-\d+)>", text):
            assert label in shared or label.startswith(f"slip-{note}"), (note, label)


@pytest.mark.parametrize("page", LINKED)
def test_links_have_an_end(page):
    text = (ROOT / f"book/{page}.md").read_text("utf8")
    assert [f"{role} {to}" for role, to in ROLE.findall(text) if to not in ENDS[role]] == []


def test_the_page_is_in_the_contents():
    reference = read_contents()["parts"][-1]["chapters"]
    files = [entry["file"] for entry in reference]
    assert files.index("book/coming_from_the_notes") + 1 == files.index("book/errata")


class TestPagesThatPoint:
    def page(self, name: str) -> str:
        return (ROOT / f"book/{name}.md").read_text("utf8")

    @pytest.mark.parametrize("name", LINKED)
    def test_named_sections_exist(self, name):
        """Where a page says {doc}`chapter`, "Section", the chapter has that heading."""
        for chapter, title in re.findall(r'\{doc\}`([\w/]+)`, "([^"]+)"', self.page(name)):
            text = "\n".join(cells(ROOT / f"book/{chapter}.ipynb", "markdown"))
            assert re.search(rf"^#+ {re.escape(title)}$", text, re.MULTILINE), (chapter, title)

    def test_glossary_is_sorted_and_points(self):
        entries = re.findall(r"^(\S.*)\n  (.+)$", self.page("glossary"), re.MULTILINE)
        terms = [term.lower() for term, _ in entries]
        assert terms == sorted(terms)
        assert [term for term, text in entries if not ROLE.search(text)] == []

    def test_calls_of_the_summary_sheet_exist(self):
        sheet = self.page("summary_sheet")
        for path in re.findall(r"`([a-z_.]+)\(", sheet):
            found = kpca_edu
            for name in path.split("."):
                found = getattr(found, name, None) or getattr(kernels, name, None)
            assert callable(found), path
