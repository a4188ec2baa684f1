//! What tests of several rooms share. Nothing that ships depends on it.

use std::{
    env,
    path::{Path, PathBuf},
};

/// The Python with h5py, numpy and hdf5plugin: what `$HYPERSLAB_PYTHON` names, or what `cargo xtask test` sets up. Without one, says that
/// the test is skipped. One that is there and does not work is no reason to skip: the test that starts it fails.
pub fn python() -> Option<PathBuf> {
    if let Some(named) = env::var_os("HYPERSLAB_PYTHON") {
        return Some(named.into());
    }
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/venv");
    let found = ["bin/python", "Scripts/python.exe"].iter().map(|name| home.join(name)).find(|python| python.exists());
    if found.is_none() {
        println!("skipped: no Python with h5py; `cargo xtask test` sets one up");
    }
    found
}

/// A number that a variable of the environment sets, such as a seed or a time; `usual` where it says nothing.
pub fn setting(name: &str, usual: u64) -> u64 {
    env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// How many cases a test tries: as many as its variable says, or the `usual` ones `HYPERSLAB_TIMES` times over.
pub fn cases(name: &str, usual: u64) -> u64 {
    setting(name, usual * setting("HYPERSLAB_TIMES", 1))
}
