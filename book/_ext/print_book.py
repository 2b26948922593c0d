"""Print the whole book to one PDF: the single-page build, opened and printed by Chromium.

``python book/_ext/print_book.py`` (or ``make pdf``) needs ``_build/singlehtml`` and writes
``_build/principal-components.pdf``. The next ``make book`` serves it and links to it.
"""

from __future__ import annotations

import functools
import http.server
import shutil
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "_build/singlehtml"
PDF = ROOT / "_build/principal-components.pdf"
FLAGS = "no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update disable-sync"
FOOTER = (
    '<div style="font-size:8px;width:100%;text-align:center;color:#555">'
    '<span class="pageNumber"></span></div>'
)


def main() -> int:
    """Print the book; 1 with a sentence if something is missing."""
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, names)), None)
    single = PAGES / "book/index.html"
    if chromium is None or not single.exists():
        what = (
            "Chromium"
            if chromium is None
            else f"{single}, which make pdf builds"
        )
        print(f"The PDF needs {what}.", file=sys.stderr)
        return 1
    from playwright.sync_api import sync_playwright

    # The builder writes its links as if the page lay at the top.
    shutil.copy(single, PAGES / "single.html")
    start = time.perf_counter()
    with _served(PAGES) as address, sync_playwright() as playwright:
        flags = [f"--{flag}" for flag in FLAGS.split()]
        browser = playwright.chromium.launch(
            executable_path=chromium, args=flags
        )
        page = browser.new_page(color_scheme="light")
        page.set_default_timeout(
            3_600_000
        )  # thousands of formulas on a busy machine
        page.goto(f"{address}/single.html", wait_until="load")
        page.evaluate("() => window.MathJax.startup.promise")
        page.emulate_media(media="print")
        page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
        page.pdf(
            path=str(PDF),
            format="A4",
            margin={
                "top": "16mm",
                "bottom": "18mm",
                "left": "17mm",
                "right": "17mm",
            },
            print_background=True,
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=FOOTER,
            outline=True,
            tagged=True,
        )
        browser.close()
    size = PDF.stat().st_size / 1e6
    print(f"{PDF} ({size:.0f} MB, {time.perf_counter() - start:.0f} s)")
    return 0


class _served:
    """Serve a folder on this machine while the block runs."""

    def __init__(self, folder: Path):
        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *args):
                pass

        handler = functools.partial(Quiet, directory=folder)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)

    def __enter__(self) -> str:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __exit__(self, *_) -> None:
        self.server.shutdown()


if __name__ == "__main__":
    sys.exit(main())
