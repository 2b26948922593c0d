"""Probabilistic PCA: a Gaussian with k directions and one level of noise (chapter 4).

Data are n×d, rows are samples. ``W`` is d×k; its columns are orthogonal and fall in length, the
choice R = I among all rotations that fit as well. NaN marks a missing value wherever a function
says that it takes one. Covariances divide by n, as maximum likelihood does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from ._engine.checks import component_count, data_matrix
from ._engine.progress import with_progress
from .compare import fix_signs
from .svd import thin_svd

__all__ = [
    "PPCA",
    "Posterior",
    "fit_ppca",
    "fit_ppca_em",
    "ppca_em_step",
]


class Posterior(NamedTuple):
    """What an observation x tells about its latent z: a Gaussian for each row."""

    mean: NDArray  # (n, k) E[z | x]
    covariance: NDArray  # (n, k, k) Cov[z | x]; read-only where rows share it


@dataclass(frozen=True, eq=False)
class PPCA:
    """The model x = Wz + μ + ε, z ~ N(0, I), ε ~ N(0, σ²I) :eq:`eq-ppca-model`."""

    mean: NDArray  # (d,) μ
    W: NDArray  # (d, k) loadings
    sigma2: float  # σ², the variance of the noise in every coordinate
    history: NDArray = field(  # log-likelihood at the start and after each EM step
        default_factory=lambda: np.empty(0)
    )
    converged: bool = True  # False if EM ran out of steps

    def __post_init__(self) -> None:
        W, mean = np.asarray(self.W), np.asarray(self.mean)
        if W.ndim != 2 or mean.shape != W.shape[:1] or not self.sigma2 >= 0:
            raise ValueError(
                f"mean {mean.shape}, W {W.shape} and sigma2={self.sigma2!r} make no model: "
                f"shapes (d,) and (d, k) and a number sigma2 ≥ 0 are needed."
            )
        object.__setattr__(self, "W", W)
        object.__setattr__(self, "mean", mean)

    @property
    def k(self) -> int:
        """The number of latent directions."""
        return self.W.shape[1]

    @property
    def n_iter(self) -> int:
        """The number of EM steps made; 0 for the closed form."""
        return max(self.history.size - 1, 0)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters in μ, W and σ² :eq:`eq-ppca-count`.

        A rotation of W is not counted, as it changes nothing. No Gaussian has
        more than a full covariance, which k = d − 1 reaches.
        """
        d, k = self.W.shape
        covariance = d * k - k * (k - 1) // 2 + 1
        return d + min(covariance, d * (d + 1) // 2)

    def covariance(self) -> NDArray:
        """Return the d×d matrix Σ = WWᵀ + σ²I :eq:`eq-ppca-marginal`."""
        return self.W @ self.W.T + self.sigma2 * np.eye(self.mean.size)

    def log_density(self, X: ArrayLike) -> NDArray:
        """Return log p(x) of each row of X, (n, d), by k×k matrices alone.

        The exponent is :eq:`eq-ppca-quadratic`, the determinant
        :eq:`eq-ppca-det`. Of a row with missing values (NaN) it is the
        density of the observed ones; of an empty row it is log 1 = 0.
        """
        return _log_density(self, *self._given(X))

    def log_likelihood(self, X: ArrayLike) -> float:
        """Return the log-likelihood of all rows together :eq:`eq-ppca-loglik`."""
        return float(self.log_density(X).sum())

    def bic(self, X: ArrayLike) -> float:
        """Return −2ℓ + (number of parameters)·log n; small is good :eq:`eq-ppca-bic`."""
        logs = self.log_density(X)
        return float(-2 * logs.sum() + self.n_parameters * np.log(logs.size))

    def posterior(self, X: ArrayLike) -> Posterior:
        """Return mean and covariance of z given each row of X :eq:`eq-ppca-posterior`.

        Missing values (NaN) are left out of the conditioning; a row without
        any value gets back the prior, N(0, I).
        """
        latent = _infer(self, *self._given(X))
        shared = self.sigma2 * latent.M_inv
        if len(shared) == 1:
            return Posterior(latent.m, np.broadcast_to(shared[0], latent.m.shape + (self.k,)))
        return Posterior(latent.m, shared[latent.group])

    def encode(self, X: ArrayLike) -> NDArray:
        """Return the posterior means E[z | x], (n, k) :eq:`eq-ppca-posterior`."""
        return _infer(self, *self._given(X)).m

    def decode(self, Z: ArrayLike) -> NDArray:
        """Return Wz + μ, the expected x for each row z of Z, (n, k) :eq:`eq-ppca-model`."""
        Z = data_matrix(Z, "Z") if self.k else np.asarray(Z, float)
        if Z.shape[1:] != (self.k,):
            raise ValueError(f"Z has shape {Z.shape}: this model needs {self.k} columns.")
        return Z @ self.W.T + self.mean

    def reconstruct(self, X: ArrayLike, shrink: bool = True) -> NDArray:
        """Decode what was encoded :eq:`eq-ppca-shrink`.

        With ``shrink=False`` the posterior mean is replaced by the z whose
        image Wz + μ is *nearest* to x: the orthogonal projection, as in PCA.
        """
        model = self if shrink else replace(self, sigma2=0.0)
        return model.decode(model.encode(X))

    def impute(self, X: ArrayLike, return_std: bool = False) -> NDArray | tuple[NDArray, NDArray]:
        """Fill each missing value with its conditional mean :eq:`eq-ppca-impute`.

        With ``return_std=True`` also return, for each entry, the standard
        deviation of what is missing given what is observed
        :eq:`eq-ppca-impute-std`; it is 0 where the value was observed.
        """
        R, seen = self._given(X)
        latent = _infer(self, R, seen)
        fitted = latent.m @ self.W.T
        filled = np.where(seen, R, fitted) + self.mean
        filled[seen] = np.asarray(X, float)[seen]  # observed values: to the last bit
        if not return_std:
            return filled
        spread = _flat(latent.M_inv) @ _outer(self.W).T  # wⱼᵀ M⁻¹ wⱼ
        std = np.sqrt(self.sigma2 * (1 + spread))[latent.group]
        return filled, np.where(seen, 0.0, std)

    def sample(self, n: int, rng: int | np.random.Generator = 0) -> NDArray:
        """Draw n rows: z, then x given z :eq:`eq-ppca-model`."""
        rng = np.random.default_rng(rng)
        Z = rng.standard_normal((n, self.k))
        noise = rng.standard_normal((n, self.mean.size))
        return Z @ self.W.T + self.mean + np.sqrt(self.sigma2) * noise

    def _given(self, X: ArrayLike) -> tuple[NDArray, NDArray]:
        """Return X − μ with zeros for missing values, and where values were seen."""
        X = data_matrix(X, missing=True)
        if X.shape[1] != self.mean.size:
            raise ValueError(
                f"X has {X.shape[1]} columns: this model was made for {self.mean.size}. "
                f"Rows are samples; transpose X if yours are columns."
            )
        seen = ~np.isnan(X)
        return np.where(seen, X - self.mean, 0.0), seen


def fit_ppca(X: ArrayLike, k: int) -> PPCA:
    """Find the μ, W and σ² that make the rows of X, (n, d), most likely.

    The maximum is known in closed form: the mean :eq:`eq-ppca-mean`, the
    mean discarded variance :eq:`eq-ppca-sigma2`, the leading directions with
    what their variance exceeds the noise by :eq:`eq-ppca-w`.

    >>> X = [[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    >>> model = fit_ppca(X, 1)
    >>> round(model.sigma2, 6), (model.W**2).round(6).tolist()
    (0.5, [[1.5], [0.0]])
    """
    X = _complete_matrix(X)
    k = component_count(k, X.shape[1], f"a {X.shape[0]}×{X.shape[1]} matrix")
    mean = X.mean(axis=0)
    return _maximum(mean, _spectrum(X, mean), k)


def fit_ppca_em(
    X: ArrayLike,
    k: int,
    *,
    start: PPCA | None = None,
    expand: bool = True,
    tol: float = 1e-12,
    max_iter: int = 10_000,
    rng: int | np.random.Generator = 0,
    progress: bool = False,
) -> PPCA:
    """Climb to a maximum of the likelihood by EM; NaN in X, (n, d), is missing.

    Each step is :func:`ppca_em_step` and never lowers the likelihood
    :eq:`eq-ppca-bound`. It stops when the gain still to come is estimated to be
    below tol per observed value. Without missing values use :func:`fit_ppca`:
    same answer, at once. Rows without any value are allowed and change nothing.
    ``start`` is where to begin (default: random directions), ``max_iter`` the most
    steps to make, ``progress=True`` shows a bar.
    """
    X, seen, variance = _incomplete_matrix(X)
    k = component_count(k, X.shape[1], f"a {X.shape[0]}×{X.shape[1]} matrix")
    model = start or _random_start(X, seen, variance, k, rng)
    if model.W.shape != (X.shape[1], k):
        raise ValueError(f"start has W {model.W.shape}: {(X.shape[1], k)} is needed.")
    if model.sigma2 == 0:
        raise ValueError("start has sigma2=0 and so no likelihood to climb: give it sigma2 > 0.")
    groups, history, converged = _patterns(seen), [], False
    for _ in with_progress(range(max_iter), progress, "EM"):
        R = _residual(X, seen, model)
        latent = _infer(model, R, seen, groups)
        history.append(float(_gaussian(model, R, seen, latent).sum()))
        converged = bool(_gain_to_come(history) <= tol * seen.sum())
        if converged:
            break
        model = _maximize(model, X, seen, latent, expand)
        _refuse_collapse(model.sigma2, variance, k)
    if not converged:  # the last step has not been looked at
        history.append(float(_log_density(model, _residual(X, seen, model), seen).sum()))
    return PPCA(model.mean, _turn_to_axes(model.W), model.sigma2, np.array(history), converged)


def ppca_em_step(model: PPCA, X: ArrayLike, expand: bool = True) -> PPCA:
    """Make one EM step; NaN in X, (n, d), is missing.

    E: the posterior of each z, from the observed values :eq:`eq-ppca-e-step`.
    M: regress each column of X on z :eq:`eq-ppca-m-step`, and average what
    that leaves over :eq:`eq-ppca-m-sigma2`. With ``expand`` the latent
    coordinates are then scaled back to N(0, I) :eq:`eq-ppca-expand`, which
    makes EM much faster when the noise is small.
    """
    X, seen, _ = _incomplete_matrix(X)
    if X.shape[1] != model.mean.size:
        raise ValueError(f"X has {X.shape[1]} columns: this model was made for {model.mean.size}.")
    R = _residual(X, seen, model)
    return _maximize(model, X, seen, _infer(model, R, seen), expand)


# --- the closed form ---------------------------------------------------------------------------


class _Spectrum(NamedTuple):
    """The variances of the data along their principal directions."""

    lam: NDArray  # (d,) falling, with divisor n; zeros beyond the rank
    V: NDArray  # (d, r) the directions, r the rank of the centred data


def _maximum(mean: NDArray, spectrum: _Spectrum, k: int) -> PPCA:
    """Return the maximum-likelihood model for given mean and variances."""
    lam, V = spectrum
    d, rank = V.shape
    if rank <= min(k, d - 1):
        raise ValueError(_no_noise_left(d, k, rank))
    sigma2 = float(lam[k:].mean() if k < d else lam[-1])
    excess = np.maximum(lam[:k] - sigma2, 0.0)
    return PPCA(mean, V[:, :k] * np.sqrt(excess), sigma2)


def _spectrum(X: NDArray, mean: NDArray) -> _Spectrum:
    """Factor X − 1μᵀ, counting as zero what rounding in X itself can cause."""
    n, d = X.shape
    Xc = X - mean
    if n > d:
        Xc = np.linalg.qr(Xc, mode="r")  # the same s and V in d rows
    svd = thin_svd(Xc)
    floor = 4 * np.finfo(X.dtype).eps * linalg.norm(X)
    svd = svd.truncate(int(np.sum(svd.s > floor)))
    lam = np.zeros(d, X.dtype)
    lam[: svd.rank] = svd.s**2 / n
    return _Spectrum(lam, svd.V)


def _no_noise_left(d: int, k: int, rank: int) -> str:
    if rank == 0:
        return (
            "X has zero variance: all rows are the same, and the likelihood grows without "
            "bound as σ² → 0. Rows that differ are needed."
        )
    return (
        f"k={k} components asked of centred rows that span only {rank} dimensions of {d}: "
        f"nothing is left for the noise, and the likelihood grows without bound as σ² → 0. "
        f"Ask for at most k={rank - 1}, or use PCA, which needs no noise."
    )


# --- the latent variable -----------------------------------------------------------------------


class _Groups(NamedTuple):
    """Rows with the same values missing share one k×k matrix M."""

    patterns: NDArray  # (g, d) which columns are observed
    group: NDArray  # (n,) the pattern of each row


class _Latent(NamedTuple):
    """The E-step: what is known of z, by pattern of missing values."""

    m: NDArray  # (n, k) posterior means
    M_inv: NDArray  # (g, k, k) inverse of M = WᵀW + σ²I over the observed columns
    group: NDArray  # (n,) the pattern of each row
    patterns: NDArray  # (g, d) which columns are observed
    log_det: NDArray  # (g,) log|M|


def _infer(model: PPCA, R: NDArray, seen: NDArray, groups: _Groups | None = None) -> _Latent:
    """Find the posterior of z for all rows, one k×k inverse a pattern.

    R is X − μ with zeros for missing values, so that RW = Wᵀr of what is seen.
    """
    patterns, group = groups or _patterns(seen)
    M = _gram_of_seen(model.W, patterns) + model.sigma2 * np.eye(model.k)
    try:
        M_inv = np.linalg.inv(M)
    except np.linalg.LinAlgError:
        raise ValueError(
            "With sigma2=0 some row has too few observed values to tell its z: WᵀW of the observed "
            "columns can't be inverted. Use sigma2 > 0, or independent columns in W."
        ) from None
    RW = R @ model.W
    m = RW @ M_inv[0] if len(M) == 1 else np.einsum("nk,nkl->nl", RW, M_inv[group])
    return _Latent(m, M_inv, group, patterns, np.linalg.slogdet(M)[1])


def _gaussian(
    model: PPCA,
    R: NDArray,
    seen: NDArray,
    latent: _Latent,
) -> NDArray:
    """Return log N(r; 0, Σ) row by row, without Σ.

    log|Σ| = log|M| + (d − k) log σ² (eq-ppca-det), and
    rᵀΣ⁻¹r = ‖r − Wm‖²/σ² + ‖m‖² (eq-ppca-quadratic).
    """
    d_seen, m = seen.sum(axis=1), latent.m
    log_det = latent.log_det[latent.group]  # of M
    log_det = log_det + (d_seen - model.k) * np.log(model.sigma2)
    rest = np.where(seen, R - m @ model.W.T, 0.0)
    quadratic = np.sum(rest**2, axis=1) / model.sigma2 + np.sum(m**2, axis=1)
    return -0.5 * (d_seen * np.log(2 * np.pi) + log_det + quadratic)


def _log_density(model: PPCA, R: NDArray, seen: NDArray) -> NDArray:
    """Return log p of the observed values of each row."""
    if model.sigma2 == 0:
        raise ValueError(
            "With sigma2=0 the model has no density: all its samples lie on mean + span(W), and "
            "any other point has likelihood 0. Use a model with sigma2 > 0."
        )
    return _gaussian(model, R, seen, _infer(model, R, seen))


def _patterns(seen: NDArray) -> _Groups:
    """Group the rows by which of their values are observed."""
    if seen.all():
        return _Groups(seen[:1], np.zeros(len(seen), int))
    packed = np.packbits(seen, axis=1)
    _, first, group = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    return _Groups(seen[first], group.reshape(-1))


def _gram_of_seen(W: NDArray, patterns: NDArray) -> NDArray:
    """Return WᵀW over the observed rows of W, (g, k, k), for each pattern."""
    if len(patterns) == 1:
        return (W.T @ (W * patterns[0][:, None]))[None]
    k = W.shape[1]
    return (patterns.astype(float) @ _outer(W)).reshape(len(patterns), k, k)


def _outer(A: NDArray) -> NDArray:
    """Return aᵢaᵢᵀ of each row, flattened to one row of k² numbers."""
    return _flat(A[:, :, None] * A[:, None, :])


def _flat(stack: NDArray) -> NDArray:
    return stack.reshape(len(stack), stack.shape[1] ** 2)


# --- EM ----------------------------------------------------------------------------------------


def _maximize(
    model: PPCA,
    X: NDArray,
    seen: NDArray,
    latent: _Latent,
    expand: bool,
) -> PPCA:
    """Regress every column on the latent variable, then average the rest.

    Column j solves Aⱼ (wⱼ, δⱼ) = bⱼ, with sums over the rows that observe it
    (eq-ppca-m-step); δ is what the mean moves by.
    """
    R, k = _residual(X, seen, model), model.k
    z1 = np.column_stack([latent.m, np.ones(len(X))])  # (z, 1): slope, offset
    spread = _spread(model, seen, latent)  # Σᵢ Cov[zᵢ | xᵢ] over the same rows
    second = _flat((z1.T @ z1)[None]) if seen.all() else seen.T @ _outer(z1)
    A = second.reshape(len(second), k + 1, k + 1)
    A[:, :k, :k] += spread
    solution = _solve_each(A, R.T @ z1)  # (d, k + 1)
    W, shift = solution[:, :k], solution[:, k]
    rest = np.where(seen, R - z1 @ solution.T, 0.0)
    noise = np.sum(rest**2) + np.sum(_outer(W) * _flat(spread))
    new = PPCA(model.mean + shift, W, float(noise / seen.sum()))
    return _standardize(new, model.sigma2, latent) if expand else new


def _spread(model: PPCA, seen: NDArray, latent: _Latent) -> NDArray:
    """Return Σᵢ Cov[zᵢ | xᵢ] over the rows that observe column j, for each j.

    (d, k, k), or (1, k, k) if nothing is missing and all columns agree.
    """
    rows = np.bincount(latent.group, minlength=len(latent.patterns))
    columns = slice(1) if seen.all() else slice(None)
    counts = (latent.patterns[:, columns] * rows[:, None]).T
    total = counts @ _flat(model.sigma2 * latent.M_inv)
    return total.reshape(len(total), model.k, model.k)


def _standardize(new: PPCA, sigma2: float, latent: _Latent) -> PPCA:
    """Go back from a latent N(a, B) to N(0, I) (eq-ppca-expand)."""
    used = latent.patterns.any(axis=1)[latent.group]  # rows with any value
    m, share = latent.m[used], np.bincount(latent.group[used]) / used.sum()
    a = m.mean(axis=0)
    inner = np.tensordot(share, latent.M_inv[: share.size], axes=1)
    B = (m - a).T @ (m - a) / len(m) + sigma2 * inner
    L = np.linalg.cholesky(B)
    return replace(new, mean=new.mean + new.W @ a, W=new.W @ L)


def _solve_each(A: NDArray, b: NDArray) -> NDArray:
    """Solve Aⱼxⱼ = bⱼ for each row of b; one matrix may serve all."""
    if len(A) == 1:
        return linalg.solve(A[0], b.T, assume_a="pos").T
    return np.linalg.solve(A, b[:, :, None])[:, :, 0]


def _residual(X: NDArray, seen: NDArray, model: PPCA) -> NDArray:
    """Return X − μ, with zeros for missing values."""
    return np.where(seen, X - model.mean, 0.0)


def _gain_to_come(history: Sequence[float]) -> float:
    """Estimate how much EM can still gain, as if gains fell geometrically.

    After gains g₁ and g₂ = c·g₁ there follow c·g₂ + c²·g₂ + … = g₂·c/(1 − c).
    """
    if len(history) < 3:
        return np.inf
    before, gain = np.diff(history[-3:])
    if gain <= 8 * np.finfo(float).eps * abs(history[-1]):
        return 0.0  # what is left is rounding
    return gain * gain / (before - gain) if before > gain else np.inf


def _random_start(
    X: NDArray, seen: NDArray, variance: float, k: int, rng: int | np.random.Generator
) -> PPCA:
    """Start from the column means and random directions with half of the variance."""
    d = X.shape[1]
    W = np.random.default_rng(rng).standard_normal((d, k))
    mean = X.sum(axis=0) / seen.sum(axis=0)
    return PPCA(mean, W * np.sqrt(variance / (2 * max(k, 1))), variance / 2)


def _turn_to_axes(W: NDArray) -> NDArray:
    """Rotate the latent space so that W's columns are orthogonal, longest first."""
    if W.shape[1] == 0:
        return W
    U, s, _ = linalg.svd(W, full_matrices=False)
    return fix_signs(U)[0] * s


def _refuse_collapse(sigma2: float, variance: float, k: int) -> None:
    if sigma2 <= 1e-10 * variance:
        raise ValueError(
            f"σ² falls to 0 with k={k} components: they fit every observed value exactly, and the "
            f"likelihood grows without bound. Ask for fewer components."
        )


# --- input -------------------------------------------------------------------------------------


def _complete_matrix(X: ArrayLike) -> NDArray:
    """Return X as a matrix without gaps, or point to EM."""
    X = data_matrix(X, missing=True)
    if np.isnan(X).any():
        raise ValueError(
            f"X holds NaN, {np.isnan(X).sum()} in all: the closed form needs every value. "
            f"fit_ppca_em takes NaN as missing."
        )
    return X


def _incomplete_matrix(X: ArrayLike) -> tuple[NDArray, NDArray, float]:
    """Return X in doubles with zeros for NaN, where it was seen, and the mean variance."""
    X = data_matrix(X, missing=True).astype(float)
    seen = ~np.isnan(X)
    empty = np.flatnonzero(~seen.any(axis=0))
    if empty.size:
        raise ValueError(
            f"Column {empty[0]} of X has no observed value: nothing can be learnt about it. "
            f"Drop it."
        )
    X = np.where(seen, X, 0.0)
    centred = np.where(seen, X - X.sum(axis=0) / seen.sum(axis=0), 0.0)
    variance = float(np.sum(centred**2) / seen.sum())
    if variance <= (8 * np.finfo(float).eps * np.abs(X).max()) ** 2:
        raise ValueError(
            "X has zero variance: in no column do two observed values differ, and the likelihood "
            "grows without bound as σ² → 0. Rows that differ are needed."
        )
    return X, seen, variance
