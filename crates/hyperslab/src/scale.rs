//! Dimension scales: datasets that say what the indices of a dimension of another dataset stand for.
//!
//! | attribute | of | says |
//! |---|---|---|
//! | `CLASS` | the scale | `DIMENSION_SCALE` |
//! | `NAME` | the scale | its name |
//! | `REFERENCE_LIST` | the scale | the datasets that it is attached to, with the dimension |
//! | `DIMENSION_LIST` | the dataset | the scales of each dimension |
//! | `DIMENSION_LABELS` | the dataset | a label of each dimension |

use hyperslab_dtype::{Arena, Charset, Datatype, Native, Padding, Reference};

use crate::{Dataset, Error, ObjectReference, Result};

const CLASS: &str = "CLASS";
const NAME: &str = "NAME";
const SCALE: &str = "DIMENSION_SCALE";
const USERS: &str = "REFERENCE_LIST";
const SCALES: &str = "DIMENSION_LIST";
const LABELS: &str = "DIMENSION_LABELS";

fn refuse(why: impl Into<String>) -> Error {
    Error::Change(why.into())
}

/// Dimension scales.
///
/// ```
/// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
/// let root = file.root()?;
/// let data = root.new_dataset::<f32>().shape([2, 3]).create("data")?;
/// let time = root.new_dataset::<f64>().write("time", &[0.5, 1.0, 1.5])?;
/// time.make_scale(Some("time"))?;
/// data.attach_scale(1, &time)?;
/// data.set_label(1, "t")?;
/// assert_eq!(data.scales(1)?[0].read::<f64>()?, [0.5, 1.0, 1.5]);
/// assert_eq!(data.label(1)?.as_deref(), Some("t"));
/// # Ok::<(), hyperslab::Error>(())
/// ```
impl Dataset {
    /// Makes it a dimension scale, with a name if one is given.
    pub fn make_scale(&self, name: Option<&str>) -> Result<()> {
        if self.has_attribute(SCALES)? {
            return Err(refuse("a dataset that has dimension scales cannot be one"));
        }
        self.set_old_string(CLASS, SCALE)?;
        name.map_or(Ok(()), |name| self.set_old_string(NAME, name))
    }

    /// Whether it is a dimension scale.
    pub fn is_scale(&self) -> Result<bool> {
        Ok(self.has_attribute(CLASS)? && self.attribute(CLASS)?.read_scalar::<Vec<u8>>()? == SCALE.as_bytes())
    }

    /// Its name as a dimension scale.
    pub fn scale_name(&self) -> Result<Option<String>> {
        match self.is_scale()? && self.has_attribute(NAME)? {
            true => self.attribute(NAME)?.read_scalar().map(Some),
            false => Ok(None),
        }
    }

    /// Says that the indices of a dimension stand for the values of a scale. What is no scale yet becomes one.
    pub fn attach_scale(&self, dim: usize, scale: &Dataset) -> Result<()> {
        self.check_dimension(dim)?;
        if self.file() != scale.file() || self.address() == scale.address() {
            return Err(refuse("a scale is another dataset of the same file"));
        }
        if self.is_scale()? {
            return Err(refuse("a dimension scale cannot have scales"));
        }
        if !scale.is_scale()? {
            scale.make_scale(None)?;
        }
        let mut scales = self.scale_lists()?;
        let Some(list) = scales.get_mut(dim) else { return Ok(()) };
        if list.contains(&scale.reference()) {
            return Ok(());
        }
        list.push(scale.reference());
        self.set_attribute_values(SCALES, &scales)?;
        let mut users = scale.users()?;
        users.push((self.reference(), dim as u32));
        scale.set_users(&users)
    }

    /// Takes a scale away from a dimension.
    pub fn detach_scale(&self, dim: usize, scale: &Dataset) -> Result<()> {
        self.check_dimension(dim)?;
        let mut scales = self.scale_lists()?;
        let list = scales.get_mut(dim).filter(|list| list.contains(&scale.reference()));
        let list = list.ok_or_else(|| Error::Missing(format!("such scale of dimension {dim}")))?;
        list.retain(|one| *one != scale.reference());
        match scales.iter().all(Vec::is_empty) {
            true => self.remove_attribute(SCALES)?,
            false => self.set_attribute_values(SCALES, &scales)?,
        }
        let mut users = scale.users()?;
        users.retain(|user| *user != (self.reference(), dim as u32));
        match users.is_empty() {
            true if scale.has_attribute(USERS)? => scale.remove_attribute(USERS),
            true => Ok(()),
            false => scale.set_users(&users),
        }
    }

    /// The scales of a dimension.
    pub fn scales(&self, dim: usize) -> Result<Vec<Dataset>> {
        self.check_dimension(dim)?;
        let list = self.scale_lists()?.into_iter().nth(dim).unwrap_or_default();
        let open = |reference: ObjectReference| self.file().at(reference.address())?.into_dataset();
        list.into_iter().filter(|reference| *reference != ObjectReference::NULL).map(open).collect()
    }

    /// Gives a dimension a label.
    pub fn set_label(&self, dim: usize, label: &str) -> Result<()> {
        self.check_dimension(dim)?;
        let mut labels = self.labels()?;
        if let Some(place) = labels.get_mut(dim) {
            *place = Some(label.to_owned());
        }
        self.new_attribute::<str>().write(LABELS, &labels)
    }

    /// The label of a dimension.
    pub fn label(&self, dim: usize) -> Result<Option<String>> {
        self.check_dimension(dim)?;
        Ok(self.labels()?.into_iter().nth(dim).flatten())
    }

    fn check_dimension(&self, dim: usize) -> Result<()> {
        let rank = self.rank();
        match dim < rank {
            true => Ok(()),
            false => Err(refuse(format!("there is no dimension {dim}: the dataset has {rank}"))),
        }
    }

    fn labels(&self) -> Result<Vec<Option<String>>> {
        let mut labels = match self.has_attribute(LABELS)? {
            true => self.attribute(LABELS)?.read()?,
            false => Vec::new(),
        };
        labels.resize(self.rank(), None);
        Ok(labels)
    }

    fn scale_lists(&self) -> Result<Vec<Vec<ObjectReference>>> {
        let mut lists = match self.has_attribute(SCALES)? {
            true => self.attribute(SCALES)?.read()?,
            false => Vec::new(),
        };
        lists.resize(self.rank(), Vec::new());
        Ok(lists)
    }

    /// The datasets that a scale is attached to, with the dimension.
    fn users(&self) -> Result<Vec<(ObjectReference, u32)>> {
        if !self.has_attribute(USERS)? {
            return Ok(Vec::new());
        }
        let list = self.attribute(USERS)?;
        let number = |bytes: &[u8], name: &str| {
            let member = list.datatype.member(name)?;
            let start = member.offset as usize;
            let bytes = bytes.get(start..start + member.datatype.size())?;
            Some(bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte)))
        };
        let user =
            |bytes: &[u8]| Some((ObjectReference::new(number(bytes, "dataset")?), number(bytes, "dimension")? as u32));
        let all: Option<Vec<_>> = list.data.chunks_exact(list.datatype.size().max(1)).map(user).collect();
        all.ok_or_else(|| refuse(format!("{USERS} of the scale is {}, which is not understood", list.datatype)))
    }

    fn set_users(&self, users: &[(ObjectReference, u32)]) -> Result<()> {
        let address = self.file().address_width();
        let reference = Datatype::reference(address as u32, Reference::Object)?;
        // As libhdf5's struct of both lies in memory.
        let (number, size) = (u32::datatype(), address.next_multiple_of(8) as u32 + 8);
        let members = [("dataset", 0, reference), ("dimension", size - 8, number)];
        let datatype = Datatype::compound_at(size, members)?;
        let mut bytes = vec![0; users.len() * size as usize];
        for (place, (user, dim)) in bytes.chunks_exact_mut(size as usize).zip(users) {
            let (first, second) = place.split_at_mut(size as usize - 8);
            first
                .iter_mut()
                .zip(user.address().to_le_bytes().into_iter().take(address))
                .for_each(|(to, from)| *to = from);
            second.iter_mut().zip(dim.to_ne_bytes()).for_each(|(to, from)| *to = from);
        }
        let new = self.new_attribute_of(datatype.clone());
        new.write_converted(USERS, &datatype, &bytes, &Arena::default())
    }

    /// A string of fixed length that ends with a zero, as libhdf5's high-level functions write them.
    fn set_old_string(&self, name: &str, value: &str) -> Result<()> {
        let datatype = Datatype::string(value.len() as u32 + 1, Padding::NullTerm, Charset::Ascii)?;
        let new = self.new_attribute_of(datatype).scalar();
        match value.is_ascii() {
            true => new.write(name, &[value]),
            // Bytes are no matter of character sets.
            false => new.write(name, &[value.as_bytes()]),
        }
    }
}
