"""Random datasets written with h5py, and what libhdf5 reads of them, for tests/libhdf5.rs.

usage: libhdf5.py FILE EXPECTED BYTES COUNT SEED

Writes FILE, in EXPECTED a JSON list of questions, and in BYTES the answers to those whose values are plain bytes. A question has
the name of a dataset, a slice (for each dimension an index, or start, stop and step), the type to read as, the shape, and the
values: in JSON, or as a place in BYTES.
"""

import json
import random
import sys

import h5py
import numpy as np

INTS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]
LETTERS = "abcäß€😀 xyz"


def text(rng, most=40):
    return "".join(rng.choice(LETTERS) for _ in range(rng.choice([0, 1, rng.randint(0, most)])))


def numbers(rng, dtype, shape):
    """Values of which some are small, so that conversions do more than saturate."""
    count = int(np.prod(shape))
    bits = np.frombuffer(rng.randbytes(count * dtype.itemsize), dtype).copy()
    small = np.array([rng.randint(0, 100) for _ in range(count)]).astype(dtype)
    values = np.where(np.array([rng.random() < 0.5 for _ in range(count)], bool), small, bits)
    if dtype.kind in "fc":
        values = np.where(np.isfinite(values), values, small)
    return values.astype(dtype).reshape(shape)


def make(rng, file, name, large):
    """A dataset, the kind of its values, and the values as h5py has them."""
    rank = 1 if large else rng.randint(0, 4)
    shape = tuple(rng.randint(0 if rng.random() < 0.05 else 1, 9) for _ in range(rank))
    if large:
        shape = rng.choice([(2_500_000,), (1500, 1700), (30, 40, 50, 40)])
    kinds = ["int", "float", "complex", "bool", "enum", "fixed", "text", "bytes", "vlen", "array", "struct", "opaque"]
    kind = rng.choice(["int", "float"] if large else kinds)
    count = int(np.prod(shape))
    order = rng.choice("<>")
    options = {}
    if kind in ("int", "float"):
        dtype = np.dtype(order + rng.choice(INTS if kind == "int" else FLOATS))
        if large:
            values = (np.arange(count) % 251 - 20).astype(dtype).reshape(shape)
        else:
            values = numbers(rng, dtype, shape)
    elif kind == "complex":
        part = np.dtype(order + rng.choice(["f4", "f8"]))
        values = np.zeros(shape, np.dtype(order + "c" + str(2 * part.itemsize)))
        values.real, values.imag = numbers(rng, part, shape), numbers(rng, part, shape)
        dtype = values.dtype
    elif kind == "bool":
        values = np.array([rng.random() < 0.5 for _ in range(count)], bool).reshape(shape)
        dtype = values.dtype
    elif kind == "enum":
        dtype = h5py.enum_dtype({"A": 1, "B": 2, "LONGER NAME": 100}, basetype=order + rng.choice(["i1", "u2", "i4"]))
        values = np.array([rng.choice([1, 2, 100]) for _ in range(count)], dtype).reshape(shape)
    elif kind == "fixed":
        size = rng.randint(1, 30)
        dtype = h5py.string_dtype(rng.choice(["utf-8", "ascii"]), size)
        letters = LETTERS if h5py.check_string_dtype(dtype).encoding == "utf-8" else "abc xyz"

        def fixed():
            out = ""
            while len((out + (letter := rng.choice(letters))).encode()) <= size and rng.random() < 0.9:
                out += letter
            return out.encode()

        values = np.array([fixed() for _ in range(count)], dtype).reshape(shape)
    elif kind in ("text", "bytes"):
        dtype = h5py.string_dtype("utf-8" if kind == "text" else "ascii")
        values = np.empty(shape, object)
        for at in np.ndindex(shape):
            values[at] = text(rng, rng.choice([20, 200])) if kind == "text" else bytes(rng.randint(128, 255) for _ in range(rng.randint(0, 9)))
    elif kind == "vlen":
        base = np.dtype(order + rng.choice(INTS + FLOATS))
        dtype = h5py.vlen_dtype(base)
        values = np.empty(shape, object)
        for at in np.ndindex(shape):
            values[at] = numbers(rng, base, (rng.choice([0, 1, 3, rng.randint(0, 60)]),))
    elif kind == "array":
        dtype = np.dtype((order + rng.choice(INTS), (2, 3)))
        values = numbers(rng, dtype.base, shape + (2, 3))
    elif kind == "opaque":
        dtype = np.dtype("V5")
        values = np.frombuffer(rng.randbytes(5 * count), dtype).reshape(shape)
    elif kind == "struct":
        members = [
            ("a", order + rng.choice(INTS)),
            ("b", order + "f8"),
            ("s", h5py.string_dtype()),
            ("t", "S5"),
            ("unread", "u2"),
            ("c", order + rng.choice(INTS), (3,)),
            ("v", h5py.vlen_dtype(np.dtype("<i4"))),
        ]
        rng.shuffle(members)
        dtype = np.dtype(members)
        values = np.zeros(shape, dtype)
        for at in np.ndindex(shape):
            values[at]["a"], values[at]["b"] = rng.randint(0, 100), rng.random()
            values[at]["s"], values[at]["t"] = text(rng), text(rng, 1).encode("ascii", "ignore")
            values[at]["c"] = [rng.randint(0, 100) for _ in range(3)]
            values[at]["v"] = np.array([rng.randint(-9, 9) for _ in range(rng.randint(0, 4))], "<i4")
    if rank and count and rng.random() < 0.6:
        options["chunks"] = tuple(rng.randint(1, max(1, side)) for side in shape)
        if large:
            options["chunks"] = tuple(max(1, side // rng.randint(1, 8)) for side in shape)
        if rng.random() < 0.5:
            options.update(compression="gzip", shuffle=rng.random() < 0.5)
    dataset = file.create_dataset(name, shape, dtype, **options)
    if kind != "vlen":
        dataset[()] = values
    else:
        for at in np.ndindex(shape):
            dataset[at] = values[at]
    return kind, dataset, values


def pick(rng, shape):
    """A slice: for us, and for h5py."""
    ours, theirs = [], []
    for side in shape[: rng.randint(0, len(shape))]:
        if side and rng.random() < 0.3:
            at = rng.randrange(side)
            ours.append(at - side if rng.random() < 0.3 else at)
            theirs.append(at)
        else:
            start = rng.randint(0, side)
            stop = rng.randint(start, side)
            step = rng.choice([1, 1, 2, 3, 50])
            ours.append([start - side if start < side and rng.random() < 0.3 else start, stop, step])
            theirs.append(slice(start, stop, step))
    return ours, tuple(theirs) + (Ellipsis,)


def as_lists(kind, values):
    """Values in JSON, one after the other."""
    flat = values.reshape(-1) if kind != "array" else values.reshape(-1, 6)
    if kind == "struct":
        return [[int(v["a"]), float(v["b"]), v["s"], v["t"].decode(), [int(c) for c in v["c"]], [int(c) for c in v["v"]]] for v in flat]
    if kind == "fixed":
        return [v.decode() for v in flat]
    if kind == "bytes":
        return [list(v) for v in flat]
    if kind == "array":
        return [[int(v) for v in row] for row in flat]
    if kind == "opaque":
        return [list(v.tobytes()) for v in flat]
    if kind == "text":
        return list(flat)
    return [v.tolist() for v in flat]


def main(name, expected, place, count, seed):
    rng, questions = random.Random(int(seed)), []
    with h5py.File(name, "w", libver=rng.choice(["earliest", "latest"])) as file, open(place, "wb") as out:
        for nth in range(int(count)):
            large = nth % 60 == 59
            kind, dataset, written = make(rng, file, "d%d" % nth, large)
            for _ in range(2):
                ours, theirs = pick(rng, dataset.shape) if not large or rng.random() < 0.7 else ([], (Ellipsis,))
                question = {"dataset": dataset.name, "slice": ours}
                if kind in ("int", "float", "complex", "enum"):
                    wanted = rng.choice(["f4", "f8"] if kind == "float" else INTS + FLOATS)
                    wanted = rng.choice(["c8", "c16"]) if kind == "complex" else wanted
                    if kind == "enum":
                        values = np.asarray(dataset[theirs]).astype("i8").astype(wanted)
                    elif kind == "complex" and wanted != dataset.dtype.str[1:]:
                        values = np.asarray(dataset[theirs]).astype(wanted)
                    else:
                        values = np.asarray(dataset.astype("<" + wanted)[theirs])
                    values = values.astype("<" + wanted)
                    question.update(kind=wanted, start=out.tell())
                    out.write(values.tobytes())
                    question["end"] = out.tell()
                    shape = values.shape
                else:
                    values = written[theirs]
                    shape = values.shape[:-2] if kind == "array" else values.shape
                    question.update(kind=kind, values=as_lists(kind, values))
                question["shape"] = list(shape)
                questions.append(question)
    with open(expected, "w") as out:
        json.dump(questions, out)


main(*sys.argv[1:])
