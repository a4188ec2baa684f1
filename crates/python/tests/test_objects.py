"""Groups, links, attributes, and the facts of datasets."""

import h5py
import hyperslab
import numpy as np
import pytest
from compare import assert_same, same_dtype


def tree(file):
    file["a/b/data"] = np.arange(10)
    file["a/b/again"] = file["a/b/data"]
    file["a/soft"] = h5py.SoftLink("/a/b")
    file["a/relative"] = h5py.SoftLink("b/data")
    file["a/broken"] = h5py.SoftLink("/nowhere")
    file["a/outside"] = h5py.ExternalLink("other file.h5", "/x")
    file["a/loop"] = file["a"]
    file["type"] = np.dtype("f8")
    file["größe"] = 1
    file.create_group("empty")
    ordered = file.create_group("ordered", track_order=True)
    for name in ["z", "a", "m"]:
        ordered[name] = 1
        ordered.attrs.create(name, 1)
    many = file.create_group("many")
    for number in range(100):
        many[f"{number:03}"] = h5py.SoftLink("/")
        many.attrs[f"{number:03}"] = number


CLASSES = {
    h5py.Group: hyperslab.Group,
    h5py.Dataset: hyperslab.Dataset,
    h5py.Datatype: hyperslab.Datatype,
    h5py.HardLink: hyperslab.HardLink,
    h5py.SoftLink: hyperslab.SoftLink,
    h5py.ExternalLink: hyperslab.ExternalLink,
}


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_groups(both, libver):
    theirs, ours = both(tree, libver=libver)
    groups = ["/", "a", "a/b", "empty", "ordered", "many", "a/soft"]
    for path in groups:
        left, right = ours[path], theirs[path]
        assert list(left) == list(right) == list(left.keys()) and len(left) == len(right)
        assert list(reversed(left)) == list(reversed(right))
        assert left.name == right.name and repr(left) == repr(right)
        for name in right:
            assert (name in left) == (name in right), name
            for options in [{"getclass": True}, {"getlink": True}, {"getclass": True, "getlink": True}]:
                if name in ("outside", "broken") and "getlink" not in options:
                    continue
                found, expected = left.get(name, **options), right.get(name, **options)
                if options == {"getlink": True}:
                    assert type(found) is CLASSES[type(expected)] and vars(found) == vars(expected)
                else:
                    assert found is CLASSES.get(expected), (name, found, expected)
    assert [name for name, value in ours["a"].items() if value is None][0] == "broken"
    assert ours["a/b"] == ours["a/soft"] == ours["a"]["b"] and ours["a/b"] != ours["a"]
    assert hash(ours["a/b"]) == hash(ours["a/soft"]) and ours["a/b"] in ours["a"].values()
    assert ours.get("missing") is None and ours.get("missing", 3) == 3
    assert ours.get("missing", 3, getlink=True) == 3 and ours.get("missing/deep", 3, getlink=True) == 3
    assert isinstance(ours.get("a/b/data", getlink=True), hyperslab.HardLink)


def test_paths(both):
    theirs, ours = both(tree)
    for path in [
        "a",
        "/a",
        "a/b",
        "a//b/",
        "./a/./b",
        "a/soft",
        "a/soft/data",
        "a/relative",
        "a/loop/loop/b",
        "größe",
        "a/b/again",
        b"a/b",
    ]:
        left, right = ours[path], theirs[path]
        assert left.name == right.name and type(left) is CLASSES[type(right)]
        assert left.parent.name == right.parent.name
        assert left.file == ours and left.file.filename == ours.filename
        assert (path in ours) == (path in theirs)
    for path in ["missing", "a/missing", "missing/a", "a/broken", "a/b/data/deeper", ""]:
        with pytest.raises(KeyError) as raised:
            ours[path]
        assert "Unable to" in str(raised.value)
        assert (path in ours) == (path in theirs)
        with pytest.raises(KeyError):
            theirs[path]
    for wrong in (3, None, 1.5):
        with pytest.raises(TypeError):
            ours[wrong]
    assert ours["a"]["/a/b"].name == "/a/b" and ours["/"].parent.name == "/"


def test_external_links(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["group/x"] = [1, 2]
        file["back"] = h5py.ExternalLink("made.h5", "/loop")
    with h5py.File(tmp_path / "made.h5", "w") as file:
        file["there"] = h5py.ExternalLink("other.h5", "/group")
        file["lost"] = h5py.ExternalLink("missing.h5", "/group")
        file["nothing"] = h5py.ExternalLink("other.h5", "/missing")
        file["loop"] = h5py.ExternalLink("other.h5", "/back")
    with h5py.File(tmp_path / "made.h5") as theirs, hyperslab.File(tmp_path / "made.h5") as ours:
        for path in ["there", "there/x"]:
            assert ours[path].name == theirs[path].name and ours[path].file.filename == theirs[path].file.filename
        assert ours["there/x"][:].tolist() == [1, 2] and ours["there"]["x"].parent.name == "/group"
        for path in ["lost", "nothing", "loop"]:
            assert path in ours
            with pytest.raises(KeyError):
                theirs[path]
            with pytest.raises(KeyError):
                ours[path]
        links = []
        ours.visititems_links(lambda name, link: links.append((name, link.filename, link.path)))
        assert ("there", "other.h5", "/group") in links


def test_names_that_are_not_utf8(both):
    name = b"not \xff utf-8"

    def make(file):
        file["a"] = 1
        file.id.links.create_soft(name, b"/a")
        file.id.links.create_hard(name + b"!", file.id, b"a")

    theirs, ours = both(make)
    assert list(ours) == list(theirs) == ["a", name, name + b"!"]
    assert ours[name][()] == 1 and ours[name].name == b"/" + name and name in ours
    assert isinstance(ours.get(name, getlink=True), hyperslab.SoftLink)
    found = []
    ours.visit_links(found.append)
    assert found == ["a", name, name + b"!"]


def test_visits(both):
    theirs, ours = both(tree)
    for path in ["/", "a", "empty"]:
        for method in ["visit", "visit_links"]:
            left, right = [], []
            getattr(ours[path], method)(left.append)
            getattr(theirs[path], method)(right.append)
            assert left == right
        left, right = [], []
        ours[path].visititems(lambda name, value: left.append((name, type(value), value.name)))
        theirs[path].visititems(lambda name, value: right.append((name, CLASSES[type(value)], value.name)))
        assert left == right
        left, right = [], []
        ours[path].visititems_links(lambda name, value: left.append((name, type(value))))
        theirs[path].visititems_links(lambda name, value: right.append((name, CLASSES[type(value)])))
        assert left == right
    assert ours.visit(lambda name: name if "b" in name else None) == theirs.visit(
        lambda name: name if "b" in name else None
    )


def test_attributes(both):
    values = {
        "text": "größer",
        "bytes": b"abc",
        "list": ["a", "b"],
        "number": 1.5,
        "array": np.arange(6).reshape(2, 3),
        "truth": True,
        "empty": h5py.Empty("f4"),
        "none": np.zeros((0, 2)),
        "ö": 1,
    }

    def make(file):
        for holder in (file, file.create_group("group"), file.create_dataset("data", data=1)):
            for name, value in values.items():
                holder.attrs[name] = value
        file["type"] = np.dtype("i4")
        file["type"].attrs["x"] = 1
        for number in range(50):
            file["group"].attrs[f"n{number}"] = np.arange(number)

    for libver in ["earliest", "latest"]:
        theirs, ours = both(make, libver=libver)
        for path in ["/", "group", "data", "type"]:
            left, right = ours[path].attrs, theirs[path].attrs
            assert list(left) == list(right) and len(left) == len(right)
            assert list(left.keys()) == list(right.keys())
            for name, value in right.items():
                assert_same(left[name], value)
                assert name in left
            for value, expected in zip(left.values(), right.values(), strict=True):
                assert_same(value, expected)
        attributes = ours["group"].attrs
        assert "missing" not in attributes and attributes.get("missing", 7) == 7
        with pytest.raises(KeyError, match="missing"):
            attributes["missing"]
        with pytest.raises(TypeError):
            attributes[3]
        theirs.close()
        ours.close()


FACTS = [
    "shape",
    "size",
    "ndim",
    "nbytes",
    "maxshape",
    "chunks",
    "compression",
    "compression_opts",
    "shuffle",
    "fletcher32",
    "scaleoffset",
    "external",
    "is_virtual",
    "filter_ids",
    "filter_names",
    "name",
]


def facts(file):
    values = np.arange(24, dtype="i4").reshape(4, 6)
    file["plain"] = values
    file["scalar"] = 1.5
    file["empty"] = h5py.Empty("i2")
    file["text"] = ["a", "b"]
    for number, options in enumerate(
        [
            {"chunks": (2, 3)},
            {"compression": "gzip"},
            {"compression": 9, "shuffle": True},
            {"compression": "lzf", "fletcher32": True},
            {"scaleoffset": 4},
            {"compression": "szip"},
            {"maxshape": (None, 6), "fillvalue": 7},
            {"maxshape": (8, None)},
            {"external": [("raw one.bin", 0, 40), ("raw two.bin", 16, h5py.h5f.UNLIMITED)]},
        ]
    ):
        file.create_dataset(f"made{number}", data=values, **options)
    layout = h5py.VirtualLayout((4, 6), "i4")
    layout[:2] = h5py.VirtualSource(file["plain"])[:2]
    file.create_virtual_dataset("virtual", layout, fillvalue=-1)
    file.create_dataset("fill", (3,), "S4", fillvalue=b"abc")
    file.create_dataset("unknown", data=values, compression=32015)


def test_facts(both, tmp_path, monkeypatch):
    import hdf5plugin  # noqa: F401

    monkeypatch.chdir(tmp_path)
    theirs, ours = both(facts)
    for name in theirs:
        left, right = ours[name], theirs[name]
        for fact in FACTS:
            assert getattr(left, fact) == getattr(right, fact), (name, fact)
        assert same_dtype(left.dtype, right.dtype)
        assert_same(left.fillvalue, right.fillvalue)
        assert repr(left) == repr(right)
        assert left.is_scalar == (left.shape == ())
        assert_same(left[()], right[()])
    with pytest.raises(RuntimeError):
        ours["plain"].virtual_sources()
    (source,), (expected,) = ours["virtual"].virtual_sources(), theirs["virtual"].virtual_sources()
    assert (source.file_name, source.dset_name) == (expected.file_name, expected.dset_name)
    assert (
        source.vspace.encode() == expected.vspace.encode()
        and source.src_space.npoints == expected.src_space.get_select_npoints()
    )
