"""The landing page: four opening pictures, and a card for each chapter, made from the notebooks.

A card shows what the chapter's own notebook holds: its first figure, small, the minutes that it
takes and what the reader will be able to do. The figures are written to ``_static/cards`` when the
book has been built: photographs and plots as WebP of 640 pixels, drawings as the SVG they are.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from html import escape
from itertools import groupby
from pathlib import Path

from contents import ROOT, Chapter, Picture, chapters
from docutils import nodes
from docutils.statemachine import StringList
from PIL import Image
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

HEAVIEST = 200_000  # bytes of a card's picture
PIXELS = 640  # width of a card's picture: twice what is shown
HOME = "book/index"
PDF = ROOT / "_build/principal-components.pdf"  # made by print_book.py
OPENING = [  # file, verb, sentence, where it leads, words for who can't see it
    (
        "compress.webp",
        "Compress",
        "A picture as a sum of a few terms.",
        "01_svd",
        "A flower in four bands; from left to right it is the sum of 2, of 6 and of 20 terms and"
        " the whole photograph, and becomes sharper and sharper",
    ),
    (
        "see.svg",
        "See",
        "Digits of 64 pixels, on one plane.",
        "03_pca",
        "Handwritten digits as points of a plane; noughts, fours, sixes and sevens form four"
        " groups",
    ),
    (
        "clean.svg",
        "Denoise",
        "Noisy points, led back to a curve.",
        "09_preimages",
        "Grey points scattered about a spiral; short lines lead from each to a blue point on a"
        " thin curve",
    ),
    (
        "explain.svg",
        "Explain",
        "Thirteen loadings, or the six that count.",
        "10_sparse_pca",
        "Two rows of bars: above thirteen loadings of a principal component, below the six of a"
        " sparse one",
    ),
]


class OpeningPictures(SphinxDirective):
    """Show four things that the book is for, each linked to its chapter if that is there."""

    def run(self) -> list[nodes.Node]:
        there = {chapter.stem: chapter for chapter in chapters()}
        tiles = []
        for file, verb, sentence, stem, alt in OPENING:
            photo = ' class="photo"' if file.endswith("webp") else ""
            if stem in there:
                verb = f'<a href="{stem}.html">{verb}</a>'
            tiles.append(
                f'<li><img src="../_static/opening/{file}" alt="{escape(alt)}"'
                f' width="360" height="270"{photo}>'
                f"<p><strong>{verb}</strong> {sentence}</p></li>"
            )
        html = f'<ul class="opening-pictures">{"".join(tiles)}</ul>'
        return [nodes.raw("", html, format="html")]


class PdfLink(SphinxDirective):
    """Link to the book as one PDF, where ``make pdf`` has made it."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(PDF))
        if not PDF.exists():
            return []
        size = PDF.stat().st_size / 1e6
        link = (
            f'<a href="../_static/{PDF.name}">one PDF</a> ({size:.0f}&nbsp;MB)'
        )
        return [
            nodes.raw(
                "",
                f'<p class="pdf-link">To print or to keep: the whole book as {link}.</p>',
                format="html",
            )
        ]


class ChapterCards(SphinxDirective):
    """Write a card for every chapter of the contents, under the name of its part."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(ROOT / "_toc.yml"))
        out: list[nodes.Node] = []
        for part, group in groupby(chapters(), key=lambda c: c.part):
            title = f'<p class="cards-part">{escape(part)}</p>'
            out.append(nodes.raw("", title, format="html"))
            cards = nodes.bullet_list(classes=["chapter-cards"])
            cards += [self.card(chapter) for chapter in group]
            out.append(cards)
        return out

    def card(self, chapter: Chapter) -> nodes.list_item:
        self.env.note_dependency(str(chapter.path))
        box = nodes.list_item(classes=["chapter-card"])
        file, picture = card_picture(chapter)
        photo = ' class="photo"' if picture and picture.photo else ""
        image = (
            f'<img src="../_static/cards/{file}" alt="A figure of chapter {chapter.number}"'
            f' decoding="async"{photo}>'
            if picture
            else ""
        )
        head = (
            f'<div class="card-picture">{image}</div>'
            f'<p class="card-title"><a href="{chapter.stem}.html">'
            f'<span class="card-number">{chapter.number}</span> {escape(chapter.title)}</a></p>'
        )
        box += nodes.raw("", head, format="html")
        goals = [f"- {goal}" for goal in chapter.goals[:2]]
        self.state.nested_parse(StringList(goals, chapter.page), 0, box)
        if chapter.minutes:
            time = f'<p class="card-time">{chapter.minutes} minutes</p>'
            box += nodes.raw("", time, format="html")
        return box


@cache
def card_picture(chapter: Chapter) -> tuple[str, Picture | None]:
    """Return the card's picture and its file's name: the first figure that is light enough."""
    smallest = None
    for picture in chapter.pictures:
        light = _lighter(picture)
        if len(light.data) <= HEAVIEST:
            return f"{chapter.stem}.{light.kind}", light
        if smallest is None or len(light.data) < len(smallest.data):
            smallest = light
    name = f"{chapter.stem}.{smallest.kind}" if smallest else ""
    return name, smallest


def _lighter(picture: Picture) -> Picture:
    if picture.kind == "svg":
        data = slim_svg(picture.data.decode()).encode()
        return Picture("svg", data, picture.alt, picture.photo)
    image = Image.open(io.BytesIO(picture.data)).convert("RGB")
    if image.width > PIXELS:
        height = round(image.height * PIXELS / image.width)
        image = image.resize((PIXELS, height), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    image.save(out, "WEBP", quality=82)
    return Picture("webp", out.getvalue(), picture.alt, picture.photo)


def slim_svg(text: str) -> str:
    """Take out of matplotlib's SVG what a small picture doesn't need: notes and far decimals."""
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"^<\?xml.*?\?>\s*|<!DOCTYPE.*?>\s*", "", text, flags=re.S)
    text = re.sub(r"(?<![\d.])([1-9]\d*\.\d{2})\d+", r"\1", text)
    return re.sub(r">\s+<", "><", text)


def start_drawing(app, env, docnames) -> None:
    """Draw the opening pictures in a process beside the build, unless nothing has changed."""
    app.opening_pictures = None
    if app.builder.format != "html" or HOME not in env.found_docs:
        return
    folder = Path(app.outdir, "_static", "opening")
    script = Path(__file__).with_name("opening_pictures.py")
    sources = [script, *sorted((ROOT / "kpca_edu").rglob("*.py"))]
    state = hashlib.sha256(
        b"".join(p.read_bytes() for p in sources)
    ).hexdigest()
    stamp = folder / "state.txt"
    if stamp.exists() and stamp.read_text("utf8") == state:
        return
    app.opening_pictures = subprocess.Popen(
        [sys.executable, str(script), str(folder)],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    app.opening_stamp = stamp, state


def write_pictures(app, exception) -> None:
    """Write the cards' pictures, and wait for the opening ones."""
    drawing = getattr(app, "opening_pictures", None)
    if drawing is not None:
        app.opening_pictures = None
        _, errors = drawing.communicate()
        if drawing.returncode:
            last = errors.strip().splitlines()[-1:]
            logging.getLogger(__name__).warning(
                "The opening pictures could not be drawn: %s", *last
            )
        else:
            stamp, state = app.opening_stamp
            stamp.write_text(state, "utf8")
    if (
        exception
        or app.builder.format != "html"
        or HOME not in app.env.found_docs
    ):
        return
    if PDF.exists():
        shutil.copy(PDF, Path(app.outdir, "_static"))
    folder = Path(app.outdir, "_static", "cards")
    folder.mkdir(parents=True, exist_ok=True)
    for chapter in chapters():
        name, picture = card_picture(chapter)
        if picture:
            (folder / name).write_bytes(picture.data)


def setup(app):
    app.add_directive("opening-pictures", OpeningPictures)
    app.add_directive("chapter-cards", ChapterCards)
    app.add_directive("pdf-link", PdfLink)
    app.connect("env-before-read-docs", start_drawing)
    app.connect("build-finished", write_pictures)
    return {"version": "1", "parallel_read_safe": True}
