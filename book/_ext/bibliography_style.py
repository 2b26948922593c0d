"""Author–year citations, "Eckart and Young (1936)", and a bibliography whose labels read the same.

Two works of the same authors and year become 1999a and 1999b, in the text and in the list.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import sphinxcontrib.bibtex.plugin
from pybtex.database import Entry
from pybtex.plugin import register_plugin
from pybtex.style.formatting.plain import Style
from pybtex.style.labels import BaseLabelStyle
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import (
    AuthorYearReferenceStyle,
)


def authors(entry: Entry) -> str:
    """Return the names as the text cites them: one, two joined by "and", or the first et al."""
    people = entry.persons.get("author") or entry.persons.get("editor") or []
    names = [
        " ".join(
            str(part)
            for part in person.rich_prelast_names + person.rich_last_names
        )
        for person in people
    ]
    if len(names) > 2:
        return f"{names[0]} et al."
    return " and ".join(names)


class AuthorYearLabels(BaseLabelStyle):
    """Labels that read as the citations do."""

    def format_labels(self, sorted_entries: list[Entry]) -> Iterator[str]:
        for entry in sorted_entries:
            yield f"{authors(entry)} ({entry.fields.get('year', 'undated')})"


class BookStyle(Style):
    """Entries sorted by author and year, with those labels."""

    default_label_style = AuthorYearLabels
    default_sorting_style = "author_year_title"


def _round() -> BracketStyle:
    return BracketStyle(left="(", right=")")


@dataclass
class RoundBrackets(AuthorYearReferenceStyle):
    """Citations with the year in round brackets."""

    bracket_textual: BracketStyle = field(default_factory=_round)
    bracket_parenthetical: BracketStyle = field(default_factory=_round)


def tell_apart(app) -> None:
    """Add a letter to the years of works that would be cited in the same words."""
    entries = app.env.get_domain("cite").bibdata.data.entries
    same = defaultdict(list)
    for key, entry in entries.items():
        year = re.sub(r"(?<=\d)[a-z]$", "", entry.fields.get("year", ""))
        same[authors(entry), year].append(key)
    for (_, year), keys in same.items():
        if len(keys) > 1 and year[-1:].isdigit():
            for letter, key in zip("abcdefghij", keys, strict=False):
                entries[key].fields["year"] = year + letter


def setup(app):
    register_plugin("pybtex.style.formatting", "book", BookStyle)
    sphinxcontrib.bibtex.plugin.register_plugin(
        "sphinxcontrib.bibtex.style.referencing", "book", RoundBrackets
    )
    app.connect("builder-inited", tell_apart, priority=900)  # when it is read
    return {
        "version": "1",
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
