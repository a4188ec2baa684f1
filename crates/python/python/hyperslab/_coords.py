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
    low, high = coords.min(axis=0).tolist(), coords.max(axis=0).tolist()
    for dimension, size in enumerate(shape):
        outside = low[dimension] if low[dimension] < 0 else high[dimension]
        if not 0 <= outside < size:
            raise CoordinateError(f"coordinate {outside} is out of range in dimension {dimension}, whose size is {size}")
    return coords
