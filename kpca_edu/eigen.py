"""The leading eigenpairs of a symmetric matrix: by block Lanczos, or densely where that is quicker.

Block Lanczos multiplies the matrix with a dozen vectors at a time, which takes little longer than
with two or three, and keeps its whole basis orthonormal. Convergence is judged by the residual.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

__all__ = ["Eigenpairs", "top_eigenpairs", "block_lanczos", "lanczos_pays", "SymmetricPanels"]

BLOCK = 12  # vectors multiplied at once
PROBES = 4  # block steps from a fresh start, to look for copies of an eigenvalue that were missed


class Eigenpairs(NamedTuple):
    """The largest eigenvalues of a symmetric matrix, falling, and what was seen of the smallest."""

    lam: NDArray  # (k,)
    A: NDArray  # (n, k) orthonormal eigenvectors, the columns
    lowest: float  # an upper bound of the smallest eigenvalue: exact if all were computed


class SymmetricPanels:
    """The lower triangle of a symmetric matrix in panels of rows: half the memory of all of it.

    A panel holds its rows up to the diagonal and ends in a symmetric square.
    """

    __array_ufunc__ = None  # so that NumPy leaves V @ K to __rmatmul__

    def __init__(self, panels: Iterable[NDArray]):
        self.panels = list(panels)
        self.dtype = self.panels[0].dtype

    def __len__(self) -> int:
        return self.panels[-1].shape[1]

    def __rmatmul__(self, V: NDArray) -> NDArray:
        """Return V @ K, V : (m, n), every entry read once."""
        VK = np.zeros_like(V)
        for panel in self.panels:
            start, stop = _rows(panel)
            VK[:, start:stop] += V[:, :stop] @ panel.T
            VK[:, :start] += V[:, start:stop] @ panel[:, :start]
        return VK

    def diagonal(self) -> NDArray:
        return np.concatenate([panel.diagonal(_rows(panel)[0]) for panel in self.panels])

    def row_means(self) -> NDArray:
        """Return the mean of each row, summed in doubles."""
        sums = np.zeros(len(self))
        for panel in self.panels:
            start, stop = _rows(panel)
            sums[start:stop] += panel.sum(axis=1, dtype=float)
            sums[:start] += panel[:, :start].sum(axis=0, dtype=float)
        return sums / len(self)

    def max(self) -> float:
        return max(float(panel.max()) for panel in self.panels)

    def min(self) -> float:
        return min(float(panel.min()) for panel in self.panels)

    def whole(self) -> NDArray:
        """Return the whole matrix as an array."""
        return mirrored(self.panels, np.empty((len(self), len(self)), self.dtype))


def mirrored(panels: Iterable[NDArray], K: NDArray) -> NDArray:
    """Write the panels of a symmetric matrix and their mirror images into K, and return it."""
    for panel in panels:
        start, stop = _rows(panel)
        K[start:stop, :stop] = panel
        K[:start, start:stop] = panel[:, :start].T
    return K


def _rows(panel: NDArray) -> tuple[int, int]:
    """Return the first row of a panel and the one after its last."""
    return panel.shape[1] - panel.shape[0], panel.shape[1]


def lanczos_pays(n: int, k: int) -> bool:
    """Tell whether k of n eigenpairs are so few that LAPACK would be slower."""
    return 20 * (k + BLOCK) <= n


def top_eigenpairs(
    K: NDArray | SymmetricPanels,
    k: int,
    center: bool = True,
    overwrite: bool = False,
) -> Eigenpairs:
    """Return the k largest eigenvalues of JKJ and their eigenvectors.

    They solve :eq:`eq-kpca-dual`. K : (n, n) symmetric, taken as it is if not
    centred. With ``overwrite=True`` its memory may be used for work.
    """
    pairs = block_lanczos(K, k, center) if lanczos_pays(len(K), k) else None
    if pairs is not None:
        return pairs
    if isinstance(K, SymmetricPanels):
        K, overwrite = K.whole(), True
    return _dense(K, k, center, overwrite)


def block_lanczos(
    K: NDArray | SymmetricPanels, k: int, center: bool = True, max_steps: int = 300
) -> Eigenpairs | None:
    """Return the k leading eigenpairs by block Lanczos with thick restarts, or None if it is slow.

    An eigenvalue with more copies than vectors in a block shows only some of them. So after
    convergence a fresh random block looks for larger eigenvalues beside those that were found.
    """
    space = _KrylovSpace(K, max(len(K) // 10, k + (PROBES + 1) * BLOCK), center)
    lowest, confirmed, unchecked = np.inf, None, 0
    for _ in range(max_steps):
        space.step()
        unchecked += 1
        if unchecked < (2 if confirmed is None else PROBES) and not space.full:
            continue
        unchecked = 0
        theta, S = space.ritz()
        lowest = min(lowest, theta[-1])
        if len(theta) > k and space.residual(S[:, :k]) <= space.noise(theta[0]):
            if confirmed is not None and np.all(theta[:k] <= confirmed + space.noise(theta[0])):
                return Eigenpairs(theta[:k], space.vectors(S[:, :k]), float(lowest))
            confirmed = theta[:k]
            space.restart(theta[:k], S[:, :k], fresh=True)
        elif space.full:
            kept = space.cut(theta, k + BLOCK)
            space.restart(theta[:kept], S[:, :kept])
    return None


class _KrylovSpace:
    """An orthonormal basis Q, T = QᵀKQ, and the next block W: KQ = QT + WR in the last columns.

    To centre is to keep 1/√n as the first vector of Q: all others are orthogonal to it.
    """

    def __init__(self, K: NDArray | SymmetricPanels, size: int, center: bool):
        n = len(K)
        self.K, self.size, self.first = K, size, int(center)
        self.rng = np.random.default_rng(0)
        self.Q = np.empty((n, self.first + size), K.dtype, order="F")
        self.T = np.zeros((size, size), K.dtype)
        self.Q[:, : self.first] = u = np.full((n, 1), 1 / np.sqrt(n), K.dtype)
        self.size_of_K = abs(float(((u.T @ K) @ u)[0, 0])) if center else 0.0
        self.used = 0
        self.W, self.R = self._orthonormal(self._random_block())[:2]

    @property
    def full(self) -> bool:
        return self.used + BLOCK > self.size

    def step(self) -> None:
        """Take the next block into the basis, and multiply it by K for the one after."""
        old, new = self.used, self.used + BLOCK
        self.Q[:, self.first + old : self.first + new] = self.W
        self.used = new
        self.W, self.R, self.T[:new, old:new] = self._orthonormal((self.W.T @ self.K).T)

    def ritz(self) -> tuple[NDArray, NDArray]:
        """Return the eigenvalues of T, falling, and its eigenvectors."""
        T = self.T[: self.used, : self.used]
        theta, S = linalg.eigh(T, lower=False, check_finite=False)
        return theta[::-1], S[:, ::-1]

    def residual(self, S: NDArray) -> float:
        """Return the largest ‖Kv − θv‖ of the Ritz vectors v = QS."""
        return float(linalg.norm(self.R @ S[-BLOCK:], axis=0).max())

    def noise(self, theta: float) -> float:
        """Return the residual that rounding leaves anyway."""
        return 64 * np.finfo(self.K.dtype).eps * max(abs(theta), self.size_of_K)

    def cut(self, theta: NDArray, kept: int) -> int:
        """Return how many to keep: not some copies of an eigenvalue without the others."""
        close = np.sqrt(np.finfo(self.K.dtype).eps) * abs(theta[0])
        while kept < self.size - 2 * BLOCK and theta[kept - 1] - theta[kept] <= close:
            kept += 1
        return kept

    def vectors(self, S: NDArray) -> NDArray:
        return self.Q[:, self.first : self.first + self.used] @ S

    def restart(self, theta: NDArray, S: NDArray, fresh: bool = False) -> None:
        """Keep the Ritz vectors QS alone, and go on from W or from a fresh random block."""
        kept = len(theta)
        self.Q[:, self.first : self.first + kept] = self.vectors(S)
        self.T[:] = 0
        self.T[:kept, :kept] = np.diag(theta)
        self.used = kept
        if fresh:
            self.W = self._orthonormal(self._random_block())[0]

    def _random_block(self) -> NDArray:
        block = self.rng.standard_normal((len(self.K), BLOCK))
        return block.astype(self.K.dtype, copy=False)

    def _orthonormal(self, W: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Write W = QC + W′R with W′ orthonormal and orthogonal to Q; return W′, R and C.

        The second pass removes what rounding left of Q in columns that the first made small.
        """
        Q = self.Q[:, : self.first + self.used]
        C = Q.T @ W
        W, R = _qr(W - Q @ C)
        lost = np.abs(R.diagonal()) <= self.noise(np.abs(C).max(initial=0))
        W[:, lost] = self._random_block()[:, lost]  # the space is closed there: go on elsewhere
        R[lost] = 0
        W, again = _qr(W - Q @ (Q.T @ W))
        return W, again @ R, C[self.first :]


def _dense(K: NDArray, k: int, center: bool, overwrite: bool) -> Eigenpairs:
    """Return the k leading eigenpairs by LAPACK; of a small matrix it computes all."""
    n = len(K)
    lowest = None
    if n > 300:  # all eigenpairs would take twice as long as a few
        space = _KrylovSpace(K, (PROBES + 1) * BLOCK, center)
        for _ in range(PROBES):
            space.step()
        lowest = space.ritz()[0][-1]
    K = K if overwrite else K.copy()
    if center:
        row_means = K.mean(axis=1, dtype=float)
        q = (row_means - row_means.mean() / 2).astype(K.dtype, copy=False)
        K -= q  # JKJ = K − 1qᵀ − q1ᵀ, in place
        K -= q[:, None]
    first = 0 if lowest is None else n - k
    lam, A = linalg.eigh(K.T, subset_by_index=[first, n - 1], overwrite_a=True, check_finite=False)
    lowest = lam[0] if lowest is None else lowest
    return Eigenpairs(lam[::-1][:k], A[:, ::-1][:, :k], float(lowest))


def _qr(W: NDArray) -> tuple[NDArray, NDArray]:
    return linalg.qr(W, mode="economic", overwrite_a=True, check_finite=False)
