//! Where results go.

use std::io::{Write, stdout};

/// Standard output: for people with colours where they can be seen, for other programs with every byte as it is.
pub(crate) fn standard(for_programs: bool) -> Box<dyn Write> {
    match for_programs {
        true => Box::new(stdout().lock()),
        false => Box::new(anstream::stdout().lock()),
    }
}
