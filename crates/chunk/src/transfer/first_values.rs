//! The first values of a dataset in one piece: the file names their space when they are there.
//!
//! ```text
//!  exclusive operation lock     no lock                 exclusive
//!  allocate                  →  fill, write values  →  the header names the space
//! ```
//!
//! The caller holds the range lock of all of the dataset. If this is dropped before the space is named, the dataset has no values, as before.

use hyperslab_driver::SelectionPair;
use hyperslab_file::{Kind, OpenFile, UnnamedSpace};
use hyperslab_space::{Kind as Selected, Space};

use super::strips::StripWriter;
use crate::{
    DatasetStorage, Error, Filling, Result, Storage,
    layout::{values::shaped, values_change::fill_space},
};

/// Space for all values of a dataset, which nothing in the file names yet.
#[must_use]
pub struct FirstValues<'a> {
    storage: &'a DatasetStorage,
    file: &'a OpenFile,
    space: UnnamedSpace<'a>,
    address: u64,
    /// How many bytes all values have, and how many each.
    bytes: u64,
    element: u64,
}

impl<'a> FirstValues<'a> {
    /// Takes space for the values of a dataset that is in one piece and has none yet; nothing for another dataset. The space is filled unless the first request
    /// `replaces` all that it selects, and that is everything. Not within an operation.
    pub fn take(
        storage: &'a DatasetStorage,
        file: &'a OpenFile,
        (selection, replaces): (&Space, bool),
        filling: &Filling<'_>,
    ) -> Result<Option<FirstValues<'a>>> {
        let (bytes, element) = {
            let view = storage.live_view()?;
            let values = view.values()?;
            if !matches!(values.storage, Storage::Contiguous(None)) || selection.npoints() == 0 {
                return Ok(None);
            }
            values.check_selection(selection)?;
            (values.bytes(), values.element)
        };
        let (address, space) = file.take_space(|| Ok::<_, Error>(file.allocate(Kind::Raw, bytes)?))?;
        let covered =
            selection.kind() != Selected::Points && Some(selection.npoints()) == selection.extent().elements();
        if !(covered && replaces) {
            fill_space(file, address, bytes, filling)?;
        }
        Ok(Some(FirstValues { storage, file, space, address, bytes, element }))
    }

    /// Writes stored values from the selected places of `buf`.
    pub fn write_places(&self, selection: &Space, mem_selection: &Space, buf: &[u8]) -> Result<()> {
        let shaped = shaped(selection, mem_selection)?;
        Ok(self.file.write_selection(&[self.pair(selection, shaped.as_ref().unwrap_or(mem_selection))?], buf)?)
    }

    /// Lets the header say where the values are.
    pub fn name(self) -> Result<()> {
        let FirstValues { storage, space, address, .. } = self;
        space.name(|| {
            let mut state = storage.change_alive()?;
            state.values_mut()?.storage = Storage::Contiguous(Some(address));
            Ok(state.save_layout()?)
        })
    }

    fn pair<'s>(&self, file: &'s Space, memory: &'s Space) -> Result<SelectionPair<'s>> {
        let offset = self.file.check("contiguous values", self.address, self.bytes)?;
        Ok(SelectionPair { memory, file, offset, element_size: self.element })
    }
}

impl StripWriter for FirstValues<'_> {
    type Error = Error;

    fn read(&mut self, part: &Space, stored: &mut [u8]) -> Result<()> {
        let places = Space::simple(&[part.npoints()])?;
        Ok(self.file.read_selection(&[self.pair(part, &places)?], stored)?)
    }

    fn write(&mut self, part: &Space, stored: &[u8]) -> Result<()> {
        self.write_places(part, &Space::simple(&[part.npoints()])?, stored)
    }
}
