//! When two datatypes are the same, as `H5Tequal` has it.

use std::iter::zip;

use crate::compound::Compound;
use crate::datatype::{Class, Datatype};
use crate::enumeration::Enum;

impl PartialEq for Datatype {
    fn eq(&self, other: &Datatype) -> bool {
        same(self, other, false)
    }
}

impl Eq for Datatype {}

/// Whether `left` and `right` are equal. With `subset`, an enumeration on the left may lack members of the one on the right:
/// then its values can stay as they are.
pub(crate) fn same(left: &Datatype, right: &Datatype, subset: bool) -> bool {
    left.size == right.size
        && match (left.class(), right.class()) {
            (Class::Fixed(left), Class::Fixed(right)) => left == right,
            (Class::Float(left), Class::Float(right)) => left == right,
            (Class::Time(left), Class::Time(right)) => left == right,
            (Class::String(left, a), Class::String(right, b)) => left == right && a == b,
            (Class::Bitfield(left), Class::Bitfield(right)) => left == right,
            (Class::Opaque(left), Class::Opaque(right)) => left == right,
            (Class::Reference(left), Class::Reference(right)) => left == right,
            (Class::Vlen(left), Class::Vlen(right)) => {
                left.text.is_some() == right.text.is_some() && same(&left.base, &right.base, subset)
            }
            (Class::Array(left), Class::Array(right)) => {
                left.dims() == right.dims() && same(left.base(), right.base(), subset)
            }
            (Class::Complex(left), Class::Complex(right)) => same(left, right, subset),
            (Class::Compound(left), Class::Compound(right)) => same_members(left, right, subset),
            (Class::Enum(left), Class::Enum(right)) => same_values(left, right, subset),
            _ => false,
        }
}

fn same_members(left: &Compound, right: &Compound, subset: bool) -> bool {
    // Members do not overlap, so sorted by offset equal compounds have their members in equal order.
    left.members().len() == right.members().len()
        && zip(left.by_offset(), right.by_offset()).all(|(left, right)| {
            left.name == right.name && left.offset == right.offset && same(&left.datatype, &right.datatype, subset)
        })
}

fn same_values(left: &Enum, right: &Enum, subset: bool) -> bool {
    if !same(left.base(), right.base(), subset) {
        return false;
    }
    let (left, right) = (left.by_name(), right.by_name());
    if subset {
        left.iter().all(|member| {
            right.binary_search_by_key(&member.0, |&(name, _)| name).is_ok_and(|at| right.get(at) == Some(member))
        })
    } else {
        left == right
    }
}
