//! What the property tests draw from: numbers that fit and numbers that do not.

use hyperslab_base::{Width, Widths};
use hyperslab_format::{ChunkEntry, Encoded, Result, Section, Sections, index::ChunkElement};
use proptest::{option, prelude::*};

/// Numbers of any size, small ones as often as large ones.
pub fn number() -> BoxedStrategy<u64> {
    prop_oneof![4 => 0..100u64, 2 => 0..100_000u64, 2 => 0..1u64 << 40, 1 => any::<u64>()].boxed()
}

pub fn address() -> BoxedStrategy<Option<u64>> {
    option::of(number()).boxed()
}

pub fn width() -> BoxedStrategy<Width> {
    prop_oneof![1 => Just(Width::W2), 2 => Just(Width::W4), 4 => Just(Width::W8)].boxed()
}

pub fn widths() -> BoxedStrategy<Widths> {
    (width(), width()).prop_map(|(offsets, lengths)| Widths { offsets, lengths }).boxed()
}

pub fn bytes(most: usize) -> BoxedStrategy<Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..=most).boxed()
}

/// A name: bytes, now and then with a zero among them.
pub fn name() -> BoxedStrategy<Vec<u8>> {
    prop_oneof![9 => proptest::collection::vec(1..=255u8, 0..30), 1 => bytes(300)].boxed()
}

/// The sections of a structured chunk.
pub fn several(count: u8, filtered: bool) -> BoxedStrategy<Sections> {
    let of_filters = if filtered { (any::<u32>(), number().prop_map(Some)).boxed() } else { Just((0, None)).boxed() };
    let section = (number(), of_filters).prop_map(|(size, (mask, unfiltered))| {
        // Three sections of a quarter each have a size in all.
        Section { size: size / 4, mask, unfiltered }
    });
    let sections = proptest::collection::vec(section, usize::from(count));
    sections.prop_map(|sections| Sections::new(&sections).unwrap()).boxed()
}

/// A chunk that such an element can stand for, but for numbers that are too large.
pub fn chunk(rank: usize, element: ChunkElement) -> BoxedStrategy<ChunkEntry> {
    let sections = match element {
        ChunkElement::Plain { chunk_bytes } => Just(Sections::one(chunk_bytes, 0)).boxed(),
        ChunkElement::Filtered { .. } => {
            (number(), any::<u32>()).prop_map(|(size, mask)| Sections::one(size, mask)).boxed()
        }
        ChunkElement::Structured { sections, filtered, .. } => several(sections, filtered),
    };
    (proptest::collection::vec(number(), rank), address(), sections)
        .prop_map(|(start, address, sections)| ChunkEntry::new(address, sections).at(start))
        .boxed()
}

/// What an index keeps of a chunk, of every kind.
pub fn element() -> BoxedStrategy<ChunkElement> {
    let width = || (1..=8u8).prop_map(|width| Width::new(width).unwrap());
    prop_oneof![
        (1..100u64).prop_map(|chunk_bytes| ChunkElement::Plain { chunk_bytes }),
        width().prop_map(|size_width| ChunkElement::Filtered { size_width }),
        (width(), 2..=3u8, any::<bool>()).prop_map(|(size_width, sections, filtered)| ChunkElement::Structured {
            size_width,
            sections,
            filtered
        }),
    ]
    .boxed()
}

/// What an encoder takes, a decoder gives back; what does not fit, it refuses with the name of a field.
#[track_caller]
pub fn agree<T: PartialEq + std::fmt::Debug>(value: &T, encoded: Encoded, decode: impl FnOnce(&[u8]) -> Result<T>) {
    match encoded {
        Ok(bytes) => assert_eq!(decode(&bytes).as_ref(), Ok(value), "{bytes:02x?}"),
        Err(why) => assert!(!why.field.is_empty() && !why.why.is_empty(), "{why}"),
    }
}
