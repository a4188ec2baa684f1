//! Against libhdf5 and hdf5plugin, in both directions: we decode their chunks, they read ours.
//!
//! Needs a Python with h5py, numpy and hdf5plugin: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the test says that it is
//! skipped. `$HYPERSLAB_CASES` and `$HYPERSLAB_SEED` change how much is tried.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
};

use hyperslab_base::Cursor;
use hyperslab_filter::*;

#[test]
fn both_directions() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (theirs, ours) = (folder.join("theirs.bin"), folder.join("ours.bin"));
    let setting = |name: &str, default: &str| std::env::var(name).unwrap_or(default.into());
    let mut child = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/libhdf5.py"))
        .arg(&theirs)
        .args([setting("HYPERSLAB_CASES", "3000"), setting("HYPERSLAB_SEED", "1")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut replies = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(replies.next().unwrap().unwrap(), "ready");

    let (failures, count) = exchange(&theirs, &ours);
    writeln!(child.stdin.take().unwrap(), "{}", ours.display()).unwrap();
    let mut lines: Vec<String> = replies.map(|line| line.unwrap()).collect();
    let compared = lines.pop().unwrap();
    assert!(child.wait().unwrap().success());
    let all: Vec<String> = failures.into_iter().chain(lines).collect();
    println!("{count} chunks of theirs decoded, {compared} of ours read");
    assert!(all.is_empty(), "{} of {count} cases:\n{}", all.len(), all[..all.len().min(40)].join("\n"));
}

/// Decodes every chunk of theirs and encodes one of ours; gives what went wrong and the number of cases.
fn exchange(theirs: &Path, ours: &Path) -> (Vec<String>, usize) {
    let (registry, bytes) = (Registry::default(), fs::read(theirs).unwrap());
    let mut cursor = Cursor::new(&bytes);
    let (mut failures, mut count, mut sent) = (Vec::new(), 0, Vec::new());
    let (mut out, mut scratch) = (Vec::new(), Vec::new());
    while cursor.left() > 0 {
        let case = Case::read(&mut cursor);
        let len = case.expected.len();
        match case.pipeline.decode(&registry, case.stored, case.mask, len, &mut out, &mut scratch) {
            Ok(_) if out == case.expected => {}
            Ok(_) => failures.push(format!("decoded wrong: {}", case.name)),
            Err(error) => failures.push(format!("not decoded: {}: {error}", case.name)),
        }
        if let Some(why) = case.params_differ() {
            failures.push(format!("parameters: {}: {why}", case.name));
        }
        match case.pipeline.encode(&registry, case.input, 0, &mut out, &mut scratch) {
            Ok(mask) => {
                for number in [count as u32, mask, out.len() as u32] {
                    sent.extend(number.to_le_bytes());
                }
                sent.extend_from_slice(&out);
            }
            Err(error) => failures.push(format!("not encoded: {}: {error}", case.name)),
        }
        count += 1;
    }
    fs::write(ours, sent).unwrap();
    (failures, count)
}

struct Case<'a> {
    name: String,
    pipeline: Pipeline,
    mask: u32,
    stored: &'a [u8],
    input: &'a [u8],
    expected: &'a [u8],
    facts: Vec<u32>,
}

impl<'a> Case<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Case<'a> {
        let name = String::from_utf8_lossy(blob(cursor)).into_owned();
        let count = cursor.u32().unwrap();
        let step = |_| Step {
            id: cursor.u32().unwrap() as u16,
            optional: cursor.u32().unwrap() & 1 != 0,
            name: String::from_utf8_lossy(blob(cursor)).into_owned(),
            params: words(cursor),
        };
        let pipeline = Pipeline::new((0..count).map(step).collect()).unwrap();
        let mask = cursor.u32().unwrap();
        let (stored, input, expected) = (blob(cursor), blob(cursor), blob(cursor));
        Case { name, pipeline, mask, stored, input, expected, facts: words(cursor) }
    }

    /// Whether our builders make other parameters than libhdf5 and its filters did, from the same facts.
    fn params_differ(&self) -> Option<String> {
        let [class, size, order, precision, offset, sign, ref chunk @ ..] = self.facts[..] else { return None };
        let elements: u32 = chunk.iter().product();
        let (is_number, big_endian) = (class <= 1, order == 1);
        for Step { id, params, .. } in self.pipeline.steps() {
            let made = match *id {
                Shuffle::ID => Shuffle::params(size),
                Fletcher32::ID => Fletcher32::params(),
                Lzf::ID => Lzf::params(size * elements),
                Szip::ID if is_number => {
                    let chunk: Vec<u64> = chunk.iter().map(|dim| u64::from(*dim)).collect();
                    let of = SzipType { size, big_endian, precision, offset };
                    // libhdf5 sets parameters even for types that the filter does not take.
                    let Ok(made) = Szip::params(&chunk, of, params[0] & 32 != 0, params[1]) else { continue };
                    made
                }
                Nbit::ID if is_number => {
                    Nbit::params(elements, &NbitType::Number { size, big_endian, precision, offset }).unwrap()
                }
                ScaleOffset::ID => {
                    let kind = match (class, sign) {
                        (0, 0) => ScaleOffsetKind::Unsigned,
                        (0, _) => ScaleOffsetKind::Signed,
                        _ => ScaleOffsetKind::Float,
                    };
                    let mut fill: Vec<u8> = params[8..10].iter().flat_map(|word| word.to_le_bytes()).collect();
                    fill.truncate(size as usize);
                    if big_endian {
                        fill.reverse();
                    }
                    let fill = (params[7] != 0).then_some(&fill[..]);
                    let of = ScaleOffsetType { kind, size: size as usize, big_endian };
                    ScaleOffset::params(elements, of, params[1] as i32, fill).unwrap()
                }
                Bitshuffle::ID => {
                    let codec = match params.get(4) {
                        Some(2) => BitshuffleCodec::Lz4,
                        Some(3) => BitshuffleCodec::Zstd(params[5]),
                        _ => BitshuffleCodec::None,
                    };
                    Bitshuffle::params(size, params[3], codec)
                }
                Blosc::ID if is_number => {
                    let shuffle = [BloscShuffle::None, BloscShuffle::Byte, BloscShuffle::Bit][params[5] as usize];
                    Blosc::params(size, size * elements, params[4], shuffle, codec(params[6]))
                }
                Blosc2::ID if is_number => {
                    use Blosc2Stage::*;
                    let stage = [None, Shuffle, Bitshuffle, Delta][params[5] as usize];
                    let mut made = Blosc2::params(size, size, chunk, params[4], stage, codec(params[6]));
                    made[1] = params[1];
                    made
                }
                _ => continue,
            };
            if made != *params {
                return Some(format!("filter {id}: {made:?} instead of {params:?}"));
            }
        }
        None
    }
}

fn codec(param: u32) -> BloscCodec {
    use BloscCodec::*;
    [BloscLz, Lz4, Lz4Hc, Snappy, Zlib, Zstd][param as usize]
}

fn blob<'a>(cursor: &mut Cursor<'a>) -> &'a [u8] {
    let len = cursor.u32().unwrap();
    cursor.take(len as usize).unwrap()
}

fn words(cursor: &mut Cursor<'_>) -> Vec<u32> {
    (0..cursor.u32().unwrap()).map(|_| cursor.u32().unwrap()).collect()
}
