//! The datatype that values of a NumPy dtype are stored as, chosen as h5py does it.

use hyperslab::dtype::{Charset, Datatype, Float, Order, Padding, Reference as Referent};
use hyperslab::{NamedDatatype, Node};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::engine::engine;
use crate::error::of_type;
use crate::handles::ObjectHandle;
use crate::names::name_bytes;
use crate::numpy_type::{Dtype, is_type, mark};
use crate::reference::{PyReference, PyRegionReference};

/// What values shall be stored as: a type of their own, or one that has a name in the file.
pub(crate) enum StoredType {
    Own(Datatype),
    Committed(NamedDatatype),
}

impl StoredType {
    /// From a dtype or the handle of a named datatype.
    pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<StoredType> {
        if let Ok(object) = given.cast::<ObjectHandle>() {
            return match &object.get().node {
                Node::Datatype(named) => Ok(StoredType::Committed(named.clone())),
                other => Err(PyTypeError::new_err(format!("a {} is no datatype", other.kind()))),
            };
        }
        Ok(StoredType::Own(stored_type(given.cast::<PyArrayDescr>()?)?))
    }

    pub(crate) fn datatype(&self, py: Python<'_>) -> PyResult<Datatype> {
        match self {
            StoredType::Own(datatype) => Ok(datatype.clone()),
            StoredType::Committed(named) => engine(py, || named.datatype()),
        }
    }
}

/// The datatype for values of a dtype.
pub(crate) fn stored_type(dtype: &Dtype<'_>) -> PyResult<Datatype> {
    let size = u32::try_from(dtype.itemsize()).map_err(|_| refuse(dtype))?;
    let order = order(dtype);
    if mark(dtype, "h5py_opaque")?.is_some() {
        let name: String = dtype.getattr("str")?.extract()?;
        return Datatype::opaque(size, format!("NUMPY:{name}")).map_err(of_type);
    }
    let made = match dtype.kind() {
        kind @ (b'i' | b'u') => {
            let base = Datatype::integer(size, kind == b'i', order).map_err(of_type)?;
            match mark(dtype, "enum")? {
                Some(names) => return enumeration(base, &names),
                None => Ok(base),
            }
        }
        b'f' => return float(size, order).ok_or_else(|| refuse(dtype)),
        b'c' => {
            let part = float(size / 2, order).ok_or_else(|| refuse(dtype))?;
            Datatype::compound([("r", part.clone()), ("i", part)])
        }
        b'b' => Ok(Datatype::of::<bool>()),
        b'S' => {
            let utf8 =
                mark(dtype, "h5py_encoding")?.is_some_and(|name| name.extract::<&str>().is_ok_and(|n| n == "utf-8"));
            let charset = if utf8 { Charset::Utf8 } else { Charset::Ascii };
            Datatype::string(size.max(1), Padding::NullPad, charset)
        }
        b'T' => Ok(Datatype::var_string(Charset::Utf8)),
        b'O' => return object(dtype),
        b'V' if dtype.has_fields() => return structure(dtype, size),
        b'V' if dtype.has_subarray() => {
            let dims = dtype.shape().into_iter().map(|dim| u32::try_from(dim).map_err(|_| refuse(dtype)));
            Datatype::array(stored_type(&dtype.base())?, &dims.collect::<PyResult<Vec<u32>>>()?)
        }
        b'V' => Datatype::opaque(size, []),
        _ => return Err(refuse(dtype)),
    };
    made.map_err(of_type)
}

fn refuse(dtype: &Dtype<'_>) -> PyErr {
    PyTypeError::new_err(format!("No conversion path for dtype: {dtype:?}"))
}

fn order(dtype: &Dtype<'_>) -> Order {
    match dtype.byteorder() {
        b'>' => Order::Big,
        b'<' => Order::Little,
        _ => Order::NATIVE,
    }
}

fn enumeration(base: Datatype, names: &Bound<'_, PyAny>) -> PyResult<Datatype> {
    let mut members = Vec::new();
    // A copy: to convert a value may run code that changes the dict.
    for (name, value) in names.cast::<PyDict>()?.copy()?.iter() {
        members.push((name_bytes(&name)?, value.extract::<i128>()?));
    }
    Datatype::enumeration(base, members).map_err(|why| PyValueError::new_err(why.to_string()))
}

/// Python objects, by what their mark says.
fn object(dtype: &Dtype<'_>) -> PyResult<Datatype> {
    let py = dtype.py();
    if let Some(class) = mark(dtype, "ref")? {
        let made = if is_type::<PyRegionReference>(&class) {
            Datatype::reference(12, Referent::Region)
        } else if is_type::<PyReference>(&class) {
            Datatype::reference(8, Referent::Object)
        } else {
            return Err(refuse(dtype));
        };
        return made.map_err(of_type);
    }
    let Some(sequence) = mark(dtype, "vlen")? else {
        return Err(PyTypeError::new_err(format!("Object dtype {dtype:?} has no native HDF5 equivalent")));
    };
    if is_type::<PyString>(&sequence) {
        return Ok(Datatype::var_string(Charset::Utf8));
    }
    if is_type::<PyBytes>(&sequence) {
        return Ok(Datatype::var_string(Charset::Ascii));
    }
    Datatype::vlen(stored_type(&PyArrayDescr::new(py, sequence)?)?).map_err(of_type)
}

/// Members keep their order and stay where NumPy has them. Where some have another size in the file, or bytes in common, they follow each other
/// in the order of their offsets.
fn structure(dtype: &Dtype<'_>, size: u32) -> PyResult<Datatype> {
    let mut members = Vec::new();
    for name in dtype.names().unwrap_or_default() {
        let (field, offset) = dtype.get_field(&name)?;
        let offset = u32::try_from(offset).map_err(|_| refuse(dtype))?;
        members.push((name, offset, stored_type(&field)?));
    }
    let parts =
        members.iter().map(|(_, offset, datatype): &(String, u32, Datatype)| (*offset as usize, datatype.size()));
    if !dtype.has_object() && !overlaps(parts) {
        return Datatype::compound_at(size, members).map_err(of_type);
    }
    members.sort_by_key(|(_, offset, _)| *offset);
    Datatype::compound(members.into_iter().map(|(name, _, datatype)| (name, datatype))).map_err(of_type)
}

/// NumPy's floating-point formats; the largest is the machine's `long double`.
pub(crate) fn float(size: u32, order: Order) -> Option<Datatype> {
    let format = match size {
        2 => Float::F16,
        4 => Float::F32,
        8 => Float::F64,
        16 if cfg!(target_arch = "x86_64") => Float::X87,
        16 => Float::F128,
        _ => return None,
    };
    Datatype::float(size, format.in_order(order)).ok()
}

/// Whether parts, each with its first byte and its length, have bytes in common.
pub(crate) fn overlaps(parts: impl Iterator<Item = (usize, usize)>) -> bool {
    let mut parts: Vec<_> = parts.collect();
    parts.sort_unstable();
    parts.windows(2).any(|pair| matches!(pair, [(first, length), (next, _)] if first + length > *next))
}
