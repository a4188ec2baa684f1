"""Coordinates of single elements, as users give them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import CoordinateError
from ._hyperslab import extremes


def checked_coords(coords: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The coordinates of elements of an array of this shape, one row for each element. For one dimension, a sequence of integers will do.

    >>> checked_coords([3, 5], (10,)).tolist()
    [[3], [5]]
    """
    rank = len(shape)
    coords = np.asarray(coords)
    if coords.ndim == 1 and (rank == 1 or coords.size == 0):
        coords = coords.reshape(-1, rank)
    if coords.ndim != 2 or coords.shape[1] != rank:
        raise ValueError(f"coordinates must have the shape (n, {rank}), not {coords.shape}")
    if coords.size == 0:
        return coords.astype(np.int64)
    if coords.dtype.kind not in "iu":
        raise TypeError(f"coordinates must be integers, not {coords.dtype}")
    # NumPy takes twenty times as long for the extremes of all columns at once as for those of each.
    found = extremes(coords) or [(int(column.min()), int(column.max())) for column in coords.T]
    for dimension, (size, (low, high)) in enumerate(zip(shape, found, strict=True)):
        if low < 0 or high >= size:
            outside = low if low < 0 else high
            raise CoordinateError(f"coordinate {outside} is out of range in dimension {dimension}, whose size is {size}")
    return coords
