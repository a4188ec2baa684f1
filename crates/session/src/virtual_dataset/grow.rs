//! How large a virtual dataset is that grows with its sources.

use hyperslab_chunk::Error::Source as SourceError;
use hyperslab_space::{Extent, Slab, UNLIMITED};

use super::{Virtual, part::Kind};
use crate::{Result, VirtualView, virtual_read_budget::VirtualReadBudget};

/// The most numbered sources.
pub(super) const MAX_BLOCKS: u64 = 1 << 20;

impl Virtual {
    /// The extent that the sources give now, from the one that is stored.
    pub(super) fn grown(&self, budget: &VirtualReadBudget) -> Result<Extent> {
        let stored = &self.extent;
        let first_missing = self.session.linked_files.options.view == VirtualView::FirstMissing;
        let mut dims: Vec<Option<u64>> = vec![None; stored.rank()];
        for (index, part) in self.parts.iter().enumerate() {
            let Some(dim) = part.grows_in() else { continue };
            let size = match part.kind {
                Kind::Growing { target, source } => self.reach(index, target.1, source, first_missing, budget)?,
                Kind::Numbered { slab, .. } => self.reach_numbered(index, slab, first_missing, budget)?,
                Kind::Fixed => continue,
            };
            if let Some(known) = dims.get_mut(dim) {
                let better = |known: u64| if first_missing { known.min(size) } else { known.max(size) };
                *known = Some(known.map_or(size, better));
            }
        }
        let least = self.least();
        let sizes = stored.dims().iter().zip(&dims).zip(&least);
        let sizes: Vec<u64> =
            sizes.map(|((&stored, grown), &least)| grown.map_or(stored, |grown| grown.max(least))).collect();
        let max: Vec<Option<u64>> = stored.max().iter().map(|&max| (max != UNLIMITED).then_some(max)).collect();
        Ok(Extent::with_max(&sizes, &max)?)
    }

    /// How large the dimensions must be for what has an end in them.
    pub(super) fn least(&self) -> Vec<u64> {
        let mut least = vec![0; self.extent.rank()];
        for part in &self.parts {
            let (Some((_, high)), grows_in) = (&part.bounds, part.grows_in()) else { continue };
            for (dim, (least, &high)) in least.iter_mut().zip(high).enumerate() {
                if grows_in != Some(dim) && self.is_hyperslab(part) {
                    *least = (*least).max(high.saturating_add(1));
                }
            }
        }
        least
    }

    /// Where the values end that a source has.
    fn reach(
        &self,
        part: usize,
        target: Slab,
        source: (usize, Slab),
        trailing: bool,
        budget: &VirtualReadBudget,
    ) -> Result<u64> {
        let Some(dataset) = self.source(part, 0, budget)? else { return Ok(0) };
        let size = dataset.shape().get(source.0).copied().unwrap_or(0);
        let there = source.1.indices_below(size);
        target.size_with(there, trailing).ok_or_else(|| SourceError("it grows beyond 2^64".into()).into())
    }

    /// Where the last block ends that has a source, with gaps of no more than the options allow.
    fn reach_numbered(&self, part: usize, slab: Slab, first_missing: bool, budget: &VirtualReadBudget) -> Result<u64> {
        let gap = if first_missing { 0 } else { self.session.linked_files.options.gap };
        let (mut found, mut block) = (0u64, 0u64);
        while block <= found.saturating_add(gap) {
            if block == MAX_BLOCKS {
                return Err(SourceError(format!("it has more than {MAX_BLOCKS} numbered sources")).into());
            }
            if self.source(part, block, budget)?.is_some() {
                found = block + 1;
            }
            block += 1;
        }
        let start = |block: u64| block.checked_mul(slab.stride).and_then(|way| way.checked_add(slab.start));
        let size = match found {
            0 => Some(0),
            _ if first_missing => start(found),
            _ => start(found - 1).and_then(|start| start.checked_add(slab.block)),
        };
        size.ok_or_else(|| SourceError("it grows beyond 2^64".into()).into())
    }
}
