//! Projection of random intersections, also between ranks and with points, against libhdf5 and the naive twin.

use hyperslab_oracle::{
    Answer, Elements, Generator, Oracle, Program, Projection, Question, elements, execute, position, positions, run,
};
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const CASES: u64 = 10_000;

struct Case {
    source: Program,
    destination: Program,
    intersect: Program,
}

#[test]
fn projections_equal_libhdf5_and_the_naive_twin() -> Result<(), Box<dyn Error>> {
    let (compared, mistaken) = (AtomicU64::new(0), AtomicU64::new(0));
    run(CASES, case, |oracle: &mut Oracle, cases: &[Case]| {
        let questions: Vec<_> = cases.iter().map(question).collect();
        let answers: Vec<Answer<Projection>> = oracle.ask(&questions)?;
        let mut differences = Vec::new();
        for (case, answer) in cases.iter().zip(answers) {
            let (expected, found) = (naive(case), ours(case)?);
            if found != expected {
                let question = serde_json::to_string(&question(case))?;
                differences.push(format!("ours {found:?}, naively {expected:?}\n    in {question}"));
            }
            if let Answer::Given(theirs) = answer
                && !by_points(case)
            {
                compared.fetch_add(1, Relaxed);
                mistaken.fetch_add(u64::from(their_positions(case, &theirs) != expected), Relaxed);
            }
        }
        Ok(differences)
    })?;
    // Where rows of the destination are short, libhdf5 2.0 takes the neighbour of an element in a few cases of 10,000. The
    // naive twin proves us right there; what counts is that all three mean the same by "projection".
    let (compared, mistaken) = (compared.into_inner(), mistaken.into_inner());
    println!("{compared} compared with libhdf5, which errs in {mistaken}");
    assert!(mistaken * 500 <= compared, "libhdf5 errs too often: do we mean the same?");
    Ok(())
}

fn case(generator: &mut Generator) -> Case {
    let source = generator.program();
    let intersect = generator.program_in(&source.dims);
    let destination = generator.of_count(elements(&source).positions.len() as u64);
    Case { source, destination, intersect }
}

/// libhdf5 2.0 turns a point intersection into hyperslabs by a function for rising coordinates, and then loses elements or
/// crashes; so only the naive twin can judge.
fn by_points(case: &Case) -> bool {
    elements(&case.intersect).points
}

fn question(case: &Case) -> Question<'_> {
    Question::Project { source: &case.source, destination: &case.destination, intersect: &case.intersect }
}

fn ours(case: &Case) -> Result<Vec<u64>, Box<dyn Error>> {
    let (source, destination) = (execute(&case.source)?, execute(&case.destination)?);
    let projected = source.project_intersection(&destination, &execute(&case.intersect)?)?;
    Ok(positions(&projected)?)
}

/// The destination's elements whose partners in the source are in the intersection.
fn naive(case: &Case) -> Vec<u64> {
    let Elements { positions: source, .. } = elements(&case.source);
    let Elements { positions: destination, .. } = elements(&case.destination);
    let Elements { positions: intersect, .. } = elements(&case.intersect);
    let partners = source.iter().zip(destination);
    partners.filter(|(source, _)| intersect.contains(source)).map(|(_, destination)| destination).collect()
}

fn their_positions(case: &Case, theirs: &Projection) -> Vec<u64> {
    let dims = &case.destination.dims;
    match (&theirs.points, &theirs.runs) {
        (Some(points), _) => points.chunks(dims.len()).map(|point| position(dims, point)).collect(),
        (None, Some(runs)) => runs.iter().flat_map(|&(begin, end)| begin..end).collect(),
        (None, None) => Vec::new(),
    }
}
