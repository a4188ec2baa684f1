//! What does not fit is refused with the name of its structure and field.

use hyperslab_base::{Width, Widths};
use hyperslab_format::{
    Encoded,
    heap::{global, local},
    message::*,
    object_header::{Flags, Message, Prefix},
    symbol_table::{self, Cache, Entry},
};

const NARROW: Widths = Widths { offsets: Width::W2, lengths: Width::W2 };

#[track_caller]
fn refused<T: std::fmt::Debug>(encoded: Encoded<T>, why: &str) {
    assert_eq!(encoded.unwrap_err().to_string(), why);
}

#[test]
fn numbers_that_are_too_large() {
    let table = SymbolTable { btree: Some(70_000), heap: None };
    refused(table.encode(NARROW), "symbol table message, B-tree: 70000 does not fit 2 bytes");
    let table = SymbolTable { btree: Some(65_535), heap: None };
    refused(table.encode(NARROW), "symbol table message, B-tree: 0xffff means that there is no address");
    let at = Continuation { address: 1, length: 1 << 16 };
    refused(at.encode(NARROW), "continuation message, length: 65536 does not fit 2 bytes");
    let layout = |version, size| DataLayout { version, old_sizes: Vec::new(), layout: Layout::Compact(vec![0; size]) };
    assert!(layout(3, 65_535).encode(NARROW).is_ok());
    refused(layout(3, 65_536).encode(NARROW), "data layout message, size of the values: 65536 does not fit 2 bytes");
    assert!(layout(2, 65_536).encode(NARROW).is_ok());
}

#[test]
fn versions_that_cannot_hold_a_value() {
    let attribute = Attribute {
        version: 1,
        name: b"a",
        charset: CharSet::Utf8,
        datatype: &[],
        datatype_shared: false,
        dataspace: &[],
        dataspace_shared: false,
        data: &[],
    };
    refused(attribute.encode(), "attribute message, character set: only version 3 has a place for it");
    assert!(Attribute { version: 3, ..attribute }.encode().is_ok());
    let (chunk, index) = (vec![1 << 32], ChunkIndex::BtreeV1);
    let layout = Layout::Chunked { structure: None, chunk, element_size: 1, plain_edges: false, index, address: None };
    let layout = DataLayout { version: 3, old_sizes: Vec::new(), layout };
    refused(layout.encode(NARROW), "data layout message, size: 4294967296 does not fit 4 bytes");
    let layout = DataLayout { version: 5, ..layout };
    refused(layout.encode(NARROW), "data layout message, class: version 5 has no place for it");
}

#[test]
fn blocks_without_room() {
    let entry = Entry { name: 8, header: Some(9), cache: Cache::Nothing };
    let entries = vec![entry; 5];
    let why = "symbol table node, symbols: 168 bytes where 136 have room";
    refused(symbol_table::encode_node(&entries, 2, Widths { offsets: Width::W4, lengths: Width::W4 }), why);
    refused(
        global::encode(40, &[(1, 0, &[7; 9])], Widths::EIGHT),
        "global heap collection, objects: 48 bytes where 40 have room",
    );
    let block = local::FreeBlock { start: 8, size: 8 };
    refused(
        local::encode_free(&mut [0; 32], &[block], Widths::EIGHT),
        "free list of a local heap, block: 8 bytes at 8 are no free block",
    );
}

#[test]
fn blocks_that_are_not_full() {
    let message = Message { kind: 1, flags: Flags::NONE, order: None, body: &[] };
    assert!(Prefix::new(7).encode_first(&[message]).is_ok());
    refused(
        Prefix::new(8).encode_first(&[message]),
        "object header, messages: 4 bytes are left, which a NIL message should take",
    );
    refused(
        Prefix::new(4).encode_first(&[Message { kind: 256, ..message }]),
        "object header, message type: 256 does not fit 1 bytes",
    );
    refused(
        Prefix::new(4).encode_first(&[Message { order: Some(1), ..message }]),
        "object header, creation order: either the header and all its messages keep it, or none",
    );
    refused(
        Prefix::old(1, 1, 8).encode_first(&[Message { body: &[0; 65_530], ..message }]),
        "object header, message size: 65536 does not fit 2 bytes",
    );
}
