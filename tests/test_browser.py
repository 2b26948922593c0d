"""Open every built page in Chromium as readers do: wide and on a phone, light and dark.

Needs the built book (``make book``) and Chromium. Without them the tests are skipped with a
sentence; with KPCA_EDU_REQUIRE_BROWSER=1 in the environment, as in CI, they fail instead.
"""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from importlib.resources import files
from pathlib import Path

import pytest

HTML = Path(__file__).parents[1] / "_build/html"
PAGES = sorted(
    path.relative_to(HTML).as_posix()
    for path in HTML.rglob("*.html")
    if "_static" not in path.parts and "http-equiv" not in path.read_text("utf8")[:400].lower()
)
WIDTHS = [1280, 390]
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
    return next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def address():
    """Serve the built book on this machine for as long as the tests run."""
    if not PAGES:
        missing("The book has not been built: run `make book` first.")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    handler = functools.partial(Quiet, directory=HTML)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


@pytest.fixture(scope="session")
def browser():
    if chromium() is None:
        missing("No Chromium on this machine: install Debian's `chromium` to run these tests.")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def open_page(browser, address):
    """Return a function that opens a page and notes what goes wrong on the way."""
    contexts = []

    def opener(path: str, width: int):
        viewport = {"width": width, "height": 900}
        context = browser.new_context(viewport=viewport, color_scheme="light")
        contexts.append(context)
        context.set_default_timeout(180_000)  # a page full of math on a busy machine
        page = context.new_page()
        page.problems = []
        note = page.problems.append
        page.on("console", lambda m: note(f"console: {m.text}") if m.type == "error" else None)
        page.on("pageerror", lambda error: note(f"script error: {error}"))
        page.on("requestfailed", lambda request: note(f"failed request: {request.url}"))
        page.on("response", lambda r: note(f"{r.status}: {r.url}") if r.status >= 400 else None)
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((address, "data:", "blob:"))
                else note(f"foreign request: {request.url}")
            ),
        )
        page.goto(f"{address}/{path}", wait_until="load")
        page.evaluate("() => window.MathJax?.startup?.promise")
        return page

    yield opener
    for context in contexts:
        context.close()


def test_book_is_there():
    """There are pages to look at; otherwise all tests below would pass by seeing nothing."""
    if len(PAGES) < 5:
        missing("The book has not been built: run `make book` first.")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", PAGES)
def test_page(open_page, path, width):
    """No error, nothing foreign, all math set, all images there, no overflow, accessible."""
    page = open_page(path, width)
    assert untypeset_math(page) == []
    assert broken_images(page) == []
    assert page.evaluate(OVERFLOW) <= 1
    page.evaluate(THIN_OUT)
    assert accessibility_problems(page, ALL_RULES) == []

    page.emulate_media(color_scheme="dark")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    page.wait_for_timeout(500)  # colours fade over
    assert accessibility_problems(page, ["color-contrast"]) == []
    assert page.problems == []


# axe-core takes most of a minute for the thousands of elements of typeset math and coloured code
# on one page. Math is MathJax's, and the first listings have all the colours that there are.
THIN_OUT = """() => {
    document.querySelectorAll('mjx-container').forEach(e => e.replaceWith('x'));
    [...document.querySelectorAll('.highlight pre')].slice(12)
        .forEach(e => { e.textContent = e.textContent; });
}"""
ALL_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
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


def accessibility_problems(page, rules: list[str]) -> list[tuple]:
    """Return what axe-core finds."""
    if not page.evaluate("() => 'axe' in window"):
        axe = next(p for p in files("axe_playwright_python").iterdir() if p.suffix == ".js")
        page.add_script_tag(path=str(axe))
    found = page.evaluate("rules => axe.run({runOnly: rules, preload: false})", rules)
    return [
        (violation["id"], node["target"], node["html"][:120])
        for violation in found["violations"]
        for node in violation["nodes"]
    ]
