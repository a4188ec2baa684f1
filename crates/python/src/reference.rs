//! References as Python objects: opaque values that a file understands.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use hyperslab::dtype::{Arena, Class, Datatype, Reference};
use hyperslab::space::{Op, Space};
use hyperslab::{Dataset, Error, File, Node, Part, Referent, RegionReference, Storable};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::engine::{detached, engine};
use crate::error::{exception, of_space};
use crate::extent::again_if_resized;

/// A reference to an object. `file[reference]` is the object; a null reference is false.
#[pyclass(name = "Reference", module = "hyperslab", frozen, subclass)]
#[derive(PartialEq)]
pub(crate) struct PyReference(Meaning);

/// How a reference says what it means.
#[derive(PartialEq)]
enum Meaning {
    /// The value as it is stored, and the type that it is stored with. Of one that is encoded: all that it says, nothing if it is null.
    Stored(Vec<u8>, Arc<Datatype>),
    /// A part of a dataset. What files store instead is in their heaps.
    Region(Referent),
}

/// A reference to a part of a dataset. `file[reference]` is the dataset, `dataset[reference]` that part of its values.
#[pyclass(name = "RegionReference", module = "hyperslab", frozen, extends = PyReference)]
pub(crate) struct PyRegionReference;

/// The first byte of a revised reference to a region.
const REVISED_REGION: u8 = 3;

#[pymethods]
impl PyReference {
    /// One that refers to nothing.
    #[new]
    fn null() -> PyResult<PyReference> {
        let datatype = Datatype::reference(8, Reference::Object).map_err(|why| exception(why.into()))?;
        Ok(PyReference(Meaning::Stored(vec![0; 8], Arc::new(datatype))))
    }

    fn __bool__(&self) -> bool {
        match &self.0 {
            Meaning::Stored(stored, _) => stored.iter().any(|&byte| byte != 0),
            Meaning::Region(_) => true,
        }
    }

    fn __eq__(&self, other: &PyReference) -> bool {
        self == other
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        match &self.0 {
            Meaning::Stored(stored, _) => stored.hash(&mut hasher),
            Meaning::Region(referent) => referent.address.hash(&mut hasher),
        }
        hasher.finish()
    }

    fn __repr__(&self) -> &'static str {
        if self.__bool__() { "<HDF5 object reference>" } else { "<HDF5 object reference (null)>" }
    }
}

#[pymethods]
impl PyRegionReference {
    /// One that refers to nothing.
    #[new]
    fn null() -> PyResult<PyClassInitializer<PyRegionReference>> {
        let datatype = Datatype::reference(12, Reference::Region).map_err(|why| exception(why.into()))?;
        let reference = PyReference(Meaning::Stored(vec![0; 12], Arc::new(datatype)));
        Ok(PyClassInitializer::from(reference).add_subclass(PyRegionReference))
    }

    fn __repr__(this: PyRef<'_, Self>) -> &'static str {
        if this.as_super().__bool__() { "<HDF5 region reference>" } else { "<HDF5 region reference (null)>" }
    }
}

/// A reference of the class that fits its type; of the revised ones only the value tells.
pub(crate) fn object(py: Python<'_>, stored: &[u8], datatype: &Arc<Datatype>) -> PyResult<Py<PyAny>> {
    let is_region = match datatype.class() {
        Class::Reference(Reference::Region) => true,
        Class::Reference(Reference::Revised(_)) => stored.first() == Some(&REVISED_REGION),
        _ => false,
    };
    let reference = PyReference(Meaning::Stored(stored.to_vec(), datatype.clone()));
    if is_region {
        let region = PyClassInitializer::from(reference).add_subclass(PyRegionReference);
        return Ok(Py::new(py, region)?.into_any());
    }
    Ok(Py::new(py, reference)?.into_any())
}

/// A reference to the object at an address, as the file would store it.
pub(crate) fn to_object(file: &File, address: u64) -> PyResult<PyReference> {
    let stored = address.to_le_bytes().into_iter().take(file.address_width()).collect::<Vec<_>>();
    let datatype = Datatype::reference(stored.len() as u32, Reference::Object).map_err(|why| exception(why.into()))?;
    Ok(PyReference(Meaning::Stored(stored, Arc::new(datatype))))
}

/// A reference to what is selected of the dataset at an address.
pub(crate) fn to_region(py: Python<'_>, address: u64, region: Space) -> PyResult<Py<PyRegionReference>> {
    let referent = Referent { file: None, address, part: Part::Region(Box::new(region)) };
    let reference = PyReference(Meaning::Region(referent));
    Py::new(py, PyClassInitializer::from(reference).add_subclass(PyRegionReference))
}

/// A region that was selected in an extent of a dataset, in the one that the dataset has now.
fn in_present_extent(dataset: &Dataset, region: &Space) -> PyResult<Space> {
    let mut space = dataset.space();
    space.select(Op::Set, region.selection()).map_err(of_space)?;
    Ok(space)
}

impl PyReference {
    /// The object that it points at, if it points at any.
    pub(crate) fn object(&self, file: &File) -> PyResult<Option<Node>> {
        let Some(referent) = self.referent(file)? else { return Ok(None) };
        if referent.file.is_some() {
            return Err(exception(Error::Unsupported("following a reference into another file")));
        }
        file.at(referent.address).map(Some).map_err(exception)
    }

    /// The region of a dataset that it points at.
    pub(crate) fn region(&self, dataset: &Dataset) -> PyResult<Space> {
        match self.referent(&dataset.file())? {
            Some(Referent { part: Part::Region(region), .. }) => in_present_extent(dataset, &region),
            _ => Err(PyTypeError::new_err("not a region reference")),
        }
    }

    /// Its bytes in a file, as a value of a type. A region is kept in the file for it.
    pub(crate) fn stored(&self, py: Python<'_>, file: &File, datatype: &Datatype) -> PyResult<Vec<u8>> {
        let referent = match &self.0 {
            Meaning::Stored(stored, own) if own.as_ref() == datatype => return Ok(stored.clone()),
            Meaning::Stored(stored, own) => {
                let refuse = || PyTypeError::new_err(format!("Can't convert the reference to {datatype}"));
                let (Class::Reference(kind), Class::Reference(wanted)) = (own.class(), datatype.class()) else {
                    return Err(refuse());
                };
                if kind != wanted {
                    return Err(refuse());
                }
                match (own.encoded_reference(), datatype.encoded_reference()) {
                    (None, Some(_)) => {
                        let said = detached(py, || file.heap().encoded_reference(*kind, stored))?;
                        return Ok(said.map_err(exception)?.unwrap_or_default());
                    }
                    (Some(_), None) if stored.is_empty() => return Ok(vec![0; datatype.size()]),
                    (Some(_), None) => &detached(py, || self.referent(file))??.ok_or_else(refuse)?,
                    _ => return Err(refuse()),
                }
            }
            Meaning::Region(referent) => referent,
        };
        let (Part::Region(region), Class::Reference(Reference::Region)) = (&referent.part, datatype.class()) else {
            return Err(PyTypeError::new_err(format!("Can't convert a region reference to {datatype}")));
        };
        let dataset = engine(py, || file.at(referent.address)?.into_dataset())?;
        let made = again_if_resized(py, || {
            let region = detached(py, || in_present_extent(&dataset, region))??;
            engine(py, || dataset.region_reference(&region))
        })?;
        let (mut stored, mut arena) = (vec![0; datatype.size()], Arena::default());
        let storing = RegionReference::storing(datatype).map_err(exception)?;
        made.encode(&storing.encoder, &mut stored, &mut arena).map_err(exception)?;
        match datatype.encoded_reference() {
            Some(_) => Ok(arena.get(&stored, 1).map_err(|why| exception(why.into()))?.unwrap_or_default().to_vec()),
            None => Ok(stored),
        }
    }

    fn referent(&self, file: &File) -> PyResult<Option<Referent>> {
        match &self.0 {
            Meaning::Stored(stored, datatype) => match datatype.encoded_reference() {
                Some(_) if stored.is_empty() => Ok(None),
                Some(kind) => file.heap().decode_reference(kind, stored).map(Some).map_err(exception),
                None => file.dereference(datatype, stored).map_err(exception),
            },
            Meaning::Region(referent) => Ok(Some(referent.clone())),
        }
    }
}
