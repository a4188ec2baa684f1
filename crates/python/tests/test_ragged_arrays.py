"""Sequences of variable length to and from ragged arrays of the package `awkward`."""

import h5py
import hyperslab
import numpy as np
import pytest

awkward = pytest.importorskip("awkward")

ROWS = [[1, 2, 3], [], [4], [5, 6], []]


@pytest.fixture
def file(tmp_path):
    with hyperslab.File(tmp_path / "x.h5", "w") as file:
        yield file


@pytest.mark.parametrize("options", [{}, {"structured": "vlen"}, {"sparse": True, "chunks": (2,)}, {"chunks": (2,), "compression": "gzip"}])
@pytest.mark.parametrize("dtype", ["i1", "u8", "f4", "f8", "c16", "?"])
def test_rows_come_back(file, dtype, options):
    rows = [np.array(row, dtype=dtype) for row in ROWS]
    given = awkward.unflatten(np.concatenate(rows), [len(row) for row in rows])
    made = file.create_from_awkward("x", given, **options)
    assert made.shape == (5,) and hyperslab.check_vlen_dtype(made.dtype) == np.dtype(dtype)
    read = made.to_awkward()
    assert isinstance(read, awkward.Array) and awkward.to_list(read) == [row.tolist() for row in rows]
    assert awkward.to_numpy(awkward.flatten(read)).dtype == dtype
    made[1] = np.array([1, 0], dtype=dtype)
    assert awkward.num(made.to_awkward()).tolist() == [3, 2, 1, 2, 0]


def test_forms_of_rows(file):
    forms = {
        "regular": awkward.from_numpy(np.arange(6.0).reshape(3, 2)),
        "part": awkward.Array(ROWS)[::-2],
        "masked": awkward.Array(ROWS)[awkward.Array([True, False, True, True, False])],
        "empty": awkward.Array([np.array([], dtype="f4")])[:0],
        "blank": awkward.Array([np.array([], dtype="f4")]),
    }
    for name, given in forms.items():
        made = file.create_from_awkward(name, given)
        assert made.shape == (len(given),) and awkward.to_list(made.to_awkward()) == awkward.to_list(given), name


def test_rows_of_other_programs(file, tmp_path):
    with h5py.File(tmp_path / "h5py.h5", "w") as other:
        ragged = other.create_dataset("x", (3,), h5py.vlen_dtype(">i4"))
        ragged[0], ragged[2] = [1, 2], [3]
    with hyperslab.File(tmp_path / "h5py.h5") as other:
        read = other["x"].to_awkward()
        assert awkward.to_list(read) == [[1, 2], [], [3]] and awkward.to_numpy(awkward.flatten(read)).dtype == "i4"


def test_rows_never_written_are_empty(file):
    made = file.create_dataset("x", (4,), hyperslab.vlen_dtype("f4"), sparse=True)
    made[2] = [1.5]
    assert awkward.to_list(made.to_awkward()) == [[], [], [1.5], []]
    assert awkward.to_list(file.create_dataset("none", (0,), hyperslab.vlen_dtype("f4")).to_awkward()) == []


def test_what_is_no_ragged_array(file):
    for given in [awkward.Array([1, 2]), awkward.Array([[[1]], [[2, 3]]]), awkward.Array([[1, None]]), awkward.Array([None, [1]])]:
        with pytest.raises(ValueError):
            file.create_from_awkward("x", given)
    for given in [[[1], [2, 3]], np.arange(3)]:
        with pytest.raises(TypeError):
            file.create_from_awkward("x", given)
    with pytest.raises((TypeError, ValueError)):
        file.create_from_awkward("x", awkward.Array([["a"], ["b"]]))
    assert "x" not in file
    with pytest.raises(TypeError):
        file.create_dataset("numbers", (3,), "f4").to_awkward()
    with pytest.raises(TypeError):
        file.create_dataset("table", (3, 2), hyperslab.vlen_dtype("f4")).to_awkward()
    with pytest.raises(TypeError):
        file.create_dataset("texts", (3,), hyperslab.string_dtype()).to_awkward()
