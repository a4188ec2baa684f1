//! The driver information block: how a logical file is spread over several.
//!
//! ```text
//!  | version 0 | 0, 3 | size of the rest, 4 | name of the driver, 8 | by driver |
//! ```

use hyperslab_base::{Reader, Width, Writer};

use crate::{Encoded, Result};

/// What a driver left in the file for its next opening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverInfoBlock {
    /// Which driver.
    pub name: [u8; 8],
    /// What it left.
    pub info: Vec<u8>,
}

impl DriverInfoBlock {
    /// The bytes before the driver's own.
    pub const HEAD: usize = 16;

    /// How many bytes the whole block takes, from its head.
    pub fn full_size(bytes: &[u8]) -> Result<usize> {
        let mut reader = Reader::new("driver information block", bytes);
        reader.version(0..=0)?;
        reader.skip(3)?;
        Ok(Self::HEAD + reader.u32()? as usize)
    }

    /// Reads the whole block.
    pub fn decode(bytes: &[u8]) -> Result<DriverInfoBlock> {
        let mut reader = Reader::new("driver information block", bytes);
        reader.version(0..=0)?;
        reader.skip(3)?;
        let size = reader.u32()? as usize;
        let name = reader.array()?;
        Ok(DriverInfoBlock { name, info: reader.take(size)?.to_vec() })
    }
    /// Writes the whole block.
    pub fn encode(&self) -> Encoded {
        let mut writer = Writer::new("driver information block");
        writer.zeros(4);
        writer.count("size", Width::W4, self.info.len())?;
        writer.extend(&self.name);
        writer.extend(&self.info);
        Ok(writer.into_bytes())
    }
}
