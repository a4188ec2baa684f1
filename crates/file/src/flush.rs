//! Writing: values at once, blocks in waves, the superblock when all that it names is there.

use std::sync::atomic::Ordering;

use hyperslab_driver::{Driver, MemoryType, SelectionPair, Transfer, WritePart};
use hyperslab_format::{superblock::Root, symbol_table::Cache};
use hyperslab_meta::{Failure, Ring};

use crate::{
    Error, Kind, OpenFile, Result,
    store::{Store, Waiting},
};

/// Values of no more bytes wait for others.
const SMALL: usize = 4096;

impl OpenFile {
    /// Writes values, all in one request: pairs of address and bytes. Few bytes wait for others, until values are read or the file
    /// is flushed, unless the request has options of its own.
    pub fn write_raw(&self, what: &'static str, parts: &[(u64, &[u8])]) -> Result<()> {
        if let (Some(store), &[(address, bytes)]) = (&self.store, parts)
            && bytes.len() <= SMALL
            && !self.has_own_options()
        {
            let place = self.check(what, address, bytes.len() as u64)?;
            let is_full = store.waiting.lock().is_full(bytes.len());
            if is_full {
                self.write_waiting()?;
            }
            store.waiting.lock().add(place, bytes);
            return Ok(());
        }
        self.write_waiting()?;
        let mut request = Vec::with_capacity(parts.len());
        for &(address, buf) in parts {
            let addr = self.check(what, address, buf.len() as u64)?;
            request.push(WritePart { kind: MemoryType::RawData, addr, buf });
        }
        self.write_or_make_room(|| Ok(self.pages.write_vector(&request, &self.transfers.raw)?))?;
        self.store.iter().for_each(|store| self.wrote(store));
        Ok(())
    }

    /// Takes space for new values and writes them there; their address. As [`OpenFile::tentative`], a failure leaves no trace. Few values wait for others, as those of
    /// [`OpenFile::write_raw`].
    pub fn store_raw(&self, what: &'static str, bytes: &[u8]) -> Result<u64> {
        let store = self.store()?;
        if bytes.len() <= SMALL && !self.has_own_options() {
            let mut waiting = store.waiting.lock();
            if !waiting.is_full(bytes.len()) {
                let address = self.allocate(Kind::Raw, bytes.len() as u64)?;
                waiting.add(self.base.saturating_add(address), bytes);
                return Ok(address);
            }
        }
        self.tentative(|| {
            let address = self.allocate(Kind::Raw, bytes.len() as u64)?;
            self.write_raw(what, &[(address, bytes)]).map(|()| address)
        })
    }

    /// Writes selections of values from one buffer, in one request. The offsets of the pieces come from [`OpenFile::check`].
    pub fn write_selection(&self, pairs: &[SelectionPair<'_>], buf: &[u8]) -> Result<()> {
        self.write_waiting()?;
        self.write_or_make_room(|| Ok(self.pages.write_selection(pairs, &[buf], &self.transfers.raw)?))?;
        self.store.iter().for_each(|store| self.wrote(store));
        Ok(())
    }

    /// Writes the values that wait, which came with the options of the file. Those that cannot be written go on waiting.
    pub(crate) fn write_waiting(&self) -> Result<()> {
        self.write_waiting_with(&self.opened_with.raw)
    }

    fn write_waiting_with(&self, transfer: &Transfer) -> Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        let mut waiting = store.waiting.lock();
        if !waiting.places.is_empty() {
            self.check_open(store)?;
            let part = |(addr, range)| WritePart {
                kind: MemoryType::RawData,
                addr,
                buf: waiting.bytes.get(range).unwrap_or_default(),
            };
            let request: Vec<_> = waiting.places.iter().cloned().map(part).collect();
            self.write_or_make_room(|| Ok(self.pages.write_vector(&request, transfer)?))?;
            *waiting = Waiting::default();
            self.wrote(store);
        }
        Ok(())
    }

    /// The address behind the last byte that the storage has: what was given out from there on was never written, and reads as zeros.
    pub fn stored_end(&self) -> Result<u64> {
        self.write_waiting()?;
        Ok(self.pages.len(&self.transfers.raw)?.saturating_sub(self.base))
    }

    /// Says what the root group is; once, when a file is made.
    pub fn set_root(&self, root: Root) -> Result<()> {
        let store = self.store()?;
        store.superblock.lock().0.root = root.clone();
        store.touch();
        self.root.set(root).map_err(|_| Error::broken("superblock", 0, "the file has a root group already"))
    }

    /// Says no more in the superblock where the links of the root group are, if that is the group at `group`: they moved.
    pub fn forget_cached_root(&self, group: u64) -> Result<()> {
        let store = self.store()?;
        if let Root::Entry(entry) = &mut store.superblock.lock().0.root
            && entry.header == Some(group)
        {
            entry.cache = Cache::Nothing;
            store.touch();
        }
        Ok(())
    }

    /// Everything that was changed, in an order in which the file is whole after each single write. If the storage is full, it gets back what the file does
    /// not need, and this is tried again.
    pub(crate) fn flush_now(&self) -> Result<()> {
        self.write_or_make_room(|| self.flush_once())
    }

    fn flush_once(&self) -> Result<()> {
        let store = self.store()?;
        self.flush_pending()?;
        self.write_waiting_with(&self.transfers.raw)?;
        store.cache.flush_rings(Ring::Fresh, &mut |wave| self.write_blocks(wave).map_err(Failure::from))?;
        // Changed blocks name what is new, also if only some of them get to the storage.
        store.space.lock().fresh.clear();
        self.write_changed(store)?;
        store.object_orders.lock().clear();
        store.shown_by.lock().clear();
        for (first, later) in store.orders.lock().take() {
            // One of the two may be gone, and the order with it.
            let _ = store.cache.release(later, first);
        }
        store.space.lock().publish();
        store.flushes.fetch_add(1, Ordering::Relaxed);
        self.reclaim(store)
    }

    /// Takes back what was given up inside of blocks: now nothing in the file names it.
    fn reclaim(&self, store: &Store) -> Result<()> {
        let given_up = std::mem::take(&mut *store.given_up.lock());
        for (address, (reclaim, pieces)) in given_up {
            if let Err(why) = reclaim(self, address, &pieces) {
                store.poison(&why);
                return Err(why);
            }
        }
        Ok(())
    }
}
