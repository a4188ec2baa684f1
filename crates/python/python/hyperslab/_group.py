"""Groups: names that lead to objects."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

import numpy as np

from ._base import HLObject, NamesMapping, _encoded, _join, _text
from ._create_in_group import CreateInGroup
from ._dataset import Dataset
from ._datatype import Datatype
from ._hyperslab import DatasetHandle, DatatypeHandle, FileHandle, GroupHandle, ObjectHandle, Reference
from ._links import ExternalLink, HardLink, SoftLink, link_class, link_object


def _refusal(obj: Any) -> type[Exception]:
    """What h5py raises if an object cannot get a name since the file is only read."""
    if isinstance(obj, HLObject | SoftLink):
        return OSError
    if isinstance(obj, ExternalLink):
        return RuntimeError
    return KeyError if isinstance(obj, np.dtype) else ValueError


class Group(CreateInGroup, NamesMapping, HLObject, MutableMapping[Any, Any]):
    """An object that holds others by their names.

    >>> list(group)                                 # doctest: +SKIP
    ['temperature', 'wind']
    >>> group["wind/speed"]                         # doctest: +SKIP
    <HDF5 dataset "speed": shape (1440, 90), type "<f4">
    """

    _handle: GroupHandle

    __eq__ = HLObject.__eq__
    __hash__ = HLObject.__hash__

    def __getitem__(self, name: str | bytes | Reference) -> Any:
        if isinstance(name, Reference):
            handle = self._handle.file.dereference(name)
            if handle is None:
                raise ValueError("Invalid HDF5 object reference")
            return wrap(handle, None)
        if not isinstance(name, str | bytes):
            raise TypeError(f"Accessing a group is done with bytes or str, not {type(name)}")
        if not name:
            raise KeyError("Unable to open object (name parameter cannot be an empty string)")
        handle = self._handle.get(name)
        if handle.file != self._handle.file:
            return wrap(handle, None)
        return wrap(handle, None if self.name is None else _join(self.name, name))

    def get(
        self,
        name: str | bytes,
        default: Any = None,
        getclass: bool = False,
        getlink: bool = False,
        elink_mode: str | None = None,
        elink_locking: bool | str | None = None,
        elink_swmr: bool | None = None,
    ) -> Any:
        """The object with this name, or `default`. With `getclass` its class instead, with `getlink` the link instead of the
        object, with both the class of the link. What external links lead to is read only, whatever `elink_locking` says.

        >>> group.get("wind", getlink=True)         # doctest: +SKIP
        <SoftLink to "/archive/wind">
        """
        if getlink:
            target = self._link(name)
            if target is None:
                return default
            return link_class(target) if getclass else link_object(target)
        if elink_mode not in (None, "r"):
            if elink_mode != "r+" or not self._handle.file.is_writable:
                raise ValueError(f"external links cannot be followed with mode {elink_mode!r}")
            raise NotImplementedError("writing to what external links lead to: open that file itself")
        try:
            found = self[name]
        except KeyError:
            return default
        return type(found) if getclass else found

    def __setitem__(self, name: str | bytes, obj: Any) -> None:
        """Gives an object a name: an object of the file another one, a link or a dtype its first, anything else as a new dataset."""
        self._check_writable("create link", _refusal(obj))
        if isinstance(obj, HLObject):
            self._handle.hard_link(name, obj._handle)
        elif isinstance(obj, SoftLink):
            self._handle.soft_link(name, obj.path)
        elif isinstance(obj, ExternalLink):
            self._handle.external_link(name, os.fsencode(obj.filename), obj.path)
        elif isinstance(obj, HardLink):
            raise TypeError("a hard link is made by assigning the object itself")
        elif isinstance(obj, np.dtype):
            self._handle.commit_datatype(name, obj)
        else:
            self.create_dataset(name, data=obj)

    def __delitem__(self, name: str | bytes) -> None:
        """Takes a name away. An object without names is gone."""
        self._check_writable("delete link", KeyError)
        self._handle.delete(name)

    def move(self, source: str | bytes, dest: str | bytes) -> None:
        """Gives what has one name another.

        >>> group.move("wind", "archive/wind")      # doctest: +SKIP
        """
        if _encoded(source) != _encoded(dest):
            self._check_writable("move link")
            self._handle.rename(source, dest)

    def _link(self, name: str | bytes) -> tuple[Any, ...] | None:
        """What the last name of a path stands for."""
        path = name.encode() if isinstance(name, str) else name
        names = [part for part in path.split(b"/") if part not in (b"", b".")]
        if not names:
            return ("hard", self._handle.address) if path else None
        before = (b"/" if path.startswith(b"/") else b"./") + b"/".join(names[:-1])
        try:
            holder = self._handle.get(before)
        except KeyError:
            return None
        return holder.link(names[-1]) if isinstance(holder, GroupHandle) else None

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str | bytes):
            raise TypeError(f"A name should be string or bytes, not {type(name)}")
        if not self:
            return False
        return self._link(name) is not None

    def __iter__(self) -> Iterator[Any]:
        return (name for name, _ in self._handle.links())

    def __reversed__(self) -> Iterator[Any]:
        return (name for name, _ in reversed(self._handle.links()))

    def __len__(self) -> int:
        return self._handle.link_count()

    def visit(self, func: Callable[[Any], Any]) -> Any:
        """Calls `func(name)` for each object below this group, once, and stops when it returns anything but `None`.

        >>> group.visit(print)                      # doctest: +SKIP
        temperature
        wind
        wind/speed
        """
        return self._walk(lambda name, target, first: func(name) if first else None)

    def visititems(self, func: Callable[[Any, Any], Any]) -> Any:
        """Calls `func(name, object)` for each object below this group, once, and stops when it returns anything but `None`."""
        return self._walk(lambda name, target, first: func(name, self[name]) if first else None)

    def visit_links(self, func: Callable[[Any], Any]) -> Any:
        """As `visit`, but for each link: soft and external ones too, and each name of an object."""
        return self._walk(lambda name, target, first: func(name))

    def visititems_links(self, func: Callable[[Any, Any], Any]) -> Any:
        """As `visit_links`, with `func(name, link)`."""
        return self._walk(lambda name, target, first: func(name, link_object(target)))

    def _walk(self, func: Callable[[Any, tuple[Any, ...], bool], Any]) -> Any:
        """Calls `func(name, target, first)` for each link; `first` tells whether it is the first to its object."""
        seen = {self._handle.address}
        waiting: list[tuple[Any, Iterator[Any], GroupHandle]] = [(None, iter(self._handle.links(True)), self._handle)]
        while waiting:
            prefix, links, handle = waiting[-1]
            found = next(links, None)
            if found is None:
                waiting.pop()
                continue
            name, target = found
            path = name if prefix is None else _below(prefix, name)
            first = target[0] == "hard" and target[1] not in seen
            if (result := func(path, target, first)) is not None:
                return result
            if first:
                seen.add(target[1])
                below = handle.get(name)
                if isinstance(below, GroupHandle):
                    waiting.append((path, iter(below.links(True)), below))
        return None

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 group>"
        shown = "(anonymous)" if self.name is None else f'"{_text(self.name)}"'
        return f"<HDF5 group {shown} ({len(self)} members)>"


def _below(prefix: str | bytes, name: str | bytes) -> str | bytes:
    joined = _join(prefix, name)
    return joined[1:]


def wrap(handle: ObjectHandle, name: str | bytes | None) -> Group | Dataset | Datatype:
    """The object that a handle stands for."""
    opened: FileHandle = handle.file
    if isinstance(handle, DatasetHandle):
        return Dataset(handle, opened, name)
    if isinstance(handle, DatatypeHandle):
        return Datatype(handle, opened, name)
    return Group(handle, opened, name)
