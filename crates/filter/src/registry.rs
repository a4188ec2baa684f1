//! The filters that a pipeline may use, by number.

use std::{collections::BTreeMap, fmt, sync::Arc};

use crate::{Filter, built_in::built_in};

/// A set of filters. The default one has all that are built in.
///
/// ```
/// use hyperslab_filter::{Shuffle, Registry};
/// let registry = Registry::default();
/// assert_eq!(registry.get(Shuffle::ID).map(|filter| filter.name()), Some("shuffle"));
/// assert!(registry.get(32013).is_none()); // zfp: bring your own
/// ```
#[derive(Clone)]
pub struct Registry {
    filters: BTreeMap<u16, Arc<dyn Filter>>,
}

impl Registry {
    /// A registry without any filter.
    pub fn empty() -> Registry {
        Registry { filters: BTreeMap::new() }
    }

    /// Adds a filter, in the place of the one that had its number, which is given back.
    pub fn register(&mut self, filter: Arc<dyn Filter>) -> Option<Arc<dyn Filter>> {
        self.filters.insert(filter.id(), filter)
    }

    /// The filter with this number.
    pub fn get(&self, id: u16) -> Option<&dyn Filter> {
        self.filters.get(&id).map(Arc::as_ref)
    }

    /// All filters, by rising number.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Filter> {
        self.filters.values().map(Arc::as_ref)
    }
}

impl Default for Registry {
    fn default() -> Registry {
        let mut registry = Registry::empty();
        for filter in built_in() {
            registry.register(filter);
        }
        registry
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|filter| (filter.id(), filter.name()))).finish()
    }
}
