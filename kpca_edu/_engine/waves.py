"""Cosines and sines of many angles at once, in a fraction of the time of NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["cosines", "cosines_and_sines", "refuse_overflowing_angles"]


def cosines_and_sines(angles: NDArray) -> NDArray:
    """Return cos and sin of angles : (n, q) side by side, (n, 2q), right to some units of rounding.

    With t = tan(a/2), cos a = 2/(1 + t²) − 1 and sin a = 2t/(1 + t²). NumPy has vector code for
    the tangent and none for cosine and sine of doubles, which take ten times as long each; and
    where it has none at all, one call serves two.
    """
    n, q = angles.shape
    waves = np.empty((n, 2 * q), np.result_type(angles, np.float32))
    cosine, sine = waves[:, :q], waves[:, q:]
    tangent = np.tan(angles / 2)
    _twice_squared_cosine(tangent, out=cosine)
    np.multiply(tangent, cosine, out=sine)
    cosine -= 1
    return waves


def cosines(angles: NDArray) -> NDArray:
    """Return cos of angles, of any shape, by the same formula."""
    waves = _twice_squared_cosine(np.tan(angles / 2))
    waves -= 1
    return waves


def refuse_overflowing_angles(X: Any, W: NDArray) -> None:
    """Refuse samples so far away that an angle ωᵀx, with a column ω of W, leaves the floats."""
    size = float(abs(X).max()) * float(np.abs(W).max(initial=0.0)) * len(W)
    if not size < float(np.finfo(np.result_type(X.dtype, W.dtype)).max):
        raise ValueError(
            "The samples are so far away beside the width sigma that their angles overflow: "
            "divide X by a large number, or take a larger sigma."
        )


def _twice_squared_cosine(tangent: NDArray, out: NDArray | None = None) -> NDArray:
    """Return 2/(1 + t²), twice the squared cosine of the angle with tangent t."""
    out = np.multiply(tangent, tangent, out=out)
    out += 1
    return np.divide(2, out, out=out)
