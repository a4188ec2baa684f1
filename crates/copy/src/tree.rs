//! The tree of what is copied: first all objects and links, then attributes and values, when every object has its new place.

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    sync::Arc,
};

use hyperslab_format::message::Link;
use hyperslab_object::{Name, Object, PathId, Paths, Target};

use super::{
    CopyOptions, CopyProgress, Restore,
    damage::{OfSource, Step, Trouble},
    prepared::Prepared,
};
use hyperslab_session::{Error, Lost, ObjectHandle, OpenObject, Result, Session};

/// An object that is in the target, but not yet with everything that belongs to it.
struct Begun {
    session: Session,
    address: u64,
    copy: u64,
    depth: u32,
    path: PathId,
}

/// Where an object was copied to.
pub(super) struct Copied {
    pub(super) address: u64,
    /// Whether something links to it, or will when all is copied: if nothing does, it only is the type of others.
    pub(super) named: bool,
}

/// Is shown how far it is.
pub(super) type Show<'a> = dyn FnMut(CopyProgress) + 'a;

pub(super) struct Copier<'a> {
    pub(super) options: CopyOptions,
    /// Whether references to what is copied refer to the copies.
    pub(super) follow: bool,
    /// Whether copies use the committed datatypes of the source, which is the same file; else they use copies of these.
    pub(super) shares_types: bool,
    /// Whether what cannot be read is left out; else it is an error.
    pub(super) skips: bool,
    /// What could not be read.
    pub(super) lost: Vec<Lost>,
    /// Copies that are not whole, and why: they cannot be opened.
    closed: BTreeMap<u64, String>,
    /// Where objects of the source were met first.
    pub(super) paths: Paths,
    /// How datasets are stored, if not as they were.
    pub(super) restore: Option<Arc<Restore>>,
    pub(super) target: Session,
    /// By file and address.
    pub(super) copied: HashMap<(usize, u64), Copied>,
    /// The copy of the object that all begins with, if it gets its name when all is copied.
    pub(super) first: Option<u64>,
    /// Copies of what references refer to: these get names in the root group when all is copied.
    pub(super) referred: Vec<u64>,
    /// How many bytes of sequences that hold references themselves may still come from each file.
    pub(super) nested_left: HashMap<usize, u64>,
    /// Objects that are about to be made.
    pub(super) preparing: HashSet<(usize, u64)>,
    /// Groups whose links are to be copied.
    groups: VecDeque<Begun>,
    /// Objects whose attributes and values are to be copied.
    contents: VecDeque<Begun>,
    pub(super) done: CopyProgress,
    progress: &'a mut Show<'a>,
    /// Whether code of the caller may run now: no range lock is held that it could wait for.
    pub(super) shows: bool,
}

impl<'a> Copier<'a> {
    pub(super) fn new(options: CopyOptions, target: &Session, progress: &'a mut Show<'a>) -> Copier<'a> {
        let (follow, target) = (options.expand_references, target.clone());
        let (restore, copied, referred, nested_left, preparing, groups, contents) = Default::default();
        Copier {
            options,
            follow,
            shares_types: false,
            skips: false,
            lost: Vec::new(),
            closed: BTreeMap::new(),
            paths: Paths::new(),
            restore,
            target,
            copied,
            first: None,
            referred,
            nested_left,
            preparing,
            groups,
            contents,
            done: CopyProgress::default(),
            progress,
            shows: true,
        }
    }

    /// The copy of a group is one that is there.
    pub(super) fn begin_at(&mut self, from: &ObjectHandle, copy: &ObjectHandle) {
        self.follow = true;
        let path = self.paths.top(b"/");
        self.enter(&from.session, from.address(), copy.address(), (0, path), true);
    }

    /// Makes the copy of the object that all begins with; it has no name yet.
    pub(super) fn begin(&mut self, from: &OpenObject) -> Result<u64> {
        let prepared = self.prepare(from).map_err(Trouble::into_error)?;
        let copy = self.target.operate(|| prepared.create(&self.target))?;
        self.first = Some(copy);
        // Paths are told from there on.
        let path = self.paths.top(b".");
        self.enter(from.session(), from.address(), copy, (0, path), true);
        Ok(copy)
    }

    /// Copies everything that belongs to what was begun. Then the caller must [complete](Self::complete) the copy, or
    /// [abandon](Self::abandon) it.
    pub(super) fn run(&mut self) -> Result<()> {
        self.all()?;
        let context = self.target.context();
        for (copy, why) in &self.closed {
            self.target.operate(|| Ok(hyperslab_object::mark_lost(context, *copy, why)?))?;
        }
        Ok(())
    }

    fn all(&mut self) -> Result<()> {
        loop {
            if let Some(begun) = self.groups.pop_front() {
                self.links(&begun)?;
                continue;
            }
            // All objects are tried before any values are copied, so that one error tells of all that are damaged.
            self.check_whole()?;
            if let Some(begun) = self.contents.pop_front() {
                self.content(&begun)?;
                self.done.objects += 1;
                self.show(0);
            } else {
                return Ok(());
            }
        }
    }

    /// An object has a copy.
    pub(super) fn enter(
        &mut self,
        session: &Session,
        address: u64,
        copy: u64,
        (depth, path): (u32, PathId),
        named: bool,
    ) {
        self.done.known += 1;
        self.copied.insert(key(session, address), Copied { address: copy, named });
        self.groups.push_back(Begun { session: session.clone(), address, copy, depth, path });
        self.contents.push_back(Begun { session: session.clone(), address, copy, depth, path });
    }

    /// Notes what is wrong with the source of a step, without which a copy is not whole: no reader must take it for the object.
    fn close<T>(&mut self, begun: &Begun, step: Step<T>) -> Result<Option<T>> {
        if let (Err(Trouble::Source(why)), true) = (&step, self.skips) {
            self.closed.insert(begun.copy, why.to_string());
        }
        let done = self.leave_out(step, |copier| copier.path(begun.path))?;
        if done.is_none() && begun.depth == 0 {
            // Without the object that all begins with, nothing of the copy can be opened.
            return Err(Error::Damaged(std::mem::take(&mut self.lost).into()));
        }
        Ok(done)
    }

    fn links(&mut self, begun: &Begun) -> Result<()> {
        let opened = begun.session.at_guarded(begun.address).of_source();
        let Some(OpenObject::Group(group)) = self.close(begun, opened)? else { return Ok(()) };
        if self.options.shallow && begun.depth > 0 {
            return Ok(());
        }
        let links = group.links_as_made().of_source();
        for link in self.close(begun, links)?.unwrap_or_default() {
            let expand = match link.target {
                Target::Soft(_) => self.options.expand_soft,
                Target::External { .. } => self.options.expand_external,
                _ => false,
            };
            let found = match link.target {
                Target::Hard(address) => Some((begun.session.clone(), address)),
                _ if expand => group.get(&link.name).ok().map(|node| (node.session().clone(), node.address())),
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
        let context = self.target.context();
        self.target.operate(|| Ok(hyperslab_object::link(context, group, &name(link), target)?))
    }

    /// An object in a group: copied, unless it was met before.
    fn child(&mut self, (file, address): (&Session, u64), group: &Begun, link: &Link) -> Result<()> {
        let target = self.target.clone();
        let context = target.context();
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
                let path = self.paths.below(group.path, &link.name);
                let prepared = file.at_guarded(address).of_source().and_then(|node| self.prepare(&node));
                let why = match &prepared {
                    Err(Trouble::Source(why)) => Some(why.to_string()),
                    _ => None,
                };
                let prepared = self.leave_out(prepared, |copier| copier.path(path))?.unwrap_or_else(Prepared::stand_in);
                let copy = target.operate(|| {
                    let copy = prepared.create(&target)?;
                    give(copy)?;
                    Result::Ok(copy)
                })?;
                match why {
                    Some(why) => {
                        self.copied.insert(key(file, address), Copied { address: copy, named: true });
                        if self.skips {
                            self.closed.insert(copy, why);
                        }
                    }
                    None => self.enter(file, address, copy, (group.depth + 1, path), true),
                }
                Ok(())
            }
        }
    }

    /// Shows that so many more bytes are copied, now or as soon as no range lock is held.
    pub(super) fn show(&mut self, bytes: u64) {
        self.done.bytes += bytes;
        if self.shows {
            (self.progress)(self.done);
        }
    }

    fn content(&mut self, begun: &Begun) -> Result<()> {
        let opened = begun.session.at_guarded(begun.address).of_source();
        let Some(from) = self.close(begun, opened)? else { return Ok(()) };
        let to = self.target.at(begun.copy)?;
        if !self.options.without_attributes {
            self.attributes(begun.path, &from, &to)?;
        }
        let comment = from.comment().of_source();
        let comment = self.leave_out(comment, |copier| format!("{} (its comment)", copier.path(begun.path)))?;
        if let Some(comment) = comment.flatten() {
            let context = self.target.context();
            self.target.operate(|| Ok(hyperslab_object::set_comment(context, begun.copy, Some(&comment))?))?;
        }
        if let (OpenObject::Dataset(from), OpenObject::Dataset(to)) = (&from, &to) {
            let values = self.values(from, to);
            self.close(begun, values)?;
        }
        let object = Object::open_guarded(begun.session.context(), begun.address).of_source();
        let Some(object) = self.close(begun, object)? else { return Ok(()) };
        if object.guards().next().is_some() {
            let context = self.target.context();
            self.target.operate(|| Ok(hyperslab_object::guard(context, begun.copy, &object)?))?;
        }
        Ok(())
    }
}

/// The name of a link, for the copy of its group.
fn name(link: &Link) -> Name<'_> {
    Name { bytes: &link.name, charset: link.charset, order: link.order }
}

/// What tells objects of several files apart.
pub(super) fn key(session: &Session, address: u64) -> (usize, u64) {
    (session.number(), address)
}
