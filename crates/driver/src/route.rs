//! One file in several storages: which bytes are where.
//!
//! Lives here: cutting scalar and vector requests by member and running the parts at once. Does not live here: any particular
//! division; a driver gives that as a [`Route`]. Called by `Family`, `Multi` and `Subfile`.

use crate::{Driver, Error, MemoryType, Operation, ReadPart, Result, Transfer, Why, WritePart, concurrently};

/// Where the first bytes of a range are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemberAddress {
    /// Which member.
    pub(crate) member: usize,
    /// The address there.
    pub(crate) addr: u64,
    /// How many bytes from there on stay in the member.
    pub(crate) room: u64,
}

/// A division of one address space among members.
pub(crate) trait Route: Driver {
    /// Where the byte at `addr` is.
    fn locate(&self, addr: u64) -> Result<MemberAddress, Why>;
}

/// The part of a request that goes to one member.
struct Parcel<P> {
    member: usize,
    parts: Vec<P>,
}

/// Cuts a read by member; only members that are touched get a parcel. Parts of no bytes vanish.
fn cut_read<'b, R: Route + ?Sized>(
    route: &R,
    parts: impl IntoIterator<Item = ReadPart<'b>>,
) -> Result<Vec<Parcel<ReadPart<'b>>>> {
    let mut parcels = Vec::new();
    for ReadPart { kind, addr, buf } in parts {
        let pieces = MemberRanges::new(route, Operation::Read, addr, buf.len());
        let mut rest = buf;
        for piece in pieces {
            let (place, len) = piece?;
            let Some((now, later)) = rest.split_at_mut_checked(len) else { break };
            rest = later;
            put(&mut parcels, place.member, ReadPart { kind, addr: place.addr, buf: now });
        }
    }
    Ok(parcels)
}

/// Cuts a write by member; the parts of each keep their order.
fn cut_write<'b, R: Route + ?Sized>(
    route: &R,
    parts: impl IntoIterator<Item = WritePart<'b>>,
) -> Result<Vec<Parcel<WritePart<'b>>>> {
    let mut parcels = Vec::new();
    for WritePart { kind, addr, buf } in parts {
        let mut rest = buf;
        for piece in MemberRanges::new(route, Operation::Write, addr, buf.len()) {
            let (place, len) = piece?;
            let Some((now, later)) = rest.split_at_checked(len) else { break };
            rest = later;
            put(&mut parcels, place.member, WritePart { kind, addr: place.addr, buf: now });
        }
    }
    Ok(parcels)
}

/// Reads from all members at once, each of which must have what is read of it.
fn read<R: Route + ?Sized, D: Driver>(
    route: &R,
    members: &[D],
    parts: &mut [ReadPart<'_>],
    transfer: &Transfer,
) -> Result<()> {
    send_read(route, members, cut_read(route, parts.iter_mut().map(ReadPart::reborrow))?, transfer)
}

/// Reads from all members at once. A member may be shorter than what the file as a whole has there; the rest is zeros.
pub(crate) fn read_with_gaps<R: Route + ?Sized, D: Driver>(
    route: &R,
    members: &[D],
    parts: &mut [ReadPart<'_>],
    transfer: &Transfer,
) -> Result<()> {
    match read(route, members, parts, transfer) {
        Err(error) if error.is_past_end() => {}
        other => return other,
    }
    let end = route.len(&transfer.clone().with_kind(MemoryType::Default))?;
    for part in parts.iter() {
        let len = part.buf.len() as u64;
        if len > 0 && part.addr.checked_add(len).is_none_or(|reach| reach > end) {
            return Err(Error::new(route.name(), Operation::Read, part.addr, len, Why::PastEnd { end }));
        }
    }
    let mut parcels = cut_read(route, parts.iter_mut().map(ReadPart::reborrow))?;
    for parcel in &mut parcels {
        let there = members.get(parcel.member).map_or(Ok(0), |member| member.len(transfer))?;
        let whole = std::mem::take(&mut parcel.parts);
        parcel.parts = whole.into_iter().filter_map(|part| clip(part, there)).collect();
    }
    parcels.retain(|parcel| !parcel.parts.is_empty());
    send_read(route, members, parcels, transfer)
}

/// The part of a read before `end`; the rest becomes zeros.
fn clip(part: ReadPart<'_>, end: u64) -> Option<ReadPart<'_>> {
    let there = usize::try_from(end.saturating_sub(part.addr)).unwrap_or(usize::MAX).min(part.buf.len());
    let (buf, gap) = part.buf.split_at_mut_checked(there)?;
    gap.fill(0);
    (!buf.is_empty()).then_some(ReadPart { buf, ..part })
}

fn send_read<R: Route + ?Sized, D: Driver>(
    route: &R,
    members: &[D],
    parcels: Vec<Parcel<ReadPart<'_>>>,
    transfer: &Transfer,
) -> Result<()> {
    if let Some(beyond) = parcels.iter().find(|parcel| parcel.member >= members.len()) {
        let (addr, len) = beyond.parts.first().map_or((0, 0), |part| (part.addr, part.buf.len() as u64));
        return Err(Error::new(route.name(), Operation::Read, addr, len, Why::PastEnd { end: 0 }));
    }
    concurrently(|co| {
        for Parcel { member, mut parts } in parcels {
            if let Some(driver) = members.get(member) {
                co.issue(driver, move |driver| match parts.as_mut_slice() {
                    [one] => driver.read_at(one.addr, one.buf, &transfer.clone().with_kind(one.kind)),
                    many => driver.read_vector(many, transfer),
                });
            }
        }
    })
}

/// Writes to all members at once. All members that a part falls to must exist.
pub(crate) fn write<R: Route + ?Sized, D: Driver>(
    route: &R,
    members: &[D],
    parts: &[WritePart<'_>],
    transfer: &Transfer,
) -> Result<()> {
    let parcels = cut_write(route, parts.iter().copied())?;
    concurrently(|co| {
        for Parcel { member, parts } in parcels {
            if let Some(driver) = members.get(member) {
                co.issue(driver, move |driver| match parts.as_slice() {
                    [one] => driver.write_at(one.addr, one.buf, &transfer.clone().with_kind(one.kind)),
                    many => driver.write_vector(many, transfer),
                });
            }
        }
    })
}

/// Does the same to every member at once.
pub(crate) fn each<D: Driver>(members: &[D], act: impl Fn(usize, &D) -> Result<()> + Sync) -> Result<()> {
    let act = &act;
    concurrently(|co| {
        for (index, member) in members.iter().enumerate() {
            co.issue(member, move |member| act(index, member));
        }
    })
}

fn put<P>(parcels: &mut Vec<Parcel<P>>, member: usize, part: P) {
    match parcels.binary_search_by_key(&member, |parcel| parcel.member) {
        Ok(found) => {
            if let Some(parcel) = parcels.get_mut(found) {
                parcel.parts.push(part);
            }
        }
        Err(new) => parcels.insert(new, Parcel { member, parts: vec![part] }),
    }
}

/// The parts of a range in its members, one after another, each with its length.
struct MemberRanges<'r, R: ?Sized> {
    route: &'r R,
    operation: Operation,
    addr: u64,
    left: usize,
}

impl<'r, R: Route + ?Sized> MemberRanges<'r, R> {
    fn new(route: &'r R, operation: Operation, addr: u64, len: usize) -> Self {
        MemberRanges { route, operation, addr, left: len }
    }
}

impl<R: Route + ?Sized> Iterator for MemberRanges<'_, R> {
    type Item = Result<(MemberAddress, usize)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let (addr, left) = (self.addr, self.left);
        let step = self.route.locate(addr).and_then(|place| {
            let len = usize::try_from(place.room).map_or(left, |room| room.min(left));
            if len == 0 {
                return Err(Why::Overflow);
            }
            self.addr = addr.checked_add(len as u64).ok_or(Why::Overflow)?;
            self.left = left - len;
            Ok((place, len))
        });
        Some(step.map_err(|why| {
            self.left = 0;
            Error::new(self.route.name(), self.operation, addr, left as u64, why)
        }))
    }
}
