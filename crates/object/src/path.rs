//! Paths: from a name to an object.

use hyperslab_file::{Error, Result};

use crate::{Context, Kind, Link, Links, Object, Target};

/// A path as the bytes that a file has: names between slashes.
pub type Path<'a> = &'a [u8];

/// Where a path leads.
#[derive(Debug)]
pub enum Found {
    /// To an object of this file.
    Object(Box<Object>),
    /// Into another file.
    External {
        /// The file, as the link names it.
        file: Vec<u8>,
        /// The path in it, with what was left of the path here.
        path: Vec<u8>,
    },
    /// To a user-defined link, which only its maker understands.
    User(Box<Link>),
    /// To a name that does not exist.
    Missing {
        /// The path up to and with that name.
        at: Vec<u8>,
    },
}

/// Soft links followed before a path is called endless; libhdf5 allows as many.
const MAX_SOFT_LINKS: usize = 16;

/// Follows a path from an object on; a path with a slash in front starts at the root group.
pub fn resolve(context: &Context, start: u64, path: Path<'_>) -> Result<Found> {
    follow(context, start, path, MAX_SOFT_LINKS)
}

fn follow(context: &Context, start: u64, path: Path<'_>, soft_links: usize) -> Result<Found> {
    let root = context.file().superblock().root.header();
    let root = root.ok_or_else(|| Error::broken("superblock", 0, "the file has no root group"))?;
    let mut object = Object::open(context, if path.starts_with(b"/") { root } else { start })?;
    let mut names = path.split(|&byte| byte == b'/').filter(|name| !name.is_empty() && *name != b".").peekable();
    let mut walked = Vec::new();
    while let Some(name) = names.next() {
        walked.push(b'/');
        walked.extend_from_slice(name);
        if object.kind() != Kind::Group {
            return Ok(Found::Missing { at: walked });
        }
        let Some(link) = Links::of(context, &object)?.find(name)? else { return Ok(Found::Missing { at: walked }) };
        let rest = |target: &[u8]| {
            let mut path = target.to_vec();
            for name in names.clone() {
                path.push(b'/');
                path.extend_from_slice(name);
            }
            path
        };
        match link.target {
            Target::Hard(address) => object = Object::open(context, address)?,
            Target::Soft(target) => {
                let Some(left) = soft_links.checked_sub(1) else {
                    let why = format!("more than {MAX_SOFT_LINKS} soft links one after the other");
                    return Err(Error::broken("soft link", object.address(), why));
                };
                return follow(context, object.address(), &rest(&target), left);
            }
            Target::External { file, path } => return Ok(Found::External { file, path: rest(&path) }),
            Target::User { .. } => return Ok(Found::User(Box::new(link))),
        }
    }
    Ok(Found::Object(Box::new(object)))
}
