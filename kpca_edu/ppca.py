"""Probabilistic PCA: a Gaussian with k directions and one level of noise (chapter 4).

Data are n×d, rows are samples. ``W`` is d×k; its columns are orthogonal and fall in length, the
choice R = I among all rotations that fit as well. NaN marks a missing value wherever a function
says that it takes one. Covariances divide by n, as maximum likelihood does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.checks import (
    check_scores,
    column_names,
    component_count,
    flag,
    generator,
    whole_number,
)
from ._engine.climb import Climb
from ._engine.gaussian import (
    centred_svd,
    complete_matrix,
    count_that_leaves_noise,
    in_range,
    parameters,
    span,
)
from ._engine.memory import room_for
from ._engine.missing import (
    Table,
    Units,
    grams,
    in_own_units,
    loadings_and_noise,
    log_determinants,
    mean_variances_directions,
    model_and_codes,
    quadratic_forms,
    refuse_other_models,
    solve_columns,
    solve_rows,
    table_for,
    table_with,
    with_holes,
)
from ._engine.model import Frozen
from .compare import fix_signs

__all__ = [
    "PPCA",
    "Posterior",
    "log_gaussian",
    "Latent",
    "infer",
    "fit_ppca",
    "Spectrum",
    "spectrum",
    "maximum_likelihood",
    "fit_ppca_em",
    "Codes",
    "expect",
    "maximize",
    "move_prior",
]


class Posterior(NamedTuple):
    """What an observation x tells about its latent z: a Gaussian for each row."""

    mean: NDArray  # (n, k) E[z | x]
    covariance: NDArray  # (n, k, k) Cov[z | x]; read-only where all rows share it


@dataclass(frozen=True, eq=False, repr=False)
class PPCA(Frozen):
    """The model x = Wz + μ + ε, z ~ N(0, I), ε ~ N(0, σ²I) :eq:`eq-ppca-model`."""

    mean: NDArray  # (d,) μ
    W: NDArray  # (d, k) loadings
    sigma2: float  # σ², the variance of the noise in every coordinate
    history: NDArray = field(default_factory=lambda: np.empty(0))  # ℓ at EM's start, then by step
    converged: bool = True  # False if EM stopped before the likelihood had settled
    columns: tuple[str, ...] | None = None  # names of the features, if X was a DataFrame

    def __post_init__(self) -> None:
        for name, value in parameters(self.mean, self.W, self.sigma2).items():
            object.__setattr__(self, name, value)
        super().__post_init__()

    @property
    def k(self) -> int:
        """The number of latent directions."""
        return self.W.shape[1]

    @property
    def n_iter(self) -> int:
        """The number of EM steps that led here; 0 for the closed form."""
        return max(self.history.size - 1, 0)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters in μ, W (up to a rotation) and σ² :eq:`eq-ppca-count`."""
        d, k = self.W.shape
        return d + min(d * k - k * (k - 1) // 2 + 1, d * (d + 1) // 2)  # no covariance has more

    @property
    def variances(self) -> NDArray:
        """The k largest variances of the model along W, in falling order :eq:`eq-ppca-spectrum`."""
        return np.linalg.svd(self.W.astype(float), compute_uv=False) ** 2 + self.sigma2

    @property
    def explained_ratio(self) -> NDArray:
        """The shares of these variances in that of the whole model, tr Σ."""
        W = self.W.astype(float)  # whose squares may be beyond single precision
        whole = float(np.vdot(W, W)) + self.mean.size * self.sigma2
        return self.variances / (whole or 1.0)

    def covariance(self) -> NDArray:
        """Return the d×d matrix Σ = WWᵀ + σ²I :eq:`eq-ppca-marginal`."""
        d = self.mean.size
        room_for(d, d, "The covariance matrix", "log_density(X) works without it.")
        W = self.W.astype(float)
        return W @ W.T + self.sigma2 * np.eye(d)

    def log_density(self, X: ArrayLike) -> NDArray:
        """Return log p(x) of each row of X, (n, d), by k×k matrices alone: :func:`log_gaussian`.

        Of a row with missing values (NaN) it is the density of the observed ones; of an empty row
        it is log 1 = 0.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # refused just below
            logs = self._by_row(X, lambda z: log_gaussian(self, z))
        return in_range(logs)

    def log_likelihood(self, X: ArrayLike) -> float:
        """Return the log-likelihood of all rows together :eq:`eq-ppca-loglik`."""
        return float(self.log_density(X).sum())

    def bic(self, X: ArrayLike) -> float:
        """Return −2ℓ + (number of parameters)·log n; small is good :eq:`eq-ppca-bic`."""
        logs = self.log_density(X)
        return float(-2 * logs.sum() + self.n_parameters * np.log(logs.size))

    def posterior(self, X: ArrayLike) -> Posterior:
        """Return mean and covariance of z given each row of X :eq:`eq-ppca-posterior`.

        NaN is missing; a row without any value gets back the prior, N(0, I).
        """
        table = table_for(self, X)
        if len(table.patterns) > 1:  # else all rows share one
            what = "The covariances of all rows"
            room_for(len(table) * self.k, self.k, what, "take some rows at a time.")
        S = self._by_row(table, lambda z: z.S[z.part.group] if len(z.S) > 1 else z.S)
        m = self._by_row(table, lambda z: z.m)
        return Posterior(m, np.broadcast_to(S, (*m.shape, self.k)))

    def encode(self, X: ArrayLike) -> NDArray:
        """Return the posterior means E[z | x], (n, k) :eq:`eq-ppca-posterior`; NaN is missing."""
        return self._by_row(X, lambda z: z.m)

    def decode(self, Z: ArrayLike) -> NDArray:
        """Return Wz + μ, the expected x for each row z of Z, (n, k) :eq:`eq-ppca-model`."""
        return check_scores(Z, self.k, width=self.mean.size) @ self.W.T + self.mean

    def reconstruct(self, X: ArrayLike, *, shrink: bool = True) -> NDArray:
        """Decode what was encoded :eq:`eq-ppca-shrink`.

        With ``shrink=False`` the image is the nearest point of the plane, as in PCA.
        """
        model = self if flag(shrink, "shrink") else replace(self, W=span(self.W), sigma2=0.0)
        return model.decode(model.encode(X))

    @overload
    def impute(self, X: ArrayLike, *, return_std: Literal[False] = False) -> NDArray: ...

    @overload
    def impute(self, X: ArrayLike, *, return_std: Literal[True]) -> tuple[NDArray, NDArray]: ...

    def impute(
        self, X: ArrayLike, *, return_std: bool = False
    ) -> NDArray | tuple[NDArray, NDArray]:
        """Fill each missing value (NaN) with its conditional mean :eq:`eq-ppca-impute`.

        With ``return_std=True`` also return the standard deviation of each missing value given
        the observed ones :eq:`eq-ppca-impute-std`, and 0 for those. The parameters are taken as
        known: with few rows it is somewhat too small.
        """

        def mean(z: Latent) -> NDArray:
            return np.where(z.part.seen, z.part.values, self.mean + z.m @ self.W.T)

        def deviation(z: Latent) -> NDArray:
            variance = self.sigma2 + quadratic_forms(self.W, z.S)  # σ² + wⱼᵀSᵢwⱼ
            return np.where(z.part.seen, 0.0, np.sqrt(variance)[z.part.group])

        filled = self._by_row(X, mean)
        return (filled, self._by_row(X, deviation)) if flag(return_std, "return_std") else filled

    def sample(self, n: int, rng: int | np.random.Generator) -> NDArray:
        """Draw n rows: z, then x given z :eq:`eq-ppca-model`. The same seed gives the same rows."""
        n, rng = whole_number(n, "n"), generator(rng)
        room_for(n, 2 * self.mean.size, "The sample, with its noise", "draw it in parts.")
        Z = rng.standard_normal((n, self.k))
        noise = rng.standard_normal((n, self.mean.size))
        return Z @ self.W.T + self.mean + np.sqrt(self.sigma2) * noise

    def _by_row(self, X: ArrayLike | Table, value: Callable[[Latent], NDArray]) -> NDArray:
        """Return what ``value`` gives for each part of the rows, in the order of the rows."""
        table = table_for(self, X)
        return table.gather((z.part.rows, value(z)) for z in infer(self, table))

    def __repr__(self) -> str:
        state = "" if self.converged else ", not converged"
        return f"PPCA(k={self.k} of d={self.mean.size}, sigma2={self.sigma2:.4g}{state})"


class Latent(NamedTuple):
    """What the observed values of some rows tell about their latent z, by pattern of gaps."""

    part: Table  # the rows, their patterns, and which pattern a row has
    r: NDArray  # (n, d) x − μ, zeros where nothing was seen
    M: NDArray  # (g, k, k) WᵀW + σ²I over the observed columns
    m: NDArray  # (n, k) posterior means
    S: NDArray  # (g, k, k) posterior covariances


def log_gaussian(model: PPCA, z: Latent) -> NDArray:
    """Return log N(r; 0, Σ) row by row, without Σ :eq:`eq-ppca-loglik`.

    log|Σ| = log|M| + (d − k) log σ² :eq:`eq-ppca-det`, and
    rᵀΣ⁻¹r = ‖r − Wm‖²/σ² + ‖m‖² :eq:`eq-ppca-quadratic`, with the d values that a row has.
    """
    W, sigma2 = loadings_and_noise(model, z)
    d = z.part.seen.sum(axis=1)
    log_det = log_determinants(z.M, W, sigma2, z.part.patterns)[z.part.group]  # of M
    log_det = log_det + (d - model.k) * np.log(sigma2)
    rest = np.where(z.part.seen, z.r - z.m @ W.T, 0.0)
    quadratic = np.sum(rest**2, axis=1) / sigma2 + np.sum(z.m**2, axis=1)
    return -0.5 * (d * np.log(2 * np.pi) + log_det + quadratic)


def infer(model: PPCA, X: ArrayLike | Table) -> Iterator[Latent]:
    """Find the posterior of each row's z from what was observed :eq:`eq-ppca-e-step`.

    X : (n, d), NaN is missing. Rows with the same gaps share Mᵢ and Sᵢ; the rows come in parts.
    """
    for part in table_for(model, X).parts(model.k):
        r = part.minus(model.mean)  # rᵢ, zeros where nothing was seen
        M = grams(model.W, part.patterns) + model.sigma2 * np.eye(model.k)  # Mᵢ = WᵢᵀWᵢ + σ²I
        m, M_inv = solve_rows(M, part.group, r @ model.W)  # mᵢ = Mᵢ⁻¹Wᵢᵀrᵢ
        yield Latent(part, r, M, m, model.sigma2 * M_inv)  # Sᵢ = σ²Mᵢ⁻¹


def fit_ppca(X: ArrayLike, k: int) -> PPCA:
    """Find the μ, W and σ² that make the rows of X, (n, d), most likely :eq:`eq-ppca-max`.

    >>> X = [[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    >>> model = fit_ppca(X, 1)
    >>> round(model.sigma2, 6), (model.W**2).round(6).tolist()
    (0.5, [[1.5], [0.0]])
    """
    return maximum_likelihood(spectrum(X), k)


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum(Frozen):
    """The variances of complete data along their principal directions."""

    mean: NDArray  # (d,) x̄
    lam: NDArray  # (d,) variances with divisor n, falling; zeros beyond the rank r
    V: NDArray  # (d, r) the directions, the columns
    n: int  # rows that were seen
    columns: tuple[str, ...] | None = None  # names of the features, if X was a DataFrame

    def __repr__(self) -> str:
        d, r = self.V.shape
        values = f", variances from {self.lam[0]:.4g} to {self.lam[r - 1]:.4g}" if r else ""
        return f"Spectrum(rank {r} of {self.n}×{d}{values})"


def spectrum(X: ArrayLike) -> Spectrum:
    """Return mean, variances and principal directions of complete data: one SVD serves every k.

    X : (n, d). A variance that rounding in X itself can cause counts as zero.
    """
    columns, X = column_names(X), complete_matrix(X)
    n, d = X.shape
    mean, s, V = centred_svd(X)  # X − 1x̄ᵀ = U diag(s) Vᵀ
    lam = np.zeros(d)
    lam[: s.size] = s**2 / n
    return Spectrum(mean, lam, fix_signs(V)[0], n, columns)


def maximum_likelihood(spectrum: Spectrum, k: int) -> PPCA:
    """Return the most likely model with k directions, from the variances of the data.

    The mean is x̄ :eq:`eq-ppca-mean`, σ² the mean of the discarded variances :eq:`eq-ppca-sigma2`,
    and column j of W is vⱼ√(λⱼ − σ²) :eq:`eq-ppca-w`, with R = I.
    """
    mean, lam, V = mean_variances_directions(spectrum)
    k = count_that_leaves_noise(k, spectrum.n, *V.shape)
    sigma2 = lam[k:].mean() if k < len(lam) else lam[-1]
    root = np.sqrt(np.maximum(lam[:k] - sigma2, 0.0))  # below zero by rounding alone
    W = V[:, :k] * root.astype(V.dtype)
    return PPCA(mean, W, sigma2, columns=spectrum.columns)


def fit_ppca_em(
    X: ArrayLike,
    k: int,
    *,
    start: PPCA | None = None,
    tol: float = 1e-12,
    max_iter: int = 10_000,
    rng: int | np.random.Generator = 0,
    progress: bool = False,
) -> PPCA:
    """Climb to a maximum of the likelihood of what was observed; NaN in X, (n, d), is missing.

    It never falls :eq:`eq-ppca-bound`, and settles when the gains to come are below
    tol a value. A step takes O((n + g)dk² + gk³) operations with g patterns of gaps.
    """
    table, units = in_own_units(with_holes(X))
    climb: Climb[PPCA] = Climb("EM", table.n_seen, tol, max_iter, progress)
    model = _first_guess(table, units, k, start, rng)
    for _ in climb.rounds():
        codes = expect(model, table)  # E: the posterior of each row's code
        if climb.settled(codes.log_likelihood, model) or units.collapsed(model.sigma2):
            break
        model = move_prior(maximize(table, codes), codes)  # M: regress on the codes
    return _top_of(climb, units, column_names(X))


class Codes(NamedTuple):
    """The E-step: what is known of each row's z, and the sums of it that the M-step needs."""

    m: NDArray  # (n, k) posterior means
    spread: NDArray  # (d, k, k) ΣSᵢ over the rows that have column j; (1, k, k) without gaps
    total: NDArray  # (k, k) ΣSᵢ over all rows
    log_likelihood: float  # of the model that the codes are of


def expect(model: PPCA, X: ArrayLike | Table) -> Codes:
    """E-step: infer each row's z :eq:`eq-ppca-e-step`, and add up the Sᵢ. X : (n, d) with NaN."""
    table, k = table_for(model, X), model.k
    m, value = np.empty((len(table), k)), 0.0
    columns = 1 if table.complete else table.d
    room_for(columns * k, k, "A k×k matrix for each column of X", "ask for fewer components.")
    spread, total = np.zeros((columns, k, k)), np.zeros((k, k))
    for z in infer(model, table):
        m[z.part.rows] = z.m
        spread += z.part.over_rows(z.S)  # Σᵢ Sᵢ over the rows that have column j
        total += np.tensordot(np.bincount(z.part.group), z.S, axes=1)  # Σᵢ Sᵢ over all rows
        value += float(log_gaussian(model, z).sum())  # log p of what was observed
    return Codes(m, spread, total, value)


def maximize(X: ArrayLike | Table, codes: Codes) -> PPCA:
    """M-step: regress each column on the codes :eq:`eq-ppca-m-step`, and average the rest.

    X : (n, d), NaN is missing. The noise is the mean expected square of what the regression
    leaves over :eq:`eq-ppca-m-sigma2`.
    """
    table, k = table_with(X, codes), codes.m.shape[1]
    z1 = np.column_stack([codes.m, np.ones(len(table))])  # (mᵢ, 1)
    A = table.second_moments(z1)  # Aⱼ = Σᵢ (mᵢ, 1)(mᵢ, 1)ᵀ where column j is known
    A[:, :k, :k] += codes.spread  # and Σᵢ Sᵢ
    w_mu = solve_columns(A, table.values.T @ z1)  # Aⱼ (wⱼ, μⱼ) = Σᵢ xᵢⱼ (mᵢ, 1)
    W, mean = w_mu[:, :k], w_mu[:, k]
    rest = table.minus(z1 @ w_mu.T)  # xᵢⱼ − μⱼ − wⱼᵀmᵢ
    unsure = np.sum(W[:, None, :] @ codes.spread @ W[:, :, None])  # Σ wⱼᵀSᵢwⱼ
    return PPCA(mean, W, (np.vdot(rest, rest) + unsure) / table.n_seen)


def move_prior(model: PPCA, codes: Codes) -> PPCA:
    """Let the prior of z move to N(a, B), and take coordinates in which it is N(0, I) again.

    a and B are mean and covariance of the codes :eq:`eq-ppca-expand`. It saves most of the steps.
    """
    W, m = model_and_codes(model, codes)
    a = m.mean(axis=0)
    B = ((m - a).T @ (m - a) + codes.total) / len(m)
    L = np.linalg.cholesky(B)  # LLᵀ = B
    return PPCA(model.mean + W @ a, W @ L, model.sigma2)


def _first_guess(
    table: Table, units: Units, k: int, start: PPCA | None, rng: int | np.random.Generator
) -> PPCA:
    """Return the start in the table's units; else random directions with half of the variance."""
    d, k = table.d, component_count(k, table.d, f"a {len(table)}×{table.d} matrix")
    if start is None:
        W = generator(rng).standard_normal((d, k)) * np.sqrt(units.variance / (2 * max(k, 1)))
        return PPCA(np.zeros(d), W, units.variance / 2)
    refuse_other_models(start, "start")
    if start.W.shape != (d, k) or start.sigma2 == 0:
        raise ValueError(f"start is {start}: k={k} of d={d} and sigma2 > 0 are needed to climb.")
    mean = (start.mean - units.origin) / units.unit
    return PPCA(mean, start.W / units.unit, start.sigma2 / units.unit**2)


def _top_of(climb: Climb[PPCA], units: Units, columns: tuple[str, ...] | None) -> PPCA:
    """Return the best model, in the units of X and with R = I; warn if it isn't at the top."""
    units.refuse_collapse(climb.last.sigma2, climb.last.k)
    climb.tell_unless_converged("If σ² keeps falling, no maximum exists: ask for smaller k.")
    best, unit = climb.best, units.unit
    U, s, _ = np.linalg.svd(best.W, full_matrices=False)
    mean, W = units.origin + unit * best.mean, fix_signs(U)[0] * (unit * s)
    history = climb.history - climb.terms * np.log(unit)
    return PPCA(mean, W, unit**2 * best.sigma2, history, climb.converged, columns)
