//! The names of a group that wait, with their objects: one table, and all names in one row of bytes.

use std::hash::{BuildHasher, RandomState};

use hyperslab_format::message::{CharSet, Link, Target};
use rustc_hash::FxHashMap;

/// The hard links of a group that wait, in the order in which they came.
#[derive(Clone)]
pub(super) struct WaitingNames {
    /// Whether all names must be ASCII, as those of groups of the old kind.
    pub(super) only_ascii: bool,
    /// All names, one after the other.
    bytes: Vec<u8>,
    links: Vec<Entry>,
    /// By the hash of a name, the newest link with this hash.
    newest: FxHashMap<u64, usize>,
    /// Names may come from elsewhere: they are hashed with a secret.
    hasher: RandomState,
}

#[derive(Clone)]
struct Entry {
    /// Where its name ends; it begins where the one before ends.
    end: usize,
    charset: CharSet,
    object: u64,
    /// The link before it whose name has the same hash.
    older: Option<usize>,
}

/// A hard link that waits.
#[derive(Clone, Copy)]
pub(super) struct WaitingLink<'a> {
    pub(super) name: &'a [u8],
    pub(super) charset: CharSet,
    pub(super) object: u64,
}

impl WaitingNames {
    pub(super) fn new(only_ascii: bool) -> WaitingNames {
        let (bytes, links) = (Vec::new(), Vec::new());
        WaitingNames { only_ascii, bytes, links, newest: FxHashMap::default(), hasher: RandomState::new() }
    }

    /// Adds a link. There is none with its name.
    pub(super) fn add(&mut self, link: WaitingLink<'_>) {
        let WaitingLink { name, charset, object } = link;
        self.bytes.extend_from_slice(name);
        let older = self.newest.insert(self.hasher.hash_one(name), self.links.len());
        self.links.push(Entry { end: self.bytes.len(), charset, object, older });
    }

    /// The link with this name.
    pub(super) fn find(&self, name: &[u8]) -> Option<WaitingLink<'_>> {
        let mut next = self.newest.get(&self.hasher.hash_one(name)).copied();
        while let Some(nth) = next {
            let link = self.nth(nth)?;
            if link.name == name {
                return Some(link);
            }
            next = self.links.get(nth)?.older;
        }
        None
    }

    /// All links, in the order in which they came.
    pub(super) fn all(&self) -> impl ExactSizeIterator<Item = WaitingLink<'_>> {
        let mut start = 0;
        self.links.iter().map(move |link| {
            let name = self.bytes.get(start..link.end).unwrap_or_default();
            start = link.end;
            WaitingLink { name, charset: link.charset, object: link.object }
        })
    }

    pub(super) fn len(&self) -> usize {
        self.links.len()
    }

    fn nth(&self, nth: usize) -> Option<WaitingLink<'_>> {
        let start = nth.checked_sub(1).map_or(Some(0), |before| self.links.get(before).map(|before| before.end))?;
        let Entry { end, charset, object, .. } = *self.links.get(nth)?;
        Some(WaitingLink { name: self.bytes.get(start..end)?, charset, object })
    }
}

impl WaitingLink<'_> {
    /// The same as any link.
    pub(super) fn link(&self) -> Link {
        let target = Target::Hard(self.object);
        Link { name: self.name.to_vec(), charset: self.charset, order: None, target }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_keep_their_order() {
        let mut names = WaitingNames::new(false);
        let name = |nth: u64| format!("{}{nth}", "x".repeat(nth as usize % 7)).into_bytes();
        for nth in 0..1000 {
            assert!(names.find(&name(nth)).is_none());
            names.add(WaitingLink { name: &name(nth), charset: CharSet::Ascii, object: nth });
        }
        assert!((0..1000).all(|nth| names.find(&name(nth)).is_some_and(|link| link.object == nth)));
        assert!(names.all().enumerate().all(|(nth, link)| link.object == nth as u64 && link.name == name(nth as u64)));
        assert_eq!(names.len(), 1000);
    }

    #[test]
    fn names_of_one_hash_are_told_apart() {
        let mut names = WaitingNames::new(false);
        names.add(WaitingLink { name: b"first", charset: CharSet::Ascii, object: 1 });
        names.add(WaitingLink { name: b"second", charset: CharSet::Ascii, object: 2 });
        // As if both had the hash of the second.
        let hash = names.hasher.hash_one(b"second".as_slice());
        names.newest = FxHashMap::from_iter([(hash, 1)]);
        names.links[1].older = Some(0);
        assert_eq!(names.find(b"second").map(|link| link.object), Some(2));
        let first = names.hasher.hash_one(b"first".as_slice());
        names.newest.insert(first, 1);
        assert_eq!(names.find(b"first").map(|link| link.object), Some(1));
    }
}
