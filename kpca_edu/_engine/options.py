"""Options that are passed on: which a function takes, and a sentence for those that it doesn't."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["check_options", "option_names"]


def option_names(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's keyword-only arguments and of those with a default."""
    arguments = inspect.signature(function).parameters.values()
    return [
        argument.name
        for argument in arguments
        if argument.kind is argument.KEYWORD_ONLY
        or (
            argument.kind is argument.POSITIONAL_OR_KEYWORD
            and argument.default is not argument.empty
        )
    ]


def check_options(given: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse an option that ``what`` does not have, and list those that it has.

    >>> check_options(["speed"], ["tol", "progress"], 'method="mds"')
    Traceback (most recent call last):
    ...
    TypeError: method="mds" has no option speed: it takes tol, progress.
    """
    known = list(dict.fromkeys(known))  # each once
    for name in given:
        if name not in known:
            raise TypeError(f"{what} has no option {name}: it takes {', '.join(known)}.")
