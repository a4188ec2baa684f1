"""Files."""

from __future__ import annotations

import os
from typing import Any, Self

from ._group import Group
from ._hyperslab import FileHandle
from ._options import check_options

_WRITING = {"r+", "w", "w-", "x", "a"}


class File(Group):
    """An open file, which is its root group too. Any number of threads may read it at once.

    >>> with File("data.h5") as f:                  # doctest: +SKIP
    ...     f["run/temperature"][720, ::2]
    """

    def __init__(
        self,
        name: Any,
        mode: str = "r",
        driver: str | None = None,
        libver: str | tuple[str, str] | None = None,
        userblock_size: int | None = None,
        swmr: bool = False,
        locking: bool | str | None = None,
        **options: Any,
    ) -> None:
        """Opens a file for reading: by its name, or any object with `read` and `seek`, whose bytes are taken at once.

        Takes what `h5py.File` takes. `libver`, `locking` and sizes of caches have no effect on reading, but must be
        right. Drivers: "sec2", "stdio" and "core" for one file, "family" for a name such as "part%05d.h5", "split" for
        a pair whose common part is given, "fileobj" for objects.
        """
        if mode in _WRITING:
            raise NotImplementedError(f"mode {mode!r}: files can only be read so far; open with mode 'r'")
        if mode != "r":
            raise ValueError("Invalid mode; must be 'r'")
        if userblock_size is not None:
            raise ValueError("User block may only be specified when creating a file")
        check_options(driver, libver, locking, options)
        opened = _open(name, driver, options)
        super().__init__(opened.root(), opened, "/")
        self._swmr = bool(swmr)

    @classmethod
    def _of(cls, opened: FileHandle) -> File:
        """A file that is open already."""
        file = object.__new__(File)
        Group.__init__(file, opened.root(), opened, "/")
        file._swmr = False
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
    def swmr_mode(self) -> bool:
        """Whether the file was opened as one that another program may be writing."""
        return self._swmr

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


def _open(name: Any, driver: str | None, options: dict[str, Any]) -> FileHandle:
    if driver == "fileobj" or hasattr(name, "read"):
        file = options.get("fileobj", name)
        file.seek(0)
        return FileHandle.of_bytes(file.read())
    path = os.fsdecode(name)
    if driver == "split":
        path += options.get("meta_ext", "-m.h5")
    if driver == "family" and "%" not in path:
        raise ValueError(f"a family of files has a name such as 'part%05d.h5', not {path!r}")
    return FileHandle(path)


def is_hdf5(name: str | bytes | os.PathLike[Any]) -> bool:
    """Whether there is a file of this name that can be opened as HDF5."""
    try:
        FileHandle(os.fsdecode(name)).close()
    except OSError:
        return False
    return True
