//! Decoded pieces of a structure that are likely wanted again.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Decoded values by number, a bounded number of them. Two threads that miss the same value both make it; the first one stays.
#[derive(Debug)]
pub(crate) struct Kept<V> {
    values: Mutex<HashMap<u64, Arc<V>>>,
    most: usize,
}

impl<V> Kept<V> {
    pub(crate) fn new(most: usize) -> Kept<V> {
        Kept { values: Mutex::default(), most }
    }

    /// The value with this number, made if it is not there. Nothing is locked while it is made.
    pub(crate) fn get_or<E>(&self, number: u64, make: impl FnOnce() -> Result<V, E>) -> Result<Arc<V>, E> {
        let lock = || self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = lock().get(&number) {
            return Ok(value.clone());
        }
        let value = Arc::new(make()?);
        let mut values = lock();
        if values.len() >= self.most {
            values.clear();
        }
        Ok(values.entry(number).or_insert(value).clone())
    }
    /// Forgets all: the structure changed.
    pub(crate) fn clear(&self) {
        self.values.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
