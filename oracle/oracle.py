"""libhdf5's answers to questions about selections, for the differential tests.

Reads one JSON object a line from standard input, {"questions": [...]}, and answers with one line, {"answers": [...]}.
What a question and its answer hold is written down in src/question.rs. h5py's low-level API carries most of it; what it
does not wrap is called through ctypes in the same libhdf5 that h5py has loaded.
"""

import ctypes
import glob
import json
import os
import signal
import sys

import h5py
import numpy
from h5py import h5p, h5s

OPERATIONS = {
    "set": h5s.SELECT_SET,
    "or": h5s.SELECT_OR,
    "and": h5s.SELECT_AND,
    "xor": h5s.SELECT_XOR,
    "notb": h5s.SELECT_NOTB,
    "nota": h5s.SELECT_NOTA,
}
KINDS = {h5s.SEL_NONE: "none", h5s.SEL_POINTS: "points", h5s.SEL_HYPERSLABS: "slabs", h5s.SEL_ALL: "all"}
REFUSALS = (RuntimeError, ValueError, TypeError)
LATEST = 5
RUNS_A_CALL = 4096
SECONDS = 30

hid_t = ctypes.c_int64
hsize_t = ctypes.c_uint64
hssize_t = ctypes.c_int64


def load_libhdf5():
    """The shared object of the wheel, which is already in this process."""
    home = os.path.dirname(os.path.dirname(h5py.__file__))
    library = ctypes.CDLL(glob.glob(os.path.join(home, "h5py.libs", "libhdf5-*.so*"))[0])
    for name, result, arguments in [
        ("H5Sencode2", ctypes.c_int, [hid_t, ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t), hid_t]),
        ("H5Sselect_project_intersection", hid_t, [hid_t, hid_t, hid_t]),
        ("H5Sselect_intersect_block", ctypes.c_int, [hid_t, ctypes.c_void_p, ctypes.c_void_p]),
        ("H5Sselect_adjust", ctypes.c_int, [hid_t, ctypes.c_void_p]),
        ("H5Ssel_iter_create", hid_t, [hid_t, ctypes.c_size_t, ctypes.c_uint]),
        ("H5Ssel_iter_get_seq_list", ctypes.c_int, [hid_t, ctypes.c_size_t, ctypes.c_size_t] + [ctypes.c_void_p] * 4),
        ("H5Ssel_iter_close", ctypes.c_int, [hid_t]),
        ("H5Pset_chunk_opts", ctypes.c_int, [hid_t, ctypes.c_uint]),
        ("H5Pset_sym_k", ctypes.c_int, [hid_t, ctypes.c_uint, ctypes.c_uint]),
        ("H5Pset_istore_k", ctypes.c_int, [hid_t, ctypes.c_uint]),
    ]:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def access_list(low):
    """A file access property list with this lowest version of the library."""
    properties = h5p.create(h5p.FILE_ACCESS)
    properties.set_libver_bounds(low, LATEST)
    return properties


LIBRARY = load_libhdf5()
ACCESS = [access_list(low) for low in range(LATEST + 1)]
OFFSETS = (hsize_t * RUNS_A_CALL)()
LENGTHS = (ctypes.c_size_t * RUNS_A_CALL)()


def extent(program):
    """A dataspace of the program's size; no limit is written as null."""
    dims = tuple(program["dims"])
    limits = program.get("max")
    if limits is None:
        return h5s.create_simple(dims)
    return h5s.create_simple(dims, tuple(h5s.UNLIMITED if limit is None else limit for limit in limits))


def select_slab(space, operation, slab):
    start, stride, count, block = (
        tuple(h5s.UNLIMITED if value is None else value for value in slab[key])
        for key in ("start", "stride", "count", "block")
    )
    space.select_hyperslab(start, count, stride, block, op=OPERATIONS[operation])


def execute(program):
    """Runs a selection program and refuses a result in which libhdf5 contradicts itself.

    After A xor B of regular hyperslabs, 2.0 sometimes counts the right elements but lists those of A.
    """
    space = run_steps(program)
    if program.get("max") is None and space.get_select_type() == h5s.SEL_HYPERSLABS:
        corners = space.get_select_hyper_blocklist().astype("i8")
        if (corners[:, 1] - corners[:, 0] + 1).prod(axis=1).sum() != space.get_select_npoints():
            raise RuntimeError("libhdf5 contradicts itself")
    return space


def run_steps(program):
    space = extent(program)
    start = program["start"]
    if start == "none":
        space.select_none()
    elif start != "all" and "points" in start:
        rank = len(program["dims"])
        space.select_elements(numpy.array(start["points"], dtype="u8").reshape(-1, rank))
    elif start != "all":
        select_slab(space, "set", start["slab"])
    for step in program["steps"]:
        if "slab" in step["with"]:
            select_slab(space, step["op"], step["with"]["slab"])
        else:
            space = space.combine_select(execute(step["with"]["program"]), op=OPERATIONS[step["op"]])
    return space


def runs(space, size):
    """Byte offsets and lengths in turn."""
    found = []
    iterator = LIBRARY.H5Ssel_iter_create(space.id, size, 0)
    if iterator < 0:
        return None
    sequences, elements = ctypes.c_size_t(), ctypes.c_size_t()
    while True:
        failed = LIBRARY.H5Ssel_iter_get_seq_list(
            iterator, RUNS_A_CALL, 1 << 40, ctypes.byref(sequences), ctypes.byref(elements), OFFSETS, LENGTHS
        )
        if failed < 0 or sequences.value == 0:
            break
        for index in range(sequences.value):
            found += (OFFSETS[index], LENGTHS[index])
    LIBRARY.H5Ssel_iter_close(iterator)
    return found


def merged(flat):
    """Runs with neighbours joined: the elements, whatever way they were cut."""
    joined = []
    for offset, length in zip(flat[::2], flat[1::2]):
        if joined and joined[-1][1] == offset:
            joined[-1][1] += length
        else:
            joined.append([offset, offset + length])
    return joined


def encode(space, low):
    """The wire form as hex, or nothing if this version cannot say it."""
    needed = ctypes.c_size_t()
    if LIBRARY.H5Sencode2(space.id, None, ctypes.byref(needed), ACCESS[low].id) < 0:
        return None
    buffer = ctypes.create_string_buffer(needed.value)
    if LIBRARY.H5Sencode2(space.id, buffer, ctypes.byref(needed), ACCESS[low].id) < 0:
        return None
    return buffer.raw[: needed.value].hex()


def elements(space):
    """What is selected, in a form that two spaces can be compared by."""
    kind = KINDS[space.get_select_type()]
    if kind == "points":
        return kind, space.get_select_elem_pointlist().ravel().tolist()
    if kind == "none":
        return kind, []
    return kind, merged(runs(space, 1))


def decoded_equals(space, unlimited, wire):
    """True, or what libhdf5 makes of our encoding."""
    if wire is None:
        return True
    try:
        twin = h5s.decode(bytes.fromhex(wire))
        if twin.get_simple_extent_dims(True) != space.get_simple_extent_dims(True):
            return "another extent"
        if unlimited:
            # Elements without end cannot be listed; libhdf5 writes the pattern in its normal form.
            return True if encode(twin, LATEST) == encode(space, LATEST) else "another pattern"
        theirs, ours = elements(space), elements(twin)
    except REFUSALS as refusal:
        return str(refusal)
    return True if theirs == ours else f"{ours} instead of {theirs}"


def numbers(values):
    """Plain integers, with null for unlimited."""
    return [None if int(value) == h5s.UNLIMITED else int(value) for value in values]


def attempt(work):
    try:
        return work()
    except REFUSALS:
        return None


def boxed(values, kind=hsize_t):
    return (kind * len(values))(*values)


def describe(question):
    """Everything that the tests compare about one selection."""
    space = execute(question["program"])
    kind = KINDS[space.get_select_type()]
    unlimited = question["unlimited"]
    answer = {"kind": kind, "count": space.get_select_npoints() if not unlimited else 0}
    # Asked first: later questions make libhdf5 rebuild its own picture of the selection.
    if kind == "slabs" and not unlimited:
        answer["blocks"] = space.get_select_hyper_blocklist().ravel().tolist()
    if kind == "points":
        answer["points"] = space.get_select_elem_pointlist().ravel().tolist()
    bounds = attempt(space.get_select_bounds)
    answer["bounds"] = None if bounds is None or unlimited else [numbers(corner) for corner in bounds]
    answer["encodings"] = [encode(space, low) for low in range(LATEST + 1)]
    if kind == "slabs" and space.is_regular_hyperslab():
        answer["regular"] = [numbers(part) for part in space.get_regular_hyperslab()]
    answer["decoded"] = [decoded_equals(space, unlimited, wire) for wire in question["encodings"]]
    answer["runs"] = [runs(space, size) for size in question["sizes"]]
    answer["hits"] = [
        LIBRARY.H5Sselect_intersect_block(space.id, boxed(low), boxed(high)) for low, high in question["boxes"]
    ]
    if question.get("twin") is not None:
        answer["same_as_twin"] = attempt(lambda: bool(space.select_shape_same(execute(question["twin"]))))
    if question.get("moved") is not None:
        moved = space.copy()
        # libhdf5 subtracts.
        if LIBRARY.H5Sselect_adjust(moved.id, boxed([-step for step in question["moved"]], hssize_t)) >= 0:
            answer["same_as_moved"] = bool(space.select_shape_same(moved))
            answer["moved"] = merged(runs(moved, 1))
    return answer


def project(question):
    """The part of the destination that matches the intersection with the source."""
    source, destination = execute(question["source"]), execute(question["destination"])
    intersect = execute(question["intersect"])
    projected = LIBRARY.H5Sselect_project_intersection(source.id, destination.id, intersect.id)
    if projected < 0:
        return {"refused": "H5Sselect_project_intersection"}
    kind, selected = elements(h5s.SpaceID(projected))
    return {"kind": kind, "points" if kind == "points" else "runs": selected}


def answer(question):
    try:
        return {"describe": describe, "project": project}[question["job"]](question)
    except REFUSALS as refusal:
        return {"refused": str(refusal)}


def answers_until_crash(questions, answer):
    """Answers from a child process, which libhdf5 may take down; then they are fewer than the questions."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            for question in questions:
                # A few files bring libhdf5 into an endless loop.
                signal.alarm(SECONDS)
                print(json.dumps(answer(question)), file=pipe, flush=True)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        found = [json.loads(line) for line in pipe]
    os.waitpid(child, 0)
    return found


def serve(answer):
    """Answers lines of questions until there are no more."""
    for line in sys.stdin:
        questions = json.loads(line)["questions"]
        answers = answers_until_crash(questions, answer)
        while len(answers) < len(questions):
            answers.append({"refused": "libhdf5 crashed"})
            answers += answers_until_crash(questions[len(answers) :], answer)
        print(json.dumps({"answers": answers}), flush=True)


if __name__ == "__main__":
    serve(answer)
