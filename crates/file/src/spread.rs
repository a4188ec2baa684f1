//! Files that are spread over several and may be changed: what they tell of their members.
//!
//! ```text
//!  superblock 0, 1   | superblock | driver information block |   written as one
//!  later ones        | superblock | --> extension: driver information message, written before the superblock
//! ```
//!
//! A split file has values, and the global heap, in a member of their own, with addresses from half of the address space on. What its driver left says
//! where both members end, so it changes with them.

use std::{
    ops::Range,
    sync::{Arc, atomic::Ordering},
};

use hyperslab_base::Width;
use hyperslab_driver::{Capabilities, Driver};
use hyperslab_format::{MemberFiles, message::kind, object_header::Flags};

use crate::{
    Error, Header, OpenFile, Result, extension,
    member_layout::{Members, VALUES, read_only},
    members,
    store::Store,
};

/// The flags of the message, as libhdf5 has them: to be marked by programs that do not understand it.
const FLAGS: Flags = Flags(0x04);

impl Members {
    /// Of a file in the storage. Members of a family are known without what their driver left.
    pub(crate) fn of(file: &OpenFile) -> Result<Option<Members>> {
        let are_apart = file.raw.capabilities().contains(Capabilities::KINDS_APART);
        let found = members::told(file).map(|files| Members { files });
        match &found {
            Some(Members { files: MemberFiles::Multi(_) }) if !are_apart => {
                let why = "it is the first member of a file that has a member for each kind of content: open it with the others";
                Err(Error::Refused(why.into()))
            }
            Some(members) if are_apart => {
                members.check_split(file.base)?;
                if file.widths().offsets == Width::W8 { Ok(found) } else { Err(read_only()) }
            }
            None if are_apart => Err(read_only()),
            _ => Ok(found),
        }
    }

    /// The same members, which end where the space ends that was given out.
    pub(crate) fn ending_at(&self, store: &Store) -> Members {
        let mut ending = self.clone();
        if let MemberFiles::Multi(members) = &mut ending.files {
            let space = store.space.lock();
            for member in members {
                let values = space.allocator.values_end().filter(|_| member.kinds == VALUES);
                member.length = values.unwrap_or_else(|| space.allocator.end()).saturating_sub(member.start);
            }
        }
        ending
    }

    /// Gives a new file with a later superblock the message that tells of the members.
    pub(crate) fn begin(&self, file: &OpenFile, store: &Store) -> Result<()> {
        if file.superblock.version < 2 {
            return Ok(());
        }
        let body = self.message()?;
        extension::change(file, store, |header| header.add(kind::DRIVER_INFO, FLAGS, None, body).map(drop))
    }
}

impl OpenFile {
    /// The ranges of addresses that the file tells of; nothing if it has members of which only libhdf5 knows what they hold.
    pub fn regions(&self) -> Option<Vec<Range<u64>>> {
        let end = self.told_end().map_or(self.own_end(), |end| end.min(self.own_end()));
        let metadata = Range { start: 0, end };
        if !self.raw.capabilities().contains(Capabilities::KINDS_APART) {
            return Some(vec![metadata]);
        }
        let members = Members::of(self).ok().flatten()?;
        let values = members.values()?;
        let stored = self.raw.len(&self.transfers.raw).ok()?;
        Some(vec![metadata, values.start..values.start.saturating_add(values.length).min(stored)])
    }

    /// How many bytes the storage has, in all members if it is known what they hold.
    pub fn stored_size(&self) -> u64 {
        let values = match self.regions().as_deref() {
            Some([_, values]) => self.end().saturating_sub(values.start),
            Some(_) => return self.base.saturating_add(self.end()),
            None => 0,
        };
        self.base.saturating_add(self.own_end()).saturating_add(values)
    }

    /// Where values end, as an address, for a program that changes the file, if they have a member of their own: as [`OpenFile::end_to_keep`].
    pub(crate) fn values_to_keep(&self, members: Option<&Members>) -> Result<u64> {
        let Some(values) = members.and_then(Members::values) else { return Ok(0) };
        let told = values.start.saturating_add(values.length);
        let stored = self.raw.len(&self.transfers.raw)?;
        Ok(if self.marks().is_left_whole() { told } else { told.max(stored) })
    }

    /// Makes the member of values as long as the space that was given out there.
    pub(crate) fn reach_values_end(&self, store: &Store) -> Result<()> {
        let end = store.space.lock().allocator.values_end();
        match end {
            Some(end) if self.pages.len(&self.transfers.raw)? < end => self.set_values_end(store, end),
            _ => Ok(()),
        }
    }

    /// Gives up what is unused at the end of the member of values.
    pub(crate) fn trim_values(&self, store: &Store) -> Result<()> {
        let end = store.space.lock().allocator.values_end();
        match end {
            Some(end) if self.pages.len(&self.transfers.raw)? != end => {
                self.barrier(store)?;
                self.set_values_end(store, end)
            }
            _ => Ok(()),
        }
    }

    fn set_values_end(&self, store: &Store, end: u64) -> Result<()> {
        self.finish_journal(store)?;
        self.pages.set_len(end, &self.transfers.raw)?;
        self.wrote(store);
        Ok(())
    }

    /// Puts into the superblock extension where members end, if that tells it; its first block, if the storage has another one, and its address.
    pub(crate) fn tell_ends(&self, store: &Store) -> Result<Option<(u64, Arc<Vec<u8>>)>> {
        let Some(members) = store.members.as_ref().filter(|members| members.values_start().is_some()) else {
            return Ok(None);
        };
        let extension = store.superblock.lock().0.extension;
        let Some(address) = extension else { return Ok(None) };
        let header = Header::read(self, address)?;
        let Some(found) = header.find(kind::DRIVER_INFO) else { return Ok(None) };
        let body = members.ending_at(store).message()?;
        if header.body(found) != body {
            let changes = store.changes.load(Ordering::Relaxed);
            if !header.patch(self, found, &body)? {
                return Err(Error::broken(
                    "driver information message",
                    address,
                    "it has another length than it should",
                ));
            }
            // An operation that fails later has changed nothing by this.
            store.changes.store(changes, Ordering::Relaxed);
        }
        if !self.is_changed(address) || self.is_fresh(address) {
            return Ok(None);
        }
        let header = Header::read(self, address)?;
        Ok(header.blocks().first().map(|block| (address, block.clone())))
    }
}
