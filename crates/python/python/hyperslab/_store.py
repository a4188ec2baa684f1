"""Where the bytes of a file in memory go when it is flushed or closed."""

from __future__ import annotations

from typing import Any


class Store:
    """An object with `seek` and `write`. One thread at a time stores bytes in it."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, image: bytes) -> None:
        """Stores all bytes of the file, in the place of what the object holds."""
        self._file.seek(0)
        rest = image
        while rest:
            # What is not buffered may take less than it is given.
            written = self._file.write(rest)
            if written == 0:
                raise OSError(f"the object that holds the file takes no more than {len(image) - len(rest)} of {len(image)} bytes")
            rest = b"" if written is None else rest[written:]
        if hasattr(self._file, "truncate"):
            self._file.truncate(len(image))
        if hasattr(self._file, "flush"):
            self._file.flush()
