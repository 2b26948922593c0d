"""The short chapters at work: what their numbered equations say."""

from itertools import permutations

import numpy as np
import pytest
from scipy import sparse

from kpca_edu import align_signs, fit_kernel_pca, fit_kernel_pca_gram, fit_pca, rbf


class TestFaces:
    @pytest.mark.parametrize("k", [1, 5, 19])
    def test_distance_splits_into_inside_and_outside(self, k):
        """Pythagoras on any picture, fitted or not :eq:`eq-faces-split`."""
        rng = np.random.default_rng(k)
        faces, others = rng.standard_normal((20, 40)) + 3, 5 * rng.standard_normal((7, 40))
        plane = fit_pca(faces, k)
        inside = np.sum(plane.encode(others) ** 2, axis=1)
        outside = np.sum((others - plane.reconstruct(others)) ** 2, axis=1)
        whole = np.sum((others - faces.mean(axis=0)) ** 2, axis=1)
        assert np.allclose(inside + outside, whole, rtol=1e-12)

    def test_all_scores_name_the_neighbours_of_pixels(self):
        """With all directions the two squared distances differ by the error, the same for all
        known faces :eq:`eq-faces-neighbour`; with fewer they don't."""
        rng = np.random.default_rng(0)
        faces, others = rng.standard_normal((20, 40)), rng.standard_normal((7, 40))
        pixels = np.sum((others[:, None] - faces) ** 2, axis=2)
        for k, same in ((19, True), (10, False)):
            plane = fit_pca(faces, k)
            scores = np.sum((plane.encode(others)[:, None] - plane.encode(faces)) ** 2, axis=2)
            rest = np.sum((others - plane.reconstruct(others)) ** 2, axis=1)
            assert np.allclose(scores + rest[:, None], pixels, rtol=1e-12) == same

    def test_the_pictures_come_with_the_package(self):
        """scikit-image carries them: nothing is fetched, and they are what the chapter says."""
        data = pytest.importorskip("skimage.data")
        pictures = data.lfw_subset()
        assert pictures.shape == (200, 25, 25)
        assert pictures.min() == 0
        assert pictures.max() == 1


class TestRelations:
    def graph(self, seed):
        rng = np.random.default_rng(seed)
        W = rng.random((12, 12)) * (rng.random((12, 12)) < 0.5)
        W = np.triu(W, 1) + np.eye(12, k=1)  # a path makes it connected
        return W + W.T

    @pytest.mark.parametrize("seed", range(5))
    def test_the_laplacian_measures_differences_along_links(self, seed):
        """A sum over all pairs, by loops :eq:`eq-rel-energy`."""
        W, y = self.graph(seed), np.random.default_rng(seed).standard_normal(12)
        pairs = [W[i, j] * (y[i] - y[j]) ** 2 for i in range(12) for j in range(i)]
        L = np.diag(W.sum(axis=1)) - W
        assert np.isclose(y @ L @ y, sum(pairs), rtol=1e-12)

    @pytest.mark.parametrize("seed", range(5))
    def test_kernel_pca_of_the_pseudo_inverse(self, seed):
        """Scores are the bottom eigenvectors over roots of eigenvalues :eq:`eq-rel-laplacian`."""
        W = self.graph(seed)
        L = np.diag(W.sum(axis=1)) - W
        lam, V = np.linalg.eigh(L)
        scores = fit_kernel_pca_gram(np.linalg.pinv(L, hermitian=True), 3).scores
        wanted = V[:, 1:4] / np.sqrt(lam[1:4])
        assert np.allclose(align_signs(scores, wanted), scores, atol=1e-9)

    def test_regression_shrinks_components(self):
        """Fitted values by a linear system and by eigenvectors :eq:`eq-rel-shrink`."""
        rng = np.random.default_rng(0)
        B, y = rng.standard_normal((10, 4)), rng.standard_normal(10)
        K, rho = B @ B.T, 0.3
        lam, A = np.linalg.eigh(K)
        shrunk = sum(v / (v + rho) * (a @ y) * a for v, a in zip(lam, A.T, strict=True))
        assert np.allclose(K @ np.linalg.solve(K + rho * np.eye(10), y), shrunk, atol=1e-10)

    @pytest.mark.parametrize("seed", range(3))
    def test_no_codes_are_more_likely(self, seed):
        """Probabilistic PCA turned over: nearby codes are less likely :eq:`eq-rel-dual`."""
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((9, 5)) * [3, 2, 1, 1, 1]
        S = (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T / 5
        lam, A = np.linalg.eigh(S)
        sigma2 = lam[:-2].mean()
        best = A[:, -2:] * np.sqrt(lam[-2:] - sigma2)

        def log_likelihood(Z, noise):
            C = Z @ Z.T + noise * np.eye(9)
            return -np.linalg.slogdet(C)[1] - np.trace(np.linalg.solve(C, S))

        top = log_likelihood(best, sigma2)
        turned = best @ np.array([[0.6, -0.8], [0.8, 0.6]])
        assert np.isclose(log_likelihood(turned, sigma2), top, rtol=1e-12)
        for _ in range(20):
            other = best + 0.1 * rng.standard_normal((9, 2))
            assert log_likelihood(other, sigma2) < top
            assert log_likelihood(best, sigma2 * rng.uniform(1.05, 2)) < top


class TestGenes:
    @pytest.mark.parametrize("seed", [0, 1])
    def test_people_share_the_frequency_and_nothing_else(self, seed):
        """Covariances by listing all outcomes of two persons' coins :eq:`eq-genes-covariance`."""
        rng = np.random.default_rng(seed)
        p, chance = rng.uniform(0.05, 0.95, (4, 2)), rng.dirichlet(np.ones(4))
        binomial = np.stack([(1 - p) ** 2, 2 * p * (1 - p), p**2])  # (genotype, field, person)
        x = np.arange(3)
        mean = np.einsum("f,gfi,g->i", chance, binomial, x)
        cross = np.einsum("f,gf,hf,g,h", chance, binomial[..., 0], binomial[..., 1], x, x)
        square = np.einsum("f,gfi,g->i", chance, binomial, x**2)
        around = p - chance @ p
        shared = 4 * around.T @ (chance[:, None] * around)
        assert np.isclose(cross - mean[0] * mean[1], shared[0, 1], rtol=1e-12)
        assert np.allclose(square - mean**2, np.diag(shared) + 2 * chance @ (p * (1 - p)))

    def test_a_smooth_land_gives_the_components_of_its_places(self):
        """Without coins, scaled frequencies have the kernel PCA of the places."""
        rng = np.random.default_rng(0)
        places = rng.uniform(-1, 1, (60, 2)) * (1.5, 1)
        K = rbf(1.5)(places, places)
        fields = np.linalg.cholesky(K + 1e-9 * np.eye(60)) @ rng.standard_normal((60, 20_000))
        p = 1 / (1 + np.exp(-0.1 * fields))
        genes, of_places = fit_pca(p, 2), fit_kernel_pca(places, 2, rbf(1.5))
        cosines = np.abs(np.corrcoef(genes.encode(p).T, of_places.scores.T)[:2, 2:])
        assert np.diag(cosines).min() > 0.99


class TestDocuments:
    def test_weights_are_those_of_scikit_learn_but_for_the_one(self):
        """(1 + log n_ij) log(n/n_j) :eq:`eq-documents-weight`: scikit-learn adds 1 to the log."""
        text = pytest.importorskip("sklearn.feature_extraction.text")
        counts = np.random.default_rng(0).poisson(0.4, (12, 6))
        counts[0] = 1
        rarity = np.log(12 / np.count_nonzero(counts, axis=0))
        tf = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
        theirs = text.TfidfTransformer(norm=None, smooth_idf=False, sublinear_tf=True)
        assert np.allclose(theirs.fit_transform(counts).toarray() - tf, tf * rarity)

    @pytest.mark.parametrize("k", [1, 4, 8])
    def test_scores_compare_through_links(self, k):
        """z_i·z_j = x_iᵀ(VVᵀ)x_j :eq:`eq-documents-link`; with all directions it is x_i·x_j."""
        X = np.random.default_rng(1).poisson(0.5, (8, 30)).astype(float)
        model = fit_pca(sparse.csr_array(X), k, center=False, solver="lanczos")
        Z = model.encode(X)
        assert np.allclose(Z @ Z.T, X @ model.V @ model.V.T @ X.T)
        assert np.allclose(Z @ Z.T, X @ X.T) == (k == 8)

    def test_the_smallest_example(self):
        """ "car wheel" and "motor wheel": the link between car and motor is 1/6."""
        v = fit_pca([[1.0, 1, 0], [0, 1, 1]], 1, center=False).V[:, 0]
        assert np.isclose(v[0] * v[2], 1 / 6)


class TestNovelty:
    @pytest.mark.parametrize(("m", "j"), [(1, 1), (4, 2), (5, 1)])
    def test_ranks_promise_false_alarms(self, m, j):
        """All orders of m + 1 errors are equally likely: count them :eq:`eq-novelty-rank`."""
        orders = np.array(list(permutations(range(m + 1))))
        limits = np.sort(orders[:, :m], axis=1)[:, -j]
        assert np.isclose(np.mean(orders[:, m] > limits), j / (m + 1), rtol=1e-12)
