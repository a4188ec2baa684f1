//! How many openings an engine has, and how they came to be.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How a file came to be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenedBy {
    /// By a call of the user.
    Direct,
    /// By a link or a virtual dataset of another file.
    Linked,
}

/// How many openings an engine has. They change under the lock of its slot.
#[derive(Debug, Default)]
pub(crate) struct Openings {
    direct: AtomicUsize,
    linked: AtomicUsize,
}

impl Openings {
    fn of(&self, way: OpenedBy) -> &AtomicUsize {
        match way {
            OpenedBy::Direct => &self.direct,
            OpenedBy::Linked => &self.linked,
        }
    }

    pub(crate) fn add(&self, way: OpenedBy) {
        self.of(way).fetch_add(1, Ordering::Relaxed);
    }

    /// One fewer; how many are left of both ways.
    pub(crate) fn remove(&self, way: OpenedBy) -> usize {
        self.of(way).fetch_sub(1, Ordering::Relaxed);
        self.direct() + self.linked.load(Ordering::Relaxed)
    }

    pub(crate) fn direct(&self) -> usize {
        self.direct.load(Ordering::Relaxed)
    }
}
