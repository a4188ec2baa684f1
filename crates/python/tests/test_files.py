"""Opening files with what h5py takes."""

import io
import itertools
import os
import subprocess
import sys

import h5py
import hyperslab
import numpy as np
import pytest


@pytest.fixture
def path(tmp_path):
    with h5py.File(tmp_path / "made.h5", "w", libver="latest") as file:
        file["x"] = np.arange(5)
    return tmp_path / "made.h5"


@pytest.mark.parametrize(
    "options",
    [
        {"swmr": True},
        {"swmr": True, "libver": "latest"},
        {"libver": ("earliest", "v110")},
        {"locking": False},
        {"locking": True},
        {"locking": "best-effort"},
        {"driver": "sec2"},
        {"driver": "stdio"},
        {"driver": "core", "backing_store": False},
        {"rdcc_nbytes": 1 << 20, "rdcc_nslots": 11, "rdcc_w0": 0.5},
        {"page_buf_size": None, "track_order": True},
    ],
)
def test_options_for_reading(path, options):
    with h5py.File(path, **options) as theirs:
        expected = theirs["x"][()], theirs.swmr_mode, theirs.mode
    with hyperslab.File(path, **options) as ours:
        assert np.array_equal(ours["x"][()], expected[0])
        assert (ours.swmr_mode, ours.mode) == expected[1:]


@pytest.mark.parametrize(
    "options",
    [
        {"driver": "nonsense"},
        {"locking": "nonsense"},
        {"nonsense": 1},
        {"backing_store": False},
        {"userblock_size": 512},
        {"mode": "q"},
    ],
)
def test_options_that_h5py_refuses(path, options):
    with pytest.raises((TypeError, ValueError)) as theirs:
        h5py.File(path, **options)
    with pytest.raises(theirs.type):
        hyperslab.File(path, **options)


def test_a_version_that_is_none(path):
    for libver in ["nonsense", ("earliest",), ("v110", "nonsense")]:
        with pytest.raises(ValueError, match="libver"):
            hyperslab.File(path, libver=libver)


def test_a_file_that_is_being_written(tmp_path):
    with h5py.File(tmp_path / "live.h5", "w", libver="latest") as writer:
        data = writer.create_dataset("x", (0,), "i4", maxshape=(None,), chunks=(10,))
        writer.swmr_mode = True
        data.resize((25,))
        data[...] = np.arange(25)
        data.flush()
        with hyperslab.File(tmp_path / "live.h5", swmr=True) as ours:
            assert ours.swmr_mode
            assert np.array_equal(ours["x"][()], np.arange(25))


def test_family_and_split(tmp_path):
    values = np.arange(5000.0)
    name = str(tmp_path / "part%03d.h5")
    with h5py.File(name, "w", driver="family", memb_size=10_000) as file:
        file["x"] = values
    with hyperslab.File(name, driver="family", memb_size=10_000) as ours:
        assert ours.driver == "family" and np.array_equal(ours["x"][()], values)
    with pytest.raises(ValueError):
        hyperslab.File(tmp_path / "part000.h5", driver="family")
    with h5py.File(tmp_path / "two", "w", driver="split") as file:
        file["x"] = values
    with hyperslab.File(tmp_path / "two", driver="split") as ours:
        assert np.array_equal(ours["x"][()], values)


@pytest.mark.parametrize("libver", ["earliest", "v110", "latest"])
@pytest.mark.parametrize(
    "spread",
    [
        {"driver": "family", "memb_size": 10_000},
        {"driver": "split"},
        {"driver": "split", "meta_ext": b"_meta.h5", "raw_ext": b"_raw.h5"},
    ],
)
def test_families_and_split_files_are_made_and_changed(tmp_path, libver, spread):
    values, name = np.arange(5000.0), str(tmp_path / "part%03d")
    with hyperslab.File(name, "w", libver=libver, **spread) as ours:
        ours["x"] = values
        ours["words"] = ["one", "two"]
        assert ours.driver == spread["driver"] and ours.filename == name
    with pytest.raises(FileExistsError):
        hyperslab.File(name, "x", **spread)
    with h5py.File(name, "r+", **spread) as theirs:
        assert np.array_equal(theirs["x"][()], values) and theirs["words"][1] == b"two"
        theirs["y"] = values
    with hyperslab.File(name, "a", **spread) as ours:
        assert np.array_equal(ours["y"][()], values)
        del ours["x"]
        ours.create_dataset("z", data=values, chunks=(100,), compression="gzip")
    with h5py.File(name, **spread) as theirs:
        assert sorted(theirs) == ["words", "y", "z"] and np.array_equal(theirs["z"][()], values)


def test_file_objects(path):
    for file in [io.BytesIO(path.read_bytes()), path.open("rb")]:
        with file, hyperslab.File(file) as ours:
            assert ours["x"][2] == 2
    with io.BytesIO(path.read_bytes()) as file, hyperslab.File("any", driver="fileobj", fileobj=file) as ours:
        assert ours["x"][3] == 3
    with pytest.raises(OSError):
        hyperslab.File(io.BytesIO(b"nothing"))


@pytest.mark.parametrize("strategy", ["fsm", "page", "aggregate", "none"])
def test_file_space(tmp_path, strategy):
    name = tmp_path / "space.h5"
    options = {"fs_strategy": strategy, "fs_persist": strategy in ("fsm", "page"), "fs_threshold": 7, "fs_page_size": 8192}
    told = []
    for module in (hyperslab, h5py):
        with module.File(name, "w", **options) as file:
            file["values"] = np.arange(100)
        with h5py.File(name) as file:
            created = file.id.get_create_plist()
            told.append((created.get_file_space_strategy(), created.get_file_space_page_size()))
            assert (file["values"][:] == np.arange(100)).all()
    assert told[0] == told[1]


@pytest.mark.parametrize("durability", ["none", "flush", "full"])
def test_durability(tmp_path, durability):
    path = tmp_path / "made.h5"
    with hyperslab.File(path, "w", durability=durability) as ours:
        ours["x"] = np.arange(5)
        ours.flush()
        ours["x"][2] = 7
    with hyperslab.File(path, "r+", durability=durability) as ours:
        ours["y"] = ["a", "b"]
    with h5py.File(path) as theirs:
        assert theirs["x"][()].tolist() == [0, 1, 7, 3, 4]
        assert theirs["y"].asstr()[()].tolist() == ["a", "b"]


def test_a_durability_that_is_none(tmp_path):
    with pytest.raises(ValueError, match='must be "none", "flush" or "full"'):
        hyperslab.File(tmp_path / "made.h5", "w", durability="some")
    assert not (tmp_path / "made.h5").exists()


APPENDING = """
import sys
import h5py
file = h5py.File(sys.argv[1], "w", libver="latest")
file.create_dataset("x", data=range(4), maxshape=(None,), chunks=(8,), dtype="i4")
file.create_dataset("rows", data=[[1, 2]], maxshape=(None, 2), chunks=(1, 2), compression="gzip")
file.swmr_mode = True
print("open", flush=True)
for line in sys.stdin:
    x, rows = file["x"], file["rows"]
    x.resize((len(x) + int(line),))
    x[...] = range(len(x), 0, -1)
    rows.resize((len(rows) + 1, 2))
    rows[-1] = len(rows)
    x.flush()
    rows.flush()
    print("done", flush=True)
"""


def test_refresh_shows_what_another_process_appended(tmp_path):
    command = [sys.executable, "-c", APPENDING, tmp_path / "live.h5"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "open\n"
        try:
            with hyperslab.File(tmp_path / "live.h5", swmr=True) as file:
                x, rows, length = file["x"], file["rows"], 4
                assert x[()].tolist() == [0, 1, 2, 3] and rows[()].tolist() == [[1, 2]]
                for nth, count in enumerate([1, 3, 200], start=2):
                    print(count, file=other.stdin, flush=True)
                    assert other.stdout.readline() == "done\n"
                    assert (x.shape, rows.shape) == ((length,), (nth - 1, 2)), "a dataset stays as it was until it is refreshed"
                    length += count
                    x.refresh()
                    rows.refresh()
                    assert x.shape == (length,) and x[()].tolist() == list(range(length, 0, -1))
                    assert rows.shape == (nth, 2) and rows[-1].tolist() == [nth, nth] and rows[0].tolist() == [1, 2]
        finally:
            other.communicate(timeout=60)


@pytest.fixture
def around(tmp_path):
    """A file whose raw data, links and virtual datasets lead into its folder (in) and out of it (all others)."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for place in (inside, outside):
        place.mkdir()
        np.arange(4, dtype="<i4").tofile(place / "raw.bin")
        with h5py.File(place / "other.h5", "w") as file:
            file["d"] = np.arange(4, dtype="<i4")
    for name in ("raw.bin", "other.h5"):
        os.symlink(outside / name, inside / f"symlink-{name}")
    with h5py.File(inside / "made.h5", "w") as file:
        prefixes = {"in": f"{inside}/", "out": f"{outside}/", "dots": f"{inside}/../outside/", "symlink": f"{inside}/symlink-"}
        for way, prefix in prefixes.items():
            file.create_dataset(f"{way}/raw", (4,), "<i4", external=[(prefix + "raw.bin", 0, 16)])
            file[f"{way}/link"] = h5py.ExternalLink(prefix + "other.h5", "/d")
            layout = h5py.VirtualLayout((4,), "<i4")
            layout[...] = h5py.VirtualSource(prefix + "other.h5", "d", shape=(4,))
            file.create_virtual_dataset(f"{way}/virtual", layout, fillvalue=-1)
    return inside / "made.h5"


def bytes_around(path):
    return {other: other.read_bytes() for place in ("inside", "outside") for other in path.parent.parent.joinpath(place).glob("[or]*")}


@pytest.mark.parametrize("kind", ["raw", "link", "virtual"])
@pytest.mark.parametrize("access", ["inside", "read-anywhere", "anywhere", None])
def test_access_to_other_files(around, kind, access):
    """The table of docs/opening.md. What external links lead to is never written."""
    options = {} if access is None else {"external_access": access}
    for way, mode in itertools.product(["in", "out", "dots", "symlink"], ["r", "r+"]):
        before, expected = bytes_around(around), [0, 1, 2, 3]
        may_read = way == "in" or access != "inside"
        may_write = kind != "link" and mode == "r+" and (way == "in" or access == "anywhere")
        with hyperslab.File(around, mode, **options) as file:
            if not may_read:
                with pytest.raises(OSError, match="external access"):
                    file[f"{way}/{kind}"][()]
            else:
                assert file[f"{way}/{kind}"][()].tolist() == expected
            if may_write:
                file[f"{way}/{kind}"][0] = 9
                assert file[f"{way}/{kind}"][()].tolist() == [9, 1, 2, 3]
            else:
                with pytest.raises(OSError):
                    file[f"{way}/{kind}"][0] = 9
                    file.flush()
        after = bytes_around(around)
        changed = {path for path in after if after[path] != before[path]}
        name = "raw.bin" if kind == "raw" else "other.h5"
        assert changed == ({around.parent.parent / ("inside" if way == "in" else "outside") / name} if may_write else set())
        for path in changed:
            path.write_bytes(before[path])


def test_a_link_hands_its_access_on(around):
    """A file inside that is reached by a link leads no further than the file that was opened."""
    with h5py.File(around.parent / "first.h5", "w") as file:
        file["next"] = h5py.ExternalLink("made.h5", "/")
    with hyperslab.File(around.parent / "first.h5", external_access="inside") as file:
        for kind in ("raw", "link", "virtual"):
            assert file[f"next/in/{kind}"][()].tolist() == [0, 1, 2, 3]
            with pytest.raises(OSError, match="external access"):
                file[f"next/out/{kind}"][()]


def test_an_access_that_is_none(around):
    with pytest.raises(ValueError, match="it must be one of inside, read-anywhere, anywhere"):
        hyperslab.File(around, external_access="some")


def test_what_a_program_names_itself_can_be_written(tmp_path):
    (tmp_path / "inside").mkdir()
    with hyperslab.File(tmp_path / "inside/made.h5", "w", external_access="inside") as file:
        made = file.create_dataset("raw", (4,), "<i4", external=[(str(tmp_path / "raw.bin"), 0, 16)])
        made[...] = np.arange(4)
        assert made[()].tolist() == [0, 1, 2, 3]
    assert np.fromfile(tmp_path / "raw.bin", "<i4").tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", ["raw", "link", "virtual"])
@pytest.mark.parametrize(("first", "second"), [("inside", "anywhere"), ("anywhere", "inside")])
def test_two_openings_of_a_file_have_each_their_access(around, kind, first, second):
    with hyperslab.File(around, external_access=first) as one, hyperslab.File(around, external_access=second) as two:
        for access, file in [(first, one), (second, two), (first, one)]:
            if access == "anywhere":
                assert file[f"out/{kind}"][()].tolist() == [0, 1, 2, 3]
            else:
                with pytest.raises(OSError, match="external access"):
                    file[f"out/{kind}"][()]
