"""Singular vectors by multiplying: power, subspace and randomised iterations (chapter 2).

X is n×d and may be a dense array, a SciPy sparse matrix or a ``LinearOperator``: these functions
only multiply by X and by Xᵀ. The matrix XᵀX, whose eigenvectors they find, is never formed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from scipy.sparse.linalg import LinearOperator

from ._engine.checks import (
    data_matrix,
    linear_map,
    symmetric_map,
    tolerance,
    whole_number,
)
from ._engine.products import (
    NOT_FINITE,
    all_finite,
    gaussian,
    noise,
    orthonormal,
    product,
    triplet_count,
    working_dtype,
)
from ._engine.progress import tqdm_class
from .compare import fix_signs
from .svd import SVD

__all__ = [
    "PowerHistory",
    "PowerRun",
    "EigenRun",
    "SVDRun",
    "power_iteration",
    "power_eigen",
    "svd_by_deflation",
    "svd_by_projection",
    "subspace_iteration",
    "random_unit",
    "deflate",
    "convergence_bound",
    "steps_needed",
    "value_bound",
    "spectral_norm_bounds",
]

MatrixLike = ArrayLike | LinearOperator
Map = NDArray | LinearOperator  # what linear_map returns: shape, dtype, @ and .T
Rng = int | np.random.Generator


@dataclass(frozen=True, eq=False)
class PowerHistory:
    """What happened in T steps; a block of k vectors has arrays (T, k)."""

    s: NDArray  # (T,) ‖Xvₜ‖, the estimate of the singular value (an eigenvalue for power_eigen)
    residual: NDArray  # (T,) ‖XᵀXvₜ − sₜ²vₜ‖ / sₜ²
    step: NDArray  # (T,) ‖vₜ₊₁ − vₜ‖; for a block the sine of the angle that it turned


@dataclass(frozen=True, eq=False)
class PowerRun:
    """The outcome of :func:`power_iteration`: Xv = su exactly, Xᵀu ≈ sv."""

    v: NDArray  # (d,) right singular vector, of length one
    s: float  # singular value ‖Xv‖
    u: NDArray  # (n,) left singular vector Xv/s (zero if s is)
    n_iter: int  # products with X, and as many with Xᵀ
    converged: bool  # whether the stopping rule was met
    history: PowerHistory  # one entry a step


@dataclass(frozen=True, eq=False)
class EigenRun:
    """The outcome of :func:`power_eigen`: Ka ≈ λa."""

    a: NDArray  # (n,) eigenvector of length one
    lam: float  # eigenvalue aᵀKa
    n_iter: int  # products with K
    converged: bool  # whether ‖Ka − λa‖ ≤ tol · λ was reached
    history: PowerHistory  # one entry a step, s holding the eigenvalue


@dataclass(frozen=True, eq=False)
class SVDRun(SVD):
    """The leading triplets found by an iteration, and how it went."""

    n_iter: int  # products of a vector or a block with X, in all
    converged: bool  # whether every triplet met the stopping rule
    history: PowerHistory | tuple[PowerHistory, ...]  # of the block, or one a triplet


def power_iteration(
    X: MatrixLike,
    *,
    side: str = "right",
    tol: float | None = None,
    max_iter: int = 10_000,
    stop: str = "residual",
    start: ArrayLike | None = None,
    rng: Rng = 0,
    progress: bool = False,
) -> PowerRun:
    """Find the leading singular triplet of X by repeated multiplication.

    X : (n, d). Each step is v ← XᵀXv, scaled to length one :eq:`eq-power-step`;
    ``side="left"`` iterates u ← XXᵀu instead. Ends when the residual
    :eq:`eq-power-residual` is at most tol, by default √ε ≈ 1.5e-8 with ε the
    machine precision; ``stop="step"`` looks at ‖vₜ₊₁ − vₜ‖, which is here to be
    studied. If max_iter steps don't suffice, ``converged`` is False; no error.

    >>> round(power_iteration([[3.0, 0.0], [4.0, 5.0]]).s ** 2, 6)
    45.0
    """
    A = linear_map(X)
    rule = _rule(A, tol, max_iter, stop, progress)
    if side not in ("right", "left"):
        raise ValueError(f'side={side!r}: choose "right" (XᵀX) or "left" (XXᵀ).')
    M = A if side == "right" else A.T
    v = _start(start, M.shape[1], rng, working_dtype(A))
    run = _iterate(M, v, rule)
    v, u = (run.v, run.u) if side == "right" else (run.u, run.v)
    v, u = fix_signs(v[:, None], u[:, None])
    return replace(run, v=v[:, 0], u=u[:, 0])


def power_eigen(
    K: MatrixLike,
    *,
    tol: float | None = None,
    max_iter: int = 10_000,
    start: ArrayLike | None = None,
    rng: Rng = 0,
    progress: bool = False,
) -> EigenRun:
    """Find the leading eigenpair of a symmetric matrix K without negative eigenvalues.

    K : (n, n), such as a Gram matrix :eq:`eq-power-eigen`. One product with K a
    step. Ends when ‖Ka − λa‖ ≤ tol · λ.

    >>> round(power_eigen([[2.0, 1.0], [1.0, 2.0]]).lam, 6)
    3.0
    """
    A = symmetric_map(K)
    rule = _rule(A, tol, max_iter, "residual", progress)
    w = _start(start, A.shape[0], rng, working_dtype(A))
    rows = []
    with rule.bar() as tick:
        for _ in range(rule.max_iter):
            a = w
            w = A @ a
            lam = a @ w  # the Rayleigh quotient
            residual = _norm(w - lam * a) / (abs(lam) or 1.0)
            met = residual <= rule.tol
            if rows or met:  # the first product may be nothing but rounding
                _refuse_negative(lam, _norm(w))
            w = w / (_norm(w) or 1.0)
            rows.append((lam, residual, _norm(w - a)))
            tick(residual)
            if met:
                break
    (a,) = fix_signs(a[:, None])
    return EigenRun(a[:, 0], float(lam), len(rows), bool(met), _history(rows))


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

    X : (n, d). Errors of the vectors stay in the rest, and orthogonality is lost
    in proportion to s₁/sᵢ: see :func:`svd_by_projection`. Fewer than k triplets
    come back if the rank is smaller.
    """
    A, rng = linear_map(X), np.random.default_rng(rng)
    k = triplet_count(A, k)
    rule = _rule(A, tol, max_iter, "residual", progress)
    runs: list[PowerRun] = []
    while len(runs) < k:
        rest = deflate(A, _collect(A, runs))
        start = random_unit(A.shape[1], rng).astype(working_dtype(A))
        run = _iterate(rest, start, rule, floor=_floor(A, runs))
        if run.s <= _floor(A, runs):
            break  # the rest is rounding noise: the rank is reached
        runs.append(run)
    return _collect(A, runs)


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

    X : (n, d). In *every* step the found vectors are removed from v; removing
    them from the start alone lets rounding bring them back. Fewer than k
    triplets come back if the rank is smaller.
    """
    A, rng = linear_map(X), np.random.default_rng(rng)
    k = triplet_count(A, k)
    rule = _rule(A, tol, max_iter, "residual", progress)
    runs: list[PowerRun] = []
    while len(runs) < k:
        V = _columns([run.v for run in runs], A.shape[1], working_dtype(A))
        start = _without(V, random_unit(A.shape[1], rng).astype(working_dtype(A)))
        start = start / _norm(start)
        run = _iterate(A, start, rule, basis=V, floor=_floor(A, runs))
        if run.s <= _floor(A, runs):
            break
        runs.append(run)
    return _collect(A, runs)


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
    """Find k triplets at once, with a block of vectors kept orthonormal by QR.

    X : (n, d). Each step is V ← orth(Xᵀ orth(XV)) :eq:`eq-subspace-step` with
    k + oversample columns; triplets are read off the small factor R of XV
    :eq:`eq-ritz`. Fewer than k come back if the rank is smaller.
    """
    A = linear_map(X)
    k = triplet_count(A, k)
    rule = _rule(A, tol, max_iter, "residual", progress)
    W = gaussian(A, k + whole_number(oversample, "oversample"), rng)
    rows, V_k = [], np.zeros((A.shape[1], k))
    with rule.bar() as tick:
        for _ in range(rule.max_iter):
            V = orthonormal(W)
            U, s, V, W = _ritz(A, V)
            residual = _column_residuals(W, V, s)[:k]
            relative = _relative(residual, s[:k])
            rows.append((s[:k], relative, _turn(V_k, V[:, :k])))
            tick(relative.max())
            V_k = V[:, :k]
            goal = np.maximum(rule.tol * s[:k], noise(A, s))
            if met := bool(np.all(residual <= goal)):
                break
    r = int(np.sum(s[:k] > noise(A, s)))
    V, U = fix_signs(V[:, :r], U[:, :r])
    return SVDRun(U, s[:r], V, len(rows), met, _history(rows))


def random_unit(d: int, rng: Rng = 0) -> NDArray:
    """Return a random direction, uniform on the sphere: a Gaussian vector, scaled.

    >>> round(float(np.linalg.norm(random_unit(5))), 12)
    1.0
    """
    g = np.random.default_rng(rng).standard_normal(whole_number(d, "d", least=1))
    return g / linalg.norm(g)


def deflate(X: MatrixLike, svd: SVD) -> LinearOperator:
    """Return X − U diag(s) Vᵀ :eq:`eq-deflation` as an operator.

    Nothing of size n×d is formed.
    """
    A, left = linear_map(X), svd.U * svd.s

    def times(B: NDArray) -> NDArray:
        return A @ B - left @ (svd.V.T @ B)

    def transpose_times(B: NDArray) -> NDArray:
        return A.T @ B - svd.V @ (left.T @ B)

    return LinearOperator(
        shape=A.shape,
        dtype=working_dtype(A),
        matvec=times,
        matmat=times,
        rmatvec=transpose_times,
        rmatmat=transpose_times,
    )


def convergence_bound(
    n: int,
    ratio: float,
    t: ArrayLike,
    failure: float = 0.1,
) -> NDArray:
    """Bound cos θₜ from below after t steps, with probability 1 − failure.

    n is the length of the iterated vector, ratio is λ₂/λ₁ = (s₂/s₁)². The start
    is uniform on the sphere; with the bound on its angle :eq:`eq-start-tangent`
    the bound :eq:`eq-power-bound` holds for all t at once.

    >>> round(float(convergence_bound(100, 0.5, 20)), 6)
    1.0
    """
    n, ratio, failure = _bound_arguments(n, ratio, failure)
    tangent = _start_tangent(n, failure) * ratio ** np.asarray(t, float)
    return 1 / np.hypot(1.0, tangent)


def steps_needed(n: int, ratio: float, tangent: float, failure: float = 0.1) -> int:
    """Return a t with tan θₜ ≤ tangent, with probability 1 − failure :eq:`eq-power-steps`.

    >>> steps_needed(100, 0.5, 1e-3), steps_needed(100, 0.99, 1e-3)
    (17, 1124)
    """
    n, ratio, failure = _bound_arguments(n, ratio, failure)
    if not 0 < ratio < 1:
        raise ValueError(f"ratio={ratio}: no number of steps is enough unless 0 < λ₂/λ₁ < 1.")
    ratio_of_tangents = _start_tangent(n, failure) / tolerance(tangent, "tangent")
    return max(0, int(np.ceil(np.log(ratio_of_tangents) / np.log(1 / ratio))))


def value_bound(n: int, t: ArrayLike, failure: float = 0.1) -> NDArray:
    """Bound sₜ/s₁ from below after t ≥ 1 steps, whatever the gap :eq:`eq-value-bound`.

    n is the length of the iterated vector, sₜ = ‖Xvₜ‖; the bound holds for all t
    at once with probability 1 − failure.

    >>> round(float(value_bound(100, 30)), 3)
    0.93
    """
    n, _, failure = _bound_arguments(n, 0.0, failure)
    return _start_tangent(n, failure) ** (-0.5 / np.asarray(t, float))


def spectral_norm_bounds(
    X: MatrixLike, n_iter: int = 50, failure: float = 0.01, rng: Rng = 0
) -> tuple[float, float]:
    """Return two numbers with ‖X‖₂ between them, from n_iter power steps.

    The lower one is certain. The upper one fails with probability ``failure`` at
    most, by :eq:`eq-value-bound`, and needs no gap. With X = ``deflate(X, svd)``
    it tells whether a decomposition has missed something :eq:`eq-certificate`.
    """
    A = linear_map(X)
    steps = whole_number(n_iter, "n_iter", least=1)
    rule = _rule(A, 0.0, steps + 1, "residual", False)  # s of step t + 1 is ‖Xvₜ‖
    s = _iterate(A, random_unit(A.shape[1], rng).astype(working_dtype(A)), rule).s
    return s, float(s / value_bound(A.shape[1], steps, failure))


def _iterate(
    A: Map,
    v: NDArray,
    rule: _Rule,
    basis: NDArray | None = None,
    floor: float = 0.0,
) -> PowerRun:
    """Repeat v ← XᵀXv, without its part in the basis, until the rule is met."""
    rows, w = [], v
    with rule.bar() as tick:
        for _ in range(rule.max_iter):
            v = w
            u = A @ v
            s = _norm(u)
            u = u / (s or 1.0)
            w = _without(basis, A.T @ u)  # XᵀXv / s
            residual = _norm(w - s * v) / (s or 1.0)
            w = w / (_norm(w) or 1.0)
            rows.append((s, residual, _norm(w - v)))
            tick(residual)
            if met := rule.met(*rows[-1]) or s * residual <= floor:
                break
    return PowerRun(v, s, u, len(rows), bool(met), _history(rows))


def _ritz(A: Map, V: NDArray) -> tuple[NDArray, ...]:
    """Turn orthonormal V so that XV = U diag(s); return U, s, V and XᵀU."""
    U, R = linalg.qr(all_finite(product(A, V)), mode="economic", check_finite=False)
    P, s, Tt = linalg.svd(R)  # small
    U, V = U @ P, V @ Tt.T
    return U, s, V, product(A.T, U)


class _Rule(NamedTuple):
    """When to stop."""

    tol: float
    max_iter: int
    stop: str
    progress: bool

    def met(self, s: float, residual: float, step: float) -> bool:
        return (residual if self.stop == "residual" else step) <= self.tol

    @contextmanager
    def bar(self) -> Iterator[Callable[[float], None]]:
        """Give a function to be called with the residual after each step."""
        if not self.progress:
            yield lambda residual: None
            return
        with tqdm_class()(total=self.max_iter, desc="power steps", leave=False) as bar:

            def tick(residual: float) -> None:
                bar.set_postfix_str(f"residual {residual:.1e}", refresh=False)
                bar.update()

            yield tick


def _rule(A: Map, tol: float | None, max_iter: int, stop: str, progress: bool) -> _Rule:
    if tol is None:
        tol = np.sqrt(np.finfo(working_dtype(A)).eps)
    if stop not in ("residual", "step"):
        raise ValueError(f'stop={stop!r}: choose "residual" or "step".')
    return _Rule(tolerance(tol), whole_number(max_iter, "max_iter", least=1), stop, progress)


def _start(start: ArrayLike | None, d: int, rng: Rng, dtype: np.dtype) -> NDArray:
    """Return the given start, or a random one, with length one."""
    if start is None:
        return random_unit(d, rng).astype(dtype)
    v = data_matrix(np.atleast_2d(np.asarray(start)), "start")
    if v.shape != (1, d) or not v.any():
        raise ValueError(f"start has shape {np.shape(start)}: {d} numbers, not all 0, are needed.")
    v = v[0] / np.abs(v).max()
    return (v / linalg.norm(v)).astype(dtype)


def _without(V: NDArray | None, w: NDArray) -> NDArray:
    """Return w minus its part in the span of the orthonormal columns of V."""
    if V is None or V.shape[1] == 0:
        return w
    w = w - V @ (V.T @ w)
    return w - V @ (V.T @ w)  # once more: rounding leaves a little


def _collect(A: Map, runs: list[PowerRun]) -> SVDRun:
    """Put triplets side by side, largest first."""
    runs = sorted(runs, key=lambda run: -run.s)
    V = _columns([run.v for run in runs], A.shape[1], working_dtype(A))
    U = _columns([run.u for run in runs], A.shape[0], working_dtype(A))
    s = np.array([run.s for run in runs], working_dtype(A))
    V, U = fix_signs(V, U) if runs else (V, U)
    steps = sum(run.n_iter for run in runs)
    history = tuple(run.history for run in runs)
    return SVDRun(U, s, V, steps, all(run.converged for run in runs), history)


def _columns(vectors: list[NDArray], length: int, dtype: np.dtype) -> NDArray:
    return np.column_stack(vectors) if vectors else np.empty((length, 0), dtype)


def _history(rows: list[tuple]) -> PowerHistory:
    return PowerHistory(*(np.array(column) for column in zip(*rows, strict=True)))


def _column_residuals(W: NDArray, V: NDArray, s: NDArray) -> NDArray:
    """Return ‖Xᵀuᵢ − sᵢvᵢ‖ for all i, given W = XᵀU; scaled on the way against overflow."""
    scale = s[0] or 1.0
    return scale * np.linalg.norm((W - V * s) / scale, axis=0)


def _turn(before: NDArray, after: NDArray) -> float:
    """Return the sine of the largest angle between the column spaces of two orthonormal bases."""
    return float(np.linalg.norm(after - before @ (before.T @ after), 2))


def _relative(residual: NDArray, size: NDArray) -> NDArray:
    """Return residual/size, and 0 where the size is 0."""
    size = np.asarray(size)
    positive = np.where(size > 0, size, 1.0)
    return np.where(size > 0, residual / positive, 0.0)[()]


def _norm(x: NDArray) -> float:
    length = float(linalg.norm(x, check_finite=False))
    if not np.isfinite(length):
        raise ValueError(NOT_FINITE)
    return length


def _floor(A: Map, runs: list[PowerRun]) -> float:
    return noise(A, np.array([run.s for run in runs]))


def _start_tangent(n: int, failure: float) -> float:
    """Return what tan θ₀ exceeds with probability ``failure`` at most."""
    return float(np.sqrt(2 * n / np.pi) / failure)


def _bound_arguments(n: int, ratio: float, failure: float) -> tuple[int, float, float]:
    n, ratio, failure = whole_number(n, "n", least=1), tolerance(ratio, "ratio"), failure
    if ratio > 1:
        raise ValueError(f"ratio={ratio}: λ₂/λ₁ lies between 0 and 1; perhaps it is upside down.")
    if not 0 < tolerance(failure, "failure") <= 0.5:
        raise ValueError(f"failure={failure!r}: a probability above 0, up to 0.5, is needed.")
    return n, ratio, float(failure)


def _refuse_negative(lam: float, size: float) -> None:
    if lam < -1e-8 * size:
        raise ValueError(
            f"K is indefinite: aᵀKa = {lam:.3g} for some a. A Gram matrix has no negative "
            f"eigenvalue; check the kernel, or add a multiple of the identity."
        )
