"""The numbers on the errata page, computed again from the statements beside them."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Lasso

from kpca_edu import fit_sparse_pca, sparse_direction
from kpca_edu.datasets import pitprops
from kpca_edu.sparse_pca import sparse_pca_objective

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


def test_top_value_of_what_is_left():
    """s_{k+1} is a value: the spectral norm of A − A_k: eq-error-spectral."""
    left_over = np.diag([0, 2, 1, 0.5])
    assert np.linalg.norm(left_over, 2) == 2
    assert "*value*" in entry("A value called a vector")


def test_orthogonal_factors_may_reflect():
    """If det A < 0, exactly one of the two factors has determinant −1: eq-svd-full."""
    U, _, Vt = np.linalg.svd([[0.0, 1.0], [2.0, 0.0]])
    assert np.linalg.det(U) * np.linalg.det(Vt) == pytest.approx(-1)
    assert "reflections" in entry("Rotation, scaling, rotation")


def test_same_eigenvalues_but_for_zeros():
    """AᵀA is 4 × 4, AAᵀ is 2 × 2, and so is no square of the 2 × 4 matrix of singular values."""
    A = np.random.default_rng(0).standard_normal((2, 4))
    long, short = np.linalg.eigvalsh(A.T @ A), np.linalg.eigvalsh(A @ A.T)
    np.testing.assert_allclose(long[:2], 0, atol=1e-12)
    np.testing.assert_allclose(long[2:], short)
    S = np.zeros((2, 4))
    np.fill_diagonal(S, np.sqrt(short[::-1]))
    with pytest.raises(ValueError, match="matmul"):
        S @ S
    np.testing.assert_allclose(np.diag(S.T @ S), [*short[::-1], 0, 0])
    assert "*non-zero*" in entry("Same eigenvalues?")


def test_two_best_approximations():
    """diag(2, 1, 1) has two best matrices of rank two: cor-unique."""
    A = np.diag([2.0, 1.0, 1.0])
    errors = [np.linalg.norm(A - np.diag(d)) for d in ([2, 1, 0], [2, 0, 1])]
    assert errors == [1, 1]
    assert "need not be unique" in entry("For any k")


def test_the_null_space_may_be_larger():
    """Rank 1 ≤ k = 2 in five columns: the null space has dimension 4 > 5 − 2: lem-hide."""
    B = np.outer([1.0, 2.0], np.ones(5))
    assert 5 - np.linalg.matrix_rank(B) == 4
    assert "*at least*" in entry("The kernel of B")


def test_projections_of_columns_find_left_vectors():
    """‖u₁u₁ᵀA‖ = s₁, and no other line keeps more: eq-keeps-most."""
    A = np.array([[2.0, 1.0], [0.0, 1.0]])
    U, s, Vt = np.linalg.svd(A)
    left, right = (np.linalg.norm(np.outer(w, w) @ A) for w in (U[:, 0], Vt[0]))
    assert left == pytest.approx(s[0])
    assert right < left - 0.01
    assert "*left*" in entry("Left or right")


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


def test_a_basis_needs_the_null_space():
    """Of the start (1, 0) only its part along v₁ = (1, 1)/√2 is spanned: eq-power-coords."""
    A = np.array([[1.0, 1.0]])
    v, start = np.linalg.svd(A)[2][0], np.array([1.0, 0.0])
    left_over = start - (v @ start) * v
    np.testing.assert_allclose(A @ left_over, 0, atol=1e-15)
    assert says("A basis that stops", np.linalg.norm(left_over))


def test_projecting_once_is_not_enough():
    """A start at right angles to v₁ returns to it by rounding: eq-projection."""
    Q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))
    M = Q * [1.0, 0.5, 0.1] @ Q.T
    once, always = Q[:, 1].copy(), Q[:, 1].copy()
    for _ in range(200):
        once, always = M @ once, M @ always
        always -= (Q[:, 0] @ always) * Q[:, 0]
        once, always = once / np.linalg.norm(once), always / np.linalg.norm(always)
    assert abs(once @ Q[:, 0]) > 0.999
    assert abs(always @ Q[:, 1]) > 0.999
    assert "returns to $v_1$ by rounding" in entry("All the singular values")


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


@pytest.mark.parametrize("kept", [3, 2])
def test_all_directions_kept(kept):
    """With k = d every σ² up to λ_d gives Σ = C; k = d − 1 has σ² = λ_d: eq-ppca-max."""
    for sigma2 in np.linspace(0, LAM[-1], 5) if kept == 3 else LAM[-1:]:
        w2 = np.where(np.arange(3) < kept, LAM - sigma2, 0)
        np.testing.assert_allclose(w2 + sigma2, LAM)
    assert r"gives $\Sigma = C$, and so does $k = d - 1$" in entry("All directions kept")


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


def test_no_projection_loses_less():
    """Of all lines through the mean none comes nearer than PCA's: thm-pca."""
    least = np.linalg.svd(FOUR_C)[1][1]
    for t in np.linspace(0, np.pi, 181):
        w = np.array([np.cos(t), np.sin(t)])
        assert np.linalg.norm(FOUR_C - np.outer(FOUR_C @ w, w)) >= least - 1e-12
    assert "among all orthogonal projections of rank $k$" in entry("Minimal over what?")


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
    assert "The last factor is $U_k$" in entry("The last factor")


def test_many_optimal_pairs():
    """V_kM and M⁻¹V_kᵀ lose as little as V_k and V_kᵀ: thm-pca."""
    M = np.array([[2.0]])
    pair = FOUR_C @ V1[:, None] @ M @ np.linalg.inv(M) @ V1[None]
    np.testing.assert_allclose(pair, np.outer(FOUR_C @ V1, V1))
    best = np.linalg.svd(FOUR_C)[1]
    assert np.linalg.norm(FOUR_C @ V1) ** 2 == pytest.approx(best[0] ** 2)
    assert "*sum of the $k$ largest* squares" in entry("The optimal value")
    assert "for every invertible $M$" in entry("One optimal pair")


def test_eigenvectors_outside_the_span():
    """Of 8 eigenvectors, those with λ = 0 are at distance 1 from the data: thm-pca-span."""
    X = np.random.default_rng(0).standard_normal((4, 8))
    Xc = X - X.mean(axis=0)
    V = np.linalg.eigh(Xc.T @ Xc)[1][:, ::-1]
    outside = np.linalg.norm(V - np.linalg.pinv(Xc) @ Xc @ V, axis=0)
    np.testing.assert_allclose(outside, [0, 0, 0, 1, 1, 1, 1, 1], atol=1e-10)
    assert "the others are orthogonal to the data" in entry("Every eigenvector in")


def test_pca_encodes_new_samples():
    """PCA of new samples needs V and the old mean, nothing else: eq-pca-encode."""
    from sklearn.decomposition import PCA

    new = np.array([[2.0, 6.0], [0.0, 1.0]])
    ours = (new - FOUR.mean(axis=0)) @ V_FOUR
    np.testing.assert_allclose(np.abs(PCA(2).fit(FOUR).transform(new)), np.abs(ours))
    assert "It can" in entry("PCA and new samples")


def test_shapes_of_encoder_decoder_and_directions():
    """Samples in columns: U_k is m × k. In rows: V_k encodes, its transpose decodes."""
    k, (n, d) = 1, FOUR.shape
    assert np.linalg.svd(FOUR_C.T)[0][:, :k].shape == (d, k) != (n, k)
    assert r"$U_k$ is $m\times k$, where $m$ is the number of features" in entry("Sizes of U_k")
    encoder, decoder = V_FOUR[:, :k], V_FOUR[:, :k].T
    assert (encoder.shape, decoder.shape) == ((d, k), (k, d))
    text = entry("The decoder changes its shape")
    assert r"$k\times d$ on the left and $d\times k$ on the right" in text


# --- kernel PCA ----------------------------------------------------------------------------------

PLANE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [2.0, 1.0]])
K_PLANE = (PLANE @ PLANE.T + 1) ** 2
J_FOUR = np.eye(4) - 1 / 4
VALUES, VECTORS = (part[..., ::-1] for part in np.linalg.eigh(J_FOUR @ K_PLANE @ J_FOUR))


def quadratic_features(X):
    x, y = X.T
    r = np.sqrt(2)
    return np.column_stack([np.ones(len(X)), r * x, r * y, x * x, r * x * y, y * y])


def test_inner_products_and_weights():
    """φ̃(xᵢ)ᵀv and the weights of v differ by nλ: eq-kpca-span."""
    F = quadratic_features(PLANE) - quadratic_features(PLANE).mean(axis=0)
    v = np.linalg.svd(F)[2][0]
    products = F @ v
    weights = np.linalg.pinv(F.T) @ v
    np.testing.assert_allclose(products, VALUES[0] * weights)
    assert says("Two vectors, one symbol", VALUES[0])


def test_eigenpair_of_the_gram_matrix():
    """K̃ has n times the eigenvalues of C: eq-kpca-dual."""
    C = np.cov(quadratic_features(PLANE).T, ddof=0)
    variance = np.linalg.eigvalsh(C)[-1]
    assert says("The eigenpair of K", VALUES[0], variance)


def test_embeddings_without_the_factor():
    """K̃A is too long by √λ̃ in each column; KA is moreover shifted: eq-kpca-scores."""
    A = VECTORS[:, :2]
    wrong, right = (VALUES[:2] ** p * A for p in (1, 0.5))
    assert says("Embeddings", *wrong.std(axis=0), *right.std(axis=0))
    moved = K_PLANE @ A - wrong
    np.testing.assert_allclose(moved, np.tile(moved[0], (4, 1)), atol=1e-12)


def test_unit_weights_change_the_shape_of_the_picture():
    """With unit columns the ratio of the axes is the square of the right one: eq-kpca-alpha."""
    A, root = VECTORS[:, :2], np.sqrt(VALUES[:2])
    scores = J_FOUR @ K_PLANE @ J_FOUR @ A
    np.testing.assert_allclose(np.linalg.norm(scores / root, axis=0), root)
    long = np.linalg.norm(scores, axis=0)
    assert long[0] / long[1] == pytest.approx((root[0] / root[1]) ** 2)
    assert r"too long by the factor $\sqrt{\tilde\lambda_j}$" in entry('"With normalization"')


def test_uncentred_covariance():
    """The top eigenvector of ΦᵀΦ/n leans to the mean and catches less variance."""
    F = quadratic_features(PLANE)
    v, mean = np.linalg.svd(F)[2][0], F.mean(axis=0)
    cosine = abs(v @ mean) / np.linalg.norm(mean)
    assert says("The covariance of the features", cosine, np.var(F @ v), VALUES[0] / 4)


def test_solutions_of_both_equations():
    """K²a = λ̃Ka has a space of dimension 6, Ka = λ̃a of dimension 1: thm-kpca-dual."""
    F = np.random.default_rng(0).standard_normal((10, 5))
    F -= F.mean(axis=0)
    K = F @ F.T
    lam = np.linalg.eigvalsh(K)[-1]
    squared, plain = (
        10 - np.linalg.matrix_rank(M, tol=1e-8) for M in (K @ K - lam * K, K - lam * np.eye(10))
    )
    assert f"dimensions {squared} and {plain}." in entry("The other case")


def test_sizes_of_the_three_problems():
    """Entries of a direction: features, features of the map, samples."""
    X = np.random.default_rng(0).standard_normal((40, 2))
    sizes = X.shape[1], quadratic_features(X).shape[1], len(X)
    assert "{}, {} and {}".format(*sizes) in entry("The size of the problem")


def test_linear_kernel_of_raw_samples():
    """Without centring the first direction is another one: eq-kpca-linear."""
    raw, right = (np.linalg.svd(X)[2][0] for X in (PLANE, PLANE - PLANE.mean(axis=0)))
    assert says("Linear kernel", np.degrees(np.arccos(abs(raw @ right))))


def test_two_maps_of_one_kernel_and_a_function_without_a_map():
    """(xᵀy)² has maps into three and four dimensions, tanh(xᵀy − 1) none: thm-kpca-psd."""
    x, y = PLANE.T
    three = np.column_stack([x * x, np.sqrt(2) * x * y, y * y])
    four = np.column_stack([x * x, x * y, y * x, y * y])
    np.testing.assert_allclose(three @ three.T, four @ four.T)
    assert np.linalg.eigvalsh(np.tanh(PLANE @ PLANE.T - 1))[0] < -0.1
    assert "may have none" in entry("Choosing φ")


def test_gaussian_gram_matrices_have_full_rank():
    """Twelve distinct samples, rank 12; the quadratic kernel stops at 3: prop-kpca-full-rank."""
    x = np.arange(12.0)
    gap2 = np.subtract.outer(x, x) ** 2
    assert np.linalg.matrix_rank(np.exp(-gap2 / 2)) == 12
    assert np.linalg.matrix_rank((np.outer(x, x) + 1) ** 2) == 3
    assert "no map into any" in entry("An infinite")


def test_classical_scaling_is_kernel_pca():
    """−½JD²J = K̃, the link that was seen later: thm-center-double."""
    k = np.diag(K_PLANE)
    D2 = k[:, None] + k - 2 * K_PLANE
    np.testing.assert_allclose(-J_FOUR @ D2 @ J_FOUR / 2, J_FOUR @ K_PLANE @ J_FOUR, atol=1e-12)
    assert "thm-center-double" in entry("Which came first")


def test_gaussian_with_a_plus():
    """eq-kpca-rbf with the wrong sign is indefinite."""
    K = np.exp(np.array([[0.0, 2.0], [2.0, 0.0]]) / 2)
    assert says("The Gaussian kernel without", *np.linalg.eigvalsh(K))


def test_linear_kernel_lengths():
    """‖Xᵀa‖ = s, and XᵀX = UDUᵀ with the transpose: eq-kpca-linear."""
    Xc = PLANE - PLANE.mean(axis=0)
    a, s, Ut = np.linalg.svd(Xc, full_matrices=False)
    lengths = np.linalg.norm(Xc.T @ a, axis=0)
    np.testing.assert_allclose(Xc.T @ Xc, Ut.T * s**2 @ Ut, atol=1e-12)
    assert np.linalg.norm(Xc.T @ Xc - Ut.T * s**2 @ Ut.T) > 0.5
    assert says("Linear kernel", *lengths)


def test_kernel_nodes_are_no_weighted_sums():
    """The node with centre (1, 0) tells (1, 0) from (0, 1): eq-kpca-network."""
    gap2 = np.array([0.0, 2.0])
    assert says("A network", *np.exp(-gap2 / 2))


def test_the_radius_is_last_for_two_equal_rings():
    """½Var(r²), E[r²], ¼E[r⁴] for radii 1 and 2: eq-kpca-radius."""
    r2 = np.array([1.0, 4.0])
    radius, line, angle = np.var(r2) / 2, r2.mean(), np.mean(r2**2) / 4
    assert radius < min(line, angle)
    assert says("The radius comes first", radius, line, angle)


# --- sparse PCA ----------------------------------------------------------------------------------

PITPROPS, _ = pitprops()


def test_ridge_shortens_and_leaves_nothing_zero():
    """The normal equations of the ridge give λ/(λ + ρ) v, with 13 loadings: eq-spca-ridge."""
    lam, V = np.linalg.eigh(PITPROPS)
    b = np.linalg.solve(PITPROPS + np.eye(13), PITPROPS @ V[:, -1])
    assert np.count_nonzero(np.abs(b) > 1e-6) == 13
    assert says('"The sparse optimizer"', np.linalg.norm(b))
    unsquared = 1 - 1 / (2 * lam[-1])
    b = unsquared * V[:, -1]
    slope = 2 * PITPROPS @ (b - V[:, -1]) + b / np.linalg.norm(b)
    np.testing.assert_allclose(slope, 0, atol=1e-12)
    assert says("The penalty lacks", unsquared)


def test_fewer_loadings_at_a_smaller_penalty():
    """Lasso solutions of scikit-learn at the two penalties: eq-spca-path."""
    rng = np.random.default_rng(1551)
    X = rng.standard_normal((30, 6)) @ rng.standard_normal((6, 6))
    y = X @ np.linalg.svd(X)[2][0]
    counts = []
    for penalty in (5.8215, 1.8030):
        lasso = Lasso(alpha=penalty / 2, fit_intercept=False, tol=1e-12, max_iter=10**6).fit(X, y)
        counts.append(np.count_nonzero(np.abs(lasso.coef_) > 1e-9))
    assert counts == [3, 2]
    assert says('"A larger λ₁', 5.8215, 1.8030)


def test_the_published_numbers_are_penalties_and_no_bounds():
    """As penalties they give the published loadings, whose 1-norm is far above the bound."""
    penalties = [0.06, 0.16, 0.1, 0.5, 0.5, 0.5]
    model = fit_sparse_pca(PITPROPS, 6, l1=penalties, gram=True)
    np.testing.assert_allclose(np.abs(model.B[[0, 1], 0]), [0.477, 0.476], atol=0.004)
    assert says("The numbers for", model.lengths[0] * np.abs(model.B[:, 0]).sum())


def test_targets_that_move_reach_a_lower_criterion():
    """Elastic nets for PCA's own scores are no minimum of the criterion: eq-spca-criterion."""
    V = np.linalg.eigh(PITPROPS)[1][:, :-4:-1]
    fixed = np.column_stack([sparse_direction(PITPROPS, v, 0.5, ridge=0.01) for v in V.T])
    at_pca = sparse_pca_objective(PITPROPS, V, fixed, l1=0.5, ridge=0.01)
    model = fit_sparse_pca(PITPROPS, 3, l1=0.5, gram=True)
    assert model.objective[-1] < at_pca - 0.01
    assert "the targets move as well" in entry("The criterion behind")


def test_hotelling_leaves_a_negative_variance():
    """C − (bᵀCb) bbᵀ for b = (1, 0): eq-spca-hotelling."""
    C, b = np.array([[3.0, 2.0], [2.0, 3.0]]), np.array([1.0, 0.0])
    rest = C - (b @ C @ b) * np.outer(b, b)
    assert says("Hotelling", np.linalg.eigvalsh(rest)[0], np.linalg.norm(rest @ b))


# --- centring ------------------------------------------------------------------------------------

LINE = np.array([0.0, 1.0, 2.0, 4.0])
K_LINE = (np.outer(LINE, LINE) + 1) ** 2
F_LINE = np.column_stack([np.ones(4), np.sqrt(2) * LINE, LINE**2])
F_NEW = np.array([1.0, np.sqrt(2) * 3, 9.0])


def first_alpha():
    """Return α of the first component of the four samples, from explicit features."""
    centred = F_LINE - F_LINE.mean(axis=0)
    lam, a = np.linalg.eigh(centred @ centred.T)
    alpha = a[:, -1] / np.sqrt(lam[-1])
    return alpha * np.sign(alpha[np.abs(alpha).argmax()])


def test_the_mean_of_columns():
    """With points as columns, Φᵀ1 can't be multiplied: eq-center-features."""
    columns = F_LINE.T
    with pytest.raises(ValueError, match="matmul"):
        columns.T @ np.ones(4)
    np.testing.assert_allclose(columns @ np.ones(4) / 4, F_LINE.mean(axis=0))
    assert r"Right is $\frac1n\Phi\mathbf{1}$" in entry("The mean feature is transposed")


def test_centred_gram_is_singular():
    """K̃1 = 0: eq-center-null."""
    centred = F_LINE - F_LINE.mean(axis=0)
    np.testing.assert_allclose(centred @ centred.T @ np.ones(4), 0, atol=1e-12)
    assert "The first of the two cases never occurs" in entry('"K is invertible"')


@pytest.mark.parametrize("n", [4, 9])
def test_rank_of_a_centred_gram_matrix(n):
    """Even a Gaussian kernel leaves n − 1 components at most: eq-center-null."""
    J = np.eye(n) - 1 / n
    K = np.exp(-(np.subtract.outer(np.arange(n), np.arange(n)) ** 2) / 2)
    ranks = [np.linalg.matrix_rank(M, tol=1e-10) for M in (K, J @ K @ J)]
    assert ranks == [n, n - 1]
    assert r"\operatorname{rank}\tilde K \le n - 1" in entry("How many components?")


def test_centring_entry_by_entry():
    """K_ij − κ_i − κ_j + k, with the means of rows and of all entries: eq-center-sums."""
    rows = K_LINE.mean(axis=0)
    J = np.eye(4) - 1 / 4
    np.testing.assert_allclose(K_LINE - rows[:, None] - rows + rows.mean(), J @ K_LINE @ J)
    assert "entry by entry" in entry("Features assigned")


def test_numbers_that_scores_do_not_see():
    """The score is the same with four terms and with two: eq-center-drop."""
    mean, alpha, k = F_LINE.mean(axis=0), first_alpha(), F_NEW @ F_LINE.T
    full = (F_NEW - mean) @ (F_LINE - mean).T @ alpha
    assert (k - K_LINE.mean(axis=0)) @ alpha == pytest.approx(full)
    assert says("Vectors plus numbers", full)


def test_second_moments_lean_to_the_mean():
    """The first eigenvector of ΦᵀΦ/n nearly is the mean: eq-center-moment."""
    mean, C = F_LINE.mean(axis=0), np.cov(F_LINE.T, ddof=0)
    v = np.linalg.eigh(F_LINE.T @ F_LINE)[1][:, -1]
    cos = abs(v @ mean) / np.linalg.norm(mean)
    assert says("A covariance before", cos, v @ C @ v, np.linalg.eigvalsh(C)[-1])


def test_uncentred_kernels_shift_all_scores():
    """Raw kernel values give scores that are off by one number: eq-center-drop."""
    alpha = first_alpha()
    raw_old, raw_new = K_LINE @ alpha, F_NEW @ F_LINE.T @ alpha
    right = (F_NEW - F_LINE.mean(axis=0)) @ F_LINE.T @ alpha
    assert raw_new - right == pytest.approx(raw_old.mean())
    assert says("Centred eigenvectors", raw_old.mean(), raw_new, right)


def test_the_vector_of_the_projection():
    """Only u = 1/√n centres: eq-center-algebra."""
    largest = []
    for u in (np.ones(4), np.ones(4) / 4, np.ones(4) / 2):
        P = np.eye(4) - np.outer(u, u)
        largest.append(np.abs((P @ K_LINE @ P).mean(axis=1)).max())
    assert largest[2] == pytest.approx(0, abs=1e-12)
    assert says("Which u?", *largest[:2])


def test_laplacian_plane_is_another():
    """Top of JWJ and bottom of diag(W1) − W span different planes."""
    W = np.exp(-(np.subtract.outer(LINE, LINE) ** 2) / 2)
    J = np.eye(4) - 1 / 4
    top = np.linalg.eigh(J @ W @ J)[1][:, -2:]
    bottom = np.linalg.eigh(np.diag(W.sum(axis=1)) - W)[1][:, 1:3]
    cosines = np.linalg.svd(top.T @ bottom, compute_uv=False)
    assert says("The main difference", np.degrees(np.arccos(cosines.min())))


def test_means_over_training_samples():
    """New samples are centred by the old mean, not by their own: eq-center-cross."""
    new = np.vstack([F_NEW, [1.0, -np.sqrt(2), 1.0]])
    old_c = F_LINE - F_LINE.mean(axis=0)
    right = (new - F_LINE.mean(axis=0)) @ old_c.T
    wrong = (new - new.mean(axis=0)) @ old_c.T
    assert says("Means over which", right[0, 0], wrong[0, 0])


def test_number_of_explicit_features():
    from math import comb

    assert f"{comb(261, 5):,}" in entry("Explicit centring")


# --- pre-images ----------------------------------------------------------------------------------


def test_the_mean_feature_has_a_length():
    """‖φ̄‖² is the mean of all kernel values."""
    x = np.array([0.0, 1.0, 3.0])
    K = np.exp(-((x[:, None] - x) ** 2) / 2)
    assert says("The reconstruction lacks the mean", np.sqrt(K.mean()))


def test_the_nearest_sample_is_no_index_and_not_the_shortest():
    """Of the samples 0, 1, 3 the feature of 3 is nearest to that of 2.9; that of 0 is shortest."""
    x = np.array([0.0, 1.0, 3.0])
    F, target = (np.column_stack([t, t**2]) for t in (x, np.array([2.9])))
    lost = np.sum(F**2, axis=1) - 2 * F @ target[0]  # eq-pre-nearest
    nearest = np.linalg.norm(F - target, axis=1).argmin()
    assert lost.argmin() == nearest == 2 != x[nearest]
    assert np.linalg.norm(F, axis=1).argmin() == 0
    assert r"$\hat x = x_{j^*}$" in entry("The search over samples")
    assert "*distance*" in entry("Minimum norm")


def test_the_nearest_point_of_the_parabola():
    """The distance to (5, 3) along a fine grid of the parabola."""
    x = np.linspace(2, 2.5, 500_001)
    distance = np.hypot(x**2 - 5, x - 3)
    assert says("The parabola", x[distance.argmin()], distance.min())


def test_the_square_has_another_maximum():
    """‖φ(x) − φ(0) + 2φ(6)‖² expanded at both maxima."""
    x = np.linspace(-2, 8, 10_001)
    h = np.exp(-(x**2) / 2) - 2 * np.exp(-((x - 6) ** 2) / 2)
    ends = x[h.argmax()], x[(h**2).argmax()]
    np.testing.assert_allclose(ends, [0, 6], atol=0.01)
    norm2 = 1 + 4 - 4 * np.exp(-18)
    assert says("Maximising the square", 1 - 2 * h.max() + norm2, 1 - 2 * h.min() + norm2)


def test_a_step_far_away():
    """Weights of both signs, and a denominator near zero."""
    w = np.array([1, -0.95]) * np.exp(-(np.array([0.6, 0.4]) ** 2) / 2)
    assert says("Positive kernel", w[1] / w.sum())


def test_two_profiles_of_the_laplacian():
    """Only g′ in the squared distance makes a fixed point of a stationary point."""
    d = np.array([1.0, 2.0])
    right, printed = np.exp(-d) / (2 * d), np.exp(-(d**2))
    steps = [3 * w[1] / w.sum() for w in (right, printed)]
    assert says("A profile of which", *steps)


# Large data, and documents


def waves_in_the_mean(variance, distance):
    """E 2cos(ωᵀx + b)cos(ωᵀy + b) for ω ~ N(0, variance) and a uniform b, by quadrature."""
    w = np.linspace(-12, 12, 4001) * np.sqrt(variance)
    b = np.linspace(0, 2 * np.pi, 65)[:-1, None]
    x, y = 0.3, 0.3 + distance
    mean = np.mean(2 * np.cos(w * x + b) * np.cos(w * y + b), axis=0)
    density = np.exp(-(w**2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
    return np.trapezoid(mean * density, w)


def test_the_variance_of_the_frequencies():
    """N(0, 1/σ²) has the kernel, N(0, 2/σ²) another one: eq-fourier-frequencies eq-fourier-mean."""
    sigma = 1.3
    right, printed = (waves_in_the_mean(v / sigma**2, sigma) for v in (1, 2))
    assert right == pytest.approx(np.exp(-1 / 2))
    assert printed == pytest.approx(np.exp(-1))
    assert says("Random Fourier features of another kernel", right, printed)


def test_the_factor_of_the_features():
    """Without √(2/m) the diagonal is m/2 in the mean, and 1 with it: eq-fourier."""
    m, sigma = 200, 1.3
    printed = m * waves_in_the_mean(1 / sigma**2, 0.0) / 2
    assert says("Random Fourier features without their factor", printed)
    assert 2 / m * printed == pytest.approx(1)


def test_what_a_factor_of_rank_two_loses():
    """No factor loses less than the eigenvalues beyond m: eq-nystrom eq-nystrom-best."""
    x = np.array([0.0, 1.0, 2.0, 4.0])
    K = np.exp(-((x[:, None] - x) ** 2) / 2)
    least = np.linalg.eigvalsh(K)[:2].sum()
    lost = {}
    for L in combinations(range(4), 2):
        K_nm, K_mm = K[:, L], K[np.ix_(L, L)]
        lost[L] = np.trace(K - K_nm @ np.linalg.inv(K_mm) @ K_nm.T)
    best = min(lost, key=lost.__getitem__)
    assert x[list(best)].tolist() == [1.0, 4.0]
    assert says("A subset of the samples", least, lost[best])


DOCUMENTS = np.array([[2, 2, 0, 0], [0, 0, 3, 1], [1, 1, 1, 1]]) / 4


def test_documents_without_a_common_word():
    centred = DOCUMENTS - DOCUMENTS.mean(axis=0)
    raw = DOCUMENTS[0] @ DOCUMENTS[1]
    assert says("No word in common", raw, centred[0] @ centred[1])


def test_the_first_vector_follows_the_mean_document():
    mean = DOCUMENTS.mean(axis=0)
    v = np.linalg.svd(DOCUMENTS)[2][0]
    centred = np.linalg.svd(DOCUMENTS - mean)[2][0]
    cosine, other = (abs(u @ mean) / np.linalg.norm(mean) for u in (v, centred))
    assert says("PCA called latent semantic analysis", cosine)
    assert other < 0.5


@pytest.mark.parametrize("length", [10, 20, 80])
def test_scores_compare_documents_better_than_words(length):
    """zᵢᵀzⱼ tells the topics better than xᵢᵀxⱼ, most of all for short documents."""
    rng = np.random.default_rng(length)
    topics = np.full((3, 200), 0.5 / 50)
    for j in range(3):
        topics[j, :150] = 0
        topics[j, 50 * j : 50 * (j + 1)] = 0.5 / 50
    kind = rng.integers(0, 3, 300)
    X = np.array([rng.multinomial(length, topics[j]) for j in kind]) / length
    Z = X @ np.linalg.svd(X, full_matrices=False)[2][:3].T
    off = ~np.eye(300, dtype=bool)
    same = (kind[:, None] == kind)[off]
    by_words, by_scores = (np.corrcoef((F @ F.T)[off], same)[0, 1] for F in (X, Z))
    assert by_scores > by_words
    assert r"should end with $x_i^\top x_j$" in entry("Documents")
