//! What each strategy of the page buffer asks of the storage, and which pages stay.

use hyperslab_driver::{
    Damage, Driver, Fault, Log, Memory, MemoryType, Operation, PageBuffer, PageStrategy, ReadPart, SelectionPair,
    Target, Transfer, WritePart,
};
use hyperslab_space::{Op, Slab, Space};

const PAGE: usize = 10;

/// What the storage is asked, and the parts of it.
type Request = (Operation, Vec<(u64, u64)>);

fn metadata() -> Transfer {
    Transfer::default().with_kind(MemoryType::ObjectHeader)
}

fn values() -> Transfer {
    Transfer::default().with_kind(MemoryType::RawData)
}

/// 100 bytes, each its own place, and pages 2 and 5 in memory.
fn buffer(strategy: PageStrategy) -> PageBuffer<Log<Memory>> {
    let bytes = (0..100).collect::<Vec<u8>>();
    let buffer = PageBuffer::new(Log::new(Memory::from(bytes)), PAGE, 4).unwrap().with_strategy(strategy);
    let (mut a, mut b) = ([0; 1], [0; 1]);
    buffer.read_vector(&mut [ReadPart::new(20, &mut a), ReadPart::new(50, &mut b)], &metadata()).unwrap();
    buffer.below_ref().clear();
    buffer
}

fn asked(buffer: &PageBuffer<Log<Memory>>) -> Vec<Request> {
    let records = buffer.below_ref().records();
    buffer.below_ref().clear();
    records.into_iter().map(|record| (record.operation, record.parts)).collect()
}

/// What a read of 15..65, which touches six pages of four, asks for, and how many pages there are after it.
fn read(strategy: PageStrategy) -> (Vec<Request>, usize) {
    let (buffer, mut found) = (buffer(strategy), [0; 50]);
    buffer.write_at(22, &[200], &metadata()).unwrap();
    buffer.read_at(15, &mut found, &values()).unwrap();
    let expected: Vec<u8> = (15..65).map(|n| if n == 22 { 200 } else { n }).collect();
    assert_eq!(found[..], expected);
    (asked(&buffer), buffer.resident())
}

#[test]
fn a_large_read_takes_the_way_of_its_strategy() {
    let write_back = (Operation::WriteVector, vec![(22, 1)]);
    let whole = (Operation::Read, vec![(15, 50)]);
    assert_eq!(read(PageStrategy::Fit), (vec![write_back.clone(), whole.clone()], 2));
    assert_eq!(read(PageStrategy::Direct), (vec![write_back.clone(), whole], 2));
    let missing = (Operation::ReadVector, vec![(10, 10), (30, 10), (40, 10), (60, 10)]);
    assert_eq!(read(PageStrategy::Grow).0[0], missing);
    assert_eq!(read(PageStrategy::Grow).1, 4);
    let others = (Operation::ReadVector, vec![(15, 5), (30, 20), (60, 5)]);
    assert_eq!(read(PageStrategy::Split), (vec![others], 2));
}

#[test]
fn a_small_read_brings_pages_or_does_not() {
    for (strategy, request) in [
        (PageStrategy::Fit, (Operation::ReadVector, vec![(30, 10)])),
        (PageStrategy::Grow, (Operation::ReadVector, vec![(30, 10)])),
        (PageStrategy::Direct, (Operation::Read, vec![(28, 4)])),
        (PageStrategy::Split, (Operation::ReadVector, vec![(30, 2)])),
    ] {
        let (buffer, mut found) = (buffer(strategy), [0; 4]);
        buffer.read_at(28, &mut found, &values()).unwrap();
        assert_eq!(found, [28, 29, 30, 31]);
        assert_eq!(asked(&buffer), [request], "{strategy}");
        // Metadata has pages with each of them.
        buffer.read_at(71, &mut found, &metadata()).unwrap();
        assert_eq!(asked(&buffer), [(Operation::ReadVector, vec![(70, 10)])], "{strategy}");
    }
}

#[test]
fn a_write_is_split_between_pages_and_storage() {
    let buffer = buffer(PageStrategy::Split);
    let parts = [WritePart::new(15, &[201; 10]), WritePart::new(55, &[202; 10]), WritePart::new(58, &[203; 4])];
    buffer.write_vector(&parts, &values()).unwrap();
    assert_eq!(asked(&buffer), [(Operation::WriteVector, vec![(15, 5), (60, 5), (60, 2)])]);
    let mut found = [0; 50];
    buffer.read_at(15, &mut found, &values()).unwrap();
    asked(&buffer);
    let (head, tail) = (&found[..10], &found[40..]);
    assert_eq!((head, tail), (&[201; 10][..], &[202, 202, 202, 203, 203, 203, 203, 202, 202, 202][..]));
    buffer.sync(&Transfer::default()).unwrap();
    assert_eq!(asked(&buffer)[0], (Operation::WriteVector, vec![(20, 5), (55, 5)]));
    let mut stored = [0; 50];
    buffer.below_ref().read_at(15, &mut stored, &values()).unwrap();
    assert_eq!(stored, found);
}

/// A selection becomes a vector only if pages have a part of it.
#[test]
fn a_selection_stays_whole_where_no_page_is_here() {
    let mut column = Space::simple(&[10, 10]).unwrap();
    column.select_hyperslab(Op::Set, &[Slab::new(0, 1, 10, 1), Slab::new(3, 1, 1, 1)]).unwrap();
    let ten = Space::simple(&[10]).unwrap();
    let pair = |offset| SelectionPair { memory: &ten, file: &column, offset, element_size: 1 };
    for (strategy, expected) in [
        (PageStrategy::Direct, vec![(Operation::ReadSelection, vec![(0, 10)])]),
        (
            PageStrategy::Split,
            vec![(Operation::ReadVector, [0, 1, 3, 4, 6, 7, 8, 9].map(|n| (n * 10 + 3, 1)).to_vec())],
        ),
    ] {
        let (buffer, mut found) = (buffer(strategy), [0; 10]);
        buffer.read_selection(&[pair(0)], &mut [&mut found], &values()).unwrap();
        assert_eq!(found, [3, 13, 23, 33, 43, 53, 63, 73, 83, 93]);
        assert_eq!(asked(&buffer), expected, "{strategy}");
        buffer.forget(0..100);
        buffer.read_selection(&[pair(0)], &mut [&mut found], &values()).unwrap();
        assert_eq!(asked(&buffer)[0].0, Operation::ReadSelection, "{strategy}");
    }
}

/// Bytes that the storage does not have yet, between those that it has and a dirty page.
#[test]
fn a_split_read_knows_the_end_of_the_storage() {
    let buffer = buffer(PageStrategy::Split);
    buffer.write_at(135, b"x", &metadata()).unwrap();
    asked(&buffer);
    let mut found = [1; 41];
    buffer.read_at(95, &mut found, &values()).unwrap();
    assert_eq!(found[..5], [95, 96, 97, 98, 99]);
    assert_eq!((&found[5..40], found[40]), (&[0; 35][..], b'x'));
    assert_eq!(asked(&buffer), [(Operation::ReadVector, vec![(95, 5)])]);
    assert!(buffer.read_at(95, &mut [0; 42], &values()).is_err());
}

#[test]
fn a_buffer_that_grew_shrinks_even_if_the_storage_fails() {
    let storage = Fault::new(Memory::from(vec![0; 200]));
    let buffer = PageBuffer::new(storage, PAGE, 2).unwrap().with_strategy(PageStrategy::Grow);
    buffer.write_at(5, &[1; 100], &values()).unwrap();
    assert_eq!(buffer.resident(), 2);
    buffer.below_ref().arm_forever(Target::Writes, 0, Damage::Fail);
    // All that it touches stays dirty, and is not lost.
    buffer.write_at(55, &[2; 50], &values()).unwrap();
    assert!(buffer.write_at(150, &[3; 30], &values()).is_err());
    buffer.below_ref().disarm();
    buffer.sync(&Transfer::default()).unwrap();
    let bytes = buffer.into_below().into_below().into_bytes();
    assert_eq!((&bytes[5..55], &bytes[55..105], bytes[105]), (&[1; 50][..], &[2; 50][..], 0));
}

#[test]
fn pages_of_a_kind_stay_while_they_are_reserved() {
    let storage = Log::new(Memory::from(vec![7; 1000]));
    let buffer = PageBuffer::new(storage, PAGE, 6).unwrap().with_reserved(3, 2).unwrap();
    let read = |page: u64, transfer: &Transfer| buffer.read_at(page * 10, &mut [0; 1], transfer).unwrap();
    (0..4).for_each(|page| read(page, &metadata()));
    (10..30).for_each(|page| read(page, &values()));
    buffer.below_ref().clear();
    // Three of the pages of metadata, of which the first left, stayed.
    (1..4).for_each(|page| read(page, &metadata()));
    assert_eq!(asked(&buffer), []);
    (30..60).for_each(|page| read(page, &metadata()));
    buffer.below_ref().clear();
    (28..30).for_each(|page| read(page, &values()));
    assert_eq!(asked(&buffer), []);
    // A request that would need reserved pages of the other kind goes straight down.
    buffer.read_at(0, &mut [0; 40], &values()).unwrap();
    assert_eq!(asked(&buffer), [(Operation::Read, vec![(0, 40)])]);
    assert!(PageBuffer::new(Memory::new(), PAGE, 6).unwrap().with_reserved(4, 3).is_err());
}
