"""Files that are spread over several, as libhdf5 sees and makes them: `spread.py WHAT FAMILY-SIZE PATH`; a size of zero is a split file."""

import sys

import h5py
import numpy as np


def opened(path, mode, size, **more):
    if size:
        return h5py.File(path, mode, driver="family", memb_size=size, **more)
    return h5py.File(path, mode, driver="split", **more)


def verify(file):
    """What the tests in Rust write."""
    assert np.array_equal(file["plain"], np.arange(3000)), file["plain"][:10]
    assert np.array_equal(file["packed"], np.arange(5000).reshape(50, 100) % 17)
    assert [text.decode() for text in file["texts"][...]] == [f"text {n}" for n in range(200)]
    assert file["group"].attrs["number"] == 7
    assert len(file["group"]) == 40, len(file["group"])


def check(path, size):
    with opened(path, "r", size) as file:
        verify(file)


def change(path, size):
    """Changes what Rust wrote."""
    with opened(path, "r+", size) as file:
        verify(file)
        del file["plain"]
        file["plain"] = np.arange(3000)
        if "theirs" in file:
            del file["theirs"]
        file["theirs"] = np.arange(2000) * 2
        more = file.require_group("more")
        more.create_dataset(f"d{len(more)}", data=np.arange(100), chunks=(10,), compression=1)
        more.create_dataset(f"t{len(more)}", data=["a", "b" * 300])


def make(path, size, libver="earliest"):
    with opened(path, "w", size, libver=libver) as file:
        file["theirs"] = np.arange(2000) * 2
        file.create_dataset("growing", data=np.arange(100), chunks=(10,), maxshape=(None,), compression=1)
        file["words"] = ["one", "two"]


def latest(path, size):
    make(path, size, "latest")


if __name__ == "__main__":
    what, size, path = sys.argv[1:]
    globals()[what](path, int(size))
