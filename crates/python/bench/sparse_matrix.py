"""A sparse matrix: as a sparse dataset of ours, and in the layout of anndata, three datasets of one dimension, by h5py.

usage: sparse_matrix.py [ROWS COLUMNS]

5 % of 100,000 x 20,000 elements, single precision, counts as of cells and genes. Both write the whole of it with gzip 1 and without filters, then read 200 blocks of 50 rows and 20 columns. A column
of a matrix stored by rows needs all of it: in the layout of anndata it is read and cut as anndata and scipy do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.sparse as sp
from _beside import in_turn, print_table, seconds, size

import hyperslab

DENSITY, ROWS_AT_ONCE, READS, COLUMNS = 0.05, 50, 200, 20


def matrix(rows: int, columns: int) -> sp.csr_array:
    """Made row by row, because a list of all coordinates would need many times the memory."""
    rng = np.random.default_rng(7)
    per_row = rng.binomial(columns, DENSITY, rows)
    indptr = np.concatenate([[0], np.cumsum(per_row)]).astype(np.int64)
    indices = np.empty(indptr[-1], np.int32)
    for row in range(rows):
        indices[indptr[row] : indptr[row + 1]] = np.sort(rng.choice(columns, per_row[row], replace=False, shuffle=False))
    data = rng.geometric(0.4, len(indices)).astype("f4")
    return sp.csr_array((data, indices, indptr), shape=(rows, columns))


class Ours:
    def __init__(self, filters: dict[str, Any]) -> None:
        self.filters = filters

    def write(self, path: Path, values: sp.csr_array) -> None:
        with hyperslab.File(path, "w") as file:
            file.create_from_scipy("x", values, **self.filters)

    def rows(self, path: Path, firsts: np.ndarray) -> float:
        with hyperslab.File(path) as file:
            return sum(float(file["x"].read_defined(np.s_[row : row + ROWS_AT_ONCE])[1].sum()) for row in firsts.tolist())

    def columns(self, path: Path, wanted: np.ndarray) -> float:
        with hyperslab.File(path) as file:
            return sum(float(file["x"][:, column].sum()) for column in wanted.tolist())


class Anndata:
    def __init__(self, filters: dict[str, Any]) -> None:
        self.filters = filters

    def write(self, path: Path, values: sp.csr_array) -> None:
        with h5py.File(path, "w", libver="latest") as file:
            group = file.create_group("x")
            group.attrs["shape"] = values.shape
            for name in "data", "indices", "indptr":
                group.create_dataset(name, data=getattr(values, name), chunks=True, **self.filters)

    def rows(self, path: Path, firsts: np.ndarray) -> float:
        total = 0.0
        with h5py.File(path) as file:
            group = file["x"]
            indptr = group["indptr"][...]
            for row in firsts.tolist():
                begin, end = indptr[row], indptr[row + ROWS_AT_ONCE]
                total += float(group["data"][begin:end].sum()) + 0 * len(group["indices"][begin:end])
        return total

    def columns(self, path: Path, wanted: np.ndarray) -> float:
        total = 0.0
        with h5py.File(path) as file:
            group = file["x"]
            for column in wanted.tolist():
                whole = sp.csr_array((group["data"][...], group["indices"][...], group["indptr"][...]), shape=tuple(group.attrs["shape"]))
                total += float(whole[:, [column]].sum())
        return total


def side(own: Ours | Anndata, values: sp.csr_array, columns: int) -> Callable[[Path], dict[str, float]]:
    rng = np.random.default_rng(8)
    firsts = rng.integers(0, max(1, values.shape[0] - ROWS_AT_ONCE), READS)
    wanted = rng.integers(0, values.shape[1], columns)
    in_rows = sum(float(values.data[values.indptr[row] : values.indptr[min(row + ROWS_AT_ONCE, values.shape[0])]].sum()) for row in firsts.tolist())

    def work(path: Path) -> dict[str, float]:
        sums: list[float] = []
        write = seconds(lambda: own.write(path, values))
        rows = seconds(lambda: sums.append(own.rows(path, firsts)))
        assert abs(sums[0] - in_rows) <= 1e-6 * in_rows
        one = seconds(lambda: own.columns(path, wanted))
        return {"write": write, f"{READS} blocks of rows": rows, "a column": one / len(wanted), "bytes": size(path)}

    return work


def main() -> None:
    rows, columns = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (100_000, 20_000)
    values = matrix(rows, columns)
    for title, filters in (("gzip 1", {"compression": "gzip", "compression_opts": 1}), ("no filters", {})):
        sides = {"anndata, h5py": side(Anndata(filters), values, 2), "ours": side(Ours(filters), values, COLUMNS)}
        print_table(f"{rows:,} x {columns:,}, {values.nnz:,} elements, {title}", in_turn(sides, 1), "anndata, h5py")


if __name__ == "__main__":
    main()
