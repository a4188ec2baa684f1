"""Single points in which this package was not as h5py is: names of files, closed files, destinations, equality, copies."""

import contextlib
import io
import os

import h5py
import hyperslab
import numpy as np
import pytest
from compare import raised
from counted import CountedFile

BOTH = pytest.mark.parametrize("lib", [h5py, hyperslab], ids=["h5py", "hyperslab"])


def test_names_that_cannot_be_encoded_are_what_they_are_in_h5py(tmp_path):
    for lib in (h5py, hyperslab):
        with lib.File(tmp_path / lib.__name__, "w") as file:
            for name in ("a\ud800", "a\udcff"):
                with pytest.raises(UnicodeEncodeError):
                    file[name] = 1
                with pytest.raises(UnicodeEncodeError):
                    file.attrs[name] = 1
            with pytest.raises(TypeError):
                file.create_group(5)


@BOTH
@pytest.mark.parametrize("dtype", ["S40", "S2", h5py.string_dtype(), h5py.string_dtype("ascii"), h5py.string_dtype("utf-8", 12)])
def test_one_string_in_an_array_is_a_fill_value(tmp_path, lib, dtype):
    with lib.File(tmp_path / "a.h5", "w") as file:
        made = file.create_dataset("x", (3,), dtype, fillvalue=np.array(["a"]), chunks=(1,))
        assert made.fillvalue == b"a" and made[:].tolist() == [b"a"] * 3


def test_a_percent_sign_means_a_family_only_if_it_is_asked_for(tmp_path):
    path = tmp_path / "part%05d.h5"
    with hyperslab.File(path, "w") as file:
        file["x"] = 7
    assert os.listdir(tmp_path) == ["part%05d.h5"]
    with h5py.File(path) as file:
        assert file["x"][()] == 7
    with h5py.File(tmp_path / "of%d.h5", "w", driver="family", memb_size=1024) as file:
        file["y"] = np.arange(1000)
    with hyperslab.File(tmp_path / "of%d.h5", driver="family") as file:
        assert file["y"][999] == 999
    assert raised(lambda: hyperslab.File(tmp_path / "of%d.h5")) is FileNotFoundError


@BOTH
def test_one_object_is_equal_however_it_is_reached(tmp_path, lib):
    with lib.File(tmp_path / "b.h5", "w") as file:
        file["d"] = [1, 2]
    with lib.File(tmp_path / "a.h5", "w") as file:
        file["ext"] = lib.ExternalLink("b.h5", "/d")
        file["x"] = 1
    with lib.File(tmp_path / "a.h5") as one, lib.File(tmp_path / "a.h5") as other:
        assert one["ext"] == one["ext"] and one["ext"].file == other["ext"].file
        assert one == other and one["x"] == other["x"] and one["x"].file == other
        assert hash(one["x"]) == hash(other["x"]) and one["x"] != one["ext"]
        if lib is hyperslab:
            assert hash(one["ext"]) == hash(one["ext"])


@pytest.mark.parametrize("options", [{}, {"chunks": (1024, 1024)}, {"fillvalue": 3}, {"chunks": (1024, 1024), "compression": "gzip"}])
def test_copies_of_what_was_never_written_store_nothing(tmp_path, options):
    path = tmp_path / "a.h5"
    with hyperslab.File(path, "w") as file:
        file.create_dataset("x", (5120, 5120), "f8", **options)
        file.copy("x", "y")
        assert file["y"][5119, 5119] == options.get("fillvalue", 0)
    assert path.stat().st_size < 4096


def closed(lib, folder):
    """What is done with objects of a file that is closed."""
    file = lib.File(folder / f"closed-{lib.__name__}.h5", "w")
    group, data = file.create_group("g"), file.create_dataset("d", data=np.arange(6.0), chunks=(2,))
    attributes = data.attrs
    attributes["a"] = 1
    file["t"] = np.dtype("i4")
    named = file["t"]
    file.close()
    return {
        "file[name]": lambda: file["d"],
        "file[name] =": lambda: file.__setitem__("x", 1),
        "list": lambda: list(file),
        "len": lambda: len(file),
        "group[name]": lambda: group["x"],
        "create_group": lambda: group.create_group("y"),
        "create_dataset": lambda: group.create_dataset("y", data=1),
        "get": lambda: group.get("x"),
        "data[0]": lambda: data[0],
        "data[...] =": lambda: data.__setitem__(..., 0),
        "shape": lambda: data.shape,
        "size": lambda: data.size,
        "maxshape": lambda: data.maxshape,
        "ndim": lambda: data.ndim,
        "iter": lambda: list(data),
        "array": lambda: np.asarray(data),
        "read_direct": lambda: data.read_direct(np.zeros(6)),
        "write_direct": lambda: data.write_direct(np.zeros(6)),
        "resize": lambda: data.resize((9,)),
        "attrs[name]": lambda: attributes["a"],
        "attrs[name] =": lambda: attributes.__setitem__("b", 1),
        "name in attrs": lambda: "a" in attributes,
        "modify": lambda: attributes.modify("a", 2),
        "del attrs[name]": lambda: attributes.__delitem__("a"),
        "copy": lambda: file.copy("d", "e"),
        "close": lambda: file.close(),
        "mode": lambda: file.mode,
        "filename": lambda: file.filename,
        "libver": lambda: file.libver,
        "swmr_mode": lambda: file.swmr_mode,
        "repr": lambda: repr([file, group, data]),
    }


def test_closed_files_raise_what_h5py_raises(tmp_path):
    ours, theirs = closed(hyperslab, tmp_path), closed(h5py, tmp_path)
    for what in ours:
        found, wanted = raised(ours[what]), raised(theirs[what])
        assert (found is None) == (wanted is None) and (wanted is None or issubclass(found, wanted)), (what, found, wanted)


def unwritable(lib, folder, stack):
    """What is done with a file that is only read, and with arrays that cannot be written."""
    path = folder / f"read-{lib.__name__}.h5"
    with lib.File(path, "w") as file:
        file["d"] = np.arange(6.0)
        file["g/x"] = 1
        file["d"].attrs["a"] = 1
        file.create_dataset("c", (6,), "f4", chunks=(2,), maxshape=(None,))
    file = stack.enter_context(lib.File(path))
    other = stack.enter_context(lib.File(folder / f"other-{lib.__name__}.h5", "w"))
    data = file["d"]
    fixed = np.zeros(6)
    fixed.flags.writeable = False
    strided = np.zeros((6, 2))[:, 0]
    return {
        "data[0] =": lambda: data.__setitem__(0, 1),
        "create_dataset": lambda: file.create_dataset("y", data=1),
        "create_group": lambda: file.create_group("y"),
        "require_group": lambda: file.require_group("y"),
        "require_dataset": lambda: file.require_dataset("q", (2,), "i4"),
        "attrs[old] =": lambda: data.attrs.__setitem__("a", 2),
        "attrs[new] =": lambda: data.attrs.__setitem__("b", 2),
        "del attrs": lambda: data.attrs.__delitem__("a"),
        "del attrs of no name": lambda: data.attrs.__delitem__("no"),
        "modify": lambda: data.attrs.modify("a", 5),
        "del": lambda: file.__delitem__("d"),
        "del no name": lambda: file.__delitem__("no"),
        "move": lambda: file.move("d", "e"),
        "hard link": lambda: file.__setitem__("z", data),
        "soft link": lambda: file.__setitem__("z", lib.SoftLink("/d")),
        "external link": lambda: file.__setitem__("z", lib.ExternalLink("q", "/d")),
        "type": lambda: file.__setitem__("z", np.dtype("i4")),
        "resize": lambda: file["c"].resize((9,)),
        "write_direct": lambda: data.write_direct(np.zeros(6)),
        "flush": lambda: file.flush(),
        "copy to another": lambda: other.copy(data, "n"),
        "read_direct, fixed": lambda: data.read_direct(fixed),
        "read_direct, strided": lambda: data.read_direct(strided),
        "read_direct, list": lambda: data.read_direct([0] * 6),
        "read_direct, small": lambda: data.read_direct(np.zeros(3)),
        "write_direct, strided": lambda: other.create_dataset("u", (6,), "f8").write_direct(strided),
        "write_direct, list": lambda: other.create_dataset("v", (6,), "f8").write_direct([0] * 6),
    }


def test_read_only_files_and_arrays_raise_what_h5py_raises(tmp_path):
    with contextlib.ExitStack() as stack:
        ours, theirs = unwritable(hyperslab, tmp_path, stack), unwritable(h5py, tmp_path, stack)
        different = {}
        for what in ours:
            found, wanted = raised(ours[what]), raised(theirs[what])
            if (found is None) != (wanted is None) or (wanted is not None and not issubclass(found, wanted)):
                different[what] = (found, wanted)
        assert not different


def test_a_file_object_is_read_range_by_range(tmp_path):
    path = tmp_path / "a.h5"
    values = np.random.default_rng(1).integers(0, 1 << 60, (4000, 1000))
    with hyperslab.File(path, "w") as file:
        file.create_dataset("x", data=values, chunks=(100, 1000))
        file.create_dataset("texts", data=["a", "größer"] * 50)
        file["x"].attrs["a"] = "of an attribute"
    with CountedFile(path) as raw, hyperslab.File(raw) as file:
        assert (file["x"][1230, 7:9] == values[1230, 7:9]).all()
        assert file["x"].attrs["a"] == "of an attribute" and file["texts"].asstr()[1] == "größer"
        assert file["x"].fillvalue == 0 and file.driver == "fileobj"
        assert raw.given < 2 << 20 < path.stat().st_size
        assert (file["x"][...] == values).all()


def test_a_file_object_that_fails_or_ends_early_is_an_error(tmp_path):
    path = tmp_path / "a.h5"
    with hyperslab.File(path, "w") as file:
        file["x"] = np.arange(100_000)

    class Failing(io.BytesIO):
        fails = False

        def read(self, size=-1):
            if self.fails:
                raise RuntimeError("no more")
            return super().read(size)

    raw = Failing(path.read_bytes())
    with hyperslab.File(raw) as file:
        raw.fails = True
        with pytest.raises(OSError, match="no more"):
            file["x"][:]
    with pytest.raises(OSError):
        hyperslab.File(io.BytesIO(path.read_bytes()[:500]))


def test_fields_with_bytes_in_common_are_read_into_an_array_that_is_given():
    """What is read into an array must be what reading gives, also where some bytes belong to several fields."""
    common = np.dtype({"names": ["a", "b", "c"], "formats": [">i4", "<i4", "u1"], "offsets": [0, 2, 3], "itemsize": 8})
    repeated = np.dtype([("many", common, (3,)), ("text", "S2")])
    with hyperslab.File(io.BytesIO(), "w") as file:
        apart = file.create_dataset("apart", data=np.array([(1, 2, 3), (4, 5, 6)], [("a", "i4"), ("b", "i4"), ("c", "u1")]))
        into = np.zeros(2, common)
        apart.read_direct(into)
        expected = np.zeros(2, common)
        for name in common.names:
            expected[name] = apart[name]
        assert into.tobytes() == expected.tobytes()
        raw = np.frombuffer(bytes(range(2 * repeated.itemsize)), repeated).copy()
        nested = file.create_dataset("nested", data=raw)
        target = np.zeros(2, repeated)
        nested.read_direct(target)
        assert (target["many"]["b"] == nested[:]["many"]["b"]).all() and (target["text"] == raw["text"]).all()


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("count", [4, 20_000])
def test_strings_of_every_form_are_stored_alike(tmp_path, encoding, count):
    texts = [f"{nth}" + "x" * (nth % 40) for nth in range(count)]
    if encoding == "utf-8":
        texts[1] = "größer"
    forms = {
        "list": texts,
        "objects": np.array(texts, dtype=object),
        "bytes": [text.encode() for text in texts],
        "own": np.array(texts, dtype="T"),
        "strided": np.array([texts, texts], dtype="T").T[:, 0],
    }
    with hyperslab.File(tmp_path / "a.h5", "w") as file:
        for form, given in forms.items():
            made = file.create_dataset(form, (count,), h5py.string_dtype(encoding))
            made[...] = given
        with pytest.raises(ValueError):
            file["list"][...] = ["a\0b"] * count
        with pytest.raises(TypeError):
            file["list"][...] = np.array([*texts[1:], None], dtype=np.dtypes.StringDType(na_object=None))
        if encoding == "ascii":
            with pytest.raises(UnicodeEncodeError):
                file["own"][...] = np.array(["ö"] * count, dtype="T")
        else:
            file.create_dataset("new", data=forms["own"])
    with h5py.File(tmp_path / "a.h5") as file:
        for form in file:
            assert file[form].asstr()[:].tolist() == texts


def test_numpys_own_strings_are_read_and_written(tmp_path):
    texts = np.array(["a", "größer", "", "x" * 100], dtype="T")
    with hyperslab.File(tmp_path / "a.h5", "w") as file:
        made = file.create_dataset("x", data=texts)
        made[2] = "now"
        texts[2] = "now"
        fixed = file.create_dataset("fixed", data=np.array([b"a", b"bc"]))
        target = np.empty(4, dtype="T")
        made.read_direct(target)
        assert (target == texts).all()
        assert (made.astype("T")[1:] == texts[1:]).all() and fixed.astype("T")[0] == "a"
        with pytest.raises(OSError):
            file.create_dataset("n", data=[1, 2]).read_direct(np.empty(2, dtype="T"))
    with h5py.File(tmp_path / "a.h5") as file:
        assert (file["x"].astype("T")[:] == texts).all()
