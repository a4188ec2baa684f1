//! Files in a row, all of one size but the last.

use std::{path::Path, sync::Arc};

use hyperslab_driver::{Driver as _, Family, Local};
use hyperslab_format::MemberFiles;

use crate::{Error, Members, Result, options::Access};

/// The members whose names the template gives: those that the file says, or as large as a new file is to have them.
pub(super) fn open(template: &str, first: &Arc<Local>, access: &Access) -> Result<Family<Local>> {
    let (size, write) = (first.len(&access.transfer)?, access.write);
    let is_new = write && (access.truncate || access.create_new || size == 0);
    let member_size = if is_new { wanted_size(template, access)? } else { told_size(template, first, size.max(1))? };
    let open = move |name: &str, create: bool| {
        let open = || Local::options().write(write).create(create).open(name);
        (create || Path::new(name).exists()).then(open).transpose()
    };
    Ok(Family::open(template, member_size, Box::new(open))?)
}

/// How large the members of a new family are to be.
pub(super) fn wanted_size(template: &str, access: &Access) -> Result<u64> {
    match access.members {
        Some(Members::Family { size }) => Ok(size),
        _ => {
            let why = "its name is that of a family of files: to make one, say how large its members are to be";
            Err(Error::Storage(format!("{template}: {why}")))
        }
    }
}

/// The file says it best. One that says nothing has members as large as the first, which has `size` bytes.
fn told_size(template: &str, first: &Arc<Local>, size: u64) -> Result<u64> {
    match hyperslab_file::members(first.clone()) {
        Ok(Some(MemberFiles::Family { size: told })) if told < size => {
            let name = first_name(template);
            let why = format!("{name} has {size} bytes where the file says that a member has {told}");
            Err(Error::Storage(why))
        }
        Ok(Some(MemberFiles::Family { size: told })) => Ok(told),
        _ => Ok(size),
    }
}

pub(super) fn is_template(name: &str) -> bool {
    digits_after_percent(name).is_some()
}

/// The template with its number zero.
pub(super) fn first_name(template: &str) -> String {
    member_name(template, 0)
}

/// The template with a number.
pub(super) fn member_name(template: &str, number: u64) -> String {
    let Some((start, end)) = digits_after_percent(template) else { return template.to_owned() };
    let width: usize = template.get(start + 1..end).and_then(|digits| digits.parse().ok()).unwrap_or(1);
    let (before, after) = (template.get(..start).unwrap_or_default(), template.get(end + 1..).unwrap_or_default());
    format!("{before}{number:0width$}{after}", width = width.min(32))
}

/// Where the percent sign and where the `d` of a `%05d` are.
fn digits_after_percent(name: &str) -> Option<(usize, usize)> {
    let mut signs = name.match_indices('%').map(|(start, _)| start);
    signs.find_map(|start| {
        let rest = name.get(start + 1..)?;
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        rest.get(digits..)?.starts_with('d').then_some((start, start + 1 + digits))
    })
}
