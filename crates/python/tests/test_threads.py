"""Objects that several threads use at once: no panics, and no exceptions that a thread alone would not get."""

import pathlib
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import hyperslab
import numpy as np
import pytest


def at_once(*works, seconds=0.5):
    """Runs all functions over and over in threads of their own; the first exception comes out."""
    failed, end = [], threading.Event()

    def repeat(work):
        try:
            while not end.is_set():
                work()
        except BaseException as why:
            failed.append(why)
            end.set()

    threads = [threading.Thread(target=repeat, args=(work,)) for work in works]
    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        end.wait(seconds)
        end.set()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(old)
    if failed:
        raise failed[0]


def test_a_space_is_changed_and_looked_at():
    space, other = hyperslab.Space((400, 400)), hyperslab.Space((400, 400))
    points = np.random.default_rng(1).integers(0, 400, (300, 2)).tolist()

    def change():
        space.select_none()
        for start in range(0, 40, 3):
            space.select_hyperslab((start, start), (40, 40), (9, 7), (2, 3), op="xor")
        space.select_elements(points)
        space.select_all()

    def look():
        assert space == space
        _ = space == other, other == space, space != other
        _ = space.npoints, space.bounds, space.kind, space.shape, repr(space), space.is_regular
        _ = space.copy(), space.encode()
        space.combine(other, "and")

    at_once(change, change, look, look)


def test_a_space_that_others_change_is_used_to_read(tmp_path):
    with hyperslab.File(tmp_path / "made.h5", "w") as file:
        file["v"] = np.arange(100)
        dataset, space = file["v"], hyperslab.Space(100)

        def change():
            space.select_hyperslab(3, 10, 7)
            space.select_all()

        def read():
            assert len(dataset.read_selection(space)) in (10, 100)

        at_once(change, read, read)


def test_changes_by_several_threads_all_count():
    space = hyperslab.Space(1000)
    space.select_none()

    def add(first):
        for start in range(first, 1000, 4):
            space.select_hyperslab(start, 1, op="or")

    threads = [threading.Thread(target=add, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert space.npoints == 1000


def test_the_module_does_without_the_lock_of_the_interpreter():
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return  # It was imported, and the lock stayed away.
    source = pathlib.Path(__file__).parents[1] / "src" / "lib.rs"
    assert re.findall(r"^#\[pymodule\b.*\]", source.read_text(), re.MULTILINE) == ["#[pymodule(gil_used = false)]"]


def test_threads(both):
    random = np.random.default_rng(5)
    values = random.integers(0, 1000, (400, 300))

    def make(file):
        file.create_dataset("chunked", data=values, chunks=(50, 40), compression="gzip")
        file["plain"] = values
        file["text"] = [f"text {number}" for number in range(2000)]
        file.attrs["x"] = 1

    theirs, ours = both(make)
    barrier = threading.Barrier(8)

    def read(seed):
        barrier.wait()
        random = np.random.default_rng(seed)
        for _ in range(30):
            row, column = random.integers(0, 200, 2)
            for name in ["chunked", "plain"]:
                assert (ours[name][row : row + 100, column:] == values[row : row + 100, column:]).all()
            assert ours["text"][row] == b"text %d" % row
            assert ours.attrs["x"] == 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(read, range(8)))


def test_other_threads_run_while_one_reads(both):
    values = np.random.default_rng(1).random((3000, 1000))
    theirs, ours = both(lambda file: file.create_dataset("x", data=values, chunks=(100, 100), compression="gzip"))
    ticks, done = 0, threading.Event()

    def read():
        ours["x"][:]
        done.set()

    reader = threading.Thread(target=read)
    reader.start()
    while not done.wait(0.0005):
        ticks += 1
    reader.join()
    assert ticks > 3


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_text_of_an_attribute_beside_a_thread_that_changes_it(tmp_path, libver):
    with hyperslab.File(tmp_path / "text.h5", "w", libver=libver) as file:
        group = file.create_group("g")
        group.attrs["text"] = "0" * 40
        file.flush()
        file["later"] = np.arange(100)

        def change():
            group.attrs["text"] = str(np.random.default_rng().integers(10)) * 40
            file.create_group("x")
            del file["x"]

        def read():
            text = group.attrs["text"]
            assert text == text[0] * 40

        at_once(change, read, read, read)
    with hyperslab.File(tmp_path / "text.h5") as file:
        assert file["later"][99] == 99


@pytest.mark.parametrize("options", [{}, {"compression": "gzip"}])
def test_indices_beside_a_thread_that_resizes(tmp_path, options):
    with hyperslab.File(tmp_path / "made.h5", "w") as file:
        dataset = file.create_dataset("x", (10,), "i4", maxshape=(None,), chunks=(100,), **options)
        blocks, region = hyperslab.MultiBlockSlice(0, 4, 2, 2), dataset.regionref[2:6]
        size = 10

        def resize():
            nonlocal size
            size = size % 5000 + 10
            dataset.resize((size,))

        def read():
            _ = dataset[:], dataset[0:5], dataset[[1, 3]], dataset[-1], dataset[blocks], dataset[region], np.asarray(dataset)
            into = np.empty(5, "i4")
            dataset.read_direct(into, np.s_[0:5])
            hyperslab.read_many([(dataset, np.s_[0:5]), (dataset, 7)])

        def write():
            dataset[0:5] = 7
            dataset[:] = 8
            dataset[blocks] = 9
            dataset[region] = 10
            dataset[-1] = 11
            dataset.write_direct(np.arange(5, dtype="i4"), dest_sel=np.s_[0:5])
            hyperslab.write_many([(dataset, np.s_[0:5], 12), (dataset, 6, 13)])

        at_once(resize, read, write)


def test_a_space_of_another_extent_is_refused_at_once(tmp_path):
    with hyperslab.File(tmp_path / "made.h5", "w") as file:
        dataset, space = file.create_dataset("x", (10,), "i4"), hyperslab.Space(8)
        for request in [
            lambda: dataset.read_selection(space),
            lambda: dataset.__setitem__(space, 1),
            lambda: dataset.__setitem__((space,), 1),
            lambda: hyperslab.read_many([(dataset, space)]),
            lambda: hyperslab.write_many([(dataset, space, 1)]),
        ]:
            with pytest.raises(ValueError, match="8"):
                request()


def test_dimensions_resized_by_threads_of_their_own(tmp_path):
    with hyperslab.File(tmp_path / "made.h5", "w") as file:
        dataset = file.create_dataset("x", (1, 1), "i4", maxshape=(None, None), chunks=(10, 10))
        sizes = [1, 1]

        def resize(axis):
            assert dataset.shape[axis] == sizes[axis]
            sizes[axis] = sizes[axis] % 50 + 1
            dataset.resize(sizes[axis], axis=axis)

        at_once(lambda: resize(0), lambda: resize(1))
        for size, why in [(-1, ValueError), (2**64, ValueError), ((3, 3), TypeError)]:
            with pytest.raises(why):
                dataset.resize(size, axis=0)


def test_several_threads_require_the_same(tmp_path):
    with hyperslab.File(tmp_path / "made.h5", "w") as file:
        number = 0

        def require():
            name = f"{number // 4}/x"
            assert isinstance(file.require_group(name + "/group"), hyperslab.Group)
            assert file.require_dataset(name + "/data", (3,), "i4").shape == (3,)

        def go_on():
            nonlocal number
            number += 1
            file.require_group("often")
            del file["often"]

        def meet():
            file.require_group("often")

        at_once(require, require, require, go_on, meet)
