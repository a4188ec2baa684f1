//! Filters: what happens to the bytes of a chunk on their way to the file and back.
//!
//! Lives here: the pipeline, the registry, and one file or folder for each codec, both directions. Does not live here:
//! knowledge of chunks, of datatypes (a codec gets plain numbers) or of messages in the file; threads. Called by `chunk`
//! for chunks and by `structures` for filtered heaps; calls only `base`.
//!
//! ```
//! use hyperslab_filter::{Deflate, Pipeline, Registry, Shuffle, Step};
//!
//! let registry = Registry::default();
//! let pipeline = Pipeline::new(vec![
//!     Step::optional(Shuffle::ID, Shuffle::params(4)),
//!     Step::optional(Deflate::ID, Deflate::params(6)),
//! ])?;
//! let raw: Vec<u8> = (0..1000u32).flat_map(u32::to_le_bytes).collect();
//!
//! let (mut stored, mut back, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
//! let mask = pipeline.encode(&registry, &raw, 0, &mut stored, &mut scratch)?;
//! assert!(stored.len() < raw.len() / 2);
//! pipeline.decode(&registry, &stored, mask, raw.len(), &mut back, &mut scratch)?;
//! assert_eq!(back, raw);
//! # Ok::<(), hyperslab_filter::Error>(())
//! ```
//!
//! The design is told in `docs/filters.md`.

mod bitplanes;
mod bits;
mod bitshuffle;
mod blosc;
mod blosc2;
mod built_in;
mod bzip2;
mod cpu;
mod deflate;
mod delta;
mod error;
mod facts;
mod filter;
mod fletcher32;
mod known;
mod lz;
mod lz4;
mod lzf;
mod nbit;
mod order;
mod output;
mod pipeline;
mod registry;
mod scaleoffset;
mod shuffle;
mod szip;
mod transpose;
mod vbz;
mod zstd;

pub use bitshuffle::{Bitshuffle, BitshuffleCodec};
pub use blosc::{Blosc, BloscCodec, BloscShuffle};
pub use blosc2::{Blosc2, Blosc2Stage};
pub use bzip2::Bzip2;
pub use deflate::Deflate;
pub use delta::Delta;
pub use error::{Error, Fault, Result};
pub use facts::{ChunkFacts, ElementType, NumberKind, NumberType};
pub use filter::{Decoded, Encoded, Filter};
pub use fletcher32::Fletcher32;
pub use known::known_name;
pub use lz4::Lz4;
pub use lzf::Lzf;
pub use nbit::{Nbit, NbitType};
pub use pipeline::{MAX_STEPS, Pipeline, Step};
pub use registry::Registry;
pub use scaleoffset::{ScaleOffset, ScaleOffsetKind, ScaleOffsetType};
pub use shuffle::Shuffle;
pub use szip::{Szip, SzipType};
pub use vbz::Vbz;
pub use zstd::Zstd;
