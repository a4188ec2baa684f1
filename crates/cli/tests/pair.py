"""Makes `left.h5`, `right.h5` and `damaged.h5` of `cmd/compare.md`: python pair.py cmd/compare.in"""

import pathlib
import sys

import h5py
import numpy as np


def make(path, right):
    with h5py.File(path, "w", libver="latest" if right else "earliest") as file:
        values = np.linspace(0, 1, 12).reshape(3, 4)
        if right:
            values[1, 2] += 1e-9
            values[2, 0] = 7
        images = file.create_dataset("run/images", data=values, chunks=(2, 2), compression=1, track_times=False)
        images.attrs["units"] = "mV" if right else "V"
        images.attrs["comment" if right else "operator"] = "none"
        file.create_dataset("counts", data=np.arange(5, dtype="i8" if right else "i4"), track_times=False)
        file.create_dataset("gaps", data=[1.5, np.nan], track_times=False)
        file.create_dataset("grown", data=np.zeros((3 + right, 2), "u1"), track_times=False)
        file.create_dataset("new" if right else "old", data=1, track_times=False)
        file["latest"] = h5py.SoftLink("/counts" if right else "/gaps")


def damage(path):
    """The first chunk is said to be where the second one is, and one object to have too many names."""
    with h5py.File(path) as file:
        counts = h5py.h5o.get_info(file["counts"].id).addr
        first, second = (file["run/images"].id.get_chunk_info(number).byte_offset for number in (0, 1))
    data = bytearray(path.read_bytes())
    data[counts + 4] = 3
    place = data.find(first.to_bytes(8, "little"), data.find(b"TREE\x01"))
    data[place : place + 8] = (second + 4).to_bytes(8, "little")
    path.with_name("damaged.h5").write_bytes(data)


directory = pathlib.Path(sys.argv[1])
directory.mkdir(exist_ok=True)
make(directory / "left.h5", False)
make(directory / "right.h5", True)
damage(directory / "left.h5")
