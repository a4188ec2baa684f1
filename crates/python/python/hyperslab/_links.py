"""What a name in a group stands for."""

from __future__ import annotations

from typing import Any


class HardLink:
    """An object itself."""

    def __repr__(self) -> str:
        return "<HardLink>"


class SoftLink:
    """A path in the same file; it need not lead anywhere."""

    def __init__(self, path: str | bytes) -> None:
        self._path = path

    @property
    def path(self) -> str | bytes:
        """The path."""
        return self._path

    def __repr__(self) -> str:
        return f'<SoftLink to "{self._path!s}">'


class ExternalLink:
    """A path in another file."""

    def __init__(self, filename: str | bytes, path: str | bytes) -> None:
        self._filename = filename
        self._path = path

    @property
    def filename(self) -> str | bytes:
        """The file, as the link names it."""
        return self._filename

    @property
    def path(self) -> str | bytes:
        """The path in that file."""
        return self._path

    def __repr__(self) -> str:
        return f'<ExternalLink to "{self._path!s}" in file "{self._filename!s}">'


class UserLink:
    """A link of a class that only its maker understands."""

    def __init__(self, number: int) -> None:
        self._number = number

    @property
    def number(self) -> int:
        """The number of its class."""
        return self._number

    def __repr__(self) -> str:
        return f"<UserLink of class {self._number}>"


_CLASSES: dict[str, type] = {"hard": HardLink, "soft": SoftLink, "external": ExternalLink, "user": UserLink}


def link_class(target: tuple[Any, ...]) -> type:
    """The class for what a group's handle says of a link."""
    return _CLASSES[target[0]]


def link_object(target: tuple[Any, ...]) -> HardLink | SoftLink | ExternalLink | UserLink:
    """An instance for what a group's handle says of a link."""
    kind, *rest = target
    return HardLink() if kind == "hard" else _CLASSES[kind](*rest)
