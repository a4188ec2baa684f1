"""Makes rewritten.h5: strings that were changed, so that what they were lies in the file and what they are in the image of the
metadata cache.

usage: rewritten.py          with h5py and its libhdf5, from the folder of this script
"""

import ctypes
import glob
import os
import struct

import h5py

NAME = "rewritten.h5"
LIB = ctypes.CDLL(glob.glob(os.path.join(os.path.dirname(h5py.__file__), os.pardir, "h5py.libs", "libhdf5-*.so*"))[0])
LATEST = h5py.h5f.LIBVER_LATEST

with h5py.File(NAME, "w", libver="latest", meta_block_size=256) as file:
    file.create_dataset("names", data=["first", "second", "third"], dtype=h5py.string_dtype())
access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
access.set_libver_bounds(LATEST, LATEST)
LIB.H5Pset_mdc_image_config(ctypes.c_int64(access.id), struct.pack("<i??xxi", 1, True, False, -1))
with h5py.File(h5py.h5f.open(NAME.encode(), h5py.h5f.ACC_RDWR, access)) as file:
    file["names"][1] = "changed"
