"""Virtual datasets: what their values are taken from."""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Any

from ._hyperslab import UNLIMITED, Space
from ._selections import choose

if TYPE_CHECKING:
    from ._dataset import Dataset


class VirtualSource:
    """A dataset whose values another one shows, and by indexing a part of it.

    >>> VirtualSource("raw.h5", "data", shape=(10, 20))[:, ::2].shape
    (10, 10)
    """

    def __init__(
        self,
        path_or_dataset: Any,
        name: str | None = None,
        shape: Any = None,
        dtype: Any = None,
        maxshape: Any = None,
    ) -> None:
        from ._dataset import Dataset

        if isinstance(path_or_dataset, Dataset):
            others = {"name": name, "shape": shape, "dtype": dtype, "maxshape": maxshape}
            given = {key: value for key, value in others.items() if value is not None}
            if given:
                raise TypeError(f"a dataset says everything itself; these are too much: {given}")
            dataset: Dataset = path_or_dataset
            path_or_dataset, name = dataset.file.filename, dataset.name  # type: ignore[assignment]
            shape, dtype, maxshape = dataset.shape, dataset.dtype, dataset.maxshape
        if name is None:
            raise TypeError("The name parameter is required when specifying a source by path")
        if shape is None:
            raise TypeError("The shape parameter is required when specifying a source by path")
        self.path, self.name, self.dtype = path_or_dataset, name, dtype
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.maxshape = (maxshape,) if isinstance(maxshape, int) else maxshape or shape
        self._whole = True
        self._full = shape
        self.space, self._shape = Space(shape), shape

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is selected."""
        return self._shape

    def __getitem__(self, key: Any) -> VirtualSource:
        if not self._whole:
            raise RuntimeError("VirtualSource objects can only be sliced once.")
        part = copy.copy(self)
        part.space, part._shape = choose(self._full, key)
        part._whole = False
        return part


class VirtualLayout:
    """What a virtual dataset will be like: parts of it are assigned sources.

    >>> layout = VirtualLayout(shape=(2, 100), dtype="i4")
    >>> layout[0] = VirtualSource("first.h5", "data", shape=(100,))
    >>> layout[1] = VirtualSource("second.h5", "data", shape=(100,))
    """

    def __init__(self, shape: Any, dtype: Any, maxshape: Any = None, filename: Any = None) -> None:
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype = dtype
        self.maxshape = (maxshape,) if isinstance(maxshape, int) else maxshape
        self._filename = filename
        self._parts: list[tuple[Space, bytes, str, Space]] = []

    def __setitem__(self, key: Any, source: VirtualSource) -> None:
        space, _ = choose(self.shape, key)
        if UNLIMITED not in (space.npoints, source.space.npoints) and space.npoints != source.space.npoints:
            raise ValueError(
                f"a different number of elements: {space.npoints} of the layout, {source.space.npoints} of the source"
            )
        self._parts.append((space, os.fsencode(source.path), source.name, source.space))

    def sources(self, filename: str) -> list[tuple[Space, bytes, str, Space]]:
        """All parts of a dataset in a file; what is in the same file is named so that the file may move."""
        own = os.fsencode(filename)
        if self._filename is not None and os.fsencode(self._filename) != own:
            raise ValueError(f"the layout was made for {self._filename!r}, not for {filename!r}")
        return [(target, b"." if file == own else file, name, source) for target, file, name, source in self._parts]
