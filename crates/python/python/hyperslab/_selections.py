"""What an index means, as a selection."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ._hyperslab import UNLIMITED, RegionReference, Space, select
from ._regions import guess_shape

if TYPE_CHECKING:
    from ._dataset import Dataset


class MultiBlockSlice:
    """Blocks of indices at equal distances, as an index of one dimension.

    >>> MultiBlockSlice(start=1, stride=4, count=3, block=2).indices(12)
    (1, 4, 3, 2)
    """

    def __init__(self, start: int = 0, stride: int = 1, count: int | None = None, block: int = 1) -> None:
        if start < 0:
            raise ValueError(f"Start can't be negative (got {start})")
        if stride < 1 or (count is not None and count < 1) or block < 1:
            raise ValueError(f"Stride, count and block can't be 0 or negative (got {stride}, {count}, {block})")
        if block > stride:
            raise ValueError("Blocks will overlap if block > stride")
        self.start, self.stride, self.count, self.block = start, stride, count, block

    def indices(self, length: int) -> tuple[int, int, int, int]:
        """Start, stride, count and block in a dimension of this length; a count that was not given is as large as may be."""
        count = self.count
        if count is None:
            count = max((length - self.start - self.block) // self.stride + 1, 0) if length > self.start else 0
            if count < 1:
                raise ValueError("MultiBlockSlice selects nothing: no block fits the dimension")
        if self.start + (count - 1) * self.stride + self.block > length:
            end = self.start + (count - 1) * self.stride + self.block - 1
            raise ValueError(f"{self!r} range ({self.start} - {end}) extends beyond maximum index ({length - 1})")
        return self.start, self.stride, count, self.block

    def __repr__(self) -> str:
        return f"MultiBlockSlice(start={self.start}, stride={self.stride}, count={self.count}, block={self.block})"


def _spread(args: tuple[Any, ...], rank: int) -> list[Any]:
    """One argument for each dimension."""
    if (dots := [at for at, arg in enumerate(args) if arg is Ellipsis]) and len(dots) == 1:
        missing = rank - len(args) + 1
        args = args[: dots[0]] + (slice(None),) * missing + args[dots[0] + 1 :]
    return list(args) + [slice(None)] * (rank - len(args))


def _is_unlimited(arg: Any) -> bool:
    return isinstance(arg, slice) and arg.stop is not None and arg.stop in (UNLIMITED, -1 % 2**64)


def choose(shape: tuple[int, ...], args: Any, dataset: Dataset | None = None) -> tuple[Space, tuple[int, ...]]:
    """The selection that an index makes of a shape, and the shape of what is selected."""
    args = args if isinstance(args, tuple) else (args,)
    if len(args) == 1 and isinstance(args[0], Space):
        return args[0], guess_shape(args[0])
    if len(args) == 1 and isinstance(args[0], RegionReference):
        if dataset is None:
            raise TypeError("Cannot apply a region reference without a dataset")
        region = dataset._handle.region(args[0])
        return region, guess_shape(region)
    if not any(isinstance(arg, MultiBlockSlice) or _is_unlimited(arg) for arg in args):
        return select(shape, args)
    starts, strides, counts, blocks, sizes = [], [], [], [], []
    for arg, length in zip(_spread(args, len(shape)), shape, strict=True):
        if isinstance(arg, MultiBlockSlice):
            start, stride, count, block = arg.indices(length)
            sizes.append(count * block)
        elif _is_unlimited(arg):
            start, stride, count, block = arg.start or 0, arg.step or 1, UNLIMITED, 1
            sizes.append(UNLIMITED)
        elif isinstance(arg, slice):
            start, stop, stride = arg.indices(length)
            if stride < 1:
                raise ValueError(f"Step must be >= 1 (got {stride})")
            count, block = len(range(start, stop, stride)), 1
            sizes.append(count)
        else:
            start, stride, count, block = arg.__index__(), 1, 1, 1
            start += length if start < 0 else 0
            if not 0 <= start < length:
                raise IndexError(f"Index ({start}) out of range for (0-{length - 1})")
        for numbers, number in zip((starts, strides, counts, blocks), (start, stride, count, block), strict=True):
            numbers.append(number)
    space = Space(shape)
    if math.prod(sizes) == 0:
        space.select_none()
    else:
        space.select_hyperslab(starts, counts, strides, blocks)
    return space, tuple(sizes)
