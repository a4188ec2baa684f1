"""Sparse datasets: those elements that were written, and no others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import check_writable
from ._hyperslab import DatasetHandle, Space
from ._retry import again_if_resized
from ._selections import choose
from ._write import write_selected

if TYPE_CHECKING:
    from ._dataset import Dataset

#: About as many elements are in a chunk of a sparse dataset if nothing is said.
_ELEMENTS = 1 << 20


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
        """The filters of the sections of its chunks, "selection" and "data": number, parameters and name of each. `None` if chunks have no sections."""
        return self._handle.section_filters()

    def defined(self, index: Any = ...) -> Space:
        """The elements that an index names and that are defined. No value is handed out.

        >>> dataset.defined(np.s_[10:20]).npoints                        # doctest: +SKIP
        """
        return again_if_resized([index], lambda: self._handle.defined(self._selection(index)))

    @property
    def density(self) -> float:
        """The part of all elements that is defined."""
        size = math.prod(self.shape or ())
        return self.defined().npoints / size if size else 0.0

    def read_defined(self, index: Any = ...) -> tuple[np.ndarray, np.ndarray]:
        """The coordinates of defined elements, an array of shape (n, rank), and their values, in row-major order.

        >>> coords, values = dataset.read_defined()                     # doctest: +SKIP
        """
        space = self.defined(index)
        if space.kind == "points":
            points = Space(self.shape)
            points.select_none()
            space = points.combine(space, "or")
        coords = space.coords().astype(np.int64).reshape(-1, len(self.shape))
        return coords, self._handle.read_selection(space, None)

    def write_coords(self, coords: Any, values: Any) -> None:
        """Writes values to the elements with these coordinates, an array of shape (n, rank). Of values for one element, the last one counts.

        >>> dataset.write_coords([(0, 3), (7, 1)], [1.5, 2.5])          # doctest: +SKIP
        """
        check_writable(self._handle, "write data", OSError)
        coords = np.asarray(coords)
        if coords.ndim == 1 and len(self.shape or ()) == 1:
            coords = coords.reshape(-1, 1)
        if coords.size == 0:
            return
        if coords.ndim != 2 or coords.shape[1] != len(self.shape or ()):
            raise ValueError(f"coordinates of shape {coords.shape}, where (n, {len(self.shape or ())}) belongs")
        space = Space(self.shape)
        space.select_elements(coords)
        write_selected(self, space, values)  # type: ignore[arg-type]

    def append_frame(self, coords: Any, values: Any) -> int:
        """Adds a frame to a stack of frames: makes the first dimension one longer and writes values to the elements with these coordinates in the other dimensions. The number
        of the frame.

        >>> frames.append_frame(np.argwhere(image > 0), image[image > 0])     # doctest: +SKIP
        """
        check_writable(self._handle, "write data", OSError)
        coords = np.asarray(coords)
        rank = len(self.shape or ())
        if coords.size and (coords.ndim != 2 or coords.shape[1] != rank - 1):
            raise ValueError(f"coordinates of shape {coords.shape}, where (n, {rank - 1}) belongs")
        frame = self.shape[0]
        self._handle.resize_dimension(0, frame + 1)
        if coords.size:
            frames = np.full((len(coords), 1), frame, dtype=coords.dtype)
            self.write_coords(np.hstack([frames, coords]), values)
        return frame

    def erase(self, index: Any = ...) -> None:
        """Lets the elements that an index names not be defined any more: they read as the fill value, and take no space.

        >>> dataset.erase(np.s_[:, 3])                                  # doctest: +SKIP
        """
        check_writable(self._handle, "erase elements", OSError)
        again_if_resized([index], lambda: self._handle.erase(self._selection(index)))

    def iter_chunks_defined(self) -> Iterator[tuple[tuple[slice, ...], Space]]:
        """For each chunk with defined elements, the slices of the chunk, and its defined elements."""
        for place in self._handle.chunk_places():
            shape = self.shape
            starts = [nth * side for nth, side in zip(place, self.chunks, strict=True)]
            ends = [min(start + side, dim) for start, side, dim in zip(starts, self.chunks, shape, strict=True)]
            index = tuple(slice(start, end) for start, end in zip(starts, ends, strict=True))
            space = self.defined(index)
            if space.npoints:
                yield index, space

    def to_scipy(self, format: str = "csr") -> Any:
        """The defined elements as a matrix of `scipy.sparse`.

        >>> dataset.to_scipy("csc")                                     # doctest: +SKIP
        """
        import scipy.sparse

        if len(self.shape or ()) != 2:
            raise ValueError(f"a matrix has two dimensions, and the dataset {len(self.shape or ())}")
        coords, values = self.read_defined()
        matrix = scipy.sparse.coo_array((values, (coords[:, 0], coords[:, 1])), shape=self.shape)
        return matrix.asformat(format)

    def _selection(self, index: Any) -> Space:
        if isinstance(index, Space):
            return index
        return choose(self.shape or (), index if isinstance(index, tuple) else (index,))[0]


def create_from_scipy(group: Any, name: str | bytes, matrix: Any, **options: Any) -> Dataset:
    """A sparse dataset with the stored elements of a matrix of `scipy.sparse`."""
    coo = matrix.tocoo()
    options.setdefault("dtype", coo.dtype)
    made = group.create_dataset(name, matrix.shape, sparse=True, **options)
    made.write_coords(np.column_stack([coo.row, coo.col]), coo.data)
    return made


def guess_sparse_chunk(shape: tuple[int, ...], maxshape: Any) -> tuple[int, ...]:
    """A shape for the chunks of a sparse dataset: as many elements as are worth a request when few of them are defined. Dimensions that grow have one at a time."""
    limits = shape if maxshape is None else maxshape
    chunk = [1 if limit is None and size in (0, 1) else max(size, 1) for size, limit in zip(shape, limits, strict=True)]
    while math.prod(chunk) > _ELEMENTS:
        longest = max(range(len(chunk)), key=lambda dim: chunk[dim])
        chunk[longest] = (chunk[longest] + 1) // 2
    return tuple(chunk)
