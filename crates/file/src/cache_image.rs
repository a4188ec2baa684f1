//! The image of a metadata cache: structures that the last program had in memory when it closed the file. They are newer than the file's bytes at
//! their addresses, so the file is read through them; before it is changed, they are put where they belong and the image is given up.

use std::{collections::BTreeMap, sync::Arc};

use hyperslab_alloc::Span;
use hyperslab_format::{
    cache_image,
    message::{self, kind},
};

use crate::{Block, Error, Extent, HeaderEdit, OpenFile, Result, Seal, spans, store::Store};

const WHAT: &str = "metadata cache image";

/// Structures by address.
pub(crate) type Image = BTreeMap<u64, Vec<u8>>;

/// The image of a metadata cache, of so many bytes.
struct ImageBlock(u64);

impl Block for ImageBlock {
    type Value = Image;
    const WHAT: &'static str = WHAT;

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, _: &OpenFile) -> Extent {
        Extent::Exact(self.0)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Image> {
        let entries = cache_image::decode(bytes, file.widths()).map_err(Error::at(address))?;
        Ok(entries.into_iter().collect())
    }
}

/// The image that a message of the superblock extension at `extension` tells of.
pub(crate) fn read(file: &OpenFile, extension: u64, body: &[u8]) -> Result<Image> {
    let Some(place) = place(file, extension, body)? else { return Ok(Image::new()) };
    file.load_once(&ImageBlock(place.len), place.start)
}

fn place(file: &OpenFile, extension: u64, body: &[u8]) -> Result<Option<Span>> {
    let image = message::CacheImage::decode(body, file.widths()).map_err(Error::at(extension))?;
    Ok(image.address.map(|start| Span { start, len: image.length }))
}

/// Makes changed blocks of the structures. The file must be flushed, and the image [freed](free_image), before anything else happens.
pub(crate) fn put(file: &OpenFile, image: Image) -> Result<()> {
    let superblock = Span { start: 0, len: file.superblock.encode()?.len() as u64 };
    let blocks = image.iter().map(|(&start, bytes)| Span { start, len: bytes.len() as u64 });
    spans::check_apart(file, WHAT, blocks.chain([superblock]))?;
    image.into_iter().try_for_each(|(address, bytes)| file.put(address, bytes))
}

/// Takes the image out of a file whose structures are in place. The file must be flushed before anything else happens.
pub(crate) fn free_image(file: &OpenFile, store: &Store) -> Result<()> {
    let Some(extension) = store.superblock.lock().0.extension else { return Ok(()) };
    let mut header = HeaderEdit::open(file, extension)?;
    let Some(found) = header.find(kind::CACHE_IMAGE) else { return Ok(()) };
    let place = place(file, extension, header.body(found))?;
    header.remove(found);
    store.superblock.lock().0.extension = Some(header.save()?);
    place.map_or(Ok(()), |place| file.free(place.start, place.len))
}
