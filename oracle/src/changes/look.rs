//! What Hyperslab sees in a file, told as the model tells it.

use super::{model::written, ours::kind_of};
use hyperslab::space::{Extent, UNLIMITED};
use hyperslab::{File, Group, Node, Result, Target};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// Every link of a file and what it leads to, by path; `in_full` as in [`Model::look`](super::Model::look).
///
/// # Errors
/// If anything of it cannot be read.
pub fn look(file: &File, in_full: bool) -> Result<BTreeMap<String, Value>> {
    let mut looking = Looking { file, in_full, seen: HashMap::new(), found: BTreeMap::new() };
    looking.see(&Node::Group(file.root()?), "/")?;
    Ok(looking.found)
}

struct Looking<'a> {
    file: &'a File,
    in_full: bool,
    seen: HashMap<u64, String>,
    found: BTreeMap<String, Value>,
}

impl Looking<'_> {
    fn see(&mut self, node: &Node, path: &str) -> Result<()> {
        if let Some(first) = self.seen.get(&node.address()).filter(|_| !self.in_full) {
            self.found.insert(path.into(), json!({"same": first}));
            return Ok(());
        }
        self.seen.insert(node.address(), path.into());
        let mut record = match node {
            Node::Group(group) => json!({"group": order(group)?}),
            Node::Datatype(datatype) => json!({"datatype": kind_of(&datatype.datatype()?)?}),
            Node::Dataset(dataset) => {
                let (kind, extent) = (kind_of(dataset.datatype())?, dataset.extent());
                let values = written(kind.read(dataset)?, self.in_full);
                json!({"dataset": kind, "shape": extent.dims(), "max": limits(&extent), "values": values})
            }
        };
        record["attributes"] = self.attributes(node)?;
        self.found.insert(path.into(), record);
        let Node::Group(group) = node else { return Ok(()) };
        for link in group.links()? {
            let path = format!("{}/{}", path.trim_end_matches('/'), String::from_utf8_lossy(&link.name));
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            match &link.target {
                Target::Hard(address) => self.see(&self.file.at(*address)?, &path)?,
                Target::Soft(target) => drop(self.found.insert(path, json!({"soft": text(target)}))),
                Target::External { file, path: target } => {
                    self.found.insert(path, json!({"external": [text(file), text(target)]}));
                }
                Target::User { class, .. } => drop(self.found.insert(path, json!({"user": class}))),
            }
        }
        Ok(())
    }

    fn attributes(&self, node: &Node) -> Result<Value> {
        let mut records = BTreeMap::new();
        for attribute in node.attributes()? {
            let attribute = attribute?;
            let kind = kind_of(&attribute.datatype)?;
            let values = written(kind.read_attribute(&attribute)?, self.in_full);
            let record = json!({"kind": kind, "shape": attribute.shape(), "values": values});
            records.insert(attribute.name().into_owned(), record);
        }
        Ok(json!(records))
    }
}

/// The names in the order in which they were made, if that is kept and there are any.
fn order(group: &Group) -> Result<Value> {
    let links = group.links_as_made()?;
    if links.is_empty() || !group.tracks_order()? {
        return Ok(Value::Null);
    }
    Ok(links.iter().map(|link| String::from_utf8_lossy(&link.name).into_owned()).collect())
}

fn limits(extent: &Extent) -> Vec<Option<u64>> {
    extent.max().iter().map(|&limit| (limit != UNLIMITED).then_some(limit)).collect()
}
