"""Structured chunks past the filters."""

import zlib

import h5py
import numpy as np
import pytest

import hyperslab
from hyperslab import EncodedSection

RNG = np.random.default_rng(3)


@pytest.fixture
def file(tmp_path):
    with hyperslab.File(tmp_path / "x.h5", "w") as file:
        yield file


def _sparse(file, name, **options):
    return file.create_dataset(name, (60, 40), "i4", chunks=(20, 10), sparse=True, **options)


@pytest.mark.parametrize("filters", [{}, {"compression": "gzip", "shuffle": True, "fletcher32": True}, {"section_filters": {"data": "lzf"}}])
def test_chunks_go_from_one_dataset_to_another(file, filters):
    left, right = _sparse(file, "left", **filters), _sparse(file, "right", **filters)
    coords = np.unique(RNG.integers(0, (60, 40), (300, 2)), axis=0)
    left.write_coords(coords, np.arange(len(coords), dtype="i4"))
    right[:] = 7
    infos = list(left.iter_structured_chunks())
    assert [info.place for info in infos] == sorted({(row // 20, column // 10) for row, column in coords.tolist()})
    for number, info in enumerate(infos):
        assert left.structured_chunk_info(info.place) == info == left.structured_chunk_info_by_number(number)
        sections = left.read_structured_chunk(info.place)
        assert [(s.size, s.mask, s.unfiltered) for s in info.sections] == [(len(s.stored), s.mask, s.unfiltered) for s in sections]
        assert [s.offset for s in info.sections] == [0, info.sections[0].size] and info.size == sum(len(s.stored) for s in sections)
        right.write_structured_chunk(info.place, sections)
    assert left.structured_chunk_info_by_number(len(infos)) is None
    for found, expected in zip(right.read_defined(), left.read_defined(), strict=True):
        assert found.tolist() == expected.tolist()
    assert right.defined().npoints == len(coords)


def test_values_are_what_the_sections_say(file):
    made = _sparse(file, "x", section_filters={"data": "gzip", "selection": None})
    made[3, 4:7] = [1, 2, 3]
    selection, values = made.read_structured_chunk((0, 0))
    assert np.frombuffer(zlib.decompress(values.stored), "<i4").tolist() == [1, 2, 3]
    raw = np.array([5, 6, 7], "<i4")
    # A tuple does for a section, and an array for bytes: the mask says that gzip was left out.
    made.write_structured_chunk([0, 1], [selection, (raw, 1)])
    assert made[3, 14:17].tolist() == [5, 6, 7]
    made.write_structured_chunk((0, 1), [selection, EncodedSection(zlib.compress(raw.tobytes()), unfiltered=12)])
    assert made[3, 13:18].tolist() == [0, 5, 6, 7, 0]
    assert made.read_structured_chunk((2, 3)) is None and made.structured_chunk_info((2, 3)) is None


def test_texts_in_dense_chunks(file):
    made = file.create_dataset("x", (9,), h5py.string_dtype(), chunks=(4,), structured="vlen")
    made[:4] = ["a", "bc", "", "def"]
    chunk = made.read_structured_chunk((0,))
    assert len(chunk) == 2
    made.write_structured_chunk((1,), chunk)
    assert made.asstr()[:].tolist() == ["a", "bc", "", "def"] * 2 + [""]


def test_what_is_wrong_is_refused(file, tmp_path):
    made = _sparse(file, "x")
    made[0, 0] = 1
    selection, values = made.read_structured_chunk((0, 0))
    spoiled = selection._replace(stored=bytes([selection.stored[0] ^ 1]) + selection.stored[1:])
    for sections in [[], [selection], [spoiled, values], [selection, values, values], [selection, values._replace(mask=1)], [selection, values._replace(unfiltered=5)]]:
        with pytest.raises((OSError, ValueError)):
            made.write_structured_chunk((0, 0), sections)
    for place in [(3, 0), (0,), (0, 0, 0)]:
        with pytest.raises((OSError, ValueError)):
            made.write_structured_chunk(place, [selection, values])
    assert made[0, 0] == 1 and made.defined().npoints == 1
    dense = file.create_dataset("dense", (10,), "i4", chunks=(5,))
    for call in [
        lambda: dense.read_structured_chunk((0,)),
        lambda: dense.structured_chunk_info((0,)),
        lambda: list(dense.iter_structured_chunks()),
        lambda: dense.write_structured_chunk((0,), [selection, values]),
    ]:
        with pytest.raises(ValueError, match="read_chunk and write_chunk"):
            call()
    with pytest.raises((OSError, ValueError), match="read_structured_chunk"):
        made.id.read_direct_chunk((0, 0))
    file.close()
    with hyperslab.File(tmp_path / "x.h5") as file, pytest.raises(OSError, match="no write intent"):
        file["x"].write_structured_chunk((0, 0), [selection, values])
