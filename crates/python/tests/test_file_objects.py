"""Files whose bytes a file object has: read and written range by range, by any thread, and to the end."""

import io
import subprocess
import sys
import textwrap

import h5py
import hyperslab
import numpy as np
import pytest
from counted import CountedBytes

BOTH = pytest.mark.parametrize("lib", [h5py, hyperslab], ids=["h5py", "hyperslab"])


@pytest.fixture(scope="module")
def image():
    held = io.BytesIO()
    with h5py.File(held, "w") as file:
        file.create_dataset("chunked", data=np.arange(1_000_000), chunks=(1000,))
        file["plain"] = np.arange(1_000_000)
    return held.getvalue()


@pytest.mark.parametrize("mode", ["r+", "a"])
def test_small_changes_write_little(image, mode):
    held = CountedBytes(image)
    with hyperslab.File(held, mode) as file:
        file["chunked"][5] = 7
        file["plain"][-1] = 8
        file.flush()
        file["new"] = np.arange(10)
        assert file.driver == "fileobj"
    assert held.given < 1 << 20 and held.taken < 1 << 20 < len(image)
    with h5py.File(held) as file:
        assert file["chunked"][5] == 7 and file["plain"][-1] == 8 and file["new"][9] == 9
        assert file["chunked"][6] == 6 and file["plain"][-2] == 999_998


def test_what_is_flushed_is_written_once():
    held = CountedBytes()
    with hyperslab.File(held, "w") as file:
        file["first"] = np.arange(100_000)
        file.flush()
        with h5py.File(io.BytesIO(held.getvalue())) as seen:
            assert seen["first"][99_999] == 99_999
        file["second"] = 5
        file.flush()
    assert held.taken < 1_000_000


def test_a_new_file_takes_the_place_of_an_old_one(image):
    held = io.BytesIO(image)
    with hyperslab.File(held, "w") as file:
        file["x"] = 1
    assert len(held.getvalue()) < 10_000
    with h5py.File(held) as file:
        assert list(file) == ["x"]


class Stubborn(io.RawIOBase):
    """Takes and gives a few bytes at a time, and has neither `truncate` nor `flush` that works."""

    truncate = property()

    def __init__(self, most):
        self.held, self.most = io.BytesIO(), most

    def seek(self, *where):
        return self.held.seek(*where)

    def read(self, size=-1):
        return self.held.read(min(size, self.most))

    def write(self, part):
        return self.held.write(part[: self.most])


def test_an_object_that_takes_few_bytes_at_a_time():
    held = Stubborn(777)
    values = np.arange(10_000)
    with hyperslab.File(held, "w") as file:
        file["x"] = values
    with hyperslab.File(held, "r+") as file:
        assert (file["x"][:] == values).all()
        file["x"][17] = -1
    with h5py.File(held.held) as file:
        assert file["x"][17] == -1 and file["x"][18] == 18


def test_an_object_that_takes_nothing_or_fails_is_an_error():
    with pytest.raises(OSError, match="took 0 of"):
        hyperslab.File(Stubborn(0), "w")

    class Full(io.BytesIO):
        full = False

        def write(self, part):
            if self.full:
                raise RuntimeError("no room")
            return super().write(part)

    held = Full()
    file = hyperslab.File(held, "w")
    file.create_dataset("x", data=[5], chunks=(1,))
    file.flush()
    held.full = True
    file["x"][0] = 6
    with pytest.raises(OSError, match="no room"):
        file.flush()
    held.full = False
    file.close()
    with h5py.File(io.BytesIO(held.getvalue())) as file:
        assert file["x"][0] == 6


@BOTH
@pytest.mark.parametrize("where", ["object", "path"])
def test_an_empty_file_becomes_one_if_it_may_be_changed(tmp_path, lib, where):
    held = io.BytesIO() if where == "object" else tmp_path / "empty.h5"
    if where == "path":
        held.touch()
    with pytest.raises(OSError):
        lib.File(held, "r")
    with lib.File(held, "r+") as file:
        assert list(file) == []
        file["x"] = 1
    with h5py.File(held) as file:
        assert file["x"][()] == 1


def run(source, *arguments):
    """Runs a program that must end; a deadlock is an error of the time."""
    subprocess.run([sys.executable, "-c", textwrap.dedent(source), *map(str, arguments)], check=True, timeout=120)


def test_threads_that_look_while_others_write():
    run(
        """
        import io, sys, threading
        import hyperslab, numpy as np
        sys.setswitchinterval(1e-6)
        held = io.BytesIO()
        with hyperslab.File(held, "w", cache_bytes=10_000) as file:
            data = file.create_dataset("x", (1000,), "i4", maxshape=(None,), chunks=(100,))
            end, failed = threading.Event(), []

            def repeat(work):
                try:
                    while not end.is_set():
                        work()
                except BaseException as why:
                    failed.append(why)
                    end.set()

            def change():
                data.resize(data.shape[0] % 5000 + 500, axis=0)
                data[...] = 3
                name = threading.current_thread().name
                file.require_group(name).attrs["a"] = "text" * 100
                del file[name]
                file.flush()

            def look():
                _ = data.shape, data.maxshape, data[:10], data.size, bool(data), file["x"] == data, file.cache_stats(), len(file)
                hyperslab.read_many([(data, np.s_[0:5])])

            threads = [threading.Thread(target=repeat, args=(work,)) for work in (change, change, look, look)]
            for thread in threads:
                thread.start()
            end.wait(2)
            end.set()
            for thread in threads:
                thread.join()
        assert not failed, failed
        with hyperslab.File(held) as file:
            assert (file["x"][:] <= 3).all()
        """
    )


def test_an_object_is_written_to_the_end_when_the_interpreter_ends(tmp_path):
    path = tmp_path / "left.h5"
    run(
        """
        import sys
        import hyperslab, numpy as np
        raw = open(sys.argv[1], "w+b", buffering=0)
        file = hyperslab.File(raw, "w", libver="latest")
        file.create_dataset("x", data=np.arange(1000), chunks=(100,))
        """,
        path,
    )
    with h5py.File(path) as file:
        assert file["x"][999] == 999
