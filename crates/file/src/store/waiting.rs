//! Small values that wait for others, so that all are written with one request.

use std::ops::Range;

/// Values that are written together.
#[derive(Default)]
pub(crate) struct Waiting {
    /// Where each goes in the storage, and where it is in `bytes`. Later ones may lie over earlier ones.
    pub(crate) places: Vec<(u64, Range<usize>)>,
    pub(crate) bytes: Vec<u8>,
}

/// More bytes than this do not wait.
const MOST_WAITING: usize = 1 << 20;

impl Waiting {
    /// Whether it is time to write all before so many bytes more wait.
    pub(crate) fn is_full(&self, more: usize) -> bool {
        self.bytes.len() + more > MOST_WAITING
    }

    /// Adds values.
    pub(crate) fn add(&mut self, place: u64, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let is_next =
            |(last, range): &&mut (u64, Range<usize>)| range.end == start && *last + range.len() as u64 == place;
        match self.places.last_mut().filter(is_next) {
            Some((_, range)) => range.end = self.bytes.len(),
            None => self.places.push((place, start..self.bytes.len())),
        }
    }

    /// Forgets what goes to a range of the storage.
    pub(crate) fn forget(&mut self, gone: &Range<u64>) {
        let cut = |(place, range): (u64, Range<usize>)| {
            // How much of it lies before the range, and before its end.
            let within = |at: u64| usize::try_from(at.saturating_sub(place)).unwrap_or(usize::MAX).min(range.len());
            let (before, until) = (within(gone.start), within(gone.end));
            let parts =
                [(place, range.start..range.start + before), (place + until as u64, range.start + until..range.end)];
            parts.into_iter().filter(|(_, range)| range.start < range.end)
        };
        self.places = std::mem::take(&mut self.places).into_iter().flat_map(cut).collect();
    }
}
