"""The machinery of the checkers: a registry, a verdict, and the comparisons that chapters share."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compare import align_signs, same_subspace


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
        exercise.verify(answer)
    except WrongAnswer as finding:
        return _verdict(exercise, "wrong", "✗", f"not right. {finding}".strip(), hints)
    except (Exception, SystemExit) as error:  # the reader's own function failed
        problem = f"your answer raised {type(error).__name__}{_message(error)}"
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


def as_number(answer: Any) -> float:
    """Return the answer as a float, or say what a number would have been.

    Whole numbers, fractions, decimals, NumPy's numbers, and a list or array that holds one number
    are all taken.
    """
    if isinstance(answer, str | bytes):
        kind = type(answer).__name__
        raise WrongAnswer(f"A number is needed, not {kind}: leave out the quotation marks.")
    if isinstance(answer, bool | np.bool_):
        raise WrongAnswer("A number is needed, not True or False.")
    if isinstance(answer, list | tuple | np.ndarray) and np.size(answer) == 1:
        answer = np.ravel(np.asarray(answer, object))[0]
    try:
        number = float(answer)
    except (TypeError, ValueError, OverflowError):
        raise WrongAnswer(f"A number is needed, not {type(answer).__name__}.") from None
    if not np.isfinite(number):
        raise WrongAnswer(f"A finite number is needed, not {number}.")
    return number


def as_array(answer: Any, shape: tuple[int, ...]) -> NDArray:
    """Return the answer as a finite array of the wanted shape."""
    if np.iscomplexobj(answer):
        raise WrongAnswer("Real numbers are needed, not complex ones.")
    try:
        array = np.asarray(answer, float)
    except (TypeError, ValueError):
        raise WrongAnswer(f"An array of numbers of shape {shape} is needed.") from None
    if array.shape != shape:
        raise WrongAnswer(f"The shape should be {shape}, and yours is {array.shape}.")
    if not np.isfinite(array).all():
        raise WrongAnswer("There are NaN or infinite entries in it.")
    return array


def as_function(answer: Any) -> Callable:
    """Return the answer if it can be called."""
    if not callable(answer):
        raise WrongAnswer("A function is needed: pass its name, without brackets and arguments.")
    return answer


def as_letters(answer: Any, allowed: str, number: int) -> str:
    """Return so many letters, small ones, given as a text or as a list of letters."""
    array = isinstance(answer, np.ndarray) and answer.ndim > 0
    if (array or isinstance(answer, list | tuple)) and all(isinstance(x, str) for x in answer):
        answer = "".join(answer)
    if not isinstance(answer, str):
        raise WrongAnswer(f"Letters are needed, such as {allowed[0] * number!r}.")
    letters = "".join(c for c in answer.lower() if c not in " ,;-()")
    if len(letters) != number or set(letters) - set(allowed.lower()):
        plural = "letters" if number > 1 else "letter"
        raise WrongAnswer(f"{number} {plural} out of {allowed} needed.")
    return letters


def expect_advice(answer: Any, advice: Sequence[str], why: Sequence[str]) -> None:
    """Take the right word for each of four persons, in order, as a list, a text or a table."""
    if isinstance(answer, Mapping):
        answer = list(answer.values())
    if isinstance(answer, str):
        answer = answer.replace(",", " ").split()
    if not isinstance(answer, list | tuple | np.ndarray) or len(answer) != len(advice):
        raise WrongAnswer("A list of four words is needed, one for each person.")
    words = [word.strip().lower() if isinstance(word, str) else word for word in answer]
    for word in words:
        if not isinstance(word, str) or word not in advice:
            raise WrongAnswer(f"{word!r} is none of the words {', '.join(advice)}.")
    for person, (word, right) in enumerate(zip(words, advice, strict=True)):
        if word != right:
            raise WrongAnswer(f"Person {person + 1} got {word!r}. {why[person]}")


def expect_close(answer: Any, right: Any, why: str = "", rtol: float = 1e-6) -> None:
    """Accept a number or array that equals the right one up to rtol of its largest entry."""
    right = np.asarray(right, float)
    given = as_array(answer, right.shape) if right.ndim else np.asarray(as_number(answer))
    if np.abs(given - right).max(initial=0.0) > rtol * (np.abs(right).max(initial=0.0) or 1.0):
        raise WrongAnswer(why)


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
        raise WrongAnswer(f"That is the percentage: give the share, {digits} digits of it.")
    if agrees(given, -right, digits):
        raise WrongAnswer("The size is right, the sign is not.")
    if agrees(given, right, digits - 1) and digits > 1:
        raise WrongAnswer(f"Close: {digits} significant digits are asked for.")
    raise WrongAnswer(why)


def agrees(given: float, right: float, digits: int) -> bool:
    """Tell whether two numbers are equal to so many significant digits of the second."""
    if right == 0 or not np.isfinite(right):
        return bool(abs(given - right) <= 0.5 * 10.0**-digits)
    unit = 10.0 ** (np.floor(np.log10(abs(right))) + 1 - digits)
    return bool(abs(given - right) <= 0.5 * unit * (1 + 1e-9))


def expect_numbers(
    answer: Any, right: Sequence[float] | NDArray, digits: int, why: str = ""
) -> None:
    """Accept a list, tuple or array that agrees entry by entry to so many significant digits.

    The entries are measured by the largest: 0.0001 beside 1 is a zero to three digits.
    """
    right = np.asarray(right, float)
    given = as_array(answer, right.shape)
    unit = 10.0 ** (np.floor(np.log10(np.abs(right).max() or 1.0)) + 1 - digits)
    if np.abs(given - right).max(initial=0.0) > 0.5 * unit * (1 + 1e-9):
        raise WrongAnswer(why)


def expect_not(answer: Any, wrong: Any, why: str, rtol: float = 1e-6) -> None:
    """Recognise a typical wrong answer and say what it is."""
    try:
        expect_close(answer, wrong, rtol=rtol)
    except WrongAnswer:
        return
    raise WrongAnswer(why)


def expect_directions(answer: Any, right: NDArray, why: str = "", tol: float = 1e-6) -> None:
    """Accept columns that equal the right ones up to the sign of each."""
    given = as_array(answer, right.shape)
    if np.abs(align_signs(right, given) - right).max() > tol:
        raise WrongAnswer(why)


def expect_subspace(answer: Any, right: NDArray, why: str = "", tol: float = 1e-6) -> None:
    """Accept any columns that span the same subspace."""
    if not same_subspace(right, as_array(answer, right.shape), tol):
        raise WrongAnswer(why)
