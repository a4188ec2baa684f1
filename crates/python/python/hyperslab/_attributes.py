"""The attributes of an object, as a mapping."""

from __future__ import annotations

import math
from collections.abc import Iterator, MutableMapping
from typing import Any

import numpy as np

from ._arrays import new_array, plain
from ._base import Empty, NamesMapping, _text
from ._datatype import Datatype
from ._dtypes import check_string_dtype
from ._errors import check_writable
from ._hyperslab import ObjectHandle


class AttributeManager(NamesMapping, MutableMapping[Any, Any]):
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

    def __setitem__(self, name: str | bytes, value: Any) -> None:
        self.create(name, value)

    def __delitem__(self, name: str | bytes) -> None:
        if self._handle.attribute(name) is None:
            raise KeyError(f"Unable to delete attribute (can't locate attribute: '{_text(name)}')")
        check_writable(self._handle, "delete attribute", KeyError)
        self._handle.remove_attribute(name)

    def create(self, name: str | bytes, data: Any, shape: Any = None, dtype: Any = None) -> None:
        """Gives the object an attribute, instead of one that may have this name.

        >>> dataset.attrs.create("range", [200, 320], dtype="f4")      # doctest: +SKIP
        """
        check_writable(self._handle, "create attribute", KeyError if name in self else OSError)
        stored: Any = dtype._handle if isinstance(dtype, Datatype) else None
        dtype = dtype.dtype if isinstance(dtype, Datatype) else dtype
        if isinstance(data, Empty):
            wanted = data.dtype if dtype is None else np.dtype(dtype)
            self._handle.set_attribute(name, wanted if stored is None else stored)
            return
        data = new_array(data, dtype)
        dtype = data.dtype if dtype is None else np.dtype(dtype)
        shape = data.shape if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
        element = dtype
        if dtype.subdtype is not None:
            # The last dimensions of the values are those of the type.
            element, inner = dtype.subdtype
            if shape[len(shape) - len(inner) :] != inner:
                raise ValueError(f"Array dtype shape {inner} is incompatible with data shape {shape}")
            shape = shape[: len(shape) - len(inner)]
        elif math.prod(shape) != data.size:
            raise ValueError("Shape of new attribute conflicts with shape of data")
        values = np.asarray(plain(data), dtype=None if element.kind == "T" else element, order="C")
        memory = values.dtype if dtype.subdtype is None else np.dtype((values.dtype, dtype.shape))
        self._handle.set_attribute(name, dtype if stored is None else stored, values, memory, shape)

    def modify(self, name: str | bytes, value: Any) -> None:
        """Gives an attribute another value, but leaves its type and shape; makes it if it is not there."""
        attribute = self._handle.attribute(name)
        if attribute is None:
            self[name] = value
            return
        shape, dtype = attribute.shape, attribute.dtype
        if shape is None:
            raise OSError("Empty attributes can't be modified")
        check_writable(self._handle, "write attribute", OSError)
        values = plain(np.asarray(value, order="C", dtype=None if isinstance(value, np.ndarray) else dtype))
        whole = shape + dtype.shape
        if values.shape != whole and not (values.size == 1 and math.prod(whole) == 1):
            raise TypeError("Shape of data is incompatible with existing attribute")
        if values.dtype.names is not None and dtype.names is not None:
            values = _with_other_fields(values, attribute.read())
        memory = values.dtype if dtype.subdtype is None else np.dtype((values.dtype, dtype.shape))
        self._handle.set_attribute(name, dtype, values, memory, shape)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._handle.attribute_names())

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._handle.attribute_names())

    def __len__(self) -> int:
        return self._handle.attribute_count()

    def __contains__(self, name: object) -> bool:
        return self._handle.attribute(name) is not None  # type: ignore[arg-type]

    def __repr__(self) -> str:
        if not self._handle.valid:
            return "<Attributes of closed HDF5 object>"
        return f"<Attributes of HDF5 object at {id(self._handle)}>"


def _with_other_fields(values: np.ndarray, old: np.ndarray) -> np.ndarray:
    """Values of structures, with the fields that only the old values have."""
    missing = [name for name in old.dtype.names or () if name not in (values.dtype.names or ())]
    if not missing:
        return values
    made = np.empty(old.shape, [*((name, values.dtype[name]) for name in values.dtype.names), *((name, old.dtype[name]) for name in missing)])
    for name in made.dtype.names:
        made[name] = (old if name in missing else values)[name].reshape(made[name].shape)
    return made
