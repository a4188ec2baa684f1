//! A thousand datasets that are open at once: whole chunks at random, read and written, from opening the file to closing it. Both sides have their
//! usual caches: ours is one of 64 MiB, theirs one for each dataset.

use crate::case::Case;
use crate::clock::{Times, side_by_side};
use crate::libhdf5::{Hdf5, Memory, Operation, Pattern};
use crate::reads::file;
use anyhow::{Context, Result, ensure};
use hyperslab::{CacheConfig, OpenOptions, s};
use std::path::{Path, PathBuf};

pub(crate) const CASES: &[Case] =
    &[Case { name: "use 4,000 chunks of 1,000 open datasets, gzip", aim: 1., run: chunks }];

const DATASETS: usize = 1000;
const SIDE: u64 = 192;
const CHUNK: u64 = 64;
const VALUES: usize = (CHUNK * CHUNK) as usize;
/// What the process may have more in memory than before.
const ROOM: i64 = 96 << 20;

/// A chunk that is used: of which dataset, where it begins, and whether it is written.
type Use = (usize, [u64; 2], bool);

fn chunks(hdf5: &Hdf5) -> Result<(Times, Times)> {
    let mut random = fastrand::Rng::with_seed(9);
    let mut corner = || CHUNK * random.u64(..SIDE / CHUNK);
    let corners: Vec<[u64; 2]> = (0..4000).map(|_| [corner(), corner()]).collect();
    let uses: Vec<Use> = corners.into_iter().map(|corner| (random.usize(..DATASETS), corner, random.bool())).collect();
    let (ours, theirs) = (copy("thousand-ours.h5")?, copy("thousand-theirs.h5")?);
    // Before the other side takes memory.
    let grown = use_ours(&ours, &uses)?;
    eprintln!("  {} MiB more in memory, libhdf5 {} MiB", grown >> 20, use_theirs(hdf5, &theirs, &uses)? >> 20);
    ensure!(grown <= ROOM, "{grown} bytes more in memory");
    let times = side_by_side(|| use_ours(&ours, &uses), || use_theirs(hdf5, &theirs, &uses))?;
    same(hdf5, &ours, &theirs)?;
    Ok(times)
}

/// A file that one side may change.
fn copy(name: &str) -> Result<PathBuf> {
    let from = file("thousand.h5")?;
    let to = from.with_file_name(name);
    std::fs::copy(from, &to)?;
    Ok(to)
}

/// How much more memory the process had with everything open.
fn use_ours(path: &Path, uses: &[Use]) -> Result<i64> {
    let before = resident()?;
    let file = OpenOptions::new().read_write().cache(CacheConfig::default()).open(path)?;
    let datasets = (0..DATASETS).map(|nth| Ok(file.dataset(format!("d{nth}"))?)).collect::<Result<Vec<_>>>()?;
    let mut values = vec![0f32; VALUES];
    for &(nth, [row, column], writes) in uses {
        let dataset = datasets.get(nth).context("fewer datasets")?;
        let part = s![row..row + CHUNK, column..column + CHUNK];
        match writes {
            true => dataset.write_slice(part, &values)?,
            false => dataset.read_slice_into(part, &mut values)?,
        }
    }
    let grown = resident()? - before;
    file.close()?;
    Ok(grown)
}

/// As [`use_ours`].
fn use_theirs(hdf5: &Hdf5, path: &Path, uses: &[Use]) -> Result<i64> {
    let before = resident()?;
    let file = hdf5.edit(path)?;
    let datasets = (0..DATASETS).map(|nth| file.dataset(&format!("d{nth}"))).collect::<Result<Vec<_>>>()?;
    let mut values = vec![0f32; VALUES];
    for (nth, corner, writes) in uses {
        let dataset = datasets.get(*nth).context("fewer datasets")?;
        let mut space = hdf5.space(&[SIDE; 2])?;
        let pattern = Pattern { start: corner, stride: &[1, 1], count: &[1, 1], block: &[CHUNK; 2] };
        space.select(Operation::Set, &pattern)?;
        match writes {
            true => dataset.write(&space, &values)?,
            false => dataset.read(Memory::Float, Some(&space), &mut values)?,
        }
    }
    Ok(resident()? - before)
}

/// Both files have the same values, as libhdf5 reads them.
fn same(hdf5: &Hdf5, ours: &Path, theirs: &Path) -> Result<()> {
    let (ours, theirs) = (hdf5.open(ours)?, hdf5.open(theirs)?);
    let count = usize::try_from(SIDE * SIDE)?;
    let (mut left, mut right) = (vec![0f32; count], vec![0f32; count]);
    for nth in 0..DATASETS {
        let name = format!("d{nth}");
        ours.dataset(&name)?.read(Memory::Float, None, &mut left)?;
        theirs.dataset(&name)?.read(Memory::Float, None, &mut right)?;
        ensure!(left == right, "{name} differs");
    }
    Ok(())
}

/// The bytes of this process in memory.
fn resident() -> Result<i64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<i64>()? << 10)
}
