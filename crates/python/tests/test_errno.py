"""Errors of the system, as h5py tells them."""

import errno
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
