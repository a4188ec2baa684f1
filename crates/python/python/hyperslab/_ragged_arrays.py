"""Sequences of variable length to and from ragged arrays of the package `awkward`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._dtypes import check_vlen_dtype, vlen_dtype
from ._imported import imported

if TYPE_CHECKING:
    from ._dataset import Dataset


def to_awkward(dataset: Any) -> Any:
    """The sequences of a dataset of one dimension as an `ak.Array`."""
    awkward = imported("awkward")
    base = check_vlen_dtype(dataset.dtype)
    if base is None or dataset.ndim != 1:
        raise TypeError(
            f"a ragged array is made of a dataset of one dimension whose values are sequences of variable length, not of {dataset.dtype} with the shape {dataset.shape}"
        )
    base = _numbers(np.dtype(base))
    rows = dataset[()]
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    values = np.concatenate(rows) if len(rows) else np.empty(0)
    contents = awkward.contents
    return awkward.Array(
        contents.ListOffsetArray(awkward.index.Index64(offsets), contents.NumpyArray(values.astype(base, copy=False)))
    )


def create_from_awkward(group: Any, name: str | bytes, array: Any, options: dict[str, Any]) -> Dataset:
    """A dataset of one dimension with the rows of an array of `awkward` as sequences."""
    awkward = imported("awkward")
    if not isinstance(array, awkward.Array):
        raise TypeError(f"an array of the package awkward is needed, not {type(array).__name__}")
    if array.ndim != 2:
        raise ValueError(f"an array of rows of numbers is needed, not one of the type {array.type}")
    counts = awkward.num(array, axis=1)
    values = awkward.flatten(array, axis=1)
    if awkward.any(awkward.is_none(array)) or awkward.any(awkward.is_none(values)):
        raise ValueError("rows and values of a ragged array are all needed: some are None")
    values = awkward.to_numpy(values)
    base = _numbers(values.dtype)
    rows = np.empty(len(array), dtype=object)
    ends = np.cumsum(awkward.to_numpy(counts), dtype=np.int64)
    for nth, (start, end) in enumerate(zip(np.r_[0, ends], ends)):
        rows[nth] = values[start:end]
    options.setdefault("dtype", vlen_dtype(base))
    made = group.create_dataset(name, (len(rows),), **options)
    try:
        made[...] = rows
    except BaseException:
        # No dataset without its values is left behind.
        del group[name]
        raise
    return made


def _numbers(dtype: np.dtype) -> np.dtype:
    """The type of numbers in the byte order of this machine."""
    if dtype.kind not in "biufc":
        raise TypeError(f"ragged arrays are of numbers here, not of values of {dtype}")
    return dtype.newbyteorder("=")
