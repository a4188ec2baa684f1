//! From the filter message to the filter pipeline.

use std::sync::Arc;

use hyperslab_base::{AnyError, ErrorKind};
use hyperslab_filter::{Pipeline, Registry, Step};
use hyperslab_format::message::{DatasetFilters, FilterPipeline, FilterStep};
use hyperslab_structures::fractal_heap::{Unfilter, UnfilterError};

use crate::Result;

/// The most sections of a chunk.
const SECTIONS: u8 = 3;

/// The pipeline that a message describes.
pub fn pipeline(message: &FilterPipeline) -> hyperslab_filter::Result<Pipeline> {
    steps(&message.steps)
}

fn steps(described: &[FilterStep]) -> hyperslab_filter::Result<Pipeline> {
    let step = |step: &FilterStep| Step {
        id: step.id,
        optional: step.flags & 1 != 0,
        name: String::from_utf8_lossy(&step.name).into_owned(),
        params: step.params.clone(),
    };
    Pipeline::new(described.iter().map(step).collect())
}

/// The filters that chunks go through.
#[derive(Clone, Debug)]
pub enum ChunkFilters {
    /// All bytes of a dense chunk.
    Chunk(Pipeline),
    /// Each section of a structured chunk, by its number.
    Sections(Vec<Pipeline>),
}

impl ChunkFilters {
    /// The filters of each section; an error if they are those of dense chunks.
    pub(crate) fn of_sections(self) -> Result<Vec<Pipeline>> {
        match self {
            ChunkFilters::Sections(pipelines) => Ok(pipelines),
            ChunkFilters::Chunk(pipeline) if pipeline.steps().is_empty() => Ok(Vec::new()),
            ChunkFilters::Chunk(_) => {
                Err(crate::Error::Layout("filters of whole chunks, but chunks with sections".into()))
            }
        }
    }
}

/// The filters that a message describes.
pub fn filters(message: &DatasetFilters) -> hyperslab_filter::Result<ChunkFilters> {
    Ok(match message {
        DatasetFilters::Chunk(message) => ChunkFilters::Chunk(pipeline(message)?),
        DatasetFilters::Sections(message) => {
            let pipelines = (0..SECTIONS).map(|number| steps(message.of(number)));
            ChunkFilters::Sections(pipelines.collect::<Result<_, _>>()?)
        }
    })
}

/// How blocks of filtered heaps are decoded.
pub fn unfilter(registry: Arc<Registry>) -> Arc<Unfilter> {
    Arc::new(move |message: &FilterPipeline, stored: Vec<u8>, mask, size| {
        let impossible = |_| AnyError::new(ErrorKind::Malformed, format!("{size} bytes do not fit the memory"));
        let size = usize::try_from(size).map_err(impossible);
        let size = size.map_err(|source| UnfilterError { source, may_be_torn: false })?;
        let mut out = Vec::new();
        let decoded = pipeline(message)
            .and_then(|pipeline| pipeline.decode(&registry, &stored, mask, size, &mut out, &mut Vec::new()));
        decoded.map_err(|why| UnfilterError { may_be_torn: why.is_of_data(), source: why.into() })?;
        Ok(out)
    })
}
