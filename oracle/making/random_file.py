"""A random file: its settings, groups, links, attributes and datasets."""

import ctypes
import os

from .datasets import any_dataset
from .library import C, Refused, UNLIMITED, sizes, space_of
from .types import Values, any_type, close_file

EARLIEST, V18, V110, V112, V114, V200 = range(6)
SHARED_KINDS = [1 << 1, 1 << 3, 1 << 5, 1 << 11, 1 << 12]
UD_CLASS = 187
DATASETS = 24


def create(rng, path):
    """The file itself; settings that do not go together are chosen again."""
    while True:
        made = attempt(create_once, rng, path)
        if made is not None:
            return made


def create_once(rng, path):
    access, plist = C.properties("FILE_ACCESS"), C.properties("FILE_CREATE")
    low = rng.choice([EARLIEST, EARLIEST, V18, V110, V112, V114, V200])
    C.H5Pset_libver_bounds(access, low, rng.randint(max(low, V18), V200))
    C.H5Pset_fclose_degree(access, 3)
    if rng.random() < 0.3:
        C.H5Pset_userblock(plist, rng.choice([512, 1024, 4096]))
    if rng.random() < 0.3:
        C.H5Pset_sizes(plist, rng.choice([4, 8]), rng.choice([4, 8]))
    if rng.random() < 0.3:
        C.H5Pset_sym_k(plist, rng.choice([1, 2, 16, 40]), rng.choice([1, 2, 4, 30]))
    if rng.random() < 0.3:
        C.H5Pset_istore_k(plist, rng.choice([1, 2, 5, 32, 64]))
    if rng.random() < 0.3:
        share_messages(rng, plist)
    if rng.random() < 0.4:
        C.H5Pset_file_space_strategy(plist, rng.randint(0, 3), rng.randint(0, 1), rng.choice([1, 64]))
        C.H5Pset_file_space_page_size(plist, rng.choice([512, 4096]))
    if rng.random() < 0.3:
        C.H5Pset_alignment(access, rng.choice([1, 100]), rng.choice([8, 512]))
    C.H5Pset_meta_block_size(access, rng.choice([0, 512, 2048]))
    C.H5Pset_link_creation_order(plist, rng.choice([0, 1, 3]))
    C.H5Pset_attr_creation_order(plist, rng.choice([0, 1, 3]))
    return C.H5Fcreate(path.encode(), 2, plist, access)


def share_messages(rng, plist):
    """Indexes that hold the kinds of messages among them, as lists or trees."""
    kinds = rng.sample(SHARED_KINDS, 5)
    parts = rng.randint(1, 5)
    C.H5Pset_shared_mesg_nindexes(plist, parts)
    for nth in range(parts):
        C.H5Pset_shared_mesg_index(plist, nth, sum(kinds[nth::parts]), rng.choice([0, 1, 20, 100]))
    most = rng.choice([0, 3, 50])
    C.H5Pset_shared_mesg_phase_change(plist, most, rng.randint(0, most))


def any_group(rng, place, name):
    plist = C.properties("GROUP_CREATE")
    C.H5Pset_link_creation_order(plist, rng.choice([0, 1, 3]))
    C.H5Pset_attr_creation_order(plist, rng.choice([0, 1, 3]))
    most = rng.choice([0, 2, 8])
    C.H5Pset_link_phase_change(plist, most, rng.randint(0, most))
    C.H5Pset_attr_phase_change(plist, most, rng.randint(0, most))
    C.H5Pset_local_heap_size_hint(plist, rng.choice([0, 64, 1000]))
    C.H5Pset_obj_track_times(plist, rng.randint(0, 1))
    if rng.random() < 0.3:
        C.H5Pset_deflate(plist, 6)
    return C.H5Gcreate2(place, name, 0, plist, 0)


def any_name(rng, nth):
    """Short or long, of ASCII or not; no two alike."""
    return rng.choice(["n", "n" * 50, "é日本", "with space ", "%d", "x" * 300]).encode() + str(nth).encode()


def add_links(rng, place, names, first):
    """Links of all kinds but hard ones to new objects."""
    utf8 = C.properties("LINK_CREATE")
    C.H5Pset_char_encoding(utf8, 1)
    for nth in range(rng.choice([0, 3, 12])):
        name, plist = any_name(rng, first + nth), rng.choice([0, utf8])
        kind = rng.randrange(4)
        if kind == 0:
            C.H5Lcreate_soft(b"/to/nothing" * rng.choice([1, 30]), place, name, plist, 0)
        elif kind == 1 and names:
            C.H5Lcreate_hard(place, rng.choice(names), place, name, plist, 0)
        elif kind == 2:
            C.H5Lcreate_external(b"other.h5", b"/path/in/it", place, name, plist, 0)
        else:
            content = rng.randbytes(rng.choice([0, 1, 200]))
            attempt(C.H5Lcreate_ud, place, name, UD_CLASS, content, len(content), plist, 0)


def attempt(function, *arguments):
    """What a file of these settings cannot have is left out."""
    try:
        return function(*arguments)
    except Refused:
        return None


def add_attributes(rng, handle, targets, large):
    """Says the name of one of them."""
    plist = C.properties("ATTRIBUTE_CREATE")
    known = None
    for nth in range(rng.choice([0, 0, 1, 3, 12])):
        C.H5Pset_char_encoding(plist, rng.randint(0, 1))
        datatype = any_type(rng, references=True)
        dims = rng.choice([None, (), (), (1,), (5,), (2, 3), (0,), (1,) * 32])
        if large and rng.random() < 0.03:
            datatype, dims = C.known("H5T_STD_I64LE"), (9000,)
        name = any_name(rng, nth)
        made = attempt(C.H5Acreate2, handle, name, datatype, space_of(dims), plist, 0)
        if made is None:
            continue
        known = name
        count = C.H5Sget_simple_extent_npoints(space_of(dims))
        if count and rng.random() < 0.9:
            values = Values(rng, targets)
            C.H5Awrite(made, datatype, values.several(datatype, count))
        C.H5Aclose(made)
    return known


class UserLink(ctypes.Structure):
    """H5L_class_t: only its number and what follows it are needed."""

    _fields_ = [("version", ctypes.c_int), ("number", ctypes.c_int), ("comment", ctypes.c_char_p)] + [
        (name, ctypes.c_void_p) for name in ("create", "move", "copy", "follow", "delete", "query")
    ]


FOLLOW = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 6)(lambda *_: -1)
QUERY_TYPE = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t)


@QUERY_TYPE
def QUERY(_name, content, length, room, size):
    if room:
        ctypes.memmove(room, content, min(length, size))
    return length


def register_user_links():
    link = UserLink(1, UD_CLASS, b"oracle", follow=ctypes.cast(FOLLOW, ctypes.c_void_p).value)
    link.query = ctypes.cast(QUERY, ctypes.c_void_p).value
    C.H5Lregister(ctypes.byref(link))


def make(rng, path):
    """Writes a random file."""
    register_user_links()
    file = create(rng, path)
    base = os.path.basename(path)
    root = C.H5Gopen2(file, b"/", 0)
    groups, targets = [(root, [])], []
    for nth in range(rng.randint(0, 4)):
        parent, names = rng.choice(groups)
        name = b"group" + any_name(rng, nth)
        groups.append((any_group(rng, parent, name), []))
        names.append(name)
    for nth in range(DATASETS):
        place, names = rng.choice(groups)
        name = any_name(rng, nth)
        if rng.random() < 0.08:
            commit(rng, place, name, nth)
            continue
        made, dims = any_dataset(rng, place, name, targets, base)
        known = add_attributes(rng, made, targets, True)
        if rng.random() < 0.2:
            C.H5Oset_comment(made, "comment é".encode() * rng.randint(1, 9))
        names.append(name)
        targets.append((place, name, dims, known))
        C.H5Dclose(made)
    for group, names in groups:
        add_attributes(rng, group, targets, True)
        add_links(rng, group, names, 1000)
    close_file(file)


def commit(rng, place, name, nth):
    """A committed datatype, and a dataset and an attribute that use it."""
    datatype = any_type(rng)
    while attempt(C.H5Tcommit2, place, name, datatype, 0, 0, 0) is None:
        datatype = any_type(rng)
    add_attributes(rng, datatype, (), False)
    made = C.H5Dcreate2(place, b"of committed type" + str(nth).encode(), datatype, space_of((2,)), 0, 0, 0)
    C.H5Dwrite(made, datatype, 0, 0, 0, Values(rng).several(datatype, 2))
    used = C.H5Acreate2(made, b"of committed type", datatype, space_of(()), 0, 0)
    C.H5Awrite(used, datatype, Values(rng).several(datatype, 1))
    C.H5Aclose(used)
    C.H5Dclose(made)
