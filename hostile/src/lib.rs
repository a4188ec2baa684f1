//! Hostile files: what tests and fuzz targets share.
//!
//! Lives here: the [seeds](seeds()), a [mutator](mutate()) that spoils them where it hurts, [checksums put right](repair) afterwards so that damage
//! gets past them, what [errors](cause) are about, a [walk](walk()) that asks a file everything,
//! [changes](edit()) of all kinds, and files with [one sparse chunk](sparse_file()). Does not live here: anything that ships.

pub mod cause;
mod edit;
mod mutate;
pub mod repair;
mod report;
mod seeds;
mod sparse;
mod values;
mod walk;

pub use edit::edit;
pub use mutate::{mutate, mutate_file};
pub use report::Report;
pub use seeds::{seeds, sparse_seed};
pub use sparse::{sparse_file, sparse_vlen_file};
pub use walk::{repair_file, walk};
