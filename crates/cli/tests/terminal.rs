//! Names and values of a hostile file, on a terminal, in a pipe and as JSON: nothing moves the cursor, forges a line or turns text around.
#![cfg(target_os = "linux")]

use hyperslab::{
    File, Group,
    dtype::{Charset, Datatype},
    space::Space,
};
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::common::{COMMAND, Folder, text};

/// Sets the title, clears the screen, moves the cursor, begins a line, turns text around, hides text.
const EVIL: &str = "e\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}1A\r\nFORGED\u{202e}\u{2066}\u{200b}\u{7f}";

/// What may not reach a terminal.
const RAW: [&str; 9] =
    ["\u{1b}]", "\u{1b}[2J", "\u{9b}", "\u{7}", "\nFORGED", "\u{202e}", "\u{2066}", "\u{200b}", "\u{7f}"];

fn hostile(path: &Path) -> u64 {
    let file = File::create(path).unwrap();
    let root = file.root().unwrap();
    let name = |prefix: &str| format!("{prefix}{EVIL}");
    let group = root.create_group(name("group")).unwrap();
    group.set_attribute(name("attribute"), EVIL).unwrap();
    group.set_comment(Some(EVIL)).unwrap();
    group.new_dataset::<String>().write(name("text"), &[EVIL.to_owned()]).unwrap();
    let base = Datatype::compound([(name("member"), Datatype::var_string(Charset::Utf8))]).unwrap();
    group.new_dataset_of(base).shape([2]).create(name("compound")).unwrap();
    let kinds = Datatype::enumeration(<u8 as hyperslab::Storable>::datatype().unwrap(), [(name("kind"), 0)]).unwrap();
    group.new_dataset_of(kinds).shape([2]).create(name("enum")).unwrap();
    group.soft_link(name("soft"), format!("/{EVIL}")).unwrap();
    group.external_link(name("external"), EVIL, format!("/{EVIL}")).unwrap();
    elsewhere(&group);
    let damaged = root.new_dataset::<i32>().write(name("damaged"), &[1, 2, 3]).unwrap().address();
    file.close().unwrap();
    damaged
}

/// Values in other files, one of which is there, and in datasets of other files.
fn elsewhere(group: &Group) {
    let name = |prefix: &str| format!("{prefix}{EVIL}");
    let raw = |file: String| group.new_dataset::<u8>().shape([4]).external([(file, 0, Some(4))]);
    raw(name("raw")).create(name("external storage")).unwrap().write(&[1u8, 2, 3, 4]).unwrap();
    raw(name("missing")).create(name("missing storage")).unwrap();
    let all = Space::simple(&[4]).unwrap();
    let sources = [("source", name("source")), ("pipe", name("pipe")), ("itself", ".".into())];
    for (prefix, file) in sources {
        let new = group.new_dataset::<u8>().shape([4]);
        let new = new.virtual_source(&all, file, format!("/{EVIL}/{EVIL}"), &all);
        new.create(name(prefix)).unwrap();
    }
}

fn commands(file: &str) -> Vec<Vec<String>> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let mut all = vec![
        words(&["ls", "-a", file]),
        words(&["dump", "-a", file]),
        words(&["dump", "-a", "--brief", file]),
        words(&["stat", file]),
        words(&["check", "--lost", file]),
        words(&["clear", file]),
        words(&["diff", file, "plain.h5"]),
        words(&["diff", "plain.h5", file]),
        words(&["ls", file, EVIL]),
        words(&["dump", file, &format!("/group{EVIL}/{EVIL}")]),
        words(&["dump", file, &format!("/group{EVIL}/missing storage{EVIL}"), &format!("/group{EVIL}/source{EVIL}")]),
        words(&["ls", file, &format!("/group{EVIL}/pipe{EVIL}")]),
        words(&["diff", "whole.h5", file]),
        words(&["repack", file, &format!("new{EVIL}.h5")]),
        words(&["repack", "--skip-damaged", file, &format!("part{EVIL}.h5")]),
        words(&["copy", file, &format!("copy{EVIL}.h5:/{EVIL}")]),
        words(&["put", file, &format!("/{EVIL}"), EVIL]),
        words(&["put", file, &format!("/group{EVIL}/text{EVIL}"), "1", "2"]),
        words(&["new", file]),
        words(&["ls", EVIL]),
        words(&["ls", &format!("--{EVIL}")]),
        words(&["select", "6x10", EVIL]),
    ];
    let json = [
        words(&["ls", "-a", "--json", file]),
        words(&["dump", "-a", "--json", file]),
        words(&["stat", "--json", file]),
    ];
    all.extend(json);
    all.extend([
        words(&["check", "--json", "--lost", file]),
        words(&["diff", "--json", "plain.h5", file]),
        words(&["digest", file]),
    ]);
    all
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn clean(words: &[String], told: &str) {
    for raw in RAW {
        assert!(!told.contains(raw), "{words:?} shows {raw:?}:\n{told:?}");
    }
}

fn folder(name: &str) -> (Folder, Vec<String>) {
    let folder = Folder::new(name);
    let file = format!("hostile{EVIL}.h5");
    let damaged = hostile(&folder.path(&file));
    // What the files name is missing, is a pipe, or is no HDF5 file.
    fs::remove_file(folder.path(&format!("missing{EVIL}"))).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path(&format!("pipe{EVIL}"))).status().unwrap().success());
    fs::write(folder.path(&format!("source{EVIL}")), EVIL).unwrap();
    let mut bytes = fs::read(folder.path(&file)).unwrap();
    fs::write(folder.path("whole.h5"), &bytes).unwrap();
    // The version of an object header.
    bytes[damaged as usize] = 99;
    fs::write(folder.path(&file), bytes).unwrap();
    File::create(folder.path("plain.h5")).unwrap().close().unwrap();
    (folder, vec![file, "whole.h5".into()])
}

#[test]
fn in_a_pipe() {
    let (folder, files) = folder("hostile-pipe");
    for words in files.iter().flat_map(|file| commands(file)) {
        let output = Command::new(COMMAND).args(&words).current_dir(&folder.0).output().unwrap();
        let (told, complaint) = (text(&output.stdout), text(&output.stderr));
        clean(&words, &told);
        clean(&words, &complaint);
        for letter in told.chars().chain(complaint.chars()) {
            assert!(letter == '\n' || !letter.is_control(), "{words:?}: {told}{complaint}");
        }
        if words.iter().any(|word| word == "--json" || word == "digest") && words[0] != "repack" {
            for line in told.lines() {
                let parsed: serde_json::Value = serde_json::from_str(line).unwrap();
                assert!(parsed.is_object());
            }
        }
    }
}

/// JSON says the same as the file: its escapes are those of JSON.
#[test]
fn json_keeps_every_letter() {
    let (folder, _) = folder("hostile-json");
    let output = Command::new(COMMAND).args(["ls", "--json", "whole.h5"]).current_dir(&folder.0).output().unwrap();
    let paths: Vec<String> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["path"].as_str().unwrap().to_owned())
        .collect();
    assert!(paths.contains(&format!("/group{EVIL}/text{EVIL}")), "{paths:?}");
}

#[test]
fn on_a_terminal() {
    if Command::new("script").arg("--version").stdout(Stdio::null()).status().is_err() {
        return eprintln!("skipped: there is no `script` to make a terminal");
    }
    let (folder, files) = folder("hostile-terminal");
    for words in files.iter().flat_map(|file| commands(file)) {
        let line = std::iter::once(COMMAND.to_owned()).chain(words.iter().cloned());
        let line = line.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ");
        let mut terminal = Command::new("script");
        terminal.args(["-qec", &line, "/dev/null"]).current_dir(&folder.0).env("TERM", "xterm").stdin(Stdio::null());
        clean(&words, &text(&terminal.output().unwrap().stdout));
    }
}
