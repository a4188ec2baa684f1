//! Superblocks, headers, groups, shared messages and free space: what is encoded decodes to the same; what does not fit is refused.

use hyperslab_format::{
    DriverInfoBlock, Superblock,
    btree_v1::{self, ChunkKey, Node},
    free_space::{Blocks, Client, FreeSpace, Section},
    object_header::{Flags, Message, Prefix},
    shared_messages::{self, MessageLocation, SharedIndex, SharedRecord},
    superblock::Root,
    symbol_table::{self, Cache, Entry},
    version::LibVersion,
    virtual_mapping::{self, Mapping},
};
use hyperslab_space::{Op, Selection, Slab, Space};
use proptest::{array, collection::vec, option, prelude::*};

use crate::random::{address, agree, bytes, name, number, widths};

fn entry() -> BoxedStrategy<Entry> {
    let cache = prop_oneof![
        Just(Cache::Nothing),
        (address(), address()).prop_map(|(btree, heap)| Cache::Group { btree, heap }),
        any::<u32>().prop_map(Cache::SoftLink),
    ];
    (number(), address(), cache).prop_map(|(name, header, cache)| Entry { name, header, cache }).boxed()
}

fn record() -> BoxedStrategy<SharedRecord> {
    let location = prop_oneof![
        any::<(u32, [u8; 8])>().prop_map(|(references, id)| MessageLocation::Heap { references, id }),
        (any::<u8>(), any::<u16>(), address()).prop_map(|(kind, order, header)| MessageLocation::Header {
            kind,
            order,
            header
        }),
    ];
    (any::<u32>(), location).prop_map(|(hash, location)| SharedRecord { hash, location }).boxed()
}

fn selection() -> BoxedStrategy<Selection> {
    let slab = (0..9u64, 1..5u64, 1..6u64, 1..4u64);
    let regular = vec(slab, 1..4).prop_map(|slabs| {
        let slabs: Vec<_> =
            slabs.iter().map(|(start, gap, count, block)| Slab::new(*start, gap + block, *count, *block)).collect();
        let mut space = Space::simple(&vec![100; slabs.len()]).unwrap();
        space.select_hyperslab(Op::Set, &slabs).unwrap();
        space.selection().clone()
    });
    let points = vec(array::uniform2(0..100u64), 1..6).prop_map(|points| {
        let mut space = Space::simple(&[100, 100]).unwrap();
        space.select_points(&points.concat()).unwrap();
        space.selection().clone()
    });
    prop_oneof![Just(Selection::ALL), Just(Selection::NONE), regular, points].boxed()
}

/// A NIL message as long as what is left of a block, or none if a gap will do.
fn filler(prefix: &Prefix, used: usize, size: usize) -> Option<Vec<u8>> {
    let left = size.checked_sub(used)?;
    left.checked_sub(prefix.message_head()).map(|body| vec![0; body])
}

/// Mostly flags that go together.
fn flags() -> impl Strategy<Value = u8> {
    prop_oneof![1 => any::<u8>(), 8 => 0..2u8, 2 => Just(0x11)]
}

proptest! {
    #[test]
    fn superblocks(
        version in 0..5u8, widths in widths(), flags in prop_oneof![0..300u32, any::<u32>()], base in number(),
        places in array::uniform5(address()), entry in entry(), k: [u16; 3], kind: bool,
    ) {
        let [free_space, end_of_file, extension, driver_info, root] = places;
        let [group_leaf_k, group_internal_k, chunk_internal_k] = k;
        let root = if kind { Root::Entry(entry.clone()) } else { Root::Header(root) };
        let any = Superblock {
            version, widths, flags, base, free_space, end_of_file, extension, driver_info, root, group_leaf_k,
            group_internal_k, chunk_internal_k,
        };
        let old = Superblock { version: version % 2, root: Root::Entry(entry), extension: None, ..any.clone() };
        let new = Superblock {
            version: 2 + version % 2, root: Root::Header(extension), free_space: None, driver_info: None, flags: flags % 300,
            group_leaf_k: 4, group_internal_k: 16, chunk_internal_k: 32, ..any.clone()
        };
        for superblock in [old.clone(), Superblock { chunk_internal_k: 32, ..old }, new] {
            agree(&superblock, superblock.encode(), Superblock::decode);
        }
        let _ = any.encode();
    }

    #[test]
    fn driver_blocks(name: [u8; 8], info in bytes(100)) {
        let block = DriverInfoBlock { name, info };
        agree(&block, block.encode(), DriverInfoBlock::decode);
        prop_assert_eq!(DriverInfoBlock::full_size(&block.encode().unwrap()).unwrap(), block.encode().unwrap().len());
    }

    #[test]
    fn headers(
        old: bool, times in option::of(any::<[u32; 4]>()), limits in option::of(any::<[u16; 2]>()), ordered: bool, indexed: bool,
        messages in vec((0..300u16, flags(), any::<u16>(), bytes(40)), 0..6), slack in 0..60usize, further: bool,
    ) {
        let mut prefix = if old { Prefix::old(messages.len() as u16, 1, 0) } else { Prefix::new(0) };
        if !old {
            prefix.times = times;
            prefix.attribute_limits = limits;
            prefix.ordered = ordered;
            prefix.indexed = indexed;
        }
        let used: usize = messages.iter().map(|(.., body)| prefix.message_size(body.len())).sum();
        let slack = if old { slack.next_multiple_of(8) } else { slack };
        let size = used + slack;
        let prefix = prefix.sized(size);
        let order = |order: u16| prefix.ordered.then_some(order);
        let mut given: Vec<Message<'_>> = messages
            .iter()
            .map(|(kind, flags, at, body)| Message { kind: *kind, flags: Flags(*flags), order: order(*at), body })
            .collect();
        let nil = filler(&prefix, used, size);
        given.extend(nil.as_deref().map(|body| Message { kind: 0, flags: Flags::NONE, order: order(0), body }));
        let encoded = if further && !old {
            prefix.encode_further(&given, size + 8)
        } else if further {
            prefix.encode_further(&given, size)
        } else {
            prefix.encode_first(&given)
        };
        match encoded {
            Ok(bytes) => {
                let found = if further { prefix.further_messages(&bytes) } else { prefix.first_messages(&bytes) }.unwrap();
                if !further {
                    prop_assert_eq!(bytes.len(), prefix.full_size());
                    prop_assert_eq!(&Prefix::decode(&bytes).unwrap(), &prefix);
                }
                prop_assert_eq!(found.len(), given.len());
                for (found, given) in found.iter().zip(&given) {
                    let found = found.in_block(&bytes);
                    prop_assert_eq!((found.kind, found.flags, found.order), (given.kind, given.flags, given.order));
                    let (body, pad) = found.body.split_at(given.body.len());
                    prop_assert_eq!(body, given.body);
                    prop_assert!(pad.iter().all(|&byte| byte == 0) && pad.len() < 8 && (old || pad.is_empty()));
                }
            }
            Err(why) if why.field == "message flags" => {} // a pair that contradicts itself, as reading would say
            Err(why) => prop_assert!(given.iter().any(|message| message.kind > 255) && !old, "{}", why),
        }
    }

    #[test]
    fn symbol_table_nodes(entries in vec(entry(), 0..9), leaf_k in 0..6u16, widths in widths()) {
        let encoded = symbol_table::encode_node(&entries, leaf_k, widths);
        if let Ok(bytes) = &encoded {
            prop_assert_eq!(bytes.len(), symbol_table::node_size(leaf_k, widths));
        }
        agree(&entries, encoded, |bytes| symbol_table::decode_node(bytes, widths));
    }

    #[test]
    fn group_nodes(
        level: u8, sides in array::uniform2(address()), entries in vec((number(), number()), 0..9), last in number(), k in 0..6u16,
        widths in widths(),
    ) {
        let node = Node { level, left: sides[0], right: sides[1], entries, last: Some(last) };
        agree(&node, node.encode(k, widths), |bytes| btree_v1::decode_group(bytes, widths));
    }

    #[test]
    fn chunk_nodes(
        level: u8, sides in array::uniform2(address()), rank in 1..4usize, k in 0..6u16,
        entries in vec((any::<(u32, u32, [u64; 4])>(), number()), 1..9), widths in widths(),
    ) {
        let key = |(size, mask, place): (u32, u32, [u64; 4])| {
            ChunkKey { size, mask, start: place[..rank].to_vec(), byte: place[rank] }
        };
        let mut entries: Vec<_> = entries.into_iter().map(|(parts, child)| (key(parts), child)).collect();
        let last = entries.pop().map(|(key, _)| key);
        let node = Node { level, left: sides[0], right: sides[1], entries, last };
        agree(&node, node.encode(k, rank, widths), |bytes| btree_v1::decode_chunks(bytes, rank, widths));
        prop_assert!(node.encode(k, rank + 1, widths).is_err());
    }

    #[test]
    fn shared_message_tables(
        indexes in vec((any::<(bool, u16, u32, u16, u16, u16)>(), address(), address()), 0..5), widths in widths(),
    ) {
        let table: Vec<_> = indexes
            .into_iter()
            .map(|((is_list, types, min_size, max_list, min_tree, messages), index, heap)| {
                SharedIndex { is_list, types, min_size, max_list, min_tree, messages, index, heap }
            })
            .collect();
        let count = table.len() as u8;
        agree(&table, shared_messages::encode_table(&table, widths), |bytes| {
            shared_messages::decode_table(bytes, count, widths)
        });
    }

    #[test]
    fn shared_message_lists(records in vec(record(), 0..9), room in 0..9u16, widths in widths()) {
        let encoded = shared_messages::encode_list(&records, room, widths);
        if let Ok(bytes) = &encoded {
            prop_assert_eq!(bytes.len(), shared_messages::list_size(room, widths));
        }
        agree(&records, encoded, |bytes| shared_messages::decode_list(bytes, records.len() as u16, widths));
    }

    #[test]
    fn mappings(mappings in vec((name(), name(), selection(), selection()), 0..4), low in 0..6usize, widths in widths()) {
        let low = [LibVersion::Earliest, LibVersion::V18, LibVersion::V110, LibVersion::V112, LibVersion::V114, LibVersion::V200][low];
        let mappings: Vec<_> = mappings
            .into_iter()
            .map(|(file, dataset, source, target)| Mapping { file: file.into(), dataset: dataset.into(), source, target })
            .collect();
        agree(&mappings, virtual_mapping::encode(&mappings, low, widths), |bytes| virtual_mapping::decode(bytes, widths));
    }

    #[test]
    fn free_space(
        heap: bool, numbers in array::uniform4(number()), small: [u16; 3], bits in 0..70u16, list in address(),
        sections in vec((number(), 0..9000u64, 0..5u8, number(), any::<[u16; 3]>()), 0..9), room in 0..400u64, header in number(),
        widths in widths(),
    ) {
        let client = if heap { Client::Heap } else { Client::File };
        let sections: Vec<_> = sections
            .into_iter()
            .map(|(offset, size, class, parent, [row, column, entries])| {
                let blocks = (heap && matches!(class, 1 | 3)).then_some(Blocks { parent, row, column, entries });
                Section { offset, size, class, blocks }
            })
            .collect();
        let manager = FreeSpace {
            client, space: numbers[0], sections: numbers[1], listed: sections.len() as u64, ghosts: numbers[2],
            classes: small[0], shrink: small[1], expand: small[2], address_bits: bits, max_section: numbers[3], list,
            list_size: room, list_allocated: room,
        };
        agree(&manager, manager.encode(widths), |bytes| FreeSpace::decode(bytes, widths));
        let encoded = manager.encode_list(&sections, header, widths);
        agree(&sections, encoded, |bytes| manager.decode_list(bytes, widths));
    }
}
