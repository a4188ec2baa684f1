"""Coordinates of single elements, as users give them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import CoordinateError


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
    for dimension, size in enumerate(shape):
        # NumPy takes twenty times as long for the extremes of all columns at once.
        low, high = int(coords[:, dimension].min()), int(coords[:, dimension].max())
        if low < 0 or high >= size:
            outside = low if low < 0 else high
            raise CoordinateError(f"coordinate {outside} is out of range in dimension {dimension}, whose size is {size}")
    return coords
