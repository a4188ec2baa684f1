"""Programs of writes, erasures and resizes on sparse datasets, compared with NumPy."""

import hyperslab
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_twin import DTYPES, STRUCT, Twin, indices, random_values

FILTERS = [
    {},
    {"compression": "gzip"},
    {"compression": "lzf", "shuffle": True},
    {"fletcher32": True},
    {"compression": 1, "section_filters": {"selection": None}},
    {"section_filters": {"selection": ["shuffle", ("gzip", 9)], "data": "lzf"}},
]


def new_pair(data, file, rng):
    """A new sparse dataset and its twin."""
    rank = data.draw(st.integers(1, 4))
    shape = tuple(data.draw(st.lists(st.integers(1, 7), min_size=rank, max_size=rank)))
    dtype = data.draw(st.sampled_from(DTYPES))
    options = dict(data.draw(st.sampled_from(FILTERS)), maxshape=(None,) * rank)
    if data.draw(st.booleans()):
        options["chunks"] = tuple(data.draw(st.integers(1, 4)) for _ in shape)
    fill = np.zeros((), dtype)[()]
    if dtype.kind != "V" and data.draw(st.booleans()):
        fill = options["fillvalue"] = random_values(dtype, 9, rng)[8]
    return file.create_dataset("x", shape, dtype, sparse=True, **options), Twin(shape, dtype, fill)


def step(data, dataset, twin, rng):
    """One change of both, then a comparison."""
    shape, dtype = twin.values.shape, twin.values.dtype
    kind = data.draw(st.sampled_from(["write", "one value", "coords", "erase", "resize", "read"]))
    index, where, wanted = data.draw(indices(shape))
    if kind == "write":
        values = random_values(dtype, int(np.prod(wanted)), rng).reshape(wanted)
        dataset[index] = values
        twin.write(where, values.reshape(twin.values[where].shape))
    elif kind == "one value":
        value = random_values(dtype, 1, rng)[0]
        dataset[index] = value
        twin.write(where, value)
    elif kind == "coords" and twin.values.size:
        count = data.draw(st.integers(0, 12))
        coords = np.column_stack([rng.integers(0, size, count) for size in shape])
        coords = coords.astype(data.draw(st.sampled_from(["i8", "u8", "i4", ">u2", "u1"])))
        values = random_values(dtype, count, rng)
        dataset.write_coords(coords.tolist() if data.draw(st.booleans()) else coords, values)
        for place, value in zip(coords.tolist(), values, strict=True):
            twin.write(tuple(place), value)
    elif kind == "erase":
        dataset.erase(index)
        twin.erase(where)
    elif kind == "resize":
        shape = tuple(data.draw(st.integers(0, 9)) for _ in shape)
        dataset.resize(shape)
        twin.resize(shape)
        index, where = ..., ...
    else:
        assert np.array_equal(dataset[index], twin.values[where].reshape(wanted))
    twin.check(dataset, where, index)


@settings(max_examples=150)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_programs(tmp_path_factory, data, seed):
    rng = np.random.default_rng(seed)
    path = tmp_path_factory.mktemp("twin") / "x.h5"
    with hyperslab.File(path, "w") as file:
        dataset, twin = new_pair(data, file, rng)
        twin.check(dataset)
    for _ in range(data.draw(st.integers(1, 3))):
        with hyperslab.File(path, "r+") as file:
            twin.check(file["x"])
            for _ in range(data.draw(st.integers(1, 4))):
                step(data, file["x"], twin, rng)
    with hyperslab.File(path) as file:
        twin.check(file["x"])


def test_fields(tmp_path):
    """A field that is written makes its element defined; the other fields are those of the fill value, or what they were."""
    with hyperslab.File(tmp_path / "x.h5", "w") as file:
        fill = np.array((7, 0.5, b"no", [1, 2]), STRUCT)[()]
        dataset = file.create_dataset("x", (6, 5), STRUCT, chunks=(2, 3), sparse=True, fillvalue=fill)
        twin = Twin((6, 5), STRUCT, fill)
        value = np.array((1, 2.5, b"yes", [3, 4]), STRUCT)[()]
        dataset[1:3, 1] = value
        twin.write(np.s_[1:3, 1], value)
        dataset["b", 2:5] = 9.0
        twin.values["b"][2:5], twin.mask[2:5] = 9.0, True
        twin.check(dataset)
        assert np.array_equal(dataset["b"], twin.values["b"])
        both = dataset["a", "c"]
        assert np.array_equal(both["c"], twin.values["c"]) and both.dtype.names == ("a", "c")
