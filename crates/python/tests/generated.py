"""Calls that h5py and this package take alike: every dtype with every operation and many values. A case has a name and a function of a library
(`h5py` or `hyperslab`) and an empty group of a file of that library."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import h5py
import numpy as np


class Case(NamedTuple):
    name: str
    run: Callable[[Any, Any], Any]


TEXT, BYTES = h5py.string_dtype(), h5py.string_dtype("ascii")
INTS = h5py.vlen_dtype(np.dtype("i4"))
NUMBERS = "i1 u1 i2 >i2 u2 i4 >i4 u4 i8 >i8 u8 >u8 f2 f4 >f4 f8 >f8 g c8 >c8 c16 G ?".split()


def placed(names: list[str], formats: list[Any], offsets: list[int], itemsize: int) -> np.dtype:
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": itemsize})


#: dtypes by name; those of references belong to one of the libraries.
DTYPES: dict[str, Callable[[Any], Any]] = {
    **{name: (lambda lib, name=name: np.dtype(name)) for name in NUMBERS},
    "S1": lambda lib: np.dtype("S1"),
    "S10": lambda lib: np.dtype("S10"),
    "utf8-12": lambda lib: h5py.string_dtype("utf-8", 12),
    "text": lambda lib: TEXT,
    "bytes": lambda lib: BYTES,
    "T": lambda lib: np.dtypes.StringDType(),
    "T-na": lambda lib: np.dtypes.StringDType(na_object=None),
    "ints": lambda lib: INTS,
    "floats": lambda lib: h5py.vlen_dtype("f8"),
    "texts": lambda lib: h5py.vlen_dtype(TEXT),
    "enum": lambda lib: h5py.enum_dtype({"A": 0, "B": 1, "C": 7}, "u1"),
    ">enum": lambda lib: h5py.enum_dtype({"A": -1, "B": 1, "C": 300}, ">i2"),
    "V5": lambda lib: np.dtype("V5"),
    "time": lambda lib: h5py.opaque_dtype("M8[s]"),
    "struct": lambda lib: np.dtype([("a", "i4"), ("b", "f8"), ("c", "S3")]),
    "padded": lambda lib: placed(["a", "b"], ["u1", "f4"], [0, 8], 24),
    "moved": lambda lib: placed(["a", "c", "b"], ["i8", "i8", "i8"], [0, 16, 8], 24),
    "overlapping": lambda lib: placed(["a", "b"], ["i4", "i4"], [0, 2], 8),
    "nested": lambda lib: np.dtype([("a", "i2"), ("b", [("x", "f4"), ("y", "u1", (2,))])]),
    "mixed": lambda lib: np.dtype([("a", "i4"), ("b", TEXT), ("c", INTS)]),
    "array": lambda lib: np.dtype(("i4", (3,))),
    "matrix": lambda lib: np.dtype(("f4", (2, 2))),
    "texts3": lambda lib: np.dtype((TEXT, (3,))),
    "ref": lambda lib: lib.ref_dtype,
    "region": lambda lib: lib.regionref_dtype,
    "U5": lambda lib: np.dtype("U5"),
    "M8": lambda lib: np.dtype("M8[s]"),
    "O": lambda lib: np.dtype("O"),
}


def objects(*values: Any, dtype: Any = object) -> np.ndarray:
    made = np.empty(len(values), dtype)
    for at, value in enumerate(values):
        made[at] = value
    return made


def structs(dtype: Any, *values: Any) -> np.ndarray:
    return np.array(list(values), dtype)


#: Values by name: single ones, and rows of four.
SINGLE: dict[str, Callable[[Any], Any]] = {
    "5": lambda lib: 5,
    "-1": lambda lib: -1,
    "300": lambda lib: 300,
    "2.75": lambda lib: 2.75,
    "nan": lambda lib: float("nan"),
    "1+2j": lambda lib: 1 + 2j,
    "True": lambda lib: True,
    "None": lambda lib: None,
    "str": lambda lib: "größe",
    "bytes": lambda lib: b"abc",
    "nul": lambda lib: "a\0b",
    "surrogate": lambda lib: "a\ud800b",
    "escaped": lambda lib: "a\udcffb",
    "long": lambda lib: "x" * 40,
    "np.i4": lambda lib: np.int32(7),
    "np.f4": lambda lib: np.float32(1.5),
    "np.c16": lambda lib: np.complex128(3 - 4j),
    "np.bool": lambda lib: np.True_,
    "np.S": lambda lib: np.bytes_(b"xyz"),
    "np.U": lambda lib: np.str_("xyz"),
    "array0 i4": lambda lib: np.array(3, "i4"),
    "array0 f8": lambda lib: np.array(3.5),
    "array0 c8": lambda lib: np.array(3.5j, "c8"),
    "array0 S": lambda lib: np.array(b"xyz"),
    "array0 U": lambda lib: np.array("xyz"),
    "array0 O": lambda lib: np.array("xyz", dtype=object),
    "array0 text": lambda lib: np.array("xyz", dtype=TEXT),
    "array0 T": lambda lib: np.array("xyz", dtype="T"),
    "array0 struct": lambda lib: np.array((1, 2.5, b"c"), [("a", "i4"), ("b", "f8"), ("c", "S3")]),
    "void": lambda lib: np.void(b"12345"),
    "M8": lambda lib: np.datetime64("2020-01-01", "s"),
    "tuple2": lambda lib: (1, 2.5),
    "tuple3": lambda lib: (1, 2, b"c"),
    "list3": lambda lib: [1, 2, 3],
    "matrix": lambda lib: [[1, 2], [3, 4]],
    "ref": lambda lib: lib.Reference(),
    "Empty": lambda lib: lib.Empty("i4"),
}

ROWS: dict[str, Callable[[Any], Any]] = {
    "list i": lambda lib: [1, 0, 2, 7],
    "list f": lambda lib: [1.5, -2.0, 0.0, 1e300],
    "list c": lambda lib: [1j, 2.0, 0, 3 + 4j],
    "list bool": lambda lib: [True, False, True, False],
    "list str": lambda lib: ["a", "größer", "", "x" * 20],
    "list bytes": lambda lib: [b"a", b"xy", b"", b"x" * 20],
    "list None": lambda lib: ["a", None, "b", b"c"],
    "list tuple": lambda lib: [(1, 2, 3), (4, 5, 6), (7, 8, 9), (0, 0, 0)],
    "ragged": lambda lib: [[1], [2, 3], [], [4, 5, 6]],
    "surrogates": lambda lib: ["a", "\ud800", "b", "c"],
    **{f"{kind}": (lambda lib, kind=kind: np.array([1, 0, 1, 7]).astype(kind)) for kind in ["i1", "u8", ">i4", "f2", "f4", ">f8", "g", "c8", "c16", "?"]},
    "negative": lambda lib: np.array([-1, -200, 70000, 5], "i8"),
    "fraction": lambda lib: np.array([0.5, -0.5, 1e20, -1e20]),
    "no numbers": lambda lib: np.array([np.nan, np.inf, -np.inf, 1.0]),
    "S": lambda lib: np.array([b"a", b"xy", b"", b"x" * 20]),
    "U": lambda lib: np.array(["a", "xy", "", "z"]),
    "T": lambda lib: np.array(["a", "größer", "", "z"], dtype="T"),
    "O str": lambda lib: objects("a", "größer", "", "z"),
    "O bytes": lambda lib: objects(b"a", b"b\xff", b"", b"z"),
    "O None": lambda lib: objects("a", None, "b", "c"),
    "O int": lambda lib: objects(1, 2, 3, 4),
    "O arrays": lambda lib: objects(np.arange(2), np.arange(0), np.arange(3), np.array([9])),
    "text": lambda lib: objects("a", "größer", "", "z", dtype=TEXT),
    "bytes": lambda lib: objects(b"a", b"b", b"", b"z", dtype=BYTES),
    "ints": lambda lib: objects(np.arange(2), np.arange(0), np.arange(3), np.array([9]), dtype=INTS),
    "struct": lambda lib: structs([("a", "i4"), ("b", "f8"), ("c", "S3")], (1, 2, b"c"), (3, 4, b""), (5, 6, b"ab"), (0, 0, b"")),
    "other struct": lambda lib: structs([("b", "i2"), ("a", "f4")], (1, 2), (3, 4), (5, 6), (7, 8)),
    "moved": lambda lib: structs(placed(["a", "c", "b"], ["i8"] * 3, [0, 16, 8], 24), (1, 2, 3), (4, 5, 6), (7, 8, 9), (0, 0, 0)),
    "V5": lambda lib: np.array([b"12345", b"abcde", b"\0\1\2\3\4", b""], "V5"),
    "M8": lambda lib: np.array(["2020-01-01", "NaT", "1970-01-01", "2000-02-29"], "M8[s]"),
    "4x3": lambda lib: np.arange(12).reshape(4, 3),
    "4x2x2": lambda lib: np.arange(16, dtype="f4").reshape(4, 2, 2),
    "fortran": lambda lib: np.arange(8).reshape(2, 4)[::2].T.reshape(4)[::1],
    "strided": lambda lib: np.arange(8)[::2],
    "wrong length": lambda lib: np.arange(5),
    "one": lambda lib: np.arange(1),
}

#: Indices of a dataset of 6 × 5.
INDICES: dict[str, Any] = {
    "()": (),
    "...": ...,
    "0": 0,
    "-1": -1,
    "6": 6,
    "-7": -7,
    "1,2": (1, 2),
    "1,2,0": (1, 2, 0),
    ":": slice(None),
    "1:4": slice(1, 4),
    "4:1": slice(4, 1),
    "-3:": slice(-3, None),
    "::2": slice(None, None, 2),
    "::-1": slice(None, None, -1),
    "::0": slice(None, None, 0),
    "1:100": slice(1, 100),
    "100:": slice(100, None),
    ":,1": (slice(None), 1),
    "...,1": (..., 1),
    "1,...": (1, ...),
    "...,...": (..., ...),
    "1:3,::3": (slice(1, 3), slice(None, None, 3)),
    "None": None,
    "[0,2,5]": [0, 2, 5],
    "[5,0]": [5, 0],
    "[1,1]": [1, 1],
    "[]": [],
    "[-1]": [-1],
    "[9]": [9],
    "[0,2],1:3": ([0, 2], slice(1, 3)),
    "[0,2],[1,3]": ([0, 2], [1, 3]),
    "array": np.array([1, 4]),
    "array u1": np.array([1, 4], "u1"),
    "array f8": np.array([1.0, 4.0]),
    "mask0": np.array([True, False, True, False, False, True]),
    "mask": np.arange(30).reshape(6, 5) % 7 == 0,
    "no mask": np.zeros((6, 5), bool),
    "wrong mask": np.ones((5, 6), bool),
    "bool list": [True, False, True, False, False, True],
    "np.int64": np.int64(2),
    "1.5": 1.5,
    "True": True,
    "str": "a",
    "fields": ("a", "b"),
    "field, row": ("b", 1),
    "b'a'": b"a",
    "object": object,
    "range": range(1, 4),
}

