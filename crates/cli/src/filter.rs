//! Filters of chunks as people and programs see them.

use crate::escape::printable;
use crate::text::lossy;
use hyperslab::FilterStep;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct Filter {
    pub(crate) id: u16,
    pub(crate) name: String,
    pub(crate) parameters: Vec<u32>,
}

impl Filter {
    /// The filters of a pipeline, in the order in which they are applied when writing.
    pub(crate) fn all(steps: &[FilterStep]) -> Vec<Filter> {
        steps.iter().map(Filter::from).collect()
    }
}

impl From<&FilterStep> for Filter {
    fn from(step: &FilterStep) -> Filter {
        let known = hyperslab::filter::known_name(step.id).map(str::to_owned);
        let name = known.unwrap_or_else(|| match step.name.as_slice() {
            [] => format!("filter {}", step.id),
            name => lossy(name),
        });
        Filter { id: step.id, name, parameters: step.params.clone() }
    }
}

/// `shuffle+deflate 6`: filters with their levels, where they have one.
pub(crate) fn words(filters: &[Filter]) -> String {
    filters.iter().map(word).collect::<Vec<_>>().join("+")
}

fn word(filter: &Filter) -> String {
    match (filter.id, filter.parameters.first()) {
        (1 | 32015, Some(level)) => format!("{} {level}", printable(filter.name.as_bytes())),
        _ => printable(filter.name.as_bytes()),
    }
}
