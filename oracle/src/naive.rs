//! What a program selects, worked out the slow and obvious way: one truth value per element.

use crate::program::{Op, Operand, Pattern, Program, Start, Step};

/// The selected elements as positions in row-major order: rising, or in their own order for points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elements {
    /// Positions in the extent.
    pub positions: Vec<u64>,
    /// Whether order and repeats count.
    pub points: bool,
}

/// Number of elements of an extent.
pub(crate) fn product(dims: &[u64]) -> u64 {
    dims.iter().product()
}

/// What a program without unlimited patterns selects.
pub fn elements(program: &Program) -> Elements {
    if let Start::Points(coords) = &program.start
        && program.steps.iter().all(changes_nothing)
    {
        let positions = coords.chunks(program.dims.len()).map(|point| position(&program.dims, point)).collect();
        return Elements { positions, points: true };
    }
    let flags = flags(program);
    let positions = (0u64..).zip(&flags).filter(|(_, selected)| **selected).map(|(position, _)| position).collect();
    Elements { positions, points: false }
}

/// A step that leaves any selection as it is, order and repeats included, because its operand is empty.
fn changes_nothing(step: &Step) -> bool {
    let empty = match &step.with {
        Operand::Slab(pattern) => pattern.count.contains(&Some(0)),
        Operand::Program(program) => elements(program).positions.is_empty(),
    };
    empty && matches!(step.op, Op::Or | Op::Xor | Op::NotB)
}

/// Whether two programs select the same shape: equal elements in turn once each is moved to the origin, where the one
/// of higher rank may have further dimensions in front, of one index each.
pub fn same_shape(left: &Program, right: &Program) -> bool {
    let (left, right) = (from_origin(left), from_origin(right));
    left.len() == right.len() && left.iter().zip(&right).all(|(left, right)| ends_equal(left, right))
}

fn from_origin(program: &Program) -> Vec<Vec<u64>> {
    let points: Vec<Vec<u64>> =
        elements(program).positions.iter().map(|position| coordinates(&program.dims, *position)).collect();
    let lowest = |dimension| points.iter().filter_map(|point: &Vec<u64>| point.get(dimension)).min().copied();
    let origin: Vec<u64> = (0..program.dims.len()).filter_map(lowest).collect();
    points.iter().map(|point| point.iter().zip(&origin).map(|(at, low)| at - low).collect()).collect()
}

fn ends_equal(left: &[u64], right: &[u64]) -> bool {
    let front = |longer: &[u64], shorter: &[u64]| longer.iter().rev().skip(shorter.len()).all(|at| *at == 0);
    left.iter().rev().zip(right.iter().rev()).all(|(left, right)| left == right)
        && front(left, right)
        && front(right, left)
}

fn flags(program: &Program) -> Vec<bool> {
    let everything = 0..product(&program.dims);
    let mut selected: Vec<bool> = match &program.start {
        Start::All => everything.map(|_| true).collect(),
        Start::None => everything.map(|_| false).collect(),
        Start::Points(coords) => {
            let points: Vec<u64> = coords.chunks(program.dims.len()).map(|p| position(&program.dims, p)).collect();
            everything.map(|position| points.contains(&position)).collect()
        }
        Start::Slab(pattern) => pattern_flags(&program.dims, pattern),
    };
    for step in &program.steps {
        let operand = match &step.with {
            Operand::Slab(pattern) => pattern_flags(&program.dims, pattern),
            Operand::Program(program) => flags(program),
        };
        for (a, b) in selected.iter_mut().zip(operand) {
            *a = match step.op {
                Op::Set => b,
                Op::Or => *a || b,
                Op::And => *a && b,
                Op::Xor => *a != b,
                Op::NotB => *a && !b,
                Op::NotA => b && !*a,
            };
        }
    }
    selected
}

fn pattern_flags(dims: &[u64], pattern: &Pattern) -> Vec<bool> {
    let mut selected = vec![true];
    for (dimension, &size) in dims.iter().enumerate() {
        let along: Vec<bool> = (0..size).map(|at| pattern.contains(dimension, at)).collect();
        selected = selected.iter().flat_map(|outer| along.iter().map(move |inner| *outer && *inner)).collect();
    }
    selected
}

/// The place of a point in row-major order.
pub fn position(dims: &[u64], point: &[u64]) -> u64 {
    dims.iter().zip(point).fold(0, |position, (size, coordinate)| position * size + coordinate)
}

/// The coordinates of a position in row-major order.
pub(crate) fn coordinates(dims: &[u64], mut position: u64) -> Vec<u64> {
    let mut point: Vec<u64> = Vec::new();
    for size in dims.iter().rev() {
        point.push(position % size);
        position /= size;
    }
    point.reverse();
    point
}
