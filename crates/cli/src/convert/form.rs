//! The forms in which other programs store sparse data, and how they are recognized.

use super::lists::{Coordinate, Lists, Offsets};
use super::numbers::{self, Numbers};
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
    pub(super) fn names(self) -> &'static [&'static str] {
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
        let indices = |name| Ok::<_, hyperslab::Error>(Coordinate::List(name, list(name)?));
        match self {
            Form::CsrGroup => compressed(group),
            Form::Imaged11 => {
                let nnz = list("nnz")?;
                let sides = (numbers::scalar(group, "shape0")?, numbers::scalar(group, "shape1")?);
                let dims = match sides {
                    (Ok(height), Ok(width)) => vec![nnz.len(), height, width],
                    (Err(why), _) | (_, Err(why)) => return Ok(Err(why)),
                };
                let frames = Coordinate::Ranges(Offsets::counts("nnz", nnz));
                let coordinates = vec![frames, indices("row")?, indices("col")?];
                Ok(Lists::new(dims, coordinates, list("intensity")?))
            }
            Form::Cooler => {
                if let Some(other) = group.links()?.iter().find(|link| !self.consumes(&link.name)) {
                    let name = String::from_utf8_lossy(&other.name).into_owned();
                    return Ok(Err(format!("there is another column, {name}, which has no place in a dataset")));
                }
                let bins = match (above.has_attribute("nbins")?, above.contains("indexes/bin1_offset")?) {
                    (true, _) => match numbers::scalar(above, "nbins")? {
                        Ok(bins) => bins,
                        Err(why) => return Ok(Err(why)),
                    },
                    (false, true) => above.dataset("indexes/bin1_offset")?.len().saturating_sub(1),
                    (false, false) => above.dataset("bins/start")?.len(),
                };
                let coordinates = vec![indices("bin1_id")?, indices("bin2_id")?];
                Ok(Lists::new(vec![bins, bins], coordinates, list("count")?))
            }
        }
    }

    /// Whether a dataset with this name is sparse and can be stored in this form. Cooler knows contacts only under one name.
    pub(super) fn fits(self, name: &[u8], dataset: &Dataset) -> bool {
        let shape = dataset.shape();
        dataset.is_sparse()
            && match (self, shape.as_slice()) {
                (Form::CsrGroup, [_, _]) | (Form::Imaged11, [_, _, _]) => true,
                (Form::Cooler, [first, second]) => first == second && name == b"pixels",
                _ => false,
            }
    }
}

/// The dataset of images beside what else the group of a scan holds.
pub(super) const FRAMES: &str = "frames";

/// Rows or columns one after the other.
fn compressed(group: &Group) -> Result<std::result::Result<Lists, String>> {
    let (offsets, indices) = (group.dataset("indptr")?, group.dataset("indices")?);
    let dims = match shape(group)? {
        Ok(dims) => dims,
        Err(why) => return Ok(Err(why)),
    };
    let [rows, columns] = dims[..] else { return Ok(Err("it does not say a shape of two dimensions".into())) };
    let majors = offsets.len().saturating_sub(1);
    let by_rows = is_by_rows(group, majors, columns)?;
    if majors != if by_rows { rows } else { columns } {
        return Ok(Err(format!("{} offsets for a shape of {rows}×{columns}", offsets.len())));
    }
    let (major, minor) = (Coordinate::Ranges(Offsets::ends("indptr", offsets)), Coordinate::List("indices", indices));
    let coordinates = if by_rows { vec![major, minor] } else { vec![minor, major] };
    Ok(Lists::new(dims, coordinates, group.dataset("data")?))
}

/// Whether a group has rows one after the other, or columns. An attribute says it, or the number of offsets; 10x has columns.
pub(super) fn is_by_rows(group: &Group, majors: u64, columns: u64) -> Result<bool> {
    let text = |name: &str| match group.has_attribute(name)? {
        true => Ok::<_, hyperslab::Error>(Some(group.attribute(name)?.read_scalar::<String>()?)),
        false => Ok(None),
    };
    let said = match text("encoding-type")? {
        Some(said) => Some(said),
        None => text("h5sparse_format")?,
    };
    Ok(match said.as_deref() {
        Some("csr_matrix" | "csr") => true,
        Some("csc_matrix" | "csc") => false,
        _ => majors != columns,
    })
}

/// The shape that a group of compressed rows or columns says; no dimensions if it says none.
pub(super) fn shape(group: &Group) -> Result<Numbers> {
    for name in ["shape", "h5sparse_shape"] {
        if group.has_attribute(name)? {
            return numbers::of_attribute(group, name);
        }
    }
    match group.contains("shape")? {
        true => {
            let dataset = group.dataset("shape")?;
            numbers::of_list("shape", &dataset, 0..dataset.len())
        }
        false => Ok(Ok(Vec::new())),
    }
}
