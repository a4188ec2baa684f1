"""Dimension scales and references, held against h5py."""

import h5py
import hyperslab
import numpy as np
import pytest
from compare import assert_same


def scaled(file):
    file["t"] = np.arange(4.0)
    file["t"].make_scale("seconds")
    file["other t"] = np.arange(4.0) * 1000
    file["other t"].make_scale()
    file["x"] = np.arange(3)
    file["x"].make_scale("metres")
    file["data"] = np.zeros((4, 3, 2))
    file["data"].dims[0].label = "time"
    file["data"].dims[2].label = "züge"
    file["data"].dims[0].attach_scale(file["t"])
    file["data"].dims[0].attach_scale(file["other t"])
    file["data"].dims[1].attach_scale(file["x"])
    file["plain"] = np.zeros((2, 2))


def test_dims(both):
    theirs, ours = both(scaled)
    for name in ["data", "plain", "t"]:
        left, right = ours[name], theirs[name]
        assert left.is_scale == right.is_scale
        assert len(left.dims) == len(right.dims) == len(list(left.dims))
        for mine, other in zip(left.dims, right.dims, strict=True):
            assert mine.label == other.label
            assert len(mine) == len(other)
            assert mine.keys() == other.keys() == list(mine)
            assert [scale.name for scale in mine.values()] == [scale.name for scale in other.values()]
            assert [name for name, _ in mine.items()] == [name for name, _ in other.items()]
            for nth in range(len(other)):
                assert_same(mine[nth][()], other[nth][()])
    time = ours["data"].dims[0]
    assert time["seconds"] == ours["t"] and time[""] == ours["other t"]
    assert time == ours["data"].dims[0] != ours["data"].dims[1]
    with pytest.raises(KeyError):
        time["hours"]
    with pytest.raises(IndexError):
        ours["data"].dims[3]
    assert repr(time).startswith('<"time" dimension 0 of HDF5 dataset at ')


def test_dims_of_a_scale_made_by_netcdf(both):
    """Labels and lists may be missing, and null references are passed over."""

    def make(file):
        file["x"] = np.arange(3)
        file["x"].attrs["CLASS"] = np.bytes_("DIMENSION_SCALE")
        file["x"].attrs["NAME"] = np.array(b"This is a netCDF dimension but not a netCDF variable.         3", "S64")
        file["data"] = np.zeros((3, 3))
        file["data"].dims[1].attach_scale(file["x"])

    theirs, ours = both(make)
    assert len(ours["data"].dims[0]) == 0 and ours["data"].dims[0].label == ""
    assert ours["data"].dims[1].keys() == theirs["data"].dims[1].keys()


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_object_references(both, libver):
    def make(file):
        file.create_group("group/inner")
        file["group/data"] = np.arange(6)
        file["type"] = np.dtype("f4")
        refs = file.create_dataset("refs", (3,), h5py.ref_dtype)
        refs[0], refs[1] = file["group"].ref, file["group/data"].ref

    _, ours = both(make, libver=libver)
    for name in ["/", "group", "group/inner", "group/data", "type"]:
        reference = ours[name].ref
        assert reference and type(reference) is hyperslab.Reference
        assert ours[reference] == ours[name] and ours[reference].name == ours[name].name
    stored = ours["refs"][...]
    assert stored[0] == ours["group"].ref and hash(stored[0]) == hash(ours["group"].ref)
    assert stored[1] == ours["group/data"].ref != ours["group"].ref
    assert not stored[2]


def test_region_references(both):
    def make(file):
        file["data"] = np.arange(60).reshape(6, 10)
        file["group/other"] = np.arange(3)
        refs = file.create_dataset("refs", (3,), h5py.regionref_dtype)
        for nth, index in enumerate(INDICES):
            refs[nth] = file["data"].regionref[index]

    theirs, ours = both(make)
    data = ours["data"]
    for nth, index in enumerate(INDICES):
        made, stored, other = data.regionref[index], ours["refs"][nth], theirs["refs"][nth]
        assert isinstance(made, hyperslab.RegionReference) and made == data.regionref[index]
        assert ours[made] == data
        for reference in [made, stored]:
            assert_same(data[reference], theirs["data"][other])
            for proxy in [data.regionref, ours["group"].regionref]:
                assert proxy.shape(reference) == theirs["data"].regionref.shape(other) == (6, 10)
                assert proxy.selection(reference) == theirs["data"].regionref.selection(other)
    assert data.regionref[0] != data.regionref[1]
    with pytest.raises(TypeError):
        ours["group"].regionref[0]
    with pytest.raises(ValueError):
        ours["group/other"][data.regionref[0]]


INDICES = [np.s_[1:3, ::2], np.s_[...], np.s_[2, [1, 5, 6]]]


def regions_after_a_resize(library, path):
    """What references to regions mean once their dataset was resized: in memory, and stored before and after."""
    seen = []
    with library.File(path, "w") as file:
        data = file.create_dataset("data", data=np.arange(10), maxshape=(None,), chunks=(4,))
        reference = data.regionref[2:6]
        stored = file.create_dataset("refs", (2,), library.regionref_dtype)
        stored[0] = reference
        for size in [20, 8, 4]:
            data.resize((size,))
            try:
                stored[1] = reference
                seen.append([data[one].tolist() for one in (reference, stored[0], stored[1])])
                seen.append((data.regionref.shape(reference), data.regionref.selection(reference)))
            except Exception as why:
                seen.append(isinstance(why, Exception))
    return seen


def test_regions_of_a_dataset_that_is_resized(tmp_path):
    theirs = regions_after_a_resize(h5py, tmp_path / "theirs.h5")
    assert regions_after_a_resize(hyperslab, tmp_path / "ours.h5") == theirs
