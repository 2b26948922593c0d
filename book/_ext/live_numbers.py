"""What the live figures must compute, by the library, and the data that they are given.

Each figure of ``book/_static/live`` has a function here that takes the same state and returns the
same numbers. The build writes data and cases beside the scripts; the browser test feeds the cases
to the scripts and compares, and compares again with what it has moved on the page. It writes each
figure as one plain script, too: a page that is opened from a disk may load no modules and no data.
"""

from __future__ import annotations

import base64
import json
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from kpca_edu import (
    PPCA,
    best_subset,
    choose_k_by_bic,
    choose_k_by_error,
    choose_k_by_hard_threshold,
    fit_kernel_pca,
    fit_pca,
    fit_pca_blocks,
    fit_sparse_pca,
    power_step,
    relative_error,
    thin_svd,
)
from kpca_edu.centering import (
    additive_constant,
    centering_matrix,
    cosine_with_mean,
    double_center,
    squared_distances_of_gram,
)
from kpca_edu.choosing_k import hard_threshold, noise_level
from kpca_edu.compare import fix_signs
from kpca_edu.datasets import pagoda_picture, pitprops
from kpca_edu.kernels import laplacian, linear, polynomial, rbf
from kpca_edu.ppca import expect, maximize
from kpca_edu.preimages import fixed_point_step
from kpca_edu.sketching import FourierMap, range_error_bound
from kpca_edu.sparse_search import simple_threshold

SCRIPTS = Path(__file__).resolve().parents[1] / "_static/live"
State = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """One live figure: where it stands, what it computes, states to try."""

    chapter: str  # the notebook that shows it
    module: str  # the script
    numbers: Callable[[State], dict[str, Any]]
    states: list[State]


FIGURES: dict[str, Figure] = {}


def figure(
    name: str, chapter: str, module: str, states: list[State]
) -> Callable:
    """Register a function as what the figure of that name computes."""

    def register(numbers: Callable) -> Callable:
        FIGURES[name] = Figure(chapter, module, numbers, states)
        return numbers

    return register


# Chapter 1


@figure(
    "svd-circle",
    "01_svd",
    "svd",
    [
        {"angle": 20, "a": [3, 4], "b": [0, 5]},
        {"angle": 45, "a": [3, 4], "b": [0, 5]},
        {"angle": 130.5, "a": [-1, 2.5], "b": [4, 0.5]},
        {
            "angle": 77,
            "a": [2, 0],
            "b": [0, 2],
        },  # equal values: every angle is right
        {"angle": 10, "a": [1, 2], "b": [2, 4]},  # rank one
    ],
)
def svd_circle(state: State) -> dict[str, Any]:
    A = np.column_stack([state["a"], state["b"]])
    t = np.radians(state["angle"])
    v, w = np.array([np.cos(t), np.sin(t)]), np.array([-np.sin(t), np.cos(t)])
    svd = thin_svd(A)
    s = np.append(svd.s, [0.0, 0.0])
    cross = np.linalg.det(np.column_stack([A @ v, A @ w]))
    return {
        "Av": A @ v,
        "Aw": A @ w,
        "length": np.linalg.norm(A @ v),
        "between": np.degrees(np.arctan2(abs(cross), (A @ v) @ (A @ w))),
        "s1": s[0],
        "s2": s[1],
    }


@figure("svd-rank", "01_svd", "svd", [{"k": k} for k in (0, 1, 10, 71)])
def svd_rank(state: State) -> dict[str, Any]:
    picture, k = photograph() / 255, state["k"]
    error = (
        relative_error(thin_svd(picture).s, k)
        if k < min(picture.shape)
        else 0.0
    )
    return {"error": error, "kept": k * (sum(picture.shape) + 1)}


@cache
def photograph() -> np.ndarray:
    """Return the book's pagoda in 71×106 grey pixels, 0 to 255."""
    blocks = pagoda_picture()[:426, :636].reshape(71, 6, 106, 6)
    return np.round(255 * blocks.mean(axis=(1, 3))).astype(np.uint8)


# Chapter 2


@figure(
    "power-steps",
    "02_power_method",
    "power_method",
    [
        {"ratio": ratio, "start": start, "t": t}
        for ratio, start, t in (
            (0.7, 80, 0),
            (0.95, 45, 40),
            (0.0, 30, 1),
            (0.99, 89, 7),
        )
    ],
)
def power_steps(state: State) -> dict[str, Any]:
    X = np.diag([1.0, np.sqrt(state["ratio"])])
    v = np.array(
        [np.cos(np.radians(state["start"])), np.sin(np.radians(state["start"]))]
    )
    rows = []
    for _ in range(41):
        following, s, _, residual = power_step(X, v)
        rows.append((v[1] / v[0], residual, 1 - s))
        v = following
    tangents, residuals, errors = np.transpose(rows)
    t = state["t"]
    return {
        "tangents": tangents,
        "residuals": residuals,
        "errors": errors,
        "angle": np.degrees(np.arctan(tangents[t])),
        "residual": residuals[t],
        "error": errors[t],
    }


# Chapter 3

CROSS = [[0, 1], [0, -1], [1, 0], [-1, 0]]  # all directions are equally good


@figure(
    "pca-line",
    "03_pca",
    "pca",
    [
        {
            "angle": 120,
            "center": True,
            "points": [[1, 2], [3, 3], [2, 0], [5, 4.5], [-1, 1]],
        },
        {
            "angle": 30,
            "center": False,
            "points": [[1, 2], [3, 3], [2, 0], [5, 4.5], [-1, 1]],
        },
        {"angle": 12, "center": True, "points": CROSS},
        {
            "angle": 90,
            "center": True,
            "points": [[1, 1], [2, 2], [4, 4]],
        },  # on a line
    ],
)
def pca_line(state: State) -> dict[str, Any]:
    X, t = np.array(state["points"], dtype=float), np.radians(state["angle"])
    model = fit_pca(X, 1, center=state["center"])
    X_c = X - model.mean
    total, kept = np.sum(X_c**2), np.sum((X_c @ [np.cos(t), np.sin(t)]) ** 2)
    numbers = {
        "total": total,
        "kept": kept,
        "lost": total - kept,
        "most": model.s[0] ** 2,
    }
    if len(X) != len(CROSS):
        numbers["best"] = np.degrees(np.arctan2(*model.V[::-1, 0])) % 180
    return numbers


# Chapter 4

CLOUD = [
    [1.0, 0.4],
    [-2.0, -1.1],
    [0.3, 0.9],
    [2.2, 1.0],
    [-1.4, -0.2],
    [0.1, -0.8],
]


@figure(
    "ppca-plane",
    "04_ppca",
    "ppca",
    [
        {
            "points": CLOUD,
            "w": w,
            "sigma2": sigma2,
            "point": [2.5, 0],
            "missing": missing,
        }
        for w, sigma2, missing in (
            ([0.3, 1.2], 1.0, False),
            ([1.3, 0.7], 0.2, True),
            ([0.0, 1.0], 0.5, True),  # what is seen says nothing of the code
        )
    ],
)
def ppca_plane(state: State) -> dict[str, Any]:
    X = np.array(state["points"], dtype=float)
    model = PPCA(
        X.mean(axis=0),
        np.array(state["w"], dtype=float)[:, None],
        state["sigma2"],
    )
    sample = np.array([state["point"]], dtype=float)
    if state["missing"]:
        sample[0, 1] = np.nan
    code, spread = model.posterior(sample)
    following = maximize(X, expect(model, X))
    numbers = {
        "likelihood": model.log_likelihood(X),
        "code": code[0, 0],
        "spread": np.sqrt(spread.ravel()[0]),
        "back": model.decode(code)[0],
        "next": following.W[:, 0],
        "nextSigma2": following.sigma2,
    }
    if state["missing"]:
        numbers["bar"] = model.impute(sample, return_std=True)[1][0, 1]
    return numbers


# Chapter 5


@figure(
    "k-rules",
    "05_choosing_k",
    "choosing_k",
    [
        {
            "n": n,
            "d": d,
            "signal": signal,
            "spread": spread,
            "heavy": heavy,
            "seed": seed,
        }
        for n, d, signal, spread, heavy, seed in (
            (150, 30, 2, 0, False, 1),
            (60, 50, 0, 0, False, 2),
            (100, 20, 3.5, 2, False, 3),
            (400, 10, 1, 0, True, 4),
        )
    ],
)
def k_rules(state: State) -> dict[str, Any]:
    X, n = three_factors(state), state["n"]
    model = fit_pca(X, None)
    small, large = sorted((n - 1, state["d"]))
    edge = (noise_level(X) * (np.sqrt(large) + np.sqrt(small))) ** 2 / n
    return {
        "lam": model.variances,
        "edge": edge,
        "cut": hard_threshold(X) ** 2 / n,
        "hard": choose_k_by_hard_threshold(X),
        "share": choose_k_by_error(X, 0.2, squared=True),
        "bic": choose_k_by_bic(X),
        "kaiser": int(
            np.sum(model.variances > model.variances.sum() / state["d"])
        ),
    }


def three_factors(state: State) -> np.ndarray:
    """Return the table that the script draws: three factors, and noise of a kind."""
    draw, n, d = Random(state["seed"]), state["n"], state["d"]
    Z = np.array([[draw.normal() for _ in range(3)] for _ in range(n)])
    W = np.array([[draw.normal() for _ in range(d)] for _ in range(3)])
    W *= (np.array([1.6, 1.25, 1.0]) / np.linalg.norm(W, axis=1))[:, None]
    sizes = np.exp(state["spread"] * (np.arange(d) / (d - 1) - 0.5))
    noise = np.empty((n, d))
    for i in range(n):
        for j in range(d):
            tail = (
                np.sqrt(sum(draw.normal() ** 2 for _ in range(3)) / 3)
                if state["heavy"]
                else 1
            )
            noise[i, j] = sizes[j] * draw.normal() / tail
    return state["signal"] * Z @ W + noise


# Chapter 6

PLACES = [
    [-1.2, 0.9],
    [1.1, -0.7],
    [0.2, 0.1],
    [0.8, 1.2],
    [-0.4, -1.0],
    [0.5, -0.3],
]


def kernel_of(state: State) -> Any:
    """Return the kernel that a state names."""
    name, sigma, degree = (
        state.get("kernel", "rbf"),
        state.get("sigma"),
        state.get("degree"),
    )
    if name == "rbf":
        return rbf(sigma)
    if name == "laplacian":
        return laplacian(sigma)
    return polynomial(degree, 1.0) if name == "polynomial" else linear()


@figure(
    "kernel-gram",
    "06_kernels",
    "kernels",
    [
        {"kernel": kernel, "sigma": 0.7, "degree": 3, "points": PLACES}
        for kernel in ("rbf", "laplacian", "polynomial", "linear")
    ]
    + [
        {
            "kernel": "rbf",
            "sigma": 0.7,
            "degree": 2,
            "points": [[1, 1], [1, 1], [0, 2]],
        }
    ],
)
def kernel_gram(state: State) -> dict[str, Any]:
    K = kernel_of(state)(np.array(state["points"], dtype=float))
    apart = max(K[0, 0] + K[1, 1] - 2 * K[0, 1], 0.0)
    eigenvalues = np.linalg.eigvalsh(K)[::-1]
    return {
        "K": K,
        "value": K[0, 1],
        "distance": np.sqrt(apart),
        "eigenvalues": eigenvalues,
    }


# Chapter 7


@figure(
    "kpca-contours",
    "07_kernel_pca",
    "kernel_pca",
    [
        {
            "kernel": kernel,
            "sigma": sigma,
            "degree": 2,
            "component": j,
            "points": PLACES,
        }
        for kernel, sigma, j in (
            ("rbf", 0.5, 1),
            ("rbf", 10, 2),
            ("polynomial", 1, 3),
            ("linear", 1, 2),
        )
    ],
)
def kpca_contours(state: State) -> dict[str, Any]:
    X, j = np.array(state["points"], dtype=float), state["component"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer components than asked for
        model = fit_kernel_pca(X, len(X) - 1, kernel_of(state))
    score = model.encode([[0.0, 0.0], [1.0, 1.0]])[:, j - 1]
    return {
        "share": model.explained_ratio[j - 1],
        "middle": score[0],
        "corner": score[1],
    }


# Chapter 8


@figure(
    "center-landscape",
    "08_centering",
    "centering",
    [
        {"center": center, "sigma": s, "component": j, "points": PLACES}
        for center in (True, False)
        for s, j in ((0.4, 1), (2, 2))
    ],
)
def center_landscape(state: State) -> dict[str, Any]:
    X, kernel = np.array(state["points"], dtype=float), rbf(state["sigma"])
    j = state["component"]
    model = fit_kernel_pca(X, j, kernel, center=state["center"])
    K = kernel(X)
    cosine = abs(model.alpha[:, -1] @ K.mean(axis=0)) / np.sqrt(K.mean())
    if not state["center"] and j == 1:
        assert np.isclose(cosine, cosine_with_mean(K))
    return {
        "value": model.lam[-1],
        "share": model.explained_ratio[-1],
        "cosine": cosine,
    }


@figure(
    "center-distances",
    "08_centering",
    "centering",
    [
        {"spoke": spoke, "AB": a, "AC": b, "BC": c, "mend": mend}
        for spoke, a, b, c in (
            (1, 2, 2, 2),  # no map
            (1.2, 2, 2, 2),  # the hub above the plane
            (0.5, 3, 0.5, 1.1),  # not even a triangle
        )
        for mend in ("clip", "flip", "shift")
    ],
)
def center_distances(state: State) -> dict[str, Any]:
    D = np.zeros((4, 4))
    D[np.triu_indices(4, 1)] = [
        state[pair] for pair in ("AB", "AC", "spoke", "BC", "spoke", "spoke")
    ]
    D += D.T
    B = double_center(D**2)
    values, vectors = np.linalg.eigh(B)
    if state["mend"] == "shift":
        M = B + additive_constant(D) * centering_matrix(4)
    else:
        flip = state["mend"] == "flip"
        mended = np.abs(values) if flip else np.maximum(values, 0)
        M = (vectors * mended) @ vectors.T
    after = np.sqrt(squared_distances_of_gram(M))
    return {
        "eigenvalues": values[::-1],
        "after": after[np.triu_indices(4, 1)],
        "off": np.abs(after - D).max(),
        "negative": -values[values < 0].sum() / np.abs(values).sum(),
    }


# Chapter 9

RING = [
    [float(round(f(2.4 * i), 3)) for f in (np.cos, np.sin)] for i in range(32)
]
STEPS = 15


@figure(
    "pre-ring",
    "09_preimages",
    "preimages",
    [
        {
            "sigma": sigma,
            "k": k,
            "mean": mean,
            "sample": sample,
            "start": start,
            "points": RING,
        }
        for sigma, k, mean, sample, start in (
            (0.6, 6, True, [0.9, 1.1], [-0.6, 0.7]),
            (0.6, 3, False, [0.9, 1.1], [0.5, 0.7]),
            (1.5, 2, True, [0.1, 0.0], [0.9, 0.1]),
        )
    ],
)
def pre_ring(state: State) -> dict[str, Any]:
    model = fit_kernel_pca(
        np.array(state["points"]), state["k"], rbf(state["sigma"])
    )
    Z = model.encode([state["sample"]])
    gamma = model.weights(Z) if state["mean"] else Z @ model.alpha.T
    t = np.array([state["start"]], dtype=float)
    h = fixed_point_step(model, t, gamma).h[0]
    first = t + fixed_point_step(model, t, gamma).plain
    for _ in range(STEPS):
        step, share = fixed_point_step(model, t, gamma), 1.0
        while True:
            following = t + share * step.guarded
            share /= 2
            if (
                fixed_point_step(model, following, gamma).h >= step.h
                or share <= 1e-6
            ):
                break
        t = following
    end = fixed_point_step(model, t, gamma).h[0]
    return {"gamma": gamma[0], "h": h, "end": end, "first": first[0]}


@cache
def digit_models() -> tuple[Any, Any]:
    """Return linear and kernel PCA of 240 digits of 8×8 pixels.

    The settings here and in :func:`pre_digit` are the best of a grid on other digits, for noise
    between 0.2 and 0.4.
    """
    X = shuffled_digits()[:240]
    return fit_pca(X, 12), fit_kernel_pca(X, 30, rbf(3.0))


def shuffled_digits() -> np.ndarray:
    from sklearn.datasets import load_digits

    return np.random.default_rng(0).permutation(load_digits().data) / 16


NEIGHBOURS = 7


@figure(
    "pre-digit",
    "09_preimages",
    "preimages",
    [
        {
            "picture": [float(i % 9 == j) for i in range(64)],
            "noise": noise,
            "seed": seed,
        }
        for j, noise, seed in ((0, 0.0, 1), (3, 0.3, 2))
    ],
)
def pre_digit(state: State) -> dict[str, Any]:
    linear_model, model = digit_models()
    draw, picture = (
        Random(state["seed"]),
        np.array(state["picture"], dtype=float),
    )
    noisy = picture + state["noise"] * np.array(
        [draw.normal() for _ in picture]
    )
    order = np.argsort(np.sum((model.X - noisy) ** 2, axis=1), kind="stable")
    average = model.X[order[:NEIGHBOURS]].mean(axis=0)
    gamma = model.weights(model.encode(noisy[None]))
    clean = average[None]
    for _ in range(60):
        clean = clean + fixed_point_step(model, clean, gamma).plain
    found = {
        "average": average,
        "linear": linear_model.reconstruct(noisy[None])[0],
        "clean": clean[0],
    }
    names = {
        "byNeighbours": "average",
        "byLinear": "linear",
        "byKernel": "clean",
    }
    errors = {
        key: np.sqrt(np.mean((found[n] - picture) ** 2))
        for key, n in names.items()
    }
    return {"noisy": noisy} | found | errors


def digits_file() -> dict[str, Any]:
    """Return the digits as text, a sign of base 17 for each pixel, and what was found in them."""
    linear_model, model = digit_models()
    levels = "0123456789abcdefg"

    def texts(X: np.ndarray) -> list[str]:
        return [
            "".join(levels[v] for v in row)
            for row in np.rint(16 * X).astype(int)
        ]

    def rounded(A: np.ndarray) -> list:
        return np.vectorize(lambda x: float(f"{x:.7g}"))(A).tolist()

    return {
        "X": texts(model.X),
        "others": texts(shuffled_digits()[240:300]),
        "alpha": rounded(model.alpha),
        "shift": rounded(model.row_means @ model.alpha),
        "V": rounded(linear_model.V),
        "mean": rounded(linear_model.mean),
        "sigma": 3.0,
        "neighbours": NEIGHBOURS,
    }


# Chapter 10

M_LOADINGS = (  # the least penalties that leave 2, …, 13 loadings, as in the chapter
    *(1.76, 1.71, 1.695, 0.97, 0.47, 0.34, 0.175, 0.165, 0.09, 0.055),
    *(0.02, 0.0),
)
PENALTIES = [0.0, *np.geomspace(1e-4, 0.5, 24).round(5).tolist()]


@cache
def props_file() -> dict[str, Any]:
    """Return the pit props, and what the library finds for each m and each penalty."""
    C, names = pitprops()
    (v,) = fix_signs(np.linalg.eigh(C)[1][:, -1:])
    exact = [best_subset(C, m).direction for m in range(1, 14)]
    threshold = [simple_threshold(v, m)[:, 0] for m in range(1, 14)]
    options = {"gram": True, "max_iter": 20_000}
    spca, refitted = (
        [
            fit_sparse_pca(C, 1, l1=l1, refit=refit, **options).B[:, 0]
            for l1 in M_LOADINGS
        ]
        for refit in (False, True)
    )
    for one in (spca, refitted):
        one.insert(0, exact[0])  # of one loading there is nothing to shrink
    path = [
        fit_sparse_pca(C, 3, l1=penalty, **options).B.T for penalty in PENALTIES
    ]
    kinds = {
        "exact": exact,
        "threshold": threshold,
        "spca": spca,
        "refitted": refitted,
    }
    found = {
        kind: [
            np.array(b) * (1 if v[:, 0] @ b >= 0 else -1) for b in directions
        ]
        for kind, directions in kinds.items()
    }
    return {
        "C": C,
        "names": names,
        "found": found,
        "path": path,
        "penalties": PENALTIES,
    }


@figure(
    "sparse-props",
    "10_sparse_pca",
    "sparse_pca",
    [{"m": m} for m in (1, 5, 13)],
)
def sparse_props(state: State) -> dict[str, Any]:
    data = props_file()
    columns = {
        kind: found[state["m"] - 1] for kind, found in data["found"].items()
    }
    return {kind: b @ data["C"] @ b / (b @ b) for kind, b in columns.items()}


@figure(
    "sparse-path",
    "10_sparse_pca",
    "sparse_pca",
    [{"step": step} for step in (0, 10, 24)],
)
def sparse_path(state: State) -> dict[str, Any]:
    data, step = props_file(), state["step"]
    return {
        "penalty": PENALTIES[step],
        "zeros": int(np.sum(data["path"][step] == 0)),
    }


# Chapter 11


@figure(
    "sketch-range",
    "11_sketching",
    "sketching",
    [
        {"decay": decay, "k": k, "p": p, "q": q, "seed": seed}
        for decay, k, p, q, seed in (
            (0.5, 8, 4, 0, 1),
            (2, 5, 2, 1, 2),
            (0, 20, 20, 3, 3),
        )
    ],
)
def sketch_range(state: State) -> dict[str, Any]:
    k, p, q, draw = state["k"], state["p"], state["q"], Random(state["seed"])
    s = np.arange(1.0, 61.0) ** -state["decay"]
    Y = s[:, None] * np.array(
        [[draw.normal() for _ in range(k + p)] for _ in s]
    )
    for _ in range(q):
        Y = (s**2)[:, None] * np.linalg.qr(Y)[0]
    Q = np.linalg.qr(Y)[0]
    error = np.linalg.norm(np.diag(s) - Q @ (Q.T * s))
    known = q == 0 and p >= 2
    bound = range_error_bound(s, k, oversample=p) if known else None
    return {
        "error": error,
        "best": np.linalg.norm(s[k:]),
        "bound": bound,
        "passes": 2 * q + 2,
    }


@figure(
    "sketch-waves",
    "11_sketching",
    "sketching",
    [
        {"m": m, "sigma": sigma, "seed": seed}
        for m, sigma, seed in ((20, 1, 1), (600, 0.5, 2))
    ],
)
def sketch_waves(state: State) -> dict[str, Any]:
    X, draw = np.arange(48)[:, None] / 8, Random(state["seed"])
    frequencies = (
        np.array([[draw.normal() for _ in range(state["m"] // 2)]])
        / state["sigma"]
    )
    F = FourierMap(frequencies)(X)
    errors = np.abs(F @ F.T - rbf(state["sigma"])(X))
    return {"worst": errors.max(), "typical": np.sqrt(np.mean(errors**2))}


# Chapter 12


@figure(
    "stream-blocks",
    "12_streaming",
    "streaming",
    [
        {"blocks": blocks, "far": far}
        for blocks, far in ((1, 0), (7, 3), (60, 5))
    ],
)
def stream_blocks(state: State) -> dict[str, Any]:
    offset = 10.0 ** state["far"] if state["far"] else 0.0
    blocks = []
    for number in range(state["blocks"]):
        draw = Random(100 + number)
        pairs = np.array([[draw.normal(), draw.normal()] for _ in range(10)])
        blocks.append(offset + pairs @ [[1.5, 0.8], [0.3, 0.5]])
    model = fit_pca_blocks(blocks, 2)
    angle = np.degrees(np.arctan2(*model.V[::-1, 0])) % 180
    first, second = model.variances
    return {
        "n": 10 * state["blocks"],
        "first": first,
        "second": second,
        "angle": angle,
    }


class Random:
    """The random numbers of ``linalg.js``: mulberry32, and normals by Box and Muller."""

    def __init__(self, seed: int):
        self.state = seed

    def uniform(self) -> float:
        self.state = (self.state + 0x6D2B79F5) & 0xFFFFFFFF
        t = (self.state ^ self.state >> 15) * (self.state | 1) & 0xFFFFFFFF
        t = (t + ((t ^ t >> 7) * (t | 61) & 0xFFFFFFFF) & 0xFFFFFFFF) ^ t
        return (t ^ t >> 14) / 2**32

    def normal(self) -> float:
        length = np.sqrt(-2 * np.log(1 - self.uniform()))
        return float(length * np.cos(2 * np.pi * self.uniform()))


# The build


def data_files() -> dict[str, Any]:
    """Return what the scripts load: file name and content."""
    rows = [base64.b64encode(row.tobytes()).decode() for row in photograph()]
    return {
        "photo.json": {"rows": rows},
        "digits.json": digits_file(),
        "pitprops.json": plain(props_file()),
    }


def cases() -> dict[str, list]:
    """Return for each figure states and the numbers that belong to them."""
    return {
        name: [[state, plain(figure.numbers(state))] for state in figure.states]
        for name, figure in FIGURES.items()
    }


def plain(value: Any) -> Any:
    """Return numbers and arrays as what JSON has."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return value if not isinstance(value, float) or np.isfinite(value) else None


def plain_script(module: str, data: dict[str, Any]) -> str:
    """Return a figure's module, and those it imports, as one script that needs no server."""
    texts = []
    for name in ("linalg", "draw", "controls", module):
        text = (SCRIPTS / f"{name}.js").read_text("utf8")
        text = re.sub(
            r'^(im|ex)port [^;]+ from "\./\w+\.js";\n', "", text, flags=re.M
        )
        texts.append(re.sub(r"^export ", "", text, flags=re.M))
    *base, own = texts
    used = {file: data[file] for file in re.findall(r'load\("(.+?)"\)', own)}
    shared = re.sub(
        r"^const load = .*$",
        lambda _: f"const load = async file => ({compact(used)})[file];",
        "\n".join(base),
        flags=re.M,
    )
    return f'(async () => {{\n"use strict";\n{shared}\n{{\n{own}}}\n}})();\n'


def compact(content: Any) -> str:
    return json.dumps(content, separators=(",", ":"))


def export(app, exception) -> None:
    if exception or app.builder.name != "html":
        return
    folder, data = Path(app.outdir, "_static/live"), data_files()
    files = {name: compact(content) for name, content in data.items()}
    files["cases.json"] = compact(cases())
    for module in {figure.module for figure in FIGURES.values()}:
        files[f"plain/{module}.js"] = plain_script(module, data)
    (folder / "plain").mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(content, "utf8")


def setup(app):
    app.connect("build-finished", export)
    return {
        "version": "1",
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
