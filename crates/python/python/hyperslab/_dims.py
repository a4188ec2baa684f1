"""Dimension scales: datasets that say what the indices of another one mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._base import _encoded
from ._hyperslab import DatasetHandle

if TYPE_CHECKING:
    from ._dataset import Dataset

# What the names of attributes are, of a dataset with scales and of a scale.
_LIST, _LABELS, _NAME, _CLASS = "DIMENSION_LIST", "DIMENSION_LABELS", "NAME", "CLASS"


class DimensionManager:
    """The dimensions of a dataset, by number.

    >>> dataset.dims[0].label                       # doctest: +SKIP
    'time'
    >>> dataset.dims[0]["seconds"][:10]             # doctest: +SKIP
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def __getitem__(self, index: int) -> DimensionProxy:
        if index > len(self) - 1:
            raise IndexError("Index out of range")
        return DimensionProxy(self._dataset, index)

    def __len__(self) -> int:
        return self._dataset.ndim

    def __iter__(self) -> Iterator[DimensionProxy]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        if not self._dataset:
            return "<Dimensions of closed HDF5 dataset>"
        return f"<Dimensions of HDF5 object at {id(self._dataset)}>"


class DimensionProxy:
    """One dimension of a dataset: its label, and its scales by name or number."""

    def __init__(self, dataset: Dataset, dimension: int) -> None:
        self._dataset = dataset
        self._dimension = dimension

    @property
    def label(self) -> str:
        """What the dimension is called; empty if it has no name."""
        labels = self._dataset.attrs.get(_LABELS)
        return "" if labels is None else _string(labels[self._dimension])

    @label.setter
    def label(self, value: str) -> None:
        self._dataset._handle.set_label(self._dimension, value)

    def attach_scale(self, dset: Dataset) -> None:
        """Says that the indices of this dimension stand for the values of `dset`, which becomes a scale if it is none."""
        self._dataset._handle.attach_scale(self._dimension, dset._handle)

    def detach_scale(self, dset: Dataset) -> None:
        """Takes a scale away from this dimension."""
        self._dataset._handle.detach_scale(self._dimension, dset._handle)

    def _scales(self) -> list[Dataset]:
        from ._group import wrap

        lists = self._dataset.attrs.get(_LIST)
        if lists is None:
            return []
        file = self._dataset._handle.file
        found = [wrap(file.dereference(reference), None) for reference in lists[self._dimension] if reference]
        return [scale for scale in found if isinstance(scale._handle, DatasetHandle)]  # type: ignore[misc]

    def __getitem__(self, item: int | str | bytes) -> Dataset:
        scales = self._scales()
        if isinstance(item, int):
            return scales[item]
        for scale in scales:
            if _encoded(scale_name(scale)) == _encoded(item):
                return scale
        raise KeyError(item)

    def __len__(self) -> int:
        return len(self._scales())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> list[str]:
        """The names of the scales."""
        return [name for name, _ in self.items()]

    def values(self) -> list[Dataset]:
        """The scales."""
        return self._scales()

    def items(self) -> list[tuple[str, Dataset]]:
        """The scales and their names."""
        return [(scale_name(scale), scale) for scale in self._scales()]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DimensionProxy):
            return NotImplemented
        return (self._dataset, self._dimension) == (other._dataset, other._dimension)

    def __hash__(self) -> int:
        return hash((self._dataset, self._dimension))

    def __repr__(self) -> str:
        if not self._dataset:
            return "<Dimension of closed HDF5 dataset>"
        return f'<"{self.label}" dimension {self._dimension} of HDF5 dataset at {id(self._dataset)}>'


def scale_name(dataset: Dataset) -> str:
    """The name that a scale has as such; empty if it has none."""
    return _string(dataset.attrs.get(_NAME, ""))


def is_scale(dataset: Dataset) -> bool:
    """Whether a dataset is a dimension scale."""
    return _string(dataset.attrs.get(_CLASS, "")) == "DIMENSION_SCALE"


def _string(value: Any) -> str:
    """A text, however it is stored; empty if it is none."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(())[()]
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value if isinstance(value, str) else ""
