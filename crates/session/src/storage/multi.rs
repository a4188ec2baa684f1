//! A file for each kind of content: libhdf5's multi driver, and split, which tells metadata and raw data apart.

use std::{path::Path, sync::Arc};

use hyperslab_driver::{Absent, Driver, Error as DriverError, Local, MemoryType, Multi, Operation, Why};
use hyperslab_format::{MemberFiles, MultiMember};

use crate::{Error, Result, options::Access};

/// How the names of members with a superblock end, and which driver makes them.
const ENDINGS: [(&str, &str); 3] = [("-s.h5", "multi"), ("-m.h5", "split"), (".meta", "split")];

/// The letters of the members, in the order of memory types, as libhdf5 names them by itself.
const LETTERS: &str = "sbrglo";

/// A driver, and how libhdf5 calls it.
type Named = (Arc<dyn Driver>, &'static str);

/// A new split file.
pub(super) fn make(raw: &str, metadata: Arc<dyn Driver>, access: &Access) -> Result<Named> {
    let options = Local::options().write(true).create(true).create_new(access.create_new);
    let raw: Arc<dyn Driver> = Arc::new(options.open(raw)?);
    Ok((Arc::new(Multi::split(metadata, raw)), "split"))
}

/// The multi or split file that `one` is the first member of; nothing if it is a file by itself. Unless the user says that it is `split`, its name
/// must be as libhdf5 makes it.
pub(super) fn open(path: &Path, one: &Arc<dyn Driver>, split: bool, access: &Access) -> Result<Option<Named>> {
    let Some(path) = path.to_str() else { return Ok(None) };
    let usual_ending = ENDINGS.iter().find(|(ending, _)| path.ends_with(ending));
    let Some((ending, name)) = usual_ending.or(split.then_some(&("", "split"))) else { return Ok(None) };
    let members = match hyperslab_file::members(one.clone()) {
        Ok(Some(MemberFiles::Multi(members))) => members,
        // A new superblock of a multi file has what tells of members in one of these, at an address that only those know.
        Ok(None) if *name == "multi" && Path::new(&format!("{}-o.h5", common(path, ending))).exists() => usual(),
        // Whatever is wrong is told when the file is opened as a file by itself.
        _ => return Ok(None),
    };
    let first = members.first().map(|member| String::from_utf8_lossy(&member.name).into_owned()).unwrap_or_default();
    let Some(common) = first.strip_prefix("%s").and_then(|ending| path.strip_suffix(ending)) else {
        let why =
            format!("{path} is the first member of a multi file and should be named {first:?}, %s being the rest");
        return Err(Error::Storage(why));
    };
    let mut opened = Vec::new();
    for (index, member) in members.iter().enumerate() {
        let kinds = member.kinds.iter().filter_map(|kind| MemoryType::MAPPED.get(usize::from(*kind) - 1).copied());
        let driver = if index == 0 { one.clone() } else { open_member(member, common, access)? };
        opened.push((member.start, driver, kinds.collect()));
    }
    Ok(Some((Arc::new(Multi::new(opened)?), name)))
}

fn common<'a>(path: &'a str, ending: &str) -> &'a str {
    path.strip_suffix(ending).unwrap_or(path)
}

/// A member that is not there may never be asked for: a file without its raw data still has its structure.
fn open_member(member: &MultiMember, common: &str, access: &Access) -> Result<Arc<dyn Driver>> {
    let template = String::from_utf8_lossy(&member.name);
    let Some((before, after)) = template.split_once("%s") else {
        return Err(Error::Storage(format!("the name {template:?} of a member of a multi file has no %s")));
    };
    let name = format!("{before}{common}{after}");
    let place = match Path::new(&name).canonicalize() {
        Ok(place) => place,
        Err(_) if !access.write => return Ok(Arc::new(Absent::new(name, member.length))),
        Err(why) => return Err(DriverError::new(&name, Operation::Open, 0, 0, Why::Io(why)).into()),
    };
    // A file does not lead to others elsewhere by the names of its members.
    let folder = Path::new(common).parent().and_then(|folder| folder.canonicalize().ok());
    if folder.is_none_or(|folder| !place.starts_with(folder)) {
        return Err(Error::Forbidden(format!(
            "{name} is outside of the folder of the multi file that it should be a member of"
        )));
    }
    Ok(Arc::new(Local::options().write(access.write).open(&place)?))
}

/// The members that libhdf5 makes by itself: equal ranges of addresses.
fn usual() -> Vec<MultiMember> {
    const RANGE: u64 = (u64::MAX - 1) / LETTERS.len() as u64;
    let member = |(kind, letter): (u8, char)| MultiMember {
        kinds: vec![kind],
        start: u64::from(kind - 1) * RANGE,
        length: RANGE / 2, // unknown; only of matter for a member that is not there
        name: format!("%s-{letter}.h5").into_bytes(),
    };
    (1..).zip(LETTERS.chars()).map(member).collect()
}
