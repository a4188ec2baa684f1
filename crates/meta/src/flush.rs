//! Flushing: waves of all that may be written, until nothing is left.

use std::sync::Arc;

use crate::{
    Cache, Encoded, Error, Event, Failure, Id, Result, Ring,
    slots::{Slots, Value},
};

/// Writes a wave: blocks by address, in one request.
pub type Write<'a> = dyn FnMut(&[(u64, Encoded)]) -> Result<(), Failure> + 'a;

/// What a flush had to leave dirty: entries that wait for others outside of the part that is flushed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// How many entries.
    pub entries: usize,
}

/// An entry that a flush took.
struct WriteBack {
    id: Id,
    address: u64,
    value: Arc<dyn Value>,
}

impl Cache {
    /// Writes everything that may be written. After an error, what was not written is still dirty.
    pub fn flush(&self, write: &mut Write<'_>) -> Result<Left> {
        self.flush_rings(Ring::Superblock, write)
    }

    /// Writes what may be written of all rings up to `last`.
    pub fn flush_rings(&self, last: Ring, write: &mut Write<'_>) -> Result<Left> {
        let (_alone, mut cleaned) = (self.locks.flushing.lock(), 0);
        loop {
            let wave = take(&mut self.locks.slots.lock(), last)?;
            if wave.is_empty() {
                let mut slots = self.locks.slots.lock();
                let (left, evicted) = (Left { entries: slots.unclean(last) }, slots.make_room(cleaned));
                drop(slots);
                drop(evicted);
                return Ok(left);
            }
            let written = write_wave(&wave, write);
            let event = if written.is_ok() { Event::Written } else { Event::Failed };
            let mut slots = self.locks.slots.lock();
            // The last one first: lists of what is not clean get shorter from the end.
            for taken in wave.iter().rev() {
                slots.happen(taken.id, event)?;
            }
            slots.account.wrote(written?);
            cleaned += wave.len();
        }
    }
}

/// A wave: all that may be written now.
fn take(slots: &mut Slots, last: Ring) -> Result<Vec<WriteBack>> {
    let ready = slots.writable(last);
    let mut wave = Vec::with_capacity(ready.len());
    for id in ready {
        slots.happen(id, Event::Take)?;
        if let Some(slot) = slots.slot(id) {
            wave.push(WriteBack { id, address: slot.address, value: slot.value.clone() });
        }
    }
    Ok(wave)
}

/// Encodes outside of the lock of the slots, then writes once, in the order of addresses; says how many blocks.
fn write_wave(wave: &[WriteBack], write: &mut Write<'_>) -> Result<usize> {
    let mut blocks = Vec::with_capacity(wave.len());
    for taken in wave {
        let address = taken.address;
        let encoded = taken.value.encode().map_err(|why| Error::Encode { address, why })?;
        blocks.push((address, encoded));
    }
    blocks.sort_unstable_by_key(|(address, _)| *address);
    if !blocks.is_empty() {
        write(&blocks).map_err(Error::Write)?;
    }
    Ok(blocks.len())
}
