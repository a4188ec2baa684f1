//! Which parts of a vector share a system call, and which run at once.
//!
//! Lives here: grouping by nearness, reading over small gaps, spreading groups over threads. Does not live here: the
//! calls (`positioned`). The figures behind the constants are in `docs/drivers.md`.

use std::io::{self, IoSlice, IoSliceMut};

use super::overlay::Run;
use super::positioned::{IOV_MAX, Positioned};
use crate::Why;
use crate::pool::{self, Job};

/// A gap of a read that is cheaper to read than to skip with another call.
pub(super) const NEAR: u64 = 16 << 10;
/// Groups of parts that are smaller than this on average are read through a buffer of their own and copied.
pub(super) const SMALL: usize = 2 << 10;
/// The most bytes of such a buffer.
pub(super) const SIEVE: usize = 1 << 20;
/// Work that is worth another thread: a system call counts as so many bytes.
const CALL: usize = 8 << 10;
const WORTHWHILE: usize = 2 << 20;
/// More threads than this do not help one request.
const THREADS: usize = 8;

/// A range to read and where it goes.
pub(super) type Target<'a> = (u64, &'a mut [u8]);

/// A range that failed.
pub(super) struct Failed {
    pub(super) addr: u64,
    pub(super) len: usize,
    pub(super) why: Why,
}

fn failed(addr: u64, len: usize) -> impl Fn(io::Error) -> Failed {
    move |error| Failed { addr, len, why: Why::Io(error) }
}

/// Reads all targets. Their ranges must not overflow.
pub(super) fn read(file: &Positioned, mut targets: Vec<Target<'_>>) -> Result<(), Failed> {
    targets.retain(|(_, buf)| !buf.is_empty());
    if !targets.is_sorted_by_key(|(addr, _)| *addr) {
        targets.sort_by_key(|(addr, _)| *addr);
    }
    let near = |a: &Target<'_>, b: &Target<'_>| b.0.saturating_sub(end(a)) <= NEAR;
    let groups: Vec<_> = targets.chunk_by_mut(near).collect();
    let work = |group: &&mut [Target<'_>]| CALL + span(group);
    spread(groups, work, |group| read_group(file, group))
}

/// Writes all runs, which must be disjoint and in address order.
pub(super) fn write(file: &Positioned, runs: Vec<Run<'_>>) -> Result<(), Failed> {
    let groups: Vec<_> = runs.chunk_by(|a, b| a.0.saturating_add(a.1.len() as u64) == b.0).collect();
    let work = |group: &&[Run<'_>]| CALL + group.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
    spread(groups, work, |group| {
        let addr = group.first().map_or(0, |(addr, _)| *addr);
        let mut slices: Vec<_> = group.iter().map(|(_, bytes)| IoSlice::new(bytes)).collect();
        let len = group.iter().map(|(_, bytes)| bytes.len()).sum();
        file.write(addr, &mut slices).map_err(failed(addr, len))
    })
}

/// Runs groups on several threads if there is work for several, each thread a row of them. The first error in order of
/// address wins.
fn spread<G: Send>(
    groups: Vec<G>,
    work: impl Fn(&G) -> usize,
    run: impl Fn(G) -> Result<(), Failed> + Sync,
) -> Result<(), Failed> {
    let total: usize = groups.iter().map(&work).sum();
    let threads = (total / WORTHWHILE).min(THREADS);
    if threads < 2 || groups.len() < 2 {
        return groups.into_iter().try_for_each(run);
    }
    let run = &run;
    let job = |row: Vec<G>| -> Job<'_, Failed> { Box::new(move || row.into_iter().try_for_each(run)) };
    pool::all(rows(groups, work, total.div_ceil(threads)).into_iter().map(job).collect())
}

/// Neighbours together until they are `share` of the work.
fn rows<G>(groups: Vec<G>, work: impl Fn(&G) -> usize, share: usize) -> Vec<Vec<G>> {
    let mut rows: Vec<Vec<G>> = Vec::new();
    let mut taken = 0;
    for group in groups {
        let more = work(&group);
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

/// Reads targets that are near each other.
fn read_group(file: &Positioned, group: &mut [Target<'_>]) -> Result<(), Failed> {
    let bytes: usize = group.iter().map(|(_, buf)| buf.len()).sum();
    let overlap = !group.is_sorted_by(|a, b| end(a) <= b.0);
    if overlap || bytes / group.len().max(1) < SMALL { through_sieve(file, group) } else { over_gaps(file, group) }
}

/// Reads everything from the first to the last target into one buffer and copies from there, a window at a time.
fn through_sieve(file: &Positioned, mut group: &mut [Target<'_>]) -> Result<(), Failed> {
    let mut sieve = Vec::new();
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

/// Reads straight into the targets, which must not overlap, and the gaps between them into a buffer that nobody looks at.
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
