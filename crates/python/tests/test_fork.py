"""Processes that are forked while other threads read."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import hyperslab
import numpy as np
import pytest

#: How many children to fork beside reading threads: 10,000 and more on demand.
CHILDREN = int(os.environ.get("HYPERSLAB_FORKS", "100"))

#: How long a child may take.
PATIENCE = 60

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork"),
]


def fork(work):
    """Does `work` in a child; its exit code. One that hangs is killed."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if work() in (None, True) else 2
        except BaseException as why:
            os.write(2, f"{type(why).__name__}: {why}\n".encode())
        finally:
            os._exit(code)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.0005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "made.h5"
    with hyperslab.File(path, "w") as file:
        file.create_dataset("zipped", data=np.arange(200_000).reshape(400, 500), chunks=(40, 50), compression="gzip")
        file.create_dataset("plain", data=np.arange(1000.0), chunks=(100,))
        file["texts"] = ["alpha", "beta"] * 200
    return path


class Readers:
    """Threads that read as fast as they can."""

    def __init__(self, *works):
        self.end, self.failed = threading.Event(), []
        self.threads = [threading.Thread(target=self.repeat, args=(work,)) for work in works]

    def repeat(self, work):
        try:
            while not self.end.is_set():
                work()
        except BaseException as why:
            self.failed.append(why)

    def __enter__(self):
        for thread in self.threads:
            thread.start()

    def __exit__(self, *_):
        self.end.set()
        for thread in self.threads:
            thread.join()
        assert not self.failed


@pytest.mark.parametrize("ahead", [True, False])
def test_children_beside_reading_threads(path, ahead):
    with hyperslab.File(path, cache_bytes=200_000, cache_read_ahead=ahead) as file:
        zipped, texts = file["zipped"], file["texts"]

        def child():
            # What the parent has open, and the same file anew.
            same = zipped[37:45, ::3].sum() == expected and texts[1] == b"beta"
            with hyperslab.File(path) as own:
                return bool(same and own["zipped"][37:45, ::3].sum() == expected)

        def reopen():
            with hyperslab.File(path) as own:
                assert own["plain"][5] == 5

        expected = zipped[37:45, ::3].sum()
        with Readers(lambda: zipped[...], lambda: zipped[::7, ::3], lambda: texts[:], reopen):
            for _ in range(CHILDREN):
                assert fork(child) == 0


def test_children_beside_the_first_read_of_a_dataset(path):
    with hyperslab.File(path) as file:
        for _ in range(max(50, CHILDREN // 10)):
            zipped, space = file["zipped"], hyperslab.Space((400, 500))
            first = [
                threading.Thread(target=lambda zipped=zipped: zipped[0, 1]),
                threading.Thread(target=lambda space=space: space.select_hyperslab((0, 0), (400, 250), stride=(1, 2))),
                threading.Thread(target=lambda space=space: space == space.copy()),
            ]
            for thread in first:
                thread.start()
            assert fork(lambda zipped=zipped, space=space: bool(zipped[0, 1] == 1 and space.npoints in (200_000, 100_000))) == 0
            for thread in first:
                thread.join()


def test_a_child_of_a_child(path):
    with hyperslab.File(path) as file:
        zipped = file["zipped"]

        def child():
            with Readers(lambda: zipped[...]):
                return fork(lambda: bool(zipped[0, 1] == 1)) == 0

        with Readers(lambda: zipped[...]):
            for _ in range(5):
                assert fork(child) == 0


def test_a_child_reads_what_its_parent_writes_but_changes_nothing(path):
    with hyperslab.File(path, "r+") as file:
        plain, texts = file["plain"], file["texts"]
        plain[0] = 7
        file.flush()

        def child():
            assert plain[1] == 1 and texts[1] == b"beta" and file and plain
            changes = (
                lambda: plain.__setitem__(0, 1),
                lambda: file.create_group("new"),
                lambda: file.attrs.__setitem__("new", 1),
                lambda: file.__delitem__("plain"),
                lambda: plain.resize((10,)),
                file.flush,
            )
            for change in changes:
                with pytest.raises(OSError, match="forked"):
                    change()
            # The lock is the parent's, also when the child has closed the file.
            for _ in range(2):
                with pytest.raises(BlockingIOError):
                    hyperslab.File(path)
                file.close()
            return not file

        with Readers(lambda: plain.__setitem__(slice(1, None), np.arange(1, 1000.0)), lambda: texts[:]):
            for _ in range(10):
                assert fork(child) == 0
                assert fork(lambda: None) == 0
        plain[1] = 8
    with hyperslab.File(path) as file:
        assert file["plain"][:3].tolist() == [7, 8, 2]


def test_children_of_a_pool_read(path):
    with hyperslab.File(path) as file:
        zipped = file["zipped"]
        expected = zipped[:].sum(axis=1).tolist()

        def work(row):
            return int(zipped[row].sum())

        global _work
        _work = work
        with Readers(lambda: zipped[...], lambda: zipped[::7, ::3]):
            with multiprocessing.get_context("fork").Pool(2) as pool:
                assert pool.map_async(call_work, range(400)).get(PATIENCE) == expected


def call_work(row):
    """A pool finds a function by its name; the child has inherited what that does."""
    return _work(row)


CHILD_EXITS = """
import os, sys
import numpy as np
import hyperslab
file = hyperslab.File(sys.argv[1], "r+")
target = sys.argv[1] + ".stored"
memory = hyperslab.File(open(target, "w+b", buffering=0), "w")
memory.create_dataset("c", data=[1], chunks=(1,))
image = open(target, "rb").read()
file["plain"][0] = 5
if os.fork() == 0:
    sys.exit(0)          # with all that Python does at its end
os.wait()
assert open(target, "rb").read() == image
for nth in range(100):
    file[f"new {nth}"] = np.arange(nth)
file.close()
memory["x"] = 1
memory.close()
with hyperslab.File(target) as stored:
    assert stored["x"][()] == 1 and stored["c"][0] == 1
with hyperslab.File(sys.argv[1]) as file:
    assert file["plain"][0] == 5 and len(file) == 103
"""


def test_a_child_that_ends_writes_nothing_of_its_parents(path):
    done = subprocess.run([sys.executable, "-c", CHILD_EXITS, str(path)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_forked_process_reads_too(both):
    """Threads are not forked, so those that decode chunks here are not there."""
    data = np.arange(200_000).reshape(200, 1000)
    _, ours = both(lambda file: file.create_dataset("data", data=data, chunks=(10, 100), compression="gzip"))
    np.testing.assert_array_equal(ours["data"][()], data)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(0 if np.array_equal(ours["data"][()], data) else 1)
    assert os.waitpid(child, 0)[1] == 0
