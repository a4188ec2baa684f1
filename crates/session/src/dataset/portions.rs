//! Overwriting values of variable length portion by portion, so that the heap never has all old values and all new ones at once.

use hyperslab_format::message::Layout;
use hyperslab_space::{Grid, Space};

use super::{
    OpenDataset,
    batch::{cut, placed},
};
use crate::Result;

/// A write is cut into so many portions.
const PORTIONS: u64 = 32;
/// Fewer values are not cut.
const FEW: u64 = 256;

impl OpenDataset {
    /// Hands a selection and the places of its values to `write`, which writes them in one operation. Values that replace others of variable length are
    /// handed out in portions: what one of them frees, the next ones get. No other request comes in between.
    pub(super) fn in_portions(
        &self,
        selection: &Space,
        places: &Space,
        write: impl Fn(&OpenDataset, &Space, &Space) -> Result<()>,
    ) -> Result<()> {
        let portions = if self.replaces_sequences(selection) { self.portions(selection) } else { None };
        let Some(boxes) = portions else { return write(self, selection, places) };
        let _turn = self.turn_alone()?;
        let in_turn = self.in_turn();
        for piece in selection.pieces(&Grid::new(&boxes)?, places)? {
            let piece = piece?;
            write(&in_turn, &placed(selection.extent(), &piece, &boxes)?, &piece.memory)?;
        }
        Ok(())
    }

    /// Whether many values of variable length are there already, and the file may name them. Those that cannot be read are not replaced.
    pub fn replaces_sequences(&self, selection: &Space) -> bool {
        let count = selection.npoints();
        if !self.datatype().has_vlen() || count <= FEW || self.stored().is_fresh(self.address()) {
            return false;
        }
        let mut found = false;
        let mut look = |stored: &[u8], _: &Space| {
            found |= stored.iter().any(|byte| *byte != 0);
            Ok(())
        };
        let looked =
            Space::simple(&[count]).map_err(Into::into).and_then(|all| self.in_batches(selection, &all, &mut look));
        looked.is_ok() && found
    }

    /// The boxes of a selection that are written at once: whole chunks, if each is encoded anew.
    fn portions(&self, selection: &Space) -> Option<Vec<u64>> {
        let (now, size) = (self.now(), self.datatype().size().max(1) as u64);
        let unit = match &now.layout.layout {
            Layout::Chunked { chunk, .. } if !self.filters().is_empty() => chunk.clone(),
            _ => vec![1; now.extent.rank()],
        };
        let most = (selection.npoints() / PORTIONS).max(FEW).saturating_mul(size);
        cut(unit, now.extent.dims(), size, selection, most, false)
    }
}
