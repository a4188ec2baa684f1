//! Operations, done by Hyperslab.

use super::operation::referred;
use super::{Kind, NewDataset, Operation, Picked, Setup, Storage, numbers};
use hyperslab::dtype::Datatype;
use hyperslab::{AllocTime, Error, File, FillTime, LibVersion, NamedDatatype, Node, OpenOptions, Result};
use hyperslab_space::{Op, Slab, Space};
use std::path::Path;

/// Lower version bounds, with the names that h5py has for them.
pub const LOWS: [(LibVersion, &str); 6] = [
    (LibVersion::Earliest, "earliest"),
    (LibVersion::V18, "v108"),
    (LibVersion::V110, "v110"),
    (LibVersion::V112, "v112"),
    (LibVersion::V114, "v114"),
    (LibVersion::V200, "latest"),
];

/// Opens a file for changes, or makes it.
///
/// # Errors
/// If Hyperslab does not.
pub fn open(path: &Path, low: LibVersion, new: Option<Setup>) -> Result<File> {
    let options = OpenOptions::new().read_write().libver_min(low);
    // So that every second version is tried with objects that are read anew each time.
    let evicts = matches!(low, LibVersion::V18 | LibVersion::V112 | LibVersion::V200);
    let options = if evicts { options.evict_on_close() } else { options };
    let Some(setup) = new else { return options.open(path) };
    options.create().truncate().user_block(setup.user_block).track_order(setup.ordered).open(path)
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
        Operation::Write { path, picked, seed, targets } => {
            let dataset = file.dataset(path)?;
            let kind = kind_of(dataset.datatype())?;
            let places = selection(dataset.space(), picked)?;
            kind.write(&dataset, &places, &values(file, kind, *seed, places.npoints(), targets)?)
        }
        Operation::Resize { path, shape } => file.dataset(path)?.resize(shape),
        Operation::Attribute { path, name, kind, committed, shape, seed, targets } => {
            let mut new = file.get(path)?.new_attribute_of(kind.datatype()?).shape(shape);
            if let Some(datatype) = named(file, committed.as_deref())? {
                new = new.committed(&datatype);
            }
            kind.write_attribute(new, name, &values(file, *kind, *seed, shape.iter().product(), targets)?)
        }
        Operation::Unset { path, name } => file.get(path)?.remove_attribute(name),
        Operation::Call { path, from, to } => file.get(path)?.rename_attribute(from, to),
        Operation::Hard { path, target } => root.hard_link(path, &root.get(target)?),
        Operation::Soft { path, target } => root.soft_link(path, target),
        Operation::External { path, file, target } => root.external_link(path, file, target),
        Operation::Move { from, to } => root.rename(from, to),
        Operation::Copy { from, to } => root.copy(from, &root, to).map(drop),
        Operation::Delete { path } => root.delete(path),
        Operation::Flush => file.flush(),
    }
}

pub(super) fn kind_of(datatype: &Datatype) -> Result<Kind> {
    Kind::of(datatype).ok_or_else(|| Error::Change(format!("{datatype:?} is no type of these programs")))
}

/// The numbers of values; of references, the addresses.
fn values(file: &File, kind: Kind, seed: u64, count: u64, targets: &[String]) -> Result<Vec<u64>> {
    let numbers = numbers(seed, count);
    if kind != Kind::Reference {
        return Ok(numbers);
    }
    let addresses = targets.iter().map(|path| Ok(file.get(path)?.address())).collect::<Result<Vec<u64>>>()?;
    Ok(numbers.into_iter().map(|number| referred(&addresses, number).copied().unwrap_or(0)).collect())
}

fn named(file: &File, path: Option<&str>) -> Result<Option<NamedDatatype>> {
    let Some(path) = path else { return Ok(None) };
    match file.get(path)? {
        Node::Datatype(datatype) => Ok(Some(datatype)),
        _ => Err(Error::Change(format!("{path} is no datatype"))),
    }
}

fn dataset(file: &File, new: &NewDataset) -> Result<()> {
    let wanted = file.root()?.new_dataset_of(new.kind.datatype()?).shape(&new.shape);
    let mut wanted = match &new.storage {
        Storage::Compact => wanted.compact(),
        Storage::Contiguous => wanted.contiguous().fill_time(FillTime::Alloc),
        Storage::Chunks(chunk) => wanted.chunks(chunk),
    };
    if let Some(datatype) = named(file, new.committed.as_deref())? {
        wanted = wanted.committed(&datatype);
    }
    for filter in &new.filters {
        wanted = match *filter {
            "shuffle" => wanted.shuffle(),
            "deflate" => wanted.deflate(1),
            "fletcher32" => wanted.fletcher32(),
            "lzf" => wanted.lzf(),
            "scaleoffset" => wanted.scaleoffset(0),
            "szip" => wanted.szip(true, 4),
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
        Some(seed) => {
            let values = values(file, new.kind, seed, new.shape.iter().product(), &new.targets)?;
            new.kind.create(wanted, &new.path, &values).map(drop)
        }
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
