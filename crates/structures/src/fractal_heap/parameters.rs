//! What a new heap is like.

use hyperslab_base::Widths;
use hyperslab_file::{Error, Result};
use hyperslab_format::heap::fractal::{self, DoublingTable, Usage};

use super::{WHAT, blocks};

/// What a new heap is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// How many bytes an id has; zero for as many as an object in a block needs.
    pub id_len: u16,
    /// Whether direct blocks have checksums.
    pub checked_blocks: bool,
    /// How blocks grow.
    pub table: DoublingTable,
    /// The rows of a new root block; zero for all that there can be.
    pub first_rows: u16,
    /// The largest object that lies in a block.
    pub max_managed: u32,
}

impl Parameters {
    /// For the links of a group, as libhdf5 has it.
    pub const fn links() -> Parameters {
        Parameters {
            id_len: 0,
            checked_blocks: true,
            table: DoublingTable { width: 4, start: 512, max_direct: 64 << 10, bits: 32 },
            first_rows: 1,
            max_managed: 4 << 10,
        }
    }

    /// For the attributes of an object, as libhdf5 has it.
    pub const fn attributes() -> Parameters {
        Parameters {
            id_len: 8,
            table: DoublingTable { width: 4, start: 1 << 10, max_direct: 64 << 10, bits: 40 },
            ..Parameters::links()
        }
    }

    /// For messages that objects share, as libhdf5 has it.
    pub const fn shared_messages() -> Parameters {
        Parameters::attributes()
    }

    /// The header of a heap without objects.
    pub(super) fn header(&self, widths: Widths) -> Result<fractal::FractalHeap> {
        let mut header = fractal::FractalHeap {
            id_len: self.id_len,
            checked_blocks: self.checked_blocks,
            huge_wrapped: false,
            max_managed: self.max_managed,
            next_huge: 0,
            huge_tree: None,
            free: 0,
            free_manager: None,
            usage: Usage::default(),
            table: self.table,
            first_rows: self.first_rows,
            root: None,
            root_rows: 0,
            filters: None,
        };
        let refuse = |why: &str| Err(Error::Refused(format!("{WHAT}: {why}")));
        let needed = 1 + header.table.offset_width().bytes() + header.length_width().bytes();
        if header.id_len == 0 {
            header.id_len = needed as u16;
        }
        if usize::from(header.id_len) < needed || header.id_len > 1 << 12 {
            return refuse("ids of a length that does not suit its objects");
        }
        if header.table.max_direct < blocks::overhead(&header, widths) + u64::from(self.max_managed) {
            return refuse("its largest direct block has no room for its largest object");
        }
        // libhdf5 has heaps of 40 bits in files whose lengths have 32, too.
        if header.table.bits > 64 || header.table.max_rows() == 0 {
            return refuse("a doubling table of no possible shape");
        }
        Ok(header)
    }
}
