//! Any object of a file.

use std::sync::Arc;

use hyperslab_dtype::Datatype;
use hyperslab_file::Handle;
use hyperslab_object::Life;
use hyperslab_session::{Current, ObjectHandle, OpenObject, Session};

use crate::{Dataset, Error, File, Group, Result};

/// An object of a file.
#[derive(Clone, Debug)]
pub enum Node {
    /// It holds links.
    Group(Group),
    /// It holds values.
    Dataset(Dataset),
    /// It is a datatype with a name.
    Datatype(NamedDatatype),
}

/// A committed datatype.
#[derive(Clone, Debug)]
pub struct NamedDatatype {
    /// Before the file, so that it is dropped before.
    pub(crate) open: ObjectHandle,
}

impl Node {
    /// The object below the handle.
    pub(crate) fn open(&self) -> OpenObject {
        match self.clone() {
            Node::Group(group) => OpenObject::Group(group.open),
            Node::Dataset(dataset) => OpenObject::Dataset(dataset.open),
            Node::Datatype(datatype) => OpenObject::Datatype(datatype.open),
        }
    }

    pub(crate) fn of(open: OpenObject) -> Node {
        match open {
            OpenObject::Group(open) => Node::Group(Group { open }),
            OpenObject::Dataset(open) => Node::Dataset(Dataset { open }),
            OpenObject::Datatype(open) => Node::Datatype(NamedDatatype { open }),
        }
    }

    /// What it is, in a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Node::Group(_) => "group",
            Node::Dataset(_) => "dataset",
            Node::Datatype(_) => "datatype",
        }
    }

    /// Where its header is; the same for all names of an object.
    pub fn address(&self) -> u64 {
        match self {
            Node::Group(group) => group.address(),
            Node::Dataset(dataset) => dataset.address(),
            Node::Datatype(datatype) => datatype.address(),
        }
    }

    /// The group, if it is one.
    ///
    /// ```
    /// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
    /// let node = file.get("station")?;
    /// assert!(node.as_group().is_some() && node.as_dataset().is_none());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn as_group(&self) -> Option<&Group> {
        match self {
            Node::Group(group) => Some(group),
            _ => None,
        }
    }

    /// The dataset, if it is one.
    pub fn as_dataset(&self) -> Option<&Dataset> {
        match self {
            Node::Dataset(dataset) => Some(dataset),
            _ => None,
        }
    }

    /// The committed datatype, if it is one.
    pub fn as_datatype(&self) -> Option<&NamedDatatype> {
        match self {
            Node::Datatype(datatype) => Some(datatype),
            _ => None,
        }
    }

    /// The group; an error if it is none.
    pub fn into_group(self) -> Result<Group> {
        match self {
            Node::Group(group) => Ok(group),
            other => Err(other.is_no("group")),
        }
    }

    /// The dataset; an error if it is none.
    pub fn into_dataset(self) -> Result<Dataset> {
        match self {
            Node::Dataset(dataset) => Ok(dataset),
            other => Err(other.is_no("dataset")),
        }
    }

    fn is_no(&self, wanted: &'static str) -> Error {
        Error::Kind { path: format!("the object at {:#x}", self.address()), found: self.kind(), wanted }
    }

    /// Its comment.
    pub fn comment(&self) -> Result<Option<Vec<u8>>> {
        Ok(self.object()?.comment().map(<[u8]>::to_vec))
    }

    pub(crate) fn object(&self) -> Result<Current<'_>> {
        match self {
            Node::Group(group) => group.object(),
            Node::Dataset(dataset) => dataset.object(),
            Node::Datatype(datatype) => datatype.object(),
        }
    }

    /// What keeps it.
    pub(crate) fn handle(&self) -> Option<Arc<Handle>> {
        match self {
            Node::Group(group) => group.handle(),
            Node::Dataset(dataset) => dataset.handle(),
            Node::Datatype(datatype) => datatype.handle(),
        }
    }

    pub(crate) fn life(&self) -> Life {
        match self {
            Node::Group(group) => group.life(),
            Node::Dataset(dataset) => dataset.life(),
            Node::Datatype(datatype) => datatype.life(),
        }
    }

    /// Whether it can be used. An object that is deleted while handles of it are open can be used through them until the last one is dropped,
    /// or the file is closed; it can get a name again.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let root = file.root()?;
    /// root.create_group("a")?;
    /// let group = file.get("a")?;
    /// root.delete("a")?;
    /// assert!(group.is_alive());
    /// group.set_attribute("still", "here")?;
    /// root.hard_link("b", &group)?;
    /// assert!(file.get("b")?.has_attribute("still")?);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn is_alive(&self) -> bool {
        self.session().check_alive(self.life()).is_ok()
    }

    /// How many hard links lead to it, as it says itself.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let root = file.root()?;
    /// root.create_group("a")?;
    /// root.hard_link("b", &root.get("a")?)?;
    /// assert_eq!(root.get("a")?.hard_links()?, 2);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn hard_links(&self) -> Result<u32> {
        Ok(self.object()?.references()?)
    }

    /// The file that it is in.
    pub fn file(&self) -> File {
        File { session: self.session().clone() }
    }

    pub(crate) fn session(&self) -> &Session {
        match self {
            Node::Group(group) => group.session(),
            Node::Dataset(dataset) => dataset.session(),
            Node::Datatype(datatype) => datatype.session(),
        }
    }
}

impl NamedDatatype {
    pub(crate) fn session(&self) -> &Session {
        &self.open.session
    }

    pub(crate) fn object(&self) -> Result<Current<'_>> {
        self.open.current()
    }

    /// What keeps it.
    pub(crate) fn handle(&self) -> Option<Arc<Handle>> {
        self.open.handle()
    }

    pub(crate) fn life(&self) -> Life {
        self.open.life()
    }

    /// Where its header is.
    pub fn address(&self) -> u64 {
        self.open.address()
    }

    /// The datatype.
    pub fn datatype(&self) -> Result<Datatype> {
        Ok(self.object()?.datatype(self.session().context())?.0)
    }
}
