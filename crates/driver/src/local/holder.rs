//! Which process holds a lock on a file, as far as the kernel tells.

use std::{fs, process};

use rustix::fs::{major, minor};

use super::FileIdentity;

/// How often the kernel's list is read before a lock counts as gone.
const READS: usize = 8;

/// The processes that hold locks on a file, in words; empty where the kernel does not tell.
///
/// The kernel gives its list out in pieces. A lock that is released between two pieces moves the others up, and one of them is in neither piece: a list
/// without the file is therefore read again.
pub(super) fn names(file: FileIdentity) -> String {
    let mut holders: Vec<u32> = (0..READS).map(|_| holders(file)).find(|found| !found.is_empty()).unwrap_or_default();
    holders.dedup();
    holders.into_iter().map(name).collect::<Vec<_>>().join(", ")
}

/// The processes that hold locks on a file in one reading of the kernel's list.
fn holders(file: FileIdentity) -> Vec<u32> {
    fs::read_to_string("/proc/locks").unwrap_or_default().lines().filter_map(|line| holder(line, file)).collect()
}

/// The process of a line of the kernel's list if it holds a lock on the file: `1: FLOCK ADVISORY WRITE 4711 fe:00:1835017 0 EOF`.
fn holder(line: &str, file: FileIdentity) -> Option<u32> {
    let mut words = line.split_whitespace().skip(1);
    // A process that waits for a lock has an arrow in front.
    if !["FLOCK", "POSIX", "OFDLCK"].contains(&words.next()?) {
        return None;
    }
    let mut words = words.skip(2);
    let (process, place) = (words.next()?, words.next()?);
    let mut parts = place.split(':');
    let mut number = |base| u64::from_str_radix(parts.next().unwrap_or_default(), base).ok();
    let found = (number(16)?, number(16)?, number(10)?);
    let wanted = (u64::from(major(file.device())), u64::from(minor(file.device())), file.inode());
    (found == wanted).then(|| process.parse().ok()).flatten()
}

/// A process in words.
fn name(process: u32) -> String {
    if process == process::id() {
        return "this process, by another library".into();
    }
    match fs::read_to_string(format!("/proc/{process}/comm")) {
        Ok(name) => format!("{} (process {process})", name.trim().escape_debug()),
        Err(_) => format!("process {process}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Local, Lock};

    #[test]
    fn the_holder_is_read_from_a_line_of_its_own_file() {
        let path = std::env::temp_dir().join(format!("hyperslab-holder-{}", process::id()));
        let file = Local::options().create(true).open(&path).unwrap();
        let identity = file.stamp().identity();
        let place = format!("{:02x}:{:02x}:{}", major(identity.device()), minor(identity.device()), identity.inode());
        assert_eq!(holder(&format!("1: FLOCK  ADVISORY  WRITE 4711 {place} 0 EOF"), identity), Some(4711));
        assert_eq!(holder(&format!("1: -> FLOCK  ADVISORY  WRITE 4711 {place} 0 EOF"), identity), None);
        assert_eq!(holder(&format!("1: FLOCK  ADVISORY  WRITE 4711 {place}1 0 EOF"), identity), None);
        assert_eq!(holder("1: FLOCK", identity), None);
        if file.lock(Lock::Exclusive).unwrap() && !fs::read_to_string("/proc/locks").unwrap_or_default().is_empty() {
            assert_eq!(names(identity), "this process, by another library");
        }
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_holder_is_found_while_other_locks_come_and_go() {
        let path = |name: &str| std::env::temp_dir().join(format!("hyperslab-holder-{name}-{}", process::id()));
        let open = |name: &str| Local::options().create(true).open(path(name)).unwrap();
        let held = open("held");
        assert!(held.lock(Lock::Exclusive).unwrap());
        let identity = held.stamp().identity();
        if holders(identity).is_empty() {
            return;
        }
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (open, path, done) = (&open, &path, &done);
                scope.spawn(move || {
                    let names: Vec<String> = (0..20).map(|file| format!("{thread}-{file}")).collect();
                    while !done.load(std::sync::atomic::Ordering::Relaxed) {
                        let files: Vec<Local> = names.iter().map(|name| open(name)).collect();
                        files.iter().for_each(|file| assert!(file.lock(Lock::Exclusive).unwrap()));
                    }
                    names.iter().for_each(|name| fs::remove_file(path(name)).unwrap());
                });
            }
            let missed = (0..1_000).filter(|_| names(identity).is_empty()).count();
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(missed, 0);
        });
        fs::remove_file(path("held")).unwrap();
    }
}
