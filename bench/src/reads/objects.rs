//! Objects and strings: walks, and one dataset among many.

use super::{Value, file};
use crate::clock::{Times, side_by_side};
use crate::libhdf5::{Hdf5, Visit};
use anyhow::{Result, ensure};
use hyperslab::{
    File, Group, Node, Target,
    dtype::{Arena, Datatype},
    space::Space,
};
use std::path::Path;

/// Every object opened: kind, shape, type and the value of an attribute; from opening the file on.
pub(super) fn tree(hdf5: &Hdf5, name: &str) -> Result<(Times, Times)> {
    let name = file(name)?;
    let (ours, theirs) = (our_walk(&name)?, hdf5.open(&name)?.walk()?);
    ensure!(ours == theirs, "{ours:?} on our side, {theirs:?} on theirs");
    side_by_side(|| our_walk(&name), || hdf5.open(&name)?.walk())
}

fn our_walk(name: &Path) -> Result<Visit> {
    let file = File::open(name)?;
    let mut visit = Visit::default();
    walk_group(&file, &file.root()?, &mut visit)?;
    Ok(visit)
}

fn walk_group(file: &File, group: &Group, visit: &mut Visit) -> Result<()> {
    visit.groups += 1;
    for link in group.links()? {
        let Target::Hard(address) = link.target else { continue };
        let node = file.at(address)?;
        match &node {
            Node::Group(group) => walk_group(file, group, visit)?,
            Node::Dataset(dataset) => {
                visit.datasets += 1;
                visit.elements += dataset.shape().iter().product::<u64>();
                visit.bytes += dataset.datatype().size() as u64;
                visit.sum += dataset.attribute("scale")?.read_scalar::<f64>()?;
            }
            Node::Datatype(_) => {}
        }
    }
    Ok(())
}

/// One dataset three groups deep; from opening the file on.
pub(super) fn one(hdf5: &Hdf5, name: &str) -> Result<(Times, Times)> {
    const PATH: &str = "a/b/c/wanted";
    let name = file(name)?;
    let count = File::open(&name)?.dataset(PATH)?.space().npoints();
    let mut values = vec![0f32; usize::try_from(count)?];
    hdf5.open(&name)?.dataset(PATH)?.read(f32::MEMORY, None, &mut values)?;
    let bytes = File::open(&name)?.dataset(PATH)?.read_stored()?;
    ensure!(bytes.into_iter().eq(f32::bytes(&values)), "the two sides read different values");
    let mut bytes = vec![0; values.len() * 4];
    let (datatype, places) = (Datatype::of::<f32>(), Space::simple(&[count])?);
    let ours = || {
        let dataset = File::open(&name)?.dataset(PATH)?;
        Ok(dataset.read_converted(&dataset.space(), &datatype, &places, &mut bytes, &mut Arena::default())?)
    };
    side_by_side(ours, || hdf5.open(&name)?.dataset(PATH)?.read(f32::MEMORY, None, &mut values))
}

/// All strings, each on its own; from opening the file on.
pub(super) fn strings(hdf5: &Hdf5) -> Result<(Times, Times)> {
    let name = file("strings.h5")?;
    let ours = || Ok(File::open(&name)?.dataset("data")?.read::<String>()?);
    let theirs = || hdf5.open(&name)?.dataset("data")?.strings();
    ensure!(
        ours()?.iter().map(String::len).sum::<usize>() == theirs()?.bytes(),
        "the two sides read different strings"
    );
    side_by_side(ours, theirs)
}

/// The same, all in one buffer on our side.
pub(super) fn strings_together(hdf5: &Hdf5) -> Result<(Times, Times)> {
    let name = file("strings.h5")?;
    let theirs = || hdf5.open(&name)?.dataset("data")?.strings();
    ensure!(our_strings(&name)?.1.bytes().len() == theirs()?.bytes(), "the two sides read different strings");
    side_by_side(|| our_strings(&name), theirs)
}

fn our_strings(name: &Path) -> Result<(Vec<u8>, Arena)> {
    let dataset = File::open(name)?.dataset("data")?;
    let (space, datatype) = (dataset.space(), dataset.datatype().in_memory()?);
    let mut references = vec![0; usize::try_from(space.npoints())? * datatype.size()];
    let mut arena = Arena::default();
    dataset.read_converted(&space, &datatype, &space, &mut references, &mut arena)?;
    Ok((references, arena))
}
