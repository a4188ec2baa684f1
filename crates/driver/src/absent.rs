//! A storage that should be there and is not.
//!
//! Lives here: [`Absent`]. Used for members of divided files that no request may ask for.

use std::io;

use crate::{Capabilities, Driver, Error, Operation, Result, Transfer, Why};

/// Has a length and a name, and an error for every request for bytes that says what is missing.
///
/// ```
/// use hyperslab_driver::{Absent, Driver, Transfer};
/// let raw = Absent::new("data-r.h5", 64);
/// assert_eq!(raw.len(&Transfer::default())?, 64);
/// assert!(raw.read_at(0, &mut [0; 4], &Transfer::default()).unwrap_err().to_string().contains("data-r.h5"));
/// # Ok::<(), hyperslab_driver::Error>(())
/// ```
pub struct Absent {
    name: String,
    len: u64,
}

impl Absent {
    /// The storage of this name, which would have `len` bytes.
    pub fn new(name: impl Into<String>, len: u64) -> Absent {
        Absent { name: name.into(), len }
    }

    fn refuse(&self, operation: Operation, addr: u64, len: u64) -> Error {
        let why = Why::Io(io::Error::new(io::ErrorKind::NotFound, "the file is missing"));
        Error::new(&self.name, operation, addr, len, why)
    }
}

impl Driver for Absent {
    fn read_at(&self, addr: u64, buf: &mut [u8], _: &Transfer) -> Result<()> {
        match buf.len() as u64 {
            0 => Ok(()),
            // As of any storage: this lets a divided file tell a hole from what is missing.
            len if addr >= self.len => {
                Err(Error::new(&self.name, Operation::Read, addr, len, Why::PastEnd { end: self.len }))
            }
            len => Err(self.refuse(Operation::Read, addr, len)),
        }
    }

    fn write_at(&self, addr: u64, buf: &[u8], _: &Transfer) -> Result<()> {
        Err(self.refuse(Operation::Write, addr, buf.len() as u64))
    }

    fn len(&self, _: &Transfer) -> Result<u64> {
        Ok(self.len)
    }

    fn set_len(&self, len: u64, _: &Transfer) -> Result<()> {
        Err(self.refuse(Operation::SetLen, len, 0))
    }

    fn sync(&self, _: &Transfer) -> Result<()> {
        Ok(())
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::empty()
    }
}
