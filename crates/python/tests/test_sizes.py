"""Files that are opened and changed again and again stay as small as libhdf5's, whatever changes."""

import random

import h5py
import numpy as np
import pytest
from reopened import stays_small, type_of

#: Where there are strings, ours may be larger by a collection of the heap, which one of the two may need a session earlier.
COLLECTION = 4096


def words(count, salt, letter):
    """Texts of many lengths."""
    return [f"string {salt} {i} {letter * ((i + salt) % 90)}" for i in range(count)]


def one_of_many_attributes(file, nth):
    if nth is None:
        dataset = file.create_dataset("d", data=np.arange(10))
        for i in range(200):
            dataset.attrs[f"a{i}"] = np.full(20, i)
    else:
        file["d"].attrs.modify(f"a{nth % 200}", np.full(20, -nth))


def an_attribute_of_other_sizes(file, nth):
    if nth is None:
        file.create_dataset("d", data=np.arange(1000))
    else:
        file["d"].attrs["x"] = np.full(50 + nth % 7, nth)


def all_strings(file, nth):
    if nth is None:
        file.create_dataset("s", data=words(5000, 0, "x"), dtype=h5py.string_dtype())
    else:
        file["s"][...] = words(5000, nth, "y")


def one_string(file, nth):
    if nth is None:
        file.create_dataset("s", data=words(1000, 0, "x"), dtype=h5py.string_dtype())
    else:
        file["s"][(nth * 7) % 1000] = f"string {nth} {'y' * ((nth * 13) % 90)}"


def one_string_many_times(file, nth):
    if nth is None:
        file.create_dataset("s", data=["x" * 50] * 100, dtype=h5py.string_dtype())
    else:
        for i in range(55):
            file["s"][i % 100] = "y" * ((nth + i) % 97)


def numbers(nth, rows):
    return np.random.default_rng(nth or 0).integers(0, 100 + (nth or 0) % 5, (rows, 2000)).astype("i4")


def all_gzip_chunks(file, nth):
    if nth is None:
        file.create_dataset("z", data=numbers(None, 200), chunks=(10, 200), compression="gzip", compression_opts=1)
    else:
        file["z"][...] = numbers(nth, 200)


def some_gzip_chunks(file, nth):
    if nth is None:
        all_gzip_chunks(file, None)
    else:
        start = (nth * 10) % 200
        file["z"][start : start + 10] = numbers(nth, 10)


def half_of_the_attributes(file, nth):
    count = 400
    if nth is None:
        for i in range(count):
            file.attrs[f"attribute{i}"] = i
    elif nth == 0:
        for i in range(0, count, 2):
            del file.attrs[f"attribute{i}"]


def half_of_the_links(file, nth):
    count = 3000
    if nth is None:
        for i in range(count):
            file[f"link{i}"] = type_of(file).SoftLink("/x")
    elif nth == 0:
        for i in range(0, count, 2):
            del file[f"link{i}"]


def groups_that_come_and_go(file, nth):
    if nth is None:
        for i in range(300):
            file.create_group(f"g{i}")
    else:
        del file[f"g{nth}" if nth < 300 else f"n{nth - 300}"]
        file.create_group(f"n{nth}")


def anything(file, nth):
    if nth is None:
        for i in range(20):
            file.create_dataset(f"d{i}", data=np.arange(100 * i + 10))
            file.create_dataset(f"z{i}", data=np.arange(100 * i + 50), chunks=(50,), compression="gzip")
            file.create_dataset(f"s{i}", data=["a" * i] * 50, dtype=h5py.string_dtype())
        return
    choice = random.Random(nth)
    for _ in range(5):
        i, kind = choice.randrange(20), choice.randrange(5)
        if kind == 0:
            file[f"d{i}"][...] = choice.randrange(1000)
        elif kind == 1:
            file[f"z{i}"][...] = [choice.randrange(1000) for _ in range(100 * i + 50)]
        elif kind == 2:
            file[f"s{i}"][choice.randrange(50)] = "b" * choice.randrange(100)
        elif kind == 3:
            file[f"d{i}"].attrs[f"a{choice.randrange(9)}"] = np.arange(choice.randrange(1, 40))
        else:
            del file[f"d{i}"]
            file.create_dataset(f"d{i}", data=np.arange(100 * i + 10))


CHANGES = [
    one_of_many_attributes,
    an_attribute_of_other_sizes,
    all_strings,
    one_string,
    one_string_many_times,
    all_gzip_chunks,
    some_gzip_chunks,
    half_of_the_attributes,
    half_of_the_links,
    groups_that_come_and_go,
    anything,
]


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("change", CHANGES)
def test_no_file_grows_beyond_theirs(tmp_path, change, libver):
    more = COLLECTION if "string" in change.__name__ else 0
    stays_small(tmp_path, change.__name__, change, libver, more)
