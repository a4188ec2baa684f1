"""Makes weather.h5, the small file that the examples of the documentation read.

usage: make.py [FILE]        with h5py and numpy, from the folder of this script
"""

import sys

import h5py
import numpy as np

name = sys.argv[1] if len(sys.argv) > 1 else "weather.h5"
with h5py.File(name, "w", libver=("earliest", "v110")) as file:
    rows = np.array([11.5, 21.5, 31.5], "f4")[:, None] + np.arange(4, dtype="f4") / 2
    temperature = file.create_dataset("temperature", data=rows, chunks=(2, 2), compression="gzip")
    temperature.attrs["units"] = "degree Celsius"
    temperature.attrs["range"] = np.array([-40, 60], "i2")
    temperature.attrs["calibrated"] = np.bool_(True)
    file["height"] = np.float64(408)
    file.attrs["title"] = "A small example"

    station = file.create_group("station", track_order=True)
    names = np.array(["Zürich", "Bern", "Genève"], object)
    station.create_dataset("name", data=names, dtype=h5py.string_dtype())
    station["code"] = np.array([b"ZRH", b"BRN", b"GVA"])
    station["active"] = np.array([True, False, True])
    sky = h5py.enum_dtype({"CLEAR": 0, "CLOUDY": 1, "RAIN": 7}, basetype="u1")
    station.create_dataset("sky", data=np.array([7, 0, 1], "u1"), dtype=sky)
    lists = station.create_dataset("visits", (3,), dtype=h5py.vlen_dtype("i4"))
    lists[0], lists[2] = [2019, 2021], [2020]

    reading = np.dtype([("time", "<i8"), ("wind", "<f4", (2,)), ("note", h5py.string_dtype()), ("sky", sky)])
    values = np.array([(1700000000, (1.5, -2.0), "calm", 0), (1700003600, (8.0, 3.0), "gusts", 7)], reading)
    file.create_dataset("reading", data=values)
    file["station/first"] = h5py.SoftLink("/station/name")
