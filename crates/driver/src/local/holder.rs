//! Which process holds a lock on a file, as far as the kernel tells.

use std::{fs, process};

use rustix::fs::{major, minor};

use super::FileIdentity;

/// The processes that hold locks on a file, in words; empty where the kernel does not tell.
pub(super) fn names(file: FileIdentity) -> String {
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let mut holders: Vec<String> = locks.lines().filter_map(|line| holder(line, file)).map(name).collect();
    holders.dedup();
    holders.join(", ")
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
}
