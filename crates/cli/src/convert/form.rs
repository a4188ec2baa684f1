//! The forms in which other programs store sparse data, and how they are recognized.

use super::lists::{Coordinate, Lists, Offsets};
use clap::ValueEnum;
use hyperslab::{Dataset, Group, Result};

/// In which form sparse data is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    // Documentation here would make the help of `repack` twice as long.
    // Groups with data, indices and indptr, as anndata and 10x have them
    CsrGroup,
    // Groups with nnz, row, col and intensity for a series of images, as ImageD11 has them
    Imaged11,
    // Groups `pixels` with `bin1_id`, `bin2_id` and count, as cooler has them
    Cooler,
}

/// Where a sparse dataset goes that is made of a group.
pub(super) enum Place {
    /// In place of the group.
    Instead,
    /// In the group, under this name, beside what else it holds.
    Within(&'static str),
}

impl Form {
    pub(super) fn name(self) -> &'static str {
        match self {
            Form::CsrGroup => "csr-group",
            Form::Imaged11 => "imaged11",
            Form::Cooler => "cooler",
        }
    }

    /// The names of the lists.
    fn names(self) -> &'static [&'static str] {
        match self {
            Form::CsrGroup => &["data", "indices", "indptr"],
            Form::Imaged11 => &["nnz", "row", "col", "intensity"],
            Form::Cooler => &["bin1_id", "bin2_id", "count"],
        }
    }

    /// Links of a group that are in the dataset then.
    pub(super) fn consumes(self, name: &[u8]) -> bool {
        self.names().iter().any(|list| list.as_bytes() == name) || self == Form::CsrGroup && name == b"shape"
    }

    /// Attributes of a group that tell of its lists.
    pub(super) fn describes(self, attribute: &[u8]) -> bool {
        const OWN: [&str; 5] = ["encoding-type", "encoding-version", "shape", "h5sparse_format", "h5sparse_shape"];
        self == Form::CsrGroup && OWN.iter().any(|own| own.as_bytes() == attribute)
    }

    /// Where the dataset goes that is made of a group: beside what else the group holds, if that is anything.
    pub(super) fn place(self, group: &Group) -> Result<Place> {
        let is_all = group.links()?.iter().all(|link| self.consumes(&link.name));
        Ok(match self {
            Form::CsrGroup if !is_all => Place::Within("matrix"),
            Form::Imaged11 => Place::Within(FRAMES),
            Form::CsrGroup | Form::Cooler => Place::Instead,
        })
    }

    /// Whether a group has all lists.
    pub(super) fn is_of(self, group: &Group) -> Result<bool> {
        for name in self.names() {
            if group.link(name)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The lists of a group; why they are none, if they contradict each other. `above` is the group that holds it.
    pub(super) fn lists(self, group: &Group, above: &Group) -> Result<std::result::Result<Lists, String>> {
        let list = |name: &str| group.dataset(name);
        match self {
            Form::CsrGroup => compressed(group),
            Form::Imaged11 => {
                let nnz = list("nnz")?;
                let side = |name| group.attribute(name)?.read_scalar::<u64>();
                let dims = vec![nnz.len(), side("shape0")?, side("shape1")?];
                let frames = Coordinate::Ranges(Offsets::counts(nnz));
                let coordinates = vec![frames, Coordinate::List(list("row")?), Coordinate::List(list("col")?)];
                Ok(Lists::new(dims, coordinates, list("intensity")?))
            }
            Form::Cooler => {
                if let Some(other) = group.links()?.iter().find(|link| !self.consumes(&link.name)) {
                    let name = String::from_utf8_lossy(&other.name).into_owned();
                    return Ok(Err(format!("there is another column, {name}, which has no place in a dataset")));
                }
                let bins = match (above.has_attribute("nbins")?, above.contains("indexes/bin1_offset")?) {
                    (true, _) => above.attribute("nbins")?.read_scalar::<u64>()?,
                    (false, true) => above.dataset("indexes/bin1_offset")?.len().saturating_sub(1),
                    (false, false) => above.dataset("bins/start")?.len(),
                };
                let coordinates = vec![Coordinate::List(list("bin1_id")?), Coordinate::List(list("bin2_id")?)];
                Ok(Lists::new(vec![bins, bins], coordinates, list("count")?))
            }
        }
    }

    /// Whether a sparse dataset can be stored in this form.
    pub(super) fn fits(self, dataset: &Dataset) -> bool {
        let shape = dataset.shape();
        dataset.is_sparse()
            && match (self, shape.as_slice()) {
                (Form::CsrGroup, [_, _]) | (Form::Imaged11, [_, _, _]) => true,
                (Form::Cooler, [first, second]) => first == second,
                _ => false,
            }
    }
}

/// The dataset of images beside what else the group of a scan holds.
pub(super) const FRAMES: &str = "frames";

/// Rows or columns one after the other. Which of both is said by an attribute, or by the number of offsets; 10x has columns.
fn compressed(group: &Group) -> Result<std::result::Result<Lists, String>> {
    let text = |name: &str| match group.has_attribute(name)? {
        true => Ok::<_, hyperslab::Error>(Some(group.attribute(name)?.read_scalar::<String>()?)),
        false => Ok(None),
    };
    let (offsets, indices) = (group.dataset("indptr")?, group.dataset("indices")?);
    let mut dims: Vec<u64> = Vec::new();
    for name in ["shape", "h5sparse_shape"] {
        if dims.is_empty() && group.has_attribute(name)? {
            dims = group.attribute(name)?.read()?;
        }
    }
    if dims.is_empty() && group.contains("shape")? {
        dims = group.dataset("shape")?.read()?;
    }
    let [rows, columns] = dims[..] else { return Ok(Err("it does not say a shape of two dimensions".into())) };
    let said = match text("encoding-type")? {
        Some(said) => Some(said),
        None => text("h5sparse_format")?,
    };
    let majors = offsets.len().saturating_sub(1);
    let by_rows = match said.as_deref() {
        Some("csr_matrix" | "csr") => true,
        Some("csc_matrix" | "csc") => false,
        _ => majors != columns,
    };
    if majors != if by_rows { rows } else { columns } {
        return Ok(Err(format!("{} offsets for a shape of {rows}×{columns}", offsets.len())));
    }
    let (major, minor) = (Coordinate::Ranges(Offsets::ends(offsets)), Coordinate::List(indices));
    let coordinates = if by_rows { vec![major, minor] } else { vec![minor, major] };
    Ok(Lists::new(dims, coordinates, group.dataset("data")?))
}
