"""The live figures compute what the library computes, and move by mouse, keyboard and touch."""

from __future__ import annotations

import json
import math
from statistics import median
from urllib.parse import urlencode

import pytest
from browsing import HTML, OVERFLOW, accessibility_problems, missing
from contents import chapters
from live_numbers import FIGURES, plain

STATIC = HTML / "_static/live"
WEIGHT = 60_000  # bytes of all scripts; one page loads some 30,000
# A page takes a while to open and to draw, so a test opens it once for all its figures, and keeps
# of the chapter nothing else; test_browser.py looks at the whole pages.
FIGURE = ".live-figure"
SHOWN = {
    chapter: [name for name in FIGURES if FIGURES[name].chapter == chapter]
    for chapter in dict.fromkeys(figure.chapter for figure in FIGURES.values())
}
CLICKED = {"pca-line", "kpca-contours", "center-landscape", "pre-digit"}  # a click does something
each_chapter = pytest.mark.parametrize(
    "chapter", [pytest.param(key, id="-".join([key, *names])) for key, names in SHOWN.items()]
)


def close(got, wanted) -> bool:
    """Tell whether numbers agree to 1e-6, in nested lists and tables too."""
    if isinstance(wanted, dict):
        return all(close(got[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return len(got) == len(wanted) and all(map(close, got, wanted))
    if wanted is None or isinstance(wanted, str | bool):
        return got == wanted
    return got is not None and math.isclose(got, wanted, rel_tol=1e-6, abs_tol=1e-6)


def test_weight():
    scripts = [path for path in STATIC.parent.glob("live/*.js")]
    if not scripts:
        missing("The book has not been built: run `make book` first.")
    assert sum(path.stat().st_size for path in scripts) <= WEIGHT


def test_every_chapter_moves():
    """Chapters 1 to 12 have a figure each."""
    there = {chapter.stem for chapter in chapters() if chapter.number <= 12}
    assert there <= set(SHOWN)


def test_numbers_are_the_librarys(open_page):
    """The scripts compute what the build has exported, to 1e-6, ties and ranks included."""
    cases = json.loads((STATIC / "cases.json").read_text("utf8"))
    assert set(cases) == set(FIGURES)
    page = open_page("book/bibliography.html", 1280, math=False)
    for name, states in cases.items():
        for state, wanted in states:
            got = page.evaluate(
                """async ([module, name, state]) => {
                    const { numbers } = await import(`../_static/live/${module}.js`);
                    return JSON.parse(JSON.stringify(await numbers[name](state)));
                }""",
                [FIGURES[name].module, name, state],
            )
            assert close(got, wanted), (name, state, got, wanted)
    assert page.problems == []


class Live:
    """A live figure on a page: what it shows, and hands to move it."""

    def __init__(self, page, name: str):
        self.page, self.name = page, name
        self.root = page.locator(f'.live-figure[data-live-figure="{name}"]')
        page.locator(f"#{name}").scroll_into_view_if_needed()

    def shown(self) -> tuple[dict, dict]:
        """Wait until what has changed is drawn, and return state and numbers."""
        return self.root.evaluate(
            """async root => {
                await new Promise(requestAnimationFrame);
                return JSON.parse(JSON.stringify([root.state, root.numbers]));
            }"""
        )

    @property
    def state(self) -> dict:
        return self.shown()[0]

    def agrees(self) -> bool:
        """Compute the numbers for the state that is shown, and compare."""
        state, numbers = self.shown()
        return close(numbers, plain(FIGURES[self.name].numbers(state)))

    def fields(self) -> list:
        return self.root.locator("input[type=range]:enabled").all()

    def handles(self) -> list:
        return self.root.locator(".live-handle").all()

    def button(self, name: str):
        return self.root.locator(f"[data-action={name}]")

    def middle(self, handle) -> tuple[float, float]:
        handle.scroll_into_view_if_needed()
        box = handle.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def drag(self, handle, dx: float, dy: float) -> None:
        x, y = self.middle(handle)
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + dx, y + dy, steps=3)
        self.page.mouse.up()

    def touch(self, handle, dx: float, dy: float) -> float:
        """Drag with a finger, as a phone reports it; return how far the page was scrolled."""
        x, y = self.middle(handle)
        place = self.page.evaluate("() => scrollY")
        phone = self.page.context.new_cdp_session(self.page)
        phone.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
        for kind, share in [("Start", 0), ("Move", 0.3), ("Move", 0.7), ("Move", 1), ("End", None)]:
            points = [] if share is None else [{"x": x + share * dx, "y": y + share * dy}]
            phone.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
        phone.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
        phone.detach()
        self.shown()
        return self.page.evaluate("() => scrollY") - place


@each_chapter
def test_moves_shared_and_by_keys(open_page, chapter):
    page = open_page(f"book/{chapter}.html", 1280, only=FIGURE)
    for name in SHOWN[chapter]:
        live = Live(page, name)
        moves(live)
        is_shared_by_its_address(live)
        assert live.root.locator(".live-pen").count() == (name in CLICKED)
        if name in CLICKED:
            keys_do_what_a_click_does(live)
    assert page.problems == []


@each_chapter
def test_opens_by_its_address_and_moves_on_a_phone(open_page, chapter):
    name = SHOWN[chapter][-1]
    state = FIGURES[name].states[-1]
    query = urlencode({key: v if isinstance(v, str) else json.dumps(v) for key, v in state.items()})
    page = open_page(f"book/{chapter}.html#{name}?{query}", 390, only=FIGURE)
    live = Live(page, name)
    assert close(live.state, plain(state)), (name, "a state in the address is that of the figure")
    assert live.agrees(), live.shown()
    live.button("reset").click()
    for name in SHOWN[chapter]:
        moves(Live(page, name))
    assert page.problems == []


def moves(live: Live) -> None:
    """Keys, mouse, finger and buttons change the state, and the numbers stay the library's."""
    page, name = live.page, live.name
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(OVERFLOW) <= 0
    assert not live.root.locator("img.live-still").is_visible()
    assert live.agrees(), live.shown()
    start = live.state
    moved = []
    for field in live.fields():
        field.press("ArrowRight")
        moved.append(live.state != start)
    for handle in live.handles()[:3]:
        before = live.state
        handle.press("ArrowUp")
        handle.press("ArrowLeft")
        moved.append(live.state != before)
        assert moved[-1], (name, "a key moves the handle")
        before = live.state
        live.drag(handle, 9, -14)
        assert live.state != before, (name, "the mouse moves the handle")
    for handle in live.handles()[:1]:
        before = live.state
        assert live.touch(handle, -12, 40) == 0, (name, "the page stays")
        assert live.state != before, (name, "a finger moves the handle")
    for button in live.root.locator(
        "[data-action]:not([data-action=reset], [data-action=share])"
    ).all():
        before = live.state
        button.press("Enter")
        moved.append(live.state != before)
    assert any(moved), name
    assert live.agrees(), live.shown()
    # Nothing moves by itself, so there is nothing to hold back for those who ask for calm.
    assert live.root.evaluate("root => root.getAnimations({ subtree: true }).length") == 0

    live.button("reset").click()
    assert live.state == start
    assert accessibility_problems(page, ["wcag2a", "wcag2aa"], scope=f"#{name}") == []
    width = page.viewport_size["width"]
    print(f"{name} at {width} px: {redraw(live):.1f} ms to compute and draw")


def redraw(live: Live) -> float:
    """Return the milliseconds that a state takes. To read, never to assert."""
    return median(
        live.button("reset").evaluate(
            """button => Array.from({ length: 5 }, () => {
                const start = performance.now();
                button.click();
                return performance.now() - start;
            })"""
        )
    )


def is_shared_by_its_address(live: Live) -> None:
    """A state in the address is the state of the figure in a page that is open."""
    page = live.page
    for field in live.fields():
        field.press("ArrowRight")
    moved = live.state
    live.button("share").click()
    address = page.evaluate("() => location.hash")
    assert address.startswith(f"#{live.name}?")
    live.button("reset").click()
    page.evaluate("address => { location.hash = '#'; location.hash = address; }", address)
    page.wait_for_function("address => location.hash === address", arg=address)
    assert close(live.state, moved), live.name


def keys_do_what_a_click_does(live: Live) -> None:
    """Where a click does something, a pen does it by arrow keys and Enter."""
    pen = live.root.locator(".live-pen")
    start = live.state
    pen.press("ArrowRight")
    pen.press("Shift+ArrowUp")
    assert live.state == start, (live.name, "the pen alone changes nothing")
    pen.press("Enter")
    assert live.state != start, (live.name, "Enter does")
    assert live.agrees(), live.shown()


def test_a_bad_address_shows_the_start(open_page):
    page = open_page("book/03_pca.html#pca-line?angle={nonsense", 1280, only=FIGURE)
    live = Live(page, "pca-line")
    assert live.agrees()
    start = live.state
    page.evaluate("() => { location.hash = '#pca-line?points=null&angle=30'; }")
    assert live.state == start
    assert live.agrees()
    assert page.problems == []


def test_figures_move_on_a_page_opened_from_a_disk(browser):
    """Browsers load no modules and no data there; the build writes plain scripts, too."""
    page = browser.new_page()
    page.set_default_timeout(600_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route("**/mathjax/*.js", lambda route: route.abort())
    page.goto((HTML / "book/03_pca.html").as_uri())
    live = Live(page, "pca-line")
    start = live.state
    live.fields()[0].press("ArrowRight")
    assert live.state != start
    assert live.agrees()
    assert errors == []
    page.close()
