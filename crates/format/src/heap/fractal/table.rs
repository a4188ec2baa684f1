//! The doubling table: how the blocks of a fractal heap grow.

use hyperslab_base::Width;

/// The shape of the heap's blocks: rows of equal blocks, doubling in size from the third row on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoublingTable {
    /// Blocks in a row.
    pub width: u16,
    /// The size of the blocks in the first row.
    pub start: u64,
    /// The size of the largest direct block.
    pub max_direct: u64,
    /// The heap's size as a power of two.
    pub bits: u16,
}

impl DoublingTable {
    /// Whether blocks can have this shape.
    pub(super) fn is_possible(&self) -> bool {
        let powers = self.start.is_power_of_two() && self.max_direct.is_power_of_two() && self.width.is_power_of_two();
        powers && self.start <= self.max_direct && (1..=64).contains(&self.bits)
    }

    /// The bytes of an offset into the heap.
    pub fn offset_width(&self) -> Width {
        Width::new(self.bits.div_ceil(8) as u8).unwrap_or(Width::W8)
    }

    /// The size of the blocks in a row, if it can be told.
    pub fn block_size(&self, row: u32) -> Option<u64> {
        self.start.checked_shl(row.saturating_sub(1)).filter(|size| size >> row.saturating_sub(1) == self.start)
    }

    /// How many rows hold direct blocks.
    pub fn direct_rows(&self) -> u32 {
        self.max_direct.checked_div(self.start).map_or(0, u64::trailing_zeros) + 2
    }

    /// Where a row begins, counted from the front of its indirect block.
    pub fn row_offset(&self, row: u32) -> Option<u64> {
        let width = u64::from(self.width);
        if row == 0 { Some(0) } else { self.block_size(row)?.checked_mul(width) }
    }

    /// The row whose blocks have this size; the first one for the size of the first blocks.
    pub fn row_of_size(&self, size: u64) -> u32 {
        size.checked_div(self.start).and_then(u64::checked_ilog2).map_or(0, |row| if row == 0 { 0 } else { row + 1 })
    }

    /// How many rows an indirect block has that stands for `size` bytes of the heap.
    pub fn rows_below(&self, size: u64) -> Option<u32> {
        let first_row = self.start.checked_mul(u64::from(self.width))?;
        size.checked_div(first_row)?.checked_ilog2().map(|rows| rows + 1)
    }

    /// The row of an indirect block with `rows` rows that an offset lies in, counted from the front of that block, and the column there.
    pub fn place(&self, within: u64, rows: u32) -> Option<(u32, u64)> {
        // Row n > 0 begins behind the bytes of the first row, doubled n - 1 times.
        let row = self.rows_below(within).unwrap_or(0).min(rows.checked_sub(1)?);
        let column = (within - self.row_offset(row)?).checked_div(self.block_size(row)?)?;
        (column < u64::from(self.width)).then_some((row, column))
    }

    /// The most rows that the root block can have.
    pub fn max_rows(&self) -> u32 {
        let first_row = self.start.trailing_zeros() + u32::from(self.width).trailing_zeros();
        (u32::from(self.bits) + 1).saturating_sub(first_row)
    }
}
