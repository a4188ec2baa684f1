"""The filters of a new dataset: what users say of them, checked as h5py does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._filters import NAMES, describe
from ._hyperslab import filter_available

#: What `compression` may be to mean the level of gzip.
LEVELS = frozenset(range(10))

#: The sections of chunks that may have filters of their own.
SECTIONS = ("selection", "data", "vlen")


def by_name(compression: Any, settings: Any) -> tuple[Any, Any]:
    """A compression and its settings, where `True` and the levels of gzip stand for gzip."""
    if compression is True:
        return "gzip", 4 if settings is None else settings
    if compression in LEVELS and not isinstance(compression, bool):
        if settings is not None:
            raise TypeError("Conflict in compression options")
        return "gzip", compression
    return compression, settings


def filters_of(
    dtype: np.dtype,
    compression: Any,
    settings: Any,
    shuffle: Any,
    fletcher32: Any,
    scaleoffset: Any,
    unknown: bool,
) -> list[tuple[Any, ...]]:
    """The filters of a dataset in their order."""
    filters: list[tuple[Any, ...]] = []
    if scaleoffset is not None and scaleoffset is not False:
        filters.append(("scaleoffset", _scale(dtype, scaleoffset, fletcher32)))
    if shuffle:
        filters.append(("shuffle",))
    if compression is None or compression is False:
        if settings is not None:
            raise TypeError("Compression method must be specified")
    else:
        filters.append(_compression(compression, settings, unknown))
    if fletcher32:
        filters.append(("fletcher32",))
    return filters


def _scale(dtype: np.dtype, scaleoffset: Any, fletcher32: Any) -> int:
    if scaleoffset < 0:
        raise ValueError("scale factor must be >= 0")
    if dtype.kind == "f" and scaleoffset is True:
        raise ValueError("integer scaleoffset must be provided for floating point types")
    if dtype.kind not in "iuf":
        raise TypeError("scale/offset filter only supported for integer and floating-point types")
    if fletcher32:
        raise ValueError("fletcher32 cannot be used with potentially lossy scale/offset filter")
    return 0 if scaleoffset is True else int(scaleoffset)


def _compression(compression: Any, settings: Any, unknown: bool) -> tuple[Any, ...]:
    # Such as `hdf5plugin` has them.
    if hasattr(compression, "filter_id"):
        compression, settings = compression.filter_id, compression.filter_options
    if compression == "gzip":
        if settings is not None and settings not in LEVELS:
            raise ValueError(f"GZIP setting must be an integer from 0-9, not {settings!r}")
        return ("gzip", 4 if settings is None else settings)
    if compression == "lzf":
        if settings is not None:
            raise ValueError("LZF compression filter accepts no options")
        return ("lzf",)
    if compression == "szip":
        wrong = "SZIP options must be a 2-tuple ('ec'|'nn', even integer 0-32)"
        try:
            method, pixels = ("nn", 8) if settings is None else settings
        except TypeError:
            raise TypeError(wrong) from None
        if method not in ("ec", "nn") or not (0 < pixels <= 32 and pixels % 2 == 0):
            raise ValueError(wrong)
        return ("szip", method == "nn", pixels)
    if not isinstance(compression, int):
        raise ValueError(f'Compression filter "{compression}" is unavailable')
    if not unknown and not filter_available(compression):
        raise ValueError(f"Unknown compression filter number: {compression}")
    return (compression, [int(value) for value in settings or ()])


def section_filters_of(dtype: np.dtype, given: Any, unknown: bool) -> dict[str, list[tuple[Any, ...]]]:
    """The filters of the sections that are named, in their order."""
    if not isinstance(given, Mapping):
        raise TypeError(f"section_filters must be a mapping from {' or '.join(map(repr, SECTIONS))} to filters, not {given!r}")
    if wrong := [name for name in given if name not in SECTIONS]:
        raise ValueError(f"section_filters: no section is called {wrong[0]!r}; there are {' and '.join(map(repr, SECTIONS))}")
    return {section: _section(dtype, filters, unknown) for section, filters in given.items()}


def _section(dtype: np.dtype, given: Any, unknown: bool) -> list[tuple[Any, ...]]:
    """The filters of one section. `given` is `None` for no filter; one filter: its name, its number, a level of gzip, or a tuple of one of these and its settings;
    a list of filters in their order; or a mapping with arguments of `create_dataset`, such as `compression` and `shuffle`."""
    if given is None or given is False:
        return []
    if isinstance(given, list):
        return [step for one in given for step in _section(dtype, one, unknown)]
    if isinstance(given, Mapping) and not hasattr(given, "filter_id"):
        options = {"compression": None, "compression_opts": None, "shuffle": None, "fletcher32": None, "scaleoffset": None}
        if wrong := given.keys() - options.keys():
            raise TypeError(f"section_filters: {sorted(wrong)[0]!r} is no argument for filters; there are {', '.join(options)}")
        compression, settings, *others = (options | dict(given)).values()
        return filters_of(dtype, *by_name(compression, settings), *others, unknown)
    name, settings = given if isinstance(given, tuple) else (given, None)
    if isinstance(name, str) and name in ("shuffle", "fletcher32"):
        return [(name,)]
    if isinstance(name, str) and name == "scaleoffset":
        return [(name, _scale(dtype, True if settings is None else settings, False))]
    return [_compression(*by_name(name, settings), unknown)]


def section_as_given(filters: list[tuple[int, tuple[int, ...], str]]) -> list[tuple[Any, Any]]:
    """The filters that a section has, as `section_filters` takes them."""
    given = []
    for number, parameters, _ in filters:
        name = NAMES.get(number, number)
        setting = describe([(number, parameters, "")])[str(name)]
        given.append((name, setting[1] if name == "scaleoffset" else setting))
    return given
