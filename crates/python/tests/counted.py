"""File objects that count what goes in and out."""

import io


class Counts:
    """Counts the bytes that are `given` to a reader and `taken` from a writer."""

    given = taken = 0

    def read(self, size=-1):
        found = super().read(size)
        self.given += len(found)
        return found

    def readinto(self, buffer):
        found = super().readinto(buffer)
        self.given += found
        return found

    def write(self, part):
        self.taken += len(part)
        return super().write(part)


class CountedBytes(Counts, io.BytesIO):
    """Bytes in memory."""


class CountedFile(Counts, io.FileIO):
    """A file of the system."""
