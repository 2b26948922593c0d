"""The numbers on the errata page, computed again from the statements beside them."""

from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).parents[1] / "book/errata.md").read_text("utf8")


def entry(title: str) -> str:
    """Return the paragraph of the page that starts with the title in bold."""
    return next(text for text in PAGE.split("\n\n") if text.startswith(f"**{title}"))


def says(title: str, *numbers: float) -> bool:
    """Tell whether the entry prints all the numbers, to four decimals."""
    return all(f"{number:.4f}" in entry(title) for number in numbers)


def test_squares_under_the_root():
    """The true error is the norm of what is left; the printed formula forgets the squares."""
    s = np.array([3, 2, 1, 0.5])
    left_over = np.diag([0, *s[1:]])
    assert says("The error of truncation", np.linalg.norm(left_over), np.sqrt(s[1:].sum()))


def test_projecting_helps():
    """Projecting A on to the columns of B brings it at least as near as B is."""
    A, B = np.diag([2.0, 1.0]), np.diag([1.0, 0.0])
    P = B @ np.linalg.pinv(B)
    near, far = np.linalg.norm(A - P @ A), np.linalg.norm(A - B)
    assert near < far
    assert says("The inequality between", near, far)


def test_division_by_the_singular_value():
    """Without the division the sum of the terms is not A."""
    A = np.diag([2.0, 1.0])
    s2, V = np.linalg.eigh(A.T @ A)
    printed = sum(np.sqrt(s2[i]) * np.outer(A @ V[:, i], V[:, i]) for i in range(2))
    np.testing.assert_allclose(printed, np.diag([4.0, 1.0]))
    assert says("The second existence proof", np.linalg.norm(A - printed))


def test_singular_value_of_the_counter_example():
    assert says("One set of equations", np.linalg.svd([[1.0, 1.0]], compute_uv=False)[0])


def test_curve_with_two_letters():
    """(vᵢ + ε vⱼ)/√(1 + t²) has length one only for ε = t."""
    epsilon, t = 0.1, 0.5
    assert says("The existence proof", np.hypot(1, epsilon) / np.hypot(1, t))


def test_two_relative_errors():
    s2 = np.array([10, 3, 1, 0.5]) ** 2
    lost = s2[1:].sum() / s2.sum()
    assert says("Relative error", lost, np.sqrt(lost))
    assert f"{np.sqrt(0.05):.0%}".replace("%", " %") in entry("Relative error")


@pytest.mark.parametrize("n", [5, 20])
def test_wrong_eigenvalue_makes_directions_too_long(n):
    """Weights divided by √λ instead of √(nλ) give directions of squared length n."""
    X = np.random.default_rng(n).standard_normal((n, 3))
    Xc = X - X.mean(axis=0)
    lam_gram, a = np.linalg.eigh(Xc @ Xc.T)
    v = Xc.T @ (a[:, -1] / np.sqrt(lam_gram[-1] / n))
    assert v @ v == pytest.approx(n)
    assert r"\lVert v_j\rVert^2 = n$ instead of 1" in entry("One λ for two")
