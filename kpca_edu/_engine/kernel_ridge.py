"""Kernel ridge regression from scores to inputs: its data, its candidates and their choice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import data_matrix, real_array, symmetric_map
from .kernel_algebra import Kernel
from .way_back import numeric_samples

__all__ = [
    "chosen_pair",
    "fewer_columns",
    "given_regression",
    "kernel_list",
    "positive_ridges",
    "regression_data",
    "scores_and_inputs",
]


def scores_and_inputs(model: Any, noisy: ArrayLike | None) -> tuple[NDArray, NDArray]:
    """Return scores (n, k) and the inputs (n, d) to be learned from them, as doubles.

    The scores are those of the training samples, or of dirty copies of them, if there are any.
    """
    X, scores = numeric_samples(model, 'method="ridge"'), model.scores
    if noisy is not None:
        scores = model.encode(noisy)
        if len(scores) != len(X):
            raise ValueError(
                f"noisy has {len(scores)} rows and the model {len(X)} training samples: "
                f"a dirty copy of each is needed, in the same order."
            )
    return scores.astype(float), X


def kernel_list(kernel: Kernel | Sequence[Kernel]) -> list[Kernel]:
    """Return the kernels on scores that were given, as a list."""
    given: Sequence[Any] = kernel if isinstance(kernel, list | tuple) else [kernel]
    kernels = [each for each in given if isinstance(each, Kernel)]
    if not kernels or len(kernels) < len(given):
        raise ValueError(
            f"kernel={kernel!r}: a kernel on scores is needed, such as rbf(1.0) from "
            f"kpca_edu.kernels, or a list of some to choose from."
        )
    return kernels


def positive_ridges(ridge: ArrayLike, felt_by: NDArray | None = None) -> NDArray:
    """Return penalties as an array of positive numbers, large enough that a matrix feels them."""
    ridges = np.atleast_1d(real_array(ridge, "ridge")).astype(float)
    if ridges.ndim != 1 or not len(ridges) or not np.all((ridges > 0) & np.isfinite(ridges)):
        raise ValueError(f"ridge={ridge!r}: positive numbers are needed, such as 1e-4.")
    if felt_by is not None:
        n, size = len(felt_by), float(np.abs(felt_by.diagonal()).max())
        if (least := float(ridges.min())) < n * np.finfo(float).eps * size:
            raise ValueError(
                f"ridge={least:g} is lost in the rounding of the {n}×{n} matrix that it should "
                f"make invertible: take a larger one, such as {1e-8 * size:.2g}."
            )
    return ridges


def given_regression(regression: Any, kind: type, options: Iterable[str]) -> Any:
    """Return a regression that was learned before; options for learning one make no sense then."""
    if not isinstance(regression, kind):
        raise ValueError(
            f"regression is {type(regression).__name__}: one is needed that "
            f"fit_score_regression(model) has returned."
        )
    if names := ", ".join(options):
        raise ValueError(
            f"regression is given, and so is {names}, which is for learning one: "
            f"pass it to fit_score_regression."
        )
    return regression


def regression_data(
    L: ArrayLike, Y: ArrayLike, ridges: ArrayLike
) -> tuple[NDArray, NDArray, NDArray]:
    """Return a Gram matrix (n, n), values (n, d) and penalties (r,) that belong together."""
    gram, values = data_matrix(L, "L"), data_matrix(Y, "Y")
    symmetric_map(gram, "L")
    if len(gram) != len(values):
        raise ValueError(
            f"L is {len(gram)}×{len(gram)} and Y has {len(values)} rows: as many are needed."
        )
    if np.abs(values).max() > 1e-3 * np.sqrt(np.finfo(values.dtype).max):
        raise ValueError("The squares of Y overflow: divide Y by a number first.")
    return gram, values, positive_ridges(ridges)


def fewer_columns(Y: NDArray) -> NDArray:
    """Return values (n, d) with at most n columns, for which all linear smoothers err as for Y.

    If d > n, it is √(n/d)·Rᵀ of Yᵀ = QR: AY and √(n/d)·ARᵀ have the same mean square for every A.
    """
    n, d = Y.shape
    if d <= n:
        return Y
    R = np.asarray(np.linalg.qr(Y.T, mode="r"))
    return np.sqrt(n / d) * R.T


def chosen_pair(errors: NDArray, ridges: NDArray) -> tuple[int, int]:
    """Return the place of the least error; of equals, up to rounding, that of the largest ridge.

    errors : (kernels, ridges). Where the penalty hardly matters, rounding must not choose it.
    """
    close = errors <= errors.min() * (1 + 1e-6)
    i = int(np.argmax(close.any(axis=1)))
    return i, int(np.argmax(np.where(close[i], ridges, 0)))
