//! Commands that are killed at random moments: there is no target or a whole one, and a file that is changed is as before or as after.
//!
//! `HYPERSLAB_MOMENTS=50` tries more moments than the few of every run.
#![cfg(target_os = "linux")]

use std::{
    fs,
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use crate::common::{Folder, command, digest, moments, run, sample, text};

/// Runs a command, with values on its standard input, and sends it a signal after some time; its exit code if it ended by itself.
fn killed(folder: &Folder, words: &str, signal: &str, after: Duration) -> (Option<i32>, String) {
    let numbers = folder.path("numbers.txt");
    let input = fs::File::open(numbers).unwrap();
    let mut child = command(folder, words).stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id().to_string();
    let out = child.stdout.take().unwrap();
    let reading = std::thread::spawn(move || std::io::read_to_string(out).unwrap());
    sleep(after);
    // It may have ended.
    let _ = Command::new("kill").args([signal, &id]).stderr(Stdio::null()).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(!text(&output.stderr).contains("panicked"), "{words}: {}", text(&output.stderr));
    (output.status.code(), reading.join().unwrap())
}

/// Calls `judge` after each kill with the exit code and what was printed.
fn at_moments(folder: &Folder, words: &str, prepare: &dyn Fn(), judge: &dyn Fn(Option<i32>, &str)) {
    prepare();
    let begin = Instant::now();
    let (code, told) = killed(folder, words, "-0", Duration::ZERO);
    assert!(matches!(code, Some(0 | 1)), "{words}: {code:?}");
    let whole = begin.elapsed();
    judge(code, &told);
    for nth in 0..moments() {
        for signal in ["-TERM", "-KILL"] {
            prepare();
            let after = whole.mul_f64(fastrand::f64() * 1.1);
            let (code, told) = killed(folder, words, signal, after);
            println!("{words} {signal} {nth} after {after:?} of {whole:?}: {code:?}");
            judge(code, &told);
        }
    }
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    sample(&folder.path("a.h5"));
    sample(&folder.path("b.h5"));
    assert_eq!(run(&folder, "put b.h5 /mask 7 8 9").status.code(), Some(0));
    fs::write(folder.path("numbers.txt"), (0..20_000).map(|number| format!("{number} ")).collect::<String>()).unwrap();
    folder
}

#[test]
fn targets_are_whole_or_not_there() {
    let folder = folder("killed-targets");
    for words in [
        "repack a.h5 new.h5",
        "repack --skip-damaged --filter gzip:9 --layout chunked a.h5 new.h5",
        "copy a.h5 new.h5:/all",
        "put new.h5 /numbers --chunks 100 --filter gzip:9 -",
        "new new.h5",
        "demo --images 4 --pattern spots --keep new.h5",
    ] {
        assert_eq!(killed(&folder, words, "-0", Duration::ZERO).0, Some(0), "{words}");
        let wanted = digest(&folder, "new.h5").unwrap();
        let clean_up = || {
            let left = folder.names().into_iter().filter(|name| name.starts_with('.') || name == "new.h5");
            left.for_each(|name| fs::remove_file(folder.path(&name)).unwrap());
        };
        at_moments(&folder, words, &clean_up, &|code, _| {
            let is_there = folder.path("new.h5").exists();
            assert!(is_there || code != Some(0), "{words}");
            assert!(!is_there || digest(&folder, "new.h5").unwrap() == wanted, "{words}");
            if code.is_some() {
                assert!(!folder.names().iter().any(|name| name.starts_with('.')), "{words}: {:?}", folder.names());
            }
        });
        clean_up();
    }
}

#[test]
fn files_that_change_are_as_before_or_as_after() {
    let folder = folder("killed-changes");
    let before = digest(&folder, "a.h5").unwrap();
    for words in ["put c.h5 /numbers -", "put c.h5 /mask --type i64 1 2 3 4", "copy a.h5:/ c.h5:/copy", "clear c.h5"] {
        let prepare = || assert!(fs::copy(folder.path("a.h5"), folder.path("c.h5")).is_ok());
        prepare();
        assert_eq!(killed(&folder, words, "-0", Duration::ZERO).0, Some(0), "{words}");
        let after = digest(&folder, "c.h5").unwrap();
        at_moments(&folder, words, &prepare, &|code, _| {
            if digest(&folder, "c.h5").is_none() {
                assert_ne!(code, Some(0), "{words}");
                let cleared = run(&folder, "clear c.h5");
                assert!(cleared.status.success(), "{words}: {}{}", text(&cleared.stdout), text(&cleared.stderr));
            }
            let now = digest(&folder, "c.h5").unwrap();
            assert!(now == after || code != Some(0) && now == before, "{words}: {code:?}");
        });
    }
}

#[test]
fn answers_are_true_or_missing() {
    let folder = folder("killed-answers");
    for (words, wanted) in [
        ("ls -a a.h5", 0),
        ("dump a.h5", 0),
        ("dump --json a.h5", 0),
        ("stat a.h5", 0),
        ("check a.h5", 0),
        ("digest a.h5", 0),
        ("diff a.h5 b.h5", 1),
        ("diff a.h5 a.h5", 0),
        ("select 1000x1000 ::2,::2 --runs", 0),
    ] {
        let whole = text(&run(&folder, words).stdout);
        at_moments(&folder, words, &|| (), &|code, told| {
            assert!(whole.starts_with(told), "{words}");
            assert!(code.is_none() || code == Some(wanted) && told == whole, "{words}: {code:?}");
        });
    }
}
