//! Values that are kept in other datasets.

use std::sync::Arc;

use hyperslab_space::{Extent, Selection, Space};

use crate::{Result, scatter};

/// Another dataset, as the parts of a virtual one see it.
pub trait VirtualSource: Send + Sync {
    /// Its size; `None` if it cannot be had.
    fn extent(&self) -> Result<Option<Extent>>;

    /// The selected values one after the other, as bytes of the virtual dataset's type.
    fn read(&self, selection: &Space) -> Result<Vec<u8>>;
}

/// A part of a virtual dataset.
pub struct VirtualPart {
    /// Where it appears.
    pub target: Selection,
    /// What is taken of the source.
    pub source: Selection,
    /// Where its values are.
    pub dataset: Arc<dyn VirtualSource>,
}

/// Reads the selection of `wanted` into the selection of `memory`. What no source has is the fill value.
pub(crate) fn read(
    parts: &[VirtualPart],
    wanted: &Space,
    memory: &Space,
    buf: &mut [u8],
    fill: Option<&[u8]>,
    element: u64,
) -> Result<()> {
    scatter::fill(fill, buf, memory, element)?;
    for part in parts {
        let target = Space::with(wanted.extent().clone(), part.target.clone())?.clip_unlimited()?;
        let there = wanted.project_intersection(memory, &target)?;
        if there.npoints() == 0 {
            continue;
        }
        let Some(extent) = part.dataset.extent()? else { continue };
        let source = Space::with(extent, part.source.clone())?.clip_unlimited()?;
        if source.npoints() != target.npoints() || source.check_inside().is_err() {
            continue; // a source that is smaller than the mapping says has no values for it
        }
        let from = target.project_intersection(&source, wanted)?;
        let bytes = part.dataset.read(&from)?;
        scatter::scatter(&bytes, buf, &there, element)?;
    }
    Ok(())
}

impl std::fmt::Debug for VirtualPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VirtualPart").field("target", &self.target).field("source", &self.source).finish()
    }
}
