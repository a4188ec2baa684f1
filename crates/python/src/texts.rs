//! Strings of variable length that are written. The engine takes their bytes from the Python objects that hold them, on all cores.

use hyperslab::Dataset;
use hyperslab::dtype::Charset;
use hyperslab::space::Space;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::array::{Array, contents};
use crate::engine::engine;
use crate::list::room;
use crate::objects;
use crate::own_texts::OwnTexts;

/// Writes the strings that an array of objects holds to selected places of a dataset.
pub(crate) fn write(dataset: &Dataset, selection: &Space, array: &Array<'_>, charset: Charset) -> PyResult<()> {
    let py = array.py();
    // Encoding text may run code of Python that changes the array: objects stay while they are held here. `str` and `bytes` never change.
    let held = objects::held(py, contents(array)?)?;
    let mut texts: Vec<&[u8]> = room(held.len())?;
    for object in &held {
        texts.push(object.as_ref().map_or(Ok(&[][..]), |object| text(object, charset))?);
    }
    engine(py, || dataset.write_selection(selection, &texts))
}

/// Writes the strings of an array of NumPy's `StringDType` to selected places of a dataset.
pub(crate) fn write_own(dataset: &Dataset, selection: &Space, array: &Array<'_>, charset: Charset) -> PyResult<()> {
    let usable = |texts: &OwnTexts| charset == Charset::Utf8 || texts.is_ascii();
    match OwnTexts::new(array)?.filter(usable) {
        Some(texts) => {
            let texts = texts.each()?;
            engine(array.py(), || dataset.write_selection(selection, &texts))
        }
        // What is missing or cannot be encoded is an error of the object that it is in Python.
        None => write(dataset, selection, array.call_method1("astype", ("O",))?.cast()?, charset),
    }
}

/// The bytes of a string: of text as it is encoded in the file, or as they are given.
pub(crate) fn text<'a>(object: &'a Bound<'_, PyAny>, charset: Charset) -> PyResult<&'a [u8]> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(bytes.as_bytes());
    }
    let text = object.cast::<PyString>();
    let text = text.map_err(|_| PyTypeError::new_err("Can't implicitly convert non-string objects to strings"))?;
    let utf8 = text.to_str()?;
    if charset == Charset::Ascii && !utf8.is_ascii() {
        // Fails, and says where.
        text.call_method1("encode", ("ascii",))?;
    }
    Ok(utf8.as_bytes())
}
