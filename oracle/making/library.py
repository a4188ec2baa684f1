"""The C interface of the libhdf5 that h5py has loaded. A call that fails raises Refused with its name."""

import ctypes
import glob
import os

import h5py

# What does not return an int: handles, sizes and counts.
WIDE = set(
    """H5Fcreate H5Fopen H5Fget_create_plist H5Gcreate2 H5Gopen2 H5Oopen H5Dcreate2 H5Dopen2 H5Dget_space H5Dget_type
    H5Dget_create_plist H5Acreate2 H5Aopen H5Aget_space H5Aget_type H5Screate H5Screate_simple H5Scopy
    H5Sget_simple_extent_npoints H5Sget_select_npoints H5Iget_file_id H5Gget_create_plist H5Tget_create_plist H5Tcopy H5Tcreate H5Tarray_create2 H5Tenum_create H5Tvlen_create
    H5Tcomplex_create H5Tget_super H5Tget_member_type H5Topen2 H5Tget_size H5Tget_member_offset H5Tget_ebias H5Pcreate
    H5Rget_region H5Rdereference2 H5Ropen_object H5Ropen_region H5Rget_attr_name H5Oget_comment""".split()
)
POINTERS = {"H5Tget_member_name", "H5Tget_tag"}


class Refused(Exception):
    """libhdf5 does not do it."""


class Library:
    """Functions by name. Integers go as 64 bits: a smaller one is the low part of the same register."""

    def __init__(self):
        home = os.path.dirname(os.path.dirname(h5py.__file__))
        self.library = ctypes.CDLL(glob.glob(os.path.join(home, "h5py.libs", "libhdf5-*.so*"))[0])
        self.library.H5open()
        self.library.H5Eset_auto2(ctypes.c_int64(0), None, None)

    def __getattr__(self, name):
        function = getattr(self.library, name)
        pointer = name in POINTERS
        function.restype = ctypes.c_void_p if pointer else ctypes.c_int64 if name in WIDE else ctypes.c_int

        def call(*arguments):
            result = function(*[ctypes.c_int64(a) if isinstance(a, int) else a for a in arguments])
            if not pointer and result < 0:
                raise Refused(name)
            return result

        setattr(self, name, call)
        return call

    def known(self, name):
        """A handle that the library has ready, such as H5T_STD_I8LE."""
        return ctypes.c_int64.in_dll(self.library, name + "_g").value

    def properties(self, of):
        """A new property list of a class such as DATASET_CREATE."""
        return self.H5Pcreate(self.known(f"H5P_CLS_{of}_ID"))


C = Library()
UNLIMITED = 2**64 - 1


def sizes(values):
    """An array of hsize_t."""
    return (ctypes.c_uint64 * len(values))(*values)


def text(pointer):
    """A C string that the library has allocated."""
    found = ctypes.string_at(pointer) if pointer else b""
    if pointer:
        C.library.H5free_memory(ctypes.c_void_p(pointer))
    return found


def space_of(dims, limits=None):
    """A dataspace: None for null, () for scalar."""
    if dims is None:
        return C.H5Screate(2)
    if dims == ():
        return C.H5Screate(0)
    return C.H5Screate_simple(len(dims), sizes(dims), sizes(limits) if limits else None)
