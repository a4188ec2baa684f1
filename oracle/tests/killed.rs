//! A process that writes is killed at a random moment: what it had flushed is read by us at once, and by libhdf5 when the mark is cleared.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use hyperslab::{File, check};
use hyperslab_oracle::Oracle;
use hyperslab_oracle::changes::{LOWS, Model, Operation, Steps, Window, look, open, perform, their_look};
use std::io::{BufRead, BufReader, Write, stdout};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The file that a writer shall write, its format and the seed of its program.
const WRITER: &str = "HYPERSLAB_KILLED_WRITER";
/// The oldest formats, and those whose structures came later.
const FORMATS: [usize; 4] = [0, 1, 2, 5];

/// The process that is killed: says what it begins and what it has flushed. A test of its own does nothing.
#[test]
fn writer() {
    let Ok(wanted) = std::env::var(WRITER) else { return };
    let mut words = wanted.splitn(3, ' ');
    let mut number = || words.next().unwrap().parse::<u64>().unwrap();
    let (low, seed) = (number() as usize, number());
    let file = open(Path::new(words.next().unwrap()), LOWS[low].0, Some(Default::default())).unwrap();
    for (nth, (operation, _)) in Steps::new(seed).enumerate() {
        writeln!(stdout(), "\nbegin {nth}").unwrap();
        perform(&file, &operation).unwrap();
        if matches!(operation, Operation::Flush) {
            writeln!(stdout(), "\nflushed {nth}").unwrap();
        }
    }
}

/// Starts a writer, and kills it some time after it has flushed something: which operations were begun and flushed last.
fn killed(path: &Path, low: usize, seed: u64, patience: Duration) -> (usize, usize) {
    let mut writer = Command::new(std::env::current_exe().unwrap());
    writer.args(["--exact", "writer", "--nocapture"]).env(WRITER, format!("{low} {seed} {}", path.display()));
    let mut writer = writer.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let (mut begun, mut flushed, mut killer) = (None, None, None);
    for line in lines.map_while(Result::ok) {
        match line.split_once(' ') {
            Some(("begin", nth)) => begun = nth.parse::<usize>().ok(),
            Some(("flushed", nth)) => {
                flushed = nth.parse::<usize>().ok();
                let id = writer.id();
                killer.get_or_insert_with(|| {
                    std::thread::spawn(move || {
                        std::thread::sleep(patience);
                        Command::new("kill").args(["-KILL", &id.to_string()]).status().unwrap()
                    })
                });
            }
            _ => {}
        }
    }
    assert!(killer.expect("it flushed").join().unwrap().success());
    assert!(!writer.wait().unwrap().success(), "the program has no end");
    (flushed.unwrap(), begun.unwrap())
}

#[test]
fn what_a_killed_process_flushed_is_there() {
    let mut oracle = Oracle::start_script("changes.py").unwrap();
    let times = std::env::var("HYPERSLAB_KILLS").ok().and_then(|value| value.parse().ok()).unwrap_or(3);
    let path = std::env::temp_dir().join(format!("hyperslab-killed-{}.h5", std::process::id()));
    let (mut random, mut kills, mut marked) = (fastrand::Rng::with_seed(1), 0, 0);
    for (seed, low) in (1..=times).flat_map(|seed| FORMATS.map(|low| (seed, low))) {
        let (flushed, begun) = killed(&path, low, seed, Duration::from_millis(random.u64(..250)));
        let models: Vec<Model> = Steps::new(seed).take(begun + 1).map(|(_, model)| model).collect();
        let window = Window::new(&models[flushed..]);
        let what = format!("{}, seed {seed}, operations {flushed} to {begun}", LOWS[low].1);
        let seen = look(&File::open(&path).expect(&what), true).expect(&what);
        assert_eq!(window.wrong(&seen), None, "{what}");
        kills += 1;
        marked += usize::from(check::clear(&path, false).expect(&what) != check::Marks::default());
        if let Some(oracle) = &mut oracle {
            let seen = their_look(oracle, &path).expect(&what);
            assert_eq!(window.wrong(&seen), None, "libhdf5, {what}");
        }
    }
    std::fs::remove_file(&path).unwrap();
    println!("{kills} writers killed, {marked} marks cleared");
}
