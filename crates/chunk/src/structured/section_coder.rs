//! The sections of a chunk through their filters, there and back.

use std::{borrow::Cow, sync::Arc};

use hyperslab_base::{lookup3, memory};
use hyperslab_filter::{Pipeline, Registry};
use hyperslab_format::Section;

use crate::{Error, Result, Workspace};

/// The bytes of a checksum, the last ones of a section that has one.
pub(crate) const CHECKSUM: usize = 4;

/// Filters are expected to make sections smaller by no more than this.
const PLAUSIBLE: usize = 64;

/// The filters of one section. Never changes, so that sections are coded while nothing is locked.
#[derive(Debug)]
pub(crate) struct SectionCoder {
    number: usize,
    pipeline: Pipeline,
    registry: Arc<Registry>,
}

impl SectionCoder {
    /// The filters of the section with this number.
    pub(crate) fn new(number: usize, pipeline: Pipeline, registry: Arc<Registry>) -> SectionCoder {
        SectionCoder { number, pipeline, registry }
    }

    /// Whether there are filters.
    pub(crate) fn filters(&self) -> bool {
        !self.pipeline.steps().is_empty()
    }

    /// Whether all of them are there.
    pub(crate) fn has_all_filters(&self) -> bool {
        self.pipeline.steps().iter().all(|step| self.registry.get(step.id).is_some())
    }

    /// The mask of a section that went through none of them.
    pub(super) fn mask_of_all(&self) -> u32 {
        match self.pipeline.steps().len() {
            0 => 0,
            steps => u32::MAX >> 32u32.saturating_sub(steps as u32).min(31),
        }
    }

    /// Undoes the filters of a section, which has at most so many bytes before them.
    pub(super) fn decode<'a>(
        &self,
        coord: &[u64],
        (stored, section): (&'a [u8], Section),
        most: u64,
        workspace: &mut Workspace,
    ) -> Result<Cow<'a, [u8]>> {
        let bytes = section.unfiltered.unwrap_or(section.size);
        if bytes > most {
            return Err(self.refuse(coord, format!("{bytes} bytes, where the chunk can have {most}")));
        }
        self.check_size(coord, section)?;
        if !self.filters() {
            return match bytes == stored.len() as u64 {
                true => Ok(Cow::Borrowed(stored)),
                false => Err(self.refuse(coord, format!("{} bytes where {bytes} belong", stored.len()))),
            };
        }
        let (mut out, len) = (Vec::new(), usize::try_from(bytes).map_err(|_| Error::Memory(bytes))?);
        // What the index says is not believed before it is seen.
        memory::reserve(&mut out, len.min(stored.len().saturating_mul(PLAUSIBLE)))?;
        let decoded = self.pipeline.decode(&self.registry, stored, section.mask, len, &mut out, &mut workspace.scratch);
        match decoded.map_err(|source| self.failed(coord, source))? {
            found if found == len => Ok(Cow::Owned(out)),
            found => Err(self.refuse(coord, format!("{found} bytes come out of the filters where {bytes} belong"))),
        }
    }

    /// Refuses more bytes before the filters than these make of the stored ones: what follows from them is then no larger than the file makes it.
    pub(super) fn check_size(&self, coord: &[u64], section: Section) -> Result<()> {
        let bytes = section.unfiltered.unwrap_or(section.size);
        match self.pipeline.decoded_bound(&self.registry, section.size, section.mask) {
            Some(most) if bytes > most => {
                let why =
                    format!("{bytes} bytes before its filters, which make no more than {most} of {}", section.size);
                Err(self.refuse(coord, why))
            }
            _ => Ok(()),
        }
    }

    /// The most bytes that the filters make of a section of so many bytes or fewer; nothing if that is not known.
    pub(crate) fn worst_case(&self, bytes: u64) -> Option<u64> {
        self.pipeline.worst_case(&self.registry, bytes)
    }

    /// Adds a section to the stored bytes of a chunk: through the filters, if it is to be `filtered`. What the index says of it; the size before the
    /// filters is `told` if others may have filters.
    pub(super) fn encode(
        &self,
        coord: &[u64],
        raw: &[u8],
        (filtered, told): (bool, bool),
        stored: &mut Vec<u8>,
        workspace: &mut Workspace,
    ) -> Result<Section> {
        let (bytes, unfiltered) = (raw.len() as u64, told.then_some(raw.len() as u64));
        if !filtered || !self.filters() {
            memory::append(stored, raw)?;
            return Ok(Section { size: bytes, mask: self.mask_of_all(), unfiltered });
        }
        let Workspace { out, scratch, .. } = workspace;
        let mask = self.pipeline.encode_section(&self.registry, raw, out, scratch);
        let mask = mask.map_err(|source| self.failed(coord, source))?;
        memory::append(stored, out)?;
        Ok(Section { size: out.len() as u64, mask, unfiltered })
    }

    /// What comes before the checksum of a section, if that is right.
    pub(super) fn checked<'a>(&self, coord: &[u64], section: &'a [u8]) -> Result<&'a [u8]> {
        let Some((bytes, stored)) = section.split_last_chunk::<CHECKSUM>() else {
            return Err(self.refuse(coord, format!("{} bytes are too few for a checksum", section.len())));
        };
        match lookup3(bytes) == u32::from_le_bytes(*stored) {
            true => Ok(bytes),
            false => Err(self.refuse(coord, "its checksum is wrong".into())),
        }
    }

    /// A section of the chunk at a coordinate that is malformed.
    pub(super) fn refuse(&self, coord: &[u64], why: String) -> Error {
        Error::section(coord, self.number, why)
    }

    fn failed(&self, coord: &[u64], source: hyperslab_filter::Error) -> Error {
        Error::SectionFilter { chunk: coord.to_vec(), section: self.number, source }
    }
}
