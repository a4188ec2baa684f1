//! Dense chunks of values of variable length, whose index tells their size in few bytes: a write that succeeds is stored by the next flush, whatever filters make of it.

use std::sync::Arc;

use fastrand::Rng;
use hyperslab::{Dataset, File, NewDataset, check, driver::Memory, s};
use hyperslab_filter::{Bitshuffle, BitshuffleCodec, Deflate, Fletcher32, Lz4, Zstd};

use super::options;

/// The strings of a chunk.
const SIDE: usize = 15;

/// A string that no filter makes smaller by much.
fn noise(rng: &mut Rng, len: usize) -> String {
    (0..len).map(|_| rng.char(' '..='~')).collect()
}

fn create(storage: Arc<Memory>, filters: &[(u16, Vec<u32>)], fill: &str) -> (File, Dataset) {
    let file = options().create_new().open_on(storage).unwrap();
    let new = file.root().unwrap().new_dataset::<String>().shape([SIDE as u64]).max_shape([None]);
    let new = new.chunks([SIDE as u64]).fill_value(fill.to_string()).vlen_in_chunks();
    let new = filters.iter().fold(new, |new: NewDataset, (id, params)| new.filter(*id, params));
    let dataset = new.create("a").unwrap();
    (file, dataset)
}

fn pipelines() -> Vec<Vec<(u16, Vec<u32>)>> {
    let (bytes, end) = ((Lz4::ID, Lz4::params(1)), (Fletcher32::ID, Vec::new()));
    let bits = |codec| (Bitshuffle::ID, Bitshuffle::options(8, codec));
    vec![
        Vec::new(),
        vec![bytes.clone()],
        vec![bytes.clone(), bytes, end.clone()],
        vec![bits(BitshuffleCodec::Lz4), end],
        vec![bits(BitshuffleCodec::Zstd(1))],
        vec![(Deflate::ID, Deflate::params(1))],
        vec![(Zstd::ID, Zstd::params(1)), (Lz4::ID, Lz4::params(2))],
    ]
}

/// Random writes of strings of all lengths, flushes and evictions, against the strings as they should be.
#[test]
fn what_was_written_is_stored_and_what_was_refused_changes_nothing() {
    for (nth, filters) in pipelines().iter().enumerate() {
        let mut rng = Rng::with_seed(nth as u64);
        let fill = noise(&mut rng, 100 * nth);
        let storage = Arc::new(Memory::new());
        let (file, dataset) = create(storage.clone(), filters, &fill);
        let (mut expected, mut refused) = (vec![fill; SIDE], 0);
        for _ in 0..150 {
            let (first, most) = (rng.usize(..SIDE), [20, 3_000, 20_000][rng.usize(..3)]);
            let count = 1 + rng.usize(..SIDE - first);
            let text = |rng: &mut Rng| match rng.bool() {
                true => "x".repeat(rng.usize(..most)),
                false => {
                    let len = rng.usize(..most);
                    noise(rng, len)
                }
            };
            let values: Vec<String> = (0..count).map(|_| text(&mut rng)).collect();
            match dataset.write_slice(s![first as u64..(first + count) as u64], &values) {
                Ok(()) => expected[first..first + count].clone_from_slice(&values),
                Err(why) => {
                    assert!(why.to_string().contains("its index has room for 65535"), "{why}");
                    refused += 1;
                }
            }
            match rng.u32(..5) {
                0 => file.flush().unwrap(),
                1 => dataset.evict().unwrap(),
                _ => {}
            }
            assert_eq!(dataset.read::<String>().unwrap(), expected);
        }
        assert!(refused > 0, "{filters:?}");
        drop(dataset);
        file.close().unwrap();
        let report = check::storage(storage.clone()).unwrap();
        assert_eq!((report.problems().count(), report.lost), (0, 0), "{report:?}");
        let file = File::open_driver(storage).unwrap();
        assert_eq!(file.dataset("a").unwrap().read::<String>().unwrap(), expected);
    }
}

/// What compresses well is written, however long it is before that; also the fill value of elements that were not written.
#[test]
fn what_fits_behind_the_filters_is_not_refused() {
    let (long, filters) = ("long ".repeat(2_000), vec![(Deflate::ID, Deflate::params(6))]);
    let (file, dataset) = create(Arc::new(Memory::new()), &filters, &long);
    dataset.write_slice(s![3..5], &["", "one"]).unwrap();
    file.flush().unwrap();
    dataset.write_slice(s![5], &[long.repeat(20)]).unwrap();
    file.flush().unwrap();
    dataset.evict().unwrap();
    let read = dataset.read::<String>().unwrap();
    assert_eq!((&read[2], read[3].as_str(), read[4].as_str(), &read[5]), (&long, "", "one", &long.repeat(20)));

    let (file, dataset) = create(Arc::new(Memory::new()), &[], &long);
    let why = dataset.write_slice(s![3], &["one"]).unwrap_err().to_string();
    assert!(why.contains("chunk [0] would take") && why.contains("larger chunks have more room"), "{why}");
    dataset.write(&["short"; SIDE]).unwrap();
    file.flush().unwrap();
}

/// A dataset that shrinks gets the fill value outside: a shrink for which there is no room is refused, and nothing has changed.
#[test]
fn a_shrink_for_which_the_index_has_no_room_is_refused() {
    let long = noise(&mut Rng::with_seed(3), 6_000);
    for filters in [vec![], vec![(Deflate::ID, Deflate::params(6))], vec![(Lz4::ID, Lz4::params(1))]] {
        for flushed in [false, true] {
            let (file, dataset) = create(Arc::new(Memory::new()), &filters, &long);
            let values: Vec<String> = (0..SIDE).map(|nth| nth.to_string()).collect();
            dataset.write(&values).unwrap();
            if flushed {
                file.flush().unwrap();
            }
            let shrunk = dataset.resize([2]);
            // One fill value is like the other.
            let fits = filters.first().is_some_and(|(id, _)| *id == Deflate::ID);
            assert_eq!(shrunk.is_ok(), fits, "{shrunk:?}");
            file.flush().unwrap();
            let left = if fits { 2 } else { SIDE };
            assert_eq!(dataset.read::<String>().unwrap(), values[..left]);
            dataset.resize([12]).unwrap_or_else(|why| assert!(!fits, "{why}"));
            file.flush().unwrap();
        }
    }
}

/// A dataset that is made with values for which the index has no room is not left behind. Groups that were made on its way stay.
#[test]
fn a_dataset_whose_first_values_are_refused_is_not_there() {
    let storage = Arc::new(Memory::new());
    let file = options().create_new().open_on(storage.clone()).unwrap();
    let root = file.root().unwrap();
    let long = vec!["l".repeat(50_000); 2];
    let new = |chunk: u64| root.new_dataset::<String>().shape([2]).chunks([chunk]).vlen_in_chunks();
    root.create_group("kept").unwrap();
    for path in ["a", "kept/a", "new/on/the/way/a"] {
        let why = new(2).write(path, &long).map(drop).unwrap_err().to_string();
        assert!(why.contains("its index has room for 65535"), "{why}");
        assert_eq!(root.group("kept").unwrap().names().unwrap(), [""; 0]);
    }
    assert!(new(2).write_unnamed(&long).is_err());
    assert_eq!(root.names().unwrap(), ["kept", "new"]);
    assert_eq!(root.group("new/on/the/way").unwrap().names().unwrap(), [""; 0]);
    let written = new(1).write("kept/a", &long).unwrap();
    assert_eq!(written.read::<String>().unwrap(), long);
    assert!(new(2).write("kept/a", &long).is_err());
    assert_eq!(root.dataset("kept/a").unwrap().read::<String>().unwrap(), long);
    drop((written, root));
    file.close().unwrap();
    let report = check::storage(storage).unwrap();
    assert_eq!((report.problems().count(), report.lost), (0, 0), "{report:?}");
}

/// Threads that write to one chunk at the same time do not fill it beyond what its index has room for.
#[test]
fn threads_share_the_room() {
    for round in 0..20 {
        let (file, dataset) = create(Arc::new(Memory::new()), &[], "");
        dataset.write(&["a"; SIDE]).unwrap();
        let text = "t".repeat(20_000);
        let written = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..6u64)
                .map(|nth| {
                    scope.spawn({
                        let (dataset, text) = (&dataset, &text);
                        move || dataset.write_slice(s![nth], &[text]).is_ok()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        file.flush().unwrap();
        dataset.evict().unwrap();
        let read = dataset.read::<String>().unwrap();
        assert_eq!(written.iter().filter(|written| **written).count(), 3, "{round}");
        for (read, written) in read.iter().zip(written) {
            assert_eq!(read.len(), if written { text.len() } else { 1 });
        }
    }
}

/// A write is refused that makes a chunk larger than its index can tell, not the flush after it.
#[test]
fn chunks_for_which_the_index_has_no_room_are_refused_by_the_write() {
    for (deflate, side, most) in [(false, 15, 65_535), (true, 15, 61_000), (false, 3, 65_535)] {
        let storage = Arc::new(Memory::new());
        let file = options().create_new().open_on(storage.clone()).unwrap();
        let new = file.root().unwrap().new_dataset::<String>().shape([2 * side]).chunks([side]).vlen_in_chunks();
        let dataset = if deflate { new.deflate(1) } else { new }.create("a").unwrap();
        let (long, rest) = ("a".repeat(most / 3), most - 3 * (most / 3));
        dataset.write_slice(s![0..2], &[&long, &long]).unwrap();
        file.flush().unwrap();
        // Slots, what is unused, checksums.
        let around = 16 * side as usize + 4 + 8;
        let fitting = "b".repeat(most / 3 + rest - around);
        dataset.write_slice(s![2], &[&fitting]).unwrap();
        let larger = if deflate { noise(&mut Rng::with_seed(1), 2 * most) } else { format!("{fitting}c") };
        for cached in [true, false] {
            let why = dataset.write_slice(s![2], &[&larger]).unwrap_err().to_string();
            assert!(why.contains("chunk [0] would take") && why.contains("its index has room for 65535"), "{why}");
            let found = dataset.read_slice::<String>(s![0..3]).unwrap();
            assert_eq!([&found[0], &found[1], &found[2]], [&long, &long, &fitting]);
            if cached {
                dataset.evict().unwrap();
            }
        }
        // What goes makes room for what comes, also by points that name an element twice.
        let mut points = dataset.space();
        points.select_points(&[0, 2, 0]).unwrap();
        dataset.write_selection(&points, &["", &long, "d"]).unwrap();
        dataset.write_slice(s![1], &["e".repeat(most / 2)]).unwrap();
        assert!(dataset.write_slice(s![0], &[if deflate { &larger } else { &long }]).is_err());
        // Larger chunks have room.
        let new = file.root().unwrap().new_dataset::<String>().shape([40]).chunks([40]).vlen_in_chunks();
        new.create("b").unwrap().write_slice(s![0..2], &["f".repeat(80_000), "g".repeat(80_000)]).unwrap();
        drop(dataset);
        file.close().unwrap();
        let report = hyperslab::check::storage(storage.clone()).unwrap();
        assert_eq!((report.problems().count(), report.lost), (0, 0), "{report:?}");
        let file = File::open_driver(storage).unwrap();
        let found = file.dataset("a").unwrap().read_slice::<String>(s![0..3]).unwrap();
        assert_eq!([found[0].as_str(), &found[1], &found[2]], ["d", &"e".repeat(most / 2), &long]);
    }
}
