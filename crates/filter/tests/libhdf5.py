"""Chunks as libhdf5 and hdf5plugin write them, for tests/libhdf5.rs, and a reader for the chunks that come back.

usage: libhdf5.py CASES COUNT SEED

Writes CASES, prints "ready", reads the name of a file with our chunks from standard input, puts each of them into a dataset
of its own and compares what libhdf5 reads. Prints what differs; the last line is the number of chunks compared.

A case in the file, all numbers little-endian: name, steps, mask, stored, input, expected, facts; where a string of bytes has
its length before it in 4 bytes, steps are their number and for each id, flags, name and params, and params and facts are
their number and so many of 4 bytes. A chunk that comes back: number of the case, mask, stored; all 4 bytes or a string.
"""

import ctypes
import random
import re
import struct
import sys

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z

import hdf5plugin  # noqa: F401  registers its filters

LZF, BLOSC, LZ4, BITSHUFFLE, ZSTD, BLOSC2, BZIP2 = 32000, 32001, 32004, 32008, 32015, 32026, 307
OPTIONAL, MANDATORY = h5z.FLAG_OPTIONAL, h5z.FLAG_MANDATORY

libhdf5 = ctypes.CDLL(next(m for m in re.findall(r"(/\S*libhdf5-[^/\s]*)", open("/proc/self/maps").read()) if "_hl" not in m))
libhdf5.H5Pget_filter2.argtypes = [ctypes.c_int64, ctypes.c_uint] + [ctypes.c_void_p] * 3 + [ctypes.c_size_t] + [ctypes.c_void_p] * 2


def steps_of(plist):
    """All filters of a property list. h5py's own function cuts long parameters."""
    steps = []
    for index in range(plist.get_nfilters()):
        flags, count, config = ctypes.c_uint(), ctypes.c_size_t(256), ctypes.c_uint()
        values, name = (ctypes.c_uint * 256)(), ctypes.create_string_buffer(256)
        refs = [ctypes.byref(x) for x in (flags, count, values)]
        code = libhdf5.H5Pget_filter2(plist.id, index, *refs, 256, name, ctypes.byref(config))
        steps.append((code, flags.value, name.value, list(values[: count.value])))
    return steps


def number(rng, part_of_type=True):
    """A number type, of which n-bit may take only some bits."""
    base = rng.choice("STD_I8 STD_U8 STD_I16 STD_U16 STD_I32 STD_U32 STD_I64 STD_U64 IEEE_F32 IEEE_F64".split())
    tid = getattr(h5t, base + rng.choice(["LE", "BE"])).copy()
    if part_of_type and base.startswith("STD") and rng.random() < 0.6:
        bits = tid.get_size() * 8
        precision = rng.randint(1, bits)
        tid.set_precision(precision)
        tid.set_offset(rng.randint(0, bits - precision))
    if part_of_type and base == "IEEE_F32" and rng.random() < 0.5:
        tid.set_fields(26, 20, 6, 7, 13)
        tid.set_offset(7)
        tid.set_precision(20)
        tid.set_size(4)
    return tid


def any_type(rng, depth=0):
    kind = rng.random()
    if depth == 2 or kind < 0.55:
        return number(rng)
    if kind < 0.65:
        tid = h5t.C_S1.copy()
        tid.set_size(rng.randint(1, 20))
        return tid
    if kind < 0.75:
        return h5t.array_create(any_type(rng, depth + 1), tuple(rng.randint(1, 3) for _ in range(rng.randint(1, 2))))
    if kind < 0.8:
        tid = h5t.STD_I32LE.copy()
        tid.set_size(rng.choice([3, 5, 6, 7, 12]))
        return tid
    members = [any_type(rng, depth + 1) for _ in range(rng.randint(1, 4))]
    gaps = [rng.randint(0, 3) for _ in members]
    tid = h5t.create(h5t.COMPOUND, sum(gaps) + sum(m.get_size() for m in members))
    at = 0
    for index, (member, gap) in enumerate(zip(members, gaps)):
        at += gap
        tid.insert(b"m%d" % index, at, member)
        at += member.get_size()
    return tid


def data_for(rng, tid, count):
    """Bytes that look like data: noise, small numbers, waves, runs, all equal."""
    size = tid.get_size()
    np_rng = np.random.default_rng(rng.getrandbits(32))
    kind = rng.randrange(7)
    # szip takes numbers of few bits at their word.
    narrow = tid.get_class() == h5t.INTEGER and tid.get_offset() == 0 and tid.get_precision() < size * 8
    if tid.get_class() in (h5t.INTEGER, h5t.FLOAT) and size in (1, 2, 4, 8) and (narrow or rng.random() < 0.8):
        order = ">" if tid.get_order() == h5t.ORDER_BE else "<"
        if tid.get_class() == h5t.FLOAT and size > 2:
            values = [
                np_rng.normal(0, 100, count), np.sin(np.arange(count) / 50) * 1000, np.zeros(count), np.full(count, 3.25),
                np_rng.integers(0, 50, count) / 8, np.cumsum(np_rng.normal(0, 1, count)), np.where(np_rng.random(count) < 0.9, 0, 7.5),
            ][kind]
            return values.astype(f"{order}f{size}").tobytes()
        top = 2 ** (size * 8 - 1) - 1
        values = [
            np_rng.integers(-top - 1, top, count, endpoint=True), np.arange(count) % top, np.zeros(count), np.full(count, 77),
            np_rng.integers(0, min(top, 60), count), np.cumsum(np_rng.integers(-3, 4, count)) % top,
            np.where(np_rng.random(count) < 0.95, 0, 5),
        ][kind]
        values = values.astype("i8")
        if narrow:
            values &= (1 << tid.get_precision()) - 1
        return values.astype(f"{order}i{size}").tobytes()
    total = size * count
    return [
        np_rng.bytes(total), bytes(i * 7 // 13 % 251 for i in range(total)), bytes(total), b"\x07" * total,
        np_rng.integers(0, 4, total, dtype="u1").tobytes(), (np_rng.bytes(max(1, size * 5)) * (total // 3 + 1))[:total],
        np.where(np_rng.random(total) < 0.97, 0, 9).astype("u1").tobytes(),
    ][kind]


def plain_compressor(rng):
    """A filter that compresses and knows nothing of types, as a function of a property list."""
    pick = rng.choice
    return pick([
        lambda p, t: p.set_deflate(rng.randint(0, 9)),
        lambda p, t: p.set_filter(LZ4, pick([OPTIONAL, MANDATORY]), (pick([0, 16, 100, 4096, 1 << 20]),)),
        lambda p, t: p.set_filter(ZSTD, pick([OPTIONAL, MANDATORY]), (pick([1, 3, 9, 19]),)),
        lambda p, t: p.set_filter(BZIP2, pick([OPTIONAL, MANDATORY]), (rng.randint(1, 9),)),
    ])


def compressor(rng):
    """Any filter that compresses."""
    pick = rng.choice
    return pick([
        plain_compressor(rng), plain_compressor(rng), plain_compressor(rng), plain_compressor(rng),
        lambda p, t: p.set_filter(LZF, OPTIONAL),
        lambda p, t: p.set_filter(BITSHUFFLE, OPTIONAL, pick([(0, 0), (64, 0), (0, 2), (128, 2), (8, 2), (0, 3, 3), (256, 3, 1)])),
        blosc, blosc, blosc2, blosc2,
    ])


def blosc(plist, tid, pick=random.Random(1).choice):
    plist.set_filter(BLOSC, OPTIONAL, (0, 0, 0, 0, pick([1, 3, 5, 9]), pick([0, 1, 2]), pick([0, 1, 2, 3, 4, 5])))


def blosc2(plist, tid, pick=random.Random(2).choice):
    plist.set_filter(BLOSC2, OPTIONAL, (0, pick([0, 0, 256]), 0, 0, pick([0, 1, 3, 5, 9]), pick([0, 1, 2, 3]), pick([0, 1, 2, 4, 5])))


def szip(plist, tid, pick=random.Random(3).choice):
    plist.set_szip(pick([h5z.SZIP_EC_OPTION_MASK, h5z.SZIP_NN_OPTION_MASK]), pick([2, 4, 8, 10, 16, 32]))


def nbit(plist, tid):
    plist.set_filter(h5z.FILTER_NBIT, OPTIONAL)


def scaleoffset(rng):
    def apply(plist, tid):
        if tid.get_class() == h5t.FLOAT:
            plist.set_scaleoffset(h5z.SO_FLOAT_DSCALE, rng.randint(0, 4))
        else:
            bits = tid.get_size() * 8
            plist.set_scaleoffset(h5z.SO_INT, rng.choice([0, 0, 0, bits, rng.randint(1, bits)]))
        fill = rng.randrange(3)
        if fill == 1:
            plist.set_fill_value(np.array(rng.choice([0, 5, 77]), "i4"))
        if fill == 2:
            libhdf5.H5Pset_fill_value(ctypes.c_int64(plist.id), ctypes.c_int64(tid.id), None)
    return apply


def pipeline(rng):
    """A type and what to put into a property list."""
    kind = rng.random()
    if kind < 0.15:
        return any_type(rng), [nbit]
    if kind < 0.3:
        return number(rng, part_of_type=False), [scaleoffset(rng)]
    if kind < 0.4:
        # Not after a filter that changes the length, since libaec loses bytes after the last whole element.
        if rng.random() < 0.3:
            return number(rng, part_of_type=False), [lambda p, t: p.set_shuffle(), szip]
        return number(rng), [szip] + [lambda p, t: p.set_fletcher32()] * rng.randrange(2)
    tid = any_type(rng)
    steps = [compressor(rng)]
    if rng.random() < 0.5:
        steps.insert(0, lambda p, t: p.set_shuffle())
    # C-Blosc2 loses bytes after the last whole element when it takes deltas.
    if rng.random() < 0.1 and steps[-1] is not blosc2:
        steps.insert(0, nbit)
    if rng.random() < 0.2:
        steps.append(plain_compressor(rng))
    if rng.random() < 0.3:
        # Not before n-bit, which keeps no bytes after the last element.
        steps.insert(rng.randint(steps[0] is nbit, len(steps)), lambda p, t: p.set_fletcher32())
    return tid, steps


def shape(rng, size):
    most = 30000 if rng.random() < 0.05 else 600
    rank = rng.choice([1, 1, 1, 2, 2, 3, 4])
    dims = [max(1, int(rng.randint(1, most) ** (1 / rank))) for _ in range(rank)]
    return tuple(dims)


def values_of(dset, tid, space):
    out = np.empty(space.get_simple_extent_npoints() * tid.get_size(), "u1")
    dset.read(h5s.ALL, h5s.ALL, out, mtype=tid)
    return out.tobytes()


def facts_of(tid, dims):
    """What the builders of parameters need: class, size, order, precision, offset, sign, then the shape."""
    facts = [tid.get_class(), tid.get_size(), 0, 0, 0, 0]
    if tid.get_class() in (h5t.INTEGER, h5t.FLOAT):
        sign = tid.get_sign() if tid.get_class() == h5t.INTEGER else 0
        facts[2:] = [tid.get_order(), tid.get_precision(), tid.get_offset(), sign]
    return facts + list(dims)


def make(file, rng, index):
    """One dataset; None if libhdf5 does not want it."""
    tid, applied = pipeline(rng)
    dims = shape(rng, tid.get_size())
    space, plist = h5s.create_simple(dims), h5p.create(h5p.DATASET_CREATE)
    plist.set_chunk(dims)
    plist.set_alloc_time(h5d.ALLOC_TIME_INCR)
    data = data_for(rng, tid, int(np.prod(dims)))
    try:
        for step in applied:
            step(plist, tid)
        dset = h5d.create(file, b"x%d" % index, tid, space, plist)
        dset.write(h5s.ALL, h5s.ALL, np.frombuffer(data, "u1").copy(), mtype=tid)
        file.flush() if hasattr(file, "flush") else h5py.h5f.flush(file)
        mask, stored = dset.read_direct_chunk((0,) * len(dims))
    except (ValueError, RuntimeError, OSError, TypeError):
        return None
    try:
        again = h5d.open(file, b"x%d" % index)
        del dset
        expected = values_of(again, tid, space)
    except (ValueError, RuntimeError, OSError):
        expected = None  # what it writes it may not read
        again = dset if "dset" in dir() else again
    steps = steps_of(again.get_create_plist())
    return tid, space, plist, dims, steps, mask, stored, data, expected


def blob(data):
    return struct.pack("<I", len(data)) + data


def words(values):
    return struct.pack(f"<I{len(values)}I", len(values), *[v & 0xFFFFFFFF for v in values])


def main(path, count, seed):
    rng = random.Random(seed)
    file = h5py.h5f.create(b"memory", fapl=(lambda p: (p.set_fapl_core(1 << 26, False), p)[1])(h5p.create(h5p.FILE_ACCESS)))
    cases, unreadable = [], 0
    with open(path, "wb") as out:
        while len(cases) < count:
            case = make(file, rng, len(cases) + unreadable)
            unreadable += 1 if case is None or case[8] is None else 0
            if case is None or case[8] is None:
                continue
            tid, space, plist, dims, steps, mask, stored, data, expected = case
            name = f"case {len(cases)}: {dims} of {tid.get_size()} bytes {[(s[0], s[3]) for s in steps]}"[:300].encode()
            out.write(blob(name) + struct.pack("<I", len(steps)))
            for code, flags, filter_name, params in steps:
                out.write(struct.pack("<II", code, flags) + blob(filter_name) + words(params))
            out.write(struct.pack("<I", mask) + blob(stored) + blob(data) + blob(expected) + words(facts_of(tid, dims)))
            cases.append((name, tid, space, plist, dims, expected))
    print(f"{unreadable} left out", file=sys.stderr)
    print("ready", flush=True)

    ours = open(sys.stdin.readline().strip(), "rb").read()
    at = compared = 0
    while at < len(ours):
        index, mask, length = struct.unpack_from("<III", ours, at)
        stored = ours[at + 12 : at + 12 + length]
        at += 12 + length
        name, tid, space, plist, dims, expected = cases[index]
        try:
            dset = h5d.create(file, b"y%d" % index, tid, space, plist)
            dset.write_direct_chunk((0,) * len(dims), stored, mask)
            del dset  # libhdf5 2.0 remembers a chunk just written without its mask
            if values_of(h5d.open(file, b"y%d" % index), tid, space) != expected:
                print("differs:", name.decode())
        except Exception as error:
            print("refused:", name.decode(), error)
        compared += 1
    print(compared)


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
