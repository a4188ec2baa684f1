//! How far a copy is: a bar on a terminal.

use crate::text::bytes;
use hyperslab::CopyProgress;
use indicatif::{ProgressBar, ProgressStyle};

/// The bar, and what it showed last.
pub(crate) struct Progress {
    bar: ProgressBar,
    pub(crate) last: CopyProgress,
}

impl Progress {
    pub(crate) fn new() -> Progress {
        let bar = ProgressBar::no_length();
        let bar = match ProgressStyle::with_template("{spinner} {pos} of {len} objects, {msg} [{bar:40}]") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        Progress { bar, last: CopyProgress::default() }
    }

    pub(crate) fn show(&mut self, done: CopyProgress) {
        self.last = done;
        self.bar.set_length(done.known);
        self.bar.set_position(done.objects);
        self.bar.set_message(bytes(done.bytes));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
