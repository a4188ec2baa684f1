//! Values of any layout as clients of the cache.
//!
//! Chunks are what the file has, contiguous values are cut into [`Blocks`]. Compact values are in memory already, as part of the header, and
//! external files are there so that other programs can write them: the cache keeps neither, and only lets their requests pass in their turn.

use hyperslab_driver::SelectionPair;
use hyperslab_file::OpenFile;
use hyperslab_space::{Coords, Grid, Piece, Space};

use crate::{
    Error, Filling, Result, Storage, Values,
    layout::blocks::Blocks,
    layout::{Direct, Facts, Image, Locate, Located},
    transfer::publish::Reserved,
    transfer::scatter,
};

impl Values {
    /// What the cache must know of them; nothing if other datasets have them.
    pub fn facts(&self) -> Result<Option<Facts>> {
        let never = Facts::new(None, self.element, 0, None);
        Ok(match &self.storage {
            Storage::Virtual(_) => None,
            Storage::Chunked(chunked) => Some(chunked.facts()),
            Storage::Contiguous(_) => match Blocks::new(&self.extent, self.element) {
                Some(blocks) => {
                    let bytes = usize::try_from(blocks.bytes()).map_err(|_| Error::Memory(blocks.bytes()))?;
                    Some(Facts::new(Some(Grid::new(&blocks.shape)?), self.element, bytes, None))
                }
                None => Some(never),
            },
            Storage::Compact(_) | Storage::External(_) => Some(never),
        })
    }

    /// Whether the first values that are written bring space for all others.
    pub fn allocates_with_first(&self, filling: &Filling<'_>) -> bool {
        match &self.storage {
            Storage::Contiguous(address) => address.is_none(),
            Storage::Chunked(chunked) => chunked.allocates_with_first(filling),
            _ => false,
        }
    }

    /// Whether there are chunks that can never be written, in a dataset of another program.
    pub fn exceeds_index(&self) -> bool {
        matches!(&self.storage, Storage::Chunked(chunked) if chunked.exceeds_index())
    }

    /// Whether all chunks that are in memory are right for another extent, too.
    pub fn keeps_chunks(&self, dims: &[u64], filling: &Filling<'_>) -> bool {
        match &self.storage {
            Storage::Chunked(chunked) => chunked.keeps_chunks(dims, filling),
            _ => true,
        }
    }

    fn blocks(&self) -> Result<Blocks<'_>> {
        Blocks::new(&self.extent, self.element).ok_or_else(not_cut)
    }

    /// Where contiguous values are; nowhere if never written.
    fn address(&self) -> Result<Option<u64>> {
        match &self.storage {
            Storage::Contiguous(address) => Ok(*address),
            _ => Err(not_cut()),
        }
    }

    /// Pieces of blocks, as parts of one request.
    fn pairs<'a>(&self, file: &OpenFile, address: u64, pieces: &'a [Piece]) -> Result<Vec<SelectionPair<'a>>> {
        let start = file.check("contiguous values", address, self.bytes())?;
        let (blocks, element_size) = (self.blocks()?, self.element);
        let pair = |piece: &'a Piece| {
            let touched = scatter::touched(&piece.file, element_size).end as u64;
            if touched > self.plain_size(&piece.chunk) {
                return Err(beyond(&piece.chunk));
            }
            let offset = start.saturating_add(blocks.offset(&piece.chunk));
            Ok(SelectionPair { memory: &piece.memory, file: &piece.file, offset, element_size })
        };
        pieces.iter().map(pair).collect()
    }
}

/// Refuses what no caller asks for: chunks of values that have none.
fn not_cut() -> Error {
    Error::Layout("the values are not cut into chunks".into())
}

/// Refuses a block that reaches over the end of the values: bytes of others are there.
fn beyond(place: &[u64]) -> Error {
    Error::Layout(format!("block {place:?} reaches over the end of the contiguous values"))
}

impl Locate for Values {
    fn dims(&self) -> &[u64] {
        self.extent.dims()
    }

    fn is_coded(&self, place: &[u64]) -> bool {
        match &self.storage {
            Storage::Chunked(chunked) => Locate::is_coded(&**chunked, place),
            _ => false,
        }
    }

    fn inside(&self, place: &[u64]) -> u64 {
        match &self.storage {
            Storage::Chunked(chunked) => chunked.inside(place),
            _ => self.blocks().map_or(0, |blocks| blocks.inside(place)),
        }
    }

    fn plain_size(&self, place: &[u64]) -> u64 {
        match &self.storage {
            Storage::Chunked(chunked) => chunked.plain_size(place),
            // The last block ends with the dataset.
            _ => self.inside(place).saturating_mul(self.element),
        }
    }

    fn locate(&self, file: &OpenFile, places: &[Coords]) -> Result<Vec<Option<Located>>> {
        if let Storage::Chunked(chunked) = &self.storage {
            return chunked.locate(file, places);
        }
        let Some(start) = self.address()? else { return Ok(vec![None; places.len()]) };
        file.check("contiguous values", start, self.bytes())?;
        let blocks = self.blocks()?;
        let located = |place: &Coords| match self.plain_size(place) {
            0 => Err(beyond(place)),
            size => Ok(Some(Located { address: start + blocks.offset(place), size, mask: 0, coded: false, needed: 0 })),
        };
        places.iter().map(located).collect()
    }

    fn reserve(&self, file: &OpenFile, images: &[Image<'_>]) -> Result<Reserved> {
        if let Storage::Chunked(chunked) = &self.storage {
            return chunked.reserve(file, images);
        }
        let places: Vec<Coords> = images.iter().map(|image| image.place.clone()).collect();
        let located = self.locate(file, &places)?;
        let addresses = located.into_iter().map(|located| located.map(|located| located.address).ok_or_else(not_cut));
        addresses.collect::<Result<_>>().map(Reserved::before)
    }

    fn insert(&mut self, file: &OpenFile, reserved: Reserved) -> Result<bool> {
        match &mut self.storage {
            Storage::Chunked(chunked) => chunked.insert(file, reserved),
            // It has been there before.
            _ => Ok(false),
        }
    }
}

impl Direct for Values {
    fn read(&self, file: &OpenFile, source: &Space, target: &Space, buf: &mut [u8]) -> Result<()> {
        Values::read(self, file, source, target, buf)
    }

    fn write(
        &mut self,
        file: &OpenFile,
        target: &Space,
        source: &Space,
        buf: &[u8],
        filling: &Filling<'_>,
    ) -> Result<bool> {
        Values::write(self, file, target, source, buf, filling)
    }

    fn read_pieces(&self, file: &OpenFile, pieces: &[Piece], buf: &mut [u8]) -> Result<()> {
        let fill = self.fill.as_deref();
        if let Storage::Chunked(chunked) = &self.storage {
            return chunked.read_pieces(file, pieces, buf, fill);
        }
        match self.address()? {
            Some(address) => Ok(file.read_selection(&self.pairs(file, address, pieces)?, buf)?),
            None => pieces.iter().try_for_each(|piece| scatter::fill(fill, buf, &piece.memory, self.element)),
        }
    }

    fn write_pieces(&mut self, file: &OpenFile, pieces: &[Piece], buf: &[u8], filling: &Filling<'_>) -> Result<bool> {
        if let Storage::Chunked(chunked) = &mut self.storage {
            return chunked.write_pieces(file, pieces, buf, filling);
        }
        let address = self.address()?.ok_or_else(not_cut)?;
        file.write_selection(&self.pairs(file, address, pieces)?, buf)?;
        Ok(false)
    }
}
