//! Decoders of bytes that stand alone.

use hyperslab_base::{Width, Widths};
use hyperslab_dtype::Datatype;
use hyperslab_format::message::{self, kind};
use hyperslab_format::object_header::Prefix;
use hyperslab_format::{DriverInfoBlock, Malformed, Superblock, superblock, virtual_mapping};
use hyperslab_hostile::repair::{self, Wrong};
use hyperslab_space::Extent;

/// Numbers over those of header messages stand for other structures.
const OTHERS: u8 = 0x20;

/// Reads `body` as what `which` says.
pub fn decode(which: u8, widths: u8, body: &[u8]) {
    let width = |bits: u8| [Width::W2, Width::W4, Width::W8, Width::W8][usize::from(bits & 3)];
    let widths = Widths { offsets: width(widths), lengths: width(widths >> 2) };
    let Some(other) = which.checked_sub(OTHERS) else { return header(which.into(), body, widths) };
    match other % 4 {
        0 => {
            let mut bytes = [superblock::SIGNATURE.as_slice(), body].concat();
            with_checksum(&mut bytes, |bytes| Superblock::decode(bytes).map(drop));
        }
        1 => {
            let _ = (DriverInfoBlock::full_size(body), DriverInfoBlock::decode(body));
        }
        2 => with_checksum(&mut body.to_vec(), |bytes| virtual_mapping::decode(bytes, widths).map(drop)),
        _ => with_checksum(&mut body.to_vec(), |bytes| {
            let prefix = Prefix::decode(bytes)?;
            let first = bytes.get(..prefix.full_size()).unwrap_or(bytes);
            prefix.first_messages(first)?;
            prefix.further_messages(bytes).map(drop)
        }),
    }
}

/// Reads a header message.
pub fn header(which: u16, body: &[u8], widths: Widths) {
    let _ = message::Shared::decode(body, widths);
    match which {
        kind::DATASPACE => drop(Extent::decode(body, widths.lengths)),
        kind::LINK_INFO => drop(message::LinkInfo::decode(body, widths)),
        kind::DATATYPE => drop(Datatype::decode(body)),
        kind::OLD_FILL_VALUE => drop(message::FillWrite::decode_old(body)),
        kind::FILL_VALUE => drop(message::FillWrite::decode(body)),
        kind::LINK => drop(message::Link::decode(body, widths)),
        kind::EXTERNAL_FILES => drop(message::ExternalFiles::decode(body, widths)),
        kind::DATA_LAYOUT => drop(message::DataLayout::decode(body, widths)),
        kind::GROUP_INFO => drop(message::GroupInfo::decode(body)),
        kind::FILTER_PIPELINE => drop(message::FilterPipeline::decode(body)),
        kind::ATTRIBUTE => drop(message::Attribute::decode(body)),
        kind::COMMENT => drop(message::comment(body)),
        kind::OLD_MODIFICATION_TIME => drop(message::old_modification_time(body)),
        kind::SHARED_TABLE => drop(message::SharedTable::decode(body, widths)),
        kind::CONTINUATION => drop(message::Continuation::decode(body, widths)),
        kind::SYMBOL_TABLE => drop(message::SymbolTable::decode(body, widths)),
        kind::MODIFICATION_TIME => drop(message::modification_time(body)),
        kind::BTREE_K => drop(message::BtreeK::decode(body)),
        kind::DRIVER_INFO => drop(message::DriverInfo::decode(body)),
        kind::ATTRIBUTE_INFO => drop(message::AttributeInfo::decode(body, widths)),
        kind::REFERENCE_COUNT => drop(message::reference_count(body)),
        _ => {}
    }
}

/// Decodes; if a checksum is wrong, puts it right and decodes again.
pub fn with_checksum(bytes: &mut [u8], decode: impl Fn(&[u8]) -> Result<(), Malformed>) {
    for _ in 0..4 {
        let Err(why) = decode(bytes) else { return };
        if !repair::checksums(bytes, 0, Wrong::new(0, &why)) {
            return;
        }
    }
}
