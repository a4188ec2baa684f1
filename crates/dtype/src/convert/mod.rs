//! From values of one datatype to values of another.
//!
//! [`Plan`] is made once for two datatypes and run over any number of values. Which way a pair goes, and what the result is, follows
//! libhdf5: pairs it converts by the processor go through `hard`, what it does bit by bit goes through `soft`, and the two round
//! differently on purpose. Called where values move between a file and memory.

mod choose;
mod compound;
mod enumeration;
mod extended;
mod hard;
mod lane;
mod number;
mod plan;
mod run;
mod sequence;
mod soft;
mod text;

pub(crate) use number::Number;
pub use plan::Plan;
