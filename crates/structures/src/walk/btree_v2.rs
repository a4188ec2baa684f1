//! The second kind of B-tree, whatever its records are.

use hyperslab_file::{Block, OpenFile, Survey};
use hyperslab_format::index::btree_v2::{BtreeV2, Pointer};

use super::EachRecord;
use crate::btree_v2::{TreeHeader, TreeNode};

const WHAT: &str = TreeHeader::WHAT;
const NODE: &str = TreeNode::WHAT;

/// Shows all nodes of the tree at `address`, and all records in order; `kinds` are the types that they may have. Gives the header, if the tree
/// was not met before.
pub fn tree(
    file: &OpenFile,
    address: u64,
    kinds: &[u8],
    survey: &mut dyn Survey,
    each: &mut EachRecord<'_>,
) -> Option<BtreeV2> {
    let size = BtreeV2::size(file.widths()) as u64;
    if !survey.block(WHAT, address, size) {
        return None;
    }
    let header = survey.found(WHAT, address, file.load_once(&TreeHeader, address))?.into_inner();
    if !kinds.contains(&header.kind) {
        survey.problem(WHAT, address, format!("records of type {} do not belong here", header.kind));
        return None;
    }
    let has = walk(file, &header, header.root, header.depth, survey, each);
    if let Some(has) = has {
        survey.equal(WHAT, address, "records", header.records, has);
    }
    Some(header)
}

/// How many records a node has with those below it; nothing if not all could be seen.
fn walk(
    file: &OpenFile,
    header: &BtreeV2,
    node: Pointer,
    level: u16,
    survey: &mut dyn Survey,
    each: &mut EachRecord<'_>,
) -> Option<u64> {
    let Some(address) = node.address else { return Some(0) };
    let size = u64::from(header.node_size);
    let there = file.end().saturating_sub(address).min(size);
    if !survey.block(NODE, address, there.max(1)) {
        return None;
    }
    let decoded = file.load_once(&TreeNode { header, records: node.records, level }, address);
    let decoded = survey.found(NODE, address, decoded)?;
    let (mut children, mut count) = (decoded.children.iter(), Some(decoded.count() as u64));
    let mut down = |child: &Pointer, survey: &mut dyn Survey, each: &mut EachRecord<'_>| {
        let has = walk(file, header, *child, level.saturating_sub(1), survey, each);
        if let Some(has) = has.filter(|has| *has != child.below) {
            let why =
                format!("it says {} records below {:#x}, but there are {has}", child.below, child.address.unwrap_or(0));
            survey.problem(NODE, address, why);
        }
        count = count.zip(has).map(|(count, has)| count.saturating_add(has));
    };
    for record in decoded.records() {
        if let Some(child) = children.next() {
            down(child, survey, each);
        }
        each(survey, (header.kind, address), record);
    }
    children.for_each(|child| down(child, survey, each));
    count
}
