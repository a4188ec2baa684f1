"""Makes the file that many threads read at once: threads.py FILE."""

import sys

import h5py
import numpy as np

with h5py.File(sys.argv[1], "w", libver="latest") as file:
    numbers = np.arange(300 * 200, dtype="i4").reshape(300, 200)
    file.create_dataset("coded", data=numbers, chunks=(37, 29), shuffle=True, compression="gzip")
    file.create_dataset("growing", data=numbers, chunks=(37, 29), maxshape=(None, None), compression="gzip")
    file.create_dataset("plain", data=numbers, chunks=(37, 29), maxshape=(None, 200))
    file.create_dataset("whole", data=numbers)
    texts = ["text %d" % number * (number % 7) for number in range(400)]
    file.create_dataset("texts", data=texts, chunks=(50,), dtype=h5py.string_dtype())
    group = file.create_group("dense")
    for number in range(150):
        group["link %d" % number] = h5py.SoftLink("/target %d" % number)
    for number in range(60):
        group.attrs["attribute %d" % number] = np.arange(number)
with h5py.File(sys.argv[1], "r+", libver="earliest") as file:
    file.create_dataset("tree", data=numbers, chunks=(37, 29), compression="gzip")
