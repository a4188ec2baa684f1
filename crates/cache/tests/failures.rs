//! Chunks that could not be written: they stay, eviction passes them by, and they count against the limits.

use hyperslab_cache::{Cache, Config, Demand, Eviction, Lookup, Partition, Unwritten, WriteBack, WriteFailure};

use crate::common::{BYTES, Hundred, at};

fn dirty(partition: &Partition<Hundred>) -> Vec<WriteBack<Hundred>> {
    Unwritten::of(std::slice::from_ref(partition), |_| true).take()
}

/// Makes a dirty chunk, or changes it; whether there was room. Chunks that leave fail to be written as `failure` says.
fn write(cache: &Cache<Hundred>, partition: &Partition<Hundred>, coord: u64, failure: Option<WriteFailure>) -> bool {
    let _reservation = cache.reserve(Demand { chunks: BYTES, aside: 0 });
    match partition.find(&at(coord)) {
        Lookup::Hit(pinned) => drop(pinned.write()),
        Lookup::Miss(ticket) => loop {
            match cache.make_room(partition, BYTES) {
                Eviction::Granted(mut grant) => {
                    ticket.fill(Hundred, &mut grant, true).unwrap();
                    break;
                }
                Eviction::Dirty(taken) => taken.into_iter().for_each(|taken| match failure {
                    Some(failure) => taken.failed(failure),
                    None => taken.written(),
                }),
                Eviction::Full => return false,
            }
        },
        Lookup::Loading(_) => panic!("no other thread loads"),
    }
    cache.touch(partition);
    true
}

fn cache() -> (Cache<Hundred>, Partition<Hundred>, Partition<Hundred>) {
    let cache = Cache::new(Config::default().bytes(4 * BYTES).reserve(0));
    let (bad, good) = (cache.open(().into(), None, None), cache.open(().into(), None, None));
    (cache, bad, good)
}

#[test]
fn eviction_passes_them_by() {
    let (cache, bad, good) = cache();
    (0..2).for_each(|coord| assert!(write(&cache, &bad, coord, None)));
    dirty(&bad).into_iter().for_each(|taken| taken.failed(WriteFailure::Permanent));
    assert_eq!(cache.available(), 2 * BYTES);
    for coord in 0..20 {
        assert!(write(&cache, &good, coord, None));
        assert_eq!(bad.coords().len(), 2);
    }
    assert!(cache.statistics().peak_bytes <= 4 * BYTES);
    // A change gives another chance, and a flush always tries.
    assert!(write(&cache, &bad, 0, None));
    assert_eq!(cache.available(), 3 * BYTES);
    assert_eq!(dirty(&bad).len(), 2);
    cache.retry_failed();
    assert_eq!(dirty(&bad).len(), 2);
}

#[test]
fn a_cache_that_is_full_of_them_has_no_room() {
    for failure in [WriteFailure::Permanent, WriteFailure::Transient] {
        let (cache, bad, good) = cache();
        (0..4).for_each(|coord| assert!(write(&cache, &bad, coord, None)));
        assert!(!write(&cache, &good, 0, Some(failure)), "{failure:?}");
        assert!(!write(&cache, &good, 0, Some(failure)), "{failure:?}");
        assert_eq!((cache.available(), cache.statistics().bytes), (0, 4 * BYTES));
        // What is here can be used, also by those who change it.
        assert!(bad.hits(&[at(1)]).is_some() && write(&cache, &bad, 1, None));
        assert_eq!(cache.available(), BYTES);
        cache.retry_failed();
        assert_eq!(cache.available(), if failure == WriteFailure::Permanent { BYTES } else { 4 * BYTES });
        // They go with what they belong to.
        bad.abandon();
        assert_eq!((cache.available(), cache.statistics().bytes), (4 * BYTES, 0));
        assert!(write(&cache, &good, 0, None));
    }
}

#[test]
fn what_another_thread_failed_to_write_is_left_to_the_flush() {
    let (cache, bad, _) = cache();
    (0..2).for_each(|coord| assert!(write(&cache, &bad, coord, None)));
    let mut others: Vec<_> = Unwritten::at(&bad, &at(0)).take();
    let mut unwritten = Unwritten::of(std::slice::from_ref(&bad), |_| true);
    unwritten.take().into_iter().for_each(|taken| taken.written());
    assert!(!unwritten.is_empty());
    others.pop().unwrap().failed(WriteFailure::Transient);
    unwritten.wait();
    let taken = unwritten.take();
    assert_eq!(taken.len(), 1);
    assert!(unwritten.is_empty());
    taken.into_iter().for_each(|taken| taken.written());
    assert_eq!((bad.evict(), cache.available()), (0, 4 * BYTES));
}

#[test]
fn a_chunk_that_cannot_be_encoded_ahead_is_not_tried_again() {
    let (cache, bad, _) = cache();
    (0..4).for_each(|coord| assert!(write(&cache, &bad, coord, None)));
    assert_eq!(cache.near_exit(usize::MAX).len(), 4);
    let refused = bad.peek(&at(2)).unwrap().encode_ahead(|_| Err(WriteFailure::Permanent));
    // There is no room for a copy in a full cache: then nothing is encoded.
    assert!(matches!(refused, Ok(false)));
    dirty(&bad).pop().unwrap().written();
    bad.evict();
    let coord = bad.coords().into_iter().next().unwrap();
    let refused = bad.peek(&coord).unwrap().encode_ahead(|_| Err(WriteFailure::Permanent));
    assert_eq!((refused, cache.near_exit(usize::MAX).len()), (Err(WriteFailure::Permanent), 2));
}
