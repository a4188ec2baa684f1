//! What is left to see of overlapping writes.
//!
//! Lives here: turning a list of writes, where a later one covers an earlier, into disjoint ones with the same effect. Does not
//! live here: I/O. Called by `Local` so that the order of its system calls is of no matter.

use std::collections::BTreeMap;

/// A range of the file and its bytes.
pub(super) type Run<'a> = (u64, &'a [u8]);

/// The same effect as the writes in list order, as disjoint writes in address order. Ranges must not overflow.
pub(super) fn visible(mut runs: Vec<Run<'_>>) -> Vec<Run<'_>> {
    runs.retain(|(_, bytes)| !bytes.is_empty());
    if !runs.is_sorted_by(ends_before) {
        let mut sorted = runs.clone();
        sorted.sort_by_key(|(addr, _)| *addr);
        runs = if sorted.is_sorted_by(ends_before) { sorted } else { uncovered(&runs) };
    }
    runs
}

fn ends_before(a: &Run<'_>, b: &Run<'_>) -> bool {
    end(a) <= b.0
}

fn end((addr, bytes): &Run<'_>) -> u64 {
    addr.saturating_add(bytes.len() as u64)
}

/// From the last write to the first, what no later one covers.
fn uncovered<'a>(runs: &[Run<'a>]) -> Vec<Run<'a>> {
    let mut seen = Vec::with_capacity(runs.len());
    let mut covered = Covered::default();
    for run in runs.iter().rev() {
        let mut rest = *run;
        for (start, past) in covered.cover(run.0, end(run)) {
            let (free, tail) = split(rest, start);
            seen.push(free);
            rest = split(tail, past).1;
        }
        seen.push(rest);
    }
    seen.retain(|(_, bytes)| !bytes.is_empty());
    seen.sort_by_key(|(addr, _)| *addr);
    seen
}

/// Ranges by their starts, apart from each other. What touches is joined, so each range is met once, however many come over it.
#[derive(Default)]
struct Covered(BTreeMap<u64, u64>);

impl Covered {
    /// Adds a range, and gives what was in its way.
    fn cover(&mut self, start: u64, past: u64) -> Vec<(u64, u64)> {
        let before = self.0.range(..start).next_back().filter(|&(_, &past)| past >= start);
        let from = before.map_or(start, |(&start, _)| start);
        let met: Vec<(u64, u64)> = self.0.range(from..=past).map(|(&start, &past)| (start, past)).collect();
        for (start, _) in &met {
            self.0.remove(start);
        }
        let reach = met.last().map_or(past, |(_, last)| past.max(*last));
        self.0.insert(from, reach);
        met
    }
}

/// The run before `at` and from `at` on.
fn split(run: Run<'_>, at: u64) -> (Run<'_>, Run<'_>) {
    let (addr, bytes) = run;
    let cut = usize::try_from(at.saturating_sub(addr)).unwrap_or(usize::MAX).min(bytes.len());
    let (left, right) = bytes.split_at_checked(cut).unwrap_or((bytes, &[]));
    ((addr, left), (addr.saturating_add(cut as u64), right))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn large_writes_under_many_small_ones() {
        let (count, large) = (20_000, vec![1; 80_000]);
        let mut runs: Vec<Run<'_>> = (0..count).map(|_| (0, &large[..])).collect();
        runs.extend((0..count).map(|n| (n * 4, &[2][..])));
        let begun = std::time::Instant::now();
        let seen = visible(runs);
        assert_eq!(seen.len(), 40_000);
        assert!(begun.elapsed() < std::time::Duration::from_secs(2), "{:?}", begun.elapsed());
    }

    proptest! {
        #[test]
        fn like_writing_one_after_another(shapes in prop::collection::vec((0u64..60, 0usize..20), 0..12)) {
            let filled: Vec<(u64, Vec<u8>)> =
                shapes.iter().enumerate().map(|(n, &(addr, len))| (addr, vec![n as u8 + 1; len])).collect();
            let mut naive = [0u8; 80];
            for (addr, bytes) in &filled {
                naive[*addr as usize..][..bytes.len()].copy_from_slice(bytes);
            }
            let runs = visible(filled.iter().map(|(addr, bytes)| (*addr, &bytes[..])).collect());
            prop_assert!(runs.is_sorted_by(ends_before));
            let mut seen = [0u8; 80];
            for (addr, bytes) in runs {
                prop_assert!(!bytes.is_empty());
                seen[addr as usize..][..bytes.len()].copy_from_slice(bytes);
            }
            prop_assert_eq!(seen, naive);
        }
    }
}
