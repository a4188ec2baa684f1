"""Times of libhdf5 and hdf5plugin for benches/codecs.rs: one chunk through each pipeline, encoded and decoded on one thread.

usage: codecs.py FOLDER [NAME ...]

Only cases whose name contains one of the names, or all. For each line on standard input one line comes back. For each case that is at first
`name|kind|size|steps`, steps as `id:params` with commas between parameters and semicolons between steps; then, for lines that say `turn`, `encode|decode`,
the time that the thread worked in seconds; the next line that says `next` ends the case. After the last case the line is empty.
`FOLDER/kind.bin` has the values of the chunk.

A chunk goes through `H5Dwrite` and `H5Dread` of a dataset of one chunk in memory. There is no chunk cache, so that each call runs the filters; what
the same calls take without filters is subtracted. The best of many calls counts.
"""

import sys
import time

import h5py
import hdf5plugin
import numpy as np
from h5py import h5s

KINDS = {"u16": "<u2", "f32": "<f4"}
PATIENCE = 0.06


def cases():
    plugin = hdf5plugin
    yield "shuffle", dict(shuffle=True)
    yield "fletcher32", dict(fletcher32=True)
    yield "shuffle, deflate 4", dict(shuffle=True, compression="gzip", compression_opts=4)
    yield "shuffle, lzf", dict(shuffle=True, compression="lzf")
    yield "szip nn 16", dict(compression="szip", compression_opts=("nn", 16))
    yield "szip ec 8", dict(compression="szip", compression_opts=("ec", 8))
    yield "scaleoffset", dict(scaleoffset=True)
    yield "lz4", plugin.LZ4()
    yield "zstd 3", plugin.Zstd(3)
    yield "shuffle, bzip2 9", dict(shuffle=True, **plugin.BZip2(9))
    yield "bitshuffle", plugin.Bitshuffle(cname="none")
    yield "bitshuffle, lz4", plugin.Bitshuffle(cname="lz4")
    yield "bitshuffle, zstd 3", plugin.Bitshuffle(cname="zstd", clevel=3)
    for name in ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"):
        yield f"blosc {name} 5, shuffle", plugin.Blosc(cname=name, clevel=5, shuffle=1)
    yield "blosc lz4 5, bitshuffle", plugin.Blosc(cname="lz4", clevel=5, shuffle=2)
    for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        yield f"blosc2 {name} 5, shuffle", plugin.Blosc2(cname=name, clevel=5, filters=1)
    yield "blosc2 zstd 3, bitshuffle", plugin.Blosc2(cname="zstd", clevel=3, filters=2)


def best(call):
    """The least time of a call."""
    least, end = float("inf"), time.perf_counter() + PATIENCE
    while time.perf_counter() < end or least == float("inf"):
        begin = time.thread_time_ns()
        call()
        least = min(least, time.thread_time_ns() - begin)
    return least / 1e9


class Case:
    """A dataset of one chunk in memory."""

    def __init__(self, values, options):
        self.values, self.back = values, np.empty_like(values)
        self.file = h5py.File(f"{id(self)}.h5", "w", driver="core", backing_store=False, rdcc_nbytes=0)
        self.dataset = self.file.create_dataset("chunk", shape=values.shape, dtype=values.dtype, chunks=values.shape, **options)
        self.dataset.id.write(h5s.ALL, h5s.ALL, values)

    def times(self):
        encode = best(lambda: self.dataset.id.write(h5s.ALL, h5s.ALL, self.values))
        return encode, best(lambda: self.dataset.id.read(h5s.ALL, h5s.ALL, self.back))

    def facts(self):
        plist = self.dataset.id.get_create_plist()
        steps = [plist.get_filter(index) for index in range(plist.get_nfilters())]
        steps = ";".join(f"{step[0]}:{','.join(map(str, step[2]))}" for step in steps)
        return f"{self.dataset.id.get_storage_size()}|{steps}"


def main():
    folder, *names = sys.argv[1:]
    chunks = {kind: np.fromfile(f"{folder}/{kind}.bin", dtype).reshape(512, -1) for kind, dtype in KINDS.items()}
    plain = {kind: Case(values, {}) for kind, values in chunks.items()}
    sys.stdin.readline()
    for name, options in cases():
        if names and not any(part in name for part in names):
            continue
        for kind, values in chunks.items():
            if name == "scaleoffset" and kind == "f32":
                options = dict(scaleoffset=2)
            case = Case(values, options)
            print(name, kind, case.facts(), sep="|", flush=True)
            while sys.stdin.readline() == "turn\n":
                times = [max(with_filters - without, 1e-7) for with_filters, without in zip(case.times(), plain[kind].times())]
                print(*times, sep="|", flush=True)
            case.file.close()
    print(flush=True)


main()
