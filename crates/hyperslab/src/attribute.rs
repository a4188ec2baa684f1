//! Attributes: small named arrays that belong to an object.

use std::{borrow::Cow, ops::Deref};

use hyperslab_dtype::{Arena, Datatype, Plan};
use hyperslab_session::{OpenAttribute, Session};

use hyperslab_element::Reading;

use crate::{Dataset, Element, Error, File, Group, NamedDatatype, Node, Result};

/// A small named array that belongs to a group, a dataset or a committed datatype. What the file says of it are the fields of
/// what it dereferences to.
///
/// ```
/// # let file = hyperslab::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5"))?;
/// let dataset = file.dataset("temperature")?;
/// assert_eq!(dataset.attribute("units")?.read_scalar::<String>()?, "degree Celsius");
/// assert_eq!(dataset.attribute("range")?.read::<f64>()?, [-40.0, 60.0]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Attribute {
    open: OpenAttribute,
}

impl Attribute {
    pub(crate) fn session(&self) -> &Session {
        self.open.session()
    }

    /// Holds changes off while its values are looked up in the heap.
    pub(crate) fn held(&self) -> Result<hyperslab_file::Reading<'_>> {
        self.open.held()
    }

    /// The file that it is in.
    pub fn file(&self) -> File {
        File { session: self.session().clone() }
    }

    /// Its name; what is not UTF-8 in it is replaced.
    pub fn name(&self) -> Cow<'_, str> {
        self.open.name()
    }

    /// Its size in each dimension; nothing for a scalar.
    pub fn shape(&self) -> &[u64] {
        self.open.extent.dims()
    }

    /// How many values it has.
    pub fn len(&self) -> u64 {
        self.open.extent.elements().unwrap_or(u64::MAX)
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its values, the last dimension fastest.
    pub fn read<T: Element>(&self) -> Result<Vec<T>> {
        let _held = self.open.held()?;
        Reading::new(&self.open.datatype)?.values(self.session(), &self.open.data)
    }

    /// Reads all values into `buf`, as values of another datatype. What is of variable length is put into `arena`.
    ///
    /// In a file that is being changed, an attribute whose values of variable length are not there any more is an [`Error::Outdated`]:
    /// [`Attribute::renewed`] has those that came instead.
    pub fn read_converted(&self, datatype: &Datatype, buf: &mut [u8], arena: &mut Arena) -> Result<()> {
        let _held = self.open.held()?;
        let plan = Plan::new(&self.open.datatype, datatype)?;
        let count = buf.len() / datatype.size().max(1);
        Ok(plan.convert(count, &self.open.data, buf, &self.session().heap(), arena)?)
    }

    /// The attribute of this name as it is now.
    pub fn renewed(&self) -> Result<Attribute> {
        self.open.renewed().map(|open| Attribute { open })
    }

    /// Its only value.
    pub fn read_scalar<T: Element>(&self) -> Result<T> {
        let values = self.len();
        if values != 1 {
            return Err(Error::Length { values, room: 1 });
        }
        self.read()?.pop().ok_or(Error::Length { values: 0, room: 1 })
    }
}

impl Deref for Attribute {
    type Target = hyperslab_object::Attribute;

    fn deref(&self) -> &hyperslab_object::Attribute {
        &self.open
    }
}

macro_rules! have_attributes {
    ($($owner:ty)*) => {$(
        /// Attributes.
        impl $owner {
            /// The attribute with this name.
            pub fn attribute(&self, name: impl AsRef<[u8]>) -> Result<Attribute> {
                let (name, context) = (name.as_ref(), self.session().context());
                let missing = || Error::Missing(format!("attribute {}", String::from_utf8_lossy(name)));
                let find = || Ok(self.object()?.find_attribute(context, name)?);
                let stored = self.session().read_current(find)?.ok_or_else(missing)?;
                Ok(Attribute { open: OpenAttribute::new(self.session(), (self.life(), self.handle()), stored) })
            }

            /// Whether there is an attribute with this name.
            pub fn has_attribute(&self, name: impl AsRef<[u8]>) -> Result<bool> {
                let (name, context) = (name.as_ref(), self.session().context());
                let find = || Ok(self.object()?.find_attribute(context, name)?);
                Ok(self.session().read_current(find)?.is_some())
            }

            /// How many attributes there are. None of them is read.
            pub fn attribute_count(&self) -> Result<u64> {
                let context = self.session().context();
                self.session().read_current(|| Ok(self.object()?.attribute_count(context)?))
            }

            /// The names of all attributes, in the order of their bytes; what is not UTF-8 in them is replaced.
            pub fn attribute_names(&self) -> Result<Vec<String>> {
                let context = self.session().context();
                let names = self.session().read_current(|| Ok(self.object()?.attribute_names(context)?))?;
                Ok(names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
            }

            /// The names of all attributes, as bytes, in the order in which they were made; in the order of their bytes where the
            /// object does not keep it.
            pub fn attribute_names_as_made(&self) -> Result<Vec<Vec<u8>>> {
                let context = self.session().context();
                self.session().read_current(|| Ok(self.object()?.attribute_names_as_made(context)?))
            }

            /// All attributes, in the order of their names' bytes; one that cannot be understood does not hide the others.
            pub fn attributes(&self) -> Result<Vec<Result<Attribute>>> {
                let context = self.session().context();
                let found = self.session().read_current(|| Ok(self.object()?.attributes(context)?))?;
                let own = |stored| {
                    Attribute { open: OpenAttribute::new(self.session(), (self.life(), self.handle()), stored) }
                };
                Ok(found.into_iter().map(|stored| stored.map(own).map_err(Into::into)).collect())
            }
        }
    )*};
}
have_attributes!(Node Group Dataset NamedDatatype);
