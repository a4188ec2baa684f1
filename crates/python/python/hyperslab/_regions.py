"""References to parts of datasets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ._hyperslab import DatasetHandle, RegionReference, Space

if TYPE_CHECKING:
    from ._base import HLObject


class RegionProxy:
    """Makes references to parts of a dataset, and tells what references mean.

    >>> reference = dataset.regionref[0:10:2]       # doctest: +SKIP
    >>> dataset[reference]                          # doctest: +SKIP
    """

    def __init__(self, obj: HLObject) -> None:
        self._handle = obj._handle

    def __getitem__(self, args: Any) -> RegionReference:
        if not isinstance(self._handle, DatasetHandle):
            raise TypeError("Region references can only be made to datasets")
        return self._handle.region_reference(args if isinstance(args, tuple) else (args,))

    def shape(self, ref: RegionReference) -> tuple[int, ...] | None:
        """The shape of the dataset that a reference leads to."""
        return self._region(ref).shape

    def selection(self, ref: RegionReference) -> tuple[int, ...]:
        """The shape of what a reference selects."""
        return guess_shape(self._region(ref))

    def _region(self, ref: RegionReference) -> Space:
        found = self._handle.file.dereference(ref)
        if not isinstance(found, DatasetHandle):
            raise ValueError("Invalid HDF5 region reference")
        return found.region(ref)


def guess_shape(space: Space) -> tuple[int, ...]:
    """The shape of a selection that is a product of lists of indices; else so many elements in a row."""
    rank = len(space.shape or ())
    if space.kind == "all":
        return space.shape or ()
    if space.kind == "points":
        return (space.npoints,)
    if space.bounds is None:
        return (0,) * rank
    low, high = space.bounds
    box = [last - first + 1 for first, last in zip(low, high, strict=True)]
    shape = []
    for axis in range(rank):
        # Without all but the first index of this dimension, one of so many parts is left.
        rest = space.copy()
        if box[axis] > 1:
            start = [first + (axis == dim) for dim, first in enumerate(low)]
            block = [size - (axis == dim) for dim, size in enumerate(box)]
            rest.select_hyperslab(start, [1] * rank, None, block, "notb")
        shape.append(space.npoints // rest.npoints)
    return tuple(shape) if math.prod(shape) == space.npoints else (space.npoints,)
