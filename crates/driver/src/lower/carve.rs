//! Cutting buffers into disjoint parts, safely.
//!
//! Lives here: which segments can share a vector read, and their parts. Does not live here: where segments come from. Called
//! by `selection`.

use std::collections::BTreeMap;

use crate::lower::Segment;
use crate::{MemoryType, ReadPart};

/// How many segments from the start on name no byte of memory twice.
pub(super) fn disjoint_prefix(segments: &[Segment]) -> usize {
    if segments.is_sorted_by(before) {
        return segments.len();
    }
    // Mostly they are disjoint and only not in order; sorting finds that out soonest.
    let mut places: Vec<_> = segments.iter().map(|segment| (segment.buffer, segment.start, segment.end())).collect();
    places.sort_unstable();
    if places.is_sorted_by(|a, b| (a.0, a.2) <= (b.0, b.1)) {
        return segments.len();
    }
    let mut claimed = BTreeMap::new();
    segments.iter().position(|segment| !claim(&mut claimed, segment)).unwrap_or(segments.len())
}

/// `a` ends before `b` begins.
fn before(a: &Segment, b: &Segment) -> bool {
    (a.buffer, a.end()) <= (b.buffer, b.start)
}

fn claim(claimed: &mut BTreeMap<(usize, usize), usize>, segment: &Segment) -> bool {
    let key = (segment.buffer, segment.start);
    let left = claimed.range(..=key).next_back();
    let right = claimed.range(key..).next();
    let free = left.is_none_or(|(&(buffer, _), &end)| (buffer, end) <= key)
        && right.is_none_or(|(&next, _)| (segment.buffer, segment.end()) <= next);
    if free {
        claimed.insert(key, segment.end());
    }
    free
}

/// The parts of segments that are disjoint in memory, in the order of the segments.
pub(super) fn parts<'b>(segments: &[Segment], bufs: &'b mut [&mut [u8]], kind: MemoryType) -> Vec<ReadPart<'b>> {
    let mut order: Vec<usize> = (0..segments.len()).collect();
    let sorted = segments.is_sorted_by(before);
    if !sorted {
        order.sort_by_key(|&index| segments.get(index).map(|segment| (segment.buffer, segment.start)));
    }
    let mut rests = bufs.iter_mut().map(|buf| &mut **buf).enumerate();
    let mut current = rests.next();
    let mut at = 0;
    let mut carved = Vec::with_capacity(segments.len());
    for index in order {
        let Some(segment) = segments.get(index) else { continue };
        while current.as_ref().is_some_and(|(buffer, _)| *buffer < segment.buffer) {
            current = rests.next();
            at = 0;
        }
        let Some((buffer, rest)) = current.take() else { break };
        let taken = segment.start.checked_sub(at).and_then(|gap| rest.split_at_mut_checked(gap));
        let Some((part, rest)) = taken.and_then(|(_, tail)| tail.split_at_mut_checked(segment.len)) else { break };
        carved.push((index, ReadPart { kind, addr: segment.addr, buf: part }));
        at = segment.end();
        current = Some((buffer, rest));
    }
    if !sorted {
        carved.sort_by_key(|(index, _)| *index);
    }
    carved.into_iter().map(|(_, part)| part).collect()
}
