//! Each message of a header is decoded and encoded; what it names is walked.

use hyperslab_base::Width;
use hyperslab_format::{
    index::record,
    message::{
        self, Attribute, AttributeInfo, BtreeK, ChunkIndex, DataLayout, DriverInfo, ExternalFiles, FileSpaceInfo,
        FillWrite, FilterPipeline, GroupInfo, Layout, Link, LinkInfo, SectionFilters, Shared, SharedTable, SymbolTable,
        Target, kind,
    },
    object_header::Message,
    version,
};
use hyperslab_space::Extent;

use crate::harvest::walk::{Walk, Walked, walked};

impl Walk<'_> {
    /// Compares all messages of one header.
    pub fn messages(&mut self, messages: &[Message<'_>]) -> Walked {
        let filtered = messages.iter().any(|message| {
            let own = FilterPipeline::decode(message.body).is_ok_and(|pipeline| !pipeline.steps.is_empty());
            message.kind == kind::FILTER_PIPELINE && (message.flags.is_shared() || own)
        });
        let links = messages.iter().filter(|message| message.kind == kind::LINK);
        let mut links = links.filter_map(|link| Link::decode(link.body, self.widths).ok());
        let converted = links.any(|link| !version::old_group_holds(&link));
        self.choice_of_index(messages, filtered);
        let mut result = Ok(());
        for message in messages {
            let what = format!("message of type {:#x}", message.kind);
            let done = self.message(message, filtered, converted).map_err(|why| format!("{what}: {why}"));
            result = result.and(done);
        }
        result
    }

    /// The index of a chunked dataset against the one our table would choose.
    fn choice_of_index(&mut self, messages: &[Message<'_>], filtered: bool) {
        let find = |kind| messages.iter().find(|message| message.kind == kind && !message.flags.is_shared());
        let (Some(_), Some(space), Some(fill), Some(layout)) =
            (self.low, find(kind::DATASPACE), find(kind::FILL_VALUE), find(kind::DATA_LAYOUT))
        else {
            return;
        };
        let extent = Extent::decode(space.body, self.widths.lengths).unwrap();
        let alloc = FillWrite::decode(fill.body).unwrap().alloc;
        let layout = DataLayout::decode(layout.body, self.widths).unwrap();
        let Layout::Chunked { chunk, index, .. } = &layout.layout else { return };
        let chosen = version::chunk_index(layout.version, &extent, chunk, filtered, alloc);
        match (index, &chosen) {
            // It tells more once the chunk is written.
            (ChunkIndex::Single(Some(_)), ChunkIndex::Single(Some(_))) => {}
            (index, chosen) => self.tally.expect("chunk index", index, chosen),
        }
    }

    fn message(&mut self, message: &Message<'_>, filtered: bool, converted: bool) -> Walked {
        let (body, widths) = (message.body, self.widths);
        if message.flags.is_shared() {
            return self.shared(body);
        }
        match message.kind {
            kind::DATASPACE => self.dataspace(body),
            kind::LINK_INFO => {
                let info = walked(LinkInfo::decode(body, widths))?;
                self.tally.front("link info", body, info.encode(widths));
                self.version("kind of group", true, |low| converted || version::new_group(low, info.tracked, false));
                if let Some(heap) = info.heap {
                    self.dense(heap, info.names, info.orders, kind::LINK)?;
                }
                Ok(())
            }
            kind::OLD_FILL_VALUE => {
                self.tally.front("old fill value", body, walked(FillWrite::decode_old(body))?.encode_old());
                self.version("old fill value", true, version::old_fill_value);
                Ok(())
            }
            kind::FILL_VALUE => {
                let kind = format!("fill value {}", body[0]);
                self.tally.front(&kind, body, walked(FillWrite::decode(body))?.encode(body[0]));
                self.version("fill value", body[0], version::fill_value);
                Ok(())
            }
            kind::LINK => self.link(body),
            kind::EXTERNAL_FILES => {
                let files = walked(ExternalFiles::decode(body, widths))?;
                self.tally.front("external files", body, files.encode(widths));
                self.local_heap(files.heap)
            }
            kind::DATA_LAYOUT => self.layout(body, filtered),
            kind::BOGUS => {
                walked(message::bogus(body))?;
                self.tally.front("bogus", body, Ok(message::encode_bogus()));
                Ok(())
            }
            kind::GROUP_INFO => {
                self.tally.front("group info", body, Ok(walked(GroupInfo::decode(body))?.encode()));
                Ok(())
            }
            kind::FILTER_PIPELINE => {
                let pipeline = walked(FilterPipeline::decode(body))?;
                self.tally.front(&format!("pipeline {}", pipeline.version), body, pipeline.encode());
                self.version("pipeline", pipeline.version, version::filter_pipeline);
                Ok(())
            }
            kind::SECTION_FILTERS => {
                self.tally.front("section filters", body, walked(SectionFilters::decode(body))?.encode());
                Ok(())
            }
            kind::ATTRIBUTE => self.attribute(body),
            kind::COMMENT => {
                self.tally.front("comment", body, message::encode_comment(message::comment(body)));
                Ok(())
            }
            kind::OLD_MODIFICATION_TIME => {
                let digits = walked(message::old_modification_time(body))?;
                self.tally.front("old modification time", body, message::encode_old_modification_time(digits));
                Ok(())
            }
            kind::SHARED_TABLE => {
                let table = walked(SharedTable::decode(body, widths))?;
                self.tally.front("shared table", body, table.encode(widths));
                self.shared_table(&table)
            }
            kind::SYMBOL_TABLE => {
                let table = walked(SymbolTable::decode(body, widths))?;
                self.tally.front("symbol table", body, table.encode(widths));
                self.version("kind of group", false, |low| version::new_group(low, false, false));
                self.group(table.btree, table.heap)
            }
            kind::MODIFICATION_TIME => {
                let seconds = walked(message::modification_time(body))?;
                self.tally.front("modification time", body, Ok(message::encode_modification_time(seconds)));
                self.version("modification time", true, version::modification_time);
                Ok(())
            }
            kind::BTREE_K => {
                let k = walked(BtreeK::decode(body))?;
                self.tally.front("B-tree K", body, Ok(k.encode()));
                self.superblock.chunk_internal_k = k.chunk_internal;
                self.superblock.group_internal_k = k.group_internal;
                self.superblock.group_leaf_k = k.group_leaf;
                Ok(())
            }
            kind::DRIVER_INFO => {
                self.tally.front("driver info", body, walked(DriverInfo::decode(body))?.encode());
                Ok(())
            }
            kind::ATTRIBUTE_INFO => {
                let info = walked(AttributeInfo::decode(body, widths))?;
                self.tally.front("attribute info", body, info.encode(widths));
                if let Some(heap) = info.heap {
                    self.dense(heap, info.names, info.orders, kind::ATTRIBUTE)?;
                }
                Ok(())
            }
            kind::REFERENCE_COUNT => {
                let count = walked(message::reference_count(body))?;
                self.tally.front("reference count", body, Ok(message::encode_reference_count(count)));
                Ok(())
            }
            kind::FILE_SPACE_INFO => {
                let info = walked(FileSpaceInfo::decode(body, widths))?;
                self.tally.front("file space info", body, info.encode(widths));
                let managers: Vec<_> = match info {
                    FileSpaceInfo::Old { managers, .. } => managers.into_iter().flatten().flatten().collect(),
                    FileSpaceInfo::New { managers, .. } => managers.into_iter().flatten().flatten().collect(),
                };
                managers.into_iter().try_for_each(|manager| self.free_space(manager))
            }
            _ => Ok(()),
        }
    }

    /// A message that is in a heap: a link or an attribute.
    pub fn heap_message(&mut self, kind: u16, body: &[u8]) -> Walked {
        match kind {
            kind::LINK => self.link(body),
            _ => self.attribute(body),
        }
    }

    fn shared(&mut self, body: &[u8]) -> Walked {
        let (shared, taken) = walked(Shared::decode(body, self.widths))?;
        let mut stored = body[..taken].to_vec();
        match body[0] {
            // Version 1 has the front of a symbol table entry, whose name means nothing here.
            1 => stored[1..8 + self.widths.lengths.bytes()].fill(0),
            2 => stored[1] = 2, // older libraries left this byte as it was
            _ => {}
        }
        self.tally.same(&format!("shared {}", body[0]), &stored, shared.encode(body[0], self.widths));
        if self.low.is_some() {
            self.tally.expect("version of a shared message", body[0], version::shared(&shared));
        }
        if let Shared::Committed(header) = shared {
            self.later(header);
        }
        Ok(())
    }

    fn dataspace(&mut self, body: &[u8]) -> Walked {
        let extent = Extent::decode(body, self.widths.lengths).map_err(|why| why.to_string())?;
        let has_max = body[2] & 1 != 0 || extent.rank() == 0;
        if self.widths.lengths == Width::W8 && has_max && !(extent.is_null() && body[0] == 1) {
            let encoded = extent.encode(body[0], false).map_err(|why| why.to_string())?;
            self.tally.front(&format!("dataspace {}", body[0]), body, Ok(encoded));
        }
        self.version("dataspace", body[0], |low| version::dataspace(low, extent.is_null()));
        Ok(())
    }

    fn link(&mut self, body: &[u8]) -> Walked {
        let link = walked(Link::decode(body, self.widths))?;
        // Other writers take more bytes for the length of the name than it needs.
        let narrow = [u64::from(u8::MAX), u64::from(u16::MAX), u64::from(u32::MAX), u64::MAX];
        if narrow.iter().position(|most| link.name.len() as u64 <= *most) == Some(usize::from(body[1] & 3)) {
            self.tally.front("link", body, link.encode(self.widths));
        }
        if let Target::Hard(header) = link.target {
            self.later(header);
        }
        Ok(())
    }

    fn attribute(&mut self, body: &[u8]) -> Walked {
        let attribute = walked(Attribute::decode(body))?;
        self.tally.same(&format!("attribute {}", attribute.version), body, attribute.encode());
        let shared = attribute.datatype_shared || attribute.dataspace_shared;
        self.version("attribute", attribute.version, |low| version::attribute(low, attribute.charset, shared));
        match attribute.dataspace_shared {
            true => self.shared(attribute.dataspace)?,
            false => self.dataspace(attribute.dataspace)?,
        }
        if attribute.datatype_shared {
            self.shared(attribute.datatype)?;
        }
        Ok(())
    }

    fn layout(&mut self, body: &[u8], filtered: bool) -> Walked {
        let layout = walked(DataLayout::decode(body, self.widths))?;
        self.tally.front(&format!("layout {}", layout.version), body, layout.encode(self.widths));
        self.version("layout", layout.version, |low| version::data_layout(low, &layout.layout, filtered));
        match &layout.layout {
            Layout::Chunked { structure: None, chunk, element_size, index, address: Some(address), .. } => {
                self.chunk_index(index, *address, chunk, *element_size, filtered)
            }
            Layout::Virtual { heap: Some(heap), index } => self.mapping(*heap, *index),
            _ => Ok(()),
        }
    }

    /// Compares a choice of libhdf5 with that of our table.
    fn version<T: PartialEq + std::fmt::Debug>(
        &mut self,
        what: &str,
        found: T,
        expected: impl FnOnce(version::LibVersion) -> T,
    ) {
        if let Some(low) = self.low {
            self.tally.expect(what, found, expected(low));
        }
    }

    /// The trees of links or attributes in a heap.
    fn dense(&mut self, heap: u64, names: Option<u64>, orders: Option<u64>, kind: u16) -> Walked {
        let heap = self.fractal_heap(heap)?;
        for tree in [names, orders].into_iter().flatten() {
            for (form, bytes) in self.tree(tree, None)? {
                let id: Vec<u8> = match walked(form.decode(&bytes, self.widths))? {
                    record::Record::LinkName { id, .. } | record::Record::LinkOrder { id, .. } => id.to_vec(),
                    record::Record::AttributeName { entry, .. } | record::Record::AttributeOrder(entry) => {
                        if entry.flags & 2 != 0 {
                            continue; // in the heap of shared messages
                        }
                        entry.id.to_vec()
                    }
                    _ => return Err("a record that does not belong here".into()),
                };
                if let Some(body) = self.heap_object(&heap, &id)? {
                    self.heap_message(kind, &body)?;
                }
            }
        }
        Ok(())
    }
}
