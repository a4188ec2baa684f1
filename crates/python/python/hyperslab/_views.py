"""Ways to read a dataset: as another type, as text, some fields, chunk by chunk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._dataset import Dataset


class AbstractView(ABC):
    """A dataset that is read in some other way."""

    def __init__(self, dset: Dataset) -> None:
        self._dset = dset

    @property
    @abstractmethod
    def dtype(self) -> np.dtype:
        """The dtype that reads give."""

    @abstractmethod
    def __getitem__(self, args: Any) -> Any: ...

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of the dataset."""
        return self._dset.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions of the dataset."""
        return self._dset.ndim

    @property
    def size(self) -> int | None:
        """The number of elements of the dataset."""
        return self._dset.size

    def __len__(self) -> int:
        return len(self._dset)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("memory allocation cannot be avoided: values of a dataset are always copied")
        return np.asarray(self[()], dtype=dtype or self.dtype)


class AsTypeView(AbstractView):
    """Reads convert to another dtype."""

    def __init__(self, dset: Dataset, dtype: np.dtype) -> None:
        super().__init__(dset)
        self._dtype = dtype

    @property
    def dtype(self) -> np.dtype:
        return self._dtype

    def __getitem__(self, args: Any) -> Any:
        if self._dtype.kind == "T":
            values = self._dset.asstr("utf-8")[args]
            return values if isinstance(values, str) else values.astype(self._dtype)
        return self._dset._read(args, self._dtype)


class AsStrView(AbstractView):
    """Reads give `str` instead of `bytes`."""

    def __init__(self, dset: Dataset, encoding: str, errors: str) -> None:
        super().__init__(dset)
        self.encoding = encoding
        self.errors = errors

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(object)

    def __getitem__(self, args: Any) -> Any:
        values = self._dset[args]
        if isinstance(values, bytes):
            return values.decode(self.encoding, self.errors)
        texts = [value.decode(self.encoding, self.errors) for value in values.flat]
        return np.array(texts, dtype=object).reshape(values.shape)


class FieldsView(AbstractView):
    """Reads give some fields of each value."""

    def __init__(self, dset: Dataset, whole: np.dtype, names: Any) -> None:
        super().__init__(dset)
        self._single = names if isinstance(names, str) else None
        names = [names] if isinstance(names, str) else list(names)
        if whole.names is None:
            raise ValueError("Field names only allowed for compound types")
        for name in names:
            if name not in whole.names:
                raise ValueError(f"Field {name} does not appear in this type.")
        self._read = np.dtype([(name, whole[name]) for name in names])

    @property
    def dtype(self) -> np.dtype:
        return self._read if self._single is None else self._read[self._single]

    def __getitem__(self, args: Any) -> Any:
        values = self._dset._read(args, self._read)
        return values if self._single is None else values[self._single]


class ChunkIterator:
    """The slices of each chunk within a region."""

    def __init__(self, dset: Dataset, region: Any = None) -> None:
        if dset.chunks is None or dset.shape is None:
            raise TypeError("Chunked dataset required")
        if region is None:
            region = tuple(slice(0, size) for size in dset.shape)
        elif isinstance(region, slice | int):
            region = (region,)
        if len(region) != dset.ndim:
            raise ValueError("Invalid selection - selection region must have same rank as dataset")
        axes = []
        for chosen, size, chunk in zip(region, dset.shape, dset.chunks, strict=True):
            chosen = slice(chosen, chosen + 1) if isinstance(chosen, int) else chosen
            start, stop = chosen.start or 0, chosen.stop or size
            if start < 0 or stop > size or stop <= start:
                raise ValueError("Invalid selection - selection region must be within dataset space")
            axes.append((start, stop, chunk))
        self._chunks = _boxes(axes)

    def __iter__(self) -> Iterator[tuple[slice, ...]]:
        return self

    def __next__(self) -> tuple[slice, ...]:
        return next(self._chunks)


def _boxes(axes: list[tuple[int, int, int]]) -> Iterator[tuple[slice, ...]]:
    """The slices of each chunk, the last axis fastest; an axis is its first index, the index after its last, and the size of chunks. There may be
    more chunks along an axis than a list has room for."""
    if not axes:
        yield ()
        return
    (start, stop, chunk), *further = axes
    for first in range(start - start % chunk, stop, chunk):
        own = slice(max(first, start), min(first + chunk, stop), 1)
        for others in _boxes(further):
            yield own, *others
