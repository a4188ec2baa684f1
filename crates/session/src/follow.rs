//! Paths that may lead through links into other files.

use std::path::Path;

use hyperslab_base::ErrorKind;
use hyperslab_format::message::Target;
use hyperslab_object::{Found, LinkBudget};

use crate::{
    Error, OpenObject, Result, Session,
    search::{self, Prefixes},
    virtual_read_budget::VirtualReadBudget,
};

/// Where a path leads.
pub(crate) enum Reached {
    Object(OpenObject),
    /// The name that is missing, and whether everything before it is there.
    Missing {
        at: Vec<u8>,
        last: bool,
    },
    /// A link into a file that is missing, and that file's name.
    NoFile {
        link: Vec<u8>,
        file: Vec<u8>,
    },
}

impl Session {
    /// Follows a path from an object of this file on, through all links and files.
    pub(crate) fn follow(&self, start: u64, path: &[u8], budget: &VirtualReadBudget) -> Result<Reached> {
        let mut links = LinkBudget::default();
        let (mut session, mut start, mut path) = (self.clone(), start, path.to_vec());
        loop {
            session.evict_closed();
            let link = {
                let held = session.file().reading();
                let context = session.context();
                match session.read_current(|| Ok(hyperslab_object::resolve(context, start, &path, &mut links)?))? {
                    Found::Object(object) => {
                        let object = session.read_current(|| OpenObject::new(&session, *object))?;
                        drop(held);
                        return object.grown(budget).map(Reached::Object);
                    }
                    Found::Missing { at, last } => return Ok(Reached::Missing { at, last }),
                    Found::Endless { at } => {
                        let why = format!("more than {} links lead from one to the next", LinkBudget::MOST);
                        let link = String::from_utf8_lossy(&at).into_owned();
                        return Err(Error::Link { link, why, kind: ErrorKind::LinkLoop });
                    }
                    Found::Beyond(link) => *link,
                }
            };
            // What the user says of links, and other files, come without a lock of this one.
            match session.linked_files.options.stands_for(link.target, &link.at)? {
                Target::Hard(address) => (start, path) = (address, [b".", link.rest.as_slice()].concat()),
                Target::Soft(target) => (start, path) = (link.group, [target, link.rest].concat()),
                Target::External { file: name, path: target } => {
                    let Some(next) = session.linked(&name)? else {
                        return Ok(Reached::NoFile { link: link.at, file: name });
                    };
                    (start, path) = (next.root()?, [target, link.rest].concat());
                    session = next;
                }
                Target::User { class, .. } => {
                    let link = String::from_utf8_lossy(&link.at).into_owned();
                    let why = format!("class {class} leads nowhere");
                    return Err(Error::Link { link, why, kind: ErrorKind::Unsupported });
                }
            }
        }
    }

    /// The file that an external link of this one names.
    fn linked(&self, name: &[u8]) -> Result<Option<Session>> {
        let prefixes =
            Prefixes { variable: search::LINK_PREFIX, option: self.linked_files.options.link_prefix.as_deref() };
        self.find_other(name, prefixes, false)
    }

    /// A file that this one names; none if it is missing.
    pub(crate) fn find_other(&self, name: &[u8], prefixes: Prefixes<'_>, write: bool) -> Result<Option<Session>> {
        let places = search::places(name, prefixes, self.path());
        let refusal = |place: &Path, write| self.refusal(place, prefixes, write);
        let Some(mut found) = self.linked_files.find(&places, write, &|place| refusal(place, write))? else {
            return Ok(None);
        };
        // This process may have it open for writing; that does not let another file change it, nor what that leads to.
        let why = || found.path().and_then(|place| refusal(place, true)).map(Into::into);
        found.refuses = self.refuses.clone().or_else(why);
        Ok(Some(found))
    }
}

impl Reached {
    /// The object, or an error that says what is missing.
    pub(crate) fn object(self) -> Result<OpenObject> {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        match self {
            Reached::Object(object) => Ok(object),
            Reached::Missing { at, .. } => Err(Error::Missing(text(at))),
            Reached::NoFile { link, file } => {
                let why = format!("there is no file {} where external links are looked for", text(file));
                Err(Error::Link { link: text(link), why, kind: ErrorKind::NotFound })
            }
        }
    }
}
