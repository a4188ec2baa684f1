//! Reads of metadata that meet a write: every structure that has something to be verified by notices, and a file that reads again gets what is there.
//!
//! The format gives some bytes nothing to be verified by, so that no reader can notice: continuations of headers of version 1, data of local heaps, huge objects of fractal heaps, driver information
//! blocks. Headers of version 1 have a version in front only, B-trees of version 1, symbol table nodes, local heaps and global heap collections a signature: they notice that, and nothing behind it.

mod structures;
mod walk;

use std::collections::HashSet;

use hyperslab_driver::Missing;

use walk::{FILES, Seen, storage, walk};

/// So few pages that most blocks are reads of their own.
const FEW: usize = 8;

/// Files of which all that a walk reads has checksums, with what a walk meets there and how many reads it takes.
fn sealed() -> Vec<(&'static str, Seen, u64)> {
    let all = FILES.into_iter().map(|file| {
        let storage = storage(file);
        let seen = walk(&storage, FEW, 1);
        assert!(seen.errors.is_empty() && seen.problems.is_empty(), "{file}: {:?} {:?}", seen.errors, seen.problems);
        (file, seen, storage.reads())
    });
    let sealed: Vec<_> = all.filter(|(_, seen, _)| !seen.is_open).collect();
    let kinds: HashSet<&str> =
        sealed.iter().flat_map(|(_, seen, _)| &seen.content).map(|(what, ..)| what.as_str()).collect();
    for what in [
        "superblock",
        "object header",
        "object header continuation",
        "B-tree (version 2)",
        "B-tree node (version 2)",
        "fractal heap",
        "fractal heap direct block",
        "fixed array",
        "fixed array data block",
        "extensible array",
        "extensible array index block",
        "extensible array data block",
        "free-space manager",
        "list of free sections",
    ] {
        assert!(kinds.contains(what), "no file with all checksums has a {what}: {kinds:?}");
    }
    sealed
}

#[test]
fn every_torn_read_is_noticed_by_signature_version_length_or_checksum() {
    for (file, whole, reads) in sealed() {
        let mut noticed = 0;
        for nth in 0..reads {
            for missing in [Missing::Front, Missing::Back, Missing::All] {
                let storage = storage(file);
                storage.arm(nth, missing);
                let seen = walk(&storage, FEW, 1);
                let about = format!("{file}, read {nth}, {missing:?}");
                for why in &seen.errors {
                    assert!(why.torn_at().is_some(), "{about}: {why:?}");
                }
                if seen.errors.is_empty() {
                    assert_eq!((named(&seen), &seen.problems), (named(&whole), &whole.problems), "{about}");
                }
                noticed += usize::from(!seen.errors.is_empty());
            }
        }
        println!("{file}: {noticed} of {} torn reads were noticed, the others changed nothing", 3 * reads);
        assert!(noticed > 0, "{file}");
    }
}

/// The structures that the file names. A trailer with free space behind its end is named by nothing: one that is torn is none, and so is what it says.
fn named(seen: &Seen) -> Vec<&(String, u64, u64)> {
    seen.content.iter().filter(|(what, ..)| !["space trailer", "free"].contains(&what.as_str())).collect()
}

#[test]
fn a_file_that_reads_again_is_read_as_it_is() {
    for (file, whole, reads) in sealed() {
        for nth in 0..reads {
            for missing in [Missing::Front, Missing::Back, Missing::All] {
                let storage = storage(file);
                storage.arm(nth, missing);
                let seen = walk(&storage, FEW, 3);
                assert!(seen.errors.is_empty(), "{file}, read {nth}, {missing:?}: {:?}", seen.errors);
                assert_eq!(seen.content, whole.content, "{file}, read {nth}, {missing:?}");
            }
        }
    }
}

/// Whatever is torn, also without a checksum, a walk ends.
#[test]
fn no_torn_read_stops_the_program() {
    for file in FILES {
        let storage = storage(file);
        walk(&storage, FEW, 1);
        for nth in 0..storage.reads() {
            for missing in [Missing::Front, Missing::Back] {
                storage.arm(nth, missing);
                walk(&storage, FEW, 1);
            }
        }
    }
}
