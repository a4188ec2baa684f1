//! Entries for tests: a byte string with a number.

use hyperslab_meta::{Encoded, Entry, Failure};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block(pub(crate) Vec<u8>);

impl Entry for Block {
    fn encode(&self) -> Result<Encoded, Failure> {
        Ok(self.0.clone().into())
    }

    fn footprint(&self) -> usize {
        self.0.len()
    }
}

pub(crate) fn block(byte: u8) -> Block {
    Block(vec![byte; 16])
}
