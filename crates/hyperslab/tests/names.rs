//! Attributes, links and walks of files with many names, as h5py sees them.
//!
//! Needs a Python with h5py; without one the test says that it is skipped.

use std::{collections::HashSet, fs, ops::ControlFlow, path::Path, process::Command};

use hyperslab::{Attribute, File};
use serde_json::Value;

#[test]
fn many_names_in_old_and_new_files() {
    let Some(python) = hyperslab_workshop::python() else { return };
    for (libver, seed) in [("earliest", "1"), ("v108", "2"), ("latest", "3")] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("names-{libver}.h5"));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/names.py");
        let output = Command::new(&python).arg(script).arg(&path).args([libver, seed]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let expected: Value = serde_json::from_slice(&output.stdout).unwrap();
        let file = File::open(&path).unwrap();
        attributes(&file, &expected["attributes"]);
        links(&file, &expected);
        walk(&file, expected["visited"].as_u64().unwrap() as usize);
        fs::remove_file(path).unwrap();
    }
}

fn attributes(file: &File, expected: &Value) {
    for (owner, attributes) in expected.as_object().unwrap() {
        let dataset = file.dataset(owner).unwrap();
        let attributes = attributes.as_object().unwrap();
        let mut names: Vec<&String> = attributes.keys().collect();
        names.sort();
        assert!(dataset.attribute_names().unwrap().iter().eq(names));
        assert_eq!(dataset.attributes().unwrap().len(), attributes.len());
        for (name, value) in attributes {
            assert_eq!(shown(&dataset.attribute(name).unwrap()), value.as_str().unwrap(), "{name}");
            assert_eq!(dataset.has_attribute(format!("{name}!")).ok(), Some(false));
        }
    }
}

fn shown(attribute: &Attribute) -> String {
    attribute.read_scalar::<String>().or_else(|_| attribute.read_scalar::<i64>().map(|n| n.to_string())).unwrap()
}

fn links(file: &File, expected: &Value) {
    let many = file.group("many").unwrap();
    let mut made: Vec<&str> = expected["made"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    for (nth, name) in made.iter().enumerate() {
        assert_eq!(many.dataset(name).unwrap().read_scalar::<usize>().unwrap(), nth, "{name}");
        assert!(!many.contains(format!("{name}?")).unwrap());
    }
    assert_eq!(many.len().unwrap(), made.len() as u64);
    if expected["order"] == true {
        let links = many.links_as_made().unwrap();
        assert!(links.iter().map(|link| link.name.as_slice()).eq(made.iter().map(|name| name.as_bytes())));
    }
    made.sort();
    assert!(many.names().unwrap().iter().eq(made.iter()));
    assert!(
        many.members()
            .unwrap()
            .map(|(name, node)| (name, node.unwrap().kind()))
            .eq(made.iter().map(|name| (name.as_bytes().to_vec(), "dataset")))
    );
}

fn walk(file: &File, expected: usize) {
    let mut paths = HashSet::new();
    let ended = file.visit(|path, node| {
        let node = node.unwrap();
        assert_eq!(file.get(path).unwrap().address(), node.address());
        assert!(paths.insert(path.to_vec()));
        ControlFlow::<()>::Continue(())
    });
    assert_eq!((ended.unwrap(), paths.len()), (None, expected));
    let first = file.visit(|path, _| ControlFlow::Break(path.to_vec())).unwrap();
    assert_eq!(first.as_deref(), Some(&b"again"[..]));
}
