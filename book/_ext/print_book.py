"""Print the whole book to one PDF: the pages of the built book, put together and printed by Chromium.

``python book/_ext/print_book.py`` (or ``make pdf``) needs ``_build/html`` and writes
``_build/principal-components.pdf``. The next ``make book`` serves it and links to it.

Each page's article is taken as it is, its folds opened and its links turned to places of the one
page. Chromium can't write the page numbers of a contents, so the book is printed twice: the first
PDF, without pictures and tags since nobody reads it, tells on which page every place is.
``--ready`` only asks whether Chromium is there, before minutes have been spent.
"""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from itertools import chain
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import urldefrag

import yaml
from bs4 import BeautifulSoup, Tag

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "_build/html"
PDF = ROOT / "_build/principal-components.pdf"
FLAGS = "no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update disable-sync"
WIDTH = 665  # of the text on A4 in pixels of the browser: 210 − 34 mm
# What belongs to the screen, and on the landing page what the contents replace.
SCREEN = (
    ".headerlink, .exercise-field, .row-filter, .pdf-link, button, input, .start,"
    " #the-chapters, script"
)
# Folded code that only a notebook needs.
NOTEBOOK = re.compile("Plot code|Imports and set-up|Your answer")
NOTE = (
    "The folds of the pages are open here, and figures that move on the pages stand still: where the"
    " text says to drag or to press, open the page. Left out are the code that only draws a figure,"
    " makes a check (✓) or loads what a notebook needs, the cells for your answers, and the names of"
    " the tests in the ledger: the notebooks and the pages have them."
)


@dataclass(frozen=True)
class Page:
    """A page of the contents: its name, such as book/01_svd, and its part's name."""

    name: str
    part: str

    @property
    def key(self) -> str:
        """What the ids of the page start with."""
        return self.name.removeprefix("book/").replace("/", "-")


def pages() -> list[Page]:
    """Return the pages of ``_toc.yml`` in order; the landing page first."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
    found = [Page(toc["root"], "")]
    for part in toc["parts"]:
        for chapter in part["chapters"]:
            entries = [chapter, *chapter.get("sections", [])]
            found += [Page(entry["file"], part["caption"]) for entry in entries]
    return found


def article(html: str, page: Page, there: dict[str, Page]) -> Tag:
    """Return what a page says, with ids, links and pictures as they must be in the one page."""
    soup = BeautifulSoup(html, "html.parser")
    body = soup.select_one("article.bd-article")
    assert body is not None, page.name
    for node in body.select(SCREEN):
        node.decompose()
    for fold in body.select("details"):
        if fold.summary and NOTEBOOK.fullmatch(heading(fold.summary)):
            fold.decompose()
        elif fold.find_parent("table"):  # the ledger's lists of tests
            fold.replace_with(heading(fold.summary))
        else:
            fold["open"] = ""
    for code in body.select("table code"):  # a long name breaks at its seams
        for text in code.find_all(string=True):
            first, *rest = re.split(r"(?<=[._])(?=\w)", text)
            seams = [(soup.new_tag("wbr"), piece) for piece in rest]
            text.replace_with(first, *chain.from_iterable(seams))
    known: set[str] = set()
    for node in body.find_all(id=True):
        if node["id"] in known:
            del node["id"]
        else:
            known.add(str(node["id"]))
    for node in body.find_all(True):
        for name in ("id", "for", "aria-labelledby", "aria-describedby"):
            if node.get(name):
                words = str(node[name]).split()
                node[name] = " ".join(f"{page.key}--{word}" for word in words)
        for name in ("fill", "stroke", "marker-end", "clip-path", "mask"):
            if "url(#" in str(node.get(name, "")):
                node[name] = str(node[name]).replace("#", f"#{page.key}--")
        if node.get("src"):
            node["src"] = normpath(join(dirname(page.name), str(node["src"])))
        if node.name == "img":
            node.attrs.pop("loading", None)
        if node.get("href"):
            turn_link(node, page, there)
    body["id"] = f"page-{page.key}"
    if body.h1:  # the place of a page: its article may begin at the foot of the page before
        body.h1["id"] = page.key
    return body


def turn_link(link: Tag, page: Page, there: dict[str, Page]) -> None:
    """Let a link lead to a place of the one page, or to the web; else only its words stay."""
    address = str(link["href"])
    if re.match(r"[a-z]+:", address):
        return
    path, place = urldefrag(address)
    target = page
    if path:
        name = normpath(join(dirname(page.name), path)).removesuffix(".html")
        if name not in there:
            link.attrs.pop("href")
            return
        target = there[name]
    link["href"] = f"#{target.key}--{place}" if place else f"#{target.key}"


def together() -> str:
    """Return the book as one page of HTML."""
    listed = pages()
    there = {page.name: page for page in listed}
    html = [(PAGES / f"{page.name}.html").read_text("utf8") for page in listed]
    bodies = [article(*each, there) for each in zip(html, listed, strict=True)]
    head = BeautifulSoup(html[1], "html.parser").head
    assert head is not None
    styles = [str(s["href"]) for s in head.select("link[rel=stylesheet]")]
    links = "".join(
        f'<link rel="stylesheet" href="{normpath(join("book", href))}">'
        for href in styles
    )
    math = "".join(
        str(s).replace('src="../', 'src="')
        for s in head.find_all("script")
        if "mathjax" in str(s).lower() or "page.js" in str(s)
    )
    inner, part, rules, entries = [], "", [STYLE], []
    for number, (page, body) in enumerate(zip(listed, bodies, strict=True)):
        title = heading(body.find("h1"))
        if page.part != part:
            part = page.part
            entries.append(f'<p class="print-part">{escape(part)}</p>')
            body.insert(
                0,
                BeautifulSoup(
                    f'<p class="print-part">{escape(part)}</p>', "html.parser"
                ),
            )
        if page.part:
            module = page.key.startswith("api-") and page.key != "api-index"
            kind = "print-section" if module else "print-chapter"
            entries.append(entry(page.key, title, kind))
            if re.match(r"\d", title):
                sections = body.select("section > section > h2")
                entries += [
                    entry(str(h.parent["id"]), heading(h), "print-section")
                    for h in sections
                    if h.parent and h.parent.get("id")
                ]
            name = "papi" if page.name.startswith("book/api/") else f"p{number}"
            if name == "papi":
                title = "The library"
            words = title.replace("\\", "").replace('"', "”")
            rules.append(
                f'@page {name} {{ @top-right {{ content: "{words}"; }} }}'
                f" #page-{page.key} {{ page: {name}; }}"
            )
        inner.append(str(body))
    contents = (
        '<article class="bd-article" id="print-contents"><h1>Contents</h1>'
        f"<div>{''.join(entries)}</div><p>{NOTE}</p></article>"
    )
    inner[0] = inner[0].removesuffix("</article>") + imprint() + "</article>"
    inner.insert(1, contents)
    return (
        '<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head>'
        f'<meta charset="utf-8"><title>{escape(heading(bodies[0].find("h1")))}</title>'
        f"{links}{math}<style>{''.join(rules)}</style></head><body>"
        '<div class="bd-main"><div class="bd-content"><div class="bd-article-container">'
        f"{''.join(inner)}</div></div></div></body></html>"
    )


def imprint() -> str:
    """Return who wrote the book and what one may do with it, as the foot of every page says."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))
    who = escape(f"{config['author']}, {config['copyright']}")
    return f'<div class="print-imprint"><p>{who}.</p>{config["html"]["extra_footer"]}</div>'


def heading(node: Tag | None) -> str:
    return " ".join(node.get_text().split()) if node else ""


def entry(place: str, title: str, kind: str) -> str:
    return (
        f'<a class="{kind}" href="#{escape(place)}"><span>{escape(title)}</span>'
        f'<span class="print-number" data-place="{escape(place)}"></span></a>'
    )


STYLE = """
@page { size: A4; margin: 20mm 17mm 18mm;
  @top-right { font: 8pt "Book Sans", sans-serif; color: #555; }
  @bottom-center { content: counter(page); font: 8pt "Book Sans", sans-serif; color: #555; } }
@page :first { @bottom-center { content: none; } }
body { background: white; }
article.bd-article { break-before: page; padding: 0 !important; }
article.bd-article:first-child { break-before: auto; }
.bd-main .bd-content .bd-article h1:first-of-type { display: block; margin: 0 0 1rem; }
article.bd-article { font-size: 10pt; line-height: 1.45; }
article.bd-article :is(p, ul, ol, pre, dl, table) { margin-bottom: 0.6em; }
article.bd-article dd { margin-bottom: 0.3em; }
article.bd-article table { font-size: 8.5pt; line-height: 1.35; }
article.bd-article table:is(.ledger, .api-names, .agreement) { font-size: 8.5pt; }
article.bd-article :is(th, td) { padding: 0.2em 0.5em !important; }
article.bd-article h2 { margin-top: 1.3em; }
article[id^="page-api-"]:not(#page-api-index) { break-before: auto; margin-top: 2.5em; font-size: 9pt; }
article[id^="page-api-"]:not(#page-api-index) h1 { font-size: 15pt; margin-bottom: 0.5em !important; }
article[id^="page-api-"]:not(#page-api-index) h2 { font-size: 13pt; }
article[id^="page-api-"] dl.py { margin-bottom: 0.9em; }
#page-index h1 { margin-top: 4cm !important; }
#page-architecture svg { max-height: 9.5cm; }
#page-summary_sheet { font-size: 7.5pt; line-height: 1.3; }
#page-summary_sheet table { font-size: 1em; line-height: 1.25; width: 100%; }
#page-summary_sheet :is(h1, h2) { font-size: 1.5em; margin: 0.6em 0 0.3em !important; }
#page-summary_sheet mjx-container { font-size: 1em !important; }
.print-imprint { margin-top: 3em; font-size: 9pt; color: #555; }
.bd-article-container { padding: 0 1px !important; } /* else the edge of a box is cut off */
#page-glossary { font-size: 9pt; }
.print-part { font-size: 0.9rem; font-weight: 600; color: #555; margin: 0 0 0.6rem; }
#print-contents > div { columns: 2; column-gap: 2.2rem; font-size: 8.5pt; line-height: 1.45; }
#print-contents .print-part { margin: 0.9em 0 0.3em; font-size: 9pt; break-after: avoid; }
#print-contents a { display: flex; gap: 0.6em; justify-content: space-between; break-inside: avoid; }
#print-contents .print-chapter { font-weight: 600; margin-top: 0.35em; }
#print-contents .print-section { padding-left: 1.2em; }
#print-contents > p { margin-top: 1.5em; }
.print-number { font-variant-numeric: tabular-nums; }
"""


# A picture that is high has more height; a formula that is still too wide is set smaller.
FIT = """() => {
    for (const picture of document.querySelectorAll("figure img")) {
        const shape = picture.naturalHeight / picture.naturalWidth;
        if (shape > 0.95) picture.style.maxHeight = shape > 1.3 ? "15cm" : "10.5cm";
    }
    const wide = [...document.querySelectorAll("td mjx-container, mjx-container[display]")]
        .map(node => [node, node.clientWidth, node.firstElementChild.getBoundingClientRect().width])
        .filter(([, room, width]) => room && width > room + 1);
    for (const [node, room, width] of wide) {
        const size = parseFloat(getComputedStyle(node).fontSize) * 0.98 * room / width;
        node.style.setProperty("font-size", `${size}px`, "important");
    }
}"""


def starts(pdf: bytes) -> dict[str, int]:
    """Return the page on which each named place of a PDF of Chromium is."""
    objects = {
        int(m[1]): m[2]
        for m in re.finditer(rb"(\d+) 0 obj\s*(.*?)\s*endobj", pdf, re.S)
    }
    order: list[int] = []

    def walk(number: int) -> None:
        kids = re.search(rb"/Kids\s*\[([^\]]*)\]", objects[number])
        if kids is None:
            order.append(number)
            return
        for kid in re.findall(rb"(\d+) 0 R", kids[1]):
            walk(int(kid))

    catalog = next(o for o in objects.values() if b"/Type /Catalog" in o)
    root = re.search(rb"/Pages (\d+) 0 R", catalog)
    assert root is not None
    walk(int(root[1]))
    place = re.compile(rb"/([^\s/\[\]()<>]+)\s*\[(\d+) 0 R\s*/XYZ")
    number = {page: i + 1 for i, page in enumerate(order)}
    return {
        m[1].decode(): number[int(m[2])]
        for o in objects.values()
        for m in place.finditer(o)
        if int(m[2]) in number and m[1] != b"Dest"  # that is the outline's
    }


@contextmanager
def step(words: str) -> Iterator[None]:
    """Say what begins, then a dot every ten seconds while it lasts, and the seconds that it took."""
    print(f"   {words} ", end="", flush=True)
    start, over = time.perf_counter(), threading.Event()

    def dots() -> None:
        while not over.wait(10):
            print(".", end="", flush=True)

    ticking = threading.Thread(target=dots, daemon=True)
    ticking.start()
    try:
        yield
    finally:
        over.set()
        ticking.join()
        print(f" {time.perf_counter() - start:.0f} s", flush=True)


def main() -> int:
    """Print the book; 1 with a sentence that says what to do if something is missing or fails."""
    names = "chromium chromium-browser google-chrome google-chrome-stable"
    chromium = next(filter(None, map(shutil.which, names.split())), None)
    if chromium is None:
        return failed(
            "Chromium prints the PDF, and this machine has none. Install Chromium or Google Chrome"
            " (Debian and Ubuntu: apt install chromium) and run make pdf again."
        )
    if "--ready" in sys.argv:
        return 0
    if not (PAGES / "book/index.html").exists():
        return failed(f"{PAGES} has no book yet: run make book first.")
    from playwright.sync_api import Error

    try:
        data = printed(chromium)
    except Error as error:
        return failed(
            f"Chromium could not print the book: {error.message.splitlines()[0]}\nIt needs about"
            " 3 GB of free memory. Close other programs and run make pdf again."
        )
    PDF.write_bytes(data)
    many = len(re.findall(rb"/Type /Page\b", data))
    print(f"The PDF is ready: {PDF} ({many} pages, {len(data) / 1e6:.1f} MB)")
    return 0


def failed(words: str) -> int:
    print(words, file=sys.stderr)
    return 1


def printed(chromium: str) -> bytes:
    """Return the PDF of the book, with page numbers in its contents."""
    from playwright.sync_api import sync_playwright

    with step("putting the pages of the book together"):
        book = together()
    with _served(PAGES, book) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=[f"--{flag}" for flag in FLAGS.split()],
        )
        tab = browser.new_page(
            color_scheme="light", viewport={"width": WIDTH, "height": 1000}
        )
        tab.set_default_timeout(3_600_000)  # thousands of formulas
        tab.emulate_media(media="print")
        with step("typesetting thousands of formulas (one to three minutes)"):
            tab.goto(f"{address}/print.html", wait_until="load")
            tab.evaluate("() => window.MathJax.startup.promise")
            tab.evaluate("() => document.fonts.ready")
            tab.wait_for_timeout(3000)  # page.js breaks formulas too wide
            tab.evaluate(FIT)
        with step("finding the page of each section (a minute)"):
            draft = tab.add_style_tag(content="img, svg { visibility: hidden }")
            known = numbered(tab, starts(tab.pdf(prefer_css_page_size=True)))
            draft.evaluate("node => node.remove()")
        for _ in range(2):  # once more if the numbers have moved anything
            with step("printing (a minute or two)"):
                data = tab.pdf(
                    prefer_css_page_size=True,
                    print_background=True,
                    outline=True,
                    tagged=True,
                )
            found, known = known, starts(data)
            if found == known:
                break
            numbered(tab, known)
        browser.close()
    return data


def numbered(tab, known: dict[str, int]) -> dict[str, int]:
    """Write the numbers of pages into the contents."""
    tab.evaluate(
        """known => document.querySelectorAll(".print-number").forEach(node => {
            node.textContent = known[node.dataset.place] ?? "";
        })""",
        known,
    )
    return known


class _served:
    """Serve a folder on this machine while the block runs, and one more page: print.html."""

    def __init__(self, folder: Path, single: str):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/print.html":
                    self.send_response(200)
                    self.send_header("Content-Type", "text/html; charset=utf-8")
                    self.end_headers()
                    self.wfile.write(single.encode())
                else:
                    super().do_GET()

            def log_message(self, *args):
                pass

        handler = functools.partial(Handler, directory=folder)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)

    def __enter__(self) -> str:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __exit__(self, *_) -> None:
        self.server.shutdown()


if __name__ == "__main__":
    sys.exit(main())
