//! Where a new name goes: the last group on the way that is there, and the names that are missing.

use std::borrow::Cow;

use hyperslab_file::Handle;
use hyperslab_object::{CharSet, FreeName, GroupSettings, Life, Links, Name, Object, ObjectSettings, Target};

use smallvec::SmallVec;

use crate::{Error, ObjectHandle, OpenObject, Result, Session};

/// An object that an operation has just made, and that has no name yet.
pub struct NewObject<T> {
    /// Where its header is.
    pub address: u64,
    /// The committed type that it uses.
    pub committed: Option<u64>,
    /// What the caller wants to have of it. A handle is part of it, so that no other thread deletes the object as soon as it has a name.
    pub kept: T,
}

/// Where a new object goes: a name that is free, or none.
pub struct NewLocation<'a> {
    session: Cow<'a, Session>,
    group: Life,
    /// The names of groups that are missing on the way, and the last one. The object gets no name if there is none.
    names: Names<'a>,
    /// The whole path, for errors.
    path: &'a [u8],
    /// How often the file had been changed when this was found out.
    changes: u64,
}

/// The names of a path; most have one.
type Names<'a> = SmallVec<[&'a [u8]; 1]>;

impl ObjectHandle {
    /// The place for a new object at a path from here on; an error if there is one. Links on the way are followed, other files too.
    pub fn place<'a>(&'a self, path: &'a [u8]) -> Result<NewLocation<'a>> {
        self.find_location(path, true)
    }

    /// As [`ObjectHandle::place`], but whether the last name is free is found out by the operation that gives it.
    pub fn place_unseen<'a>(&'a self, path: &'a [u8]) -> Result<NewLocation<'a>> {
        self.find_location(path, false)
    }

    fn find_location<'a>(&'a self, path: &'a [u8], looks_for_last: bool) -> Result<NewLocation<'a>> {
        let shown = || String::from_utf8_lossy(path).into_owned();
        let changes = self.session.file().changes();
        let from_root = path.starts_with(b"/");
        let mut at = if from_root { Cow::Owned(self.session.root_group()?) } else { Cow::Borrowed(self) };
        let mut names: Names<'a> =
            path.split(|&byte| byte == b'/').filter(|name| !name.is_empty() && *name != b".").collect();
        if path.contains(&0) {
            return Err(Error::Change(format!("the name {:?} has a zero in it", shown())));
        }
        if names.is_empty() {
            return Err(Error::Exists(if path.is_empty() { "an object without a name".into() } else { shown() }));
        }
        let mut there = 0;
        while let Some(name) = names.get(there) {
            let is_last = there + 1 == names.len();
            if is_last && !looks_for_last || at.find_link(name)?.is_none() {
                break;
            }
            if is_last {
                return Err(Error::Exists(shown()));
            }
            at = match at.get(name)? {
                OpenObject::Group(group) => Cow::Owned(group),
                other => return Err(Error::Kind { path: shown(), found: other.kind(), wanted: "group" }),
            };
            there += 1;
        }
        names.drain(..there);
        at.session.check_changeable()?;
        let group = at.life();
        // In another file it is looked at again.
        let changes = if at.session == self.session { changes } else { u64::MAX };
        let session = match at {
            Cow::Borrowed(at) => Cow::Borrowed(&at.session),
            Cow::Owned(at) => Cow::Owned(at.session),
        };
        Ok(NewLocation { session, group, names, path, changes })
    }
}

impl ObjectHandle {
    /// The place for a new object of the same file that has no name.
    pub fn nowhere(&self) -> Result<NewLocation<'_>> {
        self.session.check_changeable()?;
        let (session, changes) = (Cow::Borrowed(&self.session), self.session.file().changes());
        Ok(NewLocation { session, group: self.life(), names: Names::new(), path: &[], changes })
    }
}

impl NewLocation<'_> {
    /// The file of the group that the name goes into.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// One operation: makes the groups that are missing, and a link to the object that `make` makes, which changes no group and has no attributes of committed types;
    /// where the object is. It has a handle from the start: no other thread deletes it before the caller opens it.
    pub fn make(&self, make: impl FnOnce() -> Result<u64>) -> Result<(u64, Option<Handle>)> {
        let made = self.make_kept(|| {
            let address = make()?;
            Ok(NewObject { address, committed: None, kept: self.session.file().handle(address) })
        })?;
        Ok((made.address, made.kept))
    }

    /// As [`NewLocation::make`]; what is kept of the object has a handle.
    pub fn make_kept<T>(&self, make: impl FnOnce() -> Result<NewObject<T>>) -> Result<NewObject<T>> {
        self.session.evict_closed();
        let make = || match self.names.as_slice() {
            [name] => {
                let free = FreeName::find(self.session.context(), self.group.address(), self::name(name))?;
                let made = make()?;
                free.give_to(made.address, made.committed.as_slice())?;
                Ok(made)
            }
            _ => {
                let made = make()?;
                self.name_now(made.address)?;
                Ok(made)
            }
        };
        match self.names.iter().all(|name| name.is_ascii()) {
            true => self.session.operate_beside(|| self.checked(make)),
            // It does not wait in a group of the old kind, where others may.
            false => self.operate(make),
        }
    }

    /// As [`NewLocation::make`], for an object that `complete` completes, which may change groups.
    pub fn make_of(&self, address: u64, complete: impl FnOnce() -> Result<()>) -> Result<Option<Handle>> {
        self.operate(|| {
            complete()?;
            let kept = self.session.file().handle(address);
            self.name_now(address).map(|()| kept)
        })
    }

    /// One operation: takes the name of an object away that was made here, if it has it still. Groups that were made for it stay, because another thread may use them by now.
    pub fn take_back(&self, address: u64) -> Result<()> {
        let (context, session) = (self.session.context(), self.session());
        session.operate(|| {
            session.check_alive(self.group)?;
            let Some((last, way)) = self.names.split_last() else { return Ok(()) };
            let target = |group: u64, name: &[u8]| -> Result<Option<u64>> {
                let link = Links::of(context, &Object::open(context, group)?)?.find(name)?;
                Ok(link.and_then(|link| if let Target::Hard(target) = link.target { Some(target) } else { None }))
            };
            let mut group = self.group.address();
            for name in way {
                match target(group, name)? {
                    Some(next) => group = next,
                    None => return Ok(()),
                }
            }
            if target(group, last)? == Some(address) {
                hyperslab_object::unlink(context, group, last, &mut |object| session.drop_values(object))?;
            }
            Ok(())
        })
    }

    /// Gives a new object, which has a handle, its name, if it gets one.
    fn name_now(&self, address: u64) -> Result<()> {
        let (context, file) = (self.session.context(), self.session.file());
        match self.names.is_empty() {
            true => file.begin_unnamed(address)?,
            false => hyperslab_object::link_new(context, self.last_group()?, &name(self.name()), address)?,
        }
        Ok(())
    }

    /// One operation: makes the groups that are missing, and a link to an object that has names, or to a place elsewhere.
    pub fn link(&self, target: impl FnOnce() -> Result<Target>) -> Result<()> {
        self.operate(|| {
            let target = target()?;
            Ok(hyperslab_object::link(self.session.context(), self.last_group()?, &name(self.name()), target)?)
        })
    }

    /// One operation: the link `from` of a group of the same file moves here.
    pub fn operate_move(&self, from: (Life, &[u8])) -> Result<()> {
        self.operate(|| {
            self.session.check_alive(from.0)?;
            let (context, to, name) = (self.session.context(), self.last_group()?, self.name());
            Ok(hyperslab_object::rename(context, (from.0.address(), from.1), (to, name), charset(name))?)
        })
    }

    /// One operation, which changes nothing if the name is taken.
    fn operate<T>(&self, change: impl FnOnce() -> Result<T>) -> Result<T> {
        self.session.operate(|| self.checked(|| self.check(true).and_then(|()| change())))
    }

    /// An error that says that there is a link tells the whole path.
    fn checked<T>(&self, change: impl FnOnce() -> Result<T>) -> Result<T> {
        let shown = |why| match why {
            Error::Exists(_) | Error::File(hyperslab_file::Error::Exists(_)) => {
                Error::Exists(String::from_utf8_lossy(self.path).into_owned())
            }
            why => why,
        };
        self.check(false).and_then(|()| change()).map_err(shown)
    }

    /// Refuses a name that another thread has taken since this location was looked up: that of the first group that is missing, or the last name if it
    /// `looks_for_last`.
    fn check(&self, looks_for_last: bool) -> Result<()> {
        if self.session.file().changes() == self.changes {
            return Ok(());
        }
        self.session.check_alive(self.group)?;
        let Some(&first) = self.names.first().filter(|_| looks_for_last || self.names.len() > 1) else { return Ok(()) };
        let context = self.session.context();
        let group = Object::open(context, self.group.address())?;
        match Links::of(context, &group)?.find(first)? {
            Some(_) => Err(Error::Exists(String::from_utf8_lossy(first).into_owned())),
            None => Ok(()),
        }
    }

    /// Makes the groups that are missing on the way, each like the one that it is in, as libhdf5 does; the last of them.
    fn last_group(&self) -> Result<u64> {
        let (context, mut group) = (self.session.context(), self.group.address());
        for &name in self.names.iter().take(self.names.len().saturating_sub(1)) {
            let new = hyperslab_object::new_group(context, &untimed(), &GroupSettings::of(context, group)?)?;
            hyperslab_object::link_new(context, group, &self::name(name), new)?;
            group = new;
        }
        Ok(group)
    }

    fn name(&self) -> &[u8] {
        self.names.last().copied().unwrap_or_default()
    }
}

/// Objects keep no times unless the caller wants it, as in h5py: so equal files have equal bytes.
pub fn untimed() -> ObjectSettings {
    ObjectSettings { times: false, ..Default::default() }
}

/// A new name of a group.
pub fn name(bytes: &[u8]) -> Name<'_> {
    Name::new(bytes, charset(bytes))
}

/// How a name is written: what is ASCII says so, as h5py has it.
pub fn charset(name: &[u8]) -> CharSet {
    if name.is_ascii() { CharSet::Ascii } else { CharSet::Utf8 }
}
