"""Times of libhdf5 and hdf5plugin for benches/codecs.rs: one chunk through each pipeline, encoded and decoded on one thread.

usage: codecs.py FOLDER

For each line on standard input the next case; what comes back is `name|kind|encode|decode|size|steps`, times in seconds, steps as `id:params` with
commas between parameters and semicolons between steps. `FOLDER/kind.bin` has the values of the chunk; the last line is empty.

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
PATIENCE = 0.35


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
    call()
    least, end = float("inf"), time.perf_counter() + PATIENCE
    while time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - begin)
    return least


def measured(values, options):
    with h5py.File("codecs.h5", "w", driver="core", backing_store=False, rdcc_nbytes=0) as file:
        dataset = file.create_dataset("chunk", shape=values.shape, dtype=values.dtype, chunks=values.shape, **options)
        back = np.empty_like(values)
        encode = best(lambda: dataset.id.write(h5s.ALL, h5s.ALL, values))
        decode = best(lambda: dataset.id.read(h5s.ALL, h5s.ALL, back))
        plist = dataset.id.get_create_plist()
        steps = [plist.get_filter(index) for index in range(plist.get_nfilters())]
        return encode, decode, dataset.id.get_storage_size(), steps


def main():
    chunks = {kind: np.fromfile(f"{sys.argv[1]}/{kind}.bin", dtype) for kind, dtype in KINDS.items()}
    plain = {kind: measured(values, {})[:2] for kind, values in chunks.items()}
    for name, options in cases():
        for kind, values in chunks.items():
            if name == "scaleoffset" and kind == "f32":
                options = dict(scaleoffset=2)
            sys.stdin.readline()
            encode, decode, size, steps = measured(values, options)
            steps = ";".join(f"{step[0]}:{','.join(map(str, step[2]))}" for step in steps)
            times = [max(time - base, 1e-7) for time, base in zip((encode, decode), plain[kind])]
            print(name, kind, *times, size, steps, sep="|", flush=True)
    sys.stdin.readline()
    print(flush=True)


main()
