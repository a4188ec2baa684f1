"""The little of h5py's lower level that users of datasets reach for: whole chunks as they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._hyperslab import Space

if TYPE_CHECKING:
    from ._base import HLObject
    from ._dataset import Dataset


class ObjectID:
    """An object, as `object.id` gives it."""

    def __init__(self, obj: HLObject) -> None:
        self._object = obj

    @property
    def valid(self) -> bool:
        """Whether the file is open."""
        return bool(self._object)

    def __bool__(self) -> bool:
        return self.valid

    def __eq__(self, other: object) -> bool:
        return self._object == other._object if isinstance(other, ObjectID) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._object)


class DatasetID(ObjectID):
    """A dataset, as `dataset.id` gives it."""

    @property
    def _dataset(self) -> Dataset:
        return self._object  # type: ignore[return-value]

    @property
    def shape(self) -> Any:
        """The shape of the dataset."""
        return self._dataset.shape

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self._dataset.ndim

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the dataset."""
        return self._dataset.dtype

    def get_space(self) -> Space:
        """Its whole extent, selected."""
        return Space(self._dataset.shape, self._dataset.maxshape)

    def get_storage_size(self) -> int:
        """How many bytes the values take in the file."""
        return self._dataset._handle.stored_size()

    def set_extent(self, shape: tuple[int, ...]) -> None:
        """Makes the dataset larger or smaller."""
        self._dataset._handle.resize(shape)

    def _place(self, offsets: tuple[int, ...]) -> list[int]:
        chunks = self._dataset.chunks
        if chunks is None:
            raise TypeError("Only chunked datasets have chunks")
        if len(offsets) != len(chunks) or any(offset % side for offset, side in zip(offsets, chunks, strict=False)):
            raise ValueError(f"{offsets} is not where a chunk begins")
        return [offset // side for offset, side in zip(offsets, chunks, strict=True)]

    def read_direct_chunk(self, offsets: tuple[int, ...], *_: Any, out: Any = None) -> tuple[int, bytes]:
        """The filters that were left out, a bit each, and the bytes of the chunk that begins at an element."""
        found = self._dataset._handle.read_chunk(self._place(offsets))
        if found is None:
            raise OSError("Can't get chunk: it was never written")
        mask, stored = found
        if out is None:
            return mask, stored
        view = memoryview(out).cast("B")
        if len(view) < len(stored):
            raise ValueError(f"{len(view)} bytes are not enough for a chunk of {len(stored)}")
        view[: len(stored)] = stored
        return mask, view[: len(stored)]  # type: ignore[return-value]

    def write_direct_chunk(self, offsets: tuple[int, ...], data: Any, filter_mask: int = 0, *_: Any) -> None:
        """Stores bytes as the chunk that begins at an element. They went through the filters already, but for those whose bit is
        set."""
        stored = data.tobytes() if isinstance(data, np.ndarray) else bytes(data)
        self._dataset._handle.write_chunk(self._place(offsets), filter_mask, stored)
