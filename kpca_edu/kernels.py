"""Kernels: inner products of features that are never computed (chapter 6).

A kernel is called as ``kernel(X, Y)`` and gives the Gram matrix of entries κ(xᵢ, yⱼ); rows are
samples. Kernels add, multiply and have powers. Any other callable that does the same serves as
well, and then the samples may be anything: texts, graphs, trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, factorial, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine import inner_products as rows
from ._engine.checks import data_matrix, generator, number, symmetric_map, tolerance, whole_number
from ._engine.inner_products import Samples, SamplesLike, row_samples
from ._engine.kernel_algebra import (
    InnerProductKernel,
    Kernel,
    RadialKernel,
    Writer,
    log_share,
    mirrored_gram,
    overflow_told,
    written,
)
from ._engine.memory import room_for
from ._engine.new_samples import kernel_values

__all__ = [
    "Kernel",
    "RadialKernel",
    "linear",
    "polynomial",
    "rbf",
    "rbf_from_gamma",
    "laplacian",
    "sigmoid",
    "cosine",
    "check_kernel",
    "gram_matrix",
    "is_psd",
    "polynomial_features",
    "rbf_features",
    "squared_distances",
    "median_sigma",
]

KernelLike = Callable[[Any, Any], NDArray]


# The kernels


def linear() -> Kernel:
    """Return κ(x, y) = xᵀy, whose feature map is φ(x) = x."""
    return _Linear()


def polynomial(degree: int = 2, offset: float = 1.0) -> Kernel:
    """Return κ(x, y) = (xᵀy + offset)^degree :eq:`eq-kpca-poly`.

    >>> polynomial(2)([[1.0, 2.0]], [[2.0, 1.0]])
    array([[25.]])
    """
    return _Polynomial(whole_number(degree, "degree", least=1), _offset(offset))


def rbf(sigma: float) -> RadialKernel:
    """Return κ(x, y) = exp(−‖x − y‖²/2σ²), the Gaussian kernel of width σ :eq:`eq-kpca-rbf`."""
    return _RBF(_width(sigma))


def rbf_from_gamma(gamma: float) -> RadialKernel:
    """Return the kernel that scikit-learn writes as exp(−gamma ‖x − y‖²): σ = 1/√(2 gamma).

    >>> rbf_from_gamma(0.5)
    rbf(sigma=1)
    """
    return rbf(1 / sqrt(2 * number(gamma, "gamma", 0.0, open_low=True)))


def laplacian(sigma: float) -> RadialKernel:
    """Return κ(x, y) = exp(−‖x − y‖/σ), with the Euclidean distance."""
    return _Laplacian(_width(sigma))


def sigmoid(scale: float = 1.0, offset: float = 0.0) -> Kernel:
    """Return tanh(scale·xᵀy + offset), no true kernel: its Gram matrices can be indefinite."""
    return _Sigmoid(number(scale, "scale"), number(offset, "offset"))


def cosine() -> Kernel:
    """Return κ(x, y) = xᵀy/(‖x‖‖y‖), the cosine of the angle between x and y."""
    return _Cosine()


# Their formulas


@dataclass(frozen=True, repr=False)
class _Linear(InnerProductKernel):
    """f(p) = p."""

    def outer(self, P: NDArray) -> NDArray:
        return P

    def outer_derivative(self, P: NDArray) -> NDArray:
        return np.ones_like(P)

    def _written(self, write: Writer) -> str:
        return "linear()"


@dataclass(frozen=True, repr=False)
class _Polynomial(InnerProductKernel):
    """f(p) = (p + offset)^degree."""

    degree: int
    offset: float

    def outer(self, P: NDArray) -> NDArray:
        P += self.offset
        return np.power(P, self.degree, out=P)

    def outer_derivative(self, P: NDArray) -> NDArray:
        return self.degree * (P + self.offset) ** (self.degree - 1)

    def _written(self, write: Writer) -> str:
        return written("polynomial", write, degree=self.degree, offset=self.offset)


@dataclass(frozen=True, repr=False)
class _Sigmoid(InnerProductKernel):
    """f(p) = tanh(scale·p + offset)."""

    scale: float
    offset: float

    def outer(self, P: NDArray) -> NDArray:
        P *= self.scale
        P += self.offset
        return np.tanh(P, out=P)

    def outer_derivative(self, P: NDArray) -> NDArray:
        return self.scale * (1 - np.tanh(self.scale * P + self.offset) ** 2)

    def _written(self, write: Writer) -> str:
        return written("sigmoid", write, scale=self.scale, offset=self.offset)


@dataclass(frozen=True, repr=False)
class _RBF(RadialKernel):
    """g(D²) = exp(−D²/2σ²)."""

    sigma: float

    def profile(self, D2: NDArray) -> NDArray:
        D2 *= -1 / (2 * self.sigma**2)
        return np.exp(D2, out=D2)

    def profile_derivative(self, D2: NDArray) -> NDArray:
        return -np.exp(-D2 / (2 * self.sigma**2)) / (2 * self.sigma**2)

    def profile_and_derivative(self, D2: NDArray) -> tuple[NDArray, NDArray]:
        g = self.profile(D2)
        return g, g * (-1 / (2 * self.sigma**2))

    def inverse_profile(self, values: NDArray) -> NDArray:
        return -2 * self.sigma**2 * log_share(values)

    def _written(self, write: Writer) -> str:
        return written("rbf", write, sigma=self.sigma)


@dataclass(frozen=True, repr=False)
class _Laplacian(RadialKernel):
    """g(D²) = exp(−D/σ)."""

    sigma: float

    def profile(self, D2: NDArray) -> NDArray:
        np.sqrt(D2, out=D2)
        D2 *= -1 / self.sigma
        return np.exp(D2, out=D2)

    def profile_derivative(self, D2: NDArray) -> NDArray:
        """Return g′; at distance 0 the kernel has a tip, and of its slopes 0 is taken."""
        return self.profile_and_derivative(D2.copy())[1]

    def profile_and_derivative(self, D2: NDArray) -> tuple[NDArray, NDArray]:
        D = np.sqrt(D2, out=D2)
        g = np.exp(D * (-1 / self.sigma))
        return g, np.where(D > 0, g, 0) / (-2 * self.sigma * np.where(D > 0, D, 1))

    def inverse_profile(self, values: NDArray) -> NDArray:
        return (self.sigma * log_share(values)) ** 2

    def _matrix(self, X: Samples, Y: Samples) -> NDArray:
        D = rows.distances(X, Y)  # one by one: a root would double the rounding of those near 0
        D *= -1 / self.sigma
        return np.exp(D, out=D)

    def _written(self, write: Writer) -> str:
        return written("laplacian", write, sigma=self.sigma)


@dataclass(frozen=True, repr=False)
class _Cosine(Kernel):
    """The inner product of unit vectors."""

    def _matrix(self, X: Samples, Y: Samples) -> NDArray:
        return rows.inner_products(rows.unit_rows(X, "X")[0], rows.unit_rows(Y, "Y")[0])

    def _diagonal(self, X: Samples) -> NDArray:
        return np.ones_like(rows.unit_rows(X, "X")[1])

    def _gradient(self, T: NDArray, X: Samples, W: NDArray) -> NDArray:
        (t, lengths), (x, _) = rows.unit_rows(T, "T"), rows.unit_rows(X, "X")
        along = np.sum(W * rows.inner_products(t, x), axis=1)[:, None]
        return (W @ x - along * t) / lengths[:, None]

    def _diagonal_gradient(self, T: NDArray) -> NDArray:
        return np.zeros_like(T)  # κ(t, t) = 1 for every t

    def _written(self, write: Writer) -> str:
        return "cosine()"


# Gram matrices


def gram_matrix(
    X: SamplesLike | Sequence, kernel: KernelLike, *, progress: bool = False
) -> NDArray:
    """Return the (n, n) matrix of κ(xᵢ, xⱼ) :eq:`eq-kpca-gram`.

    A kernel of this module compares each pair of samples once, in blocks of rows;
    any other callable gets X whole.

    >>> gram_matrix([[1.0, 0.0], [1.0, 2.0]], linear())
    array([[1., 1.],
           [1., 5.]])
    """
    if isinstance(kernel, Kernel):
        return mirrored_gram(kernel, row_samples(X), progress)
    return kernel_values(check_kernel(kernel), X, X)


def check_kernel(kernel: KernelLike) -> KernelLike:
    """Return the kernel, if it can be one: a kernel of this module or a callable.

    >>> check_kernel("rbf")
    Traceback (most recent call last):
    ...
    ValueError: kernel='rbf': the kernel itself is needed, not its name. Import it from \
kpca_edu.kernels and call it, as in rbf(sigma=1.0).
    """
    if isinstance(kernel, str):
        raise ValueError(
            f"kernel={kernel!r}: the kernel itself is needed, not its name. Import it from "
            f"kpca_edu.kernels and call it, as in rbf(sigma=1.0)."
        )
    if getattr(kernel, "__module__", "") == __name__ and hasattr(kernel, "__name__"):
        raise ValueError(
            f"kernel={kernel.__name__} is a function that makes kernels: call it first, as in "
            f"rbf(sigma=1.0) or polynomial(2)."
        )
    if not callable(kernel):
        raise ValueError(
            f"kernel is {type(kernel).__name__}: a kernel is needed, such as rbf(sigma=1.0) from "
            f"kpca_edu.kernels, or a function of X and Y that returns the matrix of κ(xᵢ, yⱼ)."
        )
    return kernel


def is_psd(K: ArrayLike, tol: float | None = None) -> bool:
    """Tell whether cᵀKc ≥ 0 for all c, up to rounding :eq:`eq-kpca-psd`.

    K : (n, n), symmetric. Eigenvalues down to −tol times the largest modulus
    pass; unless given, tol is 10 n machine precisions.

    >>> is_psd([[1.0, 2.0], [2.0, 4.0]]), is_psd([[1.0, 2.0], [2.0, 1.0]])
    (True, False)
    """
    lam = np.linalg.eigvalsh(np.asarray(symmetric_map(data_matrix(K, "K"))))
    if tol is None:
        tol = 10 * len(lam) * float(np.finfo(lam.dtype).eps)
    return bool(lam[0] >= -tolerance(tol) * np.abs(lam).max())


# Features, written out


def polynomial_features(X: ArrayLike, degree: int = 2, offset: float = 1.0) -> NDArray:
    """Return φ(X) with φ(x)ᵀφ(y) = (xᵀy + offset)^degree, written out.

    X : (n, d); a column for each monomial :eq:`eq-kpca-poly-features` of
    degree at most ``degree``, all C(d + degree, degree) of them
    :eq:`eq-kpca-count`, or only those of that very degree if the offset is 0.

    >>> polynomial_features([[1.0, 10.0]]).round(2).tolist()
    [[1.0, 1.41, 14.14, 1.0, 14.14, 100.0]]
    """
    X, degree, c = data_matrix(X), whole_number(degree, "degree", least=1), _offset(offset)
    columns = []
    n, d = X.shape
    with overflow_told():
        for factors in _monomials(n, d, degree, c):  # (0, 0, 2) stands for x₁²x₃
            rest = degree - len(factors)  # so many of the brackets give the offset
            times = factorial(degree) // factorial(rest)
            for m in np.bincount(factors):
                times //= factorial(m)  # p!/(m₀! m₁! ⋯ m_d!)
            columns.append(sqrt(times * c**rest) * np.prod(X[:, factors], axis=1))
    return np.column_stack(columns)


def _monomials(n: int, d: int, degree: int, offset: float) -> Iterator[list[int]]:
    """Yield the features that are multiplied in each monomial, lowest degree first."""
    _refuse_many(n, d, degree, bool(offset), f"polynomial({degree}, {offset:g})")
    for total in range(0 if offset else degree, degree + 1):
        yield from map(list, combinations_with_replacement(range(d), total))


def _refuse_many(n: int, d: int, degree: int, lower: bool, kernel: str) -> None:
    """Refuse more monomials than can be written out in some seconds and a gigabyte.

    They are those of that very degree, or with ``lower`` of all degrees up to it.
    """
    if degree > 170:
        raise ValueError(f"degree={degree}: at most 170, since 171! is too large for a float.")
    size, most = comb(d + degree - (not lower), degree), min(10**8 // n, 10**6)
    if size > most:
        raise ValueError(
            f"Degree {degree} of {d} features has {size:,} monomials, more than the {most:,} that "
            f"are written out for {n} samples: the kernel {kernel} needs none of them."
        )


def _taylor_degree(X: ArrayLike, degree: int) -> int:
    """Return the degree, if all monomials up to it can be written out."""
    (n, d), degree = np.shape(X), whole_number(degree, "degree")
    _refuse_many(n, d, degree, True, "rbf(sigma)")
    return degree


def rbf_features(X: ArrayLike, sigma: float, degree: int) -> NDArray:
    """Return the Taylor features of the RBF kernel up to a degree.

    X : (n, d). exp(xᵀy/σ²) is the sum of all (xᵀy/σ²)^m/m!, and each of them
    is a polynomial kernel :eq:`eq-kpca-rbf-features`, so a column is a monomial
    over σ^m √(m₁!⋯m_d!), times exp(−‖x‖²/2σ²) :eq:`eq-kernels-rbf-map`. The inner
    products miss κ(x, y) by the terms m > degree: by little only where xᵀy is
    far below degree·σ².
    """
    X, degree = data_matrix(X) / _width(sigma), _taylor_degree(X, degree)
    columns = [np.ones(len(X), X.dtype)]
    for m in range(1, degree + 1):
        power = polynomial_features(X, m, offset=0.0)  # (xᵀy)^m
        columns.append(power / sqrt(factorial(m)))
    bell = np.exp(-rows.squared_norms(X) / 2)[:, None]
    return bell * np.column_stack(columns)


# Distances and widths


def squared_distances(X: SamplesLike, Y: SamplesLike) -> NDArray:
    """Return the matrix of ‖xᵢ − yⱼ‖² = ‖xᵢ‖² + ‖yⱼ‖² − 2xᵢᵀyⱼ, by one matrix product.

    X : (m, d), Y : (n, d). Dense samples are moved to the origin first, so that nearby points far
    from it keep their digits.
    """
    first, second = rows.pairs_of_rows(X, Y)
    rows.room_for_pairs(first, second, "The matrix of distances", "take fewer samples.")
    with np.errstate(over="ignore", invalid="ignore"):  # refused just below
        D2 = rows.squared_distances(first, second)
    rows.refuse_far(float(D2.max()))
    return D2


def median_sigma(
    X: SamplesLike, *, max_samples: int = 2000, rng: int | np.random.Generator = 0
) -> float:
    """Return the median distance between two samples, a first guess for the width of a kernel.

    Of more than ``max_samples`` samples, as many are drawn at random.

    >>> median_sigma([[0.0], [1.0], [3.0]])
    2.0
    """
    samples, most = row_samples(X), whole_number(max_samples, "max_samples", least=2)
    rng = generator(rng)
    n = samples.shape[0]
    if n < 2:
        raise ValueError("X has one row: a distance needs two samples.")
    room_for(min(n, most), min(n, most) // 2, "A distance for each pair", "take fewer max_samples.")
    if n > most:
        samples = samples[rng.choice(n, most, replace=False)]
    sigma = float(np.median(rows.pair_distances(samples), overwrite_input=True))
    rows.refuse_far(sigma)
    if sigma == 0:
        raise ValueError(
            "At least half of all pairs of samples are equal, and their median distance is 0: "
            "drop the duplicates, or choose a width yourself."
        )
    return sigma


# Helpers


def _offset(value: float) -> float:
    hint = ": a negative one makes no kernel, since κ(x, x) could be negative"
    return number(value, "offset", 0.0, hint=hint)


def _width(sigma: float) -> float:
    hint = ": a width is positive, and it is squared; median_sigma(X) is a first guess"
    return number(sigma, "sigma", 1e-150, 1e150, hint=hint)
