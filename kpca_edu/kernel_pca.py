"""Kernel PCA: principal components in feature space, from the Gram matrix alone (chapter 7)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.checks import (
    ConvergenceWarning,
    check_columns,
    check_scores,
    column_names,
    data_matrix,
    generator,
    number,
    real_array,
    row_folds,
    tell,
)
from ._engine.gram_spectrum import (
    CenteredGram,
    IndefiniteGram,
    checked_gram,
    count_or_share,
    gram_in_memory,
    positive_eigenpairs,
    refuse_large_gram,
    squared_length,
)
from ._engine.inner_products import (
    Samples,
    neighbor_spacing,
    row_samples,
    sample_count,
)
from ._engine.model import Frozen
from ._engine.new_samples import given_diagonal, given_rows, own_samples
from ._engine.panels import row_blocks
from ._engine.progress import with_progress
from .compare import fix_signs
from .kernels import (
    Kernel,
    KernelLike,
    RadialKernel,
    check_kernel,
    median_sigma,
    rbf,
)

__all__ = [
    "KernelPCA",
    "fit_kernel_pca",
    "fit_kernel_pca_gram",
    "kernel_model",
    "held_out_loss",
    "denoising_error",
    "choose_sigma",
]


# The model


@dataclass(frozen=True, eq=False, repr=False)
class KernelPCA(Frozen):
    """The k directions of largest variance of the features φ(x₁), …, φ(xₙ).

    A direction is v = Σᵢ αᵢ (φ(xᵢ) − φ̄) :eq:`eq-kpca-span`, and all that the
    model can do is done with the weights α and kernel values alone.
    """

    X: Any  # (n, d) training samples, or what a callable kernel takes; None if K was given
    kernel: KernelLike | None  # κ; None if K was given
    alpha: NDArray  # (n, k) dual coefficients: v = Σᵢ αᵢ (φ(xᵢ) − φ̄) has length one
    lam: NDArray  # (k,) leading eigenvalues λ̃ of K̃, falling; the variances are λ̃/n
    row_means: NDArray  # (n,) mean of each row of K; zeros if not centred
    mean: float  # mean of all entries of K, ‖φ̄‖²; 0 if not centred
    total_variance: float  # tr K̃/n; NaN if K̃ is indefinite and was not clipped
    center: bool = True  # whether the mean feature φ̄ was subtracted
    clipped: NDArray | None = None  # (n, q) a/√|λ̃| of negative eigenvalues that were set to zero
    columns: tuple[str, ...] | None = None  # names of the features, if X was a DataFrame

    @property
    def n(self) -> int:
        """The number of training samples."""
        return len(self.alpha)

    @property
    def k(self) -> int:
        """The number of components."""
        return len(self.lam)

    @property
    def variances(self) -> NDArray:
        """The variance λ̃/n of each column of scores :eq:`eq-kpca-decorrelated`."""
        return self.lam / self.n

    @property
    def explained_ratio(self) -> NDArray:
        """The share λ̃/tr K̃ of the variance in feature space :eq:`eq-kpca-share`.

        NaN if the Gram matrix is indefinite: then there is no variance to have a share of.
        """
        return self.variances / self.total_variance

    @property
    def scores(self) -> NDArray:
        """The scores K̃α = λ̃α of the training samples, (n, k) :eq:`eq-kpca-scores`."""
        return self.alpha * self.lam

    def encode(self, T: Any, *, progress: bool = False) -> NDArray:
        """Return the scores of any samples T : (m, d), as (m, k).

        They are sums of α times kernel values :eq:`eq-kpca-new`. If the model
        was fitted on a Gram matrix, T : (m, n) holds κ(t, xᵢ).
        """
        shift = self.row_means @ self.alpha  # the other terms meet 1ᵀα = 0
        blocks = self._kernel_rows(T, progress)  # κ(t, xᵢ), some samples t at a time
        return np.vstack([K_t @ self.alpha - shift for _, K_t in blocks])

    def weights(self, Z: ArrayLike) -> NDArray:
        """Return γ : (m, n) with φ̂ = Σᵢ γᵢ φ(xᵢ) :eq:`eq-kpca-weights`.

        φ̂ is the point of the k directions' plane whose scores are Z : (m, k).
        The mean feature is part of it, so each row of γ sums to one (not if
        the model is not centred).
        """
        gamma = check_scores(Z, self.k, width=self.n) @ self.alpha.T
        if not self.center:
            return gamma
        return gamma + (1 - gamma.sum(axis=1, keepdims=True)) / self.n

    def reconstruction_error(
        self, T: Any, diagonal: ArrayLike | None = None, *, progress: bool = False
    ) -> NDArray:
        """Return what is lost of each sample of T in feature space, squared, as (m,).

        It is the squared distance from the mean less the squared scores
        :eq:`eq-kpca-error`, and NaN where that is negative: no kernel, no length.
        diagonal : (m,) holds κ(t, t), where the kernel can't tell it: if K was
        given, or the kernel is a callable of your own.
        """
        own, lost = self._diagonal(T, diagonal), []
        for rows, K_t in self._kernel_rows(T, progress):  # κ(t, xᵢ), some samples t at a time
            Z = K_t @ self.alpha - self.row_means @ self.alpha
            from_mean = own[rows] - 2 * self.center * K_t.mean(axis=1) + self.mean
            if self.clipped is not None:
                from_mean = from_mean + self._clipped_away(K_t)
            error = from_mean - np.sum(Z**2, axis=1)
            lost.append(squared_length(error, np.abs(own[rows]) + np.abs(from_mean)))
        return np.concatenate(lost)

    def decode(self, Z: ArrayLike, method: str | None = None, **options: Any) -> Any:
        """Return points whose features are near those with the scores Z : (m, k), as (m, d).

        The methods and their options are those of :func:`kpca_edu.preimages.preimage`, which also
        tells how near. Unless one is named, it is "fixed-point" for a radial kernel, "gradient"
        for another kernel of this library, and "nearest", a training sample, for any callable.
        """
        from .preimages import preimage  # chapter 9 builds on this one

        return preimage(self, Z, self.preimage_method() if method is None else method, **options).X

    def reconstruct(self, T: Any, method: str | None = None, **options: Any) -> Any:
        """Encode T : (m, d) and decode, by :func:`kpca_edu.preimages.denoise`, as (m, d)."""
        from .preimages import denoise  # chapter 9 builds on this one

        return denoise(self, T, self.preimage_method() if method is None else method, **options).X

    def as_samples(self, T: Any, name: str = "T") -> Samples:
        """Return T as samples with the features that the model was fitted on, or say why not."""
        rows = row_samples(T, name)
        check_columns(T, self.X.shape[1], self.columns, name)
        return rows

    def __repr__(self) -> str:
        kernel = "Gram matrix given" if self.kernel is None else str(self.kernel)
        if self.kernel is not None and not isinstance(self.kernel, Kernel):
            kernel = getattr(self.kernel, "__name__", type(self.kernel).__name__)
        share = f"{100 * self.explained_ratio.sum():.3g} % of the variance"
        if np.isnan(self.total_variance):
            share = "indefinite: no shares of variance"
        return f"KernelPCA(k={self.k} of n={self.n}, {kernel}, {share})"

    def _kernel_rows(self, T: Any, progress: bool) -> Iterator[tuple[slice, NDArray]]:
        """Yield κ(t, xᵢ) for some samples t of T at a time, (b, n) each, and which they are."""
        if not isinstance(self.kernel, Kernel):
            yield slice(None), given_rows(self.kernel, self.X, T, self.n, self.columns)
            return
        T = self.as_samples(T)
        blocks = list(row_blocks(T.shape[0], self.n))
        for start, stop in with_progress(blocks, progress, "Kernel values"):
            yield slice(start, stop), self.kernel._finite_matrix(T[start:stop], self.X)

    def _diagonal(self, T: Any, diagonal: ArrayLike | None) -> NDArray:
        """Return κ(t, t) of each sample, (m,)."""
        if np.isnan(self.total_variance):
            raise ValueError(
                "The Gram matrix is indefinite: no feature map has it, and there is no distance "
                "in feature space. Fit with clip=True, or take another kernel."
            )
        if diagonal is None and isinstance(self.kernel, Kernel):
            return self.kernel._diagonal(self.as_samples(T))
        return given_diagonal(diagonal, sample_count(T, "T"))

    def _clipped_away(self, K_t: NDArray) -> NDArray:
        """Return Σ|λ̃|a² over the negative eigenvalues: clipping adds it to squared lengths."""
        return np.sum(((K_t - self.row_means) @ self.clipped) ** 2, axis=1)

    def preimage_method(self) -> str:
        """Return the method of pre-images that suits the kernel."""
        if isinstance(self.kernel, RadialKernel):
            return "fixed-point"
        return "gradient" if isinstance(self.kernel, Kernel) else "nearest"


# The fit


def fit_kernel_pca(
    X: Any,
    k: float,
    kernel: KernelLike,
    *,
    center: bool = True,
    clip: bool = False,
    progress: bool = False,
) -> KernelPCA:
    """Find the k directions of largest variance of φ(X) in feature space.

    Each is a combination of the centred features :eq:`eq-kpca-span`, so its n
    weights solve the eigenproblem of the centred Gram matrix :eq:`eq-kpca-dual`.
    k may be a share of the variance, such as 0.9; clip=True sets negative
    eigenvalues to zero; progress=True shows a bar.
    """
    X, columns = own_samples(X, check_kernel(kernel)), column_names(X)
    k = count_or_share(k, X, center)
    K = gram_in_memory(kernel, X, k, clip, progress)  # Kᵢⱼ = κ(xᵢ, xⱼ)
    K_centered = CenteredGram(K, center)  # J K J
    lam, A, total, clipped = positive_eigenpairs(K_centered, k, clip)  # unit columns
    (alpha,) = fix_signs(A / np.sqrt(lam))  # unit length in feature space
    return KernelPCA(
        X, kernel, alpha, lam, *K_centered.means, total, bool(center), clipped, columns
    )


def fit_kernel_pca_gram(
    K: ArrayLike, k: float, *, center: bool = True, clip: bool = False
) -> KernelPCA:
    """Find the k directions from the Gram matrix K : (n, n) alone :eq:`eq-kpca-gram`.

    K is the Gram matrix as the kernel gives it: centring is done here. The rest is as in
    :func:`fit_kernel_pca`.
    """
    K = checked_gram(K)
    k = count_or_share(k, K, center)
    K_centered = CenteredGram(K, center)  # J K J
    lam, A, total, clipped = positive_eigenpairs(K_centered, k, clip)  # unit columns
    (alpha,) = fix_signs(A / np.sqrt(lam))  # unit length in feature space
    return KernelPCA(None, None, alpha, lam, *K_centered.means, total, bool(center), clipped)


def kernel_model(model: KernelPCA) -> KernelPCA:
    """Return the model if it is one of kernel PCA; else say what is needed.

    >>> kernel_model("rbf")
    Traceback (most recent call last):
    ...
    ValueError: model is str: a model of kernel PCA is needed, as fit_kernel_pca(X, k, kernel) \
returns it.
    """
    if isinstance(model, KernelPCA):
        return model
    kind = type(model).__name__
    own = f" {kind} has a reconstruct of its own." if hasattr(model, "reconstruct") else ""
    raise ValueError(
        f"model is {kind}: a model of kernel PCA is needed, as "
        f"fit_kernel_pca(X, k, kernel) returns it.{own}"
    )


# The width of a kernel


def held_out_loss(
    X: ArrayLike,
    k: float,
    kernel: Kernel,
    *,
    noise: float = 0.0,
    folds: int = 5,
    rng: int | np.random.Generator = 0,
    progress: bool = False,
) -> float:
    """Return the share of held-out variance that k directions lose.

    Each fold is reconstructed by a model of the others, in feature space, from
    samples with added normal noise of that deviation :eq:`eq-kpca-held-out`.
    """
    X, noise, rng = data_matrix(X), number(noise, "noise", 0.0), generator(rng)
    lost = total = 0.0
    for part in with_progress(row_folds(len(X), folds, rng), progress, "folds"):
        T, model = X[part], _fit_to_judge(np.delete(X, part, axis=0), k, kernel)
        noisy = T + noise * rng.standard_normal(T.shape).astype(T.dtype)
        Z, error = model.encode(T), model.reconstruction_error(T).sum()
        lost += error + np.sum((Z - model.encode(noisy)) ** 2)
        total += error + np.sum(Z**2)
    return float(lost / total)


def denoising_error(
    X: ArrayLike,
    k: float,
    kernel: Kernel,
    *,
    noise: float | None = None,
    folds: int = 5,
    rng: int | np.random.Generator = 0,
    progress: bool = False,
) -> float:
    """Return which share of added noise is left when held-out samples are denoised.

    It is Σ‖x̂ − t‖² over Σ‖ε‖², in input space: each fold is denoised by a model of the others,
    with :meth:`KernelPCA.reconstruct`. 1 means that nothing is gained. Unless given, the deviation
    of ε is so large that a sample moves about as far as its nearest neighbour is away.
    """
    X, rng = data_matrix(X), generator(rng)
    refuse_large_gram(kernel, len(X) // 2, 1, dtype=X.dtype)  # at least half are fitted
    noise = number(neighbor_spacing(X) if noise is None else noise, "noise", 0.0, open_low=True)
    left = added = 0.0
    for part in with_progress(row_folds(len(X), folds, rng), progress, "folds"):
        T, model = X[part], _fit_to_judge(np.delete(X, part, axis=0), k, kernel)
        dirt = noise * rng.standard_normal(T.shape).astype(T.dtype)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=ConvergenceWarning)
            clean = model.reconstruct(T + dirt, progress=progress)
        left += np.sum(((clean - T) / noise) ** 2, dtype=float)
        added += np.sum((dirt / noise) ** 2, dtype=float)
    return float(left / added)


def choose_sigma(
    X: ArrayLike,
    k: float,
    *,
    noise: float | None = None,
    sigmas: ArrayLike | None = None,
    folds: int = 5,
    rng: int | np.random.Generator = 0,
    progress: bool = False,
) -> float:
    """Return the width of the RBF kernel with which k components denoise best.

    X : (n, d). The least :func:`denoising_error` wins; ``noise`` is explained there. Unless given,
    the widths tried are the median distance times 1/8, …, 8 in steps of √2. For seeing groups
    rather than for denoising, look at several widths.
    """
    X = data_matrix(X)
    if sigmas is None:
        sigmas = median_sigma(X) * 2.0 ** np.arange(-3, 3.5, 0.5)
    widths = np.sort(real_array(sigmas, "sigmas").ravel()).tolist()
    if not widths:
        raise ValueError("sigmas is empty: at least one width to try is needed.")
    seed = int(generator(rng).integers(2**32))  # the same folds and noise for every width
    errors = [
        denoising_error(X, k, rbf(sigma), noise=noise, folds=folds, rng=seed, progress=progress)
        for sigma in with_progress(widths, progress, "Widths")
    ]
    best = int(np.argmin(errors))
    if best in (0, len(widths) - 1) and len(widths) > 1:
        tell(
            f"The {'widest' if best else 'narrowest'} kernel tried, {rbf(widths[best])}, has the "
            f"least error: try {'wider' if best else 'narrower'} ones"
            f"{', or more noise or more components' if best else ''}."
        )
    return float(widths[best])


def _fit_to_judge(X: NDArray, k: float, kernel: Kernel) -> KernelPCA:
    """Fit without a word on components that have no variance: they lose nothing."""
    if not isinstance(check_kernel(kernel), Kernel):
        raise ValueError(
            "A kernel of kpca_edu.kernels is needed, such as rbf(sigma), since κ(t, t) of held-out "
            "samples is part of the error; a callable gives only κ(t, xᵢ)."
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning)
        try:
            model = fit_kernel_pca(X, k, kernel)
        except IndefiniteGram:
            model = None
    if model is None or np.isnan(model.total_variance):
        raise ValueError(
            f"The Gram matrix of {kernel} is indefinite on these samples: no feature map has it, "
            f"and there is no error in feature space. Take another kernel, such as rbf(sigma)."
        )
    return model
