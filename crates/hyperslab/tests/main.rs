//! The integration tests of the crate in one binary, which is linked once. A test that changes its whole process has a binary of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub,
    clippy::allow_attributes,
    reason = "a test that fails panics"
)]

mod background;
mod cache_ahead;
mod cache_io;
mod cache_model;
mod cache_statistics;
mod cache_threads;
mod check;
mod closing;
mod committed;
mod conversions;
mod copies;
mod copying;
mod counts;
mod defined;
mod deleted;
mod durability;
mod elements;
mod error_causes;
mod error_kinds;
mod evict_on_close;
mod extents;
mod external_access;
mod file_space;
mod first_values;
mod foreign;
mod full_disk;
mod half_written;
mod heap_space;
mod huge;
mod initial_attributes;
mod io_patterns;
mod kept;
mod large_conversions;
mod libhdf5;
mod limits;
mod linked_options;
mod locks;
mod locks_between;
mod many;
mod members;
mod named_values;
mod names;
mod open_at_once;
mod other_files;
mod out_of_memory;
mod page_strategy;
mod peer;
mod pools;
mod read_ahead_model;
mod refusals;
mod reopened;
mod repack;
mod slow_storage;
mod sparse;
mod spread;
mod spread_crash;
mod structured;
mod taken_names;
mod threads;
mod torn;
mod transfers;
mod unwritable;
mod values;
mod waiting_links;
mod write_basic;
mod write_libhdf5;
