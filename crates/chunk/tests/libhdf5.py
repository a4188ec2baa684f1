"""Datasets that libhdf5 makes, another engine changes, and libhdf5 checks and changes again.

make FILE    makes empty datasets; prints name and header address of each
check FILE   compares all values with what the other engine was to write, then changes everything and compares again;
             leaves the last values beside the file
"""

import sys

import h5py
import numpy as np

SHAPES = {
    "single": ((8, 6), (8, 6), (8, 6)),
    "fixed": ((20, 15), (3, 4), (20, 15)),
    "paged": ((3000,), (1,), (3000,)),
    "rows": ((20, 15), (3, 4), (None, 15)),
    "columns": ((20, 15), (3, 4), (20, None)),
    "long": ((140_000,), (1,), (None,)),
    "free": ((20, 15), (3, 4), (None, None)),
    "box": ((6, 7, 8), (2, 3, 4), (None, 7, None)),
    "contiguous": ((20, 15), None, (20, 15)),
}
FILTERS = {
    "plain": {},
    "gzip": {"compression": 4, "shuffle": True},
    "sum": {"fletcher32": True},
    "early": {},
    "earlysum": {"fletcher32": True},
}


def pattern(shape, seed):
    indices = np.indices(shape)
    total = sum((7 * dim + 3) * index for dim, index in enumerate(indices))
    return (total * 5 + seed * 1000).astype("<i2")


def datasets(file):
    return sorted(file)


def make(path, libver):
    with h5py.File(path, "w", libver=libver) as file:
        for name, (shape, chunks, maxshape) in SHAPES.items():
            for filters, options in FILTERS.items():
                for fill in (0, 9):
                    if chunks is None and options:
                        continue
                    # Enough for blocks with pages; the old tree has none.
                    if name == "long" and (filters != "plain" or fill or libver == "earliest"):
                        continue
                    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                    if filters.startswith("early"):
                        dcpl.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
                    if chunks:
                        dcpl.set_chunk(chunks)
                    if "shuffle" in options:
                        dcpl.set_shuffle()
                    if "compression" in options:
                        dcpl.set_deflate(options["compression"])
                    if "fletcher32" in options:
                        dcpl.set_fletcher32()
                    if fill:
                        dcpl.set_fill_value(np.array(fill, "<i2"))
                    top = tuple(h5py.h5s.UNLIMITED if dim is None else dim for dim in maxshape)
                    space = h5py.h5s.create_simple(shape, top)
                    made = f"{name}-{filters}-{fill}".encode()
                    h5py.h5d.create(file.id, made, h5py.h5t.STD_I16LE, space, dcpl)
    with h5py.File(path) as file:
        for name in datasets(file):
            print(name, h5py.h5o.get_info(file[name].id).addr)


def grown(dataset):
    return tuple(dim + 3 if top is None else dim for dim, top in zip(dataset.shape, dataset.maxshape))


def expected(dataset, shape, seeds):
    """What is written: the middle half of the rows; then, larger, the last five; then two rows fewer."""
    whole = np.full(shape, dataset.fillvalue, "<i2")
    rows = shape[0]
    whole[rows // 4 : rows // 4 + rows // 2] = pattern(shape, seeds[0])[rows // 4 : rows // 4 + rows // 2]
    large = tuple(dim + 3 if top is None else dim for dim, top in zip(shape, dataset.maxshape))
    larger = np.full(large, dataset.fillvalue, "<i2")
    larger[tuple(slice(dim) for dim in shape)] = whole
    larger[-5:] = pattern(large, seeds[1])[-5:]
    return larger[:-2] if dataset.chunks else larger


def check(path):
    after = {}
    with h5py.File(path, "r+") as file:
        for name in datasets(file):
            dataset = file[name]
            values = expected(dataset, SHAPES[name.split("-")[0]][0], (1, 2))
            assert dataset.shape == values.shape, (name, dataset.shape, values.shape)
            assert np.array_equal(dataset[()], values), name
            if dataset.chunks:
                shape = tuple(
                    top if top is not None else dim + 40 for dim, top in zip(dataset.shape, dataset.maxshape)
                )
                dataset.resize(shape)
                more = np.full(shape, dataset.fillvalue, "<i2")
                more[tuple(slice(dim) for dim in values.shape)] = values
                values = more
            values[3:10] = pattern(values.shape, 3)[3:10]
            dataset[3:10] = values[3:10]
            values[-3:] = pattern(values.shape, 4)[-3:]
            dataset[-3:] = values[-3:]
            if dataset.chunks:
                dataset.resize(dataset.shape[0] - 4, 0)
                values = values[:-4]
            after[name] = values
    with h5py.File(path, "r+") as file:
        for name, values in after.items():
            assert np.array_equal(file[name][()], values), name
            values.tofile(f"{path}.{name}")
            print(name, h5py.h5o.get_info(file[name].id).addr)
        file.create_dataset("later", data=np.arange(1000))


def delete(path):
    with h5py.File(path, "r+") as file:
        for name in datasets(file):
            del file[name]


if __name__ == "__main__":
    command, path = sys.argv[1:3]
    if command == "make":
        make(path, sys.argv[3])
    else:
        {"check": check, "delete": delete}[command](path)
