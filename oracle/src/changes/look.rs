//! What Hyperslab sees in a file, told as the model tells it.

use super::{Kind, model::written, ours::kind_of};
use hyperslab::space::{Extent, UNLIMITED};
use hyperslab::{File, Group, Node, Result, Target};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// Every link of a file and what it leads to, by path; `in_full` as in [`Model::look`](super::Model::look).
///
/// # Errors
/// If anything of it cannot be read.
pub fn look(file: &File, in_full: bool) -> Result<BTreeMap<String, Value>> {
    let (mut names, seen, found) = (HashMap::new(), HashMap::new(), BTreeMap::new());
    name(file, &file.root()?, "/", &mut names)?;
    let mut looking = Looking { file, in_full, names, seen, found };
    looking.see(&Node::Group(file.root()?), "/")?;
    Ok(looking.found)
}

struct Looking<'a> {
    file: &'a File,
    in_full: bool,
    /// The first name of every object.
    names: HashMap<u64, String>,
    seen: HashMap<u64, String>,
    found: BTreeMap<String, Value>,
}

fn name(file: &File, group: &Group, path: &str, names: &mut HashMap<u64, String>) -> Result<()> {
    names.insert(group.address(), path.into());
    for link in group.links()? {
        let Target::Hard(address) = link.target else { continue };
        if names.contains_key(&address) {
            continue;
        }
        let path = format!("{}/{}", path.trim_end_matches('/'), String::from_utf8_lossy(&link.name));
        match file.at(address)? {
            Node::Group(group) => name(file, &group, &path, names)?,
            _ => drop(names.insert(address, path)),
        }
    }
    Ok(())
}

impl Looking<'_> {
    /// Values as JSON, where references are names.
    fn told(&self, kind: Kind, values: Vec<Value>) -> Value {
        let name = |value: Value| match value.as_u64() {
            Some(0) | None => Value::Null,
            Some(address) => self.names.get(&address).map_or_else(|| value, |name| name.clone().into()),
        };
        let refers = kind == Kind::Reference;
        written(if refers { values.into_iter().map(name).collect() } else { values }, self.in_full)
    }

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
                let values = self.told(kind, kind.read(dataset)?);
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
            let values = self.told(kind, kind.read_attribute(&attribute)?);
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
