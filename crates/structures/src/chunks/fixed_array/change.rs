//! Changing a fixed array. The data block comes with the first chunk, each of its pages with the first chunk in it; a page is
//! in the file before the bit that says so.

use hyperslab_file::{Error, Kind, OpenFile, Owned, Result};
use hyperslab_format::{
    ChunkEntry,
    index::{
        ChunkElement,
        fixed_array::{self, FixedArray},
    },
};

use super::{ChunkArray, WHAT};
use crate::{
    chunks::{apply, nothings, numbered},
    node_cache::NodeCache,
};

impl ChunkArray {
    /// A new array of so many elements, with pages of two to the power of `page_bits`.
    pub fn create<'f>(
        file: impl Into<Owned<'f>>,
        elements: u64,
        page_bits: u8,
        element: ChunkElement,
    ) -> Result<ChunkArray> {
        let file = file.into();
        let size = element.size(file.widths());
        let header = FixedArray {
            version: element.client().version(),
            client: element.client(),
            element_size: u8::try_from(size).unwrap_or(u8::MAX),
            page_bits,
            elements,
            data: None,
        };
        let bytes = header.encode(file.widths())?;
        let address = file.allocate(Kind::Metadata, bytes.len() as u64)?;
        file.put(address, bytes)?;
        Ok(ChunkArray { address, owner: file.owner(), header, element, written: Vec::new(), pages: NodeCache::new() })
    }

    /// The chunk with this number from now on, or that there is none.
    pub fn set(&mut self, file: &OpenFile, number: u64, chunk: Option<ChunkEntry>) -> Result<()> {
        self.set_all(file, &[(number, chunk.unwrap_or_else(|| self.element.nothing()))])
    }

    /// The chunks with these numbers from now on; an entry without an address takes a chunk out. Each page is written once.
    pub fn set_all(&mut self, file: &OpenFile, chunks: &[(u64, ChunkEntry)]) -> Result<()> {
        let sorted = numbered(chunks);
        if let Some((number, _)) = sorted.last().filter(|(number, _)| *number >= self.header.elements) {
            let why = format!("chunk {number} in an array of {} elements", self.header.elements);
            return Err(Error::broken(WHAT, self.address, why));
        }
        let Some(data) = self.header.data else {
            if sorted.iter().any(|(_, chunk)| chunk.address.is_some()) {
                self.make_data(file, &sorted)?;
            }
            return Ok(());
        };
        if self.header.pages() == 0 {
            let mut entries = self.pages.take(0).map_or_else(|| self.whole(file, data), Ok)?;
            apply(&mut entries, sorted.iter().copied(), 0, self.element);
            return self.put_whole(file, data, entries);
        }
        self.set_pages(file, data, &sorted)
    }

    /// Makes the data block with its first chunks.
    fn make_data(&mut self, file: &OpenFile, sorted: &[&(u64, ChunkEntry)]) -> Result<()> {
        let length = self.data_size(file);
        let pages = usize::try_from(self.header.pages()).unwrap_or(usize::MAX);
        let memory = |count: u64| Error::Memory { what: WHAT, address: self.address, length: count };
        let mut written = Vec::new();
        written.try_reserve_exact(pages).map_err(|_| memory(self.header.pages()))?;
        written.resize(pages, false);
        let mut entries = Vec::new();
        if pages == 0 {
            entries = nothings(WHAT, self.address, self.header.elements, self.element)?;
            apply(&mut entries, sorted.iter().copied(), 0, self.element);
        }
        let data = file.allocate(Kind::Metadata, length)?;
        (self.header.data, self.written) = (Some(data), written);
        if pages == 0 {
            self.put_whole(file, data, entries)?;
        } else {
            self.set_pages(file, data, sorted)?;
        }
        file.owned(self.owner).put(self.address, self.header.encode(file.widths())?)
    }

    /// Changes pages, and if there are new ones, what says so.
    fn set_pages(&mut self, file: &OpenFile, data: u64, sorted: &[&(u64, ChunkEntry)]) -> Result<()> {
        let page = self.header.page();
        let mut is_new = Vec::new();
        for together in sorted.chunk_by(|left, right| left.0 / page == right.0 / page) {
            let Some(number) = together.first().map(|(number, _)| number / page) else { continue };
            let place = usize::try_from(number).unwrap_or(usize::MAX);
            let mut entries = match self.written.get(place) {
                Some(true) => self.pages.take(number).map_or_else(|| self.read_page(file, data, number), Ok)?,
                _ if together.iter().all(|(_, chunk)| chunk.address.is_none()) => continue,
                _ => {
                    is_new.push(place);
                    nothings(WHAT, self.address, self.page_elements(number), self.element)?
                }
            };
            apply(&mut entries, together.iter().copied(), number * page, self.element);
            let bytes = fixed_array::encode_page(&entries, self.element, file.widths())?;
            file.owned(self.owner).put(self.page_address(file, data, number), bytes)?;
            self.pages.keep(number, entries);
        }
        for &place in &is_new {
            self.written.get_mut(place).into_iter().for_each(|written| *written = true);
        }
        if !is_new.is_empty() {
            file.owned(self.owner)
                .put(data, fixed_array::encode_head(&self.written, &self.header, self.address, file.widths())?)?;
        }
        is_new.iter().try_for_each(|place| file.order_within(self.page_address(file, data, *place as u64), data))
    }

    fn put_whole(&mut self, file: &OpenFile, data: u64, entries: Vec<ChunkEntry>) -> Result<()> {
        let bytes = fixed_array::encode_data(&entries, &self.header, self.element, self.address, file.widths())?;
        file.owned(self.owner).put(data, bytes)?;
        self.pages.keep(0, entries);
        Ok(())
    }

    /// What the data block takes, pages included.
    fn data_size(&self, file: &OpenFile) -> u64 {
        let checksums = self.header.pages().max(1).saturating_mul(4);
        let elements = self.size(file, self.header.elements).saturating_sub(4).saturating_add(checksums);
        self.header.data_head(file.widths()).saturating_add(elements)
    }

    /// Gives the array's space back; the chunks keep theirs.
    pub fn delete(self, file: &OpenFile) -> Result<()> {
        if let Some(data) = self.header.data {
            file.free(data, self.data_size(file))?;
        }
        file.free(self.address, FixedArray::size(file.widths()) as u64)
    }
}
