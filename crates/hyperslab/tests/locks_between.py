"""Opens and closes files with h5py as it is told to, a line each: `make PATH LIBVER`, `open PATH MODE LIBVER`, `close`."""

import sys

import h5py

file = None


def opened(path, mode, libver):
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


for line in sys.stdin:
    command, *words = line.rstrip("\n").split("\t")
    answer = "ok"
    try:
        if command == "make":
            with h5py.File(words[0], "w", libver=words[1]) as made:
                made["numbers"] = [1, 2, 3]
        elif command == "open":
            file = opened(*words)
        elif file is not None:
            file.close()
            file = None
    except Exception as why:
        answer = f"{type(why).__name__}: {why}".replace("\n", " ")
    print(f"= {answer}", flush=True)
