//! Programs run by Hyperslab.

use crate::naive::position;
use crate::program::{Op, Operand, Pattern, Program, Start};
use hyperslab_space::{LibVersion, Result, Slab, Space, UNLIMITED};

/// Lowest library versions, in the order of `oracle.py`.
pub const LOWS: [LibVersion; 6] =
    [LibVersion::Earliest, LibVersion::V18, LibVersion::V110, LibVersion::V112, LibVersion::V114, LibVersion::V200];

/// The space with what the program selects.
///
/// # Errors
/// If Hyperslab refuses a step.
pub fn execute(program: &Program) -> Result<Space> {
    let mut space = match &program.max {
        None => Space::simple(&program.dims)?,
        Some(max) => Space::with_max(&program.dims, max)?,
    };
    match &program.start {
        Start::All => space.select_all(),
        Start::None => space.select_none(),
        Start::Points(coords) => space.select_points(coords)?,
        Start::Slab(pattern) => space.select_hyperslab(hyperslab_space::Op::Set, &pattern.slabs())?,
    }
    for step in &program.steps {
        match &step.with {
            Operand::Slab(pattern) => space.select_hyperslab(step.op.into(), &pattern.slabs())?,
            Operand::Program(program) => space = space.combine(step.op.into(), &execute(program)?)?,
        }
    }
    Ok(space)
}

/// The selected elements as positions in row-major order.
///
/// # Errors
/// If the selection is unlimited.
pub fn positions(space: &Space) -> Result<Vec<u64>> {
    Ok(space.coords()?.map(|coords| position(space.dims(), &coords)).collect())
}

impl Pattern {
    fn slabs(&self) -> Vec<Slab> {
        let parts = self.start.iter().zip(&self.stride).zip(self.count.iter().zip(&self.block));
        let limit = |value: &Option<u64>| value.unwrap_or(UNLIMITED);
        parts.map(|((&start, &stride), (count, block))| Slab::new(start, stride, limit(count), limit(block))).collect()
    }
}

impl From<Op> for hyperslab_space::Op {
    fn from(op: Op) -> hyperslab_space::Op {
        match op {
            Op::Set => hyperslab_space::Op::Set,
            Op::Or => hyperslab_space::Op::Or,
            Op::And => hyperslab_space::Op::And,
            Op::Xor => hyperslab_space::Op::Xor,
            Op::NotB => hyperslab_space::Op::NotB,
            Op::NotA => hyperslab_space::Op::NotA,
        }
    }
}
