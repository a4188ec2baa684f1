//! A disk that gets full: what was flushed stays, and what is deleted makes room.
//!
//! `HYPERSLAB_FULL` says how many times, each with another size of the disk.

use std::{
    any::Any,
    collections::HashMap,
    io,
    ops::Range,
    path::PathBuf,
    process::Command,
    sync::{Arc, Mutex},
};

use fastrand::Rng;
use hyperslab::{
    CacheConfig, Dataset, File, LibVersion, OpenOptions,
    driver::{CtlFlags, CtlOp, CtlReply, Driver, Error, Operation, Result, Transfer, Why},
};

const PAGE: usize = 512;
const VALUES: usize = 6000;
const LOWS: [LibVersion; 4] = [LibVersion::Earliest, LibVersion::V18, LibVersion::V110, LibVersion::V114];

fn times() -> u64 {
    hyperslab_workshop::cases("HYPERSLAB_FULL", 4)
}

/// A disk of so many pages, which a file takes as it writes them and can give back.
struct Disk(Mutex<Pages>);

struct Pages {
    pages: HashMap<u64, [u8; PAGE]>,
    most: usize,
    len: u64,
}

impl Disk {
    fn new(most: usize) -> Arc<Disk> {
        Arc::new(Disk(Mutex::new(Pages { pages: HashMap::new(), most, len: 0 })))
    }
}

/// The pages of a range, and which bytes of each.
fn parts(addr: u64, len: usize) -> impl Iterator<Item = (u64, Range<usize>, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = addr + done as u64;
        let (page, from) = (at / PAGE as u64, (at % PAGE as u64) as usize);
        let now = (PAGE - from).min(len - done);
        let part = (now > 0).then_some((page, from..from + now, done));
        done += now;
        part
    })
}

impl Driver for Disk {
    fn read_at(&self, addr: u64, buf: &mut [u8], _: &Transfer) -> Result<()> {
        let disk = self.0.lock().unwrap();
        if addr + buf.len() as u64 > disk.len {
            let why = Why::PastEnd { end: disk.len };
            return Err(Error::new("disk", Operation::Read, addr, buf.len() as u64, why));
        }
        for (page, range, at) in parts(addr, buf.len()) {
            let count = range.len();
            let zeros = [0; PAGE];
            buf[at..at + count].copy_from_slice(&disk.pages.get(&page).unwrap_or(&zeros)[range]);
        }
        Ok(())
    }

    fn write_at(&self, addr: u64, buf: &[u8], _: &Transfer) -> Result<()> {
        let mut disk = self.0.lock().unwrap();
        for (page, range, at) in parts(addr, buf.len()) {
            if !disk.pages.contains_key(&page) && disk.pages.len() == disk.most {
                let why = Why::Io(io::ErrorKind::StorageFull.into());
                return Err(Error::new("disk", Operation::Write, addr, buf.len() as u64, why));
            }
            let count = range.len();
            disk.pages.entry(page).or_insert([0; PAGE])[range].copy_from_slice(&buf[at..at + count]);
            disk.len = disk.len.max(addr + (at + count) as u64);
        }
        Ok(())
    }

    fn len(&self, _: &Transfer) -> Result<u64> {
        Ok(self.0.lock().unwrap().len)
    }

    fn set_len(&self, len: u64, _: &Transfer) -> Result<()> {
        let mut disk = self.0.lock().unwrap();
        disk.len = len;
        disk.pages.retain(|page, _| page * (PAGE as u64) < len);
        if let Some(last) = disk.pages.get_mut(&(len / PAGE as u64)) {
            last[(len % PAGE as u64) as usize..].fill(0);
        }
        Ok(())
    }

    fn sync(&self, _: &Transfer) -> Result<()> {
        Ok(())
    }

    fn ctl(&self, op: CtlOp, _: CtlFlags, input: Option<&dyn Any>) -> Result<CtlReply> {
        let Some(range) = input.and_then(|input| input.downcast_ref::<Range<u64>>()).filter(|_| op == CtlOp::DISCARD)
        else {
            return Ok(CtlReply::Ignored);
        };
        let mut disk = self.0.lock().unwrap();
        for (page, range, _) in parts(range.start, (range.end - range.start) as usize) {
            match range.len() {
                PAGE => drop(disk.pages.remove(&page)),
                _ => disk.pages.get_mut(&page).into_iter().for_each(|page| page[range.clone()].fill(0)),
            }
        }
        Ok(CtlReply::Done)
    }
}

/// A file system of its own, of so many bytes, if this process may make one.
struct Mounted(PathBuf);

impl Mounted {
    fn new(bytes: usize) -> Option<Mounted> {
        let at = std::env::temp_dir().join(format!("hyperslab-full-{}-{bytes}", std::process::id()));
        std::fs::create_dir_all(&at).unwrap();
        let options = format!("size={bytes}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "hyperslab"]).arg(&at).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Mounted(at));
        }
        std::fs::remove_dir(&at).unwrap();
        println!("skipped: only root can mount a small file system");
        None
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        assert!(Command::new("umount").arg(&self.0).status().unwrap().success());
        std::fs::remove_dir(&self.0).unwrap();
    }
}

/// How a file is opened: a new one, or the one that is there.
type Open<'a> = &'a dyn Fn(bool) -> hyperslab::Result<File>;

fn options(new: bool, low: LibVersion) -> OpenOptions {
    let cache = CacheConfig::default().bytes(64 << 10);
    let options = OpenOptions::new().libver_min(low).cache(cache);
    if new { options.create().truncate() } else { options.read_write() }
}

fn values(nth: usize) -> Vec<i32> {
    let mut rng = Rng::with_seed(nth as u64);
    (0..VALUES).map(|_| rng.i32(..)).collect()
}

fn name(nth: usize) -> String {
    format!("group{}/set{nth}", nth % 2)
}

fn put(file: &File, nth: usize) -> hyperslab::Result<Dataset> {
    let new = file.root()?.new_dataset::<i32>().shape([VALUES as u64]);
    let new = match nth % 3 {
        0 => new.contiguous(),
        1 => new.chunks([500]).deflate(1),
        _ => new.max_shape([None]).chunks([700]),
    };
    let dataset = new.create(name(nth))?;
    dataset.new_attribute::<i32>().write("nth", &[nth as i32])?;
    dataset.write(&values(nth))?;
    Ok(dataset)
}

fn assert_whole(file: &File, wanted: &[usize]) {
    for nth in wanted {
        let dataset = file.dataset(name(*nth)).unwrap_or_else(|why| panic!("{}: {why}", name(*nth)));
        assert!(dataset.read::<i32>().unwrap() == values(*nth), "{}", name(*nth));
    }
}

/// Fills the disk, deletes, and goes on.
fn fill(open: Open<'_>, label: &str) {
    let file = open(true).unwrap();
    file.root().unwrap().create_group("group0").unwrap();
    file.root().unwrap().create_group("group1").unwrap();
    file.flush().unwrap();
    let mut kept = Vec::new();
    let why = loop {
        let nth = kept.len();
        match put(&file, nth).and_then(|_| file.flush()) {
            Ok(()) => kept.push(nth),
            Err(why) => break why,
        }
    };
    assert!(kept.len() > 5, "{label}: {why}");
    let (full, failed) = (kept.len(), name(kept.len()));
    // What failed in the middle is not there when the file is opened again; everything else may go on with this handle.
    let mut file = Some(file);
    if file.as_ref().unwrap().root().unwrap().create_group("probe").is_err() {
        drop(file.take());
        let again = open(false).unwrap_or_else(|why| panic!("{label}: a full disk cannot be opened: {why}"));
        file = Some(again);
    }
    let file = file.unwrap();
    assert_whole(&file, &kept);
    for nth in [1, 0, 2] {
        file.root().unwrap().delete(name(nth)).unwrap();
        kept.retain(|other| *other != nth);
        let flushed = file.flush();
        // The dataset that did not fit may still wait for more room than one gave back.
        assert!(flushed.is_ok() || nth != 2, "{label}: {:?}", flushed.map_err(|why| why.to_string()));
    }
    assert_whole(&file, &kept);
    file.close().unwrap_or_else(|why| panic!("{label}: {why}"));
    // Again, by a program that finds the disk full.
    let file = open(false).unwrap();
    assert_whole(&file, &kept);
    let mut nth = full + 1;
    while put(&file, nth).and_then(|_| file.flush()).is_ok() {
        kept.push(nth);
        nth += 1;
    }
    let more = kept.len();
    // What did not fit goes with something that is there, and the file can be closed.
    let _ = file.root().unwrap().delete(name(nth));
    file.root().unwrap().delete(name(5)).unwrap();
    kept.retain(|other| *other != 5);
    file.close().unwrap_or_else(|why| panic!("{label}: {why}"));
    let file = open(false).unwrap_or_else(|why| panic!("{label}: a full disk cannot be opened: {why}"));
    assert_whole(&file, &kept);
    for nth in [3, 4] {
        file.root().unwrap().delete(name(nth)).unwrap();
        file.flush().unwrap_or_else(|why| panic!("{label}: set{nth} is deleted: {why}"));
        kept.retain(|other| *other != nth);
    }
    put(&file, nth + 1).unwrap();
    kept.push(nth + 1);
    file.flush().unwrap_or_else(|why| panic!("{label}: there is room again: {why}"));
    file.close().unwrap();
    assert_whole(&open(false).unwrap(), &kept);
    println!("{label}: {full} datasets, then {more}; {failed} did not fit: {why}");
}

#[test]
fn deleting_makes_room_on_a_full_disk() {
    for low in LOWS {
        for seed in 0..times() {
            let pages = Rng::with_seed(seed).usize(400..1000);
            let disk = Disk::new(pages);
            let open = |new: bool| options(new, low).open_on(disk.clone());
            fill(&open, &format!("{low:?}, {pages} pages"));
        }
    }
}

#[test]
fn deleting_makes_room_on_a_full_file_system() {
    for low in LOWS {
        for seed in 0..times().min(50) {
            let bytes = Rng::with_seed(seed + 1000).usize(60..200) * 4096;
            let Some(mounted) = Mounted::new(bytes) else { return };
            let open = |new: bool| options(new, low).open(mounted.0.join("full.h5"));
            fill(&open, &format!("{low:?}, {bytes} bytes"));
        }
    }
}
