//! In which order chunks leave.

mod by_use;
mod lfu;
mod s3_fifo;

use std::{fmt, str::FromStr};

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

impl FromStr for Policy {
    type Err = UnknownPolicy;

    /// By its short name.
    ///
    /// ```
    /// use hyperslab_cache::Policy;
    /// assert_eq!("s3-fifo".parse(), Ok(Policy::S3Fifo));
    /// assert!("fifo".parse::<Policy>().is_err());
    /// ```
    fn from_str(name: &str) -> Result<Policy, UnknownPolicy> {
        match name {
            "lru" => Ok(Policy::Lru),
            "mru" => Ok(Policy::Mru),
            "lfu" => Ok(Policy::Lfu),
            "s3-fifo" => Ok(Policy::S3Fifo),
            _ => Err(UnknownPolicy(name.to_owned())),
        }
    }
}

/// A name that no policy has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no cache policy {0:?}: lru, mru, lfu or s3-fifo")]
pub struct UnknownPolicy(String);

/// What is to become of a chunk that could leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It leaves.
    Leave,
    /// It gets a second chance, as if it had been used.
    Spare,
    /// A thread has it.
    Stay,
}

/// The chunks of a dataset, in the order of a policy.
pub(crate) trait Order: fmt::Debug + Send {
    /// A chunk comes; it was used.
    fn enter(&mut self, coord: &Coords);

    /// A chunk that was taken to leave stays, and is the next that leaves.
    fn restore(&mut self, coord: &Coords);

    /// A chunk is used again, if it is here.
    fn touch(&mut self, coord: &Coords);

    /// A chunk is gone, or is written to be gone then; evicted or not. One that is not here any more may leave again.
    fn leave(&mut self, coord: &Coords, evicted: bool);

    /// The first chunk that is to leave; each is asked about at most twice. It is here until [`Order::leave`].
    fn victim(&mut self, judge: &mut dyn FnMut(&Coords) -> Verdict) -> Option<Coords>;

    /// All chunks, in about the order in which they would leave if nothing was used any more.
    fn walk(&self) -> Box<dyn Iterator<Item = &Coords> + '_>;
}

impl Policy {
    pub(crate) fn order(self) -> Box<dyn Order> {
        match self {
            Policy::Lru => Box::new(by_use::ByUse::new(false)),
            Policy::Mru => Box::new(by_use::ByUse::new(true)),
            Policy::Lfu => Box::new(lfu::Lfu::default()),
            Policy::S3Fifo => Box::new(s3_fifo::S3Fifo::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_small_queue_is_asked_when_all_of_the_main_one_are_held() {
        let (mut order, at) = (Policy::S3Fifo.order(), |coord: u64| Coords::from_slice(&[coord]));
        for coord in 0..20 {
            // What comes back soon goes to the main queue at once.
            order.enter(&at(coord));
            order.leave(&at(coord), true);
            order.enter(&at(coord));
            order.touch(&at(coord));
        }
        order.enter(&at(99));
        order.touch(&at(99));
        let is_free = |coord: &Coords| if *coord == at(99) { Verdict::Leave } else { Verdict::Stay };
        assert_eq!(order.victim(&mut |coord| is_free(coord)), Some(at(99)));
    }

    proptest! {
        #[test]
        fn a_chunk_that_may_leave_is_found(steps in prop::collection::vec((0..3u8, 0..12u64), 0..60), held in prop::collection::btree_set(0..12u64, 0..12)) {
            for policy in [Policy::Lru, Policy::Mru, Policy::Lfu, Policy::S3Fifo] {
                let (mut order, mut here) = (policy.order(), std::collections::BTreeSet::new());
                for (step, coord) in &steps {
                    let at = Coords::from_slice(&[*coord]);
                    match step {
                        0 if here.insert(*coord) => order.enter(&at),
                        1 if here.contains(coord) => order.touch(&at),
                        2 if here.remove(coord) => order.leave(&at, coord % 2 == 0),
                        _ => {}
                    }
                }
                let walked: Vec<u64> = order.walk().map(|coord| *coord.first().unwrap()).collect();
                prop_assert_eq!(walked.len(), here.len(), "{:?}", policy);
                prop_assert_eq!(&walked.iter().copied().collect::<std::collections::BTreeSet<_>>(), &here, "{:?}", policy);
                let is_held = |coord: &Coords| held.contains(coord.first().unwrap());
                let found = order.victim(&mut |coord| if is_held(coord) { Verdict::Stay } else { Verdict::Leave });
                prop_assert_eq!(found.is_some(), !here.is_subset(&held), "{:?}", policy);
                if policy != Policy::S3Fifo {
                    let first = walked.iter().find(|coord| !held.contains(coord));
                    prop_assert_eq!(found.as_ref().and_then(|coord| coord.first()), first, "{:?}", policy);
                }
                prop_assert!(found.is_none_or(|coord| !is_held(&coord) && here.contains(coord.first().unwrap())));
            }
        }
    }
}
