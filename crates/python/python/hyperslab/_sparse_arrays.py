"""Sparse datasets to and from sparse arrays of other packages: `scipy.sparse`, `sparse`, and what has the protocol of binsparse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._imported import imported

if TYPE_CHECKING:
    from ._dataset import Dataset


#: About so many elements are written at once.
_AT_ONCE = 1 << 20


def _numbers(values: np.ndarray) -> np.ndarray:
    """Values in the byte order of this machine, if they are numbers."""
    if values.dtype.kind not in "biufc":
        raise TypeError(f"sparse arrays hold numbers, not values of {values.dtype}")
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def to_scipy(dataset: Any, format: str) -> Any:
    """The defined elements of a dataset as an array of `scipy.sparse`."""
    scipy = imported("scipy.sparse")
    shape = dataset._shape()
    if not shape or (len(shape) != 2 and format != "coo"):
        raise ValueError(f"{format!r} has two dimensions, and the dataset {len(shape)}")
    coords, values = dataset.read_defined()
    values = _numbers(values)
    if values.dtype == np.float16:
        raise TypeError("scipy.sparse holds no float16; take coordinates and values from read_defined")
    index = np.int32 if max(*shape, len(values)) <= np.iinfo(np.int32).max else np.int64
    made = scipy.coo_array((values, tuple(coords.T.astype(index, order="C"))), shape=shape)
    # Row-major order, and no element twice.
    made.has_canonical_format = True
    return made.asformat(format)


def create_from_scipy(group: Any, name: str | bytes, matrix: Any, options: dict[str, Any]) -> Dataset:
    """A sparse dataset with the stored elements of an array or a matrix of `scipy.sparse`; what it stores several times for one element is added up."""
    if not hasattr(matrix, "tocoo"):
        raise TypeError(f"a sparse array of scipy is needed, not {type(matrix).__name__}")
    if matrix.ndim == 2:
        return _created_by_rows(group, name, matrix, options)
    coo = matrix.tocoo()
    if not coo.has_canonical_format:
        coo = coo.copy() if coo is matrix else coo
        coo.sum_duplicates()
    return _created(group, name, coo.shape, np.column_stack(coo.coords), coo.data, options)


def _created_by_rows(group: Any, name: str | bytes, matrix: Any, options: dict[str, Any]) -> Dataset:
    """A list of all coordinates would take several times the memory of the matrix, so rows of chunks are written together, as many as have some elements."""
    csr = matrix.tocsr()
    if not csr.has_canonical_format:
        csr = csr.copy() if csr is matrix else csr
        csr.sum_duplicates()

    def write(made: Dataset) -> None:
        first, rows, side = 0, csr.shape[0], made.chunks[0]
        while first < rows:
            most = np.searchsorted(csr.indptr, int(csr.indptr[first]) + _AT_ONCE, "right") - 1
            end = min(rows, max(int(most) // side * side, (first // side + 1) * side))
            begin, stop = csr.indptr[first], csr.indptr[end]
            if begin < stop:
                coords = np.empty((stop - begin, 2), np.int64)
                coords[:, 0] = np.repeat(np.arange(first, end), np.diff(csr.indptr[first : end + 1]))
                coords[:, 1] = csr.indices[begin:stop]
                made.write_coords(coords, csr.data[begin:stop])
            first = end

    return _made(group, name, csr.shape, csr.data.dtype, write, options)


def to_pydata_sparse(dataset: Any) -> Any:
    """The defined elements of a dataset as a `sparse.COO`."""
    sparse = imported("sparse")
    coords, values = dataset.read_defined()
    values = _numbers(values)
    fill = values.dtype.type(dataset.fillvalue)
    return sparse.COO(
        coords.T, values, shape=dataset.shape, fill_value=fill, sorted=True, has_duplicates=False, prune=False
    )


def create_from_sparse(group: Any, name: str | bytes, array: Any, options: dict[str, Any]) -> Dataset:
    """A sparse dataset with the stored elements and the fill value of an array of the package `sparse`."""
    if not hasattr(array, "asformat") or not hasattr(array, "fill_value"):
        raise TypeError(f"an array of the package sparse is needed, not {type(array).__name__}")
    coo = array.asformat("coo")
    options.setdefault("fillvalue", coo.fill_value)
    return _created(group, name, coo.shape, coo.coords.T, coo.data, options)


def _created(group: Any, name: str | bytes, shape: Any, coords: Any, values: Any, options: dict[str, Any]) -> Dataset:
    return _made(group, name, shape, values.dtype, lambda made: made.write_coords(coords, values), options)


def _made(group: Any, name: str | bytes, shape: Any, dtype: Any, write: Any, options: dict[str, Any]) -> Dataset:
    """A sparse dataset whose elements `write` writes. If that fails, no dataset is left behind."""
    if not options.setdefault("sparse", True):
        raise ValueError("sparse=False: elements of a sparse array go to a sparse dataset; write array.toarray() to another one")
    options.setdefault("dtype", dtype)
    made = group.create_dataset(name, tuple(shape), **options)
    try:
        write(made)
    except BaseException:
        del group[name]
        raise
    return made


def binsparse_descriptor(dataset: Any) -> dict[str, Any]:
    """What the arrays of `binsparse_arrays` mean, as the specification of binsparse says it: a vector, a matrix by rows, or a list of coordinates of more dimensions."""
    rank = len(dataset._shape())
    if rank == 0:
        raise TypeError("binsparse has no form for a scalar")
    described: dict[str, Any] = {"version": "0.1", "format": {1: "CVEC", 2: "COOR"}.get(rank, "custom")}
    if rank > 2:
        described["custom"] = {"level": {"level_desc": "sparse", "rank": rank, "level": {"level_desc": "element"}}}
    described |= {"shape": list(dataset.shape), "number_of_stored_values": dataset.defined().npoints, "fill": True}
    kinds = {f"indices_{dimension}": "int64" for dimension in range(rank)}
    value = _value_kind(dataset.dtype)
    return {"binsparse": described | {"data_types": kinds | {"values": value, "fill_value": value}}}


def _value_kind(dtype: np.dtype) -> str:
    """The name that the specification of binsparse has for a type of numbers."""
    if dtype.kind not in "iu" and dtype.char not in "?fdFD":
        raise TypeError(f"binsparse holds numbers of up to 64 bits, and complex numbers of two of these, not values of {dtype}")
    if dtype.kind == "c":
        return f"complex[float{dtype.itemsize * 4}]"
    return "bint8" if dtype.kind == "b" else dtype.name


def binsparse_arrays(dataset: Any) -> dict[str, np.ndarray]:
    """The coordinates of the defined elements in each dimension, their values, and the fill value."""
    _value_kind(dataset.dtype)
    coords, values = dataset.read_defined()
    values = _numbers(values)
    arrays = {f"indices_{dimension}": column for dimension, column in enumerate(np.ascontiguousarray(coords.T))}
    return arrays | {"values": values, "fill_value": np.array([dataset.fillvalue], values.dtype)}
