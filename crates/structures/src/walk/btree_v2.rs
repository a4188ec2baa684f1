//! The second kind of B-tree, whatever its records are.

use hyperslab_file::{Error, OpenFile, Survey};
use hyperslab_format::index::btree_v2::{BtreeV2, Pointer};

use super::EachRecord;

const WHAT: &str = "B-tree (version 2)";
const NODE: &str = "B-tree node (version 2)";

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
    let bytes = file.metadata(WHAT, address, size);
    let header = bytes.and_then(|bytes| BtreeV2::decode(&bytes, file.widths()).map_err(Error::at(address)));
    let header = survey.found(WHAT, address, header)?;
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
    let bytes = survey.found(NODE, address, file.metadata_up_to(NODE, address, size))?;
    let decoded = header.decode_node(&bytes, level, node.records, file.widths()).map_err(Error::at(address));
    let decoded = survey.found(NODE, address, decoded)?;
    let (mut children, mut count) = (decoded.children.iter(), Some(decoded.records.len() as u64));
    let mut down = |child: &Pointer, survey: &mut dyn Survey, each: &mut EachRecord<'_>| {
        let has = walk(file, header, *child, level.saturating_sub(1), survey, each);
        if let Some(has) = has.filter(|has| *has != child.below) {
            let why =
                format!("it says {} records below {:#x}, but there are {has}", child.below, child.address.unwrap_or(0));
            survey.problem(NODE, address, why);
        }
        count = count.zip(has).map(|(count, has)| count.saturating_add(has));
    };
    for record in &decoded.records {
        if let Some(child) = children.next() {
            down(child, survey, each);
        }
        each(survey, (header.kind, address), record);
    }
    children.for_each(|child| down(child, survey, each));
    count
}
