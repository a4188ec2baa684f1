//! Values that are kept in other datasets: which of them a read takes, and where they go.

use hyperslab_space::{Op, Space};

use crate::{Error, Result};

/// Reads what other datasets hold. The layer that knows them gives it to [`Storage::Virtual`](crate::Storage).
pub trait VirtualSource: Send + Sync {
    /// Reads the selection of `wanted` into the selection of `memory` in `buf`, as bytes of the stored type.
    fn read(&self, wanted: &Space, memory: &Space, buf: &mut [u8]) -> Result<()>;
}

impl std::fmt::Debug for dyn VirtualSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("VirtualSource")
    }
}

/// Elements of a virtual dataset and equally many of a source, which correspond in order.
#[derive(Debug)]
pub struct Correspondence {
    target: Space,
    source: Space,
}

/// What a read takes of a source.
#[derive(Debug)]
pub struct SourcePart {
    /// The elements of the source.
    pub from: Space,
    /// Where they go in memory.
    pub mem_selection: Space,
}

impl Correspondence {
    /// The elements selected in both spaces, in so far as the source is large enough to have them.
    pub fn new(target: Space, source: Space) -> Result<Correspondence> {
        let (wanted, there) = (target.npoints(), source.npoints());
        if wanted != there {
            return Err(Error::Source(format!("{there} elements of the source are mapped to {wanted} elements")));
        }
        if source.check_inside().is_ok() {
            return Ok(Correspondence { target, source });
        }
        let all = Space::new(source.extent().clone());
        let target = source.project_intersection(&target, &all)?;
        Ok(Correspondence { target, source: source.combine(Op::And, &all)? })
    }

    /// The part of a read that this answers; none if it has nothing that is wanted.
    pub fn taken(&self, wanted: &Space, memory: &Space) -> Result<Option<SourcePart>> {
        let mem_selection = wanted.project_intersection(memory, &self.target)?;
        if mem_selection.npoints() == 0 {
            return Ok(None);
        }
        Ok(Some(SourcePart { from: self.target.project_intersection(&self.source, wanted)?, mem_selection }))
    }
}
