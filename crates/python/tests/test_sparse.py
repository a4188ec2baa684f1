"""Sparse datasets: how they are made, what they are asked, and what is refused."""

import concurrent.futures

import h5py
import hyperslab
import numpy as np
import pytest


@pytest.fixture
def file(tmp_path):
    with hyperslab.File(tmp_path / "x.h5", "w") as file:
        yield file


@pytest.fixture
def grid(file):
    return file.create_dataset("grid", (6, 8), "i4", chunks=(3, 4), sparse=True, fillvalue=-1)


def test_written_elements_are_defined(grid):
    assert grid.is_sparse and grid.chunks == (3, 4) and grid.density == 0.0 and grid.defined().npoints == 0
    grid[1, 2:4] = [5, -1]
    assert grid[1].tolist() == [-1, -1, 5, -1, -1, -1, -1, -1]
    assert grid.defined().coords().tolist() == [[1, 2], [1, 3]]
    assert grid.defined(np.s_[:, 3:]).npoints == grid.defined((1, -5)).npoints == 1
    assert grid.density == 2 / 48
    grid.erase(np.s_[:, 2])
    coords, values = grid.read_defined()
    assert coords.tolist() == [[1, 3]] and values.tolist() == [-1] and values.dtype == "i4"


def test_order_and_repeats(grid):
    grid.write_coords([(5, 1), (0, 7), (5, 0), (5, 1)], [1, 2, 3, 4])
    coords, values = grid.read_defined()
    assert coords.tolist() == [[0, 7], [5, 0], [5, 1]] and values.tolist() == [2, 3, 4]
    points = hyperslab.Space(grid.shape)
    points.select_elements([(5, 1), (2, 2), (0, 7), (5, 1)])
    assert grid.defined(points).coords().tolist() == [[5, 1], [0, 7], [5, 1]]
    coords, values = grid.read_defined(points)
    assert coords.tolist() == [[0, 7], [5, 1]] and values.tolist() == [2, 4]


def test_virtual_datasets_have_what_their_sources_have(file, grid):
    grid[1, 2:4] = [5, 6]
    layout = hyperslab.VirtualLayout((2, 6, 8), "f8")
    layout[0] = hyperslab.VirtualSource(grid)
    layout[1] = hyperslab.VirtualSource(file.create_dataset("dense", data=np.ones((6, 8))))
    whole = file.create_virtual_dataset("whole", layout)
    assert whole.density == (2 + 48) / 96 and whole.defined(0).coords().tolist() == [[0, 1, 2], [0, 1, 3]]
    coords, values = whole.read_defined(np.s_[:, 1, 3:5])
    assert coords.tolist() == [[0, 1, 3], [1, 1, 3], [1, 1, 4]] and values.tolist() == [6, 1, 1] and values.dtype == "f8"


def test_one_value_for_many(file, grid):
    grid.write_coords([(0, 0), (1, 1)], 9)
    assert grid.read_defined()[1].tolist() == [9, 9]
    row = file.create_dataset("row", (100,), "f8", sparse=True)
    row.write_coords([3, 97], [0.5, 1.5])
    assert row.read_defined()[0].tolist() == [[3], [97]]
    row.write_coords([], [])
    row.write_coords(np.empty((0, 1)), 3)
    assert row.defined().npoints == 2


def test_arrays_as_elements(file):
    made = file.create_dataset("x", (4, 4), np.dtype(("i2", (3,))), sparse=True)
    made.write_coords([(1, 1), (0, 2)], [[1, 2, 3], [4, 5, 6]])
    assert made.read_defined()[1].tolist() == [[4, 5, 6], [1, 2, 3]]


def test_frames(file):
    stack = file.create_dataset("stack", (0, 5, 4), "u2", maxshape=(None, 5, 4), sparse=True, compression="gzip")
    assert stack.chunks == (1, 5, 4)
    assert [stack.append_frame([(1, 2), (4, 0)], [7, 8]), stack.append_frame([], []), stack.append_frame([(0, 0)], 9)] == [0, 1, 2]
    coords, values = stack.read_defined()
    assert coords.tolist() == [[0, 1, 2], [0, 4, 0], [2, 0, 0]] and values.tolist() == [7, 8, 9]
    for coords, values in [([(5, 0)], [1]), ([(0, 0)], [1, 2]), ([(0, 0, 0)], [1])]:
        with pytest.raises((ValueError, TypeError)):
            stack.append_frame(coords, values)
    assert stack.shape == (3, 5, 4)
    with pytest.raises(ValueError, match="two dimensions"):
        file.create_dataset("row", (4,), maxshape=(None,), dtype="i4", sparse=True).append_frame([], [])


@pytest.mark.parametrize(
    "shape, maxshape, wanted",
    [
        ((6, 8), None, (6, 8)),
        ((4096, 4096), None, (1024, 1024)),
        ((10**6, 10**6), None, (15625, 15625)),
        ((2**40, 2**20), None, (2**15, 2**16)),
        ((0, 512, 512), (None, 512, 512), (1, 512, 512)),
        ((1, 5), (None, None), (1, 5)),
        ((0, 3), None, (1, 3)),
    ],
)
def test_guessed_chunks(file, shape, maxshape, wanted):
    assert file.create_dataset("x", shape, "u1", maxshape=maxshape, sparse=True).chunks == wanted


def test_large_extent(file):
    made = file.create_dataset("x", (2**40, 2**20), "f4", sparse=True)
    made.write_coords([(2**39, 3), (0, 2**20 - 1)], [1.5, 2.5])
    assert made.read_defined()[0].tolist() == [[0, 2**20 - 1], [2**39, 3]]
    assert made.density == 2 / 2**60 and len(list(made.iter_chunks_defined())) == 2


def test_data_and_no_elements(file):
    made = file.create_dataset("x", data=np.arange(6).reshape(2, 3), sparse=True)
    assert made.density == 1.0 and made.dtype == "i8"
    empty = file.create_dataset("empty", (0, 3), "f4", maxshape=(None, 3), sparse=True)
    coords, values = empty.read_defined()
    assert coords.shape == (0, 2) and values.shape == (0,) and values.dtype == "f4" and empty.density == 0.0


def test_dense_datasets(file):
    for options in [{}, {"chunks": (2, 3)}]:
        dense = file.create_dataset(f"dense{len(options)}", data=np.arange(20).reshape(4, 5), **options)
        assert not dense.is_sparse and dense.section_filters is None and dense.density == 1.0
        assert dense.defined().npoints == 20 and dense.defined(np.s_[1:3, ::2]).npoints == 6
        coords, values = dense.read_defined(np.s_[1:3, 4])
        assert coords.tolist() == [[1, 4], [2, 4]] and values.tolist() == [9, 14]
        dense.write_coords([(3, 4)], [-5])
        assert dense[3, 4] == -5
        with pytest.raises(ValueError, match="not sparse"):
            dense.erase(0)
    assert sum(space.npoints for _, space in dense.iter_chunks_defined()) == 20
    [(index, space)] = file["dense0"].iter_chunks_defined()
    assert index == (slice(0, 4, 1), slice(0, 5, 1)) and space.npoints == 20
    scalar = file.create_dataset("scalar", data=3)
    assert [(index, space.npoints) for index, space in scalar.iter_chunks_defined()] == [((), 1)]
    assert scalar.density == 1.0 and scalar.read_defined()[0].shape == (1, 0) and scalar.read_defined()[1].tolist() == [3]
    with pytest.raises(TypeError, match="no elements"):
        file.create_dataset("null", data=hyperslab.Empty("f4")).defined()


def test_copies(file, grid):
    grid[2, ::3] = 5
    file.copy("grid", "copy")
    assert file["copy"].is_sparse and file["copy"].read_defined()[0].tolist() == [[2, 0], [2, 3], [2, 6]]
    for number, filters in enumerate([None, {"selection": "lzf"}, {"data": ["shuffle", ("gzip", 2), "fletcher32"]}, {"data": ("scaleoffset", 3)}]):
        first = file.create_dataset(f"first{number}", (100,), "i4", sparse=True, section_filters=filters, compression=1)
        second = file.create_dataset_like(f"second{number}", first)
        assert second.is_sparse and second.section_filters == first.section_filters and second.chunks == first.chunks
    assert not file.create_dataset_like("dense", grid, sparse=False).is_sparse


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"chunks": False}, ValueError, "Chunked format required"),
        ({"chunks": (20,)}, ValueError, "Chunk shape must not be greater"),
        ({"external": "values.bin"}, ValueError, "only chunks are sparse"),
        ({"shape": ()}, TypeError, "Scalar datasets"),
        ({"structured": "vlen"}, ValueError, "variable length"),
        ({"sparse": False, "structured": "vlen"}, ValueError, "variable length"),
        ({"structured": "other"}, ValueError, "must be None or 'vlen'"),
        ({"sparse": False, "section_filters": {"data": "gzip"}}, ValueError, "only sparse datasets"),
    ],
)
def test_what_cannot_be_made(file, options, error, words):
    options = {"shape": (10,), "dtype": "i4", "sparse": True} | options
    with pytest.raises(error, match=words):
        file.create_dataset("x", **options)
    assert "x" not in file


@pytest.mark.parametrize("libver", ["v108", ("v108", "latest"), ("earliest", "v108"), ("earliest", "v114"), ("v110", "v112")])
def test_old_library(tmp_path, libver):
    with hyperslab.File(tmp_path / "x.h5", "w", libver=libver) as file:
        for group in [file, file.create_group("group")]:
            assert group.file.libver == file.libver
            with pytest.raises(ValueError, match="libver"):
                group.create_dataset("x", (10,), "i4", sparse=True)
            with pytest.raises(ValueError, match="libver"):
                group.create_dataset("x", (10,), hyperslab.vlen_dtype("i4"), structured="vlen")
            assert list(group) in ([], ["group"])


def test_no_way_past_the_upper_bound(tmp_path):
    with hyperslab.File(tmp_path / "sparse.h5", "w") as file:
        file.create_dataset("x", (10,), "i4", sparse=True)[3] = 5
        file.create_dataset("y", (10,), hyperslab.vlen_dtype("i4"), structured="vlen")[3] = [5]
        file.create_group("group")["z"] = 1
        with hyperslab.File(tmp_path / "old.h5", "w", libver=("earliest", "v108")) as old:
            for name in ["x", "y"]:
                with pytest.raises((ValueError, OSError), match="libver"):
                    old.copy(file[name], old)
            old.copy(file["group"], old)
            assert list(old) == ["group"]
    # The superblock stays as old libraries know it.
    assert (tmp_path / "old.h5").read_bytes()[8] == 0
    with h5py.File(tmp_path / "old.h5") as old:
        assert old["group/z"][()] == 1
    with pytest.raises(ValueError, match="libver"):
        hyperslab.File(tmp_path / "none.h5", "w", libver=("v110", "v108"))


@pytest.mark.parametrize("libver", [None, "earliest", "latest", "v110", "v114", ("v110", "latest")])
def test_new_library(tmp_path, libver):
    with hyperslab.File(tmp_path / "x.h5", "w", libver=libver) as file:
        file.create_dataset("group/x", (10,), "i4", sparse=True)[3] = 5
        assert file["group"].create_dataset("y", (10,), "i4", sparse=True).density == 0.0
    with hyperslab.File(tmp_path / "x.h5") as file:
        assert file["group/x"].read_defined()[1].tolist() == [5]


@pytest.mark.parametrize(
    "coords, values, error",
    [
        ([(0, 8)], [1], IndexError),
        ([(6, 0)], [1], IndexError),
        ([(0, 0), (0, -1)], [1, 2], IndexError),
        (np.array([(2**63, 0)], "u8"), [1], IndexError),
        ([(0.0, 1.0)], [1], TypeError),
        (np.array([(True, False)]), [1], TypeError),
        ([("a", "b")], [1], TypeError),
        ([(0, 0), (1, 1)], [1, 2, 3], TypeError),
        ([(0, 0), (1, 1)], [], TypeError),
        ([], [1, 2], TypeError),
        ([(0, 0, 0)], [1], ValueError),
        ([0, 1], [1, 2], ValueError),
        (5, [1], ValueError),
        ([(0, 0)], ["text"], (TypeError, ValueError, OSError)),
    ],
)
def test_wrong_coordinates(grid, coords, values, error):
    with pytest.raises(error):
        grid.write_coords(coords, values)
    assert grid.defined().npoints == 0


@pytest.mark.parametrize("index, error", [(6, IndexError), ("field", TypeError), (None, TypeError), (np.s_[::-1], ValueError), (np.s_[0, 0, 0], (TypeError, ValueError))])
def test_wrong_indices(grid, index, error):
    for method in [grid.defined, grid.read_defined, grid.erase]:
        with pytest.raises(error):
            method(index)


def test_read_only_and_closed(tmp_path):
    path = tmp_path / "x.h5"
    with hyperslab.File(path, "w") as file:
        made = file.create_dataset("x", (3, 3), "i4", maxshape=(None, 3), sparse=True)
        made[1] = 4
    changes = [lambda made: made.erase(), lambda made: made.write_coords([(0, 0)], [1]), lambda made: made.append_frame([0], [1])]
    for call in [*changes, lambda made: made.is_sparse, lambda made: made.density, lambda made: made.defined(), lambda made: made.read_defined()]:
        with pytest.raises(ValueError, match="closed"):
            call(made)
    with hyperslab.File(path) as file:
        for change in changes:
            with pytest.raises(OSError, match="no write intent"):
                change(file["x"])
        assert file["x"].read_defined()[1].tolist() == [4, 4, 4]


def test_h5py_opens_the_rest(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["old"] = np.arange(5)
    with hyperslab.File(path, "r+") as file:
        file.create_dataset("group/x", (30, 30), "i4", sparse=True, compression="gzip")[3, 4:20] = 5
        file.create_dataset("group/dense", data=np.arange(7), chunks=(3,), compression="gzip")
    with h5py.File(path, "r+") as file:
        assert sorted(file["group"]) == ["dense", "x"] and file["old"][...].tolist() == list(range(5))
        assert file["group/dense"][...].tolist() == list(range(7))
        with pytest.raises(KeyError):
            file["group/x"]
        file["new"] = np.arange(3)
    with hyperslab.File(path) as file:
        assert file["new"][...].tolist() == [0, 1, 2] and file["group/x"].defined().npoints == 16


def test_chunks_as_bytes_are_refused(grid):
    grid[0, 0] = 1
    with pytest.raises(OSError, match="several sections"):
        grid.id.read_direct_chunk((0, 0))


FILES = [{"libver": "latest"}, {"rdcc_nbytes": 0}, {"rdcc_nbytes": 3000}, {"fs_strategy": "page", "fs_persist": True}, {"userblock_size": 512}, {"driver": "core"}]


@pytest.mark.parametrize("options", FILES, ids=str)
def test_kinds_of_files(tmp_path, options):
    """Also with caches that are smaller than a chunk."""
    rng, twin, mask = np.random.default_rng(3), np.zeros((200, 200)), np.zeros((200, 200), bool)
    with hyperslab.File(tmp_path / "x.h5", "w", **options) as file:
        made = file.create_dataset("x", (200, 200), "f8", sparse=True, compression="lzf", chunks=(33, 20))
        for start in range(0, 180, 9):
            coords, values = rng.integers(0, 200, (200, 2)), rng.random(200)
            made.write_coords(coords, values)
            made.erase(np.s_[start : start + 9])
            for place, value in zip(coords, values, strict=True):
                twin[tuple(place)], mask[tuple(place)] = value, True
            twin[start : start + 9], mask[start : start + 9] = 0, False
    with hyperslab.File(tmp_path / "x.h5") as file:
        coords, values = file["x"].read_defined()
        assert np.array_equal(coords, np.argwhere(mask)) and np.array_equal(values, twin[mask])
        assert np.array_equal(file["x"][...], twin)


def test_threads(file):
    made = file.create_dataset("x", (100, 90), "i4", chunks=(16, 16), sparse=True, compression="gzip")

    def write(thread):
        rng = np.random.default_rng(thread)
        for _ in range(30):
            coords = np.column_stack([rng.integers(0, 25, 40) * 4 + thread, rng.integers(0, 90, 40)])
            made.write_coords(coords, coords[:, 0] * 100 + coords[:, 1])
            found, values = made.read_defined(np.s_[thread::4])
            assert np.array_equal(values, found[:, 0] * 100 + found[:, 1])
        return len(found)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(write, range(4))) == made.defined().npoints > 2000


def test_chunks_of_virtual_datasets(file):
    file.create_dataset("a", (4, 6), "i4", sparse=True)[1, 2:4] = 5
    layout = hyperslab.VirtualLayout((8, 6), "i4")
    layout[4:] = hyperslab.VirtualSource(file["a"])
    made = file.create_virtual_dataset("all", layout)
    [(index, space)] = made.iter_chunks_defined()
    assert index == (slice(0, 8, 1), slice(0, 6, 1)) and space.coords().tolist() == [[5, 2], [5, 3]]


def test_asking_writes_nothing(file):
    made = file.create_dataset("x", (1000, 64), "i4", chunks=(1, 64), sparse=True)
    rng = np.random.default_rng(2)
    coords = np.unique(rng.integers(0, (1000, 64), (5000, 2)), axis=0)
    made.write_coords(coords, 1)
    before = made.cache_stats()["written"]
    assert made.density == len(coords) / 64_000
    found = list(made.iter_chunks_defined())
    assert sum(space.npoints for _, space in found) == len(coords)
    assert [index[0].start for index, _ in found] == np.unique(coords[:, 0]).tolist()
    assert made.cache_stats()["written"] == before
    made.erase(np.s_[:500])
    file.flush()
    made[7, 7] = 1
    assert made.density * 64_000 == np.count_nonzero(coords[:, 0] >= 500) + 1
    assert {index[0].start for index, _ in made.iter_chunks_defined()} == {7, *coords[coords[:, 0] >= 500, 0].tolist()}


def test_frames_that_cannot_be_stored_leave_nothing(file):
    for name, options in {"sparse": {"sparse": True}, "dense": {"chunks": (1, 4, 4)}}.items():
        frames = file.create_dataset(name, (0, 4, 4), "u2", maxshape=(None, 4, 4), **options)
        frames.append_frame([(0, 1)], [7])
        for values in [np.array([b"x"]), np.array([1 + 1j]), [object()], [1, 2]]:
            with pytest.raises((TypeError, ValueError, OSError)):
                frames.append_frame([(0, 0)], values)
            assert frames.shape == (1, 4, 4) and frames[0, 0].tolist() == [0, 7, 0, 0]
        assert frames.append_frame([(3, 3)], [9]) == 1


@pytest.mark.parametrize("shape", [(), None])
def test_no_sections_without_dimensions(file, shape):
    for options in [{"structured": "vlen"}, {"section_filters": {"data": "gzip"}}, {"sparse": True}]:
        with pytest.raises(TypeError, match="chunk/filter options"):
            file.create_dataset("x", shape, hyperslab.vlen_dtype("i4"), **options)
    assert "x" not in file


@pytest.mark.parametrize("options", [{"sparse": True}, {"chunks": (3, 4)}, {}])
def test_blocks(file, options):
    made = file.create_dataset("x", (6, 8), "i4", **options)
    wanted = np.zeros((6, 8), "i4")
    made.write_blocks([((0, 1), (2, 3)), np.s_[5, 2:], (np.s_[4:6, :1])], np.arange(14))
    wanted[0:2, 1:4], wanted[5, 2:], wanted[4:6, 0] = np.arange(6).reshape(2, 3), np.arange(6, 12), [12, 13]
    assert np.array_equal(made[...], wanted) and (not made.is_sparse or made.defined().npoints == 14)
    # The last one counts; arrays for each block; one value for all; nothing.
    made.write_blocks([np.s_[0:2, 0:2], np.s_[1:3, 1:3]], [np.full((2, 2), 5), np.full((2, 2), 6, "f8")])
    wanted[0:2, 0:2], wanted[1:3, 1:3] = 5, 6
    made.write_blocks([((3, 3), (1, 2))], -1)
    wanted[3, 3:5] = -1
    made.write_blocks([], [])
    made.write_blocks([((6, 8), (0, 0)), np.s_[2:2, :]], 3)
    assert np.array_equal(made[...], wanted)


def test_blocks_of_other_types(file):
    row = file.create_dataset("row", (10,), hyperslab.string_dtype(), sparse=True)
    row.write_blocks([(2, 3), np.s_[8:]], ["a", "b", "c", "d", "e"])
    assert row.defined().npoints == 5 and row.asstr()[2:5].tolist() == ["a", "b", "c"] and row[9] == b"e"
    pairs = file.create_dataset("pairs", (10,), [("a", "i4"), ("b", "f8")], sparse=True)
    pairs.write_blocks([(4, 2)], np.array([(1, 2.5), (3, 4.5)], pairs.dtype))
    assert pairs[4:6].tolist() == [(1, 2.5), (3, 4.5)]
    ragged = file.create_dataset("ragged", (10,), hyperslab.vlen_dtype("i4"), sparse=True)
    ragged.write_blocks([(1, 1), (5, 1)], np.array([np.arange(3), np.arange(2)], dtype=object))
    assert ragged[1].tolist() == [0, 1, 2] and ragged[5].tolist() == [0, 1]


@pytest.mark.parametrize("block", [((0, 0), (7, 1)), ((-1, 0), (1, 1)), np.s_[::2, 0], np.s_[0:1], ((0, 0),), ((0,), (1,)), (0, 0, 0), ((0, 0.5), (1, 1))])
def test_wrong_blocks(grid, block):
    with pytest.raises((ValueError, IndexError, TypeError)):
        grid.write_blocks([((0, 0), (1, 1)), block], 1)
    with pytest.raises((ValueError, TypeError)):
        grid.write_blocks([((0, 0), (2, 2))], [1, 2, 3])
    assert grid.defined().npoints == 0


def test_section_sizes(file):
    made = file.create_dataset("x", (100, 100), "u2", chunks=(50, 50), sparse=True)
    assert made.section_sizes == {"selection": 0, "data": 0}
    made[10:20, 10:20] = 1
    made[60, 60] = 1
    sizes = made.section_sizes
    assert sizes["data"] == 202 and sizes["selection"] > 50
    texts = file.create_dataset("texts", (100,), hyperslab.string_dtype(), structured="vlen")
    texts[3] = "abc"
    assert texts.section_sizes.keys() == {"data", "vlen"} and texts.section_sizes["vlen"] == 4 + 3 + 4
    assert file.create_dataset("dense", data=[1, 2]).section_sizes is None


def test_extents_of_too_many_elements(file):
    with pytest.raises(ValueError, match="2\\^64"):
        file.create_dataset("x", (2**40, 2**40), "u1", sparse=True)
    made = file.create_dataset("x", (2**40, 8), "u1", chunks=(1024, 8), maxshape=(None, None), sparse=True)
    made[2**40 - 1, 7] = 3
    with pytest.raises(Exception, match="2\\^64"):
        made.resize((2**40, 2**24))
    assert made.shape == (2**40, 8) and made.read_defined()[0].tolist() == [[2**40 - 1, 7]]


def copies(file, tmp_path, name):
    """The dataset itself, and a copy in another file that was closed since."""
    with hyperslab.File(tmp_path / "other.h5", "a") as other:
        file.copy(name, other, name)
    with hyperslab.File(tmp_path / "other.h5") as other:
        yield file[name]
        yield other[name]


def test_types_of_all_kinds(file, tmp_path):
    fixed = hyperslab.string_dtype("utf-8", 7)
    nested = hyperslab.vlen_dtype(hyperslab.vlen_dtype("i4"))
    file.create_dataset("fixed", (9,), fixed, sparse=True)[3:5] = ["äöü", "x"]
    made = file.create_dataset("nested", (9,), nested, sparse=True)
    row, inner = np.empty(1, object), np.empty(3, object)
    row[0], inner[:] = inner, [np.array([1, 2], "i4"), np.array([], "i4"), np.array([3], "i4")]
    made[4:5] = row
    filled = file.create_dataset("filled", (9,), hyperslab.string_dtype(), fillvalue="none", sparse=True)
    filled[2] = "some"
    for made in copies(file, tmp_path, "fixed"):
        assert made.is_sparse and made.dtype == fixed and made[3].decode() == "äöü" and made[0] == b""
        assert made.read_defined()[1].tolist() == ["äöü".encode(), b"x"]
    for made in copies(file, tmp_path, "nested"):
        assert [row.tolist() for row in made[4]] == [[1, 2], [], [3]] and made.defined().npoints == 1
    for made in copies(file, tmp_path, "filled"):
        assert made[2] == b"some" and made[0] == b"none" and made.fillvalue == b"none" and made.defined().npoints == 1
        assert made.read_defined()[1].tolist() == [b"some"]


def test_copies_between_files(file, tmp_path):
    made = file.create_dataset("x", (20, 30), "f4", chunks=(7, 8), sparse=True, fillvalue=2, compression="gzip", section_filters={"data": "lzf"})
    made.write_coords([(3, 4), (19, 29)], [1.5, 2])
    for copy in copies(file, tmp_path, "x"):
        assert copy.is_sparse and copy.section_filters == made.section_filters and copy.fillvalue == 2
        coords, values = copy.read_defined()
        assert coords.tolist() == [[3, 4], [19, 29]] and values.tolist() == [1.5, 2]
        assert np.array_equal(copy[...], made[...])


def test_references(file):
    target = file.create_dataset("target", data=np.arange(20).reshape(4, 5))
    objects = file.create_dataset("objects", (10,), hyperslab.ref_dtype, sparse=True)
    objects[3] = target.ref
    regions = file.create_dataset("regions", (10,), hyperslab.regionref_dtype, sparse=True)
    regions[7] = target.regionref[1:3, 2]
    file.flush()
    assert file[objects[3]] == target and not objects[0] and objects.defined().npoints == 1
    assert objects.read_defined()[0].tolist() == [[3]] and file[objects.read_defined()[1][0]] == target
    reference = regions[7]
    assert file[reference] == target and target[reference].ravel().tolist() == [7, 12] and not regions[0]
    regions.erase(7)
    assert regions.defined().npoints == 0 and not regions[7]


def test_dense_chunk_calls_fail_clearly(grid):
    grid[0, 0] = 1
    for call in [lambda: grid.id.write_direct_chunk((0, 0), b"x" * 48), lambda: grid.id.read_direct_chunk((0, 0))]:
        with pytest.raises((OSError, ValueError, TypeError, RuntimeError), match="section|structured"):
            call()
    assert grid[0, 0] == 1 and grid.defined().npoints == 1


@pytest.mark.parametrize("dtype", ["i8", "u8", "i4", "u2", ">i8"])
def test_coordinates_of_any_layout(file, dtype):
    grid = file.create_dataset("any", (4, 500, 600), "u2", chunks=(1, 300, 300), sparse=True)
    rng = np.random.default_rng(3)
    coords = np.unique(np.column_stack([rng.integers(0, size, 300) for size in grid.shape]), axis=0)
    values = np.arange(len(coords), dtype="u2")
    expected = dict(zip(map(tuple, coords.tolist()), values.tolist(), strict=True))
    given = coords.astype(dtype)
    strided = np.zeros((2 * len(coords), 5), dtype)
    strided[::2, 1:4] = given
    unaligned = np.zeros(given.nbytes + 1, "u1")[1:].view(dtype).reshape(given.shape)
    unaligned[...] = given
    backwards = given[::-1]
    for layout in given, np.asfortranarray(given), strided[::2, 1:4], backwards, unaligned:
        grid.erase()
        grid.write_coords(layout, values[::-1] if layout is backwards else values)
        found, read = grid.read_defined()
        assert found.dtype == np.int64 and found.flags.c_contiguous and found.flags.writeable
        assert dict(zip(map(tuple, found.tolist()), read.tolist(), strict=True)) == expected
    outside = coords.astype("i8")
    for place, wrong, message in [(1, 500, "coordinate 500 is out of range in dimension 1"), (2, -7, "coordinate -7 is out of range in dimension 2")]:
        bad = outside.copy()
        bad[17, place] = wrong
        for layout in bad, np.asfortranarray(bad):
            with pytest.raises(IndexError, match=message):
                grid.write_coords(layout, values)
