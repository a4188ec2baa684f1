"""The filters of the sections of sparse chunks."""

import hyperslab
import numpy as np
import pytest


@pytest.fixture
def file(tmp_path):
    with hyperslab.File(tmp_path / "x.h5", "w") as file:
        yield file


def names(dataset):
    return {section: [number for number, _, _ in filters] for section, filters in dataset.section_filters.items()}


@pytest.mark.parametrize(
    "given, wanted",
    [
        (None, []),
        ([], []),
        ("gzip", [1]),
        (True, [1]),
        (6, [1]),
        (("gzip", 6), [1]),
        ("lzf", [32000]),
        (["shuffle", ("gzip", 6), "fletcher32"], [2, 1, 3]),
        ({"compression": "gzip", "compression_opts": 6, "shuffle": True}, [2, 1]),
        ({"compression": 6}, [1]),
        ({"fletcher32": True}, [3]),
        ({}, []),
    ],
)
def test_forms_of_section_filters(file, given, wanted):
    for section, other in [("selection", "data"), ("data", "selection")]:
        made = file.create_dataset(section, (100, 100), "i4", sparse=True, compression="lzf", section_filters={section: given})
        # Differences and shuffle come before a compressor of which nothing is said for the selection.
        assert names(made) == {section: wanted, other: [33001, 2, 32000] if other == "selection" else [32000]}
        made[5:20, ::7] = np.arange(15 * 15).reshape(15, 15)
        if given in (6, ("gzip", 6)):
            assert made.section_filters[section][0][1] == (6,)
        file.flush()
        assert file[section][5:20, ::7].tolist() == np.arange(15 * 15).reshape(15, 15).tolist()


def test_filters_of_values(file):
    made = file.create_dataset("x", (1000,), "i4", sparse=True, section_filters={"selection": "lzf", "data": ("scaleoffset", 4)})
    assert names(made) == {"selection": [32000], "data": [6]} and made.scaleoffset == 4 and made.compression is None
    made = file.create_dataset("y", (1000,), "i4", sparse=True, compression="szip", shuffle=True)
    assert names(made) == {"selection": [2], "data": [2, 4]} and made.compression == "szip" and made.shuffle
    made = file.create_dataset("z", (1000,), "i4", sparse=True, compression="gzip", compression_opts=7)
    assert (made.compression, made.compression_opts) == ("gzip", 7)


@pytest.mark.parametrize(
    "given, error",
    [
        ({"values": "gzip"}, ValueError),
        ("gzip", TypeError),
        ({"data": "zip"}, ValueError),
        ({"data": ("gzip", 11)}, ValueError),
        ({"data": 12345}, ValueError),
        ({"data": {"level": 3}}, TypeError),
        ({"selection": "szip"}, ValueError),
        ({"selection": "scaleoffset"}, ValueError),
    ],
)
def test_wrong_section_filters(file, given, error):
    with pytest.raises(error):
        file.create_dataset("x", (100,), "i4", sparse=True, section_filters=given)
    assert "x" not in file
