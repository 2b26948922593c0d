"""The theorems of chapter 2 on random matrices, with LAPACK, ARPACK and scikit-learn beside."""

import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from matrices import EPS, assert_orthonormal, known_svds, orthonormal, seeds, sparing, thorough
from scipy import sparse, stats
from scipy.sparse.linalg import LinearOperator, aslinearoperator, eigsh, svds
from scipy.special import gammaln

from kpca_edu import power_method as module
from kpca_edu.power_method import (
    PowerRun,
    SVDRun,
    convergence_bound,
    deflate,
    power_eigen,
    power_iteration,
    random_unit,
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


@thorough
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
    """After t steps the vector is (XᵀX)ᵗv₀, scaled to length one: eq-power-step."""
    X, _, _ = made([2.0, 1.5, 1.0], 6, 5)
    v = random_unit(5, 3)
    for t, expected in enumerate(iterates(X, v, 8)):
        run = power_iteration(X, start=v, tol=0.0, max_iter=t + 1)
        assert (run.n_iter, run.converged) == (t + 1, False)
        np.testing.assert_allclose(run.v, expected * np.sign(expected @ run.v), atol=1e-13)


@thorough
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


@thorough
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
    """E b₁² = 1/d and E|b₁| = Γ(d/2)/(√π Γ((d+1)/2)), not 1/√d: eq-overlap-mean."""
    for d in (2, 3, 10, 100):
        rng = np.random.default_rng(d)
        b = np.array([random_unit(d, rng)[0] for _ in range(20_000)])
        mean = np.exp(gammaln(d / 2) - gammaln((d + 1) / 2)) / np.sqrt(np.pi)
        assert np.mean(b**2) == pytest.approx(1 / d, rel=0.05)
        assert np.mean(np.abs(b)) == pytest.approx(mean, rel=0.02)
        assert mean < 0.91 / np.sqrt(d)
        assert np.mean(b) == pytest.approx(0, abs=5 / np.sqrt(20_000 * d))


def test_random_unit_is_uniform():
    """Every direction is alike: mean 0, covariance I/d, and b₁² has its Beta law: eq-anti."""
    rng = np.random.default_rng(0)
    v = np.array([random_unit(4, rng) for _ in range(20_000)])
    np.testing.assert_allclose(np.linalg.norm(v, axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(v.T @ v / len(v), np.eye(4) / 4, atol=0.006)
    overlap = (v @ np.array([0.5, -0.5, 0.5, 0.5])) ** 2
    assert stats.kstest(overlap, stats.beta(0.5, 1.5).cdf).pvalue > 0.01


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
        holds &= cosine >= convergence_bound(n, ratio, t, failure) - 1e-12
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


@thorough
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


@thorough
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
    pairs = np.array([spectral_norm_bounds(X, 5, 0.05, rng=seed) for seed in range(100)])
    assert np.all(pairs[:, 0] <= norm * (1 + 1e-12))
    assert np.mean(pairs[:, 1] >= norm) >= 0.95
    assert pairs[0, 1] / pairs[0, 0] == pytest.approx((np.sqrt(60 / np.pi) / 0.05) ** 0.1)
    low, high = spectral_norm_bounds(X, 500)
    assert low == pytest.approx(norm, rel=1e-6)
    assert high <= 1.01 * norm


# --- stopping ------------------------------------------------------------------------------------


@thorough
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


@thorough
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


@thorough
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


@thorough
@given(gapped())
def test_residual_and_step_are_cousins(known):
    """The residual is at most the step times ‖XᵀXv‖/s²: eq-step-residual."""
    X, _, _, _, rng = known
    v0 = random_unit(X.shape[1], rng)
    h = power_iteration(X, start=v0, tol=0.0, max_iter=8).history
    for t, v in enumerate(iterates(X, v0, len(h.s) - 1)):
        stretch = np.linalg.norm(X.T @ (X @ v)) / h.s[t] ** 2
        assert h.residual[t] <= h.step[t] * stretch + 1e-7


def test_a_small_step_is_no_small_error():
    """Eigenvalues 1, .9999, .5: the step falls below 1e-4 while v is 45° off: eq-step-residual."""
    X = np.diag(TRAP)
    start = np.ones(3)
    fooled = power_iteration(X, start=start, stop="step", tol=1e-4)
    angle = np.degrees(np.arccos(abs(fooled.v[0])))
    assert fooled.converged
    assert fooled.n_iter <= 16
    assert angle == pytest.approx(45, abs=0.1)
    honest = power_iteration(X, start=start, max_iter=1000)
    assert not honest.converged
    found = power_iteration(X, start=start, tol=5e-6, max_iter=200_000)
    assert found.converged
    assert np.arccos(min(1.0, found.v[0])) <= 5.1e-6 / 1e-4


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
    assert (by_step.n_iter, by_residual.n_iter) == (1, 2)
    assert by_step.history.step[0] == pytest.approx(1.0)
    assert by_step.history.residual[0] == pytest.approx(np.sqrt(3))


@one_by_one
def test_every_copy_of_a_tie_is_found(find):
    """Each triplet gets a fresh start: the old one has no part left: eq-deflation."""
    for seed in range(5):
        np.testing.assert_allclose(find(np.diag([2.0, 2.0, 0.5]), 2, rng=seed).s, [2.0, 2.0])


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


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-20, 1e20, 1e150, 1e200])
@each_way
def test_units_do_not_matter(find, scale):
    """No square of X's scale is formed, so nothing overflows: eq-power-residual."""
    X, _, _ = made([5.0, 4.0, 3.0], 9, 7)
    np.testing.assert_allclose(find(scale * X, 2).s / scale, [5, 4], rtol=1e-12)
    run = power_iteration(scale * X)
    assert run.converged
    assert run.s / scale == pytest.approx(5)


def test_bare_powers_overflow_or_vanish():
    """The iterate without normalisation leaves the range of doubles: eq-power-step."""
    y, small = np.ones(1), np.ones(1)
    with np.errstate(all="ignore"):
        for _ in range(200):
            y, small = 114.3**2 * y, 0.114**2 * small
    assert np.isinf(y[0])
    assert small[0] == 0


# --- the other side, and Gram matrices -----------------------------------------------------------


@thorough
@given(gapped())
def test_the_left_side_gives_the_same_triplet(known):
    """XXᵀ leads to the same u, s and v as XᵀX: eq-power-eigen."""
    X, _, _, _, rng = known
    right, left = power_iteration(X, rng=rng), power_iteration(X, side="left", rng=rng)
    assert left.s == pytest.approx(right.s, rel=1e-12)
    np.testing.assert_allclose(left.v, right.v, atol=1e-6)
    np.testing.assert_allclose(left.u, right.u, atol=1e-6)
    np.testing.assert_allclose(X.T @ left.u, left.s * left.v, atol=1e-14)


@thorough
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
    run = power_eigen([[0.0, 1.0], [1.0, 0.0]], start=[1.0, -1e-10], max_iter=1)
    assert not run.converged
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
    assert len(h.s) == len(h.residual) == len(h.step) == run.n_iter
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
    np.testing.assert_allclose(f.U.T @ f.U, np.eye(f.rank), atol=1e-5)


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


@thorough
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


def test_the_rest_has_the_remaining_values():
    """After k exact triplets the rest has the values s_{k+1}, …: eq-deflation eq-certificate."""
    X, _, _ = made([4.0, 3.0, 2.0, 1.0], 9, 7)
    U, s, V = lapack(X)
    for k in range(5):
        rest = deflate(X, SVD(U[:, :k], s[:k], V[:, :k])) @ np.eye(7)
        found = np.linalg.svd(rest, compute_uv=False)[: 4 - k]
        np.testing.assert_allclose(found, [4.0, 3.0, 2.0, 1.0][k:], atol=1e-12)


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@one_by_one
def test_left_vectors_overlap_as_the_residuals_allow(find, tol):
    """|uᵢᵀuⱼ| ≤ rᵢ sᵢ/sⱼ for i < j: eq-left-overlap."""
    s = np.array([1.0, 0.8, 0.3, 0.1, 0.01])
    X, _, _ = made(s, 12, 9)
    f = find(X, 5, tol=tol)
    residual = np.linalg.norm(X.T @ f.U - f.V * f.s, axis=0) / f.s
    overlap = np.abs(f.U.T @ f.U)
    for i in range(5):
        for j in range(i + 1, 5):
            assert overlap[i, j] <= residual[i] * f.s[i] / f.s[j] * (1 + 1e-6) + 1e-12


def test_projection_keeps_orthogonality_and_deflation_loses_it():
    """VᵀV = I to rounding by projection, to ε s₁/s_k by deflation: eq-projection."""
    X, _, _ = made(10.0 ** -np.arange(0.0, 10.0, 2.0), 30, 20)
    lost = {
        name: np.abs(f.V.T @ f.V - np.eye(f.rank)).max()
        for name, f in ((name, find(X, 5)) for name, find in ONE_BY_ONE.items())
    }
    assert lost["projection"] <= 10 * EPS
    assert 1e-11 <= lost["deflation"] <= 1e-5


def test_projecting_once_falls_back():
    """A start orthogonal to v₁, never projected again, returns to v₁ by rounding: eq-projection."""
    X, _, V = made([3.0, 2.0, 1.0], 9, 7)
    start = random_unit(7, 5)
    start = start - V[:, 0] * (V[:, 0] @ start)
    start = start - V[:, 0] * (V[:, 0] @ start)
    assert abs(start @ V[:, 0]) < 1e-15
    run = power_iteration(X, start=start, tol=1e-13, max_iter=500)
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
        assert f.n_iter == sum(len(h.s) for h in f.history)
        np.testing.assert_allclose([h.s[-1] for h in f.history], f.s)


@each_iteration
def test_failure_to_converge_is_said(find):
    """Too few steps give converged=False and the best so far, no exception: eq-power-residual."""
    X, _, _ = made([1.0, 0.99, 0.98, 0.97, 0.96, 0.95, 0.94, 0.93], 20, 15)
    f = find(X, 2, max_iter=2)
    assert f.converged is False
    assert f.s.shape == (2,)
    run = power_iteration(X, max_iter=3)
    assert (run.n_iter, run.converged, isinstance(run, PowerRun)) == (3, False, True)
    assert power_eigen(X @ X.T, max_iter=2).converged is False


# --- blocks --------------------------------------------------------------------------------------


@thorough
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
    """After t steps the block spans (XᵀX)ᵗΩ, and its values are those of XV: eq-ritz."""
    X = np.random.default_rng(0).standard_normal((12, 8))
    omega = np.random.default_rng(4).standard_normal((8, 3))
    for t in range(4):
        f = subspace_iteration(X, 3, oversample=0, tol=0.0, max_iter=t + 1, rng=4)
        V = np.linalg.qr(np.linalg.matrix_power(X.T @ X, t) @ omega)[0]
        np.testing.assert_allclose(f.V @ f.V.T, V @ V.T, atol=1e-10)
        np.testing.assert_allclose(f.s, np.linalg.svd(X @ V, compute_uv=False), rtol=1e-10)
        np.testing.assert_allclose(X @ f.V, f.U * f.s, atol=1e-12)
        assert_orthonormal(f.U, 100)
        assert f.n_iter == t + 1
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


# --- bare powers ---------------------------------------------------------------------------------


# --- random sampling -----------------------------------------------------------------------------


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
    """Dense, CSR, COO and LinearOperator give the same triplets: eq-power-step eq-range."""
    X = sparse.random_array((60, 40), density=0.2, rng=np.random.default_rng(0))
    dense = find(X.toarray(), 3)
    for form in (X, X.tocsr(), sparse.csc_matrix(X), aslinearoperator(X.tocsr())):
        f = find(form, 3)
        np.testing.assert_allclose(f.s, dense.s, rtol=1e-12)
        np.testing.assert_allclose(f.V, dense.V, atol=1e-9)


@each_way
def test_centring_can_stay_implicit(find):
    """X − 1x̄ᵀ as an operator over a sparse X gives the SVD of the centred matrix: eq-range."""
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
    """float32 in gives float32 out, right to its precision: eq-subspace-step."""
    X, _, _ = made([5.0, 4.0, 3.0, 1.0], 20, 10)
    f = find(X.astype(np.float32), 3)
    assert {f.U.dtype, f.s.dtype, f.V.dtype} == {np.dtype(np.float32)}
    np.testing.assert_allclose(f.s, [5, 4, 3], rtol=1e-5)
    run = power_iteration(X.astype(np.float32))
    assert run.converged
    assert run.v.dtype == np.float32


@each_way
def test_inputs_are_not_changed_and_seeds_decide(find):
    """X stays as it was; a seed and its generator give the same result: eq-range."""
    X = np.random.default_rng(0).standard_normal((8, 6))
    X.flags.writeable = False
    again, once = find(X, 2, rng=7), find(X, 2, rng=np.random.default_rng(7))
    assert np.array_equal(again.V, once.V)
    before = X.copy()
    power_iteration(X)
    power_eigen(X @ X.T)
    assert np.array_equal(X, before)


@each_way
@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (2, 3), (1, 4), (4, 1)])
def test_small_and_zero_matrices(find, shape):
    """The zero matrix has no triplets, a matrix of ones has one: eq-deflation."""
    empty, ones = find(np.zeros(shape), 1), find(np.ones(shape), min(shape))
    assert empty.rank == 0
    assert (empty.U.shape, empty.V.shape) == ((shape[0], 0), (shape[1], 0))
    np.testing.assert_allclose(ones.s, [np.sqrt(np.prod(shape))])
    assert getattr(empty, "converged", True) is True


def test_the_zero_matrix_has_the_value_zero():
    """Any vector is singular with s = 0, found at once: eq-power-residual."""
    run = power_iteration(np.zeros((3, 2)))
    assert (run.s, run.converged, run.n_iter) == (0.0, True, 1)
    assert np.array_equal(run.u, np.zeros(3))
    assert power_eigen(np.zeros((2, 2))).lam == 0


def test_progress_bars_come_only_when_asked_for(capsys, monkeypatch):
    """progress=True draws on stderr; without tqdm one sentence says what to do: eq-power-step."""
    X, _, _ = made([2.0, 1.0], 5, 4)
    power_iteration(X)
    assert capsys.readouterr() == ("", "")
    for run in (power_iteration, lambda A, progress: subspace_iteration(A, 2, progress=progress)):
        run(X, progress=True)
        out, err = capsys.readouterr()
        assert out == ""
        assert "power steps" in err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="tqdm: pip install"):
        power_iteration(X, progress=True)


def test_models_are_frozen():
    """What a run returns can't be reassigned: eq-power-step."""
    run = power_iteration([[1.0]])
    with pytest.raises(AttributeError):
        run.s = 2.0


NAN_OPERATOR = LinearOperator(
    (3, 2), lambda x: np.full(3, np.nan), lambda x: np.zeros(2), dtype=float
)
ROT = np.array([[0.0, 1.0], [-1.0, 0.0]])
GOOD = np.eye(3, 2)
BAD = {
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
    **{name: (lambda X, find=find: find(X, 1)) for name, find in ALL.items()},
}
OTHER_BAD = {
    "k too large": (lambda: svd_by_deflation(GOOD, 3), ["k=3", "3×2", "at most 2"]),
    "k zero": (lambda: randomized_svd(GOOD, 0), ["k=0", "at least 1"]),
    "k float": (lambda: subspace_iteration(GOOD, 1.0), ["k=1.0", "whole number"]),
    "k bool": (lambda: svd_by_projection(GOOD, True), ["k=True", "whole number"]),
    "side": (lambda: power_iteration(GOOD, side="top"), ["'top'", '"right"', '"left"']),
    "stop": (lambda: power_iteration(GOOD, stop="never"), ["'never'", '"residual"', '"step"']),
    "tol negative": (lambda: power_iteration(GOOD, tol=-1.0), ["tol=-1.0", "from 0 up"]),
    "tol NaN": (lambda: power_eigen(np.eye(2), tol=np.nan), ["tol=nan", "from 0 up"]),
    "tol text": (lambda: subspace_iteration(GOOD, 1, tol="a"), ["tol='a'"]),
    "max_iter": (lambda: power_iteration(GOOD, max_iter=0), ["max_iter=0", "from 1 up"]),
    "max_iter float": (lambda: power_iteration(GOOD, max_iter=5.0), ["max_iter=5.0", "whole"]),
    "start zero": (lambda: power_iteration(GOOD, start=[0, 0]), ["start", "2 numbers, not all 0"]),
    "start long": (lambda: power_iteration(GOOD, start=[1, 0, 0]), ["start", "(3,)", "2 numbers"]),
    "start NaN": (lambda: power_iteration(GOOD, start=[1, np.nan]), ["start", "NaN"]),
    "not square": (lambda: power_eigen(GOOD), ["K is 3×2", "square", "Gram"]),
    "not symmetric": (lambda: power_eigen(ROT), ["K is not symmetric", "by up to 2", "K.T"]),
    "not symmetric, sparse": (lambda: power_eigen(sparse.csr_array(ROT)), ["not symmetric"]),
    "indefinite": (lambda: power_eigen(-np.eye(2)), ["K is indefinite", "negative", "kernel"]),
    "oversample": (lambda: randomized_svd(GOOD, 1, -1), ["oversample=-1", "from 0 up"]),
    "n_iter": (lambda: randomized_svd(GOOD, 1, 0, 1.5), ["n_iter=1.5", "whole number"]),
    "size": (lambda: range_finder(GOOD, 0), ["size=0", "from 1 up"]),
    "d": (lambda: random_unit(0), ["d=0", "from 1 up"]),
    "ratio": (lambda: convergence_bound(5, 1.5, 1), ["ratio=1.5", "upside down"]),
    "ratio negative": (lambda: convergence_bound(5, -0.5, 1), ["ratio=-0.5", "from 0 up"]),
    "failure 0": (lambda: convergence_bound(5, 0.5, 1, 0.0), ["failure=0.0", "probability"]),
    "failure 1": (lambda: value_bound(5, 1, 1.0), ["failure=1.0", "probability"]),
    "n": (lambda: value_bound(0, 1), ["n=0", "from 1 up"]),
    "no gap": (lambda: steps_needed(5, 1.0, 0.1), ["ratio=1.0", "no number of steps"]),
    "bound k": (lambda: range_error_bound([2.0, 1.0], 1), ["k=1", "at least 2"]),
    "bound p": (lambda: range_error_bound([2.0, 1.0], 2, 1), ["oversample=1", "from 2 up"]),
    "bound norm": (lambda: range_error_bound([2.0, 1.0], 2, 2, "max"), ["'max'", '"spectral"']),
    "bound power": (
        lambda: range_error_bound([2.0, 1.0], 2, 2, "frobenius", 1),
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


@pytest.mark.parametrize(("call", "words"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_bad_matrices(function, call, words):
    """What is no finite real matrix or operator gets its sentence: eq-power-step."""
    assert_teaches(lambda: call(function), words)


@pytest.mark.parametrize(("call", "words"), OTHER_BAD.values(), ids=OTHER_BAD)
def test_other_bad_arguments(call, words):
    """Numbers out of range and unknown names are named in the message: eq-power-bound."""
    assert_teaches(call, words)


def test_public_names_are_all_there():
    """Every public function can be imported from the top, and has its equation: eq-power-step."""
    import kpca_edu

    for name in module.__all__:
        assert getattr(kpca_edu, name) is getattr(module, name)
        assert getattr(module, name).__doc__
