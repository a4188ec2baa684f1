//! What of a dataset changes: its size, and where its values are. All handles of a dataset share it.

use std::{
    collections::HashMap,
    ops::{Deref, DerefMut},
    sync::{Arc, OnceLock, Weak},
};

use hyperslab_chunk::Values;
use hyperslab_file::{OpenFile, Reading};
use hyperslab_format::message;
use hyperslab_space::Extent;
use parking_lot::{Mutex, RwLock, RwLockReadGuard};

use super::{Dataset, Inner, external::ExternalRule};
use crate::{File, Result};

/// The part of a dataset that changes.
#[derive(Debug)]
pub(super) struct State {
    pub(super) extent: Extent,
    pub(super) layout: message::DataLayout,
    /// Where the values are, found out when the first are read.
    pub(super) values: OnceLock<Found>,
}

/// Where the values of a dataset are, as an opening of its file finds them.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) values: Values,
    /// What it depends on, if that is not the same for all openings.
    pub(super) rule: Option<Arc<ExternalRule>>,
}

/// What one request finds.
pub(super) enum Seen<'a> {
    Shared(&'a Found),
    /// Another opening found something else, by another rule.
    Own(Box<Found>),
}

/// Files that are only read need no lock.
#[derive(Debug)]
pub(super) enum Changing {
    Never(State),
    Sometimes(RwLock<State>),
}

/// The state of a dataset that nobody changes while this lives.
pub(super) struct Now<'a> {
    state: Held<'a>,
    _reading: Reading<'a>,
}

enum Held<'a> {
    Always(&'a State),
    Locked(RwLockReadGuard<'a, State>),
}

impl Changing {
    pub(super) fn new(file: &OpenFile, state: State) -> Changing {
        match file.is_writable() {
            true => Changing::Sometimes(RwLock::new(state)),
            false => Changing::Never(state),
        }
    }

    pub(super) fn get_mut(&mut self) -> &mut State {
        match self {
            Changing::Never(state) => state,
            Changing::Sometimes(state) => state.get_mut(),
        }
    }
}

impl Dataset {
    /// The state as it is now. It stays so while the result lives; the same thread must not change the file meanwhile.
    pub(super) fn now(&self) -> Now<'_> {
        self.inner.core.now()
    }
}

impl<'a> Now<'a> {
    pub(super) fn new(file: &'a OpenFile, changing: &'a Changing) -> Now<'a> {
        // First the file, then the dataset: changes take them in this order, too.
        let reading = file.reading();
        let state = match changing {
            Changing::Never(state) => Held::Always(state),
            Changing::Sometimes(state) => Held::Locked(state.read_recursive()),
        };
        Now { state, _reading: reading }
    }

    /// Where the values are.
    pub(super) fn values(&self, dataset: &Dataset) -> Result<Seen<'_>> {
        dataset.file().check_alive(dataset.life())?;
        if let Some(found) = self.values.get() {
            return match found.is_for(dataset.file()) {
                true => Ok(Seen::Shared(found)),
                false => Ok(Seen::Own(Box::new(dataset.open_values(self)?))),
            };
        }
        let found = dataset.open_values(self)?;
        Ok(Seen::Shared(self.values.get_or_init(|| found)))
    }
}

impl Found {
    /// Whether this opening finds the same.
    pub(super) fn is_for(&self, file: &File) -> bool {
        self.rule.as_ref().is_none_or(|rule| rule.holds_for(file))
    }
}

impl Deref for Found {
    type Target = Values;

    fn deref(&self) -> &Values {
        &self.values
    }
}

impl DerefMut for Found {
    fn deref_mut(&mut self) -> &mut Values {
        &mut self.values
    }
}

impl Deref for Seen<'_> {
    type Target = Values;

    fn deref(&self) -> &Values {
        match self {
            Seen::Shared(found) => found,
            Seen::Own(found) => found,
        }
    }
}

impl Deref for Now<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        match &self.state {
            Held::Always(state) => state,
            Held::Locked(state) => state,
        }
    }
}

/// The datasets of a file that somebody has a handle of, by the address of their headers.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<HashMap<u64, Weak<Inner>>>);

impl Known {
    /// The dataset at an address, if somebody has it.
    pub(super) fn get(&self, address: u64) -> Option<Arc<Inner>> {
        self.0.lock().get(&address).and_then(Weak::upgrade)
    }

    /// The dataset for all who ask from now on; another one if somebody was faster.
    pub(super) fn insert(&self, address: u64, dataset: Arc<Inner>) -> Arc<Inner> {
        let mut known = self.0.lock();
        if let Some(inner) = known.get(&address).and_then(Weak::upgrade) {
            return inner;
        }
        // Those that nobody has any more go when there are twice as many as before.
        if known.len() == known.capacity() {
            known.retain(|_, inner| inner.strong_count() > 0);
        }
        known.insert(address, Arc::downgrade(&dataset));
        dataset
    }

    /// Whoever asks for the object at an address from now on gets another one: it is no more.
    pub(crate) fn forget(&self, address: u64) {
        self.0.lock().remove(&address);
    }
}
