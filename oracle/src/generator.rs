//! Random selection programs. Extents are small, so that operands overlap, touch and vanish often.

use crate::naive::{coordinates, product};
use crate::program::{Op, Operand, Pattern, Program, Start, Step};

/// Largest size of a dimension, by rank.
const SIZES: [u64; 5] = [40, 12, 7, 5, 4];

/// A source of programs; equal seeds give equal programs.
pub struct Generator {
    random: fastrand::Rng,
}

impl Generator {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Generator {
        Generator { random: fastrand::Rng::with_seed(seed) }
    }

    /// One to five small dimensions.
    pub fn dims(&mut self) -> Vec<u64> {
        let rank = self.random.usize(1..=SIZES.len());
        let largest = SIZES.get(rank - 1).copied().unwrap_or(1);
        (0..rank).map(|_| self.random.u64(1..=largest)).collect()
    }

    /// A program with one to six steps, or a pure selection of points.
    pub fn program(&mut self) -> Program {
        let dims = self.dims();
        self.program_in(&dims)
    }

    /// A program on a given extent.
    pub fn program_in(&mut self, dims: &[u64]) -> Program {
        if self.one_in(12) {
            return Program::new(dims, self.points(dims));
        }
        self.hyperslabs(dims, 6, 2)
    }

    fn hyperslabs(&mut self, dims: &[u64], most_steps: usize, depth: usize) -> Program {
        let start = match self.random.u8(0..20) {
            0..=1 => Start::All,
            2 => Start::None,
            3 => self.points(dims),
            _ => Start::Slab(self.pattern(dims)),
        };
        let mut program = Program::new(dims, start);
        for _ in 0..self.random.usize(0..=most_steps) {
            let step = self.step(dims, depth);
            program.steps.push(step);
        }
        program
    }

    fn step(&mut self, dims: &[u64], depth: usize) -> Step {
        let op = match self.random.u8(0..16) {
            0 => Op::Set,
            1..=5 => Op::Or,
            6..=7 => Op::And,
            8..=10 => Op::Xor,
            11..=13 => Op::NotB,
            _ => Op::NotA,
        };
        // libhdf5 does not combine by "set" with a whole selection.
        let with = if depth > 0 && op != Op::Set && self.one_in(4) {
            let mut operand = self.hyperslabs(dims, 3, depth - 1);
            if matches!(operand.start, Start::All | Start::None | Start::Points(_)) && !self.one_in(8) {
                operand.start = Start::Slab(self.pattern(dims));
            }
            Operand::Program(Box::new(operand))
        } else {
            Operand::Slab(self.pattern(dims))
        };
        Step { op, with }
    }

    /// A regular hyperslab inside the extent, or now and then an empty one.
    pub fn pattern(&mut self, dims: &[u64]) -> Pattern {
        let mut pattern = Pattern { start: vec![], stride: vec![], count: vec![], block: vec![] };
        let single_block = self.one_in(3);
        for &size in dims {
            let (start, stride, count, block) = if self.one_in(6) {
                (0, 1, 1, size)
            } else if single_block {
                let start = self.random.u64(0..size);
                (start, self.random.u64(1..=3), 1, self.random.u64(1..=size - start))
            } else {
                self.progression(size)
            };
            pattern.start.push(start);
            pattern.stride.push(stride);
            pattern.count.push(Some(if self.one_in(60) { 0 } else { count }));
            pattern.block.push(Some(block));
        }
        pattern
    }

    fn progression(&mut self, size: u64) -> (u64, u64, u64, u64) {
        let block = self.random.u64(1..=size.min(3));
        let start = self.random.u64(0..=size - block);
        // A gap of zero makes blocks touch.
        let stride = block + self.random.u64(0..=2);
        let most = (size - block - start) / stride + 1;
        (start, stride, self.random.u64(1..=most), block)
    }

    /// One to eight points, repeats included.
    pub fn points(&mut self, dims: &[u64]) -> Start {
        let points = self.random.usize(1..=8);
        Start::Points((0..points).flat_map(|_| self.point(dims)).collect())
    }

    fn point(&mut self, dims: &[u64]) -> Vec<u64> {
        dims.iter().map(|&size| self.random.u64(0..size)).collect()
    }

    /// Inclusive corners of a block; its high corner may lie just outside the extent.
    pub fn corners(&mut self, dims: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let low = self.point(dims);
        let high = low.iter().zip(dims).map(|(&low, &size)| low + self.random.u64(0..=size / 2)).collect();
        (low, high)
    }

    /// How far a selection with these bounds may be moved inside its extent.
    pub fn distance(&mut self, low: &[u64], high: &[u64], dims: &[u64]) -> Vec<i64> {
        let corners = low.iter().zip(high).zip(dims);
        corners.map(|((&low, &high), &size)| self.random.u64(0..size - (high - low)) as i64 - low as i64).collect()
    }

    /// A program that selects the same shape elsewhere, perhaps in one more dimension, perhaps with a difference.
    pub fn lookalike(&mut self, program: &Program) -> Program {
        let mut twin = program.clone();
        let steps: Vec<u64> = program.dims.iter().map(|_| self.random.u64(0..=2)).collect();
        let extra_dimension = self.one_in(3);
        twin.transplant(&steps, extra_dimension);
        if self.one_in(3) {
            let step = self.step(&twin.dims.clone(), 0);
            twin.steps.push(step);
        }
        twin
    }

    /// A program with exactly this many elements on an extent of its own; points among them.
    pub fn of_count(&mut self, count: u64) -> Program {
        if count == 0 {
            return Program::new(&self.dims(), Start::None);
        }
        if self.one_in(4) {
            let dims = self.dims();
            let coords = (0..count).flat_map(|_| self.point(&dims)).collect();
            return Program::new(&dims, Start::Points(coords));
        }
        // Rows that grow until all elements have a place: irregular, in one to three dimensions.
        let width = self.random.u64(1..=6);
        let rows = count.div_ceil(width);
        let dims: Vec<u64> = match self.random.u8(0..3) {
            0 => vec![count + self.random.u64(0..=9)],
            1 => vec![rows + 1, width + self.random.u64(0..=2)],
            _ => vec![self.random.u64(1..=2), rows + 1, width + self.random.u64(0..=2)],
        };
        self.scattered(dims, count)
    }

    /// `count` elements of an extent as a union of random pieces of its rows.
    fn scattered(&mut self, dims: Vec<u64>, count: u64) -> Program {
        let mut left: Vec<u64> = (0..product(&dims)).collect();
        if self.random.bool() {
            self.random.shuffle(&mut left);
        } else {
            let spare = left.len() as u64 - count;
            left.drain(..self.random.u64(0..=spare) as usize);
        }
        left.truncate(count as usize);
        let mut program = Program::new(&dims, Start::None);
        for position in left {
            let point = coordinates(&dims, position);
            program = program.then(Op::Or, Pattern::block(&point, &vec![1; dims.len()]));
        }
        program
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.random.usize(0..limit)
    }

    /// True one time in `n`.
    pub fn one_in(&mut self, n: u32) -> bool {
        self.random.u32(0..n) == 0
    }
}
