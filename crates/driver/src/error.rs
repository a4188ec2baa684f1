//! Why a request failed, and where.
//!
//! Lives here: the error of every driver. Does not live here: recovery; a driver reports and the engine decides.

use std::path::Path;
use std::{env, fmt, io};

use hyperslab_base::ErrorKind;

use crate::CtlOp;

/// What a driver gives back.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A request that failed: what was asked of which storage, where in it, and why it could not be done. Its text has the text of [`Why`] in it.
///
/// ```
/// use hyperslab_driver::{Driver, Memory, Transfer, Why};
/// let error = Memory::new().read_at(8, &mut [0; 4], &Transfer::default()).unwrap_err();
/// assert!(matches!(error.why, Why::PastEnd { end: 0 }));
/// assert_eq!(error.to_string(), "read of 4 bytes at address 8 of memory: reaches past the end of the storage at 0");
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", self.request())]
pub struct Error {
    /// The storage: the path of a file, or what else it is.
    pub storage: String,
    /// What it was asked to do.
    pub operation: Operation,
    /// The address of the range that failed.
    pub addr: u64,
    /// The length of the range that failed.
    pub len: u64,
    /// What was wrong.
    #[source]
    pub why: Why,
}

/// What was wrong with a request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Why {
    /// A read reaches beyond the end.
    #[error("reaches past the end of the storage at {end}")]
    PastEnd {
        /// How many bytes there are.
        end: u64,
    },
    /// Address and length do not fit into what the storage can address.
    #[error("the range does not fit into the address space")]
    Overflow,
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The request contradicts itself.
    #[error("invalid request: {0}")]
    Invalid(String),
    /// A selection could not be used.
    #[error("selection: {0}")]
    Selection(#[from] hyperslab_space::Error),
    /// A write to storage that was opened for reading.
    #[error("the storage is open for reading only")]
    ReadOnly,
    /// A write or a lock by a process that was forked from the one that opened the storage.
    #[error(
        "the process that this one was forked from opened the file, so it can only be read here: open it in this process to change it"
    )]
    Inherited,
    /// Another process has the file open.
    #[error(
        "another process has the file open{}, one of the two for writing: close it there, or set HDF5_USE_FILE_LOCKING=FALSE if you \
         know that no process writes it",
        if holders.is_empty() { String::new() } else { format!(": {holders}") }
    )]
    Locked {
        /// The processes that have it, in words; empty if the system does not tell.
        holders: String,
        /// What the system says: `EAGAIN`.
        source: io::Error,
    },
    /// The file system has no locks, and the file is to be locked in any case.
    #[error("the file system has no locks: open the file with best-effort locking, or without locks")]
    NoLocks,
    /// Something else than a regular file.
    #[error("it is a {0}, not a regular file")]
    Special(&'static str),
    /// A control operation that the driver does not know.
    #[error("unknown control operation {0:?}")]
    UnknownCtl(CtlOp),
    /// A [`Fault`](crate::Fault) driver struck.
    #[error("injected fault after {done} bytes")]
    Injected {
        /// How many bytes of the request reached the storage.
        done: u64,
    },
}

/// What a driver was asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Open or create the storage.
    Open,
    /// Read one range.
    Read,
    /// Write one range.
    Write,
    /// Read a vector.
    ReadVector,
    /// Write a vector.
    WriteVector,
    /// Read selections.
    ReadSelection,
    /// Write selections.
    WriteSelection,
    /// Tell the length.
    Len,
    /// Change the length.
    SetLen,
    /// Make durable.
    Sync,
    /// Hand on what was kept back.
    Flush,
    /// A control operation.
    Ctl,
}

impl Operation {
    /// Whether it changes bytes.
    #[must_use]
    pub fn is_write(self) -> bool {
        matches!(self, Operation::Write | Operation::WriteVector | Operation::WriteSelection)
    }

    /// Whether it reads bytes.
    #[must_use]
    pub fn is_read(self) -> bool {
        matches!(self, Operation::Read | Operation::ReadVector | Operation::ReadSelection)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Open => "open",
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::ReadVector => "vector read",
            Operation::WriteVector => "vector write",
            Operation::ReadSelection => "selection read",
            Operation::WriteSelection => "selection write",
            Operation::Len => "length query",
            Operation::SetLen => "length change",
            Operation::Sync => "sync",
            Operation::Flush => "flush",
            Operation::Ctl => "control",
        })
    }
}

impl Error {
    /// An error of `storage` when `operation` was done on a range.
    pub fn new(storage: &str, operation: Operation, addr: u64, len: u64, why: impl Into<Why>) -> Self {
        Error { storage: shown_path(Path::new(storage)), operation, addr, len, why: why.into() }
    }

    /// What went wrong. A range that is not there means that the file is damaged if it was to be read, and too large if it was to be written.
    pub fn kind(&self) -> ErrorKind {
        match &self.why {
            Why::PastEnd { .. } | Why::Overflow if self.operation.is_read() => ErrorKind::Malformed,
            Why::PastEnd { .. } | Why::Overflow => ErrorKind::NoSpace,
            Why::Io(why) => why.into(),
            Why::Selection(why) => why.kind(),
            Why::ReadOnly | Why::Inherited => ErrorKind::ReadOnly,
            Why::Locked { .. } => ErrorKind::Locked,
            Why::NoLocks | Why::Special(_) | Why::UnknownCtl(_) => ErrorKind::Unsupported,
            Why::Invalid(_) => ErrorKind::InvalidArgument,
            Why::Injected { .. } => ErrorKind::Io,
        }
    }

    /// What was asked, in words.
    fn request(&self) -> String {
        let Error { storage, operation, addr, len, .. } = self;
        match operation {
            Operation::Open => format!("cannot open {storage}"),
            Operation::Len => format!("cannot tell the length of {storage}"),
            Operation::SetLen => format!("cannot make {storage} {addr} bytes long"),
            Operation::Sync => format!("cannot make {storage} durable"),
            Operation::Flush => format!("cannot flush {storage}"),
            Operation::Ctl => format!("control operation of {storage}"),
            operation => format!("{operation} of {len} bytes at address {addr} of {storage}"),
        }
    }

    /// Whether a read failed only because the storage ends too early.
    #[must_use]
    pub fn is_past_end(&self) -> bool {
        matches!(self.why, Why::PastEnd { .. })
    }
}

impl Why {
    /// An [`Why::Invalid`] with this text.
    pub fn invalid(text: impl Into<String>) -> Self {
        Why::Invalid(text.into())
    }
}

/// A path as a person would write it: relative, if it leads below the current directory.
pub fn shown_path(path: &Path) -> String {
    let here = path.is_absolute().then(env::current_dir).and_then(io::Result::ok);
    let below = here.and_then(|here| path.strip_prefix(here).ok()).filter(|below| !below.as_os_str().is_empty());
    below.unwrap_or(path).display().to_string()
}
