//! Paths: from a name to an object.

use hyperslab_file::Result;

use crate::{Context, Kind, Links, Object, Target};

/// A path as the bytes that a file has: names between slashes.
pub type Path<'a> = &'a [u8];

/// Where a path leads.
#[derive(Debug)]
pub enum Found {
    /// To an object of this file.
    Object(Box<Object>),
    /// To a link that leads out of what this file alone can tell: an external or a user-defined one.
    Beyond(Box<Beyond>),
    /// To a name that does not exist.
    Missing {
        /// The path up to and with that name.
        at: Vec<u8>,
        /// Whether everything before the last name is there.
        last: bool,
    },
    /// Through more links than [`LinkBudget`] allows.
    Endless {
        /// The path up to and with the last of them.
        at: Vec<u8>,
    },
}

/// A link that leads beyond this file.
#[derive(Debug)]
pub struct Beyond {
    /// What it stands for.
    pub target: Target,
    /// The path up to and with its name.
    pub at: Vec<u8>,
    /// The object that holds it.
    pub group: u64,
    /// What is left of the path behind it.
    pub rest: Vec<u8>,
}

/// How many links that are not hard ones a path may lead through before it is called endless.
#[derive(Clone, Debug)]
pub struct LinkBudget(usize);

impl Default for LinkBudget {
    /// As many as libhdf5 allows.
    fn default() -> LinkBudget {
        LinkBudget(LinkBudget::MOST)
    }
}

impl LinkBudget {
    /// So many.
    pub const MOST: usize = 16;

    /// Follows one more; whether that was still allowed.
    fn take(&mut self) -> bool {
        let left = self.0.checked_sub(1);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// Follows a path from an object on; a path with a slash in front starts at the root group.
pub fn resolve(context: &Context, start: u64, path: Path<'_>, links: &mut LinkBudget) -> Result<Found> {
    let root = context.file().root()?;
    let mut object = Object::open(context, if path.starts_with(b"/") { root } else { start })?;
    let mut names = path.split(|&byte| byte == b'/').filter(|name| !name.is_empty() && *name != b".").peekable();
    let mut walked = Vec::new();
    while let Some(name) = names.next() {
        walked.push(b'/');
        walked.extend_from_slice(name);
        let last = names.peek().is_none();
        if object.kind() != Kind::Group {
            return Ok(Found::Missing { at: walked, last: false });
        }
        let Some(link) = Links::of(context, &object)?.find(name)? else {
            return Ok(Found::Missing { at: walked, last });
        };
        let group = object.address();
        let rest = || names.clone().flat_map(|name| [b"/", name].concat()).collect::<Vec<u8>>();
        match link.target {
            Target::Hard(address) => object = Object::open(context, address)?,
            Target::Soft(_) | Target::External { .. } | Target::User { .. } if !links.take() => {
                return Ok(Found::Endless { at: walked });
            }
            Target::Soft(mut target) => {
                target.extend(rest());
                return Ok(match resolve(context, group, &target, links)? {
                    // A link that is there and leads nowhere is itself the last name.
                    Found::Missing { at, last: inner } => Found::Missing { at, last: inner || last },
                    found => found,
                });
            }
            target @ (Target::External { .. } | Target::User { .. }) => {
                return Ok(Found::Beyond(Box::new(Beyond { target, at: walked, group, rest: rest() })));
            }
        }
    }
    Ok(Found::Object(Box::new(object)))
}
