//! Old messages, deep messages, and datatypes that cannot be.

use hyperslab_dtype::{Charset, Class, Datatype, Error, Float, NoHeap, Order, Padding, Plan, Version};

use crate::random;
use crate::random::Rng;

/// A version 1 compound with one member of dimensions 2 × 3, which has no array datatype.
fn old_compound() -> Vec<u8> {
    let mut bytes = vec![0x16, 1, 0, 0, 24, 0, 0, 0];
    bytes.extend(b"speed\0\0\0");
    bytes.extend(0u32.to_le_bytes());
    bytes.extend([2, 0, 0, 0]);
    bytes.extend([0; 8]);
    for dim in [2u32, 3, 0, 0] {
        bytes.extend(dim.to_le_bytes());
    }
    bytes.extend(Datatype::float(4, Float::F32).unwrap().encode(Version::V1));
    bytes
}

#[test]
fn members_of_old_compounds_have_dimensions() {
    let (datatype, used) = Datatype::decode(&old_compound()).unwrap();
    assert_eq!(used, old_compound().len());
    assert_eq!(datatype.to_string(), "compound {speed: f32[2][3]}");
    // Written again, the array needs version 2.
    assert_eq!(datatype.encode(Version::V1)[0], 0x26);
}

#[test]
fn nothing_nests_without_end() {
    let mut datatype = Datatype::of::<u8>();
    let mut depth = 0;
    while let Ok(deeper) = Datatype::vlen(datatype.clone()) {
        (datatype, depth) = (deeper, depth + 1);
    }
    assert_eq!(depth, 64);
    assert!(Datatype::decode(&datatype.encode(Version::V1)).is_ok());
    let mut message = [0x19, 0, 0, 0, 16, 0, 0, 0].repeat(100_000);
    message.extend(Datatype::of::<u8>().encode(Version::V1));
    assert!(matches!(Datatype::decode(&message), Err(Error::Decode { .. })));
}

#[test]
fn datatypes_that_cannot_be_are_refused() {
    let byte = || Datatype::of::<u8>();
    assert!(Datatype::compound::<&str>([]).is_err());
    assert!(Datatype::compound([("a", byte()), ("a", byte())]).is_err());
    assert!(Datatype::compound_at(2, [("a", 0, byte()), ("b", 0, byte())]).is_err());
    assert!(Datatype::compound_at(2, [("a", 2, byte())]).is_err());
    assert!(Datatype::compound_at(2, [("a", u32::MAX, byte())]).is_err());
    assert!(Datatype::array(byte(), &[0]).is_err());
    assert!(Datatype::array(byte(), &[65_536, 65_536]).is_err());
    assert!(Datatype::array(byte(), &[1; 33]).is_err());
    assert!(Datatype::string(0, Padding::NullTerm, Charset::Ascii).is_err());
    assert!(Datatype::opaque(1, [b'x'; 249]).is_err());
    assert!(Datatype::complex(byte()).is_err());
    assert!(Datatype::enumeration(Datatype::of::<f32>(), [("a", 1)]).is_err());
    assert!(Datatype::integer(2, true, Order::Vax).is_err());
    assert!(Datatype::integer(9000, true, Order::Big).is_err());
    assert!(Datatype::float(3, Float::F32).is_err());
}

#[test]
fn a_missing_conversion_names_both_datatypes() {
    let error = Plan::new(&Datatype::var_string(Charset::Utf8), &Datatype::of::<f64>()).unwrap_err();
    assert_eq!(error.to_string(), "no conversion from string(utf8) to f64: libhdf5 converts no such pair");
}

#[test]
fn datatypes_are_shown_as_people_read_them() {
    let shown = |datatype: Datatype| datatype.to_string();
    assert_eq!(shown(Datatype::of::<bool>()), "bool");
    assert_eq!(shown(Datatype::of::<num_complex::Complex<f64>>()), "complex {f64}");
    assert_eq!(shown(Datatype::of::<half::bf16>()), "bf16");
    assert_eq!(shown(Datatype::float(16, Float::X87).unwrap()), "f80");
    assert_eq!(shown(Datatype::float(8, Float::VAX_G).unwrap()), "vax g");
    assert_eq!(shown(Datatype::vlen(Datatype::integer(2, false, Order::Big).unwrap()).unwrap()), "vlen {u16be}");
    assert_eq!(shown(Datatype::string(8, Padding::SpacePad, Charset::Utf8).unwrap()), "string(8, space-padded, utf8)");
    let Class::Array(array) = Datatype::of::<[[i8; 2]; 3]>().class().clone() else { unreachable!() };
    assert_eq!(array.elements(), 3);
}

/// Datatypes that no library makes but a damaged file may hold: nothing overflows, nothing is touched outside the buffers.
#[test]
fn damaged_datatypes_convert_or_are_refused() {
    let mut rng = Rng::new(40);
    let damaged = |rng: &mut Rng, datatype: &Datatype| {
        let mut bytes = datatype.encode(rng.pick(&[Version::V1, Version::V3]));
        for _ in 0..rng.range(0, 3) {
            let at = rng.range(0, bytes.len() as u32 - 1) as usize;
            bytes[at] = if rng.one_in(2) { bytes[at] ^ 1 << rng.range(0, 7) } else { rng.next() as u8 };
        }
        Datatype::decode(&bytes).ok().map(|(datatype, _)| datatype).filter(|datatype| datatype.size() < 2000)
    };
    let mut converted = 0;
    for _ in 0..60_000 {
        let (from, to) = random::pairs::pair(&mut rng, 1);
        let (Some(from), Some(to)) = (damaged(&mut rng, &from), damaged(&mut rng, &to)) else { continue };
        let Ok(plan) = Plan::new(&from, &to) else { continue };
        let source = rng.bytes(3 * from.size());
        let mut target = vec![0; 3 * to.size()];
        if plan.convert(3, &source, &mut target, &NoHeap, &mut NoHeap).is_ok() {
            converted += 1;
        }
    }
    assert!(converted > 10_000, "{converted}");
}
