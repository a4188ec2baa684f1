"""Values of variable length that are in their chunks: sparse datasets of them, and dense ones."""

import h5py
import numpy as np
import pytest

import hyperslab

TEXTS = ["one", "", "three" * 40, "vier €"]


@pytest.fixture
def file(tmp_path):
    with hyperslab.File(tmp_path / "x.h5", "w") as file:
        yield file


@pytest.mark.parametrize("options", [{"sparse": True}, {"structured": "vlen"}, {"sparse": True, "structured": "vlen"}])
@pytest.mark.parametrize("filters", [{}, {"compression": "gzip", "shuffle": True}, {"section_filters": {"vlen": "lzf"}}])
def test_texts(file, options, filters):
    made = file.create_dataset("x", (50,), h5py.string_dtype(), chunks=(7,), maxshape=(None,), **options, **filters)
    made[3:7] = TEXTS
    made[20] = "twenty"
    file.flush()
    for dataset in [made, file["x"]]:
        assert dataset.asstr()[3:7].tolist() == TEXTS and dataset.asstr()[20] == "twenty" and dataset[0] == b""
    is_sparse = "sparse" in options
    assert made.is_sparse == is_sparse and made.defined().npoints == (5 if is_sparse else 50)
    assert list(made.section_filters) == ["selection", "data", "vlen"][0 if is_sparse else 1 :]
    if is_sparse:
        coords, values = made.read_defined()
        assert coords[:, 0].tolist() == [3, 4, 5, 6, 20] and [value.decode() for value in values] == [*TEXTS, "twenty"]
        made.erase(4)
        assert made.defined().npoints == 4 and made[4] == b""
    made.resize((5,))
    made.resize((9,))
    assert made.asstr()[:].tolist() == ["", "", "", "one", "", "", "", "", ""]


def test_sequences(file):
    tracks = file.create_dataset("tracks", (30, 20), h5py.vlen_dtype("f4"), chunks=(10, 10), sparse=True, compression="gzip")
    rng = np.random.default_rng(5)
    coords = rng.permutation([(row, column) for row in range(30) for column in range(20)])[:100]
    values = np.empty(100, dtype=object)
    for nth in range(100):
        values[nth] = rng.random(rng.integers(0, 9)).astype("f4")
    tracks.write_coords(coords, values)
    file.flush()
    expected = {tuple(coord): value.tolist() for coord, value in zip(coords.tolist(), values, strict=True)}
    found, read = file["tracks"].read_defined()
    assert {tuple(coord): value.tolist() for coord, value in zip(found.tolist(), read, strict=True)} == expected
    assert [value.tolist() for value in file["tracks"][4]] == [expected.get((4, column), []) for column in range(20)]


def test_structs(file):
    dtype = np.dtype([("time", "f8"), ("name", h5py.string_dtype()), ("hits", h5py.vlen_dtype("i2"))])
    made = file.create_dataset("x", (40,), dtype, chunks=(8,), sparse=True)
    value = np.zeros(1, dtype)
    value[0] = (1.5, "first", np.array([1, 2, 3], "i2"))
    made[10] = value[0]
    made[11, "time"] = 2.5
    assert made[10]["name"] == b"first" and made[10]["hits"].tolist() == [1, 2, 3]
    assert made[11]["time"] == 2.5 and made["time"].tolist().count(2.5) == 1


def test_the_file_has_no_global_heap(tmp_path):
    with hyperslab.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", (1000,), h5py.string_dtype(), structured="vlen", chunks=(100,))[:] = [str(nth) for nth in range(1000)]
        other = file.create_dataset_like("y", file["x"])
        assert list(other.section_filters) == ["data", "vlen"]
    assert b"GCOL" not in (tmp_path / "x.h5").read_bytes()
    with h5py.File(tmp_path / "x.h5") as file:
        assert set(file) == {"x", "y"}
