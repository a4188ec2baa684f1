"""Makes `references.h5`, whose revised references lead into `other.h5`, in a directory: python references.py DIRECTORY

Prints what libhdf5 says of them: for each the name of the object that it leads to.
"""

import ctypes
import json
import os
import sys

import h5py
import numpy as np

# libhdf5 looks for the files of references where it runs.
os.chdir(sys.argv[1])
with open("/proc/self/maps") as maps:
    LIBRARY = ctypes.CDLL(next(line.split()[-1] for line in maps if "libhdf5-" in line or "libhdf5.so" in line))
handle, pointer, name = ctypes.c_int64, ctypes.c_void_p, ctypes.c_char_p
LIBRARY.H5Rcreate_object.argtypes = [handle, name, handle, pointer]
LIBRARY.H5Rcreate_region.argtypes = [handle, name, handle, handle, pointer]
LIBRARY.H5Rcreate_attr.argtypes = [handle, name, name, handle, pointer]
LIBRARY.H5Dcreate2.argtypes = [handle, name, handle, handle, handle, handle, handle]
LIBRARY.H5Dcreate2.restype = handle
LIBRARY.H5Dread.argtypes = LIBRARY.H5Dwrite.argtypes = [handle, handle, handle, handle, handle, pointer]
LIBRARY.H5Dclose.argtypes = [handle]
LIBRARY.H5Rdestroy.argtypes = [pointer]
LIBRARY.H5Rget_obj_name.argtypes = [pointer, handle, name, ctypes.c_size_t]
LIBRARY.H5Rget_obj_name.restype = ctypes.c_ssize_t
REFERENCE = handle.in_dll(LIBRARY, "H5T_STD_REF_g").value
# The last one is null.
SIZE, COUNT = 64, 5


def check(result):
    assert result >= 0
    return result


with h5py.File("other.h5", "w", libver="latest") as other:
    other["a/deep/one"] = np.arange(12).reshape(3, 4)
    other["a/deep/one"].attrs["unit"] = "K"
    other["b"] = other["a/deep/one"]
    space = other["b"].id.get_space()
    space.select_hyperslab((1, 1), (2, 2))
    room = (ctypes.c_char * (SIZE * COUNT))()
    at = [ctypes.addressof(room) + SIZE * nth for nth in range(COUNT)]
    check(LIBRARY.H5Rcreate_object(other.id.id, b"/a/deep/one", 0, at[0]))
    check(LIBRARY.H5Rcreate_region(other.id.id, b"/b", space.id, 0, at[1]))
    check(LIBRARY.H5Rcreate_attr(other.id.id, b"/a/deep/one", b"unit", 0, at[2]))
    check(LIBRARY.H5Rcreate_object(other.id.id, b"/", 0, at[3]))
    with h5py.File("references.h5", "w", libver="latest") as file:
        dims = h5py.h5s.create_simple((COUNT,))
        dataset = check(LIBRARY.H5Dcreate2(file.id.id, b"references", REFERENCE, dims.id, 0, 0, 0))
        check(LIBRARY.H5Dwrite(dataset, REFERENCE, 0, 0, 0, at[0]))
        check(LIBRARY.H5Dclose(dataset))
    for one in at[: COUNT - 1]:
        check(LIBRARY.H5Rdestroy(one))

names = []
with h5py.File("references.h5") as file:
    dataset = file["references"]
    room = (ctypes.c_char * (SIZE * COUNT))()
    check(LIBRARY.H5Dread(dataset.id.id, REFERENCE, 0, 0, 0, ctypes.addressof(room)))
    for one in [ctypes.addressof(room) + SIZE * nth for nth in range(COUNT - 1)]:
        found = ctypes.create_string_buffer(1000)
        check(LIBRARY.H5Rget_obj_name(one, 0, found, 1000))
        names.append(found.value.decode())
        check(LIBRARY.H5Rdestroy(one))
print(json.dumps(names))
