"""The four pictures of the landing page, drawn with the library while the book is built.

``python book/_ext/opening_pictures.py folder`` draws them; the extension ``landing`` runs it in a
process of its own beside the build, and only when this file or the library has changed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from kpca_edu import (
    denoise,
    fit_kernel_pca,
    fit_pca,
    fit_sparse_pca,
    low_rank,
    rbf,
)
from kpca_edu.datasets import pitprops
from kpca_edu.figures import BLUE, GREEN, ORANGE, PURPLE, use_book_style
from matplotlib.figure import Figure

SIZE = (3.6, 2.7)  # inches; all four have one shape
GREY = "#8a8a8a"


def compress() -> Figure:
    """A flower in four bands: sums of 2, 6 and 20 terms, and all of them."""
    from sklearn.datasets import load_sample_image

    flower = load_sample_image("flower.jpg")[62:317, 145:485] / 255
    edges = np.linspace(0, flower.shape[1], 5).astype(int)
    bands = []
    for k, left, right in zip(
        (2, 6, 20, None), edges[:-1], edges[1:], strict=True
    ):
        rank_k = (
            flower
            if k is None
            else np.stack(
                [low_rank(c, k) for c in np.moveaxis(flower, 2, 0)], 2
            )
        )
        bands.append(rank_k[:, left:right])
    figure, ax = _empty()
    ax.imshow(np.clip(np.concatenate(bands, axis=1), 0, 1), aspect="auto")
    for edge, name in zip(edges, ("2", "6", "20", "all"), strict=False):
        if edge:
            ax.axvline(edge - 0.5, color="white", lw=1.2)
        ax.text(
            edge + 5,
            flower.shape[0] - 9,
            name,
            color="white",
            fontsize=17,
            fontweight="bold",
        )
    return figure


def see() -> Figure:
    """Digits of 64 pixels as points of the plane that spreads them most."""
    from sklearn.datasets import load_digits

    X, digit = load_digits(return_X_y=True)
    kept = np.isin(digit, [0, 4, 6, 7])
    X, digit = X[kept], digit[kept]
    Z = fit_pca(X, 2).encode(X)
    figure, ax = _empty()
    chosen = np.random.default_rng(0).permutation(len(Z))[:260]
    for name, color in zip(
        (0, 4, 6, 7), (BLUE, ORANGE, GREEN, PURPLE), strict=True
    ):
        rows = chosen[digit[chosen] == name]
        ax.scatter(*Z[rows].T, marker=f"${name}$", s=64, color=color, lw=0.3)
    ax.margins(0.06)
    return figure


def clean() -> Figure:
    """Points beside a curve, and where kernel PCA and a pre-image put them."""
    rng = np.random.default_rng(1)
    t = rng.uniform(0.12, 1, 170)
    angle, radius = 2.9 * np.pi * t, 0.25 + 1.2 * t
    curve = np.column_stack(
        [1.25 * radius * np.cos(angle), radius * np.sin(angle)]
    )
    noisy = curve + 0.11 * rng.standard_normal(curve.shape)
    model = fit_kernel_pca(noisy, 10, rbf(sigma=0.4))
    cleaned = denoise(model, noisy).X
    figure, ax = _empty()
    ax.plot(
        *np.stack([noisy, cleaned]).transpose(2, 0, 1),
        color=GREY,
        lw=0.6,
        alpha=0.7,
    )
    ax.plot(*noisy.T, "o", ms=3, color=GREY)
    ax.plot(*cleaned.T, "o", ms=3.6, color=BLUE)
    ax.set_aspect("equal")
    ax.margins(0.03)
    return figure


def explain() -> Figure:
    """Thirteen loadings of a direction of PCA, and the six of a sparse one."""
    C, _ = pitprops()
    dense = np.linalg.eigh(C)[1][:, -1]
    dense = dense * np.sign(dense.sum())
    sparse = fit_sparse_pca(C, 1, nonzeros=6, gram=True).B[:, 0]
    sparse = sparse * np.sign(sparse.sum())
    figure, axes = plt.subplots(
        2, 1, figsize=SIZE, sharex=True, sharey=True, layout="none"
    )
    for ax, loadings, color, name in (
        (axes[0], dense, GREY, "PCA"),
        (axes[1], sparse, ORANGE, "sparse PCA"),
    ):
        shown = np.flatnonzero(np.abs(loadings) > 1e-9)
        ax.bar(shown, loadings[shown], color=color, width=0.72)
        ax.axhline(0, color="black", lw=0.8)
        ax.text(12.4, 0.44, name, fontsize=16, ha="right")
        ax.axis("off")
    figure.subplots_adjust(0.02, 0.02, 0.98, 0.96, hspace=0.05)
    return figure


def _empty():
    figure, ax = plt.subplots(figsize=SIZE, layout="none")
    figure.subplots_adjust(0, 0, 1, 1)
    ax.axis("off")
    return figure, ax


PICTURES = {  # file: (what draws it, settings of the file)
    "compress.webp": (
        compress,
        {"dpi": 200, "pil_kwargs": {"quality": 78, "method": 4}},
    ),
    "see.svg": (see, {}),
    "clean.svg": (clean, {}),
    "explain.svg": (explain, {}),
}


def draw_all(folder: Path) -> None:
    """Draw the four into a folder."""
    use_book_style()
    folder.mkdir(parents=True, exist_ok=True)
    for name, (draw, options) in PICTURES.items():
        figure = draw()
        figure.savefig(folder / name, **options)
        plt.close(figure)


if __name__ == "__main__":
    draw_all(Path(sys.argv[1]))
