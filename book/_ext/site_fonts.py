"""Serve the book's type with the book, so that every reader sees the same letters and signs.

Text is set in Source Serif, what surrounds it in Source Sans, code in DejaVu Sans Mono, which has
every accent, index and arrow that the code and its output use; DejaVu Sans lends the signs that
the text faces lack (✍, ↦, ᵀ). All come inside installed packages. What the book needs of them is
cut out when it is built: a tenth of their weight, and no font is kept in the repository. Of Source
Serif the OpenType files are taken: the TrueType ones have no hints, and browsers on Linux, which
then make up their own, draw % and quotation marks into the next letter.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from fontTools import subset

SERIF, SANS = "font_source_serif_pro/files", "font_source_sans_pro/files"
DEJAVU = "matplotlib/mpl-data/fonts/ttf"
FACES = {  # the names that book.css uses
    "serif": f"{SERIF}/SourceSerifPro-Regular.otf",
    "serif-italic": f"{SERIF}/SourceSerifPro-It.otf",
    "serif-bold": f"{SERIF}/SourceSerifPro-Semibold.otf",
    "serif-bold-italic": f"{SERIF}/SourceSerifPro-SemiboldIt.otf",
    "sans": f"{SANS}/SourceSansPro-Regular.ttf",
    "sans-italic": f"{SANS}/SourceSansPro-It.ttf",
    "sans-bold": f"{SANS}/SourceSansPro-Semibold.ttf",
    "mono": f"{DEJAVU}/DejaVuSansMono.ttf",
    "mono-bold": f"{DEJAVU}/DejaVuSansMono-Bold.ttf",
    "signs": f"{DEJAVU}/DejaVuSans.ttf",
}
LETTERS = [*range(0x20, 0x7F), *range(0xA0, 0x180)]
SIGNS = [
    *range(0x2C6, 0x2DE),  # accents
    *range(0x300, 0x30D),
    *range(0x370, 0x400),  # Greek
    *range(0x1D2C, 0x1D6B),  # raised and lowered letters
    *range(0x2010, 0x20AD),  # punctuation, raised and lowered digits
    *range(0x2100, 0x2140),
    *range(0x2190, 0x2400),  # arrows, operators, ⌨
    *range(0x2500, 0x2600),
    *range(0x2610, 0x2620),
    *range(0x2700, 0x27C0),  # ✍ ✓ ✗
    *range(0x27E8, 0x27EC),
    0x2C7C,  # ⱼ
]


def packaged(path: str) -> Path:
    """Return the file ``package/…`` of an installed package, without importing it."""
    package, _, rest = path.partition("/")
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(
            f"{package} is not installed: pip install -r requirements.txt"
        )
    return Path(spec.origin).parent / rest


def write_fonts(app, exception) -> None:
    """Cut out the faces that are missing in the built book."""
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir, "_static/fonts")
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in FACES.items():
        target = folder / f"{name}.woff"
        if target.exists():
            continue
        signs_only = name == "signs"
        options = subset.Options(
            flavor="woff", layout_features=["kern", "liga", "mark", "ccmp"]
        )
        font = subset.load_font(str(packaged(path)), options)
        cutter = subset.Subsetter(options)
        cutter.populate(unicodes=SIGNS if signs_only else LETTERS + SIGNS)
        cutter.subset(font)
        subset.save_font(font, str(target), options)
    for package in (SERIF, SANS):  # the licence asks to travel with the faces
        licence = packaged(f"{package}/LICENSE.txt")
        name = f"{package.split('/')[0].removeprefix('font_')}_license.txt"
        if licence.exists():
            (folder / name).write_bytes(licence.read_bytes())


def setup(app):
    app.connect("build-finished", write_fonts)
    return {
        "version": "1",
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
