"""Files with what libhdf5 reads but does not write any more: its own files, with bytes exchanged.

Object headers of version 1 have no checksum, so a message can be rewritten in its place. libhdf5 reads the result, as with
every other file here, and so tells whether it is right.
"""

import struct

from .library import C, UNLIMITED, sizes, space_of
from .special import chunked, create, write_all
from .types import close_file
from .datatype_text import address_of

EARLIEST = 0
LAYOUT, FILL, OLD_FILL, DATASPACE, NIL = 8, 5, 4, 1, 0


def messages(data, header):
    """The messages of the first block of a header of version 1: type, where the body is, its length."""
    _, _, count, _, length = struct.unpack_from("<BBHII", data, header)
    at, end = header + 16, header + 16 + length
    while at + 8 <= end and count:
        kind, size = struct.unpack_from("<HH", data, at)
        yield kind, at + 8, size
        at, count = at + 8 + size, count - 1


def replace(data, header, wanted, body, kind=None):
    """Puts another body into the first message of a type."""
    for found, at, size in messages(data, header):
        if found == wanted:
            assert len(body) <= size, (len(body), size)
            data[at : at + size] = body.ljust(size, b"\0")
            if kind is not None:
                struct.pack_into("<H", data, at - 8, kind)
            return
    raise AssertionError("there is no such message")


def body_of(data, header, wanted):
    return next(bytes(data[at : at + size]) for kind, at, size in messages(data, header) if kind == wanted)


def header_of(handle):
    return int.from_bytes(address_of(handle), "little")


def patched(path, headers, change):
    """Rewrites a closed file: change gets its bytes and the addresses of headers by name."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    change(data, headers)
    with open(path, "wb") as file:
        file.write(data)


def old_layouts(rng, path, version):
    """Layout messages of versions 1 and 2: contiguous, chunked and compact."""
    file = create(path, EARLIEST)
    made = {
        "contiguous": C.H5Dcreate2(file, b"contiguous", C.known("H5T_STD_I16LE"), space_of((5, 6)), 0, 0, 0),
        "unwritten": C.H5Dcreate2(file, b"unwritten", C.known("H5T_STD_I16LE"), space_of((7,)), 0, 0, 0),
        "chunked": chunked(file, b"chunked", (20,), (UNLIMITED,), (3,)),
        "filtered": chunked(file, b"filtered", (20,), (UNLIMITED,), (6,), ("H5Pset_deflate", 3)),
    }
    write_all(rng, made["contiguous"], 30)
    write_all(rng, made["chunked"], 20)
    write_all(rng, made["filtered"], 20)
    plist = C.properties("DATASET_CREATE")
    C.H5Pset_layout(plist, 0)
    made["compact"] = C.H5Dcreate2(file, b"compact", C.known("H5T_STD_I16LE"), space_of((30,)), 0, plist, 0)
    write_all(rng, made["compact"], 30)
    headers = {name: header_of(handle) for name, handle in made.items()}
    close_file(file)

    def change(data, headers):
        for name, dims in [("contiguous", (5, 6)), ("unwritten", (7,))]:
            address = body_of(data, headers[name], LAYOUT)[2:10]
            body = struct.pack("<BBB5x", version, len(dims), 1) + address + struct.pack(f"<{len(dims)}I", *dims)
            replace(data, headers[name], LAYOUT, body)
        for name in ("chunked", "filtered"):
            body = body_of(data, headers[name], LAYOUT)
            body = struct.pack("<BBB5x", version, 2, 2) + body[3:11] + body[11:19]
            replace(data, headers[name], LAYOUT, body)
        # The older message is longer: the dataset becomes smaller.
        body = body_of(data, headers["compact"], LAYOUT)
        values = body[4 : 4 + 48]
        replace(data, headers["compact"], LAYOUT, struct.pack("<BBB5xII", version, 1, 0, 24, len(values)) + values)
        replace(data, headers["compact"], DATASPACE, struct.pack("<BBB5xQQ", 1, 1, 1, 24, 24))

    patched(path, headers, change)


def old_fill_values(rng, path):
    """Fill values in the first form of the message, and none at all."""
    file = create(path, EARLIEST)
    headers = {}
    for name in ("value", "empty", "nothing"):
        plist = C.properties("DATASET_CREATE")
        C.H5Pset_chunk(plist, 1, sizes([4]))
        C.H5Pset_fill_value(plist, C.known("H5T_STD_I16LE"), struct.pack("<h", -77))
        made = C.H5Dcreate2(file, name.encode(), C.known("H5T_STD_I16LE"), space_of((20,), (UNLIMITED,)), 0, plist, 0)
        headers[name] = header_of(made)
    close_file(file)

    def change(data, headers):
        # libhdf5 writes both forms; only the first stays.
        for name, header in headers.items():
            replace(data, header, FILL, b"", NIL)
            if name == "nothing":
                replace(data, header, OLD_FILL, b"", NIL)
            if name == "empty":
                replace(data, header, OLD_FILL, struct.pack("<I", 0))

    patched(path, headers, change)


RECIPES = {
    "layouts of version 1": lambda rng, path: old_layouts(rng, path, 1),
    "layouts of version 2": lambda rng, path: old_layouts(rng, path, 2),
    "old fill values": old_fill_values,
}
