//! In which order chunks leave.

mod lfu;
mod lru;
mod s3_fifo;

use std::fmt;

use hyperslab_space::Coords;

/// Which chunks leave first when there is no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// Those that were not used for the longest time.
    #[default]
    Lru,
    /// Those that were used last: for programs that go through more than fits again and again.
    Mru,
    /// Those that were used least often.
    Lfu,
    /// Those that were used once while there was a short time for a second use: a scan does not push out what is used often.
    S3Fifo,
}

/// What is to become of a chunk that could leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It leaves.
    Leave,
    /// It gets a second chance, as if it had been used.
    Spare,
    /// Somebody has it.
    Stay,
}

/// The chunks of a dataset, in the order of a policy.
pub(crate) trait Order: fmt::Debug + Send {
    /// A chunk comes; it was used.
    fn enter(&mut self, place: &Coords);

    /// A chunk is used again.
    fn touch(&mut self, place: &Coords);

    /// A chunk is gone, evicted or not.
    fn leave(&mut self, place: &Coords, evicted: bool);

    /// The first chunk that is to leave; each is asked about at most twice. It is here until [`Order::leave`].
    fn victim(&mut self, judge: &mut dyn FnMut(&Coords) -> Verdict) -> Option<Coords>;
}

impl Policy {
    pub(crate) fn order(self) -> Box<dyn Order> {
        match self {
            Policy::Lru => Box::new(lru::Lru::default()),
            Policy::Mru => Box::new(lru::Mru::default()),
            Policy::Lfu => Box::new(lfu::Lfu::default()),
            Policy::S3Fifo => Box::new(s3_fifo::S3Fifo::default()),
        }
    }
}
