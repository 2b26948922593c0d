"""Elastic nets: one penalty, the whole path, and one for each column of A.

All work on the quadratic form bᵀQb − 2bᵀc + l1‖b‖₁ with Q = C + ridge I and c = Ca. Linear systems
are those of a support only, and so are products with C.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .covariance import TIE, Covariance, feature_vector, largest, semidefinite
from .sparsity import ridge_of

__all__ = [
    "Collinear",
    "ElasticNets",
    "FixedNets",
    "HeldNets",
    "Nets",
    "Quadratic",
    "RidgeNets",
    "Stretch",
    "ZeroColumn",
    "elastic_net",
    "normal_equations",
    "path",
    "solve",
    "stretch",
    "stretch_with",
]


class Quadratic:
    """Q = C + ridge I, or the identity for ridge = ∞."""

    def __init__(self, C: Covariance, ridge: float):
        self.C, self.ridge, self.soft = C, ridge, ridge == np.inf

    def block(self, T: NDArray) -> NDArray:
        """Return the rows and columns T."""
        if self.soft:
            return np.eye(T.size)
        G = self.C.block(T)
        G.flat[:: T.size + 1] += self.ridge
        return G

    def columns_times(self, T: NDArray, b: NDArray) -> NDArray:
        """Return the columns T times b."""
        out = np.zeros((self.C.d, *b.shape[1:])) if self.soft else self.C.columns_times(T, b)
        out[T] += b if self.soft else self.ridge * b
        return out

    def solve(self, T: NDArray, c: NDArray) -> NDArray:
        """Return the x with Q_T x = c."""
        return c.copy() if self.soft else solve(self.block(T), c, self.ridge)


def normal_equations(C: ArrayLike, a: ArrayLike, ridge: float) -> tuple[NDArray, NDArray]:
    """Return Q = C + ridge I (the identity for ridge = ∞) and c = Ca, all checked."""
    C, ridge = semidefinite(C), ridge_of(ridge)
    c = C @ feature_vector(a, len(C), "a")
    return (np.eye(len(C)) if ridge == np.inf else C + ridge * np.eye(len(C))), c


class Collinear(ValueError):
    """Without a ridge, some features are combinations of others."""


def solve(G: NDArray, c: NDArray, ridge: float = 0.0) -> NDArray:
    """Solve Gx = c for G = C_T + ridge I; without a ridge C_T must be invertible. Costs |T|³."""
    try:
        if ridge == 0 and G.size:
            pivots = np.linalg.cholesky(G).diagonal() ** 2
            if pivots.min() <= 1e-14 * G.diagonal().max():
                raise np.linalg.LinAlgError
        return np.linalg.solve(G, c)
    except np.linalg.LinAlgError:
        raise Collinear(
            "Some features are collinear, and with ridge=0 the minimum is not unique: "
            "give ridge > 0, such as 1e-6."
        ) from None


# One penalty


def elastic_net(Q: Quadratic, c: NDArray, l1: float, start: NDArray) -> NDArray:
    """Minimise bᵀQb − 2bᵀc + l1‖b‖₁ exactly: solve for known signs, and mend them.

    As ``sparse_direction``, but from any start, and with many features at once: those that are
    worst off enter together, and all whose sign turns out wrong are dropped, as long as the value
    falls. If it would not, they go one at a time. With the right signs at the start it costs one
    system; else some, each |T|³ for the support T of that moment.
    """
    b, signs, together = start.copy(), np.sign(start), True
    for _ in range(20 * c.size + 100):
        T = np.flatnonzero(signs)
        if T.size:
            G, target = Q.block(T), c[T] - l1 / 2 * signs[T]
            new = target.copy() if Q.soft else solve(G, target, Q.ridge)
            wrong = new * signs[T] <= 0
            if wrong.any():
                dropped = np.where(wrong, 0.0, new)
                if together and _value(G, c[T], l1, dropped) < _value(G, c[T], l1, b[T]):
                    b[T], signs[T[wrong]] = dropped, 0.0
                else:
                    _stop_at_the_first_zero(b, signs, T, new, wrong)
                continue
            moved = np.abs(new - b[T]).max() > 1e-13 * np.abs(new).max()
            b[T] = new
        else:
            moved = True
        slope = c - Q.columns_times(T, b[T])
        excess = np.abs(slope) - l1 / 2
        excess[T] = 0
        if excess.max() <= 1e-12 * np.abs(c).max():
            break
        together = moved and together
        many = max(10, T.size // 4) if together else 1
        entering = np.argsort(-excess, kind="stable")[:many]
        entering = entering[excess[entering] > 1e-12 * np.abs(c).max()]
        signs[entering] = np.sign(slope[entering])
    return b


def _value(G: NDArray, c: NDArray, l1: float, b: NDArray) -> float:
    return float(b @ (G @ b) - 2 * c @ b + l1 * np.abs(b).sum())


def _stop_at_the_first_zero(
    b: NDArray, signs: NDArray, T: NDArray, new: NDArray, wrong: NDArray
) -> None:
    """Go from b towards ``new`` until the first loadings vanish: they leave."""
    share = b[T][wrong] / (b[T] - new)[wrong]
    leave = T[wrong][share <= share.min()]
    b[T] += share.min() * (new - b[T])
    b[leave] = signs[leave] = 0.0


# The whole path


@dataclass(frozen=True, eq=False)
class Stretch:
    """A piece of the path with one support: b = u − l1 w for l1 from high to low."""

    high: float
    low: float
    support: NDArray
    signs: NDArray
    u: NDArray
    w: NDArray
    event: int  # the feature that enters at low, or ~feature if it leaves; d at the end
    sign: float  # with which sign it enters

    def loadings(self, l1: float) -> NDArray:
        return self.u - l1 * self.w

    def there(self) -> bool:
        """Whether the path has such a piece, beyond rounding."""
        return self.low < self.high * (1 - TIE)

    def inside(self) -> float:
        """A penalty a tenth of the way up, where the support is safe."""
        return 0.0 if self.low <= 1e-12 * self.high else self.low + 0.1 * (self.high - self.low)


def stretch(Q: Quadratic, c: NDArray, T: NDArray, signs: NDArray) -> Stretch:
    """Return the loadings on T with these signs as functions of l1, and where they are optimal."""
    u, w = Q.solve(T, np.column_stack([c[T], signs / 2])).T
    Qu, Qw = Q.columns_times(T, np.column_stack([u, w])).T
    r = c - Qu  # the slope c − Qb off T is r + l1 Qw
    # Off T we need ±(r + l1 Qw) ≤ l1/2, on T signs (u − l1 w) ≥ 0: all are rest ≤ l1 rate.
    rest = np.concatenate([r, -r, -signs * u])
    rate = np.concatenate([0.5 - Qw, 0.5 + Qw, -signs * w])
    rate[T] = rate[T + c.size] = 0.0  # no condition
    with np.errstate(divide="ignore", invalid="ignore"):
        knot = rest / rate
    lows = np.where(rate > 1e-14, knot, -np.inf)
    highs = np.where(rate < -1e-14, knot, np.inf)
    low, d = max(0.0, float(lows.max())), c.size
    ties = np.flatnonzero(lows >= low * (1 - TIE))  # of features that enter together, the first
    at = int(ties[np.argmin(ties % d)]) if low > 0 else d
    event = d if low == 0 else at % d if at < 2 * d else ~int(T[at - 2 * d])
    return Stretch(float(highs.min()), low, T, signs, u, w, event, 1.0 if at < d else -1.0)


def path(Q: Quadratic, c: NDArray) -> Iterator[Stretch]:
    """Follow the elastic net from the largest useful penalty down to zero, piece by piece.

    A piece costs a system of its support and a product with C: |T|³ + |T| d.
    """
    first = largest(c, 1)
    T, signs, high = first, np.sign(c[first]), 2 * float(np.abs(c[first[0]]))
    for _ in range(50 * c.size):
        s = stretch(Q, c, T, signs)
        s = replace(s, high=high, low=min(s.low, high))
        yield s
        if s.event == c.size:
            return
        if s.event >= 0:
            T, signs = np.append(T, s.event), np.append(signs, s.sign)
        else:
            stays = ~s.event != T
            T, signs = T[stays], signs[stays]
        high = s.low


def stretch_with(Q: Quadratic, c: NDArray, count: int) -> Stretch | None:
    """Return a piece of the path with so many features: a good guess, or follow the path.

    None if there is none: features that enter together make the path skip a count.
    """
    T = largest(c, count)
    guess = stretch(Q, c, T, np.sign(c[T]))
    if guess.there():
        return guess
    pieces = (s for s in path(Q, c) if s.support.size == count and s.event >= 0 and s.there())
    return next(pieces, None)


# A net for each column


class Nets(Protocol):
    """The step from A to B: what minimises the criterion for given A, a column each."""

    l1: NDArray  # (k,) the penalties

    def __call__(self, A: NDArray) -> NDArray: ...

    def refuse_zeros(self, A: NDArray, B: NDArray) -> None: ...


class ZeroColumn(ValueError):
    """A penalty makes a whole column zero."""


class RidgeNets:
    """Without ℓ₁: B = (C + ridge I)⁻¹CA for eigenvectors A, which it leaves as they are."""

    def __init__(self, C: Covariance, k: int, ridge: float):
        self.C, self.l1, self.ridge = C, np.zeros(k), ridge

    def __call__(self, A: NDArray) -> NDArray:
        CA = self.C @ A
        return CA if self.ridge == np.inf else CA / (np.sum(A * CA, axis=0) + self.ridge)

    def refuse_zeros(self, A: NDArray, B: NDArray) -> None:
        """All is well: eigenvectors of positive variance aren't zero."""


class ElasticNets:
    """With penalties; each column starts from the signs that it had last."""

    def __init__(self, C: Covariance, l1: NDArray, ridge: float):
        self.Q, self.l1 = Quadratic(C, ridge), l1
        self.last: NDArray | None = None

    def __call__(self, A: NDArray) -> NDArray:
        start = np.zeros_like(A) if self.last is None else self.last
        nets = zip((self.Q.C @ A).T, self.l1, start.T, strict=True)
        self.last = np.column_stack([elastic_net(self.Q, *net) for net in nets])
        return self.last

    def refuse_zeros(self, A: NDArray, B: NDArray) -> None:
        """Refuse a penalty that makes a whole column zero, and say which one would not."""
        empty = np.flatnonzero(~B.any(axis=0))
        if empty.size:
            j = int(empty[0])
            most = 2 * np.abs((self.Q.C @ A)[:, j]).max()
            raise ZeroColumn(
                f"l1={self.l1[j]:.4g} makes component {j + 1} all zeros: the largest useful "
                f"penalty for it is just below {most:.4g}. Give less, or say nonzeros=… instead."
            )


class HeldNets:
    """With supports and signs that are held: b_T = Q_T⁻¹(c_T − l1/2 signs), linear in A."""

    def __init__(
        self,
        C: Covariance,
        supports: list[NDArray],
        signs: list[NDArray],
        l1: NDArray,
        ridge: float,
    ):
        self.C, self.supports, self.signs, self.l1 = C, supports, signs, l1
        Q = Quadratic(C, ridge)
        self.inverses = [Q.solve(T, np.eye(T.size)) for T in supports]

    def __call__(self, A: NDArray) -> NDArray:
        B, CA = np.zeros_like(A), self.C @ A
        for j, (T, signs) in enumerate(zip(self.supports, self.signs, strict=True)):
            B[T, j] = self.inverses[j] @ (CA[T, j] - self.l1[j] / 2 * signs)
        return B

    def refuse_zeros(self, A: NDArray, B: NDArray) -> None:
        """All is well: a loading is zero only by chance."""


class FixedNets:
    """With directions that stay as they are: only A is still to be found."""

    def __init__(self, B: NDArray):
        self.B, self.l1 = B, np.zeros(B.shape[1])

    def __call__(self, A: NDArray) -> NDArray:
        return self.B

    def refuse_zeros(self, A: NDArray, B: NDArray) -> None:
        """All is well: no direction is zero."""
