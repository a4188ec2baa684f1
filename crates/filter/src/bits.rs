//! Streams of bits, the highest bit of a byte first. Called by the codecs that pack values: n-bit, scale-offset, szip.

use crate::Fault;

const ENDED: Fault = Fault::Corrupt("the packed values end early");

/// No good data has longer runs of zeros.
const MAX_ZEROS: u32 = 1 << 30;

/// Reads bits front to back. Loops work on a copy, which compilers keep in registers.
#[derive(Clone, Copy)]
pub(crate) struct BitReader<'a> {
    /// What is not yet in `word`, as far as that is counted.
    rest: &'a [u8],
    /// The next bits, from the top. Below those that count there may be more of the stream.
    word: u64,
    /// How many of them count.
    count: u32,
}

impl<'a> BitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { rest: bytes, word: 0, count: 0 }
    }

    /// Fills the word with all whole bytes that fit.
    #[inline]
    fn refill(&mut self) {
        let whole = match self.rest.first_chunk() {
            Some(next) => {
                self.word |= u64::from_be_bytes(*next) >> self.count;
                (63 - self.count) / 8
            }
            None => {
                let mut next = [0; 8];
                next.iter_mut().zip(self.rest).for_each(|(to, from)| *to = *from);
                self.word |= u64::from_be_bytes(next) >> self.count;
                ((63 - self.count) / 8).min(self.rest.len() as u32)
            }
        };
        self.rest = self.rest.get(whole as usize..).unwrap_or_default();
        self.count += whole * 8;
    }

    /// Passes over bits that count, and not all 64.
    fn skip(&mut self, count: u32) {
        self.word <<= count;
        self.count -= count;
    }

    /// The next `count` bits as a number; at most 64.
    #[inline]
    pub(crate) fn take(&mut self, count: u32) -> Result<u64, Fault> {
        if count > 32 {
            let high = self.take(count - 32)?;
            return Ok(high << 32 | self.take(32)?);
        }
        if count > self.count {
            self.refill();
            if count > self.count {
                return Err(ENDED);
            }
        }
        // In two steps, since a shift by 64 is none.
        let taken = self.word >> 32 >> (32 - count);
        self.skip(count);
        Ok(taken)
    }

    /// Many numbers of `count` bits each; at most 32. As many as surely fit are taken from one word.
    #[inline]
    pub(crate) fn take_all(
        &mut self,
        count: u32,
        numbers: &mut [u32],
        mut store: impl FnMut(&mut u32, u32),
    ) -> Result<(), Fault> {
        let mut reader = *self;
        let together = match count {
            0..=14 => 4,
            15..=28 => 2,
            _ => 1,
        };
        for numbers in numbers.chunks_mut(together) {
            reader.refill();
            if reader.count < together as u32 * count {
                for number in numbers {
                    store(number, reader.take(count)? as u32);
                }
                continue;
            }
            for number in numbers {
                store(number, (reader.word >> 32 >> (32 - count)) as u32);
                reader.skip(count);
            }
        }
        *self = reader;
        Ok(())
    }

    /// Many numbers as [`unary`](BitReader::unary) gives them.
    #[inline]
    pub(crate) fn unary_all(&mut self, numbers: &mut [u32], store: impl Fn(u32) -> u32) -> Result<(), Fault> {
        let mut reader = *self;
        for number in numbers {
            // Always, since no processor foretells when it is needed.
            reader.refill();
            let run = reader.word.leading_zeros();
            *number = store(if run < reader.count {
                reader.skip(run + 1);
                run
            } else {
                reader.unary()?
            });
        }
        *self = reader;
        Ok(())
    }

    /// How many zeros come before the next one; both are passed over.
    #[inline]
    pub(crate) fn unary(&mut self) -> Result<u32, Fault> {
        let mut zeros = 0;
        loop {
            let run = self.word.leading_zeros();
            if run < self.count {
                self.skip(run + 1);
                return Ok(zeros + run);
            }
            zeros += self.count;
            (self.word, self.count) = (0, 0);
            self.refill();
            if self.count == 0 {
                return Err(ENDED);
            }
            if zeros > MAX_ZEROS {
                return Err(Fault::Corrupt("a number too large"));
            }
        }
    }
}

/// Appends bits to a byte vector.
pub(crate) struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    /// The bits not yet written, from the bottom.
    pending: u64,
    /// How many of them; under 32 between calls.
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> BitWriter<'a> {
        BitWriter { out, pending: 0, count: 0 }
    }

    /// The low `count` bits of `value`; at most 64.
    #[inline]
    pub(crate) fn put(&mut self, value: u64, count: u32) {
        if count > 32 {
            self.put(value >> 32, count - 32);
            return self.put(value, 32);
        }
        let value = value & ((1 << count) - 1);
        self.pending = self.pending << count | value;
        self.count += count;
        if self.count >= 32 {
            self.count -= 32;
            self.out.extend_from_slice(&((self.pending >> self.count) as u32).to_be_bytes());
        }
    }

    /// So many zeros, then a one.
    #[inline]
    pub(crate) fn put_unary(&mut self, zeros: u32) {
        for _ in 0..zeros / 32 {
            self.put(0, 32);
        }
        self.put(1, zeros % 32 + 1);
    }

    /// The low `count` bits of many values; at most 32 of each. They are gathered in a register.
    #[inline]
    pub(crate) fn put_all(&mut self, values: impl Iterator<Item = u32>, count: u32) {
        let (mut gathered, mut len) = (0, 0);
        for value in values {
            if len + count > 64 {
                self.put(gathered, len);
                (gathered, len) = (0, 0);
            }
            gathered = gathered << count | u64::from(value) & ((1 << count) - 1);
            len += count;
        }
        self.put(gathered, len);
    }

    /// Many numbers as [`put_unary`](BitWriter::put_unary) does, gathered in a register.
    #[inline]
    pub(crate) fn put_all_unary(&mut self, numbers: impl Iterator<Item = u32>) {
        let (mut gathered, mut len) = (0, 0);
        for zeros in numbers {
            if zeros >= 64 - len {
                self.put(gathered, len);
                (gathered, len) = (0, 0);
                if zeros >= 64 {
                    self.put_unary(zeros);
                    continue;
                }
            }
            // In two steps, since a shift by 64 is none.
            gathered = gathered << zeros << 1 | 1;
            len += zeros + 1;
        }
        self.put(gathered, len);
    }

    /// Fills the last byte with zeros.
    pub(crate) fn finish(self) {
        let bytes = ((self.pending << (32 - self.count)) as u32).to_be_bytes();
        self.out.extend_from_slice(bytes.get(..self.count.div_ceil(8) as usize).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_put_is_taken(fields in prop::collection::vec((any::<u64>(), 0u32..=64, 0u32..300), 0..60), width in 0u32..=32) {
            let mut bytes = Vec::new();
            let mut writer = BitWriter::new(&mut bytes);
            for &(value, count, zeros) in &fields {
                writer.put(value, count);
                writer.put_unary(zeros);
            }
            writer.put_all(fields.iter().map(|field| field.0 as u32), width);
            writer.put_all_unary(fields.iter().map(|field| field.2));
            writer.finish();
            let mut reader = BitReader::new(&bytes);
            for &(value, count, zeros) in &fields {
                let mask = if count == 64 { u64::MAX } else { (1 << count) - 1 };
                prop_assert_eq!(reader.take(count).unwrap(), value & mask);
                prop_assert_eq!(reader.unary().unwrap(), zeros);
            }
            let mut numbers = vec![0; fields.len()];
            reader.take_all(width, &mut numbers, |number, bits| *number = bits).unwrap();
            for (&(value, ..), number) in fields.iter().zip(&numbers) {
                prop_assert_eq!(u64::from(*number), value & ((1 << width) - 1));
            }
            reader.unary_all(&mut numbers, |zeros| zeros + 1).unwrap();
            for (&(.., zeros), number) in fields.iter().zip(&numbers) {
                prop_assert_eq!(*number, zeros + 1);
            }
            prop_assert!(reader.take(8).is_err() && reader.unary().is_err());
        }
    }
}
