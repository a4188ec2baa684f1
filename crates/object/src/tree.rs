//! Trees of links and attributes, as libhdf5 makes them.

use hyperslab_file::{Error, Result};
use hyperslab_format::index::record::Form;
use hyperslab_structures::Tree;

use crate::Context;

/// Bytes of a node.
const NODE: u32 = 512;
/// When nodes are split and merged, in percent.
const SPLIT: u8 = 100;
const MERGE: u8 = 40;

/// A tree for records of a type, which belongs to the object at `object`.
pub(crate) fn create(context: &Context, object: u64, kind: u8) -> Result<Tree> {
    let size = Form::Plain(kind).size(context.file().widths());
    let size = size.ok_or_else(|| Error::Refused(format!("there are no records of type {kind}")))?;
    Tree::create(context.file().owned_by(object), kind, size, NODE, SPLIT, MERGE)
}
