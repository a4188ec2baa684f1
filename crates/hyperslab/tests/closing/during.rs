//! Reads in progress when a file that is only read is closed: another process may write it from then on, so they are errors.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicI64, Ordering},
};

use hyperslab::{
    Error, File, Node, OpenOptions,
    driver::{Driver, Memory, Result, Transfer},
};

use crate::closing::is_closed;

/// Storage that closes the file which is on it, in the middle of a request.
struct Closes {
    storage: Arc<Memory>,
    file: Mutex<Option<File>>,
    /// How many requests are answered before.
    left: AtomicI64,
}

impl Driver for Closes {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 0
            && let Some(file) = self.file.lock().unwrap().take()
        {
            file.close().unwrap();
        }
        self.storage.read_at(addr, buf, transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        self.storage.write_at(addr, buf, transfer)
    }

    fn len(&self, transfer: &Transfer) -> Result<u64> {
        self.storage.len(transfer)
    }

    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
        self.storage.set_len(len, transfer)
    }

    fn sync(&self, transfer: &Transfer) -> Result<()> {
        self.storage.sync(transfer)
    }
}

/// A file whose values, names and attributes are too many for the first pages.
fn made() -> Arc<Memory> {
    let storage = Arc::new(Memory::new());
    let file = File::create_on(storage.clone()).unwrap();
    let root = file.root().unwrap();
    let texts: Vec<String> = (0..4).map(|nth| nth.to_string().repeat(100_000)).collect();
    root.new_dataset::<i32>().chunks([40_000]).shape([80_000]).write("numbers", &vec![7; 80_000]).unwrap();
    let strings = root.new_dataset::<String>().write("texts", &texts).unwrap();
    strings.set_attribute("text", "a".repeat(50_000).as_str()).unwrap();
    let (many, strings) = (root.create_group("many").unwrap(), Node::Dataset(strings));
    for nth in 0..2000 {
        many.hard_link(format!("a name that is not short {nth}"), &strings).unwrap();
    }
    file.close().unwrap();
    storage
}

/// A read of a file, once something of it is open.
type Read = fn(&File) -> Box<dyn FnOnce() -> std::result::Result<(), Error>>;

#[test]
fn a_read_of_a_file_that_is_closed_meanwhile_is_an_error() {
    let storage = made();
    let reads: [(&str, Read); 9] = [
        ("path", |file| {
            let file = file.clone();
            Box::new(move || file.dataset("many/a name that is not short 999").map(drop))
        }),
        ("links", |file| {
            let many = file.group("many").unwrap();
            Box::new(move || many.links().map(drop))
        }),
        ("link", |file| {
            let many = file.group("many").unwrap();
            Box::new(move || many.link("a name that is not short 999").map(drop))
        }),
        ("attribute", |file| {
            let texts = file.dataset("texts").unwrap();
            Box::new(move || texts.attribute("text")?.read::<String>().map(drop))
        }),
        ("values", |file| {
            let numbers = file.dataset("numbers").unwrap();
            Box::new(move || numbers.read::<i64>().map(drop))
        }),
        ("chunk", |file| {
            let numbers = file.dataset("numbers").unwrap();
            Box::new(move || numbers.read_chunk([1]).map(drop))
        }),
        ("texts", |file| {
            let texts = file.dataset("texts").unwrap();
            Box::new(move || texts.read::<String>().map(drop))
        }),
        ("any texts", |file| {
            let texts = file.dataset("texts").unwrap();
            Box::new(move || texts.read_values(&texts.space()).map(drop))
        }),
        ("heap", |file| {
            let (texts, file) = (file.dataset("texts").unwrap(), file.clone());
            let stored = texts.read_stored().unwrap();
            let address = u64::from_le_bytes(stored[4..12].try_into().unwrap());
            Box::new(move || file.heap().object(address, 1).map(drop))
        }),
    ];
    for (what, read) in reads {
        let mut closed = 0;
        for left in 0.. {
            let driver =
                Arc::new(Closes { storage: storage.clone(), file: Mutex::default(), left: AtomicI64::new(i64::MAX) });
            let file = OpenOptions::new().open_on(driver.clone()).unwrap();
            let read = read(&file);
            *driver.file.lock().unwrap() = Some(file.clone());
            driver.left.store(left, Ordering::Relaxed);
            let done = read();
            if driver.file.lock().unwrap().take().is_some() {
                done.unwrap();
                break;
            }
            closed += 1;
            assert!(is_closed(done), "{what}, in request {left}");
        }
        assert!(closed > 0, "{what}: no request was made");
    }
}
