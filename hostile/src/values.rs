//! Values: whole, in part, as stored, converted, and what references among them name.

use hyperslab::{
    Attribute, Dataset, File, Layout, Values,
    dtype::{Arena, Charset, Class, Datatype, Plan},
    space::{Op, Slab, Space},
};

use crate::Report;

/// Values and chunks of more bytes than this are not read whole.
const CAP: u64 = 256 << 10;
/// References that are followed.
const REFERENCES: usize = 16;
/// Values that are shown.
const VALUES: usize = 64;

/// Whether to read anything of a dataset takes much memory: a dense chunk is decoded whole, however little of it is wanted.
pub(crate) fn is_large(dataset: &Dataset) -> bool {
    let element = dataset.datatype().size() as u64;
    match dataset.layout() {
        Ok(Layout::Chunked { chunk, .. }) if !dataset.is_sparse() => {
            chunk.iter().fold(element, |bytes, size| bytes.saturating_mul(*size)) > CAP
        }
        _ => element > CAP,
    }
}

/// Reads a dataset in every way there is.
pub(crate) fn dataset(report: &mut Report, dataset: &Dataset) {
    let all = dataset.space();
    for selection in selections(report, &all) {
        report.count(dataset.defined(&selection));
        // As they are stored, values say nothing without the chunks that have what is of variable length in them.
        if !dataset.has_vlen_chunks() {
            let Some(stored) = report.count(dataset.read_stored_selection(&selection)) else { continue };
            references(report, &dataset.file(), dataset.datatype(), &stored);
        }
        shown(report, dataset.read_values(&selection));
        for datatype in targets(dataset.datatype()) {
            let count = selection.npoints();
            let size = count.saturating_mul(datatype.size() as u64);
            let (Ok(places), true) = (Space::simple(&[count]), size <= 4 * CAP) else { continue };
            let (mut buf, mut arena) = (vec![0; size as usize], Arena::default());
            report.count(dataset.read_converted(&selection, &datatype, &places, &mut buf, &mut arena));
        }
    }
}

/// The whole if it is small, else its corners and a coarse grid over it.
fn selections(report: &mut Report, all: &Space) -> Vec<Space> {
    let mut found = Vec::new();
    let mut add = |slabs: &[Slab]| {
        let mut part = all.clone();
        if report.keep(part.select_hyperslab(Op::Set, slabs)).is_some() {
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
pub(crate) fn attribute(report: &mut Report, file: &File, attribute: &Attribute) {
    references(report, file, &attribute.datatype, &attribute.data);
    shown(report, attribute.read_values());
    let size = attribute.datatype.size().max(1);
    let count = attribute.data.len() / size;
    for datatype in targets(&attribute.datatype) {
        let Ok(plan) = Plan::new(&attribute.datatype, &datatype) else { continue };
        let room = count.saturating_mul(datatype.size());
        if room as u64 > 4 * CAP {
            continue;
        }
        let (mut buf, mut arena) = (vec![0; room], Arena::default());
        report.count(plan.convert(count, &attribute.data, &mut buf, &file.heap(), &mut arena));
    }
}

/// What values are converted to: themselves in memory, and whatever else there is a way to.
fn targets(datatype: &Datatype) -> Vec<Datatype> {
    let others =
        [Datatype::of::<f64>(), Datatype::of::<i16>(), Datatype::var_string(Charset::Utf8), Datatype::of::<[f32; 4]>()];
    let in_memory = datatype.in_memory().ok().filter(|datatype| datatype.size() as u64 <= CAP);
    in_memory.into_iter().chain(others.into_iter().filter(|other| Plan::new(datatype, other).is_ok())).collect()
}

/// Follows the first references.
fn references(report: &mut Report, file: &File, datatype: &Datatype, stored: &[u8]) {
    if matches!(datatype.class(), Class::Reference(_)) {
        for value in stored.chunks_exact(datatype.size().max(1)).take(REFERENCES) {
            report.keep(file.dereference(datatype, value));
        }
    }
}

/// Makes values of any type, and shows them.
fn shown(report: &mut Report, values: hyperslab::Result<Values<'_>>) {
    for value in report.keep(values).into_iter().flatten().take(VALUES) {
        report.keep(value.map(|value| value.to_string()));
    }
}
