"""libhdf5's part in programs that change files, for tests/changes.rs.

Reads and answers lines of questions as oracle.py does. What an operation means is written down in src/changes/operation.rs.
"""

import hashlib
import json
import traceback

import h5py
import numpy as np
from h5py import h5a, h5d, h5f, h5o, h5p, h5r, h5s, h5t
from oracle import load_libhdf5, serve

LIBRARY = load_libhdf5()
DONT_FILTER_PARTIAL_CHUNKS = 2
TEXT = h5py.string_dtype()
DTYPES = {
    "i1": np.dtype("i1"),
    "u2": np.dtype("<u2"),
    "i4": np.dtype("<i4"),
    "i4be": np.dtype(">i4"),
    "i8": np.dtype("<i8"),
    "f4": np.dtype("<f4"),
    "f8": np.dtype("<f8"),
    "fixed": np.dtype("S8"),
    "text": TEXT,
    "list": h5py.vlen_dtype(np.dtype("<i4")),
    "truth": np.dtype("?"),
    "pair": np.dtype([("a", "<i4"), ("b", "<f8")]),
    "note": np.dtype([("n", "<i8"), ("text", TEXT)]),
    "sky": h5py.enum_dtype({"CLEAR": 0, "CLOUDY": 7}, basetype="u1"),
    "array": np.dtype(("<i2", (3,))),
    "reference": h5py.ref_dtype,
}
TYPES = {kind: h5t.py_create(dtype, logical=True) for kind, dtype in DTYPES.items()}
# As values are in memory: text and lists are Python's objects there.
MEMORY = {kind: h5t.py_create(dtype) for kind, dtype in DTYPES.items()}
LINKS = h5p.create(h5p.LINK_CREATE)
LINKS.set_create_intermediate_group(True)
FILTERS = {
    "shuffle": lambda plist: plist.set_shuffle(),
    "deflate": lambda plist: plist.set_deflate(1),
    "fletcher32": lambda plist: plist.set_fletcher32(),
    "lzf": lambda plist: plist.set_filter(h5py.h5z.FILTER_LZF, h5py.h5z.FLAG_OPTIONAL),
    "scaleoffset": lambda plist: plist.set_scaleoffset(h5py.h5z.SO_INT, 0),
    "szip": lambda plist: plist.set_szip(h5py.h5z.SZIP_NN_OPTION_MASK, 4),
    "nbit": lambda plist: plist.set_filter(h5py.h5z.FILTER_NBIT, h5py.h5z.FLAG_OPTIONAL),
}


def words(number):
    if number == 0:
        return ""
    return "long " * 1500 if number == 100 else "w" * (number % 7) + str(number)


def value(kind, number):
    """What a kind of values makes of a small number."""
    match kind:
        case "fixed":
            return words(min(number, 99)).encode()
        case "text":
            return words(number)
        case "list":
            return np.arange(number % 11, dtype="<i4")
        case "truth":
            return number % 2 == 1
        case "pair":
            return (number, 2 * number)
        case "note":
            return (number, words(number))
        case "sky":
            return 7 * (number % 2)
        case "array":
            return [number, 2 * number, 3 * number]
        case _:
            return number


def values(file, operation, kind, shape):
    """As many values as a shape has, for writing."""
    count, seed = int(np.prod(shape, dtype="u8")), operation["seed"]
    numbers = (np.arange(seed, seed + count, dtype="u8") * 2654435761 % (1 << 32) >> 16) % 101
    match kind:
        case "array":
            return np.multiply.outer(numbers, [1, 2, 3]).astype("<i2").reshape(*shape, 3)
        case "reference" | "fixed" | "text" | "list" | "note":
            targets = [h5py.Reference()] + [file[path].ref for path in operation["targets"]]
            found = np.empty(count, DTYPES[kind])
            for nth, number in enumerate(numbers.tolist()):
                found[nth] = targets[number % len(targets)] if kind == "reference" else value(kind, number)
        case "pair":
            found = np.empty(count, DTYPES[kind])
            found["a"], found["b"] = numbers, 2 * numbers
        case "truth":
            found = numbers % 2 == 1
        case "sky":
            found = (7 * (numbers % 2)).astype(DTYPES[kind])
        case _:
            found = numbers.astype(DTYPES[kind])
    return found.reshape(shape)


def plain(kind, found, refer):
    """Values that were read, as JSON has them."""
    if kind == "reference":
        return [refer(reference) for reference in np.asarray(found, dtype=object).reshape(-1)]
    if kind == "array":
        return np.asarray(found).reshape(-1, 3).tolist()
    found = found if isinstance(found, list) else np.asarray(found, dtype=object if kind == "text" else None).reshape(-1)
    match kind:
        case "fixed":
            return [text.decode() for text in found]
        case "text":
            return [text.decode() if isinstance(text, bytes) else text for text in found]
        case "list":
            return [list(map(int, numbers)) for numbers in found]
        case "pair":
            return np.stack([found["a"], found["b"].astype("i8")], axis=1).tolist()
        case "note":
            return [[int(row["n"]), row["text"].decode() if isinstance(row["text"], bytes) else row["text"]] for row in found]
        case _:
            return found.astype("i8").tolist()


def written(kind, found, full, refer):
    if full:
        return plain(kind, found, refer)
    text = json.dumps(plain(kind, found, refer), separators=(",", ":"))
    data = text.encode()
    if len(data) <= 200:
        return text
    return "sha256:" + hashlib.sha256(data).hexdigest()


def extent(shape, limits=None):
    if not shape:
        return h5s.create(h5s.SCALAR)
    limits = limits or shape
    return h5s.create_simple(tuple(shape), tuple(h5s.UNLIMITED if limit is None else limit for limit in limits))


def new_dataset(file, operation):
    kind, plist = operation["kind"], h5p.create(h5p.DATASET_CREATE)
    storage = operation["storage"]
    plist.set_obj_track_times(False)
    if storage == "compact":
        plist.set_layout(h5d.COMPACT)
    elif storage == "contiguous":
        plist.set_layout(h5d.CONTIGUOUS)
        plist.set_fill_time(h5d.FILL_TIME_ALLOC)
    else:
        plist.set_chunk(tuple(storage["chunks"]))
        if operation["plain"]:
            LIBRARY.H5Pset_chunk_opts(plist.id, DONT_FILTER_PARTIAL_CHUNKS)
    for name in operation["filters"]:
        FILTERS[name](plist)
    if operation["fill"] is not None:
        plist.set_fill_value(np.array(value(kind, operation["fill"]), DTYPES[kind]))
    if operation["early"]:
        plist.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    datatype = file[operation["committed"]].id if operation["committed"] else TYPES[kind]
    space = extent(operation["shape"], operation["max"])
    made = h5d.create(file.id, operation["path"].encode(), datatype, space, plist, LINKS)
    if operation["seed"] is not None and space.get_simple_extent_npoints():
        made.write(h5s.ALL, h5s.ALL, values(file, operation, kind, operation["shape"]), MEMORY[kind])


def write(file, operation):
    dataset, picked = file[operation["path"]], operation["picked"]
    kind, space, slabs = kind_of(dataset.id.get_type()), dataset.id.get_space(), picked["slabs"]
    counts = [count for _, count, _ in slabs]
    if picked["rows"] is not None:
        counts[0] = len(picked["rows"])
        space.select_none()
        rows = [[[row, 1, 1], *slabs[1:]] for row in picked["rows"]]
    else:
        rows = [slabs]
    for row in rows if slabs else []:
        start, count, step = zip(*row)
        space.select_hyperslab(start, count, step, op=h5s.SELECT_OR if picked["rows"] is not None else h5s.SELECT_SET)
    dataset.id.write(extent(counts), space, values(file, operation, kind, counts), MEMORY[kind])


def set_attribute(file, operation):
    owner, name, kind, shape = file[operation["path"]].id, operation["name"].encode(), operation["kind"], operation["shape"]
    if h5a.exists(owner, name):
        h5a.delete(owner, name)
    datatype = file[operation["committed"]].id if operation["committed"] else TYPES[kind]
    h5a.create(owner, name, datatype, extent(shape)).write(values(file, operation, kind, shape), MEMORY[kind])


def new_group(file, operation):
    file.create_group(operation["path"], track_order=operation["ordered"])


def rename_attribute(file, operation):
    h5a.rename(file[operation["path"]].id, operation["from"].encode(), operation["to"].encode())


def links(file, operation):
    target = operation["target"]
    match operation["do"]:
        case "hard":
            file[operation["path"]] = file[target]
        case "soft":
            file[operation["path"]] = h5py.SoftLink(target)
        case "external":
            file[operation["path"]] = h5py.ExternalLink(operation["file"], target)


DO = {
    "group": new_group,
    "dataset": new_dataset,
    "commit": lambda file, operation: TYPES[operation["kind"]].copy().commit(file.id, operation["path"].encode(), LINKS),
    "write": write,
    "resize": lambda file, operation: file[operation["path"]].id.set_extent(tuple(operation["shape"])),
    "attribute": set_attribute,
    "unset": lambda file, operation: h5a.delete(file[operation["path"]].id, operation["name"].encode()),
    "call": rename_attribute,
    "hard": links,
    "soft": links,
    "external": links,
    "move": lambda file, operation: file.move(operation["from"], operation["to"]),
    "copy": lambda file, operation: h5o.copy(file.id, operation["from"].encode(), file.id, operation["to"].encode(), None, LINKS),
    "delete": lambda file, operation: file.__delitem__(operation["path"]),
    "flush": lambda file, operation: file.flush(),
}


LOWS = {
    "earliest": h5f.LIBVER_EARLIEST,
    "v108": h5f.LIBVER_V18,
    "v110": h5f.LIBVER_V110,
    "v112": h5f.LIBVER_V112,
    "v114": h5f.LIBVER_V114,
    "latest": h5f.LIBVER_LATEST,
}
STRATEGIES = {
    "page": h5f.FSPACE_STRATEGY_PAGE,
    "fsm_aggr": h5f.FSPACE_STRATEGY_FSM_AGGR,
    "aggr": h5f.FSPACE_STRATEGY_AGGR,
    "none": h5f.FSPACE_STRATEGY_NONE,
}


def opened(path, low, new):
    if new is None:
        return h5py.File(path, "r+", libver=(low, "latest"))
    plist, access = h5p.create(h5p.FILE_CREATE), h5p.create(h5p.FILE_ACCESS)
    access.set_libver_bounds(LOWS[low], h5f.LIBVER_LATEST)
    access.set_fclose_degree(h5f.CLOSE_STRONG)
    plist.set_userblock(new["user_block"])
    if new["ordered"]:
        plist.set_link_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
    if new["narrow"]:
        plist.set_sizes(4, 4)
    if new["small_nodes"]:
        LIBRARY.H5Pset_sym_k(plist.id, 2, 1)
        LIBRARY.H5Pset_istore_k(plist.id, 1)
    if new["space"]:
        strategy, kept = new["space"]
        plist.set_file_space_strategy(STRATEGIES[strategy], kept, 1)
        plist.set_file_space_page_size(1024)
    return h5py.File(h5f.create(path.encode(), h5f.ACC_TRUNC, plist, access))


def run(path, low, new, operations):
    """What refused each operation, if something did."""
    refused = []
    with opened(path, low, new) as file:
        for operation in operations:
            # Older layout messages lose this, and libhdf5 cannot read then what it wrote.
            if low in ("earliest", "v108"):
                operation["plain"] = False
            try:
                DO[operation["do"]](file, operation)
                refused.append(None)
            except (ValueError, KeyError, RuntimeError, OSError) as why:
                refused.append(f"{type(why).__name__}: {why}")
    return refused


def kind_of(datatype):
    return next(kind for kind, known in TYPES.items() if known == datatype)


def listed(group, full):
    """The names in a group, in order. After a crash, one that is being taken away may be listed and no more be found."""
    return [name for name in sorted(group, key=str.encode) if not full or group.id.links.exists(name.encode())]


def named(item, path, names, full):
    """The first name of every object, by its address."""
    names[h5o.get_info(item.id).addr] = path
    if isinstance(item, h5py.Group):
        for name in listed(item, full):
            if isinstance(item.get(name, getlink=True), h5py.HardLink) and h5o.get_info(item.id, name.encode()).addr not in names:
                named(item[name], f"{path.rstrip('/')}/{name}", names, full)


def attribute(owner, name, full, refer):
    found = h5a.open(owner, name.encode())
    kind = kind_of(found.get_type())
    room = np.empty(found.shape + (3,), "<i2") if kind == "array" else np.empty(found.shape, DTYPES[kind])
    found.read(room, MEMORY[kind])
    return {"kind": kind, "shape": list(found.shape), "values": written(kind, room, full, refer)}


def see(item, path, seen, found, full, refer):
    address = h5o.get_info(item.id).addr
    if address in seen and not full:
        found[path] = {"same": seen[address]}
        return
    seen[address] = path
    record = {"attributes": {name: attribute(item.id, name, full, refer) for name in item.attrs}}
    found[path] = record
    if isinstance(item, h5py.Datatype):
        record["datatype"] = kind_of(item.id)
    elif isinstance(item, h5py.Dataset):
        kind = kind_of(item.id.get_type())
        # A single list would be taken for many values.
        stored = [item[()]] if kind == "list" and not item.shape else item[()]
        stored = written(kind, stored, full, refer)
        record |= {"dataset": kind, "shape": list(item.shape), "max": list(item.maxshape), "values": stored}
    else:
        tracked = item.id.get_create_plist().get_link_creation_order() and len(item)
        record["group"] = list(item) if tracked else None
        for name in listed(item, full):
            link, below = item.get(name, getlink=True), f"{path.rstrip('/')}/{name}"
            if isinstance(link, h5py.SoftLink):
                found[below] = {"soft": link.path}
            elif isinstance(link, h5py.ExternalLink):
                found[below] = {"external": [link.filename, link.path]}
            else:
                see(item[name], below, seen, found, full, refer)


def look(path, full):
    found, names = {}, {}
    with h5py.File(path) as file:
        named(file["/"], "/", names, full)

        def refer(reference):
            return names[h5o.get_info(h5r.dereference(reference, file.id)).addr] if reference else None

        see(file["/"], "/", {}, found, full, refer)
    return found


def answer(question):
    try:
        refused = [run(**one) for one in question["runs"]]
        return {"refused": refused, "seen": [look(path, question["full"]) for path in question["look"]]}
    except Exception as why:
        return {"refused": f"libhdf5: {''.join(traceback.format_exception(why))[-600:]}"}


if __name__ == "__main__":
    serve(answer)
