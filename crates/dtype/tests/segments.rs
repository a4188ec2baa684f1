//! Values in structured chunks: references beside sequences, through a plan, into segments and back.

use std::borrow::Cow;

use hyperslab_dtype::{
    Arena, Class, Datatype, Error, Nesting, Plan, Reference, Result, Revised, Segments, Sequence, Source, Target,
};

use crate::random::Rng;

/// A heap in which a reference names what it says by its first byte.
struct Heap;

impl Source for Heap {
    fn sequence(&self, _: &[u8], _: usize) -> Result<Option<Sequence<'_>>> {
        Err(Error::Sequence("sequences are in an arena".into()))
    }

    fn reference(&self, kind: Reference, stored: &[u8]) -> Result<Option<Cow<'_, [u8]>>> {
        let said = vec![stored[0]; usize::from(stored[0])];
        Ok((stored[0] > 0).then_some(if kind == Reference::Region { said } else { [said, vec![9]].concat() }.into()))
    }
}

fn region() -> Datatype {
    Datatype::reference(12, Reference::Region).unwrap()
}

fn revised() -> Datatype {
    Datatype::reference(18, Reference::Revised(Revised::Object)).unwrap()
}

fn object() -> Datatype {
    Datatype::reference(8, Reference::Object).unwrap()
}

#[test]
fn references_get_slots_where_they_are() {
    let datatype = Datatype::compound([
        ("object", object()),
        ("revised", revised()),
        ("regions", Datatype::array(region(), &[2]).unwrap()),
        ("all", Datatype::vlen(region()).unwrap()),
    ]);
    let in_chunks = datatype.unwrap().in_chunks().unwrap();
    assert_eq!(in_chunks.size(), 8 + 16 + 32 + 16);
    assert_eq!(in_chunks.in_chunks().unwrap(), in_chunks);
    let nesting = Nesting::of(&in_chunks).unwrap();
    assert_eq!(nesting.slots().collect::<Vec<_>>(), [8, 24, 40, 56]);
    assert!(nesting.is_deep() && !Nesting::of(&region()).unwrap().is_deep());
    assert!(region().varies() && revised().varies() && !object().varies());
    assert!(region().encoded_reference().is_none());
    assert_eq!(revised().in_chunks().unwrap().encoded_reference(), Some(Reference::Revised(Revised::Object)));
    assert_eq!(Nesting::of(&object()).unwrap().slots().count(), 0);
}

#[test]
fn plans_follow_references_and_do_not_go_back() {
    let in_chunks = region().in_chunks().unwrap();
    let (mut values, mut arena) = ([0; 48], Arena::default());
    let stored: Vec<u8> = [3u8, 0, 1].into_iter().flat_map(|first| [vec![first], vec![0; 11]].concat()).collect();
    let plan = Plan::new(&region(), &in_chunks).unwrap();
    plan.convert(3, &stored, &mut values, &Heap, &mut arena).unwrap();
    let said = |nth: usize| arena.get(&values[16 * nth..16 * nth + 16], 1).unwrap();
    assert_eq!([said(0), said(1), said(2)], [Some(&[3, 3, 3][..]), None, Some(&[1])]);
    // From an arena to segments, and no file is asked.
    let (mut slots, mut segments) = ([0; 48], Segments::default());
    let plan = Plan::new(&in_chunks, &in_chunks).unwrap();
    plan.convert(3, &values, &mut slots, &arena, &mut segments).unwrap();
    assert_eq!(segments.bytes, [3, 3, 3, 1]);
    assert_eq!(slots[16..32], [0; 16]);
    let why = Plan::new(&in_chunks, &region()).unwrap_err().to_string();
    assert!(why.contains("not in the heap of the file"), "{why}");
    assert!(Plan::new(&revised(), &in_chunks).is_err());
    let kind = Datatype::reference(16, Reference::Revised(Revised::Region)).unwrap();
    assert!(Plan::new(&revised(), &kind).is_ok());
    assert!(
        !Plan::new(&in_chunks, &in_chunks).unwrap().is_copy() && Plan::new(&region(), &region()).unwrap().is_copy()
    );
    let unknown = Plan::new(&region(), &in_chunks).unwrap();
    let why = unknown.convert(3, &stored, &mut values, &Arena::default(), &mut Segments::default()).unwrap_err();
    assert!(why.to_string().contains("no file was given"), "{why}");
}

/// libhdf5 stores revised references in sequences one after the other, in objects that have room for them in memory.
#[test]
fn references_in_sequences_of_the_heap_may_have_room_behind_them() {
    struct Wide(Vec<u8>);
    impl Source for Wide {
        fn sequence(&self, _: &[u8], _: usize) -> Result<Option<Sequence<'_>>> {
            Ok(Some(Sequence { count: 2, bytes: Cow::Borrowed(&self.0) }))
        }

        fn reference(&self, kind: Reference, stored: &[u8]) -> Result<Option<Cow<'_, [u8]>>> {
            Heap.reference(kind, stored).map(|said| said.map(|said| said.into_owned().into()))
        }
    }
    let datatype = Datatype::vlen(revised()).unwrap();
    let plan = Plan::new(&datatype, &datatype.in_chunks().unwrap()).unwrap();
    for room in [18, 64] {
        let mut wide = vec![0; 2 * room];
        wide.fill(7);
        (wide[0], wide[18]) = (2, 1);
        let (mut value, mut arena) = ([0; 16], Arena::default());
        plan.convert(1, &[1; 16], &mut value, &Wide(wide), &mut arena).unwrap();
        let slots = arena.get(&value, 16).unwrap().unwrap();
        let said: Vec<_> = slots.chunks_exact(16).map(|slot| arena.get(slot, 1).unwrap().unwrap()).collect();
        assert_eq!(said, [&[2, 2, 9][..], &[1, 9]]);
    }
}

/// A random value of a type in memory.
fn random(random: &mut Rng, datatype: &Datatype, place: &mut [u8], arena: &mut Arena) {
    if datatype.encoded_reference().is_some() {
        let said: Vec<u8> = (0..random.range(0, 8)).map(|_| random.next() as u8).collect();
        let said = (!said.is_empty()).then_some((said.len(), said.as_slice()));
        return arena.store(said, place).unwrap();
    }
    match datatype.class() {
        Class::Vlen(vlen) => {
            let (count, size) = (random.range(0, 3) as usize, vlen.base.size());
            let mut elements = vec![0; count * size];
            elements.chunks_exact_mut(size).for_each(|element| self::random(random, &vlen.base, element, arena));
            arena.store((count > 0).then_some((count, &elements)), place).unwrap();
        }
        Class::Compound(compound) => {
            for member in compound.members() {
                let start = member.offset as usize;
                self::random(random, &member.datatype, &mut place[start..start + member.datatype.size()], arena);
            }
        }
        _ => place.iter_mut().for_each(|byte| *byte = random.next() as u8),
    }
}

/// What a value is, wherever its parts are.
fn told(datatype: &Datatype, place: &[u8], source: &dyn Source, out: &mut Vec<u8>) {
    let base = match datatype.class() {
        Class::Vlen(vlen) => Some(&*vlen.base),
        _ => None,
    };
    if base.is_some() || datatype.encoded_reference().is_some() {
        let size = base.map_or(1, Datatype::size);
        let Some(found) = source.sequence(place, size).unwrap() else { return out.push(0xff) };
        out.push(found.count as u8);
        match base {
            Some(base) => found.bytes.chunks_exact(size).for_each(|element| told(base, element, source, out)),
            None => out.extend_from_slice(&found.bytes),
        }
        return;
    }
    match datatype.class() {
        Class::Compound(compound) => compound.members().iter().for_each(|member| {
            let start = member.offset as usize;
            told(&member.datatype, &place[start..start + member.datatype.size()], source, out);
        }),
        _ => out.extend_from_slice(place),
    }
}

#[test]
fn segments_have_what_arenas_have() {
    let inner = Datatype::compound([
        ("to", region()),
        ("id", Datatype::of::<u16>()),
        ("name", Datatype::vlen(revised()).unwrap()),
    ]);
    let types = [
        region(),
        revised(),
        Datatype::vlen(region()).unwrap(),
        Datatype::vlen(Datatype::vlen(revised()).unwrap()).unwrap(),
        Datatype::compound([("object", object()), ("all", Datatype::vlen(inner.unwrap()).unwrap()), ("to", revised())])
            .unwrap(),
    ];
    for (seed, datatype) in
        (0..40).flat_map(|seed| types.iter().map(move |datatype| (seed, datatype.in_chunks().unwrap())))
    {
        let (mut rng, size, mut arena) = (Rng::new(seed), datatype.size(), Arena::default());
        let mut values = vec![0; 5 * size];
        values.chunks_exact_mut(size).for_each(|value| random(&mut rng, &datatype, value, &mut arena));
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        values.chunks_exact(size).for_each(|value| told(&datatype, value, &arena, &mut expected));

        let (nesting, plan) = (Nesting::of(&datatype).unwrap(), Plan::new(&datatype, &datatype).unwrap());
        let (mut slots, mut apart, mut in_place) = (vec![0; 5 * size], Segments::default(), Segments::default());
        plan.convert(5, &values, &mut slots, &arena, &mut apart).unwrap();
        nesting.put_in_place(&mut slots, &apart, &mut in_place).unwrap();
        let (mut again, mut back) = (Segments::default(), Arena::default());
        nesting.take_apart(&mut slots, &in_place, &mut again).unwrap();
        let mut values = vec![0; 5 * size];
        plan.convert(5, &slots, &mut values, &again, &mut back).unwrap();
        values.chunks_exact(size).for_each(|value| told(&datatype, value, &back, &mut found));
        assert_eq!(found, expected, "seed {seed}, {datatype}");
    }
}
