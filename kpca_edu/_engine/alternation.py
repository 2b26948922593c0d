"""Alternate between two blocks, A orthonormal and B its best partner; no round may do worse."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from .checks import ConvergenceWarning, tell
from .elastic_net import Nets
from .progress import with_progress

__all__ = ["Alternation"]


class Alternation:
    """The rounds of an alternation: which A to try next, what was best, and when to stop.

    A round is ``for A in rounds``, then ``rounds.record(A, B, value, turned)``: B is the best
    partner of A, ``value`` the criterion, ``turned`` the best A for B. Plain rounds go on with
    ``turned``. Here steps are lengthened as long as that pays; a lengthened step that raised the
    value is taken back. It ends when ``turned`` differs from A by at most tol in every entry: then
    neither block can be improved, up to tol.
    """

    def __init__(
        self,
        A: NDArray,
        nets: Nets,
        nearest: Callable[[NDArray], NDArray],
        *,
        tol: float,
        max_iter: int,
        progress: bool = False,
        trial: bool = False,
    ):
        """``nearest`` makes columns orthonormal; the nets may refuse a B with a zero column.

        Of a trial nobody is told that the rounds ran out.
        """
        self.A, self.B = A, A  # the best so far
        self.history: list[float] = []  # the value after each round
        self.nets, self.nearest = nets, nearest
        self.tol, self.max_iter, self.progress, self.trial = tol, max_iter, progress, trial
        self.converged = False
        self._next, self._plain, self._longer, self._lengthened = A, A, 0.0, False

    def __iter__(self) -> Iterator[NDArray]:
        title = "trial" if self.trial else "sparse PCA"
        for _ in with_progress(range(self.max_iter + 1), self.progress, title):
            yield self._next
            if self.converged:
                return
        if self.tol > 0 and not self.trial:
            tell(
                f"A, the partner of the sparse directions, moved by more than tol={self.tol:g} "
                f"still after max_iter={self.max_iter} rounds: give a larger max_iter or tol.",
                ConvergenceWarning,
            )

    def record(self, A: NDArray, B: NDArray, value: float, turned: NDArray) -> None:
        """Take note of a round, and choose the next A."""
        best = self.history[-1] if self.history else np.inf
        if self._lengthened and not (value <= best and B.any(axis=0).all()):
            self.history.append(best)  # back to the plain step
            self._next, self._longer, self._lengthened = self._plain, 0.0, False
            return
        self.nets.refuse_zeros(A, B)
        self.A, self.B = A, B
        self.history.append(min(value, best))  # of a plain step: more by rounding only
        self.converged = bool(np.abs(turned - A).max() <= self.tol)
        self._longer = 1.2 * self._longer + 0.1
        step = self._longer * (turned - self._plain) if len(self.history) > 1 else 0.0
        self._lengthened = len(self.history) > 1
        self._next = self.nearest(turned + step) if self._lengthened else turned
        self._plain = turned
