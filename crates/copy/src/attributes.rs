//! Attributes of copies.

use hyperslab_dtype::Datatype;
use hyperslab_object::{NewAttribute, NewType};

use super::{
    CopyOptions,
    damage::{OfSource, Step, Trouble},
    gathered::Gathered,
    tree::Copier,
};
use hyperslab_object::PathId;
use hyperslab_session::{Error, OpenAttribute, OpenObject, Result};

impl Copier<'_> {
    /// Copies all attributes, in the order in which they were made.
    pub(super) fn attributes(&mut self, path: PathId, from: &OpenObject, to: &OpenObject) -> Result<()> {
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

    fn attribute(&mut self, attribute: &OpenAttribute, to: &OpenObject) -> Step<()> {
        let Some((attribute, stored, gathered)) = self.gather_attribute(attribute)? else { return Ok(()) };
        let (file, target) = (attribute.session(), self.target.clone());
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
            hyperslab_object::set_attribute(target.context(), to.address(), &new)?;
            Result::Ok(())
        });
        put.map_err(Trouble::Target)
    }

    /// The attribute as it is now, its type in the target, and what its values name in the heap; nothing if it was deleted.
    fn gather_attribute(
        &mut self,
        attribute: &OpenAttribute,
    ) -> Step<Option<(OpenAttribute, Datatype, Option<Gathered>)>> {
        let file = attribute.session();
        let changes = file.file().is_writable() && attribute.datatype.has_vlen();
        // References to objects of another file may have to copy these first: two copies in opposite directions, each of which holds changes of its
        // source off, would wait for each other.
        let is_safe = !attribute.datatype.has_reference() || *file == self.target;
        let held = (changes && is_safe).then(|| file.file().reading());
        let now = match changes.then(|| attribute.renewed()) {
            Some(Err(Error::Missing(_))) => return Ok(None),
            Some(now) => now.of_source()?,
            None => attribute.clone(),
        };
        let stored = self.target.in_file(&now.datatype)?;
        let gathered = self.gather(file, &now.datatype, &stored, &now.data).of_source()?;
        if held.is_none() {
            now.held().of_source()?;
        }
        Ok(Some((now, stored, gathered)))
    }
}

/// Gives another object of the same file copies of all attributes of an object, and its comment. Attributes of the same names are replaced.
pub fn copy_attributes(from: &OpenObject, to: &OpenObject) -> Result<()> {
    if from.session() != to.session() {
        return Err(Error::Change("attributes are copied within a file; copy the object to another one".into()));
    }
    let (session, address, mut show) = (to.session(), to.address(), |_| ());
    let mut copier = Copier::new(CopyOptions::default(), session, &mut show);
    copier.shares_types = true;
    let path = copier.paths.top(b"attribute ");
    copier.attributes(path, from, to)?;
    copier.check_whole()?;
    let Some(comment) = from.comment()? else { return Ok(()) };
    session.operate(|| Ok(hyperslab_object::set_comment(session.context(), address, Some(&comment))?))
}
