//! Symbol table nodes: the links of an old-style group, eight or so together.

use std::{ops::Deref, sync::Arc};

use hyperslab_base::Widths;
use hyperslab_file::{Block, Error, Extent, Kind, OpenFile, Owned, Result, Seal, Structure};
use hyperslab_format::symbol_table::{self, Entry};

/// A symbol table node: its entries, by rising name.
#[derive(Clone, Debug)]
pub(crate) struct Symbols {
    entries: Vec<Entry>,
    leaf_k: u16,
    widths: Widths,
}

impl Deref for Symbols {
    type Target = [Entry];

    fn deref(&self) -> &[Entry] {
        &self.entries
    }
}

/// A symbol table node in the file.
pub(crate) struct SymbolNode;

impl Block for SymbolNode {
    type Value = Symbols;
    const WHAT: &'static str = "symbol table node";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Signature
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::UpTo(Symbols::size(file))
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Symbols> {
        let entries = symbol_table::decode_node(bytes, file.widths()).map_err(Error::at(address))?;
        Ok(Symbols::of(file, entries))
    }

    fn structure(value: &Arc<Symbols>) -> Option<Arc<dyn Structure>> {
        Some(value.clone())
    }
}

impl Structure for Symbols {
    fn encode(&self) -> Result<Vec<u8>> {
        Ok(symbol_table::encode_node(&self.entries, self.leaf_k, self.widths)?)
    }

    fn footprint(&self) -> usize {
        size_of::<Symbols>() + self.entries.capacity() * size_of::<Entry>()
    }
}

impl Symbols {
    fn of(file: &OpenFile, entries: Vec<Entry>) -> Symbols {
        Symbols { entries, leaf_k: file.superblock().group_leaf_k, widths: file.widths() }
    }

    /// The node at an address.
    pub(super) fn read(file: Owned<'_>, address: u64) -> Result<Arc<Symbols>> {
        file.load(&SymbolNode, address)
    }

    /// A new node; says where it is.
    pub(super) fn put_new(file: Owned<'_>, entries: Vec<Entry>) -> Result<u64> {
        let address = file.allocate(Kind::Metadata, Symbols::size(&file))?;
        file.put_structure(address, Arc::new(Symbols::of(&file, entries)))?;
        Ok(address)
    }

    /// Changes the entries of the node at an address.
    pub(super) fn change(file: Owned<'_>, address: u64, change: impl FnOnce(&mut Vec<Entry>)) -> Result<()> {
        file.change(&SymbolNode, address, |symbols| {
            change(&mut symbols.entries);
            Ok(())
        })
    }

    /// The bytes of a node in the file.
    pub(crate) fn size(file: &OpenFile) -> u64 {
        symbol_table::node_size(file.superblock().group_leaf_k, file.widths()) as u64
    }
}
