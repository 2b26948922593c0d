"""The book's methods as scikit-learn estimators, for pipelines and grid searches.

Each class is thin: parameters in, a function of this library called, fitted attributes out. Names
and conventions are scikit-learn's (directions are rows, variances divide by n − 1), so that code
written for its classes runs with these and gives the same numbers, up to sign. ``model_`` is what
the function returned, with the book's symbols and verbs.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.checks import choice, flag, number, tolerance, whole_number
from ._engine.estimating import (
    Transformer,
    as_rng,
    available_if,
    components_of,
    count_of,
    largest_that_leaves_noise,
    no_more_than,
    scale_of,
    store,
    with_columns,
)
from ._engine.estimator_scores import GaussianPlane, MeanScore, mean_of_rest, noise_left
from ._engine.inner_products import neighbor_spacing
from ._engine.kernel_names import Pairwise, is_precomputed, kernel_named, takes_sparse
from ._engine.pca_solvers import by_sampling, leading_triplets
from .compare import fix_signs
from .kernel_pca import fit_kernel_pca, fit_kernel_pca_gram
from .kernels import cosine, linear, polynomial, rbf_from_gamma, sigmoid
from .pca import PCA as PCAModel
from .pca import centered_operator, fit_pca
from .ppca import fit_ppca, fit_ppca_em
from .preimages import METHODS, denoise, preimage
from .score_regression import fit_score_regression
from .sketching import fourier_features, nystrom, randomized_svd
from .sparse_pca import fit_sparse_pca

__all__ = [
    "PCA",
    "ProbabilisticPCA",
    "KernelPCA",
    "SparsePCA",
    "NystroemFeatures",
    "FourierFeatures",
]

SOLVERS = {
    "auto": "auto",
    "full": "svd",
    "covariance_eigh": "covariance",
    "arpack": "lanczos",
    "randomized": "randomized",
}
KERNELS = {  # by gamma, degree and coef0, as scikit-learn means them
    "linear": lambda gamma, degree, coef0: linear(),
    "cosine": lambda gamma, degree, coef0: cosine(),
    "rbf": lambda gamma, degree, coef0: rbf_from_gamma(gamma),
    "sigmoid": lambda gamma, degree, coef0: sigmoid(gamma, coef0),
    "poly": lambda gamma, degree, coef0: gamma**degree * polynomial(int(degree), coef0 / gamma),
}
KERNELS["polynomial"] = KERNELS["poly"]


class PCA(GaussianPlane):
    """Principal component analysis, by :func:`~kpca_edu.pca.fit_pca`.

    n_components : None for all, a number, or a share of the variance between 0 and 1.
    svd_solver : "auto", "full", "covariance_eigh", "arpack" (iterates), or "randomized", with
    ``random_state``, ``n_oversamples`` and ``iterated_power``. Sparse X is taken by all but "full".
    whiten : scale the scores to variance one. copy, tol and power_iteration_normalizer are taken
    and change nothing: X is never written to, and the solvers stop at rounding.

    >>> model = PCA(n_components=1).fit([[1.0, 0.0], [3.0, 0.0], [2.0, 0.1]])
    >>> model.components_.shape, round(float(model.explained_variance_[0]), 6)
    ((1, 2), 1.0)
    """

    def __init__(
        self,
        n_components: float | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
    ):
        store(locals())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the directions of the rows of X : (n_samples, n_features)."""
        solver = SOLVERS[choice(self.svd_solver, "svd_solver", SOLVERS)]
        flag(self.whiten, "whiten")
        X = self._samples(X, fit=True, least=2)
        n, most = X.shape[0], min(X.shape)
        k, rng = components_of(self.n_components, most), as_rng(self.random_state)
        sampled = solver == "randomized"
        self.model_ = self._sampled(X, k, rng) if sampled else fit_pca(X, k, solver=solver, rng=rng)
        unbiased = n / (n - 1)
        self.components_, self.mean_ = self.model_.V.T, self.model_.mean
        self.n_components_, self.n_samples_ = self.model_.k, n
        self.singular_values_ = self.model_.s
        self.explained_variance_ = self.model_.variances * unbiased
        self.explained_variance_ratio_ = self.model_.explained_ratio
        total = unbiased * float(self.model_.total_variance or 0.0)
        self.noise_variance_ = mean_of_rest(total, self.explained_variance_, most)
        return self

    def transform(self, X: Any) -> NDArray:
        """Return the scores, (n_samples, n_components)."""
        return self._model.encode(self._samples(X)) / self._scale

    def inverse_transform(self, X: ArrayLike) -> NDArray:
        """Return the points of the fitted plane that have the scores X."""
        return self._model.decode(self._scores(X) * self._scale)

    @property
    def _scale(self) -> NDArray:
        """The standard deviations by which whitening divides; ones without it."""
        spread = np.where(self.explained_variance_ > 0, self.explained_variance_, 1.0)
        scale = np.sqrt(spread) if flag(self.whiten, "whiten") else np.ones_like(spread)
        return scale.astype(self.components_.dtype)

    def _sampled(self, X: Any, k: float, rng: np.random.Generator) -> PCAModel:
        """Fit by random vectors, as many and as often multiplied as the parameters say."""
        extra = whole_number(self.n_oversamples, "n_oversamples")
        power: Any = self.iterated_power
        steps = None if power == "auto" else whole_number(power, "iterated_power")

        def sketch(X: Any, k: int, n_iter: int, **options: Any) -> Any:
            n_iter = n_iter if steps is None else steps
            return randomized_svd(X, k, extra, n_iter, **options)

        X_c, n = centered_operator(X), X.shape[0]
        s, V, total = leading_triplets(X_c, k, by_sampling(sketch), rng)
        return PCAModel(X_c.mean, fix_signs(V)[0], s, n, total / n)

    def _traits(self) -> dict[str, bool]:
        return {"sparse": self.svd_solver != "full"}


class ProbabilisticPCA(MeanScore):
    """PCA as a Gaussian model with noise, by :func:`~kpca_edu.ppca.fit_ppca`; NaN is missing.

    With missing values it is fitted by EM (:func:`~kpca_edu.ppca.fit_ppca_em`), to ``tol`` and in
    at most ``max_iter`` steps. n_components : None for as many as leave noise, and for one if
    values are missing. Variances are those of maximum likelihood, with 1/n.
    """

    _dtypes = ("float64",)

    def __init__(
        self, n_components: int | None = None, *, tol: float = 1e-12, max_iter: int = 10_000
    ):
        store(locals())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the most likely model of the rows of X, of which entries may be NaN."""
        X = self._samples(X, fit=True, least=2, features=2)
        tol, max_iter = tolerance(self.tol), whole_number(self.max_iter, "max_iter", least=1)
        holes = bool(np.isnan(X).any())
        if self.n_components is not None:
            k = no_more_than(self.n_components, min(X.shape) - 1)
        else:
            k = 1 if holes else largest_that_leaves_noise(X)
        if holes:
            self.model_ = fit_ppca_em(X, k, tol=tol, max_iter=max_iter)
        else:
            self.model_ = fit_ppca(X, k)
        self.n_components_, self.n_iter_ = self.model_.k, max(self.model_.n_iter, 1)
        self.components_, self.mean_ = self.model_.W.T, self.model_.mean
        self.noise_variance_ = self.model_.sigma2
        self.explained_variance_ = self.model_.variances
        self.explained_variance_ratio_ = self.model_.explained_ratio
        return self

    def transform(self, X: Any, return_std: bool = False) -> Any:
        """Return the posterior means of the codes, and with return_std their deviations."""
        X = self._samples(X)
        if not flag(return_std, "return_std"):
            return self.model_.encode(X)
        mean, covariance = self.model_.posterior(X)
        return mean, np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))

    def inverse_transform(self, X: ArrayLike) -> NDArray:
        """Return the expected samples of the codes X."""
        return self._model.decode(self._scores(X))

    def impute(self, X: Any, return_std: bool = False) -> Any:
        """Return X with each NaN replaced by its conditional mean; and the deviations, if asked."""
        return self._model.impute(self._samples(X), return_std=return_std)

    def get_covariance(self) -> NDArray:
        """Return the covariance of the model."""
        return self._model.covariance()

    def score_samples(self, X: Any) -> NDArray:
        """Return the log-density of what was observed of each sample."""
        return self._model.log_density(self._samples(X))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> NDArray:
        """Draw samples from the model."""
        return self._model.sample(n_samples, as_rng(random_state))

    def _traits(self) -> dict[str, bool]:
        return {"allow_nan": True}


class KernelPCA(Transformer):
    """Kernel PCA with a way back, by :func:`~kpca_edu.kernel_pca.fit_kernel_pca`.

    kernel : "linear", "poly", "rbf", "sigmoid", "cosine" or another of scikit-learn's names,
    "precomputed", a kernel of :mod:`kpca_edu.kernels`, or a function of two samples, with
    ``kernel_params``. gamma is 1/n_features unless given. n_components : None for all whose
    variance is positive; a number gives as many columns, those without variance zero, unless
    ``remove_zero_eig``.

    preimage : how :meth:`inverse_transform` goes back, a method of
    :func:`~kpca_edu.preimages.preimage`. "auto" is "fixed-point" for a radial kernel, "gradient"
    for another of the library, else "nearest"; and "ridge" with ``fit_inverse_transform=True``.
    alpha : the penalty of "ridge", with the kernel itself on the scores; None lets samples that
    are left out choose both. noise : the deviation that :meth:`score` adds; None for as much as
    moves a sample to its nearest neighbour. random_state : its seed; None is 0, the same noise
    for every model that is compared.

    eigen_solver, tol, max_iter, iterated_power, copy_X and n_jobs are taken and change nothing:
    one eigensolver finds the eigenpairs to rounding, X is never written to, and BLAS has threads.
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict | None = None,
        alpha: float | None = None,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        preimage: str = "auto",
        noise: float | None = None,
    ):
        store(locals())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the directions of the features of X, or of its Gram matrix if precomputed."""
        choice(self.eigen_solver, "eigen_solver", ["auto", "dense", "arpack", "randomized"])
        choice(self.preimage, "preimage", ["auto", *METHODS])
        X = self._samples(X, fit=True, least=2)
        n, wanted = X.shape[0], self.n_components
        k = n if wanted is None else min(count_of(wanted), n)
        with warnings.catch_warnings():  # scikit-learn drops components without variance in silence
            warnings.filterwarnings("ignore", message="k=.* components asked")
            if is_precomputed(self):
                self.model_ = fit_kernel_pca_gram(X, min(k, n - 1))
            else:
                kernel = kernel_named(self, X.shape[1], KERNELS)
                self.model_ = fit_kernel_pca(X, min(k, n - 1), kernel)
        model, drop = self.model_, wanted is None or flag(self.remove_zero_eig, "remove_zero_eig")
        self.n_components_, self.X_fit_ = model.k if drop else k, X
        self.gamma_ = 1 / X.shape[1] if self.gamma is None else self.gamma
        self.eigenvalues_ = with_columns(model.lam, self.n_components_)
        self.eigenvectors_ = with_columns(model.alpha * np.sqrt(model.lam), self.n_components_)
        self.explained_variance_ratio_ = with_columns(model.explained_ratio, self.n_components_)
        self._prepare_the_way_back(flag(self.fit_inverse_transform, "fit_inverse_transform"))
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> NDArray:
        """Fit, and return the scores of X itself."""
        return with_columns(self.fit(X).model_.scores, self.n_components_).copy()

    def transform(self, X: Any) -> NDArray:
        """Return the scores of samples, or of their kernel values if precomputed."""
        return with_columns(self._model.encode(self._samples(X)), self.n_components_)

    @available_if(lambda self: not is_precomputed(self))
    def inverse_transform(self, X: ArrayLike) -> NDArray:
        """Return samples whose features are near those with the scores X: a pre-image each."""
        Z = self._scores(X)[:, : self.model_.k]
        return preimage(self.model_, Z, self.preimage_, **self._options).X

    @available_if(lambda self: not is_precomputed(self))
    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the share of added noise that is left when X + noise goes there and back.

        The error is measured in the space of the data, where different kernels can be compared;
        shares of variance belong to one kernel each. 0 is perfect, −1 means nothing gained.
        """
        X = self._samples(X)
        noise = neighbor_spacing(self.X_fit_) if self.noise is None else self.noise
        rng = as_rng(0 if self.random_state is None else self.random_state)

        def clean(T: NDArray) -> NDArray:
            return denoise(self.model_, T, self.preimage_, **self._options).X

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a pre-image that stalled counts as it is
            return -noise_left(clean, X, number(noise, "noise", 0.0, open_low=True), rng)

    def _prepare_the_way_back(self, learn: bool) -> None:
        """Choose the method of pre-images; the regression of "ridge" is fitted once, here."""
        if is_precomputed(self):
            if learn:
                raise ValueError("fit_inverse_transform=True needs samples: X is a Gram matrix.")
            return
        usual = "ridge" if learn else self.model_.preimage_method()
        self.preimage_: str = usual if self.preimage == "auto" else self.preimage
        self._options: dict[str, Any] = {}
        if self.preimage_ == "ridge":
            own = None if isinstance(self.model_.kernel, Pairwise) else self.model_.kernel
            given = {} if self.alpha is None else {"kernel": own, "ridge": self.alpha}
            found = fit_score_regression(self.model_, **given)
            self._options["regression"] = found
            self.X_transformed_fit_, self.dual_coef_ = found.scores, found.coefficients

    def _traits(self) -> dict[str, bool]:
        return {"sparse": takes_sparse(self), "pairwise": is_precomputed(self)}


class SparsePCA(Transformer):
    """Directions with few loadings, by :func:`~kpca_edu.sparse_pca.fit_sparse_pca`.

    nonzeros or l1 : how sparse, a number or one for each component; with neither, as many loadings
    as carry weight. refit : take the shrinkage out of the loadings that are left. The variances
    are adjusted: what a component shares with those before it is not counted twice.
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        nonzeros: Any = None,
        l1: Any = None,
        ridge: float = 0.01,
        refit: bool = False,
        tol: float = 1e-6,
        max_iter: int = 5000,
    ):
        store(locals())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find sparse directions of the rows of X."""
        X = self._samples(X, fit=True, least=2)
        n, most = X.shape[0], min(X.shape[0] - 1, X.shape[1])
        k = most if self.n_components is None else no_more_than(self.n_components, most)
        options = self.get_params()
        del options["n_components"]
        self.model_ = fit_sparse_pca(X, k, **options)
        self.components_, self.mean_ = self.model_.B.T, self.model_.mean
        self.n_components_, self.n_iter_ = self.model_.k, max(self.model_.n_iter, 1)
        self.explained_variance_ = self.model_.variances * (n / (n - 1))
        self.explained_variance_ratio_ = self.model_.explained_ratio
        return self

    def transform(self, X: Any) -> NDArray:
        """Return the scores, (n_samples, n_components)."""
        return self._model.encode(self._samples(X))

    def inverse_transform(self, X: ArrayLike) -> NDArray:
        """Return the samples that the scores X predict."""
        return self._model.decode(self._scores(X))


class NystroemFeatures(Transformer):
    """Features from landmarks whose inner products approximate a kernel, by ``nystrom``.

    kernel, gamma, degree, coef0, kernel_params : as in :class:`KernelPCA`. n_components : the
    number of landmarks, at most that of the samples. landmarks : "uniform", "kmeans", "leverage"
    or "pivoted". n_jobs is taken and changes nothing.
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict | None = None,
        n_components: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        landmarks: str = "uniform",
    ):
        store(locals())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks among the rows of X."""
        X = self._samples(X, fit=True)
        kernel = kernel_named(self, X.shape[1], KERNELS)
        m, rng = min(count_of(self.n_components), X.shape[0]), as_rng(self.random_state)
        self.model_ = nystrom(X, m, kernel, landmarks=self.landmarks, rng=rng)
        self.components_, self.normalization_ = self.model_.landmarks, self.model_.root
        self.n_components_ = len(self.model_.root)
        return self

    def transform(self, X: Any) -> NDArray:
        """Return the features, (n_samples, n_components)."""
        return self._model(self._samples(X))

    def _traits(self) -> dict[str, bool]:
        return {"sparse": takes_sparse(self)}


class FourierFeatures(Transformer):
    """Random waves whose inner products approximate exp(−gamma‖x − y‖²), by ``fourier_features``.

    gamma : a number, or "scale" for one over the features times their variance.
    n_components : the number of features. phases : one cosine with a random shift for each
    frequency; else each has its cosine and its sine. An odd number of features takes phases.
    """

    _dtypes = ("float64",)

    def __init__(
        self,
        *,
        gamma: float | str = 1.0,
        n_components: int = 100,
        random_state: Any = None,
        phases: bool = False,
    ):
        store(locals())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the frequencies. Of X only the number of features matters, and its spread."""
        X = self._samples(X, fit=True)
        gamma, m, rng = self.gamma, count_of(self.n_components), as_rng(self.random_state)
        if isinstance(gamma, str):
            choice(gamma, "gamma", ["scale"])
            gamma = scale_of(X)
        sigma = 1 / np.sqrt(2 * number(gamma, "gamma", 0.0, open_low=True))
        phases = flag(self.phases, "phases") or m % 2 == 1
        self.model_ = fourier_features(X.shape[1], m, sigma, rng, phases=phases)
        self.n_components_ = m
        self.random_weights_, self.random_offset_ = self.model_.frequencies, self.model_.phases
        return self

    def transform(self, X: Any) -> NDArray:
        """Return the features, (n_samples, n_components)."""
        return self._model(self._samples(X))

    def _traits(self) -> dict[str, bool]:
        return {"sparse": True}
