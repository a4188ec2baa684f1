"""Sparse datasets to and from sparse arrays of other packages."""

import hyperslab
import numpy as np
import pytest

scipy_sparse = pytest.importorskip("scipy.sparse")

FORMATS = ["csr", "csc", "coo", "bsr", "dia"]
DTYPES = ["i1", "u4", "i8", "f4", "f8", "c8", "c16", "?"]


@pytest.fixture
def file(tmp_path):
    with hyperslab.File(tmp_path / "x.h5", "w") as file:
        yield file


def matrix(dtype, shape=(20, 30)):
    values = np.random.default_rng(7).integers(0, 5, shape)
    values[values < 3] = 0
    return (values * (1 + 2j)).astype(dtype) if np.dtype(dtype).kind == "c" else values.astype(dtype)


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("format", FORMATS)
def test_formats(file, format, kind):
    for dtype in DTYPES:
        values = matrix(dtype)
        given = getattr(scipy_sparse, f"{format}_{kind}")(values)
        made = file.create_from_scipy(dtype, given, compression="gzip", chunks=(7, 8))
        assert made.is_sparse and made.dtype == dtype and np.array_equal(made[...], values)
        assert made.defined().npoints == np.count_nonzero(values) or format == "bsr"
        for back in FORMATS:
            read = made.to_scipy(back)
            assert read.format == back and read.dtype == dtype and np.array_equal(read.toarray(), values)
            assert isinstance(read, scipy_sparse.sparray)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("shape", [(4, 5), (1, 1), (0, 5), (5, 0)])
def test_nothing_stored(file, format, shape):
    if 0 in shape and format in ("bsr", "dia"):
        pytest.skip("scipy makes none of them")
    made = file.create_from_scipy("x", scipy_sparse.coo_array(shape, dtype="f4").asformat(format))
    assert made.shape == shape and made.defined().npoints == 0 and made.to_scipy(format).shape == shape
    assert made.to_scipy().nnz == 0


def test_zeros_are_kept(file):
    given = scipy_sparse.coo_array(([0.0, 2.0, 0.0], ([0, 1, 2], [3, 0, 2])), shape=(3, 4))
    for format in ["coo", "csr", "csc"]:
        made = file.create_from_scipy(format, given.asformat(format))
        assert made.defined().npoints == 3
        read = made.to_scipy(format)
        assert read.nnz == 3 and sorted(read.data.tolist()) == [0.0, 0.0, 2.0]


def test_repeats_are_added(file):
    given = scipy_sparse.coo_array(([1, 2, 4], ([1, 1, 0], [2, 2, 0])), shape=(3, 4))
    made = file.create_from_scipy("x", given)
    assert np.array_equal(made[...], given.toarray()) and given.nnz == 3
    rows = scipy_sparse.csr_array((np.array([1, 2]), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 3))
    assert file.create_from_scipy("y", rows)[0, 1] == 3 and rows.nnz == 2


@pytest.mark.parametrize("at_once", [1, 9, 40, 10_000])
def test_rows_are_written_some_at_a_time(file, monkeypatch, at_once):
    monkeypatch.setattr("hyperslab._sparse_arrays._AT_ONCE", at_once)
    given = scipy_sparse.random_array((53, 31), density=0.2, rng=np.random.default_rng(1), format="csr")
    for number, side in enumerate([1, 7, 53]):
        made = file.create_from_scipy(f"{number}", given, chunks=(side, 10))
        assert (made.to_scipy() != given).nnz == 0 and made.defined().npoints == given.nnz


def test_indices_as_scipy_has_them(file):
    made = file.create_from_scipy("x", scipy_sparse.csr_array(matrix("f8")))
    assert made.to_scipy("csr").indices.dtype == np.int32 and made.to_scipy("coo").coords[0].dtype == np.int32
    large = file.create_dataset("large", (2**40, 5), "f4", sparse=True)
    large.write_coords([(2**39, 4)], [1.5])
    read = large.to_scipy("coo")
    assert read.coords[0].dtype == np.int64 and read.coords[0].tolist() == [2**39]
    wide = file.create_from_scipy("wide", scipy_sparse.coo_array((np.ones(1), (np.array([0], "i8"), np.array([2**35], "i8"))), shape=(3, 2**36)))
    assert wide.to_scipy("csr")[0, 2**35] == 1


def test_options_and_byte_order(file):
    given = scipy_sparse.csr_array(matrix("f8"))
    made = file.create_from_scipy("x", given, dtype=">f4", fillvalue=7, maxshape=(None, None))
    assert made.dtype == ">f4" and made.maxshape == (None, None) and made[0, 0] in (7, 3, 4)
    assert np.array_equal(made.to_scipy().toarray(), given.toarray())
    dense = file.create_dataset("dense", data=np.eye(3))
    assert dense.to_scipy().nnz == 9


def test_more_dimensions(file):
    made = file.create_dataset("x", (3, 4, 5), "i4", sparse=True)
    made[1, 2, 3] = 5
    assert np.array_equal(made.to_scipy("coo").toarray(), made[...])
    given = scipy_sparse.coo_array(made[...])
    assert file.create_from_scipy("y", given).read_defined()[0].tolist() == [[1, 2, 3]]
    with pytest.raises(ValueError, match="two dimensions"):
        made.to_scipy("csr")


def test_what_scipy_cannot_hold(file):
    for dtype in ["S3", [("a", "i4")]]:
        made = file.create_dataset(str(dtype), (3, 3), dtype, sparse=True)
        with pytest.raises(TypeError, match="numbers"):
            made.to_scipy()
    half = file.create_dataset("half", (3, 3), "f2", sparse=True)
    half[1, 1] = 2
    with pytest.raises(TypeError, match="float16"):
        half.to_scipy("csr")
    for given in [np.eye(3), [[1, 2]], None]:
        with pytest.raises(TypeError, match="scipy"):
            file.create_from_scipy("x", given)
    with pytest.raises(ValueError):
        file.create_dataset("x", (3, 3), "f4", sparse=True).to_scipy("no such format")


@pytest.mark.parametrize("shape", [(9,), (4, 5), (3, 4, 5), (2, 3, 4, 2)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_pydata_sparse(file, shape, dtype):
    sparse = pytest.importorskip("sparse")
    fill = np.dtype(dtype).type(1)
    values = matrix(dtype, shape)
    given = sparse.COO.from_numpy(values, fill_value=fill)
    made = file.create_from_sparse("x", given, compression="lzf")
    assert made.dtype == dtype and made.fillvalue == fill and np.array_equal(made[...], values)
    assert made.defined().npoints == given.nnz
    read = made.to_sparse()
    assert isinstance(read, sparse.COO) and read.nnz == given.nnz and read.fill_value == fill
    assert read.dtype == dtype and np.array_equal(read.todense(), values)


def test_pydata_sparse_formats(file):
    sparse = pytest.importorskip("sparse")
    values = matrix("f8")
    for format in ["gcxs", "dok"]:
        made = file.create_from_sparse(format, sparse.asarray(values, format=format))
        assert np.array_equal(made[...], values) and made.density < 0.5
    empty = file.create_dataset("empty", (3, 0, 4), "f4", maxshape=(3, None, 4), sparse=True)
    assert empty.to_sparse().shape == (3, 0, 4)
    with pytest.raises(TypeError, match="sparse"):
        file.create_from_sparse("x", values)


def test_missing_packages(file, monkeypatch):
    made = file.create_dataset("x", (3, 3), "f4", sparse=True)
    for module, package, call in [("scipy.sparse", "scipy", made.to_scipy), ("sparse", "sparse", made.to_sparse)]:
        monkeypatch.setitem(__import__("sys").modules, module, None)
        with pytest.raises(ImportError, match=f"pip install {package}"):
            call()


@pytest.mark.parametrize("shape, format", [((9,), "CVEC"), ((4, 5), "COOR"), ((3, 4, 5), "custom")])
def test_binsparse(file, shape, format):
    made = file.create_dataset("x", shape, "c8", sparse=True, fillvalue=2j)
    made[..., 1:3] = 1 + 1j
    described = made.__binsparse_descriptor__()["binsparse"]
    arrays = made.__binsparse__()
    assert described["format"] == format and described["shape"] == list(shape) and described["version"] == "0.1"
    assert described["number_of_stored_values"] == made.defined().npoints == len(arrays["values"])
    assert described["data_types"]["values"] == "complex[float32]" and described["data_types"].keys() == arrays.keys()
    rebuilt = np.full(shape, arrays["fill_value"][0])
    rebuilt[tuple(arrays[f"indices_{dimension}"] for dimension in range(len(shape)))] = arrays["values"]
    assert np.array_equal(rebuilt, made[...]) and all(array.flags.c_contiguous for array in arrays.values())


def test_names_of_binsparse(file):
    for dtype, wanted in [("?", "bint8"), (">i2", "int16"), ("u8", "uint64"), (">f4", "float32"), ("c16", "complex[float64]")]:
        made = file.create_dataset(wanted, (3,), dtype, sparse=True)
        assert made.__binsparse_descriptor__()["binsparse"]["data_types"]["values"] == wanted
        assert made.__binsparse__()["values"].dtype == np.dtype(dtype).newbyteorder("=")


def test_no_binsparse(file):
    for dtype in ["S3", "f2", "g", [("a", "i4")]]:
        with pytest.raises(TypeError, match="numbers"):
            file.create_dataset(str(dtype), (3,), dtype, sparse=True).__binsparse__()
    with pytest.raises(TypeError, match="scalar"):
        file.create_dataset("scalar", data=3).__binsparse_descriptor__()


def test_sparse_may_be_said(file):
    given = scipy_sparse.csr_array(matrix("f8"))
    assert file.create_from_scipy("x", given, sparse=True).is_sparse
    assert file.create_from_scipy("y", scipy_sparse.coo_array([0, 1, 2]), sparse=True).defined().npoints == 2
    with pytest.raises(ValueError, match="sparse=False"):
        file.create_from_scipy("z", given, sparse=False)
    assert "z" not in file


@pytest.mark.parametrize("form", ["csr", "coo"])
def test_nothing_is_left_of_what_cannot_be_written(file, form):
    given = scipy_sparse.csr_array(matrix("f8")).asformat(form)
    given = scipy_sparse.coo_array(matrix("f8").ravel()) if form == "coo" else given
    for name in ["x", "group/x"]:
        with pytest.raises((TypeError, OSError)):
            file.create_from_scipy(name, given, dtype="S3")
        assert name not in file
        file.create_from_scipy(name, given)
        with pytest.raises(ValueError):
            file.create_from_scipy(name, given)
        assert file[name].defined().npoints


class Told:
    """An object with one form of the protocol."""

    def __init__(self, descriptor, arrays, as_tuple):
        self.descriptor, self.arrays, self.as_tuple = descriptor, arrays, as_tuple

    def __binsparse__(self):
        return (self.descriptor, self.arrays) if self.as_tuple else self.arrays

    def __binsparse_descriptor__(self):
        return self.descriptor


def described(format, shape, arrays, **more):
    types = {name: str(array.dtype) for name, array in arrays.items()}
    count = len(arrays["values"])
    return {"binsparse": {"version": "0.1", "format": format, "shape": list(shape), "number_of_stored_values": count, "data_types": types} | more}


@pytest.mark.parametrize("form", ["CSR", "CSC", "COO", "COOR", "COOC", "custom", "CVEC"])
def test_from_binsparse(file, form):
    values = matrix("f8", {"custom": (3, 4, 5), "CVEC": (40,)}.get(form, (20, 30)))
    if form in ("CSR", "CSC"):
        own = getattr(scipy_sparse, f"{form.lower()}_array")(values)
        arrays = {"pointers_to_1": own.indptr, "indices_1": own.indices, "values": own.data}
    else:
        places = np.nonzero(values)
        stored = values[places]
        places = places[::-1] if form == "COOC" else places
        arrays = {f"indices_{level}": index for level, index in enumerate(places)} | {"values": stored}
    more = {"custom": {"level": {"level_desc": "sparse", "rank": 3, "level": {"level_desc": "element"}}}} if form == "custom" else {}
    descriptor = described(form, values.shape, arrays, **more)
    ways = [Told(descriptor, arrays, True), Told(descriptor, list(arrays.values()), True), Told(descriptor, arrays, False), (descriptor, arrays)]
    for nth, given in enumerate(ways):
        made = file.create_from_binsparse(f"{nth}", given, compression="lzf")
        assert made.is_sparse and made.dtype == "f8" and np.array_equal(made[...], values)
        assert made.defined().npoints == np.count_nonzero(values)
        again = file.create_from_binsparse(f"again {nth}", made)
        assert np.array_equal(again[...], values) and again.defined().npoints == made.defined().npoints


def test_binsparse_of_other_values(file):
    made = file.create_dataset("x", (4, 5), "c8", sparse=True, fillvalue=2j)
    made[1, 2:4] = 1 + 1j
    again = file.create_from_binsparse("again", made)
    assert again.fillvalue == np.complex64(2j) and np.array_equal(again[...], made[...]) and again.dtype == "c8"
    truth = {"indices_0": np.array([1, 3]), "values": np.array([1, 0], "i1")}
    descriptor = described("CVEC", (5,), truth, data_types={"indices_0": "int64", "values": "bint8"})
    made = file.create_from_binsparse("truth", (descriptor, truth))
    assert made.dtype == "?" and made.read_defined()[1].tolist() == [True, False]
    one = {"indices_0": np.array([1, 3]), "values": np.array([7.5])}
    descriptor = described("CVEC", (5,), one, data_types={"indices_0": "int64", "values": "iso[float64]"}, number_of_stored_values=2)
    assert file.create_from_binsparse("one", (descriptor, one))[...].tolist() == [0, 7.5, 0, 7.5, 0]


def test_binsparse_that_is_wrong(file):
    arrays = {"indices_0": np.array([0, 1]), "indices_1": np.array([2, 3]), "values": np.array([1.0, 2.0])}
    for format, shape, change, words in [
        ("DCSR", (4, 5), {}, "format"),
        ("COO", (4, 5, 6), {}, "dimensions"),
        ("COO", (4, 3), {}, "out of range"),
        ("CSR", (4, 5), {}, "pointers_to_1"),
        ("CSR", (4, 5), {"pointers_to_1": np.array([0, 2, 1, 2, 2])}, "pointers_to_1"),
        ("COO", (4, 5), {"indices_0": np.array([0.0, 1.0])}, "integers"),
        ("COO", (4, 5), {"values": np.array([1.0])}, "1 values for 2"),
    ]:
        given = arrays | change
        with pytest.raises((ValueError, TypeError, IndexError), match=words):
            file.create_from_binsparse("x", (described(format, shape, given), given))
        assert "x" not in file
    with pytest.raises(ValueError, match="symmetric"):
        file.create_from_binsparse("x", (described("COO", (4, 5), arrays, structure="symmetric_lower"), arrays))
    for given in [np.eye(3), arrays, None]:
        with pytest.raises(TypeError, match="binsparse"):
            file.create_from_binsparse("x", given)
