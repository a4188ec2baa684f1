//! Bytes that no structure named: collections of the global heap, which only values name, and what is lost.

use std::ops::Range;

use hyperslab_file::{OpenFile, Survey};
use hyperslab_structures::Collection;

use crate::space_map::{SpaceMap, Span};

const COLLECTION: &str = "global heap collection";
const SIGNATURE: &[u8] = b"GCOL";
/// What is read at once in search of collections.
const WINDOW: u64 = 1 << 20;

/// Notes what is lost between spans, which are in order, in regions of addresses, and how many bytes that is; adds the collections that lie there.
pub(crate) fn fill(file: &OpenFile, map: &mut SpaceMap, spans: &mut Vec<Span>, regions: &[Range<u64>]) -> u64 {
    let mut gaps = Vec::new();
    for region in regions {
        let mut at = region.start;
        for span in spans.iter().filter(|span| span.address >= region.start) {
            if span.address > at {
                gaps.push((at, span.address.min(region.end)));
            }
            at = at.max(span.address.saturating_add(span.length));
            if at >= region.end {
                break;
            }
        }
        if region.end > at {
            gaps.push((at, region.end));
        }
    }
    let mut lost = 0u64;
    for (start, end) in gaps {
        let mut from = start;
        while let Some((place, length)) = collection(file, from, end) {
            lost = lost.saturating_add(note(map, from, place));
            spans.push(Span::unnamed(COLLECTION, place, length));
            from = place + length;
        }
        lost = lost.saturating_add(note(map, from, end));
    }
    lost
}

fn note(map: &mut SpaceMap, from: u64, to: u64) -> u64 {
    let length = to - from;
    if length > 0 {
        map.note("lost space", from, format!("{length} bytes that nothing uses and no list has as free"));
    }
    length
}

/// The first collection in a range that is whole, and its bytes.
fn collection(file: &OpenFile, from: u64, to: u64) -> Option<(u64, u64)> {
    let mut start = from;
    while start < to {
        let length = (to - start).min(WINDOW);
        // With a few bytes of the next window, so that no signature is cut.
        let bytes = file.metadata(COLLECTION, start, (to - start).min(WINDOW + 3)).ok()?;
        for (at, _) in (start..).zip(bytes.windows(SIGNATURE.len())).filter(|(_, here)| *here == SIGNATURE) {
            let found = Collection::read(file, at).ok().map(|found| found.size() as u64);
            if let Some(size) = found.filter(|size| *size > 0 && *size <= to - at) {
                return Some((at, size));
            }
        }
        start += length;
    }
    None
}
