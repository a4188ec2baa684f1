"""Vectors of variable length: in chunks of ours, and in the global heap of libhdf5.

10,000 vectors of 1 to 10 and of 1 to 100 integers, in chunks of 1000 vectors, without filters and with gzip 1. Times are those of a Python program, from opening a file to closing it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from _beside import in_turn, print_table, seconds, size

import hyperslab

COUNT, CHUNK = 10_000, 1000


def vectors(most: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    made = np.empty(COUNT, object)
    for number in range(COUNT):
        made[number] = rng.integers(0, 1000, rng.integers(1, most + 1)).astype("i4")
    return made


def side(package: Any, values: np.ndarray, options: dict[str, Any]) -> Callable[[Path], dict[str, float]]:
    def write(path: Path) -> None:
        with package.File(path, "w", libver="latest") as file:
            file.create_dataset("x", (COUNT,), package.vlen_dtype("i4"), chunks=(CHUNK,), **options)[...] = values

    def read(path: Path) -> None:
        with package.File(path) as file:
            found = file["x"][...]
        assert sum(map(len, found)) == sum(map(len, values))

    def work(path: Path) -> dict[str, float]:
        times = {"write": seconds(lambda: write(path)), "read": seconds(lambda: read(path))}
        assert ("structured" not in options) or b"GCOL" not in path.read_bytes()
        return times | {"bytes": size(path)}

    return work


def main() -> None:
    for most in 10, 100:
        values = vectors(most)
        for title, filters in (("no filters", {}), ("gzip 1", {"compression": "gzip", "compression_opts": 1})):
            sides = {
                "libhdf5": side(h5py, values, filters),
                "ours": side(hyperslab, values, {"structured": "vlen", **filters}),
                "ours, global heap": side(hyperslab, values, filters),
            }
            print_table(f"{COUNT:,} vectors of 1 to {most} integers, {title}", in_turn(sides), "libhdf5")


if __name__ == "__main__":
    main()
