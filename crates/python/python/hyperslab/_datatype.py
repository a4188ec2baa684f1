"""Datatypes that have a name in the file."""

from __future__ import annotations

import posixpath

import numpy as np

from ._base import HLObject, _text
from ._hyperslab import DatatypeHandle


class Datatype(HLObject):
    """A datatype with a name."""

    _handle: DatatypeHandle

    @property
    def dtype(self) -> np.dtype:
        """The dtype that fits it."""
        return self._handle.dtype

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 named type>"
        name = self.name
        shown = '("anonymous")' if name is None else f'"{posixpath.basename(_text(name))}"'
        return f"<HDF5 named type {shown} (dtype {self.dtype.str})>"
