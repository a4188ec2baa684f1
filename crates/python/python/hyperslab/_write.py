"""Writing to datasets: what is given becomes an array of the right shape, whose bytes the engine converts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import fit, is_text, item_type, plain
from ._dtypes import check_string_dtype, check_vlen_dtype
from ._errors import check_writable
from ._hyperslab import ExtentError, Space
from ._retry import again_if_resized
from ._selections import choose

if TYPE_CHECKING:
    from ._dataset import Dataset


def write_all(dataset: Dataset, values: np.ndarray) -> None:
    """Writes all values of a dataset, of whose shape they may not be."""
    dtype, shape = dataset.dtype, dataset.shape or ()
    values = _converted(values, dtype)
    inner = dtype.shape if dtype.subdtype is not None else ()
    if inner and values.dtype.subdtype is None and values.shape != shape + inner:
        raise OSError(f"no conversion of values of shape {values.shape} to {shape} elements of shape {inner}")
    memory = np.dtype((values.dtype, inner)) if inner else values.dtype
    dataset._handle.write(Space(shape), np.ascontiguousarray(values), memory)


def values_for(dataset: Dataset, count: int, values: Any) -> tuple[np.ndarray, np.dtype]:
    """Values for so many elements, one value repeated for all of them, and the dtype of one."""
    dtype = dataset.dtype
    values = plain(_values(dataset, values, ()))
    inner = dtype.shape if dtype.subdtype is not None else ()
    memory = np.dtype((values.dtype, inner)) if inner else values.dtype
    return fit(values, (count,), len(inner)), memory


def write_item(dataset: Dataset, args: Any, value: Any, direct: bool = False) -> None:
    """`dataset[args] = value`. With `direct`, an array that NumPy does not convert."""
    try:
        _write_once(dataset, args, value, direct)
    except ExtentError:
        again_if_resized([args], lambda: _write_once(dataset, args, value, direct))


def _write_once(dataset: Dataset, args: Any, value: Any, direct: bool) -> None:
    prepared = prepare(dataset, args, value, keeps_texts=True, direct=direct)
    if prepared is not None:
        dataset._handle.write(*prepared)


def prepare(
    dataset: Dataset, args: Any, value: Any, *, keeps_texts: bool = False, direct: bool = False
) -> tuple[Space, np.ndarray, np.dtype] | None:
    """What `dataset[args] = value` writes: where, the values, and the dtype of one; `None` if that is nothing. With `keeps_texts`, NumPy's own strings
    stay what they are where the stored ones have variable length, too. With `direct`, NumPy converts nothing: what libhdf5 cannot convert is an error."""
    args = args if isinstance(args, tuple) else (args,)
    names = tuple(arg for arg in args if isinstance(arg, str))
    args = tuple(arg for arg in args if not isinstance(arg, str))
    dtype = dataset.dtype
    check_writable(dataset._handle, "write data", OSError)
    keeps_texts = keeps_texts and not names and _is_own_text(value) and is_text(dtype)
    if direct and not names:
        values = _converted(value, dtype.base)
    else:
        values = value if keeps_texts else plain(_values(dataset, value, names))
    inner: tuple[int, ...] = ()
    memory = values.dtype
    if names:
        memory, values, inner = _fields(values, dtype, names)
    elif dtype.subdtype is not None:
        inner = dtype.shape
        if values.ndim == 0:
            raise TypeError("Scalar broadcasting is not supported for array dtypes")
        if values.shape[values.ndim - len(inner) :] != inner:
            found = values.shape[-len(inner) :]
            raise (OSError if direct else TypeError)(
                f"When writing to array types, last N dimensions have to match (got {found}, but should be {inner})"
            )
        memory = np.dtype((values.dtype, inner))
    if dataset.shape is None:
        raise ValueError("Empty datasets cannot be written to")
    if dataset.shape == ():
        if args not in ((), (Ellipsis,)):
            raise ValueError("Illegal slicing argument for scalar dataspace")
        space, shape = Space(()), ()
    else:
        space, shape = choose(dataset.shape, args, dataset)
    values = fit(values, shape, len(inner))
    return (space, values, memory) if space.npoints else None


def _is_own_text(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "T"


def _values(dataset: Dataset, value: Any, names: tuple[str, ...]) -> np.ndarray:
    """The array that is meant; arrays of numbers stay as they are, since the engine converts them."""
    dtype = dataset.dtype
    base = check_vlen_dtype(dtype)
    if base is not None and base not in (str, bytes):
        return _sequences(value, np.dtype(base), dtype)
    if len(names) == 1 and dtype.names is not None and not isinstance(value, np.ndarray):
        if names[0] not in dtype.names:
            raise ValueError(f"No such field for indexing: {names[0]}")
        return np.asarray(value, dtype=dtype[names[0]].base, order="C")
    structure = dtype.kind == "V" and dtype.subdtype is None
    if dtype.kind == "O" or (structure and not (isinstance(value, np.ndarray) and value.dtype.kind == "V") and not names):
        return np.asarray(value, dtype=dtype.base, order="C")
    text = check_string_dtype(dtype)
    if text is not None and text.encoding == "utf-8" and item_type(value) is str:
        texts = np.asarray(value, dtype=object)
        return np.array([one.encode() for one in texts.flat], dtype=dtype).reshape(texts.shape)
    given = np.asarray(value, order="C", dtype=None if isinstance(value, np.ndarray) else dtype.base)
    return _converted(given, dtype.base)


def _converted(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Strings become objects where the engine knows no other way."""
    if _is_own_text(values) and is_text(dtype):
        return values
    values = plain(values, dtype)
    if values.dtype.kind == "U":
        raise TypeError(f"No conversion path for dtype: {values.dtype!r}")
    if dtype.kind == "O" and values.dtype.kind == "S":
        return values.astype(object).astype(dtype)
    return values


def _sequences(value: Any, base: np.dtype, dtype: np.dtype) -> np.ndarray:
    """An array of arrays: of one if all values are those of one sequence."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        kinds = set(map(type, value.ravel().tolist()))
        if any(hasattr(kind, "__len__") for kind in kinds):
            made = value.astype(dtype, order="C", subok=False)
            if base.kind != "O" and (base.hasobject or type(None) in kinds):
                flat = made.reshape(-1)
                for at, row in enumerate(flat):
                    flat[at] = np.asarray(row, dtype=base)
            return made
    try:
        values = np.asarray(value, dtype=base)
    except (ValueError, TypeError):
        rows = [np.array(row, dtype=base) if base.kind != "O" else row for row in value]
        values = np.empty(len(rows), dtype)
        for at, row in enumerate(rows):
            values[at] = row
        return values
    rows_shape = values.shape[:-1] if values.ndim > 1 else (1,)
    made = np.empty(rows_shape, dtype)
    flat = values.reshape(-1, values.shape[-1]) if values.ndim > 1 else values.reshape(1, -1)
    for at, row in enumerate(flat):
        made.reshape(-1)[at] = row
    return made


def _fields(values: np.ndarray, dtype: np.dtype, names: tuple[str, ...]) -> tuple[np.dtype, np.ndarray, tuple[int, ...]]:
    """The dtype of elements that have the named fields only, their values, and the dimensions that one field has itself."""
    if dtype.names is None:
        raise TypeError("Illegal slicing argument (not a compound dataset)")
    if wrong := [name for name in names if name not in dtype.names]:
        shown = ", ".join(f'"{name}"' for name in wrong)
        raise ValueError(f"Illegal slicing argument (fields {shown} not in dataset type)")
    if len(names) == 1 and values.dtype.names is None:
        inner = dtype[names[0]].shape
        if inner and values.shape[values.ndim - len(inner) :] != inner:
            raise TypeError(f"values of shape {values.shape} for a field of shape {inner}")
        return np.dtype([(names[0], values.dtype, inner)]), values, inner
    if values.dtype.names is None:
        raise TypeError("values of several fields need fields themselves")
    kept = [name for name in values.dtype.names if name in names]
    picked = values.dtype
    fields = {
        "names": kept,
        "formats": [picked[name] for name in kept],
        "offsets": [picked.fields[name][1] for name in kept],  # type: ignore[index]
        "itemsize": picked.itemsize,
    }
    return np.dtype(fields), values, ()
