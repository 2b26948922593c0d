"""Which features each component may have, when only their numbers are given.

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
    ElasticNets,
    FixedNets,
    HeldNets,
    Nets,
    Quadratic,
    Stretch,
    stretch,
    stretch_with,
)
from .progress import with_progress

__all__ = [
    "Choice",
    "along_paths",
    "alternate",
    "best_start",
    "criterion",
    "in_turn",
    "nets_with_counts",
]

LONG = 300  # a path is followed up to so many loadings; beyond, soft thresholds choose them
ROUNDS = 200  # of Procrustes and paths, until the supports stand still
QUIET = 40  # so many rounds without a change of supports are enough

Procrustes = Callable[[NDArray], NDArray]
Refit = Callable[[Covariance, list[NDArray]], tuple[NDArray, NDArray]]  # directions, variances


class Choice(NamedTuple):
    """Supports, and the penalties on whose paths they are, if they are."""

    A: NDArray  # (d, k) where to start from
    supports: list[NDArray]
    signs: list[NDArray] | None = None
    l1: NDArray | None = None


def best_start(
    C: Covariance, starts: list[NDArray], l1: NDArray, ridge: float, procrustes: Procrustes
) -> NDArray:
    """Return the start from which the criterion with these penalties gets lower.

    Fifty rounds tell. If there is nothing between them, it is the first.
    """
    runs = [
        alternate(C, A, ElasticNets(C, l1, ridge), ridge, procrustes, tol=1e-4, max_iter=50)
        for A in starts
    ]
    values = np.array([run.history[-1] for run in runs])
    return starts[int(np.argmax(values <= values.min() + 1e-6 * C.trace))]


def nets_with_counts(
    C: Covariance,
    starts: list[NDArray],
    counts: NDArray,
    ridge: float,
    procrustes: Procrustes,
    refit: Refit,
    progress: bool = False,
) -> tuple[NDArray, HeldNets | FixedNets]:
    """Return where to start from, and the nets with these counts; it can't fail.

    C is in units of the mean variance; the starts are (d, k) and orthonormal: directions of PCA,
    rotated directions. Supports are judged by the adjusted variances that refitted loadings have.
    The first that come within a hundredth of the best are chosen, paths before truncated power.
    The nets have penalties if these, held, keep their counts to the end. If not, the loadings are
    the refitted ones.
    """
    choices = [along_paths(C, A, counts, ridge, procrustes, progress) for A in starts]
    choices.append(in_turn(C, starts[-1], counts, procrustes, progress))
    refits = [refit(C, choice.supports) for choice in choices]
    redundant = [v.min() <= 1e-9 * v.max() for _, v in refits[:-1]] + [False]
    totals = np.where(redundant, 0.0, [v.sum() for _, v in refits])
    best = int(np.argmax(totals >= 0.99 * totals.max()))
    A, supports, signs, l1 = choices[best]
    if signs is not None and l1 is not None:
        nets = HeldNets(C, supports, signs, l1, ridge)
        if _keep_their_penalties(C, A, nets, ridge, procrustes):
            return A, nets
    return A, FixedNets(refits[best][0])


def along_paths(
    C: Covariance,
    A: NDArray,
    counts: NDArray,
    ridge: float,
    procrustes: Procrustes,
    progress: bool = False,
) -> Choice:
    """Alternate Procrustes with nets whose penalties give these counts, until supports stand still.

    A support is kept as long as it is on its path, and else sought from the beginning of the path.
    After four such searches for each column all are taken as they are, without penalties. With
    more than 300 loadings the soft-threshold form (ridge = ∞) does it, whose path is a sort.
    """
    long = counts.max() > LONG and ridge < np.inf
    Q = Quadratic(C, np.inf if long else ridge)
    k, searches, quiet = A.shape[1], 0, 0
    pieces: list[Stretch | None] = [None] * k
    for _ in with_progress(range(ROUNDS), progress, "paths"):
        B, CA, quiet = np.zeros_like(A), C @ A, quiet + 1
        for j, c in enumerate(CA.T):
            old = pieces[j]
            s = None if old is None else stretch(Q, c, old.support, old.signs)
            if s is None or not s.there():
                s, searches, quiet = stretch_with(Q, c, int(counts[j])), searches + 1, 0
            pieces[j] = s
            B[s.support, j] = s.loadings(s.inside())
        A_old, A = A, procrustes(C @ B)
        if quiet == QUIET or searches > 4 * k or np.abs(A - A_old).max() <= 1e-4:
            break
    known = [s for s in pieces if s is not None]
    supports, signs = [s.support for s in known], [s.signs for s in known]
    if searches > 4 * k or long or not all(s.there() for s in known):
        return Choice(A, supports)
    return Choice(A, supports, signs, np.array([s.inside() for s in known]))


def in_turn(
    C: Covariance, A: NDArray, counts: NDArray, procrustes: Procrustes, progress: bool = False
) -> Choice:
    """Take for each component the best that truncated power finds in what the others have left.

    It starts from the columns of A and from the feature with the largest variance, so that
    every direction has variance that the ones before it lack, as long as C has any.
    """
    rest, B = C, np.zeros_like(A)
    for j in with_progress(range(A.shape[1]), progress, "truncated power"):
        variances = rest.diagonal()
        B[:, j] = _best_truncated(rest, A, int(largest(variances, 1)[0]), int(counts[j]))
        if j + 1 < A.shape[1]:
            rest = rest.without(B[:, j])
    return Choice(procrustes(C @ B), [largest(b, int(m)) for b, m in zip(B.T, counts, strict=True)])


def _best_truncated(C: Covariance, A: NDArray, feature: int, count: int) -> NDArray:
    """Run truncated power from several starts side by side, and return the best direction."""
    X = np.column_stack([A, np.zeros(len(A))])
    X[feature, -1] = 1.0
    X = _truncated(X, count)
    for _ in range(30):
        CX = C @ X
        old, X = X, np.where(CX.any(axis=0), _truncated(CX, count), X)
        if np.array_equal(X != 0, old != 0):  # the supports are all that will be used
            break
    values = np.sum(X * (C @ X), axis=0)
    return X[:, largest(np.maximum(values, 0), 1)[0]]


def _truncated(X: NDArray, count: int) -> NDArray:
    out = np.zeros_like(X)
    for x, kept in zip(X.T, out.T, strict=True):
        T = largest(x, count)
        kept[T] = x[T]
    return unit_columns(out)


def _keep_their_penalties(
    C: Covariance, A: NDArray, nets: HeldNets, ridge: float, procrustes: Procrustes
) -> bool:
    """Tell whether at the end each column is still the elastic net of its penalty."""
    run = alternate(C, A, nets, ridge, procrustes, tol=1e-6, max_iter=1000)
    Q, CA = Quadratic(C, ridge), C @ run.A
    ends = [stretch(Q, c, T, s) for c, T, s in zip(CA.T, nets.supports, nets.signs, strict=True)]
    inside = [end.low <= l1 <= end.high for end, l1 in zip(ends, nets.l1, strict=True)]
    return run.converged and all(inside)


def alternate(
    C: Covariance,
    A: NDArray,
    nets: Nets,
    ridge: float,
    procrustes: Procrustes,
    *,
    tol: float,
    max_iter: int,
) -> Alternation:
    """Run the alternation of the nets with Procrustes to its end."""
    run = Alternation(A, nets, procrustes, tol=tol, max_iter=max_iter)
    for A in run:
        B = nets(A)
        run.record(A, B, criterion(C, A, B, nets.l1, ridge), procrustes(C @ B))
    return run


def criterion(C: Covariance, A: NDArray, B: NDArray, l1: NDArray, ridge: float) -> float:
    """Return the criterion of sparse PCA; for ridge = ∞ without the terms that it dwarfs."""
    CB = C @ B
    if ridge == np.inf:
        smooth = np.sum(B**2) - 2 * np.sum(A * CB)
    else:
        smooth = C.trace - 2 * np.sum(A * CB) + np.sum(B * CB) + ridge * np.sum(B**2)
    return float(smooth + np.abs(B).sum(axis=0) @ l1)
