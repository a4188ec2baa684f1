"""Values that must be refused, kept or ordered as h5py does it."""

import h5py
import hyperslab
import numpy as np
import pytest

LIBRARIES = pytest.mark.parametrize("lib", [h5py, hyperslab], ids=["h5py", "hyperslab"])


@pytest.fixture
def file(lib):
    with lib.File(f"values-{lib.__name__}.h5", "w", driver="core", backing_store=False) as file:
        yield file


@LIBRARIES
def test_what_has_no_conversion_is_refused(lib, file):
    floats, truths = file.create_dataset("f", (2,), "f8"), file.create_dataset("b", (2,), "?")
    with pytest.raises(OSError):
        floats[...] = np.array([1j, 2])
    with pytest.raises(OSError):
        file.create_dataset("i", data=[1, 2]).astype("c16")[:]
    with pytest.raises(OSError):
        truths[...] = np.array([0.5, 1])
    truths[...] = np.array([5, 0])
    assert truths[:].tolist() == [True, False]


@LIBRARIES
def test_what_is_no_text_is_refused(lib, file):
    texts = file.create_dataset("t", data=["a", "b"])
    with pytest.raises(TypeError):
        texts[0] = None
    with pytest.raises(UnicodeEncodeError):
        texts[0] = "a\ud800"
    with pytest.raises(UnicodeEncodeError):
        file.create_dataset("ascii", (1,), h5py.string_dtype("ascii"))[0] = "ö"
    assert texts[:].tolist() == [b"a", b"b"]


@LIBRARIES
@pytest.mark.parametrize("value", [np.array("xyz"), "xyz", b"xyz", np.bytes_(b"xyz")])
def test_fill_values_of_strings(lib, file, value):
    made = file.create_dataset("x", (2,), "S40", fillvalue=value)
    assert made.fillvalue == b"xyz" and made[1] == b"xyz"


@LIBRARIES
def test_a_fill_value_that_is_no_text_is_refused(lib, file):
    with pytest.raises(AttributeError):
        file.create_dataset("x", (2,), "S10", fillvalue=5)
    with pytest.raises(ValueError):
        file.create_dataset("y", (2,), "f8", fillvalue=1j)
    assert file.create_dataset("z", (2,), "u4", fillvalue=-1)[0] == 0


def test_a_fill_value_of_variable_length():
    with hyperslab.File("fill.h5", "w", driver="core", backing_store=False) as file:
        assert file.create_dataset("S", (2,), "S40", fillvalue=np.array("xyz", dtype=object))[1] == b"xyz"
        for value in (np.array("xyz", dtype=object), np.array("xyz"), "xyz"):
            made = file.create_dataset(repr(value), (2,), h5py.string_dtype(), fillvalue=value)
            assert made.fillvalue == b"xyz" and made[:].tolist() == [b"xyz"] * 2


@LIBRARIES
def test_members_keep_their_order(lib, file):
    moved = np.dtype({"names": ["a", "c", "b"], "formats": ["i8"] * 3, "offsets": [0, 16, 8], "itemsize": 24})
    made = file.create_dataset("moved", data=np.array([(1, 2, 3)], moved))
    assert made.dtype == moved and made[0].tolist() == (1, 2, 3)
    some = np.array([(1, 2.0, 3)], [("a", "i4"), ("b", "f4"), ("c", "i2")])[["c", "a"]]
    made = file.create_dataset("some", data=some)
    assert made.dtype.names == ("c", "a") and made[0].tolist() == (3, 1)


def test_fields_that_overlap_are_stored_one_after_the_other():
    dtype = np.dtype({"names": ["a", "b"], "formats": ["u4", "u2"], "offsets": [0, 2], "itemsize": 4})
    values = np.array([0x00020001, 0x00040003], "u4").view(dtype)
    with hyperslab.File("overlap.h5", "w", driver="core", backing_store=False) as file:
        made = file.create_dataset("x", data=values)
        assert made[:].tolist() == [(0x00020001, 2), (0x00040003, 4)]
        target = np.zeros(2, dtype)
        made.read_direct(target)
        assert target.tolist() == values.tolist()
