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
    let mut seen: BTreeMap<u64, &'a [u8]> = BTreeMap::new();
    for run in runs.iter().rev() {
        let mut rest = *run;
        // The first later write that may reach into this one is the last that begins at or before it.
        let from = seen.range(..=rest.0).next_back().map_or(rest.0, |(&addr, _)| addr);
        let covers: Vec<_> = seen.range(from..end(run)).map(|(&addr, &bytes)| (addr, bytes)).collect();
        for cover in covers {
            let (free, tail) = split(rest, cover.0);
            if !free.1.is_empty() {
                seen.insert(free.0, free.1);
            }
            rest = split(tail, end(&cover)).1;
        }
        if !rest.1.is_empty() {
            seen.insert(rest.0, rest.1);
        }
    }
    seen.into_iter().collect()
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
