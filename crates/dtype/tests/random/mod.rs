//! Random datatypes, pairs of datatypes that can be converted, and values for them.

pub mod pairs;
pub mod values;

use hyperslab_dtype::{
    Bits, Charset, Datatype, Field, Fixed, Float, Name, Normalization, Order, Padding, Reference, Revised, Vlen,
};

/// A small generator: the same seed gives the same tests.
pub struct Rng(u64);

impl Rng {
    /// `HYPERSLAB_SEED` gives other tests.
    pub fn new(seed: u64) -> Rng {
        let other = std::env::var("HYPERSLAB_SEED").ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        Rng(seed ^ other << 32)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// From `low` to `high`, both included.
    pub fn range(&mut self, low: u32, high: u32) -> u32 {
        low + (self.next() % u64::from(high - low + 1)) as u32
    }

    pub fn one_in(&mut self, count: u32) -> bool {
        self.range(1, count) == 1
    }

    pub fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.range(0, items.len() as u32 - 1) as usize].clone()
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }

    pub fn order(&mut self) -> Order {
        self.pick(&[Order::Little, Order::Big])
    }
}

/// Integers and floats of C, little-endian.
pub fn native(rng: &mut Rng) -> Datatype {
    match rng.range(0, 11) {
        at @ 0..8 => Datatype::integer(1 << (at % 4), at >= 4, Order::Little).unwrap(),
        8 => Datatype::float(2, Float::F16).unwrap(),
        9 => Datatype::float(4, Float::F32).unwrap(),
        10 => Datatype::float(8, Float::F64).unwrap(),
        _ => Datatype::float(16, Float::X87).unwrap(),
    }
}

fn bits(rng: &mut Rng, size: u32) -> Bits {
    let mut bits = Bits::full(size as u16, rng.order());
    if rng.one_in(2) {
        bits.precision = rng.range(1, 8 * size) as u16;
        bits.offset = rng.range(0, 8 * size - u32::from(bits.precision)) as u16;
        bits.low_pad = rng.one_in(2);
        bits.high_pad = rng.one_in(2);
    }
    bits
}

pub fn integer(rng: &mut Rng) -> Datatype {
    let size = match rng.range(0, 7) {
        0..4 => 1 << rng.range(0, 3),
        4 => rng.range(1, 64),
        _ => rng.range(1, 20),
    };
    Datatype::fixed(size, Fixed { bits: bits(rng, size), signed: rng.one_in(2) }).unwrap()
}

pub fn bitfield(rng: &mut Rng) -> Datatype {
    let size = rng.range(1, 20);
    Datatype::bitfield(size, bits(rng, size)).unwrap()
}

pub fn float(rng: &mut Rng) -> Datatype {
    let named = [
        (2, Float::F16),
        (4, Float::F32),
        (8, Float::F64),
        (16, Float::F128),
        (2, Float::BF16),
        (1, Float::F8E4M3),
        (1, Float::F8E5M2),
        (16, Float::X87),
    ];
    match rng.range(0, 9) {
        0..5 => {
            let (size, format) = rng.pick(&named);
            Datatype::float(size, format.in_order(rng.order())).unwrap()
        }
        5 => Datatype::float(4, Float::VAX_F).unwrap(),
        6 => Datatype::float(8, Float::VAX_G).unwrap(),
        _ => odd_float(rng),
    }
}

/// A format that no library has: the fields in any order, filling the precision, with padding around it.
fn odd_float(rng: &mut Rng) -> Datatype {
    let size = if rng.one_in(5) { rng.range(1, 31) } else { rng.range(1, 12) };
    let precision = rng.range(3, 8 * size);
    let offset = rng.range(0, 8 * size - precision);
    let exponent = rng.range(1, 20.min(precision - 2));
    let mantissa = precision - 1 - exponent;
    let mut sizes = [("sign", 1), ("exponent", exponent), ("mantissa", mantissa)];
    for last in (1..3).rev() {
        sizes.swap(last, rng.range(0, last as u32) as usize);
    }
    let at = |field: &str| {
        let before: u32 = sizes.iter().take_while(|(name, _)| *name != field).map(|(_, size)| size).sum();
        (offset + before) as u8
    };
    let float = Float {
        bits: Bits {
            order: rng.order(),
            offset: offset as u16,
            precision: precision as u16,
            low_pad: rng.one_in(2),
            high_pad: rng.one_in(2),
        },
        inner_pad: false,
        normalization: if rng.one_in(3) { Normalization::None } else { Normalization::Implied },
        sign: at("sign"),
        exponent: Field { at: at("exponent"), size: exponent as u8 },
        mantissa: Field { at: at("mantissa"), size: mantissa as u8 },
        bias: if rng.one_in(2) { (1 << (exponent - 1)) - 1 } else { rng.range(0, 1 << exponent) },
    };
    Datatype::float(size, float).unwrap_or_else(|_| odd_float(rng))
}

pub fn string(rng: &mut Rng) -> Datatype {
    Datatype::string(rng.range(1, 12), padding(rng), charset(rng)).unwrap()
}

pub fn padding(rng: &mut Rng) -> Padding {
    rng.pick(&[Padding::NullTerm, Padding::NullPad, Padding::SpacePad])
}

pub fn charset(rng: &mut Rng) -> Charset {
    rng.pick(&[Charset::Ascii, Charset::Utf8])
}

pub fn name(rng: &mut Rng, at: usize) -> Vec<u8> {
    let mut name = format!("{at}").into_bytes();
    let length = rng.range(0, 12) as usize;
    name.extend(rng.bytes(length).into_iter().filter(|&byte| byte != 0));
    name
}

pub fn enumeration(rng: &mut Rng) -> Datatype {
    // libhdf5 sorts values in a buffer of 32 bytes.
    let base = loop {
        let base = integer(rng);
        if base.size() <= 32 {
            break base;
        }
    };
    let count = rng.range(1, 6) as usize;
    let names: Vec<Name> = (0..count).map(|at| Name::new(name(rng, at)).unwrap()).collect();
    let mut values: Vec<Vec<u8>> = Vec::new();
    while values.len() < count {
        let value = if rng.one_in(2) { values::small(rng, base.size()) } else { rng.bytes(base.size()) };
        if !values.contains(&value) {
            values.push(value);
        } else if base.size() == 1 && values.len() > 3 {
            break;
        }
    }
    let names = names[..values.len()].to_vec();
    Datatype::enumeration_of(base, names, values.concat()).unwrap()
}

pub fn leaf(rng: &mut Rng) -> Datatype {
    match rng.range(0, 9) {
        0..3 => integer(rng),
        3..5 => float(rng),
        5 => string(rng),
        6 => bitfield(rng),
        7 => Datatype::opaque(rng.range(1, 20), "t".repeat(rng.range(0, 40) as usize)).unwrap(),
        8 => Datatype::time(rng.pick(&[4, 8]), rng.order(), 32).unwrap(),
        _ => {
            let (size, kind) =
                rng.pick(&[(8, Reference::Object), (12, Reference::Region), (64, Reference::Revised(Revised::Object))]);
            Datatype::reference(size, kind).unwrap()
        }
    }
}

/// Any datatype that libhdf5 can make in memory.
pub fn datatype(rng: &mut Rng, depth: u32) -> Datatype {
    if depth == 0 || rng.one_in(3) {
        return leaf(rng);
    }
    match rng.range(0, 6) {
        0 => enumeration(rng),
        1 => {
            let text = Some((padding(rng), charset(rng)));
            let base = Box::new(Datatype::integer(1, false, Order::Little).unwrap());
            Datatype::vlen_of_size(8, Vlen { base, text }).unwrap()
        }
        2 => Datatype::vlen(datatype(rng, depth - 1)).unwrap(),
        3 => complex(rng),
        4 => {
            let dims: Vec<u32> = (0..rng.range(1, 3)).map(|_| rng.range(1, 3)).collect();
            Datatype::array(datatype(rng, depth - 1), &dims).unwrap()
        }
        _ => {
            let parts: Vec<Datatype> = (0..rng.range(1, 5)).map(|_| datatype(rng, depth - 1)).collect();
            compound(
                rng,
                parts.into_iter().enumerate().map(|(at, part)| (format!("m{at}").into_bytes(), part)).collect(),
            )
        }
    }
}

pub fn complex(rng: &mut Rng) -> Datatype {
    let base = if rng.one_in(2) { float(rng) } else { Datatype::float(4, Float::F32).unwrap() };
    Datatype::complex(base).unwrap()
}

/// These members in any order, with gaps.
pub fn compound(rng: &mut Rng, mut members: Vec<(Vec<u8>, Datatype)>) -> Datatype {
    let mut offset = 0;
    let mut placed = Vec::new();
    while !members.is_empty() {
        let (name, part) = members.swap_remove(rng.range(0, members.len() as u32 - 1) as usize);
        offset += if rng.one_in(3) { rng.range(1, 300) } else { 0 };
        let size = part.size() as u32;
        placed.push((name, offset, part));
        offset += size;
    }
    if rng.one_in(2) {
        placed.reverse();
    }
    Datatype::compound_at(offset + if rng.one_in(3) { rng.range(1, 5) } else { 0 }, placed).unwrap()
}
