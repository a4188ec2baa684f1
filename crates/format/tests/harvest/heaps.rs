//! Local, global and fractal heaps, free-space managers, and old-style groups, which live in local heaps.

use hyperslab_format::{
    btree_v1,
    free_space::FreeSpace,
    heap::{
        LocalHeap,
        fractal::{self, FractalHeap, HeapId},
        global, local,
    },
    index::record,
    symbol_table::{self, Cache},
    version::LibVersion,
    virtual_mapping,
};

use crate::harvest::walk::{Walk, Walked, walked};

/// A heap and its direct blocks: where each begins in the heap, its size, and its address.
pub struct Heap {
    pub header: FractalHeap,
    blocks: Vec<(u64, u64, u64)>,
}

const LOWS: [LibVersion; 6] =
    [LibVersion::Earliest, LibVersion::V18, LibVersion::V110, LibVersion::V112, LibVersion::V114, LibVersion::V200];

impl Walk<'_> {
    /// An old-style group.
    pub fn group(&mut self, btree: Option<u64>, heap: Option<u64>) -> Walked {
        self.local_heap(heap)?;
        btree.map_or(Ok(()), |node| self.group_node(node))
    }

    fn group_node(&mut self, address: u64) -> Walked {
        if !self.first_time(address) {
            return Ok(());
        }
        let (widths, k) = (self.widths, self.superblock.group_internal_k);
        let bytes = self.up_to(address, btree_v1::node_size(k, widths.lengths.bytes(), widths))?;
        let node = walked(btree_v1::decode_group(bytes, widths))?;
        let used = btree_v1::head_size(widths)
            + node.entries.len() * (widths.lengths.bytes() + widths.offsets.bytes())
            + widths.lengths.bytes();
        self.padded("group node", bytes, used, node.encode(k, widths));
        for (_, child) in &node.entries {
            if node.level > 0 {
                self.group_node(*child)?;
                continue;
            }
            let leaf_k = self.superblock.group_leaf_k;
            let bytes = self.up_to(*child, symbol_table::node_size(leaf_k, widths))?;
            let entries = walked(symbol_table::decode_node(bytes, widths))?;
            let used = 8 + entries.len() * symbol_table::Entry::size(widths);
            self.padded("symbol table node", bytes, used, symbol_table::encode_node(&entries, leaf_k, widths));
            for entry in entries {
                if !matches!(entry.cache, Cache::SoftLink(_)) {
                    entry.header.into_iter().for_each(|header| self.later(header));
                }
            }
        }
        Ok(())
    }

    /// A local heap: its header, and the free list in its data.
    pub fn local_heap(&mut self, address: Option<u64>) -> Walked {
        let Some(address) = address.filter(|&address| self.first_time(address)) else { return Ok(()) };
        let bytes = self.bytes(address, LocalHeap::size(self.widths) as u64)?;
        let heap = walked(LocalHeap::decode(bytes, self.widths))?;
        // What pads the header is not always zero.
        let fields = 8 + 2 * self.widths.lengths.bytes() + self.widths.offsets.bytes();
        let encoded = heap.encode(self.widths).map(|encoded| encoded[..fields].to_vec());
        self.tally.same("local heap", &bytes[..fields], encoded);
        let Some(data) = heap.data else { return Ok(()) };
        let data = self.bytes(data, heap.size)?;
        let blocks = walked(local::decode_free(data, heap.free, self.widths))?;
        let mut again = data.to_vec();
        for block in &blocks {
            again[block.start as usize..][..2 * self.widths.lengths.bytes()].fill(0xee);
        }
        match local::encode_free(&mut again, &blocks, self.widths) {
            Ok(first) => self.tally.expect("first free block", first, heap.free),
            Err(why) => self.tally.wrong("free list", why),
        }
        if !blocks.is_empty() {
            self.tally.same("free list", data, Ok(again));
        }
        Ok(())
    }

    /// All global heap collections, found by their signature; nothing but values of datasets names them.
    pub fn collections(&mut self) -> Walked {
        let file = self.whole();
        let mut places = file.windows(8).enumerate().filter(|(_, bytes)| *bytes == b"GCOL\x01\0\0\0");
        places.try_for_each(|(at, _)| self.collection(at as u64))
    }

    fn collection(&mut self, at: u64) -> Walked {
        let size = walked(global::decode_size(self.up_to(at, 16)?, self.widths))?;
        let Ok(bytes) = self.bytes(at, size) else { return Ok(()) }; // values that look like a collection
        let objects = walked(global::decode_counted(bytes, self.widths))?;
        let given: Vec<_> =
            objects.iter().map(|object| (object.index, object.references, &bytes[object.bytes.clone()])).collect();
        let encoded = global::encode(bytes.len(), &given, self.widths);
        // Between objects, and behind the head of the free space, libhdf5 leaves what was there before.
        let head = global::head_size(self.widths);
        let mut masked = bytes.to_vec();
        let mut end = head;
        for object in &objects {
            masked[object.bytes.end..object.bytes.end.next_multiple_of(8).min(bytes.len())].fill(0);
            end = object.bytes.end.next_multiple_of(8);
        }
        let rest = masked.len().min(if masked.len().saturating_sub(end) >= head { end + head } else { end });
        masked[rest..].fill(0);
        self.tally.same("global heap", &masked, encoded);
        Ok(())
    }

    /// The mapping of a virtual dataset.
    pub fn mapping(&mut self, heap: u64, index: u32) -> Walked {
        let size = walked(global::decode_size(self.up_to(heap, 16)?, self.widths))?;
        let collection = self.bytes(heap, size)?;
        let objects = walked(global::decode(collection, self.widths))?;
        let object = objects.into_iter().find(|(number, _)| u32::from(*number) == index);
        let (_, range) = object.ok_or("a mapping that is not there")?;
        let bytes = &collection[range];
        if bytes.first() == Some(&1) {
            return Ok(()); // a version that is not written
        }
        let mappings = walked(virtual_mapping::decode(bytes, self.widths))?;
        // The selections have the form that the bound of the file asked for when they were written.
        let bounds = self.low.map_or(LOWS.to_vec(), |low| vec![low]);
        let encoded = bounds.iter().map(|&low| virtual_mapping::encode(&mappings, low, self.widths));
        let best = encoded.min_by_key(|encoded| encoded.as_deref() != Ok(bytes)).ok_or("no bound")?;
        self.tally.same("virtual mapping", bytes, best);
        Ok(())
    }

    /// A fractal heap with all its blocks.
    pub fn fractal_heap(&mut self, address: u64) -> Walked<Heap> {
        let widths = self.widths;
        let size = walked(FractalHeap::full_size(self.bytes(address, fractal::head_size(widths) as u64)?, widths))?;
        let bytes = self.bytes(address, size as u64)?;
        let header = walked(FractalHeap::decode(bytes, widths))?;
        let mut heap = Heap { header: header.clone(), blocks: Vec::new() };
        let first = self.first_time(address);
        if first {
            self.tally.same("fractal heap", bytes, header.encode(widths));
        }
        if header.filters.is_none() {
            match (header.root, header.root_rows) {
                (Some(root), 0) => self.direct(&mut heap, address, root, header.table.start, 0, first)?,
                (Some(root), rows) => self.indirect(&mut heap, address, root, rows.into(), 0, first)?,
                (None, _) => {}
            }
        }
        if first {
            header.free_manager.map_or(Ok(()), |manager| self.free_space(manager))?;
            if let Some(tree) = header.huge_tree {
                self.tree(tree, None)?;
            }
        }
        Ok(heap)
    }

    fn direct(&mut self, heap: &mut Heap, header: u64, at: u64, size: u64, offset: u64, compare: bool) -> Walked {
        let bytes = self.bytes(at, size)?;
        walked(fractal::check_direct(bytes, &heap.header, self.widths))?;
        if compare {
            let mut again = bytes.to_vec();
            again[..17].fill(0);
            let encoded = fractal::encode_direct(&mut again, &heap.header, header, offset, self.widths);
            self.tally.same("direct block", bytes, encoded.map(|()| again));
        }
        heap.blocks.push((offset, size, at));
        Ok(())
    }

    fn indirect(&mut self, heap: &mut Heap, header: u64, at: u64, rows: u32, offset: u64, compare: bool) -> Walked {
        let widths = self.widths;
        let bytes = self.bytes(at, fractal::indirect_size(&heap.header, rows, widths) as u64)?;
        let children = walked(fractal::decode_indirect(bytes, &heap.header, rows, widths))?;
        if compare {
            let encoded = fractal::encode_indirect(&children, &heap.header, header, offset, rows, widths);
            self.tally.same("indirect block", bytes, encoded);
        }
        let table = heap.header.table;
        for (nth, child) in children.iter().enumerate() {
            let Some(at) = child.address else { continue };
            let (row, column) = (nth as u32 / u32::from(table.width), nth as u64 % u64::from(table.width));
            let (start, size) = table.row_offset(row).zip(table.block_size(row)).ok_or("a row of no possible size")?;
            let offset = offset + start + column * size;
            if row < table.direct_rows() {
                self.direct(heap, header, at, size, offset, compare)?;
            } else {
                let rows = (size / (table.start * u64::from(table.width))).ilog2() + 1;
                self.indirect(heap, header, at, rows, offset, compare)?;
            }
        }
        Ok(())
    }

    /// Compares an id; gives the object if it is in an unfiltered heap.
    pub fn heap_object(&mut self, heap: &Heap, id: &[u8]) -> Walked<Option<Vec<u8>>> {
        let decoded = walked(HeapId::decode(id, &heap.header, self.widths))?;
        let kind = match decoded {
            HeapId::Managed { .. } => "managed id",
            HeapId::Huge(_) | HeapId::HugeDirect(_) => "huge id",
            HeapId::Tiny(_) => "tiny id",
        };
        let encoded = decoded.encode(&heap.header, self.widths);
        // Behind what a huge object's id says, libhdf5 leaves what was there before.
        let used = match &decoded {
            HeapId::Huge(_) => 9.min(id.len()),
            _ => id.len(),
        };
        self.tally.same(kind, &id[..used], encoded.map(|encoded| encoded[..used].to_vec()));
        Ok(match decoded {
            HeapId::Managed { offset, length } if heap.header.filters.is_none() => {
                let block = heap.blocks.iter().find(|(start, size, _)| (*start..start + size).contains(&offset));
                let (start, _, at) = block.ok_or("an object in no block")?;
                Some(self.bytes(at + offset - start, length)?.to_vec())
            }
            HeapId::HugeDirect(huge) if huge.filtered.is_none() => {
                Some(self.bytes(huge.address, huge.length)?.to_vec())
            }
            HeapId::Huge(number) => {
                let tree = heap.header.huge_tree.ok_or("no tree of huge objects")?;
                let mut found = None;
                for (form, bytes) in self.tree(tree, None)? {
                    if let record::Record::Huge(huge, Some(own)) = walked(form.decode(&bytes, self.widths))? {
                        found = found.or((own == number && huge.filtered.is_none()).then_some(huge));
                    }
                }
                found.map(|huge| self.bytes(huge.address, huge.length).map(<[u8]>::to_vec)).transpose()?
            }
            HeapId::Tiny(bytes) => Some(bytes),
            _ => None,
        })
    }

    /// A free-space manager and its list.
    pub fn free_space(&mut self, address: u64) -> Walked {
        if !self.first_time(address) {
            return Ok(());
        }
        let bytes = self.bytes(address, FreeSpace::size(self.widths) as u64)?;
        let manager = walked(FreeSpace::decode(bytes, self.widths))?;
        self.tally.same("free-space manager", bytes, manager.encode(self.widths));
        let Some(list) = manager.list else { return Ok(()) };
        let bytes = self.bytes(list, manager.list_size)?;
        let sections = walked(manager.decode_list(bytes, self.widths))?;
        let again = manager.encode_list(&sections, address, self.widths);
        // The first releases that wrote lists had narrower sizes, which are read and not written.
        if again.is_ok() || !manager.max_section.is_power_of_two() {
            self.tally.same("free sections", bytes, again);
        }
        Ok(())
    }
}
