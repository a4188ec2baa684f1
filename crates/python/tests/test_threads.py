"""Objects that several threads use at once: no panics, and no exceptions that a thread alone would not get."""

import pathlib
import re
import sys
import threading

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


def test_the_module_wants_the_lock_of_the_interpreter():
    if not hasattr(sys, "_is_gil_enabled"):
        pytest.skip("this Python has no other way")
    assert sys._is_gil_enabled()


def test_the_module_declares_that_it_needs_the_lock_of_the_interpreter():
    """Only interpreters that can do without the lock read the declaration. Without it PyO3 declares a module free of the lock."""
    source = pathlib.Path(__file__).parents[1] / "src" / "lib.rs"
    assert re.findall(r"^#\[pymodule\b.*\]", source.read_text(), re.MULTILINE) == ["#[pymodule(gil_used = true)]"]
