//! Reads of chunks past the cache.
//!
//! Chunks that are in the file as in memory go between file and caller directly, all pieces in one selection request. Others are read with one
//! vector request per batch, decoded on all cores, and copied to their places.

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

/// A piece, and its chunk as it is stored.
type EncodedPiece<'a> = (&'a LocatedPiece<'a>, EncodedChunk<'static>);

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
        let (in_place, encoded) = match pieces.iter().all(is_in_place) {
            true => (pieces, Vec::new()),
            false => pieces.into_iter().partition(is_in_place),
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
        let wanted: Vec<_> = pieces.iter().map(|(piece, at)| (&piece.chunk, Some(at))).collect();
        let encoded = Loader::new(file).read(&wanted)?;
        let encoded = pieces.iter().zip(encoded).filter_map(|(piece, encoded)| Some((piece, encoded?)));
        let encoded: Vec<EncodedPiece<'_>> = encoded.collect();
        let (element, plan) = (to.element(self.element()), to.plan());
        let ranges: Vec<_> = encoded.iter().map(|((piece, _), _)| scatter::touched(&piece.memory, element)).collect();
        let bands = lower::bands(to.bytes, &ranges);
        let work = |workspace: &mut Workspace, Band { start, bytes, items }: Band<'_>| -> Result<()> {
            let mut part = ReadBuffer::part(bytes, start as u64, plan);
            for ((piece, at), encoded) in items.iter().filter_map(|&item| encoded.get(item)) {
                let chunk = ResidentChunk::decode(&self.chunks, at, encoded.borrowed(), workspace)?;
                chunk.scatter(&self.chunks, piece, &mut part)?;
                chunk.recycle(workspace);
            }
            Ok(())
        };
        if !self.chunks.has_vlen() && (encoded.len() == 1 || bands.len() >= cores::count()) {
            return cores::map(bands, work).map(drop);
        }
        // Too few places to fill at once: the copying waits until all is decoded.
        let pieces: Vec<_> = encoded.iter().map(|((piece, _), _)| *piece).collect();
        let decoded = cores::map(encoded, |workspace, ((_, at), encoded)| {
            ResidentChunk::decode(&self.chunks, at, encoded, workspace)
        })?;
        if to.plan().is_some() {
            return hand_out(&decoded.iter().zip(pieces).collect::<Vec<_>>(), to, &self.chunks);
        }
        let mut decoded = pieces.into_iter().zip(decoded);
        decoded.try_for_each(|(piece, chunk)| chunk.scatter(&self.chunks, piece, to))
    }
}
