"""Moments of blocks, one pass, checkpoints, Dask: the same PCA however the rows arrive."""

import itertools
import logging
import os
import pickle
import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from kpca_edu import fit_kernel_pca, fit_kernel_pca_features, fit_pca, fourier_features
from kpca_edu._engine.stream import (
    mapped,
    oja_steps,
    rows_less_running_mean,
    shifted_sums,
    tree_sum,
)
from kpca_edu.compare import fix_signs, subspace_angles
from kpca_edu.datasets import matrix_with_singular_values
from kpca_edu.kernels import rbf
from kpca_edu.streaming import (
    Moments,
    accumulate,
    centered_blocks,
    encode_dask,
    fit_kernel_pca_blocks,
    fit_kernel_pca_dask,
    fit_pca_blocks,
    fit_pca_dask,
    frequent_directions,
    merge,
    oja_directions,
    oja_step,
    pca_of_moments,
    shrink,
    summarize,
)


def rows(n=200, d=5, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.arange(d, 0, -1) + offset


def assert_same(a: Moments, b: Moments, rtol=1e-12):
    assert a.n == b.n
    size = np.sqrt(np.abs(b.scatter).max() / max(b.n, 1)) + np.abs(b.mean).max()
    np.testing.assert_allclose(a.mean, b.mean, rtol=0, atol=rtol * size)
    np.testing.assert_allclose(a.scatter, b.scatter, rtol=0, atol=rtol * np.abs(b.scatter).max())


cuts = st.lists(st.integers(0, 40), min_size=1, max_size=6)


class TestMoments:
    def test_by_hand(self):
        """n, mean and scatter of two rows: eq-moments."""
        moments = summarize([[1.0, 0.0], [3.0, 4.0]])
        assert moments.n == 2
        np.testing.assert_allclose(moments.mean, [2, 2])
        np.testing.assert_allclose(moments.scatter, [[2, 4], [4, 8]])
        np.testing.assert_allclose(moments.covariance, [[1, 2], [2, 4]])

    @given(sizes=cuts, seed=st.integers(0, 100))
    @settings(max_examples=40, deadline=None)
    def test_merging_is_summarising_together(self, sizes, seed):
        """Empty, single and unequal blocks give the moments of all rows: eq-merge."""
        X = rows(sum(sizes) + 1, seed=seed, offset=3.0)
        blocks = np.split(X, np.cumsum(sizes))
        merged = accumulate(blocks)
        assert_same(merged, summarize(X))

    @given(
        sizes=st.tuples(*[st.integers(0, 40)] * 3),
        d=st.integers(1, 6),
        apart=st.floats(0, 100),
        scale=st.sampled_from([1e-100, 1e-3, 1.0, 1e5, 1e100]),
        seed=st.integers(0, 1000),
    )
    @settings(max_examples=60, deadline=None)
    def test_merge_is_commutative_and_associative(self, sizes, d, apart, scale, seed):
        """Any order of three blocks, far apart or not, gives the same: eq-merge."""
        X = [scale * rows(n, d, seed + i, offset=i * apart) for i, n in enumerate(sizes)]
        a, b, c = map(summarize, X)
        whole = merge(merge(a, b), c)
        if whole.n:
            assert_same(whole, summarize(np.vstack(X)), rtol=1e-11)
        for other in (merge(a, merge(b, c)), merge(merge(c, a), b), merge(c, merge(b, a))):
            assert_same(other, whole, rtol=1e-11)

    @given(parts=st.lists(st.integers(1, 9), min_size=2, max_size=12), seed=st.integers(0, 100))
    @settings(max_examples=40, deadline=None)
    def test_a_tree_merges_as_a_chain(self, parts, seed):
        """eq-merge in pairs, and pairs of pairs, as a cluster does it."""
        blocks = [rows(n, 3, seed + i, offset=i) for i, n in enumerate(parts)]
        assert_same(tree_sum(list(map(summarize, blocks)), merge), accumulate(blocks))

    def test_the_scatter_stays_positive(self):
        """What is merged has no negative variance, which the shorter formula can have."""
        for seed in range(30):
            X = rows(20, 3, seed, offset=1e9)
            S = accumulate(np.array_split(X, 6)).scatter
            assert np.array_equal(S, S.T)
            assert np.linalg.eigvalsh(S)[0] >= -1e-10 * np.trace(S)

    def test_an_empty_block_changes_nothing(self):
        a, nothing = summarize(rows()), summarize(np.empty((0, 5)))
        assert nothing.n == 0
        assert merge(a, nothing) is a
        assert merge(nothing, a) is a

    def test_a_large_offset_costs_no_digits(self):
        """Against mpmath, in blocks: eq-textbook would lose what eq-textbook-error says."""
        X = rows(120, 2, offset=1e8)
        moments = accumulate(np.array_split(X, 11))
        with mp.workdps(40):
            column = [mp.mpf(float(x)) for x in X[:, 0]]
            mean = mp.fsum(column) / len(column)
            scatter = float(mp.fsum((x - mean) ** 2 for x in column))
        assert moments.scatter[0, 0] == pytest.approx(scatter, rel=1e-7)
        naive = np.sum(X[:, 0] ** 2) - len(X) * np.mean(X[:, 0]) ** 2  # eq-textbook
        assert abs(naive - scatter) > 1e-3 * scatter  # the formula that the chapter warns of

    @pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
    def test_other_numbers_become_doubles(self, dtype):
        X = (rows() > 0).astype(dtype)
        assert summarize(X).scatter.dtype == float
        assert_same(summarize(X), summarize(X.astype(float)))

    @pytest.mark.parametrize("mean", [0, 1e2, 1e4, 1e6])
    def test_the_shorter_formula_loses_what_it_should(self, mean):
        """Its error is at most some ε(1 + x̄²/σ²), over 20 streams: eq-textbook-error."""
        eps, worst = np.finfo(float).eps, 0.0
        for seed in range(20):
            x = np.random.default_rng(seed).integers(-2000, 2000, 500) / 1024
            exact = summarize(x[:, None]).scatter[0, 0]  # the shift below is exact
            y = x + mean
            error = abs((np.sum(y**2) - np.sum(y) ** 2 / 500) / exact - 1)
            worst = max(worst, error / (eps * (1 + mean**2 / (exact / 500))))
        assert worst < 50
        assert mean < 1e3 or worst > 1e-3  # and it does lose them

    def test_models_survive(self):
        moments = pickle.loads(pickle.dumps(summarize(rows())))
        assert repr(moments) == "Moments(n=200, d=5)"
        with pytest.raises(ValueError, match="read-only"):
            moments.scatter[0, 0] = 1

    @pytest.mark.parametrize("n", [1, 2, 1023, 1024, 1025, 70_000])
    def test_panels_add_up(self, n):
        """The engine's sums are those of one plain product."""
        X = rows(n, 2, offset=3.0)
        squares, rest = shifted_sums(X, np.array([2.5, 3.0]))
        X_c = X - [2.5, 3.0]
        np.testing.assert_allclose(squares, X_c.T @ X_c, rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(rest, X_c.mean(axis=0), rtol=1e-10, atol=1e-12)

    def test_a_long_block_is_not_copied(self):
        """What a block needs beside itself are some of its rows at a time: eq-moments."""
        X = rows(400_000, 3)
        summarize(X[:5])
        tracemalloc.start()
        summarize(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < X.nbytes / 2


class TestOnePass:
    @pytest.mark.parametrize("count", [1, 2, 7, 200])
    def test_blocks_give_the_pca_of_all_rows(self, count):
        """Each way of cutting gives what fit_pca finds: eq-moments, eq-merge."""
        X = rows(offset=10.0)
        model, whole = fit_pca_blocks(np.array_split(X, count), 3), fit_pca(X, 3)
        np.testing.assert_allclose(model.variances, whole.variances, rtol=1e-10)
        np.testing.assert_allclose(model.V, whole.V, atol=1e-10)
        np.testing.assert_allclose(model.mean, whole.mean, rtol=1e-12)
        np.testing.assert_allclose(model.explained_ratio, whole.explained_ratio, rtol=1e-10)
        assert model.n == whole.n

    def test_any_iterable_serves(self, tmp_path):
        X = rows()
        np.save(tmp_path / "X.npy", X)
        stored = np.load(tmp_path / "X.npy", mmap_mode="r")
        ways = [
            (X[i : i + 30] for i in range(0, 200, 30)),
            iter([X.tolist()]),
            (stored[i : i + 64] for i in range(0, 200, 64)),
            [block for row in X for block in (row[None], X[:0])],  # single rows, empty blocks
        ]
        for blocks in ways:
            np.testing.assert_allclose(fit_pca_blocks(blocks, 2).V, fit_pca(X, 2).V, atol=1e-10)

    def test_features_make_it_kernel_pca(self):
        """One pass over features equals the fit in memory, and is near exact kernel PCA."""
        X = rows(300, 3) / 3
        features = fourier_features(3, 400, 1.5)
        in_blocks = fit_kernel_pca_blocks(np.array_split(X, 9), 4, features)
        at_once = fit_kernel_pca_features(X, 4, features)
        np.testing.assert_allclose(in_blocks.variances, at_once.variances, rtol=1e-8)
        np.testing.assert_allclose(in_blocks.encode(X), at_once.encode(X), atol=1e-8)
        np.testing.assert_allclose(at_once.scores, at_once.encode(X), atol=1e-10)
        exact = fit_kernel_pca(X, 4, rbf(1.5))
        np.testing.assert_allclose(in_blocks.variances, exact.variances, rtol=0.2)

    @pytest.mark.parametrize("count", [50, 400])
    def test_memory_is_a_block_and_some_matrices(self, count):
        """However many blocks pass, O(d² + block) numbers are in memory: eq-moments."""

        def stream():
            rng = np.random.default_rng(0)
            return (rng.standard_normal((500, 30)) for _ in range(count))

        fit_pca_blocks(stream(), 2)  # what is imported on first use is no part of it
        tracemalloc.start()
        fit_pca_blocks(stream(), 2)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 4 * 8 * 500 * 30 + 30 * 8 * 30**2

    def test_features_need_no_memory_for_all_rows(self):
        features = fourier_features(4, 100, 2.0)
        X = rows(20_000, 4)
        tracemalloc.start()
        fit_kernel_pca_blocks((X[i : i + 200] for i in range(0, len(X), 200)), 2, features)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 20_000 * 100 * 8 / 4  # all features would be 16 MB

    def test_a_bar_shows_the_blocks(self, capsys):
        pytest.importorskip("tqdm")
        quiet = fit_pca_blocks([rows()], 2)
        shown = fit_pca_blocks([rows()], 2, progress=True)
        assert "blocks" in "".join(capsys.readouterr())
        assert np.array_equal(quiet.V, shown.V)

    @pytest.mark.parametrize(
        ("blocks", "words"),
        [
            ([], "no blocks"),
            ([np.empty((0, 3))], "no rows"),
            ([np.eye(3), np.eye(4)], "Block 1: 4 columns after 3"),
            ([np.eye(3), np.full((2, 3), np.nan)], "Block 1: "),
            ([np.eye(3), "text"], "Block 1: "),
            ([np.ones(3)], "Block 0: block is 1-D"),
            ([np.eye(3), np.empty((0, 4))], "Block 1: 4 columns after 3"),
        ],
    )
    def test_bad_blocks_are_named(self, blocks, words):
        with pytest.raises(ValueError, match=words):
            fit_pca_blocks(blocks, 1)
        if words.startswith("Block"):
            for function in (oja_directions, frequent_directions):
                with pytest.raises(ValueError, match=words):
                    function(blocks, 1)
            with pytest.raises(ValueError, match=words):
                list(centered_blocks(blocks))

    def test_more_components_than_there_are(self):
        with pytest.raises(ValueError, match="k=4 components asked of 5 rows of 3 features"):
            fit_pca_blocks([np.eye(5)[:, :3]], 4)

    def test_rank_deficient_rows_have_zero_variance_left(self):
        model = fit_pca_blocks([np.outer(np.arange(6.0), [1, 2, 2])], 2)
        assert model.s[1] == 0
        np.testing.assert_allclose(np.abs(model.V[:, 0]), [1 / 3, 2 / 3, 2 / 3])
        np.testing.assert_allclose(model.V.T @ model.V, np.eye(2), atol=1e-12)

    def test_the_price_of_squares(self):
        """Moments lose s below 1e-8 s₁, triangular factors keep them: eq-merge-qr."""
        rng, values = np.random.default_rng(0), 10.0 ** -np.arange(12)
        U = np.linalg.qr(np.column_stack([np.ones(200), rng.standard_normal((200, 12))]))[0]
        X = (U[:, 1:] * values) @ np.linalg.qr(rng.standard_normal((12, 12)))[0].T
        R = np.zeros((12, 12))
        for part in centered_blocks(np.array_split(X, 7)):
            R = np.linalg.qr(np.vstack([R, part]))[1]
        np.testing.assert_allclose(np.linalg.svd(R)[1], values, rtol=1e-3)
        by_moments = fit_pca_blocks(np.array_split(X, 7), 12).s
        np.testing.assert_allclose(by_moments[:7], values[:7], rtol=1e-2)
        assert np.all(np.abs(by_moments[10:] / values[10:] - 1) > 0.1)


class Interrupted(Exception):
    pass


class TestCheckpoint:
    def blocks(self, stop=None):
        for i, block in enumerate(np.array_split(rows(offset=5.0), 13)):
            if i == stop:
                raise Interrupted
            yield block

    @pytest.mark.parametrize("stop", [0, 1, 4, 5, 12])
    def test_resuming_gives_the_same_bits(self, tmp_path, stop):
        path = tmp_path / "sums.npz"
        with pytest.raises(Interrupted):
            accumulate(self.blocks(stop), checkpoint=path, every=2)
        assert path.exists() == (stop >= 2)
        resumed = accumulate(self.blocks(), checkpoint=path, every=2)
        straight = accumulate(self.blocks())
        assert resumed.n == straight.n
        assert np.array_equal(resumed.mean, straight.mean)
        assert np.array_equal(resumed.scatter, straight.scatter)

    def test_a_finished_checkpoint_needs_no_block_again(self, tmp_path):
        first = accumulate(self.blocks(), checkpoint=tmp_path / "sums.npz")
        seen = []

        def spy():
            for block in self.blocks():
                seen.append(block)
                yield block[:0] + np.nan  # would fail if it were summarised

        again = accumulate(spy(), checkpoint=tmp_path / "sums.npz")
        assert np.array_equal(again.scatter, first.scatter)
        assert len(seen) == 13

    def test_a_finished_checkpoint_stays_as_it_is(self, tmp_path):
        """Looking at it changes nothing: it can be looked at again, and gone on from."""
        path = tmp_path / "sums.npz"
        for _ in range(3):
            whole = accumulate(self.blocks(), checkpoint=path)
            assert np.load(path)["blocks"] == 13
        more = accumulate(itertools.chain(self.blocks(), [np.zeros((4, 5))]), checkpoint=path)
        assert more.n == whole.n + 4

    @pytest.mark.parametrize("few", [0, 2, 12])
    def test_a_checkpoint_of_other_data_is_refused(self, tmp_path, few):
        accumulate(self.blocks(), checkpoint=tmp_path / "sums.npz")
        with pytest.raises(ValueError, match=f"holds 13 blocks, and {few} were given"):
            accumulate(itertools.islice(self.blocks(), few), checkpoint=tmp_path / "sums.npz")

    def test_a_checkpoint_that_cannot_be_written_is_refused_at_the_start(self, tmp_path):
        """Not after the blocks have been read."""
        unread = (1 / 0 for _ in range(1))
        for path in (tmp_path, tmp_path / "nowhere" / "sums.npz"):
            with pytest.raises(ValueError, match="a folder that exists"):
                accumulate(unread, checkpoint=path)

    @pytest.mark.parametrize(
        "wrong", [{"scatter": np.eye(4)}, {"n": np.ones(2)}, {"blocks": "x"}, {"blocks": [1, 2]}]
    )
    def test_an_archive_with_other_content_is_refused(self, tmp_path, wrong):
        content = {"n": 3, "mean": np.zeros(5), "scatter": np.eye(5), "blocks": 0}
        np.savez(tmp_path / "sums.npz", **{**content, **wrong})
        with pytest.raises(ValueError, match="is no checkpoint"):
            accumulate(self.blocks(), checkpoint=tmp_path / "sums.npz")

    def test_a_file_of_another_kind_is_refused(self, tmp_path):
        (tmp_path / "sums.npz").write_text("no archive")
        with pytest.raises(ValueError, match="is no checkpoint"):
            accumulate(self.blocks(), checkpoint=tmp_path / "sums.npz")


class TestDask:
    da = pytest.importorskip("dask.array")

    @pytest.mark.parametrize("chunks", [(200, 5), (13, 5), (50, 2), (1, 5), ((150, 0, 50), (5,))])
    def test_each_chunking_gives_the_same(self, chunks):
        """Equal chunks, single rows, empty ones, chunks of columns: eq-merge."""
        X = rows(offset=2.0)
        array = self.da.from_array(X, chunks=chunks)
        model, whole = fit_pca_dask(array, 3), fit_pca(X, 3)
        np.testing.assert_allclose(model.V, whole.V, atol=1e-10)
        np.testing.assert_allclose(model.variances, whole.variances, rtol=1e-10)
        Z = encode_dask(model, array)
        assert Z.shape == (200, 3)
        np.testing.assert_allclose(Z.compute(), whole.encode(X), atol=1e-10)

    @given(sizes=st.lists(st.integers(1, 60), min_size=1, max_size=8))
    @settings(max_examples=15, deadline=None)
    def test_chunks_of_any_lengths(self, sizes):
        X = rows(sum(sizes) + 3, 3, offset=-1.0)
        array = self.da.from_array(X, chunks=((*sizes, 3), 3))
        np.testing.assert_allclose(fit_pca_dask(array, 2).V, fit_pca(X, 2).V, atol=1e-9)

    def test_rows_that_nobody_has_counted(self):
        """After a selection Dask does not know how many rows a chunk has."""
        X = rows()
        array = self.da.from_array(X, chunks=(30, 5))
        kept = array[array[:, 0] > 0]
        whole = fit_pca(X[X[:, 0] > 0], 2)
        model = fit_pca_dask(kept, 2)
        np.testing.assert_allclose(model.V, whole.V, atol=1e-10)
        Z = encode_dask(model, kept).compute()
        np.testing.assert_allclose(Z, whole.encode(X[X[:, 0] > 0]), atol=1e-10)

    def test_kernel_pca(self):
        X = rows(100, 3)
        features = fourier_features(3, 50, 4.0)
        model = fit_kernel_pca_dask(self.da.from_array(X, chunks=(17, 3)), 2, features)
        wanted = fit_kernel_pca_features(X, 2, features)
        np.testing.assert_allclose(model.variances, wanted.variances, rtol=1e-10)
        np.testing.assert_allclose(
            encode_dask(model, self.da.from_array(X, chunks=(30, 3))).compute(),
            wanted.encode(X),
            atol=1e-9,
        )

    def test_a_plain_function_serves_as_feature_map(self):
        X = rows(60, 2)
        model = fit_kernel_pca_dask(self.da.from_array(X, chunks=(25, 2)), 2, np.tanh)
        np.testing.assert_allclose(model.pca.V, fit_pca(np.tanh(X), 2).V, atol=1e-10)

    def test_what_is_no_dask_array_is_refused(self):
        with pytest.raises(ValueError, match="a Dask array is needed"):
            fit_pca_dask(rows(), 2)
        with pytest.raises(ValueError, match="1-D"):
            fit_pca_dask(self.da.ones(5, chunks=2), 2)

    @pytest.mark.parametrize("part", ["to_delayed", "rechunk"])
    def test_what_has_half_of_a_dask_array_is_none(self, part):
        """As a Dask table, whose parts have no known length."""
        with pytest.raises(ValueError, match="a Dask array is needed"):
            fit_pca_dask(SimpleNamespace(**{part: None, "ndim": 2}), 2)

    def test_a_bad_chunk_is_named(self):
        X = rows()
        X[75, 2] = np.nan
        array = self.da.from_array(X, chunks=(20, 5))
        with pytest.raises(ValueError, match="Block 3: "):
            fit_pca_dask(array, 2)
        with pytest.raises(ValueError, match="Block 3: block holds NaN"):
            fit_kernel_pca_dask(array, 2, fourier_features(5, 10, 1.0))
        with pytest.raises(ValueError, match="Block 0: "):  # a map of other samples
            fit_kernel_pca_dask(self.da.ones((6, 4)), 2, fourier_features(5, 10, 1.0))

    def test_dasks_own_bar(self, capsys):
        array = self.da.from_array(rows(), chunks=(50, 5))
        fit_pca_dask(array, 2, progress=True)
        assert "Completed" in capsys.readouterr().out
        fit_pca_dask(array, 2)
        assert capsys.readouterr().out == ""

    def test_without_dask_one_sentence_says_so(self, monkeypatch):
        array = self.da.from_array(rows(), chunks=(50, 5))
        monkeypatch.setitem(sys.modules, "dask", None)
        with pytest.raises(ImportError, match=r"This needs Dask: pip install 'kpca_edu\[dask\]'"):
            fit_pca_dask(array, 2)

    def test_the_tree_adds_each_part_once(self):
        for count in range(1, 20):
            parts = [(i,) for i in range(count)]
            assert tree_sum(parts, lambda a, b: a + b) == tuple(range(count))


PATIENT = {  # a busy machine may take as long as it likes
    "distributed.comm.timeouts.connect": "15s",  # so long a killed worker is asked for its results
    "distributed.comm.timeouts.tcp": "10h",
    "distributed.deploy.lost-worker-timeout": "10h",
    "distributed.scheduler.worker-ttl": None,
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two worker processes on this machine: any free port, nothing left behind."""
    pytest.importorskip("distributed")
    import dask
    from dask.distributed import Client, LocalCluster

    place = tmp_path_factory.mktemp("workers")
    with (
        dask.config.set(PATIENT),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=0,  # none: workers that run short would be stopped
            dashboard_address=":0",
            local_directory=str(place),
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(2)
        yield client


class TestCluster:
    """Two workers with processes of their own, as on two machines."""

    @pytest.fixture
    def files(self, tmp_path):
        """Eleven .npy files, and the Dask array that reads each when a worker needs it."""
        import dask
        import dask.array as da

        X = rows(1100, 6, offset=4.0)
        parts = []
        for i, part in enumerate(np.array_split(X, 11)):
            np.save(tmp_path / f"{i:02}.npy", part)
            lazy = dask.delayed(np.load)(tmp_path / f"{i:02}.npy")
            parts.append(da.from_delayed(lazy, part.shape, part.dtype))
        return X, da.concatenate(parts)

    def test_the_workers_are_other_processes(self, cluster):
        places = cluster.run(os.getpid)
        assert len(set(places.values()) - {os.getpid()}) == 2

    def test_files_give_what_memory_gives(self, cluster, files):
        """PCA, approximate kernel PCA and scores, from parts that the workers read: eq-merge."""
        X, array = files
        model, whole = fit_pca_dask(array, 3), fit_pca(X, 3)
        np.testing.assert_allclose(model.V, whole.V, atol=1e-10)
        np.testing.assert_allclose(model.variances, whole.variances, rtol=1e-10)
        np.testing.assert_allclose(encode_dask(model, array), whole.encode(X), atol=1e-10)
        features = fourier_features(6, 40, 8.0)
        model = fit_kernel_pca_dask(array, 3, features)
        whole = fit_kernel_pca_features(X, 3, features)
        np.testing.assert_allclose(model.variances, whole.variances, rtol=1e-10)
        np.testing.assert_allclose(encode_dask(model, array), whole.encode(X), atol=1e-10)

    def test_a_killed_worker_changes_nothing(self, cluster, files, tmp_path):
        """The first worker that gets part 5 is gone at once; its parts are done again."""
        X, array = files
        fuse = str(tmp_path / "blown")

        def deadly(block, block_info=None):
            if block_info[0]["chunk-location"][0] == 5 and not os.path.exists(fuse):
                open(fuse, "w").close()
                os._exit(1)
            return block

        before = set(cluster.run(os.getpid).values())
        model = fit_pca_dask(array.map_blocks(deadly, dtype=float), 3)
        assert os.path.exists(fuse)
        cluster.wait_for_workers(2)
        assert set(cluster.run(os.getpid).values()) != before
        undisturbed = fit_pca_dask(array, 3)
        np.testing.assert_allclose(model.V, undisturbed.V, atol=1e-13)
        np.testing.assert_allclose(model.s, undisturbed.s, rtol=1e-13)
        np.testing.assert_allclose(model.V, fit_pca(X, 3).V, atol=1e-10)

    def test_a_bad_file_is_named_across_processes(self, cluster, files):
        X, array = files
        with pytest.raises(ValueError, match="Block 10: "):
            fit_pca_dask(self.spoilt(array), 2)

    @staticmethod
    def spoilt(array):
        import dask.array as da

        last = da.full_like(array[-100:], np.nan)
        return da.concatenate([array[:-100], last])

    def test_the_bar_of_the_cluster(self, cluster, files, capsys):
        assert fit_pca_dask(files[1], 2, progress=True).n == 1100


class TestBesideDaskML:
    """dask-ml, where it is installed: what chapter 12 says of its solvers."""

    da = pytest.importorskip("dask.array")

    @pytest.fixture
    def peer(self):
        reason = "dask-ml is not installed: `pip install dask-ml` lets this test run."
        return pytest.importorskip("dask_ml.decomposition", reason=reason).PCA

    def test_its_full_solver_agrees(self, peer):
        X = rows(600, 5, offset=20.0)
        array = self.da.from_array(X, chunks=(70, 5))
        ours, theirs = fit_pca_dask(array, 2), peer(2, svd_solver="full").fit(array)
        np.testing.assert_allclose(ours.variances * 600 / 599, theirs.explained_variance_)
        np.testing.assert_allclose(np.abs(theirs.components_.T), np.abs(ours.V), atol=1e-10)
        Z = theirs.transform(array).compute()
        np.testing.assert_allclose(np.abs(Z), np.abs(ours.encode(X)), atol=1e-9)

    def test_its_random_solver_loses_small_values(self, peer):
        """More power steps make s₁₀ worse, as the default of svd_compressed does."""
        values = np.r_[10.0 ** -np.linspace(0, 4, 10), 1e-4 * np.linspace(0.9, 0.3, 50)]
        X = matrix_with_singular_values(values, 600, 80, rng=0)
        array, right = self.da.from_array(X, chunks=(100, 80)), fit_pca(X, 10).s[9]
        assert fit_pca_dask(array, 10).s[9] == pytest.approx(right, rel=1e-6)
        few, many = (
            peer(10, svd_solver="randomized", iterated_power=q, random_state=0).fit(array)
            for q in (1, 4)
        )
        assert few.singular_values_[9] == pytest.approx(right, rel=0.15)
        assert abs(many.singular_values_[9] / right - 1) > 0.5


class TestWithoutAMatrix:
    def test_oja_step_by_hand(self):
        """V ← orth(V + η x xᵀV): eq-oja."""
        V = oja_step(np.array([[1.0], [0.0]]), np.array([1.0, 1.0]), 1.0)
        np.testing.assert_allclose(V[:, 0], np.array([2.0, 1.0]) / np.sqrt(5))

    def test_oja_has_its_rate(self):
        """t·E sin² tends to the sum of the theory, for one direction and η = c/t: eq-oja-rate."""
        lam, c, t_last, runs = np.array([4.0, 1.0, 0.25]), 0.8, 2000, 400
        rng = np.random.default_rng(0)
        v = rng.standard_normal((runs, 3))  # a stream each
        for t in range(1, t_last + 1):
            x = rng.standard_normal((runs, 3)) * np.sqrt(lam)
            v = v + c / t * x * np.sum(x * v, axis=1, keepdims=True)
            v /= np.linalg.norm(v, axis=1, keepdims=True)
        errors = 1 - v[:, 0] ** 2
        limit = np.sum(c**2 * lam[0] * lam[1:] / (2 * c * (lam[0] - lam[1:]) - 1))
        assert t_last * np.mean(errors) == pytest.approx(limit, rel=0.3)

    def test_more_directions_than_features(self):
        with pytest.raises(ValueError, match="k=7 components asked of rows of 5 features"):
            oja_directions([rows()], 7)

    def test_oja_finds_the_plane_and_gets_better(self):
        """Over six streams the mean error falls as rows come in: eq-oja."""
        errors = {n: [] for n in (150, 2400)}
        for seed in range(6):
            for n in errors:
                X = rows(n, 6, seed)
                V = oja_directions([X], 1, rng=seed)
                errors[n].append(np.sin(subspace_angles(V, fit_pca(X, 1).V)).max())
        assert np.mean(errors[2400]) < 0.6 * np.mean(errors[150])
        assert np.mean(errors[2400]) < 0.15

    @pytest.mark.parametrize("k", [1, 2])
    def test_oja_is_the_plain_loop(self, k):
        """Means and squares of all rows so far, anew for every row; the first has no spread."""
        X = rows(9, 4, offset=3.0)
        V = np.linalg.qr(np.random.default_rng(5).standard_normal((4, k)))[0]
        for t in range(2, 10):
            Xc = X[:t] - X[:t].mean(axis=0)
            V = oja_step(V, Xc[-1], 0.7 * k / np.sum(Xc**2))
        found = oja_directions([X[:4], X[4:]], k, rate=0.7, rng=5)
        np.testing.assert_allclose(found, fix_signs(V)[0], atol=1e-12)

    @pytest.mark.parametrize("rate", [0.5, 5.0, 1e6])
    def test_steps_at_once_are_single_steps(self, rate):
        """Pieces of 64 rows, orth now and then: the basis of a step for each row: eq-oja."""
        X, k = rows(150, 4, offset=3.0), 3
        V = np.linalg.qr(np.random.default_rng(5).standard_normal((4, k)))[0]
        for t in range(2, 151):
            Xc = X[:t] - X[:t].mean(axis=0)
            V = oja_step(V, Xc[-1], rate * k / np.sum(Xc**2))
        found = oja_directions([X[:70], X[70:]], k, rate=rate, rng=5)
        np.testing.assert_allclose(found, fix_signs(V)[0], atol=1e-11)

    def test_steps_keep_the_side_of_each_direction(self):
        """An empty table changes nothing, and no direction turns over: eq-oja."""
        V = np.linalg.qr(rows(4, 2, seed=3))[0]
        assert np.array_equal(oja_steps(V, np.zeros((0, 4)), np.zeros(0)), V)
        single, X = V, rows(40, 4, seed=4)
        for t, x in enumerate(X, 1):
            single = oja_step(single, x, 0.05)
            np.testing.assert_allclose(oja_steps(V, X[:t], np.full(t, 0.05)), single, atol=1e-12)

    @pytest.mark.parametrize("offset", [0.0, 1e8])
    def test_rows_less_their_running_mean(self, offset):
        """x_t − x̄_t and Σ ‖x_i − x̄_t‖² beside plain means, over blocks of 3, 0 and 137 rows."""
        X = rows(140, 3) + offset
        pieces = rows_less_running_mean([X[:3], X[:0], X[3:]])
        left, squares = map(np.concatenate, zip(*pieces, strict=True))
        for t in (1, 2, 3, 4, 64, 67, 68, 140):
            Xc = X[:t] - X[:t].mean(axis=0)
            np.testing.assert_allclose(left[t - 1], Xc[-1], rtol=0, atol=1e-14 + 3e-16 * offset)
            assert squares[t - 1] == pytest.approx(np.sum(Xc**2), rel=1e-12 + offset * 1e-14)

    def test_oja_knows_no_unit(self):
        X = rows(100, 4)
        wanted = oja_directions([X], 2)
        for c in (1e-100, 1e100):
            np.testing.assert_allclose(oja_directions([c * X], 2), wanted, atol=1e-8)

    def test_oja_meets_rows_that_are_almost_equal(self):
        """Rows whose difference has no square give no step, and no NaN."""
        X = rows(100, 4)
        for tiny in (1e-170, 1e-160, 1e-155):
            Y = np.vstack([np.zeros((1, 4)), np.full((3, 4), tiny), X])
            same = np.vstack([np.zeros((4, 4)), X])
            np.testing.assert_allclose(
                subspace_angles(oja_directions([Y], 2), oja_directions([same], 2)), 0, atol=1e-6
            )

    def test_oja_knows_no_origin(self):
        """The running mean is taken off, so data that are moved have the same directions."""
        X = rows(100, 4)
        np.testing.assert_allclose(oja_directions([X + 7.0], 2), oja_directions([X], 2), atol=1e-8)

    @given(size=st.integers(1, 8), seed=st.integers(0, 50))
    @settings(max_examples=40, deadline=None)
    def test_frequent_directions_keep_their_promise(self, size, seed):
        """0 ≼ XᵀX − BᵀB ≼ ‖X − X_k‖²/(size + 1 − k): eq-frequent-bound, eq-frequent-loss."""
        X = rows(60, 6, seed)
        B = frequent_directions(np.array_split(X, 7), size)
        assert B.shape == (size, 6)
        gap = np.linalg.eigvalsh(X.T @ X - B.T @ B)
        s2 = np.linalg.svd(X, compute_uv=False) ** 2
        slack = 1e-10 * s2[0]
        assert gap[0] >= -slack
        Vt = np.linalg.svd(B)[2]
        for k in range(min(size + 1, 6)):
            tail = s2[k:].sum()
            assert gap[-1] <= tail / (size + 1 - k) + slack
            lost = np.sum(X**2) - np.sum((X @ Vt[:k].T) ** 2)
            assert lost <= tail * (size + 1) / (size + 1 - k) + slack

    def test_shrink_by_hand(self):
        """Squares 25, 16, 9, 4 lose the third for a sketch of two rows: eq-frequent."""
        B = shrink(np.diag([5.0, 4.0, 3.0, 2.0]), 2)
        np.testing.assert_allclose(np.abs(B), [[4, 0, 0, 0], [0, np.sqrt(7), 0, 0]], atol=1e-12)

    def test_shrink_knows_no_unit(self):
        """No square is formed that could vanish or overflow."""
        B = rows(9, 4)
        for c in (1e-300, 1e-160, 1e160, 1e300):
            np.testing.assert_allclose(np.abs(shrink(c * B, 3)) / c, np.abs(shrink(B, 3)))

    @given(sizes=cuts, offset=st.sampled_from([0.0, 1e3, 1e6]), seed=st.integers(0, 50))
    @settings(max_examples=40, deadline=None)
    def test_centred_without_knowing_the_mean(self, sizes, offset, seed):
        """The rows that come out have the scatter of all rows: eq-rows."""
        X = rows(sum(sizes) + 2, 4, seed, offset)
        Y = np.vstack(list(centered_blocks(np.split(X, np.cumsum(sizes)))))
        S = summarize(X).scatter
        np.testing.assert_allclose(Y.T @ Y, S, rtol=0, atol=1e-9 * np.abs(S).max())

    def test_nothing_to_look_at(self):
        for function in (oja_directions, frequent_directions):
            with pytest.raises(ValueError, match="at least one row"):
                function([], 2)


def test_pca_of_moments_needs_rows():
    with pytest.raises(ValueError, match="no rows"):
        pca_of_moments(summarize(np.empty((0, 3))), 1)


@pytest.mark.parametrize("find", [fit_pca_blocks, oja_directions])
def test_squares_that_vanish_are_refused(find):
    """Small rows have the directions of large ones, or there is a sentence; zeros are welcome."""
    X = rows(60, 4)
    wanted = getattr(find([X], 2), "V", find([X], 2))
    for c in (1e-148, 1e-100):
        found = find([c * X[:20], c * X[20:]], 2)
        np.testing.assert_allclose(getattr(found, "V", found), wanted, atol=1e-7)
    for c in (1e-310, 1e-200, 1e-160, 1e-155):
        for offset in (0.0, 3 * c):
            with pytest.raises(ValueError, match="squares vanish"):
                find([c * X + offset], 2)
    for constant in (0.0, 0.1, 1e8 / 3):
        find([np.full((9, 4), constant)] * 3, 2)


@pytest.mark.parametrize(
    ("n", "mean", "scatter", "words"),
    [
        (3, np.zeros(2), np.array([[1.0, 2.0], [3.0, 4.0]]), "not symmetric"),
        (3, np.zeros(2), np.full((2, 2), np.nan), "NaN"),
        (3, np.zeros(2), np.eye(3), r"arrays of shape \(d,\) and \(d, d\)"),
        (3, [0.0, 0.0], np.eye(2), r"arrays of shape \(d,\) and \(d, d\)"),
        (-3, np.zeros(2), np.eye(2), "moments.n=-3"),
        (3.0, np.zeros(2), np.eye(2), "moments.n=3.0"),
    ],
)
def test_moments_made_by_hand_are_looked_at(n, mean, scatter, words):
    with pytest.raises(ValueError, match=words):
        pca_of_moments(Moments(n, mean, scatter), 1)


def test_an_empty_block_has_no_features():
    """The map is asked for their number alone."""
    assert mapped(lambda X: X[:, :2], np.zeros((0, 3))).shape == (0, 2)
    assert mapped(None, np.zeros((0, 3))).shape == (0, 3)


def test_one_column_is_a_block_too():
    """Without rows, one column is still one; without columns nothing is a block."""
    assert summarize(np.zeros((0, 1))).mean.shape == (1,)
    with pytest.raises(ValueError, match="empty"):
        summarize(np.zeros((0, 0)))


def test_a_checkpoint_after_every_block(tmp_path):
    path, seen = tmp_path / "sums.npz", []

    def blocks():
        for i in range(3):
            seen.append(int(np.load(path)["blocks"]) if path.exists() else 0)
            yield np.full((2, 1), float(i))

    accumulate(blocks(), checkpoint=path, every=1)
    assert seen == [0, 1, 2]
