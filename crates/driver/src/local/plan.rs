//! Which parts of a vector share a system call, and which run at once.
//!
//! Lives here: grouping by nearness, reading over small gaps, spreading reads over threads. Does not live here: the
//! calls (`positioned`). The figures behind the constants are in `docs/drivers.md`.

use std::io::{self, IoSlice, IoSliceMut};

use super::overlay::Run;
use super::positioned::{IOV_MAX, Positioned};
use crate::Why;
use crate::pool::{self, Job};

/// A gap of a read that is cheaper to read than to skip with another call.
pub(super) const NEAR: u64 = 4 << 10;
/// Groups of parts that are smaller than this on average are read through a buffer of their own and copied.
const SMALL: usize = 512;
/// The most bytes of such a buffer.
const SIEVE: usize = 1 << 20;
/// How many bytes can be moved while storage is asked for some: the cost of a call.
const CALL: usize = 64 << 10;
/// The work that is worth another thread.
const WORTHWHILE: usize = 512 << 10;
/// More threads than this do not help one request.
const THREADS: usize = 16;
/// One large target is read by few threads, each of its own part: copying is all there is to do, if storage is in memory.
const LARGE: usize = 8 << 20;
const COPYING: usize = 4;

/// A range to read and where it goes.
pub(super) type Target<'a> = (u64, &'a mut [u8]);

/// A range that failed.
pub(super) struct Failed {
    pub(super) addr: u64,
    pub(super) len: usize,
    pub(super) why: Why,
}

pub(super) fn failed(addr: u64, len: usize) -> impl Fn(io::Error) -> Failed {
    move |error| Failed { addr, len, why: Why::Io(error) }
}

/// Reads all targets, far groups of them at once if there is work for several threads: a storage that has to fetch the bytes
/// first gains much by that, and one that has them in memory loses little. Ranges must not overflow.
pub(super) fn read(file: &Positioned, mut targets: Vec<Target<'_>>) -> Result<(), Failed> {
    targets.retain(|(_, buf)| !buf.is_empty());
    if !targets.is_sorted_by_key(|(addr, _)| *addr) {
        targets.sort_by_key(|(addr, _)| *addr);
    }
    let groups: Vec<_> = targets.chunk_by_mut(|a, b| b.0.saturating_sub(end(a)) <= NEAR).collect();
    let total: usize = groups.iter().map(|group| work(group)).fold(0, usize::saturating_add);
    let threads = (total / WORTHWHILE).clamp(1, THREADS);
    let job = |row: Vec<&mut [Target<'_>]>| {
        let mut sieve = Vec::new();
        row.into_iter().try_for_each(|group| read_group(file, group, &mut sieve))
    };
    if threads == 1 || groups.len() == 1 {
        return job(groups);
    }
    let rows = rows(groups, total.div_ceil(threads));
    pool::all(rows.into_iter().map(|row| -> Job<'_, Failed> { Box::new(move || job(row)) }).collect())
}

/// Reads one target that is not empty.
pub(super) fn read_one(file: &Positioned, addr: u64, buf: &mut [u8]) -> Result<(), Failed> {
    let threads = (buf.len() / LARGE).min(COPYING);
    if threads < 2 {
        let len = buf.len();
        let there = file.read(addr, &mut [IoSliceMut::new(buf)]).map_err(failed(addr, len))?;
        return check_end(file, &[(addr, buf)], addr.saturating_add(there));
    }
    // Whole pages of the system go to each.
    let share = buf.len().div_ceil(threads).next_multiple_of(4096);
    let parts = buf.chunks_mut(share).zip((addr..).step_by(share));
    pool::all(
        parts
            .map(|(part, addr)| -> Job<'_, Failed> { Box::new(move || over_gaps(file, &mut [(addr, part)])) })
            .collect(),
    )
}

/// Writes all runs, which must be disjoint, not empty, and in address order; adjacent ones in one call. One after the other: the kernel lets
/// only one writer at a time into a file.
pub(super) fn write(file: &Positioned, runs: &[Run<'_>]) -> Result<(), Failed> {
    runs.chunk_by(|a, b| a.0.saturating_add(a.1.len() as u64) == b.0).try_for_each(|group| {
        let addr = group.first().map_or(0, |(addr, _)| *addr);
        let len = group.iter().map(|(_, bytes)| bytes.len()).sum();
        // The kernel takes a quarter less time for blocks that it need not find page by page, and a full disk says so before.
        if len >= LARGE && file.len().is_ok_and(|end| end < addr.saturating_add(len as u64)) {
            file.reserve(addr, len).map_err(failed(addr, len))?;
        }
        let mut slices: Vec<_> = group.iter().map(|(_, bytes)| IoSlice::new(bytes)).collect();
        file.write(addr, &mut slices).map_err(failed(addr, len))
    })
}

/// What a group costs, in bytes.
fn work(group: &[Target<'_>]) -> usize {
    span(group).saturating_add(CALL)
}

/// Neighbours together until they are `share` of the work.
fn rows<'g, 'b>(groups: Vec<&'g mut [Target<'b>]>, share: usize) -> Vec<Vec<&'g mut [Target<'b>]>> {
    let mut rows: Vec<Vec<_>> = Vec::new();
    let mut taken = 0;
    for group in groups {
        let more = work(group);
        match rows.last_mut() {
            Some(row) if taken < share => row.push(group),
            _ => {
                rows.push(vec![group]);
                taken = 0;
            }
        }
        taken += more;
    }
    rows
}

/// Reads targets that are near each other; `sieve` is room that can be used again.
fn read_group(file: &Positioned, group: &mut [Target<'_>], sieve: &mut Vec<u8>) -> Result<(), Failed> {
    if let [(addr, buf)] = group {
        return read_one(file, *addr, buf);
    }
    let bytes: usize = group.iter().map(|(_, buf)| buf.len()).sum();
    let overlap = !group.is_sorted_by(|a, b| end(a) <= b.0);
    let small = bytes / group.len().max(1) < SMALL;
    if overlap || small { through_sieve(file, group, sieve) } else { over_gaps(file, group) }
}

/// Reads everything from the first to the last target into one buffer and copies from there, a window at a time.
fn through_sieve(file: &Positioned, mut group: &mut [Target<'_>], sieve: &mut Vec<u8>) -> Result<(), Failed> {
    while let Some(first) = group.first().map(|(addr, _)| *addr) {
        let mut reach = first;
        let fitting = group.iter().take_while(|target| {
            let wider = reach.max(end(target));
            let fits = wider - first <= SIEVE as u64;
            if fits {
                reach = wider;
            }
            fits
        });
        let count = fitting.count();
        let Some((window, rest)) = group.split_at_mut_checked(count.max(1)) else { break };
        if count <= 1 {
            over_gaps(file, window)?;
        } else {
            let len = usize::try_from(reach - first).unwrap_or(SIEVE);
            sieve.resize(len.max(sieve.len()), 0);
            let Some(room) = sieve.get_mut(..len) else { break };
            let there = file.read(first, &mut [IoSliceMut::new(room)]).map_err(failed(first, len))?;
            check_end(file, window, first.saturating_add(there))?;
            for (addr, buf) in window {
                let from = usize::try_from(*addr - first).unwrap_or(len);
                if let Some(bytes) = room.get(from..from.saturating_add(buf.len())) {
                    buf.copy_from_slice(bytes);
                }
            }
        }
        group = rest;
    }
    Ok(())
}

/// Reads straight into the targets, which must not overlap, and the gaps between them into a buffer that is not read.
fn over_gaps(file: &Positioned, group: &mut [Target<'_>]) -> Result<(), Failed> {
    for row in group.chunks_mut(IOV_MAX / 2) {
        let gaps: Vec<usize> = row
            .iter()
            .zip(row.iter().skip(1))
            .map(|(a, b)| usize::try_from(b.0.saturating_sub(end(a))).unwrap_or(0))
            .collect();
        let (first, len) = (row.first().map_or(0, |(addr, _)| *addr), span(row));
        let mut waste = vec![0; gaps.iter().sum()];
        let mut rest = waste.as_mut_slice();
        let mut slices = Vec::with_capacity(row.len() * 2);
        for ((_, buf), gap) in row.iter_mut().zip(gaps.into_iter().chain([0])) {
            slices.push(IoSliceMut::new(buf));
            let Some((gap, later)) = std::mem::take(&mut rest).split_at_mut_checked(gap) else { break };
            rest = later;
            if !gap.is_empty() {
                slices.push(IoSliceMut::new(gap));
            }
        }
        let there = file.read(first, &mut slices).map_err(failed(first, len))?;
        check_end(file, row, first.saturating_add(there))?;
    }
    Ok(())
}

/// Fails for the first target that reaches beyond what there was to read.
fn check_end(file: &Positioned, targets: &[Target<'_>], reached: u64) -> Result<(), Failed> {
    let Some(beyond) = targets.iter().find(|target| end(target) > reached) else { return Ok(()) };
    let (addr, len) = (beyond.0, beyond.1.len());
    let end = file.len().map_err(failed(addr, len))?;
    Err(Failed { addr, len, why: Why::PastEnd { end } })
}

fn end(target: &Target<'_>) -> u64 {
    target.0.saturating_add(target.1.len() as u64)
}

/// The bytes from the first to the last target.
fn span(group: &[Target<'_>]) -> usize {
    let bounds = group.first().zip(group.last());
    bounds.map_or(0, |(first, last)| usize::try_from(end(last).saturating_sub(first.0)).unwrap_or(usize::MAX))
}
