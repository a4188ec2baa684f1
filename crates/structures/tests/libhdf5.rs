//! Old structures that we change, as libhdf5 reads and changes them afterwards, and the trees that both make of the same steps.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use hyperslab_file::{Error, Kind, OpenFile};
use hyperslab_format::{
    ChunkEntry, btree_v1,
    message::Target,
    superblock::Root,
    symbol_table::{self, Cache},
};
use hyperslab_structures::{GlobalHeap, LocalHeap, chunks::btree_v1::ChunkTree, group_tree};

use crate::common::{Played, open};

/// Runs a script, which gets a path and words; what it prints.
fn run(python: &Path, script: &str, path: &Path, words: &str) -> String {
    let script =
        format!("import sys, h5py, numpy as np\npath, words = sys.argv[1], sys.stdin.read().split()\n{script}");
    let mut command = Command::new(python);
    command.arg("-c").arg(script).arg(path);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), words.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.h5"))
}

/// Changes the file at a path.
fn change<T>(path: &Path, change: impl FnOnce(&OpenFile) -> Result<T, Error>) -> T {
    let (storage, file) = open(std::fs::read(path).unwrap());
    let done = file.operate(|| change(&file)).unwrap();
    file.close().unwrap();
    std::fs::write(path, storage.content()).unwrap();
    done
}

/// Tree and heap of the root group.
fn root(file: &OpenFile) -> (u64, u64) {
    match &file.superblock().root {
        Root::Entry(entry) => match entry.cache {
            Cache::Group { btree, heap } => (btree.unwrap(), heap.unwrap()),
            _ => panic!("the root group is not cached"),
        },
        Root::Header(_) => panic!("not an old file"),
    }
}

/// Adds or removes a soft link that leads to its own name.
fn toggle(file: &OpenFile, name: &str) -> Result<(), Error> {
    let (tree, heap) = root(file);
    let mut heap = LocalHeap::open(file, heap)?;
    if group_tree::remove(file, tree, &heap, name.as_bytes())?.is_none() {
        group_tree::insert(file, tree, &mut heap, name.as_bytes(), &Target::Soft(format!("/{name}").into_bytes()))?;
    }
    Ok(())
}

/// The nodes of the group's tree, level by level: names of keys and links.
fn group_shape(file: &OpenFile) -> Vec<String> {
    let ((tree, heap), widths) = (root(file), file.widths());
    let heap = LocalHeap::open(file, heap).unwrap();
    let size = btree_v1::node_size(file.superblock().group_internal_k, 8, widths) as u64;
    let (mut row, mut shape) = (vec![tree], Vec::new());
    let name = |place: u64| String::from_utf8_lossy(heap.string(place).unwrap()).into_owned();
    loop {
        let read = |at: &u64| btree_v1::decode_group(&file.metadata("node", *at, size).unwrap(), widths).unwrap();
        let nodes: Vec<_> = row.iter().map(read).collect();
        for node in &nodes {
            let keys: Vec<_> = node.entries.iter().map(|(key, _)| *key).chain(node.last).map(name).collect();
            shape.push(format!("{} {keys:?}", node.level));
        }
        row = nodes.iter().flat_map(|node| node.entries.iter().map(|(_, child)| *child)).collect();
        if nodes[0].level == 0 {
            break;
        }
    }
    for at in row {
        let size = symbol_table::node_size(file.superblock().group_leaf_k, widths) as u64;
        let entries = symbol_table::decode_node(&file.metadata("symbols", at, size).unwrap(), widths).unwrap();
        shape.push(format!("{:?}", entries.iter().map(|entry| name(entry.name)).collect::<Vec<_>>()));
    }
    shape
}

const TOGGLE: &str = "
with h5py.File(path, 'r+') as f:
    for name in words:
        if f.get(name, getlink=True) is None: f[name] = h5py.SoftLink('/' + name)
        else: del f[name]
";
const NEW: &str = "h5py.File(path, 'w').close()";
const LIST: &str = "
with h5py.File(path, 'r') as f:
    for name in f: print(name, f.get(name, getlink=True).path)
";

#[test]
fn groups_are_changed_in_turns_and_alike() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let mut random = fastrand::Rng::with_seed(1);
    let mut names = |count: usize| -> Vec<String> {
        (0..count).map(|_| random.u32(..1500)).map(|nth| format!("{}{nth}", "n".repeat(nth as usize % 20))).collect()
    };
    let (ours, theirs) = (path("ours"), path("theirs"));
    run(&python, NEW, &ours, "");
    run(&python, NEW, &theirs, "");
    let mut model: BTreeMap<String, ()> = BTreeMap::new();
    for round in 0..6 {
        let words = names(1500);
        for name in &words {
            if model.remove(name).is_none() {
                model.insert(name.clone(), ());
            }
        }
        run(&python, TOGGLE, &theirs, &words.join(" "));
        if round % 3 == 2 {
            run(&python, TOGGLE, &ours, &words.join(" "));
        } else {
            change(&ours, |file| words.iter().try_for_each(|name| toggle(file, name)));
        }
        let listed = run(&python, LIST, &ours, "");
        let expected: String = model.keys().map(|name| format!("{name} /{name}\n")).collect();
        assert!(listed == expected, "round {round}");
        let shapes = [&ours, &theirs].map(|path| group_shape(&open(std::fs::read(path).unwrap()).1));
        assert!(shapes[0] == shapes[1], "round {round}: the trees differ");
    }
    std::fs::remove_file(ours).unwrap();
    std::fs::remove_file(theirs).unwrap();
}

/// The only chunk tree in a file.
fn chunk_root(bytes: &[u8]) -> u64 {
    let is_node =
        |at: &usize| bytes[*at..].starts_with(b"TREE\x01") && bytes[at + 8..at + 24].iter().all(|byte| *byte == 255);
    let found: Vec<_> = (0..bytes.len().saturating_sub(24)).step_by(8).filter(is_node).collect();
    assert_eq!(found.len(), 1);
    found[0] as u64
}

/// The nodes of a chunk tree, level by level, without addresses.
fn chunk_shape(file: &OpenFile, root: u64, rank: usize) -> Vec<String> {
    let (widths, k) = (file.widths(), file.superblock().chunk_internal_k);
    let size = btree_v1::node_size(k, btree_v1::chunk_key_size(rank), widths) as u64;
    let (mut row, mut shape) = (vec![root], Vec::new());
    loop {
        let read =
            |at: &u64| btree_v1::decode_chunks(&file.metadata("node", *at, size).unwrap(), rank, widths).unwrap();
        let nodes: Vec<_> = row.iter().map(read).collect();
        for node in &nodes {
            let keys: Vec<_> = node.entries.iter().map(|(key, _)| key).chain(&node.last).collect();
            shape.push(format!("{} {keys:?}", node.level));
        }
        if nodes[0].level == 0 {
            return shape;
        }
        row = nodes.iter().flat_map(|node| node.entries.iter().map(|(_, child)| *child)).collect();
    }
}

const CHUNKS: &str = "
with h5py.File(path, 'a') as f:
    shape = (40, 30, 3)
    if 'd' not in f: f.create_dataset('d', shape, 'u2', chunks=(2, 1, 3), fillvalue=0)
    for word in words:
        at, value = map(int, word.split(':'))
        f['d'].id.write_direct_chunk((at // 30 * 2, at % 30, 0), np.full((2, 1, 3), value, 'u2').tobytes())
";
const VALUES: &str = "
with h5py.File(path, 'r') as f:
    for at in range(600):
        part = f['d'][at // 30 * 2 : at // 30 * 2 + 2, at % 30]
        assert (part == part[0, 0]).all()
        if part[0, 0]: print(f'{at}:{part[0, 0]}')
";

#[test]
fn chunk_trees_are_changed_in_turns_and_alike() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let mut random = fastrand::Rng::with_seed(1);
    let (ours, theirs) = (path("our-chunks"), path("their-chunks"));
    for left_over in [&ours, &theirs] {
        let _ = std::fs::remove_file(left_over);
    }
    let mut model = BTreeMap::new();
    for round in 0..6 {
        let news: Vec<(u64, u16)> = (0..150).map(|_| (random.u64(..600), random.u16(1..))).collect();
        model.extend(news.iter().copied());
        let words: Vec<_> = news.iter().map(|(at, value)| format!("{at}:{value}")).collect();
        run(&python, CHUNKS, &theirs, &words.join(" "));
        if round % 3 == 0 {
            run(&python, CHUNKS, &ours, &words.join(" "));
        } else {
            let root = chunk_root(&std::fs::read(&ours).unwrap());
            change(&ours, |file| {
                let tree = ChunkTree::new(root, 3);
                for &(at, value) in &news {
                    let (start, address) = (vec![at / 30 * 2, at % 30, 0], file.allocate(Kind::Raw, 12)?);
                    file.write_raw("chunk", &[(address, &value.to_le_bytes().repeat(6))])?;
                    let chunk = ChunkEntry::dense(Some(address), 12, 0).at(start);
                    if let Some(old) = tree.insert(file, &[2, 1, 3, 2], &chunk)? {
                        file.free(old.address.unwrap(), old.size())?;
                    }
                }
                Ok(())
            });
        }
        let expected: String = model.iter().map(|(at, value)| format!("{at}:{value}\n")).collect();
        assert!(run(&python, VALUES, &ours, "") == expected, "round {round}");
        let shapes = [&ours, &theirs].map(|path| {
            let bytes = std::fs::read(path).unwrap();
            let root = chunk_root(&bytes);
            chunk_shape(&open(bytes).1, root, 3)
        });
        assert!(shapes[0] == shapes[1], "round {round}: the trees differ");
    }
    std::fs::remove_file(ours).unwrap();
    std::fs::remove_file(theirs).unwrap();
}

const STRINGS: &str = "
with h5py.File(path, 'w') as f:
    d = f.create_dataset('d', (1000,), h5py.string_dtype())
    d[0] = 'first'
    print(d.id.get_offset())
";
const REWRITE: &str = "
with h5py.File(path, 'r+') as f:
    d = f['d']
    for at in range(0, 1000, 3): d[at] = 'theirs %d' % at
";
const READ: &str = "
with h5py.File(path, 'r') as f:
    print('\\n'.join(one.decode() for one in f['d'][:]))
";

#[test]
fn values_of_the_global_heap_are_changed_in_turns() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let path = path("strings");
    let data: u64 = run(&python, STRINGS, &path, "").trim().parse().unwrap();
    let mut model: Vec<String> = vec!["first".into()];
    model.resize(1000, String::new());
    let mut random = fastrand::Rng::with_seed(1);
    for round in 0..4 {
        let (storage, file) = open(std::fs::read(&path).unwrap());
        let mut heap = GlobalHeap::default();
        for (at, now) in model.iter_mut().enumerate() {
            if random.bool() {
                continue;
            }
            let element = data + at as u64 * 16;
            let old = file.metadata("value", element, 16).unwrap();
            let value = "x".repeat(random.usize(1..60)) + &round.to_string();
            let (collection, index) = heap.add(&file, value.as_bytes()).unwrap();
            heap.commit(&file).unwrap();
            let new =
                [&(value.len() as u32).to_le_bytes()[..], &collection.to_le_bytes(), &index.to_le_bytes()].concat();
            file.write_raw("value", &[(element, &new)]).unwrap();
            let old_collection = u64::from_le_bytes(old[4..12].try_into().unwrap());
            if old_collection != 0 {
                heap.remove(&file, old_collection, u32::from_le_bytes(old[12..].try_into().unwrap()));
            }
            *now = value;
        }
        file.flush().unwrap();
        heap.commit(&file).unwrap();
        file.close().unwrap();
        std::fs::write(&path, storage.content()).unwrap();
        assert!(run(&python, READ, &path, "").trim_end_matches('\n') == model.join("\n").trim_end_matches('\n'));
        run(&python, REWRITE, &path, "");
        (0..1000).step_by(3).for_each(|at| model[at] = format!("theirs {at}"));
        assert!(run(&python, READ, &path, "").trim_end_matches('\n') == model.join("\n").trim_end_matches('\n'));
    }
    std::fs::remove_file(path).unwrap();
}
