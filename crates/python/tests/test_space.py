"""Selections: what `Space` says is what libhdf5 says, through `h5py.h5s`."""

import copy

import h5py
import hyperslab
import numpy as np
import pytest
from h5py import h5s
from hypothesis import given, settings
from hypothesis import strategies as st
from hyperslab import UNLIMITED, Space

OPS = {
    "set": h5s.SELECT_SET,
    "or": h5s.SELECT_OR,
    "and": h5s.SELECT_AND,
    "xor": h5s.SELECT_XOR,
    "notb": h5s.SELECT_NOTB,
    "nota": h5s.SELECT_NOTA,
}


@st.composite
def shapes(draw):
    return tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))


@st.composite
def slabs(draw, shape):
    start, stride, count, block = [], [], [], []
    for size in shape:
        width = draw(st.integers(1, min(3, size)))
        step = width + draw(st.integers(0, 2))
        first = draw(st.integers(0, size - width))
        start.append(first)
        stride.append(step)
        count.append(draw(st.integers(1, (size - first - width) // step + 1)))
        block.append(width)
    return start, count, stride, block


@st.composite
def programs(draw):
    shape = draw(shapes())
    ops = st.sampled_from(list(OPS))
    return shape, [(draw(ops), draw(slabs(shape))) for _ in range(draw(st.integers(1, 5)))]


def build(shape, steps):
    ours, theirs = Space(shape), h5s.create_simple(shape)
    mask = np.ones(shape, bool)
    for op, (start, count, stride, block) in steps:
        ours.select_hyperslab(start, count, stride, block, op)
        theirs.select_hyperslab(tuple(start), tuple(count), tuple(stride), tuple(block), OPS[op])
        mask = combined(mask, slab_mask(shape, start, count, stride, block), op)
    return ours, theirs, mask


def slab_mask(shape, start, count, stride, block):
    axes = [
        [first + number * step + place for number in range(many) for place in range(width)]
        for first, many, step, width in zip(start, count, stride, block, strict=True)
    ]
    mask = np.zeros(shape, bool)
    mask[np.ix_(*axes)] = True
    return mask


def combined(left, right, op):
    return {
        "set": right,
        "or": left | right,
        "and": left & right,
        "xor": left ^ right,
        "notb": left & ~right,
        "nota": right & ~left,
    }[op]


@settings(max_examples=300)
@given(programs())
def test_hyperslabs(program):
    shape, steps = program
    ours, theirs, mask = build(shape, steps)
    assert ours.npoints == theirs.get_select_npoints() == mask.sum()
    assert (ours.coords() == np.argwhere(mask)).all() and ours.coords().shape == (mask.sum(), len(shape))
    assert ours.coords().dtype == ours.blocks().dtype == ours.runs(1).dtype == np.uint64
    kinds = {h5s.SEL_ALL: "all", h5s.SEL_NONE: "none", h5s.SEL_HYPERSLABS: "hyperslab", h5s.SEL_POINTS: "points"}
    assert ours.kind == kinds[theirs.get_select_type()]
    if ours.npoints:
        assert ours.bounds == theirs.get_select_bounds()
    else:
        assert ours.bounds is None
    if ours.kind == "hyperslab":
        assert ours.is_regular == theirs.is_regular_hyperslab()
        blocks = np.array(theirs.get_select_hyper_blocklist())
        assert ours.blocks().shape == blocks.shape and (ours.blocks() == blocks).all()
    assert ours.encode() == theirs.encode()
    assert Space.decode(theirs.encode()) == ours
    flat = np.flatnonzero(mask.ravel())
    runs = [(int(first) * 4, int(length) * 4) for first, length in ours.runs(1)]
    assert [tuple(run) for run in ours.runs(4).tolist()] == runs
    assert (
        np.concatenate([np.arange(first, first + length) for first, length in ours.runs(1)] or [flat]).tolist()
        == flat.tolist()
    )


@settings(max_examples=100)
@given(st.data())
def test_combine(data):
    shape = data.draw(shapes())
    left, _, left_mask = build(shape, [("set", data.draw(slabs(shape))), ("or", data.draw(slabs(shape)))])
    right, _, right_mask = build(shape, [("set", data.draw(slabs(shape)))])
    before = left.copy()
    for op in OPS:
        result = left.combine(right, op)
        assert (result.coords() == np.argwhere(combined(left_mask, right_mask, op))).all()
    assert left == before


@settings(max_examples=100)
@given(st.data())
def test_projection(data):
    shape = data.draw(shapes())
    source, _, mask = build(shape, [("set", data.draw(slabs(shape))), ("or", data.draw(slabs(shape)))])
    part, _, part_mask = build(shape, [("set", data.draw(slabs(shape)))])
    target = Space((source.npoints + 3,))
    target.select_hyperslab(2, 1, block=source.npoints)
    result = source.project_intersection(target, part)
    wanted = 2 + np.flatnonzero(part_mask[mask])
    assert result.coords()[:, 0].tolist() == wanted.tolist()
    assert result.shape == target.shape


@settings(max_examples=100)
@given(shapes(), st.data())
def test_elements(shape, data):
    points = data.draw(st.lists(st.tuples(*(st.integers(0, size - 1) for size in shape)), min_size=1, max_size=8))
    ours, theirs = Space(shape), h5s.create_simple(shape)
    ours.select_elements(points)
    theirs.select_elements(points)
    assert ours.kind == "points" and ours.npoints == len(points)
    assert ours.coords().tolist() == theirs.get_select_elem_pointlist().tolist() == [list(point) for point in points]
    assert ours.bounds == theirs.get_select_bounds()
    assert ours.encode() == theirs.encode() and Space.decode(ours.encode("latest")) == ours
    again = Space(shape)
    again.select_elements(np.array(points))
    assert again == ours


def test_extents():
    assert Space((3, 4)).shape == (3, 4) and Space(7).shape == (7,) and Space(()).shape == ()
    assert Space((3, 4)).maxshape == (3, 4)
    assert Space((3, 4), (None, 8)).maxshape == Space((3, 4), [UNLIMITED, 8]).maxshape == (None, 8)
    assert Space(()).npoints == 1 and Space(None).npoints == 0 and Space(None).shape is None
    assert Space(np.array([2, 3])).shape == (2, 3)
    for space, theirs in [
        (Space((3, 4), (None, 8)), h5s.create_simple((3, 4), (h5s.UNLIMITED, 8))),
        (Space(()), h5s.create(h5s.SCALAR)),
        (Space(None), h5s.create(h5s.NULL)),
    ]:
        assert space.encode() == theirs.encode() and Space.decode(theirs.encode()) == space


def test_all_and_none():
    space = Space((3, 4))
    assert space.npoints == 12 and space.kind == "all" and not space.is_regular
    assert space.bounds == ((0, 0), (2, 3)) and space.blocks().tolist() == [[[0, 0], [2, 3]]]
    assert space.select_none() is None
    assert (
        space.npoints == 0
        and space.bounds is None
        and space.blocks().shape == (0, 2, 2)
        and space.coords().shape == (0, 2)
    )
    assert space.select_all() is None
    assert space == Space((3, 4)) and space != Space((3, 5)) and space != 3


def test_unlimited():
    theirs = h5s.create_simple((10,), (h5s.UNLIMITED,))
    theirs.select_hyperslab((1,), (h5s.UNLIMITED,), (3,), (2,))
    for count in (None, UNLIMITED, (None,)):
        ours = Space(10, (None,))
        ours.select_hyperslab(1, count, 3, 2)
        assert ours.npoints == UNLIMITED and ours.encode() == theirs.encode()
        assert "without limit" in repr(ours)
        with pytest.raises(ValueError):
            ours.blocks()
    block = Space(10, (None,))
    block.select_hyperslab(4, 1, block=(None,))
    assert block.npoints == UNLIMITED


@pytest.mark.parametrize("low", ["earliest", "v18", "v110", "v112", "v114", "v200", "latest"])
def test_versions(low):
    space = Space((100, 100))
    space.select_hyperslab((0, 0), (10, 10), (5, 5), (2, 2))
    encoded = space.encode(low)
    assert isinstance(encoded, bytes) and Space.decode(encoded) == space
    assert h5s.decode(encoded).get_select_npoints() == space.npoints


def test_more_elements_than_64_bits_count():
    shape, start, count = (2**40, 2**40), (2**39, 2**40 - 3), (2, 3)
    ours, theirs = Space(shape), h5s.create_simple(shape)
    assert (ours.shape, ours.npoints, ours.bounds) == (shape, UNLIMITED, ((0, 0), (2**40 - 1, 2**40 - 1)))
    ours.select_hyperslab(start, count)
    theirs.select_hyperslab(start, count)
    assert ours.npoints == theirs.get_select_npoints() == 6
    assert ours.bounds == theirs.get_select_bounds()
    assert Space.decode(theirs.encode()) == ours


def test_what_is_refused():
    space = Space((3, 4))
    for wrong in [
        lambda: space.select_hyperslab((0,), (1,)),
        lambda: space.select_hyperslab((0, 0), (1,)),
        lambda: space.select_hyperslab((0, 0), (1, 1), op="plus"),
        lambda: space.select_hyperslab((0, 0), (2, 2), (1, 1), (2, 2)),
        lambda: space.select_hyperslab((-1, 0), (1, 1)),
        lambda: space.select_elements([(0,)]),
        lambda: space.combine(Space(3), "or"),
        lambda: space.encode("v0"),
        lambda: Space.decode(b"nothing"),
        lambda: Space((3,), (2,)),
        lambda: Space((2**64 - 1, 2)),
        lambda: Space((2**40, 2**40)).runs(1),
        lambda: Space((2**40, 2**40)).project_intersection(Space((2**41, 2**39)), Space((2**40, 2**40))),
        lambda: Space([1] * 33),
        lambda: space.project_intersection(Space(5), space),
    ]:
        with pytest.raises(ValueError):
            wrong()
    for wrong in [
        lambda: Space("abc"),
        lambda: Space((1.5,)),
        lambda: Space.decode("text"),
        lambda: space.combine(3, "or"),
    ]:
        with pytest.raises(TypeError):
            wrong()
    assert space == Space((3, 4))


def test_more_than_memory_holds():
    space = Space((2**31, 2**31))
    with pytest.raises(MemoryError):
        space.coords()
    assert space.runs(1).tolist() == [[0, 2**62]]


def test_copies_are_apart():
    space = Space(5)
    for other in (space.copy(), copy.copy(space), copy.deepcopy(space)):
        assert other == space
        other.select_none()
        assert other != space
    assert repr(space) == "<hyperslab.Space shape (5,): all, 5 elements>"
    with pytest.raises(TypeError):
        hash(space)


@settings(max_examples=60)
@given(st.data())
def test_read_selection(tmp_path_factory, data):
    shape = data.draw(shapes())
    values = np.arange(np.prod(shape), dtype="i4").reshape(shape)
    path = tmp_path_factory.mktemp("read") / "made.h5"
    with h5py.File(path, "w") as file:
        file["plain"] = values
        file.create_dataset("chunked", data=values, chunks=tuple(max(1, size // 2) for size in shape))
    space, _, mask = build(shape, [("set", data.draw(slabs(shape))), ("xor", data.draw(slabs(shape)))])
    points = Space(shape)
    coords = data.draw(st.lists(st.tuples(*(st.integers(0, size - 1) for size in shape)), min_size=1, max_size=8))
    points.select_elements(coords)
    with hyperslab.File(path) as file:
        for name in ["plain", "chunked"]:
            found = file[name].read_selection(space)
            assert found.ndim == 1 and found.tolist() == values[mask].tolist()
            assert file[name].read_selection(points).tolist() == [values[point].item() for point in coords]
            assert file[name].read_selection(points, "f8").dtype == np.float64
            with pytest.raises(ValueError):
                file[name].read_selection(Space(77))


def test_read_unlimited_selection(both):
    theirs, ours = both(lambda file: file.create_dataset("x", data=np.arange(10), maxshape=(None,)))
    space = Space(10, (None,))
    space.select_hyperslab(1, None, 4, 2)
    assert ours["x"].read_selection(space).tolist() == [1, 2, 5, 6, 9]
