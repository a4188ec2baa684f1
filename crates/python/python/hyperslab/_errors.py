"""Exceptions of our own."""

from __future__ import annotations

from typing import Any


class ClosedError(ValueError, RuntimeError, KeyError):
    """Something was done with an object of a file that is closed. h5py raises one of these three, by the call, and programs catch what it raises."""

    def __str__(self) -> str:
        return Exception.__str__(self)


class CoordinateError(IndexError, ValueError):
    """A coordinate is outside of the dataset. NumPy raises an `IndexError` for an index that is outside, `Space` a `ValueError`; programs catch one of them."""


def check_writable(handle: Any, what: str, kind: type[Exception]) -> None:
    """Fails if the file of an object cannot be changed, with the exception that h5py raises for what was to be done."""
    if not handle.file.is_writable:
        raise kind(f"Unable to {what} (no write intent on file)")
