"""The other side of copies.rs: makes trees, has libhdf5 copy them as well, and compares."""

import os
import sys

import h5py
import numpy as np

LOWS = ("earliest", "v110", "latest")


def make(folder):
    for low in LOWS:
        make_one(folder, os.path.join(folder, f"source-{low}.h5"), low)


def make_one(folder, path, low):
    with h5py.File(os.path.join(folder, f"other-{low}.h5"), "w") as other:
        other["there"] = np.arange(5)
        other["group/inner"] = 7.5
    with h5py.File(path, "w", libver=(low, "latest"), track_order=low != "earliest", userblock_size=512) as file:
        file.attrs["title"] = "everything"
        tree = file.create_group("tree", track_order=True)
        for name in ("zebra", "apple", "mango"):
            tree.create_group(name).attrs["name"] = name
        h5py.h5o.set_comment(tree["mango"].id, b"a fruit")
        numbers = np.arange(23 * 31, dtype="i4").reshape(23, 31)
        data = tree.create_group("data")
        data["contiguous"] = numbers
        data.create_dataset("chunks", data=numbers, chunks=(5, 7))
        data.create_dataset("filtered", data=numbers, chunks=(5, 7), compression=4, shuffle=True, fletcher32=True)
        data.create_dataset("grows", data=numbers, chunks=(5, 7), maxshape=(None, None), fillvalue=-3)
        data.create_dataset("row", data=numbers, chunks=(2, 31), maxshape=(None, 31), compression="lzf")
        data.create_dataset("scale", data=numbers, chunks=(5, 31), scaleoffset=0)
        sparse = data.create_dataset("sparse", (10**4, 10**4), "f4", chunks=(100, 100), fillvalue=1.5)
        sparse[1_234, 6_543] = 2
        data.create_dataset("nothing", (40,), "f8", fillvalue=9.5)
        data["scalar"] = 3.25
        data["text"] = "a line"
        data["empty"] = h5py.Empty("i8")
        data.create_dataset("none", (0, 3), "i2", maxshape=(None, 3))
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        for name, kind, values in (
            ("compact", np.dtype("i2"), np.arange(12)),
            ("compact words", h5py.string_dtype(), np.array([f"word {n}" for n in range(12)], dtype=object)),
        ):
            space = h5py.h5s.create_simple((12,))
            id = h5py.h5d.create(data.id, name.encode(), h5py.h5t.py_create(kind, logical=True), space, compact)
            h5py.Dataset(id)[...] = values
        words = np.array(["", "one", "twenty-two", "x" * 5000] * 25, dtype=object)
        data.create_dataset("words", data=words, dtype=h5py.string_dtype())
        data.create_dataset("words in chunks", data=words, dtype=h5py.string_dtype(), chunks=(7,), compression=1)
        ragged = data.create_dataset("ragged", (4,), h5py.vlen_dtype(np.int32))
        for n in range(3):
            ragged[n] = np.arange(n * 3)
        record = np.dtype([("n", "i4"), ("word", h5py.string_dtype()), ("at", "f4", (2,))])
        data["records"] = np.array([(n, "r" * n, (n, -n)) for n in range(9)], dtype=record)
        data["enum"] = np.array([0, 1], dtype=h5py.enum_dtype({"OFF": 0, "ON": 1}, basetype="u1"))
        file["outside"] = np.dtype([("x", "f4"), ("y", "f4")])
        file["outside"].attrs["of"] = "points"
        tree["inside"] = np.dtype("i2")
        data.create_dataset("of outside", (3,), file["outside"])
        data.create_dataset("of inside", (3,), tree["inside"])
        data["of outside"].attrs.create("point", (1, 2), dtype=file["outside"])
        links = tree.create_group("links")
        links["same"] = data["chunks"]
        links["up"] = tree
        links["soft"] = h5py.SoftLink("/tree/data/chunks")
        # The ninth: of a group that keeps its links in its header, libhdf5 cannot read what it copies with expanded links.
        links["soft scalar"] = h5py.SoftLink("/tree/data/scalar")
        links["soft group"] = h5py.SoftLink("/far")
        links["dangling"] = h5py.SoftLink("/nowhere")
        links["external"] = h5py.ExternalLink(f"other-{low}.h5", "/there")
        links["external group"] = h5py.ExternalLink(f"other-{low}.h5", "/group")
        links["lost"] = h5py.ExternalLink("lost.h5", "/there")
        far = file.create_group("far")
        far["deep/numbers"] = np.arange(3)
        far["up"] = far["deep"]
        many = tree.create_group("many", track_order=low == "latest")
        for n in range(40):
            many.create_group(f"{(n * 7) % 40:02}").attrs[f"a{n}"] = n
            many.attrs[f"attribute {(n * 11) % 40}"] = np.arange(n)
        references = file.create_group("references")
        references.create_group("inner")["far"] = far["deep/numbers"]
        targets = [data["chunks"].ref, references["inner"].ref, None, far["deep"].ref, tree["inside"].ref]
        values = np.array([ref or h5py.Reference() for ref in targets], dtype=h5py.ref_dtype)
        references.create_dataset("objects", data=values, dtype=h5py.ref_dtype)
        references.create_dataset("objects in chunks", data=values, dtype=h5py.ref_dtype, chunks=(2,), compression=1)
        region = data["contiguous"].regionref[2:9:3, 4:8]
        references.create_dataset("regions", data=np.array([region, h5py.RegionReference()], dtype=h5py.regionref_dtype), dtype=h5py.regionref_dtype)
        references.attrs.create("to", data["chunks"].ref, dtype=h5py.ref_dtype)
        references.attrs.create("region", region, dtype=h5py.regionref_dtype)
        tree.attrs["words"] = words[:4]
        tree.attrs["matrix"] = np.eye(3)
        tree.attrs["empty"] = h5py.Empty("f4")
        space = h5py.VirtualLayout((2, 31), "i4")
        space[0] = h5py.VirtualSource(".", "/tree/data/contiguous", (23, 31))[3]
        space[1] = h5py.VirtualSource(".", "/tree/data/chunks", (23, 31))[4]
        data.create_virtual_dataset("virtual", space, fillvalue=5)
        data.create_dataset("raw", (6,), "u1", external=[(os.path.join(folder, f"raw-{low}"), 0, 6)])[...] = range(6)
        # What libhdf5 does not translate in copies; only for files that are written anew.
        nested = file.create_group("nested")
        data["chunks"].dims[0].label = "time"
        nested["scale"] = np.arange(23.0)
        nested["scale"].make_scale("seconds")
        nested["scaled"] = np.zeros((23, 2))
        nested["scaled"].dims[0].attach_scale(nested["scale"])
        kind = np.dtype([("n", "i4"), ("ref", h5py.ref_dtype), ("region", h5py.regionref_dtype)])
        nested["compound"] = np.array([(1, data["chunks"].ref, region), (2, nested.ref, region)], dtype=kind)
    with open(path, "r+b") as file:
        file.write(b"of the user")


MADE = "/~obj_pointed_by_"


def paths(file):
    """One path of each object, by its address: the first."""
    found, open = {}, [("", file)]
    while open:
        path, object = open.pop()
        address = h5py.h5o.get_info(object.id).addr
        is_new = address not in found
        found[address] = min(path, found.get(address, path))
        if is_new and isinstance(object, h5py.Group):
            for name in object:
                if isinstance(object.get(name, getlink=True), h5py.HardLink):
                    open.append((f"{path}/{name}", object[name]))
    return found


def pointed(reference, file):
    path = file.paths.get(h5py.h5o.get_info(h5py.h5r.dereference(reference, file.id)).addr)
    if path and path.startswith(MADE):
        # Its name tells where it is, and that is another place in each file.
        object = file[path]
        return (type(object).__name__, list(object) if isinstance(object, h5py.Group) else str(object.dtype))
    return path


def value(found, file):
    if isinstance(found, h5py.RegionReference):
        if not found:
            return None
        space = h5py.h5r.get_region(found, file.id)
        return (pointed(found, file), space.get_select_bounds(), space.get_select_npoints())
    if isinstance(found, h5py.Reference):
        return pointed(found, file) if found else None
    if isinstance(found, h5py.Empty):
        return "empty"
    if isinstance(found, (np.ndarray, np.void)) and (found.dtype.names or found.dtype.hasobject):
        if found.dtype.names and found.shape == ():
            return [value(found[name], file) for name in found.dtype.names]
        return [value(one, file) for one in found.ravel()] if isinstance(found, np.ndarray) else found.tobytes()
    if isinstance(found, (np.ndarray, np.generic)):
        return (str(found.dtype), found.shape, found.tobytes())
    return found


def stored(kind):
    """A datatype to its last bit, but for the version of the message, which follows the version of the library."""
    if isinstance(kind, h5py.h5t.TypeCompoundID):
        members = [(kind.get_member_name(n), kind.get_member_offset(n), stored(kind.get_member_type(n))) for n in range(kind.get_nmembers())]
        return (kind.get_size(), members)
    if isinstance(kind, h5py.h5t.TypeEnumID):
        return (stored(kind.get_super()), [(kind.get_member_name(n), kind.get_member_value(n)) for n in range(kind.get_nmembers())])
    if isinstance(kind, h5py.h5t.TypeArrayID):
        return (kind.get_array_dims(), stored(kind.get_super()))
    if isinstance(kind, h5py.h5t.TypeVlenID):
        return ("sequence", stored(kind.get_super()))
    if isinstance(kind, h5py.h5t.TypeStringID) and kind.is_variable_str():
        return ("text", kind.get_cset(), kind.get_strpad())
    version_and_class, *rest = kind.encode()[2:]
    return (version_and_class & 15, bytes(rest))


def attributes(object, file):
    told = {}
    for name in object.attrs:
        id = object.attrs.get_id(name)
        kind = id.get_type()
        told[name] = (id.shape, kind.committed(), stored(kind), value(object.attrs[name], file))
    return told


def order(id):
    try:
        return id.get_create_plist().get_attr_creation_order()
    except Exception:
        return None


def tell(object, file, seen, path):
    key = h5py.h5o.get_info(object.id)
    key = (key.fileno, key.addr)
    if key in seen:
        return ("seen", seen[key])
    seen[key] = path
    told = {"attributes": attributes(object, file), "count": h5py.h5o.get_info(object.id).rc}
    if isinstance(object, h5py.Datatype):
        told["type"] = stored(object.id)
        return told
    told["order"] = order(object.id)
    if isinstance(object, h5py.Group):
        told["link order"] = object.id.get_create_plist().get_link_creation_order()
        names = [name for name in object if not f"/{name}".startswith(MADE)]
        told["names"] = names
        for name in names:
            link = object.get(name, getlink=True)
            if isinstance(link, h5py.SoftLink):
                told[f"/{name}"] = ("soft", link.path)
            elif isinstance(link, h5py.ExternalLink):
                told[f"/{name}"] = ("external", link.filename, link.path)
            else:
                told[f"/{name}"] = tell(object[name], file, seen, f"{path}/{name}")
        return told
    plist = object.id.get_create_plist()
    told["shape"] = (object.shape, object.maxshape)
    told["type"] = (stored(object.id.get_type()), object.id.get_type().committed())
    told["layout"] = (plist.get_layout(), object.chunks, [plist.get_filter(n) for n in range(plist.get_nfilters())])
    told["fill"] = (plist.fill_value_defined(), plist.get_fill_time(), plist.get_alloc_time(), str(object.fillvalue))
    if object.is_virtual:
        told["sources"] = [(s.file_name, s.dset_name, str(s.vspace.get_select_bounds())) for s in object.virtual_sources()]
    told["stored"] = object.id.get_num_chunks() if object.chunks and object.size else None
    if object.is_virtual and "copied" in file:
        told["values"] = "the sources are elsewhere now"
    elif object.shape is not None and object.size <= 10**4:
        told["values"] = value(object[()], file)
    elif object.shape is not None:
        told["values"] = value(object[1_234, 6_500:6_600], file)
    return told


def differ(left, right, counts, path=""):
    if isinstance(left, dict) and isinstance(right, dict):
        for name in sorted(set(left) | set(right)):
            if counts or name != "count":
                differ(left.get(name), right.get(name), counts, f"{path} {name}")
    elif left != right:
        raise SystemExit(f"{path}:\n  {str(left)[:600]}\ninstead of\n  {str(right)[:600]}")


def compare(left, right, counts=True):
    with h5py.File(left) as ours, h5py.File(right) as theirs:
        ours.paths, theirs.paths = paths(ours), paths(theirs)
        differ(tell(ours, ours, {}, ""), tell(theirs, theirs, {}, ""), counts)


def copy(source, ours, options, low):
    """Has libhdf5 make the same copy, and compares."""
    flags = {name: True for name in options.split(",") if name}
    inside = flags.pop("inside", False)
    wanted = ours + ".wanted"
    if inside:
        with open(source, "rb") as old, open(wanted, "wb") as new:
            new.write(old.read())
        with h5py.File(wanted, "r+", libver=(low, "latest")) as file:
            file.copy("tree", file, "copied", **flags)
    else:
        with h5py.File(source) as old, h5py.File(wanted, "w", libver=(low, "latest")) as file:
            old.copy("tree", file, "copied", **flags)
            # Within a file libhdf5 fails here.
            old.copy("references", file, "references", **flags)
    # Where libhdf5 expands references, it counts more names than there are; we do not.
    compare(ours, wanted, counts="expand_refs" not in flags)
    with h5py.File(ours) as file:
        made = [name for name in file if f"/{name}".startswith(MADE)]
        # libhdf5 may name what gets its own name later, too.
        assert all(h5py.h5o.get_info(file[name].id).rc == 1 for name in made), made


def copies(folder, all):
    for low in LOWS:
        for options in all.split(" "):
            ours = os.path.join(folder, f"ours-{low}-{options}.h5")
            copy(os.path.join(folder, f"source-{low}.h5"), ours, options, low)
            change(ours)


def repacked(folder):
    for low in LOWS:
        for to in LOWS:
            ours = os.path.join(folder, f"ours-{low}-{to}.h5")
            compare(ours, os.path.join(folder, f"source-{low}.h5"))
            with open(ours, "rb") as file:
                assert file.read(11) == b"of the user"
            change(ours)


def change(path):
    """libhdf5 goes on with the file: nothing in it surprises it."""
    with h5py.File(path, "r+") as file:
        copied = file["copied"] if "copied" in file else file["tree"]
        if "data" in copied and "grows" in copied["data"]:
            copied["data/grows"].resize((50, 50))
            copied["data/grows"][40:] = 4
            copied["data/words"][0] = "another"
            del copied["data/filtered"]
        copied["new"] = 1
        copied.attrs["new"] = "new"
        del copied["many"]


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
