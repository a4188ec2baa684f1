//! Paths of many objects in little memory.

use std::collections::HashMap;

use hyperslab_object::Target;

use crate::{File, Group, Link, Node, Result};

/// Paths that a walk met. Each is stored as a name below another path, so that memory grows with the names and not with the depth of a file.
///
/// ```
/// use hyperslab::Paths;
/// let mut paths = Paths::new();
/// let root = paths.top(b"/");
/// let run = paths.below(root, b"run");
/// let images = paths.below(run, b"images");
/// assert_eq!(paths.get(images), b"/run/images");
/// assert_eq!(paths.get(root), b"/");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// The path above and the name; a path that has none above it is there as a whole.
    names: Vec<(Option<PathId>, Box<[u8]>)>,
}

/// One of several [`Paths`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PathId(usize);

impl Paths {
    /// No paths yet.
    pub fn new() -> Paths {
        Paths::default()
    }

    /// Adds a path that others are below.
    pub fn top(&mut self, path: &[u8]) -> PathId {
        self.add(None, path)
    }

    /// Adds the path of an object in a group, from the path of the group and the name in it.
    pub fn below(&mut self, group: PathId, name: &[u8]) -> PathId {
        self.add(Some(group), name)
    }

    /// Adds a path that has some words behind another one.
    pub(crate) fn with_suffix(&mut self, path: PathId, suffix: &[u8]) -> PathId {
        match self.names.get(path.0) {
            Some((above, name)) => self.add(*above, &[name, suffix].concat()),
            None => self.add(None, suffix),
        }
    }

    fn add(&mut self, above: Option<PathId>, name: &[u8]) -> PathId {
        self.names.push((above, name.into()));
        PathId(self.names.len() - 1)
    }

    /// The whole path.
    pub fn get(&self, path: PathId) -> Vec<u8> {
        let mut parts = Vec::new();
        let mut next = Some(path);
        while let Some((above, name)) = next.and_then(|path| self.names.get(path.0)) {
            parts.push(&**name);
            next = *above;
        }
        parts.reverse();
        if let [top, _, ..] = parts.as_mut_slice() {
            *top = top.strip_suffix(b"/").unwrap_or(top);
        }
        parts.join(&b'/')
    }
}

/// The first path of each object of a file, by the address of the object: for what references refer to.
///
/// ```
/// # use hyperslab::{File, ObjectPaths};
/// # let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
/// let station = file.get("station")?.address();
/// assert_eq!(ObjectPaths::of(&file)?.get(station).unwrap(), b"/station");
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ObjectPaths {
    paths: Paths,
    first: HashMap<u64, PathId>,
}

impl ObjectPaths {
    /// Walks over all hard links of a file: depth first, the links of a group in the order of their names. What cannot be opened has no
    /// path.
    pub fn of(file: &File) -> Result<ObjectPaths> {
        let (root, mut found) = (file.root()?, ObjectPaths::default());
        let top = found.paths.top(b"/");
        found.first.insert(root.address(), top);
        let links = |group: &Group| Result::<std::vec::IntoIter<Link>>::Ok(group.links()?.into_iter());
        let mut levels = vec![(top, links(&root)?)];
        while let Some((above, level)) = levels.last_mut() {
            let Some(link) = level.next() else {
                levels.pop();
                continue;
            };
            let Target::Hard(address) = link.target else { continue };
            if found.first.contains_key(&address) {
                continue;
            }
            let Ok(node) = file.at(address) else { continue };
            let path = found.paths.below(*above, &link.name);
            found.first.insert(address, path);
            if let Node::Group(group) = node {
                levels.extend(links(&group).ok().map(|links| (path, links)));
            }
        }
        Ok(found)
    }

    /// The first path of the object at an address.
    pub fn get(&self, address: u64) -> Option<Vec<u8>> {
        self.first.get(&address).map(|path| self.paths.get(*path))
    }
}
