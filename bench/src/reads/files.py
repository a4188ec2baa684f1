"""The files that the read benchmarks read. Usage: files.py DIRECTORY; files that are there already stay."""

import os
import sys

import h5py
import numpy as np

directory = sys.argv[1]


def make(name, libver):
    """Calls what it decorates with a new file; the file gets its name when it is whole."""

    def run(write):
        path = os.path.join(directory, name)
        if not os.path.exists(path):
            with h5py.File(path + ".part", "w", libver=libver) as file:
                write(file)
            os.replace(path + ".part", path)

    return run


def smooth(shape):
    """Like a measurement: slow waves and a little noise, four decimal digits."""
    x = np.arange(np.prod(shape), dtype=np.float64)
    noise = np.random.default_rng(1).normal(size=x.size) * 0.01
    return np.round(np.sin(x / 5000) * 20 + noise, 3).astype(np.float32).reshape(shape)


@make("contiguous.h5", "latest")
def contiguous(file):
    file["data"] = np.random.default_rng(2).random((65536, 1024), dtype=np.float32)


@make("filtered.h5", "latest")
def filtered(file):
    file.create_dataset("data", data=smooth((32768, 1024)), chunks=(256, 1024), shuffle=True, compression="gzip")


@make("grid.h5", "latest")
def grid(file):
    data = smooth((4096, 4096))
    file["contiguous"] = data
    file.create_dataset("chunked", data=data, chunks=(256, 256))
    file.create_dataset("filtered", data=data, chunks=(256, 256), compression="gzip")


@make("columns.h5", "latest")
def columns(file):
    data = (smooth((4096, 4096)) * 1000).astype("i4")
    file.create_dataset("data", data=data, chunks=(1024, 1024), compression="gzip", compression_opts=1)


@make("rows.h5", "latest")
def rows(file):
    file.create_dataset("data", data=smooth((8000, 4000)), chunks=True, compression="gzip")


@make("thousand.h5", "latest")
def thousand(file):
    data = smooth((192, 192))
    for nth in range(1000):
        file.create_dataset(f"d{nth}", data=data + nth, chunks=(64, 64), compression="gzip", compression_opts=1)


@make("strings.h5", "latest")
def strings(file):
    lengths = np.random.default_rng(3).integers(5, 40, 200_000)
    file.create_dataset("data", data=["x" * n for n in lengths], dtype=h5py.string_dtype())


def tree(file, groups, each, attributes):
    for g in range(groups):
        group = file.create_group(f"group{g:04}")
        for d in range(each):
            dataset = group.create_dataset(f"dataset{d:04}", data=np.arange(d % 7 + 1, dtype=np.int32))
            if attributes:
                dataset.attrs["scale"] = float(d)


for libver in ["earliest", "latest"]:
    make(f"tree-{libver}.h5", libver)(lambda file: tree(file, 200, 100, True))
    make(f"flat-{libver}.h5", libver)(lambda file: tree(file, 1, 20_000, True))

    @make(f"many-{libver}.h5", libver)
    def many(file):
        tree(file, 500, 100, False)
        file["a/b/c/wanted"] = smooth((512, 512))

    @make(f"chunks-{libver}.h5", libver)
    def chunks(file):
        data = smooth((1000, 1600))
        file.create_dataset("plain", data=data, chunks=(1, 16))
        file.create_dataset("filtered", data=data, chunks=(1, 16), compression="gzip")
        file.create_dataset("growing", data=data, chunks=(1, 16), maxshape=(None, 1600))
        file.create_dataset("growing2", data=data, chunks=(1, 16), maxshape=(None, None))
