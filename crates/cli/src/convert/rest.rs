//! What is not converted: links, attributes, and objects as they are.

use super::form::{Form, Place};
use super::note;
use super::{Converter, Way};
use crate::failure::Failure;
use hyperslab::dtype::Arena;
use hyperslab::{Group, Link, Node, PathId, Result, Target};

impl Converter<'_> {
    /// A group and its copy: attributes are copied now, links wait.
    pub(super) fn group(&mut self, path: PathId, from: &Group, to: &Group) -> std::result::Result<(), Failure> {
        self.attributes(path, &Node::from(from.clone()), &Node::from(to.clone()))?;
        self.copied.insert(from.address(), Node::from(to.clone()));
        self.waiting.push((path, from.clone(), to.clone()));
        self.show(1, 0);
        Ok(())
    }

    /// Copies or converts what the links of a group lead to.
    pub(super) fn links(&mut self, path: PathId, from: &Group, to: &Group) -> std::result::Result<(), Failure> {
        let links = self.at(path, from.links())?;
        let mut consumed = None;
        if let Way::From(form) = self.way
            && self.at(path, form.is_of(from))?
            && let place = self.at(path, form.place(from))?
            && let Place::Within(name) = place
        {
            self.check_import(path, form, &place, &links)?;
            self.import(path, form, (from, from), (to, name.as_bytes()))?;
            consumed = Some(form);
        }
        if let Way::To(form) = self.way {
            self.check_export(path, form, from, &links)?;
        }
        for link in links.iter().filter(|link| !consumed.is_some_and(|form| form.consumes(&link.name))) {
            let below = self.paths.below(path, &link.name);
            self.link(below, link, from, to)?;
        }
        Ok(())
    }

    fn link(&mut self, path: PathId, link: &Link, from: &Group, to: &Group) -> std::result::Result<(), Failure> {
        let name = &link.name;
        let address = match &link.target {
            Target::Hard(address) => *address,
            Target::Soft(target) => return self.at(path, to.soft_link(name, target)),
            Target::External { file, path: target } => return self.at(path, to.external_link(name, file, target)),
            Target::User { class, data } => return self.at(path, to.user_link(name, *class, data)),
        };
        if let Some(copy) = self.copied.get(&address) {
            return self.at(path, to.hard_link(name, copy));
        }
        let node = self.at(path, from.file().at(address))?;
        let copy = match (&node, self.way) {
            (Node::Group(group), Way::From(form)) if self.at(path, is_replaced(form, group))? => {
                let copy = self.import(path, form, (group, from), (to, name))?;
                let attributes = attributes(&node, &copy, &|name| form.describes(name));
                self.at(path, attributes)?;
                copy
            }
            (Node::Group(group), _) => {
                // A form may have made it for a list of its own.
                let copy = self.at(path, to.require_group(name))?;
                return self.group(path, group, &copy);
            }
            (Node::Dataset(dataset), Way::To(form)) if form.fits(name, dataset) => {
                return match self.export(path, form, dataset, (to, name))? {
                    Some(group) => self.copied.insert(address, Node::from(group)).map_or(Ok(()), |_| Ok(())),
                    None => Ok(()),
                };
            }
            _ if self.made.contains(&(to.address(), name.clone())) => return Ok(()),
            _ => {
                let copied = node.copy_to(to, name);
                let bytes =
                    node.as_dataset().and_then(|dataset| dataset.stored_size().ok()).map_or(0, |size| size.bytes);
                let copied = self.at(path, copied)?;
                self.show(1, bytes);
                copied
            }
        };
        self.copied.insert(address, copy);
        Ok(())
    }

    /// Gives a copy the attributes of an object. References lead nowhere in the new file.
    pub(super) fn attributes(&self, path: PathId, from: &Node, to: &Node) -> std::result::Result<(), Failure> {
        self.at(path, attributes(from, to, &|name| name == note::NAME.as_bytes()))
    }
}

/// Whether a dataset takes the place of a group.
fn is_replaced(form: Form, group: &Group) -> Result<bool> {
    Ok(form.is_of(group)? && matches!(form.place(group)?, Place::Instead))
}

/// Copies attributes, but those that the copy has and those that are left out.
fn attributes(from: &Node, to: &Node, left_out: &dyn Fn(&[u8]) -> bool) -> Result<()> {
    for attribute in from.attributes()? {
        let attribute = attribute?;
        if left_out(&attribute.name) || to.has_attribute(&attribute.name)? || attribute.datatype.has_reference() {
            continue;
        }
        let (memory, mut arena) = (attribute.datatype.in_memory()?, Arena::default());
        let mut bytes = vec![0; memory.size().saturating_mul(usize::try_from(attribute.len()).unwrap_or(usize::MAX))];
        attribute.read_converted(&memory, &mut bytes, &mut arena)?;
        let new = to.new_attribute_of(attribute.datatype.clone());
        let new = match attribute.extent.is_null() {
            true => new.empty(),
            false => new.shape(attribute.shape()),
        };
        new.write_converted(&attribute.name, &memory, &bytes, &arena)?;
    }
    match from.comment()? {
        Some(comment) => to.set_comment(Some(&String::from_utf8_lossy(&comment))),
        None => Ok(()),
    }
}
