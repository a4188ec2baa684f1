//! B-trees of the second kind, chunk indexes, and the table of shared messages.

use hyperslab_base::Width;
use hyperslab_format::{
    btree_v1,
    index::{
        ChunkElement, Client,
        btree_v2::{BtreeV2, Pointer},
        extensible_array::{self, ExtensibleArray, SuperBlock},
        fixed_array::{self, FixedArray},
        record::Form,
    },
    message::{ChunkIndex, SharedTable},
    shared_messages,
};

use crate::harvest::walk::{Walk, Walked, walked};

impl Walk<'_> {
    /// All nodes and records of a tree; gives the records. Of chunks, the rank and size must be given.
    pub fn tree(&mut self, address: u64, chunks: Option<(usize, u64)>) -> Walked<Vec<(Form, Vec<u8>)>> {
        let bytes = self.bytes(address, BtreeV2::size(self.widths) as u64)?;
        let tree = walked(BtreeV2::decode(bytes, self.widths))?;
        let compare = self.first_time(address);
        if compare {
            self.tally.same("tree header", bytes, tree.encode(self.widths));
        }
        let mut form = Form::Plain(tree.kind);
        if let Some((rank, chunk_bytes)) = chunks {
            let size = usize::from(tree.record_size).saturating_sub(8 * rank);
            let client = Client::of_record_kind(tree.kind).ok_or("no tree of chunks")?;
            form = Form::Chunk(self.element(size, client, chunk_bytes)?, rank);
        }
        self.tally.expect("size of a record", form.size(self.widths), Some(tree.record_size.into()));
        let mut records = Vec::new();
        if tree.records > 0 {
            self.node(&tree, tree.root, tree.depth, compare, &mut records)?;
        }
        if compare {
            for record in &records {
                let decoded = walked(form.decode(record, self.widths))?;
                self.tally.same(&format!("record {}", tree.kind), record, form.encode(&decoded, self.widths));
            }
        }
        Ok(records.into_iter().map(|record| (form, record)).collect())
    }

    fn node(&mut self, tree: &BtreeV2, at: Pointer, level: u16, compare: bool, records: &mut Vec<Vec<u8>>) -> Walked {
        let bytes = self.bytes(at.address.ok_or("no node")?, tree.node_size.into())?;
        let node = walked(tree.decode_node(bytes, level, at.records, self.widths))?;
        if compare {
            let kind = if level == 0 { "leaf" } else { "internal node" };
            let encoded = tree.encode_node(&node, level, self.widths);
            // Everything up to the checksum, the last that is not zero.
            let used = encoded.as_ref().ok().and_then(|bytes| bytes.iter().rposition(|&byte| byte != 0));
            self.padded(kind, bytes, used.unwrap_or(0) + 1, encoded);
        }
        records.extend(node.records.iter().map(|record| record.to_vec()));
        node.children.iter().try_for_each(|child| self.node(tree, *child, level - 1, compare, records))
    }

    /// The index of a chunked dataset.
    pub fn chunk_index(
        &mut self,
        index: &ChunkIndex,
        address: u64,
        chunk: &[u64],
        element_size: u64,
        filtered: bool,
    ) -> Walked {
        let chunk_bytes = chunk.iter().try_fold(element_size, |bytes, size| bytes.checked_mul(*size));
        let chunk_bytes = chunk_bytes.ok_or("a chunk of no possible size")?;
        match index {
            ChunkIndex::BtreeV1 => self.chunk_node(address, chunk.len()),
            ChunkIndex::Single(_) | ChunkIndex::Implicit => Ok(()),
            ChunkIndex::FixedArray { page_bits } => self.fixed_array(address, *page_bits, chunk_bytes, filtered),
            ChunkIndex::ExtensibleArray(shape) => {
                let bytes = self.bytes(address, ExtensibleArray::size(self.widths) as u64)?;
                let array = walked(ExtensibleArray::decode(bytes, self.widths))?;
                let same = (array.count_bits, array.in_index, array.min_blocks, array.min_elements, array.page_bits);
                let told = (shape.count_bits, shape.in_index, shape.min_blocks, shape.min_elements, shape.page_bits);
                self.tally.expect("shape of an array", same, told);
                self.tally.same("extensible array", bytes, array.encode(self.widths));
                let element = self.element(array.element_size.into(), array.client, chunk_bytes)?;
                array.index.map_or(Ok(()), |index| self.extensible_array(&array, element, address, index))
            }
            ChunkIndex::BtreeV2 { .. } => self.tree(address, Some((chunk.len(), chunk_bytes))).map(drop),
        }
    }

    fn element(&self, size: usize, client: Client, chunk_bytes: u64) -> Walked<ChunkElement> {
        if client == Client::Plain {
            return Ok(ChunkElement::Plain { chunk_bytes });
        }
        let width = size.saturating_sub(self.widths.offsets.bytes() + 4);
        Ok(ChunkElement::Filtered { size_width: Width::new(width as u8).ok_or("a size of no width")? })
    }

    fn chunk_node(&mut self, address: u64, rank: usize) -> Walked {
        if !self.first_time(address) {
            return Ok(());
        }
        let (widths, k) = (self.widths, self.superblock.chunk_internal_k);
        let bytes = self.up_to(address, btree_v1::node_size(k, btree_v1::chunk_key_size(rank), widths))?;
        let node = walked(btree_v1::decode_chunks(bytes, rank, widths))?;
        let used = btree_v1::head_size(widths)
            + node.entries.len() * (btree_v1::chunk_key_size(rank) + widths.offsets.bytes())
            + btree_v1::chunk_key_size(rank);
        self.padded("chunk node", bytes, used, node.encode(k, rank, widths));
        if node.level > 0 {
            node.entries.iter().try_for_each(|(_, child)| self.chunk_node(*child, rank))?;
        }
        Ok(())
    }

    fn fixed_array(&mut self, address: u64, page_bits: u8, chunk_bytes: u64, filtered: bool) -> Walked {
        let widths = self.widths;
        let bytes = self.bytes(address, FixedArray::size(widths) as u64)?;
        let array = walked(FixedArray::decode(bytes, widths))?;
        self.tally.expect(
            "shape of an array",
            (array.page_bits, array.client == Client::Filtered),
            (page_bits, filtered),
        );
        self.tally.same("fixed array", bytes, array.encode(widths));
        let Some(data) = array.data else { return Ok(()) };
        let element = self.element(array.element_size.into(), array.client, chunk_bytes)?;
        let (head, each) = (array.data_head(widths), element.size(widths) as u64);
        if array.pages() == 0 {
            let bytes = self.bytes(data, head + array.elements * each + 4)?;
            let chunks = walked(fixed_array::decode_data(bytes, &array, element, widths))?;
            let encoded = fixed_array::encode_data(&chunks, &array, element, address, widths);
            self.tally.same("fixed array data", bytes, encoded);
            return Ok(());
        }
        let bytes = self.bytes(data, head)?;
        let written = walked(fixed_array::decode_head(bytes, &array, widths))?;
        self.tally.same("fixed array pages", bytes, fixed_array::encode_head(&written, &array, address, widths));
        for nth in (0..array.pages()).filter(|&nth| written[nth as usize]) {
            let count = array.page().min(array.elements - nth * array.page());
            let at = data + head + nth * (array.page() * each + 4);
            let bytes = self.bytes(at, count * each + 4)?;
            let chunks = walked(fixed_array::decode_page(bytes, count, element, widths))?;
            self.tally.same("fixed array page", bytes, fixed_array::encode_page(&chunks, element, widths));
        }
        Ok(())
    }

    fn extensible_array(&mut self, array: &ExtensibleArray, element: ChunkElement, header: u64, at: u64) -> Walked {
        let widths = self.widths;
        let bytes = self.bytes(at, array.index_size(element, widths) as u64)?;
        let index = walked(extensible_array::decode_index(bytes, array, element, widths))?;
        let encoded = extensible_array::encode_index(&index, array, element, header, widths);
        self.tally.same("index block", bytes, encoded);
        let mut data = index.data.iter();
        for number in 0..array.direct_super_blocks() {
            let block = array.super_block(number).ok_or("no super block")?;
            for (nth, address) in data.by_ref().take(block.blocks as usize).enumerate() {
                let Some(address) = *address else { continue };
                let offset = array.data_offset(number, nth as u64).ok_or("no offset")?;
                self.array_data(array, element, (header, offset), address, &block, &[])?;
            }
        }
        for (nth, address) in index.supers.iter().enumerate() {
            let Some(address) = *address else { continue };
            let number = array.direct_super_blocks() + nth as u32;
            let block = array.super_block(number).ok_or("no super block")?;
            let bytes = self.bytes(address, array.super_size(&block, widths))?;
            let entries = walked(extensible_array::decode_super(bytes, array, &block, widths))?;
            let encoded = extensible_array::encode_super(&entries, array, &block, header, widths);
            self.tally.same("super block", bytes, encoded);
            for (nth, (address, written)) in entries.iter().enumerate() {
                let Some(address) = *address else { continue };
                let offset = array.data_offset(number, nth as u64).ok_or("no offset")?;
                self.array_data(array, element, (header, offset), address, &block, written)?;
            }
        }
        Ok(())
    }

    fn array_data(
        &mut self,
        array: &ExtensibleArray,
        element: ChunkElement,
        (header, offset): (u64, u64),
        at: u64,
        block: &SuperBlock,
        written: &[bool],
    ) -> Walked {
        let widths = self.widths;
        let (head, each) = (array.data_head(block.elements, widths), element.size(widths) as u64);
        if array.pages(block.elements) == 0 {
            let bytes = self.bytes(at, head + block.elements * each + 4)?;
            let chunks = walked(extensible_array::decode_data(bytes, array, block.elements, element, widths))?;
            let encoded = extensible_array::encode_data(&chunks, array, element, offset, header, widths);
            self.tally.same("array data block", bytes, encoded);
            return Ok(());
        }
        let bytes = self.bytes(at, head)?;
        let encoded = extensible_array::encode_paged_head(array, offset, header, widths);
        self.tally.same("array pages", bytes, encoded);
        for (nth, _) in written.iter().enumerate().filter(|(_, written)| **written) {
            let size = array.page() * each + 4;
            let bytes = self.bytes(at + head + nth as u64 * size, size)?;
            let chunks = walked(extensible_array::decode_page(bytes, array, element, widths))?;
            let encoded = extensible_array::encode_page(&chunks, array, element, widths);
            self.tally.same("array page", bytes, encoded);
        }
        Ok(())
    }

    /// The table of shared messages with its lists, trees and heaps.
    pub fn shared_table(&mut self, table: &SharedTable) -> Walked {
        let Some(address) = table.table else { return Ok(()) };
        let (widths, indexes) = (self.widths, table.indexes);
        let bytes = self.bytes(address, shared_messages::table_size(indexes, widths) as u64)?;
        let table = walked(shared_messages::decode_table(bytes, indexes, widths))?;
        self.tally.same("shared message table", bytes, shared_messages::encode_table(&table, widths));
        for index in table {
            index.heap.map_or(Ok(()), |heap| self.fractal_heap(heap).map(drop))?;
            let Some(at) = index.index else { continue };
            if !index.is_list {
                self.tree(at, None)?;
                continue;
            }
            let bytes = self.bytes(at, shared_messages::list_size(index.max_list, widths) as u64)?;
            let list = walked(shared_messages::decode_list(bytes, index.messages, widths))?;
            let encoded = shared_messages::encode_list(&list, index.max_list, widths);
            self.tally.same("shared message list", bytes, encoded);
        }
        Ok(())
    }
}
