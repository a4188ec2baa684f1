"""libhdf5's files and what it reads from them, for tests/files.rs.

Reads and answers lines of questions as oracle.py does. What a question and its answer hold is written down in src/files.rs.
"""

import ctypes
import os
import random

import h5py._conv

from making import describe, patched, random_file, special
from making.library import C, Refused
from making.datatype_text import encode
from oracle import execute, serve

# libhdf5's own conversions, without what h5py adds for Python objects.
h5py._conv.unregister_converters()

RECIPES = {**special.RECIPES, **patched.RECIPES}
MEMORY = {"i64": "H5T_NATIVE_INT64", "f64": "H5T_NATIVE_DOUBLE"}
REFUSALS = (Refused, RuntimeError, ValueError)


def recipes(_):
    return list(RECIPES)


def make(question):
    """Writes a file and says what is in it."""
    path, recipe = question["path"], question["recipe"]
    # libhdf5 looks for external files where it runs.
    os.chdir(os.path.dirname(path))
    rng = random.Random(question["seed"])
    if recipe == "random":
        random_file.make(rng, path)
    else:
        RECIPES[recipe](rng, path)
    return describe.file_of(path)


def read(question):
    """Selections of a dataset, as describe gives values; nothing for one that libhdf5 does not read."""
    os.chdir(os.path.dirname(question["path"]))
    file = C.H5Fopen(question["path"].encode(), 0, 0)
    handle = C.H5Dopen2(file, bytes.fromhex(question["dataset"]), 0)
    memory = question["memory"]
    datatype = C.H5Dget_type(handle) if memory == "stored" else C.known(MEMORY[memory])
    found = []
    for program in question["programs"]:
        try:
            selected = execute(program)
            count = C.H5Sget_select_npoints(selected.id)
            places = C.H5Screate_simple(1, (ctypes.c_uint64 * 1)(count), None)
            data = describe.read(datatype, count, lambda room: C.H5Dread(handle, datatype, places, selected.id, 0, room))
            found.append(describe.hashed(encode(datatype, data, handle)))
        except REFUSALS:
            found.append(None)
    return {"values": found}


def answer(question):
    try:
        return {"recipes": recipes, "make": make, "read": read}[question["job"]](question)
    except REFUSALS as refusal:
        return {"refused": str(refusal)}


if __name__ == "__main__":
    serve(answer)
