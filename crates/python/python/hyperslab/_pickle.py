"""Objects of files that are pickled: the path of the file, how it was opened, and the name of the object."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ._hyperslab import FileHandle

if TYPE_CHECKING:
    from ._base import HLObject


def reduced(thing: HLObject) -> Any:
    """What `__reduce__` gives for an object."""
    from ._files import File

    opened = thing._opened
    how, name = opened.opened_with, thing.name
    if how is None:
        raise TypeError("objects of a file that is in memory or in a file object cannot be pickled: other processes do not find it")
    if name is None:
        raise TypeError("an object that has no name cannot be pickled")
    mode = "r+" if opened.is_writable else "r"
    about = (thing._swmr, thing._driver, thing._libver) if isinstance(thing, File) else None
    return restored, (os.path.abspath(opened.filename), mode, how, name, about)


def restored(path: str, mode: str, how: tuple[Any, Any], name: str | bytes, about: tuple[Any, ...] | None) -> Any:
    """An object that was pickled, in a file that is opened for it. The file is closed when its last object goes."""
    from ._files import File

    file = File._of(FileHandle(path, mode, *how))
    if about is None:
        return file[name]
    file._swmr, file._driver, file._libver = about
    return file
