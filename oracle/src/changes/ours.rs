//! Operations, done by Hyperslab.

use super::{NewDataset, Operation, Picked, Storage, numbers};
use hyperslab::dtype::Datatype;
use hyperslab::{AllocTime, Error, File, FillTime, Low, Node, OpenOptions, Result};
use hyperslab_space::{Op, Slab, Space};
use std::path::Path;

/// Lower version bounds, with the names that h5py has for them.
pub const LOWS: [(Low, &str); 6] = [
    (Low::Earliest, "earliest"),
    (Low::V18, "v108"),
    (Low::V110, "v110"),
    (Low::V112, "v112"),
    (Low::V114, "v114"),
    (Low::V200, "latest"),
];

/// Opens a file for changes, or makes it.
///
/// # Errors
/// If Hyperslab does not.
pub fn open(path: &Path, low: Low, new: bool) -> Result<File> {
    let options = OpenOptions::new().read_write().low(low);
    let options = if new { options.create().truncate() } else { options };
    options.open(path)
}

/// Does an operation.
///
/// # Errors
/// If Hyperslab refuses it.
pub fn perform(file: &File, operation: &Operation) -> Result<()> {
    let root = file.root()?;
    match operation {
        Operation::Group { path, ordered } => root.new_group().track_order(*ordered).create(path).map(drop),
        Operation::Dataset(new) => dataset(file, new),
        Operation::Commit { path, kind } => root.commit_datatype(path, &kind.datatype()?).map(drop),
        Operation::Write { path, picked, seed } => {
            let dataset = file.dataset(path)?;
            let kind = kind_of(dataset.datatype())?;
            let places = selection(dataset.space(), picked)?;
            kind.write(&dataset, &places, &numbers(*seed, places.npoints()))
        }
        Operation::Resize { path, shape } => file.dataset(path)?.resize(shape),
        Operation::Attribute { path, name, kind, shape, seed } => {
            let new = file.get(path)?.new_attribute_of(kind.datatype()?).shape(shape);
            kind.write_attribute(new, name, &numbers(*seed, shape.iter().product()))
        }
        Operation::Unset { path, name } => file.get(path)?.remove_attribute(name),
        Operation::Call { path, from, to } => file.get(path)?.rename_attribute(from, to),
        Operation::Hard { path, target } => root.hard_link(path, &root.get(target)?),
        Operation::Soft { path, target } => root.soft_link(path, target),
        Operation::External { path, file, target } => root.external_link(path, file, target),
        Operation::Move { from, to } => root.rename(from, to),
        Operation::Delete { path } => root.delete(path),
        Operation::Flush => file.flush(),
    }
}

pub(super) fn kind_of(datatype: &Datatype) -> Result<super::Kind> {
    super::Kind::of(datatype).ok_or_else(|| Error::Change(format!("{datatype:?} is no type of these programs")))
}

fn dataset(file: &File, new: &NewDataset) -> Result<()> {
    let wanted = file.root()?.new_dataset_of(new.kind.datatype()?).shape(&new.shape);
    let mut wanted = match &new.storage {
        Storage::Compact => wanted.compact(),
        Storage::Contiguous => wanted.contiguous().fill_time(FillTime::Alloc),
        Storage::Chunks(chunk) => wanted.chunks(chunk),
    };
    if let Some(path) = &new.committed {
        wanted = match file.get(path)? {
            Node::Datatype(datatype) => wanted.committed(&datatype),
            _ => wanted,
        };
    }
    for filter in &new.filters {
        wanted = match *filter {
            "shuffle" => wanted.shuffle(),
            "deflate" => wanted.deflate(1),
            "fletcher32" => wanted.fletcher32(),
            "lzf" => wanted.lzf(),
            "scaleoffset" => wanted.scaleoffset(0),
            _ => wanted.nbit(),
        };
    }
    if let Some(max) = &new.max {
        wanted = wanted.max_shape(max);
    }
    if let Some(number) = new.fill {
        wanted = new.kind.fill(wanted, number);
    }
    if new.early {
        wanted = wanted.alloc_time(AllocTime::Early);
    }
    match new.seed {
        None => wanted.create(&new.path).map(drop),
        Some(seed) => new.kind.create(wanted, &new.path, &numbers(seed, new.shape.iter().product())).map(drop),
    }
}

fn selection(mut space: Space, picked: &Picked) -> Result<Space> {
    let slabs: Vec<_> = picked.slabs.iter().map(|&(start, count, step)| Slab::new(start, step, count, 1)).collect();
    let Some(rows) = &picked.rows else {
        if !slabs.is_empty() {
            space.select_hyperslab(Op::Set, &slabs)?;
        }
        return Ok(space);
    };
    space.select_none();
    for &row in rows {
        let mut slabs = slabs.clone();
        if let Some(first) = slabs.first_mut() {
            *first = Slab::new(row, 1, 1, 1);
        }
        space.select_hyperslab(Op::Or, &slabs)?;
    }
    Ok(space)
}
