//! Files with each byte spoiled in turn: an error that says where, or the values that were written; never others under a checksum.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use hyperslab::{Dataset, ErrorKind, OpenOptions, check, driver::Memory, s};

use super::{
    coords, defined,
    small::{self, Filters, Index, Kind, NAME},
};

/// More time than one spoiled file takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Points in all chunks but one, with values that are all different.
const POINTS: [u64; 18] = [0, 0, 0, 1, 1, 5, 2, 2, 3, 3, 4, 4, 4, 5, 5, 0, 5, 2];
const VALUES: [i16; 9] = [101, 202, 303, 404, 505, 606, 707, 808, 909];

/// A small file, what it holds, and what it holds after a part is erased.
struct Case {
    kind: Kind,
    filters: Filters,
    bytes: Vec<u8>,
    sections: Vec<small::StoredSection>,
}

/// A byte of a file that is spoiled.
struct Spoiled<'a> {
    case: &'a Case,
    at: usize,
    bytes: Vec<u8>,
}

impl Case {
    fn new(kind: Kind, index: Index, filters: Filters) -> Case {
        let bytes = small::file_of((kind, index, filters), &POINTS, &VALUES);
        let sections = small::sections(&bytes);
        Case { kind, filters, bytes, sections }
    }

    fn spoiled(&self, at: usize, byte: u8) -> Spoiled<'_> {
        let mut bytes = self.bytes.clone();
        bytes[at] = byte;
        Spoiled { case: self, at, bytes }
    }
}

impl Spoiled<'_> {
    /// What errors must name: the chunk and the section that the byte is in.
    fn place(&self) -> Option<String> {
        let holds = |(.., range): &&small::StoredSection| range.contains(&self.at);
        let (coord, section, _) = self.case.sections.iter().find(holds)?;
        Some(format!("chunk {:?}, section {section}", coord.to_vec()))
    }

    /// Whether no checksum covers the byte: values of fixed size that go through no filter.
    fn is_bare(&self) -> bool {
        let is_value = self.place().is_some_and(|place| place.ends_with("section 1"));
        is_value && self.case.kind == Kind::Sparse && self.case.filters == Filters::None
    }

    fn error(&self, why: &hyperslab::Error) {
        let (text, place) = (why.to_string(), self.place().unwrap_or_default());
        assert!(text.contains(&place), "no {place} in: {text}");
        assert!(!self.is_bare(), "{text}");
    }

    fn values(&self, found: hyperslab::Result<Vec<i16>>, expected: &[i16]) -> bool {
        match found {
            Ok(found) if self.is_bare() => {
                let differ = found.iter().zip(expected).filter(|(left, right)| left != right).count();
                assert!(differ <= 1, "{found:?}");
                true
            }
            Ok(found) => {
                assert_eq!(found, expected);
                true
            }
            Err(why) => {
                self.error(&why);
                false
            }
        }
    }

    fn read(&self, dataset: &Dataset) -> hyperslab::Result<Vec<i16>> {
        self.case.kind.read(dataset, &dataset.space())
    }

    fn reads(&self) -> bool {
        let dataset = match small::open(&self.bytes) {
            Ok(dataset) => dataset,
            Err(why) => {
                self.error(&why);
                return false;
            }
        };
        let read = self.values(self.read(&dataset), &small::dense(&POINTS, &VALUES));
        match dataset.defined(&dataset.space()) {
            Ok(_) if !self.case.kind.is_sparse() => {}
            Ok(found) => assert_eq!(coords(&found), POINTS.chunks_exact(2).collect::<Vec<_>>()),
            Err(why) => self.error(&why),
        }
        read
    }

    /// What is lost is noticed, but for values, at which the check does not look.
    fn checks(&self, is_read: bool) {
        let report = check::storage(Arc::new(Memory::from(self.bytes.clone())));
        let notices = report.as_ref().map_or(true, |report| report.problems().count() > 0);
        assert!(is_read || notices || self.place().is_some(), "the check notices nothing");
    }

    /// Erases all of one chunk and part of others.
    fn erases(&self) {
        let storage = Arc::new(Memory::from(self.bytes.clone()));
        let erase = || {
            let file = OpenOptions::new().read_write().unlocked().open_on(storage.clone())?;
            let dataset = file.dataset(NAME)?;
            self.case.kind.erase(&dataset, dataset.slice(s![0..4, 0..4])?.selection())?;
            drop(dataset);
            file.close()
        };
        let erased: hyperslab::Result<()> = erase();
        let mut expected = small::dense(&POINTS, &VALUES);
        match erased {
            Ok(()) => (0..16).for_each(|nth| expected[7 * (nth / 4) + nth % 4] = 0),
            Err(why) => self.error(&why),
        }
        let after = small::open(&small::bytes_of(&*storage)).and_then(|dataset| self.read(&dataset));
        self.values(after, &expected);
    }
}

/// `$HYPERSLAB_SPOILED_VALUES` says how many other values each byte gets: one in turn, or up to three.
fn spoil_each_byte(index: Index, kinds: &[Kind]) {
    let values = hyperslab_workshop::setting("HYPERSLAB_SPOILED_VALUES", 1) as usize;
    let cases = kinds.iter().flat_map(|kind| Filters::ALL.map(|filters| (*kind, filters)));
    for (kind, filters) in cases {
        let case = Case::new(kind, index, filters);
        for at in 0..case.bytes.len() {
            let byte = case.bytes[at];
            // Most bytes of a node are not used: one value is enough for those between zeros, in chunks of one kind.
            let near = &case.bytes[at.saturating_sub(8)..(at + 8).min(case.bytes.len())];
            let count = match near.iter().all(|near| *near == 0) {
                true if kind == Kind::Sparse => 1,
                true => values.saturating_sub(1),
                false => values,
            };
            for spoiled in [0xff, byte ^ 1, byte ^ 0x80].into_iter().cycle().skip(at % 3).take(count) {
                let (begin, spoiled) = (Instant::now(), case.spoiled(at, spoiled));
                let whole = catch_unwind(AssertUnwindSafe(|| {
                    let is_read = spoiled.reads();
                    spoiled.checks(is_read);
                    spoiled.erases();
                }));
                let context =
                    format!("{kind:?}, {index:?}, {filters:?}, byte {at} is {:#x}, not {byte:#x}", spoiled.bytes[at]);
                assert!(whole.is_ok(), "{context}");
                assert!(begin.elapsed() < PATIENCE, "{context}: {:?}", begin.elapsed());
            }
        }
    }
}

#[test]
fn each_byte_of_a_file_with_a_single_chunk() {
    spoil_each_byte(Index::Single, &[Kind::Sparse]);
}

#[test]
fn each_byte_of_a_file_with_texts_in_a_single_chunk() {
    spoil_each_byte(Index::Single, &Kind::VLEN);
}

#[test]
fn each_byte_of_a_file_with_a_fixed_array() {
    spoil_each_byte(Index::FixedArray, &[Kind::Sparse]);
}

#[test]
fn each_byte_of_a_file_with_texts_in_a_fixed_array() {
    spoil_each_byte(Index::FixedArray, &Kind::VLEN);
}

#[test]
fn each_byte_of_a_file_with_an_extensible_array() {
    spoil_each_byte(Index::ExtensibleArray, &[Kind::Sparse]);
}

#[test]
fn each_byte_of_a_file_with_texts_in_an_extensible_array() {
    spoil_each_byte(Index::ExtensibleArray, &Kind::VLEN);
}

#[test]
fn each_byte_of_a_file_with_a_tree() {
    spoil_each_byte(Index::BtreeV2, &[Kind::Sparse]);
}

#[test]
fn each_byte_of_a_file_with_texts_in_a_tree() {
    spoil_each_byte(Index::BtreeV2, &Kind::VLEN);
}

#[test]
fn errors_name_the_chunk_and_the_section() {
    let sparse = [
        (Filters::None, 0, "section 0: its checksum is wrong"),
        (Filters::Deflate, 0, "section 0: "),
        (Filters::Deflate, 1, "section 1: "),
        (Filters::Fletcher32, 0, "section 0: "),
        (Filters::Fletcher32, 1, "section 1: "),
    ];
    let texts = [
        (Filters::None, 0, "section 0: its checksum is wrong"),
        (Filters::None, 1, "section 1: its checksum is wrong"),
        (Filters::Deflate, 1, "section 1: "),
        (Filters::Fletcher32, 1, "section 1: "),
    ];
    let last = [(Filters::None, 2, "section 2: its checksum is wrong"), (Filters::Deflate, 2, "section 2: ")];
    let cases =
        [(Kind::Sparse, &sparse[..]), (Kind::SparseVlen, &texts), (Kind::DenseVlen, &texts), (Kind::SparseVlen, &last)];
    let cases = cases
        .into_iter()
        .flat_map(|(kind, cases)| cases.iter().map(move |(filters, section, why)| (kind, *filters, *section, *why)));
    for (kind, filters, section, why) in cases {
        for index in Index::ALL {
            let case = Case::new(kind, index, filters);
            for (coord, number, range) in case.sections.iter().filter(|(_, number, _)| *number == section) {
                let spoiled = case.spoiled(range.start + 3, case.bytes[range.start + 3] ^ 0x55);
                let dataset = small::open(&spoiled.bytes).unwrap();
                let error = kind.read(&dataset, &dataset.space()).unwrap_err();
                let named = format!("chunk {:?}, {why}", coord.to_vec());
                assert!(error.to_string().contains(&named), "{kind:?}, {index:?}, section {number}: {error}");
                let kind = if filters == Filters::None { ErrorKind::Malformed } else { ErrorKind::Filter };
                assert_eq!(error.kind(), kind, "{error}");
            }
        }
    }
}

#[test]
fn other_chunks_are_read_and_erased() {
    let case = Case::new(Kind::Sparse, Index::FixedArray, Filters::None);
    let (.., range) = case.sections.iter().find(|(coord, ..)| coord[..] == [0, 0]).unwrap();
    let spoiled = case.spoiled(range.start, 0xff);
    let dataset = small::open(&spoiled.bytes).unwrap();
    assert!(dataset.read::<i16>().is_err());
    assert_eq!(dataset.read_slice::<i16>(s![4..6, 0..3]).unwrap(), [0, 0, 0, 808, 0, 909]);
    let storage = Arc::new(Memory::from(spoiled.bytes));
    let file = OpenOptions::new().read_write().open_on(storage).unwrap();
    let dataset = file.dataset(NAME).unwrap();
    // All elements of a chunk are erased without a look at what they were.
    dataset.erase(dataset.slice(s![0..4, 0..3]).unwrap().selection()).unwrap();
    assert_eq!(defined(&dataset), [[1, 5], [3, 3], [4, 4], [4, 5], [5, 0], [5, 2]]);
    file.close().unwrap();
}
