"""Random programs that overwrite, delete and add, a few steps each time the file is opened: it stays as small as libhdf5's."""

import os
import random

import h5py
import numpy as np
import pytest
from reopened import ROUNDS, stays_small, type_of

#: Ours may be larger by this at any time. The files of most programs are small at first, and free space is listed in a block or two.
SMALL = 4096
SEEDS = range(int(os.environ.get("HYPERSLAB_PROGRAMS", "1")))


def set_attribute(file, choice):
    thing = any_object(file, choice)
    thing.attrs[f"a{choice.randrange(40)}"] = np.arange(choice.randrange(1, 40))


def set_text(file, choice):
    any_object(file, choice).attrs[f"t{choice.randrange(6)}"] = "x" * choice.randrange(1, 200)


def modify_attribute(file, choice):
    thing = any_object(file, choice)
    name = any_of(choice, [name for name in thing.attrs if name.startswith("a")])
    if name:
        thing.attrs.modify(name, thing.attrs[name] + 1)


def delete_attribute(file, choice):
    thing = any_object(file, choice)
    name = any_of(choice, list(thing.attrs))
    if name:
        del thing.attrs[name]


def add_attribute(file, choice):
    """One that was not there."""
    file.attrs[f"attribute{len(file.attrs)} {choice.randrange(10**9)}"] = np.arange(5)


def write_dataset_again(file, choice):
    name = f"d{choice.randrange(10)}"
    if name in file:
        del file[name]
    file.create_dataset(name, data=np.arange(choice.randrange(1, 3000)))


def overwrite_strings(file, choice):
    name = f"s{choice.randrange(3)}"
    if name not in file:
        write_strings_again(file, choice)
    else:
        for _ in range(choice.randrange(1, 20)):
            file[name][choice.randrange(len(file[name]))] = "b" * choice.randrange(100)


def write_strings_again(file, choice):
    name = f"s{choice.randrange(3)}"
    if name in file:
        del file[name]
    texts = ["c" * choice.randrange(100) for _ in range(choice.randrange(20, 300))]
    file.create_dataset(name, data=texts, dtype=h5py.string_dtype())


def overwrite_chunks(file, choice):
    name = f"z{choice.randrange(3)}"
    if name not in file:
        write_chunks_again(file, choice)
    else:
        start = choice.randrange(len(file[name]))
        stop = min(len(file[name]), start + choice.randrange(1, 600))
        file[name][start:stop] = numbers(choice, stop - start)


def write_chunks_again(file, choice):
    name = f"z{choice.randrange(3)}"
    if name in file:
        del file[name]
    values = numbers(choice, choice.randrange(100, 3000))
    file.create_dataset(name, data=values, chunks=(50,), maxshape=(None,), compression="gzip", compression_opts=1)


def resize(file, choice):
    name = f"z{choice.randrange(3)}"
    if name in file:
        file[name].resize((choice.randrange(100, 3000),))


def switch_group(file, choice):
    """Makes a group, or deletes it."""
    name = f"g{choice.randrange(60)}"
    if name in file:
        del file[name]
    else:
        file.create_group(name)


def switch_tree(file, choice):
    name = f"h{choice.randrange(10)}"
    if name in file:
        del file[name]
    else:
        for nth in range(choice.randrange(1, 20)):
            file.create_group(f"{name}/x{nth}")


def switch_soft_link(file, choice):
    name = f"l{choice.randrange(60)}"
    if file.get(name, getlink=True):
        del file[name]
    else:
        file[name] = type_of(file).SoftLink("/nowhere")


def switch_hard_link(file, choice):
    name = f"k{choice.randrange(30)}"
    if name in file:
        del file[name]
    else:
        file[name] = any_object(file, choice)


def add_group(file, choice):
    """One that was not there."""
    file.create_group(f"group {len(file)} {choice.randrange(10**9)}")


def any_of(choice, names):
    return choice.choice(sorted(names)) if names else None


def any_object(file, choice):
    """One of few objects, which may be the root."""
    name = any_of(choice, ["/", "d1", "z1", "s1", "g1"])
    return file[name] if name in file else file


def numbers(choice, count):
    return np.random.default_rng(choice.randrange(1000)).integers(0, choice.choice([2, 100, 10**6]), count)


ATTRIBUTES = [set_attribute, set_attribute, set_attribute, modify_attribute, delete_attribute]
NAMES = [switch_group, switch_soft_link, switch_hard_link]
VALUES = [write_dataset_again, overwrite_strings, write_strings_again, overwrite_chunks, write_chunks_again, resize]

#: What the steps of a program are.
KINDS = {
    "attributes": ATTRIBUTES,
    "more_attributes": [add_attribute],
    "attributes_and_texts": [*ATTRIBUTES, set_text],
    "attributes_and_groups": [*ATTRIBUTES, switch_group],
    "datasets": [write_dataset_again],
    "strings": [overwrite_strings, write_strings_again],
    "chunks": [overwrite_chunks, write_chunks_again, resize],
    "groups": [switch_group],
    "more_groups": [add_group],
    "trees": [switch_tree, switch_group],
    "soft_links": [switch_soft_link],
    "names": NAMES,
    "everything": [*ATTRIBUTES, set_text, *NAMES, *VALUES, switch_tree],
}


def program(kind, seed):
    """What to do when the file is opened for the nth time."""

    def change(file, nth):
        choice = random.Random(f"{kind} {seed} {nth}")
        for _ in range(choice.randrange(1, 5)):
            choice.choice(KINDS[kind])(file, choice)

    return change


#: Of these ours gets larger than it may, for a time or for good, when the file is opened often: blocks of old headers move when attributes of other sizes
#: come, and what tree nodes leave is cut into pieces for new headers.
TOO_LARGE = {
    ("attributes", "earliest"),
    ("more_attributes", "earliest"),
    ("attributes_and_groups", "latest"),
    ("more_groups", "latest"),
}


@pytest.fixture(autouse=True)
def known(request, kind, libver):
    if (kind, libver) in TOO_LARGE and ROUNDS > 12:
        request.applymarker(pytest.mark.xfail(reason="headers and tree nodes leave gaps"))


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_programs_keep_files_small(tmp_path, kind, seed, libver):
    stays_small(tmp_path, f"{kind}-{seed}", program(kind, seed), libver, SMALL)
