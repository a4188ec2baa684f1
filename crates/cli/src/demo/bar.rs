//! How far a stream is: a bar on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

pub(super) struct Bar(ProgressBar);

impl Bar {
    pub(super) fn new(stream: &str, what: &str, images: u64) -> Bar {
        let bar = ProgressBar::new(images).with_prefix(format!("{stream}: {what}"));
        Bar(match ProgressStyle::with_template("{prefix:18} [{bar:40}] {pos} of {len} images, {msg}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        })
    }

    /// So many images were done in this time.
    pub(super) fn show(&self, images: u64, took: Duration) {
        self.0.set_message(format!("{:.0} images/s", rate(images, took)));
        self.0.set_position(images);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// How many a second.
pub(super) fn rate(count: u64, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64().max(1e-9)
}
