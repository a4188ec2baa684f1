"""Structures that only libhdf5 makes, and its turns at changing them."""

import ctypes
import glob
import json
import os
import sys

import h5py
import numpy as np
from h5py import h5f, h5g, h5p

HOME = os.path.dirname(os.path.dirname(h5py.__file__))
# h5py has no names for what makes these structures.
LIBRARY = ctypes.CDLL(glob.glob(os.path.join(HOME, "h5py.libs", "libhdf5-*"))[0])
ALL_SHARED = 0x2 | 0x8 | 0x20 | 0x800 | 0x1000


def call(name, *args):
    assert getattr(LIBRARY, name)(*args) >= 0, name


def filtered_links(path):
    """A group whose links lie in a heap that deflate goes over."""
    with h5py.File(path, "w", libver="latest") as f:
        plist = h5p.create(h5p.GROUP_CREATE)
        call("H5Pset_link_phase_change", ctypes.c_int64(plist.id), 0, 0)
        call("H5Pset_deflate", ctypes.c_int64(plist.id), 6)
        group = h5py.Group(h5g.create(f.id, b"links", None, plist))
        for nth in range(60):
            group[f"first {nth}"] = h5py.SoftLink("/x" * (nth * 8 + 1))
        group["huge"] = h5py.SoftLink("/x" * 5000)


def filtered_links_turn(path, turn):
    with open(path + ".json") as f:
        expected = json.load(f)
    with h5py.File(path, "r+", libver="latest") as f:
        group = f["links"]
        found = {name: group.get(name, getlink=True).path for name in group}
        assert found == expected, (set(found) ^ set(expected), turn)
        for nth, name in enumerate(sorted(found)):
            if nth % 5 == turn % 5:
                del group[name]
        for nth in range(7):
            group[f"theirs {turn} {nth}"] = h5py.SoftLink("/y" * (nth * 100 + 1))


def sharing(path, most_in_list):
    """A new file whose objects share all messages that they can, in a list or in a tree."""
    plist = h5p.create(h5p.FILE_CREATE)
    call("H5Pset_shared_mesg_nindexes", ctypes.c_int64(plist.id), 1)
    call("H5Pset_shared_mesg_index", ctypes.c_int64(plist.id), 0, ALL_SHARED, 1)
    call("H5Pset_shared_mesg_phase_change", ctypes.c_int64(plist.id), most_in_list, max(most_in_list - 5, 0))
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_libver_bounds(h5f.LIBVER_V18, h5f.LIBVER_LATEST)
    return h5py.File(h5f.create(path.encode(), h5f.ACC_TRUNC, plist, access))


def shared_messages(path, most_in_list):
    f = sharing(path, most_in_list)
    for nth in range(20):
        shared_dataset(f, f"first {nth}")
    many = f.create_group("many")
    for nth in range(20):
        many.attrs[f"a{nth}"] = np.arange(nth % 3 + 1)
    f.close()


def shared_many(path, groups):
    """Groups of a hundred attributes, each of them a message of its own."""
    with sharing(path, 0) as f:
        for group in range(groups):
            attributes = f.create_group(str(group)).attrs
            for nth in range(100):
                attributes[f"a{nth}"] = group * 100 + nth


def shared_many_turn(path, groups):
    with h5py.File(path, "r+", libver="v108") as f:
        for group in range(groups):
            attributes = f[str(group)].attrs
            assert sorted(attributes) == sorted(f"a{nth}" for nth in range(40, 100)), group
            assert all(attributes[f"a{nth}"] == group * 100 + nth for nth in range(40, 100)), group
            # Some that went come again, and some go that are there.
            attributes["a0"] = group * 100
            del attributes["a99"]
    with h5py.File(path) as f:
        assert all(f[str(group)].attrs["a0"] == group * 100 for group in range(groups))


def shared_dataset(f, name):
    d = f.create_dataset(name, (8,), "i4", maxshape=(None,), chunks=(4,), fillvalue=7, compression="gzip")
    d.attrs["same"] = np.arange(5)
    d.attrs["own"] = name
    d[...] = range(8)


def shared_messages_turn(path, turn):
    with open(path + ".json") as f:
        expected = json.load(f)
    with h5py.File(path, "r+", libver="v108") as f:
        assert sorted(f) == sorted(list(expected) + ["many"]), (sorted(f), turn)
        for name, (size, attributes) in expected.items():
            d = f[name]
            want = np.full(size, 7)
            want[: min(size, 8)] = range(min(size, 8))
            assert list(d[...]) == list(want), name
            assert sorted(d.attrs) == sorted(attributes), name
            if "same" in attributes:
                assert list(d.attrs["same"]) == attributes["same"], name
        for nth in range(20):
            assert list(f["many"].attrs[f"a{nth}"]) == list(range(nth % 3 + 1))
        # Messages like those that went, and others like those that are there.
        shared_dataset(f, f"theirs {turn}")
        f["many"].attrs["a1"] = np.arange(2)
        names = sorted(expected)
        del f[names[len(names) // 2]]


def virtual_dataset(path):
    """A virtual dataset with sources in another file and in its own, of other types, and a gap between them."""
    with h5py.File(path + ".source", "w") as f:
        f.create_dataset("a", (4, 3), "f8")
    with h5py.File(path, "w", libver="latest") as f:
        f.create_dataset("b", (3,), ">i2")
        layout = h5py.VirtualLayout((4, 8), "i4")
        layout[:, :3] = h5py.VirtualSource(path + ".source", "a", (4, 3))
        layout[2, 3:6] = h5py.VirtualSource(".", "b", (3,))
        f.create_virtual_dataset("v", layout, fillvalue=-1)


def virtual_dataset_read(path):
    with h5py.File(path + ".source") as f:
        assert f["a"][...].tolist() == [[0, 1, 2], [10, 11, 12], [20, 21, 22], [30, 31, 32]]
    with h5py.File(path) as f:
        assert f["b"][...].tolist() == [23, 24, 25]
        assert f["v"][2].tolist() == [20, 21, 22, 23, 24, 25, -1, -1]


def family(path):
    """A family of small files."""
    with h5py.File(path, "w", driver="family", memb_size=4096) as f:
        f["theirs"] = np.arange(3000)


def family_read(path):
    with h5py.File(path, "r+", driver="family", memb_size=4096) as f:
        assert f["ours"][...].tolist() == list(range(5000))
        assert f["theirs"][...].tolist() == list(range(3000))
        del f["ours"]
        f["again"] = np.arange(10)


class ImageConfig(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_int),
        ("generate", ctypes.c_bool),
        ("resizes", ctypes.c_bool),
        ("age", ctypes.c_int),
    ]


def cache_image(path):
    """A file whose structures are in the image of a metadata cache only."""
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_libver_bounds(h5f.LIBVER_LATEST, h5f.LIBVER_LATEST)
    config = ImageConfig(1, True, False, -1)
    call("H5Pset_mdc_image_config", ctypes.c_int64(access.id), ctypes.byref(config))
    with h5py.File(h5f.create(path.encode(), h5f.ACC_TRUNC, fapl=access)) as f:
        for nth in range(3):
            f[f"s{nth}"] = np.arange(nth + 3)
        f["s0"].attrs["a"] = 1
        for nth in range(30):
            f.create_dataset(f"many/c{nth}", data=np.arange(nth, nth + 9), chunks=(4,), maxshape=(None,))


def cache_image_read(path):
    with h5py.File(path, "r+") as f:
        assert sorted(f) == ["many", "new", "s0", "s2"], sorted(f)
        assert f["new"][...].tolist() == [7, 8, 9] and f["s2"][...].tolist() == [0, 1, 2, 3, 4]
        assert f["s0"].attrs["a"] == 2
        for nth in range(30):
            assert f[f"many/c{nth}"][...].tolist() == list(range(nth, nth + 9))
        f["s2"][0] = 5


def killed(path, latest):
    """A file of a process that is killed: its dataset was flushed, but the end of the file was not told."""
    f = h5py.File(path, "w", libver="latest" if latest else "earliest")
    d = f.create_dataset("d", (1000,), "i4", maxshape=(None,), chunks=(1000,))
    f.flush()
    if latest:
        f.swmr_mode = True
    for nth in range(30):
        d.resize(((nth + 1) * 1000,))
        d[nth * 1000 :] = nth
        d.flush()
    os._exit(0)


def killed_read(path):
    with h5py.File(path) as f:
        assert (f["d"][...] == np.repeat(np.arange(30), 1000)).all()
        assert (f["new"][...] == -7).all()


def main():
    what, path, *more = sys.argv[1:]
    globals()[what](path, *map(int, more))


main()
