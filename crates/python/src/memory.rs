//! How values lie in a NumPy array: what the engine must convert to, and what is left to do if some of them are Python objects.

use std::ops::Range;
use std::sync::Arc;

use hyperslab::dtype::{Arena, Charset, Class, Datatype, Member, Order, Padding, Plan, Vlen};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::error::{no_conversion, of_type};
use crate::numpy_type::{Dtype, dtype_of, is_boolean, is_type, mark};
use crate::stored_type::{float, overlaps, stored_type};

/// Values of one dtype, read from one stored type.
pub(crate) struct Memory {
    /// What the engine converts to.
    pub(crate) datatype: Datatype,
    /// The bytes of an element of the array.
    pub(crate) itemsize: usize,
    /// How an element of the array is made of a converted one. Nothing if the engine writes the array itself.
    pub(crate) steps: Option<Vec<Step>>,
}

/// A part of an element: from a byte of the converted value to a byte of the array's element.
pub(crate) struct Step {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) make: Make,
}

/// What becomes of a part.
pub(crate) enum Make {
    /// So many bytes stay as they are.
    Copy(usize),
    /// A variable-length string becomes one of so many bytes.
    Text(usize),
    /// A variable-length string becomes `bytes`; text is encoded so.
    Bytes(Charset),
    /// A sequence becomes an array.
    Array(Box<Memory>, Py<PyArrayDescr>),
    /// A reference of this type becomes an object.
    Reference(Arc<Datatype>),
    /// A number becomes a truth value: any other than zero is true.
    Truth,
    /// Equal parts follow each other.
    Repeat(usize, Box<Memory>),
}

impl Memory {
    /// How to read values of type `stored` into an array of `dtype`.
    pub(crate) fn new(dtype: &Dtype<'_>, stored: &Datatype) -> PyResult<Memory> {
        let size = dtype.itemsize();
        if matches!(stored.class(), Class::Opaque(_)) && size == stored.size() && is_opaque(dtype)? {
            return Ok(Memory { datatype: stored.clone(), itemsize: size, steps: None });
        }
        match dtype.kind() {
            b'O' => object(dtype, stored),
            b'S' => string(dtype, stored),
            b'V' if dtype.has_fields() => structure(dtype, stored),
            b'V' if dtype.has_subarray() => subarray(dtype, stored),
            b'b' if is_number(stored) => Ok(Memory::object(Datatype::of::<i8>(), size, Make::Truth)),
            _ => {
                let datatype = number(dtype, stored)?;
                Ok(Memory { datatype, itemsize: dtype.itemsize(), steps: None })
            }
        }
    }

    /// As [`Memory::new`], of values that are read.
    pub(crate) fn to_read(dtype: &Dtype<'_>, stored: &Datatype) -> PyResult<Memory> {
        let memory = Memory::new(dtype, stored)?;
        Plan::new(stored, &memory.datatype).map_err(|why| no_conversion(stored, why))?;
        Ok(memory)
    }

    /// As [`Memory::new`], of values that are written.
    pub(crate) fn to_write(dtype: &Dtype<'_>, stored: &Datatype) -> PyResult<Memory> {
        let memory = Memory::new(dtype, stored)?;
        if memory.steps.as_ref().is_some_and(Vec::is_empty) {
            return Err(PyValueError::new_err(format!("{dtype:?} has no field of {stored}")));
        }
        if !is_number_of_enum(&memory.datatype, stored) {
            Plan::new(&memory.datatype, stored).map_err(|why| no_conversion(stored, why))?;
        }
        Ok(memory)
    }

    /// How text is encoded, if elements are nothing but strings of variable length in Python objects.
    pub(crate) fn text(&self) -> Option<Charset> {
        match self.steps.as_deref()? {
            [Step { from: 0, to: 0, make: Make::Bytes(charset) }] => Some(*charset),
            _ => None,
        }
    }

    /// The parts of an element that steps make: apart from each other, in the order of their bytes.
    pub(crate) fn parts(&self) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        self.add_parts(0, &mut parts);
        parts.sort_unstable_by_key(|part| part.start);
        let mut apart = Vec::new();
        parts.into_iter().for_each(|part| join(&mut apart, part));
        apart
    }

    fn add_parts(&self, at: usize, parts: &mut Vec<Range<usize>>) {
        let Some(steps) = &self.steps else { return join(parts, at..at + self.itemsize) };
        for Step { to, make, .. } in steps {
            let at = at + to;
            match make {
                Make::Copy(length) | Make::Text(length) => join(parts, at..at + length),
                Make::Truth => join(parts, at..at + 1),
                Make::Bytes(_) | Make::Array(..) | Make::Reference(_) => {
                    join(parts, at..at + size_of::<*mut pyo3::ffi::PyObject>());
                }
                Make::Repeat(count, element) => {
                    (0..*count).for_each(|nth| element.add_parts(at + nth * element.itemsize, parts));
                }
            }
        }
    }

    /// An element that is made by one step.
    fn object(datatype: Datatype, itemsize: usize, make: Make) -> Memory {
        Memory { datatype, itemsize, steps: Some(vec![Step { from: 0, to: 0, make }]) }
    }

    /// The element as a part of another: steps, even where nothing but a copy is needed.
    fn into_make(self) -> Make {
        match self.steps {
            None => Make::Copy(self.itemsize),
            Some(_) => Make::Repeat(1, Box::new(self)),
        }
    }
}

/// Adds a part to others: as one with the last if they touch and it does not begin before it.
fn join(parts: &mut Vec<Range<usize>>, part: Range<usize>) {
    match parts.last_mut() {
        Some(last) if (last.start..=last.end).contains(&part.start) => last.end = last.end.max(part.end),
        _ => parts.push(part),
    }
}

/// Whether integers are the values of an enumeration.
pub(crate) fn is_number_of_enum(given: &Datatype, stored: &Datatype) -> bool {
    matches!((given.class(), stored.class()), (Class::Fixed(_), Class::Enum(_)))
}

/// Whether values are bytes without a meaning, or are marked to be stored as such.
fn is_opaque(dtype: &Dtype<'_>) -> PyResult<bool> {
    let is_plain = dtype.kind() == b'V' && !dtype.has_fields() && !dtype.has_subarray();
    Ok(is_plain || mark(dtype, "h5py_opaque")?.is_some())
}

fn refuse(dtype: &Dtype<'_>) -> PyErr {
    PyTypeError::new_err(format!("No conversion path for dtype: {dtype:?}"))
}

/// Everything that is neither string, object, structure nor array.
fn number(dtype: &Dtype<'_>, stored: &Datatype) -> PyResult<Datatype> {
    let size = u32::try_from(dtype.itemsize()).map_err(|_| refuse(dtype))?;
    let order = match dtype.byteorder() {
        b'>' => Order::Big,
        b'<' => Order::Little,
        _ => Order::NATIVE,
    };
    match (dtype.kind(), stored.class()) {
        (b'i' | b'u', Class::Enum(names)) => {
            let base = Datatype::integer(size, dtype.kind() == b'i', order).map_err(of_type)?;
            // Values that have no name are values all the same.
            Ok(if *names.base() == base { stored.clone() } else { base })
        }
        (b'u', Class::Bitfield(bits)) if stored.size() == size as usize && bits.order == order => Ok(stored.clone()),
        (kind @ (b'i' | b'u'), _) => Datatype::integer(size, kind == b'i', order).map_err(of_type),
        (b'f', _) => float(size, order).ok_or_else(|| refuse(dtype)),
        (b'c', stored) => {
            let part = float(size / 2, order).ok_or_else(|| refuse(dtype))?;
            let complex = match stored {
                Class::Complex(_) => Datatype::complex(part),
                _ => Datatype::compound([("r", part.clone()), ("i", part)]),
            };
            complex.map_err(of_type)
        }
        (b'b', _) => Ok(Datatype::of::<bool>()),
        (b'V', _) => Datatype::opaque(size, []).map_err(of_type),
        _ => Err(refuse(dtype)),
    }
}

/// Whether values are integers that are no truth values yet.
fn is_number(stored: &Datatype) -> bool {
    match stored.class() {
        Class::Fixed(_) => true,
        Class::Enum(names) => !is_boolean(names),
        _ => false,
    }
}

/// Strings of fixed length are padded with zeros, whatever the file pads with.
fn string(dtype: &Dtype<'_>, stored: &Datatype) -> PyResult<Memory> {
    let itemsize = dtype.itemsize();
    if let Class::Vlen(Vlen { text: Some(_), .. }) = stored.class() {
        return Ok(Memory::object(stored.in_memory().map_err(of_type)?, itemsize, Make::Text(itemsize)));
    }
    let charset = match stored.class() {
        Class::String(_, charset) => *charset,
        _ => Charset::Ascii,
    };
    let size = u32::try_from(itemsize).map_err(|_| refuse(dtype))?;
    let datatype = Datatype::string(size, Padding::NullPad, charset).map_err(of_type)?;
    Ok(Memory { datatype, itemsize, steps: None })
}

/// Python objects: strings, sequences and references.
fn object(dtype: &Dtype<'_>, stored: &Datatype) -> PyResult<Memory> {
    let (py, itemsize) = (dtype.py(), dtype.itemsize());
    let sequence = mark(dtype, "vlen")?;
    let text = |mark: &Bound<'_, PyAny>| is_type::<PyString>(mark) || is_type::<PyBytes>(mark);
    match stored.class() {
        Class::Vlen(Vlen { text: Some((_, charset)), .. }) if sequence.as_ref().is_none_or(text) => {
            Ok(Memory::object(stored.in_memory().map_err(of_type)?, itemsize, Make::Bytes(*charset)))
        }
        Class::Vlen(Vlen { base, text: None }) => {
            let element = match sequence {
                Some(mark) => PyArrayDescr::new(py, mark)?,
                None => dtype_of(py, base)?,
            };
            let memory = Memory::new(&element, base)?;
            let inner = Vlen { base: Box::new(memory.datatype.clone()), text: None };
            let datatype = Datatype::vlen_of_size(Arena::REFERENCE as u32, inner).map_err(of_type)?;
            Ok(Memory::object(datatype, itemsize, Make::Array(Box::new(memory), element.unbind())))
        }
        Class::Reference(_) => {
            let datatype = Arc::new(stored.clone());
            Ok(Memory::object(stored.clone(), itemsize, Make::Reference(datatype)))
        }
        _ => Err(no_conversion(stored, format!("no conversion between {stored} values and Python objects"))),
    }
}

/// Fields that the file lacks keep what the array has. The engine is told of them, too: it may copy what lies between members.
fn structure(dtype: &Dtype<'_>, stored: &Datatype) -> PyResult<Memory> {
    if !matches!(stored.class(), Class::Compound(_)) {
        return Err(no_conversion(stored, format!("no conversion between {stored} values and {dtype:?}")));
    }
    let (itemsize, mut fields, mut others) = (dtype.itemsize(), Vec::new(), Vec::new());
    for name in dtype.names().unwrap_or_default() {
        let (field, offset) = dtype.get_field(&name)?;
        match stored.member(name.as_bytes()) {
            Some(Member { datatype, .. }) => fields.push((name, offset, Memory::new(&field, datatype)?)),
            None if field.has_object() => {}
            None => others.push((name, offset, Memory::new(&field, &stored_type(&field)?)?)),
        }
    }
    if fields.is_empty() {
        return Ok(Memory { datatype: stored.clone(), itemsize, steps: Some(Vec::new()) });
    }
    let size = |bytes: usize| u32::try_from(bytes).map_err(|_| refuse(dtype));
    let is_simple = !dtype.has_object() && fields.iter().all(|(.., memory)| memory.steps.is_none());
    if is_simple && !overlaps(fields.iter().chain(&others).map(|(_, offset, memory)| (*offset, memory.itemsize))) {
        let members = fields.into_iter().chain(others);
        let members = members.map(|(name, offset, memory)| Ok((name, size(offset)?, memory.datatype)));
        let members = members.collect::<PyResult<Vec<_>>>()?;
        let datatype = Datatype::compound_at(size(itemsize)?, members).map_err(of_type)?;
        return Ok(Memory { datatype, itemsize, steps: None });
    }
    let (mut from, mut members, mut steps) = (0, Vec::new(), Vec::new());
    for (name, to, memory) in fields {
        let datatype = memory.datatype.clone();
        steps.push(Step { from, to, make: memory.into_make() });
        from += datatype.size();
        members.push((name, datatype));
    }
    Ok(Memory { datatype: Datatype::compound(members).map_err(of_type)?, itemsize, steps: Some(steps) })
}

fn subarray(dtype: &Dtype<'_>, stored: &Datatype) -> PyResult<Memory> {
    let dims = dtype.shape().into_iter().map(|dim| u32::try_from(dim).map_err(|_| refuse(dtype)));
    let dims = dims.collect::<PyResult<Vec<u32>>>()?;
    // NumPy makes one array of an array of arrays.
    let (mut levels, mut inner, mut seen) = (Vec::new(), stored, 0);
    while let Class::Array(array) = inner.class()
        && seen < dims.len()
    {
        levels.push(array.dims());
        seen += array.dims().len();
        inner = array.base();
    }
    if levels.concat() != dims {
        levels = vec![&dims];
    }
    let element = Memory::new(&dtype.base(), inner)?;
    let wrap = |datatype: PyResult<Datatype>, dims: &&[u32]| Datatype::array(datatype?, dims).map_err(of_type);
    let datatype = levels.iter().rev().fold(Ok(element.datatype.clone()), wrap)?;
    let itemsize = dtype.itemsize();
    if element.steps.is_none() {
        return Ok(Memory { datatype, itemsize, steps: None });
    }
    let count = dims.iter().map(|&dim| dim as usize).product();
    Ok(Memory::object(datatype, itemsize, Make::Repeat(count, Box::new(element))))
}
