//! Datasets.

mod cache;
mod change;
mod defined_chunks;
mod read_defined;
mod structured_chunks;
mod typed;
mod write;
mod write_coords;

use std::sync::Arc;

use hyperslab_dtype::Datatype;
use hyperslab_file::Handle;
use hyperslab_format::{
    message::{FillWrite, FilterStep, SectionFilters},
    virtual_mapping::Mapping,
};
use hyperslab_object::Life;
use hyperslab_session::{Current, Layout, OpenDataset, Session, StoredSize};
use hyperslab_space::{Extent, Space};

use crate::{File, Result, TransferOptions};

pub use self::defined_chunks::{DefinedChunk, DefinedChunks};
pub use self::structured_chunks::{SectionInfo, StructuredChunkInfo};

/// An object that holds an array of values. Cheap to clone; any number of threads may use it at once.
#[derive(Clone, Debug)]
pub struct Dataset {
    pub(crate) open: OpenDataset,
}

impl Dataset {
    pub(crate) fn of(open: OpenDataset) -> Dataset {
        Dataset { open }
    }

    pub(crate) fn session(&self) -> &Session {
        self.open.session()
    }

    pub(crate) fn object(&self) -> Result<Current<'_>> {
        self.open.object()
    }

    pub(crate) fn handle(&self) -> Option<Arc<Handle>> {
        self.open.handle()
    }

    pub(crate) fn life(&self) -> Life {
        self.open.life()
    }

    /// The file that it is in.
    pub fn file(&self) -> File {
        File { session: self.session().clone() }
    }

    /// A handle of the dataset as the file has it now, if another process may have changed it; a file that this process may change is always seen as
    /// it is. Other handles stay as they were. The sources of a virtual dataset are read anew, too.
    pub fn refresh(&self) -> Result<Dataset> {
        self.open.refresh().map(Dataset::of)
    }

    /// Where its header is.
    pub fn address(&self) -> u64 {
        self.open.address()
    }

    /// Its size now, and how far it may grow.
    pub fn extent(&self) -> Extent {
        self.open.extent()
    }

    /// Its size in each dimension now; nothing for a scalar.
    pub fn shape(&self) -> Vec<u64> {
        self.open.shape()
    }

    /// The number of its dimensions; none for a scalar.
    pub fn rank(&self) -> usize {
        self.open.rank()
    }

    /// How many values it has; `u64::MAX` if 64 bits do not hold the number ([`Extent::elements`] tells).
    pub fn len(&self) -> u64 {
        self.open.len()
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The type of its values, as stored.
    pub fn datatype(&self) -> &Datatype {
        self.open.datatype()
    }

    /// The type that values have in the storage. If what is of variable length is [in chunks](Self::has_vlen_chunks), so is what references to regions and revised references
    /// [say](Datatype::in_chunks); else it is [the one of the header](Self::datatype).
    pub fn stored_datatype(&self) -> &Datatype {
        self.open.stored_datatype()
    }

    /// The type that values have in memory as they are, for reads and writes of converted values: what is of variable length is in an arena.
    ///
    /// ```
    /// use hyperslab::{RegionReference, dtype::Arena, space::Space};
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let dataset = file.root()?.new_dataset::<RegionReference>().shape([4]).sparse().create("regions")?;
    /// let datatype = dataset.memory_datatype()?;
    /// let (mut values, mut arena) = (vec![0; 4 * datatype.size()], Arena::default());
    /// dataset.read_converted(&dataset.space(), &datatype, &Space::simple(&[4])?, &mut values, &mut arena)?;
    /// assert_eq!(file.heap().dereference_in(&arena, &datatype, &values[..datatype.size()])?, None);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn memory_datatype(&self) -> Result<Datatype> {
        self.open.memory_datatype()
    }

    /// Whether its type is a committed one.
    pub fn has_committed_datatype(&self) -> bool {
        self.open.has_committed_datatype()
    }

    /// The filters that its chunks go through, in the order in which they are applied when writing.
    pub fn filters(&self) -> &[FilterStep] {
        self.open.filters()
    }

    /// The filters that each section of its chunks goes through, if chunks have several.
    pub fn section_filters(&self) -> Option<&SectionFilters> {
        self.open.section_filters()
    }

    /// Whether it has only those elements that were written.
    pub fn is_sparse(&self) -> bool {
        self.open.is_sparse()
    }

    /// Whether what is of variable length in its values is [in its chunks](crate::NewDataset::vlen_in_chunks). Then [`Dataset::read_stored`] is an error, because values say
    /// nothing without their chunks; all other reads are as for other datasets.
    pub fn has_vlen_chunks(&self) -> bool {
        self.open.has_vlen_chunks()
    }

    /// What elements are that were never written, and when that is decided.
    pub fn fill(&self) -> &FillWrite {
        self.open.fill()
    }

    /// How it is stored.
    pub fn layout(&self) -> Result<Layout> {
        self.open.layout()
    }

    /// Where the parts of a virtual dataset come from; nothing for others.
    pub fn virtual_mappings(&self) -> Result<Vec<Mapping>> {
        self.open.virtual_mappings()
    }

    /// How much place its values take, as stored. Reads the index of a chunked dataset as a whole, when the file has all of its
    /// chunks; else costs nothing.
    pub fn stored_size(&self) -> Result<StoredSize> {
        self.open.stored_size()
    }

    /// All of its values, for the reads that take a selection.
    pub fn space(&self) -> Space {
        self.open.space()
    }

    /// A handle whose reads and writes go between file and caller directly, and leave nothing new in the cache: for what is used once, next to
    /// what is used often. What the cache has already is used, and stays right. A virtual dataset has nothing there; its sources do as they do.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let rows = file.root()?.new_dataset::<i32>().shape([64, 64]).chunks([64, 64]).deflate(1).create("rows")?;
    /// rows.past_cache().write_slice(hyperslab::s![7, ..], &[7; 64])?;
    /// assert_eq!(rows.past_cache().read_slice::<i32>(hyperslab::s![7, 5])?, [7]);
    /// assert_eq!(file.cache_statistics().bytes, 0);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn past_cache(&self) -> Dataset {
        Dataset::of(self.open.past_cache())
    }

    /// A handle whose reads and writes of values go to the storage with these options, in place of those that the file was
    /// [opened with](crate::OpenOptions::transfer). What a write leaves in the cache is written later, with the options of
    /// [the flush](crate::File::flush_with); by a handle [past the cache](Dataset::past_cache) it is written at once. The sources of a virtual dataset keep
    /// the options of their files.
    ///
    /// ```
    /// use hyperslab::{TransferOptions, driver::Mode};
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let rows = file.root()?.new_dataset::<i32>().shape([64, 64]).create("rows")?;
    /// let together = rows.with_transfer(&TransferOptions::default().with_mode(Mode::Collective));
    /// together.past_cache().write(&[7; 64 * 64])?;
    /// assert_eq!(together.read_slice::<i32>(hyperslab::s![7, 5])?, [7]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn with_transfer(&self, options: &TransferOptions) -> Dataset {
        Dataset::of(self.open.with_transfer(options))
    }
}
