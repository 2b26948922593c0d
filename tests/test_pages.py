"""The landing page, the ledger, the reference, the search, the bibliography and the archive.

What needs the built book, or a browser, is skipped with a sentence where that is missing.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import re
import sys
import tomllib
import unicodedata
import zipfile
from pathlib import Path
from types import SimpleNamespace

import api_index
import bibliography_style
import chapter_map
import landing
import pytest
import search_page
import site_fonts
from browsing import (
    ALL_RULES,
    COLOURS,
    HTML,
    OVERFLOW,
    THIN_OUT,
    accessibility_problems,
    missing,
)
from contents import chapters
from fontTools.ttLib import TTFont
from ledger import Statement, read_entries, read_ledger
from marked import first_sentence
from notebooks import chapter_notebooks, install_cell
from plain_math import plain_math
from pybtex.database import parse_file

import kpca_edu

ROOT = Path(__file__).parents[1]
CHAPTERS = chapters()
THERE = {chapter.stem: chapter for chapter in CHAPTERS}
each_chapter = pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.stem)


def built(path: str) -> str:
    """Return a file of the built book; skip the test where it has not been built."""
    if not (HTML / path).exists():
        missing(f"{path} has not been built: run `make book` first.")
    return (HTML / path).read_text("utf8")


@each_chapter
class TestCard:
    """All that a card of the landing page shows is in the chapter's notebook."""

    def test_minutes(self, chapter):
        assert chapter.minutes, "the box This chapter says **Time.** N minutes"

    def test_goals(self, chapter):
        assert len(chapter.goals) >= 2, "the box This chapter lists what you will be able to do"

    def test_picture_is_light(self, chapter):
        _, picture = landing.card_picture(chapter)
        assert picture is not None, "the chapter has no figure"
        assert len(picture.data) <= landing.HEAVIEST

    def test_built_card(self, chapter):
        home = built("book/index.html")
        assert f'href="{chapter.stem}.html"><span class="card-number">{chapter.number}<' in home
        name, _ = landing.card_picture(chapter)
        assert (HTML / "_static/cards" / name).stat().st_size <= landing.HEAVIEST


class TestLanding:
    def test_slim_svg_keeps_the_drawing(self):
        drawn = (
            '<?xml version="1.0"?>\n<svg>\n <metadata>x</metadata>\n <path d="M 1.23456 2"/></svg>'
        )
        assert landing.slim_svg(drawn) == '<svg><path d="M 1.23 2"/></svg>'

    def test_next_leads_to_the_first_chapter(self):
        home = built("book/index.html")
        following = re.search(r'class="right-next"\s+href="([^"]+)"', home)
        assert following[1] == f"{CHAPTERS[0].stem}.html"

    def test_opening_pictures_are_drawn(self):
        home = built("book/index.html")
        for file, *_ in landing.OPENING:
            assert f"_static/opening/{file}" in home
            assert (HTML / "_static/opening" / file).stat().st_size > 1000

    def test_says_which_results_are_quoted(self):
        home = (ROOT / "book/index.md").read_text("utf8")
        keys = {"parlett1998symmetric", "marchenko1967distribution", "johnstone2001distribution"}
        for path in chapter_notebooks():
            for cell in json.loads(path.read_text("utf8"))["cells"]:
                for sentence in re.split(r"(?<=[.:])\s", "".join(cell["source"])):
                    if cell["cell_type"] == "markdown" and re.search(r"\bquoted?\b", sentence):
                        keys |= set(re.findall(r"\{cite:[tp]\}`(\w+)`", sentence))
        assert keys >= {"halko2011finding", "benaych2012singular", "bochner1933monotone"}
        assert [key for key in sorted(keys) if key not in home] == []


class TestMap:
    def test_every_chapter_has_a_place(self):
        assert set(THERE) <= set(chapter_map.PLACES) | set(chapter_map.AT_WORK)

    def test_needs_come_earlier(self):
        """Arrows lead from chapters with smaller numbers to those with larger ones."""
        tables = {s: place[2] for s, place in chapter_map.PLACES.items()} | chapter_map.AT_WORK
        for stem, needs in tables.items():
            assert all(need in tables and need < stem for need in needs), stem

    def test_draws_what_is_there_and_nothing_else(self):
        titles = {"01_svd": "SVD", "03_pca": "PCA", "16_digits": "Digits"}
        there = {
            stem: SimpleNamespace(number=number, title=title)
            for number, (stem, title) in enumerate(titles.items(), 1)
        }
        svg = chapter_map.chapter_map(there)
        assert re.findall(r'href="(\w+)\.html"', svg) == list(titles)
        assert svg.count("marker-end") == 1
        assert "2 PCA builds on 1" in svg
        assert "2 PCA</a>: after 1</li>" in chapter_map.as_list(there)


class TestLedger:
    def stated(self, tmp_path: Path, check: str):
        (tmp_path / "book").mkdir()
        (tmp_path / "tests").mkdir()
        text = ":::{prf:theorem} Best\n:class: x\n:label: thm-best\n\n$$a = b$$ (eq-a)\n:::\n"
        cells = [
            {"cell_type": "markdown", "source": [text]},
            {"cell_type": "code", "source": [f"# check: {check}\n", "holds(0, 1)"]},
        ]
        (tmp_path / "book/1_x.ipynb").write_text(json.dumps({"cells": cells}), "utf8")
        guard = 'def test_it():\n    """Theorem thm-best."""\n'
        (tmp_path / "tests/test_x.py").write_text(guard, "utf8")
        return read_entries(tmp_path)

    def test_a_check_may_cite_a_theorem(self, tmp_path):
        entries, unknown = self.stated(tmp_path, "eq-a thm-best")
        assert [entry.label for entry in entries] == ["thm-best", "eq-a"]
        assert all(entry.checks == ["book/1_x"] for entry in entries)
        assert isinstance(entries[0], Statement)
        assert (entries[0].kind, entries[0].title) == ("theorem", "Best")
        assert entries[0].tests == ["tests/test_x.py::test_it"]
        assert unknown == {}

    def test_an_unknown_theorem_is_found(self, tmp_path):
        _, unknown = self.stated(tmp_path, "thm-gone")
        assert unknown == {"thm-gone": {"book/1_x"}}

    def test_the_page_has_every_equation(self):
        page = built("book/ledger.html")
        for equation in read_ledger()[0]:
            assert f"<span hidden>{equation.label} " in page


class TestReference:
    def test_every_public_module_has_a_place(self):
        described = {m for page in api_index.reference_pages() for m in api_index.modules(page)}
        for path in (ROOT / "kpca_edu").glob("*.py"):
            if not path.stem.startswith("_"):
                assert f"kpca_edu.{path.stem}" in described

    @pytest.mark.parametrize("page", api_index.reference_pages())
    def test_every_function_has_its_sentence(self, page):
        for module in api_index.modules(page):
            for name, sentence in api_index.public(module):
                assert re.search(r"\w.*[.:)]$", sentence), f"{module}.{name}: {sentence!r}"

    def test_first_sentence(self):
        text = "Return the k best, see :eq:`eq-a`. It is\nfast.\n\nMore."
        assert first_sentence(text) == "Return the k best, see :eq:`eq-a`."

    def test_the_page_lists_every_function(self):
        page = built("book/api/index.html")
        for name in ("thin_svd", "fit_pca", "fit_kernel_pca"):
            assert re.search(rf'href="\w+\.html#kpca_edu\.\w+\.{name}"', page)


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\(\lambda_i^2\)", "λᵢ²"),
        (r"A^\top A", "AᵀA"),
        (r"\lVert x\rVert_F", "‖x‖_F"),
        (r"\mathbb{R}^{n\times d}", "ℝⁿˣᵈ"),
        (r"\tilde K = JKJ", "K\u0303 = JKJ"),
        (r"u_1, \dots, u_r", "u₁, …, uᵣ"),
        (r"\tfrac12 \operatorname{tr}(C)", "1/2 tr(C)"),
        (r"4/\sqrt 3", "4/√3"),
        (r"\begin{pmatrix} 1 & 2 \end{pmatrix}", " … "),
    ],
)
def test_formulas_as_a_line(tex, text):
    assert plain_math(tex) == text


class TestSearchTexts:
    PAGE = """<article class="bd-article"><section id="top"><h1><span class="section-number">1.
        </span>Title<a class="headerlink" href="#top">#</a></h1>
        <p>If <span class="math">\\(\\lambda_1 &gt; 0\\)</span>, then.</p>
        <div class="highlight-python notranslate"><div class="highlight"><pre><span>thin_svd</span>
        (A) # comment</pre></div></div>
        <div class="proof theorem admonition" id="thm-a"><p class="admonition-title">
        <span class="caption-number">Theorem 1.2 </span> (Best)</p><p>It holds.</p></div>
        <section id="sub"><h2>Part</h2><p>More<span hidden>secret</span>.</p></section></section>
        <dl class="py function"><dt class="sig sig-object py" id="kpca_edu.svd.low_rank">low_rank(A)
        </dt><dd><p>Return it.</p></dd></dl></article>"""

    def test_a_page_is_cut_into_what_can_be_found(self):
        found = search_page.read_page(self.PAGE, "book/x", "chapter", {"thin_svd"})
        assert [(e.kind, e.title, e.text) for e in found] == [
            ("chapter", "Title", "If λ₁ > 0, then."),
            ("theorem", "Theorem 1.2 (Best)", "It holds."),
            ("chapter", "Part", "More."),
            ("function", "kpca_edu.svd.low_rank", "Return it."),
        ]
        assert found[0].names == {"thin_svd"}
        assert found[1].url == "book/x.html#thm-a"

    def test_built_texts_are_clean(self):
        script = built("_static/search-texts.js")
        rows = json.loads(script.removeprefix("const SEARCH_TEXTS = ").rstrip(";\n"))
        assert len(rows) > 100
        for kind, _, title, _, text, _ in rows:
            assert title
            for raw in ("\\(", "\\[", "\\frac", "{eq}", ":::", ".ipynb", "show_source("):
                assert kind == "page" or raw not in title + text, (title, raw)

    def test_everyday_words_belong_to_chapters_or_notation(self):
        places = set(chapter_map.PLACES) | set(chapter_map.AT_WORK) | {"notation"}
        assert set(search_page.EVERYDAY) == places


class TestBibliography:
    WORKS = parse_file(ROOT / "book/references.bib").entries

    def test_labels_read_as_citations(self):
        labels = {key: bibliography_style.authors(work) for key, work in self.WORKS.items()}
        assert labels["eckart1936approximation"] == "Eckart and Young"
        assert labels["bakir2004learning"] == "Bakır et al."
        assert labels["vonmises1929praktische"] == "von Mises and Pollaczek-Geiringer"

    def test_works_of_one_year_are_told_apart(self):
        works = parse_file(ROOT / "book/references.bib").entries
        domain = SimpleNamespace(bibdata=SimpleNamespace(data=SimpleNamespace(entries=works)))
        app = SimpleNamespace(env=SimpleNamespace(get_domain=lambda name: domain))
        for _ in range(2):  # a second build finds the letters there already
            bibliography_style.tell_apart(app)
        said = [(bibliography_style.authors(w), w.fields["year"]) for w in works.values()]
        assert len(set(said)) == len(said)
        assert works["tipping1999mixtures"].fields["year"] == "1999b"

    @pytest.mark.parametrize("key", WORKS)
    def test_fields(self, key):
        work = self.WORKS[key]
        assert "year" in work.fields
        if work.type == "article":
            assert {"journal", "volume", "pages"} <= set(work.fields)

    def test_nothing_raw_on_the_page(self):
        page = built("book/bibliography.html")
        article = page[page.index("<article") : page.index("</article>")]
        article = re.sub(r"<script.*?</script>", "", article, flags=re.DOTALL)
        text = re.sub(r"<[^>]+>", "", article)
        assert not re.search(r"[$\\{}]", text)
        assert page.count('role="listitem"') == len(self.WORKS)

    def test_labels_match_the_text(self):
        """What a page calls a work is what the bibliography calls it."""
        page = built("book/bibliography.html")
        pairs = re.findall(r'id="(id\d+)"[^>]*>\s*<span class="label">.*?</span>(.*?)<span', page)
        labels = dict(pairs)
        for path in sorted((HTML / "book").glob("[0-9]*.html")):
            text = path.read_text("utf8")
            cited = r'<span id="id\d+">([^(]*?) \(<a [^>]*href="bibliography\.html#(id\d+)"[^>]*>'
            for who, target, year in re.findall(cited + r"(\w+)</a>\)</span>", text):
                said = re.sub(r"<[^>]+>", "", who).replace("\xa0", " ")
                assert labels[target] == f"{said} ({year})", path.name


class TestRun:
    """A downloaded notebook finds the library, or says how to get it."""

    def run_cell(self, folder: Path, address: str, monkeypatch) -> str:
        cell = install_cell(address).replace('%pip install --quiet "{source}"', "taken = source")
        monkeypatch.chdir(folder)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        names: dict = {}
        exec(cell, names)
        return names["taken"]

    def test_takes_the_wheel_beside_it(self, tmp_path, monkeypatch):
        (tmp_path / "kpca_edu-0.2.0-py3-none-any.whl").touch()
        taken = self.run_cell(tmp_path, "", monkeypatch)
        assert taken == "./kpca_edu-0.2.0-py3-none-any.whl[book]"

    def test_takes_the_clone_around_it(self, tmp_path, monkeypatch):
        (tmp_path / "kpca_edu").mkdir()
        (tmp_path / "book").mkdir()
        assert self.run_cell(tmp_path / "book", "", monkeypatch) == "..[book]"

    def test_takes_the_repository(self, tmp_path, monkeypatch):
        taken = self.run_cell(tmp_path, "https://example.org/book", monkeypatch)
        assert taken == "kpca_edu[book] @ git+https://example.org/book"

    def test_says_how_to_get_it(self, tmp_path, monkeypatch):
        with pytest.raises(ModuleNotFoundError, match="archive on the book's first page"):
            self.run_cell(tmp_path, "", monkeypatch)

    def test_the_extra_brings_what_the_notebooks_import(self):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
        wanted = project["dependencies"] + project["optional-dependencies"]["book"]
        named = {re.split(r"[<>=\[]", need)[0].replace("-", "_") for need in wanted}
        named = {
            {"scikit_learn": "sklearn", "scikit_image": "skimage"}.get(name, name) for name in named
        } | {"kpca_edu"}
        for path in chapter_notebooks():
            for cell in json.loads(path.read_text("utf8"))["cells"]:
                if cell["cell_type"] == "code":
                    for module in imported("".join(cell["source"])):
                        known = module in named or module in sys.stdlib_module_names
                        assert known or module in {"IPython"}, f"{path.name} imports {module}"

    def test_the_archive(self):
        if not (HTML / "_static/principal-components.zip").exists():
            missing("The book has not been built: run `make book` first.")
        archive = zipfile.ZipFile(HTML / "_static/principal-components.zip")
        names = {name.removeprefix("principal-components/") for name in archive.namelist()}
        wheel = f"kpca_edu-{kpca_edu.__version__}-py3-none-any.whl"
        assert {wheel, "README.txt"} <= names
        assert {f"{stem}.ipynb" for stem in THERE} <= names
        assert wheel in archive.read("principal-components/README.txt").decode()
        for name in names - {wheel, "README.txt"}:
            cells = json.loads(archive.read(f"principal-components/{name}"))["cells"]
            text = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
            assert ":::" not in text, name

    def test_the_page_links_to_the_archive(self):
        assert 'href="../_static/principal-components.zip"' in built("book/index.html")


def imported(source: str) -> set[str]:
    """Return the top names of the modules that a cell imports."""
    lines = [line for line in source.splitlines() if not line.lstrip().startswith("%")]
    code = "\n".join(lines)
    if "%pip" in source:  # the install cell
        return set()
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def rows(page) -> int:
    return page.evaluate(
        "() => [...document.querySelectorAll('tbody tr')].filter(r => r.checkVisibility()).length"
    )


NOTHING_FOUND = (
    "() => document.getElementById('book-search-count').textContent.startsWith('Nothing')"
)


WIDTHS = {"wide": 1280, "phone": 390}


class TestInTheBrowser:
    @pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
    def test_start(self, open_page, width):
        page = open_page("book/index.html", width, math=False)
        assert page.locator("li.chapter-card").count() == len(CHAPTERS)
        page.locator("a.start-button").focus()
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/{CHAPTERS[0].stem}.html")

    @pytest.mark.parametrize(
        ("path", "typed"), [("book/ledger.html", "low_rank"), ("book/api/index.html", "low rank")]
    )
    def test_filter(self, open_page, path, typed):
        """Typing leaves the rows that hold all words; Escape brings the others back."""
        page = open_page(path, WIDTHS["phone"], math=False)
        field, said = page.locator("#row-words"), page.locator("#row-count")
        all_rows = int(said.inner_text().split()[0])
        for width in WIDTHS.values():
            page.set_viewport_size({"width": width, "height": 900})
            before = rows(page)
            field.focus()
            page.keyboard.insert_text(typed)
            shown = int(said.inner_text().split()[0])
            assert 0 < shown < all_rows
            assert rows(page) == shown
            assert said.get_attribute("role") == "status"
            assert page.evaluate(OVERFLOW) <= 1
            page.keyboard.insert_text(" zzz")
            assert rows(page) == 0
            assert said.inner_text().startswith("No row")
            page.keyboard.press("Escape")
            assert rows(page) == before
        page.keyboard.type(typed)
        page.evaluate(THIN_OUT)
        for width in WIDTHS.values():
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_function("() => !document.getAnimations().length")
            assert accessibility_problems(page, ALL_RULES) == []
        assert page.problems == []

    FOUND = {
        "scree plot": ["05_choosing_k"],
        "how many components": ["05_choosing_k"],
        "kernel trick": ["06_kernels", "07_kernel_pca"],
        "missing values": ["04_ppca"],
        "centering": ["08_centering"],
        "centring": ["08_centering"],
        "pre-image": ["09_preimages"],
        "Eckart Young": ["01_svd"],
        "thin_svd": ["api/svd.html#kpca_edu.svd.thin_svd"],
        "Tipping": ["04_ppca", "bibliography"],
    }

    @pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
    def test_search(self, open_page, width):
        """Words lead to the chapter that explains them; what is shown can be read by everybody."""
        page = open_page("search.html?q=scree+plot", width)
        page.wait_for_selector("#book-search-results li")
        assert "05_choosing_k" in page.locator(".found-title a").first.get_attribute("href")
        field = page.locator("#book-search-words")
        for words, wanted in self.FOUND.items():
            field.fill("zebra")
            page.wait_for_function(NOTHING_FOUND)
            field.fill(words)
            page.wait_for_selector("#book-search-results li")
            first = page.locator(".found-title a").first.get_attribute("href")
            assert any(place in first for place in wanted), (words, first)
            texts = page.locator("#book-search-results").inner_text()
            assert not re.search(r"\\[a-z(\[]|\$|\{\w+\}`|\.ipynb|\.pdf", texts), words
            assert page.evaluate(OVERFLOW) <= 1, words
        assert accessibility_problems(page, ALL_RULES) == []
        page.emulate_media(color_scheme="dark")
        page.wait_for_timeout(500)
        assert accessibility_problems(page, COLOURS) == []
        field.fill("xyzzy plugh")
        page.wait_for_function(NOTHING_FOUND)
        assert page.problems == []


class TestLetters:
    WIDTHS = """async ([address, letters]) => {
        const face = await new FontFace("tried", `url(${address})`).load();
        document.fonts.add(face);
        const line = document.createElement("span");
        line.style.cssText = "font: 16px tried; font-kerning: none; white-space: pre; " +
            "font-variant-ligatures: none; position: absolute";
        document.body.append(line);
        const widths = letters.map(letter => {
            line.textContent = letter.repeat(20);
            return line.getBoundingClientRect().width / 20;
        });
        line.remove();
        document.fonts.delete(face);
        return widths;
    }"""

    @pytest.mark.parametrize("name", site_fonts.FACES)
    def test_no_letter_is_drawn_into_the_next(self, open_page, address, name):
        """Each letter takes the room that its designer gave it, but for a pixel of rounding."""
        built("book/index.html")
        font = TTFont(HTML / f"_static/fonts/{name}.woff")
        size = 16 / font["head"].unitsPerEm
        signs = {chr(code): glyph for code, glyph in font.getBestCmap().items()}
        rooms = {sign: font["hmtx"][glyph][0] * size for sign, glyph in signs.items()
                 if sign.isprintable() and not unicodedata.combining(sign)}  # fmt: skip
        page = open_page("book/index.html", 1280, only="h1")
        source = f"{address}/_static/fonts/{name}.woff"
        widths = page.evaluate(self.WIDTHS, [source, list(rooms)])
        pairs = zip(rooms.items(), widths, strict=True)
        wrong = {sign: (room, width) for (sign, room), width in pairs if abs(width - room) > 1.01}
        assert not wrong
