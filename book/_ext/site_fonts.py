"""Serve the book's type with the book, so that every reader sees the same letters and signs.

Text is set in Source Serif, what surrounds it in Source Sans, code in DejaVu Sans Mono, which has
every accent, index and arrow that the code and its output use; DejaVu Sans lends the signs that
the text faces lack (✍, ↦, ᵀ). All come inside installed packages. What the book needs of them is
cut out when it is built: a tenth of their weight, and no font is kept in the repository. Two
faults are mended on the way: signs drawn into the next letter, and accents behind Greek letters.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from fontTools import subset
from fontTools.pens.boundsPen import BoundsPen
from fontTools.ttLib import TTFont, newTable
from fontTools.ttLib.tables import otTables
from fontTools.ttLib.tables._g_l_y_f import USE_MY_METRICS
from fontTools.ttLib.tables.ttProgram import Program

SERIF, SANS = "font_source_serif_pro/files", "font_source_sans_pro/files"
DEJAVU = "matplotlib/mpl-data/fonts/ttf"
FACES = {  # the names that book.css uses
    "serif": f"{SERIF}/SourceSerifPro-Regular.ttf",
    "serif-italic": f"{SERIF}/SourceSerifPro-It.ttf",
    "serif-bold": f"{SERIF}/SourceSerifPro-Semibold.ttf",
    "serif-bold-italic": f"{SERIF}/SourceSerifPro-SemiboldIt.ttf",
    "sans": f"{SANS}/SourceSansPro-Regular.ttf",
    "sans-italic": f"{SANS}/SourceSansPro-It.ttf",
    "sans-bold": f"{SANS}/SourceSansPro-Semibold.ttf",
    "mono": f"{DEJAVU}/DejaVuSansMono.ttf",
    "mono-bold": f"{DEJAVU}/DejaVuSansMono-Bold.ttf",
    "signs": f"{DEJAVU}/DejaVuSans.ttf",
}
GREEK = range(0x3B1, 0x3CA)
ACCENTS = range(0x302, 0x305)  # hat, tilde, bar
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


def keep_widths(font: TTFont) -> None:
    """Give each letter the width that its designer wrote down, also where there are no hints.

    Source Serif has none. FreeType then makes up its own, and widths with them, unless a program
    stands where hints are prepared: this one does nothing. And many composed signs, such as % and
    quotation marks, tell it to take the width of one of their parts, a mere stroke.
    """
    if "glyf" not in font or "fpgm" in font:
        return
    program = Program()
    program.fromAssembly(["PUSHB[ ]", "0", "POP[ ]"] * 3)
    font["prep"] = newTable("prep")
    font["prep"].program = program
    font["maxp"].maxStackElements = max(font["maxp"].maxStackElements, 1)
    for name in font["glyf"].keys():  # noqa: SIM118, it is no dict
        for part in getattr(font["glyf"][name], "components", []):
            part.flags &= ~USE_MY_METRICS


def accent_greek(font: TTFont) -> None:
    """Let accents stand on small Greek letters as on "o": above the middle, and as near.

    The faces know where an accent stands on x and K, but not on λ or φ, and draw it behind them.
    """
    glyphs, signs = font.getGlyphSet(), font.getBestCmap()

    def bounds(glyph: str) -> tuple[float, float, float, float]:
        pen = BoundsPen(glyphs)
        glyphs[glyph].draw(pen)
        return pen.bounds

    accents = {signs[code] for code in ACCENTS if code in signs}
    letters = [signs[code] for code in GREEK if code in signs]
    model = signs[ord("o")]
    for lookup in font["GPOS"].table.LookupList.Lookup:
        for table in lookup.SubTable:
            table = getattr(table, "ExtSubTable", table)
            if not isinstance(table, otTables.MarkBasePos):
                continue
            bases = dict(
                zip(
                    table.BaseCoverage.glyphs,
                    table.BaseArray.BaseRecord,
                    strict=True,
                )
            )
            marks = accents & set(table.MarkCoverage.glyphs)
            if not marks or model not in bases:
                continue
            places = table.MarkCoverage.glyphs
            kind = table.MarkArray.MarkRecord[places.index(marks.pop())].Class
            above = bases[model].BaseAnchor[kind].YCoordinate - bounds(model)[3]
            for letter in letters:
                if letter in bases:
                    continue
                left, _, right, top = bounds(letter)
                anchor = otTables.Anchor()
                anchor.Format = 1
                anchor.XCoordinate = round((left + right) / 2)
                anchor.YCoordinate = round(top + above)
                bases[letter] = otTables.BaseRecord()
                bases[letter].BaseAnchor = [None] * table.ClassCount
                bases[letter].BaseAnchor[kind] = anchor
            order = sorted(bases, key=font.getGlyphID)
            table.BaseCoverage.glyphs = order
            table.BaseArray.BaseRecord = [bases[glyph] for glyph in order]
            table.BaseArray.BaseCount = len(order)


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
        keep_widths(font)
        accent_greek(font)
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
