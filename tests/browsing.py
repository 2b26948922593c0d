"""What the tests that open pages in a browser share; the fixtures are in conftest.py."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest

# The book as `make book` builds it, or another copy of it.
HTML = Path(os.environ.get("KPCA_EDU_BOOK", Path(__file__).parents[1] / "_build/html"))
PAGES = sorted(
    path.relative_to(HTML).as_posix()
    for path in HTML.rglob("*.html")
    if "_static" not in path.parts and "http-equiv" not in path.read_text("utf8")[:400].lower()
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
REQUIRED = os.environ.get("KPCA_EDU_REQUIRE_BROWSER") == "1"


def missing(what: str) -> None:
    """Skip, or fail where a browser is required."""
    (pytest.fail if REQUIRED else pytest.skip)(what)


def chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    names = ("chromium-headless-shell", *names)  # without windows and menus: a third less work
    return next(filter(None, map(shutil.which, names)), None)


# axe-core takes most of a minute for the thousands of elements of typeset math and coloured code
# on one page. Math is MathJax's, and of the words in code one of each kind shows how they look.
THIN_OUT = """() => {
    document.querySelectorAll('mjx-container').forEach(e => e.replaceWith('x'));
    const seen = new Set();
    for (const e of [...document.querySelectorAll('.highlight pre *')].reverse()) {
        const kind = [e, e.parentElement].map(e => e.tagName + e.className).join();
        if (seen.has(kind)) e.replaceWith(...e.childNodes); else seen.add(kind);
    }
}"""
# Colours come from style sheets: two elements of each kind, in each kind of place, show them all,
# and kinds that other pages have shown need not be judged again. Returns the kinds that are left.
# What is gone cannot be judged by any other rule, so this comes last.
TWO_OF_EACH_KIND = """(judged) => {
    const kind = e => {
        const path = [];
        for (; e && path.length < 6; e = e.parentElement) path.push(e.tagName + e.className);
        return path.join('/');
    };
    const known = new Set(judged), left = new Set();
    for (let gone = true; gone; ) {
        gone = false;
        const count = new Map();
        for (const e of document.querySelectorAll('body *')) {
            if (e.childElementCount) continue;
            const name = kind(e);
            count.set(name, (count.get(name) ?? (known.has(name) ? 2 : 0)) + 1);
            if (count.get(name) > 2) { e.remove(); gone = true; } else left.add(name);
        }
    }
    return [...left];
}"""
ALL_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
COLOURS = ["color-contrast", "link-in-text-block"]
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def untypeset_math(page) -> list[str]:
    return page.evaluate(
        """() => [...document.querySelectorAll('span.math, div.math')]
            .filter(e => !e.querySelector('mjx-container') || e.querySelector('mjx-merror'))
            .map(e => e.textContent.slice(0, 80))"""
    )


def broken_images(page) -> list[str]:
    return page.evaluate(
        """() => [...document.images]
            .filter(i => !i.complete || !i.naturalWidth || i.alt.trim().length < 10)
            .map(i => `${i.src.slice(-60)} alt=${i.alt}`)"""
    )


def accessibility_problems(
    page, rules: list[str], but: Sequence[str] = (), scope: str = "body"
) -> list[tuple]:
    """Return what axe-core finds in a part of the page by some rules, or by all but a few."""
    if not page.evaluate("() => 'axe' in window"):
        axe = next(p for p in files("axe_playwright_python").iterdir() if p.suffix == ".js")
        page.add_script_tag(path=str(axe))
    options = {
        "runOnly": rules,
        "preload": False,
        "resultTypes": ["violations"],
        "rules": {rule: {"enabled": False} for rule in but},
    }
    found = page.evaluate("([scope, options]) => axe.run(scope, options)", [scope, options])
    return [
        (violation["id"], node["target"], node["html"][:120])
        for violation in found["violations"]
        for node in violation["nodes"]
    ]
