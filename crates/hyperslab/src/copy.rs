//! Copies of objects with everything below them, within a file and from one to another.

use hyperslab_copy::CopyProgress;

use crate::{Dataset, Group, NamedDatatype, Node, Result};

/// How objects are copied: with everything below them, unless more is said. Links stay what they are, and objects with several names
/// are copied once.
///
/// References to objects and regions stay as they are in a copy within the file, and refer to nothing in one to another file.
///
/// ```
/// use hyperslab::CopyOptions;
/// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
/// let root = file.root()?;
/// root.new_dataset::<i32>().write("run/first/numbers", &[1, 2, 3])?;
/// root.copy("run", &root, "all")?;
/// CopyOptions::new().shallow().copy(&root.get("run")?, &root, "some")?;
/// assert_eq!(root.dataset("all/first/numbers")?.read::<i32>()?, [1, 2, 3]);
/// assert!(root.group("some/first")?.is_empty()?);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CopyOptions {
    options: hyperslab_copy::CopyOptions,
}

impl CopyOptions {
    /// What [`Group::copy`] does.
    pub fn new() -> CopyOptions {
        CopyOptions::default()
    }

    /// Of a group only what it holds itself: the groups in it are copied without their links.
    #[must_use]
    pub fn shallow(mut self) -> CopyOptions {
        self.options.shallow = true;
        self
    }

    /// What soft links lead to is copied in their place. Those that lead nowhere stay.
    #[must_use]
    pub fn expand_soft(mut self) -> CopyOptions {
        self.options.expand_soft = true;
        self
    }

    /// What external links lead to is copied in their place. Those that lead nowhere stay.
    #[must_use]
    pub fn expand_external(mut self) -> CopyOptions {
        self.options.expand_external = true;
        self
    }

    /// In a copy to another file, what references refer to is copied too, and they refer to the copy. What has no other name there gets
    /// one in the root group: `~obj_pointed_by_` and where it is, as libhdf5 has it.
    #[must_use]
    pub fn expand_references(mut self) -> CopyOptions {
        self.options.expand_references = true;
        self
    }

    /// Copies no attributes.
    #[must_use]
    pub fn without_attributes(mut self) -> CopyOptions {
        self.options.without_attributes = true;
        self
    }

    /// Copies an object to a path from a group on, which may be in another file. Groups on the way are made if they are missing. The copy
    /// gets its name when it is complete; if something goes wrong, there is none. What cannot be read is an error that names all objects
    /// whose headers are damaged, or the first whose values or attributes are: [`Error::Damaged`](crate::Error::Damaged).
    pub fn copy(&self, from: &Node, to: &Group, path: impl AsRef<[u8]>) -> Result<Node> {
        self.copy_showing(from, to, path, &mut |_| {})
    }

    /// As [`CopyOptions::copy`]; shows how far it is. The values of a dataset in a file that can be changed are copied while its writers wait, and shown when they
    /// are all there.
    pub fn copy_showing(
        &self,
        from: &Node,
        to: &Group,
        path: impl AsRef<[u8]>,
        progress: &mut dyn FnMut(CopyProgress),
    ) -> Result<Node> {
        self.options.copy(&from.open(), &to.open, path.as_ref(), progress).map(Node::of)
    }
}

impl Group {
    /// Copies the object at a path from here on, with everything below it, to a path from another group on. [`CopyOptions`] can say more.
    ///
    /// ```
    /// # use hyperslab::{File, driver::Memory};
    /// # let (first, second) = (File::create_on(std::sync::Arc::new(Memory::new()))?, File::create_on(std::sync::Arc::new(Memory::new()))?);
    /// first.root()?.new_dataset::<f32>().write("a/b", &[1.5])?;
    /// first.root()?.copy("a", &second.root()?, "copied/a")?;
    /// assert_eq!(second.dataset("copied/a/b")?.read::<f32>()?, [1.5]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn copy(&self, from: impl AsRef<[u8]>, to: &Group, path: impl AsRef<[u8]>) -> Result<Node> {
        self.get(from)?.copy_to(to, path)
    }
}

impl Node {
    /// Copies it, with everything below it, to a path from a group on.
    pub fn copy_to(&self, to: &Group, path: impl AsRef<[u8]>) -> Result<Node> {
        CopyOptions::new().copy(self, to, path)
    }

    /// Gives another object of the same file copies of all attributes of this one, and its comment. Attributes of the same names
    /// are replaced, and committed datatypes are shared. An error if one cannot be read.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let root = file.root()?;
    /// root.create_group("old")?.set_attribute("units", "m")?;
    /// root.create_group("new")?;
    /// root.get("old")?.copy_attributes_to(&root.get("new")?)?;
    /// assert_eq!(root.group("new")?.attribute("units")?.read_scalar::<String>()?, "m");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn copy_attributes_to(&self, to: &Node) -> Result<()> {
        hyperslab_copy::copy_attributes(&self.open(), &to.open())
    }
}

macro_rules! nodes {
    ($($kind:ident $object:ty)*) => {$(
        impl From<$object> for Node {
            fn from(object: $object) -> Node {
                Node::$kind(object)
            }
        }
    )*};
}
nodes!(Group Group  Dataset Dataset  Datatype NamedDatatype);
