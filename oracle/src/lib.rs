//! The oracle: libhdf5's answer to a question about a selection or a file, and what it takes to ask.
//!
//! Lives here: random selection programs, their naive meaning, the questions and answers, the Python process that calls
//! libhdf5, and what Hyperslab says of a file in libhdf5's words. Does not live here: the comparison, which is in `tests/`.
//! Outside the house: nothing imports it.

mod batch;
pub mod changes;
mod datatype_text;
mod files;
mod generator;
mod hex;
mod naive;
mod ours;
mod process;
mod program;
mod question;
mod record;
mod values;

pub use batch::{Job, run, run_job};
pub use files::{FileQuestion, Made, Read};
pub use generator::Generator;
pub use hex::{hex, unhex};
pub use naive::{Elements, elements, position, same_shape};
pub use ours::{LOWS, execute, positions};
pub use process::Oracle;
pub use program::{Op, Operand, Pattern, Program, Start, Step};
pub use question::{Answer, Description, Projection, Question, Verdict};
pub use record::{differences, objects};
pub use values::{converted, hashed, stored};
