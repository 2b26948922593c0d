"""Pre-images: against features written out, finite differences, SciPy, scikit-learn and the paper.

Feature maps of polynomial kernels are finite, so φ̂, its norm and all distances can be had without
the library: by NumPy's SVD of φ(X).
"""

import builtins
import dataclasses
import inspect
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrices import EPS, seeds, sparing, thorough
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA as TheirKernelPCA
from sklearn.kernel_ridge import KernelRidge

from kpca_edu import fit_kernel_pca, fit_kernel_pca_gram, fit_pca, preimages, score_regression
from kpca_edu._engine.checks import ConvergenceWarning
from kpca_edu._engine.kernel_ridge import chosen_pair, fewer_columns, positive_ridges
from kpca_edu._engine.preimage_search import Search
from kpca_edu._engine.searches import Ends
from kpca_edu._engine.way_back import length
from kpca_edu.datasets import mnist_digits
from kpca_edu.kernels import (
    RadialKernel,
    cosine,
    laplacian,
    linear,
    median_sigma,
    polynomial,
    polynomial_features,
    rbf,
    sigmoid,
)
from kpca_edu.preimages import (
    Preimage,
    denoise,
    exact_preimage,
    feature_cosine,
    feature_distance,
    fixed_point_preimage,
    fixed_point_step,
    gradient_preimage,
    input_distances2,
    locate_by_distances,
    mds_preimage,
    nearest_preimage,
    objective_gradient,
    preimage,
    preimage_objective,
    reconstruction_norm2,
    ridge_preimage,
    training_distances2,
)
from kpca_edu.score_regression import fit_score_regression, leave_one_out_errors

METHODS = ["nearest", "fixed-point", "gradient", "mds", "ridge"]
KERNELS = {
    "linear": linear(),
    "polynomial": polynomial(3, 0.5),
    "rbf": rbf(1.3),
    "laplacian": laplacian(1.1),
    "sigmoid": sigmoid(0.1, 0.2),
    "cosine": cosine(),
    "sum": rbf(2.0) + 0.3 * linear(),
    "product": rbf(2.0) * polynomial(2, 1.0),
}
TRUE_KERNELS = {name: kernel for name, kernel in KERNELS.items() if name != "sigmoid"}
each_true_kernel = pytest.mark.parametrize("kernel", TRUE_KERNELS.values(), ids=TRUE_KERNELS)
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


@dataclasses.dataclass(frozen=True)
class Explicit:
    """A model of a polynomial kernel beside its features, written out and decomposed by NumPy."""

    model: object
    Phi: np.ndarray  # (n, D) features of the training samples
    phi_hat: np.ndarray  # (m, D) reconstructions of the new samples
    phi: object  # the feature map
    Z: np.ndarray  # (m, k)
    T: np.ndarray  # (m, d)


@st.composite
def explicit_models(draw):
    """Draw a polynomial kernel, samples off the origin, and new samples."""
    rng = np.random.default_rng(draw(seeds))
    n, d = draw(st.integers(4, 9)), draw(st.integers(1, 3))
    degree, offset = draw(st.integers(1, 3)), draw(st.sampled_from([0.0, 1.0]))
    center = draw(st.booleans())
    X, T = rng.uniform(-1, 2, (n, d)), rng.uniform(-1, 2, (5, d))

    def phi(points):
        return polynomial_features(points, degree, offset)

    Phi = phi(X)
    mean = Phi.mean(axis=0) if center else np.zeros(Phi.shape[1])
    s, Vt = np.linalg.svd(Phi - mean, full_matrices=False)[1:]
    k = draw(st.integers(1, max(1, int(np.sum(s > 1e-3 * s[0])))))
    model = fit_kernel_pca(X, k, polynomial(degree, offset), center=center)
    phi_hat = mean + (phi(T) - mean) @ Vt[:k].T @ Vt[:k]
    return Explicit(model, Phi, phi_hat, phi, model.encode(T), T)


def ring(n, rng, noise=0.0):
    angle = 2 * np.pi * np.arange(n) / n
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    return X + noise * np.random.default_rng(rng).standard_normal(X.shape)


def spanning(X, gamma, kernel):
    """Return an uncentred model that spans all features of X, and the z of Σγᵢφ(xᵢ) in it."""
    model = fit_kernel_pca(X, len(X), kernel, center=False)
    return model, (np.asarray(gamma) @ kernel(model.X, model.X) @ model.alpha)[None]


def line(z):
    return np.array(z, float)[:, None]


def quiet(function, *args, **options):
    """Call a function whose warnings of rows that don't converge are of no interest here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return function(*args, **options)


# --- the reconstruction and the objective --------------------------------------------------------


@thorough
@given(explicit_models())
def test_weights_rebuild_the_feature(known):
    """φ̂ = Σγᵢφ(xᵢ) projects the written-out feature, the mean included: eq-pre-gamma."""
    gamma = known.model.weights(known.Z)
    scale = np.abs(known.Phi).max() + np.abs(known.phi_hat).max()
    np.testing.assert_allclose(gamma @ known.Phi, known.phi_hat, atol=1e-9 * scale)
    if known.model.center:
        np.testing.assert_allclose(gamma.sum(axis=1), 1)


def test_without_the_mean_everything_is_off_by_the_mean():
    """Leaving out 1/n moves every reconstruction by φ̄: eq-pre-mean-lost."""
    X = np.random.default_rng(0).standard_normal((12, 2))
    model = fit_kernel_pca(X, 3, rbf(1.0))
    K = model.kernel(X, X)
    lost = model.weights(model.scores) - model.scores @ model.alpha.T
    np.testing.assert_allclose(np.einsum("ij,jk,ik->i", lost, K, lost), K.mean())
    np.testing.assert_allclose((model.scores @ model.alpha.T).sum(axis=1), 0, atol=1e-12)


@thorough
@given(explicit_models())
def test_norms_and_distances_equal_those_of_written_out_features(known):
    """The norm of φ̂ and all distances: eq-pre-norm, eq-pre-distance, eq-pre-pythagoras."""
    scale = np.sum(known.Phi**2, axis=1).max() + np.sum(known.phi_hat**2, axis=1).max()
    tight = {"rtol": 1e-8, "atol": 1e-9 * scale}
    norm2 = np.sum(known.phi_hat**2, axis=1)
    np.testing.assert_allclose(reconstruction_norm2(known.model, known.Z), norm2, **tight)
    D2 = np.sum((known.Phi[None] - known.phi_hat[:, None]) ** 2, axis=2)
    np.testing.assert_allclose(training_distances2(known.model, known.Z), D2, **tight)
    gap2 = np.sum((known.phi(known.T) - known.phi_hat) ** 2, axis=1)
    np.testing.assert_allclose(feature_distance(known.model, known.T, known.Z) ** 2, gap2, **tight)


@each_true_kernel
def test_distance_splits_by_pythagoras(kernel):
    """‖φ(x) − φ̂‖² is the mismatch of the scores plus what is lost of x: eq-pre-pythagoras."""
    rng = np.random.default_rng(1)
    X, T = rng.uniform(0.2, 2, (20, 3)), rng.uniform(0.2, 2, (7, 3))
    model = fit_kernel_pca(X, 3, kernel)
    Z = rng.standard_normal((7, 3))
    split = np.sum((model.encode(T) - Z) ** 2, axis=1) + model.reconstruction_error(T)
    np.testing.assert_allclose(feature_distance(model, T, Z) ** 2, split, rtol=1e-7)


@each_kernel
def test_objective_is_the_expansion_of_the_square(kernel):
    """κ(t, t) − 2Σγᵢκ(t, xᵢ) + γᵀKγ, by the Gram matrix: eq-pre-objective, eq-pre-distance."""
    rng = np.random.default_rng(2)
    X, T, Z = rng.uniform(0.2, 2, (15, 2)), rng.uniform(0.2, 2, (4, 2)), rng.standard_normal((4, 2))
    model = fit_kernel_pca(X, 2, kernel, clip=True)
    gamma, K = model.weights(Z), kernel(X, X)
    by_hand = [kernel(t[None], t[None])[0, 0] - 2 * g @ kernel(X, t[None])[:, 0]
               for t, g in zip(T, gamma, strict=True)]  # fmt: skip
    np.testing.assert_allclose(preimage_objective(model, T, gamma), by_hand)
    constant = np.sum((gamma @ K) * gamma, axis=1)
    np.testing.assert_allclose(feature_distance(model, T, Z) ** 2, by_hand + constant, rtol=1e-8)


@each_kernel
def test_gradient_equals_finite_differences(kernel):
    """The slope of the objective along each axis, by central differences: eq-pre-gradient."""
    rng = np.random.default_rng(3)
    X, T, Z = rng.uniform(0.2, 2, (15, 3)), rng.uniform(0.2, 2, (6, 3)), rng.standard_normal((6, 2))
    model, h = fit_kernel_pca(X, 2, kernel, clip=True), 1e-5
    gamma = model.weights(Z)
    for e, slope in zip(np.eye(3), objective_gradient(model, T, gamma).T, strict=True):
        ahead, behind = (preimage_objective(model, T + step * e, gamma) for step in (h, -h))
        np.testing.assert_allclose(slope, (ahead - behind) / (2 * h), atol=1e-7)


@each_kernel
def test_the_walk_sees_objective_and_gradient(kernel):
    """By one comparison with the samples: preimage_objective and objective_gradient at once."""
    rng = np.random.default_rng(3)
    X, T, Z = rng.uniform(0.2, 2, (15, 3)), rng.uniform(0.2, 2, (6, 3)), rng.standard_normal((6, 2))
    model = fit_kernel_pca(X, 2, kernel, clip=True)
    gamma = model.weights(Z)
    search = Search(model, "gradient", *preimages.KNOWN, Z, None, 1e-7, 10, False)
    value, slope = search.objective_and_gradient(T, gamma)
    np.testing.assert_allclose(value, preimage_objective(model, T, gamma), rtol=1e-12)
    np.testing.assert_allclose(slope, objective_gradient(model, T, gamma), rtol=1e-9, atol=1e-12)


# --- when an exact pre-image exists --------------------------------------------------------------


def test_the_parabola_has_no_exact_preimage():
    """φ(x) = (x², x): the point nearest to (5, 3) is the root of a cubic: eq-pre-cubic."""
    model, Z = spanning(line([1, 2]), [1, 1], polynomial(2, 0.0) + linear())
    roots = np.roots([4, 0, -18, -6])
    distances = np.hypot(roots**2 - 5, roots - 3)
    best = roots[np.argmin(distances)]
    found = gradient_preimage(model, Z)
    assert (round(found.X[0, 0], 5), round(found.distance[0], 4)) == (2.27163, 0.7458)
    np.testing.assert_allclose(found.X[0, 0], best, atol=1e-6)
    np.testing.assert_allclose(found.distance[0], distances.min(), rtol=1e-8)
    assert found.converged.all()


@sparing
@given(seeds, st.sampled_from([1, 3, 5]), st.sampled_from([0.0, 1.0]))
def test_odd_powers_are_read_off(seed, degree, offset):
    """f⁻¹ of the inner products with the axes gives x if φ̂ = φ(x): eq-pre-exact."""
    X = np.random.default_rng(seed).uniform(-1, 1, (12, 2))
    monomials = polynomial_features(X, degree, offset)
    rank = np.linalg.matrix_rank(monomials - monomials.mean(axis=0), tol=1e-5)
    model = fit_kernel_pca(X, int(rank), polynomial(degree, offset))

    def inverse(y):
        return np.sign(y) * np.abs(y) ** (1 / degree) - offset

    found = exact_preimage(model, model.scores, inverse)
    np.testing.assert_allclose(found.X, X, atol=1e-3)
    assert found.converged.all()


def test_the_origin_is_its_own_exact_preimage():
    """Without centring φ(0) = 0 has scores of zero, and no distance at all: eq-pre-exact."""
    X = np.random.default_rng(2).standard_normal((9, 2))
    model = fit_kernel_pca(X, 4, polynomial(3, 0.0), center=False)
    found = exact_preimage(model, np.zeros((1, 4)), np.cbrt)
    np.testing.assert_array_equal(found.X, np.zeros((1, 2)))
    assert found.converged.all()


def test_even_powers_can_not_be_inverted():
    """(xᵀy)² can't tell x from −x, its root is refused, and too few components: eq-pre-exact."""
    X = np.random.default_rng(4).standard_normal((9, 2))
    model = fit_kernel_pca(X, 3, polynomial(2, 0.0))
    np.testing.assert_allclose(model.encode(-X), model.scores, atol=1e-10)
    with pytest.raises(ValueError, match="odd power"):  # NumPy's own warning would be an error here
        exact_preimage(model, -5 * model.scores, np.sqrt)
    few = fit_kernel_pca(X, 1, polynomial(3, 0.0))
    assert not exact_preimage(few, few.scores, np.cbrt).converged.any()


# --- every method recovers what is known ---------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_training_samples_come_back(method):
    """With all components φ̂ = φ(xᵢ), and every method finds xᵢ: eq-pre-nearest."""
    X = np.random.default_rng(5).standard_normal((20, 2))
    model = fit_kernel_pca(X, 19, rbf(0.7))
    options = {"ridge": {"ridge": 1e-9}}.get(method, {})
    found = preimage(model, model.scores, method, **options)
    np.testing.assert_allclose(found.X, X, atol=2e-3 if method == "ridge" else 1e-4)
    assert found.converged.all()
    np.testing.assert_array_less(found.distance, 5e-3 if method == "ridge" else 1e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", [rbf(0.6), laplacian(1.0)], ids=["rbf", "laplacian"])
def test_points_of_the_manifold_stay(method, kernel):
    """New points on a ring come back to where they were, up to the gaps between samples."""
    X = ring(60, 0)
    angle = 2 * np.pi * (np.arange(30) + 0.3) / 30
    T = np.column_stack([np.cos(angle), np.sin(angle)])
    model = fit_kernel_pca(X, 20, kernel)
    found = quiet(preimage, model, model.encode(T), method)
    worst = np.linalg.norm(found.X - T, axis=1).max()
    assert worst < {"nearest": 0.06, "ridge": 0.02, "mds": 0.15}.get(method, 0.06)


def test_linear_kernel_is_pca():
    """φ(x) = x: minimisation, distances and regression all give PCA's decoder: eq-pre-objective."""
    rng = np.random.default_rng(6)
    X = rng.standard_normal((40, 5)) * [3, 2, 1, 0.5, 0.2] + 7
    T = rng.standard_normal((6, 5)) + 7
    model, pca = fit_kernel_pca(X, 2, linear()), fit_pca(X, 2)
    Z, decoded = model.encode(T), pca.reconstruct(T)
    np.testing.assert_allclose(gradient_preimage(model, Z).X, decoded, atol=1e-5)
    np.testing.assert_allclose(mds_preimage(model, Z, neighbors=40).X, decoded, atol=1e-8)
    regression = ridge_preimage(model, Z, kernel=linear(), ridge=1e-9)
    np.testing.assert_allclose(regression.X, decoded, atol=1e-4)
    np.testing.assert_allclose(
        exact_preimage(model, Z, lambda y: y).X, decoded, atol=1e-9
    )  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_one_row_does_not_depend_on_its_companions(method):
    """All rows at once give what each row gives alone."""
    X = ring(40, 1, 0.1)
    model = fit_kernel_pca(X, 5, rbf(0.8))
    Z = model.encode(ring(7, 2, 0.3))
    options = {"kernel": rbf(1.0), "ridge": 1e-3} if method == "ridge" else {}
    together = preimage(model, Z, method, **options)
    for i in range(7):
        alone = preimage(model, Z[i : i + 1], method, **options)
        np.testing.assert_allclose(alone.X[0], together.X[i], atol=1e-9)
        assert alone.n_iter[0] == together.n_iter[i]


# --- nearest -------------------------------------------------------------------------------------


@thorough
@given(explicit_models())
def test_nearest_is_the_nearest_of_all(known):
    """The sample returned has the least distance in written-out features: eq-pre-nearest."""
    found = nearest_preimage(known.model, known.Z)
    D = np.linalg.norm(known.Phi[None] - known.phi_hat[:, None], axis=2)
    scale = np.abs(known.Phi).max() + np.abs(known.phi_hat).max()
    np.testing.assert_allclose(found.distance**2, D.min(axis=1) ** 2, atol=1e-8 * scale**2)
    assert {tuple(x) for x in found.X} <= {tuple(x) for x in known.model.X}


def test_nearest_of_texts():
    """A callable on texts has pre-images too: texts of the training set."""
    words = ["banana", "bandana", "cabana", "kernel", "colonel", "kennel"]

    def shared_letters(A, B):
        counts = [[[w.count(c) for c in "abcdefghijklmnopqrstuvwxyz"] for w in S] for S in (A, B)]
        return np.array(counts[0], float) @ np.array(counts[1], float).T

    model = fit_kernel_pca(words, 4, shared_letters)
    assert words == nearest_preimage(model, model.scores).X
    with pytest.raises(ValueError, match="of a callable only values are known"):
        gradient_preimage(model, model.scores)


# --- the fixed point -----------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [rbf(0.8), laplacian(1.5)], ids=["rbf", "laplacian"])
def test_fixed_point_is_stationary(kernel):
    """At the limit Σγᵢg′(x − xᵢ) = 0, and a step stays: eq-pre-stationary, eq-pre-fixed-point."""
    X = ring(50, 3, 0.15)
    model = fit_kernel_pca(X, 6, kernel)
    T = ring(20, 4, 0.4)
    Z = model.encode(T)
    found = fixed_point_preimage(model, Z, X0=T, tol=1e-10 if kernel == rbf(0.8) else 1e-7)
    off_samples = np.linalg.norm(found.X[:, None] - X, axis=2).min(axis=1) > 1e-4
    assert found.converged.all()  # at a tip of the Laplacian nothing is stationary, but it is a top
    assert off_samples.sum() > (15 if kernel == rbf(0.8) else 5)
    slope = objective_gradient(model, found.X, model.weights(Z))[off_samples]
    np.testing.assert_allclose(slope, 0, atol=1e-5)
    step = fixed_point_step(model, found.X, model.weights(Z)).plain
    np.testing.assert_allclose(step[off_samples], 0, atol=1e-6)


@sparing
@given(seeds)
def test_step_is_the_gradient_over_the_denominator(seed):
    """T(x) − x = −∇h/(2Σw), for the Gaussian kernel σ²∇h/h: eq-pre-ascent."""
    rng = np.random.default_rng(seed)
    X, T, Z = rng.standard_normal((9, 2)), rng.standard_normal((4, 2)), rng.standard_normal((4, 3))
    model = fit_kernel_pca(X, 3, rbf(1.7))
    gamma = model.weights(Z)
    step = fixed_point_step(model, T, gamma)
    slope = -objective_gradient(model, T, gamma) / 2  # ∇h
    np.testing.assert_allclose(step.h, np.sum(gamma * model.kernel(T, X), axis=1), atol=1e-12)
    np.testing.assert_allclose(step.pull, -slope / 2, atol=1e-10)
    np.testing.assert_allclose(step.total, -step.h / (2 * 1.7**2), atol=1e-12)
    np.testing.assert_allclose(step.plain, 1.7**2 * slope / step.h[:, None], rtol=1e-6, atol=1e-9)


@sparing
@given(seeds, st.sampled_from([rbf(0.6), laplacian(0.9)]))
def test_step_is_a_weighted_mean(seed, kernel):
    """Σwᵢxᵢ/Σwᵢ with wᵢ = γᵢg′ by a loop, and the guarded step: eq-pre-fixed-point."""
    rng = np.random.default_rng(seed)
    X, T, gamma = rng.standard_normal((7, 2)), rng.standard_normal((3, 2)), rng.normal(size=(3, 7))
    step = fixed_point_step(fit_kernel_pca(X, 2, kernel), T, gamma)
    for i, t in enumerate(T):
        w = gamma[i] * kernel.profile_derivative(np.sum((t - X) ** 2, axis=1))
        np.testing.assert_allclose(t + step.plain[i], w @ X / w.sum(), rtol=1e-6, atol=1e-9)
        divisor = max(abs(w.sum()), np.abs(w).sum() / 100)
        np.testing.assert_allclose(step.guarded[i], w @ (t - X) / divisor, rtol=1e-6, atol=1e-9)


def test_plain_step_flies_away_where_the_denominator_is_negative():
    """x = (0, 1), γ = (1, −0.95): from 0.6 the plain step lands at 21.03; the guarded one rises."""
    model, Z = spanning(line([0, 1]), [1, -0.95], rbf(1.0))
    gamma = model.weights(Z)
    step = fixed_point_step(model, line([0.6]), gamma)
    assert round(float(step.h[0]), 3) == -0.042
    assert float(0.6 + step.plain[0, 0]) == pytest.approx(21.03, abs=0.01)
    assert step.guarded[0, 0] < 0  # the other way, which is up
    guarded = fixed_point_preimage(model, Z, X0=line([0.6]), restarts=0)
    assert guarded.converged[0]
    assert guarded.distance[0] < 0.6 * feature_distance(model, line([0.6]), Z)[0]


@sparing
@given(seeds, st.sampled_from([0.3, 1.0, 3.0]), st.integers(1, 8), st.booleans())
def test_guarded_iteration_only_improves(seed, sigma, k, wild):
    """The end is no worse than the start, nor than the nearest sample: eq-pre-guarded."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 2))
    model = fit_kernel_pca(X, k, rbf(sigma) if seed % 2 else laplacian(sigma))
    Z = rng.standard_normal((6, len(model.lam))) * (2 if wild else np.sqrt(model.variances))
    T = 3 * rng.standard_normal((6, 2))
    alone = quiet(fixed_point_preimage, model, Z, X0=T, restarts=0)
    assert np.all(alone.distance <= feature_distance(model, T, Z) + 1e-9)
    full = quiet(fixed_point_preimage, model, Z)
    tip = 10 * np.sqrt(EPS) / sigma  # so well a distance beside a Laplacian kernel's tip is known
    assert np.all(full.distance <= nearest_preimage(model, Z).distance + tip)
    assert np.isfinite(full.X).all()
    np.testing.assert_allclose(full.distance, feature_distance(model, full.X, Z), atol=1e-6)


@sparing
@given(seeds)
def test_mean_shift_is_monotone_with_positive_weights(seed):
    """With γ ≥ 0 the plain step raises h and stays in the samples' hull: eq-pre-fixed-point."""
    rng = np.random.default_rng(seed)
    X, x = rng.standard_normal((8, 1)), 2 * rng.standard_normal((1, 1))
    gamma = rng.random((1, 8))
    model = fit_kernel_pca(X, 2, rbf(0.8))
    h = [-np.inf]
    for _ in range(20):
        step = fixed_point_step(model, x, gamma)
        h.append(float(step.h[0]))
        x = x + step.plain
        assert X.min() - 1e-12 <= x[0, 0] <= X.max() + 1e-12
    assert np.all(np.diff(h[1:]) >= -1e-12)


def test_maximising_the_square_is_another_problem():
    """x = (0, 6), γ = (1, −2): the argmax of h is 0, that of h² is 6, and it is farther."""
    model, Z = spanning(line([0, 6]), [1, -2], rbf(1.0))
    grid = line(np.linspace(-3, 9, 1201))
    h = model.kernel(grid, model.X) @ [1, -2]
    assert abs(grid[np.argmax(h), 0]) < 0.01
    assert abs(grid[np.argmax(h**2), 0] - 6) < 0.01
    np.testing.assert_allclose(feature_distance(model, line([0]), Z) ** 2, 4, atol=1e-6)
    np.testing.assert_allclose(feature_distance(model, line([6]), Z) ** 2, 10, atol=1e-6)


@pytest.mark.parametrize("sigma", [0.4, 0.8, 2.0])
def test_fixed_point_and_descent_meet(sigma):
    """From the same start both reach the same objective, and so does SciPy: eq-pre-objective."""
    X = ring(60, 5, 0.1)
    model = fit_kernel_pca(X, 6, rbf(sigma))
    T = ring(15, 6, 0.25)
    Z = model.encode(T)
    one = fixed_point_preimage(model, Z, X0=T, restarts=0, tol=1e-10)
    two = gradient_preimage(model, Z, X0=T, starts=0, tol=1e-7)  # rounding stops nearer ones
    np.testing.assert_allclose(one.distance, two.distance, atol=1e-7)
    assert one.converged.all()
    assert two.converged.all()
    for t, z, distance in zip(T, Z, two.distance, strict=True):
        gamma = model.weights(z[None])
        end = minimize(lambda x, gamma=gamma: preimage_objective(model, x[None], gamma)[0], t)
        np.testing.assert_allclose(
            feature_distance(model, end.x[None], z[None])[0], distance, atol=1e-5
        )


@each_true_kernel
def test_descent_improves_on_the_nearest_sample(kernel):
    """Started there, L-BFGS ends no worse, and at a flat place: eq-pre-gradient, eq-pre-nearest."""
    rng = np.random.default_rng(7)
    X, T = rng.uniform(0.2, 2, (25, 3)), rng.uniform(0.2, 2, (8, 3))
    model = fit_kernel_pca(X, 3 if kernel in (linear(), cosine()) else 4, kernel)
    Z = model.encode(T)
    found, near = quiet(gradient_preimage, model, Z, starts=1), nearest_preimage(model, Z)
    assert np.all(found.distance <= near.distance + 1e-7)
    if kernel is not KERNELS["laplacian"]:  # whose tips have no gradient
        assert found.converged.all()
        slope = objective_gradient(model, found.X, model.weights(Z))
        np.testing.assert_allclose(slope, 0, atol=1e-4)


def test_the_best_of_several_starts_is_kept():
    """Three starts end no worse than each of them alone, and better than the worst."""
    X = ring(40, 33, 0.2)
    model = fit_kernel_pca(X, 25, rbf(0.15))
    Z = model.encode(ring(20, 34, 0.3))
    T = np.random.default_rng(35).uniform(-1, 1, (20, 2))
    single = [
        quiet(gradient_preimage, model, Z, X0=T, starts=0),
        quiet(gradient_preimage, model, Z, starts=1),
    ]
    both = quiet(gradient_preimage, model, Z, X0=T, starts=1)
    least = np.minimum(*(end.distance for end in single))
    most = np.maximum(*(end.distance for end in single))
    np.testing.assert_allclose(both.distance, least, atol=1e-9)
    assert np.sum(most > least + 1e-3) >= 5
    np.testing.assert_array_equal(both.n_iter, single[0].n_iter + single[1].n_iter)


# --- distances and places ------------------------------------------------------------------------


@thorough
@given(seeds, st.integers(1, 4), st.integers(0, 4))
def test_place_from_distances(seed, d, more):
    """A point of the neighbours' hull is found from its distances to them: eq-pre-locate."""
    rng = np.random.default_rng(seed)
    P = rng.standard_normal((3, d + 1 + more, d))
    x = rng.standard_normal((3, d))
    D2 = np.sum((P - x[:, None]) ** 2, axis=2)
    scale = np.linalg.cond(P[0] - P[0].mean(axis=0)) + np.linalg.cond(P[1] - P[1].mean(axis=0))
    scale += np.linalg.cond(P[2] - P[2].mean(axis=0))
    np.testing.assert_allclose(locate_by_distances(P, D2), x, atol=1e-12 * scale**2 + 1e-10)


@pytest.mark.parametrize("unit", [1e-5, 1e5])
def test_places_know_no_unit(unit):
    """Flat directions tell nothing, and points that coincide tell nothing at all."""
    P = np.array([[[0.0, 0.0], [4.0, 0.0], [6.0, 1e-8]]])
    place = locate_by_distances(unit * P, unit**2 * np.array([[1.0, 9.0, 25.0]]))
    np.testing.assert_allclose(place, unit * np.array([[1.0, 0.0]]), atol=1e-6 * unit)
    for same in (np.full((1, 3, 2), unit), np.zeros((1, 3, 2))):
        np.testing.assert_array_equal(locate_by_distances(same, [[1.0, 2.0, 3.0]]), same[:, 0])


def test_more_starts_than_samples():
    """All samples are tried, and that is all."""
    model = fit_kernel_pca(ring(3, 0), 2, rbf(1.0))
    Z = model.scores[:2]
    every, more = (gradient_preimage(model, Z, starts=starts) for starts in (3, 9))
    np.testing.assert_array_equal(more.X, every.X)
    np.testing.assert_array_equal(more.n_iter, every.n_iter)


def test_two_samples_are_enough_to_choose_a_ridge():
    model = fit_kernel_pca(ring(12, 0, 0.1), 2, rbf(0.7))
    assert np.isfinite(fit_score_regression(model, max_samples=2).errors).all()
    with pytest.raises(ValueError, match="max_samples=1"):
        fit_score_regression(model, max_samples=1)


def test_place_in_the_hull_of_few_neighbours():
    """With fewer neighbours than dimensions the foot in their hull is found: eq-pre-locate."""
    P = np.array([[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]])
    x = np.array([0.5, 0.7, 3.0])
    D2 = np.sum((P - x) ** 2, axis=2)
    np.testing.assert_allclose(locate_by_distances(P, D2), [[0.5, 0.7, 0.0]], atol=1e-12)
    np.testing.assert_allclose(locate_by_distances(P * 0 + 1, D2), 1)  # equal neighbours: no NaN


@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_distances_are_translated(sigma):
    """−2σ² log(1 − D²/2), and (σ log(1 − D²/2))² for the Laplacian: eq-pre-distances."""
    X = np.random.default_rng(8).standard_normal((15, 2))
    for kernel in (rbf(sigma), laplacian(sigma)):
        model = fit_kernel_pca(X, 14, kernel)
        D2 = training_distances2(model, model.scores)
        log = np.log(1 - D2 / 2)
        inputs2 = np.sum((X[:, None] - X) ** 2, axis=2)
        by_log = -2 * sigma**2 * log if kernel == rbf(sigma) else (sigma * log) ** 2
        near = inputs2 < 5  # beyond, 1 − D²/2 has lost its digits
        translated, known = input_distances2(model, D2)
        np.testing.assert_allclose(translated[near], inputs2[near], atol=1e-5)
        np.testing.assert_allclose(translated[near], by_log[near], atol=1e-9)
        assert known[near].all()
        found = mds_preimage(model, model.scores, neighbors=5)
        np.testing.assert_allclose(found.X, X, atol=1e-4)
        assert found.converged.all()


class Tall(RadialKernel):
    """A Gaussian of width one and any height."""

    def __init__(self, height):
        self.height = height

    def profile(self, D2):
        return self.height * np.exp(-D2 / 2)

    def profile_derivative(self, D2):
        return -self.profile(D2) / 2

    def _written(self, write):
        return f"Tall({write(self.height)})"


@pytest.mark.parametrize("height", [1e-6, 1e6])
def test_distances_are_translated_in_every_unit_of_the_kernel(height):
    """cκ has distances √c as large, the same inputs, and knows the same: eq-pre-distances."""
    X = np.random.default_rng(8).standard_normal((9, 2))
    D2 = 2 - np.array([2.0, 1.0, 1e-3, 1e-7, 1e-8, 1e-10, 0.0])
    wanted, known = input_distances2(fit_kernel_pca(X, 2, rbf(1.0)), D2)
    found, also = input_distances2(fit_kernel_pca(X, 2, Tall(height)), height * D2)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(known, [True] * 5 + [False] * 2)
    np.testing.assert_array_equal(also, known)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e9])
def test_nothing_has_an_angle_with_zero(unit):
    """Where phi_hat is zero the cosine is zero, and not the rounding of squares: eq-pre-cosine."""
    X = unit * np.random.default_rng(0).standard_normal((30, 3))
    model = fit_kernel_pca(X, 2, linear(), center=False)
    assert not feature_cosine(model, X, np.zeros((30, 2))).any()


def test_a_short_reconstruction_biases_the_distances():
    """1 − D²/2 = phi_hatᵀφ(xⱼ) + (1 − ‖phi_hat‖²)/2 for a Gaussian kernel: eq-pre-deficit."""
    X = ring(40, 50, 0.1)
    model = fit_kernel_pca(X, 5, rbf(0.4))
    Z = model.encode(ring(12, 51, 0.3))
    inner = model.weights(Z) @ model.kernel(X, X)
    short = (1 - reconstruction_norm2(model, Z)) / 2
    assert np.all(short > 0)
    bracket = 1 - training_distances2(model, Z) / 2
    np.testing.assert_allclose(bracket, inner + short[:, None], atol=1e-10)
    r, kappa = 0.7, np.linspace(0, 1, 101)  # phi_hat = rφ(x_hat): too large where κ < (1 + r)/2
    too_large = r * kappa + (1 - r**2) / 2 > kappa
    np.testing.assert_array_equal(too_large, kappa < (1 + r) / 2)


def test_common_error_of_all_distances_does_no_harm():
    """A number added to all squared distances leaves the place where it was: eq-pre-locate."""
    rng = np.random.default_rng(52)
    P, D2 = rng.standard_normal((4, 7, 3)), rng.uniform(1, 5, (4, 7))
    np.testing.assert_allclose(
        locate_by_distances(P, D2 + 2.5), locate_by_distances(P, D2), atol=1e-8
    )


# --- regression ----------------------------------------------------------------------------------


def test_regression_solves_its_normal_equations():
    """Beside scikit-learn's KernelRidge on centred inputs: eq-pre-ridge."""
    X = ring(40, 9, 0.1) + 5
    model = fit_kernel_pca(X, 4, rbf(1.0))
    ours = fit_score_regression(model, rbf(0.6), ridge=0.03)
    theirs = KernelRidge(alpha=0.03, kernel="rbf", gamma=1 / (2 * 0.6**2))
    theirs.fit(model.scores, X - X.mean(axis=0))
    Z = model.encode(ring(9, 10, 0.2) + 5)
    np.testing.assert_allclose(ours.predict(Z), theirs.predict(Z) + X.mean(axis=0), atol=1e-9)
    far = ours.predict(np.full((1, 4), 1e3))
    np.testing.assert_allclose(far[0], X.mean(axis=0))  # not zero: the mean is kept


def test_leaving_one_out_in_one_go():
    """The errors by the formula equal those of n regressions with one sample less: eq-pre-loo."""
    X = ring(15, 11, 0.2)
    model = fit_kernel_pca(X, 3, rbf(1.0))
    kernels, ridges = [rbf(0.5), rbf(1.5)], [1e-3, 1e-1]
    fitted = fit_score_regression(model, kernels, ridge=ridges)
    mean = X.mean(axis=0)
    for i, kernel in enumerate(kernels):
        for j, ridge in enumerate(ridges):
            errors = []
            for out in range(15):
                rest = np.arange(15) != out
                L = kernel(model.scores[rest], model.scores[rest]) + ridge * np.eye(14)
                b = np.linalg.solve(L, X[rest] - mean)
                guess = kernel(model.scores[[out]], model.scores[rest]) @ b
                errors.append(np.mean((X[out] - mean - guess) ** 2))
            np.testing.assert_allclose(fitted.errors[i, j], np.mean(errors), rtol=1e-8)
        whole = leave_one_out_errors(kernel(model.scores), X - mean, ridges)
        np.testing.assert_allclose(whole, fitted.errors[i])
    i, j = np.unravel_index(np.argmin(fitted.errors), (2, 2))
    assert (fitted.kernel, fitted.ridge) == (kernels[i], ridges[j])
    assert repr(fitted).startswith("ScoreRegression(3 scores to 2 features, n=15, rbf(sigma=")


@pytest.mark.parametrize(("n", "d", "columns"), [(6, 20, 6), (6, 6, 6), (20, 6, 6)])
def test_fewer_columns_have_the_same_errors(n, d, columns):
    """Values with more columns than rows are turned: what a smoother leaves stays as it is."""
    rng = np.random.default_rng(0)
    Y, L = rng.standard_normal((n, d)), rbf(1.0)(rng.standard_normal((n, 2)))
    few = fewer_columns(Y)
    assert few.shape == (n, columns)
    errors = [leave_one_out_errors(L, values, [1e-2, 1.0]) for values in (Y, few)]
    np.testing.assert_allclose(*errors)


def test_regression_learns_from_dirty_copies():
    """Dirty copies: ridge regression on their scores, and a better denoiser: eq-pre-ridge."""
    X = ring(80, 30, 0.02)
    model = fit_kernel_pca(X, 6, rbf(0.8))
    dirty, T = ring(80, 31, 0.2), ring(80, 32, 0.2)
    kernel = rbf(0.5)
    learned = fit_score_regression(model, kernel, ridge=0.1, noisy=dirty)
    S = model.encode(dirty)
    B = np.linalg.solve(kernel(S, S) + 0.1 * np.eye(80), X - X.mean(axis=0))
    np.testing.assert_allclose(learned.coefficients, B, atol=1e-9)
    errors = [
        np.mean((fit_score_regression(model, noisy=copies).predict(model.encode(T)) - X) ** 2)
        for copies in (None, dirty)
    ]
    assert errors[1] < 0.8 * errors[0]


def test_what_scikit_learn_does():
    """Its inverse_transform is ridge regression without the mean, with the same kernel."""
    X = ring(40, 12, 0.1) + 5
    theirs = TheirKernelPCA(4, kernel="rbf", gamma=0.5, fit_inverse_transform=True).fit(X)
    model = fit_kernel_pca(X, 4, rbf(1.0))
    L = model.kernel(model.scores, model.scores)
    T = ring(6, 13, 0.1) + 5
    by_hand = model.kernel(model.encode(T), model.scores) @ np.linalg.solve(L + np.eye(40), X)
    np.testing.assert_allclose(theirs.inverse_transform(theirs.transform(T)), by_hand, atol=1e-8)


# --- reports, never NaN --------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("factor", [0.0, 1e3, 1e8])
def test_degenerate_scores_get_a_report(method, factor):
    """The mean feature and scores far outside give finite points and an honest distance."""
    X = ring(30, 14, 0.1)
    model = fit_kernel_pca(X, 4, rbf(0.7))
    Z = factor * np.array([[1.0, -2.0, 0.5, 3.0], [-1.0, 1.0, 1.0, -1.0]])
    found = quiet(preimage, model, Z, method)
    assert np.isfinite(found.X).all()
    assert not np.any(np.all(found.X == 0, axis=1))
    atol = 1e-6 * max(factor, 1)
    np.testing.assert_allclose(found.distance, feature_distance(model, found.X, Z), atol=atol)
    if factor and method == "mds":
        assert not found.converged.any()  # no input distance is that large


def test_far_starts():
    """Where all weights underflow there is no step: reported, or mended by a restart."""
    X = ring(30, 15, 0.1)
    model = fit_kernel_pca(X, 4, rbf(0.5))
    Z, far = model.scores[:3], np.full((3, 2), 1e3)
    stuck = quiet(fixed_point_preimage, model, Z, X0=far, restarts=0)
    assert not stuck.converged.any()
    np.testing.assert_array_equal(stuck.X, far)
    mended = fixed_point_preimage(model, Z, X0=far)
    assert mended.converged.all()
    np.testing.assert_allclose(mended.X, fixed_point_preimage(model, Z).X, atol=1e-4)


@pytest.mark.parametrize(("away", "unit"), [(5.0, 1.0), (8.0, 1.0), (1e3, 1.0), (8.0, 1e-3)])
def test_a_plain_is_no_valley(away, unit):
    """Far from the data the slope vanishes: descent must not call that converged, in any unit."""
    X = unit * ring(30, 15, 0.1)
    model = fit_kernel_pca(X, 4, rbf(0.5 * unit))
    Z, far = model.scores[:3], np.full((3, 2), away * unit)
    stuck = quiet(gradient_preimage, model, Z, X0=far, starts=0)
    assert not stuck.converged.any()
    mended = gradient_preimage(model, Z, X0=far, starts=1)
    assert mended.converged.all()


def test_steps_that_run_out_are_reported():
    X = ring(30, 16, 0.1)
    model = fit_kernel_pca(X, 4, rbf(0.5))
    T = ring(5, 17, 0.4)
    for method in ("fixed-point", "gradient"):
        short = quiet(denoise, model, T, method, max_iter=1, tol=1e-12)
        long = denoise(model, T, method)
        assert not short.converged.any()
        assert long.converged.all()
        assert np.all(long.n_iter >= short.n_iter)


def test_report_in_words():
    model = fit_kernel_pca(ring(30, 18), 4, rbf(0.5))
    said = repr(denoise(model, ring(5, 19, 0.1)))
    assert "Preimage of 5 points: 5 converged" in said


# --- denoising -----------------------------------------------------------------------------------


def test_noisy_ring_is_pulled_back():
    """Points off a ring land near it, nearer than the noise, with the mean term; without, not."""
    X, T = ring(150, 20, 0.08), ring(60, 21, 0.25)
    model = fit_kernel_pca(X, 6, rbf(0.7))
    off = np.abs(np.linalg.norm(T, axis=1) - 1).mean()
    found = denoise(model, T)
    assert np.abs(np.linalg.norm(found.X, axis=1) - 1).mean() < 0.4 * off


def test_digits_kernel_beats_linear():
    """On 8×8 digits with noise, at the settings of the source's figure, kernel PCA wins."""
    X = load_digits().data / 16
    X = X[np.random.default_rng(0).permutation(len(X))]
    train, clean = X[:1200], X[1200:1300]
    noisy = clean + 0.35 * np.random.default_rng(1).standard_normal(clean.shape)
    errors = [np.mean((fit_pca(train, k).reconstruct(noisy) - clean) ** 2) for k in (4, 8, 16, 32)]
    model = fit_kernel_pca(train, 64, rbf(2.0))
    found = denoise(model, noisy)
    assert found.converged.all()
    assert np.mean((found.X - clean) ** 2) < 0.8 * min(errors)


def cluster_ratios(seed, sigma=0.8):
    """Mika et al. 1999: eleven Gaussians in R¹⁰, the error of linear over that of kernel PCA.

    Two rows for 1 to 9 components: linear PCA of centred data, and of data as they are.
    """
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-1, 1, (11, 10))
    train, truth = np.repeat(centres, 100, axis=0), np.repeat(centres, 33, axis=0)
    train = train + sigma * rng.standard_normal(train.shape)
    test = truth + sigma * rng.standard_normal(truth.shape)
    full = fit_kernel_pca(train, 9, rbf(np.sqrt(10) * sigma))
    ours = []
    for k in range(1, 10):
        model = dataclasses.replace(full, alpha=full.alpha[:, :k], lam=full.lam[:k])
        ours.append(np.mean((denoise(model, test, tol=1e-3).X - truth) ** 2))
    theirs = [
        [
            np.mean((fit_pca(train, k, center=c).reconstruct(test) - truth) ** 2)
            for k in range(1, 10)
        ]
        for c in (True, False)
    ]
    return np.array(theirs) / np.array(ours)


def test_published_row_of_the_clusters_experiment():
    """σ = 0.8: with centred linear PCA 4 to 9 components agree, without centring all nine do."""
    published = np.array([1.23, 1.39, 1.54, 1.70, 1.80, 1.96, 2.10, 2.25, 2.39])
    draws = np.array([cluster_ratios(seed) for seed in range(3)])
    gap = np.abs(draws.mean(axis=0) - published)
    assert np.all(gap[0, 3:] < 0.2)
    assert np.all(gap[0, :3] > 0.1)
    assert np.all(gap[1] < 0.2)


def weighted_mean(known, rows, width):
    D2 = np.sum((rows[:, None] - known) ** 2, axis=2)
    w = np.exp((D2.min(axis=1, keepdims=True) - D2) / (2 * width**2))
    return w @ known / w.sum(axis=1, keepdims=True)


@sparing
@given(seeds)
def test_one_step_of_mean_shift_is_the_posterior_mean(seed):
    """y + ν²∇log p(y) is the mean by Bayes, and a step with equal weights: eq-pre-tweedie."""
    rng = np.random.default_rng(seed)
    X, nu = rng.standard_normal((9, 2)), rng.uniform(0.5, 1.5)
    Y = X[rng.integers(0, 9, 6)] + nu * rng.standard_normal((6, 2))
    best = weighted_mean(X, Y, nu)
    model = fit_kernel_pca(X, 1, rbf(nu))
    step = fixed_point_step(model, Y, np.full((6, 9), 1 / 9))
    np.testing.assert_allclose(Y + step.plain, best, atol=1e-8)
    h = 1e-5
    for j, e in enumerate(h * np.eye(2)):
        log = [np.log(model.kernel(Y + sign * e, X).sum(axis=1)) for sign in (1, -1)]
        np.testing.assert_allclose(
            Y[:, j] + nu**2 * (log[0] - log[1]) / (2 * h), best[:, j], atol=1e-6
        )


def test_width_of_the_noise_is_best_for_copies_of_known_samples():
    """The least error of all widths, over many dirty copies: eq-pre-tweedie."""
    rng = np.random.default_rng(53)
    X, nu = rng.standard_normal((40, 3)), 0.6
    clean = X[rng.integers(0, 40, 20_000)]
    dirty = clean + nu * rng.standard_normal(clean.shape)
    errors = {w: np.mean((weighted_mean(X, dirty, w) - clean) ** 2) for w in (0.4, 0.6, 0.9)}
    assert min(errors, key=errors.get) == 0.6


def test_on_small_digits_the_weighted_mean_is_not_beaten():
    """The rivals of the chapter at the settings that validation chose there, on another split."""
    X = load_digits().data / 16
    X = X[np.random.default_rng(99).permutation(len(X))]
    train, clean = X[:1000], X[1300:1600]
    noisy = clean + 0.35 * np.random.default_rng(98).standard_normal(clean.shape)
    model = fit_kernel_pca(train, 64, rbf(3.0))
    Z = model.encode(noisy)
    near = np.argsort(training_distances2(model, Z), axis=1)[:, :7]
    errors = {
        name: np.mean((rows - clean) ** 2)
        for name, rows in {
            "linear": fit_pca(train, 10).reconstruct(noisy),
            "weighted": weighted_mean(train, noisy, 0.55),
            "fixed": denoise(fit_kernel_pca(train, 512, rbf(1.5)), noisy, tol=1e-3).X,
            "mds": mds_preimage(model, Z, neighbors=7).X,
            "its neighbours": train[near].mean(axis=1),
        }.items()
    }
    assert errors["weighted"] < min(errors["fixed"], errors["mds"])
    assert max(errors["fixed"], errors["mds"]) < 0.7 * errors["linear"]
    assert abs(errors["mds"] / errors["its neighbours"] - 1) < 0.1


def test_default_penalty_of_scikit_learn_gives_the_mean_picture():
    """With alpha=1 every digit comes back as nearly the mean digit, not as a blank page."""
    X = load_digits().data / 16
    theirs = TheirKernelPCA(64, kernel="rbf", fit_inverse_transform=True).fit(X[:500])
    back = theirs.inverse_transform(theirs.transform(X[500:600]))
    to_mean, to_blank = np.mean((back - X[:500].mean(axis=0)) ** 2), np.mean(back**2)
    assert to_mean < 0.05 * to_blank


def anchored(model, gamma, x, x0, mu):
    """Iterate x ← (μx₀ + Σγᵢκᵢxᵢ)/(μ + Σγᵢκᵢ)."""
    for _ in range(400):
        w = gamma * model.kernel(x, model.X)
        x = (mu * x0 + w @ model.X) / (mu + w.sum(axis=1, keepdims=True))
    return x


def test_an_anchor_in_input_space():
    """Its fixed point minimises the distance plus μ/σ²‖x − x₀‖², as SciPy does: eq-pre-anchored."""
    model = fit_kernel_pca(ring(60, 54, 0.1), 6, rbf(0.5))
    T, mu = ring(8, 55, 0.3), 0.3
    gamma = model.weights(model.encode(T))
    ends = anchored(model, gamma, T, T, mu)
    slope = objective_gradient(model, ends, gamma) + 2 * mu / 0.5**2 * (ends - T)
    np.testing.assert_allclose(slope, 0, atol=1e-8)
    for t, g, end in zip(T, gamma, ends, strict=True):

        def penalised(x, t=t, g=g):
            objective = preimage_objective(model, x[None], g[None])[0]
            return objective + mu / 0.5**2 * np.sum((x - t) ** 2)

        np.testing.assert_allclose(minimize(penalised, t).x, end, atol=1e-4)


def test_the_anchor_makes_starts_agree():
    """Tight clusters, few components: the start decides, by a factor above 100, and then not."""
    rng = np.random.default_rng(0)
    centres = rng.uniform(-1, 1, (11, 10))
    seen, target = np.repeat(centres, 40, axis=0), np.repeat(centres, 10, axis=0)
    seen = seen + 0.05 * rng.standard_normal(seen.shape)
    new = target + 0.05 * rng.standard_normal(target.shape)
    model = fit_kernel_pca(seen, 5, rbf(np.sqrt(10) * 0.05))
    gamma = model.weights(model.encode(new))
    starts = new, nearest_preimage(model, model.encode(new)).X
    plain, held = (
        [np.mean((anchored(model, gamma, x, new, mu) - target) ** 2) for x in starts]
        for mu in (0.0, 0.03)
    )
    assert plain[1] > 100 * plain[0]
    assert held[1] == pytest.approx(held[0], rel=0.01)
    assert plain[0] < held[0] < plain[1]


def test_the_conformal_map_without_penalty_is_linear_regression():
    """X⁺(XXᵀ − ρK⁻¹)γ: its inner products minimise the criterion, and ρ=0: eq-pre-conformal."""
    rng = np.random.default_rng(56)
    X = rng.standard_normal((30, 4)) + 1
    model = fit_kernel_pca(X, 6, rbf(1.5))
    Z = model.encode(rng.standard_normal((5, 4)))
    gamma, K, rho = model.weights(Z), model.kernel(X, X), 0.1
    B = np.linalg.lstsq(model.scores, X - X.mean(axis=0), rcond=None)[0]
    np.testing.assert_allclose(gamma @ X, X.mean(axis=0) + Z @ B, atol=1e-9)
    found = (np.linalg.pinv(X) @ (X @ X.T - 0 * K) @ gamma.T).T
    np.testing.assert_allclose(found, gamma @ X, atol=1e-9)
    K_inverse = np.linalg.inv(K)
    M = K_inverse @ (X @ X.T - rho * K_inverse) @ K_inverse
    gradient = -K @ (X @ X.T - K @ M @ K) @ K + rho * K  # of ½‖XXᵀ − KMK‖² + ρ tr(MK)
    np.testing.assert_allclose(gradient, 0, atol=1e-6)


def test_larger_digits_are_what_they_were():
    """The 28×28 digits by their own summary: 500 of each, from 0 to 1, a mean of 0.1313."""
    X, y = mnist_digits()
    assert X.shape == (5000, 784)
    assert np.array_equal(np.bincount(y), [500] * 10)
    assert (X.min(), X.max(), round(float(X.mean()), 4)) == (0, 1, 0.1313)


# --- units, origin, lengths ----------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_units_and_origin_do_not_matter(method):
    """Data × c + b and widths × c give pre-images × c + b, with the same report."""
    X, T = ring(30, 36, 0.1), ring(6, 37, 0.25)
    for kernel in (rbf, laplacian):
        wanted = quiet(denoise, fit_kernel_pca(X, 5, kernel(0.7)), T, method)
        for c, b in [(1e-13, 0), (1e-6, 0), (1e6, 0), (1e13, 0), (1, 1e4), (1e-3, -1e2)]:
            model = fit_kernel_pca(c * X + b, 5, kernel(0.7 * c))
            found = quiet(denoise, model, c * T + b, method)
            np.testing.assert_allclose((found.X - b) / c, wanted.X, atol=2e-4)
            np.testing.assert_allclose(found.distance, wanted.distance, atol=1e-5)
            if kernel is rbf:  # at the tips of the Laplacian kernel there is no slope to vanish
                assert np.array_equal(found.converged, wanted.converged)


@thorough
@given(explicit_models())
def test_cosine_is_that_of_written_out_features(known):
    """φ(x)ᵀφ̂ over both lengths, from features written out: eq-pre-cosine."""
    cosine = feature_cosine(known.model, known.T, known.Z)
    phi = known.phi(known.T)
    lengths = np.linalg.norm(phi, axis=1) * np.linalg.norm(known.phi_hat, axis=1)
    scale = np.sum(known.Phi**2, axis=1).max() + np.sum(known.phi_hat**2, axis=1).max()
    inner = np.sum(phi * known.phi_hat, axis=1)
    np.testing.assert_allclose(cosine * lengths, inner, atol=1e-7 * scale)


def test_distance_has_a_floor():
    """φ(x) has length 1 and φ̂ is shorter: 1 − ‖φ̂‖ can't be avoided: eq-pre-cosine."""
    model = fit_kernel_pca(ring(60, 38, 0.1), 6, rbf(0.4))
    found = denoise(model, ring(20, 39, 0.3))
    Z = model.encode(ring(20, 39, 0.3))
    length = np.sqrt(reconstruction_norm2(model, Z))
    cosine = feature_cosine(model, found.X, Z)
    assert np.all(length < 1)
    assert np.all(found.distance >= 1 - length)
    np.testing.assert_allclose(
        found.distance**2, (1 - length) ** 2 + 2 * length * (1 - cosine), atol=1e-9
    )
    no_length = fit_kernel_pca([[-1.0], [1.0]], 1, linear())
    assert feature_cosine(no_length, [[3.0]], [[0.0]])[0] == 0


def test_indefinite_kernels_have_no_distances():
    """Where a squared length is negative the distance is NaN, not 0."""
    X = np.random.default_rng(40).standard_normal((12, 2))
    with pytest.warns(UserWarning, match="indefinite"):
        model = fit_kernel_pca(X, 2, sigmoid(1.0, -3.0))
    T = np.array([[0.1, 0.0], [3.0, 1.0]])
    distance = feature_distance(model, T, model.encode(T))
    gamma = model.weights(model.encode(T))
    squared = preimage_objective(model, T, gamma) + reconstruction_norm2(model, model.encode(T))
    assert np.array_equal(np.isnan(distance), squared < 0)
    assert np.isnan(distance).any()


@pytest.mark.parametrize("clip", [False, True])
def test_what_an_indefinite_kernel_lacks_is_nan_for_every_method(clip):
    """The distance that is reported is feature_distance, and a cosine is from −1 to 1, or NaN."""
    X = np.random.default_rng(40).standard_normal((12, 2))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*indefinite")
        model = fit_kernel_pca(X, 2, sigmoid(1.0, -3.0), clip=clip)
    Z, seen = model.scores, []
    for method in ("nearest", "gradient", "ridge"):
        found = quiet(preimage, model, Z, method)
        np.testing.assert_array_equal(
            np.isnan(found.distance), np.isnan(feature_distance(model, found.X, Z))
        )
        seen.append(np.append(found.distance, feature_cosine(model, found.X, Z)))
    seen = np.array(seen)
    assert np.isnan(seen[:, :12]).any()
    assert np.isnan(seen[:, 12:]).any()
    assert np.abs(np.nan_to_num(seen[:, 12:])).max() <= 1 + 1e-7


def test_clipping_what_is_not_negative_changes_no_distance():
    """A true kernel has distances with clip=True as well, also where rounding makes them zero."""
    for seed in range(10):
        X = np.random.default_rng(seed).standard_normal((10, 2))
        model, clipped = (fit_kernel_pca(X, 5, polynomial(2), clip=clip) for clip in (False, True))
        distances = [feature_distance(m, X, m.scores) for m in (model, clipped)]
        np.testing.assert_allclose(*distances, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_scores_whose_squares_overflow_are_told(method):
    """No method calls infinite distances converged, or the first sample the nearest."""
    X = np.random.default_rng(0).standard_normal((20, 3))
    model = fit_kernel_pca(X, 2, rbf(1.5))
    with pytest.raises(ValueError, match="overflow"):
        preimage(model, 1e160 * model.scores, method)


@pytest.mark.parametrize("method", ["gradient", "fixed-point"])
def test_the_reported_distance_is_the_distance(method):
    """Also for the Laplacian kernel, whose tip makes 1e-8 of a rounding error: eq-pre-distance."""
    rng = np.random.default_rng(9)
    X = rng.standard_normal((5, 30))
    X[2:] = X[:3]  # some distances are zero
    for kernel in (laplacian(1.5), rbf(1.5)):
        model = fit_kernel_pca(X, 2, kernel)
        Z = model.encode(np.vstack([X, 0.9 * X]))
        found = quiet(preimage, model, Z, method)
        true = feature_distance(model, found.X, Z)
        np.testing.assert_allclose(found.distance**2, true**2, atol=1e-12)


# --- callables, tables, sparse matrices ----------------------------------------------------------


def inner_products(A, B):
    """A callable kernel on tables and arrays; it is the linear one."""
    return np.asarray(A, float) @ np.asarray(B, float).T


@pytest.mark.parametrize(("total", "below"), [(np.nan, np.nan), (2.0, 0.0)])
def test_a_length_of_zero_is_one(total, below):
    """Only an indefinite kernel makes NaN of what is below zero; zero itself is a length."""
    model = SimpleNamespace(total_variance=total, clipped=None)
    np.testing.assert_array_equal(length(model, np.array([4.0, 0.0, -1.0])), [2.0, 0.0, below])


def test_callables_go_back_by_the_methods_that_are_advised():
    """What the refusal advises works, on tables too, and gives what the linear kernel gives."""
    table = pd.DataFrame(ring(25, 41, 0.1), columns=["east", "north"])
    model = fit_kernel_pca(table, 2, inner_products)
    known = fit_kernel_pca(table.to_numpy(), 2, linear())
    for method in ("fixed-point", "gradient", "mds"):
        with pytest.raises(ValueError, match='Use method="nearest", or method="ridge"'):
            denoise(model, table, method)
    pd.testing.assert_frame_equal(nearest_preimage(model, model.scores).X, table)
    by_ridge = denoise(model, table, "ridge")
    wanted = denoise(known, table.to_numpy(), "ridge")
    np.testing.assert_allclose(by_ridge.X, wanted.X, atol=1e-6)
    np.testing.assert_allclose(by_ridge.distance, wanted.distance, atol=1e-5)
    again = fit_score_regression(model, noisy=table)
    np.testing.assert_allclose(ridge_preimage(model, model.scores, regression=again).X, by_ridge.X)


def test_texts_have_distances_but_no_numbers():
    model = fit_kernel_pca(["ab", "abb", "b"], 2, lambda A, B: inner_products(*map(counts, (A, B))))
    np.testing.assert_allclose(
        feature_distance(model, ["ab", "b"], model.scores[[0, 2]]), 0, atol=1e-7
    )
    with pytest.raises(ValueError, match='learns numbers.*method="nearest"'):
        denoise(model, ["ab"], "ridge")


def counts(words):
    return [[word.count("a"), word.count("b")] for word in words]


def test_sparse_samples_have_a_nearest_one():
    X = sparse.random_array((20, 6), density=0.4, rng=0, format="csr")
    model = fit_kernel_pca(X, 3, rbf(0.8))
    found = nearest_preimage(model, model.scores)
    wanted = nearest_preimage(fit_kernel_pca(X.toarray(), 3, rbf(0.8)), model.scores)
    np.testing.assert_allclose(found.X.toarray(), wanted.X)
    for method in ("fixed-point", "gradient", "mds", "ridge"):
        with pytest.raises(ValueError, match="makes dense points"):
            preimage(model, model.scores, method)


def test_tables_of_features_keep_their_columns():
    """A model of a DataFrame takes one, and refuses its columns in another order, also as X0."""
    table = pd.DataFrame(ring(20, 42, 0.1), columns=["east", "north"])
    model = fit_kernel_pca(table, 3, rbf(0.8))
    np.testing.assert_allclose(denoise(model, table).X, denoise(model, table.to_numpy()).X)
    swapped = table[["north", "east"]]
    for call in (
        lambda: denoise(model, swapped),
        lambda: preimage(model, model.scores, X0=swapped),
        lambda: feature_distance(model, swapped, model.scores),
    ):
        with pytest.raises(ValueError, match="is called 'north'"):
            call()


# --- warnings ------------------------------------------------------------------------------------


def test_rows_that_fail_are_told():
    """One warning with their number, at the caller's line; none if tol=0 asked for all steps."""
    model = fit_kernel_pca(ring(30, 16, 0.1), 4, rbf(0.5))
    T = ring(5, 17, 0.4)
    for method in ("fixed-point", "gradient"):
        with pytest.warns(ConvergenceWarning, match="5 of 5 rows have not converged") as caught:
            denoise(model, T, method, max_iter=1)
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            denoise(model, T, method, max_iter=1, tol=0.0)
            assert denoise(model, T, method).converged.all()
    with pytest.warns(ConvergenceWarning, match="2 of 2 rows are farther"):
        preimage(model, 1e3 * model.scores[:2], "mds")


@sparing
@given(seeds, st.sampled_from(["fixed-point", "gradient"]), st.sampled_from([1e-3, 1e-6]))
def test_converged_rows_are_at_rest(seed, method, tol):
    """No point nearby is better, by more than the step that was allowed explains."""
    rng = np.random.default_rng(seed)
    model = fit_kernel_pca(rng.standard_normal((15, 2)), 4, rbf(rng.uniform(0.5, 2)))
    Z = model.encode(2 * rng.standard_normal((5, 2)))
    found = quiet(preimage, model, Z, method, tol=tol)
    gamma, X = model.weights(Z)[found.converged], found.X[found.converged]
    angle = np.linspace(0, 2 * np.pi, 13)
    for e in np.column_stack([np.cos(angle), np.sin(angle)]):
        gain = preimage_objective(model, X, gamma) - preimage_objective(model, X + 1e-3 * e, gamma)
        assert np.all(gain <= 1e-3 * 30 * tol * np.abs(gamma).sum(axis=1) + 1e-12)


def test_restarts_go_on_to_the_next_sample(monkeypatch):
    """Rows that fail start at the nearest sample, then at the next, each tried once."""
    tried = []

    def never(look, T, gamma, **_):
        tried.append(T)
        return Ends(T, np.zeros(len(T)), np.zeros(len(T), bool), np.zeros(len(T), int))

    monkeypatch.setattr("kpca_edu._engine.preimage_search.climb_rows", never)
    model = fit_kernel_pca(ring(20, 43, 0.1), 3, rbf(0.7))
    Z, T = model.encode(ring(4, 44, 0.3)), ring(4, 44, 0.3)
    order = np.argsort(training_distances2(model, Z), axis=1)
    quiet(fixed_point_preimage, model, Z, restarts=2)
    quiet(fixed_point_preimage, model, Z, X0=T, restarts=2)
    samples = [model.X[order[:, place]] for place in range(3)]
    for start, wanted in zip(tried, [*samples, T, *samples[:2]], strict=True):
        np.testing.assert_array_equal(start, wanted)


def test_rows_that_converge_start_once(monkeypatch):
    """Further starts are for the others; rounding of a height is measured by its weights."""
    tried, slacks = [], []

    def every_other(look, T, gamma, *, slack, **_):
        tried.append((len(T), len(gamma)))
        slacks.append(slack / np.abs(gamma).sum(axis=1))
        return Ends(T, np.zeros(len(T)), np.arange(len(T)) % 2 == 0, np.zeros(len(T), int))

    monkeypatch.setattr("kpca_edu._engine.preimage_search.climb_rows", every_other)
    model = fit_kernel_pca(ring(20, 43, 0.1), 3, rbf(0.7))
    quiet(fixed_point_preimage, model, model.scores[:8], restarts=2)
    assert tried == [(8, 8), (4, 4), (2, 2)]
    np.testing.assert_allclose(np.concatenate(slacks), 16 * np.finfo(float).eps)


@pytest.mark.parametrize("factor", [1.0, 1e-3])
def test_how_flat_is_flat(factor, monkeypatch):
    """A slope times the spread counts as none from tol × size of κ(x, x) × Σ|γᵢ| down."""
    flats = []

    def stay(look, T, gamma, *, flat, **_):
        flats.append(flat)
        return Ends(T, np.zeros(len(T)), np.ones(len(T), bool), np.zeros(len(T), int))

    monkeypatch.setattr("kpca_edu._engine.preimage_search.minimize_rows", stay)
    X = 3 * ring(20, 43, 0.1)
    model = fit_kernel_pca(X, 3, polynomial(2, 1.0))
    Z = factor * model.scores[:8]
    gradient_preimage(model, Z, starts=1, tol=1e-4)
    size, spread = (np.sum(X**2, axis=1) + 1).max() ** 2, np.sqrt(X.var(axis=0).sum())
    weight = np.maximum(np.abs(model.weights(Z)).sum(axis=1), 1)
    np.testing.assert_allclose(flats[0], 1e-4 * size * weight / spread)


def test_of_equal_errors_the_larger_penalty_is_taken():
    """Rounding must not choose: errors that agree to six digits count as equal."""
    errors = np.array([[3.0, 2.0, 2.0 + 1e-9, 5.0], [2.0 + 1e-10, 9.0, 9.0, 9.0]])
    assert chosen_pair(errors, np.array([1.0, 2.0, 3.0, 4.0])) == (0, 2)
    assert chosen_pair(errors, np.array([1.0, 4.0, 3.0, 4.0])) == (0, 1)


# --- the interface -------------------------------------------------------------------------------


def test_one_interface():
    """preimage(method) is the function of the method, and denoise encodes first."""
    X = ring(30, 22, 0.1)
    model = fit_kernel_pca(X, 4, rbf(0.7))
    T = ring(6, 23, 0.2)
    Z = model.encode(T)
    functions = [nearest_preimage, fixed_point_preimage, gradient_preimage, mds_preimage]
    for name, function in zip(METHODS, [*functions, ridge_preimage], strict=True):
        np.testing.assert_array_equal(preimage(model, Z, name).X, function(model, Z).X)
    np.testing.assert_array_equal(denoise(model, T).X, fixed_point_preimage(model, Z, X0=T).X)
    regression = fit_score_regression(model)
    np.testing.assert_array_equal(
        denoise(model, T, "ridge", regression=regression).X, regression.predict(Z)
    )
    np.testing.assert_array_equal(denoise(model, T, "nearest").X, nearest_preimage(model, Z).X)
    near, alone = denoise(model, T, "gradient"), gradient_preimage(model, Z, X0=T, starts=0)
    np.testing.assert_array_equal(near.n_iter, alone.n_iter)  # no other start was tried
    np.testing.assert_array_equal(near.X, alone.X)


@pytest.mark.parametrize("method", METHODS)
def test_blocks_change_nothing(method, monkeypatch):
    """Cut into blocks of a few rows, with or without a bar, the result is the same."""
    X = ring(30, 24, 0.1)
    model = fit_kernel_pca(X, 4, rbf(0.7))
    Z = model.encode(ring(11, 25, 0.2))
    whole = preimage(model, Z, method)
    monkeypatch.setattr("kpca_edu._engine.panels.BLOCK_ENTRIES", 90)
    monkeypatch.setattr("kpca_edu._engine.searches.LEAST_ROWS", 2)
    parts = preimage(model, Z, method, progress=True)
    for name in ("X", "distance", "converged", "n_iter"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), atol=1e-10)


def test_missing_tqdm_is_said(monkeypatch):
    real = builtins.__import__

    def without_tqdm(name, *rest, **options):
        if name.startswith("tqdm"):
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without_tqdm)
    model = fit_kernel_pca(ring(10, 26), 2, rbf(0.7))
    with pytest.raises(ImportError, match="needs tqdm"):
        preimage(model, model.scores, progress=True)


@pytest.mark.parametrize("method", METHODS)
def test_single_precision_and_inputs_unchanged(method):
    """float32 stays float32 and agrees with doubles; nothing handed in is changed."""
    X, T = ring(30, 27, 0.1), ring(6, 28, 0.2)
    double = denoise(fit_kernel_pca(X, 4, rbf(0.7)), T, method)
    X32, T32 = X.astype(np.float32), T.astype(np.float32)
    X32.flags.writeable = T32.flags.writeable = False
    model = fit_kernel_pca(X32, 4, rbf(0.7))
    Z = model.encode(T32)
    Z.flags.writeable = False
    single = denoise(model, T32, method)
    assert single.X.dtype == np.float32
    assert single.converged.all()
    np.testing.assert_allclose(single.X, double.X, atol=0.02 if method == "ridge" else 2e-3)
    assert isinstance(preimage(model, Z, method), Preimage)


MODEL = fit_kernel_pca(ring(12, 29, 0.1), 3, rbf(0.7))
GRAM = fit_kernel_pca_gram(rbf(0.7)(ring(12, 29, 0.1)), 3)
POLY = fit_kernel_pca(ring(12, 29, 0.1), 3, polynomial(2, 1.0))
Z3 = MODEL.scores[:2]
T2 = np.ones((2, 2))
L3 = np.eye(3)
BAD = {
    "method": (lambda: preimage(MODEL, Z3, "newton"), 'choose one of "nearest"'),
    "no method": (lambda: denoise(MODEL, T2, ["mds"]), 'choose one of "nearest"'),
    "columns of Z": (lambda: preimage(MODEL, Z3[:, :2]), "2 columns and the model 3 components"),
    "NaN": (lambda: preimage(MODEL, Z3 * np.nan), "NaN"),
    "1-D": (lambda: preimage(MODEL, Z3[0]), "1-D"),
    "X0 rows": (lambda: preimage(MODEL, Z3, X0=T2[:1]), "a start for each row"),
    "X0 columns": (lambda: preimage(MODEL, Z3, X0=np.ones((2, 3))), "same features"),
    "Gram": (lambda: preimage(GRAM, Z3, "nearest"), "fitted on a Gram matrix"),
    "Gram denoise": (lambda: denoise(GRAM, T2), "fitted on a Gram matrix"),
    "Gram ridge": (lambda: preimage(GRAM, Z3, "ridge"), "fitted on a Gram matrix"),
    "Gram distance": (lambda: feature_distance(GRAM, T2, Z3), "fitted on a Gram matrix"),
    "fixed point": (lambda: preimage(POLY, Z3), "needs a radial kernel"),
    "step": (lambda: fixed_point_step(POLY, T2, np.ones((2, 12))), "needs a radial kernel"),
    "mds": (lambda: preimage(POLY, Z3, "mds"), "kernel of the distance"),
    "neighbours": (lambda: preimage(MODEL, Z3, "mds", neighbors=1), "neighbors=1"),
    "restarts": (lambda: preimage(MODEL, Z3, restarts=-1), "restarts=-1"),
    "starts": (lambda: preimage(MODEL, Z3, "gradient", starts=1.5), "starts=1.5"),
    "nowhere": (lambda: preimage(MODEL, Z3, "gradient", starts=0), "nowhere to start"),
    "tol": (lambda: preimage(MODEL, Z3, tol=-1), "tol=-1"),
    "tol NaN": (lambda: preimage(MODEL, Z3, "gradient", tol=np.nan), "tol=nan"),
    "max_iter": (lambda: preimage(MODEL, Z3, "gradient", max_iter=1.5), "max_iter=1.5"),
    "progress": (lambda: preimage(MODEL, Z3, "nearest", progress="yes"), "progress='yes'"),
    "ridge": (lambda: preimage(MODEL, Z3, "ridge", ridge=0.0), "positive numbers"),
    "no ridges": (lambda: preimage(MODEL, Z3, "ridge", ridge=[]), "positive numbers"),
    "ridge as text": (lambda: preimage(MODEL, Z3, "ridge", ridge="small"), "not numbers"),
    "tiny ridge": (lambda: preimage(MODEL, Z3, "ridge", kernel=rbf(1e4), ridge=1e-300), "rounding"),
    "noisy": (lambda: preimage(MODEL, Z3, "ridge", noisy=T2), "a dirty copy of each"),
    "rng": (lambda: preimage(MODEL, Z3, "ridge", rng="seed"), "rng='seed'"),
    "max_samples": (lambda: preimage(MODEL, Z3, "ridge", max_samples=0.5), "max_samples=0.5"),
    "kernel name": (lambda: preimage(MODEL, Z3, "ridge", kernel="rbf"), "kernel on scores"),
    "kernels": (lambda: fit_score_regression(MODEL, [rbf(1.0), 3]), "kernel on scores"),
    "regression": (lambda: preimage(MODEL, Z3, "ridge", regression=MODEL), "fit_score_regression"),
    "two recipes": (
        lambda: ridge_preimage(MODEL, Z3, regression=fit_score_regression(MODEL), nonsense=3),
        "regression is given, and so is nonsense",
    ),
    "predict": (lambda: fit_score_regression(MODEL).predict(T2), "2 columns and the model 3"),
    "L and Y": (lambda: leave_one_out_errors(L3, T2, [1.0]), "Y has 2 rows"),
    "L": (lambda: leave_one_out_errors(T2[:1], T2, [1.0]), "square"),
    "points and scores": (lambda: feature_distance(MODEL, T2[:1], Z3), "1 points and 2 rows"),
    "points": (lambda: feature_distance(MODEL, np.ones((2, 3)), Z3), "3 columns"),
    "weights": (lambda: preimage_objective(MODEL, T2, Z3), "gamma has 3 columns"),
    "rows of weights": (lambda: objective_gradient(MODEL, T2, np.ones((1, 12))), "1 rows of"),
    "places, 2-D": (lambda: locate_by_distances(T2, T2), "neighbors has shape"),
    "places, 1-D": (lambda: locate_by_distances([1.0], [1.0]), "neighbors has shape"),
    "places, empty": (lambda: locate_by_distances(np.ones((0, 3, 2)), T2), "neighbors has shape"),
    "places, text": (lambda: locate_by_distances("here", T2), "not numbers"),
    "places, ragged": (lambda: locate_by_distances([[[1], [1, 2]]], T2), "different lengths"),
    "places, NaN": (lambda: locate_by_distances(np.ones((1, 2, 2)) * np.nan, T2[:1]), "NaN"),
    "places, far": (lambda: locate_by_distances(np.full((2, 2, 2), 1e160), T2), "out of the range"),
    "places, near": (lambda: locate_by_distances(np.full((2, 2, 2), 1e-310), T2), "out of the ra"),
    "D2 shape": (lambda: locate_by_distances(np.ones((1, 3, 2)), T2), "D2 has shape"),
    "D2 negative": (lambda: locate_by_distances(np.ones((2, 2, 2)), -T2), "not negative"),
}


@pytest.mark.parametrize(("call", "words"), BAD.values(), ids=BAD)
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("method", METHODS)
def test_unknown_options_are_named_and_the_known_ones_listed(method):
    with pytest.raises(TypeError, match=f'method="{method}" has no option speed: .*progress'):
        preimage(MODEL, Z3, method, speed=3)
    with pytest.raises(TypeError, match="no option neighbors|neighbors=2"):
        preimage(MODEL, Z3, "nearest", neighbors=2)


OF_A_MODEL = [
    function
    for module in (preimages, score_regression)
    for name in module.__all__
    if inspect.isfunction(function := getattr(module, name))
    and next(iter(inspect.signature(function).parameters)) == "model"
]


@pytest.mark.parametrize("function", OF_A_MODEL, ids=lambda function: function.__name__)
def test_a_model_of_another_kind_gets_a_lesson(function):
    """PCA's model, a name, nothing: every function says what it needs."""
    needed = inspect.signature(function).parameters.values()
    rest = [T2] * sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in needed)
    for model in (fit_pca(ring(12, 29), 2), "rbf", None, rbf(1.0)):
        with pytest.raises(ValueError, match=r"a model of kernel PCA is needed, as fit_kernel_pca"):
            function(model, *rest[1:])


def test_two_neighbors_are_enough_and_one_is_not():
    model = fit_kernel_pca(ring(12, 0, 0.1), 3, rbf(0.7))
    Z = model.encode(ring(12, 0, 0.1)[:2])
    assert np.isfinite(mds_preimage(model, Z, neighbors=2).X).all()
    with pytest.raises(ValueError, match="neighbors=1"):
        mds_preimage(model, Z, neighbors=1)


def test_ridges_from_1e_8_to_10_are_tried(monkeypatch):
    """If none is given, there are ten ridges for each of five widths."""
    tried = []

    def spy(L, Y, ridges):
        tried.append(ridges)
        return leave_one_out_errors(L, Y, ridges)

    monkeypatch.setattr(score_regression, "leave_one_out_errors", spy)
    model = fit_kernel_pca(ring(12, 0, 0.1), 2, rbf(0.7))
    assert fit_score_regression(model).errors.shape == (5, 10)
    np.testing.assert_allclose(tried, [10.0 ** np.arange(-8, 2)] * 5)
    widths = np.array([kernel.sigma for kernel in score_regression._widths(model.scores)])
    np.testing.assert_allclose(widths / median_sigma(model.scores), [0.5, 1, 2, 4, 8])


def test_perfect_fits_are_equals_too():
    """Where no error is left, the largest penalty is taken."""
    assert chosen_pair(np.zeros((2, 3)), np.array([1.0, 3.0, 2.0])) == (0, 1)


def test_a_penalty_must_be_felt_beside_the_matrix():
    """It is compared with the rounding of the matrix, whose size counts."""
    positive_ridges(1e-8, np.eye(3))
    with pytest.raises(ValueError, match="lost in the rounding"):
        positive_ridges(1e-8, 1e8 * np.eye(3))
    positive_ridges(1e-16, 1e-3 * np.eye(3))


@pytest.mark.parametrize("method", ["fixed-point", "gradient"])
@given(log_far=st.floats(3, 12), seed=seeds)
def test_a_far_sample_makes_no_other_row_converge(method, log_far, seed):
    """What is a small step among samples near each other is so beside a far one, too."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 6, 40)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * rng.standard_normal((40, 2))
    T = X[:5] + 0.1 * rng.standard_normal((5, 2))
    model = fit_kernel_pca(np.vstack([X, np.full((1, 2), 10**log_far)]), 4, rbf(0.5))
    found = denoise(model, T, method)
    slope = np.linalg.norm(
        objective_gradient(model, found.X, model.weights(model.encode(T))), axis=1
    )
    assert np.all(found.converged)
    assert slope.max() <= 1e-2
