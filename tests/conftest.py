"""A browser and a server of the built book, started once for all tests that open pages."""

from __future__ import annotations

import functools
import http.server
import threading

import pytest
from browsing import FLAGS, HTML, PAGES, chromium, missing


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


# Served in place of MathJax where a test does not look at formulas: they take most of the time.
# A test that looks at some elements alone keeps these and what they stand in. The page stays long.
NO_FORMULAS = """{
    const only = "ONLY", drop = () => {
        document.querySelectorAll(".math").forEach(formula => formula.remove());
        const kept = new Set(), article = document.querySelector(".bd-article");
        for (let e of only ? document.querySelectorAll(only) : []) {
            for (; e; e = e.parentElement) kept.add(e);
        }
        const thin = node => {
            for (const child of [...node.children]) {
                if (!kept.has(child)) child.remove(); else if (!child.matches(only)) thin(child);
            }
        };
        if (!only) return;
        thin(article);
        article.style.minHeight = "3000px";
        document.querySelectorAll(".page-toc a").forEach(link => link.remove());
    };
    document.readyState === "loading" ? addEventListener("DOMContentLoaded", drop) : drop();
}"""


@pytest.fixture
def open_page(browser, address):
    """Return a function that opens a page and notes what goes wrong on the way."""
    contexts = []

    def opener(path: str, width: int, *, math: bool = True, only: str = ""):
        viewport = {"width": width, "height": 900}
        context = browser.new_context(viewport=viewport, color_scheme="light")
        contexts.append(context)
        context.set_default_timeout(600_000)  # a page full of math on a busy machine
        page = context.new_page()
        if only or not math:
            body = NO_FORMULAS.replace("ONLY", only)
            script = {"content_type": "text/javascript", "body": body}
            page.route("**/mathjax/*.js", lambda route: route.fulfill(**script))
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
