//! The page buffer: what it asks of the storage, what it survives, and that it always tells the truth.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use hyperslab_driver::{
    Damage, Driver, Fault, Local, Log, Memory, MemoryType, Operation, PageBuffer, PageStrategy, ReadPart,
    SelectionPair, Subfile, Target, Throttle, Transfer, Why, WritePart, concurrently,
};
use hyperslab_space::{Op, Slab, Space};
use proptest::prelude::*;

use crate::common::Scratch;

const PAGE: usize = 10;

fn plain() -> Transfer {
    Transfer::default()
}

/// Options of requests that are always served from pages if they fit, and of those that the strategy decides about.
fn metadata() -> Transfer {
    Transfer::default().with_kind(MemoryType::ObjectHeader)
}

fn values() -> Transfer {
    Transfer::default().with_kind(MemoryType::RawData)
}

fn logged(len: usize, pages: usize) -> PageBuffer<Log<Memory>> {
    let bytes = (0..len).map(|n| n as u8).collect::<Vec<_>>();
    let buffer = PageBuffer::new(Log::new(Memory::from(bytes)), PAGE, pages).unwrap();
    buffer.below_ref().clear();
    buffer
}

fn asked(buffer: &PageBuffer<Log<Memory>>) -> Vec<(Operation, Vec<(u64, u64)>)> {
    let records = buffer.below_ref().records();
    buffer.below_ref().clear();
    records.into_iter().map(|record| (record.operation, record.parts)).collect()
}

#[test]
fn missing_pages_come_with_one_vector_read() {
    let buffer = logged(100, 4);
    let mut found = [0; 25];
    buffer.read_at(8, &mut found, &plain()).unwrap();
    assert_eq!(found[..], (8..33).collect::<Vec<u8>>());
    let pages = vec![(0, 10), (10, 10), (20, 10), (30, 10)];
    assert_eq!(asked(&buffer), [(Operation::ReadVector, pages)]);
    // All here: nothing is asked.
    let (mut a, mut b) = ([0; 3], [0; 3]);
    buffer.read_vector(&mut [ReadPart::new(35, &mut a), ReadPart::new(2, &mut b)], &plain()).unwrap();
    assert_eq!((a, b), ([35, 36, 37], [2, 3, 4]));
    assert_eq!(asked(&buffer), []);
    // One here, one not.
    buffer.read_at(38, &mut a, &plain()).unwrap();
    assert_eq!(asked(&buffer), [(Operation::ReadVector, vec![(40, 10)])]);
    assert_eq!(buffer.resident(), 4);
}

#[test]
fn a_selection_is_served_from_pages_or_goes_down_whole() {
    let buffer = logged(100, 4);
    let mut few = Space::simple(&[100]).unwrap();
    few.select_hyperslab(Op::Set, &[Slab::new(1, 30, 4, 2)]).unwrap();
    let mut many = Space::simple(&[10, 10]).unwrap();
    many.select_hyperslab(Op::Set, &[Slab::new(0, 1, 10, 1), Slab::new(3, 1, 1, 1)]).unwrap();
    let (eight, ten) = (Space::simple(&[8]).unwrap(), Space::simple(&[10]).unwrap());
    let pair = |memory, file| SelectionPair { memory, file, offset: 0, element_size: 1 };
    buffer.write_selection(&[pair(&eight, &few)], &[&[200; 8]], &plain()).unwrap();
    assert_eq!(asked(&buffer), [(Operation::ReadVector, vec![(0, 10), (30, 10), (60, 10), (90, 10)])]);

    let mut column = [0; 10];
    buffer.read_selection(&[pair(&ten, &many)], &mut [&mut column], &plain()).unwrap();
    assert_eq!(column, [3, 13, 23, 33, 43, 53, 63, 73, 83, 93]);
    let expected =
        [(Operation::WriteVector, vec![(1, 2), (31, 2), (61, 2), (91, 2)]), (Operation::ReadSelection, vec![(0, 10)])];
    assert_eq!(asked(&buffer), expected);

    // A large write keeps the pages that are here true.
    buffer.write_selection(&[pair(&ten, &many)], &[&[77; 10]], &plain()).unwrap();
    assert_eq!(asked(&buffer), [(Operation::WriteSelection, vec![(0, 10)])]);
    let mut found = [0; 5];
    buffer.read_at(0, &mut found, &plain()).unwrap();
    assert_eq!(found, [0, 200, 200, 77, 4]);
    assert_eq!(asked(&buffer), []);
}

#[test]
fn full_pages_are_not_loaded_and_dirty_ones_leave_together() {
    let buffer = logged(100, 4);
    buffer.write_at(5, &[9; 30], &plain()).unwrap();
    assert_eq!(asked(&buffer), [(Operation::ReadVector, vec![(0, 10), (30, 10)])]);
    buffer.sync(&Transfer::default()).unwrap();
    let dirty = vec![(5, 5), (10, 10), (20, 10), (30, 5)];
    assert_eq!(asked(&buffer), [(Operation::WriteVector, dirty), (Operation::Sync, vec![])]);
    buffer.sync(&Transfer::default()).unwrap();
    assert_eq!(asked(&buffer), [(Operation::Sync, vec![])]);
}

#[test]
fn the_file_is_never_padded() {
    let buffer = logged(13, 4);
    buffer.write_at(11, b"abcd", &plain()).unwrap();
    assert_eq!(buffer.len(&Transfer::default()).unwrap(), 15);
    assert!(buffer.read_at(14, &mut [0; 2], &plain()).is_err());
    buffer.sync(&Transfer::default()).unwrap();
    assert_eq!(buffer.below_ref().len(&Transfer::default()).unwrap(), 15);
    // Beyond a gap: a read of everything, which goes straight down, sees zeros there.
    buffer.write_at(77, b"x", &plain()).unwrap();
    let mut all = [1; 76];
    buffer.read_at(0, &mut all, &plain()).unwrap();
    assert_eq!(all[15..], [0; 61]);
    assert_eq!(buffer.below_ref().len(&Transfer::default()).unwrap(), 78);
    buffer.set_len(12, &Transfer::default()).unwrap();
    buffer.sync(&Transfer::default()).unwrap();
    assert_eq!(buffer.into_below().records().len(), 9);
}

#[test]
fn what_could_not_be_written_back_is_still_there() {
    for damage in [Damage::Fail, Damage::Tear(3), Damage::TearAtPart(1), Damage::Shorten(4)] {
        let buffer = PageBuffer::new(Fault::new(Memory::from(vec![1; 200])), PAGE, 3).unwrap();
        buffer.write_vector(&[WritePart::new(5, &[2; 2]), WritePart::new(18, &[3; 4])], &plain()).unwrap();
        buffer.below_ref().arm(Target::Writes, 0, damage);
        assert!(buffer.sync(&Transfer::default()).is_err());
        // Eviction meets the same: a write that needs the room fails, a read goes on.
        buffer.below_ref().arm(Target::Writes, 0, damage);
        assert!(buffer.write_at(100, &[4; 30], &plain()).is_err());
        buffer.below_ref().arm(Target::Writes, 0, damage);
        let mut elsewhere = [0; 30];
        buffer.read_at(100, &mut elsewhere, &plain()).unwrap();
        assert_eq!(elsewhere, [1; 30]);
        let mut found = [0; 17];
        buffer.read_at(5, &mut found, &plain()).unwrap();
        assert_eq!(found, [2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3]);
        buffer.sync(&Transfer::default()).unwrap();
        let bytes = buffer.into_below().into_below().into_bytes();
        assert_eq!(bytes[5..22], found);
        assert_eq!(bytes.len(), 200);
    }
}

#[test]
fn a_failed_load_leaves_nothing_behind() {
    let buffer = PageBuffer::new(Fault::new(Memory::from(vec![1; 100])), PAGE, 4).unwrap();
    buffer.below_ref().arm(Target::Reads, 0, Damage::Tear(5));
    assert!(buffer.write_at(5, &[2; 20], &plain()).is_err());
    assert_eq!(buffer.resident(), 0);
    let mut found = [0; 30];
    buffer.read_at(0, &mut found, &plain()).unwrap();
    assert_eq!(found, [1; 30]);
}

#[test]
fn threads_that_miss_the_same_page_load_it_once() {
    let slow = Log::new(Throttle::new(Memory::from(vec![5; 100])).latency(Duration::from_millis(20)));
    let buffer = PageBuffer::new(slow, PAGE, 4).unwrap();
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                let mut found = [0; 15];
                buffer.read_at(20, &mut found, &plain()).unwrap();
                assert_eq!(found, [5; 15]);
            });
        }
    });
    assert_eq!(buffer.below_ref().counts().read_bytes, 20);
}

/// A hit does not wait for the miss of another thread.
#[test]
fn no_lock_is_held_while_storage_works() {
    let slow = Throttle::new(Memory::from(vec![5; 100])).latency(Duration::from_millis(100));
    let buffer = PageBuffer::new(slow, PAGE, 4).unwrap();
    buffer.read_at(0, &mut [0; 1], &plain()).unwrap();
    thread::scope(|scope| {
        let miss = scope.spawn(|| buffer.read_at(50, &mut [0; 1], &plain()));
        thread::sleep(Duration::from_millis(20));
        let begun = std::time::Instant::now();
        buffer.read_at(0, &mut [0; 1], &plain()).unwrap();
        assert!(begun.elapsed() < Duration::from_millis(50));
        miss.join().unwrap().unwrap();
    });
}

#[test]
fn pages_ahead_come_with_those_that_follow_each_other() {
    let buffer = logged(1000, 40).with_ahead(3);
    let read = |page: u64, transfer: &Transfer| buffer.read_at(page * 10 + 3, &mut [0; 2], transfer).unwrap();
    let pages = |pages: std::ops::Range<u64>| {
        let parts = pages.map(|page| (page * 10, 10)).collect();
        [(Operation::ReadVector, parts)]
    };
    read(5, &metadata());
    assert_eq!(asked(&buffer), pages(5..6));
    read(6, &metadata());
    assert_eq!(asked(&buffer), pages(6..10));
    (7..10).for_each(|page| read(page, &metadata()));
    assert_eq!(asked(&buffer), []);
    // Pages that are here already, those behind the end, and those of values do not come along.
    read(12, &metadata());
    read(10, &metadata());
    assert_eq!(asked(&buffer), [pages(12..13), pages(10..12)].concat());
    read(97, &metadata());
    read(98, &metadata());
    assert_eq!(asked(&buffer), [pages(97..98), pages(98..100)].concat());
    read(13, &values());
    assert_eq!(asked(&buffer), pages(13..14));
}

#[test]
fn a_fault_in_pages_ahead_fails_no_read() {
    let buffer = PageBuffer::new(Fault::new(Memory::from(vec![7; 1000])), PAGE, 40).unwrap().with_ahead(3);
    buffer.read_at(0, &mut [0; 1], &metadata()).unwrap();
    buffer.below_ref().arm(Target::All, 0, Damage::Tear(0));
    let mut found = [0; 1];
    buffer.read_at(10, &mut found, &metadata()).unwrap();
    assert_eq!(found, [7]);
}

/// Small and large requests of both kinds, syncs and evictions at once; each thread owns every fourth range.
#[test]
fn many_threads_and_hardly_any_pages() {
    let strategies = PageStrategy::ALL.into_iter();
    for (strategy, pages) in strategies.flat_map(|strategy| [1, 2, 5, 24].map(|pages| (strategy, pages))) {
        let buffer = PageBuffer::new(Memory::from(vec![0; 4000]), PAGE, pages).unwrap().with_strategy(strategy);
        let buffer = buffer.with_reserved(pages / 2, pages / 3).unwrap();
        thread::scope(|scope| {
            for owner in 0..4u64 {
                let buffer = &buffer;
                scope.spawn(move || {
                    let mut own = vec![0u8; 4000];
                    for step in 0..300u64 {
                        let (value, first) = ((step % 250) as u8 + 1, (step * 37) % 60);
                        let count = if step % 5 == 0 { 30 } else { 1 + step % 3 };
                        let ranges: Vec<u64> = (first..first + count).map(|n| n * 28 + owner * 7).collect();
                        let transfer = if step % 3 == 0 { metadata() } else { values() };
                        if step % 2 == 0 {
                            let bytes = [value; 7];
                            let parts: Vec<_> = ranges.iter().map(|addr| WritePart::new(*addr, &bytes)).collect();
                            buffer.write_vector(&parts, &transfer).unwrap();
                            ranges.iter().for_each(|addr| own[*addr as usize..][..7].fill(value));
                        } else {
                            let mut found = vec![[0; 7]; ranges.len()];
                            let mut parts: Vec<_> =
                                ranges.iter().zip(&mut found).map(|(addr, buf)| ReadPart::new(*addr, buf)).collect();
                            buffer.read_vector(&mut parts, &transfer).unwrap();
                            for (addr, found) in ranges.iter().zip(&found) {
                                let own = &own[*addr as usize..][..7];
                                assert_eq!(found, own, "{strategy}, owner {owner}, step {step}");
                            }
                        }
                        if step % 40 == owner {
                            buffer.sync(&Transfer::default()).unwrap();
                        }
                    }
                });
            }
        });
    }
}

/// Faults strike at any time; the thread that meets one tries again, and nothing is lost.
#[test]
fn many_threads_on_a_failing_disk() {
    PageStrategy::ALL.into_iter().for_each(insist_on_a_failing_disk);
}

fn insist_on_a_failing_disk(strategy: PageStrategy) {
    let buffer = PageBuffer::new(Fault::new(Memory::from(vec![0; 4000])), PAGE, 24).unwrap().with_strategy(strategy);
    let buffer = buffer.with_ahead(3);
    let met = AtomicU64::new(0);
    let insist = |request: &mut dyn FnMut() -> hyperslab_driver::Result<()>| {
        while request().is_err() {
            met.fetch_add(1, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        let (buffer, insist) = (&buffer, &insist);
        for owner in 0..4u64 {
            scope.spawn(move || {
                let mut own = vec![0u8; 4000];
                for step in 0..200u64 {
                    // Strikes the thread that comes then.
                    buffer.below_ref().arm(Target::All, step % 5, Damage::Tear(step % 30));
                    let count = if step % 6 == 0 { 25 } else { 1 + step % 3 };
                    let ranges: Vec<u64> = (0..count).map(|n| (step * 31 % 60 + n) * 28 + owner * 7).collect();
                    let bytes = [(step % 250) as u8 + 1; 7];
                    let parts: Vec<_> = ranges.iter().map(|addr| WritePart::new(*addr, &bytes)).collect();
                    let transfer = if step % 3 == 0 { metadata() } else { values() };
                    insist(&mut || buffer.write_vector(&parts, &transfer));
                    ranges.iter().for_each(|addr| own[*addr as usize..][..7].copy_from_slice(&bytes));
                    let at = step * 17 % 80 * 28 + owner * 7;
                    let mut found = [0; 7];
                    insist(&mut || buffer.read_at(at, &mut found, &transfer));
                    assert_eq!(found, own[at as usize..][..7], "{strategy}, owner {owner}, step {step}");
                }
            });
        }
    });
    assert!(met.load(Ordering::Relaxed) > 0);
    insist(&mut || buffer.sync(&Transfer::default()));
    let mut all = vec![0; 4000];
    insist(&mut || buffer.read_at(0, &mut all, &plain()));
    assert_eq!(buffer.into_below().into_below().into_bytes(), all);
}

#[test]
fn what_the_storage_never_takes_is_refused_at_once() {
    let scratch = Scratch::new("read-only");
    std::fs::write(scratch.path("a.bin"), [5; 100]).unwrap();
    let buffer = PageBuffer::new(Local::open(scratch.path("a.bin")).unwrap(), PAGE, 1).unwrap();
    let space = Space::simple(&[1]).unwrap();
    let pair = SelectionPair { memory: &space, file: &space, offset: 5, element_size: 1 };
    for outcome in [
        buffer.write_at(5, b"x", &plain()),
        buffer.write_vector(&[WritePart::new(5, b"x")], &plain()),
        buffer.write_selection(&[pair], &[b"x"], &plain()),
    ] {
        assert!(matches!(outcome.unwrap_err().why, Why::ReadOnly));
    }
    buffer.write_at(5, b"", &plain()).unwrap();
    let mut found = [0; 4];
    buffer.read_at(50, &mut found, &plain()).unwrap();
    assert_eq!(found, [5; 4]);
}

#[test]
fn reads_survive_what_cannot_be_written_back() {
    let bytes: Vec<u8> = (0..200).collect();
    for dirty in 1..=4 {
        let buffer = PageBuffer::new(Fault::new(Memory::from(bytes.clone())), PAGE, 4).unwrap();
        buffer.below_ref().arm_forever(Target::Writes, 0, Damage::Fail);
        (0..dirty).for_each(|page| buffer.write_at(page * 10, b"x", &plain()).unwrap());
        for at in (0..160u64).map(|n| n * 37 % 160) {
            let mut found = [0; 25];
            buffer.read_at(at, &mut found, &plain()).unwrap();
            for (byte, at) in found.iter().zip(at..) {
                let new = at % 10 == 0 && at / 10 < dirty;
                assert_eq!(*byte, if new { b'x' } else { at as u8 }, "byte {at}, {dirty} dirty");
            }
            assert!(buffer.resident() <= 8);
        }
        assert!(buffer.sync(&Transfer::default()).is_err());
        buffer.below_ref().disarm();
        buffer.sync(&Transfer::default()).unwrap();
        assert_eq!(
            buffer.into_below().into_below().into_bytes().iter().filter(|byte| **byte == b'x').count() as u64,
            dirty + 1
        );
    }
}

/// Panics in its first read or write, a little later.
struct Panics(Memory, AtomicBool);

impl Panics {
    fn once(&self) {
        thread::sleep(Duration::from_millis(20));
        assert!(self.1.swap(true, Ordering::Relaxed), "on purpose");
    }
}

impl Driver for Panics {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> hyperslab_driver::Result<()> {
        self.once();
        self.0.read_at(addr, buf, transfer)
    }
    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> hyperslab_driver::Result<()> {
        self.once();
        self.0.write_at(addr, buf, transfer)
    }
    fn len(&self, transfer: &Transfer) -> hyperslab_driver::Result<u64> {
        self.0.len(transfer)
    }
    fn set_len(&self, len: u64, transfer: &Transfer) -> hyperslab_driver::Result<()> {
        self.0.set_len(len, transfer)
    }
    fn sync(&self, transfer: &Transfer) -> hyperslab_driver::Result<()> {
        self.0.sync(transfer)
    }
}

/// Two threads want what the storage panics at: one panics, the other does not wait for it.
#[test]
fn a_panic_below_leaves_no_thread_waiting() {
    for writes in [false, true] {
        let buffer = PageBuffer::new(Panics(Memory::from(vec![7; 100]), AtomicBool::new(false)), PAGE, 4).unwrap();
        if writes {
            buffer.write_at(0, &[1; PAGE], &plain()).unwrap();
        }
        let (buffer, (done, finished)) = (Arc::new(buffer), mpsc::channel());
        for _ in 0..2 {
            let (buffer, done) = (Arc::clone(&buffer), done.clone());
            thread::spawn(move || {
                let request = || {
                    if writes { buffer.sync(&Transfer::default()) } else { buffer.read_at(0, &mut [0; 5], &plain()) }
                };
                let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(request));
                done.send(matches!(outcome, Ok(Ok(()))))
            });
        }
        let outcomes = [(); 2].map(|()| finished.recv_timeout(Duration::from_secs(20)).expect("both threads wait"));
        assert!(outcomes.contains(&true) && outcomes.contains(&false), "{outcomes:?}");
    }
}

/// Stops in its first write until it is told to go on.
struct Stops(Memory, Mutex<Option<(mpsc::Sender<()>, mpsc::Receiver<()>)>>);

impl Driver for Stops {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> hyperslab_driver::Result<()> {
        self.0.read_at(addr, buf, transfer)
    }
    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> hyperslab_driver::Result<()> {
        let stop = self.1.lock().unwrap().take();
        if let Some((stopped, go_on)) = stop {
            stopped.send(()).unwrap();
            go_on.recv_timeout(Duration::from_secs(20)).expect("no request waits for this one");
        }
        self.0.write_at(addr, buf, transfer)
    }
    fn len(&self, transfer: &Transfer) -> hyperslab_driver::Result<u64> {
        self.0.len(transfer)
    }
    fn set_len(&self, len: u64, transfer: &Transfer) -> hyperslab_driver::Result<()> {
        self.0.set_len(len, transfer)
    }
    fn sync(&self, transfer: &Transfer) -> hyperslab_driver::Result<()> {
        self.0.sync(transfer)
    }
}

/// The storage is made longer while a large write goes on that ends before the new end, also in the same page.
#[test]
fn storage_becomes_longer_beside_a_write() {
    for len in [75, 79, 80, 200] {
        let ((stopped, is_stopped), (go_on, goes_on)) = (mpsc::channel(), mpsc::channel());
        let stops = Stops(Memory::from(vec![7; 25]), Mutex::new(Some((stopped, goes_on))));
        let buffer = PageBuffer::new(stops, PAGE, 2).unwrap();
        let mut first = [0; 25];
        buffer.read_at(0, &mut first, &plain()).unwrap();
        thread::scope(|scope| {
            let written = scope.spawn(|| buffer.write_at(30, &[9; 45], &plain()));
            is_stopped.recv_timeout(Duration::from_secs(20)).unwrap();
            buffer.set_len(len, &plain()).unwrap();
            assert_eq!(buffer.len(&plain()).unwrap(), len);
            buffer.read_at(3, &mut first[..20], &plain()).unwrap();
            assert_eq!(first, [7; 25]);
            go_on.send(()).unwrap();
            written.join().unwrap().unwrap();
        });
        let wanted = [vec![7; 25], vec![0; 5], vec![9; 45], vec![0; len as usize - 75]].concat();
        let mut found = vec![1; len as usize];
        buffer.read_at(0, &mut found, &plain()).unwrap();
        assert_eq!(found, wanted);
        buffer.sync(&Transfer::default()).unwrap();
        assert_eq!(buffer.into_below().0.into_bytes(), wanted);
    }
}

/// Workers of rayon take other work while they wait for a scope; that must not happen below a page that is being loaded.
#[test]
fn workers_that_share_pages_do_not_wait_for_themselves() {
    let member = |_| Throttle::new(Memory::from(vec![7; 4000])).latency(Duration::from_micros(200));
    let striped = Subfile::new((0..4).map(member).collect(), 16).unwrap();
    let buffer = PageBuffer::new(striped, 64, 6).unwrap();
    rayon::scope(|scope| {
        for task in 0..200u64 {
            let buffer = &buffer;
            scope.spawn(move |_| {
                let mut found = [0; 150];
                buffer.read_at(task % 9 * 50, &mut found, &plain()).unwrap();
                assert_eq!(found, [7; 150]);
            });
        }
    });
}

/// More requests at once than there are threads wait for a page that another request loads with threads of its own.
#[test]
fn a_load_does_not_need_threads_that_wait_for_it() {
    let member = |_| Throttle::new(Memory::from(vec![7; 4000])).latency(Duration::from_millis(2));
    let striped = Subfile::new((0..4).map(member).collect(), 64).unwrap();
    let buffer = Arc::new(PageBuffer::new(striped, 1024, 8).unwrap());
    let (done, finished) = mpsc::channel();
    let read = |buffer: &PageBuffer<_>, delay| {
        thread::sleep(Duration::from_millis(delay));
        buffer.read_at(0, &mut [0; 16], &plain())
    };
    let (one, other, done_too) = (Arc::clone(&buffer), buffer, done.clone());
    // Not scoped: if these wait for ever, the test must still end.
    thread::spawn(move || done.send(read(&one, 20)));
    thread::spawn(move || {
        let outcome = concurrently(|co| (0..40).for_each(|_| co.issue(&*other, |buffer| read(buffer, 30))));
        done_too.send(outcome)
    });
    for _ in 0..2 {
        finished.recv_timeout(Duration::from_secs(20)).expect("requests wait for each other").unwrap();
    }
}

#[derive(Debug, Clone)]
enum Step {
    Read(Vec<(u64, usize)>, bool),
    Write(Vec<(u64, usize)>, u8, bool),
    SetLen(u64),
    Sync,
    Strike(Target, u64, Damage),
}

fn step() -> impl Strategy<Value = Step> {
    let ranges = || prop::collection::vec((0u64..300, 0usize..40), 1..5);
    let damage =
        prop_oneof![Just(Damage::Fail), (0u64..60).prop_map(Damage::Tear), (0usize..4).prop_map(Damage::TearAtPart)];
    let target = prop_oneof![Just(Target::Reads), Just(Target::Writes), Just(Target::Upkeep), Just(Target::All)];
    prop_oneof![
        4 => (ranges(), any::<bool>()).prop_map(|(ranges, is_raw)| Step::Read(ranges, is_raw)),
        5 => (ranges(), 1u8..255, any::<bool>()).prop_map(|(ranges, value, is_raw)| Step::Write(ranges, value, is_raw)),
        1 => (0u64..350).prop_map(Step::SetLen),
        1 => Just(Step::Sync),
        2 => (target, 0u64..3, damage).prop_map(|(target, spare, damage)| Step::Strike(target, spare, damage)),
    ]
}

/// What the buffer holds, without striking faults.
fn contents(buffer: &PageBuffer<Fault<Memory>>) -> Vec<u8> {
    buffer.below_ref().disarm();
    let mut all = vec![0; buffer.len(&Transfer::default()).unwrap() as usize];
    buffer.read_at(0, &mut all, &plain()).unwrap();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn like_plain_bytes_even_with_faults(
        strategy in prop::sample::select(PageStrategy::ALL.to_vec()),
        pages in 1usize..30,
        ahead in 0u64..5,
        (reserved, raw) in (0usize..3, 0usize..3),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let buffer = PageBuffer::new(Fault::new(Memory::new()), PAGE, pages).unwrap().with_strategy(strategy);
        let reserved = reserved.min(pages);
        let buffer = buffer.with_reserved(reserved, raw.min(pages - reserved)).unwrap().with_ahead(ahead);
        let of = |is_raw| if is_raw { values() } else { metadata() };
        let mut twin: Vec<u8> = Vec::new();
        for step in steps {
            match step {
                Step::Strike(target, spare, damage) => buffer.below_ref().arm(target, spare, damage),
                Step::Sync => drop(buffer.sync(&Transfer::default())),
                Step::SetLen(len) => match buffer.set_len(len, &Transfer::default()) {
                    Ok(()) => twin.resize(len as usize, 0),
                    Err(_) => prop_assert_eq!(&contents(&buffer), &twin),
                },
                Step::Read(ranges, is_raw) => {
                    let mut found: Vec<Vec<u8>> = ranges.iter().map(|(_, len)| vec![0; *len]).collect();
                    let mut parts: Vec<_> = ranges.iter().zip(&mut found).map(|((addr, _), buf)| ReadPart::new(*addr, buf)).collect();
                    if buffer.read_vector(&mut parts, &of(is_raw)).is_ok() {
                        for ((addr, len), found) in ranges.iter().zip(&found) {
                            prop_assert!(*len == 0 || &twin[*addr as usize..][..*len] == found);
                        }
                    }
                }
                Step::Write(ranges, value, is_raw) => {
                    let bytes = [value; 40];
                    let parts: Vec<_> = ranges.iter().map(|(addr, len)| WritePart::new(*addr, &bytes[..*len])).collect();
                    let outcome = buffer.write_vector(&parts, &of(is_raw));
                    let mut new = twin.clone();
                    for (addr, len) in ranges.iter().filter(|(_, len)| *len > 0) {
                        new.resize(new.len().max(*addr as usize + len), 0);
                        new[*addr as usize..][..*len].fill(value);
                    }
                    if outcome.is_err() {
                        // Each byte is old or new, nothing else; from here on it stays.
                        let found = contents(&buffer);
                        prop_assert!(twin.len() <= found.len() && found.len() <= new.len());
                        for (at, byte) in found.iter().enumerate() {
                            let old = twin.get(at).copied().unwrap_or(0);
                            prop_assert!(*byte == old || *byte == new[at], "byte {}", at);
                        }
                        new = found;
                    }
                    twin = new;
                }
            }
            prop_assert_eq!(buffer.len(&Transfer::default()).unwrap(), twin.len() as u64);
        }
        prop_assert_eq!(&contents(&buffer), &twin);
        buffer.sync(&Transfer::default()).unwrap();
        prop_assert_eq!(buffer.into_below().into_below().into_bytes(), twin);
    }
}
