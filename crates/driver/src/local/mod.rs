//! A file of the local file system.
//!
//! Lives here: [`Local`], how it is opened (`options`), which parts share a system call (`plan`, `overlay`), selections of
//! small runs (`gather`), locks (`lock`) and who holds them (`holder`), which file it is (`identity`), and the calls themselves (`positioned`). Does not live here: caching; the kernel does that. The terminal driver of most files.

mod gather;
mod holder;
mod identity;
mod lock;
mod options;
mod overlay;
mod plan;
mod positioned;

use std::any::Any;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::{
    Capabilities, CtlFlags, CtlOp, CtlReply, Driver, Error, Operation, ReadPart, Result, SelectionPair, Transfer, Why,
    WritePart, cores::fork::Process, ctl, directory::Directory, lower,
};
use positioned::Positioned;

pub use identity::{FileIdentity, FileStamp};
pub use lock::Lock;
pub use options::OpenOptions;

/// A file of the local file system.
///
/// A vector costs few system calls: parts adjacent in the file share one, and so do parts of a read that are near each other.
/// A write touches no byte outside its parts.
///
/// A process that was forked from the one that opened the file can read it. It can neither write nor lock nor unlock it: the file, its lock
/// and what is kept of it in memory are the parent's.
///
/// ```
/// use hyperslab_driver::{Driver, Local, ReadPart, Transfer};
/// # let directory = std::env::temp_dir().join(format!("hyperslab-local-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// let file = Local::options().write(true).create(true).truncate(true).open(directory.join("a.bin"))?;
/// file.write_at(0, &[7; 4096], &Transfer::default())?;
/// let (mut a, mut b) = ([0; 16], [0; 16]);
/// let calls = file.system_calls();
/// file.read_vector(&mut [ReadPart::new(0, &mut a), ReadPart::new(64, &mut b)], &Transfer::default())?;
/// assert_eq!(file.system_calls() - calls, 1);
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Local {
    file: Positioned,
    /// What the file was like when it was opened.
    stamp: FileStamp,
    name: String,
    writable: bool,
    /// The process that opened it.
    process: Process,
    /// The path, while the name of a file that may be new may not be durable.
    unnamed: Mutex<Option<PathBuf>>,
}

impl Local {
    /// How to open a file; without further ado, an existing one for reading.
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::default()
    }

    /// Opens an existing file for reading.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(path)
    }

    /// How many system calls have read or written bytes of the file so far.
    pub fn system_calls(&self) -> u64 {
        self.file.calls()
    }

    fn new(file: File, stamp: FileStamp, path: &Path, writable: bool, is_new: bool) -> Self {
        let unnamed = Mutex::new(is_new.then(|| path.to_owned()));
        let (name, process) = (path.display().to_string(), Process::this());
        Local { file: Positioned::new(file), stamp, name, writable, process, unnamed }
    }

    /// Refuses a change of a file that this process may not write to.
    fn check_writable(&self) -> Result<(), Why> {
        match self.writable {
            false => Err(Why::ReadOnly),
            true if !self.process.is_this() => Err(Why::Inherited),
            true => Ok(()),
        }
    }

    fn fail(&self, operation: Operation, addr: u64, len: usize, why: impl Into<Why>) -> Error {
        Error::new(&self.name, operation, addr, len as u64, why)
    }

    fn failed(&self, operation: Operation, failed: plan::Failed) -> Error {
        self.fail(operation, failed.addr, failed.len, failed.why)
    }

    /// Every range of a request must fit into what the system can address; one of no bytes always does.
    fn check(&self, operation: Operation, ranges: impl Iterator<Item = (u64, usize)>) -> Result<()> {
        for (addr, len) in ranges.filter(|(_, len)| *len > 0) {
            if operation.is_write() {
                self.check_writable().map_err(|why| self.fail(operation, addr, len, why))?;
            }
            if addr.checked_add(len as u64).is_none_or(|end| end > i64::MAX as u64) {
                return Err(self.fail(operation, addr, len, Why::Overflow));
            }
        }
        Ok(())
    }
}

impl Driver for Local {
    fn read_at(&self, addr: u64, buf: &mut [u8], _: &Transfer) -> Result<()> {
        self.check(Operation::Read, [(addr, buf.len())].into_iter())?;
        if buf.is_empty() {
            return Ok(());
        }
        plan::read_one(&self.file, addr, buf).map_err(|failed| self.failed(Operation::Read, failed))
    }

    fn write_at(&self, addr: u64, buf: &[u8], _: &Transfer) -> Result<()> {
        self.check(Operation::Write, [(addr, buf.len())].into_iter())?;
        if buf.is_empty() {
            return Ok(());
        }
        plan::write(&self.file, &[(addr, buf)]).map_err(|failed| self.failed(Operation::Write, failed))
    }

    fn len(&self, _: &Transfer) -> Result<u64> {
        self.file.len().map_err(|error| self.fail(Operation::Len, 0, 0, error))
    }

    fn set_len(&self, len: u64, _: &Transfer) -> Result<()> {
        self.check_writable().map_err(|why| self.fail(Operation::SetLen, len, 0, why))?;
        self.file.set_len(len).map_err(|error| self.fail(Operation::SetLen, len, 0, error))
    }

    fn ctl(&self, op: CtlOp, flags: CtlFlags, input: Option<&dyn Any>) -> Result<CtlReply> {
        let range = input.and_then(|input| input.downcast_ref::<Range<u64>>());
        match range.filter(|range| op == CtlOp::DISCARD && self.check_writable().is_ok() && range.start < range.end) {
            Some(range) if self.file.discard(range.start, range.end - range.start) => Ok(CtlReply::Done),
            Some(_) => Ok(CtlReply::Ignored),
            None => ctl::unknown(self, op, flags, input),
        }
    }

    fn sync(&self, _: &Transfer) -> Result<()> {
        if !self.process.is_this() {
            return Err(self.fail(Operation::Sync, 0, 0, Why::Inherited));
        }
        let fail = |error| self.fail(Operation::Sync, 0, 0, error);
        self.file.sync().map_err(fail)?;
        let mut unnamed = self.unnamed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = &*unnamed {
            Directory::of(path).and_then(|directory| directory.sync(self.file.file())).map_err(fail)?;
            *unnamed = None;
        }
        Ok(())
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        let able = Capabilities::VECTOR | Capabilities::CONCURRENT | Capabilities::NEAR;
        if self.writable { able | Capabilities::WRITE } else { able }
    }

    fn read_vector(&self, parts: &mut [ReadPart<'_>], _: &Transfer) -> Result<()> {
        self.check(Operation::ReadVector, parts.iter().map(|part| (part.addr, part.buf.len())))?;
        let runs = parts.iter_mut().map(|part| (part.addr, &mut *part.buf)).collect();
        plan::read(&self.file, runs).map_err(|failed| self.failed(Operation::ReadVector, failed))
    }

    fn read_selection(&self, pairs: &[SelectionPair<'_>], bufs: &mut [&mut [u8]], transfer: &Transfer) -> Result<()> {
        let [buf] = bufs else { return lower::read_selection(self, pairs, bufs, transfer) };
        // What is refused is refused by the lowering, with its words.
        if !gather::suits(pairs) || pairs.iter().any(|pair| lower::check(pair, buf.len()).is_err()) {
            return lower::read_selection(self, pairs, bufs, transfer);
        }
        gather::read(&self.file, pairs, buf).map_err(|failed| self.failed(Operation::ReadSelection, failed))
    }

    fn write_vector(&self, parts: &[WritePart<'_>], _: &Transfer) -> Result<()> {
        self.check(Operation::WriteVector, parts.iter().map(|part| (part.addr, part.buf.len())))?;
        let runs = overlay::visible(parts.iter().map(|part| (part.addr, part.buf)).collect());
        plan::write(&self.file, &runs).map_err(|failed| self.failed(Operation::WriteVector, failed))
    }
}
