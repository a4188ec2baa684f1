//! Chunks out of service while what replaces them is stored.

use std::{thread, time::Duration};

use hyperslab_cache::{Cache, Config, Demand, Eviction, Lookup, Partition, Unwritten, WriteFailure};

use crate::common::{BYTES, Hundred, at};

/// A cache with room for four chunks: the first two are dirty, the third is in the file.
fn three() -> (Cache<Hundred>, Partition<Hundred>) {
    let cache = Cache::<Hundred>::new(Config::default().bytes(4 * BYTES).reserve(0));
    let partition = cache.open(().into(), None, None);
    for coord in 0..3 {
        let _reservation = cache.reserve(Demand { chunks: BYTES, aside: 0 });
        let Lookup::Miss(ticket) = partition.find(&at(coord)) else { panic!("nothing is there") };
        let Eviction::Granted(mut grant) = cache.make_room(&partition, BYTES) else { panic!("there is room") };
        ticket.fill(Hundred, &mut grant, coord < 2).unwrap();
    }
    (cache, partition)
}

fn dirty(partition: &Partition<Hundred>) -> usize {
    Unwritten::of(std::slice::from_ref(partition), |_| true).take().len()
}

#[test]
fn what_could_not_be_replaced_is_dirty_as_before() {
    let (cache, partition) = three();
    let taken = Unwritten::at(&partition, &at(1)).take().pop().unwrap();
    taken.failed(WriteFailure::Permanent);
    let withdrawal = partition.withdraw_where(&|_| true);
    assert_eq!((withdrawal.len(), partition.has(&[at(0), at(1), at(2)])), (2, vec![true, true, false]));
    // No request gets the values, eviction passes them by, and they count.
    assert!(partition.hits(&[at(0)]).is_none() && partition.peek(&at(1)).is_none());
    assert!(partition.take_whole().is_empty() && partition.trim().is_empty() && partition.evict() == 2);
    assert_eq!((dirty(&partition), cache.statistics().bytes, cache.available()), (0, 2 * BYTES, 3 * BYTES));
    drop(withdrawal);
    assert!(partition.hits(&[at(0), at(1)]).is_some());
    // The one that could not be written is still passed by.
    assert_eq!(cache.available(), 3 * BYTES);
    assert_eq!((dirty(&partition), cache.statistics().bytes), (2, 2 * BYTES));
}

#[test]
fn what_was_replaced_is_gone() {
    let (cache, partition) = three();
    let withdrawal = partition.withdraw(&at(0));
    withdrawal.commit();
    assert_eq!((partition.has(&[at(0), at(1)]), dirty(&partition)), (vec![false, true], 1));
    assert_eq!(cache.statistics().bytes, 2 * BYTES);
    // A chunk that is in the file leaves at once; no thread loads it meanwhile.
    let withdrawal = partition.withdraw(&at(2));
    assert_eq!((withdrawal.is_empty(), cache.statistics().bytes), (true, BYTES));
    assert!(partition.vacant(&at(2)).is_none() && matches!(partition.find(&at(2)), Lookup::Loading(_)));
    drop(withdrawal);
    assert!(partition.vacant(&at(2)).is_some());
}

#[test]
fn an_encoded_copy_goes_and_the_value_stays() {
    let (cache, partition) = three();
    assert!(partition.peek(&at(0)).unwrap().encode_ahead(|_| Ok(vec![0; 10])).unwrap());
    assert_eq!(cache.statistics().bytes, 3 * BYTES + 10);
    drop(partition.withdraw(&at(0)));
    assert_eq!((cache.statistics().bytes, dirty(&partition)), (3 * BYTES, 2));
}

#[test]
fn threads_wait_for_what_comes_of_it() {
    for is_stored in [true, false] {
        let (cache, partition) = three();
        let withdrawal = partition.withdraw(&at(0));
        thread::scope(|scope| {
            let reader = scope.spawn(|| match partition.find(&at(0)) {
                Lookup::Loading(waiter) => matches!(waiter.wait(), Lookup::Hit(_)),
                _ => panic!("it is out of service"),
            });
            let alone = scope.spawn(|| partition.settled(&at(0)).is_some());
            let flush = scope.spawn(|| {
                let mut unwritten = Unwritten::of_cache(&cache);
                let mut written = 0;
                while !unwritten.is_empty() {
                    unwritten.take().into_iter().for_each(|taken| {
                        written += 1;
                        taken.written();
                    });
                    unwritten.wait();
                }
                written
            });
            // Waits are counted when they end.
            thread::sleep(Duration::from_millis(20));
            assert_eq!(cache.statistics().chunk_waits.count, 0);
            if is_stored {
                withdrawal.commit();
            } else {
                drop(withdrawal);
            }
            assert_eq!((reader.join().unwrap(), alone.join().unwrap()), (!is_stored, !is_stored));
            assert_eq!(flush.join().unwrap(), if is_stored { 1 } else { 2 });
            assert!(cache.statistics().chunk_waits.count > 0);
        });
    }
}

#[test]
fn a_dataset_may_be_deleted_meanwhile() {
    let (cache, partition) = three();
    for is_stored in [true, false] {
        let withdrawal = partition.withdraw_where(&|coord| (coord[0] == 0) == is_stored);
        cache.close(&partition);
        if is_stored {
            withdrawal.commit();
        } else {
            drop(withdrawal);
        }
    }
    drop(partition);
    assert_eq!(cache.statistics().bytes, 0);
}
