//! Attributes that a new dataset has from the start: its header is built once, with all of them.

use hyperslab_dtype::{Arena, Datatype, NoHeap, Plan};
use hyperslab_object::{NewAttribute, NewType, ObjectSettings, initial_attributes};
use hyperslab_session::{DatasetPlan, HeapWriter, Session, charset, room};
use hyperslab_space::Extent;

use super::NewDataset;
use hyperslab_element::Writing;

use crate::{Error, Result, Storable};

/// An attribute of a dataset that is not there yet.
pub(super) struct InitialAttribute {
    name: Vec<u8>,
    /// The type that it has in the file of the group.
    stored: Datatype,
    extent: Extent,
    /// How the values, which are bytes and what these refer to, become stored ones.
    plan: Plan,
    bytes: Vec<u8>,
    arena: Arena,
}

impl NewDataset {
    /// Gives the dataset an attribute of one value from the start. That takes less than to [set](crate::Dataset::set_attribute) it afterwards, and no reader ever
    /// finds the dataset without it.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let root = file.root()?;
    /// let made = root.new_dataset::<f32>().attribute("units", "kelvin").write("temperature", &[291.5, 292.0])?;
    /// assert_eq!(made.attribute("units")?.read_scalar::<String>()?, "kelvin");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn attribute<T: Storable>(self, name: impl AsRef<[u8]>, value: T) -> NewDataset {
        self.with_attribute(name.as_ref(), Extent::scalar(), std::slice::from_ref(&value))
    }

    /// As [`NewDataset::attribute`], with one dimension.
    pub fn attribute_values<T: Storable>(mut self, name: impl AsRef<[u8]>, values: &[T]) -> NewDataset {
        match Extent::simple(&[values.len() as u64]) {
            Ok(extent) => self.with_attribute(name.as_ref(), extent, values),
            Err(why) => {
                self.wrong_attribute.get_or_insert(why.into());
                self
            }
        }
    }

    fn with_attribute<T: Storable>(mut self, name: &[u8], extent: Extent, values: &[T]) -> NewDataset {
        // As by `set_attribute`, the last one of a name stays.
        self.attributes.retain(|attribute| attribute.name != name);
        match InitialAttribute::new(self.group.session(), name, extent, values) {
            Ok(attribute) => self.attributes.push(attribute),
            Err(why) => drop(self.wrong_attribute.get_or_insert(why)),
        }
        self
    }
}

impl InitialAttribute {
    fn new<T: Storable>(session: &Session, name: &[u8], extent: Extent, values: &[T]) -> Result<InitialAttribute> {
        let stored = session.in_file(&T::datatype()?)?;
        let writing = Writing::<T>::new(&stored)?;
        let (bytes, arena) = writing.encode(values)?;
        let (name, bytes) = (name.to_vec(), bytes.into_owned());
        Ok(InitialAttribute { name, stored, extent, plan: writing.plan().clone(), bytes, arena })
    }

    /// What the object gets; `data` are the [stored values](store).
    pub(super) fn with<'a>(&'a self, data: &'a [u8]) -> NewAttribute<'a> {
        let (name, extent) = (self.name.as_slice(), &self.extent);
        NewAttribute { name, charset: charset(name), datatype: NewType::Own(&self.stored), extent, data }
    }

    fn count(&self) -> u64 {
        self.extent.elements().unwrap_or(0)
    }
}

/// Refuses attributes that the dataset cannot get. To be asked before anything is made for it: what needs nothing in a heap is refused as well when it is encoded, which is
/// before anything changes.
pub(super) fn check(
    new: &NewDataset,
    session: &Session,
    (settings, planned): (&ObjectSettings, &DatasetPlan),
) -> Result<()> {
    let has_other_widths = |attribute: &InitialAttribute| -> Result<bool> {
        Ok(session.in_file(&attribute.stored)?.size() != attribute.stored.size())
    };
    if session != new.group.session() {
        for attribute in &new.attributes {
            if has_other_widths(attribute)? {
                let why = "attributes for a file with other widths: set them when the dataset is there";
                return Err(Error::Create(why.into()));
            }
        }
    }
    if !planned.datatype.has_vlen() && !new.attributes.iter().any(|attribute| attribute.stored.has_vlen()) {
        return Ok(());
    }
    let zeros = new.attributes.iter().map(|attribute| room(attribute.count(), attribute.stored.size()));
    let zeros = zeros.collect::<Result<Vec<_>>>()?;
    let all: Vec<_> = new.attributes.iter().zip(&zeros).map(|(one, zeros)| one.with(zeros)).collect();
    let datatype = planned.committed.map_or(NewType::Own(&planned.datatype), NewType::Committed);
    initial_attributes(session.context(), settings, &datatype, &all)?;
    Ok(())
}

/// The values of attributes as the file has them; those of variable length are in its heap then. Only within an operation.
pub(super) fn store(session: &Session, attributes: &[InitialAttribute]) -> Result<Vec<Vec<u8>>> {
    let mut stored = Vec::with_capacity(attributes.len());
    for attribute in attributes {
        let InitialAttribute { stored: datatype, plan, bytes, arena, .. } = attribute;
        let (mut data, count) = (room(attribute.count(), datatype.size())?, attribute.count() as usize);
        match datatype.has_vlen() {
            true => HeapWriter::new(session).attempt(|heap| {
                plan.convert(count, bytes, &mut data, arena, heap)?;
                heap.commit()
            })?,
            false => plan.convert(count, bytes, &mut data, arena, &mut NoHeap)?,
        }
        stored.push(data);
    }
    Ok(stored)
}

impl std::fmt::Debug for InitialAttribute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InitialAttribute").field("name", &String::from_utf8_lossy(&self.name)).finish_non_exhaustive()
    }
}
