"""Objects that lose their last link while they are open."""

import h5py
import hyperslab
import numpy as np
import pytest


def deletes_what_it_has_open(module, path, libver):
    """A program that uses objects after their last link; what it sees."""
    seen = []
    with module.File(path, "w", libver=libver) as file:
        data = file.create_dataset("x", data=np.arange(6), chunks=(2,), maxshape=(None,), compression="gzip")
        words = file.create_dataset("words", data=["a", "b"], dtype=module.string_dtype())
        plain = file.create_dataset("plain", data=np.arange(3))
        data.attrs["old"] = 1
        group = file.create_group("g")
        group["inner"] = [1, 2]
        inner = group["inner"]
        for name in ["x", "words", "plain", "g"]:
            del file[name]
        seen.append((sorted(file), bool(data), bool(group), file.get("x"), file[data.ref].shape))
        seen.append([one.name for one in (data, words, plain, group, group["inner"], file[data.ref])])
        seen.append((repr(data), repr(group).split("(")[:2]))
        data[0], words[1], plain[2], inner[0] = 10, "c" * 100, 20, 30
        data.resize((8,))
        data.attrs["new"] = 2
        group["y"], group.attrs["a"] = 3, 4
        del group["inner"]
        file["x"] = np.full(1000, 7)  # It takes the name of a deleted dataset, but not the space, since that is open.
        file.flush()
        seen.append((data[()].tolist(), words.asstr()[()].tolist(), plain[()].tolist(), inner[()].tolist()))
        seen.append((sorted(data.attrs), data.attrs["new"], sorted(group), group.attrs["a"], group["y"][()]))
        file["again"], file["home/g"] = data, group
        del file["again"]
        file["third"], file["home/words"], group["kept"] = data, words, inner
        seen.append((data[()].tolist(), sorted(file), sorted(file["home/g"])))
        seen.append((data.name, group.name, group["y"].name, file["x"].name, data.parent.name))
        del data
        seen.append(file["third"].attrs["old"])
    with h5py.File(path) as file:
        for name in ("x", "third", "home", "home/g", "home/g/y", "home/g/kept", "home/words"):
            node = file[name]
            seen.append((sorted(node.attrs), sorted(node) if isinstance(node, h5py.Group) else node[()].tolist()))
    return seen


@pytest.mark.parametrize("libver", ["earliest", "v108", "latest"])
def test_what_is_deleted_while_it_is_open(tmp_path, libver):
    theirs = deletes_what_it_has_open(h5py, tmp_path / "theirs.h5", libver)
    assert deletes_what_it_has_open(hyperslab, tmp_path / "ours.h5", libver) == theirs
    # libhdf5 goes on with the file.
    with h5py.File(tmp_path / "ours.h5", "r+") as file:
        del file["home"], file["third"]
        file["more"] = np.arange(1000)


@pytest.mark.parametrize("is_open", [False, True])
def test_what_was_deleted_does_not_outlive_the_file(tmp_path, is_open):
    with hyperslab.File(tmp_path / "made.h5", "w") as file:
        held = file.create_dataset("x", data=np.arange(100_000))
        file.flush()
        del file["x"]
        if not is_open:
            del held
    assert (tmp_path / "made.h5").stat().st_size < 100_000


def renames_what_it_has_open(module, path):
    """The names of objects whose links come and go."""
    seen = []
    with module.File(path, "w") as file:
        data, group = file.create_dataset("a/data", data=[1]), file.create_group("group")
        file["other"], file["soft"] = data, module.SoftLink("/a/data")
        soft = file["soft"]
        objects = [data, group, soft, file, file["a"]]

        def look():
            seen.append([one.name for one in objects])

        look()
        file.move("group", "moved")
        look()
        del file["soft"]
        look()
        del file["a/data"]
        look()
        file["a/data"] = 5  # Another one.
        look()
        del file["other"]
        look()
        file["a/again"] = data
        look()
        del file["a/again"]
        file["a/again"] = data
        look()
        with pytest.raises(ValueError, match="anonymous"):
            del file["a/again"]
            _ = data.parent
        seen.append(group.create_group("new").name)
    return seen


def test_names_of_what_is_renamed_while_it_is_open(tmp_path):
    theirs = renames_what_it_has_open(h5py, tmp_path / "theirs.h5")
    assert renames_what_it_has_open(hyperslab, tmp_path / "ours.h5") == theirs
