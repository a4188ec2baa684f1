//! How many bytes encoded dataspaces take, and selections listed as points.

use hyperslab_space::{Error, Extent, Form, Op, Slab, Space, UNLIMITED};
use proptest::prelude::*;

use crate::twin::*;

/// Both sizes are those of the bytes, and the bytes as points are those of a space with the same points selected.
fn check(space: &Space) {
    assert_eq!(space.encoded_bytes().unwrap(), space.encode(Form::Smallest).unwrap().len() as u64, "{space:?}");
    let listed = space.encode_as_points().unwrap();
    assert_eq!(space.encoded_points_bytes(), listed.len() as u64, "{space:?}");
    let mut points = space.clone();
    points.select_points(&coords_of(space).concat()).unwrap();
    assert_eq!(listed, points.encode(Form::Smallest).unwrap(), "{space:?}");
    assert_eq!(Space::decode(&listed).unwrap(), points);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_any_selection((dims, recipe) in selection(), far in prop::sample::select(vec![0i64, 65_530, 1 << 20, (1 << 32) - 4, 1 << 40]), grows: bool) {
        // The selection may lie outside its extent.
        let space = recipe.space(&dims);
        let space = if far == 0 { space } else { space.moved(&vec![far; dims.len()]).unwrap() };
        let max: Vec<Option<u64>> = dims.iter().map(|_| None).collect();
        let extent = if grows { Extent::with_max(&dims, &max).unwrap() } else { space.extent().clone() };
        check(&Space::with(extent, space.selection().clone()).unwrap());
    }
}

#[test]
fn of_more_elements_than_two_bytes_count() {
    for count in [65_534, 65_535, 65_536, 65_537] {
        let mut square = Space::simple(&[1000, 1000]).unwrap();
        square.select_row_major((0..count).map(|n| 11 * n + n % 7..11 * n + n % 7 + 1)).unwrap();
        check(&square);
        let mut line = Space::simple(&[count]).unwrap();
        check(&line);
        line.select_row_major([0..1, 2..count]).unwrap();
        check(&line);
    }
}

#[test]
fn of_what_has_no_list_of_points() {
    let mut endless = Space::with_max(&[7, 5], &[None, Some(5)]).unwrap();
    endless.select_hyperslab(Op::Set, &[Slab::new(1, 3, UNLIMITED, 2), Slab::block(0, 2)]).unwrap();
    let uncounted = Space::simple(&[1 << 40, 1 << 40]).unwrap();
    for space in [&endless, &uncounted, &Space::scalar()] {
        assert!(space.encode_as_points().is_err());
        assert_eq!(space.encoded_points_bytes(), u64::MAX);
        assert_eq!(space.encoded_bytes().unwrap(), space.encode(Form::Smallest).unwrap().len() as u64);
    }
    assert_eq!(endless.encode_as_points(), Err(Error::Unlimited));

    let mut none = Space::scalar();
    none.select_none();
    for none in [none, Space::null(), Space::simple(&[0, 3]).unwrap()] {
        let listed = none.encode_as_points().unwrap();
        assert_eq!(listed.len() as u64, none.encoded_points_bytes());
        assert_eq!(Space::decode(&listed).unwrap().npoints(), 0);
    }
}

#[test]
fn of_a_list_that_no_memory_holds() {
    let half = Space::simple(&[1 << 31, 1 << 32]).unwrap();
    assert!(matches!(half.encode_as_points(), Err(Error::Encode(_))));
    assert_eq!(half.encoded_bytes().unwrap(), half.encode(Form::Smallest).unwrap().len() as u64);
}
