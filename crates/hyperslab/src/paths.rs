//! The paths of all objects of a file.

use std::collections::HashMap;

use hyperslab_object::{PathId, Paths, Target};

use crate::{File, Group, Link, Node, Result};

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
