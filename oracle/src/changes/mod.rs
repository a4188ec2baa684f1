//! Random programs that change files: what they do, what shall come of it, and what three parties make of it.
//!
//! Lives here: operations, the plain model of a file, the generator, and the run of a program by Hyperslab and by libhdf5, which
//! `changes.py` calls. Does not live here: the tests, which are in `tests/`.

#![allow(clippy::indexing_slicing, reason = "records of JSON and tables of constants, in tests alone")]

mod crash;
mod generate;
mod kind;
mod look;
mod model;
mod operation;
mod ours;
mod resolve;
mod run;
mod shrink;
mod window;

pub use crash::{Crashed, Steps, after_crash, states};
pub use generate::{Style, Writer};
pub use kind::Kind;
pub use look::look;
pub use model::{Attribute, Dataset, Link, Model, Object, What};
pub use operation::{NewDataset, Operation, Picked, Setup, Storage, numbers};
pub use ours::{LOWS, open, perform};
pub use resolve::Refusal;
pub use run::{Changes, Segment, compare, their_look};
pub use shrink::shrink;
pub use window::Window;
