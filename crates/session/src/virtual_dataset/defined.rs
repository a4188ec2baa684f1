//! Which elements of a virtual dataset are defined: those that its sources have defined. A source that is not sparse defines all that is mapped to it, a source that
//! is missing defines nothing, and what no mapping covers is not defined.

use std::{collections::HashMap, mem};

use hyperslab_base::memory;
use hyperslab_chunk::{DefinedPieces, ElementShape, SourcePart};
use hyperslab_dtype::{Arena, Datatype};
use hyperslab_space::{ElementRuns, Extent, Kind, Op, Space};

use super::Virtual;
use crate::{OpenDataset, Result, virtual_read_budget::VirtualReadBudget};

/// Elements and their values, one after the other.
type Values = (ElementRuns, Vec<u8>);

impl Virtual {
    /// The wanted elements that are defined. Points keep their order.
    pub(crate) fn defined(&self, wanted: &Space, budget: &VirtualReadBudget) -> Result<Space> {
        wanted.check_inside()?;
        budget.ask(wanted.npoints().into());
        let mut parts = Vec::new();
        self.for_each_source(wanted, wanted, budget, &mut |taken, dataset| {
            budget.take(taken.from.npoints().into())?;
            if keeps_no_account(dataset) {
                parts.push(taken.mem_selection.to_set()?);
                return Ok(());
            }
            let there = dataset.defined_below(&taken.from, &budget.below()?)?;
            parts.push(taken.from.project_intersection(&taken.mem_selection, &there)?.to_set()?);
            Ok(())
        })?;
        let mut defined = union(parts)?.unwrap_or_else(|| none_of(wanted));
        if wanted.kind() != Kind::Points {
            // Where all is defined, it is what was asked for.
            return Ok(if defined.npoints() == wanted.npoints() { wanted.clone() } else { defined });
        }
        let mut points = Vec::new();
        for point in wanted.coords()? {
            if defined.contains(&point)? {
                points.extend(point);
            }
        }
        match points.is_empty() {
            true => defined.select_none(),
            false => defined.select_points(&points)?,
        }
        Ok(defined)
    }

    /// The elements of a set that are defined, and their values as `datatype`. Each source is asked once for both. Where mappings overlap, the last source counts that
    /// has the element defined.
    pub(crate) fn read_defined(
        &self,
        wanted: &Space,
        datatype: &Datatype,
        arena: &mut Arena,
        budget: &VirtualReadBudget,
    ) -> Result<Values> {
        wanted.check_inside()?;
        let bytes = |points: u64| u128::from(points) * datatype.size() as u128;
        budget.ask(bytes(wanted.npoints()));
        // What a source does not have of an element is that of the fill value.
        let (fill, mut parts) = (self.fill_as(datatype, arena)?, Vec::new());
        self.for_each_source(wanted, wanted, budget, &mut |taken, dataset| {
            budget.take(bytes(taken.from.npoints()))?;
            let there = dataset.read_defined_below(&taken.from, (datatype, &fill), arena, &budget.below()?)?;
            parts.push(carried(taken, there, datatype.size())?);
            Ok(())
        })?;
        merged(wanted.extent(), parts, datatype.size())
    }
}

/// Whether all elements of a source are defined.
fn keeps_no_account(dataset: &OpenDataset) -> bool {
    !dataset.is_sparse() && !dataset.is_virtual()
}

fn none_of(wanted: &Space) -> Space {
    let mut none = Space::new(wanted.extent().clone());
    none.select_none();
    none
}

/// All elements of several sets. Pairs are combined, so that each set is copied a few times only, however many there are.
fn union(mut sets: Vec<Space>) -> Result<Option<Space>> {
    while sets.len() > 1 {
        let mut pairs = mem::take(&mut sets).into_iter();
        while let Some(left) = pairs.next() {
            sets.push(match pairs.next() {
                Some(right) => left.combine(Op::Or, &right)?,
                None => left,
            });
        }
    }
    Ok(sets.pop())
}

/// The elements of the virtual dataset that correspond to those of a source, with their values.
fn carried(taken: &SourcePart, (there, values): Values, size: usize) -> Result<Values> {
    let (from, here) = (&taken.from, &taken.mem_selection);
    if from.kind() != Kind::Points && here.kind() != Kind::Points {
        // Sets correspond in row-major order on both sides.
        let here = from.project_intersection(here, &there.to_space()?)?;
        return Ok((ElementRuns::of(&here)?, values));
    }
    let values: HashMap<u64, &[u8]> = numbered(&there, &values, size).collect();
    let mut found = Vec::new();
    for (from, here) in from.coords()?.zip(here.coords()?) {
        let value = values.get(&number(there.extent(), &from));
        found.extend(value.map(|value| (number(taken.mem_selection.extent(), &here), *value)));
    }
    last_of_each(here.extent(), found, size)
}

/// The parts of several sources together.
fn merged(extent: &Extent, parts: Vec<Values>, size: usize) -> Result<Values> {
    let mut runs: Vec<_> = parts.iter().flat_map(|(elements, _)| elements.runs()).cloned().collect();
    runs.sort_unstable_by_key(|run| run.start);
    if !runs.is_sorted_by(|left, right| left.end <= right.start) {
        let all = parts.iter().flat_map(|(elements, values)| numbered(elements, values, size));
        return last_of_each(extent, all.collect(), size);
    }
    let mut pieces = DefinedPieces::default();
    for (elements, values) in parts {
        pieces.add(elements.runs().to_vec(), values)?;
    }
    let mut values = Vec::new();
    pieces.hand_out(u64::MAX, &ElementShape::fixed(size), &mut |part| -> Result<()> {
        Ok(memory::append(&mut values, part.stored)?)
    })?;
    Ok((ElementRuns::new(extent.clone(), runs)?, values))
}

/// Elements with their row-major numbers and values; of several with one number the last one.
fn last_of_each(extent: &Extent, mut found: Vec<(u64, &[u8])>, size: usize) -> Result<Values> {
    // Stable: those with one number stay in their order.
    found.sort_by_key(|(number, _)| *number);
    let (mut runs, mut values) = (Vec::new(), memory::with_room(found.len().saturating_mul(size))?);
    for same in found.chunk_by(|left, right| left.0 == right.0) {
        if let Some((number, value)) = same.last() {
            runs.push(*number..number + 1);
            values.extend_from_slice(value);
        }
    }
    Ok((ElementRuns::new(extent.clone(), runs)?, values))
}

/// The number of each element, and its value.
fn numbered<'a>(elements: &'a ElementRuns, values: &'a [u8], size: usize) -> impl Iterator<Item = (u64, &'a [u8])> {
    elements.runs().iter().cloned().flatten().zip(values.chunks_exact(size.max(1)))
}

/// The row-major number of an element.
fn number(extent: &Extent, element: &[u64]) -> u64 {
    element.iter().zip(extent.dims()).fold(0, |number, (index, dim)| number * dim + index)
}
