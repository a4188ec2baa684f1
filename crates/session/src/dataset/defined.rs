//! Which elements have values. In layouts that do not keep account of that, all have: those that were never written have the fill value.

use hyperslab_chunk::{StripCut, for_each_strip};
use hyperslab_dtype::{Arena, Plan};
use hyperslab_space::Space;

use super::OpenDataset;
use crate::{Error, Result, many, value_buffer::room};

impl OpenDataset {
    /// The selected elements that have values: all of them, since no layout of today's files keeps account of others.
    pub fn defined(&self, selection: &Space) -> Result<Space> {
        self.check_extent(selection)?;
        Ok(selection.clone())
    }

    /// Lets the selected elements have no values any more. An error: no layout of today's files can do that; [`OpenDataset::write_fill`] gives
    /// elements the fill value.
    pub fn erase(&self, selection: &Space) -> Result<()> {
        self.defined(selection)?;
        let why = "its layout does not keep account of elements that have values; to give them the fill value, use write_fill";
        Err(Error::Change(format!("elements of a dataset cannot be erased: {why}")))
    }

    /// Gives the selected elements the value of those that were never written. One request: no thread sees some of them before all are so.
    pub fn write_fill(&self, selection: &Space) -> Result<()> {
        self.check_extent(selection)?;
        self.stored().check_writable()?;
        // A write to a virtual dataset waits for the range locks of its sources, and must have none then.
        let parts = [(self, selection)];
        let _turns = if self.is_virtual() { Vec::new() } else { many::range_locks::to_write(&parts)? };
        let dataset = if self.is_virtual() { self.clone() } else { self.under_lock() };
        dataset.check_extent(selection)?;
        // What the fill value names in the heap is its own: each element gets a copy.
        let datatype = self.datatype().in_memory()?;
        let (mut value, mut arena) = (room(1, datatype.size())?, Arena::default());
        if let Some(fill) = self.shown_fill() {
            Plan::new(self.datatype(), &datatype)?.convert(1, fill, &mut value, &self.session().heap(), &mut arena)?;
        }
        let put = |part: &Space| {
            let count = part.npoints();
            let mut values = room(count, value.len())?;
            values.chunks_exact_mut(value.len().max(1)).for_each(|place| place.copy_from_slice(&value));
            dataset.write_converted(part, &datatype, &Space::simple(&[count])?, &values, &arena)
        };
        // A part at a time, however much is selected.
        let cut = StripCut::of(self.now().chunk(), datatype.size(), selection, false);
        let mem_selection = Space::simple(&[selection.npoints()])?;
        for_each_strip(selection, &mem_selection, cut.as_ref(), &mut |part, _| put(part))
    }
}
