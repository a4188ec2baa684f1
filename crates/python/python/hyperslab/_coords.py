"""Coordinates of single elements and of blocks, as users give them."""

from __future__ import annotations

import operator
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


def checked_blocks(blocks: list[Any], shape: tuple[int, ...]) -> list[tuple[list[int], list[int]]]:
    """Blocks of an array of this shape, the first element and the size of each. They are given so, or as indices of integers and slices.

    >>> checked_blocks([((1, 2), (3, 4)), (slice(1, None), -1)], (5, 7))
    [([1, 2], [3, 4]), ([1, 6], [4, 1])]
    """
    return [_checked_block(block, shape) for block in blocks]


def _checked_block(block: Any, shape: tuple[int, ...]) -> tuple[list[int], list[int]]:
    index = block if isinstance(block, tuple) else (block,)
    if any(isinstance(part, slice) for part in index):
        if len(index) != len(shape):
            raise ValueError(f"a block needs {len(shape)} slices or integers, not {len(index)}")
        ranges = [_range(part, size) for part, size in zip(index, shape, strict=True)]
        return [one.start for one in ranges], [len(one) for one in ranges]
    if len(block) != 2:
        raise ValueError(f"a block is its first element and its shape, or slices, not {block!r}")
    start, size = ([operator.index(number) for number in np.atleast_1d(part).tolist()] for part in block)
    if len(start) != len(shape) or len(size) != len(shape):
        raise ValueError(f"the first element and the shape of a block have {len(shape)} numbers each, not {block!r}")
    for dimension, (first, count, length) in enumerate(zip(start, size, shape, strict=True)):
        if first < 0 or count < 0 or first + count > length:
            message = f"a block from {first} with the size {count} is out of range in dimension {dimension}, whose size is {length}"
            raise CoordinateError(message)
    return start, size


def _range(part: Any, size: int) -> range:
    if isinstance(part, slice):
        if part.step not in (None, 1):
            raise ValueError(f"a block has no steps: {part!r}")
        return range(*part.indices(size))
    number = operator.index(part)
    if not -size <= number < size:
        raise CoordinateError(f"index {number} is out of range in a dimension whose size is {size}")
    number %= size
    return range(number, number + 1)


def coords_of_blocks(blocks: list[tuple[list[int], list[int]]]) -> np.ndarray:
    """The coordinates of all elements of blocks, block by block."""
    rank = len(blocks[0][0])
    return np.concatenate([np.indices(size).reshape(rank, -1).T + np.array(start) for start, size in blocks])
