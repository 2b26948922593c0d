"""Tables of noise: their sides, their size, and the median of their squared singular values."""

from __future__ import annotations

import numpy as np
import scipy  # its parts are loaded where they are used: a sixth less to wait for at an import
from numpy.typing import ArrayLike, NDArray

from .checks import finite_array, number
from .tables import CentredTable

__all__ = ["aspect_ratio", "median_of_noise", "noise_size", "seen_sizes", "sides"]


def median_of_noise(beta: float) -> float:
    """Return the median of the density of Marchenko and Pastur, for a ratio beta of the sides.

    The density has square roots at both ends, which quadrature dislikes. With t = 1 + β − 2√β cos θ
    they disappear, and the share below an angle is integrated in θ to 13 digits.
    """

    def value(theta: float) -> float:  # 1 + β − 2√β cos θ, without cancellation
        return (1 - np.sqrt(beta)) ** 2 + 4 * np.sqrt(beta) * np.sin(theta / 2) ** 2

    def density(theta: float) -> float:
        return 2 / np.pi * np.sin(theta) ** 2 / value(theta)

    def excess(theta: float) -> float:
        return scipy.integrate.quad(density, 0, theta, epsabs=1e-13)[0] - 0.5

    return float(value(scipy.optimize.brentq(excess, 1e-3, np.pi, xtol=1e-13)))


def sides(table: CentredTable) -> tuple[int, int]:
    """Return the shorter and the longer side of (n − 1)×d: centring takes one row away."""
    n, d = table.Xc.shape
    return min(n - 1, d), max(n - 1, d)


def noise_size(sigma: float) -> float:
    """Return sigma, a standard deviation that must be positive."""
    return number(sigma, "sigma", 0.0, open_low=True)


def aspect_ratio(beta: float) -> float:
    """Return beta, the ratio of two sides, in (0, 1]."""
    return number(beta, "beta", 0.0, 1.0, open_low=True, hint=": the short side over the long one")


def seen_sizes(s: ArrayLike, beta: float, unit: float) -> tuple[NDArray, float, float]:
    """Return singular values, the ratio of the sides and the unit of noise, each checked."""
    values = finite_array(s, "s")
    if np.any(values < 0):
        raise ValueError(f"s holds {values.min():.4g}: singular values are non-negative.")
    largest = float(np.finfo(float).max) / 2  # so that the edge of noise, below 2 units, fits
    return values, aspect_ratio(beta), number(unit, "unit", 0.0, largest)
