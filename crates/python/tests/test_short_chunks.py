"""Chunks whose filters give fewer bytes than a whole chunk."""

import zlib

import h5py
import hyperslab
import numpy
import pytest


def make(path, rows):
    """A dataset of six rows in chunks of four: the second one is stored with so many rows."""
    values = numpy.arange(60, dtype="<i4").reshape(6, 10)
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("values", data=values, chunks=(4, 10), compression="gzip")
        dataset.id.write_direct_chunk((4, 0), zlib.compress(values[4 : 4 + rows].tobytes()))
    return values


def test_a_chunk_on_the_edge_needs_what_the_dataset_has_of_it(tmp_path):
    path = tmp_path / "edge.h5"
    values = make(path, 2)
    for module in h5py, hyperslab:
        with module.File(path) as file:
            assert (file["values"][...] == values).all()
            assert (file["values"][5, 3:] == values[5, 3:]).all()
    with hyperslab.File(path, "r+") as file:
        file["values"][5, 0] = -1
    with h5py.File(path) as file:
        assert file["values"][5, 0] == -1
        assert (file["values"][:5] == values[:5]).all()


def test_less_than_that_is_an_error(tmp_path):
    path = tmp_path / "short.h5"
    make(path, 1)
    with hyperslab.File(path) as file:
        with pytest.raises(OSError, match="decodes to 40 bytes"):
            file["values"][...]
