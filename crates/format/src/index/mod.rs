//! Indexes of the newer kind: the second B-tree, fixed and extensible arrays.

pub mod btree_v2;
pub mod extensible_array;
pub mod fixed_array;
pub mod record;

mod chunk_element;
mod client;

pub use chunk_element::ChunkElement;
pub use client::Client;

/// The versions of headers and blocks. The format of structured chunks counted them up and means to return to 0, so that both occur;
/// nothing else differs.
const VERSIONS: std::ops::RangeInclusive<u8> = 0..=1;

/// Bits as bytes, the first one in the highest place.
fn bitmap(bits: &[bool]) -> Vec<u8> {
    bits.chunks(8)
        .map(|byte| byte.iter().enumerate().fold(0, |all, (at, &set)| all | u8::from(set) << (7 - at)))
        .collect()
}
