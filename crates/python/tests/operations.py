"""The operations of the generated cases: creation, item assignment, attributes, fill values, direct reads and writes, conversions, slices."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from generated import DTYPES, INDICES, ROWS, SINGLE, Case, objects

VALUES = {**SINGLE, **ROWS}
SHAPES: dict[str, Any] = {"()": (), "4": 4, "3x2": (3, 2), "0": (0,), "None": None, "2^40 x 2^40": (2**40, 2**40), "-1": (-1,), "1.5": (1.5,)}
SLICED = ["i4", ">f8", "S10", "text", "ints", "enum", "struct", "mixed", "array", "ref"]


#: What h5py crashes with, or stores what lies anywhere in memory: it takes the bytes of what it is given for sequences for pointers.
WILD = re.compile(
    r"set (ints|floats|texts) .* = (?!list3|tuple|matrix)"
    r"|(create|attr|modify|fill) (ints|floats|texts) = (?!ragged|O arrays|ints)"
    r"|modify mixed = |read_direct (ints|floats|texts) -> T|put ints "
    r"|.*overlapping|fill (text|bytes|T|T-na) = array0 (O|text|T)"
)


def is_wild(name: str) -> bool:
    """Whether h5py must not be asked. What `set` is given as rows becomes arrays first."""
    return WILD.match(name) is not None and not (name.startswith("set ") and name.split(" = ")[-1] in ROWS)


def all_cases() -> Iterator[Case]:
    """Every case that h5py survives; names are unique."""
    for cases in (created(), assigned(), attributes(), fills(), direct(), sliced()):
        yield from (case for case in cases if not is_wild(case.name))


def natural(lib: Any, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Values that a dtype has for sure."""
    dtype = np.dtype(dtype)
    if dtype.subdtype is not None:
        return natural(lib, dtype.base, shape + dtype.shape)
    made = np.zeros(shape, dtype)
    if dtype.names is not None:
        for name in dtype.names:
            made[name] = natural(lib, dtype[name], shape)
        return made
    vlen, ref = (dtype.metadata or {}).get("vlen"), (dtype.metadata or {}).get("ref")
    count = made.size
    if vlen is not None and vlen not in (str, bytes):
        values: Any = objects(*[natural(lib, vlen, (n % 3,)) for n in range(count)])
    elif ref is not None:
        values = objects(*[ref() for n in range(count)])
    elif dtype.kind in "SUTO":
        values = [str(n) for n in range(count)]
    elif dtype.kind == "V":
        values = [bytes([n]) * dtype.itemsize for n in range(count)]
    else:
        values = np.arange(count) % (2 if dtype.kind == "b" else 8)
    for at, value in enumerate(values):
        made.reshape(-1)[at] = value
    return made


def facts(dataset: Any) -> list[Any]:
    return [dataset.shape, dataset.dtype, dataset.maxshape, dataset.chunks, dataset.size]


def seen(dataset: Any) -> list[Any]:
    return [*facts(dataset), dataset[()]]


def created() -> Iterator[Case]:
    for d, dtype in DTYPES.items():
        for s, shape in SHAPES.items():
            chunks = (16, 16) if s == "2^40 x 2^40" else None

            def empty(lib, group, dtype=dtype, shape=shape, chunks=chunks):
                made = group.create_dataset("x", shape, dtype(lib), chunks=chunks)
                return [*facts(made), made.fillvalue, made[:3, 7] if chunks else made[()]]

            yield Case(f"create {d} {s}", empty)
        for v, value in VALUES.items():
            yield Case(
                f"create {d} = {v}",
                lambda lib, group, dtype=dtype, value=value: seen(group.create_dataset("x", data=value(lib), dtype=dtype(lib))),
            )
    for v, value in VALUES.items():
        yield Case(f"create of {v}", lambda lib, group, value=value: seen(group.create_dataset("x", data=value(lib))))
        yield Case(f"name {v}", lambda lib, group, value=value: _named(group, value(lib)))


def _named(group: Any, value: Any) -> Any:
    group["x"] = value
    return seen(group["x"])


def _assign(lib: Any, group: Any, dtype: Any, index: Any, value: Any) -> Any:
    made = _source(lib, group, dtype)
    made[index] = value(lib)
    return made[()]


def assigned() -> Iterator[Case]:
    for d, dtype in DTYPES.items():
        for v, value in VALUES.items():
            for i, index in {"...": ..., "1": 1, "1:3": slice(1, 3)}.items():
                if i == "..." or v in SINGLE:
                    yield Case(f"set {d} [{i}] = {v}", lambda lib, group, dtype=dtype, index=index, value=value: _assign(lib, group, dtype, index, value))


def _attribute(lib: Any, group: Any, dtype: Any, value: Any) -> Any:
    group.attrs.create("x", value(lib), dtype=dtype(lib))
    return group.attrs["x"]


def _modified(lib: Any, group: Any, dtype: Any, shape: Any, value: Any) -> Any:
    dtype = dtype(lib)
    group.attrs.create("x", natural(lib, dtype, shape), dtype=dtype)
    group.attrs.modify("x", value(lib))
    return group.attrs["x"]


def _plain_attribute(lib: Any, group: Any, value: Any) -> Any:
    group.attrs["x"] = value(lib)
    return group.attrs["x"]


def attributes() -> Iterator[Case]:
    for d, dtype in DTYPES.items():
        for v, value in VALUES.items():
            yield Case(f"attr {d} = {v}", lambda lib, group, dtype=dtype, value=value: _attribute(lib, group, dtype, value))
            shape = () if v in SINGLE else (4,)
            yield Case(f"modify {d} = {v}", lambda lib, group, dtype=dtype, shape=shape, value=value: _modified(lib, group, dtype, shape, value))
    for v, value in VALUES.items():
        yield Case(f"attr of {v}", lambda lib, group, value=value: _plain_attribute(lib, group, value))


def _filled(lib: Any, group: Any, dtype: Any, value: Any) -> Any:
    made = group.create_dataset("x", (2,), dtype(lib), fillvalue=value(lib), chunks=(1,))
    return [made.fillvalue, made[()]]


def fills() -> Iterator[Case]:
    for d, dtype in DTYPES.items():
        for v, value in SINGLE.items():
            yield Case(f"fill {d} = {v}", lambda lib, group, dtype=dtype, value=value: _filled(lib, group, dtype, value))


def _source(lib: Any, group: Any, dtype: Any, shape: tuple[int, ...] = (4,)) -> Any:
    dtype = dtype(lib)
    made = group.create_dataset("x", shape, dtype)
    made[...] = natural(lib, dtype, shape)
    return made


def _read_direct(lib: Any, group: Any, dtype: Any, to: Any) -> Any:
    source = _source(lib, group, dtype)
    to = to(lib)
    target = np.zeros(4, to)
    source.read_direct(target)
    return target


def _read_as(lib: Any, group: Any, dtype: Any, to: Any) -> Any:
    return _source(lib, group, dtype).astype(to(lib))[1:]


def _write_direct(lib: Any, group: Any, dtype: Any, value: Any) -> Any:
    made = group.create_dataset("x", (4,), dtype(lib))
    made.write_direct(value(lib))
    return made[()]


def direct() -> Iterator[Case]:
    arrays = {v: value for v, value in ROWS.items() if isinstance(value(None), np.ndarray)}
    for d, dtype in DTYPES.items():
        if d in ("U5", "M8", "O"):
            continue
        for t, to in DTYPES.items():
            yield Case(f"read_direct {d} -> {t}", lambda lib, group, dtype=dtype, to=to: _read_direct(lib, group, dtype, to))
            yield Case(f"astype {d} -> {t}", lambda lib, group, dtype=dtype, to=to: _read_as(lib, group, dtype, to))
        for v, value in arrays.items():
            yield Case(f"write_direct {d} <- {v}", lambda lib, group, dtype=dtype, value=value: _write_direct(lib, group, dtype, value))


def _read_slice(lib: Any, group: Any, dtype: Any, index: Any) -> Any:
    return _source(lib, group, dtype, (6, 5))[index]


def _write_slice(lib: Any, group: Any, dtype: Any, index: Any) -> Any:
    made = _source(lib, group, dtype, (6, 5))
    made[index] = natural(lib, dtype(lib), (1,))
    return made[()]


def sliced() -> Iterator[Case]:
    for d in SLICED:
        for i, index in INDICES.items():
            yield Case(f"get {d} [{i}]", lambda lib, group, d=d, index=index: _read_slice(lib, group, DTYPES[d], index))
            yield Case(f"put {d} [{i}]", lambda lib, group, d=d, index=index: _write_slice(lib, group, DTYPES[d], index))
