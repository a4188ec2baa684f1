//! Values: whole, in part, as stored, converted, and what references among them name.

use hyperslab::{
    Attribute, Dataset, File, Layout,
    dtype::{Arena, Charset, Class, Datatype, Plan, Reference},
    space::{Op, Slab, Space},
};

use crate::walk::Walk;

/// Values and chunks of more bytes than this are not read whole.
const CAP: u64 = 256 << 10;
/// References that are followed.
const REFERENCES: usize = 16;

/// Reads a dataset in every way there is.
pub(crate) fn dataset(walk: &mut Walk, dataset: &Dataset) {
    let element = dataset.datatype().size() as u64;
    if let Ok(Layout::Chunked { chunk, .. }) = dataset.layout() {
        // A chunk is decoded whole, however little of it is wanted.
        if chunk.iter().fold(element, |bytes, size| bytes.saturating_mul(*size)) > CAP {
            return;
        }
    }
    if element > CAP {
        return;
    }
    let all = dataset.space();
    for selection in selections(walk, &all) {
        let Some(stored) = walk.count(dataset.read_stored_selection(&selection)) else { continue };
        references(walk, dataset.file(), dataset.datatype(), &stored);
        for datatype in targets(dataset.datatype()) {
            let count = selection.npoints();
            let size = count.saturating_mul(datatype.size() as u64);
            let (Ok(places), true) = (Space::simple(&[count]), size <= 4 * CAP) else { continue };
            let (mut buf, mut arena) = (vec![0; size as usize], Arena::default());
            walk.count(dataset.read_converted(&selection, &datatype, &places, &mut buf, &mut arena));
        }
    }
}

/// The whole if it is small, else its corners and a coarse grid over it.
fn selections(walk: &mut Walk, all: &Space) -> Vec<Space> {
    let mut found = Vec::new();
    let mut add = |slabs: &[Slab]| {
        let mut part = all.clone();
        if walk.keep(part.select_hyperslab(Op::Set, slabs)).is_some() {
            found.push(part);
        }
    };
    let each = |slab: fn(u64) -> Slab| all.dims().iter().map(|&size| slab(size)).collect::<Vec<_>>();
    if all.rank() > 0 && all.npoints() > 0 {
        add(&each(|size| Slab::block(size / 2, 1)));
        add(&each(|size| Slab::block(size - 1, 1)));
        if all.rank() <= 6 {
            add(&each(|size| Slab::new(0, size.div_ceil(3), size.div_ceil(size.div_ceil(3)), 1)));
        }
    }
    if all.npoints() <= CAP / 8 {
        found.push(all.clone());
    }
    found.retain(|space| space.npoints() <= CAP / 8);
    found
}

/// Converts the values of an attribute.
pub(crate) fn attribute(walk: &mut Walk, file: &File, attribute: &Attribute) {
    references(walk, file, &attribute.datatype, &attribute.data);
    let size = attribute.datatype.size().max(1);
    let count = attribute.data.len() / size;
    for datatype in targets(&attribute.datatype) {
        let Ok(plan) = Plan::new(&attribute.datatype, &datatype) else { continue };
        let room = count.saturating_mul(datatype.size());
        if room as u64 > 4 * CAP {
            continue;
        }
        let (mut buf, mut arena) = (vec![0; room], Arena::default());
        walk.count(plan.convert(count, &attribute.data, &mut buf, &file.heap(), &mut arena));
    }
}

/// What values are converted to: themselves in memory, and whatever else there is a way to.
fn targets(datatype: &Datatype) -> Vec<Datatype> {
    let others =
        [Datatype::of::<f64>(), Datatype::of::<i16>(), Datatype::var_string(Charset::Utf8), Datatype::of::<[f32; 4]>()];
    let in_memory = datatype.in_memory().ok().filter(|datatype| datatype.size() as u64 <= CAP);
    in_memory.into_iter().chain(others.into_iter().filter(|other| Plan::new(datatype, other).is_ok())).collect()
}

/// Opens what the first references name.
fn references(walk: &mut Walk, file: &File, datatype: &Datatype, stored: &[u8]) {
    let Class::Reference(kind) = datatype.class() else { return };
    let width = file.address_width();
    let is_null = |value: &&[u8]| value.iter().all(|&byte| byte == 0);
    for value in stored.chunks_exact(datatype.size().max(1)).filter(|value| !is_null(value)).take(REFERENCES) {
        match kind {
            Reference::Object => drop(walk.keep(file.at(number(value)))),
            Reference::Region => drop(region(walk, file, value, width)),
            Reference::Revised(_) => {
                let place = value.get(6..6 + width + 4).map(|place| place.split_at(width));
                if let Some((address, index)) = place {
                    walk.keep(file.heap().object(number(address), number(index) as u32));
                }
            }
        }
    }
}

fn region(walk: &mut Walk, file: &File, value: &[u8], width: usize) -> Option<()> {
    let (address, index) = (number(value.get(..width)?), number(value.get(width..width + 4)?));
    let object = walk.keep(file.heap().object(address, index as u32))?;
    let (dataset, selection) = object.split_at_checked(width)?;
    let hyperslab::Node::Dataset(dataset) = walk.keep(file.at(number(dataset)))? else { return None };
    let (space, _) = walk.keep(Space::decode_selection(dataset.extent().clone(), selection))?;
    space.bounds();
    if space.npoints() <= CAP / 8
        && dataset.datatype().size() as u64 <= CAP
        && !matches!(dataset.layout(), Ok(Layout::Virtual(_) | Layout::External(_) | Layout::Chunked { .. }))
    {
        walk.count(dataset.read_stored_selection(&space));
    }
    Some(())
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
