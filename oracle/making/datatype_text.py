"""Datatypes in words and values as bytes, in a form that src/datatype_text.rs makes too.

A value is its bytes, except: a sequence is its length in 8 bytes and its elements, a variable-length string the same; a
compound with such a part is its members one after the other; a reference is the address of its object in 8 bytes, for a
region followed by how many elements it selects and their positions, for an attribute by the length of its name and the name.
"""

import ctypes
import struct
from types import SimpleNamespace

from oracle import merged, runs

from .library import C, Refused, text
from .types import ARRAY, BITFIELD, COMPLEX, COMPOUND, ENUM, FLOAT, INTEGER, OPAQUE, REFERENCE, STRING, TIME, VLEN, has_class

ORDERS = {0: "le", 1: "be", 2: "vax"}


def describe(datatype):
    kind, size = C.H5Tget_class(datatype), C.H5Tget_size(datatype)
    if kind in (INTEGER, FLOAT, BITFIELD):
        low, high = ctypes.c_int(), ctypes.c_int()
        C.H5Tget_pad(datatype, ctypes.byref(low), ctypes.byref(high))
        words = [size, ORDERS[C.H5Tget_order(datatype)], C.H5Tget_precision(datatype), C.H5Tget_offset(datatype), low.value, high.value]
        if kind == INTEGER:
            return words_of("int", *words, C.H5Tget_sign(datatype))
        if kind == FLOAT:
            fields = [ctypes.c_size_t() for _ in range(5)]
            C.H5Tget_fields(datatype, *map(ctypes.byref, fields))
            words += [field.value for field in fields]
            words += [C.H5Tget_ebias(datatype), C.H5Tget_norm(datatype), C.H5Tget_inpad(datatype)]
            return words_of("float", *words)
        return words_of("bits", *words)
    if kind == TIME:
        return words_of("time", size, ORDERS[C.H5Tget_order(datatype)])
    if kind == STRING:
        variable = C.H5Tis_variable_str(datatype)
        return words_of("string", "any" if variable else size, C.H5Tget_strpad(datatype), C.H5Tget_cset(datatype))
    if kind == OPAQUE:
        return words_of("opaque", size, text(C.H5Tget_tag(datatype)).hex())
    if kind == COMPOUND:
        loose = has_class(datatype, (VLEN, REFERENCE))
        members = []
        for nth in range(C.H5Tget_nmembers(datatype)):
            name = text(C.H5Tget_member_name(datatype, nth)).hex()
            place = "any" if loose else C.H5Tget_member_offset(datatype, nth)
            members.append(f"{name} {place} {describe(C.H5Tget_member_type(datatype, nth))}")
        return words_of("compound", "any" if loose else size, *members)
    if kind == REFERENCE:
        return words_of("reference", reference_kind(datatype))
    base = C.H5Tget_super(datatype)
    if kind == ENUM:
        members = []
        for nth in range(C.H5Tget_nmembers(datatype)):
            value = ctypes.create_string_buffer(size)
            C.H5Tget_member_value(datatype, nth, value)
            members.append(text(C.H5Tget_member_name(datatype, nth)).hex() + " " + value.raw.hex())
        return words_of("enum", describe(base), *members)
    if kind == ARRAY:
        dims = (ctypes.c_uint64 * 32)()
        return words_of("array", *dims[: C.H5Tget_array_dims2(datatype, dims)], describe(base))
    return words_of({VLEN: "vlen", COMPLEX: "complex"}[kind], describe(base))


def words_of(name, *words):
    return f"{name}({' '.join(map(str, words))})"


def reference_kind(datatype):
    for name, kind in [("_OBJ", "object"), ("_DSETREG", "region"), ("", "revised")]:
        if C.H5Tequal(datatype, C.known("H5T_STD_REF" + name)):
            return kind
    raise Refused("unknown reference")


def encode(datatype, data, place):
    """Values in memory, one after the other; place is an object of the file that they are from."""
    if not has_class(datatype, (VLEN, REFERENCE)):
        return data
    size = C.H5Tget_size(datatype)
    one = encoder(datatype, place)
    return b"".join(one(data[at : at + size]) for at in range(0, len(data), size))


def encoder(datatype, place):
    """A function of the bytes of one value."""
    kind, size = C.H5Tget_class(datatype), C.H5Tget_size(datatype)
    if not has_class(datatype, (VLEN, REFERENCE)):
        return lambda value: value
    if kind == STRING:
        return encode_text
    if kind == COMPOUND:
        members = []
        for nth in range(C.H5Tget_nmembers(datatype)):
            member, at = C.H5Tget_member_type(datatype, nth), C.H5Tget_member_offset(datatype, nth)
            members.append((at, at + C.H5Tget_size(member), encoder(member, place)))
        return lambda value: b"".join(one(value[at:end]) for at, end, one in members)
    if kind == REFERENCE:
        which = {"object": object_reference, "region": region_reference, "revised": revised_reference}
        follow = which[reference_kind(datatype)]
        return lambda value: follow(value, place)
    base = C.H5Tget_super(datatype)
    part = C.H5Tget_size(base)
    if kind == VLEN:

        def sequence(value):
            count, address = struct.unpack("<QQ", value)
            content = ctypes.string_at(address, count * part) if count else b""
            return struct.pack("<Q", count) + encode(base, content, place)

        return sequence
    return lambda value: encode(base, value, place)


def encode_text(value):
    address = int.from_bytes(value, "little")
    content = ctypes.string_at(address) if address else b""
    return struct.pack("<Q", len(content)) + content


def basics(handle):
    """Address and kind of an object: parts of H5O_info2_t."""
    info = ctypes.create_string_buffer(512)
    C.H5Oget_info3(handle, info, 1)
    return info.raw[8:16], int.from_bytes(info.raw[24:28], "little")


def address_of(handle):
    return basics(handle)[0]


def object_reference(value, _):
    return value


def region_reference(value, place):
    if not any(value):
        return bytes(8)
    target = C.H5Rdereference2(place, 0, 1, value)
    return address_of(target) + selected(C.H5Rget_region(place, 1, value))


def revised_reference(value, place):
    if not any(value):
        return bytes(8)
    value = ctypes.create_string_buffer(value, 64)
    kind = C.H5Rget_type(value)
    address = address_of(C.H5Ropen_object(value, 0, 0))
    if kind == 3:
        return address + selected(C.H5Ropen_region(value, 0, 0))
    if kind == 4:
        length = C.H5Rget_attr_name(value, None, 0)
        name = ctypes.create_string_buffer(length + 1)
        C.H5Rget_attr_name(value, name, length + 1)
        return address + struct.pack("<Q", length) + name.value
    return address


def selected(space):
    count = C.H5Sget_select_npoints(space)
    found = runs(SimpleNamespace(id=space), 1) if count else []
    positions = [at for begin, end in merged(found) for at in range(begin, end)]
    return struct.pack("<Q", count) + struct.pack(f"<{len(positions)}Q", *positions)
