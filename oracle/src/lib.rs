//! The oracle: libhdf5's answer to a question about a selection, and what it takes to ask.
//!
//! Lives here: random selection programs, their naive meaning, the questions and answers, and the Python process that
//! calls libhdf5. Does not live here: the comparison, which is in `tests/`. Outside the house: nothing imports it.

mod batch;
mod generator;
mod hex;
mod naive;
mod ours;
mod process;
mod program;
mod question;

pub use batch::run;
pub use generator::Generator;
pub use hex::{hex, unhex};
pub use naive::{Elements, elements, position, same_shape};
pub use ours::{LOWS, execute, positions};
pub use process::Oracle;
pub use program::{Op, Operand, Pattern, Program, Start, Step};
pub use question::{Answer, Description, Projection, Question, Verdict};
