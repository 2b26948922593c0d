"""Progress bars for long work, by tqdm, which is an extra."""

from __future__ import annotations

from collections.abc import Iterable

from .checks import flag

__all__ = ["tqdm_class", "with_progress"]


def tqdm_class() -> type:
    """Return tqdm's bar for notebooks and terminals, or say how to get it."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError(
            "progress=True needs tqdm: pip install 'kpca_edu[book]' brings it."
        ) from None
    return tqdm


def with_progress(steps: Iterable, progress: bool, title: str = "") -> Iterable:
    """Return the steps, shown as a bar while they are taken if progress is true."""
    return tqdm_class()(steps, desc=title, leave=False) if flag(progress, "progress") else steps
