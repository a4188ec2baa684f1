//! One storage per kind of content.
//!
//! Lives here: [`Multi`], and [`Multi::split`] with metadata and raw data apart, as libhdf5 lays them out. Does not live here: the
//! names of member files. Used for files that libhdf5 wrote with its multi or split driver.

use std::collections::BTreeMap;

use crate::route::{self, MemberAddress, Route};
use crate::{Capabilities, Driver, Error, MemoryType, Operation, ReadPart, Result, Transfer, Why, WritePart};

/// Where libhdf5 puts raw data in a split file: half of the highest address, `HADDR_MAX / 2`, which is one less than 2⁶³.
pub const SPLIT_RAW: u64 = (u64::MAX - 1) / 2;

/// Several storages, each with its own range of addresses; a memory type says which one new bytes belong to.
///
/// As in libhdf5, the address alone decides where a request goes. The range of a member reaches from its start to the next start.
///
/// ```
/// use hyperslab_driver::{Driver, Memory, MemoryType, Multi, Transfer};
/// let file = Multi::split(Memory::new(), Memory::new());
/// let raw = file.start(MemoryType::RawData);
/// file.write_at(raw, b"values", &Transfer::default())?;
/// file.write_at(0, b"header", &Transfer::default())?;
/// assert_eq!(file.len(&Transfer::default().with_kind(MemoryType::RawData))?, raw + 6);
/// assert_eq!(file.len(&Transfer::default().with_kind(MemoryType::Btree))?, 6);
/// # Ok::<(), hyperslab_driver::Error>(())
/// ```
pub struct Multi<D> {
    /// Ascending; the first is zero.
    starts: Vec<u64>,
    members: Vec<D>,
    map: BTreeMap<MemoryType, usize>,
}

impl<D: Driver> Multi<D> {
    /// Members with the address each starts at and the memory types it takes. One must start at zero; it takes every type
    /// that no other takes.
    pub fn new(members: impl IntoIterator<Item = (u64, D, Vec<MemoryType>)>) -> Result<Self> {
        let mut sorted: Vec<_> = members.into_iter().collect();
        sorted.sort_by_key(|(start, ..)| *start);
        let invalid = |text: &str| Error::new("multi", Operation::Open, 0, 0, Why::invalid(text));
        if sorted.first().is_none_or(|(start, ..)| *start != 0) {
            return Err(invalid("no member starts at address zero"));
        }
        let mut multi = Multi { starts: Vec::new(), members: Vec::new(), map: BTreeMap::new() };
        for (index, (start, member, kinds)) in sorted.into_iter().enumerate() {
            if multi.starts.last() == Some(&start) {
                return Err(invalid("two members start at the same address"));
            }
            multi.starts.push(start);
            multi.members.push(member);
            multi.map.extend(kinds.into_iter().map(|kind| (kind, index)));
        }
        Ok(multi)
    }

    /// Metadata in one storage, raw data and the global heap in the other, at the addresses that libhdf5 uses.
    pub fn split(metadata: D, raw: D) -> Self {
        let map = BTreeMap::from([(MemoryType::RawData, 1), (MemoryType::GlobalHeap, 1)]);
        Multi { starts: vec![0, SPLIT_RAW], members: vec![metadata, raw], map }
    }

    /// The lowest address for bytes of this kind.
    pub fn start(&self, kind: MemoryType) -> u64 {
        self.starts.get(self.index(kind)).copied().unwrap_or(0)
    }

    fn index(&self, kind: MemoryType) -> usize {
        self.map.get(&kind).copied().unwrap_or(0)
    }

    /// The member whose range `addr` is in.
    fn owner(&self, addr: u64) -> usize {
        self.starts.partition_point(|&start| start <= addr).saturating_sub(1)
    }
}

impl<D: Driver> Route for Multi<D> {
    fn locate(&self, addr: u64) -> Result<MemberAddress, Why> {
        let member = self.owner(addr);
        let start = self.starts.get(member).copied().unwrap_or(0);
        let next = self.starts.get(member.saturating_add(1)).copied().unwrap_or(u64::MAX);
        Ok(MemberAddress { member, addr: addr.saturating_sub(start), room: next.saturating_sub(addr) })
    }
}

impl<D: Driver> Driver for Multi<D> {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.read_vector(&mut [ReadPart { kind: transfer.kind, addr, buf }], transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        self.write_vector(&[WritePart { kind: transfer.kind, addr, buf }], transfer)
    }

    /// The end of the member for the kind of the transfer; without a kind, that of the highest member that is not empty.
    fn len(&self, transfer: &Transfer) -> Result<u64> {
        if transfer.kind != MemoryType::Default {
            let member = self.members.get(self.index(transfer.kind));
            let len = member.map_or(Ok(0), |member| member.len(transfer))?;
            return Ok(self.start(transfer.kind).saturating_add(len));
        }
        for (start, member) in self.starts.iter().zip(&self.members).rev() {
            match member.len(transfer)? {
                0 => {}
                len => return Ok(start.saturating_add(len)),
            }
        }
        Ok(0)
    }

    /// Sets the end of the member for the kind of the transfer, an address too. Without a kind, empties the members above `len`, and sets the end of
    /// the one that `len` is in. The others stay.
    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
        if transfer.kind != MemoryType::Default {
            let member = self.members.get(self.index(transfer.kind));
            let own = len.saturating_sub(self.start(transfer.kind));
            return member.map_or(Ok(()), |member| member.set_len(own, transfer));
        }
        let owner = self.owner(len.saturating_sub(1));
        for (index, (start, member)) in self.starts.iter().zip(&self.members).enumerate() {
            match index {
                _ if index < owner => {}
                _ if index == owner => member.set_len(len.saturating_sub(*start), transfer)?,
                _ => member.set_len(0, transfer)?,
            }
        }
        Ok(())
    }

    fn sync(&self, transfer: &Transfer) -> Result<()> {
        route::each(&self.members, |_, member| member.sync(transfer))
    }

    fn flush(&self, transfer: &Transfer) -> Result<()> {
        route::each(&self.members, |_, member| member.flush(transfer))
    }

    fn name(&self) -> &str {
        "multi"
    }

    fn capabilities(&self) -> Capabilities {
        let common = self.members.iter().fold(Capabilities::all(), |common, member| common & member.capabilities());
        common & (Capabilities::WRITE | Capabilities::NEAR)
            | Capabilities::VECTOR
            | Capabilities::CONCURRENT
            | Capabilities::KINDS_APART
    }

    fn read_vector(&self, parts: &mut [ReadPart<'_>], transfer: &Transfer) -> Result<()> {
        route::read_with_gaps(self, &self.members, parts, transfer)
    }

    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
        route::write(self, &self.members, parts, transfer)
    }
}
