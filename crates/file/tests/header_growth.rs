//! Headers whose attributes come and go, a few in each flush: the file after every single write, and how large it gets.

use std::{collections::BTreeMap, sync::Arc};

use hyperslab_driver::Tape;
use hyperslab_file::{CreateOptions, Error, Header, HeaderEdit, NewHeader, OpenFile, OpenOptions, Survey};
use hyperslab_format::{object_header::Flags, superblock::Root, version::LibVersion};

use crate::replay::after_each_write;

const ATTRIBUTE: u16 = 0x0c;

/// Attributes by their number: how often each was set, and its length.
type Attributes = BTreeMap<u8, (u8, u8)>;

fn body(nth: u8, (value, length): (u8, u8)) -> Vec<u8> {
    [&[nth, value, length][..], &vec![value; usize::from(length) * 8 + 5]].concat()
}

/// A file whose root is a header without attributes.
fn begin(version: u8) -> (Arc<Tape>, OpenFile, u64) {
    let tape = Arc::new(Tape::default());
    let mut create = CreateOptions::default();
    create.libver_min = LibVersion::V110;
    let file = OpenFile::create(tape.clone(), &create, &OpenOptions::default()).unwrap();
    let new = NewHeader { version, times: false, ordered: false, indexed: false, attribute_limits: None, room: 40 };
    let address = new.begin(&file).save().unwrap();
    file.set_root(Root::Header(Some(address))).unwrap();
    file.flush().unwrap();
    (tape, file, address)
}

fn set(file: &OpenFile, address: u64, nth: u8, to: Option<(u8, u8)>) {
    let change = || {
        let mut edit = HeaderEdit::open(file, address)?;
        let found = edit.all(ATTRIBUTE).find(|id| edit.body(*id)[0] == nth);
        match (found, to) {
            (Some(id), Some(to)) => edit.replace(id, body(nth, to))?,
            (Some(id), None) => edit.remove(id),
            (None, Some(to)) => _ = edit.add(ATTRIBUTE, Flags::NONE, None, body(nth, to))?,
            (None, None) => {}
        }
        edit.save()
    };
    file.operate::<_, Error>(change).unwrap();
}

/// Keeps what a look at a header finds wrong.
#[derive(Default)]
struct Problems(Vec<String>);

impl Survey for Problems {
    fn block(&mut self, _: &'static str, _: u64, _: u64) -> bool {
        true
    }

    fn shared(&mut self, _: &'static str, _: u64, _: u64) -> bool {
        true
    }

    fn free(&mut self, _: u64, _: u64) {}

    fn problem(&mut self, what: &'static str, address: u64, why: String) {
        self.0.push(format!("{what} at {address:#x}: {why}"));
    }

    fn note(&mut self, _: &'static str, _: u64, _: String) {}
}

/// The attributes of a header that is whole.
fn read(file: &OpenFile, address: u64) -> Attributes {
    let header = Header::read(file, address).unwrap();
    let mut problems = Problems::default();
    header.survey(&mut problems);
    assert_eq!(problems.0, Vec::<String>::new());
    let attribute = |bytes: &[u8]| {
        let (nth, set) = (bytes[0], (bytes[1], bytes[2]));
        assert_eq!(bytes[..body(nth, set).len()], body(nth, set), "one value");
        (nth, set)
    };
    header.messages().filter(|one| one.kind == ATTRIBUTE).map(|one| attribute(header.body(one))).collect()
}

#[test]
fn every_write_leaves_each_attribute_as_it_was_or_as_it_was_set() {
    for (seed, version) in (0..30).flat_map(|seed| [(seed, 1), (seed, 2)]) {
        let mut random = fastrand::Rng::with_seed(seed);
        let (tape, file, address) = begin(version);
        let mut bytes = tape.cut().unwrap();
        let (mut now, mut set_to) = (Attributes::new(), 0u8);
        // Other blocks may lie behind those of the header.
        let crowded = seed % 3 == 0;
        for flush in 0..50 {
            // What each attribute was since the last flush.
            let mut was: BTreeMap<u8, Vec<Option<(u8, u8)>>> =
                (0..=u8::MAX).map(|nth| (nth, vec![now.get(&nth).copied()])).collect();
            for _ in 0..random.usize(1..5) {
                let nth = random.u8(..if seed % 2 == 0 { 12 } else { 120 });
                set_to = set_to.wrapping_add(1);
                let most = if random.u8(..8) == 0 { 200 } else { 12 };
                let to = (random.u8(..4) > 0).then(|| (set_to, random.u8(..most)));
                set(&file, address, nth, to);
                was.get_mut(&nth).unwrap().push(to);
                match to {
                    Some(to) => _ = now.insert(nth, to),
                    None => _ = now.remove(&nth),
                }
                assert_eq!(read(&file, address), now, "seed {seed}, flush {flush}");
                if crowded && random.bool() {
                    let length = random.u64(8..300);
                    let place = file.allocate(hyperslab_file::Kind::Metadata, length).unwrap();
                    file.put(place, vec![7; length as usize]).unwrap();
                }
            }
            file.flush().unwrap();
            after_each_write(&tape, &mut bytes, |file| {
                let seen = read(file, address);
                for (nth, was) in &was {
                    let this = seen.get(nth).copied();
                    assert!(was.contains(&this), "seed {seed}, flush {flush}, attribute {nth}: {this:?} of {was:?}");
                }
            });
        }
    }
}

/// A header that gets one more attribute in each flush is not moved as a whole each time.
#[test]
fn a_header_that_grows_leaves_little_space_behind() {
    for version in [1, 2] {
        let (_, file, address) = begin(version);
        let mut needed = file.end();
        for nth in 0..=u8::MAX {
            set(&file, address, nth, Some((1, 10)));
            file.flush().unwrap();
            needed += body(nth, (1, 10)).len().next_multiple_of(8) as u64 + 8;
            assert!(file.end() < needed + needed / 10 + 4096, "{} bytes for {needed}", file.end());
        }
        for nth in 0..=u8::MAX {
            set(&file, address, nth, None);
            file.flush().unwrap();
        }
        let blocks = Header::read(&file, address).unwrap().spans().count();
        assert_eq!(blocks, 1, "blocks without messages are given back");
    }
}
