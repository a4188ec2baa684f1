//! Every command on files that are not as they should be: each ends, with an exit code that tells the truth and without a raw control
//! character; and what is written of them is whole or named.
//!
//! The files are not in the repository. They are looked for in `$HYPERSLAB_CORPUS`, then in `../shared/corpus` beside the workspace.
#![cfg(target_os = "linux")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::common::{COMMAND, Folder, text};

fn malformed() -> Vec<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let corpus = std::env::var_os("HYPERSLAB_CORPUS").map_or(beside, PathBuf::from);
    let Ok(entries) = fs::read_dir(corpus.join("malformed")) else { return Vec::new() };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// Runs a command on a file, and looks at everything that holds whatever the file is.
fn run(words: &[&str], file: &Path, more: &[&Path], codes: &[i32]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["60", COMMAND]).args(words).arg(file).args(more);
    let output = command.output().unwrap();
    let (told, complaint) = (text(&output.stdout), text(&output.stderr));
    let what = format!("{words:?} {}: {:?} {complaint}", file.display(), output.status);
    assert!(output.status.code().is_some_and(|code| codes.contains(&code)), "{what}");
    assert!(!complaint.contains("panicked"), "{what}");
    assert_eq!(output.status.code() == Some(2), complaint.contains("error:") && codes.contains(&2), "{what}");
    assert!(output.status.code() != Some(1) || !complaint.is_empty() || codes.contains(&2), "{what}");
    for letter in told.chars().chain(complaint.chars()) {
        assert!(letter == '\n' || !letter.is_control() && !('\u{202a}'..='\u{202e}').contains(&letter), "{what}");
    }
    output
}

#[test]
fn every_command_ends_and_tells_the_truth() {
    let files = malformed();
    if files.is_empty() {
        return eprintln!("skipped all files: there is no corpus");
    }
    let folder = Folder::new("malformed");
    let (target, scratch) = (folder.path("new.h5"), folder.path("scratch.h5"));
    let mut damaged = 0;
    for file in &files {
        run(&["ls", "-a"], file, &[], &[0, 1]);
        run(&["ls", "-a", "--json"], file, &[], &[0, 1]);
        run(&["dump", "-a", "--limit", "50"], file, &[], &[0, 1]);
        run(&["dump", "--json", "--limit", "50"], file, &[], &[0, 1]);
        run(&["stat"], file, &[], &[0, 1]);
        run(&["check"], file, &[], &[0, 1, 2]);
        run(&["check", "--json"], file, &[], &[0, 1, 2]);
        let digest = text(&run(&["digest"], file, &[], &[0, 1]).stdout);
        run(&["diff"], file, &[file], &[0, 1, 2]);

        let packed = run(&["repack"], file, &[&target], &[0, 1]);
        let whole = packed.status.success();
        assert_eq!(target.exists(), whole, "{}", file.display());
        if whole {
            assert!(!digest.contains("\"kind\": \"error\""), "{} has lost objects", file.display());
            fs::remove_file(&target).unwrap();
        }
        assert!(folder.names().is_empty(), "{}: {:?}", file.display(), folder.names());
        let packed = run(&["repack", "--skip-damaged"], file, &[&target], &[0, 1, 3]);
        assert_eq!(target.exists(), packed.status.code() != Some(1), "{}", file.display());
        assert_eq!(packed.status.code() == Some(0), whole, "{}", file.display());
        if packed.status.code() == Some(3) {
            damaged += 1;
            assert!(text(&packed.stderr).contains("left out: "), "{}", file.display());
            let checked = run(&["check"], &target, &[], &[0, 1, 2]);
            assert!(checked.status.success(), "{}: {}", file.display(), text(&checked.stdout));
        }
        let _ = fs::remove_file(&target);

        let copied = run(&["copy"], file, &[Path::new(&format!("{}:/copy", target.display()))], &[0, 1]);
        assert_eq!(target.exists(), copied.status.success(), "{}", file.display());
        let _ = fs::remove_file(&target);

        fs::copy(file, &scratch).unwrap();
        run(&["put"], &scratch, &[Path::new("/of/the/test"), Path::new("7")], &[0, 1]);
        run(&["clear"], &scratch, &[], &[0, 1]);
        fs::remove_file(&scratch).unwrap();
        assert!(folder.names().is_empty(), "{}: {:?}", file.display(), folder.names());
    }
    println!("{} files, of which {damaged} are written in part", files.len());
}
