"""The chunk cache, and several datasets in one call."""

import os
import signal

import hyperslab
import numpy as np
import pytest


@pytest.fixture
def path(tmp_path):
    with hyperslab.File(tmp_path / "cached.h5", "w") as file:
        for name in "ab":
            file.create_dataset(name, data=np.arange(10000).reshape(100, 100), chunks=(10, 10), compression="gzip")
    return tmp_path / "cached.h5"


def test_chunks_are_read_once(path):
    with hyperslab.File(path, cache_bytes=1 << 20, cache_policy="s3-fifo") as file:
        for row in range(100):
            assert np.array_equal(file["a"][row], np.arange(100 * row, 100 * row + 100))
        seen = file.cache_stats()
        # Some are there before they are asked for.
        assert seen["misses"] <= 100 and (seen["misses"] + seen["hits"], seen["evictions"]) == (1000, 0)
        # 800 bytes of each chunk, and 512 that the cache takes for it.
        assert seen["peak_bytes"] >= seen["bytes"] == 100 * (800 + 512)


def test_a_cache_that_finds_its_size(path):
    with hyperslab.File(path, cache_bytes=8_000, cache_max_bytes=1 << 20) as file:
        small = file.cache_stats()["limit"]
        for _ in range(40):
            for row in range(0, 100, 10):
                assert file["a"][row, 99] == 100 * row + 99
                assert np.array_equal(file["a"][row], np.arange(100 * row, 100 * row + 100))
        assert small < file.cache_stats()["limit"] <= 1 << 20


def test_without_read_ahead(path):
    with hyperslab.File(path, cache_bytes=1 << 20, cache_read_ahead=False) as file:
        for row in range(100):
            assert file["a"][row, 3] == 100 * row + 3
        # Every tenth row is the first of its chunk.
        assert (file.cache_stats()["misses"], file.cache_stats()["hits"]) == (10, 90)


def test_without_a_cache(path):
    with hyperslab.File(path, cache_bytes=0) as file:
        assert file["a"][7, 5] == 705
        seen = file.cache_stats()
        assert (seen.pop("bypasses"), seen.pop("bypassed_bytes")) == (1, 8)
        assert not any(seen.values())


def test_each_dataset_counts_for_itself(path):
    with hyperslab.File(path, cache_bytes=1 << 20, cache_read_ahead=False) as file:
        a, b = file["a"], file["b"]
        for row in range(10):
            a[row], b[row, :10]
        seen, other = a.cache_stats(), b.cache_stats()
        assert (seen["misses"], seen["loads"], seen["hits"], seen["bytes"]) == (10, 10, 90, 10 * (800 + 512))
        assert (other["misses"], other["loads"], other["hits"], other["bytes"]) == (1, 1, 9, 800 + 512)
        assert seen.keys() == file.cache_stats().keys()
        a.reset_cache_stats()
        assert (a.cache_stats()["hits"], b.cache_stats()["hits"], file.cache_stats()["hits"]) == (0, 9, 99)
        a.past_cache()[50:60]
        assert (a.cache_stats()["bypasses"], a.cache_stats()["bypassed_bytes"]) == (1, 8000)
        file.reset_cache_stats()
        counted = [name for name, count in b.cache_stats().items() if count]
        assert counted == ["bytes", "peak_bytes", "limit"]
    with pytest.raises(ValueError):
        a.cache_stats()


def test_a_dataset_has_a_limit_of_its_own(path):
    most = 3 * (800 + 512)
    with hyperslab.File(path, cache_bytes=1 << 20, cache_dataset_bytes=most, cache_read_ahead=False) as file:
        a, b = file["a"], file["b"]
        b[:20, 3]
        for row in range(100):
            a[row, :10]
        assert (a.cache_stats()["peak_bytes"], a.cache_stats()["limit"]) == (most, most)
        assert (a.cache_stats()["evictions"], b.cache_stats()["evictions"]) == (7, 0)
        a.cache_max_bytes = 0
        assert a.cache_stats()["bytes"] == 0
        assert a[5, 5] == 505 and a.cache_stats()["bytes"] == 0
        a.cache_max_bytes = 1 << 20
        assert a[5, 5] == 505 and a.cache_stats()["bytes"] == 800 + 512
        with pytest.raises(OverflowError):
            a.cache_max_bytes = -1


@pytest.mark.parametrize(
    ("options", "limit"),
    [({}, 1 << 20), ({"rdcc_nbytes": 5000}, 5000), ({"rdcc_nbytes": 0}, 0), ({"cache_max_bytes": 7000, "rdcc_nbytes": 50}, 7000)],
)
def test_new_datasets_with_limits(path, options, limit):
    with hyperslab.File(path, "r+", cache_bytes=1 << 20) as file:
        c = file.create_dataset("c", (100, 100), "i4", chunks=(10, 100), compression="gzip", **options)
        for row in range(100):
            c[row] = row
        assert c.cache_stats()["limit"] == limit
        assert c.cache_stats()["peak_bytes"] == min(limit // (4000 + 512), 10) * (4000 + 512)
        assert np.array_equal(c[:, 7], np.arange(100))


@pytest.mark.parametrize("options", [{"cache_policy": "fifo"}, {"cache_bytes": -1}, {"cache_bytes": "many"}, {"cache_dataset_bytes": -1}])
def test_settings_that_are_wrong(path, options):
    with pytest.raises((ValueError, TypeError, OverflowError)):
        hyperslab.File(path, **options)


def test_small_writes_wait_for_each_other(path):
    with hyperslab.File(path, "r+", cache_bytes=1 << 20) as file:
        c = file.create_dataset("c", (100, 100), "i4", chunks=(50, 50), compression="gzip", cache_min_bytes=20000)
        for row in range(100):
            c[row] = row
        assert file.cache_stats()["written"] == 0
        file.flush()
        assert file.cache_stats()["written"] == 4
        c.cache_min_bytes = 0
    with hyperslab.File(path) as file:
        assert np.array_equal(file["c"][:, 3], np.arange(100))


def test_past_the_cache(path):
    with hyperslab.File(path, "r+", cache_bytes=1 << 20) as file:
        a, expected = file["a"], file["a"][()]
        file["a"].cache_policy = "lfu"
        before = file.cache_stats()["bytes"]
        b = file["b"].past_cache()
        b[:, 3] = np.arange(100)
        assert np.array_equal(b[:, 3], np.arange(100)) and b.name == "/b"
        assert file.cache_stats()["bytes"] == before
        assert np.array_equal(file["b"][:, 3], np.arange(100))
        assert np.array_equal(a[()], expected)
        with pytest.raises(ValueError, match="lru, mru, lfu"):
            a.cache_policy = "fifo"


def test_many_datasets_in_one_call(path):
    with hyperslab.File(path, "r+", cache_bytes=1 << 20) as file:
        parts = [(file["a"], 3), (file["b"], np.s_[:, 5]), (file["a"], (slice(20, 22), [1, 50]))]
        for read, (dataset, index) in zip(hyperslab.read_many(parts), parts, strict=True):
            assert np.array_equal(read, dataset[()][index])
        hyperslab.write_many([(file["a"], 3, 0), (file["b"], np.s_[:, 5], np.arange(100))])
        assert not file["a"][3].any()
        assert np.array_equal(file["b"][:, 5], np.arange(100))


def test_many_datasets_of_all_kinds(path):
    with hyperslab.File(path, "r+") as file:
        text = file.create_dataset("text", (6, 6), hyperslab.string_dtype(), chunks=(2, 3), compression="gzip")
        point = file.create_dataset("point", (5,), [("x", "i4"), ("y", "f8")])
        one = file.create_dataset("one", data=7)
        hyperslab.write_many([(text, 2, "many"), (point, ("x", slice(1, 3)), [4, 5]), (one, (), 8), (file["a"], [], 0)])
        parts = [(text, (2, 3)), (text, np.s_[1:3, 0]), (point, np.s_[:, "x"]), (one, ()), (file["a"], (0, 5)), (file["b"], [1, 4])]
        read = hyperslab.read_many(parts)
        for given, (dataset, index) in zip(read, parts, strict=True):
            assert type(given) is type(dataset[index])
            assert np.array_equal(given, dataset[index])
        assert (read[0], read[1].tolist(), read[3]) == (b"many", [b"", b"many"], 8)
        assert read[2].tolist() == [0, 4, 5, 0, 0]


def test_nothing_is_written_if_a_part_is_wrong(path):
    with hyperslab.File(path, "r+") as file:
        with pytest.raises((TypeError, ValueError)):
            hyperslab.write_many([(file["a"], 3, 0), (file["b"], 3, np.zeros(7))])
        with pytest.raises(IndexError):
            hyperslab.read_many([(file["a"], 3), (file["b"], 300)])
        assert file["a"][3, 4] == 304


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes can be forked")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_processes_that_are_forked_while_chunks_are_read_ahead(tmp_path):
    rows = np.arange(4000 * 100, dtype="i4").reshape(4000, 100)
    with hyperslab.File(tmp_path / "rows.h5", "w") as file:
        file.create_dataset("rows", data=rows, chunks=(40, 100), compression="gzip")
    for _ in range(20):
        with hyperslab.File(tmp_path / "rows.h5", cache_bytes=100_000) as file:
            for row in range(0, 400, 40):
                assert np.array_equal(file["rows"][row], rows[row])
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                same = all(np.array_equal(file["rows"][row], rows[row]) for row in range(0, 4000, 20))
                file.close()
                os._exit(0 if same else 1)
            assert os.waitpid(child, 0)[1] == 0
            assert np.array_equal(file["rows"][3999], rows[3999])


def test_values_that_are_not_wanted_are_forgotten(path):
    with hyperslab.File(path, "r+", cache_bytes=1 << 20) as file:
        file["a"][0, 0] = -1
        file["a"].discard()
        assert file["a"][0, 0] == 0
        file["a"][0, 0] = -2
        file.flush()
        file["a"].discard()
        assert file["a"][0, 0] == -2
    with hyperslab.File(path) as file:
        file["a"].discard()  # There is nothing to forget.
        assert file["a"][0, 0] == -2
