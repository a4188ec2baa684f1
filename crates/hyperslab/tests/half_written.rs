//! What other threads see while values are being written in place.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use hyperslab::{
    CacheConfig, Dataset, OpenOptions,
    driver::{Capabilities, Driver, Memory, MemoryType, ReadPart, Result, Transfer, WritePart},
};

/// Storage that stops in the middle of writes of values, if it is told to, until it may go on or a time is over.
struct Halting {
    below: Memory,
    most: Duration,
    halts: AtomicBool,
    is_halted: AtomicBool,
}

impl Halting {
    fn wait_until_halted(&self) {
        while !self.is_halted.load(Ordering::SeqCst) {
            thread::yield_now();
        }
    }
}

impl Driver for Halting {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.below.read_at(addr, buf, transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        if transfer.kind != MemoryType::RawData || !self.halts.load(Ordering::SeqCst) {
            return self.below.write_at(addr, buf, transfer);
        }
        let (first, second) = buf.split_at(buf.len() / 2);
        self.below.write_at(addr, first, transfer)?;
        self.is_halted.store(true, Ordering::SeqCst);
        let begin = Instant::now();
        while self.halts.load(Ordering::SeqCst) && begin.elapsed() < self.most {
            thread::sleep(Duration::from_millis(1));
        }
        self.below.write_at(addr + first.len() as u64, second, transfer)
    }

    fn len(&self, transfer: &Transfer) -> Result<u64> {
        self.below.len(transfer)
    }

    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
        self.below.set_len(len, transfer)
    }

    fn sync(&self, transfer: &Transfer) -> Result<()> {
        self.below.sync(transfer)
    }

    fn read_vector(&self, parts: &mut [ReadPart<'_>], transfer: &Transfer) -> Result<()> {
        self.below.read_vector(parts, transfer)
    }

    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
        parts.iter().try_for_each(|part| self.write_at(part.addr, part.buf, &transfer.clone().with_kind(part.kind)))
    }

    fn capabilities(&self) -> Capabilities {
        self.below.capabilities()
    }
}

const LEN: usize = 1 << 16;

/// Runs `look` while another thread is in the middle of a write over the one chunk of a dataset.
fn amid_a_write(most: Duration, look: impl Fn(&Dataset, &Halting)) {
    let (halts, is_halted) = (AtomicBool::new(false), AtomicBool::new(false));
    let storage = Arc::new(Halting { below: Memory::new(), most, halts, is_halted });
    let cache = CacheConfig::default().bytes(0);
    let file = OpenOptions::new().create().truncate().cache(cache).open_on(storage.clone()).unwrap();
    let root = file.root().unwrap();
    let dataset = root.new_dataset::<u8>().shape([LEN as u64]).chunks([LEN as u64]).create("dataset").unwrap();
    dataset.write(&vec![1u8; LEN]).unwrap();
    file.flush().unwrap();
    storage.halts.store(true, Ordering::SeqCst);
    thread::scope(|scope| {
        scope.spawn(|| dataset.past_cache().write(&vec![2u8; LEN]).unwrap());
        storage.wait_until_halted();
        look(&dataset, &storage);
        storage.halts.store(false, Ordering::SeqCst);
    });
    assert_eq!(dataset.read::<u8>().unwrap(), [2; LEN]);
}

#[test]
fn a_stored_chunk_is_never_read_half_written() {
    amid_a_write(Duration::from_millis(300), |dataset, _| {
        let (_, bytes) = dataset.read_chunk([0]).unwrap().unwrap();
        assert!(bytes == [1; LEN] || bytes == [2; LEN], "torn at {:?}", bytes.iter().position(|byte| *byte == 1));
    });
}

#[test]
fn requests_for_nothing_wait_for_no_writer() {
    amid_a_write(Duration::from_secs(60), |dataset, storage| {
        let begin = Instant::now();
        assert!(dataset.read_slice::<u8>(7..7).unwrap().is_empty());
        dataset.write_slice::<u8>(7..7, &[]).unwrap();
        assert!(begin.elapsed() < Duration::from_secs(30) && storage.halts.load(Ordering::SeqCst));
    });
}
