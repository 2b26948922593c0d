"""The theorems of chapter 2 on random matrices, with LAPACK, ARPACK and scikit-learn beside."""

import pickle
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from matrices import EPS, assert_orthonormal, known_svds, orthonormal, seeds, sparing, thorough
from scipy import linalg, sparse, stats
from scipy.sparse.linalg import LinearOperator, aslinearoperator, eigsh, svds
from scipy.special import gammaln

from kpca_edu import ConvergenceWarning
from kpca_edu import power_method as module
from kpca_edu._engine.products import (
    Map,
    as_map,
    length,
    orth,
    relative_residuals,
    unit_vector,
    without,
)
from kpca_edu._engine.rounds import (
    FIRST,
    PATIENCE,
    Rounds,
    Search,
    refuse_indefinite,
    start_tangent,
)
from kpca_edu.power_method import (
    PowerRun,
    SVDRun,
    convergence_bound,
    deflate,
    power_eigen,
    power_iteration,
    power_step,
    project_out,
    random_unit,
    ritz_triplets,
    spectral_norm_bounds,
    steps_needed,
    subspace_iteration,
    svd_by_deflation,
    svd_by_projection,
    value_bound,
)
from kpca_edu.sketching import randomized_svd, range_error_bound, range_finder
from kpca_edu.svd import SVD

ONE_BY_ONE = {"deflation": svd_by_deflation, "projection": svd_by_projection}
ITERATIONS = {**ONE_BY_ONE, "subspace": subspace_iteration}
ALL = {**ITERATIONS, "randomized": randomized_svd}
TRAP = np.sqrt([1.0, 0.9999, 0.5])  # singular values whose squares nearly tie

each_way = pytest.mark.parametrize("find", ALL.values(), ids=ALL)
each_iteration = pytest.mark.parametrize("find", ITERATIONS.values(), ids=ITERATIONS)
one_by_one = pytest.mark.parametrize("find", ONE_BY_ONE.values(), ids=ONE_BY_ONE)


half = settings(thorough, max_examples=40)


def made(s, n, d, seed=0):
    """Return a matrix with the singular values s, and its factors."""
    U, V = orthonormal(n, len(s), seed), orthonormal(d, len(s), seed + 1)
    return (U * s) @ V.T, U, V


def lapack(X):
    U, s, Vt = np.linalg.svd(np.asarray(X), full_matrices=False)
    return U, s, Vt.T


@st.composite
def gapped(draw):
    """Draw a matrix whose first singular value is 1 and the others are smaller."""
    n, d = draw(st.integers(2, 12)), draw(st.integers(2, 12))
    r = draw(st.integers(1, min(n, d)))
    rest = draw(st.lists(st.floats(0.05, 0.9), min_size=r - 1, max_size=r - 1))
    s = np.array([1.0, *sorted(rest, reverse=True)])
    seed = draw(st.integers(0, 10**6))
    X, U, V = made(s, n, d, seed)
    return X, U, s, V, np.random.default_rng(seed)


def residuals(X, f):
    """Return ‖Xᵀuᵢ − sᵢvᵢ‖/sᵢ of some triplets, by hand."""
    X = X.toarray() if sparse.issparse(X) else X
    scale = f.s.max(initial=0.0) or 1.0
    return np.linalg.norm((X / scale).T @ f.U - f.V * (f.s / scale), axis=0) / (f.s / scale)


def quietly(run, *args, **options):
    """Return what a run gives, whether it warned or not, and whether it did."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run(*args, **options)
    return result, any(issubclass(w.category, ConvergenceWarning) for w in caught)


def tangent(v, v1):
    """Return the tangent of the angle between two unit vectors, without cancellation."""
    return np.linalg.norm(v - (v @ v1) * v1) / abs(v @ v1)


def iterates(X, v, steps):
    """Return v₀, v₁, … of the power method, formed with XᵀX by hand."""
    M, out = X.T @ X, [v]
    for _ in range(steps):
        v = M @ v
        v = v / np.linalg.norm(v)
        out.append(v)
    return out


# --- one vector --------------------------------------------------------------------------------


@half
@given(gapped())
def test_power_iteration_finds_the_leading_triplet(known):
    """v, s and u are those X was made from, up to sign: eq-power-step."""
    X, U, s, V, rng = known
    run = power_iteration(X, tol=1e-10, rng=rng)
    assert run.converged
    assert run.s == pytest.approx(1.0, rel=1e-12)
    assert abs(run.v @ V[:, 0]) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(X @ run.v, run.s * run.u, atol=1e-14)
    assert np.linalg.norm(X.T @ run.u - run.s * run.v) <= 1.1e-10
    assert run.v[np.argmax(np.abs(run.v))] > 0


def test_every_iterate_is_a_power_of_the_gram_matrix():
    """max_iter=t gives the vector after t steps, (XᵀX)ᵗv₀ scaled to length one: eq-power-step."""
    X, _, _ = made([2.0, 1.5, 1.0], 6, 5)
    v = random_unit(5, 3)
    for t, expected in enumerate(iterates(X, v, 8)):
        run = power_iteration(X, start=v, tol=0.0, max_iter=t)
        assert (run.n_iter, run.converged, len(run.history.s)) == (t, False, t + 1)
        np.testing.assert_allclose(run.v, expected * np.sign(expected @ run.v), atol=1e-13)


@half
@given(gapped(), st.sampled_from([1e-150, 1.0, 1e150]))
def test_a_step_is_two_products(known, scale):
    """power_step gives XᵀXv scaled, and s, u and residual of v: eq-power-step eq-power-residual."""
    X, _, _, _, rng = known
    v = random_unit(X.shape[1], rng)
    following, s, u, residual = power_step(scale * X, 3 * v)
    _, expected = iterates(X, v, 1)
    np.testing.assert_allclose(following, expected, atol=1e-13)
    assert s / scale == pytest.approx(np.linalg.norm(X @ v))
    np.testing.assert_allclose(s / scale * u, X @ v, atol=1e-14)
    rest = X.T @ (X @ v) - (s / scale) ** 2 * v
    assert residual == pytest.approx(np.linalg.norm(rest) / (s / scale) ** 2, abs=1e-12)


@half
@given(gapped())
def test_power_iteration_repeats_the_step(known):
    """The loop by hand ends at the same vector after as many steps: eq-power-step."""
    X, _, _, _, rng = known
    v = start = random_unit(X.shape[1], rng)
    run = power_iteration(X, start=start, tol=1e-6)
    for _ in range(run.n_iter):
        v = power_step(X, v).v
    np.testing.assert_allclose(run.v, v * np.sign(run.v @ v), atol=1e-12)
    assert power_step(X, v).residual <= 1e-6
    assert run.residual == pytest.approx(power_step(X, v).residual, abs=1e-12)


@half
@given(gapped(), st.integers(0, 30))
def test_coordinates_are_multiplied_by_the_eigenvalues(known, t):
    """Coordinate i of (XᵀX)ᵗv₀ is λᵢᵗbᵢ: eq-power-coords."""
    X, _, s, V, rng = known
    v = random_unit(X.shape[1], rng)
    power = np.linalg.matrix_power(X.T @ X, t) @ v
    expected = s ** (2 * t) * (V.T @ v)
    if t:
        np.testing.assert_allclose(V.T @ power, expected, atol=1e-13)
        np.testing.assert_allclose(power, V @ expected, atol=1e-13)


@half
@given(gapped())
def test_the_tangent_falls_at_least_by_the_ratio(known):
    """tan θₜ ≤ (λ₂/λ₁)ᵗ tan θ₀: eq-power-tan."""
    X, _, s, V, rng = known
    v = random_unit(X.shape[1], rng)
    start, ratio = tangent(v, V[:, 0]), (s[1] / s[0]) ** 2 if s.size > 1 else 0.0
    for t, v_t in enumerate(iterates(X, v, 25)):
        assert tangent(v_t, V[:, 0]) <= ratio**t * start * (1 + 1e-9) + 1e-12


def test_the_rate_is_the_ratio_of_the_eigenvalues():
    """In the long run tan θ falls by exactly λ₂/λ₁ a step: eq-power-tan."""
    s = np.array([1.0, 0.9, 0.5, 0.2])
    X, _, V = made(s, 9, 7)
    tangents = [tangent(v, V[:, 0]) for v in iterates(X, random_unit(7, 1), 60)]
    assert tangents[60] / tangents[50] == pytest.approx(0.81**10, rel=1e-4)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 100, 1000])
def test_small_overlaps_are_rare(n):
    """Pr(|b₁| ≤ h) ≤ h√(2n/π) by the Beta law, sharply for large n: eq-anti."""
    h = np.linspace(0, 1, 400)[1:] / np.sqrt(n)
    h = h[h < 1]  # for n = 1, where |b₁| = 1, the bound is false at h = 1
    exact = stats.beta(0.5, (n - 1) / 2).cdf(h**2) if n > 1 else np.zeros_like(h)
    assert np.all(exact <= h * np.sqrt(2 * n / np.pi))
    if n == 1000:
        assert exact[0] == pytest.approx(h[0] * np.sqrt(2 * n / np.pi), rel=2e-3)


def test_the_constant_twenty_of_the_notes():
    """Pr(|b₁| > 1/(20√n)) is at least .96 for every n, thus also at least .9: eq-anti."""
    n = np.arange(2, 2001)
    chance = stats.beta(0.5, (n - 1) / 2).sf(1 / (400 * n))
    assert chance.min() >= 1 - np.sqrt(2 / np.pi) / 20
    assert chance.min() == pytest.approx(0.960137, abs=1e-6)
    assert chance[0] == pytest.approx(0.9775, abs=1e-4)


def test_moments_of_the_overlap():
    """E b₁² = 1/d and E|b₁| = Γ(d/2)/(√π Γ((d+1)/2)), not 1/√d: eq-anti."""
    for d in (2, 3, 10, 100):
        rng = np.random.default_rng(d)
        b = np.array([random_unit(d, rng)[0] for _ in range(8_000)])
        mean = np.exp(gammaln(d / 2) - gammaln((d + 1) / 2)) / np.sqrt(np.pi)
        assert np.mean(b**2) == pytest.approx(1 / d, rel=0.05)
        assert np.mean(np.abs(b)) == pytest.approx(mean, rel=0.03)
        assert mean < 0.91 / np.sqrt(d)
        assert np.mean(b) == pytest.approx(0, abs=5 / np.sqrt(8_000 * d))


def test_random_unit_is_uniform():
    """Every direction is alike: mean 0, covariance I/d, and b₁² has its Beta law: eq-anti."""
    rng = np.random.default_rng(0)
    v = np.array([random_unit(4, rng) for _ in range(8_000)])
    np.testing.assert_allclose(np.linalg.norm(v, axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(v.T @ v / len(v), np.eye(4) / 4, atol=0.01)
    overlap = (v @ np.array([0.5, -0.5, 0.5, 0.5])) ** 2
    assert stats.kstest(overlap, stats.beta(0.5, 1.5).cdf).pvalue > 0.01


def test_a_direction_that_does_not_fit_is_refused_with_its_size():
    """d numbers take 8d bytes."""
    with pytest.raises(MemoryError, match=r"1,000,000,000,000,000×1, takes 8000\.0 TB"):
        random_unit(10**15)


@pytest.mark.parametrize("failure", [0.5, 0.1, 0.02])
@pytest.mark.parametrize(("n", "ratio"), [(2, 0.5), (8, 0.81), (60, 0.9)])
def test_the_convergence_bound_holds_as_often_as_it_says(n, ratio, failure):
    """At most a share ``failure`` of starts breaks it: eq-start-tangent eq-power-bound."""
    lam = ratio ** np.array([0, 1] + [1 + i / 2 for i in range(1, n - 1)])
    b = np.random.default_rng(1).standard_normal((4000, n))
    b /= np.linalg.norm(b, axis=1, keepdims=True)
    holds = np.ones(4000, bool)
    for t in range(60):
        c = b * lam**t
        cosine = np.abs(c[:, 0]) / np.linalg.norm(c, axis=1)
        holds &= cosine >= convergence_bound(n, ratio, t, failure=failure) - 1e-12
    broken = 1 - holds.mean()
    assert broken <= failure + 3 * np.sqrt(failure / 4000)
    assert broken >= failure / 4  # and the bound is not idle


@thorough
@given(st.integers(1, 500), st.floats(0.01, 0.999), st.integers(0, 400))
def test_the_bounds_of_the_notes_are_weaker(n, ratio, t):
    """1 − 20√n qᵗ and 1 − 200 n q²ᵗ never exceed our bound at failure 0.1: eq-power-bound."""
    ours = convergence_bound(n, ratio, t)
    for weaker in (
        1 - 20 * n * ratio**t,
        1 - 20 * np.sqrt(n) * ratio**t,
        1 - 200 * n * ratio ** (2 * t),
    ):
        assert weaker <= ours + 1e-12


@thorough
@given(st.integers(1, 10**6), st.floats(0.01, 0.999), st.floats(1e-9, 0.5))
def test_steps_needed_inverts_the_bound(n, ratio, goal):
    """So many steps reach the tangent, and one step fewer doesn't: eq-power-steps."""
    t = steps_needed(n, ratio, goal)
    reached = np.sqrt(2 * n / np.pi) / 0.1 * ratio ** np.array([t, t - 1.0])
    assert reached[0] <= goal * (1 + 1e-9)
    assert t == 0 or reached[1] > goal * (1 - 1e-9)
    assert steps_needed(n, 0.0, goal) == (1 if steps_needed(n, 0.5, goal) else 0)
    tiny = 2.0**-1074  # the smallest float: each halving of the goal takes a step at ratio 1/2
    assert steps_needed(n, 0.5, tiny) == steps_needed(n, 0.5, 2.0**-900) + 174


@half
@given(gapped())
def test_the_value_converges_twice_as_fast(known):
    """0 ≤ 1 − sₜ²/s₁² ≤ sin²θₜ: eq-rayleigh."""
    X, _, _, V, rng = known
    for v in iterates(X, random_unit(X.shape[1], rng), 12):
        loss = 1 - np.sum((X @ v) ** 2)
        sine2 = 1 - (v @ V[:, 0]) ** 2
        assert -1e-12 <= loss <= sine2 + 1e-12


def test_twice_as_fast_means_the_square():
    """The error of the value falls by (λ₂/λ₁)² a step: eq-rayleigh."""
    X, _, _ = made(np.array([1.0, 0.9, 0.3]), 9, 7)
    s = power_iteration(X, tol=0.0, max_iter=60, rng=2).history.s
    error = 1 - s**2
    assert error[40] / error[30] == pytest.approx(0.81**20, rel=1e-3)


@pytest.mark.parametrize("spectrum", ["tie", "tiny gap", "slow"])
def test_the_value_needs_no_gap(spectrum):
    """sₜ/s₁ keeps to its bound in at least 1 − failure of the runs, gap or none: eq-value-bound."""
    n, t = 50, np.arange(1, 40)
    lam = {
        "tie": np.r_[1.0, 1.0, np.full(n - 2, 0.9)],
        "tiny gap": np.r_[1.0, np.full(n - 1, 1 - 1e-3)],
        "slow": 1 / np.arange(1.0, n + 1) ** 0.1,
    }[spectrum]
    b2 = np.random.default_rng(0).standard_normal((2000, n)) ** 2
    bound, holds = value_bound(n, t), np.ones(2000, bool)
    for i, step in enumerate(t):
        rayleigh = (b2 @ lam ** (2 * step + 1)) / (b2 @ lam ** (2 * step))
        holds &= np.sqrt(rayleigh) >= bound[i]
    assert holds.mean() >= 0.9


@half
@given(gapped(), st.integers(1, 20))
def test_the_value_bound_by_its_proof(known, t):
    """ρₜ ≥ λ₁|b₁|^(1/t) for every start: eq-value-bound."""
    X, _, _, V, rng = known
    v = random_unit(X.shape[1], rng)
    rayleigh = np.sum((X @ iterates(X, v, t)[-1]) ** 2)
    assert rayleigh >= abs(v @ V[:, 0]) ** (1 / t) * (1 - 1e-12)


def test_the_spectral_norm_lies_between_its_bounds():
    """‖X‖₂ is between the two numbers in 95 of 100 runs at least: eq-value-bound."""
    X = np.random.default_rng(0).standard_normal((40, 30))
    norm = np.linalg.norm(X, 2)
    pairs = np.array(
        [spectral_norm_bounds(X, n_iter=5, failure=0.05, rng=seed) for seed in range(100)]
    )
    assert np.all(pairs[:, 0] <= norm * (1 + 1e-12))
    assert np.mean(pairs[:, 1] >= norm) >= 0.95
    assert pairs[0, 1] / pairs[0, 0] == pytest.approx((np.sqrt(60 / np.pi) / 0.05) ** 0.1)
    low, high = spectral_norm_bounds(X, n_iter=500)
    assert low == pytest.approx(norm, rel=1e-6)
    assert high <= 1.01 * norm


# --- stopping ------------------------------------------------------------------------------------


@half
@given(gapped(), st.integers(1, 12))
def test_the_history_holds_what_it_says(known, steps):
    """s, residual and step of each iterate are those computed by hand: eq-power-residual."""
    X, _, _, _, rng = known
    v0 = random_unit(X.shape[1], rng)
    h = power_iteration(X, start=v0, tol=0.0, max_iter=steps).history
    v, M = iterates(X, v0, len(h.s)), X.T @ X
    for t in range(len(h.s)):
        rho = v[t] @ M @ v[t]
        assert h.s[t] == pytest.approx(np.sqrt(rho), rel=1e-9)
        by_hand = np.linalg.norm(M @ v[t] - rho * v[t]) / rho
        assert h.residual[t] == pytest.approx(by_hand, rel=1e-6, abs=1e-9 / rho)
        assert h.step[t] == pytest.approx(np.linalg.norm(v[t + 1] - v[t]), abs=1e-7)


@half
@given(gapped(), st.integers(1, 10))
def test_an_approximate_triplet_is_exact_for_a_matrix_nearby(known, steps):
    """With E = u(Xᵀu − sv)ᵀ the triplet is one of X − E: eq-power-backward."""
    X, _, _, _, rng = known
    run = power_iteration(X, tol=0.0, max_iter=steps, rng=rng)
    rest = X.T @ run.u - run.s * run.v
    E = np.outer(run.u, rest)
    np.testing.assert_allclose((X - E) @ run.v, run.s * run.u, atol=1e-13)
    np.testing.assert_allclose((X - E).T @ run.u, run.s * run.v, atol=1e-13)
    size = run.history.residual[-1] * run.s
    assert np.linalg.norm(E, 2) == pytest.approx(size, abs=1e-13)


@half
@given(gapped(), st.integers(1, 10))
def test_residual_and_gap_bound_the_angle(known, steps):
    """sin θ ≤ r s²/(s² − λ₂) once s² > λ₂, and no eigenvalue is r s² away: eq-angle-residual."""
    X, _, s, V, rng = known
    run = power_iteration(X, tol=0.0, max_iter=steps, rng=rng)
    absolute = run.history.residual[-1] * run.s**2
    second = s[1] ** 2 if s.size > 1 else 0.0
    sine = np.linalg.norm(run.v - (run.v @ V[:, 0]) * V[:, 0])
    if run.s**2 > second + 1e-6:
        assert sine <= absolute / (run.s**2 - second) + 1e-9
    eigenvalues = np.r_[s**2, 0.0]
    assert np.abs(eigenvalues - run.s**2).min() <= absolute + 1e-12


@half
@given(gapped())
def test_step_and_residual_are_one_number(known):
    """The step is the chord of an angle whose tangent is the residual: eq-step-residual."""
    X, _, _, _, rng = known
    h = power_iteration(X, tol=0.0, max_iter=8, rng=rng).history
    np.testing.assert_allclose(h.step, 2 * np.sin(np.arctan(h.residual) / 2), atol=1e-7)


def test_neither_step_nor_residual_is_the_error():
    """Eigenvalues 1, .9999, .5: at one tolerance both rules stop 45° off: eq-step-residual."""
    X, start = np.diag(TRAP), np.ones(3)
    for rule in ("step", "residual"):
        fooled = power_iteration(X, start=start, stop=rule, tol=1e-4)
        assert fooled.converged
        assert 12 <= fooled.n_iter <= 14
        assert np.degrees(np.arccos(fooled.v[0])) == pytest.approx(45, abs=0.1)
        with pytest.warns(ConvergenceWarning, match=f"the {rule} is .*, after 1000 steps"):
            assert not power_iteration(X, start=start, stop=rule, max_iter=1000).converged


def test_stopping_on_the_step():
    """stop="step" ends at the first step below tol, whatever the residual: eq-power-residual."""
    X, _, _ = made([1.0, 0.8], 5, 4)
    h = power_iteration(X, stop="step", tol=1e-3).history
    assert h.step[-1] <= 1e-3 < h.step[-2]
    h = power_iteration(X, tol=1e-3).history
    assert h.residual[-1] <= 1e-3 < h.residual[-2]


def test_the_two_rules_look_at_different_numbers():
    """At 60° from v₁ the step is 1 and the residual tan 60°: eq-power-residual eq-step-residual."""
    X, start = np.diag([1.0, 0.0]), [0.5, np.sqrt(0.75)]
    by_step = power_iteration(X, start=start, stop="step", tol=1.2)
    by_residual = power_iteration(X, start=start, tol=1.2)
    assert (by_step.n_iter, by_residual.n_iter) == (0, 1)
    assert by_step.history.step[0] == pytest.approx(1.0)
    assert by_step.history.residual[0] == pytest.approx(np.sqrt(3))
    of_gram = power_eigen(X, start=start, tol=0.0, max_iter=1).history
    assert of_gram.step == pytest.approx([1.0, 0.0])


def test_a_tie_converges_into_its_plane():
    """If λ₁ = λ₂ the limit is a vector of the leading eigenspace: eq-power-tan."""
    X, _, V = made([2.0, 2.0, 1.0], 8, 6)
    limits = [power_iteration(X, rng=seed) for seed in range(3)]
    for run in limits:
        assert run.converged
        assert np.linalg.norm(V[:, :2].T @ run.v) == pytest.approx(1, abs=1e-12)
    assert abs(limits[0].v @ limits[1].v) < 0.999  # which vector, the start decides


def test_a_start_without_v1_never_finds_it():
    """b₁ = 0 exactly stays 0: the next vector is found instead: eq-power-coords."""
    run = power_iteration(np.diag([3.0, 2.0, 1.0]), start=[0, 1, 1])
    assert run.s == pytest.approx(2.0)
    np.testing.assert_allclose(run.v, [0, 1, 0], atol=1e-7)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-150, 1e-20, 1e20, 1e150, 1e200])
def test_units_do_not_matter(scale):
    """X and cX have the same vectors, found in as many steps: eq-power-residual."""
    X, _, _ = made([5.0, 4.0, 3.0, 2.0], 9, 7)
    for find in ALL.values():
        plain, scaled = find(X, 2), find(scale * X, 2)
        np.testing.assert_allclose(scaled.s / scale, [5, 4], rtol=1e-12)
        np.testing.assert_allclose(scaled.V, plain.V, atol=1e-6)
        assert getattr(scaled, "n_iter", 0) == getattr(plain, "n_iter", 0)
    run = power_iteration(scale * X)
    assert run.converged
    assert run.s / scale == pytest.approx(5)
    assert power_eigen(scale * (X.T @ X)).lam / scale == pytest.approx(25)


def test_bare_powers_overflow_or_vanish():
    """The iterate without normalisation leaves the range of doubles: eq-power-step."""
    y, small = np.ones(1), np.ones(1)
    with np.errstate(all="ignore"):
        for _ in range(200):
            y, small = 114.3**2 * y, 0.114**2 * small
    assert np.isinf(y[0])
    assert small[0] == 0


# --- the other side, and Gram matrices -----------------------------------------------------------


@half
@given(gapped())
def test_the_left_side_gives_the_same_triplet(known):
    """Iterating XXᵀ, by passing Xᵀ, leads to the same s, with u and v swapped: eq-power-eigen."""
    X, _, _, _, rng = known
    right, left = power_iteration(X, rng=rng), power_iteration(X.T, rng=rng)
    assert left.s == pytest.approx(right.s, rel=1e-12)
    assert abs(left.v @ right.u) == pytest.approx(1, abs=1e-12)
    assert abs(left.u @ right.v) == pytest.approx(1, abs=1e-12)


@half
@given(gapped())
def test_power_eigen_needs_the_gram_matrix_only(known):
    """K = XXᵀ has the eigenpair (s₁², u₁): eq-power-eigen."""
    X, U, _, _, rng = known
    run = power_eigen(X @ X.T, rng=rng)
    assert run.converged
    assert run.lam == pytest.approx(1.0, rel=1e-12)
    assert abs(run.a @ U[:, 0]) == pytest.approx(1, abs=1e-12)
    assert run.a[np.argmax(np.abs(run.a))] > 0


def test_power_eigen_survives_a_start_in_the_null_space():
    """A first product that is all rounding is no sign of an indefinite K: eq-power-eigen."""
    for seed in range(10):
        X = np.random.default_rng(seed).standard_normal((30, 5))
        X = X - X.mean(axis=0)
        run = power_eigen(X @ X.T, start=np.ones(30))
        assert run.converged
        assert run.lam == pytest.approx(np.linalg.norm(X, 2) ** 2)


def test_power_eigen_takes_no_negative_residual_for_convergence():
    """A slightly negative aᵀKa does not stop the iteration: eq-power-eigen."""
    run, warned = quietly(power_eigen, [[0.0, 1.0], [1.0, 0.0]], start=[1.0, -1e-10], max_iter=0)
    assert (run.converged, warned) == (False, True)
    assert run.history.residual[0] > 1


def test_power_eigen_agrees_with_arpack():
    """eigsh finds the same pair of an RBF Gram matrix: eq-power-eigen."""
    points = np.random.default_rng(0).standard_normal((60, 2))
    gap = points[:, None] - points[None]
    K = np.exp(-np.sum(gap**2, axis=-1))
    lam, a = eigsh(K, 1, v0=np.ones(60))
    for form in (K, sparse.csr_array(K), aslinearoperator(K)):
        run = power_eigen(form, tol=1e-10)
        assert run.lam == pytest.approx(lam[0], rel=1e-12)
        np.testing.assert_allclose(np.abs(run.a), np.abs(a[:, 0]), atol=1e-7)
    h = run.history
    assert len(h.s) == len(h.residual) == len(h.step) == run.n_iter + 1
    assert h.residual[-1] <= 1e-10 < h.residual[-2]


# --- several triplets, one by one ----------------------------------------------------------------


@sparing
@given(known_svds(scales=st.just(1.0), max_fall=3, max_side=9), st.integers(1, 9))
@pytest.mark.parametrize("find", ALL.values(), ids=ALL)
def test_every_way_finds_the_leading_values(find, known, k):
    """The k leading values come out, ties included, and no more than the rank: eq-deflation."""
    k = min(k, *known.A.shape)
    f = find(known.A, k, rng=known.rng)
    assert isinstance(f, SVD)
    assert f.rank == min(k, known.s.size)
    np.testing.assert_allclose(f.s, known.s[:k], atol=1e-12)
    assert np.all(np.diff(f.s) <= 0)
    np.testing.assert_allclose(known.A @ f.V, f.U * f.s, atol=1e-6)
    np.testing.assert_allclose(known.A.T @ f.U, f.V * f.s, atol=1e-6)
    assert_orthonormal(f.V, 100 * known.size)
    assert_orthonormal(f.U, 100 * known.size)


@each_way
@pytest.mark.parametrize("shape", [(30, 12), (12, 30), (15, 15)])
def test_every_way_agrees_with_lapack(find, shape):
    """Vectors and values are LAPACK's up to sign: eq-projection eq-subspace-step eq-randomized."""
    X, _, _ = made(2.0 ** -np.arange(8), *shape, seed=3)
    U, s, V = lapack(X)
    f = find(X, 4, rng=1)
    np.testing.assert_allclose(f.s, s[:4], rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(f.V * V[:, :4], axis=0)), 1, atol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(f.U * U[:, :4], axis=0)), 1, atol=1e-9)
    largest = np.argmax(np.abs(f.V), axis=0)
    assert np.all(f.V[largest, range(4)] > 0)


@half
@given(known_svds(scales=st.just(1.0)))
def test_deflating_is_projecting(known):
    """X − suvᵀ = X(I − vvᵀ) for *every* unit v, if su = Xv: eq-deflation."""
    v = random_unit(known.A.shape[1], known.rng)
    Xv = known.A @ v
    s = np.linalg.norm(Xv)
    u = Xv / (s or 1.0)
    rest = deflate(known.A, SVD(u[:, None], np.array([s]), v[:, None]))
    B = np.eye(known.A.shape[1])
    np.testing.assert_allclose(rest @ B, known.A @ (B - np.outer(v, v)), atol=1e-14)
    np.testing.assert_allclose(rest.T @ np.eye(known.A.shape[0]), (rest @ B).T, atol=1e-14)
    np.testing.assert_allclose(rest @ v, 0, atol=1e-14)
    np.testing.assert_array_equal(rest.matvec(B[0]), rest @ B[0])  # as SciPy's solvers ask
    np.testing.assert_array_equal(rest.matmat(B), rest @ B)
    np.testing.assert_allclose(rest.rmatvec(u), rest.T @ u, atol=1e-14)


def test_the_rest_has_the_remaining_values():
    """After k exact triplets the rest has the values s_{k+1}, …: eq-deflation eq-certificate."""
    X, _, _ = made([4.0, 3.0, 2.0, 1.0], 9, 7)
    U, s, V = lapack(X)
    for k in range(5):
        rest = deflate(X, SVD(U[:, :k], s[:k], V[:, :k])) @ np.eye(7)
        found = np.linalg.svd(rest, compute_uv=False)[: 4 - k]
        np.testing.assert_allclose(found, [4.0, 3.0, 2.0, 1.0][k:], atol=1e-12)


def found_one_by_one(X, k, rest_of, tol=None):
    """Return the runs of the power method on what is left of X, without the step at the end."""
    runs, rest = [], X
    for seed in range(k):
        runs.append(quietly(power_iteration, rest, tol=tol, rng=seed)[0])
        rest = rest_of(X, np.column_stack([run.v for run in runs]), rest, runs[-1])
    return runs


REST_OF = {
    "deflation": lambda X, V, rest, run: deflate(rest, run),
    "projection": lambda X, V, rest, run: project_out(X, V),
}


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("rest_of", REST_OF.values(), ids=REST_OF)
def test_left_vectors_overlap_as_the_residuals_allow(rest_of, tol):
    """Before the last step |uᵢᵀuⱼ| ≤ rᵢ sᵢ/sⱼ for i < j, and no better: eq-left-overlap."""
    s = np.array([1.0, 0.8, 0.3, 0.1, 0.01])
    X, _, _ = made(s, 12, 9)
    runs = found_one_by_one(X, 5, rest_of, tol)
    U = np.column_stack([X @ run.v / np.linalg.norm(X @ run.v) for run in runs])
    worst = 0.0
    for i in range(5):
        residual = np.linalg.norm(X.T @ U[:, i] - runs[i].s * runs[i].v) / runs[i].s
        for j in range(i + 1, 5):
            bound = residual * runs[i].s / runs[j].s
            assert abs(U[:, i] @ U[:, j]) <= bound * (1 + 1e-6) + 1e-12
            worst = max(worst, abs(U[:, i] @ U[:, j]))
    assert worst >= tol / 10


@half
@given(st.integers(2, 5), st.sampled_from([1e-2, 1e-4, 1e-6]), seeds)
def test_residuals_for_the_matrix_itself(k, tol, seed):
    """rᵢ² = rᵢ'² + Σ((sⱼ/sᵢ) uⱼᵀuᵢ)², each term at most rⱼ²(sⱼ/sᵢ)⁴: eq-hidden-residual."""
    X, _, _ = made(10.0 ** -np.linspace(0.0, 3.0, 5), 12, 9, seed % 1000)
    runs = found_one_by_one(X, k, REST_OF["projection"], tol)
    V = np.column_stack([run.v for run in runs])
    s = np.linalg.norm(X @ V, axis=0)
    U = X @ V / s
    r = np.linalg.norm(X.T @ U - V * s, axis=0) / s
    for i in range(k):
        hidden = s[:i] / s[i] * (U[:, :i].T @ U[:, i])
        assert np.hypot(runs[i].residual, np.linalg.norm(hidden)) == pytest.approx(r[i], abs=1e-7)
        assert np.all(np.abs(hidden) <= r[:i] * (s[:i] / s[i]) ** 2 * (1 + 1e-6) + 1e-9)


def test_projection_keeps_orthogonality_and_deflation_loses_it():
    """VᵀV = I to rounding by projection, to ε s₁/s_k by deflation: eq-projection."""
    X, _, _ = made(10.0 ** -np.arange(0.0, 10.0, 2.0), 30, 20)
    lost = {}
    for name, rest_of in REST_OF.items():
        V = np.column_stack([run.v for run in found_one_by_one(X, 5, rest_of)])
        lost[name] = np.abs(V.T @ V - np.eye(5)).max()
    assert lost["projection"] <= 10 * EPS
    assert 1e-11 <= lost["deflation"] <= 1e-5


@each_iteration
def test_the_last_step_unmixes_the_vectors(find):
    """s = (1, .5, 1e-5, 5e-6): residuals of X itself near rounding, U orthonormal: eq-ritz."""
    X, _, _ = made([1.0, 0.5, 1e-5, 5e-6], 30, 20)
    f = find(X, 4)
    assert f.converged
    assert residuals(X, f).max() <= 1e-9  # without that step 2 and 5
    assert_orthonormal(f.U, 100)
    assert_orthonormal(f.V, 100)


@st.composite
def spectra(draw):
    """Draw matrices with ties, gaps and wide falls, some of them below the default tolerance."""
    n, d = draw(st.integers(1, 16)), draw(st.integers(1, 16))
    r = draw(st.integers(0, min(n, d)))
    falls = draw(st.lists(st.sampled_from([0, 0, 1, 2, 5, 9, 13]), min_size=r, max_size=r))
    s = 10.0 ** -np.sort(np.array(falls, float)) * draw(st.sampled_from([1e-100, 1.0, 1e100]))
    X, _, _ = made(s, n, d, draw(st.integers(0, 10**6)))
    return X, s


@thorough
@given(
    spectra(),
    st.integers(1, 5),
    st.sampled_from([None, 1e-3, 1e-12]),
    st.sampled_from([3, 400]),
    seeds,
)
@pytest.mark.parametrize("find", ITERATIONS.values(), ids=ITERATIONS)
def test_what_is_reported_is_true(find, known, k, tol, max_iter, seed):
    """Residuals are those of X itself; converged means that all are ≤ tol: eq-power-residual."""
    X, s = known
    k = min(k, *X.shape)
    f, warned = quietly(find, X, k, tol=tol, max_iter=max_iter, rng=seed)
    rounding = 100 * max(X.shape) * EPS * f.s.max(initial=0.0)
    assert f.rank == min(k, s.size) or max_iter == 3
    assert np.all(np.abs(residuals(X, f) - f.residual) <= rounding / f.s)
    assert f.converged == np.all(f.residual <= (np.sqrt(EPS) if tol is None else tol))
    assert warned == (not f.converged)


@half
@given(spectra(), st.sampled_from([None, 1e-3, 1e-12]), st.sampled_from([0, 3, 400]), seeds)
def test_what_one_vector_reports_is_true(known, tol, max_iter, seed):
    """The same for power_iteration and power_eigen: eq-power-residual eq-power-eigen."""
    X, _ = known
    goal = np.sqrt(EPS) if tol is None else tol
    f, warned = quietly(power_iteration, X, tol=tol, max_iter=max_iter, rng=seed)
    scale = f.s or 1.0
    true = np.linalg.norm((X / scale).T @ f.u - f.s / scale * f.v)
    assert f.residual == pytest.approx(true, abs=1e-13)
    assert (f.converged, warned) == (f.residual <= goal, f.residual > goal)
    K = (X / scale).T @ (X / scale)
    e, warned = quietly(power_eigen, K, tol=tol, max_iter=max_iter, rng=seed)
    true = np.linalg.norm(K @ e.a - e.lam * e.a) / (e.lam or 1.0)
    assert e.residual == pytest.approx(true, abs=1e-12 * max(1.0, 1 / (e.lam or 1.0)))
    assert (e.converged, warned) == (e.residual <= goal, e.residual > goal)


@sparing
@given(st.integers(2, 6), st.integers(1, 4), seeds)
def test_every_copy_of_a_repeated_value_is_found(copies, others, seed):
    """However many copies there are, each way finds as many as are asked for: eq-deflation."""
    s = np.r_[np.full(copies, 3.0), np.full(others, 2.0), 0.5]
    X, _, _ = made(s, 16, 14, seed % 1000)
    for find in ALL.values():
        for k in (copies, copies + others):
            np.testing.assert_allclose(find(X, k, rng=seed).s, s[:k], rtol=1e-9)


def test_projecting_once_falls_back():
    """A start orthogonal to v₁, never projected again, returns to v₁ by rounding: eq-projection."""
    X, _, V = made([3.0, 2.0, 1.0], 9, 7)
    start = random_unit(7, 5)
    start = start - V[:, 0] * (V[:, 0] @ start)
    start = start - V[:, 0] * (V[:, 0] @ start)
    assert abs(start @ V[:, 0]) < 1e-15
    run = power_iteration(X, start=start, tol=0.0, max_iter=500)
    assert abs(run.v @ V[:, 0]) == pytest.approx(1, abs=1e-12)
    assert abs(svd_by_projection(X, 2).V[:, 1] @ V[:, 1]) == pytest.approx(1, abs=1e-12)


def test_the_history_of_each_triplet_is_kept():
    """One history a triplet, and the steps add up: eq-projection eq-deflation."""
    X, _, _ = made([3.0, 2.0, 1.0], 9, 7)
    for find in ONE_BY_ONE.values():
        f = find(X, 3)
        assert isinstance(f, SVDRun)
        assert f.converged
        assert len(f.history) == 3
        assert f.n_iter == sum(len(h.s) - 1 for h in f.history)
        np.testing.assert_allclose([h.s[-1] for h in f.history], f.s)
        assert max(h.residual[-1] for h in f.history) <= np.sqrt(EPS / 3)


@half
@given(known_svds(scales=st.just(1.0), max_side=8), st.integers(0, 8))
def test_projecting_out_makes_blind(known, k):
    """The operator is X(I − VVᵀ), and so is its transpose: eq-projection."""
    d = known.A.shape[1]
    V = orthonormal(d, min(k, d), known.rng)
    rest = project_out(known.A, V)
    by_hand = known.A @ (np.eye(d) - V @ V.T)
    np.testing.assert_allclose(rest @ np.eye(d), by_hand, atol=1e-14)
    np.testing.assert_allclose(rest.T @ np.eye(len(known.A)), by_hand.T, atol=1e-14)
    np.testing.assert_allclose(rest.matvec(np.ones(d)), by_hand @ np.ones(d), atol=1e-13)
    np.testing.assert_allclose(rest.rmatvec(np.ones(len(by_hand))), by_hand.sum(axis=0), atol=1e-13)


def test_deflating_in_turn_is_deflating_at_once():
    """X − s₁u₁v₁ᵀ − s₂u₂v₂ᵀ, run by run or as one SVD, dense or sparse: eq-deflation."""
    X, U, V = made([4.0, 3.0, 2.0, 1.0], 9, 7)
    first = power_iteration(X)
    second = power_iteration(deflate(X, first), rng=1)
    in_turn = deflate(deflate(X, first), second)
    at_once = deflate(sparse.csr_array(X), SVD(U[:, :2], np.array([4.0, 3.0]), V[:, :2]))
    np.testing.assert_allclose(in_turn @ np.eye(7), at_once @ np.eye(7), atol=1e-6)
    assert (in_turn.dtype, in_turn.shape) == (np.float64, (9, 7))
    assert isinstance(in_turn, LinearOperator)


@each_iteration
def test_failure_to_converge_is_said(find):
    """Too few steps give converged=False, the best so far and a warning: eq-power-residual."""
    X, _, _ = made([1.0, 0.99, 0.98, 0.97, 0.96, 0.95, 0.94, 0.93], 20, 15)
    with pytest.warns(ConvergenceWarning, match=r"above tol=.*, after \d steps. Raise max_iter"):
        f = find(X, 2, max_iter=2)
    assert f.converged is False
    assert f.s.shape == (2,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find(X, 2, max_iter=2, tol=0.0).converged is False  # as many as were asked for
    run, warned = quietly(power_iteration, X, max_iter=3)
    assert (run.n_iter, run.converged, isinstance(run, PowerRun)) == (3, False, True)
    assert warned
    assert quietly(power_eigen, X @ X.T, max_iter=2)[1]


def test_warnings_point_to_the_line_of_the_caller():
    with pytest.warns(ConvergenceWarning) as caught:
        svd_by_projection(np.diag([1.0, 0.99]), 1, max_iter=1)
    assert [warning.filename for warning in caught] == [__file__]  # one, not one a triplet


@pytest.mark.parametrize("tol", [1e-17, 1e-30])
def test_what_rounding_forbids_ends_soon(tol):
    """A tolerance below rounding is not pursued for thousands of steps, and a warning says why."""
    X, _, _ = made([1.0, 0.6, 0.3, 1e-9], 30, 20)
    for find in ITERATIONS.values():
        with pytest.warns(ConvergenceWarning, match="rounding allows no less. Raise tol"):
            f = find(X, 4, tol=tol)
        assert f.n_iter <= 1000
        np.testing.assert_allclose(f.s, [1.0, 0.6, 0.3, 1e-9], rtol=1e-6)
    run, warned = quietly(power_iteration, X, tol=tol)
    assert (run.converged, warned or run.converged) == (run.residual <= tol, True)
    assert run.n_iter <= 500


# --- blocks --------------------------------------------------------------------------------------


@half
@given(st.integers(1, 4), st.integers(0, 12), seeds)
def test_the_block_turns_at_the_rate_of_its_gap(k, t, seed):
    """The tangent of the largest angle is at most (λ_{k+1}/λ_k)ᵗ tan Θ₀: eq-subspace-rate."""
    s = np.array([3.0, 2.5, 2.0, 1.2, 0.6, 0.3])
    X, _, V = made(s, 9, 6, seed % 1000)
    Q = orthonormal(6, k, seed)

    def largest_tangent(Q):
        return np.linalg.norm((V[:, k:].T @ Q) @ np.linalg.inv(V[:, :k].T @ Q), 2)

    start = largest_tangent(Q)
    assume(start < 1e4)
    for _ in range(t):
        Q = np.linalg.qr(X.T @ (X @ Q))[0]
    assert largest_tangent(Q) <= (s[k] / s[k - 1]) ** (2 * t) * start * (1 + 1e-6) + 1e-9


def test_the_subspace_steps_are_those_of_the_formula():
    """After t steps the block spans (XᵀX)ᵗΩ, and its values are those of XV: eq-subspace-step."""
    X = np.random.default_rng(0).standard_normal((12, 8))
    omega = np.random.default_rng(4).standard_normal((8, 3))
    for t in range(4):
        f = subspace_iteration(X, 3, oversample=0, tol=0.0, max_iter=t, rng=4)
        V = np.linalg.qr(np.linalg.matrix_power(X.T @ X, t) @ omega)[0]
        np.testing.assert_allclose(f.V @ f.V.T, V @ V.T, atol=1e-10)
        np.testing.assert_allclose(f.s, np.linalg.svd(X @ V, compute_uv=False), rtol=1e-10)
        np.testing.assert_allclose(X @ f.V, f.U * f.s, atol=1e-12)
        assert_orthonormal(f.U, 100)
        assert f.n_iter == t
        assert f.history.s.shape == f.history.residual.shape == (t + 1, 3)


def test_the_block_history_holds_what_it_says():
    """Its residuals are ‖XᵀXvᵢ − sᵢ²vᵢ‖/sᵢ², and all are small at the end: eq-subspace-step."""
    X = np.random.default_rng(1).standard_normal((20, 10))
    f = subspace_iteration(X, 3, tol=1e-3)
    by_hand = np.linalg.norm(X.T @ (X @ f.V) - f.V * f.s**2, axis=0) / f.s**2
    np.testing.assert_allclose(f.history.residual[-1], by_hand, rtol=1e-6)
    assert f.history.residual[-1].max() <= 1e-3 < f.history.residual[-2].max()
    assert f.history.step[0] == pytest.approx(1)
    assert f.history.step[-1] < 1e-2


def test_a_wider_block_is_faster():
    """The rate is λ_{l+1}/λ_k for a block of l: eq-subspace-rate."""
    X, _, _ = made(0.95 ** np.arange(30), 60, 30)
    steps = [subspace_iteration(X, 3, oversample=p).n_iter for p in (0, 5, 15)]
    assert steps[0] > 2 * steps[1] > 2 * steps[2]


@half
@given(known_svds(scales=st.just(1.0), max_side=9), st.integers(1, 9))
def test_ritz_triplets_are_the_best_of_their_span(known, k):
    """XV = US with V in the span of Q, and UᵀXV is diagonal: eq-ritz."""
    Q = orthonormal(known.A.shape[1], min(k, *known.A.shape), known.rng)
    U, s, V = ritz_triplets(known.A, Q)
    np.testing.assert_allclose(known.A @ V, U * s, atol=1e-14)
    np.testing.assert_allclose(Q @ (Q.T @ V), V, atol=1e-13)
    np.testing.assert_allclose(s, np.linalg.svd(known.A @ Q, compute_uv=False), atol=1e-14)
    assert_orthonormal(V, 100)
    assert_orthonormal(U, 100)


# --- shift and invert ----------------------------------------------------------------------------


@half
@given(st.integers(3, 8), st.floats(-0.5, 1.5), seeds)
def test_shift_and_invert_finds_the_nearest_at_its_rate(d, sigma, seed):
    """The tangent falls by |λⱼ − σ|/|λₗ − σ|, j nearest to σ: eq-shift-invert eq-shift-rate."""
    rng = np.random.default_rng(seed)
    lam, Q = rng.uniform(0, 1, d), orthonormal(d, d, seed)
    order = np.argsort(np.abs(lam - sigma))
    near, next_one = np.abs(lam - sigma)[order[:2]]
    assume(1e-3 < near < 0.9 * next_one)
    M = (Q * lam) @ Q.T
    v, y = Q[:, order[0]], random_unit(d, rng)
    first = tangent(y, v)
    assume(first < 1e3)
    for t in range(1, 12):
        y = np.linalg.solve(M - sigma * np.eye(d), y)
        y /= np.linalg.norm(y)
        assert tangent(y, v) <= (near / next_one) ** t * first * (1 + 1e-6) + 1e-9


def test_small_singular_values_need_the_triangular_factor():
    """R of X = QR keeps the digits that XᵀX loses: eq-shift-invert."""
    X, _, _ = made([1.0, 1e-2, 1e-10], 30, 3)
    R, y = np.linalg.qr(X)[1], random_unit(3)
    for _ in range(3):
        y = linalg.solve_triangular(R, linalg.solve_triangular(R, y, trans="T"))
        y /= np.linalg.norm(y)
    assert np.linalg.norm(X @ y) == pytest.approx(1e-10, rel=1e-4)
    assert abs(np.linalg.eigvalsh(X.T @ X)[0] - 1e-20) > 1e-20


# --- Lanczos and the certificate -----------------------------------------------------------------


def test_the_krylov_space_holds_better_values():
    """The best value in span(v, Mv, …, Mᵗv) is at least that of the last power step: eq-krylov."""
    X, _, _ = made(0.95 ** np.arange(20), 30, 20)
    powers = np.array(iterates(X, random_unit(20, 1), 12)).T
    for t in range(1, 13):
        Q = np.linalg.qr(powers[:, : t + 1])[0]
        best = np.linalg.norm(X @ Q, 2)
        assert np.linalg.norm(X @ powers[:, t]) <= best <= 1 + 1e-12
    assert 1 - best < 0.02 * (1 - np.linalg.norm(X @ powers[:, -1]))


def test_the_certificate_finds_a_missed_copy():
    """A start without the second copy of a tie misses it, and the rest says so: eq-certificate."""
    X = np.diag(np.r_[3.0, 2.0, 2.0, 1.0, np.linspace(0.5, 0.1, 196)])
    blind = np.ones(200)
    blind[2] = 0.0
    U, s, Vt = svds(X, 3, v0=blind, solver="arpack")
    order = np.argsort(-s)
    missed = SVD(U[:, order], s[order], Vt[order].T)
    np.testing.assert_allclose(missed.s, [3, 2, 1], atol=1e-10)
    low, _ = spectral_norm_bounds(deflate(X, missed))
    assert low > missed.s[-1] * 1.5
    complete = subspace_iteration(X, 3)
    low, high = spectral_norm_bounds(deflate(X, complete), n_iter=200)
    assert low <= high <= complete.s[-1]


# --- kinds of input ------------------------------------------------------------------------------


@each_way
def test_sparse_matrices_and_operators_are_taken(find):
    """Dense, CSR, COO and LinearOperator give the same triplets."""
    X = sparse.random_array((60, 40), density=0.2, rng=np.random.default_rng(0))
    dense = find(X.toarray(), 3)
    for form in (X, X.tocsr(), sparse.csc_matrix(X), aslinearoperator(X.tocsr())):
        f = find(form, 3)
        np.testing.assert_allclose(f.s, dense.s, rtol=1e-12)
        np.testing.assert_allclose(f.V, dense.V, atol=1e-9)


@each_way
def test_centring_can_stay_implicit(find):
    """X − 1x̄ᵀ as an operator over a sparse X gives the SVD of the centred matrix."""
    X = sparse.random_array((60, 40), density=0.2, rng=np.random.default_rng(1)).tocsr()
    mean = X.mean(axis=0)

    def times(B):
        return X @ B - mean @ B

    def transpose_times(B):
        return X.T @ B - (mean[:, None] if B.ndim == 2 else mean) * B.sum(axis=0)

    centred = LinearOperator(X.shape, times, transpose_times, times, float, transpose_times)
    _, s, _ = lapack(X.toarray() - mean)
    np.testing.assert_allclose(find(centred, 3, rng=2).s, s[:3], rtol=0.02)


@each_way
def test_single_precision_stays_single(find):
    """float32 in gives float32 out, right to its precision, also from an operator."""
    X, _, _ = made([5.0, 4.0, 3.0, 1.0], 20, 10)
    f = find(X.astype(np.float32), 3)
    assert find(aslinearoperator(sparse.csr_array(X.astype(np.float32))), 3).V.dtype == np.float32
    assert getattr(f, "converged", True)
    assert {f.U.dtype, f.s.dtype, f.V.dtype} == {np.dtype(np.float32)}
    np.testing.assert_allclose(f.s, [5, 4, 3], rtol=1e-5)
    run = power_iteration(X.astype(np.float32))
    assert run.converged
    assert run.v.dtype == np.float32
    for dtype in (np.float16, np.longdouble, int):  # LAPACK has none of them
        rounded = np.round(X).astype(dtype)
        for form in (rounded, LinearOperator((20, 10), rounded.dot, rounded.T.dot, dtype=dtype)):
            f = find(form, np.int8(2))
            assert f.V.dtype == np.float64
            np.testing.assert_allclose(f.s, lapack(np.round(X))[1][:2], rtol=1e-2)


@each_way
def test_inputs_are_not_changed_and_seeds_decide(find):
    """X stays as it was; a seed and its generator give the same result."""
    X = np.random.default_rng(0).standard_normal((8, 6))
    X.flags.writeable = False
    again, once = find(X, 2, rng=7), find(X, 2, rng=np.random.default_rng(7))
    assert np.array_equal(again.V, once.V)
    before = X.copy()
    power_iteration(X)
    power_eigen(X @ X.T)
    assert np.array_equal(X, before)


@each_way
def test_small_and_zero_matrices(find):
    """The zero matrix has no triplets, a matrix of ones has one."""
    for shape in [(1, 1), (3, 2), (2, 3), (1, 4), (4, 1)]:
        empty, ones = find(np.zeros(shape), 1), find(np.ones(shape), min(shape))
        assert empty.rank == 0
        assert (empty.U.shape, empty.V.shape) == ((shape[0], 0), (shape[1], 0))
        np.testing.assert_allclose(ones.s, [np.sqrt(np.prod(shape))])
        assert getattr(empty, "converged", True) is True


def test_the_zero_matrix_has_the_value_zero():
    """Any vector is singular with s = 0, found at once: eq-power-residual."""
    run = power_iteration(np.zeros((3, 2)))
    assert (run.s, run.converged, run.n_iter) == (0.0, True, 0)
    assert np.array_equal(run.u, np.zeros(3))
    assert power_eigen(np.zeros((2, 2))).lam == 0


def test_progress_bars_come_only_when_asked_for(capsys, monkeypatch):
    """progress=True draws on stderr; without tqdm one sentence says what to do."""
    X, _, _ = made([2.0, 1.0], 5, 4)
    power_iteration(X)
    assert capsys.readouterr() == ("", "")
    for run in (
        power_iteration,
        spectral_norm_bounds,
        lambda A, progress: power_eigen(A @ A.T, progress=progress),
        lambda A, progress: subspace_iteration(A, 2, progress=progress),
        lambda A, progress: svd_by_deflation(A, 2, progress=progress),
        lambda A, progress: svd_by_projection(A, 2, progress=progress),
        lambda A, progress: randomized_svd(A, 2, progress=progress),
    ):
        run(X, progress=True)
        out, err = capsys.readouterr()
        assert out == ""
        assert "power steps" in err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="tqdm: pip install"):
        power_iteration(X, progress=True)


def test_results_are_frozen_and_say_what_they_are_in_a_line():
    X, _, _ = made([2.0, 1.0], 5, 4)
    run = power_iteration(X)
    results = [run, run.history, power_eigen(X @ X.T), *(f(X, 2) for f in ITERATIONS.values())]
    results += [svd_by_deflation(np.zeros((3, 2)), 1), pickle.loads(pickle.dumps(run))]
    for result in results:
        assert "\n" not in repr(result)
        assert len(repr(result)) <= 100
        assert "steps" in repr(result)
    assert repr(run).startswith("PowerRun(s=2, residual ")
    assert repr(run).endswith(f"after {run.n_iter} steps, converged)")
    with pytest.raises(AttributeError):
        run.s = 2.0
    with pytest.raises(ValueError, match="read-only"):
        run.history.s[0] = 1.0


# --- the engine ----------------------------------------------------------------------------------


@sparing
@given(st.integers(500, 700), st.integers(1, 12), st.integers(0, 17), seeds)
def test_orthonormal_bases(n, k, fall, seed):
    """orth spans what QR spans, to rounding, however dependent the columns are."""
    rng = np.random.default_rng(seed)
    T = rng.standard_normal((k, k)) * 10.0 ** -np.linspace(0, fall, k)
    for dtype in (np.float32, np.float64):
        for scale in (1.0, 1e-30, 1e30):
            Y = (scale * rng.standard_normal((n, k)) @ T).astype(dtype)
            eps = np.finfo(dtype).eps
            Q, rough = orth(Y), orth(Y, rough=True)
            assert Q.dtype == rough.dtype == dtype
            assert np.abs(Q.T @ Q - np.eye(k)).max() <= 100 * eps
            assert np.abs(rough.T @ rough - np.eye(k)).max() <= 1e-3
            left = Y.astype(float) / scale
            left = left - Q.astype(float) @ (Q.astype(float).T @ left)
            assert np.abs(left).max() <= 300 * eps * np.abs(Y).max() / scale


def test_orthonormal_bases_of_odd_columns():
    """No columns, equal columns, zeros, huge and tiny ones; NaN is refused."""
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((800, 3))
    assert orth(Y[:, :0]).shape == (800, 0)
    for odd in (Y[:, [0, 0, 1]], 0 * Y, 1e200 * Y, 1e-200 * Y, Y * [1e150, 1.0, 1e-150]):
        assert_orthonormal(orth(odd), 100)
        assert_orthonormal(orth(odd[:30]), 100)
    for fall in (2, 5, 6, 6.5, 7, 7.5, 8, 12):  # around the limit of what can be squared
        graded = np.linalg.qr(Y)[0] * [1.0, 1.0, 10.0**-fall] @ np.linalg.qr(Y[:3])[0]
        assert (
            np.abs(orth(graded, rough=True).T @ orth(graded, rough=True) - np.eye(3)).max() < 1e-3
        )
        assert_orthonormal(orth(graded), 100)
    with pytest.raises(ValueError, match="not finite"):
        orth(np.where(Y > 3, np.nan, Y))


@half
@given(st.lists(st.floats(-1e308, 1e308), min_size=1, max_size=5))
def test_lengths(x):
    """The length neither overflows nor vanishes, as that of BLAS."""
    x = np.array(x)
    with np.errstate(over="ignore"):
        expected = linalg.norm(x)
    assert length(x) == pytest.approx(expected, rel=1e-14) or np.isinf(expected)
    small = np.ldexp(x, -1000)
    assert length(small) == pytest.approx(linalg.norm(small), rel=1e-12, abs=1e-323)


def test_maps_multiply_as_matrices_do():
    """Dense, sparse and operator, vectors and blocks, X and Xᵀ."""
    rng = np.random.default_rng(0)
    X, v, B = rng.standard_normal((6, 4)), rng.standard_normal(4), rng.standard_normal((4, 3))
    for form in (
        X,
        np.asfortranarray(X),
        sparse.csc_array(X),
        aslinearoperator(X),
        deflate(X, EMPTY),
    ):
        A = as_map(form)
        assert as_map(A) is A
        np.testing.assert_allclose(A @ v, X @ v)
        np.testing.assert_allclose(A @ B, X @ B)
        np.testing.assert_allclose(A.T @ (X @ B), X.T @ (X @ B))
    assert relative_residuals(np.empty((4, 0)), np.empty((4, 0)), np.empty(0)).shape == (0,)


EMPTY = SVD(np.empty((6, 0)), np.empty(0), np.empty((4, 0)))


def test_rounds_count_and_end():
    """max_iter steps and one look more; a goal that is met ends them; so does a standstill."""
    X = as_map(np.eye(3))
    rounds = Rounds(X, 0.0, 4)
    looks = [t for t in rounds if not rounds.done(1.0, 0.5, 0.5)]
    assert (looks, rounds.n_iter, rounds.converged) == ([0, 1, 2, 3], 4, False)
    rounds = Rounds(X, 0.1, 10)
    assert not rounds.done(1.0, 0.5, 0.0)
    assert rounds.done(1.0, 0.05, 0.5)
    assert (rounds.n_iter, rounds.converged) == (1, True)
    columns = (rounds.history.s, rounds.history.residual, rounds.history.step)
    assert [column.tolist() for column in columns] == [[1, 1], [0.5, 0.05], [0, 0.5]]
    by_step = Rounds(X, 0.1, 10, stop="step")
    assert by_step.done(1.0, 0.5, 0.05)
    stuck = Rounds(X, 1e-20, 10_000)
    _, warned = quietly(lambda: [None for _ in stuck if stuck.done(1.0, 1e-15, 0.0)][:0])
    assert warned
    slow = Rounds(X, 1e-20, 500)
    quietly(lambda: [None for t in slow if slow.done(1.0, 0.99**t, 0.0)])
    assert slow.n_iter == 500


NAN_OPERATOR = LinearOperator(
    (3, 2), lambda x: np.full(3, np.nan), lambda x: np.zeros(2), dtype=float
)
ROT = np.array([[0.0, 1.0], [-1.0, 0.0]])
GOOD = np.eye(3, 2)
BAD = {
    "DataFrame": (lambda f: f(pd.DataFrame({"a": [1.0], "b": ["x"]})), ["X", "column 'b'"]),
    "NaN": (lambda f: f([[1.0, np.nan]]), ["X", "NaN", "[0, 1]"]),
    "1-D": (lambda f: f([1.0, 2.0]), ["X is 1-D", "reshape"]),
    "complex": (lambda f: f([[1j]]), ["X is complex"]),
    "complex sparse": (lambda f: f(sparse.csr_array([[1j]])), ["X is complex"]),
    "sparse NaN": (lambda f: f(sparse.csr_array([[0.0, np.nan]])), ["X.data", "NaN"]),
    "text": (lambda f: f([["a"]]), ["X", "not numbers"]),
    "empty operator": (lambda f: f(aslinearoperator(np.ones((0, 2)))), ["X is empty", "(0, 2)"]),
    "NaN operator": (lambda f: f(NAN_OPERATOR), ["not finite", "operator gives NaN"]),
}
FUNCTIONS = {
    "power_iteration": power_iteration,
    "power_step": lambda X: power_step(X, np.ones(np.shape(X)[-1])),
    "deflate": lambda X: deflate(X, power_iteration(X)),
    "project_out": lambda X: project_out(X, np.eye(2)[:, :1]),
    "ritz_triplets": lambda X: ritz_triplets(X, np.eye(2)[:, :1]),
    "spectral_norm_bounds": spectral_norm_bounds,
    **{name: (lambda X, find=find: find(X, 1)) for name, find in ALL.items()},
}
OTHER_BAD = {
    "k too large": (lambda: svd_by_deflation(GOOD, 3), ["k=3", "3×2", "at most 2"]),
    "k zero": (lambda: randomized_svd(GOOD, 0), ["k=0", "at least 1"]),
    "k float": (lambda: subspace_iteration(GOOD, 1.0), ["k=1.0", "whole number"]),
    "k bool": (lambda: svd_by_projection(GOOD, True), ["k=True", "whole number"]),
    "stop": (lambda: power_iteration(GOOD, stop="never"), ["'never'", '"residual"', '"step"']),
    "tol negative": (lambda: power_iteration(GOOD, tol=-1.0), ["tol=-1.0", "from 0 up"]),
    "tol NaN": (lambda: power_eigen(np.eye(2), tol=np.nan), ["tol=nan", "from 0 up"]),
    "tol text": (lambda: subspace_iteration(GOOD, 1, tol="a"), ["tol='a'"]),
    "max_iter": (lambda: power_iteration(GOOD, max_iter=-1), ["max_iter=-1", "from 0 up"]),
    "max_iter of all": (lambda: svd_by_deflation(GOOD, 1, max_iter=0), ["max_iter=0", "from 1"]),
    "max_iter of a block": (lambda: subspace_iteration(GOOD, 1, max_iter="a"), ["max_iter='a'"]),
    "tol of all": (lambda: svd_by_projection(GOOD, 1, tol=np.nan), ["tol=nan", "from 0 up"]),
    "rng": (lambda: power_iteration(GOOD, rng="seed"), ["rng='seed'", "generator"]),
    "rng negative": (lambda: svd_by_deflation(GOOD, 1, rng=-1), ["rng=-1", "seed"]),
    "rng of a block": (lambda: subspace_iteration(GOOD, 1, rng=0.5), ["rng=0.5", "seed"]),
    "rng of a sample": (lambda: randomized_svd(GOOD, 1, rng=[1]), ["rng=[1]", "seed"]),
    "rng of a unit": (lambda: random_unit(3, True), ["rng=True", "seed"]),
    "progress": (lambda: power_iteration(GOOD, progress=1), ["progress=1", "True or False"]),
    "progress of a sample": (lambda: randomized_svd(GOOD, 1, progress="yes"), ["progress='yes'"]),
    "v long": (lambda: power_step(GOOD, [1, 0, 0]), ["v has shape (3,)", "2 numbers"]),
    "v zero": (lambda: power_step(GOOD, [0, 0]), ["v has shape (2,)", "not all 0"]),
    "v NaN": (lambda: power_step(GOOD, np.array([1, np.nan])), ["v", "NaN"]),
    "found": (lambda: deflate(GOOD, np.eye(3)), ["found is a ndarray", "SVD(U, s, V)"]),
    "found tuple": (lambda: deflate(GOOD, (1, 2, 3)), ["found is a tuple", "an SVD"]),
    "found of another": (lambda: deflate(GOOD, EMPTY), ["6×4", "3×2", "one size"]),
    "V of another": (lambda: project_out(GOOD, np.eye(3)), ["V has 3 rows", "2"]),
    "V not unit": (lambda: project_out(GOOD, [[2.0], [0.0]]), ["V", "not orthonormal"]),
    "Q not unit": (lambda: ritz_triplets(GOOD, [[1.0, 1.0], [0.0, 1.0]]), ["Q", "not orthonormal"]),
    "Q of another": (lambda: ritz_triplets(GOOD, np.eye(3)), ["Q has 3 rows", "2"]),
    "t": (lambda: convergence_bound(5, 0.5, -1), ["t=-1", "from 0 up"]),
    "t NaN": (lambda: convergence_bound(5, 0.5, np.nan), ["t=nan", "from 0 up"]),
    "t text": (lambda: convergence_bound(5, 0.5, "a"), ["t", "not numbers"]),
    "t zero": (lambda: value_bound(5, [1, 0]), ["t=[1, 0]", "from 1 up"]),
    "tangent zero": (lambda: steps_needed(5, 0.5, 0), ["tangent=0", "above 0"]),
    "tangent negative": (lambda: steps_needed(5, 0.5, -1), ["tangent=-1", "above 0"]),
    "n_iter zero": (lambda: spectral_norm_bounds(GOOD, n_iter=0), ["n_iter=0", "from 1 up"]),
    "max_iter float": (lambda: power_iteration(GOOD, max_iter=5.0), ["max_iter=5.0", "whole"]),
    "start zero": (lambda: power_iteration(GOOD, start=[0, 0]), ["start", "2 numbers, not all 0"]),
    "start long": (lambda: power_iteration(GOOD, start=[1, 0, 0]), ["start", "(3,)", "2 numbers"]),
    "start NaN": (lambda: power_iteration(GOOD, start=[1, np.nan]), ["start", "NaN"]),
    "not square": (lambda: power_eigen(GOOD), ["K is 3×2", "square", "Gram"]),
    "not symmetric": (lambda: power_eigen(ROT), ["K is not symmetric", "by up to 2", "K.T"]),
    "not symmetric, sparse": (lambda: power_eigen(sparse.csr_array(ROT)), ["not symmetric"]),
    "indefinite": (lambda: power_eigen(-np.eye(2)), ["K is indefinite", "negative", "kernel"]),
    "oversample": (lambda: randomized_svd(GOOD, 1, oversample=-1), ["oversample=-1", "from 0 up"]),
    "n_iter": (lambda: randomized_svd(GOOD, 1, n_iter=1.5), ["n_iter=1.5", "whole number"]),
    "size": (lambda: range_finder(GOOD, 0), ["size=0", "from 1 up"]),
    "d": (lambda: random_unit(0), ["d=0", "from 1 up"]),
    "ratio": (lambda: convergence_bound(5, 1.5, 1), ["ratio=1.5", "upside down"]),
    "ratio negative": (lambda: convergence_bound(5, -0.5, 1), ["ratio=-0.5", "from 0 to 1"]),
    "failure 0": (
        lambda: convergence_bound(5, 0.5, 1, failure=0.0),
        ["failure=0.0", "chance"],
    ),
    "failure 1": (lambda: value_bound(5, 1, failure=1.0), ["failure=1.0", "chance"]),
    "n": (lambda: value_bound(0, 1), ["n=0", "from 1 up"]),
    "no gap": (lambda: steps_needed(5, 1.0, 0.1), ["ratio=1.0", "no number of steps"]),
    "bound k": (lambda: range_error_bound([2.0, 1.0], 1), ["k=1", "at least 2"]),
    "bound p": (
        lambda: range_error_bound([2.0, 1.0], 2, oversample=1),
        ["oversample=1", "from 2 up"],
    ),
    "bound norm": (lambda: range_error_bound([2.0, 1.0], 2, norm="max"), ["'max'", '"spectral"']),
    "bound power": (
        lambda: range_error_bound([2.0, 1.0], 2, n_iter=1),
        ["'frobenius'", "n_iter=1", "n_iter=0"],
    ),
    "bound order": (lambda: range_error_bound([1.0, 2.0], 2), ["s", "falling order"]),
}


def assert_teaches(call, words):
    with pytest.raises(ValueError, match=".") as caught:
        call()
    message = str(caught.value)
    assert [word for word in words if word not in message] == [], message
    assert message.endswith(".")


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_bad_matrices(function):
    """What is no finite real matrix or operator gets its sentence."""
    for call, words in BAD.values():
        assert_teaches(lambda call=call: call(function), words)


@pytest.mark.parametrize(("call", "words"), OTHER_BAD.values(), ids=OTHER_BAD)
def test_other_bad_arguments(call, words):
    """Numbers out of range and unknown names are named in the message."""
    assert_teaches(call, words)


def test_public_names_are_all_there():
    for name in module.__all__:
        assert getattr(module, name).__doc__


def test_what_is_taken_off_leaves_nothing_to_rounding():
    """(I − VVᵀ)B is orthogonal to V to the last digits of its own size, however small that is."""
    V, w = orthonormal(40, 3, 5), orthonormal(40, 4, 6)[:, 3:]
    rest = without(V, 1e8 * V @ np.ones((3, 1)) + w)
    assert np.linalg.norm(V.T @ rest) <= 1e-13 * np.linalg.norm(rest)
    assert without(V[:, :0], w) is w


def test_a_goal_near_the_start_needs_few_steps():
    """tan θ falls by the ratio each step, from its start: none, one or a few: eq-power-steps."""
    start = np.sqrt(2 * 100 / np.pi) / 0.1
    for ratio, fall, steps in (
        *((0.0, 0.5, 0), (0.0, 1.5, 1), (0.0, 9.0, 1)),
        *((0.5, 0.5, 0), (0.5, 1.5, 1), (0.9, 1.5, 4), (0.99, 1.5, 41)),
    ):
        assert steps_needed(100, ratio, start / fall) == steps
    assert steps_needed(100, 0.0, start_tangent(100, 0.1)) == 0
    no_gap = convergence_bound(100, 1.0, [0, 1, 9])
    np.testing.assert_allclose(no_gap, 1 / np.hypot(1, start))


def test_small_lengths_keep_their_digits():
    """Squares that would lose their digits, or all, are not taken."""
    for scale in (1e-154, 1e-160, 1e-170, 1e200):
        assert length(scale * np.array([3.0, 4.0])) / scale == pytest.approx(5, rel=1e-14)
    for scale in (1e-19, 1e-22, 1e-30, 1e30):
        x = np.float32(scale) * np.float32([3, 4])
        assert length(x) / scale == pytest.approx(5, rel=1e-6)


def test_unit_vectors_fit_the_matrix():
    """One that fits comes back itself; others get length one and the precision of X."""
    for dtype, other in ((np.float32, np.float64), (np.float64, np.float32)):
        X = as_map(np.ones((3, 2), dtype))
        v = np.array([0.6, 0.8], dtype)
        assert unit_vector(v, X) is v
        for wrong in (v.astype(other), np.ones(2, dtype), np.sqrt(2) * v, [3, 4], 1e-30 * v):
            fit = unit_vector(wrong, X)
            assert fit.dtype == dtype
            assert np.linalg.norm(fit) == pytest.approx(1, abs=1e-6)


def ended(X, tol, looks, max_iter=1000, **options):
    """Return the rounds of an iteration that sees these (s, residual), the last one again."""
    rounds = Rounds(X, tol, max_iter, **options)
    for t in rounds:
        if rounds.done(*looks[min(t, len(looks) - 1)], 0.5):
            break
    return rounds


def test_a_standstill_ends_the_rounds():
    """PATIENCE rounds without a halving at the level of rounding, unless tol=0 asks for all."""
    X, still = as_map(np.eye(3)), (1.0, 1e-15)
    fresh = Rounds(X, None, 3)
    assert (fresh.converged, fresh.progress) == (False, False)
    stuck = pytest.warns(ConvergenceWarning, match="rounding allows no less")
    for residual in (1e-15, 12 * EPS):  # 4 · 3 · ε is rounding for a 3×3 matrix
        with stuck:
            assert ended(X, 1e-20, [(1.0, residual)]).n_iter == PATIENCE
    with stuck:  # halved once, at the fiftieth step
        assert ended(X, 1e-20, [still] * 50 + [(1.0, 4e-16)]).n_iter == 50 + PATIENCE
    with stuck:  # less, but no halving
        assert ended(X, 1e-20, [still] * 50 + [(1.0, 6e-16)]).n_iter == PATIENCE
    with pytest.warns(ConvergenceWarning, match="after 300 steps"):  # not the level of rounding
        assert ended(X, 1e-20, [(1.0, 1e-10)], 300).n_iter == 300
    assert ended(X, 0.0, [still], 300).n_iter == 300


def test_a_value_of_rounding_ends_the_rounds():
    """What the products with X can't tell from zero is not pursued, once it has been seen."""
    X = Map(np.eye(3), noise=1e-3)
    for s in (1e-3, 1e-5):
        with pytest.warns(ConvergenceWarning, match="rounding allows no less"):
            assert ended(X, 1e-8, [(s, 0.5)]).n_iter == FIRST
    with pytest.warns(ConvergenceWarning, match="after 60 steps"):
        assert ended(X, 1e-8, [(2e-3, 0.5)], 60).n_iter == 60


def test_triplets_are_judged_by_the_goal():
    """Residuals up to tol pass in silence; if those above weigh no more than rounding, it says."""
    search = Search(power_iteration, as_map(np.eye(3)), 2, 0.1, 50, 0, False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert search.judge(np.array([1.0, 0.5]), np.array([0.1, 0.05]))
        assert search.judge(np.empty(0), np.empty(0))
    with pytest.warns(ConvergenceWarning, match="after 0 steps"):
        assert not search.judge(np.array([1.0, 0.5]), np.array([0.1, 0.11]))
    for tiny in (1e-17, 12 * EPS):  # 4 · 3 · ε is rounding for a 3×3 matrix with s₁ = 1
        with pytest.warns(ConvergenceWarning, match="rounding allows no less"):
            assert not search.judge(np.array([1.0, tiny]), np.array([0.1, 1.0]))


def test_the_bar_changes_no_round():
    """With and without a bar the looks are the same; a residual of exactly tol is enough."""
    X = as_map(np.eye(3))
    for progress in (False, True):
        rounds = Rounds(X, 0.0, 4, progress=progress)
        looks = [t for t in rounds if not rounds.done(1.0, 0.5, 0.5)]
        assert (looks, rounds.n_iter) == ([0, 1, 2, 3], 4)
        met = ended(X, 0.1, [(1.0, 0.1)], progress=progress)
        assert (met.n_iter, met.converged) == (0, True)


def test_products_with_no_column_and_of_one_precision():
    """No column gives none, also by operators; what they return gets the precision of the map."""
    by_vectors = LinearOperator((3, 2), lambda x: np.ones(3), dtype=float)
    for form in (np.eye(3, 2), sparse.eye_array(3, 2), by_vectors):
        assert (as_map(form) @ np.empty((2, 0))).shape == (3, 0)
    double = LinearOperator(
        (3, 2), lambda x: np.ones(3), matmat=lambda B: np.ones((3, B.shape[1])), dtype=np.float32
    )
    for B in (np.ones(2, np.float32), np.ones((2, 4), np.float32)):
        assert (as_map(double) @ B).dtype == np.float32


def test_relative_residuals_are_relative():
    """‖Xᵀu − sv‖/s of each triplet in any unit; what is noise counts as met."""
    W, V = np.array([[5.0, 0.5], [3.0, 2.0]]), np.eye(2)
    for unit in (1e-200, 1.0, 1e200):
        got = relative_residuals(unit * W, V, unit * np.array([5.0, 2.0]))
        np.testing.assert_allclose(got, [3 / 5, 0.5 / 2])
    assert relative_residuals(W, V, np.array([5.0, 2.0]), 2.0).tolist() == [0.6, 0.0]


def test_rough_bases_of_tiny_columns():
    """Columns whose squares keep a digit or two are not squared."""
    Y = 1e-162 * np.random.default_rng(0).standard_normal((800, 3))
    for Q in (orth(Y, rough=True), orth(Y)):
        assert_orthonormal(Q, 100)


def test_a_search_ends_at_rounding():
    """A run that ends at the noise of what is left finds nothing; each is √k times as exact."""
    seen = {}

    def iterate(rest, **options):
        seen.update(options)
        return SimpleNamespace(history=SimpleNamespace(s=np.array([5.0, 1e-3])), n_iter=1)

    search = Search(iterate, as_map(np.eye(3)), 2, 0.1, 50, 0, False)
    assert search(SimpleNamespace(noise=1e-3)) is None
    assert search.runs == []
    assert search(SimpleNamespace(noise=9e-4)) is search.runs[0]
    assert (seen["tol"], seen["max_iter"]) == (pytest.approx(0.1 / np.sqrt(2)), 50)


@pytest.mark.filterwarnings("ignore::kpca_edu._engine.checks.ConvergenceWarning")
def test_an_indefinite_matrix_is_refused_in_the_second_round():
    """The first product may be rounding; the next one tells, also if no other is allowed."""
    K = np.diag([-1.0, 0.5])
    with pytest.raises(ValueError, match="K is indefinite"):
        power_eigen(K, start=[1.0, 0.5], max_iter=1)


def test_rounding_is_not_indefinite():
    """aᵀKa may be negative by 1e-8 of ‖Ka‖, in any unit; that of the zero matrix is 0."""
    refuse_indefinite(0.0, 0.0)
    for unit in (1e-6, 1.0, 1e6):
        for lam in (1.0, 0.0, -9e-9):
            refuse_indefinite(lam * unit, unit)
        with pytest.raises(ValueError, match="indefinite"):
            refuse_indefinite(-1.1e-8 * unit, unit)


@pytest.mark.parametrize("columns", range(1, 12))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_with_few_columns(columns, dtype):
    """However many columns are left over from fours, shape, type and numbers are the product's."""
    rng = np.random.default_rng(columns)
    X, B = rng.standard_normal((7, 5)).astype(dtype), rng.standard_normal((5, columns))
    product = as_map(X) @ B.astype(dtype)
    assert product.shape == (7, columns)
    assert product.dtype == dtype
    assert np.allclose(product, X @ B, rtol=0, atol=50 * np.finfo(dtype).eps)
    assert np.allclose(as_map(X).T @ product, X.T @ (X @ B), rtol=0, atol=500 * np.finfo(dtype).eps)
