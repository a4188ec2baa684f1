"""Every way of indexing gives what h5py gives."""

import h5py
import numpy as np
import pytest
from compare import assert_same, outcome
from hypothesis import given, settings
from hypothesis import strategies as st

SHAPES = [(7,), (5, 6), (4, 3, 5), (0, 3), (1, 1)]


def make(file):
    random = np.random.default_rng(7)
    for number, shape in enumerate(SHAPES):
        values = random.integers(-(2**31), 2**31, shape, dtype="i4")
        file[f"plain{number}"] = values
        chunks = tuple(max(1, size // 2) for size in shape)
        grows = (None,) * len(shape)
        file.create_dataset(f"chunked{number}", data=values, chunks=chunks, maxshape=grows, compression="gzip")
        texts = np.array([f"text {value}" for value in values.flat], dtype=object).reshape(shape)
        file.create_dataset(f"text{number}", data=texts, dtype=h5py.string_dtype())
    fields = np.zeros((5, 4), dtype=[("x", "f4"), ("y", "i2", (2,)), ("z", "S3")])
    fields["x"] = random.random((5, 4))
    file["fields"] = fields
    file["scalar"] = 42
    file["empty"] = h5py.Empty("f4")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    import hyperslab

    path = tmp_path_factory.mktemp("indexing") / "made.h5"
    with h5py.File(path, "w") as file:
        make(file)
    with h5py.File(path) as theirs, hyperslab.File(path) as ours:
        yield ours, theirs


def check(ours, theirs, index):
    value, error = outcome(lambda: theirs[index])
    if error is None:
        assert_same(ours[index], value)
        return
    found, raised = outcome(lambda: ours[index])
    # h5py finds late that a list reaches one beyond the end, and does not understand a list of truths for one dimension.
    known = isinstance(error, OSError) or "Fancy" in str(raised) or "other code" in str(error)
    assert known or type(raised) is type(error), (index, raised, error, found)


def axis(size):
    whole = st.slices(size + 3)
    lists = st.lists(st.integers(-size - 1, size), max_size=5)
    sorted_lists = st.lists(st.integers(0, max(size - 1, 0)), max_size=5, unique=True).map(sorted)
    masks = st.lists(st.booleans(), min_size=size, max_size=size).map(lambda mask: np.array(mask, dtype=bool))
    integers = st.integers(-size - 1, size)
    return st.one_of(
        whole,
        integers,
        integers.map(np.int16),
        st.just(Ellipsis),
        sorted_lists,
        sorted_lists.map(lambda indices: np.array(indices, dtype="u2")),
        lists,
        masks,
        st.just(slice(None)),
    )


@st.composite
def indices(draw):
    number = draw(st.integers(0, len(SHAPES) - 1))
    shape = SHAPES[number]
    count = draw(st.integers(0, len(shape) + 1))
    sizes = [shape[min(dim, len(shape) - 1)] for dim in range(count)]
    return number, tuple(draw(axis(size)) for size in sizes)


@settings(max_examples=500)
@given(choice=indices(), kind=st.sampled_from(["plain", "chunked", "text"]))
def test_any_index(files, choice, kind):
    number, index = choice
    ours, theirs = files
    check(ours[f"{kind}{number}"], theirs[f"{kind}{number}"], index)


@settings(max_examples=100)
@given(number=st.integers(0, len(SHAPES) - 1), seed=st.integers(0, 2**32), share=st.floats(0, 1))
def test_masks_of_the_whole_array(files, number, seed, share):
    ours, theirs = files
    mask = np.random.default_rng(seed).random(SHAPES[number]) < share
    for kind in ["plain", "chunked"]:
        check(ours[f"{kind}{number}"], theirs[f"{kind}{number}"], mask)
        check(ours[f"{kind}{number}"], theirs[f"{kind}{number}"], np.asfortranarray(mask))


@pytest.mark.parametrize(
    "index",
    [
        (),
        ...,
        "x",
        ("x", 0),
        ("x", slice(1, 3), 2),
        ("x", "z"),
        ("y", 1),
        (0, "x", 0),
        "missing",
        ("x", "missing"),
        (1, 2),
    ],
)
def test_fields(files, index):
    ours, theirs = files
    check(ours["fields"], theirs["fields"], index)


@pytest.mark.parametrize("name", ["scalar", "empty"])
@pytest.mark.parametrize("index", [(), ..., 0, slice(None), None, "x", (..., 0)])
def test_without_dimensions(files, name, index):
    ours, theirs = files
    check(ours[name], theirs[name], index)


@pytest.mark.parametrize(
    "index",
    [
        None,
        1.5,
        [[0]],
        np.zeros((2, 2), int),
        (0, [0], [1]),
        slice(0, 5, -1),
        (..., ...),
        np.array([True]),
        2**70,
        -(2**70),
        [1, 0],
    ],
)
def test_what_is_refused(files, index):
    ours, theirs = files
    for number in range(3):
        check(ours[f"plain{number}"], theirs[f"plain{number}"], index)


def test_iteration_and_length(files):
    ours, theirs = files
    for name in ["plain0", "plain1", "text1", "fields"]:
        assert len(ours[name]) == len(theirs[name])
        for left, right in zip(ours[name], theirs[name], strict=True):
            assert_same(left, right)
    for name in ["scalar", "empty"]:
        for action in (len, iter, list):
            with pytest.raises(TypeError):
                action(ours[name])


def test_as_array(files):
    ours, theirs = files
    for name in theirs:
        if name == "empty":
            continue
        assert_same(np.asarray(ours[name]), np.asarray(theirs[name]))
    assert_same(np.asarray(ours["plain1"], dtype="f8"), np.asarray(theirs["plain1"], dtype="f8"))
    with pytest.raises(ValueError):
        np.array(ours["plain1"], copy=False)


SELECTIONS = [
    ((5, 6), None, None),
    ((5, 6), np.s_[1:4, ::2], np.s_[:3, 3:]),
    ((20, 6), np.s_[:, :], np.s_[::4]),
    ((5, 6), np.s_[0], np.s_[3]),
    ((5, 6), np.s_[0], None),
    ((5, 6), np.s_[2, 3], None),
    ((30,), None, None),
    ((30,), np.s_[:], np.s_[::5]),
    ((6,), np.s_[3], None),
    ((2,), None, None),
]


@pytest.mark.parametrize("shape, source, target", SELECTIONS)
@pytest.mark.parametrize("dtype", ["i4", "f8", ">u2"])
def test_read_direct(files, shape, source, target, dtype):
    ours, theirs = files
    for name in ["plain1", "chunked1"]:
        left, right = np.full(shape, 9, dtype), np.full(shape, 9, dtype)
        _, error = outcome(lambda: theirs[name].read_direct(right, source, target))
        _, raised = outcome(lambda: ours[name].read_direct(left, source, target))
        if error is None:
            assert raised is None, raised
            assert_same(left, right)
        else:
            assert raised is None or isinstance(raised, TypeError | ValueError)


def test_read_direct_of_text(files):
    ours, theirs = files
    left, right = np.full((5, 6), b"", object), np.full((5, 6), b"", object)
    ours["text1"].read_direct(left, np.s_[1:3], np.s_[::4])
    theirs["text1"].read_direct(right, np.s_[1:3], np.s_[::4])
    assert (left == right).all()


@pytest.mark.parametrize("target", [[0, 2], np.array([True, False, True, False]), np.array([0, 3])])
def test_read_direct_repeats_nothing_for_lists_and_masks(files, target):
    for dataset in (files[0]["plain0"], files[1]["plain0"]):
        dest = np.zeros(4, "i4")
        with pytest.raises(TypeError):
            dataset.read_direct(dest, np.s_[0:1], target)
        assert not dest.any()


def test_read_direct_repeats_values_for_any_index_of_one_element(files):
    for dataset in (files[0]["plain1"], files[1]["plain1"]):
        dest = np.zeros((4, 6), "i4")
        dataset.read_direct(dest, np.s_[0, 3:4], np.s_[np.int8(2)])
        dataset.read_direct(dest, np.s_[0, 3:4], np.s_[np.array(3)])
        assert (dest[2:] == dataset[0, 3]).all() and not dest[:2].any()


@pytest.mark.parametrize("dtype", ["u1", "u4", "u8"])
def test_large_indices_do_not_count_from_the_end(files, tmp_path, dtype):
    last = np.array([np.iinfo(dtype).max], dtype)
    for file in files:
        for index in (last, (0, last), (last, 0)):
            with pytest.raises(IndexError):
                file["plain1"][index]
        assert file["plain1"][np.array([1, 4], dtype)].tolist() == file["plain1"][[1, 4]].tolist()
    import hyperslab

    with hyperslab.File(tmp_path / "made.h5", "w") as file:
        file["x"] = np.arange(3)
        with pytest.raises(IndexError):
            file["x"][last] = 7
        assert file["x"][:].tolist() == [0, 1, 2]


def test_read_direct_refuses_what_it_cannot_fill(files):
    dataset = files[0]["plain1"]
    with pytest.raises(TypeError):
        dataset.read_direct(np.zeros((6, 5), "i4").T)
    fixed = np.zeros((5, 6), "i4")
    fixed.setflags(write=False)
    with pytest.raises(TypeError):
        dataset.read_direct(fixed)
    with pytest.raises(TypeError):
        files[0]["empty"].read_direct(np.zeros(3))


def test_chunks_one_by_one(files):
    ours, theirs = files
    for name in ["chunked0", "chunked1", "chunked2"]:
        assert list(ours[name].iter_chunks()) == list(theirs[name].iter_chunks())
    region = np.s_[1:4, 2:5]
    assert list(ours["chunked1"].iter_chunks(region)) == list(theirs["chunked1"].iter_chunks(region))
    with pytest.raises(TypeError):
        ours["plain1"].iter_chunks()
    with pytest.raises(ValueError):
        ours["chunked1"].iter_chunks(np.s_[0:9, 0:1])
