"""The theorems of chapter 4 on random data, with SciPy, scikit-learn, mpmath and optimisers beside.

What the tests expect is made from dense d×d matrices, never by the library's k×k formulas.
"""

import copy
import pickle
import re
import sys
import tracemalloc
import warnings
from functools import partial
from types import SimpleNamespace

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrices import orthonormal, seeds, sparing, thorough
from scipy.optimize import minimize
from scipy.stats import chi2, multivariate_normal
from sklearn.decomposition import PCA as PeerPCA

from kpca_edu import ConvergenceWarning, fit_pca, same_subspace
from kpca_edu._engine import missing
from kpca_edu._engine.checks import data_matrix
from kpca_edu._engine.climb import Climb
from kpca_edu.datasets import tobamovirus
from kpca_edu.ppca import (
    PPCA,
    expect,
    fit_ppca,
    fit_ppca_em,
    infer,
    log_gaussian,
    maximize,
    maximum_likelihood,
    move_prior,
    spectrum,
)

VIRUSES = tobamovirus()
MEAN6 = np.array([1.0, -2.0, 0.0, 3.0, 0.5, 4.0])


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
    logs = np.empty(len(X))
    patterns, group = np.unique(~np.isnan(X), axis=0, return_inverse=True)
    for g, seen in enumerate(patterns):
        rows = group.reshape(-1) == g
        inner, R = cov[np.ix_(seen, seen)], (X[rows] - mean)[:, seen]
        exponent = np.sum(R * np.linalg.solve(inner, R.T).T, axis=1)
        log_det = np.linalg.slogdet(inner)[1]
        logs[rows] = -0.5 * (seen.sum() * np.log(2 * np.pi) + log_det + exponent)
    return logs


def dense_log_likelihood(mean, W, sigma2, X):
    return dense_log_density(mean, W @ W.T + sigma2 * np.eye(len(W)), X).sum()


def unpack(theta, d, k):
    return theta[:d], theta[d : d + d * k].reshape(d, k), np.exp(theta[-1])


def numerical_maximum(X, k, starts=2):
    """Maximise the observed-data likelihood by BFGS from random starts; return the best."""
    d = X.shape[1]

    def loss(theta):
        mean, W, sigma2 = unpack(theta, d, k)
        return -dense_log_likelihood(mean, W, sigma2, X) / len(X)

    runs = []
    for seed in range(starts):
        rng = np.random.default_rng(seed)
        first = np.concatenate([np.nanmean(X, axis=0), rng.standard_normal(d * k), [0.0]])
        runs.append(minimize(loss, first, method="BFGS", options={"gtol": 1e-7}))
    best = min(runs, key=lambda run: run.fun)
    mean, W, sigma2 = unpack(best.x, d, k)
    return mean, W @ W.T + sigma2 * np.eye(d), -best.fun * len(X)


def with_holes(X, share=0.2, seed=0):
    X = np.array(X, float)
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


def em_step(model, X, moving):
    """Make one EM step, with a moving prior or without."""
    codes = expect(model, X)
    new = maximize(X, codes)
    return move_prior(new, codes) if moving else new


def plain_em(X, k, steps, rng=0):
    """Run EM as the text has it; return the last model and the likelihoods on the way."""
    d = X.shape[1]
    W = np.random.default_rng(rng).standard_normal((d, k))
    model, history = PPCA(np.nanmean(X, axis=0), W, np.nanvar(X)), []
    for _ in range(steps):
        codes = expect(model, X)
        history.append(codes.log_likelihood)
        model = maximize(X, codes)
    return model, np.array(history)


@st.composite
def models(draw, min_k=0):
    """Draw a model with d from 1 to 7 and k from min_k to d."""
    d = draw(st.integers(max(min_k, 1), 7))
    k = draw(st.integers(min_k, d))
    rng = np.random.default_rng(draw(seeds))
    sigma2 = draw(st.sampled_from([1e-6, 0.3, 1.0, 50.0]))
    return PPCA(rng.standard_normal(d), rng.standard_normal((d, k)), sigma2), rng


# --- the density -------------------------------------------------------------------------------


@thorough
@given(models())
def test_log_density_is_that_of_the_gaussian(drawn):
    """log p equals scipy's for N(μ, WWᵀ + σ²I): eq-ppca-marginal eq-ppca-loglik."""
    model, rng = drawn
    X = 2 * rng.standard_normal((9, model.mean.size))
    cov = model.W @ model.W.T + model.sigma2 * np.eye(model.mean.size)
    expected = multivariate_normal(model.mean, cov).logpdf(X).reshape(-1)
    np.testing.assert_allclose(model.covariance(), cov, rtol=1e-13)
    np.testing.assert_allclose(model.log_density(X), expected, rtol=1e-7)
    assert model.log_likelihood(X) == pytest.approx(expected.sum(), rel=1e-7)


@thorough
@given(models())
def test_log_density_with_missing_values_is_the_marginal(drawn):
    """Of a row with holes it is the density of the observed values: eq-ppca-e-step."""
    model, rng = drawn
    X = with_holes(rng.standard_normal((12, model.mean.size)), 0.4, rng)
    X[3] = np.nan
    expected = dense_log_density(model.mean, model.covariance(), X)
    np.testing.assert_allclose(model.log_density(X), expected, rtol=1e-6, atol=1e-9)
    assert model.log_density(X)[3] == pytest.approx(0.0, abs=1e-9)


@thorough
@given(models())
def test_woodbury_and_determinant_from_small_matrices(drawn):
    """Σ⁻¹ = (I − WM⁻¹Wᵀ)/σ², |Σ| = σ^{2(d−k)}|M|: eq-ppca-woodbury eq-ppca-det."""
    model, _ = drawn
    d, k = model.W.shape
    M = model.W.T @ model.W + model.sigma2 * np.eye(k)
    woodbury = (np.eye(d) - model.W @ np.linalg.inv(M) @ model.W.T) / model.sigma2
    product = woodbury @ model.covariance()
    np.testing.assert_allclose(product, np.eye(d), atol=1e-13 * d * 50 / model.sigma2**2 + 1e-9)
    log_det = np.linalg.slogdet(M)[1] + (d - k) * np.log(model.sigma2)
    assert log_det == pytest.approx(np.linalg.slogdet(model.covariance())[1], rel=1e-6, abs=1e-8)


@thorough
@given(models(min_k=1))
def test_the_exponent_is_the_least_squares_value(drawn):
    """rᵀΣ⁻¹r = min over z of ‖r − Wz‖²/σ² + ‖z‖², at z = m: eq-ppca-quadratic."""
    model, rng = drawn
    d, k = model.W.shape
    x = rng.standard_normal(d)
    r, root = x - model.mean, np.sqrt(model.sigma2)
    stacked = np.vstack([model.W / root, np.eye(k)])
    z, least, *_ = np.linalg.lstsq(stacked, np.concatenate([r / root, np.zeros(k)]), rcond=None)
    np.testing.assert_allclose(model.encode(x[None])[0], z, rtol=1e-5, atol=1e-8)
    exponent = r @ np.linalg.solve(model.covariance(), r)
    assert np.sum((stacked @ z - np.concatenate([r / root, np.zeros(k)])) ** 2) == pytest.approx(
        exponent, rel=1e-6
    )


def test_small_noise_keeps_its_digits():
    """With σ² = 1e-9 the log-density agrees with 50 digits to 8: eq-ppca-quadratic eq-ppca-det."""
    rng = np.random.default_rng(3)
    W, x = rng.standard_normal((4, 2)), rng.standard_normal(4)
    with mpmath.workdps(50):
        cov = mpmath.matrix((W).tolist()) * mpmath.matrix(W.T.tolist())
        cov += mpmath.mpf(10) ** -9 * mpmath.eye(4)
        r = mpmath.matrix(x.tolist())
        quadratic = (r.T * mpmath.lu_solve(cov, r))[0]
        exact = -(4 * mpmath.log(2 * mpmath.pi) + mpmath.log(mpmath.det(cov)) + quadratic) / 2
    assert PPCA(np.zeros(4), W, 1e-9).log_likelihood([x]) == pytest.approx(float(exact), rel=1e-8)


def test_no_d_by_d_matrix_is_formed():
    """With d = 20,000 the density needs a few vectors, not 3.2 GB: eq-ppca-det eq-ppca-woodbury."""
    d, k = 20_000, 3
    model = PPCA(np.zeros(d), np.random.default_rng(0).standard_normal((d, k)), 0.5)
    X = with_holes(model.sample(6, 1), 0.1)
    tracemalloc.start()
    logs = model.log_density(X)
    model.impute(X, return_std=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.isfinite(logs).all()
    assert peak < 40e6


# --- the closed form ---------------------------------------------------------------------------


@sparing
@given(st.integers(2, 5), st.integers(0, 5), seeds)
def test_closed_form_beats_thousands_of_other_parameters(d, k, seed):
    """None of 3,000 perturbed (μ, W, σ²) is more likely: eq-ppca-mean eq-ppca-w eq-ppca-sigma2."""
    k, rng = min(k, d), np.random.default_rng(seed)
    X = rng.standard_normal((20, d)) @ rng.standard_normal((d, d)) + 3
    fit = fit_ppca(X, k)
    best = dense_log_likelihood(fit.mean, fit.W, fit.sigma2, X)
    C, mean, n = np.cov(X.T, bias=True).reshape(d, d), X.mean(axis=0), len(X)
    size = 10.0 ** rng.uniform(-4, 0, (3000, 1, 1))
    W = fit.W + size * rng.standard_normal((3000, d, k))
    sigma2 = fit.sigma2 * np.exp(size * rng.standard_normal((3000, 1, 1)))
    shift = size[:, :, 0] * rng.standard_normal((3000, d))
    cov = W @ W.swapaxes(1, 2) + sigma2 * np.eye(d)
    spread = C + (fit.mean - mean + shift)[:, :, None] * (fit.mean - mean + shift)[:, None, :]
    trace = np.trace(np.linalg.solve(cov, spread), axis1=1, axis2=2)
    logs = -n / 2 * (d * np.log(2 * np.pi) + np.linalg.slogdet(cov)[1] + trace)
    assert logs.max() <= best + 1e-8 * abs(best)


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_closed_form_equals_a_numerical_optimiser(k):
    """BFGS on all parameters ends at the same model: eq-ppca-mean eq-ppca-w eq-ppca-sigma2."""
    X = data_with_covariance([5.0, 3.0, 1.0, 0.5], 30, mean=2.0)
    mean, cov, value = numerical_maximum(X, k)
    fit = fit_ppca(X, k)
    assert fit.log_likelihood(X) == pytest.approx(value, rel=1e-9)
    assert fit.log_likelihood(X) >= value - 1e-8
    np.testing.assert_allclose(fit.mean, mean, atol=1e-4)
    np.testing.assert_allclose(fit.covariance(), cov, atol=2e-3)


@thorough
@given(st.integers(1, 6), st.integers(0, 6), seeds)
def test_the_fitted_spectrum(d, k, seed):
    """Σ̂ has C's vectors, its k largest values, and the mean of the rest: eq-ppca-spectrum."""
    k, rng = min(k, d), np.random.default_rng(seed)
    lam = np.sort(rng.uniform(0.1, 5, d))[::-1]
    X = data_with_covariance(lam, 12, seed % 1000, mean=7.0)
    fit = fit_ppca(X, k)
    expected = np.append(lam[:k], np.full(d - k, lam[k:].mean() if k < d else 0.0))
    np.testing.assert_allclose(np.linalg.eigvalsh(fit.covariance())[::-1], expected, rtol=1e-9)
    C = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0)) / 12
    np.testing.assert_allclose(C @ fit.covariance(), fit.covariance() @ C, atol=1e-9)
    if k < d:
        assert fit.sigma2 == pytest.approx(lam[k:].mean())
        value = d * np.log(2 * np.pi) + np.log(expected).sum() + d
        assert fit.log_likelihood(X) == pytest.approx(-6 * value)


def test_one_column_without_causes():
    """With d = 1, k = 0 the model is a bell, and the likeliest has mean and variance of the column,
    with the divisor n; a gap changes only what is averaged: eq-ppca-normal eq-ppca-one."""
    x = VIRUSES[:, [8]]
    bell = fit_ppca(x, 0)
    assert bell.mean == pytest.approx(x.mean())
    assert bell.sigma2 == pytest.approx(x.var())
    by_hand = np.exp(-((x - x.mean()) ** 2) / (2 * x.var())) / np.sqrt(2 * np.pi * x.var())
    np.testing.assert_allclose(bell.log_density(x), np.log(by_hand[:, 0]))
    for mean, sigma2 in ((1.01, 1.0), (0.99, 1.0), (1.0, 1.01), (1.0, 0.99)):
        other = PPCA(bell.mean * mean, np.zeros((1, 0)), bell.sigma2 * sigma2)
        assert other.log_likelihood(x) < bell.log_likelihood(x)
    gap = np.where(np.arange(38)[:, None] % 5 == 0, np.nan, x)
    assert fit_ppca_em(gap, 0).sigma2 == pytest.approx(np.nanvar(gap))


def test_the_maximum_in_one_line():
    """ℓ = −n/2 {d log 2π + Σ log λⱼ + (d−k) log σ² + d} on viruses: eq-ppca-max."""
    lam = np.linalg.eigvalsh(np.cov(VIRUSES.T, bias=True))[::-1]
    for k in (1, 2, 6):
        sigma2 = lam[k:].mean()
        inner = 18 * np.log(2 * np.pi) + np.log(lam[:k]).sum() + (18 - k) * np.log(sigma2) + 18
        assert fit_ppca(VIRUSES, k).log_likelihood(VIRUSES) == pytest.approx(-19 * inner)


@thorough
@given(st.integers(2, 6), seeds)
def test_trace_inequality(d, seed):
    """tr(Σ⁻¹C) ≥ Σ λᵢ/cᵢ, both sorted, with equality for common vectors: eq-ppca-trace."""
    rng = np.random.default_rng(seed)
    c, lam = np.sort(rng.uniform(0.2, 3, (2, d)), axis=1)[:, ::-1]
    V = orthonormal(d, d, rng)
    bound = np.sum(lam / c)
    other = covariance_with(c, rng)
    assert np.trace(np.linalg.solve(other, (V * lam) @ V.T)) >= bound - 1e-10
    assert np.trace(np.linalg.solve((V * c) @ V.T, (V * lam) @ V.T)) == pytest.approx(bound)


@pytest.mark.parametrize("kept", [(0, 1), (0, 2), (0,), (1,), ()])
def test_stationary_points(kept):
    """CΣ⁻¹W = W for kept eigenvectors; only the top ones can't be bettered: eq-ppca-stationary."""
    lam = np.array([5.0, 3.0, 2.0, 0.5])
    X = data_with_covariance(lam, 25)
    C = np.cov(X.T, bias=True)
    values, V = np.linalg.eigh(C)
    values, V = values[::-1], V[:, ::-1]
    rest = [j for j in range(4) if j not in kept]
    sigma2, W = values[rest].mean(), np.zeros((4, 2))
    W[:, : len(kept)] = V[:, list(kept)] * np.sqrt(values[list(kept)] - sigma2)
    model = PPCA(X.mean(axis=0), W, sigma2)
    np.testing.assert_allclose(C @ np.linalg.solve(model.covariance(), W), W, atol=1e-10)
    here, h = model.log_likelihood(X), 1e-5
    for i in range(4):  # the gradient in W vanishes
        for j in range(2):
            step = np.zeros((4, 2))
            step[i, j] = h
            slope = PPCA(model.mean, W + step, sigma2).log_likelihood(X) - here
            assert abs(slope / h) < 5e-2
    rng = np.random.default_rng(0)
    near = [
        PPCA(model.mean, W + 0.05 * rng.standard_normal((4, 2)), sigma2).log_likelihood(X)
        for _ in range(300)
    ]
    assert (max(near) > here + 1e-6) == (kept != (0, 1))
    assert min(near) < here or kept == ()
    assert PPCA(model.mean, W, 1.1 * sigma2).log_likelihood(X) < here


def test_rotations_fit_equally_well():
    """WR has the likelihood of W for every orthogonal R: eq-ppca-w."""
    fit = fit_ppca(VIRUSES, 3)
    turned = PPCA(fit.mean, fit.W @ orthonormal(3, 3, 5), fit.sigma2)
    assert turned.log_likelihood(VIRUSES) == pytest.approx(fit.log_likelihood(VIRUSES))
    np.testing.assert_allclose(turned.reconstruct(VIRUSES), fit.reconstruct(VIRUSES))


def test_columns_of_W_are_orthogonal_falling_and_signed():
    """Of all rotations R = I is returned, by both fits: eq-ppca-w."""
    for fit in (fit_ppca(VIRUSES, 3), fit_ppca_em(VIRUSES, 3), fit_ppca_em(with_holes(VIRUSES), 3)):
        gram = fit.W.T @ fit.W
        np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-9 * gram.max())
        assert np.all(np.diff(np.diag(gram)) <= 0)
        assert np.all(fit.W.max(axis=0) >= -fit.W.min(axis=0) * (1 - 1e-6))


def test_sigma2_is_the_mean_squared_residual():
    """σ² is also ‖X_c − X_cV_kV_kᵀ‖²/(n(d − k)): eq-ppca-sigma2."""
    fit = fit_ppca(VIRUSES, 4)
    residual = VIRUSES - fit.reconstruct(VIRUSES, shrink=False)
    assert fit.sigma2 == pytest.approx(np.sum(residual**2) / (38 * 14))


@pytest.mark.parametrize("k", [4, 5])
def test_all_directions_give_the_sample_covariance(k):
    """At k = d and already at k = d − 1 the model covariance is C: eq-ppca-spectrum."""
    X = data_with_covariance([4.0, 3.0, 2.0, 1.0, 0.5], 20)
    np.testing.assert_allclose(fit_ppca(X, k).covariance(), np.cov(X.T, bias=True), atol=1e-10)
    em = fit_ppca_em(X, k)
    np.testing.assert_allclose(em.covariance(), np.cov(X.T, bias=True), atol=1e-3)


def test_ties():
    """With λ₂ = λ₃ any of the tied directions serves, with the same likelihood: eq-ppca-max."""
    X = data_with_covariance([4.0, 1.0, 1.0, 0.5], 20)
    fit = fit_ppca(X, 2)
    V = np.linalg.eigh(np.cov(X.T, bias=True))[1][:, ::-1]
    W = fit.W.copy()
    W[:, 1] = (V[:, 1] + V[:, 2]) / np.sqrt(2) * np.sqrt(1 - fit.sigma2)
    other = PPCA(fit.mean, W, fit.sigma2)
    assert other.log_likelihood(X) == pytest.approx(fit.log_likelihood(X))
    X = data_with_covariance([4.0, 1.0, 1.0], 20)  # the tie is all of the noise: W ends there
    assert np.abs(fit_ppca(X, 2).W[:, 1]).max() < 1e-6


def test_counting():
    """d = 6, k = 2: 12 numbers for the covariance against 21: eq-ppca-count."""

    def count(d, k):
        return PPCA(np.zeros(d), np.zeros((d, k)), 1.0).n_parameters - d

    assert (count(6, 2), count(6, 0), count(6, 5), count(6, 6)) == (12, 1, 21, 21)


@pytest.mark.parametrize(("d", "k"), [(3, 1), (4, 2), (5, 3), (4, 3)])
def test_the_count_is_the_rank_of_the_jacobian(d, k):
    """The derivatives of Σ by (W, σ²) span as many dimensions as counted: eq-ppca-count."""
    rng = np.random.default_rng(d * k)
    W = rng.standard_normal((d, k))
    columns = [np.eye(d)]
    for i in range(d):
        for j in range(k):
            step = np.zeros((d, k))
            step[i, j] = 1
            columns.append(step @ W.T + W @ step.T)
    rank = np.linalg.matrix_rank(np.array([c.ravel() for c in columns]))
    assert rank == PPCA(np.zeros(d), W, 1.0).n_parameters - d


def test_agrees_with_scikit_learn():
    """PCA's noise variance and densities are ours with divisor n − 1: eq-ppca-sigma2."""
    peer, ours = PeerPCA(n_components=4).fit(VIRUSES), fit_ppca(VIRUSES, 4)
    factor = 38 / 37
    assert peer.noise_variance_ == pytest.approx(ours.sigma2 * factor)
    same = PPCA(ours.mean, ours.W * np.sqrt(factor), ours.sigma2 * factor)
    np.testing.assert_allclose(same.log_density(VIRUSES), peer.score_samples(VIRUSES))
    np.testing.assert_allclose(same.covariance(), peer.get_covariance(), atol=1e-10)
    assert ours.log_likelihood(VIRUSES) > peer.score_samples(VIRUSES).sum()


# --- the latent variable -----------------------------------------------------------------------


@thorough
@given(models(min_k=1))
def test_posterior_by_conditioning_the_joint_gaussian(drawn):
    """Mean WᵀΣ⁻¹r and covariance I − WᵀΣ⁻¹W, by d×d blocks: eq-ppca-posterior
    eq-ppca-e-step."""
    model, rng = drawn
    X = with_holes(rng.standard_normal((5, model.mean.size)), 0.3, rng)
    mean, covariance = model.posterior(X)
    for i, x in enumerate(X):
        seen = ~np.isnan(x)
        W, r = model.W[seen], (x - model.mean)[seen]
        gain = np.linalg.solve(W @ W.T + model.sigma2 * np.eye(seen.sum()), W).T
        np.testing.assert_allclose(mean[i], gain @ r, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(covariance[i], np.eye(model.k) - gain @ W, atol=1e-6)
    np.testing.assert_array_equal(mean, model.encode(X))


def test_posterior_of_complete_and_empty_rows():
    """Complete rows share σ²M⁻¹; an empty row gets back N(0, I): eq-ppca-posterior."""
    model = fit_ppca(VIRUSES, 2)
    mean, covariance = model.posterior(VIRUSES)
    assert covariance.shape == (38, 2, 2)
    lam = np.linalg.eigvalsh(np.cov(VIRUSES.T, bias=True))[::-1][:2]
    np.testing.assert_allclose(covariance[7], np.diag(model.sigma2 / lam), atol=1e-12)
    mean, covariance = model.posterior(np.full((1, 18), np.nan))
    np.testing.assert_allclose(mean, [[0, 0]])
    np.testing.assert_allclose(covariance[0], np.eye(2))


def test_posterior_is_the_regression_of_z_on_x():
    """Regressing drawn z on drawn x finds the posterior mean: eq-ppca-posterior eq-ppca-model."""
    rng = np.random.default_rng(1)
    W = rng.standard_normal((4, 2))
    Z = rng.standard_normal((200_000, 2))
    X = Z @ W.T + 0.7 * rng.standard_normal((200_000, 4))
    slope = np.linalg.lstsq(X, Z, rcond=None)[0]
    model = PPCA(np.zeros(4), W, 0.49)
    np.testing.assert_allclose(model.encode(np.eye(4)), slope, atol=5e-3)
    left = np.cov((Z - model.encode(X)).T)
    np.testing.assert_allclose(model.posterior(X[:1]).covariance[0], left, atol=5e-3)


@thorough
@given(st.integers(2, 6), st.integers(1, 5), seeds)
def test_shrinkage(d, k, seed):
    """Codes are √(1 − σ²/λ) × whitened scores, reconstructions shrink by 1 − σ²/λ: eq-ppca-code
    eq-ppca-shrink."""
    k = min(k, d - 1)
    lam = 4.0 * 0.6 ** np.arange(d)
    X = data_with_covariance(lam, 15, seed % 997, mean=5.0)
    fit, Xc = fit_ppca(X, k), X - X.mean(axis=0)
    V = np.linalg.svd(Xc)[2][:k].T
    V *= np.sign(np.sum(V * fit.W, axis=0))
    factor = 1 - fit.sigma2 / lam[:k]
    whitened = Xc @ V / np.sqrt(lam[:k])
    np.testing.assert_allclose(fit.encode(X), whitened * np.sqrt(factor), atol=1e-9)
    np.testing.assert_allclose(fit.reconstruct(X) - X.mean(axis=0), Xc @ (V * factor) @ V.T)
    np.testing.assert_allclose(fit.reconstruct(X, shrink=False), X.mean(axis=0) + Xc @ V @ V.T)


def test_the_limit_without_noise():
    """As σ² → 0 codes become whitened scores and reconstructions PCA's: eq-ppca-code."""
    fit = fit_ppca(VIRUSES, 2)
    Xc = VIRUSES - VIRUSES.mean(axis=0)
    V = np.linalg.svd(Xc)[2][:2].T
    V *= np.sign(np.sum(V * fit.W, axis=0))
    lam = np.var(Xc @ V, axis=0)
    for sigma2, tol in ((1e-6, 1e-5), (0.0, 1e-10)):
        model = PPCA(fit.mean, V * np.sqrt(lam - sigma2), sigma2)
        np.testing.assert_allclose(model.encode(VIRUSES), Xc @ V / np.sqrt(lam), atol=tol)
        np.testing.assert_allclose(model.reconstruct(VIRUSES), fit.mean + Xc @ V @ V.T, atol=tol)
    tilted = PPCA(fit.mean, np.random.default_rng(0).standard_normal((18, 2)), 0.0)
    P = tilted.W @ np.linalg.pinv(tilted.W)
    np.testing.assert_allclose(tilted.reconstruct(VIRUSES), fit.mean + Xc @ P)


def test_samples_have_the_moments_of_the_model():
    """Mean and covariance of 200,000 draws are μ and Σ within 5 standard errors: eq-ppca-model
    eq-ppca-marginal."""
    model = PPCA(MEAN6, np.random.default_rng(2).standard_normal((6, 2)), 0.5)
    n = 200_000
    X, cov = model.sample(n, 3), model.covariance()
    scale = np.sqrt(np.diag(cov))
    assert np.max(np.abs(X.mean(axis=0) - MEAN6) / scale) < 5 / np.sqrt(n)
    error = np.sqrt((np.outer(np.diag(cov), np.diag(cov)) + cov**2) / n)
    assert np.max(np.abs(np.cov(X.T) - cov) / error) < 5
    distance2 = np.sum((X - MEAN6) * np.linalg.solve(cov, (X - MEAN6).T).T, axis=1)
    inside = np.mean(distance2 < chi2(6).ppf(0.9))
    assert inside == pytest.approx(0.9, abs=5 * np.sqrt(0.09 / n))


def test_sampling_takes_a_seed_or_a_generator():
    """Chance enters through rng alone, and it must be given."""
    model = fit_ppca(VIRUSES, 2)
    with pytest.raises(TypeError, match="rng"):
        model.sample(4)
    same = model.sample(4, 7), model.sample(4, np.random.default_rng(7))
    np.testing.assert_array_equal(*same)
    assert model.sample(4, 8).shape == (4, 18)
    assert not np.array_equal(model.sample(4, 8), same[0])


# --- EM ----------------------------------------------------------------------------------------


@sparing
@given(st.integers(2, 6), st.integers(0, 3), st.booleans(), st.booleans(), seeds)
def test_em_never_lowers_the_likelihood(d, k, moving, holes, seed):
    """Every step gains, plain or with a moving prior, with holes or without: eq-ppca-bound
    eq-ppca-expand."""
    k, rng = min(k, d - 1), np.random.default_rng(seed)
    X = rng.standard_normal((25, d)) @ rng.standard_normal((d, d))
    X = with_holes(X, 0.15, rng) if holes else X
    model = PPCA(np.zeros(d), rng.standard_normal((d, k)), 1.0)
    history = []
    for _ in range(25):
        history.append(dense_log_likelihood(model.mean, model.W, model.sigma2, X))
        assert expect(model, X).log_likelihood == pytest.approx(history[-1], rel=1e-9)
        model = em_step(model, X, moving)
    assert np.min(np.diff(history)) >= -1e-9 * np.abs(history).max()


def test_em_ends_at_the_closed_form():
    """Without missing values EM's limit is the closed form: eq-ppca-m-step eq-ppca-m-sigma2."""
    for k in (1, 2, 4):
        fit, run = fit_ppca(VIRUSES, k), fit_ppca_em(VIRUSES, k, tol=1e-16)
        assert run.converged
        assert run.history[-1] == pytest.approx(fit.log_likelihood(VIRUSES), rel=1e-12)
        np.testing.assert_allclose(run.W, fit.W, atol=1e-4)
        assert run.sigma2 == pytest.approx(fit.sigma2, rel=1e-5)
        np.testing.assert_allclose(run.mean, fit.mean, atol=1e-9)
        plain, _ = plain_em(VIRUSES, k, 300)
        np.testing.assert_allclose(plain.covariance(), fit.covariance(), atol=1e-3)


@pytest.mark.parametrize("moving", [False, True])
def test_the_closed_form_is_a_fixed_point(moving):
    """A step from the maximum goes nowhere: eq-ppca-m-step eq-ppca-m-sigma2 eq-ppca-expand."""
    fit = fit_ppca(VIRUSES, 3)
    step = em_step(fit, VIRUSES, moving)
    np.testing.assert_allclose(step.W, fit.W, atol=1e-11)
    np.testing.assert_allclose(step.mean, fit.mean, atol=1e-11)
    assert step.sigma2 == pytest.approx(fit.sigma2, rel=1e-12)


def test_a_step_is_that_of_tipping_and_bishop():
    """For complete data W ← CW(σ²I + M⁻¹WᵀCW)⁻¹ and σ² ← tr(C − CWM⁻¹W'ᵀ)/d: eq-ppca-m-step
    eq-ppca-m-sigma2."""
    C = np.cov(VIRUSES.T, bias=True)
    W = np.random.default_rng(4).standard_normal((18, 3))
    M_inv = np.linalg.inv(W.T @ W + 0.8 * np.eye(3))
    new = C @ W @ np.linalg.inv(0.8 * np.eye(3) + M_inv @ W.T @ C @ W)
    sigma2 = np.trace(C - C @ W @ M_inv @ new.T) / 18
    step = em_step(PPCA(VIRUSES.mean(axis=0), W, 0.8), VIRUSES, moving=False)
    np.testing.assert_allclose(step.W, new, atol=1e-10)
    assert step.sigma2 == pytest.approx(sigma2)


def test_a_step_maximises_the_expected_log_likelihood():
    """No nearby (μ, W, σ²) has a larger expected complete-data log-likelihood: eq-ppca-m-step
    eq-ppca-m-sigma2."""
    X = with_holes(data_with_covariance([4.0, 2.0, 1.0, 0.3], 14, mean=1.0), 0.25)
    rng = np.random.default_rng(0)
    model = PPCA(np.ones(4), rng.standard_normal((4, 2)), 0.7)
    m, S = model.posterior(X)

    def expected(mean, W, sigma2):
        total = 0.0
        for i, x in enumerate(X):
            for j in np.flatnonzero(~np.isnan(x)):
                square = (x[j] - mean[j] - W[j] @ m[i]) ** 2 + W[j] @ S[i] @ W[j]
                total -= 0.5 * (np.log(sigma2) + square / sigma2)
        return total

    step = em_step(model, X, moving=False)
    best = expected(step.mean, step.W, step.sigma2)
    for size in (1e-3, 1e-1):
        for _ in range(100):
            mean = step.mean + size * rng.standard_normal(4)
            W = step.W + size * rng.standard_normal((4, 2))
            sigma2 = step.sigma2 * np.exp(size * rng.standard_normal())
            assert expected(mean, W, sigma2) <= best + 1e-12


@pytest.mark.parametrize("k", [1, 2])
def test_em_with_missing_values_equals_direct_maximisation(k):
    """On small problems BFGS on the observed-data likelihood agrees: eq-ppca-e-step
    eq-ppca-m-step."""
    X = with_holes(data_with_covariance([6.0, 3.0, 1.0, 0.5], 40, mean=3.0), 0.2, 1)
    mean, cov, value = numerical_maximum(X, k)
    run = fit_ppca_em(X, k, tol=1e-15)
    assert run.history[-1] >= value - 1e-7
    assert run.history[-1] == pytest.approx(value, rel=1e-8)
    np.testing.assert_allclose(run.mean, mean, atol=2e-3)
    np.testing.assert_allclose(run.covariance(), cov, atol=2e-2)


def test_em_with_missing_values_is_stationary():
    """At EM's limit all derivatives of the observed-data likelihood vanish: eq-ppca-bound."""
    X = with_holes(VIRUSES, 0.2)
    run = fit_ppca_em(X, 2, tol=1e-15)
    theta = np.concatenate([run.mean, run.W.ravel(), [np.log(run.sigma2)]])
    h = 1e-5
    for i in range(theta.size):
        step = np.zeros_like(theta)
        step[i] = h
        up, down = (dense_log_likelihood(*unpack(theta + s * step, 18, 2), X) for s in (1, -1))
        assert abs(up - down) / (2 * h) < 2e-2


def test_the_moving_prior_rescales_the_plain_step():
    """Latent means and covariances, row by row, give a and B; the Gaussian N(μ + Wa, WBWᵀ + σ²I)
    is what the step returns: eq-ppca-expand."""
    X = with_holes(VIRUSES, 0.2)
    start = PPCA(VIRUSES[3], np.random.default_rng(1).standard_normal((18, 2)), 0.9)
    plain, moved = (em_step(start, X, moving) for moving in (False, True))
    m, S = start.posterior(X)
    a = sum(m) / 38
    B = sum(S[i] + np.outer(m[i] - a, m[i] - a) for i in range(38)) / 38
    assert np.linalg.norm(a) > 0.1
    np.testing.assert_allclose(moved.mean, plain.mean + plain.W @ a, atol=1e-10)
    np.testing.assert_allclose(moved.W @ moved.W.T, plain.W @ B @ plain.W.T, atol=1e-9)
    assert moved.sigma2 == plain.sigma2


def test_where_plain_em_is_slow_and_a_moving_prior_is_not():
    """Lengths converge with 1 − 2τ(1−τ), τ = σ²/λ, or with τ²: eq-ppca-rates."""
    lam = np.array([10.0, 1.0, 1.0, 1.0])
    X = data_with_covariance(lam, 30)
    fit, h, tau = fit_ppca(X, 1), 1e-6, 1.0 / 10
    nudged = PPCA(fit.mean, fit.W * (1 + h), fit.sigma2)
    for moving, rate in ((False, 1 - 2 * tau * (1 - tau)), (True, tau**2)):
        after = em_step(nudged, X, moving).W
        gain = np.sum((after - fit.W) * fit.W) / np.sum(fit.W**2)
        assert gain / h == pytest.approx(rate, rel=1e-3)


@pytest.mark.parametrize("moving", [False, True])
def test_shears_and_noise_have_their_rates(moving):
    """A shear of WWᵀ shrinks by 1 − τ_a − τ_b + 2τ_aτ_b, or by τ_aτ_b; an error of σ² by the sum of
    1 − τ² over d, near k/d, both ways: eq-ppca-rates eq-ppca-expand."""
    lam = np.array([9.0, 6.0, 4.0, 3.0, 0.6, 0.4])
    X, h = data_with_covariance(lam, 40), 1e-6
    fit = fit_ppca(X, 4)
    tau = fit.sigma2 / lam[:4]
    V = fit.W / np.linalg.norm(fit.W, axis=0)
    for a, b in ((0, 0), (0, 3), (1, 2)):
        shear = np.zeros((4, 4))
        shear[a, b] = shear[b, a] = 1
        bent = PPCA(fit.mean, fit.W @ (np.eye(4) + h * shear), fit.sigma2)
        before, after = (
            V[:, a] @ (model.W @ model.W.T - fit.W @ fit.W.T) @ V[:, b]
            for model in (bent, em_step(bent, X, moving))
        )
        plain = 1 - tau[a] - tau[b] + 2 * tau[a] * tau[b]
        rate = tau[a] * tau[b] if moving else plain
        assert after / before == pytest.approx(rate, rel=1e-3)
    off = em_step(PPCA(fit.mean, fit.W, fit.sigma2 + h), X, moving)
    assert (off.sigma2 - fit.sigma2) / h == pytest.approx(np.sum(1 - tau**2) / 6, rel=1e-4)


@pytest.mark.parametrize("moving", [False, True])
def test_directions_turn_with_the_ratio_of_the_eigenvalues(moving):
    """A small tilt towards the next direction shrinks by λ₂/λ₁ a step: eq-ppca-rates."""
    X = data_with_covariance([5.0, 2.0, 1.0, 0.5], 30)
    V = np.linalg.eigh(np.cov(X.T, bias=True))[1][:, ::-1]
    fit, h = fit_ppca(X, 1), 1e-6
    tilted = PPCA(fit.mean, fit.W + h * V[:, 1:2], fit.sigma2)
    after = em_step(tilted, X, moving).W
    assert abs(V[:, 1] @ after[:, 0]) / h == pytest.approx(2 / 5, rel=1e-3)


def test_em_leaves_a_saddle_only_if_nudged():
    """From an exact saddle plain EM can't move; from near by it reaches the top:
    eq-ppca-stationary."""
    X = data_with_covariance([5.0, 3.0, 1.0, 0.5], 30)
    C = np.cov(X.T, bias=True)
    lam, V = np.linalg.eigh(C)
    sigma2 = (lam[0] + lam[1] + lam[3]) / 3  # keeps the second direction, not the first
    saddle = PPCA(X.mean(axis=0), V[:, 2:3] * np.sqrt(lam[2] - sigma2), sigma2)
    step = em_step(saddle, X, moving=True)
    np.testing.assert_allclose(step.W, saddle.W, atol=1e-10)
    nudged = PPCA(saddle.mean, saddle.W + 1e-3, sigma2)
    assert same_subspace(fit_ppca_em(X, 1, start=nudged, tol=1e-16).W, V[:, 3:], 1e-5)


def test_em_carries_its_history():
    """n_iter, converged and the likelihood of each step are there: eq-ppca-bound."""
    run = fit_ppca_em(VIRUSES, 2)
    assert run.converged
    assert run.n_iter == run.history.size - 1 > 2
    with pytest.warns(ConvergenceWarning, match="max_iter=3 steps, and the last one still gained"):
        short = fit_ppca_em(VIRUSES, 2, max_iter=3)
    assert not short.converged
    assert "not converged" in repr(short)
    assert short.n_iter == 3
    assert short.history[-1] == pytest.approx(short.log_likelihood(VIRUSES))
    assert (fit_ppca(VIRUSES, 2).n_iter, fit_ppca(VIRUSES, 2).converged) == (0, True)


def test_all_steps_if_they_are_asked_for(recwarn):
    """tol=0 makes max_iter steps without a word; a start that is the top stays there."""
    run = fit_ppca_em(with_holes(VIRUSES), 2, tol=0, max_iter=7)
    assert (run.n_iter, run.converged) == (7, False)
    assert not recwarn.list


def test_what_settled_has_nothing_more_to_gain():
    """Where converged is true, hundreds of further steps gain no more than tol a value, about."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n, d = rng.integers(12, 50), rng.integers(3, 7)
        k = int(rng.integers(1, d - 1))
        X = 5 * rng.standard_normal((n, k)) @ rng.standard_normal((k, d))
        X = with_holes(X + rng.standard_normal((n, d)), 0.15, rng)
        run = fit_ppca_em(X, k, tol=1e-10)
        assert run.converged
        more = fit_ppca_em(X, k, start=run, tol=0, max_iter=150)
        assert more.history[-1] - run.history[-1] <= 4e-10 * np.sum(~np.isnan(X))


def test_a_collapse_is_never_called_convergence():
    """σ² → 0, ℓ → ∞ with many gaps: refused, and whatever is returned is the best that was seen."""
    refused = 0
    for seed in range(14):
        rng = np.random.default_rng(seed)
        X = with_holes(rng.standard_normal((8, 3)), 0.35, rng)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                run = fit_ppca_em(X, 2, max_iter=300)
            except ValueError as refusal:
                refused += "falls to 0" in str(refusal)
                continue
        assert run.converged or told[0].category is ConvergenceWarning
        assert run.history[-1] == run.history.max()
        assert run.log_likelihood(X) == pytest.approx(run.history[-1], rel=1e-6)
        assert not run.converged or run.sigma2 > 1e-10 * np.nanvar(X)
    assert refused > 3
    rng = np.random.default_rng(42)
    with pytest.raises(ValueError, match="falls to 0 with k=3.*Ask for fewer"):
        fit_ppca_em(with_holes(rng.standard_normal((19, 4)), 0.35, rng), 3)


def exact_step(model, X):
    """One plain EM step and the log-likelihood before it, in 50 digits, row by row."""
    d, k = model.W.shape
    W = mpmath.matrix(model.W.tolist())
    sigma2, two_pi = mpmath.mpf(model.sigma2), 2 * mpmath.pi
    A = [mpmath.zeros(k + 1) for _ in range(d)]
    b = [mpmath.zeros(k + 1, 1) for _ in range(d)]
    value, rows = mpmath.mpf(0), []
    for x in X:
        seen = [int(j) for j in np.flatnonzero(~np.isnan(x))]
        Wi = mpmath.matrix([W[j, :].tolist()[0] for j in seen])
        r = mpmath.matrix([mpmath.mpf(x[j]) - mpmath.mpf(model.mean[j]) for j in seen])
        cov = Wi * Wi.T + sigma2 * mpmath.eye(len(seen))
        value -= (len(seen) * mpmath.log(two_pi) + mpmath.log(mpmath.det(cov))) / 2
        value -= (r.T * mpmath.lu_solve(cov, r))[0] / 2
        M_inv = (Wi.T * Wi + sigma2 * mpmath.eye(k)) ** -1
        m, S = M_inv * Wi.T * r, sigma2 * M_inv
        rows.append((seen, m, S))
        z1 = mpmath.matrix([*m, 1])
        second = z1 * z1.T
        for i in range(k):
            for j in range(k):
                second[i, j] += S[i, j]
        for j in seen:
            A[j] += second
            b[j] += mpmath.mpf(x[j]) * z1
    w_mu = [mpmath.lu_solve(A[j], b[j]) for j in range(d)]
    total, count = mpmath.mpf(0), 0
    for x, (seen, m, S) in zip(X, rows, strict=True):
        for j in seen:
            w = w_mu[j][:k]
            w = mpmath.matrix(w)
            total += (mpmath.mpf(x[j]) - w_mu[j][k] - (w.T * m)[0]) ** 2 + (w.T * S * w)[0]
            count += 1
    new = [[float(u) for u in w_mu[j]] for j in range(d)]
    return np.array(new), float(total / count), float(value)


def test_steps_keep_their_digits_near_collapse():
    """With σ² = 1e-9, and rows with fewer values than directions, a step and the likelihood agree
    with 50 digits to 6: eq-ppca-e-step eq-ppca-m-step eq-ppca-m-sigma2."""
    rng = np.random.default_rng(1)
    W, Z = rng.standard_normal((4, 3)), rng.standard_normal((14, 3))
    X = with_holes(Z @ W.T + 3e-5 * rng.standard_normal((14, 4)), 0.35, 2)
    model = PPCA(np.zeros(4), W, 1e-9)
    with mpmath.workdps(50):
        w_mu, sigma2, value = exact_step(model, X)
    codes = expect(model, X)
    step = maximize(X, codes)
    assert codes.log_likelihood == pytest.approx(value, abs=1e-7)
    assert step.sigma2 == pytest.approx(sigma2, rel=1e-6)
    np.testing.assert_allclose(np.column_stack([step.W, step.mean]), w_mu, atol=1e-6)


def test_em_recovers_planted_directions():
    """With a fifth of the values lost, the plane that made the data comes back, for ten seeds."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        true = PPCA(10 * rng.standard_normal(8), 2 * rng.standard_normal((8, 2)), 0.3)
        X = with_holes(true.sample(400, rng), 0.2, rng)
        fit = fit_ppca_em(X, 2)
        assert same_subspace(fit.W, true.W, 0.15)
        assert fit.sigma2 == pytest.approx(0.3, rel=0.15)
        np.testing.assert_allclose(fit.mean, true.mean, atol=0.8)


def test_em_does_not_depend_on_its_start():
    """Random starts agree, and a start can be given: eq-ppca-stationary."""
    X = with_holes(VIRUSES)
    runs = [fit_ppca_em(X, 2, rng=seed) for seed in range(4)]
    for run in runs[1:]:
        np.testing.assert_allclose(run.W, runs[0].W, atol=2e-3)
    again = fit_ppca_em(X, 2, start=runs[0])
    assert again.n_iter <= 4


def test_progress_bar(monkeypatch, capsys):
    """progress=True needs tqdm and says so in a sentence."""
    np.testing.assert_array_equal(
        fit_ppca_em(VIRUSES, 1, progress=True).W, fit_ppca_em(VIRUSES, 1).W
    )
    capsys.readouterr()
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="pip install"):
        fit_ppca_em(VIRUSES, 1, progress=True)


# --- missing values ----------------------------------------------------------------------------


def test_imputation_is_the_conditional_gaussian():
    """Mean and standard deviation are those of x_missing given x_seen, by d×d blocks:
    eq-ppca-impute eq-ppca-impute-std."""
    X = with_holes(VIRUSES, 0.3, 5)
    X[4] = np.nan
    model = fit_ppca_em(X, 3)
    filled, std = model.impute(X, return_std=True)
    cov = model.covariance()
    for i, x in enumerate(X):
        miss, seen = np.isnan(x), ~np.isnan(x)
        inner = cov[np.ix_(seen, seen)]
        cross = cov[np.ix_(miss, seen)]
        r = (x - model.mean)[seen]
        if seen.any():
            mean = model.mean[miss] + cross @ np.linalg.solve(inner, r)
            left = cov[np.ix_(miss, miss)] - cross @ np.linalg.solve(inner, cross.T)
        else:
            mean, left = model.mean, cov
        np.testing.assert_allclose(filled[i, miss], mean, rtol=1e-8)
        np.testing.assert_allclose(std[i, miss], np.sqrt(np.diag(left)), rtol=1e-8)
        np.testing.assert_array_equal(filled[i, seen], x[seen])
        assert np.all(std[i, seen] == 0)
    np.testing.assert_array_equal(model.impute(X), filled)


def test_error_bars_have_the_right_width():
    """Over many masks, 95 % of the lost values lie within 1.96 standard deviations: by the true
    model, and by a model that EM fitted to what is left: eq-ppca-impute-std."""
    true = PPCA(np.zeros(6), np.random.default_rng(2).standard_normal((6, 2)), 0.3)
    X = true.sample(400, 1)
    known, fitted = [], []
    for seed in range(25):
        holes = with_holes(X, 0.2, seed)
        lost = np.isnan(holes)
        for model, inside in ((true, known), (fit_ppca_em(holes, 2, tol=1e-8), fitted)):
            filled, std = model.impute(holes, return_std=True)
            inside.append(np.mean(np.abs(filled - X)[lost] < 1.96 * std[lost]))
    assert np.mean(known) == pytest.approx(0.95, abs=0.01)
    assert np.mean(fitted) == pytest.approx(0.95, abs=0.015)
    assert np.std(fitted) < 0.02


def test_rows_without_values_change_nothing():
    """An empty row adds nothing to the likelihood or to the fit: eq-ppca-e-step."""
    X = with_holes(VIRUSES, 0.2)
    more = np.vstack([X[:10], np.full((2, 18), np.nan), X[10:]])
    fit, again = fit_ppca_em(X, 2), fit_ppca_em(more, 2)
    np.testing.assert_allclose(again.W, fit.W, atol=1e-9)
    np.testing.assert_allclose(again.history, fit.history)
    filled, std = again.impute(more, return_std=True)
    np.testing.assert_allclose(filled[10], again.mean)
    np.testing.assert_allclose(std[11], np.sqrt(np.diag(again.covariance())))


def test_a_column_with_one_value_is_allowed():
    """One observed value is enough to keep a column; its loading is a fit, not a failure:
    eq-ppca-m-step."""
    X = VIRUSES.copy()
    X[1:, 3] = np.nan
    run = fit_ppca_em(X, 2, max_iter=50)
    assert np.isfinite(run.W).all()
    assert np.isfinite(run.impute(X)).all()


def test_patterns_of_missing_values_in_any_order():
    """Permuting rows permutes the answers, however the rows are grouped: eq-ppca-e-step."""
    X = with_holes(np.vstack([VIRUSES, VIRUSES]), 0.05)
    model, order = fit_ppca(VIRUSES, 2), np.random.default_rng(0).permutation(76)
    np.testing.assert_allclose(model.encode(X)[order], model.encode(X[order]), atol=1e-12)
    np.testing.assert_allclose(model.log_density(X)[order], model.log_density(X[order]))


# --- input -------------------------------------------------------------------------------------

RANK_2 = np.outer(np.arange(6.0), [1, 2, 3, 4]) + np.outer([1, -1, 2, 0, 0, 3], [1, 0, 0, 1.0])
HOLES = VIRUSES.copy()
HOLES[:, 5] = np.nan

BAD = [
    (lambda: fit_ppca(VIRUSES, 19), "at most 18"),
    (lambda: fit_ppca(VIRUSES, -1), "at least 0"),
    (lambda: fit_ppca(VIRUSES, 1.5), "whole number"),
    (lambda: fit_ppca([1.0, 2.0], 1), "1-D"),
    (lambda: fit_ppca(np.empty((0, 3)), 1), "empty"),
    (lambda: fit_ppca([["a", "b"]], 1), "not numbers"),
    (lambda: fit_ppca([[1j, 2]], 1), "complex"),
    (lambda: fit_ppca([[1, 2], [3]], 1), "different lengths"),
    (lambda: fit_ppca([[1.0, np.inf], [2, 3]], 1), "infinity"),
    (lambda: fit_ppca([[1.0, np.nan], [2, 3]], 1), "fit_ppca_em"),
    (lambda: fit_ppca(np.full((5, 3), 0.1), 1), "zero variance"),
    (lambda: fit_ppca(np.full((5, 3), 0.1), 0), "zero variance"),
    (lambda: fit_ppca(RANK_2, 2), "at most k=1"),
    (lambda: fit_ppca(RANK_2, 4), "without bound"),
    (lambda: fit_ppca(RANK_2 / 3 + 1e6, 2), "at most k=1"),  # rounding in X is no variance
    (lambda: fit_ppca(RANK_2[:3] / 3 + 1e6, 2), "at most k=1"),
    (lambda: fit_ppca(VIRUSES[:3], 2), "at most k=1"),
    (lambda: fit_ppca(VIRUSES[:1], 1), "zero variance"),
    (lambda: fit_ppca_em(VIRUSES, 19), "at most 18"),
    (lambda: fit_ppca_em(VIRUSES[:3], 2), "fewer components"),
    (lambda: fit_ppca_em(VIRUSES[:3], 5), "fewer components"),
    (lambda: fit_ppca_em(RANK_2, 2), "fewer components"),
    (lambda: fit_ppca_em(np.full((5, 3), 0.1), 1), "zero variance"),
    (lambda: fit_ppca_em(np.full((5, 3), np.nan), 1), "Column 0"),
    (lambda: fit_ppca_em(HOLES, 2), "Column 5"),
    (lambda: fit_ppca_em([[1.0, -np.inf], [2, 3]], 1), "infinity"),
    (lambda: fit_ppca_em(VIRUSES, 2, start=fit_ppca(VIRUSES, 3)), "k=2 of d=18"),
    (
        lambda: fit_ppca_em(VIRUSES, 1, start=PPCA(np.zeros(18), np.ones((18, 1)), 0.0)),
        "sigma2 > 0",
    ),
    (lambda: fit_ppca_em(VIRUSES, 1, start=fit_pca(VIRUSES, 1)), "start is a PCA: a PPCA"),
    (lambda: fit_ppca_em(VIRUSES, 1, tol=np.nan), "tol=nan"),
    (lambda: fit_ppca_em(VIRUSES, 1, tol=-1.0), "tol=-1.0"),
    (lambda: fit_ppca_em(VIRUSES, 1, max_iter=-3), "max_iter=-3"),
    (lambda: fit_ppca_em(VIRUSES, 1, max_iter=2.5), "max_iter=2.5"),
    (lambda: fit_ppca_em(VIRUSES, 1, rng="a"), "rng='a'"),
    (lambda: fit_ppca_em(VIRUSES, 1, progress="yes"), "progress='yes'"),
    (lambda: fit_ppca(VIRUSES * 2.0**700, 2), "out of the range of floats"),
    (lambda: fit_ppca(VIRUSES * 1e-200, 2), "out of the range of floats"),
    (lambda: fit_ppca_em(VIRUSES * 2.0**700, 2), "out of the range of floats"),
    (lambda: fit_ppca_em(VIRUSES * 1e-200, 2), "out of the range of floats"),
    (lambda: expect(fit_pca(VIRUSES, 1), VIRUSES), "model is a PCA: a PPCA"),
    (lambda: expect(fit_ppca(VIRUSES[:, :4], 1), VIRUSES), "X has 18 columns"),
    (lambda: expect(PPCA(np.zeros(3), np.ones((3, 1)), 0.0), np.eye(3)), "no density"),
    (lambda: maximize(VIRUSES, VIRUSES), "what expect"),
    (lambda: maximize(VIRUSES[:5], expect(fit_ppca(VIRUSES, 2), VIRUSES)), "X is 5×18"),
    (lambda: maximize(HOLES[:, :5], expect(fit_ppca(VIRUSES, 2), HOLES)), "X is 38×5"),
    (lambda: maximize(HOLES, expect(fit_ppca(VIRUSES, 2), HOLES)), "Column 5"),
    (lambda: maximum_likelihood(spectrum(VIRUSES), 19), "a 38×18 matrix: at most 18"),
    (lambda: fit_ppca(VIRUSES, 2).log_likelihood(VIRUSES.T), "X has 38 columns"),
    (lambda: fit_ppca(VIRUSES, 2).encode([[np.inf] * 18]), "infinity"),
    (lambda: fit_ppca(VIRUSES, 2).decode(np.ones((3, 4))), "4 columns and the model 2"),
    (lambda: fit_ppca(VIRUSES, 2).reconstruct(VIRUSES, shrink="no"), "shrink='no'"),
    (lambda: fit_ppca(VIRUSES, 2).impute(VIRUSES, return_std=1), "return_std=1"),
    (lambda: fit_ppca(VIRUSES, 2).sample(-1, 0), "n=-1"),
    (lambda: fit_ppca(VIRUSES, 2).sample(2, "a"), "rng='a'"),
    (lambda: PPCA(np.zeros(3), np.ones((3, 1)), 0.0).log_likelihood(np.eye(3)), "no density"),
    (lambda: PPCA(np.zeros(3), np.zeros((3, 1)), 0.0).encode(np.eye(3)), "sigma2=0"),
    (lambda: PPCA(np.zeros(2), np.eye(2), 1e-18).encode([[1.0, np.nan]]), "sigma2=1e-18"),
    (lambda: PPCA(np.zeros(2), np.ones((3, 1)), 1.0), "shapes"),
    (lambda: PPCA(np.zeros(3), np.full((3, 1), np.nan), 1.0), "finite"),
    (lambda: PPCA(np.zeros(3), np.ones((3, 1)), -1.0), "sigma2 ≥ 0"),
    (lambda: PPCA(np.zeros(3), np.ones((3, 1)), np.nan), "sigma2 ≥ 0"),
]


def test_bad_input_gets_a_sentence():
    """Each bad input has its own words."""
    for call, words in BAD:
        with pytest.raises(ValueError, match=re.escape(words)):
            call()


def test_missing_values_are_let_through_only_where_asked_for():
    """data_matrix refuses NaN unless missing=True, and infinity always."""
    gap = np.array([[1.0, np.nan]])
    assert data_matrix(gap, missing=True) is gap
    with pytest.raises(ValueError, match="NaN"):
        data_matrix(gap)
    with pytest.raises(ValueError, match=r"1 in all, the first \(infinity\) at index \[0, 1\]"):
        data_matrix([[np.nan, np.inf]], missing=True)


def test_inputs_are_left_alone():
    """No function writes into what it is given."""
    X = with_holes(VIRUSES)
    before = X.copy()
    X.flags.writeable = False
    model = fit_ppca_em(X, 2)
    model.impute(X, return_std=True)
    model.posterior(X)
    maximize(X, expect(model, X))
    fit_ppca(VIRUSES, 2)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(VIRUSES, tobamovirus())


def test_single_precision_and_integers():
    """float32 agrees to its own precision, integers are taken as they are."""
    exact = fit_ppca(VIRUSES, 2)
    for X in (VIRUSES.astype(np.float32), VIRUSES.astype(int), VIRUSES.astype(int).tolist()):
        fit = fit_ppca(X, 2)
        np.testing.assert_allclose(fit.covariance(), exact.covariance(), rtol=1e-4, atol=1e-4)
        assert fit.log_likelihood(X) == pytest.approx(exact.log_likelihood(VIRUSES), rel=1e-5)
        assert fit_ppca_em(X, 2).sigma2 == pytest.approx(exact.sigma2, rel=1e-4)
    assert fit_ppca(VIRUSES.astype(np.float32), 2).W.dtype == np.float32


def test_units_and_origin_do_not_matter():
    """X → cX + m gives c²Σ and the same codes, by both fits, from c = 1e-150 to 1e150, and with a
    mean of 1e8: eq-ppca-w eq-ppca-code eq-ppca-mean."""
    X, gaps = VIRUSES[:, :9] / 7, with_holes(VIRUSES[:, :9] / 7)
    fit, run = fit_ppca(X, 2), fit_ppca_em(gaps, 2)
    for scale in (1e-150, 1e-8, 3.0, 1e8, 1e150):
        scaled, moved = fit_ppca(X * scale, 2), fit_ppca_em(gaps * scale, 2)
        np.testing.assert_allclose(scaled.W / scale, fit.W, rtol=1e-9)
        np.testing.assert_allclose(scaled.encode(X * scale), fit.encode(X), rtol=1e-8)
        np.testing.assert_allclose(moved.W / scale, run.W, atol=1e-6)
        assert moved.sigma2 / scale**2 == pytest.approx(run.sigma2, rel=1e-6)
        shift = np.sum(~np.isnan(gaps)) * np.log(scale)
        assert moved.history[-1] + shift == pytest.approx(run.history[-1], abs=1e-9 * abs(shift))
    for origin in (1e6, -1e8):
        far, moved = fit_ppca(X + origin, 2), fit_ppca_em(gaps + origin, 2)
        np.testing.assert_allclose(far.W, fit.W, atol=1e-6)
        np.testing.assert_allclose(moved.W, run.W, atol=1e-5)
        np.testing.assert_allclose(moved.mean - origin, run.mean, atol=1e-5)
        assert moved.sigma2 == pytest.approx(run.sigma2, rel=1e-5)


def test_single_precision_of_any_size():
    """Squares of single-precision data don't overflow: eq-ppca-sigma2."""
    fit = fit_ppca(VIRUSES, 2)
    for scale in (1e-25, 1e25):
        scaled = fit_ppca((VIRUSES * scale).astype(np.float32), 2)
        assert scaled.sigma2 / scale**2 == pytest.approx(fit.sigma2, rel=1e-4)
        np.testing.assert_allclose(scaled.W / scale, fit.W, atol=1e-3)


def told(model, X, Y):
    """What a model says of its variances, of complete rows X and of rows Y with gaps."""
    yield np.sqrt(model.variances)
    yield model.explained_ratio
    yield model.log_density(Y)
    yield model.posterior(Y).covariance
    yield model.impute(Y, return_std=True)[1]
    yield model.reconstruct(X, shrink=False)


def test_a_model_in_single_precision_reckons_in_doubles():
    """What a model says of its data does not depend on whether W is single or double, at any
    size: eq-ppca-loglik eq-ppca-posterior eq-ppca-impute-std."""
    for scale in (1e-30, 1e-21, 1.0, 1e18, 1e30):
        X = (VIRUSES[:, :9] * scale).astype(np.float32)
        Y = np.where(np.arange(X.size).reshape(X.shape) % 7 == 0, np.nan, X)
        single = fit_ppca(X, 2)
        double = PPCA(single.mean.astype(float), single.W.astype(float), single.sigma2)
        for one, other in zip(told(single, X, Y), told(double, X, Y), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10 * scale)


@sparing
@given(seeds)
def test_the_nearest_point_of_a_plane_with_dependent_directions(seed):
    """Without shrinking, an image is the nearest point of mean + span(W), whatever the columns of
    W: dependent, zero, or of very different length: eq-ppca-shrink."""
    rng = np.random.default_rng(seed)
    Q, X = orthonormal(6, 3, seed), rng.standard_normal((8, 6))
    mix = rng.standard_normal((3, 5)) * [1.0, 1e-6, 1.0, 0.0, 1.0]
    for W in (Q @ mix, Q * [1.0, 1e-9, 1e3], np.column_stack([Q, Q])):
        model = PPCA(rng.standard_normal(6), W, rng.uniform(0.0, 2.0))
        nearest = model.mean + (X - model.mean) @ Q @ Q.T
        np.testing.assert_allclose(model.reconstruct(X, shrink=False), nearest, atol=1e-6)
    whole = fit_ppca(X, 6)  # the noise is the smallest variance, and has no direction of its own
    left = X - whole.reconstruct(X, shrink=False)
    assert np.sum(left**2) == pytest.approx(8 * whole.sigma2)
    point = PPCA(np.zeros(6), np.zeros((6, 2)), 1.0)
    np.testing.assert_array_equal(point.reconstruct(X, shrink=False), np.zeros((8, 6)))


def test_a_masked_table_is_told_how_to_mark_its_gaps():
    """The advice of the message is one that EM takes."""
    gaps = np.ma.masked_greater(VIRUSES[:, :9], 20)
    with pytest.raises(ValueError, match=r"X\.filled\(…\), by np\.nan"):
        fit_ppca_em(gaps, 1)
    assert fit_ppca_em(gaps.astype(float).filled(np.nan), 1).converged


@pytest.mark.parametrize("sigma2", [None, "one", 1j, [1.0, 2.0], np.ones(1), -1.0, np.nan, np.inf])
def test_noise_is_one_number(sigma2):
    """What is no variance is refused in a sentence when a model is made by hand."""
    with pytest.raises(ValueError, match=r"sigma2.*\.$"):
        PPCA(np.zeros(3), np.ones((3, 1)), sigma2)


def test_no_latent_direction_is_an_isotropic_gaussian():
    """k = 0 has Σ = σ²I with the mean variance: eq-ppca-sigma2."""
    fit, run = fit_ppca(VIRUSES, 0), fit_ppca_em(with_holes(VIRUSES), 0)
    assert fit.sigma2 == pytest.approx(VIRUSES.var(axis=0).mean())
    assert fit.encode(VIRUSES).shape == (38, 0)
    np.testing.assert_allclose(fit.reconstruct(VIRUSES), np.tile(fit.mean, (38, 1)))
    np.testing.assert_allclose(run.mean, np.nanmean(with_holes(VIRUSES), axis=0))
    assert fit_ppca([[1.0], [3.0]], 1).covariance() == pytest.approx(1.0)
    np.testing.assert_allclose(run.decode(run.encode(VIRUSES)), np.tile(run.mean, (38, 1)))
    assert (run.variances.size, run.explained_ratio.size) == (0, 0)
    filled, std = run.impute(with_holes(VIRUSES), return_std=True)
    np.testing.assert_allclose(std[np.isnan(with_holes(VIRUSES))], np.sqrt(run.sigma2))


def test_models_are_their_own():
    """A model can't be changed, owns its arrays, and survives pickle and copy."""
    W, mean = np.ones((3, 1)), np.zeros(3)
    model = PPCA(mean, W, 0.5)
    W *= 2
    mean += 1
    assert model.W.max() == 1
    assert model.mean.max() == 0
    with pytest.raises(AttributeError):
        model.sigma2 = 3.0
    fit = fit_ppca_em(with_holes(VIRUSES), 2)
    for twin in (fit, pickle.loads(pickle.dumps(fit)), copy.copy(fit), copy.deepcopy(fit)):
        np.testing.assert_array_equal(twin.encode(VIRUSES), fit.encode(VIRUSES))
        for array in (twin.W, twin.mean, twin.history):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
    assert repr(fit) == "PPCA(k=2 of d=18, sigma2=1.543)"
    assert repr(spectrum(VIRUSES)) == "Spectrum(rank 18 of 38×18, variances from 30.87 to 0.01003)"
    assert repr(spectrum(np.ones((2, 3)))) == "Spectrum(rank 0 of 2×3)"


def test_variances_of_the_model():
    """They are the k largest eigenvalues of Σ, whatever rotation W is in; with the closed form
    they are the variances that PCA finds, and the same shares: eq-ppca-spectrum."""
    fit, peer = fit_ppca(VIRUSES, 3), fit_pca(VIRUSES, 3)
    turned = PPCA(fit.mean, fit.W @ orthonormal(3, 3, 5), fit.sigma2)
    top = np.linalg.eigvalsh(fit.covariance())[:-4:-1]
    for model in (fit, turned):
        np.testing.assert_allclose(model.variances, top)
        np.testing.assert_allclose(model.variances, peer.variances)
        np.testing.assert_allclose(model.explained_ratio, peer.explained_ratio)
    np.testing.assert_array_equal(spectrum(VIRUSES).lam[:3].round(9), peer.variances.round(9))


def test_tables_with_names():
    """DataFrames are taken, gaps included; their names are kept, and another order is refused."""
    names = [f"acid {j}" for j in range(18)]
    frame = pd.DataFrame(with_holes(VIRUSES), columns=names)
    model = fit_ppca_em(frame, 2)
    assert model.columns == tuple(names)
    assert fit_ppca(pd.DataFrame(VIRUSES, columns=names), 2).columns == tuple(names)
    filled = model.impute(frame)
    np.testing.assert_allclose(filled, fit_ppca_em(frame.to_numpy(), 2).impute(frame.to_numpy()))
    gaps = frame.astype(object).where(frame.notna(), pd.NA)
    np.testing.assert_allclose(model.impute(gaps), filled)
    for verb in (model.encode, model.impute, model.log_density, model.posterior):
        verb(frame.to_numpy())
        with pytest.raises(ValueError, match="Column 0 of X is called 'acid 17'"):
            verb(frame[names[::-1]])
    with pytest.raises(ValueError, match="column 'acid 1'"):
        fit_ppca(frame.assign(**{"acid 1": "text"}), 2)


def test_one_spectrum_serves_every_k():
    """maximum_likelihood(spectrum(X), k) is fit_ppca(X, k): eq-ppca-w eq-ppca-sigma2."""
    whole = spectrum(VIRUSES)
    np.testing.assert_allclose(whole.lam, np.linalg.eigvalsh(np.cov(VIRUSES.T, bias=True))[::-1])
    for k in (0, 3, 17):
        np.testing.assert_array_equal(maximum_likelihood(whole, k).W, fit_ppca(VIRUSES, k).W)
    flat = spectrum(RANK_2)
    assert flat.V.shape == (4, 2)
    assert flat.lam[2:].tolist() == [0, 0]


# --- the engine against its plain versions -----------------------------------------------------


def patterned(n=40, d=7, seed=0):
    """Return a matrix with gaps: repeated patterns, complete rows, and an empty one."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[::3, 2:4] = np.nan
    X[1::3] = with_holes(X[1::3], 0.5, rng)
    X[4] = np.nan
    return X


@pytest.mark.parametrize("entries", [1, 60, 2**20])
def test_parts_hold_every_row_once(entries, monkeypatch):
    """However small the parts, their rows are those of the table, with the right patterns."""
    monkeypatch.setattr(missing, "BLOCK_ENTRIES", entries)
    X = patterned()
    for table in (missing.with_holes(X), missing.with_holes(X[:, :1] * np.ones(3))):
        rows = []
        for part in table.parts(3):
            here = np.arange(len(table))[part.rows]
            np.testing.assert_array_equal(part.patterns[part.group], table.seen[here])
            np.testing.assert_array_equal(part.values, table.values[here])
            assert set(part.group) == set(range(len(part.patterns)))
            rows.extend(here)
        assert sorted(rows) == list(range(len(table)))


@pytest.mark.parametrize("entries", [1, 60, 2**20])
def test_sums_by_pattern_are_the_plain_ones(entries, monkeypatch):
    """Gram matrices, second moments, covariances and forms, each as a loop would have them."""
    monkeypatch.setattr(missing, "BLOCK_ENTRIES", entries)
    rng = np.random.default_rng(1)
    W = rng.standard_normal((7, 3))
    for X in (patterned(), rng.standard_normal((9, 7))):
        Z, table = rng.standard_normal((len(X), 4)), missing.with_holes(X)
        grams = missing.grams(W, table.patterns)
        np.testing.assert_allclose(grams, [W[p].T @ W[p] for p in table.patterns], atol=1e-12)
        plain = np.array([Z[seen].T @ Z[seen] for seen in table.seen.T])
        moments = table.second_moments(Z)
        np.testing.assert_allclose(np.broadcast_to(moments, plain.shape), plain, atol=1e-12)
        T = rng.standard_normal((len(table.patterns), 2, 2))
        plain = np.array([T[table.group[seen]].sum(axis=0) for seen in table.seen.T])
        np.testing.assert_allclose(np.broadcast_to(table.over_rows(T), plain.shape), plain)
        forms = missing.quadratic_forms(W, grams)
        np.testing.assert_allclose(forms, np.einsum("jk,gkl,jl->gj", W, grams, W), atol=1e-10)


def test_solvers_are_the_plain_ones():
    """Systems by row, by column, and determinants of patterns with few values, one at a time."""
    rng = np.random.default_rng(2)
    table, W = missing.with_holes(patterned()), rng.standard_normal((7, 3))
    M = missing.grams(W, table.patterns) + 0.2 * np.eye(3)
    B = rng.standard_normal((len(table), 3))
    x, M_inv = missing.solve_rows(M, table.group, B)
    plain = [np.linalg.solve(M[g], b) for g, b in zip(table.group, B, strict=True)]
    np.testing.assert_allclose(x, plain, atol=1e-12)
    np.testing.assert_allclose(M_inv @ M, np.broadcast_to(np.eye(3), M.shape), atol=1e-12)
    logs = missing.log_determinants(M, W, 0.2, table.patterns)
    np.testing.assert_allclose(logs, np.log(np.linalg.det(M)))
    A = M[:5]
    np.testing.assert_allclose(
        missing.solve_columns(A, B[:5]), [np.linalg.solve(a, b) for a, b in zip(A, B, strict=False)]
    )
    np.testing.assert_allclose(missing.solve_columns(A[:1], B), np.linalg.solve(A[0], B.T).T)


def test_blocks_change_nothing(monkeypatch):
    """Every verb and a fit give the same, whether rows come in one part or in many."""
    X = patterned(60)
    model = fit_ppca_em(X, 2)
    whole = [model.encode(X), model.log_density(X), *model.posterior(X), *std_of(model, X)]
    monkeypatch.setattr(missing, "BLOCK_ENTRIES", 30)
    parts = [model.encode(X), model.log_density(X), *model.posterior(X), *std_of(model, X)]
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    np.testing.assert_allclose(fit_ppca_em(X, 2).W, model.W, atol=1e-5)
    assert len(list(infer(model, X))) > 5
    latent = next(infer(model, VIRUSES[:, :7]))
    np.testing.assert_allclose(log_gaussian(model, latent), model.log_density(VIRUSES[:, :7]))


def std_of(model, X):
    return model.impute(X, return_std=True)


def test_memory_of_a_step(monkeypatch):
    """A step holds a part of the k×k matrices at a time: 4 MB here, where all of them take 26."""
    monkeypatch.setattr(missing, "BLOCK_ENTRIES", 2**15)
    rng = np.random.default_rng(0)
    X = with_holes(rng.standard_normal((2000, 60)), 0.3, rng)
    model = PPCA(np.zeros(60), rng.standard_normal((60, 40)), 0.5)
    table = missing.with_holes(X)
    tracemalloc.start()
    maximize(table, expect(model, table))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * X.nbytes + 4 * 60 * 40 * 40 * 8 + 12 * 2**15 * 8


def test_own_units():
    """Column means become zero, the largest value about one; empty rows go, nothing else does."""
    X = patterned() * 1e30 + 5e30
    table, units = missing.in_own_units(missing.with_holes(X))
    assert len(table) == 39
    assert table.in_order
    assert 1 <= np.abs(table.values).max() < 2
    np.testing.assert_allclose(table.values.sum(axis=0), 0, atol=1e-12)
    back = np.where(table.seen, units.origin + units.unit * table.values, np.nan)
    kept = X[~np.isnan(X).all(axis=1)]
    np.testing.assert_allclose(np.sort(back, axis=0), np.sort(kept, axis=0))
    assert units.variance == pytest.approx(np.mean((table.values)[table.seen] ** 2))


def climb(values, tol=1e-3, terms=1):
    """Climb through the values; return the climb and how many were looked at."""
    way = Climb("Walking", terms, tol, len(values) - 1)
    for i, value in zip(way.rounds(), values, strict=False):
        if way.settled(value, i):
            break
    return way, i + 1


def test_a_climb_settles_when_little_is_to_come():
    """Gains that fall by c a step have c/(1 − c) of the last one to come."""
    for c in (0.3, 0.9):
        values = 5 - c ** np.arange(400.0)
        way, looks = climb(values)
        assert way.converged
        assert 5 - values[looks - 1] == pytest.approx(1e-3, rel=1 - 0.9 * c)
        assert way.best == looks - 1
        assert way.history.tolist() == values[:looks].tolist()
    assert not climb(np.arange(50.0))[0].converged


def test_a_fall_is_no_convergence():
    """A value that falls by more than rounding ends the climb at the best state, with a word."""
    way, looks = climb([1.0, 2.0, 3.0, 2.9, 5.0])
    assert (looks, way.best, way.converged, way.fell) == (4, 2, False, True)
    assert way.history.tolist() == [1, 2, 3]
    with pytest.warns(ConvergenceWarning, match="Walking stopped after 3 steps"):
        way.tell_unless_converged("Rest.")
    way, looks = climb([1.0, 2.0, 2.0 - 1e-15, 5.0])
    assert (looks, way.best, way.converged) == (3, 1, True)
    with pytest.raises(RuntimeError, match="No state"):
        _ = Climb("Walking", 1, 0.1, 5).best


@pytest.mark.parametrize("terms", [1, 1000])
def test_margins_grow_with_the_terms(terms):
    """A sum of many terms may fall by more through rounding; a fall at once leaves the start."""
    rounding = 1e6 * np.finfo(float).eps * terms
    assert climb([2.0, 2.0 - 2 * rounding], terms=terms)[0].fell
    way, looks = climb([2.0, 2.0 - rounding / 2, 5.0], terms=terms)
    assert (looks, way.best, way.fell, way.converged) == (2, 0, False, True)
    assert climb([0.0, 1.0, 1.5, 9.0], tol=0.51 / terms, terms=terms)[1] == 3
    assert climb([2.0, 2.0], terms=terms)[0].best == 0  # the first of equal ones


def test_all_the_steps_that_were_asked_for():
    """With tol=0 nothing settles, and there is nothing to be told of."""
    way, looks = climb([0.0, 0.0, 5.0], tol=0.0)
    assert (looks, way.best, way.converged) == (3, 2, False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        way.tell_unless_converged("Rest.")


def test_three_values_give_an_estimate():
    """Gains of 1 and 1/2 promise another 1/2; the warning names the last gain."""
    way, looks = climb([0.0, 1.0, 1.5, 1.75], tol=0.1)
    assert looks == 4
    with pytest.warns(ConvergenceWarning, match="made max_iter=3 steps.* gained 0.25:"):
        way.tell_unless_converged("Rest.")


# --- data and the published picture ------------------------------------------------------------


def test_tobamovirus_is_the_published_table():
    """38 viruses × 18 counts, with the sums that the shipped table has."""
    assert VIRUSES.shape == (38, 18)
    assert VIRUSES.sum() == 5943
    np.testing.assert_array_equal(VIRUSES, VIRUSES.round())
    np.testing.assert_array_equal(
        VIRUSES.sum(axis=0),
        [667, 569, 586, 637, 311, 207, 586, 32, 458, 50, 288, 494, 193, 289, 14, 89, 379, 94],
    )
    assert (VIRUSES.min(), VIRUSES.max()) == (0, 25)
    assert VIRUSES.var(axis=0).sum() == pytest.approx(83.3940, abs=1e-3)


def test_the_map_survives_a_fifth_of_the_values_lost():
    """Tipping and Bishop's picture: after a Procrustes turn the two maps agree:
    eq-ppca-posterior."""
    whole = fit_ppca(VIRUSES, 2).encode(VIRUSES)
    for seed in range(3):
        X = with_holes(VIRUSES, 0.2, seed)
        part = fit_ppca_em(X, 2).encode(X)
        U, _, Vt = np.linalg.svd(part.T @ whole)
        turned = part @ U @ Vt
        share = np.sum((turned - whole) ** 2) / np.sum(whole**2)
        assert share < 0.15


def test_a_gain_in_the_last_digits_is_none():
    """A few units in the last digit of a large value are rounding: the climb has settled."""
    way, looks = climb([-1e6, np.nextafter(-1e6, 0), 5.0], tol=1e-20)
    assert (looks, way.converged) == (2, True)
    assert climb([-1e6, -1e6 + 1e-3, 5.0], tol=1e-20)[1] == 3


@pytest.mark.parametrize("part", ["mean", "W"])
def test_every_number_of_a_model_is_finite(part):
    parts = {"mean": np.zeros(3), "W": np.ones((3, 1)), "sigma2": 1.0}
    parts[part][1] = np.nan
    with pytest.raises(ValueError, match="make no model"):
        PPCA(**parts)


def test_one_direction_must_be_seen_too():
    """Without noise, a column in which W is zero does not tell z, also for k = 1."""
    W, second = np.array([[1.0], [0.0]]), np.array([[False, True]])
    with pytest.raises(ValueError, match="too few observed values"):
        missing.refuse_unknowable(W, 0.0, second)
    missing.refuse_unknowable(W, 0.0, ~second)
    missing.refuse_unknowable(W, 0.5, second)
    missing.refuse_unknowable(W[:, :0], 0.0, second)


@pytest.mark.parametrize("g", [1, 2, 3])
def test_each_row_meets_the_matrix_of_its_group(g):
    rng = np.random.default_rng(g)
    A, B, group = rng.standard_normal((g, 2, 2)), rng.standard_normal((4, 2)), np.arange(4) % g
    plain = [A[j] @ b for j, b in zip(group, B, strict=True)]
    np.testing.assert_allclose(missing.by_row(A, group, B), plain)
    plain = [np.linalg.solve(a, b) for a, b in zip(A, B[:g], strict=True)]
    np.testing.assert_allclose(missing.solve_columns(A, B[:g]), plain)


def test_parts_have_no_more_rows_than_asked_for(monkeypatch):
    """Three k×k matrices in 12 entries for k = 2: only a pattern with more rows has more."""
    monkeypatch.setattr(missing, "BLOCK_ENTRIES", 12)
    X = np.ones((10, 4))
    X[[0, 1, 2, 3, 4], [0, 1, 2, 3, 0]] = np.nan  # patterns of 2, 1, 1, 1 and 5 rows
    assert sorted(len(part) for part in missing.with_holes(X).parts(2)) == [2, 3, 5]
    assert [len(part) for part in missing.with_holes(X).parts(1)] == [10]


def test_without_gaps_one_sum_serves_all_columns():
    """As its docstring says, the E-step returns one matrix for a complete table, else one each."""
    X = np.random.default_rng(0).standard_normal((9, 3))
    model = fit_ppca(X, 1)
    assert expect(model, X).spread.shape == (1, 1, 1)
    X[0, 0] = np.nan
    assert expect(model, X).spread.shape == (3, 1, 1)


def test_noise_collapses_by_variance_or_by_rounding():
    """A noise is none below 1e-10 of the variance, and below the square of four roundings."""
    units = missing.Units(np.zeros(2), 1.0, variance=3.0, rounding=1e-3)
    assert units.collapsed(1.5e-5)
    assert not units.collapsed(1.7e-5)
    exact = units._replace(rounding=0.0)
    assert exact.collapsed(2.9e-10)
    assert not exact.collapsed(3.1e-10)


@pytest.mark.parametrize(
    ("check", "parts"),
    [
        (lambda thing: missing.refuse_other_models(thing, "model"), ("W", "sigma2")),
        (missing.refuse_other_codes, ("m", "spread")),
        (partial(missing.loadings_and_noise, fit_ppca(VIRUSES, 1)), ("part", "M")),
    ],
)
def test_half_of_a_thing_is_none(check, parts):
    """What has one of the two parts that are needed is refused."""
    check(SimpleNamespace(**dict.fromkeys(parts)))
    for part in parts:
        with pytest.raises(ValueError, match="is a SimpleNamespace"):
            check(SimpleNamespace(**{part: None}))


def test_the_closed_form_points_to_em():
    with pytest.raises(ValueError, match="NaN, 2 in all: the closed form needs every value"):
        fit_ppca([[1.0, np.nan], [np.nan, 2.0], [3.0, 1.0]], 1)


def test_two_patterns_of_gaps():
    """As few as that, with several rows each: every row has the posterior of its own values."""
    X = np.random.default_rng(0).standard_normal((7, 4))
    model = fit_ppca(X, 2)
    X[1::2, 0] = np.nan
    m, S = model.posterior(X)
    for i, row in enumerate(X):
        one_m, one_S = model.posterior(row[None])
        np.testing.assert_allclose(m[i], one_m[0], atol=1e-12)
        np.testing.assert_allclose(S[i], one_S[0], atol=1e-12)
    plain = [m[seen].T @ m[seen] for seen in ~np.isnan(X.T)]
    np.testing.assert_allclose(missing.with_holes(X).second_moments(m), plain, atol=1e-12)


def test_what_em_can_start_from():
    """Any noise but none: from σ² = 0 no step leads away. The closed form takes no steps."""
    X = np.random.default_rng(0).standard_normal((20, 3))
    start = fit_ppca(X, 1)
    assert start.n_iter == 0
    for sigma2 in (0.5, 1.0):
        again = fit_ppca_em(X, 1, start=PPCA(start.mean, start.W, sigma2))
        assert again.sigma2 == pytest.approx(start.sigma2, rel=1e-4)
    with pytest.raises(ValueError, match="sigma2 > 0 are needed"):
        fit_ppca_em(X, 1, start=PPCA(start.mean, start.W, 0.0))


@pytest.mark.parametrize("shapes", [((3,), (4, 1)), ((3,), (3,)), ((3, 1), (3, 1))])
def test_shapes_that_make_no_model(shapes):
    mean, W = map(np.ones, shapes)
    with pytest.raises(ValueError, match="make no model"):
        PPCA(mean, W, 1.0)


def test_no_noise_is_left_where_the_rank_ends():
    """Rows that span two of three dimensions have models with k = 0 and 1, and no others."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 2)) @ rng.standard_normal((2, 3))
    for k in (0, 1):
        assert fit_ppca(X, k).sigma2 > 0
    for k in (2, 3):
        with pytest.raises(ValueError, match="Ask for at most k=1"):
            fit_ppca(X, k)


def test_em_needs_rows_that_differ():
    for X in (np.zeros((4, 2)), np.full((4, 2), 7.0)):
        with pytest.raises(ValueError, match="zero variance"):
            fit_ppca_em(X, 1)
