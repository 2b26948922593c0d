"""The machinery of the checkers: a registry, a verdict, and the comparisons that chapters share."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compare import align_signs


class WrongAnswer(Exception):
    """Raised by a checker: its message tells the reader what is wrong, as far as one can see."""


@dataclass(frozen=True)
class Exercise:
    """One exercise: how its answer is judged, and help from a nudge to nearly the solution."""

    id: str
    verify: Callable[[Any], None]  # raises WrongAnswer
    hints: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """What ``check`` says: ``status`` is "right", "wrong" or "not yet"; true only if right."""

    id: str
    status: str
    message: str

    def __bool__(self) -> bool:
        return self.status == "right"

    def __repr__(self) -> str:
        return self.message


REGISTRY: dict[str, Exercise] = {}


def exercise(id: str, *hints: str) -> Callable:
    """Register the decorated function as the checker of one exercise."""

    def register(verify: Callable[[Any], None]) -> Callable[[Any], None]:
        if id in REGISTRY:
            raise ValueError(f"Two exercises are called {id!r}.")
        if len(hints) < 2:
            raise ValueError(f"Exercise {id!r} needs at least two hints, from gentle to plain.")
        REGISTRY[id] = Exercise(id, verify, hints)
        return verify

    return register


def judge(exercise: Exercise, answer: Any, hints: int) -> Verdict:
    """Run the checker and put its finding, and the hints asked for, into words."""
    if answer is ...:
        return _verdict(exercise, "not yet", "○", "not yet, and that is fine.", hints)
    try:
        exercise.verify(_of_some_size(_plain(answer)))
    except WrongAnswer as finding:
        return _verdict(exercise, "wrong", "✗", f"not right. {finding}".strip(), hints)
    except (Exception, SystemExit) as error:  # the reader's own function failed
        said = f"{type(error).__name__}{_message(error)}"
        problem = f"your answer raised {said}"
        if not callable(answer):
            problem = f"not right. Your answer has a form that can't be read ({said})."
        return _verdict(exercise, "wrong", "✗", problem, hints)
    return Verdict(exercise.id, "right", f"✓ {exercise.id}: right.")


def _verdict(exercise: Exercise, status: str, mark: str, finding: str, hints: int) -> Verdict:
    shown = exercise.hints[: max(hints, 0)]
    lines = [f"{mark} {exercise.id}: {finding}"]
    lines += [f"Hint {i} of {len(exercise.hints)}: {hint}" for i, hint in enumerate(shown, 1)]
    if len(shown) < len(exercise.hints):
        lines.append(f'More help: check("{exercise.id}", answer, hints={len(shown) + 1})')
    wrapped = [textwrap.fill(line, 78, subsequent_indent="  ") for line in lines]
    return Verdict(exercise.id, status, "\n".join(wrapped))


def _message(error: BaseException) -> str:
    try:
        return f": {error}"
    except Exception:  # an exception may fail even at telling what it is
        return "."


def _plain(answer: Any) -> Any:
    """Return a Series or a DataFrame as an array, and all else as it is."""
    return answer.to_numpy() if hasattr(type(answer), "to_numpy") else answer


LARGEST = 10_000  # entries of an answer: no exercise asks for a hundredth of it


def _of_some_size(answer: Any) -> Any:
    """Return the answer, unless it is so large that reading it would take long."""
    entries = answer.size if isinstance(answer, np.ndarray) else 0
    if isinstance(answer, list | tuple | range | str | bytes | set | frozenset | Mapping):
        entries = len(answer)
    if entries > LARGEST:
        raise WrongAnswer(f"No exercise asks for so much: there are {entries:,} entries in it.")
    return answer


def as_number(answer: Any) -> float:
    """Return the answer as a float, or say what a number would have been.

    Whole numbers, fractions, decimals, NumPy's numbers, and a list or array that holds one number
    are all taken.
    """
    answer = _plain(answer)
    if isinstance(answer, list | tuple | np.ndarray) and np.size(answer) == 1:
        answer = np.ravel(np.asarray(answer, object))[0]
    if isinstance(answer, str | bytes):
        kind = type(answer).__name__
        raise WrongAnswer(f"A number is needed, not {kind}: leave out the quotation marks.")
    if isinstance(answer, bool | np.bool_):
        raise WrongAnswer("A number is needed, not True or False.")
    try:
        if np.iscomplexobj(answer):
            if np.imag(answer) != 0:  # float() would drop it
                raise TypeError
            answer = np.real(answer)
        number = float(answer)
    except (TypeError, ValueError, OverflowError):
        raise WrongAnswer(f"A number is needed, not {type(answer).__name__}.") from None
    if not np.isfinite(number):
        raise WrongAnswer(f"A finite number is needed, not {number}.")
    return number


def as_array(answer: Any, shape: tuple[int, ...]) -> NDArray:
    """Return the answer as a finite array of the wanted shape."""
    needed = f"An array of numbers of shape {shape} is needed."
    try:
        array = np.asarray(answer)
        if array.dtype.kind in "US":
            raise WrongAnswer(f"{needed} Leave out the quotation marks.")
        array = as_real(array)
    except (TypeError, ValueError, OverflowError):
        raise WrongAnswer(needed) from None
    if array.shape != shape:
        raise WrongAnswer(f"The shape should be {shape}, and yours is {array.shape}.")
    if not np.isfinite(array).all():
        raise WrongAnswer("There are NaN or infinite entries in it.")
    return array


def as_real(answer: Any) -> NDArray:
    """Return an array of doubles; the root of a matrix may have imaginary parts by rounding."""
    array = np.asarray(answer)
    if np.iscomplexobj(array):
        if not np.abs(array.imag).max(initial=0.0) < 1e-6:
            raise WrongAnswer("Real numbers are needed, not complex ones.")
        array = array.real
    return array.astype(float)


def as_numbers(answer: Any, count: int) -> NDArray:
    """Return so many numbers, given as a list, a row, a column or a table."""
    answer = in_order(answer) if isinstance(answer, Mapping) else answer
    if shape_of(answer) in ((1, count), (count, 1)):
        answer = np.ravel(answer)
    return as_array(answer, (count,))


def shape_of(answer: Any) -> tuple[int, ...]:
    """Return the shape of what can be an array, and () for all else."""
    try:
        shape = np.shape(answer)
    except Exception:  # ragged lists, or objects with a mind of their own
        return ()
    return shape if isinstance(shape, tuple) else ()


def as_function(answer: Any) -> Callable:
    """Return the answer if it can be called; it may take some arguments by keyword only."""
    if not callable(answer):
        raise WrongAnswer("A function is needed: pass its name, without brackets and arguments.")
    try:
        parameters = inspect.signature(answer).parameters.values()
    except (TypeError, ValueError):  # some that are written in C have none
        return answer
    by_place = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    named = [p.name for p in parameters if p.kind == p.KEYWORD_ONLY and p.default is p.empty]
    if not named:
        return answer

    def call(*given: Any) -> Any:
        return answer(*given[:by_place], **dict(zip(named, given[by_place:], strict=False)))

    return functools.wraps(answer)(call)


def as_letters(answer: Any, allowed: str, count: int | None = None) -> str:
    """Return letters as small ones.

    They come as "ace", "A, C and E", ["a", "(c)", "e"], a set, a table, or numbered: "1A 2C 3E",
    "2: c, 1: a, 3: e".
    """
    answer = in_order(answer) if isinstance(answer, Mapping) else answer
    if isinstance(answer, set | frozenset):
        if count is not None and len(answer) > 1:
            raise WrongAnswer("A set has no order: give the letters as a text or a list.")
        answer = sorted(answer, key=str)
    if isinstance(answer, list | tuple) or (isinstance(answer, np.ndarray) and answer.ndim):
        answer = np.ravel(np.asarray(answer, object)).tolist()
        if not all(isinstance(piece, str) for piece in answer):
            raise WrongAnswer(f"Letters are needed, in quotation marks, such as {allowed[:2]!r}.")
        answer = ", ".join(answer)
    if not isinstance(answer, str):
        raise WrongAnswer(f"Letters are needed, in quotation marks, such as {allowed[:2]!r}.")
    given = re.sub(r"\band\b", "", answer.lower())
    given = re.sub(r"[^\w]|_", "", given)
    numbered = re.findall(r"(\d)([a-z])", given)
    if given and "".join(map("".join, numbered)) == given:
        given = "".join(letter for _, letter in sorted(numbered, key=lambda pair: pair[0]))
    if not given or set(given) - set(allowed.lower()):
        raise WrongAnswer(f"Only the letters {', '.join(allowed)} stand for something.")
    if count is not None and len(given) != count:
        letters = "letter is" if count == 1 else "letters are"
        raise WrongAnswer(f"{WORDS_FOR[count].capitalize()} {letters} needed, not {len(given)}.")
    return given


def in_order(table: Mapping) -> list:
    """Return the values of a table: by its keys if they count, as 1, 2, … or a, b, … do."""
    places = {key: re.sub(r"\W", "", str(key)).lower() for key in table}
    first_letters = sorted(places.values()) == list("abcdefghijkl"[: len(table)])
    if first_letters or all(re.fullmatch(r"\d+", place) for place in places.values()):
        return [table[key] for key in sorted(table, key=lambda key: places[key].rjust(9))]
    return list(table.values())


LABEL = r"\(?(?:\d+|[a-zA-Z])\s*[).:=]\s*"  # "1. ", "(a) ", "B: "


def without_labels(words: list) -> list:
    """Return words in the order of their labels, if all have one: "2. svd", "(a) nearest"."""
    if not all(isinstance(word, str) for word in words):
        return words
    labels = [re.match(LABEL, word.strip()) for word in words]
    if not all(labels) or len({label[0] for label in labels if label}) < len(words):
        return words
    return in_order({label[0]: label.string[label.end() :] for label in labels if label})


WORDS_FOR = ("no", "one", "two", "three", "four", "five", "six")


def as_words(
    answer: Any, count: int, known: Sequence[str], also: Mapping[str, str] | None = None
) -> list[str]:
    """Return so many of the known words, given as a list, a text or a table.

    Capitals, hyphens and blanks do no harm; ``also`` holds other spellings. The words may be
    numbered: "1. svd 2. gram", "2: gram, 1: svd", ["(a) svd", "(b) gram"].
    """
    spelt = {_bare(word): word for word in known} | dict(also or {})
    answer = in_order(answer) if isinstance(answer, Mapping) else answer
    if isinstance(answer, str):
        between = rf"\s+(?={LABEL})" if re.match(LABEL, answer.strip()) else r"\s+"
        between = r"[,;\n]" if re.search(r"[,;\n]", answer) else between
        answer = re.split(between, answer.strip())
    if isinstance(answer, np.ndarray):
        answer = answer.ravel().tolist()
    if not isinstance(answer, list | tuple) or len(answer) != count:
        raise WrongAnswer(f"A list of {WORDS_FOR[count]} words is needed.")
    answer = without_labels(list(answer))
    for place, word in enumerate(answer, 1):
        if not isinstance(word, str):
            raise WrongAnswer("Words are needed, each in quotation marks.")
        if _bare(word) not in spelt:
            raise WrongAnswer(f"Word {place}, {word!r}, should be one of {', '.join(known)}.")
    return [spelt[_bare(word)] for word in answer]


def _bare(word: str) -> str:
    return re.sub("[^a-z]", "", word.lower())


def as_pair(answer: Any, letters: str, example: tuple) -> tuple[Any, Any]:
    """Return a pair of a letter, a small one, and something else, in the order of the example."""
    text = isinstance(answer, np.ndarray) and answer.dtype.kind == "U"
    if isinstance(answer, Mapping):
        answer = tuple(answer.values())
    if isinstance(answer, np.ndarray):
        answer = answer.ravel().tolist()
    if not isinstance(answer, list | tuple) or len(answer) != 2:
        raise WrongAnswer(f"A pair is needed, such as {example}.")
    place = 0 if isinstance(example[0], str) else 1
    letter, number = answer[place], answer[1 - place]
    if isinstance(number, str) and not isinstance(letter, str):
        raise WrongAnswer(f"The order is that of {example}.")
    letter = re.sub(r"\W", "", letter).lower() if isinstance(letter, str) else ""
    if len(letter) != 1 or letter not in letters.lower():
        which = ("first", "second")[place]
        raise WrongAnswer(f"The {which} should be one of the letters {', '.join(letters)}.")
    if text:  # an array has made a text of the number
        with contextlib.suppress(ValueError):
            number = float(number)
    return (letter, number) if place == 0 else (number, letter)


@contextmanager
def linear_algebra() -> Iterator[list[tuple[str, tuple[int, ...]]]]:
    """Note which functions of NumPy's and SciPy's linear algebra are called, and on what shapes."""
    calls: list[tuple[str, tuple[int, ...]]] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and "linalg" in code.co_filename:
            first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
            calls.append((code.co_name, shape_of(first)))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield calls
    finally:
        sys.setprofile(before)


SOLVERS = (
    "solve",
    "inv",
    "lstsq",
    "pinv",
    "qr",
    "svd",
    "eigh",
    "cholesky",
    "lu_solve",
    "cho_solve",
)


def most_systems(calls: Sequence[tuple[str, tuple[int, ...]]]) -> int:
    """Return how many matrices one of the solvers was given, stacks counted whole."""
    count = Counter(dict.fromkeys(SOLVERS, 0))
    for name, shape in calls:
        count[name] += int(np.prod(shape[:-2])) if name in SOLVERS else 0
    return max(count.values())


def expect_advice(answer: Any, advice: Sequence[str], why: Sequence[str]) -> None:
    """Take the right word for each of four persons, in order, as a list, a text or a table."""
    words = as_words(answer, 4, advice)
    for person, (word, right) in enumerate(zip(words, advice, strict=True)):
        if word != right:
            raise WrongAnswer(f"Person {person + 1} got {word!r}. {why[person]}")


def expect_choices(words: Sequence[str], reasons: Mapping[tuple[int, str], str]) -> None:
    """Refuse a word that is wrong at its place, with the reason."""
    for choice in enumerate(words):
        if choice in reasons:
            raise WrongAnswer(reasons[choice])


def expect_close(answer: Any, right: Any, why: str = "", digits: int = 6) -> None:
    """Accept a number or array that agrees to so many significant digits of its largest entry."""
    right = np.asarray(right, float)
    given = as_array(answer, right.shape) if right.ndim else np.asarray(as_number(answer))
    off = np.abs(given - right).max(initial=0.0)
    if off <= tolerance(right, digits):
        return
    if off <= tolerance(right, 3) and digits > 3:  # what is computed was rounded early
        raise WrongAnswer(f"Close, but not right to {digits} significant digits.")
    raise WrongAnswer(why)


def expect_whole(
    answer: Any, right: int, mistakes: Mapping[float, str] | None = None, why: str = ""
) -> None:
    """Accept a whole number, and nothing near it; name typical wrong ones."""
    given = as_number(answer)
    if abs(given - right) <= ROUNDING:
        return
    for value, diagnosis in (mistakes or {}).items():
        if abs(given - value) <= slack(value):
            raise WrongAnswer(diagnosis)
    if abs(given + right) <= ROUNDING:
        raise WrongAnswer("The size is right, the sign is not.")
    if abs(given - right) <= 0.5:
        raise WrongAnswer("A whole number is asked for.")
    raise WrongAnswer(why)


ROUNDING = 1e-6  # more than a computed whole number is off


def slack(mistake: float) -> float:
    """Return how far from a mistake it is recognised: a whole number exactly, others rounded."""
    return ROUNDING if mistake % 1 == 0 else half_unit(mistake, 3)


def expect_number(
    answer: Any,
    right: float,
    digits: int,
    mistakes: Mapping[float, str] | None = None,
    why: str = "",
    percent: bool = False,
) -> None:
    """Accept a number that agrees with the right one to so many significant digits.

    It may be rounded to them or be more exact: half a unit of the last digit is allowed.
    ``mistakes`` are values that typical errors lead to, each with its diagnosis. With
    ``percent=True`` the right answer is a share, and 100 times it is recognised.
    """
    given = as_number(answer)
    if agrees(given, right, digits):
        return
    for value, diagnosis in (mistakes or {}).items():
        if agrees(given, value, digits):
            raise WrongAnswer(diagnosis)
    if percent and agrees(given, 100 * right, digits):
        raise WrongAnswer("That is the percentage: give the share.")
    if agrees(given, -right, digits):
        raise WrongAnswer("The size is right, the sign is not.")
    if agrees(given, right, digits - 1) and digits > 1:
        raise WrongAnswer(f"Close, but not right to {digits} significant digits.")
    raise WrongAnswer(why)


def agrees(given: float, right: float, digits: int) -> bool:
    """Tell whether two numbers are equal to so many significant digits of the second."""
    return bool(abs(given - right) <= half_unit(right, digits))


def half_unit(value: float, digits: int) -> float:
    """Return half a unit of the last of so many significant digits, and a little."""
    if value == 0 or not np.isfinite(value):
        return 0.5 * 10.0**-digits
    return float(0.5 * 10.0 ** (np.floor(np.log10(abs(value))) + 1 - digits) * (1 + 1e-9))


def tolerance(right: NDArray, digits: int) -> float:
    """Return half a unit of the last of so many significant digits of the largest entry."""
    return half_unit(float(np.abs(right).max(initial=0.0)) or 1.0, digits)


def expect_numbers(
    answer: Any, right: Sequence[float] | NDArray, digits: int, why: str = ""
) -> None:
    """Accept a list, tuple or array that agrees entry by entry to so many significant digits.

    The entries are measured by the largest: 0.0001 beside 1 is a zero to three digits.
    """
    right = np.asarray(right, float)
    given = as_numbers(answer, right.size) if right.ndim == 1 else as_array(answer, right.shape)
    off = np.abs(given - right).max(initial=0.0)
    if off <= tolerance(right, digits):
        return
    if off <= tolerance(right, digits - 1) and digits > 1:
        raise WrongAnswer(f"Close, but not right to {digits} significant digits.")
    raise WrongAnswer(why)


def expect_pair(
    answer: Any,
    right: tuple[float, float],
    digits: int,
    mistakes: Mapping[tuple[int, float], str],
) -> None:
    """Judge two numbers one by one; ``mistakes`` are {(place, value): diagnosis}."""
    given = as_numbers(answer, 2).tolist()
    if all(agrees(g, r, digits) for g, r in zip(given[::-1], right, strict=True)):
        raise WrongAnswer("The two numbers are right, their order is not.")
    for place, name in enumerate(("first", "second")):
        if agrees(given[place], right[place], digits):
            continue
        for (where, value), diagnosis in mistakes.items():
            if where == place and agrees(given[place], value, digits):
                raise WrongAnswer(diagnosis)
        if agrees(given[place], right[place], digits - 1) and digits > 1:
            close = f"The {name} is close, but not right to {digits} significant digits."
            raise WrongAnswer(close)
        raise WrongAnswer(f"The {name} of the two is not right.")


def expect_not(answer: Any, wrong: Any, why: str, digits: int = 6) -> None:
    """Recognise a typical wrong answer and say what it is."""
    try:
        expect_close(answer, wrong, digits=digits)
    except WrongAnswer:
        return
    raise WrongAnswer(why)


def expect_directions(answer: Any, right: NDArray, why: str = "", tol: float = 1e-6) -> None:
    """Accept columns that equal the right ones up to the sign of each."""
    given = as_array(answer, right.shape)
    off = np.abs(align_signs(right, given) - right).max()
    if off > tol:
        close = off <= 1e3 * tol < 0.01
        raise WrongAnswer("Close, but not right to the digits asked for." if close else why)
