//! Chunks in the first kind of B-tree, ordered by their first element.

mod change;

use std::sync::Arc;

use hyperslab_file::{Block, Error, Extent, OpenFile, Owner, Result, Seal};
use hyperslab_format::{
    ChunkEntry,
    btree_v1::{self, ChunkKey, Node},
};

use crate::{node_cache::NodeCache, nodes::Nodes};

const WHAT: &str = "chunk B-tree";

/// A tree of chunks.
#[derive(Debug)]
pub struct ChunkTree {
    root: u64,
    /// The object that it belongs to.
    owner: Owner,
    rank: usize,
    nodes: NodeCache<Node<ChunkKey>>,
}

impl ChunkTree {
    /// The tree at `root`, of a dataset with `rank` dimensions.
    pub fn new(root: u64, rank: usize) -> ChunkTree {
        ChunkTree { root, owner: Owner::FILE, rank, nodes: NodeCache::new() }
    }

    /// The tree as a part of an object.
    pub fn owned(self, owner: Owner) -> ChunkTree {
        ChunkTree { owner, ..self }
    }

    /// The chunks whose first elements are these, in row-major order; `each` gets the number of every one that is there. One walk,
    /// which reads each node once.
    pub fn find_sorted<P: AsRef<[u64]>>(
        &self,
        file: &OpenFile,
        starts: &[P],
        each: &mut dyn FnMut(usize, ChunkEntry),
    ) -> Result<()> {
        self.find_below(file, self.root, None, (0, starts), each)
    }

    fn find_below<P: AsRef<[u64]>>(
        &self,
        file: &OpenFile,
        address: u64,
        above: Option<u8>,
        (mut first, mut starts): (usize, &[P]),
        each: &mut dyn FnMut(usize, ChunkEntry),
    ) -> Result<()> {
        let node = self.node(file, address, above)?;
        let mut entries = node.entries.iter().peekable();
        while let Some((key, child)) = entries.next() {
            // A child has what is not before its own key and before the next one's.
            let before = |start: &P, key: &ChunkKey| start.as_ref() < key.start.as_slice();
            let skip = starts.partition_point(|start| before(start, key));
            let (_, rest) = starts.split_at_checked(skip).unwrap_or((starts, &[]));
            let count =
                entries.peek().map_or(rest.len(), |(next, _)| rest.partition_point(|start| before(start, next)));
            let (own, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            match own.first() {
                None => {}
                Some(_) if node.level > 0 => {
                    self.find_below(file, *child, Some(node.level), (first + skip, own), each)?;
                }
                Some(start) if start.as_ref() == key.start.as_slice() => {
                    each(first + skip, entry(key, *child));
                }
                Some(_) => {}
            }
            (first, starts) = (first + skip + count, later);
            if starts.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Calls `each` for every chunk, in order.
    pub fn for_each(&self, file: &OpenFile, each: &mut dyn FnMut(ChunkEntry) -> Result<()>) -> Result<()> {
        let mut nodes = Nodes::of(file, WHAT, node_size(file, self.rank));
        self.walk(file, self.root, None, &mut nodes, each)
    }

    fn walk(
        &self,
        file: &OpenFile,
        address: u64,
        above: Option<u8>,
        nodes: &mut Nodes,
        each: &mut dyn FnMut(ChunkEntry) -> Result<()>,
    ) -> Result<()> {
        nodes.visit(address)?;
        let node = self.node(file, address, above)?;
        for (key, child) in &node.entries {
            if node.level > 0 {
                self.walk(file, *child, Some(node.level), nodes, each)?;
            } else {
                each(entry(key, *child))?;
            }
        }
        Ok(())
    }

    fn node(&self, file: &OpenFile, address: u64, above: Option<u8>) -> Result<Arc<Node<ChunkKey>>> {
        let node = self.nodes.get_or(address, || file.load_once(&ChunkNode { rank: self.rank }, address))?;
        match above {
            Some(above) if node.level >= above => {
                Err(Error::broken(WHAT, address, "a node that is not below its parent"))
            }
            _ => Ok(node),
        }
    }
}

/// A node of the tree, of a dataset with `rank` dimensions.
pub(crate) struct ChunkNode {
    pub(crate) rank: usize,
}

impl Block for ChunkNode {
    type Value = Node<ChunkKey>;
    const WHAT: &'static str = WHAT;

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Signature
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::UpTo(node_size(file, self.rank))
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Node<ChunkKey>> {
        btree_v1::decode_chunks(bytes, self.rank, file.widths()).map_err(Error::at(address))
    }
}

fn node_size(file: &OpenFile, rank: usize) -> u64 {
    let key = btree_v1::chunk_key_size(rank);
    btree_v1::node_size(file.superblock().chunk_internal_k, key, file.widths()) as u64
}

pub(crate) fn entry(key: &ChunkKey, child: u64) -> ChunkEntry {
    ChunkEntry::dense(Some(child), key.size.into(), key.mask).at(key.start.clone())
}
