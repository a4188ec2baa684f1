"""A file whose reading is watched. Usage: io_patterns.py DIRECTORY NAME"""

import sys

import h5py
import numpy as np

directory, name = sys.argv[1:]


def many(group, count):
    """Small datasets, by the shortest way."""
    space, datatype = h5py.h5s.create_simple((3,)), h5py.h5t.NATIVE_INT32
    for number in range(count):
        h5py.h5d.create(group.id, f"dataset{number:05}".encode(), datatype, space)


def wanted(file):
    file["a/b/c/wanted"] = np.arange(1 << 18, dtype=np.float32)


def groups(file):
    for number in range(500):
        many(file.create_group(f"group{number:03}"), 100)
    wanted(file)


def flat(file):
    many(file, 50_000)
    wanted(file)


def chunks(file):
    data = np.arange(512 * 512, dtype=np.float32).reshape(512, 512)
    file.create_dataset("deflate", data=data, chunks=(64, 64), compression="gzip")
    file.create_dataset("plain", data=data, chunks=(64, 64))


def tiny(file):
    file["wanted"] = np.arange(10, dtype=np.float32)


MAKERS = {"groups": groups, "flat": flat, "old": groups, "chunks": chunks, "tiny": tiny}
with h5py.File(f"{directory}/{name}.h5", "w", libver="earliest" if name == "old" else "latest") as file:
    MAKERS[name](file)
