//! Reads of chunks past the cache.
//!
//! Chunks that are in the file as in memory go between file and caller directly, all pieces in one selection request. Others are read with one
//! vector request per batch, decoded on all cores, and copied to their places.

use std::borrow::Cow;

use hyperslab_driver::{
    SelectionPair, cores,
    lower::{self, Band},
};
use hyperslab_file::OpenFile;
use hyperslab_space::{Kind, Piece, Space};

use super::{
    ChunkCoord, EncodedChunk, Loader, PIECES, ReadBuffer, ResidentChunk, StoredAt, Workspace, hand_out::hand_out,
    loader::batch, scatter,
};
use crate::{Chunked, Index, Result, layout::Part};

/// A piece, and where its chunk is.
pub(crate) type LocatedPiece<'a> = (&'a Piece, StoredAt);

/// A piece, and the stored bytes of its chunk.
type StoredPiece<'a> = (&'a LocatedPiece<'a>, &'a [u8]);

impl Chunked {
    /// Reads the selection of `source` into the selection of `target`.
    pub fn read(
        &self,
        file: &OpenFile,
        source: &Space,
        target: &Space,
        buf: &mut [u8],
        fill: Option<&[u8]>,
    ) -> Result<()> {
        if self.chunks.is_addressable() && source.kind() == Kind::Points && target.kind() == Kind::All {
            return self.read_points(file, source, buf, fill);
        }
        if matches!(self.index, Index::Empty) {
            return scatter::fill(fill, buf, target, self.element());
        }
        if let Some(few) = self.few(file, source) {
            return self.read_few(file, &few, source, target, buf, fill);
        }
        let mut pieces = source.pieces(&self.grid, target)?;
        loop {
            let next = pieces.batch(PIECES)?;
            if next.is_empty() {
                return Ok(());
            }
            self.read_pieces(file, &next, &mut ReadBuffer::stored(buf), fill)?;
        }
    }

    /// Reads pieces of chunks, by rising coordinate.
    pub(crate) fn read_pieces(
        &self,
        file: &OpenFile,
        pieces: &[Piece],
        to: &mut ReadBuffer<'_>,
        fill: Option<&[u8]>,
    ) -> Result<()> {
        let coords: Vec<ChunkCoord> = pieces.iter().map(|piece| piece.chunk.clone()).collect();
        let mut located = Vec::with_capacity(pieces.len());
        for (piece, entry) in pieces.iter().zip(self.index.find_all(file, &coords, self.chunk())?) {
            match entry.map_or(Ok(None), |entry| self.stored_at(file, &piece.chunk, &entry))? {
                Some(at) => located.push((piece, at)),
                None => to.fill_piece(fill, piece, &self.chunks)?,
            }
        }
        self.read_located(file, located, to)
    }

    /// Reads pieces of stored chunks.
    pub(crate) fn read_located(
        &self,
        file: &OpenFile,
        pieces: Vec<LocatedPiece<'_>>,
        to: &mut ReadBuffer<'_>,
    ) -> Result<()> {
        let is_copied = to.plan().is_none();
        let is_in_place = |(_, at): &LocatedPiece<'_>| is_copied && self.chunks.is_addressable_at(at);
        // There may be tens of thousands, and as a rule they are alike.
        let (in_place, encoded) = match pieces.iter().filter(|piece| is_in_place(piece)).count() {
            0 => (Vec::new(), pieces),
            count if count == pieces.len() => (pieces, Vec::new()),
            _ => pieces.into_iter().partition(is_in_place),
        };
        self.read_in_place(file, &in_place, to)?;
        let mut rest = encoded.as_slice();
        while !rest.is_empty() {
            let bytes = |(_, at): &LocatedPiece<'_>| {
                at.sections.bytes().max(self.chunks.expected_bytes_of(Part::All, &at.sections))
            };
            let (now, later) = rest.split_at(batch(rest, bytes));
            self.read_encoded(file, now, to)?;
            rest = later;
        }
        Ok(())
    }

    /// Reads all pieces with one selection request.
    fn read_in_place(&self, file: &OpenFile, pieces: &[LocatedPiece<'_>], to: &mut ReadBuffer<'_>) -> Result<()> {
        if pieces.is_empty() {
            return Ok(());
        }
        let mut request = Vec::with_capacity(pieces.len());
        for (piece, at) in pieces {
            let offset = file.check("chunk", at.address, at.sections.bytes())?;
            let (memory, file, element_size) = (&piece.memory, &piece.file, self.element());
            request.push(SelectionPair { memory, file, offset, element_size });
        }
        Ok(file.read_selection(&request, to.stored_bytes()?)?)
    }

    /// One vector request; then each chunk is decoded and its values are copied to their places, on all cores.
    fn read_encoded(&self, file: &OpenFile, pieces: &[LocatedPiece<'_>], to: &mut ReadBuffer<'_>) -> Result<()> {
        let mut room = Vec::new();
        let stored = Loader::new(file).read_together(pieces.iter().map(|(_, at)| at), &mut room)?;
        let stored: Vec<StoredPiece<'_>> = pieces.iter().zip(stored).collect();
        let decode = |workspace: &mut Workspace, ((piece, at), bytes): &StoredPiece<'_>| {
            let encoded = EncodedChunk::of(&piece.chunk, at, Cow::Borrowed(*bytes));
            ResidentChunk::decode(&self.chunks, at, encoded, workspace)
        };
        let (element, plan) = (to.element(self.element()), to.plan());
        let ranges: Vec<_> = pieces.iter().map(|(piece, _)| scatter::touched(&piece.memory, element)).collect();
        let bands = lower::bands(to.bytes, &ranges);
        let work = |workspace: &mut Workspace, Band { start, bytes, items }: Band<'_>| -> Result<()> {
            let mut part = ReadBuffer::part(bytes, start as u64, plan);
            for stored in items.iter().filter_map(|&item| stored.get(item)) {
                let ((piece, _), _) = stored;
                let chunk = decode(workspace, stored)?;
                chunk.scatter(&self.chunks, piece, &mut part)?;
                chunk.recycle(workspace);
            }
            Ok(())
        };
        if !self.chunks.has_vlen() && (stored.len() == 1 || bands.len() >= cores::count()) {
            return cores::map(bands, work).map(drop);
        }
        // Too few places to fill at once: the copying waits until all is decoded.
        let decoded = cores::map(stored.iter().collect(), decode)?;
        let mut decoded = decoded.iter().zip(pieces.iter().map(|(piece, _)| *piece));
        if to.plan().is_some() {
            return hand_out(&decoded.collect::<Vec<_>>(), to, &self.chunks);
        }
        decoded.try_for_each(|(chunk, piece)| chunk.scatter(&self.chunks, piece, to))
    }
}
