//! Files whose raw data, external link or virtual source is a pipe that no process writes: every command ends at once, with the exit code of
//! `docs/exit-codes.md`, and names the pipe where it needs what is behind it.
#![cfg(target_os = "linux")]

use hyperslab::{
    File,
    space::{Op, Slab, Space, UNLIMITED},
};
use std::{
    fs,
    process::{Command, Output},
};

use crate::common::{COMMAND, Folder, text};

/// The name of the pipe: such that no word of an error holds it.
const PIPE: &str = "fifo-7f3a";

/// The files, and a copy of each: no two of them are the same file.
const FILES: [&str; 4] = ["raw", "link", "virtual", "growing"];

/// Commands on a file `A`, with a copy `B` of it, and their exit codes for each of `FILES`. A virtual dataset that grows with its source has no
/// extent without it; in all other files, only values and what is behind the link are missing.
const COMMANDS: [(&str, [i32; 4]); 21] = [
    ("ls -a A", [0, 0, 0, 1]),
    ("ls --json A", [0, 0, 0, 1]),
    ("ls A /x", [0, 1, 0, 1]),
    ("stat A", [0, 0, 0, 1]),
    ("stat --json A", [0, 0, 0, 1]),
    ("dump -a A", [1, 0, 1, 1]),
    ("dump --json A", [1, 0, 1, 1]),
    ("dump A /x", [1, 1, 1, 1]),
    ("dump --slice 1:3 A /x", [1, 1, 1, 1]),
    ("digest A", [0, 0, 0, 0]),
    ("diff A B", [2, 0, 2, 2]),
    ("diff --json A B", [2, 0, 2, 2]),
    ("diff A plain.h5", [2, 1, 2, 2]),
    ("diff plain.h5 A", [2, 1, 2, 2]),
    ("check A", [0, 0, 0, 0]),
    ("copy A new.h5:/all", [0, 0, 0, 1]),
    ("copy A:/x new.h5:/x", [0, 1, 0, 1]),
    ("copy --expand-external A new.h5:/all", [0, 0, 0, 1]),
    ("repack A new.h5", [0, 0, 0, 1]),
    ("repack --layout chunked A new.h5", [0, 0, 0, 1]),
    ("repack --skip-damaged A new.h5", [0, 0, 0, 3]),
];

fn make(folder: &Folder) {
    let all = Space::simple(&[4]).unwrap();
    let mut endless = Space::with_max(&[4], &[None]).unwrap();
    endless.select_hyperslab(Op::Set, &[Slab::new(0, 1, UNLIMITED, 1)]).unwrap();
    for name in FILES {
        let file = File::create(folder.path(&format!("{name}.h5"))).unwrap();
        let root = file.root().unwrap();
        let new = root.new_dataset::<i32>().shape([4]);
        let made = match name {
            "raw" => new.external([(PIPE, 0, Some(16))]).create("x").map(drop),
            "virtual" => new.virtual_source(&all, PIPE, "/x", &all).create("x").map(drop),
            "growing" => new.max_shape([None]).virtual_source(&endless, PIPE, "/x", &endless).create("x").map(drop),
            _ => root.external_link("x", PIPE, "/x"),
        };
        made.unwrap();
        file.close().unwrap();
        // Values get a file when a program says that they are in it.
        let _ = fs::remove_file(folder.path(PIPE));
        fs::copy(folder.path(&format!("{name}.h5")), folder.path(&format!("{name}-copy.h5"))).unwrap();
    }
    let file = File::create(folder.path("plain.h5")).unwrap();
    file.root().unwrap().new_dataset::<i32>().write("x", &[1, 2, 3, 4]).unwrap();
    file.close().unwrap();
    assert!(Command::new("mkfifo").arg(folder.path(PIPE)).status().unwrap().success());
}

/// Runs the command for ten seconds at most; `timeout` then ends it with 124.
fn run(folder: &Folder, words: &str) -> Output {
    let mut command = Command::new("timeout");
    command.args(["-k", "1", "10", COMMAND]).args(words.split(' ')).current_dir(&folder.0).output().unwrap()
}

#[test]
fn every_command_ends_and_names_the_pipe() {
    let folder = Folder::new("pipes");
    make(&folder);
    let (before, mut wrong) = (folder.names(), Vec::new());
    for (words, codes) in COMMANDS {
        for (name, code) in FILES.into_iter().zip(codes) {
            let words = words.replace('A', &format!("{name}.h5")).replace('B', &format!("{name}-copy.h5"));
            let output = run(&folder, &words);
            let (told, complaint) = (text(&output.stdout), text(&output.stderr));
            let what = format!("{words}: {:?}, not {code}\n{told}{complaint}", output.status.code());
            // What cannot be read is named on standard error, or in the place of the object.
            let is_named = told.contains(PIPE) || complaint.contains(PIPE);
            let is_needed =
                (code != 0 && !(name == "link" && words.starts_with("diff"))) || words.starts_with("digest");
            let is_there = folder.path("new.h5").exists();
            let has_target = words.contains("new.h5") && code != 1;
            if output.status.code() != Some(code) || is_needed && !is_named || is_there != has_target {
                wrong.push(what);
            }
            let _ = fs::remove_file(folder.path("new.h5"));
            assert_eq!(folder.names(), before, "{words}");
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The pipe itself as the file of a command.
#[test]
fn a_pipe_is_no_file_of_a_command() {
    let folder = Folder::new("pipe-itself");
    make(&folder);
    for (words, code) in [
        ("ls A", 1),
        ("stat A", 1),
        ("dump A", 1),
        ("digest A", 1),
        ("diff A plain.h5", 2),
        ("diff plain.h5 A", 2),
        ("check A", 2),
        ("clear A", 1),
        ("copy A new.h5:/all", 1),
        ("copy plain.h5 A:/all", 1),
        ("repack A new.h5", 1),
        ("repack plain.h5 A", 1),
        ("put A /x 1", 1),
    ] {
        let output = run(&folder, &words.replace('A', PIPE));
        let complaint = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{words}: {complaint}");
        assert!(complaint.contains(PIPE), "{words}: {complaint}");
        assert!(!folder.path("new.h5").exists(), "{words}");
    }
}
