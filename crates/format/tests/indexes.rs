//! Heaps and indexes: what is encoded decodes to the same; what does not fit is refused.

use hyperslab_base::{Reader, Width, Widths};
use hyperslab_format::{
    heap::{
        LocalHeap,
        fractal::{self, Child, DoublingTable, FractalHeap, HeapId, Huge, Usage},
        global, local,
    },
    index::{
        ChunkElement,
        btree_v2::{BtreeV2, Node, Pointer, Shape},
        extensible_array::{self, ExtensibleArray, IndexBlock},
        fixed_array::{self, FixedArray},
        record::{AttributeEntry, Form, Record},
    },
    message::FilterPipeline,
    shared_messages::{MessageLocation, SharedRecord},
};
use proptest::{array, collection::vec, option, prelude::*};

use crate::random::{address, agree, bytes, chunk, element, number, widths};

fn heap() -> BoxedStrategy<FractalHeap> {
    let table = (0..5u32, 0..20u32, 0..6u32, 0..70u16).prop_map(|(width, start, more, bits)| DoublingTable {
        width: 1 << width,
        start: 1 << start,
        max_direct: 1 << (start + more),
        bits,
    });
    let filters = option::of((Just(FilterPipeline::default()), number(), any::<u32>()));
    let first = (0..40u16, any::<[bool; 2]>(), any::<u32>(), array::uniform2(number()), array::uniform3(address()));
    (first, array::uniform8(number()), table, any::<[u16; 2]>(), filters)
        .prop_map(|((id_len, flags, max_managed, [next_huge, free], places), used, table, rows, filters)| FractalHeap {
            id_len,
            checked_blocks: flags[0],
            huge_wrapped: flags[1],
            max_managed,
            next_huge,
            huge_tree: places[0],
            free,
            free_manager: places[1],
            usage: Usage {
                managed_size: used[0],
                managed_allocated: used[1],
                managed_next: used[2],
                managed_objects: used[3],
                huge_size: used[4],
                huge_objects: used[5],
                tiny_size: used[6],
                tiny_objects: used[7],
            },
            table,
            first_rows: rows[0],
            root: places[2],
            root_rows: rows[1],
            filters,
        })
        .boxed()
}

fn huge() -> BoxedStrategy<Huge> {
    (number(), number(), option::of((any::<u32>(), number())))
        .prop_map(|(address, length, filtered)| Huge { address, length, filtered })
        .boxed()
}

fn record() -> BoxedStrategy<Record> {
    let entry = || any::<([u8; 8], u8, u32)>().prop_map(|(id, flags, order)| AttributeEntry { id, flags, order });
    let shared = any::<(u32, u32, [u8; 8])>();
    prop_oneof![
        (huge(), option::of(number())).prop_map(|(huge, number)| Record::Huge(huge, number)),
        any::<(u32, [u8; 7])>().prop_map(|(hash, id)| Record::LinkName { hash, id }),
        any::<(i64, [u8; 7])>().prop_map(|(order, id)| Record::LinkOrder { order, id }),
        shared.prop_map(|(hash, references, id)| Record::Shared(SharedRecord {
            hash,
            location: MessageLocation::Heap { references, id }
        })),
        (entry(), any::<u32>()).prop_map(|(entry, hash)| Record::AttributeName { entry, hash }),
        entry().prop_map(Record::AttributeOrder),
    ]
    .boxed()
}

proptest! {
    #[test]
    fn local_heaps(size in number(), free in address(), data in address(), widths in widths()) {
        let heap = LocalHeap { size, free, data };
        agree(&heap, heap.encode(widths), |bytes| LocalHeap::decode(bytes, widths));
    }

    #[test]
    fn free_lists(data in vec(any::<u8>(), 0..400), sizes in vec(0..60u64, 0..9), shuffle: bool, widths in widths()) {
        let mut at = 0;
        let mut blocks = Vec::new();
        for (nth, size) in sizes.into_iter().enumerate() {
            if nth % 2 == 0 {
                blocks.push(local::FreeBlock { start: at, size });
            }
            at = (at + size).next_multiple_of(8);
        }
        if shuffle {
            blocks.reverse();
        }
        let mut again = data.clone();
        match local::encode_free(&mut again, &blocks, widths) {
            Ok(first) => {
                prop_assert_eq!(local::decode_free(&again, first, widths).unwrap(), blocks);
                prop_assert_eq!(again.len(), data.len());
            }
            Err(why) => prop_assert_eq!(why.field, "block"),
        }
    }

    #[test]
    fn global_heaps(objects in vec((any::<u16>(), any::<u16>(), bytes(60)), 0..9), slack in 0..100usize, widths in widths()) {
        let head = global::head_size(widths);
        let used: usize = objects.iter().map(|(.., bytes)| head + bytes.len().next_multiple_of(8)).sum();
        let given: Vec<_> = objects.iter().map(|(index, references, bytes)| (*index, *references, bytes.as_slice())).collect();
        let size = (head + used + slack).next_multiple_of(8);
        match global::encode(size, &given, widths) {
            Ok(bytes) => {
                prop_assert_eq!(bytes.len(), size);
                let found = global::decode_counted(&bytes, widths).unwrap();
                let found: Vec<_> =
                    found.iter().map(|object| (object.index, object.references, &bytes[object.bytes.clone()])).collect();
                prop_assert_eq!(&found, &given);
            }
            Err(why) => prop_assert_eq!(why.field, "index"),
        }
        prop_assert!(objects.is_empty() || global::encode(head + used - 8, &given, widths).is_err());
    }

    #[test]
    fn fractal_heaps(heap in heap(), widths in widths()) {
        agree(&heap, heap.encode(widths), |bytes| FractalHeap::decode(bytes, widths));
        if let Ok(bytes) = heap.encode(widths) {
            prop_assert_eq!(FractalHeap::full_size(&bytes, widths), Ok(bytes.len()));
        }
    }

    #[test]
    fn fractal_blocks(heap in heap(), places in vec((address(), number(), any::<u32>()), 160), rows in 0..10u32, at in number(),
        offset in number(), objects in bytes(100), widths in widths())
    {
        let (width, direct) = (u32::from(heap.table.width), heap.table.direct_rows());
        let children: Vec<_> = places
            .into_iter()
            .zip(0..rows * width)
            .map(|((address, size, mask), nth)| {
                Child { address, filtered: (heap.filters.is_some() && nth / width < direct).then_some((size, mask)) }
            })
            .collect();
        agree(&children, fractal::encode_indirect(&children, &heap, at, offset, rows, widths), |bytes| {
            assert_eq!(bytes.len(), fractal::indirect_size(&heap, rows, widths));
            fractal::decode_indirect(bytes, &heap, rows, widths)
        });
        let mut block = objects.clone();
        match fractal::encode_direct(&mut block, &heap, at, offset, widths) {
            Ok(()) => prop_assert!(fractal::check_direct(&block, &heap, widths).is_ok()),
            Err(why) => prop_assert!(!why.field.is_empty()),
        }
        prop_assert_eq!(block.len(), objects.len());
    }

    #[test]
    fn heap_ids(heap in heap(), offset in number(), length in number(), huge in huge(), tiny in bytes(40), widths in widths()) {
        for id in [HeapId::Managed { offset, length }, HeapId::Huge(offset), HeapId::HugeDirect(huge), HeapId::Tiny(tiny)] {
            agree(&id, id.encode(&heap, widths), |bytes| {
                assert_eq!(bytes.len(), usize::from(heap.id_len));
                HeapId::decode(bytes, &heap, widths)
            });
        }
    }

    #[test]
    fn trees(
        kind: u8, node_size in 0..600u32, record_size in 0..40u16, depth in 0..4u16, percents: [u8; 2], root in address(),
        counts in array::uniform2(number()), records in vec(bytes(39), 0..12), children in vec((address(), number(), number()), 13),
        level in 0..5u16, widths in widths(),
    ) {
        let shape = Shape { kind, node_size, record_size, split: percents[0], merge: percents[1] };
        let root = Pointer { address: root, records: counts[0], below: counts[1] };
        let Some(tree) = BtreeV2::new(shape, depth, root, widths) else { return Ok(()) };
        agree(&tree, tree.encode(widths), |bytes| BtreeV2::decode(bytes, widths));
        let records: Vec<_> = records.into_iter().map(|mut record| { record.resize(record_size.into(), 7); record }).collect();
        let count = if level == 0 { 0 } else { records.len() + 1 };
        let children = children
            .into_iter()
            .take(count)
            .map(|(address, records, below)| Pointer { address, records, below: if level == 1 { records } else { below } })
            .collect();
        let node = Node { records: records.iter().map(Vec::as_slice).collect(), children };
        match tree.encode_node(&node, level, widths) {
            Ok(bytes) => {
                prop_assert_eq!(bytes.len(), node_size as usize);
                prop_assert_eq!(tree.decode_node(&bytes, level, records.len() as u64, widths).unwrap(), node);
            }
            Err(why) => prop_assert!(!why.field.is_empty()),
        }
    }

    #[test]
    fn records(record in record(), widths in widths()) {
        let mut fitting = 0;
        for kind in 0..16 {
            let form = Form::Plain(kind);
            if let Ok(bytes) = form.encode(&record, widths) {
                fitting += 1;
                prop_assert_eq!(Some(bytes.len()), form.size(widths));
                prop_assert_eq!(form.decode(&bytes, widths).unwrap(), record.clone());
            }
        }
        prop_assert!(fitting <= 2);
    }

    #[test]
    fn chunk_records(
        (element, chunk) in element().prop_flat_map(|element| (Just(element), chunk(2, element))), widths in widths(),
    ) {
        let form = Form::Chunk(element, 2);
        agree(&Record::Chunk(chunk.clone()), form.encode(&Record::Chunk(chunk.clone()), widths), |bytes| {
            assert_eq!(Some(bytes.len()), form.size(widths));
            let place: Vec<u8> = chunk.start.iter().flat_map(|nth| nth.to_le_bytes()).collect();
            assert_eq!(bytes[element.place_at(widths)..][..16], place);
            form.decode(bytes, widths)
        });
        prop_assert!(Form::Plain(form.kind()).encode(&Record::Chunk(chunk), widths).is_err());
    }

    #[test]
    fn sections_do_not_overlap(offsets in array::uniform2(0..40u64), size in 0..40u64, filtered: bool) {
        let element = ChunkElement::Structured { size_width: Width::W8, sections: 3, filtered };
        let mut bytes = vec![0; element.size(Widths::EIGHT)];
        for (nth, value) in [7, size].iter().chain(&offsets).enumerate() {
            bytes[nth * 8..][..8].copy_from_slice(&value.to_le_bytes());
        }
        let decoded = element.decode(&mut Reader::new("element", &bytes), 0, Widths::EIGHT);
        let [first, second] = offsets;
        prop_assert_eq!(decoded.is_ok(), first <= second && second <= size);
        if let Ok(chunk) = decoded {
            let sizes: Vec<u64> = chunk.sections.iter().map(|section| section.size).collect();
            prop_assert_eq!(sizes, [first, second - first, size - second]);
        }
    }

    #[test]
    fn fixed_arrays(version in 0..=1u8, element in element(), element_size: u8, page_bits in 0..70u8, count in number(), data in address(), widths in widths()) {
        let array = FixedArray { version, client: element.client(), element_size, page_bits, elements: count, data };
        agree(&array, array.encode(widths), |bytes| FixedArray::decode(bytes, widths));
    }

    #[test]
    fn fixed_array_blocks(
        (element, chunks) in element().prop_flat_map(|element| {
            (Just(element), vec(chunk(0, element), 0..20))
        }),
        page_bits in 0..5u8, written in vec(any::<bool>(), 20), header in number(), widths in widths(),
    ) {
        let elements = chunks.len() as u64;
        let (version, client) = (element.client().version(), element.client());
        let array = FixedArray { version, client, element_size: 1, page_bits, elements, data: None };
        let encoded = fixed_array::encode_data(&chunks, &array, element, header, widths);
        prop_assert!(array.pages() == 0 || encoded.is_err());
        agree(&chunks, encoded, |bytes| fixed_array::decode_data(bytes, &array, element, widths));
        let written = written[..array.pages() as usize].to_vec();
        agree(&written, fixed_array::encode_head(&written, &array, header, widths), |bytes| {
            assert_eq!(bytes.len() as u64, array.data_head(widths));
            fixed_array::decode_head(bytes, &array, widths)
        });
        let encoded = fixed_array::encode_page(&chunks, element, widths);
        agree(&chunks, encoded, |bytes| fixed_array::decode_page(bytes, elements, element, widths));
    }

    #[test]
    fn extensible_arrays(element in element(), shape in array::uniform7(0..70u8), used in array::uniform6(number()), index in address(), widths in widths()) {
        let [version, element_size, count_bits, in_index, min_elements, min_blocks, page_bits] = shape;
        let usage = extensible_array::Usage {
            super_blocks: used[0], super_bytes: used[1], data_blocks: used[2], data_bytes: used[3], elements: used[4],
        };
        let any = ExtensibleArray {
            version: version % 2, client: element.client(), element_size, count_bits, in_index, min_elements, min_blocks, page_bits, usage,
            used: used[5], index,
        };
        let powers = ExtensibleArray { min_elements: 1 << (min_elements % 6), min_blocks: 1 << (min_blocks % 6), ..any };
        for array in [any, powers] {
            agree(&array, array.encode(widths), |bytes| ExtensibleArray::decode(bytes, widths));
            let _ = (array.super_block(9), array.data_offset(70, u64::MAX), array.pages(u64::MAX));
        }
    }

    #[test]
    fn extensible_array_blocks(
        (element, chunks) in element().prop_flat_map(|element| {
            (Just(element), vec(chunk(0, element), 16))
        }),
        in_index in 0..9u8, page_bits in 0..7u8, places in vec((address(), vec(any::<bool>(), 512)), 64), nth in 0..10u32,
        header in number(), widths in widths(),
    ) {
        let array = ExtensibleArray {
            version: 1, client: element.client(), element_size: 1, count_bits: 20, in_index, min_elements: 16,
            min_blocks: 4, page_bits, usage: extensible_array::Usage::default(), used: 0, index: None,
        };
        let address = |nth: usize| places[nth % places.len()].0;
        let index = IndexBlock {
            elements: chunks[..in_index.into()].to_vec(),
            data: (0..array.direct_blocks() as usize).map(address).collect(),
            supers: (0..array.indirect_super_blocks() as usize).map(address).collect(),
        };
        agree(&index, extensible_array::encode_index(&index, &array, element, header, widths), |bytes| {
            assert_eq!(bytes.len(), array.index_size(element, widths));
            extensible_array::decode_index(bytes, &array, element, widths)
        });
        let block = array.super_block(nth).unwrap();
        let pages = array.pages(block.elements) as usize;
        let entries: Vec<_> =
            places.iter().take(block.blocks as usize).map(|(place, bits)| (*place, bits[..pages].to_vec())).collect();
        agree(&entries, extensible_array::encode_super(&entries, &array, &block, header, widths), |bytes| {
            assert_eq!(bytes.len() as u64, array.super_size(&block, widths));
            extensible_array::decode_super(bytes, &array, &block, widths)
        });
        let encoded = extensible_array::encode_data(&chunks, &array, element, 16, header, widths);
        agree(&chunks, encoded, |bytes| extensible_array::decode_data(bytes, &array, 16, element, widths));
        let encoded = extensible_array::encode_page(&chunks, &array, element, widths);
        prop_assert!(page_bits == 4 || encoded.is_err());
        agree(&chunks, encoded, |bytes| extensible_array::decode_page(bytes, &array, element, widths));
    }
}
