//! A look at every place in the file where values of a dataset are.

use hyperslab_base::Width;
use hyperslab_file::{OpenFile, Owner, Survey};
use hyperslab_format::{
    ChunkEntry, Sections,
    message::{ChunkIndex, ChunkStructure, DataLayout, Layout},
};
use hyperslab_space::Extent;
use hyperslab_structures::walk;

use super::Shape;
use crate::{index::numbering::Numbering, layout::check_element_size};

const CHUNK: &str = "chunk";

/// A dataset whose values are looked for.
#[derive(Clone, Copy, Debug)]
pub struct SurveyedDataset<'a> {
    /// Where its header is.
    pub address: u64,
    /// What the layout message says.
    pub layout: &'a DataLayout,
    /// Its size.
    pub extent: &'a Extent,
    /// The bytes of an element, in the chunks of the dataset.
    pub element: u64,
    /// The bytes of an element as the datatype message has it.
    pub own_element: u64,
    /// Whether chunks go through filters.
    pub filtered: bool,
}

impl SurveyedDataset<'_> {
    /// Shows the index of chunks and all chunks, or the one block that values are in. What is in other files is not looked at.
    pub fn survey(&self, file: &OpenFile, survey: &mut dyn Survey) {
        let whole = self.extent.bytes(self.element).unwrap_or(u64::MAX);
        match &self.layout.layout {
            Layout::Compact(values) => {
                if values.len() as u64 != whole {
                    let why = format!("{} bytes are stored, but values of the dataset take {whole}", values.len());
                    survey.problem("data layout message", self.address, why);
                }
            }
            Layout::Contiguous { address: Some(address), size } => {
                if let Some(size) = size.filter(|size| *size < whole) {
                    let why = format!("{size} bytes are stored, but values of the dataset take {whole}");
                    survey.problem("contiguous values", *address, why);
                }
                survey.block("contiguous values", *address, size.unwrap_or(whole));
            }
            Layout::Contiguous { address: None, .. } => {}
            Layout::Virtual { heap, .. } => {
                heap.and_then(|heap| walk::collection(file, heap, survey));
            }
            Layout::Chunked { structure, chunk, element_size, index, address, .. } => {
                let what = "data layout message";
                if chunk.len() != self.extent.rank() || chunk.contains(&0) {
                    let why = format!("a chunk of {chunk:?} in an extent of {:?}", self.extent.dims());
                    return survey.problem(what, self.address, why);
                }
                let sizes = (self.element, self.own_element);
                if let Err(why) = check_element_size(*element_size, *structure, sizes) {
                    return survey.problem(what, self.address, why);
                }
                if let Some(address) = address {
                    self.chunks(file, (chunk, *element_size, *structure), index, *address, survey);
                }
            }
        }
    }

    fn chunks(
        &self,
        file: &OpenFile,
        (chunk, element_size, structure): (&[u64], u64, Option<ChunkStructure>),
        index: &ChunkIndex,
        address: u64,
        survey: &mut dyn Survey,
    ) {
        let bytes = chunk.iter().fold(element_size, |bytes, side| bytes.saturating_mul(*side));
        let (filtered, layout_version) = (self.filtered, self.layout.version);
        let (extent, owner) = (self.extent, Owner::FILE);
        let shape = Shape { extent, chunk, bytes, element_size, filtered, structure, layout_version, owner };
        let (lengths, rank): (Width, usize) = (file.widths().lengths, chunk.len());
        let one = |survey: &mut dyn Survey, coord: Option<&[u64]>, entry: &ChunkEntry| {
            let Some(at) = entry.address else { return };
            let inside = |(coord, (side, dim)): (&u64, (&u64, &u64))| coord.saturating_mul(*side) < *dim;
            match coord {
                Some(coord) if coord.iter().zip(chunk.iter().zip(self.extent.dims())).all(inside) => {}
                // Releases of libhdf5 have put chunks where no reader finds them.
                Some(_) => survey.note(CHUNK, at, "it is outside of the dataset, where no reader finds it".into()),
                None => survey.problem(CHUNK, at, "it begins at no multiple of the chunk's shape".into()),
            }
            if !self.filtered && structure.is_none() && entry.size() != bytes {
                survey.problem(CHUNK, at, format!("{} bytes where chunks have {bytes}", entry.size()));
            }
            survey.block(CHUNK, at, entry.size());
        };
        let numbering = Numbering::new(self.extent, chunk, matches!(index, ChunkIndex::ExtensibleArray(_)));
        let mut numbered = |survey: &mut dyn Survey, number: Option<u64>, entry: &ChunkEntry| {
            let coord = number.and_then(|number| numbering.coord(number));
            one(survey, coord.as_deref(), entry);
        };
        match index {
            ChunkIndex::BtreeV1 => walk::chunk_tree(file, address, rank, survey, &mut |survey, _, entry| {
                let coords = entry.start.iter().zip(chunk);
                let coord: Option<Vec<u64>> =
                    coords.map(|(start, side)| start.is_multiple_of(*side).then(|| start / side)).collect();
                one(survey, coord.as_deref(), entry);
            }),
            ChunkIndex::BtreeV2 { .. } => {
                walk::chunk_tree_v2(file, address, (rank, shape.element(lengths)), survey, &mut |survey, _, entry| {
                    one(survey, Some(&entry.start), entry);
                });
            }
            ChunkIndex::Single(stored) => {
                survey.block(CHUNK, address, stored.as_ref().map_or(bytes, Sections::bytes));
            }
            ChunkIndex::Implicit => {
                survey.block("chunks", address, numbering.count().saturating_mul(bytes));
            }
            ChunkIndex::FixedArray { .. } => {
                let has = walk::fixed_array(file, address, shape.element(lengths), survey, &mut numbered);
                if let Some(has) = has {
                    survey.equal("fixed array", address, "chunks", has, numbering.count());
                }
            }
            ChunkIndex::ExtensibleArray(_) => {
                walk::extensible_array(file, address, shape.element(lengths), survey, &mut numbered);
            }
        }
    }
}
