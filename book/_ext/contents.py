"""What the contents and the notebooks say about the chapters: number, title, time, first figure.

The landing page, the map, the reference and the search are made from this, so that a chapter that
is added to ``_toc.yml`` appears in all of them.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
CARD = re.compile(
    r":::+\{admonition\} This chapter\n(?P<text>.*?)\n:::+", re.DOTALL
)
MINUTES = re.compile(
    r"\*\*Time[.:]\*\*\D{0,20}(?P<minutes>\d+(?:\s*[–-]\s*\d+)?)\s+minutes"
)


@dataclass(frozen=True)
class Picture:
    """A figure as the notebook stores it: PNG or SVG, with the words for who can't see it."""

    kind: str  # "png" or "svg"
    data: bytes
    alt: str
    photo: bool  # pixels that must not be inverted in dark mode


@dataclass(frozen=True)
class Chapter:
    """A numbered chapter: its page, such as book/01_svd, its number, and its part's name."""

    page: str
    number: int
    part: str
    root: Path = ROOT

    @property
    def name(self) -> str:
        """The file's name without its number, which is the module's name: power_method."""
        return self.stem.split("_", 1)[1]

    @property
    def stem(self) -> str:
        return self.page.rsplit("/", 1)[-1]

    @property
    def path(self) -> Path:
        return self.root / f"{self.page}.ipynb"

    @cached_property
    def cells(self) -> list[dict]:
        return json.loads(self.path.read_text("utf8"))["cells"]

    @property
    def texts(self) -> Iterator[str]:
        for cell in self.cells:
            if cell["cell_type"] == "markdown":
                yield "".join(cell["source"])

    @property
    def title(self) -> str:
        first = next(self.texts)
        return re.search(r"^# (.+)$", first, re.MULTILINE)[1].strip()

    @property
    def card(self) -> str:
        """The text of the box "This chapter"; empty where there is none."""
        found = CARD.search("\n".join(self.texts))
        return found["text"] if found else ""

    @property
    def minutes(self) -> str:
        """The minutes that the card promises, as written: "75" or "60–90"."""
        found = MINUTES.search(self.card)
        return found["minutes"] if found else ""

    @property
    def goals(self) -> list[str]:
        """What the reader will be able to do: the bullets of the card, in MyST."""
        _, _, after = self.card.partition("**You will be able to**")
        bullets = after.split("**You need**")[0]
        found = re.findall(r"^[-*] (.+(?:\n  .+)*)$", bullets, re.MULTILINE)
        return [" ".join(goal.split()).rstrip(";,.") for goal in found]

    @property
    def pictures(self) -> Iterator[Picture]:
        """The figures that its cells have drawn, in order."""
        for cell in self.cells:
            about = cell["metadata"].get("mystnb", {}).get("image", {})
            photo = "photo" in cell["metadata"].get("tags", [])
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                if svg := "".join(data.get("image/svg+xml", "")):
                    kind, content = "svg", svg.encode()
                elif png := "".join(data.get("image/png", "")):
                    kind, content = "png", base64.b64decode(png)
                else:
                    continue
                yield Picture(kind, content, about.get("alt", ""), photo)


def read_contents(root: Path = ROOT) -> dict:
    """Return ``_toc.yml`` as it is written."""
    return yaml.safe_load((root / "_toc.yml").read_text("utf8"))


def chapters(root: Path = ROOT) -> list[Chapter]:
    """Return the chapters of the numbered parts, in reading order, numbered from 1."""
    found = [
        (entry["file"], part["caption"])
        for part in read_contents(root)["parts"]
        if part.get("numbered")
        for entry in part["chapters"]
    ]
    return [
        Chapter(page, number, part, root)
        for number, (page, part) in enumerate(found, 1)
        if (root / f"{page}.ipynb").exists()
    ]


def is_whole_book(app) -> bool:
    """Say whether this build is of the project's own contents, and not of single pages."""
    path = Path(app.srcdir, app.config.external_toc_path).resolve()
    return path == ROOT / "_toc.yml"


def page_title(page: str, root: Path = ROOT) -> str:
    """Return the first heading of a notebook or of a page of text."""
    path = root / f"{page}.ipynb"
    if path.exists():
        return Chapter(page, 0, "", root).title
    text = (root / f"{page}.md").read_text("utf8")
    return re.search(r"^# (.+)$", text, re.MULTILINE)[1].strip()
