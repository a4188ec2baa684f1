//! Which lists come into a group of the new file, and whether its links leave the names to them.

use super::Converter;
use super::form::{Form, Place};
use super::note::Note;
use crate::failure::Failure;
use hyperslab::{Group, Link, Node, PathId, Target};

impl Converter<'_> {
    /// Fails if links of a group that becomes sparse have the name that the sparse dataset will have.
    pub(super) fn check_import(&self, path: PathId, form: Form, place: &Place, links: &[Link]) -> Result<(), Failure> {
        let Place::Within(name) = place else { return Ok(()) };
        match links.iter().any(|link| link.name == name.as_bytes()) {
            true => Err(self.refuse(
                path,
                format!("the lists of the form {} would become a dataset {name} here, and this name is taken; rename that object", form.name()),
            )),
            false => Ok(()),
        }
    }

    /// Fails if more than one sparse dataset of a group would become lists of the group itself, or if such lists would have the names of other objects there.
    pub(super) fn check_export(&self, path: PathId, form: Form, group: &Group, links: &[Link]) -> Result<(), Failure> {
        let mut before: Option<&Link> = None;
        for link in links {
            let Target::Hard(address) = link.target else { continue };
            // What cannot be opened fails later, when it is copied.
            let Ok(Node::Dataset(dataset)) = group.file().at(address) else { continue };
            if !form.fits(&link.name, &dataset) || !self.at(path, Note::of(form, &dataset))?.is_within {
                continue;
            }
            let name = |link: &Link| String::from_utf8_lossy(&link.name).into_owned();
            let lists = form.names().join(", ");
            if let Some(before) = before.replace(link) {
                let why = format!(
                    "the sparse datasets {} and {} would both become the lists {lists} of this group; move one of them to a group of its own",
                    name(before),
                    name(link)
                );
                return Err(self.refuse(path, why));
            }
            if let Some(taken) = links.iter().find(|link| form.consumes(&link.name)) {
                let why = format!(
                    "the sparse dataset {} would become the lists {lists} of this group, and the name {} is taken",
                    name(link),
                    name(taken)
                );
                return Err(self.refuse(path, why));
            }
        }
        Ok(())
    }
}
