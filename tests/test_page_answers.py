"""Exercises checked on the page: the script's verdicts are those of the Python checkers."""

from __future__ import annotations

import json

import page_answers
from browsing import HTML, missing

from kpca_edu.exercises.checking import REGISTRY

FIELDS = page_answers.fields()


def page_with(id: str) -> str:
    for path in sorted((HTML / "book").glob("[0-9]*.html")):
        if f'data-exercise="{id}"' in path.read_text("utf8"):
            return f"book/{path.name}"
    missing(f"No page of the built book has the exercise {id}: run `make book` first.")
    return ""


def test_many_exercises_have_a_field():
    assert len(FIELDS) >= len(REGISTRY) // 4


def test_bounds_are_noted():
    """A number with its mistakes: right first, then each mistake, then sign and precision."""
    field = FIELDS["pca-1"]
    assert field.size == 0
    assert field.bounds[0].at == [4.0]
    assert field.bounds[0].right
    assert page_answers.verdict(field, 4.0) == (True, "")
    assert "standard deviation" in page_answers.verdict(field, 2.0)[1]
    assert page_answers.verdict(field, 1e9) == (False, "")


def test_a_checker_of_another_kind_has_no_field():
    """A checker that takes a function is not turned into bounds."""
    assert "svd-6" in REGISTRY
    assert page_answers.note("svd-6") is None or "svd-6" not in FIELDS


def test_the_script_says_what_the_checkers_say(open_page):
    """A hundred answers to each exercise, typed as text: same verdict, same words."""
    page = open_page("book/index.html", 1280)
    page.wait_for_function("() => window.pageAnswers")
    assert sorted(page.evaluate("() => pageAnswers.ids")) == sorted(FIELDS)
    for id, field in FIELDS.items():
        answers = list(page_answers.answers(id, field))
        typed = [json.dumps(answer) for answer in answers]
        got = page.evaluate(
            "([id, texts]) => texts.map(text => pageAnswers.verdict(id, text))", [id, typed]
        )
        assert [tuple(g) for g in got] == [page_answers.said(id, a) for a in answers], id
    assert page.problems == []


def test_forms_of_a_number(open_page):
    page = open_page("book/index.html", 1280)
    page.wait_for_function("() => window.pageAnswers")
    forms = {"4": True, "8/2": True, "8 / 2": True, "4.0": True, "400 %": True, "2": False}
    for text, right in forms.items():
        assert page.evaluate("text => pageAnswers.verdict('pca-1', text)[0]", text) is right, text


def test_a_reader_types_an_answer(open_page):
    """Wrong, then right, by keyboard; what was solved is remembered and can be forgotten."""
    page = open_page(page_with("pca-1"), 390, math=False)
    field = page.locator("#answer-pca-1")
    field.fill("2")
    field.press("Enter")
    said = page.locator(".exercise-field[data-exercise=pca-1] [role=status]")
    assert "standard deviation" in said.inner_text()
    field.fill("some")
    field.press("Enter")
    assert "Numbers are needed" in said.inner_text()
    field.fill("4")
    field.press("Enter")
    assert "Right" in said.inner_text()
    page.goto(page.url.rsplit("/", 1)[0] + "/index.html")
    page.locator(".card-progress").wait_for()
    assert "1 of" in page.locator(".card-progress").inner_text()
    page.locator(".clear-progress").click()
    assert page.locator(".card-progress").count() == 0
    assert page.problems == []
