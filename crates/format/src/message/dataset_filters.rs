//! The filters of a dataset, whichever message tells them.

use super::{FilterPipeline, SectionFilters, kind};
use crate::{Encoded, Result};

/// What chunks of a dataset go through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatasetFilters {
    /// Dense chunks: one pipeline, of the filter pipeline message.
    Chunk(FilterPipeline),
    /// Structured chunks: a pipeline for each section, of the section filters message.
    Sections(SectionFilters),
}

impl DatasetFilters {
    /// Reads a message of type [`kind::FILTER_PIPELINE`] or [`kind::SECTION_FILTERS`]. Version 3 of the former is the latter.
    ///
    /// ```
    /// use hyperslab_format::message::{DatasetFilters, kind};
    /// let sections = DatasetFilters::decode(kind::FILTER_PIPELINE, &[3, 0])?;
    /// assert_eq!(sections.message_kind(), kind::SECTION_FILTERS);
    /// assert!(sections.is_empty() && sections.pipeline().is_none());
    /// let chunk = DatasetFilters::decode(kind::FILTER_PIPELINE, &[2, 0])?;
    /// assert_eq!(chunk.message_kind(), kind::FILTER_PIPELINE);
    /// # Ok::<(), hyperslab_format::Malformed>(())
    /// ```
    pub fn decode(kind: u16, bytes: &[u8]) -> Result<DatasetFilters> {
        if kind == kind::SECTION_FILTERS || bytes.first() == Some(&3) {
            SectionFilters::decode(bytes).map(DatasetFilters::Sections)
        } else {
            FilterPipeline::decode(bytes).map(DatasetFilters::Chunk)
        }
    }

    /// Writes the message, which has the type [`message_kind`](DatasetFilters::message_kind).
    pub fn encode(&self) -> Encoded {
        match self {
            DatasetFilters::Chunk(pipeline) => pipeline.encode(),
            DatasetFilters::Sections(sections) => sections.encode(),
        }
    }

    /// The type of the message that [`encode`](DatasetFilters::encode) writes.
    pub const fn message_kind(&self) -> u16 {
        match self {
            DatasetFilters::Chunk(_) => kind::FILTER_PIPELINE,
            DatasetFilters::Sections(_) => kind::SECTION_FILTERS,
        }
    }

    /// Whether there is no filter.
    pub fn is_empty(&self) -> bool {
        match self {
            DatasetFilters::Chunk(pipeline) => pipeline.steps.is_empty(),
            DatasetFilters::Sections(sections) => sections.is_empty(),
        }
    }

    /// The pipeline of dense chunks.
    pub const fn pipeline(&self) -> Option<&FilterPipeline> {
        match self {
            DatasetFilters::Chunk(pipeline) => Some(pipeline),
            DatasetFilters::Sections(_) => None,
        }
    }
}

impl Default for DatasetFilters {
    /// Dense chunks without filters.
    fn default() -> DatasetFilters {
        DatasetFilters::Chunk(FilterPipeline::default())
    }
}
