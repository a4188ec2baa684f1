//! Which elements of a chunk a write changes, and where their values are in the caller's buffer.

use hyperslab_space::{Kind, Moves, Points, Space};

use super::packed_elements::Part;
use crate::{Result, transfer::scatter::outside};

/// So many parts are changed at once.
const PARTS: usize = 1 << 15;

/// Hands out the parts of a chunk that a write changes, some at a time: within each call they rise and do not overlap. `from` counts elements of the memory's
/// extent. Of values for one element, the last one counts.
pub(super) fn for_each_part(file: &Space, memory: &Space, each: &mut dyn FnMut(&[Part]) -> Result<()>) -> Result<()> {
    let (mut parts, any_order) = (Vec::new(), file.kind() == Kind::Points);
    if let (Some(points), Some(run)) = (file.points(), memory.only_run(1)) {
        parts = of_points(points, file.dims(), run.offset)?;
        return each(if is_rising(&parts) {
            &parts
        } else {
            parts = sorted(&parts);
            &parts
        });
    }
    for moves in Moves::new(memory, file, 1)? {
        for nth in 0..moves.count {
            let part = part(moves.to + nth * moves.to_step, moves.len, moves.from + nth * moves.from_step)?;
            add(&mut parts, part);
            if parts.len() > PARTS && !any_order {
                let last = parts.pop();
                each(&parts)?;
                parts.clear();
                parts.extend(last);
            }
        }
    }
    if any_order && !is_rising(&parts) {
        parts = sorted(&parts);
    }
    each(&parts)
}

/// The parts that points are, whose values lie one after the other.
fn of_points(points: &Points, dims: &[u64], first: u64) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for (point, from) in points.iter().zip(first..) {
        let number =
            point.iter().zip(dims).fold(0u64, |number, (index, size)| number.wrapping_mul(*size).wrapping_add(*index));
        add(&mut parts, part(number, 1, from)?);
    }
    Ok(parts)
}

fn is_rising(parts: &[Part]) -> bool {
    parts.is_sorted_by(|left, right| left.range.end <= right.range.start)
}

/// Adds a part, or makes the last one longer.
fn add(parts: &mut Vec<Part>, part: Part) {
    match parts.last_mut() {
        Some(last) if last.range.end == part.range.start && last.from + last.range.len() == part.from => {
            last.range.end = part.range.end;
        }
        _ => parts.push(part),
    }
}

/// The parts element by element, by rising number; the last of those that name one element.
fn sorted(parts: &[Part]) -> Vec<Part> {
    let single = |part: &Part| {
        let from = part.from;
        part.range.clone().enumerate().map(move |(nth, number)| (number, from + nth)).collect::<Vec<_>>()
    };
    let mut elements: Vec<(u32, usize)> = parts.iter().flat_map(single).collect();
    // Stable: those of one element stay in their order.
    elements.sort_by_key(|(number, _)| *number);
    let mut sorted = Vec::new();
    for together in elements.chunk_by(|left, right| left.0 == right.0) {
        if let Some(&(number, from)) = together.last() {
            add(&mut sorted, Part { range: number..number + 1, from });
        }
    }
    sorted
}

fn part(first: u64, count: u64, from: u64) -> Result<Part> {
    let number = |number: u64| u32::try_from(number).map_err(|_| outside());
    Ok(Part {
        range: number(first)?..number(first.saturating_add(count))?,
        from: usize::try_from(from).map_err(|_| outside())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(points: &[u64]) -> Vec<Part> {
        let mut file = Space::simple(&[2, 5]).unwrap();
        file.select_points(points).unwrap();
        let mut parts = Vec::new();
        let memory = Space::simple(&[file.npoints()]).unwrap();
        for_each_part(&file, &memory, &mut |some| {
            parts.extend_from_slice(some);
            Ok(())
        })
        .unwrap();
        parts
    }

    #[test]
    fn points_rise_and_the_last_of_one_element_counts() {
        let part = |range, from| Part { range, from };
        assert_eq!(parts(&[0, 3, 0, 4, 1, 0]), [part(3..6, 0)]);
        assert_eq!(parts(&[1, 0, 0, 3, 1, 0, 0, 2]), [part(2..3, 3), part(3..4, 1), part(5..6, 2)]);
    }
}
