//! All that is below an object, depth first and one by one, so that a listing begins before the file was seen as a whole.
//!
//! The walk stays in the file of the object that it begins with, which external links on the way to that object may have led to: it follows
//! hard links alone, and addresses mean something in that file only.

use hyperslab::{Error, Group, Link, Node, PathId, Paths, Target};
use std::collections::HashMap;

/// What the links of a group are sorted by.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Sort {
    // Documentation here would make the help four times as long.
    Name,
    Creation,
}

/// What the walk has come to.
pub(crate) struct Entry {
    pub(crate) path: Vec<u8>,
    /// The name in its group; nothing for where the walk began.
    pub(crate) name: Vec<u8>,
    /// For the groups that it stands in, outermost first, and for itself: whether it is the last one there.
    pub(crate) last: Vec<bool>,
    /// The longest name in its group, in characters.
    pub(crate) widest: usize,
    pub(crate) met: Met,
}

pub(crate) enum Met {
    Object(Box<Node>),
    /// An object that the walk knows by another name.
    Again(Vec<u8>),
    /// A link to a path; whether that leads anywhere.
    Soft(Vec<u8>, bool),
    External {
        file: Vec<u8>,
        path: Vec<u8>,
    },
    User(u8),
    /// An object that cannot be read, or, without a name, the links of the group before it.
    Broken(Error),
}

pub(crate) struct Walk {
    sort: Sort,
    depth: usize,
    paths: Paths,
    /// The first path of each object, by address.
    seen: HashMap<u64, PathId>,
    levels: Vec<Level>,
    begin: Option<(PathId, Node)>,
    /// The links of a group that cannot be read are told of after the group.
    broken: Option<Entry>,
}

struct Level {
    path: PathId,
    group: Group,
    links: std::vec::IntoIter<Link>,
    widest: usize,
}

impl Walk {
    /// From an object, which is the first entry, down at most `depth` levels.
    pub(crate) fn new(path: &str, node: Node, sort: Sort, depth: usize) -> Walk {
        let mut paths = Paths::new();
        let begin = Some((paths.top(format!("/{}", path.trim_matches('/')).as_bytes()), node));
        Walk { sort, depth, paths, seen: HashMap::new(), levels: Vec::new(), begin, broken: None }
    }

    fn where_last(&self) -> Vec<bool> {
        self.levels.iter().map(|level| level.links.len() == 0).collect()
    }

    /// Notes an object, and that its links are next if it has any.
    fn enter(&mut self, path: PathId, node: &Node) {
        self.seen.insert(node.address(), path);
        let Node::Group(group) = node else { return };
        if self.levels.len() >= self.depth {
            return;
        }
        let links = match self.sort {
            Sort::Name => group.links(),
            Sort::Creation => group.links_as_made(),
        };
        match links {
            Ok(links) => {
                let widest = links.iter().map(|link| crate::escape::printable(&link.name).chars().count()).max();
                let (group, links) = (group.clone(), links.into_iter());
                self.levels.push(Level { path, group, links, widest: widest.unwrap_or(0) });
            }
            Err(why) => {
                let last = self.where_last().into_iter().chain([true]).collect();
                let (name, met) = (Vec::new(), Met::Broken(why));
                self.broken = Some(Entry { path: self.paths.get(path), name, last, widest: 0, met });
            }
        }
    }

    /// What a link of a group leads to.
    fn meet(&self, group: &Group, link: &Link) -> Met {
        match link.target.clone() {
            Target::Hard(address) => match self.seen.get(&address) {
                Some(first) => Met::Again(self.paths.get(*first)),
                None => match group.file().at(address) {
                    Ok(node) => Met::Object(Box::new(node)),
                    Err(why) => Met::Broken(why),
                },
            },
            Target::Soft(target) => {
                let leads = !matches!(group.get(&link.name), Err(Error::Missing(_)));
                Met::Soft(target, leads)
            }
            Target::External { file, path } => Met::External { file, path },
            Target::User { class, .. } => Met::User(class),
        }
    }
}

impl Iterator for Walk {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if let Some((path, node)) = self.begin.take() {
            self.enter(path, &node);
            let path = self.paths.get(path);
            let met = Met::Object(Box::new(node));
            return Some(Entry { path, name: Vec::new(), last: Vec::new(), widest: 0, met });
        }
        if let Some(broken) = self.broken.take() {
            return Some(broken);
        }
        loop {
            let level = self.levels.last_mut()?;
            let Some(link) = level.links.next() else {
                self.levels.pop();
                continue;
            };
            let (widest, above, home) = (level.widest, level.path, level.group.clone());
            let group = self.paths.get(above);
            let path = [group.strip_suffix(b"/").unwrap_or(&group), b"/", link.name.as_slice()].concat();
            let last = self.where_last();
            let met = self.meet(&home, &link);
            if let Met::Object(node) = &met {
                let id = self.paths.below(above, &link.name);
                self.enter(id, node);
            }
            return Some(Entry { path, name: link.name, last, widest, met });
        }
    }
}
