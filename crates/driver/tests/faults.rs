//! A fault at every position of every form of request: an error comes back, and nothing outside the request is touched.

use hyperslab_driver::{
    Damage, Driver, Fault, Log, Memory, ReadPart, Result, SelectionPair, Subfile, Target, Transfer, Why, WritePart,
};
use hyperslab_space::{Op, Slab, Space};

const OLD: u8 = 1;
const NEW: u8 = 2;
const LEN: usize = 64;

/// One request in its three forms: four rows of five bytes, sixteen apart, from byte six on.
struct Request {
    file: Space,
    memory: Space,
}

fn addresses() -> Vec<usize> {
    (0..4).flat_map(|row| (0..5).map(move |column| 6 + row * 16 + column)).collect()
}

impl Request {
    fn new() -> Self {
        let mut file = Space::simple(&[58]).unwrap();
        file.select_hyperslab(Op::Set, &[Slab::new(0, 16, 4, 5)]).unwrap();
        Request { file, memory: Space::simple(&[20]).unwrap() }
    }

    fn pair(&self) -> SelectionPair<'_> {
        SelectionPair { memory: &self.memory, file: &self.file, offset: 6, element_size: 1 }
    }

    fn write(&self, form: usize, driver: &dyn Driver) -> Result<()> {
        let (fresh, transfer) = ([NEW; 20], Transfer::default());
        let parts: Vec<_> = (0..4).map(|row| WritePart::new(6 + row * 16, &fresh[..5])).collect();
        match form {
            0 => driver.write_at(6, &fresh[..5], &transfer),
            1 => driver.write_vector(&parts, &transfer),
            _ => driver.write_selection(&[self.pair()], &[&fresh], &transfer),
        }
    }

    fn read(&self, form: usize, driver: &dyn Driver) -> Result<()> {
        let (mut found, transfer) = ([0; 20], Transfer::default());
        match form {
            0 => driver.read_at(6, &mut found[..5], &transfer),
            1 => {
                let mut parts: Vec<_> =
                    found.chunks_mut(5).enumerate().map(|(row, buf)| ReadPart::new(6 + row as u64 * 16, buf)).collect();
                driver.read_vector(&mut parts, &transfer)
            }
            _ => driver.read_selection(&[self.pair()], &mut [&mut found], &transfer),
        }
    }
}

fn damages() -> impl Iterator<Item = Damage> {
    let torn = (0..=20).map(Damage::Tear);
    let parts = (0..=4).map(Damage::TearAtPart);
    let short = (0..=20).map(Damage::Shorten);
    std::iter::once(Damage::Fail).chain(torn).chain(parts).chain(short)
}

#[test]
fn torn_writes_touch_only_their_own_bytes() {
    let request = Request::new();
    for form in 0..3 {
        for damage in damages() {
            let disk = Fault::new(Memory::from(vec![OLD; LEN]));
            disk.arm(Target::Writes, 0, damage);
            let error = request.write(form, &disk).unwrap_err();
            let bytes = disk.into_below().into_bytes();
            let own = if form == 0 { addresses()[..5].to_vec() } else { addresses() };
            let written: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == NEW).collect();
            assert_eq!(bytes.len(), LEN);
            let expected = match damage {
                Damage::Fail => 0,
                Damage::Tear(count) | Damage::Shorten(count) => (count as usize).min(own.len()),
                Damage::TearAtPart(part) => (part * 5).min(own.len()),
            };
            assert_eq!(written, own[..expected], "form {form}, {damage:?}: {error}");
            if !matches!(damage, Damage::Shorten(_)) {
                assert!(matches!(error.why, Why::Injected { done } if done == expected as u64), "{error}");
            }
        }
    }
}

#[test]
fn struck_reads_fail_and_change_nothing() {
    let request = Request::new();
    for form in 0..3 {
        for damage in damages() {
            let disk = Fault::new(Memory::from(vec![OLD; LEN]));
            disk.arm(Target::Reads, 0, damage);
            assert!(request.read(form, &disk).is_err(), "form {form}, {damage:?}");
            request.read(form, &disk).unwrap();
            assert_eq!(disk.into_below().into_bytes(), vec![OLD; LEN]);
        }
    }
}

#[test]
fn the_nth_request_and_all_after_it() {
    let disk = Fault::new(Memory::from(vec![OLD; LEN]));
    let request = Request::new();
    disk.arm_forever(Target::Writes, 2, Damage::Fail);
    let outcomes: Vec<_> = (0..5).map(|_| request.write(1, &disk).is_ok()).collect();
    assert_eq!(outcomes, [true, true, false, false, false]);
    disk.disarm();
    request.write(1, &disk).unwrap();
    disk.arm(Target::Upkeep, 1, Damage::Fail);
    disk.sync(&Transfer::default()).unwrap();
    assert!(disk.set_len(10, &Transfer::default()).is_err());
    assert_eq!(disk.len(&Transfer::default()).unwrap(), LEN as u64);
}

#[test]
fn a_shortened_read_ends_in_the_part_that_is_torn() {
    let disk = Fault::new(Memory::from(vec![OLD; 2000]));
    let (mut a, mut b) = ([0; 20], [0; 20]);
    disk.arm(Target::Reads, 0, Damage::Shorten(30));
    let mut parts = [ReadPart::new(0, &mut a), ReadPart::new(1000, &mut b)];
    let error = disk.read_vector(&mut parts, &Transfer::default()).unwrap_err();
    assert!(matches!((error.addr, error.why), (1000, Why::PastEnd { end: 1010 })));
    // All of it was there, so it did not reach past an end.
    disk.arm(Target::Reads, 0, Damage::Shorten(30));
    let error = disk.read_at(0, &mut a, &Transfer::default()).unwrap_err();
    assert!(matches!(error.why, Why::Injected { done: 20 }), "{error}");
}

#[test]
fn a_failed_request_does_not_reach_the_storage() {
    let request = Request::new();
    for form in 0..3 {
        let disk = Fault::new(Log::new(Memory::from(vec![OLD; LEN])));
        disk.arm_forever(Target::All, 0, Damage::Fail);
        assert!(request.write(form, &disk).is_err() && request.read(form, &disk).is_err());
        assert!(disk.into_below().records().is_empty());
    }
}

/// One member of a striped file fails: the error is its own, the other members have done their part.
#[test]
fn a_failing_stripe() {
    let request = Request::new();
    for victim in 0..4 {
        let file = Subfile::new((0..4).map(|_| Fault::new(Memory::from(vec![OLD; 16]))).collect(), 8).unwrap();
        file.members()[victim].arm(Target::Writes, 0, Damage::Tear(1));
        let outcome = request.write(2, &file);
        let members: Vec<_> = file.into_members().into_iter().map(|member| member.into_below().into_bytes()).collect();
        let found: Vec<u8> = (0..LEN).map(|at| members[at / 8 % 4][at / 32 * 8 + at % 8]).collect();
        let own = addresses();
        let touched = own.iter().any(|at| at / 8 % 4 == victim);
        assert_eq!(outcome.is_err(), touched, "member {victim}");
        for (at, byte) in found.iter().enumerate() {
            let mine = own.contains(&at);
            assert!(mine || *byte == OLD, "byte {at} is not part of the request");
            assert!(!mine || at / 8 % 4 == victim || *byte == NEW, "byte {at} is on a sound member");
        }
    }
}
