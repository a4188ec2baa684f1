//! From the filter message to the filter pipeline.

use std::{fmt::Display, sync::Arc};

use hyperslab_base::{AnyError, ErrorKind};
use hyperslab_file::Error;
use hyperslab_filter::{Pipeline, Registry, Step};
use hyperslab_format::message::FilterPipeline;
use hyperslab_structures::fractal_heap::Unfilter;

/// The pipeline that a message describes.
pub fn pipeline(message: &FilterPipeline) -> hyperslab_filter::Result<Pipeline> {
    let step = |step: &hyperslab_format::message::FilterStep| Step {
        id: step.id,
        optional: step.flags & 1 != 0,
        name: String::from_utf8_lossy(&step.name).into_owned(),
        params: step.params.clone(),
    };
    Pipeline::new(message.steps.iter().map(step).collect())
}

/// How blocks of filtered heaps are decoded.
pub fn unfilter(registry: Arc<Registry>) -> Arc<Unfilter> {
    Arc::new(move |message: &FilterPipeline, stored: Vec<u8>, mask, size| {
        let refuse = |kind, why: &dyn Display| Error::Above(AnyError::new(kind, format!("filtered heap: {why}")));
        let size = usize::try_from(size);
        let size = size.map_err(|_| refuse(ErrorKind::Malformed, &"a block of no possible size"))?;
        let mut out = Vec::new();
        let decoded = pipeline(message)
            .and_then(|pipeline| pipeline.decode(&registry, &stored, mask, size, &mut out, &mut Vec::new()));
        decoded.map_err(|why| refuse(why.kind(), &why))?;
        Ok(out)
    })
}
