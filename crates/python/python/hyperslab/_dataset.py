"""Datasets: arrays in the file."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ._arrays import can_spread
from ._base import Empty, HLObject, _text
from ._dims import DimensionManager, is_scale
from ._dtypes import check_string_dtype
from ._errors import check_writable
from ._filters import COMPRESSIONS, describe
from ._hyperslab import DatasetHandle, RegionReference, Space
from ._ids import DatasetID
from ._regions import guess_shape
from ._retry import again_if_resized
from ._selections import MultiBlockSlice, choose
from ._sparse import SparseMethods
from ._structured import StructuredChunkMethods
from ._views import AsStrView, AsTypeView, ChunkIterator, FieldsView
from ._write import write_all, write_item


class VDSmap(NamedTuple):
    """A part of a virtual dataset: which part, and where it comes from."""

    vspace: Space
    file_name: str
    dset_name: str
    src_space: Space


class Dataset(SparseMethods, StructuredChunkMethods, HLObject):
    """An array in the file. Indexing reads and writes: integers, slices, lists of indices, masks and names of fields, as with NumPy.

    >>> dataset[3:8, ::2]                           # doctest: +SKIP
    >>> dataset[dataset[:, 0] > 0]                  # doctest: +SKIP
    >>> dataset["x", 0]                             # doctest: +SKIP
    """

    _handle: DatasetHandle

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Its size in each dimension; `()` for a scalar, `None` for a dataset without elements. Assigning resizes it."""
        return self._handle.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        self.resize(shape)

    @cached_property
    def _dtype(self) -> np.dtype:
        return self._handle.dtype

    @property
    def dtype(self) -> np.dtype:
        """The dtype of its values."""
        return self._dtype

    @property
    def maxshape(self) -> tuple[int | None, ...] | None:
        """How far it may grow; `None` where that has no limit."""
        return self._handle.maxshape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape or ())

    @property
    def size(self) -> int | None:
        """The number of elements; `None` for a dataset without any."""
        return None if self.shape is None else math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The size of all values in memory."""
        return (self.size or 0) * self.dtype.itemsize

    @property
    def is_scalar(self) -> bool:
        """Whether it is one value without dimensions."""
        return self.shape == ()

    @cached_property
    def _layout(self) -> tuple[str, Any]:
        return self._handle.layout()

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """The shape of its chunks; `None` if it is not stored in chunks."""
        kind, detail = self._layout
        return detail if kind == "chunked" else None

    @property
    def external(self) -> list[tuple[str, int, int]] | None:
        """The files that hold its values: name, first byte and length of each; `None` if the values are in this file."""
        kind, detail = self._layout
        return detail if kind == "external" else None

    @property
    def is_virtual(self) -> bool:
        """Whether its values are those of other datasets."""
        return self._layout[0] == "virtual"

    def virtual_sources(self) -> list[VDSmap]:
        """Where the values of a virtual dataset come from."""
        kind, detail = self._layout
        if kind != "virtual":
            raise RuntimeError("Not a virtual dataset")
        return [VDSmap(*source) for source in detail]

    @cached_property
    def _filters(self) -> dict[str, Any]:
        return describe(self._handle.filters())

    @property
    def compression(self) -> str | None:
        """How chunks are compressed: "gzip", "lzf", "szip", "unknown" for any other filter, `None` for no compression."""
        for name in COMPRESSIONS:
            if name in self._filters:
                return name
        return "unknown" if any(name.isdigit() for name in self._filters) else None

    @property
    def compression_opts(self) -> Any:
        """The level of gzip, or the settings of szip."""
        return self._filters.get(self.compression or "")

    @property
    def filter_ids(self) -> tuple[int, ...]:
        """The numbers of all filters, in the order of writing."""
        return tuple(number for number, _, _ in self._handle.filters())

    @property
    def filter_names(self) -> tuple[str, ...]:
        """The names of all filters that the file has, in the order of writing."""
        return tuple(name for _, _, name in self._handle.filters())

    @property
    def shuffle(self) -> bool:
        """Whether the bytes of chunks are shuffled."""
        return "shuffle" in self._filters

    @property
    def fletcher32(self) -> bool:
        """Whether chunks have a checksum."""
        return "fletcher32" in self._filters

    @property
    def scaleoffset(self) -> int | None:
        """The bits kept of an integer or the digits kept of a float, if the scale-offset filter is used."""
        found = self._filters.get("scaleoffset")
        return None if found is None else found[1]

    @property
    def fillvalue(self) -> Any:
        """What elements are that were never written."""
        return self._handle.fill_value()[0]

    def __len__(self) -> int:
        return self.len()

    def len(self) -> int:
        """The size of the first dimension."""
        if not self.shape:
            raise TypeError("Attempt to take len() of scalar dataset")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("Can't iterate over a scalar dataset")
        return (self[index] for index in range(self.shape[0]))

    def __getitem__(self, args: Any) -> Any:
        return self._read(args, None)

    def _read(self, args: Any, new_dtype: np.dtype | None) -> Any:
        """What an index gives, as another dtype if one is given."""
        args = args if isinstance(args, tuple) else (args,)
        if any(arg is None for arg in args):
            raise TypeError("Indexing with None (or np.newaxis) is not supported")
        names = tuple(arg for arg in args if isinstance(arg, str))
        if names and self.shape is not None:
            args = tuple(arg for arg in args if not isinstance(arg, str))
            return FieldsView(self, new_dtype or self.dtype, names if len(names) > 1 else names[0])[args]
        if not self.shape:
            return self._read_scalar(args, new_dtype)
        if len(args) == 1 and isinstance(args[0], RegionReference):
            return again_if_resized([args], lambda: self._read_region(args[0], new_dtype))
        if any(isinstance(arg, MultiBlockSlice) for arg in args):
            return again_if_resized([args], lambda: self._read_chosen(args, new_dtype))
        return self._handle.read(args, new_dtype)

    def _read_scalar(self, args: tuple[Any, ...], new_dtype: np.dtype | None) -> Any:
        """Of a dataset without dimensions: `[()]` is the value, `[...]` an array of it."""
        whole = len(args) == 1 and args[0] is Ellipsis
        if self.shape is None:
            if args == () or whole:
                return Empty(self.dtype)
            raise ValueError("Empty datasets cannot be sliced")
        if not (args == () or whole):
            raise ValueError("Illegal slicing argument for scalar dataspace")
        value = self._handle.read_scalar(new_dtype)
        return value if whole else value[()]

    def _read_chosen(self, args: tuple[Any, ...], new_dtype: np.dtype | None) -> Any:
        space, shape = choose(self.shape or (), args)
        return self._handle.read_selection(space, new_dtype).reshape(shape)

    def _read_region(self, reference: RegionReference, new_dtype: np.dtype | None) -> Any:
        if self._handle.file.dereference(reference) != self._handle:
            raise ValueError("Region reference must point to this dataset")
        region = self._handle.region(reference)
        return self._handle.read_selection(region, new_dtype).reshape(guess_shape(region))

    def read_selection(self, space: Space, dtype: Any = None) -> np.ndarray:
        """The selected values, one after the other in the order of the selection.

        >>> space = hyperslab.Space(dataset.shape)          # doctest: +SKIP
        >>> space.select_elements([(3, 0), (0, 1)])         # doctest: +SKIP
        >>> dataset.read_selection(space)                   # doctest: +SKIP
        array([30,  1])
        """
        return self._handle.read_selection(space, None if dtype is None else np.dtype(dtype))

    def read_direct(self, dest: np.ndarray, source_sel: Any = None, dest_sel: Any = None) -> None:
        """Reads into an array that exists: `dest[dest_sel] = self[source_sel]`. The array must be C-contiguous and writable.

        >>> buffer = np.empty((10, 20), "f4")               # doctest: +SKIP
        >>> dataset.read_direct(buffer, np.s_[:10], np.s_[:, :20])  # doctest: +SKIP
        """
        if self.shape is None:
            raise TypeError("Empty datasets have no numpy representation")
        if not dest.flags.writeable:
            raise TypeError("the destination is read-only")
        source = _arguments(source_sel)
        if dest.dtype.kind == "T":
            self._read_texts(dest, source, _arguments(dest_sel))
            return
        if dest.size == 0 and source_sel is None and dest_sel is None and dest.shape != self.shape:
            raise TypeError(f"Can't broadcast {self.shape} -> {dest.shape}")
        target = _arguments(dest_sel)
        if self._handle.read_into(dest, source, target):
            return
        if any(np.ndim(arg) > 0 for arg in target):
            raise TypeError("Broadcasting is not supported for lists and masks")
        try:
            values = self._handle.read(source, dest.dtype)
        except ValueError:
            # No array can be so large.
            wanted = choose(self.shape, source, self)[1] + self.dtype.shape
            if can_spread(wanted, dest[target].shape):
                raise
            raise TypeError(f"Can't broadcast {wanted} -> {dest[target].shape}") from None
        try:
            dest[target] = values
        except ValueError:
            raise TypeError(f"Can't broadcast {np.shape(values)} -> {dest[target].shape}") from None

    def _read_texts(self, dest: np.ndarray, source: tuple[Any, ...], target: tuple[Any, ...]) -> None:
        """Reads into strings of NumPy's own variable length."""
        if check_string_dtype(self.dtype) is None:
            raise OSError(f"no conversion from {self.dtype} to {dest.dtype}")
        texts = self.asstr("utf-8")[source or ...]
        try:
            dest[target or ...] = texts
        except ValueError:
            raise TypeError(f"Can't broadcast {np.shape(texts)} -> {dest[target or ...].shape}") from None

    def __setitem__(self, args: Any, val: Any) -> None:
        write_item(self, args, val)

    def _write_new(self, values: np.ndarray) -> None:
        """Writes all values of a new dataset."""
        write_all(self, values)

    def write_direct(self, source: np.ndarray, source_sel: Any = None, dest_sel: Any = None) -> None:
        """Writes a part of an array to a part of the dataset: `self[dest_sel] = source[source_sel]`. The array must be
        C-contiguous.

        >>> dataset.write_direct(array, np.s_[:10], np.s_[20:30])       # doctest: +SKIP
        """
        if self.shape is None:
            raise TypeError("Empty datasets cannot be written to")
        if not source.flags.c_contiguous:
            raise TypeError("Array must be C-contiguous")
        chosen = _arguments(source_sel)
        # With an ellipsis it stays an array, which the engine converts; NumPy would convert a value by itself.
        whole = chosen if any(arg is Ellipsis for arg in chosen) else (*chosen, ...)
        write_item(self, () if dest_sel is None else dest_sel, source[whole], direct=True)

    def resize(self, size: Any, axis: int | None = None) -> None:
        """Makes it larger or smaller, as far as it may grow: all of its shape, or one dimension.

        >>> dataset.resize(dataset.shape[0] + 100, axis=0)              # doctest: +SKIP
        """
        if self.chunks is None:
            raise TypeError("Only chunked datasets can be resized")
        check_writable(self._handle, "set the extent", RuntimeError)
        if axis is not None:
            if not 0 <= axis < self.ndim:
                raise ValueError(f"Invalid axis (0 to {self.ndim - 1} allowed)")
            try:
                length = int(size)
            except TypeError:
                raise TypeError("Argument must be a single int if axis is specified") from None
            self._handle.resize_dimension(axis, length)
        else:
            self._handle.resize(tuple(size))

    def make_scale(self, name: str | bytes = "") -> None:
        """Makes it a dimension scale, which other datasets can have for their dimensions."""
        check_writable(self._handle, "make a scale", RuntimeError)
        self._handle.make_scale(name.decode() if isinstance(name, bytes) else name)

    def _keep_in_cache(self, count: int) -> None:
        self._handle.set_cache_reserve(int(count))

    #: How many bytes of it the chunk cache keeps while other datasets have more. Can only be set.
    cache_min_bytes = property(None, _keep_in_cache)

    def _limit_in_cache(self, count: int) -> None:
        self._handle.set_cache_limit(int(count))

    #: How many bytes of the chunk cache its chunks may take at most; 0 keeps them out. At its limit, it lets its own chunks go. Can only be set.
    cache_max_bytes = property(None, _limit_in_cache)

    def _leave_cache(self, policy: str) -> None:
        self._handle.set_cache_policy(policy)

    #: Which of its chunks leave the chunk cache first: "lru", "mru", "lfu" or "s3-fifo". Can only be set.
    cache_policy = property(None, _leave_cache)

    def cache_stats(self) -> dict[str, float]:
        """What the chunk cache did for this dataset so far, with the names of `File.cache_stats`.

        >>> dataset.cache_stats()["misses"]                 # doctest: +SKIP
        """
        return self._handle.cache_stats()

    def reset_cache_stats(self) -> None:
        """Counts anew from now on what the chunk cache does for this dataset. The counters of the file go on."""
        self._handle.reset_cache_stats()

    def past_cache(self) -> Dataset:
        """The same dataset; its reads and writes leave nothing new in the chunk cache. For what is used once.

        >>> dataset.past_cache()[::100]                     # doctest: +SKIP
        """
        return type(self)(self._handle.past_cache(), self._opened, self._name)

    def flush(self) -> None:
        """Writes what was changed so far, in the whole file."""
        self._opened.flush()

    def discard(self) -> None:
        """Forgets values that only the chunk cache has: from then on the dataset is as the file has it. For values that cannot be stored, because a
        filter refuses them or the disk is full; `File.flush` tells which those are.
        """
        self._handle.discard()

    def refresh(self) -> None:
        """Reads its shape and values anew, if another process may have changed them. A file that this process may write is always seen as it is."""
        self._handle = self._handle.refresh()

    @property
    def id(self) -> DatasetID:
        """What h5py's users find of the lower level: whole chunks as they are stored."""
        return DatasetID(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("memory allocation cannot be avoided: values of a dataset are always copied")
        if self.shape is None:
            raise TypeError("Empty datasets have no numpy representation")
        dtype = None if dtype is None else np.dtype(dtype)
        return self._handle.read((), dtype) if self.shape else self._handle.read_scalar(dtype)

    def astype(self, dtype: Any) -> AsTypeView | Dataset:
        """A view whose reads convert to another dtype.

        >>> dataset.astype("f8")[0:100:2]                   # doctest: +SKIP
        """
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self
        if dtype.kind == "T" and check_string_dtype(self.dtype) is None:
            raise TypeError(f"dset.astype({dtype}) can only be used on datasets with an HDF5 string datatype")
        return AsTypeView(self, dtype)

    def asstr(self, encoding: str | None = None, errors: str = "strict") -> AsStrView:
        """A view whose reads give `str` instead of `bytes`.

        >>> names.asstr()[:2]                               # doctest: +SKIP
        array(['alpha', 'beta'], dtype=object)
        """
        text = check_string_dtype(self.dtype)
        if text is None:
            raise TypeError("dset.asstr() can only be used on datasets with an HDF5 string datatype")
        return AsStrView(self, encoding or text.encoding, errors)

    def fields(self, names: Any) -> FieldsView:
        """A view whose reads give some fields of each value only.

        >>> points.fields(["x", "y"])[:100]                 # doctest: +SKIP
        """
        return FieldsView(self, self.dtype, names)

    @property
    def dims(self) -> DimensionManager:
        """Its dimensions, with their labels and scales.

        >>> dataset.dims[0]["seconds"][:10]                 # doctest: +SKIP
        """
        return DimensionManager(self)

    @property
    def is_scale(self) -> bool:
        """Whether it is a dimension scale."""
        return is_scale(self)

    def iter_chunks(self, sel: Any = None) -> ChunkIterator:
        """For each chunk, the slices that read it, cut to `sel` if that is given.

        >>> sum(dataset[chunk].sum() for chunk in dataset.iter_chunks())    # doctest: +SKIP
        """
        return ChunkIterator(self, sel)

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 dataset>"
        name = "(anonymous)" if self.name is None else f'"{posixpath.basename(_text(self.name))}"'
        return f'<HDF5 dataset {name}: shape {self.shape}, type "{self.dtype.str}">'


def _arguments(selection: Any) -> tuple[Any, ...]:
    if selection is None:
        return ()
    return selection if isinstance(selection, tuple) else (selection,)
