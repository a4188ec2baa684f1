"""Opening files with what h5py takes."""

import io

import h5py
import hyperslab
import numpy as np
import pytest


@pytest.fixture
def path(tmp_path):
    with h5py.File(tmp_path / "made.h5", "w", libver="latest") as file:
        file["x"] = np.arange(5)
    return tmp_path / "made.h5"


@pytest.mark.parametrize(
    "options",
    [
        {"swmr": True},
        {"swmr": True, "libver": "latest"},
        {"libver": ("earliest", "v110")},
        {"locking": False},
        {"locking": True},
        {"locking": "best-effort"},
        {"driver": "sec2"},
        {"driver": "stdio"},
        {"driver": "core", "backing_store": False},
        {"rdcc_nbytes": 1 << 20, "rdcc_nslots": 11, "rdcc_w0": 0.5},
        {"page_buf_size": None, "track_order": True},
    ],
)
def test_options_for_reading(path, options):
    with h5py.File(path, **options) as theirs:
        expected = theirs["x"][()], theirs.swmr_mode, theirs.mode
    with hyperslab.File(path, **options) as ours:
        assert np.array_equal(ours["x"][()], expected[0])
        assert (ours.swmr_mode, ours.mode) == expected[1:]


@pytest.mark.parametrize(
    "options",
    [
        {"driver": "nonsense"},
        {"locking": "nonsense"},
        {"nonsense": 1},
        {"backing_store": False},
        {"userblock_size": 512},
        {"mode": "q"},
    ],
)
def test_options_that_h5py_refuses(path, options):
    with pytest.raises((TypeError, ValueError)) as theirs:
        h5py.File(path, **options)
    with pytest.raises(theirs.type):
        hyperslab.File(path, **options)


def test_a_version_that_is_none(path):
    for libver in ["nonsense", ("earliest",), ("v110", "nonsense")]:
        with pytest.raises(ValueError, match="libver"):
            hyperslab.File(path, libver=libver)


def test_a_file_that_is_being_written(tmp_path):
    with h5py.File(tmp_path / "live.h5", "w", libver="latest") as writer:
        data = writer.create_dataset("x", (0,), "i4", maxshape=(None,), chunks=(10,))
        writer.swmr_mode = True
        data.resize((25,))
        data[...] = np.arange(25)
        data.flush()
        with hyperslab.File(tmp_path / "live.h5", swmr=True) as ours:
            assert ours.swmr_mode
            assert np.array_equal(ours["x"][()], np.arange(25))


def test_family_and_split(tmp_path):
    values = np.arange(5000.0)
    name = str(tmp_path / "part%03d.h5")
    with h5py.File(name, "w", driver="family", memb_size=10_000) as file:
        file["x"] = values
    with hyperslab.File(name, driver="family", memb_size=10_000) as ours:
        assert ours.driver == "family" and np.array_equal(ours["x"][()], values)
    with pytest.raises(ValueError):
        hyperslab.File(tmp_path / "part000.h5", driver="family")
    with h5py.File(tmp_path / "two", "w", driver="split") as file:
        file["x"] = values
    with hyperslab.File(tmp_path / "two", driver="split") as ours:
        assert np.array_equal(ours["x"][()], values)


def test_file_objects(path):
    for file in [io.BytesIO(path.read_bytes()), path.open("rb")]:
        with file, hyperslab.File(file) as ours:
            assert ours["x"][2] == 2
    with io.BytesIO(path.read_bytes()) as file, hyperslab.File("any", driver="fileobj", fileobj=file) as ours:
        assert ours["x"][3] == 3
    with pytest.raises(OSError):
        hyperslab.File(io.BytesIO(b"nothing"))


@pytest.mark.parametrize("strategy", ["fsm", "page", "aggregate", "none"])
def test_file_space(tmp_path, strategy):
    name = tmp_path / "space.h5"
    options = {"fs_strategy": strategy, "fs_persist": strategy in ("fsm", "page"), "fs_threshold": 7, "fs_page_size": 8192}
    told = []
    for module in (hyperslab, h5py):
        with module.File(name, "w", **options) as file:
            file["values"] = np.arange(100)
        with h5py.File(name) as file:
            created = file.id.get_create_plist()
            told.append((created.get_file_space_strategy(), created.get_file_space_page_size()))
            assert (file["values"][:] == np.arange(100)).all()
    assert told[0] == told[1]


@pytest.mark.parametrize("durability", ["none", "flush", "full"])
def test_durability(tmp_path, durability):
    path = tmp_path / "made.h5"
    with hyperslab.File(path, "w", durability=durability) as ours:
        ours["x"] = np.arange(5)
        ours.flush()
        ours["x"][2] = 7
    with hyperslab.File(path, "r+", durability=durability) as ours:
        ours["y"] = ["a", "b"]
    with h5py.File(path) as theirs:
        assert theirs["x"][()].tolist() == [0, 1, 7, 3, 4]
        assert theirs["y"].asstr()[()].tolist() == ["a", "b"]


def test_a_durability_that_is_none(tmp_path):
    with pytest.raises(ValueError, match='must be "none", "flush" or "full"'):
        hyperslab.File(tmp_path / "made.h5", "w", durability="some")
    assert not (tmp_path / "made.h5").exists()
