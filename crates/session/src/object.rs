//! Objects of a file, opened.

use std::sync::Arc;

use hyperslab_file::Handle;
use hyperslab_format::message::Link;
use hyperslab_object::{GroupSettings, Kind, Life, Links, Object};

use crate::{
    Current, Error, OpenAttribute, OpenDataset, Opened, Result, Session, virtual_read_budget::VirtualReadBudget,
};

/// An object of a file, and the opening through which it was found.
#[derive(Clone, Debug)]
pub struct ObjectHandle {
    /// The open file.
    pub session: Session,
    /// The object, as it was when it was opened.
    pub object: Opened,
}

/// An object of a file, with what is known of its kind.
#[derive(Clone, Debug)]
pub enum OpenObject {
    /// A group.
    Group(ObjectHandle),
    /// A dataset.
    Dataset(OpenDataset),
    /// A committed datatype.
    Datatype(ObjectHandle),
}

impl ObjectHandle {
    fn new(session: &Session, object: Object) -> ObjectHandle {
        ObjectHandle { session: session.clone(), object: Opened::new(session, object) }
    }

    /// The object as it is now.
    pub fn current(&self) -> Result<Current<'_>> {
        self.session.current(&self.object)
    }

    /// Which object it is, also if another one has its address later.
    pub fn life(&self) -> Life {
        self.object.life()
    }

    /// Where its header is.
    pub fn address(&self) -> u64 {
        self.object.address()
    }

    /// What keeps it, if it may lose its last name.
    pub fn handle(&self) -> Option<Arc<Handle>> {
        self.object.handle()
    }

    /// Reads of the links of a group.
    pub fn read_links<T>(&self, read: impl FnOnce(Links<'_>) -> hyperslab_file::Result<T>) -> Result<T> {
        self.session.read_current(|| Ok(read(Links::of(self.session.context(), &*self.current()?)?)?))
    }

    /// The link of a group with a name.
    pub fn find_link(&self, name: &[u8]) -> Result<Option<Link>> {
        self.read_links(|links| links.find(name))
    }

    /// All links of a group, in the order in which they were made if the group keeps it.
    pub fn links_as_made(&self) -> Result<Vec<Link>> {
        let mut links = self.read_links(|links| links.all())?;
        // libhdf5 lets a link keep its number when it moves to a group that has none.
        if self.tracks_order()? {
            links.sort_by_key(|link| link.order);
        }
        Ok(links)
    }

    /// Whether a group keeps the order in which its links are made.
    pub fn tracks_order(&self) -> Result<bool> {
        let current = self.current()?;
        let settings =
            self.session.read_current(|| Ok(GroupSettings::of(self.session.context(), current.address())?))?;
        Ok(settings.tracked)
    }

    /// The object that a path leads to from a group on.
    pub fn get(&self, path: &[u8]) -> Result<OpenObject> {
        self.session.check_alive(self.life())?;
        self.session.get(self.address(), path)
    }
}

impl OpenObject {
    /// The caller holds changes off, or is the operation itself.
    pub(crate) fn new(session: &Session, object: Object) -> Result<OpenObject> {
        Ok(match object.kind() {
            Kind::Group => OpenObject::Group(ObjectHandle::new(session, object)),
            Kind::Dataset => OpenObject::Dataset(OpenDataset::open(session, object)?),
            Kind::Datatype => OpenObject::Datatype(ObjectHandle::new(session, object)),
        })
    }

    /// The same, just opened, as large as its sources make it if it is a virtual dataset. The caller holds no lock.
    pub(crate) fn grown(self, budget: &VirtualReadBudget) -> Result<OpenObject> {
        match self {
            OpenObject::Dataset(dataset) => dataset.grown(budget).map(OpenObject::Dataset),
            other => Ok(other),
        }
    }

    /// What it is, for errors.
    pub fn kind(&self) -> &'static str {
        match self {
            OpenObject::Group(_) => "group",
            OpenObject::Dataset(_) => "dataset",
            OpenObject::Datatype(_) => "datatype",
        }
    }

    /// The file that it is in.
    pub fn session(&self) -> &Session {
        match self {
            OpenObject::Group(object) | OpenObject::Datatype(object) => &object.session,
            OpenObject::Dataset(dataset) => dataset.session(),
        }
    }

    /// Its header as it is now.
    pub fn current(&self) -> Result<Current<'_>> {
        match self {
            OpenObject::Group(object) | OpenObject::Datatype(object) => object.current(),
            OpenObject::Dataset(dataset) => dataset.object(),
        }
    }

    /// Which object it is, also if another one has its address later.
    pub fn life(&self) -> Life {
        match self {
            OpenObject::Group(object) | OpenObject::Datatype(object) => object.life(),
            OpenObject::Dataset(dataset) => dataset.life(),
        }
    }

    /// What keeps it, if it may lose its last name.
    pub fn handle(&self) -> Option<Arc<Handle>> {
        match self {
            OpenObject::Group(object) | OpenObject::Datatype(object) => object.handle(),
            OpenObject::Dataset(dataset) => dataset.handle(),
        }
    }

    /// Its comment, if it has one.
    pub fn comment(&self) -> Result<Option<Vec<u8>>> {
        Ok(self.current()?.comment().map(<[u8]>::to_vec))
    }

    /// All of its attributes; each may be damaged by itself.
    pub fn attributes(&self) -> Result<Vec<Result<OpenAttribute>>> {
        let context = self.session().context();
        let found = self.session().read_current(|| Ok(self.current()?.attributes(context)?))?;
        let own = |stored| OpenAttribute::new(self.session(), (self.life(), self.handle()), stored);
        Ok(found.into_iter().map(|stored| stored.map(own).map_err(Into::into)).collect())
    }

    /// Where its header is.
    pub fn address(&self) -> u64 {
        match self {
            OpenObject::Group(object) | OpenObject::Datatype(object) => object.address(),
            OpenObject::Dataset(dataset) => dataset.address(),
        }
    }

    /// The group; an error if it is something else.
    pub fn into_group(self) -> Result<ObjectHandle> {
        match self {
            OpenObject::Group(group) => Ok(group),
            other => Err(other.is_no("group")),
        }
    }

    /// The dataset; an error if it is something else.
    pub fn into_dataset(self) -> Result<OpenDataset> {
        match self {
            OpenObject::Dataset(dataset) => Ok(dataset),
            other => Err(other.is_no("dataset")),
        }
    }

    fn is_no(&self, wanted: &'static str) -> Error {
        Error::Kind { path: format!("the object at {:#x}", self.address()), found: self.kind(), wanted }
    }
}
