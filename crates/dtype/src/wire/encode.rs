//! From a datatype to bytes.

use hyperslab_base::{Sink, Width};

use super::version::Versions;
use super::{REVISED_VERSION, Version, code, flag, offset_width};
use crate::datatype::{Array, Class, Datatype, Reference, Revised};
use crate::make::{REVISED_IN_FILE, REVISED_IN_MEMORY};
use crate::{Bits, Compound, Enum, Float, Name, Normalization, Order};

/// What a number or a string takes fits: one allocation.
const USUAL: usize = 32;

impl Datatype {
    /// The datatype message, in the versions libhdf5 chooses where the file's lower bound asks for `least`.
    pub fn encode(&self, least: Version) -> Vec<u8> {
        let mut sink = Sink::with_capacity(USUAL);
        write(&mut sink, self, &Versions::of(self, least));
        sink.into_bytes()
    }
}

fn write(sink: &mut Sink, datatype: &Datatype, versions: &Versions) {
    let (code, flags) = head(datatype.class());
    let version = versions.version;
    sink.u32(u32::from(code) | (version as u32) << 4 | flags << 8);
    sink.u32(datatype.size);
    match datatype.class() {
        Class::Fixed(fixed) => write_bits(sink, &fixed.bits),
        Class::Float(float) => {
            write_bits(sink, &float.bits);
            for field in [float.exponent, float.mantissa] {
                sink.u8(field.at);
                sink.u8(field.size);
            }
            sink.u32(float.bias);
        }
        Class::Time(time) => sink.uint(Width::W2, time.precision.into()),
        Class::String(..) | Class::Reference(_) => {}
        Class::Bitfield(bits) => write_bits(sink, bits),
        Class::Opaque(tag) => {
            sink.extend(tag);
            sink.extend(&vec![0; tag_length(tag) - tag.len()]);
        }
        Class::Compound(compound) => write_compound(sink, compound, datatype.size, versions),
        Class::Enum(enumeration) => write_enum(sink, enumeration, versions),
        Class::Array(array) => write_array(sink, array, versions),
        Class::Vlen(vlen) if is_revised(&vlen.base) => {
            let base = Datatype { size: REVISED_IN_MEMORY, ..(*vlen.base).clone() };
            versions.parts.iter().for_each(|versions| write(sink, &base, versions));
        }
        Class::Vlen(_) | Class::Complex(_) => write_base(sink, datatype, versions),
    }
}

/// The class number and class bits.
fn head(class: &Class) -> (u8, u32) {
    match class {
        Class::Fixed(fixed) => (code::FIXED, bits_flags(&fixed.bits) | if fixed.signed { flag::SIGNED } else { 0 }),
        Class::Float(float) => (code::FLOAT, float_flags(float)),
        Class::Time(time) => (code::TIME, order_flag(time.order)),
        Class::String(padding, charset) => (code::STRING, padding.code() | charset.code() << 4),
        Class::Bitfield(bits) => (code::BITFIELD, bits_flags(bits)),
        Class::Opaque(tag) => (code::OPAQUE, tag_length(tag) as u32),
        Class::Compound(compound) => (code::COMPOUND, compound.members().len() as u32),
        Class::Reference(reference) => (code::REFERENCE, reference_flags(*reference)),
        Class::Enum(enumeration) => (code::ENUM, enumeration.members().len() as u32),
        Class::Vlen(vlen) => {
            (code::VLEN, vlen.text.map_or(0, |(padding, charset)| 1 | padding.code() << 4 | charset.code() << 8))
        }
        Class::Array(_) => (code::ARRAY, 0),
        Class::Complex(_) => (code::COMPLEX, flag::HOMOGENEOUS),
    }
}

/// Tags are padded to eight bytes.
fn tag_length(tag: &[u8]) -> usize {
    tag.len().next_multiple_of(8)
}

fn order_flag(order: Order) -> u32 {
    match order {
        Order::Little => 0,
        Order::Big => flag::BIG,
        Order::Vax => flag::BIG | flag::VAX,
    }
}

fn bits_flags(bits: &Bits) -> u32 {
    let pads = [(bits.low_pad, flag::LOW_PAD), (bits.high_pad, flag::HIGH_PAD)];
    pads.iter().filter(|(set, _)| *set).fold(order_flag(bits.order), |flags, (_, flag)| flags | flag)
}

fn float_flags(float: &Float) -> u32 {
    let normalization = match float.normalization {
        Normalization::None => 0x00,
        Normalization::MsbSet => 0x10,
        Normalization::Implied => 0x20,
    };
    let inner = if float.inner_pad { flag::INNER_PAD } else { 0 };
    bits_flags(&float.bits) | normalization | inner | u32::from(float.sign) << 8
}

fn reference_flags(reference: Reference) -> u32 {
    let kind = match reference {
        Reference::Object => return 0,
        Reference::Region => return 1,
        Reference::Revised(Revised::Object) => 2,
        Reference::Revised(Revised::Region) => 3,
        Reference::Revised(Revised::Attribute) => 4,
    };
    kind | REVISED_VERSION << 4
}

fn write_bits(sink: &mut Sink, bits: &Bits) {
    sink.uint(Width::W2, bits.offset.into());
    sink.uint(Width::W2, bits.precision.into());
}

fn write_name(sink: &mut Sink, name: &Name, version: Version) {
    let name = name.as_bytes();
    let stored = if version < Version::V3 { (name.len() + 1).next_multiple_of(8) } else { name.len() + 1 };
    sink.extend(name);
    sink.extend(&vec![0; stored - name.len()]);
}

fn is_revised(base: &Datatype) -> bool {
    matches!(base.class, Class::Reference(Reference::Revised(_))) && base.size == REVISED_IN_FILE
}

fn write_base(sink: &mut Sink, datatype: &Datatype, versions: &Versions) {
    for (part, versions) in datatype.class().parts().zip(&versions.parts) {
        write(sink, part, versions);
    }
}

fn write_compound(sink: &mut Sink, compound: &Compound, size: u32, versions: &Versions) {
    let version = versions.version;
    let width = if version < Version::V3 { Width::W4 } else { offset_width(size) };
    for (member, versions) in compound.members().iter().zip(&versions.parts) {
        write_name(sink, &member.name, version);
        sink.uint(width, member.offset.into());
        if version == Version::V1 {
            // Rank, permutation and dimensions of the member itself: none.
            sink.extend(&[0; 28]);
        }
        write(sink, &member.datatype, versions);
    }
}

fn write_enum(sink: &mut Sink, enumeration: &Enum, versions: &Versions) {
    for base in &versions.parts {
        write(sink, enumeration.base(), base);
    }
    for (name, _) in enumeration.members() {
        write_name(sink, name, versions.version);
    }
    sink.extend(enumeration.raw_values());
}

fn write_array(sink: &mut Sink, array: &Array, versions: &Versions) {
    let old = versions.version < Version::V3;
    sink.u8(array.dims().len() as u8);
    if old {
        sink.extend(&[0; 3]);
    }
    for &dim in array.dims() {
        sink.u32(dim);
    }
    if old {
        // The permutation, always the identity.
        (0..array.dims().len()).for_each(|at| sink.u32(at as u32));
    }
    for base in &versions.parts {
        write(sink, array.base(), base);
    }
}
