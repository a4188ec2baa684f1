"""Real files: every dataset and attribute that h5py reads, we read equally. Without the files this says so and passes."""

import os
import pathlib
import warnings

import h5py
import hyperslab
import numpy as np
import pytest
from compare import assert_same, outcome, same_dtype

BESIDE = pathlib.Path(__file__).parents[3].parent / "shared" / "corpus"
PLACE = pathlib.Path(os.environ.get("HYPERSLAB_CORPUS", BESIDE)) / "public"

#: Of larger datasets only a corner is read.
MOST = 64 << 20

#: h5py misreads long complex numbers.
MISREAD = {"hdf5-cplx__tcomplex.h5"}


def files():
    return sorted(path for path in PLACE.rglob("*") if path.is_file()) if PLACE.is_dir() else []


def differences(path):
    """What differs in a file, as text; how many datasets and attributes were equal, and how many need a filter that is not built in."""
    wrong, equal, unknown = [], 0, 0

    def compare(what, left, right):
        nonlocal equal, unknown
        expected, error = outcome(right)
        if error is not None:
            return
        found, raised = outcome(left)
        if raised is not None and "not built in" in str(raised):
            unknown += 1
            return
        if raised is not None:
            wrong.append(f"{what}: {type(raised).__name__}: {raised}")
            return
        _, unequal = outcome(lambda: assert_same(found, expected))
        if unequal is None:
            equal += 1
        else:
            wrong.append(f"{what}: {str(unequal)[:300]}")

    def visit(name, theirs):
        ours, raised = outcome(lambda: mine[name])
        if raised is not None:
            wrong.append(f"{name}: {type(raised).__name__}: {raised}")
            return
        names, error = outcome(lambda: list(theirs.attrs))
        if error is None and names != list(ours.attrs):
            wrong.append(f"{name}: attributes {list(ours.attrs)} instead of {names}")
        for attribute in names or []:
            compare(f"{name}@{attribute}", lambda: ours.attrs[attribute], lambda: theirs.attrs[attribute])
        if isinstance(theirs, h5py.Dataset):
            dtype, error = outcome(lambda: theirs.dtype)
            if error is not None:
                return
            if not same_dtype(ours.dtype, dtype):
                wrong.append(f"{name}: dtype {ours.dtype!r} instead of {dtype!r}")
            if ours.shape != theirs.shape or ours.maxshape != theirs.maxshape or ours.chunks != theirs.chunks:
                wrong.append(f"{name}: shape {ours.shape}, {ours.maxshape}, {ours.chunks}")
            part = (slice(0, 4),) * min(theirs.ndim, 3) + (0,) * (theirs.ndim - 3) if theirs.nbytes > MOST else ()
            compare(name, lambda: ours[part], lambda: theirs[part])

    with hyperslab.File(path) as mine, h5py.File(path) as file:
        visit("/", file["/"])
        outcome(lambda: file.visititems(visit))
    return wrong, equal, unknown


@pytest.mark.filterwarnings("ignore")
def test_corpus():
    pytest.importorskip("hdf5plugin")
    found = files()
    if not found:
        pytest.skip(f"no files in {PLACE}")
    wrong, opened, equal, unknown = {}, 0, 0, 0
    for path in found:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _, error = outcome(lambda: h5py.File(path).close())
            if error is not None:
                continue
            opened += 1
            result, raised = outcome(lambda: differences(path))
            if raised is not None:
                wrong[path.name] = [f"{type(raised).__name__}: {raised}"]
                continue
            equal += result[1]
            unknown += result[2]
            if result[0] and path.name not in MISREAD:
                wrong[path.name] = result[0]
    print(
        f"{opened} of {len(found)} files opened, {equal} values equal, {unknown} need other filters, {len(wrong)} files differ"
    )
    assert not wrong, "\n".join(f"{name}: {line}" for name, lines in wrong.items() for line in lines[:4])


def test_a_damaged_file_raises(tmp_path):
    path = tmp_path / "made.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.arange(1000), chunks=(100,), compression="gzip")
        file["y"] = ["text"] * 10
    whole = path.read_bytes()
    for seed in range(100):
        random = np.random.default_rng(seed)
        damaged = bytearray(whole)
        for _ in range(20):
            damaged[random.integers(len(damaged))] = random.integers(256)
        path.write_bytes(damaged)

        def read():
            with hyperslab.File(path) as file:
                file.visititems(lambda name, value: value[()] if isinstance(value, hyperslab.Dataset) else None)

        _, error = outcome(read)
        assert error is None or isinstance(error, OSError | TypeError | ValueError | KeyError | MemoryError), error
