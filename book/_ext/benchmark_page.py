"""The directives ``benchmark-table`` and ``benchmark-curves``: what ``make bench`` has measured.

Both read ``benchmarks/results.json``, which ``make bench`` writes and the repository keeps: the
build measures nothing.
"""

from __future__ import annotations

import json
import math
from html import escape
from statistics import median

from contents import ROOT
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

RESULTS = ROOT / "benchmarks/results.json"
COLUMNS = "Task, Beside, 1 thread, default, error ours, error theirs, memory"


def results() -> dict:
    """Return what was measured last."""
    return json.loads(RESULTS.read_text("utf8"))


def rows(found: dict) -> list[dict]:
    """Return a row for each peer of each task: the ratios of times, the errors, the memory."""
    out = []
    for task in found["results"]:
        (ours, mine), *peers = task["contenders"].items()
        for name, theirs in peers:
            if theirs["failure"] or mine["failure"]:
                continue
            ratios = {
                threads: median(mine["seconds"][threads]) / median(times)
                for threads, times in theirs["seconds"].items()
            }
            out.append(
                {
                    "task": task["task"],
                    "what": task["description"],
                    "ours": ours,
                    "peer": name,
                    "ratios": ratios,
                    "errors": (mine["error"], theirs["error"]),
                    "memory": theirs["memory_ratio"],
                    "bound": mine["peak_is_lower_bound"]
                    or theirs["peak_is_lower_bound"],
                }
            )
    return out


class BenchmarkTable(SphinxDirective):
    """Write a row for each peer of each task."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(RESULTS))
        found = results()
        return [nodes.raw("", table(found) + machine(found), format="html")]


def table(found: dict) -> str:
    head = "".join(
        f'<th scope="col">{title}</th>' for title in COLUMNS.split(", ")
    )
    body, last = [], None
    for row in rows(found):
        threads = sorted(row["ratios"], key=int)
        cells = [
            _ratio(row["ratios"][threads[0]]),
            _ratio(row["ratios"][threads[-1]]),
        ]
        cells += [f"<td>{_power(e)}</td>" for e in row["errors"]]
        memory = row["memory"]
        cells.append(
            f"<td>{'—' if memory is None or row['bound'] else f'{memory:.2f}'}</td>"
        )
        if row["task"] != last:
            what = escape(row["what"])
            body.append(
                f'<tr><th colspan="7" scope="colgroup">{what[:1].upper() + what[1:]}</th></tr>'
            )
        last = row["task"]
        peer = escape(row["peer"])
        body.append(
            f"<tr><td><code>{row['task']}</code></td><td>{peer}</td>{''.join(cells)}</tr>"
        )
    return (
        '<div class="pst-scrollable-table-container" tabindex="0" role="region" '
        'aria-label="Benchmarks"><table class="table benchmarks">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def machine(found: dict) -> str:
    """Return where it was measured, in a line."""
    env, settings = found["environment"], found["settings"]
    versions = ", ".join(
        f"{n} {env[n]}" for n in ("python", "numpy", "scipy", "scikit-learn")
    )
    threads = max(settings["threads"])
    return (
        f'<p class="benchmark-machine">Measured on {escape(env["cpu"])}, default of {threads} '
        f"threads, up to {settings['repeats']} rounds; {escape(versions)}.</p>"
    )


def _ratio(value: float) -> str:
    kind = "slower" if value > 1.05 else "faster" if value < 0.95 else "equal"
    return f'<td class="{kind}">{value:.2f}</td>'


def _power(error: float | None) -> str:
    return (
        "—"
        if error is None
        else "0"
        if error == 0
        else f"{error:.0e}".replace("e-0", "e-")
    )


class BenchmarkCurves(SphinxDirective):
    """Draw time and memory against n, both axes logarithmic, and list the slopes."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(RESULTS))
        curves = results()["curves"]
        panels = "".join(
            panel(curves, key, title)
            for key, title in (
                ("seconds", "seconds"),
                ("mb", "peak memory beyond the input, MB"),
            )
        )
        listed = "".join(
            f"<tr><td><span class='curve-key curve-{i}'></span> {escape(c['method'])}</td>"
            f"<td>{c['slopes']['seconds']:.1f}</td><td>{c['slopes']['mb']:.1f}</td></tr>"
            for i, c in enumerate(curves)
        )
        slopes = (
            '<table class="table curves"><thead><tr><th scope="col">method</th><th scope="col">time '
            'grows like n to the</th><th scope="col">memory like n to the</th></tr></thead>'
            f"<tbody>{listed}</tbody></table>"
        )
        return [
            nodes.raw(
                "",
                f'<div class="cost-curves">{panels}</div>{slopes}',
                format="html",
            )
        ]


def panel(curves: list[dict], key: str, title: str) -> str:
    """Return one log–log plot as SVG."""
    points = [p for curve in curves for p in curve["points"]]
    lows = [
        math.floor(math.log10(min(p[k] for p in points))) for k in ("n", key)
    ]
    highs = [
        math.ceil(math.log10(max(p[k] for p in points))) for k in ("n", key)
    ]
    left, top, width, height = 52, 18, 300, 240

    def place(n: float, value: float) -> tuple[float, float]:
        x = left + width * (math.log10(n) - lows[0]) / (highs[0] - lows[0])
        y = top + height * (
            1 - (math.log10(value) - lows[1]) / (highs[1] - lows[1])
        )
        return round(x, 1), round(y, 1)

    marks = []
    for power in range(lows[0], highs[0] + 1):
        x, _ = place(10.0**power, 10.0 ** lows[1])
        marks.append(f'<path class="live-grid" d="M{x} {top}v{height}"/>')
        marks.append(_word(x, top + height + 16, f"{10**power:,}", "middle"))
    for power in range(lows[1], highs[1] + 1):
        _, y = place(10.0 ** lows[0], 10.0**power)
        marks.append(f'<path class="live-grid" d="M{left} {y}h{width}"/>')
        marks.append(_word(left - 6, y + 4, f"{10.0**power:g}", "end"))
    for i, curve in enumerate(curves):
        at = [place(p["n"], p[key]) for p in curve["points"]]
        path = "M" + "L".join(f"{x} {y}" for x, y in at)
        dots = "".join(f'<circle cx="{x}" cy="{y}" r="3"/>' for x, y in at)
        marks.append(f'<g class="curve curve-{i}"><path d="{path}"/>{dots}</g>')
    marks.append(
        _word(left + width / 2, top + height + 34, "samples n", "middle")
    )
    return (
        f'<svg viewBox="0 0 {left + width + 30} {top + height + 40}" role="img" '
        f'aria-label="{title} against n for each method, both axes logarithmic">'
        f"<title>{title}</title>{_word(left, top - 6, title, 'start')}{''.join(marks)}</svg>"
    )


def _word(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="live-tick" x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def setup(app):
    app.add_directive("benchmark-table", BenchmarkTable)
    app.add_directive("benchmark-curves", BenchmarkCurves)
    return {
        "version": "1",
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
