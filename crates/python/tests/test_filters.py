"""Filters of `hdf5plugin`: parameters as h5py's, sizes about as h5py's, and each side reads what the other wrote."""

import h5py
import hdf5plugin
import hyperslab
import numpy as np
import pytest

RANDOM = np.random.default_rng(1)


def counts(shape):
    """A counting detector: few counts, and peaks."""
    values = RANDOM.poisson(4, shape)
    values.flat[::97] += RANDOM.integers(100, 4000, values.flat[::97].shape)
    return values.astype("u2")


def field(shape):
    """Smooth values with noise in the last digits."""
    values = np.sin(np.arange(np.prod(shape)) / 300).reshape(shape) * 40
    return (np.round(values + RANDOM.normal(0, 0.01, shape), 2)).astype("f4")


def events(shape):
    """A compound."""
    values = np.zeros(shape, [("time", "f8"), ("peak", "u2"), ("at", "u2", (2,))])
    values["time"] = np.arange(np.prod(shape)).reshape(shape) * 0.25
    values["peak"] = counts(shape)
    return values


VALUES = {
    "u16 in one dimension": counts((1 << 17,)),
    "u16 images": counts((2, 200, 300)),
    "f32": field((400, 256)),
    "i64": RANDOM.integers(-9, 9, (40, 1000)).cumsum(axis=1),
    "compound": events((3000,)),
    "array": np.zeros((60, 50), [("of", "f4", (3,))])["of"],
    "text": np.array([b"some words"] * 500 + [b"others"] * 400, "S300"),
    "few": np.arange(5, dtype="u2"),
}

FILTERS = [
    *[hdf5plugin.Bitshuffle(nelems=nelems, cname=cname) for nelems in (0, 64) for cname in ("none", "lz4", "zstd")],
    hdf5plugin.Bitshuffle(cname="zstd", clevel=9),
    *[
        hdf5plugin.Blosc(cname=cname, clevel=clevel, shuffle=shuffle)
        for cname in ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
        for clevel, shuffle in [(0, 1), (1, 1), (5, 1), (9, 1), (5, 0), (5, 2)]
    ],
    *[
        hdf5plugin.Blosc2(cname=cname, clevel=clevel, filters=filters)
        for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
        for clevel, filters in [(0, 1), (1, 1), (5, 1), (9, 1), (5, 0), (5, 2), (5, 3), (5, 4)]
    ],
    hdf5plugin.BZip2(),
    hdf5plugin.BZip2(blocksize=1),
    hdf5plugin.LZ4(),
    hdf5plugin.LZ4(nbytes=4096),
    hdf5plugin.Zstd(),
    hdf5plugin.Zstd(clevel=19),
]


#: All that each keyword may say, for [`test_every_keyword`].
KEYWORDS = [
    *[hdf5plugin.Bitshuffle(nelems=nelems, cname=cname) for nelems in (0, 8, 64, 1024) for cname in ("none", "lz4")],
    *[hdf5plugin.Bitshuffle(nelems=nelems, cname="zstd") for nelems in (8, 64, 1024)],
    *[hdf5plugin.Bitshuffle(cname="zstd", clevel=clevel) for clevel in range(23)],
    hdf5plugin.Bitshuffle(lz4=True),
    *[
        hdf5plugin.Blosc(cname=cname, clevel=clevel, shuffle=shuffle)
        for cname in ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
        for clevel in range(10)
        for shuffle in range(3)
    ],
    *[
        hdf5plugin.Blosc2(cname=cname, clevel=clevel, filters=filters)
        for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
        for clevel in range(10)
        for filters in range(5)
    ],
    *[hdf5plugin.BZip2(blocksize=blocksize) for blocksize in range(1, 10)],
    *[hdf5plugin.LZ4(nbytes=nbytes) for nbytes in (0, 1000, 4096, 1 << 20)],
    *[hdf5plugin.Zstd(clevel=clevel) for clevel in (-131072, -1000, -50, -7, -1, *range(23))],
]

#: Codecs of hdf5plugin that are not ours.
OTHERS = [
    hdf5plugin.FciDecomp(),
    hdf5plugin.Htj2k(),
    hdf5plugin.Sperr(rate=4),
    hdf5plugin.SZ(absolute=0.1),
    hdf5plugin.SZ3(absolute=0.1),
    hdf5plugin.Zfp(),
]

def facts(dataset):
    """Filters with their parameters, and the stored bytes."""
    plist = dataset.id.get_create_plist()
    filters = [plist.get_filter(index)[:3] for index in range(plist.get_nfilters())]
    return filters, dataset.id.get_storage_size()


def label(options):
    return f"{type(options).__name__} {options.filter_options}"


@pytest.mark.parametrize("options", FILTERS, ids=label)
def test_as_hdf5plugin(options, tmp_path):
    ours, theirs = tmp_path / "ours.h5", tmp_path / "theirs.h5"
    for library, path in ((hyperslab, ours), (h5py, theirs)):
        with library.File(path, "w") as file:
            for name, values in VALUES.items():
                file.create_dataset(name, data=values, chunks=values.shape, **options)
    with h5py.File(ours) as by_us, h5py.File(theirs) as by_them, hyperslab.File(theirs) as read_by_us:
        for name, values in VALUES.items():
            (filters, size), (expected, usual) = facts(by_us[name]), facts(by_them[name])
            assert filters == expected, name
            assert size <= usual * 1.02 + 64, name
            np.testing.assert_array_equal(by_us[name][...], values)
            np.testing.assert_array_equal(read_by_us[name][...], values)


def test_every_keyword(tmp_path):
    """Parameters, sizes and values, with every value of every keyword."""
    chunks = {"counts": counts((110, 200)), "field": field((3, 60, 90))}
    differ = []
    for options in KEYWORDS:
        for library in (hyperslab, h5py):
            with library.File(tmp_path / f"{library.__name__}.h5", "w") as file:
                for name, values in chunks.items():
                    file.create_dataset(name, data=values, chunks=values.shape, **options)
        with h5py.File(tmp_path / "hyperslab.h5") as ours, h5py.File(tmp_path / "h5py.h5") as theirs:
            for name, values in chunks.items():
                (filters, size), (expected, usual) = facts(ours[name]), facts(theirs[name])
                if filters != expected or size > usual * 1.02 + 64 or not np.array_equal(ours[name][...], values):
                    differ.append((options, name, filters, expected, size, usual))
    assert differ == []


@pytest.mark.parametrize("rank", [8, 9, 16, 17])
def test_blosc2_in_many_dimensions(rank, tmp_path):
    values, stored = np.arange(1 << rank, dtype="u2").reshape((2,) * rank), {}
    for library, other in ((hyperslab, h5py), (h5py, hyperslab)):
        path = tmp_path / f"{library.__name__}.h5"
        with library.File(path, "w") as file:
            file.create_dataset("values", data=values, chunks=values.shape, **hdf5plugin.Blosc2(cname="zstd"))
        with other.File(path) as file:
            np.testing.assert_array_equal(file["values"][...], values)
        with h5py.File(path) as file:
            stored[library] = facts(file["values"])
    assert stored[hyperslab] == stored[h5py]


@pytest.mark.parametrize("options", OTHERS, ids=label)
def test_codecs_that_are_not_ours_are_refused(options, tmp_path):
    with h5py.File(tmp_path / "theirs.h5", "w") as file:
        values = np.zeros((64, 64), "u2" if isinstance(options, (hdf5plugin.FciDecomp, hdf5plugin.Htj2k)) else "f4")
        file.create_dataset("values", data=values, **options)
    with hyperslab.File(tmp_path / "theirs.h5") as file, pytest.raises(OSError, match=str(options.filter_id)):
        file["values"][...]
    with hyperslab.File(tmp_path / "ours.h5", "w") as file, pytest.raises((OSError, ValueError), match=str(options.filter_id)):
        file.create_dataset("values", data=values, **options)


@pytest.mark.parametrize("number", [32000, 32001, 32004, 32008, 32015, 32026, 307])
def test_by_number_alone(number, tmp_path):
    for library in (hyperslab, h5py):
        with library.File(tmp_path / f"{library.__name__}.h5", "w") as file:
            file.create_dataset("values", data=VALUES["f32"], compression=number)
    with h5py.File(tmp_path / "hyperslab.h5") as ours, h5py.File(tmp_path / "h5py.h5") as theirs:
        assert facts(ours["values"])[0] == facts(theirs["values"])[0]
        np.testing.assert_array_equal(ours["values"][...], VALUES["f32"])


@pytest.mark.parametrize(
    ("number", "parameters"), [(32008, (3, 2)), (32008, (0, 7)), (32001, (0, 0, 0, 0, 5, 1, 9)), (307, (0,)), (32020, (7, 2, 1))]
)
def test_parameters_that_never_work_are_refused(number, parameters, tmp_path):
    with hyperslab.File(tmp_path / "ours.h5", "w") as file, pytest.raises((ValueError, OSError)):
        file.create_dataset("values", data=VALUES["f32"], compression=number, compression_opts=parameters)


def test_vbz(tmp_path):
    signal = RANDOM.integers(-20, 20, 60_000).cumsum().astype("i2")
    with hyperslab.File(tmp_path / "signal.h5", "w") as file:
        for version in (0, 1):
            file.create_dataset(str(version), data=signal, compression=32020, compression_opts=(version, 2, 1, 1))
        file.create_dataset("completed", data=signal, compression=32020)
    with hyperslab.File(tmp_path / "signal.h5") as file:
        for dataset in file.values():
            np.testing.assert_array_equal(dataset[...], signal)
            assert dataset.id.get_storage_size() < signal.nbytes * 0.6
