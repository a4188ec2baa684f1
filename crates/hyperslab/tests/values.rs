//! Values of any type, and what references refer to, in files that libhdf5 wrote.

use hyperslab::{File, Part, Value};

/// The files that the command is tested with; `xtask/sample.py` and `odd.py` beside them say what is in them.
fn open(name: &str) -> File {
    File::open(format!("{}/../cli/tests/cmd/files.in/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn values(file: &File, path: &str) -> Vec<Value> {
    let dataset = file.dataset(path).unwrap();
    dataset.read_values(&dataset.space()).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn every_class_has_its_form() {
    let odd = open("odd.h5");
    assert_eq!(values(&odd, "half"), [Value::F32(0.5), Value::F32(65504.0), Value::F32(f32::INFINITY)]);
    assert_eq!(values(&odd, "big_endian"), [1, -2, 3, 256].map(Value::Signed));
    assert_eq!(values(&odd, "fixed"), [Value::Text(b"ab".to_vec()), Value::Text(b"abcd".to_vec())]);
    assert_eq!(values(&odd, "opaque"), [Value::Bytes(vec![0, 1]), Value::Bytes(vec![0xfe, 0xff])]);
    assert_eq!(values(&odd, "bits")[1], Value::Bits { bits: 0x8001, width: 16 });
    assert_eq!(values(&odd, "wide"), [Value::Unsigned(0)]);
    assert_eq!(values(&odd, "no_rows"), []);
    assert_eq!(values(&odd, "nothing"), []);
    let ragged: Vec<Vec<Value>> = vec![[1, 2, 3].map(Value::Signed).into(), Vec::new(), vec![Value::Signed(-1)]];
    assert_eq!(values(&odd, "ragged"), ragged.into_iter().map(Value::Sequence).collect::<Vec<_>>());
    assert_eq!(values(&odd, "arrays")[0].to_string(), "{matrix: [[1, 2], [3, 4]]}");
}

#[test]
fn references_lead_to_their_objects() {
    let sample = open("sample.h5");
    let (images, address) =
        (sample.dataset("detector/images").unwrap(), sample.get("detector/images").unwrap().address());
    let regions = values(&sample, "regions_of_interest");
    let points = regions.iter().map(|region| match region {
        Value::Reference(referent) => match &referent.part {
            Part::Region(space) => {
                assert_eq!((referent.address, &referent.file), (address, &None));
                assert_eq!(*space.extent(), images.extent());
                space.npoints()
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    });
    assert_eq!(points.collect::<Vec<_>>(), [16, 192]);
    let default = sample.root().unwrap().attribute("default").unwrap();
    let found = sample.dereference(&default.datatype, &default.data).unwrap().unwrap();
    assert_eq!((found.address, found.part), (address, Part::Object));
    assert_eq!(values(&open("odd.h5"), "pointers")[1], Value::Null);
}

#[test]
fn a_dataset_knows_what_it_takes() {
    let sample = open("sample.h5");
    let stored = |path: &str| sample.dataset(path).unwrap().stored_size().unwrap();
    assert_eq!(stored("detector/images").chunks, Some(12));
    assert_eq!((stored("detector/temperature").bytes, stored("detector/temperature").chunks), (96, None));
    assert_eq!(stored("mosaic").bytes, 0);
}

#[test]
fn strings_that_are_newer_in_the_image_of_the_metadata_cache() {
    let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rewritten.h5")).unwrap();
    assert_eq!(file.dataset("names").unwrap().read::<String>().unwrap(), ["first", "changed", "third"]);
}
