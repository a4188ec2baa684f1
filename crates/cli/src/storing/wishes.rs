//! How the datasets of a file shall be stored when it is written anew: some by their paths, the others all alike.

use super::{Filters, For, Layout};
use crate::failure::Failure;
use crate::find;
use hyperslab::{Dataset, File, FilterStep, Layout as Stored, NewDataset, Node};
use std::collections::HashMap;

/// The most bytes that a header takes, so that everything else in it has room too.
const MOST_COMPACT: u64 = 60_000;

/// What is wished for a dataset.
#[derive(Clone, Default)]
struct Wish {
    layout: Option<Layout>,
    filters: Option<Filters>,
}

/// What is wished for all datasets, and for some.
pub(crate) struct Wishes {
    all: Wish,
    /// By address.
    some: HashMap<u64, Wish>,
}

impl Wishes {
    /// Finds the datasets that are named.
    pub(crate) fn new(file: &File, layouts: &[For<Layout>], filters: &[For<Filters>]) -> Result<Wishes, Failure> {
        let mut wishes = Wishes { all: Wish::default(), some: HashMap::new() };
        for layout in layouts {
            wishes.wish(file, layout.path.as_deref())?.layout = Some(layout.what.clone());
        }
        for filter in filters {
            wishes.wish(file, filter.path.as_deref())?.filters = Some(filter.what.clone());
        }
        Ok(wishes)
    }

    fn wish(&mut self, file: &File, path: Option<&str>) -> Result<&mut Wish, Failure> {
        let Some(path) = path else { return Ok(&mut self.all) };
        match find::object(file, path)? {
            // An address alone would mean another dataset of this file.
            Node::Dataset(dataset) if dataset.file() != file => Err(Failure::Elsewhere(path.into())),
            Node::Dataset(dataset) => Ok(self.some.entry(dataset.address()).or_default()),
            _ => Err(Failure::NoDataset(path.into())),
        }
    }

    /// The new dataset as it is wished for; nothing if it stays as it was. What is wished for all is left out where it cannot be.
    pub(crate) fn grant(&self, old: &Dataset, new: NewDataset) -> Option<NewDataset> {
        let own = self.some.get(&old.address());
        let wish = Wish {
            layout: own.and_then(|own| own.layout.clone()).or_else(|| self.all.layout.clone()),
            filters: own.and_then(|own| own.filters.clone()).or_else(|| self.all.filters.clone()),
        };
        if wish.layout.is_none() && wish.filters.is_none() || own.is_none() && !can_be(old, &wish) {
            return None;
        }
        let stored = old.layout().ok()?;
        let is_chunked =
            matches!((&wish.layout, &stored), (Some(Layout::Chunked(_)), _) | (None, Stored::Chunked { .. }));
        let new = match (wish.layout, stored) {
            (Some(Layout::Compact), _) | (None, Stored::Compact) if !wants(&wish.filters) => new.compact(),
            (Some(Layout::Contiguous), _) | (None, Stored::Contiguous) if !wants(&wish.filters) => new.contiguous(),
            (Some(Layout::Compact), _) => new.compact(),
            (Some(Layout::Contiguous), _) => new.contiguous(),
            (Some(Layout::Chunked(Some(chunk))), _) if own.is_none() => new.chunks(cut(&chunk, old)),
            (Some(Layout::Chunked(Some(chunk))), _) => new.chunks(chunk),
            (None, Stored::Chunked { chunk, .. }) => new.chunks(chunk),
            _ => new.auto_chunks(),
        };
        Some(match wish.filters {
            Some(filters) => filters.give(new),
            None if is_chunked => old.filters().iter().fold(new, keep),
            None => new,
        })
    }
}

fn wants(filters: &Option<Filters>) -> bool {
    filters.as_ref().is_some_and(|filters| !filters.is_empty())
}

/// Whether a wish for all datasets fits this one.
fn can_be(old: &Dataset, wish: &Wish) -> bool {
    let (extent, bytes) = (old.extent(), old.extent().elements().saturating_mul(old.datatype().size() as u64));
    let grows = extent.dims() != extent.max();
    match &wish.layout {
        Some(Layout::Compact) => !grows && bytes <= MOST_COMPACT,
        Some(Layout::Contiguous) => !grows,
        Some(Layout::Chunked(Some(chunk))) => chunk.len() == extent.rank() && extent.elements() > 0,
        Some(Layout::Chunked(None)) | None => extent.rank() > 0 && extent.elements() > 0,
    }
}

/// Chunks are not larger than the dataset can be.
fn cut(chunk: &[u64], old: &Dataset) -> Vec<u64> {
    chunk.iter().zip(old.extent().max()).map(|(&side, &max)| side.min(max.max(1))).collect()
}

/// Gives a new dataset a filter that the old one had, for chunks that may be others.
fn keep(new: NewDataset, step: &FilterStep) -> NewDataset {
    let first = step.params.first().copied().unwrap_or(0);
    match step.id {
        2 => new.shuffle(),
        3 => new.fletcher32(),
        4 => new.szip(first & 32 != 0, step.params.get(1).copied().unwrap_or(16)),
        5 => new.nbit(),
        6 => new.scaleoffset(step.params.get(1).copied().unwrap_or(0) as i32),
        id if step.flags & 1 == 0 => new.mandatory_filter(id, &step.params),
        id => new.filter(id, &step.params),
    }
}
