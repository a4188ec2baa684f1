//! The flush-dependency graph, in every state that four entries can be in.

use std::collections::{HashSet, VecDeque};

use hyperslab_meta::{Graph, Id};

const N: usize = 4;

/// The graph as a table, and what follows from it computed the slow way.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Twin {
    here: [bool; N],
    dirty: [bool; N],
    /// `edges[parent][child]`.
    edges: [[bool; N]; N],
}

impl Twin {
    fn children(&self, parent: usize) -> impl Iterator<Item = usize> + '_ {
        (0..N).filter(move |&child| self.edges[parent][child])
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        from == to || self.children(from).any(|child| self.reaches(child, to))
    }

    fn waits(&self, parent: usize) -> bool {
        self.children(parent).any(|child| self.dirty[child] || self.waits(child))
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Add(usize),
    Remove(usize),
    Dirty(usize),
    Clean(usize),
    Depend(usize, usize),
    Release(usize, usize),
    Part(usize),
}

fn steps() -> Vec<Step> {
    let pairs = |step: fn(usize, usize) -> Step| (0..N * N).map(move |pair| step(pair / N, pair % N));
    let singles = [Step::Add, Step::Remove, Step::Dirty, Step::Clean, Step::Part];
    let singles = singles.into_iter().flat_map(|step| (0..N).map(step));
    singles.chain(pairs(Step::Depend)).chain(pairs(Step::Release)).collect()
}

/// Takes a step in both; the two must say the same.
fn take(twin: &mut Twin, graph: &mut Graph, step: Step) {
    let id = |number: usize| Id(number as u64);
    match step {
        Step::Add(a) => {
            graph.add(id(a));
            twin.here[a] = true;
        }
        Step::Remove(a) => {
            graph.remove(id(a));
            twin.here[a] = false;
            twin.dirty[a] = false;
            twin.edges[a] = [false; N];
            twin.edges.iter_mut().for_each(|row| row[a] = false);
        }
        Step::Dirty(a) => {
            graph.set_clean(id(a), false);
            twin.dirty[a] = twin.here[a];
        }
        Step::Clean(a) => {
            graph.set_clean(id(a), true);
            twin.dirty[a] = false;
        }
        Step::Depend(a, b) => {
            let legal = twin.here[a] && twin.here[b] && !twin.reaches(b, a);
            assert_eq!(graph.depend(id(a), id(b)), legal, "{a} on {b}");
            twin.edges[a][b] |= legal;
        }
        Step::Release(a, b) => {
            assert_eq!(graph.release(id(a), id(b)), twin.edges[a][b], "{a} from {b}");
            twin.edges[a][b] = false;
        }
        Step::Part(a) => {
            graph.part(id(a));
            if (0..N).all(|b| !twin.edges[a][b] && !twin.edges[b][a]) {
                twin.here[a] = false;
                twin.dirty[a] = false;
            }
        }
    }
    for a in 0..N {
        assert_eq!(graph.waits(id(a)), twin.waits(a), "whether {a} waits after {step:?}");
        assert_eq!(graph.is_parent(id(a)), twin.children(a).next().is_some(), "whether {a} is a parent after {step:?}");
    }
}

#[test]
fn every_reachable_state_agrees_with_the_table() {
    let start = Twin { here: [false; N], dirty: [false; N], edges: [[false; N]; N] };
    let (mut seen, mut open) = (HashSet::from([start]), VecDeque::from([(start, Graph::default())]));
    let mut transitions = 0;
    while let Some((twin, graph)) = open.pop_front() {
        for step in steps() {
            let (mut twin, mut graph) = (twin, graph.clone());
            take(&mut twin, &mut graph, step);
            transitions += 1;
            if seen.insert(twin) {
                open.push_back((twin, graph));
            }
        }
    }
    println!("{} states, {transitions} transitions", seen.len());
    // For each number of entries: which of the four, acyclic graphs of them, each entry clean or dirty.
    let expected = 1 + 4 * 2 + 6 * 3 * 4 + 4 * 25 * 8 + 543 * 16;
    assert_eq!(seen.len(), expected);
}

/// Whatever is dirty can be written in some order: the graph never locks itself up.
#[test]
fn something_can_always_be_written() {
    let start = Twin { here: [true; N], dirty: [true; N], edges: [[false; N]; N] };
    let (mut seen, mut open) = (HashSet::from([start]), vec![start]);
    while let Some(twin) = open.pop() {
        assert!((0..N).any(|a| !twin.waits(a)));
        for (a, b) in (0..N * N).map(|pair| (pair / N, pair % N)) {
            let mut next = twin;
            next.edges[a][b] |= !twin.reaches(b, a);
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    assert_eq!(seen.len(), 543, "acyclic graphs of four entries");
}
