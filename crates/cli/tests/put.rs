//! What `put` stores is what was given, or nothing.

use hyperslab::{
    File,
    dtype::{Charset, Datatype, Float, Padding},
};
use std::fs;

use crate::common::{Folder, digest, run, sample, text};

fn refused(folder: &Folder, words: &str, why: &str) {
    let before = (digest(folder, "a.h5"), folder.names());
    let output = run(folder, words);
    assert_eq!(output.status.code(), Some(1), "{words}: {}", text(&output.stdout));
    assert!(text(&output.stderr).contains(why), "{words}: {}", text(&output.stderr));
    assert_eq!((digest(folder, "a.h5"), folder.names()), before, "{words}");
}

fn done(folder: &Folder, words: &str) {
    let output = run(folder, words);
    assert_eq!(output.status.code(), Some(0), "{words}: {}", text(&output.stderr));
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    sample(&folder.path("a.h5"));
    let file = File::edit(folder.path("a.h5")).unwrap();
    let root = file.root().unwrap();
    root.new_dataset::<u64>().write("large", &[1u64]).unwrap();
    root.new_dataset::<f32>().write("float", &[1.5f32, 2.5]).unwrap();
    let short = Datatype::string(4, Padding::NullPad, Charset::Ascii).unwrap();
    root.new_dataset_of(short).shape([2]).create("short").unwrap();
    file.dataset("mask").unwrap().set_attribute("units", "none").unwrap();
    root.get("mask").unwrap().set_comment(Some("a comment")).unwrap();
    file.close().unwrap();
    folder
}

#[test]
fn values_that_do_not_fit_change_nothing() {
    let folder = folder("put-fit");
    refused(&folder, "put a.h5 /mask 1 2 300", "`300` at [2] of /mask does not fit u8: values are from 0 to 255");
    refused(&folder, "put a.h5 /mask -- -5 2 3", "`-5` at [0] of /mask does not fit u8");
    refused(&folder, "put a.h5 /mask 1 nan 3", "`nan` at [1] of /mask does not fit u8: it is no whole number");
    refused(&folder, "put a.h5 /mask 1 2 2.5", "`2.5` at [2]");
    refused(&folder, "put a.h5 /large 18446744073709551616", "does not fit u64");
    refused(&folder, "put a.h5 /float 1 16777217", "`16777217` at [1] of /float does not fit f32");
    refused(&folder, "put a.h5 /float 1 1e60", "`1e60` at [1] of /float does not fit f32: it is too large");
    refused(
        &folder,
        "put a.h5 /short abcd abcde",
        "`abcde` at [1] of /short does not fit string(4, null-padded): it has 5 bytes",
    );
    refused(&folder, "put a.h5 /short a é", "it is not ASCII");
    refused(&folder, "put a.h5 /new --type f32 1 1e60", "`1e60` at [1] of /new does not fit f32");
    refused(&folder, "put a.h5 /new --type u8 1 256", "`256` at [1] of /new does not fit u8");
    refused(&folder, "put a.h5 /new 99999999999999999999", "does not fit f64");
    refused(&folder, "put a.h5 /mask --type i8 --attr units=m 1 2 300", "`300` at [2] of /mask does not fit i8");
    done(
        &folder,
        "put a.h5 /large 18446744073709551615 --attr id=18446744073709551615 --attr long=123456789012345678901234567890",
    );
    let file = File::open(folder.path("a.h5")).unwrap();
    let large = file.dataset("large").unwrap();
    assert_eq!(large.read::<u64>().unwrap(), [u64::MAX]);
    assert_eq!(large.attribute("id").unwrap().read_scalar::<u64>().unwrap(), u64::MAX);
    assert_eq!(large.attribute("long").unwrap().read_scalar::<String>().unwrap(), "123456789012345678901234567890");
}

#[test]
fn what_fails_makes_no_groups_objects_or_files() {
    let folder = folder("put-fail");
    let long = "n".repeat(70_000);
    refused(&folder, "put a.h5 /x/y/z --shape 2x2 1 2 3", "3 values do not fit");
    refused(&folder, "put a.h5 /mask/below 1", "/mask");
    refused(&folder, "put a.h5 /latest/below 1", "below");
    refused(&folder, "put a.h5 / 1", "/ is a group, which holds no values");
    refused(&folder, &format!("put a.h5 /mask 4 5 6 --attr {long}=1"), "error:");
    refused(&folder, &format!("put a.h5 /x/y --attr {long}=1"), "error:");
    refused(&folder, "put new.h5 /x 1 --type u8 --chunks 4x4", "error:");
    refused(&folder, "put new.h5 /x 300 --type u8", "`300` at []");
    refused(&folder, "copy a.h5:/missing new.h5:/x", "there is no /missing");
}

#[test]
fn a_dataset_that_is_made_anew_keeps_its_attributes() {
    let folder = folder("put-anew");
    done(&folder, "put a.h5 /mask --type i16 --shape 2x2 1 2 3 4 --attr new=7");
    let file = File::open(folder.path("a.h5")).unwrap();
    let mask = file.dataset("mask").unwrap();
    assert_eq!(mask.read::<i16>().unwrap(), [1, 2, 3, 4]);
    assert_eq!(mask.attribute("units").unwrap().read_scalar::<String>().unwrap(), "none");
    assert_eq!(mask.attribute("new").unwrap().read_scalar::<i64>().unwrap(), 7);
    assert_eq!(file.get("mask").unwrap().comment().unwrap().unwrap(), b"a comment");
    drop((mask, file));
    let file = File::edit(folder.path("a.h5")).unwrap();
    file.root().unwrap().hard_link("again", &file.get("mask").unwrap()).unwrap();
    file.close().unwrap();
    refused(&folder, "put a.h5 /mask --type u8 1 2", "/mask has 2 names");
    done(&folder, "put a.h5 /mask 5 6 7 8");
    assert!(fs::metadata(folder.path("a.h5")).is_ok());
}

/// The dataset that a link leads to is made anew, and the link stays one.
#[test]
fn a_dataset_behind_a_soft_link_is_made_anew() {
    let folder = folder("put-soft");
    let file = File::edit(folder.path("a.h5")).unwrap();
    let root = file.root().unwrap();
    root.soft_link("soft", "group 2/relative").unwrap();
    root.soft_link("group 2/relative", "numbers").unwrap();
    root.soft_link("nowhere", "/gone").unwrap();
    root.external_link("elsewhere", "a.h5", "/mask").unwrap();
    file.close().unwrap();
    done(&folder, "put a.h5 /soft --type f64 1.5 2.5 3.5");
    refused(&folder, "put a.h5 /nowhere --type f64 1.5", "/nowhere exists already");
    refused(&folder, "put a.h5 /elsewhere --type f64 1.5", "/elsewhere is in another file");
    let file = File::open(folder.path("a.h5")).unwrap();
    for path in ["soft", "group 2/relative", "group 2/numbers"] {
        assert_eq!(file.dataset(path).unwrap().read::<f64>().unwrap(), [1.5, 2.5, 3.5], "{path}");
    }
    let links = file.group("group 2").unwrap().links().unwrap();
    let target =
        |link: &&hyperslab::Link| link.name == b"relative" && matches!(link.target, hyperslab::Target::Soft(_));
    assert_eq!(links.iter().filter(target).count(), 1);
}

#[test]
fn numbers_are_rounded_once_or_not_at_all() {
    let folder = folder("put-round");
    let file = File::edit(folder.path("a.h5")).unwrap();
    let root = file.root().unwrap();
    for (name, size, float) in [("wide", 16, Float::X87), ("half", 2, Float::F16)] {
        root.new_dataset_of(Datatype::float(size, float).unwrap()).shape([2]).create(name).unwrap();
    }
    file.close().unwrap();
    refused(&folder, "put a.h5 /wide 1 9223372036854775809", "it would become another whole number");
    refused(&folder, "put a.h5 /wide 18446744073709551615 1", "it would become another whole number");
    done(&folder, "put a.h5 /wide 9223372036854775808 1.5");
    // Just above the middle of two neighbours: the nearest double is the middle.
    done(&folder, "put a.h5 /float 1.0000000596046447753906250001 1.00000005960464477539062499999");
    done(&folder, "put a.h5 /half 1.00048828125000000000000000001 1.00048828124999999999999999999");
    let file = File::open(folder.path("a.h5")).unwrap();
    let read = |name: &str| file.dataset(name).unwrap().read::<f64>().unwrap();
    assert_eq!(read("wide"), [9223372036854775808.0, 1.5]);
    assert_eq!(read("float"), [1.0 + f64::from(f32::EPSILON), 1.0]);
    assert_eq!(read("half"), [1.0 + 1.0 / 1024.0, 1.0]);
}
