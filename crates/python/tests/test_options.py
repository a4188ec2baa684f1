"""Options of caches and page buffers: checked as h5py checks them, and what they do."""

import io

import h5py
import hyperslab
import numpy as np
import pytest
from compare import raised
from counted import CountedBytes


@pytest.mark.parametrize("value", [-5, 0, "many", 1.5, 2**70, None, True, 1000, 0.5])
@pytest.mark.parametrize("option", ["rdcc_nbytes", "rdcc_w0", "page_buf_size"])
def test_sizes_of_caches_are_checked(tmp_path, option, value):
    path = tmp_path / "a.h5"
    h5py.File(path, "w").close()
    ours, theirs = (raised(lambda: lib.File(path, **{option: value}).close()) for lib in (hyperslab, h5py))
    assert ours is theirs


@pytest.mark.parametrize("value", [-5, 0, "many", 2**70, 1000])
@pytest.mark.parametrize("option", ["rdcc_nbytes", "rdcc_nslots"])
def test_sizes_of_caches_of_datasets_are_checked(tmp_path, option, value):
    outcomes = []
    for lib in (hyperslab, h5py):
        with lib.File(tmp_path / f"{lib.__name__}.h5", "w") as file:
            outcomes.append(raised(lambda: file.create_dataset("x", (4,), "i4", chunks=(2,), **{option: value})))
    assert outcomes[0] is outcomes[1]


NEW_FILES = {
    "page": {"fs_strategy": "page", "page_buf_size": 8192},
    "page, too small": {"fs_strategy": "page", "page_buf_size": 4095},
    "larger pages": {"fs_strategy": "page", "fs_page_size": 65536, "page_buf_size": 8192},
    "no pages": {"page_buf_size": 8192},
    "no buffer": {"page_buf_size": 0},
    "parts": {"fs_strategy": "page", "page_buf_size": 8192, "min_meta_keep": 60, "min_raw_keep": 40},
    "more than all": {"fs_strategy": "page", "page_buf_size": 8192, "min_meta_keep": 60, "min_raw_keep": 41},
}


@pytest.mark.parametrize("options", NEW_FILES.values(), ids=NEW_FILES)
def test_page_buffers_of_new_files_are_checked(tmp_path, options):
    ours, theirs = (raised(lambda: lib.File(tmp_path / lib.__name__, "w", **options).close()) for lib in (hyperslab, h5py))
    assert ours is theirs


def test_a_small_page_buffer_reads_small_pieces_of_metadata():
    held = io.BytesIO()
    with hyperslab.File(held, "w") as file:
        for nth in range(300):
            file.create_group(str(nth)).attrs["a"] = np.arange(100)
    given = {}
    for size in (None, 4096):
        raw = CountedBytes(held.getvalue())
        with hyperslab.File(raw, page_buf_size=size) as file:
            assert file["7"].attrs["a"][5] == 5
        given[size] = raw.given
    assert 4 * given[4096] < given[None]


def test_the_weight_of_used_chunks_chooses_which_leave_the_cache(tmp_path):
    """Some chunks are read again and again, between many that are read once, which leave first with a weight of 1."""
    path = tmp_path / "a.h5"
    with hyperslab.File(path, "w") as file:
        file.create_dataset("x", data=np.zeros((400, 1000)), chunks=(1, 1000), compression="gzip")

    def misses(**options):
        with hyperslab.File(path, cache_read_ahead=False, rdcc_nbytes=200_000, **options) as file:
            for nth in range(20):
                for row in (*range(8), *range(8), *range(8), *range(10 + nth * 18, 28 + nth * 18)):
                    file["x"][row, :5]
            return file.cache_stats()["misses"]

    assert misses(cache_policy="s3-fifo") < misses(cache_policy="lru")
    assert misses(rdcc_w0=0) == misses(cache_policy="lru")
    assert misses(rdcc_w0=1) == misses(cache_policy="s3-fifo")
    assert misses(rdcc_w0=1, cache_policy="lru") == misses(cache_policy="lru")


def test_the_size_of_the_cache_is_what_h5py_calls_it(tmp_path):
    path = tmp_path / "a.h5"
    hyperslab.File(path, "w").close()
    with hyperslab.File(path, rdcc_nbytes=3 << 20) as file:
        assert file.cache_stats()["limit"] == 3 << 20
    with hyperslab.File(path, rdcc_nbytes=3 << 20, cache_bytes=5 << 20) as file:
        assert file.cache_stats()["limit"] == 5 << 20


@pytest.mark.parametrize("strategy", ["fit", "grow", "direct", "split"])
def test_values_are_the_same_with_each_page_strategy(tmp_path, strategy):
    path, values = tmp_path / "a.h5", np.arange(50_000)
    pages = {"page_strategy": strategy, "page_buf_size": 65536, "min_meta_keep": 20, "min_raw_keep": 30}
    with hyperslab.File(path, "w", fs_strategy="page", **pages) as file:
        file.create_dataset("x", data=values, chunks=(100,))
    with hyperslab.File(path, cache_bytes=0, **pages) as file:
        assert np.array_equal(file["x"][:], values)
        assert all(file["x"][nth] == nth for nth in range(0, 50_000, 997))


def test_a_page_strategy_that_there_is_not(tmp_path):
    with pytest.raises(ValueError, match="fit, grow, direct, split"):
        hyperslab.File(tmp_path / "a.h5", "w", page_strategy="all")


@pytest.mark.parametrize("retry", [3, (3, 0.01)])
def test_metadata_is_read_as_often_as_is_said(tmp_path, retry):
    path = tmp_path / "a.h5"
    with hyperslab.File(path, "w", retry=retry) as file:
        file["x"] = 5
    with hyperslab.File(path, retry=retry) as file:
        assert file["x"][()] == 5
    with pytest.raises(ValueError, match="pause"):
        hyperslab.File(path, retry=(3, -1.0))


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_memory_has_nothing_of_closed_datasets(tmp_path, mode):
    path, values = tmp_path / "a.h5", np.arange(1000)
    with hyperslab.File(path, "w") as file:
        file.create_dataset("x", data=values, chunks=(100,), compression="gzip")
    with hyperslab.File(path, mode, evict_on_close=True) as file:
        for _ in range(3):
            assert np.array_equal(file["x"][:10], values[:10])
            assert "x" in file and file["x"].cache_stats()["bytes"] == 0


@pytest.mark.parametrize("ahead", [True, False, 0, 1 << 20])
def test_so_many_bytes_are_read_ahead(tmp_path, ahead):
    path, values = tmp_path / "a.h5", np.arange(100_000)
    with hyperslab.File(path, "w", cache_read_ahead=ahead) as file:
        file.create_dataset("x", data=values, chunks=(1000,))
    with hyperslab.File(path, cache_bytes=1 << 20, cache_read_ahead=ahead) as file:
        assert all(np.array_equal(file["x"][at : at + 1000], values[at : at + 1000]) for at in range(0, 100_000, 1000))
