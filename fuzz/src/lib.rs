//! What the targets share.

pub mod messages;
mod opened;
mod spaces;
pub mod structures;

pub use spaces::{survives_every_form, survives_questions};
