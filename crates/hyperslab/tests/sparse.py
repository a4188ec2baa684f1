"""Datasets of which few chunks are written. Usage: sparse.py FILE SEED

Element number n of a dataset that was written is n; all others are the fill value. Prints what chunks were.
"""

import json
import random
import sys

import h5py
import numpy as np

path, seed = sys.argv[1:]
rng = random.Random(int(seed))
written = []


def few(file, name, shape, chunk, count, **options):
    dataset = file.create_dataset(name, shape, "<i4", chunks=chunk, **options)
    grid = [-(-size // side) for size, side in zip(shape, chunk)]
    near = [rng.randrange(side) for side in grid]
    places = [near] + [[rng.randrange(side) for side in grid] for _ in range(count)]
    # Some beside each other, so that they share blocks of the index.
    places += [near[:-1] + [min(near[-1] + step, grid[-1] - 1)] for step in range(count)]
    for place in places:
        corner = [at * side for at, side in zip(place, chunk)]
        sides = [range(at, min(at + side, size)) for at, side, size in zip(corner, chunk, shape)]
        dataset[tuple(slice(side.start, side.stop) for side in sides)] = np.ravel_multi_index(np.ix_(*sides), shape)
    written.append({"name": name, "chunk": chunk, "fill": options.get("fillvalue", 0), "places": places})


for libver in ["earliest", "latest"]:
    with h5py.File(f"{path}-{libver}.h5", "w", libver=libver) as file:
        for maxshape, kind in [(None, "fixed"), ((300, None), "growing"), ((None, None), "free")]:
            few(file, f"{libver}/{kind}", (300, 405), (1, 2), 40, maxshape=maxshape, fillvalue=-7)
            few(file, f"{libver}/{kind} gzip", (300, 403), (2, 1), 40, maxshape=maxshape, fillvalue=9, compression="gzip")
        few(file, f"{libver}/line", (50_001,), (1,), 100)
        few(file, f"{libver}/huge", (100_000, 1_000), (1, 1), 5, maxshape=(None, None))

print(json.dumps(written))
