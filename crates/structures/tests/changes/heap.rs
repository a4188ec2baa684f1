//! The fractal heap against a map of objects, with a tree that names them.

use std::{collections::BTreeMap, sync::Arc};

use fastrand::Rng;
use hyperslab_base::{AnyError, ErrorKind};
use hyperslab_file::{Error, OpenFile};
use hyperslab_format::{
    free_space::FreeSpace,
    heap::fractal::{self, DoublingTable, HeapId},
};
use hyperslab_structures::{
    FractalHeap, Tree,
    fractal_heap::{Parameters, Unfilter, UnfilterError},
};

use crate::{
    changes::tape::{new_file, read},
    common::Played,
};

const KIND: u8 = 5;
/// What the objects of a heap must be, by name.
type Twin = BTreeMap<u32, Vec<u8>>;

/// A table so small that few objects make deep heaps.
const SMALL: Parameters = Parameters {
    id_len: 0,
    checked_blocks: true,
    table: DoublingTable { width: 4, start: 64, max_direct: 256, bits: 24 },
    first_rows: 1,
    max_managed: 100,
};

fn no_filters() -> Arc<Unfilter> {
    Arc::new(|_, _, _, _| {
        Err(UnfilterError { source: AnyError::new(ErrorKind::Filter, "no filters here"), may_be_torn: false })
    })
}

/// A heap and a tree that names its objects.
struct Names {
    file: OpenFile,
    heap: u64,
    tree: u64,
}

fn order(wanted: u32) -> impl FnMut(&[u8]) -> Result<std::cmp::Ordering, Error> {
    move |record| Ok(u32::from_be_bytes(record[..4].try_into().unwrap()).cmp(&wanted))
}

impl Names {
    fn new(file: OpenFile, parameters: &Parameters) -> Names {
        let heap = FractalHeap::create(&file, parameters, no_filters()).unwrap().address();
        let id_len = header(&file, heap).id_len;
        let tree = Tree::create(&file, KIND, 4 + usize::from(id_len), 256, 100, 40).unwrap().address();
        Names { file, heap, tree }
    }

    fn heap(&self) -> FractalHeap {
        FractalHeap::open(&self.file, self.heap, no_filters()).unwrap()
    }

    fn insert(&self, name: u32, object: &[u8]) {
        let (mut heap, mut tree) = (self.heap(), Tree::open(&self.file, self.tree, &[KIND]).unwrap());
        let inserted = self.file.operate(|| {
            let id = heap.insert(&self.file, object)?;
            let record = [&name.to_be_bytes()[..], &id].concat();
            tree.insert(&self.file, &record, &mut order(name))?;
            heap.before(&self.file, self.tree)
        });
        inserted.unwrap();
    }

    fn remove(&self, name: u32) {
        let (mut heap, mut tree) = (self.heap(), Tree::open(&self.file, self.tree, &[KIND]).unwrap());
        let removed = self.file.operate(|| {
            let record = tree.remove(&self.file, &mut order(name))?.unwrap();
            heap.remove(&self.file, &record[4..])
        });
        removed.unwrap();
    }
}

fn header(file: &OpenFile, heap: u64) -> fractal::FractalHeap {
    let size = fractal::head_size(file.widths()) + 4;
    fractal::FractalHeap::decode(&file.metadata("heap", heap, size as u64).unwrap(), file.widths()).unwrap()
}

/// All objects that the tree names. Looks also whether free space is free.
fn all(file: &OpenFile, heap: u64, tree: u64) -> Twin {
    let (reader, header) = (FractalHeap::open(file, heap, no_filters()).unwrap(), header(file, heap));
    let mut objects = Twin::new();
    let mut used = Vec::new();
    let tree = Tree::open(file, tree, &[KIND]).unwrap();
    tree.for_each(file, &mut |record| {
        let name = u32::from_be_bytes(record[..4].try_into().unwrap());
        objects.insert(name, reader.get(file, &record[4..])?);
        if let HeapId::Managed { offset, length } = HeapId::decode(&record[4..], &header, file.widths()).unwrap() {
            used.push((offset, length));
        }
        Ok(())
    })
    .unwrap();
    if !file.is_writable() {
        // While a heap is changed its free space is in memory.
        used.extend(sections(file, &header));
    }
    used.sort_unstable();
    assert!(used.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "free space that is used");
    objects
}

fn sections(file: &OpenFile, header: &fractal::FractalHeap) -> Vec<(u64, u64)> {
    let Some(at) = header.free_manager else { return Vec::new() };
    let bytes = file.metadata("manager", at, FreeSpace::size(file.widths()) as u64).unwrap();
    let manager = FreeSpace::decode(&bytes, file.widths()).unwrap();
    let bytes = file.metadata("list", manager.list.unwrap(), manager.list_size).unwrap();
    let sections = manager.decode_list(&bytes, file.widths()).unwrap();
    let sections: Vec<(u64, u64)> = sections.iter().map(|section| (section.offset, section.size)).collect();
    assert_eq!(sections.iter().map(|section| section.1).sum::<u64>(), manager.space);
    sections
}

/// Direct blocks below an indirect one: their sizes. Looks at the heads of all blocks.
fn direct_sizes(file: &OpenFile, heap: &fractal::FractalHeap, at: u64, rows: u32, depth: &mut u32) -> Vec<u64> {
    let table = &heap.table;
    let bytes = file.metadata("indirect", at, fractal::indirect_size(heap, rows, file.widths()) as u64).unwrap();
    let children = fractal::decode_indirect(&bytes, heap, rows, file.widths()).unwrap();
    let mut sizes = Vec::new();
    let mut deepest = 0;
    for (nth, child) in children.iter().enumerate() {
        let row = nth as u32 / u32::from(table.width);
        let (Some(child), size) = (child.address, table.block_size(row).unwrap()) else { continue };
        if row < table.direct_rows() {
            fractal::check_direct(&file.metadata("direct", child, size).unwrap(), heap, file.widths()).unwrap();
            sizes.push(size);
        } else {
            let mut below = 0;
            sizes.extend(direct_sizes(file, heap, child, table.rows_below(size).unwrap(), &mut below));
            deepest = deepest.max(below);
        }
    }
    *depth = deepest + 1;
    sizes
}

/// Looks whether the header counts right what is there, when everything is in the file. Gives the levels of indirect blocks.
fn check(file: &OpenFile, heap: u64, twin: &Twin) -> u32 {
    let header = header(file, heap);
    let (usage, room) = (header.usage, usize::from(header.id_len) - 1);
    // A longer one takes another byte of the id.
    let tiny = if room <= 16 { room } else { (room - 1).max(16) };
    let count = |kind: &dyn Fn(usize) -> bool| {
        let lengths = twin.values().map(Vec::len).filter(|length| kind(*length));
        lengths.fold((0, 0), |(count, bytes), length| (count + 1, bytes + length as u64))
    };
    let most = header.max_managed as usize;
    assert_eq!((usage.tiny_objects, usage.tiny_size), count(&|length| length <= tiny));
    assert_eq!((usage.huge_objects, usage.huge_size), count(&|length| length > most));
    let (objects, bytes) = count(&|length| length > tiny && length <= most);
    assert_eq!(usage.managed_objects, objects);
    assert_eq!(header.huge_tree.is_some(), usage.huge_objects > 0);
    let Some(root) = header.root else {
        assert_eq!((objects, usage.managed_size, usage.managed_allocated, header.free), (0, 0, 0, 0));
        assert_eq!(header.free_manager, None);
        return 0;
    };
    let mut depth = 0;
    let sizes = match header.root_rows {
        0 => vec![header.table.start],
        rows => direct_sizes(file, &header, root, rows.into(), &mut depth),
    };
    assert_eq!(usage.managed_allocated, sizes.iter().sum());
    let head = 5 + 8 + header.table.offset_width().bytes() as u64 + if header.checked_blocks { 4 } else { 0 };
    let room: u64 = sizes.iter().map(|size| size - head).sum();
    let free: u64 = sections(file, &header).iter().map(|section| section.1).sum();
    assert_eq!(free + bytes, room, "every byte is used or free");
    let reach = if header.root_rows == 0 {
        header.table.start
    } else {
        header.table.row_offset(header.root_rows.into()).unwrap()
    };
    assert_eq!(usage.managed_size, reach);
    assert!(header.free >= free);
    if header.root_rows == 0 {
        assert_eq!(header.free, free);
    }
    depth
}

fn object(rng: &mut Rng, most: usize) -> Vec<u8> {
    let length = match rng.u32(..20) {
        0 => rng.usize(1..8),
        1 => rng.usize(most..most * 3),
        2..6 => rng.usize(1..=most),
        _ => rng.usize(8..=most.min(60)),
    };
    (0..length).map(|_| rng.u8(..)).collect()
}

fn history(seed: u64, parameters: &Parameters, operations: usize) -> u32 {
    let mut rng = Rng::with_seed(seed);
    let (tape, file) = new_file();
    let mut names = Names::new(file, parameters);
    let (mut twin, mut depth) = (Twin::new(), 0);
    for nth in 0..operations {
        let name = rng.u32(..operations as u32);
        let growing = if nth < operations * 2 / 3 { 0.8 } else { 0.2 };
        if rng.f64() < growing && !twin.contains_key(&name) {
            let object = object(&mut rng, parameters.max_managed as usize);
            names.insert(name, &object);
            twin.insert(name, object);
        } else if let Some(name) = twin.range(name..).next().map(|(name, _)| *name) {
            names.remove(name);
            twin.remove(&name);
        }
        if rng.u32(..60) == 0 {
            names.file.flush().unwrap();
        }
        if rng.u32(..150) == 0 {
            assert_eq!(all(&names.file, names.heap, names.tree), twin);
        }
        if rng.u32(..300) == 0 || nth + 1 == operations {
            names.file.close().unwrap();
            depth = depth.max(check(&names.file, names.heap, &twin));
            assert_eq!(all(&read(tape.storage.content()), names.heap, names.tree), twin);
            names.file = tape.again();
        }
    }
    for name in std::mem::take(&mut twin).into_keys() {
        names.remove(name);
    }
    names.file.close().unwrap();
    check(&names.file, names.heap, &twin);
    depth
}

#[test]
fn a_long_history() {
    history(1, &Parameters::links(), 3000);
    history(2, &Parameters::attributes(), 2000);
    assert!(history(3, &SMALL, 4000) > 2, "indirect blocks below indirect blocks");
    history(4, &Parameters { checked_blocks: false, first_rows: 3, ..SMALL }, 2000);
    // Ids with room for the place of a huge object.
    history(5, &Parameters { id_len: 20, first_rows: 0, ..SMALL }, 2000);
}

#[test]
fn space_is_used_again_after_the_flush_that_published_its_end() {
    let (_, file) = new_file();
    let names = Names::new(file, &SMALL);
    names.insert(1, &[1; 30]);
    names.file.flush().unwrap();
    names.remove(1);
    names.insert(2, &[2; 30]);
    names.file.flush().unwrap();
    let blocks = header(&names.file, names.heap).usage.managed_allocated;
    names.insert(3, &[3; 30]);
    assert_eq!(header(&names.file, names.heap).usage.managed_allocated, blocks);
    assert_eq!(all(&names.file, names.heap, names.tree).len(), 2);
}

#[test]
fn a_handle_sees_what_another_one_changes() {
    let (_, file) = new_file();
    let names = Names::new(file, &SMALL);
    let (mut first, mut second) = (names.heap(), names.heap());
    let ids: Vec<Vec<u8>> = (0..100u8)
        .map(|nth| {
            let heap = if nth % 2 == 0 { &mut first } else { &mut second };
            heap.insert(&names.file, &[nth; 20]).unwrap()
        })
        .collect();
    for (nth, id) in ids.iter().enumerate() {
        assert_eq!(first.get(&names.file, id).unwrap(), [nth as u8; 20]);
        assert_eq!(second.get(&names.file, id).unwrap(), [nth as u8; 20]);
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_changes() {
    let (tape, file) = new_file();
    let names = Names::new(file, &SMALL);
    let file = &names.file;
    let mut heap = names.heap();
    assert!(file.operate(|| heap.insert(file, &[])).is_err());
    let id = heap.insert(file, &[1; 20]).unwrap();
    file.flush().unwrap();
    assert!(file.operate(|| heap.remove(file, &[0; 6])).is_err(), "the head of the block");
    assert!(file.operate(|| heap.remove(file, &[0x10, 9, 0, 0, 0, 0])).is_err(), "no huge objects");
    file.operate(|| heap.remove(file, &id)).unwrap();
    assert!(file.operate(|| heap.remove(file, &id)).is_err(), "twice");
    file.close().unwrap();
    let file = &tape.again();
    let mut heap = FractalHeap::open(file, heap.address(), no_filters()).unwrap();
    assert!(file.operate(|| heap.remove(file, &id)).is_err(), "long gone");
    let full = Parameters { table: DoublingTable { width: 2, start: 64, max_direct: 128, bits: 9 }, ..SMALL };
    let mut heap = FractalHeap::create(file, &full, no_filters()).unwrap();
    let inserted = (0..100).take_while(|_| file.operate(|| heap.insert(file, &[7; 40])).is_ok()).count();
    assert!((6..20).contains(&inserted), "{inserted}");
    file.flush().unwrap();
    let short = Parameters { id_len: 3, ..SMALL };
    assert!(FractalHeap::create(file, &short, no_filters()).is_err());
    let large = Parameters { max_managed: 250, ..SMALL };
    assert!(FractalHeap::create(file, &large, no_filters()).is_err());
}

#[test]
fn a_deleted_heap_leaves_no_space_behind() {
    let (tape, file) = new_file();
    file.close().unwrap();
    let before = file.end();
    let mut rng = Rng::with_seed(5);
    for parameters in [SMALL, Parameters::links(), Parameters { id_len: 30, ..SMALL }] {
        let file = tape.again();
        let mut heap = FractalHeap::create(&file, &parameters, no_filters()).unwrap();
        let ids: Vec<Vec<u8>> =
            (0..500).map(|_| heap.insert(&file, &object(&mut rng, parameters.max_managed as usize)).unwrap()).collect();
        file.flush().unwrap();
        ids[..100].iter().for_each(|id| heap.remove(&file, id).unwrap());
        heap.insert(&file, &[1; 90]).unwrap();
        heap.delete(&file).unwrap();
        file.close().unwrap();
        assert_eq!(file.end(), before);
    }
}

#[test]
fn after_every_single_write_all_objects_are_there() {
    for seed in 0..10 {
        let mut rng = Rng::with_seed(seed);
        let (mut tape, file) = new_file();
        let names = Names::new(file, &if seed % 2 == 0 { SMALL } else { Parameters::links() });
        let (mut twin, mut states) = (Twin::new(), Vec::new());
        for _ in 0..8 {
            tape.rewind();
            for _ in 0..40 {
                let flushes = names.file.flushes();
                let name = rng.u32(..120);
                if twin.remove(&name).is_some() {
                    names.remove(name);
                } else {
                    let object = object(&mut rng, 100);
                    names.insert(name, &object);
                    twin.insert(name, object);
                }
                if names.file.flushes() != flushes {
                    states.push(twin.clone());
                }
            }
            names.file.flush().unwrap();
            let is_first = states.is_empty();
            states.push(twin.clone());
            if !is_first {
                tape.play(|file| assert!(states.contains(&all(file, names.heap, names.tree))));
            }
            states = vec![twin.clone()];
        }
    }
}
