//! Header messages: what is encoded decodes to the same; what does not fit is refused.

use hyperslab_format::{
    Sections,
    message::{self, *},
};
use proptest::{array, collection::vec, option, prelude::*};

use crate::random::{address, agree, bytes, name, number, several, widths};

fn charset() -> BoxedStrategy<CharSet> {
    prop_oneof![Just(CharSet::Ascii), Just(CharSet::Utf8)].boxed()
}

fn target() -> BoxedStrategy<Target> {
    prop_oneof![
        number().prop_map(Target::Hard),
        name().prop_map(Target::Soft),
        (name(), name()).prop_map(|(file, path)| Target::External { file, path }),
        (any::<u8>(), bytes(50)).prop_map(|(class, data)| Target::User { class, data }),
    ]
    .boxed()
}

fn step() -> BoxedStrategy<FilterStep> {
    (prop_oneof![0..300u16, any::<u16>()], name(), any::<u16>(), vec(any::<u32>(), 0..6))
        .prop_map(|(id, name, flags, params)| FilterStep { id, name, flags, params })
        .boxed()
}

fn fill() -> BoxedStrategy<FillWrite> {
    let value = prop_oneof![Just(FillValue::Undefined), Just(FillValue::Default), bytes(20).prop_map(FillValue::User)];
    let alloc = prop_oneof![
        Just(AllocTime::Default),
        Just(AllocTime::Early),
        Just(AllocTime::Late),
        Just(AllocTime::Incremental)
    ];
    let write = prop_oneof![Just(FillTime::Alloc), Just(FillTime::Never), Just(FillTime::IfSet)];
    (value, alloc, write).prop_map(|(value, alloc, write)| FillWrite { value, alloc, write }).boxed()
}

fn index() -> BoxedStrategy<ChunkIndex> {
    prop_oneof![
        Just(ChunkIndex::BtreeV1),
        (number(), any::<u32>()).prop_map(|(size, mask)| ChunkIndex::Single(Some(Sections::one(size, mask)))),
        Just(ChunkIndex::Single(None)),
        (2..=3u8, any::<bool>())
            .prop_flat_map(|(count, filtered)| several(count, filtered))
            .prop_map(|sections| ChunkIndex::Single(Some(sections))),
        Just(ChunkIndex::Implicit),
        any::<u8>().prop_map(|page_bits| ChunkIndex::FixedArray { page_bits }),
        any::<[u8; 5]>().prop_map(|[count_bits, in_index, min_blocks, min_elements, page_bits]| {
            ChunkIndex::ExtensibleArray(ArrayShape { count_bits, in_index, min_blocks, min_elements, page_bits })
        }),
        any::<(u32, u8, u8)>().prop_map(|(node_size, split, merge)| ChunkIndex::BtreeV2 { node_size, split, merge }),
    ]
    .boxed()
}

fn structure() -> BoxedStrategy<ChunkStructure> {
    prop_oneof![Just(ChunkStructure::Sparse), Just(ChunkStructure::SparseVlen), Just(ChunkStructure::DenseVlen)].boxed()
}

fn layout() -> BoxedStrategy<Layout> {
    prop_oneof![
        bytes(100).prop_map(Layout::Compact),
        (address(), option::of(number())).prop_map(|(address, size)| Layout::Contiguous { address, size }),
        (option::of(structure()), vec(number(), 0..5), number(), any::<bool>(), index(), address()).prop_map(
            |(structure, chunk, element_size, plain_edges, index, address)| Layout::Chunked {
                structure,
                chunk,
                element_size,
                plain_edges,
                index,
                address
            }
        ),
        (address(), any::<u32>()).prop_map(|(heap, index)| Layout::Virtual { heap, index }),
    ]
    .boxed()
}

fn space_info() -> BoxedStrategy<FileSpaceInfo> {
    let strategy = prop_oneof![
        Just(SpaceStrategy::Managers),
        Just(SpaceStrategy::Pages),
        Just(SpaceStrategy::Gathered),
        Just(SpaceStrategy::End)
    ];
    let old = (0..6u8, number(), option::of(array::uniform6(address())));
    let new = (strategy, number(), number(), any::<u16>(), address(), option::of(array::uniform12(address())));
    prop_oneof![
        old.prop_map(|(strategy, threshold, managers)| FileSpaceInfo::Old { strategy, threshold, managers }),
        new.prop_map(|(strategy, threshold, page_size, page_end_threshold, end_before_managers, managers)| {
            FileSpaceInfo::New { strategy, threshold, page_size, page_end_threshold, end_before_managers, managers }
        }),
    ]
    .boxed()
}

proptest! {
    #[test]
    fn links(name in name(), charset in charset(), order in option::of(any::<i64>()), target in target(), widths in widths()) {
        let link = Link { name, charset, order, target };
        agree(&link, link.encode(widths), |bytes| Link::decode(bytes, widths));
    }

    #[test]
    fn link_info(tracked: bool, order: i64, indexed: bool, places in array::uniform3(address()), widths in widths()) {
        let [heap, names, orders] = places;
        let info = LinkInfo { tracked, next_order: order, indexed, heap, names, orders };
        agree(&info, info.encode(widths), |bytes| LinkInfo::decode(bytes, widths));
        let info = LinkInfo { next_order: if tracked { order } else { 0 }, orders: orders.filter(|_| indexed), ..info };
        agree(&info, info.encode(widths), |bytes| LinkInfo::decode(bytes, widths));
    }

    #[test]
    fn attribute_info(tracked: bool, order: u16, indexed: bool, places in array::uniform3(address()), widths in widths()) {
        let [heap, names, orders] = places;
        let info = AttributeInfo { tracked, next_order: order, indexed, heap, names, orders };
        agree(&info, info.encode(widths), |bytes| AttributeInfo::decode(bytes, widths));
        let info = AttributeInfo { next_order: if tracked { order } else { 0 }, orders: orders.filter(|_| indexed), ..info };
        agree(&info, info.encode(widths), |bytes| AttributeInfo::decode(bytes, widths));
    }

    #[test]
    fn group_info(limits in option::of(any::<[u16; 2]>()), expected in option::of(any::<[u16; 2]>())) {
        let info = GroupInfo { limits, expected };
        agree(&info, Ok(info.encode()), GroupInfo::decode);
    }

    #[test]
    fn fill_values(fill in fill(), version in 0..5u8) {
        agree(&fill, fill.encode(version), FillWrite::decode);
        let old = FillWrite { alloc: AllocTime::Late, write: FillTime::IfSet, ..fill };
        agree(&old, old.encode_old(), FillWrite::decode_old);
    }

    #[test]
    fn layouts(version in 0..7u8, layout in layout(), old_sizes in vec(any::<u32>(), 0..4), widths in widths()) {
        let plain = DataLayout { version, old_sizes: Vec::new(), layout: layout.clone() };
        agree(&plain, plain.encode(widths), |bytes| DataLayout::decode(bytes, widths));
        let sized = DataLayout { version, old_sizes, layout };
        if !matches!(sized.layout, Layout::Chunked { .. }) {
            agree(&sized, sized.encode(widths), |bytes| DataLayout::decode(bytes, widths));
        }
    }

    #[test]
    fn pipelines(version in 0..4u8, steps in vec(step(), 0..5)) {
        let pipeline = FilterPipeline { version, steps: steps.clone() };
        agree(&pipeline, pipeline.encode(), FilterPipeline::decode);
        let pipeline = FilterPipeline::of_version(version, steps);
        agree(&pipeline, pipeline.encode(), FilterPipeline::decode);
        let filters = DatasetFilters::Chunk(pipeline);
        agree(&filters, filters.encode(), |bytes| DatasetFilters::decode(filters.message_kind(), bytes));
    }

    #[test]
    fn section_filters(mut sections in vec((0..4u8, vec(step(), 0..4)), 0..4), sort: bool, clear: bool) {
        if sort {
            sections.sort_by_key(|(number, _)| *number);
            sections.dedup_by_key(|(number, _)| *number);
        }
        if clear {
            sections.iter_mut().for_each(|(_, steps)| *steps = FilterPipeline::of_version(2, steps.clone()).steps);
        }
        let filters = SectionFilters { sections };
        agree(&filters, filters.encode(), SectionFilters::decode);
        let filters = DatasetFilters::Sections(filters);
        agree(&filters, filters.encode(), |bytes| DatasetFilters::decode(filters.message_kind(), bytes));
        if let Ok(mut bytes) = filters.encode() {
            bytes[0] = 3;
            prop_assert_eq!(DatasetFilters::decode(kind::FILTER_PIPELINE, &bytes).unwrap(), filters);
        }
    }

    #[test]
    fn attributes(
        version in 0..5u8, name in name(), charset in charset(), parts in array::uniform3(bytes(60)), shared: [bool; 2],
    ) {
        let [datatype, dataspace, data] = &parts;
        let [datatype_shared, dataspace_shared] = shared;
        let attribute =
            Attribute { version, name: &name, charset, datatype, datatype_shared, dataspace, dataspace_shared, data };
        match attribute.encode() {
            Ok(bytes) => prop_assert_eq!(Attribute::decode(&bytes).unwrap(), attribute),
            Err(why) => prop_assert!(!why.field.is_empty()),
        }
    }

    #[test]
    fn external_files(room in 0..9u16, heap in address(), slots in vec((number(), number(), address()), 0..7), widths in widths()) {
        let slots = slots.into_iter().map(|(name, offset, size)| ExternalSlot { name, offset, size }).collect();
        let files = ExternalFiles { room, heap, slots };
        agree(&files, files.encode(widths), |bytes| ExternalFiles::decode(bytes, widths));
    }

    #[test]
    fn shared(version in 0..5u8, id: [u8; 8], header in number(), widths in widths()) {
        for shared in [Shared::Heap(id), Shared::Committed(header)] {
            agree(&shared, shared.encode(version, widths), |bytes| Shared::decode(bytes, widths).map(|(shared, _)| shared));
        }
    }

    #[test]
    fn file_space_info(info in space_info(), widths in widths()) {
        agree(&info, info.encode(widths), |bytes| FileSpaceInfo::decode(bytes, widths));
    }

    #[test]
    fn small_ones(places in array::uniform2(address()), numbers: [u16; 3], bytes in bytes(40), head: [u8; 8], widths in widths()) {
        let [left, right] = places;
        let table = SymbolTable { btree: left, heap: right };
        agree(&table, table.encode(widths), |bytes| SymbolTable::decode(bytes, widths));
        let table = SharedTable { table: left, indexes: head[0] };
        agree(&table, table.encode(widths), |bytes| SharedTable::decode(bytes, widths));
        let at = Continuation { address: left.unwrap_or(1), length: right.unwrap_or(2) };
        agree(&at, at.encode(widths), |bytes| Continuation::decode(bytes, widths));
        let [chunk_internal, group_internal, group_leaf] = numbers;
        let k = BtreeK { chunk_internal, group_internal, group_leaf };
        agree(&k, Ok(k.encode()), BtreeK::decode);
        let info = DriverInfo { name: head, info: bytes };
        agree(&info, info.encode(), DriverInfo::decode);
    }

    #[test]
    fn single_values(number: u32, text in name()) {
        agree(&number, Ok(message::encode_reference_count(number)), message::reference_count);
        agree(&number, Ok(message::encode_modification_time(number)), message::modification_time);
        agree(&text, message::encode_comment(&text), |bytes| Ok(message::comment(bytes).to_vec()));
        let digits = format!("{number:014}");
        let time = message::encode_old_modification_time(digits.as_bytes()).unwrap();
        prop_assert_eq!(message::old_modification_time(&time).unwrap(), digits.as_bytes());
        prop_assert_eq!(message::bogus(&message::encode_bogus()), Ok(()));
    }
}
