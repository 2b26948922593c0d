"""The positive part of the spectrum of a centred Gram matrix, and words for what is not positive.

A Gram matrix has no negative eigenvalues. Rounding gives it tiny ones, which count as zero;
clearly negative ones mean that no feature map has the matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .centering import center_in_place, row_means
from .checks import component_count, data_matrix, flag, is_number, symmetric_map, tell
from .eigen import Eigenpairs, lanczos_pays, top_eigenpairs
from .inner_products import sample_count
from .kernel_algebra import OVERFLOW, Kernel, mirrored_gram
from .memory import refuse_beyond_memory
from .panels import SymmetricPanels, lower_panels

__all__ = [
    "CenteredGram",
    "IndefiniteGram",
    "PositivePart",
    "checked_gram",
    "count_or_share",
    "gram_in_memory",
    "is_share",
    "positive_eigenpairs",
    "refuse_large_gram",
    "squared_length",
]

FIRST_GUESS = 8  # components to begin with where a share of the variance is asked for


class IndefiniteGram(ValueError):
    """A Gram matrix has negative eigenvalues, and what was asked for does not exist."""


class PositivePart(NamedTuple):
    """The leading positive eigenvalues of K̃ with their eigenvectors, and what they are part of."""

    lam: NDArray  # (k,) falling
    A: NDArray  # (n, k) unit eigenvectors, the columns
    variance: float  # the sum of all positive eigenvalues over n; NaN if K̃ is indefinite
    clipped: NDArray | None  # (n, q) a/√|λ̃| of the negative eigenvalues that clip sets to zero


def count_or_share(k: float, X: Any, center: bool) -> float:
    """Return k as a number of components that X can have, or as a share between 0 and 1."""
    n, center = sample_count(X), flag(center, "center")
    if n < 1 + center:
        raise ValueError(f"{n} sample given: at least {1 + center} are needed for a component.")
    if is_share(k):
        return float(k)
    if is_number(k, Real) and not isinstance(k, Integral):
        raise ValueError(
            f"k={k!r}: a whole number of components from 1 to {n - center} is needed, or a share "
            f"of the variance between 0 and 1."
        )
    return component_count(cast(int, k), n - center, f"{n} {'centred ' * center}samples", least=1)


def is_share(k: float) -> bool:
    """Tell whether k is a share of the variance and no number of components."""
    return is_number(k, Real) and not isinstance(k, Integral) and 0 < k < 1


def gram_in_memory(
    kernel: Kernel | Callable[[Any, Any], NDArray], X: Any, k: float, clip: bool, progress: bool
) -> NDArray | SymmetricPanels:
    """Return the Gram matrix of X as the eigensolver likes it: half of it if few pairs are wanted.

    A :class:`Kernel` costs n²/2 kernel values, and memory for n²/2 numbers in panels or n² in an
    array, which is then free to be overwritten. What another callable returns is checked, and is
    read-only: it may be the callable's own.
    """
    clip, progress = flag(clip, "clip"), flag(progress, "progress")
    n = sample_count(X)
    half = refuse_large_gram(
        kernel, n, k, clip, dtype=X.dtype if isinstance(kernel, Kernel) else float
    )
    if not isinstance(kernel, Kernel):
        return checked_gram(kernel(X, X), n, "kernel(X, X)")
    if half and not clip:
        return SymmetricPanels(lower_panels(kernel, X, progress))
    return mirrored_gram(kernel, X, progress)


def refuse_large_gram(
    kernel: Any, n: int, k: float, clip: bool = False, dtype: DTypeLike = float
) -> bool:
    """Refuse a Gram matrix of n samples that can't fit; tell whether half of it is enough."""
    half = isinstance(kernel, Kernel) and lanczos_pays(n, FIRST_GUESS if is_share(k) else int(k))
    refuse_beyond_memory(
        float(np.dtype(dtype).itemsize) * n**2 / (2 if half and not clip else 1),
        f"The Gram matrix of {n:,} samples",
        "kernel PCA of features needs far less. See fit_kernel_pca_features with nystrom(X, m, "
        "kernel) or fourier_features(d, m, sigma).",
    )
    return half


def checked_gram(K: ArrayLike, n: int | None = None, name: str = "K") -> NDArray:
    """Return K as a finite symmetric matrix, of n rows if n is given, that can't be written to."""
    gram = np.asarray(symmetric_map(data_matrix(K, name), name)).view()
    if n is not None and len(gram) != n:
        raise ValueError(
            f"{name} is {len(gram)}×{len(gram)} for {n} samples: a row and a column for each are "
            f"needed."
        )
    gram.flags.writeable = False
    return gram


class CenteredGram:
    """K̃ = JKJ for a Gram matrix K, which stays as it is: its means are all that centring needs.

    K : (n, n), panels or an array; in the memory of an array that can be written to, the solver
    may work. With ``center=False`` it is K itself.
    """

    def __init__(self, K: NDArray | SymmetricPanels, center: bool):
        self.K, self.center, self.n = K, flag(center, "center"), len(K)
        largest = max(float(K.max()), -float(K.min()))
        if not np.isfinite(largest):
            raise ValueError(OVERFLOW)
        self.rounding = 8 * self.n * float(np.finfo(K.dtype).eps) * largest  # of an eigenvalue
        self.means = self._means()
        self.trace = float(K.diagonal().sum(dtype=float)) - self.n * self.means[1]  # Σ λ̃

    def eigenpairs(self, k: int) -> Eigenpairs:
        """Return the k leading eigenpairs; where there are many, the array K is used up."""
        own = isinstance(self.K, np.ndarray) and self.K.flags.writeable
        return top_eigenpairs(self.K, k, center=self.center, overwrite=own)

    def spectrum(self) -> Eigenpairs:
        """Return all n eigenpairs: n³ steps, and memory for two n×n arrays."""
        K = self.K.copy() if isinstance(self.K, np.ndarray) else self.K.whole()
        lam, A = np.linalg.eigh(center_in_place(K) if self.center else K)
        return Eigenpairs(lam[::-1], A[:, ::-1], float(lam[0]))

    def _means(self) -> tuple[NDArray, float]:
        """Return the mean of each row and of all entries, summed in doubles; zeros if not used."""
        if not self.center:
            return np.zeros(self.n, self.K.dtype), 0.0
        means = row_means(self.K) if isinstance(self.K, np.ndarray) else self.K.row_means()
        return means.astype(self.K.dtype), float(means.mean())


def positive_eigenpairs(K: CenteredGram, k: float, clip: bool) -> PositivePart:
    """Return the k leading pairs of K̃ whose eigenvalue is positive; say what was dropped.

    k is a number of components, or a share of the variance between 0 and 1: then as few are
    taken as have that share. An indefinite matrix is refused where k goes beyond its positive
    eigenvalues, and has no shares; with ``clip=True`` its negative eigenvalues count as zero.
    """
    part = _clipped_part(K, k) if flag(clip, "clip") else _leading_part(K, k)
    A = part.A - part.A.mean(axis=0) if K.center else part.A  # 1ᵀa = 0, to the last digit
    return part._replace(A=A)


def squared_length(value: NDArray, size: NDArray) -> NDArray:
    """Return squared lengths that may be negative by rounding; NaN where they are clearly so.

    ``size`` is that of the terms whose difference ``value`` is.
    """
    slack = np.sqrt(np.finfo(value.dtype).eps) * size
    return np.where(value < -slack, np.nan, np.maximum(value, 0))


def _leading_part(K: CenteredGram, k: float) -> PositivePart:
    """Return the leading pairs of a matrix that should have no negative eigenvalue."""
    asked = FIRST_GUESS if is_share(k) else int(k)
    while True:
        all_of_them = is_share(k) and not lanczos_pays(K.n, asked)
        lam, A, lowest = K.spectrum() if all_of_them else K.eigenpairs(asked)
        indefinite = _is_indefinite(K, lam, lowest)
        r = int(np.sum(lam > (K.rounding if indefinite else max(K.rounding, -lowest))))
        _check_variance(K, lam, lowest, r)
        if indefinite:
            _speak_of_indefinite(k, r, lowest)
            return PositivePart(lam[:r], A[:, :r], np.nan, None)
        total = max(K.trace, float(lam[:r].sum(dtype=float)))
        kept = _count(k, lam[:r], total)
        if kept is not None or all_of_them:
            kept = r if kept is None else kept
            return PositivePart(lam[:kept], A[:, :kept], total / K.n, None)
        asked *= 2


def _clipped_part(K: CenteredGram, k: float) -> PositivePart:
    """Return the leading pairs of the nearest matrix that has no negative eigenvalue."""
    lam, A, lowest = K.spectrum()
    positive, negative = lam > K.rounding, lam < -K.rounding
    r = int(positive.sum())
    _check_variance(K, lam, lowest, r)
    total = float(lam[positive].sum(dtype=float))
    kept = _count(k, lam[:r], total) or r
    clipped = A[:, negative] / np.sqrt(-lam[negative])
    return PositivePart(lam[:kept], A[:, :kept], total / K.n, clipped)


def _is_indefinite(K: CenteredGram, lam: NDArray, lowest: float) -> bool:
    """Tell whether an eigenvalue is clearly negative: one was seen, or the trace proves it."""
    slack = max(K.rounding, float(np.sqrt(np.finfo(lam.dtype).eps)) * max(float(lam[0]), 0.0))
    found = float(lam[lam > 0].sum(dtype=float))
    return lowest < -slack or found - K.trace > slack + K.n * K.rounding


def _check_variance(K: CenteredGram, lam: NDArray, lowest: float, positive: int) -> None:
    if lam[0] <= K.rounding and lowest >= -K.rounding:
        raise ValueError(
            "The samples have zero variance in feature space: all features are equal up to "
            "rounding, and no direction stands out."
        )
    if positive == 0:
        raise ValueError(
            "No eigenvalue of the Gram matrix is positive: no feature map has it, and there is no "
            "component to be had. Take another kernel."
        )


def _count(k: float, lam: NDArray, total: float) -> int | None:
    """Return how many of the positive eigenvalues to keep; None if they lack the share asked for.

    A warning says so if k are asked for and fewer are there.
    """
    if is_share(k):
        enough = np.cumsum(lam, dtype=float) >= k * total
        return int(np.argmax(enough)) + 1 if enough.any() else None
    if len(lam) < k:
        tell(
            f"k={k} components asked, and only {len(lam)} have a variance above rounding: "
            f"the others are dropped."
        )
    return min(int(k), len(lam))


def _speak_of_indefinite(k: float, r: int, lowest: float) -> None:
    what = "the Gram matrix is indefinite"
    if lowest < 0:
        what += f": it has an eigenvalue of at most {lowest:.3g}"
    if is_share(k):
        raise IndefiniteGram(
            f"k={k:g} asks for a share of the variance, and {what}. No feature map has it, and "
            f"there are no shares. Ask for a number of components, or pass clip=True to set "
            f"negative eigenvalues to zero."
        )
    if r < k:
        raise IndefiniteGram(
            f"k={k} components asked, and {what}. No feature map has it; {r} eigenvalues at most "
            f"are positive. Ask for k ≤ {r}, take another kernel, or pass clip=True to set "
            f"negative eigenvalues to zero."
        )
    tell(
        f"The {k} components can be had, but {what}. No feature map has it: there are no shares "
        f"of variance and no reconstruction errors. clip=True sets negative eigenvalues to zero."
    )
