"""The numbers on the errata page, computed again from the statements beside them."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

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


# --- the power method ----------------------------------------------------------------------------


def power_coordinates(lam, t):
    """Return the unit coordinates after t steps from equal ones."""
    c = np.asarray(lam, float) ** t
    return c / np.linalg.norm(c)


def test_bare_powers_leave_the_range_of_doubles():
    """The norm, a root of a sum of squares, overflows or vanishes first."""
    text = entry("The iterate is never normalised")
    for s, words in ((114.3, "overflows after {}"), (0.114, "vanishes after {}")):
        y, t = np.ones(1), 0
        with np.errstate(all="ignore"):
            while 0 < np.linalg.norm(y) < np.inf:
                y, t = s**2 * y, t + 1
        assert words.format(t) in text


def test_the_output_is_approximate():
    lam = np.array([1, 0.99, 0.5]) ** 2
    ten, hundred = power_coordinates(lam, 10), power_coordinates(lam, 100)
    value = np.sqrt(ten**2 @ lam)
    assert says("The output is exact only", ten[0], hundred[0], value)


def test_a_small_step_at_45_degrees():
    lam, t = [1, 0.9999, 0.5], 0
    while True:
        here, there = power_coordinates(lam, t), power_coordinates(lam, t + 1)
        if np.linalg.norm(there - here) < 1e-4:
            break
        t += 1
    assert says("The stopping rule", np.degrees(np.arccos(there[0])))


def test_the_mean_overlap():
    """The mean of |b₁| by integrating its density, beside 1/√d."""
    for d in (10, 100):
        x = np.linspace(0, 1, 200_001)
        density = (1 - x**2) ** ((d - 3) / 2)
        mean = np.trapezoid(x * density, x) / np.trapezoid(density, x)
        assert says("The mean overlap", mean, 1 / np.sqrt(d))


def test_the_anti_concentration_bound():
    d = np.arange(2, 3000)
    chance = stats.beta(0.5, (d - 1) / 2).sf(1 / (400 * d))
    assert says("Concentration", chance.min())
    assert chance.min() >= 0.96


def test_the_root_that_covers_too_much():
    assert says("The chain of inequalities", np.sqrt(8) * 0.5**10, np.sqrt(8 * 0.5**10))


def test_the_bounds_from_weak_to_sharp():
    n, q, k = 8, 0.9, 60
    C = np.sqrt(2 * n / np.pi) / 0.1
    bounds = [
        1 - 20 * n * q**k,
        1 - 20 * np.sqrt(n) * q**k,
        1 - 200 * n * q ** (2 * k),
        1 / np.sqrt(1 + (C * q**k) ** 2),
    ]
    assert bounds == sorted(bounds)
    assert says("Far from sharp", *bounds)


# Probabilistic PCA: eigenvalues 4, 2, 0.5 on the axes; log-likelihood per sample, no 2π.
LAM = np.array([4.0, 2.0, 0.5])


def per_sample(diagonal):
    """−½(log|Σ| + tr Σ⁻¹C) for a diagonal Σ."""
    return -0.5 * np.sum(np.log(diagonal) + LAM / diagonal)


def test_loadings_need_the_root():
    """With the root the first variance is λ₁, without it is (λ₁ − σ²)² + σ²."""
    sigma2 = LAM[1:].mean()
    right = per_sample(np.array([4.0, sigma2, sigma2]))
    wrong = per_sample(np.array([(4 - sigma2) ** 2 + sigma2, sigma2, sigma2]))
    assert right > wrong
    assert says("The loadings lack", right, wrong)


def test_posterior_mean_tends_to_the_whitened_score():
    """w/(w² + σ²) with w² = λ − σ² tends to 1/√λ, not to 1."""
    sigma2 = 1e-8
    assert says("The limit of the posterior", np.sqrt(4 - sigma2) / 4)


def test_no_likelihood_without_noise():
    """With W = 2v₁ held, Σ = diag(4 + σ², σ², σ²), and ℓ falls beyond all bounds."""
    values = [per_sample(np.array([4 + s2, s2, s2])) for s2 in (0.1, 0.01)]
    assert values[0] > values[1]
    assert says('"If σ = 0', *values)


def test_shrinkage_depends_on_the_units():
    """The code of a score y is √(λ − σ²)/λ · y, and the same in other units."""
    sigma2 = LAM[1:].mean()
    code = np.sqrt(4 - sigma2) / 4
    scaled = np.sqrt((4 - sigma2) / 100) / (4 / 100) * 0.1
    assert code == pytest.approx(scaled)
    assert says("Shrinkage relative", code, scaled)


def test_divisor_of_the_covariance():
    """Inflating Σ by n/(n − 1) lowers the likelihood."""
    sigma2 = LAM[1:].mean()
    best = np.array([4.0, sigma2, sigma2])
    assert says("Which covariance", per_sample(best), per_sample(best * 12 / 11))


# --- principal components ------------------------------------------------------------------------

FOUR = np.array([[1.0, 0.0], [3.0, 1.0], [5.0, 5.0], [7.0, 2.0]])
FOUR_C = FOUR - FOUR.mean(axis=0)
V_FOUR = np.linalg.svd(FOUR_C)[2].T
V1 = V_FOUR[:, 0] * np.sign(V_FOUR[0, 0])


def test_each_variance_is_not_maximised():
    """Turning the plane keeps the sum of variances and more than doubles the second."""
    single = np.var(FOUR_C @ V_FOUR, axis=0)
    turned = np.var(FOUR_C @ V_FOUR @ [[1, -1], [1, 1]] / np.sqrt(2), axis=0)
    assert turned.sum() == pytest.approx(single.sum())
    assert turned[1] > 2 * single[1]
    assert says("Per-coordinate variances", *single, *turned)


def test_the_mean_in_the_reconstruction():
    """Without the mean every decoded row is off by it."""
    line = np.outer(FOUR_C @ V1, V1)
    with_mean = np.linalg.norm(FOUR - FOUR.mean(axis=0) - line)
    assert says("The mean is missing", with_mean, np.linalg.norm(FOUR - line))


def test_a_singular_matrix_can_not_be_cancelled():
    """α = a + 1 solves K²α = λ̃Kα and not Kα = λ̃α, with the same direction."""
    K = FOUR_C @ FOUR_C.T
    lam, a = np.linalg.eigh(K)
    alpha = a[:, -1] + 1
    np.testing.assert_allclose(K @ K @ alpha, lam[-1] * K @ alpha, atol=1e-10)
    np.testing.assert_allclose(FOUR_C.T @ alpha, FOUR_C.T @ a[:, -1], atol=1e-10)
    assert says("A singular matrix", np.linalg.norm(K @ alpha - lam[-1] * alpha))


def test_new_samples_are_shifted():
    """The score of a new sample needs the old mean."""
    t = np.array([2.0, 6.0])
    assert says("The new sample", V1 @ t, V1 @ (t - FOUR.mean(axis=0)))


def test_the_decorrelation_formula_as_printed_has_no_meaning():
    """U_kᵀUΛUᵀU_kᵀ can't be multiplied; with U_k at the end it is Λ_k: eq-pca-decorrelated."""
    U, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))
    Lambda, U_k = np.diag([4.0, 3.0, 2.0, 1.0]), U[:, :2]
    with pytest.raises(ValueError, match="matmul"):
        U_k.T @ U @ Lambda @ U.T @ U_k.T
    np.testing.assert_allclose(U_k.T @ U @ Lambda @ U.T @ U_k, Lambda[:2, :2], atol=1e-12)
