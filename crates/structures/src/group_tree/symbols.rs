//! Symbol table nodes: the links of an old-style group, eight or so together.

use std::{ops::Deref, sync::Arc};

use hyperslab_base::Widths;
use hyperslab_file::{Error, Kind, OpenFile, Result, Structure};
use hyperslab_format::symbol_table::{self, Entry};

use super::SYMBOLS;

/// A symbol table node: its entries, by rising name.
#[derive(Clone, Debug)]
pub(super) struct Symbols {
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

    fn decode(file: &OpenFile, address: u64, bytes: &[u8]) -> Result<Symbols> {
        let entries = symbol_table::decode_node(bytes, file.widths()).map_err(Error::at(address))?;
        Ok(Symbols::of(file, entries))
    }

    /// The node at an address.
    pub(super) fn read(file: &OpenFile, address: u64) -> Result<Arc<Symbols>> {
        file.structure(SYMBOLS, address, Symbols::size(file), |bytes| Symbols::decode(file, address, bytes))
    }

    /// A new node; says where it is.
    pub(super) fn put_new(file: &OpenFile, entries: Vec<Entry>) -> Result<u64> {
        let address = file.allocate(Kind::Metadata, Symbols::size(file))?;
        file.put_structure(address, Arc::new(Symbols::of(file, entries)))?;
        Ok(address)
    }

    /// Changes the entries of the node at an address.
    pub(super) fn change(file: &OpenFile, address: u64, change: impl FnOnce(&mut Vec<Entry>)) -> Result<()> {
        let decode = |bytes: &[u8]| Symbols::decode(file, address, bytes);
        file.change_structure(SYMBOLS, (address, Symbols::size(file)), decode, |symbols: &mut Symbols| {
            change(&mut symbols.entries);
            Ok(())
        })
    }

    /// The bytes of a node in the file.
    pub(super) fn size(file: &OpenFile) -> u64 {
        symbol_table::node_size(file.superblock().group_leaf_k, file.widths()) as u64
    }
}
