"""Run the notebooks and store them the way the project keeps them.

``python book/_ext/notebooks.py [notebook …]`` (or ``make notebooks``) executes each notebook in a
fresh kernel and writes it back: the install cell first, folded cells folded in Jupyter too, cells
numbered from 1, no times, no machine's name. Text may be edited with jupytext, see the README.
"""

from __future__ import annotations

import base64
import os
import re
import sys
from datetime import datetime
from pathlib import Path

import nbformat
import yaml
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
HERO = (
    ROOT / "book/_static/hero.png"
)  # the README's and the landing page's figure
# Small arrays: one thread is enough for the kernels.
os.environ.setdefault("OMP_NUM_THREADS", "1")
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def chapter_notebooks(root: Path = ROOT) -> list[Path]:
    """Return all notebooks of the book in reading order."""
    found = sorted(root.glob("book/**/*.ipynb"))
    return [path for path in found if ".ipynb_checkpoints" not in path.parts]


def repository_address(root: Path = ROOT) -> str:
    """Return the repository's address as _config.yml has it; empty while it is not known."""
    return yaml.safe_load((root / "_config.yml").read_text("utf8"))[
        "repository"
    ]["url"]


def install_cell(address: str) -> str:
    """Return the first code cell: it installs the library, and only where it is missing.

    It takes the wheel that lies beside the notebook in the book's archive, or the clone around
    it, or the repository, if that has an address; else it says in one sentence what to do.
    """
    lines = [
        "# Installs the book's library where it is missing, as on Colab.",
        "import importlib.util",
        "from pathlib import Path",
        "",
        'if importlib.util.find_spec("kpca_edu") is None:',
        '    wheels = sorted(Path(".").glob("kpca_edu-*.whl"))',
        "    if wheels:",
        '        source = f"./{wheels[-1]}[book]"',
        '    elif Path("../kpca_edu").is_dir():',
        '        source = "..[book]"',
        "    else:",
    ]
    if address:
        lines.append(f'        source = "kpca_edu[book] @ git+{address}"')
    else:
        lines += [
            "        raise ModuleNotFoundError(",
            '            "Put kpca_edu-….whl from the archive on the book\'s first "',
            '            "page beside this notebook, and run this cell again."',
            "        )",
        ]
    lines.append('    %pip install --quiet "{source}"')
    return "\n".join(lines)


FOLDED = {"hide-input", "hide-cell", "install", "setup", "check", "listing"}


def own_tags(source: str) -> set[str]:
    """Return the tags that follow from what a cell says: ``check`` and ``listing``."""
    if re.fullmatch(r"(?:# .*\n)*show_source\(.+\);?\s*", source):
        return {"listing"}
    says_so = "holds(" in source or "✓" in source
    return {"check"} if source.startswith("# check: ") and says_so else set()


def tidy(notebook: nbformat.NotebookNode, address: str) -> None:
    """Put the install cell first and fold in Jupyter and Colab what the book folds."""
    cells = notebook.cells
    first = next(i for i, cell in enumerate(cells) if cell.cell_type == "code")
    if "install" not in cells[first].metadata.get("tags", []):
        cells.insert(first, nbformat.v4.new_code_cell())
    cells[first].metadata = {"tags": ["install", "remove-cell"]}
    cells[first].source = install_cell(address)
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
        if cell.cell_type != "code":
            continue
        tags = list(cell.metadata.get("tags", []))
        tags = [tag for tag in tags if tag not in ("check", "listing")]
        tags += sorted(own_tags(cell.source))
        if tags:
            cell.metadata["tags"] = tags
        if FOLDED & set(tags):
            cell.metadata["jupyter"] = {"source_hidden": True}
            cell.metadata["cellView"] = "form"
    notebook.metadata = {
        "kernelspec": KERNEL,
        "language_info": {"name": "python"},
    }


def run(path: Path) -> None:
    """Execute one notebook and write it back without anything that differs from run to run."""
    notebook = nbformat.read(path, as_version=4)
    tidy(notebook, repository_address())
    client = NotebookClient(
        notebook,
        timeout=None,  # a busy machine takes what it takes
        kernel_name="python3",
        resources={"metadata": {"path": path.parent}},
    )
    client.execute()
    report_times(notebook)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = join_streams(cell.outputs)
    notebook.metadata = {
        "kernelspec": KERNEL,
        "language_info": {"name": "python"},
    }
    nbformat.write(notebook, path)
    if picture := hero_picture(notebook):
        HERO.write_bytes(picture)


def report_times(notebook: nbformat.NotebookNode) -> None:
    """Print how long all cells took, and the slowest of them: 60 s and 20 s on one core at most."""
    seconds = {
        number: (
            _moment(times["iopub.status.idle"])
            - _moment(times["iopub.status.busy"])
        )
        for number, cell in enumerate(notebook.cells)
        if "iopub.status.idle" in (times := cell.metadata.get("execution", {}))
    }
    slowest = max(seconds, key=seconds.get)
    first_line = notebook.cells[slowest].source.splitlines()[0]
    print(
        f"    {sum(seconds.values()):.0f} s, the slowest cell {seconds[slowest]:.1f} s: {first_line}"
    )


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def join_streams(outputs: list) -> list:
    """Join pieces of printed text that happened to arrive in several messages."""
    joined: list = []
    for output in outputs:
        last = joined[-1] if joined else {}
        if output.output_type == "stream" and last.get("name") == output.name:
            last["text"] += output.text
        else:
            joined.append(output)
    return joined


def hero_picture(notebook: nbformat.NotebookNode) -> bytes | None:
    """Return the picture that the cell tagged ``hero`` shows, if the notebook has one."""
    for cell in notebook.cells:
        if "hero" in cell.metadata.get("tags", []):
            for output in cell.outputs:
                if "image/png" in output.get("data", {}):
                    return base64.b64decode(output.data["image/png"])
    return None


if __name__ == "__main__":
    chosen = [
        Path(arg).resolve() for arg in sys.argv[1:]
    ] or chapter_notebooks()
    for count, chosen_path in enumerate(chosen, 1):
        print(
            f"[{count}/{len(chosen)}] {chosen_path.relative_to(ROOT)}",
            flush=True,
        )
        run(chosen_path)
