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


@pytest.fixture(scope="session")
def window(browser, address):
    """One page for all tests of a worker: scripts stay compiled and fonts loaded.

    It notes what goes wrong in ``problems``.
    """
    context = browser.new_context()
    context.set_default_timeout(600_000)  # a page full of math on a busy machine
    page = context.new_page()
    page.problems = []

    def note(what: str) -> None:
        page.problems.append(what)

    def is_ours(url: str) -> bool:
        return url.startswith((address, "data:", "blob:", "about:"))

    page.on("console", lambda m: note(f"console: {m.text}") if m.type == "error" else None)
    page.on("pageerror", lambda error: note(f"script error: {error}"))
    page.on("requestfailed", lambda request: note(f"failed request: {request.url}"))
    page.on("response", lambda r: note(f"{r.status}: {r.url}") if r.status >= 400 else None)
    page.on("request", lambda r: None if is_ours(r.url) else note(f"foreign request: {r.url}"))
    return page


@pytest.fixture
def open_page(window, address):
    """Return a function that opens a page of the book as a reader does who was never here."""
    memory = window.context.new_cdp_session(window)

    def opener(path: str, width: int, *, math: bool = True, only: str = ""):
        window.unroute_all()
        window.goto("about:blank")  # so that an address with another #place is loaded anew
        memory.send(
            "Storage.clearDataForOrigin", {"origin": address, "storageTypes": "local_storage"}
        )
        window.set_viewport_size({"width": width, "height": 900})
        window.emulate_media(media="screen", color_scheme="light", reduced_motion="no-preference")
        if only or not math:
            body = NO_FORMULAS.replace("ONLY", only)
            script = {"content_type": "text/javascript", "body": body}
            window.route("**/mathjax/*.js", lambda route: route.fulfill(**script))
        window.problems.clear()
        window.goto(f"{address}/{path}", wait_until="load")
        window.evaluate("() => window.MathJax?.startup?.promise")
        return window

    yield opener
    memory.detach()
