//! Random selections, in file and memory, against a loop over the elements.

use hyperslab_space::{Op, Slab, Space, UNLIMITED};

use super::random::Random;
use super::twin::{Twin, index, same};
use super::{Report, Stop, ensure};
use crate::{Driver, SelectionPair, Transfer};

const STEPS: u64 = 150;

/// One pair with what it owns, and where its elements are in file and memory.
struct Case {
    memory: Space,
    file: Space,
    offset: u64,
    element_size: u64,
}

pub(super) fn check(driver: &dyn Driver, report: &mut Report) -> Result<(), Stop> {
    let (mut random, mut twin) = (Random::new(2), Twin::default());
    let start = random.bytes(30_000);
    driver.write_at(0, &start, &Transfer::default())?;
    twin.write(0, &start);
    for step in 0..STEPS {
        let cases: Vec<Case> = (0..=random.below(3)).map(|_| case(&mut random)).collect::<Result<_, Stop>>()?;
        let shared = random.below(2) == 0;
        let limit = if random.below(3) == 0 { 1 + index(random.below(20)) } else { usize::MAX };
        let transfer = Transfer::default().with_vector_limit(limit);
        if step % 2 == 0 {
            write(driver, &mut twin, &cases, shared, &transfer, &mut random)?;
        } else {
            read(driver, &twin, &cases, shared, &transfer, &mut random, report)?;
        }
        if step % 10 == 0 {
            twin.compare(driver, report)?;
        }
    }
    refused(driver)?;
    twin.compare(driver, report)
}

fn pairs(cases: &[Case]) -> Vec<SelectionPair<'_>> {
    cases
        .iter()
        .map(|Case { memory, file, offset, element_size }| SelectionPair {
            memory,
            file,
            offset: *offset,
            element_size: *element_size,
        })
        .collect()
}

/// Buffers as large as the memory spaces: one each, or one that is large enough for all.
fn buffers(cases: &[Case], shared: bool, random: &mut Random) -> Vec<Vec<u8>> {
    let sizes: Vec<u64> =
        cases.iter().map(|case| case.memory.dims().iter().product::<u64>() * case.element_size).collect();
    match shared {
        true => vec![random.bytes(sizes.iter().copied().max().unwrap_or(0))],
        false => sizes.into_iter().map(|size| random.bytes(size)).collect(),
    }
}

fn write(
    driver: &dyn Driver,
    twin: &mut Twin,
    cases: &[Case],
    shared: bool,
    transfer: &Transfer,
    random: &mut Random,
) -> Result<(), Stop> {
    let buffers = buffers(cases, shared, random);
    let bufs: Vec<&[u8]> = buffers.iter().map(Vec::as_slice).collect();
    driver.write_selection(&pairs(cases), &bufs, transfer)?;
    for (number, case) in cases.iter().enumerate() {
        let buf = bufs.get(if shared { 0 } else { number }).copied().unwrap_or_default();
        for (addr, place) in elements(case)? {
            twin.write(addr, buf.get(place..place + index(case.element_size)).unwrap_or_default());
        }
    }
    Ok(())
}

fn read(
    driver: &dyn Driver,
    twin: &Twin,
    cases: &[Case],
    shared: bool,
    transfer: &Transfer,
    random: &mut Random,
    report: &mut Report,
) -> Result<(), Stop> {
    let mut found = buffers(cases, shared, random);
    let mut wanted = found.clone();
    let mut bufs: Vec<&mut [u8]> = found.iter_mut().map(Vec::as_mut_slice).collect();
    driver.read_selection(&pairs(cases), &mut bufs, transfer)?;
    for (number, case) in cases.iter().enumerate() {
        let Some(buf) = wanted.get_mut(if shared { 0 } else { number }) else { continue };
        for (addr, place) in elements(case)? {
            let bytes = twin.read(addr, case.element_size);
            buf.get_mut(place..place + bytes.len()).unwrap_or_default().copy_from_slice(&bytes);
        }
    }
    for (found, wanted) in found.iter().zip(&wanted) {
        same("a buffer after a selection read", found, wanted, report)?;
    }
    Ok(())
}

/// What contradicts itself is refused before anything happens.
fn refused(driver: &dyn Driver) -> Result<(), Stop> {
    let (three, four) = (Space::simple(&[3])?, Space::simple(&[4])?);
    let (mut outside, mut unlimited) = (three.clone(), four.clone());
    outside.select_hyperslab(Op::Set, &[Slab::block(1, 4)])?;
    unlimited.select_hyperslab(Op::Set, &[Slab::new(0, 1, UNLIMITED, 1)])?;
    let transfer = Transfer::default();
    let pair = |memory, file, offset, element_size| SelectionPair { memory, file, offset, element_size };
    for (what, pair, room) in [
        ("different numbers of elements", pair(&three, &four, 0, 1), 4),
        ("a buffer that is too small", pair(&four, &four, 0, 2), 7),
        ("elements of no bytes", pair(&four, &four, 0, 0), 4),
        ("a range beyond the address space", pair(&four, &four, u64::MAX - 2, 1), 4),
        ("a file selection outside its extent", pair(&four, &outside, 0, 1), 4),
        ("a memory selection outside its extent", pair(&outside, &four, 0, 1), 8),
        ("unlimited selections", pair(&unlimited, &unlimited, 0, 1), 4),
    ] {
        let mut buffer = vec![0; room];
        let read = driver.read_selection(&[pair], &mut [&mut buffer], &transfer);
        ensure(read.is_err(), || format!("a read with {what} succeeded"))?;
        let write = driver.write_selection(&[pair], &[&buffer], &transfer);
        ensure(write.is_err(), || format!("a write with {what} succeeded"))?;
    }
    let (pair, mut a, mut b) = (pair(&four, &four, 0, 1), [0; 4], [0; 4]);
    let read = driver.read_selection(&[pair, pair, pair], &mut [&mut a, &mut b], &transfer);
    ensure(read.is_err(), || "three pairs with two buffers succeeded".to_owned())
}

/// Address and place in the buffer of each element, in the order of the selections.
fn elements(case: &Case) -> Result<Vec<(u64, usize)>, Stop> {
    let linear = |space: &Space| -> Result<Vec<u64>, Stop> {
        let dims = space.dims();
        let number = |coords: &[u64]| coords.iter().zip(dims).fold(0, |at, (coord, dim)| at * dim + coord);
        Ok(space.coords()?.map(|coords| number(&coords)).collect())
    };
    let size = case.element_size;
    let pairs = linear(&case.file)?.into_iter().zip(linear(&case.memory)?);
    Ok(pairs.map(|(file, memory)| (case.offset + file * size, index(memory * size))).collect())
}

fn case(random: &mut Random) -> Result<Case, Stop> {
    let element_size = 1 << random.below(4);
    let file = match random.below(5) {
        0 => points(random, 400, 30)?,
        1 => Space::simple(&[random.below(300)])?,
        2 => rows(random, Op::Set, Space::simple(&[20, 30])?)?,
        3 => rows(random, Op::Set, Space::simple(&[6, 7, 12])?)?,
        _ => {
            let space = rows(random, Op::Set, Space::simple(&[15, 40])?)?;
            rows(random, Op::Or, space)?
        }
    };
    let count = file.npoints();
    let memory = match random.below(4) {
        0 => {
            let mut space = Space::simple(&[3 * count + 5])?;
            space.select_hyperslab(Op::Set, &[Slab::new(random.below(6), 3, count, 1)])?;
            space
        }
        1 => points(random, 2 * count + 1, count)?,
        2 if count % 2 == 0 => {
            let mut space = Space::simple(&[count / 2 + 1, 5])?;
            space.select_hyperslab(Op::Set, &[Slab::new(1, 1, count / 2, 1), Slab::new(random.below(4), 1, 1, 2)])?;
            space
        }
        _ => Space::simple(&[count])?,
    };
    Ok(Case { memory, file, offset: random.below(20_000), element_size })
}

/// Points in any order, some of them more than once.
fn points(random: &mut Random, extent: u64, count: u64) -> Result<Space, Stop> {
    let mut space = Space::simple(&[extent])?;
    let coords: Vec<u64> = (0..count).map(|_| random.below(extent)).collect();
    space.select_points(&coords)?;
    Ok(space)
}

/// A regular pattern in every dimension.
fn rows(random: &mut Random, op: Op, mut space: Space) -> Result<Space, Stop> {
    let slab = |dim: u64, random: &mut Random| {
        let (start, block) = (random.below(dim / 2), 1 + random.below(3));
        let stride = block + random.below(3);
        let most = 1 + dim.saturating_sub(start + block) / stride;
        Slab::new(start, stride, 1 + random.below(most), block.min(dim - start))
    };
    let slabs: Vec<Slab> = space.dims().iter().map(|&dim| slab(dim, random)).collect();
    space.select_hyperslab(op, &slabs)?;
    Ok(space)
}
