"""The core driver: a file on the disk as any other, or one that is never written."""

import os
import subprocess
import sys

import h5py
import hyperslab
import numpy as np
import pytest


@pytest.fixture
def path(tmp_path):
    with h5py.File(tmp_path / "made.h5", "w") as file:
        file["x"] = np.arange(3)
    return tmp_path / "made.h5"


@pytest.mark.parametrize("first, second", [(None, "core"), ("core", None), ("core", "core")])
def test_two_writers_of_a_process_share_the_file(path, first, second):
    one = hyperslab.File(path, "r+", driver=first)
    two = hyperslab.File(path, "r+", driver=second)
    one["mine"] = 1
    one.flush()
    two["other"] = 2
    two.close()
    one.close()
    with h5py.File(path) as file:
        assert sorted(file) == ["mine", "other", "x"]


# libhdf5 truncates a file before it asks for the lock.
@pytest.mark.parametrize("mode, first, second", [
    *((mode, h5py, hyperslab) for mode in ["r+", "a", "w"]),
    *((mode, hyperslab, h5py) for mode in ["r+", "a"]),
])
def test_a_second_writer_is_refused(path, mode, first, second):
    with first.File(path, "r+", driver="core" if first is hyperslab else None) as file:
        with pytest.raises(BlockingIOError):
            second.File(path, mode, driver="core" if second is hyperslab else None)
        file["more"] = 1
    with h5py.File(path) as file:
        assert sorted(file) == ["more", "x"]


def test_a_file_stays_where_it_was_opened(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    file = hyperslab.File("made.h5", "w", driver="core")
    assert (file.filename, file.driver) == (str(tmp_path / "made.h5"), "core")
    file["x"] = np.arange(3)
    file.flush()
    monkeypatch.chdir(tmp_path / "elsewhere")
    file["y"] = 1
    file.close()
    assert os.listdir() == []
    with h5py.File(tmp_path / "made.h5") as file:
        assert sorted(file) == ["x", "y"]
    with pytest.raises(FileNotFoundError):
        hyperslab.File(tmp_path / "missing/made.h5", "w", driver="core")


AT_EXIT = """
import atexit, sys
atexit.register(lambda: file.create_dataset("late", data=1))
import hyperslab
file = hyperslab.File(sys.argv[1], "w", driver="core")
"""


def test_what_the_last_function_of_a_program_writes_is_stored(tmp_path):
    made = tmp_path / "made.h5"
    done = subprocess.run([sys.executable, "-c", AT_EXIT, made], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    with h5py.File(made) as file:
        assert sorted(file) == ["late"]


def in_memory_only(library, path, mode):
    """What a program sees that changes a file without a backing store, and what is on the disk afterwards."""
    try:
        file = library.File(path, mode, driver="core", backing_store=False)
    except OSError:
        return OSError, path.exists()
    with file:
        told = sorted(file), os.path.basename(file.filename), file.driver, file.mode
        file["more"] = np.arange(5)
        file.flush()
        told += (sorted(file), file["more"][4])
    return told, path.exists() and path.read_bytes()


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("mode", ["r+", "a", "w", "w-", "x"])
def test_without_a_backing_store_nothing_is_written(path, mode, there):
    if not there:
        path.unlink()
    before = there and path.read_bytes()
    theirs = in_memory_only(h5py, path, mode)
    assert in_memory_only(hyperslab, path, mode) == theirs
    assert (path.exists() and path.read_bytes()) == before


@pytest.mark.parametrize("library", [h5py, hyperslab])
def test_a_file_that_is_being_written_is_not_copied(path, library):
    with library.File(path, "r+"), pytest.raises(BlockingIOError):
        hyperslab.File(path, "r+", driver="core", backing_store=False)
    with library.File(path), hyperslab.File(path, "r+", driver="core", backing_store=False) as file:
        assert file["x"][2] == 2


KILLED = """
import os, signal, sys
import hyperslab
file = hyperslab.File(sys.argv[1], "w", libver="latest")
file["x"] = [0, 1, 2]
file.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_writer_left_is_copied(tmp_path):
    left = tmp_path / "left.h5"
    subprocess.run([sys.executable, "-c", KILLED, left], check=False, timeout=60)
    with hyperslab.File(left, "r+", driver="core", backing_store=False) as file:
        file["y"] = 1
        assert file["x"][:].tolist() == [0, 1, 2]
