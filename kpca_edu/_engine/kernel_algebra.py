"""What all kernels have in common: checks, Gram matrices, gradients, sums and products.

A kernel of inner products or of distances says only its formula and the derivative of it; the
rest is here. Inputs are checked once, at the public methods; the private ones take them as they
are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import data_matrix, is_number, number, whole_number
from .inner_products import (
    Samples,
    SamplesLike,
    inner_products,
    pairs_of_rows,
    room_for_pairs,
    row_samples,
    squared_distances,
    squared_norms,
)
from .panels import lower_panels, mirrored

__all__ = [
    "OVERFLOW",
    "InnerProductKernel",
    "Kernel",
    "RadialKernel",
    "gradient_arguments",
    "log_share",
    "mirrored_gram",
    "overflow_told",
    "written",
]

Writer = Callable[[float], str]
OVERFLOW = "The kernel overflows on these samples: divide X by a number first."
IN_PARTS = "take fewer samples at a time, or features: nystrom(X, m, kernel)."


class Kernel(ABC):
    """A kernel κ on vectors: called on samples it gives their Gram matrix.

    Samples are the rows of dense or sparse matrices. ``+``, ``*`` and whole powers make new
    kernels of old ones; ``kernel + 1`` adds a constant, ``2 * kernel`` multiplies.
    """

    __array_ufunc__ = None  # so that NumPy leaves np.float64(2) * kernel to __rmul__

    def __call__(self, X: SamplesLike, Y: SamplesLike | None = None) -> NDArray:
        """Return the matrix of κ(xᵢ, yⱼ), X : (m, d), Y : (n, d); Y is X if left out."""
        if Y is None or Y is X:
            return mirrored_gram(self, row_samples(X))
        rows, columns = pairs_of_rows(X, Y)
        room_for_pairs(rows, columns, "The matrix of kernel values", IN_PARTS)
        return self._finite_matrix(rows, columns)

    def diagonal(self, X: SamplesLike) -> NDArray:
        """Return κ(x, x) of each row x of X : (n, d), as (n,)."""
        with overflow_told():
            return _finite(self._diagonal(row_samples(X)))

    def gradient(self, T: ArrayLike, X: SamplesLike, W: ArrayLike) -> NDArray:
        """Return, for each row t of T, the gradient of Σᵢ wᵢ κ(t, xᵢ) in t.

        T : (m, d) dense, X : (n, d), W : (m, n), a row of weights for each t; gives (m, d).
        """
        with overflow_told():
            return _finite(self._gradient(*gradient_arguments(T, X, W)))

    def diagonal_gradient(self, T: ArrayLike) -> NDArray:
        """Return the gradient of κ(t, t) in t for each row t of T : (m, d), as (m, d)."""
        with overflow_told():
            return _finite(self._diagonal_gradient(data_matrix(T, "T")))

    def _finite_matrix(self, X: Samples, Y: Samples) -> NDArray:
        """Return κ(xᵢ, yⱼ) of samples that have been checked; overflow gets a sentence."""
        with overflow_told():
            K = self._matrix(X, Y)
            large = K.size > X.size + Y.size  # the samples are looked at sooner
            return K if large and _squares_fit(X) and _squares_fit(Y) else _finite(K)

    @abstractmethod
    def _matrix(self, X: Samples, Y: Samples) -> NDArray: ...

    @abstractmethod
    def _diagonal(self, X: Samples) -> NDArray: ...

    @abstractmethod
    def _gradient(self, T: NDArray, X: Samples, W: NDArray) -> NDArray: ...

    @abstractmethod
    def _diagonal_gradient(self, T: NDArray) -> NDArray: ...

    def _sums_and_gradient(self, T: NDArray, X: Samples, W: NDArray) -> tuple[NDArray, NDArray]:
        """Return Σᵢ wᵢ κ(t, xᵢ), as (m,), and its gradient in t, for each row t of T."""
        return np.vecdot(W, self._matrix(T, X)), self._gradient(T, X, W)

    def _written(self, write: Writer) -> str:
        """Return the kernel as one would type it, with ``write`` for the numbers."""
        return type(self).__name__

    def __repr__(self) -> str:
        return self._written(_exactly)

    def __str__(self) -> str:
        return self._written("{:.4g}".format)

    def __add__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel):
            return Sum(self, other)
        if not is_number(other, Real):
            return NotImplemented
        value = number(other, "constant", 0.0, hint=": a negative one may leave no kernel")
        return self if value == 0 else Sum(self, Constant(value))

    def __radd__(self, other: float) -> Kernel:
        return self + other  # sum(kernels) starts at 0

    def __mul__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel):
            return Product(self, other)
        if not is_number(other, Real):
            return NotImplemented
        hint = ", since κ(x, x) would be negative" if other < 0 else ""
        return Multiple(number(other, "factor", 0.0, hint=hint), self)

    def __rmul__(self, factor: float) -> Kernel:
        return self * factor

    def __pow__(self, exponent: int) -> Kernel:
        exponent = whole_number(exponent, "exponent", least=1)
        return self if exponent == 1 else Power(self, exponent)

    def __neg__(self) -> Kernel:
        return self * -1

    def __sub__(self, other: object) -> Kernel:
        raise TypeError(
            "A difference of kernels is in general no kernel, since κ(x, x) could be negative: "
            "only sums, products and multiples are made here."
        )


class InnerProductKernel(Kernel):
    """A kernel f(xᵀy) of the inner product."""

    @abstractmethod
    def outer(self, P: NDArray) -> NDArray:
        """Return f of inner products P; the array P may be overwritten."""

    @abstractmethod
    def outer_derivative(self, P: NDArray) -> NDArray:
        """Return f′ of inner products P."""

    def _matrix(self, X: Samples, Y: Samples) -> NDArray:
        return self.outer(inner_products(X, Y))

    def _diagonal(self, X: Samples) -> NDArray:
        return self.outer(squared_norms(X))

    def _gradient(self, T: NDArray, X: Samples, W: NDArray) -> NDArray:
        return (W * self.outer_derivative(inner_products(T, X))) @ X

    def _diagonal_gradient(self, T: NDArray) -> NDArray:
        return 2 * self.outer_derivative(squared_norms(T))[:, None] * T


class RadialKernel(Kernel):
    """A kernel g(‖x − y‖²) of the squared distance."""

    @abstractmethod
    def profile(self, D2: NDArray) -> NDArray:
        """Return g of squared distances D2; the array D2 may be overwritten."""

    @abstractmethod
    def profile_derivative(self, D2: NDArray) -> NDArray:
        """Return g′ of squared distances D2."""

    def profile_and_derivative(self, D2: NDArray) -> tuple[NDArray, NDArray]:
        """Return g and g′ of squared distances D2; the array D2 may be overwritten."""
        slope = self.profile_derivative(D2)
        return self.profile(D2), slope

    def inverse_profile(self, values: NDArray) -> NDArray:
        """Return the squared distances u ≥ 0 with g(u) = value, for a g that falls.

        Values above g(0) give 0, values that g does not reach infinity (or what is too large for
        a float). The search is by halves of the exponent, so it knows no unit of length.
        """
        values = np.asarray(values)
        low, high = np.full(values.shape, -1000.0), np.full(values.shape, 1000.0)
        for _ in range(70):
            middle = (low + high) / 2
            with np.errstate(all="ignore"):  # far out, squares over- and underflow
                beyond = self.profile((2.0**middle).astype(values.dtype)) > values
            low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
        return np.where(high < -990, 0.0, np.where(low > 990, np.inf, 2.0**high))

    def _matrix(self, X: Samples, Y: Samples) -> NDArray:
        return self.profile(squared_distances(X, Y))

    def _diagonal(self, X: Samples) -> NDArray:
        return np.full(X.shape[0], self.profile(np.zeros(1, X.dtype))[0])

    def _gradient(self, T: NDArray, X: Samples, W: NDArray) -> NDArray:
        return self._sums_and_gradient(T, X, W)[1]

    def _sums_and_gradient(self, T: NDArray, X: Samples, W: NDArray) -> tuple[NDArray, NDArray]:
        g, slope = self.profile_and_derivative(squared_distances(T, X))
        slope = W * slope
        return np.vecdot(W, g), 2 * (slope.sum(axis=1)[:, None] * T - slope @ X)

    def _diagonal_gradient(self, T: NDArray) -> NDArray:
        return np.zeros_like(T)  # κ(t, t) = g(0) for every t


# Kernels made of kernels


@dataclass(frozen=True, repr=False)
class Constant(Kernel):
    """κ(x, y) = value, the kernel of one feature that is the same for all samples."""

    value: float

    def _matrix(self, X: Samples, Y: Samples) -> NDArray:
        return np.full((X.shape[0], Y.shape[0]), self.value, np.result_type(X.dtype, Y.dtype))

    def _diagonal(self, X: Samples) -> NDArray:
        return np.full(X.shape[0], self.value, X.dtype)

    def _gradient(self, T: NDArray, X: Samples, W: NDArray) -> NDArray:
        return np.zeros_like(T)

    def _diagonal_gradient(self, T: NDArray) -> NDArray:
        return np.zeros_like(T)

    def _written(self, write: Writer) -> str:
        return write(self.value)


@dataclass(frozen=True, repr=False)
class Sum(Kernel):
    """κ₁ + κ₂."""

    first: Kernel
    second: Kernel

    def _matrix(self, X: Samples, Y: Samples) -> NDArray:
        K = self.first._matrix(X, Y)
        K += self.second._matrix(X, Y)
        return K

    def _diagonal(self, X: Samples) -> NDArray:
        return self.first._diagonal(X) + self.second._diagonal(X)

    def _gradient(self, T: NDArray, X: Samples, W: NDArray) -> NDArray:
        return self.first._gradient(T, X, W) + self.second._gradient(T, X, W)

    def _diagonal_gradient(self, T: NDArray) -> NDArray:
        return self.first._diagonal_gradient(T) + self.second._diagonal_gradient(T)

    def _written(self, write: Writer) -> str:
        second = self.second._written(write)
        if isinstance(self.second, Sum):  # a + (b + c) is not (a + b) + c to the last digit
            second = f"({second})"
        return f"{self.first._written(write)} + {second}"


@dataclass(frozen=True, repr=False)
class Product(Kernel):
    """κ₁ times κ₂, entry by entry."""

    first: Kernel
    second: Kernel

    def _matrix(self, X: Samples, Y: Samples) -> NDArray:
        K = self.first._matrix(X, Y)
        K *= self.second._matrix(X, Y)
        return K

    def _diagonal(self, X: Samples) -> NDArray:
        return self.first._diagonal(X) * self.second._diagonal(X)

    def _gradient(self, T: NDArray, X: Samples, W: NDArray) -> NDArray:
        by_first = self.first._gradient(T, X, W * self.second._matrix(T, X))
        return by_first + self.second._gradient(T, X, W * self.first._matrix(T, X))

    def _diagonal_gradient(self, T: NDArray) -> NDArray:
        by_first = self.first._diagonal_gradient(T) * self.second._diagonal(T)[:, None]
        return by_first + self.second._diagonal_gradient(T) * self.first._diagonal(T)[:, None]

    def _written(self, write: Writer) -> str:
        first, second = self.first._written(write), self.second._written(write)
        if isinstance(self.first, Sum):
            first = f"({first})"
        if isinstance(self.second, Sum | Product | Multiple):
            second = f"({second})"
        return f"{first} * {second}"


@dataclass(frozen=True, repr=False)
class Multiple(Kernel):
    """A number from 0 up times a kernel."""

    factor: float
    kernel: Kernel

    def _matrix(self, X: Samples, Y: Samples) -> NDArray:
        K = self.kernel._matrix(X, Y)
        K *= self.factor
        return K

    def _diagonal(self, X: Samples) -> NDArray:
        return self.factor * self.kernel._diagonal(X)

    def _gradient(self, T: NDArray, X: Samples, W: NDArray) -> NDArray:
        return self.factor * self.kernel._gradient(T, X, W)

    def _diagonal_gradient(self, T: NDArray) -> NDArray:
        return self.factor * self.kernel._diagonal_gradient(T)

    def __mul__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel) or not is_number(other, Real) or other < 0:
            return super().__mul__(other)
        return self.kernel * (self.factor * other)  # 2 * (3 * κ) is 6 * κ

    def _written(self, write: Writer) -> str:
        kernel = self.kernel._written(write)
        if isinstance(self.kernel, Sum | Product):
            kernel = f"({kernel})"
        return f"{write(self.factor)} * {kernel}"


@dataclass(frozen=True, repr=False)
class Power(Kernel):
    """A kernel times itself, so many times."""

    kernel: Kernel
    exponent: int

    def _matrix(self, X: Samples, Y: Samples) -> NDArray:
        K = self.kernel._matrix(X, Y)
        return np.power(K, self.exponent, out=K)

    def _diagonal(self, X: Samples) -> NDArray:
        return self.kernel._diagonal(X) ** self.exponent

    def _gradient(self, T: NDArray, X: Samples, W: NDArray) -> NDArray:
        slope = self.exponent * self.kernel._matrix(T, X) ** (self.exponent - 1)
        return self.kernel._gradient(T, X, W * slope)

    def _diagonal_gradient(self, T: NDArray) -> NDArray:
        slope = self.exponent * self.kernel._diagonal(T) ** (self.exponent - 1)
        return slope[:, None] * self.kernel._diagonal_gradient(T)

    def _written(self, write: Writer) -> str:
        kernel = self.kernel._written(write)
        if isinstance(self.kernel, Sum | Product | Multiple | Power | Constant):
            kernel = f"({kernel})"
        return f"{kernel}**{self.exponent}"


# Helpers


@contextmanager
def overflow_told() -> Iterator[None]:
    """Turn an overflow into a sentence, unless the caller has said that overflows don't matter."""
    if np.geterr()["over"] == "ignore":
        yield
        return
    try:
        with np.errstate(over="raise", invalid="raise"):
            yield
    except FloatingPointError:
        raise ValueError(OVERFLOW) from None


def _finite(values: NDArray) -> NDArray:
    """Return values that are finite: matrix products may overflow without an error of NumPy's.

    So do those of sparse matrices, and those that BLAS makes in other threads.
    """
    if np.geterr()["over"] != "ignore" and not np.isfinite(values).all():
        raise ValueError(OVERFLOW)
    return values


def _squares_fit(X: Samples) -> bool:
    """Tell whether the squared lengths are finite: then inner products of such samples are."""
    return bool(np.isfinite(squared_norms(X)).all())


def mirrored_gram(kernel: Kernel, X: Samples, progress: bool = False) -> NDArray:
    """Return the Gram matrix of X; each pair is compared once, in panels of rows, and mirrored.

    Little more than the matrix itself is in memory: a panel is about a million entries.
    """
    room_for_pairs(X, X, "The Gram matrix", IN_PARTS)
    K = np.empty((X.shape[0], X.shape[0]), X.dtype)
    return mirrored(lower_panels(kernel, X, progress), K)


def gradient_arguments(
    T: ArrayLike, X: SamplesLike, W: ArrayLike
) -> tuple[NDArray, Samples, NDArray]:
    """Return points T, samples X and a weight for each pair of them, if they fit together."""
    points, samples, weights = data_matrix(T, "T"), row_samples(X), data_matrix(W, "W")
    m, n = points.shape[0], samples.shape[0]
    if points.shape[1] != samples.shape[1]:
        raise ValueError(
            f"T has {points.shape[1]} columns and X has {samples.shape[1]}: "
            f"a kernel compares samples with the same features."
        )
    if weights.shape != (m, n):
        raise ValueError(
            f"W is {weights.shape[0]}×{weights.shape[1]}: a weight for each pair is needed, "
            f"{m}×{n} for {m} rows of T and {n} of X."
        )
    room_for_pairs(
        points, samples, "The matrix of kernel values", "take fewer rows of T at a time."
    )
    return points, samples, weights


def log_share(values: NDArray) -> NDArray:
    """Return log v of shares v of 1: 0 from 1 up, −∞ from 0 down."""
    with np.errstate(divide="ignore"):
        return np.log(np.clip(values, 0, 1))


def written(name: str, write: Writer, **values: float) -> str:
    """Return a call as one would type it, such as ``rbf(sigma=0.8)``."""
    return f"{name}({', '.join(f'{key}={write(value)}' for key, value in values.items())})"


def _exactly(value: float) -> str:
    """Return all digits of a number, and 1 for 1.0."""
    return repr(int(value)) if value == int(value) and abs(value) < 1e16 else repr(float(value))
