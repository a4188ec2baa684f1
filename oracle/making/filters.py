"""Random filter pipelines for a chunked dataset."""

import ctypes
import zlib

import hdf5plugin

from .library import C, Refused
from .types import FLOAT, INTEGER

OPTIONAL, MANDATORY = 1, 0
DEFLATE, SHUFFLE, FLETCHER32, SZIP, NBIT, SCALEOFFSET, LZF = 1, 2, 3, 4, 5, 6, 32000
CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]


def add_filters(rng, plist, datatype):
    """Adds some filters that the type allows; says which, in order."""
    # Those that know elements must see elements: some crash where they see packed bytes.
    of_elements = rng.sample([szip, nbit, scaleoffset, plugin, plugin, plugin], rng.choice([0, 1, 1]))
    of_bytes = rng.sample([deflate, shuffle, fletcher32, lzf], rng.choice([0, 1, 1, 2, 3]))
    for add in of_elements + of_bytes:
        try:
            add(rng, plist, datatype)
        except Refused:
            pass
    return [C.H5Pget_filter2(plist, nth, None, None, None, 0, None, None) for nth in range(C.H5Pget_nfilters(plist))]


def deflate(rng, plist, _):
    C.H5Pset_deflate(plist, rng.randint(0, 9))


def shuffle(_rng, plist, _):
    C.H5Pset_shuffle(plist)


def fletcher32(_rng, plist, _):
    C.H5Pset_fletcher32(plist)


def szip(rng, plist, _):
    C.H5Pset_szip(plist, rng.choice([4, 32]), rng.choice([2, 4, 8, 10, 16, 32]))


def nbit(_rng, plist, _):
    C.H5Pset_nbit(plist)


def scaleoffset(rng, plist, datatype):
    kind = C.H5Tget_class(datatype)
    if kind == INTEGER:
        C.H5Pset_scaleoffset(plist, 2, rng.choice([0, 0, 5, 16]))
    elif kind == FLOAT:
        C.H5Pset_scaleoffset(plist, 0, rng.choice([0, 2, 5]))


def lzf(_rng, plist, _):
    custom(plist, LZF, ())


def plugin(rng, plist, _):
    made = rng.choice(
        [
            lambda: hdf5plugin.LZ4(nbytes=rng.choice([0, 64, 4096])),
            lambda: hdf5plugin.Zstd(clevel=rng.choice([1, 3, 19])),
            lambda: hdf5plugin.BZip2(blocksize=rng.randint(1, 9)),
            lambda: hdf5plugin.Blosc(cname=rng.choice(CODECS), clevel=rng.randint(0, 9), shuffle=rng.randint(0, 2)),
            lambda: hdf5plugin.Blosc2(cname=rng.choice(CODECS), clevel=rng.randint(0, 9), filters=rng.randint(0, 4)),
            lambda: hdf5plugin.Bitshuffle(nelems=rng.choice([0, 8, 64]), cname=rng.choice(["none", "lz4", "zstd"])),
        ]
    )()
    custom(plist, made.filter_id, made.filter_options)


def custom(plist, number, params):
    C.H5Pset_filter(plist, number, OPTIONAL, len(params), (ctypes.c_uint * len(params))(*params))


def skipped(rng, pipeline, raw):
    """A chunk with some filters left out: its filter mask and its bytes."""
    everything = (1 << len(pipeline)) - 1
    if pipeline[-1] == DEFLATE and rng.random() < 0.5:
        return everything & ~(1 << len(pipeline) - 1), zlib.compress(raw)
    return everything, raw
