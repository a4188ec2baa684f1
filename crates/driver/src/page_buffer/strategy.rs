//! What a page buffer does with requests for values.

use std::{fmt, str::FromStr};

use super::PageBuffer;
use super::touched::Touched;
use crate::{Driver, MemoryType};

/// How a [`PageBuffer`] serves requests for values, whose kind is [`MemoryType::RawData`]. All others are served by [`PageStrategy::Fit`].
///
/// These are the four strategies of the design document for selection I/O (2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum PageStrategy {
    /// From pages if the request touches no more of them than there may be, else straight down: what is small is kept, what is large costs no memory.
    #[default]
    Fit,
    /// Always from pages. The buffer grows for as long as a request needs more of them than there may be: how much memory that takes is up to the requests.
    Grow,
    /// Always straight down, after dirty pages that the request touches were written back. No page is brought by it.
    Direct,
    /// Bytes of pages that are in memory from there, all others straight down. No page is brought by it.
    Split,
}

impl PageStrategy {
    /// All of them.
    pub const ALL: [PageStrategy; 4] =
        [PageStrategy::Fit, PageStrategy::Grow, PageStrategy::Direct, PageStrategy::Split];

    /// Its short name.
    pub fn name(self) -> &'static str {
        match self {
            PageStrategy::Fit => "fit",
            PageStrategy::Grow => "grow",
            PageStrategy::Direct => "direct",
            PageStrategy::Split => "split",
        }
    }
}

impl fmt::Display for PageStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no strategy has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no page strategy {0:?}; it must be one of fit, grow, direct, split")]
pub struct UnknownPageStrategy(String);

impl FromStr for PageStrategy {
    type Err = UnknownPageStrategy;

    /// By its short name.
    ///
    /// ```
    /// use hyperslab_driver::PageStrategy;
    /// assert_eq!("split".parse(), Ok(PageStrategy::Split));
    /// assert!("all".parse::<PageStrategy>().is_err());
    /// ```
    fn from_str(name: &str) -> Result<PageStrategy, UnknownPageStrategy> {
        let found = PageStrategy::ALL.into_iter().find(|strategy| strategy.name() == name);
        found.ok_or_else(|| UnknownPageStrategy(name.to_owned()))
    }
}

/// How one request is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    /// From pages, all of which are held at once.
    Paged,
    Direct,
    Split,
}

impl<D: Driver> PageBuffer<D> {
    /// How a read of a kind of content is served.
    pub(super) fn read_path(&self, kind: MemoryType, touched: &Touched) -> Path {
        match self.strategy {
            PageStrategy::Direct if is_value(kind) => Path::Direct,
            PageStrategy::Split if is_value(kind) => Path::Split,
            PageStrategy::Grow if is_value(kind) => Path::Paged,
            _ if touched.count() <= self.share(kind) as u64 => Path::Paged,
            _ => Path::Direct,
        }
    }

    /// The same of a write, which goes straight down if nothing that is written stays here.
    pub(super) fn write_path(&self, kind: MemoryType, touched: &Touched) -> Path {
        if self.through { Path::Direct } else { self.read_path(kind, touched) }
    }

    /// How many pages one request of a kind may have: all but those that are reserved for other kinds.
    pub(super) fn share(&self, kind: MemoryType) -> usize {
        self.capacity - if kind == MemoryType::RawData { self.reserved.metadata } else { self.reserved.raw }
    }

    /// Whether a request may have pages though there are as many as there may be.
    pub(super) fn may_grow(&self, kind: MemoryType) -> bool {
        self.strategy == PageStrategy::Grow && is_value(kind)
    }
}

fn is_value(kind: MemoryType) -> bool {
    kind == MemoryType::RawData
}
