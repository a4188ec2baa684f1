//! Programs of operations against a naive array of truth values.
#![no_main]

use arbitrary::Arbitrary;
use hyperslab_fuzz::survives_every_form;
use hyperslab_space::{Op, Slab, Space};
use libfuzzer_sys::fuzz_target;

/// Two dimensions, small enough that operands meet.
const SIZE: [u64; 2] = [13, 17];

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Operation {
    Set,
    Or,
    And,
    Xor,
    NotB,
    NotA,
}

#[derive(Arbitrary, Debug)]
struct Step {
    operation: Operation,
    /// Start, stride, count and block of each dimension.
    pattern: [[u8; 4]; 2],
}

fuzz_target!(|program: Vec<Step>| {
    let Ok(mut space) = Space::simple(&SIZE) else { return };
    let mut naive = [[true; SIZE[1] as usize]; SIZE[0] as usize];
    for Step { operation, pattern } in program.iter().take(32) {
        let [rows, columns] = [slab(pattern[0], SIZE[0]), slab(pattern[1], SIZE[1])];
        space.select_hyperslab(op(*operation), &[rows, columns]).expect("a pattern inside the extent");
        for (row, line) in naive.iter_mut().enumerate() {
            for (column, selected) in line.iter_mut().enumerate() {
                let operand = contains(rows, row as u64) && contains(columns, column as u64);
                *selected = combined(*operation, *selected, operand);
            }
        }
    }
    let expected: Vec<Vec<u64>> = (0..SIZE[0])
        .flat_map(|row| (0..SIZE[1]).map(move |column| vec![row, column]))
        .filter(|point| naive[point[0] as usize][point[1] as usize])
        .collect();
    let found: Vec<Vec<u64>> = space.coords().expect("a limited selection").map(|point| point.to_vec()).collect();
    assert_eq!(found, expected);
    let bytes: u64 = space.runs(4).expect("a selection inside the extent").map(|run| run.len).sum();
    assert_eq!(bytes, 4 * space.npoints());
    survives_every_form(&space);
});

/// A pattern inside a dimension, from any four numbers.
fn slab([start, stride, count, block]: [u8; 4], size: u64) -> Slab {
    let start = u64::from(start) % size;
    let block = u64::from(block) % (size - start) + 1;
    let stride = block + u64::from(stride) % 4;
    let most = (size - start - block) / stride + 1;
    Slab::new(start, stride, u64::from(count) % (most + 1), block)
}

fn contains(slab: Slab, at: u64) -> bool {
    at.checked_sub(slab.start).is_some_and(|from| from / slab.stride < slab.count && from % slab.stride < slab.block)
}

fn op(operation: Operation) -> Op {
    match operation {
        Operation::Set => Op::Set,
        Operation::Or => Op::Or,
        Operation::And => Op::And,
        Operation::Xor => Op::Xor,
        Operation::NotB => Op::NotB,
        Operation::NotA => Op::NotA,
    }
}

fn combined(operation: Operation, a: bool, b: bool) -> bool {
    match operation {
        Operation::Set => b,
        Operation::Or => a || b,
        Operation::And => a && b,
        Operation::Xor => a != b,
        Operation::NotB => a && !b,
        Operation::NotA => b && !a,
    }
}
