//! Which version of the message each part of a datatype is written in.

use crate::datatype::{Class, Datatype, Reference};
use crate::{Float, Order};

/// A version of the datatype message.
///
/// | lower bound of the file | version |
/// |---|---|
/// | earliest | 1 |
/// | 1.8, 1.10 | 3 |
/// | 1.12, 1.14 | 4 |
/// | 2.0 and later | 5 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Names padded to eight bytes; member dimensions instead of arrays.
    V1 = 1,
    /// Arrays.
    V2,
    /// Nothing padded; VAX floating-point numbers.
    V3,
    /// Revised references.
    V4,
    /// Complex numbers.
    V5,
}

/// The versions of a datatype and of its parts.
pub(super) struct Versions {
    pub(super) version: Version,
    pub(super) parts: Vec<Versions>,
}

impl Versions {
    /// The versions libhdf5 writes: the lowest that can hold each part, then raised by the lower bound.
    pub(super) fn of(datatype: &Datatype, least: Version) -> Versions {
        let mut versions = Versions::lowest(datatype);
        if least > versions.version {
            versions.raise(datatype, least);
        }
        versions
    }

    fn lowest(datatype: &Datatype) -> Versions {
        let class = datatype.class();
        let own = match class {
            Class::Array(_) => Version::V2,
            Class::Float(Float { bits, .. }) if bits.order == Order::Vax => Version::V3,
            Class::Reference(Reference::Revised(_)) => Version::V4,
            Class::Complex(_) => Version::V5,
            _ => Version::V1,
        };
        let mut versions = Versions { version: own, parts: Vec::new() };
        for part in class.parts() {
            let part = Versions::lowest(part);
            let needed = part.version;
            versions.parts.push(part);
            if needed > versions.version {
                // libhdf5 builds compounds member by member: one that needs more raises all that came before it.
                match class {
                    Class::Compound(_) => versions.raise(datatype, needed),
                    _ => versions.version = needed,
                }
            }
        }
        versions
    }

    /// Raises what gets smaller by it; a variable-length or complex datatype follows its base.
    fn raise(&mut self, datatype: &Datatype, to: Version) {
        for (versions, part) in self.parts.iter_mut().zip(datatype.class().parts()) {
            versions.raise(part, to);
        }
        self.version = match datatype.class() {
            Class::Compound(_) | Class::Array(_) | Class::Enum(_) => self.version.max(to),
            Class::Vlen(_) | Class::Complex(_) => {
                self.parts.iter().map(|part| part.version).fold(self.version, Ord::max)
            }
            _ => self.version,
        };
    }
}
