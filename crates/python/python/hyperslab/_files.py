"""Files."""

from __future__ import annotations

import os
from typing import Any, Self

from ._group import Group
from ._hyperslab import FileHandle

_WRITING = {"r+", "w", "w-", "x", "a"}


class File(Group):
    """An open file, which is its root group too. Any number of threads may read it at once.

    >>> with File("data.h5") as f:                  # doctest: +SKIP
    ...     f["run/temperature"][720, ::2]
    """

    def __init__(self, name: str | bytes | os.PathLike[Any], mode: str = "r") -> None:
        if mode in _WRITING:
            raise NotImplementedError(f"mode {mode!r}: files can only be read so far; open with mode 'r'")
        if mode != "r":
            raise ValueError("Invalid mode; must be 'r'")
        opened = FileHandle(os.fsdecode(name))
        super().__init__(opened.root(), opened, "/")

    @classmethod
    def _of(cls, opened: FileHandle) -> File:
        """A file that is open already."""
        file = object.__new__(File)
        Group.__init__(file, opened.root(), opened, "/")
        return file

    @property
    def filename(self) -> str:
        """The name that the file was opened with."""
        return self._opened.filename

    @property
    def mode(self) -> str:
        """Always "r": files can only be read so far."""
        if not self:
            raise ValueError("the file of this object is closed")
        return "r"

    @property
    def driver(self) -> str:
        """How the file lies on storage: "sec2" for one file, "family" for several."""
        return self._opened.driver

    @property
    def userblock_size(self) -> int:
        """How many bytes lie before the HDF5 part of the file."""
        return self._opened.user_block

    @property
    def file(self) -> File:
        """Itself."""
        return self

    def close(self) -> None:
        """Closes the file; no object of it can be used afterwards. Closing twice is allowed."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 file>"
        return f'<HDF5 file "{os.path.basename(self.filename)}" (mode {self.mode})>'


def is_hdf5(name: str | bytes | os.PathLike[Any]) -> bool:
    """Whether there is a file of this name that can be opened as HDF5."""
    try:
        FileHandle(os.fsdecode(name)).close()
    except OSError:
        return False
    return True
