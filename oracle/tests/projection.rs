//! Projection of random intersections, also between ranks and with points, against libhdf5 and the naive twin.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::allow_attributes)]

use hyperslab_oracle::{
    Answer, Elements, Generator, Oracle, Program, Projection, Question, Start, elements, execute, position, positions,
    run,
};
use std::error::Error;

const CASES: u64 = 10_000;

struct Case {
    source: Program,
    destination: Program,
    intersect: Program,
}

#[test]
fn projections_equal_libhdf5_and_the_naive_twin() -> Result<(), Box<dyn Error>> {
    run(CASES, case, |oracle: &mut Oracle, cases: &[Case]| {
        let questions: Vec<_> = cases.iter().map(question).collect();
        let answers: Vec<Answer<Projection>> = oracle.ask(&questions)?;
        let mut differences = Vec::new();
        for (case, answer) in cases.iter().zip(answers) {
            let expected = naive(case);
            let mut compare = |who: &str, found: &[u64]| {
                if found != expected {
                    let question = serde_json::to_string(&question(case)).unwrap_or_default();
                    differences.push(format!("{who}: {found:?}, but naively {expected:?}\n    in {question}"));
                }
            };
            compare("ours", &ours(case)?);
            if let Answer::Given(theirs) = answer
                && !by_points(case)
            {
                compare("libhdf5", &their_positions(case, &theirs));
            }
        }
        Ok(differences)
    })
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
    matches!(case.intersect.start, Start::Points(_)) && case.intersect.steps.is_empty()
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
