//! Ranges of bytes that a file tells of.

use hyperslab_alloc::Span;

use crate::{Error, OpenFile, Result};

/// Refuses ranges that share bytes, or are outside of the file: a write to one of them, or its release, would destroy another block.
pub(crate) fn check_apart(file: &OpenFile, what: &'static str, spans: impl Iterator<Item = Span>) -> Result<()> {
    let mut spans: Vec<Span> = spans.filter(|span| !span.is_empty()).collect();
    spans.sort_unstable();
    let mut before = 0;
    for span in spans {
        file.check(what, span.start, span.len)?;
        if span.start < before {
            return Err(Error::broken(what, span.start, "its parts overlap"));
        }
        before = span.end();
    }
    Ok(())
}
