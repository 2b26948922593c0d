"""The two searches for pre-images, uphill and downhill: starts, goals, blocks of rows, reports."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import ConvergenceWarning, check_scores, tell, tolerance, whole_number
from .descent import minimize_rows
from .kernel_algebra import RadialKernel
from .searches import Ends, best_ends, in_blocks, nearest_columns
from .uphill import climb_rows
from .way_back import (
    spread_and_size,
    start_points,
    vectors_and_kernel,
    vectors_and_profile,
)

__all__ = ["Search"]

Look = Callable[[NDArray, NDArray], tuple[NDArray, NDArray]]


class Search:
    """For each row of scores Z : (m, k) a point is looked for, from X0 and from samples near φ̂.

    ``model`` has the fields and methods of kernel PCA. distances2(model, Z) : (m, n) tells how
    near its samples are to φ̂, distance(model, T, Z) : (m,) how near points are, and
    step(model, T, gamma).guarded, for radial kernels, where an iteration would go from T. ``tol``,
    ``max_iter`` and ``progress`` are what the user asked for.

    A search costs what its looks at all samples cost, (m, n) kernel values each, for the rows that
    are still on their way. At most a million of these values are in memory.
    """

    def __init__(
        self,
        model: Any,
        method: str,
        distances2: Callable[[Any, NDArray], NDArray],
        distance: Callable[[Any, NDArray, NDArray], NDArray],
        step: Callable[[Any, NDArray, NDArray], Any],
        Z: ArrayLike,
        X0: ArrayLike | None,
        tol: float,
        max_iter: int,
        progress: bool,
    ):
        needed = vectors_and_profile if method == "fixed-point" else vectors_and_kernel
        self.X, self.kernel = needed(model, f'method="{method}"')
        self.model, self.step = model, step
        self.distances2, self.distance = distances2, distance
        self.Z = check_scores(Z, model.k)
        self.X0 = start_points(model, X0, len(self.Z))
        self.tol, self.max_iter = tolerance(tol), whole_number(max_iter, "max_iter")
        self.progress = progress
        self.spread, self.size = spread_and_size(self.X, self.kernel)

    def uphill(self, look: Look, restarts: int) -> tuple[NDArray, ...]:
        """Climb h from the first start, and from up to ``restarts`` more where that fails.

        look(T, gamma) gives h and steps that point uphill. Steps count as none from tol × spread
        down. Returns points, distances to φ̂, which rows have converged, and their steps.
        """

        def run(T: NDArray, gamma: NDArray) -> Ends:
            slack = 16 * np.finfo(T.dtype).eps * self._weight(gamma)
            small = self._goal(100) * self.spread
            ends = climb_rows(look, T, gamma, small=small, slack=slack, max_iter=self.max_iter)
            value = self.kernel.diagonal(ends.T) + 2 * ends.value  # ω = κ(t, t) − 2h
            return ends._replace(value=value)

        samples = whole_number(restarts, "restarts") + (self.X0 is None)
        return self._report(self._best(run, samples, only_failed=True))

    def downhill(self, starts: int) -> tuple[NDArray, ...]:
        """Descend on ω from X0 and from the ``starts`` nearest samples, and keep the best.

        A gradient counts as none from tol × size of κ(x, x) × Σ|γᵢ| / spread down. Far from all
        samples a radial kernel has no slope either, and that is no valley: the steps from an end
        must be small as well. Returns what :meth:`uphill` returns.
        """
        if whole_number(starts, "starts") == 0 and self.X0 is None:
            raise ValueError("starts=0 and no X0: there is nowhere to start from.")

        def run(T: NDArray, gamma: NDArray) -> Ends:
            flat = self._goal(1000) * np.maximum(self._weight(gamma), self.size) / self.spread
            ends = minimize_rows(
                self.objective_and_gradient,
                T,
                gamma,
                length=self.spread,
                flat=flat,
                max_iter=self.max_iter,
            )
            if not isinstance(self.kernel, RadialKernel):
                return ends
            left = np.linalg.norm(self.step(self.model, ends.T, gamma).guarded, axis=1)
            return ends._replace(converged=ends.converged & (left <= 0.01 * self.spread))

        return self._report(self._best(run, starts, only_failed=False))

    def objective_and_gradient(self, T: NDArray, gamma: NDArray) -> tuple[NDArray, NDArray]:
        """Return ω(t) = κ(t, t) − 2Σγᵢκ(t, xᵢ) and ∇ω(t), by one comparison with the samples."""
        kernel = self.kernel
        with np.errstate(all="ignore"):  # a trial step too far overflows, and is halved
            h, slope = kernel._sums_and_gradient(T, self.X, gamma)
            return kernel._diagonal(T) - 2 * h, kernel._diagonal_gradient(T) - 2 * slope

    def _goal(self, roundings: float) -> float:
        """Return tol, or so many roundings if that is larger."""
        return max(self.tol, roundings * float(np.finfo(self.X.dtype).eps))

    def _weight(self, gamma: NDArray) -> NDArray:
        """Return how large a sum of γᵢκ(t, xᵢ) can be, for each row."""
        return np.abs(gamma).sum(axis=1) * self.size

    def _best(
        self, run: Callable[[NDArray, NDArray], Ends], samples: int, only_failed: bool
    ) -> Ends:
        """Run from X0 and from so many samples, nearest first, in blocks of rows."""
        model, X = self.model, self.X

        def solve(block: slice) -> Ends:
            Z, gamma = self.Z[block], model.weights(self.Z[block])

            def at_sample(place: int, rows: NDArray) -> NDArray:
                return X[nearest_columns(self.distances2(model, Z[rows]), place + 1)[:, place]]

            def from_there(T: NDArray, rows: NDArray) -> Ends:
                own = gamma if len(rows) == len(gamma) else gamma[rows]
                return run(T.astype(gamma.dtype, copy=False), own)

            starts: list[Callable[[NDArray], NDArray]] = []
            if self.X0 is not None:
                starts.append(self.X0[block].__getitem__)
            starts += [partial(at_sample, place) for place in range(min(samples, len(X)))]
            return best_ends(from_there, starts, len(Z), only_failed)

        return Ends(*in_blocks(solve, len(self.Z), model.n, self.progress))

    def _report(self, ends: Ends) -> tuple[NDArray, ...]:
        """Tell how near the ends are, and warn of rows that failed.

        The values met on the way would tell it, too, but where a kernel has a tip, as the Laplacian
        one, with half of the digits only.
        """
        failed = int(np.sum(~ends.converged))
        if failed and self.tol > 0:
            tell(
                f"{failed} of {len(self.Z)} rows have not converged in max_iter={self.max_iter} "
                f"steps a start, or had no direction to go: X has the best points that were met, "
                f"and .converged tells which. Try a larger max_iter or tol, or a start X0 nearer "
                f"to the samples.",
                ConvergenceWarning,
            )
        return ends.T, self.distance(self.model, ends.T, self.Z), ends.converged, ends.n_iter
