//! The life of an entry, as a table.
//!
//! ```text
//!  loaded --> Clean --change--> Dirty <--made
//!               ^               |   ^
//!            written          take  failed, or written but changed meanwhile
//!               |               v   |
//!               +------------ Writing --change--> Stale --written/failed--> Dirty
//! ```
//!
//! Only a clean entry is evicted. A discarded one leaves from everywhere but out of the hands of a writer.

use crate::{Error, Result};

/// Where an entry is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// As in the file.
    Clean,
    /// Not in the file yet.
    Dirty,
    /// On its way to the file.
    Writing,
    /// On its way to the file, and changed since.
    Stale,
}

/// What happens to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// Its value changes.
    Change,
    /// A flush takes it.
    Take,
    /// The write succeeded.
    Written,
    /// The write failed.
    Failed,
}

/// All that is legal.
const TABLE: [(Phase, Event, Phase); 9] = [
    (Phase::Clean, Event::Change, Phase::Dirty),
    (Phase::Dirty, Event::Change, Phase::Dirty),
    (Phase::Writing, Event::Change, Phase::Stale),
    (Phase::Stale, Event::Change, Phase::Stale),
    (Phase::Dirty, Event::Take, Phase::Writing),
    (Phase::Writing, Event::Written, Phase::Clean),
    (Phase::Stale, Event::Written, Phase::Dirty),
    (Phase::Writing, Event::Failed, Phase::Dirty),
    (Phase::Stale, Event::Failed, Phase::Dirty),
];

impl Phase {
    /// Where `event` leads, if it may happen.
    pub fn after(self, event: Event) -> Result<Phase> {
        let row = TABLE.iter().find(|(from, by, _)| (*from, *by) == (self, event));
        row.map(|row| row.2).ok_or(Error::Phase { phase: self, event })
    }

    /// Whether the file has all of it.
    pub fn is_clean(self) -> bool {
        self == Phase::Clean
    }
}
