"""Kernel PCA: principal components in feature space, from the Gram matrix alone (chapter 5)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from ._engine.checks import component_count, data_matrix, symmetric_map, tolerance, whole_number
from ._engine.eigen import Eigenpairs, lanczos_pays, top_eigenpairs
from ._engine.panels import SymmetricPanels, lower_panels, row_blocks
from .centering import center_gram, gram_means
from .compare import fix_signs
from .kernels import (
    Kernel,
    KernelLike,
    gram_matrix,
    median_sigma,
    rbf,
)

__all__ = [
    "KernelPCA",
    "fit_kernel_pca",
    "fit_kernel_pca_gram",
    "held_out_loss",
    "choose_sigma",
]


# The model


@dataclass(frozen=True, eq=False)
class KernelPCA:
    """The k directions of largest variance of the features φ(x₁), …, φ(xₙ).

    A direction is v = Σᵢ αᵢ (φ(xᵢ) − φ̄) :eq:`eq-kpca-span`, and all that the
    model can do is done with the weights α and kernel values alone.
    """

    X: NDArray | Sequence | None  # (n, d) training samples; None if K was given
    kernel: KernelLike | None  # κ; None if K was given
    alpha: NDArray  # (n, k) dual coefficients: v = Σᵢ αᵢ (φ(xᵢ) − φ̄) has length one
    lam: NDArray  # (k,) leading eigenvalues λ̃ of K̃, falling; the variances are λ̃/n
    row_means: NDArray  # (n,) mean of each row of K; zeros if not centred
    mean: float  # mean of all entries of K, ‖φ̄‖²; 0 if not centred
    total_variance: float  # tr K̃/n
    center: bool = True  # whether the mean feature φ̄ was subtracted

    @property
    def n(self) -> int:
        """The number of training samples."""
        return len(self.alpha)

    @property
    def variances(self) -> NDArray:
        """The variance λ̃/n of each column of scores :eq:`eq-kpca-decorrelated`."""
        return self.lam / self.n

    @property
    def explained_ratio(self) -> NDArray:
        """The share λ̃/tr K̃ of the variance in feature space :eq:`eq-kpca-share`."""
        return self.variances / (self.total_variance or 1.0)

    @property
    def scores(self) -> NDArray:
        """The scores K̃α = λ̃α of the training samples, (n, k) :eq:`eq-kpca-scores`."""
        return self.alpha * self.lam

    def encode(self, T: ArrayLike | Sequence) -> NDArray:
        """Return the scores of any samples T : (m, d), as (m, k).

        They are sums of α times kernel values :eq:`eq-kpca-new`. If the model
        was fitted on a Gram matrix, T : (m, n) holds κ(t, xᵢ).
        """
        shift = self.row_means @ self.alpha  # the other terms meet 1ᵀα = 0
        if not isinstance(self.kernel, Kernel):
            return self._cross_gram(T) @ self.alpha - shift
        T = self._samples(T)
        Z = np.empty((len(T), len(self.lam)), np.result_type(T, self.alpha))
        for start, stop in row_blocks(len(T), self.n):
            Z[start:stop] = self.kernel(T[start:stop], self.X) @ self.alpha - shift
        return Z

    def weights(self, Z: ArrayLike) -> NDArray:
        """Return γ : (m, n) with φ̂ = Σᵢ γᵢ φ(xᵢ) :eq:`eq-kpca-weights`.

        φ̂ is the point of the k directions' plane whose scores are Z : (m, k).
        The mean feature is part of it, so each row of γ sums to one (not if
        the model is not centred).
        """
        Z = data_matrix(Z, "Z")
        if Z.shape[1] != len(self.lam):
            raise ValueError(
                f"Z has {Z.shape[1]} columns and the model {len(self.lam)} components: "
                f"a column of scores for each is needed."
            )
        gamma = Z @ self.alpha.T
        if not self.center:
            return gamma
        return gamma + (1 - gamma.sum(axis=1, keepdims=True)) / self.n

    def reconstruction_error(
        self,
        T: ArrayLike | Sequence,
        diagonal: ArrayLike | None = None,
    ) -> NDArray:
        """Return ‖φ(t) − φ̂(t)‖² : (m,), what is lost of each sample of T.

        It is the squared distance from the mean less the squared scores
        :eq:`eq-kpca-error`. diagonal : κ(t, t) of each sample, where the
        kernel can't tell it: needed if the model was fitted on a Gram matrix
        or with a callable of one's own.
        """
        cross = self._cross_gram(T)
        if diagonal is None:
            diagonal = self._diagonal(T)
        Z = cross @ self.alpha - self.row_means @ self.alpha
        means = cross.mean(axis=1) if self.center else 0.0
        from_mean = np.asarray(diagonal) - 2 * means + self.mean
        return np.maximum(from_mean - np.sum(Z**2, axis=1), 0)

    def _samples(self, T: ArrayLike) -> NDArray:
        T = data_matrix(T, "T")
        if T.shape[1] != self.X.shape[1]:
            raise ValueError(
                f"T has {T.shape[1]} columns and the model was fitted on {self.X.shape[1]}: "
                f"new samples need the same features in the same order."
            )
        return T

    def _cross_gram(self, T: ArrayLike | Sequence) -> NDArray:
        if isinstance(self.kernel, Kernel):
            return self.kernel(self._samples(T), self.X)
        cross = data_matrix(T if self.kernel is None else self.kernel(T, self.X), "K_test")
        if cross.shape[1] != self.n:
            raise ValueError(
                f"K_test has {cross.shape[1]} columns and the model {self.n} training samples: "
                f"a column κ(t, xᵢ) for each of them is needed."
            )
        return cross

    def _diagonal(self, T: ArrayLike | Sequence) -> NDArray:
        if not isinstance(self.kernel, Kernel):
            raise ValueError(
                "κ(t, t) is needed for each sample: pass it as diagonal=…, "
                "since only κ(t, xᵢ) can be had from what the model was fitted on."
            )
        return self.kernel.diagonal(T)


# The fit


def fit_kernel_pca(
    X: ArrayLike | Sequence,
    k: int,
    kernel: KernelLike,
    *,
    center: bool = True,
    clip: bool = False,
    progress: bool = False,
) -> KernelPCA:
    """Find the k directions of largest variance of φ(X) in feature space.

    X : (n, d). Each direction is a combination of the centred features
    :eq:`eq-kpca-span`, so its n weights solve the eigenproblem of the centred
    Gram matrix :eq:`eq-kpca-dual`; center=False leaves the mean in. With a
    callable of your own as kernel, X is passed to it as it is and may hold
    anything that it understands. progress=True shows a bar.

    Components without variance are dropped with a warning. An indefinite Gram
    matrix belongs to no feature map: components beyond its positive
    eigenvalues are refused, unless clip=True sets the others to zero.
    """
    if isinstance(kernel, Kernel):
        X = data_matrix(X)
    k = _components(k, len(X), center)
    if not isinstance(kernel, Kernel):
        K, overwrite = _checked_gram(kernel, X), False  # the array may be the caller's
    elif lanczos_pays(len(X), k) and not clip:
        K, overwrite = SymmetricPanels(lower_panels(kernel, X, progress)), False
    else:
        K, overwrite = gram_matrix(kernel, X, progress), True
    return _fit(X, kernel, K, k, center, clip, overwrite)


def fit_kernel_pca_gram(
    K: ArrayLike,
    k: int,
    *,
    center: bool = True,
    clip: bool = False,
) -> KernelPCA:
    """Find the k directions from the Gram matrix K : (n, n) alone :eq:`eq-kpca-gram`.

    K is the Gram matrix as the kernel gives it: centring is done here. The rest is as in
    :func:`fit_kernel_pca`.
    """
    K = symmetric_map(data_matrix(K, "K"))
    k = _components(k, len(K), center)
    return _fit(None, None, K, k, center, clip, overwrite=False)


# The steps


def _fit(
    X: NDArray | Sequence | None,
    kernel: KernelLike | None,
    K: NDArray | SymmetricPanels,
    k: int,
    center: bool,
    clip: bool,
    overwrite: bool,
) -> KernelPCA:
    """Make the model from a Gram matrix K that is not centred."""
    n, rounding = len(K), _rounding(K)
    row_means, mean = _means(K) if center else (np.zeros(n, K.dtype), 0.0)
    total = float(K.diagonal().sum(dtype=float)) - n * mean  # tr K̃ = Σ λ̃
    if clip:
        total = _sum_of_positive(K, center)
    pairs = top_eigenpairs(K, k, center=center, overwrite=overwrite)  # K̃a = λ̃a, unit a
    lam, A = _positive(pairs, rounding, clip)
    if center:
        A = A - A.mean(axis=0)  # 1ᵀa = 0, to the last digit
    (alpha,) = fix_signs(A / np.sqrt(lam))  # unit length in feature space
    variance = max(total, 0.0) / n
    return KernelPCA(X, kernel, alpha, lam, row_means, mean, variance, center)


def _positive(pairs: Eigenpairs, rounding: float, clip: bool) -> tuple[NDArray, NDArray]:
    """Return the pairs whose eigenvalue is positive beyond rounding; say what was dropped."""
    lam, A, lowest = pairs
    k, scale = len(lam), max(float(lam[0]), 0.0)
    if scale <= rounding and lowest >= -rounding:
        raise ValueError(
            "The samples have zero variance in feature space: all features are equal up to "
            "rounding, and no direction stands out."
        )
    indefinite = lowest < -max(rounding, np.sqrt(np.finfo(lam.dtype).eps) * scale)
    r = int(np.sum(lam > (rounding if indefinite else max(rounding, -lowest))))
    if r == 0:
        raise ValueError(
            "No eigenvalue of the Gram matrix is positive: no feature map has it, and there is no "
            "component to be had. Take another kernel."
        )
    if indefinite and not clip:
        _speak_of_indefinite(k, r, lowest)
    elif r < k:
        warnings.warn(
            f"k={k} components asked, and only {r} have a variance above rounding: "
            f"the others are dropped.",
            stacklevel=4,
        )
    return lam[:r], A[:, :r]


def _speak_of_indefinite(k: int, r: int, lowest: float) -> None:
    what = f"the Gram matrix is indefinite: it has an eigenvalue of at most {lowest:.3g}, so"
    if r < k:
        raise ValueError(
            f"k={k} components asked, and {what} no feature map has it; {r} eigenvalues at most "
            f"are positive. Ask for k ≤ {r}, take another kernel, or pass clip=True to set "
            f"negative eigenvalues to zero."
        )
    warnings.warn(
        f"Beyond the {k} components {what} shares of variance and reconstruction errors are those "
        f"of no feature map. clip=True sets negative eigenvalues to zero.",
        stacklevel=5,
    )


def _sum_of_positive(K: NDArray, center: bool) -> float:
    lam = linalg.eigvalsh(center_gram(K) if center else K, check_finite=False)
    return float(lam[lam > 0].sum())


def _components(k: int, n: int, center: bool) -> int:
    if n < 1 + center:
        raise ValueError(f"{n} sample given: at least {1 + center} are needed for a component.")
    return component_count(k, n - center, f"{n} {'centred ' * center}samples", least=1)


def _rounding(K: NDArray | SymmetricPanels) -> float:
    """Return how far rounding may move an eigenvalue of K."""
    largest = max(float(K.max()), -float(K.min()))
    if not np.isfinite(largest):
        raise ValueError("The kernel overflows on these samples: divide X by a number first.")
    return 8 * len(K) * float(np.finfo(K.dtype).eps) * largest


def _means(K: NDArray | SymmetricPanels) -> tuple[NDArray, float]:
    if not isinstance(K, SymmetricPanels):
        return gram_means(K)
    row_means = K.row_means()
    return row_means.astype(K.dtype), float(row_means.mean())


def _checked_gram(kernel: KernelLike, X: Sequence) -> NDArray:
    """Return kernel(X, X) of a callable that we don't know, if it is a Gram matrix of X."""
    K = symmetric_map(data_matrix(gram_matrix(kernel, X), "kernel(X, X)"), "kernel(X, X)")
    if len(K) != len(X):
        raise ValueError(
            f"kernel(X, X) is {len(K)}×{len(K)} for {len(X)} samples: a row and a column for each "
            f"are needed."
        )
    return K


# The width of a kernel


def held_out_loss(
    X: ArrayLike,
    k: int,
    kernel: Kernel,
    noise: float = 0.0,
    folds: int = 5,
    rng: int | np.random.Generator = 0,
) -> float:
    """Return the share of held-out variance that k directions lose.

    Each fold is reconstructed by a model of the others, in feature space, from
    samples to which normal noise of the given standard deviation was added
    :eq:`eq-kpca-held-out`. Without noise the widest kernel nearly always wins.
    """
    X, noise = data_matrix(X), tolerance(noise, "noise")
    rng = np.random.default_rng(rng)
    parts = _folds(len(X), folds, rng)
    lost = total = 0.0
    for part in parts:
        T, model = X[part], _quiet_fit(np.delete(X, part, axis=0), k, kernel)
        noisy = T + noise * rng.standard_normal(T.shape).astype(T.dtype)
        Z, error = model.encode(T), model.reconstruction_error(T).sum()
        lost += error + np.sum((Z - model.encode(noisy)) ** 2)
        total += error + np.sum(Z**2)
    return float(lost / total)


def choose_sigma(
    X: ArrayLike,
    k: int,
    noise: float,
    sigmas: ArrayLike | None = None,
    folds: int = 5,
    rng: int | np.random.Generator = 0,
) -> float:
    """Return the width of the RBF kernel with the least held-out loss.

    X : (n, d); noise : standard deviation of what the k components should not
    follow :eq:`eq-kpca-held-out`. Unless given, the widths tried are the median
    distance times 1/8, …, 8 in steps of √2.
    """
    if sigmas is None:
        sigmas = median_sigma(X) * 2.0 ** np.arange(-3, 3.5, 0.5)
    sigmas = np.sort(np.ravel(np.asarray(sigmas, float)))
    seed = int(np.random.default_rng(rng).integers(2**32))  # the same folds for every width
    losses = [held_out_loss(X, k, rbf(float(s)), noise, folds, seed) for s in sigmas]
    best = int(np.argmin(losses))
    if best in (0, len(sigmas) - 1) and len(sigmas) > 1:
        warnings.warn(
            f"The {'widest' if best else 'narrowest'} kernel tried, sigma={sigmas[best]:.4g}, has "
            f"the least loss: try {'wider' if best else 'narrower'} ones"
            f"{', or more noise or more components' if best else ''}.",
            stacklevel=2,
        )
    return float(sigmas[best])


def _quiet_fit(X: NDArray, k: int, kernel: Kernel) -> KernelPCA:
    """Fit without a word on components that have no variance: they lose nothing."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "k=.* components asked, and only")
        return fit_kernel_pca(X, k, kernel)


def _folds(n: int, folds: int, rng: np.random.Generator) -> list[NDArray]:
    folds = whole_number(folds, "folds", least=2)
    if folds > n:
        raise ValueError(f"folds={folds} of {n} samples: at most {n} parts can be held out.")
    return np.array_split(rng.permutation(n), folds)
