"""Random datasets: every layout, chunk index, filter and fill value, written whole, in part or not at all."""

import ctypes
import math

from . import filters
from .library import C, UNLIMITED, Refused, sizes, space_of
from .types import FLOAT, INTEGER, REFERENCE, VLEN, Values, any_type, has_class, plain_number

COMPACT, CONTIGUOUS, CHUNKED, VIRTUAL = range(4)
EARLY, LATE, INCREMENTAL = 1, 2, 3
MOST_BYTES = 40_000
DONT_FILTER_PARTIAL_CHUNKS = 2


def any_dataset(rng, place, name, targets, external):
    """Makes a dataset; one that libhdf5 refuses is made again from other numbers. External files begin with external."""
    for _ in range(20):
        try:
            return attempt(rng, place, name, targets, external)
        except Refused:
            if C.H5Lexists(place, name, 0):
                C.H5Ldelete(place, name, 0)
    raise Refused("any dataset")


def attempt(rng, place, name, targets, external):
    layout = rng.choice([COMPACT, CONTIGUOUS] + [CHUNKED] * 6)
    datatype = plain_number(rng) if rng.random() < 0.35 else any_type(rng, references=True)
    dims = any_shape(rng, C.H5Tget_size(datatype))
    plist = C.properties("DATASET_CREATE")
    limits, chunk, pipeline = None, None, []
    if not dims:
        layout = CONTIGUOUS if rng.random() < 0.5 else COMPACT
    C.H5Pset_layout(plist, layout)
    if layout == CHUNKED:
        limits, chunk = any_limits(rng, dims), any_chunk(rng, dims)
        C.H5Pset_chunk(plist, len(chunk), sizes(chunk))
        if rng.random() < 0.6:
            pipeline = filters.add_filters(rng, plist, datatype)
        if rng.random() < 0.2:
            C.H5Pset_chunk_opts(plist, DONT_FILTER_PARTIAL_CHUNKS)
    any_fill(rng, plist, datatype, layout)
    if layout == CONTIGUOUS and dims and 0 not in dims and not has_class(datatype, (VLEN, REFERENCE)) and rng.random() < 0.3:
        add_external(rng, plist, math.prod(dims) * C.H5Tget_size(datatype), external)
    C.H5Pset_obj_track_times(plist, rng.randint(0, 1))
    C.H5Pset_attr_creation_order(plist, rng.choice([0, 1, 3]))
    made = C.H5Dcreate2(place, name, datatype, space_of(dims, limits), 0, plist, 0)
    write(rng, made, datatype, dims, limits, chunk, pipeline, targets)
    # Only now are filters asked whether they can.
    C.H5Dclose(made)
    return C.H5Dopen2(place, name, 0), dims


def any_shape(rng, size):
    kind = rng.random()
    if kind < 0.04:
        return None
    if kind < 0.1:
        return ()
    rank = rng.choice([1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 8, 16, 32])
    most = max(1, MOST_BYTES // size)
    dims = []
    for _ in range(rank):
        room = most // max(1, math.prod(dims))
        dims.append(rng.randint(1, max(1, min(room, [3000, 90, 30, 12, 7, 4][min(rank, 6) - 1]))))
    if rng.random() < 0.06:
        dims[rng.randrange(rank)] = 0
    rng.shuffle(dims)
    return tuple(dims)


def any_limits(rng, dims):
    """As large as now, somewhat larger, or unlimited, so that each chunk index has its turn."""
    kind = rng.random()
    if kind < 0.35:
        return [max(1, dim) for dim in dims]
    # An array has room for all chunks that there may ever be.
    if kind < 0.5 and len(dims) <= 3:
        return [dim + rng.randint(1, 9) for dim in dims]
    unlimited = rng.sample(range(len(dims)), 1 if kind < 0.75 else rng.randint(1, len(dims)))
    more = 3 if len(dims) <= 3 else 0
    return [UNLIMITED if nth in unlimited else max(1, dim + rng.randint(0, more)) for nth, dim in enumerate(dims)]


def any_chunk(rng, dims):
    """From many small chunks to one that is larger than the dataset; sometimes just the dataset."""
    if rng.random() < 0.15:
        return [max(1, dim) for dim in dims]
    chunk = [rng.choice([1, 2, 3, max(1, dim // 2), dim + 2]) for dim in dims]
    # A chunk that is all border is cheap here, but not if it is large.
    while math.prod(chunk) > 4 * max(64, math.prod(dims)):
        chunk[rng.randrange(len(chunk))] = 1
    while math.prod(-(-dim // size) for dim, size in zip(dims, chunk)) > 1500:
        nth = rng.randrange(len(chunk))
        chunk[nth] = max(1, dims[nth])
    return chunk


def any_fill(rng, plist, datatype, layout):
    kind = rng.random()
    if kind < 0.2:
        C.H5Pset_fill_value(plist, datatype, None)
    elif kind < 0.6 and not has_class(datatype, (REFERENCE,)):
        values = Values(rng)
        C.H5Pset_fill_value(plist, datatype, values.one(datatype))
    if layout != COMPACT:
        C.H5Pset_alloc_time(plist, rng.choice([0, EARLY, LATE, INCREMENTAL] if layout == CHUNKED else [0, EARLY, LATE]))
    # libhdf5 needs a defined fill value to write it.
    C.H5Pset_fill_time(plist, rng.choice([1, 2] if kind < 0.2 or has_class(datatype, (VLEN,)) else [0, 1, 2, 2]))


def add_external(rng, plist, size, external):
    """One to three files; the last may have no limit."""
    cuts = sorted(rng.randint(0, size) for _ in range(rng.randint(0, 2)))
    bounds = [0, *cuts, size]
    for nth, (begin, end) in enumerate(zip(bounds, bounds[1:])):
        last = nth == len(bounds) - 2
        length = UNLIMITED - (1 << 64) if last and rng.random() < 0.5 else max(1, end - begin) + last
        C.H5Pset_external(plist, f"{external}-{rng.randrange(1 << 30)}.raw".encode(), rng.choice([0, 5]), length)


def write(rng, made, datatype, dims, limits, chunk, pipeline, targets):
    if dims is None or 0 in dims:
        return
    values = Values(rng, targets)
    how = rng.random()
    if how < 0.15:
        return
    if how < 0.3 and dims:
        write_part(rng, made, datatype, dims, values)
    else:
        C.H5Dwrite(made, datatype, 0, 0, 0, tame(rng, datatype, values, math.prod(dims)))
    if pipeline and not has_class(datatype, (VLEN, REFERENCE)) and rng.random() < 0.3:
        write_chunks(rng, made, C.H5Tget_size(datatype), dims, chunk, pipeline)
    if chunk and limits and rng.random() < 0.2:
        resize(rng, made, dims, limits)


def tame(rng, datatype, values, count):
    """Numbers that grow slowly, where the type is a plain number; scale-offset needs such. Else any values."""
    size, kind = C.H5Tget_size(datatype), C.H5Tget_class(datatype)
    if kind in (INTEGER, FLOAT) and size in (4, 8) and rng.random() < 0.7:
        native = C.known("H5T_NATIVE_INT32" if kind == INTEGER else "H5T_NATIVE_DOUBLE")
        room = ctypes.create_string_buffer(8 * count)
        steps = [rng.randint(-3, 9) for _ in range(7)]
        ramp = [nth * 2 + steps[nth % 7] for nth in range(count)]
        kind = ctypes.c_int32 if kind == INTEGER else ctypes.c_double
        content = bytes((kind * count)(*ramp))
        ctypes.memmove(room, content, len(content))
        try:
            C.H5Tconvert(native, datatype, count, room, None, 0)
            return room.raw[: size * count]
        except Refused:
            pass
    return values.several(datatype, count)


def write_part(rng, made, datatype, dims, values):
    """A few boxes of it."""
    for _ in range(rng.randint(1, 3)):
        start = [rng.randrange(dim) for dim in dims]
        block = [rng.randint(1, dim - at) for dim, at in zip(dims, start)]
        space = C.H5Dget_space(made)
        C.H5Sselect_hyperslab(space, 0, sizes(start), None, sizes([1] * len(dims)), sizes(block))
        memory = C.H5Screate_simple(len(dims), sizes(block), None)
        C.H5Dwrite(made, datatype, memory, space, 0, values.several(datatype, math.prod(block)))


def write_chunks(rng, made, size, dims, chunk, pipeline):
    """Some chunks as they are, with filters left out."""
    for _ in range(rng.randint(1, 3)):
        start = [rng.randrange(-(-dim // length)) * length for dim, length in zip(dims, chunk)]
        raw = rng.randbytes(4) * (math.prod(chunk) * size // 4 + 1)
        mask, content = filters.skipped(rng, pipeline, raw[: math.prod(chunk) * size])
        C.H5Dwrite_chunk(made, 0, mask, sizes(start), len(content), content)


def resize(rng, made, dims, limits):
    """Smaller, then perhaps larger: what was cut off must not come back."""
    smaller = [rng.randint(1, dim) for dim in dims]
    C.H5Dset_extent(made, sizes(smaller))
    if rng.random() < 0.7:
        more = 5 if len(dims) <= 4 else 0
        larger = [min(limit, dim + rng.randint(0, more)) for dim, limit in zip(smaller, limits)]
        C.H5Dset_extent(made, sizes(larger))
