//! How commands end when their output fails, or the disk is full: exit codes tell the truth, and there is no part of a file.
#![cfg(target_os = "linux")]

use hyperslab::File;
use std::{
    fs::{self, OpenOptions},
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use crate::common::{COMMAND, Folder, command, digest, run, sample, text};

/// Commands that print, and their exit code when the output cannot be written.
const PRINTING: [(&str, i32); 17] = [
    ("ls a.h5", 1),
    ("ls --json a.h5", 1),
    ("dump a.h5", 1),
    ("dump --json a.h5", 1),
    ("select 6x10 1:4,::2", 1),
    ("select --json 6x10 1:4,::2", 1),
    ("diff a.h5 b.h5", 2),
    ("diff --json a.h5 b.h5", 2),
    ("stat a.h5", 1),
    ("stat --json a.h5", 1),
    ("check a.h5", 2),
    ("check --json a.h5", 2),
    ("clear a.h5", 1),
    ("digest a.h5", 1),
    ("--help", 1),
    ("help put", 1),
    ("--version", 1),
];

/// Commands that say on standard output what they have written.
const WRITING: [&str; 4] =
    ["put a.h5 /mask 4 5 6", "copy a.h5 c.h5:/all", "repack a.h5 d.h5", "repack --json a.h5 e.h5"];

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    sample(&folder.path("a.h5"));
    sample(&folder.path("b.h5"));
    assert_eq!(run(&folder, "put b.h5 /mask 7 8 9").status.code(), Some(0));
    folder
}

#[test]
fn a_reader_that_went_away() {
    let folder = folder("pipe");
    for words in PRINTING.iter().map(|(words, _)| words).chain(&WRITING) {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command(&folder, words).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(141), "{words}: {}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "", "{words}");
    }
    // An error that has nothing to do with the output stays one.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(command(&folder, "ls missing.h5").stdout(writer).output().unwrap().status.code(), Some(1));
}

/// Far more output than a pipe holds: the command is still writing when its reader leaves, and may have found everything equal until then.
#[test]
fn a_reader_that_leaves_after_a_line() {
    let folder = Folder::new("pipe-line");
    for (name, more) in [("a.h5", 0), ("b.h5", 1)] {
        let file = File::create(folder.path(name)).unwrap();
        let root = file.root().unwrap();
        for nth in 0..2_000 {
            let values = [nth + more, nth, nth + more, nth];
            root.new_dataset::<i32>().write(format!("a dataset with a long name, number {nth}"), &values).unwrap();
        }
        root.new_dataset::<i32>().write("much", &vec![more; 200_000]).unwrap();
        file.close().unwrap();
    }
    for words in [
        "ls a.h5",
        "ls --json a.h5",
        "dump a.h5",
        "dump --json a.h5",
        "dump a.h5 /much",
        "diff a.h5 b.h5",
        "diff --json a.h5 b.h5",
        "digest a.h5",
    ] {
        let mut child = command(&folder, words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        // One byte at a time, so that the rest stays in the pipe.
        let mut reader = BufReader::with_capacity(1, child.stdout.take().unwrap());
        reader.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "{words}: {line}");
        drop(reader);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(141), "{words}: {}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "", "{words}");
    }
}

#[test]
fn an_output_that_is_full() {
    let folder = folder("full-output");
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    for (words, code) in PRINTING.iter().copied().chain(WRITING.map(|words| (words, 1))) {
        let output = command(&folder, words).stdout(full()).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{words}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("cannot write to standard output"), "{words}: {}", text(&output.stderr));
    }
    // What was done stays done.
    assert_eq!(digest(&folder, "d.h5"), digest(&folder, "a.h5"));
    // Complaints that cannot be told change nothing.
    for (words, code) in [("ls missing.h5", 1), ("diff a.h5 missing.h5", 2), ("ls", 2), ("diff a.h5 b.h5", 1)] {
        let output = command(&folder, words).stderr(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{words}");
    }
}

#[test]
fn a_disk_that_is_full() {
    let folder = folder("full-disk");
    let before = (fs::read(folder.path("a.h5")).unwrap(), digest(&folder, "a.h5"), folder.names());
    let values = "7 ".repeat(20_000);
    for signal in ["trap '' XFSZ;", ""] {
        for words in [
            "repack a.h5 new.h5",
            "repack --skip-damaged a.h5 new.h5",
            "copy a.h5 new.h5:/all",
            "copy a.h5 b.h5:/all",
            "put new.h5 /numbers -",
            "put b.h5 /numbers -",
            "demo --images 1 --keep new.h5",
        ] {
            let beginning = digest(&folder, "b.h5");
            // 16 KiB, in units of 512 bytes.
            let limited = format!("{signal} ulimit -f 32; exec \"$0\" {words}");
            let mut command = Command::new("sh");
            command.args(["-c", &limited, COMMAND]).current_dir(&folder.0).stdin(Stdio::piped());
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            // A command that does not read them may be gone.
            let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), values.as_bytes());
            let output = child.wait_with_output().unwrap();
            let complaint = text(&output.stderr);
            if signal.is_empty() {
                assert_eq!(output.status.code(), None, "{words}: {complaint}");
            } else {
                assert_eq!(output.status.code(), Some(1), "{words}: {complaint}");
                assert!(complaint.contains("error:") && !complaint.contains("panicked"), "{words}: {complaint}");
                assert_eq!(folder.names(), before.2, "{words}");
            }
            assert!(!folder.path("new.h5").exists(), "{words}");
            folder
                .names()
                .iter()
                .filter(|name| name.starts_with('.'))
                .for_each(|name| fs::remove_file(folder.path(name)).unwrap());
            if digest(&folder, "b.h5").is_none() {
                let cleared = run(&folder, "clear b.h5");
                assert!(cleared.status.success(), "{words}: {}{}", text(&cleared.stdout), text(&cleared.stderr));
            }
            assert_eq!(digest(&folder, "b.h5"), beginning, "{words}");
        }
    }
    assert_eq!(fs::read(folder.path("a.h5")).unwrap(), before.0);
}
