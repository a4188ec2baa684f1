//! Options that go to the storage: those that a file is opened with, and those of one call in their place.

use std::sync::{Arc, Mutex};

use hyperslab::{
    CacheConfig, Dataset, Durability, File, OpenOptions, TransferOptions,
    driver::{
        BufferLocation, Capabilities, Driver, Memory, MemoryType, Mode, ReadPart, Result, SelectionPair, Transfer,
        WritePart,
    },
    prefetch, read_many, s,
};

/// A storage that notes which options come with each request.
#[derive(Default)]
struct Recorder {
    below: Memory,
    seen: Mutex<Vec<(&'static str, Transfer)>>,
}

impl Recorder {
    fn note(&self, request: &'static str, transfer: &Transfer) -> &Memory {
        self.seen.lock().unwrap().push((request, transfer.clone()));
        &self.below
    }

    fn take(&self) -> Vec<(&'static str, Transfer)> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

impl Driver for Recorder {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.note("read", transfer).read_at(addr, buf, transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        self.note("write", transfer).write_at(addr, buf, transfer)
    }

    fn len(&self, transfer: &Transfer) -> Result<u64> {
        self.note("len", transfer).len(transfer)
    }

    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
        self.note("set_len", transfer).set_len(len, transfer)
    }

    fn sync(&self, transfer: &Transfer) -> Result<()> {
        self.note("sync", transfer).sync(transfer)
    }

    fn flush(&self, transfer: &Transfer) -> Result<()> {
        self.note("flush", transfer).flush(transfer)
    }

    fn read_vector(&self, parts: &mut [ReadPart<'_>], transfer: &Transfer) -> Result<()> {
        assert!(parts.len() <= transfer.vector_limit, "{} parts: {transfer:?}", parts.len());
        self.note("read", transfer).read_vector(parts, transfer)
    }

    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
        assert!(parts.len() <= transfer.vector_limit, "{} parts: {transfer:?}", parts.len());
        self.note("write", transfer).write_vector(parts, transfer)
    }

    fn read_selection(&self, pairs: &[SelectionPair<'_>], bufs: &mut [&mut [u8]], transfer: &Transfer) -> Result<()> {
        self.note("read", transfer).read_selection(pairs, bufs, transfer)
    }

    fn write_selection(&self, pairs: &[SelectionPair<'_>], bufs: &[&[u8]], transfer: &Transfer) -> Result<()> {
        self.note("write", transfer).write_selection(pairs, bufs, transfer)
    }

    fn capabilities(&self) -> Capabilities {
        self.below.capabilities()
    }
}

/// The options of the file, and those of a call.
fn usual() -> TransferOptions {
    TransferOptions::default().with_vector_limit(100)
}

fn own() -> TransferOptions {
    TransferOptions::default().with_vector_limit(7).with_mode(Mode::Collective).with_buffers(BufferLocation::Device(3))
}

fn is(transfer: &Transfer, options: &TransferOptions) -> bool {
    transfer.clone().with_kind(options.kind).with_rounds(options.rounds) == *options
}

/// A file whose options differ from the usual ones, on a storage that notes them.
fn file(durability: Durability) -> (File, Arc<Recorder>) {
    let storage = Arc::new(Recorder::default());
    let cache = CacheConfig::default().read_ahead(false).encode_ahead(false);
    let options = OpenOptions::new().create().truncate().durability(durability).cache(cache).transfer(usual());
    (options.open_on(storage.clone()).unwrap(), storage)
}

const SIDE: u64 = 64;

fn datasets(file: &File) -> [Dataset; 3] {
    let root = file.root().unwrap();
    let new = || root.new_dataset::<i32>().shape([SIDE, SIDE]);
    let made = [
        new().create("contiguous").unwrap(),
        new().chunks([16, 16]).create("chunked").unwrap(),
        new().chunks([16, 16]).deflate(1).create("filtered").unwrap(),
    ];
    for dataset in &made {
        dataset.write(&[1; (SIDE * SIDE) as usize]).unwrap();
        dataset.evict().unwrap();
    }
    file.flush().unwrap();
    made
}

/// All requests for values, and only these, have the options of the call.
fn assert_of_values(seen: &[(&str, Transfer)], request: &str) {
    assert!(seen.iter().any(|(what, _)| *what == request), "{seen:?}");
    for (what, transfer) in seen {
        let expected = if transfer.kind == MemoryType::RawData { own() } else { usual() };
        assert!(is(transfer, &expected), "{what}: {transfer:?}");
    }
}

#[test]
fn a_read_has_the_options_of_its_call() {
    let (file, storage) = file(Durability::None);
    for dataset in datasets(&file) {
        let with_own = dataset.with_transfer(&own());
        let reads: [fn(&Dataset); 2] = [
            |dataset| drop(dataset.read::<i32>().unwrap()),
            |dataset| drop(dataset.read_slice::<i64>(s![3..40;2, 5]).unwrap()),
        ];
        for read in reads {
            storage.take();
            read(&with_own);
            assert_of_values(&storage.take(), "read");
            dataset.evict().unwrap();
            storage.take();
            read(&dataset);
            // Other handles have those of the file.
            assert!(storage.take().iter().all(|(_, transfer)| is(transfer, &usual())));
            dataset.evict().unwrap();
        }
        storage.take();
        with_own.past_cache().read::<i32>().unwrap();
        assert_of_values(&storage.take(), "read");
    }
}

/// The storage refuses a vector of more parts: none of values or metadata has more, whatever the request.
#[test]
fn no_request_has_more_parts_than_its_limit() {
    let storage = Arc::new(Recorder::default());
    let cache = CacheConfig::default().bytes(1 << 20);
    let options = OpenOptions::new().create().truncate().cache(cache);
    let few = TransferOptions::default().with_vector_limit(3);
    let file = options.transfer(few.clone()).open_on(storage.clone()).unwrap();
    let made = datasets(&file);
    (0..40).for_each(|nth| drop(file.root().unwrap().create_group(format!("group {nth}")).unwrap()));
    file.flush().unwrap();
    for dataset in &made {
        for dataset in [dataset.clone(), dataset.past_cache()] {
            dataset.write(&[5; (SIDE * SIDE) as usize]).unwrap();
            dataset.write_slice(s![.., 7], &[9; SIDE as usize]).unwrap();
            dataset.evict().unwrap();
            let values = dataset.read::<i32>().unwrap();
            assert!(values.chunks(SIDE as usize).all(|row| row[6..9] == [5, 9, 5]));
        }
    }
    let parts: Vec<_> = made.iter().map(|dataset| dataset.space()).collect();
    let parts: Vec<_> = made.iter().zip(&parts).collect();
    made.iter().for_each(|dataset| dataset.evict().unwrap());
    read_many::<i32>(&parts).unwrap();
    file.close().unwrap();
    // Of a collective call each request says how many there are.
    let file = OpenOptions::new().transfer(few.with_mode(Mode::Collective)).open_on(storage.clone()).unwrap();
    storage.take();
    file.dataset("filtered").unwrap().read::<i32>().unwrap();
    let seen = storage.take();
    let rounds = |(_, transfer): &&(&str, Transfer)| transfer.kind == MemoryType::RawData && transfer.rounds > 1;
    let cut: Vec<_> = seen.iter().filter(rounds).collect();
    assert!(!cut.is_empty() && cut.iter().all(|(_, transfer)| transfer.rounds == cut.len() as u64), "{seen:?}");
}

#[test]
fn several_datasets_at_once_have_the_options_of_the_first() {
    let (file, storage) = file(Durability::None);
    let [.., filtered] = datasets(&file);
    let all = filtered.space();
    let with_own = filtered.with_transfer(&own());
    storage.take();
    prefetch(&[(&with_own, &all)]).unwrap();
    assert_of_values(&storage.take(), "read");
    filtered.evict().unwrap();
    storage.take();
    read_many::<i32>(&[(&with_own, &all)]).unwrap();
    assert_of_values(&storage.take(), "read");
}

#[test]
fn a_write_past_the_cache_has_the_options_of_its_call() {
    let (file, storage) = file(Durability::None);
    for dataset in datasets(&file) {
        let with_own = dataset.with_transfer(&own()).past_cache();
        for _ in 0..2 {
            storage.take();
            with_own.write(&[2; (SIDE * SIDE) as usize]).unwrap();
            assert_of_values(&storage.take(), "write");
            // Few bytes of others wait for each other, but not those of a call with options of its own.
            with_own.write_slice(s![3, 4], &[9]).unwrap();
            assert_of_values(&storage.take(), "write");
        }
        assert_eq!(dataset.read_slice::<i32>(s![3, 3..6]).unwrap(), [2, 9, 2]);
    }
}

#[test]
fn values_that_wait_keep_the_options_of_the_file() {
    let (file, storage) = file(Durability::None);
    let [contiguous, ..] = datasets(&file);
    let few = file.root().unwrap().new_dataset::<i32>().shape([4]).chunks([4]).create("few").unwrap();
    few.write(&[1, 2, 3, 4]).unwrap();
    // One small chunk that leaves the cache waits for others.
    few.evict().unwrap();
    storage.take();
    contiguous.with_transfer(&own()).read::<i32>().unwrap();
    let seen = storage.take();
    let expected = |what: &str| if what == "write" { usual() } else { own() };
    assert!(seen.iter().any(|(what, _)| *what == "write"), "{seen:?}");
    assert!(seen.iter().all(|(what, transfer)| is(transfer, &expected(what))), "{seen:?}");
}

#[test]
fn a_flush_has_the_options_of_its_call() {
    for durability in [Durability::None, Durability::Flush, Durability::Full] {
        let (file, storage) = file(durability);
        let [contiguous, _, filtered] = datasets(&file);
        filtered.write_slice(s![.., 3], &[7; SIDE as usize]).unwrap();
        contiguous.write_slice(s![5, 5], &[8]).unwrap();
        file.root().unwrap().create_group("new").unwrap();
        storage.take();
        file.flush_with(&own()).unwrap();
        let seen = storage.take();
        assert!(seen.iter().all(|(_, transfer)| is(transfer, &own())), "{durability:?}: {seen:?}");
        let last = if durability == Durability::None { "flush" } else { "sync" };
        for expected in ["write", last, "set_len"] {
            assert!(seen.iter().any(|(what, _)| *what == expected), "{durability:?}: no {expected} in {seen:?}");
        }
        assert_eq!(filtered.read_slice::<i32>(s![9, 2..4]).unwrap(), [1, 7]);
    }
}

/// A name that waits goes into its group when the file is flushed. The group is read again for that, if it has left memory.
#[test]
fn links_that_wait_are_added_with_the_options_of_the_flush() {
    let storage = Arc::new(Recorder::default());
    let options = OpenOptions::new().create().truncate().evict_on_close().page_buffer(0).transfer(usual());
    let file = options.open_on(storage.clone()).unwrap();
    let root = file.root().unwrap();
    (0..20).for_each(|nth| drop(root.create_group(format!("group{nth}")).unwrap()));
    drop(root);
    file.flush().unwrap();
    for nth in 0..20 {
        let group = file.root().unwrap().group(format!("group{nth}")).unwrap();
        group.new_dataset::<i32>().write("new", &[nth]).unwrap();
    }
    // Looks objects up: those without handles leave memory.
    drop(file.root().unwrap());
    storage.take();
    file.flush_with(&own()).unwrap();
    let seen = storage.take();
    assert!(seen.iter().all(|(_, transfer)| is(transfer, &own())), "{seen:?}");
    assert!(seen.iter().any(|(what, _)| *what == "read"), "no group was read: {seen:?}");
    for nth in 0..20 {
        assert_eq!(file.dataset(format!("group{nth}/new")).unwrap().read::<i32>().unwrap(), [nth]);
    }
}

#[test]
fn a_file_that_grows_does_so_with_the_options_of_the_call() {
    let (file, storage) = file(Durability::None);
    let late = file.root().unwrap().new_dataset::<i32>().shape([1 << 16]).create("late").unwrap();
    let with_own = late.with_transfer(&own());
    // One value is written; the rest of the space, which is read, is beyond the end of the storage.
    with_own.write_slice(s![..3000], &[1; 3000]).unwrap();
    storage.take();
    assert_eq!(with_own.read::<i32>().unwrap().iter().filter(|value| **value == 1).count(), 3000);
    let seen = storage.take();
    assert!(seen.iter().any(|(what, _)| *what == "set_len"), "{seen:?}");
    assert!(seen.iter().all(|(_, transfer)| is(transfer, &own())), "{seen:?}");
}
