"""Makes the seeds: small files that between them hold every structure of the format.

    target/venv/bin/python hostile/seeds/make.py

The files are kept beside this script, so that tests need no Python. Made again they differ only in times.
"""

import ctypes
import glob
import os
import sys

import h5py
import hdf5plugin
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
LIBS = os.path.join(os.path.dirname(h5py.__file__), os.pardir, "h5py.libs", "libhdf5-*.so*")
LIB = ctypes.CDLL(glob.glob(LIBS)[0])


def create(name, libver="earliest", userblock=0, widths=None, symbols=None, tree=None, space=None):
    """A new file; `symbols` and `tree` are the K of old groups and of chunk trees: small ones make deep trees."""
    fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    if userblock:
        fcpl.set_userblock(userblock)
    if widths:
        fcpl.set_sizes(*widths)
    if symbols:
        LIB.H5Pset_sym_k(ctypes.c_int64(fcpl.id), *symbols)
    if tree:
        LIB.H5Pset_istore_k(ctypes.c_int64(fcpl.id), tree)
    if space is not None:
        fcpl.set_file_space_strategy(space, True, 1)
        fcpl.set_file_space_page_size(512)
    fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    bound = {"earliest": h5py.h5f.LIBVER_EARLIEST, "v110": h5py.h5f.LIBVER_V110, "latest": h5py.h5f.LIBVER_LATEST}
    fapl.set_libver_bounds(bound[libver], h5py.h5f.LIBVER_LATEST)
    # Metadata in small blocks: less of a small file is padding.
    fapl.set_alignment(1, 1)
    LIB.H5Pset_meta_block_size(ctypes.c_int64(fapl.id), ctypes.c_uint64(256))
    LIB.H5Pset_small_data_block_size(ctypes.c_int64(fapl.id), ctypes.c_uint64(256))
    path = os.path.join(HERE, name).encode()
    return h5py.File(h5py.h5f.create(path, h5py.h5f.ACC_TRUNC, fcpl, fapl))


def old_groups():
    with create("old-groups.h5", symbols=(2, 1)) as file:
        deep = file.create_group("a/b/c")
        deep["up"] = file["a"]
        file["soft"] = h5py.SoftLink("/a/b/c")
        file["loop"] = h5py.SoftLink("loop")
        for number in range(20):
            file["many/%02d" % number] = file["a"]
        file["a"].attrs["one"] = np.int32(7)
        h5py.h5o.set_comment(file["a"].id, b"said of it")
        file.create_dataset("scalar", data=np.float64(1.5))
        file.create_dataset("empty", data=h5py.Empty("i4"))


def old_chunks():
    with create("old-chunks.h5", tree=1) as file:
        data = np.arange(60, dtype="i4").reshape(10, 6)
        file.create_dataset("tree", data=data, chunks=(3, 4), maxshape=(None, 20))
        file.create_dataset("coded", data=data, chunks=(3, 4), shuffle=True, compression="gzip", fletcher32=True)
        file.create_dataset("holes", shape=(1 << 40,), chunks=(4,), dtype="i2", fillvalue=7)
        file["holes"][1 << 33] = 3
        file.create_dataset("vast", shape=(1 << 47,), dtype="i8")
        file.create_dataset("plain", data=data)
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_layout(h5py.h5d.COMPACT)
        compact = h5py.h5d.create(file.id, b"compact", h5py.h5t.STD_I16BE, h5py.h5s.create_simple((5,)), dcpl)
        compact.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(5, dtype="i2"))
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_external(b"absent.bin", 0, 40)
        h5py.h5d.create(file.id, b"external", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((10,)), dcpl)


def small_widths():
    with create("small-widths.h5", userblock=512, widths=(4, 4)) as file:
        file["group/data"] = np.arange(6, dtype="u2")
        file["group"].attrs.create("text", "vlen", dtype=h5py.string_dtype())
        file.create_dataset("chunks", data=np.arange(9), chunks=(2,), compression="gzip")


def old_types():
    with create("old-types.h5") as file:
        file["text"] = np.array(["a", "bcd", ""], dtype=h5py.string_dtype())
        ragged = file.create_dataset("ragged", (3,), dtype=h5py.vlen_dtype("i4"))
        ragged[0] = [1, 2, 3]
        ragged[2] = [4]
        nested = h5py.h5t.vlen_create(h5py.h5t.vlen_create(h5py.h5t.STD_I16LE))
        h5py.h5d.create(file.id, b"nested", nested, h5py.h5s.create_simple((2,)))
        pair = np.dtype([("x", "f4"), ("inner", [("n", "i2"), ("t", "S3")]), ("grid", "u1", (2, 2))])
        file["pairs"] = np.zeros(3, pair)
        file["named"] = pair
        file.create_dataset("typed", data=np.ones(2, pair), dtype=file["named"])
        file["colors"] = np.array([0, 1], dtype=h5py.enum_dtype({"red": 0, "blue": 1}, "i1"))
        file["opaque"] = np.void(b"\x01\x02\x03")
        file["half"] = np.array([1.5], "f2")
        file["bits"] = np.array([True, False])
        references = file.create_dataset("objects", (2,), dtype=h5py.ref_dtype)
        references[0] = file["text"].ref
        regions = file.create_dataset("regions", (2,), dtype=h5py.regionref_dtype)
        regions[0] = file["pairs"].regionref[1:3]
        file.attrs["compound"] = np.zeros(1, pair)
        file.attrs["reference"] = file["text"].ref


def dense(name, libver):
    with create(name, libver) as file:
        gcpl = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
        gcpl.set_link_creation_order(h5py.h5p.CRT_ORDER_TRACKED | h5py.h5p.CRT_ORDER_INDEXED)
        LIB.H5Pset_link_phase_change(ctypes.c_int64(gcpl.id), 0, 0)
        group = h5py.Group(h5py.h5g.create(file.id, b"dense", gcpl=gcpl))
        for number in range(60):
            group["link %d" % number] = h5py.SoftLink("/target %d" % number)
        group["outside"] = h5py.ExternalLink("absent.h5", "/there")
        group["here"] = file["/"]
        compact = file.create_group("compact", track_order=True)
        compact["there"] = h5py.SoftLink("/dense")
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_attr_creation_order(h5py.h5p.CRT_ORDER_TRACKED | h5py.h5p.CRT_ORDER_INDEXED)
        LIB.H5Pset_attr_phase_change(ctypes.c_int64(dcpl.id), 0, 0)
        holder = h5py.h5d.create(file.id, b"holder", h5py.h5t.STD_I8LE, h5py.h5s.create_simple((1,)), dcpl)
        attributes = h5py.Dataset(holder).attrs
        for number in range(30):
            attributes["attribute %d" % number] = np.arange(number % 5 * 4, dtype="i4")
        attributes["huge"] = np.zeros(1200, "i4")


def filtered_heap():
    with create("filtered-heap.h5", "latest") as file:
        gcpl = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
        LIB.H5Pset_link_phase_change(ctypes.c_int64(gcpl.id), 0, 0)
        LIB.H5Pset_deflate(ctypes.c_int64(gcpl.id), 6)
        group = h5py.Group(h5py.h5g.create(file.id, b"dense", gcpl=gcpl))
        for number in range(40):
            group["link %d" % number] = h5py.SoftLink("/target %d" % number)


def indexes(name, libver):
    with create(name, libver) as file:
        data = np.arange(60, dtype="u2").reshape(10, 6)
        for suffix, coding in (("", {}), (" coded", {"compression": "gzip"})):
            file.create_dataset("single" + suffix, data=data, chunks=(10, 6), **coding)
            file.create_dataset("fixed" + suffix, data=data, chunks=(3, 4), **coding)
            file.create_dataset("growing" + suffix, data=data, chunks=(1, 1), maxshape=(None, 6), **coding)
            file.create_dataset("both ways" + suffix, data=data, chunks=(3, 4), maxshape=(None, None), **coding)
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk((3, 4))
        dcpl.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        dcpl.set_fill_value(np.array(9, "u2"))
        h5py.h5d.create(file.id, b"implicit", h5py.h5t.STD_U16LE, h5py.h5s.create_simple((10, 6)), dcpl)


def pages():
    with create("pages.h5", "v110") as file:
        fixed = file.create_dataset("fixed", (2100,), "u1", chunks=(1,), fillvalue=5)
        fixed[1030] = 1
        growing = file.create_dataset("growing", (140_000,), "u1", chunks=(1,), maxshape=(None,))
        growing[139_000] = 1


def free_space(name, strategy):
    """Free sections of several sizes that are kept in the file."""
    with create(name, "v110", space=strategy) as file:
        for number in range(6):
            file.create_dataset("%d" % number, data=np.arange(20 << number, dtype="u1"))
            file.create_group("group %d" % number).attrs["text"] = "t" * 40 * number
        file.create_dataset("packed", data=np.zeros((8, 8)), chunks=(4, 4), compression="gzip", maxshape=(None, 8))
    with h5py.File(os.path.join(HERE, name), "r+") as file:
        for number in range(0, 6, 2):
            del file["%d" % number], file["group %d" % number]


def virtual():
    with create("virtual.h5", "v110") as file:
        for number in range(3):
            file["source %d" % number] = np.arange(4, dtype="i4") + number
        layout = h5py.VirtualLayout((3, 4), "i4")
        for number in range(3):
            layout[number] = h5py.VirtualSource(".", "source %d" % number, (4,))
        file.create_virtual_dataset("joined", layout, fillvalue=-1)
        layout = h5py.VirtualLayout((3, 4), "i8")
        layout[0:2] = h5py.VirtualSource(".", "joined", (3, 4))[0:2]
        layout[2] = h5py.VirtualSource(".", "absent", (4,))
        file.create_virtual_dataset("nested", layout)


def growing_virtual():
    with create("growing-virtual.h5", "v110") as file:
        for number in range(2):
            file.create_dataset("source %d" % number, data=np.arange(5.0), maxshape=(None,), chunks=(5,))
        layout = h5py.VirtualLayout((5, 2), "f8", maxshape=(None, 2))
        for number in range(2):
            source = h5py.VirtualSource(".", "source %d" % number, (5,), maxshape=(None,))
            layout[0 : h5py.h5s.UNLIMITED : 1, number] = source[0 : h5py.h5s.UNLIMITED : 1]
        file.create_virtual_dataset("growing", layout)


def shared_messages():
    fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    handle = ctypes.c_int64(fcpl.id)
    LIB.H5Pset_shared_mesg_nindexes(handle, 2)
    LIB.H5Pset_shared_mesg_index(handle, 0, 0x0B, 20)  # spaces, types, fill values
    LIB.H5Pset_shared_mesg_index(handle, 1, 0x10, 20)  # attributes
    LIB.H5Pset_shared_mesg_phase_change(handle, 2, 1)
    fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    fapl.set_libver_bounds(h5py.h5f.LIBVER_LATEST, h5py.h5f.LIBVER_LATEST)
    path = os.path.join(HERE, "shared-messages.h5").encode()
    with h5py.File(h5py.h5f.create(path, h5py.h5f.ACC_TRUNC, fcpl, fapl)) as file:
        kind = np.dtype([("first", "i4"), ("second", "f8")])
        for number in range(4):
            dataset = file.create_dataset("data %d" % number, data=np.zeros((2, 3), kind))
            dataset.attrs["note"] = np.arange(10)


def filters():
    with create("filters.h5", "v110") as file:
        data = (np.arange(64) // 5 % 7).astype("i4")

        def dataset(name, **coding):
            file.create_dataset(name, data=data, chunks=(64,), **coding)

        dataset("lzf", compression="lzf")
        dataset("scaleoffset", scaleoffset=0)
        dataset("szip", compression="szip", compression_opts=("nn", 8))
        dataset("blosc", **hdf5plugin.Blosc(cname="lz4", shuffle=1))
        dataset("blosc blosclz", **hdf5plugin.Blosc(cname="blosclz", shuffle=2))
        dataset("blosc2", **hdf5plugin.Blosc2(cname="zstd", filters=1))
        dataset("bitshuffle", **hdf5plugin.Bitshuffle(cname="lz4"))
        dataset("zstd", **hdf5plugin.Zstd())
        dataset("lz4", **hdf5plugin.LZ4())
        dataset("bzip2", **hdf5plugin.BZip2())
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk((64,))
        LIB.H5Pset_nbit(ctypes.c_int64(dcpl.id))
        narrow = h5py.h5t.STD_I32LE.copy()
        narrow.set_precision(5)
        nbit = h5py.h5d.create(file.id, b"nbit", narrow, h5py.h5s.create_simple((64,)), dcpl)
        nbit.write(h5py.h5s.ALL, h5py.h5s.ALL, data)


def main():
    old_groups()
    old_chunks()
    small_widths()
    old_types()
    dense("dense.h5", "latest")
    dense("dense-old.h5", "earliest")
    filtered_heap()
    indexes("indexes.h5", "latest")
    indexes("indexes-v110.h5", "v110")
    pages()
    free_space("free-space.h5", h5py.h5f.FSPACE_STRATEGY_FSM_AGGR)
    free_space("free-pages.h5", h5py.h5f.FSPACE_STRATEGY_PAGE)
    virtual()
    growing_virtual()
    shared_messages()
    filters()
    total = 0
    for path in sorted(glob.glob(os.path.join(HERE, "*.h5"))):
        total += os.path.getsize(path)
        print("%8d %s" % (os.path.getsize(path), os.path.basename(path)))
    print("%8d bytes in all" % total)
    return 0


if __name__ == "__main__":
    sys.exit(main())
