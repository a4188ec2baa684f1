//! Any object of a file.

use std::sync::Arc;

use hyperslab_dtype::Datatype;
use hyperslab_file::Handle;
use hyperslab_object::{Kind, Life, Object};

use crate::{Dataset, Error, File, Group, Result, current::Current, trip::Trip, unnamed::Opened};

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
    pub(crate) object: Opened,
    pub(crate) file: File,
}

impl Node {
    /// The object as what it is, before it has [grown](Node::grown). The caller holds changes off.
    pub(crate) fn new(file: &File, object: Object) -> Result<Node> {
        let file = file.clone();
        Ok(match object.kind() {
            Kind::Group => Node::Group(Group { object: Opened::new(&file, object), file }),
            Kind::Dataset => Node::Dataset(Dataset::open(&file, object)?),
            Kind::Datatype => Node::Datatype(NamedDatatype { object: Opened::new(&file, object), file }),
        })
    }

    /// The object with the size that its sources give it now, as [`Dataset::grown`].
    pub(crate) fn grown(self, trip: &Trip) -> Result<Node> {
        match self {
            Node::Dataset(dataset) => dataset.grown(trip).map(Node::Dataset),
            other => Ok(other),
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
        self.file().check_alive(self.life()).is_ok()
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
    pub fn file(&self) -> &File {
        match self {
            Node::Group(group) => &group.file,
            Node::Dataset(dataset) => dataset.file(),
            Node::Datatype(datatype) => &datatype.file,
        }
    }
}

impl NamedDatatype {
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn object(&self) -> Result<Current<'_>> {
        self.file.current(&self.object)
    }

    /// What keeps it.
    pub(crate) fn handle(&self) -> Option<Arc<Handle>> {
        self.object.handle()
    }

    pub(crate) fn life(&self) -> Life {
        self.object.life()
    }

    /// Where its header is.
    pub fn address(&self) -> u64 {
        self.object.address()
    }

    /// The datatype.
    pub fn datatype(&self) -> Result<Datatype> {
        Ok(self.object()?.datatype(&self.file.inner.context)?.0)
    }
}
