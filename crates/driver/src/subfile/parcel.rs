//! Selections parcelled out by intersection (document, 2.4.3).
//!
//! Lives here: which part of a selection request each member gets, as selections again. Does not live here: the arithmetic
//! of stripes. Called by `Subfile`.
//!
//! Point selections keep an order, and may name a byte twice, that an intersection does not see; they go as vectors. So do
//! selections of very many blocks, which cost more to intersect than to walk, and reads of very many bytes, which would need
//! as much memory again; these two only if the members do not gain from selections. And so do few bytes far apart: an
//! intersection costs the rounds between the first and the last of them.

use std::collections::BTreeMap;

use hyperslab_space::{Kind, Space};

use super::stripe::Stripes;
use crate::lower::{self, Segments};
use crate::pair::buffer_index;
use crate::{Capabilities, Driver, Error, Operation, Result, SelectionPair, Transfer, Why, concurrently};

/// The most blocks that are intersected for members to whom a vector is just as good.
const BLOCKS: u64 = 1024;
/// The most bytes that are read through buffers of their own for such members.
const PACKED: u64 = 4 << 20;

/// How many rounds may lie between the first and the last byte for each block and each round of bytes.
const SPARSE: u64 = 4;

/// What one member has of one pair, in bytes.
struct Part {
    memory: Space,
    file: Space,
    offset: u64,
    /// Of which pair; it decides who wins if two name the same memory.
    number: usize,
    buffer: usize,
}

impl Part {
    fn pair<'a>(&'a self, memory: &'a Space) -> SelectionPair<'a> {
        SelectionPair { memory, file: &self.file, offset: self.offset, element_size: 1 }
    }
}

/// Reads each member's part at once. Several members cannot fill one Rust buffer at a time, so if more than one is touched each
/// reads into a buffer of its own, and its bytes are copied from there.
pub(super) fn read<S: Driver, D: Driver>(
    subfile: &S,
    stripes: &Stripes,
    members: &[D],
    pairs: &[SelectionPair<'_>],
    bufs: &mut [&mut [u8]],
    transfer: &Transfer,
) -> Result<()> {
    let sizes: Vec<_> = bufs.iter().map(|buf| buf.len()).collect();
    let refuse = |why| lower::refused(subfile, Operation::ReadSelection, pairs, why);
    let Some(parcels) = cut(Operation::ReadSelection, stripes, members, pairs, &sizes).map_err(refuse)? else {
        return lower::read_selection(subfile, pairs, bufs, transfer);
    };
    let done = match parcels.iter().next() {
        Some((&member, parts)) if parcels.len() == 1 => read_alone(members, member, parts, bufs, transfer),
        _ => read_apart(members, &parcels, bufs, transfer),
    };
    match done {
        // A member may be shorter than the file as a whole; vectors know about gaps.
        Err(error) if error.is_past_end() => lower::read_selection(subfile, pairs, bufs, transfer),
        other => other,
    }
}

/// Writes each member's part at once.
pub(super) fn write<S: Driver, D: Driver>(
    subfile: &S,
    stripes: &Stripes,
    members: &[D],
    pairs: &[SelectionPair<'_>],
    bufs: &[&[u8]],
    transfer: &Transfer,
) -> Result<()> {
    let sizes: Vec<_> = bufs.iter().map(|buf| buf.len()).collect();
    let refuse = |why| lower::refused(subfile, Operation::WriteSelection, pairs, why);
    let Some(parcels) = cut(Operation::WriteSelection, stripes, members, pairs, &sizes).map_err(refuse)? else {
        return lower::write_selection(subfile, pairs, bufs, transfer);
    };
    concurrently(|co| {
        for (&member, parts) in &parcels {
            let Some(driver) = members.get(member) else { continue };
            co.issue(driver, move |driver| {
                let pairs: Vec<_> = parts.iter().map(|part| part.pair(&part.memory)).collect();
                let own: Vec<_> = parts.iter().filter_map(|part| bufs.get(part.buffer).copied()).collect();
                driver.write_selection(&pairs, &own, transfer)
            });
        }
    })
}

/// One member has it all: it reads straight into the buffers.
fn read_alone<D: Driver>(
    members: &[D],
    member: usize,
    parts: &[Part],
    bufs: &mut [&mut [u8]],
    transfer: &Transfer,
) -> Result<()> {
    let Some(driver) = members.get(member) else { return Ok(()) };
    let pairs: Vec<_> = parts.iter().map(|part| part.pair(&part.memory)).collect();
    if bufs.len() == 1 {
        return driver.read_selection(&pairs, bufs, transfer);
    }
    let used = |index: usize| parts.iter().any(|part| part.buffer == index);
    let mut own: Vec<&mut [u8]> = Vec::with_capacity(parts.len());
    own.extend(bufs.iter_mut().enumerate().filter(|(index, _)| used(*index)).map(|(_, buf)| &mut **buf));
    driver.read_selection(&pairs, &mut own, transfer)
}

fn read_apart<D: Driver>(
    members: &[D],
    parcels: &BTreeMap<usize, Vec<Part>>,
    bufs: &mut [&mut [u8]],
    transfer: &Transfer,
) -> Result<()> {
    let room = |part: &Part| vec![0; usize::try_from(part.memory.npoints()).unwrap_or(0)];
    let mut packed: Vec<Vec<Vec<u8>>> = parcels.values().map(|parts| parts.iter().map(room).collect()).collect();
    concurrently(|co| {
        for ((&member, parts), packed) in parcels.iter().zip(&mut packed) {
            let Some(driver) = members.get(member) else { continue };
            co.issue(driver, move |driver| read_packed(driver, parts, packed, transfer));
        }
    })?;
    let mut parts: Vec<_> = parcels.values().flatten().zip(packed.iter().flatten()).collect();
    parts.sort_by_key(|(part, _)| part.number);
    parts
        .into_iter()
        .try_for_each(|(part, bytes)| scatter(part, bytes, bufs))
        .map_err(|why| Error::new("subfile", Operation::ReadSelection, 0, 0, why))
}

fn read_packed<D: Driver>(driver: &D, parts: &[Part], packed: &mut [Vec<u8>], transfer: &Transfer) -> Result<()> {
    let dense: Result<Vec<_>, _> = parts.iter().map(|part| Space::simple(&[part.memory.npoints()])).collect();
    let dense = dense.map_err(|why| lower::refused(driver, Operation::ReadSelection, &[], Why::from(why)))?;
    let pairs: Vec<_> = parts.iter().zip(&dense).map(|(part, memory)| part.pair(memory)).collect();
    let mut own: Vec<&mut [u8]> = packed.iter_mut().map(Vec::as_mut_slice).collect();
    driver.read_selection(&pairs, &mut own, transfer)
}

/// Packed bytes to their places.
fn scatter(part: &Part, mut packed: &[u8], bufs: &mut [&mut [u8]]) -> Result<(), Why> {
    let Some(buf) = bufs.get_mut(part.buffer) else { return Ok(()) };
    for run in part.memory.runs(1)? {
        let (start, len) = (usize::try_from(run.offset).unwrap_or(usize::MAX), usize::try_from(run.len).unwrap_or(0));
        let place = buf.get_mut(start..start.saturating_add(len));
        if let Some((place, (now, later))) = place.zip(packed.split_at_checked(len)) {
            place.copy_from_slice(now);
            packed = later;
        }
    }
    Ok(())
}

/// The parts of each member, pairs in order; `None` if the request is none for intersections. Fails if the request is invalid.
fn cut<D: Driver>(
    operation: Operation,
    stripes: &Stripes,
    members: &[D],
    pairs: &[SelectionPair<'_>],
    sizes: &[usize],
) -> Result<Option<BTreeMap<usize, Vec<Part>>>, Why> {
    // For its checks.
    Segments::new(pairs, sizes)?;
    let sum = |numbers: &mut dyn Iterator<Item = u64>| numbers.fold(0, u64::saturating_add);
    let blocks = sum(&mut pairs.iter().flat_map(|pair| [pair.file, pair.memory]).map(Space::nblocks));
    let bytes = sum(&mut pairs.iter().map(SelectionPair::bytes));
    let gain = members.iter().all(|member| member.capabilities().contains(Capabilities::SELECTION));
    if !gain && (blocks > BLOCKS || operation.is_read() && bytes > PACKED) {
        return Ok(None);
    }
    // The request is sound, so what cannot be intersected, too complex say, can still be walked.
    Ok(intersect(stripes, pairs, sizes.len()).unwrap_or(None))
}

fn intersect(
    stripes: &Stripes,
    pairs: &[SelectionPair<'_>],
    buffers: usize,
) -> Result<Option<BTreeMap<usize, Vec<Part>>>, Why> {
    let mut parcels: BTreeMap<usize, Vec<Part>> = BTreeMap::new();
    for (index, pair) in pairs.iter().enumerate() {
        let points = [pair.file, pair.memory].iter().any(|space| space.kind() == Kind::Points);
        let Some(distance) = i64::try_from(pair.offset).ok().filter(|_| !points) else { return Ok(None) };
        let file = pair.file.flatten(pair.element_size)?.moved(&[distance])?;
        let memory = pair.memory.flatten(pair.element_size)?;
        let Some((first, last)) = line_bounds(&file) else { continue };
        let dense = file.nblocks().saturating_add(pair.bytes() / stripes.round()).saturating_mul(SPARSE);
        if stripes.rounds(first, last) > dense {
            return Ok(None);
        }
        for number in stripes.touched(first, last) {
            let member = stripes.member(number, first, last)?;
            let memory = file.project_intersection(&memory, &member.file)?;
            if memory.npoints() > 0 {
                let file = member.file.project_intersection(&member.local, &file)?;
                let (offset, buffer) = (member.offset, buffer_index(index, buffers));
                let part = Part { memory, file, offset, number: index, buffer };
                parcels.entry(usize::try_from(number).unwrap_or(usize::MAX)).or_default().push(part);
            }
        }
    }
    Ok(Some(parcels))
}

/// The first and the last byte of a selection in one dimension.
fn line_bounds(space: &Space) -> Option<(u64, u64)> {
    let (low, high) = space.bounds()?;
    Some((*low.first()?, *high.first()?))
}
