"""Makes a small file that shows much of what HDF5 can hold: a run of an imagined detector.

`cargo xtask sample` runs it. The tests of the command line use its result, kept beside them.
"""

import sys

import h5py
import numpy as np

FRAMES, SIZE = 12, 64


def images():
    """A bright spot that moves over a faint slope."""
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    spots = [np.exp(-((x - 8 - 4.2 * n) ** 2 + (y - 32) ** 2) / 60.0) for n in range(FRAMES)]
    return np.array([(900 * spot + (x + y) // 8).astype("u2") for spot in spots])


def detector(file):
    group = file.create_group("detector", track_order=True)
    group.attrs["name"] = "front"
    data = images()
    stored = group.create_dataset(
        "images", data=data, chunks=(1, SIZE, SIZE), maxshape=(None, SIZE, SIZE), shuffle=True, compression="gzip", compression_opts=6
    )
    stored.attrs["units"] = "counts"
    stored.attrs["exposure"] = np.full(FRAMES, 0.25, "f4")
    group.create_dataset("mask", data=data.max(axis=0) > 600, chunks=(16, 16), compression="lzf")
    group["temperature"] = np.round(np.linspace(289.5, 291.0, FRAMES), 2)
    group["temperature"].attrs["units"] = "K"
    return data


def events(file, data):
    state = h5py.enum_dtype({"OFF": 0, "WARM": 1, "READY": 2}, basetype="u1")
    record = np.dtype([("time", "f8"), ("peak", "<u2"), ("at", "<u2", (2,)), ("state", state), ("note", h5py.string_dtype())])
    rows = []
    for n in range(0, FRAMES, 3):
        at = np.unravel_index(data[n].argmax(), data[n].shape)
        rows.append((0.25 * n, data[n].max(), at, min(n // 3, 2), "first light" if n == 0 else ""))
    file.create_dataset("events", data=np.array(rows, record), chunks=(4,), maxshape=(None,))
    file["event_type"] = record
    file["log"] = np.array(["shutter open", "beam at 12.4 keV", "shutter closed", "fin – 12 images"], h5py.string_dtype())


def references(file):
    images = file["detector/images"]
    regions = [images.regionref[0, 30:34, 6:10], images.regionref[::5, 32, :]]
    file.create_dataset("regions_of_interest", data=np.array(regions, h5py.regionref_dtype))
    file.attrs["default"] = images.ref


def mosaic(file):
    """Every second image, without a copy."""
    source = h5py.VirtualSource(file["detector/images"])
    layout = h5py.VirtualLayout((FRAMES // 2, SIZE, SIZE), "u2")
    layout[:] = source[::2]
    file.create_virtual_dataset("mosaic", layout)


def main(path):
    with h5py.File(path, "w", libver=("v108", "v110")) as file:
        file.attrs["title"] = "A spot crosses the detector"
        file.attrs["run"] = 42
        data = detector(file)
        events(file, data)
        file["favourite"] = file["detector/images"]
        file["latest"] = h5py.SoftLink("/detector/images")
        file["previous"] = h5py.SoftLink("/runs/41")
        file["raw"] = h5py.ExternalLink("raw.h5", "/frames")
        references(file)
        mosaic(file)


main(sys.argv[1])
