//! Datasets that are stored in another way in a file that is written anew.

use hyperslab_format::{message::Layout, version};
use hyperslab_session::{DatasetPlan, OpenDataset, Result};

use crate::tree::Copier;

impl Copier<'_> {
    /// Gives a dataset the layout and the filters that the caller wants it to have. Values that are elsewhere stay there.
    pub(super) fn restore(&self, from: &OpenDataset, planned: &mut DatasetPlan) -> Result<()> {
        let Some(how) = &self.restore else { return Ok(()) };
        if !planned.external.is_empty() || matches!(planned.layout, Layout::Virtual { .. }) {
            return Ok(());
        }
        let Some(wanted) = how(from, planned, &self.target)? else { return Ok(()) };
        let structure = |layout: &Layout| match layout {
            Layout::Chunked { structure, .. } => *structure,
            _ => None,
        };
        let is_same = std::mem::discriminant(&wanted.layout) == std::mem::discriminant(&planned.layout);
        if !is_same || structure(&wanted.layout) != structure(&planned.layout) {
            planned.fill.alloc = wanted.fill.alloc;
        }
        (planned.layout, planned.filters) = (wanted.layout, wanted.filters);
        planned.layout_version = wanted.layout_version;
        if let Layout::Chunked { structure, chunk, index, .. } = &mut planned.layout {
            let filtered = !planned.filters.is_empty();
            let (version, extent, alloc) = (planned.layout_version, &planned.extent, planned.fill.alloc);
            let usual = match structure {
                Some(structure) => version::structured_chunk_index(extent, chunk, *structure, filtered),
                None => version::chunk_index(version, extent, chunk, filtered, alloc),
            };
            *index = hyperslab_chunk::index_that_holds(usual, extent, chunk);
        }
        Ok(())
    }
}
