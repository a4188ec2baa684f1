"""Makes shared-list.h5: messages that objects share, few enough to be in a list rather than a tree.

    target/venv/bin/python crates/hyperslab/tests/data/shared_list.py
"""

import ctypes
import glob
import os

import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
LIBS = os.path.join(os.path.dirname(h5py.__file__), os.pardir, "h5py.libs", "libhdf5-*.so*")
LIB = ctypes.CDLL(glob.glob(LIBS)[0])

fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
handle = ctypes.c_int64(fcpl.id)
LIB.H5Pset_shared_mesg_nindexes(handle, 1)
LIB.H5Pset_shared_mesg_index(handle, 0, 0x0B, 20)  # spaces, types, fill values
LIB.H5Pset_shared_mesg_phase_change(handle, 50, 40)
fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
fapl.set_libver_bounds(h5py.h5f.LIBVER_LATEST, h5py.h5f.LIBVER_LATEST)
path = os.path.join(HERE, "shared-list.h5").encode()
with h5py.File(h5py.h5f.create(path, h5py.h5f.ACC_TRUNC, fcpl, fapl)) as file:
    kind = np.dtype([("first", "i4"), ("second", "f8")])
    for number in range(3):
        file.create_dataset("data %d" % number, data=np.zeros((2, 3), kind))
