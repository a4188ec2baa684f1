//! What of a file outlives a killed process or a power failure, and when the storage is asked for it.

use std::sync::{Arc, atomic::Ordering};

use hyperslab_driver::Driver;

use crate::{OpenFile, Result, store::Store};

/// What of a file that is changed outlives a killed process, and what a power failure.
///
/// ```
/// use hyperslab_file::Durability;
/// assert_eq!("full".parse(), Ok(Durability::Full));
/// assert_eq!(Durability::default(), Durability::None);
/// assert!("some".parse::<Durability>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// A killed process loses nothing that was flushed. A power failure may: the system writes to the device when it likes. What libhdf5
    /// does, and the default.
    #[default]
    None,
    /// Also, when a flush or a close returns, all that was flushed is on the device. A power failure while more is written after that may
    /// damage it.
    Flush,
    /// Also, after a power failure at any moment the file has what was flushed last: every flush goes in steps that are on the device one
    /// before the other, and blocks that are rewritten are in a journal at the end of the file before. The next open puts them in place, if
    /// needed.
    Full,
}

impl Durability {
    /// All of them.
    pub const ALL: [Durability; 3] = [Durability::None, Durability::Flush, Durability::Full];

    /// How users call it: `none`, `flush` or `full`.
    pub fn name(self) -> &'static str {
        match self {
            Durability::None => "none",
            Durability::Flush => "flush",
            Durability::Full => "full",
        }
    }
}

impl std::fmt::Display for Durability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Not the name of a [`Durability`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("durability {0:?}: it must be \"none\", \"flush\" or \"full\"")]
pub struct UnknownDurability(String);

impl std::str::FromStr for Durability {
    type Err = UnknownDurability;

    fn from_str(name: &str) -> Result<Durability, UnknownDurability> {
        let found = Durability::ALL.into_iter().find(|durability| durability.name() == name);
        found.ok_or_else(|| UnknownDurability(name.to_owned()))
    }
}

impl OpenFile {
    /// What outlives a killed process or a power failure. Nothing is promised of a file that is only read.
    pub fn durability(&self) -> Durability {
        self.store.as_ref().map_or(Durability::None, |store| store.durability)
    }

    /// To be called before values of the file are written to other storage: the next flush makes them as durable as the file.
    pub fn writes_to(&self, storage: &Arc<dyn Driver>) {
        let Some(store) = self.store.as_ref().filter(|store| store.durability != Durability::None) else { return };
        let mut other_storages = store.other_storages.lock();
        if !other_storages.iter().any(|known| Arc::ptr_eq(known, storage)) {
            other_storages.push(storage.clone());
        }
    }

    /// The end of a flush: what was written leaves the process, and is durable if the user asked for that.
    pub(crate) fn hand_over(&self, store: &Store) -> Result<()> {
        match store.durability {
            Durability::None => Ok(self.pages.flush(&self.transfers.any)?),
            Durability::Flush | Durability::Full => {
                self.sync_elsewhere(store)?;
                self.sync(store)
            }
        }
    }

    /// Makes values in other storage durable. If that fails, the next flush must not say that they are.
    fn sync_elsewhere(&self, store: &Store) -> Result<()> {
        for storage in std::mem::take(&mut *store.other_storages.lock()) {
            if let Err(why) = storage.sync(&self.transfers.any) {
                store.poison(&why);
                return Err(why.into());
            }
        }
        Ok(())
    }

    /// What is written from here on relies on all that was written before: with [`Durability::Full`], that is durable now.
    pub(crate) fn barrier(&self, store: &Store) -> Result<()> {
        match store.durability {
            Durability::None | Durability::Flush => Ok(()),
            Durability::Full => self.sync(store),
        }
    }

    /// Makes everything durable. If that fails, the system may have dropped what it could not write, and a second try would not notice: so
    /// nothing more is written.
    fn sync(&self, store: &Store) -> Result<()> {
        if !store.unsynced.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let synced = self.pages.sync(&self.transfers.any);
        if let Err(why) = &synced {
            store.poison(why);
        }
        Ok(synced?)
    }
}

#[cfg(test)]
mod tests {
    use hyperslab_driver::{Log, Memory};

    use super::*;
    use crate::{CreateOptions, OpenOptions};

    #[test]
    fn values_in_other_storage_are_as_durable_as_the_file() {
        for (durability, syncs) in Durability::ALL.into_iter().zip([0, 1, 1]) {
            let options = OpenOptions { durability, ..OpenOptions::default() };
            let file = OpenFile::create(Arc::new(Memory::new()), &CreateOptions::default(), &options).unwrap();
            let log = Arc::new(Log::new(Memory::new()));
            let storage: Arc<dyn Driver> = log.clone();
            file.writes_to(&storage);
            file.writes_to(&storage);
            file.hand_over(file.store().unwrap()).unwrap();
            file.hand_over(file.store().unwrap()).unwrap();
            assert_eq!(log.counts().syncs, syncs, "{durability}");
        }
    }
}
