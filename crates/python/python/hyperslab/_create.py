"""New datasets: what users say of them, checked as h5py does it."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrays import new_array
from ._base import Empty
from ._datatype import Datatype
from ._dtypes import check_string_dtype, string_dtype
from ._filter_options import by_name, filters_of, section_filters_of
from ._hyperslab import UNLIMITED
from ._options import check_cache_options, wanted_policy
from ._sparse import check_structured, guess_sparse_chunk

#: What has no effect here: where other files are looked for, and the slots that other caches need.
_WITHOUT_EFFECT = {"efile_prefix", "virtual_prefix", "rdcc_nslots", "dapl"}


class New:
    """A new dataset: its stored type, its shape, the values if there are any, and the options for the engine."""

    def __init__(self, shape: Any, dtype: Any, data: Any, options: dict[str, Any]) -> None:
        options = dict(options)
        check_cache_options(options)
        for name in _WITHOUT_EFFECT:
            options.pop(name, None)
        self.cache_policy = wanted_policy(options)
        options.pop("rdcc_w0", None)
        nbytes = options.pop("rdcc_nbytes", None)
        # In h5py, it is the size of a cache that the dataset has for itself.
        size = None if nbytes is None else min(int(nbytes), sys.maxsize)
        self.cache_min_bytes: int | None = options.pop("cache_min_bytes", size)
        self.cache_max_bytes: int | None = options.pop("cache_max_bytes", size)
        if options.pop("dcpl", None) is not None:
            raise NotImplementedError("dcpl: there are no property lists here; say it with the other arguments")
        named = isinstance(dtype, Datatype)
        self.stored: Any = dtype._handle if named else None
        wanted = dtype.dtype if named else dtype
        if data is not None and not isinstance(data, Empty):
            data = new_array(data, wanted)
        if shape is None:
            if data is None:
                if dtype is None:
                    raise TypeError("One of data, shape or dtype must be specified")
                data = Empty(wanted)
            shape = data.shape
        else:
            shape = (shape,) if isinstance(shape, int | np.integer) else tuple(map(_size, shape))
            if data is not None and math.prod(shape) != math.prod(data.shape or ()):
                raise ValueError("Shape tuple is incompatible with data")
        if any(not isinstance(size, int | np.integer) for size in shape or ()):
            raise TypeError(f"a shape consists of integers: {shape}")
        if any(size < 0 for size in shape or ()):
            raise OverflowError(f"a shape has no negative sizes: {shape}")
        if wanted is None and data is None:
            # As h5py has it, whose users are warned.
            warnings.warn("a dataset without data needs a dtype; 'f4' is taken", _warning(), stacklevel=4)
            wanted = "=f4"
        self.dtype = np.dtype(data.dtype if wanted is None else wanted)
        self.data = None if isinstance(data, Empty) else data
        self.shape: tuple[int, ...] | None = None if isinstance(data, Empty) else shape
        if self.stored is None:
            self.stored = self.dtype
        self.options = _options(self.shape, self.dtype, **options)


def _size(given: Any) -> Any:
    """A size of a shape. As in h5py, one that is no integer loses its fraction."""
    return int(given) if isinstance(given, float | np.floating) and math.isfinite(given) else given


def _warning() -> type[Warning]:
    return DeprecationWarning


def _options(
    shape: tuple[int, ...] | None,
    dtype: np.dtype,
    chunks: Any = None,
    compression: Any = None,
    compression_opts: Any = None,
    shuffle: bool | None = None,
    fletcher32: bool | None = None,
    maxshape: Any = None,
    scaleoffset: Any = None,
    fillvalue: Any = None,
    fill_time: str | None = None,
    track_times: bool | None = None,
    track_order: bool | None = None,
    external: Any = None,
    allow_unknown_filter: bool = False,
    sparse: bool = False,
    section_filters: Mapping[str, Any] | None = None,
    structured: str | None = None,
) -> dict[str, Any]:
    maxshape = (maxshape,) if isinstance(maxshape, int) and maxshape is not True else maxshape
    chunks = (chunks,) if isinstance(chunks, int) and not isinstance(chunks, bool) else chunks
    _check_chunks(shape, chunks, maxshape)
    if chunks is False and any((compression, shuffle, fletcher32, maxshape, scaleoffset)):
        raise ValueError("Chunked format required for given storage options")
    compression, compression_opts = by_name(compression, compression_opts)
    check_structured(structured)
    options: dict[str, Any] = {}
    if not shape:
        kind = "Empty" if shape is None else "Scalar"
        given = (chunks, compression, compression_opts, shuffle, fletcher32, scaleoffset is not None, sparse)
        if any((*given, structured is not None, section_filters is not None)):
            raise TypeError(f"{kind} datasets don't support chunk/filter options")
        if maxshape:
            raise TypeError(f"{kind} datasets cannot be extended")
    else:
        _check_rank(chunks, "chunks", shape)
        _check_rank(maxshape, "maxshape", shape)
        files = _external(external)
        filters = filters_of(dtype, compression, compression_opts, shuffle, fletcher32, scaleoffset, allow_unknown_filter)
        maxshape = (None,) * len(shape) if maxshape is True else maxshape
        if sparse:
            if chunks is False:
                raise ValueError("Chunked format required for given storage options")
            chunks = guess_sparse_chunk(shape, maxshape) if chunks in (None, True) else chunks
            options["sparse"] = True
        if structured is not None:
            if chunks is False:
                raise ValueError("Chunked format required for given storage options")
            options["structured"] = structured
            chunks = True if chunks is None else chunks
        if chunks is True or (chunks is None and (filters or (maxshape and not files))):
            chunks = guess_chunk(shape, maxshape, dtype.itemsize)
        if chunks:
            options["chunks"] = tuple(chunks)
        if maxshape is not None:
            options["maxshape"] = tuple(maxshape)
        if filters:
            options["filters"] = filters
        if section_filters is not None:
            if not sparse and structured is None:
                raise ValueError("section_filters: only sparse datasets, and those with structured='vlen', have chunks with sections")
            options["section_filters"] = section_filters_of(dtype, section_filters, allow_unknown_filter)
        if files:
            options["external"] = files
        if fill_time is not None:
            if fill_time not in ("alloc", "never", "ifset"):
                raise ValueError(f"fill_time must be 'alloc', 'never' or 'ifset', not {fill_time!r}")
            options["fill_time"] = fill_time
    if fillvalue is not None:
        options["fill"] = fill_array(fillvalue, dtype)
    for name, value in (("track_times", track_times), ("track_order", track_order)):
        if value not in (None, True, False):
            raise TypeError(f"{name} must be either True or False")
        if value is not None:
            options[name] = bool(value)
    return options


def fill_array(value: Any, dtype: np.dtype) -> tuple[np.ndarray, np.dtype]:
    """A fill value as an array of one element, and the dtype of that."""
    text = check_string_dtype(dtype)
    if text is not None:
        array = np.array(value, dtype=string_dtype(text.encoding))
        if array.size != 1:
            raise ValueError(f"a fill value is one value, not {value!r}")
        array = array.reshape(())
        # As in h5py, what is no text cannot be encoded.
        encoded = array[()] if isinstance(array[()], bytes) else array[()].encode(text.encoding)
        if text.length is not None:
            array = np.array(encoded, f"S{max(len(encoded), 1)}")
        return array, array.dtype
    array = np.array(value, dtype=dtype if isinstance(value, tuple) and dtype.names is not None else None, order="C")
    if array.dtype.kind == "O" and dtype.kind == "O" and array.ndim == 0:
        array = array.astype(dtype)
    elif dtype.hasobject and array.dtype.kind in "UmM":
        raise TypeError(f"No conversion path for dtype: {array.dtype!r}")
    elif array.dtype.hasobject and not dtype.hasobject:
        raise ValueError(f"{value!r} is no value of {dtype}")
    return array, array.dtype


def _check_chunks(shape: Any, chunks: Any, maxshape: Any) -> None:
    limits = shape if maxshape in (None, True) else maxshape
    if isinstance(chunks, tuple) and any(
        limit is not None and chunk > limit for limit, chunk in zip(limits or (), chunks, strict=False)
    ):
        raise ValueError(
            f"Chunk shape must not be greater than data shape in any dimension. {chunks} is not compatible with {shape}"
        )


def _check_rank(sizes: Any, name: str, shape: tuple[int, ...]) -> None:
    if sizes in (None, True, False):
        return
    try:
        rank = len(tuple(sizes))
    except TypeError:
        raise TypeError(f"{name!r} argument must be None or a sequence object") from None
    if rank != len(shape):
        raise ValueError(f"{name!r} must have same rank as dataset shape")


def _external(external: Any) -> list[tuple[bytes, int, int]]:
    """Other files for the values: name, first byte and length of each."""
    if external is None:
        return []
    if isinstance(external, str | bytes | os.PathLike):
        external = [(external, 0, UNLIMITED)]
    files = []
    for entry in external:
        if isinstance(entry, str | bytes | os.PathLike) or not hasattr(entry, "__len__"):
            raise TypeError("external must be a name, or a sequence of (name, offset, size)")
        if len(entry) != 3:
            raise ValueError(f"external files have a name, an offset and a size, not {len(entry)} things")
        name, offset, size = entry
        if isinstance(offset, str) or isinstance(size, str):
            raise TypeError("offset and size of an external file are integers")
        files.append((os.fsencode(name), int(offset), int(size)))
    return files


def guess_chunk(shape: tuple[int, ...], maxshape: Any, size: int) -> tuple[int, ...]:
    """A shape of chunks that suits most: dimensions are halved in turn until a chunk is near a size that grows slowly with the
    dataset."""
    least, most, usual = 8 * 1024, 1024 * 1024, 16 * 1024
    # What begins empty is taken for one of 1024.
    sides = [1024 if not side else int(side) for side in shape]
    target = usual * 2 ** np.log10(math.prod(sides) * size / most) if size else usual
    target = min(max(target, least), most)
    for axis in range(64 * len(sides)):
        volume = math.prod(sides) * size
        near = volume < target or abs(volume - target) / target < 0.5
        if (near and volume < most) or math.prod(sides) == 1:
            break
        sides[axis % len(sides)] = math.ceil(sides[axis % len(sides)] / 2)
    if maxshape is not None:
        sides = [side if limit is None else max(min(side, limit), 1) for side, limit in zip(sides, maxshape, strict=True)]
    return tuple(sides)
