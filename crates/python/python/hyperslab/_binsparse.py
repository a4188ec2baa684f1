"""What has the protocol of binsparse, as sparse datasets: lists of coordinates of any number of dimensions, and compressed rows or columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._sparse_arrays import _created

if TYPE_CHECKING:
    from ._dataset import Dataset

#: Formats of coordinates, with the dimension that the first index is of, and so on; "custom" has as many as there are dimensions.
_COORDINATES = {"CVEC": (0,), "COO": (0, 1), "COOR": (0, 1), "COOC": (1, 0)}
#: Formats of compressed rows or columns, with the dimension that offsets tell.
_COMPRESSED = {"CSR": 0, "CSC": 1}


def create_from_binsparse(group: Any, name: str | bytes, given: Any, options: dict[str, Any]) -> Dataset:
    """A sparse dataset with the stored values that the protocol tells of: of an object with `__binsparse__`, or of a descriptor and arrays."""
    described, arrays = _described(given)
    kind, shape = _kind(described), tuple(int(size) for size in described["shape"])
    fill = arrays.get("fill_value")
    if fill is not None and np.size(fill) and described.get("fill", True):
        options.setdefault("fillvalue", np.asarray(fill).reshape(-1)[0])
    coords = _coords(kind, shape, arrays)
    values = _values(described, arrays, len(coords))
    count = described.get("number_of_stored_values", len(values))
    if not len(coords) == len(values) == int(count):
        raise ValueError(f"{len(values)} values for {len(coords)} coordinates, and the descriptor says {count}")
    structure = described.get("structure", "general")
    if structure != "general":
        raise ValueError(f"the structure {structure!r} has values that are not stored; make it general first")
    return _created(group, name, shape, coords, values, options)


def _described(given: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The descriptor and the arrays by their names: `__binsparse__` gives both, or the arrays alone beside `__binsparse_descriptor__`."""
    told = given.__binsparse__() if hasattr(given, "__binsparse__") else given
    descriptor = given.__binsparse_descriptor__() if hasattr(given, "__binsparse_descriptor__") else None
    if isinstance(told, tuple | list) and len(told) == 2 and isinstance(told[0], Mapping):
        descriptor, told = told
    if descriptor is None:
        raise TypeError("an object with __binsparse__ is needed, or its descriptor and its arrays")
    described = dict(descriptor.get("binsparse", descriptor))
    if not isinstance(told, Mapping):
        # Arrays without names are in the order in which the descriptor has their types.
        names = list(described["data_types"])
        told = dict(zip(names, told, strict=True))
    return described, {key: _array(array) for key, array in told.items()}


def _array(array: Any) -> np.ndarray:
    return np.from_dlpack(array) if not isinstance(array, np.ndarray) and hasattr(array, "__dlpack__") else np.asarray(array)


def _kind(described: dict[str, Any]) -> str:
    kind = described.get("format")
    if isinstance(kind, Mapping):
        described, kind = {**described, "custom": kind.get("custom", kind)}, "custom"
    if kind == "custom":
        level = described.get("custom", {}).get("level", {})
        inner = level.get("level", {}).get("level_desc", level.get("level", {}).get("level_kind"))
        desc = level.get("level_desc", level.get("level_kind"))
        if desc != "sparse" or inner != "element" or level.get("rank") != len(described["shape"]):
            raise ValueError(f"the custom format of binsparse {described.get('custom')} is no list of coordinates")
        return "custom"
    if kind not in _COORDINATES and kind not in _COMPRESSED:
        known = ", ".join([*_COORDINATES, *_COMPRESSED])
        raise ValueError(f"format {kind!r} of binsparse; there are {known} and custom lists of coordinates here")
    return str(kind)


def _coords(kind: str, shape: tuple[int, ...], arrays: dict[str, np.ndarray]) -> np.ndarray:
    """The coordinates of all values, a row for each."""

    def wanted(name: str) -> np.ndarray:
        if name not in arrays:
            raise ValueError(f"there is no array {name!r} for the format {kind} of binsparse")
        if arrays[name].dtype.kind not in "iu":
            raise TypeError(f"{name} must be integers, not {arrays[name].dtype}")
        return arrays[name]

    if kind in _COMPRESSED:
        leading = _COMPRESSED[kind]
        ends, minor = wanted("pointers_to_1").astype(np.int64), wanted("indices_1")
        if len(shape) != 2 or len(ends) != shape[leading] + 1 or ends[0] != 0 or (np.diff(ends) < 0).any() or ends[-1] != len(minor):
            raise ValueError(f"pointers_to_1 does not fit {len(minor)} indices and the shape {shape}")
        major = np.repeat(np.arange(shape[leading], dtype=np.int64), np.diff(ends))
        return np.column_stack([major, minor] if leading == 0 else [minor, major])
    order = _COORDINATES.get(kind, tuple(range(len(shape))))
    if len(order) != len(shape):
        raise ValueError(f"the format {kind} of binsparse has {len(order)} dimensions, and the shape is {shape}")
    columns = [wanted(f"indices_{level}") for level in range(len(order))]
    return np.column_stack([columns[order.index(dimension)] for dimension in range(len(shape))])


def _values(described: dict[str, Any], arrays: dict[str, np.ndarray], count: int) -> np.ndarray:
    """The values, one for each coordinate: also if one is stored for all, or if they are complex numbers or truth values in another form."""
    kind = str(described.get("data_types", {}).get("values", ""))
    if "values" not in arrays:
        raise ValueError("there is no array 'values'")
    values = arrays["values"]
    if kind.startswith("iso["):
        kind, values = kind[4:-1], np.broadcast_to(values.reshape(-1)[:1], (count,))
    if kind.startswith("complex[") and values.dtype.kind == "f":
        values = np.ascontiguousarray(values).view(f"c{values.dtype.itemsize * 2}")
    return values.astype(bool) if kind == "bint8" and values.dtype.kind in "iu" else values
