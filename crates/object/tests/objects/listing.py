"""Lists everything in a file, as `listing.rs` does; with `add`, changes the file first, with `make`, makes it first."""

import random
import sys

import h5py
import numpy as np


def hexed(name):
    return (name if isinstance(name, bytes) else name.encode("utf-8", "surrogateescape")).hex()


def attributes(obj, lines):
    names = []
    h5py.h5a.iterate(obj.id, lambda name: names.append(name))
    for name in sorted(names):
        attribute = h5py.h5a.open(obj.id, name)
        values = np.empty(attribute.shape, attribute.dtype)
        if attribute.get_space().get_simple_extent_type() != h5py.h5s.NULL:
            attribute.read(values)
        committed = attribute.get_type().committed()
        lines.append(f" attribute {hexed(name)} {list(values.shape)} {committed} {hash_of(values.tobytes())}")
    if obj.id.get_create_plist().get_attr_creation_order() & h5py.h5p.CRT_ORDER_TRACKED:
        made = []
        h5py.h5a.iterate(obj.id, lambda name: made.append(name), index_type=h5py.h5.INDEX_CRT_ORDER)
        lines.append(f" attributes as made {[hexed(name) for name in made]}")


def hash_of(data):
    total = 0
    for byte in data:
        total = (total * 31 + byte) % (1 << 32)
    return f"{len(data)}:{total}"


def links(group, lines):
    found = []
    names = [group.id.get_objname_by_idx(nth) for nth in range(len(group))]
    assert names == sorted(names), "an index by name is out of order"
    for name in sorted(names):
        kind = group.id.links.get_info(name).type
        if kind == h5py.h5l.TYPE_HARD:
            address = h5py.h5o.get_info(group.id, name).addr
            lines.append(f" link {hexed(name)} hard {address}")
            found.append((name, address))
        elif kind == h5py.h5l.TYPE_SOFT:
            lines.append(f" link {hexed(name)} soft {hexed(group.id.links.get_val(name))}")
        else:
            file, path = group.id.links.get_val(name)
            lines.append(f" link {hexed(name)} external {hexed(file)} {hexed(path)}")
    if group.id.get_create_plist().get_link_creation_order() & h5py.h5p.CRT_ORDER_TRACKED:
        made = []
        group.id.links.iterate(lambda name: made.append(name), idx_type=h5py.h5.INDEX_CRT_ORDER)
        lines.append(f" links as made {[hexed(name) for name in made]}")
    return found


def objects(file):
    """All objects, each once, in the order of their names."""
    seen, open_ = set(), [(file["/"], h5py.h5o.get_info(file["/"].id).addr)]
    while open_:
        obj, address = open_.pop()
        if address in seen:
            continue
        seen.add(address)
        yield obj, address
        if isinstance(obj, h5py.Group):
            names = sorted(group_names(obj), reverse=True)
            for name in names:
                if obj.id.links.get_info(name).type == h5py.h5l.TYPE_HARD:
                    open_.append((obj[name], h5py.h5o.get_info(obj.id, name).addr))


def group_names(group):
    return [group.id.get_objname_by_idx(nth) for nth in range(len(group))]


def listing(path):
    lines = []
    with h5py.File(path, "r") as file:
        for obj, address in objects(file):
            info = h5py.h5o.get_info(obj.id)
            kind = {h5py.Group: "group", h5py.Dataset: "dataset", h5py.Datatype: "datatype"}[type(obj)]
            lines.append(f"{kind} {address} {info.rc}")
            attributes(obj, lines)
            if kind == "group":
                links(obj, lines)
    return lines


def add(path):
    """Adds and removes links and attributes everywhere, so that every structure changes its form."""
    with h5py.File(path, "r+") as file:
        for turn, (obj, _) in enumerate(list(objects(file))):
            for nth in range(turn % 13):
                obj.attrs.create(f"added {nth}", np.arange(nth + turn, dtype="i4"))
            for name in [name for nth, name in enumerate(obj.attrs) if nth % 2 == turn % 3]:
                del obj.attrs[name]
            if isinstance(obj, h5py.Group):
                for nth in range(turn % 14):
                    if nth % 3 == 0:
                        obj[f"soft {nth}"] = h5py.SoftLink(f"/target/{nth}")
                    elif nth % 3 == 1:
                        obj.create_group(f"group {nth}")
                    else:
                        obj[f"again {nth}"] = file["/"]
                names = [name for name in obj if isinstance(obj.get(name, getlink=True), h5py.SoftLink)]
                for name in names[:: 2 + turn % 2]:
                    del obj[name]


def make(path, seed):
    """A file with groups, links and attributes in all forms."""
    choose = random.Random(seed)
    libver = choose.choice([("earliest", "latest"), ("v108", "latest"), ("latest", "latest")])
    with h5py.File(path, "w", libver=libver, track_order=choose.random() < 0.3) as file:
        everything = [file["/"]]
        for _ in range(choose.randrange(1, 9)):
            group = choose.choice([one for one in everything if isinstance(one, h5py.Group)])
            everything.append(group.create_group(f"name {len(group)}", track_order=choose.random() < 0.4))
            if choose.random() < 0.4:
                group[f"name {len(group)}"] = np.dtype("<i4")
                everything.append(group[f"name {len(group) - 1}"])
            if choose.random() < 0.4:
                name = f"name {len(group)}"
                everything.append(group.create_dataset(name, (3,), "<i4", track_order=choose.random() < 0.4))
        committed = [one for one in everything if isinstance(one, h5py.Datatype)]
        for obj in everything:
            for nth in range(choose.randrange(25)):
                values = np.arange(choose.randrange(40), dtype="<i4")
                dtype = choose.choice(committed) if committed and choose.random() < 0.2 else None
                obj.attrs.create(f"name {nth}", values, dtype=dtype)
            if not isinstance(obj, h5py.Group):
                continue
            for _ in range(choose.randrange(30)):
                name = f"name {len(obj)}"
                kind = choose.randrange(6)
                if kind == 0:
                    obj[name] = choose.choice(everything)
                elif kind == 1 and obj.id.get_create_plist().get_link_creation_order():
                    obj[name] = h5py.ExternalLink("other.h5", "/there")
                else:
                    obj[name] = h5py.SoftLink("/somewhere")


def many(path, libver):
    """Many groups with attributes and links, as `files_are_not_larger` makes them."""
    with h5py.File(path, "w", libver=(libver, "latest")) as file:
        for nth in range(200):
            group = file.create_group(f"group {nth}")
            for attribute in range(nth % 20):
                group.attrs.create(f"attribute {attribute}", np.arange(10, dtype="<i4"))
            for link in range(nth % 15):
                group[f"link {link}"] = h5py.SoftLink("/somewhere")


if sys.argv[1] == "many":
    many(sys.argv[2], ["earliest", "v108"][int(sys.argv[3])])
if sys.argv[1] == "add":
    add(sys.argv[2])
if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]))
print("\n".join(listing(sys.argv[2])))
