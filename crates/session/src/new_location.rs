//! Where a new name goes: the last group on the way that is there, and the names that are missing.

use hyperslab_file::Handle;
use hyperslab_object::{CharSet, GroupSettings, Life, Links, Name, Object, ObjectSettings, Target};

use crate::{Error, ObjectHandle, OpenObject, Result, Session};

/// Where a new object goes: a name that is free, or none.
pub struct NewLocation {
    session: Session,
    group: Life,
    /// The names of groups that are missing on the way, and the last one. The object gets no name if there is none.
    names: Vec<Vec<u8>>,
    /// How often the file had been changed when this was found out.
    changes: u64,
}

impl ObjectHandle {
    /// The place for a new object at a path from here on; an error if there is one. Links on the way are followed, other files too.
    pub fn place(&self, path: &[u8]) -> Result<NewLocation> {
        self.find_location(path, true)
    }

    /// As [`ObjectHandle::place`], for a link alone: it finds out itself whether there is one with its name.
    pub fn place_for_link(&self, path: &[u8]) -> Result<NewLocation> {
        self.find_location(path, false)
    }

    fn find_location(&self, path: &[u8], looks_for_last: bool) -> Result<NewLocation> {
        let shown = || String::from_utf8_lossy(path).into_owned();
        let changes = self.session.file().changes();
        let mut at = if path.starts_with(b"/") { self.session.root_group()? } else { self.clone() };
        let names = path.split(|&byte| byte == b'/').filter(|name| !name.is_empty() && *name != b".");
        let mut names: std::collections::VecDeque<&[u8]> = names.collect();
        if path.contains(&0) {
            return Err(Error::Change(format!("the name {:?} has a zero in it", shown())));
        }
        let Some(last) = names.len().checked_sub(1) else {
            return Err(Error::Exists(if path.is_empty() { "an object without a name".into() } else { shown() }));
        };
        for nth in 0..=last {
            let Some(&name) = names.front() else { break };
            if nth == last && !looks_for_last || at.find_link(name)?.is_none() {
                break;
            }
            if nth == last {
                return Err(Error::Exists(shown()));
            }
            at = match at.get(name)? {
                OpenObject::Group(group) => group,
                other => return Err(Error::Kind { path: shown(), found: other.kind(), wanted: "group" }),
            };
            names.pop_front();
        }
        at.session.check_changeable()?;
        let group = at.life();
        // In another file it is looked at again.
        let changes = if at.session == self.session { changes } else { u64::MAX };
        Ok(NewLocation { session: at.session, group, names: names.into_iter().map(<[u8]>::to_vec).collect(), changes })
    }
}

impl ObjectHandle {
    /// The place for a new object of the same file that has no name.
    pub fn nowhere(&self) -> Result<NewLocation> {
        self.session.check_changeable()?;
        let changes = self.session.file().changes();
        Ok(NewLocation { session: self.session.clone(), group: self.life(), names: Vec::new(), changes })
    }
}

/// What a new name leads to.
pub enum NewLinkTarget {
    /// A new object, at an address: this is its first name.
    Object(u64),
    /// An object that has names, or a place elsewhere.
    Other(Target),
}

impl NewLocation {
    /// The file of the group that the name goes into.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// One operation: makes the groups that are missing, and a link to what `make` makes. A new object has a handle from the start: no other
    /// thread deletes it before the caller opens it.
    pub fn operate(&self, make: impl FnOnce() -> Result<NewLinkTarget>) -> Result<Option<Handle>> {
        self.session.operate(|| {
            self.check()?;
            let made = make()?;
            let context = self.session.context();
            let name = name(self.name());
            match made {
                NewLinkTarget::Other(target) => {
                    let group = self.last_group()?;
                    let linked = hyperslab_object::link(context, group, &name, target);
                    linked.map(|()| None).map_err(|why| match why {
                        hyperslab_file::Error::Exists(_) => {
                            Error::Exists(String::from_utf8_lossy(self.name()).into_owned())
                        }
                        why => why.into(),
                    })
                }
                NewLinkTarget::Object(address) => {
                    let kept = context.file().handle(address);
                    match self.names.is_empty() {
                        true => context.file().begin_unnamed(address)?,
                        false => hyperslab_object::link_new(context, self.last_group()?, &name, address)?,
                    }
                    Ok(kept)
                }
            }
        })
    }

    /// One operation: the link `from` of a group of the same file moves here.
    pub fn operate_move(&self, from: (Life, &[u8])) -> Result<()> {
        self.session.operate(|| {
            self.check()?;
            self.session.check_alive(from.0)?;
            let (context, to, name) = (self.session.context(), self.last_group()?, self.name());
            Ok(hyperslab_object::rename(context, (from.0.address(), from.1), (to, name), charset(name))?)
        })
    }

    /// Refuses a name that another thread has taken since this location was looked up.
    fn check(&self) -> Result<()> {
        if self.session.file().changes() == self.changes {
            return Ok(());
        }
        let (context, first) = (self.session.context(), self.names.first().map_or(&[][..], Vec::as_slice));
        self.session.check_alive(self.group)?;
        if self.names.is_empty() {
            return Ok(());
        }
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
