"""What libhdf5 refuses when datasets, attributes, links and types are made: a line for each case, its name and what happens."""

import os
import sys
import h5py
import numpy as np
from h5py import h5a, h5d, h5f, h5g, h5p, h5s, h5t, h5z

UNLIMITED = h5s.UNLIMITED
STRING = h5t.py_create(h5py.string_dtype(), logical=True)
I32, F64 = h5t.STD_I32LE, h5t.IEEE_F64LE
SEQUENCE = h5t.vlen_create(I32)
NESTED = h5t.vlen_create(SEQUENCE)
FIXED = h5t.py_create(np.dtype("S10"))
COMPOUND = h5t.py_create(np.dtype([("a", "<i4"), ("b", "<f8")]))
OPAQUE = h5t.create(h5t.OPAQUE, 7)
ENUM = h5t.enum_create(I32); ENUM.enum_insert(b"one", 1)
REFERENCE = h5t.STD_REF_OBJ
ARRAY = h5t.array_create(I32, (3,))
VLEN_MEMBER = h5t.create(h5t.COMPOUND, 24); VLEN_MEMBER.insert(b"a", 0, I32); VLEN_MEMBER.insert(b"b", 8, STRING)

CASES = {}


def case(name):
    def add(make):
        CASES[name] = make
        return make
    return add


def dataset(name, kind, shape, maxshape=None, chunks=None, **more):
    def make(f):
        plist = h5p.create(h5p.DATASET_CREATE)
        if chunks is not None:
            plist.set_chunk(chunks)
        for call, args in more.items():
            getattr(plist, call)(*args)
        space = h5s.create_simple(shape, maxshape) if shape is not None else h5s.create(h5s.SCALAR)
        h5d.create(f, b"new", kind, space, plist)
    CASES[name] = make


def filters(name, kind, call, *args):
    dataset(f"{name}", kind, (10,), None, (5,), **{call: args})

types = {"integer": I32, "float": F64, "text": STRING, "sequence": SEQUENCE, "nested": NESTED, "fixed": FIXED, "compound": COMPOUND,
         "opaque": OPAQUE, "enum": ENUM, "reference": REFERENCE, "array": ARRAY, "vlen member": VLEN_MEMBER}
for name, kind in types.items():
    filters(f"deflate of {name}", kind, "set_deflate", 4)
    filters(f"shuffle of {name}", kind, "set_shuffle")
    filters(f"fletcher32 of {name}", kind, "set_fletcher32")
    filters(f"scaleoffset of {name}", kind, "set_scaleoffset", h5z.SO_INT, 0)
    filters(f"float scaleoffset of {name}", kind, "set_scaleoffset", h5z.SO_FLOAT_DSCALE, 2)
    filters(f"nbit of {name}", kind, "set_filter", h5z.FILTER_NBIT, 0, ())
    filters(f"optional nbit of {name}", kind, "set_filter", h5z.FILTER_NBIT, h5z.FLAG_OPTIONAL, ())
    filters(f"szip of {name}", kind, "set_szip", h5z.SZIP_NN_OPTION_MASK, 8)
    filters(f"mandatory deflate of {name}", kind, "set_filter", h5z.FILTER_DEFLATE, 0, (4,))
    filters(f"optional fletcher32 of {name}", kind, "set_filter", h5z.FILTER_FLETCHER32, h5z.FLAG_OPTIONAL, ())

dataset("chunk of other rank", I32, (10, 10), None, (5,))
dataset("chunk of zero", I32, (10,), None, (0,))
dataset("chunk larger than fixed", I32, (10,), None, (11,))
dataset("chunk larger than limited", I32, (10,), (20,), (21,))
dataset("chunk up to limit", I32, (10,), (20,), (20,))
dataset("chunk larger, unlimited", I32, (10,), (UNLIMITED,), (100,))
dataset("chunk of 4 GiB", I32, (1 << 40,), None, (1 << 30,))
dataset("chunk just below 4 GiB", h5t.STD_I8LE, (1 << 40,), None, ((1 << 32) - 1,))
dataset("chunk side of 4 Gi", h5t.STD_I8LE, (1 << 40, 4), None, (1 << 32, 1))
dataset("limit below size", I32, (10,), (5,), (5,))
dataset("limit of zero", I32, (0,), (0,), (1,))
dataset("unlimited without chunks", I32, (10,), (UNLIMITED,))
dataset("limit without chunks", I32, (10,), (20,))
dataset("limit as size without chunks", I32, (10,), (10,))
dataset("chunked scalar", I32, None, None, (1,))
dataset("no elements", I32, (0,))
dataset("no elements, chunks", I32, (0,), None, (1,))
dataset("no elements, unlimited", I32, (0, 5), (UNLIMITED, 5), (1, 5))
dataset("no elements, larger chunk", I32, (0,), (0,), (5,))
dataset("rank 32", I32, (1,) * 32)
dataset("rank 32, chunks", I32, (1,) * 32, None, (1,) * 32)
dataset("rank 33", I32, (1,) * 33)
dataset("huge contiguous", I32, (1 << 62,))
dataset("compact", I32, (100,), None, None, set_layout=(h5d.COMPACT,))
dataset("compact at 64 KiB", h5t.STD_I8LE, (65520,), None, None, set_layout=(h5d.COMPACT,))
dataset("compact over 64 KiB", h5t.STD_I8LE, (65536,), None, None, set_layout=(h5d.COMPACT,))
dataset("compact near 64 KiB", h5t.STD_I8LE, (65530,), None, None, set_layout=(h5d.COMPACT,))
dataset("compact text", STRING, (10,), None, None, set_layout=(h5d.COMPACT,))
dataset("compact that grows", I32, (10,), (20,), None, set_layout=(h5d.COMPACT,))
dataset("compact late", I32, (10,), None, None, set_layout=(h5d.COMPACT,), set_alloc_time=(h5d.ALLOC_TIME_LATE,))
dataset("filtered contiguous", I32, (10,), None, None, set_deflate=(4,), set_layout=(h5d.CONTIGUOUS,))
dataset("filtered compact", I32, (10,), None, None, set_deflate=(4,), set_layout=(h5d.COMPACT,))
dataset("filtered scalar", I32, None, None, None, set_deflate=(4,))
dataset("fill of text", STRING, (10,), None, None)
dataset("external that grows", I32, (10,), (UNLIMITED,), None, set_external=(b"external.raw", 0, h5f.UNLIMITED))
dataset("external in chunks", I32, (10,), None, (5,), set_external=(b"external.raw", 0, 40))
dataset("external too small", I32, (10,), None, None, set_external=(b"external.raw", 0, 30))
dataset("external of text", STRING, (10,), None, None, set_external=(b"external.raw", 0, 160))


@case("external scalar")

def _(f):
    plist = h5p.create(h5p.DATASET_CREATE); plist.set_external(b"external.raw", 0, 4)
    h5d.create(f, b"new", I32, h5s.create(h5s.SCALAR), plist)


@case("null dataset in chunks")

def _(f):
    plist = h5p.create(h5p.DATASET_CREATE); plist.set_chunk((5,))
    h5d.create(f, b"new", I32, h5s.create(h5s.NULL), plist)


@case("never filled, but a fill value")

def _(f):
    plist = h5p.create(h5p.DATASET_CREATE); plist.set_fill_value(np.array(3, "<i4")); plist.set_fill_time(h5d.FILL_TIME_NEVER)
    h5d.create(f, b"new", I32, h5s.create_simple((3,)), plist)

for kind, name in ((I32, "integer"), (FIXED, "fixed text"), (COMPOUND, "compound")):
    def make(f, kind=kind):
        plist = h5p.create(h5p.DATASET_CREATE); plist.set_fill_value(np.array(3.5, "<f8"))
        h5d.create(f, b"new", kind, h5s.create_simple((3,)), plist)
    CASES[f"number to fill {name}"] = make

for name, link in (("empty name", b""), ("dot", b"."), ("slash", b"/"), ("dots", b".."), ("name with slash", b"a/b"), ("name ends in slash", b"a/"),
                   ("double slash", b"a//b"), ("dot in path", b"./a"), ("taken", b"there"), ("through a dataset", b"there/a"),
                   ("taken by a dangling link", b"dangling"), ("through a dangling link", b"dangling/a"), ("long name", b"n" * 70000)):
    def make(f, link=link):
        lcpl = h5p.create(h5p.LINK_CREATE); lcpl.set_create_intermediate_group(True)
        h5g.create(f, link, lcpl)
    CASES[f"group, {name}"] = make
    def make(f, link=link):
        lcpl = h5p.create(h5p.LINK_CREATE); lcpl.set_create_intermediate_group(True)
        f.links.create_soft(link, b"target", lcpl)
    CASES[f"soft link, {name}"] = make


@case("soft link to nothing")

def _(f): f.links.create_soft(b"new", b"")

@case("external link to nothing")

def _(f): f.links.create_external(b"new", b"", b"/")

@case("external link to no object")

def _(f): f.links.create_external(b"new", b"other.h5", b"")

@case("hard link to what is missing")

def _(f): f.links.create_hard(b"new", f, b"missing")

@case("delete what is missing")

def _(f): f.unlink(b"missing")

@case("delete the root")

def _(f): f.unlink(b"/")

@case("delete a dangling link")

def _(f): f.unlink(b"dangling")

@case("move to what is taken")

def _(f): f.links.move(b"there", f, b"dangling")

@case("move to itself")

def _(f): f.links.move(b"there", f, b"there")

@case("move the root")

def _(f): f.links.move(b"/", f, b"new")

@case("move a group into itself")

def _(f): f.links.move(b"group", f, b"group/inside")


def attribute(name, text, size, kind=I32):
    def make(f):
        attr = h5a.create(f, text, kind, h5s.create_simple((size,)))
        if kind is I32: attr.write(np.zeros(size, "<i4"))
    CASES[f"attribute, {name}"] = make
attribute("empty name", b"", 1)
attribute("slash", b"a/b", 1)
attribute("dot", b".", 1)
attribute("taken", b"there", 1)
attribute("60 KiB", b"new", 15000)
attribute("64 KiB", b"new", 16384)
attribute("1 MiB", b"new", 262144)
attribute("long name", b"n" * 60000, 1)
attribute("too long name", b"n" * 65540, 1)
attribute("no values", b"new", 0)

@case("attribute, rename to taken")

def _(f):
    h5a.create(f, b"new", I32, h5s.create_simple((1,)))
    h5a.rename(f, b"new", b"there")

@case("attribute, rename what is missing")

def _(f): h5a.rename(f, b"missing", b"new")

@case("attribute, delete what is missing")

def _(f): h5a.delete(f, b"missing")

@case("attribute that grows")

def _(f): h5a.create(f, b"new", I32, h5s.create_simple((1,), (UNLIMITED,)))


@case("enum without members")

def _(f): h5d.create(f, b"new", h5t.enum_create(I32), h5s.create_simple((3,)))

@case("committed enum without members")

def _(f): h5t.enum_create(I32).commit(f, b"new")

@case("compound without members")

def _(f): h5d.create(f, b"new", h5t.create(h5t.COMPOUND, 8), h5s.create_simple((3,)))

@case("committed compound without members")

def _(f): h5t.create(h5t.COMPOUND, 8).commit(f, b"new")

@case("attribute, enum without members")

def _(f): h5a.create(f, b"new", h5t.enum_create(I32), h5s.create_simple((3,)))

@case("attribute, compound without members")

def _(f): h5a.create(f, b"new", h5t.create(h5t.COMPOUND, 8), h5s.create_simple((3,)))


def resize(name, shape, maxshape, chunks, to, **more):
    def make(f):
        plist = h5p.create(h5p.DATASET_CREATE)
        if chunks: plist.set_chunk(chunks)
        for call, args in more.items(): getattr(plist, call)(*args)
        h5d.create(f, b"new", I32, h5s.create_simple(shape, maxshape), plist).set_extent(to)
    CASES[f"resize, {name}"] = make
resize("contiguous", (10,), None, None, (5,))
resize("contiguous to the same", (10,), None, None, (10,))
resize("over the limit", (10,), (20,), (5,), (21,))
resize("to the limit", (10,), (20,), (5,), (20,))
resize("smaller than fixed", (10,), None, (5,), (4,))
resize("larger than fixed", (10,), None, (5,), (11,))
resize("other rank", (10,), (UNLIMITED,), (5,), (10, 10))
resize("to nothing", (10,), (UNLIMITED,), (5,), (0,))
resize("external", (10,), (UNLIMITED,), None, (20,), set_external=(b"external.raw", 0, h5f.UNLIMITED))
resize("external, smaller", (10,), (UNLIMITED,), None, (5,), set_external=(b"external.raw", 0, h5f.UNLIMITED))
resize("external over its room", (10,), (20,), None, (20,), set_external=(b"external.raw", 0, 100))
resize("compact", (10,), None, None, (5,), set_layout=(h5d.COMPACT,))


def main(path, low):
    os.chdir(os.path.dirname(path))
    for name, make in CASES.items():
        with h5py.File(path, "w", libver=(low, "latest")) as f:
            f["there"] = 1
            f.attrs["there"] = 1
            f["dangling"] = h5py.SoftLink("/nowhere")
            f.create_group("group")
            try:
                make(f.id)
                done = "accepted"
            except Exception:
                done = "refused"
        print(f"{name}\t{done}")

main(sys.argv[1], sys.argv[2])
