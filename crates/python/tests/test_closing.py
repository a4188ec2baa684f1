"""Threads that close a file while another one does, or while the interpreter ends."""

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


class Slow(io.BytesIO):
    """Takes its time to store."""

    def write(self, data):
        time.sleep(0.2)
        return super().write(data)


def stored(held):
    with h5py.File(io.BytesIO(held.getvalue())) as file:
        return file["x"][()].tolist()


def test_a_second_thread_that_closes_a_file_waits_for_the_first():
    held = Slow()
    file = hyperslab.File(held, "w")
    file["x"] = np.arange(3)
    first = threading.Thread(target=file.close)
    first.start()
    while file:
        time.sleep(0.001)
    file.close()
    assert stored(held) == [0, 1, 2]
    first.join()


@pytest.mark.parametrize("use", [hyperslab.File.flush, hyperslab.File.close, list])
def test_an_object_that_uses_the_file_that_it_holds_is_an_error(use):
    class Using(io.BytesIO):
        file = None

        def write(self, data):
            if self.file is not None:
                use(self.file)
            return super().write(data)

    held = Using()
    file = hyperslab.File(held, "w")
    file.create_dataset("x", data=np.arange(3), chunks=(3,))
    held.file = file
    with pytest.raises(OSError, match="waits for the method"):
        file.flush()
    held.file = None
    file.close()
    assert stored(held) == [0, 1, 2]


def test_flushes_and_closings_of_many_threads_store_the_newest_last():
    held = io.BytesIO()
    file = hyperslab.File(held, "w")
    numbers = file.create_dataset("x", data=np.zeros(4, "i4"))

    def work(nth):
        for number in range(1, 20):
            numbers[nth] = number
            file.flush()

    threads = [threading.Thread(target=work, args=(nth,)) for nth in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stored(held) == [19] * 4
    closers = [threading.Thread(target=file.close) for _ in range(4)]
    for thread in closers:
        thread.start()
    for thread in closers:
        thread.join()
    assert stored(held) == [19] * 4


ENDING = """
import io, sys, threading, time
import numpy as np
import hyperslab
class Slow(io.FileIO):
    def write(self, data):
        time.sleep(0.3)
        return super().write(data)
path, how, ready = sys.argv[1], sys.argv[2], threading.Event()
def work():
    file = hyperslab.File(Slow(path, "wb+") if "object" in how else path, "w", cache_bytes=1 << 26)
    numbers = file.create_dataset("x", (8, 1 << 14), "f8", chunks=(1, 1 << 14), compression="gzip", compression_opts=9)
    for row in range(8):
        numbers[row, 1:] = np.random.default_rng(row).random((1 << 14) - 1)
    if "close" in how:
        globals()["kept"] = file
        ready.set()
        file.close()
    else:
        ready.set()
        del file, numbers
threading.Thread(target=work, daemon=True).start()
ready.wait()
time.sleep(0.02)
"""


@pytest.mark.parametrize("how", ["close", "go", "close object", "object goes"])
def test_a_daemon_thread_that_closes_a_file_when_the_interpreter_ends(tmp_path, how):
    path = tmp_path / "made.h5"
    done = subprocess.run([sys.executable, "-c", ENDING, path, how], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    with h5py.File(path) as file:
        assert [bool(row[1:].all()) for row in file["x"][()]] == [True] * 8


LATE = """
import atexit, sys, threading, time
import numpy as np
begun = threading.Event()
def close():
    begun.set()
    file.close()
def late():
    numbers[:] = np.random.default_rng(0).random(1 << 17)
    threading.Thread(target=close, daemon=True).start()
    begun.wait()
    time.sleep(0.02)
atexit.register(late)
import hyperslab
file = hyperslab.File(sys.argv[1], "w", cache_bytes=1 << 26, libver="latest")
numbers = file.create_dataset("x", (1 << 17,), "f8", chunks=(1 << 14,), compression="gzip", compression_opts=9)
threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
"""


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="no thread begins while the interpreter ends")
def test_a_thread_that_closes_a_file_after_the_interpreter_asked_for_it(tmp_path):
    path = tmp_path / "made.h5"
    done = subprocess.run([sys.executable, "-c", LATE, path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    with h5py.File(path) as file:
        assert file["x"][()].all()
    assert os.path.getsize(path) > 1 << 18


def opened(lib, path):
    """Objects of each kind of a file that is open, by what they are."""
    file = lib.File(path)
    return {"file": file, "root": file["/"], "group": file["g"], "below": file["g/d"], "data": file["d"], "type": file["t"]}


@pytest.mark.parametrize("what", ["file", "root", "group", "below", "data", "type"])
def test_objects_of_closed_files_have_no_name_and_only_the_hash_that_was_asked_for(tmp_path, what):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["d"] = file["g/d"] = [1, 2]
        file["t"] = np.dtype("i4")
    for lib in (h5py, hyperslab):
        first, second = opened(lib, path), opened(lib, path)
        asked, fresh = first[what], second[what]
        before = hash(asked)
        assert asked.name is not None and asked in {asked}
        first["file"].close()
        second["file"].close()
        assert asked.name is None and fresh.name is None, lib
        assert hash(asked) == before and asked in {asked}, lib
        with pytest.raises(TypeError):
            hash(fresh)
        with pytest.raises(TypeError):
            hash(fresh.id)
        with pytest.raises(ValueError):
            fresh.parent
        assert repr(asked) == repr(fresh) and "losed" in repr(fresh)
