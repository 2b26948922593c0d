"""Each checker takes the right answers, in every form that is right, and tells wrong ones apart."""

import itertools
import sys
import warnings
from datetime import date
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from answers import NAN, fails
from answers_svd import polar_of
from scipy import sparse

from kpca_edu.exercises import check, exercise_ids
from kpca_edu.exercises.checking import (
    REGISTRY,
    WrongAnswer,
    exercise,
    expect_close,
    expect_directions,
    in_order,
)
from kpca_edu.streaming import Moments

# {exercise: (right answers, [(wrong answer, words of the diagnosis)])}, a table for each chapter
TABLES = sorted(Path(__file__).parent.glob("answers_*.py"))
ANSWERS = {
    id: answers for path in TABLES for id, answers in import_module(path.stem).ANSWERS.items()
}


class Hostile:
    """Raises at whatever is done with it."""

    def fail(self, *_, **__):
        raise RuntimeError("hostile")

    __float__ = __array__ = __len__ = __iter__ = __call__ = __eq__ = __bool__ = __repr__ = fail


STRANGE = {
    "None": None,
    "text": "no idea",
    "no text": "",
    "bytes": b"no idea",
    "NaN": NAN,
    "complex": 1j,
    "huge": 10**400,
    "boolean": True,
    "date": date(2020, 1, 1),
    "empty list": [],
    "ragged": [[1.0], [1.0, 2.0]],
    "dict": {"s": 5},
    "set": {5.0},
    "object": object(),
    "hostile": Hostile(),
    "object array": np.array([[None, "a"]], object),
    "4-D": np.ones((2, 2, 2, 2)),
    "NaN array": np.full((3, 3), NAN),
    "sparse": sparse.eye_array(3),
    "class": int,
    "takes nothing": lambda: 5,
    "gives nothing": lambda *_: None,
    "gives text": lambda *_: "text",
    "gives itself": lambda A, *_: A * NAN,
    "fails": fails,
    "calls itself": lambda *a: STRANGE["calls itself"](*a),
}


def said(verdict):
    """Return the message on one line."""
    return " ".join(verdict.message.split())


# --- tests ---------------------------------------------------------------------------------------


def test_every_exercise_is_in_the_table():
    """No checker goes untested, and each has right and wrong answers."""
    assert sorted(ANSWERS) == sorted(exercise_ids())
    few = [id for id, (right, wrong) in ANSWERS.items() if len(right) < 4 or len(wrong) < 6]
    assert few == [], "four forms of a right answer and six wrong answers are the least"


def test_most_wrong_answers_are_diagnosed():
    """At least three wrong answers to each exercise get words that fit the mistake."""
    assert [id for id, (_, wrong) in ANSWERS.items() if sum(bool(w) for _, w in wrong) < 3] == []


@pytest.mark.parametrize("id", ANSWERS)
def test_right_answers(id):
    """Every form of the right answer is accepted, without a hint."""
    for place, answer in enumerate(ANSWERS[id][0]):
        verdict = check(id, answer)
        assert verdict.status == "right", f"right answer {place}: {verdict}"
        assert bool(verdict) is True
        assert repr(verdict) == f"✓ {id}: right."


@pytest.mark.parametrize("id", ANSWERS)
def test_wrong_answers(id):
    """Typical mistakes are recognised and named; the first hint comes with them."""
    for place, (answer, words) in enumerate(ANSWERS[id][1]):
        verdict = check(id, answer)
        assert verdict.status == "wrong", f"wrong answer {place}: {verdict}"
        assert bool(verdict) is False
        assert said(verdict).startswith(f"✗ {id}: ")
        assert words in said(verdict).split("Hint 1")[0], f"wrong answer {place}: {verdict}"


def other_forms(answer):
    """Yield other forms that a right answer may come in: what it says is the same."""
    if isinstance(answer, list | tuple) and all(isinstance(x, str) for x in answer):
        yield from (list(answer), np.array(answer), pd.Series(answer), ", ".join(answer))
        yield from (dict(enumerate(answer)), [f" {x.upper()}." for x in answer], "; ".join(answer))
        if all(len(x.strip()) > 1 for x in answer):  # words, not letters
            numbered = [f"{i}. {x}" for i, x in enumerate(answer, 1)]
            yield from (numbered, numbered[::-1], ", ".join(numbered[::-1]), "\n".join(numbered))
            yield [f"({'abcdefg'[i]}) {x}" for i, x in enumerate(answer)]
            if not any(" " in x for x in answer):
                yield " ".join(numbered)
    elif isinstance(answer, str) and len(answer) < 7 and answer.isalpha():
        yield from (list(answer), pd.Series(list(answer)), " ".join(f"({x})" for x in answer))
        yield from (" and ".join(answer), dict(enumerate(answer)), np.str_(answer))
    elif isinstance(answer, int | float | np.number):
        exact = [Fraction(float(answer)), Decimal(float(answer)), np.array(float(answer))]
        yield from (*exact, [exact[0]], [[answer]], np.array([[answer]]), pd.Series([answer]))
    elif isinstance(answer, list | tuple) and all(np.isscalar(x) for x in answer):
        if isinstance(answer[0], bool):
            yield from (np.array(answer), pd.Series(answer))
            return
        if any(isinstance(x, str) for x in answer):
            yield from (np.array(answer, object), pd.Series(answer), np.array(answer))
            return
        yield from (np.array([answer]), np.array(answer)[:, None], [[x] for x in answer])
        yield from (pd.Series(answer), tuple(Decimal(float(x)) for x in answer))
        if len(answer) > 1:
            yield dict(zip("xyzuvw", answer, strict=False))
            yield dict(reversed(list(enumerate(answer))))


@pytest.mark.parametrize("id", ANSWERS)
def test_other_forms_of_right_answers(id):
    """Lists of any kind, rows and columns, Series, fractions, decimals, letters with brackets."""
    if id == "sparse-pca-10":  # any list of whole numbers
        return
    for answer in ANSWERS[id][0]:
        for form in other_forms(answer):
            assert check(id, form), f"{form!r}: {check(id, form)}"


FUNCTIONS = [id for id, (right, _) in ANSWERS.items() if callable(right[0])]


@pytest.mark.parametrize("id", FUNCTIONS)
def test_a_function_may_work_in_place(id):
    """What it is given is its own: no two arguments share memory, and no checker needs them."""
    function = ANSWERS[id][0][0]

    def in_place(*given):
        own = []
        for argument in given:
            own.append(argument.copy() if type(argument) is np.ndarray else argument)
            if type(argument) is np.ndarray:
                argument.fill(0)
        return function(*own)

    assert check(id, in_place), check(id, in_place)


# What they return is no number or array, but a truth, or Moments
NO_ARRAYS = ("power-method-11", "streaming-7")


@pytest.mark.parametrize("id", [id for id in FUNCTIONS if id not in NO_ARRAYS])
def test_imaginary_parts_are_never_dropped(id):
    """A function that returns them is wrong, unless they are zero, as eig and sqrtm give them."""
    function = ANSWERS[id][0][0]

    def shifted(by):
        def moved(*given):
            result = function(*given)
            parts = result if isinstance(result, tuple) else (result,)
            parts = tuple(np.asarray(part) + by for part in parts)
            return parts if isinstance(result, tuple) else parts[0]

        return moved

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert check(id, shifted(0j)), check(id, shifted(0j))
        assert not check(id, shifted(0.5j))


def test_a_table_that_counts_is_put_in_order():
    """Keys such as 1, 2, … or "a", "b", … say which comes first; others stay as they are."""
    assert check("power-method-9", {3: "S", 1: "L", 4: "B", 2: "K"})
    assert check("svd-8", {"2.": "svd", "1.": "gram", "4.": "svd", "3.": "partial"})
    assert check("pca-7", {"b": "sepal length", "a": "petal width", "c": "sepal width"})
    names = ("nearest", "gradient", "fixed-point", "ridge", "mds")
    jobs = dict(zip(("(a)", "(b)", "(c)", "(d)", "(e)"), names, strict=True))
    assert check("preimages-12", dict(reversed(jobs.items())))
    lines = {10: "a", 9: "b"}
    assert in_order(lines) == ["b", "a"]
    assert in_order({"top": "b", "saddle": "d"}) == ["b", "d"]
    assert in_order({"E": 1, "D": 2}) == [1, 2]


def test_close_is_told_from_wrong():
    """What is right to three digits where six are compared was rounded early: that is said."""
    right = np.array([[1.23456789, -0.5], [0.1, 2.0]])
    for judge in (expect_close, expect_directions):
        judge(right.round(6), right, "no")
        with pytest.raises(WrongAnswer, match="Close, but"):
            judge(right.round(4), right, "no")
        with pytest.raises(WrongAnswer, match="no"):
            judge(right + [[0.1], [0]], right, "no")


HUGE = {
    "zeros": np.zeros(10**6),
    "square": np.ones((400, 400), int),
    "list": list(range(10**5)),
    "range": range(10**12),
    "text": "a" * 10**5,
    "words": ["svd"] * 10**5,
}


@pytest.mark.parametrize("name", HUGE)
def test_huge_answers_are_not_read(name):
    """Reading some would take minutes."""
    for id in ANSWERS:
        assert "so much" in said(check(id, HUGE[name]))


def test_answers_without_end():
    assert "too many" in said(check("sparse-pca-10", itertools.count()))


def test_arguments_by_keyword_only():
    """A function may ask for what comes after the first two by name, as the library's do."""
    solve = ANSWERS["svd-10"][0][0]
    assert check("svd-10", lambda A, b, *, rtol: solve(A, b, rtol))
    assert check("svd-10", lambda A, b, *, rtol, loud=False: solve(A, b, rtol))
    assert "missing" in said(check("svd-10", lambda A, b, *, rtol, ridge: solve(A, b, rtol)))


# Functions whose statement says "six digits"
SIX = """
    svd-6 svd-9 svd-10 svd-12 pca-10 pca-11 pca-12 pca-13 ppca-6 ppca-7 ppca-8 ppca-13 choosing-k-6
    kernels-5 kernels-7 kernel-pca-7 centering-8 centering-9 centering-10 centering-15 preimages-6
    preimages-7 preimages-10 preimages-11 sparse-pca-6 sparse-pca-7 streaming-7 genes-4 digits-5
    documents-3 relations-5
""".split()  # noqa: SIM905


def each_part(result, change):
    """Apply a change to an array, a number, or each part of a pair, a triple or Moments."""
    if isinstance(result, Moments):
        mean, scatter = change(result.mean), change(result.scatter)
        return Moments(result.n, mean, scatter)
    if isinstance(result, tuple):
        return tuple(change(np.asarray(part, float)) for part in result)
    return change(np.asarray(result, float))


def unit_of(part, digits):
    return 10.0 ** (np.floor(np.log10(np.abs(part).max() or 1.0)) + 1 - digits)


@pytest.mark.parametrize("id", SIX)
def test_six_digits_are_enough_and_needed(id):
    """What a function returns may be rounded to six digits, and four are too few."""
    function = ANSWERS[id][0][0]

    def rounded(*given):
        return each_part(
            function(*given), lambda part: part.round(-round(np.log10(unit_of(part, 6))))
        )

    def off(*given):
        signs = np.random.default_rng(0)
        return each_part(
            function(*given),
            lambda part: part + unit_of(part, 4) * signs.choice((-1, 1), part.shape),
        )

    assert check(id, rounded), check(id, rounded)
    assert not check(id, off)


@pytest.mark.parametrize("id", ANSWERS)
def test_only_functions_raise(id):
    """What is no function did not raise anything: the message doesn't say so."""
    for name, answer in STRANGE.items():
        assert callable(answer) or "raised" not in said(check(id, answer)), name
    assert "raised" not in said(check(id, [[1.0], [1.0, 2.0]]))


def test_letters_in_no_order():
    """A set can't say which letter comes first."""
    assert "order" in said(check("kernels-11", {"a", "b", "c", "d"}))
    assert check("kernels-6", {"c", "a", "e"})


@pytest.mark.parametrize("id", ANSWERS)
def test_strange_answers_never_raise(id):
    """Whatever comes as an answer, check returns a verdict, and it is "wrong"."""
    for name, answer in (STRANGE | {"generator": (i for i in range(3))}).items():
        verdict = check(id, answer)
        assert verdict.status == "wrong", name
        assert "Hint 1" in said(verdict), name


@pytest.mark.parametrize("id", ANSWERS)
def test_no_answer_yet(id):
    """An answer left as ... or left out is "not yet": false, friendly, with a hint."""
    for verdict in (check(id, ...), check(id)):
        assert (verdict.status, bool(verdict)) == ("not yet", False)
        assert said(verdict).startswith(f"○ {id}: not yet")
        assert "Hint 1" in said(verdict)


@pytest.mark.parametrize("id", ANSWERS)
def test_hints_come_as_many_as_asked_for(id):
    """hints=0 gives none, hints=99 gives all; how to get one more is said while there is one."""
    hints = REGISTRY[id].hints
    assert len(hints) >= 2
    for asked in (-1, 0, 1, 2, 99):
        shown, message = min(max(asked, 0), len(hints)), said(check(id, ..., hints=asked))
        assert [hint in message for hint in hints] == [i < shown for i in range(len(hints))]
        assert message.count("Hint ") == shown
        assert (f'check("{id}", answer, hints={shown + 1})' in message) is (shown < len(hints))


def test_messages_fit_the_page():
    """No line is longer than 88 characters."""
    for id in ANSWERS:
        assert max(map(len, check(id, None, hints=99).message.splitlines())) <= 88


@pytest.mark.parametrize("id", ["svd-0", "svd", "", "SVD-1", 1, None, [5.0], np.eye(2)])
def test_unknown_exercises(id):
    """An unknown name gets a ValueError that lists the known ones."""
    with pytest.raises(ValueError, match="There is no exercise") as caught:
        check(id, 1)
    assert repr(id)[:60] in str(caught.value)
    assert all(known in str(caught.value) for known in exercise_ids())


def test_exercises_can_not_be_registered_badly():
    """A name is given once, and there are two hints at least; a failed try leaves no trace."""
    before = exercise_ids()
    with pytest.raises(ValueError, match="Two exercises are called 'svd-1'"):
        exercise("svd-1", "a", "b")(print)
    with pytest.raises(ValueError, match="'new' needs at least two hints"):
        exercise("new", "a")(print)
    assert exercise_ids() == before


def test_the_list_of_exercises_is_a_copy():
    """Changing it doesn't change the registry."""
    exercise_ids().clear()
    assert exercise_ids() == list(REGISTRY)


# --- answers that look right to a careless checker -----------------------------------------------


def zeroes_its_argument(A):
    A *= 0
    return np.zeros((2, *A.shape))


SNEAKY = {
    "in place": ("svd-6", zeroes_its_argument),  # the checker compares with the changed A
    "nearly named": ("svd-7", np.diag([2.0005, 1.0, 0.0])),  # the error grows with the square only
    "nearly best": ("svd-7", np.diag([2.0, 0.99, 0.0])),
    "a rotation": (
        "svd-12",
        lambda A: polar_of(A) * [*[1] * (len(A) - 1), np.linalg.det(polar_of(A))],
    ),
    "complex": ("svd-5", np.array([3 + 1j, 2])),  # the imaginary part is dropped
    "text": ("svd-1", "5"),  # float("5") works, and so does float(b"5")
}


@pytest.mark.parametrize(("id", "answer"), SNEAKY.values(), ids=SNEAKY)
def test_sneaky_answers(id, answer):
    """These are wrong, though a careless comparison would pass them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as a reader's notebook would
        assert check(id, answer).status == "wrong"


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def raises_unspeakable(*_):
    raise Unspeakable


@pytest.mark.parametrize(
    "answer", [lambda *_: sys.exit(1), raises_unspeakable], ids=["exit", "mute"]
)
def test_leaving_never_raises(answer):
    """A function that exits, or fails without words, is a wrong answer like others."""
    try:
        status = check("svd-6", answer).status
    except BaseException as error:
        pytest.fail(f"check raised {type(error).__name__}")
    assert status == "wrong"
