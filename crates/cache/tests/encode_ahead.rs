//! Dirty chunks that are encoded, or written, before they must leave.

use hyperslab_cache::{Cache, Config, Demand, Eviction, Lookup, Partition, Policy, Unwritten, WriteBack, WriteFailure};

use crate::common::{BYTES, Hundred, at};

/// Makes a chunk, or changes it.
fn write(cache: &Cache<Hundred>, partition: &Partition<Hundred>, coord: u64) {
    let _reservation = cache.reserve(Demand { chunks: BYTES, aside: 0 });
    match partition.find(&at(coord)) {
        Lookup::Hit(pinned) => drop(pinned.write()),
        Lookup::Miss(ticket) => {
            let Eviction::Granted(mut grant) = cache.make_room(partition, BYTES) else { panic!("there is room") };
            ticket.fill(Hundred, &mut grant, true).unwrap();
        }
        Lookup::Loading(_) => panic!("no other thread loads"),
    }
    cache.touch(partition);
}

fn near(cache: &Cache<Hundred>, bytes: usize) -> Vec<u64> {
    cache.near_exit(bytes).iter().map(|pinned| pinned.coord()[0]).collect()
}

fn dirty(partition: &Partition<Hundred>) -> Vec<WriteBack<Hundred>> {
    Unwritten::of(std::slice::from_ref(partition), |_| true).take()
}

fn encode(_: &Hundred) -> Result<Vec<u8>, WriteFailure> {
    Ok(vec![7; BYTES / 2])
}

#[test]
fn chunks_come_in_the_order_in_which_they_leave() {
    for (policy, order) in
        [(Policy::Lru, [2, 3, 1]), (Policy::Mru, [1, 3, 2]), (Policy::Lfu, [2, 3, 1]), (Policy::S3Fifo, [2, 3, 1])]
    {
        let cache = Cache::new(Config::default().bytes(10 * BYTES).policy(policy).reserve(0));
        let partition = cache.open(().into(), None, None);
        (1..4).for_each(|coord| write(&cache, &partition, coord));
        write(&cache, &partition, 1);
        assert_eq!(near(&cache, usize::MAX), order, "{policy:?}");
        assert_eq!(near(&cache, BYTES + 1), order[..2], "{policy:?}");
        assert_eq!(near(&cache, 0), [0; 0]);
        // In hand, encoded, or in the file.
        let held = partition.peek(&at(order[0])).unwrap();
        assert!(partition.peek(&at(order[1])).unwrap().encode_ahead(encode).unwrap());
        assert_eq!(near(&cache, usize::MAX), order[2..], "{policy:?}");
        drop(held);
        cache.near_exit(1).pop().unwrap().take().unwrap().written();
        assert_eq!(near(&cache, usize::MAX), order[2..], "{policy:?}");
        let taken = dirty(&partition);
        assert_eq!(
            taken.iter().filter(|taken| taken.encoded().is_some_and(|encoded| encoded.first() == Some(&7))).count(),
            1
        );
        assert_eq!(taken.len(), 2);
    }
}

#[test]
fn encoding_ahead_waits_for_no_writer() {
    let cache = Cache::new(Config::default().bytes(4 * BYTES));
    let partition = cache.open(().into(), None, None);
    write(&cache, &partition, 0);
    let (writer, pinned) = (partition.peek(&at(0)).unwrap(), partition.peek(&at(0)).unwrap());
    let writing = writer.write();
    std::thread::scope(|scope| {
        let encoded = scope.spawn(|| pinned.encode_ahead(encode).unwrap());
        assert!(!encoded.join().unwrap());
    });
    drop(writing);
    assert!(pinned.encode_ahead(encode).unwrap());
}

#[test]
fn what_is_beyond_a_reserve_comes_first() {
    let cache = Cache::new(Config::default().bytes(10 * BYTES).reserve(2 * BYTES));
    let (first, second) = (cache.open(().into(), None, None), cache.open(().into(), None, None));
    (0..2).for_each(|coord| write(&cache, &first, coord));
    (10..13).for_each(|coord| write(&cache, &second, coord));
    assert_eq!(near(&cache, usize::MAX), [10, 0, 1, 11, 12]);
}

#[test]
fn a_copy_is_kept_only_where_there_is_room() {
    let cache = Cache::new(Config::default().bytes(4 * BYTES).reserve(0));
    let partition = cache.open(().into(), None, None);
    assert!(!cache.is_crowded());
    (0..3).for_each(|coord| write(&cache, &partition, coord));
    assert!(!cache.is_crowded(), "three quarters are not more than that");
    write(&cache, &partition, 3);
    assert!(cache.is_crowded());
    let pinned = cache.near_exit(1).pop().unwrap();
    assert!(!pinned.encode_ahead(|_| panic!("for nothing")).unwrap());
    pinned.take().unwrap().written();
    assert_eq!(partition.evict(), 3);
    assert!(cache.near_exit(1).pop().unwrap().encode_ahead(encode).unwrap());
    assert_eq!(cache.statistics().bytes, 3 * BYTES + BYTES / 2);
    // It makes room for chunks.
    let held: Vec<_> = partition.coords().iter().map(|coord| partition.peek(coord).unwrap()).collect();
    write(&cache, &partition, 9);
    assert_eq!(cache.statistics().bytes, 4 * BYTES);
    drop(held);
    assert!(cache.statistics().peak_bytes <= cache.limits().active);
    // Nothing is dirty any more.
    dirty(&partition).into_iter().for_each(|taken| taken.written());
    assert!(!cache.is_crowded() && cache.near_exit(usize::MAX).is_empty());
}

#[test]
fn a_few_more_are_written_with_those_that_must_be() {
    let cache = Cache::new(Config::default().bytes(32 * BYTES).reserve(0));
    let partition = cache.open(().into(), None, None);
    (0..32).for_each(|coord| write(&cache, &partition, coord));
    let Eviction::Dirty(taken) = cache.make_room(&partition, BYTES) else { panic!("all are dirty") };
    let coords: Vec<_> = taken.iter().map(|taken| taken.coord().unwrap()[0]).collect();
    assert_eq!(coords, [0, 1, 2], "one, and a sixteenth");
    taken.into_iter().for_each(|taken| taken.written());
    // So there is room for copies.
    write(&cache, &partition, 32);
    assert!(cache.near_exit(1).pop().unwrap().encode_ahead(encode).unwrap());
    drop(cache.reserve(Demand { chunks: 32 * BYTES, aside: 32 * BYTES }));
}
