//! The filters that a new dataset has so far: listed, replaced and removed.

use super::{ChunkSection, NewDataset, NewFilter};
use crate::Error;

/// Filters that are there already, all before the dataset is made. What replaces or removes goes for the section that was [named](NewDataset::section) last, and for the filters
/// of all sections if none was.
impl NewDataset {
    /// The filters that follow go for all sections that have none of their own, as before the first [section](NewDataset::section).
    ///
    /// ```
    /// use hyperslab::ChunkSection;
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let new = file.root()?.new_dataset::<u16>().shape([100]).chunks([10]).sparse();
    /// let new = new.section(ChunkSection::Selection).lzf().all_sections().deflate(6);
    /// assert_eq!((new.filters().len(), new.filters_of(ChunkSection::Selection).map(<[_]>::len)), (1, Some(1)));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn all_sections(self) -> NewDataset {
        NewDataset { section: None, ..self }
    }

    /// The filters so far, in their order: of chunks in one piece, or of all sections that have none of their own.
    pub fn filters(&self) -> &[NewFilter] {
        &self.filters
    }

    /// The filters so far that are for one section alone; nothing if it has those for all.
    pub fn filters_of(&self, section: ChunkSection) -> Option<&[NewFilter]> {
        self.section_filters.get(&section).map(Vec::as_slice)
    }

    /// Puts a filter in the place of the one with a number. If there is none, making the dataset is an error.
    ///
    /// ```
    /// use hyperslab::{ChunkSection, NewFilter, filter::{Deflate, Zstd}};
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let new = file.root()?.new_dataset::<u16>().shape([100]).chunks([10]).sparse();
    /// let new = new.section(ChunkSection::Values).deflate(6).fletcher32();
    /// let zstd = NewFilter { id: Zstd::ID, optional: true, params: Zstd::params(3) };
    /// let dataset = new.replace_filter(Deflate::ID, zstd).create("row")?;
    /// let filters = dataset.section_filters().map(|filters| filters.of(1)).unwrap_or_default();
    /// assert_eq!(filters.iter().map(|step| step.id).collect::<Vec<_>>(), [Zstd::ID, 3]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn replace_filter(mut self, id: u16, filter: NewFilter) -> NewDataset {
        match self.filters_mut().iter_mut().find(|known| known.id == id) {
            Some(known) => *known = filter,
            None => {
                let whose = match self.section {
                    Some(section) => format!("the section {section:?} of the new dataset has"),
                    None => "the new dataset has".into(),
                };
                let why = format!("{whose} no filter {id} that could be replaced; add filter {} instead", filter.id);
                self.wrong_filter.get_or_insert(Error::Create(why));
            }
        }
        self
    }

    /// Takes out all filters with a number. It is no error if there is none.
    ///
    /// ```
    /// use hyperslab::filter::Shuffle;
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let new = file.root()?.new_dataset::<u16>().shape([100]).chunks([10]).shuffle().deflate(6);
    /// assert_eq!(new.remove_filter(Shuffle::ID).filters().len(), 1);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn remove_filter(mut self, id: u16) -> NewDataset {
        self.filters_mut().retain(|filter| filter.id != id);
        self
    }

    /// Takes out all filters: a section has none then, also if there are some for all sections.
    pub fn remove_filters(mut self) -> NewDataset {
        self.filters_mut().clear();
        self
    }
}
