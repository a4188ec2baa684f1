//! Random programs beside a twin that remembers the owner of every byte.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

use hyperslab_alloc::{Allocator, Kind, PAGE as SYSTEM_PAGE, Span, Strategy as Way};
use proptest::prelude::*;

const START: u64 = 48;
const PAGE: u64 = 64;

#[derive(Clone, Debug)]
enum Step {
    Allocate(bool, u64),
    Free(usize),
    Discard(usize),
    Extend(usize, u64),
    Publish,
    Trim,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => (any::<bool>(), 200..3000u64).prop_map(|(raw, len)| Step::Allocate(raw, len)),
        6 => (any::<bool>(), 1..200u64).prop_map(|(raw, len)| Step::Allocate(raw, len)),
        3 => (0..64usize).prop_map(Step::Free),
        1 => (0..64usize).prop_map(Step::Discard),
        1 => (0..64usize, 1..40u64).prop_map(|(nth, more)| Step::Extend(nth, more)),
        1 => Just(Step::Publish),
        1 => Just(Step::Trim),
    ]
}

fn ways() -> impl Strategy<Value = Way> {
    prop_oneof![
        Just(Way::Fit { block: 0, threshold: 1, alignment: 1 }),
        Just(Way::Fit { block: 100, threshold: 1, alignment: 1 }),
        Just(Way::Fit { block: 100, threshold: 50, alignment: 16 }),
        Just(Way::Paged { page: PAGE }),
    ]
}

/// Small pieces of metadata keep to the borders of the system's pages, which are those of the storage.
fn border_rule(owned: &[(Span, Kind)], base: u64) {
    for &(span, _) in owned.iter().filter(|(span, kind)| *kind == Kind::Metadata && span.len <= SYSTEM_PAGE / 2) {
        let page = |address: u64| (base + address) / SYSTEM_PAGE;
        assert_eq!(page(span.start), page(span.end() - 1), "{span:?} crosses a border");
    }
}

/// What a page is used for: something large, or pieces of one kind.
fn page_rules(owned: &[(Span, Kind)]) {
    for (nth, &(span, kind)) in owned.iter().enumerate() {
        let pages = |span: Span| (span.start / PAGE, (span.end() - 1) / PAGE);
        let (first, last) = pages(span);
        assert!(span.len >= PAGE && span.start % PAGE == 0 || first == last, "{span:?} crosses a border");
        for &(other, other_kind) in &owned[nth + 1..] {
            let (from, to) = pages(other);
            let apart = to < first || last < from;
            assert!(apart || (kind == other_kind && span.len < PAGE && other.len < PAGE), "{span:?} and {other:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    #[test]
    fn allocations_never_overlap(
        way in ways(),
        base in prop_oneof![Just(0), Just(512), Just(2048)],
        steps in prop::collection::vec(step(), 1..150),
    ) {
        let mut space = Allocator::new(START, way).with_base(base);
        let mut owned: Vec<(Span, Kind)> = Vec::new();
        for step in steps {
            match step {
                Step::Allocate(raw, len) => {
                    let kind = if raw { Kind::Raw } else { Kind::Metadata };
                    let span = space.allocate(kind, len).unwrap();
                    prop_assert_eq!(span.len, len);
                    if let Way::Fit { threshold, alignment, .. } = way && len >= threshold {
                        prop_assert_eq!(span.start % alignment, 0);
                    }
                    owned.push((span, kind));
                }
                Step::Free(nth) if nth < owned.len() => {
                    let (span, kind) = owned.swap_remove(nth);
                    space.free(kind, span);
                }
                Step::Discard(nth) if nth < owned.len() => {
                    let (span, kind) = owned.swap_remove(nth);
                    space.discard(kind, span);
                }
                Step::Extend(nth, more) if nth < owned.len() => {
                    let can = space.can_extend(owned[nth].0, more);
                    prop_assert_eq!(space.extend(owned[nth].0, more), can);
                    owned[nth].0.len += if can { more } else { 0 };
                }
                Step::Publish => space.publish(),
                Step::Trim => { space.trim(); }
                _ => {}
            }
            let mut all: Vec<Span> = owned.iter().map(|(span, _)| *span).collect();
            all.extend(space.pending());
            all.extend(space.sections());
            all.sort_unstable();
            prop_assert!(all.first().is_none_or(|first| first.start >= START));
            for pair in all.windows(2) {
                prop_assert!(pair[0].end() <= pair[1].start, "{:?} and {:?}", pair[0], pair[1]);
            }
            prop_assert!(all.last().is_none_or(|last| last.end() <= space.end()));
            border_rule(&owned, base);
            if let Way::Paged { .. } = way {
                page_rules(&owned);
            } else {
                let bytes: u64 = all.iter().map(|span| span.len).sum();
                prop_assert_eq!(bytes + START, space.end(), "every byte has an owner or is free");
            }
        }
        owned.into_iter().for_each(|(span, kind)| space.free(kind, span));
        space.publish();
        let end = space.trim();
        prop_assert!(end == START || matches!(way, Way::Paged { .. }) && end == PAGE, "all is given back: {}", end);
    }
}

#[test]
fn freed_space_waits_until_it_is_published() {
    let mut space = Allocator::new(0, Way::Fit { block: 0, threshold: 1, alignment: 1 });
    let first = space.allocate(Kind::Raw, 100).unwrap();
    let second = space.allocate(Kind::Raw, 100).unwrap();
    space.free(Kind::Raw, first);
    assert_eq!(space.allocate(Kind::Raw, 100).unwrap().start, 200);
    space.publish();
    assert_eq!(space.allocate(Kind::Raw, 60).unwrap(), Span { start: 0, len: 60 });
    space.free(Kind::Raw, second);
    space.publish();
    assert_eq!(space.allocate(Kind::Raw, 140).unwrap(), Span { start: 60, len: 140 }, "neighbours became one");
}

#[test]
fn the_last_address_is_an_error_not_an_overflow() {
    let mut space = Allocator::new(u64::MAX - 10, Way::default());
    assert!(space.allocate(Kind::Raw, 5000).is_err());
    assert!(space.allocate(Kind::Raw, u64::MAX).is_err());
    assert!(Allocator::new(100, Way::Paged { page: 4096 }).allocate(Kind::Raw, u64::MAX - 5).is_err());
}

/// What was free when a file was closed is given out again after the next open, and never what is used.
#[test]
fn free_space_survives_a_close() {
    for way in [Way::default(), Way::Paged { page: PAGE }] {
        let mut space = Allocator::new(START, way);
        let spans: Vec<Span> = (0..50).map(|nth| space.allocate(Kind::Raw, 10 + nth % 7).unwrap()).collect();
        spans.iter().step_by(2).for_each(|&span| space.free(Kind::Raw, span));
        space.publish();
        let end = space.trim();
        let mut again = Allocator::new(end, way);
        space.sections().into_iter().for_each(|span| again.restore(span, Kind::Raw));
        assert_eq!(again.sections(), space.sections());
        let appended = again.append(100).unwrap();
        assert!(appended.start >= end, "at the very end");
        for _ in 0..100 {
            let got = again.allocate(Kind::Raw, 12).unwrap();
            let used = spans.iter().skip(1).step_by(2).chain([&appended]);
            assert!(used.into_iter().all(|span| span.end() <= got.start || got.end() <= span.start));
        }
    }
}

/// What is left out before the border of a page is for smaller pieces, so that files do not grow by it.
#[test]
fn what_lies_before_a_border_is_used() {
    let mut space = Allocator::new(0, Way::default());
    let mut pieces = Vec::new();
    for nth in 0..400u64 {
        pieces.push((space.allocate(Kind::Metadata, 300 + nth % 5 * 50).unwrap(), Kind::Metadata));
        pieces.push((space.allocate(Kind::Metadata, 40).unwrap(), Kind::Metadata));
    }
    border_rule(&pieces, 0);
    let used: u64 = pieces.iter().map(|(span, _)| span.len).sum();
    let end = space.trim();
    assert!(end < used + used / 50, "{used} bytes take {end}");
}

/// A list of free space lies at the end while the file is closed, and is free there after the next open. What is put into its place would keep the file
/// from shrinking to where it ended before.
#[test]
fn what_is_free_before_the_end_is_used_last() {
    let mut space = Allocator::new(0, Way::Fit { block: 0, threshold: 1, alignment: 1 });
    let pieces: Vec<Span> = (0..4).map(|_| space.allocate(Kind::Metadata, 500).unwrap()).collect();
    let list = space.allocate(Kind::Metadata, 200).unwrap();
    [pieces[1], list].iter().for_each(|span| space.free(Kind::Metadata, *span));
    space.publish();
    assert_eq!(space.allocate(Kind::Metadata, 150).unwrap().start, pieces[1].start);
    assert_eq!(space.clone().trim(), list.start);
    assert_eq!(space.allocate(Kind::Metadata, 400).unwrap().start, list.start, "nothing else is large enough");
}

/// A piece grows in place at the end of the file, also beyond the block that it shares.
#[test]
fn a_piece_grows_beyond_its_shared_block() {
    let mut space = Allocator::new(0, Way::Fit { block: 3000, threshold: 1, alignment: 1 });
    let mut piece = space.allocate(Kind::Raw, 2500).unwrap();
    for _ in 0..20 {
        assert!(space.extend(piece, 300), "at {piece:?}");
        piece.len += 300;
    }
    assert_eq!(space.trim(), piece.end());
}
