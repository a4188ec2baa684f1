//! Arrays for a screen: numbers in columns, records as a table, and of large ones only the corners, as NumPy shows them.

use super::Part;
use super::elements::Elements;
use crate::names::Names;
use crate::nested::{self, Shape};
use crate::pieces::nth;
use comfy_table::{Table, presets};
use hyperslab::space::Slab;
use hyperslab::{Dataset, Error, Value};
use std::io::{self, IsTerminal, Write};

/// Arrays of no more elements are shown as a whole.
const SHORT: u64 = 1000;

/// How many elements are shown at either end of a dimension.
const EDGE: u64 = 3;

/// Corners are points of a selection; there are many in many dimensions.
const MOST_CORNERS: u64 = 10_000;

/// What is read for one screen.
const MOST_BYTES: u64 = 1 << 20;

/// Letters of one value.
const LONGEST: usize = 1000;

/// Columns of a line where the terminal does not say.
const WIDTH: usize = 100;

pub(super) fn width() -> usize {
    terminal_size::terminal_size().map_or(WIDTH, |(width, _)| usize::from(width.0).max(20))
}

/// Prints an array; says why if not all of it could be read.
pub(super) fn write(out: &mut impl Write, dataset: &Dataset, part: &Part, names: &Names) -> io::Result<Option<Error>> {
    let size = dataset.datatype().size() as u64;
    let fits = |elements: u64, most: u64| elements <= most && elements.saturating_mul(size) <= MOST_BYTES;
    let whole = part.slabs.iter().map(Slab::indices).fold(1, u64::saturating_mul);
    let corners_of =
        |edge: u64| part.slabs.iter().map(|slab| slab.indices().min(2 * edge)).fold(1, u64::saturating_mul);
    let edge = match fits(whole, SHORT) {
        true => u64::MAX / 2,
        false => (1..=EDGE).rev().find(|&edge| fits(corners_of(edge), MOST_CORNERS)).unwrap_or(0),
    };
    if edge == 0 {
        let shape = Shape { longest: LONGEST, ..Shape::new(&part.dims, width()) };
        let few = (MOST_BYTES / size).clamp(1, SHORT);
        return Ok(nested::text(out, &shape, Elements::new(dataset, &part.slabs, false), names, few)?.failed);
    }
    let read = match fits(whole, SHORT) {
        true => Elements::new(dataset, &part.slabs, false).collect(),
        false => corners(dataset, &part.slabs, edge),
    };
    let values: Vec<Value> = match read {
        Ok(values) => values,
        Err(why) => return Ok(Some(why)),
    };
    let gaps: Vec<Option<u64>> = part.dims.iter().map(|&size| (size > 2 * edge).then_some(edge)).collect();
    let dims: Vec<u64> = part.dims.iter().map(|&size| size.min(2 * edge)).collect();
    if let ([gap], Some(Value::Compound(_))) = (gaps.as_slice(), values.first()) {
        write!(out, "{}", table(&values, *gap, names).trim_fmt())?;
        return Ok(None);
    }
    let numbers = values.iter().all(|value| {
        matches!(value, Value::Signed(_) | Value::Unsigned(_) | Value::F32(_) | Value::F64(_) | Value::Bool(_))
    });
    let widest = values.iter().filter(|_| numbers).map(|value| value.to_string().len()).max();
    let shape = Shape { dims, gaps, pad: widest.unwrap_or(0), longest: LONGEST, width: width() };
    Ok(nested::text(out, &shape, values.into_iter().map(Ok), names, u64::MAX)?.failed)
}

/// The first and last elements of each dimension.
fn corners(dataset: &Dataset, slabs: &[Slab], edge: u64) -> hyperslab::Result<Vec<Value>> {
    let ends = |slab: &Slab| -> Vec<u64> {
        let size = slab.indices();
        let numbers = (0..size.min(edge)).chain(size.saturating_sub(edge).max(edge.min(size))..size);
        numbers.map(|number| nth(slab, number)).collect()
    };
    let mut points: Vec<Vec<u64>> = vec![Vec::new()];
    for slab in slabs {
        let ends = ends(slab);
        let longer =
            |point: Vec<u64>| ends.iter().map(move |&end| [point.as_slice(), &[end]].concat()).collect::<Vec<_>>();
        points = points.into_iter().flat_map(longer).collect();
    }
    let mut space = dataset.space();
    space.select_points(&points.concat())?;
    dataset.read_values(&space)?.collect()
}

/// Records one below the other, members in columns.
fn table(records: &[Value], gap: Option<u64>, names: &Names) -> Table {
    let mut table = Table::new();
    let framed = io::stdout().is_terminal();
    table.load_style(if framed { presets::UTF8_FULL_CONDENSED } else { presets::NOTHING });
    for (number, record) in records.iter().enumerate() {
        let Value::Compound(members) = record else { continue };
        if number == 0 {
            table.set_header(members.iter().map(|(name, _)| crate::escape::printable(name.as_bytes())));
        }
        if gap == Some(number as u64) {
            table.add_row(members.iter().map(|_| "…"));
        }
        table.add_row(members.iter().map(|(_, value)| names.show(value)));
    }
    table
}
