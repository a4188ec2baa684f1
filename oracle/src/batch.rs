//! Many cases, in batches, on two oracles at once; differences are collected, not fatal one by one.

use crate::generator::Generator;
use crate::process::Oracle;
use hyperslab_workshop::{cases, setting};
use std::error::Error;
use std::ops::Range;

const WORKERS: u64 = 2;
const BATCH: u64 = 250;
const SHOWN: usize = 10;

/// What is to be compared.
pub struct Job {
    /// The script that answers.
    pub script: &'static str,
    /// How many cases.
    pub cases: u64,
    /// The environment variable that changes their number.
    pub variable: &'static str,
    /// How many are asked at once.
    pub batch: u64,
}

/// Asks and compares `cases` selections, each with a generator of its own, and prints the first few differences.
///
/// `HYPERSLAB_SEED` and `HYPERSLAB_PROGRAMS` change the seed and the number. `compare` gets one batch.
///
/// # Errors
/// If differences were found, or if the oracle broke.
pub fn run<C>(
    cases: u64,
    make: impl Fn(&mut Generator) -> C + Sync,
    compare: impl Fn(&mut Oracle, &[C]) -> Result<Vec<String>, Box<dyn Error>> + Sync,
) -> Result<(), Box<dyn Error>> {
    let job = Job { script: "oracle.py", cases, variable: "HYPERSLAB_PROGRAMS", batch: BATCH };
    run_job(&job, |seed| make(&mut Generator::new(seed)), compare)
}

/// As [`run`], for cases of any kind; `make` gets the seed of one.
///
/// # Errors
/// If differences were found, or if the oracle broke.
pub fn run_job<C>(
    job: &Job,
    make: impl Fn(u64) -> C + Sync,
    compare: impl Fn(&mut Oracle, &[C]) -> Result<Vec<String>, Box<dyn Error>> + Sync,
) -> Result<(), Box<dyn Error>> {
    let seed = setting("HYPERSLAB_SEED", 20_240_229);
    let cases = cases(job.variable, job.cases);
    println!("{cases} cases from seed {seed}");
    let worker = |share: Range<u64>| -> Result<Vec<String>, String> {
        let started = Oracle::start_script(job.script).map_err(|error| error.to_string())?;
        let Some(mut oracle) = started else { return Ok(Vec::new()) };
        let mut differences = Vec::new();
        for begin in share.clone().step_by(job.batch as usize) {
            let numbers = begin..(begin + job.batch).min(share.end);
            let batch: Vec<C> = numbers.map(|number| make(seed.wrapping_add(number))).collect();
            differences.extend(compare(&mut oracle, &batch).map_err(|error| error.to_string())?);
        }
        Ok(differences)
    };
    let mut differences = Vec::new();
    std::thread::scope(|scope| {
        let share = |number| cases * number / WORKERS..cases * (number + 1) / WORKERS;
        let workers: Vec<_> = (0..WORKERS).map(|number| scope.spawn(move || worker(share(number)))).collect();
        for worker in workers {
            differences.extend(worker.join().map_err(|_| "a worker panicked")??);
        }
        Ok::<(), Box<dyn Error>>(())
    })?;
    if differences.is_empty() {
        return Ok(());
    }
    for difference in differences.iter().take(SHOWN) {
        println!("{difference}");
    }
    Err(format!("{} differences, the first ones above", differences.len()).into())
}
