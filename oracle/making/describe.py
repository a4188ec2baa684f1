"""Everything that libhdf5 says of a file: its objects in the order of their paths, as JSON. Names are hexadecimal."""

import ctypes
import hashlib

from .library import C, UNLIMITED, Refused
from .types import REFERENCE, VLEN, has_class
from .datatype_text import address_of, basics, describe, encode

LAYOUTS = {0: "compact", 1: "contiguous", 2: "chunked", 3: "virtual"}
INDEXES = {0: "btree1", 1: "single", 2: "implicit", 3: "farray", 4: "earray", 5: "btree2"}
FILLS = {0: "undefined", 1: "default", 2: "user"}
GROUP, DATASET, DATATYPE = range(3)
PLISTS = {2: "H5Gget_create_plist", 3: "H5Tget_create_plist", 5: "H5Dget_create_plist"}
HARD, SOFT, EXTERNAL = 0, 1, 64


def file_of(path):
    """The whole file."""
    access = C.properties("FILE_ACCESS")
    C.H5Pset_fclose_degree(access, 3)
    file = C.H5Fopen(path.encode(), 0, access)
    root = C.H5Gopen2(file, b"/", 0)
    objects = [{"path": b"/".hex(), "target": "group", **common(root)}]
    members(root, b"", {address_of(root)}, objects)
    C.H5Fclose(file)
    return {"objects": objects}


def members(place, prefix, seen, objects):
    for name in names_of(place):
        link = link_of(place, name)
        found = {"path": (prefix + b"/" + name).hex(), **link}
        objects.append(found)
        if link["target"] != "hard":
            continue
        try:
            handle = C.H5Oopen(place, name, 0)
        except Refused as refused:
            found["refused"] = str(refused)
            continue
        address, kind = basics(handle)
        found["address"] = int.from_bytes(address, "little")
        if address in seen:
            continue
        seen.add(address)
        if kind == GROUP:
            found.update(target="group", **common(handle))
            members(handle, prefix + b"/" + name, seen, objects)
        elif kind == DATASET:
            found.update(target="dataset", **dataset(handle))
        else:
            found.update(target="datatype", datatype=describe(handle), **common(handle))
        C.H5Oclose(handle)


def names_of(place):
    """Sorted, whatever the index."""
    found = []
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)
    each = kind(lambda _place, name, _info, _data: found.append(name) or 0)
    C.H5Literate2(place, 0, 0, None, each, None)
    return sorted(found)


def link_of(place, name):
    """H5L_info2_t: type, whether the order is kept, order, character set, size of the value."""
    info = ctypes.create_string_buffer(64)
    C.H5Lget_info2(place, name, info, 0)
    kind = int.from_bytes(info.raw[0:4], "little")
    kept = info.raw[4] != 0
    link = {"order": int.from_bytes(info.raw[8:16], "little") if kept else None, "charset": info.raw[16]}
    if kind == HARD:
        return {"target": "hard", **link}
    size = int.from_bytes(info.raw[24:32], "little")
    value = ctypes.create_string_buffer(size + 1)
    C.H5Lget_val(place, name, value, size, 0)
    words = {SOFT: "soft", EXTERNAL: "external"}
    content = value.raw[: size - 1] if kind in words else value.raw[:size]
    return {"target": words.get(kind, "user"), "class": kind, "value": content.hex(), **link}


def common(handle):
    """What all objects have: a comment and attributes."""
    length = C.H5Oget_comment(handle, None, 0)
    comment = ctypes.create_string_buffer(length + 1)
    if length:
        C.H5Oget_comment(handle, comment, length + 1)
    try:
        # Some filters work for the chunks of a dataset, but not for the heap of its attributes.
        return {"comment": comment.value.hex(), "attributes": attributes(handle)}
    except Refused:
        return {"comment": comment.value.hex(), "attributes": None}


def attributes(handle):
    names = []
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)
    each = kind(lambda _handle, name, _info, _data: names.append(name) or 0)
    C.H5Aiterate2(handle, 0, 0, None, each, None)
    ordered = ctypes.c_uint()
    plist = getattr(C, PLISTS[C.H5Iget_type(handle)])(handle)
    C.H5Pget_attr_creation_order(plist, ctypes.byref(ordered))
    return [attribute(handle, name, ordered.value & 1) for name in sorted(names)]


def attribute(handle, name, ordered):
    opened = C.H5Aopen(handle, name, 0)
    # H5A_info_t: whether the order is kept, order, character set, size of the values
    info = ctypes.create_string_buffer(64)
    C.H5Aget_info(opened, info)
    # Where no order is kept, libhdf5 makes one up.
    order = int.from_bytes(info.raw[4:8], "little") if info.raw[0] and ordered else None
    datatype, space = C.H5Aget_type(opened), C.H5Aget_space(opened)
    found = {"name": name.hex(), "charset": info.raw[8], "order": order, **typed(datatype, space)}
    try:
        refuse_narrow(datatype, handle)
        data = read(datatype, C.H5Sget_simple_extent_npoints(space), lambda room: C.H5Aread(opened, datatype, room))
        found["values"] = hashed(encode(datatype, data, handle))
    except Refused as refused:
        found["refused"] = str(refused)
    C.H5Aclose(opened)
    return found


def refuse_narrow(datatype, handle):
    """libhdf5 gives bytes of its own for references that are narrower in the file than in memory."""
    plist, offsets, lengths = C.H5Fget_create_plist(C.H5Iget_file_id(handle)), ctypes.c_size_t(), ctypes.c_size_t()
    C.H5Pget_sizes(plist, ctypes.byref(offsets), ctypes.byref(lengths))
    if offsets.value < 8 and has_class(datatype, (REFERENCE,)):
        raise Refused("narrow references")


def typed(datatype, space):
    return {"datatype": describe(datatype), "committed": bool(C.H5Tcommitted(datatype)), **extent(space)}


def extent(space):
    kind = C.H5Sget_simple_extent_type(space)
    if kind != 1:
        return {"dims": None if kind == 2 else []}
    rank = C.H5Sget_simple_extent_ndims(space)
    dims, limits = (ctypes.c_uint64 * rank)(), (ctypes.c_uint64 * rank)()
    C.H5Sget_simple_extent_dims(space, dims, limits)
    return {"dims": list(dims), "limits": [None if limit == UNLIMITED else limit for limit in limits]}


def read(datatype, count, into):
    """Values in memory; what a read leaves alone stays zero."""
    room = ctypes.create_string_buffer(max(1, C.H5Tget_size(datatype) * count))
    if count:
        into(room)
    return room.raw[: C.H5Tget_size(datatype) * count]


def hashed(data):
    """Short values as they are, to be read by people; long ones as a digest."""
    return data.hex() if len(data) <= 64 else "sha256:" + hashlib.sha256(data).hexdigest()


def dataset(handle):
    datatype, space = C.H5Dget_type(handle), C.H5Dget_space(handle)
    found = {**common(handle), **typed(datatype, space), **stored(handle, datatype)}
    try:
        refuse_narrow(datatype, handle)
        data = read(datatype, C.H5Sget_simple_extent_npoints(space), lambda room: C.H5Dread(handle, datatype, 0, 0, 0, room))
        found["values"] = hashed(encode(datatype, data, handle))
    except Refused as refused:
        found["refused"] = str(refused)
    return found


def stored(handle, datatype):
    """Layout, filters and fill value."""
    plist = C.H5Dget_create_plist(handle)
    found = {"layout": LAYOUTS[C.H5Pget_layout(plist)]}
    if C.H5Pget_external_count(plist) > 0:
        found["layout"] = "external"
    if found["layout"] == "chunked":
        chunk = (ctypes.c_uint64 * 32)()
        rank, index = C.H5Pget_chunk(plist, 32, chunk), ctypes.c_int()
        C.H5Dget_chunk_index_type(handle, ctypes.byref(index))
        found.update(chunk=chunk[:rank], index=INDEXES[index.value])
    found["filters"] = [filter_of(plist, nth) for nth in range(C.H5Pget_nfilters(plist))]
    values = [ctypes.c_int() for _ in range(3)]
    C.H5Pfill_value_defined(plist, ctypes.byref(values[0]))
    C.H5Pget_alloc_time(plist, ctypes.byref(values[1]))
    C.H5Pget_fill_time(plist, ctypes.byref(values[2]))
    fill, found["alloc_time"], found["fill_time"] = (value.value for value in values)
    found["fill"] = FILLS[fill]
    if FILLS[fill] == "user" and not has_class(datatype, (VLEN, REFERENCE)):
        room = ctypes.create_string_buffer(C.H5Tget_size(datatype))
        C.H5Pget_fill_value(plist, datatype, room)
        found["fill_value"] = room.raw.hex()
    return found


def filter_of(plist, nth):
    flags, count, config = ctypes.c_uint(), ctypes.c_size_t(256), ctypes.c_uint()
    params, name = (ctypes.c_uint * 256)(), ctypes.create_string_buffer(256)
    number = C.H5Pget_filter2(
        plist, nth, ctypes.byref(flags), ctypes.byref(count), params, 256, name, ctypes.byref(config)
    )
    return [number, flags.value, params[: count.value]]
