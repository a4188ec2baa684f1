//! Groups.

use std::sync::Arc;

use hyperslab_file::Handle;
use hyperslab_format::message::Link;
use hyperslab_object::Life;
use hyperslab_session::{Current, ObjectHandle, Session};

use crate::{Dataset, File, Node, Result};

/// An object that holds links: names of other objects.
///
/// ```
/// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
/// let station = file.group("station")?;
/// assert_eq!(station.names()?, ["active", "code", "first", "name", "sky", "visits"]);
/// assert!(station.contains("code")? && !station.contains("height")?);
/// assert_eq!(station.dataset("code")?.read::<String>()?, ["ZRH", "BRN", "GVA"]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Group {
    /// Before the file, so that it is dropped before.
    pub(crate) open: ObjectHandle,
}

impl Group {
    /// The file that it is in.
    pub fn file(&self) -> File {
        File { session: self.session().clone() }
    }

    pub(crate) fn of(open: ObjectHandle) -> Group {
        Group { open }
    }

    pub(crate) fn session(&self) -> &Session {
        &self.open.session
    }

    pub(crate) fn object(&self) -> Result<Current<'_>> {
        self.open.current()
    }

    /// All links, in the order of their names' bytes.
    pub fn links(&self) -> Result<Vec<Link>> {
        self.open.read_links(|links| links.all())
    }

    /// All links, in the order in which they were made; in the order of their names where a group does not keep it.
    ///
    /// ```
    /// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
    /// let links = file.group("station")?.links_as_made()?;
    /// assert_eq!(links.first().map(|link| link.name.as_slice()), Some(&b"name"[..]));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn links_as_made(&self) -> Result<Vec<Link>> {
        self.open.links_as_made()
    }

    /// Whether it keeps the order in which links are made.
    pub fn tracks_order(&self) -> Result<bool> {
        self.open.tracks_order()
    }

    /// The link with this name.
    pub fn link(&self, name: impl AsRef<[u8]>) -> Result<Option<Link>> {
        self.open.read_links(|links| links.find(name.as_ref()))
    }

    /// The names of all links, in the order of their bytes. What is not UTF-8 in them is replaced; [`Group::links`] has the bytes.
    pub fn names(&self) -> Result<Vec<String>> {
        let text = |link: Link| {
            String::from_utf8(link.name).unwrap_or_else(|why| String::from_utf8_lossy(why.as_bytes()).into_owned())
        };
        Ok(self.links()?.into_iter().map(text).collect())
    }

    /// How many links it has.
    pub fn len(&self) -> Result<u64> {
        self.open.read_links(|links| links.count())
    }

    /// Whether it has no links.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Whether it has a link with this name, wherever that leads.
    pub fn contains(&self, name: impl AsRef<[u8]>) -> Result<bool> {
        Ok(self.link(name)?.is_some())
    }

    /// The object that a path leads to, from this group on; from the root group if it begins with a slash.
    pub fn get(&self, path: impl AsRef<[u8]>) -> Result<Node> {
        self.open.get(path.as_ref()).map(Node::of)
    }

    /// The group that a path leads to, from this group on.
    pub fn group(&self, path: impl AsRef<[u8]>) -> Result<Group> {
        self.get(&path)?.into_group().map_err(|why| why.of(path.as_ref()))
    }

    /// The dataset that a path leads to, from this group on.
    pub fn dataset(&self, path: impl AsRef<[u8]>) -> Result<Dataset> {
        self.get(&path)?.into_dataset().map_err(|why| why.of(path.as_ref()))
    }

    /// What its links lead to, with their names, in the order of the names. Each object is opened when its turn comes, and one that
    /// cannot be does not hide the others.
    ///
    /// ```
    /// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
    /// for (name, node) in file.root()?.members()? {
    ///     println!("{} is a {}", String::from_utf8_lossy(&name), node?.kind());
    /// }
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn members(&self) -> Result<impl Iterator<Item = (Vec<u8>, Result<Node>)>> {
        let group = self.clone();
        Ok(self.links()?.into_iter().map(move |link| {
            let node = group.follow(&link);
            (link.name, node)
        }))
    }

    /// The object that a link of this group leads to.
    pub(crate) fn follow(&self, link: &Link) -> Result<Node> {
        match link.target {
            // Where nothing changes, what the link led to is there.
            hyperslab_object::Target::Hard(address) if !self.session().file().is_writable() => {
                self.session().at(address).map(Node::of)
            }
            _ => self.get(&link.name),
        }
    }

    /// What keeps it.
    pub(crate) fn handle(&self) -> Option<Arc<Handle>> {
        self.open.handle()
    }

    pub(crate) fn life(&self) -> Life {
        self.open.life()
    }

    /// Where its header is.
    pub fn address(&self) -> u64 {
        self.open.address()
    }
}
