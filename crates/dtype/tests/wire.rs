//! The datatype message against libhdf5, byte for byte, and against itself.

use hyperslab_dtype::{Datatype, Version};

use crate::libhdf5;
use crate::libhdf5::{ask, hex, message, recipe};
use crate::random::{Rng, datatype};

const VERSIONS: [Version; 5] = [Version::V1, Version::V2, Version::V3, Version::V4, Version::V5];

#[test]
fn what_is_written_is_read() {
    let mut rng = Rng::new(1);
    for _ in 0..5000 {
        let datatype = datatype(&mut rng, 4);
        for version in VERSIONS {
            let bytes = datatype.encode(version);
            let (again, used) = Datatype::decode(&[&bytes[..], &[0xaa; 9]].concat()).unwrap();
            assert_eq!((&again, used), (&datatype, bytes.len()), "{datatype}");
            assert_eq!(again.encode(version), bytes);
        }
    }
}

#[test]
fn libhdf5_makes_the_same_messages() {
    let mut rng = Rng::new(2);
    let bounds = [
        ("-", Version::V1),
        ("v108", Version::V3),
        ("v110", Version::V3),
        ("v112", Version::V4),
        ("v114", Version::V4),
        ("v200", Version::V5),
    ];
    let mut requests = Vec::new();
    let mut expected = Vec::new();
    for _ in 0..4000 {
        let mut datatype = datatype(&mut rng, 3);
        let (bound, version) = rng.pick(&bounds);
        if bound != "-" || datatype.has_vlen() || datatype.has_reference() {
            // libhdf5 sorts members by offset when it reads them, or when there are references among them.
            datatype = datatype.packed().unwrap();
        }
        requests.push(format!("build {bound} {}", recipe(&datatype)));
        expected.push((datatype.encode(version), datatype));
    }
    let Some(answers) = ask(&requests) else { return };
    for ((answer, (bytes, datatype)), request) in answers.iter().zip(&expected).zip(&requests) {
        assert_eq!(*answer, hex(bytes), "{datatype}\n{request}");
    }
}

#[test]
fn libhdf5_reads_what_is_written_and_refuses_what_is_refused() {
    let mut rng = Rng::new(3);
    let (mut requests, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..20_000 {
        let datatype = datatype(&mut rng, 2);
        let mut bytes = datatype.encode(rng.pick(&VERSIONS));
        let damaged = rng.one_in(2);
        if damaged {
            let at = rng.range(0, bytes.len() as u32 - 1) as usize;
            bytes[at] ^= 1 << rng.range(0, 7);
        }
        requests.push(format!("decode {}", hex(&bytes)));
        ours.push((Datatype::decode(&bytes), bytes, damaged));
    }
    let Some(answers) = ask(&requests) else { return };
    let mut refused = 0;
    for (answer, (ours, bytes, damaged)) in answers.iter().zip(&ours) {
        match (ours, answer.as_str()) {
            (Err(_), _) => refused += 1,
            (Ok((datatype, _)), "error") => panic!("libhdf5 refuses {datatype}: {}", hex(bytes)),
            (Ok((datatype, _)), theirs) => {
                // Versions may rise on the way through libhdf5, so it is the datatypes that are compared. References get the
                // size they have in its memory, and bring it to sort members.
                let has_references = datatype.has_vlen() || datatype.has_reference();
                if *damaged && has_references {
                    continue;
                }
                let (theirs, _) = Datatype::decode(&libhdf5::unhex(theirs)).unwrap();
                assert_eq!(*datatype, theirs, "{}", hex(bytes));
                if !has_references {
                    assert_eq!(datatype.encode(Version::V5), theirs.encode(Version::V5), "{}", hex(bytes));
                }
            }
        }
    }
    println!("{refused} of {} messages refused", ours.len());
}

#[test]
fn equality_is_that_of_libhdf5() {
    let mut rng = Rng::new(4);
    let (mut requests, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..5000 {
        let left = datatype(&mut rng, 2);
        let mut bytes = left.encode(Version::V1);
        if rng.one_in(2) {
            let at = rng.range(0, bytes.len() as u32 - 1) as usize;
            bytes[at] ^= 1 << rng.range(0, 7);
        }
        let Ok((right, _)) = Datatype::decode(&bytes) else { continue };
        // libhdf5 gives references the size they have in its own memory.
        if [&left, &right].iter().any(|datatype| datatype.has_vlen() || datatype.has_reference()) {
            continue;
        }
        requests.push(format!("equal {} {}", message(&left), message(&right)));
        ours.push((left == right, left, right));
    }
    let Some(answers) = ask(&requests) else { return };
    for (answer, (equal, left, right)) in answers.iter().zip(&ours) {
        assert_eq!(answer == "1", *equal, "{left:?}\n{right:?}");
    }
}

#[test]
fn hostile_bytes_are_refused_or_read() {
    let mut rng = Rng::new(5);
    for _ in 0..200_000 {
        let mut bytes = match rng.one_in(2) {
            true => datatype(&mut rng, 2).encode(rng.pick(&VERSIONS)),
            false => {
                let length = rng.range(0, 60) as usize;
                rng.bytes(length)
            }
        };
        for _ in 0..rng.range(0, 4) {
            if !bytes.is_empty() {
                let at = rng.range(0, bytes.len() as u32 - 1) as usize;
                bytes[at] = rng.next() as u8;
            }
        }
        bytes.truncate(rng.range(0, bytes.len() as u32) as usize);
        if let Ok((datatype, used)) = Datatype::decode(&bytes) {
            assert!(used <= bytes.len());
            assert!(!datatype.to_string().is_empty());
            let again = datatype.encode(Version::V1);
            assert_eq!(Datatype::decode(&again).unwrap().0, datatype);
        }
    }
}
