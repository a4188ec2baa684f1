//! Chunks in B-trees of both kinds.

use hyperslab_file::{Error, OpenFile, Survey};
use hyperslab_format::{
    btree_v1::{self, ChunkKey, Node},
    index::{
        ChunkElement,
        record::{Form as RecordForm, Record},
    },
};

use super::{
    EachChunk,
    btree_v1::{Form, walk},
    btree_v2::tree,
};
use crate::chunks::btree_v1::{ChunkNode, entry};

struct Chunks<'a> {
    rank: usize,
    /// Where the last chunk begins that was met.
    last: Option<Vec<u64>>,
    each: &'a mut EachChunk<'a>,
}

/// Shows the first kind of tree, of a dataset with `rank` dimensions; chunks begin at the element that they say, and rise.
pub fn chunk_tree<'a>(file: &OpenFile, root: u64, rank: usize, survey: &mut dyn Survey, each: &'a mut EachChunk<'a>) {
    walk(file, root, &mut Chunks { rank, last: None, each }, survey);
}

impl Form for Chunks<'_> {
    type Key = ChunkKey;
    type Block = ChunkNode;

    fn block(&self) -> ChunkNode {
        ChunkNode { rank: self.rank }
    }

    fn node_size(&self, file: &OpenFile) -> u64 {
        btree_v1::node_size(self.k(file), btree_v1::chunk_key_size(self.rank), file.widths()) as u64
    }

    fn k(&self, file: &OpenFile) -> u16 {
        file.superblock().chunk_internal_k
    }

    fn node(&mut self, survey: &mut dyn Survey, address: u64, node: &Node<ChunkKey>) {
        let rises = node.entries.is_sorted_by(|(left, _), (right, _)| left.start < right.start);
        let after = self.last.as_ref().zip(node.entries.first()).is_none_or(|(last, (key, _))| last < &key.start);
        if !rises || node.level == 0 && !after {
            survey.problem(Self::WHAT, address, "its chunks do not rise".into());
        }
        if node.level > 0 {
            return;
        }
        for (key, child) in &node.entries {
            (self.each)(survey, None, &entry(key, *child));
        }
        self.last = node.entries.last().map(|(key, _)| key.start.clone());
    }
}

/// Shows the second kind of tree, of a dataset with `rank` dimensions. Chunks have their place in the grid, and rise.
pub fn chunk_tree_v2(
    file: &OpenFile,
    address: u64,
    (rank, element): (usize, ChunkElement),
    survey: &mut dyn Survey,
    each: &mut EachChunk<'_>,
) {
    let mut last: Option<Vec<u64>> = None;
    let form = RecordForm::Chunk(element, rank);
    tree(file, address, &[form.kind()], survey, &mut |survey, (_, node), record| {
        let decoded = form.decode(record, file.widths()).map_err(Error::at(node));
        let Some(Record::Chunk(chunk)) = survey.found("chunk B-tree", node, decoded) else { return };
        if last.as_ref().is_some_and(|last| *last >= chunk.start) {
            survey.problem("chunk B-tree", node, "its chunks do not rise".into());
        }
        each(survey, None, &chunk);
        last = Some(chunk.start);
    });
}
