//! The bytes of dataspaces and selections, as libhdf5 reads and writes them.
//!
//! ```text
//!  encoded dataspace   | 1 | 0 | width of sizes | length of extent, 4 | extent message | selection |
//!  extent message 1    | 1 | rank | flags | 5 zeros | sizes… | maxima… |
//!  extent message 2    | 2 | rank | flags | class   | sizes… | maxima… |
//!  selection           | kind, 4 | version, 4 | by kind and version: see `selection` |
//! ```
//!
//! Lives here: both directions and the choice of version. Called by `format` for messages, by region references and virtual layouts.

mod blocks;
mod content;
mod encoded_space;
mod extent;
mod numbers;
mod points;
mod selection;
mod version;

use hyperslab_base::{Sink, Width};

use crate::{Error, Result, Space};

pub use encoded_space::EncodedSpace;
pub use version::{Form, LibVersion};

/// The first byte of an encoded dataspace: the number of the dataspace message.
const MESSAGE: u8 = 1;
/// The version of the encoding around extent and selection.
const VERSION: u8 = 0;

impl Space {
    /// Extent and selection in one piece, as `H5Sencode` writes them. `form` says how old a library must be able to read it, or
    /// that the result shall be small.
    ///
    /// ```
    /// use hyperslab_space::{Form, LibVersion, Space};
    /// let space = Space::simple(&[20])?;
    /// let bytes = space.encode(LibVersion::Earliest)?;
    /// assert_eq!(bytes.len(), 47);
    /// assert_eq!(Space::decode(&bytes)?, space);
    /// assert!(space.encode(Form::Smallest)?.len() <= bytes.len());
    /// # Ok::<(), hyperslab_space::Error>(())
    /// ```
    pub fn encode(&self, form: impl Into<Form>) -> Result<Vec<u8>> {
        let form = form.into();
        let mut sink = self.encode_extent(form)?;
        self.append_selection(&mut sink, form)?;
        Ok(sink.into_bytes())
    }

    /// How many bytes [`Space::encode`] takes in the smallest form, found without encoding.
    ///
    /// ```
    /// use hyperslab_space::{Form, Space};
    /// let space = Space::simple(&[20])?;
    /// assert_eq!(space.encode(Form::Smallest)?.len() as u64, space.encoded_bytes()?);
    /// # Ok::<(), hyperslab_space::Error>(())
    /// ```
    pub fn encoded_bytes(&self) -> Result<u64> {
        Ok(self.extent_bytes().saturating_add(self.selection_bytes()?))
    }

    /// The encoded dataspace up to its selection.
    fn encode_extent(&self, form: Form) -> Result<Sink> {
        let extent = self.extent.encode(version::of_extent(&self.extent, form), form == Form::Smallest)?;
        let mut sink = Sink::new();
        sink.u8(MESSAGE);
        sink.u8(VERSION);
        sink.u8(Width::W8.bytes() as u8);
        sink.u32(u32::try_from(extent.len()).map_err(|_| Error::Encode("the extent is too long"))?);
        sink.extend(&extent);
        Ok(sink)
    }

    /// How many bytes the encoded dataspace has before its selection, in the smallest form.
    fn extent_bytes(&self) -> u64 {
        7 + self.extent.smallest_bytes()
    }

    /// Reads what [`Space::encode`] or `H5Sencode` wrote. Bytes after the end are left alone.
    pub fn decode(bytes: &[u8]) -> Result<Space> {
        EncodedSpace::read(bytes)?.to_space()
    }
}
