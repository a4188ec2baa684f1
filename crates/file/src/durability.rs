//! What of a file outlives a killed process or a power failure, and when the storage is asked for it.

use std::sync::atomic::Ordering;

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

    /// The end of a flush: what was written leaves the process, and is durable if the user asked for that.
    pub(crate) fn hand_over(&self, store: &Store) -> Result<()> {
        match store.durability {
            Durability::None => Ok(self.pages.flush()?),
            Durability::Flush | Durability::Full => self.sync(store),
        }
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
        let synced = self.pages.sync();
        if let Err(why) = &synced {
            *store.poison.lock() = Some(why.to_string());
        }
        Ok(synced?)
    }
}
