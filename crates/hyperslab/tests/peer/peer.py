"""Uses files with h5py as it is told to, a line each: `make PATH LIBVER`, `open PATH MODE [LIBVER]`, `read`, `grow PATH`, `append`, `close`."""

import sys

import h5py

file = None


def opened(path, mode, libver=None):
    if "swmr" in mode:
        libver = libver or "latest"
    if mode == "swmr":
        return h5py.File(path, "r", swmr=True, libver=libver)
    if mode != "swmr writer":
        return h5py.File(path, mode, libver=libver)
    made = h5py.File(path, "r+", libver=libver)
    try:
        made.swmr_mode = True
    except Exception:
        made.close()
        raise
    return made


def make(path, libver):
    with h5py.File(path, "w", libver=libver) as made:
        made["numbers"] = [1, 2, 3]


def grown(path):
    made = h5py.File(path, "w", libver="latest")
    made.create_dataset("log", data=range(4), maxshape=(None,), chunks=(8,))
    made.swmr_mode = True
    return made


def append():
    log = file["log"]
    log.resize((len(log) + 1,))
    log[-1] = len(log) - 1
    log.flush()


for line in sys.stdin:
    command, *words = line.rstrip("\n").split("\t")
    answer = "ok"
    try:
        if command == "make":
            make(*words)
        elif command == "open":
            file = opened(*words)
        elif command == "grow":
            file = grown(*words)
        elif command == "append":
            append()
        elif command == "read":
            answer = " ".join(str(value) for value in file["numbers"][:])
        elif file is not None:
            file.close()
            file = None
    except Exception as why:
        answer = f"{type(why).__name__}: {why}".replace("\n", " ")
    print(f"= {answer}", flush=True)
