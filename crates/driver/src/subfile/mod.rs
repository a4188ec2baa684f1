//! One file in stripes over several storages.
//!
//! Lives here: [`Subfile`]; the arithmetic of stripes is in `stripe`, the parcelling of selections in `parcel`. Does not live
//! here: how the members are reached. Used where one storage is too slow.

mod parcel;
mod stripe;

use crate::route::{self, MemberAddress, Route};
use crate::{Capabilities, Driver, Error, Operation, ReadPart, Result, SelectionPair, Transfer, Why, WritePart};
use stripe::Stripes;

/// One file in stripes of one size, dealt out to its members in turn.
///
/// Every request goes to all members that it touches at once, and to no other. A selection reaches each as the selection of the
/// bytes that it holds (document, 2.4.3).
///
/// ```
/// use hyperslab_driver::{Driver, Memory, Subfile, Transfer};
/// let file = Subfile::new(vec![Memory::new(), Memory::new()], 4)?;
/// file.write_at(0, b"aaaabbbbcc", &Transfer::default())?;
/// assert_eq!(file.len(&Transfer::default())?, 10);
/// let members: Vec<_> = file.into_members().into_iter().map(Memory::into_bytes).collect();
/// assert_eq!(members, [b"aaaacc".to_vec(), b"bbbb".to_vec()]);
/// # Ok::<(), hyperslab_driver::Error>(())
/// ```
#[derive(Debug)]
pub struct Subfile<D> {
    stripes: Stripes,
    members: Vec<D>,
}

impl<D: Driver> Subfile<D> {
    /// A file over `members` with stripes of so many bytes.
    pub fn new(members: Vec<D>, stripe_size: u64) -> Result<Self> {
        let stripes = Stripes::new(members.len() as u64, stripe_size)
            .map_err(|why| Error::new("subfile", Operation::Open, 0, 0, why))?;
        Ok(Subfile { stripes, members })
    }

    /// The members in order.
    pub fn members(&self) -> &[D] {
        &self.members
    }

    /// The members in order.
    pub fn into_members(self) -> Vec<D> {
        self.members
    }
}

impl<D: Driver> Route for Subfile<D> {
    fn locate(&self, addr: u64) -> Result<MemberAddress, Why> {
        let (member, addr, room) = self.stripes.locate(addr);
        Ok(MemberAddress { member: usize::try_from(member).map_err(|_| Why::Overflow)?, addr, room })
    }
}

impl<D: Driver> Driver for Subfile<D> {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.read_vector(&mut [ReadPart { kind: transfer.kind, addr, buf }], transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        self.write_vector(&[WritePart { kind: transfer.kind, addr, buf }], transfer)
    }

    fn len(&self, transfer: &Transfer) -> Result<u64> {
        let mut end = 0;
        for (index, member) in (0..).zip(&self.members) {
            let ends = self.stripes.end(index, member.len(transfer)?);
            end = end.max(ends.ok_or_else(|| Error::new(self.name(), Operation::Len, 0, 0, Why::Overflow))?);
        }
        Ok(end)
    }

    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
        route::each(&self.members, |index, member| member.set_len(self.stripes.local_len(index as u64, len), transfer))
    }

    fn sync(&self, transfer: &Transfer) -> Result<()> {
        route::each(&self.members, |_, member| member.sync(transfer))
    }

    fn flush(&self, transfer: &Transfer) -> Result<()> {
        route::each(&self.members, |_, member| member.flush(transfer))
    }

    fn name(&self) -> &str {
        "subfile"
    }

    fn capabilities(&self) -> Capabilities {
        let common = self.members.iter().fold(Capabilities::all(), |common, member| common & member.capabilities());
        common & (Capabilities::WRITE | Capabilities::NEAR)
            | Capabilities::VECTOR
            | Capabilities::SELECTION
            | Capabilities::CONCURRENT
    }

    fn read_vector(&self, parts: &mut [ReadPart<'_>], transfer: &Transfer) -> Result<()> {
        route::read_with_gaps(self, &self.members, parts, transfer)
    }

    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
        route::write(self, &self.members, parts, transfer)
    }

    fn read_selection(&self, pairs: &[SelectionPair<'_>], bufs: &mut [&mut [u8]], transfer: &Transfer) -> Result<()> {
        parcel::read(self, &self.stripes, &self.members, pairs, bufs, transfer)
    }

    fn write_selection(&self, pairs: &[SelectionPair<'_>], bufs: &[&[u8]], transfer: &Transfer) -> Result<()> {
        parcel::write(self, &self.stripes, &self.members, pairs, bufs, transfer)
    }
}
