//! Comparing values, piece by piece.

use super::Differ;
use super::rules::number;
use crate::pieces::{Pieces, nth};
use hyperslab::dtype::{Class, Datatype};
use hyperslab::space::{Op, Slab, Space};
use hyperslab::{Attribute, Dataset, Layout, Result, Value};
use serde::Serialize;

/// How the values of two arrays differ.
#[derive(Default, Serialize)]
pub(crate) struct Differing {
    /// How many do.
    pub(crate) differing: u64,
    /// How many were compared.
    pub(crate) compared: u64,
    /// How many are defined in the left one of two sparse datasets alone.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) defined_only_left: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) defined_only_right: u64,
    /// The largest distance of two numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) largest: Option<f64>,
    /// The first of them.
    pub(crate) first: Vec<Example>,
}

/// Two values that differ.
#[derive(Serialize)]
pub(crate) struct Example {
    pub(crate) at: Vec<u64>,
    pub(crate) left: String,
    pub(crate) right: String,
}

impl Differ<'_> {
    /// The values of two datasets of the same shape.
    pub(super) fn datasets(&self, left: &Dataset, right: &Dataset) -> Result<Differing> {
        match (left.is_sparse(), right.is_sparse()) {
            (true, true) => return self.sparse_pair(left, right),
            (false, false) => {}
            _ => {
                if let Some(found) = self.sparse_and_dense(left, right)? {
                    return Ok(found);
                }
            }
        }
        let mut found = Differing::default();
        let same_type = self.compares_bytes(left, right);
        // Values that were never written may be more than a program can read.
        if same_type && is_unwritten(left) && is_unwritten(right) && left.fill() == right.fill() {
            found.compared = left.len();
            return Ok(found);
        }
        for slabs in Pieces::all(left) {
            let (here, there) = (select(left, &slabs)?, select(right, &slabs)?);
            self.selected((left, &here), (right, &there), &|number| place(&slabs, number), &mut found)?;
            if self.options.quiet && found.differing > 0 {
                break;
            }
        }
        Ok(found)
    }

    /// Whether equal stored bytes of two datasets are equal values.
    fn compares_bytes(&self, left: &Dataset, right: &Dataset) -> bool {
        left.datatype() == right.datatype() && self.rules.are_plain() && is_flat(left.datatype())
    }

    /// The same part of two datasets; `place` tells where a value is by its number in the part.
    pub(super) fn selected(
        &self,
        (left, here): (&Dataset, &Space),
        (right, there): (&Dataset, &Space),
        place: &dyn Fn(u64) -> Vec<u64>,
        found: &mut Differing,
    ) -> Result<()> {
        // Bytes that are equal need no look at what they mean.
        if self.compares_bytes(left, right)
            && let (Ok(mine), Ok(other)) = (left.read_stored_selection(here), right.read_stored_selection(there))
            && mine == other
        {
            found.compared += here.npoints();
            return Ok(());
        }
        self.pairs(left.read_values(here)?, right.read_values(there)?, place, found)
    }

    /// The values of two attributes of the same shape.
    pub(super) fn attribute_values(&self, left: &Attribute, right: &Attribute) -> Result<Differing> {
        let slabs: Vec<Slab> = left.shape().iter().map(|&dim| Slab::block(0, dim)).collect();
        let mut found = Differing::default();
        self.pairs(left.read_values()?, right.read_values()?, &|number| place(&slabs, number), &mut found)?;
        Ok(found)
    }

    pub(super) fn pairs(
        &self,
        left: impl Iterator<Item = Result<Value>>,
        right: impl Iterator<Item = Result<Value>>,
        place: &dyn Fn(u64) -> Vec<u64>,
        found: &mut Differing,
    ) -> Result<()> {
        for (nth, (left, right)) in (0..).zip(left.zip(right)) {
            let (left, right) = (left?, right?);
            found.compared += 1;
            if self.rules.equal(&left, &right, (&self.left, &self.right)) {
                continue;
            }
            found.differing += 1;
            if let (Some(left), Some(right)) = (number(&left), number(&right)) {
                let distance = (left - right).abs();
                found.largest =
                    found.largest.into_iter().chain([distance]).filter(|far| far.is_finite()).reduce(f64::max);
            }
            if found.first.len() < self.options.limit {
                let (left, right) = (self.left.names.show(&left), self.right.names.show(&right));
                found.first.push(Example { at: place(nth), left, right });
            }
        }
        Ok(())
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn select(dataset: &Dataset, slabs: &[Slab]) -> Result<Space> {
    let mut space = dataset.space();
    if !slabs.is_empty() {
        space.select_hyperslab(Op::Set, slabs)?;
    }
    Ok(space)
}

/// The place of a value in a piece, counted in the dataset.
fn place(slabs: &[Slab], mut number: u64) -> Vec<u64> {
    let mut at: Vec<u64> = slabs
        .iter()
        .rev()
        .map(|slab| {
            let size = slab.indices().max(1);
            let index = nth(slab, number % size);
            number /= size;
            index
        })
        .collect();
    at.reverse();
    at
}

/// Whether all values of a dataset are its fill value.
pub(super) fn is_unwritten(dataset: &Dataset) -> bool {
    let is_own = matches!(dataset.layout(), Ok(Layout::Contiguous | Layout::Chunked { .. }));
    is_own && dataset.stored_size().is_ok_and(|stored| stored.bytes == 0)
}

/// Whether equal bytes are equal values: nothing lies elsewhere in the file.
fn is_flat(datatype: &Datatype) -> bool {
    match datatype.class() {
        Class::Vlen(_) | Class::Reference(_) => false,
        Class::Array(array) => is_flat(array.base()),
        Class::Compound(compound) => compound.members().iter().all(|member| is_flat(&member.datatype)),
        _ => true,
    }
}
