//! Lowering against a loop over elements, and the forms of one request against each other.

use hyperslab_driver::lower::Segments;
use hyperslab_driver::{Driver, Log, Memory, Mode, Operation, SelectionPair, Transfer};
use hyperslab_space::{Op, Slab, Space};
use proptest::prelude::*;

use crate::common::{Plain, VectorOnly};

const FILE: u64 = 4000;

/// A selection, and its elements in order.
#[derive(Debug, Clone)]
struct Choice {
    space: Space,
    elements: Vec<u64>,
}

fn choice(space: Space) -> Choice {
    let dims = space.dims().to_vec();
    let elements = space.coords().unwrap().map(|at| at.iter().zip(&dims).fold(0, |n, (x, dim)| n * dim + x)).collect();
    Choice { space, elements }
}

fn slab(dim: u64) -> impl Strategy<Value = Slab> {
    (0..dim, 1..4u64, 0..4u64, 1..6u64).prop_map(move |(start, block, gap, count)| {
        let block = block.min(dim - start);
        let most = 1 + (dim - start - block) / (block + gap);
        Slab::new(start, block + gap, count.min(most), block)
    })
}

/// Any selection of a small space.
fn selection() -> impl Strategy<Value = Choice> {
    let regular = (slab(12), slab(20)).prop_map(|(rows, columns)| {
        let mut space = Space::simple(&[12, 20]).unwrap();
        space.select_hyperslab(Op::Set, &[rows, columns]).unwrap();
        space
    });
    let union = (slab(12), slab(20), slab(12), slab(20)).prop_map(|(a, b, c, d)| {
        let mut space = Space::simple(&[12, 20]).unwrap();
        space.select_hyperslab(Op::Set, &[a, b]).unwrap();
        space.select_hyperslab(Op::Or, &[c, d]).unwrap();
        space
    });
    let points = prop::collection::vec(0..200u64, 1..40).prop_map(|coords| {
        let mut space = Space::simple(&[200]).unwrap();
        space.select_points(&coords).unwrap();
        space
    });
    let all = (1..100u64).prop_map(|len| Space::simple(&[len]).unwrap());
    prop_oneof![regular, union, points, all].prop_map(choice)
}

/// Two selections of equally many elements: the longer one is cut to points.
fn pair() -> impl Strategy<Value = (Choice, Choice)> {
    let cut = |long: Choice, count: usize| {
        if long.elements.len() == count {
            return long;
        }
        let flat: u64 = long.space.dims().iter().product();
        let mut space = Space::simple(&[flat]).unwrap();
        space.select_points(&long.elements[..count]).unwrap();
        choice(space)
    };
    let equal = selection().prop_map(|one| (one.clone(), one));
    let packed = selection().prop_map(|one| {
        let memory = choice(Space::simple(&[one.elements.len() as u64]).unwrap());
        (one, memory)
    });
    let mixed = (selection(), selection()).prop_map(move |(a, b)| {
        let count = a.elements.len().min(b.elements.len());
        (cut(a, count), cut(b, count))
    });
    prop_oneof![equal, packed, mixed]
}

fn request() -> impl Strategy<Value = Vec<(Choice, Choice, u64, u64)>> {
    let pair = (pair(), 0..1000u64, 1..9u64).prop_map(|((file, memory), offset, size)| (file, memory, offset, size));
    prop::collection::vec(pair, 1..4)
}

fn pairs(request: &[(Choice, Choice, u64, u64)]) -> Vec<SelectionPair<'_>> {
    request
        .iter()
        .map(|(file, memory, offset, element_size)| SelectionPair {
            memory: &memory.space,
            file: &file.space,
            offset: *offset,
            element_size: *element_size,
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn segments_are_the_elements_in_order(request in request()) {
        let sizes = vec![4000; request.len()];
        let mut bytes = Vec::new();
        let mut last: Option<hyperslab_driver::lower::Segment> = None;
        for segment in Segments::new(&pairs(&request), &sizes).unwrap() {
            if let Some(last) = last {
                let mergeable = last.buffer == segment.buffer && last.end() == segment.start
                    && last.addr + last.len as u64 == segment.addr;
                prop_assert!(!mergeable, "{last:?} and {segment:?} are one");
            }
            bytes.extend((0..segment.len).map(|n| (segment.addr + n as u64, segment.buffer, segment.start + n)));
            last = Some(segment);
        }
        let mut naive = Vec::new();
        for (number, (file, memory, offset, size)) in request.iter().enumerate() {
            for (at, to) in file.elements.iter().zip(&memory.elements) {
                naive.extend((0..*size).map(|n| (offset + at * size + n, number, (to * size + n) as usize)));
            }
        }
        prop_assert_eq!(bytes, naive);
    }

    #[test]
    fn all_levels_read_and_write_the_same(
        request in request(),
        limit in prop_oneof![1usize..12, Just(usize::MAX)],
        shared in any::<bool>(),
    ) {
        let start: Vec<u8> = (0..FILE).map(|n| (n % 253) as u8).collect();
        let drivers: [Box<dyn Driver>; 3] =
            [Box::new(Plain::default()), Box::new(VectorOnly::default()), Box::new(Memory::new())];
        let transfer = Transfer::default().with_vector_limit(limit);
        let pairs = pairs(&request);
        let buffers = if shared { 1 } else { request.len() };
        let mut naive = start.clone();
        let mut wanted = vec![vec![9u8; 4000]; buffers];
        let fresh: Vec<Vec<u8>> = (0..buffers).map(|n| (0..4000).map(|m| (m * 3 + n) as u8).collect()).collect();
        for (number, (file, memory, offset, size)) in request.iter().enumerate() {
            let (buffer, size) = (if shared { 0 } else { number }, *size as usize);
            for (at, to) in file.elements.iter().zip(&memory.elements) {
                let (at, to) = (*offset as usize + *at as usize * size, *to as usize * size);
                wanted[buffer][to..to + size].copy_from_slice(&start[at..at + size]);
                naive[at..at + size].copy_from_slice(&fresh[buffer][to..to + size]);
            }
        }
        for driver in drivers {
            driver.write_at(0, &start, &Transfer::default()).unwrap();
            let mut found = vec![vec![9u8; 4000]; buffers];
            let mut bufs: Vec<&mut [u8]> = found.iter_mut().map(Vec::as_mut_slice).collect();
            driver.read_selection(&pairs, &mut bufs, &transfer).unwrap();
            prop_assert_eq!(&found, &wanted);
            let bufs: Vec<&[u8]> = fresh.iter().map(Vec::as_slice).collect();
            driver.write_selection(&pairs, &bufs, &transfer).unwrap();
            let mut all = vec![0; FILE as usize];
            driver.read_at(0, &mut all, &Transfer::default()).unwrap();
            prop_assert_eq!(&all, &naive);
        }
    }
}

/// Every second of twenty bytes.
fn strided() -> (Space, Space) {
    let mut file = Space::simple(&[20]).unwrap();
    file.select_hyperslab(Op::Set, &[Slab::new(0, 2, 10, 1)]).unwrap();
    (file, Space::simple(&[10]).unwrap())
}

/// Sees vectors and what goes with them.
fn vectors(transfer: &Transfer) -> (Vec<usize>, Vec<u64>) {
    struct Watch(std::sync::Mutex<(Vec<usize>, Vec<u64>)>, Memory);
    impl Driver for Watch {
        fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> hyperslab_driver::Result<()> {
            self.1.read_at(addr, buf, transfer)
        }
        fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> hyperslab_driver::Result<()> {
            self.1.write_at(addr, buf, transfer)
        }
        fn len(&self, _: &Transfer) -> hyperslab_driver::Result<u64> {
            self.1.len(&Transfer::default())
        }
        fn set_len(&self, len: u64, _: &Transfer) -> hyperslab_driver::Result<()> {
            self.1.set_len(len, &Transfer::default())
        }
        fn sync(&self, _: &Transfer) -> hyperslab_driver::Result<()> {
            self.1.sync(&Transfer::default())
        }
        fn read_vector(
            &self,
            parts: &mut [hyperslab_driver::ReadPart<'_>],
            transfer: &Transfer,
        ) -> hyperslab_driver::Result<()> {
            let mut seen = self.0.lock().unwrap();
            seen.0.push(parts.len());
            seen.1.push(transfer.rounds);
            self.1.read_vector(parts, transfer)
        }
    }
    let watch = Watch(std::sync::Mutex::default(), Memory::from(vec![5; 20]));
    let (file, memory) = strided();
    let pair = SelectionPair { memory: &memory, file: &file, offset: 0, element_size: 1 };
    watch.read_selection(&[pair], &mut [&mut [0; 10]], transfer).unwrap();
    watch.0.into_inner().unwrap()
}

#[test]
fn the_vector_limit_cuts_and_a_collective_call_tells_so() {
    let transfer = Transfer::default().with_vector_limit(4);
    assert_eq!(vectors(&transfer), (vec![4, 4, 2], vec![1, 1, 1]));
    assert_eq!(vectors(&transfer.with_mode(Mode::Collective)), (vec![4, 4, 2], vec![3, 3, 3]));
    assert_eq!(vectors(&Transfer::default().with_mode(Mode::Collective)), (vec![10], vec![1]));
}

#[test]
fn a_wrong_request_is_refused_before_any_io() {
    let log = Log::new(VectorOnly(Memory::from(vec![0; 100])));
    let (file, memory) = strided();
    let pair = SelectionPair { memory: &memory, file: &file, offset: 0, element_size: 2 };
    let error = hyperslab_driver::lower::read_selection(&log, &[pair], &mut [&mut [0; 19]], &Transfer::default());
    let text = error.unwrap_err().to_string();
    assert!(text.contains("buffer of 19 bytes"), "{text}");
    let eleven = Space::simple(&[11]).unwrap();
    let pair = SelectionPair { memory: &eleven, ..pair };
    let error = hyperslab_driver::lower::write_selection(&log, &[pair], &[&[0; 100]], &Transfer::default());
    let error = error.unwrap_err();
    assert_eq!(error.operation, Operation::WriteSelection);
    assert!(error.to_string().contains("11 elements are selected in memory, but 10 in the file"), "{error}");
    assert!(log.records().is_empty());
}
