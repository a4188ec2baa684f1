//! The naive twin of a selection: a list of coordinates in order, and recipes for random selections of both.

use hyperslab_space::{Op, Slab, Space};
use proptest::prelude::*;

pub const OPS: [Op; 5] = [Op::Or, Op::And, Op::Xor, Op::NotB, Op::NotA];

/// Every coordinate of an extent in row-major order.
pub fn all_coords(dims: &[u64]) -> Vec<Vec<u64>> {
    dims.iter().fold(vec![vec![]], |heads, &dim| {
        heads.iter().flat_map(|head| (0..dim).map(move |index| [&head[..], &[index]].concat())).collect()
    })
}

/// How to make a selection.
#[derive(Clone, Debug)]
pub enum Recipe {
    All,
    None,
    Points(Vec<Vec<u64>>),
    Slabs(Vec<(Op, Vec<Slab>)>),
}

impl Recipe {
    pub fn space(&self, dims: &[u64]) -> Space {
        let mut space = Space::simple(dims).unwrap();
        match self {
            Recipe::All => {}
            Recipe::None => space.select_none(),
            Recipe::Points(points) => space.select_points(&points.concat()).unwrap(),
            Recipe::Slabs(steps) => {
                space.select_none();
                for (op, slabs) in steps {
                    space.select_hyperslab(*op, slabs).unwrap();
                }
            }
        }
        space
    }

    /// The coordinates it selects, in order.
    pub fn coords(&self, dims: &[u64]) -> Vec<Vec<u64>> {
        match self {
            Recipe::All => all_coords(dims),
            Recipe::None => vec![],
            Recipe::Points(points) => points.clone(),
            Recipe::Slabs(steps) => {
                let picked = |coords: &[u64]| {
                    steps.iter().fold(false, |picked, (op, slabs)| op.keeps(picked, holds(slabs, coords)))
                };
                all_coords(dims).into_iter().filter(|coords| picked(coords)).collect()
            }
        }
    }
}

fn holds(slabs: &[Slab], coords: &[u64]) -> bool {
    slabs.iter().zip(coords).all(|(slab, &index)| {
        (0..slab.count).any(|nth| {
            let start = slab.start + nth * slab.stride;
            (start..start + slab.block).contains(&index)
        })
    })
}

/// A pattern inside a dimension of `dim` elements.
fn slab(dim: u64) -> impl Strategy<Value = Slab> {
    (0..dim, 1..=dim, 0..4u64, 1..=dim).prop_map(move |(start, block, gap, count)| {
        let block = block.min(dim - start);
        let stride = block + gap;
        let room = (dim - start - block) / stride + 1;
        Slab::new(start, stride, count.min(room), block)
    })
}

pub fn slabs(dims: &[u64]) -> impl Strategy<Value = Vec<Slab>> + use<> {
    dims.iter().map(|&dim| slab(dim)).collect::<Vec<_>>()
}

pub fn recipe(dims: &[u64]) -> impl Strategy<Value = Recipe> + use<> {
    let point: Vec<_> = dims.iter().map(|&dim| 0..dim).collect();
    let op = prop_oneof![3 => Just(Op::Or), 1 => Just(Op::And), 2 => Just(Op::Xor), 2 => Just(Op::NotB), 1 => Just(Op::NotA)];
    prop_oneof![
        1 => Just(Recipe::All),
        1 => Just(Recipe::None),
        3 => prop::collection::vec(point, 1..12).prop_map(Recipe::Points),
        4 => slabs(dims).prop_map(|slabs| Recipe::Slabs(vec![(Op::Set, slabs)])),
        8 => prop::collection::vec((op, slabs(dims)), 1..7).prop_map(Recipe::Slabs),
    ]
}

pub fn dims() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(1..7u64, 1..5)
}

pub fn selection() -> impl Strategy<Value = (Vec<u64>, Recipe)> {
    dims().prop_flat_map(|dims| {
        let recipe = recipe(&dims);
        (Just(dims), recipe)
    })
}

pub fn two_selections() -> impl Strategy<Value = (Vec<u64>, Recipe, Recipe)> {
    dims().prop_flat_map(|dims| {
        let recipes = (recipe(&dims), recipe(&dims));
        (Just(dims), recipes).prop_map(|(dims, (left, right))| (dims, left, right))
    })
}

/// The place of an element in row-major order.
pub fn linear(dims: &[u64], coords: &[u64]) -> u64 {
    dims.iter().zip(coords).fold(0, |place, (dim, index)| place * dim + index)
}

pub fn coords_of(space: &Space) -> Vec<Vec<u64>> {
    space.coords().unwrap().map(|coords| coords.to_vec()).collect()
}
