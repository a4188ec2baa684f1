//! Writing values of single elements and of blocks, in any order.

use hyperslab_dtype::{Arena, Datatype};
use hyperslab_element::Writing;
use hyperslab_session::PlacedValues;
use hyperslab_space::{Block, Space};

use super::Dataset;
use crate::{Error, Result, Storable};

impl Dataset {
    /// Writes values to single elements: `coords` has the coordinates of each, one after the other, so as many numbers for each value as the dataset has dimensions. Of several
    /// values for one element, the last one counts. The elements may come in any order: they are sorted once, by chunk.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let new = file.root()?.new_dataset::<u16>().shape([100, 1000]).chunks([10, 100]).sparse();
    /// let hits = new.create("hits")?;
    /// let coords = [[99, 999], [0, 5], [99, 999]];
    /// hits.write_coords(coords.as_flattened(), &[1, 2, 3])?;
    /// assert_eq!(hits.read_defined::<u16>(&hits.space())?.1, [2, 3]);
    /// assert!(hits.write_coords(&[100, 0], &[4]).is_err()); // not inside
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn write_coords<T: Storable>(&self, coords: &[u64], values: &[T]) -> Result<()> {
        self.open.with_extent(|| self.write_placed(&self.open.place_points(coords)?, values))
    }

    /// As [`Dataset::write_coords`], from values of `datatype` one after the other. What is of variable length is taken from `arena`; `datatype` says so if it is
    /// [in memory](Datatype::in_memory).
    pub fn write_coords_converted(
        &self,
        coords: &[u64],
        datatype: &Datatype,
        values: &[u8],
        arena: &Arena,
    ) -> Result<()> {
        self.open.with_extent(|| {
            let (placed, size) = (self.open.place_points(coords)?, datatype.size());
            placed.check_count(values.len() / size.max(1))?;
            let (selection, values) = (&placed.selection, placed.bytes(values, size)?);
            self.open.write_converted(selection, datatype, &Space::simple(&[selection.npoints()])?, &values, arena)
        })
    }

    /// Writes the values of blocks, each of which is said by its first element and its size. `values` has those of one block after the other, the last dimension of each
    /// fastest. Where blocks overlap, the last one counts. It is one request, however many blocks there are.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let new = file.root()?.new_dataset::<u16>().shape([4, 6]).chunks([2, 3]).sparse();
    /// let image = new.create("image")?;
    /// image.write_blocks(&[([2, 4], [2, 1]), ([0, 1], [1, 3])], &[1, 2, 3, 4, 5])?;
    /// let (elements, values) = image.read_defined::<u16>(&image.space())?;
    /// assert_eq!(elements.coords()?, [0, 1, 0, 2, 0, 3, 2, 4, 3, 4]);
    /// assert_eq!(values, [3, 4, 5, 1, 2]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn write_blocks<T: Storable>(
        &self,
        blocks: &[(impl AsRef<[u64]>, impl AsRef<[u64]>)],
        values: &[T],
    ) -> Result<()> {
        let blocks = blocks_of(blocks, values.len())?;
        self.open.with_extent(|| self.write_placed(&self.open.place_blocks(&blocks)?, values))
    }

    /// As [`Dataset::write_blocks`], from values of `datatype` one after the other, as for [`Dataset::write_coords_converted`].
    pub fn write_blocks_converted(
        &self,
        blocks: &[(impl AsRef<[u64]>, impl AsRef<[u64]>)],
        datatype: &Datatype,
        values: &[u8],
        arena: &Arena,
    ) -> Result<()> {
        let (blocks, size) = (blocks_of(blocks, values.len() / datatype.size().max(1))?, datatype.size());
        self.open.with_extent(|| {
            let placed = self.open.place_blocks(&blocks)?;
            let (selection, values) = (&placed.selection, placed.bytes(values, size)?);
            self.open.write_converted(selection, datatype, &Space::simple(&[selection.npoints()])?, &values, arena)
        })
    }

    fn write_placed<T: Storable>(&self, placed: &PlacedValues, values: &[T]) -> Result<()> {
        placed.check_count(values.len())?;
        let Some(bytes) = T::bytes_of(values) else {
            return self.write_selection(&placed.selection, &placed.values(values));
        };
        let writing = Writing::<T>::new(self.open.stored_datatype())?;
        let bytes = placed.bytes(bytes, writing.memory().size())?;
        self.open.write_encoded(&placed.selection, (writing.plan(), writing.memory()), &bytes, &Arena::default())
    }
}

/// Blocks by their first elements and their sizes; an error if they have not so many values together.
fn blocks_of(blocks: &[(impl AsRef<[u64]>, impl AsRef<[u64]>)], values: usize) -> Result<Vec<Block>> {
    let blocks = blocks.iter().map(|(start, size)| block(start.as_ref(), size.as_ref()));
    let blocks = blocks.collect::<Result<Vec<_>>>()?;
    let blocks: Vec<Block> = blocks.into_iter().flatten().collect();
    let room = blocks.iter().fold(0u64, |room, block| room.saturating_add(elements(block)));
    if room == values as u64 { Ok(blocks) } else { Err(Error::Length { values: values as u64, room }) }
}

/// A block by its first element and its size; nothing if it has no elements.
fn block(start: &[u64], size: &[u64]) -> Result<Option<Block>> {
    if start.len() != size.len() {
        return Err(Error::Slice(format!(
            "a block from {start:?} with the size {size:?}: both need as many dimensions"
        )));
    }
    if size.contains(&0) {
        return Ok(None);
    }
    let end = start.iter().zip(size).map(|(start, size)| start.checked_add(size - 1));
    let outside = || Error::Slice(format!("a block from {start:?} with the size {size:?} ends beyond 2^64"));
    let end = end.collect::<Option<Vec<u64>>>().ok_or_else(outside)?;
    Ok(Some(Block { start: start.into(), end: end.into() }))
}

/// How many elements a block has.
fn elements(block: &Block) -> u64 {
    let sides = block.start.iter().zip(&block.end).map(|(start, end)| (end - start).saturating_add(1));
    sides.fold(1, u64::saturating_mul)
}
