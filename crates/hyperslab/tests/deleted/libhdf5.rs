//! The same program in both libraries.

use std::{ops::ControlFlow, path::Path, process::Command};

use hyperslab::{File, LibVersion, Node, OpenOptions, check};
use serde_json::{Value, json};

fn python(arguments: &[&str]) -> Option<Value> {
    let output = Command::new(hyperslab_workshop::python()?)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deleted/program.py"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// What is in a file: the values of datasets, and the names in groups.
fn listing(file: &File) -> Value {
    let mut found = serde_json::Map::new();
    let done = file.visit(|path, node| {
        let value = match node.unwrap() {
            Node::Dataset(dataset) => json!(dataset.read::<i64>().unwrap()),
            Node::Group(group) => json!(group.names().unwrap()),
            Node::Datatype(_) => json!(null),
        };
        found.insert(String::from_utf8_lossy(path).into_owned(), value);
        ControlFlow::<()>::Continue(())
    });
    done.unwrap();
    Value::Object(found)
}

/// The program of `program.py`.
fn program(path: &Path, low: LibVersion) -> Value {
    let mut seen = Vec::new();
    let file = OpenOptions::new().create().truncate().libver_min(low).open(path).unwrap();
    let root = file.root().unwrap();
    for name in ["g/x", "g/kept", "alone"] {
        let new = root.new_dataset::<i64>().shape([4]).chunks([2]).max_shape([None]);
        new.write(name, &[1i64, 2, 3, 4]).unwrap();
    }
    root.hard_link("kept", &root.get("g/kept").unwrap()).unwrap();
    root.create_group("g/below").unwrap();
    let (group, x, alone) = (root.get("g").unwrap(), root.dataset("g/x").unwrap(), root.dataset("alone").unwrap());
    let names = |group: &Node| group.as_group().unwrap().names().unwrap();
    file.flush().unwrap();
    root.delete("g").unwrap();
    root.delete("alone").unwrap();
    seen.push(json!(root.names().unwrap()));
    seen.push(json!(x.read::<i64>().unwrap()));
    x.write_slice(1, &[20]).unwrap();
    x.resize([6]).unwrap();
    x.set_attribute("a", 5).unwrap();
    let attribute = x.attribute("a").unwrap().read_scalar::<i64>().unwrap();
    let alive = Node::Dataset(x.clone()).is_alive();
    seen.push(json!([x.read::<i64>().unwrap(), attribute, alive, names(&group)]));
    group.as_group().unwrap().create_group("new").unwrap();
    seen.push(json!(group.as_group().unwrap().dataset("x").unwrap().read::<i64>().unwrap()));
    root.new_dataset::<i64>().write("other", &[9i64, 9]).unwrap();
    file.flush().unwrap();
    seen.push(json!([alone.read::<i64>().unwrap(), x.read::<i64>().unwrap()]));
    root.hard_link("y", &Node::Dataset(x.clone())).unwrap();
    root.hard_link("h/again", &group).unwrap();
    drop((x, alone));
    root.new_dataset::<i64>().write("g/x", &[7i64]).unwrap();
    drop(group);
    seen.push(listing(&file));
    drop(root);
    file.close().unwrap();
    seen.push(listing(&File::open(path).unwrap()));
    json!(seen)
}

#[test]
fn libhdf5_does_the_same() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("deleted");
    std::fs::create_dir_all(&folder).unwrap();
    for (low, name) in [
        (LibVersion::Earliest, "earliest"),
        (LibVersion::V18, "v108"),
        (LibVersion::V110, "v110"),
        (LibVersion::V200, "latest"),
    ] {
        let (ours, theirs) = (folder.join(format!("ours-{name}.h5")), folder.join(format!("theirs-{name}.h5")));
        let seen = program(&ours, low);
        let Some(expected) = python(&["program", theirs.to_str().unwrap(), name]) else { return };
        assert_eq!(seen, expected, "{name}");
        let went_on = python(&["go on", ours.to_str().unwrap()]).unwrap();
        assert_eq!(went_on, listing(&File::open(&ours).unwrap()), "{name}");
        assert_eq!(went_on["more"][0], 100);
        let report = check::file(&ours, &mut |_| ()).unwrap();
        assert_eq!(report.problems().count(), 0, "{name}: {:?}", report.findings);
    }
}
