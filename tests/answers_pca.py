"""Answers to the exercises of chapter 3: right ones in every form, and wrong ones."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import scipy.linalg
from answers import FAILS, FUNCTION_NEEDED, NAN
from numpy.linalg import svd  # imported by name, as readers do
from scipy import sparse

from kpca_edu.pca import centered_operator, dual_coefficients, fit_pca

FIRST = np.array([1.0, 2.0]) / np.sqrt(5)
SAMPLES = np.array([[6.0, 5.0], [2.0, -3.0], [6.0, 0.0], [2.0, 2.0]])


def wide(X, k, center=True, unit=True, order=-1):
    """PCA by the Gram matrix, with the mistakes that people make."""
    Xc = X - X.mean(axis=0) if center else X
    lam, a = np.linalg.eigh(Xc @ Xc.T)
    lam, a = (lam[::-1], a[:, ::-1]) if order < 0 else (lam[1:], a[:, 1:])
    scale = np.sqrt(lam[:k]) if unit else 1
    return Xc.T @ (a[:, :k] / scale)


def by_dual(X, k):
    Xc = X - X.mean(axis=0)
    return Xc.T @ dual_coefficients(Xc @ Xc.T, k)[0]


def by_scipy(X, k):
    Xc = X - X.mean(axis=0)
    n = len(X)
    lam, a = scipy.linalg.eigh(Xc @ Xc.T, subset_by_index=[n - k, n - 1])
    return -(Xc.T @ a / np.sqrt(lam))[:, ::-1]


def by_lengths(X, k):
    Xc = X - X.mean(axis=0)
    J = np.eye(len(X)) - 1 / len(X)
    _, a = np.linalg.eigh(J @ X @ X.T @ J)
    V = Xc.T @ a[:, : -k - 1 : -1]
    return V / np.linalg.norm(V, axis=0)


def by_svd(X, k):
    return -np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:k].T


def by_covariance(X, k):
    return np.linalg.eigh(np.cov(X.T))[1][:, : -k - 1 : -1]


def scatter_times(X, v, of_raw=False):
    mean = np.asarray(X.sum(axis=0)).ravel() / X.shape[0]
    y = X @ v - mean @ v
    return X.T @ y - mean * (X @ v if of_raw else y).sum()


def by_operator(X, v):
    A = centered_operator(X)
    return A.T @ (A @ v)


def by_rows(X, v):
    mean = X.T @ np.ones(X.shape[0]) / X.shape[0]
    total = 0
    for i in range(X.shape[0]):
        row = X[[i]].toarray().ravel() - mean
        total = total + row * (row @ v)
    return total


def by_rows_twice(X, v):
    """Look at each row twice, and at the mean each time."""
    return sum(
        X[[i]].toarray().ravel() * ((X[[i]] @ v)[0] - X.mean(axis=0) @ v) for i in range(X.shape[0])
    )


def by_columns(X, v):
    X = X.tocsc()
    n = X.shape[0]
    mean = np.asarray(X.mean(axis=0)).ravel()
    y = X.dot(v[:, None]) - mean @ v
    return X.T.dot(y) - mean[:, None] * np.sum(y) if n else None


def entry_by_entry(X, v):
    n, d = X.shape
    dense = np.array([[X[i, j] for j in range(d)] for i in range(n)])
    return (dense - dense.mean(axis=0)).T @ ((dense - dense.mean(axis=0)) @ v)


def all_entries_stored(X, v):
    ones = sparse.csr_array(np.ones((X.shape[0], 1)))
    full = X - ones @ sparse.csr_array(X.mean(axis=0)[None])
    return full.T @ (full @ v)


def makes_dense(X, v):
    Xc = X.toarray() - X.mean(axis=0)
    return Xc.T @ (Xc @ v)


def white(X, turn=True, ddof=0, center=True):
    Xc = X - X.mean(axis=0) if center else X
    lam, V = np.linalg.eigh(np.cov(X.T, ddof=ddof))
    W = Xc @ V / np.sqrt(lam)
    return W @ V.T if turn else W


def by_root(X):
    lam, V = np.linalg.eigh(np.cov(X.T, ddof=0))
    return (X - X.mean(axis=0)) @ (V * lam**-0.5) @ V.T


def by_polar(X):
    U, _, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return np.sqrt(len(X)) * U @ Vt


def by_model(X):
    model = fit_pca(X)
    return model.whiten(X) @ model.V.T


def pair_sum(s, n, k):
    """Add up the distances of n points that have these singular values."""
    ones_first = np.column_stack([np.ones(n), np.random.default_rng(0).normal(size=(n, len(s)))])
    Z = (np.linalg.qr(ones_first)[0][:, 1:] * s)[:, :k]
    return np.sum((Z[:, None] - Z) ** 2)


def as_list(s, n, k):
    return sum(2 * n * value**2 for value in list(s)[:k])


def one_by_one(s, n, k):
    return np.array(2 * n * (np.cumsum(s**2)[k - 1]))


def by_power_steps(X, k):
    """Iterate with the d×d covariance matrix."""
    C = np.cov(X.T)
    V = np.eye(len(C), k)
    for _ in range(60):
        V = np.linalg.qr(C @ V)[0]
    return V


def with_covariance_in_passing(X, k):
    """Form the d×d matrix for the total variance only."""
    assert np.trace(np.cov(X.T)) > 0
    return wide(X, k)


IRIS = ["petal width", "sepal length", "sepal width"]
E, D = np.array([[1.0], [2.0]]), np.array([[1.0, 2.0]]) / 5
UNCENTRED = np.linalg.svd(SAMPLES)[2][0]

# exercise: (right answers, [(wrong answer, words of the diagnosis)])
ANSWERS = {
    "pca-1": (
        [4, 4.0, np.float64(4), Fraction(100, 25), [4], Decimal("4.00")],
        [(100 / 24, "n − 1"), (100, "divide by n"), (0.4, "Square"), (2, "standard deviation")]
        + [(4.17, "n − 1"), (9, "first one"), (1, "third one"), (-4, "sign"), (NAN, "finite")]
        + [("four", "number is needed"), (4.1, "")],
    ),
    "pca-2": (
        [325 / 350, 0.929, 0.92857, np.array(13 / 14), Fraction(13, 14), [0.9286]],
        [(25 / 30, "square them"), (25 / 350, "lost"), (92.857142857, "percentage")]
        + [(92.86, "percentage"), (92.9, "percentage"), (0.0714, "lost"), (0.833, "square them")]
        + [(np.sqrt(13 / 14), "root"), (0.643, "first one alone"), (0.286, "second one alone")]
        + [(0.93, "Close"), (0.9, ""), (NAN, "finite")],
    ),
    "pca-3": (
        [FIRST, -FIRST, FIRST.tolist(), tuple(-FIRST), FIRST[:, None], FIRST[None]]
        + [[0.4472, 0.8944], [0.447, 0.894]],
        [([1, 2], "length one, and yours has 2.236"), ([2 / 5**0.5, -(5**-0.5)], "second")]
        + [([0.894, 0.447], "not centred"), ([0.447, -0.894], "same sign"), ([0.45, 0.89], "Close")]
        + [(UNCENTRED, "not centred"), ([1, 0], ""), ([1, 2, 3], "shape"), ([NAN, 1], "NaN")],
    ),
    "pca-4": (
        [[5, 3], (5.0, 3.0), np.array([5, 3]), [[5], [3]], [[5.0, 3.0]], (Fraction(5), 3.001)],
        [([1, 2], "missing at the end"), ([2.2, 4.4], "encoding and when decoding")]
        + [([6.2, 5.4], "when encoding"), ([7, 2], "itself"), ([5, 3, 0], "shape"), (5, "shape")]
        + [
            ([6, 0], "second direction"),
            ([3, 5], ""),
            ([5, NAN], "NaN"),
            ((5.01, 3), "Close"),
            ((4.99, 2.99), "Close"),
        ],
    ),
    "pca-5": (
        [(E, D), [2 * E, D / 2], (-E, -D), (E.tolist(), D.tolist()), ([1, 2], [0.2, 0.4])]
        + [{"E": E, "D": D}]
        + [(E.T, D.T), ([0.894, 1.789], [0.224, 0.447])],
        [((FIRST[:, None], FIRST[None]), "length one"), ((E, D * 5), "encoder is right")]
        + [((2 * E, D), "multiplied by"), (E, "pair"), ((E, np.eye(2)), "shape")]
        + [((E[::-1], D), "loss is"), ((2 * E, 2 * D), "loss is"), ((-E, D), "loss is")]
        + [
            ((E * NAN, D), "NaN"),
            (([0, 0], [0, 0]), "loss is"),
            (([1, 2], [0.21, 0.39]), "decoder is not"),
        ],
    ),
    "pca-6": (
        [29, 29.0, np.int64(29), [29], Fraction(29)],
        [(30, "add up to zero"), (1000, "zero"), (999, "samples"), (28, ""), (NAN, "finite")]
        + [
            (31, "doesn't add"),
            (970, "are zero"),
            (-29, "sign"),
            (29.04, "whole"),
            (28.7, "whole"),
        ],
    ),
    "pca-7": (
        [IRIS, tuple(IRIS), np.array(IRIS), ["Petal Width", "SEPAL LENGTH", "sepal_width"]]
        + ["petal width, sepal length, sepal width", [f"{name} (cm)" for name in IRIS]],
        [(["petal length", *IRIS[1:]], "another column"), (["sepal length", *IRIS[1:]], "closer")]
        + [([IRIS[0], "sepal width", IRIS[2]], "with itself")]
        + [([IRIS[0], "petal length", IRIS[2]], "above 90°"), (IRIS[:2], "you gave 2")]
        + [([*IRIS[:2], "petal width"], "right angles"), (["a", "b", "c"], "No column is called")]
        + [([*IRIS[:2], "sepal length"], "another column"), ([1, 2, 3], "text"), (3, "list")],
    ),
    "pca-8": (
        [["b", "d", "e"], ("e", "b", "d"), {"b", "d", "e"}, "bde", "b, d, e", ["B", "D", "(E)"]]
        + [np.array(["b", "d", "e"])],
        [(["a", "b", "d", "e"], "(a) Pixels"), (["b", "c", "d", "e"], "(c)"), (list("de"), "(b)")]
        + [(list("be"), "(d)"), (list("bd"), "(e)"), (list("abcde"), "Not all"), ([], "Some")]
        + [(["x"], "Only the"), (5, "marks"), ([2, 4], "marks"), ("b", "(d)")],
    ),
    "pca-9": (
        [10 / 12, 0.833, 0.8333, Fraction(5, 6), [5 / 6], Decimal("0.8333")],
        [(2 / 3, "after centring"), (0.976, "9 v₂"), (0.75, "mean alone"), (0.167, "share of v₁")]
        + [(0.917, "along v₁"), (83.3, "percentage"), (0.909, "missing"), (0.818, "replaced")]
        + [(1 / 3, "v₂ after"), (0.83, "Close"), (0.9, ""), (NAN, "finite")],
    ),
    "pca-10": (
        [wide, by_dual, by_scipy, by_lengths, lambda X, k: wide(X, k).tolist()],
        [(lambda X, k: wide(X, k, center=False), "not been centred"), FAILS, FUNCTION_NEEDED]
        + [(lambda X, k: wide(X, k, unit=False), "lengths"), (by_svd, "takes an SVD")]
        + [(with_covariance_in_passing, "forms a d×d matrix"), (by_power_steps, "")]
        + [(by_covariance, "eigenvectors of a 40×40 matrix"), (lambda X, k: fit_pca(X, k).V, "SVD")]
        + [(lambda X, k: wide(X, k, order=1), "smallest")]
        + [(lambda X, k: wide(X, k)[:, ::-1], "wrong order"), (lambda X, k: wide(X, k).T, "shape")]
        + [
            (lambda X, k: np.eye(X.shape[1], k), ""),
            (lambda X: X, "raised TypeError"),
            (lambda X, k: svd(X - X.mean(axis=0))[2][:k].T, "takes an SVD"),
            (lambda X, k: wide(X, k).round(4), "Close, but"),
        ],
    ),
    "pca-11": (
        [scatter_times, lambda X, v: scatter_times(X, v).tolist(), by_operator, by_rows]
        + [by_columns, by_rows_twice],
        [(makes_dense, "dense"), (lambda X, v: makes_dense(X.T, v), "dense")]
        + [(lambda X, v: makes_dense(X.tocsc(), v), "dense")]
        + [(lambda X, v: makes_dense(X.copy().tocoo(), v), "dense")]
        + [(lambda X, v: X @ np.eye(X.shape[1]) @ v, "dense")]
        + [(lambda X, v: X.dot(np.eye(X.shape[1])) @ v, "dense")]
        + [(lambda X, v: np.eye(X.shape[0]) @ X @ v, "dense")]
        + [(lambda X, v: X.T.todense() @ (X @ v), "dense")]
        + [(lambda X, v: X - X.mean(axis=0), "dense"), (entry_by_entry, "dense")]
        + [(all_entries_stored, "all n×d")]
        + [(lambda X, v: X.T @ (X @ v), "not been centred"), FAILS]
        + [(lambda X, v: scatter_times(X, v) / X.shape[0], "divide by n"), FUNCTION_NEEDED]
        + [(lambda X, v: scatter_times(X, v, of_raw=True), "centred Xc v")]
        + [(lambda X, v: np.asarray(X) @ v, "dense"), (lambda X, v: X @ v, "shape")]
        + [(lambda X, v: 2 * scatter_times(X, v), "")],
    ),
    "pca-12": (
        [lambda s, n, k: 2 * n * np.sum(s[:k] ** 2), pair_sum, as_list, one_by_one],
        [(lambda s, n, k: n * np.sum(s[:k] ** 2), "each pair once"), FAILS, FUNCTION_NEEDED]
        + [(lambda s, n, k: 2 * (n - 1) * np.sum(s[:k] ** 2), "i = j")]
        + [(lambda s, n, k: n**2 * np.sum(s[:k] ** 2), "n²")]
        + [(lambda s, n, k: 2 * n * np.sum(s[:k]), "Squares")]
        + [(lambda s, n, k: 2 * n * np.sum(s**2), "before the projection")]
        + [(lambda s, n, k: 2 * n * np.sum(s[k:] ** 2), "loses")]
        + [(lambda s, n, k: 2 * np.sum(s[:k] ** 2), "n is missing")]
        + [
            (lambda s, n, k: s, "number is needed"),
            (lambda s, n: 100, "raised TypeError"),
            (100, "function"),
            (lambda s, n, k: 2 * n * np.sum(s[: k + 1] ** 2), ""),
        ],
    ),
    "pca-13": (
        [white, by_root, by_polar, by_model],
        [(lambda X: white(X, turn=False), "another turn"), (lambda X: X, "not white"), FAILS]
        + [(lambda X: white(X, ddof=1), "n − 1"), (lambda X: white(X)[:, :2], "shape")]
        + [(lambda X: -white(X), "another turn"), (lambda X: white(X).round(4), "Close, but")]
        + [(lambda X: white(X, center=False), "mean is not 0")]
        + [(lambda X: white(X) / np.sqrt(len(X)), "covariance has 1/n"), FUNCTION_NEEDED],
    ),
}
