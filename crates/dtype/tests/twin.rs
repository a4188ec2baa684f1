//! Conversions against naive twins: bits one by one, Rust's own casts, member by member.

use hyperslab_dtype::{Bits, Class, Datatype, Fixed, Float, Native, NoHeap, Order, Padding, Plan};
use proptest::prelude::*;

use crate::random::{Rng, pairs, values};

fn convert(from: &Datatype, to: &Datatype, source: &[u8], background: &[u8]) -> Vec<u8> {
    let mut result = background.to_vec();
    let count = source.len() / from.size();
    Plan::new(from, to).unwrap().convert(count, source, &mut result, &NoHeap, &mut NoHeap).unwrap();
    result
}

fn cast<S: Native, D: Native>(source: &[u8]) -> Vec<u8> {
    convert(
        &Datatype::of::<S>(),
        &Datatype::of::<D>(),
        source,
        &vec![0; source.len() / size_of::<S>() * size_of::<D>()],
    )
}

/// An integer read bit by bit.
fn value_of(fixed: &Fixed, bytes: &[u8]) -> i128 {
    let mut little = bytes.to_vec();
    fixed.bits.order.flip(&mut little);
    let mut value = 0;
    for bit in 0..u32::from(fixed.bits.precision) {
        let place = u32::from(fixed.bits.offset) + bit;
        let set = i128::from(little[place as usize / 8] >> (place % 8) & 1);
        let is_sign = fixed.signed && bit + 1 == u32::from(fixed.bits.precision);
        value += if is_sign { -(set << bit) } else { set << bit };
    }
    value
}

fn fixed() -> impl Strategy<Value = Datatype> {
    let fixed = (1..=8u32, any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    fixed.prop_flat_map(|(size, signed, big, low_pad, high_pad)| {
        (1..=8 * size as u16).prop_flat_map(move |precision| {
            (0..=8 * size as u16 - precision).prop_map(move |offset| {
                let order = if big { Order::Big } else { Order::Little };
                let bits = Bits { order, offset, precision, low_pad, high_pad };
                Datatype::fixed(size, Fixed { bits, signed }).unwrap()
            })
        })
    })
}

proptest! {
    #[test]
    fn integers_spread_over_their_bytes(datatype in fixed(), bytes in any::<[u8; 8]>()) {
        let Class::Fixed(fixed) = datatype.class() else { unreachable!() };
        let mut spread = bytes[..datatype.size()].to_vec();
        let value = value_of(fixed, &spread);
        fixed.spread(&mut spread);
        prop_assert_eq!(&spread[..], &value.to_le_bytes()[..datatype.size()]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn integers_saturate(from in fixed(), to in fixed(), source in prop::collection::vec(any::<u8>(), 8 * 3)) {
        let (Class::Fixed(before), Class::Fixed(after)) = (from.class(), to.class()) else { unreachable!() };
        let source = &source[..3 * from.size()];
        let result = convert(&from, &to, source, &vec![0; 3 * to.size()]);
        let swapped = from.size() == to.size()
            && before.bits.order != after.bits.order
            && before.bits.offset == 0
            && after.bits.offset == 0;
        for (source, result) in source.chunks(from.size()).zip(result.chunks(to.size())) {
            if swapped || from == to {
                let mut same = source.to_vec();
                if swapped {
                    same.reverse();
                }
                prop_assert_eq!(result, same);
                continue;
            }
            let room = u32::from(after.bits.precision) - u32::from(after.signed);
            let high = (1i128 << room) - 1;
            let low = if after.signed { -high - 1 } else { 0 };
            prop_assert_eq!(value_of(after, result), value_of(before, source).clamp(low, high));
            let pads = |bits: Bits, value: u8| {
                let mut ones = result.to_vec();
                bits.order.flip(&mut ones);
                let is = |place: usize| ones[place / 8] >> (place % 8) & 1 == value;
                let end = usize::from(bits.offset + bits.precision);
                ((0..usize::from(bits.offset)).all(is), (end..8 * result.len()).all(is))
            };
            prop_assert!(pads(after.bits, after.bits.low_pad.into()).0);
            prop_assert!(pads(after.bits, after.bits.high_pad.into()).1);
        }
    }

    #[test]
    fn numbers_of_c_are_cast_as_rust_casts_them(
        floats in prop::collection::vec(any::<f64>(), 1..20),
        ints in prop::collection::vec(any::<i64>(), 1..20),
    ) {
        let bytes: Vec<u8> = floats.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let twin: Vec<u8> = floats.iter().flat_map(|&value| (value as u16).to_ne_bytes()).collect();
        prop_assert_eq!(cast::<f64, u16>(&bytes), twin);
        let bytes: Vec<u8> = ints.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let twin: Vec<u8> = ints.iter().flat_map(|&value| (value as f32).to_ne_bytes()).collect();
        prop_assert_eq!(cast::<i64, f32>(&bytes), &twin[..]);
        // Bit by bit gives the same: from big-endian.
        let big = Datatype::integer(8, true, Order::Big).unwrap();
        let bytes: Vec<u8> = ints.iter().flat_map(|value| value.to_be_bytes()).collect();
        prop_assert_eq!(convert(&big, &Datatype::of::<f32>(), &bytes, &vec![0; 4 * ints.len()]), twin);
    }

    #[test]
    fn strings_are_cut_and_padded(source in "[ab \0]{1,9}", size in 1..12u32, from in 0..3usize, to in 0..3usize) {
        let paddings = [Padding::NullTerm, Padding::NullPad, Padding::SpacePad];
        let charset = hyperslab_dtype::Charset::Ascii;
        let before = Datatype::string(source.len() as u32, paddings[from], charset).unwrap();
        let after = Datatype::string(size, paddings[to], charset).unwrap();
        let mut text = match paddings[from] {
            Padding::SpacePad => source.trim_end_matches(' ').to_string(),
            _ => source.split('\0').next().unwrap().to_string(),
        };
        if from == to && source.len() == size as usize {
            text = source.clone();
        } else {
            text.truncate(size as usize);
            let pad = if paddings[to] == Padding::SpacePad { " " } else { "\0" };
            text += &pad.repeat(size as usize - text.len());
            if paddings[to] == Padding::NullTerm {
                text.replace_range(size as usize - 1.., "\0");
            }
        }
        prop_assert_eq!(convert(&before, &after, source.as_bytes(), &vec![7; size as usize]), text.as_bytes());
    }
}

#[test]
fn compounds_are_converted_member_by_member() {
    let mut rng = Rng::new(30);
    for _ in 0..2000 {
        let (from, to) = pairs::pair(&mut rng, 2);
        let (Class::Compound(before), Class::Compound(after)) = (from.class(), to.class()) else { continue };
        if before.members().len() != after.members().len() || from == to || from.has_reference() {
            continue;
        }
        let count = rng.range(1, 700) as usize;
        let source: Vec<u8> = (0..count).flat_map(|_| values::value(&mut rng, &from, &to)).collect();
        let background = rng.bytes(count * to.size());
        let mut twin = background.clone();
        for at in 0..count {
            for member in before.members() {
                let Some(target) = to.member(member.name.as_bytes()) else { continue };
                let value = &source[at * from.size() + member.offset as usize..][..member.datatype.size()];
                let place = &mut twin[at * to.size() + target.offset as usize..][..target.datatype.size()];
                let made = convert(&member.datatype, &target.datatype, value, place);
                place.copy_from_slice(&made);
            }
        }
        assert_eq!(convert(&from, &to, &source, &background), twin, "{from} to {to}");
    }
}

/// What libhdf5 does and no rule predicts; its own results are compared in `convert.rs`.
#[test]
fn oddities() {
    let big = Datatype::float(4, Float::F32.in_order(Order::Big)).unwrap();
    let int = |value: f32| convert(&big, &Datatype::of::<i32>(), &value.to_be_bytes(), &[0; 4]);
    assert_eq!(int(-0.75), 0i32.to_ne_bytes());
    assert_eq!(int(-0.2), i32::MIN.to_ne_bytes(), "below one half counts as an overflow");
    assert_eq!(int(f32::NAN), 0i32.to_ne_bytes());

    let (unsigned, signed) =
        (Datatype::integer(2, false, Order::Big).unwrap(), Datatype::integer(2, true, Order::Little).unwrap());
    assert_eq!(convert(&unsigned, &signed, &[0xff, 0xfe], &[0; 2]), [0xfe, 0xff], "equal sizes are only swapped");

    let (int, half) = (Datatype::integer(4, true, Order::Big).unwrap(), Datatype::float(2, Float::F16).unwrap());
    assert_eq!(
        convert(&int, &half, &70000i32.to_be_bytes(), &[0; 2]),
        0x7c46u16.to_le_bytes(),
        "not infinite but not a number"
    );
    let int = Datatype::integer(4, true, Order::Little).unwrap();
    assert_eq!(
        convert(&int, &half, &70000i32.to_le_bytes(), &[0; 2]),
        0x7c00u16.to_le_bytes(),
        "by the processor it is infinite"
    );
}
