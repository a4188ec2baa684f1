//! Entries for tests: a byte string with a number.

use hyperslab_meta::{Entry, Failure};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block(pub(crate) Vec<u8>);

impl Entry for Block {
    fn encode(&self) -> Result<Vec<u8>, Failure> {
        Ok(self.0.clone())
    }

    fn footprint(&self) -> usize {
        self.0.len()
    }
}

pub(crate) fn block(byte: u8) -> Block {
    Block(vec![byte; 16])
}
