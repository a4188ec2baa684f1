"""Copies of objects."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from ._base import Empty, HLObject, _text
from ._hyperslab import DatasetHandle, DatatypeHandle, GroupHandle
from ._links import ExternalLink, SoftLink

if TYPE_CHECKING:
    from ._dataset import Dataset
    from ._group import Group

# No more bytes than these are in memory at once, unless one chunk is larger.
_PART = 64 * 1024 * 1024


def copy_object(
    here: Any,
    source: Any,
    dest: Any,
    name: str | None,
    shallow: bool,
    expand_soft: bool,
    expand_external: bool,
    without_attrs: bool,
) -> None:
    """Copies `source`, an object or a path from `here`, to `dest`: a path from `here`, or a group that it gets a name in."""
    found = source if isinstance(source, HLObject) else here[source]
    if isinstance(dest, HLObject):
        if not isinstance(dest._handle, GroupHandle):
            raise TypeError("Destination must be path or Group object")
        path = name or posixpath.basename(_text(found.name or ""))
    else:
        path, dest = dest, here
    if path in dest:
        raise ValueError(f"Unable to copy object (destination object {path!r} exists already)")
    copier = _Copier(shallow, expand_soft, expand_external, without_attrs)
    copier.copy(found, dest, path)


class _Copier:
    """One copy, which remembers what it copied already."""

    def __init__(self, shallow: bool, expand_soft: bool, expand_external: bool, without_attrs: bool) -> None:
        self._shallow = shallow
        self._expand = (*((SoftLink,) if expand_soft else ()), *((ExternalLink,) if expand_external else ()))
        self._without_attrs = without_attrs
        self._done: dict[Any, Any] = {}

    def copy(self, source: Any, group: Group, name: Any, depth: int = 0) -> None:
        if source in self._done:
            group[name] = self._done[source]
            return
        handle = source._handle
        if isinstance(handle, DatasetHandle):
            made: Any = _copy_dataset(source, group, name)
        elif isinstance(handle, DatatypeHandle):
            group[name] = source.dtype
            made = group[name]
        else:
            # Listed before: the copy may lie within what is copied.
            links = [(key, source.get(key, getlink=True)) for key in source]
            made = group.create_group(name)
            self._done[source] = made
            self._copy_links(source, made, links, depth)
        self._done[source] = made
        if not self._without_attrs:
            for key in handle.attribute_names():
                made.attrs._copy_from(source.attrs, key)

    def _copy_links(self, source: Group, made: Group, links: list[tuple[Any, Any]], depth: int) -> None:
        for key, link in links:
            if isinstance(link, SoftLink | ExternalLink) and (not isinstance(link, self._expand) or key not in source):
                made[key] = link
                continue
            below = source.get(key)
            if below is None:
                made[key] = link
            elif not self._shallow or depth == 0:
                self._shallow_or_whole(below, made, key, depth)

    def _shallow_or_whole(self, below: Any, made: Group, key: Any, depth: int) -> None:
        if self._shallow and isinstance(below._handle, GroupHandle):
            copied = made.create_group(key)
            if not self._without_attrs:
                for name in below._handle.attribute_names():
                    copied.attrs._copy_from(below.attrs, name)
            return
        self.copy(below, made, key, depth + 1)


def _copy_dataset(source: Dataset, group: Group, name: Any) -> Dataset:
    if source.is_virtual or source.external:
        raise NotImplementedError("copies of datasets whose values are elsewhere")
    if source.shape is None:
        return group.create_dataset(name, data=Empty(source.dtype))
    made = group.create_dataset_like(name, source)
    if source.ndim == 0:
        made[()] = source[()]
        return made
    row = max(source.nbytes // max(source.shape[0], 1), 1)
    step = max(_PART // row, 1)
    if source.chunks is not None:
        step = max(step // source.chunks[0], 1) * source.chunks[0]
    for start in range(0, source.shape[0], step):
        made[start : start + step] = source[start : start + step]
    return made
