//! References as values: to objects, and to parts of datasets.

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RegionReference {
    /// The collection and the index of what is behind it.
    heap: u64,
    index: u32,
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

impl RegionReference {
    /// Refers to nothing.
    pub const NULL: RegionReference = RegionReference { heap: 0, index: 0 };

    /// The dataset and what of it is meant; nothing if it refers to nothing.
    pub fn region(self, file: &File) -> Result<Option<(Dataset, Space)>> {
        let datatype = stored_type(Reference::Region, file)?;
        let mut bytes = vec![0; datatype.size()];
        self.to_bytes(&mut bytes);
        let Some(referent) = file.dereference(&datatype, &bytes)? else { return Ok(None) };
        let Part::Region(space) = referent.part else { return Ok(None) };
        Ok(Some((file.at(referent.address)?.into_dataset()?, *space)))
    }

    fn to_bytes(self, bytes: &mut [u8]) {
        let width = bytes.len().saturating_sub(4);
        let address = self.heap.to_le_bytes().into_iter().take(width);
        bytes.iter_mut().zip(address.chain(self.index.to_le_bytes())).for_each(|(to, from)| *to = from);
    }

    fn from_bytes(bytes: &[u8]) -> RegionReference {
        let (heap, index) = bytes.split_at(bytes.len().saturating_sub(4));
        RegionReference { heap: number(heap), index: number(index) as u32 }
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
            Ok(RegionReference { heap, index })
        })
    }
}

macro_rules! values {
    ($($value:ty, $class:path, $size:literal, $from:expr, $to:expr;)*) => {$(
        impl Element for $value {
            type Decoder = ();

            fn recipe(stored: &Datatype) -> Result<Recipe<()>> {
                match stored.class() {
                    Class::Reference($class) => Recipe::verbatim(stored, ()),
                    _ => Err(Error::mismatch::<$value>(stored)),
                }
            }

            fn decode((): &(), bytes: &[u8], _: &Sequences<'_>) -> Result<$value> {
                Ok($from(bytes))
            }
        }

        impl Storable for $value {
            type Encoder = ();

            fn datatype() -> Result<Datatype> {
                Ok(Datatype::reference($size, $class)?)
            }

            fn storing(stored: &Datatype) -> Result<Storing<()>> {
                match stored.class() {
                    Class::Reference($class) => Storing::verbatim(stored, ()),
                    _ => Err(Error::not_from::<$value>(stored)),
                }
            }

            fn encode(&self, (): &(), bytes: &mut [u8], _: &mut dyn Target) -> Result<()> {
                $to(*self, bytes);
                Ok(())
            }
        }
    )*};
}
values! {
    ObjectReference, Reference::Object, 8, |bytes| ObjectReference(number(bytes)), |value: ObjectReference, bytes: &mut [u8]| {
        bytes.iter_mut().zip(value.0.to_le_bytes()).for_each(|(to, from)| *to = from);
    };
    RegionReference, Reference::Region, 12, RegionReference::from_bytes, RegionReference::to_bytes;
}
