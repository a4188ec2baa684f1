"""Files that are opened and changed again and again, by us and by h5py: how large they get, and what is in them.

`HYPERSLAB_ROUNDS` says how often they are opened. `HYPERSLAB_KEEP` names a directory for the files, `HYPERSLAB_CHECK` a command `hyperslab` that checks them."""

import os
import pathlib
import shutil
import subprocess

import h5py
import hyperslab
import numpy as np

ROUNDS = int(os.environ.get("HYPERSLAB_ROUNDS", "12"))
KEEP = os.environ.get("HYPERSLAB_KEEP")
CHECK = os.environ.get("HYPERSLAB_CHECK")

#: Ours may be larger than theirs by this factor, at any time.
MOST = 1.1


def type_of(file):
    """The package that a file was opened by."""
    return hyperslab if isinstance(file, hyperslab.File) else h5py


def sizes(package, path, change, libver):
    """How large the file is after it was made, and after each change."""
    for nth in [None, *range(ROUNDS)]:
        with package.File(path, "w" if nth is None else "r+", libver=libver) as file:
            change(file, nth)
        yield os.path.getsize(path)


def stays_small(directory, name, change, libver, more):
    """Our file has the contents of theirs, and never more than `MOST` times its bytes and so many more."""
    ours, theirs = directory / "ours.h5", directory / "theirs.h5"
    found = list(zip(sizes(hyperslab, ours, change, libver), sizes(h5py, theirs, change, libver)))
    with h5py.File(ours) as mine, h5py.File(theirs) as other:
        assert contents(mine) == contents(other)
    if KEEP:
        shutil.copy(ours, pathlib.Path(KEEP) / f"{name}-{libver}.h5")
    if CHECK:
        subprocess.run([CHECK, "check", ours], check=True)
    print(f"{name}, {libver}: {found[0]} at first, {found[-1]} at last")
    assert max(mine - MOST * other for mine, other in found) <= more


def contents(file):
    """All names, attributes and values."""
    found = {"/": attributes(file)}

    def add(name, thing):
        values = thing[...].tolist() if isinstance(thing, h5py.Dataset) else None
        found[name] = (attributes(thing), values)

    file.visititems(add)
    return found, sorted(file)


def attributes(thing):
    return {name: np.asarray(value).tolist() for name, value in thing.attrs.items()}
