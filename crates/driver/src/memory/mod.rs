//! Storage in memory.
//!
//! Lives here: [`Memory`], growable, with an optional file that it is loaded from and written back to (`backing`). Does not live
//! here: memory of another process or device. Used for files that are never to touch a disk, and by tests.

mod backing;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::{Capabilities, Driver, Error, Operation, ReadPart, Result, Transfer, Why, WritePart};

/// Storage in memory. Readers run at once.
///
/// ```
/// use hyperslab_driver::{Driver, Memory, Transfer};
/// let storage = Memory::new();
/// storage.write_at(2, b"abc", &Transfer::default())?;
/// assert_eq!(storage.into_bytes(), b"\0\0abc");
/// # Ok::<(), hyperslab_driver::Error>(())
/// ```
#[derive(Debug)]
pub struct Memory {
    bytes: RwLock<Vec<u8>>,
    name: String,
    backing: Option<PathBuf>,
    /// How often the bytes may have changed.
    changes: AtomicU64,
    /// How many of the changes the backing file has. Held while it is written: one at a time.
    saved: Mutex<Saved>,
}

/// How many of the changes the backing file has, and how many of these durably.
#[derive(Debug, Default)]
struct Saved {
    flushed: u64,
    synced: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Memory::new()
    }
}

impl From<Vec<u8>> for Memory {
    fn from(bytes: Vec<u8>) -> Self {
        let (changes, saved) = (AtomicU64::new(0), Mutex::default());
        Memory { bytes: RwLock::new(bytes), name: "memory".to_owned(), backing: None, changes, saved }
    }
}

impl Memory {
    /// Empty storage without a file.
    #[must_use]
    pub fn new() -> Self {
        Memory::from(Vec::new())
    }

    /// Storage with the bytes of the file at `path`, or empty if there is none. [`Driver::flush`] writes the file, [`Driver::sync`]
    /// durably; without them the file stays as it is. A relative path is one from the current directory of this moment.
    pub fn backed_by(path: impl AsRef<Path>) -> Result<Self> {
        let path = std::path::absolute(&path).unwrap_or_else(|_| path.as_ref().to_path_buf());
        let name = path.display().to_string();
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            other => other.map_err(|error| Error::new(&name, Operation::Open, 0, 0, error))?,
        };
        Ok(Memory { name, backing: Some(path), ..Memory::from(bytes) })
    }

    /// Looks at all its bytes as they are at one moment. Writes wait until `look` returns, which must not use this storage.
    pub fn inspect<T>(&self, look: impl FnOnce(&[u8]) -> T) -> T {
        look(&self.shared())
    }

    /// All its bytes.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn shared(&self) -> RwLockReadGuard<'_, Vec<u8>> {
        self.bytes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn exclusive(&self) -> RwLockWriteGuard<'_, Vec<u8>> {
        let bytes = self.bytes.write().unwrap_or_else(PoisonError::into_inner);
        // Only now: a sync under way must not count a change that it has not seen.
        self.changes.fetch_add(1, Ordering::AcqRel);
        bytes
    }

    fn fail(&self, operation: Operation, addr: u64, len: usize, why: impl Into<Why>) -> Error {
        Error::new(&self.name, operation, addr, len as u64, why)
    }

    fn read(&self, bytes: &[u8], addr: u64, buf: &mut [u8]) -> Result<()> {
        if buf.is_empty() {
            return Ok(());
        }
        let there = usize::try_from(addr).ok().and_then(|at| bytes.get(at..at.checked_add(buf.len())?));
        let why = || Why::PastEnd { end: bytes.len() as u64 };
        buf.copy_from_slice(there.ok_or_else(|| self.fail(Operation::Read, addr, buf.len(), why()))?);
        Ok(())
    }

    fn write(&self, bytes: &mut [u8], addr: u64, buf: &[u8]) -> Result<()> {
        if buf.is_empty() {
            return Ok(());
        }
        let there = usize::try_from(addr).ok().and_then(|at| bytes.get_mut(at..at.checked_add(buf.len())?));
        there.ok_or_else(|| self.fail(Operation::Write, addr, buf.len(), Why::Overflow))?.copy_from_slice(buf);
        Ok(())
    }

    /// Makes room for a range, without ever aborting for lack of memory.
    fn reserve(&self, bytes: &mut Vec<u8>, operation: Operation, addr: u64, len: usize) -> Result<()> {
        let end = usize::try_from(addr).ok().and_then(|at| at.checked_add(len));
        let end = end.ok_or_else(|| self.fail(operation, addr, len, Why::Overflow))?;
        if len > 0 && end > bytes.len() {
            self.resize(bytes, end).map_err(|why| self.fail(operation, addr, len, why))?;
        }
        Ok(())
    }

    /// Replaces the backing file, unless it has all changes in the way that is asked for.
    fn save(&self, operation: Operation) -> Result<()> {
        let Some(path) = &self.backing else { return Ok(()) };
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = self.shared();
        let changes = self.changes.load(Ordering::Acquire);
        let durably = operation == Operation::Sync;
        if changes != if durably { saved.synced } else { saved.flushed } {
            backing::replace(path, &bytes, durably).map_err(|error| self.fail(operation, 0, 0, error))?;
            saved.flushed = changes;
            if durably {
                saved.synced = changes;
            }
        }
        Ok(())
    }

    fn resize(&self, bytes: &mut Vec<u8>, len: usize) -> Result<(), Why> {
        let more = len.saturating_sub(bytes.len());
        bytes.try_reserve(more).map_err(|error| Why::Io(io::Error::new(io::ErrorKind::OutOfMemory, error)))?;
        bytes.resize(len, 0);
        Ok(())
    }
}

impl Driver for Memory {
    fn read_at(&self, addr: u64, buf: &mut [u8], _: &Transfer) -> Result<()> {
        self.read(&self.shared(), addr, buf)
    }

    fn write_at(&self, addr: u64, buf: &[u8], _: &Transfer) -> Result<()> {
        let mut bytes = self.exclusive();
        self.reserve(&mut bytes, Operation::Write, addr, buf.len())?;
        self.write(&mut bytes, addr, buf)
    }

    fn len(&self, _: &Transfer) -> Result<u64> {
        Ok(self.shared().len() as u64)
    }

    fn set_len(&self, len: u64, _: &Transfer) -> Result<()> {
        let fail = |why| self.fail(Operation::SetLen, len, 0, why);
        let wanted = usize::try_from(len).map_err(|_| fail(Why::Overflow))?;
        self.resize(&mut self.exclusive(), wanted).map_err(fail)
    }

    fn sync(&self, _: &Transfer) -> Result<()> {
        self.save(Operation::Sync)
    }

    fn flush(&self, _: &Transfer) -> Result<()> {
        self.save(Operation::Flush)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::WRITE | Capabilities::VECTOR | Capabilities::NEAR
    }

    fn read_vector(&self, parts: &mut [ReadPart<'_>], _: &Transfer) -> Result<()> {
        let bytes = self.shared();
        parts.iter_mut().try_for_each(|part| self.read(&bytes, part.addr, part.buf))
    }

    fn write_vector(&self, parts: &[WritePart<'_>], _: &Transfer) -> Result<()> {
        let mut bytes = self.exclusive();
        for part in parts {
            self.reserve(&mut bytes, Operation::WriteVector, part.addr, part.buf.len())?;
        }
        parts.iter().try_for_each(|part| self.write(&mut bytes, part.addr, part.buf))
    }
}
