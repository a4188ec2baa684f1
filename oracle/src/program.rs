//! Selection programs: a start and steps that change it, small enough to print when a comparison fails.

use serde::Serialize;

/// How two selections combine; the names are libhdf5's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// B.
    Set,
    /// A ∪ B.
    Or,
    /// A ∩ B.
    And,
    /// In one of both.
    Xor,
    /// A − B.
    NotB,
    /// B − A.
    NotA,
}

/// A regular hyperslab; nothing stands for unlimited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pattern {
    /// First element per dimension.
    pub start: Vec<u64>,
    /// From one block to the next.
    pub stride: Vec<u64>,
    /// How many blocks.
    pub count: Vec<Option<u64>>,
    /// Elements of one block.
    pub block: Vec<Option<u64>>,
}

/// What is selected before the first step.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// The whole extent.
    All,
    /// Nothing.
    None,
    /// Coordinates, one point after the other.
    Points(Vec<u64>),
    /// A regular hyperslab.
    Slab(Pattern),
}

/// The right hand side of a step.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operand {
    /// A regular hyperslab.
    Slab(Pattern),
    /// What another program of the same extent selects.
    Program(Box<Program>),
}

/// Combines the selection so far with an operand.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// How.
    pub op: Op,
    /// With what.
    pub with: Operand,
}

/// An extent, a start and steps.
#[derive(Clone, Debug, Serialize)]
pub struct Program {
    /// The extent.
    pub dims: Vec<u64>,
    /// How far it may grow, where that is not its size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Vec<Option<u64>>>,
    /// What is selected at first.
    pub start: Start,
    /// What happens then.
    pub steps: Vec<Step>,
}

impl Program {
    /// A program without steps.
    pub fn new(dims: &[u64], start: Start) -> Program {
        Program { dims: dims.to_vec(), max: None, start, steps: Vec::new() }
    }

    /// Adds a step.
    #[must_use]
    pub fn then(mut self, op: Op, pattern: Pattern) -> Program {
        self.steps.push(Step { op, with: Operand::Slab(pattern) });
        self
    }

    /// Moves what is selected by `steps` into a larger extent, perhaps behind a new first dimension of size one.
    pub fn transplant(&mut self, steps: &[u64], extra_dimension: bool) {
        let prefix = |value| extra_dimension.then_some(value);
        if matches!(self.start, Start::All) {
            self.start = Start::Slab(Pattern::block(&vec![0; self.dims.len()], &self.dims));
        }
        match &mut self.start {
            Start::Points(coords) => {
                let points = coords.chunks(steps.len());
                let moved = points.flat_map(|point| prefix(0).into_iter().chain(sums(point, steps)));
                self.start = Start::Points(moved.collect());
            }
            Start::Slab(pattern) => pattern.transplant(steps, extra_dimension),
            Start::All | Start::None => {}
        }
        for step in &mut self.steps {
            match &mut step.with {
                Operand::Slab(pattern) => pattern.transplant(steps, extra_dimension),
                Operand::Program(program) => program.transplant(steps, extra_dimension),
            }
        }
        self.dims = prefix(1).into_iter().chain(sums(&self.dims, steps)).collect();
    }
}

fn sums(left: &[u64], right: &[u64]) -> impl Iterator<Item = u64> {
    left.iter().zip(right).map(|(left, right)| left + right)
}

impl Pattern {
    /// One block.
    pub fn block(start: &[u64], block: &[u64]) -> Pattern {
        Pattern {
            start: start.to_vec(),
            stride: vec![1; start.len()],
            count: vec![Some(1); start.len()],
            block: block.iter().copied().map(Some).collect(),
        }
    }

    fn transplant(&mut self, steps: &[u64], extra_dimension: bool) {
        self.start = sums(&self.start, steps).collect();
        if extra_dimension {
            self.start.insert(0, 0);
            self.stride.insert(0, 1);
            self.count.insert(0, Some(1));
            self.block.insert(0, Some(1));
        }
    }

    /// Whether it selects this coordinate along one dimension.
    pub fn contains(&self, dimension: usize, at: u64) -> bool {
        let (Some(&start), Some(&stride)) = (self.start.get(dimension), self.stride.get(dimension)) else {
            return false;
        };
        let count = self.count.get(dimension).copied().flatten().unwrap_or(u64::MAX);
        let block = self.block.get(dimension).copied().flatten().unwrap_or(u64::MAX);
        let Some(from) = at.checked_sub(start) else { return false };
        // The stride of a single block means nothing and may be shorter than the block.
        if count == 1 { from < block } else { from / stride < count && from % stride < block }
    }
}
