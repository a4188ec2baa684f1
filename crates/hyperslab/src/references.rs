//! References as values: to objects, and to parts of datasets.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use hyperslab_base::Sink;
use hyperslab_dtype::{Class, Datatype, Reference, Target};
use hyperslab_session::HeapWriter;
use hyperslab_space::Space;

use crate::{
    Dataset, Element, Error, File, Group, NamedDatatype, Node, Part, Recipe, Result, Sequences, Storable, Storing,
};

/// A reference to an object of the same file, as a value that datasets and attributes can hold.
///
/// ```
/// use hyperslab::ObjectReference;
/// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
/// let root = file.root()?;
/// let part = root.create_group("part")?;
/// root.set_attribute("main", part.reference())?;
/// let reference: ObjectReference = root.attribute("main")?.read_scalar()?;
/// assert_eq!(reference.object(&file)?.map(|node| node.address()), Some(part.address()));
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ObjectReference(u64);

/// A reference to a part of a dataset of the same file, as a value that datasets and attributes can hold.
///
/// ```
/// use hyperslab::RegionReference;
/// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
/// let root = file.root()?;
/// let dataset = root.new_dataset::<i32>().write("numbers", &[1, 2, 3, 4])?;
/// let region = dataset.region_reference(dataset.slice(1..3)?.selection())?;
/// root.set_attribute("middle", region)?;
/// let region: RegionReference = root.attribute("middle")?.read_scalar()?;
/// let (dataset, selection) = region.region(&file)?.unwrap();
/// assert_eq!(dataset.read_selection::<i32>(&selection)?, [2, 3]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// Datasets with structured chunks keep what it says in the chunk, others and attributes in the heap of the file. One that was read from a structured chunk is made anew from its
/// [region](Self::region) to be written to the others. References are equal if they say the same.
#[derive(Clone, Debug, Default)]
pub struct RegionReference {
    /// The collection and the index of what it says, if that is in the heap.
    heap: u64,
    index: u32,
    /// What it says; nothing if it refers to nothing, or that cannot be read.
    said: Option<Arc<[u8]>>,
}

impl ObjectReference {
    /// Refers to nothing.
    pub const NULL: ObjectReference = ObjectReference(0);

    /// Refers to the object whose header is at an address.
    pub const fn new(address: u64) -> ObjectReference {
        ObjectReference(address)
    }

    /// Where the header of the object is; zero if it refers to nothing.
    pub const fn address(self) -> u64 {
        self.0
    }

    /// The object; nothing if it refers to nothing.
    pub fn object(self, file: &File) -> Result<Option<Node>> {
        match self.0 {
            0 | u64::MAX => Ok(None),
            address => file.at(address).map(Some),
        }
    }
}

impl PartialEq for RegionReference {
    fn eq(&self, other: &RegionReference) -> bool {
        self.meaning() == other.meaning()
    }
}

impl Eq for RegionReference {}

impl Hash for RegionReference {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.meaning().hash(state);
    }
}

impl RegionReference {
    /// What it says or, if that is not known, where it is.
    fn meaning(&self) -> (Option<&[u8]>, u64, u32) {
        match &self.said {
            Some(said) => (Some(said), 0, 0),
            None => (None, self.heap, self.index),
        }
    }

    /// Refers to nothing.
    pub const NULL: RegionReference = RegionReference { heap: 0, index: 0, said: None };

    /// The dataset and what of it is meant; nothing if it refers to nothing.
    pub fn region(&self, file: &File) -> Result<Option<(Dataset, Space)>> {
        let referent = match &self.said {
            Some(said) => Some(file.heap().decode_reference(Reference::Region, said)?),
            None => {
                let datatype = stored_type(Reference::Region, file)?;
                let mut bytes = vec![0; datatype.size()];
                self.to_bytes(&mut bytes);
                file.dereference(&datatype, &bytes)?
            }
        };
        let Some(referent) = referent else { return Ok(None) };
        let Part::Region(space) = referent.part else { return Ok(None) };
        Ok(Some((file.at(referent.address)?.into_dataset()?, *space)))
    }

    fn to_bytes(&self, bytes: &mut [u8]) {
        let width = bytes.len().saturating_sub(4);
        let address = self.heap.to_le_bytes().into_iter().take(width);
        bytes.iter_mut().zip(address.chain(self.index.to_le_bytes())).for_each(|(to, from)| *to = from);
    }

    fn from_bytes(bytes: &[u8]) -> RegionReference {
        let (heap, index) = bytes.split_at(bytes.len().saturating_sub(4));
        RegionReference { heap: number(heap), index: number(index) as u32, said: None }
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The type of references in a file.
fn stored_type(reference: Reference, file: &File) -> Result<Datatype> {
    let size = file.address_width() as u32 + if reference == Reference::Region { 4 } else { 0 };
    Ok(Datatype::reference(size, reference)?)
}

macro_rules! can_be_referred_to {
    ($($object:ty)*) => {$(
        impl $object {
            /// A reference to it, as a value.
            pub fn reference(&self) -> ObjectReference {
                ObjectReference(self.address())
            }
        }
    )*};
}
can_be_referred_to!(Node Group Dataset NamedDatatype);

impl Dataset {
    /// A reference to a part of it, as a value. What is selected is kept in the file at once, even if the reference never is.
    pub fn region_reference(&self, selection: &Space) -> Result<RegionReference> {
        self.open.check_extent(selection)?;
        let stored = self.session().file();
        let mut sink = Sink::new();
        sink.uint(stored.widths().offsets, self.address());
        sink.extend(&selection.encode_selection(stored.libver_min())?);
        self.session().operate_on(self.address(), || {
            self.session().check_alive(self.life())?;
            let mut heap = HeapWriter::new(self.session());
            let (heap, index) = heap.attempt(|heap| {
                let place = heap.put(sink.as_bytes())?;
                heap.commit().map(|()| place)
            })?;
            Ok(RegionReference { heap, index, said: Some(sink.as_bytes().into()) })
        })
    }
}

impl Element for ObjectReference {
    type Decoder = ();

    fn recipe(stored: &Datatype) -> Result<Recipe<()>> {
        match stored.class() {
            Class::Reference(Reference::Object) => Recipe::verbatim(stored, ()),
            _ => Err(Error::mismatch::<ObjectReference>(stored)),
        }
    }

    fn decode((): &(), bytes: &[u8], _: &Sequences<'_>) -> Result<ObjectReference> {
        Ok(ObjectReference(number(bytes)))
    }
}

impl Storable for ObjectReference {
    type Encoder = ();

    fn datatype() -> Result<Datatype> {
        Ok(Datatype::reference(8, Reference::Object)?)
    }

    fn storing(stored: &Datatype) -> Result<Storing<()>> {
        match stored.class() {
            Class::Reference(Reference::Object) => Storing::verbatim(stored, ()),
            _ => Err(Error::not_from::<ObjectReference>(stored)),
        }
    }

    fn encode(&self, (): &(), bytes: &mut [u8], _: &mut dyn Target) -> Result<()> {
        bytes.iter_mut().zip(self.0.to_le_bytes()).for_each(|(to, from)| *to = from);
        Ok(())
    }
}

/// Where what a region reference says is.
#[derive(Clone, Copy, Debug)]
pub enum RegionStorage {
    /// In the heap of the file.
    Heap,
    /// Beside the value: in its chunk, or in an arena.
    Beside,
}

impl RegionStorage {
    fn of(stored: &Datatype) -> Option<RegionStorage> {
        match (stored.class(), stored.encoded_reference()) {
            (Class::Reference(Reference::Region), None) => Some(RegionStorage::Heap),
            (_, Some(Reference::Region)) => Some(RegionStorage::Beside),
            _ => None,
        }
    }
}

impl Element for RegionReference {
    type Decoder = RegionStorage;

    fn recipe(stored: &Datatype) -> Result<Recipe<RegionStorage>> {
        let storage = RegionStorage::of(stored).ok_or_else(|| Error::mismatch::<RegionReference>(stored))?;
        Recipe::verbatim(stored, storage)
    }

    fn decode(storage: &RegionStorage, bytes: &[u8], sequences: &Sequences<'_>) -> Result<RegionReference> {
        match storage {
            RegionStorage::Heap => {
                let reference = RegionReference::from_bytes(bytes);
                let said = (reference.heap != 0).then(|| sequences.object(reference.heap, reference.index));
                Ok(RegionReference { said: said.flatten(), ..reference })
            }
            RegionStorage::Beside => sequences.with(bytes, 1, |_, said| {
                let said = (!said.is_empty()).then(|| said.into());
                Ok(RegionReference { said, ..RegionReference::NULL })
            }),
        }
    }

    fn references(storage: &RegionStorage, bytes: &[u8], visit: &mut dyn FnMut(&[u8])) {
        if matches!(storage, RegionStorage::Heap) {
            // As a sequence is named whose number of elements does not matter.
            visit(&[&[0; 4][..], bytes].concat());
        }
    }
}

impl Storable for RegionReference {
    type Encoder = RegionStorage;

    fn datatype() -> Result<Datatype> {
        Ok(Datatype::reference(12, Reference::Region)?)
    }

    fn storing(stored: &Datatype) -> Result<Storing<RegionStorage>> {
        match RegionStorage::of(stored).ok_or_else(|| Error::not_from::<RegionReference>(stored))? {
            RegionStorage::Heap => Storing::verbatim(stored, RegionStorage::Heap),
            encoder => Ok(Storing { memory: stored.clone(), stored: stored.clone(), encoder }),
        }
    }

    fn encode(&self, storage: &RegionStorage, bytes: &mut [u8], heap: &mut dyn Target) -> Result<()> {
        // Only one that cannot be read, or is null, says nothing.
        match (storage, &self.said) {
            (RegionStorage::Heap, Some(_)) if self.heap == 0 => Err(Error::Value(
                "a region reference that was read from a structured chunk cannot be written here as it is; follow it with region, and make one with Dataset::region_reference".into(),
            )),
            (RegionStorage::Heap, _) => {
                self.to_bytes(bytes);
                Ok(())
            }
            (RegionStorage::Beside, Some(said)) => Ok(heap.store(Some((said.len(), said)), bytes)?),
            (RegionStorage::Beside, None) if self.heap == 0 => Ok(heap.store(None, bytes)?),
            (RegionStorage::Beside, None) => Err(Error::Value(
                "a region reference cannot be written here, because what it says cannot be read; follow it with region to learn why".into(),
            )),
        }
    }
}
