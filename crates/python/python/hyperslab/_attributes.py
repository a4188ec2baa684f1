"""The attributes of an object, as a mapping."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._base import Empty, NamesMapping, _text
from ._dtypes import check_string_dtype
from ._hyperslab import ObjectHandle


class AttributeManager(NamesMapping):
    """The attributes of an object: names and values.

    Strings of variable length are `str`; other values are as NumPy has them.

    >>> dataset.attrs["unit"]                       # doctest: +SKIP
    'K'
    >>> dict(dataset.attrs)                         # doctest: +SKIP
    {'unit': 'K', 'range': array([200., 320.])}
    """

    def __init__(self, handle: ObjectHandle) -> None:
        self._handle = handle

    def __getitem__(self, name: str | bytes) -> Any:
        attribute = self._handle.attribute(name)
        if attribute is None:
            raise KeyError(f"Unable to open attribute (can't locate attribute: '{_text(name)}')")
        if attribute.shape is None:
            return Empty(attribute.dtype)
        values = attribute.read()
        text = check_string_dtype(values.dtype)
        if text is not None and text.length is None:
            decoded = [value.decode("utf-8", "surrogateescape") for value in values.flat]
            values = np.array(decoded, dtype=values.dtype).reshape(values.shape)
        return values[()] if values.ndim == 0 else values

    def __iter__(self) -> Iterator[Any]:
        return iter(self._handle.attribute_names())

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._handle.attribute_names())

    def __len__(self) -> int:
        return len(self._handle.attribute_names())

    def __contains__(self, name: object) -> bool:
        return self._handle.attribute(name) is not None  # type: ignore[arg-type]

    def __repr__(self) -> str:
        if not self._handle.valid:
            return "<Attributes of closed HDF5 object>"
        return f"<Attributes of HDF5 object at {id(self._handle)}>"
