"""Files whose bytes are in memory: what is stored, and where."""

import io

import h5py
import hyperslab
import numpy as np
import pytest


@pytest.fixture(params=["earliest", "latest"])
def refusing(request):
    """A file with a dataset whose filter must be applied, and refuses noise."""
    held = io.BytesIO()
    with h5py.File(held, "w", libver=request.param) as file:
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_chunk((4096,))
        creation.set_filter(h5py.h5z.FILTER_LZF, h5py.h5z.FLAG_MANDATORY, ())
        space = h5py.h5s.create_simple((4096,))
        h5py.h5d.create(file.id, b"noise", h5py.h5t.NATIVE_UINT8, space, dcpl=creation)
    return held


def fill(file):
    """Writes two datasets, and values that cannot be stored."""
    file["plain"] = np.arange(10)
    zipped = file.create_dataset("zipped", (1000,), "i4", chunks=(100,), compression="gzip")
    zipped[:] = np.arange(1000)
    noise = np.random.default_rng(0).integers(0, 256, 4096, dtype="u1")
    for start in range(0, 4096, 128):
        file["noise"][start : start + 128] = noise[start : start + 128]


def check(held):
    with h5py.File(io.BytesIO(held.getvalue())) as file:
        assert file["plain"][:].tolist() == list(range(10))
        assert file["zipped"][:].tolist() == list(range(1000))
        assert not file["noise"][:].any()


def test_a_flush_stores_what_can_be_written(refusing):
    file = hyperslab.File(refusing, "r+")
    fill(file)
    assert b"zipped" not in refusing.getvalue()
    with pytest.raises(OSError, match="lzf|LZF"):
        file.flush()
    assert b"zipped" in refusing.getvalue()
    file["noise"].discard()
    file.close()
    check(refusing)


def test_closing_stores_what_can_be_written(refusing):
    file = hyperslab.File(refusing, "r+")
    fill(file)
    with pytest.raises(OSError, match="lzf|LZF"):
        file.close()
    check(refusing)
    file.close()


def test_a_file_that_goes_stores_what_can_be_written(refusing, monkeypatch):
    told = []
    monkeypatch.setattr("sys.unraisablehook", lambda what: told.append(what.exc_value))
    file = hyperslab.File(refusing, "r+")
    fill(file)
    del file
    assert len(told) == 1
    check(refusing)
