//! Revised references into another file: the digest names the object as libhdf5 does.
//!
//! Needs a Python with h5py: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the test says that it is skipped.
#![cfg(target_os = "linux")]

use std::{fs, path::Path, process::Command};

use serde_json::Value;
use sha2::{Digest, Sha256};

const ELSEWHERE: u8 = 5;
const UNKNOWN: u8 = 2;

/// The digest of the values, which are references.
fn values(directory: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hyperslab"));
    let output = command.arg("digest").arg(directory.join("references.h5")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let mut lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.find(|line| line["path"] == "/references").unwrap()["data"]["sha256"].as_str().unwrap().to_owned()
}

fn hashed(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn references_into_another_file() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("references-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/references.py");
    let made = Command::new(python).arg(script).arg(&directory).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let names: Vec<String> = serde_json::from_slice(&made.stdout).unwrap();
    assert_eq!(names, ["/a/deep/one", "/a/deep/one", "/a/deep/one", "/"]);

    let mut expected = Vec::new();
    for name in &names {
        expected.push(ELSEWHERE);
        expected.extend((name.len() as u64).to_le_bytes());
        expected.extend(name.bytes());
    }
    expected.push(0);
    assert_eq!(values(&directory), hashed(&expected));

    // Without the other file they lead nowhere; the null one still does.
    fs::remove_file(directory.join("other.h5")).unwrap();
    let lost: Vec<u8> = names.iter().map(|_| UNKNOWN).chain([0]).collect();
    assert_eq!(values(&directory), hashed(&lost));
    fs::remove_dir_all(&directory).unwrap();
}
