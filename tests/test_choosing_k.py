"""The rules that choose k: by hand, on planted data, on noise alone."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrices import orthonormal, seeds, thorough
from scipy import integrate
from sklearn.datasets import load_wine

from kpca_edu import pca as module
from kpca_edu.choosing_k import (
    choose_k_by_bic,
    choose_k_by_cross_validation,
    choose_k_by_error,
    choose_k_by_hard_threshold,
    choose_k_by_held_out,
    choose_k_by_parallel_analysis,
    hard_threshold,
    hard_threshold_factor,
    held_out_errors,
    held_out_log_likelihood,
    marchenko_pastur_median,
    parallel_variances,
)
from kpca_edu.pca import (
    fit_pca,
)

DENSE = ["auto", "svd", "covariance", "gram", "arpack", "randomized"]
IMPLICIT = [solver for solver in DENSE if solver != "svd"]
WINE = load_wine().data


from scipy.stats import multivariate_normal

from kpca_edu.datasets import tobamovirus
from kpca_edu.ppca import (
    PPCA,
    fit_ppca,
)

VIRUSES = tobamovirus()
MEAN6 = np.array([1.0, -2.0, 0.0, 3.0, 0.5, 4.0])


@st.composite
def data(draw, max_side=12):
    """Draw n×d data with spread-out variances and a mean of any size."""
    n, d = draw(st.integers(2, max_side)), draw(st.integers(1, max_side))
    rng = np.random.default_rng(draw(seeds))
    mean = draw(st.sampled_from([0.0, 1.0, 30.0])) * rng.standard_normal(d)
    return rng.standard_normal((n, d)) * 2.0 ** -rng.integers(0, 4, d) + mean


def centred(X):
    return X - X.mean(axis=0)


def svdvals(X):
    return np.linalg.svd(centred(X), compute_uv=False)


def planted(s, n, d, seed=0, noise=1.0):
    """Low rank plus noise: len(s) components that stand out."""
    rng = np.random.default_rng(seed)
    low = orthonormal(n, len(s), rng) * s @ orthonormal(d, len(s), rng).T
    return low + noise * rng.standard_normal((n, d)) + 2


def with_exact_spectrum(s, n, d, seed=0, mean=3.0):
    """Centred data have exactly the singular values s; a mean is added on top."""
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(np.column_stack([np.ones(n), rng.standard_normal((n, len(s)))]))[0][:, 1:]
    return (U * s) @ orthonormal(d, len(s), rng).T + mean


def covariance_with(lam, seed=0):
    """Return V diag(λ) Vᵀ with random orthonormal V."""
    V = orthonormal(len(lam), len(lam), seed)
    return (V * lam) @ V.T


def data_with_covariance(lam, n, seed=0, mean=0.0):
    """Return n rows whose covariance (divisor n) has exactly the eigenvalues λ."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((n, len(lam)))
    U = np.linalg.qr(noise - noise.mean(axis=0))[0]
    V = orthonormal(len(lam), len(lam), seed + 1)
    return mean + np.sqrt(n) * (U * np.sqrt(lam)) @ V.T


def dense_log_density(mean, cov, X):
    """log N(x; μ, Σ) row by row from the d×d matrix, over what is not NaN."""
    logs = []
    for x in X:
        seen = ~np.isnan(x)
        inner = cov[np.ix_(seen, seen)]
        r = x[seen] - mean[seen]
        log_det = np.linalg.slogdet(inner)[1] if seen.any() else 0.0
        exponent = r @ np.linalg.solve(inner, r) if seen.any() else 0.0
        logs.append(-0.5 * (seen.sum() * np.log(2 * np.pi) + log_det + exponent))
    return np.array(logs)


def dense_log_likelihood(mean, W, sigma2, X):
    return dense_log_density(mean, W @ W.T + sigma2 * np.eye(len(W)), X).sum()


@thorough
@given(data(), st.floats(0, 1))
def test_choose_k_by_error_is_the_smallest_that_does(X, bound):
    """k reaches the bound and k − 1 does not, squared or not: eq-pca-relative-error."""
    s = svdvals(X)
    for power, squared in ((1, False), (2, True)):
        k = choose_k_by_error(X, bound, squared)
        assert isinstance(k, int)

        def error(j, power=power):
            return np.sqrt(np.sum(s[j:] ** 2) / (np.sum(s**2) or 1)) ** power

        assert error(k) <= bound + 1e-7
        assert k == 0 or error(k - 1) >= bound - 1e-7


def test_choose_k_by_error_without_centring():
    """The uncentred error is about the origin: eq-pca-relative-error."""
    X = np.ones((5, 3))
    assert choose_k_by_error(X, 0.1, center=False) == 1
    assert choose_k_by_error(X, 0.1) == 0


@pytest.mark.parametrize("seed", range(4))
def test_planted_components_are_found(seed):
    """Three strong components are counted: eq-pca-parallel eq-pca-threshold eq-pca-press."""
    X = planted([45.0, 40.0, 35.0], 80, 15, seed)
    assert choose_k_by_parallel_analysis(X, seed) == 3
    assert choose_k_by_hard_threshold(X) == choose_k_by_hard_threshold(X, sigma=1.0) == 3
    assert choose_k_by_cross_validation(X, 5, rng=seed) == 3


@pytest.mark.parametrize("shape", [(100, 20), (20, 100), (30, 30)])
def test_pure_noise_has_no_components(shape):
    """Nothing is found where nothing is: eq-pca-parallel eq-pca-threshold-unknown eq-pca-press."""
    X = np.random.default_rng(1).standard_normal(shape)
    assert choose_k_by_hard_threshold(X) == choose_k_by_hard_threshold(X, sigma=1.0) == 0
    assert choose_k_by_parallel_analysis(X, 0) <= 1
    assert choose_k_by_cross_validation(X, 3) == 0


def test_constant_data_have_no_components():
    """All rules answer 0 for a constant table: eq-pca-relative-error eq-pca-parallel."""
    X = np.ones((6, 4))
    assert choose_k_by_error(X, 0.05) == choose_k_by_parallel_analysis(X) == 0
    assert choose_k_by_hard_threshold(X) == choose_k_by_cross_validation(X) == 0


def test_shuffling_keeps_each_column_and_depends_on_the_seed_only():
    """Shuffled tables keep the total variance and are reproducible: eq-pca-parallel."""
    variances = parallel_variances(WINE, 3, repeats=4)
    assert variances.shape == (4, 13)
    np.testing.assert_allclose(variances.sum(axis=1), WINE.var(axis=0).sum())
    assert np.array_equal(variances, parallel_variances(WINE, 3, repeats=4))
    assert not np.array_equal(variances, parallel_variances(WINE, 4, repeats=4))


def test_parallel_analysis_stops_at_the_first_failure():
    """Components after the first that fails don't count: eq-pca-parallel."""
    assert module._leading(np.array([True, True, False, True])) == 2
    assert module._leading(np.array([True, True])) == 2
    assert module._leading(np.array([], bool)) == 0


@pytest.mark.parametrize("beta", np.linspace(0.02, 1, 15))
def test_published_approximation_of_the_threshold(beta):
    """Gavish and Donoho's cubic fits λ(β)/√μ(β) to 0.02: eq-pca-threshold-unknown eq-pca-lambda."""
    found = hard_threshold_factor(beta) / np.sqrt(marchenko_pastur_median(beta))
    assert found == pytest.approx(0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43, abs=0.02)


def test_published_factor_of_square_matrices():
    """For square matrices the factor of the median is 2.858: eq-pca-threshold-unknown."""
    found = hard_threshold_factor(1.0) / np.sqrt(marchenko_pastur_median(1.0))
    assert found == pytest.approx(2.858, abs=5e-4)


@pytest.mark.parametrize("beta", [1e-3, 0.1, 0.5, 0.9, 1.0])
def test_half_of_the_noise_lies_below_the_median(beta):
    """∫f = 1 and ∫f up to μ(β) is one half, by direct integration: eq-pca-marchenko-pastur."""
    a, b = (1 - np.sqrt(beta)) ** 2, (1 + np.sqrt(beta)) ** 2

    def density(root):  # in √t, which tames 1/√t at 0 for β = 1
        t = root**2
        return np.sqrt(max((b - t) * (t - a), 0)) / (np.pi * beta * max(root, 1e-300))

    low, high, mu = np.sqrt(a), np.sqrt(b), np.sqrt(marchenko_pastur_median(beta))
    assert integrate.quad(density, low, high, limit=200)[0] == pytest.approx(1, abs=1e-6)
    assert integrate.quad(density, low, mu, limit=200)[0] == pytest.approx(0.5, abs=1e-6)


def test_factor_of_square_matrices():
    """λ(1) = 4/√3, and thin matrices approach √2: eq-pca-lambda."""
    assert hard_threshold_factor(1) == pytest.approx(4 / np.sqrt(3), rel=1e-14)
    assert hard_threshold_factor(1e-12) == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize("shape", [(401, 100), (101, 400)])
def test_threshold_of_known_and_estimated_noise_agree(shape):
    """τ = λ(β)√Nσ with the longer side of (n − 1)×d: eq-pca-threshold eq-pca-threshold-unknown."""
    X = 0.3 * np.random.default_rng(0).standard_normal(shape)
    known = hard_threshold(X, sigma=0.3)
    beta = min(shape[0] - 1, shape[1]) / max(shape[0] - 1, shape[1])
    N = max(shape[0] - 1, shape[1])
    assert known == pytest.approx(hard_threshold_factor(beta) * np.sqrt(N) * 0.3)
    assert hard_threshold(X) == pytest.approx(known, rel=0.02)


def test_the_threshold_cuts_where_the_error_is_least():
    """On average, cutting at τ loses less than 25 % lower or 40 % higher: eq-pca-threshold."""
    losses = np.zeros(3)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        low = orthonormal(100, 6, rng) * np.linspace(14, 32, 6) @ orthonormal(100, 6, rng).T
        U, s, Vt = np.linalg.svd(low + rng.standard_normal((100, 100)))
        for i, tau in enumerate(hard_threshold_factor(1) * 10 * np.array([0.75, 1, 1.4])):
            losses[i] += np.sum((low - (U * np.where(s > tau, s, 0)) @ Vt) ** 2)
    assert np.argmin(losses) == 1


def test_errors_of_left_out_entries_turn_and_those_of_rows_do_not():
    """Row-wise errors fall to the end, entry-wise ones turn at the true k: eq-pca-press."""
    X = planted([40.0, 30.0], 60, 10, 2)
    entries = held_out_errors(X, 6)
    assert np.argmin(entries) == 2
    assert entries[6] > 1.2 * entries[2]
    rows = [np.sum((X[:12] - fit_pca(X[12:], k).reconstruct(X[:12])) ** 2) for k in range(11)]
    assert np.all(np.diff(rows) < 0)
    assert rows[-1] == pytest.approx(0, abs=1e-9)


def test_no_component_predicts_column_means():
    """The error for k = 0 is that of the means of the entries that are left: eq-pca-press."""
    X = np.random.default_rng(0).standard_normal((8, 3))
    fold = module._fold_of_each_entry(8, 3, 4, 7)
    assert sorted(np.bincount(fold.ravel())) == [6, 6, 6, 6]
    wanted = 0.0
    for f in range(4):
        known = np.ma.masked_array(X, fold == f)
        wanted += np.sum((X - known.mean(axis=0).filled(0))[fold == f] ** 2)
    assert held_out_errors(X, 0, 4, 7)[0] == pytest.approx(wanted / X.size)


def test_filling_in_finds_what_low_rank_dictates():
    """A hole in an exact rank-one table is filled by its only consistent value: eq-pca-press."""
    X = np.outer([1.0, 2.0, -3.0, 4.0, -1.0, 0.5], [1.0, -2.0, 3.0])
    hole = np.zeros(X.shape, bool)
    hole[1, 1] = True
    filled = module._fill_in(np.where(hole, 0, X), hole, 1, max_iter=2000)
    assert filled[1, 1] == pytest.approx(-4, abs=0.05)
    assert np.array_equal(filled[~hole], X[~hole])


def test_progress_bars(capsys, monkeypatch):
    """A bar is shown if asked for, and its absence is one clear sentence: eq-pca-press."""
    held_out_errors(np.eye(4), 1, progress=True)
    assert "0/5" in capsys.readouterr().err
    held_out_errors(np.eye(4), 1)
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="needs tqdm"):
        parallel_variances(np.eye(4), repeats=1, progress=True)


def test_bic_by_hand():
    """−2ℓ + p log n, with p and ℓ counted apart: eq-ppca-bic."""
    fit = fit_ppca(VIRUSES, 2)
    loglik = multivariate_normal(fit.mean, fit.covariance()).logpdf(VIRUSES).sum()
    assert fit.bic(VIRUSES) == pytest.approx(-2 * loglik + (18 + 36 - 1 + 1) * np.log(38))


def test_held_out_by_hand():
    """Each row is judged by a model that has not seen it: eq-ppca-held-out."""
    X = VIRUSES[:12]
    total = 0.0
    for i in range(12):  # as many folds as rows: their order does not matter
        fit = fit_ppca(np.delete(X, i, axis=0), 2)
        total += multivariate_normal(fit.mean, fit.covariance()).logpdf(X[i])
    assert held_out_log_likelihood(X, [2], folds=12)[0] == pytest.approx(total)


@pytest.mark.parametrize("k", [0, 1, 3])
def test_both_choices_find_the_true_k(k):
    """With 400 clear samples BIC and held-out rows find k: eq-ppca-bic eq-ppca-held-out."""
    W = 3 * orthonormal(8, 3, 1)[:, :k]
    X = PPCA(np.ones(8), W, 1.0).sample(400, 2)
    assert choose_k_by_bic(X) == k
    assert choose_k_by_held_out(X) == k


def test_choices_with_few_rows():
    """Only k that leave some noise are tried: eq-ppca-bic eq-ppca-held-out."""
    X = np.random.default_rng(0).standard_normal((6, 20))
    assert 0 <= choose_k_by_bic(X) <= 4
    assert 0 <= choose_k_by_held_out(X, folds=3) <= 2
