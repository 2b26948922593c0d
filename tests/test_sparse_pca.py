"""The theorems of chapter 10 on random data, with brute force, solvers and published tables."""

import copy
import pickle
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import assert_orthonormal, orthonormal, seeds, sparing
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import ElasticNet, lars_path

from kpca_edu import (
    adjusted_variances,
    best_subset,
    fit_pca,
    fit_sparse_pca,
    ridge_direction,
    sparse_direction,
    truncated_power,
)
from kpca_edu import sparse_pca as module
from kpca_edu._engine.checks import ConvergenceWarning
from kpca_edu.datasets import pitprops
from kpca_edu.sparse_pca import (
    coordinate_descent,
    deflate_covariance,
    effective_nonzeros,
    elastic_net_path,
    generalized_power,
    procrustes,
    refit_loadings,
    simple_threshold,
    soft_threshold,
    sparse_pca_objective,
    sparse_rotation,
)

often = settings(sparing, max_examples=40)
PITPROPS, NAMES = pitprops()
PENALTIES = [0.06, 0.16, 0.1, 0.5, 0.5, 0.5]
COUNTS = [7, 4, 4, 1, 1, 1]
SHARES = [28.0, 14.0, 13.3, 7.4, 6.8, 6.2]  # Zou, Hastie and Tibshirani 2006, table 3
PUBLISHED = {
    0: dict(topdiam=-0.477, length=-0.476, ovensg=0.177, ringbut=-0.250)
    | dict(bowmax=-0.344, bowdist=-0.416, whorls=-0.400),
}
WINE = load_wine().data / load_wine().data.std(axis=0)


@st.composite
def covariances(draw, max_d=8):
    """Draw a covariance matrix of correlated features, and the data that it belongs to."""
    d = draw(st.integers(2, max_d))
    rng = np.random.default_rng(draw(seeds))
    X = rng.standard_normal((4 * d, d)) @ rng.standard_normal((d, d))
    X -= X.mean(axis=0)
    return X, X.T @ X / len(X)


def leading(C, k=1):
    return np.linalg.eigh(C)[1][:, ::-1][:, :k]


def kkt_gap(C, a, b, l1, ridge):
    """Return the largest violation of the conditions of the elastic net."""
    slope = 2 * (C @ a - C @ b - ridge * b)
    on = b != 0
    gaps = np.abs(slope[on] - l1 * np.sign(b[on]))
    return max(gaps.max(initial=0), (np.abs(slope[~on]) - l1).max(initial=0))


def unit_model(C, model):
    """Return the criterion's C in units of the mean variance, and B with its own lengths."""
    return C / (np.trace(C) / len(C)), model.B * model.lengths


# --- one direction: ridge, elastic net, path -----------------------------------------------------


@often
@given(covariances(), st.sampled_from([0.0, 0.1, 3.0]))
def test_ridge_is_parallel(case, ridge):
    """The ridge of a score on X is λ/(λ + ridge) v: eq-spca-ridge eq-spca-regression."""
    X, C = case
    lam, V = np.linalg.eigh(C)
    for j in (-1, 0):
        got = ridge_direction(C, V[:, j], ridge)
        np.testing.assert_allclose(got, lam[j] / (lam[j] + ridge) * V[:, j], atol=1e-8)
    stacked = np.vstack([X / np.sqrt(len(X)), np.sqrt(ridge) * np.eye(len(C))])
    target = np.concatenate([X @ V[:, 0] / np.sqrt(len(X)), np.zeros(len(C))])
    by_lstsq = np.linalg.lstsq(stacked, target, rcond=None)[0]
    np.testing.assert_allclose(ridge_direction(C, V[:, 0], ridge), by_lstsq, atol=1e-7)


@often
@given(covariances(), seeds, st.floats(0.01, 0.99), st.sampled_from([0.0, 0.3]))
def test_elastic_net_conditions(case, seed, share, ridge):
    """The subgradient conditions hold to rounding: eq-spca-kkt eq-spca-enet."""
    _, C = case
    a = np.random.default_rng(seed).standard_normal(len(C))
    l1 = share * 2 * np.abs(C @ a).max()
    b = sparse_direction(C, a, l1, ridge=ridge)
    assert b.any()
    assert kkt_gap(C, a, b, l1, ridge) <= 1e-9 * np.abs(C @ a).max()


@sparing
@given(covariances(), seeds, st.sampled_from([1e-6, 1e-3, 1e3, 1e6]))
def test_loadings_have_the_unit_of_the_score(case, seed, unit):
    """A score and a penalty in another unit give the loadings in that unit: eq-spca-enet."""
    _, C = case
    a = np.random.default_rng(seed).standard_normal(len(C))
    l1 = 0.2 * np.abs(C @ a).max()
    b, scaled = (sparse_direction(C, u * a, u * l1, ridge=1e-3) for u in (1.0, unit))
    np.testing.assert_allclose(scaled, unit * b, rtol=1e-6, atol=1e-9 * unit * np.abs(b).max())


@often
@given(covariances())
def test_the_largest_useful_penalty(case):
    """The direction is zero exactly from 2 max|Ca| on: eq-spca-kkt."""
    _, C = case
    a = leading(C)[:, 0]
    largest = 2 * np.abs(C @ a).max()
    assert not sparse_direction(C, a, largest * 1.0001).any()
    assert sparse_direction(C, a, largest * 0.9999).any()


@sparing
@given(covariances(), seeds, st.floats(0.05, 0.9))
def test_three_solvers_agree(case, seed, share):
    """Active sets, coordinate descent and scikit-learn find one minimum: eq-spca-cd
    eq-spca-enet."""
    X, C = case
    ridge, a = 0.2, np.random.default_rng(seed).standard_normal(len(C))
    l1 = share * 2 * np.abs(C @ a).max()
    b = sparse_direction(C, a, l1, ridge=ridge)
    np.testing.assert_allclose(coordinate_descent(C, a, l1, ridge=ridge), b, atol=1e-6)
    alpha = l1 / 2 + ridge  # theirs is ½‖y − Xb‖²/n + α ρ‖b‖₁ + ½α(1 − ρ)‖b‖²
    peer = ElasticNet(alpha=alpha, l1_ratio=l1 / 2 / alpha, fit_intercept=False)
    peer.set_params(tol=1e-12, max_iter=100_000).fit(X, X @ a)
    np.testing.assert_allclose(peer.coef_, b, atol=1e-5)


@sparing
@given(covariances(), seeds)
def test_the_path_is_the_elastic_net_at_every_penalty(case, seed):
    """Between knots loadings are linear, and everywhere optimal: eq-spca-path eq-spca-kkt."""
    _, C = case
    a = np.random.default_rng(seed).standard_normal(len(C))
    for ridge in (0.0, 0.5):
        knots, loadings = elastic_net_path(C, a, ridge=ridge)
        assert np.all(np.diff(knots) <= 0)
        assert knots[-1] == 0
        for share in (0.25, 0.8):
            between = (1 - share) * loadings[:-1] + share * loadings[1:]
            for l1, b in zip((1 - share) * knots[:-1] + share * knots[1:], between, strict=True):
                b = np.where(np.abs(b) < 1e-12, 0, b)
                assert kkt_gap(C, a, b, l1, ridge) <= 1e-8 * np.abs(C @ a).max()


def test_the_path_equals_least_angle_regression():
    """scikit-learn's LARS with the lasso change has the same knots: eq-spca-path."""
    X = WINE - WINE.mean(axis=0)
    C, v = X.T @ X / len(X), leading(X.T @ X)[:, 0]
    alphas, _, coefs = lars_path(X, X @ v, method="lasso")
    knots, loadings = elastic_net_path(C, v)
    np.testing.assert_allclose(knots, 2 * alphas, atol=1e-9)
    np.testing.assert_allclose(loadings, coefs.T, atol=1e-7)


def test_the_support_can_shrink_as_the_penalty_falls():
    """Counts are not monotone in l1, but ‖b‖₁ is: eq-spca-path."""
    rng = np.random.default_rng(1551)
    X = rng.standard_normal((30, 6)) @ rng.standard_normal((6, 6))
    C = X.T @ X / 30
    v = leading(C)[:, 0]
    knots, loadings = elastic_net_path(C, v)
    middle = (knots[1:] + knots[:-1]) / 2
    counts = [np.count_nonzero(sparse_direction(C, v, l1)) for l1 in middle]
    assert counts == [1, 2, 3, 2, 3, 4, 5, 6]
    assert np.all(np.diff(np.abs(loadings).sum(axis=1)) >= -1e-12)


def test_soft_threshold_is_the_minimiser():
    """b² − 2bc + 2t|b| is least at the soft threshold: eq-spca-soft."""
    grid = np.linspace(-4, 4, 80_001)
    for c, t in ((3.0, 1.0), (-0.4, 1.0), (-2.5, 0.5), (1.0, 0.0)):
        best = grid[np.argmin(grid**2 - 2 * grid * c + 2 * t * np.abs(grid))]
        assert soft_threshold(c, t) == pytest.approx(best, abs=2e-4)


# --- the joint criterion -------------------------------------------------------------------------


@often
@given(covariances(), seeds)
def test_gram_form_is_the_data_form(case, seed):
    """‖X − XBAᵀ‖²/n with penalties needs C only: eq-spca-criterion eq-spca-gram."""
    X, C = case
    rng = np.random.default_rng(seed)
    A, B, l1 = orthonormal(len(C), 2, rng), rng.standard_normal((len(C), 2)), np.array([0.3, 0.7])
    data = np.sum((X - X @ B @ A.T) ** 2) / len(X) + 0.2 * np.sum(B**2)
    data += np.sum(l1 * np.abs(B).sum(axis=0))
    assert sparse_pca_objective(C, A, B, l1=l1, ridge=0.2) == pytest.approx(data, rel=1e-9)


@often
@given(st.integers(2, 7), seeds)
def test_procrustes(d, seed):
    """No orthonormal A has a larger trace with M: eq-spca-procrustes."""
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((d, 2))
    A = procrustes(M)
    assert_orthonormal(A, 20)
    assert np.trace(A.T @ M) == pytest.approx(np.linalg.svd(M)[1].sum())
    for trial in range(20):
        other = orthonormal(d, 2, np.random.default_rng([seed, trial]))
        assert np.trace(other.T @ M) <= np.trace(A.T @ M) + 1e-12


@sparing
@given(covariances(), st.data())
def test_no_penalty_gives_pca(case, draw):
    """Zero penalty, or full counts, are PCA to 1e-10: eq-spca-ridge eq-spca-criterion."""
    X, C = case
    k = draw.draw(st.integers(1, len(C)))
    pca = fit_pca(X, k, solver="svd")
    for model in (
        fit_sparse_pca(X, k, l1=0),
        fit_sparse_pca(X, k, nonzeros=len(C)),
        fit_sparse_pca(C, k, l1=0, gram=True),
        fit_sparse_pca(C, k, nonzeros=len(C), gram=True, ridge=np.inf),
    ):
        gaps = np.min(np.abs(np.diff(np.append(pca.variances, 0)))) / pca.variances[0]
        np.testing.assert_allclose(model.B, pca.V, atol=1e-10 / min(1, gaps))
        np.testing.assert_allclose(model.variances, pca.variances, rtol=1e-9)
        assert model.recovered_ratio == pytest.approx(pca.explained_ratio.sum(), rel=1e-9)


@pytest.mark.parametrize("ridge", [1e-6, 0.01, 1.0, np.inf])
def test_each_column_is_an_elastic_net_and_A_a_procrustes_turn(ridge):
    """At convergence both blocks are optimal: eq-spca-kkt eq-spca-procrustes eq-spca-limit."""
    model = fit_sparse_pca(PITPROPS, 4, l1=[0.3, 0.4, 0.2, 0.5], ridge=ridge, gram=True, tol=1e-9)
    C, B = unit_model(PITPROPS, model)
    assert model.converged
    for a, b, l1 in zip(model.A.T, B.T, model.l1, strict=True):
        if ridge == np.inf:
            np.testing.assert_allclose(b, soft_threshold(C @ a, l1 / 2), atol=1e-8)
        else:
            assert kkt_gap(C, a, b, l1, ridge) <= 1e-7
    np.testing.assert_allclose(model.A, procrustes(C @ B), atol=1e-6)


def test_a_large_ridge_tends_to_the_soft_threshold():
    """(1 + ridge) B tends to the soft-threshold form: eq-spca-limit."""
    limit = fit_sparse_pca(PITPROPS, 3, l1=0.5, ridge=np.inf, gram=True, tol=1e-9)
    gaps = []
    for ridge in (1e2, 1e4, 1e6):
        near = fit_sparse_pca(PITPROPS, 3, l1=0.5, ridge=ridge, gram=True, tol=1e-9)
        gaps.append(np.abs(near.B - limit.B).max())
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-4


@pytest.mark.parametrize("how", [{"l1": 0.2}, {"nonzeros": 5}, {}, {"l1": 0.5, "ridge": np.inf}])
def test_the_objective_never_rises(how):
    """Each iteration keeps or lowers the criterion, and it is what is reported: eq-spca-gram."""
    model = fit_sparse_pca(WINE, 4, **how)
    assert model.converged
    assert model.n_iter == model.objective.size - 1 >= 1
    assert np.all(np.diff(model.objective) <= 0)
    if how.get("ridge") != np.inf:
        C, B = unit_model(np.cov(WINE.T, ddof=0), model)
        final = sparse_pca_objective(C, model.A, B, l1=model.l1, ridge=model.ridge)
        assert model.objective[-1] == pytest.approx(final, rel=1e-9)


def test_no_nearby_point_is_better():
    """An optimiser started at the solution finds nothing lower: eq-spca-criterion."""
    model = fit_sparse_pca(PITPROPS, 2, l1=0.3, gram=True, tol=1e-10)
    C, B = unit_model(PITPROPS, model)
    on = B != 0

    def value(free):
        entries = np.zeros_like(B)
        entries[on] = free
        A = procrustes(C @ entries)
        return sparse_pca_objective(C, A, entries, l1=0.3, ridge=0.01)

    end = minimize(value, B[on], method="Nelder-Mead", options={"maxiter": 3000}).fun
    assert end >= model.objective[-1] - 1e-7
    assert end == pytest.approx(model.objective[-1], abs=1e-6)


@sparing
@given(covariances(), st.sampled_from([{"l1": 0.3}, {"nonzeros": 2}]))
def test_gram_and_data_agree(case, how):
    """The fit needs the covariance matrix only: eq-spca-gram."""
    X, C = case
    first, second = fit_sparse_pca(X, 1, **how), fit_sparse_pca(C, 1, gram=True, **how)
    np.testing.assert_allclose(first.B, second.B, atol=1e-5)
    np.testing.assert_allclose(first.variances, second.variances, rtol=1e-4)


def test_wide_data_take_the_root():
    """With d ≥ 2n the same minimum is found without a d×d matrix: eq-spca-gram."""
    X = np.random.default_rng(0).standard_normal((20, 30)) * np.linspace(3, 1, 30)
    wide, unit = np.pad(X, ((0, 0), (0, 2071))), 2101 / 30  # the mean variance is diluted
    for how in ({"nonzeros": 6}, {"l1": 0.4}):
        scaled = {"l1": 0.4 * unit} if "l1" in how else how
        small = fit_sparse_pca(X, 2, ridge=0.1, **how)
        large = fit_sparse_pca(wide, 2, ridge=0.1 * unit, **scaled)
        assert not large.B[30:].any()
        np.testing.assert_allclose(large.B[:30], small.B, atol=1e-5)
        np.testing.assert_allclose(large.variances, small.variances, rtol=1e-5)
        np.testing.assert_allclose(large.recovered_ratio, small.recovered_ratio, rtol=1e-5)


def test_wide_data_meet_the_conditions():
    """For 2,100 features of 15 samples each column solves its elastic net: eq-spca-kkt."""
    X = np.random.default_rng(0).standard_normal((15, 2100)) * np.geomspace(3, 0.1, 2100)
    X -= X.mean(axis=0)
    model = fit_sparse_pca(X, 2, l1=8.0, ridge=0.5, tol=1e-9)
    X /= np.sqrt(np.sum(X**2) / 2100)  # C = XᵀX has mean variance one
    for a, b in zip(model.A.T, (model.B * model.lengths).T, strict=True):
        slope = 2 * (X.T @ (X @ (a - b)) - 0.5 * b)
        on = b != 0
        assert 0 < on.sum() < 2100
        np.testing.assert_allclose(slope[on], 8.0 * np.sign(b[on]), atol=1e-5)
        assert np.abs(slope[~on]).max() <= 8.0 + 1e-5


@sparing
@given(covariances(), seeds, st.sampled_from([{"l1": 0.2}, {"nonzeros": 2}, {}]))
def test_units_samples_signs_and_order_do_not_matter(case, seed, how):
    """10 X, ten copies, flipped or reordered features give the same model: penalties are
    in units of the mean variance."""
    X, _ = case
    rng = np.random.default_rng(seed)
    order, flips = rng.permutation(X.shape[1]), rng.choice([-1.0, 1.0], X.shape[1])
    model = fit_sparse_pca(X, 1, **how)
    for other in (10 * X, np.tile(X, (10, 1)), X + 7):
        np.testing.assert_allclose(fit_sparse_pca(other, 1, **how).B, model.B, atol=1e-4)
    turned = fit_sparse_pca((X * flips)[:, order], 1, **how)
    np.testing.assert_allclose(np.abs(turned.B), np.abs(model.B[order]), atol=1e-4)
    np.testing.assert_allclose(turned.variances, model.variances, rtol=1e-3)


@pytest.mark.parametrize("nonzeros", [1, 2, 3, 5, [6, 1, 4], [13, 2, 2]])
def test_counts_are_exact(nonzeros):
    """nonzeros is met exactly, for data and for ties: eq-spca-path."""
    assert np.all(fit_sparse_pca(WINE, 3, nonzeros=nonzeros).nonzeros == nonzeros)
    counts = np.minimum(nonzeros, 5)  # other blocks are exactly uncorrelated
    tied = np.kron(np.diag([3.0, 2.0, 1.0]), np.ones((5, 5))) + np.eye(15)
    assert np.all(
        fit_sparse_pca(tied, 3, nonzeros=np.broadcast_to(counts, 3), gram=True).nonzeros == counts
    )


def test_found_penalties_give_the_counts_again():
    """A fit by the penalties that the counts led to has the same supports: eq-spca-path."""
    by_count = fit_sparse_pca(PITPROPS, 6, nonzeros=COUNTS, gram=True)
    by_penalty = fit_sparse_pca(PITPROPS, 6, l1=by_count.l1, gram=True)
    np.testing.assert_array_equal(by_penalty.B != 0, by_count.B != 0)


def test_default_counts_are_effective_numbers():
    """Without counts or penalties each count is 1/Σv⁴ of the rotated directions of PCA:
    eq-spca-rotate."""
    model, V = fit_sparse_pca(WINE, 3), sparse_rotation(fit_pca(WINE, 3).V)
    assert sorted(model.nonzeros) == sorted(np.rint(1 / np.sum(V**4, axis=0)))
    even = np.kron(np.eye(2), np.ones((4, 1))) / 2
    np.testing.assert_array_equal(effective_nonzeros(even), [4, 4])


@pytest.mark.parametrize("shape", [(30, 5), (5, 30), (12, 12), (20, 700)])
def test_the_default_works_on_noise(shape):
    """On unseen data the default gives no zero direction."""
    X = np.random.default_rng(1).standard_normal(shape)
    model = fit_sparse_pca(X, 2)
    assert np.all(model.nonzeros >= 1)
    assert model.converged


# --- what must hold whatever the data ------------------------------------------------------------


def planted(n, k, size, extra, noise, spread=0.0, rng=0):
    """Make k factors of similar strength that move ``size`` features each, and noise."""
    rng = np.random.default_rng(rng)
    blocks = np.kron(np.eye(k), np.ones(size)) * (1 + spread * np.arange(k)[:, None])
    blocks = np.pad(blocks, ((0, 0), (0, extra)))
    X = rng.standard_normal((n, k)) @ blocks
    return X + noise * rng.standard_normal(X.shape), {
        tuple(range(j * size, (j + 1) * size)) for j in range(k)
    }


def supports(model):
    return {tuple(np.flatnonzero(b).tolist()) for b in model.B.T}


@pytest.mark.parametrize(
    "shape",
    [
        (500, 4, 20, 0, 0.3),  # n > d, no other features
        (200, 6, 5, 20, 0.5, 0.05),
        (60, 3, 20, 40, 0.5),
        (40, 4, 15, 40, 0.3, 0.1),  # n < d, strengths that differ a little
        (30, 3, 12, 90, 0.3),
        (200, 8, 6, 0, 0.3),
    ],
)
def test_planted_blocks_are_recovered(shape):
    """Factors of similar strength, which PCA mixes, come out one by one, whichever way one asks:
    eq-spca-rotate eq-spca-path eq-spca-limit."""
    k, size = shape[1], shape[2]
    for seed, how in enumerate([{}, {"ridge": np.inf, "refit": True}]):
        X, truth = planted(*shape, rng=seed)
        assert supports(fit_sparse_pca(X, k, nonzeros=size, **how)) == truth
        for how in ({}, {"l1": 0.5}):
            B = fit_sparse_pca(X, k, **how).B
            shares = [np.sum(B[list(T)] ** 2, axis=0) for T in truth]
            assert np.min(np.max(shares, axis=1)) > 0.9
            assert np.min(np.max(shares, axis=0)) > 0.9


def test_rotated_directions_are_a_good_start():
    """From the mixture that PCA makes of equal factors it takes some 70 rounds: eq-spca-rotate."""
    X, truth = planted(500, 4, 20, 0, 0.3)
    model = fit_sparse_pca(X, 4, l1=0.05)
    assert supports(model) == truth
    assert model.n_iter <= 10


def random_data(seed):
    """Draw a size, correlated data (every second time in mixed units), k and counts."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 12))
    n = int(rng.integers(4, 50))
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    X = X * 10.0 ** rng.uniform(-2, 2, d) if seed % 2 else X
    k = int(rng.integers(1, max(2, min(n - 1, d) // 2 + 1)))
    return X, k, rng.integers(1, d + 1, k)


def test_any_count_can_be_had_in_any_unit():
    """nonzeros never fails and is met; X, 3X and X/7 have the same supports and loadings:
    eq-spca-path."""
    for seed in range(8):
        X, k, counts = random_data(seed)
        model = fit_sparse_pca(X, k, nonzeros=counts)
        np.testing.assert_array_equal(model.nonzeros, counts)
        assert model.converged
        factor = (3, 1 / 7)[seed % 4 // 2]
        again = fit_sparse_pca(factor * X, k, nonzeros=counts)
        np.testing.assert_array_equal(again.B != 0, model.B != 0)
        np.testing.assert_allclose(again.B, model.B, atol=1e-5)
        np.testing.assert_allclose(again.variances, factor**2 * model.variances, rtol=1e-4)


@pytest.mark.parametrize("seed", [0, 9, 17, 20, 21, 25])
def test_single_loadings_are_not_chosen_by_rounding(seed):
    """On the way two components can have one and the same feature; what becomes of them does not
    hang on the last digit of X: eq-spca-procrustes."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(3, 13))
    X = rng.standard_normal((d + int(rng.integers(2, 30)), d)) @ rng.standard_normal((d, d))
    for k in {d // 2, d - 1}:
        model = fit_sparse_pca(X, k, nonzeros=1)
        for factor in (3, 7):
            again = fit_sparse_pca(factor * X, k, nonzeros=1)
            np.testing.assert_array_equal(again.B != 0, model.B != 0)


@pytest.mark.parametrize("seed", [43, 48, 52, 61, 83])
@pytest.mark.parametrize("ridge", [0.01, np.inf])
def test_recovered_is_what_the_decoder_recovers(seed, ridge):
    """recovered_ratio is that of reconstruct, at most 1, and nearly that of least squares, also
    for units from 1/100 to 100 and directions that hardly differ: eq-spca-decoder."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 30)), int(rng.integers(2, 10))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-2, 3, d)
    model = fit_sparse_pca(X, min(n - 1, d), nonzeros=min(3, d), ridge=ridge)
    X_c = X - X.mean(axis=0)
    lost = np.sum((X - model.reconstruct(X)) ** 2) / np.sum(X_c**2)
    assert model.recovered_ratio <= 1 + 1e-9
    assert model.recovered_ratio == pytest.approx(1 - lost, abs=1e-7)
    Q = np.linalg.svd(X_c @ model.B, full_matrices=False)
    kept = Q[0][:, Q[1] > 1e-9 * Q[1][0]]
    assert lost <= 1 - np.sum((kept.T @ X_c) ** 2) / np.sum(X_c**2) + 1e-4


@pytest.mark.parametrize("counts", [[1, 3], [2, 2, 3], [1, 1, 3], [3, 2, 1]])
def test_counts_are_met_where_features_are_used_up(counts):
    """A feature that the ones before explain wholly gets its loading all the same:
    eq-spca-refit."""
    X = np.random.default_rng(5).standard_normal((30, 3)) * [3, 2, 1]
    for refit in (False, True):
        model = fit_sparse_pca(X, len(counts), nonzeros=counts, refit=refit)
        np.testing.assert_array_equal(model.nonzeros, counts)
        assert model.variances.min() > 0


@pytest.mark.parametrize("seed", [15, 39])
def test_every_count_of_generic_data(seed):
    """Five components with one or two loadings each, whatever the unit: eq-spca-path."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((100, 10)) @ rng.standard_normal((10, 10))
    for m in (1, 2):
        model, again = (fit_sparse_pca(c * X, 5, nonzeros=m) for c in (1, 3))
        np.testing.assert_array_equal(model.nonzeros, m)
        np.testing.assert_array_equal(again.B != 0, model.B != 0)
        assert model.variances.min() > 0


def test_ties_go_to_the_first():
    """Where features are exchangeable, rounding decides nothing: eq-spca-threshold
    eq-spca-truncate."""
    alike = 0.5 * np.ones((6, 6)) + 0.5 * np.eye(6)
    for C in (alike, 3 * alike, alike / 7):
        assert list(np.flatnonzero(truncated_power(C, 2).direction)) == [0, 1]
        assert supports(fit_sparse_pca(C, 1, nonzeros=3, gram=True)) == {(0, 1, 2)}
    nudge = 1e-12 * np.random.default_rng(0).standard_normal((6, 1))
    assert list(np.flatnonzero(simple_threshold(np.ones((6, 1)) + nudge, 2))) == [0, 1]


def test_long_counts_need_no_path(monkeypatch):
    """Beyond the length of a path the supports come from truncated power: eq-spca-truncate."""
    X, truth = planted(60, 3, 20, 40, 0.5)
    monkeypatch.setattr("kpca_edu._engine.supports.LONG", 5)
    model = fit_sparse_pca(X, 3, nonzeros=20)
    assert supports(model) == truth
    assert model.refitted


def test_a_fixed_point_is_one():
    """converged says that A and B are each other's best partners: eq-spca-procrustes
    eq-spca-kkt."""
    for seed in range(0, 8, 2):
        X, k, counts = random_data(seed)
        for how in ({"l1": 0.05}, {"nonzeros": counts}):
            model = fit_sparse_pca(X, k, tol=1e-7, **how)
            C, B = unit_model(np.cov(X.T, ddof=0), model)
            assert model.converged
            np.testing.assert_allclose(procrustes(C @ B), model.A, atol=1e-6)
            if not model.refitted:
                for a, b, l1 in zip(model.A.T, B.T, model.l1, strict=True):
                    assert kkt_gap(C, a, b, l1, 0.01) <= 1e-6


# --- rotation and refit --------------------------------------------------------------------------


@often
@given(st.integers(2, 9), seeds, st.data())
def test_rotation(d, seed, draw):
    """It stays in the span, stays orthonormal, and no turn of a pair helps: eq-spca-rotate."""
    V = orthonormal(d, draw.draw(st.integers(1, d)), seed)
    W = sparse_rotation(V)
    assert_orthonormal(W, 100 * d)
    np.testing.assert_allclose(W @ W.T, V @ V.T, atol=1e-12)
    assert np.sum(W**4) >= np.sum(V**4) - 1e-12
    angles = np.linspace(0, np.pi / 2, 50)
    for i, j in combinations(range(W.shape[1]), 2):
        x, y = W[:, [i]], W[:, [j]]
        turned = (x * np.cos(angles) + y * np.sin(angles)) ** 4
        turned += (y * np.cos(angles) - x * np.sin(angles)) ** 4
        assert turned.sum(axis=0).max() <= np.sum(x**4 + y**4) + 1e-6


def test_rotation_leaves_the_worst_point():
    """(1, 1) and (1, −1) are a stationary point of Σv⁴, the worst one: eq-spca-rotate."""
    V = np.kron([[1.0, 1.0], [1.0, -1.0]], np.ones((3, 1))) / 6**0.5
    np.testing.assert_allclose(np.sort(np.abs(sparse_rotation(V)).max(axis=1)), 3**-0.5)
    assert np.count_nonzero(np.abs(sparse_rotation(V)) > 1e-9) == 6


@often
@given(covariances(), seeds)
def test_without_l1_any_rotation_is_as_good(case, seed):
    """(V_k R, BR) has the same criterion for every orthogonal R: eq-spca-criterion
    eq-spca-rotate."""
    _, C = case
    lam, V = np.linalg.eigh(C)
    R = orthonormal(2, 2, seed)
    V, lam = V[:, -2:], lam[-2:]
    B = V * lam / (lam + 0.3)
    first, turned = (sparse_pca_objective(C, V @ Q, B @ Q, ridge=0.3) for Q in (np.eye(2), R))
    assert turned == pytest.approx(first, rel=1e-9, abs=1e-9 * np.trace(C))


def test_a_tiny_penalty_turns():
    """As l1 tends to 0 the moduli are the least that a rotation of PCA has, and the space is
    PCA's: eq-spca-criterion."""
    pca = fit_pca(WINE, 2)
    mean = np.var(WINE, axis=0).mean()
    B = pca.V * pca.variances / (pca.variances + 0.01 * mean)
    angles = np.linspace(0, np.pi / 2, 2001)
    turns = [np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) for t in angles]
    least = min(np.abs(B @ turn).sum() for turn in turns)
    gaps = []
    for l1 in (1e-2, 1e-4):
        model = fit_sparse_pca(WINE, 2, l1=l1, tol=1e-9)
        gaps.append(abs(np.abs(model.B * model.lengths).sum() - least))
        cosines = np.linalg.svd(np.linalg.qr(model.B)[0].T @ pca.V)[1]
        assert cosines.min() > 1 - l1
    assert gaps[1] < 0.01
    assert gaps[1] < gaps[0] / 10


@sparing
@given(covariances(), seeds)
def test_refit_is_pca_on_the_support(case, seed):
    """Each direction has the largest adjusted variance on its support, given those before:
    eq-spca-refit eq-spca-schur eq-spca-adjusted."""
    _, C = case
    rng = np.random.default_rng(seed)
    B = simple_threshold(rng.standard_normal((len(C), 2)), 2)
    refitted = refit_loadings(C, B)
    assert np.all((refitted != 0) <= (B != 0))
    np.testing.assert_allclose(np.linalg.norm(refitted, axis=0), 1)
    found, rest = adjusted_variances(C, refitted, gram=True), C
    for b, value in zip(refitted.T, found, strict=True):
        T = np.flatnonzero(b)
        top = np.linalg.eigvalsh(rest[np.ix_(T, T)])[-1]
        assert value == pytest.approx(top, rel=1e-6, abs=1e-9 * np.trace(C))
        rest = deflate_covariance(rest, b, "schur")
    for _ in range(20):
        other = np.where(B[:, :1] != 0, rng.standard_normal((len(C), 1)), 0)
        assert adjusted_variances(C, other, gram=True)[0] <= found[0] * (1 + 1e-9)


def test_refitted_pit_props_come_near_the_optimum():
    """ℓ₁ shortens and bends; refitted on the same support over 95 % are reached: eq-spca-refit
    eq-spca-subset."""
    for l1 in (1.5, 0.7, 0.4, 0.25, 0.165, 0.12):
        shrunk, refitted = (
            fit_sparse_pca(PITPROPS, 1, l1=l1, gram=True, refit=refit) for refit in (False, True)
        )
        T = np.flatnonzero(shrunk.B[:, 0])
        best = best_subset(PITPROPS, T.size).value
        assert shrunk.variances[0] < 0.95 * best < refitted.variances[0] <= best * (1 + 1e-9)
        top = np.linalg.eigvalsh(PITPROPS[np.ix_(T, T)])[-1]
        assert refitted.variances[0] == pytest.approx(top)
        assert (refitted.refitted, shrunk.refitted) == (True, False)
        np.testing.assert_array_equal(refitted.objective, shrunk.objective)
    for m in range(1, 14):
        model = fit_sparse_pca(PITPROPS, 1, nonzeros=m, gram=True, refit=True)
        best = best_subset(PITPROPS, m).value
        assert 0.99 * best < model.variances[0] <= best * (1 + 1e-9)


def test_a_redundant_support_stays_as_it_is():
    """A second direction on a feature that is used up can't be refitted: eq-spca-refit."""
    B = np.eye(13)[:, [0, 0]]
    np.testing.assert_array_equal(refit_loadings(PITPROPS, B), B)


@sparing
@given(seeds, st.integers(1, 4))
def test_where_no_variance_is_left_a_support_stays_as_it_is(seed, features):
    """The first direction explains a matrix of rank one, to the last digit: eq-spca-refit."""
    a = 2.0 ** np.random.default_rng(seed).integers(-3, 4, features)
    C = np.zeros((features + 1, features + 1))
    C[:-1, :-1] = np.outer(a, a)  # powers of two: no rounding leaves a rest
    B = np.eye(features + 1)[:, [0, features]]
    np.testing.assert_array_equal(refit_loadings(C, B), B)


def test_copies_of_features_without_a_ridge():
    """There is no path through collinear features: the supports come in turn, as many as asked."""
    X = np.random.default_rng(0).standard_normal((20, 4))
    for k, m in ((1, 3), (2, 2), (2, 5)):
        model = fit_sparse_pca(np.hstack([X, X]), k, nonzeros=m, ridge=0.0)
        assert np.all(np.count_nonzero(model.B, axis=0) == m)
        assert np.all(model.variances > 0)


def test_directions_of_one_variance_go_by_the_place_of_their_loadings():
    """Whatever order LAPACK has them in, the rotated start does not depend on it."""
    starts = module._problem(np.eye(5), 3, True, None, None)[2]
    places = np.abs(starts[1]).argmax(axis=0)
    assert np.all(np.diff(places) > 0)


def test_an_all_zero_component_is_refused():
    """The sentence names the largest useful penalty, and it is the border: eq-spca-kkt."""
    v, lam = leading(PITPROPS)[:, 0], np.linalg.eigvalsh(PITPROPS)[-1]
    largest = 2 * lam * np.abs(v).max()
    with pytest.raises(ValueError, match=f"just below {largest:.4g}"):
        fit_sparse_pca(PITPROPS, 1, l1=largest * 1.001, gram=True)
    assert fit_sparse_pca(PITPROPS, 1, l1=largest * 0.98, gram=True).nonzeros[0] >= 1


# --- cardinality ---------------------------------------------------------------------------------


@sparing
@given(covariances(max_d=7))
def test_best_subset_equals_brute_force(case):
    """Branch and bound finds the best of all subsets: eq-spca-subset eq-spca-problem."""
    _, C = case
    for k in range(1, len(C) + 1):
        values = {
            T: np.linalg.eigvalsh(C[np.ix_(T, T)])[-1] for T in combinations(range(len(C)), k)
        }
        found = best_subset(C, k)
        assert found.value == pytest.approx(max(values.values()), rel=1e-10)
        assert values[tuple(found.support)] == pytest.approx(found.value, rel=1e-10)
        x = found.direction
        assert np.linalg.norm(x) == pytest.approx(1)
        assert np.count_nonzero(x) <= k
        assert x @ C @ x == pytest.approx(found.value, rel=1e-10)


@often
@given(covariances(), st.data())
def test_the_bounds_bound(case, draw):
    """Supersets and row sums bound the leading eigenvalue: eq-spca-bound eq-spca-rows."""
    _, C = case
    T = draw.draw(st.lists(st.integers(0, len(C) - 1), min_size=1, unique=True))
    value = np.linalg.eigvalsh(C[np.ix_(T, T)])[-1]
    assert value <= np.linalg.eigvalsh(C)[-1] + 1e-10
    rows = np.sort(np.abs(C))[:, ::-1][:, : len(T)].sum(axis=1)
    assert value <= rows.max() + 1e-10


@often
@given(covariances(), st.floats(0, 1.5))
def test_the_bound_from_above(case, share):
    """Soft-thresholding C bounds every optimum, by duality: eq-spca-lifted."""
    _, C = case
    rho = share * np.abs(C).max()
    top = np.linalg.eigvalsh(soft_threshold(C, rho))[-1]
    for m in range(1, len(C) + 1):
        assert best_subset(C, m).value <= (top + m * rho) * (1 + 1e-10)


def test_the_search_opens_few_nodes():
    """On the pit props the bounds leave under 50 of up to 1,716 subsets: eq-spca-bound."""
    assert max(best_subset(PITPROPS, k).n_nodes for k in range(1, 14)) < 50


@sparing
@given(covariances(), st.data())
def test_truncated_power_climbs(case, draw):
    """The variance never falls and never beats the optimum: eq-spca-truncate eq-spca-subset."""
    _, C = case
    k = draw.draw(st.integers(1, len(C)))
    run = truncated_power(C, k)
    assert np.all(np.diff(run.history) >= 0)
    assert np.count_nonzero(run.direction) <= k
    assert run.value == pytest.approx(run.direction @ C @ run.direction)
    assert run.value <= best_subset(C, k).value * (1 + 1e-9)
    full = truncated_power(C, len(C), start=np.eye(len(C))[0] + 0.1, max_iter=20_000)
    assert full.value == pytest.approx(np.linalg.eigvalsh(C)[-1], rel=1e-3)


@sparing
@given(covariances(), st.sampled_from([0.0, 0.3, 0.8]))
def test_generalized_power_climbs(case, penalty):
    """Its objective never falls, and at the end both steps stand still: eq-spca-gpower."""
    X, _ = case
    run = generalized_power(X, penalty, max_iter=20_000)
    assert np.all(np.diff(run.history) >= 0)
    assert run.direction.any()
    t = penalty * np.linalg.norm(X, axis=0).max()
    z = X @ run.direction / np.linalg.norm(X @ run.direction)
    b = soft_threshold(X.T @ z, t)
    if run.converged:
        np.testing.assert_allclose(b / np.linalg.norm(b), run.direction, atol=1e-6)
    assert b @ b == pytest.approx(run.history[-1], rel=1e-6)


SEARCHES = {
    "no penalty": lambda **how: generalized_power(WINE, 0.0, **how),
    "a penalty": lambda **how: generalized_power(WINE, 0.3, **how),
    "a large one": lambda **how: generalized_power(WINE, 0.8, **how),
    "truncated": lambda **how: truncated_power(PITPROPS, 5, start=np.eye(13)[2], **how),
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_a_search_stops_where_it_stands_still(search):
    """Long before it is out of rounds, and one more changes nothing: eq-spca-gpower."""
    run = search()
    assert run.converged
    assert run.n_iter < 500
    again = search(tol=0.0, max_iter=run.n_iter + 1)
    np.testing.assert_allclose(again.direction, run.direction, atol=1e-8)


def test_thresholding_keeps_the_largest():
    """The largest moduli stay, scaled to length one: eq-spca-threshold."""
    V = leading(PITPROPS, 3)
    cut = simple_threshold(V, [7, 4, 1])
    np.testing.assert_array_equal(np.count_nonzero(cut, axis=0), [7, 4, 1])
    np.testing.assert_allclose(np.linalg.norm(cut, axis=0), 1)
    for v, b in zip(V.T, cut.T, strict=True):
        assert np.abs(v[b == 0]).max() <= np.abs(v[b != 0]).min()
        np.testing.assert_allclose(b[b != 0] * np.linalg.norm(v[b != 0]), v[b != 0])


# --- several components --------------------------------------------------------------------------


@often
@given(covariances(), seeds)
def test_deflation(case, seed):
    """Projection and Schur keep C ⪰ 0 and Cb = 0: eq-spca-deflate eq-spca-schur."""
    _, C = case
    b = np.random.default_rng(seed).standard_normal(len(C))
    for method in ("projection", "schur"):
        rest = deflate_covariance(C, b, method)
        assert np.linalg.eigvalsh(rest)[0] >= -1e-9 * np.trace(C)
        np.testing.assert_allclose(rest @ b, 0, atol=1e-8 * np.trace(C) * np.linalg.norm(b))


def test_projection_lets_variance_come_back():
    """After six steps Schur leaves nothing along all directions, projection some of the first;
    projecting off the orthogonalised directions leaves nothing: eq-spca-deflate eq-spca-schur."""
    for method in ("projection", "orthogonalised", "schur"):
        rest, found, basis = PITPROPS, [], np.zeros((13, 0))
        for m in COUNTS:
            b = found.append(best_subset(rest, m).direction) or found[-1]
            if method == "orthogonalised":
                b = b - basis @ (basis.T @ b)
                basis = np.column_stack([basis, b / np.linalg.norm(b)])
            rest = deflate_covariance(rest, b, "schur" if method == "schur" else "projection")
        back = np.abs([b @ rest @ b for b in found])
        if method == "projection":
            assert back[0] == pytest.approx(0.195, abs=5e-4)
        else:
            assert back.max() < 1e-12


def test_hotelling_needs_an_eigenvector():
    """For v all three agree; for a sparse direction Hotelling's turns negative:
    eq-spca-hotelling."""
    v = leading(PITPROPS)[:, 0]
    first = deflate_covariance(PITPROPS, v, "hotelling")
    for method in ("projection", "schur"):
        np.testing.assert_allclose(deflate_covariance(PITPROPS, v, method), first, atol=1e-12)
    sparse = best_subset(PITPROPS, 2).direction
    rest = deflate_covariance(PITPROPS, sparse, "hotelling")
    assert np.linalg.eigvalsh(rest)[0] < -0.5
    assert np.linalg.norm(rest @ sparse) > 0.5


@often
@given(covariances(), seeds)
def test_adjusted_variances_are_residual_variances(case, seed):
    """Each is what a regression on the scores before leaves over: eq-spca-adjusted."""
    X, C = case
    B = np.random.default_rng(seed).standard_normal((len(C), 2))
    B /= np.linalg.norm(B, axis=0)
    Z = X @ B
    fitted = np.linalg.lstsq(Z[:, :1], Z[:, 1], rcond=None)[0]
    left = np.mean((Z[:, 1] - Z[:, :1] @ fitted) ** 2)
    expected = [np.mean(Z[:, 0] ** 2), left]
    np.testing.assert_allclose(adjusted_variances(X + 3, 5 * B), expected, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(
        adjusted_variances(C, B, gram=True), expected, rtol=1e-6, atol=1e-8 * np.trace(C)
    )


def test_adjusted_variances_of_repeated_directions():
    """A direction that comes twice explains nothing the second time: eq-spca-adjusted."""
    B = np.eye(13)[:, [0, 0, 1]]
    first, again, _ = adjusted_variances(PITPROPS, B, gram=True)
    assert (first, again) == (pytest.approx(1), pytest.approx(0, abs=1e-12))
    assert adjusted_variances(WINE, B)[1] == pytest.approx(0, abs=1e-12)


@sparing
@given(covariances(), st.sampled_from([{"nonzeros": 2}, {"l1": 1e-3}]))
def test_the_decoder_is_least_squares(case, how):
    """No linear decoder of the scores loses less, and recovered_ratio says it: eq-spca-decoder."""
    X, C = case
    model = fit_sparse_pca(X, 2, **how)
    Z = model.encode(X)
    best = Z @ np.linalg.lstsq(Z, X, rcond=None)[0]
    np.testing.assert_allclose(model.reconstruct(X), best, atol=1e-6 * np.abs(X).max())
    lost = np.mean(np.sum((X - best) ** 2, axis=1)) / np.trace(C)
    assert model.recovered_ratio == pytest.approx(1 - lost, abs=1e-8)


# --- published tables ----------------------------------------------------------------------------


def test_pitprops_is_the_published_table():
    """Jeffers' correlations: symmetric, ones on the diagonal, 13 names, known eigenvalues."""
    assert PITPROPS.shape == (13, 13)
    np.testing.assert_array_equal(PITPROPS, PITPROPS.T)
    np.testing.assert_array_equal(np.diag(PITPROPS), 1)
    assert (NAMES[0], NAMES[-1]) == ("topdiam", "diaknot")
    assert PITPROPS.sum() == pytest.approx(36.712, abs=1e-9)
    shares = 100 * np.linalg.eigvalsh(PITPROPS)[::-1][:6] / 13
    np.testing.assert_allclose(shares, [32.4, 18.3, 14.4, 8.5, 7.0, 6.3], atol=0.06)


@pytest.mark.parametrize("ridge", [1e-6, 0.01])
def test_published_penalties(ridge):
    """Zou, Hastie and Tibshirani's table 3 from their penalties: eq-spca-criterion."""
    model = fit_sparse_pca(PITPROPS, 6, l1=PENALTIES, gram=True, ridge=ridge)
    np.testing.assert_array_equal(model.nonzeros, COUNTS)
    np.testing.assert_allclose(100 * model.explained_ratio, SHARES, atol=0.1)
    expected = np.array([PUBLISHED[0].get(name, 0.0) for name in NAMES])
    first = model.B[:, 0] * np.sign(model.B[0, 0]) * -1
    np.testing.assert_allclose(first, expected, atol=0.004)


def test_published_counts():
    """Their counts give their supports, and their percentages to 0.11: eq-spca-path."""
    by_count = fit_sparse_pca(PITPROPS, 6, nonzeros=COUNTS, gram=True)
    by_penalty = fit_sparse_pca(PITPROPS, 6, l1=PENALTIES, gram=True)
    np.testing.assert_array_equal(by_count.nonzeros, COUNTS)
    np.testing.assert_array_equal(by_count.B != 0, by_penalty.B != 0)
    np.testing.assert_allclose(100 * by_count.explained_ratio, SHARES, atol=0.11)
    np.testing.assert_allclose(by_count.B[:, 0], by_penalty.B[:, 0], atol=0.01)


def test_published_optima():
    """The exact ℓ₀ optima of the first component for k = 1 … 13: eq-spca-subset."""
    optima = [1, 1.954, 2.47533, 2.93748, 3.40615, 3.77096, 3.99619, 4.06861, 4.13865, 4.17264]
    optima += [4.20828, 4.21825, 4.21863]
    found = [best_subset(PITPROPS, k).value for k in range(1, 14)]
    np.testing.assert_allclose(found, optima, atol=1e-5)


def hidden_factors(n=None, rng=0):
    """Zou's example: X1–X4 from V1, X5–X8 from V2, X9 and X10 from −0.3 V1 + 0.925 V2 + ε."""
    if n is None:
        L = np.zeros((10, 3))
        L[:4, 0], L[4:8, 1], L[8:] = 1, 1, [-0.3, 0.925, 1]
        return L * [290, 300, 1] @ L.T + np.eye(10)
    rng = np.random.default_rng(rng)
    V1, V2 = rng.normal(0, 290**0.5, n), rng.normal(0, 300**0.5, n)
    V3 = -0.3 * V1 + 0.925 * V2 + rng.standard_normal(n)
    return np.column_stack([V1] * 4 + [V2] * 4 + [V3] * 2) + rng.standard_normal((n, 10))


def test_hidden_factors_in_the_population():
    """Table 2 of Zou and others: SPCA finds the two factors, thresholding does not:
    eq-spca-limit eq-spca-threshold."""
    C = hidden_factors()
    V, lam = leading(C, 3), np.linalg.eigvalsh(C)[::-1]
    np.testing.assert_allclose(100 * lam[:2] / lam.sum(), [60.0, 39.6], atol=0.06)
    for ridge in (0.01, np.inf):
        model = fit_sparse_pca(C, 2, nonzeros=4, gram=True, ridge=ridge)
        np.testing.assert_allclose(model.B[4:8, 0], 0.5, atol=1e-6)
        np.testing.assert_allclose(model.B[:4, 1], 0.5, atol=1e-6)
        np.testing.assert_allclose(100 * model.explained_ratio, [40.9, 39.5], atol=0.06)
    cut = simple_threshold(V[:, :2], 4)
    assert set(np.flatnonzero(cut[:, 0])) >= {8, 9}
    shares = 100 * adjusted_variances(C, cut, gram=True) / np.trace(C)
    np.testing.assert_allclose(shares, [38.8, 38.6], atol=0.06)


@pytest.mark.parametrize("seed", range(5))
def test_hidden_factors_in_samples(seed):
    """From 500 samples the soft-threshold form finds the same supports: eq-spca-limit."""
    model = fit_sparse_pca(hidden_factors(500, seed), 2, nonzeros=4, ridge=np.inf)
    supports = {tuple(np.flatnonzero(b)) for b in model.B.T}
    assert supports == {(0, 1, 2, 3), (4, 5, 6, 7)}


def test_three_sparse_factors_in_noise():
    """With d ≫ n the supports of three factors are recovered: eq-spca-path."""
    rng = np.random.default_rng(0)
    truth = np.kron(np.eye(3), np.ones((20, 1)))
    X = rng.standard_normal((200, 400))
    X[:, :60] += rng.standard_normal((200, 3)) * [2.0, 1.7, 1.4] @ truth.T
    model = fit_sparse_pca(X, 3, nonzeros=20)
    np.testing.assert_array_equal(model.B[:60] != 0, truth != 0)
    assert not model.B[60:].any()


# --- hygiene -------------------------------------------------------------------------------------


def test_encode_decode():
    """Scores use the old mean; the codes decode near the samples: eq-spca-decoder."""
    X = load_digits().data[:300]
    model = fit_sparse_pca(X, 5, nonzeros=20)
    np.testing.assert_allclose(model.encode(X), (X - X.mean(axis=0)) @ model.B)
    lost = np.mean(np.sum((X - model.reconstruct(X)) ** 2, axis=1)) / X.var(axis=0).sum()
    assert model.recovered_ratio == pytest.approx(1 - lost, rel=1e-8)
    assert np.sum(model.explained_ratio) <= 1


def test_signs_and_lengths():
    """Columns have length one and a positive largest entry; A is orthonormal: eq-spca-criterion."""
    model = fit_sparse_pca(WINE, 4, nonzeros=5)
    np.testing.assert_allclose(np.linalg.norm(model.B, axis=0), 1)
    assert np.all(model.B[np.argmax(np.abs(model.B), axis=0), np.arange(4)] > 0)
    assert_orthonormal(model.A, 50)
    assert np.all(np.sum(model.A * model.B, axis=0) > 0)


def test_fits_repeat_exactly():
    """Two fits are equal to the last bit."""
    first, second = (fit_sparse_pca(WINE, 3, nonzeros=4) for _ in range(2))
    np.testing.assert_array_equal(first.B, second.B)


def test_float32():
    """Single precision comes back, and is near the double result."""
    model = fit_sparse_pca(WINE.astype(np.float32), 2, l1=0.5)
    assert model.B.dtype == model.A.dtype == model.mean.dtype == np.float32
    np.testing.assert_allclose(model.B, fit_sparse_pca(WINE, 2, l1=0.5).B, atol=1e-3)


def test_inputs_are_unchanged():
    """No function writes to what it is given."""
    X, C = WINE.copy(), PITPROPS.copy()
    v, B = leading(C)[:, 0], leading(C, 3)
    for array in (X, C, v, B):
        array.flags.writeable = False
    fit_sparse_pca(X, 3, nonzeros=4, refit=True)
    fit_sparse_pca(C, 3, l1=0.2, gram=True).encode(X)
    for f in (sparse_direction, coordinate_descent, ridge_direction):
        f(C, v, 0.3)
    elastic_net_path(C, v)
    best_subset(C, 3)
    truncated_power(C, 3, start=v)
    deflate_covariance(C, v)
    adjusted_variances(X, B)
    for f in (sparse_rotation, effective_nonzeros, procrustes):
        f(B)
    simple_threshold(B, 2)
    refit_loadings(C, simple_threshold(B, 2))
    generalized_power(X, 0.2)


BARS = {
    "sparse PCA": lambda: fit_sparse_pca(WINE, 2, l1=0.3, progress=True),
    "truncated power": lambda: fit_sparse_pca(WINE, 2, nonzeros=4, progress=True),
    "paths": lambda: fit_sparse_pca(WINE, 2, nonzeros=4, progress=True),
    "nodes": lambda: best_subset(PITPROPS, 4, progress=True),
    "direction": lambda: truncated_power(PITPROPS, 4, progress=True),
    "path": lambda: elastic_net_path(PITPROPS, np.eye(13)[0], progress=True),
    "loadings": lambda: coordinate_descent(PITPROPS, np.eye(13)[0], 0.3, progress=True),
}


@pytest.mark.parametrize(("title", "call"), BARS.items(), ids=BARS)
def test_progress(title, call, capsys):
    """A bar is shown on request only, and goes to stderr."""
    fit_sparse_pca(WINE, 2, nonzeros=4)
    best_subset(PITPROPS, 4)
    assert capsys.readouterr() == ("", "")
    call()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert title in captured.err
    assert captured.err.endswith("\r")  # and is wiped away


def test_one_round_may_be_asked_for():
    model = fit_sparse_pca(WINE, 2, l1=0.3, tol=0.0, max_iter=1)
    assert model.n_iter == 1
    run = truncated_power(PITPROPS, 5, start=np.eye(13)[2], tol=0.0, max_iter=1)
    assert run.value == pytest.approx(run.direction @ PITPROPS @ run.direction)


UNFINISHED = {
    "fit": lambda **how: fit_sparse_pca(PITPROPS, 6, l1=PENALTIES, gram=True, **how),
    "truncated": lambda **how: truncated_power(PITPROPS, 5, start=np.eye(13)[2], **how),
    "generalized": lambda **how: generalized_power(WINE, 0.3, **how),
    "coordinates": lambda **how: coordinate_descent(PITPROPS, leading(PITPROPS)[:, 0], 0.1, **how),
}


@pytest.mark.parametrize("call", UNFINISHED.values(), ids=UNFINISHED)
def test_an_unfinished_run_says_so(call):
    """Out of rounds: a warning at the user's line, converged=False, the history so far; with
    tol=0 all rounds were asked for, and none is missing."""
    with pytest.warns(ConvergenceWarning, match="after max_iter=2 rounds") as caught:
        run = call(max_iter=2)
    assert caught[0].filename == __file__
    if not isinstance(run, np.ndarray):
        assert not run.converged
        assert run.n_iter == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(max_iter=2, tol=0)


@pytest.mark.parametrize("scale", [1e-150, 1e-80, 1e-14, 1e9, 1e80, 1e153])
def test_huge_and_tiny_data(scale):
    """Directions are those of the same data near one; variances are in the unit of the data."""
    power, model = generalized_power(WINE, 0.3), fit_sparse_pca(WINE, 2, nonzeros=4)
    other = fit_sparse_pca(scale * WINE, 2, nonzeros=4)
    np.testing.assert_allclose(other.B, model.B, atol=1e-6)
    np.testing.assert_allclose(other.variances, scale**2 * model.variances, rtol=1e-6)
    if scale > 1e152:
        return  # the sums of squares that generalized_power reports are beyond a double
    again = generalized_power(scale * WINE, 0.3)
    np.testing.assert_allclose(again.direction, power.direction, atol=1e-6)
    assert again.value == pytest.approx(scale**2 * power.value, rel=1e-6)
    if 1e-30 < scale < 1e30:
        single = generalized_power((scale * WINE).astype(np.float32), 0.3)
        np.testing.assert_allclose(single.direction, power.direction, atol=1e-4)


MODELS = {
    "SparsePCA": lambda: fit_sparse_pca(WINE, 2, nonzeros=4),
    "Subset": lambda: best_subset(PITPROPS, 3),
    "SparseRun": lambda: truncated_power(PITPROPS, 3),
}


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_models_cannot_change(make):
    """Fields and arrays are read-only, also after pickle and copy; the repr fits a line."""
    model = make()
    assert len(repr(model)) < 110
    assert repr(model).startswith(type(model).__name__)
    for twin in (model, pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        arrays = {name: x for name, x in vars(twin).items() if isinstance(x, np.ndarray)}
        assert arrays
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, getattr(model, name))
            assert not array.flags.writeable
            with pytest.raises(AttributeError):
                setattr(twin, name, None)


def test_models_own_their_arrays():
    """What happens to the caller's arrays afterwards changes no model."""
    X, C = WINE.copy(), PITPROPS.copy()
    model, gram = fit_sparse_pca(X, 2, l1=0), fit_sparse_pca(C, 2, l1=0.2, gram=True)
    codes, B = model.encode(WINE), gram.B.copy()
    X *= 2
    C *= 2
    np.testing.assert_array_equal(model.encode(WINE), codes)
    np.testing.assert_array_equal(gram.B, B)


def test_names_of_columns():
    """A model of a DataFrame knows its columns, and refuses them in another order."""
    table = pd.DataFrame(WINE, columns=load_wine().feature_names)
    model = fit_sparse_pca(table, 2, nonzeros=4)
    assert model.columns == tuple(table.columns)
    assert model.k == 2
    np.testing.assert_allclose(model.encode(table), model.encode(WINE))
    with pytest.raises(ValueError, match="same order"):
        model.encode(table[table.columns[::-1]])
    with pytest.raises(ValueError, match="'kind'"):
        fit_sparse_pca(table.assign(kind="wine"), 2)


def test_a_forgotten_gram_is_asked_for():
    """A symmetric matrix with a positive diagonal, handed over as data, gets a warning."""
    for call in (
        lambda: fit_sparse_pca(PITPROPS, 2, nonzeros=4),
        lambda: adjusted_variances(PITPROPS, np.eye(13)[:, :2]),
        lambda: generalized_power(PITPROPS, 0.2),
    ):
        with pytest.warns(UserWarning, match="gram=True") as caught:
            call()
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_sparse_pca(WINE[:13], 2, nonzeros=4)


def test_large_matrices_are_checked_without_all_eigenvalues():
    """Beyond 500 features Lanczos finds the directions and sees a negative eigenvalue."""
    X, truth = planted(300, 3, 20, 460, 0.5)
    C = np.cov(X.T, ddof=0)
    assert supports(fit_sparse_pca(C, 3, nonzeros=20, gram=True)) == truth
    assert tuple(np.flatnonzero(truncated_power(C, 20).direction)) in truth
    C -= 0.2 * np.eye(len(C))
    for call in (lambda: fit_sparse_pca(C, 3, gram=True), lambda: truncated_power(C, 20)):
        with pytest.raises(ValueError, match="negative eigenvalue"):
            call()


INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])
BAD = {
    "1-D": (lambda: fit_sparse_pca([1.0, 2.0], 1), "1-D"),
    "NaN": (lambda: fit_sparse_pca([[np.nan, 1.0], [1.0, 2.0]], 1), "NaN"),
    "complex": (lambda: fit_sparse_pca(1j * WINE, 1), "complex"),
    "text": (lambda: fit_sparse_pca([["a", "b"]], 1), "not numbers"),
    "ragged": (lambda: fit_sparse_pca([[1.0], [1.0, 2.0]], 1), "different lengths"),
    "empty": (lambda: fit_sparse_pca(np.zeros((0, 3)), 1), "empty"),
    "k": (lambda: fit_sparse_pca(WINE, 14), "k=14 components asked of a 178×13"),
    "k = 0": (lambda: fit_sparse_pca(WINE, 0), "at least 1"),
    "both": (lambda: fit_sparse_pca(WINE, 2, nonzeros=3, l1=0.1), "both"),
    "counts": (lambda: fit_sparse_pca(WINE, 2, nonzeros=[3, 14]), "from 1 to 13"),
    "count 0": (lambda: fit_sparse_pca(WINE, 2, nonzeros=0), "from 1 to 13"),
    "count True": (lambda: fit_sparse_pca(WINE, 2, nonzeros=True), "nonzeros=True: a number"),
    "penalty True": (lambda: fit_sparse_pca(WINE, 2, l1=True), "l1=True: a number"),
    "half a count": (lambda: fit_sparse_pca(WINE, 2, nonzeros=2.5), "whole number"),
    "three counts": (lambda: fit_sparse_pca(WINE, 2, nonzeros=[1, 2, 3]), "one for each of 2"),
    "negative l1": (lambda: fit_sparse_pca(WINE, 2, l1=-0.1), "from 0 up"),
    "NaN l1": (lambda: fit_sparse_pca(WINE, 2, l1=np.nan), "from 0 up"),
    "three l1": (lambda: fit_sparse_pca(WINE, 2, l1=[1, 2, 3]), "one for each of 2"),
    "ridge": (lambda: fit_sparse_pca(WINE, 2, l1=0.1, ridge=-1), "ridge=-1"),
    "tol": (lambda: fit_sparse_pca(WINE, 2, tol=-1), "tol"),
    "max_iter": (lambda: fit_sparse_pca(WINE, 2, max_iter=0), "max_iter"),
    "all zero": (lambda: fit_sparse_pca(WINE, 2, l1=50), "largest useful penalty"),
    "constant": (lambda: fit_sparse_pca(np.ones((5, 3)), 1), "positive variance"),
    "rank": (lambda: fit_sparse_pca(np.outer(range(5), [1, 2, 3]), 2), "only 1 directions"),
    "not square": (lambda: fit_sparse_pca(WINE, 2, gram=True), "symmetric matrix is square"),
    "not symmetric": (lambda: best_subset([[1.0, 2.0], [0.0, 1.0]], 1), "not symmetric"),
    "indefinite": (lambda: best_subset(INDEFINITE, 1), "negative eigenvalue -1"),
    "zero matrix": (lambda: best_subset(np.zeros((2, 2)), 1), "no positive variance"),
    "subset": (lambda: best_subset(PITPROPS, 14), "k=14 features asked of 13"),
    "no subset": (lambda: best_subset(PITPROPS, 0), "k=0 features"),
    "half a feature": (lambda: best_subset(PITPROPS, 1.5), "counts features, not components"),
    "vector": (lambda: sparse_direction(PITPROPS, [1.0, 2.0], 0.1), "vector of 13"),
    "zero vector": (lambda: ridge_direction(PITPROPS, np.zeros(13), 0.1), "not all zero"),
    "collinear": (lambda: ridge_direction(np.ones((2, 2)), [1.0, 1.0], 0), "collinear"),
    "method": (lambda: deflate_covariance(PITPROPS, np.eye(13)[0], "magic"), '"projection"'),
    "sizes": (lambda: adjusted_variances(WINE, np.eye(3)), "B has 3 rows for 13 features"),
    "shapes": (lambda: sparse_pca_objective(PITPROPS, np.eye(13), np.eye(3)), "must both"),
    "gpower": (lambda: generalized_power(WINE, 1.0), "below 1"),
    "not even wide": (
        lambda: generalized_power(np.full((4, 3), 0.1), 0.2),
        "rows of X are the same",
    ),
    "overflow": (lambda: generalized_power(1e200 * WINE, 0.2), "too large"),
    "underflow": (lambda: fit_sparse_pca(1e-200 * WINE, 2), "too small"),
    "procrustes NaN": (lambda: procrustes([[np.nan]]), "NaN"),
    "procrustes wide": (lambda: procrustes(np.ones((2, 3))), "at most 2 columns"),
    "nothing to count": (lambda: effective_nonzeros(np.zeros((3, 2))), "Column 0 of V is zero"),
    "no climb": (lambda: truncated_power(np.diag([1.0, 0]), 1, start=[0, 1]), "nowhere to climb"),
    "refit": (lambda: fit_sparse_pca(WINE, 1, refit="yes"), "True or False"),
    "gram": (lambda: fit_sparse_pca(WINE, 1, gram=1), "True or False"),
    "progress": (lambda: fit_sparse_pca(WINE, 1, progress=1), "True or False"),
    "refit sizes": (lambda: refit_loadings(PITPROPS, np.eye(3)), "B has 3 rows for 13 features"),
    "subset of data": (lambda: best_subset(WINE, 2), "If its rows are samples, form np.cov"),
    "data with gram": (lambda: fit_sparse_pca(WINE, 2, gram=True), "Leave out gram=True if its"),
    "sparse matrix": (lambda: fit_sparse_pca(sparse.eye_array(4), 1), "sparse matrix"),
    "negative": (lambda: fit_sparse_pca(INDEFINITE, 1, gram=True), "negative eigenvalue -1"),
    "encode": (lambda: fit_sparse_pca(WINE, 1).encode(WINE[:, :5]), "fitted on 13"),
    "decode": (lambda: fit_sparse_pca(WINE, 1).decode(WINE), "a column of scores"),
}


@pytest.mark.parametrize(("call", "words"), BAD.values(), ids=BAD)
def test_bad_input_gets_a_sentence(call, words):
    """What came, what was needed, what to do."""
    with pytest.raises(ValueError, match=".") as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_directions_know_no_unit(unit):
    """Coordinates settle relative to their size, and a refit sees variance in every unit."""
    a, B = leading(PITPROPS)[:, 0], simple_threshold(leading(PITPROPS, 3), 4)
    plain = coordinate_descent(PITPROPS, a, 0.4, ridge=0.1)
    scaled = coordinate_descent(PITPROPS, unit * a, 0.4 * unit, ridge=0.1, max_iter=1000)
    np.testing.assert_allclose(scaled, unit * plain, atol=1e-8 * unit)
    refitted = refit_loadings(PITPROPS, B)
    assert np.abs(refitted - B).max() > 0.01
    np.testing.assert_allclose(refit_loadings(unit * PITPROPS, B), refitted, atol=1e-8)
    runs = [truncated_power(c * PITPROPS, 5) for c in (1.0, unit)]
    np.testing.assert_allclose(runs[1].direction, runs[0].direction, atol=1e-8)
    assert runs[1].value == pytest.approx(unit * runs[0].value)
    V = orthonormal(6, 3, 2)
    np.testing.assert_allclose(sparse_rotation(unit * V), unit * sparse_rotation(V), rtol=1e-6)


def test_a_dead_feature_gets_no_loading():
    """Coordinates without variance are passed over, and independent ones settle in two rounds."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        b = coordinate_descent(np.diag([2.0, 0.0, 0.5]), [1.0, 1.0, 1.0], 0.2, max_iter=2)
    np.testing.assert_allclose(b, [0.95, 0.0, 0.8])


def test_the_criterion_of_an_infinite_ridge_written_out():
    """‖B‖² − 2 tr AᵀCB + Σ l1ⱼ‖bⱼ‖₁: eq-spca-limit."""
    A, B = orthonormal(13, 2, 0), orthonormal(13, 2, 1) * [2.0, 0.5]
    wanted = np.sum(B**2) - 2 * np.trace(A.T @ PITPROPS @ B) + np.abs(B).sum(axis=0) @ [0.3, 0.7]
    found = sparse_pca_objective(PITPROPS, A, B, l1=[0.3, 0.7], ridge=np.inf)
    assert found == pytest.approx(wanted)


def test_subsets_as_good_as_the_best_are_not_opened():
    """Of independent features with one variance all subsets tie: the first node settles it."""
    assert best_subset(np.eye(9), 4).n_nodes == 1


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_procrustes_knows_no_unit(unit):
    M = np.random.default_rng(0).standard_normal((5, 3))
    np.testing.assert_allclose(procrustes(unit * M), procrustes(M), atol=1e-12)
    assert_orthonormal(procrustes(0 * M), 10)
    np.testing.assert_allclose(procrustes(unit * np.eye(3)), np.eye(3), atol=1e-12)


def test_a_sparse_rotation_can_not_be_turned_further():
    """Pairs are turned until none gains: another rotation leaves the columns where they are."""
    V = sparse_rotation(orthonormal(12, 4, 3))
    np.testing.assert_allclose(sparse_rotation(V), V, atol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_two_columns_take_one_turn(seed, monkeypatch):
    """The angle of a turn is the best one, and not a step towards it: eq-spca-rotate."""
    turns, arctan2 = [], np.arctan2
    monkeypatch.setattr(np, "arctan2", lambda *sides: turns.append(1) or arctan2(*sides))
    sparse_rotation(orthonormal(12, 2, seed))
    assert len(turns) == 1


def test_small_columns_are_turned_beside_a_large_one():
    """A turn pays or not relative to its pair of columns: eq-spca-rotate."""
    V = np.zeros((7, 3))
    V[:6, :2], V[6, 2] = 1e-4 * orthonormal(6, 2, 0), 1.0
    plain = 1e-4 * sparse_rotation(1e4 * V[:6, :2])
    assert np.abs(plain - V[:6, :2]).max() > 1e-6
    np.testing.assert_allclose(sparse_rotation(V)[:6, :2], plain, atol=1e-9)
