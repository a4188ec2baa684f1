//! Enumerations: named values of an integer.

use crate::compound::MAX_MEMBERS;
use crate::convert::Number;
use crate::datatype::{Class, Datatype};
use crate::{Error, Name, Result};

/// Names and values of an enumeration, in the order of the file.
#[derive(Clone, Debug)]
pub struct Enum {
    base: Box<Datatype>,
    names: Vec<Name>,
    /// All values, one after the other, as the base type has them.
    values: Vec<u8>,
}

impl Enum {
    /// The integer type of the values.
    pub fn base(&self) -> &Datatype {
        &self.base
    }

    /// Names and values; the bytes are those of a value of the base type.
    pub fn members(&self) -> impl ExactSizeIterator<Item = (&Name, &[u8])> {
        self.names.iter().zip(self.values.chunks_exact(self.base.size()))
    }

    /// Names and values, the values as integers, if the base has at most 16 bytes. Unsigned ones beyond 2^127 wrap.
    ///
    /// ```
    /// use hyperslab_dtype::{Class, Datatype};
    /// let Class::Enum(bool) = Datatype::of::<bool>().class().clone() else { unreachable!() };
    /// let values: Vec<_> = bool.values().map(|(name, value)| (name.to_string(), value)).collect();
    /// assert_eq!(values, [("FALSE".to_string(), Some(0)), ("TRUE".to_string(), Some(1))]);
    /// ```
    pub fn values(&self) -> impl Iterator<Item = (&Name, Option<i128>)> {
        let number = Number::of(&self.base);
        self.members().map(move |(name, bytes)| (name, number.and_then(|number| number.to_i128(bytes))))
    }

    pub(crate) fn raw_values(&self) -> &[u8] {
        &self.values
    }

    /// Members by name.
    pub(crate) fn by_name(&self) -> Vec<(&Name, &[u8])> {
        let mut sorted: Vec<_> = self.members().collect();
        sorted.sort_by_key(|&(name, _)| name);
        sorted
    }
}

impl Datatype {
    /// An enumeration over an integer type of at most 16 bytes.
    ///
    /// ```
    /// use hyperslab_dtype::Datatype;
    /// let color = Datatype::enumeration(Datatype::of::<u8>(), [("RED", 0), ("GREEN", 7)])?;
    /// assert_eq!(color.to_string(), "enum u8 {RED = 0, GREEN = 7}");
    /// assert!(Datatype::enumeration(Datatype::of::<u8>(), [("HUGE", 256)]).is_err());
    /// # Ok::<(), hyperslab_dtype::Error>(())
    /// ```
    pub fn enumeration<N: AsRef<[u8]>>(
        base: Datatype,
        members: impl IntoIterator<Item = (N, i128)>,
    ) -> Result<Datatype> {
        let number = Number::of(&base).ok_or_else(|| {
            Error::invalid("enumeration", format!("values of type {base} cannot be given as integers"))
        })?;
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for (name, value) in members {
            names.push(Name::new(name)?);
            let mut bytes = vec![0; base.size()];
            if !number.of_i128(value, &mut bytes) {
                return Err(Error::invalid("enumeration", format!("{value} is not a value of {base}")));
            }
            values.append(&mut bytes);
        }
        Datatype::enumeration_of(base, names, values)
    }

    /// The truth values of h5py.
    pub(crate) fn boolean() -> Datatype {
        let base = Box::new(Datatype::of::<i8>());
        let names = ["FALSE", "TRUE"].map(Name::of_literal).into();
        Datatype { size: 1, depth: 1, class: Class::Enum(Enum { base, names, values: vec![0, 1] }) }
    }

    /// An enumeration with values as the base type has them, one after the other.
    pub fn enumeration_of(base: Datatype, names: Vec<Name>, values: Vec<u8>) -> Result<Datatype> {
        let refuse = |why: String| Err(Error::invalid("enumeration", why));
        if !matches!(base.class(), Class::Fixed(_)) {
            return refuse(format!("its values are {base}, not integers"));
        }
        if names.len() > MAX_MEMBERS || names.len().checked_mul(base.size()) != Some(values.len()) {
            return refuse(format!("{} names do not go with {} bytes of values", names.len(), values.len()));
        }
        if names.iter().any(|name| name.as_bytes().is_empty()) {
            return refuse("a member has no name".into());
        }
        Datatype::checked(base.size, Class::Enum(Enum { base: Box::new(base), names, values }))
    }
}
