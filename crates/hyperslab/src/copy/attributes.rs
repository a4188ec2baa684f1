//! Attributes of copies.

use hyperslab_object::{NewAttribute, NewType};

use super::tree::Copier;
use crate::{Node, Result, datatype};

impl Copier<'_> {
    /// Copies all attributes, in the order in which they were made.
    pub(super) fn attributes(&mut self, from: &Node, to: &Node) -> Result<()> {
        let (file, target) = (from.file(), self.target.clone());
        let mut attributes = from.attributes()?.into_iter().collect::<Result<Vec<_>>>()?;
        attributes.sort_by_key(|attribute| attribute.order);
        for attribute in attributes {
            let committed = attribute.committed.map(|address| self.committed(file, address)).transpose()?;
            let stored = datatype::in_file(&attribute.datatype, &target)?;
            let gathered = self.gather(file, &attribute.datatype, &stored, &attribute.data)?;
            target.operate(|| {
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
                Result::Ok(hyperslab_object::set_attribute(&target.inner.context, to.address(), &new)?)
            })?;
        }
        Ok(())
    }
}
