//! The superblock extension: settings that have no place in the superblock itself.

use hyperslab_format::message::{self, kind};

use crate::{Error, Header, HeaderEdit, NewHeader, OpenFile, Result, cache_image, store::Store};

/// Reads the extension, if there is one, into the file.
pub(crate) fn read(file: &mut OpenFile) -> Result<()> {
    let Some(address) = file.superblock.extension else { return Ok(()) };
    let header = Header::read(file, address)?;
    for message in header.messages() {
        let body = header.body(message);
        match message.kind {
            kind::BTREE_K => {
                let k = message::BtreeK::decode(body).map_err(Error::at(address))?;
                let superblock = &mut file.unshared()?.superblock;
                superblock.chunk_internal_k = k.chunk_internal;
                superblock.group_internal_k = k.group_internal;
                superblock.group_leaf_k = k.group_leaf;
            }
            kind::SHARED_TABLE => {
                let shared = message::SharedTable::decode(body, file.widths()).map_err(Error::at(address))?;
                file.unshared()?.shared = Some(shared);
            }
            kind::CACHE_IMAGE => {
                let image = cache_image::read(file, address, body)?;
                file.unshared()?.image = image;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Changes the messages of the extension; the file gets one if it has none.
pub(crate) fn change(
    file: &OpenFile,
    store: &Store,
    change: impl FnOnce(&mut HeaderEdit<'_>) -> Result<()>,
) -> Result<()> {
    let extension = store.superblock.lock().0.extension;
    let mut header = match extension {
        Some(address) => HeaderEdit::open(file, address)?,
        None => {
            let new =
                NewHeader { version: 2, times: false, ordered: false, indexed: false, attribute_limits: None, room: 0 };
            HeaderEdit::new(file, &new)
        }
    };
    change(&mut header)?;
    let address = header.save()?;
    store.superblock.lock().0.extension = Some(address);
    Ok(())
}
