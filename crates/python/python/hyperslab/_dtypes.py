"""dtypes with a mark that says what HDF5 makes of them. Marks are those of h5py, whose functions of the same names read them too."""

from __future__ import annotations

import codecs
from typing import Any, NamedTuple

import numpy as np

from ._hyperslab import Reference, RegionReference

#: The dtype of references to objects.
ref_dtype = np.dtype("O", metadata={"ref": Reference})
#: The dtype of references to parts of datasets.
regionref_dtype = np.dtype("O", metadata={"ref": RegionReference})


class string_info(NamedTuple):
    """What `check_string_dtype` finds."""

    encoding: str
    length: int | None


def string_dtype(encoding: str = "utf-8", length: int | None = None) -> np.dtype:
    """The dtype of strings: of variable length, or of so many bytes.

    >>> check_string_dtype(string_dtype("ascii", 8))
    string_info(encoding='ascii', length=8)
    """
    try:
        encoding = codecs.lookup(encoding).name
    except LookupError:
        pass
    if encoding not in ("ascii", "utf-8"):
        raise ValueError(f"Invalid encoding ({encoding!r}); 'utf-8' or 'ascii' allowed")
    if length is None:
        return np.dtype("O", metadata={"vlen": str if encoding == "utf-8" else bytes})
    if isinstance(length, int):
        return np.dtype(f"S{length}", metadata={"h5py_encoding": encoding})
    raise TypeError(f"length must be integer or None (got {length!r})")


def vlen_dtype(basetype: Any) -> np.dtype:
    """The dtype of sequences of any length.

    >>> check_vlen_dtype(vlen_dtype("f4"))
    'f4'
    """
    return np.dtype("O", metadata={"vlen": basetype})


def enum_dtype(values_dict: dict[str, int], basetype: Any = np.uint8) -> np.dtype:
    """The dtype of an integer whose values have names.

    >>> check_enum_dtype(enum_dtype({"RED": 0, "GREEN": 7}))
    {'RED': 0, 'GREEN': 7}
    """
    dtype = np.dtype(basetype)
    if not np.issubdtype(dtype, np.integer):
        raise TypeError("Only integer types can be used as enums")
    return np.dtype(dtype, metadata={"enum": values_dict})


def opaque_dtype(np_dtype: Any) -> np.dtype:
    """A dtype that HDF5 has no equivalent for, kept as bytes with its name."""
    dtype = np.dtype(np_dtype)
    if dtype.hasobject or dtype.names is not None or dtype.subdtype is not None or dtype.itemsize == 0:
        raise TypeError("only plain dtypes of a size can be stored as opaque data")
    return np.dtype(dtype, metadata={"h5py_opaque": True})


def _mark(dtype: np.dtype, key: str) -> Any:
    return None if dtype.metadata is None else dtype.metadata.get(key)


def check_vlen_dtype(dt: np.dtype) -> Any:
    """What a sequence consists of: a dtype, or `str` or `bytes` for strings. `None` for other dtypes."""
    return str if dt.kind == "T" else _mark(dt, "vlen")


def check_string_dtype(dt: np.dtype) -> string_info | None:
    """Encoding and length of a string dtype; the length is `None` if it is variable. `None` for other dtypes."""
    sequence = check_vlen_dtype(dt)
    if sequence is str:
        return string_info("utf-8", None)
    if sequence is bytes:
        return string_info("ascii", None)
    if dt.kind == "S":
        return string_info(_mark(dt, "h5py_encoding") or "ascii", dt.itemsize)
    return None


def check_enum_dtype(dt: np.dtype) -> dict[str, int] | None:
    """Names and values of an enumeration. `None` for other dtypes."""
    return _mark(dt, "enum")


def check_opaque_dtype(dt: np.dtype) -> bool:
    """Whether the values are kept as opaque bytes."""
    return bool(_mark(dt, "h5py_opaque"))


def check_ref_dtype(dt: np.dtype) -> type[Reference] | None:
    """`Reference` or `RegionReference`. `None` for other dtypes."""
    return _mark(dt, "ref")


def special_dtype(**kwds: Any) -> np.dtype:
    """A dtype by one keyword: `vlen=base`, `enum=(base, values)` or `ref=class`."""
    if len(kwds) != 1:
        raise TypeError("Exactly one keyword may be provided")
    ((name, value),) = kwds.items()
    if name == "vlen":
        return vlen_dtype(value)
    if name == "enum":
        try:
            base, values = value
        except TypeError:
            raise TypeError("Enums must be created from a 2-tuple (basetype, values_dict)") from None
        return enum_dtype(values, base)
    if name == "ref":
        if value not in (Reference, RegionReference):
            raise ValueError("Ref class must be Reference or RegionReference")
        return ref_dtype if value is Reference else regionref_dtype
    raise TypeError(f'Unknown special type "{name}"')


def check_dtype(**kwds: np.dtype) -> Any:
    """What `special_dtype` was given: `check_dtype(vlen=dtype)`, `enum=` or `ref=`."""
    if len(kwds) != 1:
        raise TypeError("Exactly one keyword may be provided")
    ((name, dtype),) = kwds.items()
    if name not in ("vlen", "enum", "ref"):
        raise TypeError(f'Unknown special type "{name}"')
    return check_vlen_dtype(dtype) if name == "vlen" else _mark(dtype, name)
