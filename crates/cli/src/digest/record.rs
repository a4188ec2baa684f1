//! What is said of one object.

use hyperslab::{
    AllocTime, Attribute, Dataset, FillTime, FillValue, Layout, Node,
    dtype::Arena,
    space::{Extent, UNLIMITED},
};
use sha2::{Digest, Sha256};

use super::{
    Scene, describe,
    encode::Encoder,
    json::Json,
    sparse,
    values::{hex, in_arena, in_memory},
};
use crate::sparse::sections;

/// Sources of a virtual dataset that are still listed.
const MAX_SOURCES: usize = 10_000;

/// The line of an object, without its path.
pub(crate) fn of(scene: &Scene<'_>, node: &Node) -> Json {
    let mut json = Json::object([("kind", Json::text(node.kind()))]);
    match node {
        Node::Group(_) => {}
        Node::Dataset(dataset) => describe_dataset(scene, dataset, &mut json),
        Node::Datatype(named) => json.set(
            "dtype",
            named
                .datatype()
                .map_or_else(|why| Json::error("dtype", &why), |datatype| describe::datatype(&datatype, true)),
        ),
    }
    if let Some(comment) = node.comment().ok().flatten().filter(|comment| !comment.is_empty()) {
        json.set("comment", Json::bytes(&comment));
    }
    json.set("attrs", attributes(scene, node));
    json
}

fn attributes(scene: &Scene<'_>, node: &Node) -> Json {
    match node.attributes() {
        Err(why) => Json::List(vec![Json::error("attrs", &why)]),
        Ok(all) => all
            .into_iter()
            .map(|found| found.map_or_else(|why| Json::error("attr", &why), |found| attribute(scene, &found)))
            .collect(),
    }
}

fn attribute(scene: &Scene<'_>, attribute: &Attribute) -> Json {
    let mut json = Json::object([
        ("name", Json::bytes(&attribute.name)),
        ("dtype", describe::datatype(&attribute.datatype, attribute.committed.is_some())),
        ("shape", shape(&attribute.extent)),
        ("n", Json::from(attribute.extent.elements().unwrap_or(u64::MAX))),
    ]);
    if attribute.extent.bytes(in_memory(&attribute.datatype)).is_none_or(|bytes| bytes > scene.cap) {
        json.set("skipped", Json::text("cap"));
        return json;
    }
    let mut encoded = Vec::new();
    match Encoder::new(scene).values(&attribute.datatype, &attribute.data, &mut encoded) {
        Ok(()) => {
            json.set("sha256", Json::text(&hex(&Sha256::digest(&encoded))));
            if encoded.len() <= 64 {
                json.set("enc", Json::text(&hex(&encoded)));
            }
        }
        Err(_) => json.set("error", Json::text("attr")),
    }
    json
}

fn describe_dataset(scene: &Scene<'_>, dataset: &Dataset, json: &mut Json) {
    let extent = dataset.extent();
    json.set("dtype", describe::datatype(dataset.datatype(), dataset.has_committed_datatype()));
    json.set("shape", shape(&extent));
    let max = |&max: &u64| if max == UNLIMITED { Json::Null } else { Json::from(max) };
    let maxima = (extent.rank() > 0).then(|| extent.max().iter().map(max).collect());
    json.set("maxshape", maxima.unwrap_or(Json::Null));
    match fill(scene, dataset) {
        // libhdf5 has layout, filters and fill value in one list, which it gives whole or not at all.
        Err(why) => json.set("layout", Json::error("layout", &why)),
        Ok(fill) => {
            json.set("layout", layout(dataset));
            json.set("filters", filters(dataset));
            json.set("fill", fill);
        }
    }
    json.set("data", data(scene, dataset));
}

/// The filters of chunks; a list for each section of chunks that have sections.
fn filters(dataset: &Dataset) -> Json {
    let filter = |step: &hyperslab::FilterStep| {
        let params = step.params.iter().map(|&param| Json::from(u64::from(param))).collect();
        let flags = u64::from(step.flags & 0xff);
        Json::object([("id", Json::from(u64::from(step.id))), ("flags", Json::from(flags)), ("cd", params)])
    };
    match dataset.section_filters() {
        Some(filters) => sections(dataset).map(|(number, _)| filters.of(number).iter().map(filter).collect()).collect(),
        None => dataset.filters().iter().map(filter).collect(),
    }
}

fn shape(extent: &Extent) -> Json {
    if extent.is_null() { Json::Null } else { extent.dims().iter().map(|&dim| Json::from(dim)).collect() }
}

fn layout(dataset: &Dataset) -> Json {
    let class = |class| ("class", Json::text(class));
    match dataset.layout() {
        Err(why) => Json::error("layout", &why),
        Ok(Layout::Compact) => Json::object([class("compact")]),
        Ok(Layout::Contiguous) => Json::object([class("contiguous")]),
        Ok(Layout::External(files)) => {
            let file = |(name, offset, size): hyperslab::ExternalName| {
                Json::List(vec![Json::bytes(&name), Json::from(offset), size.map_or(Json::Null, Json::from)])
            };
            Json::object([class("contiguous"), ("external", files.into_iter().map(file).collect())])
        }
        Ok(Layout::Chunked { chunk, index }) => {
            let chunk = chunk.into_iter().map(Json::from).collect();
            let kind = if dataset.is_sparse() { "sparse" } else { "chunked" };
            Json::object([class(kind), ("chunk", chunk), ("index", Json::text(index))])
        }
        Ok(Layout::Virtual(sources)) => {
            let source =
                |(file, path): hyperslab::VirtualName| Json::List(vec![Json::bytes(&file), Json::bytes(&path)]);
            Json::object([class("virtual"), ("virtual", sources.into_iter().take(MAX_SOURCES).map(source).collect())])
        }
        Ok(_) => Json::object([]),
    }
}

fn fill(scene: &Scene<'_>, dataset: &Dataset) -> Result<Json, String> {
    let fill = dataset.fill();
    let (status, value) = match &fill.value {
        FillValue::Undefined => ("undefined", None),
        FillValue::Default => ("default", None),
        FillValue::User(value) => ("user", Some(value)),
    };
    let alloc = match fill.alloc {
        AllocTime::Default => "default",
        AllocTime::Early => "early",
        AllocTime::Late => "late",
        AllocTime::Incremental => "incr",
    };
    let time = match fill.write {
        FillTime::Alloc => "alloc",
        FillTime::Never => "never",
        FillTime::IfSet => "ifset",
    };
    let mut json =
        Json::object([("status", Json::text(status)), ("alloc", Json::text(alloc)), ("time", Json::text(time))]);
    if let Some(value) = value {
        let mut encoded = Vec::new();
        Encoder::new(scene).values(dataset.datatype(), value, &mut encoded)?;
        json.set("enc", Json::text(&hex(&encoded)));
    }
    Ok(json)
}

fn data(scene: &Scene<'_>, dataset: &Dataset) -> Json {
    if dataset.is_sparse() {
        return sparse::data(scene, dataset);
    }
    let (datatype, count) = (dataset.datatype(), dataset.len());
    let mut json = Json::object([("n", Json::from(count))]);
    if count.saturating_mul(in_memory(datatype)) > scene.cap {
        json.set("skipped", Json::text("cap"));
        return json;
    }
    if count == 0 {
        json.set("sha256", Json::text(&hex(&Sha256::digest([]))));
        return json;
    }
    // The sources of a virtual dataset each have a heap of their own, and so may chunks.
    let is_virtual = datatype.has_vlen() && matches!(dataset.layout(), Ok(Layout::Virtual(_)));
    let many_heaps = is_virtual || dataset.has_vlen_chunks();
    let mut arena = Arena::default();
    let all = dataset.space();
    let bytes = if many_heaps { in_arena(dataset, &all, &mut arena) } else { dataset.read_stored() };
    let in_arena = if many_heaps { dataset.memory_datatype() } else { Ok(datatype.clone()) };
    let summed = bytes.map_err(|why| why.to_string()).and_then(|bytes| {
        let datatype = &in_arena.map_err(|why| why.to_string())?;
        let encoder = if many_heaps { Encoder::in_arena(scene, &arena) } else { Encoder::new(scene) };
        let mut sum = Sha256::new();
        let mut encoded = Vec::new();
        for part in bytes.chunks(datatype.size().saturating_mul(1 << 14)) {
            encoded.clear();
            encoder.values(datatype, part, &mut encoded)?;
            sum.update(&encoded);
        }
        Ok(sum.finalize())
    });
    match summed {
        Ok(sum) => json.set("sha256", Json::text(&hex(&sum))),
        Err(why) => {
            json.set("error", Json::text("data"));
            json.set("_msg", Json::text(&why));
        }
    }
    json
}
