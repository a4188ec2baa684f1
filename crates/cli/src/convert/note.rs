//! What a sparse dataset remembers of the lists that it was made of, so that `--to` restores their layout: an attribute of it.

use super::form::{Form, Place, is_by_rows, shape};
use hyperslab::{Dataset, Group, Result};

/// The name of the attribute.
pub(super) const NAME: &str = "hyperslab-lists";

/// How a group of compressed rows or columns was laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) by_rows: bool,
    pub(super) says: Says,
    /// Whether the lists were in a group with other things, beside which the dataset is now.
    pub(super) is_within: bool,
}

/// What says the shape and the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// The attributes `encoding-type`, `encoding-version` and `shape`.
    Anndata,
    /// The attributes `h5sparse_format` and `h5sparse_shape`.
    H5sparse,
    /// The dataset `shape`, and the number of offsets.
    Tenx,
}

impl Note {
    /// Rows, as anndata has them today, in a group in place of the dataset.
    const USUAL: Note = Note { by_rows: true, says: Says::Anndata, is_within: false };

    /// Which layout the lists of a group have, if their form has several.
    pub(super) fn of_group(form: Form, group: &Group) -> Result<Option<Note>> {
        if form != Form::CsrGroup {
            return Ok(None);
        }
        let says = match (group.has_attribute("shape")?, group.has_attribute("h5sparse_shape")?) {
            (true, _) => Says::Anndata,
            (false, true) => Says::H5sparse,
            (false, false) => Says::Tenx,
        };
        let majors = group.dataset("indptr")?.len().saturating_sub(1);
        let columns = shape(group)?.ok().and_then(|shape| shape.get(1).copied());
        let by_rows = is_by_rows(group, majors, columns.unwrap_or(0))?;
        Ok(Some(Note { by_rows, says, is_within: matches!(form.place(group)?, Place::Within(_)) }))
    }

    /// What a dataset that goes to a form remembers. Only groups of compressed rows or columns have more than one layout.
    pub(super) fn of(form: Form, dataset: &Dataset) -> Result<Note> {
        if form != Form::CsrGroup || !dataset.has_attribute(NAME)? {
            return Ok(Note { is_within: form == Form::Imaged11, ..Note::USUAL });
        }
        let text: String = dataset.attribute(NAME)?.read_scalar()?;
        let has = |word: &str| text.split_whitespace().any(|own| own == word);
        let says = match (has("10x"), has("h5sparse")) {
            (true, _) => Says::Tenx,
            (false, true) => Says::H5sparse,
            (false, false) => Says::Anndata,
        };
        Ok(Note { by_rows: !has("csc"), says, is_within: has("within") })
    }

    pub(super) fn write(self, dataset: &Dataset) -> Result<()> {
        let order = if self.by_rows { "csr" } else { "csc" };
        let says = match self.says {
            Says::Anndata => "anndata",
            Says::H5sparse => "h5sparse",
            Says::Tenx => "10x",
        };
        let place = if self.is_within { "within" } else { "instead" };
        dataset.set_attribute(NAME, format!("{order} {says} {place}"))
    }

    /// Says the shape in a group of lists, as far as attributes do, and the order.
    pub(super) fn say(self, group: &Group, [rows, columns]: [u64; 2]) -> Result<()> {
        let shape = [rows as i64, columns as i64];
        match self.says {
            Says::Anndata => {
                group.set_attribute("encoding-type", if self.by_rows { "csr_matrix" } else { "csc_matrix" })?;
                group.set_attribute("encoding-version", "0.1.0")?;
                group.set_attribute_values("shape", &shape)
            }
            Says::H5sparse => {
                group.set_attribute("h5sparse_format", if self.by_rows { "csr" } else { "csc" })?;
                group.set_attribute_values("h5sparse_shape", &shape)
            }
            Says::Tenx => Ok(()),
        }
    }
}
