"""Objects of files in other processes: they are pickled as path and name."""

import io
import multiprocessing
import os
import pickle

import hyperslab
import numpy as np
import pytest

#: How many tasks get a dataset.
TASKS = int(os.environ.get("HYPERSLAB_TASKS", "1000"))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "pickled.h5"
    with hyperslab.File(path, "w") as file:
        file.create_dataset("group/frames", data=np.arange(20_000).reshape(200, 100), chunks=(10, 100), compression="gzip")
        file["group"].attrs["unit"] = "K"
        file["type"] = np.dtype("i4")
    return path


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def row_sum(task):
    dataset, row = task
    return int(dataset[row].sum())


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_tasks_of_other_processes_get_datasets(path, method):
    with hyperslab.File(path) as file, multiprocessing.get_context(method).Pool(2) as pool:
        frames = file["group/frames"]
        rows = [nth % 200 for nth in range(TASKS)]
        sums = pool.map(row_sum, [(frames, row) for row in rows], chunksize=5)
    assert sums == [sum(range(row * 100, row * 100 + 100)) for row in rows]


class Rows:
    """What a loader of PyTorch is given: it knows how many items there are, and reads one. Workers get a copy of it."""

    def __init__(self, frames):
        self.frames = frames

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, row):
        return self.frames[row]


def load(rows, wanted, loaded):
    for row in iter(wanted.get, None):
        loaded.put((row, rows[row].sum()))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_loader_read_what_they_are_asked_for(path, method):
    context = multiprocessing.get_context(method)
    with hyperslab.File(path) as file:
        rows, wanted, loaded = Rows(file["group/frames"]), context.Queue(), context.Queue()
        workers = [context.Process(target=load, args=(rows, wanted, loaded)) for _ in range(2)]
        for worker in workers:
            worker.start()
        for row in [*range(len(rows)), None, None]:
            wanted.put(row)
        sums = dict(loaded.get(timeout=60) for _ in range(len(rows)))
        for worker in workers:
            worker.join()
    assert sums == {row: sum(range(row * 100, row * 100 + 100)) for row in range(200)}


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_dask_computes_with_datasets(path, scheduler):
    dask_array = pytest.importorskip("dask.array")
    with hyperslab.File(path) as file:
        frames = dask_array.from_array(file["group/frames"], chunks=(50, 100))
        assert frames.mean(axis=0).compute(scheduler=scheduler)[0] == 9950
        other = dask_array.from_array(file["group/frames"], chunks="auto", lock=False)
        assert (other + 1).sum().compute(scheduler=scheduler) == sum(range(20_000)) + 20_000


def test_every_kind_of_object(path):
    with hyperslab.File(path, cache_bytes=1 << 20) as file:
        for name in ("/", "group", "group/frames", "type"):
            thing = file[name]
            copy = again(thing)
            assert type(copy) is type(thing) and copy == thing and copy.name == thing.name
        copy = again(file)
        assert type(copy) is hyperslab.File and copy.filename == file.filename and copy.mode == "r"
        assert again(file["group"]).attrs["unit"] == "K"
        views = again(file["group/frames"].astype("f8"))
        assert views[3, 5] == 305.0


def test_an_object_outlives_the_file_that_it_was_pickled_from(path):
    with hyperslab.File(path, cache_bytes=3 << 20) as file:
        bytes_of_it = pickle.dumps(file["group/frames"])
    frames = pickle.loads(bytes_of_it)
    assert frames[199, 99] == 19_999
    assert frames.file.cache_stats()["limit"] == 3 << 20
    assert frames.file.mode == "r"


def test_a_file_that_is_changed_stays_one(path):
    with hyperslab.File(path, "r+") as file:
        copy = again(file["group"])
        copy["new"] = 5
        assert file["group/new"][()] == 5


def test_what_other_processes_do_not_find_is_refused(path):
    with hyperslab.File("x", "w", driver="core", backing_store=False) as file:
        with pytest.raises(TypeError, match="in memory"):
            pickle.dumps(file)
    with open(path, "rb") as raw, hyperslab.File(io.BytesIO(raw.read())) as file:
        with pytest.raises(TypeError, match="file object"):
            pickle.dumps(file["group"])
    file = hyperslab.File(path)
    frames = file["group/frames"]
    file.close()
    with pytest.raises(ValueError, match="closed"):
        pickle.dumps(frames)
