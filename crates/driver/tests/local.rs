//! How a local file turns requests into system calls.
#![cfg(unix)]

use hyperslab_driver::{Driver, Local, Log, Operation, ReadPart, SelectionPair, Transfer, Why, WritePart};
use hyperslab_space::{Op, Slab, Space};

use crate::common::Scratch;

fn filled(scratch: &Scratch, len: usize) -> (Local, Vec<u8>) {
    let file = Local::options().create(true).truncate(true).open(scratch.path("data.bin")).unwrap();
    let bytes: Vec<u8> = (0..len).map(|n| (n * 7 + n / 251) as u8).collect();
    file.write_at(0, &bytes, &Transfer::default()).unwrap();
    (file, bytes)
}

#[test]
fn nothing_can_be_written_to_a_file_open_for_reading() {
    let scratch = Scratch::new("nothing");
    drop(filled(&scratch, 10));
    let file = Local::open(scratch.path("data.bin")).unwrap();
    file.write_at(u64::MAX, &[], &Transfer::default()).unwrap();
    file.write_vector(&[WritePart::new(3, &[])], &Transfer::default()).unwrap();
    let error =
        file.write_vector(&[WritePart::new(3, &[]), WritePart::new(4, b"ab")], &Transfer::default()).unwrap_err();
    assert!(matches!((error.addr, error.len, error.why), (4, 2, Why::ReadOnly)));
}

/// Three quarters of each of a thousand rows.
#[test]
fn a_thousand_runs_in_few_calls() {
    for row in [64usize, 512, 2048, 4096] {
        let scratch = Scratch::new("runs");
        let (local, bytes) = filled(&scratch, 1000 * row);
        let log = Log::new(local);
        let mut file = Space::simple(&[1000, row as u64]).unwrap();
        let wide = row as u64 / 4 * 3;
        file.select_hyperslab(Op::Set, &[Slab::new(0, 1, 1000, 1), Slab::new(8, 1, 1, wide)]).unwrap();
        let memory = Space::simple(&[1000 * wide]).unwrap();
        let mut found = vec![0; 1000 * wide as usize];
        let before = log_calls(&log);
        let pair = SelectionPair { memory: &memory, file: &file, offset: 0, element_size: 1 };
        log.read_selection(&[pair], &mut [&mut found], &Transfer::default()).unwrap();
        assert_eq!(log.records().len(), 1);
        let calls = log_calls(&log) - before;
        assert!((1..=16).contains(&calls), "{calls} calls for rows of {row}");
        for (index, part) in found.chunks(wide as usize).enumerate() {
            assert_eq!(part, &bytes[index * row + 8..][..wide as usize]);
        }
    }
}

fn log_calls(log: &Log<Local>) -> u64 {
    log.below_ref().system_calls()
}

#[test]
fn far_parts_cost_a_call_each_and_adjacent_ones_share() {
    let scratch = Scratch::new("far");
    let (file, bytes) = filled(&scratch, 4 << 20);
    let mut found = vec![0; 100 * 8];
    let mut parts: Vec<_> =
        found.chunks_mut(8).enumerate().map(|(n, buf)| ReadPart::new(n as u64 * 40_000, buf)).collect();
    let before = file.system_calls();
    file.read_vector(&mut parts, &Transfer::default()).unwrap();
    assert_eq!(file.system_calls() - before, 100);
    for (n, part) in found.chunks(8).enumerate() {
        assert_eq!(part, &bytes[n * 40_000..][..8]);
    }

    let before = file.system_calls();
    let adjacent: Vec<_> =
        bytes[..3000].chunks(10).enumerate().map(|(n, buf)| WritePart::new(n as u64 * 10, buf)).collect();
    file.write_vector(&adjacent, &Transfer::default()).unwrap();
    assert_eq!(file.system_calls() - before, 1);
}

#[test]
fn more_parts_than_one_call_takes() {
    let scratch = Scratch::new("many");
    let (file, bytes) = filled(&scratch, 1 << 20);
    // Large enough to go straight into the buffers, adjacent, reversed.
    let mut found = vec![0; 1500 * 600];
    let mut parts: Vec<_> =
        found.chunks_mut(600).enumerate().map(|(n, buf)| ReadPart::new(n as u64 * 600, buf)).collect();
    parts.reverse();
    file.read_vector(&mut parts, &Transfer::default()).unwrap();
    assert_eq!(found, bytes[..1500 * 600]);
    let parts: Vec<_> =
        found.chunks(600).enumerate().map(|(n, buf)| WritePart::new(n as u64 * 600 + 1, buf)).rev().collect();
    file.write_vector(&parts, &Transfer::default()).unwrap();
    let mut back = vec![0; found.len()];
    file.read_at(1, &mut back, &Transfer::default()).unwrap();
    assert_eq!(back, found);
}

#[test]
fn a_write_touches_no_byte_outside_its_parts() {
    let scratch = Scratch::new("outside");
    let (file, mut bytes) = filled(&scratch, 10_000);
    let fresh = [0xee; 3];
    let parts: Vec<_> = (0..500).map(|n| WritePart::new(n * 20 + 5, &fresh)).collect();
    file.write_vector(&parts, &Transfer::default()).unwrap();
    for n in 0..500 {
        bytes[n * 20 + 5..][..3].copy_from_slice(&fresh);
    }
    let mut found = vec![0; 10_000];
    file.read_at(0, &mut found, &Transfer::default()).unwrap();
    assert_eq!(found, bytes);
    assert_eq!(file.len(&Transfer::default()).unwrap(), 10_000);
}

#[test]
fn beyond_four_gibibytes() {
    let scratch = Scratch::new("sparse");
    let file = Local::options().create(true).open(scratch.path("sparse.bin")).unwrap();
    let far = 5u64 << 30;
    file.write_vector(&[WritePart::new(far, b"far"), WritePart::new(10, b"near")], &Transfer::default()).unwrap();
    assert_eq!(file.len(&Transfer::default()).unwrap(), far + 3);
    let (mut a, mut b, mut gap) = ([0; 3], [0; 4], [1; 5]);
    let mut parts = [ReadPart::new(far, &mut a), ReadPart::new(10, &mut b), ReadPart::new(4 << 30, &mut gap)];
    file.read_vector(&mut parts, &Transfer::default()).unwrap();
    assert_eq!((&a, &b, gap), (b"far", b"near", [0; 5]));

    let mut space = Space::simple(&[6 << 30]).unwrap();
    space.select_hyperslab(Op::Set, &[Slab::new(10, far - 10, 2, 3)]).unwrap();
    let memory = Space::simple(&[6]).unwrap();
    let mut found = [0; 6];
    let pair = SelectionPair { memory: &memory, file: &space, offset: 0, element_size: 1 };
    file.read_selection(&[pair], &mut [&mut found], &Transfer::default()).unwrap();
    assert_eq!(&found, b"neafar");
    let error = file.read_at(far, &mut [0; 4], &Transfer::default()).unwrap_err();
    assert!(matches!(error.why, Why::PastEnd { end } if end == far + 3), "{error}");
    let error = file.write_at(i64::MAX as u64, &[0; 2], &Transfer::default()).unwrap_err();
    assert!(matches!(error.why, Why::Overflow), "{error}");
}

#[test]
fn the_end_is_found_in_every_kind_of_group() {
    let scratch = Scratch::new("end");
    let (file, _) = filled(&scratch, 10_000);
    for size in [10usize, 1000] {
        let mut buffer = vec![0; size * 4];
        let mut parts: Vec<_> = buffer
            .chunks_mut(size)
            .enumerate()
            .map(|(n, buf)| ReadPart::new(10_000 - 3 * size as u64 + 1 + (n * size) as u64, buf))
            .collect();
        let error = file.read_vector(&mut parts[..3], &Transfer::default()).unwrap_err();
        assert!(matches!(error.why, Why::PastEnd { end: 10_000 }), "{error}");
        assert_eq!((error.addr, error.len), (10_001 - size as u64, size as u64));
    }
}

#[test]
fn ways_to_open() {
    let scratch = Scratch::new("open");
    let path = scratch.path("a.bin");
    assert_eq!(Local::open(&path).unwrap_err().operation, Operation::Open);
    let made = Local::options().create_new(true).open(&path).unwrap();
    made.write_at(0, b"abc", &Transfer::default()).unwrap();
    assert!(Local::options().create_new(true).open(&path).is_err());
    let reader = Local::open(&path).unwrap();
    assert_eq!(reader.len(&Transfer::default()).unwrap(), 3);
    for outcome in [reader.write_at(0, b"x", &Transfer::default()), reader.set_len(0, &Transfer::default())] {
        assert!(matches!(outcome.unwrap_err().why, Why::ReadOnly));
    }
    assert_eq!(Local::options().write(true).open(&path).unwrap().len(&Transfer::default()).unwrap(), 3);
    assert_eq!(Local::options().truncate(true).open(&path).unwrap().len(&Transfer::default()).unwrap(), 0);
}
