//! What a listing says of an entry, gathered once for both kinds of output.

use crate::attributes::{self, AttributeRecord};
use crate::filter::Filter;
use crate::names::Names;
use crate::sparse::SparseFacts;
use crate::text::{dims, lossy};
use crate::walk::{Entry, Met};
use hyperslab::space::UNLIMITED;
use hyperslab::{Dataset, Layout, Node};
use serde::Serialize;

/// A line of the listing. Names are text here; what is no text in them is replaced.
#[derive(Serialize)]
pub(crate) struct Record {
    pub(crate) path: String,
    pub(crate) kind: &'static str,
    /// The file of an external link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// Where a link leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
    /// Whether a soft link leads nowhere.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) dangling: bool,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) datatype: Option<String>,
    #[serde(flatten)]
    pub(crate) dataset: Option<Facts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attributes: Option<Vec<AttributeRecord>>,
    /// What could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) errors: Vec<String>,
}

/// What there is to say of a dataset.
#[derive(Serialize)]
pub(crate) struct Facts {
    /// None for a dataset without any place for elements.
    pub(crate) shape: Option<Vec<u64>>,
    /// What the shape may grow to, without limit where there is no number.
    pub(crate) max: Option<Vec<Option<u64>>>,
    pub(crate) layout: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chunk: Option<Vec<u64>>,
    /// How chunks are found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<&'static str>,
    /// The external files, or those with the sources of a virtual dataset.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sources: Vec<String>,
    pub(crate) filters: Vec<Filter>,
    /// What only sparse datasets have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sparse: Option<SparseFacts>,
    /// What the values take without filters; nothing if 64 bits do not hold the number.
    pub(crate) bytes: Option<u64>,
    /// What they take as stored.
    pub(crate) stored: Option<u64>,
    /// How many chunks are stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chunks: Option<u64>,
}

impl Record {
    pub(crate) fn new(entry: &Entry, names: &Names, with_attributes: bool) -> Record {
        let mut record = Record {
            path: lossy(&entry.path),
            kind: "error",
            file: None,
            target: None,
            dangling: false,
            datatype: None,
            dataset: None,
            attributes: None,
            errors: Vec::new(),
        };
        match &entry.met {
            Met::Object(node) => record.object(node, names, with_attributes),
            Met::Again(first) => (record.kind, record.target) = ("hard link", Some(lossy(first))),
            Met::Soft(target, leads) => {
                (record.kind, record.target, record.dangling) = ("soft link", Some(lossy(target)), !leads);
            }
            Met::External { file, path } => {
                (record.kind, record.file, record.target) = ("external link", Some(lossy(file)), Some(lossy(path)));
            }
            Met::User(class) => (record.kind, record.target) = ("user link", Some(format!("class {class}"))),
            Met::Broken(why) => record.errors.push(why.to_string()),
        }
        record
    }

    fn object(&mut self, node: &Node, names: &Names, with_attributes: bool) {
        self.kind = node.kind();
        match node {
            Node::Group(_) => {}
            Node::Dataset(dataset) => {
                self.datatype = Some(dataset.datatype().to_string());
                self.dataset = Some(Facts::new(dataset, &mut self.errors));
            }
            Node::Datatype(named) => match named.datatype() {
                Ok(datatype) => self.datatype = Some(datatype.to_string()),
                Err(why) => self.errors.push(why.to_string()),
            },
        }
        if with_attributes {
            self.attributes = Some(attributes::records(node, names, &mut self.errors));
        }
    }
}

impl Facts {
    fn new(dataset: &Dataset, errors: &mut Vec<String>) -> Facts {
        let extent = dataset.extent();
        let mut note = |why: hyperslab::Error| errors.push(why.to_string());
        let limit = |&max: &u64| (max != UNLIMITED).then_some(max);
        let max = (extent.max() != extent.dims()).then(|| extent.max().iter().map(limit).collect());
        let stored = dataset.stored_size().map_err(&mut note).ok();
        let mut facts = Facts {
            shape: dims(&extent),
            max,
            layout: "unknown",
            chunk: None,
            index: None,
            sources: Vec::new(),
            filters: Filter::all(dataset.filters()),
            sparse: SparseFacts::of(dataset),
            bytes: extent.bytes(dataset.datatype().size() as u64),
            stored: stored.map(|stored| stored.bytes),
            chunks: stored.and_then(|stored| stored.chunks),
        };
        match dataset.layout() {
            Ok(Layout::Compact) => facts.layout = "compact",
            Ok(Layout::Contiguous) => facts.layout = "contiguous",
            Ok(Layout::External(files)) => {
                facts.layout = "external";
                facts.sources = files.iter().map(|(name, ..)| lossy(name)).collect();
            }
            Ok(Layout::Chunked { chunk, index }) => {
                let layout = if dataset.is_sparse() { "sparse" } else { "chunked" };
                (facts.layout, facts.chunk, facts.index) = (layout, Some(chunk), Some(index));
            }
            Ok(Layout::Virtual(sources)) => {
                facts.layout = "virtual";
                facts.sources = sources.iter().map(|(file, path)| format!("{}:{}", lossy(file), lossy(path))).collect();
            }
            Ok(_) => {}
            Err(why) => note(why),
        }
        facts
    }
}
