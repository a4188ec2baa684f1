//! Any object of a file.

use hyperslab_dtype::Datatype;
use hyperslab_object::{Attribute, Kind, Object};

use crate::{Dataset, File, Group, Result};

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
    pub(crate) file: File,
    pub(crate) object: Object,
}

impl Node {
    /// The object as what it is, opened below `depth` virtual datasets.
    pub(crate) fn new(file: &File, object: Object, depth: u8) -> Result<Node> {
        let file = file.clone();
        Ok(match object.kind() {
            Kind::Group => Node::Group(Group { file, object }),
            Kind::Dataset => Node::Dataset(Dataset::open(file, object, depth)?),
            Kind::Datatype => Node::Datatype(NamedDatatype { file, object }),
        })
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
        self.object().address()
    }

    /// Its attributes, in the order of their names' bytes; one that cannot be understood does not hide the others.
    pub fn attributes(&self) -> Result<Vec<Result<Attribute>>> {
        let found = self.object().attributes(&self.file().inner.context)?;
        Ok(found.into_iter().map(|attribute| attribute.map_err(Into::into)).collect())
    }

    /// Its comment.
    pub fn comment(&self) -> Option<&[u8]> {
        self.object().comment()
    }

    fn object(&self) -> &Object {
        match self {
            Node::Group(group) => &group.object,
            Node::Dataset(dataset) => dataset.object(),
            Node::Datatype(datatype) => &datatype.object,
        }
    }

    fn file(&self) -> &File {
        match self {
            Node::Group(group) => &group.file,
            Node::Dataset(dataset) => dataset.file(),
            Node::Datatype(datatype) => &datatype.file,
        }
    }
}

impl NamedDatatype {
    /// The datatype.
    pub fn datatype(&self) -> Result<Datatype> {
        Ok(self.object.datatype(&self.file.inner.context)?.0)
    }
}
