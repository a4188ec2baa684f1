//! Writing the data layout message.

use hyperslab_base::{Width, Widths, Writer};

use super::{
    CHUNKED, COMPACT, CONTIGUOUS, ChunkIndex, DataLayout, Layout, VIRTUAL, chunk_shape::ChunkShape, structured,
};
use crate::Encoded;

impl DataLayout {
    /// Writes the message. Sizes of chunks take as few bytes as they can, as libhdf5 has it.
    ///
    /// ```
    /// use hyperslab_format::{Widths, message::{DataLayout, Layout}};
    /// let layout = Layout::Contiguous { address: Some(2048), size: Some(80) };
    /// let message = DataLayout { version: 3, old_sizes: Vec::new(), layout };
    /// let bytes = message.encode(Widths::EIGHT)?;
    /// assert_eq!(bytes.len(), 18);
    /// assert_eq!(DataLayout::decode(&bytes, Widths::EIGHT).unwrap(), message);
    /// # Ok::<(), hyperslab_format::Unfit>(())
    /// ```
    pub fn encode(&self, widths: Widths) -> Encoded {
        let mut writer = Writer::new("data layout message");
        writer.u8(self.version);
        match self.version {
            1 | 2 => self.encode_oldest(&mut writer, widths)?,
            3..=5 if !self.old_sizes.is_empty() => {
                return Err(writer.refuse("sizes", "only versions 1 and 2 repeat those of the dataset"));
            }
            3..=5 => self.encode_newer(&mut writer, widths)?,
            version => return Err(writer.refuse("version", format!("there is no version {version}"))),
        }
        Ok(writer.into_bytes())
    }

    fn encode_oldest(&self, writer: &mut Writer, widths: Widths) -> Encoded<()> {
        let mut sizes: Vec<u64> = self.old_sizes.iter().map(|&size| size.into()).collect();
        let (class, address) = match &self.layout {
            Layout::Compact(_) => (COMPACT, None),
            Layout::Contiguous { address, size: None } => (CONTIGUOUS, *address),
            Layout::Chunked {
                structure: None,
                chunk,
                element_size,
                plain_edges: false,
                index: ChunkIndex::BtreeV1,
                address,
            } => {
                sizes = with_element(writer, chunk, *element_size)?;
                (CHUNKED, *address)
            }
            _ => return Err(writer.refuse("class", format!("version {} has no place for it", self.version))),
        };
        writer.count("rank", Width::W1, sizes.len())?;
        writer.u8(class);
        writer.zeros(5);
        if class != COMPACT {
            writer.address("address", widths, address)?;
        }
        sizes.iter().try_for_each(|&size| writer.uint("size", Width::W4, size))?;
        if let Layout::Compact(values) = &self.layout {
            writer.count("size of the values", Width::W4, values.len())?;
            writer.extend(values);
        }
        Ok(())
    }

    fn encode_newer(&self, writer: &mut Writer, widths: Widths) -> Encoded<()> {
        match &self.layout {
            Layout::Compact(values) => {
                writer.u8(COMPACT);
                writer.count("size of the values", Width::W2, values.len())?;
                writer.extend(values);
                Ok(())
            }
            Layout::Contiguous { size: None, .. } => Err(writer.refuse("size", "only versions 1 and 2 leave it out")),
            Layout::Contiguous { address, size: Some(size) } => {
                writer.u8(CONTIGUOUS);
                writer.address("address", widths, *address)?;
                writer.length("size", widths, *size)
            }
            Layout::Chunked {
                structure: None,
                chunk,
                element_size,
                plain_edges: false,
                index: ChunkIndex::BtreeV1,
                address,
            } if self.version == 3 => {
                let sizes = with_element(writer, chunk, *element_size)?;
                writer.u8(CHUNKED);
                writer.count("rank", Width::W1, sizes.len())?;
                writer.address("address", widths, *address)?;
                sizes.iter().try_for_each(|&size| writer.uint("size", Width::W4, size))
            }
            Layout::Chunked { structure: None, chunk, element_size, plain_edges, index, address }
                if self.version > 3 && *index != ChunkIndex::BtreeV1 =>
            {
                let sizes = with_element(writer, chunk, *element_size)?;
                let filtered_single = matches!(index, ChunkIndex::Single(Some(_)));
                writer.u8(CHUNKED);
                ChunkShape { plain_edges: *plain_edges, filtered_single, sizes }.encode(writer)?;
                index.encode(writer, widths)?;
                writer.address("address", widths, *address)
            }
            Layout::Chunked { structure: Some(structure), chunk, element_size, plain_edges, index, address }
                if self.version > 4 =>
            {
                let sizes = with_element(writer, chunk, *element_size)?;
                structured::encode(writer, *structure, (sizes, *plain_edges), index, widths)?;
                writer.address("address", widths, *address)
            }
            Layout::Virtual { heap, index } if self.version > 3 => {
                writer.u8(VIRTUAL);
                writer.address("heap", widths, *heap)?;
                writer.u32(*index);
                Ok(())
            }
            _ => Err(writer.refuse("class", format!("version {} has no place for it", self.version))),
        }
    }
}

/// The sizes of a chunk with that of an element behind them.
fn with_element(writer: &Writer, chunk: &[u64], element_size: u64) -> Encoded<Vec<u64>> {
    if chunk.is_empty() || chunk.contains(&0) || element_size == 0 {
        return Err(writer.refuse("size", format!("a chunk of {chunk:?} elements of {element_size} bytes")));
    }
    Ok(chunk.iter().copied().chain([element_size]).collect())
}
