//! The integers that bit arithmetic is done on.

use crate::{Bits, Order};

/// An unsigned integer as a vector of bits, the lowest first. Shifts and fields beyond its width read and write nothing.
pub(crate) trait Word: Copy + PartialEq {
    /// How many bytes it has.
    const BYTES: usize;
    /// No bit set.
    const ZERO: Self;

    /// From at most [`Word::BYTES`] bytes.
    fn load(bytes: &[u8], order: Order) -> Self;

    /// The low bytes.
    fn store(self, bytes: &mut [u8], order: Order);

    fn shl(self, by: u32) -> Self;
    fn shr(self, by: u32) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn not(self) -> Self;

    /// One more; all ones become zero.
    fn next(self) -> Self;

    /// The highest bit set.
    fn top(self) -> Option<u32>;

    /// The low 64 bits.
    fn low(self) -> u64;
    fn of_low(low: u64) -> Self;

    fn of_bool(bit: bool) -> Self {
        Self::of_low(bit.into())
    }

    /// The low `count` bits set.
    fn ones(count: u32) -> Self {
        Self::ZERO.not().shl(count).not()
    }

    fn bit(self, at: u32) -> bool {
        self.shr(at).low() & 1 == 1
    }

    fn get(self, at: u32, count: u32) -> Self {
        self.shr(at).and(Self::ones(count))
    }

    /// Replaces a field by the low bits of `value`.
    fn set(&mut self, at: u32, count: u32, value: Self) {
        let mask = Self::ones(count).shl(at);
        *self = self.and(mask.not()).or(value.shl(at).and(mask));
    }

    /// What a number of `size` bytes holds outside its significant bits.
    fn padding(bits: &Bits, size: usize) -> Self {
        let mut word = Self::ZERO;
        let end = u32::from(bits.offset) + u32::from(bits.precision);
        word.set(0, bits.offset.into(), if bits.low_pad { Self::ZERO.not() } else { Self::ZERO });
        word.set(end, (8 * size as u32).saturating_sub(end), if bits.high_pad { Self::ZERO.not() } else { Self::ZERO });
        word
    }
}

/// Copies into or out of a little-endian buffer.
fn reorder(bytes: &[u8], buffer: &mut [u8], order: Order) {
    let length = bytes.len().min(buffer.len());
    if let (Some(buffer), Some(bytes)) = (buffer.get_mut(..length), bytes.get(..length)) {
        copy(bytes, buffer);
        order.flip(buffer);
    }
}

/// Copies between slices of one length; the usual ones without a loop.
fn copy(from: &[u8], to: &mut [u8]) {
    match from.len() {
        2 => copy_as::<2>(from, to),
        4 => copy_as::<4>(from, to),
        8 => copy_as::<8>(from, to),
        _ => to.copy_from_slice(from),
    }
}

fn copy_as<const N: usize>(from: &[u8], to: &mut [u8]) {
    if let (Some(from), Some(to)) = (from.first_chunk::<N>(), to.first_chunk_mut::<N>()) {
        *to = *from;
    }
}

macro_rules! machine_words {
    ($($int:ident)*) => {$(
        impl Word for $int {
            const BYTES: usize = size_of::<$int>();
            const ZERO: $int = 0;

            fn load(bytes: &[u8], order: Order) -> $int {
                let mut buffer = [0; size_of::<$int>()];
                match order {
                    // Shifted down instead of turned around: no loop.
                    Order::Big => {
                        reorder(bytes, &mut buffer, Order::Little);
                        let unused = 8 * (buffer.len() - bytes.len().min(buffer.len()));
                        <$int>::from_be_bytes(buffer).shr(unused as u32)
                    }
                    order => {
                        reorder(bytes, &mut buffer, order);
                        <$int>::from_le_bytes(buffer)
                    }
                }
            }

            fn store(self, bytes: &mut [u8], order: Order) {
                let length = bytes.len().min(size_of::<$int>());
                let made = match order {
                    Order::Big => self.shl(8 * (size_of::<$int>() - length) as u32).to_be_bytes(),
                    _ => self.to_le_bytes(),
                };
                if let (Some(bytes), Some(made)) = (bytes.get_mut(..length), made.get(..length)) {
                    copy(made, bytes);
                    if order == Order::Vax {
                        order.flip(bytes);
                    }
                }
            }

            fn shl(self, by: u32) -> $int {
                self.checked_shl(by).unwrap_or(0)
            }

            fn shr(self, by: u32) -> $int {
                self.checked_shr(by).unwrap_or(0)
            }

            fn and(self, other: $int) -> $int {
                self & other
            }

            fn or(self, other: $int) -> $int {
                self | other
            }

            fn not(self) -> $int {
                !self
            }

            fn next(self) -> $int {
                self.wrapping_add(1)
            }

            fn top(self) -> Option<u32> {
                self.checked_ilog2()
            }

            fn low(self) -> u64 {
                self as u64
            }

            fn of_low(low: u64) -> $int {
                low.into()
            }
        }
    )*};
}
machine_words!(u64 u128);

/// Sixty-four bytes: every number that is converted at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wide([u64; 8]);

impl Wide {
    /// The word at `at`, counted from the lowest; zero outside.
    fn word(&self, at: Option<usize>) -> u64 {
        at.and_then(|at| self.0.get(at)).copied().unwrap_or(0)
    }

    fn map(self, other: Wide, with: impl Fn(u64, u64) -> u64) -> Wide {
        let mut made = self;
        made.0.iter_mut().zip(other.0).for_each(|(word, other)| *word = with(*word, other));
        made
    }
}

impl Word for Wide {
    const BYTES: usize = 64;
    const ZERO: Wide = Wide([0; 8]);

    fn load(bytes: &[u8], order: Order) -> Wide {
        let mut buffer = [0; 64];
        reorder(bytes, &mut buffer, order);
        let mut made = Wide::ZERO;
        made.0.iter_mut().zip(buffer.as_chunks::<8>().0).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
        made
    }

    fn store(self, bytes: &mut [u8], order: Order) {
        for (to, from) in bytes.iter_mut().zip(self.0.iter().flat_map(|word| word.to_le_bytes())) {
            *to = from;
        }
        order.flip(bytes);
    }

    fn shl(self, by: u32) -> Wide {
        let (words, bits) = (by as usize / 64, by % 64);
        Wide(std::array::from_fn(|at| {
            let upper = self.word(at.checked_sub(words)) << bits;
            let lower = self.word(at.checked_sub(words + 1)).checked_shr(64 - bits).unwrap_or(0);
            upper | lower
        }))
    }

    fn shr(self, by: u32) -> Wide {
        let (words, bits) = (by as usize / 64, by % 64);
        Wide(std::array::from_fn(|at| {
            let lower = self.word(Some(at + words)) >> bits;
            let upper = self.word(Some(at + words + 1)).checked_shl(64 - bits).unwrap_or(0);
            upper | lower
        }))
    }

    fn and(self, other: Wide) -> Wide {
        self.map(other, |a, b| a & b)
    }

    fn or(self, other: Wide) -> Wide {
        self.map(other, |a, b| a | b)
    }

    fn not(self) -> Wide {
        self.map(self, |a, _| !a)
    }

    fn next(self) -> Wide {
        let mut made = self;
        for word in &mut made.0 {
            let (next, carry) = word.overflowing_add(1);
            *word = next;
            if !carry {
                break;
            }
        }
        made
    }

    fn top(self) -> Option<u32> {
        let (at, word) = self.0.iter().enumerate().rfind(|(_, word)| **word != 0)?;
        Some(64 * at as u32 + word.ilog2())
    }

    fn low(self) -> u64 {
        self.word(Some(0))
    }

    fn of_low(low: u64) -> Wide {
        Wide([low, 0, 0, 0, 0, 0, 0, 0])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wide(value: u128) -> Wide {
        Wide::load(&value.to_le_bytes(), Order::Little)
    }

    proptest! {
        #[test]
        fn wide_words_do_what_machine_words_do(a: u128, b: u128, at in 0..140u32, count in 0..140u32) {
            let low = |word: Wide| {
                let mut bytes = [0; 16];
                word.store(&mut bytes, Order::Little);
                u128::from_le_bytes(bytes)
            };
            prop_assert_eq!(low(wide(a).shl(at)), a.shl(at));
            prop_assert_eq!(low(wide(a).shr(at)), a.shr(at));
            prop_assert_eq!(low(wide(a).and(wide(b))), a & b);
            prop_assert_eq!(low(wide(a).or(wide(b))), a | b);
            prop_assert_eq!(low(wide(a).not()), !a);
            prop_assert_eq!(low(wide(a).next()), a.wrapping_add(1));
            prop_assert_eq!(wide(a).top(), a.top());
            prop_assert_eq!(wide(a).bit(at), a.bit(at));
            prop_assert_eq!(wide(a).low(), a as u64);
            prop_assert_eq!(low(wide(a).get(at, count)), a.get(at, count));
            let (mut wide_field, mut field) = (wide(a), a);
            wide_field.set(at, count, wide(b));
            field.set(at, count, b);
            prop_assert_eq!(low(wide_field), field);
        }

        #[test]
        fn shifts_cross_words(a: u128, at in 0..380u32) {
            prop_assert_eq!(wide(a).shl(at).shr(at), wide(a));
            prop_assert_eq!(wide(a).shl(at).top(), a.top().map(|top| top + at));
        }

        #[test]
        fn order_is_only_a_matter_of_loading(bytes in prop::collection::vec(any::<u8>(), 1..=16)) {
            let mut turned = bytes.clone();
            turned.reverse();
            prop_assert_eq!(u128::load(&bytes, Order::Big), u128::load(&turned, Order::Little));
            let mut back = vec![0; bytes.len()];
            Wide::load(&bytes, Order::Big).store(&mut back, Order::Big);
            prop_assert_eq!(back, bytes);
        }
    }
}
