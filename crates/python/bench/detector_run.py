"""A detector run as published: 1,800 frames of one megapixel, about 5,000 pixels of each in clusters. The layout that such programs make by hand needs 29 MB and 12 s for one.

usage: detector_run.py [FRAMES]

Ours: one sparse dataset, a frame after the other with `append_frame`. Beside it the hand-made layout, by h5py: number of pixels, row, column and intensity, one after the other, with gzip 1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from _beside import in_turn, print_table, seconds, size

import hyperslab

SIDE, PIXELS = 1024, 5000
GZIP = {"compression": "gzip", "compression_opts": 1}


def frames(count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Spots of a few pixels around random centers, brighter in the middle."""
    rng = np.random.default_rng(7)
    made = []
    near = np.argwhere(np.hypot(*np.mgrid[-3:4, -3:4]) < 3.0) - 3
    for _ in range(count):
        centers = rng.integers(4, SIDE - 4, (PIXELS // len(near), 2))
        coords = (centers[:, None, :] + near[None, :, :]).reshape(-1, 2)
        light = 800 * np.exp(-(near**2).sum(1) / 3.0)
        values = rng.poisson(np.tile(light, len(centers)) + 20)
        numbers, first = np.unique(coords[:, 0] * SIDE + coords[:, 1], return_index=True)
        made.append((np.column_stack(np.divmod(numbers, SIDE)), values[first].astype("u2")))
    return made


def ours(stream: list[tuple[np.ndarray, np.ndarray]], options: dict[str, Any]) -> Callable[[Path], dict[str, float]]:
    def write(path: Path) -> None:
        with hyperslab.File(path, "w") as file:
            images = file.create_dataset("x", (0, SIDE, SIDE), "u2", chunks=(1, SIDE, SIDE), maxshape=(None, SIDE, SIDE), sparse=True, **options)
            for coords, values in stream:
                images.append_frame(coords, values)

    def read(path: Path) -> int:
        with hyperslab.File(path) as file:
            return sum(int(file["x"].read_defined(np.s_[number])[1].sum(dtype="u8")) for number in range(len(stream)))

    return both(write, read, stream)


def by_hand(stream: list[tuple[np.ndarray, np.ndarray]]) -> Callable[[Path], dict[str, float]]:
    def write(path: Path) -> None:
        with h5py.File(path, "w", libver="latest") as file:
            file["nnz"] = np.array([len(values) for _, values in stream], "u4")
            parts = {name: file.create_dataset(name, (0,), "u2", maxshape=(None,), chunks=(65536,), **GZIP) for name in ("row", "col", "intensity")}
            at = 0
            for coords, values in stream:
                for name, part in (("row", coords[:, 0]), ("col", coords[:, 1]), ("intensity", values)):
                    parts[name].resize((at + len(part),))
                    parts[name][at:] = part.astype("u2")
                at += len(values)

    def read(path: Path) -> int:
        total, at = 0, 0
        with h5py.File(path) as file:
            for count in file["nnz"][...].tolist():
                coords = np.column_stack([file[name][at : at + count] for name in ("row", "col")])
                total += int(file["intensity"][at : at + count].sum(dtype="u8")) + 0 * len(coords)
                at += count
        return total

    return both(write, read, stream)


def both(write: Callable[[Path], None], read: Callable[[Path], int], stream: list[tuple[np.ndarray, np.ndarray]]) -> Callable[[Path], dict[str, float]]:
    expected = sum(int(values.sum(dtype="u8")) for _, values in stream)

    def work(path: Path) -> dict[str, float]:
        found: list[int] = []
        times = {"write": seconds(lambda: write(path)), "read frame by frame": seconds(lambda: found.append(read(path)))}
        assert found == [expected]
        return times | {"bytes": size(path)}

    return work


def main() -> None:
    stream = frames(int(sys.argv[1]) if len(sys.argv) > 1 else 1800)
    pixels = sum(len(values) for _, values in stream)
    sides = {"by hand, gzip 1, h5py": by_hand(stream), "ours": ours(stream, {}), "ours, gzip 1": ours(stream, GZIP)}
    sides["ours, shuffle and gzip 1"] = ours(stream, {"shuffle": True, **GZIP})
    print_table(f"{len(stream):,} frames with {pixels:,} pixels", in_turn(sides, 1), "by hand, gzip 1, h5py")


if __name__ == "__main__":
    main()
