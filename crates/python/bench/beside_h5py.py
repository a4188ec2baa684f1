"""Times this package beside h5py, in turn: strings that are written, and chunks that one and two threads decode.

Run by `cargo xtask bench --python`."""

import os
import statistics
import tempfile
import threading
import time

import h5py
import hyperslab
import numpy as np

COUNT = 200_000
TURNS = 9
WORDS = ["temperature", "größe", "a", "pressure in the third chamber", "µ", "2024-02-29T12:00:00Z"]


def texts():
    """The same strings in the three forms that programs have them in."""
    made = [f"{WORDS[nth % len(WORDS)]} {nth}" for nth in range(COUNT)]
    forms = {"a list of str": made, "an array of objects": np.array(made, dtype=object)}
    if hasattr(np.dtypes, "StringDType"):
        forms["StringDType"] = np.array(made, dtype="T")
    return forms


def write(lib, path, given, chunks):
    """The seconds that strings take into a new dataset, until they are flushed."""
    with lib.File(path, "w", libver="latest") as file:
        made = file.create_dataset("x", (COUNT,), h5py.string_dtype(), chunks=chunks)
        begun = time.perf_counter()
        made[...] = given
        file.flush()
        return time.perf_counter() - begun


def create(lib, path, given, _):
    """The same with `create_dataset(data=…)`."""
    with lib.File(path, "w", libver="latest") as file:
        begun = time.perf_counter()
        file.create_dataset("x", data=given)
        file.flush()
        return time.perf_counter() - begun


def strings(folder):
    print(f"| {COUNT:,} strings | Hyperslab | h5py | theirs ÷ ours | best ÷ best |\n|---|---|---|---|---|")
    for form, given in texts().items():
        for how, work, chunks in [("`dataset[...] =`", write, None), ("the same, chunks of 10,000", write, (10_000,)), ("`create_dataset`", create, None)]:
            seen = {hyperslab: [], h5py: []}
            for _ in range(TURNS):
                for lib, times in seen.items():
                    times.append(work(lib, os.path.join(folder, f"{lib.__name__}.h5"), given, chunks))
            ours, theirs = (statistics.median(times) for times in seen.values())
            best = min(seen[h5py]) / min(seen[hyperslab])
            print(f"| {form}, {how} | {ours * 1e3:.1f} ms | {theirs * 1e3:.1f} ms | {theirs / ours:.2f} | {best:.2f} |")


def decode(path, count):
    """The seconds that so many threads take for all chunks, each with its part, and those that the busiest of them works. Every chunk is one request, so
    that a thread works alone."""
    with hyperslab.File(path, cache_bytes=0, cache_read_ahead=False) as file:
        data = file["x"]
        starts = range(0, data.shape[0], data.chunks[0])

        worked = []

        def work(nth):
            begun = time.thread_time()
            into = np.empty(data.chunks, data.dtype)
            for start in starts[nth::count]:
                data.read_direct(into, np.s_[start : start + data.chunks[0]])
            worked.append(time.thread_time() - begun)

        threads = [threading.Thread(target=work, args=(nth,)) for nth in range(count)]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - begun, max(worked)


def threads(folder):
    path = os.path.join(folder, "chunks.h5")
    values = np.random.default_rng(1).integers(0, 1000, (1024, 64 << 10)).astype("i4")
    with hyperslab.File(path, "w") as file:
        file.create_dataset("x", data=values, chunks=(4, 64 << 10), compression="gzip", shuffle=True)
    seen = {1: [], 2: []}
    for _ in range(2 * TURNS):
        for count, times in seen.items():
            times.append(decode(path, count))
    turns = [one / two for (one, _), (two, _) in zip(*seen.values(), strict=True)]
    (one, alone), (two, busiest) = ([min(times) for times in zip(*seen[count], strict=True)] for count in (1, 2))
    print(f"\n256 MiB of gzip chunks: one thread {one * 1e3:.0f} ms, two {two * 1e3:.0f} ms: {one / two:.2f} times as fast ", end="")
    print(f"(turns {min(turns):.2f}–{max(turns):.2f}), {alone / busiest:.2f} by the time that cores worked")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        strings(folder)
        threads(folder)
