"""Singular vectors by multiplying: the power method, deflation, projection and blocks (chapter 2).

X is n×d and may be a dense array, a SciPy sparse matrix or a ``LinearOperator``: these functions
only multiply by X and by Xᵀ. The matrix XᵀX, whose eigenvectors they find, is never formed.

The iterations share their options. They end when the relative residual is at most ``tol``, by
default √ε with ε the machine precision (1.5e-8 for doubles), or after ``max_iter`` steps; then
``converged`` is False and a ``ConvergenceWarning`` says what was reached. With ``tol=0`` exactly
max_iter steps are made. They start at random, from the seed or generator ``rng``, unless ``start``
is given. Fewer than k triplets come back if the rank is smaller. ``progress=True`` shows a bar.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.checks import generator, number, whole_number
from ._engine.memory import room_for
from ._engine.products import (
    Map,
    MatrixLike,
    NoisyOperator,
    Rng,
    as_map,
    as_symmetric_map,
    finite,
    gaussian,
    length,
    noise,
    orth,
    orthonormal_block,
    relative_residuals,
    start_vector,
    triplet_count,
    triplets_of,
    unit,
    unit_vector,
    without,
)
from ._engine.rounds import (
    PowerHistory,
    Rounds,
    Run,
    Search,
    eigen_ratio,
    refuse_indefinite,
    start_tangent,
    step_counts,
    story,
)
from .compare import fix_signs
from .svd import SVD

__all__ = [
    "PowerStep",
    "PowerHistory",
    "PowerRun",
    "EigenRun",
    "SVDRun",
    "power_step",
    "power_iteration",
    "random_unit",
    "convergence_bound",
    "steps_needed",
    "value_bound",
    "power_eigen",
    "deflate",
    "project_out",
    "svd_by_deflation",
    "svd_by_projection",
    "ritz_triplets",
    "subspace_iteration",
    "spectral_norm_bounds",
]


class PowerStep(NamedTuple):
    """One step of the power method from v: where it leads, and what it tells about v itself."""

    v: NDArray  # (d,) the next vector: XᵀXv, scaled to length one
    s: float  # ‖Xv‖ of the old v, its estimate of the singular value
    u: NDArray  # (n,) Xv/s (zero if s is)
    residual: float  # ‖Xᵀu − sv‖/s of the old v (zero if s is)


@dataclass(frozen=True, eq=False, repr=False)
class PowerRun(Run):
    """The outcome of :func:`power_iteration`: Xv = su exactly, Xᵀu ≈ sv up to ``residual``."""

    v: NDArray  # (d,) right singular vector, of length one
    s: float  # singular value ‖Xv‖
    u: NDArray  # (n,) left singular vector Xv/s (zero if s is)
    n_iter: int  # steps that were made
    converged: bool  # whether the stopping rule was met
    history: PowerHistory  # of v₀, …, v: entry t is what t steps have reached

    def __repr__(self) -> str:
        return f"PowerRun(s={self.s:.6g}, {story(self)})"


@dataclass(frozen=True, eq=False, repr=False)
class EigenRun(Run):
    """The outcome of :func:`power_eigen`: Ka ≈ λa up to ``residual``."""

    a: NDArray  # (n,) eigenvector of length one
    lam: float  # eigenvalue aᵀKa
    n_iter: int  # steps that were made
    converged: bool  # whether ‖Ka − λa‖ ≤ tol · λ was reached
    history: PowerHistory  # of a₀, …, a, where s holds the eigenvalue

    def __repr__(self) -> str:
        return f"EigenRun(lam={self.lam:.6g}, {story(self)})"


@dataclass(frozen=True, eq=False, repr=False)
class SVDRun(SVD):
    """The leading triplets found by an iteration, and how it went."""

    residual: NDArray  # (k,) ‖Xᵀuᵢ − sᵢvᵢ‖/sᵢ of the triplets that are returned, for X itself
    n_iter: int  # steps that were made, of all vectors or of the block
    converged: bool  # whether every residual is at most tol
    # of the block; or, one a triplet, of the deflated or projected X in which it was looked for
    history: PowerHistory | tuple[PowerHistory, ...]

    def __repr__(self) -> str:
        values = f", s={self.s[0]:.6g} to {self.s[-1]:.6g}" if self.rank else ""
        return f"SVDRun(k={self.rank}{values}, {story(self)})"


def power_step(X: MatrixLike, v: ArrayLike) -> PowerStep:
    """Multiply v by XᵀX and scale it to length one :eq:`eq-power-step`.

    X : (n, d), v : (d,). The two products also give s = ‖Xv‖ and u = Xv/s, and
    the residual of the triplet u, s, v :eq:`eq-power-residual`.

    >>> v, s, u, residual = power_step([[3.0, 0.0], [0.0, 1.0]], [1.0, 1.0])
    >>> (v / v[1]).round(6), round(s**2, 6), round(residual, 6)
    (array([9., 1.]), 5.0, 0.8)
    """
    X = as_map(X)
    v = unit_vector(v, X)
    u, s = unit(X @ v)  # Xv = su
    w = X.T @ u  # XᵀXv = sw
    residual = length(w - s * v) / (s or 1.0)
    return PowerStep(unit(w)[0] if w.any() else v, s, u, residual)


def power_iteration(
    X: MatrixLike,
    *,
    start: ArrayLike | None = None,
    stop: str = "residual",
    tol: float | None = None,
    max_iter: int = 10_000,
    rng: Rng = 0,
    progress: bool = False,
) -> PowerRun:
    """Multiply by XᵀX and rescale :eq:`eq-power-step`, until the residual is at most tol.

    With ``stop="step"``, until the step ‖vₜ₊₁ − vₜ‖ is.
    """
    X = as_map(X)
    v = start_vector(X, start, rng)
    rounds = Rounds(X, tol, max_iter, stop=stop, progress=progress)
    for _ in rounds:
        v_next, s, u, residual = power_step(X, v)
        if rounds.done(s, residual, length(v_next - v)):
            break
        v = v_next
    v, u = _signed(v, u)
    return PowerRun(v, s, u, rounds.n_iter, rounds.converged, rounds.history)


def random_unit(d: int, rng: Rng = 0) -> NDArray:
    """Return a random direction, uniform on the sphere: a Gaussian vector, scaled."""
    rng, d = generator(rng), whole_number(d, "d", least=1)
    room_for(d, 1, "A random direction", "take a smaller d.")
    g = rng.standard_normal(d)
    return g / np.linalg.norm(g)


def convergence_bound(n: int, ratio: float, t: ArrayLike, *, failure: float = 0.1) -> NDArray:
    """Bound cos θₜ from below after t steps, with probability 1 − failure.

    n is the length of the iterated vector, which is d for an n×d matrix X; ratio is
    λ₂/λ₁ = (s₂/s₁)². The start is uniform on the sphere; with the bound on its angle
    :eq:`eq-start-tangent` the bound :eq:`eq-power-bound` holds for all t at once.

    >>> round(float(convergence_bound(100, 0.5, 20)), 6)
    1.0
    """
    tangent = start_tangent(n, failure) * eigen_ratio(ratio) ** step_counts(t)
    return 1 / np.hypot(1.0, tangent)


def steps_needed(n: int, ratio: float, tangent: float, *, failure: float = 0.1) -> int:
    """Return a t with tan θₜ ≤ tangent, with probability 1 − failure :eq:`eq-power-steps`.

    n and ratio are those of :func:`convergence_bound`. If λ₂ = 0, one step is enough.

    >>> steps_needed(100, 0.5, 1e-3), steps_needed(100, 0.99, 1e-3)
    (17, 1124)
    """
    ratio = eigen_ratio(ratio, gap=True)
    goal = number(tangent, "tangent", 0.0, open_low=True)
    fall = np.log(start_tangent(n, failure)) - np.log(goal)
    if fall <= 0 or ratio == 0:
        return int(fall > 0)
    return int(np.ceil(fall / -np.log(ratio)))


def value_bound(n: int, t: ArrayLike, *, failure: float = 0.1) -> NDArray:
    """Bound sₜ/s₁ from below after t ≥ 1 steps, whatever the gap :eq:`eq-value-bound`.

    n is the length of the iterated vector, sₜ = ‖Xvₜ‖; the bound holds for all t
    at once with probability 1 − failure.

    >>> round(float(value_bound(100, 30)), 3)
    0.93
    """
    return start_tangent(n, failure) ** (-0.5 / step_counts(t, least=1))


def power_eigen(
    K: MatrixLike,
    *,
    start: ArrayLike | None = None,
    tol: float | None = None,
    max_iter: int = 10_000,
    rng: Rng = 0,
    progress: bool = False,
) -> EigenRun:
    """Find the leading eigenpair of a Gram matrix, one product a step :eq:`eq-power-eigen`.

    K : (n, n), symmetric without negative eigenvalues. Ends when ‖Ka − λa‖ ≤ tol · λ.
    """
    K = as_symmetric_map(K)
    a, rounds = start_vector(K, start, rng), Rounds(K, tol, max_iter, progress=progress)
    for t in rounds:
        a_next, size = unit(K @ a)
        lam = size * float(a @ a_next)  # the Rayleigh quotient aᵀKa
        residual = length(size * a_next - lam * a) / (abs(lam) or 1.0)
        done = rounds.done(lam, residual, length(a_next - a))
        if t > 0 or rounds.converged:  # the first product may be nothing but rounding
            refuse_indefinite(lam, size)
        if done:
            break
        a = a_next
    (a,) = _signed(a)
    return EigenRun(a, lam, rounds.n_iter, rounds.converged, rounds.history)


def deflate(X: MatrixLike, found: SVD | PowerRun) -> NoisyOperator:
    """Return X − U diag(s) Vᵀ :eq:`eq-deflation` as an operator; nothing of size n×d is formed.

    X : (n, d), found : one or more of its triplets.
    """
    X = as_map(X)
    U, s, V = triplets_of(found, X)
    return NoisyOperator(
        X,
        lambda B: X @ B - (U * s) @ (V.T @ B),
        lambda B: X.T @ B - (V * s) @ (U.T @ B),
        noise(X, s),
    )


def project_out(X: MatrixLike, V: ArrayLike) -> NoisyOperator:
    """Return X(I − VVᵀ) as an operator: it is blind to the orthonormal columns of V.

    X : (n, d), V : (d, k). A power step with it is one of :eq:`eq-projection`.
    """
    X = as_map(X)
    V = orthonormal_block(V, X, "V")
    rounding = noise(X, [length(y) for y in (X @ V).T])
    return NoisyOperator(X, lambda B: X @ without(V, B), lambda B: without(V, X.T @ B), rounding)


def svd_by_deflation(
    X: MatrixLike,
    k: int,
    *,
    tol: float | None = None,
    max_iter: int = 10_000,
    rng: Rng = 0,
    progress: bool = False,
) -> SVDRun:
    """Find k triplets one by one, subtracting each from X :eq:`eq-deflation`.

    X : (n, d). Each run of the power method starts anew. As errors have mixed the
    vectors, the best triplets in their span are taken in the end :eq:`eq-ritz`.
    """
    X = as_map(X)
    rest: Map | NoisyOperator = X
    search = Search(power_iteration, X, k, tol, max_iter, rng, progress)
    V = np.empty((X.shape[1], 0), X.dtype)
    while V.shape[1] < k and (run := search(rest)):
        rest = deflate(rest, run)  # X ← X − suvᵀ
        V = np.column_stack([V, run.v])
    return _svd_run(X, *ritz_triplets(X, orth(V)), search)


def svd_by_projection(
    X: MatrixLike,
    k: int,
    *,
    tol: float | None = None,
    max_iter: int = 10_000,
    rng: Rng = 0,
    progress: bool = False,
) -> SVDRun:
    """Find k triplets one by one, orthogonal to those before :eq:`eq-projection`.

    X : (n, d). In *every* step the found vectors are removed; removing them from
    the start alone lets rounding bring them back. Ends as :func:`svd_by_deflation`.
    """
    X = as_map(X)
    search = Search(power_iteration, X, k, tol, max_iter, rng, progress)
    V = np.empty((X.shape[1], 0), X.dtype)
    while V.shape[1] < k and (run := search(project_out(X, V))):
        V = np.column_stack([V, run.v])  # the next one is looked for in X(I − VVᵀ)
    return _svd_run(X, *ritz_triplets(X, V), search)


def ritz_triplets(X: MatrixLike, Q: ArrayLike) -> tuple[NDArray, NDArray, NDArray]:
    """Return U, s and V with XV = U diag(s), where V spans the same as Q :eq:`eq-ritz`.

    X : (n, d), Q : (d, l). The columns of Q are orthonormal, and so are those of
    U and V. These are the best triplets of X that can be had from that span.
    """
    X = as_map(X)
    Q = orthonormal_block(Q, X, "Q")
    U, R = np.linalg.qr(finite(X @ Q))
    P, s, Tt = np.linalg.svd(R)  # R = P diag(s) Tᵀ is small
    return U @ P, s, Q @ Tt.T


def subspace_iteration(
    X: MatrixLike,
    k: int,
    *,
    oversample: int = 4,
    tol: float | None = None,
    max_iter: int = 1_000,
    rng: Rng = 0,
    progress: bool = False,
) -> SVDRun:
    """Find k triplets at once, from a block of k + oversample columns :eq:`eq-subspace-step`."""
    X = as_map(X)
    k, extra = triplet_count(X, k), whole_number(oversample, "oversample")
    rounds = Rounds(X, tol, max_iter, progress=progress)
    Q = orth(gaussian(X, k + extra, rng))
    for _ in rounds:
        U, s, V = ritz_triplets(X, Q)  # U = orth(XQ), turned so that XV = U diag(s)
        W = X.T @ U
        residual = relative_residuals(W, V, s, noise(X, s))
        if rounds.done(s[:k], residual[:k], rounds.turned(V[:, :k])):
            break
        Q = orth(W)  # Q ← orth(Xᵀ orth(XQ))
    return _block_run(X, U[:, :k], s[:k], V[:, :k], rounds)


def spectral_norm_bounds(
    X: MatrixLike,
    *,
    n_iter: int = 50,
    failure: float = 0.01,
    rng: Rng = 0,
    progress: bool = False,
) -> tuple[float, float]:
    """Return two numbers with ‖X‖₂ between them, from n_iter power steps.

    The lower one is certain, the upper one fails with probability ``failure`` at most
    :eq:`eq-value-bound`. For ``deflate(X, svd)`` they certify an SVD :eq:`eq-certificate`.
    """
    X, steps = as_map(X), whole_number(n_iter, "n_iter", least=1)
    s = power_iteration(X, tol=0.0, max_iter=steps, rng=rng, progress=progress).s
    return s, float(s / value_bound(X.shape[1], steps, failure=failure))


def _signed(v: NDArray, *partners: NDArray) -> list[NDArray]:
    """Make the largest entry of v positive; partners turn with it."""
    return [column[:, 0] for column in fix_signs(v[:, None], *(u[:, None] for u in partners))]


def _svd_run(X: Map, U: NDArray, s: NDArray, V: NDArray, search: Search[PowerRun]) -> SVDRun:
    """Judge the triplets by X itself, whatever the single runs have reached."""
    residual = relative_residuals(X.T @ U, V, s)
    converged = search.judge(s, residual)
    V, U = fix_signs(V, U)
    return SVDRun(U, s, V, residual, search.n_iter, converged, search.history)


def _block_run(X: Map, U: NDArray, s: NDArray, V: NDArray, rounds: Rounds) -> SVDRun:
    """Leave out what is rounding noise, and set the signs."""
    r, history = int(np.sum(s > noise(X, s))), rounds.history
    V, U = fix_signs(V[:, :r], U[:, :r])
    residual = history.residual[-1, :r]
    return SVDRun(U, s[:r], V, residual, rounds.n_iter, rounds.converged, history)
