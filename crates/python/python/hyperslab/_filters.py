"""What the numbers of filters and their parameters mean."""

from __future__ import annotations

from typing import Any

#: The filters that compress, as h5py names them.
COMPRESSIONS = ("gzip", "lzf", "szip")

#: The names of filters by their numbers.
NAMES = {1: "gzip", 2: "shuffle", 3: "fletcher32", 4: "szip", 6: "scaleoffset", 32000: "lzf"}
_SZIP_ENTROPY, _SZIP_NEAREST = 4, 32


def describe(filters: list[tuple[int, tuple[int, ...], Any]]) -> dict[str, Any]:
    """The settings of each filter by its name; by its number if h5py has no name for it."""
    found: dict[str, Any] = {}
    for number, parameters, _ in filters:
        name = NAMES.get(number, str(number))
        setting: Any = parameters
        if name == "gzip":
            setting = parameters[0] if parameters else None
        elif name == "szip":
            setting = _szip(parameters)
        elif name == "lzf":
            setting = None
        found[name] = setting
    return found


def _szip(parameters: tuple[int, ...]) -> tuple[str, int]:
    mask, pixels = (*parameters, 0, 0)[:2]
    if mask & _SZIP_ENTROPY:
        return "ec", pixels
    if mask & _SZIP_NEAREST:
        return "nn", pixels
    raise TypeError("Unknown SZIP configuration")
