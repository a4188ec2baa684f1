//! Filtered blocks of heaps that cannot be decoded: the error is that of the filter, and only what other bytes might mend is read again.

use std::{
    error::Error as _,
    fmt, fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use hyperslab_base::{AnyError, ErrorKind};
use hyperslab_driver::Memory;
use hyperslab_file::{Error, OpenFile, OpenOptions, Retry, Survey};
use hyperslab_structures::{fractal_heap::UnfilterError, walk};

const ATTEMPTS: u32 = 4;

/// What a filter says, and why.
#[derive(Debug)]
struct FilterError(fmt::Error);

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the filter failed")
    }
}

impl std::error::Error for FilterError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// The errors of a walk.
#[derive(Default)]
struct Errors(Vec<Error>);

impl Survey for Errors {
    fn block(&mut self, _: &'static str, _: u64, _: u64) -> bool {
        true
    }

    fn shared(&mut self, _: &'static str, _: u64, _: u64) -> bool {
        true
    }

    fn free(&mut self, _: u64, _: u64) {}

    fn problem(&mut self, _: &'static str, _: u64, _: String) {}

    fn note(&mut self, _: &'static str, _: u64, _: String) {}

    fn failed(&mut self, _: &'static str, _: u64, why: Error) {
        self.0.push(why);
    }
}

/// The errors of a heap whose blocks cannot be decoded, and how often that was tried.
fn walk_with(kind: ErrorKind, may_be_torn: bool) -> (Vec<Error>, u32) {
    let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hostile/seeds/filtered-heap.h5")).unwrap();
    // A header whose filters have a length that is not zero.
    let is_filtered = |bytes: &[u8]| bytes.starts_with(b"FRHP") && bytes[7..9] != [0, 0];
    let address = bytes.windows(9).position(is_filtered).unwrap() as u64;
    let mut options = OpenOptions::default();
    options.retry = Retry { attempts: ATTEMPTS, ..Retry::default() };
    let file = OpenFile::open(Arc::new(Memory::from(bytes)), &options).unwrap();
    let (tried, mut errors) = (AtomicU32::new(0), Errors::default());
    let tried = Arc::new(tried);
    let counter = tried.clone();
    walk::fractal_heap(
        &file,
        address,
        &move |_, _, _, _| {
            counter.fetch_add(1, Ordering::SeqCst);
            Err(UnfilterError { source: AnyError::new(kind, FilterError(fmt::Error)), may_be_torn })
        },
        &mut errors,
    );
    (errors.0, tried.load(Ordering::SeqCst))
}

#[test]
fn an_error_of_a_filter_keeps_its_kind_and_its_causes() {
    for (kind, may_be_torn) in [(ErrorKind::Filter, true), (ErrorKind::Filter, false), (ErrorKind::OutOfMemory, false)]
    {
        let (errors, tried) = walk_with(kind, may_be_torn);
        assert!(!errors.is_empty());
        for why in &errors {
            assert_eq!((why.kind(), why.torn_at().is_some()), (kind, may_be_torn), "{why}");
            assert!(why.to_string().contains("fractal heap direct block at address 0x"), "{why}");
            let cause = why.source().and_then(|cause| cause.downcast_ref::<AnyError>()).unwrap();
            assert!(cause.downcast_ref::<FilterError>().is_some());
            assert!(cause.source().is_some_and(|cause| cause.is::<fmt::Error>()));
        }
        assert_eq!(tried, errors.len() as u32 * if may_be_torn { ATTEMPTS } else { 1 }, "{kind}");
    }
}
