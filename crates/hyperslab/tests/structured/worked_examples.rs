//! The bytes of `docs/structured-chunks.md`: files that are made as the page says have exactly these, and are read.

use std::sync::Arc;

use hyperslab::{driver::Memory, s};
use hyperslab_format::message::kind;

use super::{
    options,
    small::{self, NAME},
};

const PAGE: &str = include_str!("../../../../docs/structured-chunks.md");

/// Where the page has the index and the chunk.
const INDEX: [u8; 8] = 0x1000u64.to_le_bytes();
const CHUNK: [u8; 8] = 0x2000u64.to_le_bytes();

/// The bytes of an example: the first numbers of each line in a block below a heading.
fn example(heading: &str, nth: usize) -> Vec<u8> {
    let (_, below) = PAGE.split_once(&format!("\n### {heading}\n")).unwrap();
    let section = below.split("\n#").next().unwrap();
    let block = section.split("```").nth(2 * nth + 1).unwrap();
    let byte = |word: &str| {
        let is_byte = word.len() == 2 && !word.contains(|letter: char| letter.is_ascii_lowercase());
        is_byte.then(|| u8::from_str_radix(word, 16).ok()).flatten()
    };
    block.lines().flat_map(|line| line.split_whitespace().map_while(byte)).collect()
}

/// An example with an address of the page in place of the one that a file has.
fn at_place(bytes: &[u8], address: [u8; 8], of_page: [u8; 8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = bytes.windows(8).position(|window| window == address).unwrap();
    bytes[at..at + 8].copy_from_slice(&of_page);
    bytes
}

/// A file as the page has it.
struct Example {
    bytes: Vec<u8>,
    layout: Vec<u8>,
    filters: Option<Vec<u8>>,
    /// Where the chunk is, and how many bytes it has.
    address: usize,
    size: usize,
}

impl Example {
    fn new(dims: [u64; 2], max: [Option<u64>; 2], filtered: bool) -> Example {
        let storage = Arc::new(Memory::new());
        let file = options().create_new().open_on(storage.clone()).unwrap();
        let new = file.root().unwrap().new_dataset::<u16>().shape(dims).max_shape(max).chunks([100, 200]).sparse();
        let new = if filtered { new.shuffle().fletcher32() } else { new };
        let dataset = new.create(NAME).unwrap();
        let (row, column) = (dims[0] / 300 * 100 + 10, dims[1] / 400 * 200 + 20);
        dataset.write_slice(s![row..row + 2, column..column + 3], &[1u16, 2, 3, 4, 5, 6]).unwrap();
        drop(dataset);
        file.close().unwrap();
        let bytes = small::bytes_of(&*storage);
        let dataset = small::open(&bytes).unwrap();
        assert_eq!(dataset.read_slice::<u16>(s![row + 1, column - 1..column + 4]).unwrap(), [0, 4, 5, 6, 0]);
        let [(_, entry)] = small::entries(&bytes).try_into().unwrap();
        let (address, size) = (entry.address.unwrap() as usize, entry.size() as usize);
        let layout = small::message(&bytes, kind::DATA_LAYOUT).unwrap();
        let filters = small::message(&bytes, kind::SECTION_FILTERS);
        Example { bytes, layout, filters, address, size }
    }

    /// The layout message with the address of the page.
    fn layout(&self, of_page: [u8; 8]) -> Vec<u8> {
        [&self.layout[..self.layout.len() - 8], &of_page].concat()
    }

    /// Whether an index has this record, with the address that the chunk has here.
    fn has_record(&self, record: &[u8]) -> bool {
        let record = at_place(record, CHUNK, (self.address as u64).to_le_bytes());
        self.bytes.windows(record.len()).any(|window| window == record)
    }

    fn image(&self) -> &[u8] {
        &self.bytes[self.address..self.address + self.size]
    }
}

const FIXED: [Option<u64>; 2] = [Some(300), Some(400)];
const GROWING: [Option<u64>; 2] = [None, Some(400)];
const BOTH_WAYS: [Option<u64>; 2] = [None, None];

#[test]
fn layout_messages_are_those_of_the_page() {
    let page = example("Data layout message", 0);
    for filtered in [false, true] {
        let of = |max| Example::new([300, 400], max, filtered).layout(INDEX);
        assert_eq!(of(FIXED), page);
        let (head, address) = (&page[..15], &page[17..]);
        assert_eq!(of(GROWING), [head, &example("Data layout message", 1), address].concat());
        assert_eq!(of(BOTH_WAYS), [head, &example("Data layout message", 2), address].concat());
    }
    let one = |filtered| Example::new([100, 200], [Some(100), Some(200)], filtered).layout(CHUNK);
    let page = example("Data layout message", 3);
    assert_eq!(one(true), page);
    let mut plain = [&page[..27], &page[51..]].concat();
    (plain[5], plain[16], plain[19]) = (0, 0x49, 0x3d);
    assert_eq!(one(false), plain, "without sizes before the filters and masks");
}

#[test]
fn records_are_those_of_the_page() {
    for (max, first) in [(FIXED, 0), (GROWING, 0), (BOTH_WAYS, 2)] {
        for (nth, filtered) in [(first, false), (first + 1, true)] {
            let record = example("Index records", nth);
            assert!(Example::new([300, 400], max, filtered).has_record(&record), "{max:?}, {record:02x?}");
        }
    }
}

#[test]
fn images_and_filters_are_those_of_the_page() {
    for (dims, max) in [([100, 200], [Some(100), Some(200)]), ([300, 400], FIXED), ([300, 400], BOTH_WAYS)] {
        let plain = Example::new(dims, max, false);
        assert_eq!(plain.image(), example("Chunk image", 0));
        assert_eq!(plain.filters, None);
        let filtered = Example::new(dims, max, true);
        assert_eq!(filtered.filters, Some(example("Filters", 0)));
        assert_eq!(filtered.size, 0x51);
    }
}
