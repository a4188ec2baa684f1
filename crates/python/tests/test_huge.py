"""Shapes with more elements than 64 bits can count, beside h5py."""

import os

import h5py
import hyperslab
import numpy as np
import pytest
from compare import assert_same, raised

SIDE = 10**12
FAR = 1 << 39
BOX = np.arange(100, dtype="f4").reshape(10, 10)

SHAPES = {"2^80": (2**40, 2**40), "10^24": (SIDE, SIDE), "four": (2**40,) * 4, "none": (0, SIDE, SIDE)}


def chunks(shape):
    return (1,) * (len(shape) - 2) + (64, 64)


def create(lib, path, shape=(SIDE, SIDE), libver="earliest", **options):
    file = lib.File(path, "w", libver=libver)
    maxshape = (None,) * len(shape)
    return file, file.create_dataset("x", shape, "f4", chunks=chunks(shape), maxshape=maxshape, fillvalue=3, **options)


def asked(dataset):
    """What is asked of a dataset in which nothing was written."""
    shape = dataset.shape
    last, ends = tuple(size - 1 for size in shape), np.s_[-2:]
    return {
        "shape": lambda: dataset.shape,
        "maxshape": lambda: dataset.maxshape,
        "ndim": lambda: dataset.ndim,
        "size": lambda: dataset.size,
        "nbytes": lambda: dataset.nbytes,
        "len": lambda: len(dataset),
        "len()": lambda: dataset.len(),
        "repr": lambda: repr(dataset),
        "bool": lambda: bool(dataset),
        "first": lambda: dataset[(0,) * len(shape)],
        "last": lambda: dataset[last],
        "ends": lambda: dataset[(*last[:-1], ends)],
        "box": lambda: dataset[tuple(slice(size - 2, size) for size in shape)],
        "nothing": lambda: dataset[0:0, 0:1],
        "astype": lambda: dataset.astype("i4")[last],
        "all": lambda: dataset[...],
        "()": lambda: dataset[()],
        "array": lambda: np.array(dataset),
        "some": lambda: dataset[: 2**30],
        "mask": lambda: dataset[np.zeros((2, 2), bool)],
        "beyond": lambda: dataset[shape],
        "region": lambda: dataset[dataset.regionref[(slice(0, 2),) * len(shape)]],
        "read_direct": lambda: dataset.read_direct(np.zeros((2, 2), "f4"), (0,) * (len(shape) - 2) + np.s_[:2, :2]),
        "read_direct all": lambda: dataset.read_direct(np.zeros((2, 2), "f4")),
        "iter_chunks": lambda: next(iter(dataset.iter_chunks())),
        "iter_chunks of": lambda: list(dataset.iter_chunks(tuple(slice(size - 100, size - 3) for size in shape))),
        "resize": lambda: [dataset.resize(tuple(2 * size for size in shape)), dataset.shape, dataset.size, dataset[last]],
        "resize axis": lambda: [dataset.resize(5, axis=0), dataset.shape, dataset.size],
    }


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_was_never_written_answers_as_in_h5py(tmp_path, shape, libver):
    file, ours = create(hyperslab, tmp_path / "a.h5", SHAPES[shape], libver)
    other, theirs = create(h5py, tmp_path / "b.h5", SHAPES[shape], libver)
    with file, other:
        here, there = asked(ours), asked(theirs)
        for what in here:
            found, wanted = raised(here[what]), raised(there[what])
            if shape == "four" and what in ("box", "region") and wanted is OSError:
                # libhdf5 numbers chunks modulo 2^64, and takes two of them for one.
                assert (here[what]() == 3).all()
                continue
            assert found == wanted or (wanted and found and issubclass(found, wanted)), (what, found, wanted)
            if wanted is None and not what.startswith("resize"):
                assert_same(here[what](), there[what]())


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("wrote, reads", [(hyperslab, h5py), (h5py, hyperslab), (hyperslab, hyperslab)])
def test_values_are_where_they_were_written(tmp_path, wrote, reads, compression):
    path = tmp_path / "a.h5"
    file, dataset = create(wrote, path, compression=compression)
    with file:
        dataset[FAR + 60 : FAR + 70, FAR + 60 : FAR + 70] = BOX
        dataset[-1, -1], dataset[0, 0], dataset[FAR, 0] = 7, 8, 9
        file.flush()
        file.copy("x", "y")
    with reads.File(path, "r+") as file:
        for name in "xy":
            dataset = file[name]
            assert dataset.shape == (SIDE, SIDE)
            assert (dataset[FAR + 60 : FAR + 70, FAR + 60 : FAR + 70] == BOX).all()
            assert dataset[-1, -2:].tolist() == [3, 7] and dataset[0, :2].tolist() == [8, 3] and dataset[FAR, 0] == 9
            dataset.resize((2 * SIDE, SIDE))
            dataset[2 * SIDE - 1, 5] = 4
            assert dataset[-1, 4:7].tolist() == [3, 4, 3] and dataset[SIDE - 1, -1] == 7
    with wrote.File(path) as file:
        assert file["y"][-1, 4:7].tolist() == [3, 4, 3] and file["x"].shape == (2 * SIDE, SIDE)


def test_selections_that_reach_far(tmp_path):
    """libhdf5 walks over all chunks in between."""
    file, dataset = create(hyperslab, tmp_path / "a.h5", (2**40, 2**40))
    with file:
        dataset[FAR, FAR], dataset[FAR + 7, 2**40 - 1] = 5, 6
        assert dataset[::FAR, :: FAR // 2].tolist() == [[3, 3, 3, 3], [3, 3, 5, 3]]
        assert dataset[[0, FAR], FAR].tolist() == [3, 5]
        assert dataset[FAR + 7, [0, FAR, 2**40 - 1]].tolist() == [3, 3, 6]
        dataset[:: 2**38, FAR + 1] = [1, 2, 3, 4]
        assert dataset[:: 2**38, FAR + 1].tolist() == [1, 2, 3, 4]
        dataset.resize((FAR + 1, FAR + 1))
        dataset.resize((2**40, 2**40))
        assert dataset[FAR, FAR] == 5 and dataset[FAR + 7, -1] == 3


def test_what_no_memory_and_no_file_can_hold(tmp_path):
    path = tmp_path / "a.h5"
    file, dataset = create(hyperslab, path)
    with file:
        for too_much in [
            lambda: dataset.__setitem__(..., 1),
            lambda: dataset.__setitem__(slice(FAR), np.zeros((1, 1))),
            lambda: dataset[0],
            lambda: next(iter(dataset)),
        ]:
            with pytest.raises(MemoryError):
                too_much()
        with pytest.raises(TypeError, match="broadcast"):
            dataset[...] = np.zeros((2, 3))
        with pytest.raises(ValueError, match="2\\^64"):
            file.create_dataset("in one piece", (SIDE, SIDE), "f4")
        with pytest.raises(ValueError, match="2\\^63"):
            file.create_dataset("long", (2**63, 2), "f4", chunks=(64, 2))
        with pytest.raises(ValueError):
            file.attrs.create("a", 1, shape=(SIDE, SIDE))
    assert os.path.getsize(path) < 10_000


def test_what_h5py_made_in_one_piece_is_read(tmp_path):
    """libhdf5 does not count so far, and takes it for smaller."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", (SIDE, SIDE), "i4", fillvalue=3)
    with hyperslab.File(tmp_path / "a.h5", "r+") as file:
        assert file["x"][-1, -2:].tolist() == [3, 3] and file["x"].size == SIDE**2
        with pytest.raises(OSError):
            file["x"][0, 0] = 1
