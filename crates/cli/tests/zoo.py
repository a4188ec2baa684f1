"""Makes files with every kind of structure that libhdf5 writes, then changes them: python zoo.py DIRECTORY"""

import itertools
import os
import sys

import h5py
import numpy as np


def chunks(file):
    """All six indexes, with and without filters; grown, and shrunk again."""
    shapes = {
        "single": ((6, 4), (6, 4), (6, 4)),
        "fixed": ((40, 30), (40, 30), (4, 3)),
        "paged": ((3000,), (3000,), (1,)),
        "extensible": ((40, 30), (None, 30), (4, 3)),
        "many": ((9000,), (None,), (1,)),
        "tree": ((40, 30), (None, None), (4, 3)),
    }
    for (name, (shape, most, chunk)), filters in itertools.product(shapes.items(), [{}, {"compression": 1}]):
        if filters and np.prod(shape) > 2000:
            continue
        data = np.arange(np.prod(shape), dtype="i4").reshape(shape)
        name = f"chunks/{name}{len(filters)}"
        file.create_dataset(name, data=data, maxshape=most, chunks=chunk, **filters)
    early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    early.set_chunk((4, 3))
    early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    space = h5py.h5s.create_simple((20, 30))
    h5py.h5d.create(file["chunks"].id, b"implicit", h5py.h5t.NATIVE_INT32, space, early)
    file["chunks/tree0"].resize((12, 7))
    file["chunks/extensible1"].resize((9, 30))
    file["chunks/many0"].resize((500,))


def objects(file):
    group = file.create_group("many", track_order=True)
    for number in range(300):
        group.create_group(f"group with a long enough name {number}")
    for number in range(0, 300, 3):
        del group[f"group with a long enough name {number}"]
    few = file.create_group("few")
    few["soft"] = h5py.SoftLink("/many")
    few["external"] = h5py.ExternalLink("other.h5", "/x")
    few["again"] = few
    file["type"] = np.dtype([("a", "i4"), ("b", "f8")])
    typed = file.create_dataset("typed", (3,), file["type"])
    typed.attrs.create("also", 0, dtype=file["type"])
    text = file.create_dataset("text", (200,), h5py.string_dtype())
    text[...] = [f"string number {number} " * (number % 7) for number in range(200)]
    file["regions"] = np.array([typed.regionref[0:2]], h5py.regionref_dtype)
    for number in range(60):
        text.attrs[f"attribute {number}"] = np.arange(number)
    for number in range(0, 60, 2):
        del text.attrs[f"attribute {number}"]
    text.attrs["text"] = ["several", "strings"]
    file["plain"] = np.arange(1000)
    file["gone"] = np.arange(5000)
    del file["gone"]
    layout = h5py.VirtualLayout((1000,), "i8")
    layout[:] = h5py.VirtualSource(file["plain"])
    file.create_virtual_dataset("virtual", layout)
    file.create_dataset("outside", (8,), "u1", external=[("outside.bin", 0, 8)])


def huge(file):
    """Attributes and links that are alone in their heap."""
    large = file.create_dataset("large", (4,), "f4")
    for number in range(12):
        large.attrs[f"large {number}"] = np.arange(3000 + number)
    del large.attrs["large 5"]
    group = file.create_group("long names")
    for number in range(12):
        group[f"{number} " + "x" * 5000] = h5py.SoftLink("y" * 3000)


def main(directory):
    os.chdir(directory)
    forms = ["earliest", "v108", "v110", "latest"]
    spaces = [{}, {"fs_strategy": "page", "fs_page_size": 4096}, {"fs_strategy": "fsm", "fs_persist": True}]
    for number, (form, space) in enumerate(itertools.product(forms, spaces)):
        path = f"zoo{number}.h5"
        with h5py.File(path, "w", libver=(form, "latest"), **space) as file:
            chunks(file)
            objects(file)
            if form != "earliest":
                huge(file)
        with h5py.File(path, "a", libver=(form, "latest")) as file:
            del file["chunks"]["single0"]
            file["later"] = np.arange(4000)
            file.create_group("many/one more")


main(sys.argv[1])
