//! Chunks in the first kind of B-tree, ordered by their first element.

use std::sync::Arc;

use hyperslab_file::{Error, OpenFile, Result};
use hyperslab_format::{
    ChunkEntry,
    btree_v1::{self, ChunkKey, Node},
};

use crate::kept::Kept;

const WHAT: &str = "chunk B-tree";
/// Nodes that stay decoded.
const NODES: usize = 1024;
/// No node is smaller.
const LEAST_NODE: u64 = 16;

/// A tree of chunks.
#[derive(Debug)]
pub struct ChunkTree {
    root: u64,
    rank: usize,
    nodes: Kept<Node<ChunkKey>>,
}

impl ChunkTree {
    /// The tree at `root`, of a dataset with `rank` dimensions.
    pub fn new(root: u64, rank: usize) -> ChunkTree {
        ChunkTree { root, rank, nodes: Kept::new(NODES) }
    }

    /// The chunk whose first element is `start`.
    pub fn find(&self, file: &OpenFile, start: &[u64]) -> Result<Option<ChunkEntry>> {
        let (mut address, mut above) = (self.root, None);
        loop {
            let node = self.node(file, address, above)?;
            let after = node.entries.partition_point(|(key, _)| key.start.as_slice() <= start);
            let Some((key, child)) = after.checked_sub(1).and_then(|nth| node.entries.get(nth)) else {
                return Ok(None);
            };
            if node.level == 0 {
                let found = key.start == start;
                return Ok(found.then(|| entry(key, *child)));
            }
            (address, above) = (*child, Some(node.level));
        }
    }

    /// Calls `each` for every chunk, in order.
    pub fn for_each(&self, file: &OpenFile, each: &mut dyn FnMut(ChunkEntry) -> Result<()>) -> Result<()> {
        self.walk(file, self.root, None, &mut (1 + file.end() / LEAST_NODE), each)
    }

    fn walk(
        &self,
        file: &OpenFile,
        address: u64,
        above: Option<u8>,
        budget: &mut u64,
        each: &mut dyn FnMut(ChunkEntry) -> Result<()>,
    ) -> Result<()> {
        // A tree cannot have more nodes than the file has room for, however they point at each other.
        *budget = budget
            .checked_sub(1)
            .ok_or_else(|| Error::broken(WHAT, self.root, "more nodes than the file has room for"))?;
        let node = self.node(file, address, above)?;
        for (key, child) in &node.entries {
            if node.level > 0 {
                self.walk(file, *child, Some(node.level), budget, each)?;
            } else {
                each(entry(key, *child))?;
            }
        }
        Ok(())
    }

    fn node(&self, file: &OpenFile, address: u64, above: Option<u8>) -> Result<Arc<Node<ChunkKey>>> {
        let node = self.nodes.get_or(address, || {
            let key = btree_v1::chunk_key_size(self.rank);
            let size = btree_v1::node_size(file.superblock().chunk_internal_k, key, file.widths());
            let bytes = file.metadata_up_to(WHAT, address, size as u64)?;
            btree_v1::decode_chunks(&bytes, self.rank, file.widths()).map_err(Error::at(address))
        })?;
        match above {
            Some(above) if node.level >= above => {
                Err(Error::broken(WHAT, address, "a node that is not below its parent"))
            }
            _ => Ok(node),
        }
    }
}

fn entry(key: &ChunkKey, child: u64) -> ChunkEntry {
    ChunkEntry { start: key.start.clone(), address: Some(child), size: key.size.into(), mask: key.mask }
}
