//! The twenty parameters of scale-offset: the way of scaling, its factor, the elements of a chunk, class, size, sign and byte
//! order of the type, whether there is a fill value, and that value in the words that are left.

use crate::{Fault, NumberKind, NumberType, order};

const COUNT: usize = 20;
const DECIMAL: u32 = 0;
const INTEGER: u32 = 2;

/// What scale-offset has to know of a datatype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleOffsetType {
    /// What kind of number.
    pub kind: ScaleOffsetKind,
    /// Its bytes: 1, 2, 4 or 8; a float has 4 or 8.
    pub size: usize,
    /// Whether the highest byte comes first.
    pub big_endian: bool,
}

/// The kinds of numbers that scale-offset takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleOffsetKind {
    /// An integer without sign.
    Unsigned,
    /// An integer in two's complement.
    Signed,
    /// An IEEE float.
    Float,
}

impl TryFrom<NumberType> for ScaleOffsetType {
    type Error = Fault;

    fn try_from(number: NumberType) -> Result<ScaleOffsetType, Fault> {
        let kind = match number.kind {
            NumberKind::Unsigned => ScaleOffsetKind::Unsigned,
            NumberKind::Signed => ScaleOffsetKind::Signed,
            NumberKind::Float => ScaleOffsetKind::Float,
            NumberKind::Bits => return Err(UNFIT),
        };
        Ok(ScaleOffsetType { kind, size: number.size as usize, big_endian: number.big_endian })
    }
}

const UNFIT: Fault = Fault::Params("not a type that scale-offset takes");

impl ScaleOffsetType {
    fn check(self) -> Result<ScaleOffsetType, Fault> {
        match (self.kind, self.size) {
            (ScaleOffsetKind::Float, 4 | 8) => Ok(self),
            (ScaleOffsetKind::Unsigned | ScaleOffsetKind::Signed, 1 | 2 | 4 | 8) => Ok(self),
            _ => Err(UNFIT),
        }
    }

    pub(super) fn bits(self) -> u32 {
        self.size as u32 * 8
    }

    pub(super) fn load(self, element: &[u8]) -> u64 {
        order::load(element, self.big_endian)
    }

    /// Between the order of the type and the order of values that are stored as they are; both ways.
    pub(super) fn swap_to_little_endian(self, values: &mut [u8]) {
        if self.big_endian {
            values.chunks_exact_mut(self.size).for_each(<[u8]>::reverse);
        }
    }
}

pub(super) struct Params {
    pub(super) elements: usize,
    pub(super) of: ScaleOffsetType,
    pub(super) factor: i32,
    /// As the bits of the type.
    pub(super) fill: Option<u64>,
}

impl Params {
    pub(super) fn read(params: &[u32]) -> Result<Params, Fault> {
        let [scaling, factor, elements, class, size, sign, order, filled, low, high, ..] = *params else {
            return Err(Fault::Params("there are too few"));
        };
        let kind = match (class, scaling, sign) {
            (0, INTEGER, 0) => ScaleOffsetKind::Unsigned,
            (0, INTEGER, 1) => ScaleOffsetKind::Signed,
            (1, DECIMAL, _) => ScaleOffsetKind::Float,
            _ => return Err(Fault::Params("a way of scaling that does not fit the type")),
        };
        let of = ScaleOffsetType { kind, size: size as usize, big_endian: order != 0 }.check()?;
        let factor = factor as i32;
        if kind != ScaleOffsetKind::Float && i64::from(factor) > i64::from(of.bits()) {
            return Err(Fault::Params("more bits than the type has"));
        }
        let mask = u64::MAX >> (64 - of.bits());
        let fill = (filled != 0).then_some((u64::from(high) << 32 | u64::from(low)) & mask);
        Ok(Params { elements: elements as usize, of, factor, fill })
    }

    /// Whether the filter does nothing.
    pub(super) fn is_identity(&self) -> bool {
        self.of.kind != ScaleOffsetKind::Float && self.factor == self.of.bits() as i32
    }
}

pub(super) fn to_params(
    elements: u32,
    of: ScaleOffsetType,
    factor: i32,
    fill: Option<&[u8]>,
) -> Result<Vec<u32>, Fault> {
    let of = of.check()?;
    let (scaling, class) = if of.kind == ScaleOffsetKind::Float { (DECIMAL, 1) } else { (INTEGER, 0) };
    let sign = u32::from(of.kind == ScaleOffsetKind::Signed);
    let mut params = vec![scaling, factor as u32, elements, class, of.size as u32, sign, u32::from(of.big_endian)];
    params.push(u32::from(fill.is_some()));
    if let Some(fill) = fill {
        if fill.len() != of.size {
            return Err(Fault::Params("the fill value is not one value"));
        }
        let fill = of.load(fill);
        params.extend([fill as u32, (fill >> 32) as u32]);
    }
    params.resize(COUNT, 0);
    Params::read(&params)?;
    Ok(params)
}
