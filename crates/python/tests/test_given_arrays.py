"""Arrays that users give: masks with odd bytes, and arrays that change while they are read or written."""

import gc
import sys
import threading
import time
import weakref

import h5py
import hyperslab
import numpy as np
import pytest


@pytest.fixture
def file(tmp_path):
    with hyperslab.File(tmp_path / "made.h5", "w") as file:
        yield file


# ---- masks


def odd_mask(*numbers):
    """Truth values whose bytes are these."""
    return np.array(numbers, "u1").view(bool)


MASK = odd_mask(0, 5, 0, 1, 253, 0)


def test_numbers_read_as_truth_values_are_0_or_1(both):
    theirs, ours = both(lambda f: f.create_dataset("flag", data=np.array([0, 5, 0, 1, -3, 256], "i4")))
    found = ours["flag"].astype(bool)[:]
    assert found.view("u1").tolist() == [0, 1, 0, 1, 1, 1]
    np.testing.assert_array_equal(found, theirs["flag"].astype(bool)[:])
    dest = np.zeros(12, bool)
    ours["flag"].read_direct(dest, dest_sel=np.s_[::2])
    assert dest[::2].view("u1").tolist() == [0, 1, 0, 1, 1, 1]


def test_a_mask_of_odd_bytes_chooses_by_not_being_zero(file):
    file["v"] = np.arange(6)
    assert file["v"][MASK].tolist() == [1, 3, 4]
    file["v"][MASK] = 7
    assert file["v"][:].tolist() == [0, 7, 2, 7, 7, 5]
    file["flag"] = np.array([0, 5, 0, 1, -3, 0])
    assert file["v"][file["flag"].astype(bool)[:]].tolist() == [7, 7, 7]


def test_odd_bytes_in_the_mask_of_one_dimension(file):
    file["table"] = np.arange(18).reshape(6, 3)
    np.testing.assert_array_equal(file["table"][MASK], np.arange(18).reshape(6, 3)[[1, 3, 4]])
    np.testing.assert_array_equal(file["table"][MASK, 1], [4, 10, 13])
    whole = np.zeros((6, 3), "u1")
    whole[2, 1], whole[5] = 9, (2, 0, 255)
    np.testing.assert_array_equal(file["table"][whole.view(bool)], [7, 15, 17])
    space, shape = hyperslab._hyperslab.select((6,), (MASK,))
    assert (space.npoints, shape) == (3, (3,))


def test_truth_values_of_odd_bytes_are_stored_as_0_and_1(file):
    file["numbers"] = np.zeros(6, "i4")
    file["numbers"][:] = MASK
    assert file["numbers"][:].tolist() == [0, 1, 0, 1, 1, 0]


# ---- arrays that other code changes


class Meddling(str):
    """A string that would shrink an array if its own `encode` were called."""

    array = None

    def encode(self, *args):
        if self.array is not None and self.array.size > 1:
            self.array.resize(1, refcheck=False)
            junk = [bytes(64) for _ in range(1000)]
            del junk
        return super().encode(*args)


def test_strings_are_encoded_without_code_of_their_own(file):
    text = h5py.string_dtype()
    array = np.empty(5000, text)
    for at in range(array.size):
        array[at] = Meddling(f"text {at}")
    for item in array:
        item.array = array
    file.create_dataset("texts", (5000,), text)
    file["texts"][...] = array
    assert array.size == 5000
    assert file["texts"][4999] == b"text 4999"


def test_an_array_of_sequences_may_shrink_while_they_are_looked_at(file):
    dtype = h5py.vlen_dtype(h5py.string_dtype())
    array = np.empty(100, dtype)

    class Row:
        def __len__(self):
            array.resize(1, refcheck=False)
            return 2

        def __iter__(self):
            return iter(["a", "b"])

    for at in range(100):
        array[at] = Row()
    dataset = file.create_dataset("rows", (100,), dtype)
    dataset._handle.write(hyperslab.Space((100,)), array, dtype)
    assert dataset[99].tolist() == [b"a", b"b"]


class Last:
    """Shrinks an array when it goes."""

    def __init__(self, array, log):
        self.array, self.log = array, log

    def __del__(self):
        try:
            self.array.resize(1, refcheck=False)
            self.log.append("shrunk")
        except ValueError as why:
            self.log.append(str(why))


def test_objects_that_are_replaced_may_change_the_array(file):
    file["texts"] = ["alpha", "beta", "gamma"] * 1000
    dest, log = np.empty(3000, object), []
    for at in range(3000):
        dest[at] = Last(dest, log)
    holder = [dest]
    del dest
    file["texts"].read_direct(holder[0])
    gc.collect()
    assert len(log) == 3000
    # Only after all were in their places.
    assert holder[0][0] == b"alpha"


def test_an_array_that_changes_while_it_is_read_into_is_refused(file):
    file["texts"] = ["alpha", "beta", "gamma"] * 1000
    dest = np.empty(3000, object)
    done = []

    class Meddler:
        def __del__(self):
            if not done:
                done.append(True)
                dest.resize(10, refcheck=False)

    # Runs when the garbage collector does: as objects are made.
    def plant():
        one, other = Meddler(), []
        one.other, cycle = other, [one]
        other.append(cycle)
        cycle.append(other)

    plant()
    old = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        file["texts"].read_direct(dest)
    except (TypeError, ValueError) as why:
        assert "changed" in str(why) or "broadcast" in str(why)
    finally:
        gc.set_threshold(*old)


def test_references_to_objects_stay_balanced(file):
    file["texts"] = ["a", "b", "c"]

    class Thing:
        pass

    thing = Thing()
    dest = np.array([thing] * 6, object)
    before = sys.getrefcount(thing)
    file["texts"].read_direct(dest, dest_sel=np.s_[::2])
    assert dest[::2].tolist() == [b"a", b"b", b"c"]
    assert sys.getrefcount(thing) == before - 3
    gone = weakref.ref(thing)
    del thing, dest
    assert gone() is None


def test_an_array_is_not_resized_while_it_is_used(file):
    """What keeps the bytes of an array in their place: NumPy refuses while there is a weak reference."""
    array = np.zeros(10)
    pinned = weakref.ref(array)
    with pytest.raises(ValueError, match="referenced"):
        array.resize(1000, refcheck=False)
    del pinned
    array.resize(1000, refcheck=False)


class Own(np.ndarray):
    """An array whose views are views of views."""


@pytest.mark.parametrize("view", [lambda owner: owner, lambda owner: owner[:], lambda owner: owner.view(Own)[:]])
@pytest.mark.parametrize("how", ["read_direct", "write_direct", "assign"])
def test_the_owner_of_a_view_is_not_resized_while_the_view_is_used(file, view, how):
    owner = np.random.default_rng(0).random(1 << 18)
    numbers = file.create_dataset("x", data=owner, chunks=(1 << 12,), compression="gzip")
    direct = getattr(numbers, how, lambda array: numbers.__setitem__(..., array))
    array, seen, deadline = view(owner), threading.Event(), time.monotonic() + 5

    def use():
        while not seen.is_set():
            direct(array)

    worker = threading.Thread(target=use)
    worker.start()
    while weakref.getweakrefcount(owner) == 0 and time.monotonic() < deadline:
        time.sleep(0)
    pinned = time.monotonic() < deadline
    seen.set()
    worker.join()
    assert pinned and weakref.getweakrefcount(owner) == 0


class Index:
    """An index that shrinks an array when it is asked what it is."""

    def __init__(self, array, index):
        self.array, self.index = array, index

    def __index__(self):
        self.array.resize(2, refcheck=False)
        return self.index


@pytest.mark.parametrize("dtype", ["f8", object])
def test_a_destination_may_shrink_while_its_index_is_found(file, dtype):
    file["v"] = np.arange(8) if dtype == "f8" else ["a"] * 8
    dest = np.zeros(100_000, dtype)
    with pytest.raises((OSError, ValueError, TypeError, IndexError)):
        file["v"].read_direct(dest, np.s_[:8], np.s_[Index(dest, 99_000) : 99_008])


# ---- fields


def test_fields_that_are_not_read_stay_as_they_are(both):
    made = np.array([(1, 10.5), (2, 20.5), (3, 30.5)], [("a", "i4"), ("b", "f8")])
    theirs, ours = both(lambda f: f.create_dataset("t", data=made))
    wanted = np.dtype([("mine", "S4"), ("b", "f4"), ("gap", "u1"), ("a", "i8")])
    for sel in (np.s_[:3], np.s_[0:6:2], np.s_[[0, 1, 5]]):
        left, right = (np.array([(b"keep", -1, 9, -1)] * 6, wanted) for _ in range(2))
        theirs["t"].read_direct(left, np.s_[0:3], sel)
        ours["t"].read_direct(right, np.s_[0:3], sel)
        np.testing.assert_array_equal(left, right)
        assert (right["mine"] == b"keep").all()


def test_fields_beside_objects_stay_as_they_are(file):
    text = h5py.string_dtype()
    file["t"] = np.array([("x", 1), ("y", 2)], [("name", text), ("n", "i4")])
    dest = np.array([(b"old", object, 5.5)] * 4, [("name", text), ("own", object), ("f", "f8")])
    file["t"].read_direct(dest, dest_sel=np.s_[1::2])
    assert dest["name"].tolist() == [b"old", b"x", b"old", b"y"]
    assert dest["own"].tolist() == [object] * 4
    assert dest["f"].tolist() == [5.5] * 4


def test_what_lies_between_the_members_in_the_file_stays_out_of_objects(file):
    """The members are where those of the array are, so that their bytes could be copied whole."""
    spread = {"names": ["a", "b"], "formats": ["i4", "i4"], "offsets": [0, 16], "itemsize": 20}
    file["t"] = np.array([(1, 2), (3, 4)], np.dtype(spread))
    for kind, kept in (("O", "mine"), ("i8", 77), ("?", True)):
        fields = {"names": ["a", "own", "b"], "formats": ["i4", kind, "i4"], "offsets": [0, 8, 16], "itemsize": 20}
        dest = np.zeros(4, np.dtype(fields))
        dest["own"] = kept
        file["t"].read_direct(dest, dest_sel=np.s_[::2])
        file["t"].read_direct(dest, np.s_[:1], np.s_[1:2])
        assert dest["own"].tolist() == [kept] * 4
        assert (dest["a"].tolist(), dest["b"].tolist()) == ([1, 1, 3, 0], [2, 2, 4, 0])


def test_memory_that_is_not_there_is_a_memory_error(file):
    huge = file.create_dataset("huge", (2**44,), "f8", chunks=(2**20,))
    with pytest.raises(MemoryError):
        huge[...]
    texts = file.create_dataset("texts", (2**44,), h5py.string_dtype(), chunks=(2**20,))
    with pytest.raises(MemoryError):
        texts[...]
    with pytest.raises(MemoryError):
        huge.read_selection(hyperslab.Space(huge.shape))
