"""When a value of ours and one of h5py's are the same."""

import h5py
import hyperslab
import numpy as np


def raised(action):
    """The type of the exception that an action raises, if it does."""
    try:
        action()
    except Exception as error:  # noqa: BLE001
        return type(error)
    return None


def same_dtype(ours: np.dtype, theirs: np.dtype) -> bool:
    """The same layout and the same marks, at any depth. Reference classes correspond."""
    if (ours.kind, ours.itemsize, ours.shape, ours.names) != (theirs.kind, theirs.itemsize, theirs.shape, theirs.names):
        return False
    if ours.subdtype is not None:
        return same_dtype(ours.base, theirs.base)
    if ours.names is not None:
        return all(
            ours.fields[name][1] == theirs.fields[name][1] and same_dtype(ours.fields[name][0], theirs.fields[name][0])
            for name in ours.names
        )
    if ours != theirs:
        return False
    left, right = dict(ours.metadata or {}), dict(theirs.metadata or {})
    classes = {h5py.Reference: hyperslab.Reference, h5py.RegionReference: hyperslab.RegionReference}
    if "ref" in right:
        right["ref"] = classes[right["ref"]]
    if isinstance(right.get("vlen"), np.dtype):
        return same_dtype(left["vlen"], right["vlen"])
    return left == right


def assert_same(ours, theirs, files=None, nested=False):
    """Fails unless both hold the same values. `files` are our file and theirs, which references are followed in."""
    if isinstance(theirs, h5py.Empty):
        assert isinstance(ours, hyperslab.Empty) and same_dtype(ours.dtype, theirs.dtype)
    elif isinstance(theirs, h5py.RegionReference):
        assert isinstance(ours, hyperslab.RegionReference) and bool(ours) == bool(theirs)
        if files and theirs:
            left, right = files[0][ours], files[1][theirs]
            assert left.name == right.name
            assert_same(left[ours], right[theirs], files)
    elif isinstance(theirs, h5py.Reference):
        assert isinstance(ours, hyperslab.Reference) and bool(ours) == bool(theirs)
        if files and theirs:
            assert files[0][ours].name == files[1][theirs].name
    elif isinstance(theirs, np.ndarray):
        assert isinstance(ours, np.ndarray) and ours.shape == theirs.shape
        # Arrays within arrays lose their marks in h5py.
        bare = theirs.dtype.kind == "O" and not theirs.dtype.metadata
        if nested and ours.dtype == theirs.dtype.newbyteorder():
            theirs = theirs.view(ours.dtype)  # and their byte order
        assert bare or same_dtype(ours.dtype, theirs.dtype), (ours.dtype, theirs.dtype)
        if not theirs.dtype.hasobject:
            assert equal(ours, theirs), (ours, theirs)
        elif theirs.dtype.names is not None:
            for name in theirs.dtype.names:
                assert_same(ours[name], theirs[name], files)
        else:
            for left, right in zip(ours.flat, theirs.flat, strict=True):
                assert_same(left, right, files, nested=True)
    elif isinstance(theirs, np.generic):
        assert type(ours) is type(theirs)
        assert_same(np.asarray(ours), np.asarray(theirs), files)
    else:
        assert type(ours) is type(theirs) and ours == theirs, (ours, theirs)


def equal(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Equal values, where NaN equals NaN; the bytes between fields do not count."""
    if theirs.dtype.names is not None:
        return all(equal(ours[name], theirs[name]) for name in theirs.dtype.names)
    if theirs.dtype.kind in "fcmM":
        return np.array_equal(ours, theirs, equal_nan=True)
    return np.array_equal(ours, theirs) if theirs.dtype.kind != "V" else ours.tobytes() == theirs.tobytes()


def outcome(action):
    """What an action gives: a value, or the class of the exception."""
    try:
        return action(), None
    except Exception as error:  # noqa: BLE001
        return None, error
