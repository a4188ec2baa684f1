//! New datasets: what they shall be like, said step by step, and checked as a whole before anything changes.

mod attributes;
mod create;
mod filter_list;
mod filters;
mod guess;
mod planned;
mod structured;

use std::collections::BTreeMap;

use hyperslab_dtype::{Arena, Datatype, Plan, Target};
use hyperslab_format::{
    message::{AllocTime, FillTime},
    virtual_mapping::Mapping,
};
use hyperslab_space::Space;

use self::attributes::InitialAttribute;
pub use self::filters::{ChunkSection, NewFilter};
use hyperslab_element::Writing;

use crate::{Dataset, ExternalName, Group, NamedDatatype, Result, Storable};

/// A dataset that is not there yet, as [`Group::new_dataset`] gives it. Nothing happens before [`NewDataset::create`] or
/// [`NewDataset::write`].
///
/// ```
/// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
/// let root = file.root()?;
/// root.new_dataset::<f32>().write("plain", &[1.0, 2.0, 3.0])?;
/// let growing = root
///     .new_dataset::<f64>()
///     .shape([0, 100])
///     .max_shape([None, Some(100)])
///     .chunks([64, 100])
///     .shuffle()
///     .deflate(4)
///     .fill_value(f64::NAN)
///     .create("growing")?;
/// growing.resize([10, 100])?;
/// assert!(growing.read_slice::<f64>((0, 0))?[0].is_nan());
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[must_use = "nothing happens before `create` or `write`"]
#[derive(Debug)]
pub struct NewDataset {
    group: Group,
    kind: Kind,
    shape: Shape,
    max: Option<Vec<Option<u64>>>,
    layout: Wanted,
    sparse: bool,
    vlen_chunks: bool,
    filters: Vec<NewFilter>,
    /// The section that the next filters are for; nothing if they are for all.
    section: Option<ChunkSection>,
    section_filters: BTreeMap<ChunkSection, Vec<NewFilter>>,
    fill: Fill,
    fill_time: Option<FillTime>,
    alloc_time: Option<AllocTime>,
    track_order: bool,
    track_times: bool,
    attributes: Vec<InitialAttribute>,
    /// Why its Rust type says no stored one, if nothing else does.
    wrong: Option<crate::Error>,
    /// Why the first filter cannot be replaced that cannot be.
    wrong_filter: Option<crate::Error>,
    /// Why it cannot have the first attribute that it cannot have.
    wrong_attribute: Option<crate::Error>,
}

/// What the values are.
#[derive(Debug)]
enum Kind {
    Given(Datatype),
    Committed(NamedDatatype),
}

#[derive(Debug)]
enum Shape {
    /// The caller did not say; that of the first values.
    Unknown,
    Empty,
    Scalar,
    Simple(Vec<u64>),
}

/// How values shall be stored.
#[derive(Debug)]
enum Wanted {
    /// In one piece, or in chunks if it has to be.
    Usual,
    Compact,
    Contiguous,
    Chunks(Vec<u64>),
    /// Chunks of a size that suits most.
    SomeChunks,
    External(Vec<ExternalName>),
    Virtual(Vec<Mapping>),
}

/// What elements are that were never written.
enum Fill {
    Zeros,
    Undefined,
    /// So many elements as stored, given the stored type and where what is of variable length goes.
    Given(Box<FillBytes>),
}

type FillBytes = dyn Fn(&Datatype, usize, &mut dyn Target) -> Result<Vec<u8>> + Send + Sync;

impl std::fmt::Debug for Fill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Fill::Zeros => "Zeros",
            Fill::Undefined => "Undefined",
            Fill::Given(_) => "Given",
        })
    }
}

impl Group {
    /// A new dataset for values of a Rust type.
    pub fn new_dataset<T: Storable + ?Sized>(&self) -> NewDataset {
        let (datatype, wrong) = match T::datatype() {
            Ok(datatype) => (datatype, None),
            Err(why) => (Datatype::of::<u8>(), Some(why)),
        };
        NewDataset { wrong, ..self.new_dataset_of(datatype) }
    }

    /// A new dataset for values of a datatype.
    pub fn new_dataset_of(&self, datatype: Datatype) -> NewDataset {
        NewDataset {
            group: self.clone(),
            kind: Kind::Given(datatype),
            shape: Shape::Unknown,
            max: None,
            layout: Wanted::Usual,
            sparse: false,
            vlen_chunks: false,
            filters: Vec::new(),
            section: None,
            section_filters: BTreeMap::new(),
            fill: Fill::Zeros,
            fill_time: None,
            alloc_time: None,
            track_order: false,
            track_times: false,
            attributes: Vec::new(),
            wrong: None,
            wrong_filter: None,
            wrong_attribute: None,
        }
    }
}

/// What the values are, and how many.
impl NewDataset {
    /// The stored type, if it is not that of the Rust type.
    pub fn datatype(self, datatype: Datatype) -> NewDataset {
        NewDataset { kind: Kind::Given(datatype), wrong: None, ..self }
    }

    /// The stored type is a committed one of the same file, and stays bound to it.
    pub fn committed(self, datatype: &NamedDatatype) -> NewDataset {
        NewDataset { kind: Kind::Committed(datatype.clone()), wrong: None, ..self }
    }

    /// Its size in each dimension. Without this it has that of the first values: one dimension.
    pub fn shape(self, shape: impl AsRef<[u64]>) -> NewDataset {
        let shape = shape.as_ref();
        NewDataset { shape: if shape.is_empty() { Shape::Scalar } else { Shape::Simple(shape.to_vec()) }, ..self }
    }

    /// One value without dimensions.
    pub fn scalar(self) -> NewDataset {
        NewDataset { shape: Shape::Scalar, ..self }
    }

    /// No values, and no place for any.
    pub fn empty(self) -> NewDataset {
        NewDataset { shape: Shape::Empty, ..self }
    }

    /// How far each dimension may grow; `None` is without end. Such a dataset is stored in chunks.
    pub fn max_shape(self, max: impl AsRef<[Option<u64>]>) -> NewDataset {
        NewDataset { max: Some(max.as_ref().to_vec()), ..self }
    }

    /// What elements are that were never written; zeros if nothing is said.
    pub fn fill_value<T: Storable + Send + 'static>(self, value: T) -> NewDataset {
        let encode = move |stored: &Datatype, count: usize, heap: &mut dyn Target| {
            let writing = Writing::<T>::new(stored)?;
            let values = std::slice::from_ref(&value);
            let (bytes, arena) = writing.encode(values)?;
            let mut stored = hyperslab_session::room(count as u64, stored.size())?;
            writing.plan().convert(count, &bytes.repeat(count), &mut stored, &arena, heap)?;
            Ok(stored)
        };
        NewDataset { fill: Fill::Given(Box::new(encode)), ..self }
    }

    /// As [`NewDataset::fill_value`], with a value that is bytes of `datatype`; what is of variable length is in the arena.
    pub fn fill_converted(self, datatype: Datatype, bytes: Vec<u8>, arena: Arena) -> NewDataset {
        let encode = move |stored: &Datatype, count: usize, heap: &mut dyn Target| {
            let plan = Plan::new(&datatype, stored)?;
            let mut filled = hyperslab_session::room(count as u64, stored.size())?;
            plan.convert(count, &bytes.repeat(count), &mut filled, &arena, heap)?;
            Ok(filled)
        };
        NewDataset { fill: Fill::Given(Box::new(encode)), ..self }
    }

    /// Elements that were never written may be anything.
    pub fn no_fill_value(self) -> NewDataset {
        NewDataset { fill: Fill::Undefined, ..self }
    }

    /// When the fill value is written to new space.
    pub fn fill_time(self, time: FillTime) -> NewDataset {
        NewDataset { fill_time: Some(time), ..self }
    }

    /// When space is taken for values.
    pub fn alloc_time(self, time: AllocTime) -> NewDataset {
        NewDataset { alloc_time: Some(time), ..self }
    }

    /// Whether the order is kept in which attributes are made.
    pub fn track_order(self, track: bool) -> NewDataset {
        NewDataset { track_order: track, ..self }
    }

    /// Whether the times of changes are kept.
    pub fn track_times(self, track: bool) -> NewDataset {
        NewDataset { track_times: track, ..self }
    }
}

/// How values are stored.
impl NewDataset {
    /// In chunks of this shape.
    pub fn chunks(self, chunk: impl AsRef<[u64]>) -> NewDataset {
        NewDataset { layout: Wanted::Chunks(chunk.as_ref().to_vec()), ..self }
    }

    /// In chunks that have only those elements that were written: others take no space, and [`Dataset::defined`] tells which they are. Filters go for both: the places of
    /// elements, and their values. Such chunks are in no released version of the format; libhdf5 reads the rest of the file.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let image = file.root()?.new_dataset::<u16>().shape([1000, 1000]).chunks([500, 500]).sparse().deflate(6);
    /// let image = image.create("image")?;
    /// image.write_slice(hyperslab::s![10..12, 20..23], &[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(image.defined(&image.space())?.npoints(), 6);
    /// assert_eq!(image.read_slice::<u16>(hyperslab::s![10, 19..24])?, [0, 1, 2, 3, 0]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn sparse(self) -> NewDataset {
        NewDataset { sparse: true, ..self }
    }

    /// Stores what is of variable length in chunks, with the values that it belongs to, and not in the heap of the file: it is as near as they are, goes
    /// through filters, and leaves with them. Sparse datasets always do so. Programs that do not know such chunks cannot read them.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let new = file.root()?.new_dataset::<Vec<f32>>().shape([1000]).chunks([100]).vlen_in_chunks().deflate(6);
    /// let tracks = new.create("tracks")?;
    /// tracks.write_slice(hyperslab::s![0..2], &[vec![1.5f32, 2.5], vec![]])?;
    /// assert_eq!(tracks.read_slice::<Vec<f32>>(hyperslab::s![0..3])?, [vec![1.5, 2.5], vec![], vec![]]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn vlen_in_chunks(self) -> NewDataset {
        NewDataset { vlen_chunks: true, ..self }
    }

    /// In chunks of a size that suits most, as h5py finds it.
    pub fn auto_chunks(self) -> NewDataset {
        NewDataset { layout: Wanted::SomeChunks, ..self }
    }

    /// In the object's header: for few values.
    pub fn compact(self) -> NewDataset {
        NewDataset { layout: Wanted::Compact, ..self }
    }

    /// In one piece.
    pub fn contiguous(self) -> NewDataset {
        NewDataset { layout: Wanted::Contiguous, ..self }
    }

    /// In other files, one after the other: the name of each, the first byte, and how many bytes if that is limited. Those that are
    /// missing are made.
    pub fn external<N: Into<Vec<u8>>>(self, files: impl IntoIterator<Item = (N, u64, Option<u64>)>) -> NewDataset {
        let files = files.into_iter().map(|(name, offset, size)| (name.into(), offset, size)).collect();
        NewDataset { layout: Wanted::External(files), ..self }
    }

    /// In other datasets: adds a part. What is selected of `target`, which has the shape of this dataset, is what is selected of a
    /// dataset in a file; `.` is this file.
    pub fn virtual_source(
        self,
        target: &Space,
        file: impl AsRef<[u8]>,
        dataset: impl AsRef<[u8]>,
        source: &Space,
    ) -> NewDataset {
        let mapping = Mapping {
            file: file.as_ref().into(),
            dataset: dataset.as_ref().into(),
            source: source.selection().clone(),
            target: target.selection().clone(),
        };
        self.virtual_sources([mapping])
    }

    /// In other datasets: adds these parts.
    pub fn virtual_sources(mut self, parts: impl IntoIterator<Item = Mapping>) -> NewDataset {
        match &mut self.layout {
            Wanted::Virtual(mappings) => mappings.extend(parts),
            layout => *layout = Wanted::Virtual(parts.into_iter().collect()),
        }
        self
    }
}

/// Making it.
impl NewDataset {
    /// Makes the dataset at a path from the group on. Groups on the way are made if they are missing.
    pub fn create(mut self, path: impl AsRef<[u8]>) -> Result<Dataset> {
        let right = self.right();
        let place = self.group.open.place_unseen(path.as_ref())?;
        right.and_then(|()| create::create(&self, &place))
    }

    /// Makes the dataset without a name, in the file of the group. It is deleted with its last handle, unless it gets a name before, by
    /// [`Group::hard_link`] or [`Group::replace`].
    pub fn create_unnamed(mut self) -> Result<Dataset> {
        let right = self.right();
        let place = self.group.open.nowhere()?;
        right.and_then(|()| create::create(&self, &place))
    }

    /// Makes the dataset and writes all its values, the last dimension fastest.
    pub fn write<T: Storable>(mut self, path: impl AsRef<[u8]>, values: &[T]) -> Result<Dataset> {
        self.shape_of(values);
        let right = self.right();
        let place = self.group.open.place_unseen(path.as_ref())?;
        right.and_then(|()| create::create_with(&self, &place, values))
    }

    /// As [`NewDataset::write`], [without a name](NewDataset::create_unnamed).
    pub fn write_unnamed<T: Storable>(mut self, values: &[T]) -> Result<Dataset> {
        self.shape_of(values);
        let right = self.right();
        let place = self.group.open.nowhere()?;
        right.and_then(|()| create::create_with(&self, &place, values))
    }

    /// Makes the dataset with one value, without dimensions.
    pub fn write_scalar<T: Storable>(self, path: impl AsRef<[u8]>, value: &T) -> Result<Dataset> {
        self.scalar().write(path, std::slice::from_ref(value))
    }
}
