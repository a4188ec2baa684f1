//! Attributes of copies.

use hyperslab_object::{NewAttribute, NewType};

use super::{
    CopyOptions,
    damage::{OfSource, Step, Trouble},
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
            let copied = self.attribute(attribute, from, to);
            let name = || String::from_utf8_lossy(&attribute.name);
            self.leave_out(copied, |copier| format!("{}@{}", copier.path(path), name()))?;
        }
        Ok(())
    }

    fn attribute(&mut self, attribute: &Attribute, from: &Node, to: &Node) -> Step<()> {
        let (file, target) = (from.file(), self.target.clone());
        let committed = attribute.committed.map(|address| self.committed(file, address)).transpose()?;
        let stored = datatype::in_file(&attribute.datatype, &target)?;
        let gathered = self.gather(file, &attribute.datatype, &stored, &attribute.data).of_source()?;
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
