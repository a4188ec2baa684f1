//! A storage that remembers every single write, so that tests can look at the file after each of them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hyperslab_driver::{Driver, Error, Memory, Result, Transfer};

/// Bytes in memory, and every change of them.
#[derive(Debug, Default)]
pub struct Film {
    now: Memory,
    changes: Mutex<Vec<Change>>,
}

#[derive(Clone, Debug)]
enum Change {
    Write(u64, Vec<u8>),
    Length(u64),
}

impl Film {
    fn lock(&self) -> MutexGuard<'_, Vec<Change>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many changes there were.
    pub fn changes(&self) -> usize {
        self.lock().len()
    }

    /// The storage as it was after each of the changes from number `first` on, one after the other.
    pub fn show(&self, first: usize, each: &mut dyn FnMut(usize, Vec<u8>)) -> Result<()> {
        let (past, none) = (Memory::new(), Transfer::default());
        for (nth, change) in self.lock().iter().enumerate() {
            match change {
                Change::Write(addr, bytes) => past.write_at(*addr, bytes, &none)?,
                Change::Length(len) => past.set_len(*len)?,
            }
            if nth >= first {
                each(nth, bytes_of(&past)?);
            }
        }
        Ok(())
    }

    /// The storage as it is.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        bytes_of(&self.now)
    }
}

fn bytes_of(storage: &Memory) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; usize::try_from(storage.len()?).unwrap_or(usize::MAX)];
    storage.read_at(0, &mut bytes, &Transfer::default())?;
    Ok(bytes)
}

impl Driver for Film {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.now.read_at(addr, buf, transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        self.now.write_at(addr, buf, transfer)?;
        self.lock().push(Change::Write(addr, buf.to_vec()));
        Ok(())
    }

    fn len(&self) -> Result<u64> {
        self.now.len()
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.now.set_len(len)?;
        self.lock().push(Change::Length(len));
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        self.now.sync()
    }
}
