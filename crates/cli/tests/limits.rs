//! Processes that may have little.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::allow_attributes)]
#![allow(missing_docs)]

use std::{path::Path, process::Command};

/// As on a machine of many cores: threads that there is no room for are done without.
#[test]
fn a_small_address_space() {
    let seed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hostile/seeds/indexes.h5");
    let digest = |kibibytes: &str| {
        let run = format!("ulimit -v {kibibytes}; exec \"$0\" digest \"$1\"");
        let mut command = Command::new("sh");
        command.args(["-c", &run, env!("CARGO_BIN_EXE_hyperslab")]).arg(&seed).env("RAYON_NUM_THREADS", "500");
        command.output().unwrap()
    };
    let (free, limited) = (digest("unlimited"), digest("524288"));
    assert!(limited.status.success(), "{}", String::from_utf8_lossy(&limited.stderr));
    assert_eq!(limited.stdout, free.stdout);
    assert!(String::from_utf8_lossy(&free.stdout).contains("sha256"));
}
