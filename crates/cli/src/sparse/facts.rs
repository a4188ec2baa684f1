//! What there is to say of how a sparse dataset is stored, as its header and the index of its chunks tell.

use crate::filter::{self, Filter};
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
}

impl SparseFacts {
    /// Nothing for datasets that are not sparse. An index that cannot be read leaves numbers out; the stored size of the dataset tells why.
    pub(crate) fn of(dataset: &Dataset) -> Option<SparseFacts> {
        if !dataset.is_sparse() {
            return None;
        }
        let of = |section| dataset.section_filters().map_or_else(Vec::new, |filters| Filter::all(filters.of(section)));
        let filters = OfSections { selection: of(0), values: of(1) };
        let stored = dataset.stored_sections().ok().flatten();
        let (elements, defined) = (dataset.extent().elements(), stored.map(|stored| stored.defined));
        let density = defined.zip(elements.filter(|elements| *elements > 0));
        Some(SparseFacts {
            filters,
            stored: stored.map(|stored| OfSections { selection: stored.selection, values: stored.values }),
            defined,
            density: density.map(|(defined, elements)| defined as f64 / elements as f64),
        })
    }

    /// The filters in words: once if they are the same for both sections; nothing if there are none.
    pub(crate) fn filter_words(&self) -> String {
        let [selection, values] = [&self.filters.selection, &self.filters.values].map(|filters| filter::words(filters));
        let said = |words: &str| if words.is_empty() { "none".to_owned() } else { words.to_owned() };
        match selection == values {
            true => values,
            false => format!("selection {}, values {}", said(&selection), said(&values)),
        }
    }

    /// `0.015 %`; nothing if it is not known.
    pub(crate) fn density_words(&self) -> Option<String> {
        self.density.map(|density| percent(100.0 * density))
    }
}

/// With three digits that count.
fn percent(percent: f64) -> String {
    if percent == 0.0 || percent >= 99.95 {
        return format!("{percent:.0} %");
    }
    let digits = (2.0 - percent.log10().floor()).clamp(0.0, 9.0) as usize;
    let text = if percent < 1e-6 { format!("{percent:.2e}") } else { format!("{percent:.digits$}") };
    let short = if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{short} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_short() {
        let shown = [0.0, 100.0, 50.0, 12.345, 0.5, 0.012_345, 0.000_012_345, 9.1e-10].map(percent);
        assert_eq!(shown, ["0 %", "100 %", "50 %", "12.3 %", "0.5 %", "0.0123 %", "0.0000123 %", "9.10e-10 %"]);
    }
}
