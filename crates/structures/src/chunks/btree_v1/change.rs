//! Changing the first kind of chunk index.

use hyperslab_file::{Error, OpenFile, Owned, Result};
use hyperslab_format::{
    ChunkEntry,
    btree_v1::{ChunkKey, Node},
};

use super::{ChunkNode, ChunkTree, WHAT, entry, node_size};
use crate::{
    btree_v1::{Editor, Form, Step},
    nodes::Nodes,
};

impl ChunkTree {
    /// A tree without chunks, for a dataset with `rank` dimensions.
    pub fn create<'f>(file: impl Into<Owned<'f>>, rank: usize) -> Result<ChunkTree> {
        let file = file.into();
        Ok(ChunkTree::new(crate::btree_v1::create(file, &Chunks { rank })?, rank).owned(file.owner()))
    }

    /// Where the root is. It stays there.
    pub fn root(&self) -> u64 {
        self.root
    }

    /// Adds a chunk, or replaces the one that begins at the same element; says which. `extent` is that of a chunk, in elements, then the
    /// bytes of an element.
    pub fn insert(&self, file: &OpenFile, extent: &[u64], chunk: &ChunkEntry) -> Result<Option<ChunkEntry>> {
        Ok(self.insert_all(file, extent, std::slice::from_ref(chunk))?.pop())
    }

    /// As [`ChunkTree::insert`], for many; nodes are written once. Says what was replaced.
    pub fn insert_all(&self, file: &OpenFile, extent: &[u64], chunks: &[ChunkEntry]) -> Result<Vec<ChunkEntry>> {
        let keys = chunks.iter().map(|chunk| self.key(extent, chunk)).collect::<Result<Vec<_>>>()?;
        let mut editor = Editor::new(file.owned(self.owner), Chunks { rank: self.rank }, self.root);
        let mut replaced = Vec::new();
        for (key, child, behind) in keys {
            replaced.extend(insert(&mut editor, key, child, behind)?);
        }
        self.nodes.clear();
        editor.finish(None)?;
        Ok(replaced)
    }

    /// Removes the chunk that begins at an element, if there is one.
    pub fn remove(&self, file: &OpenFile, start: &[u64]) -> Result<Option<ChunkEntry>> {
        Ok(self.remove_all(file, &[start])?.pop())
    }

    /// Removes the chunks that begin at elements; says which were there.
    pub fn remove_all<P: AsRef<[u64]>>(&self, file: &OpenFile, starts: &[P]) -> Result<Vec<ChunkEntry>> {
        let mut editor = Editor::new(file.owned(self.owner), Chunks { rank: self.rank }, self.root);
        let mut removed = Vec::new();
        for start in starts {
            let (path, found) = find(&mut editor, start.as_ref())?;
            if let Some(found) = found {
                editor.remove(&path)?;
                removed.push(found);
            }
        }
        self.nodes.clear();
        editor.finish(None)?;
        Ok(removed)
    }

    /// Gives all nodes back; `each` gets every chunk.
    pub fn delete(self, file: &OpenFile, each: &mut dyn FnMut(ChunkEntry) -> Result<()>) -> Result<()> {
        let mut counted = Nodes::of(file, WHAT, node_size(file, self.rank));
        let (mut blocks, mut open) = (Vec::new(), vec![(self.root, None)]);
        while let Some((address, above)) = open.pop() {
            counted.visit(address)?;
            let node = self.node(file, address, above)?;
            if node.level > 0 {
                open.extend(node.entries.iter().rev().map(|(_, child)| (*child, Some(node.level))));
            } else {
                node.entries.iter().try_for_each(|(key, child)| each(entry(key, *child)))?;
            }
            blocks.push(address);
        }
        blocks.into_iter().try_for_each(|address| file.free(address, node_size(file, self.rank)))
    }

    /// What a chunk is in the tree: its key, its address, and the key behind it if it is the last.
    fn key(&self, extent: &[u64], chunk: &ChunkEntry) -> Result<(ChunkKey, u64, ChunkKey)> {
        let refuse = |why: &str| Error::Refused(format!("the chunk at {:?}: {why}", chunk.start));
        let (Some(&bytes), true) = (extent.get(self.rank), extent.len() == self.rank + 1) else {
            return Err(refuse("chunks of another rank"));
        };
        if chunk.start.len() != self.rank {
            return Err(refuse("it has another rank than the dataset"));
        }
        if !chunk.sections.is_dense() {
            return Err(refuse("it is structured, and this index holds dense chunks only"));
        }
        let mask = chunk.mask();
        let size =
            u32::try_from(chunk.size()).map_err(|_| refuse("it has more than 4 GiB, which this index cannot hold"))?;
        let address = chunk.address.ok_or_else(|| refuse("it has no address"))?;
        let ends = chunk.start.iter().zip(extent).map(|(start, extent)| start.checked_add(*extent));
        let end = ends.collect::<Option<_>>().ok_or_else(|| refuse("it ends beyond what can be counted"))?;
        let key = ChunkKey { size, mask, start: chunk.start.clone(), byte: 0 };
        Ok((key, address, ChunkKey { size: 0, mask: 0, start: end, byte: bytes }))
    }
}

/// Nodes whose keys are those of chunks.
struct Chunks {
    rank: usize,
}

impl Form for Chunks {
    type Key = ChunkKey;
    type Node = ChunkNode;
    const KEY_BEHIND: bool = false;

    fn k(&self, file: &OpenFile) -> u16 {
        file.superblock().chunk_internal_k
    }

    fn node_size(&self, file: &OpenFile) -> u64 {
        node_size(file, self.rank)
    }

    fn node(&self) -> ChunkNode {
        ChunkNode { rank: self.rank }
    }

    fn encode(&self, file: &OpenFile, node: &Node<ChunkKey>) -> Result<Vec<u8>> {
        Ok(node.encode(self.k(file), self.rank, file.widths())?)
    }
}

/// The way to where a chunk is or belongs, and the chunk if it is there.
fn find(editor: &mut Editor<'_, Chunks>, start: &[u64]) -> Result<(Vec<Step>, Option<ChunkEntry>)> {
    let path = editor
        .descend(|node| Ok(node.entries.partition_point(|(key, _)| key.start.as_slice() <= start).saturating_sub(1)))?;
    let index = path.last().map_or(0, |step| step.index);
    let there = editor.leaf(&path)?.entries.get(index).filter(|(key, _)| key.start == start);
    let found = there.map(|(key, child)| entry(key, *child));
    Ok((path, found))
}

fn insert(editor: &mut Editor<'_, Chunks>, key: ChunkKey, child: u64, behind: ChunkKey) -> Result<Option<ChunkEntry>> {
    let (path, found) = find(editor, &key.start)?;
    let (index, depth) = (path.last().map_or(0, |step| step.index), path.len() - 1);
    if let Some(found) = found {
        let same_key = (found.size(), found.mask()) == (key.size.into(), key.mask);
        editor.set(&path, key.clone(), child)?;
        if !same_key && index == 0 {
            editor.set_left_key(&path, depth, key)?; // it stands in the nodes above too
        }
        return Ok(Some(found));
    }
    let leaf = editor.leaf(&path)?;
    if leaf.entries.get(index).is_some_and(|(first, _)| key.start < first.start) {
        if let Some(above) = depth.checked_sub(1) {
            editor.set_left_key(&path, above, key.clone())?;
        }
        editor.insert(&path, 0, key, child)?;
        return Ok(None);
    }
    let last = leaf.last.as_ref().filter(|_| !leaf.entries.is_empty());
    let beyond = last.is_none_or(|last| (&key.start, 0) >= (&last.start, last.byte));
    if beyond && index + 1 >= leaf.entries.len() {
        let behind = editor.key_behind(&path)?.unwrap_or(behind);
        editor.set_right_key(&path, depth, behind)?;
    }
    let at = if editor.leaf(&path)?.entries.is_empty() { 0 } else { index + 1 };
    editor.insert(&path, at, key, child)?;
    Ok(None)
}
