"""Pools of threads that do everything with one file at once: no call waits for ever, and what was written is there."""

import faulthandler
import os
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import hyperslab
import numpy as np
import pytest

#: How long each case runs, in seconds.
SECONDS = float(os.environ.get("HYPERSLAB_SECONDS", "2"))

#: A call that takes longer hangs.
PATIENCE = 120

ROWS, COLUMNS, SETS = 64, 4096, 4


@pytest.fixture(autouse=True)
def watchdog():
    """Ends the process with the stacks of all threads if no call has returned for long."""
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


class Scene:
    """A file whose cache holds a small part of it. Each row is written as a whole, with one number."""

    def __init__(self, path, ahead):
        self.file = hyperslab.File(path, "w", cache_bytes=1 << 20, cache_read_ahead=ahead)
        options = {"chunks": (8, COLUMNS), "compression": "gzip", "compression_opts": 1}
        self.sets = [self.file.create_dataset(f"set{n}", (ROWS, COLUMNS), "i4", **options) for n in range(SETS)]
        self.plain = self.file.create_dataset("plain", data=np.zeros((ROWS, COLUMNS), "f8"))
        self.texts = self.file.create_dataset("texts", (ROWS,), hyperslab.string_dtype(), chunks=(8,))
        self.grows = self.file.create_dataset("grows", (0, COLUMNS), "i2", chunks=(4, COLUMNS), maxshape=(None, COLUMNS))
        self.made, self.growing, self.numbers = [], threading.Lock(), iter(range(1 << 60))

    def write_row(self, rng):
        rng.choice(self.sets)[rng.randrange(ROWS)] = next(self.numbers) % 1_000_000

    def read_row(self, rng):
        row = rng.choice(self.sets)[rng.randrange(ROWS)]
        assert (row == row[0]).all()

    def read_all(self, rng):
        values = rng.choice(self.sets)[...]
        # Rows are of different times, and each is whole: all of its chunk is read at once.
        assert (values == values[:, :1]).all()

    def convert(self, rng):
        self.plain[rng.randrange(ROWS)] = np.full(COLUMNS, next(self.numbers) % 1000, "i2")
        assert self.plain.astype("f4")[rng.randrange(ROWS)].dtype == "f4"

    def write_texts(self, rng):
        at, text = rng.randrange(ROWS), "long text " * rng.randrange(40)
        self.texts[at] = text
        assert all(len(found) % 10 == 0 for found in self.texts[:])

    def read_many(self, rng):
        parts = [(rng.choice(self.sets), np.s_[rng.randrange(ROWS), :]) for _ in range(6)]
        for row in hyperslab.read_many(parts):
            assert (row == row[0]).all()

    def create(self, rng):
        name, number = f"made{next(self.numbers)}", rng.randrange(100)
        made = self.file.create_dataset(name, data=np.full((8, COLUMNS), number, "i4"), chunks=(2, COLUMNS), compression="lzf")
        made.attrs["number"] = number
        self.made.append((name, number))

    def delete(self, rng):
        if len(self.made) > 20:
            name, number = self.made.pop(0)
            assert (self.file[name][3] == number).all() and self.file[name].attrs["number"] == number
            del self.file[name]

    def append(self, rng):
        with self.growing:
            length = len(self.grows)
            self.grows.resize(length + 1 if length < 500 else 0, axis=0)
            if length < 500:
                self.grows[length] = length

    def flush(self, rng):
        if rng.random() < 0.1:
            self.file.flush()

    calls = [write_row, write_row, read_row, read_row, read_all, convert, write_texts, read_many, create, delete, append, flush]

    def close(self):
        path, made = self.file.filename, dict(self.made)
        expected = [values[...] for values in self.sets]
        self.file.close()
        with hyperslab.File(path) as file:
            for number, values in enumerate(expected):
                assert np.array_equal(file[f"set{number}"], values)
            assert set(file) == {"plain", "texts", "grows", *(f"set{n}" for n in range(SETS)), *made}
            assert all((file[name][...] == number).all() for name, number in made.items())
            assert np.array_equal(file["grows"][:, 0], np.arange(len(file["grows"])))


@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize("threads", [2, 16])
def test_everything_at_once(tmp_path, threads, ahead):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        scene = Scene(tmp_path / "pool.h5", ahead)

        def task(seed, scene=scene):
            rng = random.Random(seed)
            for call in rng.choices(Scene.calls, k=40):
                call(scene, rng)
            faulthandler.dump_traceback_later(PATIENCE, exit=True)

        with ThreadPoolExecutor(threads) as pool:
            for done in [pool.submit(task, seed) for seed in range(2 * threads)]:
                done.result()
        scene.close()
