"""Makes `odd.h5` and `broken.h5` of `cmd/files.md`: python odd.py cmd/files.in"""

import pathlib
import sys

import h5py
import numpy as np


def types(file):
    file["half"] = np.array([0.5, 65504.0, np.inf], "f2")
    file["doubles"] = np.array([0.1, 1e300, -0.0, np.nan, -np.inf])
    file["big_endian"] = np.array([[1, -2], [3, 256]], ">i4")
    file["complex"] = np.array([1 + 2j, -0.5j], "c16")
    file["opaque"] = np.array([b"\x00\x01", b"\xfe\xff"], "V2")
    file["fixed"] = np.array([b"ab", b"abcd"], "S4")
    file["text"] = "two\nlines, \"quotes\" and \u00e9"
    file["nothing"] = h5py.Empty("f4")
    file["no_rows"] = np.zeros((0, 3), "u1")
    file["arrays"] = np.array([([[1, 2], [3, 4]],)], [("matrix", "u1", (2, 2))])
    ragged = file.create_dataset("ragged", (3,), h5py.vlen_dtype("i2"))
    ragged[0], ragged[2] = [1, 2, 3], [-1]
    bits = h5py.h5t.STD_B16LE.copy()
    h5py.h5d.create(file.id, b"bits", bits, h5py.h5s.create_simple((2,))).write(
        h5py.h5s.ALL, h5py.h5s.ALL, np.array([0x00FF, 0x8001], "u2"), bits
    )
    wide = h5py.h5t.STD_U64LE.copy()
    wide.set_size(16)
    wide.set_precision(128)
    h5py.h5d.create(file.id, b"wide", wide, h5py.h5s.create(h5py.h5s.SCALAR))
    link = file.create_dataset("pointers", (2,), h5py.ref_dtype)
    link[0] = file["half"].ref
    loop = file.create_group("loop")
    loop["again"] = loop
    file["esc\x1b[31mape"] = 1


def broken(path):
    """One dataset of three has a damaged header, which its checksum tells."""
    with h5py.File(path, "w", libver="latest") as file:
        for name in "abc":
            file[name] = np.arange(3)
        address = h5py.h5o.get_info(file["b"].id).addr
    data = bytearray(path.read_bytes())
    data[address + 20] ^= 0xFF
    path.write_bytes(data)


home = pathlib.Path(sys.argv[1])
with h5py.File(home / "odd.h5", "w", libver="latest") as odd:
    types(odd)
broken(home / "broken.h5")
