"""Copies of objects."""

from __future__ import annotations

import posixpath
from typing import Any

from ._base import HLObject, _encoded
from ._hyperslab import GroupHandle, copy


def copy_object(here: Any, source: Any, dest: Any, name: str | bytes | None, **ways: bool) -> None:
    """Copies `source`, an object or a path from `here`, to `dest`: a path from `here`, or a group that it gets a name in."""
    found = source if isinstance(source, HLObject) else here[source]
    if isinstance(dest, HLObject):
        if not isinstance(dest._handle, GroupHandle):
            raise TypeError("Destination must be path or Group object")
        path = name or posixpath.basename(_encoded(found.name or ""))
    else:
        path, dest = dest, here
    dest._check_writable("copy object", RuntimeError)
    copy(found._handle, dest._handle, path, ways)
