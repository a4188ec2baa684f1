"""Files made for a purpose: what random ones hardly reach."""

import ctypes
import math
import os
import struct

from . import random_file
from .library import C, UNLIMITED, sizes, space_of
from .types import COMPOUND, Values, any_type, close_file

LATEST = random_file.V200


def create(path, low=LATEST, high=LATEST, settings=()):
    """A file with bounds of versions; settings are calls on its creation properties."""
    access, plist = C.properties("FILE_ACCESS"), C.properties("FILE_CREATE")
    C.H5Pset_libver_bounds(access, low, high)
    C.H5Pset_fclose_degree(access, 3)
    for name, *arguments in settings:
        getattr(C, name)(plist, *arguments)
    return C.H5Fcreate(path.encode(), 2, plist, access)


def chunked(file, name, dims, limits, chunk, *settings, datatype="STD_I16LE"):
    plist = C.properties("DATASET_CREATE")
    C.H5Pset_chunk(plist, len(chunk), sizes(chunk))
    for call, *arguments in settings:
        getattr(C, call)(plist, *arguments)
    return C.H5Dcreate2(file, name, C.known("H5T_" + datatype), space_of(dims, limits), 0, plist, 0)


def write_all(rng, made, count):
    C.H5Dwrite(made, C.known("H5T_NATIVE_INT16"), 0, 0, 0, rng.randbytes(2 * count))


def write_points(rng, made, points):
    """Single elements, far apart."""
    space = C.H5Dget_space(made)
    flat = [at for point in points for at in point]
    C.H5Sselect_elements(space, 0, len(points), sizes(flat))
    memory = C.H5Screate_simple(1, sizes([len(points)]), None)
    C.H5Dwrite(made, C.known("H5T_NATIVE_INT16"), memory, space, 0, rng.randbytes(2 * len(points)))


FILTERS = {b"plain": (), b"deflate": (("H5Pset_deflate", 6),), b"fletcher": (("H5Pset_shuffle",), ("H5Pset_fletcher32",))}


def paged_arrays(rng, path):
    """Fixed and extensible arrays whose blocks have pages, some of which were never written."""
    file = create(path)
    for name, settings in FILTERS.items():
        made = chunked(file, b"fixed " + name, (9000,), None, (2,), *settings)
        write_points(rng, made, [(0,), (2047,), (2048,), (6500,), (8999,)])
        # Rows are far apart: chunks from the eighth row on have numbers above 131,060, where blocks have pages.
        made = chunked(file, b"extensible " + name, (9, 2100), (UNLIMITED, 60_000), (1, 3), *settings)
        write_points(rng, made, [(row, column) for row in range(9) for column in (0, 3, 50, 2099) if (row + column) % 3])
        made = chunked(file, b"more " + name, (30, 4), (UNLIMITED, 20_000), (1, 1), *settings)
        write_points(rng, made, [(row, row % 4) for row in range(0, 30, 2)])
    close_file(file)


def many_chunks(rng, path):
    """Trees and arrays of thousands of chunks."""
    file = create(path)
    for name, settings in FILTERS.items():
        made = chunked(file, b"tree " + name, (80, 90), (UNLIMITED,) * 2, (1, 1), *settings)
        write_all(rng, made, 7200)
        made = chunked(file, b"deep tree " + name, (4,) * 5, (UNLIMITED,) * 5, (1,) * 5, *settings)
        write_all(rng, made, 1024)
        made = chunked(file, b"fixed " + name, (40, 60), None, (1, 1), *settings)
        write_all(rng, made, 2400)
        made = chunked(file, b"extensible " + name, (3, 2500), (3, UNLIMITED), (2, 1), *settings)
        write_all(rng, made, 7500)
        made = chunked(file, b"implicit " + name, (41, 60), (50, 60), (2, 3), ("H5Pset_alloc_time", 1), *settings)
        write_all(rng, made, 41 * 60)
        made = chunked(file, b"single " + name, (41, 60), None, (41, 60), *settings)
        write_all(rng, made, 41 * 60)
    close_file(file)


def old_trees(rng, path):
    """The first kind of B-tree with few children a node: many levels. A superblock of version 1."""
    settings = [("H5Pset_istore_k", 2), ("H5Pset_sym_k", 2, 2)]
    file = create(path, random_file.EARLIEST, LATEST, settings)
    for name, filters in FILTERS.items():
        write_all(rng, chunked(file, b"tree " + name, (30, 40), (UNLIMITED,) * 2, (1, 2), *filters), 1200)
    write_points(rng, chunked(file, b"sparse", (9000,), None, (1,)), [(rng.randrange(9000),) for _ in range(200)])
    group = C.H5Gcreate2(file, b"links", 0, 0, 0)
    for nth in range(500):
        C.H5Lcreate_soft(b"x" * rng.randint(1, 99), group, str(rng.randrange(1 << 60)).encode(), 0, 0)
    close_file(file)


def thousands_of_links(rng, path, low):
    """Groups with so many long names that heaps nest; some names are too long for a block."""
    file = create(path, low)
    for name, order, deflated in [(b"plain", 0, False), (b"ordered", 3, False), (b"deflated", 3, True)]:
        plist = C.properties("GROUP_CREATE")
        C.H5Pset_link_creation_order(plist, order if low == LATEST else 0)
        if deflated and low == LATEST:
            C.H5Pset_deflate(plist, 9)
        group = C.H5Gcreate2(file, name, 0, plist, 0)
        for nth in range(3000):
            length = rng.choice([3, 40, 400]) if nth % 500 else 5000
            label = bytes(rng.choices(b"abcdefgh", k=length)) + str(nth).encode()
            C.H5Lcreate_soft(str(nth).encode(), group, label, 0, 0)
        for nth in range(0, 3000, 7):
            C.H5Lcreate_hard(file, b"/", group, b"hard" + str(nth).encode(), 0, 0)
    close_file(file)


def thousands_of_attributes(rng, path):
    """Dense attributes: managed, huge and filtered ones, by name and by creation order."""
    file = create(path)
    for name, filters in FILTERS.items():
        made = chunked(file, name, (4,), None, (2,), ("H5Pset_attr_creation_order", 3), *filters)
        for nth in range(600):
            count = rng.choice([1, 3, 100]) if nth % 60 else rng.choice([3000, 20_000])
            attribute = C.H5Acreate2(made, f"a{rng.random()}".encode(), C.known("H5T_STD_I32LE"), space_of((count,)), 0, 0)
            C.H5Awrite(attribute, C.known("H5T_STD_I32LE"), rng.randbytes(4) * count)
            C.H5Aclose(attribute)
        for nth in range(0, 600, 3):
            C.H5Adelete_by_idx(made, b".", 0, 0, nth * 2 // 3, 0)
    close_file(file)


def shared_messages(rng, path, trees=False, low=LATEST):
    """One index for each kind of message, or one for all; tiny, managed and huge messages."""
    kinds = random_file.SHARED_KINDS
    settings = [("H5Pset_shared_mesg_nindexes", 5)]
    settings += [("H5Pset_shared_mesg_index", nth, kind, 0) for nth, kind in enumerate(kinds)]
    settings += [("H5Pset_shared_mesg_phase_change", 0, 0) if trees else ("H5Pset_shared_mesg_phase_change", 1000, 900)]
    file = create(path, low, LATEST, settings)
    for nth in range(150):
        datatype = any_type(rng, heap=False)
        plist = C.properties("DATASET_CREATE")
        dims = rng.choice([(3,), (2, 2), (nth + 1,)])
        C.H5Pset_chunk(plist, len(dims), sizes(dims))
        values = Values(rng)
        for call in rng.sample(["H5Pset_shuffle", "H5Pset_fletcher32"], rng.randint(0, 2)):
            getattr(C, call)(plist)
        C.H5Pset_fill_value(plist, datatype, values.one(datatype))
        made = C.H5Dcreate2(file, str(nth).encode(), datatype, space_of(dims), 0, plist, 0)
        if nth % 2:
            C.H5Dwrite(made, datatype, 0, 0, 0, values.several(datatype, math.prod(dims)))
        for name in (b"one", b"two", b"one of several thousand bytes")[: rng.randint(0, 3)]:
            of = space_of(rng.choice([(), (2,), (900,) if len(name) > 9 else ()]))
            attribute = C.H5Acreate2(made, name, datatype, of, 0, 0)
            # Equal attributes are stored once.
            C.H5Awrite(attribute, datatype, bytes([nth % 3]) * (C.H5Tget_size(datatype) * C.H5Sget_simple_extent_npoints(of)))
            C.H5Aclose(attribute)
        C.H5Dclose(made)
    close_file(file)


def odd_numbers(rng, path):
    """Integers of every size and floats of many, whole and with padding; as stored and packed by n-bit."""
    file = create(path)
    for size in range(1, 21):
        for order in ("LE", "BE"):
            for precision in (8 * size, max(1, 8 * size - 3), max(1, 4 * size + 1)):
                datatype = C.H5Tcopy(C.known("H5T_STD_I8" + order))
                C.H5Tset_size(datatype, size)
                C.H5Tset_precision(datatype, precision)
                C.H5Tset_offset(datatype, rng.randint(0, 8 * size - precision))
                C.H5Tset_sign(datatype, rng.randint(0, 1))
                for packed in (False, True):
                    plist = C.properties("DATASET_CREATE")
                    if packed:
                        C.H5Pset_chunk(plist, 1, sizes([7]))
                        C.H5Pset_nbit(plist)
                    name = f"{size} {order} {precision} {packed}".encode()
                    made = random_file.attempt(C.H5Dcreate2, file, name, datatype, space_of((20,)), 0, plist, 0)
                    if made is not None:
                        C.H5Dwrite(made, datatype, 0, 0, 0, rng.randbytes(20 * size))
    close_file(file)


def widths(rng, path, offsets, lengths, low):
    """Addresses and lengths of other widths, met by every structure that has some."""
    file = create(path, low, LATEST, [("H5Pset_sizes", offsets, lengths)])
    count = 12 if offsets > 2 else 4
    for name, filters in FILTERS.items():
        for kind, limits in [(b"f", None), (b"e", (UNLIMITED, 5)), (b"b", (UNLIMITED,) * 2)]:
            write_all(rng, chunked(file, kind + name, (count, 5), limits, (3, 2), *filters), 5 * count)
        write_all(rng, chunked(file, b"s" + name, (count, 5), None, (count, 5), *filters), 5 * count)
    targets = [(file, b"f" + name, (count, 5), None) for name in FILTERS]
    for nth in range(10 if offsets > 2 else 3):
        datatype = any_type(rng, references=True)
        made = C.H5Dcreate2(file, f"any {nth}".encode(), datatype, space_of((3,)), 0, 0, 0)
        values = Values(rng, targets)
        C.H5Dwrite(made, datatype, 0, 0, 0, values.several(datatype, 3))
        attribute = C.H5Acreate2(made, b"same", datatype, space_of((2,)), 0, 0)
        C.H5Awrite(attribute, datatype, values.several(datatype, 2))
        C.H5Aclose(attribute)
    group = C.H5Gcreate2(file, b"group", 0, 0, 0)
    for nth in range(40 if offsets > 2 else 9):
        C.H5Lcreate_soft(b"nowhere", group, f"link {nth}".encode(), 0, 0)
        attribute = C.H5Acreate2(group, f"attribute {nth}".encode(), C.known("H5T_STD_I32BE"), space_of(()), 0, 0)
        C.H5Awrite(attribute, C.known("H5T_STD_I32BE"), rng.randbytes(4))
        C.H5Aclose(attribute)
    close_file(file)


def virtual(rng, path):
    """Virtual datasets with fixed mappings, from this file and from another."""
    other = create(path + "-source.h5")
    write_all(rng, chunked(other, b"a", (10, 10), None, (3, 3)), 100)
    C.H5Fclose(other)
    file = create(path)
    write_all(rng, chunked(file, b"b", (6, 8), None, (4, 4), ("H5Pset_deflate", 4)), 48)
    for name, fill in [(b"virtual", 0x1234), (b"again", -5)]:
        plist = C.properties("DATASET_CREATE")
        C.H5Pset_layout(plist, 3)
        C.H5Pset_fill_value(plist, C.known("H5T_STD_I16LE"), struct.pack("<h", fill))
        for source, of, dims, start in [
            (os.path.basename(path).encode() + b"-source.h5", b"a", (10, 10), (0, 0)),
            (b".", b"/b", (6, 8), (11, 1)),
            (b"missing.h5", b"a", (2, 2), (16, 10)),
        ]:
            target, origin = space_of((18, 12)), space_of(dims)
            boxes = [sizes(values) for values in (start, (1, 1), dims)]
            C.H5Sselect_hyperslab(target, 0, boxes[0], None, boxes[1], boxes[2])
            C.H5Pset_virtual(plist, target, source, of, origin)
        C.H5Dcreate2(file, name, C.known("H5T_STD_I16LE"), space_of((18, 12)), 0, plist, 0)
    close_file(file)


def long_chunks(rng, path):
    """Chunks stored with more bytes than they need, filters left out or not."""
    file = create(path)
    for name, settings in [(b"deflate", FILTERS[b"deflate"]), (b"both", FILTERS[b"fletcher"] + FILTERS[b"deflate"])]:
        made = chunked(file, name, (40,), (UNLIMITED,), (20,), *settings)
        write_all(rng, made, 40)
        content = rng.randbytes(40 + 9)
        C.H5Dwrite_chunk(made, 0, 7, sizes([20]), len(content), content)
    close_file(file)


def nested_references(rng, path):
    """References of all kinds inside of sequences, arrays and compounds."""
    file = create(path)
    write_all(rng, chunked(file, b"target", (5, 5), None, (2, 2)), 25)
    attribute = C.H5Acreate2(file, b"attribute", C.known("H5T_STD_I8LE"), space_of(()), 0, 0)
    C.H5Aclose(attribute)
    targets = [(file, b"target", (5, 5), None), (file, b".", None, b"attribute")]

    def vlen(base):
        return C.H5Tvlen_create(base)

    def array(base):
        return C.H5Tarray_create2(base, 1, sizes([2]))

    def compound(base):
        made = C.H5Tcreate(COMPOUND, C.H5Tget_size(base) + 3)
        C.H5Tinsert(made, b"m", 3, base)
        return made

    for kind in ("", "_OBJ", "_DSETREG"):
        for outer in (vlen, array, compound):
            for inner in (None, vlen, array, compound):
                datatype = C.known("H5T_STD_REF" + kind)
                datatype = outer(inner(datatype) if inner else datatype)
                name = f"{kind} {outer.__name__} {inner and inner.__name__}".encode()
                made = C.H5Dcreate2(file, name, datatype, space_of((6,)), 0, 0, 0)
                values = Values(rng, targets)
                C.H5Dwrite(made, datatype, 0, 0, 0, values.several(datatype, 6))
                C.H5Dclose(made)
    close_file(file)


def cache_image(rng, path):
    """Metadata that lies in an image of the metadata cache and nowhere else."""
    access = C.properties("FILE_ACCESS")
    C.H5Pset_libver_bounds(access, LATEST, LATEST)
    C.H5Pset_fclose_degree(access, 3)
    C.H5Pset_mdc_image_config(access, struct.pack("<i??xxi", 1, True, False, -1))
    file = C.H5Fcreate(path.encode(), 2, 0, access)
    # libhdf5 2.0 cannot read back an image with extensible arrays or dense links.
    for name, filters in FILTERS.items():
        write_all(rng, chunked(file, b"fixed " + name, (20, 5), None, (3, 2), *filters), 100)
        write_all(rng, chunked(file, b"tree " + name, (20, 5), (UNLIMITED,) * 2, (3, 2), *filters), 100)
    close_file(file)


def rank_32(rng, path):
    """As many dimensions as there can be, in all layouts."""
    file = create(path, rng.choice([random_file.EARLIEST, LATEST]))
    dims = [1] * 32
    for nth in rng.sample(range(32), 6):
        dims[nth] = 3
    for name, limits in [(b"fixed", None), (b"one", [UNLIMITED] + dims[1:]), (b"all", [UNLIMITED] * 32)]:
        write_all(rng, chunked(file, name, tuple(dims), limits, [min(2, dim) for dim in dims]), 3**6)
    write_all(rng, C.H5Dcreate2(file, b"whole", C.known("H5T_STD_I16LE"), space_of(tuple(dims)), 0, 0, 0), 3**6)
    close_file(file)


RECIPES = {
    "paged arrays": paged_arrays,
    "many chunks": many_chunks,
    "old trees": old_trees,
    "thousands of links": lambda rng, path: thousands_of_links(rng, path, LATEST),
    "thousands of old links": lambda rng, path: thousands_of_links(rng, path, random_file.EARLIEST),
    "thousands of attributes": thousands_of_attributes,
    "shared messages in lists": shared_messages,
    "shared messages in trees": lambda rng, path: shared_messages(rng, path, trees=True),
    "shared messages of old versions": lambda rng, path: shared_messages(rng, path, low=random_file.EARLIEST),
    "odd numbers": odd_numbers,
    "virtual": virtual,
    "cache image": cache_image,
    "rank 32": rank_32,
    "nested references": nested_references,
    "long chunks": long_chunks,
}
for of in (2, 4, 8):
    for length in (2, 4, 8):
        # Heaps of the newer kind do not work with lengths of 2 bytes.
        for low in (random_file.EARLIEST, random_file.V110, LATEST)[: 1 if length == 2 else 3]:
            RECIPES[f"widths {of} {length} {low}"] = lambda rng, path, args=(of, length, low): widths(rng, path, *args)
