//! What there is to say of a file, gathered once for both kinds of output.

use crate::failure::Failure;
use crate::sparse::SparseFacts;
use crate::text::lossy;
use hyperslab::check::Report;
use hyperslab::{Dataset, File, Layout, Node};
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::Path;

#[derive(Serialize)]
pub(crate) struct Record {
    pub(crate) file: String,
    pub(crate) size: u64,
    pub(crate) superblock: u8,
    /// Object headers of version 1 and 2.
    pub(crate) headers: [u64; 2],
    pub(crate) objects: Objects,
    pub(crate) space: Space,
    pub(crate) bytes: Bytes,
    /// The most bytes first.
    pub(crate) blocks: Vec<Blocks>,
    /// The most stored bytes first.
    pub(crate) datasets: Vec<DatasetRecord>,
    /// What could not be counted, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unread: Vec<Unread>,
}

#[derive(Serialize)]
pub(crate) struct Unread {
    pub(crate) path: String,
    pub(crate) why: String,
}

#[derive(Serialize)]
pub(crate) struct Objects {
    pub(crate) groups: u64,
    pub(crate) datasets: u64,
    pub(crate) datatypes: u64,
    pub(crate) links: u64,
}

#[derive(Serialize)]
pub(crate) struct Space {
    pub(crate) strategy: &'static str,
    pub(crate) persists: bool,
    pub(crate) page: Option<u64>,
}

#[derive(Serialize)]
pub(crate) struct Bytes {
    pub(crate) user_block: u64,
    pub(crate) metadata: u64,
    pub(crate) values: u64,
    pub(crate) free: u64,
    pub(crate) lost: u64,
}

#[derive(Serialize)]
pub(crate) struct Blocks {
    pub(crate) what: &'static str,
    pub(crate) values: bool,
    pub(crate) blocks: u64,
    pub(crate) bytes: u64,
}

#[derive(Serialize)]
pub(crate) struct DatasetRecord {
    pub(crate) path: String,
    /// What its values take without filters; nothing if 64 bits do not hold the number.
    pub(crate) bytes: Option<u64>,
    /// What they take as stored.
    pub(crate) stored: u64,
    pub(crate) chunks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sparse: Option<SparseRecord>,
}

/// How a sparse dataset is stored.
#[derive(Serialize)]
pub(crate) struct SparseRecord {
    pub(crate) chunk: Vec<u64>,
    /// How chunks are found.
    pub(crate) index: &'static str,
    #[serde(flatten)]
    pub(crate) facts: SparseFacts,
}

impl Record {
    pub(crate) fn new(path: &Path, file: &File, report: &Report) -> Result<Record, Failure> {
        let all = |values: bool| {
            let kinds = report.usage.iter().filter(|usage| usage.values == values);
            kinds.map(|usage| usage.bytes).sum()
        };
        let mut blocks: Vec<Blocks> = report
            .usage
            .iter()
            .map(|usage| Blocks { what: usage.what, values: usage.values, blocks: usage.blocks, bytes: usage.bytes })
            .collect();
        blocks.sort_by_key(|kind| std::cmp::Reverse(kind.bytes));
        let (mut datasets, unread) = datasets(file)?;
        datasets.sort_by_key(|dataset| std::cmp::Reverse((dataset.stored, dataset.bytes)));
        Ok(Record {
            file: path.display().to_string(),
            size: report.size,
            superblock: report.superblock,
            headers: report.headers,
            objects: Objects {
                groups: report.groups,
                datasets: report.datasets,
                datatypes: report.datatypes,
                links: report.links,
            },
            space: Space { strategy: report.space.strategy, persists: report.space.persists, page: report.space.page },
            bytes: Bytes {
                user_block: file.user_block(),
                metadata: all(false),
                values: all(true),
                free: report.free,
                lost: report.lost,
            },
            blocks,
            datasets,
            unread,
        })
    }
}

fn datasets(file: &File) -> Result<(Vec<DatasetRecord>, Vec<Unread>), Failure> {
    let (mut datasets, mut unread) = (Vec::new(), Vec::new());
    file.root()?.visit(|path, node| {
        let path = format!("/{}", lossy(path));
        match node.and_then(|node| record(&path, node)) {
            Ok(record) => datasets.extend(record),
            Err(why) => unread.push(Unread { path, why: why.to_string() }),
        }
        ControlFlow::<()>::Continue(())
    })?;
    Ok((datasets, unread))
}

/// What there is to say of a dataset.
fn record(path: &str, node: Node) -> hyperslab::Result<Option<DatasetRecord>> {
    let Node::Dataset(dataset) = node else { return Ok(None) };
    let stored = dataset.stored_size()?;
    Ok(Some(DatasetRecord {
        path: path.to_owned(),
        bytes: dataset.extent().bytes(dataset.datatype().size() as u64),
        stored: stored.bytes,
        chunks: stored.chunks,
        sparse: sparse(&dataset)?,
    }))
}

fn sparse(dataset: &Dataset) -> hyperslab::Result<Option<SparseRecord>> {
    let record = |facts| match dataset.layout()? {
        Layout::Chunked { chunk, index } => Ok(Some(SparseRecord { chunk, index, facts })),
        _ => Ok(None),
    };
    SparseFacts::of(dataset).map_or(Ok(None), record)
}
