//! The tree of what is copied: first all objects and links, then attributes and values, when every object has its new place.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use hyperslab_object::{Name, Object, Target};

use super::{CopyOptions, CopyProgress, Lost, prepare::Prepared, restore::Restore};
use crate::{Error, File, Group, Link, Node, Result, place};

/// An object that is in the target, but not yet with everything that belongs to it.
struct Begun {
    file: File,
    address: u64,
    copy: u64,
    depth: u32,
}

/// Where an object was copied to.
struct Copied {
    address: u64,
    /// Whether something links to it: if nothing does, it only is the type of others.
    named: bool,
}

/// Is shown how far it is.
pub(super) type Show<'a> = dyn FnMut(CopyProgress) + 'a;

pub(super) struct Copier<'a> {
    pub(super) options: CopyOptions,
    /// Whether references to what is copied refer to the copies.
    follow: bool,
    /// Objects that could not be read, and where others stand for them; none if that is an error.
    pub(super) lost: Option<Vec<(u64, Lost)>>,
    /// How datasets are stored, if not as they were.
    pub(super) restore: Option<Arc<Restore>>,
    pub(super) target: File,
    /// By file and address.
    copied: HashMap<(usize, u64), Copied>,
    /// Objects that are about to be made.
    preparing: HashSet<(usize, u64)>,
    /// Groups whose links are to be copied.
    groups: VecDeque<Begun>,
    /// Objects whose attributes and values are to be copied.
    contents: VecDeque<Begun>,
    pub(super) done: CopyProgress,
    progress: &'a mut Show<'a>,
}

impl<'a> Copier<'a> {
    pub(super) fn new(options: CopyOptions, target: &File, progress: &'a mut Show<'a>) -> Copier<'a> {
        let (follow, target) = (options.expand_references, target.clone());
        let (restore, copied, preparing, groups, contents) = Default::default();
        Copier {
            options,
            follow,
            lost: None,
            restore,
            target,
            copied,
            preparing,
            groups,
            contents,
            done: CopyProgress::default(),
            progress,
        }
    }

    /// The copy of a group is one that is there.
    pub(super) fn begin_at(&mut self, from: &Group, copy: &Group) {
        self.follow = true;
        self.enter(from.file(), from.address(), copy.address(), 0, true);
    }

    /// Makes the copy of the object that all begins with; it has no name yet.
    pub(super) fn begin(&mut self, from: &Node) -> Result<u64> {
        let prepared = self.prepare(from)?;
        let copy = self.target.operate(|| prepared.create(&self.target))?;
        self.enter(from.file(), from.address(), copy, 0, true);
        Ok(copy)
    }

    /// Copies everything that belongs to what was begun.
    pub(super) fn run(&mut self) -> Result<()> {
        let done = self.all();
        let unnamed = self.copied.values().filter(|copied| !copied.named).map(|copied| copied.address);
        let context = &self.target.inner.context;
        for address in unnamed {
            self.target.operate(|| Ok(hyperslab_object::without_name(context, address)?))?;
        }
        for (copy, lost) in self.lost.iter().flatten() {
            let why = lost.why.to_string();
            self.target.operate(|| Ok(hyperslab_object::mark_lost(context, *copy, &why)?))?;
        }
        done
    }

    fn all(&mut self) -> Result<()> {
        loop {
            if let Some(begun) = self.groups.pop_front() {
                self.links(&begun)?;
            } else if let Some(begun) = self.contents.pop_front() {
                self.content(&begun)?;
                self.done.objects += 1;
                self.show(0);
            } else {
                return Ok(());
            }
        }
    }

    /// An object has a copy.
    fn enter(&mut self, file: &File, address: u64, copy: u64, depth: u32, named: bool) {
        self.done.known += 1;
        self.copied.insert(key(file, address), Copied { address: copy, named });
        self.groups.push_back(Begun { file: file.clone(), address, copy, depth });
        self.contents.push_back(Begun { file: file.clone(), address, copy, depth });
    }

    fn links(&mut self, begun: &Begun) -> Result<()> {
        let Node::Group(group) = begun.file.at_guarded(begun.address)? else { return Ok(()) };
        if self.options.shallow && begun.depth > 0 {
            return Ok(());
        }
        for link in group.links_as_made()? {
            let expand = match link.target {
                Target::Soft(_) => self.options.expand_soft,
                Target::External { .. } => self.options.expand_external,
                _ => false,
            };
            let found = match link.target {
                Target::Hard(address) => Some((begun.file.clone(), address)),
                _ if expand => group.get(&link.name).ok().map(|node| (node.file().clone(), node.address())),
                _ => None,
            };
            match found {
                Some((file, address)) => self.child((&file, address), begun, &link)?,
                None => self.link(begun.copy, &link, link.target.clone())?,
            }
        }
        Ok(())
    }

    fn link(&self, group: u64, link: &Link, target: Target) -> Result<()> {
        let context = &self.target.inner.context;
        self.target.operate(|| Ok(hyperslab_object::link(context, group, &name(link), target)?))
    }

    /// An object in a group: copied, unless it was met before.
    fn child(&mut self, (file, address): (&File, u64), group: &Begun, link: &Link) -> Result<()> {
        let target = self.target.clone();
        let context = &target.inner.context;
        let give = |object| hyperslab_object::link_new(context, group.copy, &name(link), object);
        match self.copied.get_mut(&key(file, address)) {
            Some(copied) if copied.named => {
                let object = Target::Hard(copied.address);
                self.link(group.copy, link, object)
            }
            Some(copied) => {
                copied.named = true;
                let object = copied.address;
                target.operate(|| Ok(give(object)?))
            }
            None => {
                // What can be opened is copied with everything that it has, or nothing is.
                let (prepared, lost) = match file.at_guarded(address) {
                    Err(why) if self.lost.is_some() && is_damage(&why) => (Prepared::stand_in(), Some(why)),
                    node => (self.prepare(&node?)?, None),
                };
                let copy = target.operate(|| {
                    let copy = prepared.create(&target)?;
                    give(copy)?;
                    Result::Ok(copy)
                })?;
                match (lost, &mut self.lost) {
                    (Some(why), Some(all)) => {
                        self.copied.insert(key(file, address), Copied { address: copy, named: true });
                        all.push((copy, Lost { name: String::from_utf8_lossy(&link.name).into_owned(), why }));
                    }
                    _ => self.enter(file, address, copy, group.depth + 1, true),
                }
                Ok(())
            }
        }
    }

    /// The copy of a committed datatype, made now if need be.
    pub(super) fn committed(&mut self, file: &File, address: u64) -> Result<u64> {
        if let Some(copied) = self.copied.get(&key(file, address)) {
            return Ok(copied.address);
        }
        let prepared = self.prepare(&file.at_guarded(address)?)?;
        let copy = self.target.operate(|| prepared.create(&self.target))?;
        self.enter(file, address, copy, 1, false);
        Ok(copy)
    }

    /// Shows that so many more bytes are copied.
    pub(super) fn show(&mut self, bytes: u64) {
        self.done.bytes += bytes;
        (self.progress)(self.done);
    }

    /// The copy of what a reference refers to; nothing if it has none.
    pub(super) fn referred(&mut self, file: &File, address: u64) -> Result<Option<u64>> {
        if !self.follow {
            return Ok(None);
        }
        if let Some(copied) = self.copied.get(&key(file, address)) {
            return Ok(Some(copied.address));
        }
        if !self.options.expand_references {
            return self.referred_early(file, address);
        }
        let Ok(node) = file.at(address) else { return Ok(None) };
        let prepared = self.prepare(&node)?;
        let copy = self.target.operate(|| prepared.create(&self.target))?;
        let root = self.target.root()?;
        let mut name = format!("~obj_pointed_by_{copy}");
        while root.contains(&name)? {
            name.push('_');
        }
        let (context, name) = (&self.target.inner.context, place::name(name.as_bytes()));
        self.target.operate(|| Ok(hyperslab_object::link_new(context, root.address(), &name, copy)?))?;
        self.enter(file, address, copy, 1, true);
        Ok(Some(copy))
    }

    /// The copy of what a fill value refers to, made now: it gets its name when its group is copied.
    fn referred_early(&mut self, file: &File, address: u64) -> Result<Option<u64>> {
        let is_early = !self.preparing.is_empty() && !self.preparing.contains(&key(file, address));
        let (true, Ok(node)) = (is_early, file.at(address)) else { return Ok(None) };
        let prepared = self.prepare(&node)?;
        let copy = self.target.operate(|| prepared.create(&self.target))?;
        self.enter(file, address, copy, 1, false);
        Ok(Some(copy))
    }

    fn content(&mut self, begun: &Begun) -> Result<()> {
        let (from, to) = (begun.file.at_guarded(begun.address)?, self.target.at(begun.copy)?);
        if !self.options.without_attributes {
            self.attributes(&from, &to)?;
        }
        if let Some(comment) = from.comment()? {
            let context = &self.target.inner.context;
            self.target.operate(|| Ok(hyperslab_object::set_comment(context, begun.copy, Some(&comment))?))?;
        }
        if let (Node::Dataset(from), Node::Dataset(to)) = (&from, &to) {
            self.values(from, to)?;
        }
        let from = Object::open_guarded(&begun.file.inner.context, begun.address)?;
        if from.guards().next().is_some() {
            let context = &self.target.inner.context;
            self.target.operate(|| Ok(hyperslab_object::guard(context, begun.copy, &from)?))?;
        }
        Ok(())
    }

    pub(super) fn prepare(&mut self, from: &Node) -> Result<Prepared> {
        let key = key(from.file(), from.address());
        self.preparing.insert(key);
        let prepared = Prepared::new(self, from);
        self.preparing.remove(&key);
        prepared
    }
}

/// Whether the file itself is at fault.
fn is_damage(why: &Error) -> bool {
    use hyperslab_file::Error::{Broken, Malformed, Outside};
    matches!(why, Error::File(Broken { .. } | Malformed { .. } | Outside { .. }))
}

/// The name of a link, for the copy of its group.
fn name(link: &Link) -> Name<'_> {
    Name { bytes: &link.name, charset: link.charset, order: link.order }
}

/// What tells objects of several files apart.
fn key(file: &File, address: u64) -> (usize, u64) {
    (Arc::as_ptr(&file.inner) as usize, address)
}
