"""Open every built page in Chromium as readers do: wide and on a phone, light and dark.

Needs the built book (``make book``) and Chromium. Without them the tests are skipped with a
sentence; with KPCA_EDU_REQUIRE_BROWSER=1 in the environment, as in CI, they fail instead.
"""

from __future__ import annotations

import re

import pytest
from browsing import (
    ALL_RULES,
    COLOURS,
    HTML,
    OVERFLOW,
    PAGES,
    THIN_OUT,
    TWO_OF_EACH_KIND,
    accessibility_problems,
    broken_images,
    missing,
    untypeset_math,
)

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
CHAPTERS = [path for path in PAGES if re.match(r"book/\d\d_", path)]
JUDGED: set[str] = set()  # kinds of elements whose colours this worker has judged


def test_book_is_there():
    """There are pages to look at; otherwise all tests below would pass by seeing nothing."""
    if len(PAGES) < 5:
        missing("The book has not been built: run `make book` first.")


@pytest.mark.parametrize("path", PAGES)
def test_page(open_page, path):
    """No error, nothing foreign, math set, images there, no overflow, parts whole, accessible.

    A page is loaded once, on a phone, since its formulas take the time, and then made wide and
    dark.
    """
    page = open_page(path, PHONE["width"])
    assert untypeset_math(page) == []
    assert broken_images(page) == []
    assert page.evaluate(OVERFLOW) <= 1, page.evaluate(TOO_WIDE)
    assert page.evaluate(INSIDES) == []
    assert page.evaluate(MISSING_ICONS) == []
    assert page.evaluate(CAPTION_GAPS) == []
    assert page.evaluate(STRAY_PUNCTUATION) == []
    assert page.evaluate(LOOSE_PERCENT) == []
    assert page.evaluate(EXERCISES_WITHOUT_PARTS) == []

    page.add_style_tag(content=CALM)
    page.set_viewport_size(WIDE)
    page.evaluate(SET_ANEW)
    assert page.evaluate(OVERFLOW) <= 1, page.evaluate(TOO_WIDE)
    assert page.evaluate(STRAY_PUNCTUATION) == []

    page.evaluate(THIN_OUT)
    assert accessibility_problems(page, ALL_RULES, but=COLOURS) == []
    kinds = page.evaluate(TWO_OF_EACH_KIND, sorted(JUDGED))
    assert accessibility_problems(page, COLOURS) == []
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    assert accessibility_problems(page, COLOURS) == []
    JUDGED.update(kinds)  # only now: a page that fails must not excuse another
    assert page.problems == []


CALM = "*, *::before, *::after { transition: none !important; }"  # no sidebar slides
# Formulas that were broken for a phone are set anew 100 ms after the page has seen its new width.
SET_ANEW = """() => new Promise(done => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 120)));
})"""
# What is for tools and authors and must not be seen: roles, tags, calls that made a listing.
INSIDES = """() => [...document.querySelectorAll('.bd-article :is(p, pre, li, summary)')]
    .map(e => e.textContent)
    .filter(text => /# check:|# fmt:|:::|\\{[a-z:]+\\}`|^show_source\\(|○ .*: not yet/m.test(text))
    .map(text => text.slice(0, 80))
    .concat([...document.querySelectorAll('.listing')]
        .filter(e => !/^Source: \\S/.test(e.textContent.trim()) || /:eq:/.test(e.textContent))
        .map(e => e.textContent.slice(0, 80)))"""
# Icons are letters of a font, which the style sheet names; a file that is not there is a problem.
MISSING_ICONS = """() => {
    const icons = [...document.querySelectorAll('i[class*="fa-"]')];
    const drawn = icon => /^".+"$/.test(getComputedStyle(icon, '::before').content);
    return icons.length ? icons.filter(e => !drawn(e)).map(e => e.outerHTML) : ['no icon at all'];
}"""
CAPTION_GAPS = """() => [...document.querySelectorAll('figcaption .caption-number')]
    .map(e => e.textContent.trim())
    .filter((text, i) => !new RegExp(`^Figure (\\\\d+\\\\.)?${i + 1}$`).test(text))"""
# A line that begins with the comma or the full stop that belongs to a formula.
STRAY_PUNCTUATION = """() => [...document.querySelectorAll('.bd-article p span.math')]
    .filter(formula => {
        const text = formula.nextSibling;
        if (text?.nodeType !== 3 || !/^[.,;:)]/.test(text.data)) return false;
        if (!formula.offsetWidth) return false;
        const sign = document.createRange();
        sign.setStart(text, 0);
        sign.setEnd(text, 1);
        return sign.getBoundingClientRect().left < formula.getBoundingClientRect().left;
    })
    .map(formula => formula.parentElement.textContent.slice(0, 60))"""
# A number and its "%" with a space between that may end a line.
LOOSE_PERCENT = """() => [...document.querySelectorAll('.bd-article :is(p, li, td, figcaption)')]
    .flatMap(e => [...e.childNodes])
    .filter(e => e.nodeType === 3 && (/\\d %/.test(e.data)
        || /^ %/.test(e.data) && e.previousSibling?.matches?.('.math, .nobr')))
    .map(e => e.data.slice(0, 60))"""
# Hints and a place for the answer come with a checker; what is to be proved on paper has neither.
EXERCISES_WITHOUT_PARTS = """() => [...document.querySelectorAll('div.exercise')]
    .filter(box => !box.querySelector('.fold-solution')
        || !box.querySelector('.fold-hint') !== !box.querySelector('.fold-answer')
        || !box.querySelector('.exercise-field[data-exercise]')
        || box.nextElementSibling?.matches('.tag_solution'))
    .map(box => box.id)"""
TOO_WIDE = """() => [...document.querySelectorAll('.bd-article *')]
    .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map(e => e.outerHTML.slice(0, 100)).slice(0, 5)"""


def first_with(*pieces: str) -> str:
    """Return the first chapter whose page has all the pieces."""
    for path in CHAPTERS:
        text = (HTML / path).read_text("utf8")
        if all(piece in text for piece in pieces):
            return path
    missing(f"No chapter of the built book has {pieces}: run `make book` first.")
    return ""


class TestParts:
    """What a reader can open, point at and print."""

    KINDS = ["fold-code", "fold-check", "fold-hint", "fold-answer", "fold-solution", "fold-proof"]

    def test_folds(self, open_page):
        """They open by mouse and by key, a check is one line, and print shows what is folded."""
        path = first_with("fold-code", "fold-check", "fold-hint", "fold-solution")
        page = open_page(path, WIDE["width"], math=False)
        for kind in self.KINDS:
            folds = page.locator(f"details.{kind}")
            if not folds.count():
                continue
            fold = folds.first
            assert not fold.locator(".fold-body").is_visible(), kind
            fold.locator("summary").click()
            assert fold.locator(".fold-body").is_visible(), kind
            fold.locator("summary").press("Enter")
            assert not fold.locator(".fold-body").is_visible(), kind

        lines = page.locator("details.fold-check > summary").all_inner_texts()
        assert lines
        assert all(re.match(r"✓ \S", line) for line in lines)

        page.emulate_media(media="print")
        page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
        assert page.locator(".bd-article details:not([open])").count() == 0
        for hidden in (".bd-sidebar-primary", ".bd-header-article", ".prev-next-area"):
            assert not page.locator(hidden).first.is_visible(), hidden
        page.evaluate("() => dispatchEvent(new Event('afterprint'))")
        assert page.locator(".bd-article details[open]").count() == 0
        assert page.problems == []

    PREVIEWS = {
        "#equation-": "mjx-container",
        "#thm-": "mjx-container",
        "#fig-": "img",
        "bibliography.html#": "div.citation",
    }

    def test_previews(self, open_page):
        """A link shows what it points to, on this page or another, and Escape takes it away."""
        links = {piece: f'class="reference internal" href="{piece}' for piece in self.PREVIEWS}
        page = open_page(first_with(*links.values()), WIDE["width"])
        page.keyboard.press("Tab")  # the focus is the keyboard's from now on
        for piece, shown in self.PREVIEWS.items():
            links = page.locator(f".bd-article a.reference.internal[href^='{piece}']")
            link = links.locator("visible=true").first
            preview = page.locator("#preview")
            link.hover()
            preview.locator(shown).first.wait_for(state="visible")
            page.keyboard.press("Escape")
            assert preview.is_hidden(), piece
            page.mouse.move(0, 0)
            page.keyboard.press("Tab")
            link.focus()
            preview.locator(shown).first.wait_for(state="visible")
            assert link.get_attribute("aria-describedby") == "preview", piece
            box, screen = preview.bounding_box(), page.viewport_size
            assert box["x"] >= 0, piece
            assert box["x"] + box["width"] <= screen["width"], piece
            page.keyboard.press("Escape")
        stops = "mjx-container[tabindex='0'], a.code-name:not([tabindex='-1'])"
        assert page.locator(stops).count() == 0, "formulas and names in code are no tab stops"
        assert page.problems == []

    def test_wide_formulas_break_on_a_phone_only(self, open_page):
        """Loaded on a phone, nothing is cut off; made wide again, formulas are as written."""
        page = open_page(first_with("equation-"), PHONE["width"])
        rows = "() => document.querySelectorAll('div.math mjx-mtr').length"
        assert page.evaluate(OVERFLOW) <= 1, page.evaluate(TOO_WIDE)
        on_phone = page.evaluate(rows)
        page.set_viewport_size(WIDE)
        page.wait_for_function(f"n => ({rows})() < n", arg=on_phone)
