"""A program that deletes what it has open, by libhdf5; or what libhdf5 finds in a file that we wrote with the same program, and that it goes on with it."""
import json
import sys

import h5py


def listing(file):
    found = {}

    def each(name, node):
        found[name] = node[...].tolist() if isinstance(node, h5py.Dataset) else sorted(node)

    file.visititems(each)
    return found


def program(path, low):
    seen = []
    with h5py.File(path, "w", libver=(low, "latest")) as file:
        for name in ("g/x", "g/kept", "alone"):
            file.create_dataset(name, data=[1, 2, 3, 4], chunks=(2,), maxshape=(None,))
        file["kept"] = file["g/kept"]
        file.create_group("g/below")
        group, x, alone = file["g"], file["g/x"], file["alone"]
        file.flush()
        del file["g"]
        del file["alone"]
        seen.append(sorted(file))
        seen.append(x[...].tolist())
        x[1] = 20
        x.resize((6,))
        x.attrs["a"] = 5
        seen.append([x[...].tolist(), int(x.attrs["a"]), bool(x), sorted(group)])
        group.create_group("new")
        seen.append(group["x"][...].tolist())
        file.create_dataset("other", data=[9, 9])
        file.flush()
        seen.append([alone[...].tolist(), x[...].tolist()])
        file["y"] = x
        file["h/again"] = group
        del x, alone
        file.create_dataset("g/x", data=[7])
        del group
        seen.append(listing(file))
    with h5py.File(path, "r") as file:
        seen.append(listing(file))
    return seen


def go_on(path):
    with h5py.File(path, "r+") as file:
        file["more"] = file["y"]
        del file["h"]
        file["y"][0] = 100
        file.create_dataset("last", data=list(range(1000)))
        return listing(file)


what, path = sys.argv[1:3]
print(json.dumps(program(path, sys.argv[3]) if what == "program" else go_on(path)))
