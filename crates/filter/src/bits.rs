//! Streams of bits, the highest bit of a byte first. Called by the codecs that pack values: n-bit, scale-offset, szip.

use crate::Fault;

const ENDED: Fault = Fault::Corrupt("the packed values end early");

/// No good data has longer runs of zeros.
const MAX_ZEROS: u32 = 1 << 30;

/// Reads bits front to back.
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    /// In bits.
    at: usize,
}

impl<'a> BitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, at: 0 }
    }

    /// The next 57 bits or more, from the top of a word; zeros after the end.
    fn peek(&self) -> u64 {
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let word = match rest.first_chunk() {
            Some(word) => u64::from_be_bytes(*word),
            None => {
                let mut padded = [0; 8];
                padded.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
                u64::from_be_bytes(padded)
            }
        };
        word << (self.at % 8)
    }

    fn left(&self) -> usize {
        self.bytes.len() * 8 - self.at
    }

    /// The next `count` bits as a number; at most 64.
    pub(crate) fn take(&mut self, count: u32) -> Result<u64, Fault> {
        if count > 32 {
            let high = self.take(count - 32)?;
            return Ok(high << 32 | self.take(32)?);
        }
        if count as usize > self.left() {
            return Err(ENDED);
        }
        let word = self.peek();
        self.at += count as usize;
        Ok(if count == 0 { 0 } else { word >> (64 - count) })
    }

    /// How many zeros come before the next one; both are passed over.
    pub(crate) fn unary(&mut self) -> Result<u32, Fault> {
        let mut zeros = 0;
        loop {
            let word = self.peek();
            if word != 0 {
                let run = word.leading_zeros();
                self.at += run as usize + 1;
                return Ok(zeros + run);
            }
            if self.left() <= 56 {
                return Err(ENDED);
            }
            if zeros > MAX_ZEROS {
                return Err(Fault::Corrupt("a number too large"));
            }
            zeros += 56;
            self.at += 56;
        }
    }
}

/// Appends bits to a byte vector.
pub(crate) struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    /// The bits not yet written, from the bottom.
    pending: u64,
    /// How many of them; under 8 between calls.
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> BitWriter<'a> {
        BitWriter { out, pending: 0, count: 0 }
    }

    /// The low `count` bits of `value`; at most 64.
    pub(crate) fn put(&mut self, value: u64, count: u32) {
        if count > 32 {
            self.put(value >> 32, count - 32);
            return self.put(value, 32);
        }
        let value = value & ((1 << count) - 1);
        self.pending = self.pending << count | value;
        self.count += count;
        while self.count >= 8 {
            self.count -= 8;
            self.out.push((self.pending >> self.count) as u8);
        }
    }

    /// So many zeros, then a one.
    pub(crate) fn put_unary(&mut self, zeros: u32) {
        for _ in 0..zeros / 32 {
            self.put(0, 32);
        }
        self.put(1, zeros % 32 + 1);
    }

    /// Fills the last byte with zeros.
    pub(crate) fn finish(mut self) {
        if self.count > 0 {
            self.put(0, 8 - self.count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_put_is_taken(fields in prop::collection::vec((any::<u64>(), 0u32..=64, 0u32..300), 0..60)) {
            let mut bytes = Vec::new();
            let mut writer = BitWriter::new(&mut bytes);
            for &(value, count, zeros) in &fields {
                writer.put(value, count);
                writer.put_unary(zeros);
            }
            writer.finish();
            let mut reader = BitReader::new(&bytes);
            for &(value, count, zeros) in &fields {
                let mask = if count == 64 { u64::MAX } else { (1 << count) - 1 };
                prop_assert_eq!(reader.take(count).unwrap(), value & mask);
                prop_assert_eq!(reader.unary().unwrap(), zeros);
            }
            prop_assert!(reader.left() < 8);
            prop_assert!(reader.take(8).is_err() && reader.unary().is_err());
        }
    }
}
