"""A sparse dataset beside its twin: an array of values, and a mask of those that are defined."""

import hyperslab
import numpy as np
from hypothesis import strategies as st

STRUCT = np.dtype([("a", "i4"), ("b", ">f8"), ("c", "S3"), ("d", "u1", (2,))])
DTYPES = [np.dtype(name) for name in "i1 >i2 u4 i8 f2 f4 >f8 g c8 >c16 ? S5 V3".split()] + [STRUCT]


def random_values(dtype, count, rng):
    """So many values of a dtype, zeros among them."""
    if dtype.names is not None:
        values = np.zeros(count, dtype)
        for name in dtype.names:
            field = dtype[name]
            values[name] = random_values(field.base, count * int(np.prod(field.shape)), rng).reshape(count, *field.shape)
        return values
    numbers = rng.integers(0, 4, count)
    if dtype.kind in "SV":
        return np.array([b"", b"a", b"xyz", b"\1\2\3"], dtype)[numbers]
    return (numbers * (1 + 0.5j)).astype(dtype) if dtype.kind == "c" else numbers.astype(dtype)


class Twin:
    """What a dataset should hold."""

    def __init__(self, shape, dtype, fill):
        self.fill, self.values, self.mask = fill, np.full(shape, fill, dtype), np.zeros(shape, bool)

    def write(self, where, values):
        self.values[where], self.mask[where] = values, True

    def erase(self, where):
        self.values[where], self.mask[where] = self.fill, False

    def resize(self, shape):
        values, mask = np.full(shape, self.fill, self.values.dtype), np.zeros(shape, bool)
        kept = tuple(slice(0, min(old, new)) for old, new in zip(self.values.shape, shape, strict=True))
        values[kept], mask[kept] = self.values[kept], self.mask[kept]
        self.values, self.mask = values, mask

    def check(self, dataset, where=..., index=...):
        """Compares all answers of the dataset with the twin; `where` is what `index` names, as a mask."""
        selected = np.zeros(self.mask.shape, bool)
        selected[where] = True
        coords = np.argwhere(self.mask & selected)
        assert dataset.shape == self.values.shape
        assert np.array_equal(dataset[...], self.values)
        space = dataset.defined(index)
        assert isinstance(space, hyperslab.Space) and space.npoints == len(coords)
        read, values = dataset.read_defined(index)
        assert read.dtype == np.int64 and read.shape == coords.shape and np.array_equal(read, coords)
        assert values.dtype == dataset.dtype and np.array_equal(values, self.values[tuple(coords.T)])
        assert dataset.density == (self.mask.mean() if self.mask.size else 0.0)
        found = np.zeros(self.mask.shape, bool)
        for index, space in dataset.iter_chunks_defined():
            inside = np.zeros(self.mask.shape, bool)
            inside[tuple(space.coords().T)] = True
            assert inside[index].sum() == space.npoints > 0
            found |= inside
        assert np.array_equal(found, self.mask)


@st.composite
def axis(draw, size):
    """An index of one dimension, and the positions that it names; no positions but a number if it is one."""
    kind = draw(st.sampled_from(["all", "slice", "step", "number", "list", "mask"] if size else ["all"]))
    if kind == "number":
        number = draw(st.integers(-size, size - 1))
        return number, number % size
    if kind == "list":
        named = sorted(draw(st.sets(st.integers(0, size - 1))))
        return named, np.array(named, int)
    if kind == "mask":
        mask = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
        return mask, np.flatnonzero(mask)
    ends = st.integers(-size - 1, size + 1)
    chosen = slice(None) if kind == "all" else slice(draw(ends), draw(ends), draw(st.integers(1, 3)) if kind == "step" else None)
    return chosen, np.arange(size)[chosen]


@st.composite
def indices(draw, shape):
    """An index, what it names as an index of an array that gives the same shape, and that shape."""
    if draw(st.integers(0, 4)) == 0:
        part = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
        mask = np.random.default_rng(draw(st.integers(0, 2**32))).random(shape) < part
        return mask, mask, (int(mask.sum()),)
    index, named, fancy = [], [], False
    for size in shape:
        one, positions = draw(axis(size).filter(lambda found: not fancy or isinstance(found[0], int | slice)))
        fancy = fancy or not isinstance(one, int | slice)
        index.append(one)
        named.append(positions)
    shape = tuple(len(positions) for positions in named if not isinstance(positions, int))
    where = np.ix_(*(np.atleast_1d(positions) for positions in named))
    while index and isinstance(index[-1], slice) and index[-1] == slice(None) and draw(st.booleans()):
        index.pop()
    return (tuple(index) if index else ...), where, shape
