"""A file with many names, and what h5py says of it, for tests/names.rs.

usage: names.py FILE LIBVER SEED        prints JSON: attributes, links by name and as made, paths that a visit meets
"""

import json
import random
import sys

import h5py
import numpy as np

name, libver, seed = sys.argv[1:]
rng = random.Random(int(seed))


def names(count):
    found = {"".join(rng.choice("abcXYZ.ä€-0123") for _ in range(rng.randint(1, 12))) for _ in range(count)}
    found = sorted(found - {".", ".."})
    rng.shuffle(found)
    return found


with h5py.File(name, "w", libver=libver) as file:
    many = file.create_group("many", track_order=libver != "earliest")
    attributes = {}
    for count, owner in ((0, "none"), (5, "few"), (300, "hundreds")):
        dataset = file.create_dataset(owner, data=np.arange(3))
        attributes[owner] = {}
        for nth, key in enumerate(names(count)):
            value = nth if rng.random() < 0.5 else "text %d" % nth
            dataset.attrs[key] = value
            attributes[owner][key] = str(value)
    made = names(400)
    for nth, key in enumerate(made):
        many[key] = np.int32(nth)
    group = file
    for depth in range(40):
        group = group.create_group("deep")
        for key in names(3):
            group.create_group(key) if rng.random() < 0.5 else group.create_dataset(key, data=depth)
    group["up"] = file["deep"]
    group["itself"] = group
    file["again"] = file["many"]
    file["soft"] = h5py.SoftLink("/nowhere")
    met = []
    file.visit(met.append)
    answer = {"attributes": attributes, "made": made, "visited": len(met), "order": libver != "earliest"}
print(json.dumps(answer))
