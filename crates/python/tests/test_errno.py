"""Errors of the system, as h5py tells them."""

import contextlib
import errno
import gc
import os
import subprocess
import sys

import h5py
import hyperslab
import numpy as np
import pytest


def raised(call):
    with pytest.raises(OSError) as caught:
        call()
    return caught.value


@pytest.mark.parametrize(
    ("name", "mode"),
    [("missing.h5", "r"), ("missing.h5", "r+"), ("no/such/folder.h5", "w"), ("there.h5", "x"), (".", "r")],
)
def test_what_the_system_refuses_has_its_number(tmp_path, monkeypatch, name, mode):
    monkeypatch.chdir(tmp_path)
    h5py.File("there.h5", "w").close()
    theirs, ours = raised(lambda: h5py.File(name, mode)), raised(lambda: hyperslab.File(name, mode))
    assert (type(ours), ours.errno) == (type(theirs), theirs.errno)
    assert ours.strerror
    assert os.path.basename(ours.filename) == os.path.basename(name)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_what_is_forbidden(tmp_path):
    path = tmp_path / "secret.h5"
    h5py.File(path, "w").close()
    path.chmod(0)
    assert raised(lambda: hyperslab.File(path)).errno == errno.EACCES


def test_a_file_without_hdf5_in_it_has_no_number(tmp_path):
    path = tmp_path / "text.h5"
    path.write_text("text" * 1000)
    assert raised(lambda: hyperslab.File(path)).errno is None


@pytest.mark.parametrize("mode", ["r", "r+", "a"])
def test_a_locked_file_would_block(tmp_path, mode):
    path = tmp_path / "locked.h5"
    code = f"import h5py; f = h5py.File({str(path)!r}, 'w'); print('open', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline()
        try:
            why = raised(lambda: hyperslab.File(path, mode))
        finally:
            other.communicate(b"\n")
    assert isinstance(why, BlockingIOError)
    assert why.errno == errno.EAGAIN


HOLDER = "import h5py, sys; f = h5py.File(sys.argv[1], sys.argv[2]); print('open', flush=True); input(); f.close()"


@pytest.mark.parametrize("locking", [True, "best-effort", None, False])
@pytest.mark.parametrize(("held", "mode"), [("r+", "r"), ("r+", "r+"), ("r", "r+"), ("r", "r")])
def test_policies_about_locks(tmp_path, held, mode, locking):
    path = tmp_path / "locked.h5"
    with h5py.File(path, "w") as file:
        file["x"] = 1
    with subprocess.Popen([sys.executable, "-c", HOLDER, path, held], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline()
        try:
            if locking is False or held == mode == "r":
                with hyperslab.File(path, mode, locking=locking) as file:
                    assert file["x"][()] == 1
            else:
                why = raised(lambda: hyperslab.File(path, mode, locking=locking))
                assert isinstance(why, BlockingIOError) and why.errno == errno.EAGAIN
                assert str(other.pid) in str(why) and os.path.samefile(why.filename, path)
        finally:
            other.communicate(b"\n", timeout=60)
    with hyperslab.File(path, "r+", locking=True) as file:
        file["y"] = 2


FULL = """
import resource, signal, sys
import numpy as np
import hyperslab
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
file = hyperslab.File(sys.argv[1], "w")
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    file["numbers"] = np.arange(1_000_000)
    file.flush()
except OSError as why:
    print(why.errno)
try:
    hyperslab.write_many([(file["numbers"], slice(0, 10), np.arange(10))]) if "numbers" in file else None
except Exception:
    pass
try:
    file.close()
except OSError as why:
    print(why.errno)
"""


def test_a_file_that_must_not_grow(tmp_path):
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path / "full.h5")], capture_output=True, text=True, timeout=60)
    assert str(errno.EFBIG) in done.stdout.split(), done


@pytest.fixture
def small_disk(tmp_path):
    """A folder with room for 256 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "hyperslab", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("only root can mount a small file system")
    yield place
    gc.collect()  # Exceptions hold frames, and these datasets, and these the descriptor of their file.
    subprocess.run(["umount", str(place)], check=True, timeout=60)


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("how", ["flush", "close", "with"])
def test_a_full_disk(small_disk, how, libver):
    """Chunks wait in the cache, so the disk is found full by `flush` or `close`."""
    path = small_disk / "full.h5"
    file = hyperslab.File(path, "w", libver=libver)
    file["kept"] = np.arange(10)
    numbers = file.create_dataset("x", (100_000,), "f8", chunks=(1000,), compression="gzip")
    file.flush()
    for start in range(0, 100_000, 1000):
        numbers[start : start + 999] = np.random.default_rng(start).random(999)
    if how == "flush":
        assert raised(file.flush).errno == errno.ENOSPC
        del file["x"], numbers  # What is deleted makes room, and the file can be closed.
        file.close()
    elif how == "close":
        assert raised(file.close).errno == errno.ENOSPC
    else:
        with pytest.raises(OSError) as caught, file:
            pass
        assert caught.value.errno == errno.ENOSPC
    with hyperslab.File(path, "r+", locking=True) as file:
        assert file["kept"][()].tolist() == list(range(10))
        assert ("x" in file) == (how != "flush")
    with h5py.File(path) as file:
        assert file["kept"][()].tolist() == list(range(10))


def test_a_disk_that_is_full_already(small_disk):
    path, other = small_disk / "new.h5", small_disk / "other"
    with other.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass
    why = raised(lambda: hyperslab.File(path, "w"))
    assert why.errno == errno.ENOSPC and why.filename == str(path)
    other.unlink()
    with hyperslab.File(path, "w") as file:
        file["x"] = np.arange(10)
    with h5py.File(path) as file:
        assert file["x"][()].tolist() == list(range(10))


def test_parts_keep_the_number_of_their_error(tmp_path):
    data = tmp_path / "data.bin"
    with hyperslab.File(tmp_path / "made.h5", "w") as file:
        made = file.create_dataset("outside", (4,), "i4", external=[(str(data), 0, 16)])
        made[...] = np.arange(4)
        file.flush()
    data.unlink()
    data.mkdir()
    with hyperslab.File(tmp_path / "made.h5") as file:
        with pytest.raises(OSError):
            hyperslab.read_many([(file["outside"], slice(None))])


LITTLE_MEMORY = """
import resource, sys
import numpy as np
import hyperslab

def size():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmSize"))

ONE = 1 << 25
numbers, wide, text = np.zeros(ONE, "i4"), np.zeros(ONE, "f8"), "a" * (1 << 20)
words = np.array([text] * 200, object)
file = hyperslab.File(sys.argv[1], "w")
chunks = file.create_dataset("chunks", (2 * ONE,), "i4", chunks=(ONE,), compression="gzip", compression_opts=1, shuffle=True)
plain = file.create_dataset("plain", (2 * ONE,), "i4", chunks=(ONE,))
strings = file.create_dataset("strings", (200,), hyperslab.string_dtype())
small = file.create_dataset("small", (100,), "i4", chunks=(10,), compression="gzip")
small[...] = 1
file.flush()  # Threads and their stacks are there from now on.

def make():
    file.create_dataset("made", data=words)

work = {
    "part": lambda: chunks.__setitem__(5, 1),
    "whole": lambda: chunks.__setitem__(slice(ONE), numbers),
    "converted": lambda: chunks.__setitem__(slice(ONE), wide),
    "unfiltered": lambda: plain.__setitem__(5, 1),
    "strings": lambda: strings.__setitem__(Ellipsis, words),
    "made": make,
    "attribute": lambda: file.attrs.__setitem__("words", words),
    "together": lambda: hyperslab.write_many([(small, slice(0, 10), np.arange(10)), (chunks, slice(ONE), numbers)]),
}[sys.argv[2]]
resource.setrlimit(resource.RLIMIT_AS, (size() + (64 << 20), resource.RLIM_INFINITY))
try:
    work()
    file.flush()
except BaseException as why:
    print(*(cls.__name__ for cls in type(why).__mro__), "|", why)
small[50:] = 2  # The file goes on, with what memory there is, and with more.
file.flush()
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
strings[:3] = ["b", "c", "d"]
file["more"] = np.arange(1000)
file.close()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("what", ["part", "whole", "converted", "unfiltered", "strings", "made", "attribute", "together"])
def test_no_memory_for_a_write(tmp_path, what):
    """A write that finds no memory raises `MemoryError` or `OSError`: it neither panics nor aborts, and the file goes on."""
    path = tmp_path / "made.h5"
    # Otherwise mimalloc has its own gigabyte, which the limit does not see, and a thread that begins late takes 64 MiB of addresses for its arena of the C
    # library's `malloc`: then nothing is left of what the limit grants.
    environment = os.environ | {"MIMALLOC_ARENA_RESERVE": "0", "MALLOC_ARENA_MAX": "1"}
    command = [sys.executable, "-c", LITTLE_MEMORY, path, what]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done
    classes = done.stdout.split(" |")[0].split()
    assert "MemoryError" in classes or "OSError" in classes, done
    with h5py.File(path) as file:
        assert (file["small"][50:] == 2).all() and (file["small"][10:50] == 1).all()
        assert file["strings"].asstr()[:3].tolist() == ["b", "c", "d"]
        assert (file["more"][()] == np.arange(1000)).all() and (file["chunks"][-10:] == 0).all()


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(FileNotFoundError):
        hyperslab.File(tmp_path / "missing.h5")
    with pytest.raises(OSError):
        hyperslab.File(__file__)
    with pytest.raises(OSError):
        hyperslab.File(tmp_path)
    text = tmp_path / "text.h5"
    text.write_text("no HDF5")
    for mode in ["r+", "w-", "x", "a"]:
        with pytest.raises(OSError):
            hyperslab.File(text, mode)
    assert text.read_text() == "no HDF5"
    with pytest.raises(ValueError):
        hyperslab.File(__file__, "q")
