//! Headers that change: random changes against a list, and the file after every single write.

use std::sync::Arc;

use hyperslab_driver::{Memory, Tape};
use hyperslab_file::{CreateOptions, Header, HeaderEdit, NewHeader, OpenFile, OpenOptions};
use hyperslab_format::{object_header::Flags, superblock::Root, version::LibVersion};

use crate::replay::after_each_write;

const ATTRIBUTE: u16 = 0x0c;

/// The messages of a header: kind, order, body.
type List = Vec<(u16, Option<u16>, Vec<u8>)>;

fn list(file: &OpenFile, address: u64) -> List {
    let header = Header::read(file, address).unwrap();
    let mut list: List = header.messages().map(|one| (one.kind, one.order, header.body(one).to_vec())).collect();
    list.sort();
    list
}

/// A body of `length` bytes, padded as version 1 pads.
fn body(random: &mut fastrand::Rng, length: usize, version: u8) -> Vec<u8> {
    let mut body: Vec<u8> = (0..length).map(|_| random.u8(..)).collect();
    if version == 1 {
        body.resize(length.next_multiple_of(8), 0);
    }
    body
}

fn length(random: &mut fastrand::Rng) -> usize {
    match random.u8(0..20) {
        0 => random.usize(0..40_000),
        1..5 => random.usize(0..4),
        _ => random.usize(0..80),
    }
}

fn program(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let tape = Arc::new(Tape::default());
    let mut create = CreateOptions::default();
    create.libver_min = LibVersion::V110;
    let mut file = OpenFile::create(tape.clone(), &create, &OpenOptions::default()).unwrap();
    let new = NewHeader {
        version: random.u8(1..=2),
        times: random.bool(),
        ordered: random.bool(),
        indexed: false,
        attribute_limits: random.bool().then_some([3, 2]),
        room: random.usize(0..300),
    };
    let ordered = new.version == 2 && new.ordered;
    let address = new.begin(&file).save().unwrap();
    file.set_root(Root::Header(Some(address))).unwrap();
    file.flush().unwrap();
    let mut twin: List = Vec::new();
    let mut states = vec![twin.clone()];
    let mut bytes = tape.cut().unwrap();
    for _ in 0..60 {
        let flushes = file.flushes();
        file.operate(|| {
            let mut edit = HeaderEdit::open(&file, address)?;
            for _ in 0..random.usize(1..4) {
                let all: Vec<_> = (0x1a..0x30).flat_map(|kind| edit.all(kind).collect::<Vec<_>>()).collect();
                let chosen = random.choice(all);
                match (random.u8(0..10), chosen) {
                    (0..3, Some(id)) => {
                        let message = edit.message(id);
                        let gone = (message.kind, message.order, message.body.to_vec());
                        let nth = twin.iter().position(|one| *one == gone).unwrap();
                        twin.remove(nth);
                        edit.remove(id);
                    }
                    (3..6, Some(id)) => {
                        let message = edit.message(id);
                        let gone = (message.kind, message.order, message.body.to_vec());
                        let nth = twin.iter().position(|one| *one == gone).unwrap();
                        let length = length(&mut random);
                        twin[nth].2 = body(&mut random, length, new.version);
                        edit.replace(id, twin[nth].2.clone())?;
                    }
                    _ => {
                        let (kind, order) = (random.u16(0x1a..0x30), ordered.then(|| random.u16(..)));
                        let length = length(&mut random);
                        let body = body(&mut random, length, new.version);
                        edit.add(kind, Flags::NONE, order, body.clone())?;
                        twin.push((kind, order, body));
                    }
                }
            }
            if random.bool() {
                edit.touch();
            }
            edit.save()
        })
        .unwrap();
        twin.sort();
        assert_eq!(list(&file, address), twin, "seed {seed}");
        if file.flushes() != flushes {
            states.push(twin.clone());
        }
        if random.u8(0..3) == 0 {
            states.push(twin.clone());
            file.flush().unwrap();
            if random.bool() {
                file.close().unwrap();
                file = OpenFile::open_writable(tape.clone(), &OpenOptions::default(), LibVersion::V110).unwrap();
                assert_eq!(list(&file, address), twin, "seed {seed}");
            }
        }
    }
    // Whatever was written last, the file has a state that was flushed, and never an older one again.
    let mut newest = 0;
    let mut options = OpenOptions::default();
    options.alone = true;
    for (nth, change) in tape.changes().iter().enumerate() {
        change.apply(&mut bytes);
        let file = OpenFile::open(Arc::new(Memory::from(bytes.clone())), &options);
        let found = list(&file.unwrap(), address);
        let state = states.iter().skip(newest).position(|state| *state == found);
        newest += state.unwrap_or_else(|| panic!("seed {seed}, write {nth}: no such state"));
    }
}

#[test]
fn random_changes_keep_every_message() {
    (0..60).for_each(program);
}

/// Attributes that change in place, in any block: after each write the header has each of them as it was flushed, or as it was set since.
#[test]
fn attributes_of_further_blocks_change_in_place() {
    for (seed, version) in (0..20).flat_map(|seed| [(seed, 1), (seed, 2)]) {
        let mut random = fastrand::Rng::with_seed(seed);
        let tape = Arc::new(Tape::default());
        let mut create = CreateOptions::default();
        create.libver_min = LibVersion::V110;
        let file = OpenFile::create(tape.clone(), &create, &OpenOptions::default()).unwrap();
        let new = NewHeader {
            version,
            times: seed % 2 == 0,
            ordered: false,
            indexed: false,
            attribute_limits: None,
            room: 100,
        };
        let address = new.begin(&file).save().unwrap();
        file.set_root(Root::Header(Some(address))).unwrap();
        let attribute = |nth: u8, value: u8| [vec![nth; 8], vec![value; 120]].concat();
        for first in [0, 20, 40] {
            let mut edit = HeaderEdit::open(&file, address).unwrap();
            (first..first + 20).for_each(|nth| _ = edit.add(ATTRIBUTE, Flags::NONE, None, attribute(nth, 0)).unwrap());
            edit.save().unwrap();
            file.flush().unwrap();
        }
        let (mut bytes, length) = (tape.cut().unwrap(), file.end());
        // Of each attribute, how often it was set when a write began, and when that was flushed.
        let mut sets = vec![0u8; 60];
        for _ in 0..40 {
            let before = sets.clone();
            for _ in 0..random.usize(1..4) {
                let nth = random.usize(..60);
                sets[nth] += 1;
                file.operate(|| {
                    let mut edit = HeaderEdit::open(&file, address)?;
                    let found = edit.all(ATTRIBUTE).find(|id| usize::from(edit.body(*id)[0]) == nth).unwrap();
                    edit.replace(found, attribute(nth as u8, sets[nth]))?;
                    edit.touch();
                    edit.save()
                })
                .unwrap();
            }
            file.flush().unwrap();
            after_each_write(&tape, &mut bytes, |file| {
                let found: Vec<_> = list(file, address).into_iter().filter(|one| one.0 == ATTRIBUTE).collect();
                assert_eq!(found.len(), 60, "seed {seed}");
                for (_, _, body) in found {
                    let (nth, value) = (usize::from(body[0]), body[8]);
                    assert_eq!(body, attribute(nth as u8, value), "one value");
                    assert!((before[nth]..=sets[nth]).contains(&value), "seed {seed}, attribute {nth}: {value}");
                }
            });
        }
        assert_eq!(file.end(), length, "seed {seed}: all of them fit where they are");
    }
}

#[test]
fn references_are_counted_where_the_version_has_a_place() {
    let file = OpenFile::create(Arc::new(Memory::new()), &CreateOptions::default(), &OpenOptions::default()).unwrap();
    for version in [1, 2] {
        let new = NewHeader { version, times: true, ordered: false, indexed: false, attribute_limits: None, room: 0 };
        let address = new.begin(&file).save().unwrap();
        for count in [2, 3, 300, 1, 0, 2] {
            let mut edit = HeaderEdit::open(&file, address).unwrap();
            edit.set_references(count).unwrap();
            edit.save().unwrap();
            let found = Header::read(&file, address).unwrap().references().unwrap();
            assert_eq!(found, if version == 2 { count.max(1) } else { count });
        }
    }
}

/// A file in memory with a header of so many attributes, half of them made after it was in the file.
fn with_attributes(version: u8, attributes: usize) -> (Arc<Memory>, OpenFile, u64) {
    let (storage, mut create) = (Arc::new(Memory::new()), CreateOptions::default());
    create.libver_min = LibVersion::V18;
    let file = OpenFile::create(storage.clone(), &create, &OpenOptions::default()).unwrap();
    let new = NewHeader { version, times: false, ordered: false, indexed: false, attribute_limits: None, room: 64 };
    let address = new.begin(&file).save().unwrap();
    file.set_root(Root::Header(Some(address))).unwrap();
    for _ in 0..2 {
        let mut edit = HeaderEdit::open(&file, address).unwrap();
        for nth in 0..attributes / 2 {
            edit.add(0x0c, Flags::NONE, None, vec![nth as u8; 16]).unwrap();
        }
        edit.save().unwrap();
        file.flush().unwrap();
    }
    (storage, file, address)
}

#[test]
fn another_count_of_references_changes_nothing_else() {
    for (version, attributes) in [(1, 0), (2, 0), (1, 2), (2, 2), (1, 300), (2, 300)] {
        let (fast, slow) = (with_attributes(version, attributes), with_attributes(version, attributes));
        for count in [2, 3, 300, 1, 7, u32::MAX, 2] {
            let ((_, file, address), (_, other, _)) = (&fast, &slow);
            Header::set_references(file, *address, count).unwrap();
            let mut edit = HeaderEdit::open(other, *address).unwrap();
            edit.set_references(count).unwrap();
            edit.save().unwrap();
            let (found, wanted) = (Header::read(file, *address).unwrap(), Header::read(other, *address).unwrap());
            assert_eq!((found.references().unwrap(), found.prefix()), (count, wanted.prefix()));
            let listed = |header: &Header| -> Vec<_> {
                header.messages().map(|message| (message.kind, header.body(message).to_vec())).collect()
            };
            assert_eq!(listed(&found), listed(&wanted), "version {version}, {attributes} attributes");
        }
        fast.1.flush().unwrap();
        slow.1.flush().unwrap();
        assert!(
            fast.0.inspect(<[u8]>::to_vec) == slow.0.inspect(<[u8]>::to_vec),
            "version {version}, {attributes} attributes"
        );
    }
}

#[test]
fn messages_that_take_the_place_of_an_empty_one_lie_where_they_would_lie_otherwise() {
    for (version, ordered) in [(1, false), (2, false), (2, true)] {
        for (length, count) in (0..100).flat_map(|length| [(length, 1), (length, 2)]) {
            let save = |at_once: bool| {
                let (storage, mut create) = (Arc::new(Memory::new()), CreateOptions::default());
                create.libver_min = LibVersion::V18;
                let file = OpenFile::create(storage.clone(), &create, &OpenOptions::default()).unwrap();
                let new =
                    NewHeader { version, times: false, ordered, indexed: false, attribute_limits: None, room: 96 };
                let mut edit = new.begin(&file);
                edit.add(0x0d, Flags::NONE, None, b"a comment").unwrap();
                let address = edit.save().unwrap();
                file.set_root(Root::Header(Some(address))).unwrap();
                file.flush().unwrap();
                let mut edit = HeaderEdit::open(&file, address).unwrap();
                for nth in 0..count {
                    let id = edit.add(ATTRIBUTE, Flags::NONE, None, vec![7 - u8::from(at_once); length]).unwrap();
                    assert_eq!(edit.body(id).len(), length);
                    // A message that changes is reason to take the header apart.
                    (0..usize::from(!at_once)).for_each(|_| edit.replace(id, vec![6; length]).unwrap());
                    assert_eq!(edit.all(ATTRIBUTE).count(), nth + 1);
                }
                edit.save().unwrap();
                let listed = list(&file, address);
                file.flush().unwrap();
                (listed, storage.inspect(<[u8]>::to_vec))
            };
            assert!(save(true) == save(false), "version {version}, {count} of {length} bytes");
        }
    }
}

#[test]
fn another_count_of_references_does_not_look_at_all_messages() {
    let (_, file, address) = with_attributes(1, 4_000);
    let begun = std::time::Instant::now();
    for count in 2..20_000 {
        Header::set_references(&file, address, count).unwrap();
        assert_eq!(Header::read(&file, address).unwrap().references().unwrap(), count);
    }
    // With all messages each time it would be some hundred millions of them.
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
}

#[test]
fn what_a_header_cannot_hold_is_refused_before_anything_changes() {
    let file = OpenFile::create(Arc::new(Memory::new()), &CreateOptions::default(), &OpenOptions::default()).unwrap();
    let new = NewHeader { version: 1, times: true, ordered: false, indexed: false, attribute_limits: None, room: 0 };
    let mut edit = new.begin(&file);
    assert!(edit.add(0x0d, Flags::NONE, None, vec![0; 65_530]).is_err());
    assert!(edit.add(0x0d, Flags::NONE, None, vec![0; 65_528]).is_ok());
    edit.save().unwrap();
}
