"""How many links and attributes each object of a file has, as libhdf5 counts them; and a few more of both, or fewer."""

import json
import sys

import h5py


def main():
    path, change = sys.argv[1:]
    with h5py.File(path, "r+", libver="latest") as f:
        groups = [f[name] for name in f]
        for group in groups if change == "change" else []:
            for name in list(group)[::3]:
                del group[name]
            group["theirs"] = h5py.SoftLink("/nowhere")
            for name in list(group.attrs)[::4]:
                del group.attrs[name]
            group.attrs["theirs"] = 1
        print(json.dumps({group.name[1:]: [group.id.get_num_objs(), len(group.attrs)] for group in groups}))


main()
