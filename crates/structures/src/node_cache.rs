//! Decoded pieces of a structure that are likely wanted again.

use std::sync::{Arc, Mutex, PoisonError};

use hyperslab_format::{
    ChunkEntry,
    btree_v1::{ChunkKey, Node},
    heap::fractal::Child,
};
use rustc_hash::FxHashMap;

/// No more bytes than this are kept of a structure, unless one value alone has more.
const MOST: usize = 16 << 20;

/// Decoded values by number, as many as there is room for. Two threads that miss the same value both make it; the first one stays.
#[derive(Debug)]
pub(crate) struct NodeCache<V> {
    values: Mutex<Values<V>>,
    most: usize,
}

#[derive(Debug)]
struct Values<V> {
    by_number: FxHashMap<u64, Arc<V>>,
    bytes: usize,
}

impl<V: Weighed> NodeCache<V> {
    pub(crate) fn new() -> NodeCache<V> {
        NodeCache::up_to(MOST)
    }

    fn up_to(most: usize) -> NodeCache<V> {
        NodeCache { values: Mutex::new(Values { by_number: FxHashMap::default(), bytes: 0 }), most }
    }

    /// The value with this number, made if it is not there. Nothing is locked while it is made.
    pub(crate) fn get_or<E>(&self, number: u64, make: impl FnOnce() -> Result<V, E>) -> Result<Arc<V>, E> {
        self.get_or_share(number, || make().map(Arc::new))
    }

    /// The same for a value that is shared already.
    pub(crate) fn get_or_share<E>(&self, number: u64, make: impl FnOnce() -> Result<Arc<V>, E>) -> Result<Arc<V>, E> {
        let lock = || self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = lock().by_number.get(&number) {
            return Ok(value.clone());
        }
        let value = make()?;
        let mut values = lock();
        if let Some(first) = values.by_number.get(&number) {
            return Ok(first.clone());
        }
        values.add(number, value.clone(), self.most);
        Ok(value)
    }

    /// Forgets all: the structure changed.
    pub(crate) fn clear(&self) {
        self.values.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Takes a value out to change it, if it is there and nothing else holds it; it goes back with [`NodeCache::keep`].
    pub(crate) fn take(&mut self, number: u64) -> Option<V> {
        let values = self.values.get_mut().unwrap_or_else(PoisonError::into_inner);
        let value = values.by_number.remove(&number)?;
        values.bytes = values.bytes.saturating_sub(weight(&*value));
        Arc::into_inner(value)
    }

    /// The value with this number from now on.
    pub(crate) fn keep(&mut self, number: u64, value: V) {
        self.take(number);
        let values = self.values.get_mut().unwrap_or_else(PoisonError::into_inner);
        values.add(number, Arc::new(value), self.most);
    }
}

impl<V: Weighed> Values<V> {
    fn clear(&mut self) {
        self.by_number.clear();
        self.bytes = 0;
    }

    fn add(&mut self, number: u64, value: Arc<V>, most: usize) {
        let bytes = weight(&*value);
        if self.bytes.saturating_add(bytes) > most {
            self.clear();
        }
        self.bytes += bytes;
        self.by_number.insert(number, value);
    }
}

/// The bytes that a value takes.
fn weight<V: Weighed>(value: &V) -> usize {
    size_of::<V>() + value.heap_bytes()
}

/// What takes memory.
pub(crate) trait Weighed {
    /// The bytes that a value has elsewhere in memory.
    fn heap_bytes(&self) -> usize {
        0
    }
}

impl Weighed for u8 {}
impl Weighed for u64 {}
impl Weighed for bool {}
impl Weighed for Child {}
impl Weighed for Option<u64> {}

impl<T: Weighed> Weighed for Vec<T> {
    fn heap_bytes(&self) -> usize {
        self.capacity() * size_of::<T>() + self.iter().map(T::heap_bytes).sum::<usize>()
    }
}

impl<T: Weighed, U: Weighed> Weighed for (T, U) {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes() + self.1.heap_bytes()
    }
}

impl Weighed for ChunkEntry {
    fn heap_bytes(&self) -> usize {
        self.start.heap_bytes() + self.sections.heap_bytes()
    }
}

impl Weighed for ChunkKey {
    fn heap_bytes(&self) -> usize {
        self.start.heap_bytes()
    }
}

impl<K: Weighed> Weighed for Node<K> {
    fn heap_bytes(&self) -> usize {
        self.entries.heap_bytes() + self.last.as_ref().map_or(0, K::heap_bytes)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;
    use std::convert::Infallible;

    #[test]
    fn bytes_are_bounded() {
        let kept: NodeCache<Vec<u8>> = NodeCache::up_to(1000);
        let mut made = 0;
        let mut get = |number: u64, size: usize| {
            let value = kept.get_or(number, || {
                made += 1;
                Ok::<_, Infallible>(vec![0; size])
            });
            assert_eq!(value.unwrap().len(), size);
            assert!(kept.values.lock().unwrap().bytes <= 1000.max(size + size_of::<Vec<u8>>()));
            made
        };
        assert_eq!([get(1, 400), get(2, 400), get(1, 400), get(2, 400)], [1, 2, 2, 2]);
        // One too many, and one that is too large by itself: it alone stays.
        assert_eq!([get(3, 400), get(3, 400), get(4, 5000), get(4, 5000), get(3, 400)], [3, 3, 4, 4, 5]);
    }
}
