//! Reading values as bytes: as stored, or converted to another datatype.

use hyperslab_dtype::{Arena, Datatype, HeapReference, Plan};
use hyperslab_space::Space;

use super::{OpenDataset, convert::convert};
use crate::{Error, Result, Sequences, trip::Trip, virtual_dataset::Request};

impl OpenDataset {
    /// All of its values, for the reads that take a selection.
    pub fn space(&self) -> Space {
        Space::new(self.extent())
    }

    /// All values, as bytes of the stored type; variable-length parts are references into [`Session::heap`](crate::Session::heap).
    pub fn read_stored(&self) -> Result<Vec<u8>> {
        self.with_extent(|| self.read_stored_selection(&self.space()))
    }

    /// The selected values one after the other, as bytes of the stored type.
    pub fn read_stored_selection(&self, selection: &Space) -> Result<Vec<u8>> {
        let _turn = self.turn_to_read(selection)?;
        self.read_whole(selection)
    }

    /// As [`OpenDataset::read_stored_selection`], when it is the caller's turn.
    pub(super) fn read_whole(&self, selection: &Space) -> Result<Vec<u8>> {
        let count = selection.npoints();
        self.check_values()?;
        let mut buf = room(count, self.datatype().size())?;
        self.read_part(selection, &Space::simple(&[count])?, &mut buf)?;
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
        self.read_below(&Request { wanted: selection, datatype, places }, buf, arena, &Trip::default())
    }

    /// As [`OpenDataset::read_converted`], for a read that may have come here through virtual datasets.
    pub(crate) fn read_below(
        &self,
        request: &Request<'_>,
        buf: &mut [u8],
        arena: &mut Arena,
        trip: &Trip,
    ) -> Result<()> {
        let (left, right) = (request.wanted.npoints(), request.places.npoints());
        if left != right {
            return Err(hyperslab_space::Error::Counts { left, right }.into());
        }
        if let Some(elsewhere) = &self.inner.elsewhere {
            self.check_extent(request.wanted)?;
            return elsewhere.read(request, buf, arena, trip);
        }
        let Request { wanted: selection, datatype, places } = *request;
        let plan = Plan::new(self.datatype(), datatype)?;
        if !self.datatype().has_vlen() {
            return self.read_planned(selection, &plan, datatype.size(), places, buf);
        }
        let from = self.datatype().size();
        let mut heap = self.session().heap();
        self.in_batches(selection, places, &mut |stored, places| {
            let count = stored.len() / from.max(1);
            let mut collections = Vec::new();
            plan.references(count, stored, &mut |reference| {
                let found = HeapReference::decode(reference).map_or(0, |reference| reference.address);
                if collections.last() != Some(&found) {
                    collections.push(found);
                }
            })?;
            heap.fetch(collections);
            let sequences = Sequences::new(&heap);
            let size = datatype.size();
            to_places(buf, places, size, &plan, &mut |to| Ok(plan.convert(count, stored, to, &sequences, arena)?))
        })
    }

    /// Reads the selected values by a plan that needs no heap, to values of `size` bytes. Bytes that stay as they are go straight to
    /// their places; others pass through a small buffer, and are converted on all cores.
    pub fn read_planned(
        &self,
        selection: &Space,
        plan: &Plan,
        size: usize,
        places: &Space,
        buf: &mut [u8],
    ) -> Result<()> {
        if plan.is_copy() {
            let _turn = self.turn_to_read(selection)?;
            return self.read_part(selection, places, buf);
        }
        let from = self.datatype().size();
        self.in_batches(selection, places, &mut |stored, places| {
            to_places(buf, places, size, plan, &mut |to| convert(plan, (from, size), stored, to))
        })
    }

    pub(super) fn stored(&self) -> &hyperslab_file::OpenFile {
        self.session().file()
    }
}

/// Lets `make` write values of `size` bytes by a plan: in place if the places are side by side, else by the side and then scattered. What the
/// plan does not write, such as members of a compound that the file lacks, stays as it is in `buf`.
pub(crate) fn to_places(
    buf: &mut [u8],
    places: &Space,
    size: usize,
    plan: &Plan,
    make: &mut dyn FnMut(&mut [u8]) -> Result<()>,
) -> Result<()> {
    let mut runs = places.runs(size as u64)?;
    let first = runs.next();
    if let (Some(run), None) = (first, runs.next()) {
        let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let range = place(run.offset)..place(run.offset.saturating_add(run.len));
        let room = buf.len() as u64 / size.max(1) as u64;
        return make(buf.get_mut(range).ok_or(Error::Length { values: places.npoints(), room })?);
    }
    let mut converted = room(places.npoints(), size)?;
    if plan.keeps_background() {
        hyperslab_chunk::gather(buf, places, &mut converted, size as u64)?;
    }
    make(&mut converted)?;
    Ok(hyperslab_chunk::scatter(&converted, buf, places, size as u64)?)
}

/// Room for `count` values of `size` bytes; an error if there is not that much memory.
pub fn room(count: u64, size: usize) -> Result<Vec<u8>> {
    let bytes = count.checked_mul(size as u64).and_then(|bytes| usize::try_from(bytes).ok());
    let zeroed = bytes.and_then(|bytes| bytemuck::allocation::try_zeroed_vec(bytes).ok());
    zeroed.ok_or(Error::Memory { values: count, size: size as u64 })
}
