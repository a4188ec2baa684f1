//! Changes of all kinds to a file that may be spoiled: attributes, links, values, sizes, copies and deletions, with flushes in between.

use std::{collections::HashSet, sync::Arc};

use fastrand::Rng;
use hyperslab::{
    Dataset, Error, File, Group, Node, OpenOptions, Result, Target,
    driver::{Driver, Memory, Transfer},
    space::{Op, Slab},
};

use crate::{Report, values};

/// Objects that changes go to.
const OBJECTS: usize = 24;
/// Changes of one file.
const CHANGES: usize = 16;
/// Links and attributes that one is chosen from.
const NAMES: usize = 50;
/// Values that are made whole.
const VALUES: u64 = 1 << 14;

/// Opens a file in memory for changes, changes it here and there, and closes it. Also what the storage has then.
///
/// ```
/// let (report, _) = hyperslab_hostile::edit(b"no HDF5 file at all".to_vec(), &mut fastrand::Rng::with_seed(1));
/// assert_eq!(report.errors.len(), 1);
/// ```
pub fn edit(bytes: Vec<u8>, rng: &mut Rng) -> (Report, Vec<u8>) {
    let (storage, mut report) = (Arc::new(Memory::from(bytes)), Report::default());
    let opened = OpenOptions::new().read_write().unlocked().open_on(storage.clone());
    let closed = opened.and_then(|file| {
        change(&file, rng, &mut report)?;
        file.close()
    });
    report.errors.extend(closed.err());
    let mut bytes = vec![0; storage.len(&Transfer::default()).unwrap_or(0) as usize];
    let read = storage.read_at(0, &mut bytes, &Transfer::default());
    report.errors.extend(read.err().map(Error::from));
    (report, bytes)
}

fn change(file: &File, rng: &mut Rng, report: &mut Report) -> Result<()> {
    let nodes = nodes(file)?;
    report.objects = nodes.len();
    for nth in 0..CHANGES {
        let Some(node) = nodes.get(rng.usize(..nodes.len().max(1))) else { break };
        match one(file, node, nth, rng) {
            Ok(()) => report.reads += 1,
            Err(why) => report.errors.push(why),
        }
    }
    Ok(())
}

/// The first objects that hard links lead to.
fn nodes(file: &File) -> Result<Vec<Node>> {
    let root = Node::Group(file.root()?);
    let (mut seen, mut found, mut at) = (HashSet::from([root.address()]), vec![root], 0);
    while let Some(node) = found.get(at).cloned() {
        at += 1;
        let Node::Group(group) = node else { continue };
        for link in group.links().unwrap_or_default().into_iter().take(NAMES) {
            if let Target::Hard(address) = link.target
                && found.len() < OBJECTS
                && seen.insert(address)
                && let Ok(node) = file.at(address)
            {
                found.push(node);
            }
        }
    }
    Ok(found)
}

fn one(file: &File, node: &Node, nth: usize, rng: &mut Rng) -> Result<()> {
    match (rng.u8(..10), node) {
        (0, _) => file.flush(),
        (1, _) => node.set_attribute_values(format!("new {nth}"), &vec![nth as i32; rng.usize(1..400)]),
        (2, _) => node.set_attribute("text", "t".repeat(rng.usize(1..3000))),
        (3, _) => match name_of_attribute(node, rng) {
            Some(name) if rng.bool() => node.remove_attribute(name),
            Some(name) => node.rename_attribute(name, format!("renamed {nth}")),
            None => Ok(()),
        },
        (4, _) => node.copy_to(&file.root()?, format!("copy {nth}")).map(drop),
        (_, Node::Group(group)) => links(group, nth, rng),
        (_, Node::Dataset(dataset)) => numbers(dataset, rng),
        (_, Node::Datatype(_)) => file.root()?.hard_link(format!("type {nth}"), node),
    }
}

fn name_of_attribute(node: &Node, rng: &mut Rng) -> Option<String> {
    let attributes = node.attributes().ok()?;
    let names: Vec<_> = attributes.into_iter().take(NAMES).flatten().map(|one| one.name().into_owned()).collect();
    names.get(rng.usize(..names.len().max(1))).cloned()
}

fn links(group: &Group, nth: usize, rng: &mut Rng) -> Result<()> {
    let links = group.links()?;
    let old = links.get(rng.usize(..links.len().clamp(1, NAMES))).map(|link| link.name.clone());
    let new = format!("new {nth}");
    match (rng.u8(..7), old) {
        (0, _) => group.create_group(new).map(drop),
        (1, _) => group.soft_link(new, "/somewhere"),
        (2, _) => group.new_dataset::<i32>().chunks([2]).deflate(1).write(new, &[1, 2, 3]).map(drop),
        (3, _) => group.new_dataset::<String>().write(new, &["a".to_owned(), "b".repeat(300)]).map(drop),
        (4 | 5, Some(old)) => group.delete(old),
        (_, Some(old)) => group.rename(old, new),
        (_, None) => Ok(()),
    }
}

fn numbers(dataset: &Dataset, rng: &mut Rng) -> Result<()> {
    let shape = dataset.shape();
    let is_many = |shape: &[u64]| shape.iter().fold(1u64, |count, size| count.saturating_mul(*size)) > VALUES;
    // What does not fit into memory is the caller's wish, not the file's harm.
    if values::is_large(dataset) || is_many(&shape) {
        return Ok(());
    }
    if rng.u8(..3) == 0 {
        let other: Vec<u64> = shape.iter().map(|size| (size + rng.u64(..4)).saturating_sub(rng.u64(..6))).collect();
        return if is_many(&other) { Ok(()) } else { dataset.resize(other) };
    }
    let mut places = dataset.space();
    let slab = |size: &u64| Slab::block(rng.u64(..(*size).max(1)), 1);
    let slabs: Vec<Slab> = shape.iter().map(slab).collect();
    if rng.bool() && !slabs.is_empty() {
        places.select_hyperslab(Op::Set, &slabs)?;
    }
    if dataset.is_sparse() && rng.bool() {
        return dataset.erase(&places);
    }
    let count = places.npoints() as usize;
    match dataset.write_selection(&places, &vec![7i32; count]) {
        Err(_) => dataset.write_selection(&places, &vec!["seven".to_owned(); count]),
        done => done,
    }
}
