//! A process that writes is killed at a random moment, or in the middle of a large write: what it had flushed is read by us at once, and by
//! libhdf5 when the mark is cleared.
#![cfg(unix)]

use hyperslab::driver::{Capabilities, Driver, Local, MemoryType, ReadPart, Result as Outcome, Transfer, WritePart};
use hyperslab::{Durability, File, OpenOptions, check};
use hyperslab_oracle::Oracle;
use hyperslab_oracle::changes::{LOWS, Model, Operation, Steps, Window, look, perform, their_look};
use hyperslab_workshop::cases;
use std::io::{BufRead, BufReader, Write, stdout};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The file that a writer shall write, its format, the seed of its program, its durability, and how many writes that could be torn it survives.
const WRITER: &str = "HYPERSLAB_KILLED_WRITER";
/// The oldest formats, and those whose structures came later.
const FORMATS: [usize; 4] = [0, 1, 2, 5];

/// The local driver, whose process is killed in the middle of a write that crosses the border of a page. As the local driver does, it writes
/// in the order of addresses, so all up to some border is there. Values are written as a whole.
struct Torn {
    file: Local,
    /// Whether the process may also be killed before a part of a write. A journal stays if that is before its blocks are in place.
    between: bool,
    /// How many more writes could be torn and are not.
    spare: AtomicU64,
}

impl Torn {
    /// Where a write may stop.
    fn stops(&self, parts: &[WritePart<'_>]) -> Vec<u64> {
        let parts = parts.iter().filter(|part| part.kind != MemoryType::RawData);
        let starts = parts.clone().filter(|_| self.between).map(|part| part.addr);
        let within = parts.flat_map(|part| part.addr + 1..part.addr + part.buf.len() as u64);
        starts.chain(within.filter(|at| at % 4096 == 0)).collect()
    }
}

impl Driver for Torn {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Outcome<()> {
        self.file.read_at(addr, buf, transfer)
    }

    fn read_vector(&self, parts: &mut [ReadPart<'_>], transfer: &Transfer) -> Outcome<()> {
        self.file.read_vector(parts, transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Outcome<()> {
        self.write_vector(&[WritePart { kind: transfer.kind, addr, buf }], transfer)
    }

    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Outcome<()> {
        let stops = self.stops(parts);
        if stops.is_empty() || self.spare.fetch_sub(1, Ordering::Relaxed) > 0 {
            return self.file.write_vector(parts, transfer);
        }
        let stop = stops[fastrand::usize(..stops.len())];
        let before = |part: &WritePart<'_>| part.buf.len().min(stop.saturating_sub(part.addr) as usize);
        let written: Vec<_> = parts.iter().map(|part| WritePart { buf: &part.buf[..before(part)], ..*part }).collect();
        self.file.write_vector(&written, transfer)?;
        let _ = Command::new("kill").args(["-KILL", &std::process::id().to_string()]).status();
        unreachable!("killed")
    }

    fn len(&self, transfer: &Transfer) -> Outcome<u64> {
        self.file.len(transfer)
    }

    fn set_len(&self, len: u64, transfer: &Transfer) -> Outcome<()> {
        self.file.set_len(len, transfer)
    }

    fn sync(&self, transfer: &Transfer) -> Outcome<()> {
        self.file.sync(transfer)
    }

    fn capabilities(&self) -> Capabilities {
        self.file.capabilities()
    }
}

/// The process that is killed: says what it begins and what it has flushed. A test of its own does nothing.
#[test]
fn writer() {
    let Ok(wanted) = std::env::var(WRITER) else { return };
    let mut words = wanted.splitn(5, ' ');
    let mut number = || words.next().unwrap().parse::<u64>().unwrap();
    let (low, seed, spare) = (number() as usize, number(), number());
    let durability = words.next().unwrap().parse::<Durability>().unwrap();
    let (options, path) =
        (OpenOptions::new().create().truncate().libver_min(LOWS[low].0), Path::new(words.next().unwrap()));
    let options = options.durability(durability);
    let file = match spare {
        NEVER => options.open(path).unwrap(),
        spare => {
            let file = Local::options().create(true).open(path).unwrap();
            let (between, spare) = (durability == Durability::Full, AtomicU64::new(spare));
            options.open_on(Arc::new(Torn { file, between, spare })).unwrap()
        }
    };
    for (nth, (operation, _)) in Steps::new(seed).enumerate() {
        writeln!(stdout(), "\nbegin {nth}").unwrap();
        perform(&file, &operation).unwrap();
        if matches!(operation, Operation::Flush) {
            writeln!(stdout(), "\nflushed {nth}").unwrap();
        }
    }
}

/// No write of this writer is torn by itself.
const NEVER: u64 = u64::MAX;

/// Starts a writer, and kills it some time after it has flushed something, unless it is killed by a torn write: which operations were begun and
/// flushed last.
fn killed(path: &Path, wanted: &str, patience: Duration) -> (usize, usize) {
    let mut writer = Command::new(std::env::current_exe().unwrap());
    writer.args(["--exact", "killed::writer", "--nocapture"]).env(WRITER, format!("{wanted} {}", path.display()));
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
                        Command::new("kill").args(["-KILL", &id.to_string()]).stderr(Stdio::null()).status().unwrap()
                    })
                });
            }
            _ => {}
        }
    }
    // It waits for us, so its number is not another's yet.
    killer.map(|killer| killer.join().unwrap());
    assert!(!writer.wait().unwrap().success(), "the program has no end");
    (flushed.map_or(0, |nth| nth + 1), begun.map_or(0, |nth| nth + 1))
}

/// Kills writers of all formats, so many times, and looks at what they leave; how many left a journal.
fn kill_all(name: &str, durability: impl Fn(usize) -> Durability, spare: impl Fn(&mut fastrand::Rng) -> u64) -> usize {
    let mut oracle = Oracle::start_script("changes.py").unwrap();
    let path = std::env::temp_dir().join(format!("hyperslab-killed-{name}-{}.h5", std::process::id()));
    let (mut random, mut kills, mut marked, mut journals) = (fastrand::Rng::with_seed(1), 0, 0, 0);
    for (seed, low) in (1..=times()).flat_map(|seed| FORMATS.map(|low| (seed, low))) {
        let durability = durability(kills);
        let wanted = format!("{low} {seed} {} {durability}", spare(&mut random));
        let _ = std::fs::remove_file(&path);
        let (flushed, begun) = killed(&path, &wanted, Duration::from_millis(random.u64(..250)));
        if flushed == 0 {
            continue; // the file may not be there yet
        }
        let models: Vec<Model> = Steps::new(seed).take(begun).map(|(_, model)| model).collect();
        let window = Window::new(&models[flushed - 1..]);
        let what = format!("{}, seed {seed}, {durability}, operations {flushed} to {begun}", LOWS[low].1);
        let seen = look(&File::open(&path).expect(&what), true).expect(&what);
        assert_eq!(window.wrong(&seen), None, "{what}");
        kills += 1;
        let cleared = check::clear(&path, false).expect(&what);
        marked += usize::from(cleared != check::Marks::default());
        journals += usize::from(cleared.journal);
        if let Some(oracle) = &mut oracle {
            let seen = their_look(oracle, &path).expect(&what);
            assert_eq!(window.wrong(&seen), None, "libhdf5, {what}");
        }
    }
    std::fs::remove_file(&path).unwrap();
    println!("{kills} writers killed, {marked} marks cleared, {journals} journals put in place");
    assert!(kills > 0);
    journals
}

/// Syncs take long, and a killed process does not need them.
fn sometimes_full(nth: usize) -> Durability {
    if nth % 5 == 4 { Durability::Full } else { Durability::None }
}

fn times() -> u64 {
    cases("HYPERSLAB_KILLS", 3)
}

#[test]
fn what_a_killed_process_flushed_is_there() {
    kill_all("any", sometimes_full, |_| NEVER);
}

#[test]
fn what_a_process_flushed_is_there_if_it_is_killed_in_a_write() {
    kill_all("torn", sometimes_full, |random| random.u64(1..30));
}

#[test]
fn what_a_process_flushed_is_there_if_it_leaves_a_journal() {
    let journals = kill_all("journal", |_| Durability::Full, |random| random.u64(1..30));
    assert!(journals > 0, "no writer was killed while its journal was there");
}
