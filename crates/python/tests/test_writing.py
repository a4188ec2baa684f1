"""What is written here, h5py reads: the same values by the same code in both libraries."""

import io

import h5py
import hyperslab
import numpy as np
import pytest
from compare import assert_same
from hypothesis import given
from hypothesis import strategies as st


def compare(path):
    """Fails unless both libraries see the same in a file."""
    with hyperslab.File(path) as ours, h5py.File(path) as theirs:
        names = []
        theirs.visititems(lambda name, _: names.append(name))
        seen = []
        ours.visit(seen.append)
        assert seen == names
        for name in [*names, "/"]:
            assert dict(theirs[name].attrs).keys() == dict(ours[name].attrs).keys()
            for key, value in theirs[name].attrs.items():
                assert_same(ours[name].attrs[key], value, (ours, theirs))
            if isinstance(theirs[name], h5py.Dataset):
                left, right = ours[name], theirs[name]
                assert (left.chunks, left.maxshape, left.compression) == (right.chunks, right.maxshape, right.compression)
                assert_same(left[()], right[()], (ours, theirs))


def everything(library, file):
    """Some of all that can be written."""
    file["numbers"] = np.arange(24, dtype=">i4").reshape(2, 3, 4)
    file["text"], file["bytes"], file["list"] = "tëxt", b"bytes", ["a", "bc", ""]
    file["truth"], file["complex"], file["half"] = [True, False], 1 + 2j, np.float16(1.5)
    record = np.dtype({"names": ["x", "y"], "formats": ["<i2", "S3"], "offsets": [0, 4], "itemsize": 8})
    file["record"] = np.array([(1, b"a"), (2, b"bcd")], record)
    objects = np.dtype([("name", library.string_dtype()), ("at", "<f8", (2,))])
    file.create_dataset("objects", data=np.array([("one", [1, 2]), ("two", [3, 4])], objects))
    ragged = file.create_dataset("ragged", (3,), library.vlen_dtype("i4"))
    ragged[0], ragged[1:] = [1, 2, 3], [[4], [5, 6]]
    colors = file.create_dataset("colors", (3,), library.enum_dtype({"RED": 0, "BLUE": 7}))
    colors[:] = [7, 0, 7]
    file["empty"] = library.Empty("f4")
    table = file.create_dataset("table", (10, 4), "f8", chunks=(3, 2), maxshape=(None, 4), compression="gzip", shuffle=True)
    table[::2, 1:] = np.arange(3)
    table.resize(12, axis=0)
    table[np.arange(12) % 5 == 0] = np.full((3, 4), -1.0)
    table[[1, 4], 0] = [5, 6]
    group = file.create_group("group/deep")
    group["hard"], group["soft"] = file["numbers"], library.SoftLink("/text")
    group["outside"] = library.ExternalLink("other.h5", "/x")
    group.attrs["object"], group.attrs["region"] = table.ref, table.regionref[2:4]
    group.attrs["title"], group.attrs["sizes"] = "a title", np.arange(3)
    group.attrs.create("matrix", np.eye(2), dtype="f4")
    file["type"] = np.dtype("u2")
    file.create_dataset("typed", (2,), file["type"])
    file.move("list", "group/list")
    del file["half"]
    layout = library.VirtualLayout((2, 3), "i4")
    layout[0] = library.VirtualSource(file["numbers"])[0, 0, :3]
    file.create_virtual_dataset("virtual", layout, fillvalue=-1)


@pytest.mark.parametrize("libver", ["earliest", "v110", "latest"])
def test_everything(tmp_path, libver):
    path = tmp_path / "ours.h5"
    with hyperslab.File(path, "w", libver=libver) as file:
        everything(hyperslab, file)
    compare(path)
    with h5py.File(tmp_path / "theirs.h5", "w", libver=libver) as file:
        everything(h5py, file)
    with hyperslab.File(path) as ours, h5py.File(tmp_path / "theirs.h5") as theirs:
        names = []
        theirs.visit_links(names.append)
        assert (found := []) == [] and ours.visit_links(found.append) is None and found == names
        for name in ["numbers", "text", "list", "complex", "record", "objects", "ragged", "colors", "table", "typed", "virtual"]:
            name = "group/list" if name == "list" else name
            assert_same(ours[name][()], theirs[name][()])


def test_h5py_goes_on_where_we_stopped(tmp_path):
    path = tmp_path / "made.h5"
    with hyperslab.File(path, "w") as file:
        everything(hyperslab, file)
    with h5py.File(path, "r+") as file:
        file["table"].resize(20, axis=0)
        file["table"][15:] = 3
        file["ragged"][1] = np.arange(5)
        file["group/new"] = "more"
        del file["numbers"]
    with hyperslab.File(path, "r+") as file:
        file["table"][0] = 9
        file["again"] = file["ragged"][1]
    compare(path)


def test_modes(tmp_path):
    path = tmp_path / "modes.h5"
    with hyperslab.File(path, "a", userblock_size=512, track_order=True) as file:
        file["b"], file["a"] = 1, 2
        assert file.mode == "r+" and list(file) == ["b", "a"] and file.userblock_size == 512
    for mode in ["w-", "x"]:
        with pytest.raises(FileExistsError):
            hyperslab.File(path, mode)
    with hyperslab.File(path) as file:
        for change in [lambda: file.create_group("x"), lambda: file.create_dataset("x", data=1)]:
            with pytest.raises(ValueError, match="no write intent"):
                change()
        with pytest.raises(OSError, match="no write intent"):
            file["a"][()] = 3
    with hyperslab.File(path, "r+") as file:
        file["a"][()] = 3
    with h5py.File(path) as file:
        assert file["a"][()] == 3
    memory = io.BytesIO()
    with hyperslab.File(memory, "w") as file:
        file["x"] = np.arange(5)
    with h5py.File(memory) as file:
        assert file["x"][4] == 4


def test_an_error_leaves_nothing_behind(tmp_path):
    with hyperslab.File(tmp_path / "made.h5", "w") as file:
        for wrong in [{"dtype": "U3"}, {"dtype": "O"}, {"dtype": "f4", "chunks": (0,)}, {"dtype": "f4", "compression": "no"}]:
            with pytest.raises((TypeError, ValueError)):
                file.create_dataset("x", (3,), **wrong)
        file["x"] = 1
        with pytest.raises(ValueError, match="exists"):
            file["x"] = 2
        with pytest.raises(KeyError):
            del file["y"]
        assert list(file) == ["x"]


INDICES = st.sampled_from(
    [np.s_[...], np.s_[1], np.s_[:, 2], np.s_[1:4], np.s_[::2, 1:3], np.s_[[0, 3]], np.s_[:, [1, 2]], np.s_[-1, ::3], np.s_[2:2]]
)


@given(st.lists(st.tuples(INDICES, st.integers(-100, 100), st.integers(0, 2)), max_size=6), st.booleans())
def test_assignments_as_numpy(tmp_path_factory, steps, chunked):
    twin = np.zeros((5, 4), "i4")
    options = {"chunks": (2, 3), "compression": "lzf"} if chunked else {}
    with hyperslab.File(io.BytesIO(), "w") as file:
        dataset = file.create_dataset("x", data=twin, **options)
        for index, value, kind in steps:
            values = [value, np.full(twin[index].shape, value, "f8"), twin[index] + value][kind]
            twin[index] = dataset[index] = values
            assert np.array_equal(dataset[()], twin)


def test_masks_fields_and_broadcasting(tmp_path):
    with hyperslab.File(tmp_path / "made.h5", "w") as file:
        dataset = file.create_dataset("x", (4, 5), "i4")
        twin = np.zeros((4, 5), "i4")
        mask = np.arange(20).reshape(4, 5) % 3 == 0
        twin[mask] = dataset[mask] = np.arange(mask.sum())
        twin[1:3] = dataset[1:3] = np.arange(5)
        twin[:, 0] = dataset[:, 0] = np.ones((1, 4))
        assert np.array_equal(dataset[()], twin)
        with pytest.raises(TypeError, match="broadcast"):
            dataset[1:3] = np.arange(4)
        points = file.create_dataset("points", (3,), [("x", "f4"), ("y", "i8"), ("name", "S4")])
        points["y"], points["x", 1] = [1, 2, 3], 0.5
        points["name"] = [b"a", b"b", b"c"]
        assert points[()].tolist() == [(0.0, 1, b"a"), (0.5, 2, b"b"), (0.0, 3, b"c")]
        source = np.arange(100.0)
        dataset.write_direct(source.astype("i4"), np.s_[10:15], np.s_[3])
        assert dataset[3].tolist() == list(range(10, 15))


@pytest.mark.parametrize("library", [h5py, hyperslab])
def test_write_direct_of_one_element_converts_as_of_many(tmp_path, library):
    fields = np.array([(1, 2), (3, 4)], [("b", "i4"), ("a", "i4")])
    with library.File(tmp_path / "made.h5", "w") as file:
        numbers = file.create_dataset("numbers", (2,), "u1")
        numbers.write_direct(np.array([300.0, -5.0]), np.s_[0], np.s_[1])
        assert numbers[:].tolist() == [0, 255]
        numbers.write_direct(np.array([[300.0, -5.0]]), np.s_[..., 1], np.s_[1:])
        assert numbers[:].tolist() == [0, 0]
        records = file.create_dataset("records", (2,), [("a", "i4"), ("b", "i4")])
        records.write_direct(fields, np.s_[1], np.s_[0])
        assert records[0].tolist() == (4, 3)


def test_fill_values_of_variable_length(tmp_path):
    path = tmp_path / "made.h5"
    with hyperslab.File(path, "w") as file:
        for name, options in [("one", {}), ("chunks", {"chunks": (2,)})]:
            file.create_dataset(name, (5,), hyperslab.string_dtype(), fillvalue="none yet", **options)[1] = "x"
    with h5py.File(path, "r+") as file:
        for name in ["one", "chunks"]:
            file[name][2] = "y"
            file[name][1] = "z"
    with hyperslab.File(path) as file:
        for name in ["one", "chunks"]:
            assert file[name][()].tolist() == [b"none yet", b"z", b"y", b"none yet", b"none yet"]


def test_copies(tmp_path):
    path = tmp_path / "made.h5"
    with hyperslab.File(path, "w") as file, hyperslab.File(tmp_path / "other.h5", "w") as other:
        everything(hyperslab, file)
        del file["virtual"]
        file.copy("group", "copy")
        file.copy(file["table"], other)
        assert np.array_equal(other["table"][()], file["table"][()])
    compare(path)


def with_references(library, file):
    """Objects that hold references of all kinds."""
    target = file.create_dataset("target", data=np.arange(10))
    one, part = target.ref, target.regionref[2:5]
    fields = np.dtype([("n", "i4"), ("r", library.ref_dtype)])
    for name, value, dtype in [("refs", [one, one], library.ref_dtype), ("regions", [part], library.regionref_dtype)]:
        values = np.array(value, dtype=dtype)
        file.create_dataset(name, data=values, dtype=dtype)
        target.attrs.create(name, values, dtype=dtype)
    file.create_dataset("zipped", (4,), library.ref_dtype, chunks=(2,), compression="gzip")[:] = one
    file.create_dataset("scalar", data=one, dtype=library.ref_dtype)
    file.create_dataset("fields", data=np.array([(1, one)], fields))
    target.attrs.create("fields", np.array((1, one), fields))
    file.create_dataset("rows", (1,), library.vlen_dtype(library.ref_dtype))[0] = np.array([one], library.ref_dtype)
    scale = file.create_dataset("scale", data=np.arange(10))
    scale.make_scale()
    target.dims[0].attach_scale(scale)


def references(file):
    """All references of the objects above, and numbers beside them."""
    found = {name: list(file[name][()].ravel()) for name in ["refs", "regions", "zipped"] if name in file}
    found |= {"@" + name: list(file["target"].attrs[name]) for name in ["refs", "regions"]}
    found["scalar"] = [file["scalar"][()]]
    return found


def inner_references(file):
    """As above, of structures and sequences, where libhdf5 leaves addresses of the other file."""
    (number, reference), (same, other) = file["fields"][0], file["target"].attrs["fields"]
    assert number == same == 1
    return [reference, other, *file["rows"][0], *file["target"].attrs["DIMENSION_LIST"][0]]


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_references_in_copies(tmp_path, libver):
    names = ["target", "refs", "regions", "zipped", "scalar", "fields", "rows", "scale"]
    told = {}
    for library in (h5py, hyperslab):
        first, second = tmp_path / f"{library.__name__}1.h5", tmp_path / f"{library.__name__}2.h5"
        with library.File(first, "w", libver=libver) as file, library.File(second, "w", libver=libver) as other:
            with_references(library, file)
            other["before"] = np.arange(1000)
            file.create_group("here")
            for name in names:
                file.copy(name, other)
                if name != "zipped":  # libhdf5 fails.
                    file.copy(name, f"here/{name}")
        with h5py.File(first) as file, h5py.File(second) as other:
            told[library] = {name: [bool(one) for one in found] for name, found in references(other).items()}
            if library is h5py:
                continue
            # libhdf5 leaves addresses of the other file in structures and sequences, and no references in attributes of the same file.
            assert not any(inner_references(other))
            here = file["here"]
            found = [one for several in references(here).values() for one in several] + inner_references(here)
            assert [file[one] for one in found[:-1]] == [file["target"]] * (len(found) - 1)
            assert file[found[-1]] == file["scale"]
    assert told[hyperslab] == told[h5py]
    assert not any(any(found) for found in told[h5py].values())


def test_copies_with_what_references_lead_to(tmp_path):
    told = []
    for library in (h5py, hyperslab):
        with library.File(tmp_path / "first.h5", "w") as file, library.File(tmp_path / "second.h5", "w") as other:
            with_references(library, file)
            file.copy("refs", other, expand_refs=True)
        with h5py.File(tmp_path / "second.h5") as other:
            told.append([other[one][()].tolist() for one in other["refs"]])
    assert told[0] == told[1]


def test_copies_of_datasets_whose_values_are_elsewhere(tmp_path):
    with hyperslab.File(tmp_path / "made.h5", "w") as file, hyperslab.File(tmp_path / "other.h5", "w") as other:
        everything(hyperslab, file)
        file.create_dataset("outside", data=np.arange(4), external=[(str(tmp_path / "raw.bin"), 0, 100)])
        file.copy("virtual", "virtual copy")
        file.copy("outside", other)
        assert np.array_equal(file["virtual copy"][()], file["virtual"][()])
        assert other["outside"][()].tolist() == [0, 1, 2, 3]


def test_copies_that_cannot_be(tmp_path):
    with hyperslab.File(tmp_path / "made.h5", "w") as file:
        file["a"], file["b"] = 1, 2
        for wrong, why in [
            (lambda: file.copy("a", "b"), ValueError),
            (lambda: file.copy("a", file), ValueError),
            (lambda: file.copy("a", file["b"], "c"), TypeError),
            (lambda: file.copy("none", "c"), KeyError),
        ]:
            with pytest.raises(why):
                wrong()
        with hyperslab.File(tmp_path / "other.h5", "w"):
            pass
        with hyperslab.File(tmp_path / "other.h5") as other, pytest.raises(RuntimeError, match="write"):
            file.copy("a", other)


def test_chunks_as_they_are_stored(tmp_path):
    with hyperslab.File(tmp_path / "made.h5", "w") as file:
        dataset = file.create_dataset("x", (4, 4), "i4", chunks=(2, 2), compression="gzip")
        block = np.arange(4, dtype="i4")
        dataset.id.write_direct_chunk((2, 0), block.tobytes(), 1)
        assert dataset.id.read_direct_chunk((2, 0)) == (1, block.tobytes())
        assert dataset[2:, :2].ravel().tolist() == [0, 1, 2, 3]
        with pytest.raises(ValueError):
            dataset.id.write_direct_chunk((1, 0), b"")


def test_scales(tmp_path):
    path = tmp_path / "made.h5"
    with hyperslab.File(path, "w") as file:
        data, time = file.create_dataset("data", (3, 2), "f4"), file.create_dataset("time", data=[1.0, 2.0, 3.0])
        time.make_scale("seconds")
        data.dims[0].attach_scale(time)
        data.dims[1].label = "place"
    with h5py.File(path) as file:
        assert file["data"].dims[0]["seconds"][2] == 3.0 and file["data"].dims[1].label == "place"
