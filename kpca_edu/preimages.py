"""Pre-images: from feature space back to the space of the data (chapter 7).

Scores z name a point φ̂ = Σγᵢφ(xᵢ) of feature space, the reconstruction. A pre-image is an x whose
feature φ(x) is as near to φ̂ as can be. Five methods look for it, all through one interface.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from ._engine.checks import data_matrix, tolerance, whole_number
from ._engine.descent import minimize_rows
from ._engine.panels import row_blocks
from ._engine.progress import with_progress
from .kernel_pca import KernelPCA
from .kernels import (
    Kernel,
    RadialKernel,
    gram_matrix,
    linear,
    median_sigma,
    rbf,
    squared_distances,
)

__all__ = [
    "Preimage",
    "preimage",
    "denoise",
    "feature_distance",
    "reconstruction_norm2",
    "training_distances2",
    "preimage_objective",
    "objective_gradient",
    "exact_preimage",
    "nearest_preimage",
    "gradient_preimage",
    "fixed_point_step",
    "fixed_point_preimage",
    "mds_preimage",
    "locate_by_distances",
    "ScoreRegression",
    "fit_score_regression",
    "ridge_preimage",
]


# The result and the one interface


@dataclass(frozen=True, eq=False)
class Preimage:
    """Points of input space that stand for points of feature space, and how well they do."""

    X: NDArray | Sequence  # (m, d) the pre-images, a row for each row of scores
    distance: NDArray  # (m,) ‖φ(x̂) − φ̂‖, in feature space, not squared
    converged: NDArray  # (m,) whether the method reached what it was after
    n_iter: NDArray  # (m,) steps taken, over all starts; 0 where none are needed

    def __repr__(self) -> str:
        m, steps = len(self.distance), np.median(self.n_iter)
        return (
            f"Preimage of {m} points: {int(np.sum(self.converged))} converged, median of "
            f"{steps:g} steps, distances {self.distance.min():.4g} to {self.distance.max():.4g}"
        )


def preimage(model: KernelPCA, Z: ArrayLike, method: str = "fixed-point", **options) -> Preimage:
    """Return points x̂ whose features are near those with the scores Z.

    Z : (m, k). The methods are "nearest", "fixed-point", "gradient", "mds" and
    "ridge"; the options are those of the function of the method.
    """
    if method not in METHODS:
        known = ", ".join(f'"{name}"' for name in METHODS)
        raise ValueError(f"method={method!r}: choose one of {known}.")
    return METHODS[method](model, Z, **options)


def denoise(model: KernelPCA, T: ArrayLike, method: str = "fixed-point", **options) -> Preimage:
    """Encode T : (m, d), and go back: what the components keep of each row.

    The iterative methods start at the rows of T and look for a minimum near them,
    which need not be the lowest one.
    """
    _samples_of(model)
    if method == "fixed-point":
        options = {"X0": T, **options}
    if method == "gradient":
        options = {"X0": T, "starts": 0, **options}
    return preimage(model, model.encode(T), method, **options)


# The objective that all methods are judged by


def feature_distance(
    model: KernelPCA,
    X_hat: ArrayLike,
    Z: ArrayLike,
) -> NDArray:
    """Return ‖φ(x̂) − φ̂‖ : (m,), in feature space :eq:`eq-pre-distance`.

    X_hat : (m, d) points, Z : (m, k) the scores of φ̂. It is not squared.
    """
    squared = preimage_objective(model, X_hat, Z)
    squared += reconstruction_norm2(model, Z)
    return np.sqrt(np.maximum(squared, 0))


def reconstruction_norm2(model: KernelPCA, Z: ArrayLike) -> NDArray:
    """Return ‖φ̂‖² : (m,) from the scores Z : (m, k) :eq:`eq-pre-norm`."""
    Z = _scores(model, Z)
    shift = model.row_means @ model.alpha  # φ̄ᵀv for each direction v
    return model.mean + 2 * Z @ shift + np.sum(Z**2, axis=1)


def training_distances2(model: KernelPCA, Z: ArrayLike) -> NDArray:
    """Return ‖φ(xⱼ) − φ̂‖² : (m, n) for all training samples.

    By Pythagoras :eq:`eq-pre-pythagoras`: the squared distance of the scores
    plus what the components lose of xⱼ. No κ(xᵢ, xⱼ) is evaluated again.
    """
    Z = _scores(model, Z)
    scores = model.scores
    norms2 = np.sum(scores**2, axis=1)
    lost = _self_products(model) - 2 * model.row_means + model.mean - norms2
    D2 = Z @ (-2 * scores.T)
    D2 += np.sum(Z**2, axis=1)[:, None]
    D2 += np.maximum(lost, 0) + norms2
    return np.maximum(D2, 0, out=D2)


def preimage_objective(model: KernelPCA, T: ArrayLike, Z: ArrayLike) -> NDArray:
    """Return κ(t, t) − 2Σγᵢκ(t, xᵢ) : (m,) for each row t :eq:`eq-pre-objective`.

    T : (m, d), Z : (m, k). It is ‖φ(t) − φ̂‖² up to a number that has no t in it.
    """
    T, gamma = _points(model, T, Z)
    return _objective(model, T, gamma)


def objective_gradient(model: KernelPCA, T: ArrayLike, Z: ArrayLike) -> NDArray:
    """Return the objective's gradient in t : (m, d) :eq:`eq-pre-gradient`."""
    T, gamma = _points(model, T, Z)
    return _objective_gradient(model, T, gamma)


def exact_preimage(
    model: KernelPCA, Z: ArrayLike, inverse: Callable[[NDArray], NDArray]
) -> Preimage:
    """Read off the pre-image where there is one, for κ(x, y) = f(xᵀy).

    ``inverse`` is f⁻¹. The inner products of φ̂ with the features of the axes give
    the coordinates :eq:`eq-pre-exact`. The distance tells whether φ̂ was the
    feature of a point; only then the row counts as converged.

    >>> from kpca_edu import fit_kernel_pca, polynomial
    >>> model = fit_kernel_pca([[1.0], [2.0], [4.0]], 1, polynomial(3, 0.0))
    >>> exact_preimage(model, model.encode([[3.0]]), np.cbrt).X.round(6)
    array([[3.]])
    """
    X, Z = _vectors_of(model, "exact_preimage"), _scores(model, Z)
    axes = np.eye(X.shape[1], dtype=X.dtype)
    T = np.asarray(inverse(model.weights(Z) @ model.kernel(X, axes)))
    if T.shape != (len(Z), X.shape[1]) or not np.isfinite(T).all():
        raise ValueError(
            "inverse(…) gave no finite number for some inner products: f⁻¹ must take every "
            "real number, as that of an odd power does (np.cbrt, not np.sqrt)."
        )
    distance = feature_distance(model, T, Z)
    size = np.sqrt(np.abs(reconstruction_norm2(model, Z)) + np.abs(model.kernel.diagonal(T)))
    return _direct(T, distance, distance <= 1e3 * np.sqrt(np.finfo(T.dtype).eps) * size)


# Method 1: the nearest training sample


def nearest_preimage(model: KernelPCA, Z: ArrayLike, progress: bool = False) -> Preimage:
    """Return the training sample whose feature is nearest :eq:`eq-pre-nearest`.

    Works for every kernel, also for a callable on texts or graphs.
    """
    samples = _samples_of(model)

    def solve(Z: NDArray, _) -> Preimage:
        D2 = training_distances2(model, Z)
        best = np.argmin(D2, axis=1)
        X = samples[best] if isinstance(samples, np.ndarray) else [samples[j] for j in best]
        return _direct(X, np.sqrt(D2[np.arange(len(Z)), best]), np.ones(len(Z), bool))

    return _by_blocks(solve, model, Z, None, progress)


# Method 2: minimise the objective directly


def gradient_preimage(
    model: KernelPCA,
    Z: ArrayLike,
    X0: ArrayLike | None = None,
    starts: int = 2,
    tol: float = 1e-7,
    max_iter: int = 500,
    progress: bool = False,
) -> Preimage:
    """Minimise the objective by L-BFGS, and keep the best of several starts.

    Starts are X0 : (m, d), if given, and the ``starts`` training samples with the
    nearest features. A row has converged when the gradient, times the spread of
    the data, is at most ``tol`` times the size of κ(x, x); for a radial kernel the
    step of the fixed point must be small as well, which it is not far from the data.
    """
    X = _vectors_of(model, 'method="gradient"')
    starts, max_iter = whole_number(starts, "starts"), whole_number(max_iter, "max_iter")
    if starts == 0 and X0 is None:
        raise ValueError("starts=0 and no X0: there is nowhere to start from.")
    spread, size = _scales(model)
    flat = max(tolerance(tol), 1e3 * float(np.finfo(X.dtype).eps)) * size / spread

    def solve(Z: NDArray, X0: NDArray | None) -> Preimage:
        gamma, D2 = model.weights(Z), training_distances2(model, Z)
        near = np.argsort(D2, axis=1)[:, :starts]
        begin = [X[place] for place in near.T] + ([] if X0 is None else [X0])
        ends = [_descend(model, start, Z, gamma, spread, flat, max_iter) for start in begin]
        best = ends[0]
        for end in ends[1:]:
            best = _keep_better(best, end, np.arange(len(Z)))
        return best

    return _by_blocks(solve, model, Z, X0, progress)


def _descend(model, T, Z, gamma, spread, flat, max_iter) -> Preimage:
    """Minimise the objective of each row from the start T."""

    def value_and_slope(T: NDArray, rows: NDArray) -> tuple[NDArray, NDArray]:
        with np.errstate(all="ignore"):  # a trial step too far overflows, and is halved
            return _objective(model, T, gamma[rows]), _objective_gradient(model, T, gamma[rows])

    none = flat * np.maximum(np.abs(gamma).sum(axis=1), 1)
    T, converged, n_iter = minimize_rows(value_and_slope, T, spread, none, max_iter)
    if isinstance(model.kernel, RadialKernel):  # no slope far out on the plain: no valley either
        _, steps, alive = _uphill_steps(model, T, gamma)
        converged &= alive & (linalg.norm(steps, axis=1) <= 0.01 * spread)
    return Preimage(T, feature_distance(model, T, Z), converged, n_iter)


# Method 3: the fixed point


def fixed_point_step(
    model: KernelPCA,
    T: ArrayLike,
    gamma: ArrayLike,
) -> tuple[NDArray, NDArray]:
    """Return Σwᵢxᵢ : (m, d) and Σwᵢ : (m,), with wᵢ = γᵢg′(‖t − xᵢ‖²).

    T : (m, d) has a point t in each row, gamma : (m, n) its weights. The
    quotient is the next iterate :eq:`eq-pre-fixed-point`, where Σwᵢ is not zero.
    """
    X = _radial_of(model, "fixed_point_step")
    D2 = squared_distances(data_matrix(T, "T"), X)
    slopes = model.kernel.profile_derivative(D2)
    weights = slopes * data_matrix(gamma, "gamma")
    return weights @ X, weights.sum(axis=1)


def fixed_point_preimage(
    model: KernelPCA,
    Z: ArrayLike,
    X0: ArrayLike | None = None,
    restarts: int = 1,
    tol: float = 1e-6,
    max_iter: int = 500,
    progress: bool = False,
) -> Preimage:
    """Iterate t ← Σwᵢxᵢ/Σwᵢ for all rows at once, guarded :eq:`eq-pre-guarded`.

    Starts at X0 : (m, d), or else at the training sample with the nearest feature;
    then the end is never worse than that sample. A row that does not converge
    starts again at the nearest sample, and at the next, ``restarts`` times at
    most; its best end is kept. Converged means that the next step would be at most
    ``tol`` times the spread of the data, and that the weights are not all zero.
    """
    X = _radial_of(model, 'method="fixed-point"')
    restarts, max_iter = whole_number(restarts, "restarts"), whole_number(max_iter, "max_iter")
    small = _small_step(model, tol)

    def solve(Z: NDArray, X0: NDArray | None) -> Preimage:
        gamma, D2 = model.weights(Z), training_distances2(model, Z)
        start = X[np.argmin(D2, axis=1)] if X0 is None else X0
        found = _guarded_fixed_point(model, start, Z, gamma, small, max_iter)
        for place in range(min(restarts, len(X))):
            rows = np.flatnonzero(~found.converged)
            if not len(rows):
                break
            start = X[np.argpartition(D2[rows], place, axis=1)[:, place]]
            again = _guarded_fixed_point(model, start, Z[rows], gamma[rows], small, max_iter)
            found = _keep_better(found, again, rows)
        return found

    return _by_blocks(solve, model, Z, X0, progress)


def _guarded_fixed_point(
    model: KernelPCA, T: NDArray, Z: NDArray, gamma: NDArray, small: float, max_iter: int
) -> Preimage:
    """Take a share of each step: all of it where h = Σγᵢκ(t, xᵢ) rises, half as much where not."""
    T = np.array(T, np.result_type(T, gamma))
    share, h = np.ones(len(T), T.dtype), np.empty(len(T), T.dtype)
    n_iter, converged = np.zeros(len(T), int), np.zeros(len(T), bool)
    h[:], steps, alive = _uphill_steps(model, T, gamma)
    slack = 16 * np.finfo(T.dtype).eps * np.abs(gamma).sum(axis=1) * _scales(model)[1]
    rows = np.arange(len(T))  # those still on their way
    for _ in range(max_iter + 1):
        arrived = linalg.norm(steps[rows], axis=1) <= small
        converged[rows] = arrived & alive[rows]
        rows = rows[~arrived & (share[rows] > 1e-9)]
        if not len(rows):
            break
        trial = T[rows] + share[rows, None] * steps[rows]
        h_trial, steps_trial, alive_trial = _uphill_steps(model, trial, gamma[rows])
        up = h_trial >= h[rows] - slack[rows]
        share[rows] *= np.where(up, 2, 0.5)
        np.minimum(share, 1, out=share)
        moved = rows[up]
        T[moved], h[moved] = trial[up], h_trial[up]
        steps[moved], alive[moved] = steps_trial[up], alive_trial[up]
        n_iter[rows] += 1
    squared = model.kernel.diagonal(T) - 2 * h + reconstruction_norm2(model, Z)
    return Preimage(T, np.sqrt(np.maximum(squared, 0)), converged, n_iter)


def _uphill_steps(
    model: KernelPCA,
    T: NDArray,
    gamma: NDArray,
) -> tuple[NDArray, NDArray, NDArray]:
    """Return h, steps made to point uphill, and whether a weight is left."""
    D2 = squared_distances(T, model.X)
    h, weights = _radial_sums(model.kernel, D2, gamma)
    numerator, total = weights @ model.X, weights.sum(axis=1)
    size = np.abs(weights, out=weights).sum(axis=1)
    alive = size > 0
    divisor = np.where(alive, np.maximum(np.abs(total), 0.01 * size), 1)
    return h, (total[:, None] * T - numerator) / divisor[:, None], alive


def _radial_sums(kernel: RadialKernel, D2: NDArray, gamma: NDArray) -> tuple[NDArray, NDArray]:
    """Return h = Σγᵢg(D²ᵢ) and the weights γᵢg′(D²ᵢ); D2 is overwritten."""
    if isinstance(kernel, type(rbf(1.0))):  # g′ = −g/2σ²: one exponential does for both
        weights = kernel.profile(D2)
        weights *= gamma
        h = weights.sum(axis=1)
        weights *= -1 / (2 * kernel.sigma**2)
        return h, weights
    weights = gamma * kernel.profile_derivative(D2)
    return np.einsum("ij,ij->i", gamma, kernel.profile(D2)), weights


# Method 4: distances, then a place that has them


def mds_preimage(
    model: KernelPCA, Z: ArrayLike, neighbors: int = 10, progress: bool = False
) -> Preimage:
    """Turn feature distances into input distances, and find the place that has them.

    Kwok and Tsang's method: the distances from φ̂ to its ``neighbors`` nearest
    training features become distances in input space :eq:`eq-pre-distances`, and
    :func:`locate_by_distances` finds the point. For radial kernels, and the
    linear one. A row has converged if every distance could be translated.
    """
    X = _vectors_of(model, 'method="mds"')
    if not (isinstance(model.kernel, RadialKernel) or model.kernel == linear()):
        raise ValueError(
            'method="mds" needs a kernel of the distance, such as rbf(sigma), or the linear one: '
            'others do not tell distances of inputs. Use method="gradient".'
        )
    neighbors = min(whole_number(neighbors, "neighbors", least=2), len(X))

    def solve(Z: NDArray, _) -> Preimage:
        D2 = training_distances2(model, Z)
        near = np.argpartition(D2, neighbors - 1, axis=1)[:, :neighbors]
        D2, translated = _input_distances2(model, np.take_along_axis(D2, near, axis=1))
        T = locate_by_distances(X[near], D2)
        return _direct(T, feature_distance(model, T, Z), translated)

    return _by_blocks(solve, model, Z, None, progress)


def locate_by_distances(neighbors: ArrayLike, D2: ArrayLike) -> NDArray:
    """Return the point with given squared distances to its neighbours.

    neighbors : (m, q, d), D2 : (m, q); the result is (m, d). Least squares in
    the affine hull of the neighbours :eq:`eq-pre-locate`, by their SVD.

    >>> three = [[[0.0], [4.0], [6.0]]]
    >>> locate_by_distances(three, [[1.0, 9.0, 25.0]]).round(6)
    array([[1.]])
    """
    P, D2 = np.asarray(neighbors), np.asarray(D2)
    center = P.mean(axis=1)
    U, s, Vt = np.linalg.svd(P - center[:, None], full_matrices=False)
    norms2 = np.sum((P - center[:, None]) ** 2, axis=2)
    solid = s > 1e-6 * s[:, :1]  # flat directions tell nothing
    inverse = np.where(solid, 1 / np.where(solid, s, 1), 0)
    along = np.einsum("mqr,mq->mr", U, norms2 - D2) * inverse / 2
    return center + np.einsum("mr,mrd->md", along, Vt)


def _input_distances2(model: KernelPCA, D2: NDArray) -> tuple[NDArray, NDArray]:
    """Solve 2g(0) − 2g(u) = D² for u = ‖x̂ − xⱼ‖²; tell in which rows all of D² has a solution."""
    if not isinstance(model.kernel, RadialKernel):
        return D2, np.ones(len(D2), bool)  # the linear kernel: φ(x) = x
    top = float(model.kernel.diagonal(model.X[:1])[0])
    values, floor = top - D2 / 2, 1e-9 * top
    return _inverse_profile(model.kernel, np.maximum(values, floor)), np.all(values > floor, axis=1)


def _inverse_profile(kernel: RadialKernel, values: NDArray) -> NDArray:
    """Return u ≥ 0 with g(u) = values, by bisection: g falls."""
    high = np.ones_like(values)
    for _ in range(200):
        low_enough = kernel.profile(high.copy()) <= values
        if low_enough.all():
            break
        high = np.where(low_enough, high, 4 * high)
    low = np.zeros_like(values)
    for _ in range(80):
        middle = (low + high) / 2
        above = kernel.profile(middle.copy()) > values
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return (low + high) / 2


# Method 5: learn the way back


@dataclass(frozen=True, eq=False)
class ScoreRegression:
    """Ridge regression from scores to inputs: x̂ = x̄ + Σⱼ κ(z, zⱼ) bⱼ."""

    scores: NDArray  # (n, k) scores z of the training samples, or of dirty copies of them
    mean: NDArray  # (d,) mean x̄ of the training samples, kept out of the penalty
    coefficients: NDArray  # (n, d) rows b
    kernel: Kernel  # on scores, not the kernel of the model
    ridge: float  # weight of the penalty
    errors: NDArray  # (kernels, ridges) mean squared errors of leaving one out

    def predict(self, Z: ArrayLike) -> NDArray:
        """Return the input that belongs to each row of scores Z : (m, k), as (m, d)."""
        Z = data_matrix(Z, "Z")
        X = self.mean + self.kernel(Z.astype(float), self.scores) @ self.coefficients
        return X.astype(Z.dtype, copy=False)


def fit_score_regression(
    model: KernelPCA,
    kernel: Kernel | Sequence[Kernel] | None = None,
    ridge: float | Sequence[float] | None = None,
    noisy: ArrayLike | None = None,
    max_samples: int = 500,
    rng: int | np.random.Generator = 0,
) -> ScoreRegression:
    """Learn inputs from scores by kernel ridge regression :eq:`eq-pre-ridge`.

    Of several kernels on the scores and several ridges the pair with the least
    error of leaving one sample out :eq:`eq-pre-loo` is taken. If none are given:
    RBF of 1/2 to 8 times the median distance, and 10⁻⁸ to 10. More than
    ``max_samples`` samples are thinned out for the choice, not for the fit.

    noisy : (n, d) dirty copies of the training samples, if there are any. Then
    their scores are learned from, and the result is a denoiser for such dirt.
    """
    X, scores = data_matrix(_samples_of(model)).astype(float), model.scores.astype(float)
    if noisy is not None:
        scores = model.encode(noisy).astype(float)
        if len(scores) != len(X):
            raise ValueError(
                f"noisy has {len(scores)} rows and the model {len(X)} training samples: "
                f"a dirty copy of each is needed, in the same order."
            )
    if kernel is None:
        sigma = median_sigma(scores)
        kernel = [rbf(factor * sigma) for factor in (0.5, 1, 2, 4, 8)]
    kernels = [kernel] if isinstance(kernel, Kernel) else list(kernel)
    ridges = np.atleast_1d(np.logspace(-8, 1, 10) if ridge is None else ridge).astype(float)
    if not np.all((ridges > 0) & np.isfinite(ridges)):
        raise ValueError(f"ridge={ridge!r}: positive numbers are needed, such as 1e-4.")
    some = np.random.default_rng(rng).permutation(len(X))[:max_samples]
    errors = np.array([_leave_one_out(k, scores[some], X[some], ridges) for k in kernels])
    i, j = np.unravel_index(np.argmin(errors), errors.shape)
    mean, L = X.mean(axis=0), gram_matrix(kernels[i], scores)
    L.flat[:: len(L) + 1] += ridges[j]
    try:
        coefficients = linalg.solve(L, X - mean, assume_a="pos", overwrite_a=True)
    except linalg.LinAlgError:
        raise ValueError(
            f"ridge={ridges[j]:g} is lost in the rounding of the {len(X)}×{len(X)} matrix that it "
            f"should make invertible: take a larger one, such as 1e-8."
        ) from None
    return ScoreRegression(scores, mean, coefficients, kernels[i], float(ridges[j]), errors)


def ridge_preimage(
    model: KernelPCA,
    Z: ArrayLike,
    regression: ScoreRegression | None = None,
    progress: bool = False,
    **options,
) -> Preimage:
    """Predict inputs from scores by a regression, fitted here unless it is given.

    The options are those of :func:`fit_score_regression`.
    """
    if regression is None:
        regression = fit_score_regression(model, **options)

    def solve(Z: NDArray, _) -> Preimage:
        T = regression.predict(Z)
        return _direct(T, feature_distance(model, T, Z), np.ones(len(Z), bool))

    return _by_blocks(solve, model, Z, None, progress)


def _leave_one_out(
    kernel: Kernel,
    scores: NDArray,
    X: NDArray,
    ridges: NDArray,
) -> NDArray:
    """Return the error of leaving one out for each ridge, from one eigh."""
    lam, Q = linalg.eigh(gram_matrix(kernel, scores))
    rotated, Q2 = Q.T @ (X - X.mean(axis=0)), Q**2
    errors = []
    for ridge in ridges:
        kept = ridge / (np.maximum(lam, 0) + ridge)  # eigenvalues of I − H
        residuals = (Q @ (kept[:, None] * rotated)) / (Q2 @ kept)[:, None]
        errors.append(np.mean(residuals**2))
    return np.array(errors)


METHODS: dict[str, Callable[..., Preimage]] = {
    "nearest": nearest_preimage,
    "fixed-point": fixed_point_preimage,
    "gradient": gradient_preimage,
    "mds": mds_preimage,
    "ridge": ridge_preimage,
}


# Helpers


def _by_blocks(
    solve: Callable[[NDArray, NDArray | None], Preimage],
    model: KernelPCA,
    Z: ArrayLike,
    X0: ArrayLike | None,
    progress: bool,
    copies: int = 1,
) -> Preimage:
    """Solve for blocks of rows, so that the (m, n) weights of all rows need not fit in memory."""
    Z = _scores(model, Z)
    if X0 is not None:
        X0 = model._samples(X0)
        if len(X0) != len(Z):
            raise ValueError(
                f"X0 has {len(X0)} rows and Z has {len(Z)}: a start for each row is needed."
            )
    blocks = list(row_blocks(len(Z), model.n * copies))
    parts = [
        solve(Z[start:stop], None if X0 is None else X0[start:stop])
        for start, stop in with_progress(blocks, progress, "Pre-images")
    ]
    if len(parts) == 1:
        return parts[0]
    X = [part.X for part in parts]
    X = np.concatenate(X) if isinstance(X[0], np.ndarray) else sum(X, [])
    fields = ("distance", "converged", "n_iter")
    return Preimage(X, *(np.concatenate([getattr(p, name) for p in parts]) for name in fields))


def _direct(X: NDArray | Sequence, distance: NDArray, converged: NDArray) -> Preimage:
    return Preimage(X, distance, converged, np.zeros(len(distance), int))


def _keep_better(found: Preimage, again: Preimage, rows: NDArray) -> Preimage:
    """Put the rows found again where they are nearer, or as near and converged."""
    before = found.distance[rows]
    tie = again.converged & ~found.converged[rows] & (again.distance <= before * (1 + 1e-9))
    better = (again.distance < before) | tie
    X, distance, converged = found.X.copy(), found.distance.copy(), found.converged.copy()
    n_iter, put = found.n_iter.copy(), rows[better]
    X[put], distance[put] = again.X[better], again.distance[better]
    converged[put] = again.converged[better]
    n_iter[rows] += again.n_iter
    return Preimage(X, distance, converged, n_iter)


def _objective(model: KernelPCA, T: NDArray, gamma: NDArray) -> NDArray:
    inner = np.einsum("ij,ij->i", gamma, model.kernel(T, model.X))
    return model.kernel.diagonal(T) - 2 * inner


def _objective_gradient(model: KernelPCA, T: NDArray, gamma: NDArray) -> NDArray:
    return model.kernel.diagonal_gradient(T) - 2 * model.kernel.gradient(T, model.X, gamma)


def _scales(model: KernelPCA) -> tuple[float, float]:
    """Return the spread of the samples and the largest |κ(x, x)| among them."""
    spread = np.sqrt(np.sum(np.var(model.X, axis=0)))
    return float(spread), float(np.abs(_self_products(model)).max())


def _small_step(model: KernelPCA, tol: float) -> float:
    return max(tolerance(tol), 100 * float(np.finfo(model.X.dtype).eps)) * _scales(model)[0]


def _self_products(model: KernelPCA) -> NDArray:
    """Return κ(xⱼ, xⱼ) of the training samples."""
    if isinstance(model.kernel, Kernel):
        return model.kernel.diagonal(model.X)
    return gram_matrix(model.kernel, _samples_of(model)).diagonal()


def _scores(model: KernelPCA, Z: ArrayLike) -> NDArray:
    Z = data_matrix(Z, "Z")
    if Z.shape[1] != len(model.lam):
        raise ValueError(
            f"Z has {Z.shape[1]} columns and the model {len(model.lam)} components: "
            f"a column of scores for each is needed, as model.encode(T) gives them."
        )
    return Z


def _points(model: KernelPCA, T: ArrayLike, Z: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return points and weights γ that belong together, one row of each a point."""
    _vectors_of(model, "The objective")
    T, Z = model._samples(T), _scores(model, Z)
    if len(T) != len(Z):
        raise ValueError(
            f"{len(T)} points and {len(Z)} rows of scores: each point is compared with one φ̂. "
            f"Repeat rows with np.repeat where one φ̂ has several points."
        )
    return T, model.weights(Z)


def _samples_of(model: KernelPCA) -> NDArray | Sequence:
    if model.X is None:
        raise ValueError(
            "The model was fitted on a Gram matrix and knows no samples to go back to: "
            "fit it on the samples with fit_kernel_pca(X, k, kernel)."
        )
    return model.X


def _vectors_of(model: KernelPCA, what: str) -> NDArray:
    samples = _samples_of(model)
    if not isinstance(model.kernel, Kernel):
        raise ValueError(
            f"{what} needs a kernel of kpca_edu.kernels, which knows κ(x, x) and its gradient; "
            f'of a callable only values are known. Use method="nearest" or "ridge".'
        )
    return samples


def _radial_of(model: KernelPCA, what: str) -> NDArray:
    X = _vectors_of(model, what)
    if not isinstance(model.kernel, RadialKernel):
        raise ValueError(
            f"{what} needs a radial kernel g(‖x − y‖²), such as rbf(sigma) or laplacian(sigma): "
            f'the fixed point is derived from g. Use method="gradient" for other kernels.'
        )
    return X
