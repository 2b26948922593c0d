"""The leading eigenpairs of a symmetric matrix: by block Lanczos, or by LAPACK where n is small.

Block Lanczos multiplies the matrix with several vectors at a time, which takes little longer than
with two or three, and keeps its whole basis orthonormal. Convergence is judged by the residual.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .centering import center_in_place
from .memory import room_for
from .panels import SymmetricPanels
from .progress import with_progress

__all__ = [
    "Eigenpairs",
    "GramOperator",
    "basis_size",
    "block_lanczos",
    "lanczos_pays",
    "top_eigenpairs",
]

BLOCK = 8  # vectors multiplied at once; a matrix in memory is read once for all of them
FEW = 4  # so many by an operator, which takes its time for each
PROBES = 4  # block steps from a fresh start, to look for copies of an eigenvalue that were missed
SMALL = 500  # up to this size NumPy's eigh, which finds all, beats SciPy's, which finds a few
QUARTER = 4  # beyond that size it still does where more than a quarter is wanted
PATIENCE = 10_000  # block steps where there is no dense matrix to fall back on
ROOM = 2**28  # entries of a matrix, two gigabytes, up to which it is formed as the last resort


class Eigenpairs(NamedTuple):
    """The largest eigenvalues of a symmetric matrix, falling, and what was seen of the smallest."""

    lam: NDArray  # (k,)
    A: NDArray  # (n, k) orthonormal eigenvectors, the columns
    lowest: float  # an upper bound of the smallest eigenvalue: exact if all were computed


class SymmetricOperator(Protocol):
    """A symmetric matrix that need not be there: rows can be multiplied by it."""

    dtype: np.dtype

    def __len__(self) -> int: ...

    def __rmatmul__(self, V: NDArray) -> NDArray: ...

    def whole(self) -> NDArray: ...


Symmetric = NDArray | SymmetricPanels | SymmetricOperator


class GramOperator:
    """AᵀA for anything that has ``shape``, ``dtype``, ``@`` and ``.T``; it is not formed."""

    __array_ufunc__ = None  # so that NumPy leaves V @ K to __rmatmul__

    def __init__(self, A: Any):
        self.A, self.At, self.dtype = A, A.T, np.dtype(A.dtype)

    def __len__(self) -> int:
        return self.A.shape[1]

    def __rmatmul__(self, V: NDArray) -> NDArray:
        return (self.At @ (self.A @ V.T)).T

    def whole(self) -> NDArray:
        """Form AᵀA, 64 columns at a time."""
        n = len(self)
        K = np.empty((n, n), self.dtype)
        for start in range(0, n, 64):
            K[start : start + 64] = np.eye(min(64, n - start), n, start, dtype=self.dtype) @ self
        K += K.T.copy()
        K /= 2
        return K


def lanczos_pays(n: int, k: int) -> bool:
    """Tell whether k of n eigenpairs are so few that LAPACK would be slower."""
    return 14 * (k + BLOCK) <= n


def basis_size(n: int, k: int, block: int = BLOCK) -> int:
    """Return how many columns of length n block Lanczos has in memory to find k eigenpairs."""
    return max(min(n // 5, 4 * k + 45 * BLOCK), k + (PROBES + 1) * block)


def top_eigenpairs(
    K: Symmetric,
    k: int,
    *,
    center: bool = False,
    overwrite: bool = False,
    tol: float = 0.0,
    progress: bool = False,
) -> Eigenpairs:
    """Return the k largest eigenvalues of K, or of JKJ if ``center``, and orthonormal eigenvectors.

    K : (n, n) symmetric: an array, panels, or an operator. All copies of a repeated eigenvalue
    are found. Residuals ‖Ka − λa‖ are at most ``tol`` λ₁, or at the level of rounding if that is
    larger. With ``overwrite=True`` the memory of an array may be used for work.

    Costs a few dozen products with a few vectors where k is much smaller than n, and O(n³)
    otherwise.
    """
    dense = isinstance(K, np.ndarray | SymmetricPanels)
    if lanczos_pays(len(K), k):
        steps = 300 if dense or len(K) ** 2 <= ROOM else PATIENCE
        pairs = block_lanczos(K, k, center=center, max_steps=steps, tol=tol, progress=progress)
        if pairs is not None:
            return pairs
    if not isinstance(K, np.ndarray):
        if not dense and len(K) ** 2 > ROOM:
            raise ValueError(
                f"The {k} largest of {len(K)} eigenvalues could not be told apart by iterating, "
                f"and the matrix is too large to be formed: ask for fewer components."
            )
        K, overwrite = K.whole(), True
    return _dense(K, k, center, overwrite)


def block_lanczos(
    K: Symmetric,
    k: int,
    *,
    center: bool = False,
    max_steps: int = 300,
    tol: float = 0.0,
    progress: bool = False,
) -> Eigenpairs | None:
    """Return the k leading eigenpairs by block Lanczos with thick restarts, or None if it is slow.

    A block of b random vectors shows all copies of an eigenvalue that has no more than b, and b of
    those that have more. So if b of the eigenvalues agree after convergence, a fresh random block
    looks for larger ones beside those that were found, until the best that it can find has settled.
    """
    n, block = len(K), BLOCK if isinstance(K, np.ndarray | SymmetricPanels) else FEW
    size = basis_size(n, k, block)
    room_for(n, size, f"The basis for k={k} eigenvectors", "ask for fewer of them.")
    space = _KrylovSpace(K, size, center, block)
    lowest, confirmed, unchecked = np.inf, None, 0
    for _ in with_progress(range(max_steps), progress, "block Lanczos, at most"):
        space.step()
        unchecked += 1
        wait = PROBES if confirmed is not None else max(1, space.used // (8 * block))
        if unchecked < wait and not space.full:  # a look costs more as the space grows
            continue
        unchecked = 0
        theta, S = space.ritz()
        lowest = min(lowest, theta[-1])
        goal = max(space.noise(theta[0]), tol * abs(theta[0]))
        if len(theta) > k and space.residuals(S[:, :k]).max() <= goal:
            if confirmed is None and not space.crowded(theta[: k + 1]):
                return space.pairs(theta, S, k, lowest)
            if confirmed is None or np.any(theta[:k] > confirmed + goal):
                confirmed = theta[:k]
                space.restart(theta[:k], S[:, :k], fresh=True)
                continue
            if space.residuals(S[:, k : k + 1]).max() <= _settled(theta, k, goal):
                return space.pairs(theta, S, k, lowest)
        if space.full:
            kept = space.cut(theta, k + block)
            space.restart(theta[:kept], S[:, :kept])
    return None


def _settled(theta: NDArray, k: int, goal: float) -> float:
    """Return the residual of the best one left out that tells it from those that were found."""
    gap = theta[k - 1] - theta[k]
    return max(gap, 1e-6 * abs(theta[0]), goal)


class _KrylovSpace:
    """An orthonormal basis Q, T = QᵀKQ, and the next block W: KQ = QT + WR in the last columns.

    K is taken in a unit of its own, a power of two, unless its size is near one.

    To centre is to keep 1/√n as the first vector of Q: all others are orthogonal to it.
    """

    def __init__(self, K: Symmetric, size: int, center: bool, block: int = BLOCK):
        n = len(K)
        self.K, self.size, self.first, self.block = K, size, int(center), block
        self.rng = np.random.default_rng(0)
        self.Q = np.empty((n, self.first + size), K.dtype, order="F")
        self.T = np.zeros((size, size), K.dtype)
        self.Q[:, : self.first] = u = np.full((n, 1), 1 / np.sqrt(n), K.dtype)
        self.unit = 0.0  # not known before the first product that is not zero
        self.size_of_K = abs(float((self._product(u).T @ u)[0, 0])) if center else 0.0
        self.used = 0
        self.W, self.R = self._orthonormal(self._random_block())[:2]

    @property
    def full(self) -> bool:
        return self.used + self.block > self.size

    def step(self) -> None:
        """Take the next block into the basis, and multiply it by K for the one after."""
        old, new = self.used, self.used + self.block
        self.Q[:, self.first + old : self.first + new] = self.W
        self.used = new
        self.W, self.R, self.T[:new, old:new] = self._orthonormal(self._product(self.W))

    def _product(self, W: NDArray) -> NDArray:
        """Return KW in the unit of the first one, so that no square over- or underflows."""
        KW = (W.T @ self.K).T
        size = 0.0 if self.unit else float(np.abs(KW).max())
        if 0 < size < np.inf:
            limits = np.finfo(KW.dtype)
            near_one = float(limits.tiny) ** 0.25 < size < float(limits.max) ** 0.25
            self.unit = 1.0 if near_one else float(np.ldexp(1.0, int(np.frexp(size)[1]) - 1))
        return KW if self.unit in (0, 1) else KW / self.unit

    def ritz(self) -> tuple[NDArray, NDArray]:
        """Return the eigenvalues of T, falling, in its unit, and its eigenvectors."""
        T = self.T[: self.used, : self.used]
        theta, S = np.linalg.eigh(T, UPLO="U")
        return theta[::-1], S[:, ::-1]

    def residuals(self, S: NDArray) -> NDArray:
        """Return ‖Kv − θv‖ of the Ritz vectors v = QS."""
        return np.linalg.norm(self.R @ S[-self.block :], axis=0)

    def noise(self, theta: float) -> float:
        """Return the residual that rounding leaves anyway."""
        return 64 * float(np.finfo(self.K.dtype).eps) * max(abs(float(theta)), self.size_of_K)

    def cut(self, theta: NDArray, kept: int) -> int:
        """Return how many to keep: not some copies of an eigenvalue without the others."""
        close = np.sqrt(np.finfo(self.K.dtype).eps) * abs(theta[0])
        while kept < self.size - 2 * self.block and theta[kept - 1] - theta[kept] <= close:
            kept += 1
        return kept

    def crowded(self, theta: NDArray) -> bool:
        """Tell whether an eigenvalue shows as many copies as the block can: there may be more."""
        close = np.sqrt(np.finfo(self.K.dtype).eps) * abs(theta[0])
        return bool(np.any(theta[: 1 - self.block] - theta[self.block - 1 :] <= close))

    def pairs(self, theta: NDArray, S: NDArray, k: int, lowest: float) -> Eigenpairs:
        """Return the k leading ones of T as eigenpairs of K, in its own unit."""
        return Eigenpairs(theta[:k] * self.unit, self.vectors(S[:, :k]), float(lowest) * self.unit)

    def vectors(self, S: NDArray) -> NDArray:
        return self.Q[:, self.first : self.first + self.used] @ S

    def restart(self, theta: NDArray, S: NDArray, fresh: bool = False) -> None:
        """Keep the Ritz vectors QS alone, and go on from W or from a fresh random block."""
        kept = len(theta)
        self.Q[:, self.first : self.first + kept] = self.vectors(S)
        self.T[:kept, :kept] = np.diag(theta)  # what is beyond is written before it is read
        self.used = kept
        if fresh:
            self.W = self._orthonormal(self._random_block())[0]

    def _random_block(self) -> NDArray:
        block = self.rng.standard_normal((len(self.K), self.block))
        return block.astype(self.K.dtype, copy=False)

    def _orthonormal(self, W: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Write W = QC + W′R with W′ orthonormal and orthogonal to Q; return W′, R and C.

        The second pass removes what rounding left of Q in columns that the first made small.
        """
        Q = self.Q[:, : self.first + self.used]
        C = Q.T @ W
        W, R = np.linalg.qr(W - Q @ C)
        lost = np.abs(R.diagonal()) <= self.noise(np.abs(C).max(initial=0))
        if lost.any():  # the space is closed there: go on elsewhere
            W[:, lost] = self._random_block()[:, lost]
            R[lost] = 0
        W, again = np.linalg.qr(W - Q @ (Q.T @ W))
        return W, again @ R, C[self.first :]


def _dense(K: NDArray, k: int, center: bool, overwrite: bool) -> Eigenpairs:
    """Return the k leading eigenpairs by LAPACK, which computes all if n is small or k is not."""
    n = len(K)
    lowest = None
    if n > SMALL and QUARTER * k < n:
        space = _KrylovSpace(K, (PROBES + 1) * BLOCK, center)
        for _ in range(PROBES):
            space.step()
        lowest = float(space.ritz()[0][-1]) * space.unit
    K = K if overwrite else K.copy()
    if center:
        center_in_place(K)
    if lowest is None:
        lam, A = np.linalg.eigh(K)
        lowest = float(lam[0])
    else:
        lam, A = linalg.eigh(
            K.T, subset_by_index=[n - k, n - 1], overwrite_a=True, check_finite=False
        )
    return Eigenpairs(lam[::-1][:k], A[:, ::-1][:, :k], lowest)
