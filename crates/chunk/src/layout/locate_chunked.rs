//! Where the chunks of chunked datasets are, for the cache.

use std::borrow::Cow;

use hyperslab_file::OpenFile;
use hyperslab_space::Coords;

use crate::{
    Chunked, Result,
    layout::{Facts, Image, Locate, Located},
    transfer::publish::{Made, Reserved},
};

impl Chunked {
    /// What the cache must know of it.
    pub(crate) fn facts(&self) -> Facts {
        let coder = Some(self.coder.clone()).filter(|coder| coder.filters());
        let mut facts = Facts::new(Some(self.grid.clone()), self.element(), self.bytes, coder);
        facts.has_index = true;
        facts.codes_all &= !self.has_plain_edges();
        facts
    }
}

impl Locate for Chunked {
    fn dims(&self) -> &[u64] {
        self.extent.dims()
    }

    fn is_coded(&self, place: &[u64]) -> bool {
        Chunked::is_coded(self, place, &self.extent)
    }

    fn inside(&self, place: &[u64]) -> u64 {
        let sides = place.iter().zip(self.chunk().iter().zip(self.extent.dims()));
        let side = |(nth, (size, dim)): (&u64, (&u64, &u64))| dim.saturating_sub(nth.saturating_mul(*size)).min(*size);
        sides.map(side).product()
    }

    fn plain_size(&self, _place: &[u64]) -> u64 {
        self.bytes as u64
    }

    fn locate(&self, file: &OpenFile, places: &[Coords]) -> Result<Vec<Option<Located>>> {
        let entries = self.index.find_all(file, places, self.chunk())?;
        let located = places.iter().zip(entries).map(|(place, entry)| {
            let Some((entry, address)) = entry.and_then(|entry| entry.address.map(|address| (entry, address))) else {
                return Ok(None);
            };
            let coded = Locate::is_coded(self, place);
            let size = if coded { entry.size } else { self.plain_size(place) };
            file.check("chunk", address, size)?;
            Ok(Some(Located { address, size, mask: entry.mask, coded, needed: self.needed(place) }))
        });
        located.collect()
    }

    fn reserve(&self, file: &OpenFile, images: &[Image<'_>]) -> Result<Reserved> {
        let places: Vec<Coords> = images.iter().map(|image| image.place.clone()).collect();
        let olds = self.index.find_all(file, &places, self.chunk())?;
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
