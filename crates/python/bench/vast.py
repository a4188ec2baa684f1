"""A dataset with an extent of 100 GB of which 0.1 % is defined: created, filled, asked and erased with a small cache. Prints times and the memory of the process.

usage: vast.py [FRAMES]
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import hyperslab

SIDE, POINTS, AT_ONCE = 1024, 1049, 64
CACHE = 32 << 20


def peak() -> float:
    """MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Steps:
    def __init__(self) -> None:
        self.begin, self.first = time.perf_counter(), peak()
        print("\n| step | time | memory more than at the start |\n|---|---|---|")

    def done(self, what: str) -> None:
        now = time.perf_counter()
        print(f"| {what} | {now - self.begin:.2f} s | {peak() - self.first:.0f} MiB |", flush=True)
        self.begin = time.perf_counter()


def frame(number: int) -> np.ndarray:
    """The coordinates of a frame, each once."""
    rng = np.random.default_rng(number)
    return np.column_stack(np.divmod(np.unique(rng.integers(0, SIDE * SIDE, POINTS)), SIDE))


def main() -> None:
    frames = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "vast.h5")
        steps = Steps()
        with hyperslab.File(path, "w", cache_bytes=CACHE) as file:
            shape = (frames, SIDE, SIDE)
            dataset = file.create_dataset("x", shape, "u1", chunks=(1, SIDE, SIDE), sparse=True, compression="gzip", compression_opts=1)
            steps.done(f"create {frames * SIDE * SIDE / 1e9:.0f} GB")
            count = 0
            for first in range(0, frames, AT_ONCE):
                coords = [frame(number) for number in range(first, min(first + AT_ONCE, frames))]
                numbers = np.repeat(np.arange(first, first + len(coords)), [len(some) for some in coords])
                dataset.write_coords(np.column_stack([numbers, np.concatenate(coords)]), np.uint8(7))
                count += len(numbers)
        steps.done(f"write {count:,} elements, and close")
        print(f"| bytes of the file | {path.stat().st_size:,} | {path.stat().st_size / count:.2f} an element |")
        with hyperslab.File(path, "r+", cache_bytes=CACHE) as file:
            dataset = file["x"]
            middle = frames // 2
            coords, values = dataset.read_defined(np.s_[middle : middle + 1])
            assert np.array_equal(coords[:, 1:], frame(middle)) and (values == 7).all()
            steps.done("read one frame")
            assert dataset.defined(np.s_[middle : middle + 100]).npoints == sum(len(frame(number)) for number in range(middle, middle + 100))
            steps.done("ask 100 frames")
            block = dataset.defined(np.s_[:, 100:110, 100:110]).npoints
            steps.done(f"ask 100 places of all frames: {block:,} defined")
            dataset.erase(np.s_[:, :, : SIDE // 2])
            file.flush()
            steps.done("erase the left half of all frames")
            dataset.erase(np.s_[: frames // 2])
            file.flush()
            steps.done("erase the first half of the frames")
            left = sum(space.npoints for _, space in dataset.iter_chunks_defined())
            steps.done(f"count what is left: {left:,}")
            dataset.erase()
        steps.done("erase all, and close")
        print(f"| bytes of the file | {path.stat().st_size:,} | |")


if __name__ == "__main__":
    main()
