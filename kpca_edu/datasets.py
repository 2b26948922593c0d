"""Data for the chapters: pictures and tables that come inside packages, or are made from a seed."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

__all__ = ["pagoda_picture", "tobamovirus", "matrix_with_singular_values"]


def pagoda_picture() -> NDArray:
    """Return a grey photograph of a pagoda, 427×640, from 0 (black) to 1 (white).

    It is ``china.jpg``, which comes inside scikit-learn (extra ``kpca_edu[sklearn]``).
    """
    try:
        from sklearn.datasets import load_sample_image
    except ImportError:
        raise ImportError(
            "The picture comes with scikit-learn: pip install 'kpca_edu[sklearn]' brings it."
        ) from None
    red_green_blue = load_sample_image("china.jpg") / 255.0
    return red_green_blue @ np.array([0.299, 0.587, 0.114])  # brightness as the eye weighs it


def tobamovirus() -> NDArray:
    """Return 38 viruses × 18 counts of amino acids in the coat protein, as floats.

    Compiled by C. Fauquet and others (1988); used by B. D. Ripley (1996), and by M. E. Tipping and
    C. M. Bishop (1999) for probabilistic PCA with missing values.
    """
    with (files("kpca_edu") / "data" / "tobamovirus.csv").open(encoding="utf8") as lines:
        return np.loadtxt(lines, delimiter=",")


def matrix_with_singular_values(
    s: NDArray, n: int, d: int, rng: int | np.random.Generator = 0
) -> NDArray:
    """Return an n×d matrix with the singular values s and random singular vectors.

    >>> A = matrix_with_singular_values([3.0, 1.0], 5, 4)
    >>> np.linalg.svd(A, compute_uv=False).round(6)[:2]
    array([3., 1.])
    """
    s = np.asarray(s, float)
    rng = np.random.default_rng(rng)
    U, _ = np.linalg.qr(rng.standard_normal((n, s.size)))
    V, _ = np.linalg.qr(rng.standard_normal((d, s.size)))
    return (U * s) @ V.T
