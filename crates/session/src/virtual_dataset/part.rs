//! One mapping of a virtual dataset, understood.

use std::sync::Arc;

use hyperslab_chunk::Error::Source as SourceError;
use hyperslab_format::virtual_mapping::Mapping;
use hyperslab_space::{Coords, Extent, Selection, Slab, Space};

use super::name::Name;
use crate::Result;

/// A mapping.
pub(super) struct Part {
    pub(super) file: Name,
    pub(super) dataset: Name,
    pub(super) source: Selection,
    pub(super) target: Selection,
    pub(super) kind: Kind,
    /// The corners of the target in the dimensions that have an end.
    pub(super) bounds: Option<(Coords, Coords)>,
}

/// How far a mapping reaches.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// As far as its selections say.
    Fixed,
    /// As far as its source does: the dimensions without end, and the patterns in them.
    Growing { target: (usize, Slab), source: (usize, Slab) },
    /// Each block is a source of its own, as far as there are any.
    Numbered { dim: usize, slab: Slab },
}

impl Part {
    pub(super) fn new(mapping: Mapping, extent: &Extent) -> Result<Part> {
        let fail = |why: String| SourceError(why);
        let (file, dataset) = (Name::parse(&mapping.file).map_err(fail)?, Name::parse(&mapping.dataset).map_err(fail)?);
        let numbered = file.is_numbered() || dataset.is_numbered();
        let refuse = |why: &str| Err(SourceError(format!("mapping of {}: {why}", lossy(&mapping.dataset))).into());
        let kind = match (mapping.target.unlimited(), mapping.source.unlimited()) {
            (None, None) if !numbered => Kind::Fixed,
            (Some(target), Some(source)) if !numbered => Kind::Growing { target, source },
            (Some((dim, slab)), None) if numbered && mapping.target.unlimited_block(0).is_some() => {
                Kind::Numbered { dim, slab }
            }
            (None, _) if numbered => return refuse("a number in the name, and no blocks without end"),
            (Some(_), None) => return refuse("blocks without end, and no number in the name"),
            _ => return refuse("only one side is without end"),
        };
        let bounds =
            Space::with(extent.clone(), mapping.target.clone()).map_err(hyperslab_chunk::Error::from)?.bounds();
        Ok(Part { file, dataset, source: mapping.source, target: mapping.target, kind, bounds })
    }

    /// The names of the source of a block; of the only source, if there is but one.
    pub(super) fn names(&self, block: u64) -> (Arc<[u8]>, Arc<[u8]>) {
        (self.file.of(block), self.dataset.of(block))
    }

    /// Whether the corners of a read leave anything to do.
    pub(super) fn touches(&self, low: &[u64], high: &[u64]) -> bool {
        let Some((first, last)) = &self.bounds else { return false };
        first
            .iter()
            .zip(last)
            .zip(low.iter().zip(high))
            .all(|((first, last), (low, high))| first <= high && low <= last)
    }

    /// The dimension in which it has no end.
    pub(super) fn grows_in(&self) -> Option<usize> {
        match self.kind {
            Kind::Fixed => None,
            Kind::Growing { target: (dim, _), .. } | Kind::Numbered { dim, .. } => Some(dim),
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
