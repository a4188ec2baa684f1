//! The values of sparse datasets: a checksum of what is defined. The extent is never walked.

use hyperslab::{Dataset, dtype::Arena};
use sha2::{Digest, Sha256};

use super::{
    Scene,
    encode::Encoder,
    json::Json,
    values::{hex, in_arena, in_memory},
};
use crate::sparse::DefinedParts;

/// How many elements there are, how many of them are defined, and a checksum: of each defined element its coordinates, 8 bytes each, and its value, chunk by
/// chunk and in each chunk by rising coordinates. The cap counts the values that are defined.
pub(super) fn data(scene: &Scene<'_>, dataset: &Dataset) -> Json {
    let mut json = Json::object([("n", Json::from(dataset.len()))]);
    match sum(scene, dataset, &mut json) {
        Ok(Some(sum)) => json.set("sha256", Json::text(&sum)),
        Ok(None) => json.set("skipped", Json::text("cap")),
        Err(why) => {
            json.set("error", Json::text("data"));
            json.set("_msg", Json::text(&why));
        }
    }
    json
}

/// The checksum; nothing if there are too many values.
fn sum(scene: &Scene<'_>, dataset: &Dataset, json: &mut Json) -> Result<Option<String>, String> {
    let said = |why: hyperslab::Error| why.to_string();
    let datatype = &dataset.memory_datatype().map_err(|why| why.to_string())?;
    let defined = dataset.stored_sections().map_err(said)?.unwrap_or_default().defined;
    json.set("defined", Json::from(defined));
    if defined.saturating_mul(in_memory(dataset.datatype())) > scene.cap {
        return Ok(None);
    }
    let (mut sum, mut encoded) = (Sha256::new(), Vec::new());
    for part in DefinedParts::all(dataset).map_err(said)? {
        let part = part.map_err(said)?;
        let mut arena = Arena::default();
        let bytes = in_arena(dataset, &part, &mut arena).map_err(said)?;
        let (encoder, datatype) = (Encoder::in_arena(scene, &arena), datatype);
        let coords = part.coords().map_err(|why| why.to_string())?;
        for (coord, value) in coords.zip(bytes.chunks_exact(datatype.size().max(1))) {
            encoded.clear();
            encoded.extend(coord.iter().flat_map(|index| index.to_le_bytes()));
            encoder.values(datatype, value, &mut encoded)?;
            sum.update(&encoded);
        }
    }
    Ok(Some(hex(&sum.finalize())))
}
