//! What Hyperslab says of a file, the same as `making/describe.py` makes of libhdf5's word.

use crate::{datatype_text, hex, unhex, values};
use hyperslab::dtype::Datatype;
use hyperslab::space::{Extent, UNLIMITED};
use hyperslab::{AllocTime, Attribute, CharSet, Dataset, File, FillTime, FillValue, Group, Layout, Link, Node, Target};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::error::Error;

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Record = Map<String, Value>;

/// libhdf5 tells no more parameters of a filter.
const MOST_PARAMS: usize = 256;

/// Every link of a file and what it leads to, in the order of their paths.
///
/// # Errors
/// If a group cannot be read; what is wrong with a single object stands in its record.
pub fn objects(file: &File) -> Result<Vec<Value>> {
    let root = file.root()?;
    let (mut seen, mut found) = (HashSet::from([root.address()]), Vec::new());
    let mut record = common(file, &Node::Group(root.clone()));
    record.extend([("path".into(), hex(b"/").into()), ("target".into(), "group".into())]);
    found.push(record.into());
    members(file, &root, b"", &mut seen, &mut found)?;
    Ok(found)
}

fn members(file: &File, group: &Group, prefix: &[u8], seen: &mut HashSet<u64>, found: &mut Vec<Value>) -> Result<()> {
    for link in group.links()? {
        let path = [prefix, b"/", &link.name].concat();
        let mut record = of_link(&link);
        record.insert("path".into(), hex(&path).into());
        let Target::Hard(address) = link.target else {
            found.push(record.into());
            continue;
        };
        record.insert("address".into(), address.into());
        let mut below = None;
        if !seen.contains(&address) {
            match object(file, address) {
                Ok((node, object)) => {
                    seen.insert(address);
                    record.extend(object);
                    below = Some(node);
                }
                Err(why) => {
                    record.insert("refused".into(), why.to_string().into());
                }
            }
        }
        found.push(record.into());
        if let Some(Node::Group(group)) = below {
            members(file, &group, &path, seen, found)?;
        }
    }
    Ok(())
}

fn of_link(link: &Link) -> Record {
    let mut record = Record::new();
    record.insert("order".into(), json!(link.order));
    record.insert("charset".into(), charset(link.charset));
    let (target, class, value) = match &link.target {
        Target::Hard(_) => ("hard", None, Vec::new()),
        Target::Soft(path) => ("soft", Some(1), path.clone()),
        Target::External { file, path } => ("external", Some(64), [&[0], file.as_slice(), &[0], path].concat()),
        Target::User { class, data } => ("user", Some(*class), data.clone()),
    };
    record.insert("target".into(), target.into());
    if let Some(class) = class {
        record.extend([("class".into(), class.into()), ("value".into(), hex(&value).into())]);
    }
    record
}

fn object(file: &File, address: u64) -> Result<(Node, Record)> {
    let node = file.at(address)?;
    let mut record = common(file, &node);
    record.insert("target".into(), node.kind().into());
    match &node {
        Node::Group(_) => {}
        Node::Datatype(datatype) => {
            record.insert("datatype".into(), datatype_text::describe(&datatype.datatype()?).into());
        }
        Node::Dataset(dataset) => dataset_record(dataset, &mut record)?,
    }
    Ok((node, record))
}

fn common(file: &File, node: &Node) -> Record {
    let mut record = Record::new();
    record.insert("comment".into(), hex(&node.comment().ok().flatten().unwrap_or_default()).into());
    record.insert("attributes".into(), attributes(file, node).unwrap_or_else(|why| why.to_string().into()));
    record
}

fn attributes(file: &File, node: &Node) -> Result<Value> {
    node.attributes()?.into_iter().map(|found| Ok(attribute(file, &found?))).collect()
}

fn attribute(file: &File, attribute: &Attribute) -> Value {
    let mut record = Record::new();
    record.insert("name".into(), hex(&attribute.name).into());
    record.insert("charset".into(), charset(attribute.charset));
    record.insert("order".into(), json!(attribute.order));
    typed(&attribute.datatype, attribute.committed.is_some(), &attribute.extent, &mut record);
    let values = values::encode(file, &attribute.datatype, &attribute.data);
    insert_values(values.map(|values| values::hashed(&values)), &mut record);
    record.into()
}

fn charset(charset: CharSet) -> Value {
    match charset {
        CharSet::Ascii => 0,
        CharSet::Utf8 => 1,
    }
    .into()
}

fn typed(datatype: &Datatype, committed: bool, extent: &Extent, record: &mut Record) {
    record.insert("datatype".into(), datatype_text::describe(datatype).into());
    record.insert("committed".into(), committed.into());
    if extent.is_null() {
        record.insert("dims".into(), Value::Null);
        return;
    }
    record.insert("dims".into(), json!(extent.dims()));
    if extent.rank() > 0 {
        let limits: Vec<_> = extent.max().iter().map(|&limit| (limit != UNLIMITED).then_some(limit)).collect();
        record.insert("limits".into(), json!(limits));
    }
}

fn dataset_record(dataset: &Dataset, record: &mut Record) -> Result<()> {
    typed(dataset.datatype(), dataset.has_committed_datatype(), &dataset.extent(), record);
    let layout = match dataset.layout()? {
        Layout::Compact => "compact",
        Layout::Contiguous => "contiguous",
        Layout::External(_) => "external",
        Layout::Chunked { chunk, index } => {
            record.extend([("chunk".into(), json!(chunk)), ("index".into(), index.into())]);
            "chunked"
        }
        Layout::Virtual(_) => "virtual",
        other => return Err(format!("unknown layout {other:?}").into()),
    };
    record.insert("layout".into(), layout.into());
    let filters = dataset.filters().iter().map(|step| {
        let params: Vec<u32> = step.params.iter().copied().take(MOST_PARAMS).collect();
        json!([step.id, step.flags, params])
    });
    record.insert("filters".into(), filters.collect());
    fill(dataset, record);
    insert_values(values::stored(dataset, &dataset.space()), record);
    Ok(())
}

/// Values, or why there are none.
fn insert_values(values: Result<String>, record: &mut Record) {
    let (key, value) = values.map_or_else(|why| ("refused", why.to_string()), |values| ("values", values));
    record.insert(key.into(), value.into());
}

fn fill(dataset: &Dataset, record: &mut Record) {
    let fill = dataset.fill();
    let word = match &fill.value {
        FillValue::Undefined => "undefined",
        FillValue::Default => "default",
        FillValue::User(bytes) => {
            if !dataset.datatype().has_vlen() && !dataset.datatype().has_reference() {
                record.insert("fill_value".into(), hex(bytes).into());
            }
            "user"
        }
    };
    let alloc = match fill.alloc {
        AllocTime::Default => 0,
        AllocTime::Early => 1,
        AllocTime::Late => 2,
        AllocTime::Incremental => 3,
    };
    let write = match fill.write {
        FillTime::Alloc => 0,
        FillTime::Never => 1,
        FillTime::IfSet => 2,
    };
    record.extend([
        ("fill".into(), word.into()),
        ("alloc_time".into(), alloc.into()),
        ("fill_time".into(), write.into()),
    ]);
}

/// How our records differ from theirs, in words. What libhdf5 itself refuses to read is not compared.
pub fn differences(theirs: &[Value], ours: &[Value]) -> Vec<String> {
    let mut found = Vec::new();
    let mut pairs = theirs.iter().zip(ours);
    for (theirs, ours) in &mut pairs {
        let path = theirs.get("path").and_then(Value::as_str).unwrap_or_default();
        let name = String::from_utf8_lossy(&unhex(path)).into_owned();
        if theirs.get("path") != ours.get("path") {
            found.push(format!("{name}: we see {} there", ours.get("path").unwrap_or(&Value::Null)));
            return found;
        }
        let before = found.len();
        compare(&name, theirs, ours, &mut found);
        if found.len() > before {
            found.push(format!("    {name} is {}", without_attributes(theirs)));
        }
    }
    if theirs.len() != ours.len() {
        found.push(format!("libhdf5 sees {} links, we see {}", theirs.len(), ours.len()));
    }
    found
}

/// A record, short enough to read.
fn without_attributes(record: &Value) -> Value {
    let mut record = record.clone();
    if let Value::Object(record) = &mut record {
        record.remove("attributes");
        record.remove("path");
    }
    record
}

fn compare(name: &str, theirs: &Value, ours: &Value, found: &mut Vec<String>) {
    match (theirs, ours) {
        (Value::Object(theirs), Value::Object(ours)) => {
            let refused = theirs.contains_key("refused");
            if refused && !theirs.contains_key("datatype") {
                return; // libhdf5 could not even open it
            }
            let told =
                |(key, value): &(&String, &Value)| *key != "refused" && (*key != "attributes" || !value.is_null());
            for (key, value) in theirs.iter().filter(told) {
                compare(&format!("{name} {key}"), value, ours.get(key).unwrap_or(&Value::Null), found);
            }
            if let Some(why) = ours.get("refused").filter(|_| !refused) {
                found.push(format!("{name}: refused with {why}"));
            }
        }
        (Value::Array(theirs), Value::Array(ours)) if theirs.len() == ours.len() => {
            for (nth, (theirs, ours)) in theirs.iter().zip(ours).enumerate() {
                compare(&format!("{name} {nth}"), theirs, ours, found);
            }
        }
        _ if theirs != ours => found.push(format!("{name}: libhdf5 has {theirs}, we have {ours}")),
        _ => {}
    }
}
