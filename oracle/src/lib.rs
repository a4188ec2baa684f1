//! The oracle: libhdf5's answer to a question about a selection, and what it takes to ask.
//!
//! Lives here: random selection programs, their naive meaning, the questions and answers, and the Python process that
//! calls libhdf5. Does not live here: the comparison, which is in `tests/`. Outside the house: nothing imports it.

mod generator;
mod naive;
//OURS
mod process;
mod program;
mod question;

pub use generator::Generator;
pub use naive::{Elements, elements, product};
//OURS2
pub use process::Oracle;
pub use program::{Op, Operand, Pattern, Program, Start, Step};
pub use question::{Answer, Description, Projection, Question, Verdict};
