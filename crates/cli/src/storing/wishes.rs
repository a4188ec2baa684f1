//! How the datasets of a file shall be stored when it is written anew: some by their paths, the others all alike.

use super::{Filters, For, Layout, SectionFilters, Sections};
use crate::failure::Failure;
use crate::find;
use hyperslab::driver::Memory;
use hyperslab::space::UNLIMITED;
use hyperslab::{ChunkSection, Dataset, File, FilterStep, Group, Layout as Stored, NewDataset, Node};
use std::collections::HashMap;
use std::sync::Arc;

/// The most bytes that a header takes, so that everything else in it has room too.
const MOST_COMPACT: u64 = 60_000;

/// The most bytes of a chunk that stays as it is when its dataset becomes dense.
const MOST_DENSE: u64 = 16 << 20;

/// The sections of sparse chunks in the order of their numbers; others have no selection.
const SECTIONS: [ChunkSection; 3] = [ChunkSection::Selection, ChunkSection::Values, ChunkSection::Vlen];

/// What is wished for a dataset.
#[derive(Clone, Default)]
struct Wish {
    layout: Option<Layout>,
    filters: Option<Filters>,
    sections: Sections,
}

impl Wish {
    fn is_nothing(&self) -> bool {
        self.layout.is_none() && self.filters.is_none() && self.sections.is_empty()
    }

    /// Makes datasets of several types in a group that shall have the filters; an error if none of them can.
    fn try_filters(&self, scratch: &Group) -> Result<(), hyperslab::Error> {
        let kinds = [Group::new_dataset::<u8>, Group::new_dataset::<i64>, Group::new_dataset::<f64>];
        let any = |kinds: &[fn(&Group) -> NewDataset], make: &dyn Fn(NewDataset) -> Result<(), hyperslab::Error>| {
            let mut tried = kinds.iter().map(|kind| make(kind(scratch).shape([4096])));
            let first = tried.next().unwrap_or(Ok(()));
            if first.is_err() && tried.any(|other| other.is_ok()) { Ok(()) } else { first }
        };
        any(&kinds, &|new| self.filtered(new))?;
        for SectionFilters { section, filters } in self.sections.iter() {
            let make = |new: NewDataset| {
                let new = new.auto_chunks().sparse().section(section);
                filters.give(new, 1).create_unnamed().map(drop)
            };
            match section {
                ChunkSection::Vlen => any(&[Group::new_dataset::<String>], &make)?,
                ChunkSection::Selection | ChunkSection::Values => any(&kinds, &make)?,
            }
        }
        Ok(())
    }

    /// Makes a dataset that shall have the filters for all sections, if there are any.
    fn filtered(&self, new: NewDataset) -> Result<(), hyperslab::Error> {
        let Some(filters) = self.filters.as_ref().filter(|filters| !filters.is_empty()) else { return Ok(()) };
        let new = match self.layout {
            Some(Layout::Compact) => new.compact(),
            Some(Layout::Contiguous) => new.contiguous(),
            Some(Layout::Sparse(_)) => new.auto_chunks().sparse(),
            _ => new.auto_chunks(),
        };
        filters.give(new, 1).create_unnamed().map(drop)
    }
}

/// What is wished for all datasets, and for some.
pub(crate) struct Wishes {
    all: Wish,
    /// By address.
    some: HashMap<u64, Wish>,
    /// A file in memory, where datasets are made to find out whether filters fit them.
    scratch: Group,
}

impl Wishes {
    /// Finds the datasets that are named. Filters for all datasets that would fit none are an error.
    pub(crate) fn new(
        file: &File,
        layouts: &[For<Layout>],
        filters: &[For<Filters>],
        sections: &[For<SectionFilters>],
    ) -> Result<Wishes, Failure> {
        let scratch = File::create_on(Arc::new(Memory::new()))?.root()?;
        let mut wishes = Wishes { all: Wish::default(), some: HashMap::new(), scratch };
        for layout in layouts {
            wishes.wish(file, layout.path.as_deref())?.layout = Some(layout.what.clone());
        }
        for filter in filters {
            wishes.wish(file, filter.path.as_deref())?.filters = Some(filter.what.clone());
        }
        for section in sections {
            wishes.wish(file, section.path.as_deref())?.sections.set(section.what.clone());
        }
        wishes.all.try_filters(&wishes.scratch)?;
        Ok(wishes)
    }

    fn wish(&mut self, file: &File, path: Option<&str>) -> Result<&mut Wish, Failure> {
        let Some(path) = path else { return Ok(&mut self.all) };
        match find::object(file, path)? {
            // An address alone would mean another dataset of this file.
            Node::Dataset(dataset) if dataset.file() != *file => Err(Failure::OtherFiles(path.into())),
            Node::Dataset(dataset) => Ok(self.some.entry(dataset.address()).or_default()),
            _ => Err(Failure::NoDataset(path.into())),
        }
    }

    /// The new dataset as it is wished for; nothing if it stays as it was. What is wished for all is left out where it cannot be.
    pub(crate) fn grant(&self, old: &Dataset, new: NewDataset) -> Option<NewDataset> {
        let own = self.some.get(&old.address());
        let mut wish = Wish {
            layout: own.and_then(|own| own.layout.clone()).or_else(|| self.all.layout.clone()),
            filters: own.and_then(|own| own.filters.clone()).or_else(|| self.all.filters.clone()),
            sections: own.map(|own| own.sections.clone()).unwrap_or_default(),
        };
        if own.is_none_or(|own| own.filters.is_none()) && wants(&wish.filters) && !self.fits(old, &wish) {
            wish.filters = None;
        }
        for other in
            self.all.sections.iter().filter(|other| wish.sections.of(other.section).is_none()).collect::<Vec<_>>()
        {
            let mut more = wish.clone();
            more.sections.set(other);
            if self.fits(old, &more) {
                wish = more;
            }
        }
        if wish.is_nothing() || own.is_none() && !can_be(old, &wish) {
            return None;
        }
        stored(old, new, wish, own.is_some())
    }

    /// Whether the values of a dataset go through the filters that are wished for it.
    fn fits(&self, old: &Dataset, wish: &Wish) -> bool {
        let (extent, new) = (old.extent(), self.scratch.new_dataset_of(old.datatype().clone()));
        let max = extent.max().iter().map(|&max| (max != UNLIMITED).then_some(max));
        let new = new.shape(extent.dims()).max_shape(max.collect::<Vec<_>>());
        stored(old, new, wish.clone(), false).is_some_and(|new| new.create_unnamed().is_ok())
    }
}

/// A new dataset that is stored as it is wished for, else as the old one; chunks that are not meant for it alone are cut to its size.
fn stored(old: &Dataset, new: NewDataset, wish: Wish, alone: bool) -> Option<NewDataset> {
    let layout = match (wish.layout, old.is_sparse()) {
        (Some(Layout::Dense), true) => Some(dense(old)),
        (Some(Layout::Dense), false) => None,
        (None, true) => Some(Layout::Sparse(None)),
        (layout, _) => layout,
    };
    let stored = old.layout().ok()?;
    let is_sparse = matches!(layout, Some(Layout::Sparse(_)));
    let is_chunked =
        is_sparse || matches!((&layout, &stored), (Some(Layout::Chunked(_)), _) | (None, Stored::Chunked { .. }));
    // Only chunks have sections: a dataset that is made in chunks for their filters, and is not sparse, is refused.
    let has_sections = !wish.sections.is_empty();
    let is_plain = !wants(&wish.filters) && !has_sections;
    let new = match (layout, stored) {
        (Some(Layout::Compact), _) | (None, Stored::Compact) if is_plain => new.compact(),
        (Some(Layout::Contiguous), _) | (None, Stored::Contiguous) if is_plain => new.contiguous(),
        (Some(Layout::Compact), _) if !has_sections => new.compact(),
        (Some(Layout::Contiguous), _) if !has_sections => new.contiguous(),
        (Some(Layout::Chunked(Some(chunk)) | Layout::Sparse(Some(chunk))), _) if !alone => new.chunks(cut(&chunk, old)),
        (Some(Layout::Chunked(Some(chunk)) | Layout::Sparse(Some(chunk))), _) => new.chunks(chunk),
        (None | Some(Layout::Sparse(None)), Stored::Chunked { chunk, .. }) => new.chunks(chunk),
        _ => new.auto_chunks(),
    };
    let has_vlen = is_chunked && old.has_vlen_chunks() && !old.is_sparse();
    let new = match (is_sparse, has_vlen) {
        (true, _) => new.sparse(),
        (false, true) => new.vlen_in_chunks(),
        (false, false) => new,
    };
    Some(match wish.filters {
        Some(filters) => wish.sections.give(filters.give(new, old.rank()), old.rank()),
        None if is_chunked => kept_filters(old, new, is_sparse || has_vlen, &wish.sections),
        None => wish.sections.give(new, old.rank()),
    })
}

/// The layout of a sparse dataset that shall have all elements: its chunks, unless those would be too large to be in memory as a whole.
fn dense(old: &Dataset) -> Layout {
    let bytes =
        |chunk: &[u64]| chunk.iter().fold(old.datatype().size() as u64, |bytes, side| bytes.saturating_mul(*side));
    match old.layout() {
        Ok(Stored::Chunked { chunk, .. }) if bytes(&chunk) <= MOST_DENSE => Layout::Chunked(Some(chunk)),
        _ => Layout::Chunked(None),
    }
}

/// Gives a new dataset the filters of the old one, but those of sections of which something else is wished. Filters of a dense dataset go for all sections of a sparse one, and those
/// of the values of a sparse dataset for chunks that have no sections.
fn kept_filters(old: &Dataset, new: NewDataset, has_sections: bool, wished: &Sections) -> NewDataset {
    let Some(filters) = old.section_filters() else {
        return wished.give(old.filters().iter().fold(new, keep), old.rank());
    };
    let sections = (0..).zip(SECTIONS.into_iter().skip(usize::from(!old.is_sparse())));
    sections.fold(new, |new, (number, section)| match wished.of(section) {
        Some(filters) => filters.give(new.section(section), old.rank()),
        None if has_sections => filters.of(number).iter().fold(new.section(section), keep),
        None if section == ChunkSection::Values => filters.of(number).iter().fold(new, keep),
        None => new,
    })
}

fn wants(filters: &Option<Filters>) -> bool {
    filters.as_ref().is_some_and(|filters| !filters.is_empty())
}

/// Whether a wish for all datasets fits this one.
fn can_be(old: &Dataset, wish: &Wish) -> bool {
    let (extent, bytes) = (old.extent(), old.extent().bytes(old.datatype().size() as u64));
    let grows = extent.dims() != extent.max();
    match &wish.layout {
        Some(Layout::Compact) => !grows && bytes.is_some_and(|bytes| bytes <= MOST_COMPACT),
        Some(Layout::Contiguous) => !grows && bytes.is_some(),
        Some(Layout::Chunked(Some(chunk)) | Layout::Sparse(Some(chunk))) => {
            chunk.len() == extent.rank() && !extent.is_empty()
        }
        Some(Layout::Dense) if wish.filters.is_none() => old.is_sparse(),
        Some(Layout::Chunked(None) | Layout::Sparse(None) | Layout::Dense) | None => {
            extent.rank() > 0 && !extent.is_empty()
        }
    }
}

/// Chunks are not larger than the dataset can be.
fn cut(chunk: &[u64], old: &Dataset) -> Vec<u64> {
    chunk.iter().zip(old.extent().max()).map(|(&side, &max)| side.min(max.max(1))).collect()
}

/// Gives a new dataset a filter that the old one had. It completes its parameters anew: chunks may be others.
fn keep(new: NewDataset, step: &FilterStep) -> NewDataset {
    let FilterStep { id, flags, params, .. } = step;
    if flags & 1 == 0 { new.mandatory_filter(*id, params) } else { new.filter(*id, params) }
}
