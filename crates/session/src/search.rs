//! Where files are that a file names: libhdf5's order of places.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

/// The environment's folders of files with raw data, files of external links, and sources of virtual datasets.
pub(crate) const RAW_PREFIX: &str = "HDF5_EXTFILE_PREFIX";
pub(crate) const LINK_PREFIX: &str = "HDF5_EXT_PREFIX";
pub(crate) const VIRTUAL_PREFIX: &str = "HDF5_VDS_PREFIX";

/// What stands for the directory of the file, in front of a prefix.
const ORIGIN: &str = "${ORIGIN}";

/// Folders that a user gave for one kind of files: a variable of the environment, and an option.
#[derive(Clone, Copy)]
pub(crate) struct Prefixes<'a> {
    pub(crate) variable: &'a str,
    pub(crate) option: Option<&'a Path>,
}

/// A name as it is in a file, as a path.
#[cfg(unix)]
pub(crate) fn to_path(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(name))
}

/// A name as it is in a file, as a path.
#[cfg(not(unix))]
pub(crate) fn to_path(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}

/// The places of a file that an external link or a virtual dataset names, in the order in which they are tried.
pub(crate) fn places(name: &[u8], prefixes: Prefixes<'_>, origin: Option<&Path>) -> Vec<PathBuf> {
    let Prefixes { variable, option: prefix } = prefixes;
    let mut places = Vec::new();
    let mut name = to_path(name);
    if name.is_absolute() {
        places.push(name.clone());
        // An absolute name that leads nowhere is looked for by its last part.
        name = name.file_name().map(PathBuf::from).unwrap_or_default();
    }
    let variable = env::var_os(variable).unwrap_or_default();
    places.extend(env::split_paths(&variable).filter(|prefix| !prefix.as_os_str().is_empty()).map(|at| at.join(&name)));
    let directory = origin.and_then(Path::parent);
    places.extend(expand(&variable, directory).map(|prefix| prefix.join(&name)));
    places.extend(prefix.and_then(|prefix| expand(prefix.as_os_str(), directory)).map(|prefix| prefix.join(&name)));
    places.extend(directory.map(|directory| directory.join(&name)));
    places.push(name.clone());
    // The file itself may be a symbolic link to where the others are.
    let resolved = origin.and_then(|origin| origin.canonicalize().ok());
    places.extend(resolved.as_deref().and_then(Path::parent).map(|directory| directory.join(&name)));
    places.dedup();
    places
}

/// The places of a file with raw data: below the prefix if there is one, else beside the file or where the program runs.
pub(crate) fn raw_places(name: &[u8], prefixes: Prefixes<'_>, origin: Option<&Path>) -> Vec<PathBuf> {
    let name = to_path(name);
    let directory = origin.and_then(Path::parent);
    let variable = env::var_os(prefixes.variable).unwrap_or_default();
    let prefix = [Some(variable.as_os_str()), prefixes.option.map(Path::as_os_str)].into_iter().flatten();
    match prefix.filter(|prefix| !prefix.is_empty() && *prefix != ".").find_map(|prefix| expand(prefix, directory)) {
        Some(prefix) => vec![prefix.join(name)],
        None => directory.map(|directory| directory.join(&name)).into_iter().chain([name.clone()]).collect(),
    }
}

/// A prefix with the directory of the file put in; none for no prefix.
pub(crate) fn expand(prefix: &std::ffi::OsStr, directory: Option<&Path>) -> Option<PathBuf> {
    if prefix.is_empty() {
        return None;
    }
    let Some(rest) = prefix.to_str().and_then(|prefix| prefix.strip_prefix(ORIGIN)) else {
        return Some(PathBuf::from(prefix));
    };
    let mut expanded: OsString = directory?.as_os_str().to_owned();
    expanded.push("/");
    expanded.push(rest.trim_start_matches('/'));
    Some(PathBuf::from(expanded))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A variable that is set whenever this runs.
    const SET: &str = "CARGO_MANIFEST_DIR";

    #[test]
    fn the_order_of_places() {
        let set = PathBuf::from(env::var_os(SET).unwrap());
        let origin = Path::new("/data/run.h5");
        let prefixes = Prefixes { variable: SET, option: Some(Path::new("${ORIGIN}/below")) };
        let found = places(b"a/s.h5", prefixes, Some(origin));
        assert_eq!(found, [set.join("a/s.h5"), "/data/below/a/s.h5".into(), "/data/a/s.h5".into(), "a/s.h5".into()]);
        let none = Prefixes { variable: "NO SUCH VARIABLE", option: None };
        let found = places(b"/gone/s.h5", none, Some(origin));
        assert_eq!(found, ["/gone/s.h5", "/data/s.h5", "s.h5"].map(PathBuf::from));
        assert_eq!(places(b"s.h5", none, None), [PathBuf::from("s.h5")]);
    }

    #[test]
    fn raw_data_is_below_the_prefix_alone() {
        let origin = Some(Path::new("/data/run.h5"));
        let given = |option| Prefixes { variable: RAW_PREFIX, option };
        let with = |prefix| raw_places(b"r.bin", given(prefix), origin);
        assert_eq!(with(None), ["/data/r.bin", "r.bin"].map(PathBuf::from));
        assert_eq!(with(Some(Path::new("${ORIGIN}/raw"))), [PathBuf::from("/data/raw/r.bin")]);
        assert_eq!(with(Some(Path::new("/raw"))), [PathBuf::from("/raw/r.bin")]);
        assert_eq!(raw_places(b"/far/r.bin", given(Some(Path::new("/raw"))), origin), [PathBuf::from("/far/r.bin")]);
    }
}
