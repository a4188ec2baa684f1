//! The NumPy dtype of a stored datatype, chosen and marked as h5py does it.

use hyperslab::dtype::{Charset, Class, Compound, Datatype, Enum, Float, Member, Order, Reference as Referent, Vlen};
use numpy::PyArrayDescr;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple, PyType};

use crate::reference::{PyReference, PyRegionReference};

pub(crate) type Dtype<'py> = Bound<'py, PyArrayDescr>;

/// The dtype whose values hold what the stored ones do.
pub(crate) fn dtype_of<'py>(py: Python<'py>, datatype: &Datatype) -> PyResult<Dtype<'py>> {
    let size = datatype.size();
    match datatype.class() {
        Class::Fixed(fixed) => integer(py, size, fixed.bits.order, fixed.signed),
        Class::Bitfield(bits) => integer(py, size, bits.order, false),
        Class::Float(float) => plain(py, float_name(size, float)?),
        Class::Complex(base) => plain(py, complex_name(base)?),
        Class::String(_, charset) => marked(py, format!("S{size}"), "h5py_encoding", encoding(*charset)),
        Class::Opaque(tag) => opaque(py, size, tag),
        Class::Compound(compound) => structure(py, size_in_memory(datatype), compound),
        Class::Reference(Referent::Region) => marked(py, "O", "ref", py.get_type::<PyRegionReference>()),
        Class::Reference(_) => marked(py, "O", "ref", py.get_type::<PyReference>()),
        Class::Enum(names) => enumeration(py, names),
        Class::Array(array) => {
            let dims = PyTuple::new(py, array.dims())?;
            plain(py, (dtype_of(py, array.base())?, dims))
        }
        Class::Vlen(vlen) => match vlen.text {
            Some((_, Charset::Utf8)) => marked(py, "O", "vlen", py.get_type::<PyString>()),
            Some((_, Charset::Ascii)) => marked(py, "O", "vlen", py.get_type::<PyBytes>()),
            None => marked(py, "O", "vlen", dtype_of(py, &vlen.base)?),
        },
        Class::Time(_) => Err(no_equivalent(datatype)),
    }
}

fn no_equivalent(datatype: &Datatype) -> PyErr {
    PyTypeError::new_err(format!("No NumPy equivalent for {datatype} exists"))
}

/// `numpy.dtype(description)`.
fn plain<'py>(py: Python<'py>, description: impl IntoPyObject<'py>) -> PyResult<Dtype<'py>> {
    PyArrayDescr::new(py, description)
}

/// `numpy.dtype(description, metadata={key: value})`.
fn marked<'py>(
    py: Python<'py>,
    description: impl IntoPyObject<'py>,
    key: &str,
    value: impl IntoPyObject<'py>,
) -> PyResult<Dtype<'py>> {
    let metadata = PyDict::new(py);
    metadata.set_item(key, value)?;
    let arguments = PyDict::new(py);
    arguments.set_item("metadata", metadata)?;
    let dtype = py.import("numpy")?.getattr("dtype")?;
    Ok(dtype.call((description,), Some(&arguments))?.cast_into()?)
}

fn encoding(charset: Charset) -> &'static str {
    match charset {
        Charset::Ascii => "ascii",
        Charset::Utf8 => "utf-8",
    }
}

fn order_sign(order: Order) -> char {
    if order == Order::Big { '>' } else { '<' }
}

fn integer<'py>(py: Python<'py>, size: usize, order: Order, signed: bool) -> PyResult<Dtype<'py>> {
    plain(py, format!("{}{}{size}", order_sign(order), if signed { 'i' } else { 'u' }))
}

/// NumPy's formats: size in bytes, bits of the mantissa that h5py counts, and the exponents.
const FORMATS: [(usize, u64, i128, i128); 4] =
    [(2, 10, 16, -14), (4, 23, 128, -126), (8, 52, 1024, -1022), (16, LONG_MANTISSA, 16384, -16382)];

/// Where `long double` is that of the x87, its leading one is stored; elsewhere it has IEEE's quadruple precision.
const LONG_MANTISSA: u64 = if cfg!(any(target_arch = "x86_64", target_arch = "x86")) { 64 } else { 112 };

/// The smallest of NumPy's formats that holds every value.
fn float_name(size: usize, float: &Float) -> PyResult<String> {
    let exponents = 1i128.checked_shl(u32::from(float.exponent.size).min(100)).unwrap_or(i128::MAX);
    let (high, low) = (exponents - i128::from(float.bias) - 1, 1 - i128::from(float.bias));
    let holds = |&&(bytes, mantissa, most, least): &&(usize, u64, i128, i128)| {
        bytes >= size && u64::from(float.mantissa.size) <= mantissa && high <= most && low >= least
    };
    let found = FORMATS.iter().find(holds);
    let none = || PyTypeError::new_err("Insufficient precision in available types to represent a stored float");
    let (bytes, ..) = found.ok_or_else(none)?;
    Ok(format!("{}f{bytes}", order_sign(float.bits.order)))
}

fn complex_name(base: &Datatype) -> PyResult<String> {
    match (base.class(), base.size()) {
        (Class::Float(float), size @ (4 | 8 | 16)) => Ok(format!("{}c{}", order_sign(float.bits.order), 2 * size)),
        _ => Err(no_equivalent(base)),
    }
}

/// What h5py stores with its own tag comes back as it was.
fn opaque<'py>(py: Python<'py>, size: usize, tag: &[u8]) -> PyResult<Dtype<'py>> {
    match tag.strip_prefix(b"NUMPY:") {
        Some(name) => marked(py, String::from_utf8_lossy(name).into_owned(), "h5py_opaque", true),
        None => plain(py, format!("V{size}")),
    }
}

fn structure<'py>(py: Python<'py>, size: usize, compound: &Compound) -> PyResult<Dtype<'py>> {
    let (names, formats, offsets) = (PyList::empty(py), PyList::empty(py), PyList::empty(py));
    for (member, offset) in placed(compound) {
        names.append(
            std::str::from_utf8(member.name.as_bytes())
                .map_err(|why| PyTypeError::new_err(format!("the name of a field is not UTF-8: {why}")))?,
        )?;
        formats.append(dtype_of(py, &member.datatype)?)?;
        offsets.append(offset)?;
    }
    if let Some(name) = complex_pair(compound) {
        return plain(py, name);
    }
    let description = PyDict::new(py);
    description.set_item("names", names)?;
    description.set_item("formats", formats)?;
    description.set_item("offsets", offsets)?;
    description.set_item("itemsize", size)?;
    plain(py, description)
}

/// The size that libhdf5 gives a value in memory, which is where h5py takes it from: a variable-length string is a pointer there, a
/// sequence a pointer and a length.
fn size_in_memory(datatype: &Datatype) -> usize {
    match datatype.class() {
        Class::Vlen(Vlen { text: Some(_), .. }) | Class::Reference(Referent::Object) => 8,
        Class::Vlen(_) => 16,
        Class::Reference(Referent::Region) => 12,
        Class::Reference(Referent::Revised(_)) => 64,
        Class::Array(array) => array.elements().saturating_mul(size_in_memory(array.base())),
        Class::Compound(compound) => {
            let stored: usize = compound.members().iter().map(|member| member.datatype.size()).sum();
            let changed: usize = compound.members().iter().map(|member| size_in_memory(&member.datatype)).sum();
            (datatype.size() + changed).saturating_sub(stored)
        }
        _ => datatype.size(),
    }
}

/// Where members are in memory. Where sizes change, members stand in the order of their offsets, and those behind move.
fn placed(compound: &Compound) -> Vec<(&Member, usize)> {
    let mut members: Vec<_> = compound.members().iter().map(|member| (member, member.offset as usize)).collect();
    if members.iter().any(|(member, _)| member.datatype.has_vlen() || member.datatype.has_reference()) {
        members.sort_by_key(|(_, offset)| *offset);
        let (mut grown, mut shrunk) = (0, 0);
        for (member, offset) in &mut members {
            *offset = (*offset + grown).saturating_sub(shrunk);
            grown += size_in_memory(&member.datatype);
            shrunk += member.datatype.size();
        }
    }
    members
}

/// What h5py takes for a complex number: fields `r` and `i` of one floating-point type.
pub(crate) fn complex_pair(compound: &Compound) -> Option<String> {
    let [real, imaginary] = compound.members() else { return None };
    let name = |datatype: &Datatype| match datatype.class() {
        Class::Float(float) => float_name(datatype.size(), float).ok(),
        _ => None,
    };
    let format = name(&real.datatype)?;
    let bytes: usize = format.get(2..)?.parse().ok()?;
    let pair = real.name.as_bytes() == b"r" && imaginary.name.as_bytes() == b"i";
    (pair && name(&imaginary.datatype)? == format && bytes >= 4)
        .then(|| format!("{}c{}", format.get(..1).unwrap_or("<"), 2 * bytes))
}

/// Whether an enumeration is h5py's truth values.
pub(crate) fn is_boolean(names: &Enum) -> bool {
    let values: Vec<_> = names.values().map(|(name, value)| (name.as_bytes(), value)).collect();
    values.len() == 2 && values.contains(&(b"FALSE", Some(0))) && values.contains(&(b"TRUE", Some(1)))
}

fn enumeration<'py>(py: Python<'py>, names: &Enum) -> PyResult<Dtype<'py>> {
    if is_boolean(names) {
        return plain(py, "?");
    }
    let members = PyDict::new(py);
    for (name, value) in names.values() {
        let value = value.ok_or_else(|| no_equivalent(names.base()))?;
        match std::str::from_utf8(name.as_bytes()) {
            Ok(name) => members.set_item(name, value)?,
            Err(_) => members.set_item(PyBytes::new(py, name.as_bytes()), value)?,
        }
    }
    marked(py, dtype_of(py, names.base())?, "enum", members)
}

/// The value of a key of the dtype's metadata.
pub(crate) fn mark<'py>(dtype: &Dtype<'py>, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let metadata = dtype.getattr("metadata")?;
    if metadata.is_none() {
        return Ok(None);
    }
    let value = metadata.call_method1("get", (key,))?;
    Ok((!value.is_none()).then_some(value))
}

/// Whether a mark is this type.
pub(crate) fn is_type<T: pyo3::PyTypeInfo>(mark: &Bound<'_, PyAny>) -> bool {
    mark.cast::<PyType>().is_ok_and(|class| class.is(T::type_object(mark.py())))
}
