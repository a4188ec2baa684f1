//! Chunked datasets as clients of the cache.

use std::borrow::Cow;

use hyperslab_file::OpenFile;
use hyperslab_format::ChunkEntry;
use hyperslab_space::{Coords, Piece, Space};

use crate::{
    Chunked, Filling, Result,
    layout::{Direct, Facts, Image, Locate},
    publish::{Made, Reserved},
};

impl Chunked {
    /// What the cache must know of it.
    pub fn facts(&self) -> Facts {
        Facts::new(self.grid.clone(), self.element(), self.bytes, self.coder.clone())
    }
}

impl Locate for Chunked {
    fn is_coded(&self, place: &[u64]) -> bool {
        Chunked::is_coded(self, place, &self.extent)
    }

    fn inside(&self, place: &[u64]) -> u64 {
        let sides = place.iter().zip(self.chunk().iter().zip(self.extent.dims()));
        let side = |(nth, (size, dim)): (&u64, (&u64, &u64))| dim.saturating_sub(nth.saturating_mul(*size)).min(*size);
        sides.map(side).product()
    }

    fn locate(&self, file: &OpenFile, places: &[Coords]) -> Result<Vec<Option<ChunkEntry>>> {
        Ok(self.index.find_all(file, places, self.chunk())?)
    }

    fn reserve(&self, file: &OpenFile, images: &[Image<'_>]) -> Result<Reserved> {
        let places: Vec<Coords> = images.iter().map(|image| image.place.clone()).collect();
        let olds = self.locate(file, &places)?;
        let (mut made, mut fixed) = (Vec::with_capacity(images.len()), Vec::with_capacity(images.len()));
        for (image, old) in images.iter().zip(olds) {
            // What has no filters is overwritten where it is.
            let address = old.as_ref().and_then(|old| old.address).filter(|_| !image.coded);
            fixed.push(address);
            if address.is_none() {
                let (place, bytes) = (image.place.clone(), Some(Cow::Borrowed(image.bytes)));
                made.push(Made { place, old, size: image.bytes.len(), bytes, mask: image.mask });
            }
        }
        let mut reserved = self.reserve_for(file, &made)?;
        let mut new = std::mem::take(&mut reserved.addresses).into_iter();
        reserved.addresses = fixed.into_iter().map(|address| address.or_else(|| new.next()).unwrap_or(0)).collect();
        Ok(reserved)
    }

    fn insert(&mut self, file: &OpenFile, reserved: Reserved) -> Result<bool> {
        self.enter_reserved(file, reserved)
    }
}

impl Direct for Chunked {
    fn read(&self, file: &OpenFile, source: &Space, target: &Space, buf: &mut [u8], fill: Option<&[u8]>) -> Result<()> {
        Chunked::read(self, file, source, target, buf, fill)
    }

    fn read_pieces(&self, file: &OpenFile, pieces: Vec<Piece>, buf: &mut [u8], fill: Option<&[u8]>) -> Result<()> {
        Chunked::read_pieces(self, file, pieces, buf, fill)
    }

    fn write_pieces(&mut self, file: &OpenFile, pieces: &[Piece], buf: &[u8], filling: &Filling<'_>) -> Result<bool> {
        Chunked::write_pieces(self, file, pieces, buf, filling)
    }
}
