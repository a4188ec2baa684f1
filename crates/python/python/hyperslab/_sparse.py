"""Sparse datasets: those elements that were written, and no others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._arrays import is_text
from ._coords import checked_blocks, checked_coords, coords_of_blocks
from ._errors import check_writable
from ._hyperslab import DatasetHandle, Space
from ._retry import again_if_resized
from ._selections import choose
from ._ragged_arrays import to_awkward
from ._sparse_arrays import binsparse_arrays, binsparse_descriptor, to_pydata_sparse, to_scipy
from ._write import values_for

#: About as many elements are in a chunk of a sparse dataset if nothing is said, and there are not many more chunks than so many, as far as the format allows it.
_ELEMENTS, _CHUNKS, _MOST_ELEMENTS = 1 << 20, 1 << 12, 1 << 31


class SparseMethods:
    """What sparse datasets can do; most of it other datasets can do, too, where all elements are defined."""

    _handle: DatasetHandle
    shape: Any
    dtype: Any
    chunks: Any

    @property
    def is_sparse(self) -> bool:
        """Whether only those elements are stored that were written."""
        return self._handle.is_sparse

    @property
    def section_filters(self) -> dict[str, list[tuple[int, tuple[int, ...], str]]] | None:
        """The filters of the sections of its chunks, "selection", "data" and "vlen": number, parameters and name of each. `None` if chunks have no sections."""
        return self._handle.section_filters()

    def defined(self, index: Any = ...) -> Space:
        """The elements that an index names and that are defined. No value is read.

        >>> dataset.defined(np.s_[10:20]).npoints                        # doctest: +SKIP
        """
        return again_if_resized([index], lambda: self._handle.defined(self._selection(index)))

    @property
    def density(self) -> float:
        """The part of all elements that is defined: 1.0 for a dataset that is not sparse, unless it is virtual: then its sources tell."""
        if not self.is_sparse and not self.is_virtual:  # type: ignore[attr-defined]
            return 1.0
        size = math.prod(self._shape())
        return self._handle.defined_count() / size if size else 0.0

    @property
    def section_sizes(self) -> dict[str, int] | None:
        """The stored bytes of the sections of all chunks, "selection", "data" and "vlen". `None` if chunks have no sections. What only the cache has is written first."""
        filters = self.section_filters
        if filters is None:
            return None
        sizes = self._handle.section_sizes() or [0] * len(filters)
        return dict(zip(filters, sizes, strict=True))

    def read_defined(self, index: Any = ...) -> tuple[np.ndarray, np.ndarray]:
        """The coordinates of defined elements, an array of shape (n, rank), and their values, in row-major order. An element is there once, also if the index is a
        `Space` of points that names it twice. Both are of one moment: no write comes between an element and its value.

        >>> coords, values = dataset.read_defined()                     # doctest: +SKIP
        """
        return again_if_resized([index], lambda: self._read_defined(index))

    def _read_defined(self, index: Any) -> tuple[np.ndarray, np.ndarray]:
        coords, values = self._handle.read_defined(self._selection(index))
        return coords.view(np.int64), values

    def write_coords(self, coords: Any, values: Any) -> None:
        """Writes values to the elements with these coordinates, an array of integers of shape (n, rank). One value is for all of them. Of several values for one
        element, the last one counts.

        >>> dataset.write_coords([(0, 3), (7, 1)], [1.5, 2.5])          # doctest: +SKIP
        """
        check_writable(self._handle, "write data", OSError)
        again_if_resized([coords], lambda: self._write_coords(coords, values))

    def _write_coords(self, coords: Any, values: Any) -> None:
        shape = self._shape()
        coords = checked_coords(coords, shape)
        array, memory = values_for(self, len(coords), values)  # type: ignore[arg-type]
        if len(coords):
            self._handle.write_coords(coords, array, memory)

    def append_frame(self, coords: Any, values: Any) -> int:
        """Adds a frame to a stack of frames: makes the first dimension one longer, and writes values to the elements with these coordinates in the other dimensions. The
        number of the frame. One thread at a time may add frames to a dataset.

        >>> frames.append_frame(np.argwhere(image > 0), image[image > 0])     # doctest: +SKIP
        """
        check_writable(self._handle, "write data", OSError)
        frame, *others = self._shape() or (0,)
        if not others:
            raise ValueError("a stack of frames has two dimensions or more")
        coords = checked_coords(coords, tuple(others))
        array, memory = values_for(self, len(coords), values)  # type: ignore[arg-type]
        self._handle.resize_dimension(0, frame + 1)
        if len(coords):
            placed = np.empty((len(coords), len(others) + 1), dtype=np.int64)
            placed[:, 0], placed[:, 1:] = frame, coords
            try:
                self._handle.write_coords(placed, array, memory)
            except BaseException:
                # Values that cannot be stored must not leave an empty frame. Frames that another thread has appended since stay.
                if self._shape()[0] == frame + 1:
                    self._handle.resize_dimension(0, frame)
                raise
        return frame

    def write_blocks(self, blocks: Any, values: Any) -> None:
        """Writes values to blocks in one request: `blocks` is a list of pairs of the first element and the shape, or of indices of integers and slices without a step.
        `values` is a list of arrays, one for each block; or one array with the values of one block after the other, each in row-major order; or one value for all
        elements. Where blocks overlap, the last one counts.

        >>> dataset.write_blocks([((0, 3), (2, 2)), np.s_[5, 1:4]], [1, 2, 3, 4, 5, 6, 7])  # doctest: +SKIP
        """
        check_writable(self._handle, "write data", OSError)
        blocks = list(blocks)
        again_if_resized(blocks, lambda: self._write_blocks(blocks, values))

    def _write_blocks(self, blocks: list[Any], values: Any) -> None:
        found = checked_blocks(blocks, self._shape())
        sizes = [math.prod(size) for _, size in found]
        if isinstance(values, list | tuple) and len(values) == len(found) and all(isinstance(one, np.ndarray) for one in values):
            for number, (one, size) in enumerate(zip(values, sizes, strict=True)):
                if one.size != size and self.dtype.subdtype is None:
                    raise ValueError(f"block {number} has {size} elements, and its array {one.size}")
            values = np.concatenate([one.reshape(-1) for one in values]) if values else np.empty(0, self.dtype)
        array, memory = values_for(self, sum(sizes), values)  # type: ignore[arg-type]
        if not sum(sizes):
            return
        if is_text(self.dtype):
            self._handle.write_coords(coords_of_blocks(found), array, memory)
        else:
            self._handle.write_blocks(found, array, memory)

    def erase(self, index: Any = ...) -> None:
        """Makes the elements that an index names undefined: they read as the fill value, and take no space. A `ValueError` if the dataset is not sparse.

        >>> dataset.erase(np.s_[:, 3])                                  # doctest: +SKIP
        """
        check_writable(self._handle, "erase elements", OSError)
        if not self.is_sparse:
            raise ValueError("elements of a dataset that is not sparse cannot be erased; write the fill value instead")
        again_if_resized([index], lambda: self._handle.erase(self._selection(index)))

    def iter_chunks_defined(self) -> Iterator[tuple[tuple[slice, ...], Space]]:
        """For each chunk with defined elements, the slices of the chunk, and its defined elements. No value is read, and nothing is written; some hundred chunks at a time
        are asked with one request. A dataset without chunks is one piece. If a sparse dataset is resized meanwhile, the next step fails.

        >>> sum(space.npoints for _, space in dataset.iter_chunks_defined())  # doctest: +SKIP
        """
        shape, chunks = self._shape(), self.chunks
        if self.is_sparse:
            for place, space in self._handle.defined_chunks(Space(shape)):
                sides = zip(place, chunks, shape, strict=True)
                yield tuple(slice(nth * side, min((nth + 1) * side, size), 1) for nth, side, size in sides), space
            return
        whole = [tuple(slice(0, size, 1) for size in shape)]
        for index in whole if chunks is None else self.iter_chunks():  # type: ignore[attr-defined]
            space = self.defined(index)
            if space.npoints:
                yield index, space

    def to_scipy(self, format: str = "csr") -> Any:
        """The defined elements as a sparse array of `scipy.sparse`, also those that are zero. What is not defined is zero there, whatever the fill value is.

        >>> dataset.to_scipy("csc")                                     # doctest: +SKIP
        """
        return to_scipy(self, format)

    def to_sparse(self) -> Any:
        """The defined elements as a `COO` array of the package `sparse`, of any number of dimensions, with the fill value of the dataset.

        >>> dataset.to_sparse().sum(axis=0)                             # doctest: +SKIP
        """
        return to_pydata_sparse(self)

    def to_awkward(self) -> Any:
        """The sequences of variable length of a dataset of one dimension as a ragged `ak.Array` of the package `awkward`.

        >>> ak.sum(dataset.to_awkward(), axis=1)                        # doctest: +SKIP
        """
        return to_awkward(self)

    def __binsparse_descriptor__(self) -> dict[str, Any]:
        return binsparse_descriptor(self)

    def __binsparse__(self) -> dict[str, np.ndarray]:
        return binsparse_arrays(self)

    def _shape(self) -> tuple[int, ...]:
        shape = self.shape
        if shape is None:
            raise TypeError("Empty datasets have no elements")
        return shape

    def _selection(self, index: Any) -> Space:
        return choose(self._shape(), index, self)[0]  # type: ignore[arg-type]


def check_structured(kind: str | None) -> None:
    """Fails for chunks with sections that cannot be made."""
    if kind not in (None, "vlen"):
        raise ValueError(f"structured must be None or 'vlen', not {kind!r}")


def guess_sparse_chunk(shape: tuple[int, ...], maxshape: Any) -> tuple[int, ...]:
    """A shape for the chunks of a sparse dataset: as many elements as are worth a request when few of them are defined. What is large has large chunks, because what is
    stored once for each chunk counts there, and elements that are not defined do not. Dimensions that grow have one at a time.

    >>> guess_sparse_chunk((4096, 4096), None), guess_sparse_chunk((0, 512, 512), (None, 512, 512))
    ((1024, 1024), (1, 512, 512))
    """
    limits = shape if maxshape is None else maxshape
    chunk = [1 if limit is None and size in (0, 1) else max(size, 1) for size, limit in zip(shape, limits, strict=True)]
    most = min(max(_ELEMENTS, math.prod(shape) // _CHUNKS), _MOST_ELEMENTS)
    while math.prod(chunk) > most:
        longest = max(range(len(chunk)), key=lambda dim: chunk[dim])
        chunk[longest] = (chunk[longest] + 1) // 2
    return tuple(chunk)
