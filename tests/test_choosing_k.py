"""The rules that choose k: by hand, on planted data, on noise alone, and where they fail."""

import sys
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from matrices import orthonormal, seeds, sparing, thorough
from scipy import integrate, optimize, sparse
from scipy.stats import multivariate_normal
from sklearn.datasets import load_wine
from sklearn.decomposition import FactorAnalysis

from kpca_edu import choosing_k as module
from kpca_edu._engine import choices
from kpca_edu._engine.checks import ConvergenceWarning, row_folds
from kpca_edu._engine.choices import at_a_time, in_squared_units, largest_k, over_folds, tried
from kpca_edu._engine.filling import known_part, nearest_of_rank, settle
from kpca_edu._engine.likelihoods import judged, log_likelihoods, parameter_counts
from kpca_edu._engine.noise import sides
from kpca_edu._engine.pca_solvers import leading_of_many
from kpca_edu._engine.tables import CentredTable, centred_table, entry_folds, power_of_two
from kpca_edu.choosing_k import (
    Resampled,
    bic_of_each_k,
    bootstrap_pca,
    choose_k_by_bic,
    choose_k_by_cross_validation,
    choose_k_by_error,
    choose_k_by_hard_threshold,
    choose_k_by_held_out_likelihood,
    choose_k_by_parallel_analysis,
    fill_in,
    hard_threshold,
    hard_threshold_factor,
    held_out_errors,
    held_out_log_likelihood,
    held_out_residuals,
    held_out_row_errors,
    marchenko_pastur_median,
    noise_level,
    optimal_shrinkage,
    parallel_variances,
    shrink_singular_values,
)
from kpca_edu.compare import align_signs
from kpca_edu.datasets import tobamovirus
from kpca_edu.pca import fit_pca, standardize
from kpca_edu.ppca import PPCA, fit_ppca, maximum_likelihood, spectrum
from kpca_edu.svd import low_rank

WINE = load_wine().data
VIRUSES = tobamovirus()
NAN = float("nan")

# every rule, with few repeats: name → function of the data
RULES = {
    "error": lambda X: choose_k_by_error(X, 0.3),
    "squared error": lambda X: choose_k_by_error(X, 0.3, squared=True),
    "parallel analysis": lambda X: choose_k_by_parallel_analysis(X, 1, repeats=20),
    "hard threshold": lambda X: choose_k_by_hard_threshold(X),
    "cross-validation": lambda X: choose_k_by_cross_validation(X, max_k=3, folds=3, rng=1),
    "left-out rows": lambda X: choose_k_by_cross_validation(X, leave="rows", folds=3, rng=1),
    "bic": lambda X: choose_k_by_bic(X),
    "held-out likelihood": lambda X: choose_k_by_held_out_likelihood(X, folds=3, rng=1),
}
CURVES = {
    "parallel variances": lambda X: parallel_variances(X, 1, repeats=3),
    "threshold": lambda X: hard_threshold(X),
    "noise level": lambda X: noise_level(X),
    "shrinkage": lambda X: shrink_singular_values(X),
    "errors of rows": lambda X: held_out_row_errors(X, max_k=2, folds=3),
    "held-out errors": lambda X: held_out_errors(X, max_k=2, folds=3),
    "bic of each k": lambda X: bic_of_each_k(X),
    "held-out log-likelihood": lambda X: held_out_log_likelihood(X, folds=3),
}
each_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


@st.composite
def data(draw, max_side=12):
    """Draw n×d data with spread-out variances and a mean of any size."""
    n, d = draw(st.integers(2, max_side)), draw(st.integers(1, max_side))
    rng = np.random.default_rng(draw(seeds))
    mean = draw(st.sampled_from([0.0, 1.0, 30.0])) * rng.standard_normal(d)
    return rng.standard_normal((n, d)) * 2.0 ** -rng.integers(0, 4, d) + mean


def svdvals(X):
    return np.linalg.svd(X - X.mean(axis=0), compute_uv=False)


def planted(s, n, d, seed=0, noise=1.0):
    """Low rank plus noise: len(s) components that stand out."""
    rng = np.random.default_rng(seed)
    low = orthonormal(n, len(s), rng) * s @ orthonormal(d, len(s), rng).T
    return low + noise * rng.standard_normal((n, d)) + 2


def factors(n, noise, seed, k=2):
    """Draw n rows with k strong factors and noise whose size may differ by column."""
    rng = np.random.default_rng(seed)
    d = len(noise)
    return rng.standard_normal((n, k)) @ rng.standard_normal((k, d)) * 2 + noise * (
        rng.standard_normal((n, d))
    )


# --- what every rule owes ------------------------------------------------------------------------


@each_rule
def test_units_and_origin_do_not_matter(rule):
    """X and cX + 1mᵀ get the same k, for tiny, huge and negative c and for one shifted column."""
    for seed in range(3):
        X = planted([30.0, 24.0, 12.0], 40, 8, seed)
        k = rule(X)
        assert isinstance(k, int)
        one_column = 1000.0 * (np.arange(8) == seed)
        m = 1e4 * np.random.default_rng(seed).standard_normal(8)
        for c, shift in ((1, one_column), (-3.7, m), (1e200, 0), (1e-200, 0), (2.0**-1000, 0)):
            assert rule(c * X + shift) == k, f"c={c}, seed={seed}"


@sparing
@given(st.sampled_from(list(RULES)), seeds, st.floats(-30, 30), st.floats(-3, 3))
def test_no_rule_sees_units_or_origin(name, seed, exponent, size):
    """X and cX + 1mᵀ get the same k, for any c = ±2^t and any moderate m."""
    rng = np.random.default_rng(seed)
    X = planted([30.0, 20.0], 30, 6, seed)
    c = 2.0 ** round(exponent) * rng.choice([-1.0, 1.0])
    m = 10.0**size * abs(c) * rng.standard_normal(6)
    assert RULES[name](c * X + m) == RULES[name](X)


@pytest.mark.parametrize("rule", ["error", "squared error", "hard threshold", "bic"])
def test_the_order_of_rows_does_not_matter_where_nothing_is_random(rule):
    """Shuffled rows get the same k."""
    for seed in range(5):
        X = planted([30.0, 20.0], 40, 8, seed)
        rows = np.random.default_rng(seed).permutation(40)
        assert RULES[rule](X[rows]) == RULES[rule](X)


@pytest.mark.parametrize("rule", ["error", "squared error", "hard threshold", "bic"])
def test_a_rotation_of_the_features_does_not_matter(rule):
    """X and XQ get the same k for orthogonal Q where only singular values are looked at."""
    for seed in range(5):
        X = planted([30.0, 20.0], 40, 8, seed)
        assert RULES[rule](X @ orthonormal(8, 8, seed)) == RULES[rule](X)


CONSTANT = {
    "ones": np.ones((6, 4)),
    "zeros": np.zeros((6, 4)),
    "one row": np.arange(4.0)[None],
    "a mean that rounds": np.full((7, 3), 0.1),
    "rounding alone": 1e8 / 3 * (1 + 1e-16 * np.random.default_rng(0).standard_normal((30, 4))),
    "float32": np.full((1000, 3), 0.1, np.float32),
    "huge": np.full((5, 3), 1e300),
}


@pytest.mark.parametrize("rule", [*RULES.values(), *CURVES.values()], ids=[*RULES, *CURVES])
def test_data_without_variance_leave_nothing_to_choose(rule):
    """Constant tables, also up to rounding, are refused in one sentence by all."""
    for name, X in CONSTANT.items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match="no variance, and no number of components"):
                raise AssertionError(f"{name}: {rule(X)}")


@pytest.mark.parametrize("rule", [*RULES.values(), *CURVES.values()], ids=[*RULES, *CURVES])
def test_missing_values_are_sent_to_the_model_that_takes_them(rule):
    """NaN: these rules need a complete table, and say who can make it one."""
    X = planted([9.0], 12, 5)
    X[3, 2] = X[7, 0] = NAN
    with pytest.raises(ValueError, match=r"2 of its 60 values are missing.*fit_ppca_em.*impute"):
        rule(X)


def test_a_constant_column_counts_as_nothing():
    """A column that is constant up to rounding, however large, changes no singular value."""
    X = planted([30.0, 20.0], 40, 6, 1)
    large = 1e17 * (1 + 1e-16 * np.random.default_rng(0).standard_normal(40))
    both = np.column_stack([X, large])
    assert centred_table(both).Xc[:, -1].any() == np.False_
    assert RULES["error"](both) == RULES["error"](X)


@sparing
@given(st.integers(1, 3), seeds, st.sampled_from([0.0, 1e6]))
def test_without_noise_the_rank_is_found(rank, seed, mean):
    """A table of exact low rank, with rounding: no decision hangs on what rounding left."""
    rng = np.random.default_rng(seed)
    X = orthonormal(40, rank, rng) @ orthonormal(9, rank, rng).T * 10 + mean
    true = np.linalg.matrix_rank(X - X.mean(axis=0), tol=1e-7)
    assert choose_k_by_hard_threshold(X) == true
    assert choose_k_by_error(X, 0) == true
    assert choose_k_by_cross_validation(X, max_k=5) == true


def test_inputs_are_left_alone_and_results_repeat():
    """No rule writes to its argument, and the same seed gives the same answer."""
    X = planted([20.0], 30, 5)
    before = X.copy()
    X.flags.writeable = False
    answers = [[rule(X) for rule in RULES.values()] for _ in range(2)]
    assert answers[0] == answers[1]
    assert np.array_equal(X, before)


def test_single_precision_is_enough():
    """float32 data get the k of the same data in double."""
    X = planted([40.0, 30.0], 50, 8, 3)
    for rule in RULES.values():
        assert rule(X.astype(np.float32)) == rule(X)


def test_every_public_name_is_tested_here():
    """All that the module offers is imported by this file."""
    assert set(module.__all__) <= set(globals())


# --- what the rules share ------------------------------------------------------------------------


def test_sums_over_folds_are_those_of_a_plain_loop():
    """Each row is left out once; the sum ends with the shortest curve: eq-ppca-held-out."""
    X = np.arange(33.0).reshape(11, 3)

    def curve(rest, left_out):
        return np.outer(np.arange(1, len(left_out) + 3), rest.sum() + 2 * left_out.sum()).ravel()

    plain = [curve(np.delete(X, rows, 0), X[rows]) for rows in row_folds(11, 4, 5)]
    shortest = min(map(len, plain))
    expected = sum(values[:shortest] for values in plain)
    np.testing.assert_allclose(over_folds(X, 4, 5, False, curve), expected)


@pytest.mark.parametrize("cached", [1, 700])
def test_tables_that_do_not_fit_a_cache_change_nothing(monkeypatch, cached):
    """One table at a time, or some, are what all at once are."""
    X = planted([20.0, 9.0], 30, 6, 3)
    calls = [
        lambda: held_out_errors(X, max_k=3, rng=1),
        lambda: parallel_variances(X, 1, repeats=7),
        lambda: bootstrap_pca(X, 2, repeats=7, rng=1).variances,
        lambda: bootstrap_pca(X, 2, repeats=7, rng=1).V,
    ]
    whole = [call() for call in calls]
    monkeypatch.setattr(choices, "CACHED", cached)
    for call, wanted in zip(calls, whole, strict=True):
        np.testing.assert_allclose(call(), wanted, rtol=1e-9)


def test_runs_and_tried_numbers():
    """Runs cover all tables, at least one at a time; a wrong max_k is left to largest_k."""
    for count, entries in ((1, 1), (7, 10), (100, 1600), (3, 10**9), (np.uint8(200), 1600)):
        runs = at_a_time(count, entries)
        assert np.concatenate(runs).tolist() == list(range(count))
        assert len(runs) == -(-int(count) // max(1, choices.CACHED // entries))
    assert max(map(len, at_a_time(100, choices.CACHED // 10))) == 10
    assert len(tried(None, 4)) == len(tried(4, 4)) == len(tried(9, 4)) == 5
    assert len(tried(0, 4)) == 1
    assert len(tried(2, 4)) == 3
    assert len(tried(-1, 4)) == len(tried(1.5, 4)) == len(tried("a", 4)) == 5


def test_the_largest_k_and_the_sides():
    """No max_k means all there are; centring takes one row; units are squared without overflow."""
    assert largest_k(None, 4, "x") == 4
    assert largest_k(2, 4, "x") == 2
    with pytest.raises(ValueError, match="at most 4"):
        largest_k(5, 4, "x")
    with pytest.raises(ValueError, match="drop repeated rows"):
        largest_k(None, -1, "x")
    assert sides(centred_table(np.eye(5, 9))) == (4, 9)
    assert sides(centred_table(np.eye(9, 5))) == (5, 8)
    assert in_squared_units(np.array([1e-200]), 1e180) == pytest.approx(1e160)


def test_judged_rows_are_those_less_the_mean():
    """A fit judges rows by its own mean: eq-ppca-held-out."""
    fit = spectrum(WINE[:100])
    expected = [
        PPCA(m.mean, m.W, m.sigma2).log_likelihood(WINE[100:])
        for m in (maximum_likelihood(fit, k) for k in range(4))
    ]
    np.testing.assert_allclose(judged(fit, WINE[100:])[:4], expected)


# --- how much may be lost ------------------------------------------------------------------------


@thorough
@given(data(), st.floats(0, 1))
def test_choose_k_by_error_is_the_smallest_that_does(X, bound):
    """k reaches the bound and k − 1 does not, squared or not: eq-pca-relative-error."""
    s = svdvals(X)
    assume(s[0] > 1e-6)
    for power, squared in ((1, False), (2, True)):
        k = choose_k_by_error(X, bound, squared=squared)

        def error(j, power=power):
            return np.sqrt(np.sum(s[j:] ** 2) / np.sum(s**2)) ** power

        assert error(k) <= bound + 1e-7
        assert k == 0 or error(k - 1) >= bound - 1e-7


def test_an_error_that_meets_the_bound_is_small_enough():
    """s = (4, 3) has the error 3/5, and rounding doesn't decide: eq-pca-relative-error."""
    base = np.array([[4.0, 0], [-4, 0], [0, 3], [0, -3]]) / np.sqrt(2)
    for seed in range(50):
        X = base @ orthonormal(2, 2, seed) * (seed + 1) / 7 + seed
        assert choose_k_by_error(X, 0.6) == 1
        assert choose_k_by_error(X, 0.36, squared=True) == 1


def test_choose_k_by_error_without_centring():
    """The uncentred error is about the origin: eq-pca-relative-error."""
    X = np.ones((5, 3))
    X[0] = 1.01
    assert choose_k_by_error(X, 0.1, center=False) == 1
    assert choose_k_by_error(np.ones((5, 3)), 0.1, center=False) == 1


# --- planted components, and none ----------------------------------------------------------------


def test_planted_components_are_found():
    """Three strong components are counted: eq-pca-parallel eq-pca-threshold eq-pca-press."""
    for seed in range(4):
        X = planted([45.0, 40.0, 35.0], 80, 15, seed)
        assert choose_k_by_parallel_analysis(X, seed, repeats=40) == 3
        assert choose_k_by_hard_threshold(X) == choose_k_by_hard_threshold(X, sigma=1.0) == 3
        assert choose_k_by_cross_validation(X, max_k=5, rng=seed) == 3


@pytest.mark.parametrize("shape", [(100, 20), (20, 100), (30, 30)])
def test_pure_noise_has_no_components(shape):
    """Nothing is found where nothing is: eq-pca-parallel eq-pca-threshold-unknown eq-pca-press."""
    X = np.random.default_rng(1).standard_normal(shape)
    assert choose_k_by_hard_threshold(X) == choose_k_by_hard_threshold(X, sigma=1.0) == 0
    assert choose_k_by_parallel_analysis(X, 0) <= 1
    assert choose_k_by_cross_validation(X, max_k=3, folds=3) == 0


def test_shuffling_keeps_each_column_and_depends_on_the_seed_only():
    """Shuffled tables keep the total variance and are reproducible: eq-pca-parallel."""
    variances = parallel_variances(WINE, 3, repeats=4)
    assert variances.shape == (4, 13)
    np.testing.assert_allclose(variances.sum(axis=1), WINE.var(axis=0).sum())
    assert np.array_equal(variances, parallel_variances(WINE, 3, repeats=4))
    assert not np.array_equal(variances, parallel_variances(WINE, 4, repeats=4))


def test_parallel_analysis_stops_at_the_first_failure(monkeypatch):
    """Components after the first that fails don't count: eq-pca-parallel."""
    X = np.vstack([np.diag([4.0, 3.0, 2.0, 1.0]), -np.diag([4.0, 3.0, 2.0, 1.0])])
    variances = np.array([16.0, 9.0, 4.0, 1.0]) / 4  # of X: Σx²/8, both signs
    for factor, k in (([0.5, 0.5, 2, 0.5], 2), ([0.5, 0.5, 0.5, 0.5], 4), ([2, 0.5, 0.5, 0.5], 0)):
        unit = centred_table(X).unit
        shuffled = np.tile(variances * factor, (3, 1)) / unit**2
        monkeypatch.setattr(
            module, "parallel_variances", lambda *_, shuffled=shuffled, **__: shuffled
        )
        assert choose_k_by_parallel_analysis(X) == k


def test_a_tie_with_shuffled_data_is_no_structure():
    """One column, or two rows, are the same however they are shuffled: eq-pca-parallel."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        assert choose_k_by_parallel_analysis(rng.standard_normal((40, 1)), seed, repeats=5) == 0
        assert choose_k_by_parallel_analysis(rng.standard_normal((2, 6)), seed, repeats=5) == 0


# --- the edge of noise ---------------------------------------------------------------------------


def test_published_approximation_of_the_threshold():
    """Gavish and Donoho's cubic fits τ_β/√m_β to 0.02: eq-pca-threshold-unknown eq-pca-lambda."""
    for beta in np.linspace(0.02, 1, 15):
        found = hard_threshold_factor(beta) / np.sqrt(marchenko_pastur_median(beta))
        cubic = 0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43
        assert found == pytest.approx(cubic, abs=0.02)


def test_published_factor_of_square_matrices():
    """For square matrices the factor of the median is 2.858: eq-pca-threshold-unknown."""
    found = hard_threshold_factor(1.0) / np.sqrt(marchenko_pastur_median(1.0))
    assert found == pytest.approx(2.858, abs=5e-4)


@pytest.mark.parametrize("beta", [1e-3, 0.1, 0.5, 0.9, 1.0])
def test_half_of_the_noise_lies_below_the_median(beta):
    """∫f = 1 and ∫f up to m_β is one half, by direct integration: eq-pca-marchenko-pastur."""
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
    """τ = τ_β√Nσ with the longer side of (n − 1)×d: eq-pca-threshold eq-pca-threshold-unknown."""
    X = 0.3 * np.random.default_rng(0).standard_normal(shape)
    known = hard_threshold(X, sigma=0.3)
    beta = min(shape[0] - 1, shape[1]) / max(shape[0] - 1, shape[1])
    N = max(shape[0] - 1, shape[1])
    assert known == pytest.approx(hard_threshold_factor(beta) * np.sqrt(N) * 0.3)
    assert hard_threshold(X) == pytest.approx(known, rel=0.02)


def test_the_threshold_scales_with_the_data():
    """τ(cX) = |c| τ(X), and with known noise it is τ(cσ): eq-pca-threshold-unknown."""
    X = planted([20.0], 30, 10)
    for c in (1e-100, -3.0, 1e100):
        assert hard_threshold(c * X) == pytest.approx(abs(c) * hard_threshold(X))
        assert choose_k_by_hard_threshold(c * X, sigma=abs(c)) == choose_k_by_hard_threshold(
            X, sigma=1.0
        )


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


def test_where_the_hypotheses_of_the_threshold_fail():
    """Heavy tails, and columns with noise of different size: it keeps noise, in most of 20 runs."""
    heavy = [np.random.default_rng(s).standard_t(3, (200, 50)) for s in range(20)]
    assert np.mean([choose_k_by_hard_threshold(X) > 0 for X in heavy]) > 0.5
    for seed in range(5):
        X = factors(200, np.geomspace(0.05, 20, 40), seed)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        assert choose_k_by_hard_threshold(X) > 4
        assert choose_k_by_parallel_analysis(X, seed, repeats=20) == 2


# --- the edge, planted components, shrinkage -----------------------------------------------------


def spike(x, beta):
    """Return the size and the product of cosines that noise leaves of a component x, in units."""
    y = np.sqrt(x**2 + 1 + beta + beta / x**2)
    return y, (x**4 - beta) / (x**3 * y)


def test_noise_ends_at_its_edge():
    """The largest value is near √N + √(βN), beyond it at times, hardly ever by much: eq-k-edge."""
    rng = np.random.default_rng(0)
    tops = [np.linalg.norm(rng.standard_normal((400, 100)), 2) / 30 for _ in range(60)]
    assert abs(np.mean(tops) - 1) < 0.02
    assert 0.02 < np.mean(np.greater(tops, 1)) < 0.4  # 17 % in the limit
    assert max(tops) < 1.04


@pytest.mark.parametrize("shape", [(400, 100), (100, 400), (200, 200)])
@pytest.mark.parametrize("x", [1.3, 2.0, 4.0])
def test_what_noise_does_to_a_component(shape, x):
    """Planted in noise, it comes out larger and crooked: eq-k-spike eq-k-cosine."""
    beta, found = min(shape) / max(shape), []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        u, v = orthonormal(shape[0], 1, rng)[:, 0], orthonormal(shape[1], 1, rng)[:, 0]
        noise = rng.standard_normal(shape) / np.sqrt(max(shape))
        U, s, Vt = np.linalg.svd(x * np.outer(u, v) + noise, full_matrices=False)
        found.append((s[0], (u @ U[:, 0]) * (v @ Vt[0])))
    np.testing.assert_allclose(np.mean(found, axis=0), spike(x, beta), atol=0.06)


@thorough
@given(st.floats(0.01, 1), st.floats(1.001, 20))
def test_the_best_size_is_the_bottom_of_a_parabola(beta, times):
    """η(y) = xc makes η² − 2ηxc + x² least: eq-k-shrinker eq-k-spike eq-k-cosine."""
    x = beta**0.25 * times
    y, c = spike(x, beta)
    assert optimal_shrinkage([y], beta)[0] == pytest.approx(x * c, rel=1e-6, abs=1e-6)


@thorough
@given(st.floats(0.01, 1))
def test_keeping_pays_beyond_the_threshold(beta):
    """y < 2η(y) from τ_β on, and not before: eq-pca-lambda eq-k-shrinker."""
    factor, edge = hard_threshold_factor(beta), 1 + np.sqrt(beta)

    def gain(y):
        return 2 * optimal_shrinkage([y], beta)[0] - y

    assert optimize.brentq(gain, edge, 10) == pytest.approx(factor, rel=1e-9)
    assert gain(0.999 * factor) < 0 < gain(1.001 * factor)


def test_shrunken_values_by_hand():
    """√(6.25 · 2.25)/2.5 = 1.5 for β = 1; zero up to the edge; a giant stays: eq-k-shrinker."""
    assert optimal_shrinkage([2.5], 1.0) == pytest.approx([1.5])
    assert optimal_shrinkage(25.0, 1.0, unit=10.0) == pytest.approx(15.0)
    assert np.array_equal(optimal_shrinkage([0.0, 1.0, 2.0], 1.0), [0, 0, 0])
    assert optimal_shrinkage([1e6], 0.3) == pytest.approx([1e6])
    assert np.array_equal(optimal_shrinkage([0.0, 3.0], 0.5, unit=0.0), [0, 3])  # no noise
    wanted = optimal_shrinkage([10.0, 2.0, 1.0], 0.5)
    for unit in (1e-300, 1e-160, 1e160, 1e300):  # no square is formed that could leave the floats
        found = optimal_shrinkage(np.array([10.0, 2.0, 1.0]) * unit, 0.5, unit=unit)
        np.testing.assert_allclose(found / unit, wanted, rtol=1e-12)
    X = np.random.default_rng(0).standard_normal((9, 4))
    np.testing.assert_allclose(shrink_singular_values(X, sigma=1e200), [X.mean(axis=0)] * 9)


def test_a_drawn_table_without_variance_is_named():
    """A column of two values can be constant in a table that is drawn, though not in X."""
    X = np.column_stack([np.arange(8.0), np.arange(8) == 3])
    with pytest.raises(ValueError, match="In a table drawn from the rows of X: Column 1 is const"):
        bootstrap_pca(X, 1, scale=True)
    with pytest.raises(ValueError, match="^Column 1 is constant"):
        bootstrap_pca(X * [1, 0], 1, scale=True)
    assert np.isfinite(bootstrap_pca(X, 1).variances).all()


def test_shrinking_is_the_best_of_all_sizes():
    """On average no factor between 0.7 and 1.3 of η loses less: eq-k-shrinker."""
    factors_tried = np.linspace(0.7, 1.3, 7)
    losses = np.zeros(7)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        low = orthonormal(150, 3, rng) * [30, 22, 17] @ orthonormal(75, 3, rng).T
        U, s, Vt = np.linalg.svd(low + rng.standard_normal((150, 75)), full_matrices=False)
        eta = optimal_shrinkage(s, 0.5, unit=np.sqrt(150))
        for i, factor in enumerate(factors_tried):
            losses[i] += np.sum(((U * factor * eta) @ Vt - low) ** 2)
    assert np.argmin(losses) == 3


def test_shrinking_beats_cutting():
    """In each of 10 tables it is nearer to the truth than the best cut: eq-k-shrinker."""
    for seed in range(10):
        X = planted([42.0, 28.0, 21.0, 17.0, 14.0], 200, 100, seed) - 2
        rng = np.random.default_rng(seed)
        truth = (
            orthonormal(200, 5, rng) * [42.0, 28.0, 21.0, 17.0, 14.0] @ orthonormal(100, 5, rng).T
        )
        cuts = [np.sum((fit_pca(X, k).reconstruct(X) - truth) ** 2) for k in range(8)]
        for sigma in (None, 1.0):
            assert np.sum((shrink_singular_values(X, sigma=sigma) - truth) ** 2) < min(cuts)


def test_shrinking_keeps_means_and_units():
    """Means stay; cX + 1mᵀ becomes c times the result + 1mᵀ; no noise, no change: eq-k-shrinker."""
    X = planted([20.0, 15.0], 40, 10)
    cleaned = shrink_singular_values(X)
    np.testing.assert_allclose(cleaned.mean(axis=0), X.mean(axis=0))
    m = np.arange(10.0)
    for c in (-3.0, 1e100, 1e-100):
        got = shrink_singular_values(c * X + c * m)
        np.testing.assert_allclose(got, c * (cleaned + m), rtol=1e-9, atol=1e-9 * abs(c))
    low = np.outer(np.arange(30.0), np.arange(8.0)) + 1
    np.testing.assert_allclose(shrink_singular_values(low), low, atol=1e-9)


@pytest.mark.parametrize("shape", [(401, 100), (101, 400), (200, 50)])
def test_the_noise_is_measured(shape):
    """σ̂ finds σ in noise, with three components too, and scales with the data: eq-k-noise-level."""
    X = planted([60.0, 50.0, 40.0], *shape, noise=0.3)
    assert noise_level(X) == pytest.approx(0.3, rel=0.05)
    for c in (1e-200, -7.0, 1e200):
        assert noise_level(c * X) == pytest.approx(abs(c) * noise_level(X))


# --- rows left out -------------------------------------------------------------------------------


@thorough
@given(st.integers(2, 9), st.integers(0, 8), seeds)
def test_an_entry_told_by_the_rest_of_its_row(d, k, seed):
    """Residual over 1 − leverage is least squares without the entry: eq-k-leverage."""
    assume(k < d)
    rng = np.random.default_rng(seed)
    V, Y = orthonormal(d, k, rng) if k else np.zeros((d, 0)), rng.standard_normal((3, d))
    lacks = held_out_residuals(Y, V)
    for j in range(d):
        rest = np.arange(d) != j
        if 1 - np.sum(V[j] ** 2) < 1e-6:
            continue
        Z = np.linalg.lstsq(V[rest], Y[:, rest].T, rcond=None)[0]
        np.testing.assert_allclose(lacks[:, j], Y[:, j] - V[j] @ Z, rtol=1e-5, atol=1e-6)


def test_an_entry_that_the_rest_can_not_tell():
    """Leverage one: the shortest solution predicts zero, so all of the entry is lacking."""
    V = np.array([[1.0, 0], [0, 0.6], [0, 0.8]])
    lacks = held_out_residuals([[5.0, 3.0, 4.0]], V)
    np.testing.assert_allclose(lacks, [[5.0, 0.0, 0.0]], atol=1e-12)


def test_errors_of_rows_by_hand():
    """Each row is told by directions of the other folds, entry by entry: eq-k-leverage."""
    X = planted([20.0, 9.0], 10, 5, 3)
    wanted = np.zeros(4)
    for i in range(10):
        others = np.delete(X, i, axis=0)
        for k in range(4):
            fit = fit_pca(others, k)
            for j in range(5):
                rest = np.arange(5) != j
                y = X[i] - fit.mean
                z = np.linalg.lstsq(fit.V[rest], y[rest], rcond=None)[0] if k else np.zeros(0)
                wanted[k] += (y[j] - fit.V[j] @ z) ** 2 / X.size
    np.testing.assert_allclose(held_out_row_errors(X, max_k=3, folds=10), wanted, rtol=1e-6)
    for c, m in ((-3.0, 100.0), (1e100, 0.0)):
        moved = held_out_row_errors(c * X + m, max_k=3, folds=10)
        np.testing.assert_allclose(moved, c**2 * wanted, rtol=1e-6)


def test_left_out_rows_can_choose():
    """Three components of 60×12 are found in nearly all tables: eq-k-leverage."""
    ks = [
        choose_k_by_cross_validation(planted([30.0, 24.0, 18.0], 60, 12, seed), leave="rows")
        for seed in range(20)
    ]
    assert ks.count(3) >= 18


def test_few_rows_leave_few_directions():
    """No more k are tried than the rows that stay in have directions: eq-k-leverage."""
    X = np.random.default_rng(0).standard_normal((6, 20))
    assert held_out_row_errors(X, folds=3).shape == (4,)  # four rows, centred: k up to 3
    assert held_out_row_errors(X.T, folds=4).shape == (6,)  # d = 6: k up to 5


# --- entries left out ----------------------------------------------------------------------------


def test_errors_of_left_out_entries_turn_and_those_of_rows_do_not():
    """Row-wise errors fall to the end, entry-wise ones turn at the true k: eq-pca-press."""
    X = planted([40.0, 30.0], 60, 10, 2)
    entries = held_out_errors(X, max_k=6)
    assert np.argmin(entries) == 2
    assert entries[6] > 1.2 * entries[2]
    rows = [np.sum((X[:12] - fit_pca(X[12:], k).reconstruct(X[:12])) ** 2) for k in range(11)]
    assert np.all(np.diff(rows) < 0)
    assert rows[-1] == pytest.approx(0, abs=1e-9)


def test_no_component_predicts_column_means():
    """The error for k = 0 is that of the means of the entries that are left: eq-pca-press."""
    X = np.random.default_rng(0).standard_normal((8, 3)) + 5
    fold = entry_folds(8, 3, 4, 7)
    wanted = 0.0
    for f in range(4):
        known = np.ma.masked_array(X, fold == f)
        wanted += np.sum((X - known.mean(axis=0).filled(0))[fold == f] ** 2)
    errors = held_out_errors(X, max_k=0, folds=4, rng=7)
    assert errors == pytest.approx([wanted / X.size])


def test_errors_have_the_units_of_squares():
    """Held-out errors of cX + 1mᵀ are c² times those of X: eq-pca-press."""
    X = planted([20.0], 20, 6)
    for c, m in ((-3.0, 100.0), (1e100, 0.0), (1e-100, 0.0)):
        np.testing.assert_allclose(
            held_out_errors(c * X + m, max_k=3), c**2 * held_out_errors(X, max_k=3), rtol=1e-6
        )


@thorough
@given(st.integers(2, 12), st.integers(1, 12), st.integers(2, 9), seeds)
def test_folds_of_entries(n, d, folds, seed):
    """Equal sizes, overall and in each column, and no column is left out as a whole."""
    assume(folds <= n * d)
    fold = entry_folds(n, d, folds, seed)
    assert fold.shape == (n, d)
    assert np.ptp(np.bincount(fold.ravel(), minlength=folds)) <= 1
    for column in fold.T:
        counts = np.bincount(column, minlength=folds)
        assert np.ptp(counts) <= 1
        assert counts.max() < n


def test_filling_in_finds_what_low_rank_dictates():
    """A hole in an exact rank-one table is filled by its only consistent value: eq-pca-press."""
    X = np.outer([1.0, 2.0, -3.0, 4.0, -1.0, -3.0], [1.0, -2.0, 3.0])  # columns have mean zero
    hole = np.zeros(X.shape, bool)
    hole[1, 1] = True
    for scale, shift in ((1.0, 0.0), (1e150, 0.0), (1e-150, 0.0), (-2.0, 1e6)):
        table = scale * X + shift
        with_hole = np.where(hole, NAN, table)
        filled = fill_in(with_hole, hole, 1)
        assert filled[1, 1] == pytest.approx(-4 * scale + shift, abs=0.05 * abs(scale))
        assert np.array_equal(filled[~hole], table[~hole])


def test_no_round_of_filling_raises_the_loss():
    """What the fit loses on known entries is least where filling stands still: eq-pca-press."""
    X = planted([20.0, 15.0], 30, 8, 4)
    hole = entry_folds(30, 8, 5, 0) == 0

    def loss(T):
        mean = T.mean(axis=0)
        return np.sum((T - mean - low_rank(T - mean, 2))[~hole] ** 2)

    means = np.where(hole, np.where(hole, 0, X).sum(axis=0) / np.sum(~hole, axis=0), X)
    T, losses = means, []
    for _ in range(300):
        losses.append(loss(T))
        mean = T.mean(axis=0)
        T = np.where(hole, mean + low_rank(T - mean, 2), T)
    assert np.all(np.diff(losses) <= 1e-9)
    filled = fill_in(X, hole, 2)
    assert loss(filled) == pytest.approx(losses[-1], rel=1e-3)
    np.testing.assert_allclose(filled, T, atol=0.05 * X.std())


@sparing
@given(st.integers(2, 9), st.integers(2, 9), seeds)
def test_the_quick_low_rank_is_the_plain_one(n, d, seed):
    """Projecting on eigenvectors of the small Gram matrix is truncating the SVD."""
    A = np.random.default_rng(seed).standard_normal((n, d))
    for k in range(min(n, d) + 1):
        np.testing.assert_allclose(nearest_of_rank(A, k), low_rank(A, k), atol=1e-6)


def test_settling_finds_the_fixed_point_and_says_when_it_does_not():
    """A slow contraction is followed to its end; too few steps are a warning."""
    M = np.diag([0.97, 0.9, -0.5])
    b = np.array([3.0, -2.0, 1.0])
    steps = []

    def step(T):
        steps.append(T)
        return T @ M + b

    end = np.linalg.solve(np.eye(3) - M, b)
    start, scale = np.zeros((1, 1, 3)), np.ones(1)
    found = settle(step, start, start == 0, scale, 1e-6, 1000)
    np.testing.assert_allclose(found[0, 0], end, rtol=0.01)
    assert len(steps) < 250  # the plain iteration needs some 400
    with pytest.warns(ConvergenceWarning, match="After 5 steps"):
        cut_short = settle(step, start, start == 0, scale, 1e-6, 5)
    assert 0 < cut_short[0, 0, 0] < end[0]


@pytest.mark.parametrize("scale", [0.0, 500.0])
@pytest.mark.parametrize("holes", [1, 5, 12])
def test_settling_stops_at_the_first_change_that_is_small_enough(scale, holes):
    """The root mean square of a change is measured by that of the values, or by the scale."""
    start, changes = np.zeros((1, 4, 3)), []
    unknown = np.arange(12).reshape(1, 4, 3) < holes

    def step(T):
        new = 0.9 * T + np.arange(1.0, 13).reshape(4, 3)
        size = max(scale, np.sqrt(np.mean(new[unknown] ** 2)))
        changes.append(np.sqrt(np.mean((new - T)[unknown] ** 2)) / size)
        return new

    settle(step, start, unknown, np.array([scale]), 1e-4, 1000)
    assert changes[-1] <= 1e-4 < min(changes[:-1])
    changes.clear()
    with pytest.warns(ConvergenceWarning) as told:
        settle(step, start, unknown, np.array([scale]), 1e-4, 4)
    assert f"change by {changes[-1] / 1e-4:.2g} times" in str(told[0].message)


@pytest.mark.parametrize("rate", [0.98, 0.99, 0.995])
def test_the_slower_the_changes_the_more_the_momentum_saves(rate):
    """Plain steps grow as 1/(1 − rate), these as its root: more than four of five are saved."""
    start, steps = np.zeros((1, 1, 2)), []

    def step(T):
        steps.append(T)
        return rate * T + 1 - rate  # towards 1

    settle(step, start, start == 0, np.ones(1), 1e-6, 5000)
    plain = np.log(1e-6 / (1 - rate)) / np.log(rate)  # until (1 − rate) rateᵗ is 1e-6
    assert len(steps) < plain / 5


def test_tables_settle_as_each_would_alone():
    """Quick ones, slow ones and one without holes; known entries stay: eq-pca-press."""
    rng = np.random.default_rng(0)
    X = planted([20.0, 9.0], 15, 6, 3)
    masks = rng.random((5, 15, 6)) < np.array([0.3, 0.05, 0.2, 0.0, 0.4])[:, None, None]
    for k in (0, 1, 3):
        alone = [fill_in(X, mask, k) for mask in masks]
        together = fill_in(X, masks, k)
        np.testing.assert_allclose(together, alone, atol=1e-9)
        assert np.array_equal(together[~masks], np.broadcast_to(X, masks.shape)[~masks])
        assert np.array_equal(together[3], X)
        again = fill_in(X, masks, k + 1, start=together)
        for mask, filled, wanted in zip(masks, together, again, strict=True):
            np.testing.assert_allclose(fill_in(X, mask, k + 1, start=filled), wanted, atol=1e-9)
    with pytest.raises(ValueError, match=r"start has shape \(15, 6\)"):
        fill_in(X, masks, 1, start=X)
    with pytest.raises(ValueError, match="start holds NaN"):
        fill_in(X, masks, 1, start=np.where(masks, NAN, X))
    with pytest.raises(ValueError, match="Column 2 of X has no known entry"):
        fill_in(X, masks | (np.arange(5)[:, None, None] == 1) & (np.arange(6) == 2), 1)
    for wrong in (masks[:0], masks[None], masks[:, :3], True):
        with pytest.raises(ValueError, match="True or False is needed"):
            fill_in(X, wrong, 1)


def test_a_stack_that_is_cut_short_keeps_what_has_settled():
    """Those that stand still are what they are without the slow one, which warns."""
    M = np.array([0.1, 0.999])[:, None, None]
    start, scale = np.zeros((2, 1, 2)), np.ones(2)
    place = []

    def step(T):
        place.append(len(T))
        return M[-len(T) :] * T + 1.0

    with pytest.warns(ConvergenceWarning, match="After 30 steps"):
        found = settle(step, start, start == 0, scale, 1e-6, 30)
    np.testing.assert_allclose(found[0], 1 / 0.9, rtol=1e-5)
    assert found[1].min() > 30  # on its way to 1000
    assert place[0] == 2
    assert place[-1] == 1


# --- likelihoods ---------------------------------------------------------------------------------


@sparing
@given(data(max_side=8), seeds)
def test_likelihoods_of_all_k_are_those_of_the_models(X, seed):
    """One product with V gives what a model for each k gives: eq-ppca-loglik eq-ppca-count."""
    fit = spectrum(X)
    new = X[:2] + np.random.default_rng(seed).standard_normal((2, X.shape[1]))
    for rows in (X, new):
        logs = log_likelihoods(fit.lam, fit.V, rows - fit.mean)
        models = [maximum_likelihood(fit, k) for k in range(fit.V.shape[1])]
        wanted = [model.log_likelihood(rows) for model in models]
        np.testing.assert_allclose(logs, wanted, rtol=1e-7, atol=1e-6)
    counts = [model.n_parameters for model in models]
    assert np.array_equal(parameter_counts(X.shape[1], len(models)), counts)


def test_bic_by_hand():
    """−2ℓ + p log n, with p and ℓ counted apart: eq-ppca-bic."""
    fit = fit_ppca(VIRUSES, 2)
    loglik = multivariate_normal(fit.mean, fit.covariance()).logpdf(VIRUSES).sum()
    wanted = -2 * loglik + (18 + 36 - 1 + 1) * np.log(38)
    assert fit.bic(VIRUSES) == pytest.approx(wanted)
    assert bic_of_each_k(VIRUSES)[2] == pytest.approx(wanted)
    assert bic_of_each_k(VIRUSES, max_k=3) == pytest.approx(bic_of_each_k(VIRUSES)[:4])


def test_held_out_by_hand():
    """Each row is judged by a model that has not seen it: eq-ppca-held-out."""
    X = VIRUSES[:12]
    total = 0.0
    for i in range(12):  # as many folds as rows: their order does not matter
        fit = fit_ppca(np.delete(X, i, axis=0), 2)
        total += multivariate_normal(fit.mean, fit.covariance()).logpdf(X[i])
    assert held_out_log_likelihood(X, max_k=2, folds=12)[2] == pytest.approx(total)


def test_likelihoods_have_the_units_of_densities():
    """In other units each likelihood changes by the same factor: eq-ppca-bic eq-ppca-held-out."""
    X = planted([20.0], 20, 5)
    for c in (1e-200, 7.0, 1e200):
        change = -X.size * np.log(c)
        np.testing.assert_allclose(
            held_out_log_likelihood(c * X) - held_out_log_likelihood(X), change, rtol=1e-9
        )
        np.testing.assert_allclose(bic_of_each_k(c * X) - bic_of_each_k(X), -2 * change, rtol=1e-9)


@pytest.mark.parametrize("k", [0, 1, 3])
def test_both_choices_find_the_true_k(k):
    """With 400 clear samples BIC and held-out rows find k: eq-ppca-bic eq-ppca-held-out."""
    W = 3 * orthonormal(8, 3, 1)[:, :k]
    found = []
    for seed in range(10):
        X = PPCA(np.ones(8), W, 1.0).sample(400, seed)
        assert choose_k_by_bic(X) == k
        found.append(choose_k_by_held_out_likelihood(X))
    assert np.median(found) == k
    assert set(found) <= {k, k + 1}  # one too many now and then


def test_few_rows_are_innocent():
    """38 rows that obey the model with k = 2: BIC says 2; the viruses get 15: eq-ppca-bic."""
    model = fit_ppca(VIRUSES, 2)
    assert all(choose_k_by_bic(model.sample(38, seed)) == 2 for seed in range(20))
    assert choose_k_by_bic(VIRUSES) > 10


def test_factor_analysis_is_ahead_on_the_viruses():
    """Same folds, noise by column: higher likelihood of new rows, top at 2: eq-k-factors."""
    by_factors = np.zeros(4)
    for rows in np.array_split(np.random.default_rng(0).permutation(38), 5):
        rest = np.delete(VIRUSES, rows, axis=0)
        for k in range(1, 4):
            fit = FactorAnalysis(k, svd_method="lapack", max_iter=5000).fit(rest)
            W, psi = fit.components_.T, fit.noise_variance_
            law = multivariate_normal(rest.mean(axis=0), W @ W.T + np.diag(psi))
            by_factors[k] += law.logpdf(VIRUSES[rows]).sum()
    ours = held_out_log_likelihood(VIRUSES, rng=0)
    assert by_factors[2] > ours.max() + 30
    assert np.argmax(by_factors[1:]) == 1


def test_unequal_noise_is_taken_for_directions():
    """Two factors, noise that differs by column: both rules go far beyond 2 as n grows."""
    noise = np.geomspace(0.2, 4, 10)
    for seed in range(3):
        X = factors(800, noise, seed)
        assert choose_k_by_bic(X) > 5
        assert choose_k_by_held_out_likelihood(X) > 5
        equal = factors(800, np.ones(10), seed)
        assert choose_k_by_bic(equal) == 2
        assert choose_k_by_held_out_likelihood(equal) in (2, 3)


def test_choices_with_few_rows():
    """Only k that leave some noise are tried: eq-ppca-bic eq-ppca-held-out."""
    X = np.random.default_rng(0).standard_normal((6, 20))
    assert 0 <= choose_k_by_bic(X) <= 4
    assert bic_of_each_k(X).shape == (5,)
    assert 0 <= choose_k_by_held_out_likelihood(X, folds=3) <= 2
    assert held_out_log_likelihood(X, folds=3).shape == (3,)
    doubled = np.repeat(X[:4], 2, axis=0)  # repeated rows: a fold may have fewer dimensions
    assert np.isfinite(held_out_log_likelihood(doubled, folds=4)).all()


# --- how sure ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [False, True])
def test_bootstrap_is_pca_of_drawn_rows(scale):
    """Rows drawn with replacement, each table fitted by itself, signs matched: eq-k-bootstrap."""
    X = planted([30.0, 15.0], 40, 6, 5) * [1, 2, 3, 1, 2, 3]
    drawn = bootstrap_pca(X, 2, repeats=5, scale=scale, rng=7)
    assert isinstance(drawn, Resampled)
    rng = np.random.default_rng(7)
    whole = fit_pca(standardize(X)[0] if scale else X, 2)
    for variances, V in zip(drawn.variances, drawn.V, strict=True):
        rows = X[rng.integers(0, 40, 40)]
        Y = (rows - rows.mean(axis=0)) / (rows.std(axis=0) if scale else 1)
        np.testing.assert_allclose(variances, svdvals(Y)[:2] ** 2 / 40)
        assert np.all(np.sum(V * whole.V, axis=0) >= 0)
        Vt = np.linalg.svd(Y, full_matrices=False)[2][:2]
        np.testing.assert_allclose(np.abs(Vt @ V), np.eye(2), atol=1e-7)


def test_many_fits_are_those_of_each():
    """Tables that squaring would spoil, wide and single ones go to the fit itself."""
    rng = np.random.default_rng(0)
    steep = [1, 1e-3, 1e-6, 1e-9]
    stacks = {
        "plain": (planted([9.0, 4.0], 30, 4, seed) for seed in range(3)),
        "some steep": (rng.standard_normal((30, 4)) * p for p in ([3, 2, 1, 0.5], steep)),
        "a tie": (X := rng.standard_normal((30, 4)), np.linalg.qr(X - X.mean(axis=0))[0]),
        "far off": (rng.standard_normal((30, 4)) + m for m in (0, 1e15)),
        "the third in the noise": (m + X * [1, 1, 0.05, 0.01] for m in (0, 3e13)),
        "without variance": (X, 0 * X),
        "wide": rng.standard_normal((3, 5, 20)),
        "single": rng.standard_normal((3, 30, 4)).astype(np.float32),
        "square": rng.standard_normal((2, 6, 6)),
        "in another unit": 1e-5 * rng.standard_normal((2, 30, 4)),
        "many columns": rng.standard_normal((2, 120, 101)),
    }
    left = {}
    for name, stack in stacks.items():
        tables, fits = list(stack), []

        def fit(table, fits=fits):
            fits.append(fit_pca(table, 3))
            return fits[-1]

        found = leading_of_many(tables, 3, fit)
        left[name] = len(fits)
        for table, (variances, V) in zip(tables, found, strict=True):
            wanted = fit_pca(table, 3)
            np.testing.assert_allclose(variances, wanted.variances, rtol=1e-9)
            np.testing.assert_allclose(align_signs(wanted.V, V), wanted.V, atol=1e-9)
    assert left == {
        "plain": 0,
        "some steep": 1,
        "a tie": 1,
        "far off": 1,
        "the third in the noise": 1,
        "without variance": 1,
        "wide": 3,
        "single": 3,
        "square": 0,
        "in another unit": 0,
        "many columns": 2,
    }
    for size in (1e200, 1e-150, 1e-200):
        with pytest.raises(ValueError, match="divide X by its largest entry first"):
            leading_of_many([X, size * X], 1, fit_pca)


@pytest.mark.parametrize("small", [1e-14, 1e-16])
def test_what_counts_as_zero_in_many_tables_counts_so_in_one(small):
    """The margin for rounding of singular values grows with a table's sides, not with the stack."""
    one = CentredTable(np.diag([1.0, 0.5, small]), 1.0, 0.0)
    many = CentredTable(np.tile(one.Xc, (1000, 1, 1)), 1.0, 0.0)
    assert np.count_nonzero(one.singular_values()) == (3 if small > 1e-15 else 2)
    np.testing.assert_allclose(many.singular_values(), np.tile(one.singular_values(), (1000, 1)))


def test_bootstrap_intervals():
    """They hold the truth of strong components, and turn wide where a gap is small."""
    held, spread = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((100, 6)) * np.sqrt([13, 6, 1.05, 1, 0.9, 0.8])
        drawn = bootstrap_pca(X, 4, repeats=100, rng=seed)
        low, high = np.quantile(drawn.variances[:, 0], [0.025, 0.975])
        held.append(low <= 13 <= high)
        spread.append(np.ptp(np.quantile(drawn.V, [0.025, 0.975], axis=0), axis=0).mean(axis=0))
    assert np.mean(held) >= 0.8
    first, _, third, _ = np.mean(spread, axis=0)
    assert third > 3 * first


# --- options -------------------------------------------------------------------------------------


def test_progress_bars(capsys, monkeypatch):
    """A bar is shown if asked for, and its absence is one clear sentence."""
    X = planted([9.0], 10, 4)
    for show in (
        held_out_errors,
        held_out_row_errors,
        parallel_variances,
        held_out_log_likelihood,
        lambda X, **options: bootstrap_pca(X, 1, **options),
    ):
        show(X)
        assert capsys.readouterr().err == ""
        show(X, progress=True)
        assert "0/" in capsys.readouterr().err
    for choose in (
        choose_k_by_cross_validation,
        choose_k_by_parallel_analysis,
        choose_k_by_held_out_likelihood,
    ):
        choose(X, progress=True)
        assert "0/" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="needs tqdm"):
        parallel_variances(X, repeats=1, progress=True)


X = planted([9.0], 12, 5)
HOLE = np.zeros(X.shape, bool)
BAD = {
    "bound": (lambda: choose_k_by_error(X, 5), "max_relative_error=5.*: a number from 0 to 1"),
    "percent": (lambda: choose_k_by_error(X, "5 %"), "from 0 to 1"),
    "squared": (lambda: choose_k_by_error(X, 0.1, squared="yes"), "squared='yes': True or False"),
    "center": (lambda: choose_k_by_error(X, 0.1, center=None), "center=None: True or False"),
    "zero": (lambda: choose_k_by_error(0 * X, 0.1, center=False), "X is zero"),
    "quantile": (lambda: choose_k_by_parallel_analysis(X, quantile=95), "quantile=95.* 0 to 1"),
    "repeats": (lambda: parallel_variances(X, repeats=0), "repeats=0: a whole number from 1"),
    "half repeats": (lambda: choose_k_by_parallel_analysis(X, repeats=2.5), "repeats=2.5"),
    "rng": (lambda: choose_k_by_parallel_analysis(X, rng="seed"), "rng='seed': a seed"),
    "rng of entries": (lambda: held_out_errors(X, rng=-1), "rng=-1: a seed"),
    "rng of rows": (lambda: held_out_log_likelihood(X, rng=0.5), "rng=0.5: a seed"),
    "sigma": (lambda: choose_k_by_hard_threshold(X, sigma=0), "sigma=0.*: a number above 0"),
    "sigma text": (lambda: hard_threshold(X, sigma="1"), "sigma='1'"),
    "beta": (lambda: hard_threshold_factor(2.0), "beta=2.0.*short side over the long"),
    "beta zero": (lambda: marchenko_pastur_median(0), "beta=0.*short side over the long"),
    "one fold": (lambda: held_out_errors(X, folds=1), "folds=1: a whole number from 2"),
    "half a fold": (lambda: held_out_errors(X, folds=2.5), "folds=2.5: a whole number"),
    "folds of all": (lambda: choose_k_by_cross_validation(X, folds=True), "folds=True"),
    "too many folds": (lambda: held_out_errors(X, folds=61), "folds=61 of 60 entries"),
    "half a fold of rows": (lambda: held_out_log_likelihood(X, folds=2.5), "folds=2.5"),
    "folds of rows": (lambda: choose_k_by_held_out_likelihood(X, folds=50), "folds=50 of 12 rows"),
    "held-out k": (lambda: held_out_errors(X, max_k=5), "k=5 components.*at most 4"),
    "leave": (
        lambda: choose_k_by_cross_validation(X, leave="columns"),
        'leave=.*"entries", "rows"',
    ),
    "k of left-out rows": (lambda: held_out_row_errors(X, max_k=5), "k=5 components.*at most 4"),
    "folds of left-out rows": (lambda: held_out_row_errors(X, folds=13), "folds=13 of 12 rows"),
    "one column of rows": (lambda: held_out_row_errors(X[:, :1]), "X has one column"),
    "crooked V": (lambda: held_out_residuals(X, np.ones((5, 2))), "not orthonormal"),
    "sigma of shrinkage": (lambda: shrink_singular_values(X, sigma=-1), "sigma=-1"),
    "beta of shrinkage": (lambda: optimal_shrinkage([1.0], 3.0), "short side over the long"),
    "unit of shrinkage": (lambda: optimal_shrinkage([1.0], 0.5, unit=-1), "unit=-1"),
    "text of shrinkage": (lambda: optimal_shrinkage(["a"], 0.5), "not numbers"),
    "k of bootstrap": (lambda: bootstrap_pca(X, 6), "k=6"),
    "repeats of bootstrap": (lambda: bootstrap_pca(X, 1, repeats=0), "repeats=0"),
    "scale of bootstrap": (lambda: bootstrap_pca(X, 1, scale="yes"), "scale='yes'"),
    "holes of bootstrap": (lambda: bootstrap_pca(NAN * X, 1), "60 of its 60 values are missing"),
    "half a k": (lambda: choose_k_by_cross_validation(X, max_k=1.5), "k=1.5 is no number"),
    "k of bic": (lambda: choose_k_by_bic(X, max_k=5), "k=5 components.*some noise.*at most 4"),
    "k of rows": (lambda: held_out_log_likelihood(X[:5], max_k=4, folds=5), "at most 2 exist"),
    "one column": (lambda: held_out_errors(X[:, :1]), "X has one column"),
    "one other row": (
        lambda: held_out_log_likelihood([[0.0, 0], [0, 0], [0, 1]], folds=3),
        "the others are all the same",
    ),
    "too large": (lambda: parallel_variances(1e200 * X), "larger than the largest number"),
    "too large errors": (lambda: held_out_errors(1e200 * X), "larger than the largest number"),
    "sparse": (lambda: choose_k_by_bic(sparse.eye_array(5)), "sparse matrix.*toarray"),
    "1-D": (lambda: choose_k_by_error([1.0, 2.0], 0.1), "1-D"),
    "text": (lambda: choose_k_by_hard_threshold([["a", "b"], ["c", "d"]]), "not numbers"),
    "mask": (lambda: fill_in(X, HOLE.astype(int), 1), "True or False is needed for each entry"),
    "mask shape": (lambda: fill_in(X, HOLE[:2], 1), "shape"),
    "mask column": (lambda: fill_in(X, ~HOLE, 1), "Column 0 of X has no known entry"),
    "NaN seen": (lambda: fill_in(np.where(HOLE, 0, NAN * X), HOLE, 1), "NaN"),
    "start": (lambda: fill_in(X, HOLE, 1, start=X[:3]), "start has shape"),
    "start with NaN": (lambda: fill_in(X, HOLE, 1, start=NAN * X), "start holds NaN"),
    "k of fill_in": (lambda: fill_in(X, HOLE, 6), "k=6 components.*12×5 table: at most 5"),
}


@pytest.mark.parametrize(("call", "words"), BAD.values(), ids=BAD)
def test_bad_input_gets_a_sentence(call, words):
    """What came, what was needed, what to do."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=words):
            call()


def test_options_have_to_be_named():
    """After the data, and what a rule can't do without, options go by their names."""
    for call in (
        lambda: choose_k_by_cross_validation(X, 3),
        lambda: held_out_errors(X, 3),
        lambda: choose_k_by_error(X, 0.1, True),
        lambda: choose_k_by_hard_threshold(X, 1.0),
        lambda: choose_k_by_parallel_analysis(X, 0, 10),
        lambda: choose_k_by_bic(X, 3),
        lambda: held_out_row_errors(X, 3),
        lambda: bootstrap_pca(X, 2, 100),
        lambda: held_out_log_likelihood(X, [1, 2]),
    ):
        with pytest.raises(TypeError, match="positional"):
            call()


def test_two_columns_are_enough():
    """Each entry is told by the other of its row; one column alone tells nothing."""
    X = np.random.default_rng(0).standard_normal((8, 2)) @ [[3.0, 1.0], [0.0, 1.0]]
    assert held_out_row_errors(X, folds=4).size == 2
    assert held_out_errors(X, folds=4).size == 2
    for errors in (held_out_row_errors, held_out_errors):
        with pytest.raises(ValueError, match="X has one column"):
            errors(X[:, :1], folds=4)


def test_one_variance_leaves_no_direction():
    """All of it is noise: k = 0 is the only one, and that is no mistake."""
    X = np.arange(8.0)[:, None]
    assert bic_of_each_k(X).size == 1
    assert bic_of_each_k(X, max_k=0).size == 1
    assert held_out_log_likelihood(X, folds=4).size == 1


@pytest.mark.parametrize("largest", [1.0, 1.5, 2.0, 3.9, 0.3, 1e-300, 1e300])
def test_the_unit_is_a_power_of_two(largest):
    """So that the largest entry is from one to two, and dividing costs no digit."""
    unit = power_of_two(np.array([0.0, -largest, largest / 3]))
    assert unit <= largest < 2 * unit
    assert np.frexp(unit)[0] == 0.5
    assert power_of_two(np.zeros(2)) == 1


def test_values_to_start_from_are_put_back_as_they_are():
    """Into the unit of the known part and back: means and unit cancel; far ones are refused."""
    rng = np.random.default_rng(0)
    X, start = 40 + 7 * rng.standard_normal((2, 6, 3))
    known = known_part(X, unknown := rng.random((6, 3)) < 0.4)
    np.testing.assert_allclose(known.filled(X, known.values(start)), np.where(unknown, start, X))
    with pytest.raises(ValueError, match="times as far"):
        known.values(start + 1e12)


def test_as_many_folds_as_entries():
    """Each entry is a fold of its own then; more folds there are not."""
    assert sorted(entry_folds(2, 3, 6, 0).ravel()) == list(range(6))
    with pytest.raises(ValueError, match="at most 6 parts"):
        entry_folds(2, 3, 7, 0)


def test_one_table_may_be_drawn():
    assert bootstrap_pca(VIRUSES, 2, repeats=1).V.shape == (1, VIRUSES.shape[1], 2)
    assert parallel_variances(VIRUSES, repeats=1).shape[0] == 1


def test_a_gain_is_measured_by_the_variance(monkeypatch):
    """A ten-thousandth of the error without components is none, whatever that error is."""
    for size in (0.01, 1.0, 100.0):
        for last, k in ((0.05, 3), (0.09995, 2)):
            errors = size * np.array([1.0, 0.2, 0.1, last])
            monkeypatch.setattr(module, "held_out_errors", lambda X, errors=errors, **_: errors)
            assert choose_k_by_cross_validation(VIRUSES) == k


def test_curves_end_where_they_are_asked_to():
    for curve in (bic_of_each_k, held_out_log_likelihood, held_out_errors, held_out_row_errors):
        assert curve(VIRUSES[:, :5], max_k=1).size == 2


@pytest.mark.parametrize("unit", [0.01, 100.0])
def test_shrinking_knows_no_unit(unit):
    s = np.array([0.5, 2.5, 10.0])
    plain = optimal_shrinkage(s, 0.5)
    np.testing.assert_allclose(optimal_shrinkage(unit * s, 0.5, unit=unit), unit * plain)


def test_rounding_in_a_table_and_in_its_svd_counts_as_zero():
    """Four units of the last digit of the entries, in whatever unit; and what the SVD adds."""
    X = 1e6 + np.random.default_rng(0).standard_normal((30, 4))
    table = centred_table(X)
    assert table.rounding * table.unit == pytest.approx(4 * 2**-52 * np.linalg.norm(X))
    rank_one = np.outer(np.linspace(100, 200, 50), np.linspace(1, 3, 30) ** 0.5)
    table = table._replace(Xc=rank_one, rounding=0.0)
    assert np.count_nonzero(table.singular_values()) == 1


def test_axes_of_another_width_are_refused():
    """V has a row for each column of Y; what doesn't fit is told in a sentence: eq-k-leverage."""
    V = np.eye(4)[:, :2]
    assert np.isfinite(held_out_residuals(np.ones((3, 4)), V)).all()
    for width in (1, 3, 5):
        with pytest.raises(ValueError, match=rf"Y has {width} columns and V 4 rows.*each column"):
            held_out_residuals(np.ones((3, width)), V)
