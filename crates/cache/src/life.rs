//! The life of a chunk in memory, as a table; the picture is in `docs/chunk-cache.md`.

/// Where a chunk is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    /// A thread loads it; others that want it wait.
    Loading,
    /// As in the file.
    Clean,
    /// Not in the file yet.
    Dirty,
    /// Not in the file yet, but encoded for it.
    Encoded,
    /// On its way to the file.
    Writing,
    /// On its way to the file, and changed since.
    Stale,
    /// Not in the file yet, and out of service while what replaces it is stored; threads that want it wait.
    Withdrawn,
    /// No longer in the cache; a thread that waited for it looks again.
    Gone,
}

/// What happens to a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Event {
    /// Its values are there.
    Loaded,
    /// A caller writes to it.
    Change,
    /// It was encoded ahead of time.
    Encode,
    /// It is to be written to the file.
    Take,
    /// It was.
    Written,
    /// It could not be.
    Failed,
    /// It goes out of service, because something replaces it.
    Withdraw,
    /// What was to replace it could not be stored.
    Restore,
    /// It leaves the cache.
    Leave,
}

/// All that is legal. A chunk that is not clean leaves only if it is deleted, or replaced past the cache.
const TABLE: [(Phase, Event, Phase); 21] = [
    (Phase::Loading, Event::Loaded, Phase::Clean),
    (Phase::Loading, Event::Leave, Phase::Gone),
    (Phase::Clean, Event::Change, Phase::Dirty),
    (Phase::Clean, Event::Leave, Phase::Gone),
    (Phase::Dirty, Event::Change, Phase::Dirty),
    (Phase::Dirty, Event::Encode, Phase::Encoded),
    (Phase::Dirty, Event::Take, Phase::Writing),
    (Phase::Dirty, Event::Withdraw, Phase::Withdrawn),
    (Phase::Dirty, Event::Leave, Phase::Gone),
    (Phase::Encoded, Event::Change, Phase::Dirty),
    (Phase::Encoded, Event::Take, Phase::Writing),
    (Phase::Encoded, Event::Withdraw, Phase::Withdrawn),
    (Phase::Encoded, Event::Leave, Phase::Gone),
    (Phase::Writing, Event::Change, Phase::Stale),
    (Phase::Writing, Event::Written, Phase::Clean),
    (Phase::Writing, Event::Failed, Phase::Dirty),
    (Phase::Stale, Event::Change, Phase::Stale),
    (Phase::Stale, Event::Written, Phase::Dirty),
    (Phase::Stale, Event::Failed, Phase::Dirty),
    (Phase::Withdrawn, Event::Restore, Phase::Dirty),
    (Phase::Withdrawn, Event::Leave, Phase::Gone),
];

impl Phase {
    /// Whether values of the chunk are not in the file yet.
    pub(crate) fn is_unwritten(self) -> bool {
        matches!(self, Phase::Dirty | Phase::Encoded | Phase::Writing | Phase::Stale | Phase::Withdrawn)
    }

    /// Whether a thread that wants its values waits.
    pub(crate) fn is_out_of_service(self) -> bool {
        matches!(self, Phase::Loading | Phase::Withdrawn)
    }

    /// Whether a thread that must have its values in the file waits for another thread, which has it.
    pub(crate) fn is_in_hand(self) -> bool {
        matches!(self, Phase::Writing | Phase::Stale | Phase::Withdrawn)
    }

    /// Where `event` leads; nowhere if it may not happen.
    pub(crate) fn after(self, event: Event) -> Option<Phase> {
        TABLE.iter().find(|(from, by, _)| (*from, *by) == (self, event)).map(|row| row.2)
    }
}
