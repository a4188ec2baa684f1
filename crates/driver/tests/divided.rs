//! Files divided among several storages: family, split and subfile.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hyperslab_driver::{
    Capabilities, Driver, Family, Local, Log, Memory, MemoryType, Multi, Opener, Operation, ReadPart, SelectionPair,
    Subfile, Transfer, Why, WritePart,
};
use hyperslab_space::{Op, Slab, Space};
use proptest::prelude::*;

use crate::common::Scratch;

fn members_in(directory: PathBuf) -> Opener<Local> {
    Box::new(move |name, create| match Local::options().write(true).create(create).open(directory.join(name)) {
        Ok(member) => Ok(Some(member)),
        Err(error) => match &error.why {
            Why::Io(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
            _ => Err(error),
        },
    })
}

#[test]
fn a_family_on_disk_and_again() {
    let scratch = Scratch::new("family");
    let open = || Family::open("part-%05d.h5", 1000, members_in(scratch.path(""))).unwrap();
    let family = open();
    assert_eq!((family.members(), family.len(&Transfer::default()).unwrap()), (0, 0));
    let bytes: Vec<u8> = (0..3500).map(|n| (n % 251) as u8).collect();
    family.write_at(0, &bytes, &Transfer::default()).unwrap();
    let sizes: Vec<u64> =
        (0..4).map(|n| std::fs::metadata(scratch.path(&format!("part-{n:05}.h5"))).unwrap().len()).collect();
    assert_eq!(sizes, [1000, 1000, 1000, 500]);
    drop(family);

    let family = open();
    assert_eq!((family.members(), family.len(&Transfer::default()).unwrap()), (4, 3500));
    let mut found = vec![0; 3500];
    family.read_at(0, &mut found, &Transfer::default()).unwrap();
    assert_eq!(found, bytes);
    family.set_len(1200, &Transfer::default()).unwrap();
    assert_eq!(open().len(&Transfer::default()).unwrap(), 1200);
    // Far beyond the end: the members between come into being and read as zeros.
    family.write_at(6001, b"x", &Transfer::default()).unwrap();
    assert_eq!((family.members(), family.len(&Transfer::default()).unwrap()), (7, 6002));
    let mut gap = vec![1; 4000];
    family.read_at(1500, &mut gap, &Transfer::default()).unwrap();
    assert_eq!(gap, vec![0; 4000]);
}

#[test]
fn a_family_takes_writes_if_its_members_do() {
    let scratch = Scratch::new("fixed-family");
    let writable = |open| Family::open("%d.h5", 10, open).unwrap().capabilities().contains(Capabilities::WRITE);
    assert!(writable(members_in(scratch.path(""))));
    std::fs::write(scratch.path("0.h5"), b"abc").unwrap();
    assert!(writable(members_in(scratch.path(""))));
    let directory = scratch.path("");
    assert!(!writable(Box::new(move |name, _| Ok(Local::open(directory.join(name)).ok()))));
}

#[test]
fn bad_families() {
    let open = || -> Opener<Memory> { Box::new(|_, _| Ok(None)) };
    assert!(Family::open("same.h5", 1000, open()).is_err());
    assert!(Family::open("part-%d.h5", 0, open()).is_err());
}

#[test]
fn split_as_libhdf5_does_it() {
    let file = Multi::split(Log::new(Memory::new()), Log::new(Memory::new()));
    let raw = file.start(MemoryType::RawData);
    // HADDR_MAX / 2 where HADDR_MAX is 2^64 - 2.
    assert_eq!(raw, 0x7fff_ffff_ffff_ffff);
    assert_eq!(file.start(MemoryType::GlobalHeap), raw);
    for kind in [MemoryType::Superblock, MemoryType::Btree, MemoryType::LocalHeap, MemoryType::ObjectHeader] {
        assert_eq!(file.start(kind), 0);
    }
    let parts = [WritePart::new(raw + 10, b"values"), WritePart::new(0, b"header"), WritePart::new(raw, b"first")];
    file.write_vector(&parts, &Transfer::default()).unwrap();
    assert_eq!(file.len(&Transfer::default()).unwrap(), raw + 16);
    assert_eq!(file.len(&Transfer::default().with_kind(MemoryType::Superblock)).unwrap(), 6);
    let (mut a, mut b) = ([0; 6], [0; 6]);
    let mut parts = [ReadPart::new(raw + 10, &mut a), ReadPart::new(0, &mut b)];
    file.read_vector(&mut parts, &Transfer::default()).unwrap();
    assert_eq!((&a, &b), (b"values", b"header"));
    // Below the end of the file, a member that ends earlier reads as zeros; beyond it, addresses are those of the file.
    let mut gap = [9; 6];
    file.read_at(3, &mut gap, &Transfer::default()).unwrap();
    assert_eq!(&gap, b"der\0\0\0");
    let error = file.read_at(raw + 12, &mut gap, &Transfer::default()).unwrap_err();
    assert!(error.addr == raw + 12 && matches!(error.why, Why::PastEnd { end } if end == raw + 16), "{error}");
    file.set_len(4, &Transfer::default()).unwrap();
    assert_eq!(file.len(&Transfer::default()).unwrap(), 4);
}

#[test]
fn bad_multis() {
    let member = |start| (start, Memory::new(), vec![]);
    assert!(Multi::new([member(10)]).is_err());
    assert!(Multi::new([member(0), member(10), member(10)]).is_err());
    assert!(Multi::<Memory>::new([]).is_err());
}

fn striped(members: usize, stripe: u64) -> Subfile<Log<Memory>> {
    Subfile::new((0..members).map(|_| Log::new(Memory::new())).collect(), stripe).unwrap()
}

#[test]
fn a_selection_stays_a_selection_and_reaches_only_whom_it_touches() {
    let file = striped(8, 100);
    file.set_len(8000, &Transfer::default()).unwrap();
    // A column of 50 bytes in rows of 800: always the third stripe and half of the fourth.
    let mut space = Space::simple(&[10, 800]).unwrap();
    space.select_hyperslab(Op::Set, &[Slab::new(0, 1, 10, 1), Slab::new(280, 1, 1, 50)]).unwrap();
    let memory = Space::simple(&[500]).unwrap();
    let pair = SelectionPair { memory: &memory, file: &space, offset: 0, element_size: 1 };
    file.members().iter().for_each(Log::clear);
    let bytes: Vec<u8> = (0..500).map(|n| (n % 251) as u8).collect();
    file.write_selection(&[pair], &[&bytes], &Transfer::default()).unwrap();
    let mut found = vec![0; 500];
    file.read_selection(&[pair], &mut [&mut found], &Transfer::default()).unwrap();
    assert_eq!(found, bytes);
    for (index, member) in file.members().iter().enumerate() {
        let moved: Vec<_> =
            member.records().iter().filter(|record| record.ctl.is_none()).map(|r| (r.operation, r.bytes())).collect();
        let expected = match index {
            2 => vec![(Operation::WriteSelection, 200), (Operation::ReadSelection, 200)],
            3 => vec![(Operation::WriteSelection, 300), (Operation::ReadSelection, 300)],
            _ => vec![],
        };
        assert_eq!(moved, expected, "member {index}");
    }
}

/// As long as there can be, and full of sevens.
struct Endless;

impl Driver for Endless {
    fn read_at(&self, _: u64, buf: &mut [u8], _: &Transfer) -> hyperslab_driver::Result<()> {
        buf.fill(7);
        Ok(())
    }
    fn write_at(&self, _: u64, _: &[u8], _: &Transfer) -> hyperslab_driver::Result<()> {
        Ok(())
    }
    fn len(&self, _: &Transfer) -> hyperslab_driver::Result<u64> {
        Ok(1 << 56)
    }
    fn set_len(&self, _: u64, _: &Transfer) -> hyperslab_driver::Result<()> {
        Ok(())
    }
    fn sync(&self, _: &Transfer) -> hyperslab_driver::Result<()> {
        Ok(())
    }
}

#[test]
fn two_bytes_cost_the_same_however_far_apart() {
    let file = Subfile::new((0..8).map(|_| Endless).collect(), 4096).unwrap();
    let memory = Space::simple(&[2]).unwrap();
    for distance in [10, 1 << 20, 1 << 36, 1 << 42, 1 << 56] {
        let mut space = Space::simple(&[distance + 1]).unwrap();
        space.select_hyperslab(Op::Set, &[Slab::new(0, distance, 2, 1)]).unwrap();
        let pair = SelectionPair { memory: &memory, file: &space, offset: 3, element_size: 1 };
        let (mut found, begun) = ([0; 2], Instant::now());
        file.read_selection(&[pair], &mut [&mut found], &Transfer::default()).unwrap();
        file.write_selection(&[pair], &[&found], &Transfer::default()).unwrap();
        assert_eq!(found, [7; 2]);
        assert!(begun.elapsed() < Duration::from_millis(200), "{distance} apart: {:?}", begun.elapsed());
    }
}

fn slab(dim: u64) -> impl Strategy<Value = Slab> {
    (0..dim, 1..30u64, 0..20u64, 1..20u64).prop_map(move |(start, block, gap, count)| {
        let block = block.min(dim - start);
        Slab::new(start, block + gap, count.min(1 + (dim - start - block) / (block + gap)), block)
    })
}

fn selection() -> impl Strategy<Value = Space> {
    prop::collection::vec((slab(20), slab(60)), 1..4).prop_map(|slabs| {
        let mut space = Space::simple(&[20, 60]).unwrap();
        space.select_none();
        for (rows, columns) in slabs {
            space.select_hyperslab(Op::Or, &[rows, columns]).unwrap();
        }
        space
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_subfile_is_like_memory(
        stripe in 1u64..200,
        steps in prop::collection::vec((selection(), 0..5000u64, 1..5u64, any::<bool>(), any::<bool>()), 1..8),
    ) {
        let (file, memory) = (striped(8, stripe), Memory::new());
        let drivers: [&dyn Driver; 2] = [&file, &memory];
        for driver in drivers {
            driver.write_at(0, &[3; 12_000], &Transfer::default()).unwrap();
        }
        for (number, (space, offset, size, write, spread)) in steps.iter().enumerate() {
            let count = space.npoints();
            let mut to = Space::simple(&[2 * count + 1]).unwrap();
            if *spread {
                to.select_hyperslab(Op::Set, &[Slab::new(1, 2, count, 1)]).unwrap();
            } else {
                to.select_hyperslab(Op::Set, &[Slab::new(0, 1, 1, count)]).unwrap();
            }
            let pair = SelectionPair { memory: &to, file: space, offset: *offset, element_size: *size };
            let room = ((2 * count + 1) * size) as usize;
            if *write {
                let bytes: Vec<u8> = (0..room).map(|n| (n * 5 + number) as u8).collect();
                for driver in drivers {
                    driver.write_selection(&[pair], &[&bytes], &Transfer::default()).unwrap();
                }
            } else {
                let mut found = [vec![9; room], vec![9; room]];
                for (driver, found) in drivers.iter().zip(&mut found) {
                    driver.read_selection(&[pair], &mut [found], &Transfer::default()).unwrap();
                }
                prop_assert_eq!(&found[0], &found[1]);
            }
        }
        let len = memory.len(&Transfer::default()).unwrap();
        prop_assert_eq!(file.len(&Transfer::default()).unwrap(), len);
        let mut all = [vec![0; len as usize], vec![0; len as usize]];
        for (driver, all) in drivers.iter().zip(&mut all) {
            driver.read_at(0, all, &Transfer::default()).unwrap();
        }
        prop_assert_eq!(&all[0], &all[1]);
    }
}
