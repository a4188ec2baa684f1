"""What groups make: groups, datasets, copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _config
from ._base import _join
from ._binsparse import create_from_binsparse
from ._copy import copy_object
from ._create import New, fill_array
from ._datatype import Datatype
from ._errors import check_writable
from ._filter_options import section_as_given
from ._hyperslab import ExistsError, GroupHandle
from ._retry import retry
from ._ragged_arrays import create_from_awkward
from ._sparse_arrays import create_from_scipy, create_from_sparse
from ._vds import VirtualLayout

if TYPE_CHECKING:
    from ._dataset import Dataset
    from ._group import Group


class CreateInGroup:
    """The part of a group that makes new objects."""

    _handle: GroupHandle
    name: Any
    file: Any

    def _check_writable(self, what: str, kind: type[Exception] = ValueError) -> None:
        check_writable(self._handle, what, kind)

    def _wrapped(self, handle: Any, name: str | bytes) -> Any:
        from ._group import wrap

        if handle.file != self._handle.file or self.name is None:
            return wrap(handle, None)
        return wrap(handle, _join(self.name, name))

    def _found_or_made(self, name: str | bytes, make: Callable[[], Any]) -> tuple[Any, bool]:
        """The object with this name, or what `make` makes if there is none, also if other threads make or delete it meanwhile; and whether it is
        new."""

        def find_or_make() -> tuple[Any, bool]:
            is_there = name in self  # type: ignore[operator]
            return (self[name], False) if is_there else (make(), True)  # type: ignore[index]

        return retry(find_or_make, ExistsError, KeyError)

    def create_group(
        self, name: str | bytes | None, track_order: bool | None = None, *, track_times: bool | None = False
    ) -> Group:
        """A new group. Groups on the way to it are made if they are missing.

        >>> group.create_group("a/b/c")             # doctest: +SKIP
        """
        track_order = _config.get_config().track_order if track_order is None else track_order
        if track_times not in (None, True, False):
            raise TypeError("track_times must be either True, False, or None")
        name = _named(name)
        self._check_writable("create group")
        return self._wrapped(self._handle.create_group(name, bool(track_order), bool(track_times)), name)

    def require_group(self, name: str | bytes) -> Group:
        """The group with this name, made if it is missing."""
        found, _ = self._found_or_made(name, lambda: self.create_group(name))
        if not isinstance(found._handle, GroupHandle):
            raise TypeError(f"Incompatible object ({type(found).__name__}) already exists")
        return found

    def create_dataset(
        self, name: str | bytes | None, shape: Any = None, dtype: Any = None, data: Any = None, **options: Any
    ) -> Dataset:
        """A new dataset, with what `h5py.Group.create_dataset` takes. `cache_min_bytes` is how much of it the chunk cache
        keeps while other datasets have more, `cache_max_bytes` the most that its chunks may take there, and `rdcc_nbytes` means both.

        With `sparse`, only those elements are stored that are written, and no released libhdf5 reads the dataset. Filters are for both sections of its chunks, the
        "selection" of elements and their "data", unless `section_filters` says for a section: `None` for no filter; a filter as `compression` takes it, or "shuffle",
        "fletcher32" or "scaleoffset"; a tuple of such a filter and its settings; a list of filters in their order; or a mapping with the arguments `compression`,
        `compression_opts`, `shuffle`, `fletcher32` and `scaleoffset`.

        >>> group.create_dataset("x", (100, 100), "f4", chunks=(10, 100), compression="gzip")   # doctest: +SKIP
        >>> group.create_dataset("hits", (10**6, 10**6), "u2", sparse=True,                     # doctest: +SKIP
        ...                      section_filters={"selection": "lzf", "data": ["shuffle", ("gzip", 6)]})
        """
        if options.get("track_order") is None:
            options["track_order"] = _config.get_config().track_order
        new = New(shape, dtype, data, options)
        name = _named(name)
        self._check_writable("create dataset")
        made = self._wrapped(self._handle.create_dataset(name, new.stored, new.shape, new.options), name)
        if new.cache_min_bytes is not None:
            made.cache_min_bytes = new.cache_min_bytes
        if new.cache_max_bytes is not None:
            made.cache_max_bytes = new.cache_max_bytes
        if new.cache_policy is not None:
            made.cache_policy = new.cache_policy
        if new.data is not None and new.data.size:
            made._write_new(new.data)
        return made

    def create_from_scipy(self, name: str | bytes, matrix: Any, **options: Any) -> Dataset:
        """A new sparse dataset with the stored elements of an array or a matrix of `scipy.sparse`, also those that are zero; but scipy drops them from "dia". `options`
        are those of `create_dataset`.

        >>> group.create_from_scipy("counts", matrix, compression="gzip")   # doctest: +SKIP
        """
        return create_from_scipy(self, name, matrix, options)

    def create_from_sparse(self, name: str | bytes, array: Any, **options: Any) -> Dataset:
        """A new sparse dataset with the stored elements and the fill value of an array of the package `sparse`. `options` are those of `create_dataset`.

        >>> group.create_from_sparse("events", sparse.COO(coords, values), chunks=(64, 64, 64))   # doctest: +SKIP
        """
        return create_from_sparse(self, name, array, options)

    def create_from_binsparse(self, name: str | bytes, given: Any, **options: Any) -> Dataset:
        """A new sparse dataset with the stored values and the fill value of an object that has the protocol `__binsparse__`, or of what that gives: a tuple of the
        descriptor and the arrays, by their names or in the order of `data_types`. Formats are lists of coordinates (CVEC, COO, COOR, COOC, and custom ones of more
        dimensions), CSR and CSC. `options` are those of `create_dataset`.

        >>> group.create_from_binsparse("copy", group["events"])            # doctest: +SKIP
        """
        return create_from_binsparse(self, name, given, options)

    def create_from_awkward(self, name: str | bytes, array: Any, **options: Any) -> Dataset:
        """A new dataset of one dimension with the rows of a ragged array of the package `awkward` as sequences of variable length. `options` are those of `create_dataset`;
        `structured="vlen"` keeps the sequences in chunks.

        >>> group.create_from_awkward("hits", ak.Array([[1.5, 2.0], [], [3.0]]), structured="vlen")   # doctest: +SKIP
        """
        return create_from_awkward(self, name, array, options)

    def create_dataset_like(self, name: str | bytes | None, other: Dataset, **options: Any) -> Dataset:
        """A new dataset like another, without its values and attributes; `options` come before what the other has."""
        alike = ["shape", "dtype", "chunks", "fillvalue"]
        has_sections = other.section_filters is not None
        if has_sections and options.setdefault(*(("sparse", True) if other.is_sparse else ("structured", "vlen"))):
            sections = {name: section_as_given(filters) for name, filters in (other.section_filters or {}).items()}
            options.setdefault("section_filters", sections)
        else:
            alike += ["compression", "compression_opts", "scaleoffset", "shuffle", "fletcher32"]
        for key in alike:
            options.setdefault(key, getattr(other, key))
        if other.maxshape != other.shape:
            options.setdefault("maxshape", other.maxshape)
        if options["dtype"].hasobject:
            options["fillvalue"] = None
        return self.create_dataset(name, **options)

    def require_dataset(
        self, name: str | bytes, shape: Any, dtype: Any, exact: bool = False, **options: Any
    ) -> Dataset:
        """The dataset with this name, made if it is missing. One that is there must have this shape and a dtype that values can
        be cast to safely; the same dtype if `exact`. If `maxshape` is given, that must fit instead of the shape."""
        from ._dataset import Dataset

        found, is_new = self._found_or_made(name, lambda: self.create_dataset(name, shape, dtype, **options))
        if is_new:
            return found
        shape = (shape,) if isinstance(shape, int) else shape
        if not isinstance(found, Dataset):
            raise TypeError(f"Incompatible object ({type(found).__name__}) already exists")
        if shape != found.shape:
            if "maxshape" not in options:
                raise TypeError(f"Shapes do not match (existing {found.shape} vs new {shape})")
            if options["maxshape"] != found.maxshape:
                raise TypeError(f"Max shapes do not match (existing {found.maxshape} vs new {options['maxshape']})")
        if exact and np.dtype(dtype) != found.dtype:
            raise TypeError(f"Datatypes do not exactly match (existing {found.dtype} vs new {dtype})")
        if not exact and not np.can_cast(dtype, found.dtype):
            raise TypeError(f"Datatypes cannot be safely cast (existing {found.dtype} vs new {dtype})")
        return found

    def create_virtual_dataset(self, name: str | bytes, layout: VirtualLayout, fillvalue: Any = None) -> Dataset:
        """A new dataset whose values are those of others."""
        named = isinstance(layout.dtype, Datatype)
        dtype = layout.dtype.dtype if named else np.dtype(layout.dtype)
        options: dict[str, Any] = {"sources": layout.sources(self.file.filename)}
        if layout.maxshape is not None:
            options["maxshape"] = tuple(layout.maxshape)
        if fillvalue is not None:
            options["fill"] = fill_array(fillvalue, dtype)
        stored = layout.dtype._handle if named else dtype
        self._check_writable("create dataset")
        return self._wrapped(self._handle.create_dataset(name, stored, layout.shape, options), name)

    @contextmanager
    def build_virtual_dataset(
        self, name: str | bytes, shape: Any, dtype: Any, maxshape: Any = None, fillvalue: Any = None
    ) -> Iterator[VirtualLayout]:
        """A layout to be filled; when it is left, the virtual dataset is made.

        >>> with group.build_virtual_dataset("all", (10, 1000), "u4") as layout:        # doctest: +SKIP
        ...     layout[0] = hyperslab.VirtualSource("first.h5", "data", (1000,))
        """
        layout = VirtualLayout(shape, dtype, maxshape, self.file.filename)
        yield layout
        self.create_virtual_dataset(name, layout, fillvalue)

    def copy(
        self,
        source: Any,
        dest: Any,
        name: str | None = None,
        shallow: bool = False,
        expand_soft: bool = False,
        expand_external: bool = False,
        expand_refs: bool = False,
        without_attrs: bool = False,
    ) -> None:
        """Copies an object, and what a group holds: to a path, or into a group, which may be in another file. References in a copy to another file
        are null, unless what they refer to is copied, too, with `expand_refs`.

        >>> group.copy("run", "run again")          # doctest: +SKIP
        """
        ways = {"shallow": shallow, "expand_soft": expand_soft, "expand_external": expand_external}
        ways |= {"expand_refs": expand_refs, "without_attrs": without_attrs}
        copy_object(self, source, dest, name, **{way: bool(wanted) for way, wanted in ways.items()})


def _named(name: Any) -> Any:
    if name is None:
        raise NotImplementedError("an object without a name: give it one")
    return name
