"""What libhdf5 makes of a file with sparse datasets, and of the selections of their chunks.

Called with a file, and with one line of hexadecimal digits per encoded dataspace on the standard input. Prints what each selects, as JSON.
"""

import json
import sys

import h5py
import numpy as np


def elements(space):
    """The coordinates that are selected, in the order of libhdf5."""
    kind, rank = space.get_select_type(), space.get_simple_extent_ndims()
    if kind == h5py.h5s.SEL_ALL:
        return [list(map(int, at)) for at in np.ndindex(space.get_simple_extent_dims())]
    if kind == h5py.h5s.SEL_POINTS:
        return space.get_select_elem_pointlist().tolist()
    assert kind == h5py.h5s.SEL_HYPERSLABS, kind
    chosen = set()
    for first, last in space.get_select_hyper_blocklist().reshape(-1, 2, rank).tolist():
        sides = [range(low, high + 1) for low, high in zip(first, last)]
        chosen |= set(map(tuple, np.stack(np.meshgrid(*sides, indexing="ij"), -1).reshape(-1, rank).tolist()))
    return sorted(map(list, chosen))


def looked_at(path):
    """Everything in the file but the sparse datasets, which no library of today reads."""
    with h5py.File(path, "r") as file:
        names = sorted(file)
        dense = file["dense"][...].tolist()
        text, group = file.attrs["text"], sorted(file["group"])
        refused = []
        for name in names:
            try:
                file[name]
            except (KeyError, OSError, RuntimeError):
                refused.append(name)
    return {"names": names, "dense": dense, "text": text, "group": group, "refused": refused}


def changed(path):
    """The same after a change by libhdf5."""
    with h5py.File(path, "r+") as file:
        file["more"] = [1.5, 2.5]
        file["dense"][1] = 77


spaces = [h5py.h5s.decode(bytes.fromhex(line)) for line in sys.stdin.read().split()]
found = looked_at(sys.argv[1])
changed(sys.argv[1])
found["spaces"] = [[list(map(int, space.get_simple_extent_dims())), elements(space)] for space in spaces]
print(json.dumps(found))
