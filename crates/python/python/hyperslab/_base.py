"""What all objects of a file have in common."""

from __future__ import annotations

import posixpath
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any

import numpy as np

from ._hyperslab import FileHandle, ObjectHandle, Reference, link_changes
from ._regions import RegionProxy

if TYPE_CHECKING:
    from ._attributes import AttributeManager
    from ._files import File
    from ._group import Group


class Empty:
    """A value of no elements at all: it has a type, but neither shape nor data.

    >>> Empty("f4")
    Empty(dtype=dtype('float32'))
    """

    shape = None
    size = None

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Empty) and self.dtype == other.dtype

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Empty(dtype={self.dtype!r})"


class HLObject:
    """An object of a file: a group, a dataset or a named datatype."""

    _handle: ObjectHandle

    def __init__(self, handle: Any, opened: FileHandle | None = None, name: str | bytes | None = None) -> None:
        """From a handle, or from the `id` of an object."""
        if not isinstance(handle, ObjectHandle):
            known = getattr(handle, "_object", None)
            if known is None or not isinstance(known, type(self)):
                raise ValueError(f"{handle} is not the id of a {type(self).__name__.lower()}")
            handle, opened, name = known._handle, known._opened, known._name
        self._handle = handle
        self._name = name
        # When the name was last right, as a number of `link_changes`; `None` if it was not looked for.
        self._named_at = None if name is None else link_changes()
        self._opened: FileHandle = handle.file if opened is None else opened
        self._hash: int | None = None

    @property
    def name(self) -> str | bytes | None:
        """The path that led here; if it does no longer, or a reference led here, some path that does. `None` if there is none, and when the file is
        closed."""
        if not self._handle.valid:
            return None
        now = link_changes()
        # The root group keeps its name.
        if self._named_at != now and self._name != "/":
            if self._name is None or not _leads(self._name, self._handle):
                self._name = _find(self.file, self._handle.address)
            self._named_at = now
        return self._name

    @property
    def file(self) -> File:
        """The file that the object is in."""
        from ._files import File

        return File._of(self._handle.file)

    @property
    def parent(self) -> Group:
        """The group that holds the object by its name."""
        name = self.name
        if name is None:
            raise ValueError("Parent of an anonymous object is undefined")
        return self.file[posixpath.dirname(name)]

    @property
    def attrs(self) -> AttributeManager:
        """The attributes of the object."""
        from ._attributes import AttributeManager

        return AttributeManager(self._handle)

    @property
    def ref(self) -> Reference:
        """A reference to the object: `file[object.ref]` is the object."""
        return self._handle.reference()

    @property
    def regionref(self) -> RegionProxy:
        """Makes references to parts of a dataset, by indexing.

        >>> dataset.regionref[0:10:2]               # doctest: +SKIP
        <HDF5 region reference>
        """
        return RegionProxy(self)

    @property
    def id(self) -> Any:
        """What h5py's users find of the lower level."""
        from ._ids import ObjectID

        return ObjectID(self)

    @property
    def _id(self) -> Any:
        return self.id

    def __bool__(self) -> bool:
        return self._handle.valid

    def __eq__(self, other: object) -> bool:
        return self._handle == other._handle if isinstance(other, HLObject) else NotImplemented

    def __hash__(self) -> int:
        """A number that objects of open files have; where it was asked for, it stays when the file is closed."""
        if self._hash is None:
            if not self._handle.valid:
                raise TypeError(f"Objects of class {type(self).__name__} cannot be hashed: the file is closed")
            self._hash = hash(self._handle)
        return self._hash

    def __reduce__(self) -> Any:
        """As the path of the file and the name of the object: where it is unpickled, the file is opened again, to be changed if this one can be.
        What was not flushed is not seen by other processes."""
        from ._pickle import reduced

        return reduced(self)


def _leads(name: str | bytes, handle: ObjectHandle) -> bool:
    """Whether a path leads to an object of the same file."""
    try:
        return handle.file.root().get(name) == handle
    except (KeyError, TypeError):
        return False


def _find(file: File, address: int) -> str | bytes | None:
    """Some path to the object at an address."""
    if file._handle.address == address:
        return "/"
    found = file._walk(lambda name, target, first: name if target == ("hard", address) else None)
    return None if found is None else _join("/", found)


def _join(parent: str | bytes, name: str | bytes) -> str | bytes:
    """A path below another, without what is superfluous in it; as bytes only if it is not UTF-8."""
    joined = posixpath.join(_encoded(parent), _encoded(name))
    path = b"/" + b"/".join(part for part in joined.split(b"/") if part not in (b"", b"."))
    try:
        return path.decode()
    except UnicodeDecodeError:
        return path


def _text(name: str | bytes) -> str:
    """A name to be shown."""
    return name if isinstance(name, str) else repr(name)


def _encoded(name: str | bytes) -> bytes:
    return name if isinstance(name, bytes) else name.encode()


class _Keys(KeysView[Any]):
    _mapping: Any

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._mapping)

    def __repr__(self) -> str:
        return f"<KeysView {list(self)}>"


class _Values(ValuesView[Any]):
    """A name that leads nowhere has the value `None`."""

    _mapping: Mapping[Any, Any]

    def __iter__(self) -> Iterator[Any]:
        return (self._mapping.get(key) for key in self._mapping)

    def __reversed__(self) -> Iterator[Any]:
        return (self._mapping.get(key) for key in reversed(self._mapping))  # type: ignore[call-overload]

    def __contains__(self, value: object) -> bool:
        return any(value == found for found in self)


class _Items(ItemsView[Any, Any]):
    """A name that leads nowhere has the value `None`."""

    _mapping: Mapping[Any, Any]

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return ((key, self._mapping.get(key)) for key in self._mapping)

    def __reversed__(self) -> Iterator[tuple[Any, Any]]:
        return ((key, self._mapping.get(key)) for key in reversed(self._mapping))  # type: ignore[call-overload]

    def __contains__(self, item: object) -> bool:
        match item:
            case (key, value):
                return key in self._mapping and self._mapping.get(key) == value
        return False


class NamesMapping(Mapping[Any, Any]):
    """A mapping whose names may lead nowhere."""

    def keys(self) -> KeysView[Any]:
        """The names."""
        return _Keys(self)

    def values(self) -> ValuesView[Any]:
        """What the names stand for."""
        return _Values(self)

    def items(self) -> ItemsView[Any, Any]:
        """The names, with what they stand for."""
        return _Items(self)

    def _ipython_key_completions_(self) -> list[Any]:
        return sorted(self.keys())
