"""Datasets with more elements than 64 bits can count. Usage: huge.py write|read FILE LIBVER

Boxes of 10 x 10 elements are written; all others are the fill value. `read` looks at what was written and writes one box more.
"""

import sys

import h5py
import numpy as np

SIDE = 10**12
HALF = 1 << 39
FILL = -3
BOXES = [(0, 0), (HALF + 60, HALF + 60), (SIDE - 10, SIDE - 10), (HALF, 0)]
MORE = (HALF // 2, SIDE - 30)


def values(row, column, side):
    rows, columns = np.ogrid[row : row + side, column : column + side]
    return (rows % 89 * 100 + columns % 97).astype("f4")


def put(dataset, box):
    dataset[box[0] : box[0] + 10, box[1] : box[1] + 10] = values(*box, 10)


def check(dataset, boxes):
    assert dataset.shape == (SIDE, SIDE), dataset
    for row, column in boxes:
        assert (dataset[row : row + 10, column : column + 10] == values(row, column, 10)).all(), (dataset, row, column)
        around = dataset[max(row - 2, 0) : row + 12, max(column - 2, 0) : column + 12]
        outside = around.size - 100
        assert np.count_nonzero(around == FILL) == outside, (dataset, row, column)


do, path, libver = sys.argv[1:]
if do == "write":
    with h5py.File(path, "w", libver=libver) as file:
        for kind, maxshape in [("fixed", None), ("growing", (None, SIDE)), ("free", (None, None))]:
            for compression in [None, "gzip"]:
                options = {"maxshape": maxshape, "chunks": (64, 64), "fillvalue": FILL, "compression": compression}
                dataset = file.create_dataset(f"{kind} {compression}", (SIDE, SIDE), "f4", **options)
                # Arrays of chunks end at 2^32, of which libhdf5 takes notice when it is too late.
                if libver == "earliest" or kind == "free":
                    for box in BOXES:
                        put(dataset, box)
        # Their numbers of elements are those modulo 2^64 in libhdf5, which has not stored any.
        file.create_dataset("in one piece", (SIDE, SIDE), "f4", fillvalue=FILL)
        file.create_dataset("none", (0, SIDE, SIDE), "f4", maxshape=(None, SIDE, SIDE))
        file["region"] = file["free None"].regionref[HALF:, :]
        layout = h5py.VirtualLayout((SIDE, SIDE), "f4")
        layout[:, :] = h5py.VirtualSource(".", "free None", shape=(SIDE, SIDE))
        file.create_virtual_dataset("virtual", layout, fillvalue=FILL)
else:
    with h5py.File(path, "r+") as file:
        for dataset in file.values():
            check(dataset, BOXES)
            put(dataset, MORE)
    with h5py.File(path) as file:
        for dataset in file.values():
            check(dataset, [*BOXES, MORE])
