"""How long files live, and that nothing is lost when they go."""

import gc
import io
import os
import subprocess
import sys
import threading
import time

import h5py
import hyperslab
import numpy as np
import pytest


def numbers(source):
    with h5py.File(source) as file:
        return file["x"][()].tolist()


@pytest.mark.parametrize("options", [{}, {"libver": "latest"}])
def test_an_object_has_the_file_when_the_last_handle_goes(options):
    held = io.BytesIO()
    file = hyperslab.File(held, "w", **options)
    file["x"] = np.arange(3)
    del file
    assert numbers(held) == [0, 1, 2]


def test_a_dataset_keeps_the_file_open():
    held = io.BytesIO()
    file = hyperslab.File(held, "w")
    dataset = file.create_dataset("x", data=np.arange(3))
    attributes = dataset.attrs
    del file
    dataset[0] = 9
    del dataset
    gc.collect()
    attributes["a"] = 1
    del attributes
    assert numbers(held) == [9, 1, 2]


@pytest.mark.parametrize("how", ["dataset.file.close()", "dataset.file.flush()", "dataset.flush()", "file.close()", "file.flush()"])
def test_closing_and_flushing_through_any_object(how):
    held = io.BytesIO()
    file = hyperslab.File(held, "w")
    dataset = file.create_dataset("x", data=np.arange(3))
    exec(how, {"dataset": dataset, "file": file})
    assert numbers(io.BytesIO(held.getvalue())) == [0, 1, 2]
    if "close" in how:
        assert not file and not dataset


def test_a_core_file_is_written_when_it_goes(tmp_path):
    file = hyperslab.File(tmp_path / "core.h5", "w", driver="core")
    file["x"] = np.arange(3)
    del file
    assert numbers(tmp_path / "core.h5") == [0, 1, 2]
    file = hyperslab.File(tmp_path / "none.h5", "w", driver="core", backing_store=False)
    file["x"] = np.arange(3)
    del file
    assert not (tmp_path / "none.h5").exists()


class Full(io.BytesIO):
    """Takes nothing while it is full."""

    full = False

    def write(self, data):
        if self.full:
            raise OSError(28, "No space left on device")
        return super().write(data)


def test_closing_stores_what_could_not_be_flushed():
    held = Full()
    file = hyperslab.File(held, "w")
    held.full = True
    file.create_dataset("x", data=np.arange(3), chunks=(3,))
    with pytest.raises(OSError) as caught:
        file.flush()
    assert caught.value.errno == 28
    held.full = False
    file.close()
    assert numbers(held) == [0, 1, 2]


def test_what_fails_when_a_file_goes_is_told(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: told.append(what.exc_value))
    held = Full()
    file = hyperslab.File(held, "w")
    file.create_dataset("x", data=np.arange(3), chunks=(3,))
    held.full = True
    del file
    assert [why.errno for why in told] == [28]


def test_an_object_that_takes_little_at_a_time():
    class Slow(io.BytesIO):
        def write(self, data):
            return super().write(data[:100])

    held = Slow()
    with hyperslab.File(held, "w") as file:
        file["x"] = np.arange(3)
    assert numbers(held) == [0, 1, 2]


def run(code, *args):
    return subprocess.run([sys.executable, "-c", code, *map(str, args)], capture_output=True, text=True, timeout=60)


DAEMON = """
import sys, threading, time
import numpy as np
import hyperslab
ready = threading.Event()
def work():
    file = hyperslab.File(sys.argv[1], "w", **eval(sys.argv[2]))
    file["x"] = np.arange(3)
    ready.set()
    number = 0
    while sys.argv[3] == "busy":
        file["x"][0] = number
        number += 1
    time.sleep(100)
threading.Thread(target=work, daemon=True).start()
ready.wait()
"""


@pytest.mark.parametrize("what", ["idle", "busy"])
@pytest.mark.parametrize("options", [{}, {"libver": "latest"}, {"driver": "core"}])
def test_what_a_daemon_thread_holds_when_the_interpreter_ends_is_written(tmp_path, what, options):
    done = run(DAEMON, tmp_path / "held.h5", options, what)
    assert done.returncode == 0, done
    assert numbers(tmp_path / "held.h5")[1:] == [1, 2]


GLOBAL = """
import sys
import threading
import time
import numpy as np
import hyperslab
file = hyperslab.File(sys.argv[1], "w")
file["x"] = np.arange(3)
file.itself = [file]
"""


def test_a_file_that_is_not_closed_is_written(tmp_path):
    done = run(GLOBAL, tmp_path / "held.h5")
    assert (done.returncode, done.stderr) == (0, "")
    assert numbers(tmp_path / "held.h5") == [0, 1, 2]


FAILING = """
import resource, signal, sys
import numpy as np
import hyperslab
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
file = hyperslab.File(sys.argv[1], "w")
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
numbers = file.create_dataset("x", (100_000,), "f8", chunks=(1000,), compression="gzip")
for start in range(0, 100_000, 1000):
    numbers[start : start + 999] = np.random.random(999)    # into the chunk cache
del file, numbers
print("after")
"""


def test_a_flush_that_fails_when_the_file_goes_is_told(tmp_path):
    done = run(FAILING, tmp_path / "full.h5")
    assert done.stdout == "after\n"
    assert "File too large" in done.stderr and "full.h5" in done.stderr


def test_an_exception_on_its_way_is_not_lost(tmp_path):
    def fails():
        held = Full()
        file = hyperslab.File(held, "w")
        file.create_dataset("x", data=[1], chunks=(1,))
        held.full = True
        raise KeyError("mine")

    hook, sys.unraisablehook = sys.unraisablehook, lambda what: None
    try:
        with pytest.raises(KeyError, match="mine"):
            fails()
        gc.collect()
    finally:
        sys.unraisablehook = hook


ROWS, WIDTH = 400, 50


def assign_until_it_fails(dataset, thread, done, failed):
    """Assigns every fourth row of a dataset, and keeps a list of the rows whose assignment returned."""
    try:
        for row in range(thread, ROWS, 4):
            dataset[row] = np.full(WIDTH, row + 1)
            done.append(row)
    except BaseException as why:
        failed.append(why)


@pytest.mark.parametrize("options", [{"chunks": (8, WIDTH), "compression": "gzip"}, {"chunks": (3, 7)}, {}])
def test_what_was_assigned_before_closing_is_in_the_file(tmp_path, options):
    """Four threads write while the file is closed: each assignment either is in the file or raised."""
    stopped = 0
    for nth in range(20):
        file = hyperslab.File(tmp_path / "made.h5", "w")
        dataset = file.create_dataset("x", (ROWS, WIDTH), "i4", **options)
        done, failed = [[] for _ in range(4)], []
        work = [(dataset, thread, rows, failed) for thread, rows in enumerate(done)]
        threads = [threading.Thread(target=assign_until_it_fails, args=arguments) for arguments in work]
        for thread in threads:
            thread.start()
        time.sleep(0.0004 * (nth % 10))
        file.close()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        assert all(isinstance(why, (ValueError, OSError)) for why in failed), failed
        stopped += len(failed)
        with h5py.File(tmp_path / "made.h5") as theirs:
            values = theirs["x"][()]
        for row in sum(done, []):
            assert (values[row] == row + 1).all(), (nth, row)
    assert stopped, "no file was closed beside a writing thread"


def test_file(tmp_path):
    path = tmp_path / "made.h5"
    with h5py.File(path, "w", userblock_size=1024) as file:
        file["x"] = [1, 2]
    with hyperslab.File(path) as file, h5py.File(path) as theirs:
        assert (file.filename, file.mode, file.driver, file.userblock_size) == (
            theirs.filename,
            "r",
            theirs.driver,
            1024,
        )
        assert bool(file) and file.name == "/" and repr(file) == repr(theirs)
        dataset, group = file["x"], file["/"]
        assert dataset.file.filename == str(path)
    assert not file and not dataset and not group
    assert (
        repr(file) == "<Closed HDF5 file>"
        and repr(dataset) == "<Closed HDF5 dataset>"
        and repr(group) == "<Closed HDF5 group>"
    )
    for action in [
        lambda: dataset[:],
        lambda: list(group),
        lambda: file["x"],
        lambda: dataset.attrs["x"],
        lambda: file.mode,
    ]:
        with pytest.raises(ValueError):
            action()
    file.close()
    assert hyperslab.is_hdf5(path) and not hyperslab.is_hdf5(tmp_path / "missing") and not hyperslab.is_hdf5(__file__)
    assert hyperslab.File(os.fsencode(path)).filename == str(path)
