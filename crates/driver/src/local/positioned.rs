//! System calls at a position of a file.
//!
//! Lives here: reading and writing a row of buffers completely, in as many calls as it takes. Does not live here: which
//! buffers to put in a row (`plan`).

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::{Errno, preadv, pwritev};

/// The most buffers the kernel takes in one call.
pub(super) const IOV_MAX: usize = 1024;

/// An open file and how often it was read or written.
#[derive(Debug)]
pub(super) struct Positioned {
    file: File,
    calls: AtomicU64,
}

impl Positioned {
    pub(super) fn new(file: File) -> Self {
        Positioned { file, calls: AtomicU64::new(0) }
    }

    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    pub(super) fn len(&self) -> io::Result<u64> {
        self.file.metadata().map(|metadata| metadata.len())
    }

    pub(super) fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Fills the buffers, none of them empty, from `addr` on. The answer is how many bytes there were.
    pub(super) fn read(&self, mut addr: u64, mut bufs: &mut [IoSliceMut<'_>]) -> io::Result<u64> {
        let mut done = 0;
        while !bufs.is_empty() {
            let now = bufs.len().min(IOV_MAX);
            let Some(row) = bufs.get_mut(..now) else { break };
            match self.call(|file| preadv(file, row, addr))? {
                0 => break,
                count => {
                    IoSliceMut::advance_slices(&mut bufs, count);
                    (addr, done) = (addr.saturating_add(count as u64), done + count as u64);
                }
            }
        }
        Ok(done)
    }

    /// Stores the buffers, none of them empty, from `addr` on.
    pub(super) fn write(&self, mut addr: u64, mut bufs: &mut [IoSlice<'_>]) -> io::Result<()> {
        while !bufs.is_empty() {
            let Some(row) = bufs.get(..bufs.len().min(IOV_MAX)) else { break };
            match self.call(|file| pwritev(file, row, addr))? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => {
                    IoSlice::advance_slices(&mut bufs, count);
                    addr = addr.saturating_add(count as u64);
                }
            }
        }
        Ok(())
    }

    /// One transfer, again as long as signals interrupt it.
    fn call(&self, mut transfer: impl FnMut(&File) -> Result<usize, Errno>) -> io::Result<usize> {
        loop {
            self.calls.fetch_add(1, Ordering::Relaxed);
            match transfer(&self.file) {
                Err(Errno::INTR) => {}
                other => return Ok(other?),
            }
        }
    }
}
