//! Random selection programs, run by us, by libhdf5 and by a naive array of truth values: all three agree.

use hyperslab_oracle::{
    Answer, Description, Generator, LOWS, Op, Operand, Program, Question, Verdict, elements, execute, hex, positions,
    run, same_shape, unhex,
};
use hyperslab_space::{Kind, Run, Slab, Space};
use std::error::Error;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One in five combines with nothing, everything or points, which libhdf5 refuses.
const PROGRAMS: u64 = 9_000;
const SIZES: [usize; 3] = [1, 4, 12];

/// A program, what we make of it, and what else to ask about it.
struct Case {
    program: Program,
    ours: Space,
    twin: Program,
    boxes: Vec<(Vec<u64>, Vec<u64>)>,
    moved: Option<Vec<i64>>,
}

impl Case {
    fn same_as_twin(&self) -> String {
        format!("same shape as {}", serde_json::to_string(&self.twin).unwrap())
    }
}

#[test]
fn selections_equal_libhdf5_and_the_naive_twin() -> Result<(), Box<dyn Error>> {
    let compared = AtomicU64::new(0);
    run(PROGRAMS, case, |oracle, cases| {
        let encodings: Vec<Vec<String>> = cases.iter().map(|case| encodings(&case.ours)).collect();
        let questions: Vec<_> = cases.iter().zip(&encodings).map(|(case, wires)| question(case, wires)).collect();
        let answers: Vec<Answer<Description>> = oracle.ask(&questions)?;
        let mut differences = Vec::new();
        for ((case, wires), answer) in cases.iter().zip(&encodings).zip(answers) {
            let mut found = against_naive(case);
            if let Answer::Given(answer) = answer {
                compared.fetch_add(1, Relaxed);
                found.extend(against_libhdf5(case, wires, &answer));
            }
            let program = serde_json::to_string(&case.program)?;
            differences.extend(found.into_iter().map(|difference| format!("{difference}\n    in {program}")));
        }
        Ok(differences)
    })?;
    println!("{} compared with libhdf5, the rest only with the naive twin", compared.into_inner());
    Ok(())
}

fn case(generator: &mut Generator) -> Case {
    let program = generator.program();
    let ours = execute(&program).unwrap_or_else(|error| panic!("{error} in {program:?}"));
    let twin = if generator.one_in(3) { generator.program() } else { generator.lookalike(&program) };
    let boxes = (0..4).map(|_| generator.corners(&program.dims)).collect();
    let moved = ours.bounds().map(|(low, high)| generator.distance(&low, &high, &program.dims));
    Case { program, ours, twin, boxes, moved }
}

fn encodings(space: &Space) -> Vec<String> {
    LOWS.iter().map(|&low| hex(&space.encode(low).unwrap())).collect()
}

fn question<'a>(case: &'a Case, wires: &[String]) -> Question<'a> {
    Question::Describe {
        program: &case.program,
        unlimited: false,
        encodings: wires.iter().cloned().map(Some).collect(),
        sizes: &SIZES,
        boxes: &case.boxes,
        twin: Some(&case.twin),
        moved: case.moved.as_deref(),
    }
}

/// What can be said without libhdf5, which refuses to combine points.
fn against_naive(case: &Case) -> Vec<String> {
    let naive = elements(&case.program);
    let mut found = Found::default();
    found.compare("elements", &positions(&case.ours).unwrap(), &naive.positions);
    found.compare("count", &case.ours.npoints(), &(naive.positions.len() as u64));
    let of_blocks: u64 = case.ours.blocks().unwrap().map(|block| volume(&block.start, &block.end)).sum();
    found.compare("elements in blocks", &of_blocks, &(naive.positions.len() as u64));
    let (twin, same) = (execute(&case.twin).unwrap(), same_shape(&case.program, &case.twin));
    found.compare(&case.same_as_twin(), &case.ours.same_shape(&twin).unwrap(), &same);
    found.compare(&case.same_as_twin(), &twin.same_shape(&case.ours).unwrap(), &same);
    for size in SIZES {
        let bytes: u64 = case.ours.runs(size as u64).unwrap().map(|run| run.len).sum();
        found.compare("bytes in runs", &bytes, &(naive.positions.len() as u64 * size as u64));
    }
    found.0
}

fn against_libhdf5(case: &Case, wires: &[String], theirs: &Description) -> Vec<String> {
    let ours = &case.ours;
    let mut found = Found::default();
    found.compare("kind", &kind(ours), &theirs.kind.as_str());
    found.compare("count", &ours.npoints(), &theirs.count);
    found.compare("bounds", &ours.bounds().map(|(low, high)| [low.to_vec(), high.to_vec()]), &theirs.bounds);
    let history = keeps_patterns(&case.program);
    if let Some(blocks) = theirs.blocks.as_ref().filter(|_| !history) {
        let ours: Vec<u64> =
            ours.blocks().unwrap().flat_map(|block| [block.start.to_vec(), block.end.to_vec()].concat()).collect();
        found.compare("blocks", &ours, blocks);
    }
    let pattern = ours.regular().map(numbers);
    let same_pattern = pattern == theirs.regular;
    if case.program.steps.is_empty() {
        found.compare("regular", &pattern, &theirs.regular);
    } else {
        let plain = |numbers| if history { normal(numbers) } else { without_idle_strides(numbers) };
        found.compare("regular", &pattern.map(plain), &theirs.regular.clone().map(plain));
    }
    if let Some(points) = &theirs.points {
        found.compare("points", &ours.coords().unwrap().flat_map(|point| point.to_vec()).collect(), points);
    }
    for (size, runs) in SIZES.iter().zip(&theirs.runs) {
        let theirs = runs.chunks(2).map(|run| Run { offset: run[0], len: run[1] });
        found.compare("runs", &merged(ours.runs(*size as u64).unwrap()), &merged(theirs));
    }
    for ((low, high), hit) in case.boxes.iter().zip(&theirs.hits) {
        let question = format!("intersection with {low:?} to {high:?}");
        found.compare(&question, &i32::from(ours.intersects_block(low, high).unwrap()), hit);
    }
    // Of points and a block, libhdf5 says that they differ even where the elements are the same.
    let twin = execute(&case.twin).unwrap();
    let comparable = (twin.kind() == Kind::Points) == (ours.kind() == Kind::Points);
    if let Some(same) = theirs.same_as_twin.filter(|_| comparable) {
        found.compare(&case.same_as_twin(), &ours.same_shape(&twin).unwrap(), &same);
    }
    if let (Some(by), Some(ranges), Some(same)) = (&case.moved, &theirs.moved, theirs.same_as_moved) {
        let moved = ours.moved(by).unwrap();
        let theirs: Vec<u64> = ranges.iter().flat_map(|&(begin, end)| begin..end).collect();
        found.compare(&format!("moved by {by:?}"), &positions(&moved).unwrap(), &theirs);
        found.compare("same shape as itself moved", &ours.same_shape(&moved).unwrap(), &same);
    }
    compare_encodings(&mut found, same_pattern, ours, wires, theirs);
    found.0
}

fn compare_encodings(found: &mut Found, same_pattern: bool, ours: &Space, wires: &[String], theirs: &Description) {
    for (low, ((wire, their_wire), verdict)) in
        LOWS.iter().zip(wires.iter().zip(&theirs.encodings).zip(&theirs.decoded))
    {
        let question = format!("encoding for {low:?}");
        // libhdf5 writes such an idle stride, too.
        let rewritten = their_wire
            .as_ref()
            .filter(|_| !same_pattern)
            .map(|wire| hex(&Space::decode(&unhex(wire)).unwrap().encode(*low).unwrap()));
        found.compare(&question, &Some(wire), &rewritten.as_ref().or(their_wire.as_ref()));
        if let Verdict::Different(why) = verdict {
            found.0.push(format!("libhdf5 decodes our {question} to {why}"));
        }
        let Some(their_wire) = their_wire else { continue };
        match Space::decode(&unhex(their_wire)) {
            Ok(decoded) => {
                found.compare(&format!("decoded {question}"), &positions(&decoded).unwrap(), &positions(ours).unwrap());
                found.compare(&format!("extent of {question}"), decoded.extent(), ours.extent());
            }
            Err(error) => found.0.push(format!("we do not decode their {question}: {error}")),
        }
    }
}

/// Differences, each in words.
#[derive(Default)]
struct Found(Vec<String>);

impl Found {
    fn compare<T: PartialEq + Debug>(&mut self, what: &str, ours: &T, theirs: &T) {
        if ours != theirs {
            self.0.push(format!("{what}: ours {ours:?}, theirs {theirs:?}"));
        }
    }
}

fn kind(space: &Space) -> &'static str {
    match space.kind() {
        Kind::None => "none",
        Kind::All => "all",
        Kind::Points => "points",
        Kind::Hyperslab => "slabs",
    }
}

/// Start, stride, count and block of each dimension.
type Numbers = [Vec<Option<u64>>; 4];

fn numbers(slabs: &[Slab]) -> Numbers {
    let part = |part: fn(&Slab) -> u64| slabs.iter().map(part).map(Some).collect();
    [part(|slab| slab.start), part(|slab| slab.stride), part(|slab| slab.count), part(|slab| slab.block)]
}

/// The stride of a single block means nothing, and libhdf5 keeps there what it was before a step.
fn without_idle_strides([start, mut stride, count, block]: Numbers) -> Numbers {
    for (stride, _) in stride.iter_mut().zip(&count).filter(|(_, count)| **count == Some(1)) {
        *stride = Some(1);
    }
    [start, stride, count, block]
}

/// Blocks that touch as one block.
fn normal(numbers: Numbers) -> Numbers {
    let [start, mut stride, mut count, mut block] = without_idle_strides(numbers);
    for ((stride, count), block) in stride.iter_mut().zip(&mut count).zip(&mut block) {
        if stride == block {
            *block = count.zip(*block).map(|(count, block)| count * block);
            (*stride, *count) = (Some(1), Some(1));
        }
    }
    [start, stride, count, block]
}

/// After A − B of two whole selections that misses in the first dimension, libhdf5 keeps A's touching blocks as they
/// were written; after any other A − B that takes nothing away it joins them, and so do we always.
fn keeps_patterns(program: &Program) -> bool {
    program.steps.iter().any(|step| match &step.with {
        Operand::Slab(_) => false,
        Operand::Program(operand) => step.op == Op::NotB || keeps_patterns(operand),
    })
}

fn volume(low: &[u64], high: &[u64]) -> u64 {
    low.iter().zip(high).map(|(low, high)| high - low + 1).product()
}

fn merged(runs: impl Iterator<Item = Run>) -> Vec<(u64, u64)> {
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for run in runs {
        match joined.last_mut() {
            Some((_, end)) if *end == run.offset => *end += run.len,
            _ => joined.push((run.offset, run.end())),
        }
    }
    joined
}
