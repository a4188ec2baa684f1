"""Generated cases, run with h5py and with this package: the same values, dtypes and shapes, or the same exception.

One of four runs, or all with HYPERSLAB_CASES=all. What may differ is in `differences.py`; what is there and does not differ is a failure, too."""

import itertools
import os
import re
import warnings
import zlib

import h5py
import hyperslab
import numpy as np
import pytest
from compare import assert_same, same_dtype
from differences import DIFFERENCES
from operations import all_cases

#: One of so many cases runs.
ONE_OF = 1 if os.environ.get("HYPERSLAB_CASES") == "all" else 4


def chosen():
    return [case for case in all_cases() if zlib.crc32(case.name.encode()) % ONE_OF == 0]


def builtin(error):
    """The exception's first class that Python itself has."""
    return next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")


def expanded(pattern):
    """The names that a pattern stands for: `{a | b}` for each of these."""
    parts = [part[1:-1].split(" | ") if part.startswith("{") else [part] for part in re.split(r"(\{[^}]*\})", pattern)]
    return map("".join, itertools.product(*parts))


class Runner:
    """One library, with a file in memory for its cases."""

    def __init__(self, lib):
        self.lib, self.count = lib, 0
        self.file = lib.File(f"{lib.__name__}.h5", "w", driver="core", backing_store=False)

    def outcome(self, case):
        """What a case gives, and what it raises."""
        self.count += 1
        group = self.file.create_group(str(self.count))
        try:
            return case.run(self.lib, group), None
        except Exception as error:  # noqa: BLE001
            return None, error
        finally:
            del self.file[str(self.count)]


def assert_alike(ours, theirs):
    if isinstance(theirs, list):
        for left, right in zip(ours, theirs, strict=True):
            assert_alike(left, right)
    elif isinstance(theirs, np.dtype):
        assert same_dtype(ours, theirs), (ours, theirs)
    else:
        assert_same(ours, theirs)


def difference(ours, theirs):
    """Why two outcomes are not the same; nothing if they are."""
    (value, raised), (expected, refused) = ours, theirs
    if raised is not None or refused is not None:
        names = ["no error" if error is None else builtin(error) for error in (raised, refused)]
        return None if names[0] == names[1] else f"{names[0]} ({raised}) instead of {names[1]} ({refused}); values {value!r}, {expected!r}"
    try:
        assert_alike(value, expected)
    except (AssertionError, ValueError) as why:
        return f"{value!r} instead of {expected!r}: {why!r}"[:500]
    return None


@pytest.mark.filterwarnings("ignore")
def test_generated_cases_do_what_h5py_does():
    cases, found = chosen(), {}
    ours, theirs = Runner(hyperslab), Runner(h5py)
    with ours.file, theirs.file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in cases:
            why = difference(ours.outcome(case), theirs.outcome(case))
            if why is not None:
                found[case.name] = why
    assert len(cases) >= 5000
    print(f"{len(cases)} cases, {len(found)} of them different")
    names = {case.name for case in cases}
    known = {name for patterns in DIFFERENCES.values() for pattern in patterns for name in expanded(pattern)} & names
    unknown = [f"{name}: {why}" for name, why in found.items() if name not in known]
    assert not unknown, "\n".join([f"{len(unknown)} cases differ", *unknown])
    assert not known - found.keys(), f"listed as different, but the same: {sorted(known - found.keys())}"
