"""Kernels: inner products of features that are never computed (opens chapter 5).

A kernel is called as ``kernel(X, Y)`` and gives the Gram matrix of entries κ(xᵢ, yⱼ); rows are
samples. Kernels add, multiply and scale. Any other callable that does the same serves as well,
and then the samples may be anything: texts, graphs, trees.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, factorial, sqrt
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist, pdist

from ._engine.checks import data_matrix, symmetric_map, tolerance, whole_number
from ._engine.panels import lower_panels, mirrored

__all__ = [
    "Kernel",
    "RadialKernel",
    "linear",
    "polynomial",
    "rbf",
    "laplacian",
    "sigmoid",
    "cosine",
    "gram_matrix",
    "is_psd",
    "polynomial_features",
    "rbf_features",
    "median_sigma",
]

KernelLike = Callable[[Any, Any], NDArray]


# What a kernel can do


class Kernel(ABC):
    """A kernel κ on vectors :eq:`eq-kpca-kernel`: Gram matrices, gradients and closure.

    ``+`` and ``*`` make new kernels of old ones :eq:`eq-kpca-closure`.
    """

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray:
        """Return the matrix of κ(xᵢ, yⱼ), X : (m, d), Y : (n, d); Y is X if left out."""
        if Y is None or Y is X:
            return gram_matrix(self, X)
        X, Y = data_matrix(X), data_matrix(Y, "Y")
        if X.shape[1] != Y.shape[1]:
            raise ValueError(
                f"X has {X.shape[1]} columns and Y has {Y.shape[1]}: "
                f"a kernel compares samples with the same features."
            )
        return self._matrix(X, Y)

    @abstractmethod
    def diagonal(self, X: ArrayLike) -> NDArray:
        """Return κ(x, x) of each row x of X : (n, d), as (n,)."""

    @abstractmethod
    def gradient(self, T: ArrayLike, X: ArrayLike, W: ArrayLike) -> NDArray:
        """Return, for each row t of T, the gradient of Σᵢ wᵢ κ(t, xᵢ) in t.

        T : (m, d), X : (n, d), W : (m, n), a row of weights for each t; the result is (m, d).
        """

    @abstractmethod
    def diagonal_gradient(self, T: ArrayLike) -> NDArray:
        """Return the gradient of κ(t, t) in t for each row t of T : (m, d), as (m, d)."""

    @abstractmethod
    def _matrix(self, X: NDArray, Y: NDArray) -> NDArray: ...

    def __add__(self, other: Kernel) -> Kernel:
        return _Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel):
            return _Product(self, other)
        return _Multiple(_factor(other), self) if isinstance(other, Real) else NotImplemented

    def __rmul__(self, factor: float) -> Kernel:
        return self * factor


class InnerProductKernel(Kernel):
    """A kernel f(xᵀy) of the inner product."""

    @abstractmethod
    def outer(self, P: NDArray) -> NDArray:
        """Return f of inner products P; the array P may be overwritten."""

    @abstractmethod
    def outer_derivative(self, P: NDArray) -> NDArray:
        """Return f′ of inner products P."""

    def diagonal(self, X: ArrayLike) -> NDArray:
        return self.outer(_squared_norms(data_matrix(X)))

    def gradient(self, T: ArrayLike, X: ArrayLike, W: ArrayLike) -> NDArray:
        T, X = data_matrix(T, "T"), data_matrix(X)
        return (W * self.outer_derivative(T @ X.T)) @ X

    def diagonal_gradient(self, T: ArrayLike) -> NDArray:
        T = data_matrix(T, "T")
        return 2 * self.outer_derivative(_squared_norms(T))[:, None] * T

    def _matrix(self, X: NDArray, Y: NDArray) -> NDArray:
        return self.outer(X @ Y.T)


class RadialKernel(Kernel):
    """A kernel g(‖x − y‖²) of the squared distance."""

    @abstractmethod
    def profile(self, D2: NDArray) -> NDArray:
        """Return g of squared distances D2; the array D2 may be overwritten."""

    @abstractmethod
    def profile_derivative(self, D2: NDArray) -> NDArray:
        """Return g′ of squared distances D2."""

    def diagonal(self, X: ArrayLike) -> NDArray:
        X = data_matrix(X)
        return np.full(len(X), self.profile(np.zeros(1, X.dtype))[0])

    def gradient(self, T: ArrayLike, X: ArrayLike, W: ArrayLike) -> NDArray:
        T, X = data_matrix(T, "T"), data_matrix(X)
        slope = 2 * W * self.profile_derivative(squared_distances(T, X))
        return slope.sum(axis=1)[:, None] * T - slope @ X

    def diagonal_gradient(self, T: ArrayLike) -> NDArray:
        return np.zeros_like(data_matrix(T, "T"))  # κ(t, t) = g(0) for every t

    def _matrix(self, X: NDArray, Y: NDArray) -> NDArray:
        return self.profile(squared_distances(X, Y))


# The kernels


def linear() -> Kernel:
    """Return κ(x, y) = xᵀy, whose feature map is φ(x) = x."""
    return _Linear()


def polynomial(degree: int = 2, offset: float = 1.0) -> Kernel:
    """Return κ(x, y) = (xᵀy + offset)^degree :eq:`eq-kpca-poly`."""
    return _Polynomial(whole_number(degree, "degree", least=1), tolerance(offset, "offset"))


def rbf(sigma: float) -> RadialKernel:
    """Return κ(x, y) = exp(−‖x − y‖²/2σ²), the Gaussian kernel of width σ :eq:`eq-kpca-rbf`."""
    return _RBF(_width(sigma))


def laplacian(sigma: float) -> RadialKernel:
    """Return κ(x, y) = exp(−‖x − y‖/σ), with the Euclidean distance."""
    return _Laplacian(_width(sigma))


def sigmoid(scale: float = 1.0, offset: float = 0.0) -> Kernel:
    """Return tanh(scale·xᵀy + offset), no true kernel: its Gram matrices can be indefinite."""
    return _Sigmoid(_number(scale, "scale"), _number(offset, "offset"))


def cosine() -> Kernel:
    """Return κ(x, y) = xᵀy/(‖x‖‖y‖), the cosine of the angle between x and y."""
    return _Cosine()


@dataclass(frozen=True)
class _Linear(InnerProductKernel):
    def outer(self, P: NDArray) -> NDArray:
        return P

    def outer_derivative(self, P: NDArray) -> NDArray:
        return np.ones_like(P)


@dataclass(frozen=True)
class _Polynomial(InnerProductKernel):
    degree: int
    offset: float

    def outer(self, P: NDArray) -> NDArray:
        P += self.offset
        return np.power(P, self.degree, out=P)

    def outer_derivative(self, P: NDArray) -> NDArray:
        return self.degree * (P + self.offset) ** (self.degree - 1)


@dataclass(frozen=True)
class _Sigmoid(InnerProductKernel):
    scale: float
    offset: float

    def outer(self, P: NDArray) -> NDArray:
        P *= self.scale
        P += self.offset
        return np.tanh(P, out=P)

    def outer_derivative(self, P: NDArray) -> NDArray:
        return self.scale / np.cosh(self.scale * P + self.offset) ** 2


@dataclass(frozen=True)
class _RBF(RadialKernel):
    sigma: float

    def profile(self, D2: NDArray) -> NDArray:
        D2 *= -1 / (2 * self.sigma**2)
        return np.exp(D2, out=D2)

    def profile_derivative(self, D2: NDArray) -> NDArray:
        return -np.exp(-D2 / (2 * self.sigma**2)) / (2 * self.sigma**2)


@dataclass(frozen=True)
class _Laplacian(RadialKernel):
    sigma: float

    def profile(self, D2: NDArray) -> NDArray:
        np.sqrt(D2, out=D2)
        D2 *= -1 / self.sigma
        return np.exp(D2, out=D2)

    def profile_derivative(self, D2: NDArray) -> NDArray:
        """Return g′; at distance 0 the kernel has a tip, and of its slopes 0 is taken."""
        D = np.sqrt(D2)
        slope = -np.exp(-D / self.sigma) / (2 * self.sigma * np.where(D > 0, D, 1))
        return np.where(D > 0, slope, 0)

    def _matrix(self, X: NDArray, Y: NDArray) -> NDArray:
        # A root doubles the rounding of distances near 0: they are taken one by one, not from XYᵀ.
        D = cdist(X, Y).astype(np.result_type(X, Y), copy=False)
        D *= -1 / self.sigma
        return np.exp(D, out=D)


@dataclass(frozen=True)
class _Cosine(Kernel):
    def diagonal(self, X: ArrayLike) -> NDArray:
        return np.ones_like(_lengths(data_matrix(X), "X"))

    def gradient(self, T: ArrayLike, X: ArrayLike, W: ArrayLike) -> NDArray:
        T, X = data_matrix(T, "T"), data_matrix(X)
        lengths = _lengths(T, "T")[:, None]
        T, X, W = T / lengths, X / _lengths(X, "X")[:, None], np.asarray(W)
        along = np.sum(W * (T @ X.T), axis=1)[:, None]
        return (W @ X - along * T) / lengths

    def diagonal_gradient(self, T: ArrayLike) -> NDArray:
        return np.zeros_like(data_matrix(T, "T"))  # κ(t, t) = 1 for every t

    def _matrix(self, X: NDArray, Y: NDArray) -> NDArray:
        return (X / _lengths(X, "X")[:, None]) @ (Y / _lengths(Y, "Y")[:, None]).T


# Closure: sums, products and multiples of kernels are kernels


@dataclass(frozen=True)
class _Sum(Kernel):
    first: Kernel
    second: Kernel

    def diagonal(self, X: ArrayLike) -> NDArray:
        return self.first.diagonal(X) + self.second.diagonal(X)

    def gradient(self, T: ArrayLike, X: ArrayLike, W: ArrayLike) -> NDArray:
        return self.first.gradient(T, X, W) + self.second.gradient(T, X, W)

    def diagonal_gradient(self, T: ArrayLike) -> NDArray:
        return self.first.diagonal_gradient(T) + self.second.diagonal_gradient(T)

    def _matrix(self, X: NDArray, Y: NDArray) -> NDArray:
        K = self.first._matrix(X, Y)
        K += self.second._matrix(X, Y)
        return K


@dataclass(frozen=True)
class _Product(Kernel):
    first: Kernel
    second: Kernel

    def diagonal(self, X: ArrayLike) -> NDArray:
        return self.first.diagonal(X) * self.second.diagonal(X)

    def gradient(self, T: ArrayLike, X: ArrayLike, W: ArrayLike) -> NDArray:
        by_first = self.first.gradient(T, X, W * self.second(T, X))
        return by_first + self.second.gradient(T, X, W * self.first(T, X))

    def diagonal_gradient(self, T: ArrayLike) -> NDArray:
        by_first = self.first.diagonal_gradient(T) * self.second.diagonal(T)[:, None]
        return by_first + self.second.diagonal_gradient(T) * self.first.diagonal(T)[:, None]

    def _matrix(self, X: NDArray, Y: NDArray) -> NDArray:
        K = self.first._matrix(X, Y)
        K *= self.second._matrix(X, Y)
        return K


@dataclass(frozen=True)
class _Multiple(Kernel):
    factor: float
    kernel: Kernel

    def diagonal(self, X: ArrayLike) -> NDArray:
        return self.factor * self.kernel.diagonal(X)

    def gradient(self, T: ArrayLike, X: ArrayLike, W: ArrayLike) -> NDArray:
        return self.factor * self.kernel.gradient(T, X, W)

    def diagonal_gradient(self, T: ArrayLike) -> NDArray:
        return self.factor * self.kernel.diagonal_gradient(T)

    def _matrix(self, X: NDArray, Y: NDArray) -> NDArray:
        K = self.kernel._matrix(X, Y)
        K *= self.factor
        return K


# Gram matrices, features and widths


def gram_matrix(
    kernel: KernelLike,
    X: ArrayLike | Sequence,
    progress: bool = False,
) -> NDArray:
    """Return the (n, n) matrix of κ(xᵢ, xⱼ) :eq:`eq-kpca-gram`.

    Each pair of samples is compared once: for a :class:`Kernel` the lower
    triangle is computed in panels of rows and mirrored, so that little more
    than the matrix itself is in memory. Any other callable gets X whole.
    """
    if not isinstance(kernel, Kernel):
        return np.asarray(kernel(X, X))
    X = data_matrix(X)
    K = np.empty((len(X), len(X)), X.dtype)
    return mirrored(lower_panels(kernel, X, progress), K)


def squared_distances(X: NDArray, Y: NDArray) -> NDArray:
    """Return the matrix of ‖xᵢ − yⱼ‖², by one matrix product.

    ‖x − y‖² = ‖x‖² + ‖y‖² − 2xᵀy cancels badly far from the origin: both
    are moved there first.
    """
    origin = Y.mean(axis=0)
    X, Y = X - origin, Y - origin
    D2 = X @ (-2 * Y.T)
    D2 += _squared_norms(X)[:, None]
    D2 += _squared_norms(Y)
    return np.maximum(D2, 0, out=D2)


def is_psd(K: ArrayLike, tol: float | None = None) -> bool:
    """Tell whether cᵀKc ≥ 0 for all c, up to rounding :eq:`eq-kpca-psd`.

    K : (n, n), symmetric. Eigenvalues down to −tol times the largest modulus
    pass; unless given, tol is 10 n machine precisions.

    >>> is_psd([[1.0, 2.0], [2.0, 4.0]]), is_psd([[1.0, 2.0], [2.0, 1.0]])
    (True, False)
    """
    K = symmetric_map(data_matrix(K, "K"))
    if tol is None:
        tol = 10 * len(K) * float(np.finfo(K.dtype).eps)
    lam = np.linalg.eigvalsh(K)
    return bool(lam[0] >= -tolerance(tol) * np.abs(lam).max())


def polynomial_features(
    X: ArrayLike,
    degree: int = 2,
    offset: float = 1.0,
) -> NDArray:
    """Return φ(X) with φ(x)ᵀφ(y) = (xᵀy + offset)^degree, written out.

    X : (n, d); a column for each monomial :eq:`eq-kpca-poly-features` of
    degree at most ``degree``, all C(d + degree, degree) of them
    :eq:`eq-kpca-count`, or only those of that very degree if the offset is 0.

    >>> polynomial_features([[1.0, 10.0]]).round(2).tolist()
    [[1.0, 1.41, 14.14, 1.0, 14.14, 100.0]]
    """
    X = data_matrix(X)
    n, d = X.shape
    degree = whole_number(degree, "degree", least=1)
    offset = tolerance(offset, "offset")
    size = comb(d + degree, degree) if offset else comb(d + degree - 1, degree)
    if n * size > 10**8:
        raise ValueError(
            f"Degree {degree} of {d} features has {size:,} monomials, for {n} "
            f"samples more than 10⁸ numbers: the kernel "
            f"polynomial({degree}, {offset:g}) needs none of them."
        )
    columns = [
        _monomial(X, factors, degree, offset)
        for total in (range(degree + 1) if offset else [degree])
        for factors in combinations_with_replacement(range(d), total)
    ]
    return np.column_stack(columns)


def rbf_features(X: ArrayLike, sigma: float, degree: int) -> NDArray:
    """Return the Taylor features of the RBF kernel up to a degree.

    X : (n, d). exp(xᵀy/σ²) is the sum of all (xᵀy/σ²)^m/m!, and each of them
    is a polynomial kernel :eq:`eq-kpca-rbf-features`. The inner products miss
    κ(x, y) by the terms m > degree: by little only where xᵀy is far below
    degree·σ².
    """
    X = data_matrix(X) / _width(sigma)
    columns = [np.ones(len(X), X.dtype)]
    for m in range(1, whole_number(degree, "degree") + 1):
        power = polynomial_features(X, m, offset=0.0)  # (xᵀy)^m
        columns.append(power / sqrt(factorial(m)))
    bell = np.exp(-_squared_norms(X) / 2)[:, None]
    return bell * np.column_stack(columns)


def _monomial(
    X: NDArray,
    factors: tuple[int, ...],
    degree: int,
    offset: float,
) -> NDArray:
    """Return a product of columns of X times the root of its coefficient."""
    rest = degree - len(factors)  # so many of the brackets give the offset
    orders = factorial(degree) // factorial(rest)
    for repeats in np.unique(factors, return_counts=True)[1]:
        orders //= factorial(int(repeats))
    return sqrt(orders * offset**rest) * np.prod(X[:, list(factors)], axis=1)


def median_sigma(
    X: ArrayLike, max_samples: int = 2000, rng: int | np.random.Generator = 0
) -> float:
    """Return the median distance between two samples, a first guess for the width of a kernel.

    Of more than ``max_samples`` samples, as many are drawn at random.

    >>> median_sigma([[0.0], [1.0], [3.0]])
    2.0
    """
    X = data_matrix(X)
    if len(X) < 2:
        raise ValueError("X has one row: a distance needs two samples.")
    if len(X) > whole_number(max_samples, "max_samples", least=2):
        X = X[np.random.default_rng(rng).choice(len(X), max_samples, replace=False)]
    sigma = float(np.median(pdist(X)))
    if sigma == 0:
        raise ValueError(
            "At least half of all pairs of samples are equal, and their median distance is 0: "
            "drop the duplicates, or choose a width yourself."
        )
    return sigma


# Helpers


def _squared_norms(X: NDArray) -> NDArray:
    return np.einsum("ij,ij->i", X, X)


def _lengths(X: NDArray, name: str) -> NDArray:
    lengths = np.sqrt(_squared_norms(X))
    if not lengths.all():
        raise ValueError(
            f"Row {int(np.argmin(lengths))} of {name} is zero and has no direction: the cosine of "
            f"its angle to others does not exist. Drop such rows."
        )
    return lengths


def _number(value: float, name: str) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or not np.isfinite(value):
        raise ValueError(f"{name}={value!r}: a finite number is needed.")
    return float(value)


def _width(sigma: float) -> float:
    if not 1e-150 <= _number(sigma, "sigma") <= 1e150:
        raise ValueError(
            f"sigma={sigma!r}: the width of a kernel is a positive number (from 1e-150 to 1e150, "
            f"since it is squared); median_sigma(X) is a first guess."
        )
    return float(sigma)


def _factor(value: float) -> float:
    if _number(value, "factor") < 0:
        raise ValueError(
            f"A kernel times {value!r} is none: κ(x, x) would be negative. "
            f"Factors from 0 up keep a kernel a kernel."
        )
    return float(value)
