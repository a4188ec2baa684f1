"""A detector stream, written and read: sparse datasets of ours, dense compressed chunks of libhdf5, and sparse arrays of TileDB if that is installed.

usage: sparse_stream.py [IMAGES]

Images of 1024 x 1024 u16, one chunk each. A region is a rectangle of about a tenth of an image; spots are 50 to 100 places of 5 to 10 pixels. Both move in time. All write to files
in the same folder and read what they wrote, in turn, three times; the best counts. Times are those of a Python program, from creating a file to closing it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np
from _beside import TURNS, seconds, size

import hyperslab

try:
    import tiledb
except ImportError:
    tiledb = None

SIDE = 1024
REGION = 324


class Stream:
    """Images with few defined pixels: where these are in each image, and their values."""

    def __init__(self, kind: str, images: int) -> None:
        self.kind, self.images = kind, images
        rng = np.random.default_rng(7)
        self.corners = [(int(rng.integers(0, SIDE - REGION)), int(rng.integers(0, SIDE - REGION))) for _ in range(images)]
        self.coords, self.values = [], []
        for row, column in self.corners:
            coords = self._region(row, column) if kind == "regions" else self._spots(rng)
            self.coords.append(coords)
            self.values.append(rng.integers(1, 4000, len(coords)).astype("u2"))
        self.pixels = sum(map(len, self.coords))

    @staticmethod
    def _region(row: int, column: int) -> np.ndarray:
        rows, columns = np.mgrid[row : row + REGION, column : column + REGION]
        return np.column_stack([rows.ravel(), columns.ravel()])

    @staticmethod
    def _spots(rng: np.random.Generator) -> np.ndarray:
        spots = []
        for _ in range(rng.integers(50, 101)):
            center = rng.integers(4, SIDE - 4, 2)
            spots.append(center + rng.integers(-1, 2, (rng.integers(5, 11), 2)))
        return np.unique(np.concatenate(spots), axis=0)

    def dense(self, number: int) -> np.ndarray:
        image = np.zeros((SIDE, SIDE), "u2")
        image[tuple(self.coords[number].T)] = self.values[number]
        return image


class Ours:
    def __init__(self, name: str, **options: object) -> None:
        self.name, self.options = name, options

    def write(self, path: Path, stream: Stream) -> None:
        with hyperslab.File(path, "w") as file:
            shape = (stream.images, SIDE, SIDE)
            images = file.create_dataset("x", shape, "u2", chunks=(1, SIDE, SIDE), sparse=True, **self.options)
            for number in range(stream.images):
                if stream.kind == "regions":
                    row, column = stream.corners[number]
                    images[number, row : row + REGION, column : column + REGION] = stream.values[number].reshape(REGION, REGION)
                else:
                    coords = stream.coords[number]
                    images.write_coords(np.column_stack([np.full(len(coords), number), coords]), stream.values[number])

    def read(self, path: Path, stream: Stream) -> int:
        with hyperslab.File(path) as file:
            images = file["x"]
            return sum(int(images.read_defined(np.s_[number])[1].sum(dtype="u8")) for number in range(stream.images))


class Theirs:
    name = "libhdf5, dense, gzip 1"

    def write(self, path: Path, stream: Stream) -> None:
        with h5py.File(path, "w", libver="latest") as file:
            options = {"chunks": (1, SIDE, SIDE), "compression": "gzip", "compression_opts": 1}
            images = file.create_dataset("x", (stream.images, SIDE, SIDE), "u2", **options)
            for number in range(stream.images):
                images[number] = self.dense[number]

    def prepare(self, stream: Stream) -> None:
        self.dense = [stream.dense(number) for number in range(stream.images)]

    def read(self, path: Path, stream: Stream) -> int:
        total = 0
        with h5py.File(path) as file:
            for number in range(stream.images):
                image = file["x"][number]
                total += int(image[np.nonzero(image)].sum(dtype="u8"))
        return total


class TileDb:
    name = "TileDB, sparse"

    def write(self, path: Path, stream: Stream) -> None:
        side = (0, SIDE - 1)
        dims = [tiledb.Dim("n", domain=(0, stream.images - 1), tile=1, dtype="u4")]
        dims += [tiledb.Dim(name, domain=side, tile=SIDE, dtype="u4") for name in ("row", "column")]
        values = tiledb.Attr("v", dtype="u2", filters=[tiledb.ZstdFilter()])
        tiledb.Array.create(str(path), tiledb.ArraySchema(tiledb.Domain(*dims), [values], sparse=True, capacity=200_000))
        with tiledb.open(str(path), "w") as array:
            for number in range(stream.images):
                coords = stream.coords[number]
                array[np.full(len(coords), number, "u4"), coords[:, 0].astype("u4"), coords[:, 1].astype("u4")] = stream.values[number]

    def read(self, path: Path, stream: Stream) -> int:
        with tiledb.open(str(path)) as array:
            return sum(int(array[number]["v"].sum(dtype="u8")) for number in range(stream.images))


def main() -> None:
    images = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    sides = [Theirs(), Ours("ours"), Ours("ours, gzip 1", compression="gzip", compression_opts=1)]
    sides += [Ours("ours, lzf", compression="lzf")]
    sides += [TileDb()] if tiledb else []
    print("| stream | | write images/s | read images/s | bytes | bytes a pixel | write, times libhdf5 | read, times libhdf5 |")
    print("|---|---|---|---|---|---|---|---|")
    for kind in ["regions", "spots"]:
        stream = Stream(kind, images)
        expected = sum(int(values.sum(dtype="u8")) for values in stream.values)
        sides[0].prepare(stream)
        best = {side.name: [float("inf"), float("inf"), 0] for side in sides}
        for _ in range(TURNS):
            with tempfile.TemporaryDirectory() as folder:
                for side in sides:
                    path, times = Path(folder, side.name.replace(" ", "")), best[side.name]
                    times[0] = min(times[0], seconds(lambda: side.write(path, stream)))
                    read: list[int] = []
                    times[1] = min(times[1], seconds(lambda: read.append(side.read(path, stream))))
                    assert read == [expected], side.name
                    times[2] = size(path)
        theirs = best[Theirs.name]
        for name, (write, read_, stored) in best.items():
            rates = f"{images / write:.0f} | {images / read_:.0f} | {stored} | {stored / stream.pixels:.2f}"
            print(f"| {kind} | {name} | {rates} | {theirs[0] / write:.1f} | {theirs[1] / read_:.1f} |")


if __name__ == "__main__":
    main()
