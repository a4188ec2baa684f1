"""Values that users give, as arrays that can be written."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._dtypes import check_string_dtype, check_vlen_dtype, ref_dtype, regionref_dtype, string_dtype
from ._hyperslab import Reference, RegionReference


def item_type(data: Any) -> type | None:
    """The class that all items of nested lists or of an array of objects have; `None` if they differ or it is not known."""
    if isinstance(data, np.ndarray):
        marked = check_string_dtype(data.dtype) or check_vlen_dtype(data.dtype)
        types = set(map(type, data.ravel().tolist())) if data.dtype.kind == "O" and not marked else set()
    elif isinstance(data, list | tuple):
        types = set(map(type, data))
        if any(issubclass(kind, list | tuple | np.ndarray) for kind in types):
            types = {item_type(item) for item in data}
    else:
        return type(data)
    return types.pop() if len(types) == 1 else None


_MARKED = {RegionReference: regionref_dtype, Reference: ref_dtype, bytes: string_dtype("ascii"), str: string_dtype()}


def new_array(data: Any, dtype: Any = None) -> np.ndarray:
    """The array for a new dataset or attribute: what is no array yet gets the wanted dtype at once, strings and references one
    that says so."""
    dtype = None if dtype is None else np.dtype(dtype)
    half = dtype is not None and dtype.kind == "f" and dtype.itemsize == 2
    wanted = dtype
    if not half and (isinstance(data, np.ndarray) or dtype is None):
        wanted = _MARKED.get(item_type(data))  # type: ignore[arg-type]
    array = np.asarray(data, order="C", dtype=wanted)
    return array if wanted is None else array.view(wanted)


def is_text(dtype: np.dtype) -> bool:
    """Whether values are strings of variable length."""
    text = check_string_dtype(dtype)
    return text is not None and text.length is None


def plain(array: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray:
    """Strings of NumPy's own variable length as objects, or as strings of the length that a dtype has."""
    if array.dtype.kind != "T":
        return array
    if dtype is not None and dtype.kind == "S":
        encoded = [text.encode() for text in array.ravel().tolist()]
        return np.array(encoded, dtype=dtype).reshape(array.shape)
    return array.astype(object).astype(string_dtype())


def can_spread(found: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether an array of the one shape can be repeated as one of the other, when needless dimensions in front are left out."""
    excess = max(len(found) - len(shape), 0)
    pairs = zip(found[excess:][::-1], shape[::-1], strict=False)
    return all(size == 1 for size in found[:excess]) and all(size in (1, wanted) for size, wanted in pairs)


def fit(array: np.ndarray, shape: tuple[int, ...], inner: int = 0) -> np.ndarray:
    """The array as one of this shape, where its last `inner` dimensions belong to the elements: repeated as NumPy does it, and
    without needless dimensions in front."""
    outer = array.shape[: array.ndim - inner]
    if outer == shape:
        return np.ascontiguousarray(array).reshape(array.shape)
    excess = max(len(outer) - len(shape), 0)
    if any(size != 1 for size in outer[:excess]):
        raise TypeError(f"Can't broadcast {outer} -> {shape}")
    squeezed = array.reshape(array.shape[excess:])
    try:
        spread = np.broadcast_to(squeezed, shape + array.shape[array.ndim - inner :])
    except ValueError:
        if can_spread(outer, shape):
            raise MemoryError(f"an array of shape {shape} is larger than any memory") from None
        raise TypeError(f"Can't broadcast {outer} -> {shape}") from None
    return np.ascontiguousarray(spread)
