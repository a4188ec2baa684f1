//! System calls at a position of a file.
//!
//! Lives here: reading and writing a row of buffers completely, in as many calls as it takes. Does not live here: which
//! buffers to put in a row (`plan`).

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FallocateFlags, fallocate};
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

    pub(super) fn file(&self) -> &File {
        &self.file
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

    /// Takes the blocks of a range that is about to be written, all at once. Where that cannot be done, the writes take them.
    pub(super) fn reserve(&self, addr: u64, len: usize) -> io::Result<()> {
        match fallocate(&self.file, FallocateFlags::empty(), addr, len as u64) {
            Err(Errno::NOSPC) => Err(Errno::NOSPC.into()),
            _ => Ok(()),
        }
    }

    /// Gives the blocks of a range back; whether the file system can.
    #[cfg(target_os = "linux")]
    pub(super) fn discard(&self, addr: u64, len: u64) -> bool {
        fallocate(&self.file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, addr, len).is_ok()
    }

    /// Other systems have other ways, or none.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn discard(&self, _: u64, _: u64) -> bool {
        false
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        // The length, too, but not the times.
        self.file.sync_data()
    }

    /// Fills the buffers, none of them empty, from `addr` on. The answer is how many bytes there were.
    pub(super) fn read(&self, addr: u64, bufs: &mut [IoSliceMut<'_>]) -> io::Result<u64> {
        fill(addr, bufs, |row, addr| self.counted(preadv(&self.file, row, addr)))
    }

    /// Stores the buffers, none of them empty, from `addr` on.
    pub(super) fn write(&self, addr: u64, bufs: &mut [IoSlice<'_>]) -> io::Result<()> {
        store(addr, bufs, |row, addr| self.counted(pwritev(&self.file, row, addr)))
    }

    fn counted(&self, outcome: Moved) -> Moved {
        self.calls.fetch_add(1, Ordering::Relaxed);
        outcome
    }
}

/// What a call says: how many bytes it moved, which may be fewer than it could.
type Moved = Result<usize, Errno>;

/// Reads on after short and interrupted calls, until all is there or there is no more.
fn fill(
    mut addr: u64,
    mut bufs: &mut [IoSliceMut<'_>],
    mut read: impl FnMut(&mut [IoSliceMut<'_>], u64) -> Moved,
) -> io::Result<u64> {
    let mut done = 0;
    while !bufs.is_empty() {
        let now = bufs.len().min(IOV_MAX);
        let Some(row) = bufs.get_mut(..now) else { break };
        match read(row, addr) {
            Ok(0) => break,
            Ok(count) => {
                IoSliceMut::advance_slices(&mut bufs, count);
                addr = addr.saturating_add(count as u64);
                done += count as u64;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(done)
}

/// Writes on after short and interrupted calls, until all is stored.
fn store(
    mut addr: u64,
    mut bufs: &mut [IoSlice<'_>],
    mut write: impl FnMut(&[IoSlice<'_>], u64) -> Moved,
) -> io::Result<()> {
    while !bufs.is_empty() {
        let Some(row) = bufs.get(..bufs.len().min(IOV_MAX)) else { break };
        match write(row, addr) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                IoSlice::advance_slices(&mut bufs, count);
                addr = addr.saturating_add(count as u64);
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Cuts the bytes of a test file into buffers of these sizes.
    fn cut(mut bytes: &[u8], sizes: &[usize]) -> Vec<Vec<u8>> {
        let mut cut = Vec::new();
        for &size in sizes {
            let (now, later) = bytes.split_at(size);
            cut.push(now.to_vec());
            bytes = later;
        }
        cut
    }

    proptest! {
        /// Each call moves at most so many bytes as `moves` says; none means that a signal came first.
        #[test]
        fn short_and_interrupted_calls(
            sizes in prop::collection::vec(1usize..9, 1..12),
            moves in prop::collection::vec(prop::option::of(1usize..20), 1..8),
        ) {
            let total: usize = sizes.iter().sum();
            let file: Vec<u8> = (0..100 + total).map(|n| n as u8).collect();
            let (mut turn, mut interrupted) = (0, false);
            let mut allow = move || {
                turn += 1;
                // A signal never comes twice in a row here, or the loop might not end.
                interrupted = !interrupted && moves[turn % moves.len()].is_none();
                if interrupted { Err(Errno::INTR) } else { Ok(moves[turn % moves.len()].unwrap_or(3)) }
            };

            let wanted = cut(&file[100..], &sizes);
            let mut found: Vec<Vec<u8>> = sizes.iter().map(|&size| vec![0; size]).collect();
            let mut slices: Vec<_> = found.iter_mut().map(|buf| IoSliceMut::new(buf)).collect();
            let there = fill(100, &mut slices, |row, addr| {
                let (most, mut done) = (allow()?, 0);
                for buf in row {
                    let now = buf.len().min(most - done);
                    buf[..now].copy_from_slice(&file[addr as usize + done..][..now]);
                    done += now;
                }
                Ok(done)
            });
            prop_assert_eq!(there.unwrap(), total as u64);
            prop_assert_eq!(&found, &wanted);

            let mut stored = vec![0; 100 + total];
            let mut slices: Vec<_> = wanted.iter().map(|buf| IoSlice::new(buf)).collect();
            let outcome = store(100, &mut slices, |row, addr| {
                let (most, mut done) = (allow()?, 0);
                for buf in row {
                    let now = buf.len().min(most - done);
                    stored[addr as usize + done..][..now].copy_from_slice(&buf[..now]);
                    done += now;
                }
                Ok(done)
            });
            prop_assert!(outcome.is_ok());
            prop_assert_eq!(&stored[100..], &file[100..]);
        }
    }

    #[test]
    fn the_end_and_errors_stop() {
        let mut bytes = [0; 8];
        assert_eq!(fill(0, &mut [IoSliceMut::new(&mut bytes)], |_, addr| Ok(if addr < 5 { 5 } else { 0 })).unwrap(), 5);
        assert!(fill(0, &mut [IoSliceMut::new(&mut bytes)], |_, _| Err(Errno::IO)).is_err());
        let full = store(0, &mut [IoSlice::new(&bytes)], |_, _| Ok(0)).unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::WriteZero);
    }
}
