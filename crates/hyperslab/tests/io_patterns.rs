//! What the storage is asked when a file is read: how often, and for how much.
//!
//! Needs a Python with h5py: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the tests say that they are skipped.

use std::path::Path;
use std::process::Command;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use hyperslab::File;
use hyperslab::driver::{Local, Log, Operation, Record, Throttle};
use hyperslab::space::{Op, Slab};

/// A storage that counts as far, where a request costs more than its bytes.
type Far = Log<Throttle<Local>>;

/// A file made for one test, and the log of its storage; none without Python.
fn open(name: &str) -> Option<(File, Arc<Far>)> {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = hyperslab_workshop::python()?;
    // Tests run beside each other, in one process or several.
    let (process, nth) = (std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("io-patterns-{process}-{nth}"));
    std::fs::create_dir_all(&directory).unwrap();
    let made = Command::new(&python).arg(root.join("tests/io_patterns.py")).arg(&directory).arg(name).status().unwrap();
    assert!(made.success());
    let log = Arc::new(Log::new(Throttle::new(Local::open(directory.join(format!("{name}.h5"))).unwrap())));
    let file = File::open_driver(log.clone()).unwrap();
    // An open file stays readable; where it does not, it is left behind.
    let _ = std::fs::remove_dir_all(&directory);
    Some((file, log))
}

/// One line a request.
fn shown(records: &[Record]) -> Vec<String> {
    let line = |record: &Record| {
        let (parts, bytes) = (record.parts.len(), record.bytes());
        let parts = if parts == 1 { "1 part".to_owned() } else { format!("{parts} parts") };
        match record.operation {
            Operation::Len => "length".to_owned(),
            Operation::Read => format!("read {bytes} bytes"),
            Operation::ReadVector => format!("vector of {parts}, {bytes} bytes"),
            Operation::ReadSelection => format!("selection of {parts}, {bytes} bytes"),
            other => format!("{other:?}"),
        }
    };
    records.iter().map(line).collect()
}

/// Opens a file with 50,000 objects and reads one of 1 MiB, three groups deep: so many requests at most, the last for all values.
fn one_of_many(name: &str, most: usize) {
    let Some((file, log)) = open(name) else { return };
    let values = file.dataset("a/b/c/wanted").unwrap().read_stored().unwrap();
    assert_eq!(values.len(), 1 << 20);
    let lines = shown(&log.records());
    println!("{name}: {lines:#?}");
    assert!(lines.len() <= most, "{lines:#?}");
    assert_eq!(lines.last().unwrap(), "selection of 1 part, 1048576 bytes");
    // What is read beside the values is little.
    assert!(log.counts().read_bytes < (1 << 20) + (1 << 20), "{lines:#?}");
}

#[test]
fn one_dataset_of_50_000_in_groups() {
    one_of_many("groups", 10);
}

#[test]
fn one_dataset_beside_50_000_in_one_group() {
    one_of_many("flat", 10);
}

#[test]
fn one_dataset_of_50_000_in_old_groups() {
    one_of_many("old", 10);
}

#[test]
fn sixty_four_deflated_chunks_are_one_vector() {
    let Some((file, log)) = open("chunks") else { return };
    let dataset = file.dataset("deflate").unwrap();
    log.clear();
    assert_eq!(dataset.read_stored().unwrap().len(), 1 << 20);
    let records = log.records();
    assert_eq!(records.last().unwrap().operation, Operation::ReadVector);
    assert_eq!(records.last().unwrap().parts.len(), 64);
    assert!(records.len() <= 2, "{:#?}", shown(&records));
    // The index is known now, and the chunks are if the cache holds them.
    log.clear();
    dataset.read_stored().unwrap();
    assert!(log.records().len() <= 1, "{:#?}", shown(&log.records()));
}

#[test]
fn sixty_four_plain_chunks_are_one_selection() {
    let Some((file, log)) = open("chunks") else { return };
    let dataset = file.dataset("plain").unwrap();
    dataset.read_stored().unwrap();
    log.clear();
    assert_eq!(dataset.read_stored().unwrap().len(), 1 << 20);
    assert_eq!(shown(&log.records()), ["selection of 64 parts, 1048576 bytes"]);
}

#[test]
fn a_strided_read_is_one_selection() {
    let Some((file, log)) = open("chunks") else { return };
    let dataset = file.dataset("plain").unwrap();
    dataset.read_stored().unwrap();
    log.clear();
    let mut selection = dataset.space();
    selection.select_hyperslab(Op::Set, &[Slab::new(0, 3, 100, 1), Slab::new(0, 5, 60, 1)]).unwrap();
    dataset.read_stored_selection(&selection).unwrap();
    assert_eq!(shown(&log.records()), ["selection of 25 parts, 24000 bytes"]);
}

#[test]
fn a_tiny_file_is_read_once() {
    let Some((file, log)) = open("tiny") else { return };
    file.dataset("wanted").unwrap().read_stored().unwrap();
    let size = file.size();
    let page = format!("vector of 1 part, {size} bytes");
    assert_eq!(shown(&log.records()), ["length", &page, "selection of 1 part, 40 bytes"]);
}
