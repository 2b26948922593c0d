"""The estimators are scikit-learn's citizens, and say what its own classes say."""

import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.decomposition
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs, make_circles
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from kpca_edu import fit_kernel_pca, fit_ppca, fit_ppca_em, fit_sparse_pca
from kpca_edu._engine.estimating import (
    largest_that_leaves_noise,
    no_more_than,
    scale_of,
    with_columns,
)
from kpca_edu._engine.estimator_scores import gaussian_scores, noise_left
from kpca_edu._engine.kernel_names import kernel_named
from kpca_edu.compare import align_signs
from kpca_edu.datasets import matrix_with_singular_values
from kpca_edu.estimators import (
    KERNELS,
    PCA,
    FourierFeatures,
    KernelPCA,
    NystroemFeatures,
    ProbabilisticPCA,
    SparsePCA,
)
from kpca_edu.kernel_pca import denoising_error
from kpca_edu.kernels import Kernel, laplacian, rbf

CONFIGURATIONS = [
    PCA(),
    PCA(1),
    PCA(0.9),
    PCA(1, whiten=True),
    PCA(1, svd_solver="full"),
    PCA(1, svd_solver="randomized", random_state=0),
    ProbabilisticPCA(),
    ProbabilisticPCA(1),
    KernelPCA(),
    KernelPCA(1, kernel="rbf"),
    KernelPCA(1, kernel="poly"),
    KernelPCA(1, kernel=rbf(2.0)),
    KernelPCA(1, kernel="precomputed"),
    SparsePCA(1),
    SparsePCA(1, nonzeros=1, refit=True),
    NystroemFeatures(n_components=5, random_state=0),
    NystroemFeatures(n_components=5, landmarks="kmeans", random_state=0),
    FourierFeatures(n_components=10, random_state=0),
]
each_configuration = pytest.mark.parametrize("estimator", CONFIGURATIONS, ids=repr)
IRIS = load_iris().data
RINGS = make_circles(120, noise=0.05, factor=0.4, random_state=0)[0]


def assert_same_up_to_sign(A, B, tol=1e-8):
    """Compare columns, each at the sign that fits."""
    np.testing.assert_allclose(align_signs(A, B), A, atol=tol * np.abs(A).max())


@each_configuration
def test_scikit_learns_own_checks(estimator):
    """All that scikit-learn asks of an estimator; the array API's check runs in the test below."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None)
    failed = {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"}
    skipped = {r["check_name"] for r in results if r["status"] not in ("passed", "failed")}
    assert failed == {}
    assert skipped <= {"check_array_api_input"}
    assert len(results) > 30


def test_the_array_api_check_runs_where_scipy_is_told_so():
    """The one check that is skipped unless SCIPY_ARRAY_API is set before SciPy is loaded."""
    code = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "from sklearn.utils.estimator_checks import check_estimator\n"
        "from test_estimators import CONFIGURATIONS\n"
        "for e in CONFIGURATIONS[::3]:\n"
        "    results = check_estimator(e, on_fail=None)\n"
        "    bad = [r['check_name'] for r in results if r['status'] != 'passed']\n"
        "    assert not bad, (e, bad)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        cwd=os.path.dirname(__file__),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


@each_configuration
def test_clone_pickle_and_names(estimator):
    X = pd.DataFrame(np.abs(IRIS[:40]), columns=["a", "b", "c", "d"])
    if getattr(estimator, "kernel", None) == "precomputed":
        X = pd.DataFrame(X.to_numpy() @ X.to_numpy().T, columns=[f"k{i}" for i in range(40)])
    fitted = clone(estimator).fit(X)
    assert list(fitted.feature_names_in_) == list(X.columns)
    names = fitted.get_feature_names_out()
    assert len(names) == fitted.transform(X).shape[1]
    assert names[0] == type(estimator).__name__.lower() + "0"
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    table = clone(estimator).set_output(transform="pandas").fit(X).transform(X)
    assert list(table.columns) == list(names)
    assert clone(fitted).get_params() == estimator.get_params()


LOW_RANK = matrix_with_singular_values([8.0, 6.0, 5.0, 4.0, 3.0, 0.5, 0.4, 0.3], 100, 80)
SOLVER = ["auto", "full", "covariance_eigh", "arpack", "randomized"]


class TestPCA:
    """What scikit-learn's own tests ask of its PCA, stated again."""

    @pytest.mark.parametrize("solver", SOLVER)
    @pytest.mark.parametrize("whiten", [False, True])
    def test_numbers_are_scikit_learns(self, solver, whiten):
        options = {"svd_solver": solver, "whiten": whiten, "random_state": 0}
        ours = PCA(3, **options).fit(IRIS)
        theirs = sklearn.decomposition.PCA(3, svd_solver="full", whiten=whiten).fit(IRIS)
        for name in (
            "components_",
            "mean_",
            "explained_variance_",
            "explained_variance_ratio_",
            "singular_values_",
            "noise_variance_",
            "n_components_",
            "n_samples_",
            "n_features_in_",
        ):
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6)
        Z = theirs.transform(IRIS)
        np.testing.assert_allclose(ours.transform(IRIS), Z, atol=1e-6)
        np.testing.assert_allclose(ours.fit_transform(IRIS), Z, atol=1e-6)
        np.testing.assert_allclose(
            ours.inverse_transform(Z), theirs.inverse_transform(Z), rtol=1e-6
        )

    @pytest.mark.parametrize("k", [1, 3, None])
    def test_the_gaussian_is_scikit_learns(self, k):
        ours, theirs = PCA(k).fit(IRIS), sklearn.decomposition.PCA(k).fit(IRIS)
        np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-6)
        np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-5)
        np.testing.assert_allclose(ours.score_samples(IRIS), theirs.score_samples(IRIS), rtol=1e-6)
        assert ours.score(IRIS) == pytest.approx(theirs.score(IRIS), rel=1e-6)

    def test_whitening_changes_scores_and_not_the_covariance(self):
        """The covariance is that of the data; scikit-learn's is not, if its PCA whitens."""
        whitened = PCA(whiten=True).fit(IRIS)
        np.testing.assert_allclose(np.cov(whitened.transform(IRIS).T), np.eye(4), atol=1e-9)
        np.testing.assert_allclose(whitened.get_covariance(), np.cov(IRIS.T), atol=1e-12)
        assert whitened.score(IRIS) == pytest.approx(PCA().fit(IRIS).score(IRIS))

    @pytest.mark.parametrize("k", [None, 2, 0.5, 0.95, 0.999])
    def test_number_of_components(self, k):
        ours, theirs = PCA(k).fit(IRIS), sklearn.decomposition.PCA(k).fit(IRIS)
        assert ours.n_components_ == theirs.n_components_

    @pytest.mark.parametrize("solver", SOLVER)
    def test_solvers_agree_on_new_samples(self, solver):
        X, T = LOW_RANK[:80], LOW_RANK[80:]
        full = PCA(5, svd_solver="full").fit(X)
        ours = PCA(5, svd_solver=solver, random_state=0).fit(X)
        np.testing.assert_allclose(ours.transform(T), full.transform(T), atol=1e-6)
        np.testing.assert_allclose(ours.components_, full.components_, atol=1e-6)

    @pytest.mark.parametrize("solver", SOLVER)
    def test_variances_are_those_of_the_scores(self, solver):
        ours = PCA(4, svd_solver=solver, random_state=0).fit(LOW_RANK)
        Z = ours.transform(LOW_RANK)
        np.testing.assert_allclose(ours.explained_variance_, Z.var(axis=0, ddof=1), rtol=1e-6)
        np.testing.assert_allclose(ours.singular_values_, np.linalg.norm(Z, axis=0), rtol=1e-6)

    @pytest.mark.parametrize("whiten", [False, True])
    def test_there_and_back_is_the_identity_with_all_components(self, whiten):
        ours = PCA(whiten=whiten).fit(IRIS)
        np.testing.assert_allclose(ours.inverse_transform(ours.transform(IRIS)), IRIS, rtol=1e-9)

    def test_more_power_steps_come_nearer(self):
        """iterated_power and n_oversamples reach the sketch."""
        s = np.arange(1, 101) ** -0.3
        X = matrix_with_singular_values(s, 200, 100)
        true = PCA(5, svd_solver="full").fit(X).singular_values_

        def error(**options):
            rough = PCA(5, svd_solver="randomized", random_state=0, **options).fit(X)
            return np.abs(rough.singular_values_ - true).max()

        assert error(iterated_power=20) < 0.1 * error(iterated_power=0)
        assert error(iterated_power=0, n_oversamples=80) < 0.5 * error(iterated_power=0)

    def test_the_noise_is_the_mean_of_the_variances_left(self):
        ours, everything = PCA(2).fit(IRIS), PCA().fit(IRIS)
        rest = everything.explained_variance_[2:]
        assert ours.noise_variance_ == pytest.approx(rest.mean())
        assert everything.noise_variance_ == 0

    def test_the_score_prefers_the_true_number(self):
        """Held-out density is highest at the number of directions that the data have."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((400, 3)) @ rng.standard_normal((3, 20)) * 3
        X = X + rng.standard_normal(X.shape)
        scores = [PCA(k).fit(X[:200]).score(X[200:]) for k in range(1, 10)]
        assert np.argmax(scores) + 1 == 3

    def test_wide_data(self):
        X = np.random.default_rng(0).standard_normal((10, 30))
        ours, theirs = PCA().fit(X), sklearn.decomposition.PCA().fit(X)
        np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, atol=1e-10)
        np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), X, atol=1e-10)

    @pytest.mark.parametrize("solver", ["auto", "covariance_eigh", "arpack", "randomized"])
    @pytest.mark.parametrize("kind", ["csr", "csc"])
    def test_sparse_data_stay_sparse(self, solver, kind):
        X = sparse.random_array((200, 50), density=0.1, rng=0, format=kind)
        X = X @ sparse.diags_array(1.2 ** -np.arange(50.0))
        theirs = sklearn.decomposition.PCA(4).fit(X.toarray())
        ours = PCA(4, svd_solver=solver, random_state=0).fit(X)
        np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-5)
        assert_same_up_to_sign(theirs.transform(X.toarray()), ours.transform(X), 1e-4)
        assert ours.score(X) == pytest.approx(theirs.score(X.toarray()), rel=1e-5)
        with pytest.raises(TypeError, match="[Ss]parse"):
            PCA(4, svd_solver="full").fit(X)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64, int])
    def test_precision_is_kept(self, dtype):
        X = (10 * IRIS).astype(dtype)
        Z = PCA(2).fit(X).transform(X)
        assert Z.dtype == (np.float32 if dtype is np.float32 else np.float64)
        np.testing.assert_allclose(Z, PCA(2).fit_transform(X.astype(float)), atol=1e-3)

    @pytest.mark.parametrize("k", [0, 5, -1, 1.5])
    def test_impossible_numbers_are_refused(self, k):
        with pytest.raises(ValueError, match="n_components"):
            PCA(k).fit(IRIS)

    def test_minkas_estimate_is_not_here_and_the_message_says_what_is(self):
        with pytest.raises(ValueError, match="n_components='mle'.*choose_k_by_bic"):
            PCA("mle").fit(IRIS)

    def test_unknown_solver(self):
        with pytest.raises(ValueError, match="svd_solver='best': choose one of"):
            PCA(svd_solver="best").fit(IRIS)


def histogram(x, y):
    """A kernel of two samples: how much two histograms share."""
    return np.minimum(x, y).sum()


class TestKernelPCA:
    """What scikit-learn's own tests ask of its KernelPCA, stated again, and what ours adds."""

    KERNELS = [
        {"kernel": "linear"},
        {"kernel": "rbf", "gamma": 2.0},
        {"kernel": "rbf"},
        {"kernel": "poly", "degree": 2},
        {"kernel": "poly", "gamma": 0.5, "coef0": 0.3},
        {"kernel": "poly", "degree": 2.5},
        {"kernel": "sigmoid", "gamma": 0.01},
        {"kernel": "cosine"},
        {"kernel": histogram},
    ]

    @pytest.mark.parametrize("options", KERNELS)
    @pytest.mark.filterwarnings("ignore:The 2 components can be had")
    def test_numbers_are_scikit_learns(self, options):
        X, T = RINGS[:90] + 2, RINGS[90:] + 2
        ours = KernelPCA(2, **options).fit(X)
        theirs = sklearn.decomposition.KernelPCA(2, **options).fit(X)
        np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
        assert_same_up_to_sign(theirs.eigenvectors_, ours.eigenvectors_, 1e-6)
        assert_same_up_to_sign(theirs.transform(T), ours.transform(T), 1e-6)
        np.testing.assert_allclose(ours.fit_transform(X), ours.transform(X), atol=1e-8)
        assert ours.gamma_ == theirs.gamma_

    def test_other_names_of_scikit_learn(self):
        """Its KernelPCA refuses "laplacian"; ours takes every name of pairwise_kernels."""
        K = pairwise_kernels(IRIS, metric="laplacian", gamma=0.3)
        by_name = KernelPCA(2, kernel="laplacian", gamma=0.3).fit(IRIS)
        given = KernelPCA(2, kernel="precomputed").fit(K)
        assert_same_up_to_sign(given.eigenvectors_, by_name.eigenvectors_, 1e-8)

    @pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "randomized"])
    @pytest.mark.parametrize("d", [4, 10])
    def test_the_linear_kernel_is_pca(self, solver, d):
        X = np.random.default_rng(0).random((9, d))
        ours = KernelPCA(3, eigen_solver=solver).fit(X[:7]).transform(X[7:])
        assert_same_up_to_sign(PCA(3).fit(X[:7]).transform(X[7:]), ours)

    @pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
    def test_sparse_samples(self, kernel):
        X = sparse.random_array((30, 8), density=0.4, rng=0, format="csr")
        ours, dense = KernelPCA(3, kernel=kernel).fit(X), KernelPCA(3, kernel=kernel)
        Z = dense.fit(X.toarray()).transform(X.toarray())
        assert_same_up_to_sign(Z, ours.transform(X))
        with pytest.raises(ValueError, match="sparse"):
            ours.inverse_transform(ours.transform(X))

    def test_precomputed(self):
        K = rbf(1.0)(RINGS, RINGS)
        ours = KernelPCA(3, kernel="precomputed").fit(K)
        theirs = sklearn.decomposition.KernelPCA(3, kernel="precomputed").fit(K)
        assert_same_up_to_sign(theirs.transform(K[:7]), ours.transform(K[:7]), 1e-6)
        assert not hasattr(ours, "inverse_transform")
        assert not hasattr(ours, "score")
        with pytest.raises(ValueError, match="Gram matrix"):
            KernelPCA(kernel="precomputed", fit_inverse_transform=True).fit(K)

    def test_components_without_variance(self):
        """They are columns of zeros if a number was asked for, and left out else."""
        X = np.array([[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]])
        theirs = sklearn.decomposition.KernelPCA(2).fit_transform(X)
        ours = KernelPCA(2).fit(X)
        assert_same_up_to_sign(theirs[:, :1], ours.transform(X)[:, :1])
        assert ours.transform(X).shape == theirs.shape
        np.testing.assert_array_equal(ours.transform(X)[:, 1], 0)
        np.testing.assert_allclose(ours.fit_transform(X), ours.transform(X), atol=1e-12)
        assert KernelPCA(2, remove_zero_eig=True).fit_transform(X).shape == (3, 1)
        assert KernelPCA().fit_transform(X).shape == (3, 1)
        assert KernelPCA(50).fit_transform(X).shape == (3, 3)
        assert len(ours.get_feature_names_out()) == 2
        np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), X, atol=1e-6)

    def test_an_indefinite_gram_matrix(self):
        """Components of positive eigenvalues can be had, with a word; more are refused."""
        Q = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 8)))[0]
        K = (Q * [50.0, 8.0, 7.0, 5.0, 1.0, 0.0, -6.0, -15.0]) @ Q.T
        K = (K + K.T) / 2
        with pytest.warns(UserWarning, match="indefinite"):
            KernelPCA(2, kernel="precomputed").fit(K)
        with pytest.raises(ValueError, match="indefinite.*k is n_components here, and clip"):
            KernelPCA(7, kernel="precomputed").fit(K)

    def test_an_unknown_option_is_refused_whether_it_matters_or_not(self):
        X = np.random.default_rng(0).random((10, 4))
        for k in (None, 2):
            with pytest.raises(ValueError, match="remove_zero_eig='no'"):
                KernelPCA(k, remove_zero_eig="no").fit(X)

    def test_scores_do_not_change_with_the_users_array(self):
        """The noise of score is taken from the samples of the fit, as they were."""
        X = np.random.default_rng(0).random((10, 4))
        ours, T = KernelPCA(2, kernel="rbf").fit(X), X.copy()
        before = ours.score(T)
        X *= 100
        assert ours.score(T) == before
        np.testing.assert_array_equal(ours.X_fit_, T)

    def test_the_samples_are_its_own(self):
        X = np.random.default_rng(0).random((10, 4))
        ours, T = KernelPCA(kernel="rbf").fit(X), X.copy()
        before = ours.transform(T)
        X[:, 0] = 666
        np.testing.assert_array_equal(before, ours.transform(T))

    def test_precision_does_not_change_the_number(self):
        X = IRIS - IRIS.mean(axis=0)
        shapes = [KernelPCA().fit_transform(X.astype(t)).shape for t in (np.float32, float)]
        assert shapes[0] == shapes[1] == (150, 4)

    def test_a_function_of_two_samples(self):
        def kernel(x, y, gamma):
            return float(np.exp(-gamma * np.sum((x - y) ** 2)))

        by_function = KernelPCA(2, kernel=kernel, kernel_params={"gamma": 1.0}).fit(RINGS[:40])
        by_name = KernelPCA(2, kernel="rbf", gamma=1.0).fit(RINGS[:40])
        assert_same_up_to_sign(by_name.eigenvectors_, by_function.eigenvectors_)
        assert by_function.preimage_ == "nearest"

    def test_a_kernel_of_the_library(self):
        ours = KernelPCA(2, kernel=laplacian(1.0)).fit(RINGS)
        model = fit_kernel_pca(RINGS, 2, laplacian(1.0))
        np.testing.assert_allclose(ours.transform(RINGS), model.scores, atol=1e-10)
        np.testing.assert_allclose(ours.explained_variance_ratio_, model.explained_ratio)

    def test_rings_can_be_told_apart(self):
        """A linear classifier fails on two rings, and succeeds on their kernel components."""
        X, y = make_circles(400, factor=0.3, noise=0.05, random_state=0)
        Z = KernelPCA(2, kernel="rbf", gamma=2.0).fit_transform(X)
        assert Perceptron(max_iter=5, tol=None).fit(X, y).score(X, y) < 0.8
        assert Perceptron(max_iter=5, tol=None).fit(Z, y).score(Z, y) == 1

    @pytest.mark.parametrize("given", [False, True])
    def test_a_grid_in_a_pipeline(self, given):
        X, y = make_circles(300, factor=0.3, noise=0.05, random_state=0)
        X = pairwise_kernels(X, metric="rbf", gamma=2.0) if given else X
        kernel = "precomputed" if given else "rbf"
        steps = make_pipeline(KernelPCA(2, kernel=kernel), Perceptron(max_iter=5, tol=None))
        grid = {"kernelpca__n_components": [1, 2]} if given else {"kernelpca__gamma": [0.1, 2.0]}
        assert GridSearchCV(steps, grid, cv=3).fit(X, y).best_score_ == 1

    METHODS = {"auto": 0.5, "nearest": 0.5, "fixed-point": 0.5, "gradient": 0.5, "ridge": 0.5}
    METHODS["mds"] = 1.0

    @pytest.mark.parametrize("method", METHODS)
    def test_there_is_a_way_back(self, method):
        """Samples with some noise come back nearer to the ring that they were taken from."""
        rng = np.random.default_rng(0)
        angle = rng.uniform(0, 2 * np.pi, 150)
        ring = np.column_stack([np.cos(angle), np.sin(angle)])
        noisy = ring[:50] + 0.15 * rng.standard_normal((50, 2))
        model = KernelPCA(8, kernel=rbf(0.8), preimage=method).fit(ring)
        back = model.inverse_transform(model.transform(noisy))
        off = [np.abs(np.linalg.norm(X, axis=1) - 1).mean() for X in (noisy, back)]
        assert off[1] < self.METHODS[method] * off[0]

    def test_scikit_learns_way_back(self):
        """fit_inverse_transform and alpha: ridge regression with the kernel itself, and a mean."""
        X = make_blobs(100, 4, random_state=0)[0] + 100
        options = {"kernel": "rbf", "gamma": 0.25, "fit_inverse_transform": True}
        ours = KernelPCA(20, alpha=1e-3, **options).fit(X)
        assert ours.preimage_ == "ridge"
        back = ours.inverse_transform(ours.transform(X))
        assert np.linalg.norm(back - X) < 0.1 * np.linalg.norm(X - X.mean(axis=0))
        theirs = sklearn.decomposition.KernelPCA(20, alpha=1e-3, **options).fit(X - X.mean(axis=0))
        expected = theirs.inverse_transform(theirs.transform(X - X.mean(axis=0)))
        np.testing.assert_allclose(back - X.mean(axis=0), expected, atol=1e-6)
        np.testing.assert_allclose(np.abs(ours.dual_coef_), np.abs(theirs.dual_coef_), atol=1e-3)

    def test_the_same_gamma_both_ways(self):
        """gamma=None is 1/d of the samples, also where a kernel compares scores."""
        X = np.random.default_rng(0).random((12, 4))
        options = {"kernel": "rbf", "fit_inverse_transform": True, "alpha": 0.1}
        backs = []
        for gamma in (None, 0.25):
            model = KernelPCA(2, gamma=gamma, **options).fit(X)
            assert model.gamma_ == 0.25
            backs.append(model.inverse_transform(model.transform(X)))
        np.testing.assert_allclose(*backs)

    def test_score_prefers_a_width_that_cleans(self):
        """The share in feature space would prefer the widest kernel; the score does not."""
        rng = np.random.default_rng(1)
        angle = rng.uniform(0, 2 * np.pi, 160)
        ring = np.column_stack([np.cos(angle), np.sin(angle)])
        grid = {"gamma": [1e-4, 1.0, 1e4]}
        search = GridSearchCV(KernelPCA(8, kernel="rbf", noise=0.15), grid, cv=3).fit(ring)
        assert search.best_params_ == {"gamma": 1.0}
        shares = [KernelPCA(8, kernel="rbf", gamma=g).fit(ring) for g in grid["gamma"]]
        assert np.argmax([m.explained_variance_ratio_.sum() for m in shares]) == 0

    def test_score_is_the_librarys_error(self):
        """Folds, noise and width as denoising_error has them: the same within its spread."""
        noise = 0.1
        scores = cross_val_score(KernelPCA(6, kernel=rbf(0.5), noise=noise), RINGS, cv=5)
        assert -scores.mean() == pytest.approx(
            denoising_error(RINGS, 6, rbf(0.5), noise=noise), rel=0.3
        )
        model = KernelPCA(6, kernel=rbf(0.5)).fit(RINGS)
        assert model.score(RINGS) == model.score(RINGS)  # the same noise each time


class TestProbabilisticPCA:
    def test_is_the_library_and_the_likelihood_of_scikit_learns_pca(self):
        ours, model = ProbabilisticPCA(2).fit(IRIS), fit_ppca(IRIS, 2)
        law = multivariate_normal(IRIS.mean(axis=0), ours.get_covariance())
        np.testing.assert_allclose(ours.score_samples(IRIS), law.logpdf(IRIS), rtol=1e-9)
        np.testing.assert_allclose(ours.components_, model.W.T)
        np.testing.assert_allclose(ours.transform(IRIS), model.encode(IRIS))
        assert ours.score(IRIS) == pytest.approx(model.log_likelihood(IRIS) / len(IRIS))
        theirs = sklearn.decomposition.PCA(2).fit(IRIS)  # the same model, variances with n − 1
        assert ours.noise_variance_ == pytest.approx(theirs.noise_variance_ * 149 / 150)
        assert ours.score(IRIS) >= theirs.score(IRIS)

    def test_missing_values(self):
        X = IRIS.copy()
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
        ours, model = ProbabilisticPCA(1).fit(X), fit_ppca_em(X, 1)
        np.testing.assert_allclose(ours.components_, model.W.T, rtol=1e-6)
        filled = ours.impute(X)
        assert np.array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
        assert not np.isnan(filled).any()
        mean, std = ours.transform(X, return_std=True)
        assert mean.shape == std.shape == (150, 1)
        holes = np.isnan(X).sum(axis=1)
        assert std[holes > 0].mean() > std[holes == 0].mean()

    def test_samples(self):
        model = ProbabilisticPCA(2).fit(IRIS)
        drawn = model.sample(5000, random_state=0)
        np.testing.assert_allclose(drawn.mean(axis=0), IRIS.mean(axis=0), atol=0.15)
        np.testing.assert_array_equal(drawn, model.sample(5000, random_state=0))

    def test_declares_that_nan_is_fine(self):
        assert ProbabilisticPCA().__sklearn_tags__().input_tags.allow_nan


class TestTheRest:
    def test_sparse_pca(self):
        ours, model = SparsePCA(2, nonzeros=2).fit(IRIS), fit_sparse_pca(IRIS, 2, nonzeros=2)
        np.testing.assert_allclose(ours.components_, model.B.T)
        np.testing.assert_allclose(ours.explained_variance_ratio_, model.explained_ratio)
        assert np.count_nonzero(ours.components_) == 4
        Z = ours.transform(IRIS)
        np.testing.assert_allclose(ours.inverse_transform(Z), model.reconstruct(IRIS))

    def test_nystroem_is_exact_with_all_samples(self):
        F = NystroemFeatures("rbf", gamma=1.0, n_components=120).fit_transform(RINGS)
        np.testing.assert_allclose(F @ F.T, rbf(np.sqrt(0.5))(RINGS, RINGS), atol=1e-8)

    @pytest.mark.parametrize("m", [2000, 2001])
    def test_fourier(self, m):
        F = FourierFeatures(n_components=m, gamma=0.5, random_state=0).fit_transform(RINGS)
        assert F.shape == (120, m)
        np.testing.assert_allclose(F @ F.T, rbf(1.0)(RINGS, RINGS), atol=0.15)
        scaled = FourierFeatures(n_components=10, gamma="scale", random_state=0).fit(RINGS)
        other = FourierFeatures(n_components=10, gamma="scale", random_state=0).fit(1000 * RINGS)
        np.testing.assert_allclose(scaled.random_weights_, 1000 * other.random_weights_)

    @pytest.mark.parametrize("make", [NystroemFeatures, FourierFeatures])
    @pytest.mark.parametrize("gamma", [0.5, "scale"])
    def test_sparse_samples_have_the_features_of_dense_ones(self, make, gamma):
        if make is NystroemFeatures and gamma == "scale":
            gamma = None
        X = sparse.random_array((40, 6), density=0.4, rng=0, format="csr")
        features = [
            make(n_components=20, gamma=gamma, random_state=0).fit_transform(data)
            for data in (X, X.toarray())
        ]
        np.testing.assert_allclose(*features, atol=1e-9)

    def test_the_waves_are_scikit_learns(self):
        """The same frequencies and shifts give the same features as RBFSampler's."""
        ours = FourierFeatures(gamma=0.5, n_components=20, phases=True, random_state=0).fit(RINGS)
        theirs = RBFSampler(gamma=0.5, n_components=20, random_state=0).fit(RINGS)
        theirs.random_weights_, theirs.random_offset_ = ours.random_weights_, ours.random_offset_
        np.testing.assert_allclose(ours.transform(RINGS), theirs.transform(RINGS), atol=1e-12)

    def test_not_fitted(self):
        """Every verb says so with scikit-learn's own error."""
        for estimator in (PCA(), ProbabilisticPCA(), KernelPCA(), SparsePCA()):
            for verb in ("transform", "inverse_transform"):
                with pytest.raises(NotFittedError):
                    getattr(estimator, verb)(IRIS)
        with pytest.raises(NotFittedError):
            ProbabilisticPCA().sample()

    def test_scores_of_another_width_are_refused(self):
        for estimator in (PCA(2), ProbabilisticPCA(2), KernelPCA(2), SparsePCA(2)):
            with pytest.raises(ValueError, match="X has 3 columns and the model 2 components"):
                estimator.fit(IRIS).inverse_transform(IRIS[:, :3])

    def test_the_parameters_are_scikit_learns(self):
        """Each parameter of theirs is one of ours; those of ours alone have a default."""
        pairs = [
            (PCA, sklearn.decomposition.PCA, set()),
            (KernelPCA, sklearn.decomposition.KernelPCA, {"preimage", "noise"}),
            (NystroemFeatures, Nystroem, {"landmarks"}),
            (FourierFeatures, RBFSampler, {"phases"}),
        ]
        differing = {}
        for ours, theirs, new in pairs:
            mine, other = ours().get_params(), theirs().get_params()
            assert set(mine) - set(other) == new
            assert set(other) <= set(mine)
            changed = {name for name, value in other.items() if mine[name] != value}
            if changed:
                differing[ours] = changed
        assert differing == {KernelPCA: {"alpha"}}

    def test_a_pipeline_and_a_grid(self):
        X, y = load_digits(return_X_y=True)
        X, y = X[:400] / 16, y[:400]
        pipeline = make_pipeline(KernelPCA(kernel="rbf"), LogisticRegression(max_iter=500))
        grid = {"kernelpca__gamma": [0.01, 0.1], "kernelpca__n_components": [5, 30]}
        search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
        assert search.best_params_["kernelpca__n_components"] == 30
        assert search.best_score_ > 0.85

    @pytest.mark.parametrize(
        ("estimator", "words"),
        [
            (KernelPCA(kernel=3), "a name, a kernel or a function"),
            (KernelPCA(kernel="rbf", gamma=-1.0), "gamma=-1.0"),
            (KernelPCA(0), "n_components=0"),
            (KernelPCA(eigen_solver="best"), "eigen_solver='best': choose one of"),
            (KernelPCA(preimage="back"), "preimage='back': choose one of"),
            (FourierFeatures(gamma="wide"), "gamma='wide'"),
            (FourierFeatures(n_components=2.5), "n_components=2.5"),
            (NystroemFeatures(landmarks="best"), "landmarks='best'"),
            (ProbabilisticPCA(4), "n_components=4: at most 3"),
            (SparsePCA(2, nonzeros=9), "nonzeros"),
        ],
        ids=repr,
    )
    def test_bad_parameters(self, estimator, words):
        with pytest.raises(ValueError, match=words):
            estimator.fit(IRIS)

    def test_a_generator_goes_on_where_it_was(self):
        """Two fits with one Generator draw other waves; one in the same state draws the same."""
        rng = np.random.default_rng(3)
        first, second = (
            FourierFeatures(n_components=8, random_state=rng).fit_transform(IRIS) for _ in "ab"
        )
        again = FourierFeatures(n_components=8, random_state=np.random.default_rng(3))
        np.testing.assert_array_equal(first, again.fit_transform(IRIS))
        assert np.abs(first - second).max() > 0.1

    def test_without_scikit_learn_one_sentence_says_how_to_get_it(self):
        code = (
            "import sys; sys.modules['sklearn'] = None; sys.modules['sklearn.base'] = None\n"
            "import kpca_edu\n"
            "try:\n    import kpca_edu.estimators\n"
            "except ImportError as error:\n    print(error)\n"
        )
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "pip install 'kpca_edu[sklearn]'" in run.stdout, run.stderr


class TestEngine:
    """The routines behind the estimators, against plain versions."""

    @pytest.mark.parametrize("rank", [3, 5])
    def test_density_of_a_gaussian_plane(self, rank):
        """Also of a singular one, for samples in its plane; others have density zero."""
        rng = np.random.default_rng(0)
        A = rng.standard_normal((5, rank))
        R = rng.standard_normal((20, rank)) @ A.T
        plain = multivariate_normal(np.zeros(5), A @ A.T, allow_singular=True)
        np.testing.assert_allclose(gaussian_scores(R, A @ A.T), plain.logpdf(R), rtol=1e-8)
        if rank < 5:
            assert np.all(gaussian_scores(R + rng.standard_normal(5), A @ A.T) == -np.inf)

    def test_a_plane_is_told_by_its_largest_variance(self):
        """Variances of rounding, and distances of rounding off the plane, count as none."""
        one = multivariate_normal(0.0, 2.0).logpdf(3.0)
        for C in (np.diag([2.0]), np.diag([2.0, 1e-18, 1e-18]), np.diag([1e-18, 2.0, 0.0])):
            R = np.where(np.diag(C) == 2, 3.0, 1e-12)[None]
            assert gaussian_scores(R, C) == pytest.approx(one)
        far, near = np.array([[1e6, 1e-5]]), np.array([[1e-6, 1e-5]])
        assert np.isfinite(gaussian_scores(far, np.diag([1.0, 0.0])))
        assert gaussian_scores(near, np.diag([1.0, 0.0])) == -np.inf
        found = gaussian_scores(np.array([[0.0, 0.0], [0.0, 1.0]]), np.zeros((2, 2)))
        np.testing.assert_array_equal(found, [0.0, -np.inf])

    def test_noise_left(self):
        """1 where nothing is done, 0 where the truth comes back."""
        X, rng = IRIS, np.random.default_rng
        assert noise_left(lambda T: T, X, 0.3, rng(0)) == pytest.approx(1)
        assert noise_left(lambda T: X, X, 0.3, rng(0)) == 0

    def test_scale_is_scikit_learns(self):
        X = sparse.random_array((30, 6), density=0.3, rng=0, format="csr")
        assert scale_of(X) == pytest.approx(1 / (6 * X.toarray().var()))
        assert scale_of(X.toarray()) == pytest.approx(scale_of(X))
        assert scale_of(np.ones((3, 2))) == 0.5

    def test_scale_knows_no_origin_and_no_unit(self):
        """The variance of X + c is that of X, that of cX is c² times it, dense and sparse."""
        X = np.round(np.random.default_rng(0).standard_normal((30, 6)) * 1024) / 1024
        for c, origin in ((1.0, 1e8), (1.0, -1e8), (1e-150, 0.0), (1e150, 0.0), (-1.0, 0.0)):
            for form in (np.asarray, sparse.csr_array, sparse.csc_array):
                gamma = scale_of(form(c * (X + origin)))
                assert gamma * c * c == pytest.approx(scale_of(X), rel=1e-7)
        single = (X * 1e30).astype(np.float32)
        assert scale_of(single) * 1e60 == pytest.approx(scale_of(X), rel=1e-5)
        for c in (1e-200, 1e200):
            with pytest.raises(ValueError, match="out of the range of floats"):
                FourierFeatures(gamma="scale").fit(X * c)

    def test_columns_of_zeros(self):
        np.testing.assert_array_equal(with_columns(np.ones(2), 3), [1, 1, 0])
        np.testing.assert_array_equal(with_columns(np.ones((1, 2)), 3), [[1, 1, 0]])
        np.testing.assert_array_equal(with_columns(np.ones((1, 2)), 2), [[1, 1]])

    def test_the_package_itself_never_loads_scikit_learn(self):
        code = "import kpca_edu, sys; print('sklearn' in sys.modules)"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert run.stdout.strip() == "False", run.stderr


def test_few_samples_have_one_direction_less():
    """Unless told, sparse PCA looks for as many directions as centred rows can have."""
    X = np.random.default_rng(0).standard_normal((4, 6))
    assert SparsePCA(nonzeros=2).fit(X).n_components_ == 3


def test_a_closed_form_takes_one_step():
    assert ProbabilisticPCA(1).fit(IRIS).n_iter_ == 1
    assert SparsePCA(1, nonzeros=4).fit(IRIS).n_iter_ == 1


def test_names_of_kernels_have_the_defaults_of_scikit_learn():
    """With a landmark for every sample the features have the very kernel as inner products."""
    X = IRIS[::25] / 3
    for name in ("poly", "rbf", "laplacian"):
        F = NystroemFeatures(name, n_components=len(X)).fit_transform(X)
        wanted = pairwise_kernels(X, metric=name, filter_params=True)
        np.testing.assert_allclose(F @ F.T, wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("model", [PCA(), KernelPCA(), SparsePCA(nonzeros=1)])
def test_the_smallest_tables(model):
    """Two samples of one feature are enough for a direction, and one can be transformed."""
    X = np.array([[1.0], [4.0]])
    Z = clone(model).fit(X).transform(X)
    np.testing.assert_allclose(np.abs(Z), 1.5)
    np.testing.assert_allclose(clone(model).fit(X).transform(X[:1]), Z[:1])
    with pytest.raises(ValueError, match="minimum of 2"):
        clone(model).fit(X[:1])


def test_numbers_that_must_be_positive():
    """Zero is none: the message names the parameter."""
    with pytest.raises(ValueError, match="n_components=0.0"):
        PCA(0.0).fit(IRIS)
    with pytest.raises(ValueError, match="gamma=0.0"):
        FourierFeatures(gamma=0.0).fit(IRIS)
    with pytest.raises(ValueError, match="noise=0.0"):
        KernelPCA(1, noise=0.0).fit(IRIS[:9]).score(IRIS[:9])


def test_components_that_leave_noise():
    """One less than the dimensions of the centred rows; the mean is no dimension of them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 3)) @ rng.standard_normal((3, 6)) + rng.standard_normal(6)
    assert largest_that_leaves_noise(X) == 2
    assert largest_that_leaves_noise(X[:4]) == 2
    assert largest_that_leaves_noise(X[:3]) == 1
    assert largest_that_leaves_noise(X[:, :2]) == 1
    assert largest_that_leaves_noise(X[:2]) == 1
    for shift, dtype in ((1e4, float), (1e8, float), (30.0, np.float32)):
        far = (X + shift).astype(dtype)  # rounding at that distance is no dimension
        assert ProbabilisticPCA().fit(far).n_components_ == 2


def test_messages_name_the_parameters_of_the_class():
    """Not those of the function that it calls, and what they ask for is taken by every solver."""
    for solver in ("auto", "full", "covariance_eigh", "arpack", "randomized"):
        for wrong in (1.0, 1.5, -0.5, np.nan):
            with pytest.raises(ValueError, match=f"n_components={wrong}: .* between 0 and 1"):
                PCA(wrong, svd_solver=solver).fit(IRIS)
    for wrong in ({"n_oversamples": -1}, {"iterated_power": -1}, {"iterated_power": "many"}):
        name = next(iter(wrong))
        with pytest.raises(ValueError, match=f"{name}={wrong[name]!r}: a whole number"):
            PCA(2, svd_solver="randomized", **wrong).fit(IRIS)


def test_one_direction_is_the_default_where_values_are_missing():
    X = IRIS.copy()
    X[0, 0] = np.nan
    assert ProbabilisticPCA().fit(X).n_components_ == 1
    assert ProbabilisticPCA().fit(IRIS).n_components_ == 3


def test_scores_without_a_seed_are_those_of_the_seed_zero():
    """So that models which are compared meet the same noise."""
    scores = [
        KernelPCA(2, kernel="rbf", random_state=seed).fit(IRIS[::5]).score(IRIS[::5])
        for seed in (None, None, 0, 1)
    ]
    assert scores[0] == scores[1] == scores[2] != scores[3]


def test_variances_of_sparse_directions_have_one_sample_less():
    """As all of scikit-learn's variances: the first is that of its scores, with n − 1."""
    model = SparsePCA(1, nonzeros=4, ridge=0.0).fit(IRIS)
    wanted = sklearn.decomposition.PCA(1).fit(IRIS).explained_variance_
    np.testing.assert_allclose(model.explained_variance_, wanted, rtol=1e-4)


@pytest.mark.parametrize(
    ("params", "own"),
    [
        ({"degree": 1}, True),
        ({"degree": 2, "coef0": 0}, True),
        ({"degree": 2, "coef0": 0.5}, True),
        ({"degree": 0}, False),
        ({"degree": 1.5}, False),
        ({"degree": 2, "coef0": -1}, False),
        ({"gamma": 0.0}, False),
    ],
)
def test_powers_that_are_kernels_are_the_librarys(params, own):
    """Which has a way back for them; whatever else the name means is scikit-learn's."""
    kernel = kernel_named(KernelPCA(kernel="poly", **params), 4, KERNELS)
    assert isinstance(kernel, Kernel) == own
    X = IRIS[::40]
    params = {"gamma": 0.25, "degree": 3, "coef0": 1} | params
    np.testing.assert_allclose(kernel(X, X), pairwise_kernels(X, metric="poly", **params))
    assert own or kernel.__name__ == "poly"  # so a model calls it


def test_whitening_leaves_what_does_not_vary():
    """A direction without variance has scores of zero, and no unit to be divided by."""
    X = np.column_stack([IRIS[:, :2], np.ones(len(IRIS))])
    Z = PCA(whiten=True).fit_transform(X)
    np.testing.assert_allclose(Z.std(axis=0, ddof=1), [1, 1, 0], atol=1e-6)


def test_one_step_of_em_may_be_all_that_is_asked_for():
    X = IRIS.copy()
    X[0, 0] = np.nan
    with pytest.warns(UserWarning, match="1 step"):
        assert ProbabilisticPCA(1, max_iter=1).fit(X).n_iter_ == 1
    assert ProbabilisticPCA().fit(IRIS[:, :2]).n_components_ == 1


def test_all_directions_of_a_gram_matrix():
    """Unless told, one less than the samples, which centring takes away."""
    X = IRIS[::40]
    for model, data in (
        (KernelPCA(kernel="precomputed"), rbf(1.0)(X)),
        (KernelPCA(kernel="rbf"), X),
    ):
        assert model.fit(data).n_components_ == len(X) - 1


def test_as_many_components_as_exist():
    assert no_more_than(4, 4) == 4
    with pytest.raises(ValueError, match="at most 4 exist"):
        no_more_than(5, 4)
