//! Dataspaces: how large an array is, and which of its elements a request means.
//!
//! Lives here: extents, selections (none, all, points, regular and irregular hyperslabs), their algebra, projection of one
//! selection onto another, runs of bytes, pattern segments, cutting by a chunk grid, and the wire form of all of it.
//! Does not live here: I/O, types, threads. Called by everything above that moves values; calls only `base`.
//!
//! ```
//! use hyperslab_space::{Op, Slab, Space};
//!
//! let mut space = Space::simple(&[6, 10])?;
//! space.select_hyperslab(Op::Set, &[Slab::block(1, 2), Slab::block(0, 6)])?; // rows 1–2, columns 0–5
//! space.select_hyperslab(Op::Or, &[Slab::block(4, 1), Slab::new(0, 5, 2, 3)])?; // row 4, columns 0–2 and 5–7
//! assert_eq!(space.npoints(), 18);
//! assert_eq!(space.runs(4)?.count(), 4);
//! # Ok::<(), hyperslab_space::Error>(())
//! ```
//!
//! The design is told in `docs/selections.md`.

mod algebra;
mod block;
mod coords;
mod coords_iter;
mod cut;
mod element_runs;
mod error;
mod extent;
mod flatten;
mod moves;
mod only_run;
mod ordinal;
mod pattern;
mod points;
mod project;
mod row_major;
mod run;
mod selection;
mod shape;
mod slab;
mod space;
mod span;
mod strip;
mod tree;
mod view;
mod wire;

pub use algebra::Op;
pub use block::{Block, Blocks};
pub use coords::Coords;
pub use coords_iter::CoordsIter;
pub use cut::{Grid, Piece, Pieces};
pub use element_runs::ElementRuns;
pub use error::{Error, Result};
pub use extent::{Extent, MAX_RANK};
pub use moves::{Move, Moves, copy, copy_to_part};
pub use pattern::{Detail, Segment, Segments};
pub use points::Points;
pub use run::{Run, Runs};
pub use selection::{Kind, Selection};
pub use slab::{Slab, UNLIMITED};
pub use space::Space;
pub use strip::{Strip, Strips};
pub use wire::{EncodedSpace, Form, LibVersion};
