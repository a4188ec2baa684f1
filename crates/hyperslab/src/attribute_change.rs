//! Attributes come, go, and get other values and names.

use std::{borrow::Cow, sync::Arc};

use hyperslab_dtype::{Arena, Datatype, NoHeap, Plan};
use hyperslab_file::Handle;
use hyperslab_object::{Life, NewType};
use hyperslab_session::{HeapWriter, Session, charset, room};
use hyperslab_space::Extent;

use hyperslab_element::Writing;

use crate::{Dataset, Error, Group, NamedDatatype, Node, Result, Storable};

/// An attribute that is not there yet, as `new_attribute` of an object gives it.
///
/// ```
/// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
/// let root = file.root()?;
/// root.new_attribute::<f32>().shape([2, 2]).write("matrix", &[1.0, 0.0, 0.0, 1.0])?;
/// assert_eq!(root.attribute("matrix")?.shape(), [2, 2]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[must_use = "nothing happens before `write`"]
#[derive(Debug)]
pub struct NewAttribute {
    /// What keeps the owner. Before the file, so that it is dropped before.
    _handle: Option<Arc<Handle>>,
    session: Session,
    owner: Life,
    kind: Result<Kind>,
    extent: Wanted,
}

/// A new attribute whose stored type is as the file has it.
struct TypedAttribute {
    _handle: Option<Arc<Handle>>,
    session: Session,
    owner: Life,
    stored: Datatype,
    /// Where the stored type is committed.
    committed: Option<u64>,
    extent: Wanted,
}

#[derive(Debug)]
enum Kind {
    Own(Datatype),
    Committed(NamedDatatype),
}

#[derive(Debug)]
enum Wanted {
    /// That of the values: one dimension.
    Usual,
    Empty,
    Scalar,
    Simple(Vec<u64>),
}

impl NewAttribute {
    fn new(session: &Session, owner: (Life, Option<Arc<Handle>>), kind: Result<Kind>) -> NewAttribute {
        let (owner, handle) = owner;
        NewAttribute { _handle: handle, session: session.clone(), owner, kind, extent: Wanted::Usual }
    }

    /// Its size in each dimension. Without this it has one dimension, for all values.
    pub fn shape(self, shape: impl AsRef<[u64]>) -> NewAttribute {
        let shape = shape.as_ref();
        NewAttribute { extent: if shape.is_empty() { Wanted::Scalar } else { Wanted::Simple(shape.to_vec()) }, ..self }
    }

    /// One value without dimensions.
    pub fn scalar(self) -> NewAttribute {
        NewAttribute { extent: Wanted::Scalar, ..self }
    }

    /// No values, and no place for any.
    pub fn empty(self) -> NewAttribute {
        NewAttribute { extent: Wanted::Empty, ..self }
    }

    /// The stored type, if it is not that of the Rust type.
    pub fn datatype(self, datatype: Datatype) -> NewAttribute {
        NewAttribute { kind: Ok(Kind::Own(datatype)), ..self }
    }

    /// The stored type is a committed one of the same file, and stays bound to it.
    pub fn committed(self, datatype: &NamedDatatype) -> NewAttribute {
        NewAttribute { kind: Ok(Kind::Committed(datatype.clone())), ..self }
    }

    /// Makes the attribute, instead of one that may have this name.
    pub fn write<T: Storable>(self, name: impl AsRef<[u8]>, values: &[T]) -> Result<()> {
        let typed = self.with_stored_type()?;
        let writing = Writing::<T>::new(&typed.stored)?;
        let (bytes, arena) = writing.encode(values)?;
        typed.put(name.as_ref(), values.len() as u64, writing.plan(), &bytes, &arena)
    }

    /// As [`NewAttribute::write`], with values that are bytes of `datatype`; what is of variable length is in the arena.
    pub fn write_converted(
        self,
        name: impl AsRef<[u8]>,
        datatype: &Datatype,
        bytes: &[u8],
        arena: &Arena,
    ) -> Result<()> {
        let typed = self.with_stored_type()?;
        let plan = Plan::new(datatype, &typed.stored)?;
        typed.put(name.as_ref(), (bytes.len() / datatype.size().max(1)) as u64, &plan, bytes, arena)
    }

    /// The same, with the stored type as the file has it, and where it is committed.
    fn with_stored_type(self) -> Result<TypedAttribute> {
        let NewAttribute { _handle, session, owner, kind, extent } = self;
        let (stored, committed) = match kind? {
            Kind::Own(own) => (session.in_file(&own)?, None),
            Kind::Committed(named) if *named.session() == session => (named.datatype()?, Some(named.address())),
            Kind::Committed(_) => return Err(Error::Change("a committed datatype of another file".into())),
        };
        Ok(TypedAttribute { _handle, session, owner, stored, committed, extent })
    }
}

impl TypedAttribute {
    fn put(&self, name: &[u8], count: u64, plan: &Plan, bytes: &[u8], arena: &Arena) -> Result<()> {
        let (stored, committed) = (&self.stored, self.committed);
        let extent = match &self.extent {
            Wanted::Usual => Extent::simple(&[count])?,
            Wanted::Empty => Extent::null(),
            Wanted::Scalar => Extent::scalar(),
            Wanted::Simple(shape) => Extent::simple(shape)?,
        };
        if extent.elements() != Some(count) {
            return Err(Error::Length { values: count, room: extent.elements().unwrap_or(u64::MAX) });
        }
        let (mut data, session) = (room(count, stored.size())?, &self.session);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        session.operate_on(self.owner.address(), || {
            session.check_alive(self.owner)?;
            let (charset, extent, owner) = (charset(name), &extent, self.owner.address());
            let datatype = || committed.map_or(NewType::Own(stored), NewType::Committed);
            if stored.has_vlen() {
                let new = hyperslab_object::NewAttribute { name, charset, datatype: datatype(), extent, data: &data };
                hyperslab_object::check_attribute(session.context(), owner, &new)?;
            }
            let mut heap = HeapWriter::new(session);
            match stored.has_vlen() {
                true => heap.attempt(|heap| {
                    plan.convert(count, bytes, &mut data, arena, heap)?;
                    heap.commit()
                })?,
                false => plan.convert(count, bytes, &mut data, arena, &mut NoHeap)?,
            }
            let new = hyperslab_object::NewAttribute { name, charset, datatype: datatype(), extent, data: &data };
            let went = hyperslab_object::set_attribute(session.context(), owner, &new)?;
            heap.remove(went.map_or_else(Vec::new, |went| session.heap_objects(&went.datatype, &went.data)));
            Ok(())
        })
    }
}

macro_rules! attributes_change {
    ($($owner:ty)*) => {$(
        /// Changing attributes.
        impl $owner {
            /// Gives it an attribute of one value, instead of one that may have this name.
            ///
            /// ```
            /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
            /// let root = file.root()?;
            /// root.set_attribute("title", "measured")?;
            /// root.set_attribute("version", 3)?;
            /// assert_eq!(root.attribute("title")?.read_scalar::<String>()?, "measured");
            /// # Ok::<(), hyperslab::Error>(())
            /// ```
            pub fn set_attribute<T: Storable>(&self, name: impl AsRef<[u8]>, value: T) -> Result<()> {
                self.new_attribute::<T>().scalar().write(name, std::slice::from_ref(&value))
            }

            /// Gives it an attribute of one dimension, instead of one that may have this name.
            pub fn set_attribute_values<T: Storable>(&self, name: impl AsRef<[u8]>, values: &[T]) -> Result<()> {
                self.new_attribute::<T>().write(name, values)
            }

            /// A new attribute, of which more can be said.
            pub fn new_attribute<T: Storable + ?Sized>(&self) -> NewAttribute {
                NewAttribute::new(self.session(), (self.life(), self.handle()), T::datatype().map(Kind::Own))
            }

            /// As `new_attribute`, for values of a datatype.
            pub fn new_attribute_of(&self, datatype: Datatype) -> NewAttribute {
                NewAttribute::new(self.session(), (self.life(), self.handle()), Ok(Kind::Own(datatype)))
            }

            /// Takes an attribute away.
            pub fn remove_attribute(&self, name: impl AsRef<[u8]>) -> Result<()> {
                let (session, name) = (self.session(), name.as_ref());
                let was_there = session.operate_on(self.address(), || -> Result<bool> {
                    session.check_alive(self.life())?;
                    let went = |went: &hyperslab_object::Attribute| {
                        HeapWriter::new(session).remove(session.heap_objects(&went.datatype, &went.data));
                    };
                    Ok(hyperslab_object::remove_attribute(session.context(), self.address(), name, went)?)
                })?;
                if was_there { Ok(()) } else { Err(missing(name)) }
            }

            /// Gives an attribute another name.
            pub fn rename_attribute(&self, from: impl AsRef<[u8]>, to: impl AsRef<[u8]>) -> Result<()> {
                let (session, from, to) = (self.session(), from.as_ref(), to.as_ref());
                self.attribute_there(from)?;
                if from != to && self.has_attribute(to)? {
                    return Err(Error::Exists(format!("attribute {}", text(to))));
                }
                let address = self.address();
                let context = session.context();
                session.operate_on(address, || {
                    session.check_alive(self.life())?;
                    Ok(hyperslab_object::rename_attribute(context, address, from, to, charset(to))?)
                })
            }

            fn attribute_there(&self, name: &[u8]) -> Result<()> {
                match self.has_attribute(name)? {
                    true => Ok(()),
                    false => Err(missing(name)),
                }
            }
        }
    )*};
}
attributes_change!(Node Group Dataset NamedDatatype);

fn missing(name: &[u8]) -> Error {
    Error::Missing(format!("attribute {}", text(name)))
}

fn text(name: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(name)
}
