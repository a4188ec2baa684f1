"""Which openings of a file go beside each other in one process: libhdf5's table, each cell tried with h5py."""

import contextlib
import itertools
import os
import subprocess
import sys

import h5py
import hyperslab
import numpy as np
import pytest

FIRST = ["r", "r+", "w", "a"]
SECOND = ["r", "r+", "a", "w", "w-", "x"]
LOCKING = [True, False, "best-effort"]


def spelled(path, how):
    """Another name of a file that is there."""
    if how == "same":
        return path
    if how == "dots":
        return f"{path.parent}/./../{path.parent.name}/{path.name}"
    other = path.with_name(f"{how}.h5")
    (os.link if how == "hard link" else os.symlink)(path, other)
    return other


def made(path):
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(3)
    return path


def refusal(action):
    """The class of the exception that an action raises, if any. h5py does not number all errors, so a kind of `OSError` is one."""
    try:
        action()
    except OSError:
        return OSError
    except Exception as why:
        return type(why)
    return None


def seen(library, path, first, second, how):
    """What a program sees that opens a file twice."""
    with contextlib.ExitStack() as opened:
        one = opened.enter_context(library.File(made(path), first))
        if first == "w":
            one["x"] = np.arange(3)
        found = []
        name = spelled(path, how)
        why = refusal(lambda: found.append(opened.enter_context(library.File(name, second))))
        if why:
            # What was open goes on as if nothing had been tried.
            return why, one.mode, one["x"][()].tolist(), refusal(lambda: one.create_group("more"))
        (two,) = found
        told = [one.mode, two.mode]
        for number, (writer, reader) in enumerate([(one, two), (two, one)]):
            told.append(refusal(lambda: writer["x"].__setitem__(number, 10 + number)))
            told.append(refusal(lambda: writer.create_group(f"group{number}")))
            told.append((reader["x"][()].tolist(), sorted(reader)))
        one.close()
        # The second goes on after the first is closed.
        told.append((bool(one), bool(two), two["x"][()].tolist(), refusal(lambda: two.create_group("last"))))
    with h5py.File(path) as file:
        return told, file["x"][()].tolist(), sorted(file)


@pytest.mark.parametrize("how", ["same", "dots", "hard link", "symbolic link"])
@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("first", FIRST)
def test_a_file_opened_twice_is_as_in_h5py(tmp_path, first, second, how):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "ours").mkdir()
    theirs = seen(h5py, tmp_path / "theirs/made.h5", first, second, how)
    assert seen(hyperslab, tmp_path / "ours/made.h5", first, second, how) == theirs


@pytest.mark.parametrize("how", ["same", "hard link"])
@pytest.mark.parametrize("library", [h5py, hyperslab])
def test_objects_of_two_openings_are_equal(tmp_path, library, how):
    path = made(tmp_path / "made.h5")
    with library.File(path) as one, library.File(spelled(path, how)) as two:
        assert one == two and hash(one) == hash(two)
        assert one["x"] == two["x"] and hash(one["x"]) == hash(two["x"]) and one["x"] != one


@pytest.mark.parametrize("second", LOCKING)
@pytest.mark.parametrize("first", LOCKING)
def test_openings_have_one_policy_of_locking(tmp_path, first, second):
    path = made(tmp_path / "made.h5")
    for library in [h5py, hyperslab]:
        with library.File(path, "r+", locking=first):
            differs = refusal(lambda library=library: library.File(path, "r+", locking=second).close())
        assert differs == (None if first == second else OSError)


@pytest.mark.parametrize("how", ["same", "hard link"])
@pytest.mark.parametrize("locking", LOCKING)
def test_two_writers_lose_nothing(tmp_path, locking, how):
    path = made(tmp_path / "made.h5")
    one, two = hyperslab.File(path, "r+", locking=locking), hyperslab.File(spelled(path, how), "r+", locking=locking)
    for number in range(20):
        one[f"one{number}"] = np.full(1000, number)
        two.create_dataset(f"two{number}", data=np.full(1000, number), compression="gzip")
    one.close()
    two["last"] = 1
    two.close()
    with h5py.File(path) as file:
        assert file["last"][()] == 1 and file["x"][()].tolist() == [0, 1, 2]
        for who, number in itertools.product(["one", "two"], range(20)):
            assert (file[f"{who}{number}"][()] == number).all()


OTHER = "import h5py, sys; h5py.File(sys.argv[1], 'r+')"


def locked_out(path):
    """Whether another process cannot open a file for writing."""
    done = subprocess.run([sys.executable, "-c", OTHER, path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 or "unable to lock" in done.stderr, done
    return done.returncode != 0


@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True)])
def test_an_opening_that_needs_a_lock_has_one_or_is_refused(tmp_path, first, second):
    path = made(tmp_path / "made.h5")
    with hyperslab.File(path, "r+", locking=first), contextlib.ExitStack() as opened:
        if refusal(lambda: opened.enter_context(hyperslab.File(path, "r+", locking=second))) is None:
            assert locked_out(path)
    assert not locked_out(path)


def beside(one, first, two, second, path, **options):
    with one.File(made(path), first):
        return refusal(lambda: two.File(path, second, **options).close())


@pytest.mark.parametrize("second", ["r", "r+", "a", "w"])
@pytest.mark.parametrize("first", FIRST)
def test_h5py_beside_hyperslab(tmp_path, first, second):
    """Two libraries in one process know nothing of each other but the lock."""
    wanted = None if (first, second) == ("r", "r") else OSError
    for one, two in [(h5py, hyperslab), (hyperslab, h5py)]:
        assert beside(one, first, two, second, tmp_path / "made.h5") == wanted
    # Who takes no lock finds none.
    if first == "r" and second != "w":
        assert beside(h5py, first, hyperslab, second, tmp_path / "made.h5", locking=False) is None


def test_h5py_reads_what_hyperslab_reads(tmp_path):
    with hyperslab.File(made(tmp_path / "made.h5")) as ours, h5py.File(tmp_path / "made.h5") as theirs:
        assert ours["x"][()].tolist() == theirs["x"][()].tolist() == [0, 1, 2]


VARIABLE = """
import sys
import hyperslab
try:
    hyperslab.File(sys.argv[1], "r+", locking=eval(sys.argv[2])).close()
    print("opened")
except BlockingIOError:
    print("refused")
"""


@pytest.mark.parametrize(
    ("value", "locking", "verdict"),
    [
        ("FALSE", True, "opened"),
        ("0", None, "opened"),
        ("TRUE", False, "refused"),
        ("BEST_EFFORT", False, "refused"),
        ("other", False, "opened"),
        ("other", None, "refused"),
    ],
)
def test_the_environment_comes_before_what_the_program_says(tmp_path, value, locking, verdict):
    path = made(tmp_path / "made.h5")
    for code in (VARIABLE, VARIABLE.replace("hyperslab", "h5py")):
        with h5py.File(path, "r+"):
            environment = os.environ | {"HDF5_USE_FILE_LOCKING": value}
            command = [sys.executable, "-c", code, path, repr(locking)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
        assert done.stdout == verdict + "\n", done


@pytest.mark.parametrize("options, second", [({"driver": "split"}, "run-r.h5"), ({"driver": "family", "memb_size": 4096}, "run-1.h5")])
def test_a_second_member_is_not_overwritten(tmp_path, options, second):
    name = str(tmp_path / ("run" if options["driver"] == "split" else "run-%d.h5"))
    (tmp_path / second).write_bytes(b"important")
    for mode in ("x", "w-", "a"):
        with pytest.raises(FileExistsError):
            hyperslab.File(name, mode, **options)
        assert [path.name for path in tmp_path.iterdir()] == [second]
    assert (tmp_path / second).read_bytes() == b"important"
    with hyperslab.File(name, "w", **options) as file:
        file["numbers"] = [1, 2, 3]
    with hyperslab.File(name, "r", **options) as file:
        assert list(file["numbers"][...]) == [1, 2, 3]
