"""Random matrices whose decomposition is known, and residuals in units of machine precision.

Nothing here calls the library: what the tests expect is made without it.
"""

from typing import NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

EPS = np.finfo(float).eps
LAUCHLI = np.array([[1.0, 1.0], [1e-9, 0.0], [0.0, 1e-9]])  # s = (√(2 + 1e-18), 1e-9)

thorough = settings(max_examples=100, deadline=None, derandomize=True)
sparing = settings(max_examples=15, deadline=None, derandomize=True)  # for slow properties

seeds = st.integers(0, 2**32 - 1)
scales = st.sampled_from([1e-150, 1e-20, 1.0, 1e20, 1e150])


class Known(NamedTuple):
    """A = U diag(s) Vᵀ, made from its factors."""

    A: NDArray
    U: NDArray
    s: NDArray
    V: NDArray
    rng: np.random.Generator

    @property
    def size(self) -> int:
        return max(self.A.shape)

    @property
    def top(self) -> float:
        """The largest singular value, the unit in which errors are measured (1 for A = 0)."""
        return self.s.max(initial=0.0) or 1.0


@st.composite
def known_svds(draw, scales=scales, max_side=12, max_fall=20, ranks=None) -> Known:
    """Draw a matrix of any shape and rank; s falls from scale to scale·2^−max_fall, with ties."""
    n, d = draw(st.integers(1, max_side)), draw(st.integers(1, max_side))
    r = draw(st.integers(0, min(n, d)) if ranks is None else ranks(min(n, d)))
    halvings = draw(st.lists(st.integers(0, max_fall), min_size=r, max_size=r))
    s = draw(scales) * 0.5 ** np.sort(np.array(halvings, float))
    rng = np.random.default_rng(draw(seeds))
    U, V = orthonormal(n, r, rng), orthonormal(d, r, rng)
    return Known((U * s) @ V.T, U, s, V, rng)


moderate = known_svds(scales=st.just(1.0), max_fall=4)  # s between 1/16 and 1
not_zero = known_svds(ranks=lambda most: st.integers(1, most))


def orthonormal(n: int, k: int, rng: int | np.random.Generator = 0) -> NDArray:
    """Return n×k random orthonormal columns."""
    return np.linalg.qr(np.random.default_rng(rng).standard_normal((n, k)))[0]


def random_of_rank(k: int, like: NDArray, rng: np.random.Generator) -> NDArray:
    """Return a random matrix of rank k, of the shape of the given one."""
    n, d = like.shape
    return rng.standard_normal((n, k)) @ rng.standard_normal((k, d))


def assert_tiny(residual, units: float, scale: float = 1.0) -> None:
    """Assert that no entry exceeds ``units`` · machine precision · scale (16 for the constant)."""
    worst = np.max(np.abs(residual), initial=0.0) / scale
    assert worst <= 16 * units * EPS, f"{worst / EPS:.4g} eps; allowed are {16 * units:.4g}"


def assert_orthonormal(Q: NDArray, units: float) -> None:
    """Assert QᵀQ = I to so many units of machine precision."""
    assert_tiny(Q.T @ Q - np.eye(Q.shape[1]), units)
