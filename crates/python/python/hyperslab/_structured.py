"""Structured chunks as they are stored: those of sparse datasets, and those that have values of variable length in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ._errors import check_writable
from ._hyperslab import DatasetHandle


class EncodedSection(NamedTuple):
    """One section of a structured chunk as it is stored: its bytes, the filters that were left out, a bit each, and how many bytes it has before its filters; `None` for
    as many as are stored."""

    stored: bytes
    mask: int = 0
    unfiltered: int | None = None


class SectionInfo(NamedTuple):
    """Where a section is in its chunk, and which filters it went through: how many bytes come before it, its stored bytes, its bytes before the filters, and the filters that
    were left out, a bit each."""

    offset: int
    size: int
    unfiltered: int
    mask: int


class StructuredChunkInfo(NamedTuple):
    """Where a structured chunk is: its place in the grid of chunks, its address, counted from the end of a user block, its stored bytes, and its sections."""

    place: tuple[int, ...]
    address: int
    size: int
    sections: tuple[SectionInfo, ...]


class StructuredChunkMethods:
    """Chunks of several sections, past the filters. For chunks in one piece there are `dataset.id.read_direct_chunk` and `write_direct_chunk`."""

    _handle: DatasetHandle

    def read_structured_chunk(self, place: Sequence[int]) -> tuple[EncodedSection, ...] | None:
        """The stored sections of the chunk at a place in the grid of chunks; `None` if it was never written, or has no element.

        >>> selection, values = dataset.read_structured_chunk((0, 3))      # doctest: +SKIP
        """
        found = self._handle.read_structured_chunk(place)
        return None if found is None else tuple(EncodedSection(*section) for section in found)

    def write_structured_chunk(self, place: Sequence[int], sections: Iterable[EncodedSection | tuple[Any, ...]]) -> None:
        """Stores sections, or tuples of what they have, as the chunk at a place in the grid of chunks. They went through the filters already, but for those of their
        masks. A chunk that no reader could decode, and one with elements outside of the dataset, is an error and changes nothing. A sparse chunk whose selection is
        empty leaves the dataset.

        >>> other.write_structured_chunk((0, 3), dataset.read_structured_chunk((0, 3)))      # doctest: +SKIP
        """
        check_writable(self._handle, "write data", OSError)
        given = [_encoded(*section) for section in sections]
        self._handle.write_structured_chunk(place, given)

    def structured_chunk_info(self, place: Sequence[int]) -> StructuredChunkInfo | None:
        """Where the chunk at a place in the grid of chunks is, and what its sections are; `None` if it was never written, or has no element.

        >>> dataset.structured_chunk_info((0, 3)).sections[1].unfiltered      # doctest: +SKIP
        """
        found = self._handle.structured_chunk_info(place)
        return None if found is None else _info(*found)

    def structured_chunk_info_by_number(self, number: int) -> StructuredChunkInfo | None:
        """As `structured_chunk_info`, of the chunk with a number, counted from 0 by rising place; `None` if there are not so many. Reads all of the index."""
        found = self._handle.structured_chunk_info_by_number(number)
        return None if found is None else _info(*found)

    def iter_structured_chunks(self) -> Iterator[StructuredChunkInfo]:
        """Where the stored chunks are, and what their sections are, by rising place. No chunk is read.

        >>> sum(info.size for info in dataset.iter_structured_chunks())      # doctest: +SKIP
        """
        return (_info(*found) for found in self._handle.structured_chunks())


def _encoded(stored: Any, mask: int = 0, unfiltered: int | None = None) -> tuple[bytes, int, int]:
    given = stored if isinstance(stored, bytes) else bytes(memoryview(stored))
    return given, mask, len(given) if unfiltered is None else unfiltered


def _info(place: tuple[int, ...], address: int, size: int, sections: list[tuple[int, int, int, int]]) -> StructuredChunkInfo:
    return StructuredChunkInfo(place, address, size, tuple(SectionInfo(*section) for section in sections))
