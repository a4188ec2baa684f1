//! Where a new name goes: the last group on the way that is there, and the names that are missing.

use hyperslab_file::Handle;
use hyperslab_object::{CharSet, FreeName, GroupSettings, Life, Links, Name, Object, ObjectSettings, Target};

use crate::{Error, ObjectHandle, OpenObject, Result, Session};

/// Where a new object goes: a name that is free, or none.
pub struct NewLocation {
    session: Session,
    group: Life,
    /// The names of groups that are missing on the way, and the last one. The object gets no name if there is none.
    names: Vec<Vec<u8>>,
    /// The whole path, for errors.
    path: Vec<u8>,
    /// How often the file had been changed when this was found out.
    changes: u64,
}

impl ObjectHandle {
    /// The place for a new object at a path from here on; an error if there is one. Links on the way are followed, other files too.
    pub fn place(&self, path: &[u8]) -> Result<NewLocation> {
        self.find_location(path, true)
    }

    /// As [`ObjectHandle::place`], but whether the last name is free is found out by the operation that gives it.
    pub fn place_unseen(&self, path: &[u8]) -> Result<NewLocation> {
        self.find_location(path, false)
    }

    fn find_location(&self, path: &[u8], looks_for_last: bool) -> Result<NewLocation> {
        let shown = || String::from_utf8_lossy(path).into_owned();
        let changes = self.session.file().changes();
        let mut at = if path.starts_with(b"/") { self.session.root_group()? } else { self.clone() };
        let names: Vec<&[u8]> =
            path.split(|&byte| byte == b'/').filter(|name| !name.is_empty() && *name != b".").collect();
        if path.contains(&0) {
            return Err(Error::Change(format!("the name {:?} has a zero in it", shown())));
        }
        if names.is_empty() {
            return Err(Error::Exists(if path.is_empty() { "an object without a name".into() } else { shown() }));
        }
        let mut missing = names.as_slice();
        while let Some((name, rest)) = missing.split_first() {
            let is_last = rest.is_empty();
            if is_last && !looks_for_last || at.find_link(name)?.is_none() {
                break;
            }
            if is_last {
                return Err(Error::Exists(shown()));
            }
            at = match at.get(name)? {
                OpenObject::Group(group) => group,
                other => return Err(Error::Kind { path: shown(), found: other.kind(), wanted: "group" }),
            };
            missing = rest;
        }
        at.session.check_changeable()?;
        let group = at.life();
        // In another file it is looked at again.
        let changes = if at.session == self.session { changes } else { u64::MAX };
        let names = missing.iter().map(|name| name.to_vec()).collect();
        Ok(NewLocation { session: at.session, group, names, path: path.to_vec(), changes })
    }
}

impl ObjectHandle {
    /// The place for a new object of the same file that has no name.
    pub fn nowhere(&self) -> Result<NewLocation> {
        self.session.check_changeable()?;
        let changes = self.session.file().changes();
        let (session, group) = (self.session.clone(), self.life());
        Ok(NewLocation { session, group, names: Vec::new(), path: Vec::new(), changes })
    }
}

impl NewLocation {
    /// The file of the group that the name goes into.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// One operation: makes the groups that are missing, and a link to the object that `make` makes, which changes no group; where the object is. It has a handle
    /// from the start: no other thread deletes it before the caller opens it.
    pub fn make(&self, make: impl FnOnce() -> Result<u64>) -> Result<(u64, Option<Handle>)> {
        let make = || match self.names.as_slice() {
            [name] => {
                let free = FreeName::find(self.session.context(), self.group.address(), &self::name(name))?;
                let address = make()?;
                let kept = self.session.file().handle(address);
                free.give_to(address)?;
                Ok((address, kept))
            }
            _ => self.name_now(make()?),
        };
        match self.names.iter().all(|name| name.is_ascii()) {
            true => self.session.operate_beside(|| self.checked(make)),
            // It does not wait in a group of the old kind, where others may.
            false => self.operate(make),
        }
    }

    /// As [`NewLocation::make`], for an object that `complete` completes, which may change groups.
    pub fn make_of(&self, address: u64, complete: impl FnOnce() -> Result<()>) -> Result<Option<Handle>> {
        let named = self.operate(|| complete().and_then(|()| self.name_now(address)))?;
        Ok(named.1)
    }

    /// Gives a new object its name, if it gets one.
    fn name_now(&self, address: u64) -> Result<(u64, Option<Handle>)> {
        let (context, file) = (self.session.context(), self.session.file());
        let kept = file.handle(address);
        match self.names.is_empty() {
            true => file.begin_unnamed(address)?,
            false => hyperslab_object::link_new(context, self.last_group()?, &name(self.name()), address)?,
        }
        Ok((address, kept))
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
                Error::Exists(String::from_utf8_lossy(&self.path).into_owned())
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
        let Some(first) = self.names.first().filter(|_| looks_for_last || self.names.len() > 1) else { return Ok(()) };
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
        for name in self.names.iter().take(self.names.len().saturating_sub(1)) {
            let new = hyperslab_object::new_group(context, &untimed(), &GroupSettings::of(context, group)?)?;
            hyperslab_object::link_new(context, group, &self::name(name), new)?;
            group = new;
        }
        Ok(group)
    }

    fn name(&self) -> &[u8] {
        self.names.last().map_or(&[], Vec::as_slice)
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
