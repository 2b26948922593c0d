"""Kernels as scikit-learn's parameters name them: ours wherever there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checks import number
from .kernel_algebra import Kernel

__all__ = ["Pairwise", "is_precomputed", "kernel_named", "takes_sparse"]


class Pairwise:
    """A kernel of scikit-learn, by name or as a function of two samples, that can be pickled."""

    def __init__(self, metric: Any, params: dict):
        self.metric, self.params = metric, params

    def __call__(self, X: Any, Y: Any) -> NDArray:
        from sklearn.metrics.pairwise import pairwise_kernels

        with np.errstate(all="ignore"):  # a broken power of a negative number: refused as NaN
            return pairwise_kernels(X, Y, metric=self.metric, **self.params)

    @property
    def __name__(self) -> str:
        return self.metric if isinstance(self.metric, str) else "callable"


def is_precomputed(estimator: Any) -> bool:
    """Tell whether the estimator is given Gram matrices and no samples."""
    return isinstance(estimator.kernel, str) and estimator.kernel == "precomputed"


def takes_sparse(estimator: Any) -> bool:
    """Tell whether the kernel, and the choice of landmarks, can do with sparse samples."""
    if is_precomputed(estimator) or getattr(estimator, "landmarks", "") == "kmeans":
        return False
    return isinstance(estimator.kernel, str | Kernel)


def kernel_named(estimator: Any, d: int, makers: dict[str, Callable]) -> Any:
    """Return the kernel that the estimator's parameters name; by ``makers`` if they know it.

    A kernel of this library is taken as it is, a name or a function of two samples as scikit-learn
    takes it: gamma is 1/d unless given, degree 3, coef0 1.
    """
    kernel, params = estimator.kernel, estimator.kernel_params or {}
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return Pairwise(kernel, params)
    if not isinstance(kernel, str):
        raise ValueError(f"kernel={kernel!r}: a name, a kernel or a function is needed.")
    gamma = 1 / d if estimator.gamma is None else number(estimator.gamma, "gamma", 0.0)
    degree = 3 if estimator.degree is None else number(estimator.degree, "degree", 0.0)
    coef0 = 1 if estimator.coef0 is None else number(estimator.coef0, "coef0")
    whole = degree >= 1 and degree == int(degree) and coef0 >= 0  # a power that is a kernel
    if kernel in makers and gamma > 0 and (whole or kernel not in ("poly", "polynomial")):
        return makers[kernel](gamma, degree, coef0)
    named = {"gamma": gamma, "degree": degree, "coef0": coef0}
    return Pairwise(kernel, {**named, **params, "filter_params": True})
