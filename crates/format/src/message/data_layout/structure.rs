//! What structured chunks hold, which the number of their sections tells, and which of them have a checksum.

use hyperslab_base::Width;

/// What chunks of several sections hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkStructure {
    /// Values of some elements: a selection section and a fixed section.
    Sparse,
    /// Values of variable length of some elements: a selection section, a fixed section and a variable-length section.
    SparseVlen,
    /// Values of variable length of all elements: a fixed section and a variable-length section.
    DenseVlen,
}

impl ChunkStructure {
    const ALL: [ChunkStructure; 3] = [ChunkStructure::Sparse, ChunkStructure::SparseVlen, ChunkStructure::DenseVlen];

    /// How many sections a chunk has.
    pub const fn sections(self) -> u8 {
        match self {
            ChunkStructure::Sparse | ChunkStructure::DenseVlen => 2,
            ChunkStructure::SparseVlen => 3,
        }
    }

    /// The numbers of the sections that end with a checksum.
    pub const fn checksummed(self) -> &'static [u8] {
        match self {
            ChunkStructure::Sparse => &[0],
            ChunkStructure::SparseVlen => &[0, 1, 2],
            ChunkStructure::DenseVlen => &[0, 1],
        }
    }

    /// Whether some elements of a chunk may be without a value: its first section says which have one.
    pub const fn is_sparse(self) -> bool {
        matches!(self, ChunkStructure::Sparse | ChunkStructure::SparseVlen)
    }

    /// Whether values have parts of variable length: the last section has them.
    pub const fn has_vlen(self) -> bool {
        matches!(self, ChunkStructure::SparseVlen | ChunkStructure::DenseVlen)
    }

    /// How wide the index stores the size of a chunk; `dense_bytes` is what the values of all its elements take.
    ///
    /// ```
    /// use hyperslab_base::Width;
    /// use hyperslab_format::message::ChunkStructure;
    /// assert_eq!(ChunkStructure::Sparse.size_width(8000), Width::new(3).unwrap());
    /// assert_eq!(ChunkStructure::SparseVlen.size_width(8000), Width::W8);
    /// ```
    pub fn size_width(self, dense_bytes: u64) -> Width {
        if self.sections() == 3 {
            return Width::W8;
        }
        // As for filtered chunks, this leaves room for chunks that their encoding makes longer.
        let bytes = 1 + (dense_bytes.checked_ilog2().unwrap_or(0) + 8) / 8;
        Width::new(bytes as u8).unwrap_or(Width::W8)
    }

    /// The type in the data layout message: bit 0 sparse, bit 1 variable-length.
    pub(super) const fn bits(self) -> u16 {
        self.is_sparse() as u16 | (self.has_vlen() as u16) << 1
    }

    /// The structure with so many sections, of which these have a checksum. Writers disagree about the type in the message, but not about these.
    pub(super) fn of(sections: u8, checksummed: &[u8]) -> Option<ChunkStructure> {
        let fits = |kind: &ChunkStructure| kind.sections() == sections && kind.checksummed() == checksummed;
        ChunkStructure::ALL.into_iter().find(fits)
    }
}
