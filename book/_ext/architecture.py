"""The page on the architecture: who imports whom, read from the code when the book is built."""

from __future__ import annotations

import ast
from pathlib import Path

from diagram import Box, draw
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

PACKAGE = Path(__file__).resolve().parents[2] / "kpca_edu"
# What chapters and tools share; they are no step of the story and would blur the picture.
ASIDE = {"__init__", "datasets", "figures"}
PATH = [  # what happens to the data in fit_kernel_pca, in order
    ("samples X", "and a kernel"),
    ("checks", "a clear sentence"),
    ("panels", "half of K"),
    ("top_eigenpairs", "λ̃ and a of K̃"),
    ("α = a/√λ̃", "unit directions"),
    ("KernelPCA", "frozen"),
    ("encode, decode", "reconstruct"),
]


def imports(package: Path = PACKAGE) -> dict[str, set[str]]:
    """Return {module: modules of the package that it imports}, as ``pca`` or ``_engine.eigen``."""
    graph = {}
    for path in sorted(package.glob("*.py")) + sorted(
        package.glob("_engine/*.py")
    ):
        parts = path.relative_to(package).with_suffix("").parts
        name = ".".join(parts)
        graph[name] = set(_imported(ast.parse(path.read_text("utf8")), parts))
    return {
        name: {need for need in needs if need in graph} - {name}
        for name, needs in graph.items()
    }


def _imported(tree: ast.Module, parts: tuple[str, ...]):
    """Yield what a module imports when it is loaded; imports inside functions come later."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = list(parts[: len(parts) - node.level])
            if node.module:
                yield ".".join([*base, node.module])
            else:
                yield from (".".join([*base, a.name]) for a in node.names)


def reduced(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Leave out arrows that others imply: a need of something that is needed anyway."""

    def reach(name: str) -> set[str]:
        return graph[name].union(*(reach(need) for need in graph[name]))

    return {
        name: {n for n in needs if not any(n in reach(m) for m in needs - {n})}
        for name, needs in graph.items()
    }


def layers(graph: dict[str, set[str]]) -> dict[str, int]:
    """Return the row of each module: one below the lowest of those that it needs."""
    depth: dict[str, int] = {}

    def visit(name: str) -> int:
        if name not in depth:
            depth[name] = 1 + max(map(visit, graph[name]), default=-1)
        return depth[name]

    for name in graph:
        visit(name)
    return depth


def chapter_graph() -> dict[str, set[str]]:
    """Return the import graph of the chapters' modules alone."""
    graph = imports()
    chapters = {n for n in graph if not n.startswith("_") and n not in ASIDE}
    return {n: graph[n] & chapters for n in sorted(chapters)}


class ImportGraph(SphinxDirective):
    """Draw the chapters' modules, each below what it imports."""

    def run(self) -> list[nodes.Node]:
        graph = chapter_graph()
        depth = layers(graph)
        rows = [
            [n for n in graph if depth[n] == row]
            for row in range(1 + max(depth.values()))
        ]
        widest = max(map(len, rows))
        boxes = {
            name: Box(
                (name,), (widest - len(row)) / 2 + i, y, self.page_of(name)
            )
            for y, row in enumerate(rows)
            for i, name in enumerate(row)
        }
        arrows = [
            (need, name)
            for name, needs in reduced(graph).items()
            for need in sorted(needs)
        ]
        words = "; ".join(
            f"{name} imports {', '.join(sorted(needs))}"
            for name, needs in graph.items()
            if needs
        )
        return [
            nodes.raw(
                "", draw(boxes, arrows, f"Imports: {words}."), format="html"
            )
        ]

    def page_of(self, name: str) -> str | None:
        """Return the module's page of the reference, if it has one of its own."""
        page = f"api/{name}"
        return f"{page}.html" if f"book/{page}" in self.env.found_docs else None


class EngineTable(SphinxDirective):
    """List what each file of the engine is for, and which modules call it."""

    def run(self) -> list[nodes.Node]:
        graph = imports()
        rows = []
        for name in sorted(n for n in graph if n.startswith("_engine.")):
            path = PACKAGE / f"{name.replace('.', '/')}.py"
            if path.stem == "__init__":
                continue
            text = ast.get_docstring(ast.parse(path.read_text("utf8"))) or ""
            users = [n for n, needs in graph.items() if name in needs]
            chapters = [n for n in users if not n.startswith("_")]
            own = len(users) - len(chapters)
            inside = f"{own} of the engine" if own else ""
            rows.append(
                (
                    path.stem,
                    text.split("\n\n")[0].replace("\n", " "),
                    [*chapters, *filter(None, [inside])],
                )
            )
        body = "".join(
            f'<tr><td style="white-space: nowrap"><code>{stem}</code></td><td>{text}</td><td>{", ".join(users)}</td></tr>'
            for stem, text, users in rows
        )
        head = (
            "<tr><th>file</th><th>what it does</th><th>who calls it</th></tr>"
        )
        table = f'<div class="pst-scrollable-table-container"><table class="table"><thead>{head}</thead><tbody>{body}</tbody></table></div>'
        return [nodes.raw("", table, format="html")]


class DataPath(SphinxDirective):
    """Draw what happens to the data in fit_kernel_pca, in two rows."""

    def run(self) -> list[nodes.Node]:
        boxes = {
            str(i): Box(lines, i % 4, i // 4, solid=i not in (1, 2, 3))
            for i, lines in enumerate(PATH)
        }
        arrows = [(str(i), str(i + 1)) for i in range(len(PATH) - 1)]
        words = ", then ".join(" ".join(lines) for lines in PATH)
        return [
            nodes.raw(
                "",
                draw(boxes, arrows, f"The path of the data: {words}."),
                format="html",
            )
        ]


def setup(app):
    app.add_directive("import-graph", ImportGraph)
    app.add_directive("engine-table", EngineTable)
    app.add_directive("data-path", DataPath)
    return {"version": "1", "parallel_read_safe": True}
