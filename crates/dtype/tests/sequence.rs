//! Variable-length values: against libhdf5, against a naive twin, and with references that lie.

use std::borrow::Cow;

use hyperslab_base::{AnyError, ErrorKind};
use hyperslab_dtype::{
    Arena, Charset, Datatype, Error, HeapReference, NoHeap, Order, Padding, Plan, Result, Sequence, Source, Target,
    Vlen,
};

use crate::libhdf5::{ask, hex, message, unhex};
use crate::random::values::{mask, value};
use crate::random::{Rng, pairs};

/// The global heap of a file: one collection, objects by index.
#[derive(Default)]
struct Heap {
    objects: Vec<Vec<u8>>,
}

const COLLECTION: u64 = 4096;

impl Source for Heap {
    fn sequence(&self, reference: &[u8], _: usize) -> Result<Option<Sequence<'_>>> {
        let found = HeapReference::decode(reference)?;
        if found.is_null() {
            return Ok(None);
        }
        let object = self.objects.get(found.index as usize).filter(|_| found.address == COLLECTION);
        let bytes = object.ok_or_else(|| Error::Heap(AnyError::new(ErrorKind::Malformed, "no such object")))?;
        Ok(Some(Sequence { count: found.count as usize, bytes: Cow::Borrowed(bytes) }))
    }
}

impl Target for Heap {
    fn store(&mut self, sequence: Option<(usize, &[u8])>, reference: &mut [u8]) -> Result<()> {
        let made = sequence.map_or(HeapReference::NULL, |(count, bytes)| {
            self.objects.push(bytes.to_vec());
            HeapReference { count: count as u32, address: COLLECTION, index: self.objects.len() as u32 - 1 }
        });
        made.encode(reference)
    }
}

#[test]
fn elements_become_what_libhdf5_makes_of_them() {
    let mut rng = Rng::new(20);
    let (mut requests, mut expected) = (Vec::new(), Vec::new());
    while requests.len() < 4000 {
        let (from, to) = pairs::pair(&mut rng, 1);
        // libhdf5 fills members that are missing from the sequence before.
        if from.has_reference() || Plan::new(&from, &to).unwrap().keeps_background() {
            continue;
        }
        let lengths: Vec<usize> = (0..rng.range(1, 4)).map(|_| rng.range(0, 4) as usize).collect();
        let mut source = Arena::default();
        let mut references = vec![0; lengths.len() * Arena::REFERENCE];
        let mut elements = Vec::new();
        for (&length, reference) in lengths.iter().zip(references.chunks_mut(Arena::REFERENCE)) {
            let sequence: Vec<u8> = (0..length).flat_map(|_| value(&mut rng, &from, &to)).collect();
            source.store(Some((length, &sequence)), reference).unwrap();
            elements.extend(sequence);
        }
        let plan = Plan::new(&Datatype::vlen(from.clone()).unwrap(), &Datatype::vlen(to.clone()).unwrap()).unwrap();
        let (mut target, mut results) = (Arena::default(), vec![0; references.len()]);
        plan.convert(lengths.len(), &references, &mut results, &source, &mut target).unwrap();
        let ours: Vec<u8> = results
            .chunks(Arena::REFERENCE)
            .flat_map(|reference| target.get(reference, to.size()).unwrap().unwrap().to_vec())
            .collect();
        let counts: Vec<String> = lengths.iter().map(usize::to_string).collect();
        requests.push(format!("vlen {} {} {} {}", message(&from), message(&to), counts.join(","), hex(elements)));
        expected.push((ours, to));
    }
    let Some(answers) = ask(&requests) else { return };
    for ((answer, (ours, to)), request) in answers.iter().zip(&expected).zip(&requests) {
        assert_ne!(answer, "error", "{request}");
        let (theirs, mask) = (unhex(answer), mask(to));
        assert_eq!(theirs.len(), ours.len(), "{request}");
        for at in 0..ours.len() {
            assert!(
                ours[at] == theirs[at] || !mask[at % to.size()],
                "byte {at}: {request}\nours   {}\ntheirs {answer}",
                hex(ours)
            );
        }
    }
}

fn nested(base: Datatype, size: u32) -> Datatype {
    let vlen = |base| Datatype::vlen_of_size(size, Vlen { base: Box::new(base), text: None }).unwrap();
    let text = Vlen { base: Box::new(Datatype::of::<u8>()), text: Some((Padding::NullTerm, Charset::Utf8)) };
    let text = Datatype::vlen_of_size(size, text).unwrap();
    Datatype::compound([("lists", vlen(vlen(base))), ("name", text)]).unwrap()
}

/// Stores lists of lists, element by element.
fn store(lists: &[Vec<i16>], target: &mut dyn Target, size: usize) -> Vec<u8> {
    let mut inner = vec![0; lists.len() * size];
    for (list, reference) in lists.iter().zip(inner.chunks_mut(size)) {
        let bytes: Vec<u8> = list.iter().flat_map(|number| number.to_be_bytes()).collect();
        target.store(Some((list.len(), &bytes)), reference).unwrap();
    }
    let mut outer = vec![0; size];
    target.store(Some((lists.len(), &inner)), &mut outer).unwrap();
    outer
}

/// Reads lists of lists back.
fn load<const N: usize>(source: &dyn Source, reference: &[u8], number: impl Fn([u8; N]) -> i16) -> Vec<Vec<i16>> {
    let size = reference.len();
    let outer = source.sequence(reference, size).unwrap().unwrap();
    let inner = outer.bytes[..outer.count * size].chunks(size).map(|reference| {
        let list = source.sequence(reference, N).unwrap().unwrap();
        list.bytes.as_chunks::<N>().0.iter().take(list.count).map(|bytes| number(*bytes)).collect()
    });
    inner.collect()
}

#[test]
fn lists_of_lists_go_to_memory_and_back() {
    let mut rng = Rng::new(21);
    for _ in 0..500 {
        // Addresses of four bytes: references change their size, members their offsets.
        let size = rng.pick(&[12, 16]);
        let stored = nested(Datatype::integer(2, true, Order::Big).unwrap(), size);
        let wide = nested(Datatype::of::<i64>(), size).in_memory().unwrap();
        let lists: Vec<Vec<i16>> =
            (0..rng.range(0, 4)).map(|_| (0..rng.range(0, 4)).map(|_| rng.next() as i16).collect()).collect();
        let mut heap = Heap::default();
        let mut from = store(&lists, &mut heap, size as usize);
        let text = rng.pick(&[None, Some(&b"abc"[..])]);
        let mut reference = vec![0; size as usize];
        heap.store(text.map(|text| (text.len(), text)), &mut reference).unwrap();
        from.extend(reference);

        let (mut arena, mut memory) = (Arena::default(), vec![0; wide.size()]);
        let plan = Plan::new(&stored, &wide).unwrap();
        let mut seen = 0;
        plan.references(1, &from, &mut |reference| seen += reference.len()).unwrap();
        assert_eq!(seen, 2 * size as usize);
        plan.convert(1, &from, &mut memory, &heap, &mut arena).unwrap();

        assert_eq!(load(&arena, &memory[..16], |bytes: [u8; 8]| i64::from_ne_bytes(bytes) as i16), lists);
        assert_eq!(arena.get(&memory[16..], 1).unwrap(), text);

        let (mut back, mut again) = (Heap::default(), vec![0; from.len()]);
        Plan::new(&wide, &stored).unwrap().convert(1, &memory, &mut again, &arena, &mut back).unwrap();
        let (list, name) = again.split_at(size as usize);
        assert_eq!(load(&back, list, i16::from_be_bytes), lists);
        assert_eq!(back.sequence(name, 1).unwrap().map(|found| found.bytes.to_vec()).as_deref(), text);
    }
}

#[test]
fn references_that_lie_are_refused() {
    let mut rng = Rng::new(22);
    let datatype = nested(Datatype::of::<i32>(), 16);
    let plan = Plan::new(&datatype, &datatype).unwrap();
    let heap = Heap { objects: vec![vec![0xff; 40], vec![1; 64], Vec::new()] };
    for _ in 0..20_000 {
        let mut from = rng.bytes(32);
        if rng.one_in(2) {
            for reference in from.chunks_mut(16) {
                let count = rng.pick(&[0, 1, 2, 4, u32::MAX]);
                HeapReference { count, address: COLLECTION, index: rng.range(0, 3) }.encode(reference).unwrap();
            }
        }
        let mut to = vec![0; 32];
        let _ = plan.convert(1, &from, &mut to, &heap, &mut Arena::default());
        let _ = plan.convert(1, &from, &mut to, &Arena::default(), &mut Heap::default());
        assert!(plan.convert(1, &from, &mut to, &NoHeap, &mut NoHeap).is_err());
    }
    assert!(plan.convert(2, &[0; 32], &mut [0; 64], &heap, &mut Arena::default()).is_err());
    assert!(plan.convert(usize::MAX, &[0; 32], &mut [0; 64], &heap, &mut Arena::default()).is_err());
}
