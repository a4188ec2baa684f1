//! Walking over all objects below a group.

use std::{collections::HashSet, ops::ControlFlow};

use hyperslab_object::Target;

use crate::{File, Group, Node, Result};

/// A group whose links are being walked over.
struct Level {
    group: Group,
    links: std::vec::IntoIter<crate::Link>,
    /// How long the path to it is.
    path: usize,
}

impl Group {
    /// Shows every object below this group once, with the path from here on that it was met at first: depth first, links in the
    /// order of their names. Hard links alone are followed, so nothing outside is met, and a group that holds itself
    /// does not make it endless. An object that cannot be opened is shown as its error. `each` may end the walk with
    /// [`ControlFlow::Break`]; its value is given back.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
    /// let mut datasets = 0;
    /// file.root()?.visit(|path, node| {
    ///     datasets += u32::from(node.is_ok_and(|node| node.as_dataset().is_some()));
    ///     ControlFlow::<()>::Continue(())
    /// })?;
    /// assert_eq!(datasets, 8);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn visit<B>(&self, mut each: impl FnMut(&[u8], Result<Node>) -> ControlFlow<B>) -> Result<Option<B>> {
        let mut seen = HashSet::from([self.address()]);
        let mut path = Vec::new();
        let mut levels = vec![Level::new(self.clone(), &path)?];
        while let Some(level) = levels.last_mut() {
            let Some(link) = level.links.next() else {
                levels.pop();
                continue;
            };
            let Target::Hard(address) = link.target else { continue };
            if !seen.insert(address) {
                continue;
            }
            path.truncate(level.path);
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(&link.name);
            let node = level.group.file().at(address);
            let below = match &node {
                Ok(Node::Group(group)) => Some(Level::new(group.clone(), &path)),
                _ => None,
            };
            if let ControlFlow::Break(value) = each(&path, node) {
                return Ok(Some(value));
            }
            match below {
                Some(Ok(below)) => levels.push(below),
                Some(Err(why)) => {
                    if let ControlFlow::Break(value) = each(&path, Err(why)) {
                        return Ok(Some(value));
                    }
                }
                None => {}
            }
        }
        Ok(None)
    }
}

impl Level {
    fn new(group: Group, path: &[u8]) -> Result<Level> {
        let links = group.links()?.into_iter();
        Ok(Level { group, links, path: path.len() })
    }
}

impl File {
    /// Shows every object of the file once, but for the root group; see [`Group::visit`].
    pub fn visit<B>(&self, each: impl FnMut(&[u8], Result<Node>) -> ControlFlow<B>) -> Result<Option<B>> {
        self.root()?.visit(each)
    }
}
