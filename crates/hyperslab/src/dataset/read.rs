//! Reading values as bytes: as stored, or converted to another datatype.

use hyperslab_dtype::{Arena, Datatype, Plan};
use hyperslab_space::{Kind, Space};

use super::Dataset;
use crate::Result;

impl Dataset {
    /// All of its values, for the reads that take a selection.
    pub fn space(&self) -> Space {
        Space::new(self.extent().clone())
    }

    /// All values, as bytes of the stored type; variable-length parts are references into [`File::heap`](crate::File::heap).
    pub fn read_stored(&self) -> Result<Vec<u8>> {
        self.read_stored_selection(&self.space())
    }

    /// The selected values one after the other, as bytes of the stored type.
    pub fn read_stored_selection(&self, selection: &Space) -> Result<Vec<u8>> {
        let count = selection.npoints();
        let mut buf = room(count, self.datatype().size())?;
        self.values()?.read(self.stored(), selection, &Space::simple(&[count])?, &mut buf)?;
        Ok(buf)
    }

    /// Reads the selected values, converted to `datatype`, to the selected places of `buf`, whose extent is in values of that type.
    /// What is of variable length goes to `arena`; `datatype` says so if it is [in memory](Datatype::in_memory).
    pub fn read_converted(
        &self,
        selection: &Space,
        datatype: &Datatype,
        places: &Space,
        buf: &mut [u8],
        arena: &mut Arena,
    ) -> Result<()> {
        let plan = Plan::new(self.datatype(), datatype)?;
        let values = self.values()?;
        if plan.is_copy() {
            return Ok(values.read(self.stored(), selection, places, buf)?);
        }
        let stored = self.read_stored_selection(selection)?;
        let count = usize::try_from(selection.npoints()).unwrap_or(usize::MAX);
        let mut convert = |to: &mut [u8]| plan.convert(count, &stored, to, &self.file().heap(), arena);
        if places.selection().kind() == Kind::All {
            return Ok(convert(buf)?);
        }
        let mut converted = room(count as u64, datatype.size())?;
        convert(&mut converted)?;
        Ok(hyperslab_chunk::scatter(&converted, buf, places, datatype.size() as u64)?)
    }

    fn stored(&self) -> &hyperslab_file::OpenFile {
        self.file().inner.context.file()
    }
}

/// Room for `count` values of `size` bytes; an error if there is not that much memory.
pub(crate) fn room(count: u64, size: usize) -> Result<Vec<u8>> {
    let bytes = count.saturating_mul(size as u64);
    let mut buf = Vec::new();
    let length = usize::try_from(bytes).ok().filter(|&bytes| buf.try_reserve_exact(bytes).is_ok());
    buf.resize(length.ok_or(hyperslab_chunk::Error::Memory(bytes))?, 0);
    Ok(buf)
}
