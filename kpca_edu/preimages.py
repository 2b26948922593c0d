"""Pre-images: from feature space back to the space of the data (chapter 9).

Scores z name a point phi_hat = Σγᵢφ(xᵢ) of feature space, the reconstruction. A pre-image is an x
whose feature φ(x) is as near to phi_hat as can be. Five methods look for it, by one interface.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine import way_back
from ._engine.checks import check_scores, choice, finite_array, whole_number
from ._engine.kernel_ridge import given_regression
from ._engine.memory import room_for
from ._engine.model import Frozen
from ._engine.options import check_options, option_names
from ._engine.preimage_search import Search
from ._engine.searches import in_blocks, nearest_columns
from ._engine.way_back import points_and_weights, samples_and_kernel, self_products
from .kernel_pca import KernelPCA, kernel_model
from .kernels import linear, squared_distances
from .score_regression import ScoreRegression, fit_score_regression

__all__ = [
    "Preimage",
    "preimage",
    "denoise",
    "reconstruction_norm2",
    "exact_preimage",
    "preimage_objective",
    "objective_gradient",
    "feature_distance",
    "feature_cosine",
    "training_distances2",
    "nearest_preimage",
    "gradient_preimage",
    "fixed_point_step",
    "FixedPointStep",
    "fixed_point_preimage",
    "input_distances2",
    "locate_by_distances",
    "mds_preimage",
    "ridge_preimage",
]


# The result and the one interface


@dataclass(frozen=True, eq=False, repr=False)
class Preimage(Frozen):
    """Points of input space that stand for points of feature space, and how well they do."""

    X: Any  # (m, d) the pre-images, a row for each row of scores; or samples of another kind
    distance: NDArray  # (m,) ‖φ(x_hat) − phi_hat‖, in feature space, not squared
    converged: NDArray  # (m,) whether the method reached what it was after
    n_iter: NDArray  # (m,) steps taken, over all starts; 0 where none are needed

    def __repr__(self) -> str:
        D, sure, steps = self.distance, np.sum(self.converged), np.median(self.n_iter)
        report = f"Preimage of {len(D)} points: {sure} converged, median of {steps:g} steps"
        return f"{report}, distances {D.min():.4g} to {D.max():.4g}"


def preimage(
    model: KernelPCA, Z: ArrayLike, method: str = "fixed-point", **options: Any
) -> Preimage:
    """Return points whose features are near those with the scores Z : (m, k).

    The methods are "nearest", "fixed-point", "gradient", "mds" and "ridge"; the
    options are those of the function of the method, such as :func:`mds_preimage`.
    """
    solve = METHODS[choice(method, "method", METHODS)]
    more = option_names(fit_score_regression) if method == "ridge" else []
    check_options(options, [*option_names(solve), *more], f'method="{method}"')
    return solve(model, Z, **options)


def denoise(model: KernelPCA, T: Any, method: str = "fixed-point", **options: Any) -> Preimage:
    """Encode T : (m, d), and go back: what the components keep of each row.

    The iterative methods start at the rows of T and look for a minimum near them,
    which need not be the lowest one. The options are those of :func:`preimage`.
    """
    samples_and_kernel(kernel_model(model))
    here = {"fixed-point": {"X0": T}, "gradient": {"X0": T, "starts": 0}}
    start = here.get(choice(method, "method", METHODS), {})
    return preimage(model, model.encode(T), method, **{**start, **options})


# The reconstruction, and when it is the feature of a point


def reconstruction_norm2(model: KernelPCA, Z: ArrayLike) -> NDArray:
    """Return ‖phi_hat‖² : (m,) from the scores Z : (m, k) :eq:`eq-pre-norm`."""
    Z = check_scores(Z, kernel_model(model).k)
    shift = model.row_means @ model.alpha  # mean feature times v, for each direction v
    return model.mean + 2 * Z @ shift + np.sum(Z**2, axis=1)


def exact_preimage(
    model: KernelPCA, Z: ArrayLike, inverse: Callable[[NDArray], NDArray]
) -> Preimage:
    """Read off the pre-image where there is one, for κ(x, y) = f(xᵀy) :eq:`eq-pre-exact`.

    ``inverse`` is f⁻¹. The inner products of phi_hat with the features of the axes give
    the coordinates. A row has converged if the distance tells that phi_hat is their feature.

    >>> from kpca_edu import fit_kernel_pca, polynomial
    >>> model = fit_kernel_pca([[1.0], [2.0], [4.0]], 1, polynomial(3, 0.0))
    >>> exact_preimage(model, model.encode([[3.0]]), np.cbrt).X.round(6)
    array([[3.]])
    """
    X, kernel = way_back.vectors_and_kernel(kernel_model(model), "exact_preimage")
    Z, d = check_scores(Z, model.k), X.shape[1]
    room_for(d, d, "A unit vector for each feature", 'preimage(model, Z, "gradient") needs none.')
    inner = model.weights(Z) @ kernel(X, np.eye(d, dtype=X.dtype))  # with φ(eⱼ)
    T = way_back.all_inverted(inverse, inner)
    distance, size2 = feature_distance(model, T, Z), model.mean + np.abs(kernel.diagonal(T))
    rounding = 1e3 * np.sqrt(np.finfo(T.dtype).eps * (size2 + np.sum(np.square(Z), axis=1)))
    return _direct(T, distance, distance <= rounding)


# The objective that all methods are judged by


def preimage_objective(model: KernelPCA, T: Any, gamma: ArrayLike) -> NDArray:
    """Return ω(t) = κ(t, t) − 2Σγᵢκ(t, xᵢ) : (m,) for each row t :eq:`eq-pre-objective`.

    T : (m, d) points, gamma : (m, n) weights, from model.weights(Z). It is the squared
    distance of φ(t) from phi_hat, up to a number that has no t in it.
    """
    X, kernel = samples_and_kernel(kernel_model(model))
    T, gamma = points_and_weights(model, T, gamma)
    return self_products(kernel, T) - 2 * np.vecdot(gamma, kernel(T, X))


def objective_gradient(model: KernelPCA, T: ArrayLike, gamma: ArrayLike) -> NDArray:
    """Return ∇ω(t) = ∇κ(t, t) − 2Σγᵢ∇κ(t, xᵢ) : (m, d) :eq:`eq-pre-gradient`."""
    X, kernel = way_back.vectors_and_kernel(kernel_model(model), "The gradient")
    T, gamma = points_and_weights(model, T, gamma)
    return kernel.diagonal_gradient(T) - 2 * kernel.gradient(T, X, gamma)


def feature_distance(model: KernelPCA, X_hat: Any, Z: ArrayLike) -> NDArray:
    """Return ‖φ(x_hat) − phi_hat‖ : (m,), in feature space :eq:`eq-pre-distance`.

    X_hat : (m, d) points, Z : (m, k) the scores of phi_hat. It is not squared. It is
    NaN where its square would be negative: an indefinite kernel has no distances.
    """
    T, Z = way_back.points_and_scores(kernel_model(model), X_hat, Z)

    def solve(rows: slice) -> tuple[NDArray, ...]:
        return (preimage_objective(model, T[rows], model.weights(Z[rows])),)

    (objective,) = in_blocks(solve, len(Z), model.n)
    return way_back.length(model, objective + reconstruction_norm2(model, Z))


def feature_cosine(model: KernelPCA, X_hat: Any, Z: ArrayLike) -> NDArray:
    """Return the cosine of the angle between φ(x_hat) and phi_hat : (m,) :eq:`eq-pre-cosine`.

    X_hat : (m, d) points, Z : (m, k) the scores of phi_hat. It is 0 where phi_hat is 0, and
    NaN where an indefinite kernel has no lengths or no angle.
    """
    distance, norm2 = feature_distance(model, X_hat, Z), reconstruction_norm2(model, Z)
    own2 = self_products(samples_and_kernel(model)[1], X_hat)
    inner = (own2 + norm2 - distance**2) / 2  # φ(x_hat)ᵀphi_hat
    return way_back.cosine(model, inner, own2, norm2)


# Method 1: the nearest training sample


def training_distances2(model: KernelPCA, Z: ArrayLike) -> NDArray:
    """Return the squared distances of φ(xⱼ) from the reconstructions : (m, n).

    By Pythagoras :eq:`eq-pre-pythagoras`: the squared distance of the scores
    plus what the components lose of xⱼ. No κ(xᵢ, xⱼ) is evaluated again.
    """
    Z, (X, kernel) = check_scores(Z, kernel_model(model).k), samples_and_kernel(model)
    from_mean2 = self_products(kernel, X) - 2 * model.row_means + model.mean
    lost = from_mean2 - np.sum(model.scores**2, axis=1)
    return squared_distances(Z, model.scores) + np.maximum(lost, 0)


def nearest_preimage(model: KernelPCA, Z: ArrayLike, *, progress: bool = False) -> Preimage:
    """Return the training sample whose feature is nearest :eq:`eq-pre-nearest`.

    Works for every kernel, also for a callable on texts or graphs.
    """
    (X, _), Z = samples_and_kernel(kernel_model(model)), check_scores(Z, model.k)

    def solve(rows: slice) -> tuple[NDArray, ...]:
        D2 = training_distances2(model, Z[rows])
        return np.argmin(D2, axis=1), np.sqrt(np.min(D2, axis=1))

    near, distance = in_blocks(solve, len(Z), model.n, progress)
    T = way_back.rows_of(X, near)
    return _direct(T, feature_distance(model, T, Z) if way_back.is_indefinite(model) else distance)


# Method 2: minimise the objective directly


def gradient_preimage(
    model: KernelPCA,
    Z: ArrayLike,
    *,
    X0: ArrayLike | None = None,
    starts: int = 2,
    tol: float = 1e-7,
    max_iter: int = 500,
    progress: bool = False,
) -> Preimage:
    """Walk downhill on the objective by L-BFGS, and keep the best of several starts.

    The search looks at :func:`preimage_objective` :eq:`eq-pre-objective` and its slope
    :func:`objective_gradient` :eq:`eq-pre-gradient` by one comparison with the samples.
    Starts are X0 : (m, d), if given, and the ``starts`` training samples with the
    nearest features. A row has converged where the slope is gone: the gradient times
    the spread of the samples is at most ``tol`` times the size of κ(x, x).
    """
    search = Search(kernel_model(model), "gradient", *KNOWN, Z, X0, tol, max_iter, progress)
    return Preimage(*search.downhill(starts))


# Method 3: the fixed point


def fixed_point_step(model: KernelPCA, T: ArrayLike, gamma: ArrayLike) -> FixedPointStep:
    """Look from each row t of T : (m, d) at all samples :eq:`eq-pre-stationary`.

    gamma : (m, n) are the weights of the reconstructions. The next iterate is
    t + plain :eq:`eq-pre-fixed-point`, or t + a share of guarded :eq:`eq-pre-guarded`.
    """
    X, kernel = way_back.vectors_and_profile(kernel_model(model), "fixed_point_step")
    T, gamma = points_and_weights(model, T, gamma)
    g, w = kernel.profile_and_derivative(squared_distances(T, X))
    h = np.vecdot(gamma, g)
    w *= gamma  # wᵢ = γᵢg′(‖t − xᵢ‖²)
    total = w.sum(axis=1)
    pull = w @ X - total[:, None] * T
    return FixedPointStep(h, pull, total, np.abs(w, out=w).sum(axis=1))


class FixedPointStep(NamedTuple):
    """What one look at all samples tells a point t, with wᵢ = γᵢg′(‖t − xᵢ‖²)."""

    h: NDArray  # (m,) Σγᵢκ(t, xᵢ), to be made large
    pull: NDArray  # (m, d) Σwᵢ(xᵢ − t), which is −∇h/2
    total: NDArray  # (m,) Σwᵢ
    size: NDArray  # (m,) Σ|wᵢ|

    @property
    def plain(self) -> NDArray:
        """Σwᵢxᵢ/Σwᵢ − t :eq:`eq-pre-fixed-point`: uphill only where Σwᵢ < 0."""
        with np.errstate(all="ignore"):
            return self.pull / self.total[:, None]

    @property
    def guarded(self) -> NDArray:
        """∇h/2 over a divisor that is never too small :eq:`eq-pre-guarded`: always uphill."""
        divisor = np.maximum(np.abs(self.total), self.size / 100)
        with np.errstate(invalid="ignore"):  # where no weight is left: 0/0, there is no step
            return -self.pull / divisor[:, None]


def fixed_point_preimage(
    model: KernelPCA,
    Z: ArrayLike,
    *,
    X0: ArrayLike | None = None,
    restarts: int = 1,
    tol: float = 1e-5,
    max_iter: int = 500,
    progress: bool = False,
) -> Preimage:
    """Iterate t ← Σwᵢxᵢ/Σwᵢ for all rows at once, guarded :eq:`eq-pre-guarded`.

    Starts at X0 : (m, d), or at the training sample with the nearest feature. A row
    that does not converge starts again, ``restarts`` times at most, at the nearest
    sample not yet tried. Converged: the next step is ≤ ``tol`` times the spread.
    """
    search = Search(kernel_model(model), "fixed-point", *KNOWN, Z, X0, tol, max_iter, progress)

    def look(T: NDArray, gamma: NDArray) -> tuple[NDArray, NDArray]:
        step = fixed_point_step(model, T, gamma)
        return step.h, step.guarded  # all of the step where h rises, else a share of it

    return Preimage(*search.uphill(look, restarts))


# Method 4: distances, then a place that has them


def input_distances2(model: KernelPCA, D2: ArrayLike) -> tuple[NDArray, NDArray]:
    """Turn squared feature distances into squared input distances :eq:`eq-pre-distances`.

    D2 = ‖phi_hat − φ(xⱼ)‖², of any shape, is taken as if phi_hat were a feature: it solves
    2g(0) − 2g(u) = D² for u. The second array tells where that can be done: no two features
    are √(2g(0)) or more apart. As a rule phi_hat is shorter than a feature, and then large
    distances come out too small :eq:`eq-pre-deficit`.
    """
    D2 = finite_array(D2, "D2")
    if kernel_model(model).kernel == linear():  # φ(x) = x: nothing to translate
        return D2, np.ones(D2.shape, bool)
    kernel = way_back.kernel_of_distance(model)
    top = kernel.profile(np.zeros(1, D2.dtype))[0]  # g(0)
    values, least = top - D2 / 2, 1e-9 * top
    return kernel.inverse_profile(np.maximum(values, least)), values > least


def locate_by_distances(neighbors: ArrayLike, D2: ArrayLike) -> NDArray:
    """Return the point with given squared distances to its neighbours.

    neighbors : (m, q, d), D2 : (m, q); the result is (m, d). Least squares in
    the affine hull of the neighbours :eq:`eq-pre-locate`, by their SVD.

    >>> three = [[[0.0], [4.0], [6.0]]]
    >>> locate_by_distances(three, [[1.0, 9.0, 25.0]]).round(6)
    array([[1.]])
    """
    P, D2 = way_back.places_and_distances(neighbors, D2)
    mean = P.mean(axis=1, keepdims=True)
    centered = np.swapaxes(P - mean, 1, 2)  # columns are neighbours: twice as fast
    V, s, Ut = np.linalg.svd(centered, full_matrices=False)
    b = np.sum(centered**2, axis=1) - D2
    solid = s > 1e-6 * s[:, :1]  # flat directions tell nothing
    inverse = np.where(solid, 1 / np.where(solid, s, 1), 0)
    along = np.einsum("mrq,mq->mr", Ut, b) * inverse / 2
    return mean[:, 0] + np.einsum("mdr,mr->md", V, along)


def mds_preimage(
    model: KernelPCA, Z: ArrayLike, *, neighbors: int = 10, progress: bool = False
) -> Preimage:
    """Turn feature distances into input distances, and find the place that has them.

    For radial kernels and the linear one: distances :eq:`eq-pre-distances`, then their place
    :eq:`eq-pre-locate`. A row has converged if all its distances could be translated.
    """
    X, _ = way_back.vectors_and_kernel(kernel_model(model), 'method="mds"')
    Z, q = check_scores(Z, model.k), min(whole_number(neighbors, "neighbors", least=2), len(X))

    def solve(rows: slice) -> tuple[NDArray, ...]:
        D2 = training_distances2(model, Z[rows])
        near = nearest_columns(D2, q)
        U, known = input_distances2(model, np.take_along_axis(D2, near, axis=1))
        T = locate_by_distances(X[near], U)
        return T, feature_distance(model, T, Z[rows]), np.all(known, axis=1)

    width = max(model.n, q * X.shape[1])  # q neighbours of each row are decomposed
    T, distance, known = in_blocks(solve, len(Z), width, progress, least=1)
    return _direct(T, distance, way_back.told_if_too_far(known))


# Method 5: learn the way back


def ridge_preimage(
    model: KernelPCA,
    Z: ArrayLike,
    *,
    regression: ScoreRegression | None = None,
    progress: bool = False,
    **options: Any,
) -> Preimage:
    """Predict inputs from scores by a regression :eq:`eq-pre-ridge`.

    It is fitted here, unless it is given; the options are those of
    :func:`kpca_edu.score_regression.fit_score_regression`.
    """
    Z = check_scores(Z, kernel_model(model).k)
    if regression is None:
        regression, options = fit_score_regression(model, progress=progress, **options), {}
    predict = given_regression(regression, ScoreRegression, options).predict

    def solve(rows: slice) -> tuple[NDArray, ...]:
        T = predict(Z[rows])
        return T, feature_distance(model, T, Z[rows])

    return _direct(*in_blocks(solve, len(Z), model.n, progress))


KNOWN = training_distances2, feature_distance, fixed_point_step  # what a search asks for
METHODS: dict[str, Callable[..., Preimage]] = {
    "nearest": nearest_preimage,
    "fixed-point": fixed_point_preimage,
    "gradient": gradient_preimage,
    "mds": mds_preimage,
    "ridge": ridge_preimage,
}


def _direct(X: Any, distance: NDArray, converged: NDArray | bool = True) -> Preimage:
    """Return the report of a method that takes no steps."""
    n_iter = np.zeros(len(distance), int)
    return Preimage(X, distance, np.broadcast_to(converged, n_iter.shape), n_iter)
