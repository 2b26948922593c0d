"""The directive ``agreement-table``: our numbers beside scikit-learn's, when the book is built.

``CASES`` is the one list of what is compared. Each case computes both sides on the same data, with
conventions converted, and has a bound. The page shows the bound, which is the same on every
machine; the build stops where a difference is larger, and so does ``tests/test_agreement.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from docutils import nodes
from kpca_edu import (
    align_signs,
    center_cross_gram,
    center_gram,
    choose_k_by_error,
    covariance_matrix,
    estimators,
    fit_kernel_pca,
    fit_kernel_pca_gram,
    fit_pca,
    fit_pca_blocks,
    fit_ppca,
    fourier_features,
    kernels,
    low_rank,
    nystrom,
    randomized_svd,
    rbf,
    ridge_direction,
    sparse_direction,
    standardize,
)
from kpca_edu.centering import classical_mds
from kpca_edu.compare import fix_signs
from kpca_edu.datasets import matrix_with_singular_values
from kpca_edu.score_regression import fit_score_regression, leave_one_out_errors
from marked import docstring_nodes, function_link, html, row_filter, table
from sklearn import decomposition
from sklearn.covariance import empirical_covariance
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import (
    PCA,
    FactorAnalysis,
    IncrementalPCA,
    KernelPCA,
    TruncatedSVD,
)
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Ridge
from sklearn.metrics.pairwise import (
    euclidean_distances,
    laplacian_kernel,
    pairwise_kernels,
)
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.preprocessing import KernelCenterer, StandardScaler
from sklearn.utils.extmath import randomized_svd as their_sketch
from sklearn.utils.extmath import svd_flip
from sphinx.util.docutils import SphinxDirective

PAGE = "book/agreement"
COLUMNS = ["Ours", "Theirs", "Compared", "Difference"]
CASES: list[Case] = []


@dataclass(frozen=True)
class Case:
    """One comparison: names on both sides, what is compared, and how far apart it may be."""

    group: str  # heading on the page
    ours: str  # dotted name below kpca_edu, which the page links to
    theirs: str  # dotted name below sklearn
    what: str  # data and conventions, as a line of a docstring
    power: int  # the difference is below 10 to this power
    measure: Callable[[], float]

    @property
    def bound(self) -> float:
        return 10.0**self.power


def case(group: str, ours: str, theirs: str, what: str, power: int):
    """Return a decorator that lists a function as a case."""

    def listed(measure: Callable[[], float]) -> Callable[[], float]:
        CASES.append(Case(group, ours, theirs, what, power, measure))
        return measure

    return listed


def apart(ours, theirs) -> float:
    """Return the largest difference of two arrays, over the largest entry of theirs."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    return float(np.abs(ours - theirs).max() / (np.abs(theirs).max() or 1.0))


def signless(ours, theirs) -> float:
    """Return the largest difference of columns whose signs are free."""
    return apart(align_signs(theirs, ours), theirs)


@cache
def digits() -> np.ndarray:
    """Return 300 digits of 64 pixels, from 0 to 1."""
    return load_digits().data[:300] / 16


@cache
def iris() -> np.ndarray:
    return load_iris().data


# Linear algebra

LINEAR = "Matrices and PCA"


@case(
    LINEAR,
    "svd.low_rank",
    "decomposition.TruncatedSVD",
    "the best matrix of rank 8, digits, uncentred",
    -12,
)
def low_rank_matrix() -> float:
    svd = TruncatedSVD(8, algorithm="arpack", random_state=0)
    Z = svd.fit_transform(digits())
    return apart(low_rank(digits(), 8), svd.inverse_transform(Z))


@case(
    LINEAR,
    "sketching.randomized_svd",
    "utils.extmath.randomized_svd",
    "8 singular values that fall by a third each, and their products *UVᵀ*",
    -12,
)
def sketched() -> float:
    A = matrix_with_singular_values(0.66 ** np.arange(60), 300, 60)
    mine = randomized_svd(A, 8, n_iter=12)
    U, s, Vt = their_sketch(A, 8, n_iter=12, random_state=0)
    return max(apart(mine.s, s), apart(mine.U @ mine.V.T, U @ Vt))


@case(
    LINEAR,
    "compare.fix_signs",
    "utils.extmath.svd_flip",
    "signs of the right singular vectors of iris: the largest entry is positive",
    -15,
)
def signs() -> float:
    U, _, Vt = np.linalg.svd(iris(), full_matrices=False)
    V, _ = fix_signs(Vt.T, U)
    return apart(V.T, svd_flip(U, Vt, u_based_decision=False)[1])


@case(
    LINEAR,
    "pca.covariance_matrix",
    "covariance.empirical_covariance",
    "digits; both divide by *n*",
    -13,
)
def covariance() -> float:
    return apart(covariance_matrix(digits()), empirical_covariance(digits()))


@case(
    LINEAR,
    "pca.standardize",
    "preprocessing.StandardScaler",
    "iris, scaled columns; both divide by *n*",
    -13,
)
def scaled() -> float:
    return apart(standardize(iris())[0], StandardScaler().fit_transform(iris()))


def pca_case(mine: str, other: str, power: int) -> None:
    """List fit_pca with one solver beside PCA with the one that does the same."""

    def measure() -> float:

        X, n = digits(), len(digits())
        ours = fit_pca(X, 6, solver=mine)
        theirs = PCA(6, svd_solver=other, random_state=0, iterated_power=20)
        Z = theirs.fit_transform(X)
        return max(
            signless(ours.V, theirs.components_.T),
            signless(ours.encode(X), Z),
            apart(ours.s, theirs.singular_values_),
            apart(ours.variances * n / (n - 1), theirs.explained_variance_),
            apart(ours.explained_ratio, theirs.explained_variance_ratio_),
            apart(ours.reconstruct(X), theirs.inverse_transform(Z)),
        )

    what = (
        f'``solver="{mine}"`` beside ``svd_solver="{other}"``: directions, '
        "scores, singular values, variances times *n*/(*n* − 1), shares, "
        "reconstructions of the digits"
    )
    case(LINEAR, "pca.fit_pca", "decomposition.PCA", what, power)(measure)


pca_case("svd", "full", -12)
pca_case("covariance", "covariance_eigh", -12)
pca_case("gram", "full", -12)
pca_case("lanczos", "arpack", -11)
pca_case("randomized", "randomized", -5)


@case(
    LINEAR,
    "pca.PCA.whiten",
    "decomposition.PCA",
    "iris, ``whiten=True``: their scores times √(*n*/(*n* − 1))",
    -11,
)
def whitened() -> float:
    X, n = iris(), len(iris())
    theirs = PCA(3, whiten=True).fit_transform(X) * np.sqrt(n / (n - 1))
    return signless(fit_pca(X, 3).whiten(X), theirs)


@case(
    LINEAR,
    "choosing_k.choose_k_by_error",
    "decomposition.PCA",
    "the number of components for 50, 80, 90, 95 and 99 % of the variance",
    -15,
)
def shares() -> float:
    X, kept = digits(), (0.5, 0.8, 0.9, 0.95, 0.99)
    ours = [choose_k_by_error(X, 1 - share, squared=True) for share in kept]
    return apart(ours, [PCA(share).fit(X).n_components_ for share in kept])


@case(
    LINEAR,
    "streaming.fit_pca_blocks",
    "decomposition.IncrementalPCA",
    "digits in three blocks, all 64 directions kept: variances and scores of 6",
    -12,
)
def blocks() -> float:
    X, n = digits(), len(digits())
    theirs = IncrementalPCA(64, batch_size=100).fit(X)
    ours = fit_pca_blocks((X[i : i + 100] for i in (0, 100, 200)), 6)
    variances = ours.variances * n / (n - 1)
    return max(
        signless(ours.encode(X), theirs.transform(X)[:, :6]),
        apart(variances, theirs.explained_variance_[:6]),
    )


# Probabilistic PCA

NOISY = "Probabilistic PCA"


def unbiased_ppca():
    """Return iris and its model with the variances of scikit-learn, 1/(n − 1)."""
    X = iris()
    model, factor = fit_ppca(X, 2), len(X) / (len(X) - 1)
    W = model.W * np.sqrt(factor)
    return X, replace(model, W=W, sigma2=model.sigma2 * factor)


@case(
    NOISY,
    "ppca.fit_ppca",
    "decomposition.PCA.get_covariance",
    "iris: the covariance of the model, and its noise, times *n*/(*n* − 1)",
    -11,
)
def model_covariance() -> float:
    X, ours = unbiased_ppca()
    theirs = PCA(2).fit(X)
    return max(
        apart(ours.covariance(), theirs.get_covariance()),
        apart(ours.sigma2, theirs.noise_variance_),
    )


@case(
    NOISY,
    "ppca.PPCA.log_density",
    "decomposition.PCA.score_samples",
    "iris: the log-density of each sample, with their variances in our model",
    -11,
)
def density() -> float:
    X, ours = unbiased_ppca()
    return apart(ours.log_density(X), PCA(2).fit(X).score_samples(X))


@case(
    NOISY,
    "ppca.PPCA.encode",
    "decomposition.FactorAnalysis.transform",
    "iris: posterior means and log-densities, with our *W* and σ² in their "
    "model, which has a noise for each column",
    -11,
)
def factors() -> float:
    X = iris()
    ours, theirs = fit_ppca(X, 2), FactorAnalysis(2).fit(X)
    theirs.components_ = ours.W.T
    theirs.noise_variance_ = np.full(4, ours.sigma2)
    return max(
        apart(ours.encode(X), theirs.transform(X)),
        apart(ours.log_density(X), theirs.score_samples(X)),
    )


# Kernels

KERNELS = "Kernels and centring"


def kernel_case(ours: str, make: Callable, metric: str, what: str, **options):
    """List one kernel beside the function of scikit-learn that names it."""

    def measure() -> float:

        X, T = iris(), iris()[::3] + 0.1
        return apart(make()(T, X), pairwise_kernels(T, X, metric, **options))

    theirs = f"metrics.pairwise.{metric}_kernel"
    if metric == "cosine":
        theirs = "metrics.pairwise.cosine_similarity"
    case(KERNELS, f"kernels.{ours}", theirs, what, -12)(measure)


kernel_case("linear", lambda: kernels.linear(), "linear", "iris")
kernel_case(
    "polynomial",
    lambda: 0.5**3 * kernels.polynomial(3, 2.0),
    "polynomial",
    "iris, degree 3: (*γxᵀy* + *c*)³ is *γ³* times ours with offset *c*/*γ*",
    degree=3,
    gamma=0.5,
    coef0=1.0,
)
kernel_case(
    "rbf", lambda: kernels.rbf(2.0), "rbf", "iris, γ = 1/2σ²", gamma=0.125
)
kernel_case(
    "sigmoid",
    lambda: kernels.sigmoid(0.1, -1.0),
    "sigmoid",
    "iris, γ = 0.1, coef0 = −1",
    gamma=0.1,
    coef0=-1.0,
)
kernel_case("cosine", lambda: kernels.cosine(), "cosine", "iris")


@case(
    KERNELS,
    "kernels.laplacian",
    "metrics.pairwise.laplacian_kernel",
    "one column of iris, γ = 1/σ; with more columns ours has the Euclidean "
    "distance, theirs the sum of moduli",
    -12,
)
def laplacian_values() -> float:
    x = iris()[:, :1]
    return apart(kernels.laplacian(2.0)(x, x), laplacian_kernel(x, gamma=0.5))


@case(
    KERNELS,
    "kernels.squared_distances",
    "metrics.pairwise.euclidean_distances",
    "iris, ``squared=True``",
    -12,
)
def distances() -> float:
    X = iris()
    ours = kernels.squared_distances(X, X[::2])
    return apart(ours, euclidean_distances(X, X[::2], squared=True))


@case(
    KERNELS,
    "centering.center_gram",
    "preprocessing.KernelCenterer",
    "the RBF kernel of iris",
    -12,
)
def centred() -> float:
    K = kernels.rbf(1.0)(iris(), iris())
    return apart(center_gram(K), KernelCenterer().fit_transform(K))


@case(
    KERNELS,
    "centering.center_cross_gram",
    "preprocessing.KernelCenterer",
    "the RBF kernel of 100 samples of iris, and 50 new ones",
    -12,
)
def centred_new() -> float:
    X, T = iris()[::3], iris()[1::3]
    K, K_t = kernels.rbf(1.0)(X, X), kernels.rbf(1.0)(T, X)
    return apart(
        center_cross_gram(K_t, K), KernelCenterer().fit(K).transform(K_t)
    )


@case(
    KERNELS,
    "centering.classical_mds",
    "decomposition.KernelPCA",
    "iris from its distances: their precomputed kernel is −½ *D²*",
    -12,
)
def scaling() -> float:
    D2 = np.sum((iris()[:, None] - iris()) ** 2, axis=2)
    theirs = KernelPCA(3, kernel="precomputed").fit_transform(-D2 / 2)
    return signless(classical_mds(np.sqrt(D2), 3).Z, theirs)


# Kernel PCA and the way back

COMPONENTS = "Kernel PCA and the way back"


def kernel_pca_case(name: str, make: Callable, what: str, **options) -> None:
    """List kernel PCA with one kernel: eigenvalues, scores of old and new samples."""

    def measure() -> float:

        X, T = digits()[:200], digits()[200:]
        ours = fit_kernel_pca(X, 5, make())
        theirs = KernelPCA(5, kernel=name, eigen_solver="dense", **options)
        return max(
            signless(ours.scores, theirs.fit_transform(X)),
            signless(ours.encode(T), theirs.transform(T)),
            apart(ours.lam, theirs.eigenvalues_),
        )

    case(
        COMPONENTS,
        "kernel_pca.fit_kernel_pca",
        "decomposition.KernelPCA",
        f'``kernel="{name}"``: eigenvalues of 200 digits, their scores, and '
        f"those of 100 new ones{what}",
        -11,
    )(measure)


kernel_pca_case("linear", lambda: kernels.linear(), "")
kernel_pca_case(
    "poly",
    lambda: 64.0**-3 * kernels.polynomial(3, 64.0),
    "; γ = 1/64, degree 3, coef0 = 1",
)
kernel_pca_case("rbf", lambda: kernels.rbf(2.0), "; γ = 1/2σ²", gamma=0.125)
kernel_pca_case("cosine", lambda: kernels.cosine(), "")


@case(
    COMPONENTS,
    "kernel_pca.fit_kernel_pca_gram",
    "decomposition.KernelPCA",
    '``kernel="precomputed"``: scores of 200 digits, RBF kernel',
    -11,
)
def given_gram() -> float:
    X = digits()[:200]
    K = kernels.rbf(2.0)(X, X)
    theirs = KernelPCA(5, kernel="precomputed").fit_transform(K)
    return signless(fit_kernel_pca_gram(K, 5).scores, theirs)


@case(
    COMPONENTS,
    "score_regression.fit_score_regression",
    "kernel_ridge.KernelRidge",
    "iris from its scores, with a given kernel and penalty; theirs has no "
    "mean, so it is fitted to centred samples",
    -12,
)
def regression() -> float:
    X = iris()
    model = fit_kernel_pca(X, 3, rbf(2.0))
    ours = fit_score_regression(model, rbf(1.0), ridge=0.1)
    theirs = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5)
    theirs.fit(model.scores, X - X.mean(axis=0))
    Z = model.encode(X + 0.1)
    return apart(ours.predict(Z), theirs.predict(Z) + X.mean(axis=0))


@case(
    COMPONENTS,
    "score_regression.leave_one_out_errors",
    "model_selection.LeaveOneOut",
    "the error of leaving out each of 50 samples, beside 50 fits of "
    "``KernelRidge``",
    -11,
)
def left_out() -> float:
    Z, Y = iris()[::3, :2], iris()[::3, 2:]
    theirs = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5)
    told = cross_val_predict(theirs, Z, Y, cv=LeaveOneOut())
    ours = leave_one_out_errors(rbf(1.0)(Z, Z), Y, [0.1])
    return apart(ours, [np.mean((told - Y) ** 2)])


# Sparse directions

SPARSE = "Sparse directions"


def score_of_iris():
    """Return centred iris, its covariance and its first direction."""
    X = iris() - iris().mean(axis=0)
    return X, covariance_matrix(X), fit_pca(X, 1).V[:, 0]


@case(
    SPARSE,
    "sparse_pca.ridge_direction",
    "linear_model.Ridge",
    "the first score of iris on its columns; their penalty is *n* times ours",
    -12,
)
def ridge() -> float:
    X, C, a = score_of_iris()
    theirs = Ridge(alpha=0.3 * len(X), fit_intercept=False).fit(X, X @ a)
    return apart(ridge_direction(C, a, 0.3), theirs.coef_)


@case(
    SPARSE,
    "sparse_pca.sparse_direction",
    "linear_model.ElasticNet",
    "the first score of iris; theirs halves the loss, so *α* = l1/2 + ridge",
    -11,
)
def elastic_net() -> float:
    X, C, a = score_of_iris()
    l1, penalty = 0.3, 0.1
    alpha = l1 / 2 + penalty
    theirs = ElasticNet(
        alpha=alpha,
        l1_ratio=l1 / 2 / alpha,
        fit_intercept=False,
        tol=1e-14,
        max_iter=100_000,
    ).fit(X, X @ a)
    return apart(sparse_direction(C, a, l1, ridge=penalty), theirs.coef_)


# Feature maps

MAPS = "Feature maps"


@case(
    MAPS,
    "sketching.nystrom",
    "kernel_approximation.Nystroem",
    "inner products of the features of iris, with 20 of their landmarks",
    -10,
)
def landmarks() -> float:
    X = iris()
    theirs = Nystroem(gamma=0.5, n_components=20, random_state=0).fit(X)
    ours = nystrom(theirs.components_, 20, rbf(1.0))
    F, G = ours(X), theirs.transform(X)
    return apart(F @ F.T, G @ G.T)


@case(
    MAPS,
    "sketching.fourier_features",
    "kernel_approximation.RBFSampler",
    "``phases=True``: the features of iris, with our waves in their sampler",
    -12,
)
def waves() -> float:
    X = iris()
    ours = fourier_features(4, 30, 1.0, phases=True)
    theirs = RBFSampler(gamma=0.5, n_components=30).fit(X)
    theirs.random_weights_, theirs.random_offset_ = (
        ours.frequencies,
        ours.phases,
    )
    return apart(ours(X), theirs.transform(X))


# Estimators

CLASSES = "Estimators"


def estimator_case(name: str, what: str, power: int, **options) -> None:
    """List an estimator: fitted attributes, scores of new samples, the way back."""

    def measure() -> float:

        X, T = digits()[:200], digits()[200:]
        ours = getattr(estimators, name)(5, **options).fit(X)
        theirs = getattr(decomposition, name)(5, **options).fit(X)
        Z = theirs.transform(T)
        found = [apart(ours.transform(T), Z)]
        attributes = ("explained_variance_", "noise_variance_", "eigenvalues_")
        for attribute in attributes:
            if hasattr(theirs, attribute):
                pair = getattr(ours, attribute), getattr(theirs, attribute)
                found.append(apart(*pair))
        if name == "PCA":
            found.append(
                apart(ours.inverse_transform(Z), theirs.inverse_transform(Z))
            )
            found.append(apart(ours.score_samples(T), theirs.score_samples(T)))
        return max(found)

    dotted = f"decomposition.{name}"
    case(CLASSES, f"estimators.{name}", dotted, what, power)(measure)


estimator_case(
    "PCA",
    "digits: variances, noise, scores, reconstructions and log-densities of "
    "100 new ones; signs as well",
    -12,
)
estimator_case(
    "KernelPCA",
    'digits, ``kernel="rbf"``, γ = 0.1: eigenvalues, and scores of 100 new '
    "ones; signs as well",
    -11,
    kernel="rbf",
    gamma=0.1,
)


@case(
    CLASSES,
    "estimators.KernelPCA",
    "decomposition.KernelPCA",
    "``fit_inverse_transform=True``, alpha = 0.01: iris there and back; "
    "theirs on centred samples, since its regression has no mean",
    -11,
)
def there_and_back() -> float:
    X, mean = iris(), iris().mean(axis=0)
    options = {
        "kernel": "rbf",
        "gamma": 0.3,
        "fit_inverse_transform": True,
        "alpha": 0.01,
    }
    ours = estimators.KernelPCA(5, **options).fit(X)
    theirs = decomposition.KernelPCA(5, **options).fit(X - mean)
    back = theirs.inverse_transform(theirs.transform(X - mean)) + mean
    return apart(ours.inverse_transform(ours.transform(X)), back)


class AgreementTable(SphinxDirective):
    """Compute every case and write a table for each group."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(__file__)
        out: list[nodes.Node] = [
            row_filter(
                "Filter the comparisons",
                "Filter by a name or a word",
                "KernelPCA, digits …",
            )
        ]
        for group in dict.fromkeys(c.group for c in CASES):
            cases = [c for c in CASES if c.group == group]
            block = nodes.container(classes=["row-group"])
            count = f"{len(cases)} comparison{'s' * (len(cases) != 1)}"
            head = f'<h2>{group}</h2> <span class="rows-size">{count}</span>'
            rows = [self.row(each) for each in cases]
            block += [html(head), table("agreement", COLUMNS, rows)]
            out.append(block)
        return out

    def row(self, case: Case) -> list[list[nodes.Node]]:
        difference = case.measure()
        if not difference < case.bound:
            raise self.error(
                f"{case.ours} and sklearn.{case.theirs} differ by "
                f"{difference:.1e}, and the bound is {case.bound:.0e}."
            )
        module, name = case.ours.split(".", 1)
        short = ".".join(case.theirs.split(".")[1:])
        return [
            [function_link(f"kpca_edu.{case.ours}", PAGE, name)],
            [nodes.literal(short, short)],
            docstring_nodes(case.what, f"kpca_edu.{module}", PAGE),
            [html(f"&lt; 10<sup>−{-case.power}</sup>")],
        ]


def setup(app):
    app.add_directive("agreement-table", AgreementTable)
    return {"version": "1", "parallel_read_safe": True}
