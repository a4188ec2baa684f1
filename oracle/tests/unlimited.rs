//! Regular hyperslabs without end: libhdf5 and we write the same bytes and read each other's.

use hyperslab_oracle::{
    Answer, Description, Generator, LOWS, Oracle, Program, Question, Start, Verdict, execute, hex, run, unhex,
};
use hyperslab_space::Space;
use std::error::Error;

const CASES: u64 = 1_000;

#[test]
fn unlimited_selections_encode_as_libhdf5_does() -> Result<(), Box<dyn Error>> {
    run(CASES, unlimited, |oracle: &mut Oracle, programs: &[Program]| {
        let spaces = programs.iter().map(execute).collect::<Result<Vec<Space>, _>>()?;
        let questions: Vec<_> = programs.iter().zip(&spaces).map(|(program, ours)| question(program, ours)).collect();
        let answers: Vec<Answer<Description>> = oracle.ask(&questions)?;
        let mut differences = Vec::new();
        for ((program, ours), answer) in programs.iter().zip(&spaces).zip(answers) {
            let mut differ = |why: String| differences.push(format!("{why}\n    in {program:?}"));
            match answer {
                Answer::Refused { refused } => differ(format!("libhdf5 refuses: {refused}")),
                Answer::Given(theirs) => compare(ours, &theirs, &mut differ),
            }
        }
        Ok(differences)
    })
}

fn question<'a>(program: &'a Program, ours: &Space) -> Question<'a> {
    let encodings = LOWS.iter().map(|&low| ours.encode(low).ok().map(|wire| hex(&wire))).collect();
    Question::Describe { program, unlimited: true, encodings, sizes: &[], boxes: &[], twin: None, moved: None }
}

fn compare(ours: &Space, theirs: &Description, differ: &mut impl FnMut(String)) {
    for (low, (wire, verdict)) in LOWS.iter().zip(theirs.encodings.iter().zip(&theirs.decoded)) {
        let our_wire = ours.encode(*low).ok().map(|wire| hex(&wire));
        if our_wire != *wire {
            differ(format!("encoding for {low:?}: ours {our_wire:?}, theirs {wire:?}"));
        }
        if let Verdict::Different(why) = verdict {
            differ(format!("libhdf5 decodes our encoding for {low:?} to {why}"));
        }
        if let Some(wire) = wire {
            match Space::decode(&unhex(wire)) {
                Ok(decoded) if decoded == *ours => {}
                other => differ(format!("we decode their encoding for {low:?} to {other:?}")),
            }
        }
    }
}

/// One pattern whose count or block has no end in one dimension, on an extent that may grow there.
fn unlimited(generator: &mut Generator) -> Program {
    let dims = generator.dims();
    let mut pattern = generator.pattern(&dims);
    let endless = generator.below(dims.len());
    for count in &mut pattern.count {
        *count = (*count).max(Some(1));
    }
    if generator.one_in(2) {
        pattern.count[endless] = Some(1);
        pattern.block[endless] = None;
    } else {
        pattern.count[endless] = None;
        pattern.stride[endless] = pattern.stride[endless].max(pattern.block[endless].unwrap_or(1));
    }
    let mut program = Program::new(&dims, Start::Slab(pattern));
    program.max = Some(dims.iter().enumerate().map(|(at, &size)| (at != endless).then_some(size)).collect());
    program
}
