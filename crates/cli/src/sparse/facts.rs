//! What there is to say of how a sparse dataset is stored, as its header and the index of its chunks tell.

use crate::filter::{self, Filter};
use crate::text::percent;
use hyperslab::Dataset;
use serde::Serialize;

/// What a sparse dataset has beside chunks and an index. No chunk is read for it.
#[derive(Serialize)]
pub(crate) struct SparseFacts {
    pub(crate) filters: OfSections<Vec<Filter>>,
    /// The stored bytes of each section; nothing if the index cannot be read.
    pub(crate) stored: Option<OfSections<u64>>,
    /// How many elements are defined.
    pub(crate) defined: Option<u64>,
    /// Which part of all elements that is.
    pub(crate) density: Option<f64>,
}

/// Something of each section of a chunk.
#[derive(Serialize)]
pub(crate) struct OfSections<T> {
    /// Of that which tells which elements are defined.
    pub(crate) selection: T,
    /// Of their values.
    pub(crate) values: T,
    /// Of what is of variable length in them, if their type has that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) vlen: Option<T>,
}

impl SparseFacts {
    /// Nothing for datasets that are not sparse. An index that cannot be read leaves numbers out; the stored size of the dataset tells why.
    pub(crate) fn of(dataset: &Dataset) -> Option<SparseFacts> {
        if !dataset.is_sparse() {
            return None;
        }
        let of = |section| dataset.section_filters().map_or_else(Vec::new, |filters| Filter::all(filters.of(section)));
        let has_vlen = dataset.has_vlen_chunks();
        let filters = OfSections { selection: of(0), values: of(1), vlen: has_vlen.then(|| of(2)) };
        let stored = dataset.stored_sections().ok().flatten();
        let (elements, defined) = (dataset.extent().elements(), stored.map(|stored| stored.defined));
        let density = defined.zip(elements.filter(|elements| *elements > 0));
        Some(SparseFacts {
            filters,
            stored: stored.map(|stored| OfSections {
                selection: stored.selection,
                values: stored.values,
                vlen: has_vlen.then_some(stored.vlen),
            }),
            defined,
            density: density.map(|(defined, elements)| defined as f64 / elements as f64),
        })
    }

    /// The filters in words: once if they are the same for all sections; nothing if there are none.
    pub(crate) fn filter_words(&self) -> String {
        let OfSections { selection, values, vlen } = &self.filters;
        let sections = [("selection", Some(selection)), ("values", Some(values)), ("vlen", vlen.as_ref())];
        let words = sections.into_iter().filter_map(|(name, filters)| Some((name, filter::words(filters?))));
        let words: Vec<(&str, String)> = words.collect();
        match words.first() {
            Some((_, first)) if words.iter().all(|(_, others)| others == first) => first.clone(),
            _ => {
                let said = words
                    .iter()
                    .map(|(name, words)| format!("{name} {}", if words.is_empty() { "none" } else { words }));
                said.collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// `0.015 %`; nothing if it is not known.
    pub(crate) fn density_words(&self) -> Option<String> {
        self.density.map(|density| percent(100.0 * density))
    }
}
