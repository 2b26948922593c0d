"""Give the download button a notebook that reads well in plain Jupyter and Colab.

The book's notebooks carry MyST directives and roles, which plain Jupyter shows as they are. When
the book has been built, the copies that readers download are rewritten as ordinary Markdown:
theorems become bold titles with their numbers, references become the numbers that the book shows,
and the caption of a figure, which the notebook keeps in the cell's metadata, stands below it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

from docutils import nodes

FENCE = re.compile(r"^:::+\{(?P<kind>[\w:-]+)\}[ \t]*(?P<title>.*)$")
OPTION = re.compile(r"^:(?P<key>[\w-]+):[ \t]*(?P<value>.*)$")
NUMBERED = re.compile(r"\$\$(?P<tex>[^$]+)\$\$\s*\((?P<label>eq-[\w-]+)\)")
ROLE = re.compile(r"\{(?P<name>[\w:]+)\}`(?P<text>[^`]+)`")
LINK = re.compile(
    r'<a class="reference internal"[^>]*href="[^"#]*#([^"]+)"[^>]*>(.*?)</a>',
    re.S,
)
TARGET = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)


def plain_markdown(text: str, resolve: Callable[[str, str], str]) -> str:
    """Turn MyST into Markdown; ``resolve(role, target)`` gives what a reference reads as."""
    text = TARGET.sub("", text)
    text = _unfence(text, resolve)
    text = NUMBERED.sub(lambda m: _tagged(m, resolve), text)
    return ROLE.sub(lambda m: _role(m, resolve), text)


def _unfence(text: str, resolve: Callable[[str, str], str]) -> str:
    """Replace each colon-fenced directive by its title in bold and its content."""
    lines, out = iter(text.split("\n")), []
    for line in lines:
        if match := FENCE.match(line):
            options: dict[str, str] = {}
            line = next(lines, "")
            while option := OPTION.match(line):
                options[option["key"]] = option["value"]
                line = next(lines, "")
            out += [
                _title(
                    match["kind"],
                    match["title"],
                    options.get("label", ""),
                    resolve,
                ),
                "",
            ]
            if line.strip(": ") or not line.startswith(":::"):
                out.append(line)
        elif re.fullmatch(r":::+", line):
            out.append("")
        else:
            out.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out))


def _title(
    kind: str, title: str, label: str, resolve: Callable[[str, str], str]
) -> str:
    if kind == "prf:proof":
        return f"*Proof{' ' + title if title else ''}.*"
    if kind in ("admonition", "dropdown"):
        return f"**{title}**"
    name = kind.removeprefix("prf:").capitalize()
    if label:
        name = resolve("prf:ref" if kind.startswith("prf:") else "ref", label)
    return f"**{name}{f' ({title})' if title else ''}.**"


def _tagged(match: re.Match, resolve: Callable[[str, str], str]) -> str:
    number = resolve("eq", match["label"]).strip("()")
    return f"$${match['tex'].rstrip()} \\tag{{{number}}}$$"


def _role(match: re.Match, resolve: Callable[[str, str], str]) -> str:
    text, target = match["text"], match["text"]
    if explicit := re.fullmatch(r"(.+?)\s*<([^>]+)>", text):
        if match["name"] == "numref":  # "Fig. %s <fig-a>"
            number = resolve("numref", explicit[2]).split(" ")[-1]
            return re.sub(r"%s|\{number\}", number, explicit[1])
        return explicit[1]
    if match["name"].startswith("py:"):
        return f"`{target.lstrip('~').split('.')[-1]}`"
    return resolve(match["name"], target)


def _resolver(
    app, docname: str, shown: dict[str, str]
) -> Callable[[str, str], str]:
    domain = app.env.get_domain("math")

    def resolve(role: str, target: str) -> str:
        if role == "eq" and target in domain.equations:
            equation_page, _ = domain.equations[target]
            return _equation_number(app, equation_page, target)
        if role == "numref" and target not in shown:
            return _figure_number(app, docname, target)
        if role.startswith("cite"):
            return _citation(app, target, textual=role == "cite:t")
        if role == "doc":
            page = target.lstrip("/")
            return (
                app.env.titles[page].astext()
                if page in app.env.titles
                else page
            )
        return shown.get(target, target)

    return resolve


def _equation_number(app, page: str, label: str) -> str:
    figures = app.env.toc_fignumbers.get(page, {}).get("displaymath", {})
    number = figures.get(f"equation-{label}", ())
    return (
        f"({'.'.join(str(part) for part in number)})"
        if number
        else f"({label})"
    )


def _figure_number(app, page: str, name: str) -> str:
    """Return "Figure 3.2", or the bare name where the page has no such figure."""
    numbers = app.env.toc_fignumbers.get(page, {}).get("figure", {})
    number = numbers.get(nodes.make_id(name), ())
    text = ".".join(str(part) for part in number)
    return app.config.numfig_format["figure"] % text if text else name


def with_captions(
    cells: list[dict],
    number: Callable[[str], str],
    resolve: Callable[[str, str], str],
) -> list[dict]:
    """Return the cells with each figure's caption, as text, below the cell that draws it."""
    out = []
    for cell in cells:
        out.append(cell)
        figure = cell["metadata"].get("mystnb", {}).get("figure", {})
        if cell["cell_type"] == "code" and figure.get("caption"):
            caption = plain_markdown(figure["caption"], resolve)
            out.append(
                {
                    "cell_type": "markdown",
                    "id": f"{cell.get('id', 'cell')}-caption",
                    "metadata": {},
                    "source": [
                        f"**{number(figure.get('name', ''))}.** {caption}"
                    ],
                }
            )
    return out


def _citation(app, keys: str, textual: bool) -> str:
    """Return 'Name and Name (year)' for each key, as the book's author–year style does."""
    entries = app.env.get_domain("cite").bibdata.data.entries
    out = []
    for key in keys.split(","):
        if key.strip() not in entries:  # the build has warned of it
            out.append(key.strip())
            continue
        entry = entries[key.strip()]
        names = [
            " ".join(person.last_names)
            for person in entry.persons.get("author", [])
        ]
        who = (
            " and ".join(names) if len(names) < 3 else f"{names[0]} and others"
        )
        year = entry.fields.get("year", "")
        out.append(f"{who} ({year})" if textual else f"{who}, {year}")
    return "; ".join(out) if textual else f"({'; '.join(out)})"


def write_plain_copies(app, exception) -> None:
    """Rewrite the notebooks that the download button serves."""
    if exception or app.builder.name != "html":
        return
    for path in Path(app.outdir, "_sources").rglob("*.ipynb"):
        docname = (
            path.relative_to(Path(app.outdir, "_sources"))
            .with_suffix("")
            .as_posix()
        )
        source = Path(app.srcdir, docname + ".ipynb")
        if not source.exists():  # a chapter that an earlier build had
            path.unlink()
            continue
        notebook = json.loads(source.read_text("utf8"))
        resolve = _resolver(app, docname, _link_texts(app, docname))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                text = plain_markdown("".join(cell["source"]), resolve)
                cell["source"] = text.splitlines(keepends=True)
        notebook["cells"] = with_captions(
            notebook["cells"],
            lambda name, page=docname: _figure_number(app, page, name),
            resolve,
        )
        path.write_text(
            json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf8"
        )


def _link_texts(app, docname: str) -> dict[str, str]:
    """Return {target: text} of the links in one finished page, numbers filled in."""
    page = Path(app.outdir, f"{docname}.html").read_text("utf8")
    texts: dict[str, str] = {}
    for target, inside in LINK.findall(page):
        if text := unescape(re.sub(r"<[^>]+>", "", inside)).strip():
            texts.setdefault(target, text)
    return texts


def setup(app):
    app.connect("build-finished", write_plain_copies)
    return {"version": "1", "parallel_read_safe": True}
