//! Each structure of the format by itself: torn where it is, and nowhere else.

use std::collections::{BTreeMap, BTreeSet};

use hyperslab_base::Fault;
use hyperslab_driver::Missing;
use hyperslab_file::{Error, Seal};

use super::walk::{FILES, IMAGE, bytes, storage, walk};

/// So many pages that no byte is read twice, unless it is to be read again.
const MANY: usize = 1 << 12;

/// All that must be noticed: structures with a signature by that, others by their name.
const SIGNED: [&str; 23] = [
    "BTHD", "BTIN", "BTLF", "EADB", "EAHD", "EAIB", "EASB", "FADB", "FAHD", "FHDB", "FHIB", "FRHP", "FSHD", "FSSE",
    "GCOL", "HEAP", "MDCI", "OCHK", "OHDR", "SMLI", "SMTB", "SNOD", "TREE",
];
const UNSIGNED: [&str; 4] = ["superblock", "object header", "fixed array page", "extensible array page"];

/// Every structure, by its signature if it has one and its name, with the checks by which it was noticed.
type Noticed = BTreeMap<(String, &'static str), BTreeSet<&'static str>>;

#[test]
fn each_structure_notices_that_it_is_torn_and_is_read_again() {
    let (mut noticed, mut unsealed) = (Noticed::new(), BTreeSet::new());
    for file in FILES {
        let stored = bytes(file);
        let whole = walk(&storage(file), MANY, 1);
        assert!(whole.errors.is_empty(), "{file}: {:?}", whole.errors);
        // Where an image lies over other blocks, the bytes of the file are not looked at.
        let is_looked_at = |what: &str| match file {
            IMAGE => what == "metadata cache image",
            _ => what != "free" && !what.starts_with("link "),
        };
        let blocks: BTreeSet<_> = whole.content.iter().filter(|(what, ..)| is_looked_at(what)).collect();
        for (what, address, length) in blocks {
            let start = whole.base + address;
            let (length, tears): (u64, &[Missing]) = match seal(what, &stored[start as usize..]) {
                Seal::Checksum => (*length, &[Missing::Front, Missing::Back, Missing::All]),
                // What lies behind the signature may be in another page, and is not verified.
                Seal::Signature => (signature_length(what), &[Missing::All]),
                Seal::None => {
                    unsealed.insert(what.clone());
                    continue;
                }
            };
            for &missing in tears {
                let about = format!("{file}, {what} at {address:#x}, {missing:?}");
                let walk = |attempts| {
                    let storage = storage(file);
                    storage.aim(start..start + length, missing);
                    (walk(&storage, MANY, attempts), storage.torn())
                };
                let (seen, torn) = walk(1);
                // The last half of a block may have no byte that counts.
                assert!(missing == Missing::Back || torn == 0 || !seen.errors.is_empty(), "{about}: not noticed");
                seen.errors.iter().for_each(|why| note(why, &stored, whole.base, &mut noticed, &about));
                let (again, _) = walk(2);
                assert!(again.errors.is_empty(), "{about}: {:?}", again.errors);
                assert_eq!((&again.content, &again.problems), (&whole.content, &whole.problems), "{about}");
            }
        }
    }
    println!("noticed: {noticed:#?}, nothing to be noticed by: {unsealed:?}");
    let kinds: BTreeSet<_> = noticed.keys().map(|(signature, _)| signature.as_str()).collect();
    SIGNED.iter().for_each(|kind| assert!(kinds.contains(kind), "{kind}"));
    let names: BTreeSet<_> =
        noticed.keys().filter(|(signature, _)| signature.is_empty()).map(|(_, what)| *what).collect();
    UNSIGNED.iter().for_each(|kind| assert!(names.contains(kind), "{kind}"));
    assert!(noticed.values().all(|checks| !checks.contains("content")), "{noticed:#?}");
}

/// How many bytes in front tell a structure that has no checksum.
fn signature_length(what: &str) -> u64 {
    match what {
        "superblock" => 8,
        // A version, and no signature.
        "object header" => 1,
        _ => 4,
    }
}

/// What a block can be verified by.
fn seal(what: &str, stored: &[u8]) -> Seal {
    let either = |has_checksum, other| if has_checksum { Seal::Checksum } else { other };
    match what {
        "superblock" => either(stored[8] >= 2, Seal::Signature),
        "object header" => either(stored.starts_with(b"OHDR"), Seal::Signature),
        "object header continuation" => either(stored.starts_with(b"OCHK"), Seal::None),
        "group B-tree" | "chunk B-tree" | "symbol table node" | "local heap" | "global heap collection" => {
            Seal::Signature
        }
        "B-tree (version 2)"
        | "B-tree node (version 2)"
        | "fractal heap"
        | "fractal heap direct block"
        | "fractal heap indirect block"
        | "fixed array"
        | "fixed array data block"
        | "extensible array"
        | "extensible array index block"
        | "extensible array super block"
        | "extensible array data block"
        | "free-space manager"
        | "list of free sections"
        | "shared message table"
        | "shared message list"
        | "metadata cache image" => Seal::Checksum,
        _ => Seal::None,
    }
}

/// Notes by which check a structure was noticed. It must be one that bytes of two times may fail.
fn note(why: &Error, stored: &[u8], base: u64, noticed: &mut Noticed, about: &str) {
    let address = why.torn_at().unwrap_or_else(|| panic!("{about}: {why:?}"));
    let name = |fault| match fault {
        Fault::Signature => "signature",
        Fault::Version => "version",
        Fault::Length => "length",
        Fault::Checksum { .. } => "checksum",
        Fault::Content => "content",
    };
    let (what, fault) = match why {
        Error::Malformed { source, .. } => (source.what, name(source.fault)),
        Error::Undecoded { what, .. } => (*what, "filters"),
        _ => ("superblock", name(Fault::Signature)),
    };
    let front = &stored[(base + address) as usize..][..4];
    let signature = if front.iter().all(u8::is_ascii_uppercase) { front } else { &[] };
    noticed.entry((String::from_utf8_lossy(signature).into(), what)).or_default().insert(fault);
}
