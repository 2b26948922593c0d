"""Which start is better, and which features each component gets when only their number is given.

Supports come from two sides. Joint: elastic nets whose penalties are chosen along their paths,
alternating with Procrustes. In turn: truncated power iterations, each on what the components before
have left. What decides is the adjusted variance that loadings, refitted on the supports, explain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .alternation import Alternation
from .covariance import Covariance, largest, unit_columns
from .elastic_net import (
    Collinear,
    ElasticNets,
    FixedNets,
    HeldNets,
    Nets,
    Quadratic,
    RidgeNets,
    Stretch,
    ZeroColumn,
    stretch,
    stretch_with,
)
from .progress import with_progress

__all__ = [
    "Steps",
    "along_paths",
    "alternate",
    "best_start",
    "filled_up",
    "in_turn",
    "nets_with_counts",
    "sparse_start",
]

LONG = 300  # a path is followed up to so many loadings; it costs the fourth power of them
ROUNDS = 100  # of Procrustes and paths, until the supports stand still
QUIET = 40  # so many rounds without a change of supports are enough


class Steps(NamedTuple):
    """The steps of the chapter that the searches are made of."""

    procrustes: Callable[[NDArray], NDArray]  # M ↦ A
    objective: Callable[..., float]  # (C, A, B, l1=…, ridge=…) ↦ the criterion
    refit: Callable[[Covariance, NDArray], NDArray]  # (C, B) ↦ B with the loadings refitted
    adjusted: Callable[[NDArray], NDArray]  # BᵀCB ↦ adjusted variances


class Found(NamedTuple):
    """Nets with the counts asked for, and where to start from."""

    A: NDArray  # (d, k)
    nets: HeldNets


def sparse_start(
    C: Covariance,
    starts: list[NDArray],
    counts: NDArray | None,
    l1: NDArray | None,
    ridge: float,
    steps: Steps,
    progress: bool = False,
) -> tuple[NDArray, Nets]:
    """Return which A to start from, and the nets that have these counts or penalties.

    C is in units of the mean variance; the starts are (d, k) and orthonormal: directions of PCA
    first, then rotated ones. Either counts or penalties are None.
    """
    if l1 is None and counts is not None and counts.min() < len(C):
        return nets_with_counts(C, starts, counts, ridge, steps, progress)
    if l1 is None or not l1.any():
        return starts[0], RidgeNets(C, starts[0].shape[1], ridge)
    return best_start(C, starts, l1, ridge, steps, progress), ElasticNets(C, l1, ridge)


def best_start(
    C: Covariance,
    starts: list[NDArray],
    l1: NDArray,
    ridge: float,
    steps: Steps,
    progress: bool = False,
) -> NDArray:
    """Return the start from which the criterion with these penalties gets lower.

    Fifty rounds tell. If there is nothing between them, it is the first; one from which a column
    becomes zero is out. If that happens from all, the penalty is refused.
    """
    values: list[float] = []
    for A in starts:
        try:
            nets = ElasticNets(C, l1, ridge)
            run = alternate(C, A, nets, ridge, steps, tol=1e-4, max_iter=50, progress=progress)
            values.append(run.history[-1])
        except ZeroColumn:
            values.append(np.inf)
    return starts[int(np.argmax(np.array(values) <= min(values) + 1e-6 * C.trace))]


def nets_with_counts(
    C: Covariance,
    starts: list[NDArray],
    counts: NDArray,
    ridge: float,
    steps: Steps,
    progress: bool = False,
) -> tuple[NDArray, HeldNets | FixedNets]:
    """Return where to start from, and the nets with these counts; it can't fail.

    Paths are taken if the penalties that they lead to can be held, and if their supports explain
    as much as those of truncated power, up to a hundredth: what counts are the adjusted variances
    of refitted loadings. If not, the loadings are refitted on the supports of truncated power.
    """
    A, B = in_turn(C, starts[-1], counts, steps, progress)
    B = filled_up(C, steps.refit(C, B), counts, ridge, steps)
    best, chosen = 0.99 * steps.adjusted(B.T @ (C @ B)).sum(), None
    for start in starts if counts.max() <= LONG else []:
        try:
            found = along_paths(C, start, counts, ridge, steps, progress)
        except Collinear:  # without a ridge there may be no path
            found = None
        if found is None:
            continue
        refitted = steps.refit(C, found.nets(found.A))
        variances = steps.adjusted(refitted.T @ (C @ refitted))
        better = variances.sum() > best and variances.min() > 1e-9 * variances.max()
        if better and _keep_their_penalties(C, *found, ridge, steps, progress):
            best, chosen = variances.sum() / 0.99, found
    return (A, FixedNets(B)) if chosen is None else chosen


def filled_up(C: Covariance, B: NDArray, counts: NDArray, ridge: float, steps: Steps) -> NDArray:
    """Return B with the counts asked for, where directions before have used up some features.

    A loading on such a feature adds nothing that is new. So a column that lacks some is regressed
    on its partner instead, with the features that go with it best: b_T = Q_T⁻¹(Ca)_T. (A feature
    exactly uncorrelated with the score can't be made to count.)
    """
    short = np.flatnonzero(np.count_nonzero(B, axis=0) < counts)
    if short.size == 0:
        return B
    Q, CA, B = Quadratic(C, max(ridge, 1e-6)), C @ steps.procrustes(C @ B), B.copy()
    for j in short:
        T = largest(np.where(B[:, j] != 0, np.inf, np.abs(CA[:, j])), int(counts[j]))
        B[T, j] = unit_columns(Q.solve(T, CA[T, j]))
    return B


def along_paths(
    C: Covariance,
    A: NDArray,
    counts: NDArray,
    ridge: float,
    steps: Steps,
    progress: bool = False,
) -> Found | None:
    """Alternate Procrustes with nets whose penalties give these counts, until supports stand still.

    A support is kept as long as it is on its path, and else sought from the beginning of the path.
    None is returned after four such searches for each column.
    """
    Q, k = Quadratic(C, ridge), A.shape[1]
    searches, quiet = 0, 0
    pieces: list[Stretch | None] = [None] * k
    for _ in with_progress(range(ROUNDS), progress, "paths"):
        B, CA, quiet = np.zeros_like(A), C @ A, quiet + 1
        for j, c in enumerate(CA.T):
            old = pieces[j]
            s = None if old is None else stretch(Q, c, old.support, old.signs)
            if s is None or not s.there():
                s, searches, quiet = stretch_with(Q, c, int(counts[j])), searches + 1, 0
            if s is None or searches > 4 * k:
                return None
            pieces[j] = s
            B[s.support, j] = s.loadings(s.inside())
        A_old, A = A, steps.procrustes(C @ B)
        if quiet == QUIET or np.abs(A - A_old).max() <= 1e-4:
            break
    known = [s for s in pieces if s is not None]
    l1 = np.array([s.inside() for s in known])
    nets = HeldNets(C, [s.support for s in known], [s.signs for s in known], l1, ridge)
    return Found(A, nets)


def in_turn(
    C: Covariance, A: NDArray, counts: NDArray, steps: Steps, progress: bool = False
) -> tuple[NDArray, NDArray]:
    """Take for each component the best that truncated power finds in what the others have left.

    It starts from the columns of A and from the feature with the largest variance, so that
    every direction has variance that the ones before it lack, as long as C has any. Returned are
    the directions B and their partners A, in the order A, B. A direction has fewer loadings than
    asked for if all other features have no variance left.
    """
    rest, B = C, np.zeros_like(A)
    for j in with_progress(range(A.shape[1]), progress, "truncated power"):
        B[:, j] = _best_truncated(rest, A, int(counts[j]))
        rest = rest.without(B[:, j])
    return steps.procrustes(C @ B), B


def _best_truncated(C: Covariance, A: NDArray, count: int) -> NDArray:
    """Run truncated power from several starts side by side, and return the best direction."""
    X, variances = np.column_stack([A, np.zeros(len(A))]), C.diagonal()
    X[largest(variances, 1), -1] = 1.0
    X[variances <= 0] = 0.0
    X = _truncated(X, count)
    for _ in range(30):
        CX = C @ X
        old, X = X, np.where(CX.any(axis=0), _truncated(CX, count), X)
        if np.array_equal(X != 0, old != 0):  # the supports are all that will be used
            break
    return X[:, largest(np.maximum(np.sum(X * (C @ X), axis=0), 0), 1)[0]]


def _truncated(X: NDArray, count: int) -> NDArray:
    out = np.zeros_like(X)
    for x, kept in zip(X.T, out.T, strict=True):
        T = largest(x, count)
        kept[T] = x[T]
    return unit_columns(out)


def _keep_their_penalties(
    C: Covariance,
    A: NDArray,
    nets: HeldNets,
    ridge: float,
    steps: Steps,
    progress: bool = False,
) -> bool:
    """Tell whether each column is still the elastic net of its penalty after 150 rounds."""
    run = alternate(C, A, nets, ridge, steps, tol=1e-7, max_iter=150, progress=progress)
    Q, CA = Quadratic(C, ridge), C @ run.A
    ends = [stretch(Q, c, T, s) for c, T, s in zip(CA.T, nets.supports, nets.signs, strict=True)]
    inside = [end.low <= l1 <= end.high for end, l1 in zip(ends, nets.l1, strict=True)]
    return run.converged and all(inside)


def alternate(
    C: Covariance,
    A: NDArray,
    nets: Nets,
    ridge: float,
    steps: Steps,
    *,
    tol: float,
    max_iter: int,
    progress: bool = False,
) -> Alternation:
    """Run the alternation of the nets with Procrustes to its end."""
    run = Alternation(
        A, nets, steps.procrustes, tol=tol, max_iter=max_iter, progress=progress, trial=True
    )
    for A in run:
        B = nets(A)
        value = steps.objective(C, A, B, l1=nets.l1, ridge=ridge)
        run.record(A, B, value, steps.procrustes(C @ B))
    return run
