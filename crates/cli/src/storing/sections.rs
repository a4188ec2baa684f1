//! Filters of the sections of sparse chunks in words: `selection=delta+shuffle+gzip:9`.

use super::{Filters, For, WordError};
use hyperslab::{ChunkSection, NewDataset};
use std::collections::BTreeMap;
use std::str::FromStr;

/// The filters of one section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SectionFilters {
    pub(super) section: ChunkSection,
    pub(super) filters: Filters,
}

impl SectionFilters {
    /// The filters of one section; no dataset is named.
    pub(crate) fn parse(text: &str) -> Result<SectionFilters, WordError> {
        let (section, filters) = text.split_once('=').ok_or_else(|| WordError::Section(text.into()))?;
        SectionFilters::of(section, filters)
    }

    fn of(section: &str, filters: &str) -> Result<SectionFilters, WordError> {
        let section = match section {
            "selection" => ChunkSection::Selection,
            "values" | "data" => ChunkSection::Values,
            "vlen" => ChunkSection::Vlen,
            _ => return Err(WordError::Section(section.into())),
        };
        let filters = match section {
            ChunkSection::Selection => Filters::of_selection(filters)?,
            ChunkSection::Values | ChunkSection::Vlen => filters.parse()?,
        };
        Ok(SectionFilters { section, filters })
    }
}

/// `/detector/hits=selection=lzf`, or `selection=lzf` for all datasets that have the section.
impl FromStr for For<SectionFilters> {
    type Err = WordError;

    fn from_str(text: &str) -> Result<For<SectionFilters>, WordError> {
        let (front, filters) = text.rsplit_once('=').ok_or_else(|| WordError::Section(text.into()))?;
        let (path, section) = match front.rsplit_once('=') {
            Some((path, section)) => (Some(path.to_owned()), section),
            None => (None, front),
        };
        Ok(For { path, what: SectionFilters::of(section, filters)? })
    }
}

/// The filters of those sections of which something is said. They go before filters for all sections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sections(BTreeMap<ChunkSection, Filters>);

impl Sections {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn of(&self, section: ChunkSection) -> Option<&Filters> {
        self.0.get(&section)
    }

    /// Gives a section filters in place of those that were wished for it before.
    pub(super) fn set(&mut self, wish: SectionFilters) {
        self.0.insert(wish.section, wish.filters);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = SectionFilters> {
        self.0.iter().map(|(section, filters)| SectionFilters { section: *section, filters: filters.clone() })
    }

    /// A new dataset of so many dimensions with these filters. All others must have been given to it before.
    pub(crate) fn give(&self, new: NewDataset, rank: usize) -> NewDataset {
        self.0.iter().fold(new, |new, (section, filters)| filters.give(new.section(*section), rank))
    }
}

impl FromIterator<SectionFilters> for Sections {
    fn from_iter<I: IntoIterator<Item = SectionFilters>>(wishes: I) -> Sections {
        let mut sections = Sections::default();
        wishes.into_iter().for_each(|wish| sections.set(wish));
        sections
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_in_words() {
        let one = |text: &str| text.parse::<For<SectionFilters>>().map(|one| (one.path, one.what.section));
        assert_eq!(one("selection=delta+gzip:9").unwrap(), (None, ChunkSection::Selection));
        assert_eq!(one("values=none").unwrap(), (None, ChunkSection::Values));
        assert_eq!(one("/a=b=data=none").unwrap(), (Some("/a=b".into()), ChunkSection::Values));
        assert_eq!(one("/a=vlen=lzf").unwrap(), (Some("/a".into()), ChunkSection::Vlen));
        for text in ["gzip", "places=gzip", "/a=gzip", "selection=", "selection=gunzip", "values=delta"] {
            assert!(one(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_last_word_counts() {
        let sections =
            |words: &[&str]| words.iter().map(|word| SectionFilters::parse(word).unwrap()).collect::<Sections>();
        assert_eq!(
            sections(&["selection=lzf", "values=lz4", "selection=none"]),
            sections(&["values=lz4", "selection=none"])
        );
    }
}
