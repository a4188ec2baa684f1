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


def leads_elsewhere(folder):
    """The bytes of a file whose dataset, link and virtual dataset lead to files outside of any folder of it."""
    (folder / "secret.bin").write_bytes(bytes(range(8)))
    with h5py.File(folder / "secret.h5", "w") as file:
        file["x"] = np.arange(8, dtype="u1")
    held = io.BytesIO()
    with h5py.File(held, "w") as file:
        file.create_dataset("raw", (8,), "u1", external=[(str(folder / "secret.bin"), 0, 8)])
        file["link"] = h5py.ExternalLink(str(folder / "secret.h5"), "/x")
        layout = h5py.VirtualLayout((8,), "u1")
        layout[:] = h5py.VirtualSource(str(folder / "secret.h5"), "x", (8,))
        file.create_virtual_dataset("virtual", layout)
    return held.getvalue()


@pytest.mark.parametrize("name", ["raw", "link", "virtual"])
@pytest.mark.parametrize("mode", ["r", "r+", "a"])
@pytest.mark.parametrize("where", ["object", "core", "core alone"])
def test_a_file_in_memory_leads_where_it_may(tmp_path, where, mode, name):
    image = leads_elsewhere(tmp_path)
    (tmp_path / "home").mkdir()
    path = tmp_path / "home/given.h5"

    def opened(**options):
        if where == "object":
            return hyperslab.File(io.BytesIO(image), mode, **options)
        path.write_bytes(image)
        return hyperslab.File(path, mode, driver="core", backing_store=where == "core", **options)

    with opened() as file:
        assert file[name][:].tolist() == list(range(8))
    with opened(external_access="inside") as file, pytest.raises((OSError, KeyError), match="outside of the folder"):
        file[name][:]
    with pytest.raises(ValueError, match="external access"):
        opened(external_access="bogus")


@pytest.mark.parametrize("access", ["read-anywhere", "anywhere"])
def test_a_file_in_memory_writes_where_it_may(tmp_path, access):
    with hyperslab.File(io.BytesIO(leads_elsewhere(tmp_path)), "r+", external_access=access) as file:
        if access == "anywhere":
            file["raw"][0] = 7
        else:
            with pytest.raises(OSError, match="outside of the folder"):
                file["raw"][0] = 7
    assert (tmp_path / "secret.bin").read_bytes()[0] == (7 if access == "anywhere" else 0)
