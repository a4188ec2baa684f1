//! Where the significant bits of a number are, and in which order its bytes stand.

use crate::{Error, Result};

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
    /// As on a VAX: 16-bit words, the most significant first, each little-endian. Floating point only.
    Vax,
}

impl Order {
    /// The order of this machine.
    pub const NATIVE: Order = if cfg!(target_endian = "big") { Order::Big } else { Order::Little };

    /// Puts a number of this order into little-endian order, or back.
    ///
    /// ```
    /// use hyperslab_dtype::Order;
    /// let mut bytes = [1, 2, 3, 4];
    /// Order::Vax.flip(&mut bytes);
    /// assert_eq!(bytes, [3, 4, 1, 2]);
    /// ```
    pub fn flip(self, bytes: &mut [u8]) {
        match self {
            Order::Little => {}
            Order::Big => bytes.reverse(),
            Order::Vax => {
                bytes.reverse();
                bytes.chunks_exact_mut(2).for_each(<[u8]>::reverse);
            }
        }
    }
}

/// The significant bits of a number, counted from the least significant bit of its little-endian form, and what the others hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bits {
    /// The order of the bytes.
    pub order: Order,
    /// How many bits are below the significant ones.
    pub offset: u16,
    /// How many bits are significant.
    pub precision: u16,
    /// Whether the bits below are ones.
    pub low_pad: bool,
    /// Whether the bits above are ones.
    pub high_pad: bool,
}

impl Bits {
    /// All bits of `size` bytes.
    pub const fn full(size: u16, order: Order) -> Bits {
        Bits { order, offset: 0, precision: size.saturating_mul(8), low_pad: false, high_pad: false }
    }

    pub(crate) fn check(&self, what: &'static str, size: u32) -> Result<()> {
        let end = u64::from(self.offset) + u64::from(self.precision);
        if self.precision == 0 || end > 8 * u64::from(size) {
            let why = format!("{} bits at bit {} do not fit {size} bytes", self.precision, self.offset);
            return Err(Error::invalid(what, why));
        }
        Ok(())
    }

    /// Whether so few bits of `size` bytes are used that libhdf5 takes the message for damaged where no checksum protects it.
    pub(crate) fn is_suspicious(&self, size: u32) -> bool {
        size > 1 && 8 * u64::from(size) > 2 * (u64::from(self.offset) + u64::from(self.precision))
    }
}

/// An integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fixed {
    /// Its significant bits.
    pub bits: Bits,
    /// Whether it is signed, in two's complement.
    pub signed: bool,
}

impl Fixed {
    /// Puts the value of an integer into little-endian order and extends it over all its bytes, by its sign if it has one.
    ///
    /// ```
    /// use hyperslab_dtype::{Bits, Fixed, Order};
    /// let bits = Bits { offset: 4, precision: 8, ..Bits::full(2, Order::Big) };
    /// let mut bytes = [0xaf, 0xea];
    /// Fixed { bits, signed: true }.spread(&mut bytes);
    /// assert_eq!(i16::from_le_bytes(bytes), -2);
    /// ```
    pub fn spread(&self, bytes: &mut [u8]) {
        self.bits.order.flip(bytes);
        let (offset, precision) = (usize::from(self.bits.offset), usize::from(self.bits.precision));
        let at = |bytes: &[u8], bit: usize| bytes.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
        let sign = (offset + precision).saturating_sub(1);
        let negative = self.signed && at(bytes, sign);
        for place in 0..bytes.len() {
            // Each byte is made of higher ones, so that it is read before it is written.
            let bit = |bit: &usize| {
                let from = 8 * place + bit;
                if from < precision { at(bytes, offset + from) } else { negative }
            };
            let made = (0..8).filter(bit).fold(0, |byte, bit| byte | 1 << bit);
            if let Some(byte) = bytes.get_mut(place) {
                *byte = made;
            }
        }
    }
}
