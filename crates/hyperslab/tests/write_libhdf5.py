"""The other side of write_libhdf5.rs: reads what was written there, changes it, and makes files to be changed."""

import sys

import h5py
import numpy as np

try:
    import hdf5plugin  # noqa: F401  filters
except ImportError:
    hdf5plugin = None

PLUGINS = ("zstd", "lz4", "bzip2", "bitshuffle", "blosc", "blosc2")


def numbers(*shape):
    return (np.arange(np.prod(shape)) % 101).reshape(shape)


def same(found, wanted, name):
    assert np.array_equal(found, wanted), f"{name}: {found!r} instead of {wanted!r}"


def skipped(name):
    return hdf5plugin is None and name.split(",")[0] in PLUGINS


def check(path):
    with h5py.File(path) as file:
        for name, dataset in file["layouts"].items():
            if name.endswith("partly"):
                wanted = np.full((23, 31), 0 if name.startswith("never") else -5)
                wanted[3:20, 4:6] = 9
                if name.startswith("never"):
                    same(dataset[3:20, 4:6], wanted[3:20, 4:6], name)
                    continue
                same(dataset[()], wanted, name)
                assert dataset.fillvalue == -5
            elif name.endswith("empty"):
                same(dataset[()], np.zeros((23, 31)), name)
            else:
                same(dataset[()], numbers(23, 31), name)
        for name, dataset in file["filters"].items():
            if not skipped(name):
                same(dataset[()], numbers(23, 31), name)
        check_types(file["types"])
        check_others(file)


def check_types(group):
    def each(name, wanted):
        for found in (group[name][()], group[name + ", filtered"][()], group.attrs[name]):
            found = [one.decode() if isinstance(one, bytes) else one for one in found] if name == "text" else found
            same(found, wanted, name)

    for name, dtype in {"i8": "i1", "u16": "u2", "i64": "i8", "f32": "f4", "f64": "f8"}.items():
        each(name, numbers(10))
        assert group[name].dtype == np.dtype(dtype), name
    each("complex", numbers(10) - 1j)
    each("bool", [True, False, True, True, False])
    each("text", ["", "one", "zwölf", "a longer text than the others"])
    each("array", np.arange(1, 11).reshape(5, 2))
    for place in (group["lists"][()], group["lists, filtered"][()], group.attrs["lists"]):
        assert [list(one) for one in place] == [[1], [], [2, 3, 4]]
    for place in (group["words"][()], group["words, filtered"][()], group.attrs["words"]):
        assert [[word.decode() if isinstance(word, bytes) else word for word in one] for one in place] == [["a", "b"], [], ["c"]]
    for place in (group["rows"][()], group["rows, filtered"][()], group.attrs["rows"]):
        assert len(place) == 100
        for n, row in enumerate(place):
            assert row["number"] == n and row["yes"] == (n % 3 == 0) and list(row["pair"]) == [n, 0.5]
            assert list(row["list"]) == list(range(n % 4)) and row["sky"] == (1 if n % 2 == 0 else 300)
            text = row["text"]
            assert (text.decode() if isinstance(text, bytes) else text) == f"row {n}"
    assert h5py.check_enum_dtype(group["rows"].dtype["sky"]) == {"Clear": 1, "very cloudy": 300}
    same(group["big"][()], numbers(10), "big")
    assert group["big"].dtype == np.dtype(">i4")
    assert [text.decode() for text in group["fixed"][()]] == ["", "one", "zwölf"]
    assert group["scalar"][()] == 2.5 and group["null"].shape is None
    assert group.attrs["title"] == "Überschrift"
    same(group.attrs["matrix"], np.arange(1, 7).reshape(2, 3), "matrix")
    assert group["of named"].id.get_type().committed() and list(group["of named"]) == [1, 2]
    assert [group.file[reference] for reference in group["references"]] == [group, group["named"]]
    region = group["regions"][0]
    same(group["i8"][region], [2, 3, 4], "region")


def check_others(file):
    group = file["others"]
    same(group["external"][()], numbers(10), "external")
    same(group["virtual"][()], [[-1] * 10, numbers(10)], "virtual")
    assert list(group["ordered"]) == [f"{n:02}" for n in reversed(range(30))]
    assert list(group["ordered"].attrs) == [f"{n:02}" for n in reversed(range(30))]
    assert set(group["many"]) == {f"link {n}" for n in range(500) if n % 3}
    assert group["many"].get("link 1", getlink=True).path == "/target/1"
    assert group.get("elsewhere", getlink=True).filename == "other.h5"
    assert group["again"] == file["types"]
    source = group["source"]
    assert source.dims[0].label == "x" and source.dims[0]["meters"] == group["scale"]


def change(path, low):
    with h5py.File(path, "r+", libver=(low, "latest")) as file:
        for group in ("layouts", "filters"):
            for name, dataset in file[group].items():
                if dataset.maxshape[0] is None and not skipped(name):
                    dataset.resize(40, axis=0)
                if dataset.maxshape[1] is None and not skipped(name):
                    dataset.resize(60, axis=1)
                if not skipped(name):
                    dataset[-1] = 7
                dataset.attrs["changed"] = "yes"
        many = file["others/many"]
        for n in range(500):
            if n % 3 and n % 2:
                del many[f"link {n}"]
        for n in range(100):
            many.create_group(f"new {n}")
        ordered = file["others/ordered"]
        for n in range(10, 20):
            del ordered[f"{n:02}"]
            del ordered.attrs[f"{n:02}"]
        del file["types/lists"]
        file["types"].create_dataset("more text", data=["a", "b"] * 200, dtype=h5py.string_dtype())


def make(path, low):
    with h5py.File(path, "w", libver=(low, "latest")) as file:
        group = file.create_group("data")
        chunked = {
            "contiguous": {},
            "fixed": {"chunks": (3, 4)},
            "one": {"chunks": (10, 11)},
            "grows": {"chunks": (3, 4), "maxshape": (None, 11)},
            "both": {"chunks": (3, 4), "maxshape": (None, None)},
            "filtered": {"chunks": (3, 4), "compression": "gzip", "shuffle": True, "fletcher32": True},
            "filtered grows": {"chunks": (3, 4), "compression": "lzf", "maxshape": (None, 11)},
            "filtered both": {"chunks": (3, 4), "compression": 1, "maxshape": (None, None)},
        }
        for name, how in chunked.items():
            group.create_dataset(name, data=numbers(10, 11).astype("i4"), **how)
        for name, how in chunked.items():
            group.create_dataset(name + ", empty", shape=(10, 11), dtype="i4", **how)
        file.create_dataset("texts", data=["one", "two", "three", "four"], dtype=h5py.string_dtype())
        groups = file.create_group("groups")
        for n in range(60):
            groups.create_group(f"old {n}")
        groups.attrs["old"] = 1
        file.create_dataset("gone/dataset", data=np.arange(1000), chunks=(10,))
        file["here"] = np.arange(5)


def verify(path):
    with h5py.File(path) as file:
        for name, dataset in file["data"].items():
            rows = 13 if dataset.maxshape[0] is None else 10
            wanted = np.zeros((rows, 11), "i4")
            if not name.endswith("empty"):
                wanted[:10] = numbers(10, 11)
            wanted[4] = 7
            wanted[10:] = 8
            same(dataset[()], wanted, name)
            assert dataset.attrs["changed"] == "yes"
        assert [text.decode() for text in file["texts"]] == ["one", "changed", "", "four"]
        groups = file["groups"]
        assert set(groups) == {f"old {n}" for n in range(50, 60)} | {f"new {n}" for n in range(1, 100, 2)}
        assert dict(groups.attrs) == {f"a {n}": n for n in range(20)}
        assert "gone" not in file and "here" not in file
        same(file["there/and/more"][()], np.arange(5), "moved")
    with h5py.File(path, "r+") as file:
        for n in range(50):
            file["groups"].create_group(f"newest {n}")
        for dataset in file["data"].values():
            dataset[0] = 1
        del file["data"]


if __name__ == "__main__":
    what, path, low = sys.argv[1:]
    {"check": lambda: check(path), "change": lambda: change(path, low), "make": lambda: make(path, low), "verify": lambda: verify(path)}[what]()
