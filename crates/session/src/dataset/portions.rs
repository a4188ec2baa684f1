//! Overwriting values of variable length portion by portion, so that the heap never has all old values and all new ones at once.

use hyperslab_chunk::{StripCut, for_each_strip};
use hyperslab_space::Space;

use super::OpenDataset;
use crate::Result;

/// A write is cut into so many portions.
const PORTIONS: u64 = 32;
/// Fewer values are not cut.
const FEW: u64 = 256;

impl OpenDataset {
    /// Hands a selection and the places of its values to `write`, which writes them in one operation. Values that replace others of variable length are
    /// handed out in portions: what one of them frees, the next ones get. No other request for these values comes in between.
    pub(super) fn in_portions(
        &self,
        selection: &Space,
        mem_selection: &Space,
        write: impl Fn(&OpenDataset, &Space, &Space) -> Result<()>,
    ) -> Result<()> {
        let portions = self.replaces_sequences(selection).then(|| self.portions(selection));
        let Some(portions) = portions else { return write(self, selection, mem_selection) };
        let _guard = match self.partition_to_write()? {
            Some(partition) => self.lock_to_write(partition, selection)?,
            None => self.lock_all()?,
        };
        let under_lock = self.under_lock();
        for_each_strip(selection, mem_selection, Some(&portions), &mut |part, mem_selection| {
            write(&under_lock, part, mem_selection)
        })
    }

    /// Whether many values of variable length are there already, and the file may name them. Those that cannot be read are not replaced.
    pub fn replaces_sequences(&self, selection: &Space) -> bool {
        let count = selection.npoints();
        if !self.names_heap_objects() || count <= FEW || self.stored().is_fresh(self.address()) {
            return false;
        }
        let mut found = false;
        let mut look = |stored: &[u8]| {
            found |= stored.iter().any(|byte| *byte != 0);
            Ok(())
        };
        self.in_any_order(selection, &mut look).is_ok() && found
    }

    /// What of a selection is written at once: whole chunks, if each is encoded anew.
    fn portions(&self, selection: &Space) -> StripCut {
        let (now, size) = (self.now(), self.datatype().size().max(1) as u64);
        let chunk = now.dense_chunk().filter(|_| !self.filters().is_empty());
        let unit = chunk.map_or_else(|| vec![1; now.extent.rank()], <[u64]>::to_vec);
        let most = (selection.npoints() / PORTIONS).max(FEW).saturating_mul(size);
        StripCut::to_fit(most, unit, size)
    }
}
