//! Changing groups: new groups and links, links that move or go.

use hyperslab_dtype::Datatype;
use hyperslab_object::{GroupSettings, ObjectSettings, Target};

use hyperslab_session::{OpenObject, untimed};

use crate::{Dataset, Error, Group, NamedDatatype, Node, Result};

/// A group that is not there yet, as [`Group::new_group`] gives it.
#[must_use = "nothing happens before `create`"]
#[derive(Debug)]
pub struct NewGroup {
    parent: Group,
    object: ObjectSettings,
    group: GroupSettings,
}

impl NewGroup {
    /// Whether the order is kept in which links and attributes are made.
    pub fn track_order(mut self, track: bool) -> NewGroup {
        (self.object.ordered, self.object.indexed) = (track, track);
        (self.group.tracked, self.group.indexed) = (track, track);
        self
    }

    /// Whether the times of changes are kept.
    pub fn track_times(mut self, track: bool) -> NewGroup {
        self.object.times = track;
        self
    }

    /// Makes the group at a path. Groups on the way are made if they are missing.
    pub fn create(self, path: impl AsRef<[u8]>) -> Result<Group> {
        let place = self.parent.open.place(path.as_ref())?;
        let context = place.session().context();
        let (address, _kept) = place.make(|| Ok(hyperslab_object::new_group(context, &self.object, &self.group)?))?;
        place.session().at(address)?.into_group().map(Group::of)
    }
}

/// Changes.
impl Group {
    /// Makes a group at a path from here on. Groups on the way are made if they are missing.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let deep = file.root()?.create_group("a/b/c")?;
    /// assert!(file.group("a/b")?.contains("c")?);
    /// assert!(file.root()?.create_group("a/b").is_err());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn create_group(&self, path: impl AsRef<[u8]>) -> Result<Group> {
        self.new_group().create(path)
    }

    /// A new group, of which more can be said.
    pub fn new_group(&self) -> NewGroup {
        NewGroup { parent: self.clone(), object: untimed(), group: GroupSettings::default() }
    }

    /// The group at a path from here on, made if it is missing.
    pub fn require_group(&self, path: impl AsRef<[u8]>) -> Result<Group> {
        match self.create_group(&path) {
            Err(Error::Exists(_)) => self.group(path),
            made => made,
        }
    }

    /// Gives an object of the same file another name: a hard link.
    pub fn hard_link(&self, path: impl AsRef<[u8]>, object: &Node) -> Result<()> {
        let place = self.open.place_unseen(path.as_ref())?;
        if object.session() != place.session() {
            return Err(Error::Change("an object of another file: make an external link, or copy it".into()));
        }
        place.link(|| {
            place.session().check_alive(object.life())?;
            Ok(Target::Hard(object.address()))
        })
    }

    /// A link to a path, whether something is there or not.
    pub fn soft_link(&self, path: impl AsRef<[u8]>, target: impl AsRef<[u8]>) -> Result<()> {
        self.other_link(path.as_ref(), Target::Soft(target.as_ref().to_vec()))
    }

    /// A link to a path in another file.
    pub fn external_link(
        &self,
        path: impl AsRef<[u8]>,
        file: impl AsRef<[u8]>,
        target: impl AsRef<[u8]>,
    ) -> Result<()> {
        let (file, target) = (file.as_ref().to_vec(), target.as_ref().to_vec());
        self.other_link(path.as_ref(), Target::External { file, path: target })
    }

    /// A link of a class of the user's own, 65 to 255, with what that class keeps in it.
    pub fn user_link(&self, path: impl AsRef<[u8]>, class: u8, data: impl AsRef<[u8]>) -> Result<()> {
        if class < 65 {
            return Err(Error::Change(format!("classes of users are 65 to 255, not {class}")));
        }
        self.other_link(path.as_ref(), Target::User { class, data: data.as_ref().to_vec() })
    }

    fn other_link(&self, path: &[u8], target: Target) -> Result<()> {
        let place = self.open.place_unseen(path)?;
        let has_zero = match &target {
            Target::Soft(path) => path.is_empty() || path.contains(&0),
            Target::External { file, path } => {
                file.is_empty() || path.is_empty() || file.contains(&0) || path.contains(&0)
            }
            _ => false,
        };
        if has_zero {
            return Err(Error::Change("a link needs somewhere to lead to, without zeros in it".into()));
        }
        place.link(|| Ok(target))
    }

    /// Takes the name at a path away. An object without names is gone, with everything that only it leads to.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let root = file.root()?;
    /// root.create_group("a/b")?;
    /// root.hard_link("kept", &root.get("a/b")?)?;
    /// root.delete("a")?;
    /// assert_eq!(root.names()?, ["kept"]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn delete(&self, path: impl AsRef<[u8]>) -> Result<()> {
        let path = path.as_ref();
        let (group, name) = self.split(path)?;
        let session = group.session();
        if session.check_changeable().is_err() {
            return self.holder(path).map(drop); // which tells what is wrong
        }
        let was_there = session.operate(|| {
            session.check_alive(group.life())?;
            let drop = &mut |object: &hyperslab_object::Object| session.drop_values(object);
            Ok(hyperslab_object::unlink(session.context(), group.address(), name, drop)?)
        })?;
        if was_there { Ok(()) } else { Err(missing(path)) }
    }

    /// Puts an object without a name, such as one of [`NewDataset::create_unnamed`](crate::NewDataset::create_unnamed), in the place of
    /// what the link at a path leads to, which loses that name. A process that is killed meanwhile leaves one or the other there.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let root = file.root()?;
    /// let old = root.new_dataset::<i32>().write("numbers", &[1, 2])?;
    /// old.set_attribute("unit", "mm")?;
    /// let new = root.new_dataset::<f64>().write_unnamed(&[1.5, 2.5, 3.5])?.into();
    /// hyperslab::Node::from(old).copy_attributes_to(&new)?;
    /// root.replace("numbers", &new)?;
    /// assert_eq!(root.dataset("numbers")?.read::<f64>()?, [1.5, 2.5, 3.5]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn replace(&self, path: impl AsRef<[u8]>, new: &Node) -> Result<()> {
        let (group, name) = self.holder(path.as_ref())?;
        let session = group.session();
        if new.session() != session {
            return Err(Error::Change("a link leads to an object of its own file: copy the other there".into()));
        }
        if !session.file().is_unnamed(new.address()) {
            return Err(Error::Change("an object that has a name already takes no other's place: link it".into()));
        }
        // A reader that comes by the link finds all values.
        if let Node::Dataset(dataset) = new {
            dataset.flush()?;
        }
        session.operate(|| {
            session.check_alive(group.life())?;
            session.check_alive(new.life())?;
            let drop = &mut |object: &hyperslab_object::Object| session.drop_values(object);
            Ok(hyperslab_object::relink(session.context(), group.address(), &name, new.address(), drop)?)
        })
    }

    /// Gives the link at one path another one. Groups on the way to it are made if they are missing.
    pub fn rename(&self, from: impl AsRef<[u8]>, to: impl AsRef<[u8]>) -> Result<()> {
        let (group, name) = self.holder(from.as_ref())?;
        let place = self.open.place(to.as_ref())?;
        if group.session() != place.session() {
            return Err(Error::Change("a link does not move to another file: copy what it leads to".into()));
        }
        place.operate_move((group.life(), &name))
    }

    /// Makes a datatype an object of its own, that datasets and attributes can share.
    pub fn commit_datatype(&self, path: impl AsRef<[u8]>, datatype: &Datatype) -> Result<NamedDatatype> {
        let place = self.open.place(path.as_ref())?;
        let session = place.session();
        let datatype = session.in_file(datatype)?;
        let (address, _kept) =
            place.make(|| Ok(hyperslab_object::new_datatype(session.context(), &untimed(), &datatype)?))?;
        match session.at(address)? {
            OpenObject::Datatype(open) => Ok(NamedDatatype { open }),
            other => Err(Error::Kind { path: "the new object".into(), found: other.kind(), wanted: "datatype" }),
        }
    }

    /// The group that holds the last link of a path, and the link's name; an error if there is no such link.
    fn holder(&self, path: &[u8]) -> Result<(Group, Vec<u8>)> {
        let (group, name) = self.split(path)?;
        if !group.contains(name)? {
            return Err(missing(path));
        }
        group.session().check_changeable()?;
        Ok((group, name.to_vec()))
    }

    /// The group that a path leads to without its last name, and that name.
    fn split<'p>(&self, path: &'p [u8]) -> Result<(Group, &'p [u8])> {
        let end = path.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
        let trimmed = path.get(..end).unwrap_or_default();
        let start = trimmed.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
        match trimmed.split_at(start) {
            ([], name) => Ok((self.clone(), name)),
            (parent, name) => Ok((self.group(parent)?, name)),
        }
    }
}

fn missing(path: &[u8]) -> Error {
    Error::Missing(String::from_utf8_lossy(path).into_owned())
}

macro_rules! have_comments {
    ($($object:ty)*) => {$(
        impl $object {
            /// Gives it a comment, or takes it away.
            pub fn set_comment(&self, comment: Option<&str>) -> Result<()> {
                let (session, address) = (self.session(), self.address());
                let comment = comment.map(str::as_bytes);
                if comment.is_some_and(|comment| comment.contains(&0)) {
                    return Err(Error::Change("a comment with a zero in it".into()));
                }
                session.operate_on(address, || {
                    session.check_alive(self.life())?;
                    Ok(hyperslab_object::set_comment(session.context(), address, comment)?)
                })
            }
        }
    )*};
}
have_comments!(Node Group Dataset NamedDatatype);
