//! Attributes of copies.

use hyperslab_dtype::Datatype;
use hyperslab_object::{NewAttribute, NewType};

use super::{
    CopyOptions,
    damage::{OfSource, Step, Trouble},
    gather::Gathered,
    tree::Copier,
};
use crate::{Attribute, Error, Node, PathId, Result, datatype};

impl Copier<'_> {
    /// Copies all attributes, in the order in which they were made.
    pub(super) fn attributes(&mut self, path: PathId, from: &Node, to: &Node) -> Result<()> {
        let all = from.attributes().of_source();
        let all = self.leave_out(all, |copier| format!("{}@", copier.path(path)))?.unwrap_or_default();
        let mut attributes = Vec::new();
        for attribute in all {
            let attribute = attribute.of_source();
            attributes.extend(self.leave_out(attribute, |copier| format!("{}@", copier.path(path)))?);
        }
        attributes.sort_by_key(|attribute| attribute.order);
        for attribute in &attributes {
            let copied = self.attribute(attribute, to);
            let name = || String::from_utf8_lossy(&attribute.name);
            self.leave_out(copied, |copier| format!("{}@{}", copier.path(path), name()))?;
        }
        Ok(())
    }

    fn attribute(&mut self, attribute: &Attribute, to: &Node) -> Step<()> {
        let Some((attribute, stored, gathered)) = self.gather_attribute(attribute)? else { return Ok(()) };
        let (file, target) = (attribute.file(), self.target.clone());
        let committed = attribute.committed.map(|address| self.committed(file, address)).transpose()?;
        let put = target.operate(|| {
            let data = match gathered {
                Some(gathered) => gathered.store(&target)?,
                None => attribute.data.clone(),
            };
            let new = NewAttribute {
                name: &attribute.name,
                charset: attribute.charset,
                datatype: committed.map_or(NewType::Own(&stored), NewType::Committed),
                extent: &attribute.extent,
                data: &data,
            };
            hyperslab_object::set_attribute(&target.inner.context, to.address(), &new)?;
            Result::Ok(())
        });
        put.map_err(Trouble::Target)
    }

    /// The attribute as it is now, its type in the target, and what its values name in the heap; nothing if it was deleted.
    fn gather_attribute(&mut self, attribute: &Attribute) -> Step<Option<(Attribute, Datatype, Option<Gathered>)>> {
        let file = attribute.file();
        let changes = file.inner.is_writable() && attribute.datatype.has_vlen();
        // References to objects of another file may have to copy these first: two copies in opposite directions, each of which holds changes of its
        // source off, would wait for each other.
        let is_safe = !attribute.datatype.has_reference() || *file == self.target;
        let held = (changes && is_safe).then(|| file.inner.context.file().reading());
        let now = match changes.then(|| attribute.renewed()) {
            Some(Err(Error::Missing(_))) => return Ok(None),
            Some(now) => now.of_source()?,
            None => attribute.clone(),
        };
        let stored = datatype::in_file(&now.datatype, &self.target)?;
        let gathered = self.gather(file, &now.datatype, &stored, &now.data).of_source()?;
        if held.is_none() {
            now.held().of_source()?;
        }
        Ok(Some((now, stored, gathered)))
    }
}

impl Node {
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
        if self.file() != to.file() {
            return Err(Error::Change("attributes are copied within a file; copy the object to another one".into()));
        }
        let mut show = |_| ();
        let mut copier = Copier::new(CopyOptions::new(), to.file(), &mut show);
        copier.shares_types = true;
        let path = copier.paths.top(b"attribute ");
        copier.attributes(path, self, to)?;
        copier.is_whole()?;
        let Some(comment) = self.comment()? else { return Ok(()) };
        let (file, address) = (to.file(), to.address());
        file.operate(|| Ok(hyperslab_object::set_comment(&file.inner.context, address, Some(&comment))?))
    }
}
