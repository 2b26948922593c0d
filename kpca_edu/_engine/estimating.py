"""What the estimators share with scikit-learn: parameters, checks, tags, random states."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils import check_array, check_random_state
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise ImportError(
        "The estimators need scikit-learn 1.6 or newer: pip install 'kpca_edu[sklearn]' brings it."
    ) from None

from .checks import linear_map, whole_number
from .gaussian import centred_svd
from .pca_solvers import largest_modulus
from .sums import sum_of_squares

__all__ = [
    "Transformer",
    "as_rng",
    "available_if",
    "components_of",
    "count_of",
    "largest_that_leaves_noise",
    "no_more_than",
    "scale_of",
    "store",
    "with_columns",
]


class Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the estimators: parameters, clones, names of what comes out, pandas output.

    What a class takes stands in ``_traits`` alone. The checks of the input and the tags that
    scikit-learn reads are both made from it.
    """

    model_: Any
    n_components_: int
    _dtypes: tuple[str, ...] = ("float64", "float32")  # kept by transform

    def _traits(self) -> dict[str, bool]:
        """Return what the input may be: sparse, allow_nan, pairwise."""
        return {}

    @property
    def _model(self) -> Any:
        """What the function of the library returned; scikit-learn's own error before fit."""
        check_is_fitted(self, "model_")
        return self.model_

    def _samples(self, X: Any, *, fit: bool = False, least: int = 1, features: int = 1) -> Any:
        """Return X as floats, checked as scikit-learn checks it, and once fitted as it was."""
        if not fit:
            check_is_fitted(self, "model_")
        traits = self._traits()
        return validate_data(
            self,
            X,
            reset=fit,
            accept_sparse=("csr", "csc") if traits.get("sparse") else False,
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan" if traits.get("allow_nan") else True,
            ensure_min_samples=least,
            ensure_min_features=features,
        )

    def _scores(self, Z: Any) -> NDArray:
        """Return scores as floats, a column for each component that was fitted."""
        check_is_fitted(self, "model_")
        Z = check_array(Z, dtype=(np.float64, np.float32))
        if Z.shape[1] != self.n_components_:
            raise ValueError(
                f"X has {Z.shape[1]} columns and the model {self.n_components_} components: "
                f"scores are needed, as transform returns them."
            )
        return Z

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for name, value in self._traits().items():
            setattr(tags.input_tags, name, value)
        tags.transformer_tags.preserves_dtype = list(self._dtypes)
        return tags


def store(given: dict[str, Any]) -> None:
    """Keep parameters as attributes of their own names; called as ``store(locals())``."""
    estimator = given["self"]
    for name in type(estimator)._get_param_names():
        setattr(estimator, name, given[name])


def as_rng(random_state: Any) -> np.random.Generator:
    """Return a generator from a seed, from None (the global state) or from a RandomState."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))


def components_of(value: Any, most: int) -> float:
    """Return a number of components, a share between 0 and 1, or all for None."""
    if value is None:
        return most
    if isinstance(value, str):
        hint = " Pass what choose_k_by_bic(X) returns." if value == "mle" else ""
        raise ValueError(f"n_components={value!r}: a number or a share is needed.{hint}")
    if isinstance(value, Real) and not isinstance(value, Integral):
        if 0 < float(value) < 1:
            return float(value)
        raise ValueError(
            f"n_components={value!r}: a whole number of components, a share of the variance "
            f"between 0 and 1, or None for all is needed."
        )
    return no_more_than(value, most)


def no_more_than(value: Any, most: int) -> int:
    """Return a whole number from 1 to ``most``."""
    count = count_of(value)
    if count > most:
        raise ValueError(
            f"n_components={count}: at most {most} exist for these samples and features."
        )
    return count


def count_of(value: Any) -> int:
    """Return a number of components as an int, at least one."""
    return whole_number(value, "n_components", least=1)


def largest_that_leaves_noise(X: NDArray) -> int:
    """Return the largest number of components below the rank of the centred rows, at least 1."""
    rank = centred_svd(X)[1].size  # as fit_ppca counts it
    return max(1, min(X.shape[0] - 1, X.shape[1], rank) - 1)


def scale_of(X: Any) -> float:
    """Return scikit-learn's "scale": one over the features times the variance of all entries."""
    X = linear_map(X)
    n, d = X.shape
    unit = largest_modulus(X) or 1.0  # so that no square over- or underflows
    X = X.astype(float) / unit
    variance = sum_of_squares(X, np.full(d, X.mean())) / (n * d)
    gamma = 1 / (d * variance) / unit / unit if variance > 0 else 1 / d
    if not 0 < gamma < np.inf:
        raise ValueError(
            'gamma="scale": the variance of X is out of the range of floats. Divide X by its '
            "largest entry first."
        )
    return gamma


def with_columns(A: NDArray, count: int) -> NDArray:
    """Return A, an array or its last axis, with zeros behind it up to that many columns."""
    missing = [(0, 0)] * (A.ndim - 1) + [(0, count - A.shape[-1])]
    return np.pad(A, missing) if count > A.shape[-1] else A
