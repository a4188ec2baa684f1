//! The superblock extension: settings that have no place in the superblock itself.

use hyperslab_format::{
    cache_image,
    message::{self, kind},
};

use crate::{Error, Header, OpenFile, Result};

/// Reads the extension, if there is one, into the file.
pub(crate) fn read(file: &mut OpenFile) -> Result<()> {
    let Some(address) = file.superblock.extension else { return Ok(()) };
    let header = Header::read(file, address)?;
    for message in header.messages() {
        let body = header.body(message);
        match message.kind {
            kind::BTREE_K => {
                let k = message::BtreeK::decode(body).map_err(Error::at(address))?;
                file.superblock.chunk_internal_k = k.chunk_internal;
                file.superblock.group_internal_k = k.group_internal;
                file.superblock.group_leaf_k = k.group_leaf;
            }
            kind::SHARED_TABLE => {
                let shared = message::SharedTable::decode(body, file.widths()).map_err(Error::at(address))?;
                file.shared = Some(shared);
            }
            kind::CACHE_IMAGE => {
                let image = message::CacheImage::decode(body, file.widths()).map_err(Error::at(address))?;
                if let Some(place) = image.address {
                    let bytes = file.metadata("metadata cache image", place, image.length)?;
                    let entries = cache_image::decode(&bytes, file.widths()).map_err(Error::at(place))?;
                    file.image = entries.into_iter().collect();
                }
            }
            _ => {}
        }
    }
    Ok(())
}
